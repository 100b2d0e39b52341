//! Implementations of the traits by which analysis, planner, executor and functions access the
//! state of the session.

mod analysis;
mod execution;
mod facts;
mod functions;
pub(crate) mod planner_cache;
mod planning;
mod relations;
mod system;
