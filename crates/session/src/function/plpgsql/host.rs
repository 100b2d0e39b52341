//! The session as host of the interpreter.

use crate::nested::{Nested, Utility};
use crate::plancache::Parked;
use crate::plancache::Statement as Cached;
use crate::plancache::choice::Chosen;
use crate::query::{self, Rows};
use crate::state::State;
use engine::StoredRows;
use executor::Execution;
use executor::spi::{self, QuerySnapshot};
use ids::Oid;
use parse::RawStmt;
use parse::ast::FetchDirection;
use pgerror::{PgError, Result};
use plan::expr::Expr;
use plan::{PlannedStmt, walk};
use plpgsql::tree::{Direction, Extra};
use plpgsql::{
    Analysed, Command, Contexts, CursorOptions, Cursors, Fields, Host, HostSettings, Notices,
    Outcome, RowBatch, RowStream, Run, Stamp, Statement, Transactions, UtilityOutcome,
};
use std::collections::VecDeque;
use std::sync::Arc;
use types::fn_context::RowDesc;
use types::{BATCH_ROWS_MAX, Datum, DatumRef, FnContext};

/// A statement of the interpreter, with a parked execution of its generic plan.
struct Kept {
    statement: Arc<Cached>,
    parked: Parked,
}

fn kept(statement: &Statement) -> Result<&Kept> {
    let kept = statement.state.downcast_ref::<Kept>();
    kept.ok_or_else(|| PgError::internal("statement of another session"))
}

pub(super) fn cached(statement: &Statement) -> Result<&Arc<Cached>> {
    kept(statement).map(|kept| &kept.statement)
}

/// The running query of a loop.
enum Stream {
    Running(Rows),
    /// The remaining rows, after the end of its transaction.
    Held(VecDeque<RowBatch>),
}

impl State {
    fn with_stream<T>(
        &mut self,
        stream: RowStream,
        work: impl FnOnce(&mut State, &mut Stream) -> Result<T>,
    ) -> Result<T> {
        let rows = self.calls.contexts.take_stream(stream).and_then(|rows| rows.downcast().ok());
        let Some(mut rows) = rows else {
            return Err(PgError::internal("rows of a loop that is not running"));
        };
        let result = work(self, &mut rows);
        self.calls.contexts.put_stream(stream, rows);
        result
    }

