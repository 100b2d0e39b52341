-- The order and number of calls of volatile functions in FROM and in WITH queries.
CREATE SEQUENCE fo_s
CREATE FUNCTION fo_set(a text) RETURNS SETOF text LANGUAGE sql VOLATILE AS $$ SELECT a || i || ':' || nextval('fo_s') FROM generate_series(1, 3) i $$
CREATE FUNCTION fo_pairs() RETURNS TABLE (i int, n bigint) LANGUAGE sql VOLATILE AS $$ SELECT i, nextval('fo_s') FROM generate_series(1, 4) i $$
CREATE FUNCTION fo_one() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT nextval('fo_s') $$
CREATE TABLE fo_log (n serial, t text)
CREATE FUNCTION fo_writes(a text) RETURNS SETOF text LANGUAGE sql VOLATILE AS $$ INSERT INTO fo_log (t) VALUES (a); INSERT INTO fo_log (t) SELECT a || i FROM generate_series(1, 2) i RETURNING t $$
SELECT * FROM ROWS FROM (fo_set('a'), fo_set('b'))
SELECT * FROM ROWS FROM (fo_set('a'), fo_set('b')) LIMIT 1
SELECT currval('fo_s')
SELECT * FROM ROWS FROM (fo_pairs(), fo_one(), fo_set('b'), generate_series(1, 5)) WITH ORDINALITY AS r(i, n, o, s, g, nr) ORDER BY nr
SELECT * FROM ROWS FROM (fo_set('x' || nextval('fo_s')), fo_set('y' || nextval('fo_s')))
SELECT x, r.* FROM generate_series(1, 2) x, LATERAL ROWS FROM (fo_set(x::text), fo_pairs()) AS r(a, b, c) LIMIT 5
SELECT currval('fo_s')
SELECT * FROM ROWS FROM (fo_writes('a'), fo_writes('b'))
SELECT t FROM fo_log ORDER BY n
SELECT * FROM ROWS FROM (fo_pairs(), fo_set('z')) AS r(a, b, c) WHERE a > 2 ORDER BY a
SELECT count(*) FROM ROWS FROM (fo_set('q'), fo_set('r')) a, ROWS FROM (fo_set('s'), fo_one()) b
SELECT currval('fo_s')
WITH w AS [[¦MATERIALIZED]] (SELECT nextval('fo_s') AS a FROM generate_series(1, 10)) SELECT * FROM w LIMIT [[1¦3]]
SELECT currval('fo_s')
WITH w AS MATERIALIZED (SELECT nextval('fo_s') AS a FROM generate_series(1, 10)) SELECT * FROM w, w AS v LIMIT 3
SELECT currval('fo_s')
WITH w AS MATERIALIZED (SELECT nextval('fo_s') AS a FROM generate_series(1, 10)), v AS MATERIALIZED (SELECT a FROM w) SELECT * FROM v LIMIT 2
SELECT currval('fo_s')
WITH w AS MATERIALIZED (SELECT fo_set('w') AS a) SELECT * FROM w LIMIT 1
SELECT currval('fo_s')
SELECT (WITH w AS MATERIALIZED (SELECT nextval('fo_s') AS a FROM generate_series(1, 10)) SELECT a FROM w LIMIT 1)
SELECT currval('fo_s')
CREATE FUNCTION fo_with() RETURNS SETOF bigint LANGUAGE sql VOLATILE AS $$ WITH w AS (SELECT nextval('fo_s') AS a FROM generate_series(1, 10)) SELECT a FROM w LIMIT 2 $$
SELECT * FROM fo_with()
SELECT currval('fo_s')
SELECT fo_with() LIMIT 1
SELECT currval('fo_s')
CREATE TABLE fo_values (a text, b int)
INSERT INTO fo_values VALUES ('a', 1), ('b', 1 / (length(current_user) - length(current_user)))
SELECT pg_relation_size('fo_values') > 0
INSERT INTO fo_values VALUES ('a', 1 / (length(current_user) - length(current_user))), ('b', 2)
