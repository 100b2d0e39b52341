//! Writing the log from the ring to segment files, and group commit.
//!
//! A thread that needs a position durable becomes the leader if there is none, else it queues up.
//! The leader waits until the insertions before its position are complete, writes and fsyncs all
//! that is complete by then, wakes the waiters that this serves, and passes leadership to one of
//! the others. Each waiter is woken once, when it is served or becomes the leader.
//!
//! A successor leader with an empty queue yields the processor once before it flushes: runnable
//! threads may be about to commit and can then join. It waits for none of them; with an idle
//! processor the yield returns at once.
//!
//! The first failed write or fsync is final, since the state of the file in the kernel's cache is
//! unknown after it.
//!
//! Counterpart: XLogFlush, XLogWrite, issue_xlog_fsync in xlog.c.

use crate::layout::{Layout, WAL_PAGE};
use crate::ring::Ring;
use crate::segment::Segments;
use crate::wal::{Counters, SyncMethod, WalConfig};
use ids::Lsn;
use pgerror::{PgError, Result, Severity};
use smallvec::SmallVec;
use std::time::Duration;
use sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use sync::wait::{WaitEvent, Waiter};
use sync::{Arc, Mutex, MutexGuard};
use vfs::{DirectBuffer, Env, File, OpenMode, io_error, io_error_with};

/// Most pages written at once (1 MB).
const PAGES_MAX: usize = 128;

pub(crate) struct Writer {
    env: Env,
    /// Everything before is written to the operating system.
    written: AtomicU64,
    /// Everything before is durable.
    flushed: AtomicU64,
    failed: AtomicBool,
    /// Number of successor leaders that skip the yield, because the last one took too long.
    yields_to_skip: AtomicU32,
    /// Value of `yields_to_skip` after the next yield that takes too long.
    next_yields_to_skip: AtomicU32,
    file: Mutex<Output>,
    queue: Mutex<Queue>,
    fsync: AtomicBool,
    /// [`SyncMethod`], as a number.
    method: AtomicU8,
    /// The waiter of the checkpointer, and whether a segment has been filled since it last asked.
    checkpointer: Arc<Waiter>,
    segment_filled: AtomicBool,
    on_panic: Arc<dyn Fn(&PgError) + Send + Sync>,
    counters: Arc<Counters>,
}

/// The open segment and the write buffer. Locked during writes and syncs.
struct Output {
    segments: Option<Arc<Segments>>,
    open: Option<Open>,
    buffer: DirectBuffer,
}

struct Open {
    segment: u64,
    file: Arc<dyn File>,
    mode: OpenMode,
}

#[derive(Default)]
struct Queue {
    leading: bool,
    waiting: Vec<Waiting>,
}

struct Waiting {
    lsn: Lsn,
    parked: Arc<Parked>,
}

/// A waiting thread; `verdict` is the reason for which it was woken.
#[derive(Default)]
struct Parked {
    waiter: Waiter,
    verdict: AtomicU32,
}

const WAIT: u32 = 0;
const DONE: u32 = 1;
const LEAD: u32 = 2;

/// The part that a thread takes in a flush.
enum Role {
    /// Its position is durable, or the log has failed: nothing to do.
    Served,
    Leader,
    /// Leader by succession, after having waited.
    Successor,
}

/// Longest useful yield, about the time of a few statements. After a longer one the processor is
/// considered busy with other work.
const YIELD_MAX: Duration = Duration::from_millis(2);
/// Number of successor leaders that skip the yield after one that took too long. It doubles each
/// time in a row, up to the maximum.
const YIELDS_SKIPPED_MIN: u32 = 8;
const YIELDS_SKIPPED_MAX: u32 = 4096;

