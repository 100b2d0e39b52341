//! Registration of the access method, and its traits on the index handle.
//!
//! Counterpart: `ginhandler` in ginutil.c, `gininsert` in gininsert.c.

use crate::build::GinBuild;
use crate::flush::Flushing;
use crate::index::{Flushes, GinIndex};
use crate::key::Tuples;
use crate::scan::GinScan;
use access::{
    AmState, BuildOptions, BulkDeleteResult, Capabilities, CostModel, Cx, HeapLiveness, Index,
    IndexAm, IndexBuild, IndexDef, IndexFile, IndexScan, Insert, Inserted, IsDead, MethodInfo,
    OnEntry, OptionKind, PendingStats, QuerySize, Row, ScanKey, ScanOptions, StorageOption,
    StrategyNumber, SupportKind,
};
use bufmgr::BufferPool;
use ids::{Oid, builtin};
use page::gin::{Entry, GinPage, Item};
use pgerror::{PgError, Result};
use sync::Arc;
use types::DatumRef;
use types::gin::{Keys, Query, SearchMode};

/// The GIN access method.
pub struct Gin;

pub const INFO: MethodInfo = MethodInfo {
    oid: builtin::am::GIN,
    name: "gin",
    capabilities: Capabilities {
        multicolumn: true,
        optional_key: true,
        bitmap_scan: true,
        lossy: true,
        ..Capabilities::NONE
    },
    key_type: Oid::INVALID,
    options: &[
        StorageOption { name: "fastupdate", kind: OptionKind::Bool },
        StorageOption {
            name: "gin_pending_list_limit",
            kind: OptionKind::Int(64, i32::MAX as i64),
        },
    ],
    support: &[
        SupportKind::CompareKeys,
        SupportKind::Gin { optional: false },
        SupportKind::Gin { optional: false },
        SupportKind::Gin { optional: true },
        SupportKind::Gin { optional: true },
        SupportKind::Gin { optional: true },
        SupportKind::Unused,
    ],
    cost: CostModel::Gin,
    build_phases: &[],
};

impl IndexAm for Gin {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn new_state(&self, _seed: u64) -> AmState {
        Arc::new(Arc::new(Flushes::default()))
    }

    fn open(
        &self,
        pool: &BufferPool,
        def: &Arc<IndexDef>,
        state: &AmState,
    ) -> Result<Arc<dyn Index>> {
        let flushes = state.downcast_ref::<Arc<Flushes>>();
        let flushes = flushes.ok_or_else(|| PgError::internal("the state of another method"))?;
        let file = IndexFile::open(pool, def.file, def.persistence);
        Ok(Arc::new(GinIndex::new(file, def, flushes.clone())?))
    }
}

impl Index for GinIndex {
    fn form(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<bool> {
        let mut keys = Keys::default();
        for (column, value) in row.values.iter().enumerate().take(self.schema.columns.len()) {
            self.schema.push_entries(column, *value, row.tid, &mut keys, out)?;
        }
        Ok(true)
    }

    fn insert(
        &self,
        cx: &mut Cx<'_>,
        entry: &[u8],
        _how: Insert,
        _heap: &mut dyn HeapLiveness,
    ) -> Result<Inserted> {
        if self.fast_update {
            self.insert_pending(cx, entry)?;
        } else {
            for tuple in Tuples(entry) {
                let own = Entry::new(tuple);
                let item = Item::of(own.0.tid_field());
                self.insert_entry(cx, &tuple[..self.schema.prefix_len(own)], &[item])?;
            }
        }
        Ok(Inserted::Done { unique: false })
    }

    fn begin_scan(
        self: Arc<Self>,
        keys: Vec<ScanKey>,
        _options: ScanOptions,
    ) -> Result<Box<dyn IndexScan>> {
        Ok(Box::new(GinScan::new(self, keys)))
    }

    fn begin_build<'a>(
        &'a self,
        _cx: &mut Cx<'_>,
        options: BuildOptions,
    ) -> Result<Box<dyn IndexBuild + 'a>> {
        Ok(Box::new(GinBuild::new(self, options)))
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
        heap_tuples: Option<f64>,
    ) -> Result<Option<BulkDeleteResult>> {
        self.finish_vacuum(cx, stats, heap_tuples).map(Some)
    }

    fn verify(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64> {
        self.check_structure(cx, on_entry)
    }

    fn flush_pending(&self, cx: &mut Cx<'_>) -> Result<u32> {
        let mut stats = BulkDeleteResult::default();
        GinIndex::flush_pending(self, cx, Flushing::COMMAND, Some(&mut stats))?;
        Ok(stats.pages_deleted)
    }

    fn query_size(
        &self,
        column: usize,
        strategy: StrategyNumber,
        value: DatumRef<'_>,
    ) -> Result<Option<QuerySize>> {
        let own = &self.schema.columns[column];
        let mut query = Query::default();
        (own.extract_query)(&own.column, value, strategy, &mut query)?;
        let partial = query.partial.iter().filter(|p| **p && own.compare_partial.is_some());
        let partial = partial.count() as u32;
        let hidden = u32::from(query.mode == SearchMode::KeysOrEmpty);
        Ok(Some(QuerySize {
            exact: query.keys.len() as u32 - partial + hidden,
            partial,
            all: query.mode == SearchMode::All,
        }))
    }

    fn pending_stats(&self, cx: &mut Cx<'_>) -> Result<Option<PendingStats>> {
        let meta = self.meta_share(cx)?;
        let data = GinPage(&meta).meta();
        Ok(Some(PendingStats {
            pending_pages: data.pending_pages,
            total_pages: data.total_pages,
            entry_pages: data.entry_pages,
            data_pages: data.data_pages,
            entries: data.entries,
        }))
    }
}
