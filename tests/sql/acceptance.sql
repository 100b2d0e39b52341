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
SET client_min_messages = error; DROP SCHEMA acceptance CASCADE