impl Writer {
    pub(crate) fn new(env: Env, config: &WalConfig, counters: Arc<Counters>) -> Writer {
        let writer = Writer {
            env,
            // In recovery every page comes from the log on disk, so there is nothing to flush.
            written: AtomicU64::new(Lsn::MAX.0),
            flushed: AtomicU64::new(Lsn::MAX.0),
            failed: AtomicBool::new(false),
            yields_to_skip: AtomicU32::new(0),
            next_yields_to_skip: AtomicU32::new(YIELDS_SKIPPED_MIN),
            file: Mutex::new(Output {
                segments: None,
                open: None,
                buffer: DirectBuffer::with_capacity(PAGES_MAX * WAL_PAGE),
            }),
            queue: Mutex::new(Queue::default()),
            fsync: AtomicBool::new(true),
            method: AtomicU8::new(SyncMethod::Fdatasync as u8),
            checkpointer: Arc::new(Waiter::new()),
            segment_filled: AtomicBool::new(false),
            on_panic: config.on_panic.clone(),
            counters,
        };
        writer.configure(config);
        writer
    }

    pub(crate) fn configure(&self, config: &WalConfig) {
        self.fsync.store(config.fsync, Relaxed);
        self.counters.timed.store(config.track_io_timing, Relaxed);
        self.method.store(config.sync_method as u8, Relaxed);
        if let Some(segments) = &self.file.lock().segments {
            segments.configure(config.init_zero, config.fsync);
        }
    }

    pub(crate) fn checkpointer(&self) -> &Arc<Waiter> {
        &self.checkpointer
    }

    pub(crate) fn take_segment_filled(&self) -> bool {
        self.segment_filled.swap(false, AcqRel)
    }

    pub(crate) fn start(&self, segments: Segments, end: Lsn) {
        let mut output = self.file.lock();
        output.segments = Some(Arc::new(segments));
        output.open = None;
        self.written.store(end.0, Release);
        self.flushed.store(end.0, Release);
    }

    pub(crate) fn written(&self) -> Lsn {
        Lsn(self.written.load(Acquire))
    }

