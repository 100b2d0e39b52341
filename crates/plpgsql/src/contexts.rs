//! The calls and statements that are running, for contexts of notices and GET DIAGNOSTICS.
//! Counterpart: `error_context_stack`.

use crate::host::RowStream;
use crate::tree::SqlMode;
use pgerror::PgError;
use std::any::Any;
use std::sync::Arc;

/// The place in a function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// Line and kind of the running statement.
    pub(crate) stmt: Option<(u32, &'static str)>,
    /// Line of the variable that is being initialized.
    pub(crate) var_line: Option<u32>,
    /// What the call is doing apart from statements.
    pub(crate) activity: Option<&'static str>,
}

impl Place {
    /// The line of context of a call at this place. Counterpart: `plpgsql_exec_error_callback`.
    pub(crate) fn context(&self, function: &str) -> String {
        let line = self.var_line.or(self.stmt.map(|(line, _)| line));
        match (self.activity, line, self.stmt) {
            (Some(activity), Some(line), _) if line > 0 => {
                format!("PL/pgSQL function {function} line {line} {activity}")
            }
            (Some(activity), ..) => format!("PL/pgSQL function {function} {activity}"),
            (None, Some(line), Some((_, kind))) if line > 0 => {
                format!("PL/pgSQL function {function} line {line} at {kind}")
            }
            _ => format!("PL/pgSQL function {function}"),
        }
    }
}

/// Maximum number of instances that wait for a call, of all functions.
const IDLE_MAX: usize = 32;

/// The instances of functions that wait for a call in this session, with the numbers of the
/// functions; the last one was used last.
#[derive(Default)]
pub(crate) struct Idle(Vec<(u64, Box<dyn Any + Send>)>);

impl Idle {
    #[inline]
    pub(crate) fn take(&mut self, function: u64) -> Option<Box<dyn Any + Send>> {
        let at = self.0.iter().rposition(|(number, _)| *number == function)?;
        Some(self.0.remove(at).1)
    }

    #[inline]
    pub(crate) fn put(&mut self, function: u64, instance: Box<dyn Any + Send>) {
        if self.0.len() >= IDLE_MAX {
            self.0.remove(0);
        }
        self.0.push((function, instance));
    }
}

enum Entry {
    Call {
        signature: Arc<str>,
        place: Place,
    },
    Sql {
        text: Arc<str>,
        mode: SqlMode,
    },
    /// A statement of a function in SQL, counted from 0.
    SqlFunction {
        name: Arc<str>,
        statement: usize,
    },
}

/// The running calls and statements, outermost first.
#[derive(Default)]
pub struct Contexts {
    entries: Vec<Entry>,
    /// Number of notices of the client's statement that have their contexts.
    noted: usize,
    /// Number of errors that handlers have caught.
    handled: u32,
    /// Number of running loops over rows of statements that write.
    writing_loops: usize,
    /// The running queries of loops, innermost last. `None` while one is being read.
    streams: Vec<Option<Box<dyn Any + Send>>>,
    /// Instances of functions that wait for a call.
    pub(crate) idle: Idle,
}

impl Contexts {
    /// Frees what is kept of functions for later calls.
    pub fn discard_idle(&mut self) {
        self.idle = Idle::default();
    }

    /// Adds a running query, which the session has started.
    pub fn add_stream(&mut self, rows: Box<dyn Any + Send>) -> RowStream {
        self.streams.push(Some(rows));
        RowStream(self.streams.len() - 1)
    }

    /// Takes a running query out, to read from it.
    pub fn take_stream(&mut self, stream: RowStream) -> Option<Box<dyn Any + Send>> {
        self.streams.get_mut(stream.0)?.take()
    }

    /// Puts a running query back.
    pub fn put_stream(&mut self, stream: RowStream, rows: Box<dyn Any + Send>) {
        if let Some(slot) = self.streams.get_mut(stream.0) {
            *slot = Some(rows);
        }
    }

    /// The running queries.
    pub fn streams(&self) -> impl Iterator<Item = RowStream> + use<> {
        (0..self.streams.len()).map(RowStream)
    }

    pub(crate) fn stream_count(&self) -> usize {
        self.streams.len()
    }

    /// Ends the running queries from this number on.
    pub(crate) fn end_streams(&mut self, count: usize) {
        self.streams.truncate(count);
    }

