//! The buffer pool: reading pages, extending and truncating forks, dropping pages. Counterpart:
//! bufmgr.c.

use crate::forks::{ForkBuffers, Registry};
use crate::frame::{DIRTY, JUST_DIRTIED};
use crate::frame::{
    FrameNo, Frames, IO, IO_ERROR, PIN, TAGGED, Tag, USAGE, USAGE_MAX, USAGES, VALID, pins,
};
use crate::guard::{ExclusiveGuard, Pin};
use crate::ring::{RingKind, Strategy, micros_since};
use ids::{BackendNo, BlockNo, Fork, Lsn, Oid, Persistence, RelFile, Xid};
use page::{Page, PageBuf, Verified};
use pgerror::{PgError, Result, Severity, SqlState, bail};
use smallvec::SmallVec;
use smgr::{RelFork, Smgr};
use std::io::IoSliceMut;
use sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sync::{Arc, LatchMode, Mutex};
use wal::{RecordBuilder, RegFlags, RmgrId, Wal};

#[derive(Clone)]
pub struct PoolConfig {
    /// At least 16.
    pub frames: usize,
    /// Data checksums are on.
    pub checksums: bool,
    pub zero_damaged_pages: bool,
    pub ignore_checksum_failure: bool,
    /// `norsu.scan_rings`.
    pub scan_rings: bool,
    /// Set in a session's pool of temporary relations.
    pub backend: Option<BackendNo>,
    /// Called when a page edit is abandoned. In production it aborts the server; tests record the
    /// call.
    pub on_critical: Arc<dyn Fn(&PgError) + Send + Sync>,
    /// Receives warnings about damaged pages that were accepted or zeroed.
    pub on_warning: Arc<dyn Fn(&PgError) + Send + Sync>,
    /// Called for each page whose checksum is wrong.
    pub on_damage: Arc<dyn Fn(RelFork) + Send + Sync>,
}

impl PoolConfig {
    /// Defaults: checksums on, damaged pages are errors, critical errors abort.
    pub fn new(frames: usize) -> PoolConfig {
        PoolConfig {
            frames,
            checksums: true,
            zero_damaged_pages: false,
            ignore_checksum_failure: false,
            scan_rings: true,
            backend: None,
            on_critical: Arc::new(|error| {
                eprintln!("{error:?}");
                std::process::abort();
            }),
            on_warning: Arc::new(|_| {}),
            on_damage: Arc::new(|_| {}),
        }
    }
}

/// Counts since the server's start. Hits are counted by sessions ([`crate::BufferUsage`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Blocks read from files.
    pub reads: u64,
    pub written_by_sessions: u64,
    pub written_by_checkpoints: u64,
    pub written_by_background: u64,
    /// Frames allocated to blocks.
    pub allocated: u64,
    /// Blocks evicted from their frames.
    pub evicted: u64,
    /// Log flushes by replacements.
    pub wal_flushes: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub reads: AtomicU64,
    pub written_by_sessions: AtomicU64,
    pub written_by_checkpoints: AtomicU64,
    pub written_by_background: AtomicU64,
    pub allocated: AtomicU64,
    pub evicted: AtomicU64,
    pub wal_flushes: AtomicU64,
}

pub(crate) fn bump(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// How the frame of a block that is not in the pool is filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fill {
    Read,
    ReadZeroingDamage,
    Zero,
}

/// Shared buffers, or a session's own for temporary relations. See the crate's documentation.
pub struct BufferPool {
    pub(crate) frames: Frames,
    pub(crate) registry: Registry,
    pub(crate) smgr: Arc<Smgr>,
    pub(crate) wal: Option<Arc<Wal>>,
    pub(crate) config: PoolConfig,
    zero_damaged_pages: AtomicBool,
    ignore_checksum_failure: AtomicBool,
    scan_rings: AtomicBool,
    pub(crate) replacement: crate::clock::Replacement,
    pub(crate) counters: Counters,
    /// Buffers for the page copies of writes, kept for reuse.
    pub(crate) copies: Mutex<Vec<PageBuf>>,
    builders: Mutex<Vec<RecordBuilder>>,
}

