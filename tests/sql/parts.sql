-- Assignments to parts of columns, and tables created by queries.
CREATE TYPE pt AS (a int, b text[]); CREATE TABLE pa (f1 int, f2 int[], f3 pt, f4 pt[])
INSERT INTO pa (f2[1], f2[2]) [[VALUES (1, 2)¦VALUES (3, 4), (5, 6)¦SELECT 7, 8¦VALUES (1, DEFAULT)¦VALUES ('x', 1), (2, 3)]] RETURNING *
INSERT INTO pa (f2[1], f2[2], f2[4]) VALUES (3, 4, 9), (5, 6, 8) RETURNING *
INSERT INTO pa (f3.a, f3.b) [[VALUES (1, array['foo'])¦VALUES (1, '{foo}'), (2, '{bar}')¦SELECT 3, '{baz,quux}'¦VALUES (1, DEFAULT)¦VALUES ('x', '{}')]] RETURNING *
INSERT INTO pa (f3.b[1], f3.b[2]) [[VALUES ('foo', 'bar')¦VALUES ('foo', 'bar'), ('baz', 'quux')¦SELECT 'bear', 'beer']] RETURNING *
INSERT INTO pa (f4[1].b[1], f4[1].b[2], f4[2].a) [[VALUES ('foo', 'bar', 3)¦VALUES ('foo', 'bar', 4), ('baz', 'quux', 5)¦SELECT 'bear', 'beer', 6]] RETURNING *
UPDATE pa SET f3.b[2] = 'new', f3.a = 7, f4[1].b[3] = 'upd', f4[1].a = 2, f2[1] = 10, f2[2] = f2[1] + 1 RETURNING *
UPDATE pa SET [[f2[1] = 1, f2 = '{2}'¦f2 = '{2}', f2[1] = 1¦f3.nope = 1¦f1.a = 1¦f1[1] = 1¦f3.a = 'x'¦f3.b = 3]]
CREATE DOMAIN pd AS int[] CHECK (value[1] > 0); CREATE DOMAIN pe AS pt CHECK ((value).b[1] IS NOT NULL); CREATE TABLE pb (f1 int, f2 pd, f3 pe, f4 pe[])
INSERT INTO pb (f2[1], f2[2]) [[VALUES (1, 2)¦VALUES (3, 4), (5, 6)¦SELECT 7, 8¦VALUES (0, 2)¦VALUES (3, 4), (0, 6)]] RETURNING *
INSERT INTO pb (f3.a, f3.b) [[VALUES (1, array['foo'])¦VALUES (1, '{foo}'), (2, '{bar}')¦VALUES (1, array[null])¦VALUES (1, '{null}'), (2, '{bar}')]] RETURNING *
INSERT INTO pb (f3, f4[1].b[1], f4[1].b[2]) [[VALUES (row(1, '{x}'), 'foo', 'bar'), (row(2, '{y}'), 'baz', 'quux')¦SELECT row(1, '{x}')::pe, 'bear', 'beer']] RETURNING *
UPDATE pb SET [[f3.a = 4, f3.b[1] = 'dom', f3.b[2] = 'two'¦f3.b[1] = null¦f2[1] = -1]] RETURNING *
CREATE TABLE pw (i int); WITH pw AS (SELECT 42) INSERT INTO pw SELECT * FROM pw; SELECT * FROM pw
WITH pw AS (SELECT 7 x) [[UPDATE pw SET i = x FROM pw w¦DELETE FROM pw USING pw w]] RETURNING *
WITH pn AS (SELECT 42) INSERT INTO pn VALUES (1)
CREATE TABLE pc AS SELECT g a, g % 3 b, 'x' || g c FROM generate_series(1, 20) g
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) CREATE [[TABLE¦TABLE IF NOT EXISTS¦TEMP TABLE]] p1 (x, y) AS SELECT a, b FROM pc WHERE a < 5[[¦ WITH NO DATA]]
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) [[SELECT a, b INTO p2 FROM pc WHERE a < 5¦CREATE MATERIALIZED VIEW p3 (k) AS SELECT a, b FROM pc WHERE a < 5¦CREATE TABLE p4 (x, y, z) AS SELECT b FROM pc¦REFRESH MATERIALIZED VIEW p3]]
SELECT * FROM [[p1¦p2¦p3¦p4¦pg_temp.p1]] ORDER BY 1
SELECT pg_get_viewdef('p3')
PREPARE pp(int) AS SELECT a, b FROM pc WHERE a < $1 ORDER BY a; PREPARE pq AS DELETE FROM pc WHERE a = 20 RETURNING a
CREATE TABLE [[¦IF NOT EXISTS ]]p5 [[¦(q)]] AS EXECUTE [[pp(4)¦nope¦pp¦pp('x')¦pq]][[¦ WITH NO DATA]]
SELECT * FROM p5
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) [[CREATE TABLE p6 AS EXECUTE pp(3)¦EXECUTE pp(3)¦DECLARE c CURSOR FOR SELECT * FROM pc WHERE a = 3]]
SELECT * FROM p6
-- A branch to which a CASE is reduced determines the type modifier.
SELECT CASE WHEN [[true¦false¦a > 3]] THEN '1.5'::numeric(5, 2) ELSE a::numeric END, coalesce('x'::varchar(7), c) FROM pc WHERE a = 4
SELECT CASE WHEN true THEN '1.5'::numeric(5, 2) ELSE x END FROM (SELECT a x FROM pc [[UNION ALL¦UNION¦INTERSECT]] SELECT b FROM pc) u[[¦ CROSS JOIN pc]]
SELECT '1.5'::numeric(5, 2) x UNION [[ALL¦DISTINCT]] SELECT 2.25::numeric(6, 3)[[¦ ORDER BY x]]
CREATE TABLE p7 AS SELECT CASE WHEN [[true¦a > 3]] THEN '1.5'::numeric(5, 2) ELSE a END x FROM pc[[¦ WITH NO DATA]]; SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'p7'::regclass AND attnum = 1; DROP TABLE p7
SELECT * FROM pc [[JOIN¦LEFT JOIN¦FULL JOIN¦NATURAL JOIN]] (SELECT [['x'::text¦true¦2.5¦'{1}'::int[]]] a) y[[¦ USING (a)]]
-- Rows whose types differ from those that the query declares.
WITH a(b) AS (VALUES (row(1, 2, 3))) SELECT * FROM a, coalesce(b) AS c([[d int, e int, f int¦d int, e int¦d int, e int, f float¦d int, e int, f int, g int]])
SELECT * FROM generate_series(1, 2) g, coalesce(row(1)) AS (a int, b int)
