//! Developer tasks: extracting facts from a real PostgreSQL 15.

#![forbid(unsafe_code)]

fn main() {}
