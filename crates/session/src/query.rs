//! Runs queries inside the server from text to rows: for SQL functions, foreign key checks and
//! utility commands. Counterpart: executor/spi.c.

use crate::core::Core;
use crate::plancache::choice::Mode;
use crate::statementlog::Work;
use analyze::SessionLookup;
use executor::{Execution, QueryDesc};
use ids::Oid;
use pgerror::{PgError, Result};
use plan::PlannedStmt;
use plan::query::Query;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch, Datum};

/// Analyses and plans the statements of a text with generic plans. A text of one statement is
/// cached in the plan cache.
pub fn plan_text(core: &mut Core, sql: &str, param_types: &[Oid]) -> Result<Vec<Arc<PlannedStmt>>> {
    let key = match crate::slots::is_time_dependent(sql.as_bytes()) {
        true => None,
        // The zero byte separates internal texts from those of clients, which are scanned with the
        // session's lexer settings.
        false => core.statement_key(&[&b"\0"[..], sql.as_bytes()].concat(), param_types)?,
    };
    let none: Arc<[Datum]> = Arc::from([]);
    if let Some(statement) = core.find_statement(&key) {
        core.take_locks(&statement.locks)?;
        if statement.is_current(core) {
            return Ok(vec![statement.choose(core, &none, Mode::Generic)?.plan]);
        }
    }
    let mut statements = parse::parse(sql)?;
    if key.is_some() && statements.len() == 1 && analyze::is_query(&statements[0].stmt) {
        let raw = Arc::new(statements.remove(0));
        let statement = core.make_statement(key, &sql.into(), &raw, param_types, false)?;
        return Ok(vec![statement.choose(core, &none, Mode::Generic)?.plan]);
    }
    let mut plans = Vec::new();
    for stmt in statements {
        if !analyze::is_query(&stmt.stmt) {
            return Err(PgError::unsupported("utility statement inside a function"));
        }
        let mut lookup = SessionLookup::new(core);
        let query = analyze::analyze(&mut lookup, &stmt, sql, param_types)?;
        let query = analyze::rewrite(&mut lookup, query)?;
        plans.push(Arc::new(plan_query(core, &query)?));
    }
    Ok(plans)
}

/// Plans an analysed query.
pub fn plan_query(core: &mut Core, query: &Query) -> Result<PlannedStmt> {
    let planning = core.measure(Work::Planner);
    let plan = planner::plan_query(query, core)?;
    core.log_measured(planning, "PLANNER STATISTICS");
    Ok(plan)
}

/// Runs the queries of a text and returns the rows of the last one.
pub fn run_sql(
    core: &mut Core,
    sql: &str,
    param_types: &[Oid],
    params: Arc<[Datum]>,
) -> Result<Vec<Vec<Datum>>> {
    let mut rows = Vec::new();
    for plan in plan_text(core, sql, param_types)? {
        let level = core.triggers.enter();
        let result = run_plan(core, plan, params.clone());
        let result = result.and_then(|rows| trigger::after_statement(core).map(|()| rows));
        core.triggers.leave(level);
        rows = result?;
    }
    Ok(rows)
}

/// Runs a plan to its end under the active snapshot and returns its rows without junk columns.
pub fn run_plan(
    core: &mut Core,
    plan: Arc<PlannedStmt>,
    params: Arc<[Datum]>,
) -> Result<Vec<Vec<Datum>>> {
    run_plan_to(core, plan, params, None)
}

/// As [`run_plan`], but reads at most `limit` rows.
pub fn run_plan_to(
    core: &mut Core,
    plan: Arc<PlannedStmt>,
    params: Arc<[Datum]>,
    limit: Option<usize>,
) -> Result<Vec<Vec<Datum>>> {
    let keep = plan.visible_columns();
    let snapshot = active_snapshot(core);
    let mut run = Execution::start(QueryDesc { plan, params, snapshot }, core)?;
    let mut rows = Vec::new();
    let limit = limit.unwrap_or(usize::MAX);
    while rows.len() < limit
        && let Some(batch) = run.next(core, BATCH_ROWS_MAX.min(limit - rows.len()))?
    {
        rows.extend((0..batch.len).map(|r| row_of(&batch, r, &keep)));
    }
    Ok(rows)
}

fn active_snapshot(core: &mut Core) -> Arc<engine::Snapshot> {
    match core.backend.active_snapshot() {
        Some(s) => s.clone(),
        None => core.backend.snapshot(),
    }
}

fn row_of(batch: &Batch, r: usize, columns: &[usize]) -> Vec<Datum> {
    columns.iter().map(|&c| batch.get(r, c).to_owned()).collect()
}

/// A running query whose rows are read one by one. Between them the session may do other work.
pub(crate) struct Rows {
    run: Execution,
    columns: Vec<usize>,
    snapshot: Arc<engine::Snapshot>,
    /// Rows that were computed together, and the number of those that have been returned.
    batch: Batch,
    at: usize,
    ended: bool,
}

impl Rows {
    /// Starts a query under the active snapshot, or under a new one that sees the transaction's
    /// changes up to here if `latest`.
    pub(crate) fn start(
        core: &mut Core,
        plan: Arc<PlannedStmt>,
        params: Arc<[Datum]>,
        latest: bool,
    ) -> Result<Rows> {
        let columns = plan.visible_columns();
        let snapshot = if latest {
            core.cat().increment_command_counter()?;
            core.backend.snapshot()
        } else {
            active_snapshot(core)
        };
        let run = under(core, &snapshot, |core| {
            let snapshot = snapshot.clone();
            Execution::start(QueryDesc { plan, params, snapshot }, core)
        })?;
        let batch = Batch::default();
        Ok(Rows { run, columns, snapshot, batch, at: 0, ended: false })
    }

    /// The next row. If it has to be computed, up to `want` rows are computed together.
    pub(crate) fn next(&mut self, core: &mut Core, want: usize) -> Result<Option<Vec<Datum>>> {
        while self.at == self.batch.len {
            if self.ended {
                return Ok(None);
            }
            self.run.recycle(std::mem::take(&mut self.batch));
            self.at = 0;
            let run = &mut self.run;
            let next = under(core, &self.snapshot, |core| run.next(core, want))?;
            self.ended = next.is_none();
            self.batch = next.unwrap_or_default();
        }
        self.at += 1;
        Ok(Some(row_of(&self.batch, self.at - 1, &self.columns)))
    }
}

/// Runs `work` with `snapshot` as the active one.
fn under<T>(
    core: &mut Core,
    snapshot: &Arc<engine::Snapshot>,
    work: impl FnOnce(&mut Core) -> Result<T>,
) -> Result<T> {
    let depth = core.backend.snapshot_depth();
    core.backend.push_snapshot(snapshot.clone());
    let result = work(core);
    core.backend.truncate_snapshots(depth);
    result
}
