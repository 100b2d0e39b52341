//! Paths: candidate plans with costs, but without target lists; and sets of non-dominated paths.
//! Counterpart: pathnode.c, pathkeys.c, nodes/pathnodes.h.

use crate::host::IndexInfo;
use crate::stage::{Grouping, Modification, Rollup, Window};
use crate::vars::conjuncts;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{BoolOp, Expr};
use plan::node::{AggStrategy, PlanInfo, PlanRowMark, ScanDirection};
use plan::query::{JoinType, SetOperationStmt};
use std::rc::Rc;
use std::sync::Arc;

use crate::relids::Relids;

/// One column of a sort order. Two keys are equal if they have the same expression or equivalence
/// class, and the same operator family, collation, direction and NULL placement.
#[derive(Clone, Debug)]
pub struct PathKey {
    pub expr: Rc<Expr>,
    /// Equivalence class of a column (`equivalence`): where two columns of a class are joined, rows
    /// in the order of one are also in the order of the other.
    pub class: Option<usize>,
    pub family: Oid,
    pub collation: Oid,
    pub descending: bool,
    pub nulls_first: bool,
}

impl PathKey {
    /// True if both keys order by the same value.
    pub fn is_same_value(&self, other: &PathKey) -> bool {
        is_same_value((&self.expr, self.class), (&other.expr, other.class))
    }

    pub fn is_about(&self, value: &Ordered) -> bool {
        is_same_value((&self.expr, self.class), (&value.expr, value.class))
    }
}

impl PartialEq for PathKey {
    fn eq(&self, other: &PathKey) -> bool {
        self.family == other.family
            && self.collation == other.collation
            && self.descending == other.descending
            && self.nulls_first == other.nulls_first
            && self.is_same_value(other)
    }
}

/// An expression by which a sort order may be useful, with its equivalence class.
#[derive(Clone, Debug)]
pub struct Ordered {
    pub expr: Rc<Expr>,
    pub class: Option<usize>,
}

/// True if two expressions, each with its equivalence class, are equal in each row.
fn is_same_value(a: (&Rc<Expr>, Option<usize>), b: (&Rc<Expr>, Option<usize>)) -> bool {
    match (a.1, b.1) {
        (Some(a), Some(b)) => a == b,
        _ => Rc::ptr_eq(a.0, b.0) || a.0 == b.0,
    }
}

#[derive(Clone, Debug)]
pub struct Path {
    pub kind: PathKind,
    pub relids: Relids,
    pub rows: f64,
    pub width: i32,
    pub startup: f64,
    pub total: f64,
    /// The order of the output, if any.
    pub order: Vec<PathKey>,
    /// Other relations whose columns this path needs (parameterized scans, LATERAL). Counterpart:
    /// `required_outer`.
    pub outer: Relids,
}

pub type PathRef = Rc<Path>;

/// A condition matched to an index column.
#[derive(Clone, Debug)]
pub struct MatchedQual {
    /// 0-based key column.
    pub column: usize,
    /// The condition with the indexed column on the left.
    pub qual: Expr,
    /// The condition of the query.
    pub original: Expr,
    /// Equivalence class of the original (`equivalence`).
    pub class: Option<usize>,
    /// `qual` is only implied by `original`, which must be tested as well.
    pub lossy: bool,
}

/// An index scan's conditions.
#[derive(Clone, Debug)]
pub struct IndexMatch {
    pub index: Arc<IndexInfo>,
    pub quals: Vec<MatchedQual>,
    pub direction: ScanDirection,
    pub index_only: bool,
}

#[derive(Clone, Debug)]
pub enum BitmapPath {
    Index { m: IndexMatch, cost: f64, selectivity: f64 },
    And { parts: Vec<BitmapPath>, cost: f64, selectivity: f64 },
    Or { parts: Vec<BitmapPath>, cost: f64, selectivity: f64 },
}

impl MatchedQual {
    /// True if the original is a boolean expression that was converted to a comparison. A bitmap
    /// scan keeps such an original in its filter.
    pub fn is_truth_value(&self) -> bool {
        match &self.original {
            Expr::Bool(b) => b.boolop == BoolOp::Not,
            Expr::Var(_) | Expr::BooleanTest(_) => true,
            _ => false,
        }
    }
}

