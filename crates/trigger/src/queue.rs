//! The queue of row events.
//!
//! Each running statement has a level; its events fire at its end. Events of deferred constraints
//! then move to the transaction's list of pending events.
//!
//! INVARIANT: while a subtransaction is open, fired events stay in the list of pending events,
//! because ROLLBACK TO makes those pending again that fired since the savepoint.

use crate::condition::Conditions;
use crate::event::RunningCommands;
use crate::ri::query::Queries;
use crate::ri::read::KeyReaders;
use crate::stats::Counts;
use crate::transition::Captured;
use executor::Change;
use hashbrown::HashMap;
use ids::{AttrNo, Oid, Tid};
use pgerror::{Result, pg_err};
use smallvec::SmallVec;
use std::sync::Arc;

/// A trigger that must be called for a row or a statement. The row versions are read when it fires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) trigger: Oid,
    pub(crate) for_row: bool,
    /// The trigger's table.
    pub(crate) relation: Oid,
    pub(crate) constraint: Oid,
    pub(crate) change: Change,
    /// Invalid for an insertion.
    pub(crate) old: Tid,
    /// Invalid for a deletion.
    pub(crate) new: Tid,
    /// The partitions of the old and the new version, if an UPDATE has moved the row. The trigger
    /// is then that of a partitioned table above.
    pub(crate) parts: Option<(Oid, Oid)>,
    /// The position of the transition tables in the level, if the trigger has any or fires once
    /// for the statement.
    pub(crate) tables: Option<u32>,
    /// The position of the columns that the UPDATE sets in [`TriggerManager::columns`]; 0 for other
    /// changes.
    pub(crate) updated: u32,
    pub(crate) deferrable: bool,
    pub(crate) initially_deferred: bool,
    /// Number of the round in which it fired; 0: pending.
    pub(crate) fired: u64,
}

/// The modes that SET CONSTRAINTS has set: true for deferred.
#[derive(Clone, Default)]
struct Modes {
    all: Option<bool>,
    one: HashMap<Oid, bool>,
}

impl Modes {
    fn is_deferred(&self, event: &Event) -> bool {
        event.deferrable
            && match self.one.get(&event.constraint).copied().or(self.all) {
                Some(deferred) => deferred,
                None => event.initially_deferred,
            }
    }
}

/// The state at the start of an open subtransaction.
struct Mark {
    pending: usize,
    modes: Modes,
    round: u64,
    levels: usize,
}

/// The events of a running statement.
#[derive(Default)]
pub(crate) struct Level {
    queued: Vec<Event>,
    /// The events of the present round, of which the first ones have fired.
    round: Vec<Event>,
    fired: usize,
    /// Statements before which triggers were called. Triggers of a statement are called once, even
    /// if several parts of the query, or referential actions, change the same table.
    pub(crate) before: SmallVec<[(Oid, Change); 1]>,
    pub(crate) transitions: Vec<Captured>,
}

/// The trigger state of a session.
#[derive(Default)]
pub struct TriggerManager {
    /// Events of the running statements, outermost first. A statement of the client has a level
    /// from its first event on; a nested one from [`Self::enter`] on.
    levels: Vec<Level>,
    pending: Vec<Event>,
    modes: Modes,
    /// Number of the last round in which pending events fired.
    round: u64,
    marks: Vec<Mark>,
    /// Tables that the present (sub)transaction has locked for queries of constraints: OID and lock
    /// mode.
    pub(crate) locked: Vec<(Oid, i32)>,
    pub(crate) queries: Queries,
    pub(crate) readers: KeyReaders,
    pub(crate) conditions: Conditions,
    /// The tables of the triggers whose functions are being called, each within the one before.
    pub(crate) calling: Vec<Oid>,
    /// The commands for which event triggers fire.
    pub commands: RunningCommands,
    /// For EXPLAIN ANALYZE; `None` otherwise.
    pub(crate) counts: Option<Counts>,
    /// The sets of columns that the UPDATEs of the transaction's events set.
    updated: Vec<Arc<[AttrNo]>>,
}

