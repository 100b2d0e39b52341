//! The call of a trigger function.

use engine::StoredRows;
use executor::{Change, OpenRel, Trigger};
use ids::{AttrNo, Oid, Tid};
use std::sync::Arc;
use types::DatumRef;

/// The context of a call of a trigger function. When it is called and for what, once for each row
/// or once for the statement, is in `trigger`. Counterpart: `TriggerData`.
pub struct TriggerCall<'a> {
    pub rel: &'a Arc<OpenRel>,
    pub trigger: &'a Trigger,
    pub change: Change,
    /// The version that is or was updated or deleted; invalid for an insertion and for a view.
    pub old: Tid,
    /// The version that was stored; invalid before the change and for a deletion.
    pub new: Tid,
    /// The partitions that have the old and the new version, if an UPDATE has moved the row.
    pub(crate) parts: Option<[&'a OpenRel; 2]>,
    /// The row that is or was updated or deleted. Functions of constraints, which read only the
    /// key, do not get the rows after the change.
    pub old_row: Option<&'a [DatumRef<'a>]>,
    /// The row that is about to be stored, or was stored.
    pub new_row: Option<&'a [DatumRef<'a>]>,
    /// The columns that the UPDATE sets.
    pub updated: &'a [AttrNo],
    /// The transition tables of the trigger with their names.
    pub tables: &'a [NamedRows],
}

/// A transition table.
#[derive(Clone)]
pub struct NamedRows {
    /// Its name in the queries of the function.
    pub name: Box<str>,
    /// The relation whose columns the rows have.
    pub relation: Oid,
    pub rows: Arc<StoredRows>,
}
