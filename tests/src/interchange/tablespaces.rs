//! Tablespaces: tables, indexes, TOAST tables and whole databases in them are used by both servers
//! in turn, after a clean shutdown and after a crash.

use std::path::{Path, PathBuf};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user, run};
use testkit::verify;

const SETTINGS: [&str; 3] =
    ["autovacuum=off", "wal_consistency_checking=all", "allow_in_place_tablespaces=off"];

/// A server of either kind.
enum Server {
    Ours(Norsu),
    Real(PostgresServer),
}

impl Server {
    fn start(data: &Path, ours: bool) -> Server {
        if ours {
            chown_to_server_user(data);
            let settings = ["-c", "wal_consistency_checking=all"];
            return Server::Ours(Norsu::start(data, &settings));
        }
        Server::Real(PostgresServer::start_with(data, "postgres", &SETTINGS))
    }

    fn connect(&self, database: &str) -> Client {
        match self {
            Server::Ours(s) => s.connect(database),
            Server::Real(s) => s.connect(database),
        }
    }

    fn end(self, data: &Path, crash: bool) {
        match (self, crash) {
            (Server::Ours(mut s), true) => s.kill(),
            (Server::Ours(s), false) => drop(s.stop(data)),
            (Server::Real(s), true) => s.crash(),
            (Server::Real(s), false) => drop(s),
        }
    }
}

/// Creates more objects of each kind in the tablespaces, before the crash.
fn work(server: &Server, round: usize, places: &[PathBuf]) {
    let mut client = server.connect("postgres");
    if round == 0 {
        for (n, place) in places[..2].iter().enumerate() {
            client.must(&format!("CREATE TABLESPACE s{n} LOCATION '{}'", place.display()));
        }
        client.must("ALTER TABLESPACE s0 SET (random_page_cost = 1.5)");
        client.must(
            "CREATE TABLE everywhere (id int PRIMARY KEY \
             USING INDEX TABLESPACE s1, t text) TABLESPACE s0",
        );
        client.must("CREATE UNLOGGED TABLE fleeting (id int) TABLESPACE s1");
        client.must("CREATE TABLE total (id int)");
    }
    client.must("CHECKPOINT");
    client.must(&format!("CREATE TABLE t{round} (id int, t text) TABLESPACE s{}", round % 2));
    client.must(&format!("CREATE INDEX i{round} ON t{round} (id) TABLESPACE s{}", (round + 1) % 2));
    // Long values are stored in the TOAST table, which is in the tablespace of its table.
    client.must(&format!(
        "INSERT INTO t{round} SELECT g, (SELECT string_agg(md5(g::text || h), '') \
         FROM generate_series(1, 300) h) \
         FROM generate_series(1, 30) g"
    ));
    client.must(&format!(
        "INSERT INTO everywhere SELECT g, 'row ' || g FROM generate_series({0}, {0} + 99) g",
        round * 100
    ));
    client.must(&format!("INSERT INTO fleeting VALUES ({round})"));
    client.must("ALTER TABLE total SET TABLESPACE s1; INSERT INTO total VALUES (1)");
    client.must("ALTER TABLE total SET TABLESPACE pg_default");
    if round > 0 {
        let last = round - 1;
        client.must(&format!("ALTER TABLE t{last} SET TABLESPACE pg_default"));
        client.must(&format!("DROP DATABASE d{last}"));
    }
    client.must(&format!("CREATE DATABASE d{round} TABLESPACE s{}", round % 2));
    client.must("DROP TABLESPACE IF EXISTS passing");
    client.must(&format!("CREATE TABLESPACE passing LOCATION '{}'", places[2].display()));
    let mut inside = server.connect(&format!("d{round}"));
    inside.must("CREATE TABLE t (id int PRIMARY KEY, t text)");
    inside.must("INSERT INTO t SELECT g, 'inside ' || g FROM generate_series(1, 200) g");
    inside.must(
        "CREATE TABLE outside (id int) TABLESPACE pg_default; INSERT INTO outside VALUES (7)",
    );
    // A transaction in progress at the end.
    inside.must("BEGIN; DELETE FROM t");
    std::mem::forget(inside);
}

fn verify(server: &Server, round: usize, crashed: bool) {
    let mut client = server.connect("postgres");
    let rows = (round + 1) * 100;
    assert_eq!(
        client.value("SELECT count(*), max(id) FROM everywhere"),
        format!("{rows}|{}", rows - 1)
    );
    let by_index =
        format!("SET enable_seqscan = off; SELECT t FROM everywhere WHERE id = {}", rows - 1);
    assert_eq!(client.value(&by_index), format!("row {}", rows - 1));
    let fleeting = if crashed { 0 } else { 1 };
    assert!(
        client
            .value("SELECT count(*) FROM fleeting")
            .parse::<usize>()
            .is_ok_and(|n| n >= fleeting && (n == 0) == crashed)
    );
    let sums = "SELECT count(*), sum(length(t)), min(md5(t)) FROM t";
    let first = client.value(&format!("{sums}0"));
    assert!(first.starts_with("30|288000|"), "{first}");
    for table in 1..=round {
        assert_eq!(client.value(&format!("{sums}{table}")), first);
    }
    assert_eq!(client.value("SELECT count(*) FROM total"), (round + 1).to_string());
    let spaces = "SELECT string_agg(spcname || coalesce(spcoptions::text, ''), ' ' ORDER BY oid) \
                  FROM pg_tablespace";
    assert_eq!(client.value(spaces), "pg_default pg_global s0{random_page_cost=1.5} s1 passing");
    let mut inside = server.connect(&format!("d{round}"));
    assert_eq!(inside.value("SELECT count(*), min(t) FROM t"), "200|inside 1");
    assert_eq!(inside.value("SELECT id FROM outside"), "7");
}

fn cross(made_by_us: bool) {
    let dir = TempDir::new("tablespaces");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    match made_by_us {
        true => norsu::init_with(&data, &["--locale=C", "--wal-segsize=1"]),
        false => postgres::init_with(&data, &["--locale=C", "-k", "--wal-segsize=1"]),
    }
    let places = ["one", "two words", "three"].map(|name| dir.path().join(name));
    for place in &places {
        std::fs::create_dir(place).expect("a new directory");
    }
    chown_to_server_user(dir.path());
    let mut ours = made_by_us;
    // Each server ends in both ways before the other one starts.
    for (round, crash) in [true, false, false, true, true].into_iter().enumerate() {
        let server = Server::start(&data, ours);
        work(&server, round, &places);
        server.end(&data, crash);
        ours = !ours;
        let server = Server::start(&data, ours);
        verify(&server, round, crash);
        server.end(&data, false);
    }
    let server = PostgresServer::start_with(&data, "postgres", &SETTINGS);
    verify::check(&server);
    let dump = run(server.client("pg_dumpall"));
    assert!(dump.contains("CREATE TABLESPACE s0") && dump.contains("TABLESPACE = s0"), "{dump}");
    drop(server);
    verify::checksums(&data);
}

#[test]
fn tablespaces_of_norsu_are_used_by_postgres() {
    cross(true);
}

#[test]
fn tablespaces_of_postgres_are_used_by_norsu() {
    cross(false);
}
