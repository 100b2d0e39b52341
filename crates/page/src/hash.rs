//! Hash index pages: the special space, the meta page, bitmap pages, index tuples, and the mapping
//! from hash codes to buckets and from buckets to blocks. Counterpart: access/hash.h, hashutil.c.
//!
//! ```text
//! special space (16 bytes):  0 prev | 4 next | 8 bucket | 12 flags | 14 page id (0xFF80)
//! meta page (from byte 24):  0 magic | 4 version | 8 tuples (f64) | 16 fill factor (tuples per
//!                            bucket) | 18 page bytes | 20 bitmap bytes | 22 log2 of bitmap bits |
//!                            24 max bucket | 28 high mask | 32 low mask | 36 splitpoint |
//!                            40 first free overflow page | 44 bitmaps | 48 hash function |
//!                            52 spares (98 words) | 444 blocks of bitmaps (1024 words)
//! bitmap page (from 24):     4096 bytes, a bit per overflow page, set if in use
//! index tuple (16 bytes):    0 heap TID | 6 info | 8 hash code | 12 padding
//! ```
//! Items of bucket and overflow pages are in ascending order of their hash codes. In a bucket page
//! `prev` is the number of the last bucket when this bucket was made or split last.
//!
//! Blocks are in groups: the buckets of splitpoint 0, overflow pages, the buckets of splitpoint 1,
//! overflow pages, and so on. `spares[n]` is the number of overflow pages (and bitmap pages) before
//! the buckets of splitpoint `n + 1`.

use crate::index_tuple::HEADER_SIZE as TUPLE_HEADER;
use crate::{PAGE_SIZE, Page, PageMut, PageRef};
use ids::{BlockNo, OffsetNo, Oid, Tid};

pub const META_BLOCK: BlockNo = BlockNo(0);
pub const MAGIC: u32 = 0x0644_0640;
pub const VERSION: u32 = 4;

/// Flags of the special space. The first four are types of pages; a page without any is unused.
pub const LH_OVERFLOW_PAGE: u16 = 1 << 0;
pub const LH_BUCKET_PAGE: u16 = 1 << 1;
pub const LH_BITMAP_PAGE: u16 = 1 << 2;
pub const LH_META_PAGE: u16 = 1 << 3;
pub const LH_BUCKET_BEING_POPULATED: u16 = 1 << 4;
pub const LH_BUCKET_BEING_SPLIT: u16 = 1 << 5;
pub const LH_BUCKET_NEEDS_SPLIT_CLEANUP: u16 = 1 << 6;
pub const LH_PAGE_HAS_DEAD_TUPLES: u16 = 1 << 7;
/// The bits of the type of a page.
pub const LH_PAGE_TYPE: u16 = LH_OVERFLOW_PAGE | LH_BUCKET_PAGE | LH_BITMAP_PAGE | LH_META_PAGE;

/// Identifies the pages of hash indexes, at the place of the B-tree's cycle id.
pub const PAGE_ID: u16 = 0xFF80;
/// No bucket. Counterpart: `InvalidBucket`.
pub const NO_BUCKET: u32 = u32::MAX;

pub const SPECIAL_SIZE: usize = 16;
const SPECIAL_AT: usize = PAGE_SIZE - SPECIAL_SIZE;
/// Byte offset of the flags, for hints.
pub const FLAGS_AT: usize = SPECIAL_AT + 12;
const CONTENTS_AT: usize = 24;

/// Number of splitpoint phases, the size of `spares`. Counterpart: `HASH_MAX_SPLITPOINTS`.
pub const SPLITPOINTS_MAX: usize = (32 - ONE_PHASE_GROUPS as usize) * 4 + ONE_PHASE_GROUPS as usize;
/// Most bitmap pages. Counterpart: `HASH_MAX_BITMAPS`.
pub const BITMAPS_MAX: usize = 1024;
/// The first splitpoint groups are allocated at once, later ones in four phases.
const ONE_PHASE_GROUPS: u32 = 10;
/// Bytes of the bits on a bitmap page.
pub const BITMAP_SIZE: u16 = 4096;
const BITMAP_SHIFT: u16 = 15;
/// Number of bits on a bitmap page.
pub const BITMAP_BITS: u32 = 1 << BITMAP_SHIFT;
const SPARES_AT: usize = CONTENTS_AT + 52;
const MAPS_AT: usize = SPARES_AT + SPLITPOINTS_MAX * 4;
/// `sizeof(HashMetaPageData)`.
const META_SIZE: usize = (52 + SPLITPOINTS_MAX * 4 + BITMAPS_MAX * 4).next_multiple_of(8);

