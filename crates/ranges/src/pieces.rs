//! Multiranges in their stored form, and the relations between values that are ranges or
//! multiranges: a range is a list of at most one range. Counterpart: multirangetypes.c.
//!
//! ```text
//! payload: type:u32  count:u32  items:u32 × (count - 1)  flags:u8 × count  bounds…
//! ```
//!
//! The bounds of each range are aligned. An item states where those of a range after the first one
//! begin: by the distance from those of the previous range, or, in every fourth item, which has the
//! highest bit set, by the offset from the first ones.

use crate::ops;
use crate::stored::{
    Bounds, bounds, compare_both, compare_bounds, flags_of, from_stored, is_empty, read_bounds,
    stored_bounds, type_of, word,
};
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::limits;
use values::range::RangeType;

/// Marks an item that is an offset.
const OFFSET_BIT: u32 = 0x8000_0000;
/// The number of items from one offset to the next.
const OFFSET_STRIDE: usize = 4;

/// Length of a multirange's type and count.
const HEAD_BYTES: usize = 8;

/// The ranges of a multirange, or of a range.
#[derive(Clone, Copy)]
pub struct Pieces<'a> {
    ty: &'a RangeType,
    payload: &'a [u8],
    form: Form<'a>,
}

#[derive(Clone, Copy)]
enum Form<'a> {
    /// A range; `None` if it is empty.
    Range(Option<Bounds<'a>>),
    Multirange {
        count: usize,
        /// Offset of the flags in the payload.
        flags: usize,
        /// Offset of the first bounds in the payload.
        data: usize,
    },
}

impl<'a> Pieces<'a> {
    /// The ranges of a value of the range type or its multirange type. Error XX000 if it has
    /// another type.
    pub fn new(ty: &'a RangeType, payload: &'a [u8]) -> Result<Pieces<'a>> {
        let found = type_of(payload)?;
        if found == ty.oid {
            return Ok(Pieces { ty, payload, form: Form::Range(bounds(ty, payload)?) });
        }
        if found != ty.multirange {
            return Err(PgError::internal("range types do not match"));
        }
        let count = word(payload, 4)? as usize;
        let flags = HEAD_BYTES + 4 * count.saturating_sub(1);
        let data = data_start(ty, count);
        if count > 0 && payload.len() < data {
            return Err(pg_err!(DATA_CORRUPTED, "stored multirange is truncated"));
        }
        Ok(Pieces { ty, payload, form: Form::Multirange { count, flags, data } })
    }

    /// Number of ranges; none of them is empty.
    pub fn len(&self) -> usize {
        match self.form {
            Form::Range(bounds) => usize::from(bounds.is_some()),
            Form::Multirange { count, .. } => count,
        }
    }

    /// Whether the value contains nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The flags of a range.
    pub fn flags(&self, i: usize) -> u8 {
        match self.form {
            Form::Range(_) => self.payload[self.payload.len() - 1],
            Form::Multirange { flags, .. } => self.payload[flags + i],
        }
    }

    /// The bytes from the bounds of a range on.
    fn data(&self, i: usize, start: usize) -> &'a [u8] {
        let (mut offset, mut i) = (0, i);
        while i > 0 {
            let at = HEAD_BYTES + 4 * (i - 1);
            let mut item = [0; 4];
            item.copy_from_slice(&self.payload[at..at + 4]);
            let item = u32::from_le_bytes(item);
            offset += (item & !OFFSET_BIT) as usize;
            if item & OFFSET_BIT != 0 {
                break;
            }
            i -= 1;
        }
        self.payload.get(start + offset..).unwrap_or_default()
    }

    /// The bounds of a range.
    pub fn get(&self, i: usize) -> Bounds<'a> {
        match self.form {
            Form::Range(bounds) => bounds.expect("the caller has checked the length"),
            Form::Multirange { data, .. } => {
                read_bounds(self.ty, self.flags(i), self.data(i, data)).0
            }
        }
    }

    /// A range as a value of its own.
    pub fn range(&self, i: usize) -> Result<Vec<u8>> {
        match self.form {
            Form::Range(_) => Ok(self.payload.to_vec()),
            Form::Multirange { data, .. } => {
                let (flags, data) = (self.flags(i), self.data(i, data));
                let (_, end) = read_bounds(self.ty, flags, data);
                from_stored(self.ty, flags, &data[..end.min(data.len())])
            }
        }
    }

    /// All ranges as values of their own.
    pub fn ranges(&self) -> Result<Vec<Vec<u8>>> {
        (0..self.len()).map(|i| self.range(i)).collect()
    }

    /// The bounds from the first to the last range; `None` if there is none.
    pub fn span(&self) -> Option<Bounds<'a>> {
        let last = self.len().checked_sub(1)?;
        Some((self.get(0).0, self.get(last).1))
    }

    /// The range for which `side` is equal, by binary search.
    fn find(&self, side: impl Fn(&Bounds<'a>) -> Ordering) -> Option<Bounds<'a>> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            let bounds = self.get(middle);
            match side(&bounds) {
                Ordering::Less => high = middle,
                Ordering::Greater => low = middle + 1,
                Ordering::Equal => return Some(bounds),
            }
        }
        None
    }

    /// The range that overlaps these bounds.
    fn find_overlap(&self, key: &Bounds<'_>) -> Option<Bounds<'a>> {
        self.find(|b| {
            if compare_bounds(self.ty, &key.1, &b.0).is_lt() {
                Ordering::Less
            } else if compare_bounds(self.ty, &key.0, &b.1).is_gt() {
                Ordering::Greater
            } else {
                Ordering::Equal
            }
        })
    }

    /// Whether the value of the subtype is in one of the ranges.
    pub fn contains_value(&self, value: DatumRef<'_>) -> bool {
        self.find(|b| ops::side_of(self.ty, b, value)).is_some()
    }

    /// Whether there is a point in both.
    pub fn overlaps(&self, other: &Pieces<'_>) -> bool {
        if self.is_empty() || other.is_empty() {
            return false;
        }
        if other.len() == 1 {
            return self.find_overlap(&other.get(0)).is_some();
        }
        if self.len() == 1 {
            return other.find_overlap(&self.get(0)).is_some();
        }
        let (mut i, mut own) = (0, self.get(0));
        for j in 0..other.len() {
            let bounds = other.get(j);
            while ops::before(self.ty, &own, &bounds) {
                i += 1;
                if i == self.len() {
                    return false;
                }
                own = self.get(i);
            }
            if ops::overlap(self.ty, &own, &bounds) {
                return true;
            }
        }
        false
    }

    /// Whether each range of the other value is in a range of this one.
    pub fn contains(&self, other: &Pieces<'_>) -> bool {
        let Some(span) = other.span() else { return true };
        match self.len() {
            0 => return false,
            1 => return ops::contains(self.ty, &self.get(0), &span),
            _ => {}
        }
        if other.len() == 1 {
            let found = self.find_overlap(&span);
            return found.is_some_and(|b| ops::contains(self.ty, &b, &span));
        }
        let (mut i, mut own) = (0, self.get(0));
        for j in 0..other.len() {
            let bounds = other.get(j);
            while ops::before(self.ty, &own, &bounds) {
                i += 1;
                if i == self.len() {
                    return false;
                }
                own = self.get(i);
            }
            if !ops::contains(self.ty, &own, &bounds) {
                return false;
            }
        }
        true
    }

    /// The order of two ranges or two multiranges: that of their first ranges that differ; a value
    /// with fewer ranges comes first. Counterpart: `range_cmp`, `multirange_cmp`.
    pub fn compare(&self, other: &Pieces<'_>) -> Ordering {
        for i in 0..self.len().min(other.len()) {
            let order = compare_both(self.ty, &self.get(i), &other.get(i));
            if order.is_ne() {
                return order;
            }
        }
        self.len().cmp(&other.len())
    }
}

