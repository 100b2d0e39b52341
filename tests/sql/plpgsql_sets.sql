create table pls_t(id int primary key, b text, c numeric(10,2), d date, e int[])
insert into pls_t select g, 'row ' || g, g * 1.5, date '2024-01-01' + g, array[g, g + 1] from generate_series(1, 300) g
do $$ declare s text; begin select string_agg(format('c%s %s', g, (array['int', 'text', 'numeric'])[g % 3 + 1]), ', ' order by g) into s from generate_series(1, 60) g; execute 'create table pls_w(id int primary key, ' || s || ')'; end $$
insert into pls_w(id, c1, c2, c3, c30, c59, c60) select g, 't' || g, g * 1.25, g, g + 1, g + 0.5, -g from generate_series(1, 120) g
create table pls_drop(a int, x text, b text, y int)
insert into pls_drop values (1, 'x', 'one', 5), (2, null, null, 6)
alter table pls_drop drop column x
alter table pls_drop add column z numeric default 7
create function pls_q() returns setof pls_t language plpgsql as $$ begin return query select * from pls_t; end $$
create function pls_qw() returns setof pls_w language plpgsql as $$ begin return query select * from pls_w where id < 50; return query execute 'select * from pls_w where id > $1' using 100; return; end $$
create function pls_qd() returns setof pls_drop language plpgsql as $$ declare r pls_drop; begin return query select * from pls_drop; for r in select * from pls_drop loop r.y := r.y + 1; return next r; end loop; return next row(9, 'nine', 9, 9.5)::pls_drop; return next null::pls_drop; end $$
create function pls_tab(n int) returns table(x int, y text, z numeric) language plpgsql as $$ begin for i in 1..n loop x := i; y := 'a' || i; z := null; if i % 3 = 0 then z := i / 2.0; end if; return next; end loop; return query select id, b, c from pls_t where id <= n; end $$
create function pls_out(inout a int, out b text) returns setof record language plpgsql as $$ begin b := 'first'; return next; a := a + 1; b := null; return next; return query values (7, 'x'::text), (8, 'y'); end $$
create function pls_rec() returns setof record language plpgsql as $$ declare r record; begin for r in select id, b from pls_t order by id limit 3 loop return next r; end loop; return query select 100, 'end'::text; end $$
create function pls_one(n int) returns setof text language plpgsql as $$ begin for i in 1..n loop return next 'row number ' || i; end loop; return query select 'q' || g from generate_series(1, 3) g; end $$
create function pls_int() returns setof int language plpgsql as $$ begin return next 1.6; return next '7'; return next null; return query select 3; end $$
create domain pls_pos as int check (value > 0)
create function pls_dom() returns setof pls_pos language plpgsql as $$ begin return next 5; return query select 6::pls_pos; return next -1; end $$
select count(*), sum(id), sum(c), max(b), min(d), sum(e[2]) from pls_q()
select * from pls_q() where id between 98 and 101 order by id
select id, e from pls_q() q where q.c > 447 order by 1
select (pls_q()).id order by 1 limit 3
select q from pls_q() q where id = 5
select pls_q() order by 1 limit 2
select count(*), count(c1), sum(c30), sum(c60), max(c59) from pls_qw()
select q from pls_qw() q order by id desc limit 2
select * from pls_qd() order by a, y
select q, q.z from pls_qd() q order by 1
select (pls_qd()).*
select count(*), sum(x), count(y), sum(z) from pls_tab(40)
select * from pls_tab(4) order by 1, 2
select x, y from pls_tab(2) with ordinality as t(x, y, z, n) order by n
select t from rows from (pls_tab(2), pls_one(1)) t
select * from pls_out(3)
select a, count(*) over () from pls_out(1)
select * from pls_rec() as (i int, t text)
select * from pls_rec() as (i int, t varchar)
select * from pls_rec() as (i int, t text, u int)
select * from pls_rec() as (i bigint, t text)
select * from pls_one(3)
select count(*), count(distinct pls_one), sum(length(pls_one)) from pls_one(3000)
select * from pls_int()
select * from pls_dom()
select a.x, b.x from pls_tab(2) a, lateral pls_tab(a.x) b order by 1, 2
select g, (select count(*) from pls_tab(g)) from generate_series(0, 3) g
set work_mem = '64kB'
select count(*), sum(id), max(b) from pls_q(), generate_series(1, 20)
select count(*), sum(length(y)), sum(z) from pls_tab(5000)
select sum(length(p)), count(*) from pls_one(5000) p
reset work_mem
create function pls_bad(k int) returns setof pls_t language plpgsql as $$ declare r record; begin if k = 1 then return query select id, b from pls_t; elsif k = 2 then select 1 as x into r; return next r; elsif k = 3 then return next row(1, 2); elsif k = 4 then return query select id, b, c, d, b from pls_t; elsif k = 5 then return next r; elsif k = 6 then return query select id, b, c::numeric, d, e from pls_t; elsif k = 7 then return query explain select 1; else return query insert into pls_t values (1000, 'n') returning *; end if; end $$
select count(*) from pls_bad([[1¦2¦3¦4¦5¦6¦7¦8]])
delete from pls_t where id = 1000
create function pls_catch() returns setof int language plpgsql as $$ begin return next 1; begin return next 2; return query select 10 / (3 - g) from generate_series(1, 5) g; exception when division_by_zero then return next -1; end; begin return query select 1 / 0; exception when others then return next -2; end; return query select 5; end $$
select * from pls_catch()
create function pls_found() returns setof text language plpgsql as $$ declare n int; begin return query select 'a' from generate_series(1, 3); get diagnostics n = row_count; return next n || ' ' || found; return query select 'a' where false; get diagnostics n = row_count; return next n || ' ' || found; end $$
select * from pls_found()
do $$ declare r pls_t; q pls_t; s record; begin select * into r from pls_t where id = 5; for i in 1..5 loop q := r; q.id := i; r.c := q.c + 1; s := q; s.b := 'changed'; end loop; raise notice '% % %', r, q, s; q := null; raise notice '% % %', q, q is null, q.id; q.b := 'b'; raise notice '%', q; r.e[1] := 77; s := r; s.e[2] := 88; raise notice '% %', r.e, s.e; end $$
do $$ declare r pls_w; s pls_w; t record; begin for r in select * from pls_w order by id limit 3 loop s := r; s.c3 := r.c30; t := s; t.c59 := null; t.c1 := 'x' || r.c1; r.id := 0; raise notice '% % % % %', r.id, s.id, s.c3, t.c59, t.c1; end loop; raise notice '%', s is distinct from r; end $$
do $$ declare r pls_w; s pls_w; begin select * into r from pls_w where id = 7; r.c1 := '1'; r.c2 := 2; r.c3 := 3; r.c4 := '4'; r.c5 := 5; r.c6 := 6; r.c7 := '7'; r.c8 := 8; s := r; r.c9 := 9; r.c10 := '10'; r.c11 := 11; r.c12 := 12; r.c13 := '13'; r.c14 := 14; r.c15 := 15; r.c16 := '16'; r.c17 := 17; r.c18 := 18; r.c19 := '19'; r.c20 := 20; raise notice '%', r; raise notice '%', s; s := r; r.c1 := null; raise notice '% %', r.c1, s.c1; end $$
do $$ declare a pls_w[]; r pls_w; begin for r in select * from pls_w where id < 4 order by id loop a := a || r; end loop; r := a[2]; r.c1 := 'new'; raise notice '% % % %', a[2].c1, r.c1, r.c60, array_length(a, 1); end $$
do $$ declare r record; begin for r in select id, b from pls_t order by id limit 2 loop for r in select r.id + 10 as id, 'inner' as z limit 1 loop raise notice '%', r; end loop; raise notice '%', r; end loop; end $$
do $$ declare x int; y text; r record; begin for x, y in select id, b from pls_t order by id limit 2 loop raise notice '% %', x, y; end loop; for x in select id from pls_t order by id limit 2 loop raise notice '%', x; end loop; for x, y in select id from pls_t where id < 2 loop raise notice '% %', x, y; end loop; for x in select id, b from pls_t where id < 2 loop raise notice '%', x; end loop; end $$
do $$ declare r pls_t; begin for r in select id, b from pls_t where id < 3 order by id loop raise notice '%', r; end loop; for r in select id::bigint, b::varchar(3), c::int, d::timestamp, e from pls_t where id < 3 order by id loop raise notice '%', r; end loop; for r in select 'x', b from pls_t loop null; end loop; end $$
do $$ declare r pls_drop; q pls_drop; begin for r in select * from pls_drop order by a loop q := r; q.z := q.z + 1; raise notice '% %', r, q; end loop; select a, b, y into r from pls_drop order by a limit 1; raise notice '%', r; end $$
do $$ declare r pls_t; begin for r in select * from pls_t order by id limit 2 loop r.nosuch := 1; end loop; end $$
do $$ declare r pls_t; begin for r in select * from pls_t order by id limit 2 loop r.c := 123456789; end loop; end $$
do $$ declare r pls_t; begin r.ctid := '(0,1)'; end $$
create function pls_takes(r pls_t, q record) returns text language plpgsql as $$ begin r.id := r.id + 1; return r.id || ' ' || r.b || ' ' || (q is null); end $$
create function pls_gives(n int) returns pls_t language plpgsql as $$ declare r pls_t; begin if n = 0 then return null; elsif n = 1 then return r; elsif n = 2 then return row(1, 'a', 2, null, null); elsif n = 3 then return (1, 2); elsif n = 4 then select * into r from pls_t where id = 4; return r; end if; r.id := n; r.b := 'x'; return r; end $$
create function pls_rows(a pls_w) returns pls_w language plpgsql as $$ begin a.c60 := a.id; return a; end $$
select pls_takes(t, null) from pls_t t where id < 3 order by id
select pls_takes(t, t) from pls_t t where id = 3
select pls_takes(null, row(1))
select n, pls_gives(n) from generate_series(0, 2) n
select pls_gives([[3¦4¦5]])
select (pls_gives(6)).id, (pls_gives(4)).c
select * from pls_gives(4), pls_gives(0) g
select (pls_rows(w)).c60, (pls_rows(w)).c1 from pls_w w where id in (3, 4) order by 1
select pls_rows(pls_rows(w)) = pls_rows(w) from pls_w w where id = 3
alter table pls_t add column f int default 3
select q.f, q.id from pls_q() q order by id limit 2
select pls_gives(4)
select (pls_gives(7)).f, pls_takes(t, null) from pls_t t where id = 1
alter table pls_t drop column f
select q from pls_q() q order by id limit 2
select pls_gives(4)
create table pls_g(id int, v int, g int generated always as (v * 2) stored, h text)
create function pls_trg() returns trigger language plpgsql as $$ begin if tg_op = 'DELETE' then return old; end if; if new.v = 1 then return new; elsif new.v = 2 then new.v := 20; return new; elsif new.v = 3 then return null; elsif new.v = 4 and tg_op = 'UPDATE' then return old; elsif new.v = 5 then new := (new.id, 50, null, 'five'); return new; end if; raise notice 'new % old % same %', new, old, new is not distinct from old; return new; end $$
create function pls_trg2() returns trigger language plpgsql as $$ begin raise notice '% % % %', tg_name, tg_op, new, old; new.h := new.h || '+'; return new; end $$
create trigger a before insert or update or delete on pls_g for each row execute function pls_trg()
insert into pls_g(id, v, h) values (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c'), (4, 4, 'd'), (5, 5, 'e'), (6, 6, 'f') returning *
update pls_g set v = v where id <> 4 returning *
create trigger b before insert or update on pls_g for each row execute function pls_trg2()
insert into pls_g(id, v, h) values (11, 1, 'a'), (12, 2, 'b'), (16, 6, 'f') returning *
update pls_g set v = 4 where id = 11 returning *
update pls_g set h = 'same' where id < 3 returning *
delete from pls_g where id = 1 returning *
select * from pls_g order by id
do $$ declare c cursor for select * from pls_t order by id; r pls_t; q record; x int; y text; begin open c; loop fetch c into r; exit when not found or r.id > 100; end loop; fetch prior from c into q; raise notice '% %', r.id, q.id; fetch absolute 250 from c into x, y; raise notice '% %', x, y; fetch relative -3 from c into r; raise notice '%', r; move last from c; fetch c into r; raise notice '% %', r, found; fetch prior from c into r; raise notice '%', r.id; close c; end $$
do $$ declare c no scroll cursor for select id, 100 / (40 - id) as q from pls_t where id > 30; r record; n int := 0; begin open c; loop fetch c into r; exit when not found; n := n + 1; end loop; exception when division_by_zero then raise notice '% %', n, r; end $$
do $$ declare c cursor for select id, 100 / (40 - id) as q from pls_t where id > 30; n int := 0; begin for r in c loop n := n + 1; end loop; exception when division_by_zero then raise notice '%', n; end $$
do $$ declare c cursor for select * from pls_g; begin for r in c loop update pls_g set h = 'current ' || r.id where current of c; end loop; for r in c loop if r.id > 6 then delete from pls_g where current of c; end if; end loop; end $$
do $$ declare c cursor for select * from pls_g for update; r record; begin open c; loop fetch c into r; exit when not found; update pls_g set h = r.h || '!' where current of c; end loop; close c; end $$
select id, h from pls_g order by id
create sequence pls_s
do $$ declare c cursor for select nextval('pls_s') from generate_series(1, 20); x int; begin open c; for i in 1..6 loop fetch c into x; end loop; raise notice '% %', x, (select last_value from pls_s); close c; end $$
do $$ declare c cursor(n int) for select n, g from generate_series(1, n) g; begin for r in c(2) loop for q in c(3) loop raise notice '% %', r, q; end loop; end loop; exception when others then raise notice '%', sqlerrm; end $$
begin
declare pls_c cursor for select id, b from pls_t order by id
fetch pls_c
fetch pls_c
fetch pls_c
fetch 2 from pls_c
fetch backward 2 from pls_c
fetch 100 from pls_c
move backward 50 from pls_c
fetch pls_c
commit
create procedure pls_p() language plpgsql as $$ declare r record; n int := 0; begin for r in select * from pls_t order by id loop n := n + r.id; if r.id in (1, 10, 11, 60, 299) then commit; end if; end loop; raise notice '%', n; end $$
call pls_p()
create function pls_msg() returns int language plpgsql set client_min_messages = error as $$ begin raise notice 'hidden'; raise warning 'hidden'; return 1; end $$
select pls_msg()
create function pls_debug(n int) returns int language plpgsql as $$ begin for i in 1..n loop raise debug 'debug % %', i, 10 / (3 - i); raise log 'x'; end loop; return 1; end $$
select pls_debug([[2¦3]])
set client_min_messages = debug1
select pls_debug(2)
set client_min_messages = warning
do $$ begin raise info 'shown'; raise notice 'not shown'; raise warning 'w'; end $$
reset client_min_messages
create function pls_many(n int) returns int language plpgsql as $$ begin for i in 1..n loop raise notice 'number %', i; end loop; return n; end $$
select pls_many(200)
select g, pls_many(g) from generate_series(1, 3) g
create function pls_sql(int) returns int language sql volatile strict as 'select case when $1 > 2 then $1 * 10 else $1 end'
create function pls_sql2(int, out a int, out b text) language sql stable as 'select $1 + count(*)::int, max(b) from pls_t where id < $1'
create function pls_sql3(int) returns setof text language sql as 'insert into pls_g(id, v, h) values ($1, 1, ''s''); select h from pls_g where id = $1'
select sum(pls_sql(g)), count(pls_sql(nullif(g, 3))) from generate_series(1, 50) g
select g, pls_sql2(g) from generate_series(1, 4) g
select pls_sql3(g) from generate_series(101, 103) g
create function pls_fib(n int) returns int language sql as 'select case when n < 2 then n else pls_fib(n - 1) + pls_fib(n - 2) end'
select pls_fib(12)
create function pls_div(int) returns int language sql volatile as 'select sum(10 / $1)::int from pls_t where id < 3'
select pls_div(2)
select pls_div(0)
select pls_div(5), pls_div(1)
begin
select pls_sql2(3)
alter table pls_t alter column b type varchar
select pls_sql2(3)
create function pls_new(int) returns text language sql as 'select pls_sql2($1)::text'
select pls_new(4)
rollback
select pls_sql2(3)
do $$ begin for i in 1..3 loop perform pls_sql2(i); execute 'create table pls_x' || i || '(a int)'; perform pls_div(i); end loop; end $$
drop table pls_x1, pls_x2, pls_x3
do $$ declare x int; y text; r record; begin for i in 1..7 loop execute 'select ' || i || ' + 1, ''t' || i || '''' into x, y; raise notice '% %', x, y; execute 'select $1 + ' || i % 2 || ' as s, $2' into r using i, 'p'::text; raise notice '% %', r, r.s; end loop; end $$
do $$ declare x int; begin execute '[[select 1/0¦select nosuch(1)¦select $2¦select generate_series(1, 3)¦select 1 where false¦select 5 limit 0¦select 3, 4¦select¦select count(*)¦select 7 for update¦select 8; select 9¦values (6)¦select 1 into pls_no¦select current_setting(''no.such'')]]' into strict x using 1; raise notice '%', x; end $$
do $$ declare x int; n int; begin execute 'select pls_many(2)' into x; get diagnostics n = row_count; raise notice '% % %', x, n, found; execute 'select pls_many(1)'; end $$
do $$ declare r record; begin execute 'select null, 1.55::numeric(5,1), array[1,2], row(1,''a''), 2 as two' into r; raise notice '% %', r, r.two; end $$
do $$ declare x bigint; y bigint; begin for i in 1..3 loop execute 'select nextval(''pls_s'')' into x; execute 'select currval(''pls_s'') + ' || i into y; raise notice '% %', y - x, i; end loop; end $$
create function pls_exec(n int) returns int language plpgsql stable as $$ declare x int; begin execute 'select count(*) + ' || n || ' from pls_g' into x; execute 'select pls_sql2(' || n || ')::text is null' into x; return x; exception when others then raise notice '%', sqlerrm; execute 'select ' || n into x; return x; end $$
select pls_exec(g) from generate_series(1, 6) g
drop function pls_exec
drop table pls_t, pls_w, pls_drop, pls_g cascade
drop procedure pls_p
drop function pls_tab, pls_out, pls_rec, pls_one, pls_int, pls_dom, pls_catch, pls_found, pls_trg, pls_trg2, pls_msg, pls_debug, pls_many, pls_sql, pls_sql2, pls_sql3, pls_fib, pls_div
drop domain pls_pos
drop sequence pls_s
