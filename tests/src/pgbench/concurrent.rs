//! 32 clients of pgbench, concurrent with sessions that alter, vacuum, index, lock, copy and
//! checkpoint.

use super::{Background, Fixture, check_sums, counted, long};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use testkit::client::Client;

/// The statements of the concurrent sessions. Each session repeats one list.
const CHORES: [&[&str]; 8] = [
    &[
        "ALTER TABLE pgbench_history ADD COLUMN note text",
        "ALTER TABLE pgbench_history DROP COLUMN note",
        "ALTER TABLE pgbench_tellers SET (fillfactor = 50)",
        "ALTER TABLE pgbench_accounts ALTER COLUMN filler SET STATISTICS 10",
        "ALTER TABLE pgbench_accounts ADD CONSTRAINT few CHECK (abalance < 2000000000) NOT VALID",
        "ALTER TABLE pgbench_accounts DROP CONSTRAINT few",
    ],
    &["VACUUM pgbench_branches", "VACUUM pgbench_tellers", "VACUUM (FREEZE) pgbench_accounts"],
    &[
        "CREATE INDEX beside ON pgbench_accounts (abalance)",
        "ANALYZE pgbench_accounts",
        "DROP INDEX beside",
        "CREATE INDEX beside ON pgbench_tellers (tbalance)",
        "DROP INDEX beside",
    ],
    &["CHECKPOINT", "SELECT pg_sleep(0.1)"],
    &[
        "BEGIN; SELECT count(*) FROM (SELECT 1 FROM pgbench_branches FOR UPDATE) b; COMMIT",
        "BEGIN; SELECT count(*) FROM (SELECT 1 FROM pgbench_branches FOR SHARE) b; COMMIT",
        "SELECT count(*) FROM (SELECT 1 FROM pgbench_accounts WHERE aid % 1000 = 7 \
         FOR KEY SHARE) a",
        "SELECT count(*) FROM (SELECT 1 FROM pgbench_tellers FOR NO KEY UPDATE SKIP LOCKED) t",
    ],
    // These statements undo their changes, or roll them back.
    &[
        "BEGIN; UPDATE pgbench_accounts SET filler = 'x' WHERE aid % 500 = 3; ROLLBACK",
        "BEGIN; SAVEPOINT a; INSERT INTO pgbench_history (tid, bid, aid, delta) \
         SELECT 1, 1, g, 0 FROM generate_series(1, 500) g; ROLLBACK TO a; COMMIT",
        "DELETE FROM pgbench_accounts WHERE aid < 0",
    ],
    &[
        "CREATE TABLE side (a int PRIMARY KEY, b text)",
        "COPY side FROM STDIN",
        "UPDATE side SET b = b || 'x'",
        "SELECT count(*) FROM side",
        "TRUNCATE side",
        "DROP TABLE side",
    ],
    // The sums are equal in every snapshot.
    &["SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT coalesce(sum(delta), 0) \
       FROM pgbench_history) AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT \
       coalesce(sum(delta), 0) FROM pgbench_history)"],
];

/// pgbench prepares a statement when a session first needs it, and its thread waits for the answer.
/// If that answer waits for a session that requests an exclusive table lock, and that session waits
/// for a transaction of another session of the same thread, there is a deadlock that no server can
/// detect. Therefore the concurrent sessions have a lock timeout.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '500ms'";

fn work(mut client: Client, chore: &[&str], over: &AtomicBool, done: &AtomicU64) {
    client.must(LOCK_TIMEOUT);
    let data: String = (0..2000).map(|i| format!("{i}\trow {i}\n")).collect();
    for sql in chore.iter().cycle() {
        loop {
            if over.load(Ordering::SeqCst) {
                return;
            }
            let reply = if sql.starts_with("COPY") {
                client.copy_in(sql, data.as_bytes())
            } else {
                client.query(sql)
            };
            let reply = reply.unwrap_or_else(|e| panic!("{sql}: {e}"));
            match &reply.error {
                None => {
                    if sql.starts_with("SELECT (SELECT sum") {
                        assert_eq!(reply.text(), ["t"], "sums of one snapshot differ");
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                // Table locks and row locks may cause a deadlock. The statement is then repeated,
                // because the next one depends on it.
                Some(e) if ["40P01", "55P03"].contains(&e.code.as_str()) => {
                    client.must("ROLLBACK");
                }
                Some(e) => panic!("{sql}: {} {}", e.code, e.message),
            }
        }
    }
}

#[test]
fn pgbench_runs_concurrently_with_table_changes() {
    let options =
        ["-c", "shared_buffers=4MB", "-c", "max_wal_size=64MB", "-c", "deadlock_timeout=100ms"];
    let f = Fixture::new("beside", &options);
    f.pgbench(&["-i", "-q"]);
    let over = AtomicBool::new(false);
    let done: [AtomicU64; CHORES.len()] = Default::default();
    let mut transactions = 0;
    std::thread::scope(|scope| {
        let end = EndOnDrop(&over);
        for (chore, done) in CHORES.iter().zip(&done) {
            let client = f.server.connect("postgres");
            let over = &over;
            scope.spawn(move || work(client, chore, over, done));
        }
        for mode in ["simple", "extended", "prepared"] {
            let mut bench = f.server.client("pgbench");
            let seconds = if long() { "60" } else { "3" };
            bench.args(["-n", "-c", "32", "-j", "2", "-T", seconds, "-M", mode, "--max-tries=100"]);
            bench.arg("postgres");
            transactions += counted(&Background::spawn(bench).finish());
        }
        drop(end);
    });
    for (chore, done) in CHORES.iter().zip(&done) {
        assert!(done.load(Ordering::Relaxed) > 0, "{chore:?} was never done");
    }
    let found = f.server.query("SELECT count(*) FROM pgbench_history");
    assert_eq!(found, transactions.to_string());
    check_sums(&mut |sql| f.server.query(sql));
    f.stop(&["deadlock detected", "due to lock timeout"]);
}

/// Ends the concurrent sessions, also when pgbench failed.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
