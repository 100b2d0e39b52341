//! Registration of the access method, and its traits on the index handle.
//!
//! Counterpart: `hashhandler` in hash.c.

use crate::build::HashBuild;
use crate::index::HashIndex;
use crate::scan::HashScan;
use access::strategy;
use access::{
    AmState, BuildOptions, BulkDeleteResult, Capabilities, CostModel, Cx, HeapLiveness, Index,
    IndexAm, IndexBuild, IndexDef, IndexFile, IndexScan, Insert, Inserted, IsDead, MethodInfo,
    OnEntry, OptionKind, Row, ScanKey, ScanOptions, StorageOption, SupportKind,
};
use bufmgr::BufferPool;
use ids::builtin;
use pgerror::Result;
use sync::Arc;

/// The hash access method.
pub struct Hash;

pub const INFO: MethodInfo = MethodInfo {
    oid: builtin::am::HASH,
    name: "hash",
    capabilities: Capabilities {
        strategies: 1,
        equality: strategy::hash::EQUAL,
        backward: true,
        plain_scan: true,
        bitmap_scan: true,
        lossy: true,
        exclude: true,
        ..Capabilities::NONE
    },
    // The hash code.
    key_type: types::oids::INT4,
    options: &[StorageOption { name: "fillfactor", kind: OptionKind::Int(10, 100) }],
    support: &[SupportKind::Hash, SupportKind::Unused, SupportKind::Unused],
    cost: CostModel::Hash,
    build_phases: &[],
};

impl IndexAm for Hash {
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
        Ok(Arc::new(HashIndex::new(file, def)?))
    }
}

impl Index for HashIndex {
    fn form(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<bool> {
        let value = row.values.first().copied();
        let Some(hash) = value.and_then(|value| self.hash_value(value, None)) else {
            return Ok(false);
        };
        out.extend_from_slice(&page::hash::tuple(hash, row.tid));
        Ok(true)
    }

    fn insert(
        &self,
        cx: &mut Cx<'_>,
        entry: &[u8],
        _how: Insert,
        heap: &mut dyn HeapLiveness,
    ) -> Result<Inserted> {
        self.insert_tuple(cx, entry, Some(heap))?;
        Ok(Inserted::Done { unique: false })
    }

    fn begin_scan(
        self: Arc<Self>,
        keys: Vec<ScanKey>,
        options: ScanOptions,
    ) -> Result<Box<dyn IndexScan>> {
        Ok(Box::new(HashScan::new(self, keys, options)?))
    }

    fn begin_build<'a>(
        &'a self,
        cx: &mut Cx<'_>,
        options: BuildOptions,
    ) -> Result<Box<dyn IndexBuild + 'a>> {
        Ok(Box::new(HashBuild::new(self, cx, &options)?))
    }

    fn build_empty(&self, cx: &mut Cx<'_>, file: &IndexFile) -> Result<()> {
        self.init(cx, file, 0.0).map(|_| ())
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
        self.finish_vacuum(cx, stats)
    }

    fn verify(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64> {
        self.check_structure(cx, on_entry)
    }

    fn forget_caches(&self) {
        self.forget_map();
    }
}
