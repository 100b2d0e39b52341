//! Aggregates over window frames.
//!
//! The state of a row's frame is reused for the next row: rows that enter at the end of the frame
//! are added, and rows that leave at its start are removed if the aggregate has an inverse
//! transition function. Otherwise, and with an exclusion clause, the frame is aggregated again.
//! Counterpart: nodeWindowAgg.c (`eval_windowaggregates`).

use crate::accum::{Acc, Groups};
use crate::aggfn::{AggCall, argument_types};
use crate::frame::{FrameClause, FrameCursor, Partition, option, without_excluded};
use crate::node::NoScanColumns;
use crate::run::Run;
use crate::winfn::Results;
use eval::{Resolve, Volatility, volatility};
use pgerror::Result;
use plan::expr::{Aggref, Expr, WindowFunc};
use smallvec::SmallVec;
use std::ops::Range;
use types::{BATCH_ROWS_MAX, Batch, Column};

/// Number of rows between two checks for interrupts.
const INTERRUPT_CHECK_ROWS: usize = 64 * BATCH_ROWS_MAX;

/// An aggregate called as a window function.
pub(crate) struct FrameAggregate {
    plain: AggCall,
    /// The moving-aggregate variant, which has an inverse transition function.
    moving: Option<AggCall>,
    /// The final function of the plain variant modifies the state, and that of the moving variant
    /// does not.
    prefers_moving: bool,
    /// Arguments or filter contain volatile functions or sub-selects: they are evaluated row by
    /// row, and evaluated again each time a frame is aggregated from the start.
    unstable: bool,
    scratch: Scratch,
}

/// Buffers for the arguments of rows.
#[derive(Default)]
struct Scratch {
    columns: Vec<Column>,
    selection: Vec<u16>,
    /// Rows since the last check for interrupts.
    unchecked_rows: usize,
}

impl FrameAggregate {
    pub(crate) fn new(
        w: &WindowFunc,
        agg: &Aggref,
        cols: &mut dyn Resolve,
        run: &mut Run<'_>,
    ) -> Result<FrameAggregate> {
        let plain = AggCall::new(agg, cols, &mut NoScanColumns, run)?;
        let mut unstable = false;
        for e in w.args.iter().chain(&w.aggfilter) {
            unstable = unstable
                || plan::walk::any(e, &mut |x| matches!(x, Expr::SubPlan(_) | Expr::SubLink(_)))
                || volatility(e, run.sv.as_facts())? == Volatility::Volatile;
        }
        let types = argument_types(agg);
        let info = run.sv.moving_aggregate(agg.aggfnoid, &types)?;
        let prefers_moving = info.as_ref().is_some_and(|i| i.final_read_only)
            && !run.sv.aggregate(agg.aggfnoid, &types)?.final_read_only;
        let moving = match info {
            Some(info) if !unstable || prefers_moving => {
                Some(AggCall::moving(agg, info, cols, run)?)
            }
            _ => None,
        };
        Ok(FrameAggregate { plain, moving, prefers_moving, unstable, scratch: Scratch::default() })
    }

    /// Computes the aggregate for all rows of the partition.
    pub(crate) fn values(
        &mut self,
        clause: &FrameClause,
        p: &Partition,
        run: &mut Run<'_>,
        out: &mut Results<'_>,
    ) -> Result<()> {
        let fixed_start = clause.options & option::START_UNBOUNDED_PRECEDING != 0;
        let call = match &mut self.moving {
            Some(m) if !fixed_start || self.prefers_moving => m,
            _ => &mut self.plain,
        };
        let (acc, no_group) = (Acc::new(call), Batch { len: 1, columns: Vec::new() });
        let (step, scratch) = (if self.unstable { 1 } else { BATCH_ROWS_MAX }, &mut self.scratch);
        let mut state = FrameState { call, acc, p, step, included: None, scratch };
        let excluding = clause.options & option::EXCLUSION != 0;
        let mut cursor = FrameCursor::default();
        for g in 0..p.group_starts.len() {
            for i in p.group(g) {
                state.count_rows(1, run)?;
                let frame = cursor.frame(clause, p, i, g, run)?;
                if excluding {
                    state.restart();
                    for part in without_excluded(clause.options, &frame, i, p.group(g)) {
                        state.add(part, run)?;
                    }
                } else {
                    state.move_to(frame, run)?;
                }
                state.acc.results(state.call, 0, 1, &no_group, out.column(), run)?;
                out.pushed(run)?;
            }
        }
        Ok(())
    }
}

/// Transition state of a frame.
struct FrameState<'a> {
    call: &'a mut AggCall,
    acc: Acc,
    p: &'a Partition,
    /// Maximum number of rows that are evaluated together.
    step: usize,
    /// The rows in the state; `None` if it is invalid.
    included: Option<Range<usize>>,
    scratch: &'a mut Scratch,
}

