//! Functions on strings. Counterpart: varlena.c, oracle_compat.c, like.c, quote.c, encode.c.

mod basic;
pub(crate) mod build;
pub mod case;
mod digest;
pub(crate) mod ident;
pub(crate) mod like;
mod normalize;
pub mod quote;
mod split;

pub use ident::{plain_name, split_identifiers_at, split_setting};
pub use like::like_match;

use values::function::Builtin;

/// The function tables of the module.
pub(crate) const TABLES: &[&[Builtin]] = &[
    basic::FNS,
    build::FNS,
    build::AGGREGATES,
    build::COUNTS,
    case::FNS,
    digest::FNS,
    ident::FNS,
    like::FNS,
    normalize::FNS,
    quote::FNS,
    split::FNS,
    split::SETS,
];
