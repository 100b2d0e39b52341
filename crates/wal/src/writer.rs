//! From the ring to the disk, and group commit.
//!
//! Who wants a position durable and finds nobody flushing becomes the leader; the others queue up.
//! The leader waits until the insertions before its position are complete, takes along whatever
//! else is complete by then, writes and fsyncs, wakes those it served, and hands the lead to one of
//! the rest. Nobody wakes without a reason.
//!
//! Who was handed the lead and has nobody behind him first lets the threads run that are ready to:
//! they may be on their way to their own commits. He waits for none of them: where a processor is
//! free he goes on at once.
//!
//! The first failed write or fsync is final: what the kernel has of the file is then unknown.
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
use sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::*};
use sync::wait::{WaitEvent, Waiter};
use sync::{Arc, Mutex, MutexGuard};
use vfs::{DirectBuffer, Env, File, OpenMode, io_error, io_error_with};

/// Most pages written at once (1 MB).
const PAGES_MAX: usize = 128;

pub(crate) struct Writer {
    env: Env,
    /// Everything before is handed to the system.
    written: AtomicU64,
    /// Everything before is durable.
    flushed: AtomicU64,
    failed: AtomicBool,
    /// So many leaders will not give way, because it took too long.
    hasty: AtomicU32,
    /// How many that will be when it takes too long the next time.
    hasty_next: AtomicU32,
    file: Mutex<Output>,
    queue: Mutex<Queue>,
    fsync: AtomicBool,
    /// [`SyncMethod`], as a number.
    method: AtomicU8,
    /// Where the checkpointer sleeps, and what it has been woken for.
    checkpointer: Arc<Waiter>,
    segment_filled: AtomicBool,
    on_panic: Arc<dyn Fn(&PgError) + Send + Sync>,
    counters: Arc<Counters>,
}

/// What writing needs; held while writing and syncing.
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

/// Where one thread waits; `verdict` says why it was woken.
#[derive(Default)]
struct Parked {
    waiter: Waiter,
    verdict: AtomicU32,
}

const WAIT: u32 = 0;
const DONE: u32 = 1;
const LEAD: u32 = 2;

/// What becomes of a thread that wants a position durable.
enum Role {
    /// Its position is durable, or the log has failed.
    Served,
    Leader,
    /// Leader after another one.
    Successor,
}

/// Giving way may take so long, the time of a few statements. Beyond that, others use the processor
/// for longer work.
const GIVE_WAY_MAX: Duration = Duration::from_millis(2);
/// After that, so many leaders do not try; twice as many each time that it happens again, up to the
/// most.
const HASTY_MIN: u32 = 8;
const HASTY_MAX: u32 = 4096;

impl Writer {
    pub(crate) fn new(env: Env, config: &WalConfig, counters: Arc<Counters>) -> Writer {
        let writer = Writer {
            env,
            // In recovery all that is on disk came from the log on disk.
            written: AtomicU64::new(Lsn::MAX.0),
            flushed: AtomicU64::new(Lsn::MAX.0),
            failed: AtomicBool::new(false),
            hasty: AtomicU32::new(0),
            hasty_next: AtomicU32::new(HASTY_MIN),
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

    /// Makes everything before `lsn` durable. `complete` waits for insertions before a position and
    /// returns up to where the log is complete; `pause` says how long a leader waits for others
    /// before that.
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
            Role::Successor => self.give_way(),
        }
        let result = self.lead(lsn, ring, complete, pause);
        self.pass_on();
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
        // Not kept for others: those that are woken together would queue up to give it back.
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

    /// Lets those go first who are ready to run, unless somebody waits already for what the leader
    /// is about to do.
    fn give_way(&self) {
        if !self.queue.lock().waiting.is_empty() {
            return;
        }
        let hasty = self.hasty.load(Relaxed);
        if hasty > 0 {
            self.hasty.store(hasty - 1, Relaxed);
            return;
        }
        let began = self.env.clock.monotonic();
        sync::yield_now();
        if self.env.clock.monotonic().saturating_sub(began) > GIVE_WAY_MAX {
            let next = self.hasty_next.load(Relaxed);
            self.hasty.store(next, Relaxed);
            self.hasty_next.store((2 * next).min(HASTY_MAX), Relaxed);
        } else {
            self.hasty_next.store(HASTY_MIN, Relaxed);
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

    /// Wakes those whose position is durable, and one more to lead: he last, so that those who were
    /// served may be back with their next commits when he begins.
    fn pass_on(&self) {
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
        // Who waits for most leads: everybody else is then served as well.
        let next = (0..queue.waiting.len()).max_by_key(|&i| queue.waiting[i].lsn);
        let leader = next.map(|at| queue.waiting.swap_remove(at));
        queue.leading = leader.is_some();
        drop(queue);
        served.iter().for_each(|waiting| wake(&waiting.parked, DONE));
        if let Some(leader) = leader {
            wake(&leader.parked, LEAD);
        }
    }

    /// Writes, without making durable, so that ring frames become free: at least up to `needed`;
    /// all before `complete` may be written.
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
                // Later fsyncs see only the next file.
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
            // One that was opened for another method may hold what is not durable yet.
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
            // Nothing need reach the disk soon.
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

    /// Notes the failure, once and for all.
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
