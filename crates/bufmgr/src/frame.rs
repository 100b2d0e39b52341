//! Buffer frames: the arena of pages, and a descriptor of 64 bytes for each.
//!
//! All state that changes often is in one atomic word:
//!
//! ```text
//! 63            48        40   36       24           0
//!  |   unused    |  flags  |    | usage  |    pins   |
//! ```
//!
//! A frame is in one of these states:
//!
//! - **free**: not TAGGED. Belongs to the free list, or to one thread that took it from there or
//!   claimed it. Other threads change its word only by a pin that they take back at once.
//! - **tagged**: TAGGED, and its fork's translation entry points here. The contents count only with
//!   VALID.
//!
//! INVARIANT: the tag changes only while the frame is free. A thread pins a frame by adding one to
//! the word; the pin counts only if the word before it had TAGGED and the tag is the expected one,
//! else it is taken back. A frame is claimed (TAGGED → free) by a compare-and-swap that finds no
//! pin but the claimer's. So a tag once seen under a pin stays.
//!
//! INVARIANT: a thread that does I/O for a frame holds IO and a pin. DIRTY is cleared only by a
//! finished write, and not if JUST_DIRTIED was set during the write; or with the frame's contents.

#[cfg(all(test, loom))]
mod model;

use crate::forks::ForkBuffers;
use ids::{BlockNo, Fork, Oid, RelFile};
use page::{PAGE_SIZE, Page, PageMut};
use pgerror::{PgError, Result, SqlState};
use std::ptr::NonNull;
use sync::atomic::{AtomicU32, AtomicU64, Ordering};
use sync::{Arc, Mutex, PageLatch, WaitPoint};

pub(crate) const PIN: u64 = 1;
pub(crate) const PINS: u64 = (1 << 24) - 1;
pub(crate) const USAGE: u64 = 1 << 24;
pub(crate) const USAGES: u64 = ((1 << 12) - 1) << 24;
/// Largest usage count: without further use it falls to 0 in so many clock sweeps. Counterpart:
/// BM_MAX_USAGE_COUNT.
pub(crate) const USAGE_MAX: u64 = 5 * USAGE;

pub(crate) const TAGGED: u64 = 1 << 40;
pub(crate) const VALID: u64 = 1 << 41;
pub(crate) const DIRTY: u64 = 1 << 42;
pub(crate) const JUST_DIRTIED: u64 = 1 << 43;
pub(crate) const IO: u64 = 1 << 44;
pub(crate) const IO_ERROR: u64 = 1 << 45;
/// The running checkpoint has yet to write it.
pub(crate) const CHECKPOINT: u64 = 1 << 46;
/// A thread waits to have the only pin.
pub(crate) const PIN_WAITER: u64 = 1 << 47;

pub(crate) const fn pins(state: u64) -> u64 {
    state & PINS
}

/// Index of a frame in the pool.
pub(crate) type FrameNo = u32;

/// The block that a frame holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag {
    pub rel: RelFile,
    pub fork: Fork,
    pub block: BlockNo,
}

#[repr(C, align(64))]
pub(crate) struct Desc {
    pub state: AtomicU64,
    pub latch: PageLatch,
    /// Number of the [`ForkBuffers`]; with the block, the tag. 0 while free.
    pub fork_id: AtomicU64,
    pub block: AtomicU32,
    /// Where threads wait for the end of I/O and for PIN_WAITER's condition.
    pub event: WaitPoint,
    rel: [AtomicU32; 3],
    fork: AtomicU32,
}

const _: () = assert!(cfg!(loom) || size_of::<Desc>() == 64);

impl Desc {
    pub(crate) fn new() -> Desc {
        Desc {
            state: AtomicU64::new(0),
            latch: PageLatch::new(),
            fork_id: AtomicU64::new(0),
            block: AtomicU32::new(u32::MAX),
            event: WaitPoint::new(),
            rel: std::array::from_fn(|_| AtomicU32::new(0)),
            fork: AtomicU32::new(0),
        }
    }

    /// The tag. The caller has a pin that found the frame tagged.
    pub(crate) fn tag(&self) -> Tag {
        let [tablespace, database, relnumber] =
            std::array::from_fn(|i| Oid(self.rel[i].load(Ordering::Relaxed)));
        let fork = Fork::from_u8(self.fork.load(Ordering::Relaxed) as u8);
        Tag {
            rel: RelFile { tablespace, database, relnumber },
            fork: fork.expect("only fork numbers are stored"),
            block: BlockNo(self.block.load(Ordering::Relaxed)),
        }
    }

