//! Two-phase commit: the prepared transactions of the instance, their state in PostgreSQL's format,
//! the files in `pg_twophase`, and their recovery.
//!
//! ```text
//! PREPARE      -> Preparing -(record logged, moved)-> Prepared -(COMMIT PREPARED)-> Finishing
//! replay, file -> Replayed  -(end of recovery)------> Prepared
//! ```
//!
//! The state of a prepared transaction is in its log record, and in memory, until a checkpoint
//! whose redo pointer is after the record writes it to `pg_twophase/XXXXXXXX`.
//!
//! INVARIANT: at any time each prepared transaction has a record after the redo pointer of the last
//! checkpoint, or a durable file. A file whose transaction has ended is removed at the next start.
//!
//! LOCK ORDER: the mutex of [`TwoPhase`] is taken with no other lock held; files are written under
//! it, so that a transaction does not end meanwhile.
//!
//! Counterpart: twophase.c. `docs/design/0017-two-phase.md` describes the whole.
//!
//! Reading order: `state`, `file`, `registry`, `recovery`.

#![forbid(unsafe_code)]

mod file;
mod recovery;
mod registry;
mod state;

pub use registry::{Claim, Identity, PreparedRow, Reservation, TwoPhase};
pub use state::State;

#[cfg(test)]
mod tests;