impl BitmapPath {
    pub fn cost(&self) -> f64 {
        match self {
            BitmapPath::Index { cost, .. }
            | BitmapPath::And { cost, .. }
            | BitmapPath::Or { cost, .. } => *cost,
        }
    }

    /// True if all rows of an exact bitmap satisfy the condition.
    pub fn guarantees(&self, q: &Expr) -> bool {
        match self {
            BitmapPath::Index { m, .. } => {
                m.quals.iter().any(|m| !m.lossy && !m.is_truth_value() && m.original == *q)
            }
            BitmapPath::And { parts, .. } => parts.iter().any(|p| p.guarantees(q)),
            BitmapPath::Or { parts, .. } => {
                let Expr::Bool(b) = q else { return false };
                b.boolop == BoolOp::Or
                    && b.args.len() == parts.len()
                    && parts.iter().zip(&b.args).all(|(part, arm)| {
                        let mut conditions = Vec::new();
                        conjuncts(arm.clone(), &mut conditions);
                        conditions.iter().all(|q| part.guarantees(q))
                    })
            }
        }
    }

    /// True if both use one of these conditions: their intersection is then no better than either.
    pub fn overlaps(&self, other: &BitmapPath, quals: &[Expr]) -> bool {
        quals.iter().any(|q| self.guarantees(q) && other.guarantees(q))
    }

    pub fn selectivity(&self) -> f64 {
        match self {
            BitmapPath::Index { selectivity, .. }
            | BitmapPath::And { selectivity, .. }
            | BitmapPath::Or { selectivity, .. } => *selectivity,
        }
    }
}

/// What the paths of all join methods have in common. Counterpart: `JoinPath`.
#[derive(Clone, Debug)]
pub struct JoinPath {
    pub jointype: JoinType,
    pub outer: PathRef,
    pub inner: PathRef,
    /// Each outer row has at most one match among the inner rows.
    pub inner_unique: bool,
    /// Join conditions that are not among the clauses of a hash or merge join.
    pub join_quals: Vec<Rc<Expr>>,
    /// Conditions on the rows of an outer join, NULL-extended ones included.
    pub quals: Vec<Expr>,
}

/// Counterpart: `HashPath`.
#[derive(Clone, Debug)]
pub struct HashPath {
    pub join: JoinPath,
    /// Equalities with the outer side's operand on the left.
    pub clauses: Vec<Rc<Expr>>,
}

/// Counterpart: `MergePath`.
#[derive(Clone, Debug)]
pub struct MergePath {
    pub join: JoinPath,
    /// Equalities with the outer side's operand on the left.
    pub clauses: Vec<Rc<Expr>>,
    /// The sort keys of the outer side, one for each clause.
    pub keys: Vec<PathKey>,
}

