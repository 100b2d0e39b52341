//! Join problems and join paths. Counterpart: joinrels.c, joinpath.c, costsize.c.
//!
//! Lists that the collapse limits set apart are joined first. The order of up to `EXHAUSTIVE_MAX`
//! items is found by dynamic programming over subsets; the order of longer lists by a greedy search
//! (`search`).

use crate::clause::{Clause, Clauses, clauses_cost};
use crate::factor::restriction_of;
use crate::filters::Stops;
use crate::glob::{Glob, Root};
use crate::merge::memoized;
use crate::need::{Need, needs};
use crate::path::{Ordered, Path, PathKind, PathRef, PathSet, UsefulOrders, Worth};
use crate::quals::{Item, JoinItem, Problem};
use crate::rel::clamp_rows;
use crate::relids::Relids;
use crate::vars::{relids_of, target_for};
use crate::width::{UsedColumns, table_size};
use eval::Volatility;
use pgerror::{PgError, Result};
use plan::expr::{Expr, OpExpr};
use plan::query::{JoinType, RteKind};
use smallvec::SmallVec;
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
    /// Relations outside that every path needs (LATERAL).
    pub lateral: Relids,
    pub useful: UsefulOrders,
}

impl JoinRel {
    /// The join of two, without paths and rows.
    pub(crate) fn of(l: &JoinRel, r: &JoinRel, ends: &Ends) -> JoinRel {
        let relids = l.relids.union(&r.relids);
        JoinRel {
            rows: 0.0,
            paths: PathSet::new(ends.early),
            lateral: l.lateral.union(&r.lateral).difference(&relids),
            width: ends.used.width_above(&relids),
            useful: ends.useful_above(&relids),
            relids,
        }
    }
}

/// An operand of a binary condition.
struct End {
    /// The relations of the whole condition, and those of the operand.
    all: Relids,
    about: Relids,
    operand: Ordered,
}

/// Expressions by which a sort order may be useful: operands of join conditions (for merge joins),
/// and the sort and grouping expressions of the query.
pub(crate) struct Ends {
    conditions: Vec<End>,
    query: Vec<Ordered>,
    /// See [`Root::wants_early_rows`].
    early: bool,
    /// Their columns.
    used: UsedColumns,
}

