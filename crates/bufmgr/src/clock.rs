//! Page replacement: free frames first, then a clock sweep that decrements the usage count of each
//! frame that it passes. Counterpart: freelist.c.

use crate::frame::{DIRTY, FrameNo, IO, PIN, PINS, TAGGED, USAGE, USAGES, pins};
use crate::pool::{BufferPool, bump};
use crate::ring::{RingKind, Strategy, micros_since};
use crate::write::{Pins, Writer};
use pgerror::{PgError, Result};
use std::time::Duration;
use sync::Mutex;
use sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

pub(crate) struct Replacement {
    /// Frames passed since the start; modulo the pool's size, the position of the clock hand.
    hand: AtomicU64,
    /// Frames from this number on have never been used.
    unused: AtomicU32,
    /// Frames given back. Not TAGGED, without lasting pins.
    free: Mutex<Vec<FrameNo>>,
    free_count: AtomicUsize,
}

/// Rounds with all frames pinned before a session sleeps between rounds.
const YIELDS: u32 = 100;
/// Pins of a writer or reader last longer when its thread is not scheduled. A session that still
/// finds all frames pinned after sleeping for this long reports an error.
const SLEEP_TOTAL: Duration = Duration::from_secs(1);
const SLEEP_STEP: Duration = Duration::from_millis(1);

impl Replacement {
    pub(crate) fn new() -> Replacement {
        Replacement {
            hand: AtomicU64::new(0),
            unused: AtomicU32::new(0),
            free: Mutex::new(Vec::new()),
            free_count: AtomicUsize::new(0),
        }
    }

    pub(crate) fn hand(&self) -> u64 {
        self.hand.load(Ordering::Relaxed)
    }
}

impl BufferPool {
    /// A free frame for the caller: pinned once, not tagged, not in any translation.
    pub(crate) fn victim(&self, strategy: &mut Strategy) -> Result<FrameNo> {
        loop {
            let from_ring = self.next_of_ring(strategy);
            let frame = match from_ring {
                Some(frame) => frame,
                None => match self.take_any()? {
                    Found::Free(frame) => {
                        strategy.put(frame);
                        return Ok(frame);
                    }
                    Found::Tagged(frame) => frame,
                },
            };
            let evicted = self.evict(frame, strategy, from_ring.is_some());
            if let Ok(true) = evicted {
                strategy.put(frame);
                return Ok(frame);
            }
            self.frames.desc(frame).unpin();
            evicted?;
        }
    }

    /// The ring's next frame, pinned, if there is one and no other session has used it.
    fn next_of_ring(&self, strategy: &mut Strategy) -> Option<FrameNo> {
        let frame = strategy.advance()?;
        let free_to_use = |s: u64| s & TAGGED != 0 && pins(s) == 0 && s & USAGES <= USAGE;
        let taken = self.frames.desc(frame).update(|s| free_to_use(s).then_some(s + PIN));
        taken.is_ok().then_some(frame)
    }

    fn take_free(&self) -> Option<FrameNo> {
        let frames = self.frames() as u32;
        let list = &self.replacement;
        let frame = if list.free_count.load(Ordering::Relaxed) > 0 {
            let frame = list.free.lock().pop();
            if frame.is_some() {
                list.free_count.fetch_sub(1, Ordering::Relaxed);
            }
            frame
        } else {
            None
        };
        let frame = match frame {
            Some(frame) => frame,
            None if list.unused.load(Ordering::Relaxed) < frames => {
                let frame = list.unused.fetch_add(1, Ordering::Relaxed);
                if frame >= frames {
                    list.unused.store(frames, Ordering::Relaxed);
                    return None;
                }
                frame
            }
            None => return None,
        };
        self.frames.desc(frame).state.fetch_add(PIN, Ordering::Acquire);
        Some(frame)
    }

    /// Gives back a free frame with the caller's pin.
    pub(crate) fn free(&self, frame: FrameNo) {
        let desc = self.frames.desc(frame);
        debug_assert!(desc.state.load(Ordering::Relaxed) & TAGGED == 0);
        desc.unpin();
        self.replacement.free.lock().push(frame);
        self.replacement.free_count.fetch_add(1, Ordering::Relaxed);
    }

