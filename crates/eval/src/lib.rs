//! Compiled expressions.

#![forbid(unsafe_code)]
