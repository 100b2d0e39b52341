//! Writing dirty pages: for replacement, by checkpoints, by the background writer, and for whole
//! relations.
//!
//! A page is copied under the share-exclusive latch, which excludes hint changes, and the latch is
//! released. Then the log is flushed up to the page's LSN, the copy gets its checksum and is
//! written to the file. Consecutive pages are one write.
//!
//! Counterpart: bufmgr.c (FlushBuffer, BufferSync, BgBufferSync).

use crate::forks::ForkBuffers;
use crate::frame::{CHECKPOINT, DIRTY, FrameNo, JUST_DIRTIED, PIN, TAGGED, Tag, USAGES, pins};
use crate::pool::{BufferPool, bump};
use crate::writeback::Writeback;
use ids::{BlockNo, Lsn, Oid, RelFile};
use page::PageBuf;
use pgerror::Result;
use smallvec::SmallVec;
use smgr::RelFork;
use std::io::IoSlice;
use sync::atomic::Ordering;
use sync::{Arc, LatchMode};

/// Most pages in one write.
const RUN_MAX: usize = 16;
/// Most page buffers kept for the next write.
const COPIES_KEPT: usize = 64;

/// The kind of thread that writes, for the counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writer {
    Session,
    Checkpoint,
    Background,
}

/// Progress of a checkpoint's writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CheckpointProgress {
    /// Pages written, by the checkpoint itself.
    pub written: usize,
    /// Pages written or found clean.
    pub done: usize,
    /// Pages that were dirty at its start.
    pub total: usize,
}

/// Consecutive pages of a fork that are being written: copied, IO set, pinned by the caller.
pub(crate) struct Run<'a> {
    pool: &'a BufferPool,
    pub(crate) fork: Arc<ForkBuffers>,
    pub(crate) first: BlockNo,
    frames: SmallVec<[FrameNo; RUN_MAX]>,
    copies: SmallVec<[PageBuf; RUN_MAX]>,
}

impl Run<'_> {
    /// Number of pages.
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }
}

impl Drop for Run<'_> {
    /// Without a finished write the pages stay dirty.
    fn drop(&mut self) {
        for frame in &self.frames {
            self.pool.frames.desc(*frame).end_io(crate::frame::IO_ERROR, false);
        }
        let mut kept = self.pool.copies.lock();
        let room = COPIES_KEPT.saturating_sub(kept.len());
        kept.extend(self.copies.drain(..).take(room));
    }
}

