//! Statistics counters. Empty so far: each crate keeps its own.

#![forbid(unsafe_code)]