pub const DEFAULT_FILLFACTOR: u32 = 75;
/// Most buckets that an index is created with.
const INITIAL_BUCKETS_MAX: f64 = 1_073_741_824.0;
/// A bucket with a larger number is never made. Counterpart: the limit in `_hash_expandtable`.
pub const BUCKET_MAX: u32 = 0x7FFF_FFFE;

/// Size of an index tuple: header, hash code, padding.
pub const TUPLE_SIZE: usize = 16;
/// Set in `t_info` of tuples that a running split has copied. Counterpart:
/// `INDEX_MOVED_BY_SPLIT_MASK`.
pub const MOVED_BY_SPLIT: u16 = 0x2000;
/// Bytes of a tuple and its line pointer.
const ITEM_WIDTH: usize = TUPLE_SIZE + 4;

/// The number of tuples per bucket at which an index with this fill factor (in percent) grows.
pub fn tuples_per_bucket(fillfactor: u32) -> u16 {
    let target = PAGE_SIZE * fillfactor as usize / 100;
    (target / ITEM_WIDTH).max(10) as u16
}

/// The splitpoint phase in which the last of `buckets` buckets is allocated. Counterpart:
/// `_hash_spareindex`.
pub fn spare_index(buckets: u32) -> u32 {
    let group = ceil_log2(buckets);
    if group < ONE_PHASE_GROUPS {
        return group;
    }
    let phases = ONE_PHASE_GROUPS + (group - ONE_PHASE_GROUPS) * 4;
    phases + ((buckets - 1) >> (group - 3) & 3)
}

/// Number of buckets that exist after the splitpoint phase. Counterpart: `_hash_get_totalbuckets`.
pub fn total_buckets(phase: u32) -> u32 {
    if phase < ONE_PHASE_GROUPS {
        return 1 << phase;
    }
    let later = phase - ONE_PHASE_GROUPS;
    let half = 1u32 << (ONE_PHASE_GROUPS + later / 4 - 1);
    half + half / 4 * (later % 4 + 1)
}

/// The smallest power of two that is not less than `n`, as an exponent.
fn ceil_log2(n: u32) -> u32 {
    if n <= 1 { 0 } else { 32 - (n - 1).leading_zeros() }
}

/// The number of buckets for an estimated number of tuples. Counterpart: the first part of
/// `_hash_init_metabuffer`.
pub fn initial_buckets(tuples: f64, per_bucket: u16) -> u32 {
    let wanted = tuples / f64::from(per_bucket);
    if wanted <= 2.0 || wanted.is_nan() {
        2
    } else if wanted >= INITIAL_BUCKETS_MAX {
        INITIAL_BUCKETS_MAX as u32
    } else {
        total_buckets(spare_index(wanted as u32))
    }
}

/// The masks that map hash codes to buckets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masks {
    /// Number of the last bucket.
    pub max_bucket: u32,
    pub high_mask: u32,
    pub low_mask: u32,
}

impl Masks {
    /// The masks of an index with so many buckets.
    pub fn of(buckets: u32) -> Masks {
        let high_mask = (buckets + 1).next_power_of_two() - 1;
        Masks { max_bucket: buckets - 1, high_mask, low_mask: high_mask >> 1 }
    }

    /// Counterpart: `_hash_hashkey2bucket`.
    #[inline]
    pub fn bucket(&self, hash: u32) -> u32 {
        let bucket = hash & self.high_mask;
        if bucket > self.max_bucket { bucket & self.low_mask } else { bucket }
    }

    /// The bucket that was split off `old` last. Counterpart:
    /// `_hash_get_newbucket_from_oldbucket`.
    pub fn split_off(&self, old: u32) -> u32 {
        let new = old | self.low_mask.wrapping_add(1);
        if new > self.max_bucket { old | ((self.low_mask >> 1) + 1) } else { new }
    }
}

/// The bucket that `new` was split off: without its highest bit.
pub fn split_from(new: u32) -> u32 {
    if new == 0 { 0 } else { new & ((1 << (31 - new.leading_zeros())) - 1) }
}

