//! Page access of redo. Counterpart: xlogutils.c.
//!
//! A record may refer to files and blocks that are dropped or truncated later in the log. Redo
//! creates missing files. A page that is missing or empty where a record expects contents is
//! remembered; a later drop or truncation must account for it before the data counts as consistent.
//!
//! Several threads may replay in parallel, each the pages of its [`Partition`]. All changes of one
//! page are applied in the order of the log, by one thread. Between pages there is no order, and
//! none is needed as long as no session reads. The threads exclude each other only while a file is
//! extended (`growing`).

use crate::forks::ForkBuffers;
use crate::guard::ExclusiveGuard;
use crate::pool::BufferPool;
use crate::ring::Strategy;
use ids::{BlockNo, Fork, Oid, Persistence, RelFile};
use page::PageMut;
use pgerror::{PgError, Result, Severity};
use smallvec::SmallVec;
use smgr::RelFork;
use std::collections::BTreeMap;
use sync::atomic::{AtomicU64, Ordering};
use sync::{Arc, Mutex, MutexGuard};
use wal::DecodedRecord;

/// What redo does with a block.
pub enum Redo<'a> {
    /// The change is not on the page yet: apply it (and set the LSN to `record.end`), by [`apply`].
    Apply(ExclusiveGuard<'a>),
    /// The page was restored from its image, and is as after the record.
    Restored(ExclusiveGuard<'a>),
    /// The page has this change already.
    Done(ExclusiveGuard<'a>),
    /// No page: the block or file does not exist (dropped or truncated later in the log), or the
    /// page is in another thread's partition.
    Missing,
}

impl<'a> Redo<'a> {
    /// The page, in all cases but `Missing`.
    pub fn guard(self) -> Option<ExclusiveGuard<'a>> {
        match self {
            Redo::Apply(guard) | Redo::Restored(guard) | Redo::Done(guard) => Some(guard),
            Redo::Missing => None,
        }
    }

    pub fn needs_apply(&self) -> bool {
        matches!(self, Redo::Apply(_))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RedoMode {
    /// Read the page and latch it exclusively.
    Normal,
    /// As Normal, waiting for a cleanup latch.
    Cleanup,
    /// The record has WILL_INIT: the page is initialized, always by `Apply`.
    Init,
    /// As Init, with a cleanup latch.
    InitCleanup,
}

impl RedoMode {
    fn init(self) -> bool {
        matches!(self, RedoMode::Init | RedoMode::InitCleanup)
    }

    fn cleanup(self) -> bool {
        matches!(self, RedoMode::Cleanup | RedoMode::InitCleanup)
    }
}

/// How [`read_block`] treats a block that does not exist or is damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IfMissing {
    /// `None`, without remembering it (free space map and visibility map hints). A damaged page is
    /// zeroed, and `None`.
    Ignore,
    /// The fork is extended; a damaged page is zeroed.
    ZeroOnError,
}

/// Pages that redo expected and did not find. Those left at the end of recovery were lost.
#[derive(Debug, Default)]
pub struct InvalidPages {
    /// By block. True: the page existed, but was not initialized.
    pages: BTreeMap<(RelFile, u8, BlockNo), bool>,
}

impl InvalidPages {
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    fn note(&mut self, name: RelFork, block: BlockNo, present: bool) {
        self.pages.entry((name.rel, name.fork as u8, block)).or_insert(present);
    }

    /// Removes blocks from `from` on, after the relation was dropped or truncated.
    pub fn forget_relation(&mut self, rel: RelFile, fork: Fork, from: BlockNo) {
        let range = (rel, fork as u8, from)..=(rel, fork as u8, BlockNo::INVALID);
        let gone: Vec<_> = self.pages.range(range).map(|(key, _)| *key).collect();
        for key in gone {
            self.pages.remove(&key);
        }
    }

    pub fn forget_database(&mut self, database: Oid) {
        self.pages.retain(|(rel, _, _), _| rel.database != database);
    }

    /// The message for each page. Counterpart: XLogCheckInvalidPages, which PostgreSQL does not
    /// call after a crash.
    pub fn reports(&self) -> impl Iterator<Item = String> {
        self.pages.iter().map(|((rel, fork, block), present)| {
            let name = RelFork::new(*rel, Fork::from_u8(*fork).unwrap_or(Fork::Main));
            let state = if *present { "was uninitialized" } else { "did not exist" };
            format!("page {block} of relation {name} {state}")
        })
    }
}

/// The set of pages that one of several redo threads replays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    pub index: u32,
    pub count: u32,
}

impl Partition {
    /// The partition of a page, of `count` partitions.
    pub fn of(rel: RelFile, block: BlockNo, count: u32) -> u32 {
        let mixed = rel.relnumber.0.wrapping_mul(0x9E37_79B1) ^ block.0.wrapping_mul(0x85EB_CA6B);
        let mixed = u64::from(mixed ^ (mixed >> 15)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        ((mixed * u64::from(count)) >> 32) as u32
    }
}

/// State shared by the threads of a recovery.
#[derive(Default)]
struct SharedState {
    invalid: Mutex<InvalidPages>,
    /// Held while a fork is extended. LOCK ORDER: after latches of pages that are being replayed; a
    /// thread that holds it latches only the new page.
    growing: Mutex<()>,
    /// Incremented when files may be removed: the forks cached by each thread are then out of date.
    generation: AtomicU64,
}

/// Most forks that a context caches.
const FORKS_KNOWN: usize = 16;

/// State of redo's page access; one per thread.
pub struct RedoCx<'a> {
    pub pool: &'a BufferPool,
    shared: Arc<SharedState>,
    /// `None`: all pages.
    partition: Option<Partition>,
    /// The last forks used, valid for a generation; others are looked up in the registry.
    forks: SmallVec<[Arc<ForkBuffers>; FORKS_KNOWN]>,
    generation: u64,
    /// Counts the reads of recovery.
    pub strategy: Strategy,
}

/// What another thread needs to make its context in this recovery.
pub struct RedoTicket {
    shared: Arc<SharedState>,
    partition: Partition,
}

impl RedoTicket {
    pub fn context<'a>(&self, pool: &'a BufferPool) -> RedoCx<'a> {
        RedoCx { shared: self.shared.clone(), partition: Some(self.partition), ..RedoCx::new(pool) }
    }
}

