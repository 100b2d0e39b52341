//! What a statement sees. Counterpart: utils/snapshot.h, procarray.c (`GetSnapshotData`),
//! snapmgr.c (`XidInMVCCSnapshot`).

use crate::TxnManager;
use ids::{CommandId, Xid};
use pgerror::Result;

/// Which visibility rules a snapshot asks for. Only `Mvcc` (and `NonVacuumable`) use the xid
/// fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SnapshotKind {
    /// Rows as of the moment the snapshot was taken, plus own changes of earlier commands.
    #[default]
    Mvcc,
    /// Committed rows and all own changes, as of now.
    SelfNow,
    /// Every row version.
    Any,
    /// TOAST chunks: nearly every version.
    Toast,
    /// Like `SelfNow`, but uncommitted changes of others are seen and reported.
    Dirty,
}

/// Counterpart: `SnapshotData`.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub kind: SnapshotKind,
    /// All ids before this one are finished.
    pub xmin: Xid,
    /// All ids from this one on had not begun.
    pub xmax: Xid,
    /// Top-level ids in progress, `xmin <= xid < xmax`.
    pub xip: Vec<Xid>,
    /// Subtransaction ids in progress; incomplete when `overflowed`.
    pub subxip: Vec<Xid>,
    /// Some session had more subtransactions than its cache holds: parents must be looked up.
    pub overflowed: bool,
    /// Own changes of commands before this one are visible.
    pub curcid: CommandId,
    /// Value of the count of completed transactions that this snapshot reflects.
    pub completion_count: u64,
}

impl Snapshot {
    /// A snapshot of a kind that reads no xid arrays.
    pub fn of_kind(kind: SnapshotKind) -> Snapshot {
        Snapshot { kind, ..Snapshot::default() }
    }

    /// Was `xid` in progress (or not begun) when the snapshot was taken?
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
            // Too many subtransactions to list them: only their top-level parents are listed.
            xid = manager.topmost_parent(xid, self.xmin)?;
            if xid.precedes(self.xmin) {
                return Ok(false);
            }
        }
        Ok(self.xip.contains(&xid))
    }
}
