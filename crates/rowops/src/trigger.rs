//! The part of a table's triggers that writing rows needs, and the events that report changed rows.
//! The trigger manager (crate `trigger`) creates the descriptors and processes the events.
//! Counterpart: utils/reltrigger.h.

use crate::relation::OpenRel;
use ids::code::Firing;
use ids::{AttrNo, Oid, Tid};
use plan::Expr;
use std::sync::Arc;
use types::{Datum, DatumRef};

/// A change of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Insert,
    Update,
    Delete,
    /// Only at statement level.
    Truncate,
}

/// When a trigger fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    Before,
    After,
    /// In place of the change of a view's row.
    Instead,
}

/// How often a trigger fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    Row,
    Statement,
}

/// Bits of `pg_trigger.tgtype`.
pub mod kind {
    pub const ROW: i16 = 1 << 0;
    pub const BEFORE: i16 = 1 << 1;
    pub const INSERT: i16 = 1 << 2;
    pub const DELETE: i16 = 1 << 3;
    pub const UPDATE: i16 = 1 << 4;
    pub const TRUNCATE: i16 = 1 << 5;
    pub const INSTEAD: i16 = 1 << 6;
}

impl Change {
    /// The bit of `pg_trigger.tgtype`.
    pub fn bit(self) -> i16 {
        match self {
            Change::Insert => kind::INSERT,
            Change::Update => kind::UPDATE,
            Change::Delete => kind::DELETE,
            Change::Truncate => kind::TRUNCATE,
        }
    }
}

/// A trigger (`pg_trigger`).
#[derive(Debug)]
pub struct Trigger {
    pub oid: Oid,
    pub name: Box<str>,
    /// The trigger function.
    pub function: Oid,
    pub timing: Timing,
    pub level: Level,
    /// The events, as bits of `pg_trigger.tgtype`.
    pub events: i16,
    pub firing: Firing,
    /// The constraint that the trigger enforces; invalid if there is none.
    pub constraint: Oid,
    /// The index of the constraint.
    pub constraint_index: Oid,
    pub deferrable: bool,
    pub initially_deferred: bool,
    /// The trigger was created for a constraint, not by CREATE TRIGGER.
    pub is_internal: bool,
    pub args: Box<[Box<str>]>,
    /// The columns of UPDATE OF; empty: all.
    pub columns: Box<[AttrNo]>,
    /// The WHEN condition: the old row is relation 1, the new row relation 2.
    pub condition: Option<Expr>,
    /// Names of the transition tables.
    pub old_table: Option<Box<str>>,
    pub new_table: Option<Box<str>>,
    /// The columns of this table on which the constraint depends.
    pub key: Box<[AttrNo]>,
    /// The trigger was created with that of the partitioned table above.
    pub is_clone: bool,
}

impl Trigger {
    /// True if the trigger fires on this change.
    pub fn is_on(&self, change: Change) -> bool {
        self.events & change.bit() != 0
    }
}

/// The triggers of a table, in the order in which they fire (by name).
#[derive(Debug, Default)]
pub struct RelTriggers {
    pub list: Box<[Trigger]>,
    /// An UPDATE that changes none of these columns needs no event, unless the transaction itself
    /// inserted the old version. `None`: any UPDATE may need an event.
    pub update_columns: Option<Box<[AttrNo]>>,
    /// For each timing and level, the events of all triggers.
    kinds: [[i16; 2]; 3],
    /// The events of the triggers with an old and with a new transition table.
    transitions: (i16, i16),
}

impl RelTriggers {
    pub fn new(list: Vec<Trigger>, update_columns: Option<Vec<AttrNo>>) -> RelTriggers {
        let mut kinds = [[0; 2]; 3];
        let mut transitions = (0, 0);
        for t in &list {
            kinds[t.timing as usize][t.level as usize] |= t.events;
            transitions.0 |= if t.old_table.is_some() { t.events } else { 0 };
            transitions.1 |= if t.new_table.is_some() { t.events } else { 0 };
        }
        let update_columns = update_columns.map(Vec::into_boxed_slice);
        RelTriggers { list: list.into(), update_columns, kinds, transitions }
    }

