//! The built-in trigger functions, by OID: those of constraints, and others.

use crate::call::TriggerCall;
use crate::host::TriggerHost;
use crate::{redundant, ri, unique};
use executor::BeforeRowResult;
use ids::Oid;
use ids::builtin::proc;
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

const fn function(oid: Oid, side: Side, call: ConstraintCall) -> ConstraintFunction {
    ConstraintFunction { oid, side, call }
}

const CONSTRAINT_FUNCTIONS: &[ConstraintFunction] = &[
    function(proc::UNIQUE_KEY_RECHECK, Side::Unique, unique::unique_key_recheck),
    function(proc::RI_FKEY_CHECK_INS, Side::Referencing, ri::check_ins),
    function(proc::RI_FKEY_CHECK_UPD, Side::Referencing, ri::check_upd),
    function(proc::RI_FKEY_CASCADE_DEL, Side::Referenced, ri::cascade_del),
    function(proc::RI_FKEY_CASCADE_UPD, Side::Referenced, ri::cascade_upd),
    function(proc::RI_FKEY_RESTRICT_DEL, Side::Referenced, ri::restrict_del),
    function(proc::RI_FKEY_RESTRICT_UPD, Side::Referenced, ri::restrict_upd),
    function(proc::RI_FKEY_SETNULL_DEL, Side::Referenced, ri::setnull_del),
    function(proc::RI_FKEY_SETNULL_UPD, Side::Referenced, ri::setnull_upd),
    function(proc::RI_FKEY_SETDEFAULT_DEL, Side::Referenced, ri::setdefault_del),
    function(proc::RI_FKEY_SETDEFAULT_UPD, Side::Referenced, ri::setdefault_upd),
    function(proc::RI_FKEY_NOACTION_DEL, Side::Referenced, ri::noaction_del),
    function(proc::RI_FKEY_NOACTION_UPD, Side::Referenced, ri::noaction_upd),
];

/// A trigger function that is not one of constraints.
type OtherCall = fn(&TriggerCall<'_>) -> Result<BeforeRowResult>;

/// The function of this OID, if it is built in and not one of constraints.
pub(crate) fn other_function(oid: Oid) -> Option<OtherCall> {
    match oid {
        proc::SUPPRESS_REDUNDANT_UPDATES_TRIGGER => Some(redundant::suppress),
        _ => None,
    }
}

/// The function of this OID, if it is one of constraints.
pub(crate) fn constraint_function(oid: Oid) -> Option<&'static ConstraintFunction> {
    if oid >= Oid::FIRST_NORMAL {
        return None;
    }
    CONSTRAINT_FUNCTIONS.iter().find(|f| f.oid == oid)
}
