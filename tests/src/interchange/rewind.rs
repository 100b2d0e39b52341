//! `pg_rewind` on directories of Norsu: it searches the log for blocks that changed since the two
//! servers diverged and copies them from the other one, and PostgreSQL replays from there. The
//! diverging server is promoted by PostgreSQL, which begins a new timeline; Norsu continues on it
//! afterwards.

use std::path::Path;
use std::process::Command;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user, program, run};
use testkit::verify::{self, copy};

const SETTINGS: [&str; 1] = ["autovacuum=off"];

/// Changes of many kinds, marked with `tag`.
fn work(client: &mut Client, tag: &str) {
    client.must(&format!(
        "INSERT INTO t SELECT g, '{tag}' FROM generate_series(1000, 3000) g ON CONFLICT DO NOTHING"
    ));
    client.must(&format!("UPDATE t SET t = repeat('{tag}', 900) WHERE id % 50 = 0"));
    client.must("DELETE FROM t WHERE id % 7 = 0; SELECT nextval('s') FROM generate_series(1, 50)");
    client.must(&format!("CREATE TABLE of_{tag} AS SELECT g id FROM generate_series(1, 500) g"));
    client.must(&format!("CREATE INDEX ON of_{tag} (id); DROP TABLE IF EXISTS dropped"));
    client.must("VACUUM t");
    client.must("BEGIN; SAVEPOINT a; UPDATE t SET t = 'x'; ROLLBACK TO a; COMMIT");
    client.must("CHECKPOINT");
    client.must(&format!("UPDATE t SET t = '{tag} late' WHERE id BETWEEN 10 AND 20"));
    client.must("VACUUM FREEZE");
}

/// The lines of a dump without random keys, and without sequences, which replay may set to later
/// values.
fn dump(program: Command) -> Vec<String> {
    let text = run(program);
    let left_out = |line: &str| {
        line.starts_with("\\restrict")
            || line.starts_with("\\unrestrict")
            || line.starts_with("--")
            || line.contains("setval(")
    };
    text.lines().filter(|line| !left_out(line)).map(str::to_owned).collect()
}

/// Rewinds the target to the source. PostgreSQL then starts on it and has the source's contents.
fn rewind(target: &Path, source: &[&str], expected: &[String]) {
    let mut rewind = program("pg_rewind");
    rewind.args(["--no-sync", "-D"]).arg(target).args(source);
    run(rewind);
    // Because of the backup_label, PostgreSQL must replay first; then Norsu can start.
    let log = Norsu::try_start(target, &[]).err().expect("it must not come up");
    assert!(log.contains("backup_label"), "{log}");
    let server = PostgresServer::start_with(target, "postgres", &SETTINGS);
    let found = dump(server.client("pg_dumpall"));
    let differs = found.iter().zip(expected).find(|(found, expected)| found != expected);
    assert!(differs.is_none(), "{differs:?}");
    assert_eq!(found.len(), expected.len());
    verify::check(&server);
    drop(server);
    verify::checksums(target);
    let server = Norsu::start(target, &[]);
    assert_eq!(server.query("SELECT count(*), max(id) FROM t WHERE t LIKE '%late'").len(), 5);
    server.stop(target);
}

#[test]
fn directories_are_rewound_from_and_to_norsu() {
    let dir = TempDir::new("rewind");
    chown_to_server_user(dir.path());
    let [base, ahead, clean, crashed, theirs, again] =
        ["base", "ahead", "clean", "crashed", "theirs", "again"].map(|n| dir.path().join(n));
    norsu::init_with(&base, &["--locale=C", "--wal-segsize=1"]);
    // Both servers must keep the log since the divergence.
    let file = base.join("postgresql.conf");
    let text = std::fs::read_to_string(&file).expect("the settings");
    std::fs::write(&file, text + "wal_keep_size = 256MB\n").expect("room");
    let server = Norsu::start(&base, &[]);
    server.query(
        "CREATE TABLE t (id int PRIMARY KEY, t text); CREATE SEQUENCE s; \
         CREATE TABLE dropped (i int); \
         INSERT INTO t SELECT g, 'base' FROM generate_series(1, 999) g",
    );
    server.stop(&base);
    for other in [&ahead, &clean, &crashed, &theirs] {
        copy(&base, other);
    }
    // The diverging server, on a timeline of its own.
    std::fs::write(ahead.join("standby.signal"), "").expect("a new file");
    let server = PostgresServer::start_with(&ahead, "postgres", &SETTINGS);
    server.query("postgres", "SELECT pg_promote()");
    work(&mut server.connect("postgres"), "ahead");
    let expected = dump(server.client("pg_dumpall"));
    drop(server);

    // Directories of Norsu as targets.
    for target in [&clean, &crashed] {
        let mut server = Norsu::start(target, &[]);
        work(&mut server.connect("postgres"), "astray");
        if target == &clean {
            server.stop(target);
        } else {
            server.kill();
        }
        rewind(target, &["--source-pgdata", ahead.to_str().expect("plain names")], &expected);
    }

    // A directory of Norsu as the source, stopped and running; the target is PostgreSQL's.
    let server = PostgresServer::start_with(&theirs, "postgres", &SETTINGS);
    work(&mut server.connect("postgres"), "theirs");
    drop(server);
    copy(&theirs, &again);
    chown_to_server_user(&ahead);
    let server = Norsu::start(&ahead, &[]);
    work(&mut server.connect("postgres"), "further");
    let expected = dump(server.client("pg_dumpall"));
    let place = format!("host={} user=postgres dbname=postgres", server.sockets().display());
    rewind(&again, &["--source-server", &place], &expected);
    server.stop(&ahead);
    rewind(&theirs, &["--source-pgdata", ahead.to_str().expect("plain names")], &expected);
}
