//! Planning and execution of queries on behalf of commands.

use crate::host::CommandHost;
use analyze::SessionLookup;
use executor::{Execution, QueryDesc};
use parse::ast::SelectStmt;
use pgerror::Result;
use plan::PlannedStmt;
use plan::query::Query;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch};

/// A callback that receives each batch with the indexes of its visible columns.
pub type Sink<'a> = dyn FnMut(&mut dyn CommandHost, &Batch, &[usize]) -> Result<()> + 'a;

/// Plans and runs a query with a new snapshot; returns the number of processed rows.
pub fn run(host: &mut dyn CommandHost, query: &Query, sink: &mut Sink<'_>) -> Result<u64> {
    let snapshot = host.backend().snapshot();
    run_under(host, query, snapshot, sink)
}

/// As [`run`], with an existing snapshot.
pub fn run_under(
    host: &mut dyn CommandHost,
    query: &Query,
    snapshot: Arc<engine::Snapshot>,
    sink: &mut Sink<'_>,
) -> Result<u64> {
    let plan = plan(host, query)?;
    run_plan(host, &plan, snapshot, sink)
}

/// Rewrites and plans a query.
pub fn plan(host: &mut dyn CommandHost, query: &Query) -> Result<Arc<PlannedStmt>> {
    let query = analyze::rewrite(&mut SessionLookup::new(host), query.clone())?;
    Ok(Arc::new(planner::plan_query(&query, host.planner())?))
}

/// As [`run_under`], with an existing plan.
pub fn run_plan(
    host: &mut dyn CommandHost,
    plan: &Arc<PlannedStmt>,
    snapshot: Arc<engine::Snapshot>,
    sink: &mut Sink<'_>,
) -> Result<u64> {
    start(host, plan, snapshot)?.finish(host, sink)
}

/// A query that has been started; its snapshot is on top of the stack.
pub struct Started {
    run: Execution,
    columns: Vec<usize>,
    depth: usize,
}

/// Starts a query without asking for rows: most faults come to light here.
pub fn start(
    host: &mut dyn CommandHost,
    plan: &Arc<PlannedStmt>,
    snapshot: Arc<engine::Snapshot>,
) -> Result<Started> {
    let columns = plan.visible_columns();
    let depth = host.backend().snapshot_depth();
    host.backend().push_snapshot(snapshot.clone());
    let desc = QueryDesc { plan: plan.clone(), params: Arc::from([]), snapshot };
    match Execution::start(desc, host.services()) {
        Ok(run) => Ok(Started { run, columns, depth }),
        Err(e) => {
            host.backend().truncate_snapshots(depth);
            Err(e)
        }
    }
}

impl Started {
    /// Runs it to its end; the number of rows that it changed or gave.
    pub fn finish(mut self, host: &mut dyn CommandHost, sink: &mut Sink<'_>) -> Result<u64> {
        let mut drain = || -> Result<u64> {
            let mut count = 0;
            while let Some(batch) = self.run.next(host.services(), BATCH_ROWS_MAX)? {
                count += batch.len as u64;
                sink(host, &batch, &self.columns)?;
                self.run.recycle(batch);
            }
            Ok(count.max(self.run.processed()))
        };
        let result = drain();
        host.backend().truncate_snapshots(self.depth);
        result
    }
}

/// Has the SELECT, or the leftmost one of set operations, an INTO clause?
pub fn has_into(s: &SelectStmt) -> bool {
    s.larg.as_ref().map_or(s.into_clause.is_some(), |left| has_into(left))
}
