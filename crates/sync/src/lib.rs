//! The only source of latches, atomics, locks, threads and waiting. Under `cfg(loom)` all of it is
//! replaced by loom's, so that the protocols built on it can be model-checked:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p sync --target-dir target/loom loom_
//! ```
//!
//! Reading order: `atomic` and `lock` (re-exports), `latch` (page latches), `wait` (parking of
//! sessions, interrupts, wait events), `waitpoint` (waiting for a condition on atomics), `memory`
//! (counted allocation), `thread`.

pub mod atomic;
mod latch;
mod lock;
pub mod memory;
mod thread;
pub mod wait;
mod waitpoint;

pub use latch::{LatchMode, PageLatch};
pub use lock::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use thread::{JoinHandle, cores, sleep, spawn, spawn_with_stack, yield_now};
pub use waitpoint::WaitPoint;
