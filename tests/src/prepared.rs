//! Two-phase commit on both servers: command tags, the transaction status in messages, databases
//! with prepared transactions, statistics, and damaged state files. Schedules with prepared
//! transactions are in `tests/sql/schedules-prepared.txt`.

use crate::pair::Pair;
use std::path::Path;
use testkit::client::{Client, Report};
use testkit::dir::TempDir;
use testkit::norsu::Norsu;
use testkit::postgres::{self, PostgresServer, chown_to_server_user};

fn error(report: &Report) -> String {
    let Report { code, message, detail, hint, .. } = report;
    format!("{code} {message} ({detail}) ({hint})")
}

/// Tags, rows, error and status after each statement.
fn transcript(client: &mut Client, statements: &[&str]) -> Vec<String> {
    let answer = |sql: &&str| {
        let reply = client.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let tags: Vec<_> = reply.answers.iter().map(|a| (&*a.tag, &a.rows)).collect();
        let notices: Vec<String> = reply.notices.iter().map(error).collect();
        let failed = reply.error.as_ref().map(error);
        format!("{sql}: {tags:?} {notices:?} {failed:?} {}", reply.status)
    };
    statements.iter().map(answer).collect()
}

fn compare(pair: &Pair, database: &str, statements: &[&str]) {
    let clients = [pair.ours.connect(database), pair.real.connect(database)];
    let [ours, real] = clients.map(|mut client| transcript(&mut client, statements));
    assert_eq!(ours, real);
}

#[test]
fn tags_and_states_are_those_of_postgres() {
    let pair = Pair::start_both("prepared", "C", &["max_prepared_transactions=2"]);
    let statements = [
        "COMMIT PREPARED 'x'",
        "PREPARE TRANSACTION 'x'",
        "BEGIN",
        "PREPARE TRANSACTION 'x'",
        "BEGIN",
        "SAVEPOINT a",
        "SELECT 1/0",
        "PREPARE TRANSACTION 'y'",
        "COMMIT PREPARED 'x'",
        "BEGIN; CREATE TABLE t (i int); PREPARE TRANSACTION 'x'",
        "SELECT 1; COMMIT PREPARED 'x'",
        "COMMIT PREPARED 'x'; SELECT 1",
        "ROLLBACK PREPARED 'x'",
        "SET default_transaction_read_only = on",
        "BEGIN",
        "PREPARE TRANSACTION 'ro'",
        "ROLLBACK PREPARED 'ro'",
        "RESET default_transaction_read_only",
        "DO $$ BEGIN COMMIT PREPARED 'x'; END $$",
        "CREATE FUNCTION p() RETURNS void LANGUAGE sql AS 'PREPARE TRANSACTION ''z'''",
        "SELECT * FROM pg_prepared_xact()",
    ];
    compare(&pair, "postgres", &statements);
}

#[test]
fn databases_with_prepared_transactions_are_in_use() {
    let pair = Pair::start_both("preparedbase", "C", &["max_prepared_transactions=2"]);
    compare(&pair, "postgres", &["CREATE DATABASE d"]);
    compare(&pair, "d", &["BEGIN", "CREATE TABLE t (i int)", "PREPARE TRANSACTION 'd1'"]);
    compare(
        &pair,
        "postgres",
        &[
            "SELECT gid, database, owner FROM pg_prepared_xacts",
            "COMMIT PREPARED 'd1'",
            "ROLLBACK PREPARED 'd1'",
            "DROP DATABASE d",
            "DROP DATABASE d WITH (FORCE)",
            "ALTER DATABASE d RENAME TO e",
            "CREATE DATABASE f TEMPLATE d",
        ],
    );
    compare(&pair, "d", &["ROLLBACK PREPARED 'd1'"]);
    compare(&pair, "postgres", &["DROP DATABASE d"]);
}

#[test]
fn prepared_transactions_are_disabled_by_default() {
    let pair = Pair::start("preparednone", "C", &[]);
    let statements = ["SHOW max_prepared_transactions", "BEGIN", "PREPARE TRANSACTION 'x'"];
    compare(&pair, "postgres", &statements);
    compare(&pair, "postgres", &["SELECT count(*) FROM pg_prepared_xacts"]);
}

