//! The built-in window functions; aggregates as window functions are in `winagg`. Counterpart:
//! windowfuncs.c.

use crate::frame::{FrameClause, FrameCursor, FrameEnd, Partition, option, without_excluded};
use crate::node::{ChildColumns, compile};
use crate::project::is_volatile;
use crate::run::Run;
use crate::winagg::FrameAggregate;
use eval::{Callee, EvalState, Program, RowInput, RowRef, Source, WindowKind};
use ids::Oid;
use ids::code::AggKind;
use pgerror::{PgError, Result, bail};
use plan::expr::{AggSplit, Aggref, Expr, TargetEntry, WindowFunc};
use rowops::spill::RowStore;
use std::ops::Range;
use std::sync::Arc;
use types::{Batch, Column, Datum, DatumRef};

/// One window function of a node.
pub(crate) struct WindowCall {
    how: How,
    by_val: bool,
    /// Arguments and filter are not volatile and may be evaluated several times.
    stable: bool,
    reach: Reach,
}

/// The rows after a row on which its result depends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// At most this number of rows.
    Rows(usize),
    /// Those of its frame.
    Frame,
    /// All rows of the partition.
    Partition,
}

/// The reach of a window function that is not an aggregate.
fn reach_of(kind: WindowKind, args: &[Expr]) -> Reach {
    let by = match args.get(1) {
        None => Some(1),
        Some(Expr::Const(c)) if c.is_null() => Some(0),
        Some(Expr::Const(c)) => Some(i64::from(c.value.as_ref().as_i32())),
        Some(_) => None,
    };
    let following =
        |by: Option<i64>| by.map_or(Reach::Partition, |n| Reach::Rows(n.max(0) as usize));
    match kind {
        WindowKind::RowNumber | WindowKind::Rank | WindowKind::DenseRank => Reach::Rows(0),
        WindowKind::Lag => following(by.map(|n| -n)),
        WindowKind::Lead => following(by),
        WindowKind::FirstValue | WindowKind::LastValue | WindowKind::NthValue => Reach::Frame,
        _ => Reach::Partition,
    }
}

enum How {
    Function { kind: WindowKind, args: Vec<Program>, states: Vec<EvalState> },
    Aggregate(Box<FrameAggregate>),
}

impl WindowCall {
    pub(crate) fn new(w: &WindowFunc, run: &mut Run<'_>) -> Result<WindowCall> {
        let by_val = run.sv.as_facts().type_info(w.wintype)?.by_val;
        let mut cols = ChildColumns { outer: Source::Scan };
        let mut reach = Reach::Frame;
        let how = if w.winagg {
            How::Aggregate(Box::new(FrameAggregate::new(w, &aggregate_of(w), &mut cols, run)?))
        } else {
            let function = run.sv.function(w.winfnoid)?;
            let Callee::Window(kind) = function.callee else {
                return Err(PgError::unsupported(format!("window function {}", function.name)));
            };
            let mut args = Vec::new();
            for a in &w.args {
                args.push(compile(a, &mut cols, run)?);
            }
            reach = reach_of(kind, &w.args);
            let states = args.iter().map(|_| EvalState::default()).collect();
            How::Function { kind, args, states }
        };
        let mut stable = true;
        for e in w.args.iter().chain(&w.aggfilter) {
            stable &= !is_volatile(e, run)?;
        }
        Ok(WindowCall { how, by_val, stable, reach })
    }

    /// True if a row's result depends only on the row and those before it.
    pub(crate) fn depends_on_preceding_only(&self) -> bool {
        let kinds = [WindowKind::RowNumber, WindowKind::Rank, WindowKind::DenseRank];
        matches!(&self.how, How::Function { kind, .. } if kinds.contains(kind))
    }

    /// True if the results of the first rows can be computed before the partition is complete, and
    /// computed again when more rows have been read.
    pub(crate) fn streams(&self, frame_options: i32) -> bool {
        let unbounded = frame_options & option::END_UNBOUNDED_FOLLOWING != 0;
        self.stable && self.reach != Reach::Partition && !(self.reach == Reach::Frame && unbounded)
    }

    pub(crate) fn uses_frame(&self) -> bool {
        self.reach == Reach::Frame
    }

    pub(crate) fn is_volatile(&self) -> bool {
        !self.stable
    }

    /// Number of rows to read after those whose results are requested. It can be too small if peers
    /// or values determine which rows are needed.
    pub(crate) fn rows_after(&self, end: FrameEnd) -> usize {
        match (self.reach, end) {
            (Reach::Rows(n), _) => n,
            (Reach::Partition, _) => 0,
            (Reach::Frame, FrameEnd::Rows(n)) => match self.how {
                // The row after the frame shows where it ends.
                How::Aggregate(_) => n.saturating_add(1),
                How::Function { .. } => n,
            },
            (Reach::Frame, FrameEnd::Groups(_)) => 1,
            (Reach::Frame, _) => 0,
        }
    }

