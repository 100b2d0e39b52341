//! Planning and execution of queries on behalf of commands.

use crate::host::CommandHost;
use analyze::SessionLookup;
use catalog::CatCx;
use executor::spi::{self, QuerySnapshot};
use ids::Persistence;
use parse::ast::SelectStmt;
use parse::{Options, RawStmt};
use pgerror::{Result, pg_err};
use plan::PlannedStmt;
use plan::query::{CmdType, Query, RteKind, acl};
use std::sync::Arc;
use types::{Batch, Datum};

/// A callback that receives each batch with the indexes of its visible columns.
pub type Sink<'a> = dyn FnMut(&mut dyn CommandHost, &Batch, &[usize]) -> Result<()> + 'a;

/// Plans and runs a query with a new snapshot; returns the number of processed rows.
pub fn run(host: &mut dyn CommandHost, query: &Query, sink: &mut Sink<'_>) -> Result<u64> {
    let plan = plan(host, query)?;
    let query = of_plan(&plan, QuerySnapshot::New);
    Ok(query.run(host, &mut |host, batch, columns| sink(host, batch, columns))?.rows)
}

/// The query of a plan without parameters.
pub fn of_plan(plan: &Arc<PlannedStmt>, snapshot: QuerySnapshot) -> spi::Query {
    let none: Arc<[Datum]> = Arc::from([]);
    spi::Query::new(plan.clone(), none).under(snapshot)
}

/// Rewrites and plans a query.
pub fn plan(host: &mut dyn CommandHost, query: &Query) -> Result<Arc<PlannedStmt>> {
    let query = analyze::rewrite(&mut SessionLookup::new(host), query.clone())?;
    let plan = planner::plan_query(&query, host.planner())?;
    if host.read_only() {
        check_read_only(&mut host.catalog(), &plan)?;
    }
    Ok(Arc::new(plan))
}

/// Error 25006 for statements that write in a read-only transaction. A plan may require other
/// privileges than SELECT only for temporary tables. Counterpart: `ExecCheckXactReadOnly`.
pub fn check_read_only(cat: &mut CatCx<'_>, plan: &PlannedStmt) -> Result<()> {
    let mut writes = false;
    for rte in plan.rtable.iter().filter(|r| r.required_perms & !acl::SELECT != 0) {
        if let RteKind::Relation { relid, .. } = rte.kind {
            writes |= cat.class(relid)?.relpersistence != Persistence::Temporary;
        }
    }
    if !writes {
        return Ok(());
    }
    let what = match (plan.command_type, plan.row_marks.first()) {
        (CmdType::Insert, _) => "INSERT",
        (CmdType::Update, _) => "UPDATE",
        (CmdType::Delete, _) => "DELETE",
        (CmdType::Merge, _) => "MERGE",
        (_, Some(mark)) => mark.strength.select_name(),
        _ => "SELECT",
    };
    Err(pg_err!(READ_ONLY_SQL_TRANSACTION, "cannot execute {what} in a read-only transaction"))
}

/// Parses a text that `deparse` wrote under the session's settings.
pub fn parse_shown(host: &mut dyn CommandHost, sql: &str) -> Result<Vec<RawStmt>> {
    let standard_conforming_strings = !host.catalog().session.quoting.escapes;
    parse::parse_with(sql, Options { standard_conforming_strings, ..Options::default() })
}

/// True if the SELECT, or the leftmost one of set operations, has an INTO clause.
pub fn has_into(s: &SelectStmt) -> bool {
    s.larg.as_ref().map_or(s.into_clause.is_some(), |left| has_into(left))
}
