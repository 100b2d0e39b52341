//! Planning and execution of queries on behalf of commands.

use crate::host::CommandHost;
use analyze::SessionLookup;
use executor::{Execution, QueryDesc};
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
    let columns = visible_columns(plan);
    let depth = host.backend().snapshot_depth();
    host.backend().push_snapshot(snapshot.clone());
    let step = || -> Result<u64> {
        let desc = QueryDesc { plan: plan.clone(), params: Arc::from([]), snapshot };
        let mut run = Execution::start(desc, host.services())?;
        let mut count = 0;
        while let Some(batch) = run.next(host.services(), BATCH_ROWS_MAX)? {
            count += batch.len as u64;
            sink(host, &batch, &columns)?;
            run.recycle(batch);
        }
        Ok(count.max(run.processed()))
    };
    let result = step();
    host.backend().truncate_snapshots(depth);
    result
}

/// Indexes of a plan's output columns that are not junk.
pub fn visible_columns(plan: &PlannedStmt) -> Vec<usize> {
    let targets = plan.plan_tree.info.target_list.iter().enumerate();
    targets.filter(|(_, t)| !t.resjunk).map(|(i, _)| i).collect()
}