    pub(crate) fn is(&self, fork: &ForkBuffers, block: BlockNo) -> bool {
        self.block.load(Ordering::Relaxed) == block.0
            && self.fork_id.load(Ordering::Relaxed) == fork.id()
    }

    /// Writes the tag of a free frame that the caller owns. The caller sets TAGGED afterwards.
    pub(crate) fn set_tag(&self, fork: &ForkBuffers, block: BlockNo) {
        let RelFile { tablespace, database, relnumber } = fork.name().rel;
        for (word, oid) in self.rel.iter().zip([tablespace, database, relnumber]) {
            word.store(oid.0, Ordering::Relaxed);
        }
        self.fork.store(fork.name().fork as u32, Ordering::Relaxed);
        self.block.store(block.0, Ordering::Relaxed);
        self.fork_id.store(fork.id(), Ordering::Relaxed);
    }

    pub(crate) fn clear_tag(&self) {
        self.fork_id.store(0, Ordering::Relaxed);
        self.block.store(u32::MAX, Ordering::Relaxed);
    }

    pub(crate) fn unpin(&self) {
        let before = self.state.fetch_sub(PIN, Ordering::Release);
        debug_assert!(pins(before) > 0, "unpinned a frame without pins");
        if before & PIN_WAITER != 0 && pins(before) == 2 {
            self.event.wake_all();
        }
    }

    /// Changes the word by `f` in a compare-and-swap loop; `f` gives up with `None`. Returns the
    /// word before. Acquires in either case: a caller that gives up because the page is VALID reads
    /// it next.
    pub(crate) fn update(&self, mut f: impl FnMut(u64) -> Option<u64>) -> Result<u64, u64> {
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            let Some(new) = f(state) else { return Err(state) };
            match self.state.compare_exchange_weak(state, new, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return Ok(state),
                Err(now) => state = now,
            }
        }
    }

    /// Begins I/O if `wanted` holds for the word, waiting for other I/O first. False if it does not
    /// hold (any more).
    pub(crate) fn start_io(&self, wanted: impl Fn(u64) -> bool) -> bool {
        loop {
            let begun = self.update(|s| (s & IO == 0 && wanted(s)).then_some(s | IO));
            match begun {
                Ok(_) => return true,
                Err(s) if s & IO == 0 => return false,
                Err(_) => self.wait_io(),
            }
        }
    }

    /// As `start_io`, but false if there is other I/O.
    pub(crate) fn try_start_io(&self, wanted: impl Fn(u64) -> bool) -> bool {
        self.update(|s| (s & IO == 0 && wanted(s)).then_some(s | IO)).is_ok()
    }

    pub(crate) fn wait_io(&self) {
        self.event.wait_while(|| self.state.load(Ordering::Acquire) & IO != 0);
    }

    /// Ends I/O and sets `set`. A finished write (`written`) clears DIRTY unless the page was
    /// dirtied during it.
    pub(crate) fn end_io(&self, set: u64, written: bool) {
        let _ = self.update(|s| {
            let mut new = s & !(IO | IO_ERROR) | set;
            if written && s & JUST_DIRTIED == 0 {
                new &= !(DIRTY | CHECKPOINT);
            }
            Some(new)
        });
        self.event.wake_all();
    }
}

/// All frames of a pool.
pub(crate) struct Frames {
    base: NonNull<u8>,
    descs: Box<[Desc]>,
    /// The fork of each tagged frame; the reference keeps it alive. Locked only when a frame
    /// changes owner or is written.
    owners: Box<[Mutex<Option<Arc<ForkBuffers>>>]>,
}

// SAFETY: the arena is plain memory; the descriptors decide which thread may access which page.
unsafe impl Send for Frames {}
// SAFETY: as above.
unsafe impl Sync for Frames {}

/// Cache lines that hold the header and the line pointers of a page of pgbench's accounts.
const PREFETCH_LINES: usize = 5;
/// Size of a huge page on x86-64 and aarch64 Linux.
const HUGE: usize = 2 << 20;

