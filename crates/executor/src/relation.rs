//! Descriptors of open relations: columns, indexes, constraints and generated columns. Counterpart:
//! execnodes.h (`ResultRelInfo`).

use engine::{IndexDesc, TableDesc};
use ids::{AttrNo, Oid};
use plan::Expr;
use std::sync::Arc;
use types::fncx::RowDesc;

/// An open table. In its expressions, its columns are `Var { varno: 1, … }`.
pub struct OpenRel {
    pub table: Arc<TableDesc>,
    /// `pg_class.relkind`.
    pub kind: u8,
    /// `pg_class.relispopulated`: false for a materialized view that has not been populated.
    pub populated: bool,
    pub row_type: Oid,
    pub columns: Arc<RowDesc>,
    pub indexes: Vec<RelIndex>,
    pub checks: Vec<RelCheck>,
    /// Stored generated columns.
    pub generated: Vec<(AttrNo, Expr)>,
    /// Row changes must be reported by [`crate::Services::row_event`], for foreign keys or
    /// triggers.
    pub row_events: bool,
    /// Columns whose change by UPDATE must be reported; `None`: all updates.
    pub event_columns: Option<Box<[AttrNo]>>,
}

/// An index of an open table.
pub struct RelIndex {
    pub desc: Arc<IndexDesc>,
    /// For each index column: the expression, or `None` for a plain column.
    pub exprs: Vec<Option<Expr>>,
    pub predicate: Vec<Expr>,
    pub unique: bool,
    /// Uniqueness may be checked later (a deferrable constraint).
    pub deferrable: bool,
}

pub struct RelCheck {
    pub name: String,
    pub expr: Expr,
}

/// A change of a row, for foreign keys and triggers.
pub struct RowEvent<'a> {
    pub rel: &'a Arc<OpenRel>,
    pub old: Option<&'a [types::Datum]>,
    pub new: Option<&'a [types::Datum]>,
    pub old_tid: ids::Tid,
    pub new_tid: ids::Tid,
}
