//! Candidate plans: a tree with costs, without target lists. Counterpart: pathnode.c,
//! nodes/pathnodes.h.

use crate::facts::IndexFacts;
use crate::vars::conjuncts;
use ids::Oid;
use plan::expr::{BoolOp, Expr};
use plan::node::ScanDirection;
use plan::query::JoinType;
use std::rc::Rc;
use std::sync::Arc;

pub(crate) use crate::relids::Relids;

/// One column of a sort order. Two keys are the same order if expression or class, family,
/// direction and NULL placement agree; the sort operator is what a Sort node would use.
#[derive(Clone, Debug)]
pub(crate) struct PathKey {
    pub expr: Rc<Expr>,
    /// Of a column that others equal (`ties`): wherever two columns of a class are joined, rows in
    /// the order of one are in the order of the other.
    pub class: Option<usize>,
    pub family: Oid,
    pub collation: Oid,
    pub descending: bool,
    pub nulls_first: bool,
}

impl PathKey {
    /// Do both order by the same value?
    pub(crate) fn is_same_value(&self, other: &PathKey) -> bool {
        is_same_value((&self.expr, self.class), (&other.expr, other.class))
    }

    pub(crate) fn is_about(&self, value: &Ordered) -> bool {
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

/// An expression by whose order something above could gain, with its class.
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    pub expr: Rc<Expr>,
    pub class: Option<usize>,
}

/// Do two expressions, each with its class, have one value in each row?
fn is_same_value(a: (&Rc<Expr>, Option<usize>), b: (&Rc<Expr>, Option<usize>)) -> bool {
    match (a.1, b.1) {
        (Some(a), Some(b)) => a == b,
        _ => Rc::ptr_eq(a.0, b.0) || a.0 == b.0,
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub kind: PathKind,
    pub relids: Relids,
    pub rows: f64,
    pub width: i32,
    pub startup: f64,
    pub total: f64,
    /// The order of the output, if any.
    pub order: Vec<PathKey>,
    /// Relations outside whose columns this path needs (parameterised scans, LATERAL).
    pub outer: Relids,
}

pub(crate) type PathRef = Rc<Path>;

/// A condition that an index can look for.
#[derive(Clone, Debug)]
pub(crate) struct MatchedQual {
    /// 0-based key column.
    pub column: usize,
    /// The condition with the indexed column on the left.
    pub qual: Expr,
    /// As it stands in the query.
    pub original: Expr,
    /// Of the original; see `ties`.
    pub class: Option<usize>,
    /// The condition only follows from the original, which must be tested as well.
    pub lossy: bool,
}

/// An index scan's conditions.
#[derive(Clone, Debug)]
pub(crate) struct IndexMatch {
    pub index: Arc<IndexFacts>,
    pub quals: Vec<MatchedQual>,
    pub direction: ScanDirection,
    pub index_only: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum BitmapPath {
    Index { m: IndexMatch, cost: f64, selectivity: f64 },
    And { parts: Vec<BitmapPath>, cost: f64, selectivity: f64 },
    Or { parts: Vec<BitmapPath>, cost: f64, selectivity: f64 },
}

impl MatchedQual {
    /// Is the original a truth value, for which a comparison stands? In bitmap scans such a one
    /// stays a filter.
    pub(crate) fn is_truth_value(&self) -> bool {
        match &self.original {
            Expr::Bool(b) => b.boolop == BoolOp::Not,
            Expr::Var(_) | Expr::BooleanTest(_) => true,
            _ => false,
        }
    }
}

impl BitmapPath {
    pub(crate) fn cost(&self) -> f64 {
        match self {
            BitmapPath::Index { cost, .. }
            | BitmapPath::And { cost, .. }
            | BitmapPath::Or { cost, .. } => *cost,
        }
    }

    /// Do all rows that the bitmap names satisfy the condition?
    pub(crate) fn guarantees(&self, q: &Expr) -> bool {
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

    pub(crate) fn selectivity(&self) -> f64 {
        match self {
            BitmapPath::Index { selectivity, .. }
            | BitmapPath::And { selectivity, .. }
            | BitmapPath::Or { selectivity, .. } => *selectivity,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum PathKind {
    /// One row and no relation.
    Empty,
    /// No row: a condition that cannot hold.
    Never,
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
    /// A subquery, planned already; `plan` indexes the level's planned subqueries.
    Subquery {
        rti: i32,
        plan: usize,
        quals: Vec<Expr>,
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
    NestLoop {
        jointype: JoinType,
        outer: PathRef,
        inner: PathRef,
        join_quals: Vec<Rc<Expr>>,
        quals: Vec<Expr>,
        inner_unique: bool,
    },
    Hash {
        jointype: JoinType,
        outer: PathRef,
        inner: PathRef,
        clauses: Vec<Rc<Expr>>,
        join_quals: Vec<Rc<Expr>>,
        quals: Vec<Expr>,
        inner_unique: bool,
    },
    Merge {
        jointype: JoinType,
        outer: PathRef,
        inner: PathRef,
        clauses: Vec<Rc<Expr>>,
        /// The outer side's order, by which both sides come.
        keys: Vec<PathKey>,
        join_quals: Vec<Rc<Expr>>,
        quals: Vec<Expr>,
        inner_unique: bool,
    },
    Sort {
        child: PathRef,
    },
    /// Rows are remembered by the outer columns that the child depends on.
    Memoize {
        child: PathRef,
        vars: Vec<Expr>,
        operators: Vec<Oid>,
        collations: Vec<Oid>,
        /// Keys are told apart by their bytes, not by the operators.
        binary_mode: bool,
    },
    Material {
        child: PathRef,
    },
    /// Each combination of values of these columns once.
    Unique {
        child: PathRef,
        columns: Vec<Expr>,
        operators: Vec<Oid>,
    },
    /// A condition without columns, tested once.
    Gate {
        child: PathRef,
        quals: Vec<Expr>,
    },
    /// Conditions tested above a child that could not take them.
    Filter {
        child: PathRef,
        quals: Vec<Expr>,
    },
}

/// What one path is preferred to another for.
#[derive(Clone, Copy)]
pub(crate) struct Worth<'a> {
    pub startup: f64,
    pub total: f64,
    pub rows: f64,
    pub order: &'a [PathKey],
    pub outer: &'a Relids,
}

impl Worth<'_> {
    const FUZZ: f64 = 1.01;

    /// Is `self` no worse than `other` in cost, order and parameters? Where no row is wanted
    /// `early`, costs until the first row count only between paths of about the same total.
    /// Counterpart: `compare_path_costs_fuzzily`.
    fn dominates(self, other: Worth<'_>, early: bool) -> bool {
        const FUZZ: f64 = Worth::FUZZ;
        let early = early || !self.outer.is_empty();
        self.total <= other.total * FUZZ
            && (self.startup <= other.startup * FUZZ || (!early && other.total > self.total * FUZZ))
            && self.rows <= other.rows * FUZZ
            && starts_with(self.order, other.order)
            && self.outer.is_subset(other.outer)
    }

    /// Is a path like `new` of no use beside this one? Of two that are about the same the one that
    /// costs less is kept, however little. Counterpart: `add_path`.
    fn makes_needless(self, new: Worth<'_>, early: bool) -> bool {
        self.dominates(new, early) && !(new.dominates(self, early) && new.is_cheaper(self))
    }

    /// Counterpart: `compare_path_costs_fuzzily` with its smallest factor.
    fn is_cheaper(self, other: Worth<'_>) -> bool {
        const FUZZ: f64 = 1.000_000_000_1;
        if self.total * FUZZ < other.total {
            return self.startup <= other.startup * FUZZ;
        }
        self.total <= other.total * FUZZ && self.startup * FUZZ < other.startup
    }
}

impl Path {
    fn worth(&self) -> Worth<'_> {
        Worth {
            startup: self.startup,
            total: self.total,
            rows: self.rows,
            order: &self.order,
            outer: &self.outer,
        }
    }
}

/// Does the order `have` satisfy `want`?
pub(crate) fn starts_with(have: &[PathKey], want: &[PathKey]) -> bool {
    have.len() >= want.len() && have.iter().zip(want).all(|(h, w)| h == w)
}

/// The expressions by whose order somebody above a relation or join could gain.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsefulOrders {
    /// Of joins yet to come; a merge join wants them ascending.
    pub merges: Vec<Ordered>,
    /// Of the query's own ORDER BY, GROUP BY, DISTINCT and windows.
    pub query: Vec<Ordered>,
}

impl UsefulOrders {
    /// The leading keys that help. Counterpart: `truncate_useless_pathkeys`.
    pub(crate) fn part_of<'a>(&self, order: &'a [PathKey]) -> &'a [PathKey] {
        let helps = |k: &PathKey| {
            (!k.descending && self.merges.iter().any(|m| k.is_about(m)))
                || self.query.iter().any(|q| k.is_about(q))
        };
        let useless = order.iter().position(|k| !helps(k)).unwrap_or(order.len());
        &order[..useless]
    }
}

/// The paths of one relation or join worth keeping. Counterpart: `add_path`.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathSet {
    pub paths: Vec<PathRef>,
    /// Is a path kept for a low cost until its first row? Counterpart: `consider_startup`.
    early: bool,
}

impl PathSet {
    /// Without a path yet.
    pub(crate) fn new(early: bool) -> PathSet {
        PathSet { paths: Vec::new(), early }
    }

