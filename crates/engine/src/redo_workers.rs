//! Parallel replay of pages.
//!
//! One thread reads and decodes the log. Records that change only their blocks are sent to the
//! workers that own those pages ([`Partition`]); so the records of a page are replayed by one
//! worker, in order. A record of two pages with different owners is sent to both, and each replays
//! its part. All other records are replayed by the reading thread. Those that concern files, many
//! pages or the contents of other pages first wait until all earlier records have been replayed
//! ([`RedoWorkers::wait`]); commits and the like do not wait.
//!
//! Records are sent as bytes, many in one buffer, and decoded again by the worker: passing single
//! records between cores costs more than decoding.
//!
//! ```text
//! reader ── full buffers ──> worker          each channel: a queue of bounded length
//!        <── empty buffers ──
//! ```
//!
//! An error ends replay. The first one is reported; after it workers discard their queues.

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

/// Size at which a buffer is sent.
const BATCH_BYTES: usize = 64 << 10;
/// Maximum number of full buffers in a queue.
const QUEUE_MAX: usize = 16;
/// A reader that found a queue full is woken when the queue has shrunk to this length. Waking it
/// for each buffer would cause too many context switches.
const QUEUE_LOW: usize = QUEUE_MAX / 2;
/// Number of records by which prefetching of pages into the CPU cache is ahead of replay.
const AHEAD: usize = 4;

/// Header of each record in a buffer: location in the log, length, and the first of its blocks that
/// the worker owns.
#[derive(Clone, Copy)]
struct Frame {
    start: Lsn,
    end: Lsn,
    len: usize,
    rel: RelFile,
    fork: u8,
    block: BlockNo,
    /// Replay defragments the page, so it accesses the complete page.
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

    /// The frame at the start of a buffer, and the remaining bytes.
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

/// CPU time used, user and system.
pub(crate) type Times = (Duration, Duration);

#[derive(Default)]
struct Queue {
    full: VecDeque<Vec<u8>>,
    empty: Vec<Vec<u8>>,
    /// The worker is replaying a buffer.
    busy: bool,
    /// No more buffers will be sent.
    closed: bool,
    /// The worker has ended.
    exited: bool,
}

#[derive(Default)]
struct Channel {
    queue: Mutex<Queue>,
    /// Signals the worker that a buffer was added or the queue was closed.
    work: Condvar,
    /// Signals the reader that the queue has shrunk or the worker has ended.
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

/// The workers, as used by the thread that reads the log.
pub(crate) struct RedoWorkers {
    channels: Vec<Arc<Channel>>,
    /// For each channel, the buffer that is being filled.
    filling: Vec<Vec<u8>>,
    threads: Vec<JoinHandle<Times>>,
    failure: Arc<Failure>,
}

impl RedoWorkers {
    /// Starts `count` workers (at least one), which replay together with `cx`.
    pub(crate) fn start(count: usize, cx: &RedoCx<'_>, pool: &Arc<BufferPool>) -> Result<Self> {
        let mut workers = RedoWorkers {
            channels: Vec::new(),
            filling: Vec::new(),
            threads: Vec::new(),
            failure: Arc::default(),
        };
        let count = u32::try_from(count).unwrap_or(1);
        for index in 0..count {
            let channel = Arc::new(Channel::default());
            let ticket = cx.ticket(Partition { index, count });
            let mut worker = Worker {
                channel: channel.clone(),
                pool: pool.clone(),
                failure: workers.failure.clone(),
                record: DecodedRecord::default(),
            };
            let thread = sync::spawn(format!("redo {index}"), move || worker.run(&ticket));
            let failed = |e| PgError::internal(format!("could not start a redo worker: {e}"));
            workers.threads.push(thread.map_err(failed)?);
            workers.channels.push(channel);
            workers.filling.push(Vec::with_capacity(BATCH_BYTES * 2));
        }
        Ok(workers)
    }

