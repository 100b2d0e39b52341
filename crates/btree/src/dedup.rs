//! Deduplication: merges equal leaf tuples into posting lists, when a leaf would otherwise split.
//! Functions here compute the new page; the caller logs and replaces it.
//!
//! Counterpart: nbtdedup.c.

use crate::schema::KeySchema;
use ids::{OffsetNo, Tid};
use page::PageBuf;
use page::btree::{
    BTP_HAS_GARBAGE, HIGH_KEY, MAX_ITEM_SIZE, Node, Opaque, SINGLEVAL_FILLFACTOR, SPECIAL_SIZE,
    change_flags,
};
use page::index_space;
use page::index_tuple::{IndexTuple, TID_SIZE, form_posting, max_align};
use pgerror::{PgError, Result};

const LINE_POINTER: usize = 4;

/// A run of items that are merged into one posting list: the offset of the first one before the
/// pass, and their number. Counterpart: `BTDedupInterval`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interval {
    pub base: OffsetNo,
    pub count: u16,
}

/// The pending posting list. Counterpart: `BTDedupState`.
pub(crate) struct Pending {
    /// Largest posting list to form, in bytes.
    pub max_size: usize,
    pub base: OffsetNo,
    /// Size of the key part.
    pub key_size: usize,
    pub tids: Vec<Tid>,
    pub items: u16,
    /// Number of lists that ended because they were full, with more than 50 TIDs.
    pub full_lists: usize,
}

impl Pending {
    pub(crate) fn new(max_size: usize) -> Pending {
        Pending { max_size, base: 0, key_size: 0, tids: Vec::new(), items: 0, full_lists: 0 }
    }

    pub(crate) fn start(&mut self, tuple: IndexTuple<'_>, off: OffsetNo) {
        self.base = off;
        self.key_size = tuple.key_size();
        self.tids.clear();
        self.tids.extend(tuple.tids());
        self.items = 1;
    }

    /// Adds the tuple's TIDs; false if the list would become too large.
    pub(crate) fn take(&mut self, tuple: IndexTuple<'_>) -> bool {
        let count = self.tids.len() + tuple.tid_count();
        if max_align(self.key_size + count * TID_SIZE) > self.max_size {
            if self.tids.len() > 50 {
                self.full_lists += 1;
            }
            return false;
        }
        self.tids.extend(tuple.tids());
        self.items += 1;
        true
    }
}

/// Merges equal tuples of the leaf `node`. `new_item` (of `new_size` aligned bytes) is the tuple
/// that does not fit; `after_bottom_up`: bottom-up deletion was tried before, so that the page is
/// not expected to split soon. `None` if nothing could be merged.
pub(crate) fn dedup_page(
    schema: &KeySchema,
    node: Node<'_>,
    new_item: IndexTuple<'_>,
    new_size: usize,
    after_bottom_up: bool,
) -> Result<Option<(PageBuf, Vec<Interval>)>> {
    let (min, max) = (node.first_data_key(), node.max_offset());
    if max < min {
        return Ok(None);
    }
    let equal = |a, b| schema.keep_natts_fast(a, b) > schema.key_count;
    // A page with a single value will split by the single-value strategy, which leaves the left
    // half nearly full. So the number of large lists is limited and the rest stays unmerged: the
    // left half then needs no later pass.
    let mut single_value =
        !after_bottom_up && equal(new_item, node.tuple(min)) && equal(new_item, node.tuple(max));
    let mut merge = true;
    let mut pending = Pending::new(MAX_ITEM_SIZE / 2);
    let mut out = Rebuild::of(node)?;
    pending.start(node.tuple(min), min);
    for off in min + 1..=max {
        let tuple = node.tuple(off);
        if merge && equal(node.tuple(pending.base), tuple) && pending.take(tuple) {
            continue;
        }
        out.finish(node, &pending)?;
        if single_value {
            if pending.full_lists == 5 {
                pending.max_size = single_value_size(pending.max_size, new_size + LINE_POINTER);
            } else if pending.full_lists == 6 {
                merge = false;
                single_value = false;
            }
        }
        pending.start(tuple, off);
    }
    out.finish(node, &pending)?;
    if out.intervals.is_empty() {
        return Ok(None);
    }
    change_flags(&mut out.page, 0, BTP_HAS_GARBAGE);
    Ok(Some((out.page, out.intervals)))
}

