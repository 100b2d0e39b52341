//! Developer tasks that tests use too: the counts of the code's structure.

#![forbid(unsafe_code)]

pub mod counts;
