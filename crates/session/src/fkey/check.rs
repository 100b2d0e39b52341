//! The queries of foreign key checks and actions, and their evaluation.

use super::{Action, Cached, Pending};
use crate::core::Core;
use crate::query;
use catalog::format_type::quote_identifier;
use catalog::rows::PgConstraint;
use catalog::{RelDesc, Row};
use engine::index::Conflict;
use executor::{Execution, QueryDesc};
use ids::{AttrNo, Oid};
use pgerror::{PgError, Result, pg_err};
use plan::PlannedStmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Datum, DatumRef, FnContext};

pub(super) fn no_constraint(oid: Oid) -> PgError {
    PgError::internal(format!("cache lookup failed for constraint {oid}"))
}

/// A foreign key constraint with its tables.
struct Key {
    row: Row<PgConstraint>,
    /// The referencing table.
    fk: Arc<RelDesc>,
    /// The referenced table.
    pk: Arc<RelDesc>,
    fk_columns: Vec<AttrNo>,
    pk_columns: Vec<AttrNo>,
    /// Referenced column = referencing column.
    operators: Vec<Oid>,
}

impl Key {
    fn load(core: &mut Core, constraint: Oid) -> Result<Key> {
        let row = core.cat().constraint(constraint)?.ok_or_else(|| no_constraint(constraint))?;
        if row.contype != b'f' {
            return Err(PgError::internal("foreign key trigger of another kind of constraint"));
        }
        let fk = core.cat().relation(row.conrelid)?;
        let pk = core.cat().relation(row.confrelid)?;
        Ok(Key {
            fk,
            pk,
            fk_columns: row.conkey.clone().unwrap_or_default(),
            pk_columns: row.confkey.clone().unwrap_or_default(),
            operators: row.conpfeqop.clone().unwrap_or_default(),
            row,
        })
    }

    fn of(columns: &[AttrNo], row: &[Datum]) -> Vec<Datum> {
        columns.iter().map(|&c| row.get(c as usize - 1).cloned().unwrap_or_default()).collect()
    }
}

fn qualified_collation(core: &mut Core, collation: Oid) -> Result<String> {
    let row = core.cat().collation(collation)?;
    let schema = core.cat().namespace_name(row.collnamespace)?.unwrap_or_default();
    Ok(format!("{}.{}", quoted(schema.as_str()), quoted(row.collname.as_str())))
}

fn qualified(core: &mut Core, desc: &RelDesc) -> Result<String> {
    let schema = core.cat().namespace_name(desc.class.relnamespace)?.unwrap_or_default();
    Ok(format!("{}.{}", quoted(schema.as_str()), quoted(desc.name())))
}

/// A name in quotes, even if not necessary, because error contexts show the queries as in
/// PostgreSQL.
/// Counterpart: `quoteOneName`.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn column(desc: &RelDesc, number: AttrNo) -> Result<&catalog::rows::PgAttribute> {
    desc.attribute(number).ok_or_else(|| PgError::internal("foreign key column is missing"))
}

/// `pk OPERATOR(schema.=) fk`, with casts if the operator's input types differ.
fn equality(core: &mut Core, operator: Oid, pk: (&str, Oid), fk: (&str, Oid)) -> Result<String> {
    let mut cat = core.cat();
    let op = cat.operator(operator)?;
    let schema = cat.namespace_name(op.oprnamespace)?.unwrap_or_default();
    let mut side = |(text, ty): (&str, Oid), wanted: Oid| -> Result<String> {
        // Polymorphic operators need no casts.
        let polymorphic = matches!(wanted.0, 2277 | 2283 | 2776 | 3500 | 3831 | 4537);
        if ty == wanted || polymorphic {
            return Ok(text.to_owned());
        }
        Ok(format!("{text}::{}", cat.format_type_qualified(wanted)?))
    };
    let left = side(pk, op.oprleft)?;
    let right = side(fk, op.oprright)?;
    let schema = quote_identifier(schema.as_str());
    Ok(format!("{left} OPERATOR({schema}.{}) {right}", op.oprname))
}

