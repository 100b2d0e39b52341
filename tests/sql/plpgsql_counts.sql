-- ROW_COUNT and FOUND after all kinds of statements.
create schema plpgsql_counts
set search_path = plpgsql_counts, public
create table t(i int)
insert into t select generate_series(1,5)
create view v as select * from t
create function vi() returns trigger language plpgsql as $$ begin if new.i > 100 then return null; end if; return new; end $$
create trigger v1 instead of insert on v for each row execute function vi()
create function vd() returns trigger language plpgsql as $$ begin if old.i > 100 then return null; end if; return old; end $$
create trigger v2 instead of delete on v for each row execute function vd()
create trigger v3 instead of update on v for each row execute function vi()
create function bi() returns trigger language plpgsql as $$ begin if new.i < 0 then return null; end if; return new; end $$
create trigger t1 before insert or update on t for each row execute function bi()
create materialized view mv as select * from t
create procedure pr(inout x int) language plpgsql as $$ begin perform * from t; x := x + 1; end $$
create function rc(q text) returns text language plpgsql as $$ declare n bigint; f bool; begin  perform 1 from t; execute q; get diagnostics n = row_count; f := found;   return q || ': ' || n || ' ' || f; exception when others then return q || ': ' || sqlstate || ' ' || sqlerrm; end $$
create function rc0(q text) returns text language plpgsql as $$ declare n bigint; f bool; begin  perform 1 from t where false; execute q; get diagnostics n = row_count; f := found;   return q || ': ' || n || ' ' || f; exception when others then return q || ': ' || sqlstate || ' ' || sqlerrm; end $$
create table qs(n serial, q text)
insert into qs(q) values ('select * from t'), ('select * from t where false'), ('insert into t values (7),(8)'), ('insert into t values (-1)'), ('update t set i = i'), ('update t set i = i where false'), ('update t set i = -1'), ('delete from t where i = 7'), ('delete from t where false'), ('insert into t select 9 returning i'), ('create table ct(a int)'), ('drop table ct'),  ('create table cta as select * from t'), ('create table cta2 as select * from t with no data'), ('select * into cta3 from t'), ('create materialized view mv2 as select * from t'), ('create materialized view mv3 as select * from t with no data'), ('refresh materialized view mv'), ('refresh materialized view mv3'), ('refresh materialized view mv with no data'), ('create table if not exists cta as select * from t'), ('explain select 1'), ('show work_mem'), ('set work_mem = ''1MB'''), ('prepare p1 as select * from t'), ('execute p1'), ('prepare p2 as insert into t values (10),(11)'), ('execute p2'), ('deallocate p1'), ('prepare p3 as delete from t where i = 10'), ('execute p3'), ('create table cta4 as execute p1'), ('call pr(1)'), ('do $x$ begin perform 1; end $x$'), ('truncate cta'), ('analyze t'), ('insert into v values (1),(2)'), ('insert into v values (101)'), ('insert into v values (1),(101)'), ('update v set i = i + 1'), ('update v set i = 200'), ('delete from v'), ('delete from v where false'), ('copy t to program ''cat >/dev/null'''), ('copy t from program ''seq 2'''), ('copy (select 1 union all select 2) to program ''cat >/dev/null'''), ('declare c cursor for select * from t'), ('fetch 2 from c'), ('fetch all from c'), ('move 2 from c'), ('move backward all from c'), ('move all in c'), ('close c'), ('declare c scroll cursor for select * from t'), ('move 3 in c'),('move 0 in c'), ('fetch 0 in c'), ('fetch last in c'), ('fetch next in c'), ('close c'), ('values (1),(2),(3)'), ('with w as (insert into t values (50),(51) returning i) select * from w where i = 50'), ('with w as (select 1) insert into t select 60'), ('merge into t using (values (60),(61)) s(i) on t.i = s.i when matched then delete when not matched then insert values (s.i)'), ('merge into t using (values (60),(61)) s(i) on false when matched then do nothing'), ('select * from t; select * from t where i = 1'), ('insert into t values (70); select 1, 2'), ('select 1; create table zz(a int)'), (''), ('  -- c'), ('lock table t'), ('comment on table t is ''x'''), ('vacuum t'), ('begin'), ('commit'), ('savepoint a'), ('create index on t(i)'), ('reindex table t'), ('cluster t using t_i_idx'), ('select * from t for update'), ('notify x'), ('listen x'), ('unlisten x'), ('grant select on t to public'), ('alter table t add x int'), ('alter table t alter i type bigint'), ('create function ff() returns int language sql as ''select 1'''), ('select ff()'), ('drop function ff'), ('set constraints all deferred'), ('discard plans'), ('checkpoint'), ('load ''x''')
select rc(q) from qs order by n
drop table cta, cta2, cta3, zz
drop materialized view mv2, mv3
alter table t drop x
deallocate all
select rc0(q) from qs order by n
drop table cta, cta2, cta3, zz
drop materialized view mv2, mv3
deallocate all
delete from t
insert into t select generate_series(1,5)
create function sc() returns void language plpgsql as $$ declare n bigint; x int; r record; a int[]; c refcursor; c2 cursor for select * from t; begin perform 1 from t; get diagnostics n = row_count; raise notice 'perform % %', n, found; perform 1 from t where false; get diagnostics n = row_count; raise notice 'perform % %', n, found; select i into x from t; get diagnostics n = row_count; raise notice 'into % %', n, found; select i into strict x from t where i = 1; get diagnostics n = row_count; raise notice 'into % %', n, found; select i into x from t where false; get diagnostics n = row_count; raise notice 'into0 % %', n, found; x := 1; get diagnostics n = row_count; raise notice 'assign % %', n, found; x := (select max(i) from t); get diagnostics n = row_count; raise notice 'assign % %', n, found; x := i from t limit 1; get diagnostics n = row_count; raise notice 'assign % %', n, found; if exists (select from t) then get diagnostics n = row_count; raise notice 'if % %', n, found; end if; insert into t values (100) returning i into x; get diagnostics n = row_count; raise notice 'insert % %', n, found; insert into t values (100), (101) returning i into x; get diagnostics n = row_count; raise notice 'insert % %', n, found; exception when others then raise notice '%', sqlerrm; get diagnostics n = row_count; raise notice 'insert % %', n, found; end $$
select sc()
drop function sc()
create function sc() returns setof int language plpgsql as $$ declare n bigint; x int; r record; a int[]; c refcursor; c2 cursor for select * from t; begin update t set i = i where i > 3 returning i into x; get diagnostics n = row_count; raise notice 'upd % % %', n, found, x; return next 1; get diagnostics n = row_count; raise notice 'rn % %', n, found; return query select i from t where i > 2; get diagnostics n = row_count; raise notice 'rq % %', n, found; return query select i from t where false; get diagnostics n = row_count; raise notice 'rq % %', n, found; return query execute 'select i from t where i > 3'; get diagnostics n = row_count; raise notice 'rqe % %', n, found; return query delete from t where i = 5 returning i; get diagnostics n = row_count; raise notice 'rqd % %', n, found; return next 1; get diagnostics n = row_count; raise notice 'rn % %', n, found; execute 'select i from t' into x; get diagnostics n = row_count; raise notice 'exi % %', n, found; execute 'insert into t values (5)'; get diagnostics n = row_count; raise notice 'exi % %', n, found; execute 'update t set i = i where false returning i' into x; get diagnostics n = row_count; raise notice 'exi % %', n, found; open c for select * from t; get diagnostics n = row_count; raise notice 'open % %', n, found; fetch c into x; get diagnostics n = row_count; raise notice 'fetch % %', n, found; move c; get diagnostics n = row_count; raise notice 'move % %', n, found; move forward 2 from c; get diagnostics n = row_count; raise notice 'move % %', n, found; move forward all from c; get diagnostics n = row_count; raise notice 'move % %', n, found; fetch c into x; get diagnostics n = row_count; raise notice 'fetch % %', n, found; move c; get diagnostics n = row_count; raise notice 'move % %', n, found; close c; get diagnostics n = row_count; raise notice 'close % %', n, found; for r in select * from t loop get diagnostics n = row_count; raise notice 'for % %', n, found; exit; end loop; get diagnostics n = row_count; raise notice 'endfor % %', n, found; for r in select * from t where false loop end loop; get diagnostics n = row_count; raise notice 'endfor % %', n, found; for r in c2 loop get diagnostics n = row_count; raise notice 'forc % %', n, found; exit; end loop; get diagnostics n = row_count; raise notice 'endforc % %', n, found; for r in execute 'select 1' loop get diagnostics n = row_count; raise notice 'fore % %', n, found; end loop; get diagnostics n = row_count; raise notice 'endfore % %', n, found; for q in 1..0 loop end loop; get diagnostics n = row_count; raise notice 'endint % %', n, found; for q in 1..2 loop get diagnostics n = row_count; raise notice 'int % %', n, found; end loop; get diagnostics n = row_count; raise notice 'endint % %', n, found; foreach x in array array[1,2] loop get diagnostics n = row_count; raise notice 'foreach % %', n, found; end loop; get diagnostics n = row_count; raise notice 'endforeach % %', n, found; foreach x in array '{}'::int[] loop end loop; get diagnostics n = row_count; raise notice 'endforeach % %', n, found; call pr(x); get diagnostics n = row_count; raise notice 'call % % %', n, found, x; perform 1 from t; call pr(x); get diagnostics n = row_count; raise notice 'call % % %', n, found, x; create table zz as select * from t; get diagnostics n = row_count; raise notice 'ctas % %', n, found; create temp table zz2 as select x; get diagnostics n = row_count; raise notice 'ctas % %', n, found; create table if not exists zz as select * from t; get diagnostics n = row_count; raise notice 'ctas % %', n, found; refresh materialized view mv; get diagnostics n = row_count; raise notice 'refresh % %', n, found; copy t to program 'cat >/dev/null'; get diagnostics n = row_count; raise notice 'copy % %', n, found; copy t from program 'seq 3'; get diagnostics n = row_count; raise notice 'copy % %', n, found; delete from t; get diagnostics n = row_count; raise notice 'del % %', n, found; insert into t values (-1); get diagnostics n = row_count; raise notice 'ins % %', n, found; insert into t values (1) returning i into r; get diagnostics n = row_count; raise notice 'ins % %', n, found; merge into t using (values (1),(2)) s(i) on t.i = s.i when matched then delete when not matched then insert values (s.i); get diagnostics n = row_count; raise notice 'merge % %', n, found; insert into v values (1),(200); get diagnostics n = row_count; raise notice 'insv % %', n, found; create table zz3(a int); get diagnostics n = row_count; raise notice 'create % %', n, found; drop table zz, zz2, zz3; get diagnostics n = row_count; raise notice 'drop % %', n, found; begin perform 1/0; exception when others then get diagnostics n = row_count; raise notice 'exc % %', n, found; end; get diagnostics n = row_count; raise notice 'after % %', n, found; perform 1; execute 'create table zz(a int)'; get diagnostics n = row_count; raise notice 'exddl % %', n, found; perform 1; execute 'copy t to program ''cat >/dev/null'''; get diagnostics n = row_count; raise notice 'excopy % %', n, found; execute 'explain select 1' into r; get diagnostics n = row_count; raise notice 'exexplain % %', n, found; execute 'show work_mem' into r; get diagnostics n = row_count; raise notice 'exshow % % %', n, found, r; end $$
select * from sc()
do $$ declare r record; begin execute 'create table nn(a int)' into r; raise notice '%', r; end $$
do $$ declare r record; begin execute 'insert into t values (1)' into r; raise notice '%', r; end $$
do $$ declare r record; begin execute 'select 1 as a into zy' into r; raise notice '%', r; end $$
do $$ declare r record; begin execute 'select 1 as a into zy'; end $$
do $$ declare r record; begin execute 'copy t to stdout'; end $$
do $$ declare r record; begin copy t to stdout; end $$
do $$ declare r record; begin copy t from stdin; end $$
do $$ declare r record; begin execute 'copy t from stdin'; end $$
do $$ declare r record; begin begin; end $$
do $$ declare r record; begin start transaction; end $$
do $$ declare r record; begin savepoint x; end $$
do $$ declare r record; begin execute 'savepoint x'; end $$
do $$ declare r record; begin execute 'commit'; end $$
do $$ declare r record; begin execute 'prepare transaction ''x'''; end $$
do $$ declare r record; begin set transaction read only; raise notice 'x'; insert into t values (1); end $$
do $$ declare r record; begin insert into t values (1) returning i into strict r; raise notice '%', r; insert into t values (1),(2) returning i into strict r;  end $$
do $$ declare r record; begin update t set i = i returning i into r; end $$
do $$ declare r record; begin delete from t where false returning i into strict r; end $$
do $$ declare r record; begin insert into t values (1) returning i; end $$
do $$ declare r record; begin execute 'insert into t values (1) returning i'; execute 'insert into t values (1),(2) returning i' into r; end $$
do $$ declare r record; begin execute 'insert into t values (1),(2) returning i' into strict r; end $$
do $$ declare r record; begin insert into t values (1) into r; end $$
do $$ declare r record; begin explain select 1; end $$
do $$ declare r record; begin explain select 1 into r; raise notice '%', r; end $$
do $$ declare r record; begin show work_mem; end $$
do $$ declare r record; begin show work_mem into r;raise notice '%', r; end $$
do $$ declare r record; begin execute p1; end $$
do $$ declare r record; begin values (1); end $$
do $$ declare r record; begin values (1) into r; raise notice '%', r; end $$
do $$ declare r record; begin fetch from nosuch into r; end $$
do $$ declare r record; begin table t; end $$
do $$ declare r record; begin table t into r; raise notice '%', r; end $$
do $$ declare r record; begin with w as (select 1) select * into r from w; raise notice '%', r; end $$
do $$ declare r record; begin perform with w as (select 1) select * into r from w; raise notice '%', r; end $$
do $$ declare r record; begin call pr(3); end $$
do $$ declare r record; begin execute 'call pr(3)' into r; raise notice '%', r; end $$
do $$ declare r record; begin execute 'call pr($1)' into r using 4; raise notice '%', r; end $$
do $$ declare r record; begin call pr(3) into r; end $$
do $$ declare r record; begin do 'begin end'; end $$
do $$ declare n int; o oid; begin insert into t values (1); get diagnostics o = result_oid; raise notice '%', o; end $$
do $$ declare n int; o oid; begin get diagnostics o = pg_routine_oid; raise notice '%', o; end $$
do $$ declare n text; begin get diagnostics n = pg_context; raise notice '%', n; end $$
create function gc() returns text language plpgsql as $$ declare n text; begin get diagnostics n = pg_context; return n; end $$
do $$ declare n text; begin n := gc(); raise notice '%', n; n := (select gc() from t limit 1); raise notice '%', n; execute 'select gc()' into n; raise notice '%', n; for n in select gc() loop raise notice '%', n; end loop; perform gc(); end $$
set client_min_messages = error
drop schema plpgsql_counts cascade
