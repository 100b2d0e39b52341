//! cube: boxes and points of up to 100 dimensions.
//!
//! Reading order: `value` (the stored form), `io`, `functions`, `gist`.
//!
//! Counterpart: contrib/cube.

mod functions;
mod gist;
mod io;
mod value;

use crate::library::{ByCase, Library};

pub static LIBRARY: Library = Library {
    name: "cube",
    functions: &[io::FNS, functions::FNS, functions::COMPARISONS],
    comparisons: &[ByCase::same("cube_cmp", functions::compare)],
    gist: gist::SUPPORT,
    ..Library::EMPTY
};
