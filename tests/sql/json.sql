-- json and jsonb: input, output, parts, construction, changes, order.
SELECT [['{"a":1,}'¦'{"a" 1}'¦'{1:1}'¦'[1 2]'¦'[1,]'¦'[,1]'¦'{"a":1 "b":2}'¦'{"a":1} x'¦'{'¦'[1'¦'"a'¦'"\q"'¦'"\u12g4"'¦'"\u12'¦'"\u0000"'¦'"\ud800"'¦'"\ud800x"'¦'"\ud800\ud800"'¦'"\udc00"'¦'"\ud83d\ude00 \u00e4 \b\f\n\r\t\/\\"'¦E'"a\nb"'¦E'{"a":1,\n"b":\n x}'¦''¦' '¦'01'¦'1.'¦'-'¦'1e'¦'1e+5'¦'-0'¦'0.00'¦'12345678901234567890.123'¦'tru'¦'null'¦'true'¦'nulls'¦'#'¦'{"a":1,"a":2}'¦'{"bb":1,"a":2,"c":3,"":0}'¦'  [1 , 2.50, 1e3, -0, "x" , {} , [ ] ]  '¦'{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": @}']]::[[json¦jsonb]]
SELECT j, j -> [['a'¦'x'¦0¦-1¦5¦'0']] AS v, j ->> [['a'¦'x'¦0¦-1¦5¦'0']] AS t FROM (VALUES ('{"a": {"b": [1, "x", null]}, "x": null}'::[[json¦jsonb]]), ('[1, "two", null, [3], {"a": 4}]'), ('"s"'), ('5'), ('null')) v (j)
SELECT j #> '[[{a,b,1}¦{}¦{a}¦{1}¦{-1,a}¦{3,0}¦{a,null}¦{a,x}]]' AS v, j #>> '[[{a,b,1}¦{}¦{a}¦{1}¦{-1,a}¦{3,0}¦{a,null}¦{a,x}]]' AS t FROM (VALUES ('{"a": {"b": [1, "x", null]}, "x": null}'::[[json¦jsonb]]), ('[1, "two", null, [3], {"a": 4}]'), ('"s"')) v (j)
SELECT [[json¦jsonb]]_extract_path([['{"a":{"b":7}}', 'a', 'b'¦'{"a":{"b":7}}', variadic array['a']¦'[1]', '0'¦null, 'a']]), [[json¦jsonb]]_extract_path_text('{"a":"q"}', 'a')
SELECT [[json¦jsonb]]_typeof(v::[[json¦jsonb]]) FROM (VALUES ('1'), ('"a"'), ('true'), ('null'), ('[]'), ('{}'), (null)) v (v)
SELECT [[json¦jsonb]]_array_length('[[[1,2,[3]]¦[]¦{}¦1]]')
SELECT * FROM [[json¦jsonb]]_each[[¦_text]]('[[{"a":1,"b":null,"c":"x","d":{"e":[1,2]}}¦{}¦[]¦1]]')
SELECT * FROM [[json¦jsonb]]_array_elements[[¦_text]]('[[[1,"a",null,{"b":2},[3]]¦[]¦{}¦1]]')
SELECT [[json¦jsonb]]_object_keys('[[{"b":1,"a":2}¦{}¦[]¦1]]')
SELECT '[[1.6¦-7¦1e20¦true¦"a"¦null¦[]¦{}]]'::jsonb::[[int¦smallint¦bigint¦real¦float8¦numeric¦bool]]
SELECT '{"a":1,"b":[1,2,{"c":null}],"d":"x"}'::jsonb @> '[[{"a":1}¦{"b":[2]}¦{"b":[{"c":null}]}¦{"a":1.0}¦{"a":"1"}¦[]¦{}¦{"b":[{}]}¦{"b":2}]]' AS c
SELECT '[1,"a",[2,3],{"k":1}]'::jsonb @> '[[1¦"a"¦[1]¦[[2]]¦[{"k":1}]¦{"k":1}¦[]¦[5]¦null]]' AS c, '[[1¦[1]]]'::jsonb <@ '[1,2]' AS d
SELECT '{"a":1,"b":2}'::jsonb ? 'a' AS e, '["a","b"]'::jsonb ? 'b' AS f, '"a"'::jsonb ? 'a' AS g, '{"a":1}'::jsonb ?| array['x',null,'a'] AS h, '{"a":1}'::jsonb ?& array['a','x'] AS i, '["a","x"]'::jsonb ?& array['a','x'] AS j, '{}'::jsonb ?& '{}' AS k
SELECT '[[{"a":1}¦{}¦[1,2]¦[]¦1¦"x"]]'::jsonb || '[[{"a":2,"b":3}¦{}¦[3]¦[]¦5]]'::jsonb
SELECT '[[{"a":1,"b":2}¦["a","b","a"]¦1¦{}¦[]]]'::jsonb - [['a'::text¦0¦-1¦9¦'{a,b}'::text[]¦'{}'::text[]]]
SELECT '[[{"a":{"b":[1,2]},"c":0}¦[1,{"a":[5]}]¦1¦{}]]'::jsonb #- '[[{a}¦{a,b,0}¦{a,b,-1}¦{x}¦{1,a,0}¦{}¦{null}¦{a,b,x}]]'
SELECT jsonb_set('[[{"a":{"b":[1,2]},"c":0}¦[1,{"a":[5]}]¦1¦{}]]', '[[{a}¦{a,b,0}¦{a,b,9}¦{a,b,-9}¦{x}¦{x,y}¦{1,a,0}¦{}¦{null}¦{a,b,x}]]', '"n"'[[¦, false]])
SELECT jsonb_insert('[[{"a":{"b":[1,2]},"c":0}¦[1,{"a":[5]}]]]', '[[{a}¦{a,b,0}¦{a,b,9}¦{a,b,-9}¦{a,b,-1}¦{x}¦{1,a,0}¦{}]]', '"n"'[[¦, true]])
SELECT jsonb_set_lax('{"a":1,"b":2}', '{a}', [[null¦'5'¦null, true, 'delete_key'¦null, true, 'return_target'¦null, true, 'raise_exception'¦null, true, 'x'¦null, true, null]])
SELECT [[json¦jsonb]]_strip_nulls('{"a":null,"b":[1,null,{"c":null,"d":[ ]}],"e":{"f":null},"g":"\u00e4\n"}')
SELECT jsonb_pretty('[[{"a":[1,{"b":null}],"c":{},"d":[]}¦[]¦"x"¦[[1],[2]]]]')
SELECT [[to_json¦to_jsonb]]([[1¦1.50¦1e300::float8¦1.5e-7::float8¦'NaN'::float8¦'-Infinity'::numeric¦true¦null::int¦'x"y\z'::text¦E'a\tb\x01'::text¦'2020-01-02'::date¦'2020-01-02 03:04:05.6'::timestamp¦'2020-01-02 03:04:05.6'::timestamptz¦'infinity'::timestamp¦'0044-03-15 BC'::date¦'0044-03-15 01:02:03 BC'::timestamp¦'10:11'::time¦interval '1 day'¦array[[1,2],[3,4]]¦array[]::int[]¦array['a',null]¦row(1, 'a', null)¦array[row(1, 2)]¦'{"a":  1}'::json¦'{"a":  1}'::jsonb¦'{"a":1}'::text¦'\x01'::bytea¦'a'::name¦'x'::"char"¦5::oid¦'pg_class'::regclass¦'1/2'::pg_lsn]])
SET TIME ZONE 'Asia/Kolkata'; SELECT [[to_json¦to_jsonb]]('2020-01-02 03:04:05.6+00'::timestamptz); SET TIME ZONE 'America/New_York'; SELECT to_json('2020-01-02 03:04:05+00'::timestamptz); RESET TIME ZONE
SET DateStyle = 'German'; SELECT to_json('2020-01-02'::date), to_json('2020-01-02 03:04:05'::timestamp), '2020-01-02'::date; RESET DateStyle
SELECT [[json_build_object¦jsonb_build_object]]([['a', 1, 'b', array[1, 2], 'c', row(1, 2), 'd', null¦¦'a'¦null, 1¦1, 2, 1, 3¦array[1], 1¦'{}'::json, 1¦row(1), 1¦true, 1, date '2020-01-02', 2¦variadic array['a', 'b']¦variadic null::text[]¦'a', 'b'::text]])
SELECT [[json_build_array¦jsonb_build_array]]([[1, 'a', null, row(1, 'x'), array[[1], [2]], '{"q": 1}'::json¦¦variadic array[1, 2]]])
SELECT [[json_object¦jsonb_object]]([['{a,b,c,d}'¦'{a,b,c}'¦'{{a,b},{c,null}}'¦'{{a,b,c}}'¦'{{{a,b}}}'¦'{null,b}'¦'{}'¦'{a,b}', '{c,d}'¦'{a,b}', '{c}'¦'{a,null}', '{c,d}'¦'{{a,b}}', '{c}'¦'{a,a}', '{c,null}']])
SELECT [[json_agg¦jsonb_agg]]([[g¦row(g, 1)¦array[g]¦nullif(g, 2)¦'x' || g]]) FROM generate_series(1, 3) g
SELECT [[json_object_agg¦jsonb_object_agg]]([[g, g * 2¦g % 2, g¦'k' || g, row(g)¦nullif(g, 2), g]]), json_agg(g) FILTER (WHERE g > 5) FROM generate_series(1, 3) g
SELECT row_to_json(t[[¦, true]]), to_jsonb(t) FROM (SELECT oid, relname, relkind, reltuples > 0 AS filled FROM pg_class WHERE relname = 'pg_type') t
SELECT array_to_json(array[[1, 2], [3, 4]][[¦, true]]), array_to_json(array[row(1, 2), row(3, 4)], true)
CREATE TABLE js (i serial, j jsonb, t json); INSERT INTO js (j) SELECT v::jsonb FROM unnest(array['null', '"a"', '"B"', '"ab"', '1', '10', '2.0', '2', 'true', 'false', '[]', '[1]', '[2]', '[1,2]', '["x"]', '{}', '{"a":1}', '{"b":1}', '{"a":2}', '{"a":1,"b":0}', '{"aa":1}', '[[]]', '[null]', '{"a":null}']) v
SELECT j FROM js ORDER BY j [[¦DESC]], i
SELECT j, count(*), min(i) FROM js GROUP BY j ORDER BY 3
SELECT DISTINCT j FROM js ORDER BY j
SELECT jsonb_hash(j), jsonb_hash_extended(j, 0), jsonb_hash_extended(j, 7) FROM js ORDER BY i
SELECT a.j, b.j FROM js a JOIN js b ON a.j = b.j AND a.i < b.i
CREATE UNIQUE INDEX ON js (i, j); CREATE INDEX js_j ON js (j); CREATE INDEX ON js ((j ->> 'a')); ANALYZE js
SELECT i FROM js WHERE j = '{"a": 1}'; SELECT i FROM js WHERE j > '[1]' ORDER BY 1; SELECT i FROM js WHERE j ->> 'a' = '2'
UPDATE js SET j = jsonb_set(j, '{a}', '9') WHERE jsonb_typeof(j) = 'object' RETURNING i, j
INSERT INTO js (j, t) SELECT jsonb_agg(jsonb_build_object('n', g, 's', repeat('v', g))), json_agg(g) FROM generate_series(1, 200) g
SELECT length(j::text), jsonb_array_length(j), j -> 40 ->> 'n', j -> -1 -> 'n', j #>> '{100,s}', md5(j::text), md5(t::text) FROM js ORDER BY i DESC LIMIT 1
SELECT length(o::text), o -> 'k77' AS a, o ->> 'k100' AS b, md5(o::text) FROM (SELECT jsonb_object_agg('k' || g, g) AS o FROM generate_series(1, 120) g) x
SELECT t = t FROM js LIMIT 1
DROP TABLE js
SELECT row_to_json(v) FROM (VALUES (1, 'a')[[¦, (2, 'b')]]) v (x, y)
SELECT row_to_json(v), to_jsonb(v) FROM (SELECT relname AS a, relkind AS b FROM pg_class WHERE relname = 'pg_type'[[¦ LIMIT 1]]) v [[(x, y)¦(x)¦]]
-- SQL/JSON constructors of newer versions are ordinary function names.
SELECT json('{}'), json_object('{a,b}'), json('{}') IS NULL
SELECT [[json_scalar(1)¦json_value('{}','a')¦json_array(1,2)¦json_array()¦json_object()¦json_exists('{}','$')¦json_query('1', '2')¦json_serialize('1')¦json_arrayagg(1 ORDER BY 2) OVER ()¦json_arrayagg(1) FILTER (WHERE true)]]
SELECT [[json_object('a':1)¦json_object('a' VALUE 1)¦json_array(SELECT 1)¦json_exists('{}','$' PASSING 1 AS x)¦'1' IS JSON¦'1' IS NOT JSON OBJECT¦json_objectagg('a': 1)¦json_serialize('1' RETURNING text)¦json_query('1','2' WITH WRAPPER)¦json('{}' FORMAT json)]]
SELECT * FROM json_table('1','$' COLUMNS (a int))
SELECT [['1'::json IS JSON¦'{}'::json IS NOT JSON OBJECT]]
-- The nesting of a text is limited by max_stack_depth.
SET max_stack_depth = '100kB'; SELECT repeat([['['¦'{"a":']], 10000)::[[json¦jsonb]]
SHOW max_stack_depth
