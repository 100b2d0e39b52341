-- Grouping sets as rollups over sorted input, rollups with sorts of their own, and hashed sets.
create table gs_a (a int, b int, c int, v int, t text)
insert into gs_a select g % 3, g % 4, g % 5, g, 't' || g % 2 from generate_series(1, 60) g
insert into gs_a values (null, 1, 2, 100, null), (1, null, null, 200, 't0'), (null, null, null, 300, 't1')
create table gs_n (id int primary key, k int, x bigint)
insert into gs_n select g, g % 7, g * 3 from generate_series(1, 2000) g
create table gs_empty (a int, b int, v int)
-- A type that can only be hashed, and one that can only be sorted.
create table gs_types (h xid, s bit(4), i int, v int)
insert into gs_types select (g % 3)::text::xid, (g % 4)::bit(4), g % 2, g from generate_series(1, 24) g
analyze gs_a; analyze gs_n; analyze gs_types
set max_parallel_workers_per_gather = 0
[[explain (costs off) ¦]]select a, b, count(*), sum(v) from gs_a group by [[rollup (a, b)¦cube (a, b)¦grouping sets ((a), (b))¦grouping sets ((a, b), (b), ())¦a, rollup (b, c)¦grouping sets ((), ())¦grouping sets ((a, b), (a, b), (a))]][[¦ order by a, b, 3, 4]]
set enable_hashagg = off
[[explain (costs off) ¦]]select a, b, c, grouping(a, b, c), count(*), sum(v) from gs_a group by [[rollup (a, b, c)¦cube (a, b, c)¦grouping sets ((a, b), (b, c), (c))¦grouping sets ((a), (b), ())¦grouping sets ((a, b, c), (c), (a), ())¦rollup (a, b), rollup (b, c)]][[¦ order by a, b, c, 4, 5]]
[[explain (costs off) ¦]]select b, a, count(*) from gs_a group by rollup (a, b) order by [[a, b¦b, a¦a desc, b¦a desc nulls last, b desc nulls last¦a nulls first¦b desc]], 1, 2, 3
[[explain (costs off) ¦]]select a, b, count(*) from gs_a group by grouping sets ((a, b), (b)) order by [[a, b¦b, a¦b desc, a]]
[[explain (costs off) ¦]]select a, sum(distinct b), count(distinct c), string_agg(t, ',' order by v) from gs_a where v < 40 group by [[rollup (a, b)¦cube (a, b)]] order by 1, 2, 3, 4
[[explain (costs off) ¦]]select a, b, percentile_disc(0.5) within group (order by v), max(v) filter (where c = 2) from gs_a group by cube (a, b) having [[count(*) > 4¦grouping(a) = 0¦a is null]] order by 1, 2, 3
[[explain (costs off) ¦]]select a, b, sum(v), count(*) from gs_empty group by [[rollup (a, b)¦cube (a, b)¦grouping sets ((a), (b))¦grouping sets ((), ())¦grouping sets ((a), ())¦a, grouping sets ((), ())]]
[[explain (costs off) ¦]]select * from (select a, b, count(*) n from gs_a group by rollup (a, b)) s order by [[a, b¦b, a¦a, n]], n
[[explain (costs off) ¦]]select a, b, count(*) from gs_a group by rollup (a, b) order by a, b limit [[1¦3¦7]]
[[explain (costs off) ¦]]select a, b, count(*), rank() over (partition by a order by b) from gs_a group by [[rollup (a, b)¦cube (a, b)]] order by 1, 2, 3, 4
[[explain (costs off) ¦]]select distinct a, count(*) from gs_a group by rollup (a, b) order by 1, 2
set enable_hashagg = on
-- Rescans: a grouping below a nested loop reads parameters.
select x, s.* from generate_series(1, 3) x, lateral (select a, b, count(*) n, sum(v + x) from gs_a where c < x group by [[rollup (a, b)¦cube (a, b)¦grouping sets ((a), (b))]]) s order by 1, 2, 3, 4, 5
select x, (select string_agg(concat_ws(':', a, n), ',' order by a, n) from (select a, count(*) n from gs_a where v > x group by rollup (a, b)) s) from generate_series(20, 40, 10) x order by 1
-- Several phases over more rows than a batch, and sets that do not fit in memory.
select k, x % 11 as r, count(*), sum(x), min(id) from gs_n group by [[rollup (k, x % 11)¦cube (k, x % 11)¦grouping sets ((k), (x % 11), ())]] order by 1, 2, 3
select count(*), sum(n), sum(s), sum(k), count(id) from (select id, k, x, count(*) n, sum(x) s from gs_n group by [[cube (id, k), x¦grouping sets ((id), (x), (k))¦rollup (k, id, x)]]) s
set work_mem = '64kB'; set hash_mem_multiplier = 1
[[explain (costs off) ¦]]select count(*), sum(n), sum(s), sum(k), count(id) from (select id, k, x, count(*) n, sum(x) s from gs_n group by [[cube (id, k), x¦grouping sets ((id), (x), (k))¦rollup (k, id, x)]]) s
reset work_mem; reset hash_mem_multiplier
-- Keys by an index.
[[explain (costs off) ¦]]select id, k, count(*) from gs_n where id < 20 group by [[rollup (id, k)¦grouping sets ((id), ())¦grouping sets ((id, k), (id), (k))]] order by id, k, 3
-- Columns that joins equate.
[[explain (costs off) ¦]]select n.id, m.k, count(*) from gs_n n join gs_n m on n.id = m.k group by rollup (n.id, m.k)
[[explain (costs off) ¦]]select s.k, s.n from (select m.k, count(*) n from gs_n n join gs_n m on n.id = m.k group by rollup (n.id, m.k)) s order by 1, 2
-- Types without a hash function or without an order.
[[explain (costs off) ¦]]select s, i, count(*), sum(v) from gs_types group by [[rollup (s, i)¦cube (s, i)¦grouping sets ((s), (i))¦grouping sets ((s), ())¦s, rollup (i)]] order by 1, 2, 3
[[explain (costs off) ¦]]select h::text, i, count(*), sum(v) from gs_types group by [[rollup (h, i)¦cube (h, i)¦grouping sets ((h), (i))¦grouping sets ((h), (i), ())¦grouping sets ((h), ())¦h, rollup (i)]] order by 1, 2, 3
[[explain (costs off) ¦]]select h::text, s, count(*) from gs_types group by [[grouping sets ((h), (s))¦rollup (h, s)¦cube (h, s)¦grouping sets ((h), (s), ())]] order by 1, 2, 3
[[explain (costs off) ¦]]select h::text, count(*), string_agg(v::text, ',' order by v) from gs_types group by [[h¦rollup (h)¦grouping sets ((h), ())]] order by 1, 2
explain (costs off, format [[json¦xml¦yaml]]) select a, b, count(*) from gs_a group by [[rollup (a, b)¦cube (a, b)¦grouping sets ((a, b), (a), (b), ())]]
set enable_hashagg = off
explain (costs off, format json) select a, b, count(*) from gs_a group by cube (a, b)
explain (verbose, costs off) select a + 1, b, count(*) from gs_a group by cube (a + 1, b), rollup (c)
reset enable_hashagg
CREATE SEQUENCE calls
SELECT g, sum(nextval('calls')) FROM generate_series(1, 3) g GROUP BY [[ROLLUP (g)¦GROUPING SETS ((g), ())¦GROUPING SETS ((g), (g))¦g]] ORDER BY 1, 2
SELECT g % 2, g % 3, sum(nextval('calls')), count(*) FILTER (WHERE nextval('calls') % 2 = 0) FROM generate_series(1, 20) g GROUP BY [[CUBE (g % 2, g % 3)¦GROUPING SETS ((g % 2), (g % 3), ())]] ORDER BY 1, 2, 3
SELECT currval('calls')
SET enable_sort = off
SELECT g % 2, g % 3, g % 5, sum(nextval('calls')), max(g + nextval('calls')) FROM generate_series(1, 40) g GROUP BY GROUPING SETS ((g % 2), (g % 3), (g % 2, g % 3), (g % 5)) ORDER BY 1, 2, 3
SELECT currval('calls')
RESET enable_sort
SELECT g % 2, g % 3, count(DISTINCT g % 4), string_agg(g::text, ',' ORDER BY g DESC), sum(g * 2) FILTER (WHERE g > 5), array_agg(g + 1) FROM generate_series(1, 20) g GROUP BY [[CUBE (g % 2, g % 3)¦ROLLUP (g % 2, g % 3)¦GROUPING SETS ((g % 2), (g % 3))]] ORDER BY 1, 2
EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT g % 2 a, g % 3 b, g % 5 c, g % 7 d, g % 11 e FROM generate_series(1, 10) g OFFSET 0) s GROUP BY CUBE (a, b, c, d, e)
