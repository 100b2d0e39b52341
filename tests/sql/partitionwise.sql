-- Joins and groupings that are done partition by partition.
SET enable_partitionwise_join = on; SET enable_partitionwise_aggregate = on
CREATE TABLE wa (a int, b int, c text) PARTITION BY RANGE (a)
CREATE TABLE wa1 PARTITION OF wa FOR VALUES FROM (0) TO (250); CREATE TABLE wa3 (c text, b int, a int); ALTER TABLE wa ATTACH PARTITION wa3 FOR VALUES FROM (500) TO (600); CREATE TABLE wa2 PARTITION OF wa FOR VALUES FROM (250) TO (500)
CREATE TABLE wb (a int, b int, c text) PARTITION BY RANGE (b)
CREATE TABLE wb1 PARTITION OF wb FOR VALUES FROM (0) TO (250); CREATE TABLE wb2 PARTITION OF wb FOR VALUES FROM (250) TO (500); CREATE TABLE wb3 PARTITION OF wb FOR VALUES FROM (500) TO (600)
INSERT INTO wa SELECT i, i % 25, to_char(i, 'FM0000') FROM generate_series(0, 599, 2) i; INSERT INTO wb SELECT i % 25, i, to_char(i, 'FM0000') FROM generate_series(0, 599, 3) i; ANALYZE wa; ANALYZE wb
-- Without the settings the plans are those of whole tables.
SET enable_partitionwise_join = off; EXPLAIN (COSTS OFF) SELECT * FROM wa JOIN wb ON wa.a = wb.b; SET enable_partitionwise_join = on
SET enable_nestloop = off; SET enable_mergejoin = off
EXPLAIN (COSTS OFF) SELECT t1.a, t2.b FROM wa t1 [[JOIN¦LEFT JOIN¦RIGHT JOIN¦FULL JOIN]] wb t2 ON t1.a = t2.b WHERE t1.b + t2.a >= 0 OR t1.b IS NULL OR t2.a IS NULL
SELECT t1.a, t1.c, t2.b, t2.c FROM wa t1 [[JOIN¦LEFT JOIN¦RIGHT JOIN¦FULL JOIN]] wb t2 ON t1.a = t2.b[[¦ AND t1.b = t2.a]][[¦ WHERE t1.b = 0¦ WHERE t2.a = 0]] ORDER BY t1.a, t2.b
EXPLAIN (COSTS OFF) SELECT t1.* FROM wa t1 WHERE [[EXISTS¦NOT EXISTS]] (SELECT 1 FROM wb t2 WHERE t1.a = t2.b)
SELECT t1.* FROM wa t1 WHERE [[EXISTS¦NOT EXISTS]] (SELECT 1 FROM wb t2 WHERE t1.a = t2.b AND t2.a > t1.b) ORDER BY 1
SELECT t1.* FROM wa t1 WHERE t1.a [[IN¦NOT IN]] (SELECT t2.b FROM wb t2 WHERE t2.a = 0) ORDER BY 1
-- Whole rows and other keys prevent it.
EXPLAIN (COSTS OFF) SELECT t1, t2 FROM wa t1, wb t2 WHERE t1.a = t2.b
EXPLAIN (COSTS OFF) SELECT * FROM wa t1, wb t2 WHERE t1.b = t2.b
-- Three tables.
SELECT t1.a, t2.b, t3.a FROM wa t1 JOIN wb t2 ON t1.a = t2.b [[JOIN¦LEFT JOIN¦FULL JOIN]] wa t3 ON [[t2.b¦t1.a]] = t3.a ORDER BY 1, 2, 3
SELECT t1.a, t2.b, t3.a FROM wa t1 [[LEFT¦FULL]] JOIN wb t2 ON t1.a = t2.b [[LEFT¦FULL]] JOIN wa t3 ON t2.b = t3.a ORDER BY 1, 2, 3
SELECT a, count(*) FROM wa t1 FULL JOIN wb t2(b, a, c) USING (a, b) GROUP BY a ORDER BY a
RESET enable_nestloop; RESET enable_mergejoin
-- Orders, and parameters from partitions.
CREATE INDEX ON wa (a); CREATE INDEX ON wb (b); ANALYZE wa; ANALYZE wb
SET enable_hashjoin = off; SET enable_nestloop = off
EXPLAIN (COSTS OFF) SELECT t1.a, t2.b FROM wa t1 JOIN wb t2 ON t1.a = t2.b ORDER BY t1.a
SELECT t1.a, t2.b FROM wa t1 JOIN wb t2 ON t1.a = t2.b ORDER BY t1.a LIMIT 7
SET enable_mergejoin = off; SET enable_nestloop = on; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_memoize = off; SET enable_material = off
EXPLAIN (COSTS OFF) SELECT t1.a, t2.c FROM wa t1 JOIN wb t2 ON t1.a = t2.b WHERE t1.b = 0
SELECT t1.a, t2.c, t3.c FROM wa t1 [[JOIN¦LEFT JOIN]] wb t2 ON t1.a = t2.b [[JOIN¦LEFT JOIN]] wa t3 ON t3.a = t2.b WHERE t1.b = 0 ORDER BY 1
SELECT t1.a, x.* FROM wa t1 JOIN LATERAL (SELECT t2.b, t1.b + t2.a s FROM wb t2 WHERE t2.b = t1.a) x ON true WHERE t1.b < 4 ORDER BY 1
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_memoize; RESET enable_material
-- Changes and locks.
BEGIN; UPDATE wa SET b = wb.a + 100 FROM wb WHERE wa.a = wb.b AND wb.a < 3 RETURNING wa.tableoid::regclass, wa.*, wb.tableoid::regclass; ROLLBACK
BEGIN; DELETE FROM wa USING wb WHERE wa.a = wb.b RETURNING wa.*; ROLLBACK
BEGIN; UPDATE wa SET a = (wa.a + 250) % 600 FROM wb WHERE wa.a = wb.b RETURNING wa.a; ROLLBACK
BEGIN; SELECT t1.a, t2.b FROM wa t1 JOIN wb t2 ON t1.a = t2.b ORDER BY 1 LIMIT 5 FOR UPDATE; ROLLBACK
SELECT t1.tableoid::regclass, t1.ctid, t2.tableoid::regclass, t2.b FROM wa t1 JOIN wb t2 ON t1.a = t2.b WHERE t1.a < 20 ORDER BY 4
-- Pruned partitions, contradictions.
SET enable_nestloop = off; SET enable_mergejoin = off
EXPLAIN (COSTS OFF) SELECT t1.a, t2.b FROM wa t1 [[JOIN¦LEFT JOIN¦FULL JOIN]] (SELECT * FROM wb WHERE b > 250) t2 ON t1.a = t2.b
SELECT t1.a, t2.b FROM (SELECT * FROM wa WHERE a < 450) t1 [[JOIN¦LEFT JOIN¦FULL JOIN]] (SELECT * FROM wb WHERE b > 250) t2 ON t1.a = t2.b ORDER BY 1, 2
SELECT t1.a, t2.b FROM (SELECT * FROM wa WHERE a < 250) t1 [[JOIN¦LEFT JOIN¦FULL JOIN]] (SELECT * FROM wb WHERE b >= 250) t2 ON t1.a = t2.b ORDER BY 1, 2
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM wa WHERE a = 1 AND a = 2) t1 [[JOIN¦LEFT JOIN]] wb t2 ON t1.a = t2.b
-- Bounds that differ: ranges, lists, default partitions.
CREATE TABLE wc (a int, b int) PARTITION BY RANGE (a); CREATE TABLE wc0 PARTITION OF wc FOR VALUES FROM (-50) TO (0); CREATE TABLE wc1 PARTITION OF wc FOR VALUES FROM (0) TO (200); CREATE TABLE wc2 PARTITION OF wc FOR VALUES FROM (300) TO (450); CREATE TABLE wc3 PARTITION OF wc FOR VALUES FROM (510) TO (520)
INSERT INTO wc SELECT i, i % 7 FROM generate_series(-50, 519) i WHERE i < 200 OR i BETWEEN 300 AND 449 OR i > 509; ANALYZE wc
EXPLAIN (COSTS OFF) SELECT * FROM wa t1 [[JOIN¦LEFT JOIN]] wc t2 ON t1.a = t2.a
EXPLAIN (COSTS OFF) SELECT * FROM wc t1 [[LEFT JOIN¦RIGHT JOIN]] wa t2 ON t1.a = t2.a
SELECT count(*), sum(t1.a), sum(t2.a), sum(t1.b + t2.b) FROM wa t1 [[JOIN¦LEFT JOIN¦RIGHT JOIN¦FULL JOIN]] wc t2 ON t1.a = t2.a
CREATE TABLE wc4 PARTITION OF wc DEFAULT; INSERT INTO wc SELECT i, i FROM generate_series(450, 500) i; ANALYZE wc
EXPLAIN (COSTS OFF) SELECT * FROM wa t1 [[JOIN¦LEFT JOIN]] wc t2 ON t1.a = t2.a
SELECT count(*), sum(t1.a), sum(t2.a), sum(t1.b + t2.b) FROM wa t1 [[JOIN¦LEFT JOIN¦RIGHT JOIN¦FULL JOIN]] wc t2 ON t1.a = t2.a
CREATE TABLE wl (k text, v int) PARTITION BY LIST (k); CREATE TABLE wl1 PARTITION OF wl FOR VALUES IN ('a', 'b'); CREATE TABLE wl2 PARTITION OF wl FOR VALUES IN ('c', NULL); CREATE TABLE wl3 PARTITION OF wl FOR VALUES IN ('d')
CREATE TABLE wm (k text, v int) PARTITION BY LIST (k); CREATE TABLE wm1 PARTITION OF wm FOR VALUES IN ('b', 'e'); CREATE TABLE wm2 PARTITION OF wm FOR VALUES IN ('c'); CREATE TABLE wm3 PARTITION OF wm FOR VALUES IN ('d', 'g', NULL)
INSERT INTO wl SELECT (array['a', 'b', 'c', 'd', NULL])[1 + i % 5], i FROM generate_series(1, 200) i; INSERT INTO wm SELECT (array['b', 'c', 'd', 'e', 'g', NULL])[1 + i % 6], i FROM generate_series(1, 300) i; ANALYZE wl; ANALYZE wm
SET enable_hashjoin = off; SET enable_nestloop = on; EXPLAIN (COSTS OFF) SELECT * FROM wl LEFT JOIN wm ON wl.k = wm.k; SET enable_hashjoin = on; SET enable_nestloop = off
SELECT wl.k, wm.k, count(*), sum(wl.v), sum(wm.v) FROM wl [[JOIN¦LEFT JOIN¦RIGHT JOIN¦FULL JOIN]] wm ON wl.k = wm.k GROUP BY 1, 2 ORDER BY 1, 2
SELECT count(*), sum(v) FROM wl WHERE [[EXISTS¦NOT EXISTS]] (SELECT FROM wm WHERE wm.k = wl.k AND wm.v <> wl.v)
CREATE TABLE wl4 PARTITION OF wl DEFAULT; INSERT INTO wl SELECT (array['e', 'f', 'g'])[1 + i % 3], i FROM generate_series(1, 30) i; ANALYZE wl
SELECT wl.k, wm.k, count(*), sum(wl.v), sum(wm.v) FROM wl [[JOIN¦LEFT JOIN¦RIGHT JOIN¦FULL JOIN]] wm ON wl.k = wm.k GROUP BY 1, 2 ORDER BY 1, 2
CREATE TABLE wm4 PARTITION OF wm DEFAULT; INSERT INTO wm VALUES ('x', 1), ('f', 2); ANALYZE wm
SELECT wl.k, wm.k, count(*), sum(wl.v), sum(wm.v) FROM wl [[JOIN¦LEFT JOIN¦RIGHT JOIN¦FULL JOIN]] wm ON wl.k = wm.k GROUP BY 1, 2 ORDER BY 1, 2
-- Several levels, and hash partitions.
CREATE TABLE wx (a int, c text, v int) PARTITION BY RANGE (a); CREATE TABLE wx1 PARTITION OF wx FOR VALUES FROM (0) TO (100); CREATE TABLE wx2 PARTITION OF wx FOR VALUES FROM (100) TO (200) PARTITION BY LIST (c); CREATE TABLE wx21 PARTITION OF wx2 FOR VALUES IN ('0', '1'); CREATE TABLE wx22 (v int, c text, a int); ALTER TABLE wx2 ATTACH PARTITION wx22 FOR VALUES IN ('2', '3'); CREATE TABLE wx3 PARTITION OF wx FOR VALUES FROM (200) TO (300) PARTITION BY RANGE (v); CREATE TABLE wx31 PARTITION OF wx3 FOR VALUES FROM (0) TO (2); CREATE TABLE wx32 PARTITION OF wx3 DEFAULT
INSERT INTO wx SELECT i, i % 4, i % 5 FROM generate_series(0, 299) i; ANALYZE wx
EXPLAIN (COSTS OFF) SELECT t1.v, t2.v FROM wx t1 [[JOIN¦FULL JOIN]] wx t2 ON t1.a = t2.a AND t1.c = t2.c
SELECT count(*), sum(t1.v * t2.v) FROM wx t1 [[JOIN¦LEFT JOIN¦FULL JOIN]] wx t2 ON t1.a = t2.a AND t1.c = t2.c[[¦ AND t1.v = t2.v]][[¦ JOIN wx t3 ON t3.a = t1.a¦ LEFT JOIN wx t3 ON t3.a = t2.a AND t3.c = t2.c]]
SELECT t1.a, t1.c, t2.v FROM wx t1 JOIN wx t2 ON t1.a = t2.a AND t1.c = t2.c ORDER BY t1.a DESC LIMIT 5
CREATE TABLE wh (a int, v int) PARTITION BY HASH (a); CREATE TABLE wh1 PARTITION OF wh FOR VALUES WITH (MODULUS 3, REMAINDER 0); CREATE TABLE wh2 PARTITION OF wh FOR VALUES WITH (MODULUS 3, REMAINDER 1); CREATE TABLE wh3 PARTITION OF wh FOR VALUES WITH (MODULUS 3, REMAINDER 2)
CREATE TABLE wi (a int, v int) PARTITION BY HASH (a); CREATE TABLE wi1 PARTITION OF wi FOR VALUES WITH (MODULUS 3, REMAINDER 0); CREATE TABLE wi2 PARTITION OF wi FOR VALUES WITH (MODULUS 3, REMAINDER 1); CREATE TABLE wi3 PARTITION OF wi FOR VALUES WITH (MODULUS 3, REMAINDER 2)
INSERT INTO wh SELECT i, i % 9 FROM generate_series(0, 399) i; INSERT INTO wi SELECT i * 2, i % 9 FROM generate_series(0, 299) i; ANALYZE wh; ANALYZE wi
SELECT count(*), sum(t1.v), sum(t2.v) FROM wh t1 [[JOIN¦LEFT JOIN¦FULL JOIN]] wi t2 ON t1.a = t2.a
-- Groupings by the partition key.
EXPLAIN (COSTS OFF) SELECT a, sum(b), count(*) FROM wa GROUP BY a[[¦ HAVING sum(b) > 3]]
SELECT a, sum(b), count(*), avg(b) FROM wa WHERE a % 3 = 0 GROUP BY a[[¦ HAVING sum(b) > 13]] ORDER BY a
SELECT [[a, c¦c, a]], sum(v), string_agg(v::text, ',' ORDER BY v) FROM wx GROUP BY a, c HAVING count(*) > 0 AND a % 10 = 0 ORDER BY a
EXPLAIN (COSTS OFF) SELECT a, c, sum(v) FROM wx GROUP BY a, c
SELECT a + 1 x, count(*) FROM wx GROUP BY a ORDER BY 1 LIMIT 4
SELECT k, count(wl), max(wl::text) FROM wl GROUP BY k ORDER BY k
SELECT t1.a, count(*), sum(t2.v) FROM wh t1 JOIN wi t2 ON t1.a = t2.a GROUP BY t1.a HAVING sum(t2.v) > 7 ORDER BY 1 LIMIT 20
SELECT t1.k, count(t2.v) FROM wl t1 [[JOIN¦LEFT JOIN]] wm t2 ON t1.k = t2.k GROUP BY [[t1.k¦t1.k, t2.k]] ORDER BY 1
SET enable_hashagg = off; EXPLAIN (COSTS OFF) SELECT a, sum(b) FROM wa GROUP BY a ORDER BY a; RESET enable_hashagg
SELECT DISTINCT t1.k FROM wl t1 JOIN wm t2 USING (k) ORDER BY 1
SELECT a, b, count(*) FROM wa GROUP BY [[ROLLUP (a, b)¦GROUPING SETS ((a), (b))]] HAVING count(*) > 6 ORDER BY 1, 2
-- Other groupings, in two steps.
EXPLAIN (COSTS OFF) SELECT b, sum(a), count(*), avg(a) FROM wa GROUP BY b[[¦ HAVING avg(a) < 270]]
EXPLAIN (VERBOSE, COSTS OFF) SELECT b, sum(a) FILTER (WHERE a > 3) + count(*), max(c) FROM wa GROUP BY b
EXPLAIN (COSTS OFF) SELECT count(*), max(a) FROM wa
SELECT b, sum(a), count(*), avg(a), min(c), bool_and(a > 5), sum(a::float8), stddev(a::float8), count(c) FILTER (WHERE a > 300) FROM wa GROUP BY b[[¦ HAVING avg(a) < 290]] ORDER BY b
SELECT count(*), sum(b), avg(b), max(array[a, b]), bit_or(a), regr_slope(a, b) IS NULL FROM wa[[¦ WHERE a < 0¦ WHERE b > 3]]
SELECT b % 3, sum(DISTINCT a % 5), count(*) FROM wa GROUP BY 1 ORDER BY 1
SELECT b % 3, sum(a::numeric), avg(a::bigint), string_agg(c, ',' ORDER BY c) FILTER (WHERE a < 20) FROM wa GROUP BY 1 ORDER BY 1
SELECT v, count(*), sum(a), max(c) FROM wx GROUP BY v[[¦ HAVING max(c) > '1']] ORDER BY v
SELECT t1.v, count(t2.v), sum(t2.a) FROM wx t1 [[JOIN¦LEFT JOIN¦FULL JOIN]] wh t2 ON t1.a = t2.a GROUP BY 1 ORDER BY 1
SELECT t1.b, count(*), sum(t2.a) FROM wa t1 [[JOIN¦LEFT JOIN]] wb t2 ON t1.a = t2.b GROUP BY 1 ORDER BY 1
SET enable_hashagg = off; SELECT b, sum(a), count(*) FROM wa GROUP BY b ORDER BY b DESC LIMIT 5; RESET enable_hashagg
SELECT b FROM wa GROUP BY b HAVING b > 20 ORDER BY 1
CREATE AGGREGATE wsum(int) (SFUNC = int4pl, STYPE = int, COMBINEFUNC = int4pl, INITCOND = '0'); CREATE AGGREGATE wlast(text) (SFUNC = textcat, STYPE = text)
EXPLAIN (COSTS OFF) SELECT b, [[wsum(a)¦wlast(c)]] FROM wa GROUP BY b
SELECT b, wsum(a) FROM wa GROUP BY b ORDER BY b
DROP AGGREGATE wsum(int), wlast(text)
-- A sample whose arguments are columns of another relation.
SELECT count(*) FROM (VALUES (100), (0)) v (p), LATERAL (SELECT * FROM wa TABLESAMPLE SYSTEM (v.p) REPEATABLE (1)) s WHERE s.b = [[1¦p]]
RESET ALL; DROP TABLE wa, wb, wc, wl, wm, wx, wh, wi
