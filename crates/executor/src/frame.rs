//! Window frames: computes the range of rows of a partition that belongs to a row's frame.
//! Counterpart: nodeWindowAgg.c (update_frameheadpos, update_frametailpos, row_is_in_frame).

use crate::run::Run;
use eval::{CallContext, Callee};
use ids::Oid;
use pgerror::{PgError, Result, bail};
use rowops::spill::RowStore;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use types::builtin::ScalarFn;
use types::{BATCH_ROWS_MAX, Batch, Datum, DatumRef};

/// PostgreSQL's FRAMEOPTION bits (parsenodes.h).
pub(crate) mod option {
    pub const RANGE: i32 = 0x2;
    pub const ROWS: i32 = 0x4;
    pub const GROUPS: i32 = 0x8;
    pub const START_UNBOUNDED_PRECEDING: i32 = 0x20;
    pub const END_UNBOUNDED_FOLLOWING: i32 = 0x100;
    pub const START_CURRENT_ROW: i32 = 0x200;
    pub const END_CURRENT_ROW: i32 = 0x400;
    pub const START_OFFSET_PRECEDING: i32 = 0x800;
    pub const END_OFFSET_PRECEDING: i32 = 0x1000;
    pub const EXCLUDE_CURRENT_ROW: i32 = 0x8000;
    pub const EXCLUDE_GROUP: i32 = 0x1_0000;
    pub const EXCLUDE_TIES: i32 = 0x2_0000;
    pub const EXCLUSION: i32 = EXCLUDE_CURRENT_ROW | EXCLUDE_GROUP | EXCLUDE_TIES;
}

use option::{
    END_CURRENT_ROW, END_OFFSET_PRECEDING, END_UNBOUNDED_FOLLOWING, EXCLUDE_CURRENT_ROW,
    EXCLUDE_TIES, EXCLUSION, GROUPS, RANGE, ROWS, START_CURRENT_ROW, START_OFFSET_PRECEDING,
    START_UNBOUNDED_PRECEDING,
};

/// The rows of a partition and their peer groups.
pub(crate) struct Partition {
    /// Batches of up to [`BATCH_ROWS_MAX`] rows; batches of wide rows are shorter.
    pub rows: RefCell<RowStore>,
    pub len: usize,
    /// First row of each batch.
    pub batch_starts: Vec<usize>,
    /// First row of each peer group.
    pub group_starts: Vec<usize>,
}

impl Partition {
    pub(crate) fn new(rows: RowStore) -> Partition {
        Partition {
            rows: RefCell::new(rows),
            len: 0,
            batch_starts: Vec::new(),
            group_starts: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends a batch, whose rows the caller has already added to `len`.
    pub(crate) fn push(&mut self, run: &mut Run<'_>, batch: Batch) -> Result<()> {
        self.batch_starts.push(self.len - batch.len);
        self.rows.get_mut().push(run.sv, Arc::new(batch))
    }

    /// Number of rows of batch `b`.
    pub(crate) fn batch_len(&self, b: usize) -> usize {
        self.batch_starts.get(b + 1).copied().unwrap_or(self.len) - self.batch_starts[b]
    }

    /// The batch with row `i`, and the row's number in it.
    pub(crate) fn at(&self, i: usize) -> Result<(Arc<Batch>, usize)> {
        // Most batches are full, except batches of filtered or wide rows.
        let guess = i / BATCH_ROWS_MAX;
        let b = match self.batch_starts.get(guess) {
            Some(&start) if start <= i && i < start + self.batch_len(guess) => guess,
            _ => self.batch_starts.partition_point(|&start| start <= i).saturating_sub(1),
        };
        match self.rows.borrow_mut().get(b)? {
            Some(rows) => Ok((rows, i - self.batch_starts[b])),
            None => Err(PgError::internal("row beyond the end of its partition")),
        }
    }

    /// Rows of peer group `g`.
    pub(crate) fn group(&self, g: usize) -> Range<usize> {
        let end = self.group_starts.get(g + 1).copied().unwrap_or(self.len());
        self.group_starts[g]..end
    }
}

/// The sort column of a RANGE frame with offsets, and its `in_range` functions.
pub(crate) struct RangeOrder {
    pub column: usize,
    pub start: Option<ScalarFn>,
    pub end: Option<ScalarFn>,
    pub collation: Oid,
    pub ascending: bool,
    pub nulls_first: bool,
}

/// The frame clause of a window with its offsets evaluated.
pub(crate) struct FrameClause {
    pub options: i32,
    pub start: Datum,
    pub end: Datum,
    pub range: Option<RangeOrder>,
}

/// Where a frame ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameEnd {
    /// Before the current row.
    Before,
    /// At most this number of rows after the current one.
    Rows(usize),
    /// This number of peer groups after the row's peers.
    Groups(usize),
    /// Where the `in_range` function determines.
    Range,
    /// With the partition.
    Partition,
}

impl FrameClause {
    /// Number of rows after the current one that PostgreSQL reads whether or not a function uses
    /// the frame: it looks for the end of the row's peers.
    pub(crate) fn rows_after(&self, ordered: bool) -> usize {
        let to_peers = self.options & END_CURRENT_ROW != 0 && self.options & ROWS == 0;
        usize::from(to_peers && ordered)
    }

