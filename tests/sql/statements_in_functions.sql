-- Statements of the session inside functions.
create table sif (a int primary key, b text)
insert into sif select g, 'row ' || g from generate_series(1, 20) g
create function sif_run(q text) returns text language plpgsql as $$ declare r record; begin execute q into r; return r::text; exception when others then return sqlstate || ' ' || sqlerrm; end $$
create function sif_all(q text) returns setof text language plpgsql as $$ declare r record; begin for r in execute q loop return next r::text; end loop; end $$
create function sif_do(q text) returns text language plpgsql as $$ declare n bigint; begin execute q; get diagnostics n = row_count; return 'done ' || n; end $$
begin; select sif_do('prepare sp1(int) as select a, b from sif where a > $1 order by a limit 3'); select sif_run('execute sp1(4)'); select sif_all('execute sp1(7)'); execute sp1(10); select sif_do('execute sp1(5)'); select sif_do('deallocate sp1'); select sif_run('execute sp1(4)'); rollback
select sif_do('prepare sp2(int, text) as insert into sif values ($1, $2) returning a, b'); select sif_all('execute sp2(101, ''x'')'); execute sp2(102, 'y'); select sif_run('execute sp2(103)'); select sif_do('deallocate all'); execute sp2(104, 'z')
select sif_do('prepare sp3 as update sif set b = b || ''!'' where a > 100'); select sif_do('execute sp3'); select * from sif where a > 100 order by a; deallocate sp3
begin; select sif_do('declare sc scroll cursor for select a, b from sif order by a'); fetch 2 from sc; select sif_run('fetch sc'); select sif_all('fetch forward 3 from sc'); select sif_do('move 4 in sc'); fetch sc; select sif_run('fetch absolute 1 from sc'); select sif_do('fetch 2 from sc'); select sif_do('close sc'); select sif_run('fetch sc'); rollback
begin; select sif_do('declare sc cursor with hold for select a from sif order by a'); commit; fetch 2 from sc; select sif_all('fetch 2 from sc'); select sif_do('close all'); fetch sc
select sif_do('declare sc cursor for select a from sif'); fetch sc
do $$ begin execute 'declare sc cursor for select 1'; execute 'declare sc cursor for select 2'; end $$
do $$ declare c cursor for select a from sif order by a limit 3; begin for r in c loop execute 'close c'; end loop; end $$
select [[sif_do¦sif_run]]('[[discard all¦alter system set work_mem = 1024¦vacuum sif¦create database sif_db¦drop database sif_db¦create tablespace sif_ts location ''/tmp''¦reindex database postgres¦cluster¦create index concurrently on sif (b)¦discard plans¦discard sequences¦discard temp¦checkpoint¦begin¦savepoint x¦listen x¦notify x, ''p''¦unlisten *¦reset all¦show work_mem¦load ''nosuch''¦declare sc2 cursor for insert into sif values (1)¦fetch nosuch¦close nosuch¦deallocate nosuch¦execute nosuch¦move nosuch¦prepare sp9 as selec¦explain (costs off) execute nosuch]]')
begin; select [[sif_do¦sif_run]]('[[discard all¦alter system set work_mem = 1024¦vacuum sif¦create database sif_db]]'); rollback
do $$ begin begin execute '[[discard all¦vacuum sif¦alter system set work_mem = 1024]]'; end; end $$
do $$ begin begin execute '[[discard all¦vacuum sif¦alter system set work_mem = 1024]]'; exception when division_by_zero then null; end; end $$
do $$ begin [[discard all¦vacuum sif¦alter system set work_mem = 1024¦checkpoint¦create database sif_db]]; end $$
select sif_all('explain (costs off) [[create table sif_c as select * from sif¦declare c cursor for select a from sif¦notify x¦checkpoint¦select 1¦insert into sif values (1)¦create table if not exists sif as select 1]]')
prepare sp4(int) as select a from sif where a = $1; select sif_all('explain (costs off) execute sp4(3)'); select sif_all('explain (costs off, analyze, timing off, summary off) execute sp4(3)'); deallocate sp4
prepare sp5(int) as select a, b from sif where a < $1; select sif_do('create table sif_5 as execute sp5(4)'); select * from sif_5; drop table sif_5; deallocate sp5
set seq_page_cost = 2; select sif_all('explain (costs off, settings on) select 1'); reset seq_page_cost
select count(*) > 100 from sif_all('show all')
select sif_all('show work_mem'), sif_all('show timezone')
create procedure sif_p(a int, inout b int) language plpgsql as $$ begin b := a + b; end $$
create procedure sif_c() language plpgsql as $$ begin commit; end $$
select sif_run('call sif_p(3, 4)'), sif_all('call sif_p(5, 6)'), sif_do('call sif_p(5, 6)')
call sif_c()
select sif_run('call sif_c()')
do $$ begin execute 'call sif_c()'; end $$
-- Statements in functions in SQL.
create function sif_q1() returns int language sql as $$ create temporary table sif_t1 (a int); select 1 $$
select sif_q1(); select * from sif_t1; select sif_q1(); drop table sif_t1
create function sif_q2() returns void language sql as $$ create table sif_t2 (a int); comment on table sif_t2 is 'made'; alter table sif_t2 add b int default 3; grant select on sif_t2 to public $$
select sif_q2(); select * from sif_t2; select obj_description('sif_t2'::regclass), relacl is not null from pg_class where relname = 'sif_t2'; select sif_q2(); drop table sif_t2
create function sif_q3(n int) returns setof sif language sql as $$ set local work_mem = '1234kB'; select * from sif where a <= n; $$
select *, current_setting('work_mem') from sif_q3(2); select sif_q3(3)
create procedure sif_q4(n int) language sql as $$ truncate sif_5; insert into sif_5 values (n) $$
create table sif_5 (a int); insert into sif_5 values (1), (2)
call sif_q4(7); select * from sif_5; call sif_q4(8); select * from sif_5
create function sif_q5() returns int language sql [[stable¦immutable¦volatile]] as $$ [[drop table if exists sif_none¦set work_mem = '1MB'¦create table sif_n (a int)¦show work_mem]]; select 2 $$; select sif_q5(); drop function sif_q5()
create function sif_q6() returns int language sql as $$ [[commit¦begin¦savepoint x¦copy sif to stdout¦copy sif from stdin¦vacuum sif¦discard all¦create database sif_db¦create table sif_n (a int); insert into sif_n values (1)¦drop table nosuch]]; select 2 $$; select sif_q6(); drop function sif_q6()
create function sif_q7(n int) returns int language sql as $$ create table sif_7 as select a, b, n as m from sif where a < $1; select 7 $$
select sif_q7(3); select * from sif_7; drop table sif_7
create function sif_q8(n int) returns [[int¦void¦text]] language sql as $$ select n; [[create table sif_8 (a int)¦notify z¦set work_mem = '1MB']] $$; select sif_q8(3); drop function sif_q8(int)
create function sif_q9(n int) returns void language sql as $$ notify sif_ch, 'x'; call sif_p2(n); do 'begin raise notice ''in do''; end' $$
create procedure sif_p2(n int) language sql as $$ insert into sif_5 values (n) $$
select sif_q9(77); select * from sif_5 order by a
create function sif_q10() returns setof text language sql as $$ explain (costs off) select 1 $$; select sif_q10()
select sif_q1(), sif_q1(); drop table if exists sif_t1
create function st1() returns text language plpgsql stable as $$ declare r text; begin for r in execute 'explain (costs off) select 1' loop return r; end loop; end $$; select st1()
create function st2() returns text language plpgsql stable as $$ declare r text; begin execute 'show work_mem' into r; return r; end $$; select st2()
create function st3() returns setof text language plpgsql stable as $$ begin return query explain (costs off) select 1; end $$; select st3()
create function st4() returns text language plpgsql stable as $$ declare r text; begin for r in explain (costs off) select 1 loop return r; end loop; end $$; select st4()
create function st5() returns text language plpgsql stable as $$ declare r text; begin show work_mem; end $$; select st5()
create function st6() returns text language plpgsql stable as $$ declare r text; begin perform set_config('work_mem','1MB',true); return current_setting('work_mem'); end $$; select st6()
drop function st1, st2, st3, st4, st5, st6; drop table sif, sif_5; drop function sif_run, sif_all, sif_do, sif_q1, sif_q2, sif_q3, sif_q7, sif_q9; drop procedure sif_p, sif_c, sif_q4, sif_p2
