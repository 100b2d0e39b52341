-- Sort orders that are useful for several later stages; UNION ALL as an append relation.
create table up_class (oid int primary key, relname text, namespace int, kind int, pages int)
insert into up_class select g, 'n' || g, g % 20, g % 5, (g * 7919) % 500 from generate_series(1, 8000) g order by (g * 7919) % 8009
create table up_attr (relid int, name text, typ int, num int, filler text)
insert into up_attr select 1 + g % 4000, 'c' || (g / 4000), (g * 7919) % 60, g / 4000, 'abcdefghijklmnopqrstuvwxyz' from generate_series(0, 23999) g
create unique index up_attr_name on up_attr (relid, name)
create unique index up_attr_num on up_attr (relid, num)
create table up_index (oid int primary key, relid int)
insert into up_index select g, (g * 7) % 1000 from generate_series(1, 6000) g order by (g * 7919) % 8009
create index up_index_relid on up_index (relid)
vacuum analyze up_class, up_attr, up_index
set max_parallel_workers_per_gather = 0
[[explain (costs off) ¦]]select relid, count(*) from up_attr group by relid order by relid limit 5
[[explain (costs off) ¦]]select typ, relid, count(*) from up_attr group by typ, relid order by relid, typ limit 5
explain (costs off) select kind, count(*) from up_class group by kind [[¦order by kind¦having count(*) > 5 order by count(*)]]
explain (costs off) select kind, namespace from up_class group by kind, namespace order by [[namespace, kind¦kind desc, namespace¦namespace]]
[[explain (costs off) ¦]]select relid, name from up_attr group by relid, name order by relid, name limit 4
explain (costs off) select distinct relid, count(*) from up_attr group by relid order by relid, count(*)
explain (costs off) select kind, namespace, count(*) from up_class group by [[rollup (kind, namespace)¦cube (kind, namespace)¦grouping sets (kind, namespace)]]
[[explain (costs off) ¦]]select relid, num, sum(num) over (partition by relid order by num) from up_attr order by relid, num limit 5
explain (costs off) select kind, rank() over (partition by kind order by oid), count(*) over (partition by kind) from up_class order by kind
[[explain (costs off) ¦]]select relid, count(*), sum(count(*)) over (order by relid) from up_attr group by relid order by relid limit 5
explain (costs off) select distinct [[oid¦kind¦kind, namespace]] from up_class
explain (costs off) select * from up_attr order by relid, typ
[[explain (costs off) ¦]]select relid, typ, num from up_attr order by relid, typ, num limit 5
[[explain (costs off) ¦]]select * from (select [[relid, count(*)¦distinct relid¦relid, rank() over (order by relid)]] from up_attr [[¦group by relid]]) s order by relid limit 3
explain (costs off) select generate_series(1, 3), oid from up_class order by oid limit 5
-- Ordered members of an append relation.
[[explain (costs off) ¦]]select oid from up_class union all select oid from up_index order by 1 limit 5
explain (costs off) select oid from up_class union all select oid from up_index order by 1
[[explain (costs off) ¦]]select oid from up_class union all select namespace from up_class order by 1 limit 5
explain (costs off) select pages from up_class union all select pages from up_class order by 1 limit 5
[[explain (costs off) ¦]]select * from (select oid, relname from up_class union all select oid, 'x' from up_index) s order by oid, relname limit 3
[[explain (costs off) ¦]]select [[max(oid)¦min(oid), max(oid)¦count(*)¦count(distinct oid)]] from (select oid from up_class union all select oid from up_index) s
[[explain (costs off) ¦]]select oid, count(*) from (select oid from up_class union all select oid from up_index) s where oid < 4 group by oid order by oid
-- Columns and expressions of members.
[[explain (costs off) ¦]]select [[relname¦relname, oid¦oid + 1¦oid, oid¦1]] from (select oid, relname from up_class union all select oid, 'x' from up_index) s where oid = 5
[[explain (costs off) ¦]]select relname from (select oid, relname from up_class union all select oid, 'x' from up_index) s where oid = 5 and random() >= 0
-- Members below a nested loop.
[[explain (costs off) ¦]]select * from up_index i join (select oid, relname from up_class union all select oid, 'x' from up_index) s on s.oid = i.oid where i.relid = 7
[[explain (costs off) ¦]]select * from up_index i left join (select oid, relname from up_class union all select oid, 'x' from up_index) s on s.oid = i.oid where i.relid = 7
[[explain (costs off) ¦]]select * from up_index i where exists (select from (select oid from up_class union all select oid from up_index) s where s.oid = i.relid) and relid < 3 and oid < 1500
[[explain (costs off) ¦]]select i.oid, s.oid from up_index i join (select oid, kind from up_class union all select oid, relid from up_index) s on s.oid = i.oid and s.kind > i.relid - 7 where i.relid = 7
-- Members that return no rows.
explain (costs off) select oid from up_class where false union all select oid from up_index [[¦where false]]
-- VALUES of one row.
[[explain (costs off) ¦]]values (1, 2)
[[explain (costs off) ¦]]select a + 1, b from (values (1, 'a')) v(a, b) where a [[>¦<]] 0
[[explain (costs off) ¦]]select v, v.* from (values (1, 'a')) v(a, b)
[[explain (costs off) ¦]]select relname, v.b from up_class, (values (7, 'a')) v(a, b) where oid = v.a
select x, y from up_class c, lateral (values (c.oid + 1, c.relname)) v(x, y) where oid < 3 order by x
select * from (values (1)) v(a) full join (values (2)) w(b) on a = b order by a
select a, (select count(*) from up_class where oid < v.a) from (values (5)) v(a)
select * from (values ((select max(oid) from up_class))) v(a)
drop table up_class, up_attr, up_index

-- GROUPING without aggregates, sorted.
SET enable_hashagg = off
SELECT g, grouping(g) FROM generate_series(1, 3) g GROUP BY g [[¦HAVING grouping(g) = 0]] ORDER BY g
SELECT x, (SELECT grouping(x)), (SELECT (SELECT grouping(x))) FROM generate_series(1, 2) x GROUP BY x ORDER BY 1
EXPLAIN (COSTS OFF) SELECT grouping(x) FROM generate_series(1, 2) x GROUP BY x
RESET enable_hashagg
