-- Estimates and costs.
CREATE TABLE pe_t (a int, b text); INSERT INTO pe_t SELECT g, 'x' || g FROM generate_series(1, 3000) g
CREATE TABLE pe_u (a int PRIMARY KEY, b text, k int); INSERT INTO pe_u SELECT g, 'x' || g, g / 3 FROM generate_series(1, 3000) g; CREATE INDEX ON pe_u (k, b)
VACUUM ANALYZE pe_t
VACUUM ANALYZE pe_u
-- Estimates of functions in FROM and in the select list.
CREATE FUNCTION pe_f() RETURNS SETOF int LANGUAGE plpgsql ROWS 7 COST 1000 AS 'begin return next 1; end'
explain select * from pe_f()
explain select * from generate_series(1, 10) [[¦where generate_series > 3]]
explain select * from generate_series([[1, 100, 7¦10, 1, -1¦10, 1¦1::bigint, 100::bigint¦1, null¦1, 10, 0¦1.5, 10.5¦timestamp '2020-01-01', '2020-02-01', '1 day']])
explain select * from unnest([[array[1,2,3]¦'{1,2,3,4}'::int[]¦'{}'::int[]¦null::int[]¦array['a','b']]])
explain select t.a, x from pe_t t, unnest(array[t.a, 2]) x
explain select generate_series(1, 10) from pe_t
explain select unnest(array[a, a + 1]), b from pe_t
PREPARE pe_p(int[]) AS SELECT * FROM unnest($1) x
explain execute pe_p('{1,2,3,4,5}')
-- Index scans by arrays descend once for each element.
explain select * from pe_u where a = any ('{1,2,3}')
explain select a from pe_u where a in (1, 2, 3, 4, 5, 6, 7)
explain select * from pe_u where a in (1, 2) or k = 3
explain select * from pe_u where k < 200 and a < 200
-- The cost of WITH queries and init plans is that of the level.
explain select * from pe_t where a = (select max(k) from pe_u)
explain select * from (select * from pe_t where a < (select count(*) from pe_u) offset 0) s where b = 'x1'
-- Order of conditions.
explain (costs off) select * from pe_t where [[abs(a) = 5¦a = 5¦a + 1 = 6¦b = 'x5']] and length(b) > 3
explain (costs off) select * from pe_t where a = any ('{1,2}') and b like 'r%'
explain (costs off) select * from pe_t where a in (1, 2, 3, 4, 5, 6, 7, 8) and b like 'r%' and a not in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) and length(b) = 3
explain (costs off) select * from pe_t where coalesce(b, 'x') = 'x' and greatest(a, 3) > 2 and a > 1
explain select unnest(array[1,2,3])[[¦, generate_series(1, 10)]]
explain (costs off) select * from pe_u where k in (1, 2, 3) and b in ('x3', 'x4')
begin; set local enable_sort = off; explain (costs off) select k, a from pe_u order by k, a + 1 limit 3; rollback
