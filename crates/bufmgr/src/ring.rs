//! How an access wants its frames, and the count of what it did.

use crate::BufferPool;

/// Counts of one session (EXPLAIN BUFFERS, pg_stat_statements).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferUsage {
    pub hit: u64,
    pub read: u64,
    pub dirtied: u64,
    pub written: u64,
    pub read_time_us: u64,
    pub write_time_us: u64,
}

/// Carried by whoever reads pages: the ring of a large scan, and the session's counts (add them up and
/// reset as you like). Counterpart: `BufferAccessStrategy`.
#[derive(Debug, Default)]
pub struct Strategy {
    pub usage: BufferUsage,
}

impl Strategy {
    /// No ring.
    pub fn normal() -> Strategy {
        Strategy::default()
    }
    /// A sequential scan of a table larger than a quarter of the pool: 256 KB.
    pub fn bulk_read(_pool: &BufferPool) -> Strategy {
        todo!()
    }
    /// COPY, CREATE TABLE AS: 16 MB, at most an eighth of the pool.
    pub fn bulk_write(_pool: &BufferPool) -> Strategy {
        todo!()
    }
    /// VACUUM: 256 KB.
    pub fn vacuum(_pool: &BufferPool) -> Strategy {
        todo!()
    }
}
