//! The engine as a whole: on a disk that crashes, and on directories of the real PostgreSQL.

mod conflicts;
mod crash;
mod liveness;
mod model;
mod ours;
mod real;
mod tables;
mod world;