impl BufferPool {
    /// Begins I/O for a dirty page that the caller has pinned, and copies it under its latch.
    /// `None` if it is clean by now, or (without `wait`) latched or in I/O.
    pub(crate) fn begin_write(&self, frame: FrameNo, wait: bool) -> Option<Run<'_>> {
        let copy = self.begin_copy(frame, wait)?;
        let first = self.frames.desc(frame).tag().block;
        let fork = self.owner_of(frame);
        let (frames, copies) = (SmallVec::from_slice(&[frame]), SmallVec::from_iter([copy]));
        Some(Run { pool: self, fork, first, frames, copies })
    }

    /// Most pages of a run: a write must not pin most of a small pool.
    fn run_max(&self) -> usize {
        RUN_MAX.min(self.frames() / 8).max(1)
    }

    /// As `begin_write`, for the page after those of the run. Never waits, since other threads may
    /// wait for the I/O that the run has begun.
    fn join(&self, run: &mut Run<'_>, frame: FrameNo) -> bool {
        match self.begin_copy(frame, false) {
            Some(copy) => {
                run.frames.push(frame);
                run.copies.push(copy);
                true
            }
            None => false,
        }
    }

    fn begin_copy(&self, frame: FrameNo, wait: bool) -> Option<PageBuf> {
        let desc = self.frames.desc(frame);
        let mode = LatchMode::ShareExclusive;
        if wait {
            crate::order::none_held(self);
            desc.latch.acquire(mode);
        } else if !desc.latch.try_acquire(mode) {
            return None;
        }
        let dirty = |s: u64| s & DIRTY != 0;
        let begun = if wait { desc.start_io(dirty) } else { desc.try_start_io(dirty) };
        let copy = begun.then(|| {
            // Changes from here on are not in the copy.
            desc.state.fetch_and(!JUST_DIRTIED, Ordering::AcqRel);
            let kept = self.copies.lock().pop();
            let mut copy = kept.unwrap_or_default();
            self.frames.copy_latched(frame, copy.page_mut());
            copy
        });
        desc.latch.release(mode);
        copy
    }

    /// Writes the run and ends its I/O.
    pub(crate) fn finish_write(&self, mut run: Run<'_>, writer: Writer) -> Result<()> {
        if let Some(wal) = self.wal.as_ref().filter(|_| run.fork.is_permanent()) {
            let newest = run.copies.iter().map(|copy| copy.page().lsn()).max();
            let newest = newest.unwrap_or(Lsn::INVALID);
            if wal.flushed() < newest {
                if writer == Writer::Session {
                    bump(&self.counters.wal_flushes);
                }
                wal.flush(newest)?;
            }
            // The write-ahead rule, checked at every write.
            assert!(
                wal.flushed() >= newest,
                "page of {} with LSN {newest} is about to be written, the log is flushed to {}",
                run.fork.name(),
                wal.flushed()
            );
        }
        if self.config.checksums {
            for (block, copy) in (run.first.0..).zip(run.copies.iter_mut()) {
                copy.set_checksum(BlockNo(block));
            }
        }
        let bufs: SmallVec<[IoSlice<'_>; RUN_MAX]> =
            run.copies.iter().map(|copy| IoSlice::new(copy.as_bytes())).collect();
        self.smgr.write(run.fork.name(), run.first, &bufs)?;
        drop(bufs);
        let counter = match writer {
            Writer::Session => &self.counters.written_by_sessions,
            Writer::Checkpoint => &self.counters.written_by_checkpoints,
            Writer::Background => &self.counters.written_by_background,
        };
        counter.fetch_add(run.frames.len() as u64, Ordering::Relaxed);
        for frame in run.frames.drain(..) {
            self.frames.desc(frame).end_io(0, true);
        }
        Ok(())
    }

    /// Extends the run by the dirty pages that follow it in the file, as long as the next of
    /// `frames` holds the next such page. The pins are kept until the run is written.
    pub(crate) fn join_neighbours(
        &self,
        run: &mut Run<'_>,
        frames: impl Iterator<Item = FrameNo>,
    ) -> Pins<'_> {
        let mut pins = Pins::none(self);
        let name = run.fork.name();
        for frame in frames.take(self.run_max() - 1) {
            let block = BlockNo(run.first.0.wrapping_add(run.frames.len() as u32));
            let next = Tag { rel: name.rel, fork: name.fork, block };
            let state = self.frames.desc(frame).state.load(Ordering::Acquire);
            let dirty =
                state & (TAGGED | DIRTY) == TAGGED | DIRTY && crate::frame::pins(state) == 0;
            if !dirty || !self.pin_if(frame, &next) {
                break;
            }
            pins.frames.push(frame);
            if !self.join(run, frame) {
                break;
            }
        }
        pins
    }

    /// Pins the frame if it still holds the block of `tag`.
    fn pin_if(&self, frame: FrameNo, tag: &Tag) -> bool {
        let desc = self.frames.desc(frame);
        let before = desc.state.fetch_add(PIN, Ordering::Acquire);
        if before & TAGGED != 0 && desc.tag() == *tag {
            return true;
        }
        desc.unpin();
        false
    }

    /// Writes all dirty pages (`all`: of unlogged relations too, for a shutdown) in the order of
    /// files and blocks. `pace` is called after each write and may sleep. After every `flush_after`
    /// pages the kernel is asked to start writing them back (0: never). The files are not synced:
    /// that is `Smgr::checkpoint_sync`. Counterpart: BufferSync.
    pub fn checkpoint_write(
        &self,
        all: bool,
        flush_after: u32,
        pace: &mut dyn FnMut(CheckpointProgress),
    ) -> Result<CheckpointProgress> {
        let mut todo = Vec::new();
        for frame in 0..self.frames() as FrameNo {
            let desc = self.frames.desc(frame);
            if desc.state.load(Ordering::Acquire) & (TAGGED | DIRTY) != TAGGED | DIRTY {
                continue;
            }
            let before = desc.state.fetch_add(PIN, Ordering::Acquire);
            if before & (TAGGED | DIRTY) == TAGGED | DIRTY
                && (all || self.owner_of(frame).is_permanent())
            {
                desc.state.fetch_or(CHECKPOINT, Ordering::AcqRel);
                todo.push((desc.tag(), frame));
            }
            desc.unpin();
        }
        self.write_sorted(todo, CHECKPOINT, Writer::Checkpoint, flush_after, pace)
    }

    /// Writes those pages of `todo` that still have the flag `still`.
    fn write_sorted(
        &self,
        mut todo: Vec<(Tag, FrameNo)>,
        still: u64,
        writer: Writer,
        flush_after: u32,
        pace: &mut dyn FnMut(CheckpointProgress),
    ) -> Result<CheckpointProgress> {
        todo.sort_unstable_by_key(|(tag, _)| {
            let RelFile { tablespace, database, relnumber } = tag.rel;
            (tablespace, database, relnumber, tag.fork as u8, tag.block)
        });
        let mut progress = CheckpointProgress { total: todo.len(), ..Default::default() };
        let mut writeback = Writeback::default();
        let mut at = 0;
        while at < todo.len() {
            let (taken, written) = self.write_run_at(&todo[at..], still, writer)?;
            if written > 0 {
                let (tag, _) = &todo[at];
                let fork = RelFork { rel: tag.rel, fork: tag.fork, backend: None };
                writeback.add(&self.smgr, fork, tag.block, written as u32, flush_after);
            }
            at += taken;
            progress.done = at;
            progress.written += written;
            pace(progress);
        }
        writeback.issue(&self.smgr);
        Ok(progress)
    }

    /// Writes the first page of `todo` with those that follow it in the file; returns the number of
    /// entries dealt with, and of pages written.
    fn write_run_at(
        &self,
        todo: &[(Tag, FrameNo)],
        still: u64,
        writer: Writer,
    ) -> Result<(usize, usize)> {
        let wanted =
            |frame: FrameNo| self.frames.desc(frame).state.load(Ordering::Acquire) & still != 0;
        let (tag, frame) = &todo[0];
        if !wanted(*frame) || !self.pin_if(*frame, tag) {
            return Ok((1, 0));
        }
        let mut pins = Pins { pool: self, frames: SmallVec::from_slice(&[*frame]) };
        let Some(mut run) = self.begin_write(*frame, true) else { return Ok((1, 0)) };
        for (next, frame) in todo[1..].iter().take(self.run_max() - 1) {
            let neighbour = next.rel == tag.rel
                && next.fork == tag.fork
                && next.block.0 == tag.block.0 + run.frames.len() as u32;
            if !neighbour || !wanted(*frame) || !self.pin_if(*frame, next) {
                break;
            }
            pins.frames.push(*frame);
            if !self.join(&mut run, *frame) {
                break;
            }
        }
        let count = run.frames.len();
        self.finish_write(run, writer)?;
        Ok((count, count))
    }

    /// Writes the dirty pages of a fork to its file (not synced).
    pub fn flush_fork(&self, fork: &ForkBuffers) -> Result<()> {
        let mut todo = Vec::new();
        let RelFile { .. } = fork.name().rel;
        fork.for_each(BlockNo(0), |block, frame| {
            todo.push((Tag { rel: fork.name().rel, fork: fork.name().fork, block }, frame));
        });
        self.write_sorted(todo, DIRTY, Writer::Session, 0, &mut |_| {}).map(|_| ())
    }

    /// Writes all dirty pages of the relation to its files (not synced).
    pub fn flush_relation(&self, rel: RelFile) -> Result<()> {
        let forks = self.registry.matching(|name| name.rel == rel);
        forks.iter().try_for_each(|fork| self.flush_fork(fork))
    }

    pub fn flush_database(&self, database: Oid) -> Result<()> {
        let forks = self.registry.of_database(database);
        forks.iter().try_for_each(|fork| self.flush_fork(fork))
    }
}

