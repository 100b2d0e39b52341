//! Memory accounting: counts of allocated bytes, and the rule by which statements are refused more
//! memory.
//!
//! [`Allocator`] is the program's allocator. It adds each allocation to two counts: the balance of
//! the thread (bytes that the session has allocated and not released) and the sum over all threads,
//! which a thread updates when its own balance has changed by [`STEP_BYTES`]. The allocator refuses
//! nothing: in Rust a failed allocation ends the process. Refusal is up to the callers of two
//! functions:
//!
//! - [`check`], part of every check for interrupts: bounds data structures that grow in small steps
//!   (hash tables, arrays, lists);
//! - [`admit`], before a large value or buffer is allocated: bounds single requests.
//!
//! A session may hold as much as is free below the limit: a single session gets half of the limit,
//! n sessions that all allocate as much as they can get 1/(n+1) each, and some memory is always
//! left for small sessions. A session that holds less than [`SMALL_BYTES`] is never refused.
//!
//! INVARIANT: between two checks a session allocates at most a bounded number of copies of a value
//! that was admitted. The limit therefore stays a fraction of the machine's memory (`vfs::memory`).
//!
//! The counts belong to the process, as its memory does: this is the one state that two instances
//! in one process share. A balance is inexact if one session releases what another has allocated
//! (shared caches); so no balance counts for more than the sum.

mod small;

use mimalloc::MiMalloc;
use small::Class;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// Largest difference between a thread's balance and the part of it included in the sum.
const STEP_BYTES: i64 = 256 << 10;
/// Sessions that hold less are never refused.
pub const SMALL_BYTES: usize = 4 << 20;
/// Requests below this size need no [`admit`]: they are left to [`check`].
pub const LARGE_BYTES: usize = 64 << 10;

/// Requests of this size and more get a memory mapping of their own.
const MAPPED_BYTES: usize = 16 << 20;
/// Smallest memory page size of the supported platforms.
const PAGE_BYTES: usize = 4096;
/// A session that has held this much returns unused pages to the system at the end of the
/// statement.
const GROWN_BYTES: i64 = 16 << 20;

static USED: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

struct Balance {
    held: Cell<i64>,
    reported: Cell<i64>,
    /// The thread has held `GROWN_BYTES` since the last [`release`].
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
    /// Bytes requested; 0 if [`check`] found that the session holds too much already.
    pub request: usize,
    /// Bytes that the session holds.
    pub held: usize,
    /// Bytes that the process holds.
    pub used: usize,
    /// The limit of the process in bytes.
    pub limit: usize,
}

/// The detail of an error message.
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

/// The program's allocator: mimalloc, with counts and lists of small released blocks. A large
/// request gets a mapping of its own, which is returned to the system on release and grows without
/// being copied.
pub struct Allocator;

#[inline]
fn note(bytes: i64) {
    // The counts have no destructor: they exist as long as the thread.
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

/// True if the request is served by a mapping. Mappings are aligned to pages; no larger alignment
/// occurs.
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
/// `ptr` is a mapping of `old` bytes made by [`map`] or returned by this function.
#[cold]
unsafe fn remap(ptr: *mut u8, old: usize, new: usize) -> *mut u8 {
    // SAFETY: the caller's promise; the kernel may move the mapping, and there is no other pointer
    // to it.
    let memory = unsafe { libc::mremap(ptr.cast(), old, new, libc::MREMAP_MAYMOVE) };
    if memory == libc::MAP_FAILED { std::ptr::null_mut() } else { memory.cast() }
}

// SAFETY: a block comes from mimalloc or from a mapping, depending on its layout alone; the layout
// at release is that of the allocation, so it is released where it was allocated. Counting
// allocates nothing. Mappings are zeroed.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64);
        if let Some(class) = Class::of(&layout) {
            return small::allocate(class);
        }
        if is_mapped(&layout) {
            return map(layout.size());
        }
        // SAFETY: the caller's promises are the inner allocator's conditions.
        unsafe { MiMalloc.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        note(-(layout.size() as i64));
        if let Some(class) = Class::of(&layout) {
            // SAFETY: the block is one of that class, by its layout.
            return unsafe { small::release(ptr, class) };
        }
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
        if let Some(class) = Class::of(&layout) {
            return small::allocate_zeroed(class);
        }
        if is_mapped(&layout) {
            return map(layout.size());
        }
        // SAFETY: as in `alloc`.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: the size is valid with the alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (Class::of(&layout), Class::of(&wanted)) {
            (None, None) if layout.size() < MAPPED_BYTES && size < MAPPED_BYTES => {
                note(size as i64 - layout.size() as i64);
                // SAFETY: as in `dealloc`.
                unsafe { MiMalloc.realloc(ptr, layout, size) }
            }
            (Some(old), Some(new)) if old == new => {
                note(size as i64 - layout.size() as i64);
                ptr
            }
            // SAFETY: the caller's promises hold for the parts of this.
            _ => unsafe { self.move_block(ptr, layout, wanted) },
        }
    }
}

impl Allocator {
    /// # Safety
    /// As for `GlobalAlloc::realloc`.
    unsafe fn move_block(&self, ptr: *mut u8, layout: Layout, wanted: Layout) -> *mut u8 {
        let size = wanted.size();
        if is_mapped(&layout) && is_mapped(&wanted) {
            // SAFETY: the block is a mapping of that size, by its layout.
            let moved = unsafe { remap(ptr, layout.size(), size) };
            if !moved.is_null() {
                note(size as i64 - layout.size() as i64);
            }
            return moved;
        }
        // SAFETY: both blocks are at least as long as the copy, and do not overlap.
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

/// Returns unused memory to the system if the session has held much and holds little now. To be
/// called at the end of a statement.
#[inline]
pub fn release() {
    if BALANCE.with(|b| b.grown.get() && b.held.get() < GROWN_BYTES) {
        BALANCE.with(|b| b.grown.set(false));
        small::clear();
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

/// Bytes that the process holds, without shared buffers and stacks. Inexact by up to 256 kB per
/// thread.
pub fn used() -> usize {
    usize::try_from(USED.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Starts a new balance for another session on this thread. The bytes that the thread still holds
/// stay in the sum and are charged to no session.
pub fn begin_session() {
    BALANCE.with(|b| {
        b.reported.set(b.reported.get() - b.held.get());
        b.held.set(0);
    });
}

/// Updates the sum, and releases the thread's free blocks, before the thread ends.
pub(crate) fn end_thread() {
    BALANCE.with(report);
    small::close();
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

/// True if the session uses more than its share. It is a part of interrupt checks: a few
/// instructions while the session uses little.
#[inline]
pub fn check() -> Result<(), Refused> {
    if BALANCE.with(|b| b.held.get()) < SMALL_BYTES as i64 {
        return Ok(());
    }
    check_limit(0)
}

/// True if the session may allocate `bytes` more at once.
#[inline]
pub fn admit(bytes: usize) -> Result<(), Refused> {
    if bytes < LARGE_BYTES {
        return Ok(());
    }
    check_limit(bytes)
}

/// Bytes held by the session and by the process. The first is at most the second.
fn counts() -> (usize, usize) {
    let used = used();
    (held().min(used), used)
}

fn check_limit(request: usize) -> Result<(), Refused> {
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
