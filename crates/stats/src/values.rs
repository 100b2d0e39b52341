//! The counters of an entry: words in the order of PostgreSQL's structs, which is their order in
//! the statistics file. Times are in microseconds since 2000-01-01; 0 means never.
//!
//! Counterpart: `PgStat_StatTabEntry`, `PgStat_StatDBEntry`, `PgStat_StatFuncEntry` in pgstat.h.

use std::ops::{Index, IndexMut};

/// A struct of words that are named by an enum.
macro_rules! counters {
    ($(#[$doc:meta])* $name:ident, $field:ident, $count:literal, [$($variant:ident),* $(,)?]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub [i64; $count]);

        /// The number of a counter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum $field {
            $($variant),*
        }

        impl $name {
            pub const WORDS: usize = $count;
        }

        impl Default for $name {
            fn default() -> $name {
                $name([0; $count])
            }
        }

        impl Index<$field> for $name {
            type Output = i64;

            fn index(&self, field: $field) -> &i64 {
                &self.0[field as usize]
            }
        }

        impl IndexMut<$field> for $name {
            fn index_mut(&mut self, field: $field) -> &mut i64 {
                &mut self.0[field as usize]
            }
        }
    };
}

counters!(
    /// Counters of a table or an index. Of an index, `Returned` counts its entries and `Fetched`
    /// the rows that plain index scans fetched; of a table, `Returned` counts rows of sequential
    /// scans and `Fetched` those of bitmap scans.
    RelationStats,
    RelationField,
    21,
    [
        Scans,
        Returned,
        Fetched,
        Inserted,
        Updated,
        Deleted,
        HotUpdated,
        Live,
        Dead,
        ChangedSinceAnalyze,
        InsertedSinceVacuum,
        BlocksFetched,
        BlocksHit,
        VacuumTime,
        VacuumCount,
        AutovacuumTime,
        AutovacuumCount,
        AnalyzeTime,
        AnalyzeCount,
        AutoanalyzeTime,
        AutoanalyzeCount,
    ]
);

counters!(
    /// Counters of a database; those of shared relations belong to database 0. Block and session
    /// times are in microseconds.
    DatabaseStats,
    DatabaseField,
    30,
    [
        Commits,
        Rollbacks,
        BlocksFetched,
        BlocksHit,
        Returned,
        Fetched,
        Inserted,
        Updated,
        Deleted,
        AutovacuumTime,
        TablespaceConflicts,
        LockConflicts,
        SnapshotConflicts,
        BufferpinConflicts,
        DeadlockConflicts,
        TempFiles,
        TempBytes,
        Deadlocks,
        ChecksumFailures,
        ChecksumFailureTime,
        BlockReadTime,
        BlockWriteTime,
        Sessions,
        SessionTime,
        ActiveTime,
        IdleInTransactionTime,
        Abandoned,
        Fatal,
        Killed,
        ResetTime,
    ]
);

counters!(
    /// Counters of a function; times in microseconds.
    FunctionStats,
    FunctionField,
    3,
    [Calls, TotalTime, SelfTime]
);
