//! Merge join: both sides are sorted by the join keys. Counterpart: nodeMergejoin.c.
//!
//! Deviation: instead of mark and restore on the inner side, the inner rows with the current key
//! are kept in a `RowStore` (which spills beyond `work_mem`) while outer rows have that key. Rows
//! with a NULL key match no row.

use crate::instrument::Counts;
use crate::node::{Exec, Node, batch_for, compile};
use crate::pairs::Pairs;
use crate::project::ends_statement;
use crate::readahead::{CAUTIOUS, ReadAhead};
use crate::run::Run;
use crate::sort::slice;
use eval::{EvalState, Program, Resolve, RowRef, Slot, Source};
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{Expr, Var};
use plan::node::{Plan, PlanNode};
use plan::query::JoinType;
use rowops::spill::RowStore;
use std::cmp::Ordering;
use std::sync::Arc;
use types::compare::Comparer;
use types::{Batch, Column, Datum, DatumRef};

/// Resolver for expressions over the columns of one child (`Var::OUTER` or `Var::INNER`).
struct OneSide(i32);

impl Resolve for OneSide {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        if var.varno != self.0 {
            return Err(PgError::internal("merge key over the wrong side"));
        }
        Ok(Slot { source: Source::Scan, column: var.varattno as usize - 1 })
    }
}

#[derive(Clone)]
struct MergeKey {
    /// Compares an outer value with an inner one.
    cmp: Comparer,
    collation: Oid,
    descending: bool,
    nulls_first: bool,
}

/// A child with its keys computed.
struct Input {
    node: Node,
    ahead: ReadAhead,
    keys: Vec<(Program, EvalState)>,
    batch: Batch,
    values: Vec<Column>,
    at: usize,
    /// The rest of a batch with a row whose key cannot be computed, and its next row: these rows
    /// are used one by one, because the join may end before the failing row.
    singles: Option<(Batch, usize)>,
    ended: bool,
}

impl Input {
    fn new(
        node: Node,
        plan: &Plan,
        exprs: &[Expr],
        varno: i32,
        run: &mut Run<'_>,
    ) -> Result<Input> {
        let ahead = ReadAhead::new(plan, &node, CAUTIOUS);
        let mut keys = Vec::new();
        for e in exprs {
            keys.push((compile(e, &mut OneSide(varno), run)?, EvalState::default()));
        }
        let (batch, values, singles) = (Batch::default(), Vec::new(), None);
        Ok(Input { node, ahead, keys, batch, values, at: 0, singles, ended: false })
    }

    /// True if there is a current row; reads the next batch if necessary.
    fn has_row(&mut self, run: &mut Run<'_>) -> Result<bool> {
        while self.at >= self.batch.len {
            if self.ended {
                return Ok(false);
            }
            run.interrupts()?;
            if let Some((rows, at)) = self.singles.take() {
                if at < rows.len {
                    let one = slice(&rows, at, at + 1);
                    self.singles = Some((rows, at + 1));
                    self.compute_keys(run, &one)?;
                    (self.batch, self.at) = (one, 0);
                }
                continue;
            }
            match self.node.next(run, self.ahead.rows())? {
                None => {
                    self.ended = true;
                    return Ok(false);
                }
                Some(b) => match self.compute_keys(run, &b) {
                    Ok(()) => (self.batch, self.at) = (b, 0),
                    // A cancellation is reported only once.
                    Err(e) if b.len < 2 || ends_statement(&e) => return Err(e),
                    Err(_) => self.singles = Some((b, 0)),
                },
            }
        }
        Ok(true)
    }

    fn compute_keys(&mut self, run: &mut Run<'_>, rows: &Batch) -> Result<()> {
        self.values.clear();
        for (p, st) in &mut self.keys {
            self.values.push(p.eval_batch(st, run, rows, None)?);
        }
        Ok(())
    }

