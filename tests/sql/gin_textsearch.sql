-- GIN indexes over tsvector columns.
CREATE SCHEMA gin_search; SET search_path = gin_search, public
CREATE TABLE gd (id int, v tsvector)
INSERT INTO gd SELECT g, to_tsvector('english', 'word' || g % 97 || ' common text ' || (ARRAY['quick brown fox','lazy dogs sleeping','running foxes','Ünïcode wörter'])[g % 4 + 1] || ' ' || md5(g::text)) FROM generate_series(1, 3000) g
INSERT INTO gd VALUES (-1, NULL), (-2, ''), (-3, 'a:1A b:2B c:3')
CREATE INDEX gdi ON gd USING gin (v)
ANALYZE gd
SET enable_seqscan = off; SET jit = off
EXPLAIN (costs off) SELECT id FROM gd WHERE v @@ 'fox'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@ to_tsquery('english', 'foxes & word5')
SELECT count(*), sum(id) FROM gd WHERE v @@ to_tsquery('english', 'fox | dog')
SELECT count(*), sum(id) FROM gd WHERE v @@ '!fox'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@ 'fox & !word5'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@ 'word1:*'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@ 'brown <-> fox'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@ 'quick <2> fox'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@ 'a:A'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@ 'a:B'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@ 'wör:*'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@@ 'lazi'::tsquery
SELECT count(*), sum(id) FROM gd WHERE v @@ ANY (ARRAY['fox'::tsquery, 'dog'])
INSERT INTO gd SELECT g + 10000, to_tsvector('simple', 'later row ' || g) FROM generate_series(1, 500) g
SELECT count(*), sum(id) FROM gd WHERE v @@ 'later & 77'::tsquery
DELETE FROM gd WHERE id % 3 = 0; VACUUM gd
SELECT count(*), sum(id) FROM gd WHERE v @@ 'later | common'::tsquery
SELECT gin_clean_pending_list('gdi')
CREATE INDEX gdx ON gd USING gin (to_tsvector('english', id::text)); DROP TABLE gd
SET search_path = public; DROP SCHEMA gin_search CASCADE
