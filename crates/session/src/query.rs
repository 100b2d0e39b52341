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
use types::{BATCH_ROWS_MAX, Datum};

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
    let snapshot = match core.backend.active_snapshot() {
        Some(s) => s.clone(),
        None => core.backend.snapshot(),
    };
    let keep: Vec<usize> = plan
        .plan_tree
        .info
        .target_list
        .iter()
        .enumerate()
        .filter(|(_, t)| !t.resjunk)
        .map(|(i, _)| i)
        .collect();
    let mut run = Execution::start(QueryDesc { plan, params, snapshot }, core)?;
    let mut rows = Vec::new();
    let limit = limit.unwrap_or(usize::MAX);
    while rows.len() < limit
        && let Some(batch) = run.next(core, BATCH_ROWS_MAX.min(limit - rows.len()))?
    {
        for r in 0..batch.len {
            rows.push(keep.iter().map(|&c| batch.get(r, c).to_owned()).collect());
        }
    }
    Ok(rows)
}
