-- Differences found by PostgreSQL's regression suite: rows changed twice by one statement, locks, REINDEX.
CREATE SCHEMA suite4; SET search_path = suite4
create table withz(k int primary key, v text); insert into withz values (2, 'old'), (3, 'three')
with simpletup as (select 2 k, 'Green' v), upsert_cte as (insert into withz values (2, 'Blue') on conflict (k) do update set (k, v) = (select k, v from simpletup where simpletup.k = withz.k) returning k, v) insert into withz values (2, 'Red') on conflict (k) do update set (k, v) = (select k, v from upsert_cte where upsert_cte.k = withz.k) returning k, v
select * from withz order by k
with u as (update withz set v = v || '!' where k = 2 returning k, v) insert into withz values (2, 'Red') on conflict (k) do update set v = (select v from u) returning k, v
select * from withz order by k
with d as (delete from withz where k = 3 returning k, v) insert into withz values (3, 'Red') on conflict (k) do update set v = (select v from d) returning k, v
select * from withz order by k
insert into withz values (5, 'a'), (5, 'b') on conflict (k) do update set v = excluded.v
create temp table temporary_one(a int)
select pg_filenode_relation(reltablespace, pg_relation_filenode(oid)) is null from pg_class where relname = 'temporary_one'
select count(*) from pg_class c where relkind in ('r', 'i', 't') and relpersistence <> 't' and pg_filenode_relation(reltablespace, pg_relation_filenode(oid)) is distinct from oid
select pg_filenode_relation(0, 0), pg_filenode_relation(1664, 0), pg_filenode_relation(0, 1), pg_filenode_relation(null, 1)
create table itest18(a int not null, b text)
alter table itest18 set unlogged, alter column a add generated always as identity
select relname, relpersistence from pg_class where relname like 'itest18%' order by 1
alter table itest18 set logged
select relname, relpersistence from pg_class where relname like 'itest18%' order by 1
alter table itest18 set unlogged
select relname, relpersistence from pg_class where relname like 'itest18%' order by 1
create table alterlock (f1 int primary key, f2 text)
create view held as select c.relname, l.mode from pg_locks l join pg_class c on l.relation = c.oid where l.pid = pg_backend_pid() and c.relname not like 'held%' and c.relnamespace <> 'pg_catalog'::regnamespace
begin; alter table alterlock set (toast.autovacuum_enabled = off)
select regexp_replace(relname, '\d+', 'N'), mode from held order by 1, 2
rollback
begin; alter table alterlock [[cluster on alterlock_pkey¦set without cluster¦set (fillfactor = 100)¦reset (fillfactor)¦set (autovacuum_enabled = off)¦alter column f2 set (n_distinct = 1)¦alter column f2 set storage extended¦alter column f2 set default 'x']]; select regexp_replace(relname, '\d+', 'N'), mode from held order by 1, 2; rollback
begin; alter view held set (security_barrier = off)
select c.relname, l.mode from pg_locks l join pg_class c on l.relation = c.oid where l.pid = pg_backend_pid() and c.relname = 'held' order by 1, 2
rollback
create table concur(c1 int); insert into concur values (1), (1), (2)
create unique index concurrently concur_ind5 on concur (c1)
select indexrelid::regclass, indisvalid from pg_index where indrelid = 'concur'::regclass
reindex table concurrently concur
select indexrelid::regclass, indisvalid from pg_index where indrelid = 'concur'::regclass
delete from concur where c1 = 1
reindex table concurrently concur
select indexrelid::regclass, indisvalid from pg_index where indrelid = 'concur'::regclass
reindex index concurrently concur_ind5
select indexrelid::regclass, indisvalid from pg_index where indrelid = 'concur'::regclass
create function badset() returns int as 'select 1' language sql set default_text_search_config = no_such_config
set check_function_bodies = off
create function badset() returns int as 'select 1' language sql set default_text_search_config = no_such_config
select badset()
reset check_function_bodies
create function badset2() returns int as 'select 1' language sql set [[default_tablespace = 'nosuch'¦default_table_access_method = 'nosuch'¦temp_tablespaces = 'nosuch'¦work_mem = 'x'¦nosuch_setting = 1¦no.such = 1]]
set default_text_search_config = no_such_config
set default_text_search_config = english; show default_text_search_config
set default_text_search_config = 'nosuch.english'
alter role current_user set default_text_search_config = no_such_config
alter role current_user reset default_text_search_config
alter database postgres set default_text_search_config = 'no_such_config'
alter database postgres reset default_text_search_config
drop function badset()
set default_with_oids to [[f¦t¦x]]
show default_with_oids
select '[[{{1},{2,3}}¦{{1},2}¦{1,{2}}¦{{},{1}}¦{{1,{2}},{2,3}}]]'::text[]
create table tbl_vp(a int); create temp table tmp_vp(a int)
vacuum (parallel 1, full false) tmp_vp
vacuum (parallel 0) tmp_vp
vacuum (parallel 2) tmp_vp, tbl_vp
vacuum tmp_vp
create function barf(out int, out numeric) as 'select 1, 2.1' language sql
select * from barf()
create or replace function barf(out int, out numeric) as 'select 1, 2' language sql
select * from barf()
create or replace function barf(out int, out numeric) as 'select 1, 2.1, 3' language sql
create function lists(out int, out numeric) returns setof record as 'select 1, 2.1; select 3, 4' language sql
select * from lists()
create table gst(a int, b int)
select (select grouping(a, b) from gst) from gst group by a, b
create statistics tst on a from [[(select 1 a) s¦generate_series(1, 2) a¦json_to_record('{}') as x(a int)¦gst tablesample system (10)]]
create schema suite4b; create statistics twice on a, b from gst; create statistics suite4b.twice on b, a from gst
alter statistics twice set schema [[suite4b¦suite4¦nosuch]]
alter statistics suite4b.twice set schema suite4
DROP SCHEMA suite4b CASCADE
DROP SCHEMA suite4 CASCADE
