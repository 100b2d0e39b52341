//! The rule by which autovacuum decides from the counters of a table whether it needs VACUUM or
//! ANALYZE. Counterpart: `relation_needs_vacanalyze`, `autovac_balance_cost` in autovacuum.c.

use crate::values::{RelationField as R, RelationStats};

/// The settings `autovacuum_*`, or the storage parameters of a table in their place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    pub vacuum_rows: i32,
    pub vacuum_scale: f64,
    /// -1: insertions cause no VACUUM.
    pub insert_rows: i32,
    pub insert_scale: f64,
    pub analyze_rows: i32,
    pub analyze_scale: f64,
}

/// What a table needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub vacuum: bool,
    pub analyze: bool,
}

impl Thresholds {
    /// The decision for a table of `rows` rows by `pg_class.reltuples`. The arithmetic has single
    /// precision, as in PostgreSQL.
    pub fn needs(&self, stats: &RelationStats, rows: f32) -> Needs {
        // -1: the table was never vacuumed.
        let rows = rows.max(0.0);
        let limit = |base: i32, scale: f64| base as f32 + scale as f32 * rows;
        let exceeds = |field: R, base: i32, scale: f64| stats[field] as f32 > limit(base, scale);
        let dead = exceeds(R::Dead, self.vacuum_rows, self.vacuum_scale);
        let inserted = self.insert_rows >= 0
            && exceeds(R::InsertedSinceVacuum, self.insert_rows, self.insert_scale);
        Needs {
            vacuum: dead || inserted,
            analyze: exceeds(R::ChangedSinceAnalyze, self.analyze_rows, self.analyze_scale),
        }
    }
}

/// The cost limit of one worker, so that all workers together do not exceed the limit of the
/// settings. `workers`: the delays (milliseconds) and limits of all workers that share the costs,
/// of which `own` is one. Counterpart: `autovac_balance_cost`.
pub fn balanced_limit(own: (f64, i64), workers: &[(f64, i64)], delay: f64, limit: i64) -> i64 {
    if limit <= 0 || delay <= 0.0 {
        return own.1;
    }
    let rate = |(delay, limit): &(f64, i64)| if *delay > 0.0 { *limit as f64 / delay } else { 0.0 };
    let total: f64 = workers.iter().map(rate).sum();
    if total <= 0.0 {
        return own.1;
    }
    let available = limit as f64 / delay;
    let share = (available * own.1 as f64 / total) as i64;
    share.min(own.1).max(1)
}
