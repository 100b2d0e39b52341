-- Number of calls of volatile functions where a rule of the planner determines it.
CREATE TEMP SEQUENCE calls
CREATE TEMP TABLE five (k int, q boolean)
INSERT INTO five VALUES (1, true), (2, false), (2, NULL), (3, true), (NULL, true)

-- A volatile condition is pushed down into the branches of UNION and INTERSECT, also if it contains no columns.
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five UNION SELECT 7) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five UNION ALL SELECT 7) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five INTERSECT SELECT k FROM five) s WHERE nextval('calls') > k; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five INTERSECT ALL SELECT k FROM five WHERE q) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five UNION (SELECT k FROM five EXCEPT SELECT 1)) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five EXCEPT SELECT 2) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five UNION (SELECT k FROM five ORDER BY k)) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five UNION (SELECT k FROM five LIMIT 2)) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five UNION SELECT DISTINCT k FROM five) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five UNION SELECT generate_series(1, 3)) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five UNION (SELECT 1 UNION SELECT 2)) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five UNION SELECT 9) s JOIN five f ON nextval('calls') > 0; SELECT last_value FROM calls

-- It is also pushed down to HAVING below GROUP BY, but not below DISTINCT, windows and functions
-- that return sets.
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k, count(*) c FROM five GROUP BY k) s WHERE nextval('calls') > coalesce(k, 0) * 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT DISTINCT k FROM five) s WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k, rank() OVER (PARTITION BY k) FROM five) s WHERE nextval('calls') > k; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k, generate_series(1, 2) FROM five) s WHERE nextval('calls') > k; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k FROM five LIMIT 3) s WHERE nextval('calls') > k; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM (SELECT k, nextval('calls') n FROM five) s WHERE n > 0 AND nextval('calls') > k; SELECT last_value FROM calls

-- A sub-select whose references to the outer row are removed by constant folding runs once.
SELECT setval('calls', 1); SELECT count(m) FROM (SELECT (SELECT nextval('calls') WHERE (f.q OR true)) m FROM five f) s; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f WHERE f.k < (SELECT nextval('calls') + CASE WHEN true THEN 5 ELSE f.k END); SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f WHERE EXISTS (SELECT nextval('calls') FROM five g WHERE nextval('calls') > 0 OR f.q OR true); SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f WHERE f.k IN (SELECT nextval('calls') FROM five g WHERE g.q OR f.q OR true); SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f WHERE (f.k, 1) < (SELECT nextval('calls'), coalesce(2, f.k)); SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f WHERE f.k < ALL (SELECT nextval('calls') FROM (SELECT coalesce(3, f.k)) g); SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT f.k, ARRAY(SELECT nextval('calls') FROM five g WHERE f.k IS NULL OR true) FROM five f ORDER BY 1; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*), (SELECT nextval('calls') WHERE f.q OR true) FROM five f GROUP BY f.q; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count((SELECT nextval('calls') FROM (SELECT k, f.q FROM five) g LIMIT 1)) FROM five f; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count((SELECT nextval('calls') WHERE false AND f.q)), count((SELECT f.k WHERE nextval('calls') < 0)) FROM five f; SELECT last_value FROM calls

-- A volatile condition without columns is evaluated at the topmost join, with its other conditions.
SELECT setval('calls', 1); SELECT count(*) FROM five f JOIN five g ON f.k = g.k AND LEAST(f.k, g.k) IN (f.k + 1, g.k + 1, 7) WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f JOIN five g ON f.k = g.k AND f.q <> g.q WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f JOIN five g ON f.k < g.k AND nextval('calls') > 0 AND abs(f.k) + abs(g.k) > 4; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f LEFT JOIN five g ON f.k = g.k AND f.q <> g.q WHERE nextval('calls') > 0; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f, five g, five h WHERE f.k = g.k AND g.k = h.k AND nextval('calls') > 0 AND f.k + abs(g.k) + abs(h.k) > 5; SELECT last_value FROM calls
SELECT setval('calls', 1); SELECT count(*) FROM five f JOIN five g ON f.k = g.k WHERE nextval('calls') > 0 AND EXISTS (SELECT FROM five h WHERE h.k = f.k AND h.q); SELECT last_value FROM calls
CREATE SEQUENCE vc_sq; CREATE VIEW vc_v AS SELECT g AS k, g::text AS s FROM generate_series(1, 4) g
SELECT sum(m * 0) FROM (SELECT (SELECT nextval('vc_sq') WHERE t [[IS DISTINCT FROM NULL¦IS NOT NULL]]) m FROM vc_v AS t) s; SELECT last_value FROM vc_sq
DROP VIEW vc_v; DROP SEQUENCE vc_sq

