-- Joins on columns that are equal only by transitivity, and the positions of semi and anti joins among them.
create table plans2_r (k int primary key, name text)
create table plans2_n (k int primary key, r int, name text)
create table plans2_s (k int primary key, n int, t text)
create table plans2_c (k int primary key, n int, t text)
create table plans2_o (k int primary key, c int, v int)
create table plans2_l (o int, s int, v int)
insert into plans2_r select g, 'r' || g from generate_series(1, 5) g
insert into plans2_n select g, g % 5 + 1, 'n' || g from generate_series(1, 25) g
insert into plans2_s select g, g % 25 + 1, 's' || g from generate_series(1, 500) g
insert into plans2_c select g, g % 25 + 1, 'c' || g from generate_series(1, 5000) g
insert into plans2_o select g, g * 7 % 5000 + 1, g % 100 from generate_series(1, 20000) g
insert into plans2_l select g % 20000 + 1, g * 11 % 500 + 1, g % 9 from generate_series(1, 60000) g
create index plans2_s_n on plans2_s (n)
create index plans2_c_n on plans2_c (n)
create index plans2_o_c on plans2_o (c)
create index plans2_l_o on plans2_l (o)
analyze plans2_r, plans2_n, plans2_s, plans2_c, plans2_o, plans2_l
set max_parallel_workers_per_gather = 0
select count(*), sum(o.v) from plans2_c c, plans2_s s, plans2_n n, plans2_r r, plans2_o o where c.n = s.n and s.n = n.k and n.r = r.k and r.name = 'r3' and o.c = c.k
select count(*), sum(l.v) from plans2_c c, plans2_o o, plans2_l l, plans2_s s, plans2_n n, plans2_r r where c.k = o.c and l.o = o.k and l.s = s.k and c.n = s.n and s.n = n.k and n.r = r.k and r.name = 'r2' and o.v < 30
-- Two columns of one table in an equivalence class, classes over outer joins, and a class of a single table.
select count(*), sum(c.k) from plans2_c c, plans2_s s, plans2_n n where c.n = s.n and s.n = n.k and n.r = c.n
select count(*), sum(c.k) from plans2_c c, plans2_n n where c.n = n.k and n.k = n.r and c.k = n.r
select count(*), sum(c.k), count(o.k) from plans2_c c left join plans2_o o on o.c = c.k, plans2_s s, plans2_n n where c.n = s.n and s.n = n.k and s.k = c.k
select count(*), sum(c.k), count(x.k) from plans2_c c left join (plans2_s s join plans2_n n on n.k = s.n join plans2_c x on x.n = n.k) on s.k = c.k where c.k < 40
select count(*), sum(c.k) from plans2_c c full join plans2_s s on s.k = c.k, plans2_n n where n.k = c.n and n.k = s.n
select count(*) from plans2_c c, plans2_s s, plans2_n n, lateral (select o.k from plans2_o o where o.c = c.k and o.v = s.n limit 1) x where c.n = s.n and s.n = n.k and s.k = c.k
select count(*), sum(c.k) from plans2_c c, plans2_s s, plans2_n n where c.n = s.n and s.n = n.k and n.k = [[3¦any (array[3, 4, 5])¦(select min(k) + 5 from plans2_n)¦n.r]]
set enable_hashjoin = off
select count(*), sum(o.v) from plans2_c c, plans2_s s, plans2_n n, plans2_r r, plans2_o o where c.n = s.n and s.n = n.k and n.r = r.k and r.name = 'r3' and o.c = c.k
set enable_mergejoin = off
select count(*), sum(o.v) from plans2_c c, plans2_s s, plans2_n n, plans2_r r, plans2_o o where c.n = s.n and s.n = n.k and n.r = r.k and r.name = 'r3' and o.c = c.k and s.k < 100
reset enable_hashjoin
reset enable_mergejoin
-- Semi joins with at most one match are inner joins.
set enable_bitmapscan = off
explain (costs off) select * from plans2_o o where o.c in (select k from plans2_c where t = 'c77')
reset enable_bitmapscan
select count(*), sum(o.v) from plans2_o o where o.c in (select k from plans2_c where n = 4 and t like 'c1%')
select count(*) from plans2_o o where exists (select from plans2_c c where c.k = o.c and c.n > o.v)
select count(*) from plans2_o o where o.k < 1500 and exists (select from plans2_c c where c.k = o.c and c.n in (select n.k from plans2_n n where n.r = o.v % 5 + 1))
-- Filter joins among other joins.
select s.k, count(*) from plans2_s s, plans2_l l1, plans2_o o, plans2_n n where s.k = l1.s and o.k = l1.o and o.v < 50 and l1.v > 3 and exists (select from plans2_l l2 where l2.o = l1.o and l2.s <> l1.s) and not exists (select from plans2_l l3 where l3.o = l1.o and l3.s <> l1.s and l3.v > 6) and s.n = n.k and n.name = 'n7' group by s.k order by 1
select count(*), sum(c.k) from plans2_c c, plans2_n n where c.n = n.k and exists (select from plans2_o o where o.c = c.k and o.v = n.r) and not exists (select from plans2_s s where s.n = n.k and s.k = c.k)
select count(*), sum(c.k) from plans2_c c, plans2_n n where c.n = n.k and [[exists¦not exists]] (select from plans2_o o, plans2_l l where l.o = o.k and o.c = c.k and l.s = n.k)
select count(*), sum(c.k) from plans2_c c, plans2_n n where [[exists¦not exists]] (select from plans2_s s where s.n = n.k and s.k = c.k) and n.r = 1 and c.k < 100
select count(*), sum(c.k) from plans2_c c left join plans2_n n on n.k = c.n and n.r = 2 where c.k in (select o.c from plans2_o o where o.v = 5) and not exists (select from plans2_s s where s.n = n.k)
select count(*) from plans2_s s where s.k in (select l.s from plans2_l l where l.o in (select o.k from plans2_o o where o.v = 3) and l.v > (select avg(v) from plans2_l x where x.o = l.o)) and s.n in (select k from plans2_n where r = 2)
select count(*) from plans2_c c where exists (select from plans2_o o where o.c = c.k) and exists (select from plans2_s s where s.k = c.k) and not exists (select from plans2_n n where n.k = c.k) and c.n in (select k from plans2_n where r in (select k from plans2_r where name <> 'r1'))
select count(*) from plans2_c c where c.k < 60 and c.k in (select s.k from plans2_s s, lateral (select o.v from plans2_o o where o.c = s.k and o.v > c.n limit 1) x)
update plans2_c c set t = 'x' from plans2_n n where n.k = c.n and n.r in (select k from plans2_r where name = 'r2') and not exists (select from plans2_o o where o.c = c.k and o.v = 3) and c.k < 300
delete from plans2_c c where c.n in (select k from plans2_n where r = 4) and c.k in (select s.k from plans2_s s where s.t > 's3')
select count(*), count(*) filter (where t = 'x') from plans2_c
select c.k from plans2_c c where c.n in (select k from plans2_n where name = 'n3') and exists (select from plans2_o o where o.c = c.k and o.v > 90) order by c.k limit 3 for update
drop table plans2_r, plans2_n, plans2_s, plans2_c, plans2_o, plans2_l
