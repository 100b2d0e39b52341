//! Assignment of transaction ids and OIDs; limits that protect from wraparound.
//!
//! Counterpart: varsup.c.

use crate::manager::TxnManager;
use ids::{FullXid, Oid, Xid};
use lmgr::ProcNo;
use pgerror::{PgError, Result, Severity, pg_err};
use sync::Arc;
use sync::atomic::Ordering;
use sync::wait::Waiter;
use wal::{CheckPoint, RecordBuilder, RmgrId};

/// Info byte of an XLOG record that reserves OIDs.
const XLOG_NEXTOID: u8 = 0x30;
const OID_PREFETCH: u32 = 8192;
/// Number of ids assigned between two wake-ups of the autovacuum launcher.
const WAKE_EVERY: u32 = 65_536;
const HINT: &str = "You might also need to commit or roll back old prepared transactions, \
                    or drop stale replication slots.";

/// State of the id generator, protected by its mutex (`TxnManager::xid_gen`).
pub(crate) struct XidGen {
    pub(crate) oldest: Xid,
    pub(crate) oldest_db: Oid,
    pub(crate) vac_limit: Xid,
    warn_limit: Xid,
    stop_limit: Xid,
    wrap_limit: Xid,
    database_name: Option<Arc<dyn Fn(Oid) -> Option<String> + Send + Sync>>,
    /// Woken when ids are assigned past `vac_limit`.
    wake: Option<Arc<Waiter>>,
    /// Single-user mode: ids are assigned past the stop limit too.
    pub(crate) ignores_stop_limit: bool,
    builder: RecordBuilder,
}

impl XidGen {
    pub(crate) fn new() -> XidGen {
        XidGen {
            oldest: Xid::FIRST_NORMAL,
            oldest_db: Oid::INVALID,
            vac_limit: Xid::INVALID,
            warn_limit: Xid::INVALID,
            stop_limit: Xid::INVALID,
            wrap_limit: Xid::INVALID,
            database_name: None,
            wake: None,
            ignores_stop_limit: false,
            builder: RecordBuilder::new(RmgrId::Clog, 0),
        }
    }

    fn database(&self) -> String {
        let name = self.database_name.as_ref().and_then(|f| f(self.oldest_db));
        name.map_or_else(|| format!("with OID {}", self.oldest_db), |n| format!("\"{n}\""))
    }

    fn check(&self, xid: Xid, warn: &mut dyn FnMut(PgError)) -> Result<()> {
        if !self.vac_limit.is_valid() || xid.precedes(self.vac_limit) {
            return Ok(());
        }
        if xid.0.is_multiple_of(WAKE_EVERY)
            && let Some(waiter) = &self.wake
        {
            waiter.wake();
        }
        if xid.follows_or_equals(self.stop_limit) && !self.ignores_stop_limit {
            return Err(pg_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "database is not accepting commands to avoid wraparound data loss in database {}",
                self.database()
            )
            .hint(format!(
                "Stop the postmaster and vacuum that database in single-user mode.\n{HINT}"
            )));
        }
        if let Some(warning) = self.warning(xid) {
            warn(warning);
        }
        Ok(())
    }

    /// The warning to issue when `xid` is assigned.
    fn warning(&self, xid: Xid) -> Option<PgError> {
        if !self.warn_limit.is_valid() || !xid.follows_or_equals(self.warn_limit) {
            return None;
        }
        let left = self.wrap_limit.0.wrapping_sub(xid.0);
        let message =
            format!("database {} must be vacuumed within {left} transactions", self.database());
        Some(pg_err!(WARNING, "{message}").severity(Severity::Warning).hint(format!(
            "To avoid a database shutdown, execute a database-wide VACUUM in that database.\n{HINT}"
        )))
    }
}

#[derive(Default)]
pub(crate) struct OidGen {
    next: Oid,
    /// Number of OIDs from `next` on that a NEXTOID record has reserved.
    left: u32,
    builder: Option<RecordBuilder>,
}

impl OidGen {
    pub(crate) fn for_checkpoint(&self, shutdown: bool) -> Oid {
        if shutdown { self.next } else { Oid(self.next.0.wrapping_add(self.left)) }
    }
}

