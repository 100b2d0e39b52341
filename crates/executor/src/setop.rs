//! INTERSECT, EXCEPT and recursive union. Counterpart: nodeSetOp.c, nodeRecursiveunion.c.

use crate::node::{DeferredError, Exec, Node, batch_for};
use crate::run::Run;
use crate::sort::group_keys;
use eval::Volatility;
use pgerror::{PgError, Result};
use plan::expr::Expr;
use plan::node::{GroupKeys, Plan, PlanNode, SetOpStrategy};
use plan::query::SetOperation;
use rowops::keys::{GroupTable, Keys};
use rowops::spill::RowStore;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch};

/// Hash table of distinct rows.
struct RowSet {
    table: GroupTable,
    rows: Batch,
}

impl RowSet {
    fn new() -> RowSet {
        RowSet { table: GroupTable::new(false), rows: Batch::default() }
    }

    /// The numbers of a batch's rows in the set; rows that are not in the set are added.
    fn row_numbers(
        &mut self,
        batch: &Batch,
        keys: &Keys,
        cols: &[usize],
        run: &mut Run<'_>,
    ) -> Result<Vec<u32>> {
        if self.rows.columns.len() != batch.columns.len() {
            self.rows = batch.empty_like();
        }
        let mut hashes = Vec::new();
        keys.hash_rows(batch, cols, run.sv, &mut hashes)?;
        let mut out = Vec::with_capacity(batch.len);
        for (r, &h) in hashes.iter().enumerate() {
            let rows = &self.rows;
            let found = self.table.find(h, |g| {
                let have = cols.iter().map(|&c| rows.get(g as usize, c));
                keys.equal(have, cols.iter().map(|&c| batch.get(r, c)), run.sv)
            })?;
            out.push(match found {
                Some(g) => g,
                None => {
                    let g = self.rows.len as u32;
                    self.rows.extend_range(batch, r, r + 1);
                    self.table.insert(h, g);
                    g
                }
            });
        }
        Ok(out)
    }
}

/// INTERSECT and EXCEPT: counts each distinct row on both sides and returns the number of copies
/// that the operation requires. Either the input is sorted and one group is counted at a time, or
/// all groups are kept in a hash table.
pub(crate) struct SetOpNode {
    child: Node,
    op: SetOperation,
    all: bool,
    sorted: bool,
    keys: Keys,
    cols: Vec<usize>,
    flag: usize,
    set: RowSet,
    counts: Vec<(u64, u64)>,
    built: bool,
    at: usize,
    /// Sorted input: the rest of the current batch.
    input: Option<(Batch, usize)>,
    ended: bool,
    template: Batch,
}

impl SetOpNode {
    pub(crate) fn boxed(plan: &Plan, child: Node, run: &mut Run<'_>) -> Result<Node> {
        let PlanNode::SetOp { child: child_plan, op, all, keys, flag_col, strategy, .. } =
            &plan.node
        else {
            return Err(PgError::internal("set operation expected"));
        };
        let (op, all, strategy) = (*op, *all, *strategy);
        let targets = &child_plan.info.target_list;
        let (keys, cols) = group_keys(keys, targets, run)?;
        let flag = *flag_col as usize - 1;
        let template = batch_for(&targets[..flag.min(targets.len())], run)?;
        Ok(Box::new(SetOpNode {
            child,
            op,
            all,
            sorted: strategy == SetOpStrategy::Sorted,
            keys,
            cols,
            flag,
            set: RowSet::new(),
            counts: Vec::new(),
            built: false,
            at: 0,
            input: None,
            ended: false,
            template,
        }))
    }

    fn copies(&self, (left, right): (u64, u64)) -> u64 {
        match (self.op, self.all) {
            (SetOperation::Intersect, false) => u64::from(left > 0 && right > 0),
            (SetOperation::Intersect, true) => left.min(right),
            (_, false) => u64::from(left > 0 && right == 0),
            (_, true) => left.saturating_sub(right),
        }
    }

    fn count(&mut self, group: usize, right: bool) {
        let c = &mut self.counts[group];
        if right { c.1 += 1 } else { c.0 += 1 }
    }