    /// Of the rows of a partition that is not complete, the number of leading ones whose results
    /// are final. `range` is the number of those whose frames are, if a RANGE offset ends them.
    pub(crate) fn final_rows(&self, end: FrameEnd, p: &Partition, range: usize) -> usize {
        match (self.reach, end) {
            (Reach::Rows(n), _) | (Reach::Frame, FrameEnd::Rows(n)) => p.len().saturating_sub(n),
            (Reach::Frame, FrameEnd::Groups(n)) => {
                let complete = p.group_starts.len().saturating_sub(1).saturating_sub(n);
                p.group_starts.get(complete).copied().unwrap_or(0)
            }
            (Reach::Frame, FrameEnd::Before) => p.len(),
            (Reach::Frame, FrameEnd::Range) => range,
            (Reach::Frame, FrameEnd::Partition) | (Reach::Partition, _) => 0,
        }
    }

    /// Computes the function for all rows of the partition.
    pub(crate) fn values(
        &mut self,
        clause: &FrameClause,
        p: &Partition,
        run: &mut Run<'_>,
    ) -> Result<RowStore> {
        let mut out = Results {
            column: Column::new(self.by_val),
            rows: RowStore::new(run.sv.work_mem()),
            partition: p,
        };
        match &mut self.how {
            How::Function { kind, args, states } => {
                Function { kind: *kind, args, states }.values(clause, p, run, &mut out)?;
            }
            How::Aggregate(call) => call.values(clause, p, run, &mut out)?,
        }
        out.flush(run)?;
        Ok(out.rows)
    }
}

/// Writer of a function's results: batches of one column, each with as many rows as the partition's
/// batch with the same number.
pub(crate) struct Results<'p> {
    column: Column,
    rows: RowStore,
    partition: &'p Partition,
}

impl Results<'_> {
    pub(crate) fn push(&mut self, run: &mut Run<'_>, v: DatumRef<'_>) -> Result<()> {
        self.column.push(v);
        self.pushed(run)
    }

    /// The column to which the caller appends one value, followed by a call of
    /// [`Results::pushed`].
    pub(crate) fn column(&mut self) -> &mut Column {
        &mut self.column
    }

    pub(crate) fn pushed(&mut self, run: &mut Run<'_>) -> Result<()> {
        let full = self.column.len() >= self.partition.batch_len(self.rows.len());
        if full { self.flush(run) } else { Ok(()) }
    }

    fn flush(&mut self, run: &mut Run<'_>) -> Result<()> {
        let fresh = Column::new(self.column.is_by_val());
        let column = std::mem::replace(&mut self.column, fresh);
        if column.is_empty() {
            return Ok(());
        }
        self.rows.push(run.sv, Arc::new(Batch { len: column.len(), columns: vec![column] }))
    }
}

/// The aggregate call that is equivalent to a window function call.
fn aggregate_of(w: &WindowFunc) -> Aggref {
    let target = |(i, e): (usize, &Expr)| TargetEntry {
        expr: e.clone(),
        resno: i as i16 + 1,
        resname: None,
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk: false,
    };
    Aggref {
        aggfnoid: w.winfnoid,
        aggtype: w.wintype,
        aggcollid: w.wincollid,
        inputcollid: w.inputcollid,
        aggtranstype: Oid::INVALID,
        aggargtypes: w.args.iter().map(Expr::type_oid).collect(),
        aggdirectargs: Vec::new(),
        args: w.args.iter().enumerate().map(target).collect(),
        aggorder: Vec::new(),
        aggdistinct: Vec::new(),
        aggfilter: w.aggfilter.clone(),
        aggstar: w.winstar,
        aggvariadic: false,
        aggkind: AggKind::Normal,
        agglevelsup: 0,
        aggsplit: AggSplit::Simple,
        aggno: 0,
        aggtransno: 0,
        location: w.location,
    }
}

struct Function<'f> {
    kind: WindowKind,
    args: &'f [Program],
    states: &'f mut [EvalState],
}

/// The rows that first_value, last_value and nth_value count, as up to three ascending ranges. With
/// EXCLUDE TIES PostgreSQL counts the current row if the frame contains any of its peers, even if
/// the row itself is not in the frame; the result of the function is then NULL. Counterpart:
/// nodeWindowAgg.c (`WinGetFuncArgInFrame`).
fn counted_rows(
    options: i32,
    frame: &Range<usize>,
    i: usize,
    peers: Range<usize>,
) -> [Range<usize>; 3] {
    let overlap = peers.start < frame.end && frame.start < peers.end;
    let mut parts = without_excluded(options, frame, i, peers);
    if options & option::EXCLUDE_TIES != 0 && overlap {
        parts[1] = i..i + 1;
    }
    parts
}

