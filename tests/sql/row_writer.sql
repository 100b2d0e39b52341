-- Rows written one by one: rows that are visible to functions in constraints and RETURNING, the order of errors,
-- generated columns, details of errors, REFRESH CONCURRENTLY.
CREATE SCHEMA row_writer; SET search_path = row_writer
-- checks that read the table that they check
create table k(id int, v int)
create function total() returns bigint language sql as 'select count(*) from k'
alter table k add constraint few check (total() < 3)
insert into k values (1), (2), (3), (4), (5)
insert into k select g from generate_series(1, 6) g
table k
create function total_s() returns bigint stable language sql as 'select count(*) from k'
alter table k drop constraint few
alter table k add constraint few_s check (total_s() < 3)
insert into k select g from generate_series(1, 6) g
insert into k values (9)
drop table k cascade
create table k(id serial, v int)
insert into k(v) values (1),(2),(3) returning id, currval('k_id_seq')
insert into k(v) select g from generate_series(1,5) g returning id, currval('k_id_seq'), lastval(), total()
insert into k(v) values (1), (null), (3) returning v, total()
insert into k(v) values (1), (1/0), (3)
truncate k
alter table k add unique (v), add check (v is not null)
insert into k(v) values (1), (1), (1/0)
insert into k(v) values (1), (1), (null)
insert into k(v) select case when g = 3 then null else 1 end from generate_series(1, 3) g
alter table k add check (v < 100)
alter sequence k_id_seq restart 100
insert into k(v) values (1), (1), (200)
alter sequence k_id_seq restart 100
insert into k(v) values (200), (1), (1)
alter sequence k_id_seq restart 100
insert into k(v) values (2), (3), (200), (1/0)
-- generated columns
create table g(a int, b int, c int generated always as (100 / a) stored, d int generated always as (b * 2) stored)
insert into g(a, b) values (5, 1)
create function boom(int) returns int immutable language sql as 'select 10 / $1'
create table g2(a int, b int, c int generated always as (boom(a)) stored)
insert into g2(a, b) values (5, 1)
create or replace function boom(int) returns int immutable language sql as 'select 20 / $1'
update g2 set b = 2
table g2
update g2 set b = 3, a = 5
table g2
create unique index g2b on g2(b)
insert into g2(a, b) values (1, 3) on conflict (b) do update set b = 4
table g2
insert into g2(a, b) values (1, 4) on conflict (b) do update set a = 10
table g2
-- error 27000
create table w(id int primary key, v int)
insert into w values (1, 1)
create function w_up() returns int language sql as 'update w set v = v + 1 returning v'
update w set v = w_up()
delete from w where w_up() > 0
insert into w values (1, 2) on conflict (id) do update set v = w_up()
select * from w
-- details of errors
create role row_writer_role
grant usage on schema row_writer to row_writer_role
create table dp(id int primary key, secret int unique)
create table dc(id int primary key, p int references dp, q int unique deferrable initially deferred)
insert into dp values (1, 10), (2, 20)
insert into dc values (1, 1, 1)
grant insert, update, delete on dp, dc to row_writer_role
grant select (id) on dp to row_writer_role
grant select (id) on dc to row_writer_role
set role row_writer_role
insert into dp values (3, 10)
insert into dp values (1, 30)
insert into dc values (2, 9, 2)
delete from dp where id = 1
insert into dc values (3, 2, 1)
insert into dc values (1, 2, 5)
reset role
grant select on dp to row_writer_role
set role row_writer_role
delete from dp where id = 1
insert into dc values (2, 9, 2)
reset role
revoke all on dp, dc from row_writer_role
grant insert on dc to row_writer_role
set role row_writer_role
insert into dc values (2, 9, 2)
insert into dc values (3, 2, 1)
reset role
-- materialized views
create table b(id int, t text)
insert into b values (1, 'a'), (2, 'b'), (3, null)
create materialized view mv as select * from b
create unique index on mv(id)
select ctid, * from mv
update b set t = 'c' where id = 2
insert into b values (4, 'd')
delete from b where id = 1
refresh materialized view concurrently mv
select ctid, * from mv order by id
insert into b values (4, 'd')
refresh materialized view concurrently mv
delete from b where id=4
insert into b values (null, 'x'), (null, 'y')
refresh materialized view concurrently mv
select ctid, * from mv order by id, t
refresh materialized view concurrently mv
select ctid, * from mv order by id, t
-- rows that equal no other row because of NULL in a key, and wide rows
create unique index on mv(id, t)
insert into b select g, repeat('x', 3000) || g from generate_series(100, 110) g
refresh materialized view concurrently mv
update b set t = t || 'y' where id between 105 and 107
delete from b where id > 108
refresh materialized view concurrently mv
select id, length(t), right(t, 4) from mv order by id, t
begin
insert into b values (100, 'twice')
refresh materialized view concurrently row_writer.mv
rollback
-- session_replication_role
set session_replication_role = replica
insert into dc values (77, 99, 99)
set session_replication_role = origin
insert into dc values (78, 99, 99)
alter table dc disable trigger all
insert into dc values (79, 99, 199)
alter table dc enable trigger all
-- a key column that the user may not read, and the reverse
revoke all on dp, dc from row_writer_role
drop schema row_writer cascade
drop role row_writer_role
reset search_path
-- Constraints of domains that read the changed table.
create table rd (a int)
create function rd_count() returns bigint volatile language sql as 'select count(*) from rd'
create domain rd_next as int check (rd_count() = value - 1)
insert into rd values (1::rd_next), (2::rd_next), (3::rd_next)
insert into rd select (g + 3)::rd_next from generate_series(1, 3) g
insert into rd select g::rd_next::int from generate_series(7, 9) g where g <> 8
create table rd2 (a rd_next); insert into rd2 values (7), (8)
select * from rd order by 1
drop table rd2; drop domain rd_next; drop function rd_count; drop table rd
-- An error of a later row comes after the effects of the rows before it.
create table ro (a int primary key, b int); insert into ro values (2, 0)
insert into ro values (1, 1), ([[2¦3]], 1), (4, 1 / (length('ab') - 2))
insert into ro select g, 10 / ([[3¦1]] - g) from generate_series(1, 5) g
select * from ro; drop table ro
