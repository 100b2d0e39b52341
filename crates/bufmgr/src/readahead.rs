//! Reading several consecutive blocks in one call: for scans that know what they will read next,
//! and for prewarming.

use crate::forks::ForkBuffers;
use crate::frame::{Desc, FrameNo, IO, IO_ERROR, VALID};
use crate::guard::Pin;
use crate::pool::{BufferPool, bump};
use crate::ring::{Strategy, micros_since};
use ids::BlockNo;
use page::{PAGE_SIZE, Verified};
use pgerror::Result;
use smallvec::SmallVec;
use std::io::IoSliceMut;
use sync::Arc;

/// Most blocks in one read: 128 KB.
pub const READ_AHEAD_MAX: u32 = 16;

/// Frames being read, in block order. On drop, those not done end their I/O without success.
struct Reading<'a> {
    pool: &'a BufferPool,
    frames: SmallVec<[FrameNo; READ_AHEAD_MAX as usize]>,
    done: usize,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        for (i, frame) in self.frames.iter().enumerate() {
            let desc: &Desc = self.pool.frames.desc(*frame);
            if i >= self.done {
                desc.end_io(IO_ERROR, false);
            }
            desc.unpin();
        }
    }
}

impl BufferPool {
    /// Reads consecutive blocks from `first` on that are not in the pool: at most `count`,
    /// [`READ_AHEAD_MAX`], and the share of ring and pool that a read may use. Stops at the first
    /// block that is in the pool. Returns the number of blocks read. A damaged page is not reported
    /// here but by the read of that block.
    pub fn read_ahead(
        &self,
        fork: &Arc<ForkBuffers>,
        first: BlockNo,
        count: u32,
        strategy: &mut Strategy,
    ) -> Result<u32> {
        let spare = match strategy.ring_size() {
            0 => self.frames() / 16,
            // Half the ring, so that the scan does not evict pages before it has read them.
            ring => ring / 2,
        };
        let left = self.nblocks(fork)?.saturating_sub(first.0);
        let wanted = count
            .min(READ_AHEAD_MAX)
            .min(spare.max(1) as u32)
            .min(left)
            .min(self.smgr.blocks_to_segment_end(first));
        let missing =
            (0..wanted).take_while(|n| fork.lookup(BlockNo(first.0 + n)).is_none()).count() as u32;
        if missing == 0 {
            return Ok(0);
        }
        // All frames are taken before any I/O begins, so that no thread waits for this I/O in the
        // meantime.
        let mut free: SmallVec<[Pin<'_>; READ_AHEAD_MAX as usize]> = SmallVec::new();
        let mut reading = Reading { pool: self, frames: SmallVec::new(), done: 0 };
        let mut failure = None;
        for _ in 0..missing {
            match self.victim(strategy) {
                Ok(frame) => free.push(Pin::adopt(self, frame)),
                Err(e) => {
                    failure = Some(e);
                    break;
                }
            }
        }
        let mut blocks = first.0..;
        for pin in free {
            let frame = pin.frame();
            std::mem::forget(pin);
            // Once another thread has read one of the blocks, the remaining frames are freed.
            let gap = reading.frames.len() as u32 + first.0 != blocks.start;
            let block = BlockNo(blocks.start);
            blocks.start += 1;
            if !gap && self.tag(frame, fork, block, IO) {
                reading.frames.push(frame);
            } else {
                self.free(frame);
            }
        }
        if reading.frames.is_empty() {
            return failure.map_or(Ok(0), Err);
        }
        let mut bufs: SmallVec<[IoSliceMut<'_>; READ_AHEAD_MAX as usize]> = reading
            .frames
            .iter()
            .map(|frame| IoSliceMut::new(self.frames.owned_page(*frame).bytes_mut()))
            .collect();
        let begun = strategy.begin_io();
        let bytes = self.smgr.read_vectored(fork.name(), first, &mut bufs)?;
        strategy.usage.read_time_us += micros_since(begun);
        drop(bufs);
        let mut read = 0;
        for n in 0..(bytes / PAGE_SIZE).min(reading.frames.len()) {
            let frame = reading.frames[n];
            let page = self.frames.owned_page(frame);
            let block = BlockNo(first.0 + n as u32);
            // A damaged page is reported by `read`.
            if page.verify_exclusive(block, self.config.checksums) != Verified::Good {
                break;
            }
            self.frames.desc(frame).end_io(VALID, false);
            reading.done = n + 1;
            bump(&self.counters.reads);
            read += 1;
        }
        strategy.usage.read += u64::from(read);
        Ok(read)
    }

    /// Reads all blocks from `first` up to `end` (exclusive) into the pool; returns their number,
    /// including those that were there. Counterpart: pg_prewarm's mode `buffer`.
    pub fn load(
        &self,
        fork: &Arc<ForkBuffers>,
        first: BlockNo,
        end: BlockNo,
        strategy: &mut Strategy,
    ) -> Result<u64> {
        let mut block = first;
        let mut loaded = 0;
        while block < end {
            let n = self.read_ahead(fork, block, end.0 - block.0, strategy)?;
            if n == 0 {
                // In the pool already, or damaged: `read` reports that.
                drop(self.read(fork, block, strategy)?);
            }
            block = BlockNo(block.0 + n.max(1));
            loaded += u64::from(n.max(1));
        }
        Ok(loaded)
    }
}
