//! Values of parameters: their canonical forms, and their effect on the settings of other crates.
//!
//! Reading order: `canonical`, `apply`, `isolation`, `log` (the parameters of the server's log).

#![forbid(unsafe_code)]

mod apply;
mod canonical;
mod isolation;
mod log;

pub use apply::{apply_cost, apply_quoting, apply_to_types};
pub use canonical::{canonical, canonical_value, client_conversions, wrong_value};
pub use isolation::{isolation_name, isolation_named};
pub use log::{Log, LogLevels, LogOrigin, Verbosity, command_of};
