//! One session's transaction: its ids, commands, savepoints, snapshots, commit and abort.
//!
//! INVARIANT: a commit proceeds in this order, on which recovery and other sessions rely: insert
//! the commit record, flush it (or notify the WAL writer), set pg_xact, leave the proc array,
//! release the locks. If the redo pointer of a checkpoint falls between record and pg_xact, the
//! checkpoint waits (`Wal::delay_checkpoint_start`): replay would not read the record, and the
//! pg_xact page that the checkpoint writes would lack the status.
//!
//! Counterpart: xact.c, snapmgr.c.

mod prepare;

use crate::combocid::ComboCids;
use crate::manager::{GlobalVis, HorizonKind, TxnManager, XidStatus};
use crate::multixact::{Members, MultiXactMember, MultiXactStatus};
use crate::procarray::SUBXIDS;
use crate::record::{self, XactExtras};
use crate::snapshot::{Snapshot, SnapshotKind};
use ids::{CommandId, FullXid, Lsn, MultiXid, Oid, SubXactId, Xid};
use lmgr::{Acquired, LockMode, LockOwner, LockSession, LockTag, ProcNo, VirtualXid, WaitPolicy};
use pgerror::{PgError, Result, SqlState, pg_err};
use std::time::Duration;
use sync::atomic::Ordering;
use sync::wait::Waiter;
use sync::{Arc, Mutex, MutexGuard};
use wal::{RecordBuilder, RmgrId};

pub use prepare::PreparedEnd;

/// Isolation levels. `Serializable` uses snapshots in the same way as `RepeatableRead`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Isolation {
    ReadUncommitted,
    #[default]
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Isolation {
    /// One snapshot for all statements?
    pub const fn uses_transaction_snapshot(self) -> bool {
        matches!(self, Isolation::RepeatableRead | Isolation::Serializable)
    }
}

/// One level of the stack of subtransactions; the lowest one is the top-level transaction.
struct Level {
    id: SubXactId,
    xid: Xid,
    /// Committed subtransactions of this one, ascending.
    children: Vec<Xid>,
}

/// Owned by the session. Heap and index code borrows it shared for visibility checks, and
/// exclusively to assign an xid, a combo command id or a multixact.
pub struct Transaction {
    manager: Arc<TxnManager>,
    locks: Arc<Mutex<LockSession>>,
    proc: ProcNo,
    database: Oid,
    tablespace: Oid,
    /// Empty outside transactions.
    levels: Vec<Level>,
    full_xid: FullXid,
    last_local_xid: u32,
    last_subxact: u32,
    command: CommandId,
    command_used: bool,
    combos: ComboCids,
    /// Subtransactions that no assignment record lists yet.
    unreported: Vec<Xid>,
    isolation: Isolation,
    first_snapshot: Option<Arc<Snapshot>>,
    /// All snapshots that may be in use; one whose reference count is 1 is not.
    registered: Vec<Arc<Snapshot>>,
    /// End of the newest record that this session wrote in the transaction.
    last_record: Lsn,
    /// Multixacts that this transaction created, newest last.
    multis: Vec<(MultiXid, Members)>,
    start_time: i64,
    pub(crate) builder: RecordBuilder,
    warnings: Vec<PgError>,
    commit_delay: CommitDelay,
}

/// `commit_delay` and `commit_siblings`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitDelay {
    /// Zero: none.
    pub span: Duration,
    /// Minimum number of other transactions that have an id and do not wait for a lock.
    pub siblings: u32,
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.is_active() {
            // The session ended by an error. There is no client to report to, and a transaction
            // without an abort record counts as aborted.
            let _ = self.abort(&XactExtras::default());
            self.release_locks();
        }
        self.locks().close();
        self.manager.procs.release(self.proc);
    }
}

