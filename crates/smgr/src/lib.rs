//! Relation files: forks and segments.

#![forbid(unsafe_code)]
