-- The order of calls of volatile functions: arguments of aggregates, triggers and the rows that a statement reads ahead.
CREATE SCHEMA ahead; SET search_path = ahead
create table vt(id int, v int)
create sequence vs
create function vnote(a int) returns int language plpgsql as $$ begin raise notice 'v %', a; return a; end $$
select sum(vnote(g)) from generate_series(1,3) g
select sum(vnote(g)), max(vnote(g+10)) from generate_series(1,3) g
select sum(vnote(g)) filter (where vnote(g+100) > 101) from generate_series(1,3) g
create function usum(int, int) returns int language plpgsql as $$ begin raise notice 'u %', $2; return $1+$2; end $$
create aggregate us(int) (sfunc=usum, stype=int, initcond='0')
select us(vnote(g)) from generate_series(1,3) g
select us(g), sum(vnote(g)) from generate_series(1,3) g
select g%2, sum(vnote(g)) from generate_series(1,5) g group by g%2 order by 1
select g%2, g%3, sum(vnote(g)) from generate_series(1,5) g group by grouping sets ((g%2),(g%3)) order by 1,2
create function vtrg() returns trigger language plpgsql as $$ begin raise notice 'trig % %', new.id, (select count(*) from vt); new.v := nextval('vs'); return new; end $$
create trigger b before insert or update on vt for each row execute function vtrg()
insert into vt select g, 0 from generate_series(1,4) g
insert into vt select g, nextval('vs') from generate_series(1,3) g returning *
insert into vt select 6/(3-g), 0 from generate_series(1,4) g
insert into vt select vnote(g), 0 from generate_series(1,3) g
update vt set id = id + 100 where id < 3
update vt set id = 10/(id-3) where id < 5
delete from vt where id > 100 returning *
with x as (insert into vt select g,1 from generate_series(20,22) g returning id) insert into vt select id+100, 0 from x
insert into vt select id+1000, 0 from vt where id < 4 for update
create function vtrg2() returns trigger language plpgsql as $$ begin update vt set v = v + 1 where id = old.id + 1; return new; end $$
create trigger c before update on vt for each row when (pg_trigger_depth() = 0) execute function vtrg2()
update vt set v = 7 where id between 3 and 5
create table vp(id serial, v int)
create trigger b before insert on vp for each row execute function vtrg()
insert into vp(v) select g from generate_series(1,3) g returning *
merge into vt using (values (3),(500)) s(k) on vt.id = s.k when matched then update set id = id + 1 when not matched then insert values (k, 1)
select * from vt order by 1,2
DROP SCHEMA ahead CASCADE
