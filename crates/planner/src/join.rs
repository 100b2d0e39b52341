//! Ways and order to join. Counterpart: joinrels.c, joinpath.c, costsize.c.
//!
//! Up to `EXHAUSTIVE_MAX` items the order is found by dynamic programming over subsets; beyond, the cheapest
//! pair is joined until one is left.

use crate::factor::restriction_of;
use crate::glob::*;
use crate::path::*;
use crate::quals::*;
use crate::rel::clamp_rows;
use crate::upper::target_for;
use crate::vars::*;
use eval::Volatility;
use pgerror::{PgError, Result};
use plan::expr::*;
use plan::query::{JoinType, Query, RteKind};
use std::collections::HashMap;
use std::rc::Rc;
use types::oids;

/// Subsets double with each item; ten items are about a thousand subsets.
const EXHAUSTIVE_MAX: usize = 10;

/// A joined set of items.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinRel {
    pub relids: Relids,
    pub rows: f64,
    pub paths: PathSet,
    /// Relations outside without which no path can do (LATERAL).
    pub lateral: Relids,
    pub useful: UsefulOrders,
}

impl JoinRel {
    /// The join of two, with its paths yet to come.
    fn of(l: &JoinRel, r: &JoinRel, ends: &Ends) -> JoinRel {
        let relids: Relids = l.relids.union(&r.relids).copied().collect();
        JoinRel {
            rows: 0.0,
            paths: PathSet::default(),
            lateral: l.lateral.union(&r.lateral).filter(|x| !relids.contains(x)).copied().collect(),
            useful: ends.useful_above(&relids),
            relids,
        }
    }
}

/// Where orders could serve: the ends of conditions, with the relations that each whole condition is about, and
/// what the query itself sorts and groups by.
struct Ends {
    conditions: Vec<(Relids, Expr)>,
    query: Vec<Expr>,
}

impl Ends {
    fn new(query: &Query, conditions: &[Expr]) -> Result<Ends> {
        let mut ends = Ends { conditions: Vec::new(), query: Vec::new() };
        for q in conditions {
            if let Expr::OpExpr(op) = q
                && op.args.len() == 2
            {
                let all = relids_of(q);
                ends.conditions.extend(op.args.iter().map(|a| (all.clone(), a.clone())));
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
            push_unique(&mut ends.query, target_for(c, &query.target_list)?);
        }
        Ok(ends)
    }

    /// What helps above these relations.
    fn useful_above(&self, relids: &Relids) -> UsefulOrders {
        let mut merges = Vec::new();
        for (all, e) in &self.conditions {
            if !all.is_subset(relids) {
                push_unique(&mut merges, e);
            }
        }
        UsefulOrders { merges, query: self.query.clone() }
    }
}

impl Glob<'_> {
    /// The paths of a whole join problem. `needed` are the expressions that the level above computes.
    pub(crate) fn solve(
        &mut self,
        root: &mut Root,
        problem: Problem,
        needed: &[Expr],
    ) -> Result<JoinRel> {
        stdx::stack::deep(|| self.solve_here(root, problem, needed))
    }

