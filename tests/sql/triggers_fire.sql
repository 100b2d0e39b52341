-- Functions of triggers: when they are called, what they see and what they change.
CREATE SCHEMA triggers_fire; SET search_path = triggers_fire
create table log(n serial, what text)
create function note() returns trigger language plpgsql as $$ begin raise notice '% % % % % args % old % new % depth %', tg_name, tg_when, tg_op, tg_level, tg_table_name, tg_argv, case when tg_level = 'ROW' and tg_op <> 'INSERT' then old::text end, case when tg_level = 'ROW' and tg_op <> 'DELETE' then new::text end, pg_trigger_depth(); if tg_op = 'DELETE' then return old; end if; return new; end $$
create table t(id int primary key, v int, g int generated always as (v + 1) stored)
-- order by kind and name
create trigger b2 before insert or update or delete on t for each row execute function note('x')
create trigger b1 before insert or update or delete on t for each row execute function note()
create trigger a2 after insert or update or delete on t for each row execute function note()
create trigger a1 after insert or update or delete on t for each row execute function note()
create trigger sb before insert or update or delete or truncate on t for each statement execute function note()
create trigger sa after insert or update or delete or truncate on t for each statement execute function note()
insert into t values (1, 1), (2, 2)
insert into t select 3, 3 where false
update t set v = v + 1
update t set v = 0 where false
delete from t where id = 2
delete from t where false
insert into t values (1, 7) on conflict (id) do update set v = excluded.v
insert into t values (1, 7) on conflict do nothing
insert into t values (4, 4) on conflict (id) do update set v = excluded.v returning *
truncate t
with x as (insert into t values (5, 5) returning *) update t set v = 1 where id = 9
with x as (insert into t values (6, 6) returning *), y as (insert into t values (7, 7) returning *) table x
explain (analyze, costs off, timing off, summary off) update t set v = 2 where id = 5
alter table t disable trigger all
insert into t values (8, 8)
alter table t enable trigger sb
delete from t where id = 8
alter table t enable trigger user
delete from t where id < 7
set session_replication_role = replica
delete from t
alter table t enable always trigger a1
insert into t values (1, 1)
alter table t enable replica trigger sa
insert into t values (2, 1)
reset session_replication_role
insert into t values (3, 1)
drop table t
-- rows that BEFORE triggers change, skip or refuse
create table t(id serial primary key, v int not null check (v > 0), w text default 'd', g int generated always as (v * 10) stored)
create function change() returns trigger language plpgsql as $$ begin if new.v = 7 then return null; end if; new.v := coalesce(new.v, 5) * 2; new.w := coalesce(new.w, '') || '!'; return new; end $$
create trigger c before insert or update on t for each row execute function change()
insert into t(v) values (1), (7), (null), (2) returning *
insert into t(v, w) values (-1, 'x')
update t set v = 7 where id = 1 returning *
update t set w = 'y' where v > 2 returning *
update t set v = -3 where id = 1
insert into t(id, v) values (1, 3) on conflict (id) do update set v = t.v + excluded.v returning *
insert into t(id, v) values (1, 7) on conflict (id) do update set v = 1 returning *
insert into t(id, v) values (1, 3) on conflict (id) do update set v = 7 returning *
table t
create trigger d before update on t for each row when (new.v > 100) execute function note('big')
update t set v = 60 where id = 1
update t set v = 20 where id = 1
drop trigger d on t
create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no % of %', tg_op, coalesce(old.id, 0); end $$
create trigger r before delete on t for each row when (old.v > 10) execute function refuse()
delete from t where v > 10
delete from t where v <= 4 returning id
drop trigger r on t
create function keep() returns trigger language plpgsql as $$ begin return null; end $$
create trigger k before delete on t for each row execute function keep()
delete from t returning *
select count(*) from t
drop table t
-- rows that functions see
create table t(id int, v int)
create function counts() returns trigger language plpgsql as $$ begin raise notice '% % %: % rows, sum %', tg_when, tg_op, tg_level, (select count(*) from t), (select sum(v) from t); if tg_op = 'DELETE' then return old; end if; return new; end $$
create trigger c1 before insert or update or delete on t for each row execute function counts()
create trigger c2 after insert or update or delete on t for each row execute function counts()
create trigger c3 before insert or update or delete on t execute function counts()
create trigger c4 after insert or update or delete on t execute function counts()
insert into t values (1, 1), (2, 2), (3, 3)
insert into t select g, g from generate_series(4, 6) g
update t set v = v * 10 where id < 3
delete from t where id > 4
drop trigger c1 on t; drop trigger c2 on t; drop trigger c3 on t; drop trigger c4 on t
-- changes by functions
create function twice() returns trigger language plpgsql as $$ begin insert into log(what) values (tg_op || coalesce(new.id, old.id)); return null; end $$
create trigger w after insert or update or delete on t for each row execute function twice()
update t set v = 0; delete from t where id = 1; insert into t values (9, 9)
select what from log order by n
create function recurse() returns trigger language plpgsql as $$ begin if new.id < 14 then insert into t values (new.id + 1, pg_trigger_depth()); end if; return null; end $$
create trigger x after insert on t for each row when (new.id > 10) execute function recurse()
insert into t values (11, 0)
select * from t where id > 10 order by id
drop trigger x on t
create function rival() returns trigger language plpgsql as $$ begin update t set v = v + 100 where id = old.id; if tg_op = 'DELETE' then return old; end if; return new; end $$
create trigger r before update or delete on t for each row when (pg_trigger_depth() = 0) execute function rival()
update t set v = 5 where id = 11
delete from t where id = 11
drop trigger r on t
create function others() returns trigger language plpgsql as $$ begin update t set v = v + 100 where id <> old.id; return old; end $$
create trigger r before delete on t for each row when (pg_trigger_depth() = 0) execute function others()
delete from t where id in (11, 12)
delete from t where id = 11
drop trigger r on t
-- UPDATE OF
create trigger u before update of v on t for each row execute function note()
create trigger us after update of v on t execute function note()
update t set id = id where id = 12
update t set v = v where id = 12
drop trigger u on t; drop trigger us on t
drop table t; truncate log
-- conditions
create table t(id int primary key, a text, b numeric, c date)
create trigger c after update on t for each row when (old.* is distinct from new.*) execute function note()
create trigger d after insert on t for each row when (new.b > 10 and new.a like 'x%') execute function note()
create trigger e before delete on t for each row when (old.c < '2020-01-01') execute function note()
create trigger s before update on t when (current_setting('triggers.on', true) = 'yes') execute function note()
insert into t values (1, 'xy', 20, '2019-05-05'), (2, 'y', 30, null), (3, 'x', 5, '2021-01-01')
update t set a = a; update t set a = 'z' where id = 2
set triggers.on = 'yes'; update t set b = b where id = 1; set triggers.on = 'no'; update t set b = b where id = 1
delete from t
create function positive(int) returns boolean language sql as 'select $1 > 0'
create trigger f before insert on t for each row when (positive(new.id)) execute function note()
insert into t values (0, 'a', 1, null), (5, 'b', 2, null)
create or replace function positive(int) returns boolean language sql as 'select $1 <= 0'
insert into t values (-1, 'a', 1, null), (6, 'b', 2, null)
drop function positive(int)
drop table t
-- constraint triggers
create table t(id int, v int)
create function late() returns trigger language plpgsql as $$ begin raise notice 'late % % %', tg_name, tg_op, coalesce(new.id, old.id); if new.v < 0 then raise exception 'negative %', new.v; end if; return null; end $$
create constraint trigger k after insert or update or delete on t deferrable initially deferred for each row execute function late()
create constraint trigger i after insert on t deferrable initially immediate for each row when (new.v > 1) execute function late()
begin; insert into t values (1, 1), (2, 2); update t set v = 3 where id = 1; select 'before commit'; commit
begin; insert into t values (3, -1); commit
begin; insert into t values (4, 1); set constraints k immediate; insert into t values (5, 5); commit
begin; set constraints all deferred; insert into t values (6, 6); savepoint s; insert into t values (7, 7); rollback to s; commit
begin; insert into t values (8, 8); alter table t add column x int; rollback
begin; insert into t values (8, 8); drop trigger k on t; commit
create constraint trigger k after insert or update or delete on t deferrable initially deferred for each row execute function late()
begin; insert into t values (8, 8); alter trigger k on t rename to kk; commit
alter trigger kk on t rename to k
begin; insert into t values (8, 8); create trigger kk after insert on t for each row execute function late(); commit
drop trigger kk on t
begin; insert into t values (8, 8); truncate t; rollback
insert into t values (9, -9)
select id from t order by id
alter table t drop constraint k
insert into t values (10, -10)
drop table t
-- nested statements, errors and their contexts
create table a(id int); create table b(id int check (id < 10))
create function down() returns trigger language plpgsql as $$ begin insert into b values (new.id * 10); return new; end $$
create trigger d after insert on a for each row execute function down()
create trigger n before insert on b for each row execute function note()
insert into a values (0), (1)
select count(*) from a
create function guarded() returns trigger language plpgsql as $$ begin insert into b values (new.id); return new; exception when check_violation then raise notice 'caught %', new.id; return null; end $$
create or replace trigger d before insert on a for each row execute function guarded()
insert into a values (1), (20), (2)
table a
table b
create function wrong() returns trigger language plpgsql as $$ begin return row(1, 2); end $$
create or replace trigger d before insert on a for each row execute function wrong()
insert into a values (1)
create or replace function wrong() returns trigger language plpgsql as $$ begin return row('x'); end $$
insert into a values (1)
create or replace function wrong() returns trigger language plpgsql as $$ begin end $$
insert into a values (1)
create or replace function wrong() returns trigger language plpgsql as $$ begin return row(5); end $$
insert into a values (1) returning *
select wrong()
select note()
drop table a, b
-- foreign keys and triggers
create table p(id int primary key); create table c(id int, p int references p on delete cascade on update cascade)
create trigger n before update or delete on c for each row execute function note()
create trigger s after update or delete on c execute function note()
create trigger sb before update or delete on c execute function note()
insert into p values (1), (2), (3); insert into c values (1, 1), (2, 1), (3, 2)
delete from p where id = 1
update p set id = 20 where id = 2
create trigger k before delete on c for each row execute function keep()
delete from p where id = 20
table c
drop table c, p
create table tree(id int primary key, up int references tree on delete cascade)
create trigger s after delete on tree execute function note()
create trigger b before delete on tree execute function note()
create trigger r after delete on tree for each row execute function note()
insert into tree values (1, null), (2, 1), (3, 1), (4, 2)
delete from tree where id = 1
drop table tree
-- TRUNCATE
create table t(id serial, v int); create table t2(id int)
create trigger tb before truncate on t execute function note()
create trigger ta after truncate on t execute function note()
create trigger t2a after truncate on t2 execute function note()
insert into t(v) values (1); truncate t, t2 restart identity
truncate t2
create function no_truncate() returns trigger language plpgsql as $$ begin raise exception 'not truncated: % rows', (select count(*) from t); end $$
create or replace trigger tb before truncate on t execute function no_truncate()
insert into t(v) values (1); truncate t
select count(*) from t
drop table t, t2
-- views
create table base(id int primary key, v text)
create view vw as select id, upper(v) as u, id * 2 as d from base
create function by_view() returns trigger language plpgsql as $$ begin raise notice '% % old % new %', tg_when, tg_op, case when tg_op <> 'INSERT' then old::text end, case when tg_op <> 'DELETE' then new::text end; if tg_op = 'INSERT' then insert into base values (new.id, new.u); new.d := -1; return new; elsif tg_op = 'UPDATE' then update base set v = new.u where id = old.id; if not found then return null; end if; return new; else delete from base where id = old.id; if not found then return null; end if; return old; end if; end $$
insert into vw values (1, 'a', 3)
create trigger vi instead of insert on vw for each row execute function by_view()
insert into vw values (1, 'a', 3), (2, 'b', 4) returning *
insert into vw(id) values (3) returning id, u, d
update vw set u = 'x'
create trigger vu instead of update on vw for each row execute function by_view()
update vw set u = 'x' where id < 3 returning *
update vw set u = u || id, d = 7 where d > 2 returning vw, vw.u, tableoid::regclass
delete from vw where id = 1
create trigger vd instead of delete on vw for each row execute function by_view()
delete from vw where id = 1 returning *
delete from vw using base b where b.id = vw.id and b.id = 2 returning vw.*, b.v
update vw set u = 'joined' from generate_series(1, 3) g where g = vw.id returning g, vw.*
create trigger vsb before insert or update or delete on vw execute function note()
create trigger vsa after insert or update or delete on vw execute function note()
insert into vw select g, 'n' || g from generate_series(5, 7) g
update vw set u = 'z' where id = 6
delete from vw where id = 99
table base
create view vw2 as select id, u from vw where id > 5
insert into vw2 values (8, 'eight') returning *
update vw2 set u = 'w2' returning *
delete from vw2 where id = 8 returning *
with w as (delete from vw where id = 7 returning *) select * from w
explain (costs off) update vw set u = 'x' where id = 5
explain (analyze, costs off, timing off, summary off) insert into vw values (11, 'k')
insert into vw values (12, 'x') on conflict do nothing
select table_name, is_insertable_into, is_trigger_updatable, is_trigger_deletable, is_trigger_insertable_into from information_schema.views where table_schema = 'triggers_fire' order by 1
select pg_relation_is_updatable('vw', false), pg_relation_is_updatable('vw', true), pg_relation_is_updatable('vw2', true)
drop view vw cascade
-- changes of a table with triggers
create table t(id int primary key, v int, w text)
create function args() returns trigger language plpgsql as $$ begin new.w := tg_argv[0] || coalesce(tg_argv[1],'-') || tg_nargs || array_lower(tg_argv,1); return new; end $$
create trigger f before insert or update on t for each row execute function args('a''b', 2)
insert into t values (1, 1, null) returning *
create trigger d after update on t for each row when (old.* is distinct from new.*) execute function note('x')
alter table t add column z int default 4
update t set v = v; update t set z = 5
alter table t drop column v
update t set z = 6 returning *
insert into t values (5, 'u', 8) returning *
insert into t values (5, 'u', 8) on conflict (id) do update set z = t.z + 1 returning *
alter table t alter column z type bigint
update t set z = 7 where id = 5 returning *
create function alters() returns trigger language plpgsql as $$ begin execute 'alter table t add column q int'; return null; end $$
create trigger g after insert on t for each row execute function alters()
insert into t values (6)
create or replace function alters() returns trigger language plpgsql as $$ begin execute 'truncate t'; return null; end $$
insert into t values (6)
drop table t
-- prepared statements
create table t(id int, v int)
prepare ins(int) as insert into t values ($1, $1)
execute ins(1)
create trigger n before insert on t for each row execute function note()
execute ins(2)
alter table t disable trigger n
execute ins(3)
drop trigger n on t
execute ins(4)
select id from t order by id
-- COPY
create trigger n before insert on t for each row when (new.id > 2) execute function note()
create trigger a after insert on t for each row execute function note()
create trigger s after insert on t execute function note()
copy t from program 'echo 21; echo 22' with (format csv, delimiter ';')
copy t(id) from program 'seq 1 4'
drop table t
-- SECURITY DEFINER and settings
create table t(id int); create role trg_fire_role; grant all on schema triggers_fire to trg_fire_role
create function who() returns trigger language plpgsql security definer set work_mem = '1MB' as $$ begin raise notice '% %', current_user = session_user, current_setting('work_mem'); return new; end $$
create trigger w before insert on t for each row execute function who()
insert into t values (1)
grant insert on t to trg_fire_role
revoke all on function who() from public
set role trg_fire_role
insert into t values (2)
reset role
drop owned by trg_fire_role; drop role trg_fire_role
drop table t
