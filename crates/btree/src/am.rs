//! B-trees behind the interface of crate `access`.
//!
//! Counterpart: `bthandler` and the functions beside it in nbtree.c.

use crate::buf::Cx;
use crate::cycle::VacuumCycles;
use crate::index::Index;
use crate::scan::Scan;
use crate::schema::KeySchema;
use crate::sort::Sorter;
use access::strategy::btree;
use access::{
    AmState, BuildOptions, BulkDeleteResult, Capabilities, CostModel, HeapLiveness, IndexAm,
    IndexBuild, IndexDef, IndexFile, IndexScan, Insert, Inserted, IsDead, MethodInfo, OnDuplicate,
    OnEntry, OptionKind, Row, ScanKey, ScanOptions, StorageOption, SupportKind,
};
use bufmgr::BufferPool;
use ids::Oid;
use ids::builtin;
use pgerror::{PgError, Result};
use sync::Arc;

/// The facts of B-trees.
pub const INFO: MethodInfo = MethodInfo {
    oid: builtin::am::BTREE,
    name: "btree",
    capabilities: Capabilities {
        strategies: 5,
        equality: btree::EQUAL,
        ordered: true,
        backward: true,
        unique: true,
        multicolumn: true,
        optional_key: true,
        search_array: true,
        search_nulls: true,
        search_rows: true,
        clusterable: true,
        include: true,
        index_only: true,
        plain_scan: true,
        bitmap_scan: true,
        mark_restore: true,
        exclude: true,
        ..Capabilities::NONE
    },
    key_type: Oid::INVALID,
    options: &[
        StorageOption { name: "fillfactor", kind: OptionKind::Int(10, 100) },
        StorageOption { name: "deduplicate_items", kind: OptionKind::Bool },
        StorageOption {
            name: "vacuum_cleanup_index_scale_factor",
            kind: OptionKind::Real(0.0, 1e10),
        },
    ],
    support: &[
        SupportKind::Compare,
        SupportKind::Unused,
        SupportKind::Unused,
        SupportKind::EqualImage,
        SupportKind::Unused,
    ],
    cost: CostModel::BTree,
    build_phases: &[
        "initializing",
        "scanning table",
        "sorting live tuples",
        "sorting dead tuples",
        "loading tuples in tree",
    ],
};

/// The access method. Its state is [`VacuumCycles`].
pub struct BTree;

impl IndexAm for BTree {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn new_state(&self, seed: u64) -> AmState {
        Arc::new(VacuumCycles::new(seed as u16))
    }

    fn open(
        &self,
        pool: &BufferPool,
        def: &Arc<IndexDef>,
        state: &AmState,
    ) -> Result<Arc<dyn access::Index>> {
        let Ok(cycles) = state.clone().downcast::<VacuumCycles>() else {
            return Err(PgError::internal("the state of another access method"));
        };
        let schema = KeySchema::of(def)?;
        let (file, persistence) = (def.file, def.persistence);
        let index =
            Index::open(pool, file, persistence, &def.name, &def.table_name, schema, cycles);
        Ok(Arc::new(index))
    }
}

impl access::Index for Index {
    fn form(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<bool> {
        self.schema.form_with(row.values, row.compressed, row.tid, out)?;
        Ok(true)
    }

    #[inline]
    fn insert(
        &self,
        cx: &mut Cx<'_>,
        entry: &[u8],
        how: Insert,
        heap: &mut dyn HeapLiveness,
    ) -> Result<Inserted> {
        Index::insert(self, cx, entry, how.check, how.unchanged, heap)
    }

    fn begin_scan(
        self: Arc<Self>,
        keys: Vec<ScanKey>,
        options: ScanOptions,
    ) -> Result<Box<dyn IndexScan>> {
        Ok(Box::new(Scan::new(self, keys, options)?))
    }

    fn begin_build<'a>(
        &'a self,
        _cx: &mut Cx<'_>,
        options: BuildOptions,
    ) -> Result<Box<dyn IndexBuild + 'a>> {
        let BuildOptions { disk, path, memory_limit, .. } = options;
        Ok(Box::new(Build {
            index: self,
            sorter: Sorter::new(&self.schema, disk, path, memory_limit),
        }))
    }

    fn build_empty(&self, cx: &mut Cx<'_>, file: &IndexFile) -> Result<()> {
        Index::build_empty(self, cx, file)
    }

    fn bulk_delete(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        is_dead: IsDead<'_>,
    ) -> Result<BulkDeleteResult> {
        Index::bulk_delete(self, cx, stats, is_dead)
    }

    fn vacuum_cleanup(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        heap_tuples: Option<f64>,
    ) -> Result<Option<BulkDeleteResult>> {
        Index::vacuum_cleanup(self, cx, stats, heap_tuples)
    }

    fn verify(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64> {
        Index::verify(self, cx, &mut |_, tid| on_entry(tid)).map(|stats| stats.tuples)
    }

    fn height(&self, cx: &mut Cx<'_>) -> Result<Option<u32>> {
        Index::height(self, cx).map(Some)
    }

    fn forget_caches(&self) {
        Index::forget_caches(self);
    }
}

/// A build: sorts the entries, then loads them.
struct Build<'a> {
    index: &'a Index,
    sorter: Sorter<'a>,
}

impl IndexBuild for Build<'_> {
    fn add(&mut self, _cx: &mut Cx<'_>, entry: &[u8], dead: bool) -> Result<()> {
        self.sorter.add(entry, dead)
    }

    fn finish(self: Box<Self>, cx: &mut Cx<'_>, on_duplicate: OnDuplicate<'_>) -> Result<u64> {
        self.index.build(cx, self.sorter, on_duplicate)
    }
}
