-- One object of each kind, and more objects where a dump writes them in more than one way.
SET search_path = public;
CREATE SCHEMA s1;
CREATE SCHEMA "S 2" AUTHORIZATION plain;
CREATE SCHEMA s3 AUTHORIZATION login;
COMMENT ON SCHEMA s1 IS 'first';
COMMENT ON SCHEMA public IS 'everyone''s';
GRANT USAGE ON SCHEMA s1 TO grp;
GRANT ALL ON SCHEMA s1 TO sub WITH GRANT OPTION;
-- types
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN s1.code AS varchar(5) COLLATE "C" DEFAULT 'x' NOT NULL CONSTRAINT len CHECK (length(VALUE) > 0);
CREATE DOMAIN s1.codes AS s1.code[];
ALTER DOMAIN positive ADD CONSTRAINT small CHECK (VALUE < 1000000) NOT VALID;
COMMENT ON DOMAIN positive IS 'more than nothing';
COMMENT ON CONSTRAINT small ON DOMAIN positive IS 'but not much more';
CREATE TYPE mood AS ENUM ('sad', 'ok', 'very happy');
ALTER TYPE mood ADD VALUE 'so so' BEFORE 'ok';
CREATE TYPE s1.none AS ENUM ();
CREATE TYPE s1.pair AS (a int, "B b" text COLLATE "C", c numeric(10, 2)[]);
COMMENT ON TYPE s1.pair IS 'two and more';
COMMENT ON COLUMN s1.pair.a IS 'its first';
GRANT USAGE ON TYPE mood TO grp;
REVOKE ALL ON TYPE s1.pair FROM PUBLIC;
-- functions
CREATE FUNCTION add(a int, b int DEFAULT 10) RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT a + b';
CREATE FUNCTION s1.quoted(text) RETURNS text LANGUAGE sql STABLE COST 7 AS $$ SELECT '$a$ ''' || $1 || E'\n' $$;
CREATE FUNCTION rows_of(n int, OUT i int, OUT t text) RETURNS SETOF record LANGUAGE sql ROWS 33 AS 'SELECT g, g::text FROM generate_series(1, n) g';
CREATE FUNCTION tab(n int) RETURNS TABLE (x int, y text) LANGUAGE sql LEAKPROOF AS 'SELECT g, ''r'' FROM generate_series(1, n) g';
CREATE FUNCTION many(VARIADIC v int[]) RETURNS int LANGUAGE sql SECURITY DEFINER SET work_mem = '1MB' SET search_path = s1, pg_temp AS 'SELECT array_length(v, 1)';
CREATE FUNCTION either(anyelement, anyarray DEFAULT NULL) RETURNS anyelement LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION body(a int) RETURNS int RETURN a * 2;
CREATE FUNCTION body2(a int) RETURNS int BEGIN ATOMIC SELECT a * 3; SELECT a * 4; END;
CREATE FUNCTION in_out(INOUT a int, b text DEFAULT 'it''s') LANGUAGE sql AS 'SELECT a';
CREATE PROCEDURE s1.proc(a int) LANGUAGE sql AS 'SELECT a';
COMMENT ON FUNCTION add(int, int) IS 'sum';
COMMENT ON PROCEDURE s1.proc(int) IS 'nothing';
REVOKE ALL ON FUNCTION add(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION add(int, int) TO grp;
GRANT EXECUTE ON PROCEDURE s1.proc(int) TO plain WITH GRANT OPTION;
ALTER FUNCTION tab(int) OWNER TO maker;
-- sequences
CREATE SEQUENCE seq;
CREATE SEQUENCE s1.steps AS smallint INCREMENT BY -3 MINVALUE -300 MAXVALUE 300 START WITH 30 CACHE 4 CYCLE;
CREATE UNLOGGED SEQUENCE fleet;
SELECT nextval('s1.steps'), nextval('s1.steps');
SELECT setval('seq', 77, false);
COMMENT ON SEQUENCE seq IS 'counts';
GRANT USAGE, SELECT ON SEQUENCE seq TO grp;
-- tables
CREATE TABLE types (
    bo boolean, i2 smallint, i4 int, i8 bigint, f4 real, f8 double precision,
    nu numeric, nu2 numeric(8, 3), nu3 numeric(5, -2), te text, vc varchar, vc2 varchar(10), ch char, ch2 char(4), na name, qc "char",
    by bytea, da date, ti time, ti2 time(2), tz time with time zone, ts timestamp, ts2 timestamp(3), tt timestamptz, tt2 timestamptz(0),
    iv interval, iv2 interval day to second(2), iv3 interval year, iv4 interval(3), uu uuid, oi oid, rc regclass, rt regtype, rp regprocedure, rn regnamespace, rr regrole, ls pg_lsn,
    xi xid, x8 xid8, ci cid, td tid, js json, ai int[], at text[][], av varchar(3)[], an numeric(6, 2)[], ab bytea[], atz timestamptz[],
    mo mood, am mood[], po positive, co s1.code DEFAULT 'dd', pa s1.pair, ap s1.pair[], ip inet, cd cidr, ov oidvector, iv5 int2vector
);
INSERT INTO types VALUES (
    true, -32768, 2147483647, -9223372036854775808, 1.1, 0.1::float8 + 0.2,
    'NaN', 12345.678, 12300, E'a\tb\\c\nd''e"f', '', 'varchar', 'c', 'ab', 'name', 'q',
    '\x00ff27', '2024-02-29', '23:59:59.999999', '01:02:03.456', '01:02:03+05:30', '0044-03-15 12:00:00 BC', '2024-01-01 00:00:00.1236', '2024-06-01 12:00:00+00', 'infinity',
    '1 year -2 mons 3 days -04:05:06.789', '3 days 04:05:06.789', '5 years', '00:00:01.23456', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 4294967295, 'pg_class', 'int4[]', 'upper(text)', 's1', 'plain', '16/B374D848',
    '123', '12345678901', '7', '(4,5)', '{"a": [1, null, "x"]}', '{1,NULL,3}', '[0:1][2:3]={{a,"b c"},{"NULL",""}}', '{abc}', '{1.5,-2.25}', '{"\\x01",NULL}', '{"2024-06-01 12:00:00+00"}',
    'very happy', '{sad,"so so"}', 5, 'code', ROW(1, 'x "y", (z)', '{1.5}'), ARRAY[ROW(NULL, '', NULL)::s1.pair], '192.168.1.5/24', '10.0.0.0/8', '1 2 3', '4 5'
), (NULL, NULL, 0, 0, '-0', '-Infinity', 'Infinity', 0, NULL, '\N', NULL, NULL, NULL, NULL, NULL, '', '', '-infinity', '24:00', NULL, NULL, 'infinity', NULL, NULL, NULL, '0', NULL, NULL, NULL, NULL, 0, '-', '-', '-', '-', '-', '0/0', NULL, NULL, NULL, NULL, 'null', '{}', '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'z', NULL, NULL, '::1', '::/0', '', '');
CREATE TABLE parent (id serial PRIMARY KEY, big bigserial, small smallserial, name text NOT NULL UNIQUE, "Mixed Case" int DEFAULT 5, created timestamptz DEFAULT '2024-01-01 00:00:00+00', gone int);
ALTER TABLE parent DROP COLUMN gone;
INSERT INTO parent (name) SELECT 'n' || g FROM generate_series(1, 5) g;
CREATE TABLE child (
    a int GENERATED ALWAYS AS IDENTITY (START WITH 100 INCREMENT BY 5),
    b int GENERATED BY DEFAULT AS IDENTITY,
    c int GENERATED ALWAYS AS (p * 2 + 1) STORED,
    p int DEFAULT add(1, 2) REFERENCES parent ON DELETE CASCADE ON UPDATE SET NULL,
    q text COLLATE "POSIX" REFERENCES parent (name) MATCH FULL ON DELETE SET DEFAULT DEFERRABLE INITIALLY DEFERRED,
    r int CONSTRAINT positive CHECK (r > 0) NO INHERIT,
    CONSTRAINT child_pk PRIMARY KEY (a) INCLUDE (b) WITH (fillfactor = 70),
    CONSTRAINT uq UNIQUE NULLS NOT DISTINCT (b, r) DEFERRABLE,
    CONSTRAINT ck CHECK (p IS NULL OR (b > 0 AND q <> ALL (ARRAY['x', 'y'])))
) WITH (fillfactor = 50, autovacuum_enabled = off, toast.autovacuum_vacuum_threshold = 77);
INSERT INTO child (p, q, r) VALUES (1, 'n1', 1), (2, NULL, NULL);
ALTER TABLE child ADD CONSTRAINT late FOREIGN KEY (r) REFERENCES parent (id) NOT VALID;
ALTER TABLE child ADD CONSTRAINT late2 CHECK (r < 1000) NOT VALID;
CREATE UNIQUE INDEX parent_both ON parent (id, name);
ALTER TABLE child ADD CONSTRAINT two FOREIGN KEY (p, q) REFERENCES parent (id, name) ON DELETE SET NULL (q);
COMMENT ON TABLE child IS E'with a\nline break and \\ too';
COMMENT ON COLUMN child.a IS 'its ''key''';
COMMENT ON CONSTRAINT ck ON child IS 'a check';
COMMENT ON CONSTRAINT child_pk ON child IS 'a key';
CREATE TABLE "S 2"."Odd ""Table""" ("Col" int, "select" text, "with ""quotes""" int DEFAULT 1);
INSERT INTO "S 2"."Odd ""Table""" VALUES (1, 'x', 2);
ALTER TABLE "S 2"."Odd ""Table""" OWNER TO plain;
CREATE UNLOGGED TABLE fleeting (a int, b text);
INSERT INTO fleeting VALUES (1, 'gone after a crash');
CREATE TABLE nothing ();
CREATE TABLE s1.self (id int PRIMARY KEY, up int REFERENCES s1.self);
INSERT INTO s1.self VALUES (2, NULL), (1, 2);
CREATE TABLE s3.owned (a positive PRIMARY KEY, m mood DEFAULT 'ok', p s1.pair DEFAULT ROW(1, 'z', '{}'));
ALTER TABLE s3.owned OWNER TO login;
INSERT INTO s3.owned VALUES (3);
CREATE TABLE tuned (a text, b text COMPRESSION pglz, c int NOT NULL, d text);
ALTER TABLE tuned ALTER COLUMN a SET STORAGE EXTERNAL, ALTER COLUMN d SET STORAGE MAIN, ALTER COLUMN c SET STATISTICS 77, ALTER COLUMN a SET (n_distinct = -0.5);
ALTER TABLE tuned REPLICA IDENTITY FULL;
CREATE TABLE keyed (a int NOT NULL, b int NOT NULL, t text);
CREATE UNIQUE INDEX keyed_a ON keyed (a);
CREATE INDEX keyed_b ON keyed (b DESC NULLS LAST);
ALTER TABLE keyed REPLICA IDENTITY USING INDEX keyed_a;
CREATE INDEX tuned_c ON tuned (c);
ALTER TABLE tuned CLUSTER ON tuned_c;
CREATE TABLE defaults (
    a timestamptz DEFAULT now(), b date DEFAULT CURRENT_DATE, c text DEFAULT CURRENT_USER, d int[] DEFAULT '{1,2}', e text DEFAULT 'it''s' || '\', f int DEFAULT -1,
    g numeric DEFAULT 1.50, h interval DEFAULT '1 day', i bytea DEFAULT '\x0102', j bool DEFAULT (NOT true), k text DEFAULT NULL, l int DEFAULT nextval('seq'), m float8 DEFAULT 1e100,
    n text DEFAULT upper('x'::text), o mood DEFAULT 'sad'::mood, p char(3) DEFAULT 'abc', q varchar DEFAULT 'v'::varchar, r timestamp(2) DEFAULT LOCALTIMESTAMP(2), s bigint DEFAULT 5, t date DEFAULT '2024-01-01', u int DEFAULT 2 + 3 * (4 - 1), v text DEFAULT CASE WHEN true THEN 'a' ELSE 'b' END
);
-- indexes
CREATE INDEX parent_expr ON parent (lower(name), (id + 1) DESC) WHERE id > 0 AND name IS NOT NULL;
CREATE INDEX parent_incl ON parent (name text_pattern_ops) INCLUDE (id) WITH (fillfactor = 60, deduplicate_items = off);
CREATE UNIQUE INDEX "Odd Index" ON parent ((name || 'x') COLLATE "C" NULLS FIRST);
CREATE INDEX child_gen ON child (c, p NULLS FIRST) WHERE c IS DISTINCT FROM 4;
ALTER INDEX parent_expr ALTER COLUMN 1 SET STATISTICS 500;
COMMENT ON INDEX parent_expr IS 'an index';
-- statistics
CREATE STATISTICS st (ndistinct, dependencies) ON a, b FROM keyed;
CREATE STATISTICS s1.st2 ON (a + b), t FROM keyed;
ALTER STATISTICS st SET STATISTICS 50;
COMMENT ON STATISTICS st IS 'a statistic';
-- line breaks in expressions of all kinds of objects
CREATE DOMAIN cased AS int DEFAULT CASE WHEN 1 > 0 THEN 1 ELSE 2 END CHECK (CASE WHEN VALUE > 0 THEN true ELSE VALUE < -10 END);
CREATE TABLE cases (a int DEFAULT CASE 5 WHEN 1 THEN 2 END CHECK (CASE a WHEN 1 THEN true ELSE false END), b int GENERATED ALWAYS AS (CASE WHEN a > 0 THEN a END) STORED);
CREATE INDEX cases_a ON cases ((CASE WHEN a > 0 THEN 1 ELSE 0 END)) WHERE CASE WHEN a > 5 THEN true END;
CREATE STATISTICS cases_st ON (CASE WHEN a > 0 THEN 1 ELSE 0 END), b FROM cases;
CREATE FUNCTION cased(a int DEFAULT CASE WHEN true THEN 1 END) RETURNS int RETURN CASE WHEN a > 0 THEN (SELECT max(c.a) FROM cases c WHERE c.b = $1) ELSE 0 END;
CREATE FUNCTION cased2(a int) RETURNS SETOF cases BEGIN ATOMIC INSERT INTO cases (a) SELECT 1 UNION SELECT 2; UPDATE cases SET a = CASE WHEN cases.a > 0 THEN 1 END WHERE cases.b = cased2.a RETURNING b; DELETE FROM cases c USING keyed k WHERE c.a = k.a; SELECT * FROM cases; END;
CREATE FUNCTION changes(a int) RETURNS void BEGIN ATOMIC UPDATE keyed AS k SET b = changes.a + 1, t = DEFAULT WHERE k.a = changes.a; UPDATE ONLY keyed SET (b, t) = (SELECT c.b, c.a::text FROM cases c LIMIT 1) FROM cases WHERE cases.a = keyed.a; INSERT INTO keyed AS n (a, b) VALUES (1, 2), (changes.a, DEFAULT) ON CONFLICT (a) DO UPDATE SET b = excluded.b + n.b WHERE n.a > 0; INSERT INTO keyed DEFAULT VALUES; INSERT INTO keyed SELECT * FROM keyed ON CONFLICT DO NOTHING RETURNING keyed.*; DELETE FROM keyed; WITH d AS (DELETE FROM cases RETURNING a) SELECT count(*) FROM d; END;
-- views
CREATE VIEW simple AS SELECT id, name FROM parent WHERE id > 2;
CREATE VIEW s1.joined AS SELECT p.id, c.a AS "A", count(*) FILTER (WHERE c.p > 1) AS n, max(p.name) FROM parent p LEFT JOIN child c ON c.p = p.id GROUP BY p.id, c.a HAVING count(*) > 0 ORDER BY p.id DESC NULLS LAST, 2 LIMIT 10 OFFSET 1;
CREATE VIEW checked WITH (security_barrier = true) AS SELECT * FROM keyed WHERE a > 0 WITH LOCAL CHECK OPTION;
CREATE VIEW checked2 WITH (security_invoker = on) AS SELECT a FROM checked WITH CASCADED CHECK OPTION;
ALTER VIEW checked ALTER COLUMN b SET DEFAULT 9;
CREATE VIEW withs AS WITH RECURSIVE t(n, path) AS (SELECT 1, ARRAY[1] UNION ALL SELECT n + 1, path || (n + 1) FROM t WHERE n < 5), m AS MATERIALIZED (SELECT sum(n) FROM t) SELECT t.n, t.path, m.sum FROM t, m;
CREATE VIEW sets AS (SELECT 1 AS a, 'x'::text AS b UNION ALL SELECT 2, 'y' INTERSECT SELECT 2, 'y') EXCEPT SELECT id, name FROM parent ORDER BY 1, 2;
CREATE VIEW windows AS SELECT id, row_number() OVER w, sum(id) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES), lag(id, 1, 0) OVER (PARTITION BY name ORDER BY id DESC) FROM parent WINDOW w AS (PARTITION BY id % 2 ORDER BY id);
CREATE VIEW exprs AS SELECT id::text || name AS cat, (id + 1) * -2 AS arith, CASE WHEN id = 1 THEN 'one' WHEN id IN (2, 3) THEN 'few' ELSE NULL END AS c, CASE id WHEN 1 THEN true END AS c2, COALESCE(name, 'x') AS co, NULLIF(id, 3) AS nu, GREATEST(id, 2) AS g, id BETWEEN 1 AND 3 AS btw, name LIKE 'n%' AS lk, name ~ '^n' AND NOT name ILIKE 'x' AS re, id = ANY (ARRAY[1, 2]) AS an, (id, name) = (1, 'n1') AS rw, EXISTS (SELECT 1 FROM child WHERE child.p = parent.id) AS ex, (SELECT max(a) FROM child) AS sc, id IN (SELECT p FROM child) AS ins, ARRAY(SELECT a FROM child ORDER BY a) AS ar, (ARRAY[1, 2, 3])[2:] AS sl, name COLLATE "C" AS cl, created AT TIME ZONE 'UTC' AS tz, EXTRACT(year FROM created) AS yr, substring(name FROM 1 FOR 2) AS sub, position('n' IN name) AS pos, trim(both 'n' FROM name) AS tr, overlay(name placing 'x' from 1) AS ov, CURRENT_TIMESTAMP AS now, CURRENT_SCHEMA AS sch, name IS NULL AS isn, (id > 1) IS NOT TRUE AS nt, id IS DISTINCT FROM 3 AS df, ROW(id, name)::text AS r, interval '1 day 2 hours' AS iv, date '2024-01-01' AS d, '{1,2}'::int[] AS ia, 1.5::numeric(5, 2) AS n52, 'abc'::char(2) AS c22 FROM parent;
CREATE VIEW laterals (x, y) AS SELECT p.id, l.n FROM parent p CROSS JOIN LATERAL (SELECT c.a AS n FROM child c WHERE c.p = p.id ORDER BY c.a FETCH FIRST 2 ROWS WITH TIES) l;
CREATE VIEW funcs AS SELECT f.x, f.y, g.n, g.ordinality, v.column1 FROM tab(3) f(x, y), generate_series(1, 2) WITH ORDINALITY g(n), (VALUES (1, 'a'), (2, 'b')) v, ROWS FROM (generate_series(1, 2), rows_of(2)) r(a, b, c);
CREATE VIEW using_join AS SELECT * FROM parent JOIN (SELECT id, 1 AS one FROM parent) o USING (id) NATURAL JOIN (SELECT 1 AS one) z;
CREATE VIEW grouping AS SELECT id, name, grouping(id, name), count(DISTINCT id), string_agg(name, ',' ORDER BY name DESC), percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM parent GROUP BY GROUPING SETS ((id), (name), ROLLUP (id, name), ()), CUBE (id);
CREATE VIEW distincts AS SELECT DISTINCT ON (name) name, id FROM parent ORDER BY name, id DESC;
CREATE VIEW locks AS SELECT id FROM parent TABLESAMPLE bernoulli (50) REPEATABLE (1) WHERE id > 0 FOR UPDATE OF parent SKIP LOCKED;
CREATE VIEW composites AS SELECT (pa).a AS pa_a, (pa)."B b" AS bb, (ap[1]).c AS c, t.* FROM types t;
ALTER VIEW composites RENAME COLUMN pa_a TO "renamed A";
CREATE VIEW quotes AS SELECT E'a\\b''c\n' AS "a\b", U&'\0041' AS u, '\x01'::bytea AS by, $$it's$$ AS d, 'x' || E'\t' AS t;
CREATE VIEW empty_cols AS SELECT FROM parent;
CREATE VIEW over_view AS SELECT s.name, j.* FROM simple s JOIN s1.joined j ON j.id = s.id;
COMMENT ON VIEW simple IS 'a view';
COMMENT ON COLUMN simple.id IS 'its id';
GRANT SELECT ON simple TO PUBLIC;
GRANT SELECT (name), UPDATE (id, name) ON parent TO grp;
GRANT SELECT, INSERT ON parent TO sub WITH GRANT OPTION;
SET ROLE sub;
GRANT SELECT ON parent TO plain;
RESET ROLE;
REVOKE ALL ON child FROM postgres;
CREATE MATERIALIZED VIEW mat AS SELECT id, name FROM parent;
CREATE UNIQUE INDEX mat_id ON mat (id);
CREATE MATERIALIZED VIEW s1.unfilled WITH (fillfactor = 50) AS SELECT * FROM mat WITH NO DATA;
COMMENT ON MATERIALIZED VIEW mat IS 'kept';
ALTER MATERIALIZED VIEW mat CLUSTER ON mat_id;
-- cycles: a function on a table, a view that a function uses, a default by a function with a body
CREATE FUNCTION of_table(parent) RETURNS text STABLE RETURN ($1).name;
CREATE FUNCTION over_simple() RETURNS SETOF simple LANGUAGE sql AS 'SELECT * FROM simple';
CREATE VIEW over_function AS SELECT of_table(p) AS t, (over_simple()).id FROM parent p;
CREATE TABLE checked_by (a int CHECK (body(a) > 0), b int DEFAULT body(3), c int GENERATED ALWAYS AS (add(a, 1)) STORED);
CREATE INDEX checked_by_f ON checked_by (add(a, b));
INSERT INTO checked_by (a) VALUES (1);
-- default privileges
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO grp;
ALTER DEFAULT PRIVILEGES IN SCHEMA s1 GRANT INSERT ON TABLES TO grp;
ALTER DEFAULT PRIVILEGES FOR ROLE plain GRANT USAGE ON SEQUENCES TO PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE login REVOKE ALL ON TYPES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO sub WITH GRANT OPTION;
CREATE TABLE after_defaults (a int);
CREATE TABLE s1.after_defaults (a int);
CREATE FUNCTION after_defaults() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TYPE s3.after_types AS (a int);
CREATE DOMAIN s3.after_domain AS int;
CREATE TYPE s3.after_enum AS ENUM ('a');
SET ROLE login;
CREATE TYPE s3.after_types2 AS (a int);
CREATE DOMAIN s3.after_domain2 AS int;
CREATE TYPE s3.after_enum2 AS ENUM ('a');
RESET ROLE;
CREATE EXTENSION pg_prewarm;
-- large objects
SELECT lo_from_bytea(8001, 'contents'), lo_create(8002), lo_from_bytea(8003, decode(repeat('00ff7f80', 3000), 'hex'));
SELECT lo_put(8002, 5000000, 'at the end');
GRANT SELECT ON LARGE OBJECT 8001 TO PUBLIC;
GRANT ALL ON LARGE OBJECT 8003 TO sub WITH GRANT OPTION;
ALTER LARGE OBJECT 8002 OWNER TO plain;
COMMENT ON LARGE OBJECT 8001 IS 'its contents';
\lo_list
\lo_list+
\lo_export 8003 /tmp/nowhere/at/all
\lo_unlink 8009
