//! References between an operator, its commutator and its negator.

use catalog::CatCx;
use catalog::rows::PgOperator;
use ids::Oid;
use pgerror::Result;

/// Makes the commutator and the negator refer to the operator, unless they refer to others.
/// Counterpart: `OperatorUpd`.
pub(crate) fn link_back(
    cat: &mut CatCx<'_>,
    oid: Oid,
    commutator: Oid,
    negator: Oid,
) -> Result<()> {
    cat.increment_command_counter()?;
    if let Some(other) = commutator.valid() {
        let row = cat.operator(other)?;
        if !row.oprcom.is_valid() {
            cat.update(&row, &PgOperator { oprcom: oid, ..row.row.clone() })?;
            cat.increment_command_counter()?;
        }
    }
    if let Some(other) = negator.valid() {
        let row = cat.operator(other)?;
        if !row.oprnegate.is_valid() {
            cat.update(&row, &PgOperator { oprnegate: oid, ..row.row.clone() })?;
            cat.increment_command_counter()?;
        }
    }
    Ok(())
}

/// Clears the references of its commutator and negator to an operator that is dropped. Counterpart:
/// `RemoveOperatorById`.
pub(crate) fn unlink(cat: &mut CatCx<'_>, oid: Oid) -> Result<()> {
    let Some(dropped) = cat.find_operator_row(oid)? else { return Ok(()) };
    let (commutator, negator) = (dropped.oprcom, dropped.oprnegate);
    if let Some(row) = cat.find_operator_row(commutator)?.filter(|row| row.oprcom == oid) {
        cat.update(&row, &PgOperator { oprcom: Oid::INVALID, ..row.row.clone() })?;
        cat.increment_command_counter()?;
    }
    if let Some(row) = cat.find_operator_row(negator)?.filter(|row| row.oprnegate == oid) {
        cat.update(&row, &PgOperator { oprnegate: Oid::INVALID, ..row.row.clone() })?;
        cat.increment_command_counter()?;
    }
    Ok(())
}
