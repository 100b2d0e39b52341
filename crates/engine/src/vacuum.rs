//! VACUUM of one table: dead rows and their index entries go, old ids are frozen, the maps are brought
//! up to date, empty pages at the end are given back.
//!
//! Counterpart: vacuumlazy.c.

use crate::{Backend, IndexDesc, TableDesc};
use ids::{MultiXid, Xid};
use pgerror::{PgError, Result};
use std::time::Duration;
use sync::Arc;

/// What to do and how hard. The defaults are those of the settings.
#[derive(Clone, Debug)]
pub struct VacuumOptions {
    pub freeze_min_age: u32,
    pub freeze_table_age: u32,
    pub multixact_freeze_min_age: u32,
    pub multixact_freeze_table_age: u32,
    pub failsafe_age: u32,
    pub multixact_failsafe_age: u32,
    /// DISABLE_PAGE_SKIPPING.
    pub disable_page_skipping: bool,
    /// INDEX_CLEANUP: `None` is AUTO.
    pub index_cleanup: Option<bool>,
    pub truncate: bool,
    /// Bytes of dead TIDs kept in memory.
    pub maintenance_work_mem: usize,
    /// `vacuum_cost_delay`; zero is off.
    pub cost_delay: Duration,
    pub cost_limit: u32,
    pub is_autovacuum: bool,
    pub for_wraparound: bool,
    /// The table's `relfrozenxid` and `relminmxid` before.
    pub rel_frozen_xid: Xid,
    pub rel_min_mxid: MultiXid,
}

impl Default for VacuumOptions {
    fn default() -> VacuumOptions {
        VacuumOptions {
            freeze_min_age: 50_000_000,
            freeze_table_age: 150_000_000,
            multixact_freeze_min_age: 5_000_000,
            multixact_freeze_table_age: 150_000_000,
            failsafe_age: 1_600_000_000,
            multixact_failsafe_age: 1_600_000_000,
            disable_page_skipping: false,
            index_cleanup: None,
            truncate: true,
            maintenance_work_mem: 64 << 20,
            cost_delay: Duration::ZERO,
            cost_limit: 200,
            is_autovacuum: false,
            for_wraparound: false,
            rel_frozen_xid: Xid::INVALID,
            rel_min_mxid: MultiXid::INVALID,
        }
    }
}

/// What was done; the caller puts it into `pg_class`, statistics and the VERBOSE report.
#[derive(Clone, Debug, Default)]
pub struct VacuumResult {
    pub pages: u32,
    pub all_visible: u32,
    pub scanned_pages: u32,
    pub removed_pages: u32,
    pub frozen_pages: u32,
    pub live_tuples: f64,
    /// Estimate for the whole table, for `reltuples`.
    pub rel_tuples: f64,
    pub tuples_deleted: u64,
    pub recently_dead_tuples: u64,
    pub dead_items: u64,
    pub index_scans: u32,
    pub new_frozen_xid: Xid,
    pub new_min_mxid: MultiXid,
    /// By index: pages and entries afterwards, for its `pg_class` row.
    pub indexes: Vec<IndexVacuumResult>,
    pub failsafe: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct IndexVacuumResult {
    pub pages: u32,
    pub tuples: f64,
    pub tuples_removed: f64,
    pub pages_newly_deleted: u32,
    pub pages_deleted: u32,
    pub pages_free: u32,
    /// `tuples` is an estimate: leave the catalog's number alone.
    pub estimated: bool,
}

/// Vacuums the table; the caller holds ShareUpdateExclusive on it and a transaction of its own.
pub fn vacuum(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _indexes: &[Arc<IndexDesc>],
    _options: &VacuumOptions,
) -> Result<VacuumResult> {
    Err(PgError::unsupported("VACUUM"))
}
