//! Statistics of statements on both servers: which statements are one entry, their normalized
//! texts, and how often they are counted.

use crate::pair::Pair;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};

const PRELOAD: &str = "shared_preload_libraries=pg_stat_statements";

const COUNTS: &str = "SELECT query, toplevel, calls, rows FROM pg_stat_statements \
    ORDER BY query COLLATE \"C\", toplevel";

/// The rows of a query.
fn rows(client: &mut Client, sql: &str) -> Vec<Vec<Option<String>>> {
    let reply = client.query(sql).expect("an answer");
    assert!(reply.error.is_none(), "{sql}: {:?}", reply.error);
    reply.answers.into_iter().flat_map(|a| a.rows).collect()
}

/// Groups of statements; each group begins with empty statistics.
const GROUPS: &[&[&str]] = &[
    &[
        "SELECT 1 AS \"int\"",
        "SELECT 'hello'\n  -- multiline\n  AS \"text\"",
        "SELECT 'world' AS \"text\"",
        "SELECT 2.0 AS \"float\"; SELECT 'world' AS \"text\"",
        ";;   SELECT 3 + 3 ;;;   SELECT ' ' || ' !' ;;   SELECT 1 + 4 ;;",
        "SELECT -1, - 1, 1 - -2, true, NULL, DATE '2020-01-01', interval '1 day', B'101', $$x$$",
        "SELECT -5, - 7, 1 - -3, false, NULL, DATE '2021-01-01', interval '2 day', B'111', $a$y$a$",
        "SELECT 1 AS i UNION SELECT 2 ORDER BY i",
        "SELECT '{\"a\":1, \"b\":2}'::jsonb ? 'b'",
        "WITH t(f) AS (VALUES (1.0), (2.0)) SELECT f FROM t ORDER BY f",
        "SELECT 10000000000, 1, '1'",
        "SELECT 1, 1, '1'",
        "SELECT WHERE '1' IN ('1'::int, '3'::int::text)",
        "SELECT WHERE (1, 2) IN ((1, 2), (2, 3))",
        "SELECT WHERE (3, 4) IN ((5, 6), (8, 7))",
        "SELECT 1/0",
        "SELECT nosuch",
    ],
    &[
        "PREPARE p (int) AS SELECT $1, 'test' LIMIT 1; EXECUTE p(1); EXECUTE p(2); DEALLOCATE p",
        "BEGIN; SELECT 1; COMMIT",
        "CREATE TABLE ps (a int, b text); CREATE TABLE ps2 (LIKE ps)",
        "CREATE TABLE ps (a int)",
        "INSERT INTO ps VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "INSERT INTO ps VALUES (generate_series(1, 10), 'aaa')",
        "INSERT INTO ps SELECT g, 'x' FROM generate_series(1, 100) g",
        "UPDATE ps SET b = 'bbb' WHERE a > 7; UPDATE ps SET b = 'ccc' WHERE a > 8",
        "DELETE FROM ps WHERE a > 9",
        "DELETE FROM ps WHERE a > 10 RETURNING a, b",
        "SELECT * FROM ps WHERE a > 5 ORDER BY a",
        "SELECT  *\n FROM ps   WHERE a > 6 ORDER BY a  ",
        "SELECT * FROM ONLY ps ORDER BY a",
        "SELECT * FROM ps WHERE a IN (1, 2, 3)",
        "SELECT * FROM ps WHERE a IN (1, 2)",
        "SELECT x.a FROM ps x JOIN ps2 y ON x.a = y.a FOR UPDATE OF x",
        "SELECT x.a FROM ps x JOIN ps2 y ON x.a = y.a FOR UPDATE OF y",
        "SELECT z.a FROM ps z JOIN ps2 w ON z.a = w.a",
        "SELECT x.a FROM ps x LEFT JOIN ps2 y ON x.a = y.a",
        "MERGE INTO ps USING ps2 s ON s.a = ps.a WHEN MATCHED THEN DELETE",
        "MERGE INTO ps USING ps2 s ON s.a = ps.a WHEN NOT MATCHED THEN INSERT VALUES (0, NULL)",
        "BEGIN; DECLARE c CURSOR FOR SELECT a FROM ps; FETCH 2 FROM c; FETCH 3 FROM c; CLOSE c; \
         COMMIT",
        "CREATE TABLE ps3 AS SELECT a, 1 AS b FROM ps",
        "EXPLAIN (COSTS OFF) SELECT a FROM ps",
        "SET work_mem = '1MB'; SET work_mem = '2MB'; SHOW work_mem; RESET work_mem",
        "SET pg_stat_statements.track_utility = off; SHOW work_mem; DROP TABLE ps3; \
         SET pg_stat_statements.track_utility = on",
        "SET pg_stat_statements.track = none; SELECT 'not counted'; \
         SET pg_stat_statements.track = top",
        "DROP TABLE ps, ps2",
    ],
    &[
        "DO $$ BEGIN PERFORM g FROM generate_series(1, 2) g; END $$",
        "SET pg_stat_statements.track = 'all'",
        "CREATE FUNCTION two(i int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE r int; BEGIN \
         SELECT (i + 1 + 1.0)::int INTO r FROM generate_series(1, 1); RETURN r; END $$",
        "CREATE FUNCTION one(i int) RETURNS int LANGUAGE sql \
         AS $$ SELECT (i + 1.0)::int LIMIT 1 $$",
        "SELECT two(-1); SELECT two(2)",
        "SELECT one(3); SELECT one(1)",
        "DO $$ BEGIN PERFORM g FROM generate_series(1, 3) g; END $$",
        "SET pg_stat_statements.track = 'top'",
        "DROP FUNCTION one, two",
    ],
];

