use super::*;
use std::sync::{Mutex, MutexGuard};

/// The limit and the sum belong to the process: tests that set them run one after another.
static SERIAL: Mutex<()> = Mutex::new(());

const MB: usize = 1 << 20;

/// A process that holds `used` bytes of `limit`, this thread's session holding `held` of them.
fn process(limit: usize, used: usize, held: usize) -> MutexGuard<'static, ()> {
    let guard = SERIAL.lock().unwrap_or_else(|e| e.into_inner());
    begin_session();
    USED.store((used - held) as i64, Ordering::Relaxed);
    set_limit(limit);
    BALANCE.with(|b| b.reported.set(0));
    note(held as i64);
    guard
}

#[test]
fn a_session_may_allocate_all_free_memory() {
    let _guard = process(100 * MB, 40 * MB, 40 * MB);
    assert_eq!(check(), Ok(()));
    assert_eq!(available(), 10 * MB);
    assert_eq!(admit(10 * MB), Ok(()));
    let refused = admit(11 * MB).unwrap_err();
    assert_eq!((refused.request, refused.held, refused.used), (11 * MB, 40 * MB, 40 * MB));
    note(11 * MB as i64);
    assert_eq!(check().unwrap_err().request, 0);
    note(-(11 * MB as i64));
    assert_eq!(check(), Ok(()));
}

#[test]
fn small_sessions_are_never_refused() {
    let _guard = process(100 * MB, 200 * MB, MB);
    assert_eq!(check(), Ok(()));
    assert_eq!(admit(2 * MB), Ok(()));
    assert!(admit(4 * MB).is_err());
    assert_eq!(available(), 3 * MB);
}

#[test]
fn requests_near_the_largest_number_are_refused() {
    let _guard = process(100 * MB, MB, MB);
    assert!(admit(usize::MAX).is_err());
    set_limit(usize::MAX);
    assert!(admit(usize::MAX).is_err());
}

/// The counts follow a block through all its sizes, between both kinds of memory, also when another
/// session releases it.
#[test]
fn allocations_are_counted() {
    let _guard = process(usize::MAX, 0, 0);
    let layout = |size| Layout::from_size_align(size, 8).expect("a valid layout");
    let sizes = [MB, 3 * MB, 20 * MB, 50 * MB, 17 * MB, 2 * MB];
    // SAFETY: each layout has a size; a block is used with the layout that it was made or moved to.
    unsafe {
        let mut block = Allocator.alloc(layout(sizes[0]));
        block.write(7);
        block.add(MB - 1).write(9);
        for (old, new) in sizes.iter().zip(&sizes[1..]) {
            block = Allocator.realloc(block, layout(*old), *new);
            assert_eq!((held(), used()), (*new, *new));
            assert_eq!((block.read(), block.add(MB - 1).read()), (7, 9));
            block.add(new - 1).write(1);
        }
        begin_session();
        assert_eq!((held(), used()), (0, 2 * MB));
        Allocator.dealloc(block, layout(2 * MB));
        let zeros = Allocator.alloc_zeroed(layout(30 * MB));
        assert_eq!((zeros.read(), zeros.add(30 * MB - 1).read()), (0, 0));
        Allocator.dealloc(zeros, layout(30 * MB));
    }
    release();
    assert_eq!((held(), used()), (0, 0));
}
