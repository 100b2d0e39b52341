//! Foreign keys: the trigger functions of both tables of a constraint.
//!
//! The checks and actions are queries over the other table. They are planned once for each
//! constraint, and run as the owner of the table under a new snapshot. The events of their changes
//! belong to the statement that fired the trigger.
//!
//! INVARIANT: the tables of a query are locked in every transaction that runs it, whether or not it
//! was planned there.
//!
//! Reading order: this file, `key` (a constraint with its tables), `read` (keys of row versions),
//! `query` (texts, plans, runs), `movement` (rows that move between partitions), `validation` (of a
//! new constraint).
//!
//! Counterpart: utils/adt/ri_triggers.c.

mod key;
pub(crate) mod movement;
pub(crate) mod query;
pub(crate) mod read;
mod validation;

pub use validation::{check_no_references, validate};

use crate::call::TriggerCall;
use crate::host::{TriggerHost, no_constraint};
use engine::SnapshotKind;
use engine::table::{self, RowFetch};
use executor::{RowEvent, RowVersion, Trigger};
use ids::builtin::collation::DEFAULT as DEFAULT_COLLATION;
use ids::code::FkMatch;
use ids::{AttrNo, RelKind, Tid, Xid};
use key::{Key, Table};
use pgerror::Result;
use query::{Query, run};
use read::KeyReader;
use std::sync::Arc;
use types::{Datum, DatumRef};

/// Lock modes of tables.
const ROW_SHARE: i32 = 2;
const ROW_EXCLUSIVE: i32 = 3;

/// The locks of CASCADE.
const CASCADE_LOCKS: &[(Table, i32)] = &[(Table::Referencing, ROW_EXCLUSIVE)];

fn value<'a>(version: &RowVersion<'a>, column: AttrNo) -> DatumRef<'a> {
    version.values.get(column as usize - 1).copied().unwrap_or(DatumRef::Null)
}

