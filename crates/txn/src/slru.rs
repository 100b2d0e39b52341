//! SLRU, the page cache of pg_xact, pg_subtrans and pg_multixact. A set-associative cache:
//! page number modulo the number of sets, eight ways per set.
//!
//! A read of a word of a resident page takes no lock: it reads the way's tag, the word, and the
//! tag again. All changes, loads and evictions of a set's pages are made under that set's mutex.
//!
//! ```text
//! tag: version (40 bits) | page number + 1 (24 bits); 0 in the lower part: empty
//! ```
//!
//! INVARIANT: a way is loaded with another page only while its tag is empty, and the version grows
//! each time the tag is emptied, so that a reader never mixes two pages.
//!
//! WAL: before a page is written, the log is flushed up to the largest LSN noted for it
//! (asynchronous commits).
//!
//! Counterpart: slru.c.

use ids::Lsn;
use pgerror::{PgError, Result, Severity};
use std::collections::BTreeSet;
use std::io;
use std::sync::OnceLock;
use sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use sync::{Arc, Mutex, MutexGuard};
use vfs::{Disk, OpenMode};
use wal::Wal;

pub(crate) const PAGE_BYTES: usize = 8192;
const WORDS: usize = PAGE_BYTES / 8;
pub(crate) const PAGES_PER_SEGMENT: u32 = 32;
const WAYS: usize = 8;
const PAGE_MASK: u64 = (1 << 24) - 1;

/// One cached page. Each word holds 8 bytes of the file, little-endian.
pub(crate) struct Way {
    tag: AtomicU64,
    dirty: AtomicBool,
    /// The set's clock at the last use.
    used: AtomicU32,
    words: OnceLock<Box<[AtomicU64]>>,
    /// LSNs of the newest asynchronous commits, by group of ids.
    lsns: OnceLock<Box<[AtomicU64]>>,
}

struct Set {
    latch: Mutex<()>,
    clock: AtomicU32,
    ways: [Way; WAYS],
}

pub(crate) struct Slru {
    disk: Arc<dyn Disk>,
    wal: Arc<Wal>,
    dir: &'static str,
    sets: Box<[Set]>,
    /// Number of LSNs per page; 0 where there are no asynchronous commits.
    groups: usize,
    precedes: fn(u32, u32) -> bool,
    /// True if the pages must survive a crash; not those of pg_subtrans.
    durable: bool,
    latest_page: AtomicU32,
    unsynced: Mutex<BTreeSet<u32>>,
}

/// A page held under its set's mutex.
pub(crate) struct Held<'a> {
    way: &'a Way,
    _latch: MutexGuard<'a, ()>,
}

impl Way {
    fn page(&self) -> Option<u32> {
        match self.tag.load(Ordering::Relaxed) & PAGE_MASK {
            0 => None,
            n => Some(n as u32 - 1),
        }
    }

    fn words(&self) -> &[AtomicU64] {
        self.words.get_or_init(|| (0..WORDS).map(|_| AtomicU64::new(0)).collect())
    }

    /// Empties the way. A concurrent reader sees that the tag has changed and retries.
    fn close(&self) {
        let tag = self.tag.load(Ordering::Relaxed);
        self.tag.store((tag & !PAGE_MASK).wrapping_add(PAGE_MASK + 1), Ordering::Relaxed);
        fence(Ordering::Release);
    }

    fn open(&self, page: u32) {
        let version = self.tag.load(Ordering::Relaxed) & !PAGE_MASK;
        self.tag.store(version | u64::from(page + 1), Ordering::Release);
    }

    fn fill(&self, bytes: &[u8; PAGE_BYTES]) {
        for (word, chunk) in self.words().iter().zip(bytes.as_chunks::<8>().0) {
            word.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
        }
        self.clear_lsns();
    }

    fn clear_lsns(&self) {
        if let Some(lsns) = self.lsns.get() {
            lsns.iter().for_each(|l| l.store(0, Ordering::Relaxed));
        }
    }

    fn copy(&self) -> Box<[u8; PAGE_BYTES]> {
        let mut out = Box::new([0; PAGE_BYTES]);
        for (word, chunk) in self.words().iter().zip(out.as_chunks_mut::<8>().0) {
            *chunk = word.load(Ordering::Relaxed).to_le_bytes();
        }
        out
    }

    fn max_lsn(&self) -> Lsn {
        let lsns = self.lsns.get();
        Lsn(lsns.map_or(0, |l| l.iter().map(|l| l.load(Ordering::Relaxed)).max().unwrap_or(0)))
    }
}

