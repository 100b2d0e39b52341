//! intarray: sets and queries on arrays of integers without NULLs.
//!
//! Reading order: `arrays` (functions and operators), `query` (the type `query_int`), `gin`,
//! `gist`. The estimators are declared; they are in `planner::arraysel`.
//!
//! Counterpart: contrib/intarray.

mod arrays;
mod gin;
mod gist;
mod query;

use crate::library::Library;

pub use query::selectivity;

pub static LIBRARY: Library = Library {
    name: "_int",
    functions: &[arrays::FNS, query::FNS],
    gin: gin::SUPPORT,
    gist: gist::SUPPORT,
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
    ],
    ..Library::EMPTY
};
