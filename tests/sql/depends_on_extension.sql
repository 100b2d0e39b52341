-- ALTER … DEPENDS ON EXTENSION.
create schema depends
create function depends.f(int) returns int language sql as 'select 1'
create procedure depends.p() language sql as ''
create aggregate depends.ag(int) (sfunc = int4pl, stype = int)
create table depends.t(i int primary key, j int)
create index ti on depends.t(j)
create function depends.tf() returns trigger language plpgsql as 'begin return new; end'
create trigger tg before insert on depends.t for each row execute function depends.tf()
create materialized view depends.mv as select 1 as a
create view depends.v as select 1 as a
create extension hstore
create extension citext
alter function depends.f(int) depends on extension hstore
alter function depends.f depends on extension hstore
alter procedure depends.p depends on extension hstore
alter procedure depends.p() no depends on extension hstore
alter procedure depends.p() depends on extension citext
alter routine depends.p() depends on extension hstore
alter routine depends.f no depends on extension citext
alter trigger tg on depends.t depends on extension hstore
alter materialized view depends.mv depends on extension hstore
alter index depends.ti depends on extension hstore
alter index depends.t_pkey depends on extension hstore
alter function depends.nosuch depends on extension hstore
alter function depends.f depends on extension nosuch
alter trigger nosuch on depends.t depends on extension hstore
alter trigger tg on depends.nosuch depends on extension hstore
alter trigger tg on depends.v depends on extension hstore
alter index depends.nosuch depends on extension hstore
alter index depends.t depends on extension hstore
alter materialized view depends.t depends on extension hstore
alter materialized view depends.v depends on extension hstore
alter table depends.t depends on extension hstore
alter view depends.v depends on extension hstore
alter sequence depends.s depends on extension hstore
alter aggregate depends.ag(int) depends on extension hstore
alter function depends.ag(int) depends on extension hstore
alter routine depends.ag(int) depends on extension hstore
alter function depends.p() depends on extension hstore
alter procedure depends.f(int) depends on extension hstore
alter function hstore_to_json(hstore) depends on extension hstore
select classid::regclass, refclassid::regclass, deptype, pg_describe_object(classid, objid, objsubid) o, pg_describe_object(refclassid, refobjid, refobjsubid) r from pg_depend where deptype = 'x' order by o, r
create role rd
grant all on schema depends to rd
set role rd
alter function depends.f(int) depends on extension hstore
alter function depends.f(int) no depends on extension hstore
alter index depends.ti no depends on extension hstore
alter trigger tg on depends.t no depends on extension hstore
alter materialized view depends.mv no depends on extension hstore
reset role
drop extension hstore
drop extension hstore cascade
select proname from pg_proc where pronamespace = 'depends'::regnamespace order by 1
select relname from pg_class where relnamespace = 'depends'::regnamespace order by 1
select tgname from pg_trigger where tgrelid = 'depends.t'::regclass order by 1
select * from depends.mv
create extension hstore
alter index depends.t_pkey no depends on extension hstore
alter index depends.t_pkey no depends on extension hstore
alter function depends.f(int) depends on extension hstore
alter procedure depends.p() depends on extension hstore
create table depends.pt(i int) partition by range(i)
create table depends.pt1 partition of depends.pt for values from (0) to (1)
create index pti on depends.pt(i)
alter index depends.pti depends on extension hstore
alter index depends.pt1_i_idx depends on extension hstore
create trigger ptg before insert on depends.pt for each row execute function depends.tf()
alter trigger ptg on depends.pt depends on extension hstore
alter trigger ptg on depends.pt1 depends on extension hstore
select classid::regclass, refclassid::regclass, deptype, pg_describe_object(classid, objid, objsubid) o, pg_describe_object(refclassid, refobjid, refobjsubid) r from pg_depend where deptype = 'x' order by o, r
alter function depends.f(int) no depends on extension hstore
do $$ begin alter function depends.f(int) depends on extension citext; end $$
create event trigger et on ddl_command_end execute function depends.nosuch()
create function depends.et() returns event_trigger language plpgsql as $$ declare r record; begin for r in select * from pg_event_trigger_ddl_commands() loop raise notice '% % % %', r.command_tag, r.object_type, r.object_identity, r.in_extension; end loop; end $$
create event trigger et on ddl_command_end execute function depends.et()
alter function depends.f(int) depends on extension hstore
alter index depends.pti no depends on extension hstore
alter trigger ptg on depends.pt no depends on extension hstore
alter materialized view depends.mv depends on extension hstore
drop event trigger et
drop extension citext
drop schema depends cascade
drop role rd
