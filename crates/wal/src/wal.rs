//! The handle of the write-ahead log: insertion, flush, checkpoint support, settings.
//!
//! ```text
//! insert:  build record, images and CRC  ->  claim a slot  ->  reserve space (one CAS)
//!          ->  finish CRC  ->  copy into the ring  ->  free the slot
//! flush:   queue up; one leader waits for complete insertions, writes, fsyncs, wakes the others
//! ```
//!
//! LOCK ORDER: a claimed slot, then either the ring's page-initialization lock or the writer's file
//! lock, never both. No thread waits for insertions while it holds the file lock, because an
//! inserter may need that lock to write out a page of the ring.
//!
//! Counterpart: xlog.c.

use crate::build::ImagePolicy;
use crate::delay::Delays;
use crate::layout::{Layout, WAL_PAGE, maxalign};
use crate::reader::XLOG_SWITCH;
use crate::record::RECORD_HEADER;
use crate::reserve::{Reservation, Reserved};
use crate::ring::{MustWrite, Ring};
use crate::segment::{SegmentCounts, Segments};
use crate::slots::{Claim, Slots};
use crate::writer::Writer;
use crate::{Compression, DelayGuard, RecordBuilder, RmgrId};
use ids::{Lsn, Xid};
use page::PageRef;
use pgerror::{PgError, Result, Severity, SqlState};
use std::time::Duration;
use sync::atomic::Ordering::{Acquire, Relaxed, Release};
use sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};
use sync::wait::Waiter;
use sync::{Arc, RwLock};
use vfs::Env;

/// How much information the log contains (`wal_level`). The numbers are those in `pg_control`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum WalLevel {
    Minimal = 0,
    Replica = 1,
    Logical = 2,
}

/// How the log is made durable (`wal_sync_method`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncMethod {
    Fdatasync,
    Fsync,
    /// Segments are opened with O_DSYNC: a write is durable when it returns.
    OpenDatasync,
}

/// Settings of the log. Those that may change at run time have setters on [`Wal`].
#[derive(Clone)]
pub struct WalConfig {
    pub segment_size: u32,
    pub system_id: u64,
    /// `wal_buffers`, in pages.
    pub buffers: usize,
    pub level: WalLevel,
    pub sync_method: SyncMethod,
    pub fsync: bool,
    /// `track_wal_io_timing`.
    pub track_io_timing: bool,
    pub full_page_writes: bool,
    pub compression: Compression,
    /// Checksums or `wal_log_hints` are on: the first hint change of a page after a checkpoint logs
    /// an image.
    pub log_hints: bool,
    /// Resource managers whose records carry images for checking ([`crate::RmgrId::bit`]).
    pub consistency_checking: u32,
    /// Bytes.
    pub min_wal_size: u64,
    pub max_wal_size: u64,
    pub wal_keep_size: u64,
    pub init_zero: bool,
    pub recycle: bool,
    /// `wal_writer_delay`: the longest time between two flushes of the walwriter.
    pub writer_delay: Duration,
    /// `wal_writer_flush_after`, in pages: with so many unflushed pages the walwriter flushes
    /// before its delay is over. 0: at every write.
    pub writer_flush_after: u32,
    /// Called once, at the first failed write or fsync. In production it aborts the server; tests
    /// record the call.
    pub on_panic: Arc<dyn Fn(&PgError) + Send + Sync>,
}

impl WalConfig {
    /// PostgreSQL's default settings, for the given segment size and system identifier.
    pub fn new(segment_size: u32, system_id: u64) -> WalConfig {
        let segment = u64::from(segment_size);
        WalConfig {
            segment_size,
            system_id,
            buffers: 512,
            level: WalLevel::Replica,
            sync_method: SyncMethod::Fdatasync,
            fsync: true,
            track_io_timing: false,
            full_page_writes: true,
            compression: Compression::Off,
            log_hints: false,
            consistency_checking: 0,
            min_wal_size: 5 * segment,
            max_wal_size: 64 * segment,
            wal_keep_size: 0,
            init_zero: true,
            recycle: true,
            writer_delay: Duration::from_millis(200),
            writer_flush_after: 128,
            on_panic: Arc::new(|_| {}),
        }
    }
}

