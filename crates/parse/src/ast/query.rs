//! SELECT, INSERT, UPDATE, DELETE, MERGE and their clauses.

use super::enums::{
    CmdType, CteMaterialize, GroupingSetKind, JoinType, LimitOption, LockClauseStrength,
    LockWaitPolicy, MergeMatchKind, OnCommitAction, OnConflictAction, OverridingKind, SetOperation,
    SortByDir, SortByNulls,
};
use super::expr::DefElem;
use super::table::{ColumnDef, IndexElem};
use super::{Name, Node};
use ids::Persistence;

/// A SELECT or VALUES, or a set operation (then `larg` and `rarg` are set).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SelectStmt {
    pub distinct_clause: DistinctClause,
    pub into_clause: Option<Box<IntoClause>>,
    pub target_list: Vec<ResTarget>,
    pub from_clause: Vec<Node>,
    pub where_clause: Option<Node>,
    pub group_clause: Vec<Node>,
    pub group_distinct: bool,
    pub having_clause: Option<Node>,
    pub window_clause: Vec<WindowDef>,
    pub values_lists: Vec<Vec<Node>>,
    pub sort_clause: Vec<SortBy>,
    pub limit_offset: Option<Node>,
    pub limit_count: Option<Node>,
    pub limit_option: LimitOption,
    pub locking_clause: Vec<LockingClause>,
    pub with_clause: Option<Box<WithClause>>,
    pub op: SetOperation,
    pub all: bool,
    pub larg: Option<Box<SelectStmt>>,
    pub rarg: Option<Box<SelectStmt>>,
}

/// INSERT; without a source it is DEFAULT VALUES.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InsertStmt {
    pub relation: RangeVar,
    pub cols: Vec<ResTarget>,
    pub select_stmt: Option<Node>,
    pub on_conflict_clause: Option<Box<OnConflictClause>>,
    pub returning_list: Vec<ResTarget>,
    pub with_clause: Option<Box<WithClause>>,
    pub overriding: OverridingKind,
}

/// UPDATE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UpdateStmt {
    pub relation: RangeVar,
    pub target_list: Vec<ResTarget>,
    pub where_clause: Option<Node>,
    pub from_clause: Vec<Node>,
    pub returning_list: Vec<ResTarget>,
    pub with_clause: Option<Box<WithClause>>,
}

/// DELETE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeleteStmt {
    pub relation: RangeVar,
    pub using_clause: Vec<Node>,
    pub where_clause: Option<Node>,
    pub returning_list: Vec<ResTarget>,
    pub with_clause: Option<Box<WithClause>>,
}

/// MERGE.
#[derive(Clone, PartialEq, Debug)]
pub struct MergeStmt {
    pub relation: RangeVar,
    pub source_relation: Node,
    pub join_condition: Node,
    pub merge_when_clauses: Vec<MergeWhenClause>,
    pub returning_list: Vec<ResTarget>,
    pub with_clause: Option<Box<WithClause>>,
}

/// One WHEN of a MERGE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MergeWhenClause {
    pub match_kind: MergeMatchKind,
    pub command_type: CmdType,
    pub overriding: OverridingKind,
    pub condition: Option<Node>,
    pub target_list: Vec<ResTarget>,
    pub values: Vec<Node>,
}

/// RETURN in an SQL function body.
#[derive(Clone, PartialEq, Debug)]
pub struct ReturnStmt {
    pub returnval: Node,
}

/// An assignment of PL/pgSQL: `target := expression`, with all clauses of a SELECT.
#[derive(Clone, PartialEq, Debug)]
pub struct PlAssignStmt {
    /// The first name of the target; `$n` for a parameter.
    pub name: Name,
    /// Further names, and subscripts.
    pub indirection: Vec<Node>,
    /// The number of names, `name` included, that may identify the variable.
    pub names: i32,
    pub val: Option<Box<SelectStmt>>,
    pub location: i32,
}

/// An item of a target list; in INSERT and UPDATE a target column.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ResTarget {
    pub name: Option<Name>,
    pub indirection: Vec<Node>,
    pub val: Option<Node>,
    pub location: i32,
}

/// A table alias with optional column aliases.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Alias {
    pub aliasname: Name,
    pub colnames: Vec<Name>,
}

/// A relation by name. `inh` is false for ONLY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RangeVar {
    pub catalogname: Option<Name>,
    pub schemaname: Option<Name>,
    pub relname: Name,
    pub inh: bool,
    pub relpersistence: Persistence,
    pub alias: Option<Box<Alias>>,
    pub location: i32,
}

