//! Cumulative statistics: the same statements on both servers, then the same counters in all
//! views; the statistics file in the hands of either server; autovacuum.

use crate::pair::Pair;
use std::time::{Duration, Instant};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user};

/// Longest wait for a counter.
const WAIT_MAX: Duration = Duration::from_secs(60);

const SETUP: &str = "
CREATE TABLE t (id int PRIMARY KEY, n int, v text);
CREATE INDEX t_n ON t (n);
CREATE INDEX t_hash ON t USING hash (n);
CREATE TABLE big (a int) WITH (fillfactor = 50);
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
CREATE TABLE parts (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
CREATE MATERIALIZED VIEW m AS SELECT generate_series(1, 7) AS a;
CREATE FUNCTION twice(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 2 * x; END';
CREATE FUNCTION three() RETURNS int LANGUAGE sql VOLATILE STRICT AS 'SELECT 3';
";

/// Each step is one session. After it the counters are compared.
const STEPS: [(&str, &str); 23] = [
    ("insert", "INSERT INTO t SELECT g, g % 10, 'v' FROM generate_series(1, 100) g"),
    (
        "update, hot and not",
        "UPDATE t SET v = 'w' WHERE id <= 10; UPDATE t SET n = 99 WHERE id = 1",
    ),
    ("delete", "DELETE FROM t WHERE id > 95"),
    (
        "rollback",
        "BEGIN; INSERT INTO t VALUES (200, 0, ''), (201, 0, ''); DELETE FROM t WHERE id = 2; \
      UPDATE t SET v = 'x' WHERE id IN (3, 4, 5); ROLLBACK",
    ),
    ("failed insert", "INSERT INTO t VALUES (300, 1, ''), (1, 1, '')"),
    (
        "savepoints",
        "BEGIN; INSERT INTO t VALUES (400, 0, ''); SAVEPOINT a; \
      INSERT INTO t VALUES (401, 0, ''), (402, 0, ''); SAVEPOINT b; DELETE FROM t WHERE id = 400; \
      ROLLBACK TO b; UPDATE t SET n = 7 WHERE id = 401; RELEASE a; SAVEPOINT c; \
      INSERT INTO t VALUES (403, 0, ''); ROLLBACK TO c; INSERT INTO t VALUES (404, 0, ''); COMMIT",
    ),
    (
        "sequential scans",
        "SET enable_indexscan = off; SET enable_bitmapscan = off; \
      SET enable_indexonlyscan = off; SELECT count(*) FROM t; SELECT * FROM t WHERE n = 3; \
      SELECT v FROM t WHERE id = 5 OR v = 'q'",
    ),
    (
        "index scans",
        "SET enable_seqscan = off; SET enable_bitmapscan = off; \
      SELECT v FROM t WHERE id = 5; SELECT v FROM t WHERE id = 5000; \
      SELECT v FROM t WHERE id BETWEEN 10 AND 20; SELECT id FROM t WHERE id < 4; \
      SELECT v FROM t WHERE id IN (1, 3, 5, 7000)",
    ),
    (
        "bitmap scans",
        "SET enable_seqscan = off; SET enable_indexscan = off; \
      SELECT v FROM t WHERE id < 9; SELECT v FROM t WHERE id IN (3, 9) AND v <> ''",
    ),
    ("tid scan", "SELECT v FROM t WHERE ctid = '(0,3)'"),
    ("copy", "COPY big FROM PROGRAM 'seq 1 500'; COPY big TO PROGRAM 'cat > /dev/null'"),
    ("vacuum", "DELETE FROM big WHERE a <= 100; VACUUM big; VACUUM t"),
    ("analyze", "UPDATE big SET a = -a WHERE a < 200; ANALYZE big; ANALYZE t (v); ANALYZE parts"),
    ("truncate", "TRUNCATE big; INSERT INTO big VALUES (1), (2)"),
    (
        "truncate, rolled back",
        "BEGIN; INSERT INTO big VALUES (3); TRUNCATE big; \
      INSERT INTO big VALUES (4); ROLLBACK",
    ),
    (
        "truncate, in savepoints",
        "BEGIN; INSERT INTO big VALUES (3); SAVEPOINT a; TRUNCATE big; \
      INSERT INTO big VALUES (4), (5); ROLLBACK TO a; INSERT INTO big VALUES (6); SAVEPOINT b; \
      TRUNCATE big; INSERT INTO big VALUES (7); RELEASE b; COMMIT",
    ),
    (
        "foreign keys",
        "INSERT INTO parent VALUES (1), (2), (3); INSERT INTO child VALUES (1, 1), (2, 2); \
      DELETE FROM parent WHERE id = 3; UPDATE child SET p = 1 WHERE id = 2",
    ),
    (
        "on conflict",
        "INSERT INTO parent VALUES (1), (9) ON CONFLICT DO NOTHING; \
      INSERT INTO parent VALUES (2) ON CONFLICT (id) DO UPDATE SET id = 22",
    ),
    (
        "partitions",
        "INSERT INTO parts SELECT g, g FROM generate_series(0, 19) g; \
      UPDATE parts SET k = 15 WHERE k = 5; SELECT count(*) FROM parts WHERE k < 10",
    ),
    ("refresh", "REFRESH MATERIALIZED VIEW m"),
    ("rewrite", "ALTER TABLE t ALTER COLUMN n TYPE bigint; CREATE INDEX ON big (a)"),
    (
        "functions",
        "SET track_functions = 'all'; SELECT twice(x) FROM generate_series(1, 4) x; \
      SET track_functions = 'pl'; SELECT twice(1)",
    ),
    ("track_counts off", "SET track_counts = off; INSERT INTO big VALUES (8); SELECT * FROM big"),
];

/// The counters that both servers must agree on.
const COUNTERS: [(&str, &str); 4] = [
    (
        "tables",
        "SELECT relname, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd, \
      n_tup_del, n_tup_hot_upd, n_live_tup, n_dead_tup, n_mod_since_analyze, n_ins_since_vacuum, \
      vacuum_count, autovacuum_count, analyze_count, autoanalyze_count, last_vacuum IS NULL, \
      last_analyze IS NULL FROM pg_stat_user_tables ORDER BY relname",
    ),
    (
        "indexes",
        "SELECT indexrelname, idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes \
      ORDER BY indexrelname",
    ),
    (
        "functions",
        "SELECT funcname, calls, total_time >= self_time FROM pg_stat_user_functions \
      ORDER BY funcname",
    ),
    (
        "pages",
        "SELECT relname, heap_blks_hit >= 0 AND heap_blks_read >= 0 FROM pg_statio_user_tables \
      ORDER BY relname",
    ),
];

fn real_query(pair: &Pair, sql: &str) -> String {
    pair.real.query("postgres", sql).trim_end().to_owned()
}

#[test]
fn counters_agree() {
    let pair = Pair::start_both("statistics", "C", &["autovacuum=off"]);
    pair.ours.query(SETUP);
    pair.real.query("postgres", SETUP);
    let mut faults = Vec::new();
    for (name, sql) in STEPS {
        // Some steps fail in the same way on both servers.
        let [ours, real] = [pair.ours.client("psql"), pair.real.client("psql")].map(|mut psql| {
            psql.args(["-d", "postgres", "-X", "-q", "-A", "-t"]);
            sql.split(';').for_each(|statement| {
                psql.args(["-c", statement]);
            });
            psql.output().expect("psql runs")
        });
        if ours.status.success() != real.status.success() || ours.stdout != real.stdout {
            faults.push(format!("{name}: {ours:?}, PostgreSQL: {real:?}"));
        }
        for (what, counters) in COUNTERS {
            let (ours, real) = (pair.ours.query(counters), real_query(&pair, counters));
            let differing = ours.lines().zip(real.lines()).filter(|(ours, real)| ours != real);
            let lines: Vec<String> =
                differing.map(|(ours, real)| format!("  {ours}\n  {real}")).collect();
            if ours != real {
                faults.push(format!("{what} after {name}, PostgreSQL last:\n{}", lines.join("\n")));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

const TRANSACTION: &str = "
BEGIN;
INSERT INTO t SELECT g, g FROM generate_series(1, 5) g;
UPDATE t SET n = 0 WHERE id = 1;
SAVEPOINT a;
DELETE FROM t WHERE id < 3;
SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables;
ROLLBACK TO a;
SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables;
SELECT n_tup_ins, n_live_tup FROM pg_stat_user_tables;
COMMIT;
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_live_tup, n_dead_tup FROM pg_stat_user_tables;
BEGIN;
SET LOCAL stats_fetch_consistency = snapshot;
SELECT n_tup_ins FROM pg_stat_user_tables;
SELECT pg_stat_get_snapshot_timestamp() IS NULL;
SELECT pg_stat_clear_snapshot();
SELECT pg_stat_get_snapshot_timestamp() IS NULL;
ROLLBACK;
SELECT pg_stat_have_stats('relation',
  (SELECT oid FROM pg_database WHERE datname = current_database()), 't'::regclass),
  pg_stat_have_stats('bgwriter', 0, 0), pg_stat_have_stats('function', 1, 1);
SELECT pg_stat_reset_single_table_counters('t'::regclass);
SELECT n_tup_ins, n_live_tup FROM pg_stat_user_tables;
SELECT stats_reset IS NULL FROM pg_stat_database WHERE datname = current_database();
SELECT pg_stat_reset();
SELECT seq_scan, n_tup_ins FROM pg_stat_user_tables;
";

#[test]
fn counters_within_transactions_agree() {
    let pair = Pair::start_both("statistics", "C", &["autovacuum=off"]);
    let setup = "CREATE TABLE t (id int, n int)";
    pair.ours.query(setup);
    pair.real.query("postgres", setup);
    assert_eq!(pair.ours.query(TRANSACTION), real_query(&pair, TRANSACTION));
}

/// The counters that a server keeps over a restart.
const KEPT: &str = "SELECT relname, seq_scan, seq_tup_read, n_tup_ins, n_live_tup, n_dead_tup, \
    n_mod_since_analyze, vacuum_count, last_vacuum FROM pg_stat_user_tables ORDER BY relname";
const KEPT_FUNCTIONS: &str = "SELECT funcname, calls FROM pg_stat_user_functions";

#[test]
fn the_file_is_kept_over_a_restart_by_both_servers() {
    let dir = TempDir::new("statistics-file");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let ours = Norsu::start(&data, &[]);
    ours.query(SETUP);
    ours.query(
        "INSERT INTO t SELECT g, g, '' FROM generate_series(1, 50) g; DELETE FROM t WHERE id < 9",
    );
    ours.query("VACUUM t");
    ours.query("SET track_functions = 'pl'; SELECT twice(3); DELETE FROM t WHERE id = 30");
    let kept = ours.query(KEPT);
    let functions = ours.query(KEPT_FUNCTIONS);
    assert_eq!(functions, "twice|1");
    ours.stop(&data);
    assert!(data.join("pg_stat/pgstat.stat").exists());
    let real = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
    assert!(!data.join("pg_stat/pgstat.stat").exists());
    assert_eq!(real.query("postgres", KEPT).trim_end(), kept);
    assert_eq!(real.query("postgres", KEPT_FUNCTIONS).trim_end(), functions);
    real.query("postgres", "INSERT INTO t VALUES (1000, 1, ''); ANALYZE t");
    let kept = real.query("postgres", KEPT).trim_end().to_owned();
    drop(real);
    let ours = Norsu::start(&data, &[]);
    assert!(!data.join("pg_stat/pgstat.stat").exists());
    assert_eq!(ours.query(KEPT), kept);
    assert_eq!(ours.query(KEPT_FUNCTIONS), functions);
    drop(ours);
    // The server was killed, so that its statistics are lost.
    let ours = Norsu::start(&data, &[]);
    let none = "SELECT sum(n_tup_ins), sum(vacuum_count) FROM pg_stat_user_tables";
    assert_eq!(ours.query(none), "0|0");
    ours.stop(&data);
}

/// The text with all numbers replaced.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().map(|c| if c.is_ascii_digit() { 'N' } else { c }) {
        if c != 'N' || !out.ends_with('N') {
            out.push(c);
        }
    }
    out
}

#[test]
fn times_of_reads_are_measured_and_shown() {
    let pair = Pair::start_both("statistics-io", "C", &["shared_buffers=1MB"]);
    let setup = [
        "CREATE TABLE t AS SELECT g, repeat('v', 300) FROM generate_series(1, 20000) g",
        "VACUUM t",
        "CHECKPOINT",
    ];
    let explain = "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF)";
    let mut seen = Vec::new();
    for mut client in [pair.real.connect("postgres"), pair.ours.connect("postgres")] {
        setup.iter().for_each(|sql| drop(client.must(sql)));
        let mut times = |sql: &str| {
            let rows = client.rows(sql);
            let kept = rows.iter().flat_map(|row| row.lines()).filter(|l| l.contains("I/O"));
            kept.map(without_numbers).collect::<Vec<_>>()
        };
        let count = format!("{explain} SELECT count(*) FROM t");
        assert_eq!(times(&count), Vec::<String>::new());
        times("SET track_io_timing = on");
        let text = times(&count);
        let json = times(&count.replace("OFF)", "OFF, FORMAT json)"));
        assert!(!text.is_empty() && json.len() >= 4, "{text:?} {json:?}");
        times("SELECT pg_stat_force_next_flush()");
        let database = "SELECT blk_read_time > 0 FROM pg_stat_database WHERE datname = 'postgres'";
        seen.push((text, json, client.rows(database)));
    }
    assert_eq!(seen[0], seen[1]);
}

/// Waits until the query returns this.
fn await_result(server: &Norsu, query: &str, expected: &str) {
    let begun = Instant::now();
    loop {
        let found = server.query(query);
        if found == expected {
            return;
        }
        let log = server.log();
        assert!(begun.elapsed() < WAIT_MAX, "{query}: {found}\n{log}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn autovacuum_server(dir: &TempDir, more: &[&str]) -> Norsu {
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let settings = [
        "autovacuum=on",
        "autovacuum_naptime=1s",
        "log_autovacuum_min_duration=0",
        "deadlock_timeout=100ms",
    ];
    let options: Vec<&str> = settings.iter().chain(more).flat_map(|s| ["-c", s]).collect();
    Norsu::start(&data, &options)
}

#[test]
fn tables_are_vacuumed_and_analyzed_by_their_thresholds() {
    let dir = TempDir::new("autovacuum-thresholds");
    let server = autovacuum_server(&dir, &["autovacuum_vacuum_insert_threshold=2000"]);
    assert_eq!(server.query("SHOW autovacuum"), "on");
    let long = "repeat(md5(g::text), 200)";
    server.query("CREATE DATABASE other");
    server.query(&format!(
        "CREATE TABLE dead (a int PRIMARY KEY, v text);
         CREATE TABLE few (a int);
         CREATE TABLE own (a int) WITH (autovacuum_vacuum_threshold = 3, \
           autovacuum_vacuum_scale_factor = 0, autovacuum_analyze_threshold = 1000);
         CREATE TABLE disabled (a int) WITH (autovacuum_enabled = off);
         CREATE TABLE inserted (a int);
         CREATE TABLE toasted (v text) WITH (autovacuum_vacuum_threshold = 1000, \
           toast.autovacuum_vacuum_threshold = 1, toast.autovacuum_vacuum_scale_factor = 0);
         ALTER TABLE toasted ALTER COLUMN v SET STORAGE EXTERNAL;
         INSERT INTO dead SELECT g, g FROM generate_series(1, 200) g;
         INSERT INTO few SELECT g FROM generate_series(1, 40) g;
         INSERT INTO own SELECT g FROM generate_series(1, 40) g;
         INSERT INTO disabled SELECT g FROM generate_series(1, 200) g;
         INSERT INTO inserted SELECT g FROM generate_series(1, 2500) g;
         INSERT INTO toasted SELECT {long} FROM generate_series(1, 9) g;
         DELETE FROM dead WHERE a <= 150; DELETE FROM few; DELETE FROM own WHERE a < 9;
         DELETE FROM disabled; DELETE FROM toasted",
    ));
    let vacuumed = |table: &str| {
        format!(
            "SELECT autovacuum_count > 0 AND last_autovacuum IS NOT NULL, n_dead_tup \
             FROM pg_stat_all_tables WHERE relid = '{table}'::regclass"
        )
    };
    for table in ["dead", "own"] {
        await_result(&server, &vacuumed(table), "t|0");
    }
    let toast =
        server.query("SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'toasted'");
    await_result(&server, &vacuumed(&toast), "t|0");
    let inserted = "SELECT autovacuum_count > 0, n_ins_since_vacuum, autoanalyze_count > 0 \
        FROM pg_stat_user_tables WHERE relname = 'inserted'";
    await_result(&server, inserted, "t|0|t");
    let analyzed = "SELECT autoanalyze_count > 0, n_mod_since_analyze, reltuples \
        FROM pg_stat_user_tables JOIN pg_class ON oid = relid WHERE pg_class.relname = 'dead'";
    await_result(&server, analyzed, "t|0|50");
    let untouched = "SELECT sum(autovacuum_count + autoanalyze_count) FROM pg_stat_user_tables \
        WHERE relname = 'disabled' OR relname = 'own' AND autoanalyze_count > 0 \
        OR relname IN ('toasted', 'few') AND autovacuum_count > 0";
    assert_eq!(server.query(untouched), "0");
    let other = server
        .client("psql")
        .args(["-XqAt", "-d", "other", "-c"])
        .arg(
            "CREATE TABLE x (a int); INSERT INTO x SELECT g FROM generate_series(1, 300) g; \
         DELETE FROM x",
        )
        .status();
    assert!(other.is_ok_and(|status| status.success()));
    await_result(
        &server,
        "SELECT count(*) FROM pg_stat_database WHERE datname = 'other' AND tup_deleted >= 300",
        "1",
    );
    let log = await_log(&server, "automatic vacuum of table \"other.public.x\": index scans: 0");
    for line in [
        "automatic vacuum of table \"postgres.public.dead\": index scans: 1",
        "automatic analyze of table \"postgres.public.dead\"",
        "tuples: 150 removed, 50 remain, 0 are dead but not yet removable",
        "buffer usage: ",
        "system usage: CPU: user: ",
    ] {
        assert!(log.contains(line), "{line}\n{log}");
    }
}

/// Waits until the log contains the text.
fn await_log(server: &Norsu, text: &str) -> String {
    let begun = Instant::now();
    loop {
        let log = server.log();
        if log.contains(text) {
            return log;
        }
        assert!(begun.elapsed() < WAIT_MAX, "{text}\n{log}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_conflicting_lock_request_cancels_a_worker() {
    let dir = TempDir::new("autovacuum-cancelled");
    // With these costs the worker sleeps after each page.
    let server = autovacuum_server(
        &dir,
        &["autovacuum_vacuum_cost_limit=1", "autovacuum_vacuum_cost_delay=100ms"],
    );
    server.query(
        "CREATE TABLE t (a int, v text);
         INSERT INTO t SELECT g, repeat('x', 500) FROM generate_series(1, 5000) g;
         DELETE FROM t WHERE a % 2 = 0",
    );
    let running = "SELECT count(*) > 0 FROM pg_stat_activity \
        WHERE backend_type = 'autovacuum worker' AND query LIKE 'autovacuum: VACUUM%public.t'";
    await_result(&server, running, "t");
    let progress = "SELECT phase, heap_blks_total > 300, heap_blks_scanned < heap_blks_total \
        FROM pg_stat_progress_vacuum WHERE relid = 't'::regclass";
    await_result(&server, progress, "scanning heap|t|t");
    server.query("LOCK TABLE t; DROP TABLE t");
    await_log(&server, "canceling autovacuum task");
    await_log(&server, "automatic vacuum of table \"postgres.public.t\"");
}

#[test]
fn a_locked_table_is_skipped_until_it_is_free() {
    let dir = TempDir::new("autovacuum-locked");
    let server = autovacuum_server(&dir, &[]);
    server.query(
        "CREATE TABLE t (a int); CREATE TABLE u (a int);
         INSERT INTO t SELECT g FROM generate_series(1, 200) g",
    );
    let mut holder = server.connect("postgres");
    holder.must("BEGIN");
    holder.must("DELETE FROM t");
    server.query("INSERT INTO u SELECT g FROM generate_series(1, 200) g; DELETE FROM u");
    holder.must("COMMIT");
    holder.must("SELECT pg_stat_force_next_flush()");
    holder.must("BEGIN");
    holder.must("LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE");
    let count = |table: &str| {
        format!("SELECT autovacuum_count > 0 FROM pg_stat_user_tables WHERE relname = '{table}'")
    };
    await_result(&server, &count("u"), "t");
    assert_eq!(server.query(&count("t")), "f");
    holder.must("COMMIT");
    await_result(&server, &count("t"), "t");
}
