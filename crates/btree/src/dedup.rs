//! Merging equal leaf tuples into posting lists, done lazily when a leaf would have to split.
//! What is computed here concerns one page only; logging and replacing it is the caller's.
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

/// A run of items merged into one posting list: the first one's line pointer before the pass, and
/// how many. Counterpart: `BTDedupInterval`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interval {
    pub base: OffsetNo,
    pub count: u16,
}

/// The run being gathered.
pub(crate) struct Pending {
    /// Largest posting list to form, in bytes.
    pub max_size: usize,
    pub base: OffsetNo,
    /// Size of the key part.
    pub key_size: usize,
    pub tids: Vec<Tid>,
    pub items: u16,
    /// Runs that ended because the list was full (and was a large one).
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

    /// Takes the tuple's TIDs unless the list would become too large.
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

/// Merges what can be merged on the leaf `node`. `new_item` (of `new_size` aligned bytes) is what
/// there was no room for; `after_bottom_up` says that bottom-up deletion was tried before, so that
/// the page is not expected to split soon. `None` if nothing could be merged.
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
    // A page of one value only will split so that the left half is nearly full of large lists,
    // which later passes then leave alone: such lists are capped in number and the rest stays
    // unmerged.
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

/// Lowers the cap for the last large list so that the split to come leaves the left half as full as
/// the split of a single-valued page wants it.
fn single_value_size(max_size: usize, new_size: usize) -> usize {
    let left = page::PAGE_SIZE - 24 - SPECIAL_SIZE - (new_size + max_align(TID_SIZE));
    let reduction = left as f64 * (f64::from(100 - SINGLEVAL_FILLFACTOR) / 100.0);
    max_size.saturating_sub(reduction as usize)
}

/// Applies the intervals of a logged pass.
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

/// The intervals as they stand in the log.
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
