//! Descriptors of open relations: columns, indexes, constraints and generated columns. Counterpart:
//! execnodes.h (`ResultRelInfo`).

use crate::trigger::RelTriggers;
use engine::{IndexDesc, TableDesc};
use eval::Facts;
use ids::{AttrNo, Oid, RelKind, StrategyNumber};
use pgerror::Result;
use plan::Expr;
use std::sync::Arc;
use types::fn_context::RowDesc;

/// An open table. In its expressions, its columns are `Var { varno: 1, … }`.
pub struct OpenRel {
    pub table: Arc<TableDesc>,
    pub kind: RelKind,
    /// `pg_class.relispopulated`: false for a materialized view that has not been populated.
    pub populated: bool,
    pub row_type: Oid,
    pub columns: Arc<RowDesc>,
    pub indexes: Vec<RelIndex>,
    pub checks: Vec<RelCheck>,
    /// The partition constraint, if the table is a partition: conditions joined by AND.
    pub partition: Vec<Expr>,
    /// Stored generated columns.
    pub generated: Vec<(AttrNo, Expr)>,
    /// If there are any triggers, row changes are reported by [`crate::TriggerEvents::row_event`].
    pub triggers: RelTriggers,
    pub calls: RelCalls,
}

/// The functions that the expressions of a table call, for which the user needs EXECUTE.
#[derive(Default)]
pub struct RelCalls {
    pub checks: Box<[Oid]>,
    pub partition: Box<[Oid]>,
    pub generated: Box<[Oid]>,
    /// Expressions and predicates of indexes.
    pub indexes: Box<[Oid]>,
}

impl RelCalls {
    /// Those of a table with these expressions.
    pub fn of(
        checks: &[RelCheck],
        partition: &[Expr],
        generated: &[(AttrNo, Expr)],
        indexes: &[RelIndex],
        facts: &mut dyn Facts,
    ) -> Result<RelCalls> {
        let keys = indexes.iter().flat_map(|i| i.exprs.iter().flatten().chain(&i.predicate));
        Ok(RelCalls {
            checks: eval::called(checks.iter().map(|c| &c.expr), facts)?,
            partition: eval::called(partition, facts)?,
            generated: eval::called(generated.iter().map(|(_, e)| e), facts)?,
            indexes: eval::called(keys, facts)?,
        })
    }
}

/// An index of an open table.
pub struct RelIndex {
    pub desc: Arc<IndexDesc>,
    /// For each index column: the expression, or `None` for a plain column.
    pub exprs: Vec<Option<Expr>>,
    pub predicate: Vec<Expr>,
    pub unique: bool,
    /// Uniqueness, or the exclusion constraint, may be checked at the end of the statement or
    /// transaction (a deferrable constraint).
    pub deferrable: bool,
    /// The operators of an exclusion constraint, one for each key column; else none.
    pub exclusion: Vec<ExclusionOperator>,
    /// The types of the key columns in the table, for an exclusion constraint.
    pub key_types: Vec<Oid>,
}

/// An operator of an exclusion constraint: no two rows may have keys for all of which the operators
/// hold.
#[derive(Clone, Copy, Debug)]
pub struct ExclusionOperator {
    /// `pg_operator.oid`, and its function.
    pub operator: Oid,
    pub function: Oid,
    /// The operator's number in the family of the key column.
    pub strategy: StrategyNumber,
}

pub struct RelCheck {
    pub name: String,
    pub expr: Expr,
}