/// `a = $1 AND …` over the referenced table. The parameters have the types of the referencing
/// columns, or with `own` those of the referenced ones.
fn pk_conditions(core: &mut Core, key: &Key, own: bool) -> Result<(String, Vec<Oid>)> {
    let (mut parts, mut types) = (Vec::new(), Vec::new());
    for (i, &n) in key.pk_columns.iter().enumerate() {
        let a = column(&key.pk, n)?;
        let name = quoted(a.attname.as_str());
        let (operator, ty) = if own {
            let ops = key.row.conppeqop.as_deref().unwrap_or_default();
            (ops.get(i).copied().unwrap_or_default(), a.atttypid)
        } else {
            (key.operators[i], column(&key.fk, key.fk_columns[i])?.atttypid)
        };
        let param = format!("${}", i + 1);
        parts.push(equality(core, operator, (&name, a.atttypid), (&param, ty))?);
        types.push(ty);
    }
    Ok((parts.join(" AND "), types))
}

/// `$1 = a AND …` over the referencing table.
fn fk_conditions(core: &mut Core, key: &Key, first: usize) -> Result<(String, Vec<Oid>)> {
    let (mut parts, mut types) = (Vec::new(), Vec::new());
    for (i, &n) in key.fk_columns.iter().enumerate() {
        let a = column(&key.fk, n)?;
        let name = quoted(a.attname.as_str());
        let ty = column(&key.pk, key.pk_columns[i])?.atttypid;
        let param = format!("${}", i + first);
        parts.push(equality(core, key.operators[i], (&param, ty), (&name, a.atttypid))?);
        types.push(ty);
    }
    Ok((parts.join(" AND "), types))
}

/// The query for an action; `other` selects the second query of an action that has two.
fn text_of(core: &mut Core, key: &Key, what: Action, other: bool) -> Result<(String, Vec<Oid>)> {
    let fk = qualified(core, &key.fk)?;
    let pk = qualified(core, &key.pk)?;
    Ok(match what {
        // Does a referenced row exist? For NO ACTION: does another row have the old key now?
        Action::Check => {
            let (conditions, types) = pk_conditions(core, key, other)?;
            (format!("SELECT 1 FROM ONLY {pk} x WHERE {conditions} FOR KEY SHARE OF x"), types)
        }
        Action::Nothing | Action::Restrict | Action::Unique => {
            let (conditions, types) = fk_conditions(core, key, 1)?;
            (format!("SELECT 1 FROM ONLY {fk} x WHERE {conditions} FOR KEY SHARE OF x"), types)
        }
        Action::Cascade if !other => {
            let (conditions, types) = fk_conditions(core, key, 1)?;
            (format!("DELETE FROM ONLY {fk} WHERE {conditions}"), types)
        }
        Action::Cascade => {
            let (mut sets, mut types) = (Vec::new(), Vec::new());
            for (i, &n) in key.fk_columns.iter().enumerate() {
                let a = column(&key.fk, n)?;
                let from = column(&key.pk, key.pk_columns[i])?.atttypid;
                sets.push(format!("{} = ${}", quoted(a.attname.as_str()), i + 1));
                types.push(from);
            }
            let (conditions, more) = fk_conditions(core, key, sets.len() + 1)?;
            types.extend(more);
            (format!("UPDATE ONLY {fk} SET {} WHERE {conditions}", sets.join(", ")), types)
        }
        Action::SetNull | Action::SetDefault => {
            let value = if what == Action::SetNull { "NULL" } else { "DEFAULT" };
            // ON DELETE SET NULL and SET DEFAULT may have a column list.
            let columns = match &key.row.confdelsetcols {
                Some(some) if !other => some,
                _ => &key.fk_columns,
            };
            let mut sets = Vec::new();
            for &n in columns {
                let name = quoted(column(&key.fk, n)?.attname.as_str());
                sets.push(format!("{name} = {value}"));
            }
            let (conditions, types) = fk_conditions(core, key, 1)?;
            (format!("UPDATE ONLY {fk} SET {} WHERE {conditions}", sets.join(", ")), types)
        }
    })
}

/// The plan of a constraint's query, and a parked execution if there is one.
fn plan_of(
    core: &mut Core,
    key: &Key,
    what: Action,
    other: bool,
) -> Result<(Arc<PlannedStmt>, Option<Execution>)> {
    let slot = (key.row.oid, what, other);
    if let Some(c) = core.foreign_keys.plans.get_mut(&slot)
        && Arc::ptr_eq(&c.tables[0], &key.fk)
        && Arc::ptr_eq(&c.tables[1], &key.pk)
    {
        return Ok((c.plan.clone(), c.idle.take()));
    }
    let (text, types) = text_of(core, key, what, other)?;
    // Parameter values are hidden, so that the plan is generic.
    let saved = std::mem::replace(&mut core.params, Arc::from([]));
    let plans = query::plan_text(core, &text, &types);
    core.params = saved;
    let plan = plans?.pop().ok_or_else(|| PgError::internal("empty foreign key query"))?;
    let tables = [key.fk.clone(), key.pk.clone()];
    let text = Arc::from(text);
    core.foreign_keys.plans.insert(slot, Cached { tables, text, plan: plan.clone(), idle: None });
    Ok((plan, None))
}

