//! The function of the extension unaccent. Counterpart: contrib/unaccent/unaccent.c.

use super::textsearch::dictionary;
use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::cache;
use ids::Oid;
use pgerror::{Result, pg_err};
use types::textsearch::dict::Phrase;
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[SysFn { name: SYMBOL, call: SysCall::One(unaccent) }];

/// The symbol of the function.
pub const SYMBOL: &str = "unaccent_dict";

/// The dictionary of a call without one: that of the extension's name in the schema of the
/// function. 42704 if there is none.
pub fn default_dictionary(core: &mut dyn SystemHost, schema: Oid) -> Result<Oid> {
    let keys = ["unaccent".into(), schema.into()];
    if let Some(row) = core.catalog().search(cache::TSDICTNAMENSP, &keys)? {
        return Ok(row.oid);
    }
    let name = core.catalog().namespace_name(schema)?.unwrap_or_default();
    let name = name.as_str();
    Err(pg_err!(UNDEFINED_OBJECT, "text search dictionary \"{name}.unaccent\" does not exist"))
}

/// `unaccent(dictionary, text)`
fn unaccent(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let dictionary = dictionary(core, args[0].as_oid())?;
    let found = dictionary.lexize(args[1].as_bytes(), &mut Phrase::default())?;
    let first = found.and_then(|lexemes| lexemes.into_iter().next());
    Ok(first.map_or_else(|| args[1].to_owned(), |lexeme| Datum::Bytes(lexeme.text)))
}