/// The special space, decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opaque {
    /// In a bucket page not a block but a bucket: see the module's head.
    pub prev: BlockNo,
    pub next: BlockNo,
    pub bucket: u32,
    pub flags: u16,
}

impl Opaque {
    /// Of a page that is not in use.
    pub const UNUSED: Opaque =
        Opaque { prev: BlockNo::INVALID, next: BlockNo::INVALID, bucket: NO_BUCKET, flags: 0 };

    /// Writes it, with the page id.
    pub fn set(self, page: PageMut<'_>) {
        page.set_u32_at(SPECIAL_AT, self.prev.0);
        page.set_u32_at(SPECIAL_AT + 4, self.next.0);
        page.set_u32_at(SPECIAL_AT + 8, self.bucket);
        page.set_u16_at(FLAGS_AT, self.flags);
        page.set_u16_at(FLAGS_AT + 2, PAGE_ID);
    }

    /// Makes the page empty with this special space.
    pub fn init(self, page: PageMut<'_>) {
        page.init(SPECIAL_SIZE);
        self.set(page);
    }

    /// Of the primary page of `bucket`. Counterpart: `_hash_initbuf`.
    pub fn primary(bucket: u32, max_bucket: u32, flags: u16) -> Opaque {
        Opaque { prev: BlockNo(max_bucket), next: BlockNo::INVALID, bucket, flags }
    }

    /// Of an overflow page at the end of a chain.
    pub fn overflow(bucket: u32, prev: BlockNo) -> Opaque {
        Opaque { prev, next: BlockNo::INVALID, bucket, flags: LH_OVERFLOW_PAGE }
    }
}

/// Read access to a page as a page of a hash index.
#[derive(Clone, Copy)]
pub struct HashPage<'a>(pub PageRef<'a>);

impl<'a> HashPage<'a> {
    #[inline]
    pub fn prev(self) -> BlockNo {
        BlockNo(self.0.u32_at(SPECIAL_AT))
    }

    #[inline]
    pub fn next(self) -> BlockNo {
        BlockNo(self.0.u32_at(SPECIAL_AT + 4))
    }

    #[inline]
    pub fn bucket(self) -> u32 {
        self.0.u32_at(SPECIAL_AT + 8)
    }

    #[inline]
    pub fn flags(self) -> u16 {
        self.0.u16_at(FLAGS_AT)
    }

    #[inline]
    pub fn has(self, flag: u16) -> bool {
        self.flags() & flag != 0
    }

    pub fn opaque(self) -> Opaque {
        Opaque { prev: self.prev(), next: self.next(), bucket: self.bucket(), flags: self.flags() }
    }

    /// Of a bucket page: the number of the last bucket when it was made or split last.
    #[inline]
    pub fn max_bucket_at_split(self) -> u32 {
        self.0.u32_at(SPECIAL_AT)
    }

    /// True if the page has a special space of this size.
    #[inline]
    pub fn has_special(self) -> bool {
        self.0.special() == SPECIAL_AT
    }

    /// True if it is a page of a hash index, in use or not.
    pub fn is_hash(self) -> bool {
        self.has_special() && self.0.u16_at(FLAGS_AT + 2) == PAGE_ID
    }

    /// The hash code of the item at `offset`; of a damaged item 0.
    #[inline]
    pub fn hash(self, offset: OffsetNo) -> u32 {
        hash_of(self.0.item(offset))
    }

    #[inline]
    pub fn tid(self, offset: OffsetNo) -> Tid {
        let tid = self.0.item(offset).first_chunk::<6>();
        tid.map_or(Tid::new(BlockNo(0), 0), |b| Tid::from_bytes(*b))
    }

    /// True if the item was copied here by the split that is running.
    pub fn is_moved(self, offset: OffsetNo) -> bool {
        let info = self.0.item(offset).get(6..8);
        info.is_some_and(|b| u16::from_le_bytes([b[0], b[1]]) & MOVED_BY_SPLIT != 0)
    }

