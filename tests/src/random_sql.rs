//! Differential test of random statements on Norsu and on PostgreSQL: rows (as sets, unless they
//! are ordered), names and types of columns, command tags, SQLSTATE and message must be equal.
//!
//! Only statements with a single correct answer are generated: no division by zero that depends on
//! the order of evaluation, only exact sums of floating-point numbers, aggregates and LIMIT only
//! with a total order, and no grouping of values that are equal but have different text forms.
//!
//! `NORSU_RANDOM_SQL_SEED=n` runs one seed, `n..m` a range of seeds; `NORSU_TEST_LONG=1` runs many.
//! `NORSU_RANDOM_SQL_REFUSED=1` prints the statements that both servers refuse.

mod aggregate;
mod change;
mod condition;
mod expr;
mod forms;
mod from;
mod generate;
mod partition;
mod pipeline;
mod program;
mod query;
mod searched;
mod sublink;
mod window;
mod written;

use crate::pair::Pair;
use pipeline::{Counts, Pipeline};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::client::Client;

const TABLES: &[&str] = &[
    "CREATE TABLE a (id int PRIMARY KEY, x int, y bigint, s text, n numeric(8, 2), d date)",
    "CREATE TABLE b (id int PRIMARY KEY, aid int, f float8, s text, ts timestamp, arr int[])",
    "CREATE TABLE c (k int, v varchar(10), q boolean, i interval, x int)",
    "CREATE TABLE w (k int, w text, g int)",
    "CREATE TABLE e (id int PRIMARY KEY, p int, doc jsonb, tags text[], m varchar(4), z char(6))",
    "INSERT INTO a SELECT g, CASE WHEN g % 5 <> 0 THEN g % 7 - 2 END, CASE \
     WHEN g % 4 <> 1 THEN g * 1000 END, \
     (ARRAY['one', 'Two', '', 'three', NULL, 'fo''ur'])[g % 6 + 1], CASE \
     WHEN g % 3 <> 0 THEN g * 1.25 - 9 END, \
     CASE WHEN g % 6 <> 2 THEN date '2024-01-29' + g END FROM generate_series(1, 30) g",
    "INSERT INTO b SELECT g, CASE WHEN g % 4 <> 0 THEN g % 35 END, CASE \
     WHEN g % 5 <> 3 THEN g * 0.25 - 4 END, \
     (ARRAY['one', 'two', NULL, 'x y', 'three'])[g % 5 + 1], \
     timestamp '2024-02-28 10:00' + g * interval '7 hours', \
     CASE WHEN g % 3 <> 1 THEN ARRAY[g, NULL, g % 4] END FROM generate_series(1, 40) g",
    "INSERT INTO c SELECT g % 12, CASE WHEN g % 7 <> 0 THEN 'v' || g % 9 END, (ARRAY[true, false, \
     NULL])[g % 3 + 1], CASE WHEN g % 5 <> 0 THEN g * interval '1 day 3 hours' END, g % 6 \
     FROM generate_series(1, 25) g",
    // A wide table that exceeds the smallest memory setting.
    "INSERT INTO w SELECT g % 50, repeat(md5((g % 60)::text), 12), g \
     FROM generate_series(1, 220) g",
    "INSERT INTO e SELECT g, CASE WHEN g % 5 <> 1 THEN g / 3 END, CASE g % 4 \
     WHEN 0 THEN jsonb_build_object('n', g, 's', \
     ARRAY['one', NULL, g::text]) WHEN 1 THEN to_jsonb(g % 7) \
     WHEN 2 THEN jsonb_build_array(g % 3, 'x', NULL) END, \
     CASE WHEN g % 3 <> 2 THEN ARRAY['one', NULL, 't' || g % 4] END, 'm' || g % 5, CASE \
     WHEN g % 2 = 0 THEN 'z' || g END \
     FROM generate_series(1, 20) g",
    // A partitioned table of two levels with the columns of `a`, which differ in one partition, and
    // a table with inheritance children.
    "CREATE TABLE pr (id int, x int, s text, n numeric(8, 2), d date) PARTITION BY RANGE (id)",
    "CREATE TABLE pr1 PARTITION OF pr FOR VALUES FROM (0) TO (10)",
    "CREATE TABLE pr2 (n numeric(8, 2), z int, s text, id int, d date, x int)",
    "ALTER TABLE pr2 DROP COLUMN z",
    "ALTER TABLE pr ATTACH PARTITION pr2 FOR VALUES FROM (10) TO (20)",
    "CREATE TABLE pr3 PARTITION OF pr DEFAULT PARTITION BY LIST (x)",
    "CREATE TABLE pr31 PARTITION OF pr3 FOR VALUES IN (1, 2, NULL)",
    "CREATE TABLE pr32 PARTITION OF pr3 DEFAULT",
    "INSERT INTO pr SELECT g, CASE WHEN g % 6 <> 0 THEN g % 5 END, \
     (ARRAY['one', 'Two', '', NULL, 'x y'])[g % 5 + 1], g * 0.75, date '2024-02-20' + g \
     FROM generate_series(1, 28) g",
    // A table with other bounds, of which some join one partition of `pr` each.
    "CREATE TABLE ps (id int, x int, s text, k int) PARTITION BY RANGE (id)",
    "CREATE TABLE ps1 PARTITION OF ps FOR VALUES FROM (0) TO (7)",
    "CREATE TABLE ps2 PARTITION OF ps FOR VALUES FROM (10) TO (20) PARTITION BY LIST (x)",
    "CREATE TABLE ps21 (k int, s text, x int, id int)",
    "ALTER TABLE ps2 ATTACH PARTITION ps21 FOR VALUES IN (0, 1, 2)",
    "CREATE TABLE ps22 PARTITION OF ps2 FOR VALUES IN (3, 4, NULL)",
    "CREATE TABLE ps3 PARTITION OF ps FOR VALUES FROM (20) TO (99)",
    "INSERT INTO ps SELECT g, CASE WHEN g % 7 <> 0 THEN g % 5 END, \
     (ARRAY['one', 'two', '', NULL, 'x y'])[g % 5 + 1], g % 4 \
     FROM generate_series(1, 36) g WHERE g < 7 OR g > 9",
    "CREATE TABLE ih (id int, aid int, f float8, s text)",
    "CREATE TABLE ih1 (CHECK (id < 15)) INHERITS (ih)",
    "CREATE TABLE ih2 (more int, CHECK (id >= 15 AND aid IS NOT NULL)) INHERITS (ih)",
    "INSERT INTO ih SELECT g, g % 4, g * 0.5, 'top' FROM generate_series(1, 6) g",
    "INSERT INTO ih1 SELECT g, CASE WHEN g % 3 <> 0 THEN g % 5 END, g * 0.25, \
     (ARRAY['one', NULL, 'low'])[g % 3 + 1] FROM generate_series(1, 14) g",
    "INSERT INTO ih2 SELECT g, g % 9, CASE WHEN g % 4 <> 0 THEN g * 0.5 END, 'high', 0 \
     FROM generate_series(15, 30) g",
    // A partitioned table with a primary key; the columns of a partition have other numbers.
    "CREATE TABLE pu (id int PRIMARY KEY, x int, s text) PARTITION BY RANGE (id)",
    "CREATE TABLE pu1 (s text, id int NOT NULL, x int)",
    "ALTER TABLE pu ATTACH PARTITION pu1 FOR VALUES FROM (MINVALUE) TO (8)",
    "CREATE TABLE pu2 PARTITION OF pu FOR VALUES FROM (8) TO (40) PARTITION BY HASH (id)",
    "CREATE TABLE pu21 PARTITION OF pu2 FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
    "CREATE TABLE pu22 PARTITION OF pu2 FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
    "CREATE TABLE pu3 PARTITION OF pu DEFAULT",
    "INSERT INTO pu SELECT g, CASE WHEN g % 4 <> 0 THEN g % 6 END, \
     (ARRAY['one', 'Two', NULL, ''])[g % 4 + 1] FROM generate_series(1, 48, 2) g",
    // A table that GIN indexes search.
    "CREATE TABLE gx (id int PRIMARY KEY, k int, tags text[], nums int[], doc jsonb, \
     tv tsvector, r int4range, mr int4multirange, s text)",
    "INSERT INTO gx SELECT g, CASE WHEN g % 9 <> 0 THEN g % 6 END, CASE WHEN g % 7 <> 3 \
     THEN ARRAY['one', 't' || g % 4, (ARRAY['x y', NULL, 'two'])[g % 3 + 1]] END, \
     CASE g % 8 WHEN 5 THEN NULL WHEN 6 THEN '{}' ELSE ARRAY[g % 5, g % 3, NULL] END, \
     CASE g % 5 WHEN 0 THEN jsonb_build_object('n', g % 4, 's', ARRAY['one', 't' || g % 3]) \
     WHEN 1 THEN jsonb_build_object('s', 'one', 'd', jsonb_build_object('n', g % 3)) \
     WHEN 2 THEN jsonb_build_array(g % 3, 'one', NULL) WHEN 3 THEN to_jsonb(g % 4) END, \
     CASE WHEN g % 6 <> 1 THEN to_tsvector('simple', \
     'w' || g % 4 || ' one w' || g % 7 || ' two') END, CASE WHEN g % 7 <> 2 THEN \
     int4range(g % 10, g % 10 + g % 4, (ARRAY['[)', '[]', '(]'])[g % 3 + 1]) END, \
     CASE WHEN g % 5 <> 4 THEN int4multirange(int4range(g % 9, g % 9 + g % 3), \
     int4range(g % 9 + 4, CASE WHEN g % 4 <> 0 THEN g % 9 + 7 END)) END, \
     (ARRAY['a', 'B', 'b', 'Ä', NULL, 'z'])[g % 6 + 1] FROM generate_series(1, 60) g",
    "CREATE INDEX ON gx USING gin (tags)",
    "CREATE INDEX ON gx USING gin (nums, tags)",
    "CREATE INDEX ON gx USING gin (doc)",
    "CREATE INDEX ON gx USING gin (doc jsonb_path_ops)",
    "CREATE INDEX ON gx USING gin (tv)",
    "CREATE INDEX ON gx (s COLLATE \"en-x-icu\")",
    "CREATE STATISTICS gxs ON k, s FROM gx",
    "CREATE STATISTICS axs ON x, s FROM a",
    "CREATE STATISTICS axe ON (id % 3), x FROM a",
    "CREATE INDEX ON pr (x)",
    "CREATE INDEX ON pr (id)",
    "CREATE INDEX ON ih2 (id)",
    "CREATE INDEX ON a (x)",
    "CREATE INDEX ON b (aid, f)",
    "CREATE SEQUENCE sq",
    "CREATE TABLE lg (what text, i int, s text)",
    // All views have the same columns: computed columns, constants, columns of the nullable side of
    // outer joins, groups.
    "CREATE VIEW va AS SELECT id AS k, 'a'::text AS kind, COALESCE(s, '-') AS s, x + 1 AS n FROM a",
    "CREATE VIEW vj AS SELECT a.id AS k, 'j'::text AS kind, q.s, q.n FROM a LEFT \
     JOIN (SELECT aid, 'b'::text AS s, \
     7 AS n FROM b) q ON q.aid = a.x",
    "CREATE VIEW vg AS SELECT x AS k, max(s) AS kind, NULL::text AS s, count(*)::int AS n FROM a \
     GROUP BY x",
    "CREATE VIEW vu AS SELECT k, 'c'::text AS kind, v::text AS s, (SELECT count(*)::int FROM a \
     WHERE a.x = c.k) AS n \
     FROM c UNION ALL SELECT id, 'b', s, aid FROM b",
    "CREATE FUNCTION count_of(p int) RETURNS int LANGUAGE sql STABLE AS \
     $$ SELECT count(*)::int FROM b JOIN c ON b.id = c.k + p $$",
    "CREATE FUNCTION largest_of(p int, q text) RETURNS text LANGUAGE sql AS \
     $$ SELECT max(s) FROM a WHERE s <> q AND id IN (SELECT b.aid + p FROM b) $$",
    "CREATE TYPE pt AS (k int, v text)",
    "CREATE FUNCTION next_of(p int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT p + 1 $$",
    "CREATE FUNCTION made_of(p int) RETURNS int LANGUAGE sql VOLATILE STRICT AS \
     $$ SELECT count(*)::int FROM generate_series(1, abs(p) % 5) g WHERE g <> p $$",
    "CREATE FUNCTION joined_of(q text, p int) RETURNS text LANGUAGE sql STABLE AS \
     $$ SELECT string_agg(q || g, ',' ORDER BY g) FROM generate_series(1, abs(p) % 4) g $$",
    "CREATE FUNCTION row_of(p int, q text) RETURNS pt LANGUAGE sql STABLE AS $$ \
     SELECT p + 1, q || 'z' WHERE p <> 3 $$",
    "CREATE FUNCTION pair_of(p int, q text, OUT k int, OUT v text) LANGUAGE sql AS $$ \
     SELECT p - 1, COALESCE(q, '-') $$",
    "CREATE FUNCTION numbers_of(p int) RETURNS SETOF int LANGUAGE sql VOLATILE AS \
     $$ SELECT g + p FROM generate_series(1, abs(p) % 4) g $$",
    "CREATE FUNCTION made_rows(p int, q text) RETURNS SETOF pt LANGUAGE sql VOLATILE AS \
     $$ SELECT a.id, a.s || q FROM a WHERE a.x = p UNION ALL SELECT p, q $$",
    "CREATE FUNCTION rows_of(p int) RETURNS TABLE (k int, v text) LANGUAGE sql STABLE AS \
     $$ SELECT c.k, c.v FROM c JOIN b ON b.id = c.k + p $$",
    "ANALYZE",
];

