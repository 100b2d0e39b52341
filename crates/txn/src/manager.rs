//! [`TxnManager`], the instance-wide state of transactions: status look-ups, horizons, start-up
//! and checkpoints.
//!
//! Counterpart: transam.c, subtrans.c, the horizon part of procarray.c.

use crate::clog::Clog;
use crate::multixact::MultiXacts;
use crate::multixact::{Members, MultiXactMember};
use crate::procarray::{Found, ProcArray, widen};
use crate::subtrans::Subtrans;
use crate::varsup::{OidGen, XidGen};
use ids::{FullXid, Lsn, MultiXid, Oid, Xid};
use lmgr::{LockManager, ProcNo};
use pgerror::{PgError, Result};
use sync::atomic::{AtomicU64, Ordering};
use sync::{Arc, Mutex};
use vfs::Env;
use wal::{CheckPoint, Wal};

/// The two bits that pg_xact keeps for an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum XidStatus {
    InProgress = 0,
    Committed = 1,
    Aborted = 2,
    /// A committed subtransaction whose top-level transaction is not yet known to have committed.
    SubCommitted = 3,
}

/// Sizes and settings that are fixed at start.
#[derive(Clone, Debug)]
pub struct TxnConfig {
    /// Sessions and workers together.
    pub slots: usize,
    /// `max_prepared_transactions`: slots of prepared transactions, after those of sessions.
    pub prepared_slots: usize,
    /// Cached pages of pg_xact and of pg_subtrans.
    pub clog_pages: usize,
    pub subtrans_pages: usize,
    pub autovacuum_freeze_max_age: u32,
    pub autovacuum_multixact_freeze_max_age: u32,
}

impl Default for TxnConfig {
    fn default() -> TxnConfig {
        TxnConfig {
            slots: 128,
            prepared_slots: 0,
            clog_pages: 128,
            subtrans_pages: 32,
            autovacuum_freeze_max_age: 200_000_000,
            autovacuum_multixact_freeze_max_age: 400_000_000,
        }
    }
}

/// Shared by all sessions as `Arc<TxnManager>`.
pub struct TxnManager {
    pub(crate) env: Env,
    pub(crate) wal: Arc<Wal>,
    pub(crate) locks: Arc<LockManager>,
    pub(crate) config: TxnConfig,
    pub(crate) clog: Clog,
    pub(crate) subtrans: Subtrans,
    pub(crate) multis: MultiXacts,
    pub(crate) procs: ProcArray,
    pub(crate) xid_gen: Mutex<XidGen>,
    pub(crate) next_xid: AtomicU64,
    pub(crate) oids: Mutex<OidGen>,
}

impl TxnManager {
    /// Reads nothing; [`TxnManager::startup`] follows (or [`TxnManager::bootstrap`]).
    pub fn new(
        env: Env,
        wal: Arc<Wal>,
        locks: Arc<LockManager>,
        config: TxnConfig,
    ) -> Arc<TxnManager> {
        let disk = env.disk.clone();
        Arc::new(TxnManager {
            clog: Clog::new(disk.clone(), wal.clone(), config.clog_pages),
            subtrans: Subtrans::new(disk.clone(), wal.clone(), config.subtrans_pages),
            multis: MultiXacts::new(disk, wal.clone()),
            procs: ProcArray::new(config.slots, config.prepared_slots),
            xid_gen: Mutex::new(XidGen::new()),
            next_xid: AtomicU64::new(3),
            oids: Mutex::new(OidGen::default()),
            env,
            wal,
            locks,
            config,
        })
    }

    /// `autovacuum_freeze_max_age` and `autovacuum_multixact_freeze_max_age`.
    pub fn freeze_max_ages(&self) -> (u32, u32) {
        let c = &self.config;
        (c.autovacuum_freeze_max_age, c.autovacuum_multixact_freeze_max_age)
    }

    pub fn wal(&self) -> &Arc<Wal> {
        &self.wal
    }

    pub fn locks(&self) -> &Arc<LockManager> {
        &self.locks
    }

    /// The status in pg_xact. Transactions that a crash ended stay in progress there. Permanent
    /// ids count as committed.
    pub fn status(&self, xid: Xid) -> Result<XidStatus> {
        if !xid.is_normal() {
            return Ok(if xid.is_valid() { XidStatus::Committed } else { XidStatus::Aborted });
        }
        Ok(self.clog.get(xid)?.0)
    }

