-- Conflicting collations.
CREATE SCHEMA collations; SET search_path = collations
create table cc (a text collate "C", b text collate "POSIX", d text)
insert into cc values ('a','b','c')
select a < b from cc
select a = b from cc
select a || b from cc
select a || b < d from cc
select a < d, b< d, a||d < b from cc
select * from cc order by a || b
select a from cc union select b from cc
select a from cc union all select b from cc
select case when true then a else b end collate "C" from cc
select coalesce(a,b) < 'x' from cc
select array[a,b] from cc
select max(a||b) from cc
select a like b from cc
select a ~ b from cc
select upper(a||b) from cc
select (a collate "C") < (b collate "POSIX") from cc
select 'x' collate "C" < 'y' collate "POSIX"
select 'x' collate "C" || 'y' collate "POSIX"
select row(a) < row(b) from cc
select a in (b) from cc
select a in (select b from cc) from cc
select a = any(array[b]) from cc
select * from cc x join cc y on x.a < y.b
select nullif(a,b) from cc
select a is distinct from b from cc
select a between b and d from cc
select percentile_disc(0.5) within group (order by a||b) from cc
select percentile_disc(0.5) within group (order by a collate "C", b) from cc
select rank('x' collate "C") within group (order by a collate "POSIX") from cc
select rank('x') within group (order by a) from cc
select rank('x' collate "C") within group (order by d) from cc
select rank('x'::text) within group (order by d collate "C") from cc
select mode() within group (order by a || b) from cc
select rank(a,b) within group (order by b,a) from cc group by a, b
select string_agg(a, b) from cc
select string_agg(a, ',' order by a||b) from cc
select max(a) filter (where a<b) from cc
select lag(a, 1, b) over (order by a) from cc
select lag(a, 1, b) over (order by a||b) from cc
create table cc2 as select a||b as x from cc
create view ccv as select a||b as x from cc
create view ccv2 as select a as x from cc
create or replace view ccv2 as select b as x from cc
create or replace view ccv2 as select a::varchar as x from cc
create or replace view ccv2 as select a as y from cc
create or replace view ccv2 as select 1 as z
create or replace view ccv2 as select a as x, b from cc
create or replace view ccv2 as select d as x, b from cc
create index on cc ((a||b))
create index on cc ((a||b) collate "C")
create index on cc ((a<b))
alter table cc add check (a < b)
select x from (values ('a' collate "C"), ('b' collate "POSIX")) v(x)
select x from (values ('a' collate "C"), ('b' collate "POSIX")) v(x) order by x
with recursive r(x) as (select 'a' collate "C" union all select x collate "POSIX" from r where false) select * from r
with recursive r(x) as (select 'a'::text union all select x collate "POSIX" from r where false) select * from r
select position(a in b) from cc
select initcap(a||b), lower(a||b) from cc
select distinct a||b from cc
select a||b from cc group by 1
select 1 from cc group by a||b
select to_char(1, a||b) from cc
select a||b collate "nope" from cc
select 1 collate "C"
select a collate "C" collate "POSIX" from cc
prepare pp as select $1 < a from cc; execute pp('x')
select pg_collation_for(a||b) from cc
select pg_collation_for(a), pg_collation_for(d), pg_collation_for(a collate "POSIX") from cc
select length(a||b), md5(a||b), a||b is null from cc
SET client_min_messages = error; DROP SCHEMA collations CASCADE
