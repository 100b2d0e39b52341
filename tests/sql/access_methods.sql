-- Properties of the index access methods, their storage parameters, and bitmap scans beyond work_mem.
CREATE SCHEMA access_methods; SET search_path = access_methods
CREATE TABLE am1 (a int, b text, arr int[], p point, j jsonb)
SELECT amname, p, pg_indexam_has_property(a.oid, p) FROM pg_am a, unnest(ARRAY['can_order', 'can_unique', 'can_multi_col', 'can_exclude', 'can_include', 'nope']) p WHERE amtype = 'i' ORDER BY 1, 2
CREATE INDEX am1_b ON am1 (b DESC, a NULLS FIRST) INCLUDE (p)
SELECT p, pg_index_has_property('am1_b'::regclass, p) FROM unnest(ARRAY['clusterable', 'index_scan', 'bitmap_scan', 'backward_scan', 'can_order', 'nope']) p ORDER BY 1
SELECT n, p, pg_index_column_has_property('am1_b'::regclass, n, p) FROM generate_series(0, 4) n, unnest(ARRAY['asc', 'desc', 'nulls_first', 'nulls_last', 'orderable', 'distance_orderable', 'returnable', 'search_array', 'search_nulls', 'nope']) p ORDER BY 1, 2
SELECT amname, n, pg_indexam_progress_phasename(a.oid, n) FROM pg_am a, generate_series(0, 6) n WHERE amname IN ('btree', 'gin') AND (amname = 'btree' OR n = 9) ORDER BY 1, 2
CREATE INDEX ON am1 USING [[btree¦rtree¦nope]] (a) WITH (nope = 1)
CREATE INDEX ON am1 USING [[btree¦hash]] (a) WITH (fillfactor = [[9¦101¦x]])
CREATE INDEX ON am1 USING btree (a) WITH ([[deduplicate_items = maybe¦fillfactor = 50, fillfactor = 60¦fastupdate¦toast.fillfactor = 50¦nope.fillfactor = 50]])
CREATE INDEX ON am1 USING gin (arr) WITH ([[fillfactor = 50¦gin_pending_list_limit = 1¦fastupdate = maybe¦pages_per_range = 3]])
CREATE INDEX ON am1 USING gist (p) WITH ([[fillfactor = 5¦buffering = maybe¦deduplicate_items¦pages_per_range = 3]])
CREATE INDEX ON am1 USING spgist (p) WITH ([[fillfactor = 5¦buffering = on]])
CREATE INDEX ON am1 USING brin (a) WITH ([[fillfactor = 50¦pages_per_range = 0¦autosummarize = maybe]])
CREATE UNIQUE INDEX ON am1 USING [[hash¦gin¦gist¦spgist¦brin]] (a)
CREATE INDEX ON am1 USING [[hash¦spgist]] (a, b)
CREATE INDEX ON am1 USING [[hash¦gin¦brin]] (a) INCLUDE (b)
CREATE INDEX ON am1 USING [[hash (a DESC)¦gin (arr NULLS FIRST)¦brin (a ASC)¦gist (p DESC)¦spgist (p NULLS LAST)]]
CREATE INDEX ON am1 USING [[gin (j nope)¦gin (a)¦gist (j)¦spgist (j)¦brin (j)¦hash (nope)]]
ALTER TABLE am1 ADD CONSTRAINT am1_u UNIQUE (a) WITH (fillfactor = 5)
ALTER INDEX am1_b SET ([[fillfactor = 5¦fillfactor = 55, deduplicate_items = off¦fastupdate = on¦pages_per_range = 4]])
SELECT reloptions FROM pg_class WHERE oid = 'am1_b'::regclass
ALTER INDEX am1_b RESET (fillfactor, nope)
SELECT reloptions, relam FROM pg_class WHERE oid = 'am1_b'::regclass
CLUSTER am1 USING am1_b
CLUSTER am1 USING nope
CREATE TABLE bm (id int, a int, b int, t text)
ALTER TABLE bm ALTER t SET STORAGE plain
INSERT INTO bm SELECT g, g % 37, g % 53, repeat('x', 3000) || g % 11 FROM generate_series(1, 4000) g
CREATE INDEX bm_a ON bm (a)
CREATE INDEX bm_b ON bm (b)
CREATE INDEX bm_part ON bm (a) WHERE b < 20
SET enable_seqscan = off; SET enable_indexscan = off
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM bm WHERE a = 3
SELECT set_config('work_mem', '[[64kB¦4MB]]', false); SELECT count(*), sum(id), sum(length(t)) FROM bm WHERE [[a < 30¦a = ANY ('{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24}')¦a < 30 AND b < 40¦a < 30 OR b < 40¦(a < 12 OR b > 40) AND a > 3¦a < 34 AND b = 7¦a < 30 AND b < 20¦a < 30 AND right(t, 1) = '3'¦a IS NOT NULL¦a < 30 AND id % 2 = 0]]
SET work_mem = '64kB'
SELECT count(*) FROM bm WHERE [[a < 30¦a < 30 OR b < 50¦a < 36 AND b < 50]]
SELECT id FROM (SELECT id FROM bm WHERE a < 30 AND b < 45 OFFSET [[0¦5¦700]] LIMIT [[1¦3¦900]]) s ORDER BY id
SELECT x, (SELECT count(*) FROM bm WHERE a < x AND b > x) FROM generate_series(1, 36, 5) x ORDER BY 1
SELECT x.id, count(*) FROM (SELECT id, a FROM bm WHERE id <= 4) x JOIN bm y ON y.a > x.a AND y.b < 30 GROUP BY 1 ORDER BY 1
BEGIN; DECLARE c CURSOR FOR SELECT id, a FROM bm WHERE a < 30; MOVE 1000 IN c; FETCH 3 FROM c; FETCH ALL FROM c; COMMIT
SELECT count(*) FROM (SELECT id FROM bm WHERE a < 30 FOR UPDATE) s
UPDATE bm SET b = b + 1 WHERE a < 30 AND b < 10
DELETE FROM bm WHERE a < 33 AND b > 45
SELECT count(*), sum(a), sum(b) FROM bm WHERE a < 100
VACUUM bm
SELECT count(*), sum(a), sum(b) FROM bm WHERE a < 100
RESET work_mem; RESET enable_seqscan; RESET enable_indexscan
SET client_min_messages = error; DROP SCHEMA access_methods CASCADE
