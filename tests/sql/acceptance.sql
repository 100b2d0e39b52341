-- Index-only scans of indexes with expressions.
CREATE SCHEMA acceptance; SET search_path = acceptance
create table ios (a int, b text, c int, d text)
insert into ios select g, 'T' || g, g % 10, 'd' from generate_series(1, 3000) g
create index on ios (lower(b)); create index on ios (a, lower(b)); create index on ios (c, (a + c), b); create index on ios ((c * 2)) include (d) where a > 10
vacuum analyze ios
select count(*) from ios where lower(b) [[= 't77'¦in ('t1', 't2')¦between 't10' and 't11'¦like 't1%']]
select a from ios where a = 5[[¦ and lower(b) = 't5']]
select [[c, b¦c¦count(*)¦b]] from ios where c = 3 and a + c = 16[[¦ and b > 'T']]
select [[count(*)¦max(d)¦1]] from ios where c * 2 = 4 and a between 11 and 20
select max(lower(b)), (select a from ios where a = 7) from ios
set enable_seqscan = off; set enable_bitmapscan = off
explain (costs off) select [[a from ios where a = 5 and lower(b) = 'x'¦b from ios where c = 5¦1 from ios where c = 5 and a + c > 3¦count(*) from ios where lower(b) = 't77'¦d from ios where c * 2 = 4 and a > 10]]
select x.a from ios x join ios y on lower(x.b) = lower(y.b) where y.a = 5
reset enable_seqscan; reset enable_bitmapscan
-- Deferrable constraints as arbiters.
create table arbiters (id int primary key, a int unique deferrable initially deferred, b int, constraint ab unique (a, b) deferrable)
insert into arbiters values (1, 1, 1)
insert into arbiters values ([[1¦2]], 2, 2) on conflict [[¦(a) ¦(id) ¦on constraint ab ]]do [[nothing¦update set b = 1]]
insert into arbiters select 3, 3, 3 where false on conflict (a) do nothing
explain (costs off) insert into arbiters values (2, 2, 2) on conflict (a) do nothing
create unique index on arbiters (a)
insert into arbiters values (7, 1, 7) on conflict (a) do nothing
explain (costs off) insert into arbiters values (7, 1, 7) on conflict (a) do nothing
-- Lower bounds of arrays that are concatenated.
select [[array[[1,2]]¦'[1:1][0:1]={{1,2}}'::int[]¦'[5:5][1:2]={{1,2}}'::int[]¦'[0:1]={1,2}'::int[]¦array[1,2]¦'[0:1][5:6]={{1,2},{3,null}}'::int[]¦array[[[1,2]]]]] || [[array[[3,4]]¦'[1:1][0:1]={{1,2}}'::int[]¦'[0:0][0:1]={{3,4}}'::int[]¦array[3]¦array[5,6]¦'[0:1]={5,6}'::int[]]]
-- Equal keys of json.
select '[[{"a":{"b":{"c":"deep"}},"a":2}¦{"a":{"b":1},"a":{"c":2}}¦{"a":{"b":1},"a":{"b":null}}¦{"a":[1,2],"a":{"1":7}}¦{"a":1,"a":null}¦[{"a":{"b":2},"a":[]}]]]'::json [[#>¦#>>]] '{[[a,b¦a,1¦a¦a,b,c¦0,a,b¦a, 1¦a,"1 "]]}'
-- Escapes at the end of a pattern.
select '[[¦a¦ab¦ba]]' [[like¦not like¦ilike]] '[[%\¦_\¦%_\¦%a\¦%b\¦_%\¦%\%\¦\¦\a\]]'
-- Format templates that do not fit the number.
select to_char([[214748364¦-214748365¦0¦1::int8¦922337203685477580::int8¦2::int2¦3::numeric¦3::float8]], '[[V9¦V9999999999¦V99999999999999999999¦99]]')
select to_char('[[NaN¦inf¦-inf]]'::[[numeric¦float8¦float4]], '[[999th¦99999999TH¦9.9th¦9th]]')
select to_char(interval '[[-04:05:06¦-12:00¦-13:00¦13:00¦36:00¦-36:00]]', 'HH12 HH24 AM p.m.')
-- Dates, times and intervals.
select interval '[[PT¦P¦P1DT¦PT1H]]'[[¦ year¦ minute]]
select '[[04:05:06¦2024-01-01 04:05:06]] [[PST8¦EST5EDT¦GMT+3¦y¦Etc/GMT-3]]'::[[time¦timetz]]
select '[[2024-01-01¦2024-01-01 10:00]] [[y¦d¦h¦j¦m 10:00]]'::[[date¦timestamp¦timestamptz]]
create table precise (x [[time(9)¦timestamp(7) with time zone¦interval(8)¦interval second(8)¦timetz(6)]])
create table remarks (x time(9), y interval(8)); alter table remarks add z timetz(8)
select '[[12:00'::time(7)¦1'::interval(9)¦2024-01-01'::timestamptz(10) is null¦2024-01-01'::timestamp(6)]]
create domain precise_domain as time(9); create view precise_view as select '1:00'::time(8)
-- Types of columns, parameters and the expression of USING.
create table sets (x [[setof int¦int, y setof text]])
create type set_type as (a setof int)
create function missing_type([[nope¦a nope[]¦a nope.x¦out nope¦a int, b nope]]) returns int language sql as 'select 1'
create function missing_type() returns [[nope¦nope[]¦setof nope¦nope.x¦table (b nope)]] language sql as 'select 1'
select * from (select 1 a, 2 b) x [[join¦full join¦right join]] (select [['x' a¦date '2024-01-01' a, 2 b¦1::int8 a]]) y [[using (a)¦using (a, b)]]
select * from (select 1 a) x natural join (select 'x' a) y
create function out_first(out x int, inout y int) language sql begin atomic select [[y, y + 1¦x, x + 1]]; end
select pg_get_functiondef('out_first'::regproc), out_first(3)
select '[[int4 as x¦int, int¦x y¦aAbB¦"aAbB"¦INT¦varchar(5)¦setof int¦pg_catalog.INT4¦pg_catalog."INT4"¦numeric(5¦int;select 1¦int(5)¦user¦¦ ¦int4--x¦ int4 ¦nope[]]]'::regtype
select '+(int)'::regoperator
select 'ab' ~ '[[[a-¦[a-b-¦[a-b¦x[-¦[a-]¦[^a-]]'
-- Among indexes of equal cost the newest one is used.
create table tied (a int, b int, c int); insert into tied select g, g, g from generate_series(1, 1000) g
create index on tied (a); create index on tied (a); create index on tied (b); create index on tied (a, b); create unique index on tied (c); create unique index on tied (c)
vacuum analyze tied
explain (costs off) select * from tied where [[a = 1¦b = 1¦a = 1 and b = 1¦b = 1 and a in (1, 2)¦c = 1]]
explain (costs off) select * from tied order by [[a¦b¦a, b¦c]] limit 1
explain (costs off) insert into tied values (1, 1, 1) on conflict (c) do nothing
drop table tied
SET client_min_messages = error; DROP SCHEMA acceptance CASCADE