impl TxnManager {
    /// A slot and an idle transaction for a new session. Error: 53300 if all slots are in use.
    pub fn connect(
        self: &Arc<Self>,
        pid: i32,
        database: Oid,
        tablespace: Oid,
        waiter: Arc<Waiter>,
    ) -> Result<Transaction> {
        let proc = self
            .procs
            .acquire(database)
            .ok_or_else(|| pg_err!(TOO_MANY_CONNECTIONS, "sorry, too many clients already"))?;
        self.procs.proc(proc).pid.store(pid as u32, Ordering::Relaxed);
        Ok(Transaction {
            manager: self.clone(),
            locks: Arc::new(Mutex::new(self.locks.session(proc, pid, database, waiter))),
            proc,
            database,
            tablespace,
            levels: Vec::new(),
            full_xid: FullXid(0),
            last_local_xid: 0,
            last_subxact: 0,
            command: CommandId::FIRST,
            command_used: false,
            combos: ComboCids::default(),
            unreported: Vec::new(),
            isolation: Isolation::default(),
            first_snapshot: None,
            registered: Vec::new(),
            last_record: Lsn::INVALID,
            multis: Vec::new(),
            start_time: 0,
            builder: RecordBuilder::new(RmgrId::Xact, 0),
            warnings: Vec::new(),
            commit_delay: CommitDelay::default(),
        })
    }
}

/// Identity and state.
impl Transaction {
    pub fn manager(&self) -> &TxnManager {
        &self.manager
    }

    pub fn manager_arc(&self) -> &Arc<TxnManager> {
        &self.manager
    }

