//! What sessions and background threads use of the processors, for the view `norsu_stat_rusage`.
//!
//! Whoever looks asks the kernel about the others' threads, so that those have no work with it;
//! only `norsu.track_rusage` has a session measure its queries, from their first message to
//! ReadyForQuery. It costs two calls of the kernel a query.

use crate::session::Session;
use std::time::Duration;
use sync::Mutex;
use vfs::process::{self, Usage};

/// User and system time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    pub user: Duration,
    pub system: Duration,
}

impl Times {
    fn between(before: Times, after: Times) -> Times {
        Times {
            user: after.user.saturating_sub(before.user),
            system: after.system.saturating_sub(before.system),
        }
    }
}

impl From<Usage> for Times {
    fn from(usage: Usage) -> Times {
        Times { user: usage.user, system: usage.system }
    }
}

/// What is known of a thread at work.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The thread, and what it had used when it began with this work.
    thread: Option<(i32, Times)>,
    /// Queries measured.
    queries: u64,
    last: Option<Times>,
}

/// A thread's use of the processors, to be asked by others. See the module's text.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Known>);

/// What a [`Meter`] says.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Since the work began; `None` if it has not, or is over.
    pub total: Option<Times>,
    /// Queries that were measured; `None` of a thread that has none.
    pub queries: Option<u64>,
    /// Of the last one.
    pub last: Option<Times>,
}

impl Meter {
    /// The calling thread takes up the work.
    pub fn begin(&self) {
        self.0.lock().thread = Some((process::thread_id(), process::thread_usage().into()));
    }

    /// Does the calling thread do the work?
    pub(crate) fn is_here(&self) -> bool {
        let here = process::thread_id();
        self.0.lock().thread.is_some_and(|(thread, _)| thread == here)
    }

    pub fn read(&self) -> Reading {
        let known = *self.0.lock();
        let total = known.thread.and_then(|(thread, before)| {
            let (user, system) = process::thread_times(thread)?;
            Some(Times::between(before, Times { user, system }))
        });
        Reading { total, queries: Some(known.queries), last: known.last }
    }

    fn add_query(&self, used: Times) {
        let mut known = self.0.lock();
        known.queries += 1;
        known.last = Some(used);
    }
}

impl Session {
    /// A message has come: the query begins with it, unless one before it began it.
    pub(crate) fn begin_metered(&mut self) {
        if self.core.resolved.track_rusage && self.metered.is_none() {
            self.metered = Some(process::thread_usage().into());
        }
    }

    /// The session is ready for the next query.
    pub(crate) fn end_metered(&mut self) {
        if let Some(before) = self.metered.take() {
            let used = Times::between(before, process::thread_usage().into());
            self.handle.meter.add_query(used);
        }
    }
}