impl BufferPool {
    /// `wal` is `None` for a session's pool of temporary relations.
    pub fn new(config: PoolConfig, smgr: Arc<Smgr>, wal: Option<Arc<Wal>>) -> Result<BufferPool> {
        if config.frames < 16 || config.frames > (i32::MAX / 2) as usize {
            bail!(INVALID_PARAMETER_VALUE, "{} is not a number of shared buffers", config.frames);
        }
        Ok(BufferPool {
            frames: Frames::new(config.frames)?,
            registry: Registry::new(),
            smgr,
            wal,
            zero_damaged_pages: AtomicBool::new(config.zero_damaged_pages),
            ignore_checksum_failure: AtomicBool::new(config.ignore_checksum_failure),
            scan_rings: AtomicBool::new(config.scan_rings),
            replacement: crate::clock::Replacement::new(),
            counters: Counters::default(),
            copies: Mutex::new(Vec::new()),
            builders: Mutex::new(Vec::new()),
            config,
        })
    }

    /// The handle of a fork, made on first use. Does not access the file.
    pub fn open(&self, rel: RelFile, fork: Fork, persistence: Persistence) -> Arc<ForkBuffers> {
        let name = RelFork { rel, backend: self.config.backend, fork };
        let guess = self.wal.as_ref().is_some_and(|wal| wal.in_recovery());
        self.registry.open(name, persistence, guess)
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.frames.count()
    }

    /// True if a sequential scan of `nblocks` blocks uses a ring.
    pub fn wants_bulk_read(&self, nblocks: u32) -> bool {
        nblocks as usize > self.frames() / 4
    }

    pub fn smgr(&self) -> &Arc<Smgr> {
        &self.smgr
    }

    pub fn wal(&self) -> Option<&Arc<Wal>> {
        self.wal.as_ref()
    }

    pub fn scan_rings(&self) -> bool {
        self.scan_rings.load(Ordering::Relaxed)
    }

    pub fn set_scan_rings(&self, on: bool) {
        self.scan_rings.store(on, Ordering::Relaxed);
    }

    pub fn set_zero_damaged_pages(&self, on: bool) {
        self.zero_damaged_pages.store(on, Ordering::Relaxed);
    }

    pub fn set_ignore_checksum_failure(&self, on: bool) {
        self.ignore_checksum_failure.store(on, Ordering::Relaxed);
    }

    pub fn stats(&self) -> PoolStats {
        let c = &self.counters;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        PoolStats {
            reads: get(&c.reads),
            written_by_sessions: get(&c.written_by_sessions),
            written_by_checkpoints: get(&c.written_by_checkpoints),
            written_by_background: get(&c.written_by_background),
            allocated: get(&c.allocated),
            evicted: get(&c.evicted),
            wal_flushes: get(&c.wal_flushes),
        }
    }

    /// Present length of the fork in blocks.
    pub fn nblocks(&self, fork: &ForkBuffers) -> Result<u32> {
        fork.nblocks(&self.smgr)
    }

    /// As `nblocks`; `None` if the fork has no file (or none but an empty one was ever found).
    pub fn nblocks_or_none(&self, fork: &ForkBuffers) -> Result<Option<u32>> {
        if let Some(known) = fork.known_nblocks() {
            return Ok((known > 0).then_some(known));
        }
        if !self.smgr.exists(fork.name())? {
            // Forks are created by `create_fork` and extended through the pool.
            fork.assume_empty();
            return Ok(None);
        }
        fork.nblocks(&self.smgr).map(|n| (n > 0).then_some(n))
    }

    /// Makes the fork's file unless it exists.
    pub fn create_fork(&self, fork: &ForkBuffers) -> Result<()> {
        self.smgr.create(fork.name(), true)
    }