/// The position at which writing begins, as determined by recovery.
#[derive(Clone, Copy, Debug)]
pub struct WalStart {
    pub timeline: u32,
    /// End of the last valid record: the next record may start here. With `overwrite`, the page
    /// that lacks the rest of a record.
    pub end: Lsn,
    /// Start of the last valid record; 0 in a new cluster.
    pub prev: Lsn,
    /// Redo pointer of the last checkpoint.
    pub redo: Lsn,
    /// The log ended within a record that spans pages: the page at `end` is marked as its
    /// replacement, and the first record must be OVERWRITE_CONTRECORD.
    pub overwrite: bool,
}

/// The position of an inserted record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    pub start: Lsn,
    /// The LSN for the pages that the record changes, and the position to flush to make it durable.
    pub end: Lsn,
}

/// Counters of `pg_stat_wal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalStats {
    pub records: u64,
    pub fpi: u64,
    pub bytes: u64,
    pub buffers_full: u64,
    pub write: u64,
    pub sync: u64,
    pub write_time_us: u64,
    pub sync_time_us: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub buffers_full: AtomicU64,
    pub write: AtomicU64,
    pub sync: AtomicU64,
    pub write_time_us: AtomicU64,
    pub sync_time_us: AtomicU64,
    /// `track_wal_io_timing` of the server, and the number of sessions that have it on.
    pub timed: AtomicBool,
    pub timing_sessions: AtomicUsize,
}

impl Counters {
    /// Adds to one of the times if timing is on.
    pub(crate) fn add_time(&self, counter: &AtomicU64, took: Duration) {
        if self.timed.load(Relaxed) || self.timing_sessions.load(Relaxed) > 0 {
            counter.fetch_add(took.as_micros() as u64, Relaxed);
        }
    }
}

/// The log. One per server; lives from before recovery to after the shutdown checkpoint.
///
/// Until [`Wal::start`] the server is in recovery: insertions fail, `flush` has nothing to do.
pub struct Wal {
    layout: Layout,
    env: Env,
    live: AtomicBool,
    timeline: AtomicU32,
    reservation: Reservation,
    slots: Slots,
    ring: Ring,
    writer: Writer,
    delay_start: Delays,
    delay_end: Delays,
    level: AtomicU8,
    log_hints: AtomicBool,
    checked: AtomicU32,
    async_commit: AtomicU64,
    /// The next LSN for pages that are not logged.
    unlogged: AtomicU64,
    /// The waiter of the walwriter, and whether it has been woken since its last round.
    background: Arc<Waiter>,
    background_woken: AtomicBool,
    /// Time of its last flush, in microseconds of the monotonic clock; 0: never.
    background_flush_us: AtomicU64,
    writer_flush_after: AtomicU32,
    /// Settings that are read rarely.
    config: RwLock<WalConfig>,
    compression: AtomicU8,
    counters: Arc<Counters>,
}

/// Number of threads that can insert at the same time. Counterpart: NUM_XLOGINSERT_LOCKS.
const SLOTS: usize = 32;

impl Wal {
    /// Makes the log in its state before and during recovery.
    pub fn new(env: Env, config: WalConfig) -> Arc<Wal> {
        let counters = Arc::new(Counters::default());
        let layout = Layout::new(config.segment_size);
        let wal = Wal {
            layout,
            live: AtomicBool::new(false),
            timeline: AtomicU32::new(0),
            reservation: Reservation::new(),
            slots: Slots::new(SLOTS),
            ring: Ring::new(config.buffers.max(4)),
            writer: Writer::new(env.clone(), &config, counters.clone()),
            delay_start: Delays::new(),
            delay_end: Delays::new(),
            level: AtomicU8::new(config.level as u8),
            log_hints: AtomicBool::new(config.log_hints),
            checked: AtomicU32::new(config.consistency_checking),
            async_commit: AtomicU64::new(0),
            unlogged: AtomicU64::new(crate::control::FIRST_UNLOGGED_LSN.0),
            background: Arc::new(Waiter::new()),
            background_woken: AtomicBool::new(false),
            background_flush_us: AtomicU64::new(0),
            writer_flush_after: AtomicU32::new(config.writer_flush_after),
            compression: AtomicU8::new(config.compression as u8),
            config: RwLock::new(config),
            env,
            counters,
        };
        Arc::new(wal)
    }

