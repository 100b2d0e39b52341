select 1
select 'x'
select 1, 'x'::text, 2::bigint, now(), null, 'a'::varchar(5), 'b'::char(3), 1::numeric(6,2)
select * from t
select a from t
select a, a from t
select b, d from t where a < 10
select a + 1, b || 'x', f * 2 from t
select f::numeric(6,1), d::varchar(20), e::char(9), h::bit(4) from t
select t from t
select ctid, xmin, tableoid from t
select * from empty
select z, n, w from empty
select empty from empty
select count(*) from t
select sum(a), avg(f), max(b), min(d) from t
select c, count(*), sum(f) from t group by c
select c, b, count(*) from t group by c, b having count(*) > 1
select distinct c from t
select distinct a % 3 from t
select b from t order by a
select b from t order by a + 1
select a, b from t order by c, d limit 5
select t.b, u.b from t join u on t.a = u.a
select u.v from t join u on t.i = u.a
select t.a from t left join u on t.a = u.a where u.v is null
select 1 from t, u where t.a = u.a
select t.b, u.b, u2.v from t, u, u u2 where t.i = u.a and t.a = u2.a
select * from generate_series(1, 10) g
select g::text from generate_series(1, 10) g
select g, s from generate_series(1, 10) g, lateral (select b as s from t where a = g) x
select * from unnest(array['a','b']) with ordinality
select * from (values (1, 'a'), (2, 'b')) v(x, y)
values (1, 'x'::varchar(7), 2.5), (2, 'y', 3)
select x from (select a as x, count(*) as n from t group by a) s where n > 1
select bc from tv
select s.k from (select b || 'x' as k, a from t offset 0) s
select s.a from (select a, b from t offset 0) s
with w as materialized (select a, b from t) select b from w
with recursive r(n, s) as (select 1, 'a'::text union all select n + 1, s from r where n < 5) select * from r
select a, b from t union all select a, v from u
select a from t union select a from u
select b from t intersect select b from u
select c from t except select v from u
select rank() over (order by a), b from t
select sum(a) over (partition by c), lag(b) over (order by a) from t
select generate_series(1, 3), a from t
select (select b from u where u.a = t.a) from t
select a from t where a in (select a from u where v = 'vv')
select a from t where exists (select 1 from u where u.a = t.a)
select min(a), max(a) from t
insert into empty select a, b from t
update t set b = 'x' where a = 5
update t set b = 'x' where a = 5 returning *
delete from t using u where t.a = u.a
select case when a > 1 then 'a'::varchar(4) else 'b' end, a::short, row(a, b)::pair from t
select a from t for update
select array_agg(b), string_agg(c, ',') from t
select c, grouping(c) from t group by rollup(c, e)
