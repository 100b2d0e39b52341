create access method am1 type index handler [[bthandler¦nosuch¦int4in¦abs¦heap_tableam_handler¦pg_catalog.bthandler]]
drop access method if exists am1
create access method btree type index handler bthandler
create role bl_user
set role bl_user
create access method am2 type index handler bthandler
reset role
drop role bl_user
create extension bloom version '1.1'
create extension bloom
comment on access method bloom is 'changed'
select extname, extrelocatable, extversion from pg_extension where extname = 'bloom'
select amname, amhandler, amtype, obj_description(oid, 'pg_am') from pg_am where amname = 'bloom'
select pg_describe_object(classid, objid, objsubid) a, pg_describe_object(refclassid, refobjid, refobjsubid) b, deptype from pg_depend where classid in ('pg_am'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass) and objid in (select oid from pg_am where amname = 'bloom' union all select c.oid from pg_opclass c join pg_am a on a.oid = opcmethod where amname = 'bloom' union all select f.oid from pg_opfamily f join pg_am a on a.oid = opfmethod where amname = 'bloom') order by 1, 2, 3
select opcname, opfname, opcintype::regtype, opcdefault, opckeytype from pg_opclass c join pg_opfamily f on f.oid = opcfamily join pg_am a on a.oid = opcmethod where amname = 'bloom' order by 1
select amopstrategy, amopopr::regoperator, amoppurpose from pg_amop where amopmethod = (select oid from pg_am where amname = 'bloom') order by 2
select amprocnum, amproc::regprocedure from pg_amproc where amprocfamily in (select f.oid from pg_opfamily f join pg_am a on a.oid = opfmethod where amname = 'bloom') order by 2
select p, pg_indexam_has_property(a.oid, p) from pg_am a, unnest(array['can_order','can_unique','can_multi_col','can_exclude','can_include','bogus']) p where amname = 'bloom' order by 1
create table bl (i int, t text, n numeric, d date)
insert into bl select i % 10, substr(md5(i::text), 1, 1), i % 7, '2020-01-01'::date + i % 5 from generate_series(1, 3000) i
create [[unique ¦]]index bl_x on bl using bloom ([[i¦t¦n¦i desc¦i nulls first¦i text_ops¦i nosuch_ops¦i, t¦i) include (t¦(i + 1)¦lower(t)]])
drop index bl_x
create index bl_x on bl using bloom (i, t) with ([[length = 0¦length = 4096¦length = 4097¦length = 'a'¦length = 7.6¦col1 = 0¦col1 = 4095¦col1 = 4096¦col32 = 3¦col33 = 3¦fillfactor = 70¦length = 20, length = 30]])
select reloptions from pg_class where relname like 'bl_x%' order by relname
drop index bl_x
create index bl_x on bl using bloom (i, t) with (length = 100, col1 = 3)
alter index bl_x set ([[length = 0¦length = 50¦col2 = 7¦nosuch = 1]])
alter index bl_x reset (length)
alter table bl cluster on bl_x
select p, pg_index_has_property('bl_x'::regclass, p) from unnest(array['clusterable','backward_scan','index_scan','bitmap_scan']) p order by 1
select p, c, pg_index_column_has_property('bl_x'::regclass, c, p) from unnest(array['asc','orderable','distance_orderable','returnable','search_array','search_nulls']) p, generate_series(1, 2) c order by 1, 2
select pg_get_indexdef('bl_x'::regclass)
vacuum analyze bl
set enable_seqscan = off; set enable_memoize = off; set jit = off
explain (costs off) select count(*) from bl where [[i = 7¦t = '5'¦i = 7 and t = '5'¦i = 7 or t = '5'¦i in (7, 8)¦i is null¦i > 7¦t = '5'::name¦i = 7::bigint]]
select count(*) from bl where [[i = 7¦t = '5'¦i = 7 and t = '5'¦i = 7 or t = '5'¦i = null¦i = 7 and t = 'zz']]
select count(*) from bl a join bl b on a.i = b.i and b.t = a.t where a.n = 3
prepare bl_p(int, text) as select count(*) from bl where i = $1 and t = $2
execute bl_p(3, 'a')
execute bl_p(null, 'a')
delete from bl where i = 3 or t = 'b'
vacuum bl
select i, t, count(*) from bl where t = 'c' group by 1, 2 order by 1, 2
insert into bl select i % 10, substr(md5(i::text), 1, 1) from generate_series(1, 2000) i
select count(*) from bl where [[i = 3¦t = 'b'¦i = 3 and t = 'b']]
create operator class date_ops default for type date using bloom as operator 1 =, function 1 hashint4(int4)
create operator class date_ops default for type date using bloom as operator [[1 =, function 1 hashint4(int4), function 3 hashint4(int4)¦2 =, function 1 hashint4(int4)]]
create operator class num_ops for type numeric using bloom as operator 1 =, function 1 hash_numeric(numeric), storage int4
create operator class num_ops for type numeric using bloom as operator 1 =, function 1 hash_numeric(numeric)
create index bl_n on bl using bloom (n num_ops, i)
select count(*) from bl where n = [[3¦3.0¦9¦'nan']]
create index bl_d on bl using bloom (d)
reindex table bl
select count(*) from bl where n = 3
truncate bl
select count(*) from bl where i = 3
insert into bl values (3, 'a', 3, null)
select count(*) from bl where i = 3 and t = 'a'
create table bl_parts (a int, b int) partition by range (a)
create table bl_part1 partition of bl_parts for values from (0) to (10)
create index bl_parts_b on bl_parts using bloom (b) with (length = 32)
create table bl_part2 partition of bl_parts for values from (10) to (20)
select relname, reloptions, amname from pg_class c join pg_am a on a.oid = relam where relname like 'bl_part%' order by 1
insert into bl_parts select i % 20, i % 30 from generate_series(1, 900) i
select count(*), sum(a) from bl_parts where b = 7
create temp table bl_temp as select i from generate_series(1, 1000) i
create index on bl_temp using bloom (i)
delete from bl_temp where i % 3 = 0
vacuum bl_temp
select i from bl_temp where i in (7) or i = 9
create access method bloom2 type index handler blhandler
create operator class i2 default for type int4 using bloom2 as operator 1 =, function 1 hashint4(int4)
create table bl_two (i int)
insert into bl_two select generate_series(1, 500)
create index bl_two_i on bl_two using bloom2 (i) with (col1 = 5)
explain (costs off) select i from bl_two where i = 77
select i from bl_two where i = 77
drop access method bloom2
drop access method bloom2 cascade
drop access method bloom
drop extension bloom
drop extension bloom cascade
explain (costs off) select i from bl_two where i = 77
drop table bl, bl_parts, bl_temp, bl_two
