//! Foreign keys. Changed rows queue events while a statement runs. At the end of the statement the
//! events are checked, or their actions executed; those of deferred constraints at the end of the
//! transaction.
//!
//! The checks are queries over both tables. They are planned once for each constraint, and run as
//! the owner of the tables under a new snapshot. An action such as CASCADE queues further events,
//! which the same loop processes.
//!
//! Counterpart: utils/adt/ri_triggers.c, and the event queues of commands/trigger.c.

mod check;

use crate::core::Core;
use catalog::foreign::event as event_kind;
use commands::TriggerStats;
use executor::{Execution, RowEvent};
use hashbrown::{HashMap, HashSet};
use ids::{Oid, Tid};
use pgerror::{PgError, Result};
use plan::PlannedStmt;
use std::sync::Arc;
use types::Datum;

/// The check or action for a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Action {
    /// The referencing row needs a referenced one.
    Check,
    /// NO ACTION.
    Nothing,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
    /// No other row may have the key (a deferrable unique constraint).
    Unique,
}

/// A queued event.
#[derive(Clone)]
pub(crate) struct Pending {
    trigger: Oid,
    /// The trigger's table.
    relation: Oid,
    constraint: Oid,
    action: Action,
    /// For the referencing table, the new row. For the referenced table, the old row and the new
    /// one, if any.
    old: Option<Arc<[Datum]>>,
    new: Option<Arc<[Datum]>>,
    /// Tuple id of the new row.
    tid: Tid,
}

/// The planned query of a constraint, valid while both tables are unchanged.
struct Cached {
    tables: [Arc<catalog::RelDesc>; 2],
    /// The query.
    text: Arc<str>,
    plan: Arc<PlannedStmt>,
    /// Its execution state between checks, for reuse.
    idle: Option<Execution>,
}

/// The modes of SET CONSTRAINTS: true for deferred.
#[derive(Clone, Default)]
struct Modes {
    all: Option<bool>,
    one: HashMap<Oid, bool>,
}

/// The foreign-key state of a session's transaction.
#[derive(Default)]
pub(crate) struct ForeignKeys {
    statement: Vec<Pending>,
    deferred: Vec<Pending>,
    /// Referencing rows with a check at the commit, by constraint.
    waiting: HashSet<(Oid, Tid)>,
    modes: Modes,
    /// Lengths of `deferred` and modes at the start of each open subtransaction.
    levels: Vec<(usize, Modes)>,
    plans: HashMap<(Oid, Action, bool), Cached>,
    /// Trigger statistics for EXPLAIN ANALYZE; `None` otherwise.
    counted: Option<Vec<Counted>>,
}

/// Statistics of a trigger. The time is in microseconds.
struct Counted {
    trigger: Oid,
    relation: Oid,
    constraint: Oid,
    calls: u64,
    time_us: u64,
}

/// The action of a trigger function (`pg_proc` OID); `None` if it is not one of a constraint.
pub(crate) fn action_of(function: Oid) -> Option<Action> {
    Some(match function.0 {
        1250 => Action::Unique,
        1644 | 1645 => Action::Check,
        1646 | 1647 => Action::Cascade,
        1648 | 1649 => Action::Restrict,
        1650 | 1651 => Action::SetNull,
        1652 | 1653 => Action::SetDefault,
        1654 | 1655 => Action::Nothing,
        _ => return None,
    })
}

/// Queues the events of a changed row.
pub(crate) fn queue(core: &mut Core, event: &RowEvent<'_>) -> Result<()> {
    let desc = core.cat().relation(event.rel.table.oid)?;
    let bit = match (event.old, event.new) {
        (None, _) => event_kind::INSERT,
        (_, None) => event_kind::DELETE,
        _ => event_kind::UPDATE,
    };
    let mut old: Option<Arc<[Datum]>> = None;
    let mut new: Option<Arc<[Datum]>> = None;
    for t in desc.triggers.iter().filter(|t| t.tgtype & bit != 0 && t.tgenabled != b'D') {
        let Some(action) = action_of(t.tgfoid) else {
            return Err(PgError::unsupported(format!("trigger \"{}\"", t.tgname)));
        };
        if !is_required(core, t.tgconstraint, action, event)? {
            continue;
        }
        let old = event.old.map(|o| old.get_or_insert_with(|| Arc::from(o)).clone());
        let new = event.new.map(|n| new.get_or_insert_with(|| Arc::from(n)).clone());
        let pending = Pending {
            trigger: t.oid,
            relation: event.rel.table.oid,
            constraint: t.tgconstraint,
            action,
            old,
            new,
            tid: event.new_tid,
        };
        let keys = &mut core.foreign_keys;
        let deferred = t.tgdeferrable
            && match keys.modes.one.get(&t.tgconstraint).copied().or(keys.modes.all) {
                Some(deferred) => deferred,
                None => t.tginitdeferred,
            };
        if deferred {
            if action == Action::Check {
                keys.waiting.insert((t.tgconstraint, event.new_tid));
            }
            keys.deferred.push(pending);
        } else {
            keys.statement.push(pending);
        }
    }
    Ok(())
}

