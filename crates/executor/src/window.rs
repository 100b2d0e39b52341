//! Window functions. The input is sorted by partition and order columns. Each partition is read
//! completely, and each function computes a column of results for it. Counterpart: nodeWindowAgg.c.
//!
//! If few rows are requested (LIMIT) and no result depends on all rows of the partition, only a
//! prefix of the partition is read, as short as in PostgreSQL if it is short. If more rows are
//! requested, the number of rows that have been read is at least doubled and the results are
//! computed again.

use crate::frame;
use crate::frame::{FrameClause, FrameCursor, FrameEnd, Partition, RangeOrder};
use crate::node::{ChildColumns, Exec, Node, batch_for, compile, compile_all};
use crate::project::Projection;
use crate::run::Run;
use crate::sort::group_keys;
use crate::winfn::WindowCall;
use eval::{EvalState, Program, Resolve, RowInput, Selection, Slot, Source, select_into};
use pgerror::{PgError, Result};
use plan::expr::{Expr, Var, WindowFunc};
use plan::node::{Plan, WindowAgg};
use plan::walk;
use rowops::keys::Keys;
use rowops::spill::RowStore;
use types::{BATCH_ROWS_MAX, Batch, Column, Datum};

/// Number of rows after which the run condition is first tested.
const EARLY_ROWS: usize = 256;

/// From this number of rows of a partition on, it is at least doubled before the results are
/// computed again.
const EXACT_ROWS: usize = 16;
/// Number of rows that are read one by one until enough results are final.
const EXACT_STEPS: usize = 64;

/// Input columns of the node's target list: the child's columns, then the functions' results.
struct WindowColumns {
    width: usize,
    funcs: Vec<WindowFunc>,
}

impl Resolve for WindowColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        Ok(Slot { source: Source::Scan, column: var.varattno as usize - 1 })
    }

    fn window_func(&mut self, w: &WindowFunc) -> Result<Slot> {
        match self.funcs.iter().position(|f| f == w) {
            Some(i) => Ok(Slot { source: Source::Scan, column: self.width + i }),
            None => Err(PgError::internal("window function that was not collected")),
        }
    }
}

fn collect(e: &Expr, found: &mut Vec<WindowFunc>) {
    match e {
        Expr::WindowFunc(w) => {
            if !found.contains(w) {
                found.push((**w).clone());
            }
        }
        _ => walk::each_child(e, &mut |c| collect(c, found)),
    }
}

/// The remaining rows of an input batch: its row `at` is the first one of the next partition.
struct Pending {
    batch: Batch,
    at: usize,
}

/// A partition with its results. For each function there is a store with one batch of results for
/// each batch of rows.
struct Ready {
    p: Partition,
    results: Vec<RowStore>,
    /// The next row to return, as a batch and the row's number in it.
    batch: usize,
    at: usize,
    /// Number of rows whose results are final.
    known: usize,
    /// If a RANGE offset ends the frames: number of rows whose frames are final, and the end of the
    /// last of these.
    ended: usize,
    ends: FrameCursor,
    /// All rows of the partition have been read.
    complete: bool,
    /// The last row read, in a batch of its own.
    before: Option<Batch>,
}

impl Ready {
    /// Number of rows returned so far.
    fn given(&self) -> usize {
        self.p.batch_starts.get(self.batch).map_or(self.p.len, |start| start + self.at)
    }
}

/// A run condition: after the first row for which it is not true, no row of the partition is
/// returned.
struct RunCondition {
    program: Program,
    state: EvalState,
    rows: Selection,
    /// It can be tested before the partition is complete, because results depend only on preceding
    /// rows.
    early: bool,
}

impl RunCondition {
    /// Number of rows before the first one for which it is not true.
    fn passing(&mut self, rows: &Batch, run: &mut Run<'_>) -> Result<usize> {
        select_into(&self.program, &mut self.state, run, rows, &mut self.rows)?;
        let in_front = self.rows.iter().enumerate().take_while(|(i, r)| *i == usize::from(**r));
        Ok(in_front.count())
    }
}

pub(crate) struct WindowNode {
    child: Node,
    partition: (Keys, Vec<usize>),
    order: (Keys, Vec<usize>),
    options: i32,
    offsets: [Option<Program>; 2],
    range: Option<RangeOrder>,
    clause: Option<FrameClause>,
    calls: Vec<WindowCall>,
    projection: Projection,
    run_condition: Option<RunCondition>,
    /// No result depends on all rows of the partition, and results may be computed again.
    streams: bool,
    /// See [`Exec::set_bound`]; the second value is the number of rows that may still be read in
    /// this scan.
    bound: Option<usize>,
    left: Option<usize>,
    /// An empty batch of the child's columns.
    template: Batch,
    pending: Option<Pending>,
    ready: Option<Ready>,
    done: bool,
}

