-- Ranges and multiranges: text, constructors, operators, functions, aggregates, order, hashes.
CREATE TYPE textrange_t AS RANGE (subtype = text, collation = "C")
SELECT '[[empty¦  empty  ¦EMPTY¦(,)¦[,]¦[a,b)¦( a , b ]¦[a,a]¦[a,a)¦(a,a)¦("a","b")¦(" a","b ")¦(\\,\)¦(\",")¦("",b]¦("""","\"")¦('''','''''')¦(a"b c"d,e)¦[b,a)¦-[a,z)¦[a,z) - ¦(",a)¦(,,a)¦(),a)¦(a,))¦(],a)¦(a,])¦[a,a,b)¦(a¦(a,b¦a,b)¦[a]¦emptyx¦¦(a\¦[ , )¦(	a,b)]]'::textrange_t
SELECT '[[{}¦ { } ¦{[a,b)}¦{[c,d],[a,b)}¦{[a,b),[b,c)}¦{[a,b],[a,c)}¦{empty}¦{ empty , [a,b) , EMPTY }¦{(,)}¦{(,a),(b,)}¦{["a,b","c)"]}¦{[a\],b)}¦{["\"",b)}¦{["""",b)}¦{[a,b)¦{[a,b)}x¦{[a,b),}¦{,}¦[a,b)¦{a}¦{[a,b)[c,d)}¦{[b,a)}¦{(a¦¦{"[a,b)"}¦{[a,"b]"]}¦{[\ a,b]}]]'::multitextrange_t
DROP TYPE textrange_t
SELECT '[[(1,5]¦[1,1]¦[1,1)¦(1,2)¦(,5]¦[5,)¦(2147483647,)¦(,2147483647]¦[2147483646,2147483647]¦[a,b]¦[1.5,2]¦["1" ,2]¦empty]]'::int4range
SELECT '[[(1,5]¦(,9223372036854775807]¦(-9223372036854775808,)]]'::int8range
SELECT '[[(2000-01-01,2000-01-05]¦[2000-01-01,infinity]¦(-infinity,infinity)¦[-infinity,-infinity]¦(infinity,)¦(5874897-12-31,)¦(,5874897-12-31]¦(,)]]'::daterange
SELECT '[[[1.10,2.5]¦(-Infinity,Infinity]¦[NaN,NaN]¦[1,NaN]¦(1,1)]]'::numrange, '[[[2000-01-01 10:00,2000-01-02)¦(,infinity)¦[now,now)]]'::tsrange, '[2000-01-01 10:00+02,2000-01-02 00:00+00]'::tstzrange
SELECT [[int4range¦int8range]](1, 5), numrange(1.5, NULL), numrange(NULL, NULL), int4range(1, 5, '[[[]¦[)¦(]¦()¦[¦x]¦¦x[)]]'), int4range(5, 5, '[[()¦[]¦[)]]')
SELECT int4range(5, 1)
SELECT int4range(1, 5, NULL)
SELECT daterange('2000-01-01', '2000-01-05', '[[(]¦[]¦()]]'), tsrange('2000-01-01', NULL), tstzrange(NULL, '2000-01-01 00:00+00', '(]')
SELECT int4multirange(), int4multirange(int4range(1, 5)), int4multirange(int4range(7, 9), int4range(1, 5), 'empty'), nummultirange(VARIADIC '{}'), nummultirange(VARIADIC ARRAY[numrange(1, 2), numrange(2, 3)])
SELECT int4multirange([[NULL¦int4range(1, 2), NULL¦VARIADIC NULL¦VARIADIC ARRAY[int4range(1,2), NULL] ]])
SELECT int4multirange(VARIADIC '{{"[1,2)"},{"[3,4)"}}')
SELECT multirange(int4range(1, 3)), multirange('empty'::numrange), int4range(1, 5)::int4multirange, multirange(NULL::int4range)
SELECT r, lower(r), upper(r), isempty(r), lower_inc(r), upper_inc(r), lower_inf(r), upper_inf(r) FROM (VALUES ('empty'::numrange), ('[1,2]'), ('(1,2)'), ('(,2]'), ('[1,)'), ('(,)'), ('[1,1]'), (NULL)) t(r)
SELECT r, lower(r), upper(r), isempty(r), lower_inc(r), upper_inc(r), lower_inf(r), upper_inf(r), range_merge(r) FROM (VALUES ('{}'::nummultirange), ('{[1,2],(3,4)}'), ('{(1,2)}'), ('{(,2],[7,)}'), ('{[1,1]}'), (NULL)) t(r)
CREATE TABLE rg (i int, a numrange, b nummultirange)
INSERT INTO rg VALUES (1, 'empty', '{}'), (2, '(,)', '{(,)}'), (3, '[1,5)', '{[1,5)}'), (4, '[5,9]', '{[5,9]}'), (5, '(5,9)', '{[1,2],[3,5)}'), (6, '[3,7]', '{[0,3],(5,7),[9,)}'), (7, '(,3)', '{(,3)}'), (8, '[9,)', '{[9,)}'), (9, '[5,5]', '{[5,5]}'), (10, '(1,5]', '{(1,5],(5,9)}'), (11, NULL, NULL)
SELECT x.i, y.i FROM rg x, rg y WHERE x.[[a¦b]] [[&&¦@>¦<@¦<<¦>>¦&<¦&>¦-|-]] y.[[a¦b]] ORDER BY 1, 2
SELECT x.i, y.i FROM rg x, rg y WHERE x.a [[=¦<>¦<¦<=¦>¦>=]] y.a ORDER BY 1, 2
SELECT x.i, y.i FROM rg x, rg y WHERE x.b [[=¦<>¦<¦<=¦>¦>=]] y.b ORDER BY 1, 2
SELECT i, v, a @> v, v <@ a, b @> v, v <@ b FROM rg, unnest(ARRAY[0, 1, 3, 4.5, 5, 9, 10, 'NaN']) v ORDER BY 1, 2
SELECT x.i, y.i, x.a * y.a, range_merge(x.a, y.a) FROM rg x, rg y ORDER BY 1, 2
SELECT x.i, y.i, x.b + y.b, x.b - y.b, x.b * y.b FROM rg x, rg y ORDER BY 1, 2
SELECT numrange(1, [[2¦3¦5]]) + numrange(2, 4), numrange(1, [[2¦9]]) + numrange(3, 4)
SELECT numrange(1, 9) - '[[empty¦(,)¦[1,3)¦(1,3)¦[3,5)¦[5,9]¦[9,10)¦[0,1]¦(,5]¦[5,)¦[1,9)]]'::numrange
SELECT int4range(1, 9) - int4range(3, [[5¦9¦12]]), int4range(1, 3) -|- int4range([[3¦4]], 9), numrange(1, 3) -|- numrange([[3¦4]], 9), int4range(1, 3) + int4range([[3¦4]], 9)
SELECT range_agg(a), range_intersect_agg(a) FROM rg WHERE i [[> 2¦= 1¦> 10¦> 11¦IN (4, 6, 9)]]
SELECT range_agg(b), range_intersect_agg(b) FROM rg WHERE i [[> 2¦= 1¦> 10¦> 11¦IN (5, 6, 10)]]
SELECT i % 3, range_agg(a ORDER BY i), range_agg(DISTINCT b), range_agg(a) FILTER (WHERE i > 4) FROM rg GROUP BY 1 ORDER BY 1
SELECT range_agg(1)
SELECT i, range_agg(a) OVER (ORDER BY i ROWS 2 PRECEDING) FROM rg ORDER BY i
SELECT i, u FROM rg, unnest(b) u ORDER BY i, u; SELECT i, unnest(b) FROM rg ORDER BY 1, 2
SELECT i, hash_range(a), hash_range_extended(a, 7), hash_multirange(b), hash_multirange_extended(b, 7) FROM rg ORDER BY i
SELECT hash_range('[1,5)'::int4range), hash_range('[a,b)'::int8range), hash_range('(,2000-01-01)'::daterange), hash_range('empty'::tsrange), hash_multirange('{[1,2),[4,5)}'::int8multirange)
SELECT hash_range(int8range(1, 5)), hash_range(daterange('2000-01-01', NULL)), hash_range_extended(tstzrange('2000-01-01 00:00+00', NULL), 0)
SELECT range_send(a), multirange_send(b), pg_column_size(a), pg_column_size(b) FROM rg ORDER BY i
SELECT a, count(*) FROM (SELECT a FROM rg UNION ALL SELECT a FROM rg) s GROUP BY a ORDER BY a
SELECT x.i, y.i FROM rg x JOIN rg y ON x.a = y.a ORDER BY 1; SELECT x.i FROM rg x JOIN rg y USING (b) ORDER BY 1
SELECT DISTINCT b FROM rg ORDER BY b DESC NULLS FIRST; SELECT min(i), max(i) FROM rg GROUP BY a ORDER BY a
SELECT a FROM rg WHERE a IN ('[1,5)', 'empty') UNION SELECT '[3,4]' ORDER BY 1
CREATE INDEX rg_a ON rg (a); CREATE INDEX rg_b ON rg (b); CREATE INDEX rg_h ON rg USING hash (a); SET enable_seqscan = off
EXPLAIN (COSTS OFF) SELECT i FROM rg WHERE a [[= '[1,5)'¦< '[3,4)'¦>= '(,3)']]
SELECT i FROM rg WHERE a [[= '[1,5)'¦< '[3,4)'¦>= '(,3)'¦@> 4.0]] ORDER BY i
SELECT i FROM rg WHERE b [[= '{[1,5)}'¦< '{[3,4)}'¦>= '{(,3)}'¦@> 4.0]] ORDER BY i
SELECT a FROM rg ORDER BY a; SELECT b FROM rg ORDER BY b DESC; RESET enable_seqscan
CREATE UNIQUE INDEX ON rg (a); INSERT INTO rg VALUES (20, '[1.0,5.00)', NULL)
INSERT INTO rg VALUES ([[30, '[5,1]', NULL¦31, 'x', NULL¦32, NULL, '{[5,1]}'¦33, '[1,2)'::int4range, NULL]])
DROP TABLE rg
SELECT ARRAY[int4range(1, 2), NULL, 'empty'], '{"[1,3)","(,5]",empty}'::int4range[], ARRAY['{[1,2)}'::int4multirange], '{[1,2),[5,6)}'::int4multirange[]
SELECT '{"{[1,2),[5,6)}",NULL}'::int4multirange[], ('{"[1,3)"}'::int4range[])[1], int4range(1, 3) = ANY (ARRAY[int4range(1, 3)]), ARRAY[int4range(1, 3)] @> ARRAY[int4range(1, 3)], ARRAY[int4range(1, 3)] < ARRAY[int4range(1, 4)]
SELECT row(int4range(1, 3), 'a'), row(int4range(1, 3)) = row('[1,2]'::int4range), (row(int4range(1, 3)) < row(int4range(1, 2)))
SELECT pg_typeof(lower(int4range(1, 2))), pg_typeof(range_merge('{[1,2)}'::int4multirange)), pg_typeof(range_agg(tsrange('2000-01-01', NULL))), pg_typeof(multirange(daterange('2000-01-01', NULL)))
SELECT int4range(1, 10) @> [[5¦5::int8¦5.5¦'5'¦NULL¦'[2,3)'¦'x']]
SELECT [[5¦'5'¦5::int2¦int4range(2, 3)¦'[2,3)']] <@ int4range(1, 10)
SELECT int4range(1, 2) [[+¦&&¦=¦@>]] int8range(1, 2)
SELECT int4multirange(int4range(1, 5)) [[@>¦&&¦<<¦-|-¦&<¦&>]] int4range(5, [[6¦7]]), int4range(5, 7) [[<@¦&&¦>>¦-|-¦&<¦&>]] int4multirange(int4range(1, 9), int4range(20, 30))
SELECT to_json(int4range(1, 3)), jsonb_build_object('r', '{[1,2)}'::int4multirange), int4range(1, 3)::text, '[1,3)'::text::int4range, int4range(1, 3)::varchar(3), int4range(1,3)::char(2)
SELECT [[min¦max]](a) FROM (VALUES (int4range(1, 2))) t(a)
SELECT int4range(1, 2)::int8range
SELECT 1 FROM (VALUES (1)) t WHERE daterange('2000-01-01', '2000-02-01') @> date '2000-01-15' AND NOT tsrange('2000-01-01', '2000-02-01') @> timestamp '2000-02-01'
SET datestyle = 'German, DMY'; SELECT daterange('2000-01-01', '2000-02-01'), tsrange('2000-01-01 10:00', NULL), '["01.02.2000 10:00","02.02.2000"]'::tsrange; RESET datestyle
SET extra_float_digits = 0; CREATE TYPE rg_float AS RANGE (subtype = float8, subtype_diff = float8mi); SELECT '[0.1,0.3)'::rg_float, rg_float(1.5e300, 'Infinity'), rg_float('-0', 0, '[]'), '[NaN,NaN]'::rg_float; RESET extra_float_digits
SELECT rg_float(1, 2) && rg_float(1.5, 3), rg_float(1, 2)::rg_multirange
SELECT rg_float_multirange(rg_float(1, 2), rg_float(5, 6)), range_agg(r), hash_range(rg_float(1, 2)) FROM (VALUES (rg_float(1, 2)), (rg_float(2, 3))) t(r)
DROP TYPE rg_float
PREPARE rg_p (int4range) AS SELECT $1, lower($1), upper($1) - lower($1); EXECUTE rg_p ('[1,5]'); EXECUTE rg_p (NULL); DEALLOCATE rg_p
CREATE FUNCTION rg_width(anyrange) RETURNS anyelement LANGUAGE sql AS 'SELECT upper($1) - lower($1)'
SELECT rg_width(int4range(1, 5)), rg_width(numrange(1.5, 2)), rg_width('empty'::int4range)
SELECT rg_width([['[1,5)'¦1¦NULL¦tsrange(NULL, NULL)]])
DROP FUNCTION rg_width
CREATE FUNCTION rg_f(a anyrange, b anyelement) RETURNS anymultirange LANGUAGE plpgsql AS $$ DECLARE m ALIAS FOR $0; r a%TYPE; BEGIN m := multirange(a); FOR r IN SELECT unnest(m) LOOP RAISE NOTICE '% % %', r, lower(r), r @> b; END LOOP; RETURN m; END $$
SELECT rg_f(int4range(1, 5), 3), rg_f(numrange(1, 5), 7.5)
SELECT rg_f(int4range(1, 5), 3.5)
DROP FUNCTION rg_f
CREATE FUNCTION rg_c(anycompatiblerange, anycompatible) RETURNS anycompatible LANGUAGE sql AS 'SELECT CASE WHEN $1 @> $2 THEN $2 END'
SELECT rg_c(numrange(1, 5), 3), rg_c(int4range(1, 5), 3::int2)
SELECT rg_c(int4range(1, 5), 3.5)
DROP FUNCTION rg_c
DO $$ DECLARE r int4range := '[1,3]'; m int4multirange; a int4range[]; BEGIN m := int4multirange(r, int4range(7, 9)); a := array(SELECT unnest(m)); RAISE NOTICE '% % % %', r, m, a, r * int4range(2, 9); r := 'x'; END $$
CREATE DOMAIN rg_dom AS int4range CHECK (lower(VALUE) > 0); SELECT '[1,3)'::rg_dom, lower('[1,3)'::rg_dom), '[1,3)'::rg_dom && '[2,4)'::rg_dom
SELECT '[0,3)'::rg_dom
DROP DOMAIN rg_dom
CREATE TABLE rg_gen (a int, b int, r int4range GENERATED ALWAYS AS (int4range(a, b)) STORED, CHECK (NOT isempty(r))); INSERT INTO rg_gen (a, b) VALUES (1, 5), (NULL, 3); SELECT * FROM rg_gen ORDER BY b; DROP TABLE rg_gen
COPY (SELECT int4range(1, 3), '{[1,2)}'::nummultirange, NULL::tsrange, '(,"a b")'::int4range[] ) TO STDOUT
COPY (SELECT int4range(1, 3), '{[1,2),(3,)}'::nummultirange) TO STDOUT (FORMAT csv)
SELECT count(*) FROM pg_range WHERE rngtypid < 16384; SELECT rngtypid::regtype, rngsubtype::regtype, rngmultitypid::regtype, rngsubopc, rngcanonical, rngsubdiff FROM pg_range WHERE rngtypid < 16384 ORDER BY 1
SELECT int4range_subdiff(5, -2147483648), int8range_subdiff(9223372036854775807, -1), numrange_subdiff(1.5, 'NaN'), daterange_subdiff('2000-01-05', '2000-01-01'), tsrange_subdiff('2000-01-05', '2000-01-01'), tstzrange_subdiff('infinity', '2000-01-01')