impl PathKind {
    /// The join, if it is one.
    pub fn join_mut(&mut self) -> Option<&mut JoinPath> {
        match self {
            PathKind::NestLoop(join)
            | PathKind::Hash(HashPath { join, .. })
            | PathKind::Merge(MergePath { join, .. }) => Some(join),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub enum PathKind {
    /// One row and no relation.
    Empty,
    /// No row: the conditions are never true.
    Dummy,
    SeqScan {
        rti: i32,
        quals: Vec<Expr>,
    },
    Sample {
        rti: i32,
        quals: Vec<Expr>,
    },
    Index {
        rti: i32,
        m: IndexMatch,
        quals: Vec<Expr>,
    },
    Bitmap {
        rti: i32,
        bitmap: BitmapPath,
        quals: Vec<Expr>,
    },
    Tid {
        rti: i32,
        tid_quals: Vec<Expr>,
        quals: Vec<Expr>,
    },
    TidRange {
        rti: i32,
        tid_quals: Vec<Expr>,
        quals: Vec<Expr>,
    },
    /// A planned subquery; `plan` is its index in `PlannerInfo::subqueries`, `path` a path of its
    /// level.
    Subquery {
        rti: i32,
        plan: usize,
        path: PathRef,
        quals: Vec<Expr>,
        /// Join conditions that the subquery tests.
        tested: Vec<Expr>,
    },
    Function {
        rti: i32,
        quals: Vec<Expr>,
    },
    Values {
        rti: i32,
        quals: Vec<Expr>,
    },
    Cte {
        rti: i32,
        quals: Vec<Expr>,
    },
    WorkTable {
        rti: i32,
        wt_param: i32,
        quals: Vec<Expr>,
    },
    NamedTuplestore {
        rti: i32,
        quals: Vec<Expr>,
    },
    NestLoop(JoinPath),
    Hash(HashPath),
    Merge(MergePath),
    Sort {
        child: PathRef,
    },
    /// Caches the child's rows by the values of the outer side that it depends on.
    Memoize {
        child: PathRef,
        vars: Vec<Expr>,
        operators: Vec<Oid>,
        collations: Vec<Oid>,
        /// Keys are compared by their bytes, not by the operators.
        binary_mode: bool,
    },
    Material {
        child: PathRef,
    },
    /// Removes duplicates of these columns by hashing.
    Unique {
        child: PathRef,
        columns: Vec<Expr>,
        operators: Vec<Oid>,
    },
    /// A gating Result node: conditions without columns, tested once.
    Gate {
        child: PathRef,
        quals: Vec<Expr>,
    },
    /// Conditions tested above a child that cannot test them itself.
    Filter {
        child: PathRef,
        quals: Vec<Expr>,
    },
    /// The rows of the joins, with the expressions that the stages above need. Counterpart:
    /// `apply_scanjoin_target_to_paths`.
    Target {
        child: PathRef,
        want: Rc<[Expr]>,
        /// The stage above accepts more columns of a subquery.
        accepts_more: bool,
    },
    /// Sorts each group of rows with equal values of the first `presorted` keys of `order`.
    IncrementalSort {
        child: PathRef,
        presorted: usize,
    },
    /// Expands set-returning functions and computes the expressions.
    Project {
        child: PathRef,
        want: Rc<[Expr]>,
    },
    Group {
        child: PathRef,
        stage: Rc<Grouping>,
        strategy: AggStrategy,
        /// With grouping sets: the hashed sets and the rollups, in the order of computation.
        phases: Rc<[Rollup]>,
    },
    /// The results of min and max from the ends of indexes (`PlannerInfo::min_max`).
    MinMax {
        stage: Rc<Grouping>,
    },
    Window {
        child: PathRef,
        stage: Rc<Window>,
    },
    /// DISTINCT of the level.
    Distinct {
        child: PathRef,
        hashed: bool,
    },
    /// A planned input of a set operation; `plan` is its index in `PlannerInfo::subqueries`, `path`
    /// a path of its level.
    SetInput {
        rti: i32,
        plan: usize,
        path: PathRef,
    },
    /// Columns converted to the types of a set operation.
    Convert {
        child: PathRef,
        types: Rc<[Oid]>,
    },
    /// The scans of the members of an append relation of tables.
    AppendScan {
        rti: i32,
        children: Vec<PathRef>,
        /// Join conditions that all children test.
        tested: Vec<Expr>,
        /// The children's rows are merged in the path's order.
        merges: bool,
    },
    /// The rows of the partitions of a join or grouping.
    AppendParts {
        children: Vec<PathRef>,
        /// The children's rows are merged in the path's order.
        merges: bool,
        /// The output, if it is fixed.
        want: Option<Rc<[Expr]>>,
    },
    /// The rows of all children, one after another.
    Append {
        children: Vec<PathRef>,
        shape: Rc<AppendShape>,
    },
    /// The rows of the children, which all have the path's order, merged in that order.
    MergeAppend {
        children: Vec<PathRef>,
        shape: Rc<AppendShape>,
    },
    /// A sort by all columns of a set operation.
    SetSort {
        child: PathRef,
        op: Rc<SetOperationStmt>,
    },
    /// Removes duplicates of a UNION.
    UnionDistinct {
        child: PathRef,
        op: Rc<SetOperationStmt>,
        hashed: bool,
    },
    /// INTERSECT or EXCEPT of the two children of an Append with a flag column.
    SetOp {
        child: PathRef,
        op: Rc<SetOperationStmt>,
        hashed: bool,
    },
    LockRows {
        child: PathRef,
        marks: Rc<[PlanRowMark]>,
    },
    Limit {
        child: PathRef,
    },
    Modify {
        child: PathRef,
        stage: Rc<Modification>,
    },
}

/// A member of an append relation. Counterpart: `AppendRelInfo`.
#[derive(Clone, Debug)]
pub struct AppendRel {
    /// Range-table index of the parent; 0 if the level itself is the append relation.
    pub parent: i32,
    /// Range-table index of the member.
    pub child: i32,
    /// The member's expression for each column of the parent, over the member's own level.
    pub columns: Vec<Expr>,
    /// The type of the member's rows, if it is a table.
    pub row_type: Oid,
}

/// How an Append computes its columns from those of its children.
#[derive(Debug)]
pub struct AppendShape {
    /// The operation whose type modifiers the columns have.
    pub op: Rc<SetOperationStmt>,
    /// Each child has an additional column with its number, for SetOp.
    pub flags: bool,
}

/// The properties by which paths are compared.
#[derive(Clone, Copy)]
pub struct PathProperties<'a> {
    pub startup: f64,
    pub total: f64,
    pub rows: f64,
    pub order: &'a [PathKey],
    pub outer: &'a Relids,
}

impl PathProperties<'_> {
    const FUZZ: f64 = 1.01;

    /// True if `self` is fuzzily no worse than `other` in cost, rows, order and parameters. Unless
    /// rows are wanted `early`, startup costs are compared only if the total costs are about equal.
    /// Counterpart: `compare_path_costs_fuzzily`.
    fn dominates(self, other: PathProperties<'_>, early: bool) -> bool {
        const FUZZ: f64 = PathProperties::FUZZ;
        let early = early || !self.outer.is_empty();
        self.total <= other.total * FUZZ
            && (self.startup <= other.startup * FUZZ || (!early && other.total > self.total * FUZZ))
            && self.rows <= other.rows * FUZZ
            && starts_with(self.order, other.order)
            && self.outer.is_subset(other.outer)
    }

    /// True if `new` need not be kept beside this path. Of two paths that are fuzzily equal, the
    /// cheaper one is kept. Counterpart: `add_path`.
    fn makes_redundant(self, new: PathProperties<'_>, early: bool) -> bool {
        self.dominates(new, early) && !(new.dominates(self, early) && new.is_cheaper(self))
    }

    /// Exact comparison of costs. Counterpart: `compare_path_costs_fuzzily` with the factor
    /// 1.0000000001.
    fn is_cheaper(self, other: PathProperties<'_>) -> bool {
        const FUZZ: f64 = 1.000_000_000_1;
        if self.total * FUZZ < other.total {
            return self.startup <= other.startup * FUZZ;
        }
        self.total <= other.total * FUZZ && self.startup * FUZZ < other.startup
    }
}

impl Path {
    /// Costs, rows and width for the path's plan node.
    pub fn info(&self) -> PlanInfo {
        PlanInfo {
            startup_cost: self.startup,
            total_cost: self.total,
            plan_rows: self.rows,
            plan_width: self.width,
            ..PlanInfo::default()
        }
    }

