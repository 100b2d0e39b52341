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
