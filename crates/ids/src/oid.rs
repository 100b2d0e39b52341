//! Object identifiers. Counterpart: postgres_ext.h, access/transam.h.

use std::fmt;

/// Object identifier: 32 bits, never negative, 0 is "none".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Oid(pub u32);

impl Oid {
    pub const INVALID: Oid = Oid(0);
    /// First OID that PostgreSQL's build assigns where its catalog files name none.
    pub const FIRST_GENBKI: Oid = Oid(10_000);
    /// First OID that is not pinned: such objects may be dropped although initdb made them.
    pub const FIRST_UNPINNED: Oid = Oid(12_000);
    /// First OID assigned in normal operation.
    pub const FIRST_NORMAL: Oid = Oid(16_384);

    pub const fn is_valid(self) -> bool {
        self.0 != 0
    }

    /// `None` for the invalid OID.
    pub const fn valid(self) -> Option<Oid> {
        if self.0 == 0 { None } else { Some(self) }
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Oid({})", self.0)
    }
}
