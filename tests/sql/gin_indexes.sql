-- GIN indexes: definition, plans, results, catalogs, maintenance.
CREATE SCHEMA gin_indexes; SET search_path = gin_indexes; SET jit = off
CREATE TABLE t (id int, tags int[], names text[], doc jsonb)
INSERT INTO t SELECT g, ARRAY[g % 7, g % 100 + 1000, g], ARRAY['n' || g % 13, 'x'], jsonb_build_object('k', g % 10, 'list', ARRAY[g, g % 3], 'sub', jsonb_build_object('name', 'v' || g % 50, 'ok', g % 2 = 0)) FROM generate_series(1, 3000) g
INSERT INTO t VALUES (0, NULL, NULL, NULL), (-1, '{}', '{}', '{}'), (-2, '{NULL}', '{NULL,x}', '[]'), (-3, '{1,NULL}', '{""}', 'null'), (-4, '{{1,2},{3,4}}', '{{a,b}}', '[1, "a", null, true, {"k": 5}]'), (-5, '{1,1,1}', '{a,a}', '"text"'), (-6, '{2}', '{b}', '1.50')
CREATE INDEX t_tags ON t USING gin (tags)
CREATE INDEX t_names ON t USING gin (names) WITH (fastupdate = off)
CREATE INDEX t_doc ON t USING gin (doc)
CREATE INDEX t_path ON t USING gin (doc jsonb_path_ops)
ANALYZE t
-- Errors of CREATE INDEX.
CREATE UNIQUE INDEX ON t USING gin (tags)
CREATE INDEX ON t USING gin (tags) INCLUDE (id)
CREATE INDEX ON t USING gin (tags [[DESC¦ASC¦NULLS FIRST¦NULLS LAST]])
CREATE INDEX ON t USING gin (tags) WITH (gin_pending_list_limit = [[5¦63¦'x'¦64.5]])
CREATE INDEX ON t USING gin (tags) WITH ([[deduplicate_items = off¦fillfactor = 50¦nope = 1¦fastupdate = 7]])
CREATE INDEX ON t USING gin (id)
CREATE INDEX ON t USING gin (tags [[jsonb_ops¦nope_ops¦int4_ops]])
CREATE TABLE bad (p point, c circle[], j json, x xml[])
CREATE INDEX ON bad USING gin ([[p¦c¦j¦x]])
CLUSTER t USING t_tags
-- Plans.
SET enable_seqscan = off
EXPLAIN (COSTS off) SELECT * FROM t WHERE tags [[@>¦<@¦&&¦=]] '{5}'
EXPLAIN (COSTS off) SELECT * FROM t WHERE '{5}' [[<@¦@>¦&&]] tags
EXPLAIN (COSTS off) SELECT * FROM t WHERE names @> '{x}' AND tags && '{3}'
EXPLAIN (COSTS off) SELECT * FROM t WHERE tags @> '{3}' OR tags @> '{4}'
EXPLAIN (COSTS off) SELECT * FROM t WHERE doc @> ANY (ARRAY['{"k": 3}'::jsonb, '{"k": 4}'])
EXPLAIN (COSTS off) SELECT * FROM t WHERE tags @> '{}' ORDER BY id
EXPLAIN (COSTS off) SELECT count(*) FROM t WHERE tags IS NULL
EXPLAIN (COSTS off) SELECT * FROM t WHERE doc [[?¦?|¦?&]] [['k'¦'{k,list}'¦'{k}']]
EXPLAIN (COSTS off) SELECT * FROM t WHERE doc @> '{"sub": {"name": "v7"}}' AND id < 500
EXPLAIN (COSTS off) UPDATE t SET id = id WHERE tags @> '{5}'
EXPLAIN (COSTS off) DELETE FROM t WHERE tags && '{5,6}'
-- Results by the index and by the table.
SET enable_bitmapscan = on
SELECT count(*), min(id), max(id) FROM t WHERE tags [[@>¦<@¦&&¦=]] [['{5}'¦'{}'¦'{1,NULL}'¦'{NULL}'¦'{1,2,3,4}'¦'{1}'¦'{6,1006,6}'¦'{9999}'¦NULL]]
SELECT id FROM t WHERE tags [[@>¦<@¦&&¦=]] '{1}' AND id < 30 ORDER BY id
SELECT count(*), sum(id) FROM t WHERE names [[@>¦<@¦&&¦=]] [['{n5}'¦'{}'¦'{x,n5}'¦'{n1,n2,x}'¦'{""}'¦'{a}'¦'{nope}']]
SELECT count(*), sum(id) FROM t WHERE doc @> [['{}'¦'[]'¦'{"k": 5}'¦'{"k": 5.0}'¦'{"sub": {"ok": true}}'¦'{"list": [2]}'¦'{"list": []}'¦'1.5'¦'"text"'¦'null'¦'[1]'¦'[{"k": 5}]'¦'"a"'¦'{"nope": 1}']]
SELECT count(*), sum(id) FROM t WHERE doc ? [['k'¦'a'¦'text'¦'nope'¦'v1'¦'']]
SELECT count(*), sum(id) FROM t WHERE doc [[?|¦?&]] [['{k,nope}'¦'{k,list}'¦'{}'¦'{a,NULL}'¦'{nope}']]
DROP INDEX t_doc
EXPLAIN (COSTS off) SELECT * FROM t WHERE doc @> '{"k": 5}'
SELECT count(*), sum(id) FROM t WHERE doc @> [['{}'¦'[]'¦'{"k": 5}'¦'{"k": 5.00}'¦'{"sub": {"ok": true}}'¦'{"list": [2]}'¦'{"list": []}'¦'1.5'¦'"text"'¦'null'¦'[1]'¦'[{"k": 5}]'¦'"a"'¦'{"nope": 1}']]
SELECT count(*) FROM t WHERE tags && '{3}' AND names @> '{n5}' AND doc @> '{"k": 3}'
SELECT count(*) FROM t WHERE doc @> ANY (ARRAY['{"k": 3}'::jsonb, '{"k": 4}', NULL])
SELECT count(*) FROM t WHERE tags @> '{3}' AND NOT tags @> '{1003}'
-- The pending list, updates, VACUUM.
INSERT INTO t SELECT g, ARRAY[g % 7, -g], ARRAY['late'], jsonb_build_object('late', g) FROM generate_series(5000, 5200) g
SELECT count(*) FROM t WHERE tags @> '{[[3¦-5003¦-1]]}'
SELECT count(*) FROM t WHERE names @> '{late}'
SELECT count(*) FROM t WHERE doc @> '{"late": 5100}'
UPDATE t SET tags = tags || 777 WHERE id % 10 = 0
SELECT count(*) FROM t WHERE tags @> '{777}'
DELETE FROM t WHERE tags @> '{3}'
SELECT count(*) FROM t WHERE tags @> '{3}'
SELECT gin_clean_pending_list('t_tags') > 0, gin_clean_pending_list('t_tags')
SELECT gin_clean_pending_list([['t'¦'t_names'¦'pg_class_oid_index'¦'nope']])
VACUUM t
SELECT count(*) FROM t WHERE tags @> '{[[3¦777¦5]]}'
SELECT count(*) FROM t WHERE tags <@ '{1,2,3,4,5,6,7}'
BEGIN; INSERT INTO t VALUES (-10, '{424242}'); ROLLBACK
SELECT count(*) FROM t WHERE tags @> '{424242}'
REINDEX INDEX t_tags
SELECT count(*), sum(id) FROM t WHERE tags @> '{5}'
TRUNCATE t
SELECT count(*) FROM t WHERE tags @> '{5}'
INSERT INTO t VALUES (1, '{5}', '{a}', '{"a": 1}')
SELECT id FROM t WHERE tags @> '{5}' AND doc @> '{"a": 1}'
-- Several columns, expressions, predicates, other types.
CREATE TABLE m (id int, a int[], b text[], c jsonb, d numeric[], e date[])
INSERT INTO m SELECT g, ARRAY[g % 5], ARRAY['t' || g % 3], to_jsonb(g % 4), ARRAY[g % 6, 1.50], ARRAY['2020-01-01'::date + g % 9] FROM generate_series(1, 500) g
INSERT INTO m VALUES (0, NULL, NULL, NULL, NULL, NULL), (-1, '{}', NULL, '{}', '{NaN,1.5,1.500}', NULL)
CREATE INDEX m_all ON m USING gin (a, b, c, d, e)
EXPLAIN (COSTS off) SELECT * FROM m WHERE a @> '{3}' AND b && '{t1,t2}' AND c @> '2'
SELECT count(*), sum(id) FROM m WHERE a @> '{3}' AND b && '{t1,t2}'
SELECT count(*), sum(id) FROM m WHERE [[a @> '{}'¦b @> '{}'¦a <@ '{1,2}'¦c @> '3'¦d @> '{1.5}'¦d && '{NaN}'¦e && '{2020-01-03,2020-01-05}']]
SELECT count(*), sum(id) FROM m WHERE a @> '{}' AND b @> '{}' AND c @> '1'
SELECT count(*), sum(id) FROM m WHERE a @> '{2}' AND b @> '{}'
CREATE INDEX m_expr ON m USING gin (string_to_array(b[1] || ',x', ',')) WHERE id > 100
EXPLAIN (COSTS off) SELECT count(*) FROM m WHERE string_to_array(b[1] || ',x', ',') @> '{t1}' AND id > 200
SELECT count(*) FROM m WHERE string_to_array(b[1] || ',x', ',') @> '{t1}' AND id > 200
CREATE TYPE color AS ENUM ('red', 'green', 'blue')
CREATE TABLE o (id int, c color[], v varchar(5)[], u uuid[], bl bool[], i int8[])
CREATE INDEX o_all ON o USING gin (c, v, u, bl, i)
INSERT INTO o SELECT g, ARRAY[(ENUM_RANGE(NULL::color))[g % 3 + 1]], ARRAY['v' || g % 4], ARRAY[md5((g % 5)::text)::uuid], ARRAY[g % 2 = 0], ARRAY[g * 10000000000] FROM generate_series(1, 300) g
SELECT count(*) FROM o WHERE [[c @> '{red}'¦c && '{red,blue}'¦v @> '{v3}'¦u @> ARRAY[md5('3')::uuid]¦bl @> '{t}'¦i @> '{70000000000}']]
EXPLAIN (COSTS off) SELECT * FROM o WHERE v @> '{v3}'
CREATE TABLE wide (id int, a text[])
CREATE INDEX wide_a ON wide USING gin (a)
INSERT INTO wide VALUES (1, ARRAY[repeat('x', 5000), 'y'])
INSERT INTO wide SELECT 2, ARRAY[(SELECT string_agg(md5(g::text), '') FROM generate_series(1, 300) g)]
SELECT id FROM wide WHERE a @> ARRAY[repeat('x', 5000)]
CREATE UNLOGGED TABLE unlogged_t (a int[]); CREATE INDEX ON unlogged_t USING gin (a); INSERT INTO unlogged_t SELECT ARRAY[g % 10, g] FROM generate_series(1, 2000) g; SELECT count(*) FROM unlogged_t WHERE a @> '{3}'
CREATE TEMP TABLE temp_t (a int[]); CREATE INDEX ON temp_t USING gin (a); INSERT INTO temp_t SELECT ARRAY[g % 10, g] FROM generate_series(1, 2000) g; VACUUM temp_t; SELECT count(*) FROM temp_t WHERE a @> '{3}'
-- Catalogs.
SELECT indexdef FROM pg_indexes WHERE schemaname = 'gin_indexes' ORDER BY indexname
SELECT c.relname, c.reloptions, i.indclass, i.indcollation, i.indoption FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = 'gin_indexes'::regnamespace AND relname ~ '^[tm]_' ORDER BY 1
SELECT attrelid::regclass, attname, atttypid::regtype, attlen, attbyval, attalign, attstorage, attcollation FROM pg_attribute WHERE attrelid::regclass::text IN ('t_tags', 't_names', 't_path', 'm_all', 'o_all') ORDER BY 1::text, attnum
ALTER INDEX t_tags SET (fastupdate = off, gin_pending_list_limit = 128)
INSERT INTO t SELECT g, ARRAY[g % 10] FROM generate_series(1, 100) g
SELECT count(*) FROM t WHERE tags @> '{5}'
ALTER INDEX t_tags RESET (fastupdate)
SELECT reloptions FROM pg_class WHERE relname = 't_tags' AND relnamespace = 'gin_indexes'::regnamespace
SELECT most_common_elems, most_common_elem_freqs, elem_count_histogram FROM pg_stats WHERE schemaname = 'gin_indexes' AND attname = 'names' AND tablename = 't'
CREATE TABLE st AS SELECT g AS id, CASE WHEN g % 10 = 0 THEN NULL WHEN g % 7 = 0 THEN ARRAY[1, 2, NULL, 2] ELSE ARRAY[g % 4, g % 3 + 100] END AS a FROM generate_series(1, 1000) g
ANALYZE st
SELECT most_common_elems, most_common_elem_freqs, elem_count_histogram FROM pg_stats WHERE tablename = 'st' AND schemaname = 'gin_indexes' AND attname = 'a'
EXPLAIN SELECT * FROM st WHERE a [[@>¦&&¦<@]] [['{1}'¦'{1,101}'¦'{5}'¦'{}'¦'{1,2,3,100,101,102,0}'¦'{NULL}']]
RESET enable_seqscan
DROP SCHEMA gin_indexes CASCADE
