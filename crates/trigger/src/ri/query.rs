//! The queries of foreign key checks and actions: texts, plans, execution.

use super::key::{Key, column};
use crate::host::TriggerHost;
use catalog::RelDesc;
use catalog::format_type::quote_identifier;
use executor::Execution;
use executor::spi::{self, QuerySnapshot};
use hashbrown::HashMap;
use ids::{AttrNo, Oid, RelKind};
use pgerror::Result;
use plan::PlannedStmt;
use std::sync::Arc;
use types::Datum;

/// A query of a constraint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Query {
    /// Whether a referenced row exists.
    Check,
    /// Whether another referenced row has the old key now.
    Replaced,
    /// Whether two keys of the referencing table are equal.
    SameKey,
    /// Whether rows reference the key.
    References,
    CascadeDelete,
    CascadeUpdate,
    NullOnDelete,
    NullOnUpdate,
    DefaultOnDelete,
    DefaultOnUpdate,
}

/// The planned query of a constraint, valid while both tables are unchanged.
struct Cached {
    tables: [Arc<RelDesc>; 2],
    text: Arc<str>,
    plan: Arc<PlannedStmt>,
    /// Its execution state between runs, for reuse.
    idle: Option<Execution>,
}

/// The planned queries of a session, by constraint.
#[derive(Default)]
pub(crate) struct Queries(HashMap<(Oid, Query), Cached>);

/// The name of a table with its schema.
pub(super) fn qualified(host: &mut dyn TriggerHost, desc: &RelDesc) -> Result<String> {
    let schema = host.catalog().namespace_name(desc.class.relnamespace)?.unwrap_or_default();
    Ok(format!("{}.{}", quoted(schema.as_str()), quoted(desc.name())))
}

/// The table in a query's FROM. The rows of a partitioned table are in its partitions.
pub(super) fn source(host: &mut dyn TriggerHost, desc: &RelDesc) -> Result<String> {
    let name = qualified(host, desc)?;
    Ok(if desc.kind() == RelKind::PartitionedTable { name } else { format!("ONLY {name}") })
}

