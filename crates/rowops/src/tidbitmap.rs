//! The set of TIDs that bitmap scans collect: a bitmap of offsets for each heap page, within a
//! memory limit. Beyond the limit, pages become *lossy*: only their numbers are stored, as bits of
//! a chunk of pages, and the conditions must be checked again for all rows of such a page.
//!
//! Counterpart: tidbitmap.c. Pages become lossy in the order of their numbers, not in that of a
//! hash table.

use hashbrown::HashMap;
use ids::{BlockNo, OffsetNo, Tid};

/// Number of bytes that one page or chunk counts for the limit, as in PostgreSQL.
const ENTRY_BYTES: usize = 64;
const ENTRIES_MIN: usize = 16;
/// Number of words of the bitmap of a page. The maximum offset is that of a page of the smallest
/// rows.
const PAGE_WORDS: usize = OFFSET_MAX / 64 + 1;
/// Counterpart: `MaxHeapTuplesPerPage`.
const OFFSET_MAX: usize = 291;
const CHUNK_PAGES: u32 = 256;
const CHUNK_WORDS: usize = CHUNK_PAGES as usize / 64;

/// A page with known offsets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Page {
    words: [u64; PAGE_WORDS],
    /// The conditions must be checked again for its rows.
    recheck: bool,
}

/// The rows of one heap page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageRows {
    pub block: BlockNo,
    /// Ascending; `None`: all rows of the page.
    pub offsets: Option<Vec<OffsetNo>>,
    pub recheck: bool,
}

/// A set of TIDs.
pub struct TidBitmap {
    pages: HashMap<u32, Page>,
    /// Lossy pages, by chunk number.
    chunks: HashMap<u32, [u64; CHUNK_WORDS]>,
    entries_max: usize,
    /// All pages before this one have become lossy last.
    lossy_upto: u32,
}

impl TidBitmap {
    /// `memory` in bytes.
    pub fn new(memory: usize) -> TidBitmap {
        TidBitmap {
            pages: HashMap::new(),
            chunks: HashMap::new(),
            entries_max: (memory / ENTRY_BYTES).max(ENTRIES_MIN),
            lossy_upto: 0,
        }
    }

    fn is_lossy(&self, block: u32) -> bool {
        let Some(words) = self.chunks.get(&(block / CHUNK_PAGES)) else { return false };
        let bit = block % CHUNK_PAGES;
        words[bit as usize / 64] >> (bit % 64) & 1 != 0
    }

    fn add_lossy(&mut self, block: u32) {
        self.pages.remove(&block);
        let words = self.chunks.entry(block / CHUNK_PAGES).or_default();
        let bit = block % CHUNK_PAGES;
        words[bit as usize / 64] |= 1 << (bit % 64);
    }

    /// Adds a TID. With `recheck`, its row may not satisfy the conditions.
    pub fn add(&mut self, tid: Tid, recheck: bool) {
        let (block, offset) = (tid.block.0, usize::from(tid.offset));
        if !self.chunks.is_empty() && self.is_lossy(block) {
            return;
        }
        // Offset 0 means all rows of the page. An offset beyond the maximum comes from a corrupt
        // index.
        if offset == 0 || offset > OFFSET_MAX {
            self.add_lossy(block);
        } else {
            let page = self.pages.entry(block).or_default();
            page.words[offset / 64] |= 1 << (offset % 64);
            page.recheck |= recheck;
        }
        self.limit();
    }

    /// Makes pages lossy if there are too many entries, until half of the limit is used.
    /// Counterpart: `tbm_lossify`.
    #[inline]
    fn limit(&mut self) {
        if self.pages.len() + self.chunks.len() > self.entries_max {
            self.make_lossy();
        }
    }

