//! The planner's interface to the session, as traits: relation sizes, indexes, statistics
//! ([`RelationLookup`]), operators ([`OperatorLookup`]), functions ([`FunctionLookup`]), evaluation
//! of expressions ([`ExpressionHost`]), and settings ([`PlannerHost`]). Counterpart: plancat.c,
//! lsyscache.c.

use access::{Capabilities, CostModel, PendingStats, QuerySize};
use ids::{AttrNo, Oid, RelKind, StrategyNumber};
use partition::PartitionDesc;
use pgerror::{PgError, Result};
use plan::expr::{Expr, FuncExpr, OpExpr};
use plan::node::RelationPrivileges;
use plan::query::Query;
use std::sync::Arc;
use types::Datum;
use types::extstats::{ColumnsValue, McvList};
use types::ranges::estimate::{Condition, assumed};
use types::ranges::stats::RangeStats;

/// A column of a relation.
#[derive(Clone, Debug)]
pub struct ColumnInfo {
    pub name: String,
    pub type_oid: Oid,
    pub typmod: i32,
    pub collation: Oid,
    pub not_null: bool,
    pub dropped: bool,
    /// Average width of a value in bytes, from statistics or else from the type.
    pub avg_width: i32,
}

/// A relation and its statistics. Counterpart: `get_relation_info`.
#[derive(Clone, Debug)]
pub struct RelationInfo {
    pub oid: Oid,
    pub kind: RelKind,
    /// The type of the relation's rows.
    pub row_type: Oid,
    /// Current number of blocks.
    pub pages: f64,
    /// Estimated number of rows: the tuple density of `pg_class`, times the current size.
    pub tuples: f64,
    /// Fraction of the pages that are all-visible, 0 to 1.
    pub all_visible: f64,
    /// Columns 1 …, dropped ones included.
    pub columns: Vec<ColumnInfo>,
    pub indexes: Vec<Arc<IndexInfo>>,
    /// The statistics objects on the table, ascending.
    pub statistics: Vec<Oid>,
}

impl RelationInfo {
    /// The same relation without indexes: those of a table say nothing about its children.
    pub fn without_indexes(&self) -> RelationInfo {
        let (indexes, statistics) = (Vec::new(), self.statistics.clone());
        RelationInfo { columns: self.columns.clone(), indexes, statistics, ..*self }
    }
}

/// A key column of an index.
#[derive(Clone, Debug)]
pub struct IndexKey {
    /// Column of the table, or 0 for an expression.
    pub attno: AttrNo,
    /// The expression where `attno` is 0, with `Var { varno: 1, … }`.
    pub expr: Option<Expr>,
    pub opfamily: Oid,
    pub opcintype: Oid,
    pub collation: Oid,
    pub descending: bool,
    pub nulls_first: bool,
    /// Index-only scans can return the column.
    pub returnable: bool,
}

/// An index. Counterpart: `IndexOptInfo`.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    pub oid: Oid,
    /// What the access method can do.
    pub capabilities: &'static Capabilities,
    pub cost: CostModel,
    /// Key columns.
    pub keys: Vec<IndexKey>,
    /// INCLUDE columns.
    pub include: Vec<AttrNo>,
    pub unique: bool,
    /// The table's primary key.
    pub primary: bool,
    /// Uniqueness is enforced immediately, not deferrable (`indimmediate`).
    pub immediate: bool,
    /// Conditions of a partial index, with `Var { varno: 1, … }`.
    pub predicate: Vec<Expr>,
    pub pages: f64,
    pub tuples: f64,
    /// Levels above the leaf pages; -1 if the index is not a tree.
    pub tree_height: i32,
    /// Statistics of an index with a pending list.
    pub pending: Option<PendingStats>,
}

impl IndexInfo {
    /// The strategy number of equality in the index's operator families.
    pub fn equality(&self) -> StrategyNumber {
        self.capabilities.equality
    }
}

/// An operator (`pg_operator`).
#[derive(Clone, Debug)]
pub struct OperatorInfo {
    pub oid: Oid,
    pub name: String,
    pub left: Oid,
    pub right: Oid,
    pub result: Oid,
    pub code: Oid,
    pub commutator: Oid,
    pub negator: Oid,
    pub can_merge: bool,
    pub can_hash: bool,
    /// Name of the restriction estimator (`eqsel`, …), empty if none.
    pub restrict: String,
    /// Name of the join estimator.
    pub join: String,
    pub strict: bool,
    /// The operator's function reveals nothing about its arguments but its result
    /// (`proleakproof`).
    pub leakproof: bool,
}

