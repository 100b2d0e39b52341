-- CREATE TYPE … AS RANGE, its multirange type and constructors, dependencies, statistics.
CREATE SCHEMA rt; SET search_path = rt, pg_catalog
CREATE TYPE bad AS RANGE ([[subtype = nosuch¦subtype = anyelement¦collation = "C"¦subtype = int4, subtype = int4¦subtype = int4, nosuch = 1¦subtype = int4, collation = "C"¦subtype = text, collation = nosuch¦subtype = point¦subtype = int4, subtype_opclass = nosuch_ops¦subtype = int4, subtype_opclass = text_ops¦subtype = int4, canonical = int4range_canonical¦subtype = int4, subtype_diff = float8mi¦subtype = float8, subtype_diff = nosuch¦subtype = float8, subtype_diff = float8pl¦subtype = int4, subtype_diff = int4mi¦subtype = json¦subtype = int4, multirange_type_name = pg_catalog.x]])
CREATE TYPE plain AS RANGE (subtype = int4); CREATE TYPE a_range_b AS RANGE (subtype = text, collation = "C", subtype_opclass = text_pattern_ops); CREATE TYPE named AS RANGE (subtype = float8, subtype_diff = float8mi, multirange_type_name = many)
CREATE TYPE [[plain¦plain_multirange¦many¦a_multirange_b]] AS RANGE (subtype = int4)
CREATE TYPE other AS RANGE (subtype = int4, multirange_type_name = [[plain¦_plain¦other]])
SELECT t.typname, t.typtype, t.typcategory, t.typlen, t.typbyval, t.typalign, t.typstorage, t.typinput, t.typoutput, t.typreceive, t.typsend, t.typanalyze, t.typcollation, a.typname, t.typdelim, t.typndims FROM pg_type t LEFT JOIN pg_type a ON a.oid = t.typarray WHERE t.typnamespace = 'rt'::regnamespace ORDER BY 1
SELECT rngtypid::regtype, rngsubtype::regtype, rngmultitypid::regtype, rngcollation::regcollation, (SELECT opcname FROM pg_opclass o WHERE o.oid = rngsubopc), rngcanonical, rngsubdiff FROM pg_range WHERE rngtypid >= 16384 ORDER BY rngtypid::regtype::text
SELECT oid::regprocedure, proowner::regrole, prolang, procost, prorows, provariadic::regtype, prokind, proisstrict, provolatile, proparallel, prorettype::regtype, proargtypes::regtype[], proallargtypes IS NULL, proargmodes, proargnames, prosrc, proacl FROM pg_proc WHERE pronamespace = 'rt'::regnamespace AND prosrc ~ 'constructor[0-2]' AND proname IN ('many', 'named') AND pronargs <> 2 AND prosrc !~ '2' ORDER BY 1
SELECT oid::regprocedure, provariadic::regtype, proisstrict, prosrc FROM pg_proc WHERE pronamespace = 'rt'::regnamespace ORDER BY oid::regprocedure::text
SELECT castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod FROM pg_cast WHERE castsource >= 16384 ORDER BY 1
SELECT pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype FROM pg_depend WHERE (classid = 'pg_type'::regclass AND objid IN ('named'::regtype, 'many'::regtype, 'named[]'::regtype, 'many[]'::regtype) OR refobjid IN ('named'::regtype, 'many'::regtype)) ORDER BY 1 COLLATE "C", 2 COLLATE "C", 3
SELECT plain(1, 5), plain(1, 5, '[]'), plain_multirange(), plain_multirange(plain(1, 5)), plain_multirange(plain(5, 9), plain(1, 2), plain(2, 3)), plain(1, 2) -|- plain(3, 4), plain(1, 2)::plain_multirange, '[a,b)'::a_range_b, '{[a,b),[b,c]}'::a_multirange_b
SELECT named(1, 2) + named(2, 3), many(named(1, 2)) + '{[2,3]}', range_agg(named(1, 2)), unnest('{[1,2),[3,4)}'::many), lower(named(1.5, 2)), many(named(1, 2)) @> 1.5::float8
SELECT plain(1, 2) = int4range(1, 2)
SELECT format_type('named'::regtype, NULL), '[1,2)'::named::text, pg_typeof(many(named(1, 2)))
DROP TYPE [[many¦plain_multirange¦_a_multirange_b¦_plain]]
DROP FUNCTION named(float8, float8)
DROP CAST (named AS many)
CREATE TABLE t1 (r named, m many, x named[]); DROP TYPE named
COMMENT ON TYPE named IS 'x'; ALTER TYPE named RENAME TO named2; ALTER TYPE many RENAME TO many2; SELECT named(1, 2), many(named(1, 2)); SELECT rngtypid::regtype, rngmultitypid::regtype FROM pg_range WHERE rngtypid = 'named2'::regtype
CREATE ROLE rt_role; ALTER TYPE named2 OWNER TO rt_role; SELECT typname, typowner::regrole FROM pg_type WHERE typnamespace = 'rt'::regnamespace AND typname ~ 'named|many' ORDER BY 1
GRANT USAGE ON TYPE named2 TO rt_role; SELECT typname, typacl FROM pg_type WHERE typnamespace = 'rt'::regnamespace AND typname ~ 'named|many' ORDER BY 1
CREATE SCHEMA rt2; ALTER TYPE named2 SET SCHEMA rt2; SELECT typname, typnamespace::regnamespace FROM pg_type WHERE typname ~ 'named2|many2' ORDER BY 1; ALTER TYPE rt2.named2 SET SCHEMA rt
DROP TYPE named2 CASCADE; SELECT count(*) FROM pg_range WHERE rngtypid >= 16384; SELECT count(*) FROM pg_proc WHERE proname IN ('named', 'many'); SELECT attname FROM pg_attribute WHERE attrelid = 't1'::regclass AND attnum > 0 AND NOT attisdropped
DROP TABLE t1; DROP TYPE plain; DROP TYPE a_range_b; DROP ROLE rt_role; SELECT count(*) FROM pg_type WHERE typnamespace = 'rt'::regnamespace; SELECT count(*) FROM pg_depend WHERE refobjid = 'rt'::regnamespace
CREATE TYPE pair AS (a int, b text); CREATE TYPE pairs AS RANGE (subtype = pair); CREATE DOMAIN posint AS int CHECK (VALUE > 0); CREATE TYPE posints AS RANGE (subtype = posint); CREATE TYPE lists AS RANGE (subtype = int[]); CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); CREATE TYPE moods AS RANGE (subtype = mood); CREATE TYPE nested AS RANGE (subtype = int4range)
SELECT '["(1,a)","(2,b)")'::pairs, pairs(row(1, 'a'), row(1, 'b')), pairs(row(2, 'a'), NULL) @> row(3, 'x')::pair, range_agg(p) FROM (VALUES ('["(1,a)","(2,b)"]'::pairs), ('["(2,a)","(3,)"]')) t(p)
SELECT '[1,5]'::posints, posints(1, 5) @> 3::posint, posints(1, 5) && '[5,7]', lower('[2,3]'::posints)
SELECT '[0,5]'::posints
SELECT '["{1,2}","{1,3}"]'::lists @> ARRAY[1, 2, 9], lists(ARRAY[1], ARRAY[2]), '[sad,happy)'::moods @> 'ok'::mood, moods('ok', NULL), moods('sad', 'happy') * '[ok,)', '["[1,2)","[3,4)"]'::nested, nested(int4range(1, 2), int4range(3, 9)) @> int4range(2, 5), '{["[1,2)","[3,4)"]}'::nested_multirange
SELECT moods('happy', 'sad')
SELECT hash_range('[ok,happy]'::moods) IS NOT NULL, hash_range(nested(int4range(1, 2), int4range(3, 9))), hash_range(lists(ARRAY[1], ARRAY[2])), hash_range(posints(1, 2)), hash_range(pairs(row(1, 'a'), NULL))
CREATE TABLE t2 (p pairs, l lists, m moods, n nested, u posints); INSERT INTO t2 SELECT pairs(row(g, 'a'), row(g, 'b')), lists(ARRAY[g], ARRAY[g, 1]), moods((ENUM_RANGE(NULL::mood))[1 + g % 3], NULL), nested(int4range(g, g + 1), NULL), posints(1 + g, NULL) FROM generate_series(1, 50) g; CREATE INDEX ON t2 (p); CREATE INDEX ON t2 (l); CREATE INDEX ON t2 (m); CREATE INDEX ON t2 (n); CREATE INDEX ON t2 USING hash (n); CREATE INDEX ON t2 USING hash (u); ANALYZE t2
SET enable_seqscan = off; SELECT count(*) FROM t2 WHERE p = pairs(row(7, 'a'), row(7, 'b')); SELECT count(*) FROM t2 WHERE n = '["[7,8)",)'; SELECT count(*) FROM t2 WHERE m = '[ok,)'; SELECT p, l FROM t2 WHERE l < '["{3}","{9}")' ORDER BY l; SELECT count(*) FROM t2 WHERE u = '[7,)'; RESET enable_seqscan
SELECT m, count(*) FROM t2 GROUP BY m ORDER BY m; SELECT count(*) FROM t2 a JOIN t2 b USING (n); SELECT count(*) FROM t2 a JOIN t2 b USING (p)
ALTER TYPE mood ADD VALUE 'angry' BEFORE 'ok'; SELECT moods('angry', 'happy') @> 'ok'::mood, moods('sad', 'ok') @> 'angry'::mood
DROP TABLE t2; DROP TYPE pairs, posints, lists, moods, nested; DROP TYPE pair, mood; DROP DOMAIN posint
CREATE TYPE shelled; CREATE TYPE shelled AS RANGE (subtype = int4, canonical = nosuch)
CREATE FUNCTION shelled_c(shelled) RETURNS shelled LANGUAGE internal IMMUTABLE STRICT AS 'int4range_canonical'; CREATE FUNCTION shelled_v(shelled) RETURNS shelled LANGUAGE internal STRICT AS 'int4range_canonical'; CREATE FUNCTION shelled_i(shelled) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'int4range_canonical'
CREATE TYPE shelled AS RANGE (subtype = int4, canonical = [[shelled_v¦shelled_i]])
CREATE TYPE shelled AS RANGE (subtype = int4, canonical = shelled_c); SELECT '(1,3]'::shelled, shelled(1, 3, '()'), shelled(1, 3) -|- shelled(4, 5), '{[1,2],[3,4]}'::shelled_multirange; DROP TYPE shelled
CREATE FUNCTION wrong(int, text) RETURNS int4range LANGUAGE internal AS 'int4range_canonical'
DROP TYPE shelled CASCADE
CREATE FUNCTION diff(text, text) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT length($1)::float8 - length($2)'; CREATE TYPE texts AS RANGE (subtype = text, subtype_diff = diff); DROP FUNCTION diff
CREATE TABLE t3 (r texts); INSERT INTO t3 SELECT texts(repeat('a', g), repeat('a', g + 3)) FROM generate_series(1, 30) g; ANALYZE t3; SELECT stakind1, stakind2, stakind3, staop1, staop2, stacoll1, stanumbers1, stanumbers2, stavalues1::text, stavalues2::text FROM pg_statistic WHERE starelid = 't3'::regclass; DROP TABLE t3; DROP TYPE texts; DROP FUNCTION diff
CREATE TABLE t4 (i int4range, m nummultirange, e int4range, n int4range, one daterange, d tsrange); INSERT INTO t4 SELECT int4range(g, g + g % 10), nummultirange(numrange(g, g + 1), numrange(g + 5, NULL)), CASE WHEN g % 4 = 0 THEN 'empty' ELSE int4range(NULL, g) END, NULL, CASE WHEN g = 7 THEN daterange('2000-01-01', '2000-01-05') END, tsrange(timestamp '2000-01-01' + g * interval '1 hour', timestamp '2000-01-02' + g * interval '1 hour') FROM generate_series(1, 200) g; ANALYZE t4
SELECT staattnum, stanullfrac, stawidth, stadistinct, stakind1, stakind2, stakind3, staop1, staop2, stanumbers1, stanumbers2, stavalues1::text, stavalues2::text FROM pg_statistic WHERE starelid = 't4'::regclass ORDER BY 1
SELECT attname, null_frac, n_distinct, most_common_vals, histogram_bounds, correlation FROM pg_stats WHERE tablename = 't4' ORDER BY 1
EXPLAIN SELECT * FROM t4 WHERE i [[<¦<=¦>¦>=¦<<¦>>¦&<¦&>¦&&¦@>¦<@]] '[[[50,55)¦empty¦(,50)¦[190,)¦[300,400)¦(,)]]'
EXPLAIN SELECT * FROM t4 WHERE '[50,55)' [[<¦>=¦<<¦>>¦&<¦&>¦&&¦@>¦<@]] i
EXPLAIN SELECT * FROM t4 WHERE i @> [[50¦1¦300]]
EXPLAIN SELECT * FROM t4 WHERE m [[<¦<=¦>¦>=¦<<¦>>¦&<¦&>¦&&¦@>¦<@]] '[[{[50,55),[60,70)}¦{}¦{(,)}]]'
EXPLAIN SELECT * FROM t4 WHERE m [[<<¦>>¦&<¦&>¦&&¦@>¦<@]] numrange(50, [[60¦NULL]])
EXPLAIN SELECT * FROM t4 WHERE [[m @> 50.5¦50.5 <@ m¦numrange(5, 6) && m¦i && multirange(int4range(5, 6))¦e && '[1,2)'¦e <@ '(,100)'¦n && '[1,2)'¦one && '[2000-01-01,2000-01-03)'¦d && '[2000-01-05,2000-01-06)'¦d @> timestamp '2000-01-05'¦d <@ '[2000-01-02,2000-01-06)'¦i = '[50,55)'¦i <> '[50,55)'¦i && e]]
EXPLAIN SELECT * FROM t4 a, t4 b WHERE a.i [[&&¦@>¦<<]] b.i
EXPLAIN (COSTS OFF) SELECT * FROM t4 a, t4 b WHERE a.[[i¦m]] = b.[[i¦m]]
PREPARE rp (int4range) AS SELECT * FROM t4 WHERE i && $1; EXPLAIN EXECUTE rp ('[50,55)'); DEALLOCATE rp
DROP TABLE t4
CREATE TABLE t5 (r int4range PRIMARY KEY); INSERT INTO t5 VALUES ('[1,3]'), ('[4,5]'); INSERT INTO t5 VALUES ('[1,4)'); SELECT * FROM t5 ORDER BY r; CREATE TABLE t6 (r int4range REFERENCES t5); INSERT INTO t6 VALUES ('[1,4)'); INSERT INTO t6 VALUES ('[9,9]'); DROP TABLE t6, t5
DROP SCHEMA rt CASCADE; DROP SCHEMA rt2; RESET search_path
CREATE TYPE rt_pair AS (a int); CREATE TYPE rt_pairs AS RANGE (subtype = rt_pair); ALTER TYPE rt_pair ADD ATTRIBUTE b rt_multirange
ALTER TYPE rt_pair ADD ATTRIBUTE b rt_pairs[]
ALTER TYPE rt_pair ADD ATTRIBUTE b rt_pairs_multirange
DROP TYPE rt_pairs, rt_pair
