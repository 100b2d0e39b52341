-- ALTER TABLE that rewrites or checks rows, security barrier views, functions called as the owner in maintenance commands, statistics
-- of index expressions, plans of PostgreSQL's regression suite.
CREATE SCHEMA suite6; SET search_path = suite6
create table atacc1 (a bigint, b int)
insert into atacc1 values(1,2)
alter table atacc1 add constraint atacc1_chk check(b = 1) not valid
alter table atacc1 validate constraint atacc1_chk, alter a type int
select convalidated from pg_constraint where conname = 'atacc1_chk'
alter table atacc1 validate constraint atacc1_chk
drop table if exists atacc1
create table atacc1 (a int, b int)
insert into atacc1 values(1,2)
alter table atacc1 add constraint atacc1_chk check(b = 1), alter a type bigint
alter table atacc1 alter a type bigint, add constraint c2 check (b=1)
alter table atacc1 add column c int default random(), add constraint c3 check (b=1)
alter table atacc1 alter b set not null, alter a type bigint
insert into atacc1 values(3,null)
alter table atacc1 alter b set not null, alter a type bigint
alter table atacc1 alter a type int, add check (b is not null)
begin; set transaction isolation level repeatable read; select count(*) from atacc1; alter table atacc1 alter a type bigint, add constraint c9 check (b=7); rollback
create table chk(a int check (a > 0), b int references chk2x)
create table chk2x(i int primary key); insert into chk2x values (1)
create table chk(a int check (a > 0), b int references chk2x, c int)
insert into chk values (5, 1, 1), (6, 1, 1)
alter table chk alter a type int using -a
alter table chk alter b type bigint using 7
alter table chk alter b type bigint using 7::bigint
alter table chk alter c type bigint, add foreign key (c) references chk2x
update chk set c = 9
alter table chk drop constraint chk_c_fkey
alter table chk alter c type int, add foreign key (c) references chk2x
alter table chk alter c type int, add unique (b)
alter table chk alter c type text, add column n int check (n is not null)
alter table chk alter c type text, add column n int default 3 check (n <> 3)
select * from chk order by 1
create table a(i int); create view va as select * from a; create view vb as select * from va
select * from va
set restrict_nonsystem_relation_kind = 'view'
select * from va; insert into va values (1); delete from vb; select count(*) > 0 from pg_tables
set restrict_nonsystem_relation_kind = 'foreign-table'; select * from va
set restrict_nonsystem_relation_kind = 'table'
set restrict_nonsystem_relation_kind = 'view, foreign-table'; show restrict_nonsystem_relation_kind; select * from va
reset restrict_nonsystem_relation_kind; select * from vb
create temp table tmp(a int primary key, b int); create index on tmp(b); vacuum (parallel 1) tmp; vacuum (parallel 0) tmp; vacuum (parallel 1, full false) tmp; vacuum tmp
select from generate_series(1,5) union select from generate_series(1,3)
select count(*) from (select from generate_series(1,5) union select from generate_series(1,3)) s
explain (costs off) select from generate_series(1,5) union select from generate_series(1,3)
create role suite6_role; grant create, usage on schema suite6 to suite6_role
set role suite6_role
create table ut(a int); create table log(who text, sess text)
create function uf(int) returns int language sql immutable as 'select $1'
create index ui on ut(uf(a))
create or replace function uf(int) returns int language sql volatile as 'insert into log values (current_user, session_user); select $1'
insert into ut values (1)
reset role
truncate log
reindex table ut; select distinct * from log order by 1, 2; truncate log
vacuum full ut; select distinct * from log order by 1, 2; truncate log
cluster ut using ui; select distinct * from log order by 1, 2; truncate log
insert into ut values (2)
analyze ut; select distinct who from log order by 1; truncate log
alter table ut alter a type bigint; select distinct * from log order by 1, 2; truncate log
reindex index concurrently ui; select distinct * from log order by 1, 2; truncate log
create index ui2 on ut((uf(a::int)+1))
set role suite6_role
create materialized view umv as select uf(1) x
reset role; truncate log
refresh materialized view umv; select distinct * from log order by 1, 2; truncate log
set role suite6_role; create function mvf() returns text language sql as 'select current_user::text'
create materialized view umv2 as select mvf() x; reset role; refresh materialized view umv2; select * from umv2
reset role
create or replace function uf(int) returns int language sql volatile as $$ select set_config('work_mem', '77kB', false); insert into log values (current_user, current_setting('work_mem')); select $1 $$
show work_mem; reindex index ui; select distinct * from log order by 1, 2; truncate log; show work_mem
set work_mem = '99kB'; begin; set local work_mem = '98kB'; reindex index ui; show work_mem; commit; show work_mem; reset work_mem
create or replace function uf(int) returns int language sql volatile as $$ select set_config('role', 'postgres', false); select $1 $$
reindex index ui; select current_user
create or replace function uf(int) returns int language sql volatile as $$ select set_config('session_authorization', 'postgres', false); select $1 $$
vacuum full ut; select current_user; cluster ut using ui
create function sd() returns text language sql security definer as $$ select set_config('role', 'postgres', false) $$; alter function sd() owner to suite6_role
select sd(); select current_user
create function sd2() returns text language sql security definer as $$ select set_config('work_mem', '64kB', false); select current_user::text $$; alter function sd2() owner to suite6_role
select sd2(), current_user; show work_mem
create function sd3() returns text language sql security definer set role = postgres as $$ select current_user::text $$; alter function sd3() owner to suite6_role; select sd3()
set role suite6_role; select sd2(); reset role
create table fkp(i int primary key); create table fkc(i int references fkp on delete cascade); insert into fkp values (1); insert into fkc values (1); delete from fkp; select * from fkc
drop owned by suite6_role cascade; drop function sd; drop function sd2; drop role suite6_role
create table st(a int, b text, c int); insert into st select i, case when i % 10 = 0 then null else 'Row ' || (i % 20) end, i % 7 from generate_series(1,2000) i
create index st_e on st (lower(b)); create index st_p on st ((a % 5), (c * 2)) where c > 3; create index st_w on st ((st is null)); create unique index st_u on st ((a + 1))
analyze st
select starelid::regclass, staattnum, stanullfrac, stawidth, stadistinct, stakind1, stakind2, stakind3, stavalues1, stanumbers1, staop1, stacoll1 from pg_statistic where starelid::regclass::text like 'st\_%' order by 1, 2
select tablename, attname, n_distinct, most_common_vals from pg_stats where tablename like 'st\_%' order by 1,2
explain (costs off) select * from st where lower(b) = 'row 3'
explain (costs off) select * from st where lower(b) is null
explain (costs off) select * from st where a + 1 = 77
alter index st_e alter column 1 set statistics 0; delete from pg_statistic where starelid = 'st_e'::regclass
analyze st; select count(*) from pg_statistic where starelid = 'st_e'::regclass
analyze st (a)
alter table st alter column b set statistics 0; analyze st
drop index st_p; select count(*) from pg_statistic where starelid::regclass::text like 'st\_p'
create sequence testseq; create table tenk1(unique1 int, unique2 int primary key, thousand int); insert into tenk1 select i*7%1000, i, i%100 from generate_series(1,1000) i; analyze tenk1; create index on tenk1(thousand)
explain (verbose, costs off) select unique1, unique2, nextval('testseq') from tenk1 order by unique2 limit 10
select unique1, unique2, nextval('testseq') from tenk1 order by unique2 limit 10
select currval('testseq')
select sum(unique2) as s1, sum(unique2) + random()*0 as s2 from tenk1 group by thousand order by thousand limit 3
select unique1, unique2, nextval('testseq') from tenk1 order by thousand, unique2 limit 3
select currval('testseq')
create table rc(thousand int, tenthous int, four int); insert into rc select i%1000, i, i%4 from generate_series(1,10000) i; create index on rc(thousand, tenthous); analyze rc; set enable_seqscan=off
explain (costs off) select thousand, tenthous, four from rc where (thousand, tenthous, four) > (998, 5000, 3) order by thousand, tenthous
explain (costs off) select thousand, four from rc where (998, 5000) < (thousand, four) order by thousand, four
select thousand, four from rc where (998, 5000) < (thousand, four) order by thousand, four
create temp table btree_bpchar (f1 text collate "C"); create index on btree_bpchar(f1 bpchar_ops); insert into btree_bpchar values ('foo'), ('fool'), ('bar'), ('quux'); set enable_seqscan to off; set enable_sort to off
explain (costs off) select * from btree_bpchar where f1::bpchar like 'foo%'; select * from btree_bpchar where f1::bpchar like 'foo%'
create role suite6_a; create role suite6_b; create role suite6_c
grant usage on schema suite6 to suite6_a, suite6_b, suite6_c
create table bt(a int, b text, c float); insert into bt values (1,'Row 1',1.0)
grant select, update on bt to suite6_a; grant create on schema suite6 to suite6_a, suite6_b
set role suite6_a; create view v1 with (security_invoker=true) as select b as bb, c as cc, a as aa from bt; grant select on v1 to suite6_b; grant update (bb,cc) on v1 to suite6_b
set role suite6_b; create view v2 as select cc as ccc, aa as aaa, bb as bbb from v1; grant select on v2 to suite6_c; grant update (aaa, bbb,ccc) on v2 to suite6_c
select * from v2; update v2 set ccc=ccc
set role suite6_c; select * from v2; update v2 set ccc=ccc
reset role; grant select on bt to suite6_b; grant update (a,c) on bt to suite6_b
set role suite6_b; select * from v2; update v2 set ccc=ccc; update v2 set aaa=aaa; update v2 set bbb=bbb
set role suite6_c; select * from v2; update v2 set ccc=ccc; update v2 set aaa=aaa
reset role; alter view v2 set (security_invoker=true); alter view v2 owner to postgres
grant select on v1 to suite6_c; grant update (bb,cc) on v1 to suite6_c
set role suite6_b; update v2 set ccc=ccc
set role suite6_c; select * from v2; update v2 set ccc=ccc
reset role; grant select on bt to suite6_c; revoke select, update on bt from suite6_b; revoke select on bt from suite6_b
set role suite6_b; update v2 set ccc=ccc; set role suite6_c; select * from v2; update v2 set ccc=ccc
reset role; grant update(a,c) on bt to suite6_c
set role suite6_c; update v2 set ccc=ccc
set role suite6_b; update v2 set ccc=ccc
reset role; drop view v2, v1; drop table bt; revoke all on schema suite6 from suite6_a, suite6_b, suite6_c; drop role suite6_a, suite6_b, suite6_c
create table tc(a int primary key); create table ta(a int references tc); create table tb(a int references tc)
truncate tc; truncate tc cascade; drop table tb; create table tb2(a int references tc); drop table ta; create table ta2(a int references tc, b int references tc); truncate tc; truncate tc cascade
set enable_hashagg = off; explain (costs off) select from generate_series(1,5) union select from generate_series(1,3)
