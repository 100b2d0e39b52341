//! The table of built-in functions by `pg_proc.prosrc`. Functions that need catalogs or storage are
//! in tables of the same kind in higher crates. The modules of the type families do not look up
//! functions here, because this module depends on them; they use `values::function`. Counterpart:
//! fmgrtab.c.

pub use values::function::{
    AggState, Builtin, BuiltinFn, CombineFn, FinalFn, ScalarFn, SetSource, SrfFn, TransFn,
    VecSource,
};

use std::collections::HashMap;
use std::sync::LazyLock;

/// The tables of all modules.
const TABLES: &[&[&[Builtin]]] = &[
    &[
        values::hash::FNS,
        values::int::ARITHMETIC,
        values::int::UNARY,
        values::int::OTHER,
        values::int::SETS,
        crate::operators::COMPARISONS,
        crate::operators::ORDERINGS,
        crate::operators::SUPPORT,
        crate::operators::PATTERN,
        crate::boolean::FNS,
        values::chars::FNS,
        crate::system::FNS,
        values::text::FNS,
        crate::bits::FNS,
        crate::bits::COMPARISONS,
        crate::bits::SUPPORT,
        crate::bytea::FNS,
        values::float::FNS,
        crate::reg::FNS,
        crate::reg::CASTS,
        crate::reg::COLLATION,
        crate::acl::GONE,
        crate::enums::FNS,
        crate::record::FNS,
        crate::acl::FNS,
        crate::money::FNS,
        crate::outputs::FNS,
        crate::range::FNS,
        crate::in_range::FNS,
        crate::acl::SETS,
        crate::pseudo::FNS,
        crate::pseudo::OTHERS,
        crate::pseudo::TRIGGER_FUNCTIONS,
        crate::sizes::FNS,
        crate::stored_form::FNS,
        crate::xid_snapshot::FNS,
        crate::xid_snapshot::SETS,
    ],
    numeric::TABLES,
    values::array::TABLES,
    &[crate::array::ops::FNS],
    crate::regex::functions::TABLES,
    crate::string::TABLES,
    datetime::TABLES,
    textsearch::TABLES,
    ranges::TABLES,
    network::TABLES,
    geometry::TABLES,
    crate::json::TABLES,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Builtin>> =
    LazyLock::new(|| builtins().map(|b| (b.name, b)).collect());

/// All built-in functions of this crate.
pub fn builtins() -> impl Iterator<Item = &'static Builtin> {
    TABLES.iter().flat_map(|m| m.iter()).flat_map(|t| t.iter())
}

/// The function with this `pg_proc.prosrc`.
pub fn lookup(prosrc: &str) -> Option<&'static Builtin> {
    BY_NAME.get(prosrc).copied()
}

/// The ordinary function with this `pg_proc.prosrc`.
pub fn scalar(prosrc: &str) -> Option<ScalarFn> {
    lookup(prosrc)?.scalar()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        assert_eq!(builtins().count(), BY_NAME.len());
    }
}
