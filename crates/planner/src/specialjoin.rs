//! Semi, anti and left joins that take part in the search of join orders. Such a join removes rows
//! of its left side or adds columns to them, so that it commutes with joins of the left side's
//! relations. Counterpart: joinrels.c (`join_is_legal`), analyzejoins.c
//! (`reduce_unique_semijoins`).
//!
//! A "special join" (PostgreSQL's term, `SpecialJoinInfo`) is such a join without its left side.

use crate::clause::Clause;
use crate::join::{JoinFractions, JoinRel, JoinUses};
use crate::need::NeededExpr;
use crate::partwise::translated_all;
use crate::state::{Planner, PlannerInfo};
use eval::Volatility;
use pgerror::Result;
use plan::expr::Expr;
use plan::query::JoinType;
use querytree::path::{Path, PathKind};
use querytree::quals::{Item, JoinItem, Problem};
use querytree::relids::Relids;
use querytree::vars::{push_unique, relids_of};
use std::rc::Rc;

/// A semi, anti or left join without its left side.
pub(crate) struct SpecialJoin {
    jointype: JoinType,
    right: Problem,
    pub quals: Vec<Expr>,
    /// The relations of the left side that must be joined before it. Counterpart:
    /// `SpecialJoinInfo.min_lefthand`.
    min_left: Relids,
    /// All relations of the left side as written. Counterpart: `SpecialJoinInfo.syn_lefthand`.
    left: Relids,
}

/// A special join whose right side is planned.
pub(crate) struct SpecialJoinRel {
    jointype: JoinType,
    pub right: JoinRel,
    /// The right side of a semi join, with duplicates of the compared columns removed.
    pub unique: Option<JoinRel>,
    quals: Vec<Expr>,
    /// `quals` as clauses, and what they select; set by `set_clauses`.
    on: Vec<Rc<Clause>>,
    fractions: JoinFractions,
    pub min_left: Relids,
}

impl SpecialJoinRel {
    /// True if its output has columns of its right side.
    pub(crate) fn adds_columns(&self) -> bool {
        self.jointype == JoinType::Left
    }

    /// The join with `l`, without paths.
    fn joined(&self, l: &JoinRel, uses: &JoinUses) -> JoinRel {
        let rows = self.fractions.rows(self.jointype, l, &self.right);
        JoinRel { rows, ..JoinRel::of(l, &self.right, uses) }
    }
}

impl SpecialJoin {
    /// Conditions by which an index scan of a left-side relation may look up the values of the
    /// right side, if these are made unique.
    pub(crate) fn lookups(&self) -> &[Expr] {
        if self.jointype == JoinType::Semi { &self.quals } else { &[] }
    }
}

