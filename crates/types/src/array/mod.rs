//! Arrays, and those of their operators that need the functions of all element types.

pub(crate) mod gin;
pub(crate) mod ops;
mod stats;

pub use ops::{btarraycmp, order_by};
pub use stats::{ElementCounter, ElementStats};
pub use values::array::{
    Accumulator, ArrayRef, Elements, Expanded, MAX_DIMS, append_in_place, array_out, build,
    build_1d, cstring_integers, direct_element, empty, get_element, get_slice, io, of_builtin,
    payload, read_fixed, set_element, set_in_place, set_slice,
};
