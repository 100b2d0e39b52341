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

/// Blocks of all small sizes keep their contents and do not overlap, while others are released,
/// moved and allocated again, also on other threads.
#[test]
fn small_blocks_are_separate() {
    struct Block(*mut u8, Layout, u8);
    // SAFETY: a block is used by one thread at a time.
    unsafe impl Send for Block {}
    fn fill(block: &Block) {
        // SAFETY: the block has the size of its layout.
        unsafe { block.0.write_bytes(block.2, block.1.size()) };
    }
    fn release(block: Block) {
        let Block(ptr, layout, byte) = block;
        assert_eq!(ptr.addr() % layout.align(), 0);
        // SAFETY: as in `fill`; the block was allocated with this layout.
        unsafe {
            let found = std::slice::from_raw_parts(ptr, layout.size());
            assert!(found.iter().all(|b| *b == byte), "{layout:?}");
            Allocator.dealloc(ptr, layout);
        }
    }
    fn work(seed: u64, mut blocks: Vec<Block>) -> Vec<Block> {
        let mut state = seed;
        let mut next = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            (state >> 33) as usize % limit
        };
        for n in 0..20_000 {
            let align = 1 << next(6);
            let layout = Layout::from_size_align(1 + next(700), align).expect("a valid layout");
            let byte = 1 + (n % 255) as u8;
            match next(4) {
                0 | 1 if blocks.len() < 300 => {
                    // SAFETY: the size is not 0.
                    let block = Block(unsafe { Allocator.alloc(layout) }, layout, byte);
                    fill(&block);
                    blocks.push(block);
                }
                2 if !blocks.is_empty() => {
                    let Block(ptr, old, byte) = blocks.swap_remove(next(blocks.len()));
                    let layout = Layout::from_size_align(layout.size(), old.align());
                    let layout = layout.expect("a valid layout");
                    // SAFETY: the block was allocated with the old layout.
                    let ptr = unsafe { Allocator.realloc(ptr, old, layout.size()) };
                    let kept = old.size().min(layout.size());
                    // SAFETY: as in `fill`.
                    let found = unsafe { std::slice::from_raw_parts(ptr, kept) };
                    assert!(found.iter().all(|b| *b == byte));
                    let block = Block(ptr, layout, byte);
                    fill(&block);
                    blocks.push(block);
                }
                3 => {
                    // SAFETY: the size is not 0.
                    let block = Block(unsafe { Allocator.alloc_zeroed(layout) }, layout, 0);
                    release(block);
                }
                _ if !blocks.is_empty() => release(blocks.swap_remove(next(blocks.len()))),
                _ => {}
            }
        }
        blocks
    }
    let first = work(1, Vec::new());
    let second = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let blocks = work(2, first);
                small::close();
                blocks
            })
            .join()
            .expect("the thread has not panicked")
    });
    work(3, second).into_iter().for_each(release);
    small::clear();
}
