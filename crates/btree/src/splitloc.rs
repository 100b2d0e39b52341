//! The choice of a split point. Equal free space on both sides is the first criterion. Among split
//! points that are nearly as good, the one with the shortest separator is chosen, so that inner
//! pages hold more downlinks. Special cases: pages with many duplicates, the rightmost page of a
//! level, runs of ascending keys in the middle of a page.
//!
//! Counterpart: nbtsplitloc.c.

use crate::schema::KeySchema;
use ids::{OffsetNo, Tid};
use page::btree::{FIRST_KEY, HIGH_KEY, NONLEAF_FILLFACTOR, Node, SINGLEVAL_FILLFACTOR};
use page::index_space::exact_free_space;
use page::index_tuple::{HEADER_SIZE, IndexTuple, TID_SIZE, max_align};
use pgerror::{Result, pg_err};

const LINE_POINTER: i32 = 4;
/// Fraction of the page's data by which free space may differ from that of the best split.
const LEAF_SPLIT_DISTANCE: f64 = 0.050;
const INTERNAL_SPLIT_DISTANCE: f64 = 0.075;

/// A legal split point. The new item counts as inserted before the item at its offset.
#[derive(Clone, Copy, Debug)]
struct SplitPoint {
    /// Weighted difference of the free space on both sides.
    delta: i16,
    left_free: i16,
    right_free: i16,
    /// First item of the old page that goes to the right half.
    first_right: OffsetNo,
    new_on_left: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Strategy {
    Default,
    ManyDuplicates,
    SingleValue,
}

struct Splitter<'a> {
    schema: &'a KeySchema,
    node: Node<'a>,
    new_item: IndexTuple<'a>,
    /// In bytes, with the line pointer.
    new_size: i32,
    new_off: OffsetNo,
    is_leaf: bool,
    is_rightmost: bool,
    left_space: i32,
    right_space: i32,
    old_total: i32,
    min_first_right: i32,
    interval: usize,
    splits: Vec<SplitPoint>,
}

/// Chooses the split point of `node` for the insertion of `new_item` (of `new_size` bytes, aligned)
/// at `new_off`. Returns the first item of the old page for the right half, and whether the new
/// item goes to the left half.
pub(crate) fn find_split(
    schema: &KeySchema,
    node: Node<'_>,
    new_off: OffsetNo,
    new_size: usize,
    new_item: IndexTuple<'_>,
) -> Result<(OffsetNo, bool)> {
    let max = node.max_offset();
    let space = (page::PAGE_SIZE - 24 - page::btree::SPECIAL_SIZE) as i32;
    let high_key = if node.is_rightmost() { 0 } else { item_size(node, HIGH_KEY) };
    let right_space = space - high_key;
    let mut s = Splitter {
        schema,
        node,
        new_item,
        new_size: new_size as i32 + LINE_POINTER,
        new_off,
        is_leaf: node.is_leaf(),
        is_rightmost: node.is_rightmost(),
        left_space: space,
        right_space,
        old_total: right_space - exact_free_space(&node) as i32,
        min_first_right: i32::MAX,
        interval: 0,
        splits: Vec::with_capacity(usize::from(max) + 1),
    };
    s.collect(max);
    s.choose(max)
}

fn item_size(node: Node<'_>, off: OffsetNo) -> i32 {
    max_align(node.line_pointer(off).len()) as i32 + LINE_POINTER
}

impl<'a> Splitter<'a> {
    fn collect(&mut self, max: OffsetNo) {
        let mut to_left = 0;
        for off in self.node.first_data_key()..=max {
            let size = item_size(self.node, off);
            if off == self.new_off {
                self.record(off, false, to_left, self.new_size);
                self.record(off, true, to_left, size);
            } else {
                self.record(off, off > self.new_off, to_left, size);
            }
            to_left += size;
        }
        if self.new_off > max {
            self.record(self.new_off, false, self.old_total, 0);
        }
    }

