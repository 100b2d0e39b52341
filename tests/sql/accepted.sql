-- Statements that are refused and similar ones that are not: system columns, arbiters, generated columns, actions, signatures.
CREATE SCHEMA accepted; SET search_path = accepted
create table t (f int, key int, a int, b text, primary key (key))
copy (insert into t values (1,1)) to stdout
copy (update t set f=2) to stdout
copy (delete from t) to stdout
copy (create table x()) to stdout
copy (select 1 into x) to stdout
copy (notify x) to stdout
create index on t(ctid)
create index on t((ctid::text))
create index on t((t.ctid = '(0,1)'))
create index on t(f) where ctid > '(0,1)'
create index on t(tableoid)
create index on t((tableoid+0))
create index on t(xmin)
create index on t((t is null))
create index on t((t.*::text))
create index on t(f) include (ctid)
create index on t(f) include (tableoid)
alter table t add unique (ctid)
alter table t add check (tableoid is not null)
create table g1 (a int, b text generated always as (ctid::text) stored)
create table g1 (a int, b oid generated always as (tableoid) stored)
insert into g1 values(1); select b='g1'::regclass from g1
create statistics s on ctid, f from t
create statistics s on (ctid), f from t
create statistics s on (ctid = '(0,1)'), f from t
create unique index on t(f)
insert into t values (3,3) on conflict (key,key) do nothing
insert into t values (3,3) on conflict (key,key) do update set f=9
insert into t values (3,4) on conflict (f,key) do nothing
create unique index on t(f) where coalesce(key,1)>1
create unique index tb on t(b) where coalesce(key,1)>1
insert into t(f,key) values (3,5) on conflict (f) where coalesce(key,1)>1 do nothing
insert into t(f,key,b) values (33,55,'q') on conflict (b) where coalesce(key,1)>1 do nothing
insert into t(f,key,b) values (33,55,'q') on conflict (b) where key>1 do nothing
insert into t(f,key,b) values (34,55,'q') on conflict (b,b) where coalesce(key,1)>1 do nothing
create unique index on t((a+1),(a+1))
insert into t(f,key,a) values (44,66,1) on conflict ((a+1)) do nothing
insert into t(f,key,a) values (44,66,1) on conflict ((a+1),(a+1)) do nothing
update t set a=1 where key=7 returning ctid, xmin<>'0', xmax, cmin,cmax, tableoid::regclass
create view v as select f,key,xmin x, ctid from t
insert into v(f,key) values (8,8) returning x<>'0', ctid is null
update v set f=9 where key=8 returning x<>'0', ctid is not null
with i as (insert into t(f,key) values (200,200) returning xmin,*) select xmin<>'0', f from i
update t set a=1 from (values(1)) v where key=8 returning t.xmin<>'0', v
create table gg (a int, t text, b text generated always as (a || ' sec') stored, c text generated always as (t||a) stored)
create table gg2 (a int, d date, b text generated always as (d || ' sec') stored)
create table gg2 (a int, d timestamptz, b text generated always as (d || ' sec') stored)
create table gg3 (a numeric, b text generated always as (a || ' sec') stored, c text generated always as (concat(a,'x')) stored)
create table gg3 (a numeric, b text generated always as (a || ' sec') stored, c bool, d text generated always as (c||'') stored)
create table gg4 (a text[], b text generated always as (a || 'x'::text) stored)
create index on gg ((a||' sec'))
create index on gg3 ((a||' sec'))
create table gg5 (a int, b text generated always as (format('%s',a)) stored)
create table gg7 (a point, b text generated always as (a||'') stored)
create table g (a int, b int generated always as (a*2) stored)
copy g from stdin where b > 1
copy g from stdin where g is not null
copy g from stdin where a > (select 1)
copy g from stdin where sum(a) > 1
copy g from stdin where a
copy g from stdin where generate_series(1,a) > 1
copy g (b) from stdin
copy g to stdout
copy g (b) to stdout
create table pk (a int primary key, b int unique)
create table f1 (a int, b int generated always as (a) stored references pk on update cascade)
create table f1 (a int, b int generated always as (a) stored references pk on update set null)
create table f1 (a int, b int generated always as (a) stored references pk on update set default)
create table f1 (a int, b int generated always as (a) stored references pk on delete set null)
create table f1 (a int, b int generated always as (a) stored references pk on delete set default)
create table f1 (a int, b int generated always as (a) stored references pk on delete cascade)
create table f2 (a int, c int, b int generated always as (a) stored, foreign key (c, b) references pk (a,b) on delete set null (c))
create table f3 (a int, b int generated always as (a) stored)
alter table f3 add foreign key (b) references pk on update cascade
alter table f3 add foreign key (b) references pk on delete set null
alter table f3 add foreign key (b) references pk on update restrict
create function r1() returns anyrange language sql as 'select null'
create function r1(anyelement) returns anyrange language sql as 'select null'
create function r1(anyarray) returns anyrange language sql as 'select null'
create function r1(anymultirange) returns anyrange language sql as 'select null'
create function r2() returns anymultirange language sql as 'select null'
create function r2(anyelement) returns anymultirange language sql as 'select null'
create function r2(anyrange) returns anymultirange language sql as 'select null'
create function r3() returns anyelement language sql as 'select null'
create function r3() returns anyarray language sql as 'select null'
create function r3() returns anyenum language sql as 'select null'
create function r3(anyarray) returns anyenum language sql as 'select null'
create function r3() returns anycompatible language sql as 'select null'
create function r3(anyelement) returns anycompatible language sql as 'select null'
create function r3(anycompatible) returns anycompatiblerange language sql as 'select null'
create function r3(anycompatible) returns anycompatiblemultirange language sql as 'select null'
create function r3(anycompatiblerange) returns anycompatiblemultirange language sql as 'select null'
create function r3(out anyrange, anyelement) language sql as 'select null'
create function r4(out x anyrange, out y anyelement, anyelement) language sql as 'select null'
create function r5(internal) returns int language sql as 'select 1'
create function r5(int) returns internal language sql as 'select 1'
create function r5(variadic int) returns int language sql as 'select 1'
create table t6 (a int references t3)
create unlogged table t7 (a int primary key)
create table t8 (a int references t7)
create unlogged table t9 (a int references pk)
create procedure pr() begin atomic end
create procedure pr2() language sql begin atomic insert into g(a) values (1); end
create procedure pr3() language sql begin atomic; end
create function fn0() returns void language sql begin atomic end
select fn0()
alter table g set without oids
create table wo (a int) without oids
create table wo2 (a int) with (oids)
create table wo2 (a int) with (oids=false)
alter table g set (oids = false)
create role accepted_1; create role accepted_2; create type rct as (a int); create type re as enum ('a'); alter type re owner to accepted_1
alter type rct owner to accepted_1
create table rt (a serial); alter table rt owner to accepted_1
create view rv as select 1; alter view rv owner to accepted_1
create domain rd as int; alter domain rd owner to accepted_1
create schema rs authorization accepted_1
create function rf() returns int language sql as 'select 1'; alter function rf owner to accepted_1
create sequence rq; alter sequence rq owner to accepted_1
create materialized view rm as select 1; alter materialized view rm owner to accepted_1
reassign owned by accepted_1 to accepted_2
select relname, relowner::regrole from pg_class where relnamespace = 'accepted'::regnamespace and relowner::regrole::text like 'accepted%' order by 1
select typname, typowner::regrole from pg_type where typnamespace = 'accepted'::regnamespace and typowner::regrole::text like 'accepted%' order by 1
select classid::regclass, deptype, refobjid::regrole, count(*) from pg_shdepend where refobjid::regrole::text like 'accepted%' group by 1, 2, 3 order by 1, 2, 3
SET client_min_messages = error; drop owned by accepted_1, accepted_2; drop role accepted_1, accepted_2
select relname, relowner::regrole from pg_class where relnamespace='accepted'::regnamespace and relowner::regrole::text like 'ro%' order by 1
select typname, typowner::regrole from pg_type where typnamespace='accepted'::regnamespace and typowner::regrole::text like 'ro%' order by 1
select nspname, nspowner::regrole from pg_namespace where nspowner::regrole::text like 'ro_'
create temp table t1 (a int primary key) on commit delete rows; create temp table t2 (a int references t1) on commit preserve rows
create temp table t1 (a int primary key) on commit delete rows; create temp table t2 (a int references t1) on commit delete rows; drop table t1, t2
-- Names that an index-only scan reads have the length of those in the table.
SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT row(collname, collname)::text FROM pg_collation WHERE collname = 'C'; RESET ALL
-- The privilege to run programs is checked first, and so is the kind of the relation to be refreshed.
CREATE ROLE accepted_r; SET ROLE accepted_r; COPY (select 1) TO PROGRAM 'cat'
SET ROLE accepted_r; COPY pg_class TO '/nosuch'
RESET ROLE; CREATE VIEW accepted_v AS SELECT 1 AS a; CREATE SEQUENCE accepted_s; REFRESH MATERIALIZED VIEW accepted_v
REFRESH MATERIALIZED VIEW accepted_s
SET ROLE accepted_r; REFRESH MATERIALIZED VIEW accepted_v
RESET ROLE; DROP VIEW accepted_v; DROP SEQUENCE accepted_s; DROP ROLE accepted_r
SELECT pg_terminate_backend(0)
SELECT pg_cancel_backend(-1)
SELECT pg_log_backend_memory_contexts(0)
-- COPY looks up its table and checks privileges before it reads its options.
COPY nosuch FROM stdin (nosuch)
COPY nosuch TO stdout (nosuch)
COPY (SELECT nosuch) TO stdout (nosuch)
COPY pg_user TO stdout (nosuch)
COPY pg_class (nosuch) TO stdout (nosuch)
SELECT string_agg('a', 1::int2 ORDER BY 1)
SELECT string_agg('a', 1::int2 ORDER BY 1, 2)
-- Settings whose values the operating system must support.
SET [[lc_time¦lc_messages¦lc_numeric¦lc_monetary]] = [['nosuch'¦'de_XX.UTF-8'¦''¦'C'¦'POSIX']]
ALTER [[ROLE postgres SET¦SYSTEM SET]] lc_time = 'nosuch'
SET timezone_abbreviations = [['../x'¦'nosuch'¦'Default'¦'India']]
SET max_stack_depth = [['100GB'¦'2MB'¦'50kB']]
RESET ALL
SELECT pg_stat_get_backend_pid(2147483647) IS NULL, has_column_privilege('pg_class', [[-6¦-7¦-32768]]::int2, 'select')
SELECT aclexplode([['{{=r/postgres},{=w/postgres}}'¦'{=r/postgres}']]::aclitem[])
SELECT pg_database_size(4294967295) IS NULL, pg_database_size('template1') > 1000000
SELECT pg_read_file('PG_VERSION', [[-9223372036854775808¦-4¦-3¦-2]], 2)
-- The row of a join alias is compared column by column.
CREATE VIEW pg_temp.joined AS SELECT j [[IS DISTINCT FROM¦IS NOT DISTINCT FROM]] [[j¦ROW(1)]] AS d, ROW(1) IS DISTINCT FROM j AS e FROM (VALUES (1), (2)) a (k) JOIN (VALUES (1)) b (k) USING (k) AS j; SELECT pg_get_viewdef('pg_temp.joined'::regclass); SELECT * FROM pg_temp.joined; DROP VIEW pg_temp.joined
SELECT j IS DISTINCT FROM ROW(1, 2) FROM (VALUES (1)) a (k) JOIN (VALUES (1)) b (k) USING (k) AS j
-- Errors show a parameter's name as it was written.
SET [[WORK_MEM¦"Work_Mem"¦IntervalStyle¦"IntervalStyle"¦DateStyle¦Enable_Sort¦"ENABLE_SORT"¦Random_Page_Cost¦"RANDOM_PAGE_COST"]] = [['x'¦'-5'¦'10GBs']]
SELECT set_config('[[Work_Mem¦INTERVALSTYLE¦Enable_sort¦SEQ_page_cost]]', '[[x¦-1¦99999999999999]]', false)
ALTER ROLE CURRENT_USER SET [["Work_Mem"¦IntervalStyle¦"ENABLE_sort"]] = 'x'
ALTER SYSTEM SET [["Work_Mem"¦IntervalStyle¦"ENABLE_sort"]] = 'x'
SET client_min_messages = error; DROP SCHEMA accepted CASCADE