    /// True if `xid`, or the top-level transaction it belongs to, is running in any session,
    /// including the caller's. Counterpart: `TransactionIdIsInProgress`.
    ///
    /// INVARIANT: callers that need both answers call this before [`Self::did_commit`]. A commit
    /// sets pg_xact before it leaves the proc array, so the reverse order could find a transaction
    /// neither committed nor running.
    pub fn is_in_progress(&self, xid: Xid) -> Result<bool> {
        if !xid.is_normal() {
            return Ok(false);
        }
        let parents = match self.procs.find(xid) {
            Found::Running => return Ok(true),
            Found::No => return Ok(false),
            Found::Perhaps(parents) => parents,
        };
        // Perhaps a subtransaction that did not fit into its session's slot.
        if self.did_abort(xid)? {
            return Ok(false);
        }
        let top = self.topmost_parent(xid, Xid::FIRST_NORMAL)?;
        Ok(top != xid && parents.contains(&top))
    }

    /// True if `xid` and all its parents committed. Counterpart: `TransactionIdDidCommit`.
    #[inline]
    pub fn did_commit(&self, xid: Xid) -> Result<bool> {
        Ok(self.commit_lsn(xid)?.is_some())
    }

    /// `None` unless `xid` and all its parents committed. Else an upper bound of the commit
    /// record's LSN, invalid if it is known to be flushed. A hint bit may be set only once the log
    /// is flushed up to it.
    /// Counterpart: `TransactionIdGetCommitLSN`.
    #[inline]
    pub fn commit_lsn(&self, xid: Xid) -> Result<Option<Lsn>> {
        if !xid.is_normal() {
            return Ok(xid.is_valid().then_some(Lsn::INVALID));
        }
        let (status, lsn) = self.clog.get(xid)?;
        let committed = match status {
            XidStatus::Committed => true,
            XidStatus::SubCommitted => match self.subtrans.parent(xid)? {
                // A crash came between the two steps of a commit: pg_subtrans was zeroed.
                Xid::INVALID => false,
                parent => self.did_commit(parent)?,
            },
            _ => false,
        };
        Ok(committed.then_some(lsn))
    }

    /// True if `xid` (or a parent) aborted explicitly. False for transactions that a crash ended.
    pub fn did_abort(&self, xid: Xid) -> Result<bool> {
        match self.status(xid)? {
            XidStatus::Aborted => Ok(true),
            XidStatus::SubCommitted => match self.subtrans.parent(xid)? {
                Xid::INVALID => Ok(true),
                parent => self.did_abort(parent),
            },
            _ => Ok(false),
        }
    }

    /// The immediate parent of a subtransaction, invalid for top-level ones.
    pub fn parent(&self, xid: Xid) -> Result<Xid> {
        self.subtrans.parent(xid)
    }

    /// The top-level transaction of `xid`, or the oldest parent not before `xmin`.
    /// Counterpart: `SubTransGetTopmostTransaction`.
    pub fn topmost_parent(&self, xid: Xid, xmin: Xid) -> Result<Xid> {
        let mut at = xid;
        loop {
            if at.precedes(xmin) {
                return Ok(at);
            }
            let parent = self.subtrans.parent(at)?;
            if !parent.is_valid() {
                return Ok(at);
            }
            // A parent is older than its child; otherwise this loop might not end.
            if !parent.precedes(at) {
                return Err(PgError::internal(format!(
                    "pg_subtrans contains invalid entry: xid {at} points to parent xid {parent}"
                )));
            }
            at = parent;
        }
    }

    /// The next id to be assigned.
    pub fn next_full_xid(&self) -> FullXid {
        FullXid(self.next_xid.load(Ordering::Acquire))
    }

    /// The full id of a recent `xid`.
    pub fn widen(&self, xid: Xid) -> FullXid {
        widen(self.next_full_xid(), xid)
    }

    /// The other running transactions of `database` whose snapshots see ids before `limit`, or that
    /// one, as running.
    pub fn with_older_snapshots(
        &self,
        limit: Xid,
        database: Oid,
        me: ProcNo,
    ) -> Vec<lmgr::VirtualXid> {
        let procs = self.procs.with_older_snapshots(limit, database, me);
        procs.into_iter().filter_map(|no| self.locks.vxid(no)).collect()
    }

    /// Computes the horizons. Counterpart: `ComputeXidHorizons`.
    pub fn horizons(&self, database: Oid) -> Horizons {
        self.procs.horizons(database, None)
    }

    /// As [`TxnManager::horizons`], with the horizon of temporary tables for the session in slot
    /// `proc`. Advances the session's cached bounds too, so that pruning treats the same versions
    /// as removable as a VACUUM with these horizons.
    pub fn horizons_for(&self, database: Oid, proc: ProcNo) -> Horizons {
        let horizons = self.procs.horizons(database, Some(proc));
        let cached = &self.procs.proc(proc).maybe_needed;
        let kinds =
            [HorizonKind::Shared, HorizonKind::Catalog, HorizonKind::Data, HorizonKind::Temp];
        for kind in kinds {
            let bound = self.widen(horizons.of_kind(kind));
            cached[kind as usize].fetch_max(bound.0, Ordering::Relaxed);
        }
        horizons
    }

