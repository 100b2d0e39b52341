//! json, which is checked text, and jsonb, which is a tree on disk. Counterpart: json.c, jsonb.c,
//! jsonb_util.c, jsonfuncs.c.

mod access;
mod binary;
mod build;
mod change;
mod compare;
mod encode;
mod io;
mod parse;
mod path;

use crate::builtin::Builtin;

pub use compare::jsonb_cmp;

/// The module's tables.
pub(crate) const TABLES: &[&[Builtin]] = &[
    io::FNS,
    path::FNS,
    access::FNS,
    access::SETS,
    build::FNS,
    build::AGGREGATES,
    change::FNS,
    compare::COMPARISONS,
    compare::FNS,
];
