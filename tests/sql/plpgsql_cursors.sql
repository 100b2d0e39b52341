create table pc_t(a int primary key, b text); insert into pc_t select i, 'r' || i from generate_series(1, 25) i
do $$ declare c cursor for select * from pc_t where a < 4 order by a; r record; begin open c; loop fetch c into r; exit when not found; raise notice '%', r; end loop; close c; end $$
do $$ declare c cursor (x int, y int) for select a from pc_t where a between x and y order by a; v int; begin open c(3, 5); fetch c into v; raise notice '%', v; close c; open c(y := 8, x := 7); fetch c into v; raise notice '% %', v, found; fetch c into v; fetch c into v; raise notice '% %', v, found; close c; end $$
do $$ declare c refcursor; v int; begin open c for select a from pc_t order by a; fetch last from c into v; raise notice '%', v; fetch prior from c into v; raise notice '%', v; fetch first from c into v; raise notice '%', v; fetch absolute 5 from c into v; raise notice '%', v; fetch relative -2 from c into v; raise notice '%', v; fetch forward from c into v; raise notice '%', v; fetch backward from c into v; raise notice '%', v; move 3 from c; fetch c into v; raise notice '%', v; move last from c; fetch c into v; raise notice '% %', v, found; move backward all from c; fetch next from c into v; raise notice '%', v; close c; end $$
do $$ declare c no scroll cursor for select a from pc_t order by a; v int; begin open c; fetch c into v; fetch c into v; fetch prior from c into v; end $$
do $$ declare c refcursor; v int; n int := 4; begin open c scroll for execute 'select a from pc_t where a > $1 order by a' using n; fetch c into v; raise notice '%', v; close c; end $$
do $$ declare c refcursor := 'mycursor'; begin open c for select 1; raise notice '%', c; open c for select 2; end $$
do $$ declare c refcursor; d refcursor; begin open c for select 1; raise notice '%', c is null; close c; raise notice '%', c is null; close c; end $$
do $$ declare c refcursor; v int; begin fetch c into v; end $$
do $$ declare c refcursor := 'nope'; v int; begin fetch c into v; end $$
do $$ declare c cursor for select * from pc_t where a <= 3 order by a; begin for r in c loop raise notice '% %', r.a, r.b; end loop; raise notice '%', found; end $$
do $$ declare c cursor (n int) for select * from pc_t where a <= n order by a; s int := 0; begin for r in c(15) loop s := s + r.a; exit when r.a = 12; end loop; raise notice '%', s; for r in c(n := 2) loop raise notice '%', r; end loop; end $$
do $$ declare c cursor for select * from pc_t where a <= 3 order by a for update; begin for r in c loop update pc_t set b = b || '!' where current of c; end loop; end $$
select * from pc_t where a <= 4 order by a
do $$ declare c cursor for select a, b from pc_t order by a; x int; y text; begin open c; fetch c into x, y; raise notice '% %', x, y; move c; fetch c into x; raise notice '%', x; delete from pc_t where current of c; close c; end $$
select count(*) from pc_t
create function pc_open(inout c refcursor) language plpgsql as $$ begin open c for select a from pc_t where a < 4 order by a; end $$
begin; select pc_open('cc'); fetch all in cc; commit
begin; select pc_open('cc'); select pc_open('cc'); rollback
create function pc_ret() returns refcursor language plpgsql as $$ declare c cursor for select 1; begin open c; return c; end $$
begin; select pc_ret(); fetch all in c; rollback
do $$ declare c refcursor; begin begin open c for select 1; raise exception 'x'; exception when others then null; end; close c; end $$
do $$ declare c cursor for select 1/(a - 2) from pc_t where a < 4 order by a; v int; begin open c; fetch c into v; fetch c into v; end $$
create procedure pc_commit() language plpgsql as $$ begin for i in 1..4 loop insert into pc_t values (100 + i, 'c'); if i % 2 = 0 then commit; else rollback; end if; end loop; end $$
call pc_commit(); select * from pc_t where a > 100 order by a
begin; call pc_commit(); commit
do $$ begin insert into pc_t values (200, 'd'); commit; insert into pc_t values (201, 'd'); rollback; insert into pc_t values (202, 'd'); end $$
select * from pc_t where a >= 200 order by a
do $$ begin begin commit; exception when others then raise notice '%', sqlerrm; end; end $$
create function pc_fcommit() returns int language plpgsql as $$ begin commit; return 1; end $$
select pc_fcommit()
do $$ begin perform pc_fcommit(); end $$
create procedure pc_outer() language plpgsql as $$ begin call pc_commit(); end $$
delete from pc_t where a > 100; call pc_outer(); select * from pc_t where a > 100 order by a
create procedure pc_def() language plpgsql security definer as $$ begin commit; end $$
call pc_def()
create procedure pc_set() language plpgsql set work_mem = '1MB' as $$ begin commit; end $$
call pc_set()
do $$ declare r record; begin for r in select a from pc_t where a < 4 order by a loop insert into pc_t values (r.a + 300, 'l'); commit; end loop; end $$
select * from pc_t where a > 300 order by a
do $$ begin set transaction isolation level repeatable read; commit and chain; raise notice '%', current_setting('transaction_isolation'); commit; raise notice '%', current_setting('transaction_isolation'); end $$
begin; set transaction isolation level repeatable read; reset transaction_isolation; show transaction_isolation; commit
do $$ begin set transaction isolation level repeatable read; reset transaction isolation level; perform 1; raise notice '%', current_setting('transaction_isolation'); commit; end $$
create function pc_type() returns int language plpgsql as $$ declare x nosuchtype; begin return 1; end $$
set check_function_bodies = off; create function pc_type() returns int language plpgsql as $$ declare x nosuchtype; begin return 1; end $$; reset check_function_bodies; select pc_type()
do $$ begin create temp table pc_tmp(x int) on commit delete rows; insert into pc_tmp values (1); commit; raise notice '%', (select count(*) from pc_tmp); end $$
create procedure pc_io(a int, inout b int, out c text) language plpgsql as $$ begin b := a + b; c := 'c' || b; end $$
do $$ declare x int := 1; y text; r record; begin call pc_io(2, x, y); raise notice '% %', x, y; call pc_io(b => x, a => 10, c => y); raise notice '% %', x, y; select 5 as q into r; call pc_io(1, r.q, y); raise notice '% %', r, y; end $$
do $$ declare x int := 1; begin call pc_io(2, 5, x); end $$
do $$ declare x constant int := 1; y text; begin call pc_io(2, x, y); end $$
do $$ begin call pc_none(1); end $$
create function pc_ctx() returns text language plpgsql as $$ declare c text; begin get diagnostics c = pg_context; return c; end $$
create function pc_ctx2() returns text language plpgsql as $$ declare c text; begin select pc_ctx() into c; return c; end $$
select pc_ctx2()
do $$ declare c text; begin perform pc_ctx2(); perform 1 / 0; exception when others then get stacked diagnostics c = pg_exception_context; raise notice '%', c; end $$
create function pc_note(n int) returns int language plpgsql as $$ begin raise notice 'n %', n; if n > 0 then perform pc_note(n - 1); end if; return n; end $$
select pc_note(2)
do $$ declare r record; begin for r in select pc_note(0) loop null; end loop; end $$
do $$ begin listen pc_channel; end $$
select * from pg_listening_channels()
do $$ begin unlisten pc_channel; end $$
select * from pg_listening_channels()
do $$ declare r record; s int := 0; begin for r in select a, b, a * 2 as c from pc_t where a < 20 order by a loop s := s + r.a + r.c; if r.c > 10 and r.a % 2 = 0 then r.c := r.c + 1; end if; s := s + r.c; end loop; raise notice '% %', s, r.c; select 'x' as c, 5 as q into r; raise notice '%', r.c || r.q; end $$
do $$ declare r record; i int; begin for i in 1..2 loop if i = 1 then select 1 as a, 2 as b into r; else select 3 as b, 4 as a into r; end if; raise notice '% %', r.a + 1, r.b + 1; end loop; end $$
do $$ declare r record; i int; begin for i in 1..2 loop if i = 1 then select 1 as a into r; else select 1.5 as a into r; end if; raise notice '%', r.a + 1; end loop; end $$
drop table pc_t cascade
