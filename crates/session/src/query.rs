//! Runs queries inside the server from text to rows: for SQL functions, foreign key checks and
//! utility commands. Counterpart: executor/spi.c.

use crate::plancache::Parked;
use crate::plancache::plans::Mode;
use crate::prepared::KEPT_COST_MAX;
use crate::state::State;
use analyze::SessionLookup;
use client::statementlog::Work;
use executor::spi::{self, Cursor, QueryHost, QuerySnapshot};
use executor::{Execution, Services};
use ids::Oid;
use pgerror::{PgError, Result};
use plan::PlannedStmt;
use plan::query::Query;
use std::sync::Arc;
use types::{Batch, Datum};

/// Analyses the statements of a text and makes generic plans for them. A text with one statement is
/// stored in the plan cache.
pub fn plan_text(
    state: &mut State,
    sql: &str,
    param_types: &[Oid],
) -> Result<Vec<Arc<PlannedStmt>>> {
    let key = match crate::slots::is_time_dependent(sql.as_bytes()) {
        true => None,
        // The zero byte distinguishes internal texts from those of clients, which are scanned with
        // the lexer settings of the session.
        false => state.statement_key(&[&b"\0"[..], sql.as_bytes()].concat(), param_types)?,
    };
    let none: Arc<[Datum]> = Arc::from([]);
    if let Some(statement) = state.find_statement(&key) {
        state.take_locks(&statement.locks)?;
        if state.is_of_current_generation(&statement) {
            return Ok(vec![statement.choose(state, &none, Mode::Generic)?.plan]);
        }
    }
    let mut statements = parse::parse(sql)?;
    if key.is_some() && statements.len() == 1 && analyze::is_query(&statements[0].stmt) {
        let raw = Arc::new(statements.remove(0));
        let statement = state.unidentified(|state| {
            state.analyze_and_cache(key, &sql.into(), &raw, param_types, false)
        })?;
        return Ok(vec![statement.choose(state, &none, Mode::Generic)?.plan]);
    }
    let mut plans = Vec::new();
    for stmt in statements {
        if !analyze::is_query(&stmt.stmt) {
            return Err(PgError::unsupported("utility statement inside a function"));
        }
        let mut lookup = SessionLookup::new(state);
        let query = analyze::analyze(&mut lookup, &stmt, sql, param_types)?;
        let query = analyze::rewrite(&mut lookup, query)?;
        plans.push(Arc::new(plan_query(state, &query)?));
    }
    Ok(plans)
}

/// Plans an analysed query.
pub fn plan_query(state: &mut State, query: &Query) -> Result<PlannedStmt> {
    let planning = state.measure(Work::Planner);
    let mark = state.begin_planning();
    let outer = std::mem::take(&mut state.caches.planning.transient);
    let mut plan = planner::plan_query(query, state)?;
    plan.transient = state.caches.planning.transient;
    state.caches.planning.transient |= outer;
    state.log_measured(planning, "PLANNER STATISTICS");
    state.end_planning(mark, query);
    Ok(plan)
}

/// Runs the queries of a text and returns the rows of the last one.
pub fn run_sql(
    state: &mut State,
    sql: &str,
    param_types: &[Oid],
    params: Arc<[Datum]>,
) -> Result<Vec<Vec<Datum>>> {
    let mut rows = Vec::new();
    for plan in plan_text(state, sql, param_types)? {
        rows = run_nested(state, spi::Query::new(plan, params.clone()))?;
    }
    Ok(rows)
}

/// Runs a query as a statement of its own inside another statement: its triggers fire at its end,
/// under its snapshot. Returns its rows without junk columns.
pub(crate) fn run_nested(state: &mut State, query: spi::Query) -> Result<Vec<Vec<Datum>>> {
    let snapshot = query.snapshot.resolve(state)?;
    let query = query.under(QuerySnapshot::Active);
    spi::with_snapshot(state, &snapshot, |state| {
        let level = state.triggers.enter();
        let result = query.rows(state);
        let result = result.and_then(|rows| trigger::after_statement(state).map(|()| rows));
        state.triggers.leave(level);
        result
    })
}

