//! How a session's state is lent to the crates below.

mod analysis;
mod execution;
mod facts;
mod functions;
pub(crate) mod planning;
mod relations;
