//! json, which is stored as validated text, and jsonb, which is stored as a tree. Counterpart:
//! json.c, jsonb.c, jsonb_util.c, jsonfuncs.c.

mod access;
mod binary;
mod build;
pub(crate) mod compare;
mod encode;
pub(crate) mod gin;
mod gin_path;
mod io;
mod merge;
mod modify;
mod parse;
mod path;
mod populate;
mod subscript;
pub mod texts;

use values::function::Builtin;

pub(crate) use compare::hash_of;
pub use compare::jsonb_cmp;
pub use subscript::{jsonb_element, jsonb_with_element};

/// The function tables of the module.
pub(crate) const TABLES: &[&[Builtin]] = &[
    io::FNS,
    path::FNS,
    path::SETS,
    access::FNS,
    access::SETS,
    build::FNS,
    build::AGGREGATES,
    modify::FNS,
    populate::FNS,
    populate::SETS,
    compare::COMPARISONS,
    compare::FNS,
];
