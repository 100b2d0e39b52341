//! The support functions of operator classes of GiST indexes, by name. Those of a type family are
//! in its module.

pub use values::gist::{
    Column, Compress, Condition, Consistent, Decompress, Distance, Fetch, Function, Groups,
    Parameter, Penalty, PickSplit, Prepared, Same, Ternary, Traits, Union,
};

/// The tables of functions.
const TABLES: &[&[(&str, Function)]] =
    &[ranges::gist::FNS, network::gist::FNS, geometry::gist::FNS, textsearch::gist::FNS];

/// The function with this `pg_proc.prosrc` (`range_gist_union`, …).
pub fn lookup(prosrc: &str) -> Option<Function> {
    TABLES.iter().copied().flatten().find(|(name, _)| *name == prosrc).map(|&(_, f)| f)
}

/// A context for functions of built-in types, for [`Column::context`].
pub fn context() -> Box<dyn values::fn_context::FnContext> {
    Box::new(crate::BasicContext::default())
}