/// A name in quotes, even if not necessary, because error contexts show the queries as in
/// PostgreSQL. Counterpart: `quoteOneName`.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `pk OPERATOR(schema.=) fk`, with casts if the operator's input types differ.
pub(super) fn equality(
    host: &mut dyn TriggerHost,
    operator: Oid,
    pk: (&str, Oid),
    fk: (&str, Oid),
) -> Result<String> {
    let mut cat = host.catalog();
    let op = cat.operator(operator)?;
    let schema = cat.namespace_name(op.oprnamespace)?.unwrap_or_default();
    let mut side = |(text, ty): (&str, Oid), wanted: Oid| -> Result<String> {
        // Polymorphic operators need no casts.
        let polymorphic = analyze::ty::is_polymorphic_family1(wanted);
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
fn pk_conditions(host: &mut dyn TriggerHost, key: &Key, own: bool) -> Result<(String, Vec<Oid>)> {
    let (mut parts, mut types) = (Vec::new(), Vec::new());
    for (i, &n) in key.pk_columns().iter().enumerate() {
        let a = column(&key.pk, n)?;
        let name = quoted(a.attname.as_str());
        let (operator, ty) = if own {
            let ops = key.row.conppeqop.as_deref().unwrap_or_default();
            (ops.get(i).copied().unwrap_or_default(), a.atttypid)
        } else {
            (key.operators()[i], column(&key.fk, key.fk_columns()[i])?.atttypid)
        };
        let param = format!("${}", i + 1);
        parts.push(equality(host, operator, (&name, a.atttypid), (&param, ty))?);
        types.push(ty);
    }
    Ok((parts.join(" AND "), types))
}

/// `$1 = a AND …` over the referencing table.
fn fk_conditions(
    host: &mut dyn TriggerHost,
    key: &Key,
    first: usize,
) -> Result<(String, Vec<Oid>)> {
    let (mut parts, mut types) = (Vec::new(), Vec::new());
    for (i, &n) in key.fk_columns().iter().enumerate() {
        let a = column(&key.fk, n)?;
        let name = quoted(a.attname.as_str());
        let ty = column(&key.pk, key.pk_columns()[i])?.atttypid;
        let param = format!("${}", i + first);
        parts.push(equality(host, key.operators()[i], (&param, ty), (&name, a.atttypid))?);
        types.push(ty);
    }
    Ok((parts.join(" AND "), types))
}

/// The query's text and the types of its parameters.
fn text_of(host: &mut dyn TriggerHost, key: &Key, what: Query) -> Result<(String, Vec<Oid>)> {
    let fk = source(host, &key.fk)?;
    let pk = source(host, &key.pk)?;
    Ok(match what {
        Query::Check | Query::Replaced => {
            let (conditions, types) = pk_conditions(host, key, what == Query::Replaced)?;
            (format!("SELECT 1 FROM {pk} x WHERE {conditions} FOR KEY SHARE OF x"), types)
        }
        Query::SameKey => {
            let operators = key.row.conffeqop.as_deref().unwrap_or_default();
            let (mut parts, mut types) = (Vec::new(), Vec::new());
            for (i, &n) in key.fk_columns().iter().enumerate() {
                let ty = column(&key.fk, n)?.atttypid;
                let sides = [1, 1 + key.fk_columns().len()].map(|first| format!("${}", i + first));
                parts.push(equality(host, operators[i], (&sides[0], ty), (&sides[1], ty))?);
                types.push(ty);
            }
            types.extend_from_within(..);
            (format!("SELECT 1 WHERE {}", parts.join(" AND ")), types)
        }
        Query::References => {
            let (conditions, types) = fk_conditions(host, key, 1)?;
            (format!("SELECT 1 FROM {fk} x WHERE {conditions} FOR KEY SHARE OF x"), types)
        }
        Query::CascadeDelete => {
            let (conditions, types) = fk_conditions(host, key, 1)?;
            (format!("DELETE FROM {fk} WHERE {conditions}"), types)
        }
        Query::CascadeUpdate => {
            let (mut sets, mut types) = (Vec::new(), Vec::new());
            for (i, &n) in key.fk_columns().iter().enumerate() {
                let a = column(&key.fk, n)?;
                types.push(column(&key.pk, key.pk_columns()[i])?.atttypid);
                sets.push(format!("{} = ${}", quoted(a.attname.as_str()), i + 1));
            }
            let (conditions, more) = fk_conditions(host, key, sets.len() + 1)?;
            types.extend(more);
            (format!("UPDATE {fk} SET {} WHERE {conditions}", sets.join(", ")), types)
        }
        // ON DELETE SET NULL and SET DEFAULT may have a column list.
        Query::NullOnDelete | Query::DefaultOnDelete => {
            let value = if what == Query::NullOnDelete { "NULL" } else { "DEFAULT" };
            let columns = key.row.confdelsetcols.as_deref().unwrap_or(key.fk_columns());
            set_text(host, key, &fk, columns, value)?
        }
        Query::NullOnUpdate => set_text(host, key, &fk, key.fk_columns(), "NULL")?,
        Query::DefaultOnUpdate => set_text(host, key, &fk, key.fk_columns(), "DEFAULT")?,
    })
}

fn set_text(
    host: &mut dyn TriggerHost,
    key: &Key,
    fk: &str,
    columns: &[AttrNo],
    value: &str,
) -> Result<(String, Vec<Oid>)> {
    let mut sets = Vec::new();
    for &n in columns {
        sets.push(format!("{} = {value}", quoted(column(&key.fk, n)?.attname.as_str())));
    }
    let (conditions, types) = fk_conditions(host, key, 1)?;
    Ok((format!("UPDATE {fk} SET {} WHERE {conditions}", sets.join(", ")), types))
}

/// The plan of a constraint's query, and a parked execution if there is one.
fn plan_of(
    host: &mut dyn TriggerHost,
    key: &Key,
    what: Query,
) -> Result<(Arc<str>, Arc<PlannedStmt>, Option<Execution>)> {
    let slot = (key.row.oid, what);
    if let Some(c) = host.triggers().queries.0.get_mut(&slot)
        && Arc::ptr_eq(&c.tables[0], &key.fk)
        && Arc::ptr_eq(&c.tables[1], &key.pk)
    {
        return Ok((c.text.clone(), c.plan.clone(), c.idle.take()));
    }
    let (text, types) = text_of(host, key, what)?;
    let plan = host.plan_internal(&text, &types)?;
    let tables = [key.fk.clone(), key.pk.clone()];
    let text: Arc<str> = Arc::from(text);
    let cached = Cached { tables, text: text.clone(), plan: plan.clone(), idle: None };
    host.triggers().queries.0.insert(slot, cached);
    Ok((text, plan, None))
}

/// Runs the query to its end. Returns whether it found or changed rows, and the parked execution if
/// it can be reused.
fn run_to_end(host: &mut dyn TriggerHost, query: spi::Query) -> Result<(bool, Option<Execution>)> {
    let done = query.discard(host)?;
    let mut run = done.execution;
    let kept = run.park(host)?;
    Ok((done.rows > 0, kept.then_some(run)))
}

/// Runs a query as the owner of the table; returns whether it found or changed rows. `latest`: it
/// sees all committed rows, even under REPEATABLE READ.
pub(super) fn run(
    host: &mut dyn TriggerHost,
    key: &Key,
    what: Query,
    params: &Arc<[Datum]>,
    latest: bool,
) -> Result<bool> {
    let owner = match what {
        Query::Check | Query::Replaced => key.pk.class.relowner,
        _ => key.fk.class.relowner,
    };
    let snapshot = if latest { QuerySnapshot::Latest } else { QuerySnapshot::NewCommand };
    let mut any = false;
    host.as_definer(owner, &mut |host| {
        any = run_plan(host, key, what, params.clone(), snapshot.clone())?;
        Ok(())
    })?;
    Ok(any)
}

/// True if two keys of referencing rows are equal, after casts to the input types of the operators.
pub(super) fn is_same_key(
    host: &mut dyn TriggerHost,
    constraint: Oid,
    keys: Vec<Datum>,
) -> Result<bool> {
    let key = Key::load(host, constraint, &[])?;
    run_plan(host, &key, Query::SameKey, keys.into(), QuerySnapshot::Active)
}

fn run_plan(
    host: &mut dyn TriggerHost,
    key: &Key,
    what: Query,
    params: Arc<[Datum]>,
    snapshot: QuerySnapshot,
) -> Result<bool> {
    let (text, plan, parked) = plan_of(host, key, what)?;
    let query = spi::Query { parked, ..spi::Query::new(plan, params) }.under(snapshot);
    let slot = (key.row.oid, what);
    let level = host.enter_query(&text);
    let result = run_to_end(host, query);
    host.leave_query(level);
    let (any, run) = match result {
        Ok(done) => done,
        Err(e) => return Err(e.context(format!("SQL statement \"{text}\""))),
    };
    if let Some(run) = run
        && let Some(c) = host.triggers().queries.0.get_mut(&slot)
        && Arc::ptr_eq(&c.plan, run.plan())
    {
        c.idle = Some(run);
    }
    Ok(any)
}