impl Function<'_> {
    /// Argument `k` evaluated at row `i`.
    fn arg(&mut self, k: usize, p: &Partition, i: usize, run: &mut Run<'_>) -> Result<Datum> {
        let (batch, at) = p.at(i)?;
        let input = RowInput::scan(RowRef::Batch(&batch, at));
        Ok(self.args[k].eval_row(&mut self.states[k], run, &input)?.into_owned())
    }

    fn values(
        &mut self,
        clause: &FrameClause,
        p: &Partition,
        run: &mut Run<'_>,
        out: &mut Results,
    ) -> Result<()> {
        if self.kind == WindowKind::Ntile {
            return self.ntile(p, run, out);
        }
        let mut cursor = FrameCursor::default();
        let n = p.len();
        for g in 0..p.group_starts.len() {
            let peers = p.group(g);
            for i in peers.clone() {
                if i.is_multiple_of(256) {
                    run.interrupts()?;
                }
                let v = match self.kind {
                    WindowKind::RowNumber => Datum::int8(i as i64 + 1),
                    WindowKind::Rank => Datum::int8(peers.start as i64 + 1),
                    WindowKind::DenseRank => Datum::int8(g as i64 + 1),
                    WindowKind::PercentRank if n <= 1 => Datum::float8(0.0),
                    WindowKind::PercentRank => Datum::float8(peers.start as f64 / (n - 1) as f64),
                    WindowKind::CumeDist => Datum::float8(peers.end as f64 / n as f64),
                    WindowKind::Lag | WindowKind::Lead => self.lag_lead(p, i, run)?,
                    _ => {
                        let frame = cursor.frame(clause, p, i, g, run)?;
                        let parts = counted_rows(clause.options, &frame, i, peers.clone());
                        self.frame_value(p, i, &frame, &parts, run)?
                    }
                };
                out.push(run, v.as_ref())?;
            }
        }
        Ok(())
    }

    /// lag and lead.
    fn lag_lead(&mut self, p: &Partition, i: usize, run: &mut Run<'_>) -> Result<Datum> {
        let mut by = 1;
        if self.args.len() > 1 {
            let v = self.arg(1, p, i, run)?;
            if v.is_null() {
                return Ok(Datum::Null);
            }
            by = i64::from(v.as_ref().as_i32());
        }
        let at = i as i64 + if self.kind == WindowKind::Lag { -by } else { by };
        match usize::try_from(at) {
            Ok(at) if at < p.len() => self.arg(0, p, at, run),
            _ if self.args.len() > 2 => self.arg(2, p, i, run),
            _ => Ok(Datum::Null),
        }
    }

    /// first_value, last_value and nth_value over the rows `parts` of the frame.
    fn frame_value(
        &mut self,
        p: &Partition,
        i: usize,
        frame: &Range<usize>,
        parts: &[Range<usize>],
        run: &mut Run<'_>,
    ) -> Result<Datum> {
        let at = match self.kind {
            WindowKind::LastValue => parts.iter().rev().find(|r| !r.is_empty()).map(|r| r.end - 1),
            WindowKind::NthValue => {
                let nth = self.arg(1, p, i, run)?;
                if nth.is_null() {
                    return Ok(Datum::Null);
                }
                let nth = nth.as_ref().as_i32();
                if nth <= 0 {
                    bail!(
                        INVALID_ARGUMENT_FOR_NTH_VALUE,
                        "argument of nth_value must be greater than zero"
                    );
                }
                let mut left = nth as usize - 1;
                let mut found = None;
                for r in parts {
                    if left < r.len() {
                        found = Some(r.start + left);
                        break;
                    }
                    left -= r.len();
                }
                found
            }
            _ => parts.iter().find(|r| !r.is_empty()).map(|r| r.start),
        };
        match at {
            Some(at) if frame.contains(&at) => self.arg(0, p, at, run),
            _ => Ok(Datum::Null),
        }
    }

    /// ntile; the first row whose argument is not NULL determines the number of buckets.
    fn ntile(&mut self, p: &Partition, run: &mut Run<'_>, out: &mut Results) -> Result<()> {
        let n = p.len() as i64;
        let (mut tile, mut in_tile, mut size, mut larger) = (0i64, 0i64, 0i64, 0i64);
        for i in 0..p.len() {
            if tile == 0 {
                let v = self.arg(0, p, i, run)?;
                if v.is_null() {
                    out.push(run, DatumRef::Null)?;
                    continue;
                }
                let buckets = i64::from(v.as_ref().as_i32());
                if buckets <= 0 {
                    bail!(
                        INVALID_ARGUMENT_FOR_NTILE,
                        "argument of ntile must be greater than zero"
                    );
                }
                tile = 1;
                size = n / buckets;
                if size <= 0 {
                    size = 1;
                } else {
                    // The rows that cannot be divided evenly are in the first buckets.
                    larger = n % buckets;
                    size += i64::from(larger != 0);
                }
            }
            in_tile += 1;
            if in_tile > size {
                if larger != 0 && tile == larger {
                    larger = 0;
                    size -= 1;
                }
                tile += 1;
                in_tile = 1;
            }
            out.push(run, Datum::int4(tile as i32).as_ref())?;
        }
        Ok(())
    }
}
