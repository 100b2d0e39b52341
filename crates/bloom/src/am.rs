//! Registration of the access method, and its traits on the index handle.
//!
//! Counterpart: `blhandler` in blutils.c.

use crate::build::BloomBuild;
use crate::index::BloomIndex;
use crate::scan::BloomScan;
use access::{
    AmState, BuildOptions, BulkDeleteResult, Capabilities, CostModel, Cx, HeapLiveness, Index,
    IndexAm, IndexBuild, IndexDef, IndexFile, IndexScan, Insert, Inserted, IsDead, MethodInfo,
    OnEntry, OptionKind, Row, ScanKey, ScanOptions, StorageOption, StrategyNumber, SupportKind,
};
use bufmgr::BufferPool;
use ids::Oid;
use page::bloom::LENGTH_MAX;
use pgerror::Result;
use sync::Arc;

/// The bloom access method.
pub struct Bloom;

/// Most bits that a value sets.
const BITS_MAX: i64 = LENGTH_MAX as i64 - 1;

const fn int_option(name: &'static str, max: i64) -> StorageOption {
    StorageOption { name, kind: OptionKind::Int(1, max) }
}

const OPTIONS: &[StorageOption] = &[
    int_option("length", LENGTH_MAX as i64),
    int_option("col1", BITS_MAX),
    int_option("col2", BITS_MAX),
    int_option("col3", BITS_MAX),
    int_option("col4", BITS_MAX),
    int_option("col5", BITS_MAX),
    int_option("col6", BITS_MAX),
    int_option("col7", BITS_MAX),
    int_option("col8", BITS_MAX),
    int_option("col9", BITS_MAX),
    int_option("col10", BITS_MAX),
    int_option("col11", BITS_MAX),
    int_option("col12", BITS_MAX),
    int_option("col13", BITS_MAX),
    int_option("col14", BITS_MAX),
    int_option("col15", BITS_MAX),
    int_option("col16", BITS_MAX),
    int_option("col17", BITS_MAX),
    int_option("col18", BITS_MAX),
    int_option("col19", BITS_MAX),
    int_option("col20", BITS_MAX),
    int_option("col21", BITS_MAX),
    int_option("col22", BITS_MAX),
    int_option("col23", BITS_MAX),
    int_option("col24", BITS_MAX),
    int_option("col25", BITS_MAX),
    int_option("col26", BITS_MAX),
    int_option("col27", BITS_MAX),
    int_option("col28", BITS_MAX),
    int_option("col29", BITS_MAX),
    int_option("col30", BITS_MAX),
    int_option("col31", BITS_MAX),
    int_option("col32", BITS_MAX),
];

pub const INFO: MethodInfo = MethodInfo {
    // That of the extension's row in `pg_am`.
    oid: Oid::INVALID,
    name: "bloom",
    capabilities: Capabilities {
        strategies: 1,
        equality: StrategyNumber(1),
        multicolumn: true,
        optional_key: true,
        bitmap_scan: true,
        lossy: true,
        ..Capabilities::NONE
    },
    key_type: Oid::INVALID,
    options: OPTIONS,
    support: &[SupportKind::Hash, SupportKind::Unused],
    cost: CostModel::Whole,
    build_phases: &[],
};

impl IndexAm for Bloom {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn open(
        &self,
        pool: &BufferPool,
        def: &Arc<IndexDef>,
        _state: &AmState,
    ) -> Result<Arc<dyn Index>> {
        let file = IndexFile::open(pool, def.file, def.persistence);
        Ok(Arc::new(BloomIndex::new(file, def)?))
    }
}

impl Index for BloomIndex {
    fn form(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<bool> {
        self.push_entry(row.values, row.tid, out);
        Ok(true)
    }

    fn insert(
        &self,
        cx: &mut Cx<'_>,
        entry: &[u8],
        _how: Insert,
        _heap: &mut dyn HeapLiveness,
    ) -> Result<Inserted> {
        self.insert_entry(cx, entry)?;
        Ok(Inserted::Done { unique: false })
    }

    fn begin_scan(
        self: Arc<Self>,
        keys: Vec<ScanKey>,
        _options: ScanOptions,
    ) -> Result<Box<dyn IndexScan>> {
        Ok(Box::new(BloomScan::new(self, keys)))
    }

    fn begin_build<'a>(
        &'a self,
        _cx: &mut Cx<'_>,
        _options: BuildOptions,
    ) -> Result<Box<dyn IndexBuild + 'a>> {
        Ok(Box::new(BloomBuild::new(self)))
    }

    fn build_empty(&self, cx: &mut Cx<'_>, file: &IndexFile) -> Result<()> {
        self.init(cx, file)
    }

    fn bulk_delete(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        is_dead: IsDead<'_>,
    ) -> Result<BulkDeleteResult> {
        self.delete_dead(cx, stats, is_dead)
    }

    fn vacuum_cleanup(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        _heap_tuples: Option<f64>,
    ) -> Result<Option<BulkDeleteResult>> {
        self.finish_vacuum(cx, stats).map(Some)
    }

    fn verify(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64> {
        self.check_structure(cx, on_entry)
    }
}
