//! Both servers work on one data directory in turn and end by a crash, so that each must recover
//! from the other's log.

use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user};
use testkit::verify;
use vfs::SeededRandom;

/// Runs one SQL text.
pub(super) type Execute<'a> = &'a mut dyn FnMut(&str);
/// Runs one query and returns its rows as psql prints them.
pub(super) type Query<'a> = &'a mut dyn FnMut(&str) -> String;

/// A workload, half of whose rounds Norsu runs.
pub(super) struct Rounds {
    /// The directory's name.
    pub(super) name: &'static str,
    pub(super) seed: u64,
    /// The resource manager whose records are checked.
    pub(super) manager: &'static str,
    /// Creates the tables.
    pub(super) tables: &'static str,
    /// An unlogged table, which is empty after each crash.
    pub(super) unlogged: Option<&'static str>,
    /// What PostgreSQL runs in the middle of its rounds.
    pub(super) checkpoint: &'static str,
    /// So many random statements.
    pub(super) work: fn(&SeededRandom, u64, Execute<'_>),
    /// Compares index scans with sequential scans.
    pub(super) check: fn(Query<'_>),
}

/// Runs eight rounds, and verifies the directory with PostgreSQL's tools at the end.
pub(super) fn recover_in_turn(rounds: &Rounds) {
    let dir = TempDir::new(rounds.name);
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let random = SeededRandom::new(rounds.seed);
    let (work, check) = (rounds.work, rounds.check);
    let check_unlogged = |query: Query<'_>| {
        if let Some(table) = rounds.unlogged {
            assert_eq!(query(&format!("SELECT count(*) FROM {table}")).trim(), "0");
        }
    };
    let consistency = format!("wal_consistency_checking={}", rounds.manager);
    for round in 0..8u64 {
        // Half of the rounds run with images for checking in every record, half with images
        // against torn pages.
        let settings = match round % 4 < 2 {
            true => [&*consistency, "full_page_writes=off", "autovacuum=off", "max_wal_size=1GB"],
            false => ["fsync=off", "full_page_writes=on", "autovacuum=off", "max_wal_size=1GB"],
        };
        if round % 2 == 0 {
            let options: Vec<&str> = settings[..2].iter().flat_map(|s| ["-c", *s]).collect();
            let mut server = Norsu::start(&data, &options);
            let mut client = server.connect("postgres");
            if round == 0 {
                client.must(rounds.tables);
            } else {
                check(&mut |sql| server.query(sql));
                check_unlogged(&mut |sql| server.query(sql));
            }
            work(&random, 25, &mut |sql| drop(client.must(sql)));
            client.must("CHECKPOINT");
            work(&random, 15, &mut |sql| drop(client.must(sql)));
            check(&mut |sql| server.query(sql));
            drop(client);
            server.kill();
        } else {
            let server = PostgresServer::start_with(&data, "postgres", &settings);
            check(&mut |sql| server.query("postgres", sql));
            check_unlogged(&mut |sql| server.query("postgres", sql));
            let mut client = server.connect("postgres");
            work(&random, 25, &mut |sql| drop(client.must(sql)));
            client.must(rounds.checkpoint);
            work(&random, 15, &mut |sql| drop(client.must(sql)));
            check(&mut |sql| server.query("postgres", sql));
            drop(client);
            server.crash();
        }
        chown_to_server_user(&data);
    }
    let server = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
    check(&mut |sql| server.query("postgres", sql));
    verify::check(&server);
}
