//! `wal_level = minimal`: changes of relations that the transaction created are not logged row by
//! row. At commit their pages are synced or, if they are small (`wal_skip_threshold`), logged. They
//! survive a crash, also if PostgreSQL recovers the directory.

use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};
use testkit::verify::copy;

const SETTINGS: [&str; 5] = [
    "wal_level=minimal",
    "max_wal_senders=0",
    "autovacuum=off",
    "fsync=on",
    // Only the commit writes pages.
    "bgwriter_lru_maxpages=0",
];

const MADE: [&str; 12] = [
    "CREATE TABLE kept (a int PRIMARY KEY, b text)",
    "INSERT INTO kept SELECT g, 'old ' || g FROM generate_series(1, 500) g",
    "CHECKPOINT",
    "BEGIN; CREATE TABLE made AS SELECT g AS a, repeat('x', 90) || g AS b \
     FROM generate_series(1, 3000) g; \
     CREATE INDEX ON made (a); UPDATE made SET b = 'new' WHERE a % 10 = 0; \
     DELETE FROM made WHERE a % 10 = 1; COMMIT",
    "INSERT INTO made SELECT g, 'later' FROM generate_series(5000, 5100) g",
    "BEGIN; TRUNCATE kept; INSERT INTO kept SELECT g, repeat('y', 3000) || g \
     FROM generate_series(1, 300) g; \
     SAVEPOINT s; INSERT INTO kept SELECT g, 'gone' FROM generate_series(1000, 1200) g; \
     CREATE TABLE gone AS SELECT 1; ROLLBACK TO s; UPDATE kept SET b = 'moved' WHERE a = 7; COMMIT",
    "BEGIN; TRUNCATE made; ROLLBACK",
    "BEGIN; CREATE TABLE counted (a serial PRIMARY KEY, b text); \
     ALTER TABLE counted ALTER b SET STORAGE EXTERNAL; \
     INSERT INTO counted (b) SELECT repeat('z', 5000) FROM generate_series(1, 20); COMMIT",
    "INSERT INTO counted (b) VALUES ('after')",
    "BEGIN; CREATE TABLE empty (a int PRIMARY KEY); COMMIT",
    "ALTER TABLE made ALTER a TYPE bigint",
    "BEGIN; CREATE TABLE dropped AS SELECT 1 AS a; DROP TABLE dropped; COMMIT",
];

const SEEN: [&str; 9] = [
    "SELECT count(*), sum(a), md5(string_agg(b, ',' ORDER BY a)) FROM made",
    "SELECT count(*), sum(a), md5(string_agg(b, ',' ORDER BY a)) FROM kept",
    "SELECT count(*), sum(a), md5(string_agg(b, ',' ORDER BY a)) FROM counted",
    "SELECT nextval('counted_a_seq') > 21, count(*) FROM empty",
    "SET enable_seqscan = off",
    "SELECT count(*), sum(a) FROM made WHERE a BETWEEN 5 AND 5050",
    "SELECT count(*), min(b) FROM kept WHERE a BETWEEN 5 AND 10",
    "SELECT count(*), sum(length(b)) FROM counted WHERE a > 3",
    "SELECT relname FROM pg_class WHERE relname IN ('gone', 'dropped')",
];

fn seen(mut client: Client) -> Vec<Vec<String>> {
    SEEN.iter().map(|sql| client.rows(sql)).collect()
}

#[test]
fn new_tables_that_are_not_logged_survive_a_crash() {
    for threshold in ["0", "64kB", "1GB"] {
        let dir = TempDir::new("minimal");
        chown_to_server_user(dir.path());
        let [ours, real, duplicate] =
            ["ours", "real", "duplicate"].map(|name| dir.path().join(name));
        norsu::init_with(&ours, &["--locale=C"]);
        postgres::init_with(&real, &["--locale=C", "-k"]);
        let threshold = format!("wal_skip_threshold={threshold}");
        let mut settings = SETTINGS.to_vec();
        settings.push(&threshold);
        let options: Vec<&str> = settings.iter().flat_map(|s| ["-c", s]).collect();
        let theirs = PostgresServer::start_with(&real, "postgres", &settings);
        let mut mine = Norsu::start(&ours, &options);
        let mut sessions = [mine.connect("postgres"), theirs.connect("postgres")];
        for session in &mut sessions {
            MADE.iter().for_each(|sql| drop(session.must(sql)));
        }
        drop(sessions);
        mine.kill();
        theirs.crash();
        copy(&ours, &duplicate);
        let expected = {
            let server = PostgresServer::start_with(&real, "postgres", &settings);
            seen(server.connect("postgres"))
        };
        let after = seen(Norsu::start(&ours, &options).connect("postgres"));
        assert_eq!(after, expected, "{threshold}");
        let taken_over = PostgresServer::start_with(&duplicate, "postgres", &settings);
        assert_eq!(seen(taken_over.connect("postgres")), expected, "{threshold}");
    }
}

/// Number of bytes of WAL for a table of about 8 MB with an index.
fn bytes(client: &mut Client, threshold: &str) -> f64 {
    const INSERT: &str = "SELECT pg_current_wal_insert_lsn() - '0/0'";
    client.must("DROP TABLE IF EXISTS t");
    client.must(&format!("SET wal_skip_threshold = '{threshold}'"));
    let before: f64 = client.value(INSERT).parse().expect("a number");
    client.must(
        "BEGIN; CREATE TABLE t AS SELECT g AS a, repeat('x', 100) AS b \
         FROM generate_series(1, 50000) g; \
         CREATE INDEX ON t (a); COMMIT",
    );
    client.value(INSERT).parse::<f64>().expect("a number") - before
}

#[test]
fn new_tables_are_logged_only_if_they_are_small() {
    let dir = TempDir::new("minimal");
    chown_to_server_user(dir.path());
    let [ours, real] = ["ours", "real"].map(|name| dir.path().join(name));
    norsu::init_with(&ours, &["--locale=C"]);
    postgres::init_with(&real, &["--locale=C", "-k"]);
    let options: Vec<&str> = SETTINGS.iter().flat_map(|s| ["-c", s]).collect();
    let ours = Norsu::start(&ours, &options);
    let real = PostgresServer::start_with(&real, "postgres", &SETTINGS);
    let mut sessions = [ours.connect("postgres"), real.connect("postgres")];
    // The first transaction logs images of catalog pages.
    for session in &mut sessions {
        bytes(session, "0");
    }
    for (threshold, least, most) in [("0", 0.0, 1e5), ("1GB", 8e6, 9e6)] {
        let [mine, theirs] = sessions.each_mut().map(|s| bytes(s, threshold));
        println!("{threshold}: {mine} {theirs}");
        assert!((least..most).contains(&theirs), "{theirs}");
        assert!((least..most).contains(&mine) && mine <= theirs * 1.02, "{mine} {theirs}");
    }
}
