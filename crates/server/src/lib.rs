//! The program `norsu`: commands, listeners, log and background workers.
//!
//! Reading order: `cli` (dispatch), `failure`, `options` (command lines), `init`, `start` (a server
//! from start-up to shutdown), `config`, `reload`, `lockfile`, `notify` (service managers),
//! `listen`, `net`, `spin`, `threads`, `workers`, `log`, `control` (control of a running server),
//! `controldata`, `waldump`.

#![forbid(unsafe_code)]

mod call;
mod cli;
mod config;
mod control;
mod controldata;
mod failure;
mod init;
mod listen;
mod lockfile;
mod log;
mod net;
mod notify;
mod options;
mod reload;
mod single;
mod spin;
mod start;
mod threads;
mod tls;
mod user;
mod version;
mod waldump;
mod workers;

pub use cli::run;
pub use version::SERVER_VERSION;
