//! Paths that join two relations: nested loops and hash joins here, merge joins and Memoize in
//! `merge`. Counterpart: joinpath.c, costsize.c.

use crate::clause::{Clause, Clauses};
pub(crate) use crate::hashcost::DISABLE_COST;
use crate::hashcost::HashClauses;
use crate::join::JoinRel;
use crate::merge::{MemoKeys, memoized};
use crate::partappend::{dummy_path, is_dummy};
use crate::specialjoin::SemiAntiFactors;
use crate::state::{Planner, PlannerInfo};
use eval::Volatility;
use pgerror::Result;
use plan::expr::Expr;
use plan::query::{JoinType, RteKind};
use querytree::path::{HashPath, JoinPath, Path, PathKind, PathProperties, PathRef, PathSet};
use querytree::relids::Relids;
use querytree::vars::relids_of;
use smallvec::SmallVec;
use std::rc::Rc;

/// A join whose paths are being created. Counterpart: `JoinPathExtraData`.
pub(crate) struct JoinInput<'a> {
    pub jointype: JoinType,
    /// The outer side, and the inner one.
    pub l: &'a JoinRel,
    pub r: &'a JoinRel,
    pub clauses: &'a Clauses,
    /// At most one inner row is needed for each outer row.
    pub inner_unique: bool,
}

impl JoinInput<'_> {
    /// The relations outside the join whose columns a join of the two paths needs; `None` if the
    /// paths cannot be joined. Parameters that the outer side does not provide are allowed only for
    /// LATERAL, or if an inner scan uses columns of several relations (star join). Counterpart:
    /// `try_nestloop_path`.
    fn required_outer(&self, lp: &Path, rp: &Path, lateral: &Relids) -> Option<Relids> {
        if !lp.outer.is_disjoint(&self.r.relids) {
            return None;
        }
        let parameterized = !rp.outer.is_disjoint(&lp.relids);
        let mut outer = match rp.outer.is_subset(&lp.relids) {
            true => Relids::new(),
            false => rp.outer.difference(&lp.relids),
        };
        let star = parameterized && !outer.is_empty();
        outer.add(&lp.outer);
        let allowed = outer.is_empty() || !outer.is_disjoint(lateral) || star;
        allowed.then_some(outer)
    }

    pub(crate) fn path(
        &self,
        outer: PathRef,
        inner: PathRef,
        join_quals: Vec<Rc<Expr>>,
    ) -> JoinPath {
        JoinPath {
            jointype: self.jointype,
            outer,
            inner,
            inner_unique: self.inner_unique,
            join_quals,
            quals: Vec::new(),
        }
    }
}

/// The conditions of a join, divided into those of a hash join and others.
fn hash_clauses(l: &JoinRel, r: &JoinRel, clauses: &Clauses) -> HashClauses {
    let mut out = HashClauses::default();
    for q in clauses {
        match q.for_hash(l, r) {
            Some(usable) => {
                out.clauses.push(usable);
                out.clauses_cost += q.cost;
            }
            None => {
                out.others.push(q.expr.clone());
                out.others_cost += q.cost;
            }
        }
    }
    out
}

/// An inner path of nested loops.
struct InnerSide<'a> {
    path: &'a PathRef,
    /// The join's conditions that the path does not test, and the cost of their test for one row.
    join_quals: Vec<Rc<Expr>>,
    qual_cost: f64,
    rescan: RescanCost,
    /// Set if its rows may be kept in a Memoize node.
    memo_keys: Option<MemoKeys>,
    /// Number of rows that it finds before its filter; known for semi and anti joins.
    found: f64,
}

/// Costs of an inner path's first scan and of each rescan.
struct RescanCost {
    first: f64,
    further: f64,
    /// A Material node keeps its rows.
    keep: bool,
}

/// How a nested loop scans an inner path, with costs.
struct InnerScan<'a> {
    above: Above<'a>,
    startup: f64,
    /// Total cost of the first scan and of each rescan.
    first: f64,
    further: f64,
}

/// The node between an inner path and the nested loop.
enum Above<'a> {
    Nothing,
    Material,
    Memoize(&'a MemoKeys, (f64, f64)),
}

