//! Semi, anti and left joins among the relations that are joined in any order: they let rows of
//! their left side through or not, or add columns to them, so that it is the same before or after
//! joins with others. Counterpart: joinrels.c (`join_is_legal`), analyzejoins.c
//! (`reduce_unique_semijoins`).

use crate::clause::Clause;
use crate::glob::*;
use crate::join::{Ends, JoinRel};
use crate::need::Need;
use crate::path::{Path, PathKind, Relids};
use crate::quals::*;
use crate::vars::{push_unique, relids_of};
use pgerror::Result;
use plan::expr::Expr;
use plan::query::JoinType;
use std::rc::Rc;

/// A semi, anti or left join without its left side.
pub(crate) struct Filter {
    jointype: JoinType,
    right: Problem,
    pub quals: Vec<Expr>,
    /// The relations of the left side without which it cannot be tested.
    asks: Relids,
    /// All that the left side was made of.
    left: Relids,
}

/// A filter whose right side is planned.
pub(crate) struct FilterRel {
    jointype: JoinType,
    pub right: JoinRel,
    /// The right side with each value that is asked for once.
    pub unique: Option<JoinRel>,
    quals: Vec<Expr>,
    /// The same for the search, which fills it in.
    pub on: Vec<Rc<Clause>>,
    pub asks: Relids,
}

impl FilterRel {
    /// Are there columns of its right side in what it makes?
    pub(crate) fn adds_columns(&self) -> bool {
        self.jointype == JoinType::Left
    }

    pub(crate) fn conditions(&self) -> &[Expr] {
        &self.quals
    }
}

impl Filter {
    /// The conditions by which relations of the left side may be looked up, once the values of the
    /// right side are unique.
    pub(crate) fn lookups(&self) -> &[Expr] {
        if self.jointype == JoinType::Semi { &self.quals } else { &[] }
    }
}

