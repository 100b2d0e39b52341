//! Registration of the access method, and its traits on the index handle.
//!
//! Counterpart: `gisthandler`, `gistinsert` in gist.c.

use crate::build::GistBuild;
use crate::index::{GistIndex, Mode, Shared};
use crate::scan::GistScan;
use access::{
    AmState, BuildOptions, BulkDeleteResult, Capabilities, CostModel, Cx, HeapLiveness, Index,
    IndexAm, IndexBuild, IndexDef, IndexFile, IndexScan, Insert, Inserted, IsDead, MethodInfo,
    OnEntry, OptionKind, Row, ScanKey, ScanOptions, StorageOption, SupportKind,
};
use bufmgr::BufferPool;
use ids::{Oid, builtin};
use pgerror::{PgError, Result};
use sync::Arc;

/// The GiST access method.
pub struct Gist;

const REQUIRED: SupportKind = SupportKind::Gist { optional: false };
const OPTIONAL: SupportKind = SupportKind::Gist { optional: true };

pub const INFO: MethodInfo = MethodInfo {
    oid: builtin::am::GIST,
    name: "gist",
    capabilities: Capabilities {
        ordered_by_operator: true,
        multicolumn: true,
        optional_key: true,
        search_nulls: true,
        clusterable: true,
        include: true,
        index_only: true,
        plain_scan: true,
        bitmap_scan: true,
        lossy: true,
        exclude: true,
        ..Capabilities::NONE
    },
    key_type: Oid::INVALID,
    options: &[
        StorageOption { name: "fillfactor", kind: OptionKind::Int(10, 100) },
        StorageOption { name: "buffering", kind: OptionKind::Words(&["on", "off", "auto"]) },
    ],
    // consistent, union, compress, decompress, penalty, picksplit, same, distance, fetch, options,
    // sortsupport
    support: &[
        REQUIRED,
        REQUIRED,
        OPTIONAL,
        OPTIONAL,
        REQUIRED,
        REQUIRED,
        REQUIRED,
        OPTIONAL,
        OPTIONAL,
        OPTIONAL,
        SupportKind::Unused,
    ],
    cost: CostModel::Gist,
    build_phases: &[],
};

impl IndexAm for Gist {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn new_state(&self, seed: u64) -> AmState {
        Arc::new(Arc::new(Shared::new(seed)))
    }

    fn open(
        &self,
        pool: &BufferPool,
        def: &Arc<IndexDef>,
        state: &AmState,
    ) -> Result<Arc<dyn Index>> {
        let shared = state.downcast_ref::<Arc<Shared>>();
        let shared = shared.ok_or_else(|| PgError::internal("the state of another method"))?;
        let file = IndexFile::open(pool, def.file, def.persistence);
        Ok(Arc::new(GistIndex::new(file, def, shared.clone())?))
    }
}

impl Index for GistIndex {
    fn form(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<bool> {
        self.schema.form_leaf(row, out)?;
        Ok(true)
    }

    fn insert(
        &self,
        cx: &mut Cx<'_>,
        entry: &[u8],
        _how: Insert,
        heap: &mut dyn HeapLiveness,
    ) -> Result<Inserted> {
        self.insert_tuple(cx, entry, Mode::NORMAL, Some(heap))?;
        Ok(Inserted::Done { unique: false })
    }

    fn begin_scan(
        self: Arc<Self>,
        keys: Vec<ScanKey>,
        options: ScanOptions,
    ) -> Result<Box<dyn IndexScan>> {
        Ok(Box::new(GistScan::new(self, keys, options)?))
    }

    fn begin_build<'a>(
        &'a self,
        cx: &mut Cx<'_>,
        _options: BuildOptions,
    ) -> Result<Box<dyn IndexBuild + 'a>> {
        Ok(Box::new(GistBuild::new(self, cx)?))
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
        self.vacuum(cx, stats, Some(is_dead))
    }

    fn vacuum_cleanup(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        heap_tuples: Option<f64>,
    ) -> Result<Option<BulkDeleteResult>> {
        self.finish_vacuum(cx, stats, heap_tuples).map(Some)
    }

    /// An estimate, which is sufficient for the planner.
    fn height(&self, cx: &mut Cx<'_>) -> Result<Option<u32>> {
        let pages = f64::from(cx.nblocks(&self.file)?.0.max(1));
        Ok(Some(pages.log(100.0) as u32))
    }

    fn verify(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64> {
        self.check_structure(cx, on_entry)
    }
}
