//! Pages of bloom indexes: the special space, the metapage, the tuples of signatures.
//! Counterpart: contrib/bloom/bloom.h.
//!
//! ```text
//! special space (8 bytes):   0 number of tuples | 2 flags | 4 unused | 6 page id
//! metapage (from byte 24):   0 magic number | 4 start, 6 end of the used part of the list |
//!                            8 options: length of the struct as a varlena header, words of a
//!                            signature (i32), bits of each of 32 columns (i32) |
//!                            144 list of pages that are not full (block numbers)
//! other pages (from 24):     tuples of equal size: TID (6 bytes), signature (words of 16 bits)
//! ```

use crate::{PAGE_SIZE, Page, PageMut, PageRef};
use ids::{BlockNo, Tid};

pub const META_BLOCK: BlockNo = BlockNo(0);
/// The first page with tuples.
pub const FIRST_BLOCK: BlockNo = BlockNo(1);

/// Flags of the special space.
pub const META: u16 = 1;
pub const DELETED: u16 = 2;

const PAGE_ID: u16 = 0xFF83;
const MAGIC: u32 = 0xDBAC_0DED;

pub const SPECIAL_SIZE: usize = 8;
const SPECIAL_AT: usize = PAGE_SIZE - SPECIAL_SIZE;
const FLAGS_AT: usize = SPECIAL_AT + 2;
const PAGE_ID_AT: usize = SPECIAL_AT + 6;

const CONTENTS_AT: usize = 24;
const START_AT: usize = CONTENTS_AT + 4;
const END_AT: usize = CONTENTS_AT + 6;
const OPTIONS_AT: usize = CONTENTS_AT + 8;
const OPTIONS_SIZE: usize = 8 + 4 * COLUMNS_MAX;
const LIST_AT: usize = OPTIONS_AT + OPTIONS_SIZE;

/// Columns whose number of bits the options contain.
pub const COLUMNS_MAX: usize = 32;
/// Bits of a word of a signature.
pub const WORD_BITS: u32 = 16;
/// Most bits of a signature.
pub const LENGTH_MAX: u32 = 256 * WORD_BITS;
/// Bits of a signature, and of each column, without options.
pub const LENGTH_DEFAULT: u32 = 5 * WORD_BITS;
pub const BITS_DEFAULT: u32 = 2;
/// Pages that the list of the metapage can contain.
pub const LIST_MAX: usize = ((SPECIAL_AT - LIST_AT) & !7) / 4;

/// Bytes of the TID of a tuple.
const TID_SIZE: usize = 6;

/// The options of an index, which are fixed when it is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Words of a signature.
    pub words: u32,
    /// Bits that a value of each column sets.
    pub bits: [u32; COLUMNS_MAX],
}

impl Options {
    pub const DEFAULT: Options =
        Options { words: LENGTH_DEFAULT / WORD_BITS, bits: [BITS_DEFAULT; COLUMNS_MAX] };

    /// Bytes of a tuple.
    pub const fn tuple_size(&self) -> usize {
        TID_SIZE + 2 * self.words as usize
    }

    /// Most tuples on a page.
    pub const fn tuples_max(&self) -> usize {
        (SPECIAL_AT - CONTENTS_AT) / self.tuple_size()
    }
}

/// Read access to a page as a page of a bloom index.
#[derive(Clone, Copy)]
pub struct BloomPage<'a>(pub PageRef<'a>);

impl<'a> BloomPage<'a> {
    /// True if the page has the special space of a bloom index.
    pub fn is_bloom(self) -> bool {
        self.0.special() == SPECIAL_AT && self.0.u16_at(PAGE_ID_AT) == PAGE_ID
    }

    pub fn has(self, flag: u16) -> bool {
        self.0.u16_at(FLAGS_AT) & flag != 0
    }

    /// Number of tuples.
    pub fn count(self) -> usize {
        usize::from(self.0.u16_at(SPECIAL_AT))
    }

    /// The bytes of all tuples; `None` if the number of tuples cannot be right.
    pub fn tuples(self, options: &Options) -> Option<&'a [u8]> {
        let count = self.count();
        let fits = count <= options.tuples_max();
        fits.then(|| self.0.slice(CONTENTS_AT, count * options.tuple_size()))
    }

    /// True if one more tuple fits.
    pub fn has_space(self, options: &Options) -> bool {
        self.count() < options.tuples_max()
    }

    /// The options in the metapage; `None` if the page is not a metapage, or is damaged.
    pub fn options(self) -> Option<Options> {
        if !self.is_bloom() || !self.has(META) || self.0.u32_at(CONTENTS_AT) != MAGIC {
            return None;
        }
        let words = self.0.u32_at(OPTIONS_AT + 4);
        let mut bits = [0; COLUMNS_MAX];
        for (n, bits) in bits.iter_mut().enumerate() {
            *bits = self.0.u32_at(OPTIONS_AT + 8 + 4 * n);
        }
        let sane = (1..=LENGTH_MAX / WORD_BITS).contains(&words)
            && bits.iter().all(|b| (1..LENGTH_MAX).contains(b));
        sane.then_some(Options { words, bits })
    }

    /// The used part of the list in the metapage: positions of its start and end.
    pub fn list_range(self) -> (usize, usize) {
        (usize::from(self.0.u16_at(START_AT)), usize::from(self.0.u16_at(END_AT)).min(LIST_MAX))
    }

    /// Entry `n` of the list in the metapage.
    pub fn list_entry(self, n: usize) -> BlockNo {
        assert!(n < LIST_MAX);
        BlockNo(self.0.u32_at(LIST_AT + 4 * n))
    }
}