/// B-tree properties of an ordering operator.
#[derive(Clone, Copy, Debug)]
pub struct OrderingInfo {
    pub family: Oid,
    pub input_type: Oid,
    pub descending: bool,
}

/// Statistics of a column (`pg_statistic`).
#[derive(Clone, Debug, Default)]
pub struct ColumnStats {
    pub null_frac: f64,
    /// Average width of a value that is not NULL, in bytes.
    pub width: i32,
    /// As in the catalog: a positive number is a count, a negative number is the negated fraction
    /// of the rows, 0 is unknown.
    pub n_distinct: f64,
    pub mcv: Vec<Datum>,
    pub mcv_freq: Vec<f64>,
    /// Bounds of equally populated bins, ascending.
    pub histogram: Vec<Datum>,
    /// The collation by which the bounds are ordered.
    pub histogram_collation: Oid,
    pub correlation: f64,
    /// The most common elements of an array column, ascending.
    pub elements: Vec<Datum>,
    /// Their frequencies; then the least and greatest one, and that of NULL elements.
    pub element_freq: Vec<f64>,
    /// Bounds of equally populated bins of the number of distinct elements; then their average.
    pub element_counts: Vec<f64>,
    /// The distribution of the bounds of a column of ranges.
    pub ranges: Option<RangeStats>,
}

impl ColumnStats {
    /// The statistics without values of the column.
    pub fn without_values(&self) -> ColumnStats {
        ColumnStats {
            null_frac: self.null_frac,
            width: self.width,
            n_distinct: self.n_distinct,
            correlation: self.correlation,
            ..ColumnStats::default()
        }
    }
}

/// The data of a statistics object (`pg_statistic_ext_data`).
#[derive(Clone, Debug, Default)]
pub struct ExtendedStats {
    /// Ascending.
    pub columns: Vec<AttrNo>,
    /// With `Var { varno: 1, … }`. In the lists below, their numbers are -1, -2, ….
    pub exprs: Vec<Expr>,
    /// Numbers of distinct combinations.
    pub ndistinct: Vec<ColumnsValue>,
    /// Degrees of functional dependencies.
    pub dependencies: Vec<ColumnsValue>,
    /// The most common combinations; their dimensions are the columns, then the expressions.
    pub mcv: Option<McvList>,
    /// The statistics of the expressions.
    pub expr_stats: Vec<Option<Arc<ColumnStats>>>,
}

/// An aggregate (`pg_aggregate`).
#[derive(Clone, Copy, Debug)]
pub struct AggregateInfo {
    /// `aggsortop`: the operator of an order in which the first value is the result, as for min and
    /// max. Invalid if there is none.
    pub sort_op: Oid,
    pub trans_type: Oid,
    /// The function that combines two states; invalid if there is none.
    pub combine: Oid,
    /// The transition function, and the final function or `INVALID`.
    pub functions: [Oid; 2],
    /// Estimated size of a transition state in bytes.
    pub state_width: i32,
}

/// The cost settings of the session.
#[derive(Clone, Debug)]
pub struct CostSettings {
    pub seq_page: f64,
    pub random_page: f64,
    pub cpu_tuple: f64,
    pub cpu_index_tuple: f64,
    pub cpu_operator: f64,
    /// Blocks.
    pub effective_cache_size: f64,
    /// Bytes.
    pub work_mem: f64,
    /// Bytes for a hash table: `work_mem` times `hash_mem_multiplier`.
    pub hash_mem: f64,
    pub enable_seqscan: bool,
    pub enable_indexscan: bool,
    pub enable_indexonlyscan: bool,
    pub enable_bitmapscan: bool,
    pub enable_tidscan: bool,
    pub enable_nestloop: bool,
    pub enable_hashjoin: bool,
    pub enable_mergejoin: bool,
    pub enable_sort: bool,
    pub enable_hashagg: bool,
    pub enable_material: bool,
    pub enable_memoize: bool,
    pub enable_partition_pruning: bool,
    pub enable_incremental_sort: bool,
    pub enable_partitionwise: Partitionwise,
    pub constraint_exclusion: ConstraintExclusion,
    pub collapse: Collapse,
}

/// What is done partition by partition.
#[derive(Clone, Copy, Default, Debug)]
pub struct Partitionwise {
    pub joins: bool,
    pub aggregates: bool,
}

