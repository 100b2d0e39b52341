//! Checks of argument and result types of a function.
//!
//! Counterpart: `ProcedureCreate`, `check_valid_polymorphic_signature`.

use ids::Oid;
use pgerror::{Result, bail, pg_err};
use types::oids;
use utility::host::CommandHost;

/// Maximum number of arguments of a function. Counterpart: `FUNC_MAX_ARGS`.
const ARGUMENTS_MAX: usize = 100;

const RANGES: [Oid; 2] = [oids::ANYRANGE, oids::ANYMULTIRANGE];
const COMPATIBLE_RANGES: [Oid; 2] = [oids::ANYCOMPATIBLERANGE, oids::ANYCOMPATIBLEMULTIRANGE];
/// Polymorphic types of the "any element" family. Each of them determines all others, except
/// ranges.
const FAMILY: [Oid; 6] = [
    oids::ANYELEMENT,
    oids::ANYARRAY,
    oids::ANYNONARRAY,
    oids::ANYENUM,
    oids::ANYRANGE,
    oids::ANYMULTIRANGE,
];
const COMPATIBLE_FAMILY: [Oid; 5] = [
    oids::ANYCOMPATIBLE,
    oids::ANYCOMPATIBLEARRAY,
    oids::ANYCOMPATIBLENONARRAY,
    oids::ANYCOMPATIBLERANGE,
    oids::ANYCOMPATIBLEMULTIRANGE,
];

/// Error 42P13 if the result type cannot be determined from the argument types. `outputs` are the
/// types of the output parameters.
pub(crate) fn check(
    host: &mut dyn CommandHost,
    input: &[Oid],
    outputs: &[Oid],
    result: Oid,
) -> Result<()> {
    if input.len() > ARGUMENTS_MAX {
        bail!(TOO_MANY_ARGUMENTS, "functions cannot have more than {ARGUMENTS_MAX} arguments");
    }
    for &ty in std::iter::once(&result).chain(outputs) {
        if let Some(needed) = missing(ty, input) {
            let ty = host.catalog().format_type(ty)?;
            return Err(pg_err!(INVALID_FUNCTION_DEFINITION, "cannot determine result data type")
                .detail(format!(
                    "A result of type {ty} requires at least one input of type {needed}."
                )));
        }
        if ty == oids::INTERNAL && !input.contains(&oids::INTERNAL) {
            return Err(pg_err!(
                INVALID_FUNCTION_DEFINITION,
                "unsafe use of pseudo-type \"internal\""
            )
            .detail("A result of type internal requires at least one input of type internal."));
        }
    }
    Ok(())
}

/// 42P13 where the type of an aggregate's state cannot be determined from the argument types.
pub(crate) fn check_state(host: &mut dyn CommandHost, input: &[Oid], state: Oid) -> Result<()> {
    let Some(needed) = missing(state, input) else { return Ok(()) };
    let ty = host.catalog().format_type(state)?;
    Err(pg_err!(INVALID_FUNCTION_DEFINITION, "cannot determine transition data type")
        .detail(format!("A result of type {ty} requires at least one input of type {needed}.")))
}

/// The argument types that would determine this result type, if none of them is present.
fn missing(ty: Oid, input: &[Oid]) -> Option<&'static str> {
    let (family, needed): (&[Oid], _) = if RANGES.contains(&ty) {
        (&RANGES, "anyrange or anymultirange")
    } else if COMPATIBLE_RANGES.contains(&ty) {
        (&COMPATIBLE_RANGES, "anycompatiblerange or anycompatiblemultirange")
    } else if FAMILY.contains(&ty) {
        (&FAMILY, "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange")
    } else if COMPATIBLE_FAMILY.contains(&ty) {
        let needed = "anycompatible, anycompatiblearray, anycompatiblenonarray, \
                      anycompatiblerange, or anycompatiblemultirange";
        (&COMPATIBLE_FAMILY, needed)
    } else {
        return None;
    };
    let info = input.iter().any(|i| family.contains(i));
    (!info).then_some(needed)
}
