//! Progress of running commands, for the views `pg_stat_progress_*`. Counterpart:
//! utils/activity/backend_progress.c.

use crate::session::SessionStats;
use ids::Oid;
use sync::atomic::{AtomicI64, Ordering};
use sync::{Arc, Mutex};

/// Number of parameters of a command.
const PARAMETERS: usize = 20;

/// A kind of command with a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    Vacuum,
    Analyze,
    Copy,
}

impl Command {
    /// The name that the view passes to its function.
    pub fn name(self) -> &'static str {
        match self {
            Command::Vacuum => "VACUUM",
            Command::Analyze => "ANALYZE",
            Command::Copy => "COPY",
        }
    }
}

/// A running command. The meanings of the parameters are those of PostgreSQL's progress.h.
#[derive(Debug)]
pub struct Progress {
    pub pid: i32,
    pub database: Oid,
    pub relation: Oid,
    pub command: Command,
    parameters: [AtomicI64; PARAMETERS],
}

impl Progress {
    pub fn set(&self, number: usize, value: i64) {
        self.parameters[number].store(value, Ordering::Relaxed);
    }

    pub fn parameters(&self) -> impl Iterator<Item = i64> {
        self.parameters.iter().map(|value| value.load(Ordering::Relaxed))
    }
}

/// The running commands of an instance.
#[derive(Debug, Default)]
pub(crate) struct Commands(Mutex<Vec<Arc<Progress>>>);

impl crate::shared::Stats {
    /// The running commands of this name.
    pub fn progress(&self, name: &str) -> Vec<Arc<Progress>> {
        let all = self.commands.0.lock();
        all.iter().filter(|p| p.command.name().eq_ignore_ascii_case(name)).cloned().collect()
    }
}

impl SessionStats {
    /// Begins to report the progress of a command. It ends with the transaction at the latest.
    pub fn begin_progress(&mut self, command: Command, relation: Oid) -> Arc<Progress> {
        self.end_progress();
        let progress = Arc::new(Progress {
            pid: self.pid,
            database: self.database(),
            relation,
            command,
            parameters: Default::default(),
        });
        self.shared().commands.0.lock().push(progress.clone());
        self.progress = Some(progress.clone());
        progress
    }

    /// The running command whose progress is reported.
    pub fn running(&self) -> Option<Command> {
        self.progress.as_ref().map(|p| p.command)
    }

    #[inline]
    pub fn end_progress(&mut self) {
        if let Some(own) = self.progress.take() {
            self.shared().commands.0.lock().retain(|other| !Arc::ptr_eq(other, &own));
        }
    }
}