    /// True if there is a trigger with a transition table.
    #[inline]
    pub fn have_transitions(&self) -> bool {
        self.transitions != (0, 0)
    }

    /// Whether old rows, and new rows, of this change must be captured for transition tables.
    pub fn transitions(&self, change: Change) -> (bool, bool) {
        let (old, new) = self.transitions;
        (old & change.bit() != 0, new & change.bit() != 0)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// True if there is a trigger of this kind on this change.
    #[inline]
    pub fn have(&self, timing: Timing, level: Level, change: Change) -> bool {
        self.kinds[timing as usize][level as usize] & change.bit() != 0
    }

    /// True if rows must be passed to triggers before this change.
    #[inline]
    pub fn are_before_row(&self, change: Change) -> bool {
        self.have(Timing::Before, Level::Row, change)
    }

    /// True if rows must be reported after this change.
    #[inline]
    pub fn are_after_row(&self, change: Change) -> bool {
        self.have(Timing::After, Level::Row, change)
    }

    /// True if triggers change the rows of a view.
    #[inline]
    pub fn are_instead(&self, change: Change) -> bool {
        self.have(Timing::Instead, Level::Row, change)
    }
}

/// The result of the triggers that fire before a row is changed, or in place of the change.
#[derive(Debug)]
pub enum BeforeRowResult {
    Keep,
    /// The row is not changed. A trigger of a view has not changed the row.
    Skip,
    /// Another row replaces the new one.
    Replace(Vec<Datum>),
}

/// A version of a row.
#[derive(Clone, Copy)]
pub struct RowVersion<'a> {
    pub tid: Tid,
    /// The values of all columns.
    pub values: &'a [DatumRef<'a>],
}

/// The part of an UPDATE that moves a row to another partition.
#[derive(Clone, Copy)]
pub enum Movement<'a> {
    /// The deletion from the partition.
    Deletion,
    /// The whole change. The table is the one that the statement names; the old version is in
    /// `source`, the new one in `destination`. Values are not given.
    Whole { source: &'a Arc<OpenRel>, destination: &'a Arc<OpenRel> },
}

/// A changed row of a table with triggers.
pub struct RowEvent<'a> {
    pub rel: &'a Arc<OpenRel>,
    /// The version that was updated or deleted.
    pub old: Option<RowVersion<'a>>,
    /// The version that was inserted.
    pub new: Option<RowVersion<'a>>,
    /// Indexes of deferrable constraints in which another row may have the key of the new version.
    pub possible_duplicates: &'a [Oid],
    /// The columns that an UPDATE sets, generated columns included.
    pub updated: &'a [AttrNo],
    /// Set if the change is part of the movement of a row to another partition.
    pub movement: Option<Movement<'a>>,
}

/// A changed row for the transition tables of a statement.
pub struct CapturedChange<'a> {
    /// The relation that the statement names, whose columns the rows have.
    pub rel: &'a Arc<OpenRel>,
    pub change: Change,
    /// The old row, if it is wanted.
    pub old: Option<&'a [DatumRef<'a>]>,
    /// The new row, if it is wanted.
    pub new: Option<&'a [DatumRef<'a>]>,
}

/// A row that is about to be changed.
pub struct ProposedChange<'a> {
    pub rel: &'a Arc<OpenRel>,
    /// [`Timing::Before`], or [`Timing::Instead`] for a row of a view.
    pub timing: Timing,
    /// The row that is updated or deleted. Rows of views have no TID.
    pub old: Option<RowVersion<'a>>,
    /// The row that is inserted, or that replaces the old one.
    pub new: Option<&'a [DatumRef<'a>]>,
    /// The columns that an UPDATE sets, generated columns included.
    pub updated: &'a [AttrNo],
}

impl ProposedChange<'_> {
    pub fn change(&self) -> Change {
        match (&self.old, self.new) {
            (None, _) => Change::Insert,
            (_, None) => Change::Delete,
            _ => Change::Update,
        }
    }
}

impl RowEvent<'_> {
    pub fn change(&self) -> Change {
        match (&self.old, &self.new) {
            (None, _) => Change::Insert,
            (_, None) => Change::Delete,
            _ => Change::Update,
        }
    }
}
