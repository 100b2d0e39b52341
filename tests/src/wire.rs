//! The protocol, message by message: what the real server answers to the same bytes is what we must answer.
//!
//! `NORSU_WIRE=part` asks only what has this in its name.

/// The cases of a file, with their names.
macro_rules! cases {
    ($($case:ident),* $(,)?) => {
        /// What is asked of both servers.
        pub(super) const CASES: &[(&str, super::Case)] = &[$((stringify!($case), $case)),*];
    };
}

mod bad;
mod client;
mod connect;
mod protocol;
mod settings;

use client::{Bytes, Client};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use testkit::dir::TempDir;
use testkit::norsu::{Norsu, init};
use testkit::postgres::{RealServer, hand_over, program, run};

/// Both servers, each on a new cluster.
struct Both {
    norsu: Norsu,
    real: RealServer,
    _dir: TempDir,
}

/// What is asked of them; it leaves nothing behind.
type Case = fn(&Both);

impl Both {
    fn start() -> Both {
        let dir = TempDir::new("wire");
        hand_over(dir.path());
        let data = dir.path().join("norsu");
        init(&data);
        let norsu = Norsu::start(&data, &["-c", "max_connections=1300"]);
        let data = dir.path().join("real");
        let mut initdb = program("initdb");
        initdb.arg("-D").arg(&data);
        initdb.args(["-U", "postgres", "--auth=trust", "-N", "-k", "--locale=C.UTF-8"]);
        run(initdb);
        let real = RealServer::start(&data, "postgres");
        Both { norsu, real, _dir: dir }
    }

    /// Ours, and then the real one's.
    fn sockets(&self) -> [PathBuf; 2] {
        [self.norsu.socket(), self.real.socket()]
    }

    /// What both say to the bytes of a session, up to so many times ReadyForQuery or the end.
    fn check(&self, name: &str, bytes: Bytes, ready: usize) -> Vec<String> {
        let [ours, theirs] =
            self.sockets().map(|socket| Client::connect(&socket).talk(&bytes, ready));
        assert_eq!(ours, theirs, "{name}: ours, then the real server's");
        ours
    }

    /// As [`Both::check`], for bytes that may end a session; ours is there afterwards.
    fn compare(&self, name: &str, bytes: Bytes) -> Vec<String> {
        let said = self.check(name, bytes, 1);
        assert_eq!(Client::connect(&self.norsu.socket()).column("select 1"), ["1"]);
        said
    }

    /// What both answer to the statements of one session.
    fn ask(&self, sql: &[&str]) {
        let all = sql.iter().fold(Bytes::new(), |bytes, sql| bytes.query(sql));
        self.check(&format!("{sql:?}"), all, sql.len());
    }

    /// What both say to a first packet.
    fn greeting(&self, name: &str, packet: &[u8]) -> Vec<String> {
        let [ours, theirs] = self.sockets().map(|socket| {
            let mut client = Client::silent(&socket);
            client.send(packet);
            client.until_ready().iter().map(|m| m.show()).collect::<Vec<_>>()
        });
        assert_eq!(ours, theirs, "{name}: ours, then the real server's");
        ours
    }
}

/// One test, so that the two servers have an owner who stops them, whatever fails.
#[test]
fn both_servers_say_the_same() {
    let only = std::env::var("NORSU_WIRE").unwrap_or_default();
    let all = [protocol::CASES, bad::CASES, settings::CASES, connect::CASES].concat();
    let both = Both::start();
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (name, case) in all.iter().filter(|(name, _)| name.contains(&only)) {
        asked += 1;
        if catch_unwind(AssertUnwindSafe(|| case(&both))).is_err() {
            wrong.push(*name);
        }
    }
    assert!(asked > 0, "nothing is called {only:?}");
    assert!(wrong.is_empty(), "{} of {asked} differ: {wrong:?}", wrong.len());
    let log = both.norsu.log();
    assert!(!log.contains("panicked"), "{log}");
}
