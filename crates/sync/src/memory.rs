//! Memory of the process, counted where it is allocated, and the rule by which statements are
//! refused more of it.
//!
//! [`Allocator`] is the program's allocator. It adds each allocation to two counts: the balance of
//! the thread (what the session has allocated and not released) and the sum over all threads, which
//! a thread brings up to date when its own balance has moved by [`STEP_BYTES`]. Nothing is refused
//! in the allocator: in Rust a failed allocation ends the process. Refusal is up to the callers of
//! two functions:
//!
//! - [`check`], part of every check for interrupts: bounds what grows in small steps (hash tables,
//!   arrays, lists);
//! - [`admit`], before a large value or buffer is allocated: bounds single requests.
//!
//! A session may hold as much as is still free below the limit: one alone gets half of it, n that
//! are equally greedy get 1/(n+1) each, and something is always left for those that need little. A
//! session that holds less than [`SMALL_BYTES`] is never refused.
//!
//! INVARIANT: between two checks a session allocates at most a bounded number of copies of a value
//! that was admitted. The limit therefore stays a fraction of the machine's memory (`vfs::memory`).
//!
//! The counts belong to the process, as its memory does: this is the one place where two instances
//! in one process meet. A balance drifts where one session releases what another has allocated
//! (shared caches); no balance counts for more than the sum.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// A thread's balance may differ by so much from what it has reported to the sum.
const STEP_BYTES: i64 = 256 << 10;
/// Sessions that hold less are never refused.
pub const SMALL_BYTES: usize = 4 << 20;
/// Requests below this size need no [`admit`]: they are left to [`check`].
pub const LARGE_BYTES: usize = 64 << 10;

/// Requests of this size and more are mappings of their own.
const MAPPED_BYTES: usize = 16 << 20;
/// The least size of a page of memory on the machines that we know.
const PAGE_BYTES: usize = 4096;
/// A session that has held so much gives pages back to the system when the statement ends.
const GROWN_BYTES: i64 = 16 << 20;

static USED: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

struct Balance {
    held: Cell<i64>,
    reported: Cell<i64>,
    /// The thread has held `GROWN_BYTES` since [`release`].
    grown: Cell<bool>,
}

thread_local! {
    static BALANCE: Balance = const {
        Balance { held: Cell::new(0), reported: Cell::new(0), grown: Cell::new(false) }
    };
}

/// A request that would exceed the session's share of the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Bytes asked for; 0 where a check found that the session holds too much already.
    pub request: usize,
    /// Bytes that the session holds.
    pub held: usize,
    /// Bytes that the process holds.
    pub used: usize,
    /// The limit of the process in bytes.
    pub limit: usize,
}

/// What is missing, for an error's detail.
impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kb = |bytes: usize| bytes / 1024;
        match self.request {
            0 => write!(f, "The session holds more than its share")?,
            bytes => write!(f, "Failed on request of size {bytes}")?,
        }
        let (held, used, limit) = (kb(self.held), kb(self.used), kb(self.limit));
        write!(f, ": the session holds {held} kB, all sessions {used} kB of {limit} kB.")
    }
}

/// The program's allocator: mimalloc, with the counts kept; large requests are mappings of their
/// own, which go back to the system when they are released and grow without being copied.
pub struct Allocator;

#[inline]
fn note(bytes: i64) {
    // The counts have no destructor: they are there as long as the thread.
    let _ = BALANCE.try_with(|b| {
        let held = b.held.get() + bytes;
        b.held.set(held);
        if (held - b.reported.get()).unsigned_abs() >= STEP_BYTES as u64 {
            report(b);
        }
    });
}

#[cold]
fn report(b: &Balance) {
    let held = b.held.get();
    USED.fetch_add(held - b.reported.replace(held), Ordering::Relaxed);
    if held >= GROWN_BYTES {
        b.grown.set(true);
    }
}

/// Is the request served by a mapping? Mappings begin at pages; no larger alignment occurs.
#[inline]
fn is_mapped(layout: &Layout) -> bool {
    layout.size() >= MAPPED_BYTES && layout.align() <= PAGE_BYTES
}

#[cold]
fn map(bytes: usize) -> *mut u8 {
    // SAFETY: a new private mapping at an address of the kernel's choice touches no other memory.
    let memory = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if memory == libc::MAP_FAILED { std::ptr::null_mut() } else { memory.cast() }
}

/// # Safety
/// `ptr` is a mapping of `old` bytes made by [`map`], or what this function has made of one.
#[cold]
unsafe fn remap(ptr: *mut u8, old: usize, new: usize) -> *mut u8 {
    // SAFETY: the caller's promise; the kernel may move the mapping, and nobody has another pointer
    // to it.
    let memory = unsafe { libc::mremap(ptr.cast(), old, new, libc::MREMAP_MAYMOVE) };
    if memory == libc::MAP_FAILED { std::ptr::null_mut() } else { memory.cast() }
}

