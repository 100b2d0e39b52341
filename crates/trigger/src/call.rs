//! The call of a trigger function.

use executor::{Change, OpenRel, Trigger};
use ids::Tid;
use std::sync::Arc;
use types::Datum;

/// The context of a call of a trigger function. When it is called and for what, once for each row
/// or once for the statement, is in `trigger`. Counterpart: `TriggerData`.
pub struct TriggerCall<'a> {
    pub rel: &'a Arc<OpenRel>,
    pub trigger: &'a Trigger,
    pub change: Change,
    /// The version that is or was updated or deleted; invalid for an insertion.
    pub old: Tid,
    /// The version that was stored; invalid before the change and for a deletion.
    pub new: Tid,
    /// Before an insertion or update: the row that is about to be stored.
    pub proposed: Option<&'a [Datum]>,
}
