//! Raw tree to query.

#![forbid(unsafe_code)]