    /// The first offset whose hash code is at least `hash`; one beyond the last if there is none.
    /// Counterpart: `_hash_binsearch`.
    pub fn lower_bound(self, hash: u32) -> OffsetNo {
        let (mut low, mut high) = (1, self.0.max_offset() + 1);
        while low < high {
            let middle = low.midpoint(high);
            if self.hash(middle) < hash {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Bit `bit` of a bitmap page: is the overflow page in use?
    pub fn is_used(self, bit: u32) -> bool {
        self.0.u32_at(bitmap_word(bit)) >> (bit % 32) & 1 != 0
    }

    /// The first clear bit of a bitmap page between `from`, rounded down to a multiple of 32, and
    /// the word of `last`.
    pub fn first_free(self, from: u32, last: u32) -> Option<u32> {
        (from / 32..=last / 32).find_map(|n| {
            let word = self.0.u32_at(bitmap_word(n * 32));
            (word != u32::MAX).then(|| n * 32 + word.trailing_ones())
        })
    }
}

/// The hash code of an index tuple; of a damaged one 0.
#[inline]
pub fn hash_of(tuple: &[u8]) -> u32 {
    let code = tuple.get(TUPLE_HEADER..).and_then(|b| b.first_chunk::<4>());
    code.map_or(0, |b| u32::from_le_bytes(*b))
}

/// Makes the index tuple of a row. Counterpart: `_hash_convert_tuple` with `index_form_tuple`.
pub fn tuple(hash: u32, tid: Tid) -> [u8; TUPLE_SIZE] {
    let mut out = [0; TUPLE_SIZE];
    out[..6].copy_from_slice(&tid.to_bytes());
    out[6..8].copy_from_slice(&(TUPLE_SIZE as u16).to_le_bytes());
    out[8..12].copy_from_slice(&hash.to_le_bytes());
    out
}

/// Byte offset on a bitmap page of the word with `bit`.
fn bitmap_word(bit: u32) -> usize {
    CONTENTS_AT + (bit % BITMAP_BITS / 32) as usize * 4
}

/// Sets or clears a bit of a bitmap page.
pub fn set_used(page: PageMut<'_>, bit: u32, used: bool) {
    let at = bitmap_word(bit);
    let (word, mask) = (page.u32_at(at), 1 << (bit % 32));
    page.set_u32_at(at, if used { word | mask } else { word & !mask });
}

/// Makes a bitmap page with all bits set. Counterpart: `_hash_initbitmapbuffer`.
pub fn init_bitmap(page: PageMut<'_>, bytes: u16) {
    Opaque { flags: LH_BITMAP_PAGE, ..Opaque::UNUSED }.init(page);
    let end = CONTENTS_AT + usize::from(bytes);
    if let Some(bits) = page.bytes_mut().get_mut(CONTENTS_AT..end.min(SPECIAL_AT)) {
        bits.fill(0xFF);
    }
    page.set_lower(end);
}

/// Sets the flags `on` and clears the flags `off`.
pub fn change_flags(page: PageMut<'_>, on: u16, off: u16) {
    let flags = page.u16_at(FLAGS_AT);
    page.set_u16_at(FLAGS_AT, flags & !off | on);
}

pub fn set_flags(page: PageMut<'_>, flags: u16) {
    page.set_u16_at(FLAGS_AT, flags);
}

pub fn set_prev(page: PageMut<'_>, prev: BlockNo) {
    page.set_u32_at(SPECIAL_AT, prev.0);
}

pub fn set_next(page: PageMut<'_>, next: BlockNo) {
    page.set_u32_at(SPECIAL_AT + 4, next.0);
}

/// Makes the meta page of an index with so many tuples, by estimate. Counterpart:
/// `_hash_init_metabuffer`.
pub fn init_meta(page: PageMut<'_>, tuples: f64, function: Oid, per_bucket: u16) {
    let buckets = initial_buckets(tuples, per_bucket);
    Opaque { flags: LH_META_PAGE, ..Opaque::UNUSED }.init(page);
    page.bytes_mut()[CONTENTS_AT..CONTENTS_AT + META_SIZE].fill(0);
    page.set_lower(CONTENTS_AT + META_SIZE);
    page.set_u32_at(CONTENTS_AT, MAGIC);
    page.set_u32_at(CONTENTS_AT + 4, VERSION);
    page.set_u16_at(CONTENTS_AT + 16, per_bucket);
    page.set_u16_at(CONTENTS_AT + 18, (PAGE_SIZE - CONTENTS_AT - SPECIAL_SIZE) as u16);
    page.set_u16_at(CONTENTS_AT + 20, BITMAP_SIZE);
    page.set_u16_at(CONTENTS_AT + 22, BITMAP_SHIFT);
    page.set_u32_at(CONTENTS_AT + 48, function.0);
    let phase = spare_index(buckets);
    let mut meta = MetaMut(page);
    meta.set_masks(Masks::of(buckets));
    meta.set_splitpoint(phase, 1);
}

/// Read access to the meta page.
#[derive(Clone, Copy)]
pub struct Meta<'a>(pub PageRef<'a>);

impl Meta<'_> {
    fn word(self, at: usize) -> u32 {
        self.0.u32_at(CONTENTS_AT + at)
    }

    pub fn magic(self) -> u32 {
        self.word(0)
    }

    pub fn version(self) -> u32 {
        self.word(4)
    }

    /// Number of tuples in the index, which is approximate after VACUUM and crashes.
    pub fn tuples(self) -> f64 {
        f64::from_bits(self.0.u64_at(CONTENTS_AT + 8))
    }

    pub fn tuples_per_bucket(self) -> u16 {
        self.0.u16_at(CONTENTS_AT + 16)
    }

    pub fn bitmap_size(self) -> u16 {
        self.0.u16_at(CONTENTS_AT + 20)
    }

    pub fn masks(self) -> Masks {
        Masks { max_bucket: self.word(24), high_mask: self.word(28), low_mask: self.word(32) }
    }

    /// The splitpoint phase to which new overflow pages are added.
    pub fn splitpoint(self) -> u32 {
        self.word(36)
    }

    /// No overflow page with a lower number is free.
    pub fn first_free(self) -> u32 {
        self.word(40)
    }

    /// Number of bitmap pages.
    pub fn bitmaps(self) -> u32 {
        self.word(44)
    }

    /// Number of overflow pages up to splitpoint phase `n`.
    pub fn spares(self, n: u32) -> u32 {
        if n as usize >= SPLITPOINTS_MAX { 0 } else { self.0.u32_at(SPARES_AT + n as usize * 4) }
    }

    /// Block of bitmap page number `n`.
    pub fn bitmap(self, n: u32) -> Option<BlockNo> {
        let there = n < self.bitmaps() && (n as usize) < BITMAPS_MAX;
        there.then(|| BlockNo(self.0.u32_at(MAPS_AT + n as usize * 4)))
    }

    /// The mapping from buckets to blocks.
    pub fn map(self) -> BucketMap {
        let mut spares = [0; SPLITPOINTS_MAX];
        for (n, slot) in spares.iter_mut().enumerate() {
            *slot = self.0.u32_at(SPARES_AT + n * 4);
        }
        BucketMap { masks: self.masks(), splitpoint: self.splitpoint(), spares }
    }

    /// True if the index has so many items that it needs one more bucket.
    pub fn is_overfull(self) -> bool {
        let buckets = f64::from(self.masks().max_bucket) + 1.0;
        self.tuples() > f64::from(self.tuples_per_bucket()) * buckets
    }
}

/// Write access to the meta page.
pub struct MetaMut<'a>(pub PageMut<'a>);