impl FrameState<'_> {
    /// Counts processed rows, and checks for interrupts every [`INTERRUPT_CHECK_ROWS`].
    fn count_rows(&mut self, rows: usize, run: &mut Run<'_>) -> Result<()> {
        self.scratch.unchecked_rows += rows;
        if self.scratch.unchecked_rows >= INTERRUPT_CHECK_ROWS {
            self.scratch.unchecked_rows = 0;
            run.interrupts()?;
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.acc.clear();
        self.acc.grow(1, self.call);
        self.included = None;
    }

    /// Changes the state to that of the rows `frame`.
    fn move_to(&mut self, frame: Range<usize>, run: &mut Run<'_>) -> Result<()> {
        let from = match self.included.take() {
            Some(old) if old.end > frame.end || old.start > frame.start => None,
            Some(old) if old.start == frame.start => Some(old.end),
            // Removing rows is worthwhile only if no more rows leave the frame than remain in it.
            Some(old)
                if self.call.is_moving()
                    && old.end > frame.start
                    && frame.start - old.start <= old.end - frame.start =>
            {
                self.retract(old.start..frame.start, run)?.then_some(old.end)
            }
            _ => None,
        };
        let from = match from {
            Some(from) => from,
            None => {
                self.restart();
                frame.start
            }
        };
        self.add(from..frame.end, run)?;
        self.included = Some(frame);
        Ok(())
    }

    /// Adds rows to the state.
    fn add(&mut self, rows: Range<usize>, run: &mut Run<'_>) -> Result<()> {
        self.each_part(rows, run, |acc, call, len, args, run| {
            acc.advance(call, Groups::One(0, len), args, run)?;
            Ok(true)
        })?;
        Ok(())
    }

    /// Removes rows from the state; false if that is impossible.
    fn retract(&mut self, rows: Range<usize>, run: &mut Run<'_>) -> Result<bool> {
        self.each_part(rows, run, |acc, call, len, args, run| acc.retract(call, len, args, run))
    }

    /// Calls `f` with the number and the arguments of the rows that pass the filter, batch by
    /// batch, until it returns false.
    fn each_part(
        &mut self,
        rows: Range<usize>,
        run: &mut Run<'_>,
        mut f: impl FnMut(&mut Acc, &mut AggCall, usize, &[&Column], &mut Run<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let mut at = rows.start;
        while at < rows.end {
            let (batch, from) = self.p.at(at)?;
            let to = batch.len.min(from + (rows.end - at).min(self.step));
            at += to - from;
            self.count_rows(to - from, run)?;
            let args = &mut self.scratch.columns;
            let sel = &mut self.scratch.selection;
            let len = arguments(self.call, &batch, from..to, (args, sel), run)?;
            if len == 0 {
                continue;
            }
            let whole = len == batch.len;
            let refs: SmallVec<[&Column; 4]> = (0..self.call.arg_count())
                .map(|i| match self.call.arg_column(i) {
                    Some(c) if whole => &batch.columns[c],
                    _ => &args[i],
                })
                .collect();
            if !f(&mut self.acc, self.call, len, &refs, run)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Evaluates the arguments for those of `rows` that pass the filter, and returns their number. If
/// all rows of the batch pass, arguments that are columns of the batch are not copied.
fn arguments(
    call: &mut AggCall,
    batch: &Batch,
    rows: Range<usize>,
    (args, sel): (&mut Vec<Column>, &mut Vec<u16>),
    run: &mut Run<'_>,
) -> Result<usize> {
    let whole = rows.len() == batch.len;
    sel.clear();
    sel.extend(rows.start as u16..rows.end as u16);
    let filtered = call.filtered(run, batch, (!whole).then_some(&sel[..]))?;
    if let Some(kept) = filtered {
        *sel = kept;
    }
    if sel.is_empty() {
        return Ok(0);
    }
    let whole = sel.len() == batch.len;
    let dense = sel.len() == rows.len();
    args.resize_with(call.arg_count(), || Column::new(true));
    for (i, to) in args.iter_mut().enumerate() {
        match call.arg_column(i) {
            Some(_) if whole => {}
            Some(c) => {
                let from = &batch.columns[c];
                if to.is_by_val() != from.is_by_val() {
                    *to = Column::new(from.is_by_val());
                }
                to.clear();
                if dense {
                    to.extend_range(from, rows.start, rows.end);
                } else {
                    to.extend_rows(from, sel);
                }
            }
            None => *to = call.all_values(i, run, batch, (!whole).then_some(&sel[..]))?,
        }
    }
    Ok(sel.len())
}