/// Pins of pages being written.
pub(crate) struct Pins<'a> {
    pool: &'a BufferPool,
    frames: SmallVec<[FrameNo; RUN_MAX]>,
}

impl<'a> Pins<'a> {
    pub(crate) fn none(pool: &'a BufferPool) -> Pins<'a> {
        Pins { pool, frames: SmallVec::new() }
    }
}

impl Drop for Pins<'_> {
    fn drop(&mut self) {
        for frame in &self.frames {
            self.pool.frames.desc(*frame).unpin();
        }
    }
}

/// Writes dirty pages ahead of the clock hand, so that sessions need not. Counterpart:
/// BgBufferSync.
#[derive(Debug, Default)]
pub struct BackgroundWriter {
    /// Number of frames passed, counted as the clock hand is: all frames before it have been
    /// examined.
    next: u64,
    allocated_before: u64,
    /// Allocations per round, smoothed: rises at once, falls slowly.
    demand: f64,
    writeback: Writeback,
}

/// Number of rounds over which the demand falls.
const SMOOTHING: f64 = 16.0;

impl BackgroundWriter {
    pub fn new() -> BackgroundWriter {
        BackgroundWriter::default()
    }

    /// One round: writes at most `pages_max` pages (`bgwriter_lru_maxpages`) among the frames that
    /// the clock hand reaches next, until `multiplier` times the demand is reusable. `flush_after`
    /// as for [`BufferPool::checkpoint_write`]. Returns the pages written; `None` if there was no
    /// demand (sleep longer).
    pub fn step(
        &mut self,
        pool: &BufferPool,
        pages_max: usize,
        multiplier: f64,
        flush_after: u32,
    ) -> Result<Option<usize>> {
        let allocated = pool.counters.allocated.load(Ordering::Relaxed);
        let recent = (allocated - self.allocated_before) as f64;
        self.allocated_before = allocated;
        self.demand = if recent > self.demand {
            recent
        } else {
            self.demand + (recent - self.demand) / SMOOTHING
        };
        let count = pool.frames() as u64;
        let hand = pool.replacement.hand();
        // If the clock hand has overtaken this position, continue at the hand.
        self.next = self.next.max(hand);
        let mut reusable = 0.0;
        let mut written = 0;
        let wanted = self.demand * multiplier;
        while self.next < hand + count && reusable < wanted && written < pages_max {
            let frame = (self.next % count) as FrameNo;
            self.next += 1;
            let desc = pool.frames.desc(frame);
            let state = desc.state.load(Ordering::Acquire);
            if state & TAGGED == 0 || pins(state) != 0 || state & USAGES != 0 {
                continue;
            }
            reusable += 1.0;
            if state & DIRTY == 0 || desc.state.fetch_add(PIN, Ordering::Acquire) & TAGGED == 0 {
                if state & DIRTY != 0 {
                    desc.unpin();
                }
                continue;
            }
            let pins = Pins { pool, frames: SmallVec::from_slice(&[frame]) };
            if let Some(run) = pool.begin_write(frame, false) {
                let (fork, block) = (run.fork.name(), run.first);
                pool.finish_write(run, Writer::Background)?;
                self.writeback.add(&pool.smgr, fork, block, 1, flush_after);
                written += 1;
            }
            drop(pins);
        }
        Ok((recent > 0.0 || written > 0).then_some(written))
    }
}
