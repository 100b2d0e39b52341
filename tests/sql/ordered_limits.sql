-- LIMIT over grouping, windows, DISTINCT, subqueries and UNION ALL whose rows are in the order of an index.
CREATE SCHEMA ordered_limits; SET search_path = ordered_limits
create table t(id int primary key, u int, ts timestamp, k text, v numeric)
insert into t select g, (g*7919)%997, timestamp '2024-01-01'+g*interval '1 min', 'k'||g%5, g%100 from generate_series(1,9000) g
create table s(id int primary key, u int, ts timestamp, k text)
insert into s select g, (g*31)%500, timestamp '2024-01-01 00:00:30'+g*interval '2 min', 'q'||g%5 from generate_series(1,6000) g
create table c(id int primary key, n text)
insert into c select g, 'n'||g from generate_series(0,999) g
create index on t(u,ts desc)
create index on t(ts)
create index on s(u)
create index on s(ts)
vacuum analyze t
vacuum analyze s
vacuum analyze c
explain (costs off) select u, sum(v) from t group by u order by u limit 5
select u, sum(v) from t group by u order by u limit 5
select u, sum(v) from t group by u having sum(v)>1500 order by u limit 5
select u, count(*) from t group by u order by count(*) desc, u limit 5
select u, sum(v) from t group by u order by u desc limit 5
select u, sum(v) from t group by u order by u limit 5 offset 3
select u, sum(v) from t group by u order by sum(v), u limit 3
explain (costs off) select u, ts, sum(v) over (partition by u order by ts desc) from t order by u, ts desc limit 5
select u, ts, sum(v) over (partition by u order by ts desc) from t order by u, ts desc limit 5
select id, lag(id) over (order by id) from t order by id limit 3
select id, lag(id) over (order by id), rank() over (order by ts) from t order by id limit 3
select id, lag(id) over (order by id), first_value(id) over (order by id desc) from t order by id limit 3
select id, count(*) over () from t order by id limit 3
select ts, row_number() over (order by ts) from t limit 4
select distinct on (u) u, ts, k from t order by u, ts desc limit 5
select distinct u from t order by u limit 4
select distinct u, ts from t order by u desc, ts limit 4
explain (costs off) select * from (select distinct u from t) x order by u limit 3
select * from (select distinct u from t) x order by u limit 3
select * from (select distinct u from t) x order by u desc limit 3
select u from (select distinct u, k from t) x order by k, u limit 3
explain (costs off) select * from (select u, count(*) n from t group by u) x order by u limit 3
select * from (select u, count(*) n from t group by u) x order by u limit 3
select * from (select k, u, count(*) n from t group by k,u) x order by u desc nulls first, k limit 3
select * from (select u, count(*) n from t group by u) x order by n desc, u limit 3
select * from (select u, count(*) n from t group by u) x where n>30 order by u limit 3
select x.n, x.u from (select u, count(*) n, max(ts) m from t group by u) x order by m desc limit 3
explain (costs off) select * from (select u, row_number() over (partition by u order by ts desc) r from t) x limit 3
select * from (select u, row_number() over (partition by u order by ts desc) r from t) x limit 3
select * from (select u, row_number() over (partition by u order by ts desc) r from t) x order by u limit 3
select * from (select u, row_number() over (partition by u order by ts desc) r from t) x where r=1 order by u limit 3
select * from (select u, ts, row_number() over (partition by u order by ts desc) r from t) x order by u, ts desc limit 3
explain (costs off) select ts, k from t union all select ts, k from s order by ts limit 4
select ts, k from t union all select ts, k from s order by ts limit 4
select ts, k from t union all select ts, k from s order by ts desc limit 4 offset 2
select 't' src, ts from t union all select 's', ts from s order by ts desc, src limit 4
select 't' src, ts from t union all select 's', ts from s order by src, ts desc limit 4
(select ts from t limit 3) union all select ts from s order by ts limit 4
select u from t union all select u from s union all select id from c order by 1 limit 7
select u::bigint from t union all select u from s order by 1 limit 3
select ts from t where u=5 union all select ts from s where u=7 order by ts desc limit 5
select k from t union all select k from s order by k limit 2
select * from (select ts, k from t union all select ts, k from s) x order by ts limit 4
select * from (select ts, k from t union all select ts, k from s) x where k='q1' order by ts limit 4
create view feed as select id, ts, k from t union all select id, ts, k from s
select * from feed order by ts desc limit 3
select * from feed where ts>'2024-01-20' order by ts limit 3
select ts from t union select ts from s order by ts limit 3
select ts from t union all (select ts from s union select ts from t) order by ts limit 3
select ts from t except all select ts from s order by ts limit 3
select max(v) from t union all select 1 order by 1 limit 1
select u, count(*) from t group by u union all select u, count(*) from s group by u order by u, 2 limit 6
select distinct u from t union all select u from s order by 1 limit 5
select u+1 from t union all select u from s order by 1 limit 3
select ts from t union all select ts from s order by ts + interval '1 d' limit 3
explain (costs off) select * from feed order by ts desc limit 3
explain (costs off) select u, count(*) from t group by u union all select u, count(*) from s group by u order by u limit 6
select c.id, c.n, sum(t.v) from c left join t on t.u=c.id group by c.id order by c.id limit 4
select c.id, x.* from c cross join lateral (select u, count(*) from t where t.u=c.id group by u order by u limit 1) x order by c.id limit 3
select c.id, (select ts from t where t.u=c.id union all select ts from s where s.u=c.id order by ts desc limit 1) from c order by id limit 4
select c.id, x.* from c, lateral (select ts, k from t where u=c.id union all select ts, k from s where u=c.id order by ts desc limit 2) x where c.id<4 order by 1,2
select exists (select u from t group by u having count(*)>31 limit 1)
select id from c where id in (select u from t group by u having count(*)>29) order by id limit 4
with w as (select u, count(*) n from t group by u) select * from w order by u limit 3
begin
declare cu cursor for select u, count(*) from t group by u order by u
fetch 3 from cu
declare cv scroll cursor for select ts from t union all select ts from s order by ts
fetch 3 from cv
fetch last from cv
fetch prior from cv
fetch first from cv
commit
prepare pl(int) as select u, count(*) from t group by u order by u limit $1
execute pl(2)
execute pl(4)
prepare pm(int,int) as select ts from t where u<$2 union all select ts from s order by ts limit $1
execute pm(2,5)
execute pm(3,900)
select u, count(*) from t group by u order by u fetch first 2 rows with ties
select ts from t union all select ts from s order by ts fetch first 3 rows with ties
select u, sum(v), sum(sum(v)) over (order by u) from t group by u order by u limit 4
explain (costs off) select u, sum(v), sum(sum(v)) over (order by u) from t group by u order by u limit 4
select u, sum(v), rank() over (order by sum(v)) from t group by u order by u limit 4
-- A condition on two columns of the same row is not an index condition.
explain (costs off) select id from t where v = (select max(y.v) from t y where y.u = t.u) order by id limit 3
select id from t where v = (select max(y.v) from t y where y.u = t.u) order by id limit 3
explain (costs off) select * from t where id = u
-- WITH TIES over window functions, subqueries, grouping and joins.
CREATE TABLE tied (a int, b int)
INSERT INTO tied SELECT g / 4, g FROM generate_series(0, 30) g
SELECT a, [[count(*)¦sum(b)¦rank()]] OVER (ORDER BY a) FROM tied ORDER BY a FETCH FIRST [[1¦2¦5¦9]] ROWS WITH TIES
SELECT a, b FROM (SELECT DISTINCT a, b FROM tied ORDER BY a, b) s ORDER BY a FETCH FIRST [[1¦6]] ROWS WITH TIES
SELECT x.a, count(*) FROM tied x JOIN tied y ON x.a = y.a GROUP BY x.a, x.b % 2 ORDER BY x.a FETCH FIRST [[1¦3]] ROWS WITH TIES
SET enable_hashjoin = off; SET enable_nestloop = off
SELECT x.a FROM tied x JOIN tied y ON x.a = y.a ORDER BY x.a OFFSET [[0¦2¦20]] FETCH FIRST [[1¦3¦17]] ROWS WITH TIES
RESET enable_hashjoin; RESET enable_nestloop
WITH c AS MATERIALIZED (SELECT a, b FROM tied ORDER BY a) SELECT a FROM c ORDER BY a FETCH FIRST 2 ROWS WITH TIES
DROP TABLE tied
SET client_min_messages = error; DROP SCHEMA ordered_limits CASCADE

select u, ts from t where u in (7, 3, 5, 3, null) order by u, ts desc limit 5
select u, ts from t where u in (7, 3, 5) order by u desc, ts limit 5
select id, v from t where id = any('{900,2,500,77,2}') order by id [[desc¦]] limit 3
select min(u), max(u) from t where u in (500, 20, 996, 2000)
select u, count(*) from t where u = any(array[9, 8, 7]) group by u order by u [[desc¦]]
select 1/(id - 500) from t where id in (1, 2, 500) order by id limit 2
select id from t where id = any(array[5, 1, 3]) and id > any(array[2, 4]) order by id
select u, id from t where u in (4, 2) and id in (select id from s where u < 100) order by u, id limit 4
select x.id, y.ts from s x join lateral (select ts from t where t.u in (x.id, x.id + 1) order by u desc limit 2) y on true where x.id < 6 order by 1, 2