    /// The session's locks. Only this session uses them, so the mutex is not contended. The guard
    /// must be dropped before a call of another method of the transaction, which may lock it again.
    pub fn locks(&self) -> MutexGuard<'_, LockSession> {
        self.locks.lock()
    }

    /// A handle that waits for other transactions on behalf of this session, without borrowing it.
    pub fn waits(&self) -> XactWaits {
        XactWaits {
            manager: self.manager.clone(),
            locks: self.locks.clone(),
            owner: self.lock_owner(),
        }
    }

    pub fn proc(&self) -> ProcNo {
        self.proc
    }

    pub fn database(&self) -> Oid {
        self.database
    }

    /// Connects the session to a database; before its first transaction there.
    pub fn set_database(&mut self, database: Oid, tablespace: Oid) {
        self.database = database;
        self.tablespace = tablespace;
        self.manager.procs.proc(self.proc).database.store(database.0, Ordering::SeqCst);
        self.locks().set_database(database);
    }

    /// True if a transaction is active, between [`Transaction::begin`] and commit or abort.
    pub fn is_active(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Starts a transaction; `now` in microseconds since 2000-01-01.
    pub fn begin(&mut self, isolation: Isolation, now: i64) {
        debug_assert!(!self.is_active());
        self.last_local_xid = self.last_local_xid.wrapping_add(1).max(1);
        self.locks().begin_vxid(self.last_local_xid);
        self.last_subxact = 1;
        self.levels.push(Level { id: SubXactId::TOP, xid: Xid::INVALID, children: Vec::new() });
        self.isolation = isolation;
        self.command = CommandId::FIRST;
        self.command_used = false;
        self.start_time = now;
    }

    /// SET TRANSACTION ISOLATION LEVEL, before the first snapshot.
    pub fn set_isolation(&mut self, isolation: Isolation) {
        self.isolation = isolation;
    }

    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    pub fn start_time(&self) -> i64 {
        self.start_time
    }

    pub fn vxid(&self) -> Option<VirtualXid> {
        self.manager.locks.vxid(self.proc)
    }

    /// Sets how long a commit waits before its flush for other commits to join it.
    pub fn set_commit_delay(&mut self, delay: CommitDelay) {
        self.commit_delay = delay;
    }

    /// Adds warnings for the session to send; they do not affect the transaction's outcome.
    pub fn add_warnings(&mut self, warnings: Vec<PgError>) {
        self.warnings.extend(warnings);
    }

    /// Removes and returns the warnings (of wraparound, for instance) for the session to send.
    pub fn take_warnings(&mut self) -> Vec<PgError> {
        std::mem::take(&mut self.warnings)
    }

    /// True if `xid` is this transaction or one of its live or committed subtransactions.
    /// Counterpart: `TransactionIdIsCurrentTransactionId`.
    #[inline]
    pub fn is_current(&self, xid: Xid) -> bool {
        match self.levels.first() {
            Some(top) if top.xid.is_valid() => {
                xid == top.xid || !xid.precedes(top.xid) && self.is_current_sub(xid)
            }
            _ => false,
        }
    }

    fn is_current_sub(&self, xid: Xid) -> bool {
        self.levels.iter().rev().any(|level| {
            level.xid == xid && xid.is_valid()
                || level
                    .children
                    .binary_search_by(|c| {
                        if *c == xid {
                            std::cmp::Ordering::Equal
                        } else if c.precedes(xid) {
                            std::cmp::Ordering::Less
                        } else {
                            std::cmp::Ordering::Greater
                        }
                    })
                    .is_ok()
        })
    }

    /// Id of the current (sub)transaction, assigned now if it has none.
    /// Counterpart: `GetCurrentTransactionId`.
    pub fn current_xid(&mut self) -> Result<Xid> {
        let xid = self.current_xid_if_any();
        if xid.is_valid() {
            return Ok(xid);
        }
        let depth = self.levels.len();
        if depth == 0 {
            return Err(PgError::internal("cannot assign XIDs outside a transaction"));
        }
        // Parents first: a child's id must be after its parent's.
        let first = self.levels.iter().rposition(|l| l.xid.is_valid()).map_or(0, |i| i + 1);
        for i in first..depth {
            self.assign(i)?;
        }
        Ok(self.current_xid_if_any())
    }

    fn assign(&mut self, at: usize) -> Result<()> {
        let warnings = &mut self.warnings;
        let mut warn = |w: PgError| warnings.push(w);
        let full = self.manager.new_xid(self.proc, at > 0, &mut warn)?;
        let xid = full.xid();
        if at == 0 {
            self.full_xid = full;
        } else {
            self.manager.subtrans.set_parent(xid, self.levels[at - 1].xid)?;
        }
        self.levels[at].xid = xid;
        // Other sessions wait for this transaction by locking its id.
        let owner = LockOwner::SubXact(self.levels[at].id);
        self.locks().acquire(
            LockTag::transaction(xid),
            LockMode::Exclusive,
            owner,
            WaitPolicy::Wait,
        )?;
        if at > 0 && self.manager.standby_info() {
            self.unreported.push(xid);
            if self.unreported.len() >= SUBXIDS {
                record::build_assignment(&mut self.builder, self.levels[0].xid, &self.unreported);
                self.manager.wal.insert(&mut self.builder, &[], self.levels[0].xid)?;
                self.unreported.clear();
            }
        }
        Ok(())
    }

    /// Invalid if none is assigned.
    pub fn current_xid_if_any(&self) -> Xid {
        self.levels.last().map_or(Xid::INVALID, |l| l.xid)
    }

    /// Id of the top-level transaction, assigned now if it has none.
    pub fn top_xid(&mut self) -> Result<Xid> {
        if !self.top_xid_if_any().is_valid() {
            if self.levels.is_empty() {
                return Err(PgError::internal("cannot assign XIDs outside a transaction"));
            }
            self.assign(0)?;
        }
        Ok(self.top_xid_if_any())
    }

    /// Id of the top-level transaction, invalid if none is assigned.
    pub fn top_xid_if_any(&self) -> Xid {
        self.levels.first().map_or(Xid::INVALID, |l| l.xid)
    }

    /// As [`Transaction::top_xid_if_any`], as 64 bits; 0 if none is assigned.
    pub fn full_xid_if_any(&self) -> FullXid {
        if self.top_xid_if_any().is_valid() { self.full_xid } else { FullXid(0) }
    }

    pub fn current_subxact(&self) -> SubXactId {
        self.levels.last().map_or(SubXactId::INVALID, |l| l.id)
    }

    /// 1 for the top level.
    pub fn nesting(&self) -> usize {
        self.levels.len()
    }

    /// Owner of the locks that the current (sub)transaction acquires.
    pub fn lock_owner(&self) -> LockOwner {
        LockOwner::SubXact(self.current_subxact())
    }

    /// Notes the end of a record written for this transaction, so that its commit flushes it.
    pub fn note_record(&mut self, end: Lsn) {
        self.last_record = self.last_record.max(end);
    }

    pub fn last_record(&self) -> Lsn {
        self.last_record
    }
}

