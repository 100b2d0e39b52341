//! Functions of languages internal and c that are declared with another signature than the function
//! that they name: fewer or more arguments, not strict, or other types. PostgreSQL passes such
//! arguments on unchecked. Here missing arguments and NULLs are 0 where the function takes a
//! fixed-width value, as in PostgreSQL, and what would be a wild pointer there is an error.

use super::Call;
use crate::state::State;
use analyze::ty::is_polymorphic;
use catalog::facts;
use catalog::rows::PgProc;
use contrib::declarations::{Declaration, Declared, of_symbol};
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::sync::OnceLock;
use types::ranges::functions::DECLARED_FOR_EACH_TYPE;
use types::{Datum, DatumRef, oids};

/// The declarations of the built-in functions by `prosrc`.
fn builtin(name: &str) -> &'static [Declaration] {
    static TABLE: OnceLock<HashMap<String, Vec<Declaration>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table: HashMap<String, Vec<Declaration>> = HashMap::new();
        for row in facts::rows::<PgProc>() {
            table.entry(row.prosrc.as_str().to_owned()).or_default().push(Declaration {
                args: row.proargtypes.iter().copied().map(Declared::Builtin).collect(),
                variadic: row.provariadic,
                result: Declared::Builtin(row.prorettype),
                returns_set: row.proretset,
                strict: row.proisstrict,
            });
        }
        table
    });
    table.get(name).map_or(&[], Vec::as_slice)
}

/// The declarations of the function that a function names.
fn known(row: &PgProc) -> &'static [Declaration] {
    if row.prolang != ids::builtin::language::C {
        return builtin(row.prosrc.as_str());
    }
    let library = row.probin.as_ref().and_then(|p| contrib::libraries::library(p.as_str()));
    library.map_or(&[], |library| of_symbol(library.name, row.prosrc.as_str()))
}

/// True if values of type `given` have the representation that `wanted` has.
fn accepts(state: &mut State, wanted: Declared, given: Oid) -> Result<bool> {
    let form = match wanted {
        Declared::Builtin(wanted) if wanted == given => return Ok(true),
        any if any.is_any() => return Ok(true),
        // Values of this type exist only within the server, and have several forms.
        Declared::Builtin(oids::INTERNAL) => return Ok(false),
        Declared::Builtin(wanted) => {
            let wanted = state.type_facts(wanted)?;
            (wanted.len, wanted.by_val)
        }
        Declared::Extension(len) => (len, false),
    };
    let given = state.type_facts(given)?;
    Ok(form == (given.len, given.by_val))
}

/// True if the type of the argument or result differs between calls.
fn depends_on_call(declared: Oid) -> bool {
    declared == oids::ANY || is_polymorphic(declared)
}

