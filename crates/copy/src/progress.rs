//! Progress of COPY, for the view `pg_stat_progress_copy`.

use ids::Oid;
use parse::ast::CopyStmt;
use stats::Command;
use std::sync::Arc;
use utility::host::CommandHost;

// Numbers of parameters, and values of those that are not counts, as in progress.h.
const BYTES_PROCESSED: usize = 0;
const BYTES_TOTAL: usize = 1;
const ROWS_PROCESSED: usize = 2;
const ROWS_EXCLUDED: usize = 3;
const COMMAND: usize = 4;
const TYPE: usize = 5;
const COMMAND_FROM: i64 = 1;
const COMMAND_TO: i64 = 2;
const TYPE_FILE: i64 = 1;
const TYPE_PROGRAM: i64 = 2;
const TYPE_PIPE: i64 = 3;

/// The progress of the COPY that the session runs.
pub(crate) struct Progress {
    shown: Arc<stats::Progress>,
    bytes: u64,
}

impl Progress {
    /// Begins to report the progress of the statement. `relation` is 0 for a query.
    pub(crate) fn begin(host: &mut dyn CommandHost, stmt: &CopyStmt, relation: Oid) -> Progress {
        let shown = host.backend().stats.begin_progress(Command::Copy, relation);
        shown.set(COMMAND, if stmt.is_from { COMMAND_FROM } else { COMMAND_TO });
        let from_where = match (&stmt.filename, stmt.is_program) {
            (None, _) => TYPE_PIPE,
            (Some(_), true) => TYPE_PROGRAM,
            (Some(_), false) => TYPE_FILE,
        };
        shown.set(TYPE, from_where);
        Progress { shown, bytes: 0 }
    }

    /// Sets the size of the file that is read.
    pub(crate) fn set_bytes_total(&self, bytes: u64) {
        self.shown.set(BYTES_TOTAL, bytes as i64);
    }

    /// Adds bytes that have been read or written.
    pub(crate) fn add_bytes(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.shown.set(BYTES_PROCESSED, self.bytes as i64);
    }

    pub(crate) fn set_rows(&self, rows: u64) {
        self.shown.set(ROWS_PROCESSED, rows as i64);
    }

    /// Sets the number of rows that WHERE has excluded.
    pub(crate) fn set_excluded(&self, rows: u64) {
        self.shown.set(ROWS_EXCLUDED, rows as i64);
    }
}
