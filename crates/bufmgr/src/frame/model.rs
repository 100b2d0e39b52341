//! loom models of the state word:
//! `RUSTFLAGS="--cfg loom" cargo test -p bufmgr --target-dir target/loom loom_`

use super::{DIRTY, Desc, JUST_DIRTIED, PIN, PINS, TAGGED, USAGE, VALID, pins};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::*;
use loom::thread;
use sync::LatchMode::{Exclusive, ShareExclusive};

/// At most three preemptions, since exploring all interleavings would take hours.
fn bounded(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// A frame whose page is one number, that of the block.
struct Frame {
    desc: Desc,
    page: UnsafeCell<u32>,
    disk: UnsafeCell<u32>,
}

// SAFETY: loom checks the accesses itself.
unsafe impl Send for Frame {}
// SAFETY: as above.
unsafe impl Sync for Frame {}

impl Frame {
    fn new(block: u32, flags: u64) -> Arc<Frame> {
        let desc = Desc::new();
        desc.block.store(block, Relaxed);
        desc.state.store(TAGGED | VALID | USAGE | flags, Release);
        Arc::new(Frame { desc, page: UnsafeCell::new(block), disk: UnsafeCell::new(block) })
    }

    /// Pins as the pool does after a look-up in the translation.
    fn pin(&self, block: u32) -> bool {
        let before = self.desc.state.fetch_add(PIN, Acquire);
        if before & (TAGGED | VALID) == TAGGED | VALID && self.desc.block.load(Relaxed) == block {
            return true;
        }
        self.desc.unpin();
        false
    }

    /// Replaces as the clock does: takes a clean frame without other pins for another block.
    fn replace(&self, block: u32) -> bool {
        self.desc.state.fetch_add(PIN, Acquire);
        let free = |s: u64| s & TAGGED != 0 && pins(s) == 1 && s & DIRTY == 0;
        let claimed = self.desc.update(|s| free(s).then_some(s & PINS)).is_ok();
        if claimed {
            self.desc.clear_tag();
            // SAFETY: this thread owns the frame; loom reports any overlap.
            self.page.with_mut(|p| unsafe { *p = block });
            self.desc.block.store(block, Relaxed);
            self.desc.state.fetch_or(TAGGED | VALID | USAGE, Release);
        }
        self.desc.unpin();
        claimed
    }

    fn read(&self) -> u32 {
        // SAFETY: pinned; loom reports any overlap with a write.
        self.page.with(|p| unsafe { *p })
    }
}

/// A thread that pins a block's frame reads that block, even if frames are replaced concurrently.
#[test]
fn loom_a_pinned_frame_keeps_its_block() {
    bounded(|| {
        let frame = Frame::new(1, 0);
        let threads = [1, 2].map(|block| {
            let frame = frame.clone();
            thread::spawn(move || {
                if frame.pin(block) {
                    assert_eq!(frame.read(), block);
                    frame.desc.unpin();
                }
            })
        });
        let replaced = frame.replace(2);
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(pins(frame.desc.state.load(Relaxed)), 0);
        assert_eq!(frame.desc.block.load(Relaxed), if replaced { 2 } else { 1 });
    });
}

/// Two threads cannot claim one frame at the same time.
#[test]
fn loom_only_one_replaces_a_frame() {
    bounded(|| {
        let frame = Frame::new(1, 0);
        let other = {
            let frame = frame.clone();
            thread::spawn(move || frame.replace(2))
        };
        let mine = frame.replace(3);
        let other = other.join().unwrap();
        let block = frame.desc.block.load(Relaxed);
        assert_eq!(frame.read(), block);
        // One replacement after the other is possible, too.
        assert!(match block {
            1 => !mine && !other,
            2 => other,
            _ => mine,
        });
    });
}

/// The contents of a clean page are on disk.
#[test]
fn loom_a_change_during_a_write_stays_dirty() {
    bounded(|| {
        let frame = Frame::new(1, DIRTY | JUST_DIRTIED);
        let changer = {
            let frame = frame.clone();
            thread::spawn(move || {
                frame.desc.state.fetch_add(PIN, Acquire);
                frame.desc.latch.acquire(Exclusive);
                // SAFETY: latched; loom reports any overlap.
                frame.page.with_mut(|p| unsafe { *p = 2 });
                frame.desc.state.fetch_or(DIRTY | JUST_DIRTIED, AcqRel);
                frame.desc.latch.release(Exclusive);
                frame.desc.unpin();
            })
        };
        frame.desc.state.fetch_add(PIN, Acquire);
        if frame.desc.start_io(|s| s & DIRTY != 0) {
            frame.desc.latch.acquire(ShareExclusive);
            frame.desc.state.fetch_and(!JUST_DIRTIED, AcqRel);
            let copy = frame.read();
            frame.desc.latch.release(ShareExclusive);
            // SAFETY: this thread has set IO.
            frame.disk.with_mut(|p| unsafe { *p = copy });
            frame.desc.end_io(0, true);
        }
        frame.desc.unpin();
        changer.join().unwrap();
        let clean = frame.desc.state.load(Acquire) & DIRTY == 0;
        // SAFETY: all threads are done.
        let disk = frame.disk.with(|p| unsafe { *p });
        assert!(!clean || disk == frame.read(), "a change is lost");
    });
}

/// Two readers miss the same block: one reads it in, and both see its contents, whether the other
/// waited for the I/O or came after it.
#[test]
fn loom_two_readers_of_one_miss() {
    bounded(|| {
        let frame = Frame::new(1, 0);
        // Tagged for block 2, whose contents have not been read yet.
        frame.desc.state.store(TAGGED | USAGE, Release);
        frame.desc.block.store(2, Relaxed);
        let read = |frame: &Frame| {
            let before = frame.desc.state.fetch_add(PIN, Acquire);
            if before & VALID == 0 && frame.desc.start_io(|s| s & VALID == 0) {
                // SAFETY: this thread has set IO, and the page is not VALID; loom reports any
                // overlap.
                frame.page.with_mut(|p| unsafe { *p = 2 });
                frame.desc.end_io(VALID, false);
            }
            assert_eq!(frame.read(), 2);
            frame.desc.unpin();
        };
        let other = {
            let frame = frame.clone();
            thread::spawn(move || read(&frame))
        };
        read(&frame);
        other.join().unwrap();
    });
}
