-- Contexts of errors and notices in functions.
create schema plpgsql_contexts
set search_path = plpgsql_contexts, public
create table t(i int)
insert into t select generate_series(1,5)
create function sqlf(int) returns int language sql as 'select 1/$1'
create function sqlv(int) returns int volatile language sql as 'insert into t values ($1); select 1/$1'
create function plf(int) returns int language plpgsql as $$ begin return 1/$1; end $$
create function plf2(int) returns int language plpgsql as $$ begin return plf($1); end $$
create function plf3(int) returns int language plpgsql as $$ declare x int := plf2($1); begin return x; end $$
create function plf4(int) returns int language plpgsql as $$ declare x int := (select plf3(i) from t where i = $1 + 1); begin return x; end $$
create function sqlpl(int) returns int language sql as 'select plf4($1) from t'
create function sqlpl2(int) returns int language sql immutable as 'select plf4($1)'
select sqlf(0)
select sqlv(0)
select plf(0)
select plf2(0)
select plf3(0)
select plf4(0)
select sqlpl(0)
select sqlpl2(0)
select sqlpl2(i-i) from t
select sqlf(i-1) from t
select sqlv(i-1) from t
do $$ declare x int := plf(0); begin end $$
do $$ declare x int not null := null; begin end $$
do $$ declare x smallint := 100000; begin end $$
do $$ declare x smallint := 100000 + length('a'); begin end $$
do $$ declare r record := 5; begin end $$
do $$ declare x smallint; begin x := 100000; end $$
do $$ declare x smallint; begin x := (select 100000); end $$
do $$ declare x date; begin x := 'abc'; end $$
do $$ declare x date; y text := 'abc'; begin x := y; end $$
do $$ declare x date; begin select 'abc'::text into x; end $$
create domain dn as int check (value > 0)
create domain dnn as int not null
create function fdn(a dn) returns dn language plpgsql as $$ begin return a - 1; end $$
create function fdn2(a int) returns dn language plpgsql as $$ declare x dn := a; begin x := x - 1; return x; end $$
create function fdnn() returns dnn language plpgsql as $$ declare x dnn; begin return x; end $$
create function fdnn2() returns int language plpgsql as $$ declare x dnn := 3; begin x := null; return x; end $$
create function fdnn3() returns dnn language plpgsql as $$ begin return null; end $$
create function fdnn4(out x dnn) language plpgsql as $$ begin x := 1; end $$
select fdn(1)
select fdn(0)
select fdn2(0)
select fdn2(1)
select fdnn()
select fdnn2()
select fdnn3()
select fdnn4()
create type dct as (a dn, b int)
create domain dcd as dct check ((value).b > 0)
create function arg(x dcd) returns int language plpgsql as $$ begin return 1; end $$
select arg(row(1,2))
select arg(row(1,0))
select arg(row(0,1))
select arg(null)
create function argn(x dct, y int) returns text language plpgsql as $$ begin return x; end $$
select argn(row(1,2),3)
create function rc() returns int language plpgsql as $$ begin return 'abc'; end $$
create function rc1() returns int language plpgsql as $$ begin return 'abc'::text; end $$
create function rc2() returns date language plpgsql as $$ declare x text := 'x'; begin return x; end $$
create function rc3() returns dct language plpgsql as $$ begin return row(1,2,3); end $$
create function rc4() returns dct language plpgsql as $$ declare r record; begin select 1,2,3 into r; return r; end $$
create function rc5() returns record language plpgsql as $$ begin return row(1,2,3); end $$
create function rc6() returns setof int language plpgsql as $$ begin return next 'x'; end $$
create function rc7() returns setof int language plpgsql as $$ begin return query select 'x'; end $$
create function rc8() returns table(a int, b text) language plpgsql as $$ begin return query select 1; end $$
create function rc9() returns table(a int, b text) language plpgsql as $$ begin return query execute 'select 1, 2'; end $$
create function rc10() returns int language plpgsql as $$ begin end $$
create function rc11() returns int language plpgsql as $$ begin if false then return 1; end if; end $$
create function rc12() returns dcd language plpgsql as $$ begin return row(1,0); end $$
create function rc13() returns setof dcd language plpgsql as $$ begin return next row(1,0); end $$
create function rc14(out a int, out b int) language plpgsql as $$ begin a := 'x'; end $$
create function rc15() returns setof dct language plpgsql as $$ begin return query select 1; end $$
create function rc16() returns setof dct language plpgsql as $$ begin return next 1; end $$
create function rc17() returns int language plpgsql as $$ begin return 1,2; end $$
create function rc18() returns int language plpgsql as $$ begin return (select i from t); end $$
create function rc19() returns int language plpgsql as $$ begin return i from t; end $$
create function rc20() returns void language plpgsql as $$ begin return 1; end $$
create function rc21() returns setof int language plpgsql as $$ begin return next plf(0); end $$
create function rc22() returns setof int language plpgsql as $$ begin return query select plf(i-1) from t; end $$
create function rc23() returns setof int language plpgsql as $$ begin return query insert into t values (1); end $$
create function rc24() returns setof int language plpgsql as $$ begin return query execute 'create table x(a int)'; end $$
create function rc25() returns setof int language plpgsql as $$ begin return query execute 'select 1; select 2'; end $$
create function rc26() returns setof int language plpgsql as $$ begin return query execute null; end $$
create function rc27() returns setof int language plpgsql as $$ begin return query execute ''; end $$
select rc()
select rc1()
select rc2()
select rc3()
select rc4()
select rc5()
select * from rc5() as (a int, b int, c text)
select * from rc5() as (a int, b int)
select rc6()
select rc7()
select rc8()
select rc9()
select rc10()
select rc11()
select rc12()
select rc13()
select rc14()
select rc15()
select rc16()
select rc17()
select rc18()
select rc19()
select rc20()
select rc21()
select rc22()
select rc23()
select rc24()
select rc25()
select rc26()
select rc27()
select * from rc6()
select * from rc7()
select * from rc13()
do $$ declare c refcursor; begin open c for select 1/0; end $$
do $$ declare c refcursor; x int; begin open c for select 1/(i-1) from t; fetch c into x; end $$
do $$ declare c refcursor; x int; begin open c for select plf(i-1) from t; fetch c into x; end $$
do $$ declare c refcursor; x int; begin open c for select plf(i-1) from t; move c; end $$
do $$ declare c refcursor; x int; begin open c for execute 'select plf(i-1) from t'; fetch c into x; end $$
do $$ declare c cursor (k int) for select plf(i-k) from t; x int; begin open c(1); fetch c into x; end $$
do $$ declare c cursor (k int) for select plf(i-k) from t; x int; begin open c(plf(0)); fetch c into x; end $$
do $$ declare c cursor (k int) for select plf(i-k) from t; x int; begin open c('x'); fetch c into x; end $$
do $$ declare c cursor (k int) for select plf(i-k) from t; x int; begin open c((select plf(0))); fetch c into x; end $$
do $$ declare c cursor (k int) for select plf(i-k) from t; x int; begin for r in c(1) loop raise notice '%', r; end loop; end $$
do $$ declare c cursor (k int) for select nosuch(i-k) from t; x int; begin for r in c(1) loop raise notice '%', r; end loop; end $$
do $$ declare c cursor (k int) for select nosuch(i-k) from t; x int; begin for r in c(nosuch) loop raise notice '%', r; end loop; end $$
do $$ declare c cursor (k int) for select i from t; x date; begin open c(1); fetch c into x; end $$
do $$ declare c cursor (k int) for select i from t; x date; begin open c(1); fetch absolute plf(0) from c into x; end $$
do $$ declare c cursor (k int) for select i from t; x date; begin open c(1); fetch relative 'x' from c into x; end $$
do $$ declare c cursor (k int) for select i from t; x date; begin open c(1); fetch absolute null from c into x; end $$
do $$ declare c cursor (k int) for select i from t; x date; begin open c(1); open c(1); end $$
do $$ declare c cursor (k int) for select i from t; x int; begin fetch c into x; end $$
do $$ declare c refcursor := 'nosuch'; x int; begin fetch c into x; end $$
do $$ declare c refcursor := 'nosuch'; x int; begin close c; end $$
do $$ declare c no scroll cursor for select i from t; x int; begin open c; fetch prior from c into x; end $$
do $$ declare c refcursor; begin open c for execute 'select 1; select 2'; end $$
do $$ declare c refcursor; begin open c for execute 'create table y(a int)'; end $$
do $$ declare c refcursor; begin open c for execute 'insert into t values (1)'; end $$
do $$ declare c refcursor; begin open c for execute 'insert into t values (1) returning i'; end $$
do $$ declare c refcursor; begin open c for insert into t values (1) returning i; end $$
do $$ declare c refcursor; begin open c for execute 'select nosuch'; end $$
do $$ declare c refcursor; begin open c for execute null; end $$
do $$ declare c refcursor; begin open c for execute 'select $1' using plf(0); end $$
do $$ declare c refcursor; begin open c scroll for select i from t for update; end $$
do $$ begin for i in 1..plf(0) loop null; end loop; end $$
do $$ begin for i in 1..'x' loop null; end loop; end $$
do $$ begin for i in 1..(select max(i) from t where false) loop null; end loop; end $$
do $$ begin for i in (select 1/0)..3 loop null; end loop; end $$
do $$ begin for i in 1..3 by 'a' loop null; end loop; end $$
do $$ begin for i in 1..3 by (select plf(0)) loop null; end loop; end $$
do $$ begin for i in 1..3000000000 loop null; end loop; end $$
do $$ declare r record; begin for r in select plf(i-3) from t loop raise notice '%', r; end loop; end $$
do $$ declare r record; begin for r in select 1/(i-3) from t order by i loop raise notice '%', r; end loop; end $$
do $$ declare x date; begin for x in select i from t loop raise notice '%', x; end loop; end $$
do $$ declare x int; begin for x in select i, i from t loop raise notice '%', x; end loop; end $$
do $$ declare r record; begin for r in execute 'select plf(i-3) from t' loop raise notice '%', r; end loop; end $$
do $$ declare r record; begin for r in execute 'select' || plf(0) loop raise notice '%', r; end loop; end $$
do $$ declare r record; begin for r in execute 'selec' loop raise notice '%', r; end loop; end $$
do $$ declare r record; begin for r in execute 'insert into t values (1)' loop raise notice '%', r; end loop; end $$
do $$ declare r record; begin for r in execute 'create table q(a int)' loop raise notice '%', r; end loop; end $$
do $$ declare r record; begin for r in insert into t values (1) loop raise notice '%', r; end loop; end $$
do $$ declare r record; begin for r in execute 'select $1/$2' using 1, 0 loop raise notice '%', r; end loop; end $$
do $$ declare r record; begin for r in update t set i = plf(0) returning i loop raise notice '%', r; end loop; end $$
do $$ declare x int; begin foreach x in array array[1,plf(0)] loop end loop; end $$
do $$ declare x int; begin foreach x in array (select array_agg(plf(i-1)) from t) loop end loop; end $$
do $$ declare x date; begin foreach x in array array[1,2] loop end loop; end $$
do $$ declare x int; begin foreach x in array 5 loop end loop; end $$
do $$ declare x int; begin foreach x in array null loop end loop; end $$
do $$ declare x int[]; begin foreach x slice 3 in array array[1,2] loop end loop; end $$
do $$ begin while plf(0) > 1 loop null; end loop; end $$
do $$ begin while (select plf(0)) > 1 loop null; end loop; end $$
do $$ begin while 'abc' loop null; end loop; end $$
do $$ begin loop exit when plf(0) > 1; end loop; end $$
do $$ begin loop continue when (select plf(0)) > 1; end loop; end $$
do $$ begin if plf(0) > 1 then null; end if; end $$
do $$ begin if false then null; elsif plf(0) > 1 then null; end if; end $$
do $$ begin if 5 then null; end if; end $$
do $$ begin if (select true from t) then null; end if; end $$
do $$ begin case plf(0) when 1 then null; end case; end $$
do $$ begin case 1 when plf(0) then null; end case; end $$
do $$ begin case 1 when 2, 3, (select plf(0)) then null; end case; end $$
do $$ begin case when (select plf(0)) = 1 then null; end case; end $$
do $$ begin case 1 when 'x' then null; end case; end $$
do $$ begin case 1 when 2 then null; end case; end $$
do $$ declare x date; begin get diagnostics x = row_count; end $$
do $$ declare x boolean; begin get diagnostics x = pg_context; end $$
do $$ declare x int; begin get stacked diagnostics x = returned_sqlstate; end $$
do $$ declare x int; begin perform 1/0; exception when others then get stacked diagnostics x = message_text; end $$
do $$ declare x text; begin perform plf(0); exception when others then get stacked diagnostics x = pg_exception_context; raise notice '%', x; get diagnostics x = pg_context; raise notice '%', x; perform plf(0); end $$
do $$ declare x text; begin perform plf(0); exception when others then raise; end $$
do $$ declare x text; begin perform plf(0); exception when others then raise exception 'new % %', sqlerrm, sqlstate; end $$
do $$ declare x text; begin begin perform plf(0); exception when others then perform plf3(0); end; end $$
do $$ begin raise notice '%', plf(0); end $$
do $$ begin raise notice '%', (select plf(0)); end $$
do $$ begin raise exception using message = plf(0); end $$
do $$ begin raise exception using errcode = 'nosuch'; end $$
do $$ begin raise exception using hint = null; end $$
do $$ begin raise nosuch; end $$
do $$ begin raise notice '% %', 1; end $$
do $$ begin raise notice '%', 1, 2; end $$
do $$ begin assert plf(0) = 1; end $$
do $$ begin assert false, plf(0); end $$
do $$ begin assert false; end $$
do $$ begin assert (select null::bool), 'msg'; end $$
do $$ begin execute plf(0); end $$
do $$ begin execute 'select 1/0'; end $$
do $$ begin execute 'select plf(0)'; end $$
do $$ begin execute 'select plf(i-3) from t'; end $$
do $$ begin execute 'select $1' using plf(0); end $$
do $$ begin execute 'select $1::date' using 'x'; end $$
do $$ begin execute 'select $2' using 'x'; end $$
do $$ begin execute 'select 1; select 1/0; select 2'; end $$
do $$ begin execute 'select 1; selec 1'; end $$
do $$ begin execute 'create table t(i int)'; end $$
do $$ begin execute 'drop table nosuch'; end $$
do $$ begin drop table nosuch; end $$
do $$ begin drop table if exists nosuch; end $$
do $$ begin execute 'drop table if exists nosuch'; end $$
do $$ begin create table t(i int); end $$
do $$ begin create table if not exists t(i int); end $$
do $$ begin create table nn(i nosuch); end $$
do $$ begin create table nn(i int check (j > 0)); end $$
do $$ begin create table nn(i int default 'x'); end $$
do $$ begin create view nn as select nosuch from t; end $$
do $$ begin alter table t add check (i > 3); end $$
do $$ begin perform nosuch; end $$
do $$ begin perform nosuch(1); end $$
do $$ begin perform 'x'::int; end $$
do $$ begin perform 'x'::text::int; end $$
do $$ begin insert into t values ('x'); end $$
do $$ begin insert into nosuch values ('x'); end $$
do $$ begin insert into t select plf(i-3) from t; end $$
do $$ begin update t set i = plf(0); end $$
do $$ begin delete from t where plf(i-1) = 1; end $$
do $$ begin do 'begin perform plf(0); end'; end $$
do $$ begin do 'begin raise notice $x$hi$x$; end'; end $$
do $$ begin execute 'do $x$ begin raise notice $y$hi$y$; end $x$'; end $$
do $$ begin do 'begin nosuch; end'; end $$
do $$ begin create function x() returns int language plpgsql as 'begin nosuch; end'; end $$
do $$ begin create function x() returns int language sql as 'select nosuch'; end $$
do $$ declare r record; begin raise notice '%', r.x; end $$
do $$ declare r record; begin perform r.x; end $$
do $$ declare r record; begin select r.x into r; end $$
do $$ declare r record; begin r := row(1); perform r.x; end $$
do $$ declare r t; begin r := row(1,2); raise notice '%', r; r := 1; end $$
do $$ declare r t; begin r.j := 1; end $$
do $$ declare x int; i int := 3; begin select i into x from t; end $$
do $$ declare x int; i int := 3; begin x := i from t; end $$
create procedure pr(a int, inout b int) language plpgsql as $$ begin b := 1/a; end $$
do $$ declare x int; begin call pr(0, x); end $$
do $$ declare x int; begin call pr(plf(0), x); end $$
do $$ declare x int; begin call pr(0, 1); end $$
do $$ declare x int; begin call pr(0); end $$
do $$ declare x int; begin call pr('x', x); end $$
do $$ declare x int; begin call nosuch('x', x); end $$
do $$ declare x text; begin call pr(1, x); end $$
do $$ declare x constant int := 1; begin call pr(1, x); end $$
do $$ begin execute 'call pr(0, 1)'; end $$
call pr(0, 1)
create procedure spr(a int) language sql as 'select 1/a'
call spr(0)
do $$ begin call spr(0); end $$
do $$ begin commit; perform 1/0; end $$
create procedure cpr() language plpgsql as $$ begin commit; perform plf(0); end $$
call cpr()
do $$ begin call cpr(); end $$
begin
call cpr()
rollback
do $$ begin begin commit; exception when others then null; end; end $$
create table tr(a int, b int check (b > 0))
create function trf() returns trigger language plpgsql as $$ begin new.a := plf(new.a); return new; end $$
create trigger trg before insert on tr for each row execute function trf()
insert into tr values (0, 1)
insert into tr values (1, -1)
do $$ begin insert into tr values (0, 1); end $$
create function trf2() returns trigger language plpgsql as $$ begin insert into tr values (new.i, new.i); return null; end $$
create trigger trg2 after insert on t for each row execute function trf2()
insert into t values (0)
insert into t values (-1)
create function trf3() returns trigger language plpgsql as $$ begin raise notice 'hi %', tg_op; return new; end $$
create trigger trg3 before insert or update or delete on t for each row execute function trf3()
insert into t values (1)
do $$ begin insert into t values (1); end $$
create function trf4() returns trigger language plpgsql as $$ begin return row(1,2,3); end $$
create table tr4(a int)
create trigger trg4 before insert on tr4 for each row execute function trf4()
insert into tr4 values (1)
create or replace function trf4() returns trigger language plpgsql as $$ begin return 1; end $$
insert into tr4 values (1)
create or replace function trf4() returns trigger language plpgsql as $$ begin end $$
insert into tr4 values (1)
create or replace function trf4() returns trigger language plpgsql as $$ begin raise notice '%', old; return new; end $$
insert into tr4 values (1)
create or replace function trf4() returns trigger language plpgsql as $$ begin raise notice '%', new.nosuch; return new; end $$
insert into tr4 values (1)
select trf4()
create table fk(i int primary key)
create table fk2(i int references fk on delete cascade)
insert into fk values (1)
insert into fk2 values (1)
create trigger trg5 before delete on fk2 for each row execute function trf3()
delete from fk
create function trf6() returns trigger language plpgsql as $$ begin return 1/0; end $$
create trigger trg6 before delete on fk2 for each row execute function trf6()
insert into fk values (1)
insert into fk2 values (1)
delete from fk
set client_min_messages = error
drop schema plpgsql_contexts cascade
