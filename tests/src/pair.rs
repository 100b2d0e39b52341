//! A pair of servers, Norsu and PostgreSQL, on new clusters with the same settings. Both are
//! stopped and their directories removed when the pair is dropped.

use std::path::{Path, PathBuf};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};

/// A pair of running servers.
pub(crate) struct Pair {
    pub ours: Norsu,
    pub real: PostgresServer,
    dir: TempDir,
}

impl Pair {
    /// `options` are command-line options of Norsu.
    pub(crate) fn start(name: &str, locale: &str, options: &[&str]) -> Pair {
        Pair::start_with(name, locale, options, &[])
    }

    /// Starts a pair with settings `name=value` for both servers.
    pub(crate) fn start_both(name: &str, locale: &str, settings: &[&str]) -> Pair {
        let options: Vec<&str> = settings.iter().flat_map(|s| ["-c", s]).collect();
        Pair::start_with(name, locale, &options, settings)
    }

    fn start_with(name: &str, locale: &str, options: &[&str], settings: &[&str]) -> Pair {
        let dir = TempDir::new(name);
        chown_to_server_user(dir.path());
        let [ours, real] = ["ours", "real"].map(|server| dir.path().join(server));
        let locale = format!("--locale={locale}");
        norsu::init_with(&ours, &[&locale]);
        postgres::init_with(&real, &[&locale, "-k"]);
        let real = PostgresServer::start_with(&real, "postgres", settings);
        Pair { ours: Norsu::start(&ours, options), real, dir }
    }

    /// A directory for files that the test creates.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The data directory of Norsu.
    pub(crate) fn our_data(&self) -> PathBuf {
        self.dir.path().join("ours")
    }

    /// The sockets of Norsu and of PostgreSQL.
    pub(crate) fn sockets(&self) -> [PathBuf; 2] {
        [self.ours.socket(), self.real.socket()]
    }
}