#[test]
fn statistics_of_prepared_transactions_count_at_their_end() {
    let pair = Pair::start_both(
        "preparedstats",
        "C",
        &["max_prepared_transactions=2", "autovacuum=off", "stats_fetch_consistency=none"],
    );
    let counts = "SELECT n_tup_ins, n_tup_upd, n_tup_del, n_live_tup, n_dead_tup, \
        n_mod_since_analyze FROM pg_stat_user_tables WHERE relname = 't'";
    let flush = "SELECT pg_stat_force_next_flush()";
    compare(&pair, "postgres", &["CREATE TABLE t (i int)"]);
    for end in ["COMMIT PREPARED 'x'", "ROLLBACK PREPARED 'x'"] {
        compare(
            &pair,
            "postgres",
            &[
                "BEGIN",
                "INSERT INTO t SELECT generate_series(1, 10)",
                "UPDATE t SET i = i + 1 WHERE i > 5",
                "DELETE FROM t WHERE i < 3",
                flush,
                "PREPARE TRANSACTION 'x'",
                counts,
            ],
        );
        compare(&pair, "postgres", &[flush, end, counts]);
        compare(&pair, "postgres", &["BEGIN", "TRUNCATE t", "INSERT INTO t VALUES (1)"]);
        compare(
            &pair,
            "postgres",
            &["BEGIN", "TRUNCATE t", "INSERT INTO t VALUES (1)", "PREPARE TRANSACTION 'x'"],
        );
        compare(&pair, "postgres", &[flush, end, counts]);
        compare(&pair, "postgres", &[counts]);
    }
}

/// The messages of a server that does not start, or starts, on a directory with a damaged file.
fn damaged_start(ours: bool, data: &Path, settings: &[&str]) -> String {
    let options: Vec<&str> = settings.iter().flat_map(|s| ["-c", s]).collect();
    let log = if ours {
        Norsu::try_start(data, &options).err()
    } else {
        PostgresServer::try_start(data, "postgres", settings).err()
    };
    let log = log.unwrap_or_else(|| "started".to_owned());
    let lines = log.lines().filter_map(|l| {
        ["FATAL:  ", "HINT:  "]
            .iter()
            .find_map(|p| l.split_once(p).map(|(_, text)| format!("{p}{text}")))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn damaged_files_are_refused_as_by_postgres() {
    let dir = TempDir::new("preparedfile");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C"]);
    let enabled = ["max_prepared_transactions=1"];
    let server = PostgresServer::start_with(&data, "postgres", &enabled);
    let mut client = server.connect("postgres");
    ["BEGIN", "CREATE TABLE t (i int)", "PREPARE TRANSACTION 'x'"]
        .iter()
        .for_each(|sql| drop(client.must(sql)));
    drop(client);
    drop(server);
    let files = std::fs::read_dir(data.join("pg_twophase")).expect("a directory");
    let paths: Vec<_> = files.map(|f| f.expect("an entry").path()).collect();
    let [path] = &paths[..] else { panic!("{paths:?}") };
    let whole = std::fs::read(path).expect("a file");
    let damage: [&dyn Fn(&mut Vec<u8>); 7] = [
        &|b| b.truncate(50),
        &|b| b.truncate(0),
        &|b| b.truncate(b.len() - 1),
        &|b| b[0] ^= 1,
        &|b| b[4] ^= 8,
        &|b| b[80] ^= 1,
        &|b| b.truncate(b.len() - 8),
    ];
    for (n, change) in damage.iter().enumerate() {
        let mut bytes = whole.clone();
        change(&mut bytes);
        std::fs::write(path, bytes).expect("a file");
        let [ours, real] = [true, false].map(|ours| damaged_start(ours, &data, &enabled));
        assert_eq!(ours, real, "damage {n}");
        assert!(real.starts_with("FATAL:  "), "{real}");
    }
    std::fs::write(path, &whole).expect("a file");
    let disabled = ["max_prepared_transactions=0"];
    let [ours, real] = [true, false].map(|ours| damaged_start(ours, &data, &disabled));
    assert_eq!(ours, real);
    let server = Norsu::start(&data, &["-c", enabled[0]]);
    server.connect("postgres").must("COMMIT PREPARED 'x'");
    server.connect("postgres").must("SELECT * FROM t");
}
