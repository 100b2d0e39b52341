-- Plans as PostgreSQL shows them. With these tables no two plans have similar costs.
create table plans_a (id int primary key, flag boolean, t text, n int)
insert into plans_a select g, g % 50 = 0, 'name ' || lpad(g::text, 5, '0'), g % 7 from generate_series(1, 5000) g
create table plans_b (id int primary key, a_id int, v int)
insert into plans_b select g, g % 5000, g % 10 from generate_series(1, 20000) g
create index plans_a_flag on plans_a (flag)
create index plans_a_t on plans_a (t)
create index plans_b_a on plans_b (a_id)
analyze plans_a
analyze plans_b
set max_parallel_workers_per_gather = 0
-- A boolean column as index condition.
set enable_seqscan = off
set enable_bitmapscan = off
explain (costs off) select * from plans_a where [[flag¦not flag¦flag is true¦flag is false¦flag = true¦flag = false¦flag <> true¦flag <> false¦(flag = true) and n > 1]]
select count(*) from plans_a where [[flag¦not flag¦flag is true¦flag is false¦flag = true¦flag = false¦flag <> true¦flag is not true¦flag is unknown]]
explain (costs off) select * from plans_a where flag and t = 'x'
set enable_bitmapscan = on
explain (costs off) select * from plans_a where [[flag¦not flag¦flag or id = 5¦not flag and id < 50]]
select count(*) from plans_a where [[flag or id = 5¦(not flag or id = 50) and n = 1]]
set enable_seqscan = on
-- NOT is pushed down into the expression.
explain (costs off) select * from plans_a where not ([[id > 5¦id > 5 and n = 2¦id > 5 or t is null¦id in (1, 2)¦id > 5 and not (n = 2 or flag)¦flag is true¦t like 'x%'¦(id > 5) is true]])
select count(*), count(id) from plans_a where not ([[id > 5¦id > 5 and n = 2¦id > 5 or t is null¦id in (1, 2)¦id > 5 and not (n = 2 or flag)¦flag is true¦t like 'x%'¦nullif(n, 3) > 2 and flag]])
-- Patterns with a common prefix.
explain (costs off) select * from plans_a where t [[like 'name 0001%'¦~ '^name 0001'¦~ '^(name 0001)'¦~ '^(name 0001)x'¦~ '^(name 00001)$'¦~ '^name 0001|x'¦~ '^na(me)? 00'¦~~ 'name 00001'¦~ '^name 0000\.'¦^@ 'name 0001']]
select count(*) from plans_a where t [[like 'name 0001%'¦~ '^name 0001'¦~ '^(name 0001)'¦~ '^(name 0001)x'¦~ '^(name 00001)$'¦~ '^name 0001|x'¦~ '^na(me)? 0001'¦~~ 'name 00001'¦~ '^name 00001+'¦~ '^(name) 0000[1-3]'¦~ '^name 0{3}1'¦ilike 'NAME 0001%']]
create table plans_d (t text)
insert into plans_d select lpad(g::text, 6, '0') from generate_series(1, 5000) g
create index plans_d_t on plans_d (t)
analyze plans_d
explain (costs off) select * from plans_d where t [[ilike '00001%'¦~* '^00001'¦ilike '000012'¦ilike '0000%a'¦ilike 'a%']]
select count(*) from plans_d where t [[ilike '00001%'¦~* '^00001'¦ilike '000012'¦not ilike '0000%'¦like '00%5'¦not like '00%']]
-- IN lists with expressions of the outer row.
explain (costs off) select * from plans_a a join plans_b b on b.id in (a.id * 2, a.id * 2 + 1) where a.id = 7
select count(*), sum(b.id) from plans_a a join plans_b b on b.id in (a.id * 2, a.id * 2 + 1) where a.id < 70
select count(*), sum(b.id) from plans_a a left join plans_b b on b.id = a.id * 2 or b.id = a.id * 7 where a.id < 70
select count(*), sum(b.id) from plans_a a join plans_b b on (b.id = a.id * 2 and b.v > 3) or (b.a_id = a.n and b.v = a.n) where a.id < 70
with recursive t as (select 1 id union all select b.id from t join plans_b b on b.id in (t.id * 2, t.id * 2 + 1)) select count(*), sum(id) from t
-- Left joins that can be removed.
explain (costs off) select a.* from plans_a a left join plans_b b on b.id = a.id
explain (costs off) select a.id from plans_a a left join (select [[distinct a_id¦a_id from plans_b group by a_id¦a_id from plans_b union select id¦distinct on (a_id) a_id, v]] from plans_b) b on b.a_id = a.id
explain (costs off) select a.id from plans_a a left join (select a_id, count(*) from plans_b group by a_id) b on b.a_id = a.id
explain (costs off) select a.id from plans_a a left join (select max(v) m from plans_b) b on true
explain (costs off) select a.id from plans_a a left join (select max(v) m from plans_b) b on b.m = a.id
explain (costs off) select a.id from plans_a a left join (select distinct a_id, v from plans_b) b on b.a_id = a.id and b.v = a.n
explain (costs off) select a.id from plans_a a left join plans_b b on b.id = a.id left join plans_a c on c.id = b.a_id
explain (costs off) select a.id from plans_a a left join (plans_b b left join plans_a c on c.id = b.a_id) on b.id = a.id
explain (costs off) select a.id from plans_a a left join plans_b b on b.id = a.id and b.v > 3
select count(*) from plans_a a left join [[plans_b b on b.id = a.id¦plans_b b on b.a_id = a.id¦(select distinct a_id from plans_b) b on b.a_id = a.id¦(select distinct a_id, v from plans_b) b on b.a_id = a.id¦(select a_id from plans_b union all select id from plans_b) b on b.a_id = a.id]]
select count(*), count(b.id) from plans_a a left join plans_b b on b.id = a.id + 19000
-- EXISTS below OR is evaluated by a hash table.
explain (costs off) select count(*) from plans_a a where n = 3 or exists (select from plans_b b where b.a_id = a.id and b.v = 4)
select count(*) from plans_a a where n = 3 or exists (select from plans_b b where b.a_id = a.id and b.v = 4)
select count(*) from plans_a a where n = 3 or not exists (select from plans_b b where b.a_id = a.id and b.v = 4)
select count(*), count(e) from (select exists (select from plans_b b where b.a_id = nullif(a.id, 5) and b.v > 4) e from plans_a a) s where e
select count(*) from (select exists (select from plans_b b where b.a_id = nullif(a.id, 5) and b.v > 4) e from plans_a a) s where not e
select count(*) from (select exists (select from plans_b b where nullif(b.a_id, 5) = a.id and b.v > 4) e from plans_a a where id < 300) s where not e
select count(*) from plans_a a where n = 3 or exists (select from plans_b b where b.a_id = a.id and b.v = a.n)
select count(*) from plans_a a where n = 3 or exists (select from plans_b b where b.a_id = a.id and b.v > a.n)
-- The sub-select of a quantified comparison is materialized.
explain (costs off) select count(*) from plans_a where id < any (select v from plans_b)
select count(*) from plans_a where id [[<¦>=¦<>]] [[any¦all]] (select v from plans_b where id < 40)
select count(*) from plans_a where id [[<¦>=¦>¦<=]] any (array[3, 8, null])
select count(*) from plans_a where id [[<¦>=¦<>]] all (array[3, 8])
-- Set-returning functions in SQL.
create function plans_rows(int) returns setof plans_b language sql stable as 'select * from plans_b where a_id = $1'
create function plans_ids(lim int) returns setof int language sql stable as 'select id from plans_a where id < lim'
create function plans_table(int) returns table (x int, y text) language sql stable as 'select id, t from plans_a where n = $1'
create function plans_volatile(int) returns setof plans_b language sql volatile as 'select * from plans_b where a_id = $1'
create function plans_strict(int) returns setof plans_b language sql stable strict as 'select * from plans_b where a_id = $1'
explain (costs off) select * from [[plans_rows(7)¦plans_ids(9)¦plans_table(3)¦plans_volatile(7)¦plans_strict(7)¦plans_rows(7) with ordinality¦plans_rows(random()::int)]]
explain (costs off) select a.id, r.id from plans_a a, plans_rows(a.id) r where a.id < 5
explain (costs off) select * from plans_table(3) where x = 10
select * from plans_table(3) where x < 30
select a.id, r.id from plans_a a, plans_rows(a.id) r where a.id < 5
select a.id, r.id from plans_a a left join lateral plans_rows(a.id + 4990) r on r.v > 3 where a.id < 15
select count(*) from plans_ids(10), plans_ids(20)
select r from plans_rows(3) r
prepare plans_p(int) as select count(*) from plans_rows($1)
execute plans_p(7)
execute plans_p(8)
-- A key that is compared with an expression over its own row has many matches.
select count(*) from plans_a x join plans_a y on (x.n - y.n + x.id) = x.id where x.id < 100 and y.id < 100
select count(*) from plans_a x left join plans_a y on (y.n - x.n + y.id) = y.id and y.id < 50 where x.id < 100
drop function plans_rows, plans_ids, plans_table, plans_volatile, plans_strict
drop table plans_a, plans_b, plans_d
