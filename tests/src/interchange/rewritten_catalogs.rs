//! System catalogs that get new files while other sessions use them: sessions create, change and
//! drop objects, others connect, and others run REINDEX, CLUSTER and VACUUM FULL of catalogs. Then
//! PostgreSQL checks the directory and uses it.

use super::bank::check_with_postgresql_programs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user};
use testkit::verify::checksums;

/// Each as its own transaction; the last ones rewrite shared catalogs.
const REWRITES: [&str; 16] = [
    "VACUUM FULL pg_class",
    "REINDEX INDEX pg_class_oid_index",
    "BEGIN; REINDEX TABLE pg_attribute; CREATE TABLE made (id int); DROP TABLE made; COMMIT",
    "VACUUM FULL pg_attribute",
    "CLUSTER pg_type USING pg_type_typname_nsp_index",
    "REINDEX TABLE pg_class",
    "VACUUM FULL pg_index",
    "VACUUM FULL pg_depend",
    "REINDEX TABLE pg_proc",
    "BEGIN; REINDEX TABLE pg_class; CREATE TABLE undone (id int); ROLLBACK",
    "BEGIN; CLUSTER pg_class USING pg_class_oid_index; ALTER TABLE fixed ADD c int; ROLLBACK",
    "VACUUM FULL pg_constraint",
    "REINDEX INDEX pg_toast.pg_toast_2604_index",
    "VACUUM FULL pg_authid",
    "REINDEX TABLE pg_database",
    "VACUUM FULL pg_shdepend",
];

/// Runs statements; a deadlock rolls them back and they are repeated. Concurrent locks of several
/// catalogs are in no fixed order, in PostgreSQL neither.
fn repeat(client: &mut Client, sql: &str, deadlocks: &AtomicUsize) {
    loop {
        let reply = client.query(sql).expect("the server answers");
        match reply.code() {
            "" => return,
            "40P01" => {
                deadlocks.fetch_add(1, Ordering::Relaxed);
                client.must("ROLLBACK");
            }
            code => panic!("{sql}: {code} {reply:?}"),
        }
    }
}

/// Creates, changes and drops objects; the statements of a transaction depend on each other.
fn change(client: &mut Client, session: usize, n: usize, deadlocks: &AtomicUsize) {
    let t = format!("t{session}_{n}");
    for sql in [
        format!(
            "BEGIN; CREATE TABLE {t} (id int PRIMARY KEY, t text DEFAULT 'x'); INSERT INTO {t} \
             SELECT generate_series(1, 20); COMMIT"
        ),
        format!("ALTER TABLE {t} ADD COLUMN n int CHECK (n > 0); CREATE INDEX {t}_n ON {t} (n, t)"),
        format!(
            "BEGIN; ALTER TABLE {t} RENAME t TO tt; SAVEPOINT s; DROP INDEX {t}_n; \
                 ROLLBACK TO s; COMMENT ON TABLE {t} IS 'c'; COMMIT"
        ),
        format!("GRANT SELECT ON {t} TO public; ANALYZE {t}"),
    ] {
        repeat(client, &sql, deadlocks);
    }
    let sum = client.value(&format!("SELECT count(tt) || ' ' || sum(id) FROM {t} WHERE n IS NULL"));
    assert_eq!(sum, "20 210");
    if !n.is_multiple_of(3) {
        repeat(client, &format!("DROP TABLE {t}"), deadlocks);
    }
}

#[test]
fn catalogs_are_rewritten_while_others_use_them() {
    const SESSIONS: usize = 3;
    const CHANGES: usize = 9;
    let dir = TempDir::new("catalogs");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "-k"]);
    let server = Norsu::start(&data, &["-c", "fsync=off", "-c", "deadlock_timeout=100ms"]);
    server.connect("postgres").must("CREATE TABLE fixed (a int, b int); CREATE ROLE visitor");
    let (deadlocks, working) = (AtomicUsize::new(0), AtomicUsize::new(SESSIONS));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for session in 0..SESSIONS {
            let (server, deadlocks, working) = (&server, &deadlocks, &working);
            scope.spawn(move || {
                let mut client = server.connect("postgres");
                for n in 0..CHANGES {
                    change(&mut client, session, n, deadlocks);
                }
                working.fetch_sub(1, Ordering::SeqCst);
            });
        }
        let (server, deadlocks, working, stop) = (&server, &deadlocks, &working, &stop);
        // Connections read the shared catalogs.
        scope.spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                let mut client = server.connect("template1");
                let names = client.value("SELECT count(*) FROM pg_roles WHERE rolname = 'visitor'");
                assert_eq!(names, "1");
            }
        });
        for first in [0, 7] {
            scope.spawn(move || {
                let mut client = server.connect("postgres");
                let mut next = first;
                // Each statement runs at least once while there are others.
                while next < first + REWRITES.len() || working.load(Ordering::SeqCst) > 0 {
                    repeat(&mut client, REWRITES[next % REWRITES.len()], deadlocks);
                    next += 1;
                }
                stop.store(true, Ordering::SeqCst);
            });
        }
    });
    println!("{} deadlocks", deadlocks.load(Ordering::Relaxed));
    let query =
        "SELECT count(*), count(DISTINCT relname) FROM pg_class WHERE relname ~ '^t\\d_\\d'";
    let ours = server.query(query);
    assert!(ours.starts_with(&(3 * CHANGES).to_string()), "{ours}");
    server.query("REINDEX SYSTEM postgres");
    server.query("VACUUM FULL");
    server.stop(&data);
    checksums(&data);
    let server = PostgresServer::start(&data, "postgres");
    check_with_postgresql_programs(&server);
    assert_eq!(
        server.query("postgres", query).trim().replace('|', " "),
        ours.trim().replace('|', " ")
    );
    server.query("postgres", "REINDEX SYSTEM postgres");
    server.query("postgres", "VACUUM FULL pg_class");
    drop(server);
    let server = Norsu::start(&data, &["-c", "fsync=off"]);
    assert_eq!(server.query(query), ours);
    server.stop(&data);
}
