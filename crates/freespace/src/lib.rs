//! The free space map.

#![forbid(unsafe_code)]
