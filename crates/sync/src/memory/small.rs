//! Small blocks that a thread has released, for its next allocations: the block that was released
//! last is used first, while it is in the CPU's caches. The allocator itself goes through all
//! blocks of a page before it uses one again, so that nearly each allocation of a planner's small
//! objects would be a cache miss.
//!
//! A block's size is rounded up to that of its class, also in the inner allocator, so that it fits
//! all layouts of the class. The blocks of a class are a list: each begins with the address of the
//! next one.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

/// Sizes of the classes are multiples of this, and blocks have this alignment.
const CLASS_BYTES: usize = 16;
/// Size of the largest class.
const SMALL_MAX: usize = 512;
const CLASSES: usize = SMALL_MAX / CLASS_BYTES;
/// Bytes that a thread keeps of each class.
const KEPT_BYTES: usize = 8 << 10;

/// The number of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Class(usize);

impl Class {
    /// The class of a layout; `None` if it is not small. The size of a layout is not 0.
    #[inline]
    pub(super) fn of(layout: &Layout) -> Option<Class> {
        let small = layout.size() <= SMALL_MAX && layout.align() <= CLASS_BYTES;
        small.then(|| Class(layout.size().wrapping_sub(1) / CLASS_BYTES)).filter(|c| c.0 < CLASSES)
    }

    /// The size of its blocks.
    #[inline]
    pub(super) fn bytes(self) -> usize {
        (self.0 + 1) * CLASS_BYTES
    }

    fn layout(self) -> Layout {
        // SAFETY: the alignment is a power of two, and the size is small.
        unsafe { Layout::from_size_align_unchecked(self.bytes(), CLASS_BYTES) }
    }
}

/// The released blocks of a class.
struct List {
    first: Cell<*mut u8>,
    count: Cell<u32>,
}

struct Lists {
    lists: [List; CLASSES],
    /// The thread is ending: nothing is kept any more.
    closed: Cell<bool>,
}

thread_local! {
    // Without a destructor: the lists exist as long as the thread, which empties them at its end.
    static LISTS: Lists = const {
        Lists {
            lists: [const { List { first: Cell::new(std::ptr::null_mut()), count: Cell::new(0) } };
                CLASSES],
            closed: Cell::new(false),
        }
    };
}

/// A block of the class; null if there is no memory.
#[inline]
pub(super) fn allocate(class: Class) -> *mut u8 {
    let kept = LISTS.try_with(|all| {
        let list = &all.lists[class.0];
        let first = list.first.get();
        if !first.is_null() {
            // SAFETY: a block in a list begins with the address of the next one.
            list.first.set(unsafe { first.cast::<*mut u8>().read() });
            list.count.set(list.count.get() - 1);
        }
        first
    });
    match kept {
        Ok(block) if !block.is_null() => block,
        // SAFETY: the size of a class is not 0.
        _ => unsafe { MiMalloc.alloc(class.layout()) },
    }
}

/// A block of the class, filled with zeros; null if there is no memory.
#[inline]
pub(super) fn allocate_zeroed(class: Class) -> *mut u8 {
    let block = allocate(class);
    if !block.is_null() {
        // SAFETY: the block has the size of its class.
        unsafe { block.write_bytes(0, class.bytes()) };
    }
    block
}

/// Releases a block.
///
/// # Safety
/// The block is one of this class, and is not used any more.
#[inline]
pub(super) unsafe fn release(block: *mut u8, class: Class) {
    let kept = LISTS.try_with(|all| {
        let list = &all.lists[class.0];
        let count = list.count.get();
        let keep = (count as usize + 1) * class.bytes() <= KEPT_BYTES && !all.closed.get();
        if keep {
            // SAFETY: a block is at least as long as an address, aligned, and this function's now.
            unsafe { block.cast::<*mut u8>().write(list.first.get()) };
            list.first.set(block);
            list.count.set(count + 1);
        }
        keep
    });
    if kept != Ok(true) {
        // SAFETY: the block was allocated with this layout.
        unsafe { MiMalloc.dealloc(block, class.layout()) }
    }
}

/// Returns the thread's released blocks to the allocator.
pub(super) fn clear() {
    let _ = LISTS.try_with(|all| {
        for (class, list) in all.lists.iter().enumerate() {
            let mut block = list.first.replace(std::ptr::null_mut());
            list.count.set(0);
            while !block.is_null() {
                // SAFETY: a block in a list begins with the address of the next one, and was
                // allocated with the layout of its class.
                unsafe {
                    let next = block.cast::<*mut u8>().read();
                    MiMalloc.dealloc(block, Class(class).layout());
                    block = next;
                }
            }
        }
    });
}

/// As [`clear`], before the thread ends.
pub(super) fn close() {
    clear();
    let _ = LISTS.try_with(|all| all.closed.set(true));
}