/// Commands.
impl Transaction {
    /// Number of the current command; `used` marks it as having changed data.
    /// Counterpart: `GetCurrentCommandId`.
    pub fn current_command(&mut self, used: bool) -> CommandId {
        self.command_used |= used;
        self.command
    }

    /// Number of the current command, without marking it.
    pub fn command(&self) -> CommandId {
        self.command
    }

    /// Makes the changes of the current command visible to the next one; true if there were any.
    /// Counterpart: `CommandCounterIncrement`.
    pub fn command_counter_increment(&mut self) -> Result<bool> {
        if !self.command_used {
            return Ok(false);
        }
        if self.command.0 >= u32::MAX - 1 {
            return Err(PgError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                "cannot have more than 2^32-2 commands in a transaction",
            ));
        }
        self.command = CommandId(self.command.0 + 1);
        self.command_used = false;
        Ok(true)
    }

    /// The command id to store in a tuple's `t_cid` when a row that this transaction inserted in
    /// command `cmin` is deleted in `cmax`. Counterpart: `HeapTupleHeaderAdjustCmax`.
    pub fn combo_cid(&mut self, cmin: CommandId, cmax: CommandId) -> Result<CommandId> {
        Ok(self.combos.combo(cmin, cmax))
    }

    /// The real cmin behind a combo id of this transaction.
    pub fn combo_cmin(&self, combo: CommandId) -> CommandId {
        self.combos.pair(combo).map_or(CommandId::INVALID, |p| p.0)
    }

    /// The real cmax behind a combo id of this transaction.
    pub fn combo_cmax(&self, combo: CommandId) -> CommandId {
        self.combos.pair(combo).map_or(CommandId::INVALID, |p| p.1)
    }
}

/// Multixacts.
impl Transaction {
    /// Publishes that each multixact that this transaction becomes a member of is at or after the
    /// next one to be assigned. To be called before it creates one or locks a tuple with its xid,
    /// from which another session may make one. Counterpart: `MultiXactIdSetOldestMember`.
    pub fn set_oldest_multixact_member(&mut self) {
        let slot = &self.manager.procs.proc(self.proc).oldest_member;
        if slot.load(Ordering::Relaxed) == 0 {
            self.manager.multis.announce_member(slot);
        }
    }

    /// Publishes the oldest multixact that may have running members now; the transaction reads none
    /// before it. Counterpart: `MultiXactIdSetOldestVisible`.
    pub fn set_oldest_multixact_visible(&self) {
        let slot = &self.manager.procs.proc(self.proc).oldest_visible;
        if slot.load(Ordering::Relaxed) == 0 {
            let oldest = self.manager.procs.oldest_member(self.manager.multis.next());
            slot.store(oldest.0.max(1), Ordering::Release);
        }
    }

    /// Members of `multi`, which is the xmax of a tuple. `lock_only`: see
    /// [`TxnManager::multixact_members`].
    pub fn multixact_members(&self, multi: MultiXid, lock_only: bool) -> Result<Members> {
        if let Some((_, members)) = self.multis.iter().rev().find(|(m, _)| *m == multi) {
            return Ok(members.clone());
        }
        self.set_oldest_multixact_visible();
        if lock_only {
            let visible = self.manager.procs.proc(self.proc).oldest_visible.load(Ordering::Relaxed);
            if multi.precedes(MultiXid(visible)) {
                return Ok(Members::new());
            }
        }
        self.manager.multis.members(multi)
    }

    /// A multixact of these members, which must have no duplicates. Reuses one that this
    /// transaction created from the same members. Counterpart: `MultiXactIdCreate`.
    pub fn multixact_create(&mut self, members: &[MultiXactMember]) -> Result<MultiXid> {
        self.set_oldest_multixact_member();
        let mut sorted: Members = members.into();
        sorted.sort_by_key(|m| (m.xid.0, m.status));
        if let Some((multi, _)) = self.multis.iter().rev().find(|(_, m)| *m == sorted) {
            return Ok(*multi);
        }
        let warnings = &mut self.warnings;
        let mut warn = |w: PgError| warnings.push(w);
        let multi = self.manager.multis.create(&sorted, &mut self.builder, &mut warn)?;
        if self.multis.len() >= MULTI_CACHE {
            self.multis.remove(0);
        }
        self.multis.push((multi, sorted));
        Ok(multi)
    }

