//! Lock tags, the names of lockable objects.
//!
//! Counterpart: `LOCKTAG` in lock.h, `DescribeLockTag` in lmgr.c.

use ids::{BackendNo, BlockNo, Oid, Tid, Xid};
use std::fmt;
use sync::wait::WaitEvent;

/// Kinds of lockable objects, numbered as in PostgreSQL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum LockTagKind {
    Relation = 0,
    RelationExtend = 1,
    DatabaseFrozenIds = 2,
    Page = 3,
    Tuple = 4,
    Transaction = 5,
    VirtualTransaction = 6,
    SpeculativeToken = 7,
    Object = 8,
    Userlock = 9,
    Advisory = 10,
}

impl LockTagKind {
    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<LockTagKind> {
        const ALL: [LockTagKind; 11] = [
            LockTagKind::Relation,
            LockTagKind::RelationExtend,
            LockTagKind::DatabaseFrozenIds,
            LockTagKind::Page,
            LockTagKind::Tuple,
            LockTagKind::Transaction,
            LockTagKind::VirtualTransaction,
            LockTagKind::SpeculativeToken,
            LockTagKind::Object,
            LockTagKind::Userlock,
            LockTagKind::Advisory,
        ];
        ALL.get(usize::from(number)).copied()
    }

    /// The name in `pg_locks.locktype`.
    pub const fn name(self) -> &'static str {
        match self {
            LockTagKind::Relation => "relation",
            LockTagKind::RelationExtend => "extend",
            LockTagKind::DatabaseFrozenIds => "frozenid",
            LockTagKind::Page => "page",
            LockTagKind::Tuple => "tuple",
            LockTagKind::Transaction => "transactionid",
            LockTagKind::VirtualTransaction => "virtualxid",
            LockTagKind::SpeculativeToken => "spectoken",
            LockTagKind::Object => "object",
            LockTagKind::Userlock => "userlock",
            LockTagKind::Advisory => "advisory",
        }
    }

    pub(crate) const fn wait_event(self) -> WaitEvent {
        match self {
            LockTagKind::Relation => WaitEvent::LockRelation,
            LockTagKind::RelationExtend => WaitEvent::LockExtend,
            LockTagKind::DatabaseFrozenIds => WaitEvent::LockFrozenId,
            LockTagKind::Page => WaitEvent::LockPage,
            LockTagKind::Tuple => WaitEvent::LockTuple,
            LockTagKind::Transaction => WaitEvent::LockTransactionId,
            LockTagKind::VirtualTransaction => WaitEvent::LockVirtualXid,
            LockTagKind::SpeculativeToken => WaitEvent::LockSpecToken,
            LockTagKind::Object => WaitEvent::LockObject,
            LockTagKind::Userlock => WaitEvent::LockUserlock,
            LockTagKind::Advisory => WaitEvent::LockAdvisory,
        }
    }
}

/// A session's slot and its local transaction number. Identifies a transaction that may have no
/// xid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VirtualXid {
    pub backend: BackendNo,
    pub local: u32,
}

impl VirtualXid {
    pub const fn is_valid(self) -> bool {
        self.local != 0
    }
}

impl fmt::Display for VirtualXid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // -1: a prepared transaction after a restart.
        write!(f, "{}/{}", self.backend.0 as i32, self.local)
    }
}

/// Name of a lockable object; the meaning of the fields depends on the kind, as in PostgreSQL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockTag {
    pub field1: u32,
    pub field2: u32,
    pub field3: u32,
    pub field4: u16,
    pub kind: LockTagKind,
}

/// Two words instead of five fields, for speed: a tag is hashed several times per acquisition.
impl std::hash::Hash for LockTag {
    #[inline]
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.field1) << 32 | u64::from(self.field2));
        let rest = u64::from(self.field3) << 32 | u64::from(self.field4) << 16;
        state.write_u64(rest | self.kind as u64);
    }
}

impl LockTag {
    const fn new(kind: LockTagKind, f1: u32, f2: u32, f3: u32, f4: u16) -> LockTag {
        LockTag { field1: f1, field2: f2, field3: f3, field4: f4, kind }
    }

