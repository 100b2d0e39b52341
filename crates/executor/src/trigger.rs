//! The part of a table's triggers that writing rows needs, and the events that report changed rows.
//! The trigger manager (crate `trigger`) creates the descriptors and processes the events.
//! Counterpart: utils/reltrigger.h.

use crate::relation::OpenRel;
use ids::code::Firing;
use ids::{AttrNo, Oid, Tid};
use std::sync::Arc;
use types::{Datum, DatumRef};

/// A change of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Insert,
    Update,
    Delete,
}

/// When a trigger fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    Before,
    After,
    Instead,
}

/// How often a trigger fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    Row,
    Statement,
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
    pub on_insert: bool,
    pub on_update: bool,
    pub on_delete: bool,
    pub firing: Firing,
    /// The constraint that the trigger enforces; invalid if there is none.
    pub constraint: Oid,
    /// The index of the constraint.
    pub constraint_index: Oid,
    pub deferrable: bool,
    pub initially_deferred: bool,
    /// The trigger has no arguments, WHEN condition, column list or transition tables.
    pub is_plain: bool,
    /// The columns of this table on which the constraint depends.
    pub key: Box<[AttrNo]>,
}

impl Trigger {
    /// True if the trigger fires on this change.
    pub fn is_on(&self, change: Change) -> bool {
        match change {
            Change::Insert => self.on_insert,
            Change::Update => self.on_update,
            Change::Delete => self.on_delete,
        }
    }
}

/// The triggers of a table, in the order in which they fire (by name).
#[derive(Debug, Default)]
pub struct RelTriggers {
    pub list: Box<[Trigger]>,
    /// An UPDATE that changes none of these columns needs no event, unless the transaction itself
    /// inserted the old version. `None`: any UPDATE may need an event.
    pub update_columns: Option<Box<[AttrNo]>>,
}

impl RelTriggers {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// True if there is a trigger on this change.
    pub fn are_on(&self, change: Change) -> bool {
        self.list.iter().any(|t| t.is_on(change))
    }

    /// True if rows must be passed to triggers before this change.
    pub fn are_before_row(&self, change: Change) -> bool {
        let before = |t: &Trigger| t.timing == Timing::Before && t.level == Level::Row;
        self.list.iter().any(|t| before(t) && t.is_on(change))
    }
}

/// The result of the triggers that fire before a row is changed.
#[derive(Debug)]
pub enum BeforeRowResult {
    Keep,
    /// The row is not changed.
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

/// A changed row of a table with triggers.
pub struct RowEvent<'a> {
    pub rel: &'a Arc<OpenRel>,
    /// The version that was updated or deleted.
    pub old: Option<RowVersion<'a>>,
    /// The version that was inserted.
    pub new: Option<RowVersion<'a>>,
    /// Indexes of deferrable constraints in which another row may have the key of the new version.
    pub possible_duplicates: &'a [Oid],
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