    /// Where frames end.
    pub(crate) fn frame_end(&self) -> FrameEnd {
        let o = self.options;
        if o & END_UNBOUNDED_FOLLOWING != 0 {
            return FrameEnd::Partition;
        }
        let offset = o & END_CURRENT_ROW == 0;
        if o & RANGE != 0 {
            return if offset { FrameEnd::Range } else { FrameEnd::Groups(0) };
        }
        let count = if offset { self.end.as_ref().as_i64() as usize } else { 0 };
        if o & END_OFFSET_PRECEDING != 0 && count > 0 {
            return FrameEnd::Before;
        }
        // An exclusion clause refers to all peers.
        let peers = o & (EXCLUSION & !EXCLUDE_CURRENT_ROW) != 0;
        match o & ROWS != 0 {
            true if peers && count == 0 => FrameEnd::Groups(0),
            true if peers => FrameEnd::Partition,
            true => FrameEnd::Rows(count),
            false => FrameEnd::Groups(count),
        }
    }
}

/// The `in_range` support function; `None` if the frame has no RANGE offset on that side.
pub(crate) fn in_range_function(func: Oid, run: &mut Run<'_>) -> Result<Option<ScalarFn>> {
    if !func.is_valid() {
        return Ok(None);
    }
    let facts = run.sv.as_facts().function(func)?;
    match facts.callee {
        Callee::Scalar(f) => Ok(Some(f)),
        _ => Err(PgError::unsupported(format!("function {}", facts.name))),
    }
}

/// Checks an offset: it must not be NULL nor, for ROWS and GROUPS, negative.
pub(crate) fn check_offset(options: i32, which: &str, v: &Datum) -> Result<()> {
    if v.is_null() {
        bail!(NULL_VALUE_NOT_ALLOWED, "frame {which} offset must not be null");
    }
    if options & (ROWS | GROUPS) != 0 && v.as_ref().as_i64() < 0 {
        bail!(INVALID_PRECEDING_OR_FOLLOWING_SIZE, "frame {which} offset must not be negative");
    }
    Ok(())
}

/// Computes the frames of successive rows. The bounds of RANGE offsets only move forward, so each
/// search begins at the bound of the previous row.
#[derive(Default)]
pub(crate) struct FrameCursor {
    head: usize,
    tail: usize,
}

impl FrameCursor {
    /// The frame of row `i` of peer group `g`, before the exclusion clause is applied.
    pub(crate) fn frame(
        &mut self,
        clause: &FrameClause,
        p: &Partition,
        i: usize,
        g: usize,
        run: &mut Run<'_>,
    ) -> Result<Range<usize>> {
        let o = clause.options;
        let n = p.len();
        let start = if o & START_UNBOUNDED_PRECEDING != 0 {
            0
        } else if o & START_CURRENT_ROW != 0 {
            if o & ROWS != 0 { i } else { p.group(g).start }
        } else if o & RANGE != 0 {
            self.range_head(clause, p, i, run)?
        } else {
            let k = clause.start.as_ref().as_i64() as usize;
            let preceding = o & START_OFFSET_PRECEDING != 0;
            if o & ROWS != 0 {
                moved(i, k, preceding).map_or(0, |at| at.min(n))
            } else {
                match moved(g, k, preceding) {
                    None => 0,
                    Some(at) if at >= p.group_starts.len() => n,
                    Some(at) => p.group_starts[at],
                }
            }
        };
        let end = if o & END_UNBOUNDED_FOLLOWING != 0 {
            n
        } else if o & END_CURRENT_ROW != 0 {
            if o & ROWS != 0 { i + 1 } else { p.group(g).end }
        } else if o & RANGE != 0 {
            self.range_tail(clause, p, i, run)?
        } else {
            let k = clause.end.as_ref().as_i64() as usize;
            let preceding = o & END_OFFSET_PRECEDING != 0;
            if o & ROWS != 0 {
                moved(i, k, preceding).map_or(0, |at| at.saturating_add(1).min(n))
            } else {
                match moved(g, k, preceding) {
                    None => 0,
                    Some(at) if at >= p.group_starts.len() => n,
                    Some(at) => p.group(at).end,
                }
            }
        };
        Ok(start..end.max(start))
    }

