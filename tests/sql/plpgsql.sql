do $$ begin raise notice 'x'; end $$
do $$ begin raise notice '% and %% and %', 1, 'a'; end $$
do $$ declare x int; begin x := 1; raise notice '%', x; x := x + 1; raise notice '%', x; end $$
do $$ declare x int := 5; y text default 'abc'; z constant numeric = 1.5; begin raise notice '% % %', x, y, z; end $$
do $$ declare x int := 'abc'; begin null; end $$
do $$ declare x int; begin x := 'abc'; end $$
do $$ declare x int; begin x := 1/0; end $$
do $$ declare x int := 0; begin x := 1/x; end $$
do $$ declare x int; begin x := y; end $$
do $$ declare x int; begin x := '5'; x := 5.6; x := x || '7'; raise notice '%', x; end $$
do $$ declare x varchar(3); begin x := 'abcdef'; end $$
do $$ declare x numeric(5,2) := 3.14159; begin raise notice '%', x; x := 12345678; end $$
do $$ declare x int not null := 1; begin x := null; end $$
do $$ declare x int not null := null; begin null; end $$
do $$ declare x int; begin if x is null then raise notice 'null'; elsif x = 1 then raise notice 'one'; else raise notice 'else'; end if; x := 1; if x = 2 then null; elsif x = 1 then raise notice 'one'; else raise notice 'else'; end if; end $$
do $$ declare x int := 3; begin case x when 1, 2 then raise notice 'a'; when 3, 4 then raise notice 'b'; else raise notice 'c'; end case; case when x > 5 then raise notice 'd'; else raise notice 'e'; end case; case x when 1 then null; end case; end $$
do $$ begin for i in 1..3 loop raise notice '%', i; end loop; for i in reverse 3..1 loop raise notice '%', i; end loop; for i in 1..10 by 4 loop raise notice '%', i; end loop; end $$
do $$ begin for i in 1..null loop null; end loop; end $$
do $$ begin for i in 1..3 by 0 loop null; end loop; end $$
do $$ declare i int := 0; begin loop i := i + 1; exit when i > 3; continue when i = 2; raise notice '%', i; end loop; while i > 0 loop i := i - 1; raise notice 'w %', i; end loop; end $$
do $$ begin <<a>> for i in 1..3 loop for j in 1..3 loop continue a when j = 2; raise notice '% %', i, j; exit a when i = 2; end loop; end loop a; end $$
do $$ <<b>> declare x int := 1; begin declare x int := 2; begin raise notice '% %', x, b.x; end; exit b; raise notice 'no'; end b $$
do $$ declare r record; begin for r in select i as a, i * 2 as b from generate_series(1,3) i loop raise notice '% %', r.a, r.b; end loop; raise notice '%', r; end $$
do $$ declare r record; begin for r in select 1 as a where false loop null; end loop; raise notice '% %', r, found; end $$
do $$ declare a int; b text; begin for a, b in select i, 'x' || i from generate_series(1,2) i loop raise notice '% %', a, b; end loop; raise notice '%', found; end $$
do $$ declare a int; begin for a in execute 'select i from generate_series($1,$2) i' using 2, 4 loop raise notice '%', a; end loop; end $$
do $$ declare r record; begin select 1 as a, 'x'::text as b into r; raise notice '% % %', r, r.a, r.b; r.a := r.a + 1; raise notice '%', r; r := row(5, 'q', 7); raise notice '%', r.f3; end $$
do $$ declare r record; begin raise notice '%', r.a; end $$
do $$ declare r record; begin r.a := 1; end $$
do $$ declare r record; begin select 1 as b into r; raise notice '%', r.a; end $$
do $$ declare r record; begin raise notice '%', r; r := null; raise notice '%', r; end $$
do $$ declare a int; b int; begin select 1, 2 into a, b; raise notice '% % %', a, b, found; select 1 into a, b; raise notice '% %', a, b; select 1, 2, 3 into a, b; raise notice '% %', a, b; select 1 into a where false; raise notice '% %', a, found; end $$
do $$ declare a int; begin select i into strict a from generate_series(1,2) i; end $$
do $$ declare a int; begin select 1 into strict a where false; end $$
do $$ declare a int; begin select 1; end $$
do $$ declare a int; begin perform 1; raise notice '%', found; perform 1 where false; raise notice '%', found; end $$
do $$ declare a int; begin perform 1/0; end $$
do $$ declare a int; begin execute 'select 1/0'; end $$
do $$ declare a int; begin execute 'select 1/'; end $$
do $$ declare a int; begin execute null; end $$
do $$ declare a int; b int; begin execute 'select 1, 2' into a, b; raise notice '% %', a, b; execute 'select $1 + 1' into a using b; raise notice '%', a; end $$
do $$ declare a int; begin execute 'select i from generate_series(1,3) i' into strict a; end $$
do $$ begin raise exception 'boom %', 1; end $$
do $$ begin raise exception 'boom' using errcode = 'division_by_zero', detail = 'd', hint = 'h', table = 't', schema = 's', column = 'c', constraint = 'k', datatype = 'dt'; end $$
do $$ begin raise division_by_zero; end $$
do $$ begin raise sqlstate '12345'; end $$
do $$ begin raise warning 'w' using errcode = '01234'; raise info 'i'; raise log 'l'; raise debug 'd'; raise notice using message = 'm', hint = 'h'; end $$
do $$ begin raise 'a' using message = 'b'; end $$
do $$ begin raise division_by_zero using errcode = '12345'; end $$
do $$ begin raise notice 'x %', null; raise notice 'x' using detail = null; end $$
do $$ begin raise; end $$
do $$ begin raise unique_violation using message = 'dup'; exception when unique_violation then raise notice 'caught % %', sqlstate, sqlerrm; end $$
do $$ begin perform 1/0; exception when division_by_zero or unique_violation then raise notice 'caught % %', sqlstate, sqlerrm; when others then raise notice 'others'; end $$
do $$ begin perform 1/0; exception when unique_violation then null; when others then raise notice 'others %', sqlerrm; raise; end $$
do $$ begin perform 1/0; exception when sqlstate '22012' then raise notice 'ok'; end $$
do $$ begin perform 1/0; exception when sqlstate '22000' then raise notice 'class'; end $$
do $$ begin begin perform 1/0; exception when unique_violation then null; end; exception when others then raise notice 'outer %', sqlerrm; end $$
do $$ declare a text; b text; c text; d text; begin raise exception 'm' using detail = 'dd', hint = 'hh', errcode = '12345', column = 'cc'; exception when others then get stacked diagnostics a = message_text, b = pg_exception_detail, c = pg_exception_hint, d = returned_sqlstate; raise notice '% % % %', a, b, c, d; get stacked diagnostics a = column_name, b = pg_exception_context, c = constraint_name; raise notice '% % %', a, b, c; end $$
do $$ declare a text; begin get stacked diagnostics a = message_text; end $$
create table pl_t(a int primary key, b text)
do $$ declare n int; begin insert into pl_t select i, 'r' || i from generate_series(1,5) i; get diagnostics n = row_count; raise notice '% %', n, found; update pl_t set b = 'x' where a > 10; raise notice '%', found; delete from pl_t where a = 5; raise notice '%', found; end $$
select * from pl_t order by a
do $$ declare x int; begin insert into pl_t values (10, 'ten') returning a into x; raise notice '%', x; insert into pl_t values (1, 'dup'); exception when unique_violation then raise notice 'dup: % %', sqlerrm, x; end $$
select count(*) from pl_t
do $$ begin begin insert into pl_t values (20, 'a'); raise exception 'x'; exception when others then insert into pl_t values (21, 'b'); end; insert into pl_t values (22, 'c'); end $$
select * from pl_t where a >= 20 order by a
do $$ declare x int; begin update pl_t set b = b || '!' where a < 3 returning a into x; end $$
do $$ declare a int := 1; begin perform * from pl_t where a = 1; end $$
do $$ #variable_conflict use_column declare a int := 100; n int; begin select count(*) into n from pl_t where a = 1; raise notice '%', n; end $$
do $$ #variable_conflict use_variable declare a int := 100; n int; begin select count(*) into n from pl_t where a = 1; raise notice '%', n; end $$
do $$ declare r pl_t; begin select * into r from pl_t where pl_t.a = 1; raise notice '% % %', r, r.a, r.b; r.b := 'new'; raise notice '%', r; r := null; raise notice '% %', r, r.a; r.a := 4; raise notice '%', r; end $$
do $$ declare r pl_t%rowtype; x pl_t.a%type := 7; y x%type; begin y := x; raise notice '%', y; r := row(1, 'a'); raise notice '%', r; r := row('1', 5); raise notice '%', r; end $$
do $$ declare r pl_t; begin for r in select * from pl_t where a < 3 order by a loop raise notice '%', r.b; end loop; end $$
do $$ declare a int[] := '{1,2,3}'; x int; begin a[2] := 20; raise notice '% %', a, a[2]; a := a || 4; raise notice '%', array_length(a, 1); foreach x in array a loop raise notice '%', x; end loop; a[7] := 9; raise notice '%', a; end $$
do $$ declare a int[] := '{{1,2},{3,4}}'; x int[]; begin foreach x slice 1 in array a loop raise notice '%', x; end loop; end $$
do $$ declare a int[]; x int; begin foreach x in array a loop null; end loop; end $$
do $$ declare x int; begin foreach x in array 5 loop null; end loop; end $$
do $$ begin assert 1 = 1; assert 1 = 2, 'no'; end $$
do $$ begin assert null; end $$
do $$ begin assert false; exception when others then null; end $$
do $$ begin assert false; exception when assert_failure then raise notice 'caught'; end $$
create function pl_add(a int, b int) returns int language plpgsql as $$ begin return a + b; end $$
select pl_add(1, 2), pl_add(null, 1), pl_add(b => 3, a => 4)
select pl_add(a, 1) from pl_t order by a
create function pl_fact(n int) returns numeric language plpgsql as $$ begin if n <= 1 then return 1; end if; return n * pl_fact(n - 1); end $$
select pl_fact(5), pl_fact(20), length(pl_fact(100)::text)
create function pl_noret(x int) returns int language plpgsql as $$ begin if x > 0 then return x; end if; end $$
select pl_noret(1)
select pl_noret(0)
create function pl_void() returns void language plpgsql as $$ begin null; end $$
select pl_void(), pl_void() is null
create function pl_out(in a int, out b int, out c text) language plpgsql as $$ begin b := a + 1; c := 'c' || a; end $$
select pl_out(1); select * from pl_out(2); select (pl_out(3)).c
create function pl_out1(in a int, out b int) language plpgsql as $$ begin b := a + 1; end $$
select pl_out1(1), * from pl_out1(2)
create function pl_inout(inout a int, inout b text) language plpgsql as $$ begin a := a * 2; b := b || b; return; end $$
select * from pl_inout(4, 'x')
create function pl_set(n int) returns setof int language plpgsql as $$ begin for i in 1..n loop return next i; end loop; return; end $$
select pl_set(3); select * from pl_set(2); select pl_set(0); select sum(x) from pl_set(100) x
create function pl_tab(n int) returns table(x int, y text) language plpgsql as $$ begin for x in 1..n loop y := 'y' || x; return next; end loop; return query select 100, 'q'; raise notice '%', found; return query execute 'select $1, $2' using 200, 'e'::text; end $$
select * from pl_tab(2); select pl_tab(1)
create function pl_rows() returns setof pl_t language plpgsql as $$ declare r pl_t; begin for r in select * from pl_t where a < 4 order by a loop return next r; end loop; return query select * from pl_t where a = 4; end $$
select * from pl_rows(); select (pl_rows()).b; select pl_rows()
create function pl_rec() returns setof record language plpgsql as $$ begin return query select 1, 'a'::text; return next row(2, 'b'::text); end $$
select * from pl_rec() as t(a int, b text)
select * from pl_rec() as t(a int, b int)
select * from pl_rec() as t(a int)
create function pl_bad() returns setof int language plpgsql as $$ begin return query select 'a'::text; end $$
select * from pl_bad()
create function pl_comp() returns pl_t language plpgsql as $$ begin return row(1, 'x'); end $$
select pl_comp(); select * from pl_comp()
create function pl_comp2() returns pl_t language plpgsql as $$ declare r record; begin select 1, 'y'::text into r; return r; end $$
select pl_comp2(); select (pl_comp2()).b
create function pl_comp3() returns pl_t language plpgsql as $$ begin return 5; end $$
select pl_comp3()
create function pl_any(a anyelement, b anyarray) returns anyarray language plpgsql as $$ declare x a%type := a; begin return b || x; end $$
select pl_any(1, array[2,3]), pl_any('a'::text, array['b'])
create function pl_variadic(variadic a int[]) returns int language plpgsql as $$ declare s int := 0; x int; begin foreach x in array a loop s := s + x; end loop; return s; end $$
select pl_variadic(1,2,3), pl_variadic(variadic array[4,5])
create function pl_strict(a int) returns int strict language plpgsql as $$ begin return 1; end $$
select pl_strict(null), pl_strict(1)
create function pl_stable() returns int stable language plpgsql as $$ begin insert into pl_t values (50); return 1; end $$
select pl_stable()
create function pl_text(x text) returns text language plpgsql as $$ declare y alias for x; z alias for $1; begin return y || z || $1; end $$
select pl_text('a')
create procedure pl_proc(a int, inout b int) language plpgsql as $$ begin b := a + coalesce(b, 0); raise notice 'in proc'; end $$
call pl_proc(1, 2); call pl_proc(1, null)
create procedure pl_proc2() language plpgsql as $$ begin insert into pl_t values (60, 'p'); end $$
call pl_proc2(); select * from pl_t where a = 60
create function pl_err() returns int language plpgsql as $$ declare x int; begin x := pl_add(1, 2); perform pl_err2(x); return x; end $$
create function pl_err2(a int) returns int language plpgsql as $$ begin raise notice 'in err2'; return 1 / (a - 3); end $$
select pl_err()
create function pl_catch() returns text language plpgsql as $$ declare c text; begin perform pl_err(); return 'no'; exception when division_by_zero then get stacked diagnostics c = pg_exception_context; return sqlerrm; end $$
select pl_catch()
create function pl_inf(n int) returns int language plpgsql as $$ begin return pl_inf(n + 1); end $$
do $$ begin create temp table pl_tmp(x int); insert into pl_tmp values (1), (2); raise notice '%', (select sum(x) from pl_tmp); drop table pl_tmp; create temp table pl_tmp as select 'a'::text as x; raise notice '%', (select x from pl_tmp); end $$
do $$ begin execute 'create temp table pl_tmp2(x int)'; execute 'insert into pl_tmp2 values (1)'; raise notice '%', (select count(*) from pl_tmp2); end $$
do $$ begin set local work_mem = '1MB'; raise notice '%', current_setting('work_mem'); end $$
do $$ begin perform set_config('work_mem', '2MB', true); raise notice '%', current_setting('work_mem'); begin perform set_config('work_mem', '3MB', true); raise exception 'x'; exception when others then raise notice '%', current_setting('work_mem'); end; end $$
do $$ begin savepoint a; end $$
do $$ begin vacuum pl_t; end $$
create domain pl_pos as int check (value > 0)
do $$ declare x pl_pos := 1; begin x := 5; x := -1; end $$
do $$ declare x pl_pos := 0; begin null; end $$
create type pl_c as (x int, y text)
do $$ declare c pl_c; d pl_c[]; begin c.x := 1; c.y := 'a'; raise notice '%', c; d[1] := c; raise notice '% %', d, d[1].y; c := (2, 'b'); d := d || c; raise notice '%', d; d[1].x := 7; raise notice '%', d; end $$
do $$ declare x int; begin x := (select max(a) from pl_t); raise notice '%', x; x := (select a from pl_t); end $$
do $$ declare x int; begin x := a from pl_t where a = 2; raise notice '%', x; x := 1, 2; end $$
do $$ declare x int; begin x := count(*) from pl_t; if exists (select 1 from pl_t where a = x) then raise notice 'yes'; end if; raise notice '%', x is not null; end $$
do $$ declare t timestamp := '2020-01-01'; d date; i interval; begin d := t; i := t - '2019-12-31'; raise notice '% % %', t, d, i; end $$
do $$ declare b boolean; begin b := 'yes'; b := 1; raise notice '%', b; end $$
do $$ declare j jsonb := '{"a": 1}'; begin j['b'] := '2'; raise notice '% %', j, j->'a'; end $$
[[create or replace function pl_f() returns int language plpgsql as $$ begin return 1 end $$¦create or replace function pl_f() returns int language plpgsql as $$ begin retrun 1; end $$¦create or replace function pl_f() returns int language plpgsql as $$ begin return 'a' 'b'; end $$¦create or replace function pl_f() returns int language plpgsql as $$ declare x foo; begin return 1; end $$¦create or replace function pl_f() returns int language plpgsql as $$ begin select 1 form x; end $$¦create or replace function pl_f() returns int language plpgsql as 'begin if true then return 1; end'¦create or replace function pl_f() returns int language plpgsql as $$ begin return x; end $$; select pl_f()¦create or replace function pl_f(int) returns int language plpgsql as $$ begin return $2; end $$; select pl_f(1)¦create or replace function pl_f() returns trigger language plpgsql as $$ begin return new; end $$; select pl_f()¦create or replace function pl_f(cstring) returns int language plpgsql as $$ begin return 1; end $$¦create or replace function pl_f() returns cstring language plpgsql as $$ begin return 1; end $$]]
do $$ begin raise 'x%'; end $$
do $$ declare a int; a text; begin raise notice '% %', 1; end $$
do $$ declare a int not null; begin raise notice '% %', 1; end $$
do $$ begin [[exit¦exit foo¦continue¦x.y.z := 1¦x := 1¦if true the null¦if (true then null¦if true) then null¦if then null¦select 1 into x¦return next 3¦return 3¦fetch all from c into x¦get diagnostics x = row_count¦open c¦null null¦foo bar¦for i in 1..10 loop null¦raise foo¦raise notice¦raise notice 'a' using foo = 1¦raise sqlstate '1'¦case 1 end case]]; end $$
do $$ <<foo>> begin [[continue foo; end¦null; end b]] $$
do $$ begin null; end b $$
do $$ declare r record; a int; c constant int := 1; begin [[select 1 into r, a¦select 1 into a, r¦c := 2¦select 1 into c¦get diagnostics a = foo¦get stacked diagnostics a = row_count¦for y in select 1 loop null; end loop¦for c in select 1 loop null; end loop¦open a¦insert into x into a¦execute 'a' into a into a¦a.b := 1]]; end $$
do $$ declare c cursor for select 1; d cursor (a int) for select a; e cursor (a int, b int) for select a; begin [[open c(1)¦open d¦open d(1, 2)¦open e(1)¦open e(b := 1, b := 2)¦open e(q := 1)]]; end $$
do $$ declare a int begin select 1; end $$
do $$ declare a; begin null; end $$
do $$ declare a int[; begin null; end $$
do $$ begin select 1 end $$
do $$ begin null; exception when foo then null; end $$
do $$ begin null; exception when sqlstate 'abc' then null; end $$
do $$ begin end; end $$
do $$ end $$
do $$ $$
do $$ declare v int := 3; n int; begin create temp table pl_ctas as select a, b from pl_t where pl_t.a <= v; get diagnostics n = row_count; raise notice '% %', n, (select count(*) from pl_ctas); end $$
do $$ declare r text; begin for r in explain (costs off) select * from pg_class where oid = 1 loop raise notice '%', r; end loop; execute 'explain (costs off) select 1' into r; raise notice '%', r; execute 'show work_mem' into r; raise notice '%', r; end $$
create function pl_explain(q text) returns setof text language plpgsql as $$ declare l text; begin for l in execute 'explain (costs off) ' || q loop return next l; end loop; return query execute 'explain (costs off) select 2'; end $$
select pl_explain('select count(*) from generate_series(1, 3)')
do $$ begin explain select 1; end $$
do $$ begin for i in 2147483645..2147483647 loop raise notice '%', i; end loop; for i in reverse -2147483647..-2147483648 loop raise notice '%', i; end loop; end $$
do $$ declare x int := 2147483647; y bigint := 9223372036854775807; begin begin x := x + 1; exception when others then raise notice '% %', sqlstate, sqlerrm; end; begin y := y + x; exception when others then raise notice '% %', sqlstate, sqlerrm; end; y := x; y := y * 2 - 7; x := y % 100; raise notice '% % %', x, y, x / -3; x := null; raise notice '% % %', x + 1, x is null, (x > 1 or true) and not (x is null and false); end $$
do $$ declare x int; begin x := 7 % 0; end $$
do $$ declare a boolean; b boolean := true; i int := 5; begin a := b and i between 1 and 9; raise notice '%', a; a := not b or i <> 5; raise notice '%', a; a := b = a; raise notice '%', a; end $$
drop table pl_t cascade
