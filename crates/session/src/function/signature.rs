//! Functions of language internal that are declared with another signature than the built-in
//! function that they name: fewer or more arguments, not strict, or other types. PostgreSQL passes
//! such arguments on unchecked. Here missing arguments and NULLs are 0 where the built-in function
//! takes a fixed-width value, as in PostgreSQL, and what would be a wild pointer there is an error.

use super::Call;
use crate::core::Core;
use analyze::ty::is_polymorphic;
use catalog::facts;
use catalog::rows::PgProc;
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::sync::OnceLock;
use types::ranges::functions::DECLARED_FOR_EACH_TYPE;
use types::{DatumRef, oids};

/// A declaration of a built-in function.
struct Signature {
    args: Vec<Oid>,
    variadic: bool,
    result: Oid,
    returns_set: bool,
    strict: bool,
}

/// The declarations of the built-in functions by `prosrc`.
fn builtin(name: &str) -> &'static [Signature] {
    static TABLE: OnceLock<HashMap<String, Vec<Signature>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table: HashMap<String, Vec<Signature>> = HashMap::new();
        for row in facts::rows::<PgProc>() {
            table.entry(row.prosrc.as_str().to_owned()).or_default().push(Signature {
                args: row.proargtypes.iter().copied().collect(),
                variadic: row.provariadic.is_valid(),
                result: row.prorettype,
                returns_set: row.proretset,
                strict: row.proisstrict,
            });
        }
        table
    });
    table.get(name).map_or(&[], Vec::as_slice)
}

/// True if a value of type `given` may be passed where `wanted` is declared. A polymorphic
/// parameter accepts a value of any type.
fn accepts(wanted: Oid, given: Oid) -> bool {
    wanted == given || wanted == oids::ANY || is_polymorphic(wanted)
}

impl Signature {
    /// True if calls of the function can be passed on unchanged.
    fn fits(&self, core: &mut Core, row: &PgProc) -> Result<bool> {
        let args = &row.proargtypes;
        if self.args.len() != args.len()
            || self.returns_set != row.proretset
            || self.strict && !row.proisstrict
        {
            return Ok(false);
        }
        if DECLARED_FOR_EACH_TYPE.contains(&row.prosrc.as_str()) {
            return Ok(true);
        }
        let types = self.args.iter().copied().zip(args.iter().copied());
        for (wanted, given) in types.chain([(self.result, row.prorettype)]) {
            if !accepts(wanted, given) && (self.variadic || !same_form(core, wanted, given)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// True if values of the types have the same representation.
fn same_form(core: &mut Core, a: Oid, b: Oid) -> Result<bool> {
    let (a, b) = (core.type_facts(a)?, core.type_facts(b)?);
    Ok((a.len, a.by_val) == (b.len, b.by_val))
}

/// True if values can be passed on unchanged to the built-in function that the function names.
pub(super) fn is_usual(core: &mut Core, row: &PgProc) -> Result<bool> {
    if row.oid < Oid::FIRST_NORMAL {
        return Ok(true);
    }
    let known = builtin(row.prosrc.as_str());
    for signature in known {
        if signature.fits(core, row)? {
            return Ok(true);
        }
    }
    Ok(known.is_empty())
}

/// The arguments to pass to the built-in function; `None`: those of the call. 42P13 where a value
/// has not the representation that the function reads.
pub(super) fn arguments<'a>(core: &mut Core, call: &Call<'a>) -> Result<Option<Vec<DatumRef<'a>>>> {
    let row = call.row;
    if is_usual(core, row)? {
        return Ok(None);
    }
    let known = builtin(row.prosrc.as_str());
    let declared = &row.proargtypes;
    let same_count = known.iter().find(|s| s.args.len() == declared.len());
    let Some(signature) = same_count.or(known.first()) else { return Ok(None) };
    check_type(core, row, signature.result, row.prorettype)?;
    if signature.variadic {
        return Ok(None);
    }
    let mut args = Vec::with_capacity(signature.args.len());
    for (i, &wanted) in signature.args.iter().enumerate() {
        if let Some(&given) = declared.get(i) {
            // The type of the call's argument, where a polymorphic one is declared.
            let actual = call.arg_types.get(i).filter(|t| is_polymorphic(given) && t.is_valid());
            check_type(core, row, wanted, actual.copied().unwrap_or(given))?;
        }
        let value = call.args.get(i).copied().unwrap_or_default();
        let by_value = core.cat().type_row(wanted)?.typbyval;
        args.push(match value {
            DatumRef::Null if i < declared.len() && !signature.strict => value,
            DatumRef::Null if by_value => DatumRef::Word(0),
            DatumRef::Null => return Err(mismatch(row)),
            value => value,
        });
    }
    Ok(Some(args))
}

/// An error where values of the types have different representations.
fn check_type(core: &mut Core, row: &PgProc, wanted: Oid, given: Oid) -> Result<()> {
    if accepts(wanted, given) {
        return Ok(());
    }
    if same_form(core, wanted, given)? {
        return Ok(());
    }
    Err(mismatch(row))
}

fn mismatch(row: &PgProc) -> PgError {
    pg_err!(
        INVALID_FUNCTION_DEFINITION,
        "function \"{}\" is not declared as the built-in function \"{}\" requires",
        row.proname.as_str(),
        row.prosrc.as_str()
    )
}
