//! The one test binary.

#![forbid(unsafe_code)]

#[cfg(test)]
mod interchange;
