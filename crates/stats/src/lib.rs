//! Counters.

#![forbid(unsafe_code)]
