//! Plan to rows.

#![forbid(unsafe_code)]