impl Ends {
    fn new(root: &Root, conditions: &[Rc<Need>], used: UsedColumns) -> Result<Ends> {
        let query = &root.query;
        let early = root.wants_early_rows();
        let mut ends = Ends { conditions: Vec::new(), query: Vec::new(), early, used };
        for need in conditions {
            for (operand, about) in need.operands.iter().flatten() {
                let (all, about) = (need.relids.clone(), about.clone());
                ends.conditions.push(End { all, about, operand: root.ordered(operand) });
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
            if !ends.query.iter().any(|o| *o.expr == *expr) {
                ends.query.push(root.ordered(&Rc::new(expr.clone())));
            }
        }
        for resno in &root.input.from_above.wanted_columns {
            let column = query.target_list.iter().find(|t| t.resno == *resno && !t.resjunk);
            if let Some(t) = column
                && !ends.query.iter().any(|o| *o.expr == t.expr)
            {
                ends.query.push(root.ordered(&Rc::new(t.expr.clone())));
            }
        }
        Ok(ends)
    }

    /// The orders that are useful above a join of these relations. Counterpart:
    /// `has_useful_pathkeys`.
    fn useful_above(&self, relids: &Relids) -> UsefulOrders {
        let mut merges: Vec<Ordered> = Vec::new();
        for End { all, about, operand } in &self.conditions {
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

impl Glob<'_> {
    /// Finds the paths of a join problem. `needed` are the expressions computed above it.
    pub(crate) fn solve(
        &mut self,
        root: &mut Root,
        problem: Problem,
        needed: &[Rc<Need>],
    ) -> Result<JoinRel> {
        stdx::stack::deep(|| self.solve_here(root, problem, needed))
    }

    fn solve_here(
        &mut self,
        root: &mut Root,
        mut problem: Problem,
        needed: &[Rc<Need>],
    ) -> Result<JoinRel> {
        self.facts.check_interrupts()?;
        if problem.items.is_empty() {
            return Err(PgError::internal("join problem without items"));
        }
        // Distribute the conditions: on one base relation, on several items, without relations.
        let mut single: HashMap<i32, Vec<Expr>> = HashMap::new();
        let mut multi: Vec<Expr> = Vec::new();
        let mut gates: Vec<Expr> = Vec::new();
        // Volatile conditions without relations, which must be tested for each row.
        let mut volatile: Vec<Expr> = Vec::new();
        let quals = self.simplified(std::mem::take(&mut problem.quals))?;
        problem.push_down(quals);
        let filters = self.take_filters(root, &mut problem)?;
        let mut quals = self.simplified(std::mem::take(&mut problem.quals))?;
        let derived = self.restrictions_of(root, &problem, &quals)?;
        quals.extend(derived);
        let quals = self.spread_ties(root, quals)?;
        problem.push_down(quals);
        for q in &problem.quals {
            let need = relids_of(q);
            let first = need.first();
            match (need.len(), first) {
                (0, _) if eval::volatility(q, self.facts)? == Volatility::Volatile => {
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
        all_needed.extend(needs(filters.iter().flat_map(|f| &f.quals)));
        for item in &problem.items {
            if let Item::Rel(rti) = item {
                let quals = single.remove(rti).unwrap_or_default();
                self.base_rel(root, *rti, quals)?;
                self.set_width(root, *rti, &all_needed)?;
            }
        }
        let lookups: Vec<Expr> = filters.iter().flat_map(|f| f.lookups().iter().cloned()).collect();
        let filters = self.filter_rels(root, filters, &all_needed)?;
        let mut ends = Ends::new(root, &all_needed, UsedColumns::default())?;
        let mut rels = Vec::with_capacity(problem.items.len());
        for item in problem.items {
            rels.push(match item {
                Item::Rel(rti) => {
                    let ties = multi.iter().chain(&lookups);
                    let tied: Vec<Expr> =
                        ties.filter(|q| relids_of(q).contains(&rti)).cloned().collect();
                    let relids = Relids::from([rti]);
                    let useful = ends.useful_above(&relids);
                    let paths = self.scan_paths(root, rti, &tied, &all_needed)?;
                    let paths = paths.with_useful_orders(&useful);
                    let rel = root.rel(rti)?;
                    let (rows, width, lateral) = (rel.rows, rel.width, rel.lateral.clone());
                    JoinRel { relids, rows, width, paths, lateral, useful }
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
        ends.used = self.used_columns(root, &all_needed)?;
        let mut joined = if !filters.is_empty() {
            self.search_exhaustively(root, rels, filters, &multi, &ends)?
        } else if rels.len() == 1 {
            let mut one = rels.pop().expect("one item");
            if !multi.is_empty() {
                one = self.filtered(root, one, &multi)?;
            }
            one
        } else {
            self.search_lists(root, rels, &problem.lists, &multi, &ends)?
        };
        if !volatile.is_empty() {
            joined = self.filtered(root, joined, &volatile)?;
        }
        if !gates.is_empty() {
            joined = self.gated(joined, &gates)?;
        }
        Ok(joined)
    }

    /// Conditions after `x = x` and constants of equivalence classes were taken into account.
    fn simplified(&mut self, mut quals: Vec<Expr>) -> Result<Vec<Expr>> {
        for q in &mut quals {
            self.equal_to_itself(q)?;
        }
        self.spread_constants(&quals)
    }

    /// Restrictions on single relations that follow from OR clauses over several relations.
    fn restrictions_of(
        &mut self,
        root: &mut Root,
        problem: &Problem,
        quals: &[Expr],
    ) -> Result<Vec<Expr>> {
        let mut out = Vec::new();
        for q in quals {
            let need = relids_of(q);
            if need.len() < 2 || eval::volatility(q, self.facts)? == Volatility::Volatile {
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
        root: &Root,
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
        Ok(JoinRel { rows, paths, ..rel })
    }

    fn gated(&mut self, rel: JoinRel, gates: &[Expr]) -> Result<JoinRel> {
        let never = gates
            .iter()
            .any(|g| matches!(g, Expr::Const(c) if c.is_null() || !c.value.as_ref().as_bool()));
        let mut paths = rel.paths.above();
        for p in &rel.paths.paths {
            let kind = if never {
                PathKind::Never
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
        Ok(JoinRel { rows, paths, ..rel })
    }

    /// A join whose order is fixed: an outer, semi or anti join whose sides are separate problems.
    fn fixed_join(
        &mut self,
        root: &mut Root,
        mut j: JoinItem,
        needed: &[Rc<Need>],
    ) -> Result<JoinRel> {
        let (inner, on) = self.constants_across(&j)?;
        j.quals = on;
        j.right.push_down(inner);
        let mut all = needed.to_vec();
        all.extend(needs(&j.quals));
        let left = self.solve(root, j.left, &all)?;
        let right = self.right_side(root, j.jointype, j.right, &j.quals, &all)?;
        let used = self.used_columns(root, needed)?;
        let mut out = JoinRel::of(&left, &right, &Ends::new(root, needed, used)?);
        out.relids.clone_from(&j.relids);
        let on = self.clauses(root, &j.quals)?;
        out.rows = self.join_rows(root, j.jointype, &left, &right, &on)?;
        self.join_paths(root, j.jointype, &left, &right, &on, &mut out)?;
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
        Ok(out)
    }

    /// The right side of an outer, semi or anti join. If it is a base relation, parameterized scans
    /// by the join conditions are added.
    pub(crate) fn right_side(
        &mut self,
        root: &mut Root,
        jointype: JoinType,
        right: Problem,
        on: &[Expr],
        needed: &[Rc<Need>],
    ) -> Result<JoinRel> {
        let &[Item::Rel(rti)] = right.items.as_slice() else {
            return self.solve(root, right, needed);
        };
        let gate_free = !right.quals.iter().any(|q| relids_of(q).is_empty());
        let mut r = self.solve(root, right, needed)?;
        let tied: Vec<Expr> = on.iter().filter(|q| relids_of(q).contains(&rti)).cloned().collect();
        if jointype != JoinType::Full && !tied.is_empty() && gate_free {
            for p in self.scan_paths(root, rti, &tied, needed)?.paths {
                if !p.outer.is_empty() {
                    r.paths.add((*p).clone());
                }
            }
        }
        Ok(r)
    }

    /// Largest number of items in a search with semi, anti and left joins.
    pub(crate) fn collapse_max(&self) -> usize {
        EXHAUSTIVE_MAX.min(self.facts.costs().collapse.join)
    }

    pub(crate) fn join_rows(
        &mut self,
        root: &Root,
        jointype: JoinType,
        l: &JoinRel,
        r: &JoinRel,
        quals: &Clauses,
    ) -> Result<f64> {
        let sel = self.clauses_selectivity(root, quals)?;
        let inner = l.rows * r.rows * sel;
        let matched = match jointype {
            JoinType::Semi | JoinType::Anti => {
                self.semi_selectivity(root, &r.relids, r.rows, quals)?
            }
            _ => 1.0,
        };
        Ok(clamp_rows(match jointype {
            JoinType::Inner => inner,
            JoinType::Left => inner.max(l.rows),
            JoinType::Right => inner.max(r.rows),
            JoinType::Full => inner.max(l.rows).max(r.rows),
            JoinType::Semi => l.rows * matched,
            JoinType::Anti => l.rows * (1.0 - matched),
        }))
    }

    /// Adds all paths that join `l` (outer) with `r` (inner). Counterpart: `add_paths_to_joinrel`.
    pub(crate) fn join_paths(
        &mut self,
        root: &Root,
        jointype: JoinType,
        l: &JoinRel,
        r: &JoinRel,
        quals: &Clauses,
        out: &mut JoinRel,
    ) -> Result<()> {
        self.facts.check_interrupts()?;
        let c = self.costs();
        let mut hash: Vec<Rc<Expr>> = Vec::new();
        let (mut rest, mut rest_cost) = (Vec::new(), 0.0);
        for q in quals {
            match q.for_hash(l, r) {
                Some(usable) => hash.push(usable),
                None => {
                    rest.push(q.expr.clone());
                    rest_cost += q.cost;
                }
            }
        }
        let inner_unique = self.inner_is_unique(root, r, quals)?
            || matches!(jointype, JoinType::Semi | JoinType::Anti);
        let qual_cost = clauses_cost(quals);
        self.merge_join_paths(jointype, l, r, quals, inner_unique, out);
        let off = |on: bool| if on { 0.0 } else { 1e10 };
        let loops_allowed = jointype != JoinType::Full
            || (hash.is_empty() && quals.iter().all(|q| q.is_mergeable(l, r)));
        let inner_sides = best_choices(&r.paths);
        // A hash join does not preserve order, so only the best outer paths are considered.
        let hash_sides = best_choices(&l.paths);
        // Rescan costs of inner paths without parameters.
        let again: Vec<Again> = inner_sides.iter().map(|rp| self.rescan(rp)).collect();
        let stops = self.stops(root, jointype, l, r, quals, out.rows)?;
        let mut found = Vec::with_capacity(inner_sides.len());
        for rp in &inner_sides {
            found.push(if stops.is_some() { self.rows_found(root, rp)? } else { rp.rows });
        }
        let mut memo_keys = Vec::with_capacity(inner_sides.len());
        for rp in &inner_sides {
            memo_keys.push(self.memo_keys(root, rp, l)?);
        }
        for lp in &l.paths.paths {
            // The outer side may itself need columns from further out.
            if !lp.outer.is_disjoint(&r.relids) {
                continue;
            }
            let order = out.useful.part_of(&lp.order);
            for (((&rp, again), keys), found) in
                inner_sides.iter().zip(&again).zip(&memo_keys).zip(&found)
            {
                let parameterised = !rp.outer.is_disjoint(&lp.relids);
                let mut outer: Relids = match rp.outer.is_subset(&lp.relids) {
                    true => Relids::new(),
                    false => rp.outer.difference(&lp.relids),
                };
                // Remaining parameters are allowed only for LATERAL, or if one inner scan looks up
                // columns of several relations (star join). Counterpart: `try_nestloop_path`.
                let star = parameterised && !outer.is_empty();
                outer.add(&lp.outer);
                if !outer.is_empty() && outer.is_disjoint(&out.lateral) && !star {
                    continue;
                }
                if loops_allowed {
                    let (mut startup, mut first, mut rescan) = (rp.startup, rp.total, rp.total);
                    let mut keep = false;
                    if lp.rows > 1.0 && !parameterised {
                        (first, rescan, keep) = (again.first, again.further, again.keep);
                    }
                    let mut memo = None;
                    if parameterised
                        && lp.outer.is_empty()
                        && let Some(keys) = keys
                    {
                        let costs = self.memo_costs(rp, keys);
                        if costs.1 < rescan {
                            (startup, first, rescan) = (costs.0, costs.1, costs.1);
                            memo = Some((keys, costs));
                        }
                    }
                    if let (Some(stops), true) = (&stops, parameterised) {
                        first = stops.cost(rp, *found, first);
                        rescan = stops.cost(rp, *found, rescan);
                    }
                    // An estimate of one outer row is often too low. Where a hash join is possible,
                    // assume two.
                    let risky = !parameterised && !hash.is_empty();
                    let loops = lp.rows.max(if risky { 2.0 } else { 1.0 });
                    // With a unique match, half of the inner rows are read on average.
                    let part = if inner_unique && !parameterised { 0.5 } else { 1.0 };
                    let pairs = loops * rp.rows * part;
                    let total = lp.total
                        + first
                        + (loops - 1.0) * rescan * part
                        + pairs * (c.cpu_tuple + if parameterised { rest_cost } else { qual_cost })
                        + off(c.enable_nestloop);
                    let startup = lp.startup + startup + off(c.enable_nestloop);
                    let worth = Worth { startup, total, rows: out.rows, order, outer: &outer };
                    if out.paths.lacks(worth) {
                        let inner = match memo {
                            Some((keys, costs)) => memoized(rp, keys, costs),
                            None if keep => material(rp, first),
                            None => rp.clone(),
                        };
                        out.paths.add(Path {
                            kind: PathKind::NestLoop {
                                jointype,
                                outer: lp.clone(),
                                join_quals: strip_satisfied(root, quals, &inner, &lp.relids),
                                inner,
                                quals: Vec::new(),
                                inner_unique,
                            },
                            relids: out.relids.clone(),
                            rows: out.rows,
                            width: out.width,
                            startup,
                            total,
                            order: order.to_vec(),
                            outer: outer.clone(),
                        });
                    }
                }
                let hashes = !hash.is_empty() && hash_sides.iter().any(|p| Rc::ptr_eq(p, lp));
                if parameterised || !hashes {
                    continue;
                }
                let bytes = table_size(rp.rows, rp.width);
                // Rows that exceed the memory are written and read once.
                let spill = if bytes > c.hash_mem {
                    let pages = (bytes + table_size(lp.rows, lp.width)) / 8192.0;
                    2.0 * pages * c.seq_page
                } else {
                    0.0
                };
                let n = hash.len() as f64;
                let startup = lp.startup
                    + rp.total
                    + rp.rows * (c.cpu_operator * n + c.cpu_tuple)
                    + off(c.enable_hashjoin);
                let total = startup
                    + (lp.total - lp.startup)
                    + lp.rows * c.cpu_operator * n
                    + out.rows * (c.cpu_tuple + rest_cost)
                    + spill;
                // The output has no order: spilled batches and unmatched inner rows come later.
                let worth = Worth { startup, total, rows: out.rows, order: &[], outer: &outer };
                if out.paths.lacks(worth) {
                    out.paths.add(Path {
                        kind: PathKind::Hash {
                            jointype,
                            outer: lp.clone(),
                            inner: rp.clone(),
                            clauses: hash.clone(),
                            join_quals: rest.clone(),
                            quals: Vec::new(),
                            inner_unique,
                        },
                        relids: out.relids.clone(),
                        rows: out.rows,
                        width: out.width,
                        startup,
                        total,
                        order: Vec::new(),
                        outer,
                    });
                }
            }
        }
        // A left join may also be done as a right join, which hashes the preserved side.
        if jointype == JoinType::Left && !hash.is_empty() {
            self.right_hash_join(l, r, quals, (&rest, rest_cost), out);
        }
        Ok(())
    }

    /// Early-termination factors of a semi or anti join; `None` for other joins. Counterpart:
    /// `compute_semi_anti_join_factors`.
    fn stops(
        &mut self,
        root: &Root,
        jointype: JoinType,
        l: &JoinRel,
        r: &JoinRel,
        quals: &Clauses,
        rows: f64,
    ) -> Result<Option<Stops>> {
        let passed = (rows / l.rows.max(1.0)).min(1.0);
        let matched = match jointype {
            JoinType::Semi => passed,
            JoinType::Anti => 1.0 - passed,
            _ => return Ok(None),
        };
        let partners = r.rows * self.clauses_selectivity(root, quals)? / matched.max(1e-9);
        Ok(Some(Stops { matched, share: 2.0 / (partners.max(1.0) + 1.0) }))
    }

    /// Number of rows that an index path finds before its filter.
    fn rows_found(&mut self, root: &Root, path: &Path) -> Result<f64> {
        let PathKind::Index { quals, .. } = &path.kind else { return Ok(path.rows) };
        let Some(rel) = path.relids.first().and_then(|rti| root.rels.get(&rti)) else {
            return Ok(path.rows);
        };
        let tested = self.lookup_selectivity(root, rel.rti, quals)?;
        Ok((path.rows / tested.max(1e-9)).clamp(path.rows, rel.tuples.max(path.rows)))
    }

    fn right_hash_join(
        &mut self,
        l: &JoinRel,
        r: &JoinRel,
        quals: &Clauses,
        (rest, rest_cost): (&[Rc<Expr>], f64),
        out: &mut JoinRel,
    ) {
        let c = self.costs();
        let (Some(lp), Some(rp)) = (l.paths.cheapest(), r.paths.cheapest()) else { return };
        let clauses: Vec<Rc<Expr>> = quals.iter().filter_map(|q| q.for_hash(r, l)).collect();
        if clauses.len() + rest.len() != quals.len() {
            return;
        }
        let n = clauses.len() as f64;
        let penalty = if c.enable_hashjoin { 0.0 } else { 1e10 };
        let startup =
            rp.startup + lp.total + lp.rows * (c.cpu_operator * n + c.cpu_tuple) + penalty;
        out.paths.add(Path {
            kind: PathKind::Hash {
                jointype: JoinType::Right,
                outer: rp.clone(),
                inner: lp.clone(),
                clauses,
                join_quals: rest.to_vec(),
                quals: Vec::new(),
                inner_unique: false,
            },
            relids: out.relids.clone(),
            rows: out.rows,
            width: out.width,
            startup,
            total: startup
                + (rp.total - rp.startup)
                + rp.rows * c.cpu_operator * n
                + out.rows * (c.cpu_tuple + rest_cost),
            order: Vec::new(),
            outer: Relids::new(),
        });
    }

    /// Costs of scanning an inner path without parameters repeatedly, with a Material node if
    /// that is useful. Counterpart: `cost_rescan`.
    fn rescan(&self, p: &Path) -> Again {
        let c = self.facts.costs();
        if !c.enable_material || !p.outer.is_empty() {
            return Again { first: p.total, further: p.total, keep: false };
        }
        let cheap = matches!(
            p.kind,
            PathKind::Material { .. }
                | PathKind::Cte { .. }
                | PathKind::WorkTable { .. }
                | PathKind::Function { .. }
                | PathKind::Values { .. }
                | PathKind::Sort { .. }
        );
        let further = p.rows * c.cpu_operator;
        if cheap {
            let further = further.max(p.rows * c.cpu_tuple * 0.5);
            return Again { first: p.total, further, keep: false };
        }
        Again { first: p.total + 2.0 * c.cpu_operator * p.rows, further, keep: true }
    }

    /// True if the operator is a hashable equality. For rows and arrays this depends on the types
    /// of their parts. Counterpart: `op_hashjoinable`.
    pub(crate) fn can_hash(&mut self, op: &OpExpr) -> Result<bool> {
        let facts = self.facts.operator(op.opno)?;
        if !facts.can_hash {
            return Ok(false);
        }
        match (facts.left, op.args.first()) {
            (oids::RECORD | oids::ANYARRAY, Some(left)) => {
                Ok(self.facts.default_operators(left.type_oid())?.hashable)
            }
            _ => Ok(true),
        }
    }

    pub(crate) fn commute(&mut self, q: &Expr) -> Result<Expr> {
        let Expr::OpExpr(op) = q else { return Ok(q.clone()) };
        let comm = self.facts.operator(op.opno)?.commutator;
        let code = self.facts.operator(comm)?.code;
        let mut new = (**op).clone();
        new.opno = comm;
        new.opfuncid = code;
        new.args.swap(0, 1);
        Ok(Expr::OpExpr(Box::new(new)))
    }

    /// True if at most one row of a base relation satisfies the conditions for each outer row.
    /// Counterpart: `innerrel_is_unique`.
    fn inner_is_unique(&mut self, root: &Root, r: &JoinRel, quals: &Clauses) -> Result<bool> {
        let mut it = r.relids.iter();
        let (Some(rti), None) = (it.next(), it.next()) else { return Ok(false) };
        let Some(table) = root.rels.get(&rti).and_then(|rel| rel.table.clone()) else {
            return Ok(false);
        };
        for index in
            table.indexes.iter().filter(|i| i.unique && i.immediate && i.predicate.is_empty())
        {
            let mut all = true;
            for key in &index.keys {
                let mut hit = false;
                for q in quals {
                    let Expr::OpExpr(op) = &*q.expr else { continue };
                    let [a, b] = op.args.as_slice() else { continue };
                    // The other operand must not depend on the relation.
                    let is_key = |key_side: &Expr, other: &Expr| {
                        crate::scan::is_index_key(key_side, rti, key)
                            && !relids_of(other).contains(&rti)
                    };
                    if is_key(a, b) || is_key(b, a) {
                        let strategy = self.facts.strategy(op.opno, key.opfamily)?;
                        hit |= strategy == Some(index.equality());
                    }
                }
                all &= hit;
            }
            if all && !index.keys.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The path with more conditions on its output: a join tests them itself (an inner join among its
/// join conditions), other paths get a Filter above.
fn filter_kind(p: &PathRef, more: &[Expr]) -> PathKind {
    let mut kind = p.kind.clone();
    match &mut kind {
        PathKind::NestLoop { jointype, quals, .. }
        | PathKind::Hash { jointype, quals, .. }
        | PathKind::Merge { jointype, quals, .. }
            if matches!(jointype, JoinType::Left | JoinType::Right | JoinType::Full) =>
        {
            quals.extend_from_slice(more);
            kind
        }
        PathKind::NestLoop { jointype: JoinType::Inner, join_quals, .. }
        | PathKind::Hash { jointype: JoinType::Inner, join_quals, .. }
        | PathKind::Merge { jointype: JoinType::Inner, join_quals, .. } => {
            join_quals.extend(more.iter().cloned().map(Rc::new));
            kind
        }
        _ => PathKind::Filter { child: p.clone(), quals: more.to_vec() },
    }
}

/// The paths to consider for a side whose order does not matter: the parameterized ones, and of the
/// others those with the lowest total and the lowest startup cost. Counterpart: joinpath.c
/// (`cheapest_total_inner`).
fn best_choices(paths: &PathSet) -> SmallVec<[&PathRef; 8]> {
    let cheapest = paths.cheapest();
    let soonest = paths.unparameterised().min_by(|a, b| a.startup.total_cmp(&b.startup));
    let is = |p: &PathRef, other: Option<&PathRef>| other.is_some_and(|o| Rc::ptr_eq(p, o));
    let wanted = |p: &&PathRef| !p.outer.is_empty() || is(p, cheapest) || is(p, soonest);
    paths.paths.iter().filter(wanted).collect()
}

/// Costs of an inner path's first scan and of each rescan; `keep`: a Material node keeps its rows.
struct Again {
    first: f64,
    further: f64,
    keep: bool,
}

/// The path under a Material node.
fn material(p: &PathRef, total: f64) -> PathRef {
    let kind = PathKind::Material { child: p.clone() };
    Rc::new(Path { kind, total, ..Path::clone(p) })
}

/// The join conditions that the inner scan does not already guarantee; `outer` are the relations of
/// its parameters.
fn strip_satisfied(root: &Root, quals: &Clauses, inner: &Path, outer: &Relids) -> Vec<Rc<Expr>> {
    let without = |tested: &dyn Fn(&Clause) -> bool| {
        quals.iter().filter(|q| !tested(q)).map(|q| q.expr.clone()).collect()
    };
    match &inner.kind {
        PathKind::Index { m, .. } => without(&|q| {
            m.quals.iter().any(|t| !t.lossy && t.original == *q.expr)
                || q.class.is_some_and(|class| root.tied_by(&m.quals, outer, class))
        }),
        PathKind::Memoize { child, .. } => strip_satisfied(root, quals, child, outer),
        PathKind::Tid { tid_quals, .. } => without(&|q| tid_quals.contains(&q.expr)),
        PathKind::Subquery { tested, .. } => without(&|q| tested.contains(&q.expr)),
        PathKind::Bitmap { bitmap, .. } => without(&|q| bitmap.guarantees(&q.expr)),
        _ => without(&|_| false),
    }
}
