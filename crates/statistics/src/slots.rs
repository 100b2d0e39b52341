//! Rows of `pg_statistic`, and the slots in them.

use catalog::rows::{AnyArray, PgStatistic};
use ids::{AttrNo, Oid};
use pgerror::Result;
use types::{Datum, TypeInfo};

/// A row without slots.
pub(crate) fn empty_row(
    (relation, column): (Oid, AttrNo),
    (null_frac, width, distinct): (f64, i32, f64),
) -> PgStatistic {
    let none = Oid::INVALID;
    PgStatistic {
        starelid: relation,
        staattnum: column,
        stainherit: false,
        stanullfrac: null_frac as f32,
        stawidth: width,
        stadistinct: distinct as f32,
        stakind1: 0,
        stakind2: 0,
        stakind3: 0,
        stakind4: 0,
        stakind5: 0,
        staop1: none,
        staop2: none,
        staop3: none,
        staop4: none,
        staop5: none,
        stacoll1: none,
        stacoll2: none,
        stacoll3: none,
        stacoll4: none,
        stacoll5: none,
        stanumbers1: None,
        stanumbers2: None,
        stanumbers3: None,
        stanumbers4: None,
        stanumbers5: None,
        stavalues1: None,
        stavalues2: None,
        stavalues3: None,
        stavalues4: None,
        stavalues5: None,
    }
}

/// The contents of a slot.
pub(crate) struct Slot {
    pub kind: i16,
    pub operator: Oid,
    pub collation: Oid,
    pub numbers: Option<Vec<f32>>,
    pub values: Option<AnyArray>,
}

/// Fills the first free slot.
pub(crate) fn fill(row: &mut PgStatistic, slot: Slot) {
    let kinds = [row.stakind1, row.stakind2, row.stakind3, row.stakind4, row.stakind5];
    let Some(free) = kinds.iter().position(|kind| *kind == 0) else { return };
    let (k, o, c, n, v) = match free {
        0 => (
            &mut row.stakind1,
            &mut row.staop1,
            &mut row.stacoll1,
            &mut row.stanumbers1,
            &mut row.stavalues1,
        ),
        1 => (
            &mut row.stakind2,
            &mut row.staop2,
            &mut row.stacoll2,
            &mut row.stanumbers2,
            &mut row.stavalues2,
        ),
        2 => (
            &mut row.stakind3,
            &mut row.staop3,
            &mut row.stacoll3,
            &mut row.stanumbers3,
            &mut row.stavalues3,
        ),
        3 => (
            &mut row.stakind4,
            &mut row.staop4,
            &mut row.stacoll4,
            &mut row.stanumbers4,
            &mut row.stavalues4,
        ),
        _ => (
            &mut row.stakind5,
            &mut row.staop5,
            &mut row.stacoll5,
            &mut row.stanumbers5,
            &mut row.stavalues5,
        ),
    };
    (*k, *o, *c, *n, *v) = (slot.kind, slot.operator, slot.collation, slot.numbers, slot.values);
}

/// The values as an array.
pub(crate) fn array(element: &TypeInfo, list: &[Datum]) -> Result<Option<AnyArray>> {
    match eval::array_of(element, list)? {
        Datum::Bytes(b) => Ok(Some(AnyArray(b))),
        _ => Ok(None),
    }
}
