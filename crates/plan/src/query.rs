//! An analysed statement: `Query` and its parts, with the node and field names of PostgreSQL.
//! Counterpart: nodes/parsenodes.h.

use crate::expr::{Expr, Location, TargetEntry};
use ids::{AttrNo, Oid, RelKind};
use std::sync::Arc;
use stdx::Nested;
use types::fn_context::{RowColumn, RowDesc};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CmdType {
    #[default]
    Select = 1,
    Update = 2,
    Insert = 3,
    Delete = 4,
    Merge = 5,
    Utility = 6,
    /// A rule's DO NOTHING.
    Nothing = 7,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum QuerySource {
    #[default]
    Original,
    Parser,
    InsteadRule,
    QualInsteadRule,
    NonInsteadRule,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Override {
    #[default]
    NotSet,
    UserValue,
    SystemValue,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LimitOption {
    #[default]
    Count,
    WithTies,
}

/// A SELECT, INSERT, UPDATE or DELETE with every name resolved. Utility statements stay raw trees
/// and are never part of a query.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Query {
    pub command_type: CmdType,
    pub query_source: QuerySource,
    pub can_set_tag: bool,
    /// Range-table index of the target of INSERT, UPDATE, DELETE; 0 for SELECT.
    pub result_relation: i32,
    pub has_aggs: bool,
    pub has_window_funcs: bool,
    pub has_target_srfs: bool,
    pub has_sub_links: bool,
    pub has_distinct_on: bool,
    pub has_recursive: bool,
    pub has_modifying_cte: bool,
    pub has_for_update: bool,
    pub has_row_security: bool,
    pub is_return: bool,
    pub cte_list: Vec<CommonTableExpr>,
    pub rtable: Vec<RangeTblEntry>,
    pub jointree: FromExpr,
    pub target_list: Vec<TargetEntry>,
    pub override_: Override,
    pub on_conflict: Option<Box<OnConflictExpr>>,
    /// The actions of MERGE, in order.
    pub merge_actions: Vec<MergeAction>,
    pub returning_list: Vec<TargetEntry>,
    pub group_clause: Vec<SortGroupClause>,
    pub group_distinct: bool,
    pub grouping_sets: Vec<GroupingSet>,
    pub having_qual: Option<Expr>,
    pub window_clause: Vec<WindowClause>,
    pub distinct_clause: Vec<SortGroupClause>,
    pub sort_clause: Vec<SortGroupClause>,
    pub limit_offset: Option<Expr>,
    pub limit_count: Option<Expr>,
    pub limit_option: LimitOption,
    pub row_marks: Vec<RowMarkClause>,
    pub set_operations: Option<Box<SetOpNode>>,
    /// pg_constraint OIDs that a GROUP BY's functional dependency relies on.
    pub constraint_deps: Vec<Oid>,
    /// NOTIFY as a rule's action.
    pub notify: Option<NotifyStmt>,
    pub with_check_options: Vec<WithCheckOption>,
    pub source: StatementSource,
}

/// A statement in its source text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StatementSource {
    /// Byte range in the text; length 0: to its end.
    pub location: i32,
    pub len: i32,
    /// `None` if identifiers are not computed (`compute_query_id`).
    pub identity: Option<Arc<Identity>>,
}

/// What identifies a statement in statistics (crate `statements`).
#[derive(PartialEq, Eq, Debug)]
pub struct Identity {
    /// Never 0.
    pub id: i64,
    /// The text with `$n` in place of constants.
    pub text: Box<str>,
    /// The text itself.
    pub original: Box<str>,
}

/// A WHEN clause of MERGE. Counterpart: `MergeAction`.
#[derive(Clone, PartialEq, Debug)]
pub struct MergeAction {
    /// WHEN MATCHED; otherwise WHEN NOT MATCHED.
    pub matched: bool,
    /// Insert, Update, Delete, or Nothing for DO NOTHING.
    pub command_type: CmdType,
    pub override_: Override,
    pub condition: Option<Expr>,
    /// The values by column number.
    pub target_list: Vec<TargetEntry>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JoinType {
    Inner = 0,
    Left = 1,
    Full = 2,
    Right = 3,
    /// One output row for each outer row that has a match.
    Semi = 4,
    /// One output row for each outer row that has no match.
    Anti = 5,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Alias {
    pub aliasname: String,
    pub colnames: Vec<String>,
}

/// Kind of a range-table entry. Counterpart: `RTEKind` with the fields of each kind.
#[derive(Clone, PartialEq, Debug)]
pub enum RteKind {
    Relation {
        relid: Oid,
        relkind: RelKind,
        /// Lock mode number (1 = AccessShare … 8 = AccessExclusive).
        rellockmode: i32,
        tablesample: Option<Box<TableSample>>,
    },
    Subquery {
        subquery: Nested<Query>,
        security_barrier: bool,
        /// The view that this was expanded from, for permission checks and locking; else invalid.
        relid: Oid,
    },
    Join {
        jointype: JoinType,
        /// Number of merged (USING) columns, which come first.
        joinmergedcols: i32,
        joinaliasvars: Vec<Expr>,
        joinleftcols: Vec<i32>,
        joinrightcols: Vec<i32>,
        join_using_alias: Option<Alias>,
    },
    Function {
        functions: Vec<RangeTblFunction>,
        /// WITH ORDINALITY.
        funcordinality: bool,
    },
    Values {
        values_lists: Vec<Vec<Expr>>,
        coltypes: Vec<Oid>,
        coltypmods: Vec<i32>,
        colcollations: Vec<Oid>,
    },
    Cte {
        ctename: String,
        ctelevelsup: u32,
        self_reference: bool,
        coltypes: Vec<Oid>,
        coltypmods: Vec<i32>,
        colcollations: Vec<Oid>,
    },
    /// Rows that the session provides by name: a transition table of a trigger.
    NamedTuplestore {
        enrname: String,
        /// The number of rows at the time of the analysis.
        enrtuples: f64,
        /// The table that has these columns.
        relid: Oid,
        /// Invalid for a dropped column.
        coltypes: Vec<Oid>,
        coltypmods: Vec<i32>,
        colcollations: Vec<Oid>,
    },
    /// `XMLTABLE` in a stored definition. It can be deparsed but not executed.
    TableFunc(Box<TableFunc>),
    /// Made by the planner for an empty FROM.
    Result,
}

impl RangeTblEntry {
    /// A copy without its subquery, functions, VALUES lists or join alias variables.
    pub fn without_parts(&self) -> RangeTblEntry {
        RangeTblEntry {
            kind: self.kind.without_parts(),
            alias: self.alias.clone(),
            eref: self.eref.clone(),
            selected_cols: self.selected_cols.clone(),
            inserted_cols: self.inserted_cols.clone(),
            updated_cols: self.updated_cols.clone(),
            security_quals: self.security_quals.clone(),
            ..*self
        }
    }
}

impl RteKind {
    fn without_parts(&self) -> RteKind {
        match self {
            RteKind::Subquery { security_barrier, relid, .. } => RteKind::Subquery {
                subquery: Nested::new(Query::default()),
                security_barrier: *security_barrier,
                relid: *relid,
            },
            RteKind::Join {
                jointype,
                joinmergedcols,
                joinleftcols,
                joinrightcols,
                join_using_alias,
                ..
            } => RteKind::Join {
                jointype: *jointype,
                joinmergedcols: *joinmergedcols,
                joinaliasvars: Vec::new(),
                joinleftcols: joinleftcols.clone(),
                joinrightcols: joinrightcols.clone(),
                join_using_alias: join_using_alias.clone(),
            },
            RteKind::Function { funcordinality, .. } => {
                RteKind::Function { functions: Vec::new(), funcordinality: *funcordinality }
            }
            RteKind::Values { coltypes, coltypmods, colcollations, .. } => RteKind::Values {
                values_lists: Vec::new(),
                coltypes: coltypes.clone(),
                coltypmods: coltypmods.clone(),
                colcollations: colcollations.clone(),
            },
            other => other.clone(),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct TableFunc {
    /// Prefix and URI of each; the default namespace has no prefix.
    pub namespaces: Vec<(Option<String>, Expr)>,
    pub docexpr: Expr,
    pub rowexpr: Expr,
    pub columns: Vec<TableFuncColumn>,
    /// Index of the column `FOR ORDINALITY`.
    pub ordinality: Option<usize>,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TableFuncColumn {
    pub name: String,
    pub typeid: Oid,
    pub typmod: i32,
    pub collation: Oid,
    pub path: Option<Expr>,
    pub default: Option<Expr>,
    pub not_null: bool,
}

impl TableFunc {
    /// All expressions in it.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let columns = self.columns.iter().flat_map(|c| c.path.iter().chain(&c.default));
        let uris = self.namespaces.iter().map(|(_, uri)| uri);
        uris.chain([&self.docexpr, &self.rowexpr]).chain(columns)
    }

    /// As [`TableFunc::exprs`], mutable.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let columns = self.columns.iter_mut().flat_map(|c| c.path.iter_mut().chain(&mut c.default));
        let uris = self.namespaces.iter_mut().map(|(_, uri)| uri);
        uris.chain([&mut self.docexpr, &mut self.rowexpr]).chain(columns)
    }
}

/// `NOTIFY`, the one utility statement that a rule may hold.
#[derive(Clone, PartialEq, Debug)]
pub struct NotifyStmt {
    pub channel: String,
    pub payload: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TableSample {
    pub tsmhandler: Oid,
    pub args: Vec<Expr>,
    pub repeatable: Option<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RangeTblFunction {
    pub funcexpr: Expr,
    pub funccolcount: i32,
    pub funccolnames: Vec<String>,
    pub funccoltypes: Vec<Oid>,
    pub funccoltypmods: Vec<i32>,
    pub funccolcollations: Vec<Oid>,
}

impl RangeTblFunction {
    /// Types and type modifiers of the columns that a column definition list names.
    pub fn defined_columns(&self) -> Vec<(Oid, i32)> {
        self.funccoltypes.iter().copied().zip(self.funccoltypmods.iter().copied()).collect()
    }

    /// The columns of the column definition list; `None` if there is none.
    pub fn defined_row(&self) -> Option<RowDesc> {
        let column = |(i, name): (usize, &String)| {
            Some(RowColumn {
                name: name.clone(),
                ty: *self.funccoltypes.get(i)?,
                typmod: *self.funccoltypmods.get(i)?,
                collation: *self.funccolcollations.get(i)?,
                dropped: None,
            })
        };
        let columns: Option<Vec<RowColumn>> =
            self.funccolnames.iter().enumerate().map(column).collect();
        columns.filter(|c| !c.is_empty()).map(|columns| RowDesc::new(columns, 0))
    }
}

/// Privilege bits of `required_perms`. Counterpart: `ACL_INSERT` and the others.
pub mod acl {
    pub const INSERT: u32 = 1 << 0;
    pub const SELECT: u32 = 1 << 1;
    pub const UPDATE: u32 = 1 << 2;
    pub const DELETE: u32 = 1 << 3;
    pub const TRUNCATE: u32 = 1 << 4;
    pub const REFERENCES: u32 = 1 << 5;
    pub const TRIGGER: u32 = 1 << 6;
    pub const EXECUTE: u32 = 1 << 7;
    pub const USAGE: u32 = 1 << 8;
    pub const CREATE: u32 = 1 << 9;
    pub const CREATE_TEMP: u32 = 1 << 10;
    pub const CONNECT: u32 = 1 << 11;
    pub const SET: u32 = 1 << 12;
    pub const ALTER_SYSTEM: u32 = 1 << 13;
    /// FOR UPDATE and the other row locks; checked as UPDATE.
    pub const SELECT_FOR_UPDATE: u32 = UPDATE;
}

#[derive(Clone, PartialEq, Debug)]
pub struct RangeTblEntry {
    pub kind: RteKind,
    /// As written.
    pub alias: Option<Alias>,
    /// Effective name and column names (dropped columns as empty strings).
    pub eref: Alias,
    pub lateral: bool,
    /// Children of an inheritance parent are included.
    pub inh: bool,
    pub in_from_cl: bool,
    /// Bits of [`acl`].
    pub required_perms: u32,
    /// Role to check as; invalid means the current user.
    pub check_as_user: Oid,
    /// Columns that need SELECT, INSERT, UPDATE privilege.
    pub selected_cols: Vec<AttrNo>,
    pub inserted_cols: Vec<AttrNo>,
    pub updated_cols: Vec<AttrNo>,
    /// Conditions of security-barrier views through which a relation is changed, innermost view
    /// first: operators that may reveal their arguments are evaluated after them. They are also
    /// among the conditions of the query.
    pub security_quals: Vec<Expr>,
}

/// A node of the FROM clause.
#[derive(Clone, PartialEq, Debug)]
pub enum JoinTreeNode {
    /// 1-based range-table index.
    Rtr(i32),
    Join(Box<JoinExpr>),
    From(Box<FromExpr>),
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct FromExpr {
    pub fromlist: Vec<JoinTreeNode>,
    pub quals: Option<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct JoinExpr {
    pub jointype: JoinType,
    pub is_natural: bool,
    pub larg: JoinTreeNode,
    pub rarg: JoinTreeNode,
    pub using_clause: Vec<String>,
    pub join_using_alias: Option<Alias>,
    pub quals: Option<Expr>,
    pub alias: Option<Alias>,
    /// Range-table index of the join itself.
    pub rtindex: i32,
}

/// One column of ORDER BY, GROUP BY, DISTINCT, …
#[derive(Clone, PartialEq, Debug)]
pub struct SortGroupClause {
    /// `TargetEntry::ressortgroupref`.
    pub tle_sort_group_ref: u32,
    pub eqop: Oid,
    /// Ordering operator; invalid if only grouping is wanted.
    pub sortop: Oid,
    pub nulls_first: bool,
    pub hashable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GroupingSetKind {
    Empty,
    Simple,
    Rollup,
    Cube,
    Sets,
}

#[derive(Clone, PartialEq, Debug)]
pub struct GroupingSet {
    pub kind: GroupingSetKind,
    /// Sort-group references, for `Simple`.
    pub refs: Vec<u32>,
    /// Parts, for the others.
    pub content: Vec<GroupingSet>,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct WindowClause {
    pub name: Option<String>,
    pub refname: Option<String>,
    pub partition_clause: Vec<SortGroupClause>,
    pub order_clause: Vec<SortGroupClause>,
    /// PostgreSQL's FRAMEOPTION bits.
    pub frame_options: i32,
    pub start_offset: Option<Expr>,
    pub end_offset: Option<Expr>,
    pub start_in_range_func: Oid,
    pub end_in_range_func: Oid,
    pub in_range_coll: Oid,
    pub in_range_asc: bool,
    pub in_range_nulls_first: bool,
    pub winref: u32,
    pub copied_order: bool,
}

/// Strength of a row lock. The order is PostgreSQL's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockStrength {
    None = 0,
    ForKeyShare = 1,
    ForShare = 2,
    ForNoKeyUpdate = 3,
    ForUpdate = 4,
}

impl LockStrength {
    /// The name of a SELECT that locks rows so, in messages.
    pub fn select_name(self) -> &'static str {
        match self {
            LockStrength::None => "SELECT",
            LockStrength::ForKeyShare => "SELECT FOR KEY SHARE",
            LockStrength::ForShare => "SELECT FOR SHARE",
            LockStrength::ForNoKeyUpdate => "SELECT FOR NO KEY UPDATE",
            LockStrength::ForUpdate => "SELECT FOR UPDATE",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockWaitPolicy {
    Block = 0,
    Skip = 1,
    Error = 2,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RowMarkClause {
    pub rti: i32,
    pub strength: LockStrength,
    pub wait_policy: LockWaitPolicy,
    /// From a view's own FOR UPDATE.
    pub pushed_down: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CteMaterialize {
    Default,
    Always,
    Never,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CommonTableExpr {
    pub ctename: String,
    pub aliascolnames: Vec<String>,
    pub materialized: CteMaterialize,
    pub query: Nested<Query>,
    pub search: Option<Box<CteSearch>>,
    pub cycle: Option<Box<CteCycle>>,
    pub recursive: bool,
    /// Number of references outside the query itself.
    pub refcount: i32,
    pub colnames: Vec<String>,
    pub coltypes: Vec<Oid>,
    pub coltypmods: Vec<i32>,
    pub colcollations: Vec<Oid>,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CteSearch {
    pub col_list: Vec<String>,
    pub breadth_first: bool,
    pub seq_column: String,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CteCycle {
    pub col_list: Vec<String>,
    pub mark_column: String,
    pub mark_value: Expr,
    pub mark_default: Expr,
    pub path_column: String,
    pub mark_type: Oid,
    pub mark_typmod: i32,
    pub mark_collation: Oid,
    pub mark_neop: Oid,
    pub location: Location,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SetOperation {
    Union = 1,
    Intersect = 2,
    Except = 3,
}

/// Tree of UNION, INTERSECT and EXCEPT over subquery range-table entries.
#[derive(Clone, PartialEq, Debug)]
pub enum SetOpNode {
    Leaf(i32),
    Op(SetOperationStmt),
}

#[derive(Clone, PartialEq, Debug)]
pub struct SetOperationStmt {
    pub op: SetOperation,
    pub all: bool,
    pub larg: Box<SetOpNode>,
    pub rarg: Box<SetOpNode>,
    pub col_types: Vec<Oid>,
    pub col_typmods: Vec<i32>,
    pub col_collations: Vec<Oid>,
    /// Empty for UNION ALL.
    pub group_clauses: Vec<SortGroupClause>,
}

impl SetOperationStmt {
    /// The range-table indexes of all inputs, from left to right.
    pub fn leaves(&self) -> Vec<i32> {
        let mut out = Vec::new();
        let mut left = vec![&*self.rarg, &*self.larg];
        while let Some(node) = left.pop() {
            match node {
                SetOpNode::Leaf(rti) => out.push(*rti),
                SetOpNode::Op(op) => left.extend([&*op.rarg, &*op.larg]),
            }
        }
        out
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OnConflictAction {
    Nothing = 1,
    Update = 2,
}

#[derive(Clone, PartialEq, Debug)]
pub struct InferenceElem {
    pub expr: Expr,
    pub infercollid: Oid,
    pub inferopclass: Oid,
}

#[derive(Clone, PartialEq, Debug)]
pub struct OnConflictExpr {
    pub action: OnConflictAction,
    pub arbiter_elems: Vec<InferenceElem>,
    pub arbiter_where: Option<Expr>,
    /// pg_constraint OID of ON CONSTRAINT, else invalid.
    pub constraint: Oid,
    pub on_conflict_set: Vec<TargetEntry>,
    pub on_conflict_where: Option<Expr>,
    /// Range-table index of EXCLUDED.
    pub excl_rel_index: i32,
    pub excl_rel_tlist: Vec<TargetEntry>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WcoKind {
    ViewCheck = 0,
    RlsInsertCheck = 1,
    RlsUpdateCheck = 2,
    RlsConflictCheck = 3,
}

#[derive(Clone, PartialEq, Debug)]
pub struct WithCheckOption {
    pub kind: WcoKind,
    pub relname: String,
    pub polname: Option<String>,
    pub qual: Option<Expr>,
    pub cascaded: bool,
}

impl Query {
    /// True if the query computes one row of target expressions and does nothing else: no rows are
    /// read, no sub-select runs, no aggregate, set or window function is called.
    pub fn computes_targets_only(&self) -> bool {
        self.command_type == CmdType::Select
            && !self.has_aggs
            && !self.has_window_funcs
            && !self.has_target_srfs
            && !self.has_sub_links
            && self.cte_list.is_empty()
            && self.rtable.is_empty()
            && self.jointree.fromlist.is_empty()
            && self.jointree.quals.is_none()
            && self.group_clause.is_empty()
            && self.grouping_sets.is_empty()
            && self.having_qual.is_none()
            && self.window_clause.is_empty()
            && self.distinct_clause.is_empty()
            && self.sort_clause.is_empty()
            && self.limit_offset.is_none()
            && self.limit_count.is_none()
            && self.set_operations.is_none()
    }

    /// The range-table entry with this 1-based index.
    pub fn rte(&self, rti: i32) -> &RangeTblEntry {
        &self.rtable[rti as usize - 1]
    }

    /// The columns of the result: the target list without junk, or RETURNING's.
    pub fn result_columns(&self) -> impl Iterator<Item = &TargetEntry> {
        let list = match self.command_type {
            CmdType::Select => &self.target_list,
            _ => &self.returning_list,
        };
        list.iter().filter(|t| !t.resjunk)
    }
}
