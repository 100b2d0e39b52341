//! The statistics of the log, of checkpoints and of the background writer, and their resets,
//! compared with PostgreSQL's.

use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};

/// Shows which counters are not zero.
const WAL: &str = "SELECT wal_records > 0, wal_fpi > 0, wal_bytes > 0, wal_write > 0, \
                   wal_sync > 0, \
                   wal_write_time > 0, wal_sync_time > 0 FROM pg_stat_wal";
const BGWRITER: &str = "SELECT checkpoints_timed > 0, checkpoints_req, checkpoint_write_time >= 0, \
                        buffers_checkpoint > 40, buffers_backend_fsync, buffers_alloc > 0 \
                        FROM pg_stat_bgwriter";
const RESET_TIMES: &str = "SELECT w.stats_reset > $, b.stats_reset > $, a.stats_reset > $ \
                           FROM pg_stat_wal w, \
     pg_stat_bgwriter b, pg_stat_archiver a";

fn flushed(client: &mut Client, sql: &str) -> Vec<String> {
    client.must("SELECT pg_stat_force_next_flush()");
    // The counters of other processes are reported with a delay.
    std::thread::sleep(std::time::Duration::from_millis(300));
    client.rows(sql)
}

fn steps(client: &mut Client) -> Vec<Vec<String>> {
    let mut seen = Vec::new();
    client.must("CREATE TABLE t AS SELECT g AS a, 'x' AS b FROM generate_series(1, 20000) g");
    let requested = "SELECT checkpoints_req FROM pg_stat_bgwriter";
    let before = client.value(requested);
    client.must("CHECKPOINT");
    // PostgreSQL's checkpointer reports with a delay; its report must not arrive after the reset.
    while client.value(requested) == before {}
    let start = client.value("SELECT quote_literal(clock_timestamp())");
    let times = RESET_TIMES.replace('$', &start);
    seen.push(client.rows(&times));
    for target in ["wal", "bgwriter", "archiver"] {
        client.must(&format!("SELECT pg_stat_reset_shared('{target}')"));
        seen.push(client.rows(&times));
    }
    // Nothing has been written since then, except by background processes.
    seen.push(client.rows(
        "SELECT checkpoints_req, checkpoints_timed, checkpoint_write_time, buffers_checkpoint \
         FROM pg_stat_bgwriter",
    ));
    seen.push(client.rows("SELECT wal_fpi, wal_bytes < 1000 FROM pg_stat_wal"));
    client.must("UPDATE t SET b = 'y'");
    client.must("CHECKPOINT");
    seen.push(flushed(client, WAL));
    seen.push(flushed(client, BGWRITER));
    client.must("SET track_wal_io_timing = on");
    client.must("UPDATE t SET b = 'z'");
    seen.push(flushed(client, WAL));
    client.must("RESET track_wal_io_timing");
    client.must("SELECT pg_stat_reset_shared('wal')");
    client.must("CHECKPOINT");
    client.must("UPDATE t SET b = 'y'");
    seen.push(flushed(client, WAL));
    client.must("ALTER SYSTEM SET track_wal_io_timing = on");
    client.must("SELECT pg_reload_conf()");
    while client.value("SHOW track_wal_io_timing") != "on" {}
    client.must("UPDATE t SET b = 'z'");
    seen.push(flushed(client, WAL));
    seen
}

#[test]
fn counters_and_their_resets_equal_those_of_postgres() {
    let dir = TempDir::new("counters");
    chown_to_server_user(dir.path());
    let [ours, real] = ["ours", "real"].map(|name| dir.path().join(name));
    norsu::init_with(&ours, &["--locale=C"]);
    postgres::init_with(&real, &["--locale=C", "-k"]);
    let ours = Norsu::start(&ours, &[]);
    let real = PostgresServer::start_with(&real, "postgres", &["fsync=on"]);
    let mut sessions = [ours.connect("postgres"), real.connect("postgres")];
    let [mine, theirs] = sessions.each_mut().map(steps);
    assert_eq!(mine, theirs);
    assert!(theirs.last().is_some_and(|row| row == &["t|t|t|t|t|t|t"]), "{theirs:?}");
}
