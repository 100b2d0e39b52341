//! The computations of a query level above its joins. The paths of a stage share one description,
//! so that paths are cheap to create; `create` reads it when it creates the plan node.

use crate::path::AppendRel;
use ids::AttrNo;
use plan::expr::{AggSplit, Expr, TargetEntry};
use plan::node::PlanRowMark;
use plan::query::{CmdType, SortGroupClause, WindowClause};
use querytree::host::RelationInfo;
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
pub(crate) struct GroupingSets {
    pub rollups: Vec<Rollup>,
    /// Sets with a column that cannot be sorted; all can be hashed.
    pub unsortable: Vec<CountedSet>,
}

/// Grouping sets of which each contains the next: sorted by the largest, rows are grouped by all.
/// As a phase of an Agg node it is `hashed` instead, if it is a single set. Counterpart:
/// `RollupData`.
#[derive(Clone, Debug)]
pub(crate) struct Rollup {
    /// The largest first; each is a prefix of the one before it.
    pub sets: Vec<CountedSet>,
    pub hashable: bool,
    pub hashed: bool,
}

/// A grouping set with the estimated number of its groups.
#[derive(Clone, Debug)]
pub(crate) struct CountedSet {
    pub refs: Vec<u32>,
    pub groups: f64,
}

impl GroupingSets {
    pub(crate) fn any_hashable(&self) -> bool {
        !self.unsortable.is_empty() || self.rollups.iter().any(|r| r.hashable)
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut CountedSet> {
        self.rollups.iter_mut().flat_map(|r| &mut r.sets).chain(&mut self.unsortable)
    }
}

impl Rollup {
    /// A phase that hashes one set.
    pub(crate) fn hashed(set: CountedSet) -> Rollup {
        Rollup { sets: vec![set], hashable: true, hashed: true }
    }

    /// Number of columns of the largest set.
    pub(crate) fn columns(&self) -> usize {
        self.sets.first().map_or(0, |s| s.refs.len())
    }

    pub(crate) fn groups(&self) -> f64 {
        self.sets.iter().map(|s| s.groups).sum()
    }
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