impl Planner<'_> {
    /// Removes the joins whose order is free from the problem, and replaces them by the items of
    /// their left sides. A semi join whose right side is unique becomes an inner join.
    pub(crate) fn take_special_joins(
        &mut self,
        root: &PlannerInfo,
        problem: &mut Problem,
    ) -> Result<Vec<SpecialJoin>> {
        let mut taken: Vec<SpecialJoin> = Vec::new();
        // Right sides of left joins that were removed; the right side of a semi join that becomes
        // an inner join must not refer to them.
        let mut added = Relids::new();
        let mut at = 0;
        while at < problem.items.len() {
            self.host.check_interrupts()?;
            let found = match &problem.items[at] {
                Item::Join(j) if j.is_semi_or_anti() || is_reorderable(j, problem) => Some(&**j),
                _ => None,
            };
            let Some(j) = found else {
                at += 1;
                continue;
            };
            let unique = match (j.jointype, j.right.items.as_slice()) {
                (JoinType::Semi, &[Item::Rel(rti)])
                    if j.quals.iter().all(|q| relids_of(q).is_disjoint(&added)) =>
                {
                    self.is_unique_by(&root.query, rti, &j.quals)?
                }
                _ => false,
            };
            let left = j.left.relids();
            let many = problem.items.len() + taken.len() + j.left.items.len();
            let limit = self.collapse_max();
            if many > limit || width(j, limit) > limit {
                at += 1;
                continue;
            }
            let Item::Join(mut j) = problem.items.remove(at) else { continue };
            let (inner, on) = self.constants_across(&j)?;
            j.right.push_down(inner);
            // The left items replace the join, in the order in which they were written.
            problem.items.splice(at..at, std::mem::take(&mut j.left.items));
            problem.quals.append(&mut j.left.quals);
            if unique {
                problem.items.append(&mut j.right.items);
                problem.quals.extend(on);
                problem.quals.append(&mut j.right.quals);
            } else {
                let min_left: Relids =
                    on.iter().flat_map(relids_of).filter(|r| left.contains(r)).collect();
                let min_left = if min_left.is_empty() { left.clone() } else { min_left };
                let (jointype, right) = (j.jointype, j.right);
                if jointype == JoinType::Left {
                    added.extend(right.relids());
                }
                taken.push(SpecialJoin { jointype, right, quals: on, min_left, left });
            }
        }
        Ok(taken)
    }

    pub(crate) fn plan_special_joins(
        &mut self,
        root: &mut PlannerInfo,
        special_joins: Vec<SpecialJoin>,
        needed: &[Rc<NeededExpr>],
    ) -> Result<Vec<SpecialJoinRel>> {
        let mut out = Vec::with_capacity(special_joins.len());
        // Joins that were removed from the problem later are nested more deeply in the left side.
        for f in special_joins.into_iter().rev() {
            let right = self.right_side(root, f.jointype, f.right, &f.quals, needed)?;
            let mut min_left = f.min_left;
            min_left.extend(right.lateral.intersection(&f.left));
            let unique = match f.jointype {
                JoinType::Semi => self.unique_right(root, &right, &f.quals)?,
                _ => None,
            };
            let (jointype, quals) = (f.jointype, f.quals);
            out.push(SpecialJoinRel {
                jointype,
                right,
                unique,
                quals,
                on: Vec::new(),
                fractions: JoinFractions::ALL,
                min_left,
            });
        }
        Ok(out)
    }

    /// Computes the properties of the conditions, once for the whole search. The sizes of all
    /// relations in them must be known.
    pub(crate) fn set_clauses(
        &mut self,
        root: &PlannerInfo,
        special_joins: &mut [SpecialJoinRel],
    ) -> Result<()> {
        for f in special_joins {
            f.on = self.clauses(root, &f.quals)?;
            f.fractions = self.join_fractions(root, f.jointype, &f.right, &f.on)?;
        }
        Ok(())
    }

    /// Adds the paths that join `l` with the special join's right side. `above`: conditions to test
    /// on the output of a left join.
    pub(crate) fn special_join_paths(
        &mut self,
        root: &PlannerInfo,
        l: &JoinRel,
        f: &SpecialJoinRel,
        above: &[Rc<Clause>],
        uses: &JoinUses,
        out: &mut Option<JoinRel>,
    ) -> Result<()> {
        if !above.is_empty() {
            let mut joined = f.joined(l, uses);
            self.join_paths(root, f.jointype, l, &f.right, &f.on, &mut joined)?;
            let quals: Vec<Expr> = above.iter().map(|c| (*c.expr).clone()).collect();
            let tested = self.filtered(root, joined, &quals)?;
            let Some(target) = out else {
                *out = Some(tested);
                return Ok(());
            };
            target.parts.add_paths(&tested.parts);
            for p in tested.paths.paths {
                target.paths.add(Path { rows: target.rows, ..Rc::unwrap_or_clone(p) });
            }
            return Ok(());
        }
        let mut target = out.take().unwrap_or_else(|| f.joined(l, uses));
        self.join_paths(root, f.jointype, l, &f.right, &f.on, &mut target)?;
        if let Some(unique) = &f.unique {
            self.join_paths(root, JoinType::Inner, l, unique, &f.on, &mut target)?;
        }
        *out = Some(target);
        Ok(())
    }

    /// Adds the paths of a semi join with the unique right side as the outer side and `l` as the
    /// inner side.
    pub(crate) fn unique_paths(
        &mut self,
        root: &PlannerInfo,
        f: &SpecialJoinRel,
        l: &JoinRel,
        uses: &JoinUses,
        out: &mut Option<JoinRel>,
    ) -> Result<()> {
        let Some(unique) = &f.unique else { return Ok(()) };
        let mut target = out.take().unwrap_or_else(|| f.joined(l, uses));
        self.join_paths(root, JoinType::Inner, unique, l, &f.on, &mut target)?;
        *out = Some(target);
        Ok(())
    }

    /// The right side of a semi join with duplicates removed: the semi join can then be done as an
    /// inner join with either side as the outer side. `None` unless all conditions are hashable
    /// equalities with its columns. Counterpart: `create_unique_path`.
    pub(crate) fn unique_right(
        &mut self,
        root: &PlannerInfo,
        right: &JoinRel,
        quals: &[Expr],
    ) -> Result<Option<JoinRel>> {
        let mut columns = Vec::new();
        for q in quals {
            let Expr::OpExpr(op) = q else { return Ok(None) };
            let [a, b] = op.args.as_slice() else { return Ok(None) };
            let ours = |e: &Expr| matches!(e, Expr::Var(v) if right.relids.contains(&v.varno));
            let theirs = |e: &Expr| {
                let relids = relids_of(e);
                !relids.is_empty() && relids.is_disjoint(&right.relids)
            };
            let column = match (ours(a) && theirs(b), theirs(a) && ours(b)) {
                (true, _) => a,
                (_, true) => b,
                _ => return Ok(None),
            };
            let volatile = eval::volatility(q, self.host)? == Volatility::Volatile;
            if volatile || !self.can_hash(op)? {
                return Ok(None);
            }
            push_unique(&mut columns, column);
        }
        let mut operators = Vec::new();
        for c in &columns {
            let found = self.operators_of(c.type_oid())?;
            if !found.hashable {
                return Ok(None);
            }
            operators.push(found.eq);
        }
        let free = right.paths.paths.iter().filter(|p| p.outer.is_empty());
        let Some(child) = free.min_by(|a, b| a.total.total_cmp(&b.total)) else { return Ok(None) };
        let c = self.costs();
        let rows = self.group_count(root, &columns, right.rows)?;
        if columns.is_empty()
            || !c.enable_hashagg
            || rows * (f64::from(child.width) + 64.0) > c.hash_mem
        {
            return Ok(None);
        }
        let startup = child.total + right.rows * c.cpu_operator * columns.len() as f64;
        let mut paths = right.paths.above();
        paths.add(Path {
            kind: PathKind::Unique { child: child.clone(), columns, operators },
            relids: right.relids.clone(),
            rows,
            width: child.width,
            startup,
            total: startup + rows * c.cpu_tuple,
            order: Vec::new(),
            outer: Relids::new(),
        });
        let (relids, useful) = (right.relids.clone(), right.useful.clone());
        let (width, lateral) = (child.width, Relids::new());
        let parts = right.parts.map(&mut |child| {
            let members = root.translations_from(&right.relids, &child.relids);
            let own = translated_all(&members, quals)?;
            self.unique_right(root, child, &own)
        })?;
        Ok(Some(JoinRel { relids, rows, width, paths, lateral, useful, parts }))
    }
}

