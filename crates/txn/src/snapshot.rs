//! Snapshots, which decide the transactions whose effects a statement sees.
//!
//! Counterpart: snapshot.h, `XidInMVCCSnapshot` in snapmgr.c.

use crate::manager::TxnManager;
use ids::{CommandId, Xid};
use pgerror::Result;

/// The visibility rules of a snapshot. Only `Mvcc` uses the xid fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SnapshotKind {
    /// Rows committed when the snapshot was taken, plus the transaction's own changes by earlier
    /// commands.
    #[default]
    Mvcc,
    /// Rows committed now, plus all own changes. PostgreSQL's `SNAPSHOT_SELF`.
    SelfNow,
    /// Every row version.
    Any,
    /// TOAST chunks: every version whose insertion is not known to have failed.
    Toast,
    /// Like `SelfNow`, but uncommitted changes of other transactions are visible and reported.
    Dirty,
}

/// Counterpart: `SnapshotData`.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub kind: SnapshotKind,
    /// All ids before this one had ended.
    pub xmin: Xid,
    /// No id from this one on had ended.
    pub xmax: Xid,
    /// Top-level ids in progress, `xmin <= xid < xmax`.
    pub xip: Vec<Xid>,
    /// Subtransaction ids in progress; incomplete when `overflowed`.
    pub subxip: Vec<Xid>,
    /// A session had more subtransactions than its slot holds: parents must be looked up.
    pub overflowed: bool,
    /// Own changes by commands before this one are visible.
    pub curcid: CommandId,
    /// Count of completed transactions (`TxnManager::completions`) when the snapshot was taken.
    pub completion_count: u64,
}

impl Snapshot {
    /// A snapshot of a kind that reads no xid arrays.
    pub fn of_kind(kind: SnapshotKind) -> Snapshot {
        Snapshot { kind, ..Snapshot::default() }
    }

    /// True if `xid` was in progress (or not yet assigned) when the snapshot was taken.
    /// Counterpart: `XidInMVCCSnapshot`.
    #[inline]
    pub fn in_progress(&self, xid: Xid, manager: &TxnManager) -> Result<bool> {
        if xid.precedes(self.xmin) {
            return Ok(false);
        }
        if xid.follows_or_equals(self.xmax) {
            return Ok(true);
        }
        self.in_arrays(xid, manager)
    }

    fn in_arrays(&self, xid: Xid, manager: &TxnManager) -> Result<bool> {
        let mut xid = xid;
        if !self.overflowed {
            if self.subxip.contains(&xid) {
                return Ok(true);
            }
        } else {
            // `subxip` is incomplete: replace a subtransaction by its top-level parent.
            xid = manager.topmost_parent(xid, self.xmin)?;
            if xid.precedes(self.xmin) {
                return Ok(false);
            }
        }
        Ok(self.xip.contains(&xid))
    }
}
