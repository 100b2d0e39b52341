//! The computations of a query level above its joins. The paths of a stage share one description,
//! so that paths are cheap to create; `create` reads it when it creates the plan node.

use crate::host::RelationInfo;
use ids::AttrNo;
use plan::expr::{Expr, TargetEntry};
use plan::node::PlanRowMark;
use plan::query::{CmdType, SortGroupClause, WindowClause};
use std::rc::Rc;
use std::sync::Arc;

/// Grouping and aggregation.
#[derive(Debug)]
pub(crate) struct Grouping {
    pub clauses: Vec<SortGroupClause>,
    pub targets: Rc<[TargetEntry]>,
    /// The grouping expressions, without duplicates.
    pub exprs: Vec<Expr>,
    /// The output: grouping expressions and aggregates.
    pub want: Vec<Expr>,
    pub having: Vec<Expr>,
    /// The grouping sets, as numbers of `clauses` (`tle_sort_group_ref`); empty without them.
    pub sets: Vec<Vec<u32>>,
    /// Estimated number of groups.
    pub groups: f64,
}

/// The functions of one window.
#[derive(Debug)]
pub(crate) struct Window {
    pub clause: WindowClause,
    pub targets: Rc<[TargetEntry]>,
    pub functions: Vec<Expr>,
    /// Conditions at the end of which no further rows are needed, over the level's expressions.
    pub run_condition: Vec<Expr>,
}

/// INSERT, UPDATE or DELETE.
#[derive(Debug)]
pub(crate) struct Modification {
    pub command: CmdType,
    /// Range-table index of the modified relation.
    pub target: i32,
    pub table: Arc<RelationInfo>,
    /// The columns of the rows that the child must return.
    pub targets: Vec<TargetEntry>,
    pub update_colnos: Vec<AttrNo>,
    pub marks: Vec<PlanRowMark>,
    /// See `ModifyTable::row_by_row`.
    pub row_by_row: bool,
    pub epq_param: i32,
}