    /// A free frame, or a tagged one without pins whose usage count is 0; pinned.
    fn take_any(&self) -> Result<Found> {
        let count = self.frames() as u64;
        let sleeps = (SLEEP_TOTAL.as_millis() / SLEEP_STEP.as_millis()) as u32;
        for round in 0..YIELDS + sleeps {
            if let Some(frame) = self.take_free() {
                return Ok(Found::Free(frame));
            }
            let mut tries = count;
            while tries > 0 {
                let at = self.replacement.hand.fetch_add(1, Ordering::Relaxed) % count;
                let desc = self.frames.desc(at as FrameNo);
                let state = desc.state.load(Ordering::Relaxed);
                if state & TAGGED == 0 || pins(state) != 0 {
                    tries -= 1;
                    continue;
                }
                let used = state & USAGES != 0;
                let new = if used { state - USAGE } else { state + PIN };
                let done =
                    desc.state.compare_exchange(state, new, Ordering::Acquire, Ordering::Relaxed);
                if done.is_ok() && !used {
                    return Ok(Found::Tagged(at as FrameNo));
                }
                tries = count;
            }
            // All frames are pinned, or are being allocated or freed.
            if round < YIELDS {
                sync::yield_now();
            } else {
                sync::sleep(SLEEP_STEP);
            }
        }
        Err(PgError::internal("no unpinned buffers available"))
    }

    /// Evicts the block of a tagged frame that the caller has pinned: writes it if it is dirty,
    /// then claims the frame. False if that would need to wait for another thread.
    fn evict(&self, frame: FrameNo, strategy: &mut Strategy, from_ring: bool) -> Result<bool> {
        let desc = self.frames.desc(frame);
        if desc.state.load(Ordering::Relaxed) & DIRTY != 0 {
            if from_ring && self.needs_wal_flush(frame) {
                if strategy.reject(frame) {
                    return Ok(false);
                }
                self.flush_wal_for_ring(strategy)?;
            }
            // Not waiting: the caller may hold a latch that the holder of the victim's latch waits
            // for.
            let Some(mut run) = self.begin_write(frame, false) else { return Ok(false) };
            // A ring is filled in block order: its next pages will be needed soon, too.
            let others = match strategy.kind() {
                RingKind::BulkWrite | RingKind::Vacuum if from_ring => {
                    self.join_neighbours(&mut run, strategy.following())
                }
                _ => Pins::none(self),
            };
            let (count, fork, first) = (run.len(), run.fork.name(), run.first);
            let begun = strategy.begin_io();
            self.finish_write(run, Writer::Session)?;
            strategy.usage.write_time_us += micros_since(begun);
            drop(others);
            strategy.usage.written += count as u64;
            if let Some(session) = strategy.session()
                && self.config.backend.is_none()
            {
                session.note_written(&self.smgr, fork, first, count as u32);
            }
        }
        let claimed = self.claim(frame, false);
        if claimed {
            bump(&self.counters.evicted);
        }
        Ok(claimed)
    }

    /// Flushes the log once for all dirty frames of the ring.
    fn flush_wal_for_ring(&self, strategy: &Strategy) -> Result<()> {
        debug_assert!(strategy.kind() != RingKind::BulkRead);
        let dirty = |f: &FrameNo| self.frames.desc(*f).state.load(Ordering::Relaxed) & DIRTY != 0;
        // A frame may hold another page by now; flushing too far does no harm.
        let newest = strategy.frames().filter(dirty).map(|f| self.frames.lsn(f)).max();
        match (&self.wal, newest) {
            (Some(wal), Some(lsn)) if wal.flushed() < lsn => {
                bump(&self.counters.wal_flushes);
                // The LSN of a page that was never logged may be any value.
                wal.flush(lsn.min(wal.inserted()))
            }
            _ => Ok(()),
        }
    }

    fn needs_wal_flush(&self, frame: FrameNo) -> bool {
        let Some(wal) = &self.wal else { return false };
        self.frames.lsn(frame) > wal.flushed() && self.owner_of(frame).is_permanent()
    }

    /// Turns a tagged frame into a free one if the caller's is the only pin, there is no I/O and
    /// (without `discard`) it is clean. The pin stays.
    pub(crate) fn claim(&self, frame: FrameNo, discard: bool) -> bool {
        let desc = self.frames.desc(frame);
        let claimed = desc.update(|s| {
            let mine = s & TAGGED != 0 && pins(s) == 1 && s & IO == 0;
            (mine && (discard || s & DIRTY == 0)).then_some(s & PINS)
        });
        if claimed.is_err() {
            return false;
        }
        let block = ids::BlockNo(desc.block.load(Ordering::Relaxed));
        let fork = self.frames.owner(frame).lock().take();
        if let Some(fork) = fork {
            fork.retract(block, frame);
        }
        desc.clear_tag();
        true
    }
}

/// The state of a frame found for replacement.
enum Found {
    Free(FrameNo),
    Tagged(FrameNo),
}
