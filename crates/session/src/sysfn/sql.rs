//! Functions and procedures in language SQL. A body is analysed and planned as a whole at the first
//! call with given argument types. It is cached until the catalogs or the environment of its
//! analysis change.
//!
//! Counterpart: executor/functions.c, utils/fmgr/fmgr.c (`fmgr_security_definer`),
//! optimizer/util/clauses.c (`inline_function`, `inline_set_returning_function`).

use crate::core::Core;
use crate::plancache::Locks;
use crate::query;
use analyze::SessionLookup;
use analyze::function::{self, Form};
use catalog::Row;
use catalog::acl::{self, Kind};
use catalog::rows::PgProc;
use executor::SetRows;
use hashbrown::HashMap;
use ids::Oid;
use parse::ast::Node;
use pgerror::{PgError, Result, pg_err};
use plan::PlannedStmt;
use plan::expr::{Expr, FuncExpr, TargetEntry};
use plan::query::{CmdType, Query};
use settings::{Action, Saved};
use std::sync::Arc;
use types::{Datum, DatumRef, oids};

/// `pg_language` OID of SQL.
const SQL_LANGUAGE: Oid = Oid(14);
/// Maximum nesting depth of calls.
const DEPTH_MAX: u32 = 64;
/// Maximum number of cached bodies.
const BODIES_MAX: usize = 500;

/// A planned body.
pub(crate) struct Body {
    generation: u64,
    environment: u64,
    user: Oid,
    steps: Vec<Step>,
    form: Form,
    /// The result type, and types and names of the fields of a composite result.
    result: Oid,
    types: Vec<Oid>,
    names: Vec<String>,
}

struct Step {
    plan: Arc<PlannedStmt>,
    locks: Locks,
}

/// The function, its argument types, and the types of the column definition list of the call.
type Key = (Oid, Vec<Oid>, Vec<function::Column>);

/// The cached bodies of a session.
#[derive(Default)]
pub(crate) struct Bodies {
    run: HashMap<Key, Arc<Body>>,
    inlined: HashMap<(Oid, Vec<Oid>), Inlined>,
}

/// The inlined expression of a function, if it can be inlined, and the state for which it is valid.
struct Inlined {
    generation: u64,
    environment: u64,
    expr: Option<Arc<eval::Inline>>,
}

/// Is this a polymorphic pseudo-type or `"any"`?
fn is_polymorphic(ty: Oid) -> bool {
    matches!(ty.0, 2276 | 2277 | 2283 | 2776 | 3500 | 3831 | 5077..=5080 | 4537 | 4538)
}