    /// Without a path yet, for what stands above the rows of this one.
    pub(crate) fn above(&self) -> PathSet {
        PathSet::new(self.early)
    }

    /// Is no path here as good? Asked before a path is made whose worth is known already.
    pub(crate) fn lacks(&self, new: Worth<'_>) -> bool {
        !self.paths.iter().any(|old| old.worth().makes_needless(new, self.early))
    }

    pub(crate) fn add(&mut self, new: Path) {
        if self.lacks(new.worth()) {
            let early = self.early;
            self.paths.retain(|old| !new.worth().dominates(old.worth(), early));
            self.paths.push(Rc::new(new));
        }
    }

    /// The same paths, of whose orders only the useful part counts.
    pub(crate) fn with_useful_orders(self, useful: &UsefulOrders) -> PathSet {
        let mut out = self.above();
        for p in self.paths {
            let keep = useful.part_of(&p.order).len();
            let mut p = Rc::unwrap_or_clone(p);
            p.order.truncate(keep);
            out.add(p);
        }
        out
    }

    /// The cheapest path that needs nothing from outside; by total cost.
    pub(crate) fn cheapest(&self) -> Option<&PathRef> {
        self.unparameterised().min_by(|a, b| a.total.total_cmp(&b.total))
    }

    pub(crate) fn unparameterised(&self) -> impl Iterator<Item = &PathRef> {
        self.paths.iter().filter(|p| p.outer.is_empty())
    }
}