    /// Adds the split before item `first_right`, if both halves have room.
    fn record(&mut self, first_right: OffsetNo, new_on_left: bool, to_left: i32, size: i32) {
        let mut posting = 0;
        let first_right_size = if first_right == self.new_off && !new_on_left {
            self.new_size
        } else {
            if self.is_leaf && size > 64 {
                let t = self.node.tuple(first_right);
                if t.is_posting() {
                    posting = (t.bytes().len() - t.key_size()) as i32;
                }
            }
            size
        };
        let mut left_free = self.left_space - to_left;
        let mut right_free = self.right_space - (self.old_total - to_left);
        // The left half's high key is made from the right half's first item. It may gain a heap TID
        // but has no posting list.
        left_free -= first_right_size;
        if self.is_leaf {
            left_free -= max_align(TID_SIZE) as i32 - posting;
        }
        if new_on_left {
            left_free -= self.new_size;
        } else {
            right_free -= self.new_size;
        }
        if !self.is_leaf {
            right_free += first_right_size - (HEADER_SIZE as i32 + LINE_POINTER);
        }
        if left_free >= 0 && right_free >= 0 {
            self.min_first_right = self.min_first_right.min(first_right_size);
            self.splits.push(SplitPoint {
                delta: 0,
                left_free: left_free as i16,
                right_free: right_free as i16,
                first_right,
                new_on_left,
            });
        }
    }

    fn choose(&mut self, max: OffsetNo) -> Result<(OffsetNo, bool)> {
        if self.splits.is_empty() {
            return Err(pg_err!(INTERNAL_ERROR, "could not find a feasible split point for index"));
        }
        let leaf_mult = f64::from(self.schema.fillfactor) / 100.0;
        let (mult, use_mult) = if !self.is_leaf {
            (f64::from(NONLEAF_FILLFACTOR) / 100.0, self.is_rightmost)
        } else if self.is_rightmost {
            (leaf_mult, true)
        } else {
            match self.after_new_item(max, leaf_mult) {
                Some(true) => (leaf_mult, true),
                Some(false) => {
                    if let Some(s) =
                        self.splits.iter().find(|s| s.new_on_left && s.first_right == self.new_off)
                    {
                        return Ok((s.first_right, true));
                    }
                    (0.5, false)
                }
                None => (0.5, false),
            }
        };
        let leftmost = self.splits[0];
        let rightmost = self.splits[self.splits.len() - 1];
        self.sort(mult, use_mult);
        self.interval = self.default_interval();
        let (perfect, strategy) = self.strategy(leftmost, rightmost);
        match strategy {
            Strategy::Default => {}
            Strategy::ManyDuplicates => self.interval = self.splits.len(),
            Strategy::SingleValue => {
                self.sort(f64::from(SINGLEVAL_FILLFACTOR) / 100.0, true);
                self.interval = 1;
            }
        }
        let best = self.best(perfect, strategy);
        Ok((best.first_right, best.new_on_left))
    }