    /// Ends recovery: writing continues at `start.end`, whose page is read back from disk.
    pub fn start(&self, start: WalStart) -> Result<()> {
        let (system_id, init_zero, fsync, full_page_writes) = {
            let config = self.config.read();
            (config.system_id, config.init_zero, config.fsync, config.full_page_writes)
        };
        let segments =
            Segments::new(self.env.disk.clone(), self.layout, start.timeline, init_zero, fsync);
        segments.remove_temp_files()?;
        let end = Lsn(maxalign(start.end.0));
        let page = end.0 - end.0 % WAL_PAGE as u64;
        let partial = if end.0 == page {
            None
        } else {
            let segment = self.layout.segment_of(end);
            let path = self.layout.path(start.timeline, segment);
            let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
            let file = segments
                .open(segment, vfs::OpenMode::Read)?
                .ok_or_else(|| vfs::io_error("open file", &path, &missing))?;
            let mut bytes = vec![0; WAL_PAGE];
            file.read_exact_at(&mut bytes, self.layout.offset_in_segment(Lsn(page)))
                .map_err(|e| vfs::io_error("read file", &path, &e))?;
            Some(bytes)
        };
        let overwrite = start.overwrite.then_some(end);
        self.ring.start(self.layout, start.timeline, system_id, end, partial.as_deref(), overwrite);
        self.writer.start(segments, end);
        self.timeline.store(start.timeline, Relaxed);
        let pos = self.layout.to_byte_pos(end);
        let prev = if start.prev.is_valid() { self.layout.to_byte_pos(start.prev) } else { pos };
        self.reservation.start(pos, prev, start.redo, full_page_writes);
        self.live.store(true, Release);
        Ok(())
    }

