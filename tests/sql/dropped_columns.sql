-- Whole rows of tables with dropped columns.
CREATE TABLE dropped_z (n numeric UNIQUE, z int, s text, d date, i int)
ALTER TABLE dropped_z DROP z
INSERT INTO dropped_z AS t VALUES (7.25, 'one', '2024-03-01', 4), (8.5, NULL, NULL, 5) RETURNING t, row_to_json(t), t.*
UPDATE dropped_z AS t SET i = i + 1 RETURNING t, row_to_json(t)
INSERT INTO dropped_z AS t VALUES (7.25, 'two', '2024-03-02', 4) ON CONFLICT (n) DO UPDATE SET s = row_to_json(t)::text || row_to_json(excluded)::text WHERE t IS NOT NULL AND excluded IS NOT NULL RETURNING t
UPDATE dropped_z AS t SET s = 'one' WHERE t IS NOT NULL RETURNING t
MERGE INTO dropped_z AS t USING (SELECT 7.25 AS n) AS u ON t.n = u.n WHEN MATCHED AND t::text LIKE '(7.25,one,2024-03-01,5)' THEN UPDATE SET s = row_to_json(t)::text
TABLE dropped_z ORDER BY n
DELETE FROM dropped_z AS t RETURNING t, (SELECT t.i), (t).s
ALTER TABLE dropped_z ADD CONSTRAINT whole CHECK (dropped_z IS NOT NULL)
INSERT INTO dropped_z AS t VALUES (7.25, 'one', '2024-03-01', 4) RETURNING t
INSERT INTO dropped_z AS t VALUES (7.25, 'one', NULL, 4) RETURNING t
CREATE FUNCTION dropped_rows() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''% %'', OLD, NEW; RETURN NEW; END'
CREATE TRIGGER dropped_rows BEFORE UPDATE ON dropped_z FOR EACH ROW WHEN (OLD IS DISTINCT FROM NEW) EXECUTE FUNCTION dropped_rows()
UPDATE dropped_z SET i = i + 1
UPDATE dropped_z SET i = i
CREATE TABLE dropped_p (i int, s text, n numeric, d date) PARTITION BY RANGE (i)
CREATE TABLE dropped_p1 (n numeric, z int, s text, i int, d date)
ALTER TABLE dropped_p1 DROP z
ALTER TABLE dropped_p ATTACH PARTITION dropped_p1 FOR VALUES FROM (0) TO (10)
INSERT INTO dropped_p AS t VALUES (1, 'one', 7.25, '2024-03-01'), (2, 'two', 8.5, '2024-03-02') RETURNING t, row_to_json(t)
MERGE INTO dropped_p AS t USING generate_series(1, 3) AS g ON t.i = g WHEN MATCHED THEN UPDATE SET s = row_to_json(t)::text
UPDATE dropped_p AS t SET i = i + 2 RETURNING t
TABLE dropped_p ORDER BY i
DELETE FROM dropped_p AS t RETURNING t, t.tableoid::regclass
DROP TABLE dropped_z, dropped_p
DROP FUNCTION dropped_rows()
