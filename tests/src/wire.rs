//! Differential tests of the wire protocol, message by message: both servers must answer the same
//! bytes with the same messages.
//!
//! `NORSU_WIRE=part` runs only cases whose name contains the part.

/// Declares the test cases of a file, with their names.
macro_rules! cases {
    ($($case:ident),* $(,)?) => {
        /// The test cases, which run on both servers.
        pub(super) const CASES: &[(&str, super::Case)] = &[$((stringify!($case), $case)),*];
    };
}

mod bad;
pub(crate) mod client;
mod connect;
mod drivers;
mod encodings;
mod fastpath;
mod notify;
mod order;
mod protocol;
mod random;
mod settings;
mod utility;

use crate::pair::Pair;
use client::{Bytes, Client};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Both servers.
struct Both(Pair);

/// A test case, which must not leave any objects behind.
type Case = fn(&Both);

impl Both {
    /// Compares the answers of both servers to the bytes of a session, up to `ready` ReadyForQuery
    /// messages or the end of the connection.
    fn check(&self, name: &str, bytes: Bytes, ready: usize) -> Vec<String> {
        let [ours, theirs] =
            self.0.sockets().map(|socket| Client::connect(&socket).talk(&bytes, ready));
        assert_eq!(ours, theirs, "{name}: Norsu's, then PostgreSQL's");
        ours
    }

    /// Like [`Both::check`], for bytes that may end the session; then checks that Norsu still runs.
    fn compare(&self, name: &str, bytes: Bytes) -> Vec<String> {
        let said = self.check(name, bytes, 1);
        assert_eq!(Client::connect(&self.0.ours.socket()).column("select 1"), ["1"]);
        said
    }

    /// Compares the answers to the statements of one session.
    fn ask(&self, sql: &[&str]) {
        let all = sql.iter().fold(Bytes::new(), |bytes, sql| bytes.query(sql));
        self.check(&format!("{sql:?}"), all, sql.len());
    }

    /// Compares the answers to a first packet.
    fn greeting(&self, name: &str, packet: &[u8]) -> Vec<String> {
        let [ours, theirs] = self.0.sockets().map(|socket| {
            let mut client = Client::silent(&socket);
            client.send(packet);
            client.until_ready().iter().map(|m| m.show()).collect::<Vec<_>>()
        });
        assert_eq!(ours, theirs, "{name}: Norsu's, then PostgreSQL's");
        ours
    }
}

/// All cases are in a single test, so that both servers are stopped regardless of failures.
#[test]
fn both_servers_send_the_same_messages() {
    let only = std::env::var("NORSU_WIRE").unwrap_or_default();
    let all = [
        protocol::CASES,
        bad::CASES,
        settings::CASES,
        connect::CASES,
        notify::CASES,
        drivers::CASES,
        encodings::CASES,
        fastpath::CASES,
        utility::CASES,
        order::CASES,
    ]
    .concat();
    let both = Both(Pair::start("wire", "C.UTF-8", &["-c", "max_connections=1300"]));
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (name, case) in all.iter().filter(|(name, _)| name.contains(&only)) {
        asked += 1;
        let began = std::time::Instant::now();
        if catch_unwind(AssertUnwindSafe(|| case(&both))).is_err() {
            wrong.push(*name);
        }
        println!("{name}: {:.1} s", began.elapsed().as_secs_f64());
    }
    assert!(asked > 0, "nothing is called {only:?}");
    assert!(wrong.is_empty(), "{} of {asked} differ: {wrong:?}", wrong.len());
    let log = both.0.ours.log();
    assert!(!log.contains("panicked"), "{log}");
}
