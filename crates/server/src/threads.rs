//! Threads that serve sessions, one each. A thread that has served goes on to the next: the parser keeps
//! a thread-specific key for good, of which a process has about a thousand.

use crate::attentive::Attentive;
use crate::net::Stream;
use pgerror::{PgError, Severity};
use session::{Instance, Speaker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use sync::{Mutex, RwLock};

/// Stack of a thread that serves sessions, in bytes: room for recursion over the deepest tree that the parser
/// builds (4,000 levels). Pages are touched lazily, so size costs address space only. Unoptimised frames are large.
pub(crate) const STACK_BYTES: usize = if cfg!(debug_assertions) { 256 << 20 } else { 64 << 20 };

/// The way from a listener to the threads: shut until the server is ready.
#[derive(Default)]
pub(crate) struct Gate(RwLock<Option<Arc<Threads>>>);

impl Gate {
    pub(crate) fn open(&self, threads: Arc<Threads>) {
        *self.0.write() = Some(threads);
    }

    /// Serves a client, or tells it to come later.
    pub(crate) fn enter(&self, stream: Stream) {
        let threads = self.0.read().clone();
        match threads {
            Some(threads) => threads.serve(stream),
            None => {
                // Who cannot be told is not told.
                let _ = sync::spawn_with_stack("turning away", 256 << 10, move || {
                    session::turn_away(Box::new(stream), "the database system is starting up");
                });
            }
        }
    }
}

/// See the module's text.
pub(crate) struct Threads {
    instance: Arc<Instance>,
    idle: Mutex<Vec<Sender<Stream>>>,
}

impl Threads {
    pub(crate) fn new(instance: Arc<Instance>) -> Arc<Threads> {
        Arc::new(Threads { instance, idle: Mutex::new(Vec::new()) })
    }

    /// Serves a client in a thread of its own.
    pub(crate) fn serve(self: &Arc<Threads>, stream: Stream) {
        let mut stream = stream;
        let waiting = self.idle.lock().pop();
        if let Some(thread) = waiting {
            match thread.send(stream) {
                Ok(()) => return,
                Err(back) => stream = back.0,
            }
        }
        let (sender, receiver) = channel::<Stream>();
        let me = self.clone();
        let own = sender.clone();
        let made = sync::spawn_with_stack("session", STACK_BYTES, move || {
            while let Ok(stream) = receiver.recv() {
                me.serve_here(stream);
                me.idle.lock().push(own.clone());
            }
        });
        match made {
            Ok(_) => {
                let _ = sender.send(stream);
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

    /// A panic ends the session only; locks, latches and pins go with the stack.
    fn serve_here(&self, stream: Stream) {
        sync::memory::begin_session();
        let mut client = stream.clone();
        let instance = &self.instance;
        let served = catch_unwind(AssertUnwindSafe(|| {
            session::serve(instance, Box::new(Attentive::new(stream)))
        }));
        sync::memory::release();
        if let Err(panic) = served {
            let what = panic.downcast_ref::<String>().cloned();
            let what = what.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            let message = format!("session failed: {}", what.unwrap_or_default());
            let error = PgError::internal(message).severity(Severity::Fatal);
            self.log(&error);
            let mut out = Vec::new();
            wire::backend::report(&mut out, &error);
            let _ = session::Transport::write(&mut client, &out);
        }
    }

    fn log(&self, report: &PgError) {
        self.instance.log.write(&Speaker::default(), report, None);
    }
}
