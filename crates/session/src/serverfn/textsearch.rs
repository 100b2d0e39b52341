//! Functions of text search that run queries. Counterpart: tsvector_op.c (`ts_stat`),
//! tsquery_rewrite.c.

use super::{SysCall, SysFn, text};
use crate::core::Core;
use crate::query;
use executor::spi;
use ids::Oid;
use pgerror::{Result, bail, pg_err};
use std::sync::Arc;
use types::textsearch::Rewriter;
use types::textsearch::query::Query;
use types::textsearch::stat::Statistics;
use types::textsearch::vector::Vector;
use types::{Datum, DatumRef, oids};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "ts_stat1", call: SysCall::Set(|c, a| statistics(c, &text(a[0]), &[])) },
    SysFn {
        name: "ts_stat2",
        call: SysCall::Set(|c, a| statistics(c, &text(a[0]), a[1].as_bytes())),
    },
    SysFn { name: "tsquery_rewrite_query", call: SysCall::One(rewrite) },
];

/// The rows of a query whose columns must have the given types.
fn rows(core: &mut Core, sql: &str, types: &[Oid], message: &str) -> Result<Vec<Vec<Datum>>> {
    let plans = query::plan_text(core, sql, &[])?;
    let [plan] = &plans[..] else {
        bail!(INVALID_CURSOR_DEFINITION, "cannot open multi-query plan as cursor");
    };
    spi::check_read_only(plan).map_err(|e| e.context(format!("SQL statement \"{sql}\"")))?;
    let targets = plan.plan_tree.info.target_list.iter().filter(|t| !t.resjunk);
    let found: Vec<Oid> = targets.map(|t| t.expr.type_oid()).collect();
    if found != types {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "{message}"));
    }
    query::run_nested(core, spi::Query::new(plan.clone(), Arc::from([])))
}

fn statistics(core: &mut Core, sql: &str, weights: &[u8]) -> Result<Vec<Vec<Datum>>> {
    let message = "ts_stat query must return one tsvector column";
    let mut statistics = Statistics::new(weights);
    for row in rows(core, sql, &[oids::TSVECTOR], message)? {
        if let Some(Datum::Bytes(payload)) = row.first() {
            statistics.add(Vector::new(payload));
        }
    }
    let counts = statistics.rows();
    Ok(counts
        .map(|(lexeme, documents, entries)| {
            vec![Datum::Bytes(lexeme), Datum::int4(documents), Datum::int4(entries)]
        })
        .collect())
}

fn rewrite(core: &mut Core, args: &[DatumRef<'_>]) -> Result<Datum> {
    let query = Query::new(args[0].as_bytes());
    if query.is_empty() {
        return Ok(args[0].to_owned());
    }
    let message = "ts_rewrite query must return two tsquery columns";
    let mut rewriter = Rewriter::new(core, query);
    for row in rows(core, &text(args[1]), &[oids::TSQUERY; 2], message)? {
        let [Datum::Bytes(search), Datum::Bytes(by)] = row.as_slice() else { continue };
        let (search, by) = (Query::new(search), Query::new(by));
        if search.is_empty() {
            continue;
        }
        if !rewriter.substitute(core, search, by)? {
            break;
        }
        rewriter.prepare();
    }
    Ok(Datum::bytes(rewriter.finish()?))
}
