-- CASE over many rows: the branches are tested in order, and a result is evaluated only for its rows.
CREATE SCHEMA casecol; SET search_path = casecol
create table t as select g id, g % 7 x, case when g % 5 = 0 then null else g % 11 end y, 'text ' || g % 13 s, (g % 17)::numeric / 4 n, g % 3 = 0 b from generate_series(1, 5000) g
select sum(case when x > 3 then y else x end), sum(case when x = 0 then 1 end), count(case when y > 5 then 1 end) from t
select sum(case when x = 0 then 0 else 100 / x end), sum(case when x <> 0 then 100 / x end) from t
select sum(case when x = 0 then 0 when 100 / x > 30 then 1 else 2 end) from t
select sum(case when x > 0 and 100 / x > 20 then 1 when x = 0 or 100 / x > 10 then 10 else 100 end) from t
select sum(case when 100 / x > 20 then 1 else 0 end) from t
select sum(case when x = 0 then 100 / x else 0 end) from t
select sum(case x when 0 then 5 when 1 then y when 2 then null else -1 end), sum(case y when null then 1 when 4 then 2 else 3 end) from t
select case x when 0 then 'zero' when 1 then s when 2 then upper(s) end v, count(*), min(id) from t group by 1 order by 1
select case when y is null then 'none' when y in (1, 3, 5) then 'odd' when y not in (2, 4, 6) then 'great' else 'even' end v, count(*) from t group by 1 order by 1
select case when b then n else -n end v, count(*) from t group by 1 order by 1 limit 9
select sum(case when b then case when x > 2 then case y when 3 then 1 when 4 then x else 2 end else 3 end else case when y is null then 4 end end) from t
select id, case when id % 2 = 0 then s when y is null then null else s || '!' end from t where id < 30 order by id
select id, case id when 3 then case y when 3 then 'both' else 'one' end when y then 'same' else 'no' end from t where id < 12 order by id
select count(*) from t where case when x = 0 then false when 20 / x > 5 then y > 3 else y is null end
select count(*) from t where not case when x = 0 then null else 20 / x > 5 end
select count(*) filter (where case x when 1 then b when 2 then not b end) from t
select sum(case when x > any(array[2, 4]) then 1 when x = all(array[0]) then 2 else 3 end), sum(case when s like 'text 1%' then 1 else length(s) end) from t
select sum(case when (x, y) = (1, 2) then 1 when row(x, y) is null then 2 when y is distinct from 3 then 3 else 4 end) from t
create sequence q
select sum(case when x > 3 then 0 else nextval('q') * id end) from t where id < 100
select case when x > 3 then nextval('q') end v, case when x <= 3 then nextval('q') end w from t where id < 20 order by id
select sum(case when nextval('q') % 2 = 0 then id else 0 end), last_value from t, (select last_value from q) l where id < 50 group by 2
select sum(case when x = (select max(x) from t) then 1 when exists (select from t u where u.id = t.id and u.y = 3) then 2 else 3 end) from t
select count(*), sum(length(v)) from (select case when id % 2 = 0 then repeat(s, 300) when x = 1 then repeat('y', 3000) end v from t offset 0) z
select sum(length(case when id % 1000 = 0 then repeat('wide', 300000) else s end)) from t
select sum(case when a.x > b.x then a.y else b.y end) from t a join t b on a.id = b.id + 1
select sum(case when b.id is null then 1 when b.x = 2 then a.y end) from t a left join t b on a.id = b.id * 2
select sum(case a.x when b.x then 1 when b.y then 2 else 3 end) from t a, t b where a.id = b.id
update t set y = case when x = 0 then -1 when 100 / x = 50 then y + 1 else y end where id <= 40
select id, y from t where id <= 15 order by id
create domain positive as int check (value > 0)
select sum(case when x > 0 then x::positive else 1 end) from t
select sum(case when x > 0 then 1 else x::positive end) from t
select case when x > 0 then array[x, y] else '{}' end v, count(*) from t where id < 60 group by 1 order by 1
select case x when 1 then 'a' when 2 then 'b' end::varchar(5) collate "C" v, count(*) from t group by 1 order by 1 desc
prepare p(int, text) as select sum(case when x > $1 then y else $1 end), max(case when s = $2 then s when x < $1 then $2 end) from t
execute p(3, 'text 4')
execute p(null, null)
deallocate p
select sum(case when id > 4990 then 1 / (5000 - id) else 0 end) from t
select sum(case when s < 'text 2' then 1 else s::int end) from t
DROP SCHEMA casecol CASCADE