    #[cold]
    fn make_lossy(&mut self) {
        let mut blocks: Vec<u32> = self.pages.keys().copied().collect();
        blocks.sort_unstable();
        // Continues after the pages that became lossy last, so that all parts of the table become
        // lossy evenly.
        let start = blocks.partition_point(|b| *b < self.lossy_upto);
        blocks.rotate_left(start);
        for block in blocks {
            self.add_lossy(block);
            self.lossy_upto = block.saturating_add(1);
            if self.pages.len() + self.chunks.len() <= self.entries_max / 2 {
                return;
            }
        }
        // The chunks alone exceed the limit.
        self.entries_max = self.entries_max.max(2 * self.chunks.len());
    }

    /// Adds all TIDs of another set.
    pub fn union(&mut self, other: TidBitmap) {
        for (chunk, words) in other.chunks {
            let own = self.chunks.entry(chunk).or_default();
            own.iter_mut().zip(words).for_each(|(a, b)| *a |= b);
            let first = chunk * CHUNK_PAGES;
            let lossy = bits(&words).map(|bit| first + bit as u32);
            for block in lossy {
                self.pages.remove(&block);
            }
            self.limit();
        }
        for (block, page) in other.pages {
            if self.is_lossy(block) {
                continue;
            }
            let own = self.pages.entry(block).or_default();
            own.words.iter_mut().zip(page.words).for_each(|(a, b)| *a |= b);
            own.recheck |= page.recheck;
            self.limit();
        }
    }

    /// Keeps the TIDs that are in another set too.
    pub fn intersect(&mut self, other: &TidBitmap) {
        self.chunks.retain(|chunk, words| {
            let first = chunk * CHUNK_PAGES;
            for bit in 0..CHUNK_PAGES {
                let block = first + bit;
                if !other.is_lossy(block) && !other.pages.contains_key(&block) {
                    words[bit as usize / 64] &= !(1 << (bit % 64));
                }
            }
            words.iter().any(|w| *w != 0)
        });
        self.pages.retain(|block, page| {
            if other.is_lossy(*block) {
                // It is not known which of the page's rows are in the other set.
                page.recheck = true;
                return true;
            }
            let Some(theirs) = other.pages.get(block) else { return false };
            page.words.iter_mut().zip(theirs.words).for_each(|(a, b)| *a &= b);
            page.recheck |= theirs.recheck;
            page.words.iter().any(|w| *w != 0)
        });
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.chunks.is_empty()
    }

    /// True if the conditions must be checked again for some rows.
    pub fn needs_recheck(&self) -> bool {
        !self.chunks.is_empty() || self.pages.values().any(|p| p.recheck)
    }

    /// The pages in ascending order.
    pub fn into_pages(self) -> Pages {
        let mut order: Vec<u32> = self.pages.keys().copied().collect();
        for (chunk, words) in &self.chunks {
            order.extend(bits(words).map(|bit| chunk * CHUNK_PAGES + bit as u32));
        }
        order.sort_unstable();
        Pages { pages: self.pages, order: order.into_iter() }
    }
}

/// The pages of a set, in ascending order.
pub struct Pages {
    pages: HashMap<u32, Page>,
    order: std::vec::IntoIter<u32>,
}

impl Iterator for Pages {
    type Item = PageRows;

    fn next(&mut self) -> Option<PageRows> {
        let block = self.order.next()?;
        Some(match self.pages.get(&block) {
            Some(page) => PageRows {
                block: BlockNo(block),
                offsets: Some(bits(&page.words).map(|n| n as OffsetNo).collect()),
                recheck: page.recheck,
            },
            None => PageRows { block: BlockNo(block), offsets: None, recheck: true },
        })
    }
}

