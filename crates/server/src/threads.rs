//! Threads that serve connections, one per connection, and their limits.
//!
//! The parser allocates a thread-specific key, permanently, in each thread that uses it, and a
//! process has only about a thousand of them. A thread that has served a session therefore waits
//! for the next one when the session ends; their number is bounded by the maximum of concurrent
//! sessions. A thread whose connection did not become a session has not used the parser and exits.
//!
//! Connections that are not yet authenticated are not limited by `max_connections`. All connections
//! together are limited by [`Threads::connections_max`]; beyond that a connection is refused at
//! once.

use crate::net::Stream;
use crate::spin::SpinningStream;
use pgerror::{PgError, Severity};
use session::{Instance, LogOrigin, TlsAcceptor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use sync::atomic::{AtomicUsize, Ordering};
use sync::{Mutex, RwLock};

/// Stack size of session threads in bytes: enough for recursion over the deepest tree that the
/// parser builds (4,000 levels). Pages are allocated on first use, so the size costs only address
/// space. Frames of unoptimised builds are large.
pub(crate) const STACK_BYTES: usize = if cfg!(debug_assertions) { 256 << 20 } else { 64 << 20 };

/// Stack size in bytes of threads that reject connections: enough for a handshake.
const REJECTING_STACK_BYTES: usize = 1 << 20;

/// Maximum number of concurrent threads that reject connections during start-up.
const REJECTING_MAX: usize = 64;

/// Passes connections from listeners to threads; closed until the server is ready.
#[derive(Default)]
pub(crate) struct ConnectionGate {
    threads: RwLock<Option<Arc<Threads>>>,
    rejecting: Arc<AtomicUsize>,
    /// Encrypts connections that are rejected during start-up.
    tls: Option<Arc<dyn TlsAcceptor>>,
}

/// A counted connection slot, released on drop.
struct ConnectionSlot(Arc<AtomicUsize>);

impl ConnectionSlot {
    /// Acquires a slot; `None` if all are in use.
    fn take(taken: &Arc<AtomicUsize>, slots_max: usize) -> Option<ConnectionSlot> {
        let slot = ConnectionSlot(taken.clone());
        (taken.fetch_add(1, Ordering::Relaxed) < slots_max).then_some(slot)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ConnectionGate {
    pub(crate) fn new(tls: Option<Arc<dyn TlsAcceptor>>) -> ConnectionGate {
        ConnectionGate { tls, ..ConnectionGate::default() }
    }

    pub(crate) fn open(&self, threads: Arc<Threads>) {
        *self.threads.write() = Some(threads);
    }

    /// Serves a connection, or rejects it during start-up.
    pub(crate) fn enter(&self, stream: Stream) {
        let threads = self.threads.read().clone();
        match threads {
            Some(threads) => threads.serve(stream),
            None => {
                let Some(slot) = ConnectionSlot::take(&self.rejecting, REJECTING_MAX) else {
                    return;
                };
                // If no thread can be created, the connection is closed without a message.
                let tls = self.tls.clone();
                let _ = sync::spawn_with_stack("rejecting", REJECTING_STACK_BYTES, move || {
                    session::refuse_not_ready(
                        Box::new(stream),
                        "the database system is starting up",
                        tls.as_deref(),
                    );
                    drop(slot);
                });
            }
        }
    }
}

/// The pool of session threads.
pub(crate) struct Threads {
    instance: Arc<Instance>,
    idle: Mutex<Vec<Sender<(Stream, ConnectionSlot)>>>,
    connections: Arc<AtomicUsize>,
}

impl Threads {
    pub(crate) fn new(instance: Arc<Instance>) -> Arc<Threads> {
        Arc::new(Threads { instance, idle: Mutex::default(), connections: Arc::default() })
    }

    /// Maximum number of connections, authenticated or not. Counterpart:
    /// `MaxLivePostmasterChildren`.
    fn connections_max(&self) -> usize {
        let base = self.instance.base();
        let count = |name: &str| usize::try_from(base.int(name)).unwrap_or(0);
        2 * (count("max_connections")
            + count("max_wal_senders")
            + count("max_worker_processes")
            + 1)
    }

    /// Serves a connection in its own thread.
    pub(crate) fn serve(self: &Arc<Threads>, stream: Stream) {
        let Some(slot) = ConnectionSlot::take(&self.connections, self.connections_max()) else {
            return self.refuse(stream);
        };
        let mut connection = (stream, slot);
        let waiting = self.idle.lock().pop();
        if let Some(thread) = waiting {
            match thread.send(connection) {
                Ok(()) => return,
                Err(back) => connection = back.0,
            }
        }
        let (sender, receiver) = channel();
        let me = self.clone();
        let own = sender.clone();
        let made = sync::spawn_with_stack("session", STACK_BYTES, move || {
            let mut has_parsed = false;
            while let Ok((stream, slot)) = receiver.recv() {
                has_parsed |= me.serve_here(stream);
                drop(slot);
                if !has_parsed {
                    break;
                }
                me.idle.lock().push(own.clone());
            }
        });
        match made {
            Ok(_) => {
                let _ = sender.send(connection);
            }
            Err(e) => {
                let report = pgerror::pg_err!(
                    INSUFFICIENT_RESOURCES,
                    "could not create a thread for a new connection: {e}"
                );
                self.log(&report.severity(Severity::Log));
            }
        }
    }

    /// Sends "too many clients" without waiting for the startup packet, since this runs in the
    /// listener's thread.
    fn refuse(&self, stream: Stream) {
        let error = pgerror::pg_err!(TOO_MANY_CONNECTIONS, "sorry, too many clients already")
            .severity(Severity::Fatal);
        self.log(&error);
        let mut out = Vec::new();
        wire::backend::report(&mut out, &error);
        // Input is read first, because closing a socket with unread bytes may discard sent data.
        let _ = stream.read_now(&mut [0; 1024]);
        let _ = session::Transport::write(&mut stream.clone(), &out);
    }

    /// Runs the session. Returns true if the connection became a session. A panic ends only this
    /// session: locks, latches and pins are released by unwinding.
    fn serve_here(&self, stream: Stream) -> bool {
        sync::memory::begin_session();
        let mut client = stream.clone();
        let instance = &self.instance;
        let served = catch_unwind(AssertUnwindSafe(|| {
            session::serve(instance, Box::new(SpinningStream::new(stream)))
        }));
        sync::memory::release();
        served.unwrap_or_else(|panic| {
            let what = panic.downcast_ref::<String>().cloned();
            let what = what.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            let message = format!("session failed: {}", what.unwrap_or_default());
            let error = PgError::internal(message).severity(Severity::Fatal);
            self.log(&error);
            let mut out = Vec::new();
            wire::backend::report(&mut out, &error);
            let _ = session::Transport::write(&mut client, &out);
            true
        })
    }

    fn log(&self, report: &PgError) {
        self.instance.log.write(&LogOrigin::default(), report, None);
    }
}
