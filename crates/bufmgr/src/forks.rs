//! Open relation forks, with the translation from block to frame; and their registry.
//!
//! There is no hash table of pages. Each fork has a translation *block → frame*: the first blocks
//! inline, the others in chunks of 1,024 entries (4 KB), allocated on first use and found through a
//! directory in parts that double in size. So nothing is ever moved, and readers need no lock.
//!
//! An entry is 0 or frame + 1. The thread that reads the block in sets it (compare-and-swap from 0;
//! the loser uses the winner's frame), and the thread that claims the frame clears it. It is a
//! hint: a reader trusts it only after pinning the frame and finding the tag there.

use crate::frame::FrameNo;
use ids::{BlockNo, Fork, Oid, Persistence, RelFile};
use pgerror::Result;
use smgr::{RelFork, Smgr};
use std::collections::HashMap;
use std::sync::OnceLock;
use sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use sync::{Arc, Mutex, MutexGuard, RwLock};

const INLINE: usize = 8;
const CHUNK_BITS: u32 = 10;
const CHUNK: usize = 1 << CHUNK_BITS;
/// Number of chunks in the directory's first part.
const FIRST_PART: u32 = 64;
/// Number of parts of the directory: enough for 2^22 chunks.
const PARTS: usize = 17;

const NBLOCKS_UNKNOWN: u64 = u64::MAX;
/// The persistence is a guess of replay, which does not know which relations are unlogged.
const GUESSED: u8 = 0x80;

type Chunk = Box<[AtomicU32; CHUNK]>;
type Part = Box<[OnceLock<Chunk>]>;

/// The handle of a relation fork, obtained by [`crate::BufferPool::open`] and kept by the caller.
pub struct ForkBuffers {
    /// Unique in the pool's lifetime.
    id: u64,
    name: RelFork,
    /// Its letter in `pg_class.relpersistence`, perhaps with GUESSED.
    persistence: AtomicU8,
    skip_wal: AtomicBool,
    /// Redo has made sure that the file exists.
    pub(crate) created: AtomicBool,
    nblocks: AtomicU64,
    /// The extension lock: held while the fork grows or is truncated.
    pub(crate) extension: Mutex<()>,
    extension_waiters: AtomicU32,
    /// End of the zeroed blocks by which the file has been extended in advance. Changed under the
    /// extension lock. Never more than what is written there: 0 if it is not known.
    file_end: AtomicU32,
    inline: [AtomicU32; INLINE],
    parts: [OnceLock<Part>; PARTS],
}

fn locate(block: BlockNo) -> (usize, usize, usize) {
    let n = (block.0 >> CHUNK_BITS) + FIRST_PART;
    let part = n.ilog2() - FIRST_PART.ilog2();
    let in_part = n - (FIRST_PART << part);
    (part as usize, in_part as usize, block.0 as usize % CHUNK)
}