impl InnerScan<'_> {
    /// The path with the node above it.
    fn path(&self, inner: &PathRef) -> PathRef {
        match self.above {
            Above::Nothing => inner.clone(),
            Above::Material => material(inner, self.first),
            Above::Memoize(keys, costs) => memoized(inner, keys, costs),
        }
    }
}

impl Planner<'_> {
    /// Adds all paths that join `l` (outer) with `r` (inner). Counterpart: `add_paths_to_joinrel`.
    pub(crate) fn join_paths(
        &mut self,
        root: &PlannerInfo,
        jointype: JoinType,
        l: &JoinRel,
        r: &JoinRel,
        clauses: &Clauses,
        out: &mut JoinRel,
    ) -> Result<()> {
        self.host.check_interrupts()?;
        if never_joins(jointype, l, r) {
            out.paths = out.paths.above();
            out.paths.add(dummy_path(&out.relids, out.width));
            return Ok(());
        }
        let inner_unique = self.inner_is_unique(root, r, clauses)?
            || matches!(jointype, JoinType::Semi | JoinType::Anti);
        let join = JoinInput { jointype, l, r, clauses, inner_unique };
        self.merge_join_paths(&join, out);
        let hash = hash_clauses(l, r, clauses);
        self.nest_loop_paths(root, &join, &hash, out)?;
        if !hash.clauses.is_empty() {
            self.hash_join_paths(root, &join, &hash, out)?;
            // A left join may also be done as a right join, which hashes the preserved side.
            if jointype == JoinType::Left {
                self.right_hash_join(root, &join, &hash, out)?;
            }
        }
        self.join_partitions(root, jointype, (l, r), clauses, out)
    }

    fn nest_loop_paths(
        &mut self,
        root: &PlannerInfo,
        join: &JoinInput<'_>,
        hash: &HashClauses,
        out: &mut JoinRel,
    ) -> Result<()> {
        let mergeable = || join.clauses.iter().all(|q| q.is_mergeable(join.l, join.r));
        if join.jointype == JoinType::Full && !(hash.clauses.is_empty() && mergeable()) {
            return Ok(());
        }
        let c = self.costs();
        let disabled = if c.enable_nestloop { 0.0 } else { DISABLE_COST };
        let factors = self.factors(root, join, out.rows)?;
        let inner_sides = self.inner_sides(root, join, factors.is_some())?;
        for lp in &join.l.paths.paths {
            let order = out.useful.part_of(&lp.order);
            for side in &inner_sides {
                let rp = side.path;
                let Some(outer) = join.required_outer(lp, rp, &out.lateral) else { continue };
                let parameterized = !rp.outer.is_disjoint(&lp.relids);
                let scan = self.inner_scan(lp, side, factors.as_ref());
                // An estimate of one outer row is often too low. Where a hash join is possible,
                // assume two.
                let risky = !parameterized && !hash.clauses.is_empty();
                let loops = lp.rows.max(if risky { 2.0 } else { 1.0 });
                // The scan for an outer row of a semi or anti join ends at its first match.
                let part = match &factors {
                    Some(f) if !parameterized => f.matched * f.share + (1.0 - f.matched),
                    _ => 1.0,
                };
                let pairs = loops * rp.rows * part;
                let total = lp.total
                    + scan.first
                    + (loops - 1.0) * scan.further * part
                    + pairs * (c.cpu_tuple + side.qual_cost)
                    + disabled;
                let startup = lp.startup + scan.startup + disabled;
                let properties =
                    PathProperties { startup, total, rows: out.rows, order, outer: &outer };
                if !out.paths.would_keep(properties) {
                    continue;
                }
                let inner = scan.path(rp);
                let join_quals = side.join_quals.clone();
                out.paths.add(Path {
                    kind: PathKind::NestLoop(join.path(lp.clone(), inner, join_quals)),
                    relids: out.relids.clone(),
                    rows: out.rows,
                    width: out.width,
                    startup,
                    total,
                    order: order.to_vec(),
                    outer,
                });
            }
        }
        Ok(())
    }

    /// The inner paths to consider for nested loops. `factors`: the join is a semi or anti join.
    fn inner_sides<'a>(
        &mut self,
        root: &PlannerInfo,
        join: &JoinInput<'a>,
        factors: bool,
    ) -> Result<Vec<InnerSide<'a>>> {
        let mut sides = Vec::new();
        for path in best_choices(&join.r.paths) {
            let tests: Vec<&Rc<Clause>> =
                join.clauses.iter().filter(|q| !is_tested(root, q, path, &join.l.relids)).collect();
            // With conditions of the join, the first row for a key need not be the only one that is
            // asked for, and an entry would not be completed.
            let memo_keys = match join.inner_unique && !tests.is_empty() {
                true => None,
                false => self.memo_keys(root, path, join.l)?,
            };
            sides.push(InnerSide {
                path,
                join_quals: tests.iter().map(|q| q.expr.clone()).collect(),
                qual_cost: tests.iter().map(|q| q.cost).sum(),
                rescan: self.rescan(path),
                memo_keys,
                found: if factors { self.rows_found(root, path)? } else { path.rows },
            });
        }
        Ok(sides)
    }

    /// The scan of an inner path, under Material or Memoize where that makes rescans cheaper.
    fn inner_scan<'a>(
        &self,
        lp: &Path,
        side: &'a InnerSide<'_>,
        factors: Option<&SemiAntiFactors>,
    ) -> InnerScan<'a> {
        let rp = side.path;
        let mut scan = InnerScan {
            above: Above::Nothing,
            startup: rp.startup,
            first: rp.total,
            further: rp.total,
        };
        if rp.outer.is_disjoint(&lp.relids) {
            if lp.rows > 1.0 {
                let RescanCost { first, further, keep } = side.rescan;
                (scan.first, scan.further) = (first, further);
                scan.above = if keep { Above::Material } else { Above::Nothing };
            }
            return scan;
        }
        (scan.first, scan.further) = (side.rescan.first, side.rescan.further);
        if lp.outer.is_empty()
            && let Some(keys) = &side.memo_keys
        {
            let costs = self.memo_costs(rp, keys);
            if costs.1 < rp.total {
                (scan.startup, scan.first, scan.further) = (costs.0, costs.1, costs.1);
                scan.above = Above::Memoize(keys, costs);
            }
        }
        if let Some(factors) = factors {
            scan.first = factors.cost(rp, side.found, scan.first);
            scan.further = factors.cost(rp, side.found, scan.further);
        }
        scan
    }

    fn hash_join_paths(
        &mut self,
        root: &PlannerInfo,
        join: &JoinInput<'_>,
        hash: &HashClauses,
        out: &mut JoinRel,
    ) -> Result<()> {
        let keys = self.hash_keys(root, &hash.clauses)?;
        let once = match self.factors(root, join, out.rows)? {
            None if join.inner_unique => {
                let matched = (out.rows / join.l.rows.max(1.0)).min(1.0);
                Some((matched, 1.0))
            }
            factors => factors.map(|f| (f.matched, f.share)),
        };
        // A hash join does not preserve order, so only the best paths of both sides are considered.
        for lp in best_choices(&join.l.paths) {
            for rp in best_choices(&join.r.paths) {
                let Some(outer) = join.required_outer(lp, rp, &out.lateral) else { continue };
                if !rp.outer.is_disjoint(&lp.relids) {
                    continue;
                }
                let (startup, total) = self.hash_join_cost((lp, rp), hash, (&keys, once), out.rows);
                // The output has no order: spilled batches and unmatched inner rows come later.
                let properties =
                    PathProperties { startup, total, rows: out.rows, order: &[], outer: &outer };
                if !out.paths.would_keep(properties) {
                    continue;
                }
                out.paths.add(Path {
                    kind: PathKind::Hash(HashPath {
                        join: join.path(lp.clone(), rp.clone(), hash.others.clone()),
                        clauses: hash.clauses.clone(),
                    }),
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
        Ok(())
    }

    fn right_hash_join(
        &mut self,
        root: &PlannerInfo,
        join: &JoinInput<'_>,
        hash: &HashClauses,
        out: &mut JoinRel,
    ) -> Result<()> {
        let (l, r) = (join.l, join.r);
        let (Some(lp), Some(rp)) = (l.paths.cheapest(), r.paths.cheapest()) else { return Ok(()) };
        let commuted: Vec<_> = join.clauses.iter().filter_map(|q| q.for_hash(r, l)).collect();
        if commuted.len() != hash.clauses.len() {
            return Ok(());
        }
        let keys = self.hash_keys(root, &commuted)?;
        let (startup, total) = self.hash_join_cost((rp, lp), hash, (&keys, None), out.rows);
        out.paths.add(Path {
            kind: PathKind::Hash(HashPath {
                join: JoinPath {
                    jointype: JoinType::Right,
                    outer: rp.clone(),
                    inner: lp.clone(),
                    inner_unique: false,
                    join_quals: hash.others.clone(),
                    quals: Vec::new(),
                },
                clauses: commuted,
            }),
            relids: out.relids.clone(),
            rows: out.rows,
            width: out.width,
            startup,
            total,
            order: Vec::new(),
            outer: Relids::new(),
        });
        Ok(())
    }

    /// Early-termination factors of a semi or anti join; `None` for other joins. Counterpart:
    /// `compute_semi_anti_join_factors`.
    fn factors(
        &mut self,
        root: &PlannerInfo,
        join: &JoinInput<'_>,
        rows: f64,
    ) -> Result<Option<SemiAntiFactors>> {
        let passed = (rows / join.l.rows.max(1.0)).min(1.0);
        let matched = match join.jointype {
            JoinType::Semi => passed,
            JoinType::Anti => 1.0 - passed,
            _ => return Ok(None),
        };
        let selectivity = self.clauses_selectivity(root, join.clauses)?;
        let partners = join.r.rows * selectivity / matched.max(1e-9);
        Ok(Some(SemiAntiFactors { matched, share: 2.0 / (partners.max(1.0) + 1.0) }))
    }

    /// Number of rows that an index path finds before its filter.
    fn rows_found(&mut self, root: &PlannerInfo, path: &Path) -> Result<f64> {
        let (PathKind::Index { quals, .. } | PathKind::Bitmap { quals, .. }) = &path.kind else {
            return Ok(path.rows);
        };
        // The entries found need not be matches of the join.
        if quals.iter().any(|q| !relids_of(q).is_subset(&path.relids)) {
            return Ok(1.0);
        }
        if matches!(path.kind, PathKind::Bitmap { .. }) {
            return Ok(path.rows);
        }
        let Some(rel) = path.relids.first().and_then(|rti| root.rels.get(&rti)) else {
            return Ok(path.rows);
        };
        let tested = self.lookup_selectivity(root, rel.rti, quals)?;
        Ok((path.rows / tested.max(1e-9)).clamp(path.rows, rel.tuples.max(path.rows)))
    }

    /// Costs of scanning an inner path without parameters repeatedly, with a Material node if
    /// that is useful. Counterpart: `cost_rescan`.
    fn rescan(&self, p: &Path) -> RescanCost {
        let c = self.host.costs();
        if matches!(p.kind, PathKind::Function { .. }) {
            // The cost of the functions is all startup cost.
            let further = p.total - p.startup;
            return RescanCost { first: p.total, further, keep: false };
        }
        if !c.enable_material || !p.outer.is_empty() {
            return RescanCost { first: p.total, further: p.total, keep: false };
        }
        let cheap = matches!(
            p.kind,
            PathKind::Material { .. }
                | PathKind::Cte { .. }
                | PathKind::NamedTuplestore { .. }
                | PathKind::WorkTable { .. }
                | PathKind::Values { .. }
                | PathKind::Sort { .. }
        );
        let further = p.rows * c.cpu_operator;
        if cheap {
            let further = further.max(p.rows * c.cpu_tuple * 0.5);
            return RescanCost { first: p.total, further, keep: false };
        }
        RescanCost { first: p.total + 2.0 * c.cpu_operator * p.rows, further, keep: true }
    }

    /// True if at most one row of a table or subquery satisfies the conditions for each outer row.
    /// Counterpart: `innerrel_is_unique`.
    fn inner_is_unique(
        &mut self,
        root: &PlannerInfo,
        r: &JoinRel,
        quals: &Clauses,
    ) -> Result<bool> {
        let mut it = r.relids.iter();
        let (Some(rti), None) = (it.next(), it.next()) else { return Ok(false) };
        let Some(table) = root.rels.get(&rti).and_then(|rel| rel.table.clone()) else {
            let subquery = matches!(root.query.rte(rti).kind, RteKind::Subquery { .. });
            let on = quals.iter().map(|q| &*q.expr);
            return Ok(subquery && self.is_unique_by(&root.query, rti, on)?);
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
                        (!key.collation.is_valid() || key.collation == op.inputcollid)
                            && crate::scan::is_index_key(key_side, rti, key)
                            && !relids_of(other).contains(&rti)
                    };
                    if (is_key(a, b) || is_key(b, a))
                        && eval::volatility(&q.expr, self.host)? != Volatility::Volatile
                    {
                        let strategy = self.host.strategy(op.opno, key.opfamily)?;
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

/// True if the join has no rows, because a side has none. Counterpart: `mark_dummy_rel` in
/// `populate_joinrel_with_paths`.
fn never_joins(jointype: JoinType, l: &JoinRel, r: &JoinRel) -> bool {
    let (l, r) = (is_dummy(&l.paths), is_dummy(&r.paths));
    match jointype {
        JoinType::Inner | JoinType::Semi => l || r,
        JoinType::Left | JoinType::Anti => l,
        JoinType::Right => r,
        JoinType::Full => l && r,
    }
}

/// The paths to consider for a side whose order does not matter: the parameterized paths, and of
/// the others the one with the lowest total cost and the one with the lowest startup cost.
/// Counterpart: joinpath.c (`cheapest_total_inner`).
fn best_choices(paths: &PathSet) -> SmallVec<[&PathRef; 8]> {
    let cheapest = paths.cheapest();
    let soonest = paths.unparameterized().min_by(|a, b| a.startup.total_cmp(&b.startup));
    let is = |p: &PathRef, other: Option<&PathRef>| other.is_some_and(|o| Rc::ptr_eq(p, o));
    let wanted = |p: &&PathRef| !p.outer.is_empty() || is(p, cheapest) || is(p, soonest);
    paths.paths.iter().filter(wanted).collect()
}

/// A path with a Material node above `p`.
fn material(p: &PathRef, total: f64) -> PathRef {
    let kind = PathKind::Material { child: p.clone() };
    Rc::new(Path { kind, total, ..Path::clone(p) })
}

/// True if an inner path tests the condition with the values of the `outer` side.
fn is_tested(root: &PlannerInfo, clause: &Clause, inner: &Path, outer: &Relids) -> bool {
    let in_filter = |quals: &[Expr]| {
        quals.contains(&clause.expr)
            || clause.class.is_some_and(|class| {
                quals.iter().any(|q| {
                    root.class_of_equality(q) == Some(class) && !relids_of(q).is_disjoint(outer)
                })
            })
    };
    match &inner.kind {
        PathKind::Index { m, quals, .. } => {
            m.quals.iter().any(|t| !t.lossy && t.original == *clause.expr)
                || clause.class.is_some_and(|c| root.class_is_tested_by(&m.quals, outer, c))
                || in_filter(quals)
        }
        PathKind::Memoize { child, .. } => is_tested(root, clause, child, outer),
        PathKind::Tid { tid_quals, quals, .. } => {
            tid_quals.contains(&clause.expr) || in_filter(quals)
        }
        PathKind::Subquery { tested, .. } => tested.contains(&clause.expr),
        PathKind::AppendScan { tested, .. } => in_filter(tested),
        PathKind::Bitmap { bitmap, quals, .. } => {
            bitmap.guarantees(&clause.expr) || in_filter(quals)
        }
        _ => false,
    }
}
