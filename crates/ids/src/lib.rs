//! Newtypes for identifiers and positions, and enums for the codes in catalog columns. Each has a
//! type of its own so that a block number can never be passed for an OID.
//!
//! Depends on no other crate. Reading order: `oid`, `xid`, `lsn`, `tid`, `relfile`, `code`,
//! `strategy`, `stored` (columns that describe stored values), `builtin` (OIDs of built-in
//! objects).

#![forbid(unsafe_code)]

pub mod builtin;
pub mod code;
mod lsn;
mod oid;
mod relfile;
pub mod stored;
pub mod strategy;
mod tid;
mod xid;

pub use code::{Persistence, RelKind};
pub use lsn::Lsn;
pub use oid::Oid;
pub use relfile::{BackendNo, Fork, RelFile};
pub use strategy::StrategyNumber;
pub use tid::{BlockNo, OffsetNo, Tid};
pub use xid::{CommandId, FullXid, MultiXid, SubXactId, Xid};

/// Number of a column: 1-based for user columns, negative for system columns, 0 for the whole row.
/// Counterpart: `AttrNumber`.
pub type AttrNo = i16;
