create table void (a int, b text)
create table some (a int, b text)
insert into some values (0, 'x'), (1, 'y'), (null, null)
select * from void where [[1/0 = 1¦a = 1/0¦1/0 = a¦a in (1, 1/0)¦a = any (array[1, 1/0])¦a = 1 and 1/0 = 2¦a = 1 or 1/0 = 2¦not (1/0 = 1)¦a between 1 and 1/0¦a is distinct from 1/0¦(a, 1/0) = (1, 2)¦1/0 is null¦(1/0 = 1) is true]]
select * from void where [[false and 1/0 = 1¦1/0 = 1 and false¦true or 1/0 = 1¦null and 1/0 = 1¦a = 1 and false and 1/0 = 1¦(1 = 2 and 1/0 = 1) or a = 3¦1 = 1 or (1/0 = 1 and a = 1)]]
select * from some where [[false and 1/0 = 1¦1/0 = 1 and false¦true or 1/0 = 1¦a = 1 and false and 1/0 = 1¦(1 = 2 and 1/0 = 1) or a = 1¦1 = 1 or (1/0 = 1 and a = 1)¦a = 1 and 1/a = 1¦a <> 0 and 1/a = 1]]
select [[1/0¦a, 1/0¦case when true then 1 else 1/0 end¦case when false then 1/0 else 2 end¦case when a = 1 then 1/0 else 2 end¦case 1 when 1 then 2 else 1/0 end¦case 2 when 1 then 1/0 when 2 then 3 else 1/0 end¦case 1/0 when 1 then 2 end¦case a when 1/0 then 2 end¦case when null then 1/0 end¦coalesce(1, 1/0)¦coalesce(null, 1, 1/0)¦coalesce(a, 1/0)¦coalesce(a, 1, 1/0)¦coalesce(1/0, 1)¦nullif(1, 1/0)¦greatest(1, 1/0)¦array[1, 1/0]¦row(1, 1/0)¦sum(1/0)¦count(a/0)¦max(a) / 0¦abs(1/0)¦lower(substr('abc', 2, -1))¦sqrt(-1)¦null + 1/0¦1 + null::int / 0]] from [[void¦some]]
select [[1 / 0¦2147483647 + 1¦10::numeric / 0¦'abc' ~ '('¦substring('abc' from 2 for -1)¦ln(0)¦chr(-1)¦to_char(1, '9') || 1/0¦'2020-01-01'::date + 1000000000¦array[1,2,3][1/0]¦('{1,2,3}'::int[])[2]¦'{1,2}'::text[]::int[]¦'{a}'::text[]::int[]¦-(-2147483648)]]
select * from void where [[a = length('abc')/0¦a = abs(-5) / 0¦b = repeat('x', 3) || 1/0¦b = substr('abc', 2, -1)¦a > sqrt(-1)¦b ~ '('¦b like 'x\'¦coalesce(1, 1/0) = a¦coalesce(1, 1/0, a) = a¦coalesce(null, 1/0, a) = a¦case when 1 = 2 then 1/0 else 2 end = a¦case when 1 > a then 1/0 else 2 end = a¦case 1 when 1 then 2 else 1/0 end = a¦case 3 when a then 2 else 1/0 end = a]]
select * from void order by [[1/0¦a/0¦a + 1/0]]
select * from void limit [[1/0¦2 - 3¦null¦0]]
select * from void offset [[1/0¦2 - 3]]
select a from void group by a having [[1/0 = 1¦count(*) = 1/0¦a = 1/0]]
select a, 1/0 from void group by a
select distinct 1/0 from void
select sum(a) over (order by 1/0) from void
select * from void v join some s on [[v.a = 1/0¦1/0 = 1¦v.a = s.a and 1/0 = 1¦false and 1/0 = 1]]
select * from (select 1/0 as x from void) s
select * from (select a from void where a = 1/0) s where a = 2
select (select 1/0 from void)
select [[exists (select 1/0 from void)¦exists (select 1 from void where 1/0 = 1)¦1 in (select 1/0 from void)]]
with w as (select 1/0 from void) select 1
with w as (select 1/0 as x from void) select * from w
select 1/0 from void union all select 2
insert into void values [[(1/0, 'a')¦(1, 'a'), (2/0, 'b')]]
insert into void select 1/0, 'x' from void
insert into void select 1, 'x' from void where 1/0 = 1
update void set [[a = 1/0¦a = 1 where 1/0 = 1¦a = 1 where false and 1/0 = 1¦a = length('x') / 0]]
delete from void where [[a = 1/0¦1/0 = 1¦a = 1 or a = 5 % 0]]
insert into void values (1, 'a') returning 1/0
select count(*) from void
create table late (a int default 1/0, b int check (b > 1/0))
create table late (a int default 1/0, b int)
insert into late (b) select 1 from void
insert into late (b) values (1)
insert into late values (1, 1)
select * from late
create index on void ((1/0))
create index on void (a) where a > 1/0
create view vw as select 1/0 as x from void
select * from vw
prepare p (int) as select * from void where a = 1/$1
execute p(0)
execute p(1)
prepare q (int, int) as select * from void where a = $1 and case when $1 = 0 then 1 else 1/$2 end = a
execute q(0, 0)
execute q(1, 0)
prepare r (text) as insert into void values (1, substr('abc', 2, $1::int))
execute r('-1')
execute r('1')
prepare s (int) as select coalesce($1, 1/0)
execute s(1)
execute s(null)
prepare t (int) as select a from some where a is not null and (a = 0 or a/$1 > 0)
execute t(0)
execute t(1)
explain (costs off) select 1/0
explain (costs off) select * from void where a = 1 + 1 and b = lower('ABC')
explain (costs off) execute p(0)
create function half(int) returns int language sql immutable as 'select 10 / $1'
select half(0) from void
select * from void where a = half(0)
select * from void where a = half(1)
select case when a is null then half(0) end from void
create function bad() returns int language sql immutable as 'select 1/0'
select bad() from void
drop function half(int)
declare c cursor for select 1/0 from void
begin
declare c cursor for select 1/0 from void
rollback
copy (select 1/0 from void) to stdout
SELECT [[1_2_3¦0x1F¦0b¦0o7¦1.5_5¦1e5_0¦.5a1¦1e¦1_000.5¦1__2¦0xg¦1a.b]], 2
SELECT [['1_0'¦"1_0"¦$$1_0$$¦$a1$1_0$a1$¦E'\' 1_0'¦N'1_0'¦/* 1_0 /* */ 1_0 */ 1¦1 AS a1_0¦'x' '1_0'¦B'10'¦X'1F'¦U&'\0061 1_0']]
PREPARE junk AS SELECT [[$1a¦$1_2¦$1abc + 1_0]]
EXPLAIN (VERBOSE, COSTS OFF) SELECT nullif(null::int, g), nullif(g, null::int), nullif(1, g), nullif(null, 1), nullif(1, null), CASE nullif(('{}'::int[])[1], g) WHEN g + 1 THEN 'a'::text WHEN 7 THEN NULL ELSE 'b'::varchar(10) END FROM generate_series(1, 2) g
SELECT CASE nullif(('{}'::int[])[1], g) WHEN g + 1 THEN 'a'::text WHEN 7 THEN NULL ELSE v END, nullif(g, null::int) FROM (VALUES (1, 'x'::varchar(10))) t(g, v)
-- Type modifiers of columns that outer joins and grouping sets preserve in their subquery.
CREATE TABLE tmod (id int, n numeric(8,2), ts timestamp)
SELECT s.* FROM (VALUES (1)) v(x) LEFT JOIN (SELECT id, COALESCE(n, NULL::numeric)::numeric, CASE WHEN true THEN ts::timestamp(0) ELSE ts END, n + 1, random()::numeric(5,2) FROM tmod) s ON s.id = v.x
SELECT s.* FROM (VALUES (1)) v(x) LEFT JOIN (SELECT id, COALESCE(n, NULL::numeric)::numeric, CASE WHEN true THEN ts::timestamp(0) ELSE ts END, n + 1 FROM tmod) s ON s.id = v.x
SELECT o, grouping(o) FROM (SELECT CASE WHEN true THEN ts::timestamp(0) ELSE ts END AS o FROM tmod) s GROUP BY ROLLUP (o)
SELECT o, grouping(o) FROM (SELECT CASE WHEN true THEN ts::timestamp(0) ELSE ts END AS o FROM tmod OFFSET 0) s GROUP BY ROLLUP (o)
DROP TABLE tmod
SELECT count(*) FROM (VALUES (1)) v(x) LEFT JOIN (SELECT g, [[1/0¦COALESCE(1/0, g)]] AS z FROM generate_series(1, 2) g) s ON s.g = v.x
-- Parameters in places where the grammar requires literals.
SELECT [[date $1¦interval $1¦interval(3) $1¦interval $1 year¦nosuch $1¦nosuch(3) $1¦timestamp with time zone $1¦extract($1 FROM now())¦'x', float $1¦$1 + date $2]]
SET [[ROLE $1¦TIME ZONE $1¦SCHEMA $1¦SESSION AUTHORIZATION $1¦work_mem = $1¦work_mem TO 1, $1¦LOCAL work_mem = $1]]
[[CREATE¦ALTER]] ROLE newer_a [[PASSWORD $1¦ENCRYPTED PASSWORD $1]]
[[ALTER SYSTEM SET work_mem = $1¦ALTER ROLE newer_a SET work_mem = $1¦ALTER DATABASE newer SET work_mem TO 1, $1]]
CREATE FUNCTION newer() RETURNS int LANGUAGE sql SET work_mem = $1 AS ''
SELECT 1; SELECT nosuch; SET work_mem = $1
