//! Arrays in their on-disk format. A payload (the varlena without its length word) is
//!
//! ```text
//! 0     4            8         12      12+4n    12+8n
//! ndim  data offset  elemtype  dims…   lower…   nulls (if data offset ≠ 0), padding, items
//! ```
//!
//! Offsets count from four bytes before the payload, where the length word is on disk; the elements
//! begin at a multiple of 8 in that count and are aligned by their type. A varlena element has a
//! 4-byte length word. Counterpart: utils/array.h, arrayutils.c.

mod access;
mod construct;
mod expanded;
mod functions;
mod in_place;
pub mod io;
pub mod payload;
mod sets;
mod texts;

pub use access::{direct_element, get_element, get_slice, set_element, set_slice};
pub use construct::Accumulator;
pub use expanded::Expanded;
pub use in_place::{append_in_place, set_in_place};
pub use io::array_out;
pub use payload::{
    ArrayRef, Elements, MAX_DIMS, build, build_1d, cstring_integers, empty, of_builtin, read_fixed,
};
pub use texts::TextArray;

use crate::function::Builtin;

/// The function tables of the module.
pub const TABLES: &[&[Builtin]] =
    &[io::FNS, functions::FNS, construct::FNS, construct::AGGREGATES, sets::FNS];
