//! Join problems and join paths. Counterpart: joinrels.c, joinpath.c, costsize.c.
//!
//! Lists that the collapse limits set apart are joined first. The order of up to `EXHAUSTIVE_MAX`
//! items is found by dynamic programming over subsets; the order of longer lists by a greedy search
//! (`search`).

use crate::clause::Clauses;
use crate::need::{NeededExpr, needs};
use crate::partwise::{Parts, translated_all};
use crate::rel::clamp_rows;
use crate::state::{Planner, PlannerInfo};
use crate::width::UsedColumns;
use eval::Volatility;
use pgerror::{PgError, Result};
use plan::expr::{Expr, OpExpr};
use plan::query::{JoinType, RteKind};
use querytree::factor::restriction_of;
use querytree::path::{Ordered, Path, PathKind, PathRef, PathSet, UsefulOrders};
use querytree::quals::{Item, JoinItem, Problem};
use querytree::relids::Relids;
use querytree::vars::{relids_of, target_for};
use std::collections::HashMap;
use std::rc::Rc;
use types::oids;

/// The number of subsets doubles with each item. PostgreSQL uses its genetic search from
/// `geqo_threshold` (12) items on.
pub(crate) const EXHAUSTIVE_MAX: usize = 11;

/// A joined set of items, or a single one. Counterpart: `RelOptInfo`.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinRel {
    pub relids: Relids,
    pub rows: f64,
    /// Width of its rows in bytes.
    pub width: i32,
    pub paths: PathSet,
    /// Other relations whose columns every path needs (LATERAL).
    pub lateral: Relids,
    pub useful: UsefulOrders,
    pub parts: Parts,
}

impl JoinRel {
    /// The join of two relations, without paths and without an estimate of its rows.
    pub(crate) fn of(l: &JoinRel, r: &JoinRel, uses: &JoinUses) -> JoinRel {
        let relids = l.relids.union(&r.relids);
        JoinRel {
            rows: 0.0,
            paths: PathSet::new(uses.early),
            lateral: l.lateral.union(&r.lateral).difference(&relids),
            width: uses.used.width_above(&relids),
            useful: uses.useful_above(&relids),
            parts: Parts::Unknown,
            relids,
        }
    }
}

/// An operand of a binary condition.
struct ClauseOperand {
    /// The relations of the condition, and those of the operand.
    all: Relids,
    about: Relids,
    operand: Ordered,
}

/// Expressions by which a sort order may be useful: operands of join conditions (for merge joins),
/// and the sort and grouping expressions of the query.
pub(crate) struct JoinUses {
    conditions: Vec<ClauseOperand>,
    query: Vec<Ordered>,
    /// See [`PlannerInfo::wants_early_rows`].
    early: bool,
    /// The columns that are used above the relations.
    used: UsedColumns,
}

impl JoinUses {
    fn new(
        root: &PlannerInfo,
        conditions: &[Rc<NeededExpr>],
        used: UsedColumns,
    ) -> Result<JoinUses> {
        let query = &root.query;
        let early = root.wants_early_rows();
        let mut uses = JoinUses { conditions: Vec::new(), query: Vec::new(), early, used };
        for need in conditions {
            for (operand, about) in need.operands.iter().flatten() {
                let (all, about) = (need.relids.clone(), about.clone());
                uses.conditions.push(ClauseOperand { all, about, operand: root.ordered(operand) });
            }
        }
        let windows = query.window_clause.iter();
        let clauses = query
            .sort_clause
            .iter()
            .chain(&query.group_clause)
            .chain(&query.distinct_clause)
            .chain(windows.flat_map(|w| w.partition_clause.iter().chain(&w.order_clause)));
        for c in clauses {
            let expr = target_for(c, &query.target_list)?;
            if !uses.query.iter().any(|o| *o.expr == *expr) {
                uses.query.push(root.ordered(&Rc::new(expr.clone())));
            }
        }
        for resno in &root.input.from_above.wanted_columns {
            let column = query.target_list.iter().find(|t| t.resno == *resno && !t.resjunk);
            if let Some(t) = column
                && !uses.query.iter().any(|o| *o.expr == t.expr)
            {
                uses.query.push(root.ordered(&Rc::new(t.expr.clone())));
            }
        }
        Ok(uses)
    }