    /// A multixact of `xid` and of those members of `multi` that still matter.
    /// Counterpart: `MultiXactIdExpand`.
    pub fn multixact_expand(
        &mut self,
        multi: MultiXid,
        xid: Xid,
        status: MultiXactStatus,
    ) -> Result<MultiXid> {
        self.set_oldest_multixact_member();
        let members = self.multixact_members(multi, false)?;
        let new = MultiXactMember { xid, status };
        if members.contains(&new) {
            return Ok(multi);
        }
        let mut kept = Members::new();
        for member in members {
            // A locker matters while it is running, an updater also after it has committed.
            if self.manager.is_in_progress(member.xid)?
                || member.status.is_update() && self.manager.did_commit(member.xid)?
            {
                kept.push(member);
            }
        }
        kept.push(new);
        self.multixact_create(&kept)
    }
}

const MULTI_CACHE: usize = 64;

/// Waiting for other transactions.
impl Transaction {
    /// As [`XactWaits::wait_for_xid`].
    pub fn wait_for_xid(&self, xid: Xid) -> Result<()> {
        self.waits().wait_for_xid(xid)
    }
}

/// Waits for other transactions and acquires tuple locks for a session while its [`Transaction`] is
/// borrowed elsewhere.
#[derive(Clone)]
pub struct XactWaits {
    manager: Arc<TxnManager>,
    locks: Arc<Mutex<LockSession>>,
    /// Owner of the locks that are acquired through this handle.
    pub owner: LockOwner,
}

impl XactWaits {
    pub fn locks(&self) -> MutexGuard<'_, LockSession> {
        self.locks.lock()
    }

    /// Waits until `xid` has ended. For a committed subtransaction, whose parent owns its lock,
    /// that is the end of the top-level transaction. Counterpart: `XactLockTableWait`.
    pub fn wait_for_xid(&self, xid: Xid) -> Result<()> {
        self.wait_xid(xid, WaitPolicy::Wait).map(|_| ())
    }

    /// As [`XactWaits::wait_for_xid`], but returns false instead of waiting.
    pub fn try_wait_for_xid(&self, xid: Xid) -> Result<bool> {
        self.wait_xid(xid, WaitPolicy::Try)
    }

    fn wait_xid(&self, xid: Xid, policy: WaitPolicy) -> Result<bool> {
        let mut xid = xid;
        let mut first = true;
        loop {
            let tag = LockTag::transaction(xid);
            {
                let mut locks = self.locks.lock();
                if locks.acquire(tag, LockMode::Share, self.owner, policy)?
                    == Acquired::NotAvailable
                {
                    return Ok(false);
                }
                locks.release(tag, LockMode::Share, self.owner);
            }
            if !self.manager.is_in_progress(xid)? {
                return Ok(true);
            }
            // Either a subtransaction whose lock was transferred to its parent: wait for the
            // parent. Or the id has been assigned but its lock is not held yet: retry.
            if !first {
                sync::yield_now();
            }
            first = false;
            xid = self.manager.topmost_parent(xid, Xid::FIRST_NORMAL)?;
        }
    }

    /// Waits for the end of a speculative insertion. Counterpart: `SpeculativeInsertionWait`.
    pub fn wait_for_speculative(&self, xid: Xid, token: u32) -> Result<()> {
        let tag = LockTag::speculative(xid, token);
        let mut locks = self.locks.lock();
        locks.acquire(tag, LockMode::Share, self.owner, WaitPolicy::Wait)?;
        locks.release(tag, LockMode::Share, self.owner);
        Ok(())
    }
}