/// Does the change require an event? Mostly it does not, because the key columns are unchanged.
fn is_required(
    core: &mut Core,
    constraint: Oid,
    action: Action,
    event: &RowEvent<'_>,
) -> Result<bool> {
    let row = core.cat().constraint(constraint)?;
    let row = row.ok_or_else(|| check::no_constraint(constraint))?;
    let referencing = matches!(action, Action::Check | Action::Unique);
    let columns = if referencing { &row.conkey } else { &row.confkey };
    let columns = columns.as_deref().unwrap_or_default();
    let key = |values: &[Datum]| -> Vec<Datum> {
        columns.iter().map(|&c| values.get(c as usize - 1).cloned().unwrap_or_default()).collect()
    };
    let nulls = |key: &[Datum]| key.iter().filter(|v| v.is_null()).count();
    if !referencing {
        let Some(old) = event.old else { return Ok(false) };
        let old = key(old);
        // No row can reference a key that contains NULL.
        return Ok(nulls(&old) == 0 && event.new.is_none_or(|new| key(new) != old));
    }
    let Some(new) = event.new else { return Ok(false) };
    let new = key(new);
    if action == Action::Unique {
        return Ok(event.old.is_none_or(|old| key(old) != new));
    }
    match nulls(&new) {
        0 => {}
        n if row.confmatchtype == b'f' && n < new.len() => return Ok(true),
        _ => return Ok(false),
    }
    let Some(old) = event.old else { return Ok(true) };
    // A new version of a row with a pending check needs a check of its own.
    Ok(key(old) != new || core.foreign_keys.waiting.contains(&(constraint, event.old_tid)))
}

impl Core {
    /// Processes the queued events at the end of a statement.
    pub fn after_statement(&mut self) -> Result<()> {
        while !self.foreign_keys.statement.is_empty() {
            let events = std::mem::take(&mut self.foreign_keys.statement);
            self.fire(events)?;
        }
        Ok(())
    }

    /// As [`Self::after_statement`], with statistics of the triggers that fired.
    pub fn after_statement_counted(&mut self) -> Result<Vec<TriggerStats>> {
        self.foreign_keys.counted = Some(Vec::new());
        let result = self.after_statement();
        let counted = self.foreign_keys.counted.take().unwrap_or_default();
        result?;
        let mut out = Vec::new();
        for c in counted {
            let desc = self.cat().relation(c.relation)?;
            let name = desc.triggers.iter().find(|t| t.oid == c.trigger).map(|t| t.tgname);
            let constraint = self.cat().constraint(c.constraint)?;
            out.push(TriggerStats {
                trigger: name.map(|n| n.to_string()).unwrap_or_default(),
                constraint: constraint.map(|row| row.conname.to_string()),
                relation: desc.name().to_owned(),
                time_us: c.time_us,
                calls: c.calls,
            });
        }
        Ok(out)
    }

    /// Processes the deferred events at the end of the transaction.
    pub fn before_commit(&mut self) -> Result<()> {
        loop {
            self.after_statement()?;
            let events = std::mem::take(&mut self.foreign_keys.deferred);
            if events.is_empty() {
                return Ok(());
            }
            self.foreign_keys.waiting.clear();
            self.fire(events)?;
        }
    }

    fn fire(&mut self, events: Vec<Pending>) -> Result<()> {
        for event in events {
            self.backend.check_interrupts()?;
            if self.foreign_keys.counted.is_none() {
                check::fire(self, &event)?;
                continue;
            }
            let start = self.now();
            check::fire(self, &event)?;
            let took = (self.now() - start).max(0) as u64;
            let list = self.foreign_keys.counted.get_or_insert_default();
            let known = list.iter().position(|c| c.trigger == event.trigger);
            let at = known.unwrap_or_else(|| {
                let (trigger, relation) = (event.trigger, event.relation);
                let constraint = event.constraint;
                list.push(Counted { trigger, relation, constraint, calls: 0, time_us: 0 });
                list.len() - 1
            });
            list[at].calls += 1;
            list[at].time_us += took;
        }
        Ok(())
    }