impl Held<'_> {
    pub(crate) fn u8(&self, offset: usize) -> u8 {
        (self.way.words()[offset / 8].load(Ordering::Relaxed) >> (offset % 8 * 8)) as u8
    }

    /// `offset` is a multiple of four.
    pub(crate) fn set_u32(&self, offset: usize, value: u32) {
        self.set_bits(offset, u64::from(u32::MAX), u64::from(value));
    }

    pub(crate) fn set_u8(&self, offset: usize, value: u8) {
        self.set_bits(offset, 0xFF, u64::from(value));
    }

    fn set_bits(&self, offset: usize, mask: u64, value: u64) {
        let shift = offset % 8 * 8;
        let word = &self.way.words()[offset / 8];
        let old = word.load(Ordering::Relaxed);
        // Release: a reader that sees the bits also sees the LSN noted before.
        word.store(old & !(mask << shift) | value << shift, Ordering::Release);
        self.way.dirty.store(true, Ordering::Relaxed);
    }

    pub(crate) fn zero_from(&self, offset: usize) {
        for at in offset..PAGE_BYTES {
            if at % 8 == 0 {
                self.way.words()[at / 8..].iter().for_each(|w| w.store(0, Ordering::Relaxed));
                break;
            }
            self.set_u8(at, 0);
        }
        self.way.dirty.store(true, Ordering::Relaxed);
    }

    /// Notes that the group's newest commit record ends at `lsn`.
    pub(crate) fn raise_lsn(&self, groups: usize, group: usize, lsn: Lsn) {
        let lsns = self.way.lsns.get_or_init(|| (0..groups).map(|_| AtomicU64::new(0)).collect());
        lsns[group].fetch_max(lsn.0, Ordering::Relaxed);
    }
}

