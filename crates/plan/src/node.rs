//! Plans: what the executor runs. Counterpart: nodes/plannodes.h.
//!
//! Expressions of a scan refer to the scanned columns by
//! `Var { varno: scanrelid, varattno: column }`; those of the nodes above refer to their children's
//! target lists by `Var::OUTER` and `Var::INNER`. A plan
//! is immutable and shared between sessions, so it holds no run-time state and no descriptors:
//! relations and functions are OIDs, opened when execution starts.

use crate::expr::{Expr, TargetEntry};
use crate::prune::AppendPruning;
use crate::query::{
    CmdType, JoinType, LockStrength, LockWaitPolicy, OnConflictAction, RangeTblEntry,
    RangeTblFunction, SetOperation, StatementSource, TableSample, WithCheckOption,
};
use ids::{AttrNo, Oid};

/// A planned statement.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedStmt {
    pub command_type: CmdType,
    pub has_returning: bool,
    pub has_modifying_cte: bool,
    pub can_set_tag: bool,
    /// The plan depends on the current role (row security).
    pub depends_on_role: bool,
    /// The plan is for the present snapshots only and must not be kept.
    pub transient: bool,
    pub plan_tree: Plan,
    /// The flat range table: relations to open, lock and check privileges on.
    pub rtable: Vec<RangeTblEntry>,
    /// Range-table indexes of the modified relations.
    pub result_relations: Vec<i32>,
    /// Plans of SubPlan nodes, CTEs and init plans, by `plan_id - 1`.
    pub subplans: Vec<Plan>,
    /// Subplans whose output must support rescanning cheaply (1-based plan ids).
    pub rewind_plan_ids: Vec<u32>,
    pub row_marks: Vec<PlanRowMark>,
    /// The members of tables with inheritance children or partitions.
    pub append_relations: Vec<AppendRelation>,
    /// Relations whose change makes the plan stale.
    pub relation_oids: Vec<Oid>,
    /// Functions and types whose change makes the plan stale: (catalog OID, object OID).
    pub inval_items: Vec<(Oid, Oid)>,
    /// Privileges to check each time before the statement runs.
    pub privileges: RequiredPrivileges,
    /// Types of the exec parameters.
    pub param_exec_types: Vec<Oid>,
    /// Volatile functions are called. Whatever depends on an exec parameter is computed again after
    /// each assignment to it, even of an equal value.
    pub calls_volatile: bool,
    /// Expressions over parameters and constants. They are evaluated when values are bound to the
    /// plan, so that their errors are raised even if no row needs them (`eval::bound_parts`).
    pub bound: Vec<Expr>,
    pub source: StatementSource,
}

impl PlannedStmt {
    /// Indexes of the output columns that are not junk.
    pub fn visible_columns(&self) -> Vec<usize> {
        let targets = self.plan_tree.info.target_list.iter().enumerate();
        targets.filter(|(_, t)| !t.resjunk).map(|(i, _)| i).collect()
    }
}

/// A member of a table with inheritance children or partitions, by indexes in the flat range table.
/// Counterpart: `AppendRelInfo`.
#[derive(Clone, PartialEq, Debug)]
pub struct AppendRelation {
    pub parent: i32,
    pub child: i32,
    /// For each column of the child, the parent's column; 0 if it has none.
    pub parent_columns: Vec<AttrNo>,
}

/// Privileges on all relations and functions that the statement uses, at any query level.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RequiredPrivileges {
    pub relations: Vec<RelationPrivileges>,
    /// Functions whose EXECUTE privilege must be checked: those with an access control list.
    pub functions: Vec<Oid>,
}

/// Privileges on one relation. Counterpart: the permission fields of `RangeTblEntry`.
#[derive(Clone, PartialEq, Debug)]
pub struct RelationPrivileges {
    pub relid: Oid,
    /// Bits of [`crate::query::acl`].
    pub required: u32,
    /// Role to check as; invalid means the current user.
    pub check_as_user: Oid,
    /// Columns that need SELECT, INSERT, UPDATE; 0 is the whole row.
    pub selected_cols: Vec<AttrNo>,
    pub inserted_cols: Vec<AttrNo>,
    pub updated_cols: Vec<AttrNo>,
}

