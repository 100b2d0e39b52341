-- Columns that the query does not use: volatile ones are evaluated, others are not.
create table unused(a int, b int)
insert into unused select g, g % 3 from generate_series(1, 5) g
create sequence unused_seq
create function unused_notice(i int) returns int language plpgsql as $$ begin raise notice 'called with %', i; return i; end $$
create function unused_stable(i int) returns int language plpgsql stable as $$ begin raise notice 'called with %', i; return i; end $$
with x as materialized (select a, [[unused_notice(a)¦unused_stable(a)¦1 / (a - a)]] n from unused) select [[a¦count(*)¦1]] from x[[¦ group by a]]
-- A member of UNION ALL.
select [[a¦count(a)¦1]] from (select a, [[unused_notice(a)¦unused_stable(a)]] n from unused union all select b, [[unused_notice(-b)¦1]] from unused) z where a > 1 group by a
select 1 from (select a, unused_notice(a) from unused union all select a, unused_notice(-a) from unused) z limit 1
select a from (select a, unused_notice(a) n from unused union all (select a, 1 from unused union all select a, unused_notice(-a) from unused)) z
select a from (select a, unused_notice(a) n from unused union all select b, 1 from unused order by n) z
select a from (select a, unused_notice(a) n from unused union all select b, 1 from unused order by a limit 3) z
select a from (select distinct a, unused_notice(a) n from unused where a < 3 union all select b, 1 from unused) z
select z.a from unused t, lateral (select t.a, unused_notice(t.a) n union all select t.b, 1) z where t.a < 4
select t.a from unused t where t.a in (select z.b from (select b, unused_notice(a) n from unused union all select a, 1 from unused) z)
explain (verbose, costs off) select a from (select a, unused_notice(a) n from unused union all select a, 1 from unused) z where a > 4
create view unused_view as select a, unused_notice(a) n from unused union all select b, unused_notice(-b) from unused
select count(*) from unused_view
select max(a) from unused_view
select a from unused_view where a = 0
select v.a from unused_view v join unused using (a) where b = 1
select exists (select 1 from unused_view)
with x as (select a, unused_notice(a) n from unused union all select b, unused_notice(-b) from unused) select max(a) from x
-- The only reference to the outer row is not used.
select count(*) from unused t, lateral (select t.a, unused_notice(7) n) y
select count(*) from unused t, lateral (select t.a, unused_stable(7) n) y
select count(*) from unused t, lateral (select 7, unused_notice(3) n union all select t.a, 1) z
-- DISTINCT ON compares its own columns only.
select 1 from (select distinct on (a) a, unused_stable(b) from unused order by a) x
select 1 from (select distinct on (a) a, unused_notice(b) from unused order by a) x
select 1 from (select distinct a, unused_stable(b) from unused where a = 1 order by a) x