/// Numbers of the bits that are set, ascending.
fn bits(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(n, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(n * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn set(tids: &[(u32, u16)], memory: usize) -> TidBitmap {
        let mut set = TidBitmap::new(memory);
        tids.iter().for_each(|&(block, offset)| set.add(Tid::new(BlockNo(block), offset), false));
        set
    }

    /// Pseudo-random rows.
    fn rows(seed: u64, count: usize, blocks: u64) -> Vec<(u32, u16)> {
        let mut x = seed;
        let mut below = |n: u64| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x % n
        };
        (0..count).map(|_| (below(blocks) as u32, below(291) as u16 + 1)).collect()
    }

    /// Checks that the set has these rows: exactly those on exact pages without recheck, at least
    /// those elsewhere. Returns the number of lossy pages.
    fn check(set: TidBitmap, expect: &BTreeSet<(u32, u16)>) -> usize {
        let mut by_page: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
        expect.iter().for_each(|r| by_page.entry(r.0).or_default().push(r.1));
        let mut lossy = 0;
        let mut last = None;
        let mut seen = BTreeSet::new();
        for page in set.into_pages() {
            assert!(last < Some(page.block.0));
            last = Some(page.block.0);
            seen.insert(page.block.0);
            let want = by_page.get(&page.block.0).cloned().unwrap_or_default();
            match page.offsets {
                None => lossy += 1,
                Some(have) if page.recheck => assert!(want.iter().all(|o| have.contains(o))),
                Some(have) => assert_eq!(have, want),
            }
        }
        assert!(by_page.keys().all(|b| seen.contains(b)));
        lossy
    }

    #[test]
    fn sets_within_memory_are_exact() {
        let (a, b) = (rows(1, 3000, 500), rows(2, 3000, 500));
        let (in_a, in_b): (BTreeSet<_>, BTreeSet<_>) =
            (a.iter().copied().collect(), b.iter().copied().collect());
        assert_eq!(check(set(&a, 1 << 20), &in_a), 0);
        let mut both = set(&a, 1 << 20);
        both.union(set(&b, 1 << 20));
        assert_eq!(check(both, &in_a.union(&in_b).copied().collect()), 0);
        let mut common = set(&a, 1 << 20);
        common.intersect(&set(&b, 1 << 20));
        assert!(!common.needs_recheck());
        assert_eq!(check(common, &in_a.intersection(&in_b).copied().collect()), 0);
    }

    #[test]
    fn sets_beyond_memory_become_lossy() {
        for (seed, memory) in [(3, 64 * 100), (4, 64 * 20), (5, 1)] {
            let (a, b) = (rows(seed, 3000, 2000), rows(seed + 10, 3000, 2000));
            let (in_a, in_b): (BTreeSet<_>, BTreeSet<_>) =
                (a.iter().copied().collect(), b.iter().copied().collect());
            assert!(check(set(&a, memory), &in_a) > 0);
            let mut both = set(&a, 1 << 20);
            both.union(set(&b, memory));
            assert!(check(both, &in_a.union(&in_b).copied().collect()) > 0);
            let mut limited = set(&a, memory);
            limited.union(set(&b, 1 << 20));
            assert!(limited.pages.len() + limited.chunks.len() <= limited.entries_max);
            assert!(check(limited, &in_a.union(&in_b).copied().collect()) > 0);
            for (x, y) in [(memory, 1 << 20), (1 << 20, memory), (memory, memory)] {
                let mut common = set(&a, x);
                common.intersect(&set(&b, y));
                assert!(common.needs_recheck());
                check(common, &in_a.intersection(&in_b).copied().collect());
            }
        }
    }

    #[test]
    fn whole_pages_and_rechecks_are_kept() {
        let mut set = TidBitmap::new(1 << 20);
        set.add(Tid::new(BlockNo(7), 3), false);
        assert!(!set.needs_recheck());
        set.add(Tid::new(BlockNo(7), 2), true);
        set.add(Tid::new(BlockNo(9), 0), false);
        let pages: Vec<PageRows> = set.into_pages().collect();
        let seven = PageRows { block: BlockNo(7), offsets: Some(vec![2, 3]), recheck: true };
        let nine = PageRows { block: BlockNo(9), offsets: None, recheck: true };
        assert_eq!(pages, [seven, nine]);
    }
}