/// Statements that take longer are not compared.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout in the long form, in which such statements would otherwise take most of the time.
const LONG_TIMEOUT: Duration = Duration::from_millis(100);

/// Number of concurrent runs, each with a connection to both servers and a database of its own.
const WORKERS: usize = 2;

#[test]
fn random_statements_have_the_results_of_postgres() {
    let pair = Pair::start("random-sql", "C.UTF-8", &[]);
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let timeout = if long { LONG_TIMEOUT } else { TIMEOUT };
    let seeds = match std::env::var("NORSU_RANDOM_SQL_SEED") {
        Ok(text) => {
            let number = |n: &str| n.parse::<u64>().expect("a number");
            let range = text.split_once("..").map(|(from, to)| number(from)..number(to));
            range.unwrap_or_else(|| number(&text)..number(&text) + 1)
        }
        Err(_) if long => 0..100_000,
        Err(_) => 0..250,
    };
    let (next, start) = (AtomicU64::new(seeds.start), Instant::now());
    let wrong = Mutex::new(Vec::new());
    let run = |worker: usize| {
        let mut worker = Pipeline::new(connect(&pair, &format!("worker{worker}")), timeout);
        let seed = || {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let done = seed.saturating_sub(seeds.start);
            if done > 0 && done.is_multiple_of(10_000) {
                eprintln!("{done} statements in {} s", start.elapsed().as_secs());
            }
            (seed < seeds.end).then_some(seed)
        };
        worker.run(seed, |seed, report| {
            // Differences are printed immediately, because a run may be long.
            let report = report.into_iter().map(|report| format!("seed {seed}: {report}"));
            let mut wrong = wrong.lock().expect("no panic while it is held");
            for report in report {
                eprintln!("{report}");
                wrong.push(report);
            }
        });
        worker.counts
    };
    let mut counts = Counts::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let run = &run;
                scope.spawn(move || run(worker))
            })
            .collect();
        for worker in workers {
            counts.add(worker.join().expect("a worker ends"));
        }
    });
    let wrong = wrong.into_inner().expect("no panic while it was held");
    let Counts { statements, steps, canceled, slow_in_norsu, refused, ambiguous } = counts;
    eprintln!(
        "{statements} statements of {steps} steps in {} s, {refused} refused, {canceled} canceled \
         ({slow_in_norsu} answered quickly by PostgreSQL), {ambiguous} ambiguous, \
         {} differences",
        start.elapsed().as_secs(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} of {statements} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(steps > canceled + refused, "nothing was compared");
    assert!(!pair.ours.log().contains("panicked"), "{}", pair.ours.log());
}

/// Connections to a new database with the tables; PostgreSQL's is the first.
fn connect(pair: &Pair, database: &str) -> [Client; 2] {
    let create = format!("CREATE DATABASE {database}");
    let mut real = pair.real.connect("postgres");
    real.must(&create);
    // JIT compilation of expressions would take five sixths of the time.
    real.must(&format!("ALTER DATABASE {database} SET jit = off"));
    pair.ours.connect("postgres").must(&create);
    let mut servers = [pair.real.connect(database), pair.ours.connect(database)];
    for sql in TABLES {
        servers.iter_mut().for_each(|s| {
            s.must(sql);
        });
    }
    servers
}
