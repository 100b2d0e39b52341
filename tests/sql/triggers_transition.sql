-- Transition tables of AFTER triggers.
CREATE SCHEMA triggers_transition; SET search_path = triggers_transition
create table t(id int, b text, c int default 7)
create table log(n serial, line text)
create function shown() returns trigger language plpgsql as 'declare r record; s text := TG_NAME || '' '' || TG_OP || '':''; begin if TG_OP <> ''INSERT'' then for r in select * from o order by id loop s := s || '' -'' || r; end loop; end if; if TG_OP <> ''DELETE'' then for r in select * from n order by id loop s := s || '' +'' || r; end loop; end if; insert into log(line) values (s); return null; end'
create trigger si after insert on t referencing new table as n for each statement execute function shown()
create trigger su after update on t referencing new table as n old table as o for each statement execute function shown()
create trigger sd after delete on t referencing old table as o for each statement execute function shown()
select tgname, tgoldtable, tgnewtable, pg_get_triggerdef(oid) from pg_trigger where tgrelid = 't'::regclass order by 1
insert into t values (1, 'a'), (2, 'b'), (3, 'c')
insert into t select g, 'x' || g from generate_series(4, 6) g
insert into t select 1 where false
update t set b = b || '!' where id < 3
update t set c = 8 where id = 100
delete from t where id in (1, 5)
with i as (insert into t values (10, 'w') returning *), d as (delete from t where id = 2 returning *), u as (update t set c = 0 where id = 3) select count(*) from i
select line from log order by n
truncate log
-- COPY and ON CONFLICT
alter table t add primary key (id)
insert into t values (3, 'three'), (20, 'twenty') on conflict (id) do update set b = excluded.b
insert into t values (3, 'again'), (21, 'new') on conflict do nothing
select line from log order by n
truncate log
-- for each row
create trigger ri after insert on t referencing new table as n for each row execute function shown()
create trigger ru after update on t referencing new table as n old table as o for each row when (old.id > 3) execute function shown()
insert into t values (30, 'x'), (31, 'y')
update t set c = c + 1 where id in (3, 30, 31)
select line from log order by n
truncate log
drop trigger ri on t; drop trigger ru on t
-- dropped and added columns
alter table t drop column b; alter table t add column d numeric default 1.5
insert into t values (40, 1, 2.5)
update t set d = 9 where id = 40
create function whole() returns trigger language plpgsql as 'begin insert into log(line) select ''row '' || (x)::text || '' '' || x.id from n x order by id; return null; end'
create trigger w after update on t referencing new table as n for each statement execute function whole()
update t set d = 3 where id >= 30
select line from log order by n
truncate log
drop trigger w on t
-- other queries
create function queries() returns trigger language plpgsql as 'declare k int; l text; begin select count(*), string_agg(n1.id::text, '','' order by n1.id) into k, l from n n1 join n n2 using (id); insert into log(line) values (''join '' || k || '' '' || coalesce(l, ''none'')); execute ''select sum(id) from n'' into k; insert into log(line) values (''dynamic '' || coalesce(k, -1)); with n as (select 1 as id) select count(*) into k from n; insert into log(line) values (''with '' || k); create temp table if not exists copied as select * from n; select count(*) into k from copied; drop table copied; insert into log(line) values (''created '' || k); k := (select max(id) from n); insert into log(line) values (''value '' || coalesce(k, -1)); return null; end'
create trigger q after insert on t referencing new table as n for each statement execute function queries()
insert into t(id) values (50), (51); insert into t(id) select 60 + g from generate_series(1, 3) g; insert into t(id) select 1 where false
select line from log order by n
truncate log
drop trigger q on t
create function wrong() returns trigger language plpgsql as 'begin [[insert into n values (1)¦update n set id = 1¦delete from n¦select * from n for update¦perform ctid from n¦perform nosuch from n¦perform * from triggers_transition.n¦create view vn as select * from n¦truncate n¦lock table n¦perform outside()]]; return null; end'; create function outside() returns int language plpgsql as 'begin return (select count(*) from n); end'; create trigger x after insert on t referencing new table as n for each statement execute function wrong(); insert into t(id) values (70 + [[1¦2¦3]]); drop trigger x on t; drop function wrong(); drop function outside()
select * from n
-- a transition table hides a table
create table n(k int); insert into n values (99)
create function hides() returns trigger language plpgsql as 'begin insert into log(line) select ''hidden '' || n.* from n; insert into log(line) select ''real '' || n.* from triggers_transition.n; return null; end'
create trigger h after delete on t referencing old table as n for each statement execute function hides()
delete from t where id = 50
select line from log order by n
truncate log
drop trigger h on t; drop table n
-- one function for several tables, with other names
create table other(x text, id int)
create trigger oi after insert on other referencing new table as n for each statement execute function shown()
insert into other values ('p', 1), ('q', 2); insert into t(id) values (80); insert into other values ('r', 3)
select line from log order by n
truncate log
-- nested statements and exceptions
create function nested() returns trigger language plpgsql as 'begin begin insert into other select ''n'', id from n; raise exception ''undone''; exception when others then insert into log(line) values (sqlerrm); end; insert into other select ''m'', id + 1 from n; insert into log(line) select ''still '' || count(*) from n; return null; end'
create trigger ne after insert on t referencing new table as n for each statement execute function nested()
insert into t(id) values (90), (91)
select line from log order by n
truncate log
drop trigger ne on t
-- referential actions
create table parent(id int primary key); create table child(id int, p int references parent on delete cascade on update cascade)
create trigger cd after delete on child referencing old table as o for each statement execute function shown()
create trigger cu after update on child referencing new table as n old table as o for each statement execute function shown()
insert into parent values (1), (2), (3); insert into child select g, 1 + g % 3 from generate_series(1, 6) g
delete from parent where id < 3
update parent set id = 33
select line from log order by n
truncate log
-- a BEFORE trigger changes the rows, a generated column is computed
create table g(id int, v int, w int generated always as (v * 2) stored)
create function before_g() returns trigger language plpgsql as 'begin if new.id = 3 then return null; end if; new.v := new.v + 100; return new; end'
create trigger b before insert or update on g for each row execute function before_g()
create trigger a after insert on g referencing new table as n for each statement execute function shown()
create trigger u after update on g referencing new table as n old table as o for each statement execute function shown()
insert into g values (1, 1), (2, 2), (3, 3); update g set v = 0
select line from log order by n
truncate log
-- large tables leave memory
set work_mem = 64; create function counted() returns trigger language plpgsql as 'declare k bigint; m bigint; begin select count(*), sum(length(b)) into k, m from n; insert into log(line) values (k || '' '' || m); select count(*) into k from n a join o using (id); insert into log(line) values (''joined '' || k); return null; end'
create table big(id int, b text); create function counted_insert() returns trigger language plpgsql as 'begin insert into log(line) select count(*) || '' '' || sum(length(b)) from n; return null; end'
create trigger bi after insert on big referencing new table as n for each statement execute function counted_insert()
create trigger bu after update on big referencing new table as n old table as o for each statement execute function counted()
insert into big select g, repeat('x', g % 100) from generate_series(1, 20000) g; update big set b = b || 'y'; insert into big select -g, repeat('z', 50000) from generate_series(1, 30) g
select line from log order by n
reset work_mem
-- definitions, renaming, replacing
alter trigger si on t rename to si2; create or replace trigger su after update on t referencing new table as nn for each statement execute function shown()
select pg_get_triggerdef(oid), pg_get_triggerdef(oid, true) from pg_trigger where tgrelid = 't'::regclass order by tgname
update t set c = 1 where id = 80
alter table t disable trigger all; insert into t(id) values (200); alter table t enable trigger all
create function explained() returns trigger language plpgsql as 'declare r text; begin for r in explain (costs off) select x.id from n x where x.id > 1 loop insert into log(line) values (r); end loop; return null; end'
truncate log; create trigger e after insert on t referencing new table as n for each statement execute function explained(); insert into t(id) values (201); select line from log order by n
DROP SCHEMA triggers_transition CASCADE
