-- Statements of PostgreSQL's regression suite: truncation of partitions with foreign keys, tablespaces of partitioned tables, owners of
-- partitions, expressions of indexes, hashed sub-selects, caches of nested loops.
CREATE SCHEMA suite8; SET search_path = suite8
create table prim (a int primary key); create table part (a int references prim) partition by list (a); create table part_1 partition of part for values in (1); create table part_d partition of part default
create table prim_parts (a int primary key) partition by range (a); create table prim_parts_1 partition of prim_parts for values from (1) to (5); create table prim_parts_2 partition of prim_parts for values from (5) to (9); create table of_parts (a int references prim_parts)
insert into prim values (1), (2); insert into part values (1), (2); insert into prim_parts values (1), (6); insert into of_parts values (1), (6)
truncate prim
truncate prim, part
insert into prim values (1), (2); insert into part values (1), (2)
truncate prim cascade
select count(*) from part
truncate prim_parts_1
truncate prim_parts_1 cascade
select * from of_parts
select * from prim_parts
insert into of_parts values (6)
truncate of_parts, prim_parts
create table empty (a int) partition by list (a); create table empty_1 partition of empty for values in (1); insert into empty values (1), (1); analyze empty
select reltuples, relhassubclass from pg_class where oid = 'empty'::regclass
drop table empty_1
analyze empty
select reltuples, relhassubclass from pg_class where oid = 'empty'::regclass
create table parent (a int); create table child () inherits (parent); analyze parent; drop table child; analyze parent
select reltuples, relhassubclass from pg_class where oid = 'parent'::regclass
create role suite8_owner; create role suite8_other; grant all on schema suite8 to suite8_owner, suite8_other
create table owned (a int) partition by list (a); create table owned_1 partition of owned for values in (1); create table owned_2 partition of owned for values in (2); alter table owned_2 owner to suite8_other
set role suite8_other
[[vacuum¦analyze¦vacuum (analyze)]] owned
[[vacuum¦analyze]] owned_1
reset role
create function of_owner(int) returns int language plpgsql immutable as $$ begin assert current_user = 'suite8_owner', format('called by %s', current_user); return $1; end $$
create table indexed (a int); alter table indexed owner to suite8_owner; insert into indexed values (1), (2)
create index indexed_idx on indexed ((of_owner(a) + of_owner(0))) where of_owner(a + 10) > of_owner(10)
reindex table indexed
create index on indexed (of_owner(1))
create function drop_it() returns bool language plpgsql as $$ begin execute 'drop index if exists suite8.dropped_idx'; return true; end $$
create materialized view dropped as select 1 as i where drop_it()
create unique index dropped_idx on dropped (i)
refresh materialized view concurrently dropped
create function one(int) returns int immutable language sql as 'select 1'
create materialized view constant as select 1 as c
create unique index constant_idx on constant (c) where one(1) > 0
refresh materialized view concurrently constant
drop index constant_idx; create unique index on constant (c) where c > 0
refresh materialized view concurrently constant
create table texts (c text); insert into texts values ('123'), ('456'), (null)
create table numbers (q int8); insert into numbers values (123), (124), (null)
create function eq(int8, text) returns bool language sql as 'select $1::text = $2 and $1::text = $2'; create operator = (procedure = eq, leftarg = int8, rightarg = text)
select q, q in (select c from texts), q not in (select c from texts where c is not null) from numbers order by q
create or replace function eq(int8, text) returns bool language sql as 'select $2 = $1::text'
select q, q in (select c from texts) from numbers order by q
create table cached (a int primary key, b int); insert into cached select i, i % 20 from generate_series(0, 9999) i; analyze cached
set enable_hashjoin = off; set enable_mergejoin = off; set enable_bitmapscan = off; set max_parallel_workers_per_gather = 0
create function uses(query text) returns setof text language plpgsql as $$ declare line text; begin for line in execute 'explain (analyze, timing off, costs off, summary off, buffers off) ' || query loop if line ~ 'Cache|Hits|loops' then return next regexp_replace(line, 'Usage: .*', 'Usage'); end if; end loop; end $$
select uses('select count(*), avg(x.a) from cached x join cached y on x.a = y.b where y.a < 1000')
select uses('select count(*), avg(x.a) from cached x join cached y on x.a = y.b + 1 where y.a < 1000')
select count(*), sum(x.a) from cached x join cached y on x.a = y.b where y.a < 1000
select count(*), sum(x.a) from cached x join cached y on x.a = y.b and x.b + y.a > 100 where y.a < 1000
select count(*), sum(x.a) from cached y left join cached x on x.a = y.b * 10 and x.b < 10 where y.a < 1000
reset enable_hashjoin; reset enable_mergejoin; reset enable_bitmapscan
create table secrets (a int); insert into secrets select generate_series(1, 100); analyze secrets
create function leak(int, int) returns bool language plpgsql as $$ begin raise notice 'leak % %', $1, $2; return $1 > $2; end $$ cost 0.0001
create operator >>> (procedure = leak, leftarg = int, rightarg = int, restrict = scalargtsel)
create view seen as select * from secrets where false; create view barrier with (security_barrier) as select * from secrets where false; grant select on seen, barrier to suite8_other
set role suite8_other
explain (costs off) select * from secrets where a >>> 99
select * from secrets where a >>> 99
select * from barrier where a >>> 99
reset role
set default_tablespace = pg_default
create table placed (a int primary key) partition by list (a)
create table placed (a int) partition by list (a) tablespace pg_default
set default_tablespace = ''
create table placed (a int primary key using index tablespace pg_default) partition by list (a)
create table placed (a int) partition by list (a)
create index on placed (a) tablespace pg_default
reset default_tablespace
drop schema suite8 cascade
drop role suite8_owner, suite8_other
create schema suite8b; set search_path = suite8b
create table base (a int, b int); create view view1 as select a from base where a < b
create function of_view1() returns trigger language plpgsql as $$ begin if tg_op = 'INSERT' then insert into base values (new.a, 10); return new; elsif tg_op = 'UPDATE' then update base set a = new.a where a = old.a; return new; else delete from base where a = old.a; return old; end if; end $$
create trigger view1_trig instead of insert or update or delete on view1 for each row execute function of_view1()
create view view2 as select * from view1 where a > 0 with local check option
insert into view2 values (-5)
insert into view2 values [[(5)¦(50)]] returning *
update view2 set a = a - 10
alter view view2 set (check_option = cascaded)
insert into view2 values (100)
update view2 set a = 200 where a = 5 returning *
select * from base order by a
create function snoop(anyelement) returns bool language plpgsql cost 0.000001 as $$ begin raise notice 'snooped: %', $1; return true; end $$
create table people (person text, visibility text, n numeric); insert into people values ('Tom', 'public', 1), ('Dick', 'private', 2), ('Harry', 'public', 3)
create view public_people with (security_barrier) as select person, n from people where visibility = 'public'
create view odd_people with (security_barrier) as select person from public_people where n > 1
update public_people set person = person where snoop(person)
update odd_people set person = person where snoop(person)
delete from public_people where not snoop(person)
explain (costs off) update [[public_people¦odd_people]] set person = person where snoop(person) and person = 'Tom'
create table more_people () inherits (people); insert into more_people values ('Ann', 'private', 4), ('Bob', 'public', 5)
update odd_people set person = person where snoop(person)
delete from odd_people where snoop(person) returning *
create function unnested(int[]) returns setof int language sql as 'select unnest($1)'; create operator |@| (procedure = unnested, rightarg = int[])
create operator |@@| (procedure = pg_catalog.unnest, rightarg = anyarray)
select |@@| array[1, 2, 3]
select |@| array[1, 2, 3], |@@| array['a', 'b']
select x, |@@| array[x, x + 1] from generate_series(1, 2) x
drop schema suite8b cascade
create schema suite8c; set search_path = suite8c
create access method heap2 type table handler heap_tableam_handler
create table x (a int) using [[btree¦nope]]
create table y (a int, b text) using heap2; insert into y values (1, 'one')
set default_table_access_method = 'heap2'
create table z (a int); create table yp (a int) partition by list (a); create table yp1 partition of yp for values in (1); create materialized view mv using heap as select 1 as a; create table ct as select 1 as a; create table ct1 using heap as select 1 as a
reset default_table_access_method
select relname, amname from pg_class c join pg_am a on a.oid = relam where relnamespace = 'suite8c'::regnamespace order by 1
alter table y set access method heap, set access method heap2
alter table yp set access method heap
alter table y set access method btree
alter table y set access method heap
select pg_describe_object(refclassid, refobjid, 0), deptype from pg_depend where objid = 'y'::regclass and classid = 'pg_class'::regclass order by 1
alter table y set access method heap2
select pg_describe_object(refclassid, refobjid, 0), deptype from pg_depend where objid = 'y'::regclass and classid = 'pg_class'::regclass order by 1
select * from y
select amname from pg_class t join pg_class c on t.reltoastrelid = c.oid join pg_am a on a.oid = c.relam where t.relname = 'y'
drop access method heap2
drop access method heap2 cascade
drop schema suite8c cascade
create schema suite8d; set search_path = suite8d
create type shell
alter type shell set (storage = extended)
alter type nope set (storage = extended)
alter type int4 set (storage = extended)
alter type text set (storage = plain)
create type comp as (a int)
alter type [[comp¦_int4]] set (storage = main)
alter type text set ([[storage = bad¦foo = bar¦input = bar¦receive = bad]])
create domain dd as text
alter type dd set (storage = main)
create type own; create function own_in(cstring, oid, int4) returns own language internal immutable strict as 'varcharin'; create function own_out(own) returns cstring language internal immutable strict as 'varcharout'; create function own_send(own) returns bytea language internal stable strict as 'varcharsend'; create function own_recv(internal, oid, int4) returns own language internal stable strict as 'varcharrecv'
create type own (input = own_in, output = own_out, alignment = integer, storage = main); create domain of_own as own
alter type own set (storage = plain)
alter type own set (storage = extended)
alter type own set (send = own_send, receive = own_recv, typmod_in = varchartypmodin, typmod_out = varchartypmodout, analyze = ts_typanalyze, subscript = raw_array_subscript_handler)
select typname, typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript, typstorage from pg_type where typname in ('own', '_own', 'of_own') order by 1
drop function own_send(own)
alter type own set (send = none, analyze = none)
drop function own_send(own)
select typname, typsend, typanalyze from pg_type where typname in ('own', '_own', 'of_own') order by 1
create role suite8_typist; set role suite8_typist
alter type text set ([[storage = main¦send = textsend]])
reset role; drop role suite8_typist; drop schema suite8d cascade
create schema suite8e; set search_path = suite8e
create collation folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
create table words1 (x text); create table words2 (x text); insert into words1 values ('abc'), ('def'); insert into words2 values ('ABC'), ('ghi')
set enable_mergejoin = off
explain (costs off) select * from words1 t1, words2 t2 where t1.x = t2.x collate folded order by 1, 2
reset enable_mergejoin
select * from words1 t1, words2 t2 where t1.x = t2.x collate folded order by 1, 2
create table few (a int, b int); create table many (a int, b int); insert into few select i, i from generate_series(1, 50) i; insert into many select i, i % 100 from generate_series(1, 2000) i
explain (costs off) select * from few join many using (a)
explain (costs off) select * from few full join many using (a)
explain (costs off) select * from many left join few using (a)
analyze few, many
explain (costs off) select * from few join many using (a)
explain (costs off) select * from few full join many using (a)
explain (costs off) select * from many m1 full join many m2 on m1.a = m2.b
explain (costs off) select * from many m1 join many m2 on m1.a = m2.b
explain (costs off) select * from many left join few using (a)
drop schema suite8e cascade
create schema suite8f; set search_path = suite8f
create table renamed (a int primary key)
begin; alter table renamed_pkey rename to renamed_key; select relation::regclass, mode from pg_locks where pid = pg_backend_pid() and relation = 'renamed_key'::regclass; rollback
begin; alter index renamed_pkey rename to renamed_key; select relation::regclass, mode from pg_locks where pid = pg_backend_pid() and relation = 'renamed_key'::regclass; rollback
select '(0,0)'::point in ('(0,0,0,0)'::box, point(0,0))
select 1 in (2, 'x'::text)
create table times (a timestamp, b timestamptz)
create function tell() returns event_trigger language plpgsql as $$ begin raise notice 'rewritten: %', pg_event_trigger_table_rewrite_reason(); end $$; create event trigger tell on table_rewrite execute function tell()
insert into times values ('2020-01-01', '2020-01-01'); set timezone = 'UTC'
alter table times alter a type timestamptz, alter b type timestamp
select * from times
set timezone = '0'
alter table times alter a type timestamp
set timezone = 'Europe/London'
alter table times alter a type timestamptz
drop event trigger tell; reset timezone; drop schema suite8f cascade
create schema suite8g; set search_path = suite8g
create table moved (a int, b int) partition by list (a); create table moved_1 partition of moved for values in (1, 2); create table moved_2 partition of moved for values in (3, 4); insert into moved values (1, 1), (2, 1), (3, 1)
create table sources (a int); insert into sources values (1), (2), (3), (4)
create function nothing() returns trigger language plpgsql as 'begin return null; end'; create trigger t before insert on moved for each row execute function nothing()
update moved set a = a + 1
update moved set a = 1 where a = 2
merge into moved using sources on moved.a = sources.a when matched then update set a = moved.a + 2
select * from moved
drop schema suite8g cascade
create schema suite8h; set search_path = suite8h
select pg_get_object_address([['stone'¦'table'¦'toast table'¦'index column']], '{}', '{}')
select pg_get_object_address('table', '{NULL}', '{}')
create table t (a int primary key, b text default 'x', constraint a_chk check (a > 0)); create view v as select * from t; create index t_b on t (b); create domain d as int constraint d_chk check (value > 0); create function f(int) returns int language sql as 'select $1'; create function tf() returns trigger language plpgsql as 'begin return new; end'; create trigger tr before insert on t for each row execute function tf(); create statistics st on a, b from t; create aggregate ag(int) (sfunc = int4pl, stype = int)
select pg_get_object_address([['table'¦'index'¦'sequence'¦'view'¦'materialized view'¦'foreign table'¦'table column'¦'aggregate'¦'function'¦'procedure'¦'type'¦'cast'¦'table constraint'¦'domain constraint'¦'conversion'¦'operator'¦'operator class'¦'operator family'¦'rule'¦'trigger'¦'policy'¦'transform'¦'statistics object'¦'text search parser']], [['{one}'¦'{suite8h,two}'¦'{one,two,three}']], [['{}'¦'{integer}']])
select pg_get_object_address([['language'¦'schema'¦'role'¦'database'¦'tablespace'¦'foreign-data wrapper'¦'server'¦'extension'¦'event trigger'¦'access method'¦'publication'¦'subscription']], [['{one}'¦'{one,two}']], '{}')
select pg_get_object_address('large object', [['{123}'¦'{123,456}'¦'{blargh}']], '{}')
select (pg_identify_object(o.classid, o.objid, o.objsubid)).* from (values ('table', '{suite8h,t}'::text[], '{}'::text[]), ('index', '{suite8h,t_b}', '{}'), ('view', '{suite8h,v}', '{}'), ('table column', '{suite8h,t,b}', '{}'), ('function', '{suite8h,f}', '{int4}'), ('aggregate', '{suite8h,ag}', '{int4}'), ('type', '{suite8h.d}', '{}'), ('cast', '{int8}', '{int4}'), ('table constraint', '{suite8h,t,a_chk}', '{}'), ('domain constraint', '{suite8h.d}', '{d_chk}'), ('conversion', '{pg_catalog,koi8_r_to_mic}', '{}'), ('language', '{plpgsql}', '{}'), ('operator', '{+}', '{int4,int4}'), ('operator class', '{btree,int4_ops}', '{}'), ('operator family', '{btree,integer_ops}', '{}'), ('rule', '{suite8h,v,_RETURN}', '{}'), ('trigger', '{suite8h,t,tr}', '{}'), ('schema', '{suite8h}', '{}'), ('text search configuration', '{english}', '{}'), ('access method', '{btree}', '{}'), ('statistics object', '{suite8h,st}', '{}'), ('collation', '{default}', '{}')) x(k, n, a), pg_get_object_address(k, n, a) o order by 1, 4
drop schema suite8h cascade
create schema suite8i; set search_path = suite8i
create table unknown1 (a int, b int, c text); create index on unknown1 (a); insert into unknown1 select i, i, i from generate_series(1, 10) i
explain (costs off) select x.a, y.a from unknown1 x, unknown1 y where x.a = y.b
explain (costs off) select x.*, y.* from unknown1 x, unknown1 y where x.a = y.b
explain (costs off) select x.*, y.* from unknown1 x left join unknown1 y on x.a = y.b
explain (costs off) select x.*, y.* from unknown1 x full join unknown1 y on x.a = y.b
drop schema suite8i cascade
create role suite8_ranger; create schema suite8j; create schema suite8k; grant create, usage on schema suite8k to suite8_ranger
set role suite8_ranger; set search_path = suite8k
create type r as range (subtype = int4, multirange_type_name = suite8j.m)
reset role; grant create on schema suite8j to suite8_ranger; set role suite8_ranger
create type r as range (subtype = int4, multirange_type_name = suite8j.m)
reset role
drop schema suite8j, suite8k cascade; drop role suite8_ranger
create schema suite8l; set search_path = suite8l
create table wide (a text)
do $$ begin execute format('alter table %s rename to suite8_toast', (select reltoastrelid::regclass from pg_class where oid = 'wide'::regclass)); exception when others then raise notice '%', sqlstate; end $$
set allow_system_table_mods = on
do $$ begin execute format('alter table %s rename to suite8_toast', (select reltoastrelid::regclass from pg_class where oid = 'wide'::regclass)); end $$
select reltoastrelid::regclass from pg_class where oid = 'wide'::regclass
reset allow_system_table_mods
drop schema suite8l cascade
