-- A list of conditions is decided by the first one that is not true, NULL included; an AND within an
-- expression only by one that is false. Counted by calls of nextval, and by division by zero.
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
