//! The binary `norsu`: listener, authentication, background workers, command line.

#![forbid(unsafe_code)]
