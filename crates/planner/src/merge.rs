//! Merge join paths and Memoize paths. Counterpart: joinpath.c (sort_inner_and_outer,
//! match_unsorted_outer, get_memoize_path), costsize.c.

use crate::join::JoinRel;
use crate::joinpath::JoinInput;
use crate::rel::clamp_rows;
use crate::state::{Planner, PlannerInfo};
use ids::Oid;
use ids::strategy::btree::LESS;
use pgerror::Result;
use plan::expr::{Expr, OpExpr};
use plan::query::{JoinType, RteKind};
use querytree::path::{MergePath, Path, PathKey, PathKind, PathProperties, PathRef, starts_with};
use querytree::relids::Relids;
use querytree::vars::{contains_subplans, pull_vars, push_unique, relids_of};
use std::rc::Rc;

/// A condition that a merge join can use, with the sort keys that it requires of both sides.
#[derive(Clone)]
pub(crate) struct MergeClause {
    clause: Rc<Expr>,
    outer: PathKey,
    inner: PathKey,
    /// Fractions of the two sides that are read; see [`Planner::merge_fractions`].
    fractions: (f64, f64),
}

impl MergeClause {
    /// The clause with the direction and NULL placement of another key.
    fn directed(&self, like: &PathKey) -> MergeClause {
        let mut c = self.clone();
        for k in [&mut c.outer, &mut c.inner] {
            k.descending = like.descending;
            k.nulls_first = like.nulls_first;
        }
        c
    }
}

/// An input of a merge join.
struct Side<'k> {
    child: PathRef,
    /// Sort keys, if the child must be sorted explicitly.
    keys: Option<&'k [PathKey]>,
    startup: f64,
    total: f64,
    rows: f64,
    width: i32,
}

impl Side<'_> {
    fn order(&self) -> &[PathKey] {
        self.keys.unwrap_or(&self.child.order)
    }

    fn path(&self) -> PathRef {
        let Some(keys) = self.keys else { return self.child.clone() };
        Rc::new(Path {
            kind: PathKind::Sort { child: self.child.clone() },
            relids: self.child.relids.clone(),
            rows: self.rows,
            width: self.width,
            startup: self.startup,
            total: self.total,
            order: keys.to_vec(),
            outer: self.child.outer.clone(),
        })
    }
}