/// The TID and the signature of a tuple, of at least [`TID_SIZE`] bytes.
pub fn parts(tuple: &[u8]) -> (Tid, &[u8]) {
    match tuple.split_first_chunk::<TID_SIZE>() {
        Some((tid, signature)) => (Tid::from_bytes(*tid), signature),
        None => (Tid::INVALID, &[]),
    }
}

/// Makes an empty page.
pub fn init(page: PageMut<'_>, flags: u16) {
    page.init(SPECIAL_SIZE);
    page.set_u16_at(FLAGS_AT, flags);
    page.set_u16_at(PAGE_ID_AT, PAGE_ID);
}

/// Makes a metapage with an empty list.
pub fn init_meta(page: PageMut<'_>, options: &Options) {
    init(page, META);
    page.set_u32_at(CONTENTS_AT, MAGIC);
    page.set_u32_at(OPTIONS_AT, (OPTIONS_SIZE as u32) << 2);
    page.set_u32_at(OPTIONS_AT + 4, options.words);
    for (n, bits) in options.bits.iter().enumerate() {
        page.set_u32_at(OPTIONS_AT + 8 + 4 * n, *bits);
    }
    page.set_lower(LIST_AT + 4 * LIST_MAX);
}

/// Replaces the list in the metapage; at most [`LIST_MAX`] blocks.
pub fn set_list(page: PageMut<'_>, blocks: &[BlockNo]) {
    assert!(blocks.len() <= LIST_MAX);
    for (n, block) in blocks.iter().enumerate() {
        page.set_u32_at(LIST_AT + 4 * n, block.0);
    }
    page.set_u16_at(START_AT, 0);
    page.set_u16_at(END_AT, blocks.len() as u16);
}

/// Sets the start of the used part of the list in the metapage.
pub fn set_list_start(page: PageMut<'_>, start: usize) {
    page.set_u16_at(START_AT, start as u16);
}

/// Appends a tuple; false if it does not fit.
pub fn append(page: PageMut<'_>, options: &Options, tuple: &[u8]) -> bool {
    debug_assert_eq!(tuple.len(), options.tuple_size());
    let count = BloomPage(page).count();
    if count >= options.tuples_max() {
        return false;
    }
    let at = CONTENTS_AT + count * tuple.len();
    page.bytes_mut()[at..at + tuple.len()].copy_from_slice(tuple);
    page.set_u16_at(SPECIAL_AT, count as u16 + 1);
    page.set_lower(at + tuple.len());
    true
}

/// Removes the tuples of dead rows, and marks a page that becomes empty as deleted. Returns the
/// number of tuples removed.
pub fn remove(page: PageMut<'_>, options: &Options, is_dead: &mut dyn FnMut(Tid) -> bool) -> usize {
    let size = options.tuple_size();
    let count = BloomPage(page).count().min(options.tuples_max());
    let mut kept = 0;
    for n in 0..count {
        let at = CONTENTS_AT + n * size;
        let (tid, _) = parts(page.slice(at, size));
        if is_dead(tid) {
            continue;
        }
        if kept != n {
            page.bytes_mut().copy_within(at..at + size, CONTENTS_AT + kept * size);
        }
        kept += 1;
    }
    if kept != count {
        page.set_u16_at(SPECIAL_AT, kept as u16);
        page.set_lower(CONTENTS_AT + kept * size);
        if kept == 0 {
            page.set_u16_at(FLAGS_AT, page.u16_at(FLAGS_AT) | DELETED);
        }
    }
    count - kept
}

/// True if the page has no tuples and is not the metapage: it is new or deleted.
pub fn is_unused(page: &Page) -> bool {
    page.is_new() || BloomPage(page).has(DELETED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageBuf;

    #[test]
    fn the_metapage_has_the_layout_of_postgresql() {
        let mut page = PageBuf::new();
        let mut options = Options::DEFAULT;
        options.bits[1] = 7;
        init_meta(&mut page, &options);
        assert_eq!(BloomPage(&page).options(), Some(options));
        assert_eq!((LIST_MAX, page.lower(), page.special()), (2004, 8184, 8184));
        assert_eq!((page.u32_at(32), page.u32_at(36), page.u32_at(44)), (544, 5, 7));
        set_list(&mut page, &[BlockNo(3), BlockNo(9)]);
        set_list_start(&mut page, 1);
        assert_eq!(BloomPage(&page).list_range(), (1, 2));
        assert_eq!(BloomPage(&page).list_entry(1), BlockNo(9));
    }

    #[test]
    fn tuples_are_appended_and_removed() {
        let options = Options { words: 40, ..Options::DEFAULT };
        let mut page = PageBuf::new();
        init(&mut page, 0);
        let tuple =
            |n: u16| [Tid::new(BlockNo(1), n).to_bytes().to_vec(), vec![n as u8; 80]].concat();
        let mut count = 0;
        while append(&mut page, &options, &tuple(count + 1)) {
            count += 1;
        }
        assert_eq!(usize::from(count), options.tuples_max());
        let half = remove(&mut page, &options, &mut |tid| tid.offset % 2 == 0);
        assert_eq!(half, usize::from(count) / 2);
        let tuples = BloomPage(&page).tuples(&options).unwrap().to_vec();
        for (n, found) in tuples.chunks(options.tuple_size()).enumerate() {
            assert_eq!(found, tuple(2 * n as u16 + 1));
        }
        assert!(!is_unused(&page));
        remove(&mut page, &options, &mut |_| true);
        assert!(is_unused(&page));
        assert_eq!(page.lower(), 24);
    }
}
