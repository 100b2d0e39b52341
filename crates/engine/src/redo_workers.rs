//! Replay of pages by several threads.
//!
//! One thread reads the log and decodes it. Records that change nothing but their blocks go to the
//! threads that have those pages in their shares ([`Partition`]): a page's records reach one thread, in
//! order. A record of two pages in two shares goes to both, and each does its half. All other
//! records are replayed by the reading thread: those that have to do with files, with many pages or
//! with what pages hold wait until everything before them is done ([`RedoWorkers::wait`]), commits
//! and the like wait for nothing.
//!
//! Records travel as bytes, many in one buffer, and are taken apart again by the worker: what two
//! cores hand to each other record by record costs more than the work.
//!
//! ```text
//! reader ── full buffers ──> worker          each lane: a queue of bounded length
//!        <── empty buffers ──
//! ```
//!
//! An error ends replay as a whole; the first one counts, and workers only empty their queues after
//! it.

use crate::redo::replay_pages;
use bufmgr::BufferPool;
use bufmgr::redo::{Partition, RedoCx, RedoTicket};
use ids::{BlockNo, Fork, Lsn, Oid, RelFile};
use pgerror::{PgError, Result, Severity};
use std::collections::VecDeque;
use std::time::Duration;
use sync::atomic::{AtomicBool, Ordering};
use sync::{Arc, Condvar, JoinHandle, Mutex};
use vfs::process::thread_usage;
use wal::DecodedRecord;

/// A buffer goes out when it holds so much.
const BATCH_BYTES: usize = 64 << 10;
/// Full buffers that wait for a worker.
const QUEUE_MAX: usize = 16;
/// A reader that found a queue full goes on when so many are left: to wake it for each one costs
/// more than what it brings.
const QUEUE_LOW: usize = QUEUE_MAX / 2;
/// So many records ahead of the one being replayed, the processor is told which page it will need.
const AHEAD: usize = 4;

/// Before each record in a buffer: where it lies in the log, its length, and the first of its
/// blocks that is in the worker's share.
#[derive(Clone, Copy)]
struct Frame {
    start: Lsn,
    end: Lsn,
    len: usize,
    rel: RelFile,
    fork: u8,
    block: BlockNo,
    /// The record moves what lies on the page.
    whole: bool,
}

impl Frame {
    const SIZE: usize = 40;

    fn pair(high: u32, low: u32) -> u64 {
        u64::from(high) << 32 | u64::from(low)
    }

    fn write(&self, to: &mut Vec<u8>) {
        let words = [
            self.start.0,
            self.end.0,
            Frame::pair(u32::from(self.fork) | u32::from(self.whole) << 8, self.len as u32),
            Frame::pair(self.rel.tablespace.0, self.rel.database.0),
            Frame::pair(self.rel.relnumber.0, self.block.0),
        ];
        to.extend_from_slice(words.map(u64::to_le_bytes).as_flattened());
    }

    /// The frame at the beginning of a buffer, and what follows it.
    fn split(buffer: &[u8]) -> Option<(Frame, &[u8])> {
        let (frame, rest) = buffer.split_first_chunk::<{ Frame::SIZE }>()?;
        let (words, _) = frame.as_chunks::<8>();
        let word = |i: usize| u64::from_le_bytes(words[i]);
        let (high, low) = (|i| (word(i) >> 32) as u32, |i| word(i) as u32);
        let frame = Frame {
            start: Lsn(word(0)),
            end: Lsn(word(1)),
            len: low(2) as usize,
            rel: RelFile::new(Oid(high(3)), Oid(low(3)), Oid(high(4))),
            fork: high(2) as u8,
            block: BlockNo(low(4)),
            whole: high(2) & 1 << 8 != 0,
        };
        Some((frame, rest))
    }
}

/// Processor time used, user and system.
pub(crate) type Times = (Duration, Duration);