// SAFETY: a block comes from mimalloc or from a mapping, by its layout alone; the layout at release
// is that of the allocation, so it goes back to where it came from. Counting allocates nothing.
// Mappings are zeroed.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64);
        if is_mapped(&layout) {
            return map(layout.size());
        }
        // SAFETY: the caller's promises are the inner allocator's conditions.
        unsafe { MiMalloc.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        note(-(layout.size() as i64));
        if is_mapped(&layout) {
            // SAFETY: the block is a mapping of that size, by its layout.
            unsafe { libc::munmap(ptr.cast(), layout.size()) };
            return;
        }
        // SAFETY: the block is the inner allocator's, by its layout.
        unsafe { MiMalloc.dealloc(ptr, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64);
        if is_mapped(&layout) {
            return map(layout.size());
        }
        // SAFETY: as in `alloc`.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.size() < MAPPED_BYTES && size < MAPPED_BYTES {
            note(size as i64 - layout.size() as i64);
            // SAFETY: as in `dealloc`.
            return unsafe { MiMalloc.realloc(ptr, layout, size) };
        }
        // SAFETY: the caller's promises hold for the parts of this.
        unsafe { self.move_large(ptr, layout, size) }
    }
}

impl Allocator {
    /// # Safety
    /// As for `GlobalAlloc::realloc`.
    #[cold]
    unsafe fn move_large(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: the size is valid with the alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if is_mapped(&layout) && is_mapped(&wanted) {
            // SAFETY: the block is a mapping of that size, by its layout.
            let moved = unsafe { remap(ptr, layout.size(), size) };
            if !moved.is_null() {
                note(size as i64 - layout.size() as i64);
            }
            return moved;
        }
        // SAFETY: both blocks are as long as what is copied, and different.
        unsafe {
            let moved = self.alloc(wanted);
            if moved.is_null() {
                note(-(size as i64));
                return moved;
            }
            std::ptr::copy_nonoverlapping(ptr, moved, size.min(layout.size()));
            self.dealloc(ptr, layout);
            moved
        }
    }
}

/// Gives memory back to the system that a session has released, if it has held much and holds
/// little now. For the end of a statement.
#[inline]
pub fn release() {
    if BALANCE.with(|b| b.grown.get() && b.held.get() < GROWN_BYTES) {
        BALANCE.with(|b| b.grown.set(false));
        // SAFETY: the call only returns pages that no block lies on.
        unsafe { libmimalloc_sys::mi_collect(true) };
    }
}

/// Sets the limit of the process in bytes.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The limit of the process in bytes; `usize::MAX` where none was set.
pub fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// Bytes that the process holds, without shared buffers and stacks. Each thread may be off by 256
/// kB.
pub fn used() -> usize {
    usize::try_from(USED.load(Ordering::Relaxed)).unwrap_or(0)
}

/// A thread begins to serve another session: what it still holds is no longer charged to anyone.
pub fn begin_session() {
    BALANCE.with(|b| {
        b.reported.set(b.reported.get() - b.held.get());
        b.held.set(0);
    });
}

/// A thread is about to end: brings the sum up to date.
pub(crate) fn end_thread() {
    BALANCE.with(report);
}

/// Bytes that the session holds.
#[inline]
pub fn held() -> usize {
    usize::try_from(BALANCE.with(|b| b.held.get())).unwrap_or(0)
}

/// Bytes that the session may still allocate.
pub fn available() -> usize {
    let (held, used) = counts();
    let free = limit().saturating_sub(used);
    (free.saturating_sub(held) / 2).max(SMALL_BYTES.saturating_sub(held))
}

/// Does the session hold more than its share? For checks of interrupts: a few instructions while it
/// holds little.
#[inline]
pub fn check() -> Result<(), Refused> {
    if BALANCE.with(|b| b.held.get()) < SMALL_BYTES as i64 {
        return Ok(());
    }
    consider(0)
}

/// May the session allocate `bytes` more at once?
#[inline]
pub fn admit(bytes: usize) -> Result<(), Refused> {
    if bytes < LARGE_BYTES {
        return Ok(());
    }
    consider(bytes)
}

/// What the session and the process hold. Nobody holds more than all together.
fn counts() -> (usize, usize) {
    let used = used();
    (held().min(used), used)
}

fn consider(request: usize) -> Result<(), Refused> {
    let (held, used) = counts();
    let limit = limit();
    let after = held.saturating_add(request);
    let free = limit.saturating_sub(used).saturating_sub(request);
    if after < SMALL_BYTES || after <= free {
        return Ok(());
    }
    Err(Refused { request, held, used, limit })
}

#[cfg(test)]
mod tests;