    fn row(&self) -> RowRef<'_> {
        RowRef::Batch(&self.batch, self.at)
    }

    fn key(&self) -> impl Iterator<Item = DatumRef<'_>> {
        self.values.iter().map(|c| c.get(self.at))
    }

    fn key_is_null(&self) -> bool {
        self.values.iter().any(|c| c.is_null(self.at))
    }

    fn restart(&mut self) {
        self.batch = Batch::default();
        self.values.clear();
        self.at = 0;
        self.singles = None;
        self.ended = false;
        self.ahead.restart();
    }
}

/// The inner rows with one key.
struct Group {
    key: Vec<Datum>,
    rows: RowStore,
    /// Right and full joins: which of the rows have matched.
    matched: Vec<bool>,
    count: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Find the group of the current outer row.
    Outer,
    /// Join the current outer row with the group: next batch, row in it, and row in the group.
    InGroup(usize, usize, usize),
    /// Return the unmatched rows of the group (position as in `InGroup`), then go to `Outer`.
    UnmatchedInner(usize, usize, usize),
    /// The outer side has ended: return the remaining inner rows.
    RemainingInner,
    Done,
}

pub(crate) struct MergeJoinNode {
    jointype: JoinType,
    outer: Input,
    inner: Input,
    keys: Vec<MergeKey>,
    pairs: Pairs,
    single: bool,
    group: Option<Group>,
    phase: Phase,
    matched: bool,
    template: Batch,
}

impl MergeJoinNode {
    pub(crate) fn boxed(plan: &Plan, outer: Node, inner: Node, run: &mut Run<'_>) -> Result<Node> {
        let PlanNode::MergeJoin {
            jointype,
            join_qual,
            merge_clauses,
            collations,
            descending,
            nulls_first,
            inner_unique,
            outer: outer_plan,
            inner: inner_plan,
            ..
        } = &plan.node
        else {
            return Err(PgError::internal("merge join expected"));
        };
        let mut keys = Vec::new();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (i, clause) in merge_clauses.iter().enumerate() {
            let Expr::OpExpr(op) = clause else {
                return Err(PgError::internal("merge clause is not an operator"));
            };
            left.push(op.args[0].clone());
            right.push(op.args[1].clone());
            let cmp = run
                .sv
                .equality_compare(op.opno, op.args[0].type_oid(), op.inputcollid)?
                .ok_or_else(|| PgError::internal("merge clause that cannot be merged"))?;
            keys.push(MergeKey {
                cmp,
                collation: collations.get(i).copied().unwrap_or_default(),
                descending: descending.get(i).copied().unwrap_or_default(),
                nulls_first: nulls_first.get(i).copied().unwrap_or_default(),
            });
        }
        let semi = matches!(jointype, JoinType::Semi | JoinType::Anti);
        let inner_kept = matches!(jointype, JoinType::Right | JoinType::Full);
        Ok(Box::new(MergeJoinNode {
            jointype: *jointype,
            outer: Input::new(outer, outer_plan, &left, Var::OUTER, run)?,
            inner: Input::new(inner, inner_plan, &right, Var::INNER, run)?,
            keys,
            pairs: Pairs::new(plan, join_qual, run)?,
            single: semi || (*inner_unique && !inner_kept),
            group: None,
            phase: Phase::Outer,
            matched: false,
            template: batch_for(&inner_plan.info.target_list, run)?,
        }))
    }

    fn keeps_inner(&self) -> bool {
        matches!(self.jointype, JoinType::Right | JoinType::Full)
    }

    fn keeps_outer(&self) -> bool {
        matches!(self.jointype, JoinType::Left | JoinType::Full | JoinType::Anti)
    }

    /// True if only rows with a NULL in the first key follow a row with such a key.
    fn nulls_are_last(&self, input: &Input) -> bool {
        let first_is_null = input.values.first().is_some_and(|c| c.is_null(input.at));
        first_is_null && self.keys.first().is_some_and(|k| !k.nulls_first)
    }

