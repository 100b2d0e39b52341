//! The times of the last resets of the shared counters, and their values at these times.

use engine::WalStats;

/// Counters of `pg_stat_bgwriter`, in the order of the view.
pub(crate) const BACKGROUND_COUNTERS: usize = 9;

/// Values of the counters at their last reset, and its time (microseconds since 2000-01-01).
#[derive(Default)]
pub(crate) struct Resets {
    pub(crate) wal: Option<(WalStats, i64)>,
    pub(crate) background: Option<([u64; BACKGROUND_COUNTERS], i64)>,
    pub(crate) archiver: Option<i64>,
}
