//! Sets of lockers of a row. Counterpart: multixact.c.

use ids::Xid;
use smallvec::SmallVec;

/// How strongly a member holds the row. The discriminants are those on disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum MultiXactStatus {
    ForKeyShare = 0,
    ForShare = 1,
    ForNoKeyUpdate = 2,
    ForUpdate = 3,
    /// An update that leaves the key columns alone.
    NoKeyUpdate = 4,
    /// An update of key columns, or a delete.
    Update = 5,
}

impl MultiXactStatus {
    /// Updates and deletes, as opposed to mere locks. Counterpart: `ISUPDATE_from_mxstatus`.
    pub const fn is_update(self) -> bool {
        matches!(self, MultiXactStatus::NoKeyUpdate | MultiXactStatus::Update)
    }

    pub const fn from_u8(n: u8) -> Option<MultiXactStatus> {
        Some(match n {
            0 => MultiXactStatus::ForKeyShare,
            1 => MultiXactStatus::ForShare,
            2 => MultiXactStatus::ForNoKeyUpdate,
            3 => MultiXactStatus::ForUpdate,
            4 => MultiXactStatus::NoKeyUpdate,
            5 => MultiXactStatus::Update,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MultiXactMember {
    pub xid: Xid,
    pub status: MultiXactStatus,
}

/// Members of one multixact; nearly always few.
pub type Members = SmallVec<[MultiXactMember; 4]>;