    /// Number of sessions connected to a database, without that in slot `except`.
    pub fn sessions_of(&self, database: Oid, except: Option<ProcNo>) -> usize {
        self.procs.sessions_of(database, except)
    }

    /// Number of prepared transactions of a database.
    pub fn prepared_of(&self, database: Oid) -> usize {
        self.procs.prepared_of(database)
    }

    /// Process IDs of the sessions connected to a database.
    pub fn pids_of(&self, database: Oid) -> Vec<i32> {
        self.procs.pids_of(database)
    }

    /// Top-level id of the session in a slot, invalid if it has none.
    pub fn xid_of_proc(&self, proc: ProcNo) -> Xid {
        self.procs.xid(proc)
    }

    /// Oldest id that the session's snapshots see as running, invalid if it has none.
    pub fn xmin_of_proc(&self, proc: ProcNo) -> Xid {
        Xid(self.procs.proc(proc).xmin.load(Ordering::Acquire))
    }

    /// Count of transactions and aborted subtransactions with an id that ended since the start. A
    /// snapshot with this count is current.
    pub fn completions(&self) -> u64 {
        self.procs.completions()
    }

    /// Members of `multi`. `lock_only`: according to the tuple header no member is an updater, so
    /// the result is empty if no transaction that could be a member is still running. Counterpart:
    /// `GetMultiXactIdMembers`.
    pub fn multixact_members(&self, multi: MultiXid, lock_only: bool) -> Result<Members> {
        if lock_only && multi.is_valid() && multi.precedes(self.oldest_multixact()) {
            return Ok(Members::new());
        }
        self.multis.members(multi)
    }

