//! Prepared transactions on both servers: each server keeps those that the other has prepared, with
//! their locks, and commits or rolls them back; after a crash and after a clean shutdown, with the
//! state in the log and in a file.

use std::path::Path;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user, program, run};
use testkit::verify;

const SETTINGS: [&str; 2] = ["max_prepared_transactions=4", "autovacuum=off"];

enum Server {
    Ours(Norsu),
    Real(PostgresServer),
}

impl Server {
    fn start(ours: bool, data: &Path) -> Server {
        if ours {
            let options: Vec<&str> = SETTINGS.iter().flat_map(|s| ["-c", *s]).collect();
            Server::Ours(Norsu::start(data, &options))
        } else {
            Server::Real(PostgresServer::start_with(data, "postgres", &SETTINGS))
        }
    }

    fn connect(&self) -> Client {
        match self {
            Server::Ours(server) => server.connect("postgres"),
            Server::Real(server) => server.connect("postgres"),
        }
    }

    fn end(self, crash: bool, data: &Path) {
        match (self, crash) {
            (Server::Ours(mut server), true) => server.kill(),
            (Server::Ours(server), false) => drop(server.stop(data)),
            (Server::Real(server), true) => server.crash(),
            (Server::Real(server), false) => drop(server),
        }
    }
}

const TABLES: &[&str] = &[
    "CREATE TABLE t (id int PRIMARY KEY, v text)",
    "INSERT INTO t SELECT g, 'v' || g FROM generate_series(1, 1000) g",
    "CREATE TABLE dropped AS SELECT * FROM t",
    "CREATE TABLE emptied AS SELECT * FROM t",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
];

/// Three transactions; the second has more subtransactions than a snapshot lists.
fn prepare(client: &mut Client) {
    let mut must = |sql: &str| drop(client.must(sql));
    must("BEGIN");
    must("UPDATE t SET v = 'first' WHERE id <= 100");
    must("DROP TABLE dropped");
    must("CREATE TABLE made (id int PRIMARY KEY, big text)");
    must("INSERT INTO made SELECT g, repeat('x', 3000) FROM generate_series(1, 50) g");
    must("CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2'");
    must("PREPARE TRANSACTION 'commit it'");
    must("BEGIN");
    for i in 0..70 {
        must("SAVEPOINT s");
        must(&format!("DELETE FROM t WHERE id = {}", 101 + i));
        if i % 10 != 9 {
            must("RELEASE s");
        }
    }
    must("TRUNCATE emptied");
    must("ALTER TABLE emptied ADD COLUMN w int");
    must("PREPARE TRANSACTION 'roll it back'");
    must("BEGIN");
    must("SELECT id FROM t WHERE id = 500 FOR SHARE");
    must("SELECT pg_advisory_xact_lock(1, 2)");
    must("PREPARE TRANSACTION 'shared'");
}

/// What sessions see while all three are prepared.
fn check_prepared(client: &mut Client) {
    let gids = client.rows("SELECT gid FROM pg_prepared_xacts ORDER BY gid");
    assert_eq!(gids, ["commit it", "roll it back", "shared"]);
    assert_eq!(client.value("SELECT count(*) FROM t WHERE v LIKE 'v%'"), "1000");
    assert_eq!(client.value("SELECT f()"), "1");
    let held = [
        "SELECT id FROM t WHERE id = 1 FOR UPDATE NOWAIT",
        "SELECT id FROM t WHERE id = 150 FOR UPDATE NOWAIT",
        "SELECT id FROM t WHERE id = 500 FOR UPDATE NOWAIT",
        "LOCK TABLE dropped IN ACCESS SHARE MODE NOWAIT",
        "LOCK TABLE emptied IN ACCESS SHARE MODE NOWAIT",
    ];
    for sql in held {
        client.must("BEGIN");
        let reply = client.query(sql).expect("an answer");
        assert_eq!(reply.code(), "55P03", "{sql}");
        client.must("ROLLBACK");
    }
    // A shared row lock is compatible; together they make a multixact.
    client.must("BEGIN; SELECT id FROM t WHERE id = 500 FOR SHARE NOWAIT; COMMIT");
    assert_eq!(client.value("SELECT pg_try_advisory_lock(1, 2)"), "f");
    client.must("VACUUM t");
}

fn finish(client: &mut Client) {
    client.must("COMMIT PREPARED 'commit it'");
    client.must("ROLLBACK PREPARED 'roll it back'");
    client.must("COMMIT PREPARED 'shared'");
}