impl WindowNode {
    pub(crate) fn boxed(
        plan: &Plan,
        w: &WindowAgg,
        child: Node,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let below = &w.child.info.target_list;
        let mut cols = WindowColumns { width: below.len(), funcs: Vec::new() };
        let targets = plan.info.target_list.iter().map(|t| &t.expr);
        for e in targets.chain(&plan.info.qual).chain(&w.run_condition) {
            collect(e, &mut cols.funcs);
        }
        let mut calls = Vec::new();
        for f in &cols.funcs {
            calls.push(WindowCall::new(f, run)?);
        }
        let mut offsets = [None, None];
        for (slot, e) in offsets.iter_mut().zip([&w.start_offset, &w.end_offset]) {
            if let Some(e) = e {
                *slot = Some(compile(e, &mut ChildColumns { outer: Source::Scan }, run)?);
            }
        }
        let range = match w.order.cols.first() {
            Some(&c) if w.frame_options & frame::option::RANGE != 0 => Some(RangeOrder {
                column: c as usize - 1,
                start: frame::in_range_function(w.start_in_range_func, run)?,
                end: frame::in_range_function(w.end_in_range_func, run)?,
                collation: w.in_range_coll,
                ascending: w.in_range_asc,
                nulls_first: w.in_range_nulls_first,
            }),
            _ => None,
        };
        let run_condition = match w.run_condition.as_slice() {
            [] => None,
            conditions => Some(RunCondition {
                program: compile_all(conditions, &mut cols, run)?,
                state: EvalState::default(),
                rows: Selection::new(),
                early: w.partition.cols.is_empty()
                    && calls.iter().all(WindowCall::depends_on_preceding_only),
            }),
        };
        let streams = run_condition.is_none() && calls.iter().all(|c| c.streams(w.frame_options));
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        Ok(Box::new(WindowNode {
            child,
            partition: group_keys(&w.partition, below, run)?,
            order: group_keys(&w.order, below, run)?,
            options: w.frame_options,
            offsets,
            range,
            clause: None,
            calls,
            projection,
            run_condition,
            streams,
            bound: None,
            left: None,
            template: batch_for(below, run)?,
            pending: None,
            ready: None,
            done: false,
        }))
    }

    /// Evaluates the frame's offsets, once per scan.
    fn prepare(&mut self, run: &mut Run<'_>) -> Result<()> {
        let mut values = [Datum::Null, Datum::Null];
        for ((v, p), which) in values.iter_mut().zip(&self.offsets).zip(["starting", "ending"]) {
            if let Some(p) = p {
                let mut st = EvalState::default();
                *v = p.eval_row(&mut st, run, &RowInput::EMPTY)?.into_owned();
                frame::check_offset(self.options, which, v)?;
            }
        }
        let [start, end] = values;
        let range = self.range.take();
        self.clause = Some(FrameClause { options: self.options, start, end, range });
        Ok(())
    }

    /// Begins the next partition; `None` if there is none.
    fn begin(&mut self, want: usize, run: &mut Run<'_>) -> Result<Option<Ready>> {
        let mut ready = Ready {
            p: Partition::new(RowStore::new(run.sv.work_mem())),
            results: Vec::new(),
            batch: 0,
            at: 0,
            known: 0,
            ended: 0,
            ends: FrameCursor::default(),
            complete: false,
            before: None,
        };
        self.read_more(&mut ready, want, run)?;
        Ok((ready.p.len() > 0).then_some(ready))
    }

