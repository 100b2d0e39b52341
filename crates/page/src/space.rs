//! Adding and removing items on a page, and compaction.
//!
//! INVARIANT: the offsets of items are part of the contract: redo, Norsu's and PostgreSQL's,
//! repeats these operations and must produce the same bytes. Compaction lays items out in
//! line-pointer order, from the special space downwards.
//!
//! Counterpart: bufpage.c.

use crate::header::{HEADER_SIZE, PD_HAS_FREE_LINES, max_align};
use crate::item::{LINE_POINTER_SIZE, LinePointer, LpFlags, line_pointer_at};
use crate::raw::{PAGE_SIZE, Page};
use ids::OffsetNo;
use pgerror::{Result, pg_err};
use smallvec::SmallVec;

/// Most tuples that a heap page can hold: each has a line pointer and at least an aligned header.
/// Counterpart: `MaxHeapTuplesPerPage`.
pub const MAX_HEAP_TUPLES_PER_PAGE: usize =
    (PAGE_SIZE - HEADER_SIZE) / (max_align(23) + LINE_POINTER_SIZE);

/// Where [`Page::add_item`] puts an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddAt {
    /// At the first free line pointer, else at a new one.
    Any,
    /// At this number, moving the line pointers from there on up (indexes).
    Insert(OffsetNo),
    /// At this number, which must be free or the next new one (redo).
    Overwrite(OffsetNo),
}

#[cold]
fn corrupted(page: &Page) -> pgerror::PgError {
    pg_err!(
        DATA_CORRUPTED,
        "corrupted page pointers: lower = {}, upper = {}, special = {}",
        page.lower(),
        page.upper(),
        page.special()
    )
}

/// True if the second item ends where the first begins, so that both can be moved together.
#[inline]
fn is_below(above: &Kept, below: &Kept) -> bool {
    below.offset() + max_align(below.len()) == above.offset()
}

/// Start, end and size of a run of adjacent items. A damaged item may extend into the special
/// space, which must not be copied.
#[inline]
fn extent(run: &[Kept], special: usize) -> (usize, usize, usize) {
    let (first, last) = (&run[0], &run[run.len() - 1]);
    let end = first.offset() + max_align(first.len());
    (last.offset(), end.min(special), end - last.offset())
}

/// An item that stays, in line-pointer order. Small, since pages have hundreds.
#[derive(Clone, Copy)]
struct Kept {
    /// Number of the line pointer after compaction.
    at: OffsetNo,
    offset: u16,
    len: u16,
}

/// Most heap pages have no more items.
type Keeps = SmallVec<[Kept; 256]>;

impl Kept {
    fn new(at: OffsetNo, lp: LinePointer) -> Kept {
        // Both have 15 bits.
        Kept { at, offset: lp.offset() as u16, len: lp.len() as u16 }
    }

    #[inline]
    fn offset(&self) -> usize {
        usize::from(self.offset)
    }

    #[inline]
    fn len(&self) -> usize {
        usize::from(self.len)
    }
}

impl Page {
    #[inline]
    fn pointers_are_sane(&self) -> bool {
        let (lower, upper, special) = (self.lower(), self.upper(), self.special());
        lower >= HEADER_SIZE
            && lower <= upper
            && upper <= special
            && special <= PAGE_SIZE
            && special.is_multiple_of(8)
    }

    /// Adds `item` and returns its number. `None` if there is no space, the line pointer is in use
    /// or beyond the next one, or the page is corrupt. `heap` bounds the number of line pointers.
    /// Counterpart: `PageAddItemExtended`.
    pub fn add_item(&mut self, item: &[u8], at: AddAt, heap: bool) -> Option<OffsetNo> {
        if !self.pointers_are_sane() {
            return None;
        }
        let limit = self.max_offset() + 1;
        let mut shuffle = false;
        let offset = match at {
            AddAt::Overwrite(n) => {
                let lp = self.line_pointer(n);
                if n < limit && (lp.is_used() || lp.has_storage()) {
                    return None;
                }
                n
            }
            AddAt::Insert(n) => {
                shuffle = n < limit;
                n
            }
            AddAt::Any if self.has_free_lines() => self.first_free_line().unwrap_or_else(|| {
                self.set_flag(PD_HAS_FREE_LINES, false);
                limit
            }),
            AddAt::Any => limit,
        };
        if offset == 0 || offset > limit || (heap && offset as usize > MAX_HEAP_TUPLES_PER_PAGE) {
            return None;
        }
        let old_lower = self.lower();
        let lower =
            if offset == limit || shuffle { old_lower + LINE_POINTER_SIZE } else { old_lower };
        let upper = self.upper().checked_sub(max_align(item.len()))?;
        if lower > upper {
            return None;
        }
        if shuffle {
            let from = line_pointer_at(offset);
            self.bytes_mut().copy_within(from..old_lower, from + LINE_POINTER_SIZE);
        }
        self.set_line_pointer(offset, LinePointer::normal(upper, item.len()));
        self.bytes_mut()[upper..upper + item.len()].copy_from_slice(item);
        self.set_lower(lower);
        self.set_upper(upper);
        Some(offset)
    }

