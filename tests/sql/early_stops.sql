-- Nodes that stop before the end of their inputs read no rows that PostgreSQL does not read: such rows raise no errors and have no side effects.
CREATE TABLE es_l (id int PRIMARY KEY, v int, t text)
INSERT INTO es_l SELECT g, g / 4, CASE WHEN g < 500 THEN g::text ELSE 'x' || g END FROM generate_series(1, 5000) g
CREATE INDEX ON es_l (v)
CREATE TABLE es_s (id int PRIMARY KEY, k int)
INSERT INTO es_s SELECT g, g % 3 FROM generate_series(1, 10) g
CREATE TABLE es_n (id int, k int); INSERT INTO es_n SELECT nullif(g, 7), g FROM generate_series(1, 7) g; INSERT INTO es_n SELECT NULL, 7 FROM generate_series(1, 20)
ANALYZE es_l; ANALYZE es_s; ANALYZE es_n
-- A merge join ends with the shorter of its inputs.
begin; set local enable_hashjoin = off; set local enable_nestloop = off; select l.id from es_l l [[join¦right join¦left join¦full join]] es_s s on l.id = s.id where [[1 / (500 - l.id) < 5¦l.t::int > 0]] order by 1; rollback
begin; set local enable_hashjoin = off; set local enable_nestloop = off; select s.id, l.v from es_s s [[join¦left join]] es_l l on l.id = s.id and [[1 / (500 - l.id) < 5¦l.t::int > 3]] order by 1; rollback
begin; set local enable_hashjoin = off; set local enable_nestloop = off; select a.id from es_l a join es_l b on a.id = b.id where b.id <= 10 and a.t::int > 0 order by 1; rollback
begin; set local enable_hashjoin = off; set local enable_nestloop = off; select s.id from es_s s where [[exists¦not exists]] (select 1 from es_l l where l.id = s.id and l.t::int <> 4) order by 1; rollback
begin; set local enable_hashjoin = off; set local enable_nestloop = off; select s.id, n.k from es_s s [[join¦left join¦right join¦full join]] es_n n on n.id = s.id order by 1, 2; rollback
begin; set local enable_hashjoin = off; set local enable_nestloop = off; select s.id from es_s s where [[exists¦not exists]] (select 1 from es_n n where n.id = s.id) order by 1; rollback
begin; set local enable_hashjoin = off; set local enable_nestloop = off; select n.k from es_n n where [[exists¦not exists]] (select 1 from es_s s where s.id = n.id) order by 1; rollback
CREATE SEQUENCE es_q
begin; set local enable_hashjoin = off; set local enable_nestloop = off; set local enable_sort = off; select s.id, q.n from es_s s join (select id, nextval('es_q') n from es_l order by id offset 0) q on q.id = s.id order by 1 limit 3; rollback
select nextval('es_q') < 20
select s.id, q.n > 0 from (select id, nextval('es_q') n from es_l order by id offset 0) q, lateral (select id from es_s where id > q.id - 3 offset 0) s limit 4
select nextval('es_q') < 30
-- Window functions read the rows up to the end of the frame.
select id, [[lead(1 / (500 - id))¦lead(t::int, 2)¦lead(t::int, 496, 0)¦lead(t::int, null)¦lead(t::int, -2)¦lag(t::int, 2)¦lag(t::int, -3)¦lag(t::int, null)]] over (order by id) from es_l limit 3
select id, [[max(t::int)¦sum(1 / (500 - id))¦last_value(t::int)¦first_value(t::int)¦nth_value(t::int, 2)]] over (order by id rows between [[current row and 2 following¦1 preceding and 1 following¦2 following and 3 following¦current row and 495 following¦3 preceding and 1 preceding]]) from es_l order by id limit 3
select id, [[max(t::int)¦string_agg((t::int)::text, ',')]] over (order by v groups between [[current row and 1 following¦1 preceding and 2 following¦1 following and 2 following]]) from es_l order by v limit [[1¦3¦5]]
select id, [[max(t::int)¦count(t::int)]] over (order by id range between [[current row and 3 following¦2 preceding and 1 following¦2 following and 4 following¦9 preceding and current row]] [[¦exclude ties¦exclude group]]) from es_l order by id limit [[2¦5¦40]]
select id, lead(t::int, 2) over (partition by v order by id) from es_l order by v, id limit 3
select id, lead(t::int) over (order by id), lag(v) over (order by id), sum(v) over (order by id rows between current row and 1 following) from es_l order by id limit 3 offset 2
select id, [[lead(id, 2)¦sum(id)]] over (order by id [[rows¦range¦groups]] between 2 preceding and 3 following) from es_l order by id desc limit [[2¦300]]
select id, sum(id) over (order by v desc nulls first groups between current row and 1 following), count(*) over (order by v desc range between 1 preceding and 2 following) from es_l order by v desc, id limit [[3¦30¦1000]]
-- Incremental sorts and sorted groups end with the rows of LIMIT.
begin; set local enable_sort = off; select v, t::int from es_l order by v, 2 desc limit [[1¦6¦40]]; rollback
begin; set local enable_hashagg = off; set local enable_sort = off; select v, [[sum(t::int)¦count(1 / (500 - id))]] from es_l group by v order by v limit [[1¦3¦100]]; rollback
begin; set local enable_hashagg = off; set local enable_sort = off; select distinct v, 1 / (125 - v) from es_l order by v limit [[1¦3]]; rollback
-- WITH queries and quantified sub-selects.
with w as materialized (select id, t::int n from es_l order by id) select * from w limit 2
select id, id * 3 = any (select 1 / (500 - l.id) + l.id from es_l l where l.id > s.id and l.id < 3 * s.k + 600) from es_s s where id between 1 and 4 order by id
select id from es_s s where 5 > all (select t::int from es_l l where l.id >= s.id order by l.id offset 0) order by id
-- Numbers of rows that window functions read below LIMIT.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id, [[row_number()¦lead(id, 3)¦lag(id)¦sum(id)¦last_value(id)¦rank()]] OVER (ORDER BY id [[¦ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING¦ROWS CURRENT ROW¦ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING]]) FROM es_l ORDER BY id LIMIT [[1¦10]]
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id, sum(id) OVER (ORDER BY id [[RANGE BETWEEN CURRENT ROW AND 3 FOLLOWING¦RANGE BETWEEN 3 PRECEDING AND 2 PRECEDING¦GROUPS BETWEEN 3 PRECEDING AND 2 PRECEDING¦GROUPS BETWEEN 3 PRECEDING AND 2 FOLLOWING]]) FROM es_l ORDER BY id LIMIT [[1¦10¦40]]
-- Errors of kept rows that are computed again.
CREATE FUNCTION fails_after(p int) RETURNS SETOF int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN NEXT 1; RETURN NEXT 1 / (p - p); END'
SELECT x, (SELECT count(*) FROM fails_after(x)) FROM (VALUES (1), (2)) AS v(x)
SELECT x, (SELECT count(*) FROM fails_after(7)) FROM (VALUES (1), (2)) AS v(x)
SELECT x, EXISTS (SELECT FROM fails_after(x) AS r WHERE r > x) FROM (VALUES (1), (2)) AS v(x)
DROP FUNCTION fails_after(int)
WITH w AS MATERIALIZED (SELECT 1 / (g - 3) AS d FROM generate_series(1, 5) g) SELECT x, (SELECT sum(d) FROM w WHERE d < x) FROM (VALUES (1), (2)) AS v(x)
WITH w AS MATERIALIZED (SELECT 1 / (g - 3) AS d FROM generate_series(1, 5) g) SELECT x, x IN (SELECT d FROM w) FROM (VALUES (1), (2)) AS v(x)
WITH w AS MATERIALIZED (SELECT 1 / (g - 3) AS d FROM generate_series(1, 5) g) SELECT x, (SELECT count(*) FROM w w1 JOIN w w2 USING (d) WHERE w1.d < x) FROM (VALUES (1), (2)) AS v(x)
WITH RECURSIVE w(d) AS (SELECT 1 UNION ALL SELECT d + 1 + 1 / (4 - d) FROM w WHERE d < 10) SELECT x, (SELECT count(*) FROM w WHERE d < x) FROM (VALUES (1), (2)) AS v(x)
SELECT x, (SELECT count(*) FROM generate_series(1, 3) AS f(h), (SELECT 1 / (g - 3) AS k FROM generate_series(1, 5) g OFFSET 0) q WHERE k < x AND h < k) FROM (VALUES (1), (2)) AS v(x)
SELECT x, (SELECT count(*) FROM (SELECT 1 / (g - 3) AS k FROM generate_series(1, 5) g INTERSECT SELECT 1) q WHERE k < x) FROM (VALUES (1), (2)) AS v(x)
SELECT x, (SELECT count(*) FROM (SELECT DISTINCT 1 / (g - 3) AS k FROM generate_series(1, 5) g) q WHERE k < x) FROM (VALUES (1), (2)) AS v(x)
SELECT x, x IN (SELECT 1 / (g - 3) FROM generate_series(1, 5) g) FROM (VALUES (1), (2)) AS v(x)