/// A lower size limit for the sixth large list, so that the coming split fills the left half to
/// `SINGLEVAL_FILLFACTOR`. Counterpart: `_bt_singleval_fillfactor`.
fn single_value_size(max_size: usize, new_size: usize) -> usize {
    let left = page::PAGE_SIZE - 24 - SPECIAL_SIZE - (new_size + max_align(TID_SIZE));
    let reduction = left as f64 * (f64::from(100 - SINGLEVAL_FILLFACTOR) / 100.0);
    max_size.saturating_sub(reduction as usize)
}

/// Replays a pass by its logged intervals.
pub(crate) fn redo_dedup(node: Node<'_>, intervals: &[Interval]) -> Result<PageBuf> {
    let mut out = Rebuild::of(node)?;
    let mut pending = Pending::new(MAX_ITEM_SIZE / 2);
    let mut left = intervals.iter().copied().peekable();
    let mut off = node.first_data_key();
    while off <= node.max_offset() {
        pending.start(node.tuple(off), off);
        if let Some(i) = left.next_if(|i| i.base == off) {
            for more in (off..=u16::MAX).take(usize::from(i.count)).skip(1) {
                if more > node.max_offset() || !pending.take(node.tuple(more)) {
                    return Err(does_not_fit());
                }
            }
        }
        out.finish(node, &pending)?;
        off += pending.items;
    }
    if left.next().is_some() {
        return Err(does_not_fit());
    }
    change_flags(&mut out.page, 0, BTP_HAS_GARBAGE);
    Ok(out.page)
}

fn does_not_fit() -> PgError {
    PgError::internal("deduplication record does not fit its page")
}

struct Rebuild {
    page: PageBuf,
    intervals: Vec<Interval>,
    tuple: Vec<u8>,
}

impl Rebuild {
    /// An empty copy with the special space, LSN and high key.
    fn of(node: Node<'_>) -> Result<Rebuild> {
        let mut page = PageBuf::new();
        page::btree::init(&mut page);
        Opaque::of(node.0).set(&mut page);
        page.set_lsn(node.lsn());
        if !node.is_rightmost() && !index_space::append(&mut page, node.item(HIGH_KEY)) {
            return Err(PgError::internal("deduplication failed to add highkey"));
        }
        Ok(Rebuild { page, intervals: Vec::new(), tuple: Vec::new() })
    }

    fn finish(&mut self, node: Node<'_>, pending: &Pending) -> Result<()> {
        let base = node.tuple(pending.base);
        let added = if pending.items == 1 {
            index_space::append(&mut self.page, base.bytes())
        } else {
            self.tuple.clear();
            form_posting(base, &pending.tids, &mut self.tuple);
            self.intervals.push(Interval { base: pending.base, count: pending.items });
            index_space::append(&mut self.page, &self.tuple)
        };
        if added {
            Ok(())
        } else {
            Err(PgError::internal("deduplication failed to add tuple to page"))
        }
    }
}

/// Appends the intervals in the format of the DEDUP record.
pub(crate) fn encode_intervals(intervals: &[Interval], out: &mut Vec<u8>) {
    for i in intervals {
        out.extend_from_slice(&i.base.to_le_bytes());
        out.extend_from_slice(&i.count.to_le_bytes());
    }
}

pub(crate) fn decode_intervals(data: &[u8]) -> Vec<Interval> {
    data.chunks_exact(4)
        .map(|c| Interval {
            base: u16::from_le_bytes([c[0], c[1]]),
            count: u16::from_le_bytes([c[2], c[3]]),
        })
        .collect()
}
