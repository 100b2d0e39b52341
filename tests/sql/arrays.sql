-- Arrays and rows.
SELECT '[[{}¦{1,2,3}¦{{1,2},{3,4}}¦{1,NULL,3}¦[0:2]={1,2,3}¦{1,2¦1,2}¦{{1},{2,3}}¦{"1","2"}¦{ 1 , 2 }¦{1,}¦[1:2]={1}¦¦{null}¦{{}}¦[2:1]={}]]'::[[int[]¦text[]¦numeric[]]]
SELECT '[[{a,"b c",NULL,"NULL"}¦{"a\"b","c\\d"}¦{a b, c }¦{""}¦{"{}",","}]]'::[[text[]¦varchar(2)[]¦name[]¦char(3)[]]]
SELECT ARRAY[[[1,2,3]¦['a',null]¦[1,2.5]¦[[1,2],[3,4]]¦[]::int[]¦[1,'2']¦[array[1],array[2]]¦[null]]]
SELECT (ARRAY[1,2,3])[ [[1¦0¦4¦2:3¦:2¦2:¦0:1¦:]] ], ('{{1,2},{3,4}}'::int[])[ [[1¦1][1¦2:2¦1:2][2¦3][1]] ]
SELECT ARRAY[1,2] || [[ARRAY[3]¦3¦null::int¦'{4,5}'¦ARRAY[[9,9]]¦null]], [[0¦null]] || ARRAY[1]
SELECT ARRAY[1,2,3] [[=¦<¦>¦@>¦<@¦&&¦<>]] ARRAY[ [[1,2¦1,2,3¦3,1¦4¦1,null]] ]
SELECT [[array_length¦array_upper¦array_lower]]('[[{1,2,3}¦{{1,2},{3,4}}¦{}¦[2:3]={1,2}]]'::int[], [[1¦2¦0]]), array_ndims('[[{}¦{{1}}]]'::int[]), array_dims('[[{}¦{{1,2}}¦[0:1]={1,2}]]'::int[]), cardinality('[[{}¦{{1,2},{3,4}}]]'::int[])
SELECT array_append([[ARRAY[1]¦null::int[]]], [[2¦null]]), array_prepend([[0¦null]], ARRAY[1]), array_cat(ARRAY[1], [[ARRAY[2,3]¦'{}']]), array_remove(ARRAY[1,2,1,null], [[1¦null]]), array_replace(ARRAY[1,2,null], [[1¦null]], 9)
SELECT array_position(ARRAY['a','b',null,'b'], [['b'¦null¦'x']][[¦, 3]]), array_positions(ARRAY[1,2,1], [[1¦5]])
SELECT array_fill([[7¦null::int]], ARRAY[ [[3¦2,2¦0]] ][[¦, ARRAY[2,2]]]), trim_array(ARRAY[1,2,3], [[1¦0¦3¦4]])
SELECT unnest([[ARRAY[1,2,null]¦'{{1,2},{3,4}}'::int[]¦null::int[]¦'{}'::text[]]])
SELECT * FROM unnest(ARRAY[1,2], ARRAY['a','b','c']) [[¦with ordinality]] [[as t(a, b)¦t]]
SELECT [[1¦5¦null]] = [[any¦all]](ARRAY[ [[1,2¦null,1¦null]]::int ])
SELECT [[1¦5]] [[<¦>=¦<>]] [[any¦all]]('{[[1,2¦¦3,NULL]]}'::int[])
SELECT 'abc' [[like¦~]] [[any¦all]](ARRAY['a%', '^a'])
SELECT array_agg(x[[¦ order by x desc]]), array_agg(distinct x % 2), array_agg(x) filter (where x > 2) FROM generate_series(1, 4) x
SELECT array_agg(a) FROM (VALUES (ARRAY[1,2]), (ARRAY[3,4])) v(a)
SELECT generate_subscripts('{{1,2,3},{4,5,6}}'::int[], [[1¦2¦3]])
SELECT array_to_string(ARRAY[1.5,null,3], [[','¦'']][[¦, 'x']]), string_to_array('1,2,3', ',')::int[], ARRAY[1,2]::[[text[]¦int8[]¦numeric(3,1)[]¦int2[]¦bool[]]]
SELECT ARRAY(SELECT x FROM generate_series(1, 3) x [[¦where x > 5¦order by x desc]])
SELECT array_lower(ARRAY[1], 1), width_bucket(5, ARRAY[1,3,6]), array_ndims(ARRAY[ARRAY[1]]), array_shuffle is null from (select 1 as array_shuffle) s
SELECT ROW([[1,2¦1,null¦null,null]]) is [[null¦not null]], ROW(1,2) [[=¦<¦<>]] ROW([[1,2¦1,3¦1,null]]), ROW(1,'a')::text, ROW(1, null, 'a b', '"')
SELECT (1, 2) [[in¦not in]] (([[1,2¦1,null¦3,4]]), (5, 6))
SELECT (x).[[a¦b¦c]] FROM (SELECT ROW(1,'q')::text x) s
SELECT t, t.*, (t).a FROM (VALUES (1, 'x y'), (2, null)) t(a, b)
SELECT t = t, t is distinct from null FROM (VALUES (1, 'x')) t(a, b)
SELECT '{1,2,3}'::int[] [[=¦<]] '{1,2}', array_larger(ARRAY[1], ARRAY[2]), hash_array(ARRAY[1,2]), ARRAY[1,2,3][2]
SELECT array[1,2,3] is distinct from array[1,2,3], max(a), min(a) FROM (VALUES (ARRAY[1,2]), (ARRAY[1,3])) v(a)
SELECT oidvectortypes('23 25'), '1 2 3'::int2vector, '10 20'::oidvector, ('1 2 3'::int2vector)[1]
SELECT array_sort(array[2,1]), array_sample(array[1], 1)
SELECT count(DISTINCT a) FROM (VALUES (ARRAY['{}'::json])) v(a)
SELECT a FROM (VALUES (ARRAY['{}'::json])) v(a) [[ORDER BY a¦UNION SELECT NULL]]
SELECT [[btequalimage(1042)¦btequalimage(23)]]
SELECT array_agg(x) FROM (VALUES ('{1,2}'::int[]), ('[[[0:1]={1,2}¦{3,4}¦{1}]]')) t(x)
SELECT DISTINCT x FROM (VALUES ('{1,2}'::int[]), ('[0:1]={1,2}'), ('{1,2}'), ('[-1:0][2:2]={{1},{2}}')) t(x)
SELECT x, count(*) FROM (VALUES ('{1,2}'::int[]), ('[0:1]={1,2}'), ('{1,2}')) t(x) GROUP BY x ORDER BY x
SELECT '{1,2}'::[[int[]¦text[] ]] [[<¦<=¦=¦<>¦>=¦>]] '[0:1]={1,2}', greatest('{1,2}'::int[], '[0:1]={1,2}'), row('{1,2}'::int[], 1) < row('[0:1]={1,2}'::int[], 2), btarraycmp('[1:1][2:2]={{1}}'::int[], '[1:1][3:3]={{1}}')
SELECT array_position([[array[5]¦array[5, null]¦'{}'::int[]¦null::int[]¦'{{5}}'::int[] ]], [[null¦5]], null)
SELECT [['a'::bpchar¦'a'::char(3)¦'x'::varchar(2)¦1.5::numeric(3, 1)¦time(3) '04:05'¦1¦null::varchar(3)]]::[[anyelement¦anynonarray¦"any"¦anycompatible¦anycompatiblenonarray¦anyarray]]
SELECT x IS NULL, pg_typeof(x) FROM (SELECT 'a'::char(3)::anyelement x OFFSET 0) s
SELECT pg_typeof(a::char(3)::anyelement), (a::char(3)::anyelement) IS NULL, count(a::char(3)::anyelement) OVER () FROM (VALUES ('x'), (NULL)) v(a)
SELECT a::char(3)::anyelement FROM (VALUES ('x'), (NULL)) v(a)
SELECT coalesce(a::char(3)::anyelement, a::char(2)::anyelement) FROM (VALUES (NULL), (NULL)) v(a)
CREATE TYPE pg_temp.unnested AS (p int, q text); CREATE TYPE pg_temp.unnested1 AS (p int)
SELECT unnest([[array[row(1, 'a')::unnested, row(2, 'b'), null]¦array[null::unnested]¦array[row(1)::unnested1, null]¦'{}'::unnested[]¦array[array[row(1, 'a')::unnested] ] ]])
SELECT u, u IS NULL, (u).p FROM (SELECT unnest(array[row(1, 'a')::unnested, row(2, 'b'), null]) u) s; SELECT (unnest(array[row(3, 'a')::unnested, row(4, 'b')])).q, generate_series(1, 3)
SELECT * FROM unnest(array[row(1)::unnested1, null, row(2)]) u; SELECT unnest(array[c]) FROM (SELECT row(oid, amname) c FROM pg_am WHERE oid = 403) s; SELECT unnest(array[a]) FROM pg_am a WHERE oid = 403
CREATE TEMP TABLE unnested_t AS SELECT unnest(array[row(1, 'a')::unnested, row(2, 'b')]) u; SELECT u FROM unnested_t ORDER BY u
SELECT json_populate_recordset(null::unnested, '[{"p":1,"q":"x"},{"p":2}]'), json_populate_recordset(null::unnested1, '[{"p":1},{"p":2}]')
select aclcontains(array[null, '=r/postgres'::aclitem], '=r/postgres')
select aclcontains(array[array['=r/postgres'::aclitem]], '=r/postgres')
select * from aclexplode(array[null, '=r/postgres'::aclitem])
select pg_isolation_test_session_is_blocked(1, array[1, null])
