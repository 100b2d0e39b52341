-- Rows that nodes keep over a rescan although their inputs change, and sub-selects in all positions.
CREATE TABLE r_1 (a int)
CREATE TABLE r_2 (b int)
CREATE TABLE r_3 (c int, t text)
INSERT INTO r_1 SELECT generate_series(1, 5)
INSERT INTO r_2 SELECT generate_series(0, 9)
INSERT INTO r_3 SELECT g, 'x' || g % 3 FROM generate_series(0, 9) g
CREATE INDEX r_3_c ON r_3 (c)
ANALYZE
[[SET enable_mergejoin = off; SET enable_nestloop = off¦RESET enable_mergejoin; RESET enable_nestloop¦SET enable_hashjoin = off; SET enable_nestloop = off¦SET enable_hashjoin = off; SET enable_mergejoin = off; RESET enable_nestloop]]; SELECT a, (SELECT count(*) FROM r_2 JOIN r_3 ON [[b = c + a¦b + a = c¦b - a = c - 2 * a¦b = c AND t = 'x' || a % 3]]) FROM r_1 ORDER BY a
SELECT a, (SELECT count(*) || '/' || count(b) || '/' || count(c) FROM r_2 [[LEFT¦RIGHT¦FULL]] JOIN r_3 ON [[b = c + a¦b + a = c]]) FROM r_1 ORDER BY a
SELECT a, (SELECT sum(b) FROM r_2 WHERE [[EXISTS¦NOT EXISTS]] (SELECT FROM r_3 WHERE b = c + a)) FROM r_1 ORDER BY a
SELECT a, (SELECT sum(b) FROM r_2 WHERE b [[IN¦NOT IN]] (SELECT c + a FROM r_3)) FROM r_1 ORDER BY a
SELECT a, n FROM r_1, LATERAL (SELECT count(*) n FROM r_2 JOIN r_3 ON b = c + a [[WHERE b < 8¦GROUP BY b % 2¦LIMIT 3¦HAVING count(*) > 6]]) s ORDER BY a, n
RESET ALL
BEGIN; ALTER TABLE r_1 ADD n int; UPDATE r_1 SET n = (SELECT count(*) FROM r_2 JOIN r_3 ON b = c + a); SELECT * FROM r_1 ORDER BY a; ROLLBACK
PREPARE r_p (int) AS SELECT count(*) FROM r_2 JOIN r_3 ON b = c + $1
[[EXECUTE r_p (1)¦EXECUTE r_p (4)¦EXECUTE r_p (NULL)¦EXECUTE r_p (0)]]
[[EXECUTE r_p (1)¦EXECUTE r_p (4)¦EXECUTE r_p (NULL)¦EXECUTE r_p (0)]]
SELECT a, (WITH RECURSIVE r(n) AS (SELECT a UNION ALL SELECT c + 2 FROM r JOIN r_3 ON c = n WHERE n < 8) SELECT array_agg(n ORDER BY n) FROM r) FROM r_1 ORDER BY a
SELECT a, (WITH RECURSIVE r(n) AS (SELECT a UNION SELECT x.b + 1 FROM (SELECT b FROM r_2 ORDER BY b OFFSET 0) x, r WHERE x.b = r.n AND n < a + 3) SELECT array_agg(n ORDER BY n) FROM r) FROM r_1 ORDER BY a
SET enable_hashjoin = off; SET enable_mergejoin = off; SELECT a, (WITH RECURSIVE r(n) AS (SELECT a UNION SELECT x.b + 1 FROM (SELECT b FROM r_2 ORDER BY b OFFSET 0) x, r WHERE x.b = r.n AND n < a + 3) SELECT array_agg(n ORDER BY n) FROM r) FROM r_1 ORDER BY a; RESET ALL
SELECT a, (WITH w AS MATERIALIZED (SELECT b + a AS k FROM r_2), v AS MATERIALIZED (SELECT k * 2 AS k FROM w) SELECT sum(w.k) || ' ' || sum(v.k) FROM w JOIN v ON w.k = v.k - a) FROM r_1 ORDER BY a
SELECT a, (SELECT string_agg(b::text, ',' ORDER BY b) FROM (SELECT b FROM r_2 WHERE b > a [[UNION¦UNION ALL¦INTERSECT¦EXCEPT]] SELECT c + a FROM r_3 WHERE c < 4) s) FROM r_1 ORDER BY a
SELECT a, (SELECT sum(n) FROM (SELECT [[count(*) OVER (ORDER BY b / a)¦rank() OVER (ORDER BY b % a)¦sum(b) OVER (ORDER BY b ROWS (SELECT a) PRECEDING)]] n FROM r_2) s) FROM r_1 ORDER BY a
SELECT a, (SELECT b FROM r_2 ORDER BY abs(b - a), b LIMIT 1 [[OFFSET 0¦OFFSET a¦OFFSET (SELECT min(c) FROM r_3 WHERE c > a)]]) FROM r_1 ORDER BY a
SELECT a, ARRAY(SELECT b FROM r_2 ORDER BY b % a, b LIMIT a) FROM r_1 ORDER BY a
CREATE TABLE r_n (n numeric)
INSERT INTO r_n VALUES (1.0), (1.00), (1), (2), (2.0)
CREATE TABLE r_m (n numeric, k int)
INSERT INTO r_m SELECT g % 40, g FROM generate_series(1, 4000) g
CREATE INDEX r_m_n ON r_m (n)
CREATE INDEX r_m_k ON r_m (k)
ANALYZE r_n; ANALYZE r_m
SET enable_hashjoin = off; SET enable_mergejoin = off; SELECT r_n.n, count(*) FROM r_n JOIN r_m ON r_m.[[k = length(r_n.n::text)¦n = r_n.n AND length(r_n.n::text) > r_m.k¦n = r_n.n AND r_m.k < 3 + length(r_n.n::text) * 20]] GROUP BY r_n.n::text, r_n.n ORDER BY r_n.n::text, 2; RESET ALL
CREATE TABLE r_a (i int, k int)
INSERT INTO r_a SELECT g, 100 + g FROM generate_series(1, 6) g
CREATE TABLE r_b (x int)
INSERT INTO r_b VALUES (1), (2), (103), (104), (NULL)
SELECT i FROM r_a WHERE CASE WHEN i > [[ANY¦ALL]] (SELECT x FROM r_b [[¦WHERE x < 10]]) THEN i ELSE k END [[IN¦NOT IN]] (SELECT x FROM r_b [[¦WHERE x < 200¦WHERE x > i]]) ORDER BY i
SELECT i, [[(i > ANY (SELECT x FROM r_b)) IN (SELECT x > 2 FROM r_b)¦(i IN (SELECT x FROM r_b), k) IN (SELECT x = 1, x FROM r_b)¦((SELECT i), k) = (SELECT x, x + 100 FROM r_b WHERE x = i)¦COALESCE(i IN (SELECT x FROM r_b WHERE x > 2), i > ALL (SELECT x FROM r_b WHERE x < 3))¦(i, k) < ANY (SELECT x, x FROM r_b)¦(i <> ALL (SELECT x FROM r_b)) = ANY (SELECT i > x FROM r_b)]] FROM r_a ORDER BY i
SELECT i, CASE i WHEN (SELECT 2) THEN 'two' WHEN ANY_OF.v THEN 'v' ELSE CASE WHEN i > ANY (SELECT x FROM r_b) THEN 'more' END END FROM r_a, (SELECT 3 AS v) ANY_OF ORDER BY i
SELECT count(*) FILTER (WHERE i > ANY (SELECT x FROM r_b)), sum(i) FILTER (WHERE (i IN (SELECT x FROM r_b)) IN (SELECT x > 0 FROM r_b)) FROM r_a
SELECT i % 2, count(*) FROM r_a GROUP BY 1 HAVING (count(*) > ANY (SELECT x FROM r_b)) IN (SELECT x < 3 FROM r_b) ORDER BY 1
SELECT sum(i) OVER (ORDER BY i ROWS BETWEEN (SELECT count(*) FROM r_b WHERE x IN (SELECT i FROM r_a)) PRECEDING AND CURRENT ROW) FROM r_a ORDER BY 1
SELECT i FROM r_a ORDER BY (i > ALL (SELECT x FROM r_b WHERE x < 4)), i DESC LIMIT (SELECT count(*) FROM r_b WHERE (x IN (SELECT i FROM r_a)) IN (SELECT true)) + 1
SELECT p.i, q.i FROM r_a p LEFT JOIN r_a q ON p.i = q.i AND CASE WHEN p.i > ANY (SELECT x FROM r_b) THEN q.k ELSE 0 END IN (SELECT x FROM r_b) ORDER BY 1
SELECT * FROM (VALUES ((2 > ANY (SELECT x FROM r_b)) IN (SELECT true)), (CASE WHEN 1 > ALL (SELECT x FROM r_b) THEN true END)) v
SELECT * FROM r_a, generate_series(1, (SELECT count(*)::int FROM r_b WHERE x = ANY (SELECT i FROM r_a))) g WHERE i = 1 ORDER BY g
BEGIN; INSERT INTO r_b SELECT 7 WHERE (7 > ANY (SELECT x FROM r_b)) IN (SELECT true) RETURNING x, (x IN (SELECT i FROM r_a)) IN (SELECT false); UPDATE r_a SET k = CASE WHEN i > ANY (SELECT x FROM r_b) THEN 0 ELSE 1 END WHERE (i IN (SELECT x FROM r_b)) IN (SELECT true) RETURNING *, CASE WHEN i > ANY (SELECT x FROM r_b) THEN 1 END; DELETE FROM r_a WHERE (i >= ALL (SELECT x FROM r_b WHERE x < 6)) IN (SELECT true) RETURNING i > ANY (SELECT x FROM r_b); ROLLBACK
CREATE UNIQUE INDEX r_a_i ON r_a (i)
BEGIN; INSERT INTO r_a VALUES (1, 1), (5, 5) ON CONFLICT (i) DO UPDATE SET k = CASE WHEN excluded.i > ANY (SELECT x FROM r_b) THEN excluded.k ELSE -1 END WHERE (r_a.i IN (SELECT x FROM r_b)) IN (SELECT x = 1 FROM r_b) RETURNING *; ROLLBACK
SELECT p, percentile_cont(p) WITHIN GROUP (ORDER BY x::float8), percentile_disc(p) WITHIN GROUP (ORDER BY x [[¦DESC]]) FROM generate_series(1, 5) x, (VALUES (0::float8), (0.5), (1)) v(p) GROUP BY p ORDER BY p
SELECT x, [[rank¦dense_rank¦percent_rank¦cume_dist]](x) WITHIN GROUP (ORDER BY [[y¦x¦y DESC]]) FROM generate_series(1, 4) x, generate_series(0, 6, 2) y GROUP BY [[x¦ROLLUP (x)¦GROUPING SETS ((x), ())]] ORDER BY x
SELECT x % 2 k, [[rank¦cume_dist]](x % 2, 3) WITHIN GROUP (ORDER BY x % 3, x) FROM generate_series(1, 9) x GROUP BY [[k¦CUBE (k)]] ORDER BY k
SELECT x, percentile_disc(ARRAY[0.5, x / 4.0]) WITHIN GROUP (ORDER BY y), mode() WITHIN GROUP (ORDER BY y % (x + 1)) FROM generate_series(1, 4) x, generate_series(1, 9) y GROUP BY x ORDER BY x
SELECT o, (SELECT percentile_cont(o / 4.0) WITHIN GROUP (ORDER BY x) FROM generate_series(1, 5) x) FROM generate_series(0, 4) o ORDER BY o
SELECT x, percentile_cont((SELECT x / 4.0)) WITHIN GROUP (ORDER BY y) FROM generate_series(1, 4) x, generate_series(1, 3) y GROUP BY x ORDER BY x
SELECT percentile_cont(x / 4.0) WITHIN GROUP (ORDER BY y) FROM generate_series(1, 4) x, generate_series(1, 3) y
SELECT x, percentile_cont(y / 4.0) WITHIN GROUP (ORDER BY y) FROM generate_series(1, 4) x, generate_series(1, 3) y GROUP BY x
CREATE VIEW r_v AS SELECT 'a'::text AS x, c, t, c % 2 = 0 AS even FROM r_3
SELECT coalesce([[x¦x || ''¦upper(x)]], 'total'), count(*) FROM (SELECT 'a'::text x FROM generate_series(1, 3)) s GROUP BY [[ROLLUP (x)¦CUBE (x)¦GROUPING SETS ((x), ())]] ORDER BY 1
SELECT coalesce(x, 'total') k, coalesce(even::text, '-'), grouping(x, even), count(*) FROM r_v GROUP BY [[ROLLUP (x, even)¦CUBE (x, even)¦GROUPING SETS ((x), (even), ())]] [[¦HAVING coalesce(x, 'total') = 'total'¦HAVING x IS NULL OR even¦HAVING x = 'a']] ORDER BY 1, 2, 3
SELECT coalesce(x, 'total'), count(*) FROM r_v v JOIN r_2 ON b = c [[¦LEFT JOIN r_1 ON a = b]] GROUP BY ROLLUP (x) ORDER BY 1
SELECT coalesce(j.x, 'none'), coalesce(y, 0), count(*) FROM (SELECT * FROM (SELECT b, 'k' x FROM r_2) p NATURAL JOIN (SELECT c AS b, 1 AS y FROM r_3) q) j GROUP BY CUBE (x, y) ORDER BY 1, 2
SELECT coalesce(x, 'none'), count(*) FROM (SELECT 'u' AS x, b FROM r_2 UNION ALL SELECT 'v', c FROM r_3) s GROUP BY ROLLUP (x) ORDER BY 1
SELECT coalesce(f, -1), count(*) FROM (SELECT abs(-3) f, b FROM r_2) s GROUP BY ROLLUP (f) [[¦HAVING f IS NULL¦HAVING abs(f) = 3]] ORDER BY 1
SELECT CASE grouping(t || 'a') WHEN 0 THEN t || 'a' ELSE 'total' END, count(*) FROM r_v GROUP BY [[ROLLUP¦CUBE]] (t || 'a') ORDER BY 1
SELECT CASE grouping(x || t) WHEN 0 THEN x || t ELSE 'total' END, count(*) FROM r_v GROUP BY [[ROLLUP¦CUBE]] (x || t) ORDER BY 1
SELECT CASE grouping(x) WHEN 0 THEN x ELSE 'total' END, count(*) FROM r_v GROUP BY [[ROLLUP¦CUBE]] (x) ORDER BY 1
SELECT CASE grouping(upper(x) || even) WHEN 0 THEN upper(x) || even ELSE 'total' END, count(*) FROM r_v GROUP BY [[ROLLUP¦CUBE]] (upper(x) || even) ORDER BY 1
SELECT coalesce(p, -1), coalesce(q, -1), count(*) FROM (SELECT b AS p, b AS q FROM r_2 WHERE b < 3) s GROUP BY [[ROLLUP (p, q)¦GROUPING SETS ((p), (q))]] ORDER BY 1, 2
SELECT a, (SELECT string_agg(coalesce(k, 'total'), ',' ORDER BY k) FROM (SELECT x || a AS k FROM r_v WHERE c < a GROUP BY ROLLUP (x || a)) s) FROM r_1 ORDER BY a
SELECT x1 = x2 FROM (SELECT x x1, x x2 FROM (SELECT [[(SELECT random())¦random()¦(SELECT max(random()) FROM r_2)¦coalesce((SELECT random() FROM r_2 WHERE b = a), 0)¦CASE WHEN a > 2 THEN (SELECT random()) ELSE 0 END¦(SELECT r FROM (SELECT random() r) q)]] x FROM r_1) s) t
SELECT x = y FROM (SELECT (SELECT random()) x FROM r_1) s, LATERAL (SELECT s.x AS y) l
WITH s AS (SELECT (SELECT random()) x FROM r_1) SELECT x = y FROM (SELECT x, x AS y FROM s) t
CREATE VIEW r_r AS SELECT a, (SELECT random() WHERE a > 0) AS r FROM r_1
SELECT r = s FROM (SELECT r, r AS s FROM r_r) t
CREATE SEQUENCE r_s
SELECT a, (SELECT nextval('r_s') WHERE a > 0) x, (SELECT nextval('r_s') WHERE a > 1) y FROM r_1 ORDER BY a
SELECT setval('r_s', 1), count(x), count(y) FROM (SELECT x, x AS y FROM (SELECT nextval('r_s') x FROM r_1) s) t; SELECT nextval('r_s')
BEGIN; CREATE TABLE r_u (p float8, q float8, r bigint, s bigint, a int); INSERT INTO r_u (a) SELECT a FROM r_1; UPDATE r_u SET (p, q) = (SELECT x, x FROM (SELECT random() x) y), (r, s) = (SELECT n, n FROM (SELECT nextval('r_s') n) m WHERE a > 1); SELECT p = q, r = s FROM r_u ORDER BY a; UPDATE r_u SET (r, s) = (SELECT b, c FROM r_2, r_3); ROLLBACK
SELECT 1 FROM r_a, LATERAL (SELECT x FROM r_b LEFT JOIN r_a c ON x = (SELECT r_a.i)) s
SELECT r_a.i, s.x, s.j FROM r_a, LATERAL (SELECT x, c.i AS j FROM r_b [[LEFT¦RIGHT¦INNER]] JOIN r_a c ON x = [[(SELECT r_a.i)¦c.i + (SELECT r_a.i - 1)¦c.i AND EXISTS (SELECT FROM r_2 WHERE b = r_a.i)]]) s ORDER BY 1, 2, 3
SELECT r_a.i, s.x, s.j FROM r_a, LATERAL (SELECT x, c.i AS j FROM r_b FULL JOIN r_a c ON x = c.i + (SELECT r_a.i - 1)) s ORDER BY 1, 2, 3
SELECT r_a.i, (SELECT count(*) FROM r_b LEFT JOIN (r_a c JOIN r_2 ON b = c.i + (SELECT r_a.i)) ON x = c.i) FROM r_a ORDER BY 1
SELECT r_a.i, s.n FROM r_a LEFT JOIN LATERAL (SELECT count(*) n FROM r_b LEFT JOIN r_a c ON x = (SELECT r_a.i) WHERE c.k > (SELECT r_a.k - 3)) s ON true ORDER BY 1
SELECT (SELECT a + 1) FROM r_1 GROUP BY a + 1
SELECT a + 1, (SELECT grouping(a + 1)) FROM r_1 GROUP BY ROLLUP (a + 1)
SELECT [[a¦a + 1]], (SELECT grouping(a)) FROM r_1 GROUP BY [[ROLLUP (a)¦a]] ORDER BY 1
SELECT b + 1 FROM r_2 GROUP BY b + 1 HAVING EXISTS (SELECT FROM r_1 WHERE a = b + 1) ORDER BY 1
SELECT setval('r_s', 1); SELECT array_agg(nextval('r_s')), array_agg(nextval('r_s')) FROM r_1; SELECT a, sum(nextval('r_s')) <> sum(nextval('r_s')) FROM r_1 GROUP BY a
SELECT count(*) FROM r_2 x, LATERAL (SELECT y.c k, x.b l FROM r_3 y) s [[LEFT¦RIGHT¦FULL]] JOIN r_1 ON s.l = a
SELECT count(*), sum(k) FROM r_2 x, (r_1 [[RIGHT¦FULL¦LEFT]] JOIN r_3 ON c = a) [[JOIN¦LEFT JOIN]] LATERAL (SELECT b - x.b AS k, x.b AS l FROM r_2) s ON s.l = c
SELECT count(*), sum(k) FROM r_2 x, (r_1 RIGHT JOIN LATERAL (SELECT y.c - x.b AS k FROM r_3 y WHERE x.b < 5) s ON s.k = a)
-- Volatile functions are called again for each outer row, even if its values equal those of the row before.
CREATE SEQUENCE rv_sq; CREATE FUNCTION rv_set(int) RETURNS SETOF bigint LANGUAGE plpgsql AS $$ BEGIN RETURN NEXT nextval('rv_sq'); END $$; CREATE FUNCTION rv_sql(int) RETURNS SETOF bigint LANGUAGE sql VOLATILE AS $$ SELECT nextval('rv_sq') $$; CREATE TABLE rv (k int); INSERT INTO rv VALUES (1), (1), (2), (2), (2), (NULL), (NULL)
SELECT k, (SELECT count(*) FROM [[rv_set¦rv_sql]](t.k) x) FROM rv t; SELECT last_value FROM rv_sq
SELECT k, x FROM rv t, [[rv_set¦rv_sql]](t.k) x; SELECT last_value FROM rv_sq
SELECT k, x FROM rv t, LATERAL (SELECT [[max(y)¦y¦count(*) OVER () + y]] FROM (SELECT t.k, nextval('rv_sq') y OFFSET 0) s ORDER BY 1) u(x); SELECT last_value FROM rv_sq
SELECT k, (SELECT x FROM (SELECT [[nextval('rv_sq')¦DISTINCT nextval('rv_sq') + t.k * 0]] AS x, t.k LIMIT 1) s ORDER BY x) FROM rv t; SELECT last_value FROM rv_sq
SELECT k, (WITH w AS MATERIALIZED (SELECT nextval('rv_sq') n, t.k) SELECT max(a.n - b.n) FROM w a, w b) FROM rv t; SELECT last_value FROM rv_sq
SELECT k, k IN (SELECT t.k FROM rv_set(t.k)) FROM rv t; SELECT last_value FROM rv_sq
DROP FUNCTION rv_set, rv_sql; DROP TABLE rv; DROP SEQUENCE rv_sq