    /// True inside a loop over the rows of a statement that writes, in which the transaction cannot
    /// be ended.
    pub fn is_in_writing_loop(&self) -> bool {
        self.writing_loops > 0
    }

    pub(crate) fn writing_loops(&self) -> usize {
        self.writing_loops
    }

    pub(crate) fn set_writing_loops(&mut self, count: usize) {
        self.writing_loops = count;
    }

    pub(crate) fn enter_writing_loop(&mut self) {
        self.writing_loops += 1;
    }

    pub(crate) fn leave_writing_loop(&mut self) {
        self.writing_loops -= 1;
    }

    pub(crate) fn handled(&self) -> u32 {
        self.handled
    }

    pub(crate) fn note_handled(&mut self) {
        self.handled = self.handled.saturating_add(1);
    }

    /// Adds a call; returns its level. `notices`: the number of notices so far.
    pub(crate) fn enter(&mut self, signature: &Arc<str>, notices: usize) -> usize {
        self.begin_notices(notices);
        let level = self.entries.len();
        // The entry is made in its place: a copy would wait for the store buffer.
        self.entries.resize_with(level + 1, || {
            let (signature, place) = (signature.clone(), Place::default());
            Entry::Call { signature, place }
        });
        level
    }

    pub(crate) fn set_place(&mut self, level: usize, new: Place) {
        if let Some(Entry::Call { place, .. }) = self.entries.get_mut(level) {
            *place = new;
        }
    }

    /// Adds a query of the session itself; returns the level for [`Self::truncate`].
    pub fn push_query(&mut self, text: Arc<str>) -> usize {
        self.push_sql(text, SqlMode::Statement);
        self.entries.len() - 1
    }

    /// The notices before the outermost call get no contexts.
    fn begin_notices(&mut self, notices: usize) {
        if self.entries.iter().all(|entry| matches!(entry, Entry::Sql { .. })) {
            self.noted = notices;
        }
    }

    /// Adds a statement of a function in SQL; returns the level for [`Self::truncate`]. `notices`:
    /// the number of notices so far.
    pub fn push_sql_function(&mut self, name: Arc<str>, statement: usize, notices: usize) -> usize {
        self.begin_notices(notices);
        self.entries.push(Entry::SqlFunction { name, statement });
        self.entries.len() - 1
    }

    pub(crate) fn push_sql(&mut self, text: Arc<str>, mode: SqlMode) {
        self.entries.push(Entry::Sql { text, mode });
    }

    /// Removes all entries from this level on.
    pub fn truncate(&mut self, level: usize) {
        self.entries.truncate(level);
    }

    pub(crate) fn level(&self) -> usize {
        self.entries.len()
    }

    /// The lines of the entries outside this level, innermost first.
    pub(crate) fn outside(&self, level: usize) -> Vec<String> {
        let entries = self.entries.iter().take(level).rev();
        entries
            .map(|entry| match entry {
                Entry::Call { signature, place } => place.context(signature),
                Entry::Sql { text, mode } => mode.context(text),
                Entry::SqlFunction { name, statement } => {
                    format!("SQL function \"{name}\" statement {}", statement + 1)
                }
            })
            .collect()
    }

    /// The lines of all entries, innermost first.
    pub fn lines(&self) -> Vec<String> {
        self.outside(self.entries.len())
    }

    /// Adds contexts to the notices that have none.
    pub fn note(&mut self, notices: &mut [PgError]) {
        let noted = self.note_all(notices.len());
        if noted == notices.len() {
            return;
        }
        let lines = self.lines();
        for notice in &mut notices[noted..] {
            notice.fields_mut().context.extend(lines.iter().cloned());
        }
    }

    /// The number of notices that have their contexts, of `count`; from now on all have.
    pub(crate) fn note_all(&mut self, count: usize) -> usize {
        std::mem::replace(&mut self.noted, count).min(count)
    }
}

impl SqlMode {
    /// The line of context of a piece of SQL.
    pub(crate) fn context(self, text: &str) -> String {
        match self {
            SqlMode::Statement => format!("SQL statement \"{text}\""),
            SqlMode::Expression => format!("SQL expression \"{text}\""),
            SqlMode::Assignment(_) => format!("PL/pgSQL assignment \"{text}\""),
        }
    }
}