impl Planner<'_> {
    /// Adds the merge joins of `l` (outer) and `r` (inner).
    pub(crate) fn merge_join_paths(&self, join: &JoinInput<'_>, out: &mut JoinRel) {
        let (l, r) = (join.l, join.r);
        let mut clauses: Vec<MergeClause> = Vec::new();
        let (mut rest, mut rest_cost) = (Vec::new(), 0.0);
        for q in join.clauses {
            match q.for_merge(l, r) {
                Some(c) => clauses.push(c.clone()),
                None => {
                    rest.push(q.expr.clone());
                    rest_cost += q.cost;
                }
            }
        }
        let whole = matches!(join.jointype, JoinType::Right | JoinType::Full);
        if clauses.is_empty() || (whole && !rest.is_empty()) {
            return;
        }
        let mut orders: Vec<Vec<MergeClause>> = vec![clauses.clone()];
        for (paths, outer) in [(&l.paths, true), (&r.paths, false)] {
            for p in paths.unparameterized() {
                if let Some(o) = ordered_like(&clauses, &p.order, outer) {
                    let same = |a: &Vec<MergeClause>| {
                        a.iter().map(|c| &c.outer).eq(o.iter().map(|c| &c.outer))
                            && a.iter().map(|c| &c.inner).eq(o.iter().map(|c| &c.inner))
                    };
                    if !orders.iter().any(same) {
                        orders.push(o);
                    }
                }
            }
        }
        for order in orders {
            let outer_keys: Vec<PathKey> = order.iter().map(|c| c.outer.clone()).collect();
            let inner_keys: Vec<PathKey> = order.iter().map(|c| c.inner.clone()).collect();
            let (Some(lp), Some(rp)) =
                (self.sorted_side(l, &outer_keys), self.sorted_side(r, &inner_keys))
            else {
                continue;
            };
            let first = &order[0];
            let mut read = match first.outer.descending {
                false => first.fractions,
                true => (1.0, 1.0),
            };
            // A preserved side is read completely.
            if matches!(join.jointype, JoinType::Left | JoinType::Anti | JoinType::Full) {
                read.0 = 1.0;
            }
            if whole {
                read.1 = 1.0;
            }
            self.merge_path(join, (&lp, &rp), &order, (&rest, rest_cost), read, out);
        }
    }

    fn merge_path(
        &self,
        join: &JoinInput<'_>,
        (lp, rp): (&Side, &Side),
        order: &[MergeClause],
        (rest, rest_cost): (&[Rc<Expr>], f64),
        read: (f64, f64),
        out: &mut JoinRel,
    ) {
        let c = self.host.costs();
        let n = order.len() as f64;
        // Inner rows are compared again for each further outer row with the same key.
        let again = if join.inner_unique { 0.0 } else { (out.rows - rp.rows).max(0.0) };
        let ratio = 1.0 + again / rp.rows.max(1.0);
        let (outer_rows, inner_rows) = (lp.rows * read.0, rp.rows * read.1);
        let inner_run = (rp.total - rp.startup) * read.1;
        let kept = inner_run + c.cpu_operator * inner_rows * ratio;
        let off = if c.enable_mergejoin { 0.0 } else { 1e10 };
        let startup = lp.startup + rp.startup + off;
        let total = startup
            + (lp.total - lp.startup) * read.0
            + (inner_run * ratio).min(kept)
            + c.cpu_operator * n * (outer_rows + inner_rows * ratio)
            + out.rows * (c.cpu_tuple + rest_cost);
        let keeps_order = !matches!(join.jointype, JoinType::Right | JoinType::Full);
        let sorted = if keeps_order { out.useful.part_of(lp.order()) } else { &[] };
        let none = Relids::new();
        let properties =
            PathProperties { startup, total, rows: out.rows, order: sorted, outer: &none };
        if !out.paths.would_keep(properties) {
            return;
        }
        out.paths.add(Path {
            kind: PathKind::Merge(MergePath {
                join: join.path(lp.path(), rp.path(), rest.to_vec()),
                clauses: order.iter().map(|c| c.clause.clone()).collect(),
                keys: order.iter().map(|c| c.outer.clone()).collect(),
            }),
            relids: out.relids.clone(),
            rows: out.rows,
            width: out.width,
            startup,
            total,
            order: sorted.to_vec(),
            outer: Relids::new(),
        });
    }

    /// The cheapest path of a side in this order, with an explicit sort if necessary.
    fn sorted_side<'k>(&self, rel: &JoinRel, keys: &'k [PathKey]) -> Option<Side<'k>> {
        let mut best: Option<&PathRef> = None;
        for p in rel.paths.unparameterized().filter(|p| starts_with(&p.order, keys)) {
            if best.is_none_or(|b| p.total < b.total) {
                best = Some(p);
            }
        }
        let cheapest = rel.paths.cheapest()?;
        let of = |p: &PathRef, startup: f64, total: f64, keys| Side {
            child: p.clone(),
            keys,
            startup,
            total,
            rows: p.rows,
            width: p.width,
        };
        // If a sorted path is no more expensive than the cheapest path, no explicit sort is
        // cheaper.
        if let Some(b) = best
            && b.total <= cheapest.total
        {
            return Some(of(b, b.startup, b.total, None));
        }
        let (startup, total) = self.sort_cost(cheapest.total, cheapest.rows, cheapest.width);
        Some(match best {
            Some(b) if b.total <= total => of(b, b.startup, b.total, None),
            _ => of(cheapest, startup, total, Some(keys)),
        })
    }

    /// The merge clause of an equality whose left operand is the outer side's; `None` if no B-tree
    /// family can sort both operands.
    pub(crate) fn merge_clause(
        &mut self,
        root: &PlannerInfo,
        q: &Expr,
    ) -> Result<Option<MergeClause>> {
        let Expr::OpExpr(op) = q else { return Ok(None) };
        for family in self.host.equality_families(op.opno)? {
            let mut sides = Vec::new();
            for e in &op.args {
                let ty = self.operand_type(op.opno, sides.len(), e)?;
                // Sorting needs the family's operators on the side's own type.
                if ty == e.type_oid() && self.host.family_operator(family, ty, ty, LESS)?.is_some()
                {
                    sides.push(PathKey {
                        expr: Rc::new(e.clone()),
                        class: root.column_class(e),
                        family,
                        collation: op.inputcollid,
                        descending: false,
                        nulls_first: false,
                    });
                }
            }
            if let Ok([outer, inner]) = <[PathKey; 2]>::try_from(sides) {
                let fractions = self.merge_fractions(root, q)?;
                let clause = Rc::new(q.clone());
                return Ok(Some(MergeClause { clause, outer, inner, fractions }));
            }
        }
        Ok(None)
    }

    fn operand_type(&mut self, opno: Oid, side: usize, e: &Expr) -> Result<Oid> {
        let info = self.host.operator(opno)?;
        let ty = if side == 0 { info.left } else { info.right };
        // A polymorphic operator has the actual type of its operand.
        Ok(if ty == e.type_oid() { ty } else { e.type_oid() })
    }

    /// Adds the outer columns that a LATERAL subquery or function depends on. False if its rows
    /// cannot be cached by these columns, because it is volatile or has sub-plans.
    fn lateral_vars(
        &mut self,
        root: &PlannerInfo,
        kind: &PathKind,
        vars: &mut Vec<Expr>,
    ) -> Result<bool> {
        let (exprs, quals, volatility) = match kind {
            PathKind::Subquery { rti, plan, quals, .. } => {
                let RteKind::Subquery { subquery, .. } = &root.query.rte(*rti).kind else {
                    return Ok(false);
                };
                let params = &root.subqueries[*plan].params;
                let exprs: Vec<Expr> = params.iter().map(|(_, e)| e.clone()).collect();
                (exprs, quals, eval::query_volatility(subquery, self.host)?)
            }
            PathKind::Function { rti, quals } => {
                let RteKind::Function { functions, .. } = &root.query.rte(*rti).kind else {
                    return Ok(false);
                };
                let mut worst = eval::Volatility::Immutable;
                for f in functions {
                    worst = worst.max(eval::volatility(&f.funcexpr, self.host)?);
                }
                (functions.iter().map(|f| f.funcexpr.clone()).collect(), quals, worst)
            }
            _ => return Ok(false),
        };
        if volatility == eval::Volatility::Volatile || quals.iter().any(contains_subplans) {
            return Ok(false);
        }
        exprs.iter().chain(quals).for_each(|e| pull_vars(e, vars));
        Ok(!exprs.iter().any(contains_subplans))
    }

    /// The cache key of a Memoize node above the inner side of a nested loop; `None` if it cannot
    /// be cached.
    pub(crate) fn memo_keys(
        &mut self,
        root: &PlannerInfo,
        inner: &PathRef,
        outer: &JoinRel,
    ) -> Result<Option<MemoKeys>> {
        let asks = !inner.outer.is_disjoint(&outer.relids);
        if !asks || !self.host.costs().enable_memoize || outer.rows < 2.0 {
            return Ok(None);
        }
        let mut vars = Vec::new();
        let mut binary_mode = false;
        match &inner.kind {
            PathKind::Index { m, quals, .. } => {
                for q in quals {
                    if eval::volatility(q, self.host)? == eval::Volatility::Volatile {
                        return Ok(None);
                    }
                }
                for q in quals.iter().filter(|q| !relids_of(q).is_subset(&inner.relids)) {
                    let Some((op, asked)) = comparison_across(q, &inner.relids, &outer.relids)
                    else {
                        return Ok(None);
                    };
                    // The operator may distinguish values that are equal for the keys' equality
                    // operator.
                    binary_mode |= !self.can_hash(op)?;
                    push_unique(&mut vars, asked);
                }
                for q in &m.quals {
                    if matches!(q.qual, Expr::ScalarArrayOp(_)) {
                        return Ok(None);
                    }
                    match comparison_across(&q.qual, &inner.relids, &outer.relids) {
                        Some((op, asked)) => {
                            binary_mode |= !self.can_hash(op)?;
                            push_unique(&mut vars, asked);
                        }
                        None => pull_vars(&q.qual, &mut vars),
                    }
                }
            }
            PathKind::Subquery { .. } | PathKind::Function { .. } => {
                if !self.lateral_vars(root, &inner.kind, &mut vars)? {
                    return Ok(None);
                }
                binary_mode = true;
            }
            _ => return Ok(None),
        }
        vars.retain(|v| relids_of(v).is_disjoint(&inner.relids));
        let known = vars.iter().all(|v| relids_of(v).is_subset(&outer.relids));
        if vars.is_empty() || !known {
            return Ok(None);
        }
        let (mut operators, mut collations) = (Vec::new(), Vec::new());
        for v in &vars {
            let ops = self.operators_of(v.type_oid())?;
            if !ops.hashable || !ops.eq.is_valid() {
                return Ok(None);
            }
            operators.push(ops.eq);
            collations.push(v.collation());
        }
        let calls = outer.rows;
        let mut distinct = self.group_count(root, &vars, calls)?;
        let mut columns = Vec::new();
        vars.iter().for_each(|v| pull_vars(v, &mut columns));
        for column in &columns {
            // Without statistics, no value is expected to occur twice.
            if self.variable_stats(root, column)?.is_default {
                distinct = calls;
            }
        }
        Ok(Some(MemoKeys { vars, operators, collations, binary_mode, calls, distinct }))
    }

    /// Average startup and total cost of one scan of an inner side under a Memoize node.
    /// Counterpart: `cost_memoize_rescan`.
    pub(crate) fn memo_costs(&self, inner: &Path, keys: &MemoKeys) -> (f64, f64) {
        let c = self.host.costs();
        let MemoKeys { calls, distinct, .. } = *keys;
        let entry = inner.rows * (f64::from(inner.width) + 40.0) + 128.0;
        let entries = (c.hash_mem / entry).floor().max(1.0);
        let evicted = 1.0 - entries.min(distinct) / distinct;
        let hits = ((calls - distinct) / calls * (entries / distinct.max(entries))).clamp(0.0, 1.0);
        let total = inner.total * (1.0 - hits)
            + c.cpu_operator
            + evicted * (c.cpu_tuple + c.cpu_operator * inner.rows)
            + c.cpu_tuple
            + c.cpu_operator * inner.rows;
        ((inner.startup * (1.0 - hits) + c.cpu_tuple).min(total), total)
    }
}

