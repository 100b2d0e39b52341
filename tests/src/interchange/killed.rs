//! Indexes of a server that is killed while many sessions change them.

use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user};
use vfs::SeededRandom;

/// A test of one kind of index.
pub(super) struct KillTest {
    pub name: &'static str,
    /// Creates the tables and their indexes.
    pub tables: &'static str,
    /// Number of kills in the short form; the long form has 60.
    pub rounds: u64,
    /// Changes the tables, with this seed, until the server is gone.
    pub load: fn(Client, u64),
    /// Compares the indexes with their tables.
    pub check: fn(&mut dyn FnMut(&str) -> String),
}

impl KillTest {
    /// Kills the server in the middle of the changes of 16 sessions, starts it again and checks the
    /// indexes, several times; at the end PostgreSQL checks them.
    pub(super) fn run(&self) {
        let KillTest { name, tables, rounds, load, check } = *self;
        let long = std::env::var_os("NORSU_TEST_LONG").is_some();
        let dir = TempDir::new(name);
        chown_to_server_user(dir.path());
        let data = dir.path().join("data");
        norsu::init(&data);
        let options = ["-c", "max_wal_size=32MB", "-c", "shared_buffers=4MB"];
        let mut server = Norsu::start(&data, &options);
        server.query(tables);
        let random = SeededRandom::new(3);
        for round in 0..if long { 60 } else { rounds } {
            let sessions: Vec<_> = (0..16)
                .map(|n| {
                    let mut client = server.connect("postgres");
                    client.must("SET enable_seqscan = off");
                    std::thread::spawn(move || load(client, round * 100 + n))
                })
                .collect();
            let inserted = |server: &Norsu| -> u64 {
                let position = server.query("SELECT pg_current_wal_insert_lsn() - '0/0'");
                position.parse().expect("a number")
            };
            let target = inserted(&server) + 400_000 + random.below(2_000_000);
            while inserted(&server) < target {
                if random.below(4) == 0 {
                    server.query("CHECKPOINT");
                }
            }
            server.kill();
            sessions.into_iter().for_each(|session| session.join().expect("a session failed"));
            server = Norsu::start(&data, &options);
            check(&mut |sql| server.query(sql));
        }
        let log = server.stop(&data);
        assert!(!log.contains("PANIC") && !log.contains("ERROR"), "{log}");
        let real = PostgresServer::start(&data, "postgres");
        check(&mut |sql| real.query("postgres", sql));
    }
}
