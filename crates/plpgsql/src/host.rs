//! The interface that the interpreter requires of the session.

use crate::contexts::Contexts;
use crate::fields::{Fields, RowBatch};
use crate::tree::{Direction, Extra};
use engine::StoredRows;
use ids::Oid;
use parse::RawStmt;
use pgerror::{PgError, Result};
use plan::Expr;
use plan::query::{CmdType, Query};
use std::any::Any;
use std::sync::Arc;
use types::fn_context::RowDesc;
use types::{Datum, DatumRef};

/// The session, in which functions run.
pub trait Host:
    eval::Host + eval::Facts + analyze::Host + HostSettings + Notices + Transactions + Cursors
{
    /// Identifies everything that the analysis of SQL reads besides the text and the variables.
    fn stamp(&mut self) -> Result<Stamp>;

    /// Error 42501 if the user may not call a function in the expression.
    fn check_functions(&mut self, expr: &Expr) -> Result<()>;

    /// Keeps an analysed and rewritten query for execution.
    fn prepare(&mut self, query: Analysed) -> Result<Statement>;

    /// Locks the relations of a statement; false if it must be analysed again, because catalogs
    /// have changed.
    fn lock(&mut self, statement: &Statement) -> Result<bool>;

    /// Plans and runs a query, including its triggers.
    fn run(&mut self, statement: &Statement, run: &Run) -> Result<Outcome>;

    /// Plans and starts a query whose rows are read one by one. It only reads.
    fn open(&mut self, statement: &Statement, run: &Run) -> Result<RowStream>;

    /// The next rows, computed together and up to `want`; `None` at the end.
    fn next_rows(&mut self, rows: RowStream, want: usize) -> Result<Option<RowBatch>>;

    /// Adds all further rows to the result of a set-returning function; returns their number.
    fn keep_rows(&mut self, rows: RowStream, set: &mut StoredRows) -> Result<u64>;

    /// Runs a utility statement.
    fn utility(&mut self, command: &Command<'_>) -> Result<UtilityOutcome>;

    /// The command tag of a statement.
    fn tag(&self, raw: &RawStmt) -> &'static str;

    /// Adds a row to the result of a set-returning function.
    fn keep_row(&mut self, rows: &mut StoredRows, row: &[DatumRef<'_>]) -> Result<()>;

    /// The calls and statements that are running.
    fn contexts(&mut self) -> &mut Contexts;

    /// The host as context of functions on values.
    fn context(&mut self) -> &mut dyn types::FnContext;
}

/// Settings of the session.
pub trait HostSettings {
    /// Settings of the lexer.
    fn lexer(&self) -> parse::Options;

    /// True if the setting of this name is on.
    fn is_on(&self, setting: &str) -> bool;

    /// The additional checks that are enabled.
    fn extra_checks(&self) -> Extra;
}

/// Notices of functions.
pub trait Notices {
    /// The notices of the client's statement that have not been sent.
    fn notices(&mut self) -> &mut Vec<PgError>;

    /// Sends the notices, which have their contexts, if the client's statement permits that before
    /// its end; returns how many are left.
    fn send_notices(&mut self) -> usize;
}

/// Snapshots and transactions.
pub trait Transactions {
    /// Makes a snapshot active that sees all changes of the transaction; returns the number of
    /// active snapshots before.
    fn push_snapshot(&mut self) -> Result<usize>;

    /// Removes active snapshots until this number is left.
    fn pop_snapshots(&mut self, count: usize);

    /// The number of the session's transaction, other than 0.
    fn local_transaction(&mut self) -> u32;

    /// Starts a subtransaction; returns its nesting level.
    fn begin_subtransaction(&mut self) -> Result<usize>;

    /// Ends the innermost subtransaction, whose changes become those of its parent.
    fn commit_subtransaction(&mut self) -> Result<()>;

    /// Rolls back the subtransactions from this level on.
    fn abort_subtransaction(&mut self, level: usize) -> Result<()>;

    /// Calls a procedure; returns the values of its output parameters, if it has any.
    fn call_procedure(
        &mut self,
        procedure: Oid,
        arg_types: &[Oid],
        args: &[DatumRef<'_>],
        atomic: bool,
    ) -> Result<Option<Vec<Datum>>>;

    /// Commits the transaction, or rolls it back, and starts another one, with the same
    /// characteristics if `chain` is true. Error 2D000 where that is not possible.
    fn end_transaction(&mut self, commit: bool, chain: bool) -> Result<()>;
}

/// Cursors that exist outside functions, by name.
pub trait Cursors {
    /// Opens a cursor; an empty name is replaced by a generated one. Returns the name.
    fn open_cursor(
        &mut self,
        name: &str,
        statement: &Statement,
        run: &Run,
        options: &CursorOptions,
    ) -> Result<String>;

    /// Moves a cursor and returns the rows that it passes, with their description; only the last
    /// `rows_max` of them are kept. Error 34000 if there is no such cursor.
    fn fetch(
        &mut self,
        name: &str,
        direction: Direction,
        count: i64,
    ) -> Result<(Vec<Fields>, Arc<RowDesc>)>;

    /// Moves a cursor; returns the number of rows that it passed.
    fn move_cursor(&mut self, name: &str, direction: Direction, count: i64) -> Result<u64>;

    /// Closes a cursor. Error 34000 if there is none.
    fn close_cursor(&mut self, name: &str) -> Result<()>;

    /// Marks a cursor that a loop reads: it survives the end of the transaction.
    fn pin_cursor(&mut self, name: &str, pinned: bool);

    /// True if there is a cursor of that name.
    fn has_cursor(&self, name: &str) -> bool;
}

/// See [`Host::stamp`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp {
    /// The generation of the catalogs.
    pub generation: u64,
    /// The number of the environment.
    pub environment: u64,
}

/// An analysed and rewritten query. Its parameters are numbered from 1 without gaps.
pub struct Analysed {
    pub query: Query,
    pub raw: RawStmt,
    pub sql: Arc<str>,
    pub param_types: Vec<Oid>,
}

/// A statement that the session keeps.
pub struct Statement {
    pub state: Arc<dyn Any + Send + Sync>,
    /// A literal of the text, such as 'now', has another meaning at another time.
    pub depends_on_time: bool,
}

/// The execution of a statement.
pub struct Run {
    pub params: Arc<[Datum]>,
    /// Maximum number of rows that are read.
    pub rows_max: usize,
    /// The function must not write; the active snapshot is used.
    pub read_only: bool,
    /// The rows are needed, not only their number.
    pub keep_rows: bool,
}

/// The result of a statement.
pub struct Outcome {
    pub rows: Vec<Vec<Datum>>,
    /// Number of rows that were read or changed.
    pub processed: u64,
    pub command: CmdType,
}

/// The number of a running query in [`Contexts`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowStream(pub(crate) usize);

/// A utility statement.
pub struct Command<'a> {
    pub raw: &'a RawStmt,
    pub sql: &'a str,
    pub read_only: bool,
    /// The statement must not end the transaction.
    pub atomic: bool,
    /// The query of CREATE TABLE AS, EXPLAIN or DECLARE CURSOR, if it has parameters.
    pub query: Option<(&'a Statement, &'a Run)>,
}

/// The result of a utility statement.
#[derive(Default)]
pub struct UtilityOutcome {
    /// The number of rows that the statement returns, writes to a table that it creates, or copies.
    pub processed: u64,
    /// The rows of a statement that returns rows.
    pub rows: Option<(Arc<RowDesc>, Vec<Vec<Datum>>)>,
}

/// Options of a cursor.
#[derive(Clone, Copy, Debug, Default)]
pub struct CursorOptions {
    /// SCROLL or NO SCROLL, if declared.
    pub scroll: Option<bool>,
    /// The function that opens it must not write.
    pub read_only: bool,
}
