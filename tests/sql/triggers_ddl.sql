-- CREATE TRIGGER and its kin: checks, catalog rows, dependencies, definitions.
CREATE SCHEMA triggers_ddl; SET search_path = triggers_ddl
create table t(a int, b text, c int generated always as (a + 1) stored)
create view v as select a, b from t
create materialized view mv as select 1 as a
create sequence sq
create type ct as (a int)
create function plain() returns int language sql as 'select 1'
-- relations
create trigger g [[before¦after¦instead of]] [[insert¦truncate¦update of a]] on [[t¦v]] for each [[row¦statement]] execute function suppress_redundant_updates_trigger(); drop trigger g on [[t¦v]]
create trigger g before insert on [[mv¦sq¦ct¦nosuch¦nosuch.t¦pg_class¦information_schema.tables¦pg_catalog.pg_tables]] execute function suppress_redundant_updates_trigger()
create trigger g instead of insert on v for each row when (true) execute function suppress_redundant_updates_trigger()
create trigger g instead of update of a on v for each row execute function suppress_redundant_updates_trigger()
create trigger g before delete or truncate on t for each row execute function suppress_redundant_updates_trigger()
create constraint trigger g [[before¦after]] insert on [[t¦v]] for each [[row¦statement]] execute function suppress_redundant_updates_trigger(); drop trigger g on t
create constraint trigger g after insert on t [[not deferrable initially deferred¦deferrable not deferrable¦initially deferred¦deferrable]] for each row execute function suppress_redundant_updates_trigger(); select tgdeferrable, tginitdeferred from pg_trigger where tgname = 'g'; drop trigger g on t
create trigger g after insert on t referencing [[old table as o¦new table as n new table as m¦new row as n¦old row o¦new table n old table n]] execute function suppress_redundant_updates_trigger()
create trigger g after update on t referencing [[new table as n old table as n¦old table as o old table as p]] execute function suppress_redundant_updates_trigger()
create trigger g [[before insert¦after truncate¦after insert or update¦after delete¦after insert or truncate]] on t referencing new table as n execute function suppress_redundant_updates_trigger()
create trigger g after update of a on t referencing new table as n execute function suppress_redundant_updates_trigger()
create trigger g [[after insert¦instead of insert]] on v referencing new table as n [[for each row¦for each statement]] execute function suppress_redundant_updates_trigger()
-- functions
create trigger g before update on t for each row execute [[function¦procedure]] [[nosuch¦plain¦nosuch.f¦triggers_ddl.plain¦pg_catalog.suppress_redundant_updates_trigger¦abs¦count¦lower]]()
drop trigger g on t
create trigger g before update on t for each row execute function suppress_redundant_updates_trigger([[1¦'a', 'b'¦x, 1.5, 'it''s', 0x10¦'a\b'¦-1]]); select tgnargs, tgargs, pg_get_triggerdef(oid) from pg_trigger where tgname = 'g'; drop trigger g on t
-- conditions
create trigger g [[before¦after]] [[insert¦update¦delete¦insert or update¦update or delete]] on t for each [[row¦statement]] when ([[old.a > 1¦new.a > 1¦old.* is distinct from new.*¦new.c > 1¦new.ctid is not null¦true¦new is null]]) execute function suppress_redundant_updates_trigger(); select pg_get_triggerdef(oid), pg_get_triggerdef(oid, true), pg_get_triggerdef(oid, false) from pg_trigger where tgname = 'g'; drop trigger if exists g on t
create trigger g before update on t for each row when ([[a > 1¦new.nosuch > 1¦other.a > 1¦new.a¦1¦'yes'¦'maybe'¦null¦(select true)¦exists (select 1)¦count(*) > 1¦generate_series(1, 2) > 1¦rank() over () > 1¦$1¦new.tableoid = 1¦old.b = new.b collate "C"¦new.b ~ '^a' and old.a between 1 and 2 or not (new.a in (1, 2, 3))¦t.a = 1]]) execute function suppress_redundant_updates_trigger(); select pg_get_triggerdef(oid), pg_get_triggerdef(oid, true) from pg_trigger where tgname = 'g'; drop trigger if exists g on t
-- columns
create trigger g before update of [[a¦b, a¦nosuch¦a, a¦c¦ctid]] or insert on t execute function suppress_redundant_updates_trigger(); select tgtype, tgattr, pg_get_triggerdef(oid) from pg_trigger where tgname = 'g'; drop trigger if exists g on t
-- names
create trigger "G h" before update on t execute function suppress_redundant_updates_trigger()
create trigger "G h" before update on t execute function suppress_redundant_updates_trigger()
create or replace trigger "G h" after delete on t for each row execute function suppress_redundant_updates_trigger('x')
select tgname, tgtype, tgenabled, tgisinternal, tgconstraint, tgnargs, tgattr, tgargs, tgqual, pg_get_triggerdef(oid) from pg_trigger where tgrelid = 't'::regclass
create constraint trigger "G h" after delete on t for each row execute function suppress_redundant_updates_trigger()
create constraint trigger cg after delete on t for each row execute function suppress_redundant_updates_trigger()
create or replace trigger cg after delete on t for each row execute function suppress_redundant_updates_trigger()
create constraint trigger cg after delete on t for each row execute function suppress_redundant_updates_trigger()
select conname, contype, condeferrable, condeferred, convalidated, conislocal, coninhcount, connoinherit, conkey, pg_get_constraintdef(oid) from pg_constraint where conrelid = 't'::regclass
select relhastriggers from pg_class where oid = 't'::regclass
create table other(x int primary key)
create constraint trigger cf after insert or update on t from other deferrable initially deferred for each row when (new.a > 0) execute function suppress_redundant_updates_trigger('a', 'b')
select tgname, tgconstrrelid::regclass, pg_get_triggerdef(oid), pg_get_triggerdef(oid, true) from pg_trigger where tgrelid = 't'::regclass order by 1
select classid::regclass, pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype from pg_depend where classid = 'pg_trigger'::regclass and objid in (select oid from pg_trigger where tgrelid = 't'::regclass) or refclassid = 'pg_trigger'::regclass order by 2, 3, 4
-- ALTER and COMMENT
alter trigger nosuch on t rename to x
alter trigger cg on t rename to cf
alter trigger cg on t rename to cg
alter trigger cg on t rename to cg2
alter trigger cg2 on v rename to cg3
alter trigger cg2 on [[mv¦sq¦pg_class¦nosuch]] rename to cg3
select conname from pg_constraint where conrelid = 't'::regclass
comment on trigger cg2 on t is 'a comment'
comment on trigger nosuch on t is 'a comment'
select obj_description(oid, 'pg_trigger'), pg_describe_object('pg_trigger'::regclass, oid, 0) from pg_trigger where tgrelid = 't'::regclass order by 2
select type, schema, name, identity from pg_trigger g, pg_identify_object('pg_trigger'::regclass, g.oid, 0) where tgrelid = 't'::regclass order by 4
alter table t [[disable¦enable¦enable replica¦enable always]] trigger [[cg2¦nosuch¦"G h"]]; select tgname, tgenabled from pg_trigger where tgrelid = 't'::regclass order by 1
alter table t [[disable¦enable]] trigger [[all¦user]]; select tgname, tgenabled from pg_trigger where tgrelid = 't'::regclass order by 1
set constraints [[cg¦cf¦cg2¦nosuch¦all]] deferred
select trigger_schema, trigger_name, event_manipulation, event_object_table, action_order, action_condition, action_statement, action_orientation, action_timing from information_schema.triggers where event_object_schema = 'triggers_ddl' order by 2, 3
select trigger_name, event_object_column from information_schema.triggered_update_columns where event_object_schema = 'triggers_ddl' order by 1, 2
-- columns of triggers
create trigger oc before update of b on t for each row when (old.a <> new.a) execute function suppress_redundant_updates_trigger()
alter table t drop column b
alter table t drop column a
alter table t alter column b type varchar
alter table t alter column a type bigint
alter table t rename column b to bb
select pg_get_triggerdef(oid) from pg_trigger where tgname = 'oc'
alter table t drop constraint cf
select tgname from pg_trigger where tgrelid = 't'::regclass order by 1
drop view v
alter table t drop column bb cascade
select tgname from pg_trigger where tgrelid = 't'::regclass order by 1
-- tables like another have no triggers
create table t2 (like t including all)
select count(*) from pg_trigger where tgrelid = 't2'::regclass
-- DROP
drop trigger nosuch on t
drop trigger if exists nosuch on t
drop trigger cg2 on nosuch
drop trigger if exists cg2 on nosuch
drop trigger if exists cg2 on nosuch.t
drop trigger cg2 on t, "G h" on t
drop trigger cg2 on t
select conname from pg_constraint where conrelid = 't'::regclass
drop trigger "G h" on t [[restrict¦cascade]]
create table fk(x int references other)
select 1 from pg_trigger where tgrelid = 'fk'::regclass and not tgisinternal
create trigger dr before insert on t execute function suppress_redundant_updates_trigger()
drop table t
select count(*) from pg_trigger where tgname = 'dr'
-- privileges
create table pt(a int)
grant usage on schema triggers_ddl to public
create role trg_role
set role trg_role
create trigger p before insert on triggers_ddl.pt execute function suppress_redundant_updates_trigger()
reset role
grant trigger on pt to trg_role
set role trg_role
create trigger p before insert on triggers_ddl.pt execute function suppress_redundant_updates_trigger()
drop trigger p on triggers_ddl.pt
alter trigger p on triggers_ddl.pt rename to q
alter table triggers_ddl.pt disable trigger p
comment on trigger p on triggers_ddl.pt is 'x'
create constraint trigger p2 after insert on triggers_ddl.pt from triggers_ddl.other for each row execute function suppress_redundant_updates_trigger()
reset role
drop owned by trg_role; drop role trg_role
drop table pt
create view ev as select 1 as a
alter table [[ev¦sq¦mv]] [[enable¦disable¦enable always¦enable replica]] [[trigger x¦rule x]]
alter table [[ev¦sq]] [[enable¦disable]] trigger [[all¦user]]
-- the function
create table rd(a int, b text, c int generated always as (a + 1) stored)
insert into rd values (1, 'x'), (2, null)
create trigger s before update on rd for each row execute function suppress_redundant_updates_trigger()
update rd set a = a
update rd set a = 1
update rd set b = null returning *
update rd set b = 'y' where a = 9
table rd
explain (analyze, costs off, timing off, summary off) update rd set a = a + 1
select a, b, c from rd
insert into rd values (7, 'n') returning *
delete from rd where a = 3 returning a
alter table rd disable trigger s
update rd set a = a
alter table rd enable replica trigger s
update rd set a = a
set session_replication_role = replica
update rd set a = a
reset session_replication_role
alter table rd enable always trigger s
update rd set a = a
drop trigger s on rd
create trigger s [[before insert or delete¦after update¦before update]] on rd for each [[row¦statement]] execute function suppress_redundant_updates_trigger(); insert into rd values (8); update rd set a = a where b is null; delete from rd where a = 8; drop trigger s on rd
create trigger s before update on rd for each row when (old.b is not null and new.a < 100) execute function suppress_redundant_updates_trigger()
update rd set a = a
update rd set a = a where b is not null
drop trigger s on rd
create trigger s before update of b on rd for each row execute function suppress_redundant_updates_trigger()
update rd set a = a
update rd set b = b
update rd set a = a, b = b
drop trigger s on rd
create trigger s before update of c on rd for each row execute function suppress_redundant_updates_trigger()
update rd set a = a
update rd set b = b
drop trigger s on rd
select suppress_redundant_updates_trigger()
select pg_trigger_depth()
