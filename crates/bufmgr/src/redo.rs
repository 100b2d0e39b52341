//! Pages for redo. Counterpart: xlogutils.c.
//!
//! A record may speak of files and blocks that are gone: dropped or truncated later in the log.
//! Redo makes missing files anew; a page that is missing or empty where a record expects contents
//! is remembered, and must be forgotten by a later drop or truncation before the data counts as
//! consistent.
//!
//! Several threads may replay side by side, each the pages of its [`Share`]. What belongs to a page
//! comes in the order of the log, since it all comes to the same thread; between pages there is no
//! order, and none is needed as long as nobody reads. Files that grow are the one thing that shares
//! have in common (`growing`).

use crate::{BufferPool, ExclusiveGuard, ForkBuffers, Strategy};
use ids::{BlockNo, Fork, Oid, Persistence, RelFile};
use page::PageMut;
use pgerror::{PgError, Result, Severity};
use smallvec::SmallVec;
use smgr::RelFork;
use std::collections::BTreeMap;
use sync::atomic::{AtomicU64, Ordering};
use sync::{Arc, Mutex, MutexGuard};
use wal::DecodedRecord;

/// What redo has to do with a block.
pub enum Redo<'a> {
    /// The change is not on the page yet: apply it (and stamp `record.end`), by [`apply`].
    Apply(ExclusiveGuard<'a>),
    /// The page is as after the record: its image was restored.
    Restored(ExclusiveGuard<'a>),
    /// The page has this change already.
    Done(ExclusiveGuard<'a>),
    /// Nothing: the block or file does not exist (dropped or truncated later in the log), or the
    /// page is in another thread's share.
    Missing,
}

impl<'a> Redo<'a> {
    /// The page, whatever is to be done.
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
    /// The record has WILL_INIT: a page to be initialised, always to be applied.
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

/// How [`read_block`] takes a block that is not there or damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IfMissing {
    /// `None`, without remembering it (free space map and visibility map hints). A damaged page is
    /// zeroed, and `None`.
    Ignore,
    /// The fork is extended; a damaged page is zeroed.
    ZeroOnError,
}

/// Pages that redo missed. What is left when recovery has ended was lost.
#[derive(Debug, Default)]
pub struct InvalidPages {
    /// By block; true: it was there, without contents.
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

    /// The relation was dropped or truncated: blocks from `from` on are of no interest.
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

    /// What is to be said of each. Counterpart: XLogCheckInvalidPages, which is not asked after a
    /// crash.
    pub fn reports(&self) -> impl Iterator<Item = String> {
        self.pages.iter().map(|((rel, fork, block), present)| {
            let name = RelFork::new(*rel, Fork::from_u8(*fork).unwrap_or(Fork::Main));
            let state = if *present { "was uninitialized" } else { "did not exist" };
            format!("page {block} of relation {name} {state}")
        })
    }
}

/// The pages that one of several threads replays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    pub index: u32,
    pub count: u32,
}

impl Share {
    /// Which of `count` shares a page is in.
    pub fn of(rel: RelFile, block: BlockNo, count: u32) -> u32 {
        let mixed = rel.relnumber.0.wrapping_mul(0x9E37_79B1) ^ block.0.wrapping_mul(0x85EB_CA6B);
        let mixed = u64::from(mixed ^ (mixed >> 15)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        ((mixed * u64::from(count)) >> 32) as u32
    }
}

/// What the threads of a recovery have in common.
#[derive(Default)]
struct Common {
    invalid: Mutex<InvalidPages>,
    /// Held while a fork grows. LOCK ORDER: behind latches of pages that are being replayed;
    /// whoever holds it latches none but the new page.
    growing: Mutex<()>,
    /// Raised when files may go away: what is known of forks is to be forgotten.
    generation: AtomicU64,
}

/// Forks that a context remembers.
const FORKS_KNOWN: usize = 16;

/// State of redo's page access; one per thread.
pub struct RedoCx<'a> {
    pub pool: &'a BufferPool,
    common: Arc<Common>,
    /// All pages where there is none.
    share: Option<Share>,
    /// The forks used last, as of a generation; the registry is asked for others.
    forks: SmallVec<[Arc<ForkBuffers>; FORKS_KNOWN]>,
    generation: u64,
    /// Counts what recovery reads.
    pub strategy: Strategy,
}

/// What another thread needs to take part in a recovery.
pub struct RedoTicket {
    common: Arc<Common>,
    share: Share,
}

impl RedoTicket {
    pub fn context<'a>(&self, pool: &'a BufferPool) -> RedoCx<'a> {
        RedoCx { common: self.common.clone(), share: Some(self.share), ..RedoCx::new(pool) }
    }
}