/// Snapshots.
impl Transaction {
    /// The statement's snapshot: a new one under READ COMMITTED, else the transaction's.
    /// The transaction's own changes by commands before the current one are visible in it.
    /// Counterpart: `GetTransactionSnapshot`.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        if !self.isolation.uses_transaction_snapshot() {
            return self.latest_snapshot();
        }
        match &self.first_snapshot {
            Some(first) if first.curcid == self.command => first.clone(),
            Some(first) => {
                let copy = Arc::new(Snapshot { curcid: self.command, ..(**first).clone() });
                self.first_snapshot = Some(copy.clone());
                copy
            }
            None => {
                let first = self.latest_snapshot();
                self.first_snapshot = Some(first.clone());
                first
            }
        }
    }

    /// A new snapshot at any isolation level, for catalogs and constraint checks.
    /// Counterpart: `GetLatestSnapshot`.
    pub fn latest_snapshot(&mut self) -> Arc<Snapshot> {
        // A snapshot without other references is reused, to avoid an allocation.
        let mut own = None;
        let mut i = 0;
        while i < self.registered.len() {
            if Arc::strong_count(&self.registered[i]) == 1 {
                own = Some(self.registered.swap_remove(i));
            } else {
                i += 1;
            }
        }
        let mut snapshot = own.unwrap_or_else(|| Arc::new(Snapshot::of_kind(SnapshotKind::Mvcc)));
        let inner = Arc::get_mut(&mut snapshot).expect("there is no other reference");
        self.manager.procs.snapshot(self.proc, inner);
        inner.curcid = self.command;
        self.registered.push(snapshot.clone());
        snapshot
    }

    /// Advances the published xmin past snapshots that are no longer in use; after each statement.
    /// Counterpart: `SnapshotResetXmin`.
    pub fn reset_xmin(&mut self) {
        let xmin = &self.manager.procs.proc(self.proc).xmin;
        let held = self
            .registered
            .iter()
            .filter(|s| Arc::strong_count(s) > 1)
            .map(|s| s.xmin)
            .chain(self.first_snapshot.as_ref().map(|s| s.xmin))
            .reduce(Xid::older);
        match held {
            None => xmin.store(0, Ordering::SeqCst),
            Some(oldest) => {
                if Xid(xmin.load(Ordering::Relaxed)).precedes(oldest) {
                    xmin.store(oldest.0, Ordering::SeqCst);
                }
            }
        }
    }

    /// True if the snapshot of the transaction has been taken (REPEATABLE READ and SERIALIZABLE).
    pub fn has_first_snapshot(&self) -> bool {
        self.first_snapshot.is_some()
    }

    /// The current snapshot for use by other transactions, which do not see the changes of this
    /// one. It holds back the horizon until it is dropped. Counterpart: `ExportSnapshot`.
    pub fn export_snapshot(&mut self) -> Arc<Snapshot> {
        let mut copy = (*self.snapshot()).clone();
        // It must not be reused as a current snapshot.
        copy.completion_count = 0;
        let own = self.full_xid.xid();
        if own.is_valid() && own.precedes(copy.xmax) {
            copy.xip.push(own);
        }
        copy.subxip.extend(self.levels.iter().flat_map(|l| l.children.iter().copied()));
        let copy = Arc::new(copy);
        self.registered.push(copy.clone());
        copy
    }

    /// Adopts a snapshot exported by a transaction that is still running. Counterpart:
    /// `SetTransactionSnapshot`.
    pub fn import_snapshot(&mut self, snapshot: &Snapshot) {
        let xmin = &self.manager.procs.proc(self.proc).xmin;
        let held = Xid(xmin.load(Ordering::Relaxed));
        if !held.is_valid() || snapshot.xmin.precedes(held) {
            xmin.store(snapshot.xmin.0, Ordering::SeqCst);
        }
        self.first_snapshot = Some(Arc::new(Snapshot { curcid: self.command, ..snapshot.clone() }));
    }

    /// Marks the transaction as a lazy VACUUM, which holds back no horizon but
    /// `oldest_considered_running`.
    pub fn set_in_vacuum(&mut self, for_wraparound: bool) {
        let wrap = if for_wraparound { crate::procarray::PROC_VACUUM_FOR_WRAPAROUND } else { 0 };
        self.manager.procs.set_flags(self.proc, crate::procarray::PROC_IN_VACUUM | wrap);
    }

    /// Removal test for relations of that kind. Counterpart: `GlobalVisTestFor`.
    pub fn global_vis(&self, kind: HorizonKind) -> GlobalVis {
        let proc = self.manager.procs.proc(self.proc);
        let maybe = FullXid(proc.maybe_needed[kind as usize].load(Ordering::Relaxed));
        let next = self.manager.next_full_xid();
        GlobalVis {
            kind,
            definitely_needed: next,
            maybe_needed: maybe,
            proc: self.proc,
            database: self.database,
        }
    }
}

