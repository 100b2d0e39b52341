//! Operations on rows that plan nodes and commands share, and the executor's interface to the
//! session. Counterpart: parts of executor/ and utils/sort/.
//!
//! Reading order: `services` (what the session does for a running statement), `relation` and
//! `trigger` (descriptors of open tables, changes of rows), `write` (the row writer), `keys`
//! (hashing and equality), `spill` (temporary files), `sorter`, `tidbitmap`, `spare`.
//!
//! INVARIANT: as in the executor, nothing is looked up by name and no page is accessed.

#![forbid(unsafe_code)]

pub mod keys;
pub mod relation;
pub mod services;
pub mod sorter;
pub mod spare;
pub mod spill;
pub mod tidbitmap;
pub mod trigger;
pub mod write;
