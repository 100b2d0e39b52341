//! Many or wide rows: sorts, joins, groups, windows, recursion, cursors, and infinite series.

pub(super) const SETS: &[&str] = &[
    "SELECT count(*) FROM (SELECT g FROM generate_series(1, 1000000000) g ORDER BY g DESC) s",
    "SELECT * FROM generate_series(1, 100000000) g ORDER BY md5(g::text)",
    "SELECT count(*) FROM (SELECT repeat('x', 100000) || g FROM generate_series(1, 100000) g \
     ORDER BY 1) s",
    "SELECT count(*) FROM (SELECT repeat('x', 10000000) || g FROM generate_series(1, 100) g \
     ORDER BY 1) s",
    "SELECT count(DISTINCT g) FROM generate_series(1, 1000000000) g",
    "SELECT count(DISTINCT repeat('x', 10000) || g) FROM generate_series(1, 1000000) g",
    "SELECT DISTINCT g FROM generate_series(1, 100000000) g",
    "SELECT g, count(*) FROM generate_series(1, 100000000) g GROUP BY g",
    "SELECT g, array_agg(g), string_agg(g::text, ',') FROM generate_series(1, 20000000) g \
     GROUP BY g",
    "SELECT a, b, c, count(*) FROM (SELECT g AS a, g + 1 AS b, g + 2 AS c \
     FROM generate_series(1, 10000000) g) s \
     GROUP BY CUBE (a, b, c)",
    "SELECT count(*) FROM generate_series(1, 100000000) a JOIN generate_series(1, 100000000) b \
     ON a = b",
    "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b",
    "SELECT count(*) FROM generate_series(1, 1000000) a JOIN generate_series(1, 1000000) b \
     ON a < b",
    "SELECT count(*) FROM generate_series(1, 10000000) a FULL JOIN generate_series(1, 10000000) b \
     ON a = b * 2",
    "SELECT count(*) FROM (SELECT 1 AS a FROM generate_series(1, 10000000)) a \
     JOIN (SELECT 1 AS a FROM generate_series(1, 10000000)) b USING (a)",
    "SELECT count(*) FROM generate_series(1, 10000000) a WHERE a NOT IN (SELECT b \
     FROM generate_series(1, 10000000) b)",
    "SELECT count(*) FROM generate_series(1, 1000000) a WHERE NOT EXISTS \
     (SELECT FROM generate_series(1, 1000000) b WHERE b + 0 > a)",
    "SELECT count(*) FROM (SELECT sum(g) OVER (ORDER BY g) FROM generate_series(1, 100000000) g) s",
    "SELECT count(*) FROM (SELECT max(g) OVER (ORDER BY g ROWS BETWEEN 1000000 PRECEDING \
     AND 1000000 FOLLOWING \
     EXCLUDE CURRENT ROW) FROM generate_series(1, 10000000) g) s",
    "SELECT count(*) FROM (SELECT array_agg(g) OVER (ORDER BY g) \
     FROM generate_series(1, 1000000) g) s",
    "SELECT count(*) FROM (SELECT string_agg(g::text, '') OVER (ROWS BETWEEN UNBOUNDED PRECEDING \
     AND CURRENT ROW) \
     FROM generate_series(1, 1000000) g) s",
    "SELECT count(*) FROM (SELECT lag(g, 1000000) OVER (), nth_value(g, 5000000) OVER () \
     FROM generate_series(1, 50000000) g) s",
    "SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY repeat('x', 1000) || g) \
     FROM generate_series(1, 10000000) g) s",
    "SELECT count(*) FROM (SELECT g FROM generate_series(1, 100000000) g UNION SELECT -g FROM \
     generate_series(1, 100000000) g) s",
    "SELECT count(*) FROM (SELECT repeat('x', 1000) || g FROM generate_series(1, 10000000) g \
     EXCEPT ALL \
     SELECT repeat('x', 1000) || g FROM generate_series(1, 10000000) g) s",
    "SELECT count(*) FROM (SELECT g FROM generate_series(1, 100000000) g INTERSECT SELECT g FROM \
     generate_series(1, 100000000) g) s",
    "WITH c AS MATERIALIZED (SELECT repeat('x', 1000) || g AS t \
     FROM generate_series(1, 100000000) g) \
     SELECT count(*) FROM c a, c b",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r, generate_series(1, 10)) \
     SELECT count(*) FROM r",
    "WITH RECURSIVE r(n, p) AS (SELECT 1, ARRAY[1] UNION ALL SELECT n + 1, p || n \
     FROM r, generate_series(1, 2)) \
     CYCLE n SET c USING q SELECT count(*) FROM r",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SEARCH BREADTH FIRST BY n \
     SET o \
     SELECT count(*) FROM r",
    "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY g) FROM generate_series(1, 1000000000) g",
    "SELECT percentile_cont((SELECT array_agg(0.5::float8) \
     FROM generate_series(1, 1000000))) WITHIN GROUP (ORDER BY g) \
     FROM generate_series(1, 1000000) g",
    "SELECT mode() WITHIN GROUP (ORDER BY repeat('x', 10000) || g) \
     FROM generate_series(1, 1000000) g",
    "SELECT rank(5) WITHIN GROUP (ORDER BY g) FROM generate_series(1, 1000000000) g",
    "SELECT * FROM generate_series(1, 1000000000000)",
    "SELECT count(*) FROM generate_series(1, 1000000000000)",
    "SELECT count(*) FROM generate_series(1, 1e30::numeric, 1e-10)",
    "SELECT count(*) FROM generate_series('4000-01-01 BC'::timestamp, '294000-01-01', \
     '1 microsecond')",
    "SELECT generate_series(1, 1000000000), generate_series(1, 999999999)",
    "SELECT sum(a) FROM (SELECT generate_series(1, 1000000000) AS a OFFSET 0) s",
    "SELECT unnest(array_fill(1, ARRAY[100000000])), generate_series(1, 3)",
    "SELECT g, (SELECT count(*) FROM generate_series(1, g)) FROM generate_series(1, 1000000) g",
    "SELECT count(*) FROM generate_series(1, 1000000) g, LATERAL (SELECT count(*) \
     FROM generate_series(1, g)) s",
    "SELECT count(*) FROM pg_class a, pg_class b, pg_class c, pg_class d",
    "SELECT count(*) FROM pg_attribute a, pg_attribute b WHERE a.attname || b.attname = 'x'",
    "SELECT * FROM pg_attribute a, pg_attribute b ORDER BY a.attname || b.attname",
    "SELECT * FROM generate_series(1, 100000000) g OFFSET 99999999",
    "SELECT * FROM generate_series(1, 100000000) g ORDER BY -g LIMIT 50000000 OFFSET 10",
    "SELECT * FROM ROWS FROM (generate_series(1, 100000000), generate_series(1, 100000000)) \
     AS t(a, b)",
    "BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT repeat('x', 1000) || g \
     FROM generate_series(1, 100000000) g; COMMIT",
    "BEGIN; DECLARE c SCROLL CURSOR FOR SELECT g FROM generate_series(1, 1000000000) g; \
     FETCH LAST FROM c",
    "BEGIN; DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 1000000000) g; \
     MOVE FORWARD ALL FROM c",
    "CREATE TEMP TABLE t AS SELECT repeat('x', 1000) || g AS x \
     FROM generate_series(1, 100000000) g",
    "CREATE TEMP TABLE t (x int); INSERT INTO t SELECT generate_series(1, 1000000000)",
    "CREATE TEMP TABLE t (x text); INSERT INTO t VALUES ('x'); \
     INSERT INTO t SELECT repeat('x', 50000000) \
     FROM generate_series(1, 1000)",
    "COPY (SELECT repeat('x', 100000000) FROM generate_series(1, 100)) TO STDOUT",
    "COPY (SELECT repeat(E'\\\\\\n', 200000000)) TO STDOUT",
    "COPY (SELECT repeat('\"', 400000000)) TO STDOUT (FORMAT csv)",
    "COPY (SELECT generate_series(1, 1000000000)) TO STDOUT (FORMAT binary)",
    "SELECT pg_sleep(1000)",
    "SELECT pg_sleep(1e300)",
    "SELECT pg_sleep(0.001) FROM generate_series(1, 1000000)",
    "SELECT pg_advisory_lock(g) FROM generate_series(1, 10000000) g",
    "SELECT pg_advisory_xact_lock_shared(g, 7) FROM generate_series(1, 10000000) g",
    "BEGIN; SELECT count(pg_notify('flood', g::text || repeat('x', 7000))) \
     FROM generate_series(1, 10000000) g; COMMIT",
    "LISTEN flood; SELECT count(pg_notify('flood', g::text)) FROM generate_series(1, 1000000) g",
    "SELECT set_config('norsu_test.x' || g, repeat('x', 100000), false) \
     FROM generate_series(1, 1000000) g",
    "SELECT set_config('norsu_test.big', repeat('x', 500000000), false) IS NULL",
    "SELECT set_config('application_name', repeat('x', 500000000), false)",
    "SELECT count(pg_get_viewdef('pg_stat_activity'::regclass)) FROM generate_series(1, 10000000)",
    "SELECT count(*) FROM generate_series(1, 10000000) g WHERE has_table_privilege('pg_class', \
     'SELECT')",
    "SELECT sum(hashtext(g::text)) FROM generate_series(1, 10000000000) g",
    "SELECT count(*) FROM pg_timezone_names, pg_timezone_names b, pg_timezone_names c",
    "EXPLAIN ANALYZE SELECT count(*) FROM generate_series(1, 1000000000)",
    "SELECT lo_from_bytea(0, repeat('x', 100000000)::bytea) FROM generate_series(1, 100)",
    "SELECT txid_current(), pg_current_xact_id_if_assigned(), g \
     FROM generate_series(1, 100000000) g",
    "SELECT corr(a, b), regr_slope(a, b), stddev(a), var_pop(b) FROM generate_series(1, 10000) a, \
     generate_series(1, 1000000) b",
    "SELECT sum(g::numeric ^ 50) FROM generate_series(1, 10000000) g",
    "SELECT bit_and(g), bool_or(g > 5), every(g < 7) FROM generate_series(1, 10000000000) g",
    "MERGE INTO pgbench_branches USING (SELECT count(*) AS n \
     FROM generate_series(1, 10000000000)) s ON bid = n \
     WHEN MATCHED THEN DO NOTHING",
];

