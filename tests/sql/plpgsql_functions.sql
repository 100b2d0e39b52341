create schema plf; set search_path = plf, public
create function poly1(anyelement) returns anyarray language plpgsql as $$ declare r $0%type; begin return array[$1, $1]; end $$
create function poly1b(x anyelement) returns anyarray language plpgsql as $$ declare y x%type := x; z x%type[]; begin return array[x, y]; end $$
create function poly1c(x anyelement) returns anyarray language plpgsql as $$ declare y x%type := x; z $0%type := array[y]; w $1%type := y; begin return z || w; end $$
select poly1c(1), poly1c('a'::text); select poly1b(1)
select poly1(1), poly1(2.5), poly1('a'::text), poly1('2020-01-01'::date); select poly1(null); select poly1('x')
create function poly2(a anyarray, out b anyelement, out c anyarray) language plpgsql as $$ begin b := a[1]; c := a || a; end $$
select * from poly2(array[1, 2]); select (poly2(array['a', 'b'])).*; select poly2('{}'::int[])
create function poly3(a anycompatible, b anycompatible) returns anycompatible language plpgsql as $$ begin raise notice '% %', pg_typeof(a), pg_typeof(b); return a; end $$
select poly3(1, 2.5), poly3(1::smallint, 2), poly3('a'::varchar, 'b'::text)
create function poly5(a anyelement, variadic b anyarray) returns text language plpgsql as $$ begin return a || ':' || array_to_string(b, ','); end $$
select poly5(1, 2, 3), poly5('a'::text, 'b', 'c'), poly5(1, variadic array[5])
create function poly6(anyelement) returns setof anyelement language plpgsql as $$ begin return next $1; return next $1; end $$
select poly6(1), poly6('x'::text); select * from poly6(row(1, 'a'::text)) as t(x int, y text)
create function poly7(inout a anyelement, b anyelement default null) language plpgsql as $$ begin a := coalesce(b, a); end $$
select poly7(1), poly7(1, 2), poly7(b => 5, a => 6)
create function rec1(r record) returns text language plpgsql as $$ begin return r.x || '-' || r; end $$
select rec1(t) from (select 1 as x, 'a' as y) t
select rec1(row(1, 2))
create function rec2(r anyelement) returns text language plpgsql as $$ declare t text; begin t := r.x; return t; end $$
select rec2(t) from (select 1 as x, 'a' as y) t
create type plf_c as (x int, y text)
create function rec3(c plf_c) returns plf_c language plpgsql as $$ begin c.x := c.x + 1; return c; end $$
select rec3((1, 'a')), (rec3((1, 'a'))).y, rec3(null)
create function rec4(c plf_c[]) returns int language plpgsql as $$ declare s int := 0; e plf_c; begin foreach e in array c loop s := s + e.x; end loop; c[1].x := 100; return s + c[1].x; end $$
select rec4(array[(1, 'a'), (2, 'b')]::plf_c[])
create function def1(a int, b int default 5, c text default 'q') returns text language plpgsql as $$ begin return concat(a, ',', b, ',', c); end $$
select def1(1), def1(1, 2), def1(c => 'z', a => 0)
create function ret1() returns record language plpgsql as $$ begin return (1, 'a'::text); end $$
select ret1(); select * from ret1() as t(a int, b text); select * from ret1() as t(a int, b int); select * from ret1()
create function ret2(out a int, out b text) returns record language plpgsql as $$ begin a := 1; b := 'x'; return; end $$
select * from ret2(); select ret2()
create function ret3(out a int) returns setof int language plpgsql as $$ begin a := 1; return next; a := 2; return next; end $$
select ret3(); select * from ret3()
create function ret4() returns table(a int, b plf_c) language plpgsql as $$ begin a := 1; b := (5, 'five'); return next; b.x := 6; return next; return query select 9, null::plf_c; end $$
select * from ret4(); select a, (b).x from ret4()
create function ret5(n int) returns setof plf_c language plpgsql as $$ begin return query execute 'select i, ''n'' || i from generate_series(1, $1) i' using n; if not found then raise notice 'none'; end if; return; end $$
select * from ret5(3); select * from ret5(0)
create function ret6() returns varchar(3) language plpgsql as $$ begin return 'abcdef'; end $$
select ret6()
create domain plf_d as int check (value > 0)
create function ret7(x int) returns plf_d language plpgsql as $$ begin return x; end $$
select ret7(1); select ret7(-1)
create function ret8(x plf_d) returns int language plpgsql as $$ begin x := x - 1; return x; end $$
select ret8(2); select ret8(1)
create function ret9() returns int[] language plpgsql as $$ declare a int[]; begin for i in 1..3 loop a[i] := i * i; end loop; a[5] := 0; return a; end $$
select ret9()
create function rec_depth(n int) returns int language plpgsql as $$ begin if n = 0 then return 0; end if; return 1 + rec_depth(n - 1); end $$
select rec_depth(100)
create function fib(n int) returns int language plpgsql as $$ begin if n < 2 then return n; end if; return fib(n - 1) + fib(n - 2); end $$
select fib(15)
create function even(n int) returns boolean language plpgsql as $$ begin if n = 0 then return true; end if; return odd(n - 1); end $$
create function odd(n int) returns boolean language plpgsql as $$ begin return n <> 0 and even(n - 1); end $$
select even(20), odd(7)
create function lbl() returns text language plpgsql as $$ <<outer>> declare x int := 1; begin <<inner>> declare x int := 2; begin return outer.x || ',' || inner.x || ',' || x; end; end $$
select lbl()
create function prm(x int) returns int language plpgsql as $$ declare x int := prm.x + 1; begin return x + prm.x + $1; end $$
select prm(10)
create function case1(x int) returns text language plpgsql as $$ begin case x when 1, 2 then return 'low'; when 3 then return 'three'; else return 'other'; end case; end $$
select case1(1), case1(2), case1(3), case1(4), case1(null)
create function case2(x int) returns text language plpgsql as $$ begin case when x < 0 then return 'neg'; when x = 0 then return 'zero'; end case; return 'end'; end $$
select case2(-1), case2(0); select case2(1)
create function dyn1(t text) returns bigint language plpgsql as $$ declare n bigint; begin execute format('select count(*) from %I where oid = %L', t, 1255) into n; return n; end $$
select dyn1('pg_class'), dyn1('pg_proc'); select dyn1('no such')
create function dyn2() returns text language plpgsql as $$ declare r record; s text := ''; begin for r in execute 'values (1, ''a''), (2, ''b'')' loop s := s || r.column1 || r.column2; end loop; execute 'select $1 + $2' into s using 1, 2; return s; end $$
select dyn2()
create function diag() returns text language plpgsql as $$ declare n int; o oid; c text; begin create temp table plf_tmp(a int primary key); insert into plf_tmp values (1), (2), (3); get diagnostics n = row_count; delete from plf_tmp where a > 1; get current diagnostics n := row_count; return n; end $$
select diag()
create function exc(x int) returns text language plpgsql as $$ declare a text; b text; c text; d text; e text; f text; begin case x when 1 then insert into plf_tmp values (1); when 2 then insert into plf_tmp values (null); when 3 then perform 'x'::int; when 4 then perform 1 / 0; when 5 then perform * from nosuch; when 6 then raise exception using errcode = 'P1234', message = 'm', detail = 'd', hint = 'h', column = 'c', table = 't', schema = 's', datatype = 'ty', constraint = 'co'; end case; return 'none'; exception when others then get stacked diagnostics a = returned_sqlstate, b = message_text, c = constraint_name, d = table_name, e = column_name, f = pg_exception_detail; return concat_ws('|', a, b, c, d, e, f); end $$
select exc([[1¦2¦3¦4¦5¦6¦7]])
create function nest(x int) returns text language plpgsql as $$ declare t text := ''; begin begin t := t || 'a'; begin t := t || 'b'; perform 1 / x; t := t || 'c'; exception when unique_violation then t := t || 'd'; end; t := t || 'e'; exception when division_by_zero then t := t || 'f'; begin perform 'q'::int; exception when others then t := t || sqlstate; end; t := t || sqlstate; end; return t; end $$
select nest(0), nest(1)
create function exit1() returns text language plpgsql as $$ declare s text := ''; begin <<l1>> for i in 1..3 loop <<l2>> for j in 1..3 loop continue l1 when j = 2 and i = 1; exit l1 when i = 3; exit when j = 3; s := s || i || j || ' '; end loop; end loop; <<b>> begin exit b; s := s || 'no'; end; <<w>> while true loop loop exit w; end loop; end loop; return s; end $$
select exit1()
create function loops(a int, b int, c int) returns text language plpgsql as $$ declare s text := ''; begin for i in a..b by c loop s := s || i || ' '; end loop; for i in reverse b..a by c loop s := s || i || ' '; end loop; return s || found; end $$
select loops(1, 5, 2), loops(5, 1, 1); select loops(1, 2, 0); select loops(null, 1, 1); select loops(1, 2, null)
create function arr2d() returns text language plpgsql as $$ declare a int[][] := '{{1,2},{3,4}}'; r int[]; x int; s text := ''; begin foreach r slice 1 in array a loop s := s || r::text; end loop; foreach x in array a loop s := s || x; end loop; a[2][1] := 9; a[1:1][1:2] := '{{7,8}}'; return s || a::text; end $$
select arr2d()
create function volat() returns int stable language plpgsql as $$ begin return (select count(*) from plf_tmp); end $$
select volat()
create function upd() returns setof int language plpgsql as $$ begin return query update plf_tmp set a = a + 10 returning a; return query insert into plf_tmp values (50), (51) returning a * 2; end $$
select * from upd()
create function into1() returns text language plpgsql as $$ declare a int; b text; r record; begin insert into plf_tmp values (60) returning a, 'x' into a, b; return a; end $$
select into1()
create or replace function into1() returns text language plpgsql as $$ declare x int; b text; r record; begin insert into plf_tmp values (60) returning a, 'x' into x, b; update plf_tmp set a = 61 where a = 60 returning * into r; delete from plf_tmp where a = 61 returning a into strict x; delete from plf_tmp where a = 61 returning a into x; return concat(x, b, r, found); end $$
select into1()
create function cross1() returns void language plpgsql as $$ begin perform cross2(); end $$
select cross1()
create function cross2() returns void language plpgsql as $$ begin raise 'deep'; end $$
select cross1()
create or replace function cross2() returns void language plpgsql as $$ begin raise notice 'changed'; end $$
select cross1()
drop function cross2; select cross1()
create table plf_t(a int, b text); insert into plf_t values (1, 'one'), (2, 'two')
create function rowtype1() returns text language plpgsql as $$ declare r plf_t%rowtype; c plf_t.b%type; s text := ''; begin for r in select * from plf_t order by a loop s := s || r.b; c := r.b; end loop; return s || c; end $$
select rowtype1(); alter table plf_t add c int default 7; select rowtype1()
create function star() returns setof plf_t language plpgsql as $$ begin return query select * from plf_t order by a; end $$
select * from star(); alter table plf_t drop column b; select * from star()
alter table plf_t add d text; select * from star()
create function upsert(k int, v int) returns text language plpgsql as $$ begin loop update plf_t set c = v where a = k; if found then return 'updated'; end if; insert into plf_t(a, c) values (k, v); return 'inserted'; end loop; end $$
select upsert(1, 5), upsert(100, 6)
select a, c from plf_t order by a
create function strictly(a int, b text) returns text strict language plpgsql as $$ begin return a || b; end $$
select strictly(1, 'a'), strictly(null, 'a')
create function intv() returns interval language plpgsql as $$ declare t timestamptz := now(); begin return now() - t; end $$
select intv()
create function nulls(a int) returns text language plpgsql as $$ declare b int; begin if a > b then return 'gt'; elsif a is null then return 'null'; else return 'else'; end if; end $$
select nulls(1), nulls(null)
do $$ declare x numeric(5, 2) := 1.239; y char(3) := 'a'; z varchar(2); begin raise notice '[%] [%]', x, y; z := 'abc'; raise notice '[%]', z; x := 12345; end $$
do $$ declare x constant int := 5; begin x := 6; end $$
do $$ declare x int not null := null; begin null; end $$
do $$ declare x int not null := 5; begin x := null; end $$
do $$ declare a alias for b; begin null; end $$
do $$ declare x int := 1; begin declare y int := x + 1; x int := y + x; begin raise notice '% %', x, y; end; end $$
do $$ declare x text collate "C" := 'a'; y text collate "POSIX" := 'b'; begin raise notice '%', x < 'b'; raise notice '%', x < y; end $$
create function coll1(a text, b text) returns boolean language plpgsql as $$ declare c text := a; begin return c < b; end $$
select coll1('a', 'B'), coll1('a' collate "C", 'B'), coll1('a', 'B' collate "POSIX"); select coll1('a' collate "C", 'b' collate "POSIX")
create table plf_coll(a text collate "C", b text collate "POSIX"); insert into plf_coll values ('a', 'B')
do $$ declare r record; s plf_coll; begin select * into r from plf_coll; raise notice '%', r.a < 'b'; s := r; raise notice '%', s.a < 'b' collate "C"; raise notice '%', r.a < r.b; end $$
select coll1(a, a), coll1(b, 'x') from plf_coll; select coll1(a, b) from plf_coll
do $$ begin raise notice '%', (select array_agg(x order by x) from unnest(array[3, 1, 2]) x); end $$
do $$ declare j json := '{"a": [1, 2]}'; v int; begin for v in select * from json_array_elements_text(j->'a') loop raise notice '%', v; end loop; end $$
do $$ declare r record; begin for r in select 1 as a union all select 2 loop r.a := r.a * 10; raise notice '%', r.a; end loop; raise notice '%', r; end $$
do $$ declare a int; b int; begin (a, b) := (1, 2); end $$
do $$ declare a int[]; begin a := array(select generate_series(1, 3)); a[array_upper(a, 1) + 1] := 4; raise notice '% %', a, a[2:3]; a[7] := 1; raise notice '%', a; a := a[2:]; raise notice '%', a; end $$
do $$ declare t text := 'x'; begin for i in 1..3 loop t := t || t; end loop; raise notice '% %', t, length(t); end $$
do $$ declare f float8 := 0; begin for i in 1..10 loop f := f + 0.5; end loop; raise notice '%', f; f := f / 0; end $$
do $$ declare n numeric := 1; begin for i in 1..30 loop n := n * i; end loop; raise notice '%', n; end $$
do $$ declare b bool; begin b := null; if b then raise notice 't'; else raise notice 'f'; end if; while b loop null; end loop; raise notice '%', b is null; end $$
do $$ declare d date := '2020-02-28'; begin d := d + 1; d := d + interval '1 day'; raise notice '%', d; end $$
do $$ declare c "char" := 'x'; n name := 'abc'; o oid := 5; r regclass := 'pg_class'; begin raise notice '% % % % %', c, n, o, r, o = 5; end $$
do $$ declare s text; begin s := E'a\tb' || $q$it's$q$; raise notice '%', s; raise notice 'a%%b'; raise notice '%', 'x%y'; end $$
do $$ declare begin begin raise exception 'one'; exception when raise_exception then raise exception 'two'; end; exception when others then raise notice '%', sqlerrm; end $$
do $$ begin raise exception 'a' using errcode = 'bogus'; end $$
do $$ begin raise exception sqlstate '00000'; end $$
do $$ begin raise notice using message = 'a', message = 'b'; end $$
do $$ declare x int; begin execute 'select 1' into x, x; raise notice '%', x; end $$
do $$ begin execute 'select ' || null; end $$
do $$ begin execute ''; execute '-- nothing'; execute 'select 1; select 2'; end $$
do $$ begin execute 'begin'; end $$
do $$ declare x int; begin execute 'create temp table plf_x(a int)' into x; end $$
do $$ declare x int; begin execute 'select 1 into plf_y'; end $$
do $$ declare x int := 3; begin execute 'insert into plf_t(a) values ($1), ($2)' using x, x + 1; get diagnostics x = row_count; raise notice '% %', x, found; end $$
do $$ begin return 1; end $$
do $$ begin return; raise notice 'no'; end $$
do $$ begin perform pg_sleep(0); perform set_config('a.b', 'c', true); raise notice '%', current_setting('a.b'); end $$
do language plpgsql $$ begin raise notice 'lang'; end $$
do $$ begin raise notice '%', inline_code_block.found; end $$
create table pld_t(a int, b text); insert into pld_t select i, 'r' || i from generate_series(1, 20) i
do $$ declare x text; s text := ''; begin for i in 1..12 loop execute 'select b from pld_t where a = $1' into x using i; s := s || x; end loop; raise notice '%', s; end $$
do $$ declare n int; begin for i in 1..3 loop execute 'insert into pld_t values ($1, $2)' using 100 + i, 'd' || i; execute 'update pld_t set b = b || $2 where a >= $1' using 102, '!'; get diagnostics n = row_count; raise notice '%', n; end loop; end $$
select * from pld_t where a > 100 order by a
do $$ declare x text; begin for i in 1..3 loop execute 'select a + $1 from pld_t order by a limit 1' into x using case when i = 2 then 5 else i end; raise notice '%', x; if i = 1 then alter table pld_t alter a type bigint; elsif i = 2 then alter table pld_t alter a type numeric; end if; end loop; end $$
do $$ declare x text; begin for i in 1..2 loop execute 'select * from pld_t order by a limit 1' into x; raise notice '%', x; alter table pld_t add column c int default 7; alter table pld_t drop column a; alter table pld_t rename c to a; end loop; exception when others then raise notice '% %', sqlstate, sqlerrm; end $$
do $$ declare x text; begin for i in 1..3 loop begin execute 'select pg_typeof($1) || $1::text' into x using i; raise notice '%', x; if i = 2 then execute 'select nosuch'; end if; exception when undefined_column then raise notice '%', sqlerrm; end; end loop; execute 'select pg_typeof($1) || $1::text' into x using 2.5; raise notice '%', x; end $$
do $$ declare r record; n int := 0; begin for i in 1..3 loop for r in execute 'select a, b from pld_t where a > $1 order by a' using i * 5 loop n := n + 1; end loop; raise notice '%', n; end loop; end $$
create function pld_rec(n int) returns text language plpgsql as $$ declare x text; begin execute 'select case when $1 > 0 then pld_rec($1 - 1) else ''end'' end || $1' into x using n; return x; end $$
select pld_rec(5)
create function pld_rec2(n int) returns int language plpgsql as $$ declare x int; begin select case when n > 0 then pld_rec2(n - 1) + 1 else (select count(*) from pld_t)::int end into x; return x; end $$
select pld_rec2(4), pld_rec2(2), pld_rec2(3)
do $$ declare x timestamptz; y timestamptz; begin execute 'select timestamptz ''now''' into x; commit; perform pg_sleep(0.01); for i in 1..1 loop execute 'select timestamptz ''now''' into y; end loop; raise notice '%', x < y; end $$
do $$ declare x int; begin for i in 1..3 loop begin select a into x from pld_t where a = i; insert into pld_t values (i + 500, 'x'); perform 1 / (i - 2); exception when division_by_zero then raise notice 'rolled back'; end; end loop; raise notice '%', (select count(*) from pld_t where a > 500); end $$
do $$ declare x int; begin for i in 1..4 loop select count(*) into x from pld_t where a > 500; raise notice '%', x; if i = 2 then truncate pld_t; elsif i = 3 then drop table pld_t; create table pld_t(a int, b text); insert into pld_t values (501, 'new'); end if; end loop; end $$
drop table pld_t; drop function pld_rec; drop function pld_rec2
drop schema plf cascade; reset search_path