/// Runs the query to its end under the active snapshot. Returns whether there were rows, and the
/// parked execution if it can be reused.
fn run_to_end(
    core: &mut Core,
    desc: QueryDesc,
    crosscheck: Option<Arc<engine::Snapshot>>,
    idle: Option<Execution>,
) -> Result<(bool, Option<Execution>)> {
    let mut run = match idle {
        Some(mut run) => {
            run.rerun(desc.params, desc.snapshot)?;
            run
        }
        None => Execution::start(desc, core)?,
    };
    if let Some(snapshot) = crosscheck {
        run.crosscheck(snapshot);
    }
    let mut any = false;
    while let Some(batch) = run.next(core, BATCH_ROWS_MAX)? {
        any |= batch.len > 0;
        run.recycle(batch);
    }
    let kept = run.park(core)?;
    Ok((any, kept.then_some(run)))
}

/// Runs a query as the owner of the table; returns whether there were rows.
fn run(
    core: &mut Core,
    key: &Key,
    what: Action,
    other: bool,
    params: Vec<Datum>,
    latest: bool,
) -> Result<bool> {
    let owner = match what {
        Action::Check => key.pk.class.relowner,
        _ => key.fk.class.relowner,
    };
    let before = core.switch_to_definer(owner)?;
    let result = run_as_owner(core, key, what, other, params, latest);
    core.restore_role(before);
    result
}

fn run_as_owner(
    core: &mut Core,
    key: &Key,
    what: Action,
    other: bool,
    params: Vec<Datum>,
    latest: bool,
) -> Result<bool> {
    let (plan, idle) = plan_of(core, key, what, other)?;
    core.cat().increment_command_counter()?;
    let own = core.backend.txn.isolation().uses_transaction_snapshot();
    // Rows that an action changes must also be visible in the transaction's snapshot.
    let crosscheck = (latest && own).then(|| core.backend.snapshot());
    let snapshot = if latest { core.backend.catalog_snapshot() } else { core.backend.snapshot() };
    let depth = core.backend.snapshot_depth();
    core.backend.push_snapshot(snapshot.clone());
    let desc = QueryDesc { plan, params: params.into(), snapshot };
    let result = run_to_end(core, desc, crosscheck, idle);
    core.backend.truncate_snapshots(depth);
    let (any, run) = match result {
        Ok(done) => done,
        Err(e) => {
            let cached = core.foreign_keys.plans.get(&(key.row.oid, what, other));
            let text = cached.map(|c| c.text.clone()).unwrap_or_default();
            return Err(e.context(format!("SQL statement \"{text}\"")));
        }
    };
    if let Some(run) = run
        && let Some(c) = core.foreign_keys.plans.get_mut(&(key.row.oid, what, other))
        && Arc::ptr_eq(&c.plan, run.plan())
    {
        c.idle = Some(run);
    }
    Ok(any)
}

/// Does the event's trigger still exist? The constraint may have been dropped with the other table
/// of the foreign key. A table with queued events cannot be dropped or altered.
fn is_wanted(core: &mut Core, event: &Pending) -> Result<bool> {
    let mut cat = core.cat();
    if cat.find_class(event.relation)?.is_none() {
        return Ok(false);
    }
    let desc = cat.relation(event.relation)?;
    Ok(desc.triggers.iter().any(|t| t.oid == event.trigger))
}