impl TxnManager {
    /// Assigns a new id and publishes it in the session's slot. `sub`: for a subtransaction.
    /// Counterpart: `GetNewTransactionId`.
    pub(crate) fn new_xid(
        &self,
        proc: ProcNo,
        sub: bool,
        warn: &mut dyn FnMut(PgError),
    ) -> Result<FullXid> {
        if self.wal.in_recovery() {
            return Err(pg_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot assign TransactionIds during recovery"
            ));
        }
        let mut xids = self.xid_gen.lock();
        let full = self.next_full_xid();
        let xid = full.xid();
        xids.check(xid, warn)?;
        // The status files are extended before the id is used; a crash in between is harmless.
        self.clog.extend(xid, &mut xids.builder)?;
        self.subtrans.extend(xid)?;
        self.next_xid.store(full.next().0, Ordering::Release);
        if sub {
            self.procs.add_subxid(proc, xid);
        } else {
            self.procs.set_xid(proc, xid);
        }
        Ok(full)
    }

    pub fn set_next_full_xid(&self, next: FullXid) {
        self.next_xid.store(next.0, Ordering::Release);
    }

    /// Makes the next id come after `xid`, which replay has read. Counterpart:
    /// `AdvanceNextFullTransactionIdPastXid`.
    pub fn advance_next_xid_past(&self, xid: Xid) {
        let next = self.next_full_xid();
        if xid.is_normal() && xid.follows_or_equals(next.xid()) {
            let full = crate::procarray::widen(next, xid);
            self.set_next_full_xid(full.next());
        }
    }

    /// Sets the function that finds the database name for wraparound messages.
    pub fn set_database_names(&self, names: Arc<dyn Fn(Oid) -> Option<String> + Send + Sync>) {
        self.xid_gen.lock().database_name = Some(names);
    }

    /// Sets the waiter to wake when ids are assigned past the limit at which autovacuum must act.
    pub fn set_wraparound_waiter(&self, waiter: Arc<Waiter>) {
        self.xid_gen.lock().wake = Some(waiter);
    }

    /// Allows ids past the stop limit, for single-user mode.
    pub fn ignore_stop_limit(&self) {
        self.xid_gen.lock().ignores_stop_limit = true;
    }

    /// True if the next id has reached the stop limit, so that none is assigned.
    pub fn is_stopped(&self) -> bool {
        let xids = self.xid_gen.lock();
        let next = self.next_full_xid().xid();
        xids.stop_limit.is_valid()
            && next.follows_or_equals(xids.stop_limit)
            && !xids.ignores_stop_limit
    }

    /// The warning that the assignment of the next id would issue.
    pub fn wraparound_warning(&self) -> Option<PgError> {
        self.xid_gen.lock().warning(self.next_full_xid().xid())
    }

    /// Computes the limits from the oldest id that any table may contain.
    /// Counterpart: `SetTransactionIdLimit`.
    pub fn set_xid_limit(&self, oldest: Xid, database: Oid) {
        let back = |xid: Xid, by: u32| {
            let n = xid.0.wrapping_sub(by);
            Xid(if n < 3 { n.wrapping_sub(3) } else { n })
        };
        let ahead = |xid: Xid, by: u32| {
            let n = xid.0.wrapping_add(by);
            Xid(if n < 3 { n + 3 } else { n })
        };
        let mut xids = self.xid_gen.lock();
        let wrap = ahead(oldest, u32::MAX >> 1);
        xids.oldest = oldest;
        xids.oldest_db = database;
        xids.wrap_limit = wrap;
        xids.stop_limit = back(wrap, 3_000_000);
        xids.warn_limit = back(wrap, 40_000_000);
        xids.vac_limit = ahead(oldest, self.config.autovacuum_freeze_max_age);
    }

    /// Oldest id whose status pg_xact keeps, and the database that holds it back.
    pub fn oldest_xid(&self) -> (Xid, Oid) {
        let xids = self.xid_gen.lock();
        (xids.oldest, xids.oldest_db)
    }

    /// True if autovacuum must run to prevent wraparound of transaction ids.
    pub fn needs_wraparound_vacuum(&self) -> bool {
        let limit = self.xid_gen.lock().vac_limit;
        limit.is_valid() && self.next_full_xid().xid().follows_or_equals(limit)
    }

    /// Age in multixacts at which autovacuum must freeze: the setting
    /// `autovacuum_multixact_freeze_max_age`, or less if member numbers are running out.
    /// Counterpart: `MultiXactMemberFreezeThreshold`.
    pub fn multixact_freeze_max_age(&self) -> u32 {
        const SAFE: u32 = u32::MAX / 2;
        const DANGER: u32 = u32::MAX - u32::MAX / 4;
        let most = self.config.autovacuum_multixact_freeze_max_age;
        let (multixacts, members) = self.multis.counts();
        if members <= SAFE {
            return most;
        }
        let fraction = f64::from(members - SAFE) / f64::from(DANGER - SAFE);
        let victims = (f64::from(multixacts) * fraction) as u32;
        multixacts.saturating_sub(victims).min(most)
    }

    /// True if autovacuum must run to prevent wraparound of multixacts.
    pub fn needs_multixact_vacuum(&self) -> bool {
        let limit = self.multis.state().oldest.0.wrapping_add(self.multixact_freeze_max_age());
        !self.next_multixact().precedes(ids::MultiXid(limit.max(1)))
    }

    /// Truncates the status files and advances the limits, given the oldest ids in any database.
    /// Counterpart: the end of `vac_truncate_clog`.
    pub fn truncate_status(
        &self,
        oldest: Xid,
        oldest_db: Oid,
        oldest_multi: ids::MultiXid,
        multi_db: Oid,
    ) -> Result<()> {
        let mut builder = RecordBuilder::new(RmgrId::Clog, 0);
        // Advanced first, so that no session looks up a status that is about to be removed.
        {
            let mut xids = self.xid_gen.lock();
            if xids.oldest.precedes(oldest) {
                xids.oldest = oldest;
                xids.oldest_db = oldest_db;
            }
        }
        self.clog.truncate(oldest, oldest_db, &mut builder)?;
        self.multis.truncate(oldest_multi, multi_db, &mut builder)?;
        self.set_xid_limit(oldest, oldest_db);
        let age = self.config.autovacuum_multixact_freeze_max_age;
        self.multis.set_limit(oldest_multi, multi_db, age)
    }

    /// Assigns an OID. After a wraparound it may be in use; the caller checks.
    /// WAL: `NEXTOID` once per 8,192 OIDs. Counterpart: `GetNewObjectId`.
    pub fn new_oid(&self) -> Result<Oid> {
        let mut oids = self.oids.lock();
        if oids.next < Oid::FIRST_NORMAL {
            // A wraparound, or a new cluster.
            oids.next = Oid::FIRST_NORMAL;
            oids.left = 0;
        }
        if oids.left == 0 {
            let next = oids.next.0.wrapping_add(OID_PREFETCH);
            let mut builder =
                oids.builder.take().unwrap_or_else(|| RecordBuilder::new(RmgrId::Xlog, 0));
            builder.reset(RmgrId::Xlog, XLOG_NEXTOID);
            builder.main(&next.to_le_bytes());
            self.wal.insert(&mut builder, &[], Xid::INVALID)?;
            oids.builder = Some(builder);
            oids.left = OID_PREFETCH;
        }
        let oid = oids.next;
        oids.next = Oid(oid.0.wrapping_add(1));
        oids.left -= 1;
        Ok(oid)
    }

    /// Sets the next OID, from a checkpoint or a `NEXTOID` record.
    pub fn set_next_oid(&self, next: Oid) {
        let mut oids = self.oids.lock();
        oids.next = next;
        oids.left = 0;
    }

    /// The next OID to be assigned.
    pub fn next_oid(&self) -> Oid {
        self.oids.lock().next
    }

    /// Replay of a checkpoint record. Counterpart: the checkpoint parts of `xlog_redo`.
    pub fn redo_checkpoint(&self, cp: &CheckPoint, shutdown: bool) -> Result<()> {
        if shutdown || self.next_full_xid() < cp.next_xid {
            self.set_next_full_xid(cp.next_xid);
        }
        if shutdown {
            // Only the OID of a shutdown checkpoint is exact. Otherwise NEXTOID records count.
            self.set_next_oid(cp.next_oid);
        }
        self.multis.advance_next(cp.next_multi, cp.next_multi_offset);
        let age = self.config.autovacuum_multixact_freeze_max_age;
        self.multis.advance_oldest(cp.oldest_multi, cp.oldest_multi_db, age)?;
        let (oldest, _) = self.oldest_xid();
        if shutdown || oldest.precedes(cp.oldest_xid) {
            self.set_xid_limit(cp.oldest_xid, cp.oldest_xid_db);
        }
        Ok(())
    }
}
