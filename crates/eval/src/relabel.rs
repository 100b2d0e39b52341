//! Casts without a function (RelabelType) that nevertheless change the stored word: between int4,
//! which is sign-extended to eight bytes, and the types of OIDs, which are zero-extended. All other
//! such casts keep the value as it is.

use crate::facts::Facts;
use ids::Oid;
use ids::code::TypType;
use pgerror::Result;
use plan::expr::RelabelType;
use types::datum::{extended, four_bytes_signed};
use types::{Column, ColumnData, Datum};

/// Whether the type is a pseudo-type that stands for values of any form, but is itself passed by
/// value. No function reads such a value, and its output function raises an error.
pub(crate) fn is_opaque(ty: Oid) -> bool {
    use ids::builtin::ty::{ANY, ANYCOMPATIBLE, ANYCOMPATIBLENONARRAY, ANYELEMENT, ANYNONARRAY};
    matches!(ty, ANY | ANYCOMPATIBLE | ANYCOMPATIBLENONARRAY | ANYELEMENT | ANYNONARRAY)
}

/// The value that stands for any value of an opaque type.
pub(crate) const OPAQUE_VALUE: Datum = Datum::Word(0);

/// For a relabelling of a value of four bytes to a type of the other signedness, such as `int4` to
/// `oid`: whether the result is sign-extended.
pub(crate) fn extension(n: &RelabelType, facts: &mut dyn Facts) -> Result<Option<bool>> {
    let Some(signed) = four_bytes_signed(n.resulttype) else { return Ok(None) };
    let mut from = n.arg.type_oid();
    while four_bytes_signed(from).is_none() {
        let info = facts.type_info(from)?;
        if info.kind != TypType::Domain {
            break;
        }
        from = info.base;
    }
    Ok(four_bytes_signed(from).filter(|f| *f != signed).map(|_| signed))
}

/// Extends the words of a column of values of four bytes.
pub(crate) fn extend_column(mut column: Column, signed: bool) -> Column {
    if let ColumnData::Word(words) = &mut column.data {
        words.iter_mut().for_each(|w| *w = extended(*w, signed));
    }
    column
}
