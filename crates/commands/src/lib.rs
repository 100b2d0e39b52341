//! DDL, COPY, EXPLAIN and the other utility statements.

#![forbid(unsafe_code)]
