//! Trigger functions by OID.

use crate::{TriggerHost, ri, unique};
use executor::{Change, OpenRel, RowAnswer, Trigger};
use ids::{Oid, Tid};
use pgerror::Result;
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

/// A trigger function. Its answer counts only before a row is changed.
pub type TriggerFunction = fn(&mut dyn TriggerHost, &TriggerCall<'_>) -> Result<RowAnswer>;

/// A trigger function of a constraint, called after a row was changed.
type ConstraintCall = fn(&mut dyn TriggerHost, &TriggerCall<'_>) -> Result<()>;

/// The part of a constraint that a trigger function enforces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// A row of the referencing table needs a referenced row.
    Referencing,
    /// A row of the referenced table was removed, or its key changed.
    Referenced,
    /// The key of a deferrable unique constraint.
    Unique,
}

/// A trigger function of constraints.
pub(crate) struct ConstraintFunction {
    /// `pg_proc.oid`.
    pub(crate) oid: Oid,
    pub(crate) side: Side,
    pub(crate) call: ConstraintCall,
}

const fn function(oid: u32, side: Side, call: ConstraintCall) -> ConstraintFunction {
    ConstraintFunction { oid: Oid(oid), side, call }
}

const CONSTRAINT_FUNCTIONS: &[ConstraintFunction] = &[
    function(1250, Side::Unique, unique::unique_key_recheck),
    function(1644, Side::Referencing, ri::check_ins),
    function(1645, Side::Referencing, ri::check_upd),
    function(1646, Side::Referenced, ri::cascade_del),
    function(1647, Side::Referenced, ri::cascade_upd),
    function(1648, Side::Referenced, ri::restrict_del),
    function(1649, Side::Referenced, ri::restrict_upd),
    function(1650, Side::Referenced, ri::setnull_del),
    function(1651, Side::Referenced, ri::setnull_upd),
    function(1652, Side::Referenced, ri::setdefault_del),
    function(1653, Side::Referenced, ri::setdefault_upd),
    function(1654, Side::Referenced, ri::noaction_del),
    function(1655, Side::Referenced, ri::noaction_upd),
];

/// The function of this OID, if it is one of constraints.
pub(crate) fn constraint_function(oid: Oid) -> Option<&'static ConstraintFunction> {
    CONSTRAINT_FUNCTIONS.iter().find(|f| f.oid == oid)
}
