-- Event triggers: definitions, when they fire, and what their functions see.
CREATE SCHEMA event_triggers; SET search_path = event_triggers
create function note() returns event_trigger language plpgsql as $$ begin raise notice '% %', tg_event, tg_tag; end $$
create function plain() returns int language sql as 'select 1'
create function args(a int) returns event_trigger language plpgsql as 'begin end'
create function insql() returns event_trigger language sql as 'select 1'
create function returns_value() returns event_trigger language plpgsql as 'begin return 1; end'
select note()
-- checks of CREATE EVENT TRIGGER
create event trigger et on [[nosuch¦ddl_command_start¦"DDL_COMMAND_START"]] execute function plain()
create event trigger et on ddl_command_start execute function nosuch()
create event trigger et on ddl_command_start when food in ('x') execute function note()
create event trigger et on ddl_command_end when tag in ('create table') and tag in ('drop table') execute function note()
create event trigger et on [[ddl_command_start¦sql_drop¦table_rewrite]] when tag in ([['sandwich'¦'create table', 'create skunk'¦'DROP EVENT TRIGGER'¦'create role'¦'create database'¦'insert'¦'drop owned'¦'alter table'¦'Alter Type', 'ALTER MATERIALIZED VIEW']]) execute function note(); select evtname, evtevent, evtenabled, evttags, evtfoid::regproc from pg_event_trigger where evtname = 'et'; drop event trigger if exists et
create event trigger st on ddl_command_start execute function note()
create event trigger st on ddl_command_end execute function note()
create event trigger en on ddl_command_end execute procedure note()
create event trigger dr on sql_drop execute function note()
create event trigger tags on ddl_command_end when tag in ('create table', 'comment') execute function note()
comment on event trigger st is 'text'; select obj_description(oid, 'pg_event_trigger') from pg_event_trigger where evtname = 'st'
-- when they fire
create table t(a int primary key, b text)
create table if not exists t(a int)
create table t(a int)
insert into t values (1, 'x')
truncate t
alter table t add column c int
create index ti on t(b)
create view v as select a from t
create or replace view v as select a from t
create materialized view mv as select a from t
refresh materialized view mv
create sequence s; alter sequence s restart
create domain d as int; create type e as enum ('a'); alter type e add value 'b'
create function f() returns int language sql as 'select 1'; create or replace function f() returns int language sql as 'select 2'; alter function f() stable
comment on table t is 'x'
grant select on t to public; revoke select on t from public
create table ct as select 1 as a; select 1 as b into ct2
alter table t rename to t2; alter table t2 rename to t; alter table t rename column c to cc; alter index ti rename to ti2
create role event_trigger_role; drop role event_trigger_role
vacuum t; analyze t; reindex table t; cluster t using ti2
do 'begin create table in_do(a int); end'
drop table ct, ct2, in_do
drop table if exists nosuch
drop function f(); drop domain d; drop type e; drop sequence s
begin; create table r(a int); rollback
-- enabling
alter event trigger st disable; alter event trigger nosuch enable; select evtname, evtenabled from pg_event_trigger order by 1
create table x1(a int)
set session_replication_role = replica; create table x2(a int)
alter event trigger st enable replica; alter event trigger en enable always; create table x3(a int)
reset session_replication_role; create table x4(a int)
alter event trigger st rename to en
alter event trigger st rename to st2
create role event_trigger_user; alter event trigger st2 owner to event_trigger_user; alter role event_trigger_user superuser; alter event trigger st2 owner to event_trigger_user; select evtname, evtowner::regrole from pg_event_trigger order by 1
drop role event_trigger_user
alter event trigger st2 owner to current_user; drop role event_trigger_user
drop function note()
drop event trigger st; drop event trigger st2, en; drop event trigger if exists en; drop event trigger dr; drop event trigger tags; drop table x1, x2, x3, x4
select pg_event_trigger_table_rewrite_oid()
select * from pg_event_trigger_ddl_commands()
select * from pg_event_trigger_dropped_objects()
select pg_event_trigger_table_rewrite_reason()
-- what commands have done
create function done() returns event_trigger language plpgsql as $$ declare r record; begin for r in select * from pg_event_trigger_ddl_commands() loop raise notice 'done % | % | % | % | % | %', r.classid::regclass, r.objsubid, r.command_tag, r.object_type, r.schema_name, r.object_identity; end loop; end $$
create function gone() returns event_trigger language plpgsql as $$ declare r record; begin for r in select * from pg_event_trigger_dropped_objects() where schema_name is distinct from 'pg_toast' and object_identity not like '%RI_Constraint%' loop raise notice 'gone % % % % | % | % | % | % | % | %', r.original, r.normal, r.is_temporary, r.objsubid, r.object_type, r.schema_name, r.object_name, r.object_identity, r.address_names, r.address_args; end loop; end $$
create event trigger done on ddl_command_end execute function done()
create event trigger gone on sql_drop execute function gone()
create table one(a serial primary key, b text default 'x' unique, c serial)
create table two(a int check (a > 0) references one default 42, i int generated always as identity)
create index oi on one(b); create unique index on one(c, b)
create schema event_triggers_inner create table i1(a serial primary key) create index i1i on i1(a) create view i2 as select * from i1
alter table two alter a set not null, add column d numeric
alter table two rename d to e; alter table two rename constraint two_a_check to tc; alter table one rename to uno; alter table uno rename to one
alter table two set schema event_triggers_inner; alter table event_triggers_inner.two set schema event_triggers
create function fn(int, text) returns int language sql as 'select 1'; create or replace function fn(int, text) returns int language sql as 'select 2'; comment on function fn(int, text) is 'x'; alter function fn(int, text) rename to fm
create procedure pr(a int) language sql as ''; create aggregate ag(int) (sfunc = int4pl, stype = int)
create type ty as (a int, b text); create type en as enum ('x'); create domain dm as int check (value > 0); alter domain dm drop constraint dm_check
create view vw as select 1 as a; create or replace view vw as select 2 as a; create materialized view mw as select 1 as a; refresh materialized view mw; create table cta as select 1 as a; select 1 as a into sel
create sequence sq owned by one.a; alter sequence sq increment 2
create function trf() returns trigger language plpgsql as 'begin return null; end'; create trigger tr before insert on one execute function trf(); alter trigger tr on one rename to tr2; comment on trigger tr2 on one is 'x'
create statistics sta on a, b from one; comment on column one.b is 'x'; comment on schema event_triggers_inner is 'y'
grant select on one to public; grant usage on schema event_triggers to public; alter default privileges in schema event_triggers grant select on tables to public; alter default privileges in schema event_triggers revoke select on tables from public
create temp table tmp(a int primary key, b int default 1); alter table tmp add column c int; drop table tmp
create cast (ty as text) with inout; drop cast (ty as text)
alter table one drop column b; alter table two alter a drop default; alter table two drop constraint tc; alter table two alter i drop identity
drop trigger tr2 on one; drop function fm(int, text); drop procedure pr(int); drop aggregate ag(int)
drop type ty; drop domain dm; drop type en; drop view vw; drop materialized view mw; drop table cta, sel
drop index if exists oi; drop schema event_triggers_inner cascade
drop table one cascade
drop table two
drop event trigger done; drop event trigger gone
-- errors in functions undo the command
create function refuse() returns event_trigger language plpgsql as $$ begin raise exception 'no % in %', tg_tag, tg_event; end $$
create event trigger refuse on [[ddl_command_start¦ddl_command_end]] when tag in ('CREATE TABLE') execute function refuse(); create table refused(a int); select to_regclass('refused'); drop event trigger refuse
create table kept(a int); create event trigger refuse on sql_drop execute function refuse(); drop table kept; select to_regclass('kept'); drop event trigger refuse; drop table kept
-- rewrites
create function rewrites() returns event_trigger language plpgsql as $$ begin raise notice '% % is rewritten: %', tg_tag, pg_event_trigger_table_rewrite_oid()::regclass, pg_event_trigger_table_rewrite_reason(); end $$
create event trigger rewrites on table_rewrite execute function rewrites()
create table rw(id serial primary key, f float, ts timestamptz); insert into rw(f) values (1.5)
alter table rw alter f type numeric; alter table rw add column z int default 0; alter table rw add column y int default 1, add column x int default 2, alter column f type numeric(10,4)
alter table rw alter f type numeric(12,4); alter table rw add column r float default random(); alter table rw set unlogged; alter table rw set logged; alter table rw add column q serial; alter table rw add column g int generated always as (id + 1) stored
alter table rw alter z set not null; alter table rw alter z type bigint; alter table rw set (fillfactor = 50)
drop event trigger rewrites; drop table rw
select e.evtname, pg_describe_object('pg_event_trigger'::regclass, e.oid, 0), pg_identify_object('pg_event_trigger'::regclass, e.oid, 0) from pg_event_trigger e order by 1
DROP SCHEMA event_triggers CASCADE