#[derive(Default)]
struct Queue {
    full: VecDeque<Vec<u8>>,
    empty: Vec<Vec<u8>>,
    /// The worker has a buffer in hand.
    busy: bool,
    /// Nothing more will come.
    closed: bool,
    /// The worker is gone.
    gone: bool,
}

#[derive(Default)]
struct Lane {
    queue: Mutex<Queue>,
    /// There is something to do, or will never be again.
    work: Condvar,
    /// Something was done.
    done: Condvar,
}

#[derive(Default)]
struct Failure {
    happened: AtomicBool,
    error: Mutex<Option<PgError>>,
}

impl Failure {
    fn note(&self, error: PgError) {
        self.error.lock().get_or_insert(error);
        self.happened.store(true, Ordering::Release);
    }

    fn check(&self) -> Result<()> {
        if !self.happened.load(Ordering::Acquire) {
            return Ok(());
        }
        let taken = self.error.lock().take();
        Err(taken.unwrap_or_else(|| PgError::internal("replay has failed before")))
    }
}

/// The threads, as the one that reads the log sees them.
pub(crate) struct RedoWorkers {
    lanes: Vec<Arc<Lane>>,
    /// For each lane, the buffer that is being filled.
    filling: Vec<Vec<u8>>,
    threads: Vec<JoinHandle<Times>>,
    failure: Arc<Failure>,
}

impl RedoWorkers {
    /// Starts `count` threads (more than none) that replay together with `cx`.
    pub(crate) fn start(count: usize, cx: &RedoCx<'_>, pool: &Arc<BufferPool>) -> Result<Self> {
        let mut workers = RedoWorkers {
            lanes: Vec::new(),
            filling: Vec::new(),
            threads: Vec::new(),
            failure: Arc::default(),
        };
        let count = u32::try_from(count).unwrap_or(1);
        for index in 0..count {
            let lane = Arc::new(Lane::default());
            let ticket = cx.ticket(Partition { index, count });
            let mut worker = Worker {
                lane: lane.clone(),
                pool: pool.clone(),
                failure: workers.failure.clone(),
                record: DecodedRecord::default(),
            };
            let thread = sync::spawn(format!("redo {index}"), move || worker.run(&ticket));
            let failed = |e| PgError::internal(format!("could not start a thread of redo: {e}"));
            workers.threads.push(thread.map_err(failed)?);
            workers.lanes.push(lane);
            workers.filling.push(Vec::with_capacity(BATCH_BYTES * 2));
        }
        Ok(workers)
    }