impl<'a> RedoCx<'a> {
    pub fn new(pool: &'a BufferPool) -> RedoCx<'a> {
        RedoCx {
            pool,
            common: Arc::default(),
            share: None,
            forks: SmallVec::new(),
            generation: 0,
            strategy: Strategy::normal(),
        }
    }

    /// For a thread that replays the pages of a share.
    pub fn ticket(&self, share: Share) -> RedoTicket {
        RedoTicket { common: self.common.clone(), share }
    }

    /// The pages missed so far, by all threads.
    pub fn invalid(&self) -> MutexGuard<'_, InvalidPages> {
        self.common.invalid.lock()
    }

    /// Is the page ours to replay?
    #[inline]
    pub fn owns(&self, rel: RelFile, block: BlockNo) -> bool {
        self.share.is_none_or(|s| Share::of(rel, block, s.count) == s.index)
    }

    /// Files may go away now. No other thread is replaying.
    pub fn forget_forks(&self) {
        self.common.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The fork, its file made if it is missing.
    pub fn open(&mut self, rel: RelFile, fork: Fork) -> Result<Arc<ForkBuffers>> {
        let generation = self.common.generation.load(Ordering::Acquire);
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

    /// A record that changes the block comes soon: has the processor fetch what of its page every
    /// change looks at, or the `whole` page.
    #[inline]
    pub fn announce(&self, rel: RelFile, fork: Fork, block: BlockNo, whole: bool) {
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

/// Latches block `id` of the record and says what to do with it.
/// Counterpart: XLogReadBufferForRedoExtended.
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
            "block to be initialized in redo routine must be marked with WILL_INIT flag in the WAL record"
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
        let page = guard.lend();
        record.restore_image(id, page)?;
        // A new page must stay all zeros.
        if !page.is_new() {
            page.set_lsn(record.end);
        }
        mark_dirty(&guard);
        if block.fork == Fork::Init {
            // Copied at the end of recovery by file, not through the pool.
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

/// The block for being overwritten, the fork extended to it if it is shorter.
fn read_or_extend<'a>(
    cx: &mut RedoCx<'a>,
    fork: &Arc<ForkBuffers>,
    block: BlockNo,
    cleanup: bool,
) -> Result<ExclusiveGuard<'a>> {
    if block.0 >= cx.pool.nblocks(fork)? {
        let common = cx.common.clone();
        let _growing = common.growing.lock();
        // Another thread may have made the fork longer meanwhile.
        let nblocks = cx.pool.nblocks(fork)?;
        if block.0 >= nblocks {
            // The frame of the last new block is what we want.
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

/// For `Redo::Apply`: changes the page, stamps the record's end on it and marks it dirty.
pub fn apply(
    guard: &mut ExclusiveGuard<'_>,
    record: &DecodedRecord,
    change: impl FnOnce(PageMut<'_>) -> Result<()>,
) -> Result<()> {
    change(guard.lend())?;
    guard.lend().set_lsn(record.end);
    mark_dirty(guard);
    Ok(())
}

/// As [`apply`] for pages whose LSN says nothing (free space map): changes and marks dirty.
pub fn apply_unstamped(
    guard: &mut ExclusiveGuard<'_>,
    change: impl FnOnce(PageMut<'_>) -> Result<()>,
) -> Result<()> {
    change(guard.lend())?;
    mark_dirty(guard);
    Ok(())
}

fn mark_dirty(guard: &ExclusiveGuard<'_>) {
    let pin = guard.pin();
    pin.pool().mark_dirty(pin.frame());
}
