-- Syntax that PostgreSQL 15 does not have.
CREATE TABLE later (a int, b int)
CREATE STATISTICS ON a, b FROM later
CREATE STATISTICS (ndistinct) ON a, b FROM later
REINDEX [[DATABASE¦SYSTEM¦DATABASE CONCURRENTLY]][[¦;]]
GRANT later_a TO later_b WITH [[INHERIT TRUE¦SET FALSE¦ADMIN TRUE¦ADMIN FALSE¦ADMIN OPTION¦ADMIN OPTION, INHERIT TRUE¦/* c */ ADMIN -- d¦admin  option]]
REVOKE [[INHERIT¦SET¦ADMIN]] OPTION FOR later_a FROM later_b
CREATE TABLE later2 (a text STORAGE [[plain¦DEFAULT]])
CREATE TABLE later2 (a int GENERATED ALWAYS AS ((1) + ('2')::int)[[ VIRTUAL¦¦, b int]])
CREATE TABLE later2 (a int[[, NOT NULL a¦, CONSTRAINT x NOT NULL a¦ CHECK (a > 0) NOT ENFORCED¦ CHECK (a > 0) ENFORCED¦, UNIQUE (a WITHOUT OVERLAPS)]])
ALTER TABLE later [[ALTER a SET STORAGE DEFAULT¦ALTER a SET STATISTICS DEFAULT¦SET ACCESS METHOD DEFAULT¦ALTER COLUMN a SET EXPRESSION AS (1)¦ADD NOT NULL a¦ADD CONSTRAINT c NOT NULL a]]
SELECT 'at local', now() AT LOCAL
SELECT 1; SELECT 'é', now() /* at local */ AT /* x */ LOCAL
INSERT INTO later VALUES (1) RETURNING WITH (old AS o) o.a
VACUUM [[ONLY later¦(ANALYZE) ONLY later]]
ANALYZE ONLY later
-- Parameters where the grammar wants literals.
SELECT [[date $1¦interval $1¦interval(3) $1¦interval $1 year¦nosuch $1¦nosuch(3) $1¦timestamp with time zone $1¦extract($1 FROM now())¦'x', float $1¦$1 + date $2]]
SET [[ROLE $1¦TIME ZONE $1¦SCHEMA $1¦SESSION AUTHORIZATION $1¦work_mem = $1¦work_mem TO 1, $1¦LOCAL work_mem = $1]]
[[CREATE¦ALTER]] ROLE later_a [[PASSWORD $1¦ENCRYPTED PASSWORD $1]]
[[ALTER SYSTEM SET work_mem = $1¦ALTER ROLE later_a SET work_mem = $1¦ALTER DATABASE later SET work_mem TO 1, $1]]
CREATE FUNCTION later() RETURNS int LANGUAGE sql SET work_mem = $1 AS ''
SELECT 1; SELECT nosuch; SET work_mem = $1
DROP TABLE later
-- Subqueries in FROM have an alias.
SELECT 1 FROM [[(SELECT 1), LATERAL (VALUES (1))¦(  (VALUES (1)))¦(SELECT 1) AS x, (SELECT 2) y, ((SELECT 3))¦((SELECT 1) a CROSS JOIN (SELECT 2)) WHERE true¦LATERAL (SELECT 1), (SELECT 2)¦(SELECT 1) NATURAL JOIN (SELECT 2) b¦(SELECT 1) FOR UPDATE¦((SELECT 1) UNION (SELECT 2)) ORDER BY 1¦((SELECT 1) UNION (SELECT 2)) x¦((SELECT 1) LIMIT 1)]]
SELECT (SELECT 1), (SELECT 2 FROM (SELECT 1) a JOIN (SELECT 2) ON true)
VALUES ((SELECT 1)), ((SELECT 2 FROM (TABLE pg_class)))
INSERT INTO nosuch SELECT * FROM (SELECT 1)
DELETE FROM pg_class USING (SELECT 1)
UPDATE pg_class SET relname = 'a' FROM (SELECT 1) WHERE (SELECT true)
MERGE INTO pg_class USING (SELECT 1) ON true WHEN MATCHED THEN DO NOTHING
CREATE VIEW later_v AS SELECT * FROM (SELECT 1)
-- Functions of SQL/JSON are functions like others.
SELECT json('{}'), json_object('{a,b}'), json('{}') IS NULL
SELECT [[json_scalar(1)¦json_value('{}','a')¦json_array(1,2)¦json_array()¦json_object()¦json_exists('{}','$')¦json_query('1', '2')¦json_serialize('1')¦json_arrayagg(1 ORDER BY 2) OVER ()¦json_arrayagg(1) FILTER (WHERE true)]]
SELECT [[json_object('a':1)¦json_object('a' VALUE 1)¦json_array(SELECT 1)¦json_exists('{}','$' PASSING 1 AS x)¦'1' IS JSON¦'1' IS NOT JSON OBJECT¦json_objectagg('a': 1)¦json_serialize('1' RETURNING text)¦json_query('1','2' WITH WRAPPER)¦json('{}' FORMAT json)]]
SELECT * FROM json_table('1','$' COLUMNS (a int))
SELECT [['1'::json IS JSON¦'{}'::json IS NOT JSON OBJECT]]