/// The tables whose constraints are compared with the conditions on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConstraintExclusion {
    Off,
    /// Inheritance children and partitions.
    Partition,
    On,
}

/// Limits for the number of items in a list whose join order is searched.
#[derive(Clone, Copy, Debug)]
pub struct Collapse {
    /// `from_collapse_limit`: for merging a subquery's items into the list of its parent.
    pub from: usize,
    /// `join_collapse_limit`: for merging the items of both sides of a JOIN.
    pub join: usize,
}

impl Default for CostSettings {
    fn default() -> CostSettings {
        CostSettings {
            seq_page: 1.0,
            random_page: 4.0,
            cpu_tuple: 0.01,
            cpu_index_tuple: 0.005,
            cpu_operator: 0.0025,
            effective_cache_size: 524_288.0,
            work_mem: 4.0 * 1024.0 * 1024.0,
            hash_mem: 8.0 * 1024.0 * 1024.0,
            enable_seqscan: true,
            enable_indexscan: true,
            enable_indexonlyscan: true,
            enable_bitmapscan: true,
            enable_tidscan: true,
            enable_nestloop: true,
            enable_hashjoin: true,
            enable_mergejoin: true,
            enable_sort: true,
            enable_hashagg: true,
            enable_material: true,
            enable_memoize: true,
            enable_partition_pruning: true,
            enable_incremental_sort: true,
            enable_partitionwise: Partitionwise::default(),
            constraint_exclusion: ConstraintExclusion::Partition,
            collapse: Collapse { from: 8, join: 8 },
        }
    }
}

/// Look-ups of relations and their statistics.
pub trait RelationLookup {
    fn relation(&mut self, relid: Oid) -> Result<Arc<RelationInfo>>;
    /// The statistics of a column of a table or of an index on expressions; `None` without ANALYZE.
    fn column_stats(&mut self, relid: Oid, attno: AttrNo) -> Result<Option<Arc<ColumnStats>>>;
    /// As [`Self::column_stats`], for the rows of a table and of its children.
    fn tree_column_stats(&mut self, relid: Oid, attno: AttrNo) -> Result<Option<Arc<ColumnStats>>> {
        let _ = (relid, attno);
        Ok(None)
    }
    /// The data of a statistics object, of the table alone or with its children (`tree`).
    fn extended_stats(&mut self, object: Oid, tree: bool) -> Result<Option<Arc<ExtendedStats>>> {
        let _ = (object, tree);
        Ok(None)
    }
    /// True if the role may read these columns of a table, or all of it if the list is empty;
    /// role 0 is the current user.
    fn may_select(&mut self, relid: Oid, columns: &[AttrNo], role: Oid) -> Result<bool> {
        let _ = (relid, columns, role);
        Ok(true)
    }
    /// Error 42501 unless the roles have the privileges on views. Privileges on other relations are
    /// checked before execution; planning may evaluate operators for values of tables that the
    /// owner of a view may read, and the current user only through the view.
    fn check_view_privileges(&mut self, needed: &[RelationPrivileges]) -> Result<()> {
        let _ = needed;
        Ok(())
    }
    /// Whether the table may have inheritance children (`relhassubclass`).
    fn may_have_children(&mut self, relid: Oid) -> Result<bool> {
        let _ = relid;
        Ok(false)
    }
    /// The inheritance children of a table at all levels, level by level, locked in this mode.
    fn children(&mut self, relid: Oid, lock: i32) -> Result<Vec<Oid>> {
        let _ = (relid, lock);
        Ok(Vec::new())
    }
    /// The partitions of a partitioned table.
    fn partitions(&mut self, relid: Oid) -> Result<Arc<PartitionDesc>> {
        let _ = relid;
        Err(PgError::internal("partitioned table without a descriptor"))
    }
    /// The valid CHECK constraints of a table, over range-table entry 1.
    fn check_constraints(&mut self, relid: Oid) -> Result<Vec<Expr>> {
        let _ = relid;
        Ok(Vec::new())
    }
    /// The partition constraint of a table, over range-table entry 1; empty if it has none.
    fn partition_constraint(&mut self, relid: Oid) -> Result<Vec<Expr>> {
        let _ = relid;
        Ok(Vec::new())
    }
    /// Locks a member of a table.
    fn lock_member(&mut self, relid: Oid, lock: i32) -> Result<()> {
        let _ = (relid, lock);
        Ok(())
    }
    /// The index of a unique or primary-key constraint.
    fn constraint_index(&mut self, constraint: Oid) -> Result<Oid>;
    /// How many keys a scan of an index with this condition on a column looks up; `None` if its
    /// method does not look up keys.
    fn query_size(
        &mut self,
        index: Oid,
        column: usize,
        opno: Oid,
        value: &Datum,
    ) -> Result<Option<QuerySize>> {
        let _ = (index, column, opno, value);
        Ok(None)
    }
}

