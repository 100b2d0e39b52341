-- Hash indexes: definition, plans, results, catalogs, maintenance.
CREATE SCHEMA hash_indexes; SET search_path = hash_indexes
CREATE TABLE t (id int, k int, s text, b bigint)
INSERT INTO t SELECT g, g % 997, 'row ' || g % 500, g * 100000000::bigint FROM generate_series(1, 10000) g
INSERT INTO t VALUES (0, NULL, NULL, NULL), (-1, NULL, '', 0)
CREATE INDEX t_k ON t USING hash (k)
CREATE INDEX t_s ON t USING hash (s) WITH (fillfactor = 40)
CREATE INDEX t_b ON t USING HASH (b)
ANALYZE t
-- Errors of CREATE INDEX.
CREATE UNIQUE INDEX ON t USING hash (k)
CREATE INDEX ON t USING hash (k, s)
CREATE INDEX ON t USING hash (k) INCLUDE (s)
CREATE INDEX ON t USING hash (k [[DESC¦ASC¦NULLS FIRST¦NULLS LAST¦ASC NULLS LAST]])
CREATE INDEX ON t USING hash (k) WITH (fillfactor = [[5¦101¦'x'¦10.5]])
CREATE INDEX ON t USING hash (k) WITH ([[deduplicate_items = off¦fastupdate = on¦nope = 1¦fillfactor¦buffering = on]])
CREATE INDEX ON t USING hash (k text_ops)
CREATE INDEX ON t USING hash (k nope_ops)
CREATE INDEX ON t USING hash (nope)
CREATE INDEX ON t USING hash (k COLLATE "C")
CREATE INDEX ON t USING hash ((k + random()))
CREATE INDEX ON t USING hash ()
CREATE TABLE bad (p point, c circle, j json, x xml)
CREATE INDEX ON bad USING hash ([[p¦c¦j¦x]])
ALTER TABLE t ADD CONSTRAINT u UNIQUE USING INDEX t_k
ALTER TABLE t ADD PRIMARY KEY USING INDEX t_k
CLUSTER t USING t_k
ALTER TABLE t CLUSTER ON t_k
-- Plans and results.
SET enable_seqscan = off
EXPLAIN (COSTS off) SELECT * FROM t WHERE k = 5
EXPLAIN (COSTS off) SELECT * FROM t WHERE 5 = b
EXPLAIN (COSTS off) SELECT * FROM t WHERE s = 'row 7'
EXPLAIN (COSTS off) SELECT * FROM t WHERE b = 700000000
EXPLAIN (COSTS off) SELECT * FROM t WHERE b = 7
EXPLAIN (COSTS off) SELECT * FROM t WHERE k = 5::[[bigint¦smallint¦int]]
EXPLAIN (COSTS off) SELECT * FROM t WHERE b = 5::[[bigint¦smallint¦int]]
EXPLAIN (COSTS off) SELECT * FROM t WHERE k [[<¦<=¦>¦>=¦<>]] 5
EXPLAIN (COSTS off) SELECT * FROM t WHERE k IS [[NULL¦NOT NULL]]
EXPLAIN (COSTS off) SELECT * FROM t WHERE k IN (1, 2, 3)
EXPLAIN (COSTS off) SELECT * FROM t WHERE k = ANY ('{}'::int[])
EXPLAIN (COSTS off) SELECT * FROM t WHERE k = 5 AND s = 'row 5'
EXPLAIN (COSTS off) SELECT * FROM t WHERE k = 5 OR s = 'row 5'
EXPLAIN (COSTS off) SELECT * FROM t WHERE k = 5 ORDER BY k
EXPLAIN (COSTS off) SELECT * FROM t WHERE k = 5 ORDER BY id
EXPLAIN (COSTS off) SELECT k FROM t WHERE k = 5
EXPLAIN (COSTS off) SELECT count(*) FROM t
EXPLAIN (COSTS off) SELECT * FROM t ORDER BY k
EXPLAIN (COSTS off) SELECT min(k) FROM t
EXPLAIN (COSTS off) SELECT DISTINCT k FROM t WHERE k = 5
EXPLAIN (COSTS off) SELECT * FROM t WHERE s LIKE 'row 7'
EXPLAIN (COSTS off) SELECT * FROM t WHERE s = 'row 7' COLLATE "C"
EXPLAIN (COSTS off) SELECT * FROM t WHERE s ~ '^row 7$'
EXPLAIN (COSTS off) SELECT * FROM t a JOIN t b ON a.k = b.id WHERE b.id = 5
EXPLAIN (COSTS off) UPDATE t SET s = s WHERE k = 5
EXPLAIN (COSTS off) DELETE FROM t WHERE s = 'row 5'
SELECT * FROM t WHERE k = 5 ORDER BY id
SELECT * FROM t WHERE k = 5
SELECT count(*), min(id), max(id) FROM t WHERE s = 'row 7'
SELECT * FROM t WHERE b = 700000000
SELECT * FROM t WHERE b = 7
SELECT count(*) FROM t WHERE k = 5::[[bigint¦smallint¦numeric¦int]]
SELECT count(*) FROM t WHERE b = 0::[[bigint¦smallint¦int]]
SELECT count(*) FROM t WHERE k = NULL
SELECT count(*) FROM t WHERE k = (SELECT NULL::int)
SELECT count(*) FROM t WHERE k = 99999
SELECT count(*) FROM t WHERE k IS NULL
SELECT count(*) FROM t WHERE k IN (1, 2, 3, NULL)
SELECT count(*) FROM t WHERE k = ANY ('{1,1,2,5000}'::int[])
SELECT count(*) FROM t WHERE k = ANY ('{}'::int[])
SELECT count(*) FROM t WHERE k = 5 AND k = 6
SELECT count(*) FROM t WHERE k = 5 AND s = 'row 5'
SELECT count(*) FROM t WHERE k = 5 OR s = 'row 5'
SELECT count(*) FROM t WHERE s = ''
SELECT count(*) FROM t a JOIN t b ON a.k = b.id WHERE b.id < 5
SELECT a.id, (SELECT count(*) FROM t b WHERE b.k = a.id) FROM t a WHERE a.id IN (1, 2, 996, 997) ORDER BY 1
SET enable_bitmapscan = off; EXPLAIN (COSTS off) SELECT * FROM t WHERE k = 5
SELECT * FROM t WHERE k = 5
SELECT count(*) FROM t WHERE k IN (1, 2, 3)
SELECT count(*) FROM t a, t b WHERE a.id < 30 AND b.k = a.k
EXPLAIN SELECT * FROM t WHERE k = 5
EXPLAIN SELECT * FROM t WHERE s = 'row 7'
EXPLAIN SELECT * FROM t WHERE b = 700000000
RESET enable_bitmapscan; SET enable_indexscan = off; EXPLAIN (COSTS off) SELECT * FROM t WHERE k = 5
SELECT count(*) FROM t WHERE k = 5
EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT * FROM t WHERE k = 5
RESET enable_indexscan; RESET enable_seqscan
EXPLAIN (COSTS off) SELECT * FROM t WHERE k = 5
EXPLAIN SELECT * FROM t WHERE b = 700000000
EXPLAIN (COSTS off) SELECT * FROM t a, t b WHERE a.id = 5 AND b.b = a.b
EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT * FROM t WHERE b = 700000000
-- Cursors run in both directions.
SET enable_seqscan = off; SET enable_bitmapscan = off
BEGIN
DECLARE c SCROLL CURSOR FOR SELECT id FROM t WHERE k = 5
FETCH 3 FROM c
FETCH BACKWARD 2 FROM c
FETCH LAST FROM c
FETCH BACKWARD 3 FROM c
FETCH FIRST FROM c
FETCH ALL FROM c
FETCH BACKWARD ALL FROM c
MOVE 2 FROM c
UPDATE t SET s = 'changed' WHERE CURRENT OF c
COMMIT
BEGIN
DECLARE c CURSOR FOR SELECT id FROM t WHERE k = 6
FETCH 2 FROM c
DELETE FROM t WHERE k = 6 AND id > 5000
INSERT INTO t SELECT 20000 + g, 6, 'new', 0 FROM generate_series(1, 50) g
FETCH ALL FROM c
CLOSE c
ROLLBACK
-- Prepared statements, with parameters of other types and NULL.
PREPARE p (int) AS SELECT count(*) FROM t WHERE k = $1
EXECUTE p (5)
EXECUTE p (NULL)
EXECUTE p (-1)
EXPLAIN (COSTS off) EXECUTE p (5)
PREPARE q (text) AS SELECT count(*) FROM t WHERE s = $1
EXECUTE q ('row 1')
EXECUTE q (NULL)
DEALLOCATE ALL
-- Changes.
UPDATE t SET k = k + 1000 WHERE k = 7
SELECT count(*) FROM t WHERE k = [[7¦1007]]
DELETE FROM t WHERE k = 1007
SELECT count(*) FROM t WHERE k = 1007
VACUUM t
SELECT count(*) FROM t WHERE k = 1007
INSERT INTO t SELECT g, 4711, 'same', g FROM generate_series(1, 3000) g
SELECT count(*), sum(id) FROM t WHERE k = 4711
DELETE FROM t WHERE k = 4711 AND id % 2 = 0
SELECT count(*), sum(id) FROM t WHERE k = 4711
VACUUM t
SELECT count(*), sum(id) FROM t WHERE k = 4711
DELETE FROM t WHERE k = 4711
VACUUM t
SELECT count(*) FROM t WHERE k = 4711
BEGIN; INSERT INTO t VALUES (1, 123456, 'x', 1); SELECT count(*) FROM t WHERE k = 123456; ROLLBACK
SELECT count(*) FROM t WHERE k = 123456
BEGIN; SAVEPOINT a; INSERT INTO t VALUES (1, 123456, 'x', 1); ROLLBACK TO a; INSERT INTO t VALUES (2, 123456, 'y', 1); COMMIT
SELECT id, s FROM t WHERE k = 123456
REINDEX INDEX t_k
SELECT count(*) FROM t WHERE k = 8
REINDEX TABLE t
REINDEX INDEX CONCURRENTLY t_s
SELECT count(*) FROM t WHERE s = 'row 8'
ALTER INDEX t_k SET (fillfactor = 20)
ALTER INDEX t_k SET (fillfactor = 5)
ALTER INDEX t_k SET (deduplicate_items = on)
SELECT relname, reloptions FROM pg_class WHERE oid IN ('t_k'::regclass, 't_s'::regclass) ORDER BY 1
ALTER INDEX t_k RESET (fillfactor)
SELECT count(*) FROM t WHERE k = 8
TRUNCATE t
SELECT count(*) FROM t WHERE k = 8
INSERT INTO t SELECT g, g % 10, 'after', g FROM generate_series(1, 100) g
SELECT count(*) FROM t WHERE k = 8
ALTER TABLE t ALTER k TYPE bigint
SELECT count(*) FROM t WHERE k = 8
SELECT indexdef FROM pg_indexes WHERE tablename = 't' AND schemaname = 'hash_indexes' ORDER BY 1
ALTER TABLE t DROP COLUMN b
SELECT indexdef FROM pg_indexes WHERE tablename = 't' AND schemaname = 'hash_indexes' ORDER BY 1
CREATE INDEX CONCURRENTLY t_k2 ON t USING hash (k)
DROP INDEX t_k
SELECT count(*) FROM t WHERE k = 8
DROP INDEX CONCURRENTLY t_k2
CREATE INDEX IF NOT EXISTS t_s ON t USING hash (s)
ALTER INDEX t_s RENAME TO t_s2
COMMENT ON INDEX t_s2 IS 'hashed'
-- Expressions, predicates, collations, domains.
CREATE INDEX e ON t USING hash (lower(s))
CREATE INDEX p ON t USING hash (id) WHERE id > 50
ANALYZE t
EXPLAIN (COSTS off) SELECT * FROM t WHERE lower(s) = 'after'
EXPLAIN (COSTS off) SELECT * FROM t WHERE id = 60 AND id > 50
EXPLAIN (COSTS off) SELECT * FROM t WHERE id = [[40¦60]]
SELECT count(*) FROM t WHERE lower(s) = 'after'
SELECT id FROM t WHERE id = 60 AND id > 50
CREATE TABLE c (v text COLLATE "C", w varchar(10), x char(5), n name)
CREATE INDEX c_v ON c USING hash (v); CREATE INDEX c_w ON c USING hash (w); CREATE INDEX c_x ON c USING hash (x); CREATE INDEX c_n ON c USING hash (n)
CREATE INDEX c_p ON c USING hash (w varchar_pattern_ops); CREATE INDEX c_t ON c USING hash (v text_pattern_ops); CREATE INDEX c_b ON c USING hash (x bpchar_pattern_ops)
INSERT INTO c VALUES ('a', 'a', 'a', 'a'), ('b', 'b ', 'b  ', 'b'), ('', '', '', '')
EXPLAIN (COSTS off) SELECT * FROM c WHERE [[v = 'a'¦w = 'a'¦x = 'a'¦n = 'a'¦x = 'a '¦w = 'a'::char(5)¦n = 'a'::text¦v = 'a'::name]]
SELECT * FROM c WHERE [[v = 'a'¦w = 'b '¦x = 'b'¦n = 'a'¦x = 'a   '::char(5)¦w = 'b'¦n = 'b'::text¦v = ''::name]]
CREATE DOMAIN d AS int CHECK (VALUE > 0); CREATE TABLE dt (v d, a int[]); CREATE INDEX dt_v ON dt USING hash (v); CREATE INDEX dt_a ON dt USING hash (a)
INSERT INTO dt SELECT g, ARRAY[g, NULL, g + 1] FROM generate_series(1, 50) g
EXPLAIN (COSTS off) SELECT * FROM dt WHERE [[v = 5¦a = '{5,NULL,6}']]
SELECT * FROM dt WHERE [[v = 5¦a = '{5,NULL,6}']]
CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text)
CREATE TABLE y (m mood, p pair, f float8, n numeric, i interval, z timetz, j jsonb, u uuid, o oid, l bool, ch "char", ts timestamp, tz timestamptz, dd date, ti time, by bytea, f4 real, i2 smallint)
CREATE INDEX ON y USING hash (m); CREATE INDEX ON y USING hash (p); CREATE INDEX ON y USING hash (f); CREATE INDEX ON y USING hash (n); CREATE INDEX ON y USING hash (i); CREATE INDEX ON y USING hash (z); CREATE INDEX ON y USING hash (j); CREATE INDEX ON y USING hash (u); CREATE INDEX ON y USING hash (o); CREATE INDEX ON y USING hash (l); CREATE INDEX ON y USING hash (ch); CREATE INDEX ON y USING hash (ts); CREATE INDEX ON y USING hash (tz); CREATE INDEX ON y USING hash (dd); CREATE INDEX ON y USING hash (ti); CREATE INDEX ON y USING hash (by); CREATE INDEX ON y USING hash (f4); CREATE INDEX ON y USING hash (i2)
INSERT INTO y VALUES ('ok', '(1,x)', '-0', 1.50, '30 days', '12:00+02', '{"a": [1, 2]}', '00000000-0000-0000-0000-000000000001', 7, true, 'c', '2020-01-01', '2020-01-01 00:00+00', '2020-01-01', '12:00', '\x00ff', 'NaN', -5)
INSERT INTO y VALUES ('sad', '(2,)', 'NaN', 'NaN', '1 mon', '24:00', 'null', '00000000-0000-0000-0000-000000000002', 8, false, '', 'infinity', '-infinity', '4713-01-01 BC', '24:00', '', 0, 0)
SELECT m, p, f, n FROM y WHERE [[m = 'ok'¦p = '(1,x)'::pair¦p = ROW(2, NULL)::pair¦f = 0¦f = 'NaN'¦n = 1.5¦n = 'NaN'¦i = '1 mon'¦i = '30 days'¦z = '12:00+02'¦j = '{"a": [1, 2]}'¦u = '00000000-0000-0000-0000-000000000001'¦o = 7¦l¦NOT l¦l = true¦ch = 'c'¦ts = '2020-01-01'¦tz = '2020-01-01 00:00+00'¦dd = '2020-01-01'¦ti = '12:00'¦by = '\x00ff'¦f4 = 'NaN'¦f4 = 0::float8¦f = 'NaN'::real¦i2 = -5::bigint¦ts = '2020-01-01'::date¦dd = 'infinity'::timestamp]]
EXPLAIN (COSTS off) SELECT m FROM y WHERE [[m = 'ok'¦p = '(1,x)'::pair¦f = 0¦n = 1.5¦i = '1 mon'¦z = '12:00+02'¦j = '{"a": [1, 2]}'¦l¦NOT l¦l = true¦l IS TRUE¦ch = 'c'¦f4 = 0::float8¦f = 0::real¦i2 = 5::bigint¦ts = '2020-01-01'::date¦ts = '2020-01-01'::timestamptz¦o = 7::int8]]
-- Catalogs.
SELECT amname, amtype, amhandler FROM pg_am WHERE amname = 'hash'
SELECT a.attname, a.atttypid::regtype, a.attlen, a.attbyval, a.attalign, a.attstorage, a.attcollation, a.attnotnull FROM pg_attribute a WHERE a.attrelid IN ('c_v'::regclass, 'c_n'::regclass, 'dt_a'::regclass) ORDER BY 1
SELECT indkey, indcollation, indclass::text, indoption, indisunique, indisclustered, indisvalid FROM pg_index WHERE indexrelid IN ('c_v'::regclass, 'dt_a'::regclass) ORDER BY 2
SELECT prop, pg_indexam_has_property(a.oid, prop) FROM pg_am a, unnest(ARRAY['can_order', 'can_unique', 'can_multi_col', 'can_exclude', 'can_include', 'bogus']) prop WHERE amname = 'hash' ORDER BY 1
SELECT prop, pg_index_has_property('c_v', prop) FROM unnest(ARRAY['clusterable', 'index_scan', 'bitmap_scan', 'backward_scan', 'bogus']) prop ORDER BY 1
SELECT prop, pg_index_column_has_property('c_v', 1, prop) FROM unnest(ARRAY['asc', 'desc', 'nulls_first', 'nulls_last', 'orderable', 'distance_orderable', 'returnable', 'search_array', 'search_nulls', 'bogus']) prop ORDER BY 1
SELECT pg_get_indexdef('c_v'::regclass), pg_get_indexdef('c_t'::regclass, 1, true), pg_get_indexdef('e'::regclass)
SELECT opcname, opcintype::regtype FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'hash' ORDER BY 1, 2
SELECT relname, relkind, relam = (SELECT oid FROM pg_am WHERE amname = 'hash'), relpages, reltuples FROM pg_class WHERE relname = 'c_v'
-- Sizes follow the splitpoints.
CREATE TABLE g (a int); CREATE INDEX g_a ON g USING hash (a); SELECT pg_relation_size('g_a')
INSERT INTO g SELECT generate_series(1, 5000); SELECT pg_relation_size('g_a')
INSERT INTO g SELECT generate_series(5001, 40000); SELECT pg_relation_size('g_a')
CREATE INDEX g_b ON g USING hash (a); SELECT pg_relation_size('g_b')
SET maintenance_work_mem = '1MB'; CREATE INDEX g_c ON g USING hash (a); RESET maintenance_work_mem; SELECT pg_relation_size('g_c')
VACUUM g; SELECT relpages, reltuples FROM pg_class WHERE relname IN ('g_a', 'g_b') ORDER BY 1
DELETE FROM g WHERE a % 3 = 0; VACUUM g; SELECT relpages, reltuples FROM pg_class WHERE relname IN ('g_a', 'g_b') ORDER BY 1
SELECT pg_relation_size('g_a'), pg_relation_size('g_b')
SELECT count(*) FROM g x WHERE NOT EXISTS (SELECT FROM g y WHERE y.a = x.a)
DROP INDEX g_a, g_b; SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM generate_series(1, 40000) v WHERE (SELECT count(*) FROM g WHERE a = v) <> (CASE WHEN v % 3 = 0 THEN 0 ELSE 1 END); RESET enable_seqscan; RESET enable_bitmapscan
-- Unlogged and temporary tables.
CREATE UNLOGGED TABLE ul (a int); CREATE INDEX ul_a ON ul USING hash (a); INSERT INTO ul SELECT g % 100 FROM generate_series(1, 3000) g; SELECT count(*) FROM ul WHERE a = 5
DELETE FROM ul WHERE a < 50; VACUUM ul; SELECT count(*) FROM ul WHERE a = [[5¦55]]
CREATE TEMP TABLE tt (a int); CREATE INDEX tt_a ON tt USING hash (a); INSERT INTO tt SELECT g % 100 FROM generate_series(1, 3000) g; SELECT count(*) FROM tt WHERE a = 5
DELETE FROM tt WHERE a < 50; VACUUM tt; SELECT count(*) FROM tt WHERE a = [[5¦55]]
ALTER TABLE ul SET LOGGED; SELECT count(*) FROM ul WHERE a = 55
-- The examples of the documentation.
CREATE TABLE films (code char(5), title varchar(40), did int, len int)
CREATE INDEX pointloc ON films USING hash (title)
CREATE INDEX ON films USING hash (code) WITH (fillfactor = 70)
INSERT INTO films SELECT g, 'film ' || g, g, g FROM generate_series(1, 300) g
SELECT * FROM films WHERE title = 'film 17'
DROP SCHEMA hash_indexes CASCADE
