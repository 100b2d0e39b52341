-- Orders that depend on catalogs: enums and rows.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')
ALTER TYPE mood ADD VALUE 'so so' BEFORE 'ok'
ALTER TYPE mood ADD VALUE 'great'
ALTER TYPE mood ADD VALUE 'awful' BEFORE 'sad'
CREATE TABLE moods (id int, m mood, n mood)
INSERT INTO moods SELECT i, (enum_range(null::mood))[1 + i % 6], (enum_range(null::mood))[1 + i * 7 % 5] FROM generate_series(1, 40) i
INSERT INTO moods VALUES (41, null, 'ok'), (42, 'great', null)
SELECT m, count(*) FROM moods GROUP BY m ORDER BY m[[¦ desc¦ nulls first¦ desc nulls last¦ using >]]
SELECT id, m, n FROM moods ORDER BY m, n[[¦ desc]], id
SELECT DISTINCT m FROM moods ORDER BY [[1¦1 desc]]
SELECT min(m), max(m), min(n), max(n) FROM moods
SELECT greatest(m, 'ok'), least(m, n) FROM moods WHERE id < 8 ORDER BY id
SELECT count(*) FROM moods WHERE m [[<¦<=¦=¦<>¦>=¦>]] '[[so so¦awful¦great]]'
SELECT id FROM moods WHERE (m, id) [[<¦>=]] ('ok', 20) ORDER BY id
SELECT a.id, b.id FROM moods a JOIN moods b ON a.m = b.n WHERE a.id < 5 ORDER BY 1, 2
SELECT id, rank() OVER (ORDER BY m), lag(m) OVER (ORDER BY n, id) FROM moods ORDER BY id
CREATE INDEX moods_m ON moods (m, n DESC)
CREATE UNIQUE INDEX moods_u ON moods (m, id)
SET enable_seqscan = off
SET enable_sort = off
SELECT m, n FROM moods ORDER BY m, n DESC
SELECT id FROM moods WHERE m > 'so so' ORDER BY m, id
SELECT count(*) FROM moods WHERE m [[=¦<¦>=]] 'so so'
ALTER TYPE mood ADD VALUE 'middling' AFTER 'so so'
INSERT INTO moods VALUES (50, 'middling', 'middling'), (51, 'middling', 'awful')
SELECT id, m FROM moods WHERE m BETWEEN 'so so' AND 'ok' ORDER BY m, id
INSERT INTO moods VALUES (50, 'middling', null)
RESET enable_seqscan
RESET enable_sort
ALTER TYPE mood RENAME VALUE 'awful' TO 'zzz'
SELECT DISTINCT m FROM moods ORDER BY m
ANALYZE moods
SELECT count(*) FROM moods WHERE m < 'ok'
SELECT array_agg(DISTINCT m ORDER BY m) FROM moods
CREATE TYPE pair AS (a int, b text)
CREATE TABLE pairs (id int, p pair)
INSERT INTO pairs VALUES (1, (2, 'b')), (2, (1, 'z')), (3, (2, 'a')), (4, (null, 'x')), (5, (2, null)), (6, null), (7, (1, 'z'))
SELECT id, p FROM pairs ORDER BY p[[¦ desc¦ nulls first]], id
SELECT DISTINCT p FROM pairs ORDER BY p
SELECT p, count(*) FROM pairs GROUP BY p ORDER BY p
SELECT count(DISTINCT p) FROM pairs
SELECT id FROM pairs WHERE p [[=¦<¦>=¦<>]] row(2, 'a')::pair ORDER BY id
SELECT id FROM pairs x WHERE p IN (SELECT p FROM pairs y WHERE y.id = 7) ORDER BY id
SELECT x FROM moods x ORDER BY x LIMIT 3
SELECT DISTINCT pairs FROM pairs WHERE id < 4 ORDER BY pairs
CREATE INDEX pairs_p ON pairs (p)
SELECT row(1, 'a') [[=¦<¦>¦<>¦<=]] row(1, 'b'), row(1, null) = row(1, null), row(1, 2) < row(1, null)
SELECT a FROM (VALUES (1, 'x'), (2, 'y'), (1, 'w')) a(n, t) ORDER BY a
SELECT DISTINCT a FROM (VALUES (1, 'x'), (2, 'y'), (1, 'x')) a(n, t) ORDER BY a
SELECT DISTINCT row(id % 2, m) FROM moods WHERE id < 6 ORDER BY 1
DROP TABLE moods, pairs
DROP TYPE mood, pair
-- Anonymous rows are compared column by column; a type without an order is an error only if its column is reached.
SELECT r FROM (VALUES (ROW(3, 'b')), (ROW(1, 'z')), (ROW(2, 'a'))) v(r) ORDER BY r
SELECT ROW(a, j) FROM (VALUES (3, '{}'::json), (1, '1')) v(a, j) ORDER BY ROW(a, j)
SELECT ROW(a, j) FROM (VALUES (3, '{}'::json), (3, '1')) v(a, j) ORDER BY 1
SELECT count(*) FROM (SELECT ROW(a, j) FROM (VALUES (3, '{}'::json), (3, '1')) v(a, j) ORDER BY 1 LIMIT 1) s
SELECT rank() OVER (ORDER BY ROW(a, j)) FROM (VALUES (3, '{}'::json), (3, '1')) v(a, j)
SELECT DISTINCT ROW(a, j) FROM (VALUES (3, '{}'::json), (1, '1')) v(a, j) ORDER BY 1
SELECT DISTINCT ROW(a, 'x') FROM (VALUES (3), (1), (3)) v(a)
SELECT s FROM (SELECT a, '{}'::json AS j FROM (VALUES (3), (1), (2)) v(a)) s ORDER BY s
SELECT r FROM (SELECT ROW(a) AS r FROM (VALUES (3), (1)) v(a)) s UNION SELECT ROW(0) ORDER BY r
SELECT r FROM (SELECT ROW(a) AS r FROM (VALUES (3), (1)) v(a)) s UNION ALL SELECT ROW(3, 4) ORDER BY r
SELECT ROW('7'::xid) = ROW('7'::xid), ROW('7'::xid) <> ROW('8'::xid)
SELECT r = s FROM (SELECT ROW('7'::xid) AS r, ROW('7'::xid) AS s) q
SELECT r < s FROM (SELECT ROW(x) AS r, ROW(x) AS s FROM (VALUES ('7'::xid), ('8')) v(x)) q
SELECT r = s FROM (SELECT ROW(x) AS r, ROW(x) AS s FROM (VALUES ('{}'::json), ('1')) v(x)) q
SELECT * FROM (SELECT ROW(a) AS r FROM (VALUES (3), (1)) v(a)) x JOIN (SELECT ROW(a) AS r FROM (VALUES (3), (2)) v(a)) y USING (r)
SELECT DISTINCT x FROM (VALUES (ARRAY['1'::xid]), (ARRAY['1'::xid])) v(x)
SELECT x FROM (VALUES (ARRAY['1'::xid]), (ARRAY['1'::xid])) v(x) ORDER BY x
CREATE TYPE unordered AS (a int, j json)
SELECT ROW(1, '{}')::unordered AS c ORDER BY c
SELECT DISTINCT ROW(1, '{}')::unordered
SELECT max(c) FROM (SELECT ROW(1, '{}')::unordered AS c) s
DROP TYPE unordered
CREATE TYPE hashless AS (a int, x bit varying)
SELECT DISTINCT ROW(1, '101')::hashless FROM generate_series(1, 3)
SELECT c, count(*) FROM (SELECT ROW(g % 2, '101')::hashless AS c FROM generate_series(1, 5) g) s GROUP BY c ORDER BY c
SELECT count(*) FROM (SELECT ROW(g, '101')::hashless AS c FROM generate_series(1, 5) g) x JOIN (SELECT ROW(g, '101')::hashless AS c FROM generate_series(3, 8) g) y USING (c)
DROP TYPE hashless
CREATE SEQUENCE numbered
SELECT rank() OVER (ORDER BY x DESC), x, nextval('numbered') FROM (VALUES (1), (2), (3)) v(x)
SELECT count(DISTINCT n) FROM (SELECT generate_series(1, 3), nextval('numbered') AS n FROM (VALUES (1), (2)) v) s
SELECT count(DISTINCT n) FROM (SELECT generate_series(1, 2) + 1, nextval('numbered') + x AS n FROM (VALUES (1), (2)) v(x) ORDER BY x) s
SELECT count(DISTINCT r) FROM (SELECT generate_series(1, 3), random() AS r OFFSET 0) s
DROP SEQUENCE numbered
-- Columns that a join equates have a single order.
CREATE TABLE oc1 (id int PRIMARY KEY, b int)
CREATE TABLE oc2 (id int PRIMARY KEY, b int)
CREATE TABLE oc3 (id int PRIMARY KEY, b int)
INSERT INTO oc1 SELECT g, g % 7 FROM generate_series(1, 2000) g
INSERT INTO oc2 SELECT g, g % 5 FROM generate_series(1, 2000, 2) g
INSERT INTO oc3 SELECT g, g % 3 FROM generate_series(1, 2000, 3) g
VACUUM ANALYZE oc1, oc2, oc3
SET enable_hashjoin = off
SET enable_hashagg = off
SELECT count(v), min(v), max(v), min(d), max(d) FROM (SELECT x, variance(y::float8) v, stddev(y::float8) d FROM (SELECT g / 3 x, g y FROM generate_series(1, 9000) g) q GROUP BY x) r
SET enable_nestloop = off
EXPLAIN (COSTS OFF) SELECT oc1.id, oc2.b FROM oc1 JOIN oc2 ON oc1.id = oc2.id ORDER BY oc2.id
EXPLAIN (COSTS OFF) SELECT * FROM oc1 JOIN oc2 ON oc1.id = oc2.id ORDER BY oc2.id DESC
EXPLAIN (COSTS OFF) SELECT * FROM oc1 LEFT JOIN oc2 ON oc1.id = oc2.id ORDER BY oc2.id
SELECT oc1.id, oc2.b FROM oc1 JOIN oc2 ON oc1.id = oc2.id ORDER BY oc2.id DESC LIMIT 5
SELECT oc3.id, count(*) FROM oc1 JOIN oc2 ON oc1.id = oc2.id JOIN oc3 ON oc3.id = oc2.id WHERE oc1.b = 1 GROUP BY oc3.id ORDER BY oc3.id LIMIT 5
SELECT oc1.id, oc2.id, count(*), grouping(oc1.id, oc2.id) FROM oc1 JOIN oc2 ON oc1.id = oc2.id WHERE oc1.id < 6 GROUP BY GROUPING SETS ((oc1.id, oc2.id), (oc1.id), (oc2.id))
SELECT oc1.b, grouping(oc2.b) FROM oc1 JOIN oc2 USING (id) GROUP BY GROUPING SETS ((oc1.id), (oc2.id))
SELECT oc1.id, oc2.id FROM oc1 LEFT JOIN oc2 ON oc1.id = oc2.id WHERE oc1.id < 6 ORDER BY oc2.id, oc1.id
SELECT DISTINCT ON (oc2.id) oc1.id, oc2.id, oc3.b FROM oc1 JOIN oc2 ON oc1.id = oc2.id JOIN oc3 ON oc3.id = oc1.id ORDER BY oc2.id DESC, oc1.id LIMIT 4
SELECT oc3.id, row_number() OVER (ORDER BY oc1.id) FROM oc1 JOIN oc2 ON oc1.id = oc2.id JOIN oc3 ON oc3.id = oc2.id ORDER BY oc2.id DESC LIMIT 3
RESET enable_hashjoin
RESET enable_hashagg
RESET enable_nestloop
DROP TABLE oc1, oc2, oc3
