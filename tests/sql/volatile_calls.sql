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
