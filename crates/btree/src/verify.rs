//! Verification of a whole index: each level from left to right, and against the level above.
//! Compares tuples by a function of its own, in which a missing column or TID is minus infinity.
//!
//! Counterpart: verify_nbtree.c of amcheck.

use crate::buf::Cx;
use crate::index::Index;
use crate::schema::KeySchema;
use ids::{BlockNo, OffsetNo, Tid};
use page::btree::{HIGH_KEY, MAX_ITEM_SIZE_NO_HEAP_TID, META_BLOCK, NONE, Node};
use page::index_tuple::{HEADER_SIZE, IndexTuple, max_align};
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;

/// Statistics of a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyStats {
    pub levels: u32,
    /// Pages in the tree, the meta page not counted.
    pub pages: u32,
    /// Heap TIDs.
    pub tuples: u64,
}

/// A child page according to its parent level: its block, and the pivot tuple with its downlink
/// (none for the first page of the level).
struct Expected {
    block: BlockNo,
    low: Option<Vec<u8>>,
}

struct Verifier<'i, 'l> {
    index: &'i Index,
    stats: VerifyStats,
    on_leaf: &'l mut dyn FnMut(IndexTuple<'_>, Tid) -> Result<()>,
}

impl Index {
    /// Checks the index, which must not change concurrently. `on_leaf` is called with each heap TID
    /// and its leaf tuple, to check that the table and the index agree. Error: XX002, which
    /// describes the damage.
    pub fn verify(
        &self,
        cx: &mut Cx<'_>,
        on_leaf: &mut dyn FnMut(IndexTuple<'_>, Tid) -> Result<()>,
    ) -> Result<VerifyStats> {
        let meta = self.meta(cx)?;
        let mut v = Verifier { index: self, stats: VerifyStats::default(), on_leaf };
        if meta.root == NONE {
            return Ok(v.stats);
        }
        if meta.fast_level > meta.level {
            return Err(v.fault(META_BLOCK, "fast root is above the root"));
        }
        let mut leftmost = meta.root;
        let mut expected = vec![Expected { block: meta.root, low: None }];
        for level in (0..=meta.level).rev() {
            if level == meta.fast_level {
                let on_level = expected.iter().any(|e| e.block == meta.fast_root);
                if !on_level || expected.len() != 1 {
                    return Err(v.fault(meta.fast_root, "fast root is not alone on its level"));
                }
            }
            let children = v.level(cx, level, leftmost, expected, level == meta.level)?;
            v.stats.levels += 1;
            if level > 0 {
                let Some(first) = children.first() else {
                    return Err(v.fault(leftmost, "inner level has no downlinks"));
                };
                leftmost = first.block;
            }
            expected = children;
        }
        Ok(v.stats)
    }
}

impl Verifier<'_, '_> {
    #[cold]
    fn fault(&self, block: BlockNo, what: impl std::fmt::Display) -> PgError {
        pg_err!(INDEX_CORRUPTED, "{what} in index \"{}\"", self.index.name)
            .detail(format!("Block {block}."))
    }

    /// Checks a level against `expected`, the children according to the level above. Returns its
    /// own children, which the level below must have.
    fn level(
        &mut self,
        cx: &mut Cx<'_>,
        level: u32,
        leftmost: BlockNo,
        expected: Vec<Expected>,
        top: bool,
    ) -> Result<Vec<Expected>> {
        let mut below = Vec::new();
        let mut expected = expected.into_iter().peekable();
        let mut block = leftmost;
        let mut prev = NONE;
        let mut split_left = false;
        let mut last: Option<(Vec<u8>, bool)> = None;
        loop {
            let page = self.index.share(cx, block)?.to_buf();
            let node = Node(&page);
            self.stats.pages += 1;
            self.links(node, block, level, prev, top)?;
            if node.is_deleted() {
                return Err(self.fault(block, "deleted page is linked from its left sibling"));
            }
            if node.is_half_dead() {
                if !node.is_leaf() || node.first_data_key() <= node.max_offset() {
                    return Err(self.fault(block, "half-dead page is not an empty leaf"));
                }
            } else {
                // The right half of an incomplete split has no downlink.
                let mut low = None;
                if !split_left {
                    match expected.next() {
                        Some(e) if e.block == block => low = e.low,
                        _ => {
                            return Err(
                                self.fault(block, "page is not the next child of its parent level")
                            );
                        }
                    }
                    let next = expected.peek().and_then(|e| e.low.as_deref());
                    self.against_parent(node, block, low.as_deref(), next)?;
                }
                self.items(node, block, low.as_deref(), &mut last, &mut below)?;
            }
            split_left = node.is_incomplete_split();
            if node.is_rightmost() {
                break;
            }
            (prev, block) = (block, node.next());
            if self.stats.pages > cx.nblocks(&self.index.file)?.0 {
                return Err(self.fault(block, "circular link chain"));
            }
        }
        match expected.next() {
            Some(e) => {
                Err(self
                    .fault(e.block, "child of the parent level is not in the chain of its level"))
            }
            None => Ok(below),
        }
    }

