//! The protocol, message by message: what the real server answers to the same bytes is what we must answer.

mod bad;
mod client;
mod connect;
mod protocol;
mod settings;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use testkit::dir::TempDir;
use testkit::norsu::{Norsu, init};
use testkit::postgres::{RealServer, hand_over, program, run};

/// Both servers, each on a new cluster.
struct Both {
    norsu: Norsu,
    real: RealServer,
    _dir: TempDir,
}

/// The pair that the tests of the protocol share: they leave nothing behind.
fn both() -> MutexGuard<'static, Both> {
    static BOTH: OnceLock<Mutex<Both>> = OnceLock::new();
    let both = BOTH.get_or_init(|| {
        let dir = TempDir::new("wire");
        hand_over(dir.path());
        let data = dir.path().join("norsu");
        init(&data);
        let norsu = Norsu::start(&data, &["-c", "max_connections=1300"]);
        let data = dir.path().join("real");
        let real = real(&data);
        Mutex::new(Both { norsu, real, _dir: dir })
    });
    both.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new cluster of the real server.
fn real(data: &Path) -> RealServer {
    let mut initdb = program("initdb");
    initdb.arg("-D").arg(data).args(["-U", "postgres", "--auth=trust", "-N", "--locale=C.UTF-8"]);
    run(initdb);
    RealServer::start(data, "postgres")
}
