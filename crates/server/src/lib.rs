//! The program `norsu`: commands, listeners, log and background workers.
//!
//! Reading order: `cli` (dispatch), `options` (command lines), `init`, `start` (a server from
//! start-up to shutdown), `config`, `reload`, `lockfile`, `listen`, `net`, `spin`, `threads`,
//! `workers`, `log`, `control` (control of a running server), `controldata`, `waldump`.

#![forbid(unsafe_code)]

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
mod spin;
mod start;
mod threads;
mod user;
mod waldump;
mod workers;

pub use cli::run;

/// The version reported to clients.
pub const SERVER_VERSION: &str = "15.20";

#[cfg(test)]
mod tests {
    #[test]
    fn server_version_matches_settings() {
        let base = settings::Base::new(settings::Registry::load().into());
        assert_eq!(base.text("server_version"), super::SERVER_VERSION);
        let (major, minor) = super::SERVER_VERSION.split_once('.').expect("two numbers");
        let number = base.int("server_version_num");
        assert_eq!(number.to_string(), format!("{major}{minor:0>4}"));
    }
}
