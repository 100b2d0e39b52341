//! Shared buffers: frames, pins and latches, page edits, rings, background writing.
//!
//! Reading order: `frame` (memory, descriptors, the state word), `forks` (block → frame, the registry),
//! `pool` (reading, extending, dropping), `clock` and `ring` (who is replaced), `guard` (latches as types), `edit`
//! (changing pages), `hint`, `redo`, `write` (checkpoints, background writer).
//!
//! LOCK ORDER: page latches in the order that access methods define, then a fork's extension lock (never while
//! waiting for a latch of that fork), then I/O of a frame. An evictor, who may hold latches, never waits
//! for a latch or another's I/O.

mod edit;
mod forks;
mod guard;
mod pool;
pub mod redo;
mod ring;

pub use edit::PageEdit;
pub use forks::ForkBuffers;
pub use guard::{CleanupGuard, ExclusiveGuard, Pin, ShareExclusiveGuard, ShareGuard};
pub use pool::{BufferPool, PoolConfig, PoolStats};
pub use ring::{BufferUsage, Strategy};
