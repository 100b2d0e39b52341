//! Gaps of std: stacks that grow, boxes whose recursion does not end the process.

#![forbid(unsafe_code)]

mod nested;
pub mod stack;

pub use nested::Nested;