fn check_finished(client: &mut Client) {
    let all = "SELECT concat_ws(' ', (SELECT count(*) FROM t), \
        (SELECT count(*) FROM t WHERE v = 'first'), to_regclass('dropped') IS NULL, \
        (SELECT sum(length(big)) FROM made), f(), (SELECT count(*) FROM emptied), \
        (SELECT count(*) FROM pg_attribute WHERE attrelid = 'emptied'::regclass AND attnum > 0), \
        (SELECT count(*) FROM pg_prepared_xacts), \
        (SELECT count(*) FROM pg_locks WHERE pid IS NULL))";
    assert_eq!(client.value(all), "1000 100 t 150000 2 1000 2 0 0");
    client.must("SELECT id FROM t WHERE id IN (1, 150, 500) FOR UPDATE NOWAIT");
    client.must("UPDATE t SET v = 'v' WHERE id > 900");
}

/// One server prepares, another one finishes, and the first one reads.
fn hand_over(ours_prepares: bool, crash: bool, checkpoint: bool) {
    let what = format!("ours prepares {ours_prepares}, crash {crash}, checkpoint {checkpoint}");
    println!("{what}");
    let dir = TempDir::new("twophase");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    match ours_prepares {
        true => norsu::init_with(&data, &["--locale=C"]),
        false => postgres::init_with(&data, &["--locale=C", "-k"]),
    }
    let files = || std::fs::read_dir(data.join("pg_twophase")).expect("a directory").count();
    let server = Server::start(ours_prepares, &data);
    let mut client = server.connect();
    TABLES.iter().for_each(|sql| drop(client.must(sql)));
    client.must("CHECKPOINT");
    prepare(&mut client);
    assert_eq!(files(), 0);
    if checkpoint {
        client.must("CHECKPOINT");
        assert_eq!(files(), 3);
    }
    check_prepared(&mut client);
    drop(client);
    server.end(crash, &data);
    assert_eq!(files(), if crash && !checkpoint { 0 } else { 3 });
    // Twice the other server, with a crash between.
    let server = Server::start(!ours_prepares, &data);
    check_prepared(&mut server.connect());
    server.end(true, &data);
    let server = Server::start(!ours_prepares, &data);
    let mut client = server.connect();
    check_prepared(&mut client);
    finish(&mut client);
    check_finished(&mut client);
    drop(client);
    server.end(crash, &data);
    let server = Server::start(ours_prepares, &data);
    check_finished(&mut server.connect());
    server.end(false, &data);
    assert_eq!(files(), 0);
    let server = PostgresServer::start_with(&data, "postgres", &SETTINGS);
    verify::check(&server);
}

#[test]
fn postgres_finishes_what_norsu_has_prepared() {
    [(true, false), (true, true), (false, false)]
        .into_iter()
        .for_each(|(crash, checkpoint)| hand_over(true, crash, checkpoint));
}

#[test]
fn norsu_finishes_what_postgres_has_prepared() {
    [(true, false), (true, true), (false, false)]
        .into_iter()
        .for_each(|(crash, checkpoint)| hand_over(false, crash, checkpoint));
}

/// The records of Norsu, as PostgreSQL's program prints them, and Norsu's own text.
#[test]
fn records_of_prepared_transactions_are_read_by_pg_waldump() {
    let dir = TempDir::new("twophaselog");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let server = Server::start(true, &data);
    let mut client = server.connect();
    TABLES.iter().for_each(|sql| drop(client.must(sql)));
    let from = client.value("SELECT pg_current_wal_lsn()");
    prepare(&mut client);
    finish(&mut client);
    let to = client.value("SELECT pg_current_wal_lsn()");
    drop(client);
    server.end(false, &data);
    let segment = data.join("pg_wal");
    let mut dump = program("pg_waldump");
    dump.args(["-r", "Transaction", "-s", &from, "-e", &to, "-p"]).arg(&segment);
    let real = run(dump);
    let mut dump = postgres::command(&norsu::binary());
    dump.args(["waldump", "-r", "Transaction", "-s", &from, "-e", &to, "-p"]).arg(&segment);
    let ours = run(dump);
    assert_eq!(ours, real);
    let count = |name: &str| real.lines().filter(|l| l.contains(name)).count();
    assert_eq!([" PREPARE ", "COMMIT_PREPARED", "ABORT_PREPARED"].map(count), [3, 2, 1], "{real}");
    for part in ["gid commit it", "rels(commit): base/", "rels(abort): base/", "subxacts:"] {
        assert!(real.contains(part), "{part}: {real}");
    }
}
