//! Functions on strings. Counterpart: varlena.c, oracle_compat.c, like.c, quote.c, encode.c, regexp.c.

mod basic;
mod build;
mod case;
mod digest;
mod ident;
mod like;
mod normal;
pub mod quote;
mod regex;
mod regex_functions;
mod split;

pub use like::like_match;
pub use regex::{Pattern, compile};

use crate::builtin::Builtin;

/// The module's tables.
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
    regex_functions::FNS,
    regex_functions::SETS,
    split::FNS,
    split::SETS,
];
