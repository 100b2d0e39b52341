//! Buffer access strategies (rings), and the usage counts of an access.
//!
//! A large scan, COPY or VACUUM reuses a small ring of frames, so that it does not evict the pages
//! that others use. A ring frame is reused if it is not pinned and only the ring's owner has used
//! it; otherwise it leaves the ring and is replaced by a frame from the clock. A bulk-read frame
//! that would need a WAL flush also leaves. VACUUM and COPY keep theirs, and flush the log once for
//! all dirty frames of their ring.
//!
//! Counterpart: the strategy half of freelist.c.

use crate::frame::FrameNo;
use crate::pool::BufferPool;
use crate::session::PoolSession;
use std::time::Instant;
use sync::Arc;

/// Counts of one session (EXPLAIN BUFFERS, pg_stat_statements).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferUsage {
    pub hit: u64,
    pub read: u64,
    pub dirtied: u64,
    pub written: u64,
    /// Time of reads and writes in microseconds, if `track_io_timing` is on.
    pub read_time_us: u64,
    pub write_time_us: u64,
}

impl std::ops::AddAssign for BufferUsage {
    fn add_assign(&mut self, other: BufferUsage) {
        self.hit += other.hit;
        self.read += other.read;
        self.dirtied += other.dirtied;
        self.written += other.written;
        self.read_time_us += other.read_time_us;
        self.write_time_us += other.write_time_us;
    }
}

impl std::ops::Sub for BufferUsage {
    type Output = BufferUsage;

    /// The usage since `earlier`.
    fn sub(self, earlier: BufferUsage) -> BufferUsage {
        BufferUsage {
            hit: self.hit - earlier.hit,
            read: self.read - earlier.read,
            dirtied: self.dirtied - earlier.dirtied,
            written: self.written - earlier.written,
            read_time_us: self.read_time_us - earlier.read_time_us,
            write_time_us: self.write_time_us - earlier.write_time_us,
        }
    }
}

/// The microseconds since `begun`; 0 if that was not measured.
pub(crate) fn micros_since(begun: Option<Instant>) -> u64 {
    begun.map_or(0, |begun| begun.elapsed().as_micros() as u64)
}

/// The reads of pages among a [`BufferUsage`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageReads {
    /// Pages that were in the pool.
    pub hit: u64,
    /// Pages that were read from the file.
    pub read: u64,
}

impl BufferUsage {
    #[inline]
    pub fn reads(&self) -> PageReads {
        PageReads { hit: self.hit, read: self.read }
    }
}

impl std::ops::AddAssign for PageReads {
    #[inline]
    fn add_assign(&mut self, other: PageReads) {
        self.hit += other.hit;
        self.read += other.read;
    }
}

impl std::ops::Sub for PageReads {
    type Output = PageReads;

    /// The reads since `earlier`.
    #[inline]
    fn sub(self, earlier: PageReads) -> PageReads {
        PageReads { hit: self.hit - earlier.hit, read: self.read - earlier.read }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum RingKind {
    #[default]
    None,
    BulkRead,
    BulkWrite,
    Vacuum,
}

const EMPTY: FrameNo = FrameNo::MAX;
const KB: usize = 1024;

/// The default size of the ring of VACUUM in bytes.
pub const VACUUM_RING: usize = 256 * KB;

/// The access strategy of a caller that reads pages: the ring of a large scan, and the usage counts
/// (the caller sums them up and resets them). Counterpart: `BufferAccessStrategy`.
#[derive(Debug, Default)]
pub struct Strategy {
    pub usage: BufferUsage,
    kind: RingKind,
    slots: Vec<FrameNo>,
    current: usize,
    /// The session that reads; `None`: recovery, or a background worker.
    session: Option<Arc<PoolSession>>,
}

impl Strategy {
    /// No ring.
    pub fn normal() -> Strategy {
        Strategy::default()
    }

    /// No ring, for the given session.
    pub fn for_session(session: Arc<PoolSession>) -> Strategy {
        Strategy { session: Some(session), ..Strategy::default() }
    }

    /// The same strategy, for the session of `other`.
    #[must_use]
    pub fn like(mut self, other: &Strategy) -> Strategy {
        self.adopt_session(other);
        self
    }

    /// Adopts the session of `other` if it has none.
    #[inline]
    pub fn adopt_session(&mut self, other: &Strategy) {
        if self.session.is_none() {
            self.session.clone_from(&other.session);
        }
    }

    #[inline]
    pub fn session(&self) -> Option<&PoolSession> {
        self.session.as_deref()
    }

    /// A sequential scan of a table larger than a quarter of the pool: 256 KB.
    pub fn bulk_read(pool: &BufferPool) -> Strategy {
        Strategy::ring(pool, RingKind::BulkRead, 256 * KB)
    }

    /// COPY, CREATE TABLE AS: 16 MB, at most an eighth of the pool.
    pub fn bulk_write(pool: &BufferPool) -> Strategy {
        Strategy::ring(pool, RingKind::BulkWrite, 16 * KB * KB)
    }

    /// VACUUM and ANALYZE: this number of bytes, at most an eighth of the pool; 0: no ring.
    pub fn vacuum(pool: &BufferPool, bytes: usize) -> Strategy {
        match bytes {
            0 => Strategy::normal(),
            bytes => Strategy::ring(pool, RingKind::Vacuum, bytes),
        }
    }

    fn ring(pool: &BufferPool, kind: RingKind, bytes: usize) -> Strategy {
        if !pool.scan_rings() {
            return Strategy::normal();
        }
        let size = (bytes / page::PAGE_SIZE).min(pool.frames() / 8).max(1);
        Strategy { kind, slots: vec![EMPTY; size], ..Strategy::default() }
    }

    /// The time before a read or write, if its duration is to be measured.
    pub(crate) fn begin_io(&self) -> Option<Instant> {
        self.session.as_ref().filter(|session| session.times_io()).map(|_| sync::wait::now())
    }

    /// Frames of the ring; 0 without one.
    pub fn ring_size(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub(crate) fn kind(&self) -> RingKind {
        self.kind
    }

    /// Advances to the next slot and returns its frame.
    pub(crate) fn advance(&mut self) -> Option<FrameNo> {
        if self.slots.is_empty() {
            return None;
        }
        self.current = (self.current + 1) % self.slots.len();
        let frame = self.slots[self.current];
        (frame != EMPTY).then_some(frame)
    }

    /// Puts a frame into the current slot.
    pub(crate) fn put(&mut self, frame: FrameNo) {
        if !self.slots.is_empty() {
            self.slots[self.current] = frame;
        }
    }

    /// The frame of the current slot would need the log flushed: removes it from the ring if this
    /// is a bulk-read ring. True if it was removed.
    pub(crate) fn reject(&mut self, frame: FrameNo) -> bool {
        if self.kind != RingKind::BulkRead || self.slots[self.current] != frame {
            return false;
        }
        self.slots[self.current] = EMPTY;
        true
    }

    /// The frames in the order in which they will be reused.
    pub(crate) fn following(&self) -> impl Iterator<Item = FrameNo> {
        let (before, from) = self.slots.split_at(self.slots.len().min(self.current + 1));
        from.iter().chain(before).copied().take_while(|frame| *frame != EMPTY)
    }

    pub(crate) fn frames(&self) -> impl Iterator<Item = FrameNo> {
        self.slots.iter().copied().filter(|frame| *frame != EMPTY)
    }
}
