//! WAL buffers: a ring of pages into which inserters copy concurrently.
//!
//! A page is 1,024 words of 8 bytes. Records start at multiples of 8 and are padded to one, so each
//! word belongs to one record, and copying is plain stores of words without a lock. The slots
//! (`slots`) order these stores before the reads of the thread that writes the page out.
//!
//! `ends` identifies the page of the log that a frame holds: the page's end LSN, stored after the
//! page has been zeroed and given its header. Pages are initialized in order, by the first thread
//! that needs them.
//!
//! Counterpart: GetXLogBuffer, AdvanceXLInsertBuffer in xlog.c.

use crate::layout::{
    Layout, PAGE_MAGIC, PageHeader, WAL_PAGE, XLP_BKP_REMOVABLE, XLP_FIRST_IS_CONTRECORD,
    XLP_FIRST_IS_OVERWRITE_CONTRECORD, XLP_LONG_HEADER,
};
use ids::Lsn;
use sync::Mutex;
use sync::atomic::AtomicU64;
use sync::atomic::Ordering::{Acquire, Relaxed, Release};

const WORDS: usize = WAL_PAGE / 8;
const PAGE: u64 = WAL_PAGE as u64;

pub(crate) struct Ring {
    words: Box<[AtomicU64]>,
    ends: Box<[AtomicU64]>,
    init: Mutex<NextPage>,
}

/// State of page initialization.
struct NextPage {
    /// Number of the next page to initialize.
    next: u64,
    layout: Layout,
    timeline: u32,
    system_id: u64,
    /// The page that replaces one that should have held the rest of a record.
    overwrite: Option<Lsn>,
}

/// A page cannot be initialized before the log is written up to here.
pub(crate) struct MustWrite(pub Lsn);

impl Ring {
    pub(crate) fn new(pages: usize) -> Ring {
        let zeros = |n: usize| (0..n).map(|_| AtomicU64::new(0)).collect();
        Ring {
            words: zeros(pages * WORDS),
            ends: zeros(pages),
            init: Mutex::new(NextPage {
                next: 0,
                layout: Layout::new(crate::layout::DEFAULT_SEGMENT_SIZE),
                timeline: 0,
                system_id: 0,
                overwrite: None,
            }),
        }
    }

    /// Sets the first page to initialize. If the log ends within a page, `partial` holds its bytes
    /// so far.
    pub(crate) fn start(
        &self,
        layout: Layout,
        timeline: u32,
        system_id: u64,
        end: Lsn,
        partial: Option<&[u8]>,
        overwrite: Option<Lsn>,
    ) {
        let mut init = self.init.lock();
        let page = end.0 / PAGE;
        *init = NextPage { next: page, layout, timeline, system_id, overwrite };
        if let Some(bytes) = partial {
            let frame = self.frame(page);
            let used = (end.0 % PAGE) as usize;
            for (i, word) in self.page_words(frame).iter().enumerate() {
                let at = i * 8;
                // `end` is a multiple of 8.
                let value = if at < used { crate::layout::le64(bytes, at) } else { 0 };
                word.store(value, Relaxed);
            }
            self.ends[frame].store((page + 1) * PAGE, Release);
            init.next = page + 1;
        }
    }

    fn frame(&self, page: u64) -> usize {
        (page % self.ends.len() as u64) as usize
    }

    fn page_words(&self, frame: usize) -> &[AtomicU64] {
        &self.words[frame * WORDS..(frame + 1) * WORDS]
    }

    /// True if the page of `lsn` is in the ring.
    pub(crate) fn has(&self, lsn: Lsn) -> bool {
        let page = lsn.0 / PAGE;
        self.ends[self.frame(page)].load(Acquire) == (page + 1) * PAGE
    }

    /// Initializes all pages up to the one of `lsn`. Fails if a frame still holds a page that is
    /// not `written`.
    pub(crate) fn init_pages(&self, lsn: Lsn, written: impl Fn() -> Lsn) -> Result<(), MustWrite> {
        let page = lsn.0 / PAGE;
        let mut init = self.init.lock();
        while init.next <= page {
            let number = init.next;
            let frame = self.frame(number);
            let old_end = Lsn(self.ends[frame].load(Relaxed));
            if written() < old_end {
                return Err(MustWrite(old_end));
            }
            self.ends[frame].store(0, Relaxed);
            let header = init.header(Lsn(number * PAGE));
            let mut bytes = [0; crate::layout::LONG_HEADER];
            header.write(&mut bytes);
            let used = header.size() / 8;
            for (i, word) in self.page_words(frame).iter().enumerate() {
                let value = if i < used { crate::layout::le64(&bytes, i * 8) } else { 0 };
                word.store(value, Relaxed);
            }
            self.ends[frame].store((number + 1) * PAGE, Release);
            init.next += 1;
        }
        Ok(())
    }

    /// Copies part of a record to `at`, a multiple of 8 whose page is in the ring. The bytes do not
    /// cross the end of the page. The last word is padded with zeros.
    pub(crate) fn copy_in(&self, at: Lsn, bytes: &[u8]) {
        let words = self.page_words(self.frame(at.0 / PAGE));
        let first = (at.0 % PAGE) as usize / 8;
        let words = &words[first..first + bytes.len().div_ceil(8)];
        let whole = bytes.chunks_exact(8);
        let rest = whole.remainder();
        for (word, chunk) in words.iter().zip(whole) {
            word.store(crate::layout::le64(chunk, 0), Relaxed);
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            words[words.len() - 1].store(u64::from_le_bytes(last), Relaxed);
        }
    }

    /// Marks the page at `page` as beginning with the last `rest` bytes of a record. Only the
    /// record's inserter calls this.
    pub(crate) fn set_contrecord(&self, page: Lsn, rest: u32) {
        let words = self.page_words(self.frame(page.0 / PAGE));
        let first = words[0].load(Relaxed);
        words[0].store(first | u64::from(XLP_FIRST_IS_CONTRECORD) << 16, Relaxed);
        words[2].store(u64::from(rest), Relaxed);
    }

    /// Copies the page at `page` to `out`, of a page's size. Bytes after the complete position may
    /// be partly copied records.
    pub(crate) fn copy_out(&self, page: Lsn, out: &mut [u8]) {
        debug_assert!(self.has(page), "page of unwritten log left the ring");
        let words = self.page_words(self.frame(page.0 / PAGE));
        for (chunk, word) in out.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.load(Relaxed).to_le_bytes());
        }
    }

    /// Number of pages.
    pub(crate) fn pages(&self) -> usize {
        self.ends.len()
    }
}

impl NextPage {
    fn header(&mut self, page_addr: Lsn) -> PageHeader {
        let mut info = XLP_BKP_REMOVABLE;
        if self.overwrite == Some(page_addr) {
            info |= XLP_FIRST_IS_OVERWRITE_CONTRECORD;
            self.overwrite = None;
        }
        let first = self.layout.offset_in_segment(page_addr) == 0;
        let long =
            first.then_some((self.system_id, self.layout.segment_size() as u32, WAL_PAGE as u32));
        if first {
            info |= XLP_LONG_HEADER;
        }
        PageHeader { magic: PAGE_MAGIC, info, timeline: self.timeline, page_addr, rem_len: 0, long }
    }
}