    /// Are there queued events of this table?
    pub(crate) fn has_pending_checks(&self, relation: Oid) -> bool {
        let keys = &self.foreign_keys;
        keys.statement.iter().chain(&keys.deferred).any(|p| p.relation == relation)
    }

    /// Clears the state at the end of the transaction.
    pub fn constraints_end(&mut self) {
        let keys = &mut self.foreign_keys;
        keys.statement.clear();
        keys.deferred.clear();
        keys.waiting.clear();
        keys.levels.clear();
        keys.modes = Modes::default();
    }

    /// Saves the state at the start of a subtransaction.
    pub fn constraints_sub_begin(&mut self) {
        let keys = &mut self.foreign_keys;
        keys.levels.push((keys.deferred.len(), keys.modes.clone()));
    }

    pub fn constraints_sub_commit(&mut self) {
        self.foreign_keys.levels.pop();
    }

    /// Removes the events of a rolled-back subtransaction.
    pub fn constraints_sub_abort(&mut self) {
        let keys = &mut self.foreign_keys;
        keys.statement.clear();
        if let Some((length, modes)) = keys.levels.pop() {
            keys.deferred.truncate(length);
            keys.modes = modes;
        }
        let waiting = keys.deferred.iter().filter(|p| p.action == Action::Check);
        keys.waiting = waiting.map(|p| (p.constraint, p.tid)).collect();
    }

    /// SET CONSTRAINTS for all or some constraints. Events of constraints that become immediate are
    /// processed now.
    pub fn set_constraints(&mut self, constraints: Option<&[Oid]>, deferred: bool) -> Result<()> {
        let modes = &mut self.foreign_keys.modes;
        match constraints {
            None => {
                modes.one.clear();
                modes.all = Some(deferred);
            }
            Some(list) => {
                for &oid in list {
                    let row = self.cat().constraint(oid)?;
                    let row = row.ok_or_else(|| check::no_constraint(oid))?;
                    if !row.condeferrable {
                        return Err(pgerror::pg_err!(
                            WRONG_OBJECT_TYPE,
                            "constraint \"{}\" is not deferrable",
                            row.conname
                        ));
                    }
                    self.foreign_keys.modes.one.insert(oid, deferred);
                }
            }
        }
        if deferred {
            return Ok(());
        }
        let keys = &mut self.foreign_keys;
        let all = std::mem::take(&mut keys.deferred);
        let (now, later): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|p| constraints.is_none_or(|list| list.contains(&p.constraint)));
        for p in &now {
            keys.waiting.remove(&(p.constraint, p.tid));
        }
        keys.deferred = later;
        // Events from before the open subtransactions are removed from the list too.
        for level in &mut keys.levels {
            level.0 = level.0.min(keys.deferred.len());
        }
        self.fire(now)?;
        self.after_statement()
    }

    /// The constraints of that name in the first schema of the search path that has any.
    pub(crate) fn constraints_named(
        &mut self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Vec<Oid>> {
        let mut cat = self.cat();
        let schemas = match schema {
            Some(schema) => vec![cat.namespace(schema)?],
            None => cat.search_path()?.schemas.to_vec(),
        };
        for schema in schemas {
            let index = catalog::rows::indexes::PG_CONSTRAINT_CONNAME_NSP_INDEX;
            let rows = cat.scan(index, &[name.into(), schema.into()])?;
            if !rows.is_empty() {
                return Ok(rows.iter().map(|r| r.oid).collect());
            }
        }
        Err(pgerror::pg_err!(UNDEFINED_OBJECT, "constraint \"{name}\" does not exist"))
    }

    /// Saves the events of the outer statement while a nested one runs.
    pub(crate) fn enter_statement(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.foreign_keys.statement)
    }

    pub(crate) fn leave_statement(&mut self, outer: Vec<Pending>) {
        self.foreign_keys.statement = outer;
    }

    /// Checks that all rows of the referencing table have a referenced row, for a new constraint.
    pub fn validate_foreign_key(&mut self, constraint: Oid) -> Result<()> {
        check::validate(self, constraint)
    }
}