/// Offset of the first bounds in the payload of a multirange.
fn data_start(ty: &RangeType, count: usize) -> usize {
    let header = limits::VARLENA_HEADER_BYTES;
    let unaligned = header + HEAD_BYTES + 4 * count.saturating_sub(1) + count;
    unaligned.next_multiple_of(ty.elem.align_bytes()) - header
}

/// The multirange of these ranges: sorted, without empty ones, those that overlap or meet merged.
/// Counterpart: `make_multirange`.
pub fn make(cx: &mut dyn FnContext, ty: &RangeType, ranges: Vec<Vec<u8>>) -> Result<Datum> {
    let ranges = canonical(cx, ty, ranges)?;
    let align = ty.elem.align_bytes();
    let start = data_start(ty, ranges.len());
    let sizes = ranges.iter().map(|r| stored_bounds(r).len().next_multiple_of(align));
    let size = start + sizes.sum::<usize>();
    let mut out = limits::allocate_payload(size)?;
    out.extend_from_slice(&ty.multirange.0.to_le_bytes());
    out.extend_from_slice(&(ranges.len() as u32).to_le_bytes());
    let (mut offset, mut previous) = (0, 0);
    for (i, range) in ranges.iter().enumerate() {
        if i > 0 {
            let item = match i % OFFSET_STRIDE {
                0 => offset as u32 | OFFSET_BIT,
                _ => (offset - previous) as u32,
            };
            out.extend_from_slice(&item.to_le_bytes());
            previous = offset;
        }
        offset += stored_bounds(range).len().next_multiple_of(align);
    }
    for range in &ranges {
        out.push(flags_of(range)?);
    }
    out.resize(start, 0);
    for range in &ranges {
        out.extend_from_slice(stored_bounds(range));
        let end = start + (out.len() - start).next_multiple_of(align);
        out.resize(end, 0);
    }
    Ok(Datum::bytes(out))
}

