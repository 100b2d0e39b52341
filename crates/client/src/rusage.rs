//! CPU time of sessions and background threads, for the view `norsu_stat_rusage`.
//!
//! A reader of the view requests the times of the other threads from the kernel, so these threads
//! do no work for it. Only with `norsu.track_rusage` does a session measure its queries, from their
//! first message to ReadyForQuery. That costs two system calls for each query.

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
    pub fn between(before: Times, after: Times) -> Times {
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

/// The state of a meter.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeterState {
    /// The thread, and the CPU time that it had used when it was bound to the meter.
    pub thread: Option<(i32, Times)>,
    /// Number of measured queries.
    pub queries: u64,
    pub last: Option<Times>,
}

/// The CPU time of a thread, readable by other threads.
#[derive(Debug, Default)]
pub struct Meter(Mutex<MeterState>);

/// A reading of a [`Meter`].
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// CPU time since the meter was bound to the thread; `None` if it is not bound.
    pub total: Option<Times>,
    /// Number of measured queries; `None` for a thread that runs no queries.
    pub queries: Option<u64>,
    /// CPU time of the last measured query.
    pub last: Option<Times>,
}

impl Meter {
    /// Binds the meter to the calling thread.
    pub fn begin(&self) {
        self.0.lock().thread = Some((process::thread_id(), process::thread_usage().into()));
    }

    /// True if the meter is bound to the calling thread.
    pub fn is_current_thread(&self) -> bool {
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

    pub fn add_query(&self, used: Times) {
        let mut known = self.0.lock();
        known.queries += 1;
        known.last = Some(used);
    }
}