    /// Sends a record to the workers that own its pages.
    pub(crate) fn send(&mut self, record: &DecodedRecord) -> Result<()> {
        let count = self.channels.len() as u32;
        let mut shares = 0u64;
        let whole = heap::redo::compacts(record);
        for (_, block) in record.blocks() {
            let channel = Partition::of(block.rel, block.block, count) as usize;
            if shares & 1 << channel != 0 {
                continue;
            }
            shares |= 1 << channel;
            let buffer = &mut self.filling[channel];
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
                self.send_buffer(channel);
                self.failure.check()?;
            }
        }
        Ok(())
    }

    fn send_buffer(&mut self, channel: usize) {
        let full = std::mem::take(&mut self.filling[channel]);
        let target = &self.channels[channel];
        let mut queue = target.queue.lock();
        if queue.full.len() >= QUEUE_MAX {
            while queue.full.len() > QUEUE_LOW && !queue.exited {
                target.done.wait(&mut queue);
            }
        }
        queue.full.push_back(full);
        let empty = queue.empty.pop();
        drop(queue);
        target.work.notify_one();
        self.filling[channel] = empty.unwrap_or_else(|| Vec::with_capacity(BATCH_BYTES * 2));
    }

    /// Waits until all records that were sent are replayed.
    pub(crate) fn wait(&mut self) -> Result<()> {
        for channel in 0..self.channels.len() {
            if !self.filling[channel].is_empty() {
                self.send_buffer(channel);
            }
        }
        for channel in &self.channels {
            let mut queue = channel.queue.lock();
            while (queue.busy || !queue.full.is_empty()) && !queue.exited {
                channel.done.wait(&mut queue);
            }
        }
        self.failure.check()
    }

    /// Waits for the workers and ends them. Returns the CPU time that they used.
    pub(crate) fn finish(mut self) -> Result<Times> {
        self.wait()?;
        let (mut user, mut system) = Times::default();
        self.close();
        for thread in self.threads.drain(..) {
            let lost = |_| PgError::internal("a redo worker has panicked");
            let times = thread.join().map_err(lost)?;
            user += times.0;
            system += times.1;
        }
        Ok((user, system))
    }

    fn close(&self) {
        for channel in &self.channels {
            channel.queue.lock().closed = true;
            channel.work.notify_one();
        }
    }
}

impl Drop for RedoWorkers {
    fn drop(&mut self) {
        self.close();
        for thread in self.threads.drain(..) {
            // An error of the worker is reported through `Failure`.
            let _ = thread.join();
        }
    }
}

struct Worker {
    channel: Arc<Channel>,
    pool: Arc<BufferPool>,
    failure: Arc<Failure>,
    record: DecodedRecord,
}

/// Marks a worker as ended when it is dropped, also by a panic, so that the reader does not wait
/// for the worker.
struct ExitGuard<'a>(&'a Channel, &'a Failure);

impl Drop for ExitGuard<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.exited = true;
        if !queue.closed {
            let e = PgError::internal("a redo worker has panicked");
            self.1.note(e.severity(Severity::Panic));
        }
        drop(queue);
        self.0.done.notify_all();
    }
}

impl Worker {
    fn run(&mut self, ticket: &RedoTicket) -> Times {
        let (channel, pool, failure) =
            (self.channel.clone(), self.pool.clone(), self.failure.clone());
        let _exit = ExitGuard(&channel, &failure);
        let mut cx = ticket.context(&pool);
        let mut used: Option<Vec<u8>> = None;
        loop {
            let mut queue = channel.queue.lock();
            queue.busy = false;
            queue.empty.extend(used.take());
            if matches!(queue.full.len(), 0 | QUEUE_LOW) {
                channel.done.notify_one();
            }
            while queue.full.is_empty() && !queue.closed {
                channel.work.wait(&mut queue);
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

/// Prefetches the page of the first record of a buffer. Returns the remaining bytes.
#[inline]
fn announce<'b>(cx: &RedoCx<'_>, buffer: &'b [u8]) -> &'b [u8] {
    let Some((frame, rest)) = Frame::split(buffer) else { return buffer };
    if let Some(fork) = Fork::from_u8(frame.fork) {
        cx.prefetch(frame.rel, fork, frame.block, frame.whole);
    }
    &rest[frame.len..]
}