/// True if a left join can be reordered with other joins: there must be other items.
fn is_reorderable(j: &JoinItem, problem: &Problem) -> bool {
    j.jointype == JoinType::Left && (problem.items.len() > 1 || j.left.items.len() > 1)
}

/// Number of items that a join adds to the search of join orders; a nested join that exceeds the
/// limit counts as one, because it is searched on its own. Counterpart: initsplan.c
/// (`deconstruct_recurse`).
fn width(j: &JoinItem, limit: usize) -> usize {
    let of = |side: &Problem| -> usize {
        side.items
            .iter()
            .map(|item| match item {
                Item::Join(j) if j.jointype != JoinType::Full => {
                    match stdx::stack::deep(|| width(j, limit)) {
                        n if n <= limit => n,
                        _ => 1,
                    }
                }
                _ => 1,
            })
            .sum()
    };
    of(&j.left) + of(&j.right)
}

/// Early termination of the inner scan of a semi or anti join. Counterpart: `SemiAntiJoinFactors`.
pub(crate) struct SemiAntiFactors {
    /// Fraction of the outer rows that have a match.
    pub matched: f64,
    /// Fraction of the inner rows that is read until the first match.
    pub share: f64,
}

impl SemiAntiFactors {
    /// Average cost of one scan of a parameterized inner path that finds `found` rows on average
    /// and whose complete scan costs `total`. For an outer row without a match, the scan usually
    /// finds no index entry.
    pub(crate) fn cost(&self, inner: &Path, found: f64, total: f64) -> f64 {
        let run = (total - inner.startup).max(0.0);
        let without = run / found.max(1.0);
        total - run + self.matched * run * self.share + (1.0 - self.matched) * without
    }
}