#[test]
fn statements_are_counted_as_by_postgres() {
    let pair = Pair::start_both("statements", "C", &[PRELOAD]);
    let (mut ours, mut real) = (pair.ours.connect("postgres"), pair.real.connect("postgres"));
    for client in [&mut ours, &mut real] {
        client.must("CREATE EXTENSION pg_stat_statements");
    }
    for group in GROUPS {
        let mut found = [&mut ours, &mut real].map(|client| {
            client.must("SELECT pg_stat_statements_reset()");
            for sql in *group {
                client.query(sql).expect("an answer");
            }
            rows(client, COUNTS)
        });
        let real = found[1].split_off(0);
        let ours = found[0].split_off(0);
        let only = |a: &[Vec<Option<String>>], b: &[Vec<Option<String>>]| {
            a.iter().filter(|row| !b.contains(row)).map(|r| format!("{r:?}")).collect::<Vec<_>>()
        };
        let (missing, surplus) = (only(&real, &ours), only(&ours, &real));
        assert!(
            missing.is_empty() && surplus.is_empty(),
            "missing:\n{}\nsurplus:\n{}",
            missing.join("\n"),
            surplus.join("\n")
        );
    }
}

#[test]
fn resets_and_identifiers_behave_as_on_postgres() {
    let pair = Pair::start_both("resets", "C", &[PRELOAD]);
    let (mut ours, mut real) = (pair.ours.connect("postgres"), pair.real.connect("postgres"));
    let sql = [
        "CREATE EXTENSION pg_stat_statements",
        "CREATE ROLE ps_user; GRANT ALL ON SCHEMA public TO ps_user",
        "SELECT pg_stat_statements_reset()",
        "SET ROLE ps_user; SELECT 1 AS one; SELECT 1 + 1 AS two; SELECT pg_stat_statements_reset()",
        "SELECT queryid IS NULL, query FROM pg_stat_statements WHERE query NOT LIKE '%$1%' \
         ORDER BY 1, 2",
        "RESET ROLE; SELECT 1 AS one",
        "SELECT query, calls FROM pg_stat_statements WHERE query LIKE '%one' ORDER BY 1, 2",
        "SELECT pg_stat_statements_reset(NULL); SELECT count(*) > 3 FROM pg_stat_statements",
        "SELECT pg_stat_statements_reset(r.oid) FROM pg_roles r WHERE rolname = 'ps_user'",
        "SELECT query, calls FROM pg_stat_statements WHERE query LIKE '%one' ORDER BY 1, 2",
        "SELECT pg_stat_statements_reset(0, 0, queryid) FROM pg_stat_statements \
         WHERE query = 'SELECT $1 AS one'",
        "SELECT count(*) FROM pg_stat_statements WHERE query = 'SELECT $1 AS one'",
        "SELECT dealloc, stats_reset < now() FROM pg_stat_statements_info",
        "SELECT count(*) FROM pg_stat_activity a JOIN pg_stat_statements s \
         ON a.query_id = s.queryid WHERE a.pid = pg_backend_pid()",
        "SELECT count(*) FROM pg_stat_activity a JOIN pg_stat_statements s \
         ON a.query_id = s.queryid WHERE a.pid = pg_backend_pid()",
        "SELECT query FROM pg_stat_statements(false) WHERE query IS NOT NULL",
        "SELECT count(*), sum(plans), min(mean_exec_time) >= 0, min(stddev_exec_time) >= 0, \
         sum(jit_functions) FROM pg_stat_statements WHERE query LIKE 'SELECT dealloc%'",
    ];
    for sql in sql {
        let mut answers = [&mut ours, &mut real].map(|client| {
            let reply = client.query(sql).expect("an answer");
            let rows: Vec<_> = reply.answers.into_iter().map(|a| (a.rows, a.tag)).collect();
            (rows, reply.error.map(|e| format!("{e:?}")))
        });
        let real = std::mem::take(&mut answers[1]);
        assert_eq!(answers[0], real, "{sql}");
    }
    let mut explained = |analyzed: &str, on: &str| {
        ours.must(&format!("SET compute_query_id = {on}"));
        let plan = rows(&mut ours, &format!("EXPLAIN (VERBOSE, COSTS OFF) {analyzed}"));
        let lines: Vec<String> = plan.into_iter().flatten().flatten().collect();
        lines.into_iter().find(|line| line.starts_with("Query Identifier: "))
    };
    let first = explained("SELECT 1 AS a", "on");
    assert!(first.is_some());
    assert_eq!(first, explained("SELECT 2 AS b", "on"));
    assert_ne!(first, explained("SELECT 2.5", "on"));
    assert_eq!(explained("SELECT 1", "off"), None);
}

#[test]
fn statistics_outlive_the_server() {
    let dir = TempDir::new("statements");
    let data = dir.path().join("data");
    norsu::init(&data);
    let server = Norsu::start(&data, &["-c", PRELOAD]);
    server.query("CREATE EXTENSION pg_stat_statements");
    server.query("SELECT 1, 'kept'");
    server.stop(&data);
    let file = data.join("pg_stat/pg_stat_statements.stat");
    assert!(file.exists());
    let server = Norsu::start(&data, &["-c", PRELOAD]);
    assert!(!file.exists());
    let calls = "SELECT calls FROM pg_stat_statements WHERE query = 'SELECT $1, $2'";
    assert_eq!(server.query(calls).trim(), "1");
    server.stop(&data);
    let server = Norsu::start(&data, &[]);
    let mut client = server.connect("postgres");
    let reply = client.query("SELECT * FROM pg_stat_statements").expect("an answer");
    let error = reply.error.expect("the library is not loaded");
    assert_eq!(error.code, "55000");
    drop(client);
    server.stop(&data);
}
