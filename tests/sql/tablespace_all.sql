-- ALTER TABLE, INDEX and MATERIALIZED VIEW ALL IN TABLESPACE.
set allow_in_place_tablespaces = true
create tablespace ta_one location ''
create tablespace ta_two location ''
create role ta_user; create role ta_other
create table ta_a (a int primary key using index tablespace ta_one, b text) tablespace ta_one; create table ta_b (a int) tablespace ta_one; create index ta_i on ta_b (a) tablespace ta_one
create materialized view ta_m tablespace ta_one as select 1 as a
create temp table ta_t (a int) tablespace ta_one
insert into ta_a select g, repeat('x', 10) from generate_series(1, 100) g; insert into ta_b select 1
alter table ta_b owner to ta_user
alter [[table¦index¦materialized view]] all in tablespace [[nosuch¦pg_global¦ta_two]] set tablespace [[nosuch¦pg_global¦ta_one¦pg_default]]
alter [[table¦index¦materialized view]] all in tablespace ta_one owned by [[nobody¦ta_other¦ta_user, ta_other]] set tablespace ta_two nowait
select relname, spcname from pg_class c join pg_tablespace t on t.oid = reltablespace where relname like 'ta%' and relkind <> 't' order by 1
set role ta_user; alter table all in tablespace ta_two set tablespace pg_default
set role ta_user; alter table all in tablespace ta_one set tablespace ta_two
reset role; grant create on tablespace ta_two to ta_user
set role ta_user; alter table all in tablespace ta_one set tablespace ta_two
reset role; alter table all in tablespace ta_one set tablespace ta_two; alter index all in tablespace ta_one set tablespace pg_default; alter materialized view all in tablespace ta_one set tablespace pg_default
select relname, spcname from pg_class c left join pg_tablespace t on t.oid = reltablespace where relname like 'ta%' and relkind <> 't' order by 1
alter table all in tablespace ta_one set tablespace pg_default
alter table all in tablespace ta_two set tablespace pg_default
select count(*), max(a), max(b) from ta_a; select * from ta_b; select * from ta_m; select * from ta_t
select a from ta_a where a = 50
drop table ta_a, ta_b, ta_t; drop materialized view ta_m
drop tablespace ta_one
drop tablespace ta_two
drop role ta_user, ta_other
reset allow_in_place_tablespaces