/// Several statements in one session; each has its own timeout.
pub(super) const SCRIPTS: &[&[&str]] = &[
    &[
        "CREATE TEMP TABLE wide AS SELECT g AS id, repeat('x', 3000) AS t \
         FROM generate_series(1, 3000) g",
        "SELECT count(*) FROM wide a, wide b WHERE a.t || a.id < b.t || b.id",
        "SELECT sum(length(a.t || b.t)) FROM wide a, wide b",
        "SELECT string_agg(a.t, ',') FROM wide a, wide b",
        "UPDATE wide SET t = repeat('y', 100000)",
        "SELECT * FROM wide a, wide b",
        "CREATE INDEX md5s ON wide (md5(repeat(t, 100)))",
        "CREATE INDEX starts ON wide (left(t, 2000), id)",
        "DROP INDEX IF EXISTS md5s, starts",
        "ALTER TABLE wide ALTER t TYPE bytea USING repeat(t, 100)::bytea",
        "VACUUM FULL wide",
        "ANALYZE wide",
        "DELETE FROM wide a USING wide b, wide c WHERE a.id < b.id + c.id",
    ],
    &[
        "CREATE FUNCTION pg_temp.deep(n int) RETURNS int LANGUAGE sql AS 'SELECT CASE \
         WHEN n = 0 THEN 0 ELSE 1 END'",
        "CREATE OR REPLACE FUNCTION pg_temp.deep(n int) RETURNS int LANGUAGE sql \
         AS 'SELECT CASE WHEN n = 0 THEN 0 ELSE 1 + pg_temp.deep(n - 1) END'",
        "SELECT pg_temp.deep(100)",
        "SELECT pg_temp.deep(2000000000)",
        "CREATE FUNCTION pg_temp.wide(n int) RETURNS bigint LANGUAGE sql VOLATILE \
         AS 'SELECT count(*) FROM generate_series(1, n) g WHERE pg_temp.deep(g % 5) >= 0'",
        "SELECT pg_temp.wide(100000000)",
        "CREATE FUNCTION pg_temp.endless() RETURNS SETOF bigint LANGUAGE sql \
         AS 'SELECT generate_series(1, 100000000000)'",
        "SELECT sum(x) FROM pg_temp.endless() x",
        "SELECT pg_temp.endless()",
    ],
    &[
        "CREATE TEMP TABLE vs (n int)",
        "INSERT INTO vs SELECT generate_series(1, 100000)",
        "UPDATE vs SET n = (SELECT count(*) FROM vs b WHERE b.n <= vs.n)",
        "DELETE FROM vs WHERE n IN (SELECT a.n + b.n FROM vs a, vs b)",
        "SELECT count(*) FROM vs a WHERE n = ANY (SELECT b.n + a.n FROM vs b)",
        "SELECT count(*) FROM vs WHERE n = ANY ((SELECT array_agg(g) \
         FROM generate_series(1, 100000) g)::int[])",
        "SELECT (SELECT string_agg(n::text, ',' ORDER BY n + vs.n) FROM vs b) FROM vs",
    ],
    &[
        "PREPARE p(int) AS SELECT count(*) FROM generate_series(1, $1)",
        "EXECUTE p(2000000000)",
        "PREPARE q(text) AS SELECT repeat($1, 100000000)",
        "EXECUTE q('x')",
        "EXECUTE q('xxxxxxxxxxxxxxx')",
    ],
    &[
        "BEGIN",
        "SET LOCAL work_mem = '2097151MB'",
        "SELECT count(*) FROM (SELECT repeat('x', 1000) || g AS t \
         FROM generate_series(1, 10000000) g ORDER BY 1) s",
        "ROLLBACK",
        "SET work_mem = '2097151MB'",
        "SELECT count(*) FROM (SELECT DISTINCT repeat('x', 1000) || g AS t \
         FROM generate_series(1, 10000000) g) s",
        "SELECT count(*) FROM generate_series(1, 10000000) a JOIN \
         (SELECT repeat('x', 1000) AS t, g FROM generate_series(1, 10000000) g) b ON a = g",
        "SET work_mem = '64kB'",
        "SELECT count(*) FROM (SELECT repeat('x', 1000) || g AS t \
         FROM generate_series(1, 10000000) g ORDER BY 1) s",
        "SELECT count(*) FROM (SELECT DISTINCT repeat('x', 1000) || g AS t \
         FROM generate_series(1, 10000000) g) s",
        "SELECT count(*) FROM generate_series(1, 10000000) a JOIN \
         (SELECT repeat('x', 1000) AS t, g FROM generate_series(1, 10000000) g) b ON a = g",
        "SELECT count(*) FROM generate_series(1, 30000000) a JOIN \
         (SELECT 1 AS k FROM generate_series(1, 30000000) g) b ON a = k",
    ],
];