impl<'a> RedoCx<'a> {
    pub fn new(pool: &'a BufferPool) -> RedoCx<'a> {
        RedoCx {
            pool,
            shared: Arc::default(),
            partition: None,
            forks: SmallVec::new(),
            generation: 0,
            strategy: Strategy::normal(),
        }
    }

    /// A ticket for a thread that replays the pages of a partition.
    pub fn ticket(&self, partition: Partition) -> RedoTicket {
        RedoTicket { shared: self.shared.clone(), partition }
    }

    /// The missing pages so far, of all threads.
    pub fn invalid(&self) -> MutexGuard<'_, InvalidPages> {
        self.shared.invalid.lock()
    }

    /// True if the page is in this thread's partition.
    #[inline]
    pub fn owns(&self, rel: RelFile, block: BlockNo) -> bool {
        self.partition.is_none_or(|s| Partition::of(rel, block, s.count) == s.index)
    }

    /// Files may be removed from now on. No other thread is replaying.
    pub fn forget_forks(&self) {
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The fork; its file is created if it is missing.
    pub fn open(&mut self, rel: RelFile, fork: Fork) -> Result<Arc<ForkBuffers>> {
        let generation = self.shared.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.forks.clear();
            self.generation = generation;
        }
        let is_it = |f: &&Arc<ForkBuffers>| f.name().rel == rel && f.name().fork == fork;
        if let Some(known) = self.forks.iter().find(is_it) {
            return Ok(known.clone());
        }
        let found = self.look_up(rel, fork)?;
        if self.forks.len() == FORKS_KNOWN {
            self.forks.remove(0);
        }
        self.forks.push(found.clone());
        Ok(found)
    }

    /// Prefetches into the processor's cache the part of the page that every change reads, or the
    /// `whole` page, for a record that comes soon.
    #[inline]
    pub fn prefetch(&self, rel: RelFile, fork: Fork, block: BlockNo, whole: bool) {
        let is_it = |f: &&Arc<ForkBuffers>| f.name().rel == rel && f.name().fork == fork;
        if let Some(known) = self.forks.iter().find(is_it) {
            self.pool.prefetch_line(known, block, whole);
        }
    }

    fn look_up(&self, rel: RelFile, fork: Fork) -> Result<Arc<ForkBuffers>> {
        let handle = self.pool.open(rel, fork, Persistence::Permanent);
        if !handle.created.load(Ordering::Relaxed) {
            self.pool.smgr.create(handle.name(), true)?;
            handle.created.store(true, Ordering::Relaxed);
        }
        Ok(handle)
    }
}

