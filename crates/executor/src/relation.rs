//! Relations as the executor uses them: descriptors with what must be checked and kept up when rows
//! change. Counterpart: execIndexing.c, ResultRelInfo.

use engine::{IndexDesc, TableDesc};
use ids::{AttrNo, Oid};
use plan::Expr;
use std::sync::Arc;
use types::fncx::RowDesc;

/// An open table. Expressions have `Var { varno: 1, … }` for its columns.
pub struct OpenRel {
    pub table: Arc<TableDesc>,
    /// `pg_class.relkind`.
    pub kind: u8,
    /// `pg_class.relispopulated`: false for a materialized view that was never filled.
    pub populated: bool,
    pub row_type: Oid,
    pub columns: Arc<RowDesc>,
    pub indexes: Vec<RelIndex>,
    pub checks: Vec<RelCheck>,
    /// Stored generated columns.
    pub generated: Vec<(AttrNo, Expr)>,
    /// Changes of rows concern somebody (foreign keys, triggers): [`crate::Services::row_event`].
    pub row_events: bool,
    /// Columns whose change by UPDATE concerns them; `None`: any change does.
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
