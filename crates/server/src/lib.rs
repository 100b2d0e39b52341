//! The program: its commands, the listener, the log, background workers.
//!
//! Reading order: `cli` (what is called), `options` (command lines), `init`, `start` (a server from
//! its directory to its end), `config`, `reload`, `lockfile`, `listen`, `net`, `attentive`,
//! `threads`, `workers`, `log`, `control` (stopping and asking a running server), `controldata`,
//! `waldump`.

#![forbid(unsafe_code)]

mod attentive;
mod cli;
mod config;
mod control;
mod controldata;
mod init;
mod listen;
mod lockfile;
mod log;
mod net;
mod options;
mod reload;
mod single;
mod start;
mod threads;
mod user;
mod waldump;
mod workers;

pub use cli::run;

/// The version that clients are told.
pub const SERVER_VERSION: &str = "15.20";

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_that_of_the_settings() {
        let base = settings::Base::new(settings::Registry::load().into());
        assert_eq!(base.text("server_version"), super::SERVER_VERSION);
        let (major, minor) = super::SERVER_VERSION.split_once('.').expect("two numbers");
        let number = base.int("server_version_num");
        assert_eq!(number.to_string(), format!("{major}{minor:0>4}"));
    }
}
