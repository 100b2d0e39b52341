-- Orders that the catalogs know: enums and rows.
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
