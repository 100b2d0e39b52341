//! Functions whose body is SQL.

use crate::core::Core;
use crate::query;
use analyze::coerce::Context;
use analyze::{Analyzer, Params, SessionLookup};
use catalog::Row;
use catalog::rows::PgProc;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{CoercionForm, Location, TargetEntry};
use plan::node::PlannedStmt;
use plan::query::Query;
use std::sync::Arc;
use types::{Datum, DatumRef, FnContext, oids};

/// Calls within calls.
const DEPTH_MAX: u32 = 64;

/// What the body's last statement brought.
pub(super) struct Outcome {
    pub rows: Vec<Vec<Datum>>,
    /// Its one column is the composite value that the function returns, not a column of it.
    whole: bool,
}

impl Outcome {
    /// The rows of a function that is no body in SQL.
    pub(super) fn of(rows: Vec<Vec<Datum>>) -> Outcome {
        Outcome { rows, whole: true }
    }
}

/// Runs a function's body.
pub(super) fn run(
    core: &mut Core,
    row: &Row<PgProc>,
    arg_types: &[ids::Oid],
    args: &[DatumRef<'_>],
) -> Result<Outcome> {
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
    let mut place = Place::Startup;
    let result = match &row.prosqlbody {
        Some(body) => run_body(core, row, body.as_str(), params, &mut place),
        None => run_text(core, row, &types, params, &mut place),
    };
    core.depth -= 1;
    core.params = saved;
    result.map_err(|e| {
        let name = row.proname.as_str();
        e.context(match place {
            Place::Startup => format!("SQL function \"{name}\" during startup"),
            Place::Statement(n) => format!("SQL function \"{name}\" statement {n}"),
        })
    })
}

/// Where in a function an error comes from: its analysis and planning, or a statement, from 1.
enum Place {
    Startup,
    Statement(usize),
}

/// `any…`: the pseudo-types that stand for the argument's own.
fn is_polymorphic(ty: ids::Oid) -> bool {
    matches!(ty.0, 2276 | 2277 | 2283 | 2776 | 3500 | 3831 | 5077..=5080 | 4537 | 4538)
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

/// A body in text.
fn run_text(
    core: &mut Core,
    row: &PgProc,
    types: &[Oid],
    params: Arc<[Datum]>,
    place: &mut Place,
) -> Result<Outcome> {
    let text = row.prosrc.as_str();
    let names = argument_names(row);
    let mut out = Outcome { rows: Vec::new(), whole: false };
    let statements = parse::parse(text)?;
    let count = statements.len();
    for (i, stmt) in statements.iter().enumerate() {
        if !analyze::is_query(&stmt.stmt) {
            return Err(PgError::unsupported("utility statement inside a function"));
        }
        let name = row.proname.as_str();
        *place = Place::Startup;
        let mut lookup = SessionLookup::new(core);
        let mut q =
            analyze::function_statement(&mut lookup, &stmt.stmt, text, name, types, &names)?;
        if i + 1 == count {
            fit_result(core, row, &mut q)?;
            out.whole = is_whole(row, &q);
        }
        let plan = plan(core, q)?;
        *place = Place::Statement(i + 1);
        out.rows = run_plan(core, plan, row.provolatile == b'v', params.clone())?;
    }
    Ok(out)
}

/// The columns that a statement returns.
fn shown(q: &Query) -> &[TargetEntry] {
    if q.returning_list.is_empty() { &q.target_list } else { &q.returning_list }
}

fn is_whole(row: &PgProc, q: &Query) -> bool {
    let mut columns = shown(q).iter().filter(|t| !t.resjunk);
    match (columns.next(), columns.next()) {
        (Some(only), None) => {
            let ty = only.expr.type_oid();
            ty == row.prorettype || ty == oids::RECORD
        }
        _ => false,
    }
}

fn plan(core: &mut Core, q: Query) -> Result<Arc<PlannedStmt>> {
    let q = analyze::rewrite(&mut SessionLookup::new(core), q)?;
    Ok(Arc::new(query::plan_query(core, &q)?))
}

/// Runs a statement of a body. A volatile function sees what it, and others, have done.
fn run_plan(
    core: &mut Core,
    plan: Arc<PlannedStmt>,
    volatile: bool,
    params: Arc<[Datum]>,
) -> Result<Vec<Vec<Datum>>> {
    let depth = core.backend.snapshot_depth();
    if volatile {
        core.cat().increment_command_counter()?;
        let snapshot = core.backend.snapshot();
        core.backend.push_snapshot(snapshot);
    }
    let outer = core.enter_statement();
    let result = query::run_plan(core, plan, params);
    let result = result.and_then(|rows| core.after_statement().map(|()| rows));
    core.leave_statement(outer);
    core.backend.truncate_snapshots(depth);
    result
}

/// The last statement's columns as the function declares them, where it returns one value of a plain
/// type. Counterpart: `check_sql_fn_retval`.
fn fit_result(core: &mut Core, row: &PgProc, q: &mut Query) -> Result<()> {
    let wanted = row.prorettype;
    let kind = core.cat().type_row(wanted)?.typtype;
    if kind == b'c' && !is_whole(row, q) {
        return fit_columns(core, wanted, q);
    }
    let plain = matches!(kind, b'b' | b'd' | b'e' | b'r' | b'm');
    if !plain || is_polymorphic(wanted) {
        return Ok(());
    }
    let list = if q.returning_list.is_empty() { &q.target_list } else { &q.returning_list };
    let visible: Vec<usize> =
        list.iter().enumerate().filter(|(_, t)| !t.resjunk).map(|(i, _)| i).collect();
    let shown = core.cat().format_type(wanted)?;
    let mismatch = |detail: &str| {
        pg_err!(
            INVALID_FUNCTION_DEFINITION,
            "return type mismatch in function declared to return {shown}"
        )
        .detail(detail.to_owned())
    };
    let [place] = visible.as_slice() else {
        return Err(mismatch("Final statement must return exactly one column."));
    };
    let e = list[*place].expr.clone();
    let from = e.type_oid();
    if from == wanted {
        return Ok(());
    }
    let movable = q.set_operations.is_none() && list[*place].ressortgroupref == 0;
    let mut lookup = SessionLookup::new(core);
    let mut cx = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
    let form = CoercionForm::ImplicitCast;
    let coerced =
        cx.coerce_to_target(e, wanted, -1, Context::Assignment, form, Location::UNKNOWN)?;
    match coerced {
        Some(mut e) if movable => {
            cx.assign_collations(&mut e)?;
            let list = match q.returning_list.is_empty() {
                true => &mut q.target_list,
                false => &mut q.returning_list,
            };
            list[*place].expr = e;
            Ok(())
        }
        Some(_) => Err(PgError::unsupported("coercion of the result of this statement")),
        None => {
            let actual = cx.format_type(from);
            Err(mismatch(&format!("Actual return type is {actual}.")))
        }
    }
}

/// The last statement's columns as a composite type declares them.
fn fit_columns(core: &mut Core, ty: Oid, q: &mut Query) -> Result<()> {
    let desc = core.row_desc(ty, -1)?;
    let wanted: Vec<Oid> = desc.columns.iter().filter(|c| !c.dropped).map(|c| c.ty).collect();
    let plain = q.set_operations.is_none();
    let places: Vec<usize> =
        shown(q).iter().enumerate().filter(|(_, t)| !t.resjunk).map(|(i, _)| i).collect();
    if places.len() != wanted.len() {
        let name = core.cat().format_type(ty)?;
        let few = if places.len() < wanted.len() { "few" } else { "many" };
        return Err(pg_err!(
            INVALID_FUNCTION_DEFINITION,
            "return type mismatch in function declared to return {name}"
        )
        .detail(format!("Final statement returns too {few} columns.")));
    }
    for (place, ty) in places.into_iter().zip(wanted) {
        let target = &shown(q)[place];
        if target.expr.type_oid() == ty || !plain || target.ressortgroupref != 0 {
            continue;
        }
        let e = target.expr.clone();
        let mut lookup = SessionLookup::new(core);
        let mut cx = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
        let form = CoercionForm::ImplicitCast;
        let done = cx.coerce_to_target(e, ty, -1, Context::Assignment, form, Location::UNKNOWN)?;
        let Some(mut e) = done else { continue };
        cx.assign_collations(&mut e)?;
        let list = match q.returning_list.is_empty() {
            true => &mut q.target_list,
            false => &mut q.returning_list,
        };
        list[place].expr = e;
    }
    Ok(())
}

/// A row as a value of a composite type.
fn composite(core: &mut Core, ty: Oid, row: Vec<Datum>) -> Result<Datum> {
    let desc = core.row_desc(ty, -1)?;
    let mut fields = row.iter().map(Datum::as_ref);
    let values: Vec<DatumRef<'_>> = desc
        .columns
        .iter()
        .map(|c| if c.dropped { DatumRef::Null } else { fields.next().unwrap_or(DatumRef::Null) })
        .collect();
    eval::form_as(core, ty, &desc, &values)
}

/// The value of a call: a row becomes a composite value, nothing a void one.
pub(super) fn value(core: &mut Core, row: &PgProc, out: Outcome) -> Result<Datum> {
    if row.prorettype == oids::VOID {
        return Ok(Datum::Word(0));
    }
    let Some(mut first) = out.rows.into_iter().next() else { return Ok(Datum::Null) };
    if !out.whole && core.cat().type_row(row.prorettype)?.typtype == b'c' {
        return composite(core, row.prorettype, first);
    }
    let outputs: Vec<Oid> = match (&row.proallargtypes, &row.proargmodes) {
        (Some(types), Some(modes)) if row.prorettype == oids::RECORD => types
            .iter()
            .zip(modes)
            .filter(|(_, m)| matches!(m, b'o' | b'b' | b't'))
            .map(|(t, _)| *t)
            .collect(),
        _ => Vec::new(),
    };
    if outputs.len() > 1 && outputs.len() == first.len() {
        return eval::make_record(core, &outputs, &first);
    }
    Ok(if first.is_empty() { Datum::Null } else { first.swap_remove(0) })
}

/// A body that was analysed when the function was made.
fn run_body(
    core: &mut Core,
    row: &PgProc,
    body: &str,
    params: Arc<[Datum]>,
    place: &mut Place,
) -> Result<Outcome> {
    let (queries, _) = analyze::stored::body(&mut SessionLookup::new(core), body)?;
    let mut out = Outcome { rows: Vec::new(), whole: false };
    for (i, q) in queries.into_iter().enumerate() {
        *place = Place::Startup;
        out.whole = is_whole(row, &q);
        let plan = plan(core, q)?;
        *place = Place::Statement(i + 1);
        out.rows = run_plan(core, plan, row.provolatile == b'v', params.clone())?;
    }
    Ok(out)
}