    /// True if any member is still running. Counterpart: `MultiXactIdIsRunning`.
    pub fn multixact_is_running(&self, multi: MultiXid, lock_only: bool) -> Result<bool> {
        for member in self.multixact_members(multi, lock_only)? {
            if self.is_in_progress(member.xid)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The updater among the members, if any. Counterpart: `MultiXactIdGetUpdateXid`.
    pub fn multixact_update_xid(&self, multi: MultiXid) -> Result<Xid> {
        let members = self.multixact_members(multi, false)?;
        let updater = members.iter().find(|m: &&MultiXactMember| m.status.is_update());
        Ok(updater.map_or(Xid::INVALID, |m| m.xid))
    }

    pub fn next_multixact(&self) -> MultiXid {
        self.multis.next()
    }

    /// Oldest multixact that a running transaction may be a member of or may read. Counterpart:
    /// `GetOldestMultiXactId`.
    pub fn oldest_multixact(&self) -> MultiXid {
        self.multis.oldest_in_use(&self.procs)
    }

    /// Multixacts and members in use, for the freeze decisions of vacuum.
    pub fn multixact_counts(&self) -> (u32, u32) {
        self.multis.counts()
    }

    /// Writes the first pages of a new cluster. The directories exist.
    pub fn bootstrap(&self) -> Result<()> {
        self.clog.bootstrap()?;
        self.subtrans.bootstrap()?;
        self.multis.bootstrap()
    }

    /// Sets the counters from the checkpoint from which recovery starts.
    pub fn startup(&self, cp: &CheckPoint) -> Result<()> {
        self.set_next_full_xid(cp.next_xid);
        self.set_next_oid(cp.next_oid);
        self.multis.startup(
            cp.next_multi,
            cp.next_multi_offset,
            cp.oldest_multi,
            cp.oldest_multi_db,
        );
        self.clog.slru.set_latest_page(crate::clog::page_of(cp.next_xid.xid()));
        self.set_xid_limit(cp.oldest_xid, cp.oldest_xid_db);
        let age = self.config.autovacuum_multixact_freeze_max_age;
        self.multis.set_limit(cp.oldest_multi, cp.oldest_multi_db, age)
    }

    /// At the end of recovery: zeroes the status pages beyond the counters and initializes the
    /// proc array for new transactions. `oldest_prepared`: id of the oldest prepared transaction,
    /// if there is one.
    pub fn end_recovery(&self, oldest_prepared: Option<Xid>) -> Result<()> {
        let next = self.next_full_xid();
        let mut latest = FullXid(next.0 - 1);
        while latest.0 >= 3 && !latest.xid().is_normal() {
            latest.0 -= 1;
        }
        self.procs.set_latest_completed(latest);
        self.subtrans.startup(oldest_prepared.unwrap_or(next.xid()), next.xid())?;
        self.clog.trim(next.xid())?;
        self.multis.trim()?;
        let state = self.multis.state();
        let age = self.config.autovacuum_multixact_freeze_max_age;
        self.multis.set_limit(state.oldest, state.oldest_db, age)
    }

    /// Writes and syncs the status files. Part of every checkpoint, after the redo pointer is set
    /// and the sections that delay checkpoints have ended.
    pub fn checkpoint(&self) -> Result<()> {
        self.clog.slru.checkpoint()?;
        self.subtrans.checkpoint()?;
        self.multis.checkpoint()
    }

    /// Fills in the counters of a checkpoint. `shutdown`: no transaction is running, and reserved
    /// OIDs that are not used are given back.
    pub fn fill_checkpoint(&self, cp: &mut CheckPoint, shutdown: bool) {
        {
            let xids = self.xid_gen.lock();
            cp.next_xid = self.next_full_xid();
            cp.oldest_xid = xids.oldest;
            cp.oldest_xid_db = xids.oldest_db;
            cp.oldest_active_xid =
                if shutdown { Xid::INVALID } else { self.procs.oldest_active(cp.next_xid.xid()) };
        }
        cp.next_oid = self.oids.lock().for_checkpoint(shutdown);
        let multi = self.multis.state();
        cp.next_multi = multi.next;
        cp.next_multi_offset = multi.next_offset;
        cp.oldest_multi = multi.oldest;
        cp.oldest_multi_db = multi.oldest_db;
    }

    /// Removes the pg_subtrans segments that no snapshot can need any more; after a checkpoint.
    /// Counterpart: `TruncateSUBTRANS`.
    pub fn truncate_subtrans(&self) -> Result<()> {
        self.subtrans.truncate(self.procs.horizons(Oid::INVALID, None).oldest_considered_running)
    }
}

/// Which sessions' snapshots count for the removal of a row version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HorizonKind {
    /// Shared relations: snapshots of all databases count.
    Shared,
    /// Catalogs: the same as `Data`, since there is no logical decoding yet.
    Catalog,
    /// Tables of the session's database.
    Data,
    /// Temporary tables of the session: only its own transaction counts.
    Temp,
}

/// Horizons: by kind, row versions deleted by an id before it are invisible to all snapshots.
#[derive(Clone, Copy, Debug, Default)]
pub struct Horizons {
    pub shared_oldest_nonremovable: Xid,
    pub catalog_oldest_nonremovable: Xid,
    pub data_oldest_nonremovable: Xid,
    pub temp_oldest_nonremovable: Xid,
    /// Oldest id still running or still seen as running by any snapshot.
    pub oldest_considered_running: Xid,
}

impl Horizons {
    pub fn of_kind(&self, kind: HorizonKind) -> Xid {
        match kind {
            HorizonKind::Shared => self.shared_oldest_nonremovable,
            HorizonKind::Catalog => self.catalog_oldest_nonremovable,
            HorizonKind::Data => self.data_oldest_nonremovable,
            HorizonKind::Temp => self.temp_oldest_nonremovable,
        }
    }
}

/// Decides whether a row version deleted by a given xid is invisible to all snapshots. Uses two
/// cached bounds and recomputes them only for an xid between them. Made by
/// [`crate::transaction::Transaction::global_vis`]. Counterpart: `GlobalVisState`.
#[derive(Clone, Copy, Debug)]
pub struct GlobalVis {
    pub kind: HorizonKind,
    /// Ids from here on are certainly needed.
    pub definitely_needed: FullXid,
    /// Ids before this are certainly removable.
    pub maybe_needed: FullXid,
    pub(crate) proc: ProcNo,
    pub(crate) database: Oid,
}

impl GlobalVis {
    /// Counterpart: `GlobalVisTestIsRemovableXid`.
    #[inline]
    pub fn is_removable(&mut self, manager: &TxnManager, xid: Xid) -> bool {
        let full = manager.widen(xid);
        if full < self.maybe_needed {
            return true;
        }
        if full >= self.definitely_needed {
            return false;
        }
        self.update(manager);
        full < self.maybe_needed
    }

    /// Recomputes the bounds, unless nothing has happened since that is likely to advance them
    /// (`ProcArray::vis_key`). Counterpart: `GlobalVisTestShouldUpdate`.
    fn update(&mut self, manager: &TxnManager) {
        let proc = manager.procs.proc(self.proc);
        let key = manager.procs.vis_key(self.proc);
        if proc.vis_keys[self.kind as usize].swap(key, Ordering::Relaxed) != key {
            manager.horizons_for(self.database, self.proc);
        }
        let cached = proc.maybe_needed[self.kind as usize].load(Ordering::Relaxed);
        self.maybe_needed = self.maybe_needed.max(FullXid(cached));
    }

    /// The oldest nonremovable id, computed now. For VACUUM.
    pub fn oldest_nonremovable(&mut self, manager: &TxnManager) -> Xid {
        manager.horizons_for(self.database, self.proc).of_kind(self.kind)
    }
}
