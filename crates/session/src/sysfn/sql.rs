//! Functions and procedures whose body is SQL. Counterpart: functions.c, and `fmgr_security_definer` of fmgr.c.
//!
//! A body is analysed and planned as a whole when it is first called with arguments of some types, and kept while the
//! catalogs and all else that analysis reads stay as they are.

use crate::core::Core;
use crate::plancache::Locks;
use crate::query;
use analyze::SessionLookup;
use analyze::function::{self, Form};
use catalog::Row;
use catalog::rows::PgProc;
use executor::SetRows;
use hashbrown::HashMap;
use ids::Oid;
use parse::ast::Node;
use pgerror::{PgError, Result, pg_err};
use plan::PlannedStmt;
use plan::query::{CmdType, Query};
use settings::Action;
use std::sync::Arc;
use types::{Datum, DatumRef, oids};

/// Calls within calls.
const DEPTH_MAX: u32 = 64;
/// Bodies that a session keeps.
const BODIES_MAX: usize = 500;

/// A body, ready to run.
pub(crate) struct Body {
    generation: u64,
    environment: u64,
    user: Oid,
    steps: Vec<Step>,
    form: Form,
    /// The result's type, and the types and names of the fields of a row.
    result: Oid,
    types: Vec<Oid>,
    names: Vec<String>,
}

struct Step {
    plan: Arc<PlannedStmt>,
    locks: Locks,
}

/// A function, the types of its arguments, and those of the columns that its caller defines.
type Key = (Oid, Vec<Oid>, Vec<Oid>);

/// The bodies that a session keeps.
#[derive(Default)]
pub(crate) struct Bodies(HashMap<Key, Arc<Body>>);

/// `any…`: the pseudo-types that stand for the argument's own.
fn is_polymorphic(ty: Oid) -> bool {
    matches!(ty.0, 2276 | 2277 | 2283 | 2776 | 3500 | 3831 | 5077..=5080 | 4537 | 4538)
}