impl Glob<'_> {
    /// Takes the joins that may wait out of the problem, and leaves what their left sides are made
    /// of. A semi join with at most one partner for each row becomes an inner join.
    pub(crate) fn take_filters(
        &mut self,
        root: &Root,
        problem: &mut Problem,
    ) -> Result<Vec<Filter>> {
        let mut filters = Vec::new();
        // The right sides of left joins that were taken: conditions among the others must not see
        // them.
        let mut added = Relids::new();
        let mut at = 0;
        while at < problem.items.len() {
            self.facts.check_interrupts()?;
            let found = match &problem.items[at] {
                Item::Join(j) if j.is_filter() || may_wait(j, problem) => Some(&**j),
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
            // What runs a query for each row waits for joins that take rows away.
            let waits =
                problem.quals.iter().any(|q| runs_a_query(q) && relids_of(q).is_subset(&left));
            let many = problem.items.len() + filters.len() + j.left.items.len();
            let limit = self.collapse_max();
            if many > limit || width(j, limit) > limit || (waits && !unique) {
                at += 1;
                continue;
            }
            let Item::Join(mut j) = problem.items.remove(at) else { continue };
            let (inner, on) = self.constants_across(&j)?;
            j.right.push_down(inner);
            // In the place of the join, in the order in which they were written.
            problem.items.splice(at..at, std::mem::take(&mut j.left.items));
            problem.quals.append(&mut j.left.quals);
            if unique {
                problem.items.append(&mut j.right.items);
                problem.quals.extend(on);
                problem.quals.append(&mut j.right.quals);
            } else {
                let asks: Relids =
                    on.iter().flat_map(relids_of).filter(|r| left.contains(r)).collect();
                let asks = if asks.is_empty() { left.clone() } else { asks };
                let (jointype, right) = (j.jointype, j.right);
                if jointype == JoinType::Left {
                    added.extend(right.relids());
                }
                filters.push(Filter { jointype, right, quals: on, asks, left });
            }
        }
        Ok(filters)
    }

    pub(crate) fn filter_rels(
        &mut self,
        root: &mut Root,
        filters: Vec<Filter>,
        needed: &[Rc<Need>],
    ) -> Result<Vec<FilterRel>> {
        let mut out = Vec::with_capacity(filters.len());
        // Those that come first are nearer to the left side.
        for f in filters.into_iter().rev() {
            let right = self.right_side(root, f.jointype, f.right, &f.quals, needed)?;
            let mut asks = f.asks;
            asks.extend(right.lateral.intersection(&f.left));
            let unique = match f.jointype {
                JoinType::Semi => self.unique_right(root, &right, &f.quals)?,
                _ => None,
            };
            let (jointype, quals) = (f.jointype, f.quals);
            out.push(FilterRel { jointype, right, unique, quals, on: Vec::new(), asks });
        }
        Ok(out)
    }

    /// Adds the ways to let the filter's rows through of `l`. `above`: conditions on the rows that
    /// a left join makes.
    pub(crate) fn filter_paths(
        &mut self,
        root: &Root,
        l: &JoinRel,
        f: &FilterRel,
        above: &[Rc<Clause>],
        ends: &Ends,
        out: &mut Option<JoinRel>,
    ) -> Result<()> {
        if !above.is_empty() {
            let rows = self.join_rows(root, f.jointype, l, &f.right, &f.on)?;
            let mut joined = JoinRel { rows, ..JoinRel::of(l, &f.right, ends) };
            self.join_paths(root, f.jointype, l, &f.right, &f.on, &mut joined)?;
            let quals: Vec<Expr> = above.iter().map(|c| (*c.expr).clone()).collect();
            let tested = self.filtered(root, joined, &quals)?;
            let Some(target) = out else {
                *out = Some(tested);
                return Ok(());
            };
            for p in tested.paths.paths {
                target.paths.add(Path { rows: target.rows, ..Rc::unwrap_or_clone(p) });
            }
            return Ok(());
        }
        let mut target = match out.take() {
            Some(t) => t,
            None => {
                let rows = self.join_rows(root, f.jointype, l, &f.right, &f.on)?;
                JoinRel { rows, ..JoinRel::of(l, &f.right, ends) }
            }
        };
        self.join_paths(root, f.jointype, l, &f.right, &f.on, &mut target)?;
        if let Some(unique) = &f.unique {
            self.join_paths(root, JoinType::Inner, l, unique, &f.on, &mut target)?;
        }
        *out = Some(target);
        Ok(())
    }

    /// Adds the ways to begin with the unique values of the filter's right side and to find the
    /// rows of `l` that have them.
    pub(crate) fn unique_paths(
        &mut self,
        root: &Root,
        f: &FilterRel,
        l: &JoinRel,
        ends: &Ends,
        out: &mut Option<JoinRel>,
    ) -> Result<()> {
        let Some(unique) = &f.unique else { return Ok(()) };
        let mut target = match out.take() {
            Some(t) => t,
            None => {
                let rows = self.join_rows(root, f.jointype, l, &f.right, &f.on)?;
                JoinRel { rows, ..JoinRel::of(l, &f.right, ends) }
            }
        };
        self.join_paths(root, JoinType::Inner, unique, l, &f.on, &mut target)?;
        *out = Some(target);
        Ok(())
    }

    /// The right side of a semi join with each value that is asked for once: joined with that, each
    /// row has at most one partner, and either side may come first. `None` where the conditions are
    /// more than equalities with its columns. Counterpart: `create_unique_path`.
    pub(crate) fn unique_right(
        &mut self,
        root: &Root,
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
            if !self.can_hash(op)? {
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
        Ok(Some(JoinRel { relids, rows, paths, lateral: Relids::new(), useful }))
    }
}

/// May a left join come before or after joins of its left side with others? Alone it has nothing to
/// wait for.
fn may_wait(j: &JoinItem, problem: &Problem) -> bool {
    j.jointype == JoinType::Left && (problem.items.len() > 1 || j.left.items.len() > 1)
}

/// Items that a join brings into a search of join orders with its two sides; one where these are
/// searched on their own. Counterpart: the joinlist of `deconstruct_recurse`.
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

/// How a semi or anti join reads its inner side: which part of the outer rows has a partner, and
/// which share of an inner side with partners it reads until the first.
pub(crate) struct Stops {
    pub matched: f64,
    pub share: f64,
}

impl Stops {
    /// The cost of a run of an inner path that looks for partners in an index and finds so many
    /// rows, on average. Where there is no partner the index mostly has no entry.
    pub(crate) fn cost(&self, inner: &Path, found: f64, total: f64) -> f64 {
        let run = (total - inner.startup).max(0.0);
        let without = run / found.max(1.0);
        total - run + self.matched * run * self.share + (1.0 - self.matched) * without
    }
}