/// True if calls of the function can be passed on unchanged.
fn fits(wanted: &Declaration, state: &mut State, row: &PgProc) -> Result<bool> {
    let args = &row.proargtypes;
    if wanted.args.len() != args.len()
        || wanted.returns_set != row.proretset
        || wanted.strict && !row.proisstrict
        || wanted.result.is_any() && wanted.result != Declared::Builtin(row.prorettype)
    {
        return Ok(false);
    }
    if DECLARED_FOR_EACH_TYPE.contains(&row.prosrc.as_str()) {
        return Ok(true);
    }
    let types = wanted.args.iter().copied().zip(args.iter().copied());
    for (ty, given) in types.chain([(wanted.result, row.prorettype)]) {
        let exact = ty == Declared::Builtin(given) || ty.is_any();
        // The type of a polymorphic parameter is known only for a call.
        let must_be_exact = wanted.variadic.is_valid() || depends_on_call(given);
        if !exact && (must_be_exact || !accepts(state, ty, given)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if the types of a call's arguments and of its result are those of the function.
fn matches(wanted: &Declaration, state: &mut State, call: &Call<'_>) -> Result<bool> {
    let declared = &call.row.proargtypes;
    // The type in the call, where a polymorphic one is declared.
    let actual = |given: Oid, actual: Option<Oid>| {
        actual.filter(|t| depends_on_call(given) && t.is_valid()).unwrap_or(given)
    };
    let fixed = wanted.args.len() - usize::from(wanted.variadic == oids::ANY);
    if wanted.variadic.is_valid() && declared.len() < fixed {
        return Ok(false);
    }
    for (i, (&ty, &given)) in wanted.args[..fixed].iter().zip(declared.iter()).enumerate() {
        let given = actual(given, call.arg_types.get(i).copied());
        if !accepts(state, ty, given)? {
            return Ok(false);
        }
    }
    accepts(state, wanted.result, actual(call.row.prorettype, Some(call.result_type)))
}

/// True if values can be passed on unchanged to the function that the function names.
pub(super) fn is_usual(state: &mut State, row: &PgProc) -> Result<bool> {
    if row.oid < Oid::FIRST_NORMAL {
        return Ok(true);
    }
    let known = known(row);
    for declaration in known {
        if fits(declaration, state, row)? {
            return Ok(true);
        }
    }
    Ok(known.is_empty() && row.prolang != ids::builtin::language::C)
}

/// The arguments to pass to the function that is named; `None`: those of the call. 42P13 where a
/// value has not the representation that the function reads.
pub(super) fn arguments<'a>(
    state: &mut State,
    call: &Call<'a>,
) -> Result<Option<Vec<DatumRef<'a>>>> {
    if is_usual(state, call.row)? {
        return Ok(None);
    }
    let (known, count) = (known(call.row), call.row.proargtypes.len());
    let same_count = || known.iter().filter(|d| d.args.len() == count);
    for declaration in same_count().chain(known.first().filter(|_| same_count().count() == 0)) {
        if matches(declaration, state, call)? {
            return completed(state, call, declaration);
        }
    }
    Err(mismatch(call.row))
}

/// The arguments with values for those that are missing.
fn completed<'a>(
    state: &mut State,
    call: &Call<'a>,
    declaration: &Declaration,
) -> Result<Option<Vec<DatumRef<'a>>>> {
    if declaration.variadic.is_valid() {
        let refused = declaration.strict && call.args.iter().any(|a| a.is_null());
        return if refused { Err(mismatch(call.row)) } else { Ok(None) };
    }
    let declared = call.row.proargtypes.len();
    let mut args = Vec::with_capacity(declaration.args.len());
    for (i, &wanted) in declaration.args.iter().enumerate() {
        let value = call.args.get(i).copied().unwrap_or_default();
        let by_value = match wanted {
            any if any.is_any() => match call.arg_types.get(i) {
                Some(&actual) if actual.is_valid() => state.type_facts(actual)?.by_val,
                _ => false,
            },
            Declared::Builtin(oids::INTERNAL) | Declared::Extension(_) => false,
            Declared::Builtin(wanted) => state.cat().type_row(wanted)?.typbyval,
        };
        args.push(match value {
            DatumRef::Null if i < declared && !declaration.strict => value,
            DatumRef::Null if by_value => DatumRef::Word(0),
            DatumRef::Null => return Err(mismatch(call.row)),
            value => value,
        });
    }
    Ok(Some(args))
}

/// The result of a function. 42P13 if it has not the representation of the declared type.
pub(super) fn result(state: &mut State, row: &PgProc, ty: Oid, value: Datum) -> Result<Datum> {
    let ty = if depends_on_call(row.prorettype) { ty } else { row.prorettype };
    if row.oid < Oid::FIRST_NORMAL || value.is_null() || !ty.is_valid() || ty == oids::VOID {
        return Ok(value);
    }
    let info = state.type_facts(ty)?;
    let fits = match &value {
        Datum::Bytes(b) => !info.by_val && usize::try_from(info.len).map_or(true, |n| n == b.len()),
        _ => info.by_val,
    };
    if fits { Ok(value) } else { Err(mismatch(row)) }
}

fn mismatch(row: &PgProc) -> PgError {
    let kind = match row.prolang == ids::builtin::language::C {
        true => "function of a library",
        false => "built-in function",
    };
    pg_err!(
        INVALID_FUNCTION_DEFINITION,
        "function \"{}\" is not declared as the {kind} \"{}\" requires",
        row.proname.as_str(),
        row.prosrc.as_str()
    )
}
