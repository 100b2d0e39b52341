//! The B-tree access method.

#![forbid(unsafe_code)]
