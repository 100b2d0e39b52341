-- MERGE: actions, defaults, errors, triggers, plans.
CREATE SCHEMA merging; SET search_path = merging
create table mt(k int primary key, v text, n int default 7, g int generated always as (k * 2) stored)
insert into mt(k, v) select i, 'v' || i from generate_series(1, 5) i
create table ms(k int, v text)
insert into ms values (3, 's3'), (4, 's4'), (8, 's8'), (9, null)
begin; merge into mt using ms on mt.k = ms.k when matched then update set v = ms.v when not matched then insert (k, v) values (ms.k, ms.v); select * from mt order by k; rollback
begin; merge into mt t using ms s on t.k = s.k when matched and s.k = 3 then delete when matched then do nothing when not matched and s.v is null then do nothing when not matched then insert values (s.k, s.v, default); select * from mt order by k; rollback
explain (costs off) merge into mt t using ms s on t.k = s.k when matched then delete
merge into mt t using (select 3 as k union all select 3) s on t.k = s.k when matched then update set v = 'twice'
merge into mt t using ms s on t.k = s.k when matched then update set v = 'a' when matched then delete
merge into mt using ms mt on mt.k = mt.k when matched then delete
merge into mt t using ms s on t.k = s.k when not matched then insert (k, v) values (t.k, s.v)
merge into mt t using ms s on t.k = s.k when matched then update set g = 3
merge into mt t using ms s on t.k = s.k when not matched then insert (k, n) values (s.k)
merge into mt t using ms s on t.k = s.k when not matched then insert default values
begin; with c as (select 1 as k, 'cte' as v) merge into mt t using c on t.k = c.k when matched then update set v = c.v, n = (select count(*) from ms); select * from mt order by k; rollback
begin; merge into mt t using ms s on t.k = s.k when matched then update set (v, n) = (select 'sub', 42); select * from mt order by k; rollback
create function mtf() returns trigger language plpgsql as $$ begin raise notice '% % %', tg_when, tg_op, tg_level; return coalesce(new, old); end $$
create trigger m1 before insert or update or delete on mt for each row execute function mtf()
create trigger m2 after insert or update or delete on mt for each row execute function mtf()
create trigger m3 before insert or update or delete on mt for each statement execute function mtf()
create trigger m4 after insert or update or delete on mt for each statement execute function mtf()
begin; merge into mt t using (select * from ms order by k) s on t.k = s.k when matched and s.k = 3 then delete when matched then update set v = s.v when not matched then insert (k, v) values (s.k, s.v); rollback
drop trigger m1 on mt; drop trigger m2 on mt; drop trigger m3 on mt; drop trigger m4 on mt
do $$ declare n int; begin merge into mt t using ms s on t.k = s.k when matched then update set n = 1; get diagnostics n = row_count; raise notice 'rows %', n; end $$
prepare mm(int) as merge into mt t using ms s on t.k = s.k and t.k = $1 when matched then update set v = 'prep'
execute mm(3)
select * from mt order by k
create view mv as select * from mt
merge into mv using ms on mv.k = ms.k when matched then delete
create function mf() returns void language sql as 'merge into mt t using ms s on t.k = s.k when matched then update set v = ''fn'''
select mf()
select * from mt order by k
begin transaction read only; merge into mt t using ms s on t.k = s.k when matched then delete; rollback
drop table mt, ms cascade
