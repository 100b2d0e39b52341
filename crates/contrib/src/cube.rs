//! cube: boxes and points of up to 100 dimensions.
//!
//! Reading order: `value` (the stored form), `io`, `functions`. The functions of the GiST operator
//! class are declared.
//!
//! Counterpart: contrib/cube.

mod functions;
mod io;
mod value;

use crate::library::{ByCase, Library};

pub static LIBRARY: Library = Library {
    name: "cube",
    functions: &[io::FNS, functions::FNS, functions::COMPARISONS],
    comparisons: &[ByCase::same("cube_cmp", functions::compare)],
    declared: &[
        "g_cube_consistent",
        "g_cube_distance",
        "g_cube_penalty",
        "g_cube_picksplit",
        "g_cube_same",
        "g_cube_union",
    ],
    ..Library::EMPTY
};
