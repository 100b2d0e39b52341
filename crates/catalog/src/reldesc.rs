//! Descriptors of relations. Counterpart: rel.h.

use crate::cache::Tuple;
use crate::rows::{
    PgAttribute, PgClass, PgConstraint, PgIndex, PgPartitionedTable, PgPolicy, PgRewrite,
    PgTrigger, Text,
};
use engine::{IndexDesc, TableDesc};
use hashbrown::HashSet;
use ids::{AttrNo, Oid, RelKind};
use page::tupdesc::TupleDesc;
use pgerror::{Result, pg_err};
use std::any::Any;
use std::sync::OnceLock;
use sync::Arc;
use types::fn_context::{Dropped, RowColumn, RowDesc};

/// Attribute option in which PostgreSQL, since 15.20, stores the WAL position at which a column of
/// a row type was last defined. PostgreSQL warns of relations with a later column older than an
/// earlier one, and rejects row values older than their type's columns (22P07). Earlier releases do
/// not know the option; a dump that contained it could not be restored there.
pub const VERSION_OPTION: &str = "pg_attver=";

/// The latest version of the columns; 0 where none has one.
pub fn row_type_version<'a>(columns: impl IntoIterator<Item = &'a PgAttribute>) -> u64 {
    let options = columns.into_iter().flat_map(|a| a.attoptions.iter().flatten());
    let versions = options.filter_map(|o| o.as_str().strip_prefix(VERSION_OPTION)?.parse().ok());
    versions.max().unwrap_or(0)
}

/// A relation of any kind.
pub struct RelDesc {
    pub class: Tuple<PgClass>,
    /// By attribute number, starting at 1; includes dropped columns.
    pub attributes: Vec<PgAttribute>,
    pub tupdesc: Arc<TupleDesc>,
    /// The table's indexes in ascending OID order.
    pub indexes: Vec<PgIndex>,
    /// Set for an index.
    pub index: Option<IndexPart>,
    /// CHECK constraints, by name.
    pub checks: Vec<PgConstraint>,
    /// Foreign keys of this table.
    pub foreign_keys: Vec<PgConstraint>,
    /// Column defaults and generation expressions, as `pg_node_tree`.
    pub defaults: Vec<(AttrNo, Text)>,
    /// By name.
    pub rules: Vec<PgRewrite>,
    /// The query of a view, parsed from its rule on first use.
    pub view_query: OnceLock<Arc<plan::query::Query>>,
    /// The row type's descriptor, computed on first use.
    pub(crate) row_desc: OnceLock<Arc<RowDesc>>,
    /// By name.
    pub triggers: Vec<PgTrigger>,
    pub policies: Vec<PgPolicy>,
    pub partitioned: Option<PgPartitionedTable>,
    /// Data that the crate `partition` derives from a partitioned table, computed on first use.
    pub partition_data: OnceLock<Box<dyn Any + Send + Sync>>,
    /// A temporary table of another session, whose pages are in that session's local buffers:
    /// `table` and `engine_index` are `None`.
    pub other_temp: bool,
    /// The engine's descriptor, where the relation has storage for rows.
    pub table: Option<Arc<TableDesc>>,
    /// The engine's descriptor of an index whose access method and operator classes are supported.
    pub engine_index: Option<Arc<IndexDesc>>,
}

/// The additional data of an index.
#[derive(Debug)]
pub struct IndexPart {
    pub row: PgIndex,
    /// Access method.
    pub am: Oid,
    /// One entry per key column.
    pub opfamilies: Vec<Oid>,
    pub opcintypes: Vec<Oid>,
}

impl RelDesc {
    /// OID of the relation.
    pub fn oid(&self) -> Oid {
        self.class.oid
    }

    /// Name of the relation.
    pub fn name(&self) -> &str {
        self.class.relname.as_str()
    }

    pub fn kind(&self) -> RelKind {
        self.class.relkind
    }

    /// The columns as fields of a composite value.
    pub fn row_desc(&self) -> Arc<RowDesc> {
        let column = |a: &PgAttribute| RowColumn {
            name: a.attname.as_str().to_string(),
            ty: a.atttypid,
            typmod: a.atttypmod,
            collation: a.attcollation,
            dropped: a.attisdropped.then_some(Dropped {
                len: a.attlen,
                by_val: a.attbyval,
                align: a.attalign,
            }),
        };
        let make = || {
            let columns = self.attributes.iter().map(column).collect();
            Arc::new(RowDesc::new(columns, row_type_version(&self.attributes)))
        };
        self.row_desc.get_or_init(make).clone()
    }

    /// The column with this name, unless dropped.
    pub fn column(&self, name: &str) -> Option<&PgAttribute> {
        self.attributes.iter().find(|a| !a.attisdropped && a.attname == name)
    }

    /// The column with this attribute number, dropped or not; `None` for system columns.
    pub fn attribute(&self, number: AttrNo) -> Option<&PgAttribute> {
        usize::try_from(number).ok()?.checked_sub(1).and_then(|i| self.attributes.get(i))
    }

    /// The default expression of a column, as a node tree.
    pub fn default(&self, number: AttrNo) -> Option<&Text> {
        self.defaults.iter().find(|d| d.0 == number).map(|d| &d.1)
    }

    /// The engine's descriptor, for access to rows: 42809 for a relation kind without rows, 0A000
    /// for a temporary table of another session.
    pub fn rows(&self) -> Result<&Arc<TableDesc>> {
        self.table.as_ref().ok_or_else(|| match self.other_temp {
            true => {
                pg_err!(FEATURE_NOT_SUPPORTED, "cannot access temporary tables of other sessions")
            }
            false => {
                pg_err!(WRONG_OBJECT_TYPE, "cannot open relation \"{}\"", self.name())
            }
        })
    }

    /// Whether one of `relations` is an index of this relation, its TOAST table or the TOAST index,
    /// so that a change of it makes the descriptor stale.
    pub(crate) fn depends_on(&self, relations: &HashSet<Oid>) -> bool {
        if self.indexes.iter().any(|i| relations.contains(&i.indexrelid)) {
            return true;
        }
        let toast = self.table.as_ref().and_then(|t| t.toast.as_ref());
        toast.is_some_and(|t| [t.table.oid, t.index.oid].iter().any(|o| relations.contains(o)))
    }

    /// The valid primary key index.
    pub fn primary_key(&self) -> Option<&PgIndex> {
        self.indexes.iter().find(|i| i.indisprimary && i.indisvalid)
    }

    /// Whether the relation is a system catalog or the TOAST table of one, by its OID. Counterpart:
    /// `IsCatalogRelationOid`.
    pub fn is_catalog(&self) -> bool {
        self.class.oid < Oid::FIRST_UNPINNED
    }
}