    fn solve_here(
        &mut self,
        root: &mut Root,
        mut problem: Problem,
        needed: &[Expr],
    ) -> Result<JoinRel> {
        self.facts.check_interrupts()?;
        if problem.items.is_empty() {
            return Err(PgError::internal("join problem without items"));
        }
        // Conditions by where they belong: on one base relation, on several items, on none.
        let mut single: HashMap<i32, Vec<Expr>> = HashMap::new();
        let mut multi: Vec<Expr> = Vec::new();
        let mut gates: Vec<Expr> = Vec::new();
        // Conditions on no item that may come out another way for each row.
        let mut volatile: Vec<Expr> = Vec::new();
        let mut given = std::mem::take(&mut problem.quals);
        for q in &mut given {
            self.equal_to_itself(q)?;
        }
        let mut quals = self.spread_constants(&given)?;
        let derived = self.restrictions_of(root, &problem, &quals)?;
        quals.extend(derived);
        problem.push_down(quals);
        for q in &problem.quals {
            let need = relids_of(q);
            let first = need.iter().next().copied();
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
        let mut all_needed: Vec<Expr> = needed.to_vec();
        all_needed.extend(multi.iter().cloned());
        for item in &problem.items {
            if let Item::Rel(rti) = item {
                let quals = single.remove(rti).unwrap_or_default();
                self.base_rel(root, *rti, quals)?;
                self.narrow(root, *rti, &all_needed)?;
            }
        }
        let ends = Ends::new(&root.query, &all_needed)?;
        let mut rels = Vec::with_capacity(problem.items.len());
        for item in problem.items {
            rels.push(match item {
                Item::Rel(rti) => {
                    let tied: Vec<Expr> =
                        multi.iter().filter(|q| relids_of(q).contains(&rti)).cloned().collect();
                    let relids = Relids::from([rti]);
                    let useful = ends.useful_above(&relids);
                    let paths = self.scan_paths(root, rti, &tied, &all_needed)?;
                    let paths = paths.with_useful_orders(&useful);
                    let rel = root.rel(rti)?;
                    JoinRel { relids, rows: rel.rows, paths, lateral: rel.lateral.clone(), useful }
                }
                Item::Join(j) => {
                    let relids = j.relids.clone();
                    let rel = self.fixed_join(root, *j, &all_needed)?;
                    // What concerns this join alone and cannot be tested before it: conditions on its nullable side.
                    let (own, others): (Vec<Expr>, Vec<Expr>) =
                        multi.into_iter().partition(|q| relids_of(q).is_subset(&relids));
                    multi = others;
                    if own.is_empty() { rel } else { self.filtered(root, rel, &own)? }
                }
            });
        }
        let mut joined = if rels.len() == 1 {
            let mut one = rels.pop().expect("one item");
            if !multi.is_empty() {
                one = self.filtered(root, one, &multi)?;
            }
            one
        } else if rels.len() <= EXHAUSTIVE_MAX.min(self.costs().join_collapse_limit.max(2) + 2) {
            self.search_exhaustively(root, rels, &multi, &ends)?
        } else {
            self.search_greedily(root, rels, &multi, &ends)?
        };
        if !volatile.is_empty() {
            joined = self.filtered(root, joined, &volatile)?;
        }
        if !gates.is_empty() {
            joined = self.gated(joined, &gates)?;
        }
        Ok(joined)
    }

    /// Conditions on single relations that follow from OR-clauses over several.
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

    /// Applies conditions above paths that have not tested them.
    fn filtered(&mut self, root: &Root, rel: JoinRel, quals: &[Expr]) -> Result<JoinRel> {
        let sel = self.selectivity_all(root, quals)?;
        let cost = self.quals_cost(quals)?;
        let rows = clamp_rows(rel.rows * sel);
        let mut paths = PathSet::default();
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
        let mut paths = PathSet::default();
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

    /// An outer, semi or anti join: its sides are solved on their own.
    fn fixed_join(&mut self, root: &mut Root, mut j: JoinItem, needed: &[Expr]) -> Result<JoinRel> {
        let (inner, on) = self.constants_across(&j)?;
        j.quals = on;
        j.right.push_down(inner);
        let mut all = needed.to_vec();
        all.extend(j.quals.iter().cloned());
        let left = self.solve(root, j.left, &all)?;
        // Conditions that tie the right side to the left let its base relation be looked up.
        let right = match j.right.items.as_slice() {
            &[Item::Rel(rti)] if j.jointype != JoinType::Full => {
                let gate_free = !j.right.quals.iter().any(|q| relids_of(q).is_empty());
                let mut r = self.solve(root, j.right, &all)?;
                let tied: Vec<Expr> =
                    j.quals.iter().filter(|q| relids_of(q).contains(&rti)).cloned().collect();
                if !tied.is_empty() && gate_free {
                    for p in self.scan_paths(root, rti, &tied, &all)?.paths {
                        if !p.outer.is_empty() {
                            r.paths.add((*p).clone());
                        }
                    }
                }
                r
            }
            _ => self.solve(root, j.right, &all)?,
        };
        let mut out = JoinRel::of(&left, &right, &Ends::new(&root.query, needed)?);
        out.relids.clone_from(&j.relids);
        out.rows = self.join_rows(root, j.jointype, &left, &right, &j.quals)?;
        self.join_paths(root, j.jointype, &left, &right, &j.quals, &mut out)?;
        if out.paths.paths.is_empty() {
            return Err(pgerror::pg_err!(
                FEATURE_NOT_SUPPORTED,
                "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions"
            ));
        }
        Ok(out)
    }

    fn join_rows(
        &mut self,
        root: &Root,
        jointype: JoinType,
        l: &JoinRel,
        r: &JoinRel,
        quals: &[Expr],
    ) -> Result<f64> {
        let sel = self.selectivity_all(root, quals)?;
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

    fn search_exhaustively(
        &mut self,
        root: &mut Root,
        rels: Vec<JoinRel>,
        quals: &[Expr],
        ends: &Ends,
    ) -> Result<JoinRel> {
        let n = rels.len();
        let full = (1usize << n) - 1;
        let mut best: HashMap<usize, JoinRel> = HashMap::new();
        for (i, r) in rels.iter().enumerate() {
            best.insert(1 << i, r.clone());
        }
        let qual_relids: Vec<Relids> = quals.iter().map(relids_of).collect();
        let masks_of = |mask: usize| -> Relids {
            (0..n).filter(|i| mask >> i & 1 == 1).flat_map(|i| rels[i].relids.clone()).collect()
        };
        for size in 2..=n {
            let mut found_any = false;
            // First only pairs tied by a condition (or by LATERAL); Cartesian products if there is none.
            for cartesian in [false, true] {
                if cartesian && found_any && size < n {
                    break;
                }
                for mask in 1..=full {
                    if mask.count_ones() as usize != size || (cartesian && best.contains_key(&mask))
                    {
                        continue;
                    }
                    let relids = masks_of(mask);
                    // The conditions that some join within these relations tests.
                    let within: Vec<usize> =
                        (0..quals.len()).filter(|&q| qual_relids[q].is_subset(&relids)).collect();
                    let mut out: Option<JoinRel> = None;
                    // In ascending order: of equal ways the one that begins with what was written first.
                    let mut sub = mask & mask.wrapping_neg();
                    while sub != mask {
                        let other = mask ^ sub;
                        if let (Some(l), Some(r)) = (best.get(&sub), best.get(&other)) {
                            let here: Vec<usize> = within
                                .iter()
                                .copied()
                                .filter(|&q| {
                                    !qual_relids[q].is_subset(&l.relids)
                                        && !qual_relids[q].is_subset(&r.relids)
                                })
                                .collect();
                            let tied = here.iter().any(|&q| {
                                !qual_relids[q].is_disjoint(&l.relids)
                                    && !qual_relids[q].is_disjoint(&r.relids)
                            }) || depends(l, r)
                                || depends(r, l);
                            if tied || cartesian {
                                let (l, r) = (l.clone(), r.clone());
                                let here: Vec<Expr> =
                                    here.into_iter().map(|q| quals[q].clone()).collect();
                                let mut target = match out.take() {
                                    Some(t) => t,
                                    None => {
                                        let ty = JoinType::Inner;
                                        let rows = self.join_rows(root, ty, &l, &r, &here)?;
                                        JoinRel { rows, ..JoinRel::of(&l, &r, ends) }
                                    }
                                };
                                self.join_paths(root, JoinType::Inner, &l, &r, &here, &mut target)?;
                                out = Some(target);
                            }
                        }
                        sub = sub.wrapping_sub(mask) & mask;
                    }
                    if let Some(o) = out
                        && !o.paths.paths.is_empty()
                    {
                        found_any = true;
                        best.insert(mask, o);
                    }
                }
            }
        }
        best.remove(&full).ok_or_else(|| PgError::internal("no way to join all relations"))
    }

    /// Joins the pair with the fewest rows until one relation is left. What a pair makes is remembered: each step
    /// tries only the pairs of the relation that is new.
    fn search_greedily(
        &mut self,
        root: &mut Root,
        rels: Vec<JoinRel>,
        quals: &[Expr],
        ends: &Ends,
    ) -> Result<JoinRel> {
        let quals: Vec<(Relids, &Expr)> = quals.iter().map(|q| (relids_of(q), q)).collect();
        let mut rels: Vec<(usize, JoinRel)> = rels.into_iter().enumerate().collect();
        let mut next = rels.len();
        // `None`: nothing ties the two, or there is no way to join them like this.
        let mut tried: HashMap<(usize, usize), Option<JoinRel>> = HashMap::new();
        while rels.len() > 1 {
            let mut best: Option<(usize, usize, JoinRel)> = None;
            for cartesian in [false, true] {
                if best.is_some() {
                    break;
                }
                for (i, j) in pairs(rels.len()) {
                    let key = (rels[i].0, rels[j].0);
                    if !cartesian && !tried.contains_key(&key) {
                        let made =
                            self.greedy_pair(root, &rels[i].1, &rels[j].1, &quals, ends, false)?;
                        tried.insert(key, made);
                    }
                    let fresh;
                    let made = match cartesian {
                        false => tried.get(&key).and_then(Option::as_ref),
                        true => {
                            fresh =
                                self.greedy_pair(root, &rels[i].1, &rels[j].1, &quals, ends, true)?;
                            fresh.as_ref()
                        }
                    };
                    if let Some(made) = made
                        && best.as_ref().is_none_or(|b| made.rows < b.2.rows)
                    {
                        best = Some((i, j, made.clone()));
                    }
                }
            }
            let Some((i, j, joined)) = best else {
                return Err(PgError::internal("no way to join all relations"));
            };
            for gone in [i.max(j), i.min(j)] {
                let (id, _) = rels.remove(gone);
                tried.retain(|key, _| key.0 != id && key.1 != id);
            }
            rels.push((next, joined));
            next += 1;
        }
        rels.pop().map(|(_, rel)| rel).ok_or_else(|| PgError::internal("no relation to join"))
    }

    /// The join of two relations; none if no condition ties them, unless `cartesian`.
    fn greedy_pair(
        &mut self,
        root: &mut Root,
        l: &JoinRel,
        r: &JoinRel,
        quals: &[(Relids, &Expr)],
        ends: &Ends,
        cartesian: bool,
    ) -> Result<Option<JoinRel>> {
        self.facts.check_interrupts()?;
        let applies = |need: &Relids| {
            !need.is_subset(&l.relids)
                && !need.is_subset(&r.relids)
                && need.iter().all(|rti| l.relids.contains(rti) || r.relids.contains(rti))
        };
        let here: Vec<Expr> =
            quals.iter().filter(|(need, _)| applies(need)).map(|(_, q)| (*q).clone()).collect();
        let tied = !here.is_empty() || depends(l, r) || depends(r, l);
        if !tied && !cartesian {
            return Ok(None);
        }
        let rows = self.join_rows(root, JoinType::Inner, l, r, &here)?;
        let mut out = JoinRel { rows, ..JoinRel::of(l, r, ends) };
        self.join_paths(root, JoinType::Inner, l, r, &here, &mut out)?;
        Ok((!out.paths.paths.is_empty()).then_some(out))
    }

    /// Adds all ways to join `l` (outer) with `r` (inner).
    fn join_paths(
        &mut self,
        root: &Root,
        jointype: JoinType,
        l: &JoinRel,
        r: &JoinRel,
        quals: &[Expr],
        out: &mut JoinRel,
    ) -> Result<()> {
        self.facts.check_interrupts()?;
        let c = self.costs();
        let (hash, rest) = self.hash_clauses(l, r, quals)?;
        let inner_unique = self.inner_is_unique(root, r, quals)?
            || matches!(jointype, JoinType::Semi | JoinType::Anti);
        let qual_cost = self.quals_cost(quals)?;
        let rest_cost = self.quals_cost(&rest)?;
        self.merge_join_paths(root, jointype, l, r, quals, inner_unique, out)?;
        let off = |on: bool| if on { 0.0 } else { 1e10 };
        let loops_allowed =
            jointype != JoinType::Full || (hash.is_empty() && self.mergeable(quals)?);
        // What a nested loop runs again that asks its outer side for nothing.
        let again: Vec<(PathRef, f64)> =
            r.paths.paths.iter().map(|rp| self.rescan(rp, false)).collect();
        for lp in &l.paths.paths {
            // The outer side may itself need columns from further out.
            if !lp.outer.is_disjoint(&r.relids) {
                continue;
            }
            let order = out.useful.part_of(&lp.order);
            for (rp, again) in r.paths.paths.iter().zip(&again) {
                let parameterised = !rp.outer.is_disjoint(&lp.relids);
                let mut outer = rp.outer.clone();
                outer.retain(|x| !lp.relids.contains(x));
                // Parameters from further out pay where LATERAL wants them, or where one inner side looks up columns
                // of several relations. Counterpart: `try_nestloop_path`.
                let star = parameterised && !outer.is_empty();
                outer.extend(&lp.outer);
                if !outer.is_empty() && outer.is_disjoint(&out.lateral) && !star {
                    continue;
                }
                if loops_allowed {
                    let (mut inner, mut rescan) = match (lp.rows > 1.0, parameterised) {
                        (true, true) => self.rescan(rp, true),
                        (true, false) => again.clone(),
                        (false, _) => (rp.clone(), rp.total),
                    };
                    if parameterised
                        && lp.outer.is_empty()
                        && let Some(m) = self.memoized(root, rp, lp)?
                        && m.total < rescan
                    {
                        (rescan, inner) = (m.total, m);
                    }
                    let loops = lp.rows.max(1.0);
                    // With a unique match the inner side stops half-way on average.
                    let part = if inner_unique && !parameterised { 0.5 } else { 1.0 };
                    let pairs = loops * inner.rows * part;
                    let total = lp.total
                        + inner.total
                        + (loops - 1.0) * rescan * part
                        + pairs * (c.cpu_tuple + if parameterised { rest_cost } else { qual_cost })
                        + off(c.enable_nestloop);
                    let startup = lp.startup + inner.startup + off(c.enable_nestloop);
                    let worth = Worth { startup, total, rows: out.rows, order, outer: &outer };
                    if out.paths.lacks(worth) {
                        out.paths.add(Path {
                            kind: PathKind::NestLoop {
                                jointype,
                                outer: lp.clone(),
                                join_quals: strip_satisfied(quals, &inner),
                                inner,
                                quals: Vec::new(),
                                inner_unique,
                            },
                            relids: out.relids.clone(),
                            rows: out.rows,
                            width: lp.width + rp.width,
                            startup,
                            total,
                            order: order.to_vec(),
                            outer: outer.clone(),
                        });
                    }
                }
                if parameterised || hash.is_empty() {
                    continue;
                }
                let bytes = rp.rows * (rp.width as f64 + 24.0);
                // What does not fit is written and read once.
                let spill = if bytes > c.hash_mem {
                    let pages = (bytes + lp.rows * (lp.width as f64 + 24.0)) / 8192.0;
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
                // Matches come in outer order unless the join spills or adds inner rows at the end.
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
                        width: lp.width + rp.width,
                        startup,
                        total,
                        order: Vec::new(),
                        outer,
                    });
                }
            }
        }
        // A left join may also be run with its sides exchanged, hashing the preserved one.
        if jointype == JoinType::Left && !hash.is_empty() {
            self.right_hash_join(l, r, &hash, &rest, rest_cost, out)?;
        }
        Ok(())
    }

    /// Could a merge join test all of these conditions? PostgreSQL has no other way to a full join that
    /// cannot hash.
    fn mergeable(&mut self, quals: &[Expr]) -> Result<bool> {
        for q in quals {
            let ok = match q {
                Expr::Const(_) => true,
                Expr::OpExpr(op) => self.facts.operator(op.opno)?.can_merge,
                _ => false,
            };
            if !ok {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn right_hash_join(
        &mut self,
        l: &JoinRel,
        r: &JoinRel,
        hash: &[Expr],
        rest: &[Expr],
        rest_cost: f64,
        out: &mut JoinRel,
    ) -> Result<()> {
        let c = self.costs();
        let (Some(lp), Some(rp)) = (l.paths.cheapest(), r.paths.cheapest()) else { return Ok(()) };
        let flipped: Result<Vec<Expr>> = hash.iter().map(|q| self.commute(q)).collect();
        let n = hash.len() as f64;
        let penalty = if c.enable_hashjoin { 0.0 } else { 1e10 };
        let startup =
            rp.startup + lp.total + lp.rows * (c.cpu_operator * n + c.cpu_tuple) + penalty;
        out.paths.add(Path {
            kind: PathKind::Hash {
                jointype: JoinType::Right,
                outer: rp.clone(),
                inner: lp.clone(),
                clauses: flipped?,
                join_quals: rest.to_vec(),
                quals: Vec::new(),
                inner_unique: false,
            },
            relids: out.relids.clone(),
            rows: out.rows,
            width: lp.width + rp.width,
            startup,
            total: startup
                + (rp.total - rp.startup)
                + rp.rows * c.cpu_operator * n
                + out.rows * (c.cpu_tuple + rest_cost),
            order: Vec::new(),
            outer: Relids::new(),
        });
        Ok(())
    }

    /// The inner path as a nested loop would run it, and the cost of each further run.
    fn rescan(&mut self, p: &PathRef, parameterised: bool) -> (PathRef, f64) {
        let c = self.costs();
        if parameterised || !c.enable_material || !p.outer.is_empty() {
            // A warm cache makes later runs of a parameterised index scan cheaper; be moderate.
            let again = if parameterised { p.total * 0.7 } else { p.total };
            return (p.clone(), again);
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
        let again = p.rows * c.cpu_operator;
        if cheap {
            return (p.clone(), again.max(p.rows * c.cpu_tuple * 0.5));
        }
        let mut m = (**p).clone();
        m.total += 2.0 * c.cpu_operator * p.rows;
        m.kind = PathKind::Material { child: p.clone() };
        (Rc::new(m), again)
    }

    /// The conditions that a hash join can use, outer side on the left, and the others.
    fn hash_clauses(
        &mut self,
        l: &JoinRel,
        r: &JoinRel,
        quals: &[Expr],
    ) -> Result<(Vec<Expr>, Vec<Expr>)> {
        let mut hash = Vec::new();
        let mut rest = Vec::new();
        for q in quals {
            let mut usable = None;
            if let Expr::OpExpr(op) = q
                && let [a, b] = op.args.as_slice()
            {
                let facts = self.facts.operator(op.opno)?;
                let (ra, rb) = (relids_of(a), relids_of(b));
                if self.can_hash(op)? && !ra.is_empty() && !rb.is_empty() {
                    if ra.is_subset(&l.relids) && rb.is_subset(&r.relids) {
                        usable = Some(q.clone());
                    } else if ra.is_subset(&r.relids)
                        && rb.is_subset(&l.relids)
                        && facts.commutator.is_valid()
                    {
                        usable = Some(self.commute(q)?);
                    }
                }
            }
            match usable {
                Some(u) => hash.push(u),
                None => rest.push(q.clone()),
            }
        }
        Ok((hash, rest))
    }

    /// Can the equality be tested by hashes? Rows and arrays have them only if all of their parts do.
    /// Counterpart: `op_hashjoinable`.
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

    /// Does at most one row of a base relation match the conditions for given outer values?
    fn inner_is_unique(&mut self, root: &Root, r: &JoinRel, quals: &[Expr]) -> Result<bool> {
        let mut it = r.relids.iter();
        let (Some(rti), None) = (it.next(), it.next()) else { return Ok(false) };
        let Some(table) = root.rels.get(rti).and_then(|rel| rel.table.clone()) else {
            return Ok(false);
        };
        for index in
            table.indexes.iter().filter(|i| i.unique && i.immediate && i.predicate.is_empty())
        {
            let mut all = true;
            for key in &index.keys {
                let mut hit = false;
                for q in quals {
                    let Expr::OpExpr(op) = q else { continue };
                    let [a, b] = op.args.as_slice() else { continue };
                    // The value that the key equals must be one for all rows of the relation.
                    let is_key = |key_side: &Expr, other: &Expr| {
                        crate::scan::is_index_key(key_side, *rti, key)
                            && !relids_of(other).contains(rti)
                    };
                    if is_key(a, b) || is_key(b, a) {
                        hit |= self.facts.strategy(op.opno, key.opfamily)? == Some(3);
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

/// The path with conditions on what it yields: an outer join tests them itself.
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
        _ => PathKind::Filter { child: p.clone(), quals: more.to_vec() },
    }
}

/// All ordered pairs of different numbers below `n`.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j)
}

/// Does `a` need columns of `b`?
fn depends(a: &JoinRel, b: &JoinRel) -> bool {
    !a.paths.paths.is_empty() && a.paths.paths.iter().all(|p| !p.outer.is_disjoint(&b.relids))
}

/// Conditions that a parameterised inner scan has not tested already.
fn strip_satisfied(quals: &[Expr], inner: &Path) -> Vec<Expr> {
    let m = match &inner.kind {
        PathKind::Index { m, .. } => m,
        PathKind::Memoize { child, .. } => return strip_satisfied(quals, child),
        PathKind::Tid { tid_quals, .. } => {
            return quals.iter().filter(|q| !tid_quals.contains(q)).cloned().collect();
        }
        PathKind::Bitmap { bitmap, .. } => {
            return quals.iter().filter(|q| !bitmap.guarantees(q)).cloned().collect();
        }
        _ => return quals.to_vec(),
    };
    quals
        .iter()
        .filter(|q| !m.quals.iter().any(|t| !t.lossy && t.original == **q))
        .cloned()
        .collect()
}