/// Latches block `id` of the record and decides what to do with it.
pub fn read_for_redo<'a>(
    cx: &mut RedoCx<'a>,
    record: &DecodedRecord,
    id: u8,
    mode: RedoMode,
) -> Result<Redo<'a>> {
    let Some(block) = record.block(id).copied() else {
        let what = format!("failed to locate backup block with ID {id} in WAL record");
        return Err(PgError::internal(what).severity(Severity::Panic));
    };
    if block.will_init() != mode.init() {
        let what = if mode.init() {
            "block to be initialized in redo routine must be marked \
             with WILL_INIT flag in the WAL record"
        } else {
            "block with WILL_INIT flag in WAL record must be zeroed by redo routine"
        };
        return Err(PgError::internal(what).severity(Severity::Panic));
    }
    if !cx.owns(block.rel, block.block) {
        return Ok(Redo::Missing);
    }
    let fork = cx.open(block.rel, block.fork)?;
    if block.applies_image() {
        let mut guard = read_or_extend(cx, &fork, block.block, mode.cleanup())?;
        let page = guard.contents_mut();
        record.restore_image(id, page)?;
        // A new page must stay all zeros.
        if !page.is_new() {
            page.set_lsn(record.end);
        }
        mark_dirty(&guard);
        if block.fork == Fork::Init {
            // Init forks are copied at the end of recovery file by file, not through the pool.
            let pin = guard.into_pin();
            cx.pool.flush_fork(&fork)?;
            guard = pin.exclusive();
        }
        return Ok(Redo::Restored(guard));
    }
    if mode.init() {
        return Ok(Redo::Apply(read_or_extend(cx, &fork, block.block, mode.cleanup())?));
    }
    if block.block.0 >= cx.pool.nblocks(&fork)? {
        cx.invalid().note(fork.name(), block.block, false);
        return Ok(Redo::Missing);
    }
    let pin = cx.pool.read(&fork, block.block, &mut cx.strategy)?;
    let guard = if mode.cleanup() { pin.cleanup()?.into_exclusive() } else { pin.exclusive() };
    if guard.is_new() {
        cx.invalid().note(fork.name(), block.block, true);
        return Ok(Redo::Missing);
    }
    if record.end <= guard.lsn() { Ok(Redo::Done(guard)) } else { Ok(Redo::Apply(guard)) }
}

/// The block, to be overwritten; the fork is extended to it if it is shorter.
fn read_or_extend<'a>(
    cx: &mut RedoCx<'a>,
    fork: &Arc<ForkBuffers>,
    block: BlockNo,
    cleanup: bool,
) -> Result<ExclusiveGuard<'a>> {
    if block.0 >= cx.pool.nblocks(fork)? {
        let shared = cx.shared.clone();
        let _growing = shared.growing.lock();
        // Another thread may have extended the fork in the meantime.
        let nblocks = cx.pool.nblocks(fork)?;
        if block.0 >= nblocks {
            // Only the frame of the last new block is needed.
            let gap = block.0 - nblocks;
            if gap > 0 {
                drop(cx.pool.extend_by(fork, gap, &mut cx.strategy)?);
            }
            return cx.pool.extend(fork, &mut cx.strategy);
        }
    }
    let guard = cx.pool.read_zeroed(fork, block, &mut cx.strategy)?;
    if cleanup { Ok(guard.into_pin().cleanup()?.into_exclusive()) } else { Ok(guard) }
}

/// A block that the record does not reference (visibility map, free space map).
/// Counterpart: XLogReadBufferExtended.
pub fn read_block<'a>(
    cx: &mut RedoCx<'a>,
    rel: RelFile,
    fork: Fork,
    block: BlockNo,
    missing: IfMissing,
) -> Result<Option<ExclusiveGuard<'a>>> {
    let fork = cx.open(rel, fork)?;
    let there = block.0 < cx.pool.nblocks(&fork)?;
    match (there, missing) {
        (true, IfMissing::Ignore) => {
            let guard = cx.pool.read_zero_on_error(&fork, block, &mut cx.strategy)?.exclusive();
            Ok((!guard.is_new()).then_some(guard))
        }
        (true, IfMissing::ZeroOnError) => {
            Ok(Some(cx.pool.read_zero_on_error(&fork, block, &mut cx.strategy)?.exclusive()))
        }
        (false, IfMissing::Ignore) => Ok(None),
        (false, IfMissing::ZeroOnError) => Ok(Some(read_or_extend(cx, &fork, block, false)?)),
    }
}

/// For `Redo::Apply`: changes the page, sets its LSN to the record's end and marks it dirty.
pub fn apply(
    guard: &mut ExclusiveGuard<'_>,
    record: &DecodedRecord,
    change: impl FnOnce(PageMut<'_>) -> Result<()>,
) -> Result<()> {
    change(guard.contents_mut())?;
    guard.contents_mut().set_lsn(record.end);
    mark_dirty(guard);
    Ok(())
}

/// As [`apply`] for pages whose LSN is not used (free space map): changes and marks dirty.
pub fn apply_without_lsn(
    guard: &mut ExclusiveGuard<'_>,
    change: impl FnOnce(PageMut<'_>) -> Result<()>,
) -> Result<()> {
    change(guard.contents_mut())?;
    mark_dirty(guard);
    Ok(())
}

fn mark_dirty(guard: &ExclusiveGuard<'_>) {
    let pin = guard.pin();
    pin.pool().mark_dirty(pin.frame());
}