    fn properties(&self) -> PathProperties<'_> {
        PathProperties {
            startup: self.startup,
            total: self.total,
            rows: self.rows,
            order: &self.order,
            outer: &self.outer,
        }
    }
}

/// True if the order `have` satisfies `want`. Counterpart: `pathkeys_contained_in`.
pub fn starts_with(have: &[PathKey], want: &[PathKey]) -> bool {
    have.len() >= want.len() && have.iter().zip(want).all(|(h, w)| h == w)
}

/// The number of leading keys that both orders have.
pub fn common_prefix(have: &[PathKey], want: &[PathKey]) -> usize {
    have.iter().zip(want).take_while(|(h, w)| h == w).count()
}

/// The expressions by which an order is useful above a relation or join.
#[derive(Clone, Debug, Default)]
pub struct UsefulOrders {
    /// For merge joins above, in ascending order.
    pub merges: Vec<Ordered>,
    /// For ORDER BY, GROUP BY, DISTINCT and windows of the query.
    pub query: Vec<Ordered>,
}

impl UsefulOrders {
    /// The useful prefix of an order. Counterpart: `truncate_useless_pathkeys`.
    pub fn part_of<'a>(&self, order: &'a [PathKey]) -> &'a [PathKey] {
        let helps = |k: &PathKey| {
            (!k.descending && self.merges.iter().any(|m| k.is_about(m)))
                || self.query.iter().any(|q| k.is_about(q))
        };
        let useless = order.iter().position(|k| !helps(k)).unwrap_or(order.len());
        &order[..useless]
    }
}