    pub(crate) fn flushed(&self) -> Lsn {
        Lsn(self.flushed.load(Acquire))
    }

    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Acquire)
    }

    pub(crate) fn with_segments<T>(&self, f: impl FnOnce(&Segments) -> Result<T>) -> Result<T> {
        let segments = self.file.lock().segments.clone();
        match segments {
            Some(segments) => f(&segments),
            None => Err(PgError::internal("the write-ahead log is not open")),
        }
    }

    /// Makes everything before `lsn` durable. `complete` waits for the insertions before a position
    /// and returns the position up to which the log is complete. `pause` returns the span that a
    /// leader sleeps before that, so that more commits join.
    pub(crate) fn flush(
        &self,
        lsn: Lsn,
        ring: &Ring,
        complete: impl Fn(Lsn) -> Lsn,
        pause: &dyn Fn() -> Option<Duration>,
    ) -> Result<()> {
        match self.lead_or_wait(lsn) {
            Role::Served => return self.outcome(),
            Role::Leader => {}
            Role::Successor => self.yield_once(),
        }
        let result = self.lead(lsn, ring, complete, pause);
        self.end_lead();
        result
    }

    /// Becomes the leader, or waits to become it or until `lsn` is durable or the log has failed.
    fn lead_or_wait(&self, lsn: Lsn) -> Role {
        let mut queue = self.queue.lock();
        if self.flushed() >= lsn || self.failed() {
            return Role::Served;
        }
        if !queue.leading {
            queue.leading = true;
            return Role::Leader;
        }
        // Not reused: threads that are woken together would contend for giving it back.
        let parked = Arc::new(Parked::default());
        queue.waiting.push(Waiting { lsn, parked: parked.clone() });
        drop(queue);
        loop {
            parked.waiter.park_uninterrupted(WaitEvent::WALSync, None);
            match parked.verdict.load(Acquire) {
                WAIT => {}
                LEAD => return Role::Successor,
                _ => return Role::Served,
            }
        }
    }

    /// Lets runnable threads run first, unless the queue has waiters that this flush may serve.
    fn yield_once(&self) {
        if !self.queue.lock().waiting.is_empty() {
            return;
        }
        let yields_to_skip = self.yields_to_skip.load(Relaxed);
        if yields_to_skip > 0 {
            self.yields_to_skip.store(yields_to_skip - 1, Relaxed);
            return;
        }
        let began = self.env.clock.monotonic();
        sync::yield_now();
        if self.env.clock.monotonic().saturating_sub(began) > YIELD_MAX {
            let next = self.next_yields_to_skip.load(Relaxed);
            self.yields_to_skip.store(next, Relaxed);
            self.next_yields_to_skip.store((2 * next).min(YIELDS_SKIPPED_MAX), Relaxed);
        } else {
            self.next_yields_to_skip.store(YIELDS_SKIPPED_MIN, Relaxed);
        }
    }

    fn lead(
        &self,
        lsn: Lsn,
        ring: &Ring,
        complete: impl Fn(Lsn) -> Lsn,
        pause: &dyn Fn() -> Option<Duration>,
    ) -> Result<()> {
        self.outcome()?;
        if self.flushed() >= lsn {
            return Ok(());
        }
        if self.fsync.load(Relaxed)
            && let Some(span) = pause()
        {
            self.env.clock.sleep(span);
        }
        let upto = complete(lsn);
        let mut output = self.file.lock();
        self.outcome()?;
        if self.written() < upto {
            self.write_out(&mut output, ring, upto)?;
        }
        let upto = self.written();
        self.sync(&output)?;
        self.flushed.store(upto.0, Release);
        Ok(())
    }

    /// Wakes the waiters whose position is durable, then one more as the new leader. The leader
    /// comes last, so that served sessions may return with their next commits before it flushes.
    fn end_lead(&self) {
        let mut served: SmallVec<[Waiting; 32]> = SmallVec::new();
        let mut queue = self.queue.lock();
        let (flushed, failed) = (self.flushed(), self.failed());
        let mut at = 0;
        while at < queue.waiting.len() {
            if failed || queue.waiting[at].lsn <= flushed {
                served.push(queue.waiting.swap_remove(at));
            } else {
                at += 1;
            }
        }
        // The waiter with the largest position leads: its flush serves all others.
        let next = (0..queue.waiting.len()).max_by_key(|&i| queue.waiting[i].lsn);
        let leader = next.map(|at| queue.waiting.swap_remove(at));
        queue.leading = leader.is_some();
        drop(queue);
        served.iter().for_each(|waiting| wake(&waiting.parked, DONE));
        if let Some(leader) = leader {
            wake(&leader.parked, LEAD);
        }
    }

    /// Writes without syncing, so that ring frames become free: at least up to `needed`. All before
    /// `complete` may be written.
    pub(crate) fn write(&self, ring: &Ring, complete: Lsn, needed: Lsn) -> Result<()> {
        let mut output = self.file.lock();
        self.outcome()?;
        if self.written() >= needed {
            return Ok(());
        }
        self.write_out(&mut output, ring, complete)
    }

    fn write_out(&self, output: &mut MutexGuard<'_, Output>, ring: &Ring, upto: Lsn) -> Result<()> {
        let Some(segments) = output.segments.clone() else {
            return Err(PgError::internal("the write-ahead log is not open"));
        };
        let layout = segments.layout;
        let most = PAGES_MAX.min(ring.pages());
        while self.written() < upto {
            let from = self.written();
            let segment = layout.segment_of(from);
            let first_page = Lsn(from.0 - from.0 % WAL_PAGE as u64);
            let segment_end = layout.segment_start(segment + 1);
            let mut buffer = std::mem::take(&mut output.buffer);
            buffer.clear();
            let mut page = first_page;
            while page < upto && page < segment_end && buffer.len() < most * WAL_PAGE {
                ring.copy_out(page, buffer.extend(WAL_PAGE));
                page = page + WAL_PAGE as u64;
            }
            let result = self.write_pages(output, &segments, layout, first_page, &buffer);
            output.buffer = buffer;
            result?;
            let end = page.min(upto);
            if end == segment_end {
                // Later syncs reach only the next file.
                self.sync(output)?;
                output.open = None;
                self.flushed.fetch_max(end.0, AcqRel);
                self.segment_filled.store(true, Release);
                self.checkpointer.wake();
            }
            self.written.store(end.0, Release);
        }
        Ok(())
    }

    fn write_pages(
        &self,
        output: &mut MutexGuard<'_, Output>,
        segments: &Segments,
        layout: Layout,
        at: Lsn,
        bytes: &[u8],
    ) -> Result<()> {
        let segment = layout.segment_of(at);
        let mode = self.open_mode();
        if output.open.as_ref().is_none_or(|o| o.segment != segment || o.mode != mode) {
            // The open segment may hold writes that are not durable yet.
            self.sync(output)?;
            let (file, _) = segments.open_or_make(segment, mode).map_err(|e| self.panic(e))?;
            output.open = Some(Open { segment, file, mode });
        }
        let Some(Open { file, .. }) = &output.open else { unreachable!("opened above") };
        let offset = layout.offset_in_segment(at);
        let began = self.env.clock.monotonic();
        file.write_all_at(bytes, offset).map_err(|e| {
            let name = layout.file_name(segments.timeline, segment);
            self.panic(io_error_with(
                &format!(
                    "could not write to log file {name} at offset {offset}, length {}",
                    bytes.len()
                ),
                &e,
            ))
        })?;
        let took = self.env.clock.monotonic().saturating_sub(began);
        self.counters.write.fetch_add(1, Relaxed);
        self.counters.add_time(&self.counters.write_time_us, took);
        Ok(())
    }

    fn open_mode(&self) -> OpenMode {
        if !self.fsync.load(Relaxed) {
            // Durability is not wanted: the kernel's cache decides when to write.
            OpenMode::ReadWrite
        } else if self.method.load(Relaxed) == SyncMethod::OpenDatasync as u8 {
            OpenMode::WriteThrough
        } else {
            OpenMode::Direct
        }
    }

    /// Makes durable what was written to the open segment.
    fn sync(&self, output: &Output) -> Result<()> {
        let Some(Open { segment, file, mode }) = &output.open else { return Ok(()) };
        if !self.fsync.load(Relaxed) || *mode == OpenMode::WriteThrough {
            return Ok(());
        }
        let began = self.env.clock.monotonic();
        let (result, op) = if self.method.load(Relaxed) == SyncMethod::Fsync as u8 {
            (file.sync_all(), "fsync file")
        } else {
            (file.sync_data(), "fdatasync file")
        };
        result.map_err(|e| {
            let name = match &output.segments {
                Some(s) => s.layout.file_name(s.timeline, *segment),
                None => String::new(),
            };
            self.panic(io_error(op, &name, &e))
        })?;
        let took = self.env.clock.monotonic().saturating_sub(began);
        self.counters.sync.fetch_add(1, Relaxed);
        self.counters.add_time(&self.counters.sync_time_us, took);
        Ok(())
    }

    fn outcome(&self) -> Result<()> {
        if self.failed() {
            return Err(
                PgError::internal("the write-ahead log has failed").severity(Severity::Panic)
            );
        }
        Ok(())
    }

    /// Records the failure; the first one calls `on_panic`.
    #[cold]
    fn panic(&self, error: PgError) -> PgError {
        let error = error.severity(Severity::Panic);
        if !self.failed.swap(true, AcqRel) {
            (self.on_panic)(&error);
        }
        error
    }
}

fn wake(parked: &Parked, verdict: u32) {
    parked.verdict.store(verdict, Release);
    parked.waiter.wake();
}