impl MetaMut<'_> {
    pub fn set_tuples(&mut self, tuples: f64) {
        self.0.set_u64_at(CONTENTS_AT + 8, tuples.to_bits());
    }

    pub fn add_tuples(&mut self, change: f64) {
        let tuples = Meta(self.0).tuples();
        self.set_tuples(tuples + change);
    }

    pub fn set_masks(&mut self, masks: Masks) {
        self.0.set_u32_at(CONTENTS_AT + 24, masks.max_bucket);
        self.0.set_u32_at(CONTENTS_AT + 28, masks.high_mask);
        self.0.set_u32_at(CONTENTS_AT + 32, masks.low_mask);
    }

    pub fn set_first_free(&mut self, bit: u32) {
        self.0.set_u32_at(CONTENTS_AT + 40, bit);
    }

    /// Begins splitpoint phase `n`, with so many overflow pages before it. A number beyond the last
    /// phase, from a damaged record, changes nothing.
    pub fn set_splitpoint(&mut self, n: u32, spares: u32) {
        if (n as usize) < SPLITPOINTS_MAX {
            self.0.set_u32_at(CONTENTS_AT + 36, n);
            self.0.set_u32_at(SPARES_AT + n as usize * 4, spares);
        }
    }

    /// Counts one more overflow (or bitmap) page.
    pub fn add_spare(&mut self) {
        let n = Meta(self.0).splitpoint();
        let spares = Meta(self.0).spares(n);
        self.set_splitpoint(n, spares + 1);
    }

    /// Adds a bitmap page. False: there are too many.
    pub fn add_bitmap(&mut self, block: BlockNo) -> bool {
        let n = Meta(self.0).bitmaps();
        if n as usize >= BITMAPS_MAX {
            return false;
        }
        self.0.set_u32_at(MAPS_AT + n as usize * 4, block.0);
        self.0.set_u32_at(CONTENTS_AT + 44, n + 1);
        true
    }
}