    /// A whole relation; `database` is 0 for a shared relation.
    pub const fn relation(database: Oid, relation: Oid) -> LockTag {
        LockTag::new(LockTagKind::Relation, database.0, relation.0, 0, 0)
    }

    /// The right to extend a relation.
    pub const fn relation_extend(database: Oid, relation: Oid) -> LockTag {
        LockTag::new(LockTagKind::RelationExtend, database.0, relation.0, 0, 0)
    }

    /// The right to change `pg_database.datfrozenxid`.
    pub const fn database_frozen_ids(database: Oid) -> LockTag {
        LockTag::new(LockTagKind::DatabaseFrozenIds, database.0, 0, 0, 0)
    }

    pub const fn page(database: Oid, relation: Oid, block: BlockNo) -> LockTag {
        LockTag::new(LockTagKind::Page, database.0, relation.0, block.0, 0)
    }

    pub const fn tuple(database: Oid, relation: Oid, tid: Tid) -> LockTag {
        LockTag::new(LockTagKind::Tuple, database.0, relation.0, tid.block.0, tid.offset)
    }

    pub const fn transaction(xid: Xid) -> LockTag {
        LockTag::new(LockTagKind::Transaction, xid.0, 0, 0, 0)
    }

    pub const fn virtual_transaction(vxid: VirtualXid) -> LockTag {
        LockTag::new(LockTagKind::VirtualTransaction, vxid.backend.0, vxid.local, 0, 0)
    }

    /// A speculative insertion by `xid`.
    pub const fn speculative(xid: Xid, token: u32) -> LockTag {
        LockTag::new(LockTagKind::SpeculativeToken, xid.0, token, 0, 0)
    }

    /// Any other object: `class` is the OID of its catalog, `sub` a sub-object number.
    pub const fn object(database: Oid, class: Oid, object: Oid, sub: u16) -> LockTag {
        LockTag::new(LockTagKind::Object, database.0, class.0, object.0, sub)
    }

    /// `pg_advisory_lock(bigint)`.
    pub const fn advisory_bigint(database: Oid, key: i64) -> LockTag {
        LockTag::new(LockTagKind::Advisory, database.0, (key >> 32) as u32, key as u32, 1)
    }

    /// `pg_advisory_lock(int, int)`.
    pub const fn advisory_ints(database: Oid, key1: i32, key2: i32) -> LockTag {
        LockTag::new(LockTagKind::Advisory, database.0, key1 as u32, key2 as u32, 2)
    }

    /// True if weak modes of it may use the fast path. Only relations of a database may, as in
    /// PostgreSQL: locks on shared relations and other objects are rare.
    pub(crate) const fn fast_path_kind(&self) -> bool {
        matches!(self.kind, LockTagKind::Relation) && self.field1 != 0
    }
}

/// The text in deadlock reports and lock-wait log messages.
impl fmt::Display for LockTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b, c, d) = (self.field1, self.field2, self.field3, self.field4);
        match self.kind {
            LockTagKind::Relation => write!(f, "relation {b} of database {a}"),
            LockTagKind::RelationExtend => write!(f, "extension of relation {b} of database {a}"),
            LockTagKind::DatabaseFrozenIds => {
                write!(f, "pg_database.datfrozenxid of database {a}")
            }
            LockTagKind::Page => write!(f, "page {c} of relation {b} of database {a}"),
            LockTagKind::Tuple => write!(f, "tuple ({c},{d}) of relation {b} of database {a}"),
            LockTagKind::Transaction => write!(f, "transaction {a}"),
            LockTagKind::VirtualTransaction => write!(f, "virtual transaction {a}/{b}"),
            LockTagKind::SpeculativeToken => {
                write!(f, "speculative token {b} of transaction {a}")
            }
            LockTagKind::Object => write!(f, "object {c} of class {b} of database {a}"),
            LockTagKind::Userlock => write!(f, "user lock [{a},{b},{c}]"),
            LockTagKind::Advisory => write!(f, "advisory lock [{a},{b},{c},{d}]"),
        }
    }
}