/// Processes one event.
pub(super) fn fire(core: &mut Core, event: &Pending) -> Result<()> {
    if !is_wanted(core, event)? {
        return Ok(());
    }
    if event.action == Action::Unique {
        return unique(core, event);
    }
    let key = Key::load(core, event.constraint)?;
    if event.action == Action::Check {
        return check(core, &key, event);
    }
    let Some(old) = event.old.as_deref() else { return Ok(()) };
    let old_key = Key::of(&key.pk_columns, old);
    let update = event.new.is_some();
    match event.action {
        Action::Nothing => {
            // Another row may have the old key now.
            if run(core, &key, Action::Check, true, old_key.clone(), true)? {
                return Ok(());
            }
            restrict(core, &key, old_key)
        }
        Action::Restrict => restrict(core, &key, old_key),
        Action::Cascade if update => {
            let new = event.new.as_deref().unwrap_or_default();
            let mut params = Key::of(&key.pk_columns, new);
            params.extend(old_key);
            run(core, &key, Action::Cascade, true, params, true).map(|_| ())
        }
        Action::Cascade => run(core, &key, Action::Cascade, false, old_key, true).map(|_| ()),
        Action::SetNull => run(core, &key, Action::SetNull, update, old_key, true).map(|_| ()),
        Action::SetDefault => {
            run(core, &key, Action::SetDefault, update, old_key.clone(), true)?;
            // If the default equals the old key, the rows did not change and no event was queued
            // for them.
            if run(core, &key, Action::Check, true, old_key.clone(), true)? {
                return Ok(());
            }
            restrict(core, &key, old_key)
        }
        Action::Check | Action::Unique => Ok(()),
    }
}

/// Checks that the referencing row has a referenced row.
fn check(core: &mut Core, key: &Key, event: &Pending) -> Result<()> {
    let Some(new) = event.new.as_deref() else { return Ok(()) };
    // A row version that no longer exists needs no check; the later version has its own event.
    if let Some(table) = key.fk.table.clone() {
        core.cat().increment_command_counter()?;
        let snapshot = core.backend.catalog_snapshot();
        let mut batch = engine::table::new_batch(&table, &[]);
        let be = &mut core.backend;
        if !engine::table::fetch(be, &table, event.tid, &snapshot, &[], &mut batch)? {
            return Ok(());
        }
    }
    let values = Key::of(&key.fk_columns, new);
    let nulls = values.iter().filter(|v| v.is_null()).count();
    if nulls > 0 {
        if key.row.confmatchtype == b'f' && nulls < values.len() {
            return Err(violates(core, key)?
                .detail("MATCH FULL does not allow mixing of null and nonnull key values."));
        }
        return Ok(());
    }
    if run(core, key, Action::Check, false, values.clone(), false)? {
        return Ok(());
    }
    let shown = show_key(core, &key.fk, &key.fk_columns, &values)?;
    let detail = format!("Key {shown} is not present in table \"{}\".", key.pk.name());
    Err(violates(core, key)?.detail(detail))
}

fn violates(core: &mut Core, key: &Key) -> Result<PgError> {
    let schema = core.cat().namespace_name(key.fk.class.relnamespace)?.unwrap_or_default();
    Ok(pg_err!(
        FOREIGN_KEY_VIOLATION,
        "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
        key.fk.name(),
        key.row.conname
    )
    .table(schema.as_str(), key.fk.name())
    .constraint(key.row.conname.as_str()))
}

/// An error if a row still references the key.
fn restrict(core: &mut Core, key: &Key, values: Vec<Datum>) -> Result<()> {
    if !run(core, key, Action::Restrict, false, values.clone(), true)? {
        return Ok(());
    }
    let schema = core.cat().namespace_name(key.fk.class.relnamespace)?.unwrap_or_default();
    let shown = show_key(core, &key.pk, &key.pk_columns, &values)?;
    Err(pg_err!(
        FOREIGN_KEY_VIOLATION,
        "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
        key.pk.name(),
        key.row.conname,
        key.fk.name()
    )
    .detail(format!("Key {shown} is still referenced from table \"{}\".", key.fk.name()))
    .table(schema.as_str(), key.fk.name())
    .constraint(key.row.conname.as_str()))
}

/// `(a, b)=(1, 2)`.
fn show_key(
    core: &mut Core,
    desc: &RelDesc,
    columns: &[AttrNo],
    values: &[Datum],
) -> Result<String> {
    let (mut names, mut texts) = (Vec::new(), Vec::new());
    for (&n, v) in columns.iter().zip(values) {
        let a = column(desc, n)?;
        names.push(a.attname.as_str().to_owned());
        texts.push(match v {
            Datum::Null => "null".to_owned(),
            v => {
                let text = core.type_output(a.atttypid, v.as_ref())?;
                String::from_utf8_lossy(&text).into_owned()
            }
        });
    }
    Ok(format!("({})=({})", names.join(", "), texts.join(", ")))
}

