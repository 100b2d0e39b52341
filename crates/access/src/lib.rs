//! The interface between the engine and the index access methods. A method implements
//! [`IndexAm`] (one value), [`Index`] (an open index), [`IndexBuild`] and [`IndexScan`]; the engine
//! and all code above it use these traits and the method's [`MethodInfo`] only.
//!
//! Reading order: `method` (what a method can do), `def` (definition of one index), `layout` (index
//! tuples), `cx` (context of an operation: pages, WAL, free space), `index` (an open index and its
//! build), `liveness` (questions to the table), `strategy`, `key` (conditions of a scan), `scan`.
//! `docs/design/0004-access-methods.md` states the rules that implementations keep.
//!
//! Counterpart: access/amapi.h, access/genam.h, access/skey.h.

#![forbid(unsafe_code)]

mod cx;
mod def;
pub mod generic;
mod index;
mod inline;
mod key;
mod layout;
mod liveness;
mod method;
mod scan;

pub use cx::{Cx, Edit, IndexFile, Limits, Xids};
pub use def::{IndexColumn, IndexDef, Support, SupportFunction, is_on};
pub use ids::StrategyNumber;
pub use ids::strategy;
pub use index::{
    BuildOptions, BulkDeleteResult, Index, IndexBuild, Insert, Inserted, IsDead, OnDuplicate,
    OnEntry, PendingStats, QuerySize, Row, UniqueCheck,
};
pub use inline::decompress;
pub use key::{RowMember, ScanKey};
pub use layout::TupleLayout;
pub use liveness::{DeleteCandidate, DeleteOp, DirtyState, HeapLiveness};
pub use method::{
    AmState, Capabilities, CostModel, IndexAm, MethodInfo, OptionKind, StorageOption, SupportKind,
};
pub use scan::{AllVisible, Direction, IndexScan, ScanItem, ScanOptions, ScanPage};
