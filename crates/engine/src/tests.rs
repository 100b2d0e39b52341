//! Tests of the whole engine: on an in-memory disk with crashes, and on data directories of
//! PostgreSQL.

mod conflicts;
mod crash;
mod fixture;
mod liveness;
mod model;
mod norsu_log;
mod postgresql_directory;
mod prepared;
mod tables;
mod vacuum;