/// The non-dominated paths of one relation or join. Counterpart: `RelOptInfo.pathlist`.
#[derive(Clone, Debug, Default)]
pub struct PathSet {
    pub paths: Vec<PathRef>,
    /// Paths are also kept for a low startup cost. Counterpart: `consider_startup`.
    early: bool,
}

impl PathSet {
    pub fn new(early: bool) -> PathSet {
        PathSet { paths: Vec::new(), early }
    }

    /// An empty set for the paths above those of this one.
    pub fn above(&self) -> PathSet {
        PathSet::new(self.early)
    }

    /// True if no path of the set dominates `new`. Counterpart: `add_path_precheck`.
    pub fn would_keep(&self, new: PathProperties<'_>) -> bool {
        !self.paths.iter().any(|old| old.properties().makes_redundant(new, self.early))
    }

    pub fn add(&mut self, new: Path) {
        if self.would_keep(new.properties()) {
            self.push(Rc::new(new));
        }
    }

    /// As [`PathSet::add`], for a path of another set.
    pub fn add_ref(&mut self, new: PathRef) {
        if self.would_keep(new.properties()) {
            self.push(new);
        }
    }

    fn push(&mut self, new: PathRef) {
        let early = self.early;
        self.paths.retain(|old| !new.properties().dominates(old.properties(), early));
        self.paths.push(new);
    }

    /// The same paths with their orders truncated to the useful prefix.
    pub fn with_useful_orders(self, useful: &UsefulOrders) -> PathSet {
        let mut out = self.above();
        for p in self.paths {
            let keep = useful.part_of(&p.order).len();
            let mut p = Rc::unwrap_or_clone(p);
            p.order.truncate(keep);
            out.add(p);
        }
        out
    }

    /// The unparameterized path with the lowest total cost.
    pub fn cheapest(&self) -> Option<&PathRef> {
        let by_cost = |a: &&PathRef, b: &&PathRef| {
            a.total.total_cmp(&b.total).then(a.startup.total_cmp(&b.startup))
        };
        self.unparameterized().min_by(by_cost)
    }

    /// The unparameterized path that returns this part of its rows at the lowest cost: 0 is all
    /// rows, a number below 1 is a fraction, others are a count. Counterpart:
    /// `get_cheapest_fractional_path`.
    pub fn cheapest_for(&self, tuple_fraction: f64) -> Result<&PathRef> {
        let mut best = self
            .cheapest()
            .ok_or_else(|| PgError::internal("no path without outer parameters for this query"))?;
        let part = match tuple_fraction {
            f if f >= 1.0 => f / best.rows.max(1.0),
            f => f,
        };
        if part <= 0.0 || part >= 1.0 {
            return Ok(best);
        }
        let cost = |p: &PathRef| p.startup + part * (p.total - p.startup);
        for p in self.unparameterized() {
            if cost(p) < cost(best) {
                best = p;
            }
        }
        Ok(best)
    }

    pub fn unparameterized(&self) -> impl Iterator<Item = &PathRef> {
        self.paths.iter().filter(|p| p.outer.is_empty())
    }
}