/// The part of the meta page that maps hash codes to buckets and buckets to blocks. A copy stays
/// correct for the buckets that it contains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BucketMap {
    pub masks: Masks,
    splitpoint: u32,
    spares: [u32; SPLITPOINTS_MAX],
}

impl BucketMap {
    /// The primary page of a bucket. Counterpart: `BUCKET_TO_BLKNO`.
    #[inline]
    pub fn block(&self, bucket: u32) -> BlockNo {
        if bucket == 0 {
            return BlockNo(1);
        }
        let phase = spare_index(bucket + 1) as usize;
        BlockNo(bucket + self.spares[(phase - 1).min(SPLITPOINTS_MAX - 1)] + 1)
    }

    /// The block of an overflow page by its number. Counterpart: `bitno_to_blkno`.
    pub fn overflow_block(&self, number: u32) -> BlockNo {
        let nth = number + 1;
        let last = self.splitpoint.min(SPLITPOINTS_MAX as u32 - 1);
        let phase = (1..last).find(|&n| nth <= self.spares[n as usize]).unwrap_or(last.max(1));
        BlockNo(total_buckets(phase) + nth)
    }

    /// The number of an overflow page by its block; `None` if the block has another use.
    /// Counterpart: `_hash_ovflblkno_to_bitno`.
    pub fn overflow_number(&self, block: BlockNo) -> Option<u32> {
        let last = self.splitpoint.min(SPLITPOINTS_MAX as u32 - 1);
        (1..=last).find_map(|phase| {
            let nth = block.0.checked_sub(total_buckets(phase))?;
            let (before, upto) = (self.spares[phase as usize - 1], self.spares[phase as usize]);
            (nth > before && nth <= upto).then(|| nth - 1)
        })
    }

    /// Number of overflow pages, bitmap pages counted.
    pub fn overflow_pages(&self) -> u32 {
        self.spares[(self.splitpoint as usize).min(SPLITPOINTS_MAX - 1)]
    }
}