impl State {
    /// The parked execution of a plan, if it can be run again. The statement is current: its
    /// analysis is valid for the catalog generation, the user and the settings, and its relations
    /// are locked.
    pub(crate) fn take_parked(
        &mut self,
        parked: &Parked,
        plan: &Arc<PlannedStmt>,
    ) -> Result<Option<Execution>> {
        let Some(execution) = parked.lock().take() else { return Ok(None) };
        if !Arc::ptr_eq(execution.plan(), plan) || !self.catalog.overlay.is_clean() {
            return Ok(None);
        }
        crate::privileges::check_plan(self, plan)?;
        Ok(Some(execution))
    }

    /// Keeps an execution that has ended for the next run of its plan, if that is small. The
    /// statement is still current.
    pub(crate) fn park(&mut self, parked: &Parked, mut execution: Execution) -> Result<()> {
        let is_small = execution.plan().plan_tree.info.total_cost < KEPT_COST_MAX;
        if is_small && self.catalog.overlay.is_clean() && execution.park(self)? {
            *parked.lock() = Some(execution);
        }
        Ok(())
    }
}

/// As [`run_nested`]; also returns the number of rows that were read or changed, and the execution,
/// which has ended. Without `keep`, no rows are returned.
pub(crate) fn run_counted(
    state: &mut State,
    query: spi::Query,
    keep: bool,
) -> Result<(Vec<Vec<Datum>>, spi::Finished)> {
    let snapshot = query.snapshot.resolve(state)?;
    let query = query.under(QuerySnapshot::Active);
    spi::with_snapshot(state, &snapshot, |state| {
        let level = state.triggers.enter();
        let mut rows = Vec::new();
        let finished = match keep {
            true => query.run(state, &mut |_, batch, columns| {
                rows.extend((0..batch.len).map(|r| spi::row_of(batch, r, columns)));
                Ok(())
            }),
            false => query.discard(state),
        };
        let finished = finished.and_then(|f| trigger::after_statement(state).map(|()| f));
        state.triggers.leave(level);
        Ok((rows, finished?))
    })
}

impl QueryHost for State {
    fn services(&mut self) -> &mut dyn Services {
        self
    }

    fn increment_command_counter(&mut self) -> Result<()> {
        self.cat().increment_command_counter()
    }
}

/// A running query whose rows are read one by one. Between two rows the session may do other work.
pub(crate) struct Rows {
    cursor: Cursor,
    /// Rows that were computed together, and the number of them that have been returned.
    batch: Batch,
    at: usize,
    ended: bool,
}

impl Rows {
    pub(crate) fn open(state: &mut State, query: spi::Query) -> Result<Rows> {
        Ok(Rows { cursor: query.open(state)?, batch: Batch::default(), at: 0, ended: false })
    }

    /// The next row. If it must be computed, up to `want` rows are computed together.
    pub(crate) fn next(&mut self, state: &mut State, want: usize) -> Result<Option<Vec<Datum>>> {
        while self.at == self.batch.len {
            if self.ended {
                return Ok(None);
            }
            if self.at > 0 {
                self.cursor.recycle(std::mem::take(&mut self.batch));
                self.at = 0;
            }
            self.batch = self.next_batch(state, want)?.unwrap_or_default();
        }
        self.at += 1;
        Ok(Some(spi::row_of(&self.batch, self.at - 1, self.cursor.columns())))
    }

    /// The next rows, up to `want`, for a caller that does not call [`Rows::next`].
    pub(crate) fn next_batch(&mut self, state: &mut State, want: usize) -> Result<Option<Batch>> {
        while !self.ended {
            match self.cursor.next(state, want)? {
                Some(batch) if batch.len > 0 => return Ok(Some(batch)),
                Some(_) => {}
                None => self.ended = true,
            }
        }
        Ok(None)
    }

    /// Indexes of the columns of a batch that are not junk.
    pub(crate) fn columns(&self) -> &[usize] {
        self.cursor.columns()
    }
}
