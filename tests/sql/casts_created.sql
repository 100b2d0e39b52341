-- CREATE CAST.
CREATE TYPE cc_pair AS (a int, b text)
CREATE TYPE cc_color AS ENUM ('red', 'green')
CREATE DOMAIN cc_small AS int CHECK (value < 100)
CREATE FUNCTION cc_of_int(int) RETURNS cc_pair LANGUAGE sql AS 'SELECT row($1, $1::text)::cc_pair'
CREATE FUNCTION cc_to_int(cc_color) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT CASE $1 WHEN 'red' THEN 1 ELSE 2 END $$
CREATE FUNCTION cc_long(cc_color, int, bool) RETURNS cc_color LANGUAGE sql AS 'SELECT $1'
SELECT 1::cc_pair
CREATE CAST (int AS cc_pair) WITH FUNCTION cc_of_int(int)
SELECT 1::cc_pair, (7::cc_pair).b
CREATE TABLE cc_t (p cc_pair, i int)
INSERT INTO cc_t (p) VALUES (5)
DROP CAST (int AS cc_pair)
CREATE CAST (int AS cc_pair) WITH FUNCTION cc_of_int AS ASSIGNMENT
INSERT INTO cc_t (p) VALUES (5)
CREATE FUNCTION cc_takes(cc_pair) RETURNS text LANGUAGE sql AS 'SELECT ($1).b'
SELECT cc_takes(9)
CREATE CAST (cc_color AS int) WITH FUNCTION cc_to_int(cc_color) AS IMPLICIT
SELECT 'green'::cc_color + 1, 'red'::cc_color::int, 'red'::cc_color = 1
INSERT INTO cc_t (i) VALUES ('green'::cc_color)
SELECT * FROM cc_t ORDER BY i
CREATE CAST (cc_color AS json) WITH INOUT
CREATE CAST (text AS cc_color) WITH INOUT AS IMPLICIT
SELECT 'red'::text::cc_color, 'blue'::text::cc_color
CREATE CAST (cc_color AS cc_color) WITH FUNCTION cc_long(cc_color, int, bool) AS IMPLICIT
ROLLBACK; BEGIN; CREATE CAST ([[int AS cc_pair¦anyelement AS int¦int AS anyelement¦nosuch AS int¦int AS int¦cc_small AS text¦text AS cc_small¦int AS bytea¦int AS text¦cc_pair AS bytea¦cc_color AS oid¦int[] AS bytea¦xml AS bytea]]) [[WITH FUNCTION cc_of_int(int)¦WITHOUT FUNCTION¦WITH INOUT]]; ROLLBACK
ROLLBACK
ROLLBACK; BEGIN; CREATE CAST (int AS [[cc_pair¦text¦int8]]) WITH FUNCTION [[nosuch(int)¦cc_to_int(cc_color)¦sum(int)¦generate_series(int, int)¦cc_long¦int4pl(int, int)¦now()]]; ROLLBACK
ROLLBACK
SELECT castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod FROM pg_cast WHERE oid >= 16384 ORDER BY 1, 2
SELECT pg_describe_object(classid, objid, 0), pg_describe_object(refclassid, refobjid, 0), deptype FROM pg_depend WHERE classid = 'pg_cast'::regclass AND objid >= 16384 ORDER BY 1, 2
CREATE INDEX cc_i ON cc_t ((cc_to_int('red')))
DROP FUNCTION cc_to_int(cc_color)
DROP FUNCTION cc_to_int(cc_color) CASCADE
DROP TYPE cc_color CASCADE
DROP CAST IF EXISTS (xml AS bytea)
DROP CAST IF EXISTS (cc_small AS text)
DROP CAST IF EXISTS (text AS cc_small)
CREATE ROLE cc_role
SET ROLE cc_role
CREATE CAST (int AS cc_pair) WITH FUNCTION cc_of_int(int)
CREATE CAST (int AS text) WITHOUT FUNCTION
RESET ROLE
DROP ROLE cc_role