    /// The orders that are useful above a join of these relations. Counterpart:
    /// `has_useful_pathkeys`.
    fn useful_above(&self, relids: &Relids) -> UsefulOrders {
        let mut merges: Vec<Ordered> = Vec::new();
        for ClauseOperand { all, about, operand } in &self.conditions {
            let class = operand.class;
            let ours = class.is_some() || about.is_subset(relids);
            let known = |m: &Ordered| class.is_some() && m.class == class;
            if ours && !all.is_subset(relids) && !merges.iter().any(known) {
                merges.push(operand.clone());
            }
        }
        UsefulOrders { merges, query: self.query.clone() }
    }
}

/// What a join's conditions select.
#[derive(Clone, Copy)]
pub(crate) struct JoinFractions {
    /// Fraction of all pairs of a left and a right row.
    pairs: f64,
    /// Fraction of the left rows that have a match; 1 unless the join is a semi or anti join.
    matched: f64,
}

impl JoinFractions {
    /// Those of a join without conditions.
    pub(crate) const ALL: JoinFractions = JoinFractions { pairs: 1.0, matched: 1.0 };

    /// Estimated number of rows of the join.
    pub(crate) fn rows(self, jointype: JoinType, l: &JoinRel, r: &JoinRel) -> f64 {
        let inner = l.rows * r.rows * self.pairs;
        clamp_rows(match jointype {
            JoinType::Inner => inner,
            JoinType::Left => inner.max(l.rows),
            JoinType::Right => inner.max(r.rows),
            JoinType::Full => inner.max(l.rows).max(r.rows),
            JoinType::Semi => l.rows * self.matched,
            JoinType::Anti => l.rows * (1.0 - self.matched),
        })
    }
}