/// Fields common to all plan nodes. Counterpart: the base struct `Plan`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PlanInfo {
    /// Estimated costs, in units of one sequential page read (`seq_page_cost` = 1).
    pub startup_cost: f64,
    pub total_cost: f64,
    /// Estimated number of rows of one scan.
    pub plan_rows: f64,
    /// Average width of a row in bytes.
    pub plan_width: i32,
    pub target_list: Vec<TargetEntry>,
    /// Conditions that the node tests, implicitly ANDed.
    pub qual: Vec<Expr>,
    /// Init plans attached to this node: `Expr::SubPlan`s.
    pub init_plan: Vec<Expr>,
    /// Exec parameters that affect this node or its children: a change means a rescan.
    pub ext_param: Vec<i32>,
    pub all_param: Vec<i32>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    pub info: PlanInfo,
    pub node: PlanNode,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ScanDirection {
    Backward,
    #[default]
    Forward,
}

/// Sort columns, by position in the child's target list.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SortKeys {
    pub cols: Vec<AttrNo>,
    pub operators: Vec<Oid>,
    pub collations: Vec<Oid>,
    pub nulls_first: Vec<bool>,
}

/// Grouping columns, by position in the child's target list.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GroupKeys {
    pub cols: Vec<AttrNo>,
    pub eq_operators: Vec<Oid>,
    pub collations: Vec<Oid>,
}