    /// Reads more of the partition until the results of further rows are final, and computes them.
    fn read_more(&mut self, ready: &mut Ready, want: usize, run: &mut Run<'_>) -> Result<()> {
        let given = ready.given();
        let few = self.left.or((want < BATCH_ROWS_MAX).then_some(want)).filter(|_| self.streams);
        let end = self.clause.as_ref().map_or(FrameEnd::Partition, FrameClause::frame_end);
        let ordered = !self.order.1.is_empty();
        let of_frame = self.clause.as_ref().map_or(0, |c| c.rows_after(ordered));
        let after = self.calls.iter().map(|c| c.rows_after(end)).fold(of_frame, usize::max);
        let mut target = few.map(|few| {
            let least = (given + few).saturating_add(after);
            if ready.p.len < EXACT_ROWS { least } else { least.max(2 * ready.p.len) }
        });
        let mut steps = 0;
        loop {
            ready.complete = self.gather(ready, target, run)?;
            ready.known = self.final_rows(ready, end, run)?;
            let some = ready.known > given;
            let enough = few.is_none_or(|few| ready.known >= given.saturating_add(few));
            if ready.complete || enough || some && steps >= EXACT_STEPS {
                break;
            }
            let len = ready.p.len;
            target = Some(if steps < EXACT_STEPS { len + 1 } else { 2 * len });
            steps += 1;
        }
        ready.results.clear();
        if let Some(clause) = &self.clause
            && ready.p.len > 0
        {
            for c in &mut self.calls {
                ready.results.push(c.values(clause, &ready.p, run)?);
            }
        }
        Ok(())
    }

    /// Number of leading rows of the partition whose results are final.
    fn final_rows(&mut self, ready: &mut Ready, end: FrameEnd, run: &mut Run<'_>) -> Result<usize> {
        let Ready { p, ended, ends, complete, .. } = ready;
        if *complete {
            return Ok(p.len);
        }
        if let (FrameEnd::Range, Some(clause)) = (end, &self.clause)
            && self.calls.iter().any(WindowCall::uses_frame)
        {
            *ended = ends.advance_known(clause, p, *ended, run)?;
        }
        Ok(self.calls.iter().map(|c| c.final_rows(end, p, *ended)).min().unwrap_or(p.len))
    }

    /// Reads the partition to its end, or until it has at least `target` rows; true at its end.
    fn gather(
        &mut self,
        ready: &mut Ready,
        target: Option<usize>,
        run: &mut Run<'_>,
    ) -> Result<bool> {
        let Ready { p, before, .. } = ready;
        let mut rows = self.template.clone();
        let mut next_look = EARLY_ROWS;
        let mut complete = true;
        while !self.done {
            let missing = target.map_or(BATCH_ROWS_MAX, |t| t.saturating_sub(p.len));
            if missing == 0 {
                complete = false;
                break;
            }
            let (batch, from) = match self.pending.take() {
                Some(x) => (x.batch, x.at),
                None => match self.child.next(run, missing.min(BATCH_ROWS_MAX))? {
                    Some(b) => {
                        run.interrupts()?;
                        (b, 0)
                    }
                    None => {
                        self.done = true;
                        break;
                    }
                },
            };
            if from == batch.len {
                continue;
            }
            let to = self.partition_end(p, before, &batch, from, run)?;
            if to > from {
                *before = Some(batch.gather(&[to as u16 - 1]));
            }
            if to < batch.len {
                append(p, &mut rows, &batch, from, to, run)?;
                self.pending = Some(Pending { batch, at: to });
                break;
            }
            if from == 0 && rows.len == 0 && batch.len >= BATCH_ROWS_MAX / 2 {
                p.len += batch.len;
                p.push(run, batch)?;
            } else {
                append(p, &mut rows, &batch, from, to, run)?;
            }
            if p.len >= next_look && self.run_condition.as_ref().is_some_and(|c| c.early) {
                // Each test computes all results again, so the interval is doubled.
                next_look = 2 * p.len;
                if rows.len > 0 {
                    let fresh = rows.empty_like();
                    p.push(run, std::mem::replace(&mut rows, fresh))?;
                }
                self.done = self.is_over(p, run)?;
            }
        }
        if rows.len > 0 {
            p.push(run, rows)?;
        }
        Ok(complete)
    }

    /// True if the run condition is not true for the last row read.
    fn is_over(&mut self, p: &Partition, run: &mut Run<'_>) -> Result<bool> {
        let (Some(clause), Some(last)) = (&self.clause, p.len().checked_sub(1)) else {
            return Ok(false);
        };
        let (batch, at) = p.at(last)?;
        let mut out = batch.gather(&[at as u16]);
        let number = p.batch_starts.len() - 1;
        for c in &mut self.calls {
            let mut values = c.values(clause, p, run)?;
            let Some(values) = values.get(number)? else {
                return Err(PgError::internal("window function without values"));
            };
            out.columns.push(values.columns[0].gather(&[at as u16]));
        }
        let Some(condition) = &mut self.run_condition else { return Ok(false) };
        Ok(condition.passing(&out, run)? == 0)
    }

