//! SQL functions whose body replaces the call. Counterpart: optimizer/util/clauses.c
//! (`inline_function`, `inline_set_returning_function`).

use super::bodies::Inlined;
use super::{Statement, analyse, argument_types, statements_of, within};
use crate::function::DEPTH_MAX;
use crate::state::State;
use analyze::function::{self, ResultForm};
use catalog::Row;
use catalog::acl::{self, Kind};
use catalog::rows::PgProc;
use ids::Oid;
use ids::builtin::language::SQL;
use ids::code::{ProKind, Volatility};
use pgerror::Result;
use plan::expr::{Expr, FuncExpr, TargetEntry};
use plan::query::{CmdType, Query};
use std::sync::Arc;
use types::oids;

/// True if the properties of the function in `pg_proc` permit inlining.
pub(crate) fn may_inline(row: &PgProc) -> bool {
    let plain = !row.prosecdef && row.proconfig.is_none() && !row.proretset;
    plain && row.prokind == ProKind::Function && row.prorettype != oids::RECORD
}

/// True if the function can be inlined and its body has a single statement.
fn is_simple(row: &PgProc) -> bool {
    let single = row.prosqlbody.is_some()
        || !matches!(parse::parse(row.prosrc.as_str()), Ok(list) if list.len() != 1);
    may_inline(row) && single
}

/// The expression for an inlined call: the body, if it is a single expression and the user may
/// execute the function.
pub(crate) fn inline(state: &mut State, call: &FuncExpr) -> Result<Option<Arc<eval::Inline>>> {
    let row = state.cat().function(call.funcid)?;
    if usize::try_from(row.pronargs) != Ok(call.args.len()) {
        return Ok(None);
    }
    let actual: Vec<Oid> = call.args.iter().map(Expr::type_oid).collect();
    let key = (row.oid, argument_types(&row, &actual));
    // Read before any catalog: catalog changes after this point make the expression stale.
    let generation = state.catalog.catalog.generation();
    let environment = state.environment()?;
    if let Some(known) = state.caches.bodies.find_inlined(&key)
        && known.environment == environment
        && known.generation == generation
    {
        return Ok(known.expr.clone());
    }
    let user = state.catalog.user;
    let acl = row.proacl.as_deref();
    let allowed =
        state.cat().has_privilege(user, row.proowner, acl, Kind::Function, acl::EXECUTE)?;
    let expr = if allowed { expression_of(state, &row, &key.1)? } else { None };
    let expr = expr.map(|expr| Arc::new(eval::Inline { expr }));
    state.caches.bodies.keep_inlined(key, Inlined { generation, environment, expr: expr.clone() });
    Ok(expr)
}

/// True if the row type has dropped columns, which the caller expects and a query does not return.
fn has_dropped_columns(state: &mut State, row_type: Oid) -> Result<bool> {
    let Some(relation) = state.cat().type_row(row_type)?.typrelid.valid() else { return Ok(false) };
    Ok(state.cat().relation(relation)?.attributes.iter().any(|a| a.attisdropped))
}

/// The query for an inlined set-returning call, if it can be inlined. The function must not be
/// volatile or strict, and its body must be one SELECT with the columns that the caller expects.
/// Counterpart: `inline_set_returning_function`.
pub(crate) fn inline_set(
    state: &mut State,
    call: &FuncExpr,
    columns: &[function::Column],
) -> Result<Option<Query>> {
    let row = state.cat().function(call.funcid)?;
    let plain = row.prolang == SQL
        && row.prokind == ProKind::Function
        && row.proretset
        && row.provolatile != Volatility::Volatile
        && !row.proisstrict
        && !row.prosecdef
        && row.proconfig.is_none()
        && usize::try_from(row.pronargs) == Ok(call.args.len());
    if !plain || state.calls.sql_depth >= DEPTH_MAX {
        return Ok(None);
    }
    let (user, acl) = (state.catalog.user, row.proacl.as_deref());
    if !state.cat().has_privilege(user, row.proowner, acl, Kind::Function, acl::EXECUTE)? {
        return Ok(None);
    }
    let actual: Vec<Oid> = call.args.iter().map(Expr::type_oid).collect();
    let types = argument_types(&row, &actual);
    let name = row.proname.as_str();
    let analysed = analyse(state, &row, (&types, call.inputcollid), columns)
        .map_err(|e| within(e, &row).context(format!("SQL function \"{name}\" during inlining")))?;
    let columns = match (&analysed.fields, columns) {
        (_, [_, ..]) => columns.iter().map(|c| c.0).collect(),
        (Some(fields), _) if has_dropped_columns(state, analysed.result)? || fields.is_empty() => {
            return Ok(None);
        }
        (Some(fields), _) => fields.iter().map(|f| f.1).collect(),
        (None, _) => vec![analysed.result],
    };
    let Some(query) = analysed.single_query() else { return Ok(None) };
    let shown = query.target_list.iter().filter(|t| !t.resjunk).map(|t| t.expr.type_oid());
    let reads = query.command_type == CmdType::Select && !query.has_modifying_cte;
    let fits = reads && shown.eq(columns.iter().copied());
    Ok(fits.then_some(query))
}

/// True if the body, which is a single statement, is a query that computes one expression, before
/// its result is converted to that of the function. The errors of others are reported when the
/// function is called.
fn is_expression(state: &mut State, row: &Row<PgProc>, types: &[Oid]) -> Result<bool> {
    if row.prosqlbody.is_some() {
        return Ok(true);
    }
    match parse::parse(row.prosrc.as_str())?.first() {
        Some(raw) if analyze::is_query(&raw.stmt) => {}
        _ => return Ok(false),
    }
    let statements = statements_of(state, row, (types, Oid::INVALID))?;
    let query = statements.first().and_then(Statement::query);
    Ok(query.is_some_and(|q| q.computes_targets_only() && q.target_list.len() == 1))
}

/// The single expression that the function computes, if its body is one.
fn expression_of(state: &mut State, row: &Row<PgProc>, types: &[Oid]) -> Result<Option<Expr>> {
    if !is_simple(row) {
        return Ok(None);
    }
    let name = row.proname.as_str();
    let context = |e| within(e, row).context(format!("SQL function \"{name}\" during inlining"));
    if !is_expression(state, row, types).map_err(context)? {
        return Ok(None);
    }
    let analysed = analyse(state, row, (types, Oid::INVALID), &[]).map_err(context)?;
    let nothing = analysed.form == ResultForm::Discarded;
    if !matches!(analysed.form, ResultForm::Scalar | ResultForm::Discarded) {
        return Ok(None);
    }
    let Some(query) = analysed.single_query() else { return Ok(None) };
    let plain = query.computes_targets_only();
    match <[TargetEntry; 1]>::try_from(query.target_list) {
        // A function that returns void may be inlined only if its expression has type void too,
        // because a void value is not NULL.
        Ok([target]) if plain && (!nothing || target.expr.type_oid() == oids::VOID) => {
            Ok(Some(target.expr))
        }
        _ => Ok(None),
    }
}