/// Savepoints.
impl Transaction {
    /// Starts a subtransaction. Names of savepoints are kept by the caller.
    /// Counterpart: `BeginInternalSubTransaction`.
    pub fn begin_subxact(&mut self) -> Result<SubXactId> {
        let Some(next) = self.last_subxact.checked_add(1) else {
            return Err(PgError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                "cannot have more than 2^32-1 subtransactions in a transaction",
            ));
        };
        self.last_subxact = next;
        let id = SubXactId(next);
        self.levels.push(Level { id, xid: Xid::INVALID, children: Vec::new() });
        Ok(id)
    }

    /// RELEASE SAVEPOINT: merges the innermost level into its parent. Returns the numbers of both,
    /// the child first.
    pub fn commit_subxact(&mut self) -> Result<(SubXactId, SubXactId)> {
        self.command_counter_increment()?;
        let level = self.pop_level()?;
        let parent = self.levels.last_mut().expect("pop_level leaves the top level");
        if level.xid.is_valid() {
            parent.children.push(level.xid);
            parent.children.extend_from_slice(&level.children);
        }
        let ids = (level.id, parent.id);
        self.locks().transfer(ids.0, ids.1);
        Ok(ids)
    }

    /// First half of ROLLBACK TO SAVEPOINT: aborts the innermost level, releases its locks and
    /// returns its number. WAL: an abort record if it had an id.
    pub fn abort_subxact(&mut self, extras: &XactExtras) -> Result<SubXactId> {
        let level = self.pop_level()?;
        if level.xid.is_valid() {
            self.record_abort(level.xid, &level.children, extras)?;
            let latest = latest_xid(level.xid, &level.children);
            let mut gone = vec![level.xid];
            gone.extend_from_slice(&level.children);
            self.manager.procs.remove_subxids(self.proc, &gone, latest);
        }
        self.locks().release_subxact(level.id);
        Ok(level.id)
    }

    fn pop_level(&mut self) -> Result<Level> {
        if self.levels.len() < 2 {
            return Err(PgError::internal("there is no subtransaction to end"));
        }
        Ok(self.levels.pop().expect("the length was checked"))
    }
}

/// Commit and abort.
impl Transaction {
    /// Commits the top level. On return other sessions see the transaction as committed, but it
    /// still holds its locks: the caller removes dropped files and sends invalidations, then calls
    /// [`Transaction::release_locks`]. After an error before the commit record the caller must
    /// abort; a later error has severity PANIC. Counterpart: `RecordTransactionCommit`,
    /// `ProcArrayEndTransaction`.
    ///
    /// WAL: a commit record if an id was assigned. Its flush is waited for if `synchronous` and the
    /// transaction has logged a change ([`Transaction::note_record`]), if `extras.force_sync`, or
    /// if files are dropped.
    pub fn commit(&mut self, extras: &XactExtras, synchronous: bool, now: i64) -> Result<Lsn> {
        while self.levels.len() > 1 {
            self.commit_subxact()?;
        }
        let end = self.builder.take_last_end();
        self.note_record(end);
        let Some(level) = self.levels.last() else {
            return Err(PgError::internal("there is no transaction to commit"));
        };
        let xid = level.xid;
        // Without a logged change nothing durable depends on this commit.
        let wrote = self.last_record.is_valid();
        let wait = synchronous && wrote || extras.force_sync || !extras.dropped_files.is_empty();
        let mut end = self.last_record;
        if xid.is_valid() {
            let standby = self.manager.standby_info();
            let trimmed;
            let extras = if standby || extras.invalidations.is_empty() {
                extras
            } else {
                trimmed = XactExtras { invalidations: Vec::new(), ..extras.clone() };
                &trimmed
            };
            let header = record::Header {
                time: now,
                database: self.database,
                tablespace: self.tablespace,
                subxacts: &level.children,
                prepared: None,
            };
            record::build(&mut self.builder, true, &header, extras);
            let wal = &self.manager.wal;
            let delay = wal.delay_checkpoint_start();
            end = wal.insert(&mut self.builder, &[], xid)?.end;
            let status = XidStatus::Committed;
            if wait {
                wal.flush_after(end, &|| self.pause_before_flush())?;
                self.manager.clog.set_tree(xid, &level.children, status, Lsn::INVALID)
            } else {
                wal.note_async_commit(end);
                self.manager.clog.set_tree(xid, &level.children, status, end)
            }
            .map_err(|e| e.severity(pgerror::Severity::Panic))?;
            drop(delay);
        } else if end.is_valid() {
            // Only pruning and the like were logged: nothing requires that to be durable.
            if extras.force_sync || !extras.dropped_files.is_empty() {
                self.manager.wal.flush(end)?;
            } else {
                self.manager.wal.note_async_commit(end);
            }
        }
        self.leave();
        Ok(end)
    }

