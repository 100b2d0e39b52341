//! Open tables and indexes, as `catalog` describes them to the engine.

use btree::KeySchema;
use ids::{AttrNo, Oid, Persistence, RelFile};
use lmgr::LockTag;
use page::tupdesc::TupleDesc;
use sync::Arc;
use txn::HorizonKind;

/// A table, TOAST table, materialised view or sequence.
pub struct TableDesc {
    pub oid: Oid,
    /// For messages.
    pub schema: Box<str>,
    pub name: Box<str>,
    pub file: RelFile,
    pub persistence: Persistence,
    pub tupdesc: Arc<TupleDesc>,
    /// Percent of a page that insertion may fill; 100 unless set.
    pub fillfactor: u8,
    /// Bytes above which rows are toasted; 0 for the usual quarter page.
    pub toast_tuple_target: usize,
    /// Where large values go.
    pub toast: Option<ToastDesc>,
    pub is_catalog: bool,
    pub is_toast: bool,
    /// Columns used by any index (key, included, expression, predicate): an update that leaves them alone
    /// may be heap-only. Ascending.
    pub indexed_columns: Box<[AttrNo]>,
    /// Key columns of unique indexes that a foreign key could refer to: an update that leaves them
    /// alone locks the row less strongly. Ascending.
    pub key_columns: Box<[AttrNo]>,
    /// `Default::default()`.
    pub opened: OpenTable,
}

/// The TOAST table of a table, with the index on (chunk_id, chunk_seq).
pub struct ToastDesc {
    pub table: Arc<TableDesc>,
    pub index: Arc<IndexDesc>,
}

/// An index. (B-tree is the only access method so far.)
pub struct IndexDesc {
    pub oid: Oid,
    pub table_oid: Oid,
    pub file: RelFile,
    pub persistence: Persistence,
    /// For messages.
    pub name: Box<str>,
    pub table_name: Box<str>,
    pub schema: KeySchema,
    /// Enforces uniqueness at once (not deferred).
    pub unique: bool,
    /// Table columns that are indexed, by index column; 0 stands for an expression.
    pub columns: Box<[AttrNo]>,
    /// `Default::default()`.
    pub opened: OpenIndex,
}

/// Handles that stay open with a table's descriptor.
#[derive(Default)]
pub struct OpenTable {}

/// Handles and caches that stay with an index's descriptor.
#[derive(Default)]
pub struct OpenIndex {}

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
}

impl IndexDesc {
    pub fn lock_tag(&self) -> LockTag {
        LockTag::relation(crate::shared::tag_database(self.file), self.oid)
    }
}