/// Number of ranges that are sorted without a check for interrupts.
const RUN: usize = 1 << 14;

/// Sorts ranges: runs of them, which are merged.
fn sort(cx: &mut dyn FnContext, ty: &RangeType, ranges: &mut Vec<Vec<u8>>) -> Result<()> {
    // Damaged values are reported here, because a comparison cannot fail.
    for range in ranges.iter() {
        flags_of(range)?;
    }
    let order =
        |a: &Vec<u8>, b: &Vec<u8>| crate::stored::compare(ty, a, b).unwrap_or(Ordering::Equal);
    for run in ranges.chunks_mut(RUN) {
        cx.check_interrupts()?;
        run.sort_by(order);
    }
    let mut width = RUN;
    let mut ticker = InterruptTicker::default();
    while width < ranges.len() {
        let mut merged = values::memory::with_capacity(ranges.len())?;
        let mut rest = std::mem::take(ranges).into_iter();
        while rest.len() > 0 {
            let mut left = rest.by_ref().take(width).collect::<Vec<_>>().into_iter().peekable();
            let mut right = rest.by_ref().take(width).collect::<Vec<_>>().into_iter().peekable();
            while let Some(a) = left.peek() {
                ticker.tick(cx)?;
                let from_right = right.peek().is_some_and(|b| order(b, a).is_lt());
                merged.extend(if from_right { right.next() } else { left.next() });
            }
            merged.extend(right);
        }
        *ranges = merged;
        width *= 2;
    }
    Ok(())
}

/// Counterpart: `multirange_canonicalize`.
fn canonical(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    mut ranges: Vec<Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    sort(cx, ty, &mut ranges)?;
    let mut out: Vec<Vec<u8>> = values::memory::with_capacity(ranges.len())?;
    let mut ticker = InterruptTicker::default();
    for range in ranges {
        ticker.tick(cx)?;
        if is_empty(&range)? {
            continue;
        }
        let Some(last) = out.last_mut() else {
            out.push(range);
            continue;
        };
        let apart = match (bounds(ty, last)?, bounds(ty, &range)?) {
            (Some(x), Some(y)) => ops::before(ty, &x, &y) && !ops::adjacent(cx, ty, &x, &y)?,
            _ => true,
        };
        if apart {
            out.push(range);
        } else {
            *last = ops::union(cx, ty, (last, &range), false)?;
        }
    }
    Ok(out)
}

/// The ranges of the first value without those of the second. Counterpart:
/// `multirange_minus_internal`.
pub fn difference(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    x: &Pieces<'_>,
    y: &Pieces<'_>,
) -> Result<Vec<Vec<u8>>> {
    let mut out = Vec::new();
    let mut ticker = InterruptTicker::default();
    let mut j = 0;
    for i in 0..x.len() {
        ticker.tick(cx)?;
        let mut left = x.range(i)?;
        while j < y.len() && ops::before(ty, &y.get(j), &x.get(i)) {
            j += 1;
        }
        while j < y.len() {
            let Some(own) = bounds(ty, &left)? else { break };
            let cut = y.get(j);
            if let Some([before, after]) = ops::split(cx, ty, &own, &cut)? {
                out.push(before);
                left = after;
                j += 1;
            } else if ops::overlap(ty, &own, &cut) {
                left = ops::difference(cx, ty, &left, &y.range(j)?)?;
                // A range that extends beyond this one may cut the next one too.
                match bounds(ty, &left)? {
                    Some(rest) if !ops::before(ty, &rest, &cut) => j += 1,
                    _ => break,
                }
            } else {
                break;
            }
        }
        out.push(left);
    }
    Ok(out)
}

/// The intersections of the ranges of two values. Counterpart: `multirange_intersect_internal`.
pub fn intersection(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    x: &Pieces<'_>,
    y: &Pieces<'_>,
) -> Result<Vec<Vec<u8>>> {
    let mut out = Vec::new();
    let mut ticker = InterruptTicker::default();
    let mut j = 0;
    for i in 0..x.len() {
        ticker.tick(cx)?;
        let own = x.get(i);
        while j < y.len() && ops::before(ty, &y.get(j), &own) {
            j += 1;
        }
        while j < y.len() && ops::overlap(ty, &own, &y.get(j)) {
            let other = y.get(j);
            out.push(ops::intersect_bounds(cx, ty, &own, &other)?);
            if !ops::overleft(ty, &other, &own) {
                break;
            }
            j += 1;
        }
        if j == y.len() {
            break;
        }
    }
    Ok(out)
}
