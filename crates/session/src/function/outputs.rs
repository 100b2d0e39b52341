//! Names of arguments, and the columns of results.

use crate::state::State;
use analyze::SessionLookup;
use analyze::function;
use analyze::ty::is_polymorphic;
use catalog::rows::PgProc;
use ids::Oid;
use ids::code::TypType;
use pgerror::Result;
use types::oids;

/// Names of the input arguments in order; empty for an argument without a name.
pub(crate) fn argument_names(row: &PgProc) -> Vec<String> {
    let Some(names) = &row.proargnames else { return Vec::new() };
    let is_input = |i: usize| match &row.proargmodes {
        Some(modes) => modes.get(i).is_none_or(|m| m.is_input()),
        None => true,
    };
    let names = names.iter().enumerate().filter(|(i, _)| is_input(*i));
    names.map(|(_, n)| n.as_str().to_owned()).collect()
}

/// Names and types of the output parameters in a call with these argument types; `None` if there
/// are none.
pub(crate) fn outputs(
    state: &mut State,
    row: &PgProc,
    types: &[Oid],
) -> Result<Option<Vec<(String, Oid)>>> {
    let (Some(all), Some(modes)) = (&row.proallargtypes, &row.proargmodes) else { return Ok(None) };
    let mut out = Vec::new();
    for (i, (&ty, mode)) in all.iter().zip(modes).enumerate() {
        if !mode.is_output() {
            continue;
        }
        let name = row.proargnames.as_ref().and_then(|n| n.get(i));
        let name = name.map(|n| n.as_str().to_owned()).unwrap_or_default();
        let ty = match is_polymorphic(ty) {
            true => {
                let mut declared = row.proargtypes.to_vec();
                let mut lookup = SessionLookup::new(state);
                let mut cx =
                    analyze::Analyzer::new(&mut lookup, "", analyze::Params::Fixed(Vec::new()));
                cx.enforce_generics(types, &mut declared, ty, true)?
            }
            false => ty,
        };
        out.push((name, ty));
    }
    Ok((!out.is_empty()).then_some(out))
}

/// Names, types and type modifiers of the fields of a composite result, if they are known.
pub(crate) fn fields(
    state: &mut State,
    result: Oid,
    outputs: Option<Vec<(String, Oid)>>,
    columns: &[function::Column],
) -> Result<Option<Vec<(String, Oid, i32)>>> {
    if result == oids::RECORD {
        return Ok(match outputs {
            Some(list) => Some(list.into_iter().map(|(n, t)| (n, t, -1)).collect()),
            None if columns.is_empty() => None,
            None => Some(columns.iter().map(|&(t, m)| (String::new(), t, m)).collect()),
        });
    }
    let row = state.cat().type_row(result)?;
    if row.typtype != TypType::Composite {
        return Ok(None);
    }
    let desc = state.cat().relation(row.typrelid)?;
    let live = desc.attributes.iter().filter(|a| !a.attisdropped);
    Ok(Some(live.map(|a| (a.attname.to_string(), a.atttypid, a.atttypmod)).collect()))
}
