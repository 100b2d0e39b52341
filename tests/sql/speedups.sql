-- Fast paths must have the results of the general code: numbers with few digits, constant lists, shared states, recursion.
create table sp_n (id int, x numeric, y numeric, s varchar(10), c char(6), i2 int2, i8 int8, d date)
insert into sp_n select i, v, (array[0, 1, -0.5, 3, 0.0001, 99999999.99, 1e-20, 123456789012345678.123, 'NaN', 'Infinity', null]::numeric[])[1 + i % 11], 'v' || i % 13, 'c' || i % 7, (i % 100)::int2, i * 1000000007::int8, date '1994-01-01' + i from unnest(array[0, 0.00, 1, -1, 1.10, 0.05, -0.07, 9999, 10000, 99999999, 1e8, 0.0001, 0.00001, 1234567890123456, 12345678901234567, -9999999999999999.9999, 1e16, 1e-16, 2.5, 'NaN', '-Infinity', null]::numeric[]) with ordinality u(v, n), generate_series(1, 11) k, lateral (select (n * 11 + k)::int i) j
select id, x, y, x [[+¦-¦*]] y from sp_n order by id
select id, x, y, x / y from sp_n where y <> 0 order by id
select id, x / 0 from sp_n where id = [[12¦20]]
select id, y % 7, y / 3, 1 / nullif(y, 0), y * 1.000000000000000000000000000001, y * 1e70, y + 1e-60 from sp_n where id < 24 order by id
select count(*) filter (where x < y), count(*) filter (where x <= y), count(*) filter (where x = y), count(*) filter (where x <> y), count(*) filter (where x > y), count(*) filter (where x >= y) from sp_n
select x::text from sp_n order by x [[desc¦]], id
select sum(x), avg(x), count(x), min(x), max(x), sum(x * 2), avg(x * 2), variance(x), stddev(x) from sp_n [[¦where x < 1e20¦where id < 0¦where x between -1 and 10000]]
select i2 % 5, sum(i2), avg(i2), sum(i8), avg(i8), count(i8), avg(x), sum(x) filter (where id > 50), avg(x) filter (where id > 50), avg(x) filter (where id > 100), sum(id::float8), avg(id::float8), variance(id::float8), stddev(id::float8) from sp_n where x < 1e20 group by 1 order by 1
select i2 % 3, sum(distinct i2), sum(i2), avg(distinct i2), avg(i2) from sp_n group by [[1¦rollup (1)¦grouping sets ((i2 % 3), ())]] order by 1
select sum(x::numeric(20,2)), avg(x::numeric(20,2)), sum(i8::numeric), avg(i4) from (select *, id i4 from sp_n where abs(x) < 1e10) q
select count(*), sum(id) from sp_n where [[s¦c]] [[in¦not in]] ('v1', 'v2', 'v12 ', 'c3', 'c3  ', [['x'¦null¦'a', 'b', 'd', 'e', 'f', 'v7', 'c1']])
select count(*), sum(id) from sp_n where [[i2¦i8¦id]] [[in¦not in]] (1, 2, 5, 70, [[7¦null¦10, 11, 12, 13, 14, 15, 1000000007, 2000000014]])
select count(*), sum(id) from sp_n where x [[= any¦<> all¦< any¦> all¦= all]] (array[1, 1.1, 0.00, 'NaN'[[¦, null¦, 5, 6, 7, 8, 9, 10, 10000.0]]]::numeric[])
select count(*), sum(id) from sp_n where d [[= any¦<> all¦>= any]] (array['1994-01-20', '1994-02-01'[[¦, null]]]::date[])
select count(*) from sp_n where x [[= any¦<> all¦= all¦<> any]] ([['{}'¦null]]::numeric[])
select count(*), sum(id) from sp_n where (i2 > 50 and s in ('v1', 'v2')) or (x > 1 and c = 'c3' and i2 in (1, 2, 3, 50)) or (y is null and i2 < 30) or s = any (array['v9', null])
select id, s in ('v1', 'v2', null), c = any ('{c1,c2}'), i2 <> all ('{1,2,3}'), i2 = any ('{1,2,3,4,5,6,7,8,9,10,11}'), x = any ('{1,NaN,null}') from sp_n where id < 60 order by id
select count(*) from sp_n where 10 / (i2 - 5) = any ('{1,2}') and i2 > 5
select count(*) from sp_n where i2 > 5 and (i2 = 3 or 10 / (i2 - 5) in (1, 2))
select percentile_cont([[0.5¦0¦0.37¦1]]) within group (order by [[i2¦i8¦id::float8¦i2 desc¦(id % 7)::float4]]), percentile_disc(array[0.1, 0.5, 0.99]) within group (order by [[i2¦d¦x¦s¦i8 desc]]) from sp_n
select mode() within group (order by [[i2¦i2 desc¦s¦(id % 3)::float8]]), rank(5) within group (order by i2), dense_rank(5) within group (order by i2 desc), percent_rank(5) within group (order by i2), cume_dist(5) within group (order by i2), rank(5, 300) within group (order by i2, id), dense_rank(5, 300) within group (order by i2 desc, id desc nulls last) from sp_n
with recursive t(n) as (select 1 union all select n + 1 from t where n < [[1¦10¦3000]]) select count(*), sum(n), max(n) from t
with recursive t(n) as (select 1 union all select n * 2 from t) select n from t [[limit 5¦limit 31¦where n > 100 limit 1¦limit 40]]
with recursive t(n) as (select 10 union all select 100 / (n - 5) - n from t) select n from t limit [[1¦2¦4¦9¦30]]
with recursive t(n) as (values (1), (2) union select (n * 7) % 100 from t) select n from t order by n
create sequence sp_s
with recursive t(n) as (select nextval('sp_s') union all select nextval('sp_s') from t) select n from t limit [[1¦3¦7]]
select last_value from sp_s
create index sp_1 on sp_n (i2[[¦ desc¦ desc nulls last¦ nulls first]], [[s¦s desc¦i8 desc nulls last¦c nulls first¦x]])
set enable_seqscan = off
set enable_sort = off
select i2, s, i8 from sp_n where i2 [[>¦<]] 50 order by i2, s, i8, id
drop index sp_1
create table sp_i (a int, b [[text¦int¦int8¦numeric¦date]]); drop table sp_i
create table sp_e (a int, b int); insert into sp_e select (array[null, -2147483648, 2147483647, 0, 1])[1 + i % 5], (array[null, 2147483647, -2147483648, 5])[1 + i % 4] from generate_series(1, 60) i; create index sp_e1 on sp_e (a, b); create index sp_e2 on sp_e (a desc nulls last, b); create index sp_e3 on sp_e (a nulls first, b desc)
select a, b from sp_e order by [[a, b¦a desc nulls last, b¦a nulls first, b desc]]
explain (costs off) select a, b from sp_e order by a, b
drop table sp_n, sp_e
drop sequence sp_s
