-- Tables, columns, indexes, views, schemas.
CREATE TABLE d1 (a int, b text DEFAULT 'x', c int GENERATED ALWAYS AS (a * 2) STORED)
CREATE TABLE [[d1 (a int)¦d2 (a int, a int)¦d2 (a nope)¦d2 (a int default 'x')¦d2 (a int primary key, b int primary key)¦d2 (a int check (b > 0))¦d2 (a int references nope)¦d2 (a int references d1)¦d2 (a int references d1 (zz))¦nope.d2 (a int)¦d2 (ctid int)¦d2 (a varchar(0))¦d2 (a int default b)¦d2 (a int not null null)¦d2 (a int) with (fillfactor = 5)¦d2 (a int) with (nope = 1)¦pg_catalog.d2 (a int)¦d2 (a int unique (b))¦d2 (a serial, b int default nextval('nope'))¦d2 (like nope)¦d2 (a int) inherits (nope)¦d2 (a int, check (a > (select 1)))¦d2 (a int default (select 1))¦d2 (unique (a))]]
CREATE TABLE IF NOT EXISTS d1 (z int)
INSERT INTO d1 (a) VALUES (1), (2); SELECT * FROM d1 ORDER BY a
INSERT INTO d1 (a, c) VALUES (1, 5)
UPDATE d1 SET [[c = 5¦c = default¦a = 10]] WHERE a = 1; SELECT * FROM d1 ORDER BY a
ALTER TABLE d1 [[add e int default 5¦add e int¦add if not exists e int¦add f text not null¦add f text not null default 'q'¦add g int check (g > 0)¦add h serial¦add i int unique¦drop nope¦drop if exists nope¦drop e¦alter a set not null¦alter a drop not null¦alter b set default 'newer'¦alter b drop default¦alter a type int8¦alter b type int¦alter b type varchar(4)¦alter a type text using a::text || '!'¦rename a to aa¦rename aa to a¦rename nope to x¦rename b to c¦add constraint ck check (h < 100)¦add constraint ck check (h < 50)¦add constraint ck2 check (h < 0)¦drop constraint ck¦drop constraint nope¦drop constraint if exists nope¦add primary key (h)¦add primary key (g)¦add unique (b)¦set (fillfactor = 70)¦reset (fillfactor)¦set (nope = 1)¦alter b set statistics 50¦alter b set storage external¦alter zz set not null¦rename to d1r¦rename constraint nope to x¦set schema nope¦owner to nope¦add x nope¦alter column h drop default¦set unlogged¦set logged]]
SELECT attname, format_type(atttypid, atttypmod), attnotnull, atthasdef FROM pg_attribute WHERE attrelid = (SELECT oid FROM pg_class WHERE relname IN ('d1', 'd1r') AND relkind = 'r') AND attnum > 0 AND NOT attisdropped ORDER BY attnum
SELECT conname, contype, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid::regclass::text IN ('d1', 'd1r') ORDER BY conname
SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid::regclass::text IN ('d1', 'd1r') ORDER BY 1::text
SELECT adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid::regclass::text IN ('d1', 'd1r') ORDER BY adnum
SELECT * FROM d1r ORDER BY h
DROP TABLE IF EXISTS d1, d1r CASCADE
CREATE TABLE ix (a int, b text, c numeric); INSERT INTO ix SELECT i, 'v' || i % 10, i / 3.0 FROM generate_series(1, 200) i
CREATE [[unique]] INDEX ix_[[1 on ix (a)¦2 on ix (b)¦3 on ix (lower(b), a desc nulls last)¦4 on ix (a) where c > 10¦5 on ix (a) include (b)¦6 on ix using btree (c)¦7 on ix (nope)¦8 on nope (a)¦9 on ix using nope (a)¦10 on ix (now())¦11 on ix ((a + c)) with (fillfactor = 80)¦12 on ix (a nope_ops)¦13 on ix (b text_pattern_ops)¦14 on ix (b collate "C")¦15 on ix (a, a)¦1 on ix (b)]]
CREATE INDEX ix_[[1 on ix (a)¦2 on ix (b)¦3 on ix (lower(b), a desc nulls last)¦4 on ix (a) where c > 10¦5 on ix (a) include (b)¦6 on ix using btree (c)¦13 on ix (b text_pattern_ops)¦16 on ix ((b || 'x'), (a % 3)) where b is not null]]
CREATE INDEX IF NOT EXISTS ix_1 ON ix (b)
CREATE INDEX ON ix (a, b)
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisunique, indnkeyatts, indnatts, pg_get_expr(indpred, indrelid) FROM pg_index WHERE indrelid = 'ix'::regclass ORDER BY 1
SELECT count(*), sum(a) FROM ix WHERE [[a = 5¦b = 'v3'¦lower(b) = 'v4' and a > 100¦a > 190 and c > 10¦c = 2¦b like 'v1%'¦b || 'x' = 'v2x'¦a % 3 = 1 and b || 'x' = 'v2x']]
DELETE FROM ix WHERE a % 2 = 0; UPDATE ix SET c = c + 1, b = 'w' || a WHERE a % 3 = 0; INSERT INTO ix SELECT i, 'n' || i, i FROM generate_series(1000, 1100) i; VACUUM ix
SET enable_seqscan = off; SELECT count(*), sum(a) FROM ix WHERE [[a > 5¦b > 'v3'¦lower(b) > 'v4' and a > 100¦a > 190 and c > 10¦c > 2¦b || 'x' > 'v2x']]
RESET enable_seqscan
ALTER INDEX [[ix_1 rename to ix_1r¦nope rename to x¦ix_1r set (fillfactor = 50)¦ix_2 set (nope = 1)¦if exists nope rename to y]]
DROP INDEX [[ix_1r¦nope¦if exists nope¦ix_2, ix_3¦ix]]
REINDEX [[table ix¦index ix_4¦index nope¦schema nope]]
DROP TABLE ix
CREATE VIEW v1 AS SELECT 1 AS a, 'x'::text AS b
CREATE VIEW [[v1 as select 2¦v2 as select nope¦v2 (x) as select 1, 2¦v2 as select * from v1 where a > 0¦v2 as select 1, 1¦v3 as select 1 as a, 2 as a]]
CREATE OR REPLACE VIEW v1 AS SELECT [[2 as a, 'y'::text as b¦2 as a, 'y'::text as b, 3 as c¦'t' as a¦1 as z, 'y'::text as b]]
SELECT * FROM [[v1¦v2]]
SELECT pg_get_viewdef('[[v1¦v2]]'::regclass)
CREATE VIEW v4 AS SELECT c.relname, count(*) AS n, max(a.attnum) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relname IN ('pg_class', 'pg_type') AND NOT a.attisdropped GROUP BY c.relname HAVING count(*) > 3 ORDER BY 1 LIMIT 5
SELECT * FROM v4
SELECT pg_get_viewdef('v4'::regclass, true)
INSERT INTO v4 VALUES (1)
DROP VIEW [[nope¦if exists nope¦v1¦v1 cascade¦v4¦pg_class]]
DROP TABLE v4
CREATE SCHEMA s1; CREATE TABLE s1.t (a int); SET search_path = s1, public; SELECT * FROM t; SELECT current_schema(), current_schemas(false); RESET search_path
CREATE SCHEMA [[s1¦if not exists s1¦pg_x¦s2 authorization nope]]
SELECT * FROM t
DROP SCHEMA [[s1¦nope¦if exists nope¦s1 cascade]]
CREATE TEMP TABLE tt (a int) [[on commit drop¦on commit delete rows¦]]; INSERT INTO tt VALUES (1); SELECT count(*) FROM tt
BEGIN; CREATE TEMP TABLE tx (a int) ON COMMIT [[drop¦delete rows]]; INSERT INTO tx VALUES (1); SELECT count(*) FROM tx; COMMIT; SELECT count(*) FROM tx
DROP TABLE IF EXISTS tt, tx
CREATE TABLE ct AS SELECT i, i::text t FROM generate_series(1, 3) i [[with data¦with no data]]; SELECT * FROM ct ORDER BY i; DROP TABLE ct
CREATE TABLE ct (x, y) AS VALUES (1, 'a'); SELECT * INTO ct2 FROM ct; SELECT * FROM ct2; DROP TABLE ct, ct2
CREATE UNLOGGED TABLE ul (a int PRIMARY KEY); INSERT INTO ul VALUES (1); SELECT relpersistence FROM pg_class WHERE relname IN ('ul', 'ul_pkey'); DROP TABLE ul
BEGIN; CREATE TABLE rb (a int PRIMARY KEY); INSERT INTO rb VALUES (1); ROLLBACK; SELECT * FROM rb
CREATE TABLE pa (a int PRIMARY KEY, b int, UNIQUE (a, b)); CREATE TABLE fk (x int REFERENCES pa [[on delete cascade¦on delete set null¦on delete restrict¦on delete no action¦on delete set default]], y int); INSERT INTO pa VALUES (1, 1), (2, 2); INSERT INTO fk VALUES (1, 1), (2, 2); DELETE FROM pa WHERE a = 1; SELECT * FROM fk ORDER BY y; 
DROP TABLE IF EXISTS fk; DROP TABLE IF EXISTS pa
CREATE TABLE pa (a int PRIMARY KEY); CREATE TABLE fk (x int); INSERT INTO fk VALUES (9); ALTER TABLE fk ADD CONSTRAINT f FOREIGN KEY (x) REFERENCES pa
ALTER TABLE fk ADD CONSTRAINT f FOREIGN KEY (x) REFERENCES pa NOT VALID; ALTER TABLE fk VALIDATE CONSTRAINT f
INSERT INTO pa VALUES (9); ALTER TABLE fk VALIDATE CONSTRAINT f; DROP TABLE pa; 
DROP TABLE pa CASCADE; DROP TABLE fk
COMMENT ON TABLE nope IS 'x'
CREATE TABLE cm (a int); COMMENT ON TABLE cm IS 'about'; COMMENT ON COLUMN cm.a IS 'col'; SELECT obj_description('cm'::regclass), col_description('cm'::regclass, 1); DROP TABLE cm
SELECT 'nope'::regclass
SELECT to_regclass('nope'), to_regclass('pg_class'), 'int4'::regtype, 'integer'::regtype::oid, 'abs(int4)'::regprocedure, 'now'::regproc, '+(int4,int4)'::regoperator, 'postgres'::regrole, 'pg_catalog'::regnamespace
SET [[nope = 1¦work_mem = 'x'¦work_mem = 1¦work_mem = '100GB'¦work_mem to default¦enable_seqscan = maybe¦client_min_messages = 'nope'¦search_path = ''¦statement_timeout = -1¦statement_timeout = '1.5s'¦x.y = 'z'¦session work_mem = '2MB'¦default_transaction_isolation = 'nope'¦client_encoding = 'nope'¦transaction_isolation = 'serializable'¦max_connections = 5¦server_version = '1'¦random_page_cost = 'a'¦extra_float_digits = 5¦bytea_output = 'escape']]
SHOW [[work_mem¦statement_timeout¦nope¦x.y¦search_path¦max_connections¦transaction_isolation¦extra_float_digits¦bytea_output¦client_encoding¦standard_conforming_strings¦is_superuser¦integer_datetimes¦random_page_cost¦shared_buffers¦default_transaction_isolation]]
SELECT current_setting('server_version_num')::int / 10000 AS major
RESET ALL
SELECT current_setting('[[work_mem¦nope¦search_path]]'[[¦, true]]), set_config('work_mem', '[[3MB¦x]]', false)
[[vacuum nope¦analyze nope¦create¦select¦drop table¦selec 1¦select 1 from¦select (1¦select 'a¦select 1 1¦insert into¦select $1¦explain¦select /* open¦select "a¦update pg_class¦create table t¦grant select on nope to public¦select 1;; select 2¦;¦¦-- c¦/* c */ select 1¦select 1 as from¦select 1 where¦alter table¦truncate¦copy]]
-- Keys of the maximum size, in an index that is built by a sort.
CREATE TABLE wide_keys (i int PRIMARY KEY, t text); ALTER TABLE wide_keys ALTER t SET STORAGE EXTERNAL
INSERT INTO wide_keys SELECT g, repeat('1234567890', 269) FROM generate_series(1, 30) g
CREATE INDEX wide_keys_t ON wide_keys (t)
REINDEX TABLE wide_keys
VACUUM FULL wide_keys
SET enable_seqscan = off; SELECT count(*) FROM wide_keys WHERE t > '1'; RESET enable_seqscan
INSERT INTO wide_keys VALUES (31, repeat('1234567890', [[270¦271¦280]]))

-- Tables that depend on each other are dropped together.
CREATE TABLE first_of_two (a int, b text);
CREATE TABLE second_of_two (b first_of_two CHECK ((b).a IS NOT NULL));
CREATE INDEX second_index ON second_of_two (((b).a));
DROP TABLE first_of_two;
DROP TABLE first_of_two, second_of_two;

-- Nested rows: a type whose values are stored in tables must not change its representation.
CREATE TYPE within AS (a int, b text, c int, d float8); CREATE TYPE around AS (w within); CREATE DOMAIN named AS within
CREATE TABLE holding (w within, n int); INSERT INTO holding VALUES (row(1, repeat('x', 300), 7, 1.5), 1), (row(2, 'y', 8, 2.5), 2), (row(3, NULL, 9, 3.5), 3)
CREATE TABLE deeply ([[x around¦x within[]¦x named]]); ALTER TYPE within ALTER ATTRIBUTE a TYPE text; DROP TABLE deeply
DROP TABLE IF EXISTS deeply; ALTER TYPE within DROP ATTRIBUTE b
SELECT w, (w).c, (w).d, row_to_json(w), w IS NULL, ARRAY[w], w::named FROM holding ORDER BY w
UPDATE holding SET w.c = 70 WHERE n = 1; INSERT INTO holding VALUES (row(1, 70, 1.5), 4)
SELECT w, count(*) FROM holding GROUP BY w ORDER BY w
SELECT a.w *= b.w, a.w = b.w, a.w < b.w FROM holding a, holding b WHERE a.n < b.n ORDER BY a.n, b.n
CREATE [[unique]] INDEX ON holding (w)
CREATE FUNCTION held() RETURNS SETOF within LANGUAGE sql AS 'SELECT w FROM holding ORDER BY n'; SELECT * FROM held(); SELECT h FROM held() h
DROP FUNCTION held; DROP TABLE holding; DROP TYPE within CASCADE; DROP TYPE around
CREATE TABLE rowed (x int); CREATE TABLE holding (r rowed[]); INSERT INTO holding VALUES (array[row(1)::rowed])
ALTER TABLE rowed [[ALTER x TYPE bigint¦ADD y int DEFAULT 5¦ADD z float8 DEFAULT random()¦SET UNLOGGED¦ADD CHECK (x > 0)¦DROP x]]
SELECT * FROM holding
DROP TABLE holding, rowed
CREATE DOMAIN small AS int; CREATE DOMAIN smaller AS small; CREATE TYPE of_small AS (s small)
CREATE TABLE holding (a [[small¦smaller¦small[]¦smaller[]¦of_small]]); INSERT INTO holding VALUES (NULL); ALTER DOMAIN small ADD CONSTRAINT positive CHECK (VALUE > 0); ALTER DOMAIN small DROP CONSTRAINT IF EXISTS positive; DROP TABLE holding
DROP TABLE IF EXISTS holding; CREATE TABLE holding (a smaller[]); ALTER DOMAIN small SET NOT NULL
DROP TABLE holding; DROP TYPE of_small; DROP DOMAIN smaller, small
-- Statistics objects are kept when the type of a column changes.
CREATE TABLE counted (a int, b int, c int); CREATE STATISTICS counts ON a, b FROM counted; CREATE STATISTICS counts_of ON (a + c), b FROM counted; COMMENT ON STATISTICS counts IS 'hi'
ALTER TABLE counted ALTER [[a¦c]] TYPE bigint
SELECT pg_get_statisticsobjdef(oid), obj_description(oid, 'pg_statistic_ext') FROM pg_statistic_ext WHERE stxname LIKE 'counts%' ORDER BY stxname
DROP TABLE counted
-- The next statement writes to the new files of an index, even if the pg_class row of its table does not change.
CREATE TABLE renewed (id int, t text); INSERT INTO renewed SELECT g, 'x' FROM generate_series(1, 3) g; CREATE INDEX renewed_id ON renewed (id)
UPDATE renewed SET t = 'y' WHERE id = 50
REINDEX INDEX renewed_id
INSERT INTO renewed VALUES (4, 'z'); UPDATE renewed SET id = 5 WHERE id = 1
BEGIN; REINDEX INDEX renewed_id; INSERT INTO renewed VALUES (6, 'z'); [[SAVEPOINT s; REINDEX TABLE renewed; INSERT INTO renewed VALUES (7, 'z'); ROLLBACK TO s¦ROLLBACK; BEGIN]]; INSERT INTO renewed VALUES (8, 'z'); COMMIT
SET enable_seqscan = off; SELECT * FROM renewed WHERE id > 0 ORDER BY id, t
RESET enable_seqscan; DROP TABLE renewed
-- Files of system catalogs are not replaced.
[[REINDEX TABLE pg_depend¦REINDEX INDEX pg_depend_depender_index¦CLUSTER pg_constraint USING pg_constraint_oid_index]]
-- Views store calls as they were written: defaults of arguments are determined at the time of the call.
CREATE FUNCTION left_out(a int, b int DEFAULT 5, c text DEFAULT 'q') RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a + b'; CREATE FUNCTION lists(a int, VARIADIC b int[] DEFAULT '{1,2}') RETURNS int LANGUAGE sql AS 'SELECT b[1]'
CREATE FUNCTION series(a int, b int DEFAULT 3) RETURNS SETOF int LANGUAGE sql AS 'SELECT a + b'; CREATE FUNCTION either(a anycompatible, b anycompatible DEFAULT 1) RETURNS anycompatible LANGUAGE sql AS 'SELECT b'
CREATE TABLE called (a int, b text, c int[]); INSERT INTO called VALUES (1, 'abc', '{4,5}')
CREATE VIEW calls AS SELECT left_out(a) x1, left_out(c => b, a => a) x2, left_out(1, c => 'z') x3, lists(a) x4, lists(a, 2, 3) x5, lists(a, VARIADIC c) x6, either(1.5) x7, either(b => 2.5, a => a) x8, jsonb_set('{}', '{a}', '1') x9, make_interval(days => a) x10 FROM called
CREATE VIEW called_from AS SELECT s, t.t FROM series(1) s, ROWS FROM (series(b => 1, a => 2), unnest(ARRAY[1, 2])) AS t, called, LATERAL series(called.a)
CREATE VIEW words_of AS SELECT substring(b from 'x.') p, substring(b similar 'a#"b#"c' escape '#') q, substring(b from 2) r, substring(b from 2 for 1) s, b IS NORMALIZED n, b IS NFKC NORMALIZED m, normalize(b) o, normalize(b, nfkd) FROM called
CREATE VIEW grouped_twice AS SELECT a, count(*) FROM called GROUP BY a, (); CREATE VIEW grouped_none AS SELECT count(*) FROM called GROUP BY (), (); CREATE VIEW grouped_sets AS SELECT a, b, count(*) FROM called GROUP BY (), GROUPING SETS ((a), (a, b), ()), ROLLUP (a)
CREATE VIEW unnested AS SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b']) u (x, y), unnest(ARRAY[1], ARRAY[2]) WITH ORDINALITY v (p, q, r); CREATE VIEW whole_row AS SELECT called FROM called
SELECT [[pg_get_viewdef(v)¦pg_get_viewdef(v, true)¦regexp_replace(ev_action, '(relid|funcid|vartype|resorigtbl) \d{5,}', '\1', 'g')]] FROM unnest('{calls,called_from,words_of,grouped_twice,grouped_none,grouped_sets,unnested,whole_row}'::regclass[]) v JOIN pg_rewrite ON ev_class = v ORDER BY v
SELECT * FROM [[calls¦called_from¦words_of¦grouped_twice¦grouped_none¦grouped_sets¦unnested¦whole_row]] ORDER BY 1, 2, 3, 4
SELECT * FROM [[grouped_twice¦grouped_none¦grouped_sets¦unnested¦whole_row]] v ORDER BY v::text
CREATE INDEX called_out ON called (left_out(a)); CREATE INDEX called_named ON called (left_out(c => b, a => a)); CREATE OR REPLACE FUNCTION left_out(a int, b int DEFAULT 50, c text DEFAULT 'q') RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a + b'
SELECT * FROM calls; SELECT a FROM called WHERE left_out(a) = 51
DROP VIEW calls, called_from, words_of, grouped_twice, grouped_none, grouped_sets, unnested, whole_row; DROP TABLE called; DROP FUNCTION left_out, lists, series, either
-- The columns of USING are found by name, even if columns have been renamed.
CREATE TABLE merged1 (a int, b text, c int); CREATE TABLE merged2 (a int, z text); CREATE TABLE merged3 (a int, y int)
CREATE VIEW merge1 AS SELECT * FROM merged1 NATURAL JOIN merged2; CREATE VIEW merge2 AS SELECT * FROM merged1 LEFT JOIN merged2 USING (a) AS j JOIN merged3 m USING (a); CREATE VIEW merge3 AS SELECT m.* FROM (merged2 FULL JOIN merged3 USING (a)) AS m (p, q); CREATE VIEW merge4 AS SELECT j.a FROM merged1 JOIN merged2 USING (a) AS j
ALTER TABLE merged1 RENAME a TO aa; ALTER TABLE merged2 RENAME z TO b; ALTER TABLE merged3 RENAME a TO b; ALTER TABLE merged1 ADD a int
SELECT v, pg_get_viewdef(v[[¦, true]]) FROM unnest('{merge1,merge2,merge3,merge4}'::regclass[]) v ORDER BY v
DROP TABLE merged1, merged2, merged3 CASCADE
-- Requirements of views: fields of composite values, columns of the outer queries of sub-selects.
CREATE TYPE needed AS (x int, y text); CREATE TYPE needed_too AS ENUM ('a'); CREATE TABLE needing (a int, b text); CREATE FUNCTION needed_rows() RETURNS SETOF needed LANGUAGE sql AS 'SELECT 1, ''a'''
CREATE VIEW need1 AS SELECT (x).y FROM (SELECT row(1, 2)::needed AS x) s; CREATE VIEW need2 AS SELECT (SELECT n.a) q, 1 r FROM needing n WHERE EXISTS (SELECT 1 FROM pg_class WHERE relname = n.b); CREATE VIEW need3 AS SELECT x FROM needed_rows(); CREATE VIEW need4 AS SELECT * FROM json_to_record('{}') AS x (a needed_too); CREATE VIEW need5 AS SELECT (NULL::needing).b AS q
CREATE FUNCTION need_x(p needed) RETURNS int LANGUAGE sql RETURN (p).x; CREATE TABLE need_default (d int DEFAULT ((row(1, 'a')::needed)).x)
SELECT pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype FROM pg_depend WHERE pg_describe_object(classid, objid, objsubid) ~ 'need' AND objid >= 16384 AND refobjid >= 16384 AND classid <> 'pg_type'::regclass ORDER BY 1, 2, 3
ALTER TABLE needing [[DROP a¦DROP b]]
ALTER TYPE needed [[DROP ATTRIBUTE y¦DROP ATTRIBUTE x¦ALTER ATTRIBUTE x TYPE bigint¦ALTER ATTRIBUTE y TYPE varchar CASCADE]]
DROP TYPE needed_too
DROP TABLE needing, need_default CASCADE; DROP TYPE needed, needed_too CASCADE
-- A composite type cannot be changed if an expression computes values of it.
CREATE TYPE made AS (a int, b text); CREATE DOMAIN made_domain AS made; CREATE TABLE making (a int)
[[CREATE VIEW maker AS SELECT row(1, 'x')::made q¦CREATE VIEW maker AS SELECT NULL::made[] q¦CREATE VIEW maker AS SELECT NULL::made_domain q¦CREATE FUNCTION maker(made) RETURNS int LANGUAGE sql AS 'SELECT 1'¦CREATE FUNCTION maker(made) RETURNS int LANGUAGE sql RETURN 1¦CREATE FUNCTION maker(int) RETURNS bool LANGUAGE sql RETURN row(1, 'x')::made IS NULL¦CREATE FUNCTION maker(x int DEFAULT (row(1, 'x')::made).a) RETURNS int LANGUAGE sql AS 'SELECT 1'¦ALTER TABLE making ADD CHECK (row(a, 'x')::made IS NOT NULL)¦ALTER TABLE making ALTER a SET DEFAULT (row(1, 'x')::made).a¦CREATE INDEX maker ON making ((row(a, 'x')::made IS NULL))¦CREATE INDEX maker ON making ((row(a, 'x')::made))¦CREATE DOMAIN maker AS int CHECK (row(VALUE, 'x')::made IS NULL)¦CREATE STATISTICS maker ON (row(a, 'x')::made IS NULL), a FROM making]]; ALTER TYPE made ALTER ATTRIBUTE a TYPE bigint; DROP VIEW IF EXISTS maker; DROP INDEX IF EXISTS maker; DROP STATISTICS IF EXISTS maker; DROP DOMAIN IF EXISTS maker; DROP TABLE making; CREATE TABLE making (a int); DROP FUNCTION IF EXISTS maker
CREATE VIEW maker AS SELECT row(1, 'x')::made AS q; ALTER TYPE made ADD ATTRIBUTE c int; ALTER TYPE made DROP ATTRIBUTE b; SELECT pg_get_viewdef('maker')
DROP TABLE making; DROP TYPE made CASCADE
CREATE TABLE made (a int, b text); CREATE VIEW maker AS SELECT NULL::made IS NULL AS q; ALTER TABLE made [[ALTER a TYPE bigint¦ADD z float8 DEFAULT random()¦ADD y int DEFAULT 5]]
DROP TABLE made CASCADE
-- Values that were compressed before the storage of their column became plain stay compressed.
CREATE TABLE packed (i int, t text, b jsonb, c int[], n int DEFAULT 3); INSERT INTO packed (i, t, b, c) SELECT g, repeat('abc', 9000), jsonb_build_object('a', repeat('a', 20000)), array_fill(g, ARRAY[6000]) FROM generate_series(1, 3) g
ALTER TABLE packed ALTER t SET STORAGE plain, ALTER b SET STORAGE plain, ALTER c SET STORAGE plain
CREATE INDEX packed_[[t ON packed (t)¦c ON packed (i, c)¦b ON packed (b)¦x ON packed ((t || 'x'))]]
UPDATE packed SET i = i + 10 WHERE i = 1; [[VACUUM FULL packed¦ALTER TABLE packed ALTER n TYPE bigint¦ALTER TABLE packed ADD z float8 DEFAULT random()¦ALTER TABLE packed SET UNLOGGED¦ALTER TABLE packed SET LOGGED¦REINDEX TABLE packed¦CREATE INDEX packed_i ON packed (i); CLUSTER packed USING packed_i¦ALTER TABLE packed DROP b; VACUUM FULL packed]]
INSERT INTO packed (i, t) VALUES (9, repeat('abc', [[700¦1500¦9000]]))
SELECT i, md5(t), md5(c::text), n FROM packed ORDER BY i, length(t)
SET enable_seqscan = off; SELECT i FROM packed WHERE t = repeat('abc', 9000) ORDER BY 1; RESET enable_seqscan
ALTER TABLE packed ALTER t SET STORAGE external; VACUUM FULL packed; SELECT i, md5(t) FROM packed ORDER BY i, length(t); DROP TABLE packed
-- Objects of CREATE SCHEMA refer to each other.
CREATE SCHEMA together CREATE INDEX ON tied (a) CREATE VIEW tied_view AS SELECT * FROM tied CREATE TABLE tied (a int PRIMARY KEY, b int DEFAULT nextval('tied_seq')) CREATE TABLE tied_to (a int REFERENCES tied) CREATE SEQUENCE tied_seq
CREATE SCHEMA apart CREATE TABLE [[together.tied2¦apart.tied2]] (a int)
CREATE SCHEMA "a ""b" CREATE TABLE t (a int) CREATE VIEW v AS SELECT * FROM t; SELECT current_schemas(false), current_setting('search_path')
CREATE SCHEMA failing CREATE TABLE t (a int) CREATE VIEW v AS SELECT * FROM nope
SELECT current_schemas(false), c.oid::regclass, relkind, pg_get_viewdef(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname IN ('together', 'apart', 'a "b', 'failing') ORDER BY c.oid::regclass::text
DROP SCHEMA together, apart, "a ""b" CASCADE
CREATE ROLE tied_owner; CREATE SCHEMA theirs AUTHORIZATION tied_owner CREATE TABLE t (a serial) CREATE VIEW v AS SELECT * FROM t; CREATE SCHEMA AUTHORIZATION tied_owner CREATE VIEW v AS SELECT [[1 AS a¦* FROM nope]]
SELECT current_user, oid::regclass, relowner::regrole FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('theirs', 'tied_owner')) ORDER BY oid::regclass::text
DROP OWNED BY tied_owner CASCADE; DROP ROLE tied_owner
-- The declared number of distinct values of a column is used.
CREATE TABLE believed (a int, b int, c int); INSERT INTO believed SELECT g % 5, g, g FROM generate_series(1, 100) g; ALTER TABLE believed ALTER a SET (n_distinct = -0.25), ALTER b SET (n_distinct = 7), ALTER c SET (n_distinct = 0); ANALYZE believed
SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'believed' ORDER BY 1; ALTER TABLE believed ALTER a RESET (n_distinct); ANALYZE believed; SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'believed' ORDER BY 1; DROP TABLE believed
-- Constraints of a new table are always valid; an index created by LIKE copies the comment of its source.
CREATE TABLE unproved (a int PRIMARY KEY, b int REFERENCES unproved, CONSTRAINT c CHECK (a > 0) NOT VALID, CONSTRAINT f FOREIGN KEY (b) REFERENCES unproved NOT VALID); CREATE INDEX unproved_b ON unproved (b); COMMENT ON INDEX unproved_b IS 'by b'
SELECT conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'unproved'::regclass ORDER BY 1
CREATE TABLE unproved_too (LIKE unproved INCLUDING INDEXES [[INCLUDING COMMENTS¦]]); SELECT indexrelid::regclass, obj_description(indexrelid) FROM pg_index WHERE indrelid = 'unproved_too'::regclass ORDER BY indexrelid::regclass::text; DROP TABLE unproved_too
DROP TABLE unproved
-- A domain over an array type can be subscripted.
CREATE DOMAIN many AS int[]; CREATE DOMAIN few AS many CHECK (VALUE[1] > 0 AND cardinality(VALUE[2:3]) < 5); CREATE TABLE manifold (m many, f few); CREATE VIEW manifold_view AS SELECT m[1], f[1:2], (f || 1)[2] AS g FROM manifold
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contypid = 'few'::regtype; SELECT pg_get_viewdef('manifold_view')
INSERT INTO manifold VALUES ('{1,2}', '{3,4,5}'), ('{}', '{[[0¦7]]}'); UPDATE manifold SET m[2] = 9, f[1:2] = '{8,9}'; SELECT *, m[1], f[2:] FROM manifold, manifold_view; DELETE FROM manifold
DROP VIEW manifold_view; DROP TABLE manifold; DROP DOMAIN few, many

-- Anonymous rows cannot be stored in an index.
CREATE TABLE mixed (a int, t text); INSERT INTO mixed VALUES (1, 'x')
CREATE INDEX ON mixed [[((row(a, t)))¦((t || t), (row(a, t)))¦((ARRAY[row(a, t)]))¦((a + 1))¦((null))]]
-- Materialized views that were never populated; relations whose rows cannot be locked.
CREATE MATERIALIZED VIEW empty_view AS SELECT * FROM mixed WITH NO DATA; CREATE MATERIALIZED VIEW full_view AS SELECT * FROM mixed
[[SELECT * FROM empty_view¦SELECT count(*) FROM empty_view JOIN mixed USING (a)¦EXPLAIN (COSTS OFF) SELECT * FROM empty_view¦SELECT * FROM mixed WHERE a IN (SELECT a FROM empty_view)¦CREATE TABLE taken AS SELECT * FROM empty_view¦COPY (SELECT * FROM empty_view) TO STDOUT¦CREATE INDEX ON empty_view (a)]]
SELECT * FROM full_view [[FOR UPDATE¦FOR SHARE¦FOR KEY SHARE NOWAIT]]
SELECT m.a FROM mixed m, full_view v FOR UPDATE OF [[m¦v]]
CREATE SEQUENCE locked_one; SELECT last_value, a FROM locked_one, mixed FOR UPDATE OF mixed; SELECT last_value FROM locked_one FOR UPDATE; DROP SEQUENCE locked_one
REFRESH MATERIALIZED VIEW empty_view; SELECT * FROM empty_view; REFRESH MATERIALIZED VIEW empty_view WITH NO DATA; SELECT * FROM empty_view
DROP TABLE mixed CASCADE
-- Overload resolution if default arguments make several functions applicable.
CREATE FUNCTION alike(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION alike(a int, b int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT 2'
SELECT alike[[(1)¦(1, 2)¦(a => 1)¦(1, b => 2)¦('1')]]
DROP FUNCTION alike(int); SELECT alike(1); DROP FUNCTION alike(int, int)
-- Row images are compared only if the types are the same; sorting requires a single collation.
CREATE TYPE one_kind AS (a int, b int); CREATE TYPE another_kind AS (a int, b text)
CREATE TABLE kinds_of_rows AS SELECT row(1, 2)::one_kind AS x, row(1, 'abc')::another_kind AS y
SELECT [[x *< y¦x *<> y¦x *= y¦x < y¦x *= row(1, 2::bigint)¦x *= row(1, 2)]] FROM kinds_of_rows
DROP TABLE kinds_of_rows; DROP TYPE one_kind; DROP TYPE another_kind
CREATE TABLE two_orders (a int, x text COLLATE "C", y text COLLATE "POSIX")
SELECT [[x FROM two_orders ORDER BY x || y¦array_agg(a ORDER BY x || y) FROM two_orders¦x || y FROM two_orders GROUP BY x || y¦DISTINCT x || y FROM two_orders¦x || y FROM two_orders¦rank() OVER (ORDER BY x || y) FROM two_orders¦x FROM two_orders ORDER BY (x || y) COLLATE "C"]]
DROP TABLE two_orders
-- Syntax of newer versions of PostgreSQL.
CREATE TABLE newer (a int, b int)
CREATE STATISTICS ON a, b FROM newer
CREATE STATISTICS (ndistinct) ON a, b FROM newer
REINDEX [[DATABASE¦SYSTEM¦DATABASE CONCURRENTLY]][[¦;]]
GRANT newer_a TO newer_b WITH [[INHERIT TRUE¦SET FALSE¦ADMIN TRUE¦ADMIN FALSE¦ADMIN OPTION¦ADMIN OPTION, INHERIT TRUE¦/* c */ ADMIN -- d¦admin  option]]
REVOKE [[INHERIT¦SET¦ADMIN]] OPTION FOR newer_a FROM newer_b
CREATE TABLE newer2 (a text STORAGE [[plain¦DEFAULT]])
CREATE TABLE newer2 (a int GENERATED ALWAYS AS ((1) + ('2')::int)[[ VIRTUAL¦¦, b int]])
CREATE TABLE newer2 (a int[[, NOT NULL a¦, CONSTRAINT x NOT NULL a¦ CHECK (a > 0) NOT ENFORCED¦ CHECK (a > 0) ENFORCED¦, UNIQUE (a WITHOUT OVERLAPS)]])
ALTER TABLE newer [[ALTER a SET STORAGE DEFAULT¦ALTER a SET STATISTICS DEFAULT¦SET ACCESS METHOD DEFAULT¦ALTER COLUMN a SET EXPRESSION AS (1)¦ADD NOT NULL a¦ADD CONSTRAINT c NOT NULL a]]
VACUUM [[ONLY newer¦(ANALYZE) ONLY newer]]
ANALYZE ONLY newer
DROP TABLE newer
