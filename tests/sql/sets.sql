-- Set-returning functions in the target list and in FROM, of scalars and of rows, beside other columns, under LIMIT
-- and over volatile rows.
CREATE TEMP TABLE streamed AS SELECT g, g % 7 AS k, repeat('x', g % 50) AS t FROM generate_series(1, 5000) g
SELECT [[g, generate_series(1, g % 4)¦generate_series(g, 1, -2), t¦unnest(ARRAY[g, NULL, k])¦unnest(ARRAY[t, 'b']), g¦generate_series(1, NULLIF(k, 3)), k¦generate_series(1, k), generate_series(1, 3), g¦(g + 1), generate_series(1, 2) + g]] FROM streamed WHERE g < 40 ORDER BY g LIMIT [[3¦7¦1000]]
SELECT count(*), sum(s), max(g) FROM (SELECT g, generate_series(1, [[k¦g¦1200]]) s FROM streamed WHERE g <= 300) q
SELECT [[jsonb_array_elements_text('["a", null, 3]')¦jsonb_array_elements('[1, [2]]')¦json_array_elements_text('["a", null]')¦jsonb_object_keys('{"a": 1, "b": 2}')¦json_object_keys('{"a": 1, "a": 2}')¦jsonb_each('{"a": 1, "b": 2}')¦jsonb_each_text('{"a": null}')]], x FROM generate_series(1, 3) x
SELECT x, v FROM generate_series(1, 5) x, LATERAL [[jsonb_array_elements_text(jsonb_build_array(x, 'y', NULL))¦generate_series(1, x)¦generate_series(x, 1)¦unnest(ARRAY[x, NULL, 7])¦generate_series(1, x) WITH ORDINALITY y(v, o)¦regexp_split_to_table(repeat('ab ', x), ' ')]] v LIMIT [[4¦100]]
CREATE TEMP SEQUENCE counted
SELECT generate_series(1, 3), n FROM (SELECT nextval('counted') n FROM generate_series(1, 10) OFFSET 0) q LIMIT 4
SELECT nextval('counted')
SELECT generate_series(1, 3), nextval('counted') LIMIT 2
SELECT nextval('counted')
SELECT generate_series(1, 2), 10 / (3 - x) FROM generate_series(1, 5) x LIMIT 4
SELECT generate_series(2147483645, 2147483647), generate_series(-9223372036854775807, -9223372036854775808, -1)
SELECT generate_series(1, 3, 0)
-- Rows before an error are returned first.
SELECT generate_series(1, 2), 10 / (3 - x) FROM generate_series(1, 5) x[[¦ LIMIT 5¦ LIMIT 4]]
SELECT unnest(ARRAY[1, 2]), generate_series(1, 3), 10 / (3 - x) FROM generate_series(1, 5) x[[¦ LIMIT 5]]
SELECT generate_series(1, 10 / (3 - x)), x FROM generate_series(1, 5) x
SELECT count(*) FROM (SELECT generate_series(1, 2), 10 / (3 - x) FROM generate_series(1, 5) x LIMIT [[4¦5]]) s
SELECT x, (SELECT sum(g) FROM (SELECT generate_series(1, 3) / (x - 3) g) s) FROM generate_series(1, 4) x
