-- ALTER TABLE that rewrites rows and checks them, restricted views, functions of owners in maintenance commands, statistics
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
