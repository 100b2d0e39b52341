//! Functions on strings. Counterpart: varlena.c, oracle_compat.c, like.c, quote.c, encode.c.

mod basic;
mod build;
pub(crate) mod case;
mod digest;
mod ident;
mod like;
mod normal;
pub mod quote;
mod split;

pub(crate) use build::values as variadic_values;
pub use ident::{plain_name, split_identifiers_at};
pub use like::like_match;

use crate::builtin::Builtin;

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
    normal::FNS,
    quote::FNS,
    split::FNS,
    split::SETS,
];
