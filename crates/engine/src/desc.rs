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
    /// The name of the schema, for messages.
    pub schema: Box<str>,
    pub name: Box<str>,
    pub file: RelFile,
    pub persistence: Persistence,
    pub tupdesc: Arc<TupleDesc>,
    /// Percent of a page that insertions may fill; 100 unless set.
    pub fillfactor: u8,
    /// `toast_tuple_target` in bytes; 0 for the default, about a quarter of a page.
    pub toast_tuple_target: usize,
    /// The TOAST table.
    pub toast: Option<ToastDesc>,
    pub is_catalog: bool,
    pub is_toast: bool,
    /// Columns that any index uses (key, included, expression, predicate), ascending. An update
    /// that does not change them may be heap-only.
    pub indexed_columns: Box<[AttrNo]>,
    /// Key columns of unique indexes that a foreign key could reference, ascending. An update that
    /// does not change them takes a weaker row lock.
    pub key_columns: Box<[AttrNo]>,
    /// Initialized by `Default::default()`.
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
    /// The access method of the index.
    pub am: &'static dyn IndexAm,
    pub def: Arc<IndexDef>,
    /// Uniqueness is enforced immediately (not deferred).
    pub unique: bool,
    /// For each index column the number of the table's column; 0 for an expression.
    pub columns: Box<[AttrNo]>,
    /// Initialized by `Default::default()`.
    pub opened: OpenIndex,
}

/// Handles that stay open as long as the descriptor of a table, and values derived from it.
#[derive(Default)]
pub struct OpenTable {
    heap: OnceLock<HeapRel>,
    deformer: OnceLock<Deformer>,
}

/// Handles and caches that exist as long as the descriptor of an index.
#[derive(Default)]
pub struct OpenIndex {
    handle: OnceLock<Arc<dyn Index>>,
}

impl TableDesc {
    /// True if the relation is shared by all databases.
    pub fn is_shared(&self) -> bool {
        self.file.tablespace == RelFile::GLOBAL_TABLESPACE
    }

    /// The OID of the database; 0 for shared relations.
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

    /// The relation for heap operations; its forks stay open as long as the descriptor.
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

    /// The same table with another file and the TOAST table `toast`.
    pub fn with_file(&self, file: RelFile, toast: Option<ToastDesc>) -> TableDesc {
        TableDesc {
            oid: self.oid,
            schema: self.schema.clone(),
            name: self.name.clone(),
            file,
            persistence: self.persistence,
            tupdesc: self.tupdesc.clone(),
            fillfactor: self.fillfactor,
            toast_tuple_target: self.toast_tuple_target,
            toast,
            is_catalog: self.is_catalog,
            is_toast: self.is_toast,
            indexed_columns: self.indexed_columns.clone(),
            key_columns: self.key_columns.clone(),
            opened: OpenTable::default(),
        }
    }

    pub(crate) fn deformer(&self) -> &Deformer {
        self.opened.deformer.get_or_init(|| Deformer::new(&self.tupdesc))
    }
}

impl IndexDesc {
    /// The same index without its unique check.
    pub fn without_uniqueness(&self) -> IndexDesc {
        let def = IndexDef { unique: false, ..(*self.def).clone() };
        IndexDesc { unique: false, ..self.with_definition(def) }
    }

    /// The same index with another file.
    pub fn with_file(&self, file: RelFile) -> IndexDesc {
        self.with_definition(IndexDef { file, ..(*self.def).clone() })
    }

    fn with_definition(&self, def: IndexDef) -> IndexDesc {
        IndexDesc {
            oid: self.oid,
            table_oid: self.table_oid,
            am: self.am,
            def: Arc::new(def),
            unique: self.unique,
            columns: self.columns.clone(),
            opened: OpenIndex::default(),
        }
    }

    pub fn capabilities(&self) -> &'static Capabilities {
        &self.am.info().capabilities
    }

    /// The name of the index, for messages.
    pub fn name(&self) -> &str {
        &self.def.name
    }

    pub fn file(&self) -> RelFile {
        self.def.file
    }

    /// True if the relation is shared by all databases.
    pub fn is_shared(&self) -> bool {
        self.def.file.tablespace == RelFile::GLOBAL_TABLESPACE
    }

    #[inline]
    pub fn persistence(&self) -> Persistence {
        self.def.persistence
    }

    /// Number of key columns; the remaining columns are included ones.
    pub fn key_count(&self) -> usize {
        self.def.key_count
    }

    pub fn lock_tag(&self) -> LockTag {
        LockTag::relation(crate::shared::tag_database(self.file()), self.oid)
    }

    /// The open index; its caches exist as long as the descriptor.
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
