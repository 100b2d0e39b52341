//! The support functions of operator classes of GIN indexes, by name. Those of a type family are in
//! its module.

pub use values::gin::{
    Column, ComparePartial, Condition, Consistent, ExtractQuery, ExtractValue, Function, Keys,
    Query, SearchMode, Ternary, TriConsistent, all, any, checked,
};

/// The tables of functions.
const TABLES: &[&[(&str, Function)]] =
    &[crate::array::gin::FNS, crate::json::gin::FNS, textsearch::gin::FNS];

/// The function with this `pg_proc.prosrc` (`ginarrayextract`, …).
pub fn lookup(prosrc: &str) -> Option<Function> {
    TABLES.iter().copied().flatten().find(|(name, _)| *name == prosrc).map(|&(_, f)| f)
}