    /// Pins a block, reading it in if it is not in the pool. A block beyond the end is an error.
    #[inline]
    pub fn read(
        &self,
        fork: &Arc<ForkBuffers>,
        block: BlockNo,
        strategy: &mut Strategy,
    ) -> Result<Pin<'_>> {
        match self.pin_resident(fork, block, strategy) {
            Some(frame) => Ok(Pin::adopt(self, frame)),
            None => self.read_in(fork, block, strategy, Fill::Read),
        }
    }

    /// As `read`, but a damaged page is zeroed instead of an error. Counterpart: RBM_ZERO_ON_ERROR.
    pub fn read_zero_on_error(
        &self,
        fork: &Arc<ForkBuffers>,
        block: BlockNo,
        strategy: &mut Strategy,
    ) -> Result<Pin<'_>> {
        match self.pin_resident(fork, block, strategy) {
            Some(frame) => Ok(Pin::adopt(self, frame)),
            None => self.read_in(fork, block, strategy, Fill::ReadZeroingDamage),
        }
    }

    /// Latches a block that the caller is going to initialize. It is not read from disk; zeroed if
    /// it was not in the pool. Counterpart: RBM_ZERO_AND_LOCK.
    pub fn read_zeroed(
        &self,
        fork: &Arc<ForkBuffers>,
        block: BlockNo,
        strategy: &mut Strategy,
    ) -> Result<ExclusiveGuard<'_>> {
        match self.pin_resident(fork, block, strategy) {
            Some(frame) => Ok(Pin::adopt(self, frame).exclusive()),
            None => Ok(self.read_in(fork, block, strategy, Fill::Zero)?.exclusive()),
        }
    }

    /// Pins a block only if it is in the pool.
    pub fn read_if_resident(
        &self,
        fork: &Arc<ForkBuffers>,
        block: BlockNo,
        strategy: &mut Strategy,
    ) -> Option<Pin<'_>> {
        self.pin_resident(fork, block, strategy).map(|frame| Pin::adopt(self, frame))
    }

    /// To be called when recovery is over: frames not used yet may be placed in huge pages.
    pub fn advise_huge_pages(&self) {
        self.frames.advise_huge_pages();
    }

    /// Prefetches the beginning of the block's page into the processor's cache, or the whole page,
    /// if it is in the pool.
    #[inline]
    pub(crate) fn prefetch_line(&self, fork: &ForkBuffers, block: BlockNo, whole: bool) {
        if let Some(frame) = fork.lookup(block) {
            self.frames.prefetch(frame, whole);
        }
    }

    /// The hot path: one look-up in the translation, one addition to the frame's word.
    #[inline]
    fn pin_resident(
        &self,
        fork: &ForkBuffers,
        block: BlockNo,
        strategy: &mut Strategy,
    ) -> Option<FrameNo> {
        let frame = fork.lookup(block)?;
        let desc = self.frames.desc(frame);
        let before = desc.state.fetch_add(PIN, Ordering::Acquire);
        if before & (TAGGED | VALID) != TAGGED | VALID || !desc.is(fork, block) {
            desc.unpin();
            return None;
        }
        let usage = before & USAGES;
        // Accesses through a ring raise the usage count to 1 only, so that the ring can reuse its
        // frames.
        let cap = if strategy.kind() == RingKind::None { USAGE_MAX } else { USAGE };
        if usage < cap {
            let state = before + PIN;
            // Not retried: a lost increment does no harm.
            let _ = desc.state.compare_exchange(
                state,
                state + USAGE,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
        strategy.usage.hit += 1;
        Some(frame)
    }

    /// Pins the frame tagged with the block, its contents valid or not; `None` if there is none.
    fn pin_tagged(&self, fork: &ForkBuffers, block: BlockNo) -> Option<(FrameNo, u64)> {
        loop {
            let frame = fork.lookup(block)?;
            let desc = self.frames.desc(frame);
            let before = desc.state.fetch_add(PIN, Ordering::Acquire);
            if before & TAGGED != 0 && desc.is(fork, block) {
                return Some((frame, before));
            }
            desc.unpin();
            // Claimed by another thread, which is about to clear the entry.
            sync::yield_now();
        }
    }

    #[cold]
    fn read_in(
        &self,
        fork: &Arc<ForkBuffers>,
        block: BlockNo,
        strategy: &mut Strategy,
        fill: Fill,
    ) -> Result<Pin<'_>> {
        loop {
            if let Some((frame, state)) = self.pin_tagged(fork, block) {
                let pin = Pin::adopt(self, frame);
                let desc = self.frames.desc(frame);
                // Another thread reads it, or failed to: in the second case this one tries.
                if state & VALID != 0 || !desc.start_io(|s| s & VALID == 0) {
                    strategy.usage.hit += 1;
                    return Ok(pin);
                }
                self.fill(fork, block, frame, fill, strategy)?;
                return Ok(pin);
            }
            let frame = self.victim(strategy)?;
            if !self.tag(frame, fork, block, IO) {
                self.free(frame);
                continue;
            }
            let pin = Pin::adopt(self, frame);
            self.fill(fork, block, frame, fill, strategy)?;
            return Ok(pin);
        }
    }

    /// Gives a free frame (owned by the caller, pinned) its tag and publishes it. False if another
    /// frame holds the block already; then the frame is unchanged.
    ///
    /// The entry is published before TAGGED is set: a frame must not lose its tag again while
    /// another thread may have pinned it. A thread that finds the entry before TAGGED is set tries
    /// again.
    pub(crate) fn tag(
        &self,
        frame: FrameNo,
        fork: &Arc<ForkBuffers>,
        block: BlockNo,
        flags: u64,
    ) -> bool {
        let desc = self.frames.desc(frame);
        desc.set_tag(fork, block);
        *self.frames.owner(frame).lock() = Some(fork.clone());
        if fork.publish(block, frame) {
            desc.state.fetch_or(TAGGED | USAGE | flags, Ordering::Release);
            bump(&self.counters.allocated);
            return true;
        }
        desc.clear_tag();
        *self.frames.owner(frame).lock() = None;
        false
    }

    /// Fills a frame whose I/O the caller has begun, and ends the I/O.
    fn fill(
        &self,
        fork: &ForkBuffers,
        block: BlockNo,
        frame: FrameNo,
        fill: Fill,
        strategy: &mut Strategy,
    ) -> Result<()> {
        /// Ends the I/O without success unless disarmed.
        struct Failed<'a>(Option<&'a crate::frame::Desc>);
        impl Drop for Failed<'_> {
            fn drop(&mut self) {
                if let Some(desc) = self.0 {
                    desc.end_io(IO_ERROR, false);
                }
            }
        }
        let desc = self.frames.desc(frame);
        let mut failed = Failed(Some(desc));
        let page = self.frames.owned_page(frame);
        if fill == Fill::Zero {
            page.bytes_mut().fill(0);
        } else {
            strategy.usage.read += 1;
            bump(&self.counters.reads);
            let begun = strategy.begin_io();
            let read = self.read_block(fork, block, page, fill, strategy);
            strategy.usage.read_time_us += micros_since(begun);
            read?;
        }
        failed.0 = None;
        desc.end_io(VALID, false);
        Ok(())
    }

    fn read_block(
        &self,
        fork: &ForkBuffers,
        block: BlockNo,
        page: &mut Page,
        fill: Fill,
        strategy: &Strategy,
    ) -> Result<()> {
        let name = fork.name();
        let zero = fill == Fill::ReadZeroingDamage
            || match strategy.session() {
                Some(session) => session.zero_damaged_pages(),
                None => self.zero_damaged_pages.load(Ordering::Relaxed),
            };
        let n = self.smgr.read(name, block, &mut [IoSliceMut::new(page.bytes_mut())])?;
        if n < page::PAGE_SIZE {
            if !zero && !self.wal.as_ref().is_some_and(|wal| wal.in_recovery()) {
                return Err(self.smgr.short_read(name, block, n));
            }
            page.bytes_mut().fill(0);
            return Ok(());
        }
        self.check_read(name, block, page, zero, strategy)
    }

    /// Checks that the bytes read are a valid page; zeroes or accepts a damaged one as configured.
    fn check_read(
        &self,
        name: RelFork,
        block: BlockNo,
        page: &mut Page,
        zero: bool,
        strategy: &Strategy,
    ) -> Result<()> {
        let found = page.verify_exclusive(block, self.config.checksums);
        if found == Verified::Good {
            return Ok(());
        }
        if let Verified::BadChecksum { computed, found, header_sane } = found {
            (self.config.on_damage)(name);
            let what = format!(
                "page verification failed, calculated checksum {computed} but expected {found}"
            );
            self.warn(strategy, what);
            let ignore = match strategy.session() {
                Some(session) => session.ignore_checksum_failure(),
                None => self.ignore_checksum_failure.load(Ordering::Relaxed),
            };
            if header_sane && ignore {
                return Ok(());
            }
        }
        let what = format!("invalid page in block {block} of relation {name}");
        if !zero {
            return Err(PgError::new(SqlState::DATA_CORRUPTED, what));
        }
        self.warn(strategy, format!("{what}; zeroing out page"));
        page.bytes_mut().fill(0);
        Ok(())
    }

    /// Passes a warning to the session that reads, which logs it; without a session, to the log.
    fn warn(&self, strategy: &Strategy, message: String) {
        let warning = PgError::new(SqlState::DATA_CORRUPTED, message).severity(Severity::Warning);
        match strategy.session() {
            Some(session) => session.warn(warning),
            None => (self.config.on_warning)(&warning),
        }
    }

    /// Adds a zeroed block at the end (written to the file, so that the space is there) and latches
    /// it.
    pub fn extend(
        &self,
        fork: &Arc<ForkBuffers>,
        strategy: &mut Strategy,
    ) -> Result<ExclusiveGuard<'_>> {
        self.extend_by(fork, 1, strategy)
    }

    /// Adds `count` zeroed blocks at once and latches the first; the others follow it. Up to 1/32
    /// of the pool of them (half the ring, with a ring) are in the pool already, so that the
    /// sessions that fill them need not read zeros from the file. Counterpart:
    /// RelationAddExtraBlocks.
    pub fn extend_by(
        &self,
        fork: &Arc<ForkBuffers>,
        count: u32,
        strategy: &mut Strategy,
    ) -> Result<ExclusiveGuard<'_>> {
        assert!(count > 0);
        // Frames are taken before the extension lock, since finding them may take long.
        let frames_max = match strategy.ring_size() {
            0 => self.frames() / 32,
            ring => ring / 2,
        };
        let wanted = (count as usize).min(frames_max.max(1));
        let mut frames: SmallVec<[FrameNo; 16]> = SmallVec::new();
        frames.push(self.victim(strategy)?);
        while frames.len() < wanted {
            match self.victim(strategy) {
                Ok(frame) => frames.push(frame),
                Err(_) => break,
            }
        }
        match self.extend_into(&frames, fork, count, count) {
            Ok(()) => {
                frames[1..].iter().for_each(|frame| self.frames.desc(*frame).unpin());
                Ok(Pin::adopt(self, frames[0]).assume_exclusive())
            }
            Err(e) => {
                frames.iter().for_each(|frame| self.free(*frame));
                Err(e)
            }
        }
    }

    /// As `extend`; if the file must be extended, then by `ahead` blocks at once, for later
    /// extensions. [`BufferPool::trim`] cuts off the blocks that were not used.
    pub fn extend_in_advance(
        &self,
        fork: &Arc<ForkBuffers>,
        ahead: u32,
        strategy: &mut Strategy,
    ) -> Result<ExclusiveGuard<'_>> {
        let frame = self.victim(strategy)?;
        match self.extend_into(&[frame], fork, 1, ahead) {
            Ok(()) => Ok(Pin::adopt(self, frame).assume_exclusive()),
            Err(e) => {
                self.free(frame);
                Err(e)
            }
        }
    }

    /// Truncates the blocks by which the file was extended in advance; none of them is part of the
    /// fork.
    pub fn trim(&self, fork: &ForkBuffers) -> Result<()> {
        let _growing = fork.lock_extension();
        let nblocks = self.nblocks(fork)?;
        if fork.file_end() > nblocks {
            self.smgr.truncate(fork.name(), nblocks)?;
            fork.set_file_end(0);
        }
        Ok(())
    }

    /// Waits for a thread that is extending the fork; false if there is none.
    pub fn await_extension(&self, fork: &ForkBuffers) -> bool {
        if fork.extension.try_lock().is_some() {
            return false;
        }
        drop(fork.lock_extension());
        true
    }

    fn extend_into(
        &self,
        frames: &[FrameNo],
        fork: &Arc<ForkBuffers>,
        count: u32,
        ahead: u32,
    ) -> Result<()> {
        let _growing = fork.lock_extension();
        let first = self.nblocks(fork)?;
        // u32::MAX is not a block number.
        if first.checked_add(count).is_none_or(|end| end == u32::MAX) {
            bail!(
                PROGRAM_LIMIT_EXCEEDED,
                "cannot extend relation {} beyond {} blocks",
                fork.name(),
                u32::MAX
            );
        }
        let (have, end) = (fork.file_end().max(first), first + count);
        if have < end {
            // Ahead only up to the last block number.
            let upto = first.saturating_add(ahead).min(u32::MAX - 1).max(end);
            self.smgr.zero_extend(fork.name(), BlockNo(have), upto - have)?;
            fork.set_file_end(upto);
        }
        for (block, &frame) in (first..).zip(frames) {
            let desc = self.frames.desc(frame);
            self.frames.owned_page(frame).bytes_mut().fill(0);
            if block == first {
                // Latched before other threads can find it. The latch of a free frame is not held.
                assert!(desc.latch.try_acquire(LatchMode::Exclusive), "a free frame is latched");
            }
            while !self.tag(frame, fork, BlockNo(block), VALID) {
                // A read beyond the end has left a frame without contents.
                self.discard_block(fork, BlockNo(block));
            }
        }
        fork.set_nblocks(first + count);
        Ok(())
    }

    /// Hint: the blocks will be read soon.
    pub fn prefetch(&self, fork: &ForkBuffers, block: BlockNo, count: u32) {
        let missing = (block.0..block.0.saturating_add(count))
            .filter(|n| fork.lookup(BlockNo(*n)).is_none())
            .map(BlockNo);
        // Consecutive blocks are one call.
        let mut run: Option<(BlockNo, u32)> = None;
        for block in missing {
            run = match run {
                Some((first, n)) if first.0 + n == block.0 => Some((first, n + 1)),
                Some((first, n)) => {
                    self.smgr.prefetch(fork.name(), first, n);
                    Some((block, 1))
                }
                None => Some((block, 1)),
            };
        }
        if let Some((first, n)) = run {
            self.smgr.prefetch(fork.name(), first, n);
        }
    }

    /// Marks a page dirty; the caller holds its latch. True if it was clean.
    pub(crate) fn mark_dirty(&self, frame: FrameNo) -> bool {
        let desc = self.frames.desc(frame);
        let both = DIRTY | JUST_DIRTIED;
        let state = desc.state.load(Ordering::Relaxed);
        debug_assert!(state & VALID != 0 && pins(state) > 0);
        if state & both == both {
            return false;
        }
        desc.state.fetch_or(both, Ordering::AcqRel) & DIRTY == 0
    }

    /// The fork of a frame that the caller has pinned and found tagged.
    pub(crate) fn owner_of(&self, frame: FrameNo) -> Arc<ForkBuffers> {
        self.frames.owner(frame).lock().clone().expect("a tagged frame has an owner")
    }

    /// Logs the image of a page whose hints were changed, with the session's builder or one of the
    /// pool's.
    pub(crate) fn log_hint_image(
        &self,
        wal: &Wal,
        tag: Tag,
        standard: bool,
        page: &Page,
        scratch: Option<&mut RecordBuilder>,
    ) -> Result<Lsn> {
        let Some(builder) = scratch else {
            let builder = self.builders.lock().pop();
            let mut builder = builder.unwrap_or_else(|| RecordBuilder::new(RmgrId::Xlog, 0));
            let end = self.log_hint_image(wal, tag, standard, page, Some(&mut builder))?;
            self.builders.lock().push(builder);
            return Ok(end);
        };
        builder.reset(RmgrId::Xlog, XLOG_FPI_FOR_HINT);
        let flags = if standard { RegFlags::STANDARD } else { RegFlags::NONE };
        builder.block(0, tag.rel, tag.fork, tag.block, flags);
        // The commit of a session that only reads need not wait for the image.
        builder
            .without_commit_wait(|b| wal.insert(b, &[(0, page)], Xid::INVALID))
            .map(|inserted| inserted.end)
    }

    /// Shared state may be wrong: the server goes down to recovery.
    pub fn crash(&self, reason: &PgError) {
        (self.config.on_critical)(reason);
    }

    /// Discards a block, dirty or not, waiting for I/O in progress and for other pins.
    pub(crate) fn discard_block(&self, fork: &ForkBuffers, block: BlockNo) {
        while let Some((frame, _)) = self.pin_tagged(fork, block) {
            let desc = self.frames.desc(frame);
            desc.wait_io();
            if self.claim(frame, true) {
                self.free(frame);
                return;
            }
            desc.unpin();
            // Only threads that write or evict pages pin those of a relation that is locked
            // exclusively.
            sync::yield_now();
        }
    }

    fn discard_blocks(&self, fork: &ForkBuffers, from: BlockNo) {
        fork.for_each(from, |block, _| self.discard_block(fork, block));
    }

    /// Discards all pages of the relation, dirty or not, before its files are removed. The caller
    /// makes sure that no session reads it any more.
    pub fn drop_relation(&self, rel: RelFile) {
        for fork in Fork::ALL {
            let name = RelFork { rel, backend: self.config.backend, fork };
            if let Some(fork) = self.registry.remove(name) {
                self.discard_blocks(&fork, BlockNo(0));
            }
        }
    }

    /// Discards all pages of the database.
    pub fn drop_database(&self, database: Oid) {
        for fork in self.registry.of_database(database) {
            self.registry.remove(fork.name());
            self.discard_blocks(&fork, BlockNo(0));
        }
    }

    /// Truncates each fork to its number of blocks. `log` first inserts and flushes the records
    /// that replay needs to do the same; then the pages beyond are discarded, dirty or not, and the
    /// files truncated. The caller excludes readers.
    ///
    /// INVARIANT: all of it is done, or the server goes down to recovery. If a file kept its length
    /// after its dirty pages were discarded, the older contents would be read again and deleted
    /// rows would reappear. So every step that can fail and can be done before is done before.
    pub fn truncate(
        &self,
        forks: &[(Arc<ForkBuffers>, u32)],
        log: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let critical = CriticalSection(Some(self));
        let done = log().and_then(|()| {
            forks.iter().try_for_each(|(fork, nblocks)| self.truncate_fork(fork, *nblocks))
        });
        critical.end(done)
    }

    fn truncate_fork(&self, fork: &ForkBuffers, nblocks: u32) -> Result<()> {
        let _growing = fork.extension.lock();
        self.discard_blocks(fork, BlockNo(nblocks));
        fork.set_file_end(0);
        self.smgr.truncate(fork.name(), nblocks)?;
        fork.set_nblocks(nblocks);
        Ok(())
    }
}

/// An error or panic before [`CriticalSection::end`], or an error passed to it, takes the server
/// down.
struct CriticalSection<'a>(Option<&'a BufferPool>);

impl CriticalSection<'_> {
    fn end(mut self, result: Result<()>) -> Result<()> {
        let pool = self.0.take();
        result.map_err(|e| {
            let e = e.severity(Severity::Panic);
            if let Some(pool) = pool {
                pool.crash(&e);
            }
            e
        })
    }
}

impl Drop for CriticalSection<'_> {
    fn drop(&mut self) {
        if let Some(pool) = self.0 {
            let reason = PgError::internal("panic inside a critical section");
            pool.crash(&reason.severity(Severity::Panic));
        }
    }
}

/// Counterpart: XLOG_FPI_FOR_HINT in catalog/pg_control.h.
const XLOG_FPI_FOR_HINT: u8 = 0xA0;
