//! Functions whose body is SQL.

use crate::core::Core;
use crate::query;
use analyze::SessionLookup;
use catalog::Row;
use catalog::rows::PgProc;
use pgerror::Result;
use std::sync::Arc;
use types::{Datum, DatumRef};

/// Calls within calls.
const DEPTH_MAX: u32 = 64;

/// The rows of the body's last statement.
pub(super) fn run(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[ids::Oid],
    args: &[DatumRef<'_>],
) -> Result<Vec<Vec<Datum>>> {
    if core.depth >= DEPTH_MAX {
        return Err(eval::too_deep());
    }
    let params: Arc<[Datum]> = args.iter().map(|a| DatumRef::to_owned(*a)).collect();
    // A polymorphic parameter has the type of the argument.
    let declared = row.proargtypes.iter().copied();
    let types: Vec<ids::Oid> = declared
        .enumerate()
        .map(|(i, d)| match arg_types.get(i) {
            Some(&actual) if is_polymorphic(d) && actual.is_valid() => actual,
            _ => d,
        })
        .collect();
    let saved = std::mem::replace(&mut core.params, params.clone());
    core.depth += 1;
    let result = match &row.prosqlbody {
        Some(body) => run_body(core, body.as_str(), params),
        None => query::run_sql(core, row.prosrc.as_str(), &types, params),
    };
    core.depth -= 1;
    core.params = saved;
    result.map_err(|e| e.context(format!("SQL function \"{}\"", row.proname.as_str())))
}

/// `any…`: the pseudo-types that stand for the argument's own.
fn is_polymorphic(ty: ids::Oid) -> bool {
    matches!(ty.0, 2276 | 2277 | 2283 | 2776 | 3500 | 3831 | 5077..=5080 | 4537 | 4538)
}

/// A body that was analysed when the function was made.
fn run_body(core: &mut Core, body: &str, params: Arc<[Datum]>) -> Result<Vec<Vec<Datum>>> {
    let (queries, _) = analyze::stored::body(&mut SessionLookup::new(core), body)?;
    let mut rows = Vec::new();
    for q in queries {
        let q = analyze::rewrite(&mut SessionLookup::new(core), q)?;
        let plan = Arc::new(query::plan_query(core, &q)?);
        let outer = core.enter_statement();
        rows = query::run_plan(core, plan, params.clone())?;
        core.after_statement()?;
        core.leave_statement(outer);
    }
    Ok(rows)
}