    fn first_free_line(&self) -> Option<OffsetNo> {
        (1..=self.max_offset()).find(|&n| {
            let lp = self.line_pointer(n);
            !lp.is_used() && !lp.has_storage()
        })
    }

    /// Checks that [`Page::repair_fragmentation`] will succeed once the items of `gone` are
    /// removed. For callers that cannot handle its error later.
    pub fn check_items(&self, gone: impl Fn(OffsetNo) -> bool) -> Result<()> {
        let (lower, upper, special) = (self.lower(), self.upper(), self.special());
        if !self.pointers_are_sane() {
            return Err(corrupted(self));
        }
        let mut total = 0;
        for (n, lp) in self.line_pointers(1, self.max_offset()) {
            if !lp.is_used() || !lp.has_storage() || gone(n) {
                continue;
            }
            if lp.offset() < upper || lp.offset() >= special {
                return Err(bad_line_pointer(lp));
            }
            total += max_align(lp.len());
        }
        if total > special - lower {
            return Err(bad_total(total, special - lower));
        }
        Ok(())
    }

    /// Compacts the tuples and removes trailing unused line pointers; line pointers keep their
    /// numbers. Needs the cleanup latch. Counterpart: `PageRepairFragmentation`.
    pub fn repair_fragmentation(&mut self) -> Result<()> {
        let (lower, upper, special) = (self.lower(), self.upper(), self.special());
        if !self.pointers_are_sane() {
            return Err(corrupted(self));
        }
        let lines = self.max_offset();
        let mut kept = Keeps::new();
        let (mut unused, mut total, mut last_used) = (0, 0, 0);
        let mut unclean = SmallVec::<[OffsetNo; 8]>::new();
        for (n, lp) in self.line_pointers(1, lines) {
            if lp.is_used() {
                if lp.has_storage() {
                    if lp.offset() < upper || lp.offset() >= special {
                        return Err(bad_line_pointer(lp));
                    }
                    total += max_align(lp.len());
                    kept.push(Kept::new(n, lp));
                }
                last_used = n;
            } else {
                if lp != LinePointer::UNUSED {
                    unclean.push(n);
                }
                unused += 1;
            }
        }
        for n in unclean {
            self.set_line_pointer(n, LinePointer::UNUSED);
        }
        if kept.is_empty() {
            self.set_upper(special);
        } else {
            if total > special - lower {
                return Err(bad_total(total, special - lower));
            }
            self.compact(&kept);
        }
        let trailing = lines - last_used;
        self.set_lower(lower - trailing as usize * LINE_POINTER_SIZE);
        self.set_flag(PD_HAS_FREE_LINES, unused > trailing);
        Ok(())
    }

    /// Lays `kept` out from the special space downwards and updates their line pointers.
    fn compact(&mut self, kept: &[Kept]) {
        let special = self.special();
        let mut upper = special;
        // Items that are in their final position already, from the top, are not moved.
        let in_place = kept.iter().take_while(|k| {
            let fits = k.offset() + max_align(k.len()) == upper;
            if fits {
                upper = k.offset();
            }
            fits
        });
        let in_place = in_place.count();
        let rest = &kept[in_place..];
        if rest.windows(2).all(|w| w[0].offset > w[1].offset)
            && rest.first().is_none_or(|k| k.offset() < upper)
        {
            for run in rest.chunk_by(is_below) {
                let (from, end, bytes) = extent(run, special);
                self.bytes_mut().copy_within(from..end, upper - bytes);
                upper = self.update_pointers(run, upper);
            }
        } else {
            // Only items that move are copied: a new version mostly fits where an old one was, and
            // the items on both sides stay.
            let (mut low, mut high, mut to) = (special, 0, upper);
            for run in rest.chunk_by(is_below) {
                let (from, end, bytes) = extent(run, special);
                to -= bytes;
                if from != to {
                    (low, high) = (low.min(from), high.max(end));
                }
            }
            let scratch = SmallVec::<[u8; PAGE_SIZE]>::from_slice(
                self.bytes_mut().get(low..high).unwrap_or(&[]),
            );
            for run in rest.chunk_by(is_below) {
                let (from, end, bytes) = extent(run, special);
                let to = upper - bytes;
                if from == to {
                    upper = to;
                    continue;
                }
                let moved = &scratch[from - low..end - low];
                self.bytes_mut()[to..to + end - from].copy_from_slice(moved);
                upper = self.update_pointers(run, upper);
            }
        }
        self.set_upper(upper);
    }

