//! The start of checkpoints, compared with PostgreSQL's.

use std::time::{Duration, Instant};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};

/// A time limit that no server reaches.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Fills segments one after the other. Waits for a checkpoint after each.
fn checkpoints(s: &mut Client, segments: u32) -> u32 {
    const REDO: &str = "SELECT redo_lsn FROM pg_control_checkpoint()";
    s.must("CREATE TABLE t (a int)");
    s.must("CHECKPOINT");
    let mut begun = 0;
    for _ in 0..segments {
        let redo = s.value(REDO);
        s.must("INSERT INTO t VALUES (1)");
        s.must("SELECT pg_switch_wal()");
        let since = Instant::now();
        while s.value(REDO) == redo {
            if since.elapsed() > WAIT_MAX {
                return begun;
            }
        }
        begun += 1;
    }
    begun
}

/// With `max_wal_size` of two segments, every full segment requests a checkpoint, regardless of the
/// number of records in it.
#[test]
fn a_full_segment_requests_a_checkpoint() {
    let dir = TempDir::new("segments");
    chown_to_server_user(dir.path());
    let [ours, real] = ["ours", "real"].map(|name| dir.path().join(name));
    norsu::init_with(&ours, &["--locale=C", "--wal-segsize=1"]);
    postgres::init_with(&real, &["--locale=C", "-k", "--wal-segsize=1"]);
    let settings = ["max_wal_size=2MB", "min_wal_size=2MB", "autovacuum=off"];
    let options: Vec<&str> = settings.iter().flat_map(|s| ["-c", s]).collect();
    let ours = Norsu::start(&ours, &options);
    let real = PostgresServer::start_with(&real, "postgres", &settings);
    assert_eq!(checkpoints(&mut real.connect("postgres"), 3), 3);
    assert_eq!(checkpoints(&mut ours.connect("postgres"), 3), 3);
    // There is only one request for each segment, because nothing has been written since.
    ours.connect("postgres").must("SELECT pg_sleep(0.5)");
    let asked = |log: &str| log.matches("checkpoints are occurring too frequently").count();
    assert_eq!(asked(&ours.log()), asked(&real.log()));
}
