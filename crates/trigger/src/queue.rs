//! The queue of row events.
//!
//! Each running statement has a level; its events fire at its end. Events of deferred constraints
//! then move to the transaction's list of pending events.
//!
//! INVARIANT: while a subtransaction is open, fired events stay in the list of pending events,
//! because ROLLBACK TO makes those pending again that fired since the savepoint.

use crate::ri::query::Queries;
use crate::ri::read::KeyReaders;
use crate::stats::Counts;
use executor::Change;
use hashbrown::HashMap;
use ids::{Oid, Tid};
use pgerror::Result;

/// A trigger that must be called for a row. The row versions are read when it fires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) trigger: Oid,
    /// The trigger's table.
    pub(crate) relation: Oid,
    pub(crate) constraint: Oid,
    pub(crate) change: Change,
    /// Invalid for an insertion.
    pub(crate) old: Tid,
    /// Invalid for a deletion.
    pub(crate) new: Tid,
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

/// The trigger state of a session.
#[derive(Default)]
pub struct TriggerManager {
    /// Events of the running statements, outermost first. A statement of the client has a level
    /// from its first event on; a nested one from [`Self::enter`] on.
    levels: Vec<Vec<Event>>,
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
    /// For EXPLAIN ANALYZE; `None` otherwise.
    pub(crate) counts: Option<Counts>,
}

impl TriggerManager {
    /// Starts a level for a nested statement; the result is for [`Self::leave`].
    pub fn enter(&mut self) -> usize {
        self.levels.push(Vec::new());
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
        let mut all = self.levels.iter().flatten().chain(&self.pending);
        all.any(|e| e.relation == relation && e.fired == 0)
    }

    /// Clears the state at the end of the transaction.
    pub fn end_transaction(&mut self) {
        self.counts = None;
        self.levels.clear();
        self.pending.clear();
        self.marks.clear();
        self.locked.clear();
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

    /// Queues an event of the running statement.
    pub(crate) fn push(&mut self, event: Event) -> Result<()> {
        if self.levels.is_empty() {
            self.levels.push(Vec::new());
        }
        if let Some(level) = self.levels.last_mut() {
            types::memory::reserve(level, 1)?;
            level.push(event);
        }
        Ok(())
    }

    /// Takes the events of the running statement that fire now; moves the deferred ones to the
    /// pending events.
    pub(crate) fn take_immediate(&mut self) -> Result<Vec<Event>> {
        let Some(level) = self.levels.last_mut() else { return Ok(Vec::new()) };
        let mut events = std::mem::take(level);
        if events.is_empty() && self.levels.len() == 1 {
            // Marks of subtransactions between statements must not count the level.
            self.levels.clear();
        }
        if !events.iter().any(|e| e.deferrable) {
            return Ok(events);
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
        Ok(events)
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
            relation: Oid(1),
            constraint: Oid(constraint),
            change: Change::Insert,
            old: Tid::INVALID,
            new: Tid::INVALID,
            deferrable: true,
            initially_deferred,
            fired: 0,
        }
    }

    fn constraints(events: &[Event]) -> Vec<u32> {
        events.iter().map(|e| e.constraint.0).collect()
    }

    #[test]
    fn deferred_events_leave_the_statement() {
        let mut m = TriggerManager::default();
        m.push(event(1, false)).unwrap();
        m.push(event(2, true)).unwrap();
        assert_eq!(constraints(&m.take_immediate().unwrap()), [1]);
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
        assert_eq!(constraints(&m.take_immediate().unwrap()), [2]);
        m.set_modes(None, false);
        assert_eq!(constraints(&m.take_pending(false)), [1]);
    }

    #[test]
    fn rollback_makes_fired_events_pending_again() {
        let mut m = TriggerManager::default();
        m.push(event(1, true)).unwrap();
        assert!(m.take_immediate().unwrap().is_empty());
        m.begin_subtransaction();
        m.push(event(2, true)).unwrap();
        assert!(m.take_immediate().unwrap().is_empty());
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
        assert!(m.take_immediate().unwrap().is_empty());
        m.commit_subtransaction();
        assert_eq!(constraints(&m.take_pending(true)), [1]);
        m.abort_subtransaction();
        assert!(m.take_pending(true).is_empty());
    }

    #[test]
    fn a_failed_statement_leaves_no_events() {
        let mut m = TriggerManager::default();
        m.push(event(1, false)).unwrap();
        while !m.take_immediate().unwrap().is_empty() {}
        m.begin_subtransaction();
        m.push(event(2, false)).unwrap();
        m.abort_subtransaction();
        assert!(m.take_immediate().unwrap().is_empty());
    }

    #[test]
    fn nested_statements_have_their_own_events() {
        let mut m = TriggerManager::default();
        m.push(event(1, false)).unwrap();
        let level = m.enter();
        m.push(event(2, false)).unwrap();
        assert_eq!(constraints(&m.take_immediate().unwrap()), [2]);
        m.push(event(3, false)).unwrap();
        m.leave(level);
        assert_eq!(constraints(&m.take_immediate().unwrap()), [1]);
    }
}
