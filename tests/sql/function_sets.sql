create sequence fs_seq; create table fs_log(n serial, what text); create table fs_rows(a int, b text); insert into fs_rows select i, 'r'||i from generate_series(1,20) i
create function fs_all() returns setof int language sql as 'select a from fs_rows order by a'
create function fs_next() returns setof bigint language sql as 'select nextval(''fs_seq'') from generate_series(1,5)'
create function fs_write() returns setof int language sql as 'insert into fs_log(what) select b from fs_rows returning n'
create function fs_two() returns setof int language sql as 'insert into fs_log(what) values (''two''); select count(*)::int from fs_log union all select 100'
create function fs_pairs() returns setof fs_rows language sql stable as 'select * from fs_rows where a < 4 order by a'
create function fs_out(n int, out x int, out y text) returns setof record language sql as 'select a, b from fs_rows where a <= n order by a'
create function fs_rec() returns setof record language sql as 'select a, b from fs_rows where a < 3 order by a'
create function fs_table(n int) returns table(p int, q int) language sql as 'select i, i*i from generate_series(1,n) i'
create function fs_div() returns setof int language sql as 'select 10/(3-a) from fs_rows order by a'
create function fs_void() returns setof void language sql as 'insert into fs_log(what) values (''void'')'
create function fs_nested() returns setof int language sql as 'select fs_all() + 1'
create function fs_path() returns setof text language sql set search_path = pg_catalog set work_mem = '3MB' as 'select current_setting(''search_path'') || current_setting(''work_mem'') from generate_series(1,3)'
create function fs_user() returns setof name language sql security definer as 'select current_user from generate_series(1,2)'
select fs_all() [[limit 3¦limit 1 offset 4¦limit 0¦]]
select fs_next() limit 2; select last_value from fs_seq
select * from fs_next() limit 2; select last_value from fs_seq
select fs_next(), fs_next() limit 3; select last_value from fs_seq
select fs_next(), fs_all() limit 3; select last_value from fs_seq
select (select fs_next() limit 1), a from fs_rows where a < 3; select last_value from fs_seq
select fs_write() limit 2; select count(*) from fs_log
select * from fs_write() limit 1; select count(*) from fs_log
select fs_two() limit 1; select count(*) from fs_log
select fs_two(), fs_two(); select count(*) from fs_log
select fs_pairs() limit 2
select (fs_pairs()).* limit 2
select * from fs_pairs() p where p.a > 1
select p from fs_pairs() p limit 1
select fs_out([[3¦0¦-1¦null]])
select (fs_out(2)).y
select * from fs_out(3) limit 2
select * from fs_out(3) with ordinality
select * from fs_rec() as r(a int, b text)
select * from fs_rec() as r(a int, b int)
select fs_rec()
select * from fs_table(3), fs_table(2) u
select fs_table(2), fs_table(3)
select x.p, y.q from fs_table(3) x, lateral fs_table(x.p) y
select fs_div() limit [[1¦2¦3¦10]]
select * from fs_div() limit 1
select fs_void(); select count(*) from fs_log where what = 'void'
select * from fs_void(); select count(*) from fs_log where what = 'void'
select fs_nested() limit 3
select count(*), sum(f) from fs_nested() f
select fs_path(), current_setting('work_mem') limit 2
select * from fs_path()
show work_mem
select fs_user() = current_user
set role pg_read_all_data; select fs_user(), current_user; reset role
begin; declare fs_c cursor for select fs_next(); fetch 1 from fs_c; fetch 1 from fs_c; select last_value from fs_seq; insert into fs_rows values (21, 'late'); fetch all from fs_c; commit; select last_value from fs_seq
begin; declare fs_c cursor for select fs_all(); fetch 2 from fs_c; delete from fs_rows where a > 5; fetch all from fs_c; rollback
begin; declare fs_c scroll cursor for select fs_all(); fetch 3 from fs_c; fetch backward 1 from fs_c; fetch absolute 20 from fs_c; rollback
begin; declare fs_c cursor for select fs_path(), current_setting('work_mem'); fetch 1 from fs_c; show work_mem; fetch 1 from fs_c; rollback
begin; select fs_all() limit 1; savepoint s; select fs_div(); rollback to s; select fs_all() limit 2; commit
select a, fs_all() from fs_rows where a < 3 order by 1, 2 limit 22
select a from fs_rows where a in (select fs_all() limit 3)
select a from fs_rows where exists (select fs_div()) limit 1
select array(select fs_all() limit 4)
select coalesce(null, 1), generate_series(1, 2), fs_all() limit 3
create function fs_count() returns setof bigint language sql as 'select count(*) from fs_log'
create function fs_one() returns int language sql as 'select a from fs_rows order by a'
create function fs_none() returns int language sql as 'select a from fs_rows where false'
create function fs_effect() returns int language sql as 'select nextval(''fs_seq'')::int from generate_series(1,10)'
select fs_one(), fs_none(); select * from fs_one(), fs_none()
select fs_effect(); select last_value from fs_seq
select * from fs_effect(); select last_value from fs_seq
create function fs_builtin(text) returns text language internal immutable strict set datestyle = 'SQL, DMY' as 'upper'
create function fs_now(date) returns text language internal stable strict set datestyle = 'SQL, DMY' as 'date_out'
create function fs_series(int, int) returns setof int language internal strict set work_mem = '2MB' as 'generate_series_int4'
create function fs_setting(text) returns text language internal stable strict set work_mem = '2MB' as 'show_config_by_name'
create function fs_lower(text) returns text language internal immutable strict security definer as 'lower'
select fs_builtin('abc' collate "C"), fs_builtin(null), fs_lower('ABC')
select fs_builtin(b) from fs_rows where a < 3 order by a
select fs_setting('work_mem'), current_setting('work_mem')
select * from fs_series(1, 3); select fs_series(1, 4) limit 2
select a, fs_series(1, a) from fs_rows where a < 3 order by 1, 2
create function fs_deep(n int) returns setof int language sql as 'select case when n > 0 then (select count(*)::int from fs_deep(n - 1)) else 1 end'
select fs_deep(10)
create procedure fs_proc(inout x int) language sql set work_mem = '2MB' as 'select x + 1'
call fs_proc(4)
create procedure fs_proc2(x int) language sql as 'insert into fs_log(what) values (x::text); select 1'
call fs_proc2(3); select what from fs_log order by n desc limit 1
select fs_proc(1)
select * from rows from (fs_all(), fs_table(2)) as r(a, p, q) limit 3
select * from rows from (fs_next(), fs_next()) limit 1; select last_value from fs_seq
select k, (select max(f) from fs_out(k) f(x, y)) from generate_series(1, 3) k
update fs_rows set b = b || '!' where a in (select fs_all() limit 2) returning a, b
with w as (select fs_next() as n) select * from w limit 1; select last_value from fs_seq
with w as materialized (select fs_next() as n) select a.n, b.n from w a, w b where a.n = b.n; select last_value from fs_seq
select fs_next() union all select 0 limit 2; select last_value from fs_seq
select sum(n) over (), n from (select fs_next() as n) s; select last_value from fs_seq
prepare fs_p(int) as select fs_out($1); execute fs_p(2); execute fs_p(1); deallocate fs_p
drop table fs_rows cascade; drop table fs_log; select fs_all()
do language sql 'select 1'
do language internal 'x'
do language c 'x'
do language nosuch 'x'
do language sql
do language sql language sql 'x'
do 'x' language sql 'y'
