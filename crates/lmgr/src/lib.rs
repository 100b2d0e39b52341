//! The lock manager: heavyweight locks on relations and other objects, transactions, tuples and
//! advisory keys, and deadlock detection.
//!
//! There is one [`LockManager`] per instance and one [`LockSession`] per session. Locks on
//! relations in the weak modes (up to ROW EXCLUSIVE) stay in the session's own slot (`fastpath`)
//! while no session holds or requests a strong mode, so a point query writes no shared cache line.
//! All other locks are in a partitioned hash table (`table`), each partition under its mutex.
//!
//! LOCK ORDER: partition mutexes in ascending number, then a slot's mutex. No other lock is taken
//! under them.
//!
//! INVARIANT: a session that requests a strong mode increments the strong-lock counter before it
//! reads the slots; a session that requests a weak mode reads the counter under its slot's mutex.
//! So either the strong request finds the weak lock in the slot, or the weak request finds the
//! counter nonzero and goes to the shared table.
//!
//! Counterpart: lock.c, proc.c, deadlock.c, lmgr.c. Lock groups (parallel workers) do not exist:
//! threads that work for one session share its locks by construction.
//!
//! Reading order: `mode`, `tag`, `table`, `fastpath`, `session`, `prepared`, `sleep`, `deadlock`,
//! `view`.

#![forbid(unsafe_code)]

mod deadlock;
mod fastpath;
mod manager;
mod mode;
mod prepared;
mod session;
mod sleep;
mod table;
mod tag;
mod view;

pub use manager::{LockManager, ProcNo};
pub use mode::LockMode;
pub use session::{Acquired, LockOwner, LockSession, WaitPolicy, interrupt_error};
pub use tag::{LockTag, LockTagKind, VirtualXid};
pub use view::LockRow;

#[cfg(test)]
mod tests;
