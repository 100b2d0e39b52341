-- What VACUUM and ANALYZE write to pg_class.
CREATE SCHEMA relation_statistics; SET search_path = relation_statistics
CREATE TABLE t (a int PRIMARY KEY) WITH (autovacuum_enabled = off)
CREATE VIEW found AS SELECT relname, relpages, reltuples, relallvisible FROM pg_class WHERE oid IN ('t'::regclass, 't_pkey'::regclass)
INSERT INTO t SELECT generate_series(1, 10000)
VACUUM t
TABLE found
-- VACUUM skips pages and so estimates the rows from the number before. ANALYZE behind it corrects them.
UPDATE pg_class SET reltuples = 80 WHERE oid = 't'::regclass; DELETE FROM t WHERE a BETWEEN 9000 AND 9200
VACUUM t
SELECT relname FROM found WHERE reltuples < 9799
VACUUM (ANALYZE) t
TABLE found
INSERT INTO t SELECT generate_series(10001, 19000); DELETE FROM t WHERE a BETWEEN 10001 AND 18999
VACUUM (ANALYZE) t
SELECT relname, reltuples FROM found
-- ANALYZE counts the pages that are all-visible.
UPDATE t SET a = a WHERE a < 3
ANALYZE t
SELECT relname, reltuples, relallvisible < relpages FROM found
DROP SCHEMA relation_statistics CASCADE