/// The value of a call.
pub(super) fn call(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    args: &[DatumRef<'_>],
) -> Result<Datum> {
    let (body, rows) = run(core, row, arg_types, &[], args, Some(1))?;
    let first = rows.into_iter().next();
    match (first, &body.form) {
        (_, Form::Nothing) => Ok(Datum::Word(0)),
        (None, _) => Ok(Datum::Null),
        (Some(first), _) => value(core, &body, first),
    }
}

/// The rows of a call in FROM, or of a set-returning one.
pub(super) fn call_set(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    columns: &[Oid],
    args: &[DatumRef<'_>],
) -> Result<SetRows> {
    let limit = (!row.proretset).then_some(1);
    let (body, mut rows) = run(core, row, arg_types, columns, args, limit)?;
    if body.form == Form::Nothing {
        let none = if row.proretset { Vec::new() } else { vec![Datum::Word(0)] };
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

/// The result of CALL: the fields of the row of output parameters, if there are any.
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

/// One row of the last statement as the function's value.
fn value(core: &mut Core, body: &Body, mut fields: Vec<Datum>) -> Result<Datum> {
    if body.form == Form::Value {
        return Ok(if fields.is_empty() { Datum::Null } else { fields.swap_remove(0) });
    }
    if body.result == oids::RECORD {
        return eval::make_named_record(core, &body.names, &body.types, &fields);
    }
    eval::make_row(core, body.result, &fields)
}

/// Runs the body as the function says: its owner, its settings. At most `limit` rows of the last statement.
fn run(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    columns: &[Oid],
    args: &[DatumRef<'_>],
    limit: Option<usize>,
) -> Result<(Arc<Body>, Vec<Vec<Datum>>)> {
    if core.depth >= DEPTH_MAX {
        return Err(eval::too_deep());
    }
    let params: Arc<[Datum]> = args.iter().map(|a| DatumRef::to_owned(*a)).collect();
    let saved_params = std::mem::replace(&mut core.params, params.clone());
    let (user, superuser) = (core.catalog.user, core.superuser);
    let mut saved = Vec::new();
    core.depth += 1;
    let mut result = Ok(());
    if row.prosecdef {
        core.catalog.set_user(row.proowner);
        result = core.is_superuser().map(|is| core.superuser = is);
    }
    for setting in row.proconfig.iter().flatten() {
        let Some((name, text)) = setting.as_str().split_once('=') else { continue };
        let set = core.store.save(name).and_then(|before| {
            saved.push(before);
            core.set(name, Some(text), Action::Local)
        });
        result = result.and(set);
    }
    let result = result.and_then(|()| run_steps(core, row, arg_types, columns, params, limit));
    if !saved.is_empty() {
        saved.into_iter().rev().for_each(|before| core.store.restore(before));
        core.apply_settings();
    }
    if row.prosecdef {
        core.catalog.set_user(user);
        core.superuser = superuser;
    }
    core.depth -= 1;
    core.params = saved_params;
    result
}

fn run_steps(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    columns: &[Oid],
    params: Arc<[Datum]>,
    limit: Option<usize>,
) -> Result<(Arc<Body>, Vec<Vec<Datum>>)> {
    let name = row.proname.as_str();
    let body = find(core, row, arg_types, columns).map_err(|e| {
        let stage = if is_simple(row) { "inlining" } else { "startup" };
        within(e, row).context(format!("SQL function \"{name}\" during {stage}"))
    })?;
    if row.provolatile != b'v' {
        for step in &body.steps {
            check_reads(&step.plan)
                .map_err(|e| e.context(format!("SQL function \"{name}\" during startup")))?;
        }
    }
    let mut rows = Vec::new();
    let last = body.steps.len().saturating_sub(1);
    for (i, step) in body.steps.iter().enumerate() {
        // Whatever else the last statement does is done to its end; a plain query need not be.
        let plain = step.plan.command_type == CmdType::Select && !step.plan.has_modifying_cte;
        let limit = limit.filter(|_| i == last && plain && body.form != Form::Nothing);
        rows = run_step(core, row, step, params.clone(), limit)
            .map_err(|e| e.context(format!("SQL function \"{name}\" statement {}", i + 1)))?;
    }
    Ok((body, rows))
}

/// 0A000 for a statement that writes, in a function that says that it does not.
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

/// Is it of a form that PostgreSQL looks into when it plans the statement around?
fn is_simple(row: &PgProc) -> bool {
    let plain = !row.prosecdef && row.proconfig.is_none() && !row.proretset;
    let single = row.prosqlbody.is_some()
        || !matches!(parse::parse(row.prosrc.as_str()), Ok(list) if list.len() != 1);
    plain && single && row.prokind == b'f' && row.prorettype != oids::RECORD
}

/// An error in the text of a body: its position is one in that text.
fn within(mut e: PgError, row: &PgProc) -> PgError {
    let fields = e.fields_mut();
    if let Some(position) = fields.position.take() {
        fields.internal_position = Some(position);
        fields.internal_query = Some(row.prosrc.as_str().to_owned());
    }
    e
}

/// A volatile function sees what it, and others, have done.
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
    let outer = core.enter_statement();
    let result = query::run_plan_to(core, step.plan.clone(), params, limit);
    let result = result.and_then(|rows| core.after_statement().map(|()| rows));
    core.leave_statement(outer);
    core.backend.truncate_snapshots(depth);
    result
}

/// The body for arguments of these types: as kept, or made now.
fn find(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    columns: &[Oid],
) -> Result<Arc<Body>> {
    // A polymorphic parameter has the type of the argument.
    let declared = row.proargtypes.iter().copied();
    let types: Vec<Oid> = declared
        .enumerate()
        .map(|(i, d)| match arg_types.get(i) {
            Some(&actual) if is_polymorphic(d) && actual.is_valid() => actual,
            _ => d,
        })
        .collect();
    let key = (row.oid, types, columns.to_vec());
    let environment = core.environment()?;
    if environment != 0
        && let Some(body) = core.bodies.0.get(&key).cloned()
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
    if body.environment != 0 {
        if core.bodies.0.len() >= BODIES_MAX {
            core.bodies.0.clear();
        }
        core.bodies.0.insert(key, body.clone());
    }
    Ok(body)
}

fn make(core: &mut Core, row: &Row<PgProc>, types: &[Oid], columns: &[Oid]) -> Result<Body> {
    // Before anything is read: what changes from here on makes the body stale.
    let generation = core.catalog.catalog.generation();
    let environment = core.environment()?;
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
        let q = analyze::rewrite(&mut SessionLookup::new(core), q)?;
        let mut locks = Vec::new();
        core.collect_locks(&q, &mut locks)?;
        // The plan must serve any values.
        let saved = std::mem::replace(&mut core.params, Arc::from([]));
        let plan = query::plan_query(core, &q);
        core.params = saved;
        steps.push(Step { plan: Arc::new(plan?), locks: locks.into() });
    }
    let user = core.catalog.user;
    Ok(Body { generation, environment, user, steps, form, result, types, names })
}

/// The statements of a body in text, analysed.
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

/// Names of the arguments, in order; empty where an argument has none.
fn argument_names(row: &PgProc) -> Vec<String> {
    let Some(names) = &row.proargnames else { return Vec::new() };
    let is_input = |i: usize| match &row.proargmodes {
        Some(modes) => modes.get(i).is_none_or(|m| matches!(m, b'i' | b'b' | b'v')),
        None => true,
    };
    let names = names.iter().enumerate().filter(|(i, _)| is_input(*i));
    names.map(|(_, n)| n.as_str().to_owned()).collect()
}

/// Names and types of the output parameters, if there are any, in a call with arguments of these types.
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

/// Names, types and type modifiers of the fields of a row that is returned, where they are known.
fn fields(
    core: &mut Core,
    result: Oid,
    outputs: Option<Vec<(String, Oid)>>,
    columns: &[Oid],
) -> Result<Option<Vec<(String, Oid, i32)>>> {
    if result == oids::RECORD {
        return Ok(match outputs {
            Some(list) => Some(list.into_iter().map(|(n, t)| (n, t, -1)).collect()),
            None if columns.is_empty() => None,
            None => Some(columns.iter().map(|&t| (String::new(), t, -1)).collect()),
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