    /// Inserts the record. `pages` gives the contents, by block id, of those registered blocks that
    /// may need an image (all but `NO_IMAGE`/`WILL_INIT` ones; with consistency checking those
    /// too). The caller holds latches that exclude changes of bytes and LSN of these pages
    /// (exclusive; share-exclusive for a hint image).
    ///
    /// An error has severity PANIC: the caller must not continue.
    pub fn insert(
        &self,
        record: &mut RecordBuilder,
        pages: &[(u8, PageRef<'_>)],
        xid: Xid,
    ) -> Result<Inserted> {
        self.check_live()?;
        loop {
            let view = self.reservation.view();
            let policy = ImagePolicy {
                redo: view.redo,
                full_page_writes: view.full_page_writes,
                compression: self.compression(),
                checked: self.checked.load(Relaxed),
            };
            let images =
                record.assemble(pages, xid, &policy).map_err(|e| e.severity(Severity::Panic))?;
            let len = record.out.len();
            let claim = self.slots.claim(record.slot_hint);
            let Some(reserved) = self.reservation.reserve(&view, maxalign(len as u64) as u32)
            else {
                // The redo pointer has moved: the set of images must be decided again.
                continue;
            };
            record.slot_hint = claim.index;
            let inserted = self.copy_record(record, &claim, reserved)?;
            claim.count(images, len);
            record.last_end = inserted.end;
            record.usage.records += 1;
            record.usage.images += images as u64;
            record.usage.bytes += len as u64;
            return Ok(inserted);
        }
    }

    /// Copies the record into the space reserved for it.
    fn copy_record(
        &self,
        record: &mut RecordBuilder,
        claim: &Claim<'_>,
        reserved: Reserved,
    ) -> Result<Inserted> {
        let layout = self.layout;
        let start = layout.start_lsn(reserved.pos);
        claim.publish(start);
        // The first record of a new cluster has no predecessor.
        let prev = if reserved.prev_pos == reserved.pos {
            Lsn(0)
        } else {
            layout.start_before(start, reserved.pos, reserved.prev_pos)
        };
        record.seal(prev);
        if !record.unimportant {
            claim.note_important(start);
        }
        let mut rest = &record.out[..];
        let mut at = start;
        loop {
            self.ensure_page(at, claim)?;
            let room_on_page = WAL_PAGE - (at.0 % WAL_PAGE as u64) as usize;
            let (here, later) = rest.split_at(rest.len().min(room_on_page));
            if at.0 != start.0 {
                let page = Lsn(at.0 - at.0 % WAL_PAGE as u64);
                self.ring.set_contrecord(page, rest.len() as u32);
            }
            self.ring.copy_in(at, here);
            if later.is_empty() {
                break;
            }
            rest = later;
            let page = Lsn(at.0 - at.0 % WAL_PAGE as u64 + WAL_PAGE as u64);
            at = page + layout.header_size(page) as u64;
        }
        let end = layout.end_after(start, reserved.pos, maxalign(record.out.len() as u64));
        Ok(Inserted { start, end })
    }

    /// Makes sure that the page of `at` is in the ring, writing out older pages if it must.
    fn ensure_page(&self, at: Lsn, claim: &Claim<'_>) -> Result<()> {
        if self.ring.has(at) {
            return Ok(());
        }
        // The record's bytes before this page are copied: publish that, since the writer (perhaps
        // this thread, below) waits for it.
        let page = Lsn(at.0 - at.0 % WAL_PAGE as u64);
        if at.0 > page.0 + self.layout.header_size(page) as u64 {
            claim.publish(at);
        } else {
            claim.publish(page);
        }
        while let Err(MustWrite(upto)) = self.ring.init_pages(at, || self.writer.written()) {
            self.counters.buffers_full.fetch_add(1, Relaxed);
            let complete = self.slots.wait_complete(upto, self.inserted());
            self.writer.write(&self.ring, complete, upto)?;
        }
        let unwritten = page.0.saturating_sub(self.writer.written().0);
        if unwritten > (self.ring.pages() * WAL_PAGE / 4) as u64 {
            // The walwriter should write before an inserter finds the ring full.
            self.wake_background();
        }
        Ok(())
    }

    fn wake_background(&self) {
        if !self.background_woken.load(Relaxed) && !self.background_woken.swap(true, Relaxed) {
            self.background.wake();
        }
    }

    /// Makes everything before `lsn` durable. Concurrent calls share one write and sync (group
    /// commit).
    pub fn flush(&self, lsn: Lsn) -> Result<()> {
        self.flush_after(lsn, &|| None)
    }

    /// As [`Wal::flush`]. If the caller becomes the leader, it sleeps before the write for the span
    /// that `pause` returns, so that more commits join (`commit_delay`).
    pub fn flush_after(&self, lsn: Lsn, pause: &dyn Fn() -> Option<Duration>) -> Result<()> {
        if lsn <= self.flushed() {
            return Ok(());
        }
        let inserted = self.inserted();
        if lsn > inserted {
            return Err(PgError::new(
                SqlState::INTERNAL_ERROR,
                format!(
                    "xlog flush request {lsn} is not satisfied --- flushed only to {}",
                    self.flushed()
                ),
            ));
        }
        let complete = |upto| self.slots.wait_complete(upto, self.inserted());
        self.writer.flush(lsn, &self.ring, complete, pause)
    }

    /// Everything before this is durable. In recovery: `Lsn::MAX`.
    pub fn flushed(&self) -> Lsn {
        self.writer.flushed()
    }

    /// Everything before this is written, not necessarily durable.
    pub fn written(&self) -> Lsn {
        self.writer.written()
    }

    /// End of the space reserved for records so far.
    pub fn inserted(&self) -> Lsn {
        self.layout.end_lsn(self.reservation.position())
    }

    /// An LSN for changed pages of an unlogged or temporary relation whose changes are recognized
    /// by their LSN. Counterpart: `GetFakeLSNForUnloggedRel`.
    pub fn next_unlogged_lsn(&self) -> Lsn {
        Lsn(self.unlogged.fetch_add(1, Relaxed))
    }

    /// What [`Wal::next_unlogged_lsn`] returns next, which the control file keeps over a restart.
    pub fn unlogged_lsn(&self) -> Lsn {
        Lsn(self.unlogged.load(Relaxed))
    }

    /// Continues the LSNs of unlogged relations after a shutdown.
    pub fn set_unlogged_lsn(&self, next: Lsn) {
        self.unlogged.store(next.0.max(crate::control::FIRST_UNLOGGED_LSN.0), Relaxed);
    }

    /// Start of the next record if nothing else is inserted before.
    pub fn next_start(&self) -> Lsn {
        self.layout.start_lsn(self.reservation.position())
    }

    /// Start of the last record that was not marked unimportant; 0 if none was inserted.
    pub fn last_important(&self) -> Lsn {
        self.slots.last_important()
    }

    /// Redo pointer: the next logged change of a page whose LSN is not after it carries an image.
    pub fn redo_ptr(&self) -> Lsn {
        self.reservation.redo()
    }

    /// True if full-page images are written at present.
    pub fn full_page_writes(&self) -> bool {
        self.reservation.full_page_writes()
    }

    /// Turns full page images on or off. The caller logs the change.
    pub fn set_full_page_writes(&self, on: bool) {
        self.config.write().full_page_writes = on;
        self.reservation.change(|_, redo| redo, Some(on));
    }

    /// True if the next change of a page with this LSN needs an image. For hint images.
    pub fn needs_image(&self, page_lsn: Lsn) -> bool {
        self.full_page_writes() && page_lsn <= self.redo_ptr()
    }

    pub fn level(&self) -> WalLevel {
        match self.level.load(Relaxed) {
            0 => WalLevel::Minimal,
            1 => WalLevel::Replica,
            _ => WalLevel::Logical,
        }
    }

    /// Checksums or `wal_log_hints`.
    pub fn log_hints(&self) -> bool {
        self.log_hints.load(Relaxed)
    }

    pub fn in_recovery(&self) -> bool {
        !self.live.load(Acquire)
    }

    pub fn timeline(&self) -> u32 {
        self.timeline.load(Relaxed)
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub fn compression(&self) -> Compression {
        Compression::from_u8(self.compression.load(Relaxed))
    }

    /// Changes the server-wide `wal_compression`.
    pub fn set_compression(&self, compression: Compression) {
        self.compression.store(compression as u8, Relaxed);
    }

    /// Changes `wal_consistency_checking`: a mask of [`RmgrId::bit`]s.
    pub fn set_consistency_checking(&self, mask: u32) {
        self.checked.store(mask, Relaxed);
    }

    /// Changes settings that take effect from the next checkpoint or flush on.
    pub fn configure(&self, change: impl FnOnce(&mut WalConfig)) {
        let mut config = self.config.write();
        change(&mut config);
        self.writer.configure(&config);
        self.writer_flush_after.store(config.writer_flush_after, Relaxed);
    }

    /// A copy of the settings.
    pub fn config(&self) -> WalConfig {
        self.config.read().clone()
    }

    /// Records that an asynchronous commit ended at `lsn`, and wakes the walwriter if enough pages
    /// are to be flushed. Counterpart: XLogSetAsyncXactLSN.
    pub fn note_async_commit(&self, lsn: Lsn) {
        self.async_commit.fetch_max(lsn.0, Relaxed);
        if self.pages_to_flush(lsn) >= u64::from(self.writer_flush_after.load(Relaxed)) {
            self.wake_background();
        }
    }

    /// Whole pages before `upto` that are not durable.
    fn pages_to_flush(&self, upto: Lsn) -> u64 {
        (upto.0 / WAL_PAGE as u64).saturating_sub(self.flushed().0 / WAL_PAGE as u64)
    }

    /// The waiter on which the walwriter sleeps: woken when there is much to write.
    pub fn background_waiter(&self) -> &Arc<Waiter> {
        &self.background
    }

    /// The waiter on which the checkpointer sleeps: woken each time a segment has been filled, to
    /// see whether a checkpoint is due.
    pub fn checkpointer_waiter(&self) -> &Arc<Waiter> {
        self.writer.checkpointer()
    }

    /// True if a segment has been filled since the last call.
    pub fn take_segment_filled(&self) -> bool {
        self.writer.take_segment_filled()
    }

    /// Number of segments begun since that of the redo pointer. Counterpart: XLogCheckpointNeeded.
    pub fn segments_since_redo(&self) -> u64 {
        let begun = self.layout.segment_of(self.inserted());
        begun.saturating_sub(self.layout.segment_of(self.redo_ptr()))
    }

    /// One round of the walwriter: writes whole pages and asynchronous commits, flushes them if it
    /// is time to, and makes the next segment ahead. `true` if it did something. Counterpart:
    /// XLogBackgroundFlush.
    pub fn background_flush(&self) -> Result<bool> {
        self.background_woken.store(false, Relaxed);
        if self.in_recovery() {
            return Ok(false);
        }
        let flushed = self.background_flush_pages()?;
        let end = self.inserted();
        let made = self.writer.with_segments(|segments| Ok(segments.make_ahead(end)))?;
        Ok(flushed || made)
    }

    fn background_flush_pages(&self) -> Result<bool> {
        let inserted = self.inserted();
        let mut upto = Lsn(inserted.0 - inserted.0 % WAL_PAGE as u64);
        if upto <= self.flushed() {
            upto = Lsn(self.async_commit.load(Relaxed)).min(inserted);
        }
        if upto <= self.flushed() {
            return Ok(false);
        }
        let (delay, most) = {
            let config = self.config.read();
            (config.writer_delay.as_micros() as u64, u64::from(config.writer_flush_after))
        };
        let now = self.env.clock.monotonic().as_micros() as u64;
        let last = self.background_flush_us.load(Relaxed);
        if last == 0 || now >= last + delay || self.pages_to_flush(upto) >= most {
            self.background_flush_us.store(now.max(1), Relaxed);
            self.flush(upto)?;
        } else if self.written() < upto {
            self.slots.wait_complete(upto, inserted);
            self.writer.write(&self.ring, upto, upto)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Ends the current segment (`pg_switch_wal`); the end of the switch record, or the current
    /// position if that is a segment's start already.
    pub fn switch(&self) -> Result<Lsn> {
        self.check_live()?;
        let layout = self.layout;
        let mut record = RecordBuilder::new(RmgrId::Xlog, XLOG_SWITCH);
        let policy = ImagePolicy {
            redo: Lsn(0),
            full_page_writes: false,
            compression: Compression::Off,
            checked: 0,
        };
        record.assemble(&[], Xid::INVALID, &policy)?;
        let claim = self.slots.claim(record.slot_hint);
        let record_end = |pos: u64| pos + RECORD_HEADER as u64;
        let next_segment = |pos: u64| {
            let end = layout.end_lsn(record_end(pos));
            Lsn(end.0.next_multiple_of(layout.segment_size()))
        };
        let reserved = self.reservation.reserve_with(None, |pos| {
            let at = layout.end_lsn(pos);
            (layout.offset_in_segment(at) != 0).then(|| layout.to_byte_pos(next_segment(pos)))
        });
        let Some(Some(reserved)) = reserved else {
            drop(claim);
            return Ok(self.inserted());
        };
        let inserted = self.copy_record(&mut record, &claim, reserved)?;
        let after = next_segment(reserved.pos);
        let mut page = Lsn(inserted.start.0 - inserted.start.0 % WAL_PAGE as u64);
        while page < after {
            self.ensure_page(page, &claim)?;
            page = page + WAL_PAGE as u64;
        }
        claim.count(0, RECORD_HEADER);
        drop(claim);
        self.flush(after)?;
        Ok(inserted.end)
    }

    /// Moves the redo pointer to the current insert position: a checkpoint starts.
    pub fn begin_checkpoint(&self) -> Lsn {
        self.reservation.change(|pos, _| self.layout.start_lsn(pos), None)
    }

    /// Begins a section that an online checkpoint waits for after it has fixed its redo pointer:
    /// between a commit record and its pg_xact bit, multixact creation, hint images.
    pub fn delay_checkpoint_start(&self) -> DelayGuard<'_> {
        self.delay_start.enter()
    }

    /// Begins a section that a checkpoint waits for before it completes: truncation.
    pub fn delay_checkpoint_end(&self) -> DelayGuard<'_> {
        self.delay_end.enter()
    }

    /// Waits until the sections of [`Wal::delay_checkpoint_start`] begun so far have ended.
    pub fn wait_delay_start(&self) {
        self.delay_start.wait(sync::yield_now);
    }

    /// Waits until the sections of [`Wal::delay_checkpoint_end`] begun so far have ended.
    pub fn wait_delay_end(&self) {
        self.delay_end.wait(sync::yield_now);
    }

    /// After a checkpoint: recycles or removes segments that recovery no longer needs. `distance`
    /// is the estimated size of the log until the next one ends, in bytes; with `preallocate` the
    /// next segment is made if it will be needed soon.
    pub fn remove_old_segments(
        &self,
        redo: Lsn,
        distance: f64,
        preallocate: bool,
    ) -> Result<SegmentCounts> {
        let config = self.config();
        let layout = self.layout;
        let size = layout.segment_size();
        let end = self.inserted();
        let mut keep_from = layout.segment_of(redo);
        if config.wal_keep_size > 0 {
            let current = layout.segment_of(end);
            keep_from = keep_from.min(current.saturating_sub(config.wal_keep_size / size));
        }
        let base = redo.0 / size;
        let least = (base + config.min_wal_size / size).saturating_sub(1);
        let most = (base + config.max_wal_size / size).saturating_sub(1);
        let wanted = ((redo.0 as f64 + distance) / size as f64).ceil() as u64;
        let recycle_to = wanted.max(least).min(most.max(least));
        let mut counts = SegmentCounts::default();
        self.writer.with_segments(|segments| {
            segments.remove_before(keep_from, end, recycle_to, config.recycle, &mut counts)?;
            if preallocate {
                segments.preallocate(end, &mut counts)?;
            }
            Ok(())
        })?;
        Ok(counts)
    }

    /// A session turns `track_wal_io_timing` on or off. One session writes the records of others
    /// too, so all writes are timed as long as any session has it on.
    pub fn track_io_timing(&self, on: bool) {
        let sessions = &self.counters.timing_sessions;
        if on {
            sessions.fetch_add(1, Relaxed);
        } else {
            sessions.fetch_sub(1, Relaxed);
        }
    }

    pub fn stats(&self) -> WalStats {
        let c = &self.counters;
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        let (records, fpi, bytes) = self.slots.counts();
        WalStats {
            records,
            fpi,
            bytes,
            buffers_full: get(&c.buffers_full),
            write: get(&c.write),
            sync: get(&c.sync),
            write_time_us: get(&c.write_time_us),
            sync_time_us: get(&c.sync_time_us),
        }
    }

    /// True if a write or fsync has failed: no insertion succeeds then, and no flush beyond
    /// [`Wal::flushed`].
    pub fn failed(&self) -> bool {
        self.writer.failed()
    }

    fn check_live(&self) -> Result<()> {
        if self.writer.failed() {
            return Err(
                PgError::internal("the write-ahead log has failed").severity(Severity::Panic)
            );
        }
        if self.in_recovery() {
            return Err(PgError::internal("cannot make new WAL entries during recovery"));
        }
        Ok(())
    }
}