/// Calls a function and returns its value.
pub(super) fn call(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    args: &[DatumRef<'_>],
) -> Result<Datum> {
    let (body, rows) = run(core, row, arg_types, &[], args, Some(1))?;
    let first = rows.into_iter().next();
    match (first, &body.form) {
        (_, Form::Nothing) | (None, _) => Ok(Datum::Null),
        (Some(first), _) => value(core, &body, first),
    }
}

/// Calls a function in FROM or a set-returning function and returns its rows.
pub(super) fn call_set(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    columns: &[function::Column],
    args: &[DatumRef<'_>],
) -> Result<SetRows> {
    let limit = (!row.proretset).then_some(1);
    let (body, mut rows) = run(core, row, arg_types, columns, args, limit)?;
    if body.form == Form::Nothing {
        let none = if row.proretset { Vec::new() } else { vec![Datum::Null] };
        return Ok(SetRows::Values(none));
    }
    if !row.proretset {
        rows.truncate(1);
        if rows.is_empty() {
            return Ok(SetRows::Values(vec![Datum::Null]));
        }
    }
    let mut values = Vec::with_capacity(rows.len());
    for fields in rows {
        values.push(value(core, &body, fields)?);
    }
    Ok(SetRows::Values(values))
}

/// Executes CALL and returns the row of output parameters, if there are any.
pub(crate) fn call_procedure(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    args: &[DatumRef<'_>],
) -> Result<Option<Vec<Datum>>> {
    let (body, rows) = run(core, row, arg_types, &[], args, Some(1))?;
    if body.form == Form::Nothing {
        return Ok(None);
    }
    let width = body.types.len();
    Ok(Some(rows.into_iter().next().unwrap_or_else(|| vec![Datum::Null; width])))
}

/// Converts a row of the last statement to the function's value.
fn value(core: &mut Core, body: &Body, mut fields: Vec<Datum>) -> Result<Datum> {
    if body.form == Form::Value {
        return Ok(if fields.is_empty() { Datum::Null } else { fields.swap_remove(0) });
    }
    if body.result == oids::RECORD {
        return eval::make_named_record(core, &body.names, &body.types, &fields);
    }
    eval::make_row(core, body.result, &fields)
}

/// Runs the body with the role (SECURITY DEFINER) and the SET clauses of the function. Returns at
/// most `limit` rows of the last statement.
fn run(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    columns: &[function::Column],
    args: &[DatumRef<'_>],
    limit: Option<usize>,
) -> Result<(Arc<Body>, Vec<Vec<Datum>>)> {
    if core.depth >= DEPTH_MAX {
        return Err(eval::too_deep());
    }
    let params: Arc<[Datum]> = args.iter().map(|a| DatumRef::to_owned(*a)).collect();
    let saved_params = std::mem::replace(&mut core.params, params.clone());
    core.depth += 1;
    let mut result = Ok(());
    let mut before = None;
    if row.prosecdef {
        result = core.switch_to_definer(row.proowner).map(|b| before = Some(b));
    }
    let settings = row.proconfig.iter().flatten().filter_map(|s| s.as_str().split_once('='));
    let (saved, set) = apply_settings_of(core, settings);
    let result = result.and(set);
    let result = result.and_then(|()| run_steps(core, row, arg_types, columns, params, limit));
    restore_settings(core, saved);
    if let Some(before) = before {
        core.restore_role(before);
    }
    core.depth -= 1;
    core.params = saved_params;
    result
}

/// Applies the SET clauses of a function. The old values are for [`restore_settings`], even after
/// an error.
pub(crate) fn apply_settings_of<'a>(
    core: &mut Core,
    settings: impl Iterator<Item = (&'a str, &'a str)>,
) -> (Vec<Saved>, Result<()>) {
    let mut saved = Vec::new();
    let mut result = Ok(());
    for (name, text) in settings {
        let set = core.store.save(name).and_then(|before| {
            saved.push(before);
            core.set(name, Some(text), Action::Local)
        });
        result = result.and(set);
    }
    (saved, result)
}

pub(crate) fn restore_settings(core: &mut Core, saved: Vec<Saved>) {
    if !saved.is_empty() {
        saved.into_iter().rev().for_each(|before| core.store.restore(before));
        core.apply_settings();
    }
}

fn run_steps(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    columns: &[function::Column],
    params: Arc<[Datum]>,
    limit: Option<usize>,
) -> Result<(Arc<Body>, Vec<Vec<Datum>>)> {
    let name = row.proname.as_str();
    let body = find(core, row, arg_types, columns)
        .map_err(|e| within(e, row).context(format!("SQL function \"{name}\" during startup")))?;
    if row.provolatile != b'v' {
        for step in &body.steps {
            check_reads(&step.plan)
                .map_err(|e| e.context(format!("SQL function \"{name}\" during startup")))?;
        }
    }
    let mut rows = Vec::new();
    let last = body.steps.len().saturating_sub(1);
    for (i, step) in body.steps.iter().enumerate() {
        // Only a plain query may stop at the limit. A statement that writes must be run to its end.
        let plain = step.plan.command_type == CmdType::Select && !step.plan.has_modifying_cte;
        let limit = limit.filter(|_| i == last && plain && body.form != Form::Nothing);
        rows = run_step(core, row, step, params.clone(), limit)
            .map_err(|e| e.context(format!("SQL function \"{name}\" statement {}", i + 1)))?;
    }
    Ok((body, rows))
}

/// Error 0A000 for a statement that writes in a function that is not volatile.
fn check_reads(plan: &PlannedStmt) -> Result<()> {
    let what = match plan.command_type {
        CmdType::Insert => "INSERT",
        CmdType::Update => "UPDATE",
        CmdType::Delete => "DELETE",
        _ if plan.has_modifying_cte => "SELECT",
        _ => return Ok(()),
    };
    Err(pg_err!(FEATURE_NOT_SUPPORTED, "{what} is not allowed in a non-volatile function"))
}

/// Can the function be inlined, by its properties in `pg_proc`?
pub(crate) fn may_inline(row: &PgProc) -> bool {
    let plain = !row.prosecdef && row.proconfig.is_none() && !row.proretset;
    plain && row.prokind == b'f' && row.prorettype != oids::RECORD
}

/// Can the function be inlined, and has its body a single statement?
fn is_simple(row: &PgProc) -> bool {
    let single = row.prosqlbody.is_some()
        || !matches!(parse::parse(row.prosrc.as_str()), Ok(list) if list.len() != 1);
    may_inline(row) && single
}

/// The expression for an inlined call: the body, if it is a single expression and the user may
/// execute the function.
pub(crate) fn inline(core: &mut Core, call: &FuncExpr) -> Result<Option<Arc<eval::Inline>>> {
    let row = core.cat().function(call.funcid)?;
    if usize::try_from(row.pronargs) != Ok(call.args.len()) {
        return Ok(None);
    }
    let actual: Vec<Oid> = call.args.iter().map(Expr::type_oid).collect();
    let key = (row.oid, argument_types(&row, &actual));
    // Read before any catalog: changes from here on make the expression stale.
    let generation = core.catalog.catalog.generation();
    let environment = core.environment()?;
    if let Some(known) = core.bodies.inlined.get(&key)
        && known.environment == environment
        && known.generation == generation
    {
        return Ok(known.expr.clone());
    }
    let user = core.catalog.user;
    let acl = row.proacl.as_deref();
    let allowed =
        core.cat().has_privilege(user, row.proowner, acl, Kind::Function, acl::EXECUTE)?;
    let expr = if allowed { expression_of(core, &row, &key.1)? } else { None };
    let expr = expr.map(|expr| Arc::new(eval::Inline { expr }));
    if core.bodies.inlined.len() >= BODIES_MAX {
        core.bodies.inlined.clear();
    }
    let known = Inlined { generation, environment, expr: expr.clone() };
    core.bodies.inlined.insert(key, known);
    Ok(expr)
}

/// Does the row type have dropped columns, which the caller expects and a query does not return?
fn has_dropped_columns(core: &mut Core, row_type: Oid) -> Result<bool> {
    let Some(relation) = core.cat().type_row(row_type)?.typrelid.valid() else { return Ok(false) };
    Ok(core.cat().relation(relation)?.attributes.iter().any(|a| a.attisdropped))
}

/// The query for an inlined set-returning call, if it can be inlined. The function must not be
/// volatile or strict, and its body must be one SELECT with the columns that the caller expects.
/// Counterpart: `inline_set_returning_function`.
pub(crate) fn inline_set(
    core: &mut Core,
    call: &FuncExpr,
    columns: &[function::Column],
) -> Result<Option<Query>> {
    let row = core.cat().function(call.funcid)?;
    let plain = row.prolang == SQL_LANGUAGE
        && row.prokind == b'f'
        && row.proretset
        && row.provolatile != b'v'
        && !row.proisstrict
        && !row.prosecdef
        && row.proconfig.is_none()
        && usize::try_from(row.pronargs) == Ok(call.args.len());
    if !plain || core.depth >= DEPTH_MAX {
        return Ok(None);
    }
    let (user, acl) = (core.catalog.user, row.proacl.as_deref());
    if !core.cat().has_privilege(user, row.proowner, acl, Kind::Function, acl::EXECUTE)? {
        return Ok(None);
    }
    let actual: Vec<Oid> = call.args.iter().map(Expr::type_oid).collect();
    let types = argument_types(&row, &actual);
    let name = row.proname.as_str();
    let analysed = analyse(core, &row, &types, columns)
        .map_err(|e| within(e, &row).context(format!("SQL function \"{name}\" during inlining")))?;
    let columns = match (&analysed.fields, columns) {
        (_, [_, ..]) => columns.iter().map(|c| c.0).collect(),
        (Some(fields), _) if has_dropped_columns(core, analysed.result)? || fields.is_empty() => {
            return Ok(None);
        }
        (Some(fields), _) => fields.iter().map(|f| f.1).collect(),
        (None, _) => vec![analysed.result],
    };
    let Ok([query]) = <[Query; 1]>::try_from(analysed.queries) else { return Ok(None) };
    let shown = query.target_list.iter().filter(|t| !t.resjunk).map(|t| t.expr.type_oid());
    let reads = query.command_type == CmdType::Select && !query.has_modifying_cte;
    let fits = reads && shown.eq(columns.iter().copied());
    Ok(fits.then_some(query))
}

/// The single expression that the function computes, if its body is one.
fn expression_of(core: &mut Core, row: &Row<PgProc>, types: &[Oid]) -> Result<Option<Expr>> {
    if !is_simple(row) {
        return Ok(None);
    }
    let name = row.proname.as_str();
    let analysed = analyse(core, row, types, &[])
        .map_err(|e| within(e, row).context(format!("SQL function \"{name}\" during inlining")))?;
    let nothing = analysed.form == Form::Nothing;
    let one = <[Query; 1]>::try_from(analysed.queries);
    let (Form::Value | Form::Nothing, Ok([query])) = (analysed.form, one) else {
        return Ok(None);
    };
    let plain = query.command_type == CmdType::Select
        && !query.has_aggs
        && !query.has_window_funcs
        && !query.has_target_srfs
        && !query.has_sub_links
        && query.cte_list.is_empty()
        && query.rtable.is_empty()
        && query.jointree.fromlist.is_empty()
        && query.jointree.quals.is_none()
        && query.group_clause.is_empty()
        && query.grouping_sets.is_empty()
        && query.having_qual.is_none()
        && query.window_clause.is_empty()
        && query.distinct_clause.is_empty()
        && query.sort_clause.is_empty()
        && query.limit_offset.is_none()
        && query.limit_count.is_none()
        && query.set_operations.is_none();
    match <[TargetEntry; 1]>::try_from(query.target_list) {
        // A function that returns void may be inlined only if its expression has type void too,
        // because that value is not NULL.
        Ok([target]) if plain && (!nothing || target.expr.type_oid() == oids::VOID) => {
            Ok(Some(target.expr))
        }
        _ => Ok(None),
    }
}

/// Turns the position of an error in a body's text into an internal position with that text.
fn within(mut e: PgError, row: &PgProc) -> PgError {
    let fields = e.fields_mut();
    if let Some(position) = fields.position.take() {
        fields.internal_position = Some(position);
        fields.internal_query = Some(row.prosrc.as_str().to_owned());
    }
    e
}

/// Runs a statement of a body. A volatile function gets a new snapshot for each statement, so it
/// sees its own changes and newly committed ones.
fn run_step(
    core: &mut Core,
    row: &PgProc,
    step: &Step,
    params: Arc<[Datum]>,
    limit: Option<usize>,
) -> Result<Vec<Vec<Datum>>> {
    let depth = core.backend.snapshot_depth();
    if row.provolatile == b'v' {
        core.cat().increment_command_counter()?;
        let snapshot = core.backend.snapshot();
        core.backend.push_snapshot(snapshot);
    }
    let level = core.triggers.enter();
    let result = query::run_plan_to(core, step.plan.clone(), params, limit);
    let result = result.and_then(|rows| trigger::after_statement(core).map(|()| rows));
    core.triggers.leave(level);
    core.backend.truncate_snapshots(depth);
    result
}

/// The body for these argument types, from the cache or newly made.
fn find(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    columns: &[function::Column],
) -> Result<Arc<Body>> {
    let types = argument_types(row, arg_types);
    let key = (row.oid, types, columns.to_vec());
    let environment = core.environment()?;
    if let Some(body) = core.bodies.run.get(&key).cloned()
        && body.environment == environment
        && body.user == core.catalog.user
        && body.generation == core.catalog.catalog.generation()
    {
        for step in &body.steps {
            core.take_locks(&step.locks)?;
        }
        if body.generation == core.catalog.catalog.generation() {
            return Ok(body);
        }
    }
    let body = Arc::new(make(core, row, &key.1, columns)?);
    if core.bodies.run.len() >= BODIES_MAX {
        core.bodies.run.clear();
    }
    core.bodies.run.insert(key, body.clone());
    Ok(body)
}

/// The parameter types; a polymorphic one has the type of the argument.
fn argument_types(row: &PgProc, actual: &[Oid]) -> Vec<Oid> {
    let declared = row.proargtypes.iter().copied();
    let types = declared.enumerate().map(|(i, d)| match actual.get(i) {
        Some(&actual) if is_polymorphic(d) && actual.is_valid() => actual,
        _ => d,
    });
    types.collect()
}

/// The analysed statements of a body, coerced to the function's result type.
struct Analysed {
    queries: Vec<Query>,
    form: Form,
    result: Oid,
    /// Names, types and type modifiers of the fields of a composite result.
    fields: Option<Vec<(String, Oid, i32)>>,
}

fn analyse(
    core: &mut Core,
    row: &Row<PgProc>,
    types: &[Oid],
    columns: &[function::Column],
) -> Result<Analysed> {
    let mut queries = match &row.prosqlbody {
        Some(body) => analyze::stored::body(&mut SessionLookup::new(core), body.as_str())?.0,
        None => queries_of(core, row, types)?,
    };
    let outputs = outputs(core, row, types)?;
    let result = match &outputs {
        Some(list) if list.len() == 1 && row.prokind != b'p' => list[0].1,
        _ if is_polymorphic(row.prorettype) => {
            let mut declared = row.proargtypes.to_vec();
            let mut lookup = SessionLookup::new(core);
            let mut cx =
                analyze::Analyzer::new(&mut lookup, "", analyze::Params::Fixed(Vec::new()));
            cx.enforce_generics(types, &mut declared, row.prorettype, true)?
        }
        _ => row.prorettype,
    };
    let fields = fields(core, result, outputs, columns)?;
    let wanted: Option<Vec<function::Column>> =
        fields.as_ref().map(|list| list.iter().map(|f| (f.1, f.2)).collect());
    let form = function::fit_result(
        &mut SessionLookup::new(core),
        queries.last_mut(),
        result,
        wanted.as_deref(),
        row.prokind == b'p',
    )?;
    let rewritten = queries.into_iter().map(|q| analyze::rewrite(&mut SessionLookup::new(core), q));
    Ok(Analysed { queries: rewritten.collect::<Result<_>>()?, form, result, fields })
}

fn make(
    core: &mut Core,
    row: &Row<PgProc>,
    types: &[Oid],
    columns: &[function::Column],
) -> Result<Body> {
    // Read before any catalog: changes from here on make the body stale.
    let generation = core.catalog.catalog.generation();
    let environment = core.environment()?;
    let Analysed { queries, form, result, fields } = analyse(core, row, types, columns)?;
    let (names, types) = match fields {
        Some(list) => list.into_iter().map(|f| (f.0, f.1)).unzip(),
        None => {
            let last = queries.last().map(|q| match q.returning_list.is_empty() {
                true => &q.target_list,
                false => &q.returning_list,
            });
            let shown = last.into_iter().flatten().filter(|t| !t.resjunk);
            shown.map(|t| (t.resname.clone().unwrap_or_default(), t.expr.type_oid())).unzip()
        }
    };
    let mut steps = Vec::with_capacity(queries.len());
    for q in queries {
        let mut locks = Vec::new();
        core.collect_locks(&q, &mut locks)?;
        // Parameter values are hidden, so that the plan is generic.
        let saved = std::mem::replace(&mut core.params, Arc::from([]));
        let plan = query::plan_query(core, &q);
        core.params = saved;
        steps.push(Step { plan: Arc::new(plan?), locks: locks.into() });
    }
    let user = core.catalog.user;
    Ok(Body { generation, environment, user, steps, form, result, types, names })
}

/// Analyses the statements of a body given as text.
fn queries_of(core: &mut Core, row: &PgProc, types: &[Oid]) -> Result<Vec<Query>> {
    let text = row.prosrc.as_str();
    let names = argument_names(row);
    let mut queries = Vec::new();
    for stmt in parse::parse(text)? {
        if let Node::TransactionStmt(_) | Node::CopyStmt(_) = &stmt.stmt {
            let what = commands::command_tag(&stmt.stmt);
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "{what} is not allowed in a SQL function"));
        }
        if !analyze::is_query(&stmt.stmt) {
            return Err(PgError::unsupported("utility statement inside a function"));
        }
        let mut lookup = SessionLookup::new(core);
        let name = row.proname.as_str();
        let (stmt, types) = (&stmt.stmt, types);
        queries.push(analyze::function_statement(&mut lookup, stmt, text, name, types, &names)?);
    }
    Ok(queries)
}

/// Names of the input arguments in order; empty for an argument without a name.
fn argument_names(row: &PgProc) -> Vec<String> {
    let Some(names) = &row.proargnames else { return Vec::new() };
    let is_input = |i: usize| match &row.proargmodes {
        Some(modes) => modes.get(i).is_none_or(|m| matches!(m, b'i' | b'b' | b'v')),
        None => true,
    };
    let names = names.iter().enumerate().filter(|(i, _)| is_input(*i));
    names.map(|(_, n)| n.as_str().to_owned()).collect()
}

/// Names and types of the output parameters in a call with these argument types; `None` if there
/// are none.
pub(crate) fn outputs(
    core: &mut Core,
    row: &PgProc,
    types: &[Oid],
) -> Result<Option<Vec<(String, Oid)>>> {
    let (Some(all), Some(modes)) = (&row.proallargtypes, &row.proargmodes) else { return Ok(None) };
    let mut out = Vec::new();
    for (i, (&ty, mode)) in all.iter().zip(modes).enumerate() {
        if !matches!(mode, b'o' | b'b' | b't') {
            continue;
        }
        let name = row.proargnames.as_ref().and_then(|n| n.get(i));
        let name = name.map(|n| n.as_str().to_owned()).unwrap_or_default();
        let ty = match is_polymorphic(ty) {
            true => {
                let mut declared = row.proargtypes.to_vec();
                let mut lookup = SessionLookup::new(core);
                let mut cx =
                    analyze::Analyzer::new(&mut lookup, "", analyze::Params::Fixed(Vec::new()));
                cx.enforce_generics(types, &mut declared, ty, true)?
            }
            false => ty,
        };
        out.push((name, ty));
    }
    Ok((!out.is_empty()).then_some(out))
}

/// Names, types and type modifiers of the fields of a composite result, if they are known.
fn fields(
    core: &mut Core,
    result: Oid,
    outputs: Option<Vec<(String, Oid)>>,
    columns: &[function::Column],
) -> Result<Option<Vec<(String, Oid, i32)>>> {
    if result == oids::RECORD {
        return Ok(match outputs {
            Some(list) => Some(list.into_iter().map(|(n, t)| (n, t, -1)).collect()),
            None if columns.is_empty() => None,
            None => Some(columns.iter().map(|&(t, m)| (String::new(), t, m)).collect()),
        });
    }
    let row = core.cat().type_row(result)?;
    if row.typtype != b'c' {
        return Ok(None);
    }
    let desc = core.cat().relation(row.typrelid)?;
    let live = desc.attributes.iter().filter(|a| !a.attisdropped);
    Ok(Some(live.map(|a| (a.attname.to_string(), a.atttypid, a.atttypmod)).collect()))
}