    /// Aborts the transaction with all its subtransactions. The caller then does as after
    /// [`Transaction::commit`]. WAL: an abort record if an id was assigned.
    pub fn abort(&mut self, extras: &XactExtras) -> Result<()> {
        while self.levels.len() > 1 {
            self.abort_subxact(&XactExtras::default())?;
        }
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        let (xid, children) = (level.xid, std::mem::take(&mut level.children));
        let result =
            if xid.is_valid() { self.record_abort(xid, &children, extras) } else { Ok(()) };
        if let Some(level) = self.levels.last_mut() {
            level.children = children;
        }
        self.leave();
        result
    }

    /// `commit_delay`, if at least `commit_siblings` other transactions may commit soon.
    fn pause_before_flush(&self) -> Option<Duration> {
        let CommitDelay { span, siblings } = self.commit_delay;
        let (procs, locks) = (&self.manager.procs, &self.manager.locks);
        let wanted = !span.is_zero()
            && procs.others_active(self.proc, siblings as usize, |no| !locks.is_waiting(no));
        wanted.then_some(span)
    }

    fn record_abort(&mut self, xid: Xid, children: &[Xid], extras: &XactExtras) -> Result<()> {
        let header = record::Header {
            time: self.manager.env.clock.pg_micros(),
            database: self.database,
            tablespace: self.tablespace,
            subxacts: children,
            prepared: None,
        };
        record::build(&mut self.builder, false, &header, extras);
        let end = self.manager.wal.insert(&mut self.builder, &[], xid)?.end;
        self.manager.wal.note_async_commit(end);
        self.manager.clog.set_tree(xid, children, XidStatus::Aborted, Lsn::INVALID)
    }

    /// Leaves the proc array and clears the transaction's state, except the locks.
    fn leave(&mut self) {
        let latest = match self.levels.first() {
            Some(level) if level.xid.is_valid() => latest_xid(level.xid, &level.children),
            _ => Xid::INVALID,
        };
        self.manager.procs.end(self.proc, latest);
        self.clear();
    }

    /// Clears the transaction's state, except the slot in the proc array and the locks.
    fn clear(&mut self) {
        self.first_snapshot = None;
        // At most one snapshot is kept, for reuse of its memory.
        self.registered.truncate(1);
        self.levels.clear();
        self.combos.clear();
        self.unreported.clear();
        self.multis.clear();
        self.last_record = Lsn::INVALID;
        self.builder.take_last_end();
    }

    /// Releases all locks except session-level ones. After commit or abort.
    pub fn release_locks(&mut self) {
        self.locks().end_vxid();
        self.locks().release_transaction();
    }
}

fn latest_xid(xid: Xid, children: &[Xid]) -> Xid {
    children.iter().fold(xid, |a, b| if a.precedes(*b) { *b } else { a })
}