    /// Updates the line pointers of a run of adjacent items whose first ends at `upper`; returns
    /// the start of the last.
    #[inline]
    fn update_pointers(&mut self, run: &[Kept], mut upper: usize) -> usize {
        for k in run {
            upper -= max_align(k.len());
            let flags = self.line_pointer(k.at).flags();
            self.set_line_pointer(k.at, LinePointer::new(upper, flags, k.len()));
        }
        upper
    }

    /// Removes trailing unused line pointers, keeping at least one. Needs only the exclusive latch.
    /// Counterpart: `PageTruncateLinePointerArray`.
    pub fn truncate_line_pointers(&mut self) {
        let lines = self.max_offset();
        let mut last = lines;
        while last > 1 && !self.line_pointer(last).is_used() {
            last -= 1;
        }
        let free = (1..last).any(|n| !self.line_pointer(n).is_used())
            || (last == 1 && lines >= 1 && !self.line_pointer(1).is_used());
        let cut = (lines - last) as usize;
        let lower = self.lower();
        self.set_lower(lower - cut * LINE_POINTER_SIZE);
        self.set_flag(PD_HAS_FREE_LINES, free);
    }

    /// Space for one more item with a new line pointer. Counterpart: `PageGetFreeSpace`.
    #[inline]
    pub fn free_space(&self) -> usize {
        self.exact_free_space().saturating_sub(LINE_POINTER_SIZE)
    }

    /// Space for `count` more items. Counterpart: `PageGetFreeSpaceForMultipleTuples`.
    pub fn free_space_for(&self, count: usize) -> usize {
        self.exact_free_space().saturating_sub(LINE_POINTER_SIZE * count)
    }

    /// Bytes between line pointers and items. Counterpart: `PageGetExactFreeSpace`.
    #[inline]
    pub fn exact_free_space(&self) -> usize {
        self.upper().saturating_sub(self.lower())
    }

    /// Space for one more heap tuple: 0 if the line pointers are at their maximum and in use, or
    /// the header is damaged. Counterpart: `PageGetHeapFreeSpace`.
    pub fn heap_free_space(&self) -> usize {
        let space = if self.pointers_are_sane() { self.free_space() } else { 0 };
        if space > 0
            && self.max_offset() as usize >= MAX_HEAP_TUPLES_PER_PAGE
            && !(self.has_free_lines()
                && (1..=self.max_offset()).any(|n| !self.line_pointer(n).is_used()))
        {
            return 0;
        }
        space
    }

    /// Removes an index tuple; later line pointers move down by one. Counterpart:
    /// `PageIndexTupleDelete`.
    pub fn index_delete(&mut self, offset: OffsetNo) -> Result<()> {
        let lp = self.index_item_checked(offset)?;
        let at = line_pointer_at(offset);
        let lower = self.lower();
        self.bytes_mut().copy_within(at + LINE_POINTER_SIZE..lower, at);
        self.set_lower(lower - LINE_POINTER_SIZE);
        self.close_gap(lp.offset(), max_align(lp.len()));
        Ok(())
    }

    /// Removes an index tuple without renumbering: its line pointer becomes unused, or is removed
    /// if it is the last. Counterpart: `PageIndexTupleDeleteNoCompact`.
    pub fn index_delete_no_compact(&mut self, offset: OffsetNo) -> Result<()> {
        let lp = self.index_item_checked(offset)?;
        if offset < self.max_offset() {
            self.set_line_pointer(offset, LinePointer::UNUSED);
        } else {
            let lower = self.lower();
            self.set_lower(lower - LINE_POINTER_SIZE);
        }
        self.close_gap(lp.offset(), max_align(lp.len()));
        Ok(())
    }

    /// Checks that deletions from an index page will succeed. For callers that cannot handle their
    /// error later.
    pub fn check_index_items(&self) -> Result<()> {
        let (lower, upper, special) = (self.lower(), self.upper(), self.special());
        if !self.pointers_are_sane() {
            return Err(corrupted(self));
        }
        let mut total = 0;
        for (_, lp) in self.line_pointers(1, self.max_offset()) {
            let end = lp.offset() + max_align(lp.len());
            if lp.offset() < upper || end > special || lp.offset() != max_align(lp.offset()) {
                return Err(bad_line_pointer(lp));
            }
            total += max_align(lp.len());
        }
        if total > special - lower {
            return Err(bad_total(total, special - lower));
        }
        Ok(())
    }

