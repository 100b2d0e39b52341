-- Differences found by PostgreSQL's regression suite: computed columns of null-extended rows, run conditions of windows,
-- redundant grouping columns, names of columns in views.
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
create function rngfuncbar(out integer, out numeric) as $$ select (1, 2.1, 3) $$ language sql
select * from rngfuncbar()
explain (verbose, costs off) select (r).column2 from (select r from (values(1,2),(3,4)) r limit 1) ss
create view tt24v as with cte as materialized (select r from (values(1,2),(3,4)) r) select (r).column2 as col_a, (rr).column2 as col_b from cte join (select rr from (values(1,7),(3,8)) rr limit 2) ss on (r).column1 = (rr).column1
explain (verbose, costs off) select * from tt24v
create view tt18v as select * from int8_tbl xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy union all select * from int8_tbl xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxz
explain (costs off) select * from tt18v
drop table t1, t2 cascade
CREATE TABLE empsalary (depname varchar, empno bigint, salary int, enroll_date date)
INSERT INTO empsalary VALUES ('develop', 10, 5200, '2007-08-01'), ('sales', 1, 5000, '2006-10-01'), ('personnel', 5, 3500, '2007-12-10'), ('sales', 4, 4800, '2007-08-08'), ('personnel', 2, 3900, '2006-12-23'), ('develop', 7, 4200, '2008-01-01'), ('develop', 9, 4500, '2008-01-01'), ('sales', 3, 4800, '2007-08-01'), ('develop', 8, 6000, '2006-10-01'), ('develop', 11, 5200, '2007-08-15')
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT empno, row_number() OVER (ORDER BY empno) rn FROM empsalary) emp WHERE rn < 3
SELECT * FROM (SELECT empno, row_number() OVER (ORDER BY empno) rn FROM empsalary) emp WHERE rn < 3
SELECT * FROM (SELECT empno, row_number() OVER (ORDER BY empno) rn FROM empsalary) emp WHERE 3 > rn
SELECT * FROM (SELECT empno, row_number() OVER (ORDER BY empno) rn FROM empsalary) emp WHERE 3 < rn order by 1
SELECT * FROM (SELECT empno, salary, rank() OVER (ORDER BY salary DESC) r FROM empsalary) emp WHERE r <= 3 order by 1
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT empno, salary, dense_rank() OVER (ORDER BY salary DESC) dr FROM empsalary) emp WHERE dr = 1
SELECT * FROM (SELECT empno, salary, dense_rank() OVER (ORDER BY salary DESC) dr FROM empsalary) emp WHERE dr = 2 order by 1
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT empno, salary, count(*) OVER (ORDER BY salary DESC) c FROM empsalary) emp WHERE c <= 3
SELECT * FROM (SELECT empno, salary, count(*) OVER (ORDER BY salary DESC) c FROM empsalary) emp WHERE c <= 3 order by 1
SELECT * FROM (SELECT empno, salary, count(*) OVER (ORDER BY salary DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) c FROM empsalary) emp WHERE c >= 3 order by 3
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT empno, salary, count(*) OVER (ORDER BY salary DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) c FROM empsalary) emp WHERE c >= 3
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT empno, salary, count(*) OVER () c FROM empsalary) emp WHERE 11 <= c
SELECT * FROM (SELECT empno, salary, count(*) OVER () c FROM empsalary) emp WHERE 10 <= c order by 1
SELECT * FROM (SELECT empno, salary, count(*) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) c FROM empsalary) emp WHERE c <= 1
SELECT * FROM (SELECT empno, salary, count(*) OVER (ORDER BY salary DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) c FROM empsalary) emp WHERE c <= 1 order by 3
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT empno, salary, count(*) OVER (ORDER BY salary DESC) c, dense_rank() OVER (ORDER BY salary DESC) dr FROM empsalary) emp WHERE dr = 1
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT empno, depname, row_number() OVER (PARTITION BY depname ORDER BY empno) rn FROM empsalary) emp WHERE rn < 3
SELECT * FROM (SELECT empno, depname, row_number() OVER (PARTITION BY depname ORDER BY empno) rn FROM empsalary) emp WHERE rn < 3 order by 2,1
EXPLAIN (COSTS OFF) SELECT empno, depname FROM (SELECT empno, depname, row_number() OVER (PARTITION BY depname ORDER BY empno) rn FROM empsalary) emp WHERE rn < 3
SELECT empno, depname FROM (SELECT empno, depname, row_number() OVER (PARTITION BY depname ORDER BY empno) rn FROM empsalary) emp WHERE rn < 3 order by 1
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT empno, depname, salary, count(1) OVER (PARTITION BY depname ORDER BY salary DESC) c FROM empsalary) emp WHERE c <= 3
SELECT * FROM (SELECT empno, depname, salary, count(1) OVER (PARTITION BY depname ORDER BY salary DESC) c FROM empsalary) emp WHERE c <= 3 order by 2,1
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT empno, depname, salary, count(1) OVER () c FROM empsalary) emp WHERE c = 1
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT depname, sum(salary) OVER (PARTITION BY depname order by empno) depsalary, min(salary) OVER (PARTITION BY depname, empno order by enroll_date) depminsalary FROM empsalary) emp WHERE depname = 'sales'
EXPLAIN (COSTS OFF) SELECT lead(1) OVER (PARTITION BY depname ORDER BY salary, enroll_date), lag(1) OVER (PARTITION BY depname ORDER BY salary,enroll_date,empno) FROM empsalary
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT depname, sum(salary) OVER (PARTITION BY enroll_date) enroll_salary, min(salary) OVER (PARTITION BY depname) depminsalary FROM empsalary) emp WHERE depname = 'sales'
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT depname, sum(salary) OVER (PARTITION BY depname) depsalary, min(salary) OVER (PARTITION BY depname || 'A', depname) depminsalary FROM empsalary) emp WHERE depname = 'sales'
create table t1 (f1 int, f2 int)
explain (costs off) select f1, sum(f1) over (partition by f1 order by f2 range between 1 preceding and 1 following) from t1 where f1 = f2
insert into t1 select i%4, i%4 from generate_series(1,20) i
select f1, f2, count(*) from t1 where f1 = f2 group by f1, f2 order by f2, f1
select f1, sum(f1) over (partition by f1 order by f2 range between 1 preceding and 1 following) from t1 where f1 = f2
select * from (select g, row_number() over (order by g) rn, rank() over (order by g) r from generate_series(1,5000) g) s where r <= 700 and rn < 4
select count(*) from (select g, row_number() over (order by g) rn from generate_series(1,5000) g) s where rn <= 700
select count(*) from (select g, rank() over (order by g/10) rn from generate_series(1,5000) g) s where rn <= 705
select distinct on (d) d, rn from (select empno % 2 d, row_number() over (order by empno) rn from empsalary) s where rn > 2 order by d, rn
select count(*) from (select x, (select count(*) from (select row_number() over () rn from empsalary) s where rn <= x) n from generate_series(1,3) x) q where n = x
prepare rc(int) as select * from (select empno, row_number() over (order by empno) rn from empsalary) s where rn <= $1; execute rc(2); execute rc(4); execute rc(null)
explain (verbose, costs off) select 1 = all (select (select 1))
explain (costs off) select sum(f1) from t1 group by grouping sets ((),(),())
select sum(f1) from t1 group by grouping sets ((),(),())
create table tt2 (a int, b int, c int); create table tt3 (ax int8, b int2, c numeric); create table tt4 (ay int, b int, q int)
create view v2 as select * from tt2 join tt3 using (b,c) join tt4 using (b); create view v2a as select * from (tt2 join tt3 using (b,c) join tt4 using (b)) j; create view v3 as select * from tt2 join tt3 using (b,c) full join tt4 using (b)
alter table tt2 add column d int; alter table tt2 add column e int; alter table tt3 rename c to d; alter table tt3 add column c int; alter table tt3 add column e int; alter table tt2 rename d to c_1
select pg_get_viewdef('[[v2¦v2a¦v3]]', [[true¦false]])
alter table tt2 drop column c_1; select pg_get_viewdef('[[v2¦v2a¦v3]]', true)
create table tt7 (x int, xx int, y int); alter table tt7 drop column xx; create table tt8 (x int, z int)
create view vv2 as select * from (values(1,2,3,4,5)) v(a,b,c,d,e) union all select * from tt7 full join tt8 using (x), tt8 tt8x
create view vv3 as select * from (values(1,2,3,4,5,6)) v(a,b,c,x,e,f) union all select * from tt7 full join tt8 using (x), tt7 tt7x full join tt8 tt8x using (x)
create view vv4 as select * from (values(1,2,3,4,5,6,7)) v(a,b,c,x,e,f,g) union all select * from tt7 full join tt8 using (x), tt7 tt7x full join tt8 tt8x using (x) full join tt8 tt8y using (x)
select pg_get_viewdef('[[vv2¦vv3¦vv4]]', true)
alter table tt7 add column zz int; alter table tt7 add column z int; alter table tt7 drop column zz; alter table tt8 add column z2 int
select pg_get_viewdef('[[vv2¦vv3¦vv4]]', true)
create table tt7a (x date, xx int, y int); alter table tt7a drop column xx; create table tt8a (x timestamptz, z int)
create view vv2a as select * from (values(now(),2,3,now(),5)) v(a,b,c,d,e) union all select * from tt7a left join tt8a using (x), tt8a tt8ax
select pg_get_viewdef('vv2a', true)
create table tt11 (x int, y int); create table tt12 (x int, z int); create table tt13 (z int, q int); create view vv6 as select x,y,z,q from (tt11 join tt12 using(x)) join tt13 using(z)
select pg_get_viewdef('vv6', true)
alter table tt11 add column z int; select pg_get_viewdef('vv6', true)
create view vv7 as select * from (select 1 as a, 2 as b) s1 full join (select 1 as a, 3 as c) s2 using (a) cross join (select 4 as a) s3; select pg_get_viewdef('vv7', true)
create view vv8 as select s.a, t.a as ta from (tt2 join (select 1 as b, 2 as z) w using (b)) as s(a) left join tt2 t on t.b = s.a; select pg_get_viewdef('vv8', true)
