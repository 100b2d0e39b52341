//! Join order search: dynamic programming over subsets, or a greedy search for long lists.
//! Counterpart: joinrels.c (`join_search_one_level`), geqo.

use crate::clause::{Clause, Clauses};
use crate::join::{EXHAUSTIVE_MAX, JoinRel, JoinUses};
use crate::specialjoin::SpecialJoinRel;
use crate::state::{Planner, PlannerInfo};
use pgerror::{PgError, Result};
use plan::expr::Expr;
use plan::query::JoinType;
use querytree::relids::Relids;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::rc::Rc;

/// State of the exhaustive search. A subset is a mask: bit `i` is `rels[i]`.
struct Subsets<'a> {
    rels: Vec<JoinRel>,
    /// Their right sides are the last elements of `rels`, in the same order.
    special_joins: Vec<SpecialJoinRel>,
    quals: Vec<SubsetQual>,
    uses: &'a JoinUses,
    /// The joins found so far, indexed by mask.
    best: Vec<Option<JoinRel>>,
}

/// A condition of the search.
struct SubsetQual {
    clause: Rc<Clause>,
    /// The subset of its relations.
    mask: usize,
}

impl Subsets<'_> {
    /// The special join whose right side is this subset.
    fn special_join(&self, mask: usize) -> Option<&SpecialJoinRel> {
        if !mask.is_power_of_two() {
            return None;
        }
        let plain = self.rels.len() - self.special_joins.len();
        self.special_joins.get((mask.trailing_zeros() as usize).wrapping_sub(plain))
    }

    /// The conditions tested by a join of two subsets, one of each equivalence class. With `added`,
    /// conditions on the right subset alone are included, because its columns become available in
    /// this join.
    fn between(&self, left: usize, right: usize, added: bool) -> Vec<Rc<Clause>> {
        let mut here = Vec::new();
        let mut classes: SmallVec<[usize; 8]> = SmallVec::new();
        for SubsetQual { clause, mask } in &self.quals {
            if mask & !(left | right) != 0 || mask & !left == 0 || (mask & !right == 0 && !added) {
                continue;
            }
            match clause.class {
                Some(class) if classes.contains(&class) => continue,
                Some(class) => classes.push(class),
                None => {}
            }
            here.push(clause.clone());
        }
        here
    }

    /// True if a condition, LATERAL or a special join connects two subsets. Counterpart:
    /// `have_relevant_joinclause`, `have_join_order_restriction`.
    fn are_connected(&self, left: usize, right: usize) -> bool {
        let (Some(l), Some(r)) = (&self.best[left], &self.best[right]) else { return false };
        let special = |mask, rel: &JoinRel| {
            self.special_join(mask).is_some_and(|f| f.min_left.is_subset(&rel.relids))
        };
        self.quals
            .iter()
            .any(|q| q.mask & left != 0 && q.mask & right != 0 && q.mask & !(left | right) == 0)
            || special(right, l)
            || special(left, r)
            || depends(l, r)
            || depends(r, l)
    }

    /// True if a condition, LATERAL or a special join connects the subset with others.
    fn has_connections(&self, mask: usize) -> bool {
        let Some(rel) = &self.best[mask] else { return false };
        let lateral = |other: &Option<JoinRel>| {
            other.as_ref().is_some_and(|other| depends(rel, other) || depends(other, rel))
        };
        let plain = self.rels.len() - self.special_joins.len();
        // A special join whose right side is in the subset is done.
        let joins_next = |(i, f): (usize, &SpecialJoinRel)| {
            mask >> (plain + i) & 1 == 0 && !f.min_left.is_disjoint(&rel.relids)
        };
        self.special_join(mask).is_some()
            || self.special_joins.iter().enumerate().any(joins_next)
            || self.quals.iter().any(|q| q.mask & mask != 0 && q.mask & !mask != 0)
            || (0..self.rels.len()).any(|i| mask >> i & 1 == 0 && lateral(&self.best[1 << i]))
    }

    /// The pairs of subsets whose joins give subsets of this size: with single relations first,
    /// then those of larger subsets. A subset that nothing connects with others is joined with all
    /// single relations. `everywhere`: all pairs count as connected.
    fn pairs(&self, levels: &[Vec<usize>], size: usize, everywhere: bool) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        let connected = |l: usize, r: usize| l & r == 0 && (everywhere || self.are_connected(l, r));
        for (i, &old) in levels[size - 1].iter().enumerate() {
            let free = !self.has_connections(old);
            let others = if size == 2 && !free { &levels[1][i + 1..] } else { &levels[1][..] };
            for &other in others {
                let known = size == 2 && out.contains(&(other, old));
                if !known && (connected(old, other) || (free && old & other == 0)) {
                    out.push((old, other));
                }
            }
        }
        for k in 2..=size / 2 {
            let other_level = size - k;
            for (i, &old) in levels[k].iter().enumerate() {
                if !everywhere && !self.has_connections(old) {
                    continue;
                }
                let others =
                    if k == other_level { &levels[k][i + 1..] } else { &levels[other_level][..] };
                let joins = others.iter().filter(|other| connected(old, **other));
                out.extend(joins.map(|&other| (old, other)));
            }
        }
        out
    }

    /// The pairs of a subset and a single relation whose joins give subsets of this size.
    fn cartesian_pairs(&self, levels: &[Vec<usize>], size: usize) -> Vec<(usize, usize)> {
        let olds = levels[size - 1].iter();
        olds.flat_map(|&old| {
            let others = levels[1].iter().filter(move |other| old & **other == 0);
            others.map(move |&other| (old, other))
        })
        .collect()
    }
}