    fn index_item_checked(&self, offset: OffsetNo) -> Result<LinePointer> {
        if !self.pointers_are_sane() {
            return Err(corrupted(self));
        }
        if offset == 0 || offset > self.max_offset() {
            return Err(pg_err!(INTERNAL_ERROR, "invalid index offnum: {offset}"));
        }
        let lp = self.line_pointer(offset);
        let end = lp.offset() + max_align(lp.len());
        if lp.offset() < self.upper()
            || end > self.special()
            || lp.offset() != max_align(lp.offset())
        {
            return Err(bad_line_pointer(lp));
        }
        Ok(lp)
    }

    /// Moves the items below the hole at `offset` up by its `len` bytes.
    fn close_gap(&mut self, offset: usize, len: usize) {
        let upper = self.upper();
        self.bytes_mut().copy_within(upper..offset, upper + len);
        self.set_upper(upper + len);
        for n in 1..=self.max_offset() {
            let lp = self.line_pointer(n);
            if lp.has_storage() && lp.offset() <= offset {
                let moved = LinePointer::new(lp.offset() + len, lp.flags(), lp.len());
                self.set_line_pointer(n, moved);
            }
        }
    }

    /// Removes the index tuples `offsets` (ascending) and renumbers the others. Counterpart:
    /// `PageIndexMultiDelete`.
    pub fn index_multi_delete(&mut self, offsets: &[OffsetNo]) -> Result<()> {
        if offsets.len() <= 2 {
            for &n in offsets.iter().rev() {
                self.index_delete(n)?;
            }
            return Ok(());
        }
        if !self.pointers_are_sane() {
            return Err(corrupted(self));
        }
        let lines = self.max_offset();
        let mut kept = Keeps::new();
        let mut pointers: Vec<LinePointer> = Vec::with_capacity(lines as usize);
        let (mut total, mut next) = (0, 0);
        for n in 1..=lines {
            let lp = self.line_pointer(n);
            let end = lp.offset() + lp.len();
            if lp.offset() < self.upper()
                || end > self.special()
                || lp.offset() != max_align(lp.offset())
            {
                return Err(bad_line_pointer(lp));
            }
            if offsets.get(next) == Some(&n) {
                next += 1;
                continue;
            }
            pointers.push(lp);
            total += max_align(lp.len());
            kept.push(Kept::new(pointers.len() as OffsetNo, lp));
        }
        if next != offsets.len() {
            return Err(pg_err!(INTERNAL_ERROR, "incorrect index offsets supplied"));
        }
        if total > self.special() - self.lower() {
            return Err(bad_total(total, self.special() - self.lower()));
        }
        for (i, lp) in pointers.iter().enumerate() {
            self.set_line_pointer(i as OffsetNo + 1, *lp);
        }
        self.set_lower(HEADER_SIZE + pointers.len() * LINE_POINTER_SIZE);
        if kept.is_empty() {
            let special = self.special();
            self.set_upper(special);
        } else {
            self.compact(&kept);
        }
        Ok(())
    }

    /// Replaces an index tuple by `item`, which may differ in size; false if it does not fit.
    /// Counterpart: `PageIndexTupleOverwrite`.
    pub fn index_overwrite(&mut self, offset: OffsetNo, item: &[u8]) -> Result<bool> {
        let lp = self.index_item_checked(offset)?;
        let (old, new) = (max_align(lp.len()), max_align(item.len()));
        let (lower, upper) = (self.lower(), self.upper());
        if new > old + (upper - lower) {
            return Ok(false);
        }
        let mut at = lp.offset();
        if old != new {
            // Items at or below the tuple move by the difference, up or down.
            let shift = |from: usize| from + old - new;
            self.bytes_mut().copy_within(upper..at, shift(upper));
            for n in 1..=self.max_offset() {
                let other = self.line_pointer(n);
                if other.has_storage() && other.offset() <= at {
                    let moved = LinePointer::new(shift(other.offset()), other.flags(), other.len());
                    self.set_line_pointer(n, moved);
                }
            }
            self.set_upper(shift(upper));
            at = shift(at);
        }
        self.set_line_pointer(offset, LinePointer::new(at, lp.flags(), item.len()));
        self.bytes_mut()[at..at + item.len()].copy_from_slice(item);
        Ok(true)
    }

    /// True if the line pointer is unused and without storage.
    pub fn is_free_line(&self, offset: OffsetNo) -> bool {
        self.line_pointer(offset).flags() == LpFlags::Unused
    }
}

#[cold]
fn bad_line_pointer(lp: LinePointer) -> pgerror::PgError {
    pg_err!(DATA_CORRUPTED, "corrupted line pointer: offset = {}, size = {}", lp.offset(), lp.len())
}

#[cold]
fn bad_total(total: usize, available: usize) -> pgerror::PgError {
    pg_err!(DATA_CORRUPTED, "corrupted item lengths: total {total}, available space {available}")
}

#[cfg(test)]
mod tests;