-- A condition with a volatile function is no condition of a hash or merge join and of a TID scan, and proves no
-- uniqueness, so that it is evaluated for each pair of rows.
CREATE SEQUENCE vc_calls; CREATE FUNCTION vc_f(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''vc_calls''); RETURN x; END'
CREATE TABLE vc_a (id int PRIMARY KEY, v int); CREATE TABLE vc_b (id int PRIMARY KEY, v int); INSERT INTO vc_a SELECT g, g % 10 FROM generate_series(1, 30) g; INSERT INTO vc_b SELECT g, g % 7 FROM generate_series(1, 30) g; CREATE INDEX ON vc_b (v); ANALYZE vc_a, vc_b
SELECT setval('vc_calls', 1); SELECT count(*) FROM vc_a a [[JOIN¦LEFT JOIN¦RIGHT JOIN¦FULL JOIN]] vc_b b ON vc_f(a.id) = b.[[id¦v]]; SELECT last_value FROM vc_calls
SELECT setval('vc_calls', 1); SELECT count(b.v) FROM vc_a a LEFT JOIN vc_b b ON vc_f(a.id) = b.id; SELECT last_value FROM vc_calls
SELECT setval('vc_calls', 1); SELECT count(*) FROM vc_a a JOIN vc_b b ON a.id = vc_f(b.id) WHERE a.v < 5; SELECT last_value FROM vc_calls
SELECT count(*) FROM vc_a a FULL JOIN vc_b b ON a.id = b.id AND [[vc_f(a.id) = b.id¦vc_f(a.id) = 1]]
SELECT setval('vc_calls', 1); SELECT count(*) FROM vc_a a WHERE a.id IN (SELECT vc_f(id) FROM vc_b); SELECT last_value FROM vc_calls
SELECT setval('vc_calls', 1); SELECT count(*) FROM vc_a a WHERE vc_f(a.id) IN (SELECT id FROM vc_b); SELECT last_value FROM vc_calls
SELECT setval('vc_calls', 1); SELECT count(*) FROM vc_a WHERE ctid [[=¦<]] format('(0,%s)', vc_f(3))::tid; SELECT last_value FROM vc_calls
SELECT setval('vc_calls', 1); SELECT count(*) FROM vc_a WHERE ctid = ANY (ARRAY[format('(0,%s)', vc_f(3))::tid]); SELECT last_value FROM vc_calls
SELECT setval('vc_calls', 1); SELECT count(*) FROM vc_a a, vc_b b WHERE b.ctid = format('(0,%s)', vc_f(a.id))::tid; SELECT last_value FROM vc_calls
SELECT setval('vc_calls', 1); DELETE FROM vc_a USING vc_b b WHERE vc_f(vc_a.id) = b.id AND vc_a.id < 5; SELECT last_value FROM vc_calls
EXPLAIN (COSTS OFF) SELECT 1 FROM vc_a a JOIN vc_b b ON b.id = a.id AND b.v = a.v + random()::int
EXPLAIN (COSTS OFF) SELECT 1 FROM vc_a a LEFT JOIN vc_b b ON vc_f(a.id) = b.id
DROP TABLE vc_a, vc_b; DROP FUNCTION vc_f; DROP SEQUENCE vc_calls
