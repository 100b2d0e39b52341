-- Plans of subqueries.
CREATE TABLE sq_t (a int, b text); INSERT INTO sq_t SELECT g, 'x' || g FROM generate_series(1, 3000) g
CREATE TABLE sq_u (a int PRIMARY KEY, b text, k int); INSERT INTO sq_u SELECT g, 'x' || g, g / 3 FROM generate_series(1, 3000) g; CREATE INDEX ON sq_u (k, b)
VACUUM ANALYZE sq_t
VACUUM ANALYZE sq_u
-- Outputs that are not used.
explain (costs off) select count(*) from sq_t t, lateral (select max(a) m, count(*) from sq_u u where u.a = t.a) x
explain (costs off) select [[count(*)¦count(x)]] from (select sum(a) filter (where b > 'a') x, array_agg(b) from sq_u offset 0) s
select count(*), count(x.m) from sq_t t, lateral (select max(a) m from sq_u u where u.a = t.a + 1) x
select count(*) from sq_t t, lateral (select max(a) m from sq_u u where u.a = t.a + 1 having false) x
explain (costs off) select count(*) from sq_t t, lateral (select max(a) m from sq_u u where u.a = t.a [[having count(*) > 0¦limit 0]]) x
-- EXISTS over queries with WITH, and IN over distinct rows.
explain (costs off) select count(*) from sq_t t0 where exists (with x as [[¦materialized¦not materialized]] (select * from sq_u) select 1 from x where x.a = t0.a)
explain (costs off) select exists (with x as [[¦materialized]] (select * from sq_u) select 1 from x where x.k = t0.a [[¦or t0.a > 3¦and x.b < t0.b¦limit 1]]) from sq_t t0
select count(*) from sq_t t0 where exists (with x as [[¦materialized]] (select * from sq_u) select 1 from x where x.k = t0.a)
select count(*) from sq_t t0 where not exists (with x as (select * from sq_u), y as materialized (select k from x where a < 500) select 1 from y where y.k = t0.a) or a = 3
explain (costs off) select * from sq_t where (a, b) in (select a, b from sq_u group by a, b having count(*) > 1)
explain (costs off) select * from sq_t where (a, b) in (select distinct on (k) k, b from sq_u order by k)
explain (costs off) select * from sq_t where a in (select k from sq_u group by k, b)
select count(*) from sq_t where (k, a) in (select k, max(a) from sq_u group by k)
select count(*) from sq_u where (k, a) in (select k, max(a) from sq_u group by k)
explain (costs off) select * from sq_t where a in (select distinct [[k¦k + 1]] from sq_u)
-- A condition that runs a sub-plan is tested by the scan of its relation.
explain (costs off) select count(*) from sq_u t2 where t2.k > (select max(u.k) from sq_u u where u.k = t2.k and u.a = t2.a) and t2.b in (select b from sq_t)
explain (costs off) select count(*) from sq_t t where t.a > (select count(*) from sq_u u where u.k = t.a and u.b > t.b) and exists (select from sq_u x where x.b = t.b and x.k <> t.a)
explain (costs off) select count(*) from sq_t t where t.a > (select count(*) from sq_u u where u.k = t.a and u.b > t.b) and not exists (select from sq_u x where x.b = t.b)
-- Several parameters that equal one column.
explain (costs off) select (select min(a) from sq_t t where t.a = u.a and t.a = u.k) from sq_u u
explain (costs off) select * from sq_u u where a = (select count(*) from sq_t t where t.a = u.a and t.a = u.k and t.b > 'x')
select count(*) from sq_u u where a = (select count(*) from sq_t t where t.a = u.a and t.a = u.k + 1 and t.b > 'x')
PREPARE sq_q(int, int) AS SELECT count(*) FROM sq_u WHERE a = $1 AND a = $2
begin; set local plan_cache_mode = force_generic_plan; execute sq_q(3, 3); execute sq_q(3, 4); execute sq_q(3, null); explain (costs off) execute sq_q(1, 2); rollback