    /// Reads sorted rows until the first group is complete.
    fn read_sorted(&mut self, run: &mut Run<'_>) -> Result<()> {
        loop {
            let (b, from) = match self.input.take() {
                Some(x) => x,
                None => match self.child.next(run, BATCH_ROWS_MAX)? {
                    Some(b) => (b, 0),
                    None => {
                        self.ended = true;
                        return Ok(());
                    }
                },
            };
            run.interrupts()?;
            for r in from..b.len {
                let same = self.set.rows.len > 0 && {
                    let rows = &self.set.rows;
                    let have = self.cols.iter().map(|&c| rows.get(0, c));
                    self.keys.equal(have, self.cols.iter().map(|&c| b.get(r, c)), run.sv)?
                };
                if !same {
                    if self.set.rows.len > 0 {
                        self.input = Some((b, r));
                        return Ok(());
                    }
                    self.set.rows = b.empty_like();
                    self.set.rows.extend_range(&b, r, r + 1);
                    self.counts.push((0, 0));
                }
                self.count(0, b.get(r, self.flag).as_i32() != 0);
            }
        }
    }
}

impl Exec for SetOpNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if !self.sorted && !std::mem::replace(&mut self.built, true) {
            while let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? {
                run.interrupts()?;
                let numbers = self.set.row_numbers(&b, &self.keys, &self.cols, run)?;
                self.counts.resize(self.set.rows.len, (0, 0));
                for (r, &at) in numbers.iter().enumerate() {
                    self.count(at as usize, b.get(r, self.flag).as_i32() != 0);
                }
            }
        }
        let mut out = self.template.clone();
        while out.len < want {
            if self.at >= self.counts.len() {
                if !self.sorted || self.ended {
                    break;
                }
                self.at = 0;
                self.counts.clear();
                self.set.rows.clear();
                self.read_sorted(run)?;
                continue;
            }
            let copies = self.copies(self.counts[self.at]);
            if copies == 0 {
                self.at += 1;
                continue;
            }
            for (c, column) in out.columns.iter_mut().enumerate() {
                column.push(self.set.rows.get(self.at, c));
            }
            out.len += 1;
            // Further copies are returned by the next iterations.
            if copies == 1 {
                self.at += 1;
            } else {
                let spend = &mut self.counts[self.at];
                spend.0 -= 1;
                if self.op == SetOperation::Intersect {
                    spend.1 -= 1;
                }
            }
        }
        Ok(if out.len == 0 { None } else { Some(out) })
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.set = RowSet::new();
        self.counts.clear();
        self.built = false;
        self.at = 0;
        self.input = None;
        self.ended = false;
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.set = RowSet::new();
        self.counts = Vec::new();
        self.built = false;
        self.at = 0;
        self.input = None;
        self.ended = false;
        self.child.reset(run)
    }
}

/// Recursive union: returns the rows of the non-recursive term; then each round runs the recursive
/// term over the working table, which has the rows of the previous round.
pub(crate) struct RecursiveUnionNode {
    outer: Node,
    inner: Node,
    wt_param: i32,
    dedup: Option<(Keys, Vec<usize>)>,
    seen: RowSet,
    /// Rows of the current round, the working table of the next one.
    next_round: RowStore,
    /// The non-recursive term is being read.
    starting: bool,
    /// The recursive term has not run, so it needs no rescan before the next round.
    inner_fresh: bool,
    done: bool,
    /// Several rounds may be computed before their rows are requested.
    combines_rounds: bool,
    /// Number of rows to combine into the next batch.
    combine_goal: usize,
    deferred: DeferredError,
}

impl RecursiveUnionNode {
    pub(crate) fn boxed(
        plan: &Plan,
        outer: Node,
        inner: Node,
        wt_param: i32,
        dedup: &GroupKeys,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let dedup = if dedup.cols.is_empty() {
            None
        } else {
            Some(group_keys(dedup, &plan.info.target_list, run)?)
        };
        let combines_rounds = match plan.children().as_slice() {
            [_, inner] => may_run_ahead(inner, run)?,
            _ => false,
        };
        Ok(Box::new(RecursiveUnionNode {
            combines_rounds,
            outer,
            inner,
            wt_param,
            dedup,
            seen: RowSet::new(),
            next_round: RowStore::new(run.sv.work_mem()),
            starting: true,
            inner_fresh: true,
            done: false,
            combine_goal: 1,
            deferred: DeferredError::default(),
        }))
    }

