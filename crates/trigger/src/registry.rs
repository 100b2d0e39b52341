//! The trigger functions of constraints, by OID.

use crate::call::TriggerCall;
use crate::host::TriggerHost;
use crate::{ri, unique};
use ids::Oid;
use pgerror::Result;

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
