//! Configuration parameters: the 354 of PostgreSQL 15 and `norsu.*`.

#![forbid(unsafe_code)]