impl Slru {
    /// `pages` is the size of the cache, `groups` the number of LSNs per page.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        wal: Arc<Wal>,
        dir: &'static str,
        pages: usize,
        groups: usize,
        durable: bool,
        precedes: fn(u32, u32) -> bool,
    ) -> Slru {
        let way = || Way {
            tag: AtomicU64::new(0),
            dirty: AtomicBool::new(false),
            used: AtomicU32::new(0),
            words: OnceLock::new(),
            lsns: OnceLock::new(),
        };
        let set = || Set {
            latch: Mutex::new(()),
            clock: AtomicU32::new(1),
            ways: std::array::from_fn(|_| way()),
        };
        Slru {
            disk,
            wal,
            dir,
            sets: (0..pages.div_ceil(WAYS).max(1)).map(|_| set()).collect(),
            groups,
            precedes,
            durable,
            latest_page: AtomicU32::new(0),
            unsynced: Mutex::new(BTreeSet::new()),
        }
    }

    pub(crate) fn set_latest_page(&self, page: u32) {
        self.latest_page.store(page, Ordering::Relaxed);
    }

    fn set(&self, page: u32) -> &Set {
        &self.sets[page as usize % self.sets.len()]
    }

    /// The aligned 8 bytes that contain `offset`, and the LSN of `group`. Lock-free if the page is
    /// resident. `subject` names the object that is looked up, for the error.
    pub(crate) fn read(
        &self,
        page: u32,
        offset: usize,
        group: Option<usize>,
        subject: &dyn Fn() -> String,
    ) -> Result<(u64, Lsn)> {
        let set = self.set(page);
        for way in &set.ways {
            let tag = way.tag.load(Ordering::Acquire);
            if tag & PAGE_MASK != u64::from(page + 1) {
                continue;
            }
            let word = way.words()[offset / 8].load(Ordering::Acquire);
            let lsn = group_lsn(way, group);
            fence(Ordering::Acquire);
            if way.tag.load(Ordering::Relaxed) == tag {
                let clock = set.clock.load(Ordering::Relaxed);
                if way.used.load(Ordering::Relaxed) != clock {
                    way.used.store(clock, Ordering::Relaxed);
                }
                return Ok((word, lsn));
            }
        }
        let held = self.hold(page, subject)?;
        let word = held.way.words()[offset / 8].load(Ordering::Relaxed);
        Ok((word, group_lsn(held.way, group)))
    }

    /// Locks the page for changing or reading several fields; loads it if it is not resident.
    pub(crate) fn hold(&self, page: u32, subject: &dyn Fn() -> String) -> Result<Held<'_>> {
        let set = self.set(page);
        let latch = set.latch.lock();
        if let Some(way) = set.find(page) {
            return Ok(Held { way, _latch: latch });
        }
        let way = self.vacate(set)?;
        way.close();
        let bytes = self.read_file(page, subject)?;
        way.fill(&bytes);
        way.dirty.store(false, Ordering::Relaxed);
        way.open(page);
        Ok(Held { way, _latch: latch })
    }

    /// Adds or resets a page of zeros, dirty.
    pub(crate) fn zero_page(&self, page: u32) -> Result<Held<'_>> {
        let set = self.set(page);
        let latch = set.latch.lock();
        let way = match set.find(page) {
            Some(way) => way,
            None => self.vacate(set)?,
        };
        way.close();
        way.words().iter().for_each(|w| w.store(0, Ordering::Relaxed));
        way.clear_lsns();
        way.dirty.store(true, Ordering::Relaxed);
        way.used.store(set.clock.load(Ordering::Relaxed), Ordering::Relaxed);
        way.open(page);
        self.latest_page.store(page, Ordering::Relaxed);
        Ok(Held { way, _latch: latch })
    }

    /// True if the page is on disk or in the cache. Counterpart: `SimpleLruDoesPhysicalPageExist`.
    pub(crate) fn page_exists(&self, page: u32) -> Result<bool> {
        if self.set(page).find(page).is_some() {
            return Ok(true);
        }
        let path = self.path(page / PAGES_PER_SEGMENT);
        match self.disk.stat(&path) {
            Ok(stat) => Ok(stat.len >= (page_offset(page) + PAGE_BYTES as u64)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(vfs::io_error("stat file", &path, &e)),
        }
    }

    /// Evicts the least recently used page of the set, after writing it if dirty; the empty way.
    fn vacate<'a>(&self, set: &'a Set) -> Result<&'a Way> {
        let clock = set.clock.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let latest = self.latest_page.load(Ordering::Relaxed);
        let age = |way: &&Way| match way.page() {
            None => u32::MAX,
            Some(page) if page == latest => 0,
            Some(_) => clock.wrapping_sub(way.used.load(Ordering::Relaxed)),
        };
        let way = set.ways.iter().max_by_key(age).expect("a set has ways");
        if let Some(page) = way.page()
            && way.dirty.load(Ordering::Relaxed)
        {
            self.write(way, page)?;
        }
        way.close();
        way.used.store(clock, Ordering::Relaxed);
        Ok(way)
    }

    fn path(&self, segment: u32) -> String {
        format!("{}/{segment:04X}", self.dir)
    }

    fn read_file(&self, page: u32, subject: &dyn Fn() -> String) -> Result<Box<[u8; PAGE_BYTES]>> {
        let path = self.path(page / PAGES_PER_SEGMENT);
        let offset = page_offset(page);
        let mut bytes = Box::new([0; PAGE_BYTES]);
        let file = match self.disk.open(&path, OpenMode::Read) {
            Ok(file) => file,
            // Replay may read ids whose segment was removed later in the log.
            Err(e) if e.kind() == io::ErrorKind::NotFound && self.wal.in_recovery() => {
                return Ok(bytes);
            }
            Err(e) => {
                return Err(self.failure(subject, &format!("Could not open file \"{path}\""), &e));
            }
        };
        match file.read_exact_at(&mut bytes[..], offset) {
            Ok(()) => Ok(bytes),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && self.wal.in_recovery() => {
                bytes.fill(0);
                Ok(bytes)
            }
            Err(e) => {
                let what = format!("Could not read from file \"{path}\" at offset {offset}");
                Err(self.failure(subject, &what, &e))
            }
        }
    }

    fn failure(&self, subject: &dyn Fn() -> String, what: &str, e: &io::Error) -> PgError {
        let reason = if e.kind() == io::ErrorKind::UnexpectedEof {
            "read too few bytes".to_owned()
        } else {
            vfs::strerror(e)
        };
        PgError::new(vfs::sqlstate_for(e), format!("could not access status of {}", subject()))
            .detail(format!("{what}: {reason}."))
    }

    /// Writes the page; the caller holds the set's mutex.
    fn write(&self, way: &Way, page: u32) -> Result<()> {
        let lsn = way.max_lsn();
        if lsn.is_valid() && !self.wal.in_recovery() {
            self.wal.flush(lsn)?;
        }
        way.dirty.store(false, Ordering::Relaxed);
        let result = self.write_file(page, &way.copy()[..]);
        if result.is_err() {
            way.dirty.store(true, Ordering::Relaxed);
        }
        result
    }

    fn write_file(&self, page: u32, bytes: &[u8]) -> Result<()> {
        let segment = page / PAGES_PER_SEGMENT;
        let path = self.path(segment);
        let file = self
            .disk
            .open(&path, OpenMode::Create)
            .map_err(|e| vfs::io_error("open file", &path, &e))?;
        file.write_all_at(bytes, page_offset(page))
            .map_err(|e| vfs::io_error("write to file", &path, &e))?;
        if self.durable {
            self.unsynced.lock().insert(segment);
        }
        Ok(())
    }

    /// Writes the page if it is resident and dirty.
    pub(crate) fn write_page(&self, page: u32) -> Result<()> {
        let set = self.set(page);
        let _latch = set.latch.lock();
        match set.find(page) {
            Some(way) if way.dirty.load(Ordering::Relaxed) => self.write(way, page),
            _ => Ok(()),
        }
    }

    /// Writes all dirty pages and makes them durable. Counterpart: `SimpleLruWriteAll` and the
    /// fsync requests that it leaves to the checkpoint.
    pub(crate) fn checkpoint(&self) -> Result<()> {
        for set in &self.sets {
            for way in &set.ways {
                if !way.dirty.load(Ordering::Relaxed) {
                    continue;
                }
                // The log is flushed before the mutex is taken, so that the flush under it is
                // short.
                let lsn = way.max_lsn();
                if lsn.is_valid() && !self.wal.in_recovery() {
                    self.wal.flush(lsn)?;
                }
                let _latch = set.latch.lock();
                if let Some(page) = way.page()
                    && way.dirty.load(Ordering::Relaxed)
                {
                    self.write(way, page)?;
                }
            }
        }
        self.sync()
    }

    fn sync(&self) -> Result<()> {
        let segments = std::mem::take(&mut *self.unsynced.lock());
        if segments.is_empty() {
            return Ok(());
        }
        for segment in segments {
            let path = self.path(segment);
            let synced = match self.disk.open(&path, OpenMode::ReadWrite) {
                Ok(file) => file.sync_data(),
                // Removed by a truncation in the meantime.
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(e) => Err(e),
            };
            synced.map_err(|e| vfs::io_error("fsync file", &path, &e).severity(Severity::Panic))?;
        }
        self.disk
            .sync_dir(self.dir)
            .map_err(|e| vfs::io_error("fsync file", self.dir, &e).severity(Severity::Panic))
    }

    /// True if [`Slru::truncate`] would remove anything.
    pub(crate) fn can_truncate(&self, cutoff: u32) -> Result<bool> {
        Ok(self.segments()?.iter().any(|s| self.may_delete(*s, cutoff)))
    }

    /// Removes the segments all of whose pages are before `cutoff`.
    /// Counterpart: `SimpleLruTruncate`.
    pub(crate) fn truncate(&self, cutoff: u32) -> Result<()> {
        if (self.precedes)(self.latest_page.load(Ordering::Relaxed), cutoff) {
            // Apparent wraparound: nothing is removed.
            return Ok(());
        }
        for set in &self.sets {
            let _latch = set.latch.lock();
            for way in &set.ways {
                if let Some(page) = way.page()
                    && (self.precedes)(page, cutoff)
                {
                    // The segment may be kept because of its later pages, so write this one.
                    if way.dirty.load(Ordering::Relaxed) {
                        self.write(way, page)?;
                    }
                    way.close();
                }
            }
        }
        for segment in self.segments()? {
            if self.may_delete(segment, cutoff) {
                self.delete_segment(segment)?;
            }
        }
        Ok(())
    }

    pub(crate) fn delete_segment(&self, segment: u32) -> Result<()> {
        self.unsynced.lock().remove(&segment);
        let path = self.path(segment);
        match self.disk.unlink(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(vfs::io_error("remove file", &path, &e))
            }
            _ => Ok(()),
        }
    }

    /// Drops the cached pages of a segment without writing them.
    pub(crate) fn forget_segment(&self, segment: u32) {
        for set in &self.sets {
            let _latch = set.latch.lock();
            for way in &set.ways {
                if way.page().is_some_and(|p| p / PAGES_PER_SEGMENT == segment) {
                    way.dirty.store(false, Ordering::Relaxed);
                    way.close();
                }
            }
        }
    }

    fn may_delete(&self, segment: u32, cutoff: u32) -> bool {
        let first = segment * PAGES_PER_SEGMENT;
        (self.precedes)(first, cutoff) && (self.precedes)(first + PAGES_PER_SEGMENT - 1, cutoff)
    }

    /// Numbers of the existing segment files.
    pub(crate) fn segments(&self) -> Result<Vec<u32>> {
        let entries =
            self.disk.list(self.dir).map_err(|e| vfs::io_error("open directory", self.dir, &e))?;
        let hex = |name: &str| {
            let good = (4..=6).contains(&name.len())
                && name.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b));
            if good { u32::from_str_radix(name, 16).ok() } else { None }
        };
        Ok(entries.iter().filter_map(|e| hex(&e.name)).collect())
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups
    }
}

impl Set {
    fn find(&self, page: u32) -> Option<&Way> {
        self.ways.iter().find(|w| w.page() == Some(page))
    }
}

fn group_lsn(way: &Way, group: Option<usize>) -> Lsn {
    match (group, way.lsns.get()) {
        (Some(group), Some(lsns)) => Lsn(lsns[group].load(Ordering::Relaxed)),
        _ => Lsn::INVALID,
    }
}

fn page_offset(page: u32) -> u64 {
    u64::from(page % PAGES_PER_SEGMENT) * PAGE_BYTES as u64
}
