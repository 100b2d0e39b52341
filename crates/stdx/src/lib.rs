//! Additions to std: stacks that grow, boxes that can be nested deeply without overflowing the
//! stack.

#![forbid(unsafe_code)]

mod nested;
pub mod stack;

pub use nested::Nested;