impl Planner<'_> {
    /// Finds the paths of a join problem. `needed` are the expressions computed above it.
    pub(crate) fn solve(
        &mut self,
        root: &mut PlannerInfo,
        problem: Problem,
        needed: &[Rc<NeededExpr>],
    ) -> Result<JoinRel> {
        stdx::stack::deep(|| self.solve_here(root, problem, needed))
    }

    /// A base relation as an item of a join problem; `clauses` are the join clauses on it.
    fn item_of_rel(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        (clauses, needed): (&[Expr], &[Rc<NeededExpr>]),
        uses: &JoinUses,
    ) -> Result<JoinRel> {
        let relids = Relids::from([rti]);
        let useful = uses.useful_above(&relids);
        let paths = self.scan_paths(root, rti, clauses, needed)?.with_useful_orders(&useful);
        let rel = root.rel(rti)?;
        let (rows, width, lateral) = (rel.rows, rel.width, rel.lateral.clone());
        let parts = Parts::None;
        let mut rel = JoinRel { relids, rows, width, paths, lateral, useful, parts };
        let joinable = !needs_row(rti, needed);
        rel.parts = self.table_parts(root, &rel, joinable)?;
        Ok(rel)
    }

    fn solve_here(
        &mut self,
        root: &mut PlannerInfo,
        mut problem: Problem,
        needed: &[Rc<NeededExpr>],
    ) -> Result<JoinRel> {
        self.host.check_interrupts()?;
        if problem.items.is_empty() {
            return Err(PgError::internal("join problem without items"));
        }
        // Distribute the conditions: on one base relation, on several items, on no relation.
        let mut single: HashMap<i32, Vec<Expr>> = HashMap::new();
        let mut multi: Vec<Expr> = Vec::new();
        let mut gates: Vec<Expr> = Vec::new();
        // Volatile conditions without relations, which must be tested for each row.
        let mut volatile: Vec<Expr> = Vec::new();
        let quals = self.simplified(std::mem::take(&mut problem.quals))?;
        problem.push_down(quals);
        let special_joins = self.take_special_joins(root, &mut problem)?;
        let mut quals = self.simplified(std::mem::take(&mut problem.quals))?;
        let derived = self.restrictions_of(root, &problem, &quals)?;
        quals.extend(derived);
        let quals = self.add_class_equalities(root, quals)?;
        problem.push_down(quals);
        for q in &problem.quals {
            let need = relids_of(q);
            match (need.len(), need.first()) {
                (0, _) if eval::volatility(q, self.host)? == Volatility::Volatile => {
                    match problem.items[..] {
                        [Item::Rel(r)] if !matches!(root.query.rte(r).kind, RteKind::Result) => {
                            single.entry(r).or_default().push(q.clone());
                        }
                        [Item::Rel(_)] => gates.push(q.clone()),
                        _ => volatile.push(q.clone()),
                    }
                }
                (0, _) => gates.push(q.clone()),
                (1, Some(r))
                    if problem.items.iter().any(|i| matches!(i, Item::Rel(x) if *x == r)) =>
                {
                    single.entry(r).or_default().push(q.clone());
                }
                _ => multi.push(q.clone()),
            }
        }
        let mut all_needed = needed.to_vec();
        all_needed.extend(needs(&multi));
        all_needed.extend(needs(special_joins.iter().flat_map(|f| &f.quals)));
        for item in &problem.items {
            if let Item::Rel(rti) = item {
                let quals = self.classes_last(single.remove(rti).unwrap_or_default())?;
                self.base_rel(root, *rti, quals)?;
                self.set_width(root, *rti, &all_needed)?;
            }
        }
        let lookups: Vec<Expr> =
            special_joins.iter().flat_map(|f| f.lookups().iter().cloned()).collect();
        let special_joins = self.plan_special_joins(root, special_joins, &all_needed)?;
        let mut uses = JoinUses::new(root, &all_needed, UsedColumns::default())?;
        let mut rels = Vec::with_capacity(problem.items.len());
        for item in problem.items {
            rels.push(match item {
                Item::Rel(rti) => {
                    let clauses = multi.iter().chain(&lookups);
                    let own: Vec<Expr> =
                        clauses.filter(|q| relids_of(q).contains(&rti)).cloned().collect();
                    self.item_of_rel(root, rti, (&own, &all_needed), &uses)?
                }
                Item::Join(j) => {
                    let relids = j.relids.clone();
                    let rel = self.fixed_join(root, *j, &all_needed)?;
                    // Conditions on this join that cannot be tested below it, because they refer to
                    // its nullable side.
                    let (own, others): (Vec<Expr>, Vec<Expr>) =
                        multi.into_iter().partition(|q| relids_of(q).is_subset(&relids));
                    multi = others;
                    if own.is_empty() { rel } else { self.filtered(root, rel, &own)? }
                }
            });
        }
        // The widths of columns of subqueries are known only now.
        uses.used = self.used_columns(root, &all_needed)?;
        let mut joined = if !special_joins.is_empty() {
            self.search_exhaustively(root, rels, special_joins, &multi, &uses)?
        } else if rels.len() == 1 {
            let mut one = rels.pop().expect("one item");
            if !multi.is_empty() {
                one = self.filtered(root, one, &multi)?;
            }
            one
        } else {
            self.search_lists(root, rels, &problem.lists, &multi, &uses)?
        };
        if !volatile.is_empty() {
            joined = self.filtered(root, joined, &volatile)?;
        }
        if !gates.is_empty() {
            joined = self.gated(joined, &gates)?;
        }
        Ok(joined)
    }

    /// Replaces conditions `x = x`, and adds those that follow from equivalence classes with
    /// constants.
    fn simplified(&mut self, mut quals: Vec<Expr>) -> Result<Vec<Expr>> {
        for q in &mut quals {
            self.equal_to_itself(q)?;
        }
        self.add_class_constants(&quals)
    }

    /// A relation's conditions in PostgreSQL's order: equalities that belong to equivalence classes
    /// come last. Counterpart: `generate_base_implied_equalities`.
    fn classes_last(&mut self, quals: Vec<Expr>) -> Result<Vec<Expr>> {
        if quals.len() < 2 {
            return Ok(quals);
        }
        let (mut first, mut last) = (Vec::with_capacity(quals.len()), Vec::new());
        for q in quals {
            let in_class = match &q {
                Expr::OpExpr(op) => {
                    op.args.len() == 2
                        && self.host.operator(op.opno)?.can_merge
                        && eval::volatility(&q, self.host)? != Volatility::Volatile
                }
                _ => false,
            };
            if in_class { last.push(q) } else { first.push(q) }
        }
        first.append(&mut last);
        Ok(first)
    }

    /// Restrictions on single relations that follow from OR clauses over several relations.
    fn restrictions_of(
        &mut self,
        root: &mut PlannerInfo,
        problem: &Problem,
        quals: &[Expr],
    ) -> Result<Vec<Expr>> {
        let mut out = Vec::new();
        for q in quals {
            let need = relids_of(q);
            if need.len() < 2 || eval::volatility(q, self.host)? == Volatility::Volatile {
                continue;
            }
            let mut parts = Vec::new();
            for rti in need {
                if problem.reaches(rti)
                    && let Some(part) = restriction_of(q, rti)
                {
                    parts.push(part);
                }
            }
            if !parts.is_empty() {
                out.extend(parts.iter().cloned());
                root.restrictions.push((q.clone(), parts));
            }
        }
        Ok(out)
    }

    /// Adds a filter above each path.
    pub(crate) fn filtered(
        &mut self,
        root: &PlannerInfo,
        rel: JoinRel,
        quals: &[Expr],
    ) -> Result<JoinRel> {
        let sel = self.selectivity_all(root, quals)?;
        let cost = self.quals_cost(quals)?;
        let rows = clamp_rows(rel.rows * sel);
        let mut paths = rel.paths.above();
        for p in &rel.paths.paths {
            paths.add(Path {
                kind: filter_kind(p, quals),
                relids: p.relids.clone(),
                rows,
                width: p.width,
                startup: p.startup,
                total: p.total + p.rows * cost,
                order: p.order.clone(),
                outer: p.outer.clone(),
            });
        }
        let parts = rel.parts.map(&mut |child| {
            let members = root.translations_from(&rel.relids, &child.relids);
            let own = translated_all(&members, quals)?;
            self.filtered(root, child.clone(), &own).map(Some)
        })?;
        Ok(JoinRel { rows, paths, parts, ..rel })
    }

    fn gated(&mut self, rel: JoinRel, gates: &[Expr]) -> Result<JoinRel> {
        let never = gates
            .iter()
            .any(|g| matches!(g, Expr::Const(c) if c.is_null() || !c.value.as_ref().as_bool()));
        let mut paths = rel.paths.above();
        for p in &rel.paths.paths {
            let kind = if never {
                PathKind::Dummy
            } else {
                PathKind::Gate { child: p.clone(), quals: gates.to_vec() }
            };
            let (startup, total, rows) =
                if never { (0.0, 0.0, 1.0) } else { (p.startup, p.total, p.rows) };
            paths.add(Path {
                kind,
                relids: p.relids.clone(),
                rows,
                width: p.width,
                startup,
                total,
                order: p.order.clone(),
                outer: p.outer.clone(),
            });
        }
        let rows = if never { 1.0 } else { rel.rows };
        Ok(JoinRel { rows, paths, parts: Parts::None, ..rel })
    }

    /// A join whose order is fixed: an outer, semi or anti join whose sides are separate problems.
    fn fixed_join(
        &mut self,
        root: &mut PlannerInfo,
        mut j: JoinItem,
        needed: &[Rc<NeededExpr>],
    ) -> Result<JoinRel> {
        let (inner, on) = self.constants_across(&j)?;
        j.quals = on;
        j.right.push_down(inner);
        let mut all = needed.to_vec();
        all.extend(needs(&j.quals));
        let left = self.solve(root, j.left, &all)?;
        let right = self.right_side(root, j.jointype, j.right, &j.quals, &all)?;
        let used = self.used_columns(root, needed)?;
        let mut out = JoinRel::of(&left, &right, &JoinUses::new(root, needed, used)?);
        out.relids.clone_from(&j.relids);
        let on = self.clauses(root, &j.quals)?;
        out.rows = self.join_rows(root, j.jointype, &left, &right, &on)?;
        self.join_paths(root, j.jointype, &left, &right, &on, &mut out)?;
        if j.jointype == JoinType::Full {
            self.join_paths(root, j.jointype, &right, &left, &on, &mut out)?;
        }
        if j.jointype == JoinType::Semi
            && let Some(unique) = self.unique_right(root, &right, &j.quals)?
        {
            self.join_paths(root, JoinType::Inner, &left, &unique, &on, &mut out)?;
            self.join_paths(root, JoinType::Inner, &unique, &left, &on, &mut out)?;
        }
        if out.paths.paths.is_empty() {
            return Err(pgerror::pg_err!(
                FEATURE_NOT_SUPPORTED,
                "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions"
            ));
        }
        self.finish_parts(root, &mut out)?;
        Ok(out)
    }

    /// The right side of an outer, semi or anti join. If it is a base relation, parameterized scans
    /// by the join conditions are added.
    pub(crate) fn right_side(
        &mut self,
        root: &mut PlannerInfo,
        jointype: JoinType,
        right: Problem,
        on: &[Expr],
        needed: &[Rc<NeededExpr>],
    ) -> Result<JoinRel> {
        let &[Item::Rel(rti)] = right.items.as_slice() else {
            return self.solve(root, right, needed);
        };
        let gate_free = !right.quals.iter().any(|q| relids_of(q).is_empty());
        let mut r = self.solve(root, right, needed)?;
        let own_clauses: Vec<Expr> =
            on.iter().filter(|q| relids_of(q).contains(&rti)).cloned().collect();
        if jointype != JoinType::Full && !own_clauses.is_empty() && gate_free {
            for p in self.scan_paths(root, rti, &own_clauses, needed)?.paths {
                if !p.outer.is_empty() {
                    r.paths.add((*p).clone());
                }
            }
            let joinable = !needs_row(rti, needed);
            r.parts = self.table_parts(root, &r, joinable)?;
        }
        Ok(r)
    }

    /// Largest number of items in a search with semi, anti and left joins.
    pub(crate) fn collapse_max(&self) -> usize {
        EXHAUSTIVE_MAX.min(self.host.costs().collapse.join)
    }

    pub(crate) fn join_rows(
        &mut self,
        root: &PlannerInfo,
        jointype: JoinType,
        l: &JoinRel,
        r: &JoinRel,
        quals: &Clauses,
    ) -> Result<f64> {
        Ok(self.join_fractions(root, jointype, r, quals)?.rows(jointype, l, r))
    }

    /// See [`JoinFractions`]. They depend on the right side and the conditions, not on what else
    /// the left side has been joined with.
    pub(crate) fn join_fractions(
        &mut self,
        root: &PlannerInfo,
        jointype: JoinType,
        r: &JoinRel,
        quals: &Clauses,
    ) -> Result<JoinFractions> {
        let pairs = self.clauses_selectivity(root, quals)?;
        let matched = match jointype {
            JoinType::Semi | JoinType::Anti => {
                self.semi_selectivity(root, &r.relids, r.rows, quals)?
            }
            _ => 1.0,
        };
        Ok(JoinFractions { pairs, matched })
    }

    /// True if the operator is a hashable equality. For rows and arrays this depends on the types
    /// of their parts. Counterpart: `op_hashjoinable`.
    pub(crate) fn can_hash(&mut self, op: &OpExpr) -> Result<bool> {
        let info = self.host.operator(op.opno)?;
        if !info.can_hash {
            return Ok(false);
        }
        match (info.left, op.args.first()) {
            (oids::RECORD | oids::ANYARRAY | oids::ANYRANGE | oids::ANYMULTIRANGE, Some(left)) => {
                Ok(self.host.default_operators(left.type_oid())?.hashable)
            }
            _ => Ok(true),
        }
    }

    pub(crate) fn commute(&mut self, q: &Expr) -> Result<Expr> {
        let Expr::OpExpr(op) = q else { return Ok(q.clone()) };
        let comm = self.host.operator(op.opno)?.commutator;
        let code = self.host.operator(comm)?.code;
        let mut new = (**op).clone();
        new.opno = comm;
        new.opfuncid = code;
        new.args.swap(0, 1);
        Ok(Expr::OpExpr(Box::new(new)))
    }
}

/// True if the whole row of a relation is needed above it.
fn needs_row(rti: i32, needed: &[Rc<NeededExpr>]) -> bool {
    let is_row = |e: &Expr| matches!(e, Expr::Var(v) if v.varno == rti && v.varattno == 0);
    needed.iter().any(|n| n.relids.contains(&rti) && n.columns.iter().any(is_row))
}

/// The kind of the path with additional conditions on its output: a join tests them itself (an
/// inner join among its join conditions), other paths get a Filter above.
fn filter_kind(p: &PathRef, more: &[Expr]) -> PathKind {
    let mut kind = p.kind.clone();
    match kind.join_mut() {
        Some(join)
            if matches!(join.jointype, JoinType::Left | JoinType::Right | JoinType::Full) =>
        {
            join.quals.extend_from_slice(more);
            kind
        }
        Some(join) if join.jointype == JoinType::Inner => {
            join.join_quals.extend(more.iter().cloned().map(Rc::new));
            kind
        }
        _ => PathKind::Filter { child: p.clone(), quals: more.to_vec() },
    }
}