/// An error if a referencing row has no referenced row. Counterpart: `RI_Initial_Check`.
pub(super) fn validate(core: &mut Core, constraint: Oid) -> Result<()> {
    let key = Key::load(core, constraint)?;
    let (fk, pk) = (qualified(core, &key.fk)?, qualified(core, &key.pk)?);
    let (mut names, mut on, mut present) = (Vec::new(), Vec::new(), Vec::new());
    let mut absent = String::new();
    for (i, (&f, &p)) in key.fk_columns.iter().zip(&key.pk_columns).enumerate() {
        let (f, p) = (column(&key.fk, f)?, column(&key.pk, p)?);
        let fk_name = format!("fk.{}", quote_identifier(f.attname.as_str()));
        let pk_name = format!("pk.{}", quote_identifier(p.attname.as_str()));
        let sides = ((&*pk_name, p.atttypid), (&*fk_name, f.atttypid));
        let mut condition = equality(core, key.operators[i], sides.0, sides.1)?;
        if p.attcollation != f.attcollation && p.attcollation.is_valid() {
            // The collation of the referenced column applies, as in checks of single rows.
            condition.push_str(" COLLATE ");
            condition.push_str(&qualified_collation(core, p.attcollation)?);
        }
        on.push(condition);
        present.push(format!("{fk_name} IS NOT NULL"));
        if i == 0 {
            absent = format!("{pk_name} IS NULL");
        }
        names.push(fk_name);
    }
    let glue = if key.row.confmatchtype == b'f' { " OR " } else { " AND " };
    let text = format!(
        "SELECT {} FROM ONLY {fk} fk LEFT OUTER JOIN ONLY {pk} pk ON ({}) WHERE {absent} AND ({}) \
         LIMIT 1",
        names.join(", "),
        on.join(" AND "),
        present.join(glue)
    );
    core.cat().increment_command_counter()?;
    let snapshot = core.backend.catalog_snapshot();
    let depth = core.backend.snapshot_depth();
    core.backend.push_snapshot(snapshot);
    let rows = query::run_sql(core, &text, &[], Arc::from([]));
    core.backend.truncate_snapshots(depth);
    let Some(row) = rows?.into_iter().next() else { return Ok(()) };
    let error = violates(core, &key)?;
    if row.iter().any(Datum::is_null) {
        return Err(
            error.detail("MATCH FULL does not allow mixing of null and nonnull key values.")
        );
    }
    let shown = show_key(core, &key.fk, &key.fk_columns, &row)?;
    Err(error.detail(format!("Key {shown} is not present in table \"{}\".", key.pk.name())))
}

/// Recheck of a deferrable unique constraint: error 23505 if the new row and another row have the
/// same key. If the new row no longer exists, the event of the version that replaced it makes the
/// check. Counterpart: commands/constraint.c (`unique_key_recheck`).
fn unique(core: &mut Core, event: &Pending) -> Result<()> {
    let row = core.cat().constraint(event.constraint)?;
    let row = row.ok_or_else(|| no_constraint(event.constraint))?;
    let Some(new) = event.new.as_deref() else { return Ok(()) };
    let rel = executor::Services::open_relation(core, row.conrelid)?;
    let Some(idx) = rel.indexes.iter().find(|i| i.desc.oid == row.conindid) else {
        return Ok(());
    };
    let values = Key::of(&idx.desc.columns, new);
    let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
    loop {
        let be = &mut core.backend;
        // A single index pass, because two passes could find two versions of one row, before and
        // after an update.
        let (mut own, mut other) = (false, None);
        let mut see = |c: Conflict| {
            if c.own && !own {
                own = true;
            } else if other.is_none() {
                other = Some(c);
            }
            if own && other.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        engine::index::for_each_conflict(be, &idx.desc, &rel.table, &refs, &mut see)?;
        match other {
            Some(conflict) if own => {
                if !conflict.wait(be)? {
                    break;
                }
            }
            _ => return Ok(()),
        }
    }
    let mut shown = Vec::new();
    let count = idx.desc.key_count();
    for (v, c) in values.iter().zip(&idx.desc.def.columns).take(count) {
        shown.push(match v.as_ref() {
            DatumRef::Null => "null".to_string(),
            v => {
                let text = core.type_output(c.attr.type_oid, v)?;
                String::from_utf8_lossy(&text).into_owned()
            }
        });
    }
    let (keys, shown) = (deparse::index_keys(core, idx.desc.oid)?, shown.join(", "));
    Err(engine::index::unique_violation(&idx.desc, &rel.table, Some((&keys, &shown))))
}
