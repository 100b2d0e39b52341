//! A counting allocator, for tests that code does not allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator with a counter of allocations and reallocations per thread.
pub struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

impl Counting {
    /// Number of allocations and reallocations of this thread.
    pub fn count() -> u64 {
        COUNT.with(Cell::get)
    }
}

fn count_allocation() {
    // A thread that exits may allocate after its counter was destroyed.
    let _ = COUNT.try_with(|c| c.set(c.get() + 1));
}

// SAFETY: all calls are forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        // SAFETY: the caller fulfils the conditions of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as above; the memory was allocated by the system's allocator.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation();
        // SAFETY: as above; the memory was allocated by the system's allocator.
        unsafe { System.realloc(ptr, layout, size) }
    }
}
