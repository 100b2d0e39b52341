//! Threads with names and stack sizes.

#[cfg(not(loom))]
pub use std::thread::{JoinHandle, sleep, yield_now};

#[cfg(loom)]
pub use loom::thread::{JoinHandle, yield_now};

/// Time does not pass in a model: only lets other threads run.
#[cfg(loom)]
pub fn sleep(_span: std::time::Duration) {
    yield_now();
}

/// Stack of a thread that runs SQL, in bytes. Pages are touched lazily, so size costs address
/// space.
pub const STACK_BYTES: usize = 8 << 20;

/// Processors that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Starts a thread with the default stack.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    body: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<JoinHandle<T>> {
    spawn_with_stack(name, STACK_BYTES, body)
}

/// Starts a thread; `stack` in bytes. Names beyond 15 bytes are cut by the system.
#[cfg(not(loom))]
pub fn spawn_with_stack<T: Send + 'static>(
    name: impl Into<String>,
    stack: usize,
    body: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<JoinHandle<T>> {
    let counted = move || {
        let result = body();
        crate::memory::end_thread();
        result
    };
    std::thread::Builder::new().name(name.into()).stack_size(stack).spawn(counted)
}

#[cfg(loom)]
pub fn spawn_with_stack<T: Send + 'static>(
    _name: impl Into<String>,
    _stack: usize,
    body: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<JoinHandle<T>> {
    Ok(loom::thread::spawn(body))
}
