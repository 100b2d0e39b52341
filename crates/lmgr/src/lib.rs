//! Heavyweight locks: what SQL calls LOCK, the waits on transactions and tuples, advisory locks,
//! and the detection of deadlocks among them.
//!
//! One [`LockManager`] an instance, one [`LockSession`] a session. Locks on relations in the weak
//! modes (up to ROW EXCLUSIVE) stay in the session's own slot as long as nobody holds or wants a
//! strong one (`fastpath`), so a point query writes no shared line. All other locks live in a
//! table of partitions (`table`), each under its mutex.
//!
//! LOCK ORDER: partition mutexes in ascending number, then a slot's mutex. Nothing else is taken
//! inside. Strong lockers raise the counter before they look into the slots; weak lockers look at
//! the counter inside their slot's mutex. Hence one of the two sees the other.
//!
//! Counterpart: lock.c, proc.c, deadlock.c, lmgr.c. Lock groups (parallel workers) do not exist:
//! threads that work for one session share its locks by construction.
//!
//! Reading order: `mode`, `tag`, `table`, `fastpath`, `session`, `sleep`, `deadlock`, `view`.

#![forbid(unsafe_code)]

mod deadlock;
mod fastpath;
mod manager;
mod mode;
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
