-- Rows that OFFSET skips are not computed, and index scans of large values end with their rows.
create table ba (id int primary key, a int, b int, c text, n numeric, arr int[], j jsonb)
insert into ba select g, case when g % 7 <> 0 then g % 5 end, g % 11, 'name ' || g, g / 3.0, array[g % 5, case when g % 3 <> 0 then g % 4 end, g % 6], jsonb_build_object('a', jsonb_build_object('b', g % 9, 'c', 'x' || g % 4), 'k', g % 6 = 0, 'l', jsonb_build_array(g, null, 'e')) from generate_series(1, 3000) g
create index ba_b on ba (b)
analyze ba
select * from ba order by id limit [[3¦null]] offset [[2¦1023¦2996¦3000¦5000]]
select [[id¦c, id¦1¦id + 1¦a, a, id]] from ba order by id offset 2998
select id from ba where [[b = 3¦b = 3 and a = 1¦c like '%7'¦id > 100]] order by id limit 2 offset [[1¦40]]
select 6 / (id - 2) from ba order by id limit 2 offset [[1¦2¦5]]
select id from ba where 6 / (id - 2) < 3 order by id limit 2 offset [[0¦1¦4]]
select a from ba where a is not null order by a fetch first [[1¦3]] rows with ties offset 400
select b from (select b from ba order by b offset 2700) s fetch first 1 row with ties
select x, (select id from ba where id > x order by id limit 1 offset x) from generate_series(0, 4) x
select x, y from generate_series(1, 3) x, lateral (select id y from ba where b = x order by id limit 2 offset x * 3) s order by 1, 2
select id from (select * from ba order by id offset 10) s order by id limit 2 offset 1
select count(*) from (select id from ba offset [[0¦1¦2999¦3001]]) s
create sequence ba_s
select nextval('ba_s') from ba order by id limit 2 offset 3
select nextval('ba_s')
explain (analyze, costs off, timing off, summary off) select id, c from ba order by id limit 2 offset 30
begin; declare ba_c scroll cursor for select id from ba order by id offset 2990; fetch 3 from ba_c; fetch backward 2 from ba_c; move last in ba_c; fetch backward 1 from ba_c; commit
create table ba_w (id int primary key, t text)
insert into ba_w select g, repeat('a', 300000) from generate_series(1, 60) g
begin; set local enable_seqscan = off; set local enable_sort = off; set local enable_bitmapscan = off; select count(*), sum(length(t)) from (select * from ba_w order by id offset 0) s; select count(length(t)) from ba_w where id > 3; select id from ba_w order by id desc limit 2 offset 50; rollback
-- Rows that are being written to a table.
create table ba_t as select id, c, n from ba order by b, id; select count(*), sum(id), sum(n), max(c) from ba_t; drop table ba_t
create table ba_t as select c, id, c as d, null::int as e from ba; select * from ba_t order by id limit 2; select count(*) from ba_t; drop table ba_t
create table ba_t as select g from generate_series(1, 10) g where g < 0; select * from ba_t; drop table ba_t
create materialized view ba_m as select id, arr from ba where id < 1500; select count(*), sum(id) from ba_m; insert into ba values (1, 2), (-1, 2); insert into ba values (-1, 2); refresh materialized view ba_m; select count(*), sum(id) from ba_m; delete from ba where id < 0; drop materialized view ba_m
create table ba_t as select g % 3 x, sum(g) from generate_series(1, 3000) g group by g % 3; select * from ba_t order by 1; drop table ba_t
-- Arrays.
select count(*) from ba where arr [[&&¦@>¦<@]] [[array[3]¦array[1, 3]¦'{}'¦array[null, 2]::int[]¦array[0, 1, 2, 3, 4]¦'{{1,2},{3,4}}']]
select id, [[2 = any (arr)¦2 <> all (arr)¦a > any (arr)¦a <= all (arr)¦null = any (arr)¦a = any (arr[2:3])]] from ba where id < 25 order by id
select id, arr[1], arr[2], arr[a], arr[0], arr[4], arr[1][1], arr[-1], array_length(arr, 1), array_length(arr, 2), array_length(arr, 0), array_lower(arr, 1), cardinality(arr) from ba where id < 12 order by id
select x && y, x @> y, x <@ y, x = y from (values ([[array['a', 'b', null]¦array['NaN', '0', 'b']¦array[]::text[]]], array['b']), (array['b', 'b'], array['b', 'a'])) v (x, y)
select x && y, x @> y, x <@ y, x = y, x < y from (values (array[0, 'NaN']::[[float8¦float4¦numeric]][], array['-0', 'NaN']::[[float8¦float4¦numeric]][]), (array[1, 2], array[2])) v (x, y)
select array[1, 4000000000]::oid[] && array[4000000000]::oid[], array['a', 'ÿ']::"char"[] @> array['a']::"char"[], array[true, null] && array[false], array[-1]::int2[] <@ array[1, -1]::int2[], '{1e10}'::float4[] && '{1e10}'::float4[], array['2020-01-01']::date[] @> array['2020-01-01']::date[]
select ('[0:1][-1:0]={{1,2},{3,4}}'::int[])[s][t], ('[0:1]={7,8}'::text[])[s] from generate_series(-1, 2) s, generate_series(-1, 1) t
select array_agg(g) && array_agg(g + 4000), array_agg(g) @> array_agg(g % 7 + 1) from generate_series(1, 5000) g
-- Products with many digits.
select repeat('9', x)::numeric * repeat('9', y)::numeric from generate_series(80, 100, 3) x, generate_series(86, 104, 6) y
select power(1.0001, x), power(9999.9999, x % 300), power(0.99, -x), power(x, 7.5) from generate_series(0, 9000, 1000) x
-- jsonb.
select j -> 'a', j #> '{a,b}', j #>> '{a,c}', j ->> 'k', j -> 'k', j #> '{l,0}', j #>> '{l,-1}', j #>> '{l,1}', j #> '{l,1}', j #> '{l,x}', j #> '{}', j #> array['a', null], j #>> '{a,b,c}', (j #>> '{a,b}')::int + 1, j -> 'a' -> 'b' from ba where id < 8 order by id
select s #> '{}', s #>> '{0}', s -> 0, s ->> -1, s -> 'a' from (values ('1.50'::jsonb), ('"x\"y"'), ('null'), ('true'), ('[]'), ('[1e5,"z",{"q":null}]'), ('{"0":3}')) v (s)
select j -> 'k7', j ->> 'k40', j -> 'k099', j #>> '{k50}', j -> 'none' from (select jsonb_object_agg('k' || g, case g % 4 when 0 then to_jsonb(g) when 1 then to_jsonb(g / 7.0) when 2 then to_jsonb('s' || g) else 'null' end) j from generate_series(0, 120) g) s
create table ba_j (x int, gone text, y text, z numeric, f float8, d date, e int[], w ba_w)
insert into ba_j values (1, 'g', E'q"\\\n', 'NaN', 'Infinity', '2020-02-03', '{1,null}', row(1, 'u')), (null, null, null, null, null, null, null, null), (-5, 'h', '', 1.50, 1e300, null, '{}', null)
alter table ba_j drop column gone
select [[row_to_json(t)¦to_jsonb(t)¦row_to_json(t, true)¦json_build_object(coalesce(x, 0), t)¦json_build_object(y || '.', z, f, d)]] from ba_j t order by x
select [[json_agg(t)¦jsonb_agg(t)¦json_object_agg(coalesce(x, 9), t)¦jsonb_object_agg(coalesce(f, 2), z)]] from (select * from ba_j order by x) t
-- Ordered-set aggregates, computed in one pass.
select mode() within group (order by [[a¦b¦c¦n¦a desc¦id % 1025¦nullif(b, b)]]) from ba [[¦where id < 0¦where id > 2990]]
select percentile_disc([[0.5¦0¦1¦0.3333¦null¦array[0.9, 0.1, null, 0.5]¦array[[0, 1], [0.5, 0.25]]¦'{}']]) within group (order by [[n¦c desc¦a¦arr]]) from ba
select percentile_cont([[0.5¦1¦0.123¦array[0.75, 0.25, 0.75]]]) within group (order by [[n¦id¦id * interval '1 hour'¦a desc]]) from ba
select percentile_cont([[-0.1¦1.5¦array[0.5, 2]¦'NaN']]) within group (order by id) from ba [[¦where id < 0]]
select b, mode() within group (order by a), percentile_disc(0.5) within group (order by c), percentile_cont(0.25) within group (order by id) filter (where a > 2) from ba group by b order by b
select [[rank¦dense_rank¦percent_rank¦cume_dist]]([[3¦-1¦99¦null]]) within group (order by a [[¦desc¦nulls first]]) from ba
select [[rank¦dense_rank¦cume_dist]](1100, 'name 5') within group (order by id [[/ 2¦desc¦]], c) from ba
select dense_rank([[1024¦1500¦2048]]) within group (order by g / [[1¦2¦1024]]) from generate_series(0, 3000) g
-- Rows are compared column by column.
select count(distinct (a, b)), count(distinct (c, null::int)), max((select count(*) from (values (1)) v)) from ba
select (a, b) x from ba group by (a, b) order by x limit 3 offset 20
-- COALESCE, and I/O conversions, for all rows of a batch.
select id, coalesce(a, b), coalesce(a, [[b¦null¦arr[2]]], id), coalesce(a::text, c, 'z'), coalesce(null, a), coalesce(arr[2], -1) from ba where id < 30 order by id
select sum(coalesce(a, b)), count(coalesce(a, null)), max(coalesce(a::text, c)) from ba where id > [[0¦2995]]
select coalesce(a, 1 / (id - [[7¦14¦3000¦2999]])) from ba where id < [[20¦4000]] order by id offset 2 limit 1
select count(*) from ba where coalesce(a, b, 1 / 0) > 2
select sum((j ->> 'k')::boolean::int), sum((j #>> '{a,b}')::int), max(id::text), max(n::text::float8), count(arr::text), sum(length(c || 'x' || id)), count((id::text)::varchar(2)) from ba
select (j #>> '{a,c}')::int from ba where id < 5
select case when a = 1 then (c)::int else id::text::int end from ba where [[a <> 1¦id = 1]] order by 1 limit 2
select id::text::int2 from ba where id < 3; select (id || '0000')::int2 from ba where id < 4 order by id limit 1
select ('{a,' || id || '}')::[[text¦varchar¦bpchar¦name]]::text[], ('{1,' || id || '}')::bpchar::int[], id::text::varchar, id::bpchar::text, c::name::text, c::"char"::text from ba where id < 12 order by id
-- OFFSET over rows that arrive in larger batches than requested.
WITH w AS MATERIALIZED (SELECT g FROM generate_series(1, 3000) g) SELECT g FROM w LIMIT 3 OFFSET [[0¦2¦1023¦1024¦1025¦2998¦3000]]
CREATE FUNCTION bat_numbers(p int) RETURNS SETOF int LANGUAGE sql VOLATILE AS $$ SELECT g + p FROM generate_series(1, abs(p) % 4) g $$
SELECT x, (SELECT 7 FROM bat_numbers(x) g LIMIT 1 OFFSET 2), (SELECT g FROM bat_numbers(x) g OFFSET 2), (SELECT count(*) FROM (SELECT g FROM bat_numbers(x) g LIMIT 2 OFFSET 1) s) FROM generate_series(1, 8) x
WITH RECURSIVE r(n) AS (SELECT g FROM generate_series(1, 5) g UNION ALL SELECT * FROM (SELECT n + 10 FROM r WHERE n < 40 OFFSET 2) s) SELECT n FROM r ORDER BY 1
DROP FUNCTION bat_numbers