/// Search conditions of an index scan: `index column op value`, with the index column as
/// `Var { varno: Var::INDEX, varattno: index column }`.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexProbe {
    pub indexid: Oid,
    pub index_qual: Vec<Expr>,
    /// The same conditions over the table's columns, for EXPLAIN and rechecks.
    pub index_qual_orig: Vec<Expr>,
    pub order_by: Vec<Expr>,
    pub direction: ScanDirection,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AggStrategy {
    /// One group.
    Plain,
    /// Input sorted by group.
    Sorted,
    Hashed,
    /// Grouping sets: the first phase is hashed, and there are sorted phases.
    Mixed,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SetOpStrategy {
    Sorted,
    Hashed,
}

#[derive(Clone, PartialEq, Debug)]
pub enum PlanNode {
    /// Computes the target list, for one row if there is no child.
    Result {
        child: Option<Box<Plan>>,
        constant_qual: Vec<Expr>,
    },
    /// Expands set-returning functions of the target list.
    ProjectSet {
        child: Box<Plan>,
    },
    ModifyTable(Box<ModifyTable>),
    Append {
        children: Vec<Plan>,
        /// Range-table indexes of the tables whose members the children scan or join.
        relations: Vec<i32>,
        pruning: Option<Box<AppendPruning>>,
    },
    MergeAppend {
        children: Vec<Plan>,
        keys: SortKeys,
        /// As in `Append`.
        relations: Vec<i32>,
        pruning: Option<Box<AppendPruning>>,
    },
    RecursiveUnion {
        outer: Box<Plan>,
        inner: Box<Plan>,
        /// Exec parameter that names the working table.
        wt_param: i32,
        /// Duplicate elimination; empty for UNION ALL.
        dedup: GroupKeys,
        num_groups: f64,
    },
    SeqScan {
        scanrelid: i32,
    },
    SampleScan {
        scanrelid: i32,
        sample: TableSample,
    },
    IndexScan {
        scanrelid: i32,
        probe: IndexProbe,
    },
    /// `index_tlist` gives the index's columns as expressions over the table.
    IndexOnlyScan {
        scanrelid: i32,
        probe: IndexProbe,
        index_tlist: Vec<TargetEntry>,
    },
    BitmapHeapScan {
        scanrelid: i32,
        bitmap: Box<BitmapNode>,
        recheck: Vec<Expr>,
    },
    /// `ctid = …`, `ctid = ANY(…)`, `WHERE CURRENT OF`.
    TidScan {
        scanrelid: i32,
        tid_quals: Vec<Expr>,
    },
    TidRangeScan {
        scanrelid: i32,
        tid_quals: Vec<Expr>,
    },
    SubqueryScan {
        scanrelid: i32,
        child: Box<Plan>,
    },
    FunctionScan {
        scanrelid: i32,
        functions: Vec<RangeTblFunction>,
        ordinality: bool,
    },
    ValuesScan {
        scanrelid: i32,
        values_lists: Vec<Vec<Expr>>,
    },
    CteScan {
        scanrelid: i32,
        cte_plan_id: u32,
        cte_param: i32,
    },
    WorkTableScan {
        scanrelid: i32,
        wt_param: i32,
    },
    NamedTuplestoreScan {
        scanrelid: i32,
        enrname: String,
    },
    NestLoop {
        jointype: JoinType,
        outer: Box<Plan>,
        inner: Box<Plan>,
        join_qual: Vec<Expr>,
        inner_unique: bool,
        /// Exec parameters to set from the outer row: (parameter, outer Var).
        nest_params: Vec<(i32, Expr)>,
    },
    MergeJoin {
        jointype: JoinType,
        outer: Box<Plan>,
        inner: Box<Plan>,
        join_qual: Vec<Expr>,
        inner_unique: bool,
        merge_clauses: Vec<Expr>,
        families: Vec<Oid>,
        collations: Vec<Oid>,
        descending: Vec<bool>,
        nulls_first: Vec<bool>,
    },
    /// The inner child is hashed.
    HashJoin {
        jointype: JoinType,
        outer: Box<Plan>,
        inner: Box<Plan>,
        join_qual: Vec<Expr>,
        inner_unique: bool,
        hash_clauses: Vec<Expr>,
        operators: Vec<Oid>,
        collations: Vec<Oid>,
        /// The outer sides of the clauses, over the outer child's output.
        outer_keys: Vec<Expr>,
        /// The inner sides, over the inner child's output.
        inner_keys: Vec<Expr>,
    },
    Material {
        child: Box<Plan>,
    },
    Memoize {
        child: Box<Plan>,
        param_exprs: Vec<Expr>,
        operators: Vec<Oid>,
        collations: Vec<Oid>,
        /// Only shown by EXPLAIN. In both modes, equal keys with different bytes have separate
        /// cache entries.
        binary_mode: bool,
        /// Only the first row for a key is asked for, so that an entry is complete with it.
        single_row: bool,
    },
    Sort {
        child: Box<Plan>,
        keys: SortKeys,
    },
    IncrementalSort {
        child: Box<Plan>,
        keys: SortKeys,
        presorted_cols: i32,
    },
    Group {
        child: Box<Plan>,
        keys: GroupKeys,
    },
    Agg(Box<Agg>),
    WindowAgg(Box<WindowAgg>),
    Unique {
        child: Box<Plan>,
        keys: GroupKeys,
    },
    SetOp {
        child: Box<Plan>,
        op: SetOperation,
        all: bool,
        strategy: SetOpStrategy,
        keys: GroupKeys,
        /// Target-list column that is 0 for rows of the left input and 1 for those of the right.
        flag_col: AttrNo,
        num_groups: f64,
    },
    LockRows {
        child: Box<Plan>,
        row_marks: Vec<PlanRowMark>,
        epq_param: i32,
    },
    Limit {
        child: Box<Plan>,
        offset: Option<Expr>,
        count: Option<Expr>,
        /// FETCH FIRST … WITH TIES: the columns by which rows are peers.
        with_ties: Option<GroupKeys>,
    },
}

/// A tree of index scans that yields a set of TIDs.
#[derive(Clone, PartialEq, Debug)]
pub enum BitmapNode {
    Index { info: PlanInfo, probe: IndexProbe },
    And { info: PlanInfo, children: Vec<BitmapNode> },
    Or { info: PlanInfo, children: Vec<BitmapNode> },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Agg {
    pub child: Box<Plan>,
    pub strategy: AggStrategy,
    pub split: crate::expr::AggSplit,
    pub keys: GroupKeys,
    pub num_groups: f64,
    /// The grouping sets of the first phase, as columns of the child, of which `keys` has the
    /// operators. Empty without grouping sets.
    pub grouping_sets: Vec<Vec<AttrNo>>,
    /// The further phases. Hashed phases are computed together with the first sorted one.
    pub chain: Vec<AggPhase>,
}

/// A phase of an aggregation with grouping sets: either one set that is hashed, or a rollup: sets
/// of which each is a prefix of the one before it.
#[derive(Clone, PartialEq, Debug)]
pub struct AggPhase {
    /// Plain (only empty sets), sorted or hashed.
    pub strategy: AggStrategy,
    /// The order in which the rows are sorted for this phase; `None` if the phase reads the child's
    /// rows as they are.
    pub sort: Option<SortKeys>,
    pub grouping_sets: Vec<Vec<AttrNo>>,
    pub num_groups: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct WindowAgg {
    pub child: Box<Plan>,
    pub winref: u32,
    pub partition: GroupKeys,
    pub order: GroupKeys,
    pub frame_options: i32,
    pub start_offset: Option<Expr>,
    pub end_offset: Option<Expr>,
    pub start_in_range_func: Oid,
    pub end_in_range_func: Oid,
    pub in_range_coll: Oid,
    pub in_range_asc: bool,
    pub in_range_nulls_first: bool,
    pub run_condition: Vec<Expr>,
}

/// INSERT, UPDATE, DELETE. The child's target list is, for INSERT, the whole new row; for UPDATE,
/// the new values of `update_colnos` followed by the row's identity (`ctid`, junk); for DELETE, the
/// identity.
#[derive(Clone, PartialEq, Debug)]
pub struct ModifyTable {
    pub child: Plan,
    pub operation: CmdType,
    pub can_set_tag: bool,
    pub nominal_relation: i32,
    pub result_relations: Vec<i32>,
    /// For each result relation, the columns that UPDATE sets, in the child's order.
    pub update_colnos: Vec<Vec<AttrNo>>,
    pub with_check_options: Vec<Vec<WithCheckOption>>,
    /// For each result relation; Vars of the relation itself refer to the new (INSERT, UPDATE) or
    /// old (DELETE) row, others to the child's output by `Var::OUTER`.
    pub returning_lists: Vec<Vec<TargetEntry>>,
    /// For MERGE, the actions for each result relation; Vars as in `returning_lists`.
    pub merge_actions: Vec<Vec<MergeActionPlan>>,
    /// For an UPDATE of a partitioned table: `returning_lists` and `with_check_options` of rows
    /// that move to another partition, over the columns of the partitioned table.
    pub moved_returning: Vec<TargetEntry>,
    pub moved_checks: Vec<WithCheckOption>,
    pub row_marks: Vec<PlanRowMark>,
    pub epq_param: i32,
    pub on_conflict: Option<OnConflictPlan>,
    /// The child calls functions that may read the rows written so far, so that it must return one
    /// row at a time.
    pub row_by_row: bool,
}

/// An action of MERGE for one result relation.
#[derive(Clone, PartialEq, Debug)]
pub struct MergeActionPlan {
    pub matched: bool,
    pub command: CmdType,
    /// Joined by AND.
    pub condition: Vec<Expr>,
    /// INSERT: all columns of the relation that the statement names; UPDATE: those of
    /// `update_colnos`.
    pub target_list: Vec<TargetEntry>,
    /// The columns of the result relation that UPDATE sets.
    pub update_colnos: Vec<AttrNo>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct OnConflictPlan {
    pub action: OnConflictAction,
    pub arbiter_indexes: Vec<Oid>,
    pub set: Vec<TargetEntry>,
    pub set_cols: Vec<AttrNo>,
    pub where_: Vec<Expr>,
    pub excl_rel_rti: i32,
}

/// How rows of a relation take part in locking and rechecking. The order is PostgreSQL's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RowMarkType {
    Exclusive,
    NoKeyExclusive,
    Share,
    KeyShare,
    /// Not locked; refetched by TID for rechecks.
    Reference,
    /// Not locked; the whole row is carried along.
    Copy,
}

#[derive(Clone, PartialEq, Debug)]
pub struct PlanRowMark {
    pub rti: i32,
    /// Parent's range-table index (itself unless inherited).
    pub prti: i32,
    pub rowmark_id: u32,
    pub mark_type: RowMarkType,
    pub strength: LockStrength,
    pub wait_policy: LockWaitPolicy,
    pub is_parent: bool,
}

impl Plan {
    /// The children, outer before inner.
    pub fn children(&self) -> Vec<&Plan> {
        match &self.node {
            PlanNode::Result { child, .. } => child.iter().map(|c| &**c).collect(),
            PlanNode::ModifyTable(m) => vec![&m.child],
            PlanNode::Append { children, .. } | PlanNode::MergeAppend { children, .. } => {
                children.iter().collect()
            }
            PlanNode::RecursiveUnion { outer, inner, .. }
            | PlanNode::NestLoop { outer, inner, .. }
            | PlanNode::MergeJoin { outer, inner, .. }
            | PlanNode::HashJoin { outer, inner, .. } => vec![outer, inner],
            PlanNode::ProjectSet { child }
            | PlanNode::SubqueryScan { child, .. }
            | PlanNode::Material { child }
            | PlanNode::Memoize { child, .. }
            | PlanNode::Sort { child, .. }
            | PlanNode::IncrementalSort { child, .. }
            | PlanNode::Group { child, .. }
            | PlanNode::Unique { child, .. }
            | PlanNode::SetOp { child, .. }
            | PlanNode::LockRows { child, .. }
            | PlanNode::Limit { child, .. } => vec![child],
            PlanNode::Agg(a) => vec![&a.child],
            PlanNode::WindowAgg(w) => vec![&w.child],
            PlanNode::SeqScan { .. }
            | PlanNode::SampleScan { .. }
            | PlanNode::IndexScan { .. }
            | PlanNode::IndexOnlyScan { .. }
            | PlanNode::BitmapHeapScan { .. }
            | PlanNode::TidScan { .. }
            | PlanNode::TidRangeScan { .. }
            | PlanNode::FunctionScan { .. }
            | PlanNode::ValuesScan { .. }
            | PlanNode::CteScan { .. }
            | PlanNode::WorkTableScan { .. }
            | PlanNode::NamedTuplestoreScan { .. } => vec![],
        }
    }
}
