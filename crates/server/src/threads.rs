//! Threads that serve connections, one each, and how many there may be.
//!
//! The parser keeps a thread-specific key for good in each thread that has used it, of which a
//! process has about a thousand. Therefore a thread that has served a session waits for another one
//! when that has ended; of these there are no more than there were sessions at a time. A thread
//! whose connection did not become a session has parsed nothing and ends with it.
//!
//! Connections that have not said who they are are not counted by `max_connections`. They are by
//! [`Threads::connections_max`], together with the sessions: beyond that a connection is refused at
//! once.

use crate::attentive::Attentive;
use crate::net::Stream;
use pgerror::{PgError, Severity};
use session::{Instance, Speaker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use sync::atomic::{AtomicUsize, Ordering};
use sync::{Mutex, RwLock};

/// Stack of a thread that serves sessions, in bytes: room for recursion over the deepest tree that
/// the parser builds (4,000 levels). Pages are touched lazily, so size costs address space only.
/// Unoptimised frames are large.
pub(crate) const STACK_BYTES: usize = if cfg!(debug_assertions) { 256 << 20 } else { 64 << 20 };

/// How many connections are told at a time that the server is not ready.
const TURNED_AWAY_MAX: usize = 64;

/// The way from a listener to the threads: shut until the server is ready.
#[derive(Default)]
pub(crate) struct Gate {
    threads: RwLock<Option<Arc<Threads>>>,
    turning_away: Arc<AtomicUsize>,
}

/// A connection's place among those that are counted.
struct Place(Arc<AtomicUsize>);

impl Place {
    /// `None` if there are as many as there may be.
    fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Place> {
        let place = Place(taken.clone());
        (taken.fetch_add(1, Ordering::Relaxed) < most).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Gate {
    pub(crate) fn open(&self, threads: Arc<Threads>) {
        *self.threads.write() = Some(threads);
    }

    /// Serves a client, or tells it to come later.
    pub(crate) fn enter(&self, stream: Stream) {
        let threads = self.threads.read().clone();
        match threads {
            Some(threads) => threads.serve(stream),
            None => {
                let Some(place) = Place::take(&self.turning_away, TURNED_AWAY_MAX) else { return };
                // One that cannot be told is not told.
                let _ = sync::spawn_with_stack("turning away", 256 << 10, move || {
                    session::refuse_not_ready(
                        Box::new(stream),
                        "the database system is starting up",
                    );
                    drop(place);
                });
            }
        }
    }
}

/// See the module's text.
pub(crate) struct Threads {
    instance: Arc<Instance>,
    idle: Mutex<Vec<Sender<(Stream, Place)>>>,
    connections: Arc<AtomicUsize>,
}

impl Threads {
    pub(crate) fn new(instance: Arc<Instance>) -> Arc<Threads> {
        Arc::new(Threads { instance, idle: Mutex::default(), connections: Arc::default() })
    }

    /// Connections that there may be, sessions or not. Counterpart: `MaxLivePostmasterChildren`.
    fn connections_max(&self) -> usize {
        let base = self.instance.base();
        let count = |name: &str| usize::try_from(base.int(name)).unwrap_or(0);
        2 * (count("max_connections")
            + count("max_wal_senders")
            + count("max_worker_processes")
            + 1)
    }

    /// Serves a client in a thread of its own.
    pub(crate) fn serve(self: &Arc<Threads>, stream: Stream) {
        let Some(place) = Place::take(&self.connections, self.connections_max()) else {
            return self.refuse(stream);
        };
        let mut connection = (stream, place);
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
            while let Ok((stream, place)) = receiver.recv() {
                has_parsed |= me.serve_here(stream);
                drop(place);
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

    /// Tells a client that there are too many, without waiting for anything that it may say: this
    /// is the listener.
    fn refuse(&self, stream: Stream) {
        let error = pgerror::pg_err!(TOO_MANY_CONNECTIONS, "sorry, too many clients already")
            .severity(Severity::Fatal);
        self.log(&error);
        let mut out = Vec::new();
        wire::backend::report(&mut out, &error);
        // What has come is taken: closing a socket with unread bytes may lose what was sent.
        let _ = stream.read_now(&mut [0; 1024]);
        let _ = session::Transport::write(&mut stream.clone(), &out);
    }

    /// Did the connection become a session? A panic ends the session only; locks, latches and pins
    /// go with the stack.
    fn serve_here(&self, stream: Stream) -> bool {
        sync::memory::begin_session();
        let mut client = stream.clone();
        let instance = &self.instance;
        let served = catch_unwind(AssertUnwindSafe(|| {
            session::serve(instance, Box::new(Attentive::new(stream)))
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
        self.instance.log.write(&Speaker::default(), report, None);
    }
}
