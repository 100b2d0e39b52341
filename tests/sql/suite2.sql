-- Differences found by PostgreSQL's test suites: names of temporary objects, routines by argument types, collations, error positions.
CREATE SCHEMA suite2; SET search_path = suite2
create domain pg_temp.nonempty as text check (value <> '')
select nonempty('')
select nonempty('a')
select pg_temp.nonempty('')
select nonempty('')
select nonempty('a')
select ''::nonempty
select 'a'::nonempty
create function pg_temp.whoami() returns text as $$select 'hi'$$ language sql
select whoami()
select pg_temp.whoami()
select 'whoami'::regproc
select to_regproc('whoami'), to_regtype('nonempty'), to_regprocedure('whoami()')
drop function whoami()
create type pg_temp.ct as (a int, b int)
select ct(row(1,2))
select row(1,2)::ct
create table pg_temp.tt(a int,b text)
insert into tt values(1,'x')
select tt(t) from tt t
create table b (a int, b text, c int)
create statistics pg_temp.stt on a, c from b
create temp table bt(a int, b int)
create statistics stt2 on a,b from bt
select stxnamespace::regnamespace::text ~ 'pg_temp', pg_statistics_obj_is_visible(oid) from pg_statistic_ext
drop statistics stt2
drop statistics stt
drop statistics pg_temp.stt2
create temp table tcol (a int) on commit drop as select 1
CREATE TABLE temptest(col) ON COMMIT DELETE ROWS AS SELECT 1
CREATE TABLE temptest(col int) ON COMMIT DELETE ROWS
create materialized view mm as select 1
create temp view tv as select 1
drop procedure nope
create function f1(int) returns int language sql as 'select 1'
create function f1(text) returns int language sql as 'select 1'
drop function f1
drop procedure f1
drop routine f1
drop function if exists f1
create procedure p1(int) language sql as 'select 1'
create procedure p1(text) language sql as 'select 1'
drop procedure p1
drop procedure if exists p1
drop routine p1
drop aggregate if exists nope(nonesuch)
drop aggregate nope(nonesuch)
drop function nope(nonesuch)
drop function if exists nope(nonesuch)
drop function if exists nope(nosch.nonesuch)
alter function nope(nope) stable
comment on function nope(nope) is 'a'
alter function f1 stable
alter procedure p1 security definer
comment on function f1 is 'a'
grant execute on function f1 to suite2
alter function f1 rename to ff
select 'f1'::regproc
create procedure ptest10(OUT a int, IN b int, IN c int) language sql as $$ select b - c $$
create procedure ptest10(INOUT a int, IN b int, IN c int) language sql as $$ select b - c $$
drop procedure ptest10
drop procedure ptest10(int, int, int)
begin
drop procedure ptest10(out int, int, int)
drop procedure ptest10(int, int, int)
rollback
begin
drop procedure ptest10(in int, int, int)
drop procedure ptest10(int, int, int)
rollback
call ptest10(null,1,2)
call ptest10(1,1,2)
CREATE PROCEDURE ptestx(a int DEFAULT 42, b OUT int) LANGUAGE SQL   AS $$ SELECT a $$
CREATE PROCEDURE ptestx(a int DEFAULT 42, b inOUT int) LANGUAGE SQL   AS $$ SELECT a $$
CREATE PROCEDURE ptestx(OUT a int default 3) LANGUAGE SQL   AS $$ SELECT a $$
CREATE function ptestx(a int DEFAULT 42, out b int) LANGUAGE SQL   AS $$ SELECT a $$
CREATE PROCEDURE ptesty(VARIADIC a OUT int[]) LANGUAGE SQL   AS $$ SELECT a $$
CREATE PROCEDURE ptesty(a VARIADIC int[], b OUT int) LANGUAGE SQL   AS $$ SELECT a[1] $$
CREATE PROCEDURE ptestz() LANGUAGE SQL WINDOW AS $$ select 1 $$
CREATE PROCEDURE ptestz() LANGUAGE SQL STRICT AS $$ select 1 $$
CREATE PROCEDURE ptestz() LANGUAGE SQL immutable AS $$ select 1 $$
CREATE PROCEDURE ptestz() LANGUAGE SQL cost 3 AS $$ select 1 $$
alter PROCEDURE p1(int) STRICT
alter PROCEDURE p1(int) immutable
alter PROCEDURE p1(int) leakproof
alter PROCEDURE p1(int) cost 3
alter PROCEDURE p1(int) called on null input
alter PROCEDURE p1(int) parallel safe
alter function f1(int) strict strict
alter function f1(int) cost 3 cost 4
create function f1(int) returns int language sql language sql as 'select 1'
CREATE PROCEDURE ptestx() LANGUAGE SQL BEGIN ATOMIC   CREATE TABLE x (a int); END
CREATE PROCEDURE ptestx() LANGUAGE SQL BEGIN ATOMIC   call p1(1); END
create procedure pout(inout a int) language sql as 'select 1'
CREATE FUNCTION functest_S_xx(x anyarray) RETURNS anyelement LANGUAGE SQL RETURN x[1]
CREATE FUNCTION functest_S_xx(x anyelement) RETURNS int LANGUAGE SQL RETURN 1
CREATE TEMP TABLE sometable(f1 int)
DROP SCHEMA suite2 CASCADE; CREATE SCHEMA suite2
create table ct1 (a int, b text collate "C")
create table ct2 (a int, b text collate "POSIX")
insert into ct1 values (1,'abc'); insert into ct2 values (2,'ABC')
copy (SELECT a, b FROM ct1 UNION ALL SELECT a, b FROM ct2 ORDER BY 2) to stdout
copy (SELECT a, b FROM ct1 UNION ALL SELECT a, b FROM ct2) to stdout
copy (SELECT a, b FROM ct1 UNION SELECT a, b FROM ct2) to stdout
copy (SELECT a, b FROM ct1 intersect all SELECT a, b FROM ct2) to stdout
copy (SELECT a, b FROM ct1 UNION ALL SELECT a, b FROM ct2 ORDER BY b) to stdout
copy (SELECT a, b collate "C" FROM ct1 UNION ALL SELECT a, b FROM ct2 ORDER BY 2) to stdout
copy (select * from (SELECT a, b FROM ct1 UNION ALL SELECT a, b FROM ct2) x order by b) to stdout
create view cv as SELECT a, b FROM ct1 UNION ALL SELECT a, b FROM ct2
create table ctt as SELECT a, b FROM ct1 UNION ALL SELECT a, b FROM ct2
copy (select a, (case when a > 1 then b else b||'x' end) from ct1 order by 2) to stdout
select b from (values ('a' collate "C"),('b' collate "POSIX")) v(b)
select b from (values ('a' collate "C"),('b' collate "POSIX")) v(b) order by b
copy (select distinct b from (SELECT a, b FROM ct1 UNION ALL SELECT a, b FROM ct2) x) to stdout
copy (select b, count(*) from (SELECT a, b FROM ct1 UNION ALL SELECT a, b FROM ct2) x group by b) to stdout
with recursive r(x) as (select b from ct1 union all select b||'a' collate "POSIX" from ct2) select * from r
WITH RECURSIVE foo(x) AS (SELECT x FROM (VALUES('a' COLLATE "C"),('b')) t(x) UNION ALL SELECT (x || 'c') COLLATE "POSIX" FROM foo WHERE length(x) < 10) SELECT * FROM foo
CREATE INDEX ci1 ON ct1 (b)
CREATE INDEX ci2 ON ct1 (b COLLATE "POSIX")
CREATE INDEX ci3 ON ct1 ((b COLLATE "POSIX"))
CREATE INDEX ci4 ON ct1 (((b||'foo') COLLATE "POSIX"))
CREATE INDEX ci5 ON ct1 ((b||'foo') COLLATE "POSIX")
CREATE INDEX ci6 ON ct1 (((b COLLATE "POSIX") || 'x'))
CREATE INDEX ci7 ON ct1 ((b COLLATE "POSIX") collate "C")
CREATE INDEX ci8 ON ct1 ((b COLLATE "POSIX" collate "C"))
CREATE INDEX ci9 ON ct1 (a COLLATE "C")
CREATE INDEX ci10 ON ct1 ((a COLLATE "C"))
SELECT relname, pg_get_indexdef(oid) FROM pg_class WHERE relname LIKE 'ci%' ORDER BY 1
select indexrelid::regclass, indkey, indcollation, indexprs is null from pg_index where indrelid='ct1'::regclass order by indexrelid::regclass::text
create table cpart (a text collate "POSIX", unique (a collate "C"))
create table cchk (a text check (a collate "C" > 'b'), b text generated always as (a collate "C") stored, c text default 'a' collate "C")
CREATE DOMAIN testdomain_i AS int COLLATE "POSIX"
CREATE DOMAIN testdomain_i AS int COLLATE "nope"
create table xx (a int collate "C")
create type xx as (a int collate "C")
alter table ct1 alter a type int collate "C"
alter table ct1 add column q int collate "C"
select 1 collate "C"
select ('a'::text collate nosuch)
select * from unnest(array['a']) as x(a text collate "C")
CREATE TABLE foo (LIKE nonexistent)
create sequence ctlseq1
CREATE TABLE ctlt10 (LIKE ctlseq1)
create table foo (like ci1)
create table def_test(c1 int default 5, c2 text)
alter table def_test alter column c1 set default 'wrong_datatype'
alter table def_test add check (nope > 3)
alter table def_test add constraint x check (c1)
alter table def_test add constraint x unique (nope)
alter table def_test add constraint x foreign key (nope) references ct1
alter table def_test add column c3 int default nope
alter table def_test add column c3 int default 'nope'
alter table def_test add column c3 nope
alter table def_test alter c1 type nope
alter table def_test alter c1 type text using nope
alter table def_test alter c1 set default nope
alter table def_test add column c3 int generated always as (nope) stored
create index on def_test (nope)
create index on def_test ((nope))
create index on def_test (c1) where nope
create index on def_test (c1 nope_ops)
create index on def_test (c1 collate "nope")
create table dd(a int default nope)
create table dd(a int default 'nope')
create table dd(a int check (nope))
create table dd(a int, check (nope>1))
create table dd(a int, constraint c check (nope>1))
create table dd(a nope)
create table dd(a int, a int)
create table dd(a int primary key, b int primary key)
create table dd(a int null not null)
create table dd(a int default 1 default 2)
create table dd(a int, foreign key (b) references ct1)
create table dd(a int references nope)
create table dd(a int references ct1(nope))
create table dd(a int, primary key(nope))
create table dd(a int, unique (a,a))
create domain ddd as nope
create domain ddd as int default nope
create domain ddd as int check (nope)
create domain ddd as int check (value > nope)
create domain ddd as int not null null
create domain ddd as int
alter domain ddd add check (nope)
alter domain ddd set default 'x'
alter domain ddd set default nope
create sequence ss as nope
create sequence ss increment 0
create sequence ss foo
create sequence ss increment 1 increment 2
alter sequence ctlseq1 increment 1 increment 2
create view vv as select nope
create view vv(a,b) as select 1
create view vv with (nope=1) as select 1
create view vv with (security_barrier=here) as select 1
create view vv as select 1
alter view vv set (check_option=here)
alter view vv set (security_invoker=here)
create table wopt(a int) with (fillfactor=5)
create table wopt(a int) with (nope=5)
create table wopt(a int) with (autovacuum_enabled=x)
create table wopt(a int) with (vacuum_index_cleanup=x)
create index on ct1(a) with (nope=5)
create index on ct1(a) with (buffering=x)
CREATE SEQUENCE sequence_testx OWNED BY pg_class_oid_index.oid
CREATE SEQUENCE sequence_testx OWNED BY pg_class.oid
CREATE SEQUENCE sequence_testx OWNED BY ctlseq1.last_value
CREATE SEQUENCE sequence_testx OWNED BY ci1.b
CREATE SEQUENCE sequence_testx OWNED BY nobody
CREATE SEQUENCE sequence_testx OWNED BY ct1.nope
CREATE SEQUENCE sequence_testx OWNED BY vv.nope
DROP SCHEMA suite2 CASCADE; CREATE SCHEMA suite2
create table ct1 (a int, b text collate "C")
create table ct2 (a int, b text collate "POSIX")
insert into ct1 values (1,'abc'); insert into ct2 values (2,'ABC')
create table ca1 (a text[] collate "C"); create table ca2 (a text[] collate "POSIX")
insert into ca1 values ('{a}'); insert into ca2 values ('{b}')
copy (select max(b) from (select b from ct1 union all select b from ct2) x) to stdout
copy (select string_agg(b,',' order by b) from (select b from ct1 union all select b from ct2) x) to stdout
copy (select count(distinct b) from (select b from ct1 union all select b from ct2) x) to stdout
copy (select rank() over (order by b) from (select b from ct1 union all select b from ct2) x) to stdout
copy (select rank() over (partition by b) from (select b from ct1 union all select b from ct2) x) to stdout
copy (select a from ca1 union all select a from ca2 order by 1) to stdout
copy (select distinct a from (select a from ca1 union all select a from ca2) x) to stdout
copy (select max(a) from (select a from ca1 union all select a from ca2) x) to stdout
copy (select a.a < b.a from ca1 a, ca2 b) to stdout
copy (select a.a = b.a from ca1 a, ca2 b) to stdout
copy (select a.a || b.a from ca1 a, ca2 b) to stdout
copy (select a.b = any(b.a) from ct2 a, ca1 b) to stdout
copy (select row(a.b||b.b) < row('a') from ct1 a, ct2 b) to stdout
copy (select greatest(a.b,b.b) from ct1 a, ct2 b) to stdout
copy (select case a.b||b.b when 'x' then 1 end from ct1 a, ct2 b) to stdout
copy (select * from ct1 a where b in (select b from ct2)) to stdout
copy (select * from ct1 a where b > all (select b from ct2)) to stdout
copy (select upper(a.b||b.b) from ct1 a, ct2 b) to stdout
copy (select a.b like b.b from ct1 a, ct2 b) to stdout
copy (select a.b ~ b.b from ct1 a, ct2 b) to stdout
copy (select a.b between 'a' and b.b from ct1 a, ct2 b) to stdout
copy (select percentile_disc(0.5) within group (order by b) from (select b from ct1 union all select b from ct2) x) to stdout
copy (select b from (select b from ct1 union all select b from ct2) x where false order by b) to stdout
copy (select b from (select b::varchar collate "C" from ct1 union all select b from ct2) x order by b) to stdout
copy (select b from (select b::char(3) b from ct1 union all select b::char(3) from ct2) x order by b) to stdout
create domain dt as text
copy (select b from (select b::dt b from ct1 union all select b::dt from ct2) x order by b) to stdout
copy (select distinct b from (select b::dt b from ct1 union all select b::dt from ct2) x) to stdout
select min(a.b||b.b), max(array[a.b||b.b]) from ct1 a, ct2 b
DROP SCHEMA suite2 CASCADE; CREATE SCHEMA suite2
create table p1 (a int primary key, b varchar(10) unique); create table "C 1" (a int not null references p1 on delete set null on update cascade check (a < 10), b char(3) references p1(b) on update cascade on delete set default default 'x', "q""x" int)
insert into p1 values (1,'aa'),(2,'bbbbbb'),(3,'cc')
insert into "C 1" values (1,'aa'),(2,null)
delete from p1 where a=2
update p1 set a=11 where a=1
update p1 set b='bbbbbbbb' where a=1
update p1 set b='zz' where a=1
delete from p1 where a=1
alter table "C 1" rename "a" to "a""b"
update p1 set a=12 where a=1
create table fk2 (a bigint references p1, x text); insert into fk2 values (3); insert into fk2 values (77)
update p1 set a=5 where a=3
delete from p1 where a=3
create domain dm as int check (value <> 6)
create table fk3 (a dm references p1 on update cascade)
insert into fk3 values (3); update p1 set a=6 where a=3
create table fk4 (a int2 references p1 on update cascade); insert into fk4 values (3); drop table fk2, fk3; update p1 set a=100000 where a=3
DROP SCHEMA suite2 CASCADE; CREATE SCHEMA suite2
CREATE TABLE ro(i INT NOT NULL, j text) WITH (vacuum_truncate=false, autovacuum_enabled = false)
INSERT INTO ro VALUES (1, NULL), (2, NULL)
delete from ro
INSERT INTO ro VALUES (1, NULL), (2, NULL)
delete from ro
alter table ro reset (vacuum_truncate)
VACUUM (truncate false) ro
VACUUM ro
delete from ro where i>5
vacuum (truncate off) ro
VACUUM (PARALLEL -1) ro
VACUUM (PARALLEL) ro
VACUUM (PARALLEL 2000) ro
VACUUM (PARALLEL x) ro
create temp table tmp (a int primary key)
VACUUM (PARALLEL 1, FULL FALSE) tmp
VACUUM (PARALLEL 0, FULL TRUE) tmp
VACUUM (PARALLEL 2, FULL TRUE) tmp
ANALYZE (nonexistentarg) does_not_exit
VACUUM (nonexistentarg) ro
VACUUM (verbose 3) ro
VACUUM (index_cleanup x) ro
VACUUM (index_cleanup) ro
VACUUM (full, disable_page_skipping) ro
analyze (skip_locked 7) ro
reindex (nope) table ro
copy ro to stdout (nope)
copy ro to stdout (format nope)
copy ro to stdout (format csv, format csv)
copy ro to stdout (force_quote nope)
vacuum ro(nope)
vacuum (analyze) ro(nope)
vacuum (analyze) ro(i,i)
vacuum (freeze) ro(i)
CREATE TABLE mvtest_foo(a, b) AS VALUES(1, 10)
CREATE MATERIALIZED VIEW mvtest_mv AS SELECT * FROM mvtest_foo
CREATE UNIQUE INDEX ON mvtest_mv(a)
insert into mvtest_foo select * from mvtest_foo
refresh materialized view mvtest_mv
insert into mvtest_foo values (null,1),(null,1)
comment on constraint the_c on cct is 'x'
comment on column cct.a is 'x'
comment on table cct is 'x'
alter table cct rename constraint the_c to x
alter table cct rename column a to b
alter table cct rename to b
drop table cct
create index on cct(a)
truncate cct
vacuum cct; analyze cct
lock cct
comment on index ci1 is 'x'
alter index ci1 rename to x
reindex index ci1
reindex table cct
create table pk (a int primary key); create table fk(a int, constraint ff foreign key (a) references pk)
alter table fk alter constraint ff no inherit
alter table fk alter constraint ff not valid
alter table fk alter constraint ff deferrable
alter table fk alter constraint ff initially deferred
alter table fk alter constraint ff not deferrable initially deferred
alter table fk add constraint ff2 foreign key (a) references pk no inherit
alter table fk add constraint ff3 check (a>0) deferrable
alter table fk add constraint ff3 check (a>0) not valid no inherit
alter table fk add constraint ff4 unique (a) not valid
alter table fk add constraint ff4 unique (a) no inherit
create table fk5 (a int check (a>0) not valid)
create table fk6 (a int references pk not valid)
alter table def_test add constraint cc check (c1 > 100) not valid; insert into def_test values (101,'x')
alter table def_test validate constraint cc, alter c1 type int
select 0.0e+a
select 0.0e-
select 1e
select 1ea
select 1e+
select 0x1
select 1_0
select 1.5.6
select 123abc
select 1.a
select $1a
select .5e
ALTER DATABASE postgres RESET TABLESPACE
ALTER DATABASE postgres set TABLESPACE to 'x'
ALTER DATABASE postgres RESET nope
set default_tablespace = nope
CREATE STATISTICS tst ON a FROM (VALUES (1)) AS foo
CREATE STATISTICS tst ON a FROM foo NATURAL JOIN bar
CREATE STATISTICS tst ON a FROM (SELECT * FROM ro) AS foo
CREATE STATISTICS tst ON a FROM ro s TABLESAMPLE system (x)
CREATE STATISTICS tst ON a FROM generate_series(1,2)
CREATE STATISTICS tst ON i FROM ro,ro
CREATE STATISTICS tst ON i FROM ro
CREATE STATISTICS tst ON i,i FROM ro
CREATE STATISTICS tst ON (i+1),(i+1),j FROM ro
CREATE STATISTICS tst(nope) ON i,j FROM ro
CREATE STATISTICS tst(mcv,mcv) ON i,j FROM ro
CREATE STATISTICS tst(mcv) ON (i+1) FROM ro
CREATE STATISTICS tst ON i, j FROM vv
CREATE STATISTICS tst ON i, j FROM nope
CREATE STATISTICS tst ON i, nope FROM ro
CREATE STATISTICS tst ON i, (nope+1) FROM ro
CREATE STATISTICS tst ON i, (sum(i)) FROM ro
CREATE STATISTICS tst ON i, (select 1) FROM ro
CREATE STATISTICS tst ON i, (random()) FROM ro
select ('{"a": 1}'::jsonb)['a':'b']
select ('[1, "2", null]'::jsonb)[1:2]
select ('[1, "2", null]'::jsonb)[1:]
select ('[1, "2", null]'::jsonb)[:]
select (1)[1]; select ('a'::text)[1:2]; select (array[1,2])[1:'x']; select (array[1,2])['x']; select (array[1])[now()]
select ('{1}'::int[])[1.5]
create table cct2 (a int constraint the_c check (a>0)); create role suite2_r; grant usage on schema suite2 to suite2_r; create view v9 as select * from cct2; create procedure p9() language sql as 'select 1'
set role suite2_r
comment on constraint the_c on cct2 is 'x'
comment on column cct2.a is 'x'
comment on table cct2 is 'x'
comment on view v9 is 'x'
grant select on v9 to public
grant select on cct2 to public
grant execute on procedure p9() to public
alter table cct2 rename constraint the_c to x
reset role
ALTER DATABASE postgres RESET nope_nope
ALTER DATABASE postgres RESET TABLESPACE
ALTER ROLE suite2_r RESET nope_nope
ALTER ROLE suite2_r SET nope_nope = 1
ALTER ROLE suite2_r RESET ALL
alter procedure p9() reset nope_nope
alter procedure p9() set nope_nope = 1
cluster (nope) cct2
drop schema suite2 cascade; drop role suite2_r; create schema suite2
create role suite2_r; create role suite2_s
set allow_in_place_tablespaces=on
create tablespace suite2_ts location ''
create schema s1; grant usage on schema s1 to suite2_r; grant create on schema s1 to suite2_r
set role suite2_r
create table s1.t (a int, b int); create statistics s1.st (ndistinct) on a, b from s1.t; create statistics s1.st2 on (a+b) from s1.t
reset role
create index k on s1.t (a) tablespace suite2_ts; alter table s1.t add unique (b) using index tablespace suite2_ts
revoke create on schema s1 from suite2_r
set role suite2_r
alter table s1.t alter a type bigint
alter table s1.t alter b type bigint, alter b type text
alter table s1.t alter b type text
create statistics s1.st3 on a, b from s1.t
create temp table ttt (i int) tablespace suite2_ts
reset role
select stxname, stxowner::regrole, stxnamespace::regnamespace from pg_statistic_ext where stxnamespace='s1'::regnamespace order by 1
select relname, spcname from pg_class c join pg_tablespace t on t.oid=c.reltablespace where spcname='suite2_ts' order by 1
drop schema s1 cascade
alter tablespace suite2_ts reset (random_page_cost = 2.0)
alter tablespace suite2_ts reset (random_page_cost)
alter tablespace suite2_ts set (random_page_cost = 2.0, nope=1)
alter table pg_class reset (fillfactor=3)
create table rr (a int) with (fillfactor=50); alter table rr reset (fillfactor=3); alter table rr alter a reset (n_distinct=3); alter index k reset (fillfactor = 3)
create index rri on rr(a); alter index rri reset (fillfactor = 3)
reindex (tablespace suite2_ts) table concurrently pg_am
reindex (tablespace suite2_ts) table pg_am
reindex (tablespace suite2_ts) table concurrently pg_authid
reindex (tablespace suite2_ts) table pg_authid
reindex (tablespace pg_global) table pg_authid
reindex (tablespace pg_global) table concurrently pg_authid
reindex (tablespace pg_global) index concurrently rri
reindex (tablespace pg_global) index rri
reindex (tablespace pg_global) table rr
reindex (tablespace suite2_ts) index concurrently pg_toast.pg_toast_1260_index
reindex (tablespace suite2_ts) index pg_toast.pg_toast_1260_index
reindex (tablespace suite2_ts) table concurrently pg_toast.pg_toast_1260
reindex table concurrently pg_class
reindex index concurrently pg_class_oid_index
reindex schema concurrently pg_catalog
create tablespace bad location '/no/such/location'
create tablespace bad location 'relative'
create tablespace pg_bad location '/tmp'
drop tablespace suite2_ts
create schema s3
reindex database nope
set role suite2_r
reindex database postgres
reindex schema s3
reset role
create table tt9 (a text primary key)
alter table tt9 reset (nope); alter table tt9 set (nope=1); create tablespace suite2_ts location ''; alter tablespace suite2_ts reset (nope); drop tablespace suite2_ts
drop schema s3 cascade; drop role suite2_r, suite2_s; drop table rr, tt9; reset allow_in_place_tablespaces
DROP SCHEMA suite2 CASCADE
