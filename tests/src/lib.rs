//! The one test binary.

#![forbid(unsafe_code)]
