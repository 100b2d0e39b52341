//! The heap access method.

#![forbid(unsafe_code)]
