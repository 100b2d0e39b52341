//! The eight lock modes and their conflict table.
//!
//! Counterpart: lockdefs.h, `LockConflicts` in lock.c.

/// Strength of a lock; the discriminants are those that PostgreSQL uses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum LockMode {
    /// SELECT
    AccessShare = 1,
    /// SELECT FOR UPDATE/SHARE
    RowShare = 2,
    /// INSERT, UPDATE, DELETE
    RowExclusive = 3,
    /// VACUUM, ANALYZE, CREATE INDEX CONCURRENTLY
    ShareUpdateExclusive = 4,
    /// CREATE INDEX
    Share = 5,
    /// CREATE TRIGGER; like EXCLUSIVE but does not conflict with ROW SHARE
    ShareRowExclusive = 6,
    /// REFRESH MATERIALIZED VIEW CONCURRENTLY; conflicts with ROW SHARE too
    Exclusive = 7,
    /// ALTER TABLE, DROP TABLE, unqualified LOCK TABLE
    AccessExclusive = 8,
}

impl LockMode {
    pub const ALL: [LockMode; 8] = [
        LockMode::AccessShare,
        LockMode::RowShare,
        LockMode::RowExclusive,
        LockMode::ShareUpdateExclusive,
        LockMode::Share,
        LockMode::ShareRowExclusive,
        LockMode::Exclusive,
        LockMode::AccessExclusive,
    ];

    /// The mode's bit in a mask.
    #[inline]
    pub(crate) const fn bit(self) -> u16 {
        1 << self as u8
    }

    /// Mask of the modes that cannot be held beside this one.
    #[inline]
    pub(crate) const fn conflicts(self) -> u16 {
        CONFLICTS[self as usize]
    }

    pub const fn conflicts_with(self, other: LockMode) -> bool {
        self.conflicts() & other.bit() != 0
    }

    /// The name in `pg_locks.mode`.
    pub const fn name(self) -> &'static str {
        match self {
            LockMode::AccessShare => "AccessShareLock",
            LockMode::RowShare => "RowShareLock",
            LockMode::RowExclusive => "RowExclusiveLock",
            LockMode::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
            LockMode::Share => "ShareLock",
            LockMode::ShareRowExclusive => "ShareRowExclusiveLock",
            LockMode::Exclusive => "ExclusiveLock",
            LockMode::AccessExclusive => "AccessExclusiveLock",
        }
    }
}

const fn mask(modes: &[LockMode]) -> u16 {
    let mut out = 0;
    let mut i = 0;
    while i < modes.len() {
        out |= modes[i].bit();
        i += 1;
    }
    out
}

use LockMode::{
    AccessExclusive, Exclusive, RowExclusive, RowShare, Share, ShareRowExclusive,
    ShareUpdateExclusive,
};

/// Indexed by mode number; entry 0 is unused.
const CONFLICTS: [u16; 9] = [
    0,
    mask(&[AccessExclusive]),
    mask(&[Exclusive, AccessExclusive]),
    mask(&[Share, ShareRowExclusive, Exclusive, AccessExclusive]),
    mask(&[ShareUpdateExclusive, Share, ShareRowExclusive, Exclusive, AccessExclusive]),
    mask(&[RowExclusive, ShareUpdateExclusive, ShareRowExclusive, Exclusive, AccessExclusive]),
    mask(&[
        RowExclusive,
        ShareUpdateExclusive,
        Share,
        ShareRowExclusive,
        Exclusive,
        AccessExclusive,
    ]),
    mask(&[
        RowShare,
        RowExclusive,
        ShareUpdateExclusive,
        Share,
        ShareRowExclusive,
        Exclusive,
        AccessExclusive,
    ]),
    mask(&LockMode::ALL),
];
