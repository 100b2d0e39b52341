-- Type modifiers of the columns of a set operation: those of all branches if they are equal, also if
-- branches are removed because they have no rows.
CREATE TEMP TABLE mods (v varchar(10), w varchar(20), n numeric(8, 2), c char(3), t text)
INSERT INTO mods VALUES ('a', 'b', 1.25, 'c', 'd')
SELECT v FROM mods UNION ALL SELECT [[t¦v¦w¦c¦'x'::text¦n::text¦NULL]] FROM mods WHERE false
SELECT [[t¦v¦w¦c¦'x'::text¦n::text¦NULL]] FROM mods WHERE false UNION ALL SELECT v FROM mods
SELECT v FROM mods UNION [[ALL¦]] SELECT max(md5(t)) FROM mods WHERE [[true¦false]]
SELECT v FROM mods [[UNION¦INTERSECT¦EXCEPT]] [[ALL¦]] SELECT (SELECT max(md5(t)) FROM mods) FROM mods WHERE false
SELECT n FROM mods [[UNION¦INTERSECT¦EXCEPT]] [[ALL¦]] SELECT [[n¦1.5¦1.5::numeric(9,3)¦1]] FROM mods WHERE false
SELECT v FROM mods WHERE false UNION ALL SELECT t FROM mods WHERE false
SELECT * FROM (SELECT v FROM mods UNION ALL SELECT t FROM mods WHERE false) s
SELECT s.v FROM (SELECT v FROM mods UNION ALL SELECT t FROM mods WHERE false) s WHERE s.v > ''
SELECT v FROM mods UNION ALL SELECT t FROM mods WHERE false ORDER BY 1 LIMIT 1
SELECT max(v), min(n) FROM mods WHERE [[true¦false]]
SELECT coalesce(v, w), coalesce(v, v), CASE WHEN true THEN v ELSE t END, CASE WHEN false THEN t ELSE v END, nullif(v, 'x'), greatest(n, n) FROM mods
SELECT (SELECT v FROM mods UNION ALL SELECT t FROM mods WHERE false)
SELECT v FROM (VALUES ('a'::varchar(10)), ('b'::varchar(20))) x(v) WHERE [[true¦false]]
SELECT v FROM (SELECT DISTINCT v FROM mods) x UNION ALL SELECT v FROM mods WHERE false
WITH x AS (SELECT v FROM mods UNION ALL SELECT t FROM mods WHERE false) SELECT * FROM x
WITH x AS MATERIALIZED (SELECT v FROM mods UNION ALL SELECT t FROM mods WHERE false) SELECT * FROM x
SELECT v FROM mods WHERE [[true¦false]] UNION ALL SELECT w FROM mods WHERE [[true¦false]]
SELECT n FROM mods WHERE [[true¦false]] UNION ALL SELECT 1.5::numeric(9,3) WHERE [[true¦false]] UNION ALL SELECT 2.5 WHERE [[true¦false]]
SELECT v FROM mods UNION SELECT [[v¦w¦t]] FROM mods WHERE false UNION ALL SELECT [[v¦w¦t]] FROM mods WHERE false
EXPLAIN (COSTS OFF) SELECT v FROM mods UNION ALL SELECT [[v¦w¦t]] FROM mods WHERE false
EXPLAIN (COSTS OFF) SELECT v FROM mods UNION SELECT [[v¦w¦t]] FROM mods WHERE false
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT v FROM mods UNION ALL SELECT t FROM mods WHERE false) s
