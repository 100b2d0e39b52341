-- Queries over tables: joins, aggregates, windows, subqueries, set operations.
CREATE TABLE q_a (id int PRIMARY KEY, g int, v numeric(10,2), t text, d date)
CREATE TABLE q_b (id int, aid int REFERENCES q_a, w float8, n text)
CREATE TABLE q_e (LIKE q_a)
CREATE INDEX q_b_aid ON q_b (aid)
CREATE INDEX q_a_g ON q_a (g, t DESC)
INSERT INTO q_a SELECT i, i % 7, i * 1.25 - 20, CASE WHEN i % 5 = 0 THEN null ELSE 'row ' || i % 11 END, date '2024-01-01' + i FROM generate_series(1, 60) i
INSERT INTO q_b SELECT i, CASE WHEN i % 6 = 0 THEN null ELSE 1 + (i * 7) % 60 END, i / 4.0, chr(97 + i % 26) FROM generate_series(1, 90) i
ANALYZE q_a
SELECT [[count(*)¦count(t)¦sum(v)¦avg(v)¦min(t)¦max(d)¦count(distinct g)¦stddev(v)¦variance(g)¦sum(g)¦avg(g)¦bool_and(g > 0)¦string_agg(t, ',' order by id)¦array_agg(g order by id desc)¦sum(v) filter (where g = 3)¦stddev_pop(g)¦var_samp(v)¦corr(id, g)¦regr_slope(id, g)¦covar_pop(id, g)¦mode() within group (order by g)¦percentile_cont(0.5) within group (order by v)¦percentile_disc(0.25) within group (order by id)¦max(id) - min(id)¦sum(distinct g)]] FROM [[q_a¦q_a where id > 50¦q_e]]
SELECT g, [[count(*)¦sum(v)¦avg(v)¦min(t)¦max(d)¦string_agg(t, '-' order by t, id)¦array_agg(id order by id)¦avg(g)]] FROM q_a [[¦where v > 0 ]]GROUP BY g [[¦having count(*) > 8 ]]ORDER BY g
SELECT g, t, count(*) FROM q_a GROUP BY [[g, t¦rollup (g, t)¦cube (g, t)¦grouping sets ((g), (t), ())¦grouping sets ((g, t), g)¦1, 2]] ORDER BY g nulls first, t nulls first, 3
SELECT grouping(g), grouping(t, g), g, t, sum(id) FROM q_a WHERE id < 12 GROUP BY rollup (g, t) ORDER BY 1, 2, 3, 4
SELECT a.id, b.id FROM q_a a [[join¦left join¦right join¦full join]] q_b b ON [[a.id = b.aid¦a.id = b.aid and b.w > 10¦a.id = b.id and a.g = b.aid % 7]] ORDER BY 1, 2
SELECT count(*), sum(a.id), sum(b.id) FROM q_a a [[join¦left join¦right join]] q_b b ON [[a.id < b.aid¦a.g = b.id % 7 and a.id > b.id¦true¦false¦a.t = b.n]]
SELECT count(*) FROM q_a a [[cross join q_b b¦natural join q_b b¦join q_b b using (id)¦left join q_b b using (id) where b.id is null¦, q_b b where a.id = b.aid¦join q_b b on a.id = b.aid join q_a c on c.id = b.id]]
SELECT * FROM q_a [[join¦left join¦full join]] q_b USING (id) WHERE id < 4 OR id > 88 ORDER BY id
SELECT a.id, s.x FROM q_a a [[, lateral (select max(b.w) x from q_b b where b.aid = a.id) s¦left join lateral (select b.w x from q_b b where b.aid = a.id order by b.w limit 1) s on true¦cross join lateral generate_series(1, a.g) s(x)]] WHERE a.id < 15 ORDER BY 1, 2
SELECT a.id, s.n FROM q_a a, lateral (select count(*) n from q_b b join q_a c on c.id = b.aid where a.id > 0 and b.w > 3) s WHERE a.id < 4 ORDER BY 1
SELECT id FROM q_a WHERE id [[in¦not in]] (SELECT aid FROM q_b [[where aid is not null¦where id < 5¦]]) ORDER BY id
SELECT id FROM q_a a WHERE [[exists¦not exists]] (SELECT FROM q_b b WHERE b.aid = a.id AND b.w [[<¦>]] 10) ORDER BY id
SELECT id FROM q_a WHERE v [[> any¦< all¦= any¦<> all¦>= all]] (SELECT w FROM q_b WHERE id < [[5¦1]]) ORDER BY id
SELECT id, (SELECT count(*) FROM q_b b WHERE b.aid = a.id), (SELECT n FROM q_b b WHERE b.id = a.id) FROM q_a a WHERE id % 9 = 0 ORDER BY id
SELECT (SELECT id FROM q_b)
SELECT (SELECT id FROM q_b WHERE id = [[1¦-1]]), (SELECT [[1, 2¦1]])
SELECT * FROM (SELECT g, count(*) c FROM q_a GROUP BY g) s WHERE c [[>¦=]] 8 ORDER BY 1
SELECT id, t FROM q_a ORDER BY [[t¦t desc¦t nulls first¦t desc nulls last¦t collate "C"¦g, t¦g desc, id¦length(t), id¦2]], id LIMIT [[5¦0¦all¦null]] OFFSET [[0¦3¦100¦null]]
SELECT id FROM q_a ORDER BY id [[fetch first 3 rows only¦fetch first row only¦limit 2 offset 1¦limit -1¦offset -1¦fetch first 2 rows with ties¦limit 1.5¦limit 'x']]
SELECT g FROM q_a ORDER BY g fetch first [[2¦10]] rows with ties
SELECT [[distinct¦distinct on (g)¦all]] g, g % 2 FROM q_a ORDER BY g[[¦, 2 desc]]
SELECT DISTINCT ON ([[g¦t, g]]) g, t, id FROM q_a ORDER BY [[g, t, id¦t, g, id desc]]
SELECT id FROM q_a WHERE id < 10 [[union¦union all¦intersect¦except¦intersect all¦except all]] SELECT [[id¦id % 4]] FROM q_b WHERE id < 7 ORDER BY 1
SELECT 1 [[union¦union all]] SELECT [[2.5¦'3'¦null¦1::int8]] ORDER BY 1
SELECT 1 UNION SELECT [['a'¦2, 3¦true]]
(SELECT id FROM q_a ORDER BY id LIMIT 2) UNION ALL (SELECT id FROM q_b ORDER BY id DESC LIMIT 2) ORDER BY 1
SELECT id, [[row_number()¦rank()¦dense_rank()¦percent_rank()¦cume_dist()¦ntile(4)¦lag(id)¦lag(id, 2, -1)¦lead(t)¦first_value(id)¦last_value(id)¦nth_value(id, 2)¦sum(v)¦count(*)¦avg(id)¦max(t)]] OVER ([[order by g, id¦partition by g order by id¦order by id desc]]) FROM q_a WHERE id < 20 ORDER BY id
SELECT id, sum(id) OVER (ORDER BY id [[rows¦range¦groups]] BETWEEN [[unbounded preceding¦2 preceding¦current row¦1 following]] AND [[current row¦2 following¦unbounded following]][[¦ exclude current row¦ exclude ties]]) FROM q_a WHERE id < 9 ORDER BY id
SELECT g, sum(count(*)) OVER (ORDER BY g), rank() OVER w FROM q_a GROUP BY g WINDOW w AS (ORDER BY count(*) DESC, g) ORDER BY g
SELECT d, sum(id) OVER (ORDER BY d RANGE BETWEEN '[[2 days¦0 days¦1 month]]' PRECEDING AND CURRENT ROW) FROM q_a WHERE id < 9 ORDER BY d
SELECT id, count(*) filter (where g > 2) over (order by id) FROM q_a WHERE id < 8 ORDER BY id
WITH [[¦recursive]] x AS (SELECT id, g FROM q_a WHERE id < 6) SELECT * FROM x JOIN x y USING (g) ORDER BY 1, 2, 3
WITH x AS [[¦materialized¦not materialized]] (SELECT id FROM q_a) SELECT count(*) FROM x WHERE id < 10
WITH RECURSIVE t(n, p) AS (VALUES (1, '1') UNION [[all]] SELECT n + 1, p || '.' || n + 1 FROM t WHERE n < [[1¦6]]) SELECT * FROM t ORDER BY n
WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT (n * 3) % 7 FROM t) SELECT n FROM t ORDER BY n
WITH RECURSIVE t(id, aid, depth) AS (SELECT id, aid, 0 FROM q_b WHERE id = 1 UNION ALL SELECT b.id, b.aid, depth + 1 FROM q_b b JOIN t ON b.id = t.aid WHERE depth < 5) SELECT * FROM t ORDER BY depth
SELECT id FROM q_a WHERE [[id = 5¦id in (5, 7, 99)¦id between 5 and 8¦id = any('{3,4}')¦t is null and id < 20¦t like 'row 1%'¦t = 'row 3'¦g = 3 and t > 'row 5'¦g in (1, 2) and t is not null¦id > 55 or g = 0¦not (id > 5)¦v is not null and v < -15¦d < '2024-01-05'¦(g, t) = (3, 'row 3')¦(g, id) > (5, 50)¦id::text = '7'¦coalesce(t, 'x') = 'x'¦ctid = '(0,3)'¦id = null¦id = 5 and id = 6¦g = 3 and g is null]] ORDER BY id
SELECT min(id), max(id), min(g), max(t) FROM q_a WHERE [[id > 10¦g = 3¦false]]
SELECT CASE [[g when 1 then 'one' when 2 then 'two' else 'many' end¦when g > 3 then g end¦when false then 1/0 else 2 end]], coalesce(t, 'none'), nullif(g, 3), greatest(g, 3), least(v, 0) FROM q_a WHERE id < 7 ORDER BY id
SELECT * FROM generate_series(1, 3) [[x¦with ordinality¦as t(n)]], [[(values (1), (2)) v¦generate_series(5, 6) y]]
SELECT [[generate_series(1, 3), generate_series(1, 2)¦generate_series(1, 2) + 1, 'x'¦unnest(array[1,2]), generate_series(1, 3)]]
SELECT * FROM ROWS FROM (generate_series(1, 3), unnest(array['a','b'])) AS r(a, b)
VALUES (1, 'a'), (2, null), (3, [['c'¦null]])
VALUES (1, 2), (3)
TABLE q_a ORDER BY id LIMIT 2
SELECT a.*, b.n AS "Name" FROM q_a AS a(x, y) JOIN q_b b ON b.id = a.x WHERE x < 3 ORDER BY x
SELECT q_a FROM q_a WHERE id = 1
SELECT count(*) c, sum(id) FROM q_a GROUP BY () HAVING [[true¦count(*) > 100]]
SELECT (SELECT sum(x.id) FROM q_b x WHERE x.aid = a.id), a.g FROM q_a a GROUP BY a.id, a.g ORDER BY a.id LIMIT 4
SELECT a.id, a.t FROM q_a a GROUP BY a.id ORDER BY a.id LIMIT 2
SELECT g + 1, count(*) FROM q_a GROUP BY g + 1 ORDER BY g + 1
SELECT [[id, count(*) from q_a¦t from q_a group by g¦count(count(*)) from q_a¦sum(id) over () from q_a where sum(id) over () > 1¦nope from q_a¦q_a.nope from q_a¦x.id from q_a¦id from q_a, q_b¦* from nope¦* from q_a a, q_b a¦count(*) from q_a where count(*) > 1¦id from q_a order by 5¦id from q_a group by 3¦nope(1)¦sum('a')¦abs('a', 1)¦1 + 'a'¦'a' + 1¦now() + 1¦-'a'¦id from q_a order by id using >¦distinct id from q_a order by g¦q_a.* as x from q_a¦id from q_a having id > 1¦* ¦id from (select 1)¦id from q_a limit id¦1 from q_a union select 'a' from q_b¦x.* from q_a¦lower(1)¦null = 1¦1 = null::text¦exists (select nope)¦case when 1 then 2 end¦row(1,2) = row(1)¦(1,2) in ((1,2,3))¦avg(distinct) from q_a¦count(distinct *) from q_a¦rank()¦lag(id) from q_a¦rank() over (order by nope) from q_a¦sum(sum(id)) over () from q_a¦cast('a' as nope)¦'a'::int[]¦array[1,'a']¦1::date¦true + 1¦id from q_a for update of x¦distinct id from q_a for update¦count(*) from q_a for update]]
SELECT id FROM q_a WHERE [[id¦t¦1¦null¦'t'¦'x']]
SELECT id FROM q_a WHERE id = [['a'¦1.5¦'1'¦1::int8¦true]]
SELECT 1 AS a, 2 AS "B", 3 c, 'x' AS "select", 4 user_, array[1] x
SELECT count(*) FROM q_a a WHERE a.id = (SELECT max(b.aid) FROM q_b b WHERE b.n [[= 'z'¦> 'c']])
SELECT sum(s) FROM (SELECT sum(v) s FROM q_a GROUP BY g HAVING sum(v) > (SELECT avg(v) FROM q_a)) x
SELECT a.g, b.cnt FROM (SELECT DISTINCT g FROM q_a) a LEFT JOIN (SELECT aid % 7 k, count(*) cnt FROM q_b GROUP BY 1) b ON a.g = b.k ORDER BY 1
SELECT string_agg(DISTINCT t, ',' ORDER BY t), string_agg(DISTINCT t, ',' ORDER BY t DESC) FROM q_a
SELECT array_agg(DISTINCT g ORDER BY g DESC), count(DISTINCT (g, t)), sum(DISTINCT v) FROM q_a
SELECT max(id) FILTER (WHERE t IS NULL), min(d) FILTER (WHERE g = 99), count(*) FILTER (WHERE true) FROM q_a
SELECT EXISTS (SELECT 1 FROM q_e), NOT EXISTS (TABLE q_e), ARRAY(SELECT g FROM q_a WHERE id < 4 ORDER BY id), (SELECT ROW(1, 2)) IS NULL
SET enable_[[hashjoin¦mergejoin¦nestloop¦seqscan¦indexscan¦hashagg¦sort¦bitmapscan¦material]] = off; SELECT count(*), sum(a.id * b.id), max(a.t) FROM q_a a LEFT JOIN q_b b ON a.id = b.aid AND b.w > 3 WHERE a.g < 5
SET work_mem = '64kB'; SELECT count(*) FROM (SELECT a.id, b.id FROM q_a a, q_b b ORDER BY b.n, a.t, a.id LIMIT 4000) s; SELECT g, count(*) FROM (SELECT a.g FROM q_a a, q_b b, generate_series(1, 5)) s GROUP BY g ORDER BY g
RESET ALL
SELECT count(*), sum(i), count(distinct i % 1000) FROM generate_series(1, 20000) i
SELECT a.i, b.i FROM generate_series(1, 3000) a(i) [[join¦full join¦left join]] generate_series(2990, 3010) b(i) ON a.i = b.i WHERE a.i > 2985 OR a.i IS NULL ORDER BY 1, 2
SELECT count(*), sum(g) FROM q_a a [[left¦full¦right]] join q_b b ON a.id = b.aid [[cross join¦left join q_a c on c.id = b.id cross join]] generate_series(1, 3) g WHERE [[b.id is null¦a.id is null¦not (b.w > 3 or b.w > 3)¦coalesce(b.w, 100) > 50¦a.id is distinct from b.aid]]
SELECT count(*), count(o) FROM q_a a LEFT JOIN LATERAL (SELECT a.d AS o FROM q_b b JOIN q_a c ON c.id = b.aid[[¦ WHERE b.w > a.id]]) l ON true
SELECT count(*) FROM q_a a WHERE a.g % 3 [[¦NOT ]]IN (SELECT abs(b.id) + 1 FROM q_b b WHERE [[false¦NULL::boolean¦b.id < 0]])
SELECT count(*) FROM q_a a [[join¦left join¦full join]] (SELECT * FROM q_b WHERE id < 0) b ON a.id + 1 = b.aid + 1
SELECT abs(-3), g, count(*) FROM q_a GROUP BY [[rollup (abs(-3), g)¦rollup (g, abs(-3))¦cube (abs(-3), g)]]
SELECT abs(-3), 3, count(*) FROM q_a GROUP BY [[rollup (abs(-3))¦grouping sets ((abs(-3)), ())¦abs(-3)]]
SELECT 'x'::text, count(*) FROM q_a GROUP BY rollup ('x'::text)
SELECT abs(-3), abs(-4) - 1, abs(-3) + 1, count(*) FROM q_a GROUP BY [[cube (abs(-3), abs(-4) - 1)¦grouping sets ((abs(-3), abs(-4) - 1), (abs(-4) - 1), ())]] [[¦HAVING abs(-3) = 3]]
SELECT CASE WHEN true THEN g END, g, count(*) FROM q_a GROUP BY cube (CASE WHEN true THEN g END, g)
SELECT * FROM (SELECT abs(-3) AS k, count(*) FROM q_a GROUP BY rollup (abs(-3))) s WHERE [[k IS NULL¦k = 3¦k = 3 OR k = 3]]
-- Volatile functions are called for each row, in the order of rows and columns.
CREATE SEQUENCE q_s; SELECT nextval('q_s'), nextval('q_s'), i FROM generate_series(1, 3) i[[¦ WHERE nextval('q_s') > 0¦ WHERE nextval('q_s') % 2 = 0]]
SELECT count(*) BETWEEN 300 AND 700 FROM generate_series(1, 1000) i [[¦LEFT JOIN generate_series(1, 9) j ON i = j ¦JOIN generate_series(1, 1000) k ON i = k ]]WHERE random() < 0.5
SELECT 1 WHERE random() < 2
SELECT currval('q_s')
-- Rows before an error are sent to the client.
SELECT i, 10 / (i - 5) FROM generate_series(1, 9) i[[¦ WHERE 100 / (i - 4) < 1000¦ WHERE i > 2 LIMIT 2¦ WHERE i > 2 LIMIT 3¦ ORDER BY i DESC¦ OFFSET 1]]
SELECT nextval('q_s'), 10 / (i - 5) FROM generate_series(1, 9) i
SELECT i, j, 10 / (i - 5) FROM generate_series(1, 9) i [[JOIN¦LEFT JOIN¦FULL JOIN]] generate_series(1, 9) j ON i = j WHERE i < 9 ORDER BY i
SELECT x.k, y.k FROM (VALUES (9), (1)) x(k) FULL JOIN (VALUES (1), (9)) y(k) ON [[x.k = y.k + x.k¦x.k + y.k = y.k¦x.k = 9¦9 = y.k¦x.k = y.k AND x.k = 9¦x.k = y.k AND false¦false¦NULL¦x.k > y.k¦x.k::numeric = y.k + 0¦x.k = (SELECT y.k)]] ORDER BY 1, 2
SELECT x.d, y.d FROM (VALUES (date '2024-01-01'), ('2024-01-02')) x(d) FULL JOIN (VALUES (timestamp '2024-01-02'), ('2024-01-03')) y(d) ON [[x.d = y.d¦x.d = y.d AND x.d > '2023-01-01'¦x.d = y.d + (x.d - x.d) * interval '1 day'¦x.d = y.d AND true¦x.d = y.d AND NULL]] ORDER BY 1, 2
SELECT b.i, (SELECT count(*) FROM [[(SELECT 9 AS k)¦(SELECT b.i AS k)¦(VALUES (b.i))¦generate_series(1, b.i)]] x(k) FULL JOIN (SELECT 1 AS k WHERE b.i > 1 OFFSET 0) y ON [[x.k = y.k¦x.k = b.i¦x.k + b.i = y.k¦x.k + y.k = b.i]]) FROM generate_series(1, 3) b(i) ORDER BY 1
SELECT 10 / (3 - generate_series(1, 5))
WITH x AS [[¦NOT ]]MATERIALIZED (SELECT i, 10 / (i - 5) FROM generate_series(1, 9) i) SELECT * FROM x
SELECT i, count(*), 10 / (i - 5) FROM generate_series(1, 9) i GROUP BY i ORDER BY i
WITH x AS (INSERT INTO q_e SELECT 10 / (i - 5) FROM generate_series(1, 9) i RETURNING *) SELECT * FROM x
SELECT EXISTS (SELECT 10 / (i - 5) FROM generate_series(1, 9) i), (SELECT 1 FROM generate_series(1, 9) i WHERE 10 / (i - 5) < 0 LIMIT 1)
-- Expressions that are NULL for all rows of a batch, of any type.
CREATE TABLE opt (id int, a oid[], m "char"[], t text); INSERT INTO opt VALUES (1, '{23,25}', '{i,o}', 'x'), (2, '{25}', '{v}', 'y'), (3, '{26}', NULL, NULL)
SELECT id, ARRAY(SELECT a[i] FROM generate_series(1, array_length(a, 1)) g(i) WHERE m IS NULL OR m[i] IN ('i', 'v')) FROM opt
SET plan_cache_mode = force_generic_plan; PREPARE any_of(text, int[]) AS SELECT id FROM opt WHERE ($1 IS NULL OR t = $1) AND ($2 IS NOT NULL OR id < 3) ORDER BY id
EXECUTE any_of([['x'¦NULL¦'nope']], [['{1}'¦NULL]])
RESET plan_cache_mode
SELECT id FROM opt o WHERE EXISTS (SELECT FROM opt i WHERE o.t IS [[¦NOT ]]NULL OR i.t = o.t OR upper(o.t) IS NULL) ORDER BY id
SELECT c.conname, pk.relname, pa.attname, fk.relname, fa.attname, n.i, ix.relname FROM pg_namespace pn, pg_class pk, pg_attribute pa, pg_namespace fn, pg_class fk, pg_attribute fa, pg_constraint c, generate_series(1, 32) n(i), pg_class ix WHERE pn.oid = pk.relnamespace AND pk.oid = pa.attrelid AND pa.attnum = c.confkey[n.i] AND c.confrelid = pk.oid AND fn.oid = fk.relnamespace AND fk.oid = fa.attrelid AND fa.attnum = c.conkey[n.i] AND c.conrelid = fk.oid AND c.contype = 'f' AND ix.relkind IN ('i', 'I') AND ix.oid = c.conindid ORDER BY 1, 6
SELECT a.id, s.* FROM q_a a, LATERAL (SELECT b.id bid, c.id cid FROM q_b b LEFT JOIN q_a c ON [[b.aid = c.id AND a.g = c.g¦b.aid = a.id¦c.id = a.id]] WHERE b.id < 9) s WHERE a.id < 6 ORDER BY 1, 2, 3
SELECT a.id, s.* FROM q_a a LEFT JOIN LATERAL (SELECT b.id bid, c.id cid FROM q_b b LEFT JOIN q_a c ON b.aid = c.id AND a.g = c.g WHERE b.id < 9) s ON true WHERE a.id < 6 ORDER BY 1, 2, 3
SELECT a.id, s.* FROM q_a a, LATERAL (SELECT b.id bid FROM q_b b WHERE [[¦NOT ]]EXISTS (SELECT FROM q_a c WHERE c.id <> b.aid AND c.g > a.g + 3 AND c.id < 8)) s WHERE a.id < 6 AND bid < 9 ORDER BY 1, 2
SELECT (SELECT max((SELECT i.id FROM q_b i WHERE i.id = o.id))) FROM q_a o
SELECT (SELECT sum((SELECT count(*) FROM q_b i WHERE i.aid > o.id + length('a')) + 1)) FROM q_a o
SELECT [[id¦one¦s¦count(*)]] FROM (WITH t AS (SELECT * FROM q_b) SELECT id, (SELECT id FROM t) AS one FROM q_a) s
SELECT [[id¦one]] FROM (SELECT id, (SELECT id FROM q_b)[[¦ + 0]] AS one FROM q_a OFFSET 55) s
SELECT (SELECT id FROM q_b) FROM q_a
SELECT (SELECT id FROM q_b) + id FROM q_a ORDER BY id
SELECT x FROM (SELECT x, [[1 / (x - 1)¦count(*) OVER (ORDER BY 1 / (x - 1))¦generate_series(1, 1 / (x - 1))¦random() / (x - 1)]] AS y FROM generate_series(1, 3) x [[OFFSET 0¦ORDER BY y¦ORDER BY x LIMIT 2]]) s
SELECT DISTINCT x FROM (SELECT DISTINCT x, 1 / (x - 1) AS y FROM generate_series(1, 3) x) s
SELECT 1 AS one FROM q_a WHERE 1 / (id - 1) = 1 HAVING [[1 < 2¦1 > 2¦(SELECT true)¦null]]
SELECT generate_series(1, 3) AS one FROM q_a WHERE 1 / (id - 1) = 1 HAVING true ORDER BY 1 DESC
SELECT count(*) FROM q_a WHERE 1 / (id - 1) = 1 HAVING [[false¦1 > 2¦count(*) > 0]]
SELECT [[count(*)¦max(id)]] FROM q_a WHERE id < 5 HAVING [[(SELECT true)¦true AND count(*) > 3¦false]]
CREATE SEQUENCE q_late
SELECT id, nextval('q_late') FROM q_a ORDER BY [[v DESC¦id DESC¦t, id]] LIMIT 4
SELECT currval('q_late')
SELECT id, generate_series(1, 10) FROM q_a ORDER BY [[id DESC¦v]] LIMIT 7
SELECT id, generate_series(1, 10) + id, nextval('q_late') * 0 FROM q_a ORDER BY t, id LIMIT 7
SELECT g, sum(id), sum(id) + 0 * nextval('q_late') FROM q_a GROUP BY g ORDER BY g DESC LIMIT 3
SELECT g + 1, 0 * nextval('q_late') + sum(id) FROM q_a GROUP BY [[g¦g + 1]] ORDER BY 1
SELECT id, lag(id) OVER (ORDER BY id), 0 * nextval('q_late') + lag(id) OVER (ORDER BY id) FROM q_a WHERE id < 5 ORDER BY id DESC
SELECT DISTINCT g, 0 * nextval('q_late') FROM q_a ORDER BY g DESC
SELECT id, random() * 0, random() * 0 FROM q_a WHERE id < 4 ORDER BY 2, 1
SELECT g, count(*), random() * 0, 7 AS k FROM q_a GROUP BY [[rollup (g)¦g¦grouping sets ((g), (4))]] ORDER BY g, 2 LIMIT 9
SELECT id, (SELECT sum(b.w) FROM q_b b WHERE b.aid > a.id) FROM q_a a ORDER BY id DESC LIMIT 3
SELECT currval('q_late')
DROP SEQUENCE q_late
SELECT [[x.id¦xx.id¦xx.n]] FROM (q_a a JOIN q_b b USING (id) AS x) AS xx WHERE [[x.id = 1¦xx.id = 1]]
SELECT a.id FROM q_a a JOIN q_b b USING (id) [[AS foo¦]], q_e unnamed_join FOR UPDATE OF [[unnamed_join¦foo¦a]]
SELECT a.id FROM q_a a JOIN q_b b USING (id) FOR UPDATE OF unnamed_join
UPDATE q_e SET g = s.id FROM [[LATERAL ¦]](SELECT * FROM q_a WHERE q_a.id = q_e.id) s
DELETE FROM q_e USING [[LATERAL ¦]](SELECT * FROM q_a WHERE q_a.id = q_e.id) s
SELECT * FROM q_a a [[RIGHT¦FULL]] JOIN LATERAL (SELECT a.id) s ON true
SELECT ('{}'::int[])[1][2][3][4][5][6][7]
SELECT id FROM q_a FETCH FIRST 2 ROWS WITH TIES
SELECT id FROM q_a ORDER BY id FETCH FIRST 2 ROWS WITH TIES FOR UPDATE SKIP LOCKED
PREPARE q_p (int, bool) AS SELECT $1, $2
EXECUTE q_p([[true, true¦1, 2¦1, 'x'::bytea¦1.5, 't']])
DEALLOCATE q_p
WITH RECURSIVE foo(i) AS (SELECT i::numeric(3,0) FROM (VALUES (1), (2)) t(i) UNION ALL SELECT (i + 1)::numeric[[(10,0)¦(3,0)¦]] FROM foo WHERE i < 10) SELECT * FROM foo
SELECT (WITH cte(foo) AS (VALUES (id)) VALUES ((SELECT foo FROM cte))), (VALUES (1)) FROM q_a ORDER BY 1 LIMIT 2
CREATE TABLE q_opt (i int) WITH (fillfactor = [[-30.1¦100.5¦50, fillfactor = 60¦x¦1e2]])
ALTER TABLE q_opt SET (fillfactor = 30, fillfactor = 40)
SELECT reloptions FROM pg_class WHERE relname = 'q_opt'
SET [[custom."bad-guc"¦special."weird name"¦x.y.z¦"a."¦".b"]] = 42
SHOW [[custom."bad-guc"¦x.y.z]]
SELECT g, (WITH cte1(x, y) AS (SELECT 1, 2) SELECT count((SELECT [[a.g¦x¦a.g + x]] FROM cte1))) AS ss FROM q_a a GROUP BY g ORDER BY 1
SELECT (WITH cte1(x, y) AS (SELECT 1, 2) SELECT count((WITH cte2 AS (SELECT * FROM [[cte1¦q_e]]) SELECT a.g FROM cte2))) AS ss FROM q_a a
CREATE DOMAIN q_short AS varchar(5)
SELECT CAST('123456' AS q_short), '123456'::text::q_short, CAST(g::text || '12345' AS q_short) FROM q_a WHERE id = 1
CREATE TABLE q_shorts (a q_short)
INSERT INTO q_shorts VALUES ('123456'[[¦::text¦::varchar]])
DROP TABLE q_shorts
DROP DOMAIN q_short
SELECT id, sum(id) OVER (ORDER BY id ROWS (SELECT id FROM q_a ORDER BY id LIMIT 1) + 1 PRECEDING) FROM q_a WHERE id < 6 ORDER BY 1
PREPARE q_w (int) AS SELECT id, sum(id) OVER (ORDER BY id [[ROWS¦GROUPS¦RANGE]] BETWEEN $1 PRECEDING AND $1 FOLLOWING) FROM q_a WHERE id < 6 ORDER BY 1; EXECUTE q_w (1); EXECUTE q_w (2); DEALLOCATE q_w