    /// Compares the current outer row's key with another key, in sort order.
    fn compare<'v>(&self, other: impl Iterator<Item = DatumRef<'v>>) -> Ordering {
        for ((k, a), b) in self.keys.iter().zip(self.outer.key()).zip(other) {
            let o = k.cmp.order(a, b, k.collation);
            if o.is_ne() {
                return if k.descending { o.reverse() } else { o };
            }
        }
        Ordering::Equal
    }

    /// Finishes the current outer row: returns it null-extended if the join type requires that.
    fn next_outer(&mut self, out: &mut Batch) {
        let emit_outer = match self.jointype {
            JoinType::Left | JoinType::Full | JoinType::Anti => !self.matched,
            JoinType::Semi => self.matched,
            _ => false,
        };
        if emit_outer {
            self.pairs.push(self.outer.row(), RowRef::Nulls, out);
        }
        self.outer.at += 1;
        self.matched = false;
        self.phase = Phase::Outer;
    }

    /// Skips the current inner row, which matches no outer row.
    fn skip_inner(&mut self, out: &mut Batch) {
        if self.keeps_inner() {
            self.pairs.push(RowRef::Nulls, self.inner.row(), out);
        }
        self.inner.at += 1;
    }

    /// Finds the group of the current outer row.
    fn find_group(&mut self, run: &mut Run<'_>, out: &mut Batch) -> Result<()> {
        if !self.outer.has_row(run)? {
            self.phase = match &self.group {
                Some(_) if self.keeps_inner() => Phase::UnmatchedInner(0, 0, 0),
                _ if self.keeps_inner() => Phase::RemainingInner,
                _ => Phase::Done,
            };
            return Ok(());
        }
        if self.outer.key_is_null() {
            let over = self.nulls_are_last(&self.outer);
            if over && matches!(self.jointype, JoinType::Inner | JoinType::Semi) {
                self.phase = Phase::Done;
            } else {
                self.next_outer(out);
            }
            return Ok(());
        }
        if let Some(g) = &self.group {
            if self.compare(g.key.iter().map(Datum::as_ref)).is_eq() {
                self.phase = Phase::InGroup(0, 0, 0);
                return Ok(());
            }
            if self.keeps_inner() {
                self.phase = Phase::UnmatchedInner(0, 0, 0);
                return Ok(());
            }
            self.group = None;
        }
        if !self.inner.has_row(run)? {
            self.end_inner(out);
            return Ok(());
        }
        if self.inner.key_is_null() {
            if !self.keeps_inner() && self.nulls_are_last(&self.inner) {
                self.end_inner(out);
            } else {
                self.skip_inner(out);
            }
            return Ok(());
        }
        match self.compare(self.inner.key()) {
            Ordering::Less => self.next_outer(out),
            Ordering::Greater => self.skip_inner(out),
            Ordering::Equal => {
                self.read_group(run)?;
                self.phase = Phase::InGroup(0, 0, 0);
            }
        }
        Ok(())
    }

    /// No inner row matches the current outer row or a later one.
    fn end_inner(&mut self, out: &mut Batch) {
        if self.keeps_outer() {
            self.next_outer(out);
        } else {
            self.phase = Phase::Done;
        }
    }

    /// Reads the inner rows with the outer row's key into the group.
    fn read_group(&mut self, run: &mut Run<'_>) -> Result<()> {
        let key = self.inner.key().map(DatumRef::to_owned).collect();
        let mut rows = RowStore::new(run.sv.work_mem());
        let mut pending = self.template.clone();
        let mut count = 0;
        while self.inner.has_row(run)?
            && !self.inner.key_is_null()
            && self.compare(self.inner.key()).is_eq()
        {
            let at = self.inner.at;
            pending.extend_range(&self.inner.batch, at, at + 1);
            count += 1;
            self.inner.at += 1;
            if pending.is_full() {
                let full = std::mem::replace(&mut pending, self.template.clone());
                rows.push(run.sv, Arc::new(full))?;
            }
        }
        if pending.len > 0 {
            rows.push(run.sv, Arc::new(pending))?;
        }
        let matched = if self.keeps_inner() { vec![false; count] } else { Vec::new() };
        self.group = Some(Group { key, rows, matched, count });
        Ok(())
    }

    /// Joins the current outer row with the rows of its group.
    fn join_group(
        &mut self,
        run: &mut Run<'_>,
        (mut b, mut r, mut n): (usize, usize, usize),
        want: usize,
        out: &mut Batch,
    ) -> Result<()> {
        let semi = matches!(self.jointype, JoinType::Semi | JoinType::Anti);
        let Some(g) = &mut self.group else { return Err(PgError::internal("group expected")) };
        while let Some(batch) = g.rows.get(b)? {
            while r < batch.len {
                if out.len >= want {
                    self.phase = Phase::InGroup(b, r, n);
                    return Ok(());
                }
                let inner = RowRef::Batch(&batch, r);
                r += 1;
                n += 1;
                let outer = RowRef::Batch(&self.outer.batch, self.outer.at);
                if !self.pairs.matches(run, outer, inner)? {
                    continue;
                }
                self.matched = true;
                if let Some(m) = g.matched.get_mut(n - 1) {
                    *m = true;
                }
                if !semi {
                    self.pairs.push(outer, inner, out);
                }
                if self.single {
                    self.next_outer(out);
                    return Ok(());
                }
            }
            run.interrupts()?;
            b += 1;
            r = 0;
        }
        self.next_outer(out);
        Ok(())
    }

    /// Returns the unmatched rows of the group.
    fn emit_unmatched(
        &mut self,
        (mut b, mut r, mut n): (usize, usize, usize),
        want: usize,
        out: &mut Batch,
    ) -> Result<()> {
        if let Some(g) = &mut self.group
            && g.matched.iter().filter(|m| **m).count() < g.count
        {
            while let Some(batch) = g.rows.get(b)? {
                while r < batch.len {
                    if out.len >= want {
                        self.phase = Phase::UnmatchedInner(b, r, n);
                        return Ok(());
                    }
                    if !g.matched[n] {
                        self.pairs.push(RowRef::Nulls, RowRef::Batch(&batch, r), out);
                    }
                    r += 1;
                    n += 1;
                }
                b += 1;
                r = 0;
            }
        }
        self.group = None;
        self.phase = Phase::Outer;
        Ok(())
    }

    /// Joins until `out` has `want` rows or the input ends.
    fn fill(&mut self, run: &mut Run<'_>, want: usize, out: &mut Batch) -> Result<()> {
        while out.len < want {
            match self.phase {
                Phase::Outer => self.find_group(run, out)?,
                Phase::InGroup(b, r, n) => self.join_group(run, (b, r, n), want, out)?,
                Phase::UnmatchedInner(b, r, n) => self.emit_unmatched((b, r, n), want, out)?,
                Phase::RemainingInner => {
                    if self.inner.has_row(run)? {
                        self.skip_inner(out);
                    } else {
                        self.phase = Phase::Done;
                    }
                }
                Phase::Done => break,
            }
        }
        Ok(())
    }
}

impl Exec for MergeJoinNode {
    fn is_volatile(&self) -> bool {
        self.pairs.is_volatile() || self.outer.node.is_volatile() || self.inner.node.is_volatile()
    }

    fn report(&self, counts: &mut Counts) {
        self.pairs.report(counts);
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.pairs.rest(run)? {
            return Ok(Some(rest));
        }
        let mut out = self.pairs.start();
        let found = self.fill(run, want, &mut out);
        if found.is_ok() && out.len == 0 && self.phase == Phase::Done {
            return Ok(None);
        }
        self.pairs.finish(run, out, found).map(Some)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.group = None;
        self.phase = Phase::Outer;
        self.matched = false;
        self.pairs.restart();
        self.outer.restart();
        self.inner.restart();
        Ok(self.outer.node.reset(run)? & self.inner.node.reset(run)?)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.group = None;
        self.phase = Phase::Outer;
        self.matched = false;
        self.pairs.restart();
        self.outer.restart();
        self.inner.restart();
        self.outer.node.rescan(run)?;
        self.inner.node.rescan(run)
    }
}
