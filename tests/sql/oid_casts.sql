-- Casts between int4 and types of OIDs: negative integers and large OIDs have the same bits.
CREATE TEMP TABLE oc (i int, o oid); INSERT INTO oc VALUES (-1, 4294967295), (5, 5), (0, 2147483648), (-2147483648, 0), (NULL, 7)
SET enable_[[hashjoin¦mergejoin¦nestloop]] = off; SELECT a.i, b.o FROM oc a JOIN oc b ON a.i = b.o; SELECT a.i, b.o FROM oc a LEFT JOIN oc b ON a.i::oid = b.o; SELECT i FROM oc WHERE i IN (SELECT o FROM oc); RESET ALL
SELECT i::oid FROM oc [[UNION¦UNION ALL¦INTERSECT¦EXCEPT]] SELECT o FROM oc ORDER BY 1
SELECT o::int FROM oc [[UNION¦UNION ALL¦INTERSECT¦EXCEPT]] SELECT i FROM oc ORDER BY 1
SELECT count(distinct x), min(x), max(x) FROM (SELECT i::oid x FROM oc UNION ALL SELECT o FROM oc) s
SELECT x, count(*) FROM (SELECT [[i::oid x FROM oc UNION ALL SELECT o¦o::int x FROM oc UNION ALL SELECT i]] FROM oc) s GROUP BY x ORDER BY x
SELECT o, o::int, o::int < 0, o::int + 0::bigint FROM oc WHERE o::int < 0 ORDER BY o::int
SELECT min(o::int), max(i::oid), max(i::oid::regclass::oid) FROM oc
SELECT (-1)::oid, (-1)::oid > 5, 4294967295::oid::int, 4294967295::oid::int < 0, (-1)::oid::regclass, (-1)::regproc::int, (-1)::oid IN (4294967295, 7), (-1)::oid::int::oid = 4294967295
CREATE INDEX oc_i ON oc (i); CREATE INDEX oc_o ON oc (o)
SET enable_seqscan = off; SET enable_bitmapscan = [[on¦off]]; SELECT i, o FROM oc WHERE o = [[(-1)::oid¦(-1)::oid::regclass¦any (array[-1, 5]::oid[])]]; SELECT a.i, b.o FROM oc a JOIN oc b ON b.o = a.i; SELECT a.o, b.i FROM oc a JOIN oc b ON b.i = a.o::int WHERE a.o > 5; SELECT o FROM oc WHERE o > (SELECT (-2)::oid) ; RESET ALL
WITH RECURSIVE r(x) AS (SELECT 4294967295::oid UNION SELECT (-1)::oid FROM r) SELECT x FROM r
CREATE DOMAIN pg_temp.oc_int AS int; SELECT (-1)::oc_int::oid > 5, (4294967295::oid)::oc_int < 0, x::oid FROM (VALUES ((-1)::oc_int), (5)) v(x) ORDER BY x::oid
SELECT array[-1, 5]::oid[], unnest(array[-1, 5]::oid[]) > 6, (array[-1]::oid[])[1] = 4294967295