-- Offsets of frames are computed once, also from sub-selects and parameters.
CREATE TABLE framed AS SELECT i AS u FROM generate_series(0, 9) i;
SELECT sum(u) OVER (ORDER BY u ROWS (SELECT 1) PRECEDING), u FROM framed;
SELECT sum(u) OVER (ORDER BY u ROWS (SELECT max(u) - 8 FROM framed) + 1 PRECEDING), u FROM framed;
SELECT sum(u) OVER (ORDER BY u RANGE BETWEEN (SELECT 2) PRECEDING AND (SELECT 1) FOLLOWING), u FROM framed;
PREPARE framing(int) AS SELECT sum(u) OVER (ORDER BY u ROWS BETWEEN $1 PRECEDING AND $1 + 1 FOLLOWING), u FROM framed;
EXECUTE framing(1);
EXECUTE framing(NULL);
CREATE FUNCTION framing(x int) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT sum(u) OVER (ORDER BY u ROWS BETWEEN x PRECEDING AND x FOLLOWING) FROM framed';
SELECT * FROM framing(1);
DROP FUNCTION framing(int);
DROP TABLE framed;
SELECT a.id, count(l.x) FROM q_a a LEFT JOIN LATERAL (SELECT b.id AS x FROM q_b b [[JOIN q_a c ON c.id = b.aid¦CROSS JOIN (VALUES (1), (2)) v(n)]] WHERE b.id [[NOT IN (4, a.id)¦<> a.id¦= a.id + 1]]) l ON [[true¦l.x > 3]] WHERE a.id < 9 GROUP BY a.id ORDER BY 1
SELECT count(*), count(d.id) FROM q_a a, LATERAL (SELECT b.id FROM q_b b JOIN q_a c ON c.id = b.aid WHERE b.id > a.id) l LEFT JOIN q_a d ON d.id = l.id + 50
SELECT a.id FROM q_a a WHERE [[¦NOT ]]EXISTS (SELECT FROM q_b b, LATERAL (SELECT c.id FROM q_a c, q_b e WHERE c.id = b.id + a.id AND e.id = c.id) l WHERE b.aid = a.g) ORDER BY 1
SELECT a, count(*) FROM (VALUES (1), (2)) v(a) GROUP BY [[DISTINCT¦ALL]] ROLLUP (a), [[ROLLUP (a)¦CUBE (a)¦GROUPING SETS ((a), (a), ())]] ORDER BY 1
SELECT DISTINCT x FROM (VALUES ('1'::xid), ('1'), ('2')) v(x) WHERE x <> '2'
-- The column of a scalar sub-select determines the name of the enclosing expression.
SELECT (SELECT * FROM (VALUES (1)) v(zz)), (SELECT v.* FROM (VALUES (1)) v(zz)), (SELECT 1 + 1)::bigint, CASE WHEN true THEN 1 ELSE (SELECT 1 + 1) END, (SELECT true)::text, (SELECT date '2024-01-01')::text, CASE 1 WHEN 2 THEN 1 ELSE (SELECT '1'::int) END
SELECT CASE WHEN true THEN (SELECT 1 AS one) ELSE (SELECT 2 AS two) END, CASE WHEN (SELECT true AS t) THEN (SELECT 1 AS one) ELSE COALESCE((SELECT 2 AS two), 3) END
SELECT (SELECT CASE WHEN true THEN 3 END)::text, (VALUES (1)), (SELECT 1 UNION SELECT 1), (SELECT interval '1' second), (WITH q AS (SELECT 1 AS uu) SELECT * FROM q)::text, ((SELECT (row(1, 2)))), (SELECT 'x' COLLATE "C") COLLATE "C", (ARRAY(SELECT 1))[1], (SELECT ARRAY[1])[1], COALESCE((SELECT 1), 2), (SELECT count(*)), (SELECT max(1))
-- LATERAL references to relations without a join condition.
SELECT count(*), count(l.p), sum(g) FROM generate_series(1, 3) x CROSS JOIN generate_series(2, 4) y LEFT JOIN LATERAL (VALUES (y), (x)) l(p) ON true [[CROSS JOIN¦LEFT JOIN]] LATERAL generate_series(l.p, x + [[0¦y]]) g[[¦ ON true]]
SELECT count(*), sum(g) FROM generate_series(1, 3) a, generate_series(1, 2) b, generate_series(1, 2) c, generate_series(1, 2) d, generate_series(1, 2) e, generate_series(1, 1) f, generate_series(1, 1) h, LATERAL generate_series(a, b + e) k LEFT JOIN LATERAL (SELECT k + a AS m OFFSET 0) l ON true, LATERAL generate_series(l.m, k + b + h) g WHERE d = e
-- A null-extended row is NULL as a whole, also in a subquery that is pulled up.
SELECT count(*) FROM (SELECT x FROM generate_series(1, 5) x LEFT JOIN (VALUES (2, NULL), (3, 'x')) t(k, v) ON x = t.k WHERE [[t IS NOT DISTINCT FROM NULL¦t IS DISTINCT FROM NULL¦t IS NULL¦t IS NOT NULL¦t::text IS NULL]]) q
SELECT count(*) FROM generate_series(1, 5) x LEFT JOIN (VALUES (2, NULL), (3, 'x')) t(k, v) ON x = t.k JOIN (SELECT 1 AS one, y FROM generate_series(1, 5) y) z ON t [[IS NOT DISTINCT FROM NULL¦IS DISTINCT FROM NULL¦IS NULL]] AND z.y = x
SELECT count(*) FROM (SELECT x FROM generate_series(1, 5) x LEFT JOIN (SELECT k, v FROM (VALUES (2, NULL), (3, 'x')) i(k, v) WHERE i IS DISTINCT FROM NULL) t ON x = t.k JOIN generate_series(1, 9) y ON x = y AND t IS NOT DISTINCT FROM NULL) q
SELECT CASE WHEN [[ROW(1, x)¦ROW(x)¦ROW(NULL)¦ROW(1, 2)]] IS [[¦NOT ]]DISTINCT FROM NULL THEN 'a'::varchar(3) ELSE 'b'::varchar(5) END FROM (VALUES (1), (NULL)) v(x)
-- Subqueries in FROM must have an alias.
SELECT 1 FROM [[(SELECT 1), LATERAL (VALUES (1))¦(  (VALUES (1)))¦(SELECT 1) AS x, (SELECT 2) y, ((SELECT 3))¦((SELECT 1) a CROSS JOIN (SELECT 2)) WHERE true¦LATERAL (SELECT 1), (SELECT 2)¦(SELECT 1) NATURAL JOIN (SELECT 2) b¦(SELECT 1) FOR UPDATE¦((SELECT 1) UNION (SELECT 2)) ORDER BY 1¦((SELECT 1) UNION (SELECT 2)) x¦((SELECT 1) LIMIT 1)]]
SELECT (SELECT 1), (SELECT 2 FROM (SELECT 1) a JOIN (SELECT 2) ON true)
VALUES ((SELECT 1)), ((SELECT 2 FROM (TABLE pg_class)))
INSERT INTO nosuch SELECT * FROM (SELECT 1)
DELETE FROM pg_class USING (SELECT 1)
UPDATE pg_class SET relname = 'a' FROM (SELECT 1) WHERE (SELECT true)
MERGE INTO pg_class USING (SELECT 1) ON true WHEN MATCHED THEN DO NOTHING
CREATE VIEW unnamed_v AS SELECT * FROM (SELECT 1)
SELECT coalesce(1, [[date '2024-01-01'¦cast('2024-01-01' as date)¦'2024-01-01'::date¦date('2024-01-01')¦date '2024-01-01' + 1]])
SELECT [[array[1, date '2024-01-01']¦1 union select date '2024-01-01'¦greatest(1, date '2024-01-01')¦case when true then 1 else date '2024-01-01' end¦1 + bit '1'¦date '2024-01-01' || bit '1'¦interval '1 day' and true¦lower(interval '1 day')]]
SELECT [[q.t1.a¦q.t1.*¦q.t1¦nosuch.t1.a¦a.b.t1.a]] FROM (VALUES (1)) t1(a)
SELECT [[nosuch.pg_class.relname¦public.pg_class.relname¦pg_catalog.pg_class.relname]] FROM pg_class [[t ]]LIMIT 0
SELECT '[[A¦a  ¦"A"¦A[]¦A.B[]¦nosch.A]]'::regtype
SELECT to_regtype('[[A¦nosch.A¦int]]'), has_type_privilege('[[A¦int4]]', 'usage')
SELECT '[[(1)¦(1,2)¦(int)¦(int,nosuch)¦1a(nosuch)¦foo(nosuch)¦(nosuch)¦foo¦.(nosuch)]]'::[[regprocedure¦regoperator]]
