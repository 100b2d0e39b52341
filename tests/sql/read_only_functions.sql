-- Contexts of recursive calls, cursors, functions that are not volatile.
create schema read_only_functions
set search_path = read_only_functions, public
create function f(n int) returns int language plpgsql as $$ declare rc int; begin get diagnostics rc = row_count; raise notice '% %', n, rc; if n = 0 then return 0; end if; return f(n-1); end $$
select f(4)
create function g(n int) returns int language plpgsql as $$ declare rc int; x int; begin if n = 0 then return 1/n; end if; x := g(n-1); get diagnostics rc = row_count; raise notice '% %', n, rc; return x; end $$
select g(4)
create function h(n int) returns int language plpgsql as $$ declare rc int; x int; begin if n = 0 then return 1; end if; x := h(n-1); get diagnostics rc = row_count; raise notice '% %', n, rc; return x; end $$
select h(4)
do $$ declare x int; n int; begin for i in reverse 2..0 loop begin x := 1/(i-1); get diagnostics n = row_count; raise notice '%', n; exception when others then get stacked diagnostics x = row_count; end; end loop; end $$
do $$ declare x int; n int; begin for i in 0..3 loop begin x := 1/(i/2); get diagnostics n = row_count; raise notice '%', n; exception when others then get diagnostics n = row_count; raise notice 'err %', n; end; end loop; end $$
do $$ declare x int; n int; t text; begin for i in 0..3 loop begin if 1/(i/2) = 1 then null; end if; get diagnostics n = row_count; raise notice '%', n; exception when others then get stacked diagnostics t = pg_exception_context; raise notice 'err %', t; end; end loop; end $$
do $$ declare c cursor (k int) for select k; x int; begin perform 1 where false; open c(1); get diagnostics x = row_count; raise notice '% %', x, found; end $$
do $$ declare c cursor (k int, j int) for select k; x int; begin perform 1 where false; for r in c(1, j := 3) loop get diagnostics x = row_count; raise notice '% %', x, found; end loop; end $$
do $$ declare c cursor (k int, j int) for select k; x int; begin open c(j := 1/0, k := 2); end $$
do $$ declare c cursor (k int, j int) for select k; x int; begin open c(1, 1/0); end $$
do $$ declare c cursor (k int, j int) for select k; x int; begin open c(1, 1/(select 0)); end $$
do $$ declare c cursor (k int) for select k; x int; begin open c(1/(select 0)); end $$
create table t(i int)
insert into t values (1),(2)
create function ro1() returns int stable language plpgsql as $$ declare c cursor for select * from t for update; begin open c; return 1; end $$
select ro1()
create function ro2() returns int stable language plpgsql as $$ declare c refcursor; begin open c for select * from t for update; return 1; end $$
select ro2()
create function ro3() returns int stable language plpgsql as $$ declare c refcursor; begin open c for execute 'select * from t for share'; return 1; end $$
select ro3()
create function ro4() returns int stable language plpgsql as $$ begin for r in select * from t for no key update loop end loop; return 1; end $$
select ro4()
create function ro5() returns int stable language plpgsql as $$ begin for r in execute 'select * from t for key share' loop end loop; return 1; end $$
select ro5()
create function ro6() returns int stable language plpgsql as $$ declare c cursor for select * from t for update; begin for r in c loop end loop; return 1; end $$
select ro6()
create function ro7() returns int stable language plpgsql as $$ begin perform * from t for update; return 1; end $$
select ro7()
create function ro8() returns int stable language plpgsql as $$ begin insert into t values (1); return 1; end $$
select ro8()
create function ro9() returns int stable language plpgsql as $$ begin with w as (insert into t values (1) returning 1) select * from w; return 1; end $$
select ro9()
create procedure rp() language plpgsql as 'begin end'
create function ro10() returns int stable language plpgsql as $$ begin call rp(); return 1; end $$
select ro10()
create function ro11() returns int stable language plpgsql as $$ begin execute 'call rp()'; return 1; end $$
select ro11()
create function ro12() returns int stable language plpgsql as $$ begin execute 'create table x(a int)'; return 1; end $$
select ro12()
create function ro13() returns int stable language plpgsql as $$ begin create table x(a int); return 1; end $$
select ro13()
create function ro14() returns int stable language plpgsql as $$ begin execute 'select * from t for update'; return 1; end $$
select ro14()
create function ro15() returns int stable language plpgsql as $$ declare r record; begin explain select 1 into r; return 1; end $$
select ro15()
create function ro16() returns int stable language plpgsql as $$ begin do 'begin end'; return 1; end $$
select ro16()
create function ro17() returns int stable language plpgsql as $$ begin set work_mem = '1MB'; return 1; end $$
select ro17()
create function ro18() returns int stable language plpgsql as $$ declare r record; begin show work_mem into r; return 1; end $$
select ro18()
create function ro19() returns int stable language plpgsql as $$ begin notify x; return 1; end $$
select ro19()
create function ro20() returns int stable language plpgsql as $$ begin lock table t in access share mode; return 1; end $$
select ro20()
create function ro21() returns int stable language plpgsql as $$ begin copy t to '/tmp/x'; return 1; end $$
select ro21()
create function ro22() returns int stable language plpgsql as $$ begin execute 'select 1 as a into x'; return 1; end $$
select ro22()
create function ro23() returns int stable language plpgsql as $$ declare x int; begin update t set i = 3 returning i into x; return 1; end $$
select ro23()
create function ro24() returns setof int stable language plpgsql as $$ begin return query update t set i = 3 returning i; end $$
select ro24()
create function ro25() returns setof int stable language plpgsql as $$ begin return query select i from t for update; end $$
select ro25()
create function ro26() returns int stable language plpgsql as $$ declare c refcursor; begin open c for update t set i = 3 returning i; return 1; end $$
select ro26()
create function ro27() returns int stable language plpgsql as $$ begin for r in update t set i = 3 returning i loop end loop; return 1; end $$
select ro27()
create function ro28() returns int stable language plpgsql as $$ begin execute 'fetch c'; return 1; end $$
select ro28()
create function ro29() returns int stable language plpgsql as $$ declare x int; begin x := i from t limit 1 for update; return 1; end $$
select ro29()
create function ro30() returns int stable language plpgsql as $$ begin return (select i from t limit 1 for update); end $$
select ro30()
create function ro31() returns int stable language plpgsql as $$ begin merge into t using t s on false when not matched then insert values (1); return 1; end $$
select ro31()
create function ro32() returns int stable language plpgsql as $$ begin commit; return 1; end $$
select ro32()
create function ro33() returns int stable language plpgsql as $$ begin truncate t; return 1; end $$
select ro33()
create function ro34() returns int stable language plpgsql as $$ begin begin create table x(a int); exception when others then raise notice '%', sqlerrm; end; return 1; end $$
select ro34()
create function so1() returns int stable language sql as $$ insert into t values (1) returning i $$
select so1()
create function so2() returns int stable language sql as $$ select i from t for update $$
select so2()
create function so3() returns int stable language sql as $$ create table x(a int); select 1 $$
select so3()
create function so4() returns void stable language sql as $$ call rp() $$
select so4()
create function so5() returns void stable language sql as $$ with w as (delete from t returning 1) select 1 $$
select so5()
create function so6() returns void stable language sql as $$ lock table t $$
select so6()
create function so7() returns void stable language sql as $$ set work_mem = '1MB' $$
select so7()
create function so8() returns void stable language sql as $$ begin; $$
select so8()
create function so9() returns void language sql as $$ begin; $$
select so9()
create function so10() returns void language sql as $$ copy t to stdout; $$
select so10()
create function so11() returns void language sql as $$ vacuum t $$
select so11()
create function so12() returns void language sql as $$ drop table if exists nosuch; $$
select so12()
create function so13() returns void language sql as $$ create table if not exists t(a int); $$
select so13()
create function so14() returns void language sql as $$ truncate t; select 1/0; $$
select so14()
create function so15() returns void language sql as $$ do 'begin raise notice $x$a$x$; end'; $$
select so15()
create function so16() returns int language sql as $$ select f(1); $$
select so16()
create function so17() returns int language sql as $$ select f(1); select f(0); $$
select so17()
create function so18() returns setof int language sql as $$ select f(i) from t; $$
select so18()
select * from so18()
create function so19() returns int language sql as $$ select nosuch; $$
set check_function_bodies = off
create function so19() returns int language sql as $$ select nosuch; $$
select so19()
create function so20() returns int language sql as $$ select 1; selec; $$
select so20()
create function so21() returns int language sql as $$ select 'a'::text; $$
select so21()
create function so22() returns int language sql as $$ select 1, 2; $$
select so22()
create function so23() returns int language sql as $$ $$
select so23()
create function so24() returns int language sql as $$ create table x(a int) $$
select so24()
create function so25() returns int language sql as $$ explain select 1 $$
select so25()
create function so26() returns setof int language sql as $$ select 1/(i-1) from t $$
select so26()
select * from so26()
create function so27() returns int language sql as $$ select 1; select 1/(i-1) from t $$
select so27()
select * from so27()
create function so28(int) returns int language sql begin atomic; select 1; select 1/$1; end
select so28(0)
create function so29(a int) returns int language sql return 1/a
select so29(0)
select so29(i-i) from t
create function so30(a int) returns int language sql strict as 'select 1/a'
select so30(0)
select so30(i-i) from t
create table def(a int default so30(0), b int)
insert into def(b) values (1)
create function so32(a int) returns int immutable language plpgsql as 'begin return 1/a; end'
create index on t ((so32(i-1)))
create table gen(a int, b int generated always as (so32(a)) stored)
insert into gen values (0)
create domain dd as int check (so32(value) > 0)
select 0::dd
select (i-1)::dd from t
create table ddt(a dd)
insert into ddt values (0)
create view vv as select so32(i-1) from t
select * from vv
create materialized view mvv as select so32(i-1) from t
create materialized view mvv as select so32(i) from t
insert into t values (0)
refresh materialized view mvv
alter table t add check (so32(i) > 0)
alter table t alter i type bigint using so32(i)
alter table t add column z int default so32(0)
create table cs(a int, b text)
create procedure cp1(x text) language sql as 'insert into cs values (1, x)'
create procedure cp2(y text, z int) language sql as 'call cp1(y); call cp1($1); call cp1(cp2.y || z); call cp1(x => y)'
call cp2('a', 3)
select * from cs order by b
set check_function_bodies = off
create procedure cp3(y text) language sql as 'call nosuch(y)'
call cp3('a')
create procedure cp4(y text) language sql as 'call cp1(nosuch)'
call cp4('a')
create procedure cp5(inout y text) language sql as 'call cp5(y)'
call cp5('a')
create procedure cp6(y int) language sql as 'call cp1((1/y)::text)'
call cp6(0)
create function cf1(y text) returns void language sql as 'call cp1(y)'
select cf1('z'), count(*) from cs
create procedure cp7(y anyelement) language sql as 'call cp1(y::text)'
call cp7(5)
call cp7(true)
select * from cs order by b
set client_min_messages = error
drop schema read_only_functions cascade