impl Planner<'_> {
    /// Joins the relations of each sublist, then the remaining ones.
    pub(crate) fn search_lists(
        &mut self,
        root: &mut PlannerInfo,
        mut rels: Vec<JoinRel>,
        lists: &[Relids],
        quals: &[Expr],
        uses: &JoinUses,
    ) -> Result<JoinRel> {
        for list in lists {
            let Some(at) = rels.iter().position(|r| r.relids.is_subset(list)) else { continue };
            let (members, others): (Vec<_>, Vec<_>) =
                rels.into_iter().partition(|r| r.relids.is_subset(list));
            rels = others;
            rels.insert(at, self.search_list(root, members, quals, uses)?);
        }
        self.search_list(root, rels, quals, uses)
    }

    fn search_list(
        &mut self,
        root: &mut PlannerInfo,
        mut rels: Vec<JoinRel>,
        quals: &[Expr],
        uses: &JoinUses,
    ) -> Result<JoinRel> {
        match rels.len() {
            1 => Ok(rels.swap_remove(0)),
            ..=EXHAUSTIVE_MAX => self.search_exhaustively(root, rels, Vec::new(), quals, uses),
            _ => self.search_greedily(root, rels, quals, uses),
        }
    }

    /// Finds the best of all join orders. The right side of a special join is joined to any subset
    /// that has the relations that it requires.
    pub(crate) fn search_exhaustively(
        &mut self,
        root: &mut PlannerInfo,
        mut rels: Vec<JoinRel>,
        mut special_joins: Vec<SpecialJoinRel>,
        quals: &[Expr],
        uses: &JoinUses,
    ) -> Result<JoinRel> {
        self.set_clauses(root, &mut special_joins)?;
        rels.extend(special_joins.iter().map(|f| f.right.clone()));
        let of = |rti: i32| rels.iter().position(|r| r.relids.contains(&rti));
        let clauses = self.clauses(root, quals)?;
        let about = |clause: Rc<Clause>| {
            let mask = clause.relids.iter().try_fold(0, |mask, rti| Some(mask | 1 << of(rti)?))?;
            Some(SubsetQual { clause, mask })
        };
        let quals = clauses.into_iter().filter_map(about).collect();
        let full = (1usize << rels.len()) - 1;
        let mut best = vec![None; full + 1];
        rels.iter().enumerate().for_each(|(i, r)| best[1 << i] = Some(r.clone()));
        let mut subsets = Subsets { rels, special_joins, quals, uses, best };
        // With LATERAL references, joins without a condition may be necessary: try again with
        // Cartesian products everywhere.
        for everywhere in [false, true] {
            if subsets.best[full].is_some() {
                break;
            }
            self.search_levels(root, &mut subsets, everywhere)?;
        }
        let joined = subsets.best[full].take();
        joined.ok_or_else(|| PgError::internal("no way to join all relations"))
    }

    /// Builds subsets of increasing size, in PostgreSQL's order: the first pair that gives a subset
    /// determines its number of rows, and of equally good paths the first is kept. Counterpart:
    /// `join_search_one_level`.
    fn search_levels(
        &mut self,
        root: &PlannerInfo,
        subsets: &mut Subsets<'_>,
        everywhere: bool,
    ) -> Result<()> {
        let n = subsets.rels.len();
        let mut levels: Vec<Vec<usize>> = vec![Vec::new(), (0..n).map(|i| 1 << i).collect()];
        for size in 2..=n {
            let pairs = subsets.pairs(&levels, size, everywhere);
            let mut made = self.join_all(root, subsets, &pairs)?;
            if made.is_empty() {
                let pairs = subsets.cartesian_pairs(&levels, size);
                made = self.join_all(root, subsets, &pairs)?;
            }
            levels.push(made);
        }
        Ok(())
    }

    /// Joins the pairs. Returns the new subsets, in the order of their first pairs.
    fn join_all(
        &mut self,
        root: &PlannerInfo,
        subsets: &mut Subsets<'_>,
        pairs: &[(usize, usize)],
    ) -> Result<Vec<usize>> {
        let mut joined: Vec<(usize, JoinRel)> = Vec::new();
        // The index in `joined` of each subset.
        let mut at: HashMap<usize, usize> = HashMap::new();
        for &(left, right) in pairs {
            let mask = left | right;
            let mut out = at.get(&mask).map(|&i| std::mem::take(&mut joined[i].1));
            let known = out.is_some();
            self.join_pair(root, subsets, left, right, &mut out)?;
            let Some(out) = out else { continue };
            if known {
                joined[at[&mask]].1 = out;
            } else {
                at.insert(mask, joined.len());
                joined.push((mask, out));
            }
        }
        for (_, rel) in &mut joined {
            self.finish_parts(root, rel)?;
        }
        joined.retain(|(_, rel)| !rel.paths.paths.is_empty());
        let masks = joined.iter().map(|(mask, _)| *mask).collect();
        joined.into_iter().for_each(|(mask, rel)| subsets.best[mask] = Some(rel));
        Ok(masks)
    }

    /// Adds the joins of two subsets, in both directions. `out` is the join found so far.
    fn join_pair(
        &mut self,
        root: &PlannerInfo,
        subsets: &Subsets<'_>,
        left: usize,
        right: usize,
        out: &mut Option<JoinRel>,
    ) -> Result<()> {
        for (l, r) in [(left, right), (right, left)] {
            let (Some(f), Some(rel)) = (subsets.special_join(r), &subsets.best[l]) else {
                continue;
            };
            // The right side of another special join must be joined to its own left side first.
            if subsets.special_join(l).is_none() && f.min_left.is_subset(&rel.relids) {
                let above = match f.adds_columns() {
                    true => subsets.between(l, r, true),
                    false => Vec::new(),
                };
                self.special_join_paths(root, rel, f, &above, subsets.uses, out)?;
                return self.unique_paths(root, f, rel, subsets.uses, out);
            }
        }
        let is_special = |mask| subsets.special_join(mask).is_some();
        let (Some(l), Some(r)) = (&subsets.best[left], &subsets.best[right]) else { return Ok(()) };
        if is_special(left) || is_special(right) {
            return Ok(());
        }
        let here = subsets.between(left, right, false);
        if out.is_none() {
            let rows = self.join_rows(root, JoinType::Inner, l, r, &here)?;
            *out = Some(JoinRel { rows, ..JoinRel::of(l, r, subsets.uses) });
        }
        if let Some(target) = out {
            self.join_paths(root, JoinType::Inner, l, r, &here, target)?;
            self.join_paths(root, JoinType::Inner, r, l, &here, target)?;
        }
        Ok(())
    }

    /// Joins the pair with the fewest rows until one relation is left. The joins of all pairs are
    /// cached: each step computes only those with the new relation.
    pub(crate) fn search_greedily(
        &mut self,
        root: &mut PlannerInfo,
        rels: Vec<JoinRel>,
        quals: &[Expr],
        uses: &JoinUses,
    ) -> Result<JoinRel> {
        let quals = self.clauses(root, quals)?;
        let all = rels.iter().fold(Relids::new(), |all, r| all.union(&r.relids));
        let mut rels: Vec<(usize, JoinRel)> = rels.into_iter().enumerate().collect();
        let mut next = rels.len();
        // `None`: no condition connects the pair, or it cannot be joined yet.
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
                        let (l, r) = (&rels[i].1, &rels[j].1);
                        let made = self.greedy_pair(root, l, r, (&all, &quals), uses, false)?;
                        tried.insert(key, made);
                    }
                    let fresh;
                    let made = match cartesian {
                        false => tried.get(&key).and_then(Option::as_ref),
                        true => {
                            let (l, r) = (&rels[i].1, &rels[j].1);
                            fresh = self.greedy_pair(root, l, r, (&all, &quals), uses, true)?;
                            fresh.as_ref()
                        }
                    };
                    if let Some(made) = made
                        && best.as_ref().is_none_or(|b| is_better(made, &b.2))
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

    /// The join of two relations. `None` if no condition connects them (unless `cartesian`), or if
    /// every path needs further relations of `all` (LATERAL), which must be joined first.
    fn greedy_pair(
        &mut self,
        root: &mut PlannerInfo,
        l: &JoinRel,
        r: &JoinRel,
        (all, quals): (&Relids, &Clauses),
        uses: &JoinUses,
        cartesian: bool,
    ) -> Result<Option<JoinRel>> {
        self.host.check_interrupts()?;
        let applies = |need: &Relids| {
            !need.is_subset(&l.relids)
                && !need.is_subset(&r.relids)
                && need.is_subset(&l.relids.union(&r.relids))
        };
        let mut here: Vec<Rc<Clause>> = Vec::new();
        for q in quals.iter().filter(|q| applies(&q.relids)) {
            if q.class.is_none() || here.iter().all(|h| h.class != q.class) {
                here.push(q.clone());
            }
        }
        let connected = !here.is_empty() || depends(l, r) || depends(r, l);
        if !connected && !cartesian {
            return Ok(None);
        }
        let rows = self.join_rows(root, JoinType::Inner, l, r, &here)?;
        let mut out = JoinRel { rows, ..JoinRel::of(l, r, uses) };
        self.join_paths(root, JoinType::Inner, l, r, &here, &mut out)?;
        self.join_paths(root, JoinType::Inner, r, l, &here, &mut out)?;
        self.finish_parts(root, &mut out)?;
        Ok(out.paths.paths.iter().any(|p| p.outer.is_disjoint(all)).then_some(out))
    }
}

/// All pairs `(i, j)` with `i < j < n`.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

/// True if join `a` has fewer rows than `b`, or the same number at a lower cost.
fn is_better(a: &JoinRel, b: &JoinRel) -> bool {
    let cost = |rel: &JoinRel| rel.paths.cheapest().map_or(f64::INFINITY, |p| p.total);
    a.rows < b.rows || (a.rows == b.rows && cost(a) < cost(b))
}

/// True if all paths of `a` need columns of `b`.
fn depends(a: &JoinRel, b: &JoinRel) -> bool {
    !a.paths.paths.is_empty() && a.paths.paths.iter().all(|p| !p.outer.is_disjoint(&b.relids))
}