/// True if the new version of a referencing row must be checked. Counterpart:
/// `RI_FKey_fk_upd_check_required`.
pub(crate) fn is_check_required(
    host: &mut dyn TriggerHost,
    trigger: &Trigger,
    event: &RowEvent<'_>,
) -> Result<bool> {
    let (Some(old), Some(new)) = (&event.old, &event.new) else { return Ok(true) };
    let nulls = trigger.key.iter().filter(|&&n| value(new, n).is_null()).count();
    if nulls == trigger.key.len() {
        return Ok(false);
    }
    let constraint = trigger.constraint;
    let row = host.catalog().constraint(constraint)?.ok_or_else(|| no_constraint(constraint))?;
    if nulls > 0 {
        // With MATCH FULL it violates the constraint; otherwise it needs no referenced row.
        return Ok(row.confmatchtype == FkMatch::Full);
    }
    // The check of a version that the transaction inserted finds that the version is gone.
    if is_own(host, event, old.tid)? {
        return Ok(true);
    }
    let operators = row.conffeqop.as_deref().unwrap_or_default();
    for (i, &n) in trigger.key.iter().enumerate() {
        let (a, b) = (value(old, n), value(new, n));
        if a.is_null() {
            return Ok(true);
        }
        if a == b {
            continue;
        }
        let ty = event.rel.columns.columns[n as usize - 1].ty;
        let operator = operators.get(i).copied().unwrap_or_default();
        let input = host.catalog().operator(operator)?.oprleft;
        if !host.catalog().is_binary_coercible(ty, input)? {
            let keys = [old, new].into_iter();
            let keys = keys.flat_map(|v| trigger.key.iter().map(|&n| value(v, n).to_owned()));
            return Ok(!query::is_same_key(host, constraint, keys.collect())?);
        }
        let equal = match host.equality_compare(operator, ty, DEFAULT_COLLATION)? {
            Some(order) => order.order(a, b, DEFAULT_COLLATION).is_eq(),
            None => false,
        };
        if !equal {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if this transaction inserted the version.
fn is_own(host: &mut dyn TriggerHost, event: &RowEvent<'_>, tid: Tid) -> Result<bool> {
    let columns = [table::system::XMIN];
    let mut batch = table::new_batch(&event.rel.table, &columns);
    let be = host.backend();
    let there = RowFetch::new(&event.rel.table, &columns)?.version(be, tid, &mut batch)?;
    Ok(there && be.txn.is_current(Xid(batch.get(0, 0).as_oid().0)))
}

/// True if the change of a referenced row concerns referencing rows. The keys are compared bitwise:
/// ON UPDATE CASCADE also copies a value that is equal but looks different. Counterpart:
/// `RI_FKey_pk_upd_check_required`.
pub(crate) fn is_action_required(trigger: &Trigger, event: &RowEvent<'_>) -> bool {
    let Some(old) = &event.old else { return false };
    // No row can reference a key that contains NULL.
    if trigger.key.iter().any(|&n| value(old, n).is_null()) {
        return false;
    }
    match &event.new {
        Some(new) => trigger.key.iter().any(|&n| value(old, n) != value(new, n)),
        None => true,
    }
}

/// A version of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Old,
    New,
}

/// The key columns of a version; `None` if the snapshot does not see it.
fn key_values(
    host: &mut dyn TriggerHost,
    call: &TriggerCall<'_>,
    which: Which,
    snapshot: SnapshotKind,
) -> Result<Option<Arc<[Datum]>>> {
    let tid = if which == Which::Old { call.old } else { call.new };
    if let Some([source, destination]) = call.parts {
        let part = if which == Which::Old { source } else { destination };
        return movement::key_values(host, (call.rel, call.trigger), (part, tid));
    }
    let mut reader = match host.triggers().readers.take(call) {
        Some(reader) => reader,
        None => KeyReader::new(call)?,
    };
    let values = reader.read(host.backend(), tid, snapshot)?;
    host.triggers().readers.put(reader);
    Ok(values)
}

pub(crate) fn check_ins(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    check(host, call)
}

pub(crate) fn check_upd(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    check(host, call)
}

/// The new row must have a referenced row. Counterpart: `RI_FKey_check`.
fn check(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    // A version that no longer exists needs no check; the later version has its own event.
    let Some(values) = key_values(host, call, Which::New, SnapshotKind::SelfNow)? else {
        return Ok(());
    };
    let nulls = values.iter().filter(|v| v.is_null()).count();
    if nulls == values.len() {
        return Ok(());
    }
    let key = Key::load(host, call.trigger.constraint, &[(Table::Referenced, ROW_SHARE)])?;
    if nulls > 0 {
        if key.row.confmatchtype != FkMatch::Full {
            return Ok(());
        }
        return Err(key
            .violated(host)?
            .detail("MATCH FULL does not allow mixing of null and nonnull key values."));
    }
    // The partitions of the referenced table are those that a new snapshot sees.
    let latest = key.pk.kind() == RelKind::PartitionedTable;
    if run(host, &key, Query::Check, &values, latest)? {
        return Ok(());
    }
    let shown = key.show(host, &key.fk, key.fk_columns(), &values)?;
    let detail = format!("Key {shown}is not present in table \"{}\".", key.pk.name());
    Err(key.violated(host)?.detail(detail))
}

/// The constraint of an action and the old key of the referenced row. `None` if the version is gone
/// from the table, which cannot happen before the transaction ends.
fn load_action(
    host: &mut dyn TriggerHost,
    call: &TriggerCall<'_>,
    locks: &[(Table, i32)],
) -> Result<Option<(Key, Arc<[Datum]>)>> {
    let Some(old) = key_values(host, call, Which::Old, SnapshotKind::Any)? else { return Ok(None) };
    Ok(Some((Key::load(host, call.trigger.constraint, locks)?, old)))
}

fn noaction(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    let locks = [(Table::Referencing, ROW_SHARE), (Table::Referenced, ROW_SHARE)];
    let Some((key, old)) = load_action(host, call, &locks)? else { return Ok(()) };
    unless_replaced(host, &key, &old)
}

/// An error if rows reference the key, unless another row has it now.
fn unless_replaced(host: &mut dyn TriggerHost, key: &Key, old: &Arc<[Datum]>) -> Result<()> {
    if run(host, key, Query::Replaced, old, true)? {
        return Ok(());
    }
    no_references(host, key, old)
}

fn no_references(host: &mut dyn TriggerHost, key: &Key, old: &Arc<[Datum]>) -> Result<()> {
    match run(host, key, Query::References, old, true)? {
        true => Err(key.still_referenced(host, old)?),
        false => Ok(()),
    }
}

fn restrict(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    let locks = [(Table::Referencing, ROW_SHARE)];
    let Some((key, old)) = load_action(host, call, &locks)? else { return Ok(()) };
    no_references(host, &key, &old)
}

/// SET NULL and SET DEFAULT.
fn set(host: &mut dyn TriggerHost, call: &TriggerCall<'_>, query: Query) -> Result<()> {
    let is_default = matches!(query, Query::DefaultOnDelete | Query::DefaultOnUpdate);
    let locks = [
        (Table::Referencing, ROW_EXCLUSIVE),
        (Table::Referencing, ROW_SHARE),
        (Table::Referenced, ROW_SHARE),
    ];
    let locks = if is_default { &locks[..] } else { &locks[..1] };
    let Some((key, old)) = load_action(host, call, locks)? else { return Ok(()) };
    run(host, &key, query, &old, true)?;
    // If the default equals the old key, the rows did not change and no event was queued for them.
    if is_default { unless_replaced(host, &key, &old) } else { Ok(()) }
}

pub(crate) fn cascade_del(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    let Some((key, old)) = load_action(host, call, CASCADE_LOCKS)? else { return Ok(()) };
    run(host, &key, Query::CascadeDelete, &old, true).map(|_| ())
}

pub(crate) fn cascade_upd(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    let Some((key, old)) = load_action(host, call, CASCADE_LOCKS)? else { return Ok(()) };
    let new = key_values(host, call, Which::New, SnapshotKind::Any)?;
    let params = [new.as_deref().unwrap_or_default(), &old[..]].concat();
    run(host, &key, Query::CascadeUpdate, &params.into(), true).map(|_| ())
}

pub(crate) fn restrict_del(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    restrict(host, call)
}

pub(crate) fn restrict_upd(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    restrict(host, call)
}

pub(crate) fn setnull_del(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    set(host, call, Query::NullOnDelete)
}

pub(crate) fn setnull_upd(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    set(host, call, Query::NullOnUpdate)
}

pub(crate) fn setdefault_del(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    set(host, call, Query::DefaultOnDelete)
}

pub(crate) fn setdefault_upd(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    set(host, call, Query::DefaultOnUpdate)
}

pub(crate) fn noaction_del(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    noaction(host, call)
}

pub(crate) fn noaction_upd(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    noaction(host, call)
}
