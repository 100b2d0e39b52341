//! Functions whose body is SQL.

use crate::core::Core;
use crate::query;
use catalog::Row;
use catalog::rows::PgProc;
use pgerror::{PgError, Result};
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
    if row.prosqlbody.is_some() && row.prosrc.as_str().is_empty() {
        return Err(PgError::unsupported(format!(
            "SQL-standard body of function {}",
            row.proname.as_str()
        )));
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
    let result = query::run_sql(core, row.prosrc.as_str(), &types, params);
    core.depth -= 1;
    core.params = saved;
    result.map_err(|e| e.context(format!("SQL function \"{}\"", row.proname.as_str())))
}

/// `any…`: the pseudo-types that stand for the argument's own.
fn is_polymorphic(ty: ids::Oid) -> bool {
    matches!(ty.0, 2276 | 2277 | 2283 | 2776 | 3500 | 3831 | 5077..=5080 | 4537 | 4538)
}
