//! Transaction, multixact, subtransaction and command numbers. Counterpart: access/transam.h.

use std::fmt;

/// Transaction id: 32 bits, compared modulo 2^32 (of two ids, the one less than 2^31 behind the
/// other is older). Deliberately not `Ord`: use [`Xid::precedes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Xid(pub u32);

impl Xid {
    pub const INVALID: Xid = Xid(0);
    pub const BOOTSTRAP: Xid = Xid(1);
    pub const FROZEN: Xid = Xid(2);
    pub const FIRST_NORMAL: Xid = Xid(3);

    #[inline]
    pub const fn is_valid(self) -> bool {
        self.0 != 0
    }

    /// Normal: assigned to a transaction, neither invalid, bootstrap nor frozen.
    #[inline]
    pub const fn is_normal(self) -> bool {
        self.0 >= 3
    }

    /// True if `self` is logically before `other`. Permanent ids are before all normal ones.
    #[inline]
    pub const fn precedes(self, other: Xid) -> bool {
        if !self.is_normal() || !other.is_normal() {
            return self.0 < other.0;
        }
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    #[inline]
    pub const fn precedes_or_equals(self, other: Xid) -> bool {
        self.0 == other.0 || self.precedes(other)
    }

    #[inline]
    pub const fn follows(self, other: Xid) -> bool {
        other.precedes(self)
    }

    #[inline]
    pub const fn follows_or_equals(self, other: Xid) -> bool {
        other.precedes_or_equals(self)
    }

    /// The next normal id.
    #[must_use]
    #[inline]
    pub const fn next(self) -> Xid {
        let n = self.0.wrapping_add(1);
        if n < 3 { Xid(3) } else { Xid(n) }
    }

    /// The previous normal id.
    #[must_use]
    pub const fn prev(self) -> Xid {
        let n = self.0.wrapping_sub(1);
        if n < 3 { Xid(u32::MAX) } else { Xid(n) }
    }

    /// The older of two normal ids.
    #[must_use]
    #[inline]
    pub const fn older(self, other: Xid) -> Xid {
        if other.precedes(self) { other } else { self }
    }
}

impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Xid({})", self.0)
    }
}

/// Transaction id with its epoch in the upper 32 bits: never wraps, totally ordered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct FullXid(pub u64);

impl FullXid {
    pub const fn new(epoch: u32, xid: Xid) -> FullXid {
        FullXid((epoch as u64) << 32 | xid.0 as u64)
    }

    pub const fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub const fn xid(self) -> Xid {
        Xid(self.0 as u32)
    }

    /// The next id whose lower half is a normal XID.
    #[must_use]
    #[inline]
    pub const fn next(self) -> FullXid {
        let n = self.0 + 1;
        if (n as u32) < 3 { FullXid((n & !0xFFFF_FFFF) | 3) } else { FullXid(n) }
    }
}

/// Multixact id: names a set of lockers and at most one updater of a row. Wraps like [`Xid`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct MultiXid(pub u32);

impl MultiXid {
    pub const INVALID: MultiXid = MultiXid(0);
    pub const FIRST: MultiXid = MultiXid(1);

    #[inline]
    pub const fn is_valid(self) -> bool {
        self.0 != 0
    }

    #[inline]
    pub const fn precedes(self, other: MultiXid) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    #[inline]
    pub const fn precedes_or_equals(self, other: MultiXid) -> bool {
        self.0 == other.0 || self.precedes(other)
    }

    #[must_use]
    #[inline]
    pub const fn next(self) -> MultiXid {
        let n = self.0.wrapping_add(1);
        if n == 0 { MultiXid(1) } else { MultiXid(n) }
    }
}

impl fmt::Display for MultiXid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of a command within its transaction. Counterpart: `CommandId`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct CommandId(pub u32);

impl CommandId {
    pub const FIRST: CommandId = CommandId(0);
    pub const INVALID: CommandId = CommandId(u32::MAX);
}

/// Number of a subtransaction within its transaction; the top level is 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct SubXactId(pub u32);

impl SubXactId {
    pub const INVALID: SubXactId = SubXactId(0);
    pub const TOP: SubXactId = SubXactId(1);
}