    /// Advances `known`, the number of leading rows of a partition that is not complete whose
    /// frames contain all their rows, if the frame has a RANGE offset at its end.
    pub(crate) fn advance_known(
        &mut self,
        clause: &FrameClause,
        p: &Partition,
        mut known: usize,
        run: &mut Run<'_>,
    ) -> Result<usize> {
        while known < p.len() && self.range_tail(clause, p, known, run)? < p.len() {
            let g = p.group_starts.partition_point(|&start| start <= known);
            known = p.group_starts.get(g).copied().unwrap_or(p.len());
        }
        Ok(known)
    }

    fn range_head(
        &mut self,
        clause: &FrameClause,
        p: &Partition,
        i: usize,
        run: &mut Run<'_>,
    ) -> Result<usize> {
        let Some(r) = &clause.range else { return Ok(0) };
        let (mut sub, mut less) = (clause.options & START_OFFSET_PRECEDING != 0, false);
        if !r.ascending {
            (sub, less) = (!sub, true);
        }
        let (batch, at) = p.at(i)?;
        let current = batch.get(at, r.column);
        while self.head < p.len() {
            let (batch, at) = p.at(self.head)?;
            let head = batch.get(at, r.column);
            let stop = match (head.is_null(), current.is_null()) {
                (false, false) => {
                    r.in_range(r.start, [head, current, clause.start.as_ref()], sub, less, run)?
                }
                (h, c) if r.nulls_first => !h || c,
                (h, c) => h || !c,
            };
            if stop {
                break;
            }
            self.head += 1;
        }
        Ok(self.head)
    }

    fn range_tail(
        &mut self,
        clause: &FrameClause,
        p: &Partition,
        i: usize,
        run: &mut Run<'_>,
    ) -> Result<usize> {
        let Some(r) = &clause.range else { return Ok(p.len()) };
        let (mut sub, mut less) = (clause.options & END_OFFSET_PRECEDING != 0, true);
        if !r.ascending {
            (sub, less) = (!sub, false);
        }
        let (batch, at) = p.at(i)?;
        let current = batch.get(at, r.column);
        while self.tail < p.len() {
            let (batch, at) = p.at(self.tail)?;
            let tail = batch.get(at, r.column);
            let inside = match (tail.is_null(), current.is_null()) {
                (false, false) => {
                    r.in_range(r.end, [tail, current, clause.end.as_ref()], sub, less, run)?
                }
                (t, _) if r.nulls_first => t,
                (_, c) => c,
            };
            if !inside {
                break;
            }
            self.tail += 1;
        }
        Ok(self.tail)
    }
}

fn moved(at: usize, by: usize, back: bool) -> Option<usize> {
    if back { at.checked_sub(by) } else { Some(at.saturating_add(by)) }
}

impl RangeOrder {
    /// Calls `in_range(value, base, offset, sub, less)` with `args` as the first three arguments.
    fn in_range(
        &self,
        f: Option<ScalarFn>,
        args: [DatumRef<'_>; 3],
        sub: bool,
        less: bool,
        run: &mut Run<'_>,
    ) -> Result<bool> {
        let Some(f) = f else {
            return Err(PgError::internal("RANGE offset without in_range function"));
        };
        let mut extra = None;
        let mut cx = CallContext {
            host: run,
            collation: self.collation,
            arg_types: &[],
            result_type: types::oids::BOOL,
            variadic_array: false,
            extra: &mut extra,
        };
        let (sub, less) = (Datum::bool(sub), Datum::bool(less));
        let v = f(&mut cx, &[args[0], args[1], args[2], sub.as_ref(), less.as_ref()])?;
        Ok(v.as_ref().as_bool())
    }
}

/// The rows of a frame that the exclusion clause does not exclude, as up to three ascending ranges.
pub(crate) fn without_excluded(
    options: i32,
    frame: &Range<usize>,
    i: usize,
    peers: Range<usize>,
) -> [Range<usize>; 3] {
    let cut = |from: usize, to: usize| {
        let start = from.max(frame.start);
        start..to.min(frame.end).max(start)
    };
    if options & EXCLUSION == 0 {
        return [frame.clone(), 0..0, 0..0];
    }
    let out = if options & EXCLUDE_CURRENT_ROW != 0 { i..i + 1 } else { peers };
    let middle = if options & EXCLUDE_TIES != 0 { cut(i, i + 1) } else { 0..0 };
    [cut(0, out.start), middle, cut(out.end, usize::MAX)]
}