impl TriggerManager {
    /// The number of a set of columns, from 1 on; 0 is the empty set.
    pub(crate) fn number_columns(&mut self, columns: &[AttrNo]) -> Result<u32> {
        if columns.is_empty() {
            return Ok(0);
        }
        let found = self.updated.iter().rposition(|set| **set == *columns);
        let at = match found {
            Some(at) => at,
            None => {
                types::memory::reserve(&mut self.updated, 1)?;
                self.updated.push(columns.into());
                self.updated.len() - 1
            }
        };
        Ok(at as u32 + 1)
    }

    /// The set of columns with this number.
    pub(crate) fn columns(&self, number: u32) -> Arc<[AttrNo]> {
        let set = (number as usize).checked_sub(1).and_then(|at| self.updated.get(at));
        set.cloned().unwrap_or_default()
    }

    /// Starts a level for a nested statement; the result is for [`Self::leave`].
    pub fn enter(&mut self) -> usize {
        self.levels.push(Level::default());
        self.levels.len() - 1
    }

    /// Ends the level of a nested statement. Events are left only after an error.
    pub fn leave(&mut self, level: usize) {
        self.levels.truncate(level);
    }

    /// True if no running statement has queued an event.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.levels.is_empty()
    }

    /// True if there is no event at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty() && self.pending.is_empty()
    }

    /// True if there are events of this table that have not fired.
    pub fn has_events(&self, relation: Oid) -> bool {
        let of_levels = self.levels.iter().flat_map(|l| l.queued.iter().chain(&l.round[l.fired..]));
        let mut all = of_levels.chain(&self.pending);
        let in_part = |e: &Event| e.parts.is_some_and(|p| p.0 == relation || p.1 == relation);
        all.any(|e| e.fired == 0 && (e.relation == relation || in_part(e)))
    }

    /// The number of trigger functions that are being called, each within the one before.
    pub fn depth(&self) -> usize {
        self.calling.len()
    }

    /// True if a function of a trigger of this table is being called, so that the table is in use.
    pub fn is_calling(&self, relation: Oid) -> bool {
        self.calling.contains(&relation)
    }

    /// Clears the state at the end of the transaction.
    pub fn end_transaction(&mut self) {
        self.calling.clear();
        self.counts = None;
        self.levels.clear();
        self.pending.clear();
        self.marks.clear();
        self.locked.clear();
        self.updated.clear();
        self.modes = Modes::default();
        self.round = 0;
    }

    /// Saves the state at the start of a subtransaction.
    pub fn begin_subtransaction(&mut self) {
        self.marks.push(Mark {
            pending: self.pending.len(),
            modes: self.modes.clone(),
            round: self.round,
            levels: self.levels.len(),
        });
    }

    pub fn commit_subtransaction(&mut self) {
        self.marks.pop();
    }

    /// Removes the events of a rolled-back subtransaction, and makes events pending again that
    /// fired in it. Its locks are released.
    pub fn abort_subtransaction(&mut self) {
        self.locked.clear();
        let Some(mark) = self.marks.pop() else { return };
        self.levels.truncate(mark.levels);
        self.pending.truncate(mark.pending);
        for e in self.pending.iter_mut().filter(|e| e.fired > mark.round) {
            e.fired = 0;
        }
        self.modes = mark.modes;
    }

    /// The level of the running statement.
    pub(crate) fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// Queues an event of the running statement.
    pub(crate) fn push(&mut self, event: Event) -> Result<()> {
        let level = self.level();
        types::memory::reserve(&mut level.queued, 1)?;
        level.queued.push(event);
        Ok(())
    }

    /// Queues the event of a trigger for the end of a statement. An event of the same trigger that
    /// has not fired is cancelled. Counterpart: `cancel_prior_stmt_triggers`.
    pub(crate) fn push_statement(&mut self, event: Event) -> Result<()> {
        let level = self.level();
        let is_prior = |e: &Event| {
            e.trigger == event.trigger
                && e.change == event.change
                && e.tables == event.tables
                && !e.for_row
                && e.fired == 0
        };
        level.queued.retain(|e| !is_prior(e));
        let fired = level.fired;
        let mut at = 0;
        level.round.retain(|e| {
            at += 1;
            at <= fired || !is_prior(e)
        });
        self.push(event)
    }

    /// True if triggers before this change of the table have not been called in the running
    /// statement. Counterpart: `before_stmt_triggers_fired`.
    pub(crate) fn starts(&mut self, relation: Oid, change: Change) -> bool {
        let level = self.level();
        let is_first = !level.before.contains(&(relation, change));
        if is_first {
            level.before.push((relation, change));
        }
        is_first
    }

    /// Starts a round: the queued events of the running statement fire now, except those of
    /// deferred triggers, which become pending. False if there are none. 42501 for deferred ones if
    /// the session is `restricted`: they would fire after the operation, with the privileges of
    /// another role.
    pub(crate) fn start_round(&mut self, restricted: bool) -> Result<bool> {
        let Some(level) = self.levels.last_mut() else { return Ok(false) };
        let mut events = std::mem::take(&mut level.queued);
        if events.is_empty() {
            if self.levels.len() == 1 {
                // Marks of subtransactions between statements must not count the level.
                self.levels.clear();
            }
            return Ok(false);
        }
        if events.iter().any(|e| e.deferrable) {
            if restricted && events.iter().any(|e| self.modes.is_deferred(e)) {
                return Err(pg_err!(
                    INSUFFICIENT_PRIVILEGE,
                    "cannot fire deferred trigger within security-restricted operation"
                ));
            }
            types::memory::reserve(&mut self.pending, events.len())?;
            let (modes, pending) = (&self.modes, &mut self.pending);
            events.retain(|e| {
                let deferred = modes.is_deferred(e);
                if deferred {
                    pending.push(*e);
                }
                !deferred
            });
        }
        (level.round, level.fired) = (events, 0);
        Ok(true)
    }

    /// The next event of the round.
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        let level = self.levels.last_mut()?;
        let event = level.round.get(level.fired).copied();
        match event {
            Some(_) => level.fired += 1,
            None => (level.round, level.fired) = (Vec::new(), 0),
        }
        event
    }

    /// The pending events that fire now: all of them, or those that are no longer deferred. They
    /// count as fired.
    pub(crate) fn take_pending(&mut self, all: bool) -> Vec<Event> {
        let modes = &self.modes;
        let is_due = |e: &&mut Event| e.fired == 0 && (all || !modes.is_deferred(e));
        let round = self.round + 1;
        let mut due = Vec::new();
        for e in self.pending.iter_mut().filter(is_due) {
            e.fired = round;
            due.push(*e);
        }
        if !due.is_empty() {
            self.round = round;
        }
        if self.marks.is_empty() {
            self.pending.retain(|e| e.fired == 0);
        }
        due
    }

    /// Sets the mode of all constraints, or of some.
    pub(crate) fn set_modes(&mut self, constraints: Option<&[Oid]>, deferred: bool) {
        match constraints {
            None => {
                self.modes.one.clear();
                self.modes.all = Some(deferred);
            }
            Some(list) => self.modes.one.extend(list.iter().map(|&oid| (oid, deferred))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(constraint: u32, initially_deferred: bool) -> Event {
        Event {
            trigger: Oid(constraint),
            for_row: true,
            relation: Oid(1),
            constraint: Oid(constraint),
            change: Change::Insert,
            old: Tid::INVALID,
            new: Tid::INVALID,
            parts: None,
            tables: None,
            updated: 0,
            deferrable: true,
            initially_deferred,
            fired: 0,
        }
    }

    /// The events of the next round, which fire.
    fn round(m: &mut TriggerManager) -> Vec<Event> {
        m.start_round(false).unwrap();
        std::iter::from_fn(|| m.next_event()).collect()
    }

    fn constraints(events: &[Event]) -> Vec<u32> {
        events.iter().map(|e| e.constraint.0).collect()
    }

    #[test]
    fn deferred_events_leave_the_statement() {
        let mut m = TriggerManager::default();
        m.push(event(1, false)).unwrap();
        m.push(event(2, true)).unwrap();
        assert_eq!(constraints(&round(&mut m)), [1]);
        assert!(m.has_events(Oid(1)));
        assert_eq!(constraints(&m.take_pending(true)), [2]);
        assert!(!m.has_events(Oid(1)));
    }

    #[test]
    fn the_mode_at_the_end_of_the_statement_decides() {
        let mut m = TriggerManager::default();
        m.push(event(1, true)).unwrap();
        m.push(event(2, true)).unwrap();
        m.set_modes(Some(&[Oid(2)]), false);
        assert_eq!(constraints(&round(&mut m)), [2]);
        m.set_modes(None, false);
        assert_eq!(constraints(&m.take_pending(false)), [1]);
    }

    #[test]
    fn rollback_makes_fired_events_pending_again() {
        let mut m = TriggerManager::default();
        m.push(event(1, true)).unwrap();
        assert!(round(&mut m).is_empty());
        m.begin_subtransaction();
        m.push(event(2, true)).unwrap();
        assert!(round(&mut m).is_empty());
        m.set_modes(None, false);
        assert_eq!(constraints(&m.take_pending(false)), [1, 2]);
        assert!(!m.has_events(Oid(1)));
        m.abort_subtransaction();
        // The modes are restored too: the event is deferred.
        assert!(m.take_pending(false).is_empty());
        assert_eq!(constraints(&m.take_pending(true)), [1]);
    }

    #[test]
    fn released_subtransactions_keep_their_events() {
        let mut m = TriggerManager::default();
        m.begin_subtransaction();
        m.begin_subtransaction();
        m.push(event(1, true)).unwrap();
        assert!(round(&mut m).is_empty());
        m.commit_subtransaction();
        assert_eq!(constraints(&m.take_pending(true)), [1]);
        m.abort_subtransaction();
        assert!(m.take_pending(true).is_empty());
    }

    #[test]
    fn a_failed_statement_leaves_no_events() {
        let mut m = TriggerManager::default();
        m.push(event(1, false)).unwrap();
        while !round(&mut m).is_empty() {}
        m.begin_subtransaction();
        m.push(event(2, false)).unwrap();
        m.abort_subtransaction();
        assert!(round(&mut m).is_empty());
    }

    #[test]
    fn nested_statements_have_their_own_events() {
        let mut m = TriggerManager::default();
        m.push(event(1, false)).unwrap();
        let level = m.enter();
        m.push(event(2, false)).unwrap();
        assert_eq!(constraints(&round(&mut m)), [2]);
        m.push(event(3, false)).unwrap();
        m.leave(level);
        assert_eq!(constraints(&round(&mut m)), [1]);
    }
    #[test]
    fn a_statement_event_replaces_an_earlier_one() {
        let statement =
            |trigger| Event { for_row: false, deferrable: false, ..event(trigger, false) };
        let mut m = TriggerManager::default();
        m.push_statement(statement(1)).unwrap();
        m.push_statement(statement(2)).unwrap();
        m.push_statement(statement(1)).unwrap();
        assert!(m.start_round(false).unwrap());
        assert_eq!(m.next_event().map(|e| e.trigger), Some(Oid(2)));
        // Events of the same round that have not fired are cancelled too.
        m.push_statement(statement(2)).unwrap();
        m.push_statement(statement(1)).unwrap();
        assert!(m.next_event().is_none());
        assert_eq!(constraints(&round(&mut m)), [2, 1]);
    }

    #[test]
    fn a_statement_starts_once() {
        let mut m = TriggerManager::default();
        assert!(m.starts(Oid(1), Change::Insert));
        assert!(!m.starts(Oid(1), Change::Insert));
        assert!(m.starts(Oid(1), Change::Update));
        let level = m.enter();
        assert!(m.starts(Oid(1), Change::Insert));
        m.leave(level);
        assert!(round(&mut m).is_empty());
        assert!(m.is_idle());
    }
}
