//! A hot standby of PostgreSQL that replays Norsu's log while it runs queries. It compares each
//! page with the full-page image in the record.

use super::fault_injection;
use crate::script::{Script, StepResult};
use std::path::Path;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::chown_to_server_user;
use testkit::verify::Standby;
use vfs::SeededRandom;

const SETTINGS: [&str; 4] = [
    "wal_consistency_checking=all",
    "full_page_writes=off",
    "wal_keep_size=256MB",
    "autovacuum=off",
];

/// A Norsu server, and a standby that was started from a copy of its new cluster.
struct Followed {
    standby: Standby,
    ours: Norsu,
    data: std::path::PathBuf,
    _dir: TempDir,
}

fn start(setup: &str) -> Followed {
    start_with(&SETTINGS, setup)
}

fn start_with(settings: &[&str], setup: &str) -> Followed {
    let dir = TempDir::new("standby");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--wal-segsize=1"]);
    let options: Vec<&str> = settings.iter().flat_map(|s| ["-c", *s]).collect();
    let ours = Norsu::start(&data, &options);
    ours.query(setup);
    ours.stop(&data);
    let standby = Standby::start(&data, dir.path(), &["max_standby_archive_delay=0"]);
    Followed { standby, ours: Norsu::start(&data, &options), data, _dir: dir }
}

impl Followed {
    /// True if the session's transaction was cancelled because of a recovery conflict. An idle
    /// session then also loses its connection.
    fn is_refused(&self, reader: &mut Client) -> bool {
        let before = self.standby.server.log().matches("due to conflict with recovery").count();
        match reader.query("SELECT count(*) FROM b") {
            Ok(reply) => reply.code() == "40001",
            Err(_) => before > 0,
        }
    }

    /// Waits until the standby has replayed all records written so far.
    fn catch_up(&self) {
        follow(&mut self.ours.connect("postgres"), &self.standby, &self.data);
    }
}

fn follow(client: &mut Client, standby: &Standby, data: &Path) {
    let lsn = client.value("SELECT pg_switch_wal()");
    // Forces a segment switch, so that the current segment can be archived.
    client.must("SELECT txid_current()");
    let current = client.value("SELECT pg_walfile_name(pg_current_wal_insert_lsn())");
    standby.archive_and_replay(&data.join("pg_wal"), &current, &lsn);
}

#[test]
fn a_standby_shows_what_norsu_committed() {
    let f = start("SELECT 1");
    let random = SeededRandom::new(77);
    let mut script = Script::new(false);
    // PostgreSQL's consistency check reports a page that is zero because its file was truncated and
    // extended again.
    script.keep_length = true;
    let mut clients: Vec<Client> = (0..3).map(|_| f.ours.connect("postgres")).collect();
    script.start(&mut clients).unwrap();
    let rounds = if std::env::var_os("NORSU_TEST_LONG").is_some() { 60 } else { 4 };
    for round in 0..rounds {
        for _ in 0..80 {
            let stepped = if random.below(40) == 0 {
                clients[0].must("CHECKPOINT");
                StepResult::Nothing
            } else {
                script.step(&mut clients, &random).unwrap()
            };
            script.settle(stepped);
        }
        script.every_kind(&mut clients).unwrap();
        follow(&mut clients[0], &f.standby, &f.data);
        script
            .verify_standby(&mut f.standby.connect())
            .unwrap_or_else(|e| panic!("round {round}: {e}\n{}", script.history()));
    }
    let log = f.standby.server.log();
    for bad in ["PANIC", "WARNING", "inconsistent"] {
        assert!(!log.contains(bad), "{log}");
    }
}

