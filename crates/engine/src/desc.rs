//! Descriptors of open tables and indexes, which `catalog` builds for the engine.
//!
//! Counterpart: `RelationData` in rel.h.

use crate::backend::Backend;
use access::{Capabilities, Index, IndexAm, IndexDef};
use heap::HeapRel;
use ids::{AttrNo, Fork, Oid, Persistence, RelFile};
use lmgr::LockTag;
use page::Deformer;
use page::tupdesc::TupleDesc;
use pgerror::Result;
use std::sync::OnceLock;
use sync::Arc;
use txn::HorizonKind;

/// A table, TOAST table, materialized view or sequence.
pub struct TableDesc {
    pub oid: Oid,
    /// For messages.
    pub schema: Box<str>,
    pub name: Box<str>,
    pub file: RelFile,
    pub persistence: Persistence,
    pub tupdesc: Arc<TupleDesc>,
    /// Percent of a page that insertions may fill; 100 unless set.
    pub fillfactor: u8,
    /// `toast_tuple_target` in bytes; 0: the default, about a quarter page.
    pub toast_tuple_target: usize,
    /// The TOAST table.
    pub toast: Option<ToastDesc>,
    pub is_catalog: bool,
    pub is_toast: bool,
    /// Columns used by any index (key, included, expression, predicate): an update that does not
    /// change them may be heap-only. Ascending.
    pub indexed_columns: Box<[AttrNo]>,
    /// Key columns of unique indexes that a foreign key could refer to: an update that does not
    /// change them locks the row less strongly. Ascending.
    pub key_columns: Box<[AttrNo]>,
    /// `Default::default()`.
    pub opened: OpenTable,
}

/// The TOAST table of a table, with the index on (chunk_id, chunk_seq).
pub struct ToastDesc {
    pub table: Arc<TableDesc>,
    pub index: Arc<IndexDesc>,
}

/// An index.
pub struct IndexDesc {
    pub oid: Oid,
    pub table_oid: Oid,
    /// The access method.
    pub am: &'static dyn IndexAm,
    pub def: Arc<IndexDef>,
    /// Enforces uniqueness immediately (not deferred).
    pub unique: bool,
    /// Table columns that are indexed, by index column; 0 for an expression.
    pub columns: Box<[AttrNo]>,
    /// `Default::default()`.
    pub opened: OpenIndex,
}

/// Handles that stay open with a table's descriptor, and values derived from it.
#[derive(Default)]
pub struct OpenTable {
    heap: OnceLock<HeapRel>,
    deformer: OnceLock<Deformer>,
}

/// Handles and caches that stay with an index's descriptor.
#[derive(Default)]
pub struct OpenIndex {
    handle: OnceLock<Arc<dyn Index>>,
}

impl TableDesc {
    /// Is it shared by all databases?
    pub fn is_shared(&self) -> bool {
        self.file.tablespace == RelFile::GLOBAL_TABLESPACE
    }

    /// 0 for shared relations.
    pub fn database(&self) -> Oid {
        crate::shared::tag_database(self.file)
    }

    pub fn lock_tag(&self) -> LockTag {
        LockTag::relation(self.database(), self.oid)
    }

    pub fn horizon(&self) -> HorizonKind {
        if self.is_shared() {
            HorizonKind::Shared
        } else if self.is_catalog {
            HorizonKind::Catalog
        } else if self.persistence == Persistence::Temporary {
            HorizonKind::Temp
        } else {
            HorizonKind::Data
        }
    }

    /// The relation for heap operations; its forks stay open with the descriptor.
    pub(crate) fn heap(&self, be: &Backend) -> &HeapRel {
        self.opened.heap.get_or_init(|| {
            let pool = be.pool(self.persistence);
            let fork = |fork| pool.open(self.file, fork, self.persistence);
            HeapRel {
                oid: self.oid,
                database: self.database(),
                file: self.file,
                main: fork(Fork::Main),
                fsm: fork(Fork::Fsm),
                vm: fork(Fork::Vm),
                name: self.name.clone(),
                persistence: self.persistence,
                fillfactor: self.fillfactor,
                horizon: self.horizon(),
                is_toast: self.is_toast,
                is_catalog: self.is_catalog,
                targets: Default::default(),
            }
        })
    }

    pub(crate) fn deformer(&self) -> &Deformer {
        self.opened.deformer.get_or_init(|| Deformer::new(&self.tupdesc))
    }
}

impl IndexDesc {
    /// The same index without its unique check.
    pub fn without_uniqueness(&self) -> IndexDesc {
        IndexDesc {
            oid: self.oid,
            table_oid: self.table_oid,
            am: self.am,
            def: Arc::new(IndexDef { unique: false, ..(*self.def).clone() }),
            unique: false,
            columns: self.columns.clone(),
            opened: OpenIndex::default(),
        }
    }

    pub fn capabilities(&self) -> &'static Capabilities {
        &self.am.info().capabilities
    }

    /// For messages.
    pub fn name(&self) -> &str {
        &self.def.name
    }

    pub fn file(&self) -> RelFile {
        self.def.file
    }

    #[inline]
    pub fn persistence(&self) -> Persistence {
        self.def.persistence
    }

    /// Number of key columns; the columns after them are included ones.
    pub fn key_count(&self) -> usize {
        self.def.key_count
    }

    pub fn lock_tag(&self) -> LockTag {
        LockTag::relation(crate::shared::tag_database(self.file()), self.oid)
    }

    /// The open index; its caches stay with the descriptor.
    #[inline]
    pub(crate) fn open(&self, be: &Backend) -> Result<&Arc<dyn Index>> {
        match self.opened.handle.get() {
            Some(handle) => Ok(handle),
            None => self.open_now(be),
        }
    }

    #[cold]
    fn open_now(&self, be: &Backend) -> Result<&Arc<dyn Index>> {
        let state = be.storage().ams.of(self.am)?;
        let handle = self.am.open(be.pool(self.persistence()), &self.def, state)?;
        Ok(self.opened.handle.get_or_init(|| handle))
    }
}
