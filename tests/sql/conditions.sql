-- A list of conditions ends at the first one that is not true, NULL included; an AND within an
-- expression only at one that is false. Counted by calls of nextval, and by division by zero.
CREATE TEMP SEQUENCE calls
CREATE TEMP TABLE five (k int, q boolean)
INSERT INTO five VALUES (1, true), (2, false), (2, NULL), (3, true), (NULL, true)
SELECT setval('calls', 1); SELECT count(*) FROM five WHERE q AND nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five WHERE q OFFSET 0) s WHERE k > 1 AND nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT q FROM five OFFSET 0) s WHERE q AND nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f JOIN five g ON f.k = g.k WHERE f.q = g.q AND nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f LEFT JOIN five g ON f.k = g.k WHERE g.q AND nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT q, count(*) FROM five GROUP BY q HAVING q AND nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT k FROM five f WHERE EXISTS (SELECT FROM five g WHERE f.q = g.q AND nextval('calls') > 0); SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT (q AND nextval('calls') > 0) FROM five; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k, q FROM five GROUP BY k, q) f WHERE q AND nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FILTER (WHERE q AND nextval('calls') > 0) FROM five; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT CASE WHEN q AND nextval('calls') > 0 THEN 1 END FROM five; SELECT last_value FROM calls
BEGIN; SELECT setval('calls', 1); UPDATE five SET k = k + 1 WHERE q AND nextval('calls') > 0; SELECT last_value FROM calls; ROLLBACK
BEGIN; SELECT setval('calls', 1); DELETE FROM five WHERE q AND nextval('calls') > 0; SELECT last_value FROM calls; ROLLBACK
CREATE TEMP TABLE zeros (k int, q boolean, z int)
INSERT INTO zeros VALUES (1, NULL, 0), (2, true, 1), (3, false, 0), (NULL, NULL, 0)
SELECT k FROM zeros WHERE q AND 1 / z > 0
SELECT k FROM zeros WHERE q AND (1 / z > 0 OR k > 1)
SELECT k FROM zeros WHERE (q AND 1 / z > 0) OR k > 5
SELECT k FROM zeros WHERE k > 5 OR (q IS NULL AND k > 5 AND 1 / z > 0)
SELECT k FROM zeros WHERE (q IS NOT NULL AND q AND 1 / z > 0) OR k = 3 ORDER BY 1
SELECT k FROM zeros WHERE (q IS NOT NULL AND q AND z = 1 AND k > 1) OR (q AND k > 5) OR (z IN (0, NULL) AND k IN (1, NULL)) ORDER BY 1
SELECT count(*) FILTER (WHERE q AND 1 / z > 0) FROM zeros
SELECT a.k FROM zeros a JOIN zeros b ON a.z = b.z AND a.q AND 1 / b.z > 0
SELECT a.k FROM zeros a LEFT JOIN zeros b ON a.k = b.k WHERE b.q AND 1 / b.z > 0
SELECT q, z FROM zeros GROUP BY q, z HAVING q AND 1 / z > 0
SELECT CASE WHEN q AND 1 / z > 0 THEN 1 END FROM zeros
SELECT k FROM zeros WHERE (q AND 1 / z > 0) IS NULL
SELECT k FROM zeros WHERE NOT (q AND 1 / z > 0)
SELECT k FROM (SELECT k, q, z FROM zeros OFFSET 0) s WHERE k < 2 AND q AND 1 / z > 0
SELECT k, (SELECT b.k FROM zeros b WHERE b.k = a.k AND a.q AND 1 / b.z > 0) FROM zeros a WHERE a.k < 3 ORDER BY 1
BEGIN; DELETE FROM zeros WHERE q AND 1 / z > 0; ROLLBACK
BEGIN; UPDATE zeros SET k = 7 WHERE q AND 1 / z > 0 RETURNING k; ROLLBACK
CREATE TEMP TABLE zero_keys (k int PRIMARY KEY, q boolean, z int)
INSERT INTO zero_keys VALUES (1, NULL, 0)
INSERT INTO zero_keys AS t VALUES (1, NULL, 0) ON CONFLICT (k) DO UPDATE SET z = 2 WHERE t.q AND 1 / t.z > 0
CREATE UNIQUE INDEX ON zero_keys (z) WHERE q AND 1 / z > 0
INSERT INTO zero_keys VALUES (2, NULL, 0)
ALTER TABLE zero_keys ADD CHECK (q AND 1 / z > 0)
INSERT INTO zero_keys VALUES (3, NULL, 0)
-- Conditions that a sequential scan evaluates on the tuples: comparisons of fixed-width columns, before
-- and after other conditions.
CREATE DOMAIN scan_dom AS int CHECK (VALUE < 1000)
CREATE TABLE scanned (a int, b int8, s int2, o oid, d date, ts timestamp, m scan_dom, gone int, t text, n int)
INSERT INTO scanned SELECT g, g * 5000000000, -g, 4294967295 - g, date '2024-02-27' + g, timestamp '2024-02-27' + g * interval '1 hour', g % 7, g, repeat('x', g), nullif(g % 3, 0) FROM generate_series(-4, 12) g
INSERT INTO scanned (t) VALUES ('all null'), (null)
ALTER TABLE scanned DROP gone
ALTER TABLE scanned ADD w int DEFAULT 7
ALTER TABLE scanned ADD z int
INSERT INTO scanned (a, w, z) VALUES (-2147483648, -7, 0), (2147483647, null, -1)
SELECT a, t FROM scanned WHERE [[a¦b¦s¦m¦n¦w¦z]] [[=¦<>¦<¦<=¦>¦>=]] [[7¦-3::int2¦null::int¦10000000000¦0]]
SELECT a FROM scanned WHERE [[7¦-3::int2¦null::int8¦10000000000¦2147483647]] [[=¦<>¦<¦<=¦>¦>=]] [[a¦b¦s¦m¦n¦w¦z]]
SELECT a, o FROM scanned WHERE o [[=¦<>¦<¦<=¦>¦>=]] [[4294967290¦7¦0::oid]]
SELECT a FROM scanned WHERE [[d¦ts]] [[=¦<>¦<¦<=¦>¦>=]] [[date '2024-02-29'¦timestamp '2024-02-27 05:00'¦'infinity'::timestamp¦'-infinity'::date]]
SELECT ctid, xmax, tableoid = 'scanned'::regclass FROM scanned WHERE a > 3 AND n = 1
SELECT scanned FROM scanned WHERE w = 7 AND a = 5
SELECT 1 FROM scanned WHERE a > 10
SELECT count(*) FROM scanned WHERE a > 0 AND 10 / a < 100 AND n = 1
SELECT count(*) FROM scanned WHERE [[a <> 0 AND 10 / a < 100¦10 / a < 100 AND a <> 0¦n = 5 AND 1 / (a - a) = 1¦a IS NULL AND n = 1¦a = 3 OR n = 2¦NOT a = 3¦a = n¦scanned.a = scanned.b]]
CREATE SEQUENCE scan_s
SELECT count(*) FROM scanned WHERE a >= 6 AND nextval('scan_s') > 0 AND n = 1
SELECT last_value FROM scan_s
PREPARE scan_p (int, int8) AS SELECT a FROM scanned WHERE a > $1 AND b < $2 AND t > ''
SET plan_cache_mode = [[force_generic_plan¦force_custom_plan]]
EXECUTE scan_p ([[3, 40000000000¦null, 1¦-100, 0]])
RESET plan_cache_mode
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM scanned WHERE [[a > 5¦a > 5 AND n = 1¦a > 5 AND length(t) < 8¦length(t) < 8 AND a > 5¦a = null::int]]
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT (SELECT count(*) FROM scanned y WHERE y.a > x.a AND y.n = 1) FROM scanned x WHERE x.n = 2
SELECT a, (SELECT count(*) FROM scanned y WHERE y.n = 1 AND y.a > x.a) FROM scanned x WHERE x.n = 2 ORDER BY 1
BEGIN; DECLARE scan_c SCROLL CURSOR FOR SELECT a FROM scanned WHERE a >= 3; FETCH 2 FROM scan_c; FETCH ABSOLUTE 4 FROM scan_c; FETCH BACKWARD 2 FROM scan_c; FETCH ALL FROM scan_c; COMMIT
BEGIN; DECLARE scan_c CURSOR FOR SELECT a FROM scanned WHERE n = 1; FETCH 2 FROM scan_c; UPDATE scanned SET t = 'here' WHERE CURRENT OF scan_c RETURNING a, t; ROLLBACK
UPDATE scanned SET t = 'changed', a = a + 1 WHERE a >= 3 AND n = 1 RETURNING a, t
DELETE FROM scanned WHERE m = 6 RETURNING a
SELECT a, n FROM scanned ORDER BY a, n
DROP TABLE scanned
DROP DOMAIN scan_dom
DROP SEQUENCE scan_s
-- NULL in the array does not end ALL: a later element may raise an error.
select x from (values ('{1,2}'),('a')) v(x) where x ~ all(array[null, '1', '{1,2}'])
select x from (values ('{1,2}'),('a')) v(x) where x ~ all(array['a', null, '{1,2}'])
select x from (values ('{1,2}'),('a')) v(x) where x ~ any(array[null, 'a', '{1,2}'])
select int4_avg_accum('{9223372036854775807,9223372036854775807}', 1), int2_avg_accum('{9223372036854775807,1}', 2::int2)
