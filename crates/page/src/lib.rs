//! Page and tuple formats of PostgreSQL 15, without I/O.
//!
//! Reading order: `raw` (the memory of a page), `header`, `item` (line pointers), `space` (adding,
//! deleting, compacting), `checksum`; for tuples `tupdesc`, `value`, `varlena`, `pglz`,
//! `heap_tuple`, `form`, `deform`; for other files `fsm`, `vm`, `sequence`, `slru`; for indexes
//! `index_tuple`, `index_space`, `btree`, `hash`, `gin`.
//!
//! **Architecture Invariant**: this crate does no I/O, takes no locks and does not depend on
//! buffers.

pub mod bloom;
pub mod btree;
pub mod checksum;
pub mod deform;
pub mod form;
pub mod fsm;
pub mod gin;
pub mod gist;
pub mod hash;
pub mod header;
pub mod heap_tuple;
pub mod index_space;
pub mod index_tuple;
pub mod item;
pub mod pglz;
pub mod raw;
pub mod sequence;
pub mod slru;
pub mod space;
pub mod tupdesc;
pub mod value;
pub mod varlena;
pub mod vm;

pub use checksum::{Verified, checksum_bytes};
pub use deform::Deformer;
pub use header::max_align;
pub use heap_tuple::{HeapTuple, HeapTupleHeader};
pub use item::{LinePointer, LpFlags};
pub use raw::{Hints, PAGE_SIZE, Page, PageBuf, PageMut, PageRef};
pub use space::AddAt;
pub use tupdesc::{Align, Attr, Missing, TupleDesc};
pub use value::Value;

#[cfg(test)]
mod real_tests;
