-- HAVING is a list of conditions, each of which is a grouping column only if it equals one completely.
SELECT (6 NOT IN (g, g, g)) AS x, g FROM generate_series(1, 1) AS t(g) GROUP BY GROUPING SETS (((6 NOT IN (g, g, g)), g), ((6 NOT IN (g, g, g))), ()) HAVING (6 NOT IN (g, g, g)) ORDER BY 1, 2
SELECT (g > 1 AND g < 4) AS x, count(*) FROM generate_series(1, 5) g GROUP BY [[ROLLUP (g > 1 AND g < 4)¦GROUPING SETS ((g > 1 AND g < 4), ())¦CUBE (g, (g > 1 AND g < 4))¦(g > 1 AND g < 4)]] HAVING [[(g > 1 AND g < 4)¦(g > 1 AND g < 4) IS TRUE¦NOT (g > 1 AND g < 4)¦(g > 1 AND g < 4) OR count(*) > 9]] ORDER BY 1, 2
SELECT (g = 1 OR g = 2) AS x, count(*) FROM generate_series(1, 5) g GROUP BY ROLLUP ((g = 1 OR g = 2)) HAVING (g = 1 OR g = 2) ORDER BY 1
PREPARE h (int) AS SELECT ($1 BETWEEN k AND k) AS x, count(*) FROM (VALUES (1, 2), (2, 2), (2, 3)) v(k, m) GROUP BY GROUPING SETS ((($1 BETWEEN k AND k)), (($1 BETWEEN k AND k), m)) HAVING ($1 BETWEEN k AND k) ORDER BY 1, 2; EXECUTE h (1); EXECUTE h (2); EXECUTE h (NULL); DEALLOCATE h
SELECT x % 2, count(*), sum(y), [[0¦grouping(x % 2)¦max(c)]] FROM generate_series(1, 4) x CROSS JOIN (SELECT y, 7 AS c, y + 1 AS d FROM generate_series(1, 3) y WHERE y > 1) s WHERE d > [[2¦3]] AND c = 7 GROUP BY [[ROLLUP (x % 2)¦CUBE (x % 2, y)¦GROUPING SETS ((x % 2), (c), ())]] [[¦HAVING x % 2 IS NULL ]]ORDER BY 1, 2, 3
-- A row comparison of constants is not simplified, so it is NULL in a grouping set that does not contain it.
SELECT (ROW(1.5::float8, 'THREE') <= ROW(1.5::float8, 'x y')) AS x, grouping((ROW(1.5::float8, 'THREE') <= ROW(1.5::float8, 'x y'))), count(*) FROM generate_series(1, 2) g GROUP BY [[ROLLUP¦CUBE]] ((ROW(1.5::float8, 'THREE') <= ROW(1.5::float8, 'x y'))) [[¦HAVING ((ROW(1.5::float8, 'THREE') <= ROW(1.5::float8, 'x y'))) IS NULL ]]ORDER BY 2
-- Above the aggregation, calls of grouping() whose arguments have become equal are a single call.
SELECT * FROM (SELECT (CASE WHEN true THEN g ELSE 2 END + 0) AS a, grouping((CASE WHEN true THEN g ELSE 2 END + 0)), (g + 0) AS b, grouping((g + 0))[[, 1¦, rank() OVER (ORDER BY count(*))]] FROM generate_series(1, 2) g GROUP BY GROUPING SETS (((CASE WHEN true THEN g ELSE 2 END + 0), (g + 0)), ((CASE WHEN true THEN g ELSE 2 END + 0)), ((g + 0)), ())) s ORDER BY 1, 2, 3, 4, 5
EXPLAIN (COSTS OFF) SELECT a, count(*) FROM (VALUES (1), (2)) v(a) GROUP BY GROUPING SETS ((a), ()) HAVING NOT false
SELECT 1 AS one HAVING true
EXPLAIN (COSTS OFF) SELECT 1 AS one FROM generate_series(1, 3) HAVING NOT false
EXPLAIN (COSTS OFF) SELECT 1 AS one FROM generate_series(1, 3) HAVING random() > 2
EXPLAIN (COSTS OFF) SELECT count(*) OVER () AS one, generate_series(1, 3) FROM generate_series(1, 3) HAVING 1 > 2
SELECT count(*) OVER (), generate_series(1, 3) FROM generate_series(1, 3) g HAVING now() IS NOT NULL ORDER BY 2 LIMIT 2
SELECT (SELECT a HAVING a > 1) FROM (VALUES (1), (2), (3)) v(a)
SELECT a, (SELECT 'x' FROM generate_series(1, 9) HAVING a > random() + 1) FROM (VALUES (1), (2), (3)) v(a)
-- Rows and sets within grouping sets are flattened, and a column counts once in each.
CREATE TEMP TABLE gst(a int, b int); INSERT INTO gst VALUES (1, 2), (1, 3), (2, 2)
CREATE TEMP VIEW gv1 AS SELECT a, b FROM gst GROUP BY GROUPING SETS ((a, b, b), (b), (b, b, a), ()); CREATE TEMP VIEW gv2 AS SELECT a FROM gst GROUP BY CUBE ((a, a), b, (a)); CREATE TEMP VIEW gv3 AS SELECT a, count(*) FROM gst GROUP BY a, GROUPING SETS (a, (b, b), GROUPING SETS ((b, b), ROLLUP (a, (b, a, a))))
CREATE TEMP VIEW gv4 AS SELECT j.b FROM gst JOIN gst s(b, c) USING (b) AS j GROUP BY GROUPING SETS ((gst.b, j.b, s.b), j.b); CREATE TEMP VIEW gv5 AS SELECT a, b FROM gst GROUP BY (), (a, (b, a)), (); CREATE TEMP VIEW gv6 AS SELECT a FROM gst GROUP BY (a, b), ROLLUP (a, (b, (a)))
SELECT v, pg_get_viewdef(v::regclass) FROM unnest(ARRAY['gv1', 'gv2', 'gv3', 'gv4', 'gv5', 'gv6']) v ORDER BY v
SELECT * FROM gv1 ORDER BY 1, 2
SELECT * FROM gv3 ORDER BY 1, 2
SELECT * FROM gv5 ORDER BY 1, 2
SELECT * FROM gv6 ORDER BY 1