    /// Hands a record to those who have its pages.
    pub(crate) fn send(&mut self, record: &DecodedRecord) -> Result<()> {
        let count = self.lanes.len() as u32;
        let mut shares = 0u64;
        let whole = heap::redo::compacts(record);
        for (_, block) in record.blocks() {
            let lane = Partition::of(block.rel, block.block, count) as usize;
            if shares & 1 << lane != 0 {
                continue;
            }
            shares |= 1 << lane;
            let buffer = &mut self.filling[lane];
            let bytes = record.bytes();
            let frame = Frame {
                start: record.start,
                end: record.end,
                len: bytes.len(),
                rel: block.rel,
                fork: block.fork as u8,
                block: block.block,
                whole,
            };
            frame.write(buffer);
            buffer.extend_from_slice(bytes);
            if buffer.len() >= BATCH_BYTES {
                self.hand_over(lane);
                self.failure.check()?;
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, lane: usize) {
        let full = std::mem::take(&mut self.filling[lane]);
        let lane_of = &self.lanes[lane];
        let mut queue = lane_of.queue.lock();
        if queue.full.len() >= QUEUE_MAX {
            while queue.full.len() > QUEUE_LOW && !queue.gone {
                lane_of.done.wait(&mut queue);
            }
        }
        queue.full.push_back(full);
        let empty = queue.empty.pop();
        drop(queue);
        lane_of.work.notify_one();
        self.filling[lane] = empty.unwrap_or_else(|| Vec::with_capacity(BATCH_BYTES * 2));
    }

    /// Waits until all that was handed over is replayed.
    pub(crate) fn wait(&mut self) -> Result<()> {
        for lane in 0..self.lanes.len() {
            if !self.filling[lane].is_empty() {
                self.hand_over(lane);
            }
        }
        for lane in &self.lanes {
            let mut queue = lane.queue.lock();
            while (queue.busy || !queue.full.is_empty()) && !queue.gone {
                lane.done.wait(&mut queue);
            }
        }
        self.failure.check()
    }

    /// Waits, and ends the threads; what they have used.
    pub(crate) fn finish(mut self) -> Result<Times> {
        self.wait()?;
        let (mut user, mut system) = Times::default();
        self.close();
        for thread in self.threads.drain(..) {
            let lost = |_| PgError::internal("a thread of redo ended in a panic");
            let times = thread.join().map_err(lost)?;
            user += times.0;
            system += times.1;
        }
        Ok((user, system))
    }

    fn close(&self) {
        for lane in &self.lanes {
            lane.queue.lock().closed = true;
            lane.work.notify_one();
        }
    }
}

impl Drop for RedoWorkers {
    fn drop(&mut self) {
        self.close();
        for thread in self.threads.drain(..) {
            // Its error, if any, is known to those who wait.
            let _ = thread.join();
        }
    }
}

struct Worker {
    lane: Arc<Lane>,
    pool: Arc<BufferPool>,
    failure: Arc<Failure>,
    record: DecodedRecord,
}

/// Nobody shall wait for a worker that is gone, by panic or not.
struct Gone<'a>(&'a Lane, &'a Failure);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.gone = true;
        if !queue.closed {
            let e = PgError::internal("a thread of redo ended in a panic");
            self.1.note(e.severity(Severity::Panic));
        }
        drop(queue);
        self.0.done.notify_all();
    }
}

impl Worker {
    fn run(&mut self, ticket: &RedoTicket) -> Times {
        let (lane, pool, failure) = (self.lane.clone(), self.pool.clone(), self.failure.clone());
        let _gone = Gone(&lane, &failure);
        let mut cx = ticket.context(&pool);
        let mut used: Option<Vec<u8>> = None;
        loop {
            let mut queue = lane.queue.lock();
            queue.busy = false;
            queue.empty.extend(used.take());
            if matches!(queue.full.len(), 0 | QUEUE_LOW) {
                lane.done.notify_one();
            }
            while queue.full.is_empty() && !queue.closed {
                lane.work.wait(&mut queue);
            }
            let Some(mut buffer) = queue.full.pop_front() else { break };
            queue.busy = true;
            drop(queue);
            if !failure.happened.load(Ordering::Acquire)
                && let Err(e) = self.replay(&mut cx, &buffer)
            {
                failure.note(e);
            }
            buffer.clear();
            used = Some(buffer);
        }
        let used = thread_usage();
        (used.user, used.system)
    }

    fn replay(&mut self, cx: &mut RedoCx<'_>, mut buffer: &[u8]) -> Result<()> {
        let mut ahead = buffer;
        for _ in 0..AHEAD {
            ahead = announce(cx, ahead);
        }
        while let Some((frame, rest)) = Frame::split(buffer) {
            ahead = announce(cx, ahead);
            let (bytes, rest) = rest.split_at(frame.len);
            buffer = rest;
            let record = &mut self.record;
            record.load(frame.start, frame.end, bytes);
            let Some(rmgr) = record.header.rmgr() else { continue };
            replay_pages(cx, rmgr, record)?;
        }
        Ok(())
    }
}

/// Announces the page of a buffer's first record; what follows it.
#[inline]
fn announce<'b>(cx: &RedoCx<'_>, buffer: &'b [u8]) -> &'b [u8] {
    let Some((frame, rest)) = Frame::split(buffer) else { return buffer };
    if let Some(fork) = Fork::from_u8(frame.fork) {
        cx.prefetch(frame.rel, fork, frame.block, frame.whole);
    }
    &rest[frame.len..]
}
