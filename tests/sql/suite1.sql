create schema suite_t1; set search_path = suite_t1, public
create sequence s1; create sequence s2
create table upsert_test(a int primary key, b text)
insert into upsert_test values (1,'Boo'),(3,'Zoo')
WITH aaa AS (SELECT 1 AS a, 'Foo' AS b) INSERT INTO upsert_test VALUES (1, 'Bar') ON CONFLICT(a) DO UPDATE SET (b, a) = (SELECT b, a FROM aaa) RETURNING *
INSERT INTO upsert_test VALUES (1, 'Baz'), (3, 'Zaz') ON CONFLICT(a) DO UPDATE SET (b, a) = (SELECT b || ', Correlated', a from upsert_test i WHERE i.a = upsert_test.a) RETURNING *
INSERT INTO upsert_test VALUES (1, 'Bat'), (3, 'Zot') ON CONFLICT(a) DO UPDATE SET (b, a) = (SELECT b || ', Excluded', a from upsert_test i WHERE i.a = excluded.a) RETURNING *
INSERT INTO upsert_test VALUES (2, 'Beeble') ON CONFLICT(a) DO UPDATE SET (b, a) = (SELECT b || ', Excluded', a from upsert_test i WHERE i.a = excluded.a) RETURNING a
INSERT INTO upsert_test VALUES (2, 'Beeble') ON CONFLICT(a) DO UPDATE SET (b, a) = (SELECT b || ', Excluded', a from upsert_test i WHERE i.a = excluded.a) where upsert_test.a > (select 1) RETURNING *
INSERT INTO upsert_test VALUES (1, 'x') ON CONFLICT(a) DO UPDATE SET (b, a) = (SELECT 'none', 7 where false) RETURNING *
INSERT INTO upsert_test VALUES (1, 'x'),(2,'y') ON CONFLICT(a) DO UPDATE SET (a,b) = (SELECT excluded.a + 10, excluded.b||upsert_test.b) RETURNING *
create function f_v(int,int) returns table(i int, s bigint) language sql volatile as 'select i, nextval(''s1'') from generate_series($1,$2) i'
create function f_one() returns bigint language sql volatile as 'select nextval(''s2'')'
SELECT * FROM (VALUES (1),(2),(3)) v(r) LEFT JOIN f_v(11,13) ON (r+i)<100
SELECT * FROM (VALUES (1),(2),(3)) v(r) LEFT JOIN f_v(11,13) WITH ORDINALITY AS f(i,s,o) ON (r+i)<100
SELECT * FROM (VALUES (1),(2),(3)) v(r), f_v(11,10+r)
SELECT * FROM (VALUES (1),(2),(3)) v(r), lateral (select * from f_v(11,12) where r<>i) x
SELECT * FROM (VALUES (1),(2),(3)) v(r) left join f_one() f on f>r
SELECT * FROM (VALUES (1),(2),(3)) v(r) left join rows from (f_one(), f_v(1,2)) f(a,b,c) on true
SELECT r, (select sum(s) from f_v(1,2) where i<>r) FROM (VALUES (1),(2),(3)) v(r)
SELECT r, (select sum(s) from f_v(1,r)) FROM (VALUES (1),(2),(3)) v(r)
select * from f_v(1,5) limit 2
select currval('s1')
create function array_to_set(anyarray) returns setof record as $$ select i AS "index", $1[i] AS "value" from generate_subscripts($1, 1) i $$ language sql strict immutable
select * from array_to_set(array['one', 'two']) as t(f1 numeric(4,2),f2 text)
select * from array_to_set(array['one', 'two']) as t(f1 numeric(4,2),f2 varchar(2))
create or replace function array_to_set(anyarray) returns setof record as $$ select i AS "index", $1[i] AS "value" from generate_subscripts($1, 1) i $$ language sql immutable
select * from array_to_set(array['one', 'two']) as t(f1 numeric(4,2),f2 text)
select * from array_to_set(array['one', 'two']) as t(f1 int,f2 char(6))
create temp view vv as select * from array_to_set(array['one', 'two']) as t(f1 numeric(4,2),f2 char(6))
select * from vv
select pg_typeof(f1), pg_typeof(f2) from vv
create schema suite_t2; set search_path = suite_t2, public
create function dup(f1 anyelement, f2 out anyelement, f3 out anyarray) AS 'select $1, array[$1,$1]' LANGUAGE sql
select dup('xyz')
CREATE OR REPLACE FUNCTION dup (inout f2 anyelement, out f3 anyarray) AS 'select $1, array[$1,$1]' LANGUAGE sql
CREATE OR REPLACE FUNCTION dup (f1 anyelement, out f2 anyelement, out f4 anyarray) AS 'select $1, array[$1,$1]' LANGUAGE sql
select max(array['a'],'b')
select array_append('1','2')
select '1' || null
create table few(id int, dataa text, datab text)
insert into few values (1,'a','foo'),(2,'a','bar'),(3,'b','bar')
SELECT min(generate_series(1, 3)) OVER() FROM few
SELECT SUM(count(*)) OVER(PARTITION BY generate_series(1,3) ORDER BY generate_series(1,3)), generate_series(1,3) g FROM few GROUP BY g
SELECT id, row_number() over (order by generate_series(1,2)) FROM few order by 1,2
SELECT id, row_number() over (partition by id order by generate_series(1,2)), generate_series(1,2) FROM few order by 1,2
SELECT sum(id) over (rows between generate_series(1,2) preceding and current row) from few
WITH outermost(x) AS (SELECT 1 UNION (WITH innermost as (SELECT 2) SELECT * FROM outermost UNION SELECT * FROM innermost)) SELECT * FROM outermost ORDER BY 1
with a as (select * from b), b as (select 1) select * from a
with a as (select 1), b as (select * from c) select * from a
create view vinto as select 1 into few
create view vinto as select 1 into few union select 2
COPY (SELECT 1 INTO frak UNION SELECT 2) TO 'blob'
COPY (SELECT 1 INTO frak UNION SELECT 2) TO stdout
create view fewv as select * from few
SELECT id FROM fewv TABLESAMPLE BERNOULLI (1)
WITH q AS (SELECT * FROM few) SELECT * FROM q TABLESAMPLE BERNOULLI (5.5) REPEATABLE (1)
create table comp1 (f1 int compression pglz)
create table comp1 (f1 int[] compression pglz, f2 int compression default, f3 name)
alter table comp1 alter f2 set compression pglz
alter table comp1 alter f3 set compression pglz
create index on few (id int4_ops(foo=1))
create index on few (id int4_ops(foo))
create table cwi(a int, b varchar(10))
insert into cwi values (1,'one')
create unique index cwi_u3 on cwi(a desc)
create unique index cwi_u4 on cwi(b collate "POSIX")
create index cwi_n on cwi(a)
alter table cwi add unique using index cwi_u3
alter table cwi add constraint c2 unique using index cwi_u4
alter table cwi add unique using index cwi_n
alter table cwi add unique using index cwi_none
create schema sch1; create role r1
reindex schema sch1
reindex schema sch2
create table ct1 as select relname from pg_class where relname like 'ct_'
select * from ct1
create table ct2 as select relname from pg_class where relname = 'ct2' union select relname from pg_class where relname = 'ct1'
select * from ct2
create materialized view ct3 as select relname from pg_class where relname = 'ct3'
select * from ct3
prepare pp as select count(*) from pg_class where relname = 'ct4'
create table ct4 as execute pp
select * from ct4
create type compos as (f1 int, f2 text)
create table t8(q1 int8, q2 int8)
insert into t8 values (123,456),(4567890123456789,123),(1,null)
select * from t8 where t8 in (row(123,456)::t8, '(4567890123456789,123)')
select * from t8 where t8 not in (row(123,456)::t8, '(4567890123456789,123)')
select * from t8 where t8 in (row(123,456)::t8, row(1,2))
select * from t8 where row(q1,q2) in (row(123,456)::t8, row(1,2)::t8)
create table compt(f1 int, f2 text)
create function fcompos1(v compt) returns void as $$ insert into compt values (v) $$ language sql
create function fcompos1(v compt) returns void as $$ insert into compt values (v.*); $$ language sql
create function fcompos2(v compt) returns void as $$ select fcompos1(v); $$ language sql
create function fcompos3(v compt) returns void as $$ select fcompos1(fcompos3.v.*); $$ language sql
create function fcompos4(v compt) returns void as $$ select fcompos1(v.*); $$ language sql
select fcompos1(row(1,'one')); select fcompos2(row(2,'two')); select fcompos3(row(3,'three')); select fcompos4(row(4,'four'))
select * from compt order by 1
create function ferr1() returns int as 'select ''a'' + nope' language sql
create function ferr1() returns int as E'select \'a\' || nope' language sql
create function ferr1() returns int as $x$select 1 + nope$x$ language sql
create function ferr1() returns int as $x$selec 1$x$ language sql
create function ferr1() returns int as 'selec 1' language sql
create function ferr1() returns int as 'select 1 + nope, 2' language sql
create function ferr1() returns int as U&'select 1 + nope\0020' language sql
create function ferr1() returns int as 'select ''ä'' + nope' language sql
create function ferr1() returns int as 'select 1, 2' language sql
create table conc(f1 text, f2 text)
insert into conc values ('a','b'),('b','b')
create unique index concurrently conc_i3 on conc(f2)
vacuum full conc
select indexrelid::regclass, indisvalid, indisready, indislive from pg_index where indrelid = 'conc'::regclass
cluster conc using conc_i3
truncate conc
select indexrelid::regclass, indisvalid, indisready, indislive from pg_index where indrelid = 'conc'::regclass
insert into conc values ('a','b'),('b','c')
reindex table conc
select indexrelid::regclass, indisvalid, indisready, indislive from pg_index where indrelid = 'conc'::regclass
insert into conc values ('b','c')
vacuum full conc
insert into conc values ('b','c')
create table ict(key int4, fruit text)
create unique index on ict(key)
insert into ict values (1, 'Apple') on conflict (keyy) do update set fruit = excluded.fruit
insert into ict values (1, 'Apple') on conflict (fruit) do update set fruity = excluded.fruit
insert into ict values (1, 'Apple') on conflict (key) do update set fruit = excluded.fruitt
insert into ict values (1, 'Apple') on conflict (key) where keyy > 3 do nothing
CREATE FUNCTION hbn(few.dataa%TYPE) RETURNS few.datab%TYPE AS 'select datab from few where dataa = $1' LANGUAGE SQL
create table tt2 (x few.dataa%type)
select E'{{1,2},\\{2,3}}'::text[]
select '{{"1 2" x},{3}}'::text[]
select '{{1,2},3}'::text[]
select '{"a"b}'::text[]
select '{a"b"}'::text[]
select '{"a"\b}'::text[]
select '{1,{2}}'::text[]
select '{{1},"a"}'::text[]
select '{"a""b"}'::text[]
select '{{1}2}'::text[]
select '{{1}"2"}'::text[]
select '{{1}\2}'::text[]
select '{1 2,3}'::text[]
select '{ "a" ,b}'::text[]
select '{,}'::text[]; select '{a,}'::text[]; select '{a,,b}'::text[]; select '{a'::text[]; select '{"a'::text[]; select '{a}x'::text[]; select '{}}'::text[]; select '{{},{}}'::text[]; select '{{a},{}}'::text[]; select '{{}}'::text[]; select 'a'::text[]; select ''::text[]; select '{{a},{b,c}}'::text[]; select '{{a}{b}}'::text[]; select '{a{b}}'::text[]; select '{"a"{b}}'::text[]
select array[]::oidvector; select array[]::int2vector; select array[1,2]::int2[]::int2vector; select array[[1,2]]::int2[]::int2vector; select array[null]::oid[]::oidvector; select '[1:2]={1,2}'::oid[]::oidvector; select '[0:1]={1,2}'::oid[]::oidvector; select array[1,2]::oid[]::oidvector
select ('abc'::name)[0:1]
create table ict2 (key int4, fruit text)
create unique index op_index_key on ict2(key, fruit text_pattern_ops)
create unique index collation_index_key on ict2(key, fruit collate "C")
create unique index both_index_key on ict2(key, fruit collate "C" text_pattern_ops)
create unique index both_index_expr_key on ict2(key, lower(fruit) collate "C" text_pattern_ops)
explain (costs off) insert into ict2 values(0, 'C') on conflict (key, fruit text_pattern_ops) do nothing
explain (costs off) insert into ict2 values(0, 'C') on conflict (fruit collate "C" text_pattern_ops, key) do nothing
explain (costs off) insert into ict2 values(0, 'C') on conflict (fruit, key, fruit text_pattern_ops, key) do nothing
explain (costs off) insert into ict2 values(0, 'C') on conflict (key, lower(fruit)) do nothing
explain (costs off) insert into ict2 values(0, 'C') on conflict (key, lower(fruit) text_ops) do nothing
explain (costs off) insert into ict2 values(0, 'C') on conflict (key, fruit) do nothing
create schema suite_t3; set search_path = suite_t3, public
create table int8_tbl(q1 int8, q2 int8); insert into int8_tbl values (123,456),(123,4567890123456789),(4567890123456789,123),(4567890123456789,4567890123456789),(4567890123456789,-4567890123456789)
create table int4_tbl(f1 int4); insert into int4_tbl values (0),(123456),(-123456),(2147483647),(-2147483647)
create table tenk1 as select g unique1, (g*7919)%10000 unique2, g%2 two, g%4 four, g%10 ten, g%20 twenty, g%100 hundred, g%1000 thousand, g%2000 twothousand, g%5000 fivethous, g%10000 tenthous, ('A'||g)::name stringu1 from generate_series(0,9999) g
create index tenk1_unique1 on tenk1(unique1); create index tenk1_unique2 on tenk1(unique2); create index tenk1_hundred on tenk1(hundred); create index tenk1_thous_tenthous on tenk1(thousand,tenthous)
vacuum analyze
explain (costs off) select count(*) from ( select unique1 from tenk1 union select fivethous from tenk1 ) ss
select count(*) from ( select unique1 from tenk1 union select fivethous from tenk1 ) ss
explain (costs off) select count(*) from ( select unique1 from tenk1 intersect select fivethous from tenk1 ) ss
select count(*) from ( select unique1 from tenk1 intersect select fivethous from tenk1 ) ss
explain (costs off) select unique1 from tenk1 except select unique2 from tenk1 where unique2 != 10
select unique1 from tenk1 except select unique2 from tenk1 where unique2 != 10
set enable_hashagg = off
select k, sum(v), avg(v), min(v) from (select i/3 as k, i as v from generate_series(1,20) i) s group by k order by k
select k, avg(v), sum(v) from (select i/700 as k, i::numeric as v from generate_series(1,5000) i) s group by k order by k
explain (costs off) select count(*) from ( select unique1 from tenk1 union select fivethous from tenk1 ) ss
explain (costs off) select count(*) from ( select unique1 from tenk1 intersect select fivethous from tenk1 ) ss
explain (costs off) select unique1 from tenk1 except select unique2 from tenk1 where unique2 != 10
select count(*) from ( select unique1 from tenk1 intersect select fivethous from tenk1 ) ss
explain (costs off) select x from (values (array[1, 2]), (array[1, 3])) _(x) intersect select x from (values (array[1, 2]), (array[1, 4])) _(x)
explain (costs off) select from generate_series(1,5) intersect select from generate_series(1,3)
select from generate_series(1,5) union select from generate_series(1,3)
reset enable_hashagg
explain (costs off) select from generate_series(1,5) intersect select from generate_series(1,3)
select from generate_series(1,5) intersect all select from generate_series(1,3)
explain (costs off, verbose) select q1 from int8_tbl union all select f1 from int4_tbl
explain (costs off, verbose) select q1::text from int8_tbl union select f1::text from int4_tbl order by 1
explain (costs off, verbose) (select q1 from int8_tbl order by q2 limit 1) union all select 3
(select q1 from int8_tbl order by q2 limit 1) union all select 3
(select f1 from int4_tbl order by -f1 limit 1) union all select 3.5
explain (costs off, verbose) (select f1 from int4_tbl order by -f1 limit 1) union all select 3.5
select f1 from int4_tbl intersect select q1 from int8_tbl except select 3.0
select 1.0 intersect select 1.00; select 1.00 intersect select 1.0
select x from (values (1.0),(1.00),(2.0)) v(x) intersect all select x from (values (1.000),(1.0),(1.0)) w(x)
select x from (values (1.0),(1.00),(2.0)) v(x) intersect select x from (values (1.000)) w(x)
select x from (values (1.000)) w(x) intersect select x from (values (1.0),(1.00),(2.0)) v(x)
explain (costs off) select 1 as t, 2 as x union select 2, 4
SELECT * FROM (SELECT 1 AS t, 2 AS x UNION SELECT 2 AS t, 4 AS x) ss WHERE x < 4 ORDER BY x
explain (costs off) select * from (select *, 0 as x from int8_tbl a union all select *, 1 as x from int8_tbl b) ss where (x = 0) or (q1 >= q2 and q1 <= q2)
explain (costs off) select * from int4_tbl o where exists (select 1 from int4_tbl i where i.f1=o.f1 limit null)
explain (costs off) select * from int4_tbl o where not exists (select 1 from int4_tbl i where i.f1=o.f1 limit 1)
explain (costs off) select * from int4_tbl o where exists (select 1 from int4_tbl i where i.f1=o.f1 limit 0)
explain (costs off) select * from int4_tbl o where exists (select f1 from int4_tbl i where i.f1=o.f1 group by f1 limit 5)
explain (costs off) select * from int4_tbl o where exists (select 1 from int4_tbl i where i.f1=o.f1 offset 1)
explain (costs off) select (select max(f1) from int4_tbl i where exists (select 1 from int8_tbl limit 1))
explain (costs off) select * from int4_tbl offset 0
explain (costs off) select * from int4_tbl limit null offset null
explain (costs off) select * from int4_tbl limit all offset 1
explain (costs off) select * from int4_tbl limit 0
explain (costs off) select * from tenk1 where unique1 = unique1 and unique2 = unique2
explain (costs off) select * from int8_tbl a left join int8_tbl b on a.q1 = a.q1 and b.q2 = b.q2
select count(*) from int8_tbl a left join int8_tbl b on a.q1 = a.q1 and b.q2 = b.q2
explain (costs off) select * from tenk1 where (thousand, tenthous) in ((1,1001), (null,null))
explain (costs off) select * from tenk1 where unique1 = 1 or null
explain (costs off) select * from tenk1 where unique1 = 1 and null
explain (costs off) select * from tenk1 where not (unique1 = 1 and null)
select count(*) from tenk1 where not (unique1 = 1 and null)
select unique1, q1, coalesce(unique1, -1) + q1 as fault from int8_tbl left join tenk1 on (q2 = unique2) where coalesce(unique1, -1) + q1 = 122 order by 3
explain (costs off) select * from tenk1 a full join tenk1 b using(unique2) where coalesce(a.ten,1)+coalesce(b.ten,2) = 42
select count(*) from tenk1 a full join (select * from tenk1 where ten < 5) b using(unique2) where coalesce(a.ten,1)+coalesce(b.ten,20) > 20
select count(*) from int8_tbl a full join int8_tbl b on a.q1 = b.q2 where coalesce(a.q1,1) <> coalesce(b.q1,2)
select * from int8_tbl a left join int8_tbl b on a.q1 = b.q2 and b.q1 > 1000 where coalesce(b.q1,2) < 1000 order by 1,2
select * from int8_tbl a left join int8_tbl b on a.q1 < b.q2 where coalesce(b.q1,2) < 1000 order by 1,2,3,4
set enable_hashjoin = off
select * from int8_tbl a left join int8_tbl b on a.q1 = b.q2 and b.q1 > 1000 where coalesce(b.q1,2) < 1000 order by 1,2
select count(*) from int8_tbl a full join int8_tbl b on a.q1 = b.q2 where coalesce(a.q1,1) <> coalesce(b.q1,2)
explain (costs off) select count(*) from int8_tbl a full join int8_tbl b on a.q1 = b.q2 where coalesce(a.q1,1) <> coalesce(b.q1,2)
set enable_mergejoin = off
select * from int8_tbl a left join int8_tbl b on a.q1 = b.q2 and b.q1 > 1000 where coalesce(b.q1,2) < 1000 order by 1,2
reset enable_hashjoin; reset enable_mergejoin
explain (costs off) select * from int4_tbl i left join int8_tbl j on true
explain (costs off) select proname from pg_proc where proname like E'RI\\_FKey%del' order by 1
explain (costs off) select proname from pg_proc where proname ~ '^abc'
create table btree_bpchar (f1 text collate "C")
create index on btree_bpchar(f1 bpchar_ops)
insert into btree_bpchar select 'x'||g from generate_series(1,5000) g; insert into btree_bpchar values ('foo'), ('fool'), ('bar'), ('quux'); analyze btree_bpchar
select * from btree_bpchar where f1::bpchar like 'foo'
select * from btree_bpchar where f1::bpchar like 'foo%' order by 1
create table cet(c1 varchar(10), c2 int); insert into cet select 'a'||g, g from generate_series(1,5000) g
create index cetx on cet ((c1::text collate "C")); create index cetx2 on cet(c1 collate "POSIX"); create index cetx3 on cet ((c1 collate "C")); analyze cet
select pg_get_indexdef('cetx'::regclass); select pg_get_indexdef('cetx2'::regclass); select pg_get_indexdef('cetx3'::regclass)
explain (costs off) select * from cet where c1 = 'a17' collate "POSIX"
explain (costs off, verbose) select c1 collate "ucs_basic", c2 from cet where c2 > 4990 and c1 collate "ucs_basic" > 'b'
explain (costs off) select * from cet order by c1 collate "POSIX" limit 2
select * from cet order by c1 collate "POSIX" limit 2
explain (verbose, costs off) select x, x from (select (select now() where y=y) as x from (values(1),(2)) v(y)) ss
select count(*) from (select distinct two, four, two from tenk1) ss
explain (costs off) select sum(a) from (select distinct two as a, four as b from tenk1) ss
select sum(a), sum(b) from (select distinct two as a, four as b from tenk1) ss
explain (costs off) select b, count(a) from (select distinct two as a, four as b from tenk1 order by 2,1 limit 10) ss group by b
select b, count(a) from (select distinct two as a, four as b from tenk1 order by 2,1 limit 10) ss group by b order by b
create schema suite_t4; set search_path = suite_t4, public
create table boolindex (b bool, i int, unique(b, i), junk float)
insert into boolindex select g%2=0, g, g from generate_series(1,5000) g; insert into boolindex values (null,7,7); analyze boolindex
explain (costs off) select * from boolindex order by b, i limit 10
explain (costs off) select * from boolindex where b order by i limit 10
explain (costs off) select * from boolindex where b = true order by i desc limit 10
explain (costs off) select * from boolindex where not b order by i limit 10
explain (costs off) select * from boolindex where b is true order by i desc limit 10
explain (costs off) select * from boolindex where b is false order by i desc limit 10
select * from boolindex where b is false order by i desc limit 3; select * from boolindex where not b order by i limit 3
create table fx(a int, b int, c text); insert into fx select g%7, g%5, 'x'||g%3 from generate_series(1,3000) g; create index on fx(a,b); analyze fx
explain (costs off) select * from fx where a = 3 order by a, b limit 5
explain (costs off) select * from fx where a = 3 order by a
explain (costs off) select b, count(*) from fx where a = 3 group by a, b order by a, b
explain (costs off) select a, count(*) from fx where a = 3 group by a
select a, count(*) from fx where a = 3 group by a
explain (costs off) select distinct a from fx where a = 3
select distinct a from fx where a = 3
select distinct on (a) a, b from fx where a = 3 order by a, b
explain (costs off) select distinct on (a) a, b from fx where a = 3 order by a, b
select a, b, sum(b) over (partition by a order by b), rank() over (order by a) from fx where a = 3 order by 1,2 limit 3
explain (costs off) select * from fx where c = 'x1' order by c, a limit 3
explain (costs off) select * from fx where c = 'x1' collate "C" order by c, a limit 3
prepare px(int) as select a,b from fx where a = $1 order by a, b desc limit 2; execute px(2); execute px(5)
select x.a, y.b from fx x join fx y on x.a = y.a and x.a = 2 where y.b = 1 order by x.a, y.a limit 2
select (select min(b) from fx f2 where f2.a = f1.a) from fx f1 where b=1 order by b, a limit 3
explain (costs off) select * from (select a, b from fx where a = 2 order by a, b offset 0) s order by a, b limit 1
select * from (select a, b from fx where a = 2 order by a, b offset 0) s order by a, b limit 1
select a::numeric(5,2)+0 from fx where a::numeric(5,2)+0 = 3.00 order by 1 limit 1
select count(*) from (select a from fx where a = 2 union select b from fx where b=1) s
select a from fx where a = 2 group by a having count(*) > 1 order by a
select first_value(b) over w, a from fx where a = 1 window w as (partition by a order by a, b) order by b limit 2
explain (costs off) update fx set b = 1 where a = 3 and b = b
select array_agg(b order by a, b) from fx where a = 2 and b < 2 and c = 'x1'
explain (costs off) select max(b) from fx where a = 2
select max(b), min(b) from fx where a = 2
create schema suite_t5; set search_path = suite_t5, public
create table users (userid text, seq int, email text, todrop bool, moredrop int, enabled bool)
insert into users values ('id',1,'email',true,11,true)
insert into users values ('id2',2,'email2',true,12,true)
alter table users drop column todrop
create or replace function get_first_user() returns users as $$ SELECT * FROM users ORDER BY userid LIMIT 1; $$ language sql stable
SELECT get_first_user()
SELECT * FROM get_first_user()
create or replace function get_users() returns setof users as $$ SELECT * FROM users ORDER BY userid; $$ language sql stable
SELECT get_users()
SELECT * FROM get_users()
SELECT * FROM get_users() WITH ORDINALITY
SELECT * FROM ROWS FROM(generate_series(10,11), get_users()) WITH ORDINALITY
create temp view usersview as SELECT * FROM ROWS FROM(get_users(), generate_series(10,11)) WITH ORDINALITY
create temp view usersview1 as SELECT * FROM get_users()
create temp view usersview2 as SELECT * FROM get_first_user()
select * from usersview; select * from usersview1; select * from usersview2
alter table users add column junk text
select * from usersview; select * from usersview1; select * from usersview2
SELECT * FROM get_users(); SELECT get_users(); SELECT * FROM get_first_user()
begin
alter table users drop column moredrop
select * from usersview
rollback
alter table users alter column seq type numeric
select * from usersview
drop view usersview; drop view usersview1; drop view usersview2
create table department (id int primary key, parent int, name text)
insert into department values (0,null,'ROOT'),(1,0,'A'),(2,1,'B'),(3,2,'C'),(4,2,'D'),(5,0,'E'),(6,4,'F'),(7,5,'G')
with recursive q as (select * from department union all (with recursive x as (select * from department union all (select * from q union all select * from x)) select * from x)) select * from q limit 32
with recursive t(n) as (values (1) union all (select n+1 from t where n < 5 union all select n+10 from t where n < 3)) select * from t order by 1 limit 20
with recursive t(n) as (values (1) union (select n+1 from t where n < 5 union select n+2 from t where n < 5)) select * from t order by 1
with recursive t(n) as (values (1) union (select n+1 from t where n < 5 intersect select n+1 from t where n < 5)) select * from t order by 1
with recursive t(n) as (values (1.0) union (select n+1 from t where n < 5 except all select 3)) select * from t order by 1
create table dt(id int, f_time time, f_timetz timetz, f_interval interval, f_timestamptz timestamptz, f_timestamp timestamp)
insert into dt values (1, '11:00', '11:00 BST', '1 year', '2000-10-19 10:23:54+01', '2000-10-19 10:23:54'), (2, '12:00', '12:00 BST', '2 years', '2001-10-19 10:23:54+01', '2001-10-19 10:23:54'), (3, '13:00', '13:00 BST', '3 years', '2001-10-19 10:23:54+01', '2001-10-19 10:23:54'), (4, '14:00', '14:00 BST', '4 years', '2002-10-19 10:23:54+01', '2002-10-19 10:23:54'), (5, '15:00', '15:00 BST', '5 years', '2003-10-19 10:23:54+01', '2003-10-19 10:23:54'), (6, '23:30', '23:30 BST', '5 years', '2004-10-19 10:23:54+01', '2004-10-19 10:23:54'), (7, null, null, null, null, null)
select id, f_time, first_value(id) over w, last_value(id) over w from dt window w as (order by f_time range between '70 min'::interval preceding and '2 hours'::interval following)
select id, f_time, first_value(id) over w, last_value(id) over w from dt window w as (order by f_time desc range between '70 min' preceding and '2 hours' following)
select id, f_timetz, first_value(id) over w, last_value(id) over w from dt window w as (order by f_timetz range between '70 min'::interval preceding and '2 hours'::interval following)
select id, f_timetz, first_value(id) over w, last_value(id) over w from dt window w as (order by f_timetz desc range between '70 min' preceding and '2 hours' following)
select id, f_interval, count(*) over w, max(id) over w from dt window w as (order by f_interval range between '1 year'::interval preceding and '1 year'::interval following)
select id, f_interval, count(*) over w, min(id) over w from dt window w as (order by f_interval desc range between '1 year' preceding and '1 year' following)
select id, count(*) over (order by f_time range between '-1 min' preceding and '2 hours' following) from dt
select id, count(*) over (order by f_time range between '1 month -1 min' preceding and '2 hours' following) from dt
select id, count(*) over (order by f_interval range between '-1 min' preceding and '2 hours' following) from dt
select id, count(*) over (order by f_timetz range between '10 min' preceding and '-2 hours' following) from dt
select id, count(*) over (order by f_interval range between '178000000 years' preceding and '178000000 years' following) from dt
create schema suite_t6; set search_path = suite_t6, public
CREATE TABLE tidscan(id integer)
INSERT INTO tidscan VALUES (1), (2), (3)
EXPLAIN (COSTS OFF) SELECT ctid, * FROM tidscan WHERE ctid = '(0,2)' OR '(0,1)' = ctid
SELECT ctid, * FROM tidscan WHERE ctid = '(0,2)' OR '(0,1)' = ctid
EXPLAIN (COSTS OFF) SELECT ctid, * FROM tidscan WHERE (id = 3 AND ctid IN ('(0,2)', '(0,3)')) OR (ctid = '(0,1)' AND id = 1)
SELECT ctid, * FROM tidscan WHERE (id = 3 AND ctid IN ('(0,2)', '(0,3)')) OR (ctid = '(0,1)' AND id = 1)
EXPLAIN (COSTS OFF) SELECT ctid, * FROM tidscan WHERE ctid = ANY(ARRAY['(0,1)', '(0,2)']::tid[])
EXPLAIN (COSTS OFF) SELECT ctid, * FROM tidscan WHERE ctid != ANY(ARRAY['(0,1)', '(0,2)']::tid[])
SELECT t1.ctid, t1.*, t2.ctid, t2.* FROM tidscan t1 JOIN tidscan t2 ON t1.ctid = t2.ctid WHERE t1.id = 1
SELECT t1.ctid, t1.*, t2.ctid, t2.* FROM tidscan t1 LEFT JOIN tidscan t2 ON t1.ctid = t2.ctid WHERE t1.id = 1
SELECT t1.ctid, t2.id FROM tidscan t1 LEFT JOIN tidscan t2 ON t1.ctid = t2.ctid and t2.id > 1 order by 1
CREATE TABLE tidrangescan(id integer, data text)
EXPLAIN (COSTS OFF) SELECT ctid FROM tidrangescan WHERE ctid < '(1, 0)'
SELECT ctid FROM tidrangescan WHERE ctid < '(1, 0)'
EXPLAIN (COSTS OFF) SELECT ctid FROM tidrangescan WHERE ctid > '(9, 0)'
SELECT ctid FROM tidrangescan WHERE ctid > '(9, 0)'
INSERT INTO tidrangescan SELECT i,repeat('x', 100) FROM generate_series(1,200) AS s(i)
DELETE FROM tidrangescan WHERE substring(ctid::text from ',(\d+)\)')::integer > 10 OR substring(ctid::text from '\((\d+),')::integer > 2
VACUUM tidrangescan
SELECT ctid FROM tidrangescan WHERE ctid < '(1,0)'
EXPLAIN (COSTS OFF) SELECT ctid FROM tidrangescan WHERE ctid <= '(1,5)'
SELECT ctid FROM tidrangescan WHERE ctid <= '(1,5)'
SELECT ctid FROM tidrangescan WHERE ctid < '(0,0)'
SELECT ctid FROM tidrangescan WHERE ctid > '(2,8)'
EXPLAIN (COSTS OFF) SELECT ctid FROM tidrangescan WHERE '(2,8)' < ctid
SELECT ctid FROM tidrangescan WHERE '(2,8)' < ctid
SELECT ctid FROM tidrangescan WHERE ctid >= '(2,8)'
SELECT ctid FROM tidrangescan WHERE ctid >= '(100,0)'
EXPLAIN (COSTS OFF) SELECT ctid FROM tidrangescan WHERE ctid > '(1,4)' AND '(1,7)' >= ctid
SELECT ctid FROM tidrangescan WHERE ctid > '(1,4)' AND '(1,7)' >= ctid
SELECT ctid FROM tidrangescan WHERE ctid > '(1,4)' AND ctid < '(0,7)'
SELECT ctid FROM tidrangescan where ctid < '(4294967295,65535)' order by 1 limit 3
SELECT ctid FROM tidrangescan WHERE ctid < '(0,0)' and id = 3
SELECT ctid, id FROM tidrangescan WHERE ctid < '(1,0)' and id > 7
SELECT ctid FROM tidrangescan WHERE ctid > null
EXPLAIN (COSTS OFF) SELECT t.ctid,t2.c FROM tidrangescan t, LATERAL (SELECT count(*) c FROM tidrangescan t2 WHERE t2.ctid <= t.ctid) t2 WHERE t.ctid < '(1,0)'
SELECT t.ctid,t2.c FROM tidrangescan t, LATERAL (SELECT count(*) c FROM tidrangescan t2 WHERE t2.ctid <= t.ctid) t2 WHERE t.ctid < '(1,0)'
SELECT t.ctid, (select count(*) from tidrangescan t2 where t2.ctid > t.ctid and t2.id > 3) FROM tidrangescan t where t.ctid >= '(2,1)' order by 1
BEGIN
EXPLAIN (COSTS OFF) DECLARE c SCROLL CURSOR FOR SELECT ctid FROM tidrangescan WHERE ctid < '(1,0)'
DECLARE c SCROLL CURSOR FOR SELECT ctid FROM tidrangescan WHERE ctid < '(1,0)'
FETCH NEXT c
FETCH NEXT c
FETCH PRIOR c
FETCH FIRST c
FETCH LAST c
COMMIT
prepare pt(tid) as select ctid, id from tidrangescan where ctid >= $1 and ctid < '(1,3)' order by 1
execute pt('(0,9)'); execute pt('(1,1)'); execute pt(null)
update tidrangescan set id = id + 1000 where ctid > '(2,5)' returning id
delete from tidrangescan where ctid <= '(0,4)' returning id
select count(*) from tidrangescan
update tidscan set id = 30 where ctid in ('(0,3)') or ctid = '(0,2)' returning *
delete from tidscan t using tidscan u where t.ctid = u.ctid and u.id = 30 returning t.*
select * from tidscan t where ctid = (select max(ctid) from tidscan)
explain (costs off) select * from tidscan t where ctid = (select max(ctid) from tidscan)
set enable_tidscan = off
explain (costs off) SELECT ctid FROM tidrangescan WHERE ctid > '(1,4)'
SELECT ctid FROM tidrangescan WHERE ctid > '(2,4)'
reset enable_tidscan
create schema suite_t7; set search_path = suite_t7, public
create table tk as select g unique1, g%2 two, g%10 ten, g%100 hundred, (g%5)::numeric n5 from generate_series(0,4999) g; create index on tk(unique1)
create table txt(f1 text); insert into txt values ('doh!'),('hi de ho neighbor')
create table i8(q1 int8, q2 int8); insert into i8 values (123,456),(123,4567890123456789),(4567890123456789,123),(4567890123456789,4567890123456789),(4567890123456789,-4567890123456789)
vacuum analyze
explain (costs off) select count(*) from tk a, lateral generate_series(1,two) g
select count(*), sum(g) from tk a, lateral generate_series(1,two) g
explain (costs off) select count(*) from tk a, lateral generate_series(1,two) with ordinality g(x,o) where x = o
select count(*) from tk a, lateral generate_series(1,ten) with ordinality g(x,o) where x <> hundred
explain (costs off) select sum(o.two), sum(ss.a) from tk o cross join lateral (with recursive x(a) as (select o.ten as a union select a + 1 from x where a < 10) select * from x) ss where o.ten = 1
select sum(o.two), sum(ss.a) from tk o cross join lateral (with recursive x(a) as (select o.ten as a union select a + 1 from x where a < 10) select * from x) ss where o.hundred < 50
select * from txt t1 left join i8 on i8.q2 = 123, lateral (select i8.q1, t2.f1 from txt t2 limit 1) as ss where t1.f1 = ss.f1
select count(*), sum(x) from tk a, lateral (select sum(b.unique1) x from tk b where b.unique1 < a.ten) s
explain (costs off) select count(*), sum(x) from tk a, lateral (select sum(b.unique1) x from tk b where b.unique1 < a.ten) s
select a.n5::text, x from (values (1.0),(1.00),(1.000)) v(z), tk a, lateral (select max(v.z::text || b.two) x from tk b where b.unique1 < 3) s where a.unique1 = 3 order by 2
select v.z, s.x from (values (1.0),(1.00),(1.000),(1.0)) v(z), lateral (select v.z::text || count(*) x from tk b where b.unique1 < 3 limit 1) s order by 2
select (select count(*) from tk a, lateral generate_series(1, a.two + o.ten) g where a.unique1 < 20) from tk o where o.unique1 < 5 order by o.unique1
select o.unique1, (select sum(s.c) from tk a, lateral (select count(*) c from tk b where b.unique1 < a.two + o.ten) s where a.unique1 < 20) from tk o where o.unique1 < 5 order by o.unique1
select count(distinct r) > 1 from tk a, lateral (select random() + a.two as r limit 1) s
select a.ten, s.* from tk a left join lateral (select a.two + b.two as x, b.unique1 from tk b where b.unique1 = a.ten limit 1) s on s.x > 0 where a.unique1 < 12 order by 1,2,3
select a.ten, g from tk a left join lateral unnest(array[a.two, null, a.ten]) g on g > 3 where a.unique1 < 12 order by 1,2
select a.unique1 from tk a where exists (select 1 from lateral generate_series(1,a.ten) g where g = 7) and a.unique1 < 30 order by 1
select a.two, x from tk a, lateral (values (a.two), (a.ten)) v(x) where a.unique1 < 4 order by 1,2
update tk set two = s.x from tk b, lateral (select max(c.ten) x from tk c where c.unique1 <= b.two) s where tk.unique1 = b.unique1 and tk.unique1 < 5 returning tk.unique1, tk.two
select count(*) from tk a left join tk b on a.unique1 = b.unique1, lateral (select b.two where b.two is not null) s
create table ex(a int, b int); create index exi on ex((coalesce(a,1)), b); insert into ex select case when g%3=0 then null else g%4 end, 1000-g from generate_series(1,1000) g; create table ey(b int); insert into ey select g from generate_series(1,1000) g; analyze ex; analyze ey
set enable_hashjoin = off; set enable_nestloop = off
select count(*), sum(ex.b) from ey left join ex on ey.b = ex.b where coalesce(ex.a,1) = 1
select count(*), sum(ex.b) from ey full join ex on ey.b = ex.b where coalesce(ex.a,1) = 1
select count(*), sum(ex.b) from ey join ex on ey.b = ex.b where coalesce(ex.a,1) = 1
reset enable_hashjoin; reset enable_nestloop
create schema suite_t8; set search_path = suite_t8, public
create table ict(key int4, fruit text); create unique index on ict(key); create unique index on ict(lower(fruit), key)
create view icv as select fruit, key from ict
explain (costs off) insert into icv values ('Crow', 0) on conflict (key) do update set fruit = excluded.fruit where icv.key > 0
explain (costs off) insert into icv values ('Crow', 0) on conflict (lower(fruit), key, lower(fruit), key) do nothing
insert into icv values ('Apple', 1) on conflict (key) do update set fruit = excluded.fruit returning *
insert into icv values ('Pear', 1) on conflict (key) do update set fruit = excluded.fruit || '/' || icv.fruit returning *
insert into icv values ('Plum', 1) on conflict (key) do nothing returning *
insert into icv as t values ('Fig', 1) on conflict (key) do update set fruit = excluded.fruit where t.fruit like 'Pear%' and excluded.key = 1 returning t.*, t.fruit
insert into icv as t values ('Fig', 1) on conflict (key) do update set (fruit, key) = (select excluded.fruit || 'x', excluded.key + t.key) returning *
select * from ict
insert into icv values ('Kiwi', 2) on conflict (nokey) do nothing
insert into icv values ('Kiwi', 2) on conflict on constraint nokey do nothing
insert into icv values ('Kiwi', 2) on conflict (key) do update set nocol = 1
create view icvw as select * from ict where fruit <> 'bad' with cascaded check option
insert into icvw values (2, 'good') on conflict (key) do update set fruit = excluded.fruit
insert into icvw values (2, 'better') on conflict (key) do update set fruit = excluded.fruit
insert into icvw values (2, 'bad') on conflict (key) do update set fruit = excluded.fruit
insert into icvw values (2, 'ok') on conflict (key) do update set fruit = 'bad'
select * from ict order by key
create view icvv as select key as k, fruit as f from icvw where key < 100
insert into icvv(f,k) values ('n1', 7), ('n2', 2) on conflict (k) do update set f = excluded.f || excluded.k returning *
create view icve as select key, fruit, key + 1 as next from ict
insert into icve(key, fruit) values (2, 'e') on conflict (key) do update set fruit = 'n' || excluded.next returning *
insert into icve(key, fruit) values (2, 'e') on conflict (key) do update set next = 3
insert into icve(key, fruit, next) values (2, 'e', 4) on conflict (key) do nothing
insert into icve(key, fruit) values (2, 'e') on conflict (next) do nothing
select * from ict order by key
create table rw1(a text, b int unique, c int default 9); create view rwv as select b as bb, c as cc, a as aa from rw1
insert into rwv (aa,bb) values ('xxx',1)
insert into rwv (aa,bb) values ('xxx',1) on conflict (bb) do update set aa=excluded.aa
insert into rwv (aa,bb) values ('zzz',1) on conflict (bb) do update set aa=excluded.cc, cc = excluded.bb
explain (verbose, costs off) insert into rwv (aa,bb) values ('zzz',1) on conflict (bb) do update set aa=excluded.aa where excluded.aa <> ''
select * from rwv
alter table rw1 drop column c
alter table rw1 add column d int default 5
create view rwv2 as select d, b, a from rw1
insert into rwv2 (a,b) values ('q',1) on conflict (b) do update set a = excluded.d::text returning *
prepare pv(int) as insert into rwv2(b, a) values ($1, 'p') on conflict (b) do update set d = excluded.b + $1 returning *; execute pv(1); execute pv(3); execute pv(3)
create table mods(a varchar(5), b char(3), n numeric(5,2), c text collate "C"); insert into mods values ('a','b',1,'x'),('q','b',2,'y'),('z','k',3,'z')
create table mods2(a varchar(9), b char(7), n numeric(9,4), c text); insert into mods2 values ('a','b',1,'x'); analyze mods; analyze mods2
select [[a¦b¦n¦c]] from mods [[union¦union all¦intersect¦intersect all¦except]] select [[a¦b¦n]] from mods2 where true
select x, count(*) from (select [[a¦b¦n¦c]] from mods [[union¦union all¦intersect¦intersect all¦except]] select [[a¦b¦n¦c]] from mods2) s(x) group by x
select x, count(*) from (select [[a¦b¦n¦c]] from mods2 [[union¦intersect all¦except]] select [[a¦b¦n¦c]] from mods) s(x) group by rollup(x)
select count(*), max(x), min(y) from (select a, n, c from mods [[union¦intersect¦except all]] select a, n, c from mods2) s(x,y,z)
select z from (select a, n, c from mods [[union¦intersect¦except all]] select a, n, c from mods2) s(x,y,z) group by z, y order by [[z¦y, z]]