    /// UNION: the rows that are not duplicates of earlier ones.
    fn new_rows(&mut self, batch: Batch, run: &mut Run<'_>) -> Result<Batch> {
        let Some((keys, cols)) = &self.dedup else { return Ok(batch) };
        let before = self.seen.rows.len as u32;
        let numbers = self.seen.row_numbers(&batch, keys, cols, run)?;
        // Of equal new rows, only the first.
        let mut next = before;
        let mut rows: Vec<u16> = Vec::new();
        for (r, &at) in numbers.iter().enumerate() {
            if at == next {
                rows.push(r as u16);
                next += 1;
            }
        }
        Ok(batch.gather(&rows))
    }
}

/// True if rounds may be computed whose rows may never be requested: the recursive term must be
/// cheap and without side effects, that is, a scan of the working table with expressions over its
/// columns.
fn may_run_ahead(plan: &Plan, run: &mut Run<'_>) -> Result<bool> {
    if !matches!(plan.node, PlanNode::WorkTableScan { .. }) {
        return Ok(false);
    }
    for e in plan.info.target_list.iter().map(|t| &t.expr).chain(&plan.info.qual) {
        if plan::walk::any(e, &mut |x| matches!(x, Expr::SubPlan(_)))
            || eval::volatility(e, run.sv.as_facts())? == Volatility::Volatile
        {
            return Ok(false);
        }
    }
    Ok(true)
}

impl RecursiveUnionNode {
    /// The next batch of one round.
    fn step(&mut self, run: &mut Run<'_>) -> Result<Option<Batch>> {
        while !self.done {
            run.interrupts()?;
            let batch = if self.starting {
                self.outer.next(run, BATCH_ROWS_MAX)?
            } else {
                self.inner.next(run, BATCH_ROWS_MAX)?
            };
            match batch {
                Some(b) => {
                    let b = self.new_rows(b, run)?;
                    if b.len > 0 {
                        self.next_round.push(run.sv, Arc::new(b.clone()))?;
                        return Ok(Some(b));
                    }
                }
                None => {
                    self.starting = false;
                    if self.next_round.is_empty() {
                        self.done = true;
                        continue;
                    }
                    let fresh = RowStore::new(run.sv.work_mem());
                    let round = std::mem::replace(&mut self.next_round, fresh);
                    run.st.work_tables.insert(self.wt_param, round);
                    run.invalidate(self.wt_param);
                    if !std::mem::replace(&mut self.inner_fresh, false) {
                        self.inner.rescan(run)?;
                    }
                }
            }
        }
        Ok(None)
    }
}

impl Exec for RecursiveUnionNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        self.deferred.raise()?;
        let Some(mut rows) = self.step(run)? else { return Ok(None) };
        if !self.combines_rounds {
            return Ok(Some(rows));
        }
        // Combine small rounds into one batch. The goal doubles each time, so that little work is
        // wasted if the caller stops early.
        let goal = want.min(self.combine_goal);
        self.combine_goal = (self.combine_goal * 2).min(BATCH_ROWS_MAX);
        while rows.len < goal && !rows.is_full() {
            match self.step(run) {
                Ok(Some(more)) => rows.extend_range(&more, 0, more.len),
                Ok(None) => break,
                Err(e) => {
                    self.deferred.defer(rows.len, Err(e))?;
                    break;
                }
            }
        }
        Ok(Some(rows))
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.seen = RowSet::new();
        self.next_round.clear();
        self.starting = true;
        self.done = false;
        self.combine_goal = 1;
        self.deferred = DeferredError::default();
        self.outer.rescan(run)?;
        if !self.inner_fresh {
            // It is rescanned once more before its first round, because data that it keeps may
            // depend on the working table.
            self.inner.rescan(run)?;
        }
        Ok(())
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.seen = RowSet::new();
        self.next_round.clear();
        self.starting = true;
        self.done = false;
        self.combine_goal = 1;
        self.deferred = DeferredError::default();
        self.inner_fresh = true;
        Ok(self.outer.reset(run)? & self.inner.reset(run)?)
    }
}