    fn links(
        &self,
        node: Node<'_>,
        block: BlockNo,
        level: u32,
        prev: BlockNo,
        top: bool,
    ) -> Result<()> {
        if node.level() != level || node.is_leaf() != (level == 0) {
            return Err(
                self.fault(block, format!("page of level {} on level {level}", node.level()))
            );
        }
        if node.prev() != prev {
            let text = format!("left link is {}, expected {prev},", node.prev());
            return Err(self.fault(block, text));
        }
        if node.is_root() != top || (top && !node.is_rightmost() && !node.is_incomplete_split()) {
            return Err(self.fault(block, "root flag or root's siblings are wrong"));
        }
        Ok(())
    }

    /// The page's high key must not be greater than the separator of its right sibling.
    fn against_parent(
        &self,
        node: Node<'_>,
        block: BlockNo,
        low: Option<&[u8]>,
        next_low: Option<&[u8]>,
    ) -> Result<()> {
        let schema = &self.index.schema;
        if let (Some(low), Some(next)) = (low, next_low)
            && order_pivots(schema, low, next)? != Ordering::Less
        {
            return Err(self.fault(block, "downlinks are out of order"));
        }
        // After an incomplete split or deletion, the next page by downlink is not the right
        // sibling.
        if let (Some(next), false) = (next_low, node.is_rightmost() || node.is_incomplete_split()) {
            let ord = order_pivots(schema, node.high_key().bytes(), next)?;
            if ord == Ordering::Greater {
                return Err(self.fault(block, "high key is greater than the next downlink"));
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        node: Node<'_>,
        block: BlockNo,
        low: Option<&[u8]>,
        last: &mut Option<(Vec<u8>, bool)>,
        below: &mut Vec<Expected>,
    ) -> Result<()> {
        let schema = &self.index.schema;
        let leaf = node.is_leaf();
        let first = node.first_data_key();
        for off in 1..=node.max_offset() {
            self.shape(node, block, off)?;
        }
        if !leaf && node.max_offset() < first {
            return Err(self.fault(block, "inner page without items"));
        }
        for off in first..=node.max_offset() {
            let tuple = node.tuple(off);
            if !leaf {
                let low_key = (off > first).then(|| tuple.bytes().to_vec());
                let low_key = low_key.or_else(|| low.map(<[u8]>::to_vec));
                below.push(Expected { block: tuple.downlink(), low: low_key });
            }
            let minus_infinity = !leaf && off == first;
            if minus_infinity {
                continue;
            }
            if let Some(low) = low {
                let low = IndexTuple::new(low);
                if order(schema, low, low.heap_tid(), tuple, tuple.heap_tid())? != Ordering::Less {
                    return Err(
                        self.fault(block, format!("item {off} is not above the page's downlink"))
                    );
                }
            }
            if let Some((prev, prev_leaf)) = last {
                let prev = IndexTuple::new(prev);
                let prev_tid = if *prev_leaf { Some(prev.max_heap_tid()) } else { prev.heap_tid() };
                if order(schema, prev, prev_tid, tuple, tuple.heap_tid())? != Ordering::Less {
                    return Err(
                        self.fault(block, format!("item order invariant violated at item {off}"))
                    );
                }
            }
            if !node.is_rightmost() {
                let high = node.high_key();
                let tid = if leaf { Some(tuple.max_heap_tid()) } else { tuple.heap_tid() };
                let ord = order(schema, tuple, tid, high, high.heap_tid())?;
                if ord == Ordering::Greater || (!leaf && ord == Ordering::Equal) {
                    return Err(
                        self.fault(block, format!("high key invariant violated at item {off}"))
                    );
                }
            }
            *last = Some((tuple.bytes().to_vec(), leaf));
            if leaf {
                for tid in tuple.tids() {
                    self.stats.tuples += 1;
                    (self.on_leaf)(tuple, tid)?;
                }
            }
        }
        Ok(())
    }

    /// Checks the form of an item: leaf tuple, pivot tuple, high key, minus infinity.
    /// Counterpart: `_bt_check_natts`.
    fn shape(&self, node: Node<'_>, block: BlockNo, off: OffsetNo) -> Result<()> {
        let schema = &self.index.schema;
        let bad = |what: &str| self.fault(block, format!("item {off}: {what}"));
        let lp = node.line_pointer(off);
        if !lp.has_storage()
            || lp.offset() < node.upper()
            || lp.offset() + lp.len() > node.special()
        {
            return Err(bad("line pointer points outside the tuple space"));
        }
        let bytes = node.item(off);
        if bytes.len() < HEADER_SIZE
            || max_align(IndexTuple::new(bytes).size()) != max_align(lp.len())
        {
            return Err(bad("tuple size does not match the line pointer"));
        }
        let tuple = node.tuple(off);
        if tuple.size() > MAX_ITEM_SIZE_NO_HEAP_TID {
            return Err(bad("tuple is larger than a third of a page"));
        }
        if off == HIGH_KEY && !node.is_rightmost() {
            if lp.is_dead() {
                return Err(bad("high key is marked dead"));
            }
        } else if node.is_leaf() {
            if tuple.is_pivot() {
                return Err(bad("pivot tuple among leaf items"));
            }
            if tuple.is_posting() {
                let n = tuple.posting_count();
                let end = tuple.posting_offset() + n * page::index_tuple::TID_SIZE;
                if n < 2 || end > tuple.size() || tuple.posting_offset() < HEADER_SIZE {
                    return Err(bad("posting list is damaged"));
                }
                let tids: Vec<Tid> = tuple.tids().collect();
                if !tids.is_sorted_by(|a, b| a < b) {
                    return Err(bad("posting list is not in order"));
                }
            }
            return Ok(());
        } else if lp.is_dead() {
            return Err(bad("inner item is marked dead"));
        }
        if !schema.heapkeyspace {
            return Ok(());
        }
        if !tuple.is_pivot() {
            return Err(bad("not a pivot tuple"));
        }
        let natts = tuple.natts(schema.natts());
        let minus_infinity = !node.is_leaf() && off == node.first_data_key();
        let good = if minus_infinity {
            natts == 0 && tuple.size() == HEADER_SIZE
        } else {
            natts >= 1 && natts <= schema.key_count
        };
        if !good || (tuple.heap_tid().is_some() && natts != schema.key_count) {
            return Err(bad("wrong number of index tuple attributes"));
        }
        Ok(())
    }
}

fn order_pivots(schema: &KeySchema, a: &[u8], b: &[u8]) -> Result<Ordering> {
    let (a, b) = (IndexTuple::new(a), IndexTuple::new(b));
    order(schema, a, a.heap_tid(), b, b.heap_tid())
}

/// The order of two tuples, with the given TIDs.
fn order(
    schema: &KeySchema,
    a: IndexTuple<'_>,
    a_tid: Option<Tid>,
    b: IndexTuple<'_>,
    b_tid: Option<Tid>,
) -> Result<Ordering> {
    let (a_natts, b_natts) = (a.natts(schema.natts()), b.natts(schema.natts()));
    for n in 0..schema.key_count {
        match (n < a_natts, n < b_natts) {
            (true, true) => {
                let (x, y) = (a.attr(schema.shape(), n), b.attr(schema.shape(), n));
                let ord = schema.compare_stored(n, x, y)?;
                if ord != Ordering::Equal {
                    return Ok(ord);
                }
            }
            (true, false) => return Ok(Ordering::Greater),
            (false, true) => return Ok(Ordering::Less),
            (false, false) => return Ok(Ordering::Equal),
        }
    }
    if !schema.heapkeyspace {
        // Equal keys are not ordered.
        return Ok(Ordering::Less);
    }
    Ok(a_tid.cmp(&b_tid))
}
