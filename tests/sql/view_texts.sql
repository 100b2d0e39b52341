-- Definitions that are shown: quoting by the settings, temporary schemas, rows of joins, grouping sets of one set, calls with defaults.
CREATE SCHEMA view_texts; SET search_path = view_texts
CREATE TABLE a (one int, two int, "Three" text DEFAULT 'a\b'); CREATE TABLE nc ()
INSERT INTO nc DEFAULT VALUES
CREATE VIEW no_columns AS SELECT * FROM nc n, LATERAL (VALUES (n.*)) v
SELECT * FROM no_columns
CREATE VIEW no_columns2 AS SELECT 1 FROM nc n, LATERAL (VALUES (n.*), (n.*)) v; SELECT * FROM no_columns2
CREATE FUNCTION wd(anyelement, integer = 1) RETURNS anyelement LANGUAGE internal WINDOW IMMUTABLE STRICT AS 'window_nth_value'
CREATE VIEW defaults AS SELECT wd(g) OVER (ORDER BY g), wd(g, 2) OVER (ORDER BY g) AS second FROM generate_series(1, 3) g
SELECT pg_get_viewdef('defaults')
SELECT * FROM defaults
CREATE FUNCTION fd(int, b int = 7, c int = 8) RETURNS int LANGUAGE sql AS 'select $1 + $2 * $3'
CREATE VIEW defaults2 AS SELECT fd(1), fd(1, c => 2) AS named
SELECT pg_get_viewdef('defaults2'); SELECT * FROM defaults2
CREATE VIEW sets1 AS SELECT one FROM a GROUP BY GROUPING SETS ((one))
CREATE VIEW sets2 AS SELECT one, two, grouping(one, two) FROM a GROUP BY GROUPING SETS ((one, two)), one
CREATE VIEW sets3 AS SELECT one, two FROM a GROUP BY GROUPING SETS ((one, two)), GROUPING SETS ((two))
CREATE VIEW sets4 AS SELECT one, two FROM a GROUP BY DISTINCT ROLLUP (one), one, two
CREATE VIEW sets5 AS SELECT count(*) FROM a GROUP BY GROUPING SETS (())
CREATE VIEW sets6 AS SELECT one, count(*), grouping(one) FROM a GROUP BY GROUPING SETS ((one), ())
SELECT pg_get_viewdef('sets[[1¦2¦3¦4¦5¦6]]')
INSERT INTO a VALUES (1, 2), (1, 3); SELECT * FROM sets[[1¦2¦3¦4¦5¦6]]
CREATE VIEW joined AS SELECT (j.*) IS NULL x, j.* IS NOT NULL y, j FROM (a JOIN a b(c, d, e) ON true) j
SELECT pg_get_viewdef('joined')
SELECT * FROM joined
CREATE VIEW joined2 AS SELECT ROW(j.one, j.two) x FROM (a a(one, two, z) JOIN nc ON true) j
SELECT pg_get_viewdef('joined2')
CREATE TYPE comptype AS (r float8, i float8); CREATE DOMAIN dcomptype AS comptype
CREATE FUNCTION makedcomp(r float8, i float8) RETURNS dcomptype LANGUAGE sql AS 'select row(r,i)::comptype::dcomptype'
SELECT pg_typeof(m), m, (m).r, m.i FROM makedcomp(1, 2) m
CREATE VIEW domain1 AS SELECT m FROM makedcomp(1, 2) m
CREATE VIEW domain2 AS SELECT row(2, 1)::dcomptype
CREATE VIEW domain3 AS SELECT m.*::dcomptype, m.*::comptype FROM makedcomp(1, 2) m
SELECT pg_get_viewdef('domain[[1¦2¦3]]'); SELECT * FROM domain[[1¦2¦3]]
CREATE VIEW bs AS SELECT 'a\b' x, E'a\\b' y, '''' z; CREATE INDEX bsi ON a ((coalesce("Three", 'x\y')))
SET standard_conforming_strings = off; SET escape_string_warning = off
SELECT pg_get_viewdef('bs'), pg_get_indexdef('bsi'::regclass)
ALTER TABLE a ADD CONSTRAINT bsc CHECK ("Three" <> 'q\\r')
ALTER TABLE a ALTER "Three" TYPE varchar(10); CREATE TABLE a2 (LIKE a INCLUDING ALL)
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'bsc' ORDER BY conrelid
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid::regclass::text IN ('a', 'a2') ORDER BY adrelid
RESET standard_conforming_strings; RESET escape_string_warning
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'bsc' ORDER BY conrelid
SET quote_all_identifiers = on
SELECT pg_get_viewdef('[[bs¦joined¦sets2¦defaults2¦domain3]]')
SELECT 'a'::regclass, 'pg_class'::regclass, 'comptype'::regtype, 'int4'::regtype, 'fd'::regproc, 'abs(int)'::regprocedure, '+(int,int)'::regoperator, 'pg_catalog'::regnamespace, 'C'::regcollation, format_type('comptype'::regtype, -1)
SELECT pg_get_indexdef('bsi'::regclass), pg_get_functiondef('fd'::regproc), pg_get_function_arguments('fd'::regproc), pg_get_function_identity_arguments('fd'::regproc)
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'bsc' ORDER BY conrelid
EXPLAIN (COSTS OFF) SELECT x.one, y FROM a x, generate_series(1, 2) y WHERE x.two = y
SELECT * FROM nosuch
RESET quote_all_identifiers
CREATE FUNCTION pg_temp.f(int) RETURNS int LANGUAGE sql AS 'select 1'
CREATE TYPE pg_temp.ty AS (a int); CREATE TEMP TABLE tmp (a int); CREATE TEMP SEQUENCE tsq
CREATE VIEW temporary AS SELECT pg_temp.f(1) a, NULL::pg_temp.ty AS b, a.one FROM a
SELECT pg_get_viewdef('temporary')
SET search_path = pg_catalog, view_texts; CREATE TABLE pg_temp.hidden (a int); CREATE TABLE view_texts.hidden (a int)
CREATE VIEW view_texts.constants AS SELECT 'tmp'::regclass; CREATE VIEW view_texts.constants2 AS SELECT nextval('tsq')
CREATE VIEW view_texts.temporary2 AS SELECT EXISTS (SELECT FROM pg_temp.tmp)
CREATE VIEW view_texts.temporary3 AS WITH w AS (SELECT * FROM pg_temp.tmp) SELECT 1 FROM w
SELECT relname, relpersistence FROM pg_class WHERE relname ~ '^(constants|temporary)' ORDER BY 1
SET search_path = view_texts
CREATE ROLE view_texts_role
CREATE VIEW roles AS SELECT 'view_texts_role'::regrole
CREATE VIEW roles AS SELECT 1 FROM a WHERE one = ANY (ARRAY['view_texts_role'::regrole])
CREATE TABLE roles (a oid DEFAULT 'view_texts_role'::regrole)
CREATE TABLE roles (a int CHECK (a <> 'view_texts_role'::regrole::oid))
CREATE INDEX rolesi ON a ((one + 'view_texts_role'::regrole::oid::int))
CREATE FUNCTION roles() RETURNS regrole RETURN 'view_texts_role'::regrole
CREATE FUNCTION roles(a regrole DEFAULT 'view_texts_role') RETURNS regrole LANGUAGE sql AS 'select ''view_texts_role''::regrole'
CREATE FUNCTION roles() RETURNS regrole LANGUAGE sql AS 'select ''view_texts_role''::regrole'
CREATE VIEW null_role AS SELECT NULL::regrole
DROP FUNCTION roles(); DROP ROLE view_texts_role
CREATE VIEW double AS SELECT 1 a, 2 b, 3 b, 4 a
CREATE TABLE double (a int, b int, b int, a int)
CREATE TABLE double AS SELECT 1 a, 2 b, 3 b, 4 a
CREATE TABLE double (xmin int, b int, b int)
CREATE VIEW double AS SELECT a.one, row(1), a.one FROM a
DROP SCHEMA view_texts CASCADE