    /// Reads the remaining rows of all loops, before the end of a transaction inside a procedure.
    pub(super) fn hold_streams(&mut self) -> Result<()> {
        for stream in self.calls.contexts.streams() {
            self.with_stream(stream, |state, stream| {
                let Stream::Running(rows) = stream else { return Ok(()) };
                let mut held = VecDeque::new();
                while let Some(batch) = rows.next_batch(state, BATCH_ROWS_MAX)? {
                    held.push_back(RowBatch::new(batch, rows.columns()));
                }
                *stream = Stream::Held(held);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The plan of a statement for these parameters, checked for the transaction.
    fn planned(&mut self, statement: &Cached, run: &Run) -> Result<Chosen> {
        let mode = self.values.resolved.plan_mode;
        let chosen = statement.choose(self, &run.params, mode)?;
        self.check_writable(&chosen.plan)?;
        Ok(chosen)
    }

    /// The parked execution of the plan, if it can be run again. The statement is current: its
    /// analysis is valid for the catalog generation, the user and the settings.
    fn take_kept(&mut self, kept: &Kept, chosen: &Chosen) -> Result<Option<Execution>> {
        let Some(generic) = chosen.generic.as_ref().filter(|_| kept.parked.lock().is_some()) else {
            return Ok(None);
        };
        self.take_locks(&generic.locks)?;
        match self.is_of_current_generation(&kept.statement) {
            true => self.take_parked(&kept.parked, &generic.plan),
            false => Ok(None),
        }
    }

    fn query_of(plan: Arc<PlannedStmt>, run: &Run) -> spi::Query {
        let snapshot = match run.read_only {
            true => QuerySnapshot::Active,
            false => QuerySnapshot::NewCommand,
        };
        let query = spi::Query::new(plan, run.params.clone()).under(snapshot);
        spi::Query { read_only: run.read_only, rows_max: run.rows_max, ..query }
    }
}

impl Host for State {
    fn stamp(&mut self) -> Result<Stamp> {
        let generation = self.catalog.catalog.generation();
        Ok(Stamp { generation, environment: self.environment()? })
    }

    fn check_functions(&mut self, expr: &Expr) -> Result<()> {
        let user = self.catalog.user;
        let mut called = Vec::new();
        walk::any(expr, &mut |e| {
            if let Expr::FuncExpr(f) = e {
                called.push(f.funcid);
            }
            false
        });
        called.into_iter().try_for_each(|f| crate::privileges::check_function(self, f, user))
    }

    fn prepare(&mut self, query: Analysed) -> Result<Statement> {
        let Analysed { query, raw, sql, param_types } = query;
        let depends_on_time = crate::slots::is_time_dependent(sql.as_bytes());
        let statement = self.keep_analysed((sql, Arc::new(raw)), query, &param_types)?;
        let state = Arc::new(Kept { statement, parked: Parked::default() });
        Ok(Statement { state, depends_on_time })
    }

    fn lock(&mut self, statement: &Statement) -> Result<bool> {
        let statement = cached(statement)?;
        self.take_locks(&statement.locks)?;
        Ok(self.is_of_current_generation(statement))
    }

    fn run(&mut self, statement: &Statement, run: &Run) -> Result<Outcome> {
        let kept = kept(statement)?;
        let chosen = self.planned(&kept.statement, run)?;
        let command = chosen.plan.command_type;
        let parked = self.take_kept(kept, &chosen)?;
        let query = spi::Query { parked, ..State::query_of(chosen.plan.clone(), run) };
        let (rows, finished) = query::run_counted(self, query, run.keep_rows)?;
        let processed = finished.rows;
        if chosen.generic.is_some() && self.is_of_current_generation(&kept.statement) {
            self.park(&kept.parked, finished.execution)?;
        }
        Ok(Outcome { rows, processed, command })
    }

    fn open(&mut self, statement: &Statement, run: &Run) -> Result<RowStream> {
        let plan = self.planned(cached(statement)?, run)?.plan;
        let rows = Rows::open(self, State::query_of(plan, run))?;
        Ok(self.calls.contexts.add_stream(Box::new(Stream::Running(rows))))
    }

    fn next_rows(&mut self, rows: RowStream, want: usize) -> Result<Option<RowBatch>> {
        self.with_stream(rows, |state, stream| match stream {
            Stream::Running(rows) => {
                let next = rows.next_batch(state, want)?;
                Ok(next.map(|batch| RowBatch::new(batch, rows.columns())))
            }
            Stream::Held(rows) => Ok(rows.pop_front()),
        })
    }

    fn keep_rows(&mut self, rows: RowStream, set: &mut StoredRows) -> Result<u64> {
        let before = set.rows();
        self.with_stream(rows, |state, stream| {
            let Stream::Running(rows) = stream else {
                return Err(PgError::internal("held rows of RETURN QUERY"));
            };
            while let Some(batch) = rows.next_batch(state, BATCH_ROWS_MAX)? {
                set.push_batch(&mut state.backend, batch, rows.columns())?;
            }
            Ok(set.rows() - before)
        })
    }

    fn utility(&mut self, command: &Command<'_>) -> Result<UtilityOutcome> {
        self.calls.may_end_transaction = !command.atomic;
        let query = match command.query {
            Some((statement, run)) => Some((cached(statement)?, &run.params)),
            None => None,
        };
        let Command { raw, sql, read_only, .. } = *command;
        let result = Nested::new(self).run(&Utility { raw, sql, read_only, query });
        self.calls.may_end_transaction = false;
        result
    }

    fn tag(&self, raw: &RawStmt) -> &'static str {
        define::tag::command_tag(&raw.stmt)
    }

    fn keep_row(&mut self, rows: &mut StoredRows, row: &[DatumRef<'_>]) -> Result<()> {
        rows.push(&mut self.backend, row)
    }

    fn contexts(&mut self) -> &mut Contexts {
        &mut self.calls.contexts
    }

    fn context(&mut self) -> &mut dyn FnContext {
        self
    }
}

impl HostSettings for State {
    fn lexer(&self) -> parse::Options {
        self.values.resolved.lexer
    }

    fn is_on(&self, setting: &str) -> bool {
        self.store.named(setting).as_bool()
    }

    fn extra_checks(&self) -> Extra {
        super::source::extra(self)
    }
}

impl Notices for State {
    fn notices(&mut self) -> &mut Vec<PgError> {
        &mut self.notices
    }

    fn send_notices(&mut self) -> usize {
        self.send_early_notices()
    }
}

impl Transactions for State {
    fn push_snapshot(&mut self) -> Result<usize> {
        self.cat().increment_command_counter()?;
        let depth = self.backend.snapshot_depth();
        let snapshot = self.backend.snapshot();
        self.backend.push_snapshot(snapshot);
        Ok(depth)
    }

    fn pop_snapshots(&mut self, count: usize) {
        self.backend.truncate_snapshots(count);
    }

    fn local_transaction(&mut self) -> u32 {
        self.backend.txn.vxid().map_or(0, |v| v.local)
    }

    fn begin_subtransaction(&mut self) -> Result<usize> {
        self.begin_level()?;
        Ok(self.backend.txn.nesting())
    }

    fn commit_subtransaction(&mut self) -> Result<()> {
        self.commit_level()
    }

    fn abort_subtransaction(&mut self, level: usize) -> Result<()> {
        while self.backend.txn.nesting() >= level {
            self.abort_level()?;
        }
        Ok(())
    }

    fn call_procedure(
        &mut self,
        procedure: Oid,
        arg_types: &[Oid],
        args: &[DatumRef<'_>],
        atomic: bool,
    ) -> Result<Option<Vec<Datum>>> {
        let user = self.catalog.user;
        crate::privileges::check_function(self, procedure, user)?;
        let row = self.cat().function(procedure)?;
        let count = self.push_snapshot()?;
        self.calls.may_end_transaction = !atomic;
        let result = crate::function::call_procedure(self, &row, arg_types, args);
        self.calls.may_end_transaction = false;
        self.pop_snapshots(count);
        result
    }

    fn end_transaction(&mut self, commit: bool, chain: bool) -> Result<()> {
        super::transaction::end(self, commit, chain)
    }
}

/// The direction as in FETCH.
fn fetch_direction(direction: Direction) -> FetchDirection {
    match direction {
        Direction::Forward => FetchDirection::Forward,
        Direction::Backward => FetchDirection::Backward,
        Direction::Absolute => FetchDirection::Absolute,
        Direction::Relative => FetchDirection::Relative,
    }
}

impl Cursors for State {
    fn open_cursor(
        &mut self,
        name: &str,
        statement: &Statement,
        run: &Run,
        options: &CursorOptions,
    ) -> Result<String> {
        if !run.read_only {
            self.cat().increment_command_counter()?;
        }
        let statement = cached(statement)?.clone();
        let options = CursorOptions { read_only: run.read_only, ..*options };
        State::open_cursor(self, name, statement, run.params.clone(), options)
    }

    fn fetch(
        &mut self,
        name: &str,
        direction: Direction,
        count: i64,
    ) -> Result<(Vec<Fields>, Arc<RowDesc>)> {
        let desc = self.cursor_row_desc(name)?;
        let (rows, _) = self.fetch_from_cursor(name, (fetch_direction(direction), count), true)?;
        Ok((rows, desc))
    }

    fn move_cursor(&mut self, name: &str, direction: Direction, count: i64) -> Result<u64> {
        let moved = (fetch_direction(direction), count);
        Ok(self.fetch_from_cursor(name, moved, false)?.1)
    }

    fn close_cursor(&mut self, name: &str) -> Result<()> {
        self.close_open_cursor(name)
    }

    fn pin_cursor(&mut self, name: &str, pinned: bool) {
        if let Some(portal) = self.named.portals.get_mut(name) {
            portal.pinned = pinned;
        }
    }

    fn has_cursor(&self, name: &str) -> bool {
        self.named.portals.contains_key(name)
    }
}