/// True if the page is in use, and of one of these types.
pub fn is_type(page: &Page, types: u16) -> bool {
    HashPage(page).has(types)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageBuf;

    #[test]
    fn meta_page_has_the_size_of_postgresql() {
        let mut page = PageBuf::new();
        init_meta(&mut page, 0.0, Oid(450), tuples_per_bucket(75));
        assert_eq!(page.lower(), 4568);
        let meta = Meta(&page);
        assert_eq!((meta.magic(), meta.version(), meta.tuples_per_bucket()), (MAGIC, 4, 307));
        assert_eq!(meta.masks(), Masks { max_bucket: 1, high_mask: 3, low_mask: 1 });
        assert_eq!((meta.splitpoint(), meta.spares(1), meta.bitmaps()), (1, 1, 0));
        assert!(HashPage(&page).is_hash() && is_type(&page, LH_META_PAGE));
    }

    #[test]
    fn splitpoint_phases_hold_their_buckets() {
        // One phase up to 512 buckets, then quarters of each doubling.
        assert_eq!([1, 2, 3, 4, 5, 512, 513].map(spare_index), [0, 1, 2, 2, 3, 9, 10]);
        assert_eq!([640, 641, 768, 769, 1024, 1025].map(spare_index), [10, 11, 11, 12, 13, 14]);
        assert_eq!([0, 1, 9, 10, 11, 13, 14].map(total_buckets), [1, 2, 512, 640, 768, 1024, 1280]);
        for buckets in (1..5000).chain([1 << 20, (1 << 20) + 1, 0x7FFF_FFFF]) {
            let phase = spare_index(buckets);
            assert!(total_buckets(phase) >= buckets);
            assert!(phase == 0 || total_buckets(phase - 1) < buckets);
        }
        assert!((spare_index(0x7FFF_FFFF) as usize) < SPLITPOINTS_MAX);
    }

    #[test]
    fn masks_map_to_existing_buckets() {
        for buckets in 2..600 {
            let masks = Masks::of(buckets);
            for hash in (0..5000u32).map(|n| n.wrapping_mul(0x9E37_79B9)) {
                let bucket = masks.bucket(hash);
                assert!(bucket < buckets);
                if bucket > 1 {
                    // Before the split that made this bucket, the code was in the other one.
                    let before = Masks::of(bucket);
                    assert_eq!(before.bucket(hash), split_from(bucket));
                }
            }
        }
        let masks = Masks::of(6);
        assert_eq!([0, 1, 2, 3].map(|b| masks.split_off(b)), [4, 5, 2, 3]);
        assert_eq!([4, 5, 6, 7, 1].map(split_from), [0, 1, 2, 3, 0]);
    }

    /// Grows an index in the mind and checks that no two uses share a block.
    #[test]
    fn blocks_have_one_use() {
        let mut page = PageBuf::new();
        init_meta(&mut page, 0.0, Oid(450), 307);
        let mut used = std::collections::BTreeMap::from([(BlockNo(0), "meta".to_owned())]);
        let mut overflow = Vec::new();
        for n in 0..3000u32 {
            let mut meta = MetaMut(&mut page);
            if n.is_multiple_of(3) && n > 0 {
                meta.add_spare();
                overflow.push(Meta(meta.0).map().overflow_pages() - 1);
            } else if n > 1 {
                let old = Meta(meta.0).masks();
                let buckets = old.max_bucket + 2;
                let phase = spare_index(buckets);
                if phase > Meta(meta.0).splitpoint() {
                    let spares = Meta(meta.0).spares(Meta(meta.0).splitpoint());
                    meta.set_splitpoint(phase, spares);
                }
                meta.set_masks(Masks::of(buckets));
            }
        }
        let map = Meta(&page).map();
        overflow.insert(0, 0);
        for bucket in 0..=map.masks.max_bucket {
            assert_eq!(used.insert(map.block(bucket), format!("bucket {bucket}")), None);
        }
        for &number in &overflow {
            let block = map.overflow_block(number);
            assert_eq!(map.overflow_number(block), Some(number));
            assert_eq!(used.insert(block, format!("overflow {number}")), None);
        }
        assert!(used.len() > 2500);
    }

    #[test]
    fn bitmaps_find_the_first_free_page() {
        let mut page = PageBuf::new();
        init_bitmap(&mut page, BITMAP_SIZE);
        assert_eq!((page.lower(), HashPage(&page).first_free(0, BITMAP_BITS - 1)), (4120, None));
        for bit in [70, 40_000 % BITMAP_BITS] {
            set_used(&mut page, bit, false);
        }
        assert_eq!(HashPage(&page).first_free(0, BITMAP_BITS - 1), Some(70));
        assert_eq!(HashPage(&page).first_free(71, 2000), Some(70));
        set_used(&mut page, 70, true);
        assert_eq!(HashPage(&page).first_free(0, 2000), None);
        assert_eq!(HashPage(&page).first_free(96, BITMAP_BITS - 1), Some(40_000 % BITMAP_BITS));
        assert!(HashPage(&page).is_used(70) && !HashPage(&page).is_used(7232));
    }

    #[test]
    fn items_are_found_by_hash_code() {
        let mut page = PageBuf::new();
        Opaque::primary(0, 1, LH_BUCKET_PAGE).init(&mut page);
        for (n, hash) in [3, 3, 7, 9, 9, 9].into_iter().enumerate() {
            let item = tuple(hash, Tid::new(BlockNo(n as u32), 1));
            assert!(crate::index_space::append(&mut page, &item));
        }
        let p = HashPage(&page);
        assert_eq!([0, 3, 4, 9, 10].map(|h| p.lower_bound(h)), [1, 1, 3, 4, 7]);
        assert_eq!((p.hash(3), p.tid(3)), (7, Tid::new(BlockNo(2), 1)));
        assert!(!p.is_moved(3));
    }
}
