-- Words that are keywords only of later versions are names; syntax of later versions is refused.
CREATE SCHEMA newer_words; SET search_path = newer_words
CREATE TABLE x (system_user int, merge_action int, json_value int, json int, "JSON_table" int)
INSERT INTO x VALUES (1, 2, 3, 4, 5); SELECT system_user, merge_action, JSON_VALUE, json, json_table.json AS json, "JSON_table" FROM x AS json_table
SELECT [[x.json, json AS x, json AS json, system_user system_user FROM x¦json_query.json FROM x json_query¦json_table.* FROM x json_table¦system_user.system_user FROM x system_user¦x.json]]
SELECT [[system_user¦merge_action()¦merge_action¦json_object(1,2)¦json_value('{}', '$')¦json_object('a' value 1)¦json_object('a': 1)¦json_object('{a,b}')¦json_arrayagg(1)¦json_objectagg(1, 2)¦JSON_VALUE('{}','$' returning int)¦1 is json¦1 is not json array¦json('{}')¦json()¦json_scalar(1)¦json_serialize('{}')¦JSON_exists(1, 2)¦json_query(1, 2 error on error)¦json_array(1, 2)¦json_array(select 1)¦json_array()]]
SELECT 'é', [[JSON_VALUE('{}' returning¦json_object(key 'a' value 1)¦(JSON_VALUE¦1 JSON_VALUE 2]]
SELECT * FROM json_table('{}', '$' columns (a int))
SELECT [['{}'::json(1)¦'{}'::json¦'{}'::JSON[]¦json '{}'¦cast('[1]' as json)¦1::json('a')¦'{}'::pg_catalog.json¦'{}'::jsonb(1)¦'{}'::json.x¦'{}'::json array[2]]]
CREATE FUNCTION json_value(json int) RETURNS int LANGUAGE sql AS 'select $1 + json_value.json'; SELECT json_value(1), JSON_Value(json => 2), newer_words.json_value(3)
SELECT json_value('a')
CREATE FUNCTION [[merge_action¦system_user¦json_exists¦json]]() RETURNS text LANGUAGE sql AS 'select ''x''::text'
SELECT merge_action(), json_exists(), newer_words.system_user(), [[system_user()¦json()]]
CREATE TYPE newer_words.json_scalar AS (json_array int); SELECT (row(1)::json_scalar).json_array, '(2)'::json_scalar
ALTER TABLE x RENAME json TO JSON_EXISTS; SELECT JSON_EXISTS FROM x ORDER BY json_exists
CREATE VIEW v AS SELECT json_exists json, system_user FROM x; SELECT pg_get_viewdef('v')
SET newer.json = json; SHOW newer.json
EXPLAIN (FORMAT JSON, COSTS off) SELECT 1
COPY (SELECT 1) TO STDOUT (FORMAT json)
PREPARE json AS SELECT 1; EXECUTE json; DEALLOCATE json
SAVEPOINT json_table
CREATE TABLE t (a int not null no inherit)
CREATE TABLE t (a int not null not deferrable)
DROP FUNCTION json_value(int)
DROP SCHEMA newer_words CASCADE
