//! Bitmap scans beyond `work_mem`: on both servers pages become lossy, and their rows are checked
//! again. It is not compared which pages become lossy.

use crate::pair::Pair;
use testkit::client::Client;

/// The lines of EXPLAIN ANALYZE.
fn explain(client: &mut Client, sql: &str) -> Vec<String> {
    let lines =
        client.rows(&format!("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {sql}"));
    lines.iter().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn pages_become_lossy_beyond_work_mem() {
    let pair = Pair::start_both("bitmaps", "C", &["work_mem=64kB"]);
    for sockets in [pair.ours.sockets(), pair.real.sockets()] {
        let mut client = Client::connect(sockets, "postgres").expect("the server accepts");
        for sql in [
            "CREATE TABLE b (a int, t text)",
            "ALTER TABLE b ALTER t SET STORAGE plain",
            "INSERT INTO b SELECT g % 37, repeat('x', 3000) FROM generate_series(1, 4000) g",
            "CREATE INDEX ON b (a)",
            "SET enable_seqscan = off",
            "SET enable_indexscan = off",
        ] {
            client.must(sql);
        }
        let lines = explain(&mut client, "SELECT a FROM b WHERE a < 30");
        assert!(lines.iter().any(|l| l.starts_with("Rows Removed by Index Recheck:")), "{lines:?}");
        let blocks = lines.iter().find(|l| l.starts_with("Heap Blocks: exact="));
        assert!(blocks.is_some_and(|l| l.contains(" lossy=")), "{lines:?}");
        assert!(lines.iter().any(|l| l.contains("(actual rows=3244 loops=1)")), "{lines:?}");
        let lines = explain(&mut client, "SELECT a FROM b WHERE a = 3");
        assert!(lines.contains(&"Heap Blocks: exact=109".to_owned()), "{lines:?}");
    }
}
