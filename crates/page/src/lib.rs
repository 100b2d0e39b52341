//! Page and tuple formats of PostgreSQL 15, without I/O.

pub mod index_tuple;