/// Look-ups of operators, operator classes and operator families.
pub trait OperatorLookup {
    fn operator(&mut self, opno: Oid) -> Result<Arc<OperatorInfo>>;
    /// Family and input type of an operator class.
    fn opclass(&mut self, opclass: Oid) -> Result<(Oid, Oid)>;
    /// Strategy number of an operator in an operator family, if it is a member (in a B-tree family
    /// 1 `<` … 5 `>`).
    fn strategy(&mut self, opno: Oid, family: Oid) -> Result<Option<StrategyNumber>>;
    /// The operator of a family with these operand types and strategy.
    fn family_operator(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        strategy: StrategyNumber,
    ) -> Result<Option<Oid>>;
    /// The order of a `<` or `>` operator.
    fn ordering(&mut self, sort_op: Oid) -> Result<Option<OrderingInfo>>;
    /// B-tree families in which the operator is equality.
    fn equality_families(&mut self, eq_op: Oid) -> Result<Vec<Oid>>;
    /// The type's default equality and `<` operators, and whether its equality can hash.
    fn default_operators(&mut self, ty: Oid) -> Result<DefaultOperators>;
}

/// Look-ups of functions and aggregates, beyond those of expression compilation.
pub trait FunctionLookup {
    /// (`procost`, `prorows`)
    fn function_cost(&mut self, funcid: Oid) -> Result<(f64, f64)>;
    /// True if the function has an access control list (`proacl`), so that EXECUTE must be checked.
    fn function_is_restricted(&mut self, funcid: Oid) -> Result<bool> {
        let _ = funcid;
        Ok(false)
    }
    /// `proleakproof`.
    fn function_is_leakproof(&mut self, funcid: Oid) -> Result<bool> {
        let _ = funcid;
        Ok(false)
    }
    fn aggregate(&mut self, aggfn: Oid) -> Result<AggregateInfo>;
    /// The body of a set-returning SQL function, as a query over the call's arguments as
    /// parameters; `columns` are the types and type modifiers of the column definition list. `None`
    /// if the call cannot be inlined.
    fn inline_set(&mut self, call: &FuncExpr, columns: &[(Oid, i32)]) -> Result<Option<Query>>;
}

/// Evaluation of expressions during planning.
pub trait ExpressionHost {
    /// Simplifies an expression by [`eval::fold`], with a host that evaluates immutable calls.
    fn fold(&mut self, expr: Expr) -> Result<Expr> {
        self.fold_query(expr, &|_| false)
    }
    /// [`eval::fold_query`].
    fn fold_query(&mut self, expr: Expr, present: &dyn Fn(i32) -> bool) -> Result<Expr>;
    /// Evaluates the operator for each of these values in place of its operand that is a column.
    fn try_values(&mut self, op: &OpExpr, values: &[Datum]) -> Result<Vec<bool>>;
    /// The value of an expression without columns and parameters, for an estimate; `None` if it is
    /// volatile or cannot be computed.
    fn estimated(&mut self, expr: &Expr) -> Result<Option<Datum>> {
        let _ = expr;
        Ok(None)
    }
    /// Fraction of the rows that a condition on a column of ranges is expected to select.
    fn range_selectivity(&mut self, condition: &Condition<'_>) -> Result<f64> {
        Ok(assumed(condition.operator))
    }
    /// The expression converted to the common type of a set operation's column.
    fn coerce_to_common(&mut self, expr: Expr, target: Oid) -> Result<Expr>;
    /// The value of a statement parameter, for a custom plan; `None` for a generic plan.
    fn param_value(&mut self, id: i32) -> Option<Datum>;
}

/// The complete interface of the planner to the session.
pub trait PlannerHost:
    eval::Facts + RelationLookup + OperatorLookup + FunctionLookup + ExpressionHost
{
    fn costs(&self) -> &CostSettings;

    /// Fails if the statement is cancelled. Called in every loop whose length depends on the
    /// statement.
    fn check_interrupts(&self) -> Result<()>;
}

/// Default operators of a type.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultOperators {
    pub eq: Oid,
    pub lt: Oid,
    pub gt: Oid,
    pub hashable: bool,
}