    /// The number of the row of `batch`, starting at `from`, with which the partition ends; records
    /// the starts of peer groups.
    fn partition_end(
        &self,
        p: &mut Partition,
        before: &Option<Batch>,
        batch: &Batch,
        from: usize,
        run: &mut Run<'_>,
    ) -> Result<usize> {
        for r in from..batch.len {
            let prev = match before {
                _ if r > from => (batch, r - 1),
                Some(b) => (b, 0),
                None => {
                    p.group_starts.push(0);
                    continue;
                }
            };
            let (keys, cols) = &self.partition;
            if !same(keys, cols, prev, (batch, r), run)? {
                return Ok(r);
            }
            let (keys, cols) = &self.order;
            if !same(keys, cols, prev, (batch, r), run)? {
                p.group_starts.push(p.len + r - from);
            }
        }
        Ok(batch.len)
    }
}

/// Appends rows `from..to` of a batch to the partition; `rows` is the partition's last batch, which
/// is not full yet.
fn append(
    p: &mut Partition,
    rows: &mut Batch,
    batch: &Batch,
    mut from: usize,
    to: usize,
    run: &mut Run<'_>,
) -> Result<()> {
    while from < to {
        let end = to.min(from + BATCH_ROWS_MAX - rows.len);
        rows.extend_range(batch, from, end);
        p.len += end - from;
        if rows.is_full() {
            let fresh = rows.empty_like();
            p.push(run, std::mem::replace(rows, fresh))?;
        }
        from = end;
    }
    Ok(())
}

fn same(
    keys: &Keys,
    cols: &[usize],
    a: (&Batch, usize),
    b: (&Batch, usize),
    run: &mut Run<'_>,
) -> Result<bool> {
    let left = cols.iter().map(|&c| a.0.get(a.1, c));
    let right = cols.iter().map(|&c| b.0.get(b.1, c));
    keys.equal(left, right, run.sv)
}

impl Exec for WindowNode {
    fn is_volatile(&self) -> bool {
        self.projection.is_volatile()
            || self.calls.iter().any(WindowCall::is_volatile)
            || self.child.is_volatile()
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        if self.clause.is_none() {
            self.prepare(run)?;
        }
        let mut ready = match self.ready.take() {
            Some(r) => r,
            None if self.done => return Ok(None),
            None => match self.begin(want, run)? {
                Some(r) => r,
                None => return Ok(None),
            },
        };
        if !ready.complete && ready.given() >= ready.known {
            self.read_more(&mut ready, want, run)?;
            // The partition had no further rows.
            if ready.given() >= ready.known {
                return self.next(run, want);
            }
        }
        let Some(rows) = ready.p.rows.get_mut().get(ready.batch)? else {
            return Err(PgError::internal("window partition without rows"));
        };
        let known = ready.known - ready.p.batch_starts[ready.batch];
        let from = ready.at;
        let end = (from + want.min(BATCH_ROWS_MAX)).min(rows.len).min(known);
        let mut out = rows.empty_like();
        out.extend_range(&rows, from, end);
        for r in &mut ready.results {
            let Some(values) = r.get(ready.batch)? else {
                return Err(PgError::internal("window function without values"));
            };
            let mut column = Column::new(values.columns[0].is_by_val());
            column.extend_range(&values.columns[0], from, end);
            out.columns.push(column);
        }
        ready.at = end;
        if end >= rows.len {
            ready.batch += 1;
            ready.at = 0;
        }
        let mut over = ready.complete && ready.given() >= ready.known;
        if let Some(condition) = &mut self.run_condition {
            let passing = condition.passing(&out, run)?;
            if passing < out.len {
                out.truncate(passing);
                over = true;
                // Without PARTITION BY there are no further rows.
                self.done |= self.partition.1.is_empty();
            }
        }
        if !over {
            self.ready = Some(ready);
        }
        self.left = self.left.map(|left| left.saturating_sub(out.len));
        self.projection.apply(run, out).map(Some)
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.bound = bound.filter(|_| !self.projection.has_filter());
        self.left = self.bound;
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        if let Some(c) = self.clause.take() {
            self.range = c.range;
        }
        self.pending = None;
        self.ready = None;
        self.left = self.bound;
        self.done = false;
        self.projection.restart();
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        if let Some(c) = self.clause.take() {
            self.range = c.range;
        }
        self.pending = None;
        self.ready = None;
        self.left = self.bound;
        self.done = false;
        self.projection.restart();
        self.child.reset(run)
    }
}