    /// Whether the new item is the last of an ascending run within a group of equal leading
    /// columns. If so, `Some(true)` means a split by the fill factor, `Some(false)` a split right
    /// after the new item. Counterpart: `_bt_afternewitemoff`.
    fn after_new_item(&self, max: OffsetNo, leaf_mult: f64) -> Option<bool> {
        let keys = self.schema.key_count;
        let equisized = self.new_size == self.min_first_right
            && self.new_size * i32::from(max - 1) == self.old_total;
        let narrow = self.new_size <= (max_align(HEADER_SIZE + 16)) as i32 + LINE_POINTER;
        if keys == 1 || self.new_off == FIRST_KEY || !equisized || !narrow {
            return None;
        }
        let in_group = |before: IndexTuple<'_>| {
            let keep = self.schema.keep_natts_fast(before, self.new_item);
            keep > 1 && keep <= keys
        };
        if self.new_off > max {
            return in_group(self.node.tuple(max)).then_some(true);
        }
        let before = self.node.tuple(self.new_off - 1);
        if before.is_posting()
            || !adjacent(before.tid_field(), self.new_item.tid_field())
            || !in_group(before)
        {
            return None;
        }
        let fraction = f64::from(self.new_off) / (f64::from(max) + 1.0);
        Some(fraction > leaf_mult)
    }

    fn sort(&mut self, mult: f64, use_mult: bool) {
        for s in &mut self.splits {
            let (left, right) = (f64::from(s.left_free), f64::from(s.right_free));
            let delta = if use_mult { mult * left - (1.0 - mult) * right } else { left - right };
            s.delta = (delta as i16).wrapping_abs();
        }
        self.splits.sort_by_key(|s| s.delta);
    }

    /// Number of the best splits that are acceptable by their free space.
    fn default_interval(&self) -> usize {
        let share = if self.is_leaf { LEAF_SPLIT_DISTANCE } else { INTERNAL_SPLIT_DISTANCE };
        let tolerance = (f64::from(self.old_total) * share) as i32;
        let best = self.splits[0];
        let far = |a: i16, b: i16| (i32::from(a) - i32::from(b)).abs() > tolerance;
        self.splits
            .iter()
            .skip(1)
            .position(|s| far(s.left_free, best.left_free) || far(s.right_free, best.right_free))
            .map_or(self.splits.len(), |i| i + 1)
    }

    /// The strategy, and the lowest penalty that is possible with it.
    fn strategy(&self, leftmost: SplitPoint, rightmost: SplitPoint) -> (usize, Strategy) {
        if !self.is_leaf {
            return (self.min_first_right as usize, Strategy::Default);
        }
        let keys = self.schema.key_count;
        let fast = |a, b| self.schema.keep_natts_fast(a, b);
        let (left, right) = self.interval_edges();
        let perfect = fast(self.last_left(&left), self.first_right(&right));
        if perfect <= keys {
            return (perfect, Strategy::Default);
        }
        let perfect = fast(self.last_left(&leftmost), self.first_right(&rightmost));
        if perfect <= keys {
            return (keys, Strategy::ManyDuplicates);
        }
        if self.is_rightmost {
            return (perfect, Strategy::SingleValue);
        }
        // All items have one value. Is this the last page with that value?
        let perfect = fast(self.node.high_key(), self.new_item);
        let strategy = if perfect <= keys { Strategy::SingleValue } else { Strategy::Default };
        (perfect, strategy)
    }

    /// The leftmost and rightmost split points of the interval.
    fn interval_edges(&self) -> (SplitPoint, SplitPoint) {
        let best = self.splits[0];
        let position = |s: &SplitPoint| (s.first_right, s.new_on_left);
        let within = &self.splits[..self.interval];
        let left = within.iter().rev().find(|s| position(s) < position(&best));
        let right = within.iter().rev().find(|s| position(s) > position(&best));
        (left.copied().unwrap_or(best), right.copied().unwrap_or(best))
    }

    fn last_left(&self, s: &SplitPoint) -> IndexTuple<'a> {
        if s.new_on_left && s.first_right == self.new_off {
            self.new_item
        } else {
            self.node.tuple(s.first_right - 1)
        }
    }

    fn first_right(&self, s: &SplitPoint) -> IndexTuple<'a> {
        if !s.new_on_left && s.first_right == self.new_off {
            self.new_item
        } else {
            self.node.tuple(s.first_right)
        }
    }

    fn penalty(&self, s: &SplitPoint) -> usize {
        if self.is_leaf {
            return self.schema.keep_natts_fast(self.last_left(s), self.first_right(s));
        }
        if !s.new_on_left && s.first_right == self.new_off {
            return self.new_size as usize;
        }
        item_size(self.node, s.first_right) as usize
    }

    fn best(&self, perfect: usize, strategy: Strategy) -> SplitPoint {
        let mut best = (usize::MAX, 0);
        for (i, s) in self.splits[..self.interval].iter().enumerate() {
            let penalty = self.penalty(s);
            if penalty < best.0 {
                best = (penalty, i);
            }
            if penalty <= perfect {
                break;
            }
        }
        let found = self.splits[best.1];
        // Descending keys inserted just to the right of many duplicates would otherwise cause a
        // sequence of splits that leave half-empty right pages.
        let just_right = strategy == Strategy::ManyDuplicates
            && !self.is_rightmost
            && !found.new_on_left
            && found.first_right >= self.new_off
            && found.first_right < self.new_off + 9;
        if just_right { self.splits[0] } else { found }
    }
}

/// True if these heap tuples were probably inserted one after the other.
fn adjacent(low: Tid, high: Tid) -> bool {
    low.block == high.block || (low.block.0.wrapping_add(1) == high.block.0 && high.offset == 1)
}