impl ForkBuffers {
    fn new(id: u64, name: RelFork, persistence: Persistence) -> ForkBuffers {
        ForkBuffers {
            id,
            name,
            persistence: AtomicU8::new(persistence.to_char()),
            skip_wal: AtomicBool::new(false),
            created: AtomicBool::new(false),
            nblocks: AtomicU64::new(NBLOCKS_UNKNOWN),
            extension: Mutex::new(()),
            extension_waiters: AtomicU32::new(0),
            file_end: AtomicU32::new(0),
            inline: std::array::from_fn(|_| AtomicU32::new(0)),
            parts: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    /// Takes the extension lock, counting the waiters.
    pub(crate) fn lock_extension(&self) -> MutexGuard<'_, ()> {
        if let Some(guard) = self.extension.try_lock() {
            return guard;
        }
        self.extension_waiters.fetch_add(1, Ordering::Relaxed);
        let guard = self.extension.lock();
        self.extension_waiters.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// Number of threads that wait to extend the fork.
    pub fn extension_waiters(&self) -> u32 {
        self.extension_waiters.load(Ordering::Relaxed)
    }

    pub(crate) fn file_end(&self) -> u32 {
        self.file_end.load(Ordering::Relaxed)
    }

    /// The caller holds the extension lock.
    pub(crate) fn set_file_end(&self, end: u32) {
        self.file_end.store(end, Ordering::Relaxed);
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub fn name(&self) -> RelFork {
        self.name
    }

    pub fn persistence(&self) -> Persistence {
        let letter = self.persistence.load(Ordering::Relaxed) & !GUESSED;
        Persistence::from_char(letter).expect("only letters of persistences are stored")
    }

    /// True if its pages must survive a crash, also for the init forks of unlogged relations.
    pub(crate) fn is_permanent(&self) -> bool {
        match self.persistence() {
            Persistence::Permanent => true,
            Persistence::Unlogged => self.name.fork == Fork::Init,
            Persistence::Temporary => false,
        }
    }

    /// True if its changes are logged: the relation is permanent, and does not skip the WAL under
    /// `wal_level = minimal`.
    pub fn is_logged(&self) -> bool {
        self.is_permanent() && !self.skip_wal.load(Ordering::Relaxed)
    }

    /// `wal_level = minimal`: created in this transaction, synced at commit instead of logged.
    pub fn set_skip_wal(&self, on: bool) {
        self.skip_wal.store(on, Ordering::Relaxed);
    }

    pub(crate) fn skips_wal(&self) -> bool {
        self.skip_wal.load(Ordering::Relaxed)
    }

    /// Length in blocks. All extension and truncation goes through the pool, so the cached number
    /// is right once it is known.
    pub(crate) fn nblocks(&self, smgr: &Smgr) -> Result<u32> {
        let known = self.nblocks.load(Ordering::Acquire);
        if known != NBLOCKS_UNKNOWN {
            return Ok(known as u32);
        }
        let found = u64::from(smgr.nblocks(self.name)?);
        // A thread that extended the fork concurrently knew its length before.
        match self.nblocks.compare_exchange(
            NBLOCKS_UNKNOWN,
            found,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) => Ok(found as u32),
            Err(now) => Ok(now as u32),
        }
    }

    pub(crate) fn known_nblocks(&self) -> Option<u32> {
        let known = self.nblocks.load(Ordering::Acquire);
        (known != NBLOCKS_UNKNOWN).then_some(known as u32)
    }

    /// There is no file: length 0, unless another thread has set the length by now.
    pub(crate) fn assume_empty(&self) {
        let _ =
            self.nblocks.compare_exchange(NBLOCKS_UNKNOWN, 0, Ordering::AcqRel, Ordering::Relaxed);
    }

    pub(crate) fn set_nblocks(&self, nblocks: u32) {
        self.nblocks.store(u64::from(nblocks), Ordering::Release);
    }

    /// Forgets the length, after the file was changed other than through the pool.
    pub fn forget_nblocks(&self) {
        self.nblocks.store(NBLOCKS_UNKNOWN, Ordering::Release);
    }

    /// The block's entry, if its chunk is allocated.
    #[inline]
    fn entry(&self, block: BlockNo) -> Option<&AtomicU32> {
        if let Some(entry) = self.inline.get(block.0 as usize) {
            return Some(entry);
        }
        let (part, chunk, at) = locate(block);
        Some(&self.parts[part].get()?[chunk].get()?[at])
    }

    fn entry_or_make(&self, block: BlockNo) -> &AtomicU32 {
        if let Some(entry) = self.entry(block) {
            return entry;
        }
        let (part, chunk, at) = locate(block);
        let part = self.parts[part]
            .get_or_init(|| (0..(FIRST_PART as usize) << part).map(|_| OnceLock::new()).collect());
        let chunk =
            part[chunk].get_or_init(|| Box::new(std::array::from_fn(|_| AtomicU32::new(0))));
        &chunk[at]
    }

    /// The frame in the block's entry.
    #[inline]
    pub(crate) fn lookup(&self, block: BlockNo) -> Option<FrameNo> {
        self.entry(block)?.load(Ordering::Acquire).checked_sub(1)
    }

    /// Sets the block's entry to the frame unless it is set already.
    pub(crate) fn publish(&self, block: BlockNo, frame: FrameNo) -> bool {
        self.entry_or_make(block)
            .compare_exchange(0, frame + 1, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Clears the block's entry; the caller has claimed the frame.
    pub(crate) fn retract(&self, block: BlockNo, frame: FrameNo) {
        if let Some(entry) = self.entry(block) {
            let _ = entry.compare_exchange(frame + 1, 0, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Calls `see` for all entries that are set, from block `from` on.
    pub(crate) fn for_each(&self, from: BlockNo, mut see: impl FnMut(BlockNo, FrameNo)) {
        let mut visit = |block: u32, entry: &AtomicU32| {
            if block >= from.0
                && let Some(frame) = entry.load(Ordering::Acquire).checked_sub(1)
            {
                see(BlockNo(block), frame);
            }
        };
        for (block, entry) in self.inline.iter().enumerate() {
            visit(block as u32, entry);
        }
        let mut first_chunk = 0;
        for (n, part) in self.parts.iter().enumerate() {
            let chunks = FIRST_PART << n;
            for (i, chunk) in part.get().into_iter().flat_map(|part| part.iter()).enumerate() {
                let base = (first_chunk + i as u32) << CHUNK_BITS;
                if u64::from(base) + CHUNK as u64 <= u64::from(from.0) {
                    continue;
                }
                let entries = chunk.get().into_iter().flat_map(|chunk| chunk.iter());
                for (at, entry) in entries.enumerate() {
                    visit(base + at as u32, entry);
                }
            }
            first_chunk += chunks;
        }
    }
}

impl std::fmt::Debug for ForkBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ForkBuffers({})", self.name)
    }
}

const SHARDS: usize = 16;

/// All open forks of a pool.
pub(crate) struct Registry {
    shards: [RwLock<HashMap<RelFork, Arc<ForkBuffers>, foldhash::fast::RandomState>>; SHARDS],
    next_id: AtomicU64,
}

impl Registry {
    pub(crate) fn new() -> Registry {
        Registry {
            shards: std::array::from_fn(|_| RwLock::new(HashMap::default())),
            next_id: AtomicU64::new(1),
        }
    }

    fn shard(
        &self,
        rel: RelFile,
    ) -> &RwLock<HashMap<RelFork, Arc<ForkBuffers>, foldhash::fast::RandomState>> {
        &self.shards[rel.relnumber.0 as usize % SHARDS]
    }

    /// `guess`: the caller is replay, which assumes that all relations are permanent. A session,
    /// which reads the catalog, corrects it.
    ///
    /// INVARIANT: otherwise a fork's persistence does not change, else a page dirtied under one
    /// persistence would be written under another, without flushing the log first.
    pub(crate) fn open(
        &self,
        name: RelFork,
        persistence: Persistence,
        guess: bool,
    ) -> Arc<ForkBuffers> {
        let shard = self.shard(name.rel);
        let known = shard.read().get(&name).cloned();
        let fork = known.unwrap_or_else(|| {
            let make = || {
                let id = self.next_id.fetch_add(1, Ordering::Relaxed);
                let fork = ForkBuffers::new(id, name, persistence);
                if guess {
                    fork.persistence.fetch_or(GUESSED, Ordering::Relaxed);
                }
                Arc::new(fork)
            };
            shard.write().entry(name).or_insert_with(make).clone()
        });
        if guess {
            return fork;
        }
        let before = fork.persistence.load(Ordering::Relaxed);
        if before & GUESSED != 0 {
            fork.persistence.store(persistence.to_char(), Ordering::Relaxed);
        } else {
            assert_eq!(before, persistence.to_char(), "persistence of the open fork {name}");
        }
        fork
    }

    pub(crate) fn remove(&self, name: RelFork) -> Option<Arc<ForkBuffers>> {
        self.shard(name.rel).write().remove(&name)
    }

    pub(crate) fn of_database(&self, database: Oid) -> Vec<Arc<ForkBuffers>> {
        self.matching(|name| name.rel.database == database)
    }

    pub(crate) fn matching(&self, wanted: impl Fn(&RelFork) -> bool) -> Vec<Arc<ForkBuffers>> {
        let mut found = Vec::new();
        for shard in &self.shards {
            found.extend(shard.read().values().filter(|f| wanted(&f.name)).cloned());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_an_entry_of_its_own() {
        let mut previous = None;
        for n in (0..5000).chain([65_535, 65_536, 131_072, 1 << 30, u32::MAX - 1]) {
            let (part, chunk, at) = locate(BlockNo(n));
            assert!(part < PARTS && chunk < (FIRST_PART as usize) << part && at < CHUNK);
            assert!(previous < Some((part, chunk, at)), "locations grow with blocks");
            previous = Some((part, chunk, at));
        }
    }

    #[test]
    fn replay_guesses_a_persistence_and_a_session_corrects_it() {
        let registry = Registry::new();
        let name = RelFork::new(RelFile::new(Oid(1663), Oid(5), Oid(99)), Fork::Main);
        let fork = registry.open(name, Persistence::Permanent, true);
        assert!(fork.is_permanent());
        registry.open(name, Persistence::Unlogged, false);
        assert!(!fork.is_permanent());
        registry.open(name, Persistence::Unlogged, false);
        let wrong = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            registry.open(name, Persistence::Permanent, false)
        }));
        assert!(wrong.is_err(), "a live fork changes its persistence");
    }

    #[test]
    fn entries_are_found_visited_and_retracted() {
        let registry = Registry::new();
        let rel = RelFile::new(Oid(1663), Oid(5), Oid(99));
        let fork = registry.open(RelFork::new(rel, Fork::Main), Persistence::Permanent, false);
        let blocks = [0, 7, 8, 1023, 1024, 70_000, 10_000_000];
        for (frame, block) in blocks.into_iter().enumerate() {
            assert_eq!(fork.lookup(BlockNo(block)), None);
            assert!(fork.publish(BlockNo(block), frame as u32));
            assert!(!fork.publish(BlockNo(block), 77));
            assert_eq!(fork.lookup(BlockNo(block)), Some(frame as u32));
        }
        let mut seen = Vec::new();
        fork.for_each(BlockNo(8), |block, frame| seen.push((block.0, frame)));
        assert_eq!(seen, [(8, 2), (1023, 3), (1024, 4), (70_000, 5), (10_000_000, 6)]);
        fork.retract(BlockNo(1024), 9);
        assert_eq!(fork.lookup(BlockNo(1024)), Some(4));
        fork.retract(BlockNo(1024), 4);
        assert_eq!(fork.lookup(BlockNo(1024)), None);
    }
}
