//! The instance-wide state of transactions, in one handle.

use crate::{Members, MultiXactMember};
use ids::{FullXid, Lsn, MultiXid, Oid, Xid};
use pgerror::Result;

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

/// Shared by all sessions; handed around as `Arc<TxnManager>`.
pub struct TxnManager {
    _private: (),
}

impl TxnManager {
    /// What pg_xact says. In progress also stands for "crashed". Permanent ids are committed.
    pub fn status(&self, _xid: Xid) -> Result<XidStatus> {
        todo!()
    }

    /// Is `xid`, or the top-level transaction it belongs to, running in any session (the asking
    /// one included)? Counterpart: `TransactionIdIsInProgress`. Ask this before [`Self::did_commit`].
    pub fn is_in_progress(&self, _xid: Xid) -> Result<bool> {
        todo!()
    }

    /// Did `xid` and all its parents commit? Counterpart: `TransactionIdDidCommit`.
    pub fn did_commit(&self, _xid: Xid) -> Result<bool> {
        todo!()
    }

    /// Did `xid` (or a parent) abort explicitly? False for crashed ones.
    pub fn did_abort(&self, _xid: Xid) -> Result<bool> {
        todo!()
    }

    /// Upper bound of the commit record's position of a committed `xid`; invalid when it is known
    /// to be flushed. A hint bit must wait for it. Counterpart: `TransactionIdGetCommitLSN`.
    pub fn commit_lsn(&self, _xid: Xid) -> Result<Lsn> {
        todo!()
    }

    /// The top-level transaction of `xid`, or the oldest parent not before `xmin`.
    /// Counterpart: `SubTransGetTopmostTransaction`.
    pub fn topmost_parent(&self, _xid: Xid, _xmin: Xid) -> Result<Xid> {
        todo!()
    }

    /// The next id to be assigned.
    pub fn next_full_xid(&self) -> FullXid {
        todo!()
    }

    /// An id usable as a new object's OID (not checked for collisions). Counterpart: `GetNewObjectId`.
    pub fn new_oid(&self) -> Result<Oid> {
        todo!()
    }

    /// Computes the horizons anew. Counterpart: `ComputeXidHorizons`.
    pub fn horizons(&self, _database: Oid) -> Horizons {
        todo!()
    }

    /// Members of `multi`; empty when it is certainly over (before the oldest one kept).
    /// `lock_only`: the tuple says that no member is an updater.
    /// Counterpart: `GetMultiXactIdMembers`.
    pub fn multixact_members(&self, _multi: MultiXid, _lock_only: bool) -> Result<Members> {
        todo!()
    }

    /// Is any member still running? Counterpart: `MultiXactIdIsRunning`.
    pub fn multixact_is_running(&self, _multi: MultiXid, _lock_only: bool) -> Result<bool> {
        todo!()
    }

    /// The updater among the members, if any. Counterpart: `MultiXactIdGetUpdateXid`.
    pub fn multixact_update_xid(&self, multi: MultiXid) -> Result<Xid> {
        let members = self.multixact_members(multi, false)?;
        let updater = members.iter().find(|m: &&MultiXactMember| m.status.is_update());
        Ok(updater.map_or(Xid::INVALID, |m| m.xid))
    }

    pub fn next_multixact(&self) -> MultiXid {
        todo!()
    }

    /// Oldest multixact that any running transaction might look at. Counterpart: `GetOldestMultiXactId`.
    pub fn oldest_multixact(&self) -> MultiXid {
        todo!()
    }
}

/// Which sessions a removal must respect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HorizonKind {
    /// Shared relations: snapshots of all databases count.
    Shared,
    /// Catalogs: like data here (no logical decoding yet).
    Catalog,
    /// Tables of the session's database.
    Data,
    /// Own temporary tables: only the own transaction counts.
    Temp,
}

/// Oldest ids that someone may still see as running, by kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Horizons {
    pub shared_oldest_nonremovable: Xid,
    pub catalog_oldest_nonremovable: Xid,
    pub data_oldest_nonremovable: Xid,
    pub temp_oldest_nonremovable: Xid,
    /// Oldest id still running or still seen as running by any snapshot.
    pub oldest_considered_running: Xid,
}

/// Answers "is the row version deleted by this xid invisible to everybody?" from two cached bounds
/// and recomputes them only when the answer lies between. Counterpart: `GlobalVisState`.
/// Got from [`crate::Transaction::global_vis`].
#[derive(Clone, Copy, Debug)]
pub struct GlobalVis {
    pub kind: HorizonKind,
    /// Ids from here on are certainly needed.
    pub definitely_needed: FullXid,
    /// Ids before this are certainly removable.
    pub maybe_needed: FullXid,
}

impl GlobalVis {
    /// Counterpart: `GlobalVisTestIsRemovableXid`.
    pub fn is_removable(&mut self, _manager: &TxnManager, _xid: Xid) -> bool {
        todo!()
    }
}
