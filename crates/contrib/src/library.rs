//! What a linked-in library consists of.

use values::compare::CompareFn;
use values::function::Builtin;
use values::gin;
use values::gist;
use values::hash::HashFn;

/// A comparison, a hash, or a support function of GIN indexes in two forms: for databases in whose
/// default collation only ASCII letters have case, and for others.
pub struct ByCase<F> {
    pub symbol: &'static str,
    pub ascii: F,
    pub unicode: F,
}

impl<F: Copy> ByCase<F> {
    /// A function that does not depend on the default collation.
    pub const fn same(symbol: &'static str, f: F) -> ByCase<F> {
        ByCase { symbol, ascii: f, unicode: f }
    }
}

/// A library.
pub struct Library {
    /// The name after `$libdir/`.
    pub name: &'static str,
    pub functions: &'static [&'static [Builtin]],
    /// The comparison functions, in the form that sorts and indexes call.
    pub comparisons: &'static [ByCase<CompareFn>],
    /// The hash functions, in the form that joins and indexes call.
    pub hashes: &'static [ByCase<HashFn>],
    /// The support functions of operator classes of GIN indexes.
    pub gin: &'static [ByCase<gin::Function>],
    /// The support functions of operator classes of GiST indexes, by symbol.
    pub gist: &'static [(&'static str, gist::Function)],
    /// Symbols of functions that other crates implement, or that only index methods without an
    /// implementation call.
    pub declared: &'static [&'static str],
}

impl Library {
    /// A library without symbols.
    pub const EMPTY: Library = Library {
        name: "",
        functions: &[],
        comparisons: &[],
        hashes: &[],
        gin: &[],
        gist: &[],
        declared: &[],
    };
}
