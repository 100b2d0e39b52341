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
