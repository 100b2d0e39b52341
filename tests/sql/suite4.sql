-- What PostgreSQL's regression suite found: rows changed twice by one statement, locks, REINDEX.
CREATE SCHEMA suite4; SET search_path = suite4
create table withz(k int primary key, v text); insert into withz values (2, 'old'), (3, 'three')
with simpletup as (select 2 k, 'Green' v), upsert_cte as (insert into withz values (2, 'Blue') on conflict (k) do update set (k, v) = (select k, v from simpletup where simpletup.k = withz.k) returning k, v) insert into withz values (2, 'Red') on conflict (k) do update set (k, v) = (select k, v from upsert_cte where upsert_cte.k = withz.k) returning k, v
select * from withz order by k
with u as (update withz set v = v || '!' where k = 2 returning k, v) insert into withz values (2, 'Red') on conflict (k) do update set v = (select v from u) returning k, v
select * from withz order by k
with d as (delete from withz where k = 3 returning k, v) insert into withz values (3, 'Red') on conflict (k) do update set v = (select v from d) returning k, v
select * from withz order by k
insert into withz values (5, 'a'), (5, 'b') on conflict (k) do update set v = excluded.v
DROP SCHEMA suite4 CASCADE
