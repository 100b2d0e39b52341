//! The computations of a query level above its joins. The paths of a stage share one description,
//! so that paths are cheap to create; `create` reads it when it creates the plan node.

use crate::host::RelationInfo;
use crate::path::AppendRel;
use crate::vars::target_for;
use ids::AttrNo;
use pgerror::{PgError, Result};
use plan::expr::{AggSplit, Expr, TargetEntry};
use plan::node::PlanRowMark;
use plan::query::{CmdType, SortGroupClause, WindowClause};
use std::rc::Rc;
use std::sync::Arc;

/// Grouping and aggregation.
#[derive(Debug)]
pub struct Grouping {
    pub clauses: Vec<SortGroupClause>,
    pub targets: Rc<[TargetEntry]>,
    /// The grouping expressions, without duplicates.
    pub exprs: Vec<Expr>,
    /// The output: grouping expressions and aggregates.
    pub want: Vec<Expr>,
    pub having: Vec<Expr>,
    /// The sets of GROUPING SETS, ROLLUP and CUBE.
    pub sets: Option<GroupingSets>,
    /// Estimated number of groups.
    pub groups: f64,
    /// The step of an aggregation in two steps. The output of the second one is `want` as of an
    /// aggregation in one step.
    pub split: AggSplit,
}

/// The grouping sets of a level, as elements `tle_sort_group_ref` of its grouping clauses.
/// Counterpart: `grouping_sets_data`.
#[derive(Debug)]
pub struct GroupingSets {
    pub rollups: Vec<Rollup>,
    /// Sets with a column that cannot be sorted; all can be hashed.
    pub unsortable: Vec<CountedSet>,
}

/// Grouping sets of which each contains the next: sorted by the largest, rows are grouped by all.
/// As a phase of an Agg node it is `hashed` instead, if it is a single set. Counterpart:
/// `RollupData`.
#[derive(Clone, Debug)]
pub struct Rollup {
    /// The largest first; each is a prefix of the one before it.
    pub sets: Vec<CountedSet>,
    pub hashable: bool,
    pub hashed: bool,
}

/// A grouping set with the estimated number of its groups.
#[derive(Clone, Debug)]
pub struct CountedSet {
    pub refs: Vec<u32>,
    pub groups: f64,
}

impl GroupingSets {
    pub fn any_hashable(&self) -> bool {
        !self.unsortable.is_empty() || self.rollups.iter().any(|r| r.hashable)
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut CountedSet> {
        self.rollups.iter_mut().flat_map(|r| &mut r.sets).chain(&mut self.unsortable)
    }
}

impl Rollup {
    /// A phase that hashes one set.
    pub fn hashed(set: CountedSet) -> Rollup {
        Rollup { sets: vec![set], hashable: true, hashed: true }
    }

    /// Number of columns of the largest set.
    pub fn columns(&self) -> usize {
        self.sets.first().map_or(0, |s| s.refs.len())
    }

    pub fn groups(&self) -> f64 {
        self.sets.iter().map(|s| s.groups).sum()
    }
}

/// The functions of one window.
#[derive(Debug)]
pub struct Window {
    pub clause: WindowClause,
    pub targets: Rc<[TargetEntry]>,
    pub functions: Vec<Expr>,
    /// Conditions at the end of which no further rows are needed, over the level's expressions.
    pub run_condition: Vec<Expr>,
}

/// INSERT, UPDATE or DELETE.
#[derive(Debug)]
pub struct Modification {
    pub command: CmdType,
    /// Range-table index of the relation that the statement names.
    pub target: i32,
    pub table: Arc<RelationInfo>,
    /// The relations whose rows are modified, if these are the members of the target.
    pub members: Vec<Rc<AppendRel>>,
    /// The columns of the rows that the child must return. With members, `tableoid` identifies the
    /// member of a row.
    pub targets: Vec<TargetEntry>,
    /// The columns that UPDATE sets, of the target.
    pub update_colnos: Vec<AttrNo>,
    pub marks: Vec<PlanRowMark>,
    /// See `ModifyTable::row_by_row`.
    pub row_by_row: bool,
    pub epq_param: i32,
}

impl Grouping {
    /// True if there are aggregates or GROUPING functions of this level. Only an Agg node computes
    /// them.
    pub fn has_aggs(&self) -> bool {
        let is_agg = |e: &Expr| match e {
            Expr::Aggref(a) => a.agglevelsup == 0,
            Expr::GroupingFunc(g) => g.agglevelsup == 0,
            _ => false,
        };
        self.want.iter().chain(&self.having).any(|e| plan::walk::any(e, &mut |x| is_agg(x)))
    }

    /// The grouping clause with this number.
    pub fn clause(&self, r: u32) -> Result<&SortGroupClause> {
        let clause = self.clauses.iter().find(|c| c.tle_sort_group_ref == r);
        clause.ok_or_else(|| PgError::internal("grouping set column not found"))
    }

    /// The expression of a grouping clause.
    pub fn key(&self, r: u32) -> Result<&Expr> {
        target_for(self.clause(r)?, &self.targets)
    }
}

impl Window {
    /// PARTITION BY and ORDER BY.
    pub fn clauses(&self) -> Vec<SortGroupClause> {
        let w = &self.clause;
        w.partition_clause.iter().chain(&w.order_clause).cloned().collect()
    }
}
