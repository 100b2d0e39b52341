//! Shared buffers: frames, pins and latches, page edits, rings, background writing.
//!
//! Reading order: `frame` (memory, descriptors, the state word), `forks` (block → frame, the
//! registry), `pool` (reading, extending, dropping), `clock` and `ring` (replacement), `guard`
//! (latches as types, hints), `order` (latch order, checked in debug builds), `session` (a
//! session's settings and warnings), `readahead`, `edit` (changing pages), `append` (bulk load
//! without frames), `redo`, `write` (checkpoints, background writer), `writeback`. `README.md` of
//! this crate describes the algorithm.
//!
//! LOCK ORDER: page latches in the order that access methods define, then a fork's extension lock,
//! then I/O of a frame, then a frame's owner lock. An evicting thread, which may hold latches,
//! never waits for a latch or for another thread's write; only readers of a page wait for its read.
//!
//! **Architecture Invariant**: unsafe code is in `frame` and `guard` only.

#![deny(unsafe_code)]

mod append;
mod clock;
mod edit;
mod forks;
#[allow(unsafe_code)]
mod frame;
#[allow(unsafe_code)]
mod guard;
mod inspect;
mod order;
mod pool;
mod readahead;
pub mod redo;
mod ring;
mod session;
mod write;
mod writeback;

pub use append::LOAD_PAGES_MAX;
pub use edit::PageEdit;
pub use forks::ForkBuffers;
pub use guard::{CleanupGuard, ExclusiveGuard, Pin, ShareExclusiveGuard, ShareGuard};
pub use inspect::BufferInfo;
pub use pool::{BufferPool, PoolConfig, PoolStats};
pub use readahead::READ_AHEAD_MAX;
pub use ring::{BufferUsage, PageReads, Strategy, VACUUM_RING};
pub use session::{PoolSession, PoolSettings};
pub use write::{BackgroundWriter, CheckpointProgress};

#[cfg(all(test, not(loom)))]
mod tests;
