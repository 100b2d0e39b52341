-- Semi joins that are executed as inner joins with the distinct rows of their right side.
CREATE TEMP TABLE su (a int, b text, c numeric)
CREATE TEMP TABLE sv (x int, y text, z int)
CREATE TEMP TABLE sw (k int PRIMARY KEY, t text)
INSERT INTO su SELECT g % 5000, 't' || g % 700, g % 30 FROM generate_series(1, 20000) g
INSERT INTO sv SELECT g % 3, 't' || g % 4, g FROM generate_series(1, 12) g
INSERT INTO sv VALUES (NULL, 't1', 1), (2, NULL, 5)
INSERT INTO sw SELECT g, 'w' || g % 50 FROM generate_series(1, 6000) g
CREATE INDEX ON su (a); CREATE INDEX ON su (b); ANALYZE su; ANALYZE sv; ANALYZE sw
SELECT count(*), sum(a) FROM su WHERE a IN (SELECT x FROM sv)
SELECT count(*), sum(a) FROM su WHERE (a, b) IN (SELECT x, y FROM sv)
SELECT count(*), sum(a) FROM su WHERE b IN (SELECT y FROM sv) AND a IN (SELECT x FROM sv)
SELECT count(*), sum(a) FROM su WHERE EXISTS (SELECT FROM sv WHERE x = a AND y = b)
SELECT count(*), sum(a) FROM su WHERE EXISTS (SELECT FROM sv WHERE x = a AND z > 4)
SELECT count(*), sum(a) FROM su WHERE EXISTS (SELECT FROM sv WHERE x = a AND z > c)
SELECT count(*), sum(a) FROM su WHERE EXISTS (SELECT FROM sv WHERE x = a AND z = x)
SELECT count(*), sum(a) FROM su WHERE EXISTS (SELECT FROM sv WHERE x = a AND x = c)
SELECT count(*), sum(su.a) FROM su JOIN sw ON sw.k = su.a WHERE su.a IN (SELECT x FROM sv) AND sw.t > 'w1'
SELECT count(*), sum(su.a) FROM su JOIN sw ON sw.k = su.a WHERE (su.b, sw.k) IN (SELECT y, x FROM sv)
SELECT count(*), sum(su.a) FROM su JOIN sw ON sw.k = su.a WHERE su.b IN (SELECT y FROM sv WHERE x > 0) AND sw.k IN (SELECT z FROM sv)
SELECT count(*), sum(su.a) FROM su LEFT JOIN sw ON sw.k = su.a WHERE su.a IN (SELECT x FROM sv)
SELECT count(*), sum(su.a) FROM su LEFT JOIN sw ON sw.k = su.a AND sw.k IN (SELECT x FROM sv)
SELECT count(*), sum(su.a) FROM su WHERE a IN (SELECT v.x FROM sv v JOIN sv w ON v.x = w.z)
SELECT count(*), sum(su.a) FROM su WHERE a IN (SELECT max(x) FROM sv GROUP BY y)
SELECT count(*), sum(su.a) FROM su WHERE a IN (SELECT x + 1 FROM sv)
SELECT count(*), sum(su.a) FROM su WHERE c IN (SELECT x FROM sv) AND a < 50
SELECT count(*), sum(su.a) FROM su WHERE a::bigint IN (SELECT x FROM sv)
SELECT count(*), sum(su.a) FROM su WHERE a IN (SELECT z::bigint FROM sv)
SELECT count(*), sum(su.a) FROM su WHERE a IN (SELECT z::numeric FROM sv)
SELECT count(*), sum(su.a) FROM su WHERE a IN (SELECT x FROM sv) AND NOT EXISTS (SELECT FROM sw WHERE k = a AND t = 'w1')
SELECT count(*), sum(s) FROM (SELECT (SELECT count(*) FROM su WHERE a IN (SELECT x FROM sv WHERE sv.z = w.k)) s FROM sw w WHERE k < 15) q
SELECT w.k, l.n FROM sw w, LATERAL (SELECT count(*) n FROM su WHERE a = w.k AND a IN (SELECT x FROM sv WHERE z < w.k)) l WHERE w.k < 6 ORDER BY 1
WITH m AS MATERIALIZED (SELECT x FROM sv) SELECT count(*), sum(a) FROM su JOIN sw ON k = a WHERE a IN (SELECT x FROM m)
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 9 AND n IN (SELECT z FROM sv)) SELECT count(*), max(n) FROM r
SELECT count(*) FROM su WHERE a IN (SELECT x FROM sv) AND a IN (SELECT z FROM sv) AND b IN (SELECT y FROM sv)
BEGIN; DELETE FROM su WHERE a IN (SELECT x FROM sv); SELECT count(*) FROM su; ROLLBACK
BEGIN; UPDATE su SET c = -1 FROM sw WHERE k = a AND a IN (SELECT x FROM sv); SELECT count(*), sum(c) FROM su; ROLLBACK
SELECT a FROM su WHERE a IN (SELECT x FROM sv) AND b = 't3' FOR UPDATE
SET enable_hashagg = off
SELECT count(*), sum(su.a) FROM su JOIN sw ON sw.k = su.a WHERE su.a IN (SELECT x FROM sv)
