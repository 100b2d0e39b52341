-- Input functions at their limits, and checks with PostgreSQL's messages.
CREATE SCHEMA small_checks; SET search_path = small_checks
SELECT format('[[%-*s%*1$s¦%*1$s%s¦%2$*1$s%s¦%*2$s%s¦%s%*1$s¦%-*x¦%*0$s¦%*1s¦%*s]]', [[null,3,1.5¦5,-7,'a'¦-100,null,'a'¦2,'x']])
SELECT array[1,2]::[[oid¦int2]]vector, '[5:6]={1,2}'::int2[]::int2vector, array[1,2]::int4[]::[[oid¦int2]][]::[[oid¦int2]]vector
SELECT '[[ {-a¦[1:2]={1,2}x¦[-¦[1¦[1:¦ [1:2] {1,2}¦ [1:2] = {1¦[1:2]=1¦[+:3]={1,2}¦{1}x¦  {a,{b}}¦{1,2¦[1:3]={1,2}¦[1][2:¦{"a"b}]]'::[[int¦text¦jsonb]][]
SELECT '[[-.5¦-¦-.e5x¦1.x¦1.e¦.5¦-1e+¦01¦1e5e5¦-0.]]'::[[json¦jsonb]]
SELECT E'[["\\u00\n"¦"\\u00¦\n"a\\q"¦[1,\n2,\n"\\u12\nx"]¦"a\nb"¦[1,\n x]]]'::json
SELECT '[[-¦0¦double precision¦a.¦a.b.c.d¦+¦pg_catalog.||/¦nosuch.+¦"||/"¦ ||/ ¦!!]]'::[[regoper¦regoperator]]
SELECT [[''::regoper¦''::regoperator¦to_regoper('')¦to_regoper('a b')¦to_regoper('-')¦'-'::regclass¦'-'::regproc¦'-'::regtype¦'-'::regprocedure]]
SELECT [[1e400e-5¦1e+x¦1e-¦1.5e5e5¦1e¦1x]]
SELECT '[[9e1310712e-1_¦9e1310712¦9e99999999999999_¦1e1073741823_¦1e-1073741823¦1e131072 x]]'::numeric
SELECT '[[@ 2147483648 days 24 hours ago¦2147483648 days ago¦-2147483648 days¦-2147483648 days ago¦306783379 weeks¦2147483647 days 1 day¦2147483647 mons 1 mon¦178956970 years 8 mons¦2147483648 mons¦2147483648 years -1 years¦2147483 millennia¦2147484 millennia¦1.5 years 2147483647 mons¦-2562047788:00:54.775808]]'::interval
SET transform_null_equals = [[on¦off]]; SELECT null = 1, 1 = null, null = null, (1, 2) = null, 1 OPERATOR(pg_catalog.=) null, 1 <> null, case 1 when null then 1 else 2 end, array[1, null] = null, 1 = (null), null::int = 1
SET transform_null_equals = on; CREATE VIEW tne AS SELECT a FROM generate_series(1, 2) a WHERE a = NULL; SELECT pg_get_viewdef('tne'); RESET transform_null_equals
SELECT E'a\'b', 'x'; SELECT E'a\'b', 'x'; SET backslash_quote = off
SELECT E'a\'b', 'x'
RESET backslash_quote; SELECT E'a\'b', 'x'
SELECT count(*) OVER ([[partition by¦order by]] x) FROM (VALUES ('5'::[[xid¦cid¦json]])) t(x)
SELECT hash_record(row([[row(1)¦null¦'a'¦1¦null::int¦row(1,'x'::char(3))]], g)) FROM generate_series(1, 1) g
SELECT enum_[[range¦first¦last]]([['q'¦null¦'q','z'¦null,null¦1]])
SELECT x, count(*) FROM (VALUES ('1'::json)) t(x) GROUP BY [[x¦1¦(x)¦x::text, x]]
SELECT hashoidvector(array[1,2]::oidvector) = hashoidvector('1 2')
CREATE TABLE gen (a int GENERATED ALWAYS AS IDENTITY, b int, c int GENERATED ALWAYS AS (b) STORED); CREATE TABLE a (one int, two int)
CREATE VIEW va AS SELECT count(*) x FROM a; CREATE VIEW vb AS SELECT one, two + 1 x FROM a; CREATE VIEW vc AS SELECT * FROM a
CREATE FUNCTION f[[1() RETURNS void LANGUAGE sql AS '¦2() RETURNS void LANGUAGE sql AS 'select 1; ¦3(anyelement) RETURNS void LANGUAGE sql AS ']][[insert into gen(a) values(1)¦insert into gen(c) values(1)¦update gen set a=1¦update gen set c=1¦update va set x=1¦delete from va¦insert into va values(1)¦update vb set x=1¦update vb set x=1; update va set x=2¦update a set one=1, one=2¦update a set (one,two)=(select 1,2), two=default¦insert into a(one,one) values(1,2)¦insert into vc values(1,2)¦notify x]]'
CREATE FUNCTION g() RETURNS void BEGIN ATOMIC [[insert into gen(a) values(1)¦update gen set c=1¦delete from va¦update vb set x=1¦update a as z set (one,two)=(select 1,2), two=default¦with recursive x as (select 1 a union all (with zz as (select * from x) select * from zz where a < 3)) search depth first by a set s select 1 from x]]; END
SET check_function_bodies = off; CREATE FUNCTION h() RETURNS void LANGUAGE sql AS 'update va set x=1'; RESET check_function_bodies
SET restrict_nonsystem_relation_kind = 'view'; CREATE FUNCTION r() RETURNS bigint BEGIN ATOMIC SELECT x FROM va; END
CREATE FUNCTION r() RETURNS bigint LANGUAGE sql AS 'select x from va'
RESET restrict_nonsystem_relation_kind
PREPARE numbered AS SELECT $[[65536¦70000¦300000000¦2147483647]]::text
CREATE TABLE "a'" (relname name primary key); INSERT INTO "a'" SELECT g FROM unnest(array['a', 'au', 'b', E'a\\']) g; ANALYZE "a'"; SET enable_seqscan = off
SELECT relname FROM "a'" WHERE relname LIKE '[[ab¦c\\¦a\\b¦b%]]\'
EXPLAIN (COSTS OFF) SELECT relname FROM "a'" WHERE relname LIKE '[[a¦ab¦a\\b¦a%]]\'
RESET enable_seqscan; DROP TABLE "a'"
DROP SCHEMA small_checks CASCADE
ALTER COLLATION [["C"¦"POSIX"¦"C.utf8"¦pg_catalog."C"¦"default"¦nosuch¦nosuch.x¦"en-x-icu"]] REFRESH VERSION
CREATE ROLE small_checks_role; SET ROLE small_checks_role
ALTER COLLATION [["C"¦pg_catalog."C"]] REFRESH VERSION
RESET ROLE; DROP ROLE small_checks_role