/// Exclusive locks that queries on a standby must respect, and recovery conflicts by vacuum.
#[test]
fn a_standby_replays_locks_and_conflicts() {
    let f = start(
        "CREATE TABLE a (id int PRIMARY KEY, v text); CREATE TABLE b (id int PRIMARY KEY, v text); \
         INSERT INTO a SELECT g, 'x' FROM generate_series(1, 500) g; \
         INSERT INTO b SELECT g, 'x' FROM generate_series(1, 500) g;",
    );
    let mut change = f.ours.connect("postgres");
    let mut reader = f.standby.connect();
    assert_eq!(reader.value("SELECT count(*) FROM a"), "500");

    change.must("BEGIN; ALTER TABLE a ADD COLUMN w int DEFAULT 7; INSERT INTO b VALUES (501, 'y')");
    f.catch_up();
    let locks = "SELECT mode FROM pg_locks WHERE relation = 'a'::regclass";
    assert_eq!(reader.rows(locks), ["AccessExclusiveLock"]);
    let reply = reader.query("SET lock_timeout = '100ms'; SELECT * FROM a").unwrap();
    assert_eq!(reply.code(), "55P03");
    assert_eq!(reader.value("SELECT count(*) FROM b"), "500");
    change.must("COMMIT");
    f.catch_up();
    assert_eq!(reader.value("SELECT count(*) FROM pg_locks WHERE relation = 'a'::regclass"), "0");
    assert_eq!(reader.value("SELECT sum(w) FROM a"), "3500");
    assert_eq!(reader.value("SELECT count(*) FROM b"), "501");

    // Each of these removes rows that are visible to an older snapshot.
    for (removal, clean) in [
        ("DELETE FROM b WHERE id = 1", "VACUUM b"),
        // Pruned by a read.
        ("UPDATE b SET v = 'z' WHERE id = 2; UPDATE b SET v = 'zz' WHERE id = 2", "VACUUM b"),
        ("UPDATE b SET v = v || 'q' WHERE id < 9", "VACUUM (FREEZE) b"),
    ] {
        reader.must("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM b");
        change.must(removal);
        change.must(clean);
        f.catch_up();
        assert!(f.is_refused(&mut reader), "{removal}; {clean}");
        reader = f.standby.connect();
        let expected = change.rows("SELECT * FROM b ORDER BY id");
        assert_eq!(reader.rows("SELECT * FROM b ORDER BY id"), expected);
    }

    // A table that a query uses is dropped: the query is cancelled.
    reader.must("BEGIN; SELECT count(*) FROM a");
    change.must("DROP TABLE a");
    f.catch_up();
    assert!(f.is_refused(&mut reader));
}

/// A record differs from the change that was made; the image that it contains is correct. The
/// standby must stop at this record.
#[test]
fn a_standby_detects_a_missing_field() {
    let f = start("CREATE TABLE t (id text); INSERT INTO t VALUES ('first')");
    let mut client = f.ours.connect("postgres");
    fault_injection::make_room(&mut client, &f.data);
    let from = fault_injection::place(&mut client, &f.data);
    client.must("INSERT INTO t VALUES ('planted-aaaaaaaa')");
    client.must("SELECT pg_switch_wal(); SELECT txid_current()");
    fault_injection::change_record(&from, b"planted-aaaaaaaa", 0, |r| {
        fault_injection::replace_last(r, b"planted-aaaaaaaa", b"planted-aaaaaaab");
    });
    let current = client.value("SELECT pg_walfile_name(pg_current_wal_insert_lsn())");
    f.standby.archive(&f.data.join("pg_wal"), &current);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !f.standby.server.log().contains("inconsistent page found") {
        assert!(std::time::Instant::now() < end, "{}", f.standby.server.log());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Without images for comparison, the contents of the standby must differ.
#[test]
fn a_standby_with_other_contents_is_detected() {
    let settings = ["full_page_writes=off", "wal_keep_size=256MB", "autovacuum=off"];
    let f = start_with(&settings, "SELECT 1");
    let mut script = Script::new(false);
    let mut clients: Vec<Client> = (0..3).map(|_| f.ours.connect("postgres")).collect();
    script.start(&mut clients).unwrap();
    let client = &mut clients[0];
    client.must("UPDATE shared SET t = 'else' WHERE id = 1");
    fault_injection::make_room(client, &f.data);
    let from = fault_injection::place(client, &f.data);
    client.must("UPDATE shared SET t = 'x' WHERE id = 1");
    client.must("SELECT pg_switch_wal()");
    // A short text: its length byte and its character.
    fault_injection::change_record(&from, b"\x05x", 0, |r| {
        fault_injection::replace_last(r, b"\x05x", b"\x05y")
    });
    follow(&mut clients[0], &f.standby, &f.data);
    script.verify(&mut clients[0]).unwrap();
    let shown =
        script.verify_standby(&mut f.standby.connect()).expect_err("it shows something else");
    assert!(shown.contains("shared"), "{shown}");
}
