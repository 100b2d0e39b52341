//! How a session's state is lent to the crates below.

mod analysis;
mod execution;
mod facts;
mod functions;
mod planning;
mod relations;
