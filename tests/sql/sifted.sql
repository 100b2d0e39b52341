-- Conditions that a sequential scan tests on the tuples: comparisons of words, before and behind others.
CREATE DOMAIN si_dom AS int CHECK (VALUE < 1000)
CREATE TABLE si (a int, b int8, s int2, o oid, d date, ts timestamp, m si_dom, gone int, t text, n int)
INSERT INTO si SELECT g, g * 5000000000, -g, 4294967295 - g, date '2024-02-27' + g, timestamp '2024-02-27' + g * interval '1 hour', g % 7, g, repeat('x', g), nullif(g % 3, 0) FROM generate_series(-4, 12) g
INSERT INTO si (t) VALUES ('all null'), (null)
ALTER TABLE si DROP gone
ALTER TABLE si ADD w int DEFAULT 7
ALTER TABLE si ADD z int
INSERT INTO si (a, w, z) VALUES (-2147483648, -7, 0), (2147483647, null, -1)
SELECT a, t FROM si WHERE [[a¦b¦s¦m¦n¦w¦z]] [[=¦<>¦<¦<=¦>¦>=]] [[7¦-3::int2¦null::int¦10000000000¦0]]
SELECT a FROM si WHERE [[7¦-3::int2¦null::int8¦10000000000¦2147483647]] [[=¦<>¦<¦<=¦>¦>=]] [[a¦b¦s¦m¦n¦w¦z]]
SELECT a, o FROM si WHERE o [[=¦<>¦<¦<=¦>¦>=]] [[4294967290¦7¦0::oid]]
SELECT a FROM si WHERE [[d¦ts]] [[=¦<>¦<¦<=¦>¦>=]] [[date '2024-02-29'¦timestamp '2024-02-27 05:00'¦'infinity'::timestamp¦'-infinity'::date]]
SELECT ctid, xmax, tableoid = 'si'::regclass FROM si WHERE a > 3 AND n = 1
SELECT si FROM si WHERE w = 7 AND a = 5
SELECT 1 FROM si WHERE a > 10
SELECT count(*) FROM si WHERE a > 0 AND 10 / a < 100 AND n = 1
SELECT count(*) FROM si WHERE [[a <> 0 AND 10 / a < 100¦10 / a < 100 AND a <> 0¦n = 5 AND 1 / (a - a) = 1¦a IS NULL AND n = 1¦a = 3 OR n = 2¦NOT a = 3¦a = n¦si.a = si.b]]
CREATE SEQUENCE si_s
SELECT count(*) FROM si WHERE a >= 6 AND nextval('si_s') > 0 AND n = 1
SELECT last_value FROM si_s
PREPARE si_p (int, int8) AS SELECT a FROM si WHERE a > $1 AND b < $2 AND t > ''
SET plan_cache_mode = [[force_generic_plan¦force_custom_plan]]
EXECUTE si_p ([[3, 40000000000¦null, 1¦-100, 0]])
RESET plan_cache_mode
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM si WHERE [[a > 5¦a > 5 AND n = 1¦a > 5 AND length(t) < 8¦length(t) < 8 AND a > 5¦a = null::int]]
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT (SELECT count(*) FROM si y WHERE y.a > x.a AND y.n = 1) FROM si x WHERE x.n = 2
SELECT a, (SELECT count(*) FROM si y WHERE y.n = 1 AND y.a > x.a) FROM si x WHERE x.n = 2 ORDER BY 1
BEGIN; DECLARE si_c SCROLL CURSOR FOR SELECT a FROM si WHERE a >= 3; FETCH 2 FROM si_c; FETCH ABSOLUTE 4 FROM si_c; FETCH BACKWARD 2 FROM si_c; FETCH ALL FROM si_c; COMMIT
BEGIN; DECLARE si_c CURSOR FOR SELECT a FROM si WHERE n = 1; FETCH 2 FROM si_c; UPDATE si SET t = 'here' WHERE CURRENT OF si_c RETURNING a, t; ROLLBACK
UPDATE si SET t = 'changed', a = a + 1 WHERE a >= 3 AND n = 1 RETURNING a, t
DELETE FROM si WHERE m = 6 RETURNING a
SELECT a, n FROM si ORDER BY a, n
DROP TABLE si
DROP DOMAIN si_dom
DROP SEQUENCE si_s
