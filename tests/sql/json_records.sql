-- Rows of json and jsonb: json_populate_record, json_to_record, their sets; subscripts of jsonb.
CREATE TYPE jr_pair AS (a int, b text)
CREATE DOMAIN jr_positive AS int CHECK (value > 0)
CREATE DOMAIN jr_given AS text NOT NULL
CREATE DOMAIN jr_list AS numeric(6,2)[] CHECK (array_length(value, 1) < 3)
CREATE DOMAIN jr_ordered AS jr_pair CHECK ((value).a < 10)
CREATE TYPE jr_all AS (i int, n numeric(5,1), t text, v varchar(3), b bool, d date, j json, k jsonb, l int[], m text[], p jr_pair, q jr_pair[], o jr_ordered, z jr_list, s jr_positive)
CREATE TYPE jr_one AS (x int)
CREATE TYPE jr_strict AS (x int, y jr_given)
CREATE TABLE jr_gaps (a int, gone int, b text)
ALTER TABLE jr_gaps DROP COLUMN gone
SELECT [[json¦jsonb]]_populate_record(null::jr_pair, '[[{}¦{"a":1}¦{"a":1,"b":"x","c":2}¦{"b":null}¦{"a":"7","b":8}¦{"a":1,"a":2}¦{"a":"x"}¦{"a":1.5}¦[1]¦1¦null¦"x"¦{"b":{"x": [1, 2]}}¦{"b":[1,  2]}¦{"b":true}¦{"B":1}]]')
SELECT [[json¦jsonb]]_populate_record(row(1,'x')::jr_pair, '[[{}¦{"a":2}¦{"b":null}¦{"c":2}]]')
SELECT [[json¦jsonb]]_populate_record(row(1,'x')::jr_pair, null), [[json¦jsonb]]_populate_record(null::jr_pair, null)
SELECT * FROM [[json¦jsonb]]_populate_record(null::jr_all, '[[{"i":1,"n":2.55,"t":"x","v":"abc","b":true,"d":"2020-02-01"}¦{"v":"abcd"}¦{"n":123456}¦{"d":"x"}¦{"b":"maybe"}¦{"j":"x","k":"x"}¦{"j":{"a": 1},"k":{"a": 1}}¦{"j":1,"k":null}¦{"j":[1,"x"],"k":[1,"x"]}¦{"j":true,"k":1.50}]]')
SELECT l, m FROM [[json¦jsonb]]_populate_record(null::jr_all, '[[{"l":[1,2]}¦{"l":[]}¦{"l":[ [1,2],[3,4] ]}¦{"l":[ [1],[2,3] ]}¦{"l":[ [],[] ]}¦{"l":[1,[2] ]}¦{"l":[ [1],2]}¦{"l":"{1,2}"}¦{"l":5}¦{"l":{"a":1}}¦{"l":[null,1]}¦{"l":["x"]}¦{"l":[ [ [1] ], [ [2] ] ]}¦{"l":[ [ [1] ],[2] ]}¦{"m":["a",1,null,true,{"x":1},[1] ]}¦{"m":["a",1,null,true,{"x":1}]}¦{"m":[{"x":1},[1] ]}¦{"l":[null,[1] ]}¦{"l":[ [ [ [ [ [ [1] ] ] ] ] ] ]}]]')
SELECT p, q FROM [[json¦jsonb]]_populate_record(null::jr_all, '[[{"p":{"a":1}}¦{"p":"(1,x)"}¦{"p":"x"}¦{"p":[1,2]}¦{"p":5}¦{"p":null}¦{"q":[{"a":1},{"b":"y"},null,"(3,z)"]}¦{"q":[1]}¦{"q":[ [{"a":1}],[{"a":2}] ]}¦{"q":{"a":1}}¦{"q":"{\"(1,2)\"}"}]]')
SELECT o, z, s FROM [[json¦jsonb]]_populate_record(null::jr_all, '[[{"o":{"a":1}}¦{"o":{"a":10}}¦{"o":"(11,x)"}¦{"o":null}¦{"z":[1.234,2]}¦{"z":[1,2,3]}¦{"z":[123456]}¦{"z":5}¦{"s":1}¦{"s":-1}¦{"s":null}¦{"s":"x"}]]')
SELECT [[json¦jsonb]]_populate_record([[null¦row(1, 'a')]]::jr_strict, '[[{}¦{"y":null}¦{"y":"a"}¦{"x":1}]]')
SELECT [[json¦jsonb]]_populate_record(row(1,'x',5)::jr_gaps, '{"gone":7,"b":"y"}')
SELECT * FROM [[json¦jsonb]]_populate_record(null::jr_gaps, '{"gone":7,"b":"y","a":3}')
SELECT [[json¦jsonb]]_populate_record([[row(1, 'x')¦null::record¦1¦'x'::text¦null¦null::jr_ordered¦row(1, 'x')::jr_ordered¦row(12,'x')::jr_pair::jr_ordered]], '[[{"f1":2}¦{"a":11}¦{"a":3}]]')
SELECT * FROM [[json¦jsonb]]_populate_record(null::record, '{"a":1,"b":"x"}') AS [[(a int, b text)¦(b text)¦(a text, c int)¦(a int, b int)]]
SELECT * FROM [[json¦jsonb]]_populate_record(row(1,2), '[[{"f1":5}¦{"a":5}]]') AS [[(a int, b int)¦(f1 int)¦(a text, b int)¦(f1 int, f2 int, f3 int)]]
SELECT * FROM [[json¦jsonb]]_populate_record(null::jr_pair, '{}')
SELECT * FROM [[json¦jsonb]]_populate_recordset(null::jr_pair, '[[[]¦[{"a":1},{"b":"x"},{}]¦[1]¦[ [] ]¦{}¦5¦null¦[null]¦[{"a":1},2]¦[{"a":"x"}] ]]')
SELECT [[json¦jsonb]]_populate_recordset(row(5,'d')::jr_pair, '[[[{"a":1},{"b":"x"},{}]¦[] ]]')
SELECT ([[json¦jsonb]]_populate_recordset(null::jr_pair, '[{"a":1},{"b":"x"}]')).*
SELECT [[json¦jsonb]]_populate_recordset(null::jr_pair, null), 1
SELECT * FROM [[json¦jsonb]]_populate_recordset(null::jr_pair, null)
SELECT [[json¦jsonb]]_populate_recordset([[row(1, 'x')¦null::record¦1¦null::jr_one¦null::jr_ordered¦null::jr_strict]], '[[[{"f1":2,"x":4,"a":5}]¦[{"a":11}]¦[] ]]')
SELECT * FROM [[json¦jsonb]]_populate_recordset([[null::record¦row(1,2)¦row(1)]], '[{"a":5},{"f1":6}]') AS [[(a int, b int)¦(a int)¦(a text, b int)]]
SELECT * FROM [[json¦jsonb]]_populate_recordset([[null::jr_one¦row(3)::jr_one¦null::jr_ordered¦null::jr_gaps]], '[{"x":1,"a":1,"b":"q"},{}]')
SELECT * FROM [[json¦jsonb]]_to_record('[[{"a":1,"b":"x","c":{"a":[1,2]},"d":[1,2]}¦{}¦[]¦5¦{"a":"x"}]]') AS x(a int, b text, c jr_pair, d int[])
SELECT * FROM [[json¦jsonb]]_to_record(null) AS x(a int, b text)
SELECT * FROM [[json¦jsonb]]_to_record('{"a":1}') AS x(a int)
SELECT [[json¦jsonb]]_to_record('{"a":1}')
SELECT * FROM [[json¦jsonb]]_to_record('{"a":1}')
SELECT [[json¦jsonb]]_to_recordset('[{"a":1}]')
SELECT * FROM [[json¦jsonb]]_to_recordset('[[[{"a":1,"b":"x"},{"b":{"y": 1}},{}]¦[]¦{}¦[1]¦5]]') AS x(a int, b text)
SELECT * FROM [[json¦jsonb]]_to_recordset('[{"a":1},{"a":2}]') WITH ORDINALITY AS x(a, n)
SELECT * FROM ROWS FROM ([[json¦jsonb]]_to_recordset('[{"a":1},{"a":2}]') AS (a int), generate_series(1, 3)) AS x(a, n)
SELECT x.a, y.* FROM (VALUES ('{"p":1,"q":"z"}'::jsonb), ('{}')) AS x(a), jsonb_to_record(x.a) AS y(p int, q text) ORDER BY 2
SELECT x.a, y.* FROM (VALUES ('[{"p":1},{"p":2}]'::jsonb), ('[]')) AS x(a) LEFT JOIN LATERAL jsonb_to_recordset(x.a) AS y(p int, q text) ON true ORDER BY 2
CREATE TABLE jr_rows (r jr_pair)
INSERT INTO jr_rows SELECT [[json¦jsonb]]_populate_recordset(null::jr_pair, '[{"a":1},{"b":"x"}]')
SELECT r, (r).a, pg_typeof(r) FROM jr_rows ORDER BY (r).a, (r).b
CREATE VIEW jr_view AS SELECT * FROM json_to_record('{"a":1,"b":"x"}') AS x(a int, b text)
SELECT *, pg_get_viewdef('jr_view') FROM jr_view
CREATE TABLE jr_docs (id int, j jsonb)
INSERT INTO jr_docs VALUES (1, '{"a":{"b":[1,2,{"c":3}]},"n":null,"s":"t"}'), (2, '[1,[2,3],{"x":4}]'), (3, '5'), (4, null), (5, '{}'), (6, '[]')
SELECT id, j[ [['a'¦'n'¦'s'¦0¦1¦-1¦'0'¦null¦'zz'¦null::int]] ] FROM jr_docs ORDER BY id
SELECT id, j['a']['b'][ [[0¦2¦-1¦-4¦'c'¦'2']] ], j[1][ [[0¦'0'¦5]] ], j[2]['x'] FROM jr_docs ORDER BY id
SELECT id, j['a']['b'][2]['c'], (j)['a'], (j -> 'a')['b'] FROM jr_docs ORDER BY id
SELECT j[ [[1.5¦true¦now()¦'a':'b'¦1:2¦:]] ] FROM jr_docs
SELECT ('{"a":{"b":1}}'::jsonb)['a']['b'], ('[1,2,3]'::jsonb)[1], ('"x"'::jsonb)['a'], ('{"a":1}'::json)['a']
SELECT id FROM jr_docs WHERE j['s'] = '"t"' OR j[0] = '1'
BEGIN
UPDATE jr_docs SET j['[[a¦n¦s¦new¦0¦3]]'] = '[[1¦{"y":[]}¦null]]' WHERE id = [[1¦4¦5]]
SELECT * FROM jr_docs ORDER BY id
UPDATE jr_docs SET j[ [[0¦1¦-1¦-3¦5]] ] = '"v"' WHERE id = [[2¦4¦6]]
SELECT * FROM jr_docs ORDER BY id
UPDATE jr_docs SET j['p'][2]['q'] = '7', j['r'] = null WHERE id IN (4, 5)
SELECT * FROM jr_docs ORDER BY id
COMMIT
UPDATE jr_docs SET j[-9] = '1' WHERE id = 2
UPDATE jr_docs SET j['a'] = '1' WHERE id = 2
UPDATE jr_docs SET j['s']['t'] = '1' WHERE id = 1
UPDATE jr_docs SET j['a'] = '1' WHERE id = 3
UPDATE jr_docs SET j[null] = '1' WHERE id = 1
UPDATE jr_docs SET j['a'] = 5 WHERE id = 1
UPDATE jr_docs SET j[1.5] = '1' WHERE id = 1
UPDATE jr_docs SET j['a']['b'][7]['k'] = '"far"' WHERE id = 1 RETURNING j
UPDATE jr_docs SET j['x']['y'][1][-2]['z'] = '"new"' WHERE id = 1 RETURNING j
UPDATE jr_docs SET j[2]['x'][3] = '"deep"' WHERE id = 2 RETURNING j
UPDATE jr_docs SET j[9][2] = '"deep"' WHERE id = 2 RETURNING j
INSERT INTO jr_docs (id, j['a'], j['b'][1]) VALUES (7, '1', '2') RETURNING *
INSERT INTO jr_docs (id, j[1]) VALUES (8, '"x"') RETURNING *
CREATE VIEW jr_sub AS SELECT id, j['a']['b'] AS b, j[1] AS one FROM jr_docs
SELECT pg_get_viewdef('jr_sub')
CREATE INDEX jr_docs_s ON jr_docs ((j['s']))
EXPLAIN (COSTS OFF) SELECT * FROM jr_docs WHERE j['s']['t'] = '1'
SELECT array_agg(j['s']), max((j['n'])::text) FROM jr_docs