impl Frames {
    pub(crate) fn new(count: usize) -> Result<Frames> {
        let bytes = count * PAGE_SIZE;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no other
        // memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(PgError::new(
                SqlState::OUT_OF_MEMORY,
                format!("could not map {bytes} bytes for shared buffers"),
            ));
        }
        Ok(Frames {
            base: NonNull::new(base.cast()).expect("mmap does not map address zero"),
            descs: (0..count).map(|_| Desc::new()).collect(),
            owners: (0..count).map(|_| Mutex::new(None)).collect(),
        })
    }

    /// Advises the kernel to use huge pages for memory not touched yet. Not before recovery is
    /// over: clearing them took a sixth of its processor time on a virtual machine.
    pub(crate) fn advise_huge_pages(&self) {
        #[cfg(target_os = "linux")]
        if self.count() * PAGE_SIZE >= HUGE {
            // SAFETY: the whole arena; the advice changes no contents.
            unsafe {
                libc::madvise(
                    self.base.as_ptr().cast(),
                    self.count() * PAGE_SIZE,
                    libc::MADV_HUGEPAGE,
                )
            };
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.descs.len()
    }

    #[inline]
    pub(crate) fn desc(&self, frame: FrameNo) -> &Desc {
        &self.descs[frame as usize]
    }

    pub(crate) fn owner(&self, frame: FrameNo) -> &Mutex<Option<Arc<ForkBuffers>>> {
        &self.owners[frame as usize]
    }

    #[inline]
    fn ptr(&self, frame: FrameNo) -> *mut u8 {
        assert!((frame as usize) < self.descs.len());
        // SAFETY: in bounds of the arena.
        unsafe { self.base.as_ptr().add(frame as usize * PAGE_SIZE) }
    }

    /// Prefetches the frame's descriptor and the beginning of its page; with `whole` also the rest,
    /// into the second-level cache.
    #[inline]
    pub(crate) fn prefetch(&self, frame: FrameNo, whole: bool) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
            let (desc, page) = (std::ptr::from_ref(self.desc(frame)), self.ptr(frame));
            // SAFETY: a prefetch reads nothing that the program sees, and the addresses are in
            // bounds.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(desc.cast());
                for line in 0..PREFETCH_LINES {
                    _mm_prefetch::<_MM_HINT_T0>(page.add(line * 64).cast_const().cast());
                }
                if whole {
                    for line in PREFETCH_LINES..PAGE_SIZE / 64 {
                        _mm_prefetch::<_MM_HINT_T1>(page.add(line * 64).cast_const().cast());
                    }
                }
            }
        }
    }

    /// The page, for reading.
    ///
    /// # Safety
    /// While the result lives, the caller holds a latch of the frame; or has IO without VALID; or
    /// reads only header fields that are atomic.
    #[inline]
    pub(crate) unsafe fn page(&self, frame: FrameNo) -> &Page {
        // SAFETY: aligned and mapped as long as the pool lives; the rest is the caller's promise.
        unsafe { Page::from_ptr(self.ptr(frame)) }
    }

    /// The page, for changing.
    ///
    /// # Safety
    /// While the result lives, the caller alone uses the page: it holds the exclusive latch and
    /// creates one reference at a time, or it owns the frame while it is free or not VALID.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the latch makes it exclusive")]
    pub(crate) unsafe fn page_mut(&self, frame: FrameNo) -> PageMut<'_> {
        // SAFETY: aligned and mapped as long as the pool lives; the rest is the caller's promise.
        unsafe { Page::from_ptr_mut(self.ptr(frame)) }
    }

    /// The present `pd_lsn`, with or without a latch.
    pub(crate) fn lsn(&self, frame: FrameNo) -> ids::Lsn {
        // SAFETY: one atomic load.
        unsafe { self.page(frame) }.lsn()
    }

    /// The page of a frame that the caller owns: free, or being read in.
    #[allow(clippy::mut_from_ref, reason = "the frame's state makes it exclusive")]
    pub(crate) fn owned_page(&self, frame: FrameNo) -> PageMut<'_> {
        let state = self.desc(frame).state.load(Ordering::Relaxed);
        assert!(state & VALID == 0 && pins(state) > 0, "frame {frame} is in use");
        // SAFETY: only the owner or the thread that does its I/O gets here (the assertion is a
        // second check), and no thread reads contents that are not VALID.
        unsafe { self.page_mut(frame) }
    }

    /// Copies the page of a frame that the caller has latched at least share-exclusively.
    pub(crate) fn copy_latched(&self, frame: FrameNo, to: &mut Page) {
        debug_assert!(self.desc(frame).latch.is_held());
        // SAFETY: latched, by contract.
        unsafe { self.page(frame) }.copy_to(to);
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; all guards borrowed the pool and are dropped.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.descs.len() * PAGE_SIZE) };
    }
}
