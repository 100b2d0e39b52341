-- Functions of language internal that are declared otherwise than the built-in functions.
CREATE FUNCTION if_less(int) RETURNS int LANGUAGE internal [[¦STRICT]] AS 'int4pl'
CREATE OR REPLACE FUNCTION if_more(int, int, int) RETURNS int LANGUAGE internal AS 'int4pl'
SELECT if_less(1), if_less(null), if_more(1, 2, 3), if_more(1, null, 3)
CREATE FUNCTION if_lax(int, int) RETURNS int LANGUAGE internal AS 'int4pl'
SELECT if_lax([[1¦null]], [[2¦null]])
SELECT g, if_lax(g, nullif(g, 2)) FROM generate_series(1, 3) g ORDER BY g
CREATE FUNCTION if_series(int, int) RETURNS SETOF int LANGUAGE internal AS 'generate_series_int4'
SELECT if_series(1, 3), if_series(null, 1)
SELECT * FROM if_series(null, 2)
CREATE FUNCTION if_no_set(int, int) RETURNS int LANGUAGE internal AS 'generate_series_int4'
SELECT if_no_set(1, 3)
CREATE FUNCTION if_a_set(int) RETURNS SETOF int LANGUAGE internal AS 'int4um'
SELECT if_a_set(1)
SELECT * FROM if_a_set(2)
CREATE FUNCTION if_any(anyelement) RETURNS anyelement LANGUAGE internal AS 'int4um'
SELECT if_any(3)
CREATE FUNCTION if_default(int, int DEFAULT 5) RETURNS int LANGUAGE internal AS 'int4mi'
SELECT if_default(9), if_default(9, 2)
CREATE FUNCTION if_out(a int, b int, OUT c int) LANGUAGE internal AS 'int4mi'
SELECT if_out(9, 2), if_out(b => 9, a => 2)
SELECT * FROM if_out(9, 2)
CREATE PROCEDURE if_call(int) LANGUAGE internal AS 'int4um'
CALL if_call(1)
CREATE FUNCTION if_compare(int, int) RETURNS bool LANGUAGE internal AS 'int4lt'
SELECT if_compare(1, 2), if_compare(null, 1)
CREATE FUNCTION if_sequence(regclass) RETURNS int8 LANGUAGE internal AS 'nextval_oid'
CREATE SEQUENCE if_s
SELECT if_sequence('if_s'), if_sequence('if_s')
CREATE FUNCTION if_date(date) RETURNS timestamp LANGUAGE internal AS 'date_timestamp'
SELECT if_date('2020-1-1'), if_date(null)
CREATE FUNCTION if_divide(float8, float8) RETURNS float8 LANGUAGE internal AS 'float8div'
SELECT if_divide(1, [[2¦0¦null]])
CREATE FUNCTION if_upper(text) RETURNS text LANGUAGE internal STRICT AS 'upper'
SELECT if_upper('abc'), if_upper(null)
CREATE FUNCTION if_append(anyarray, anyelement) RETURNS anyarray LANGUAGE internal AS 'array_append'
SELECT if_append('{1}'::int[], 2), if_append('{a}'::text[], null)
CREATE FUNCTION if_none(int) RETURNS int LANGUAGE internal AS '[[nosuchfunction¦]]'
CREATE FUNCTION if_two(int) RETURNS int LANGUAGE internal AS 'int4pl', 'b'
