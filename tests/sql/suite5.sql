-- What PostgreSQL's regression suite found: computed columns of rows that a join adds, conditions that end windows,
-- columns that need not be grouped by, names of columns in views.
CREATE SCHEMA suite5; SET search_path = suite5
create table int8_tbl(q1 int8, q2 int8)
insert into int8_tbl values(123,456),(123,4567890123456789),(4567890123456789,123),(4567890123456789,4567890123456789),(4567890123456789,-4567890123456789)
analyze int8_tbl
set enable_hashjoin to off; set enable_nestloop to off
explain (verbose, costs off) select a.q2, b.q1 from int8_tbl a left join int8_tbl b on a.q2 = coalesce(b.q1, 1) where coalesce(b.q1, 1) > 0 order by 1,2
select a.q2, b.q1 from int8_tbl a left join int8_tbl b on a.q2 = coalesce(b.q1, 1) where coalesce(b.q1, 1) > 0 order by 1,2
select a.q2, coalesce(b.q1,1) from int8_tbl a full join int8_tbl b on a.q2 = coalesce(b.q1, 1) order by 1,2
select coalesce(a.q2,7), coalesce(b.q1,1) from int8_tbl a full join int8_tbl b on coalesce(a.q2,7) = coalesce(b.q1, 1) order by 1,2
reset enable_hashjoin; reset enable_nestloop
create table t1 (a int, b int, c int, d int, primary key (a, b))
create table t2 (x int, y int, z int, primary key (x, y))
insert into t1 select i%10,i,i,i from generate_series(1,50) i
insert into t2 select i%10,i,i from generate_series(1,50) i
explain (costs off) select * from t1 group by a,b,c,d
explain (costs off) select t1.*,t2.x,t2.z from t1 inner join t2 on t1.a = t2.x and t1.b = t2.y group by t1.a,t1.b,t1.c,t1.d,t2.x,t2.z
select t1.*,t2.x,t2.z, count(*) from t1 inner join t2 on t1.a = t2.x and t1.b = t2.y group by t1.a,t1.b,t1.c,t1.d,t2.x,t2.z order by d, c
select c, a, b, max(d) from t1 group by c,a,b,d having d > 40 order by d desc, c
create view gv as select a,b,c,d from t1 group by a,b,c,d
select pg_get_viewdef('gv')
explain (costs off) select max(a) from t1 where a < 5
explain (costs off) select min(a) from t1 group by ()
select min(a) from t1 group by ()
select max(a), generate_series(1,3) g from t1 order by g desc
explain (costs off) select max(a), generate_series(1,3) as g from t1 order by g desc
select max(100) from t1 where a > 1000
explain (costs off) select sum(a), count(*) from t1 group by grouping sets ((),(),())
select sum(a), count(*) from t1 group by grouping sets ((),(),())
explain (costs off) with x as (select * from (select a from t1 for update) ss) select * from x where a = 1
explain (verbose, costs off) with recursive x(a) as ((values ('a'), ('b')) union all (with z as not materialized (select * from x) select z.a || z1.a as a from z cross join z as z1 where length(z.a || z1.a) < 5)) select * from x
with recursive x(a) as ((values ('a'), ('b')) union all (with z as not materialized (select * from x) select z.a || z1.a as a from z cross join z as z1 where length(z.a || z1.a) < 5)) select * from x order by 1
explain (verbose, costs off) select * from (select 1 as x, q1, sum(q2) from int8_tbl i1 group by grouping sets(1, 2)) ss where x = 1 and q1 = 123
create function rngfuncbar(out integer, out numeric) as $$ select (1, 2.1, 3) $$ language sql
select * from rngfuncbar()