/// The inner side of a nested loop under a Memoize node.
pub(crate) fn memoized(inner: &PathRef, keys: &MemoKeys, costs: (f64, f64)) -> PathRef {
    let (startup, total) = costs;
    Rc::new(Path {
        kind: PathKind::Memoize {
            child: inner.clone(),
            vars: keys.vars.clone(),
            operators: keys.operators.clone(),
            collations: keys.collations.clone(),
            binary_mode: keys.binary_mode,
        },
        rows: clamp_rows(inner.rows),
        startup,
        total,
        ..Path::clone(inner)
    })
}

/// Cache key of a Memoize node, with the estimated number of calls and of distinct keys.
pub(crate) struct MemoKeys {
    vars: Vec<Expr>,
    operators: Vec<Oid>,
    collations: Vec<Oid>,
    binary_mode: bool,
    calls: f64,
    distinct: f64,
}

/// The clauses arranged to match the existing order of a side as far as possible, followed by the
/// others; `None` if the order does not begin with a key of a clause.
fn ordered_like(
    clauses: &[MergeClause],
    order: &[PathKey],
    outer: bool,
) -> Option<Vec<MergeClause>> {
    let mut left: Vec<&MergeClause> = clauses.iter().collect();
    let mut out: Vec<MergeClause> = Vec::new();
    for k in order {
        let at = left.iter().position(|c| {
            let mine = if outer { &c.outer } else { &c.inner };
            mine.is_same_value(k) && mine.family == k.family && mine.collation == k.collation
        });
        let Some(at) = at else { break };
        out.push(left.remove(at).directed(k));
    }
    if out.is_empty() {
        return None;
    }
    out.extend(left.into_iter().cloned());
    Some(out)
}

/// The condition, if it compares a value of one side with a value of the other one, and its operand
/// on the outer side.
fn comparison_across<'e>(
    q: &'e Expr,
    inner: &Relids,
    outer: &Relids,
) -> Option<(&'e OpExpr, &'e Expr)> {
    let Expr::OpExpr(op) = q else { return None };
    let [l, r] = op.args.as_slice() else { return None };
    let (a, b) = (relids_of(l), relids_of(r));
    let of = |part: &Relids, side: &Relids| !part.is_empty() && part.is_subset(side);
    match () {
        () if of(&a, inner) && of(&b, outer) => Some((op, r)),
        () if of(&b, inner) && of(&a, outer) => Some((op, l)),
        () => None,
    }
}
