//! intarray: sets and queries on arrays of integers without NULLs.
//!
//! Reading order: `arrays` (functions and operators), `query` (the type `query_int`), `gin`. The
//! functions of GiST operator classes are declared; so are the estimators, which are in
//! `planner::arraysel`.
//!
//! Counterpart: contrib/intarray.

mod arrays;
mod gin;
mod query;

use crate::library::Library;

pub use query::selectivity;

pub static LIBRARY: Library = Library {
    name: "_int",
    functions: &[arrays::FNS, query::FNS],
    gin: gin::SUPPORT,
    declared: &[
        "_int_contained_joinsel",
        "_int_contained_sel",
        "_int_contains_joinsel",
        "_int_contains_sel",
        "_int_matchsel",
        "_int_overlap_joinsel",
        "_int_overlap_sel",
        "_intbig_in",
        "_intbig_out",
        "g_int_compress",
        "g_int_consistent",
        "g_int_decompress",
        "g_int_options",
        "g_int_penalty",
        "g_int_picksplit",
        "g_int_same",
        "g_int_union",
        "g_intbig_compress",
        "g_intbig_consistent",
        "g_intbig_decompress",
        "g_intbig_options",
        "g_intbig_penalty",
        "g_intbig_picksplit",
        "g_intbig_same",
        "g_intbig_union",
    ],
    ..Library::EMPTY
};
