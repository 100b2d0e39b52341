//! ltree: paths of labels in a hierarchy, and two kinds of conditions on them.
//!
//! Reading order: `value` (the stored form, text, parts), `label` (how labels match), `pattern`
//! (the type lquery), `search` (ltxtquery), `arrays`. The functions of GiST operator classes are
//! declared.
//!
//! Counterpart: contrib/ltree.

mod arrays;
mod functions;
mod label;
mod pattern;
mod search;
mod value;

use crate::library::{ByCase, Library};

pub static LIBRARY: Library = Library {
    name: "ltree",
    functions: &[
        functions::FNS,
        functions::COMPARISONS,
        value::FNS,
        pattern::FNS,
        search::FNS,
        arrays::FNS,
    ],
    comparisons: &[ByCase::same("ltree_cmp", value::order)],
    declared: &[
        "_ltree_compress",
        "_ltree_consistent",
        "_ltree_gist_options",
        "_ltree_penalty",
        "_ltree_picksplit",
        "_ltree_same",
        "_ltree_union",
        "ltree_compress",
        "ltree_consistent",
        "ltree_decompress",
        "ltree_gist_in",
        "ltree_gist_options",
        "ltree_gist_out",
        "ltree_penalty",
        "ltree_picksplit",
        "ltree_same",
        "ltree_union",
        "ltreeparentsel",
    ],
    ..Library::EMPTY
};