/// A join of two FROM items.
#[derive(Clone, PartialEq, Debug)]
pub struct JoinExpr {
    pub jointype: JoinType,
    pub is_natural: bool,
    pub larg: Node,
    pub rarg: Node,
    pub using_clause: Vec<Name>,
    pub join_using_alias: Option<Box<Alias>>,
    pub quals: Option<Node>,
    pub alias: Option<Box<Alias>>,
}

/// A sub-select in FROM.
#[derive(Clone, PartialEq, Debug)]
pub struct RangeSubselect {
    pub lateral: bool,
    pub subquery: Node,
    pub alias: Option<Box<Alias>>,
}

/// A function in FROM; each entry is a list of the call and its column definitions.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RangeFunction {
    pub lateral: bool,
    pub ordinality: bool,
    pub is_rowsfrom: bool,
    pub functions: Vec<RangeFunctionItem>,
    pub alias: Option<Box<Alias>>,
    pub coldeflist: Vec<ColumnDef>,
}

/// TABLESAMPLE.
#[derive(Clone, PartialEq, Debug)]
pub struct RangeTableSample {
    pub relation: Node,
    pub method: Vec<Name>,
    pub args: Vec<Node>,
    pub repeatable: Option<Node>,
    pub location: i32,
}

/// An item of ORDER BY.
#[derive(Clone, PartialEq, Debug)]
pub struct SortBy {
    pub node: Node,
    pub sortby_dir: SortByDir,
    pub sortby_nulls: SortByNulls,
    pub use_op: Vec<Name>,
    pub location: i32,
}

/// A window: the OVER clause or an item of WINDOW. `frame_options` has PostgreSQL's bits.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WindowDef {
    pub name: Option<Name>,
    pub refname: Option<Name>,
    pub partition_clause: Vec<Node>,
    pub order_clause: Vec<SortBy>,
    pub frame_options: i32,
    pub start_offset: Option<Node>,
    pub end_offset: Option<Node>,
    pub location: i32,
}

/// ROLLUP, CUBE, GROUPING SETS or () in GROUP BY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GroupingSet {
    pub kind: GroupingSetKind,
    pub content: Vec<Node>,
    pub location: i32,
}

/// FOR UPDATE, FOR SHARE and similar clauses; without names it applies to all of FROM.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LockingClause {
    pub locked_rels: Vec<RangeVar>,
    pub strength: LockClauseStrength,
    pub wait_policy: LockWaitPolicy,
}

/// WITH.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WithClause {
    pub ctes: Vec<CommonTableExpr>,
    pub recursive: bool,
    pub location: i32,
}

/// A common table expression.
#[derive(Clone, PartialEq, Debug)]
pub struct CommonTableExpr {
    pub ctename: Name,
    pub aliascolnames: Vec<Name>,
    pub ctematerialized: CteMaterialize,
    pub ctequery: Node,
    pub search_clause: Option<Box<CteSearchClause>>,
    pub cycle_clause: Option<Box<CteCycleClause>>,
    pub location: i32,
}

/// SEARCH BREADTH or DEPTH FIRST.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CteSearchClause {
    pub search_col_list: Vec<Name>,
    pub search_breadth_first: bool,
    pub search_seq_column: Option<Name>,
    pub location: i32,
}

/// CYCLE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CteCycleClause {
    pub cycle_col_list: Vec<Name>,
    pub cycle_mark_column: Option<Name>,
    pub cycle_mark_value: Option<Node>,
    pub cycle_mark_default: Option<Node>,
    pub cycle_path_column: Option<Name>,
    pub location: i32,
}

/// ON CONFLICT of INSERT.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OnConflictClause {
    pub action: OnConflictAction,
    pub infer: Option<Box<InferClause>>,
    pub target_list: Vec<ResTarget>,
    pub where_clause: Option<Node>,
    pub location: i32,
}

/// The conflict target of ON CONFLICT.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InferClause {
    pub index_elems: Vec<IndexElem>,
    pub where_clause: Option<Node>,
    pub conname: Option<Name>,
    pub location: i32,
}

/// The target of SELECT INTO, CREATE TABLE AS and CREATE MATERIALIZED VIEW.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct IntoClause {
    pub rel: RangeVar,
    pub col_names: Vec<Name>,
    pub access_method: Option<Name>,
    pub options: Vec<DefElem>,
    pub on_commit: OnCommitAction,
    pub table_space_name: Option<Name>,
    pub skip_data: bool,
}

/// DISTINCT of a SELECT.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum DistinctClause {
    #[default]
    None,
    /// DISTINCT over all columns.
    Distinct,
    /// DISTINCT ON these expressions.
    On(Vec<Node>),
}

/// A function in FROM (several in ROWS FROM) with its column definitions.
#[derive(Clone, PartialEq, Debug)]
pub struct RangeFunctionItem {
    pub func: Node,
    pub coldeflist: Vec<ColumnDef>,
}
