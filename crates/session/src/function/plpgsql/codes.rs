//! Compiles functions when they are called, and finds those that are compiled.

use super::compiled::{CODES_MAX, CallSite, Compiled, Key};
use super::source::{self, Types};
use crate::state::State;
use catalog::Row;
use catalog::rows::PgProc;
use ids::Oid;
use pgerror::Result;
use plpgsql::Code;
use std::sync::Arc;
use types::oids;

/// The type of the result: that of the call for a polymorphic function.
pub(super) fn result_type(row: &PgProc, actual: Oid) -> Oid {
    match analyze::ty::is_polymorphic(row.prorettype) && actual.is_valid() {
        true => actual,
        false => row.prorettype,
    }
}

/// The compiled function for a call with arguments of these types.
pub(super) fn find(
    state: &mut State,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    at: CallSite,
) -> Result<Arc<Code>> {
    let is_fixed = |d: Oid| {
        !analyze::ty::is_polymorphic(d)
            && !matches!(d, oids::ANY | oids::RECORD | oids::RECORD_ARRAY)
    };
    let types = match row.proargtypes.iter().all(|d| is_fixed(*d)) {
        true => Vec::new(),
        false => {
            let declared = row.proargtypes.iter().copied().enumerate();
            let types = declared.map(|(i, d)| match arg_types.get(i) {
                Some(&actual) if !is_fixed(d) && actual.is_valid() => actual,
                _ => d,
            });
            types.collect()
        }
    };
    let at = CallSite { result: result_type(row, at.result), ..at };
    let key: Key = (row.oid, types, at);
    let generation = state.catalog.catalog.generation();
    if let Some(known) = state.caches.codes.0.get(&key)
        && known.generation.is_none_or(|valid| valid == generation)
        && is_same(&known.row, row)
    {
        return Ok(known.code.clone());
    }
    let args = if key.1.is_empty() { row.proargtypes.to_vec() } else { key.1.clone() };
    let types = Types { args, result: at.result, collation: at.collation };
    let code = source::compile(state, row, &types, false);
    let code = code.map_err(|e| source::in_code(e, row.prosrc.as_str()))?;
    let codes = &mut state.caches.codes.0;
    if codes.len() >= CODES_MAX {
        codes.clear();
    }
    let generation = code.function.has_user_types().then_some(generation);
    codes.insert(key, Compiled { row: row.clone(), code: code.clone(), generation });
    Ok(code)
}

/// True for the same version of a row. A function that is replaced is compiled again, even by an
/// equal one: the settings that compilation reads may differ.
fn is_same(known: &Row<PgProc>, row: &Row<PgProc>) -> bool {
    Arc::ptr_eq(known, row) || (known.tid == row.tid && known.row == row.row)
}

/// Runs a call without the parameters of the statement that contains it.
pub(super) fn isolated<T>(
    state: &mut State,
    work: impl FnOnce(&mut State) -> Result<T>,
) -> Result<T> {
    if state.params.is_empty() {
        return stdx::stack::deep(|| work(state));
    }
    let saved = std::mem::take(&mut state.params);
    let result = stdx::stack::deep(|| work(state));
    state.params = saved;
    result
}
