//! Shutdown of a busy server.

use crate::wire::client::{Bytes, Client};
use std::time::{Duration, Instant};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user, program, run};

/// A checkpoint that is triggered by the log's size is spread over most of `checkpoint_timeout`,
/// which is an hour here.
const OPTIONS: [&str; 8] = [
    "-c",
    "checkpoint_timeout=1h",
    "-c",
    "max_wal_size=8MB",
    "-c",
    "shared_buffers=64MB",
    "-c",
    "log_checkpoints=on",
];

/// Number of checkpoints that have started and not finished.
fn under_way(log: &str) -> usize {
    log.matches("checkpoint starting:").count() - log.matches("checkpoint complete:").count()
}

#[test]
fn a_fast_shutdown_does_not_wait_for_a_spread_checkpoint() {
    let dir = TempDir::new("shutdown");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--wal-segsize=1"]);
    let server = Norsu::start(&data, &OPTIONS);
    server.query("CREATE TABLE busy (id int PRIMARY KEY, t text)");
    let mut rows = 0;
    while under_way(&server.log()) == 0 {
        assert!(rows < 400_000, "no checkpoint begins:\n{}", server.log());
        server.query(&format!(
            "INSERT INTO busy SELECT g, repeat('x', 100) FROM generate_series({rows} + 1, \
             {rows} + 5000) g"
        ));
        rows += 5000;
    }
    // A session in a transaction, one that waits in a statement, and an idle one.
    let [mut open, mut asleep, mut idle] = [(); 3].map(|()| Client::connect(&server.socket()));
    let update = "UPDATE busy SET t = 'changed' WHERE id <= 1000";
    assert_eq!(open.talk(&Bytes::new().query("BEGIN").query(update), 2).last().unwrap(), "ready T");
    asleep.send(&Bytes::new().query("SELECT pg_sleep(3600)").0);
    let sleeps = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    while idle.column(sleeps) != ["1"] {}
    assert_eq!(under_way(&server.log()), 1, "{}", server.log());
    let begun = Instant::now();
    let log = server.stop(&data);
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}\n{log}", begun.elapsed());
    assert_eq!(under_way(&log), 0, "{log}");
    let places: Vec<Option<usize>> = [
        "received fast shutdown request",
        "shutting down",
        "checkpoint starting: shutdown immediate",
        "database system is shut down",
    ]
    .iter()
    .map(|line| log.find(line))
    .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{log}");
    for session in [&mut open, &mut asleep, &mut idle] {
        let said = session.until_ready();
        let codes: Vec<_> = said.iter().filter_map(|m| m.field(b'C')).collect();
        assert_eq!(codes.last().map(String::as_str), Some("57P01"), "{said:?}");
    }
    let mut control = program("pg_controldata");
    control.arg(&data);
    let control = run(control);
    let state = control.lines().find(|l| l.starts_with("Database cluster state:"));
    assert!(state.is_some_and(|l| l.ends_with(" shut down")), "{control}");
    let real = PostgresServer::start(&data, "postgres");
    assert!(real.log().contains("database system was shut down at"), "{}", real.log());
    let found =
        real.query("postgres", "SELECT count(*), count(*) FILTER (WHERE t = 'changed') FROM busy");
    assert_eq!(found.trim_end(), format!("{rows}|0"));
    let mut amcheck = real.client("pg_amcheck");
    amcheck.args(["--all", "--install-missing", "--heapallindexed", "--parent-check"]);
    assert_eq!(run(amcheck), "");
}
