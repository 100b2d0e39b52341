-- Conditions that are moved: into subqueries and out of OR clauses; index conditions that compare different date types.
CREATE TABLE p_d (id int, d date, ts timestamp, tz timestamptz)
INSERT INTO p_d SELECT g, date '2024-03-25' + g % 60, timestamp '2024-03-25' + g * interval '6 hours', timestamptz '2024-03-25 00:00+00' + g * interval '6 hours' FROM generate_series(1, 240) g
INSERT INTO p_d VALUES (1001, 'infinity', 'infinity', 'infinity'), (1002, '-infinity', '-infinity', '-infinity'), (1003, '5874897-12-31', null, null), (1004, null, null, null)
CREATE INDEX p_d_d ON p_d (d)
CREATE INDEX p_d_ts ON p_d (ts)
CREATE INDEX p_d_tz ON p_d (tz desc)
ANALYZE p_d
SET enable_seqscan = off
SET timezone = [['UTC'¦'Europe/Berlin'¦'America/New_York']]
SELECT id FROM p_d WHERE [[d¦ts¦tz]] [[<¦<=¦=¦>=¦>]] [[date '2024-04-01'¦timestamp '2024-04-01 12:00'¦timestamptz '2024-03-31 02:00+02'¦timestamp 'infinity'¦timestamptz '-infinity']] ORDER BY id
SET timezone = 'Europe/Berlin'
SELECT id FROM p_d WHERE [[d¦ts¦tz]] [[<¦<=¦=¦>=¦>]] [[date '2024-04-01'¦timestamp '2024-03-31 02:30'¦timestamptz '2024-03-31 02:30+02'¦date 'infinity']] ORDER BY id
SELECT id FROM p_d WHERE [[d¦ts¦tz]] > date '2024-04-01' AND [[d¦ts¦tz]] > timestamp '2024-04-03' AND ts < timestamptz '2024-04-20 00:00+00' ORDER BY id
SELECT id FROM p_d WHERE d >= date '2024-04-01' AND d < date '2024-04-01' + interval '3 days' ORDER BY id
SELECT id FROM p_d WHERE [[d¦ts¦tz]] = ANY (ARRAY[[[timestamp '2024-04-20', timestamp '2024-04-01', '2024-04-01'¦date '2024-04-20', date '2024-04-01', null¦timestamptz '2024-04-20 00:00+02', timestamptz '2024-03-30 00:00+01']]]) ORDER BY id
SELECT count(*) FROM p_d a, p_d b WHERE a.[[d¦ts¦tz]] = b.[[d¦ts¦tz]] AND b.id < 100
SET enable_hashjoin = off
SET enable_nestloop = [[off¦on]]
SELECT count(*) FROM p_d a, p_d b WHERE a.[[d¦ts¦tz]] = b.[[d¦ts¦tz]] AND b.id < 100
RESET enable_hashjoin
RESET enable_nestloop
RESET enable_seqscan
CREATE TABLE p_a (id int primary key, g int, t text, n numeric)
INSERT INTO p_a SELECT g, g % 7, 'x' || g % 5, g / 4.0 FROM generate_series(1, 200) g
CREATE TABLE p_b (id int8 primary key, a int, t varchar(10))
INSERT INTO p_b SELECT g, g % 50, 'x' || g % 6 FROM generate_series(1, 300) g
ANALYZE p_a
ANALYZE p_b
SELECT * FROM (SELECT g, count(*) c, max(id) m FROM p_a GROUP BY [[g¦rollup(g)¦grouping sets ((g), ())]]) s WHERE [[g = 3¦g > 4 AND c > 2¦c < 29¦g IS NULL¦g = 3 OR c = 200¦g + m > 200¦coalesce(g, 5) = 5¦random() < 2 AND g = 2]] ORDER BY 1, 2
SELECT * FROM (SELECT count(*) c FROM p_a HAVING count(*) > 1) s WHERE [[c = 200¦c = 1¦1 = 2]]
SELECT * FROM (SELECT count(*) c, 5 AS k FROM p_a) s WHERE [[k = 5¦k = 6¦c = 1]]
SELECT * FROM (SELECT g, t, count(*) c FROM p_a GROUP BY g, t HAVING count(*) > 5) s WHERE g = 1 AND t > 'x1' ORDER BY 1, 2
SELECT * FROM (SELECT DISTINCT g, t FROM p_a) s WHERE [[g = 3¦t = 'x1' AND g < 2¦g = length(t)]] ORDER BY 1, 2
SELECT * FROM (SELECT DISTINCT ON (g) g, id, t FROM p_a ORDER BY g, id DESC) s WHERE [[g = 3¦id < 198¦g < 3 AND t > 'x2']] ORDER BY 1, 2
SELECT * FROM (SELECT id, g, row_number() OVER (PARTITION BY g ORDER BY id) r, sum(n) OVER (PARTITION BY g) s FROM p_a) s WHERE [[g = 3¦r <= 2¦r < 3 AND g > 4¦2 >= r¦r = 1¦id < 5¦g = 1 AND id > 150¦r <= g AND s > 10]] ORDER BY 1
SELECT * FROM (SELECT id, g, [[row_number()¦rank()¦dense_rank()¦count(*)¦count(id)¦ntile(4)¦sum(g)]] OVER ([[order by g, id¦order by id desc¦partition by t order by g, id¦order by g, id rows between unbounded preceding and 1 following¦order by id range between current row and unbounded following]]) r FROM p_a) s WHERE [[r < 3¦r <= 30¦r = 1¦r >= 3 AND r <= 12¦5 > r¦r <= null¦r > 195]] ORDER BY 1
SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id) r, rank() OVER (PARTITION BY g ORDER BY t) k FROM p_a) s WHERE [[r < 4¦k < 2 AND r < 50¦k = 1]] ORDER BY 1
SELECT * FROM (SELECT id, g FROM p_a [[UNION ALL¦UNION¦INTERSECT¦EXCEPT¦EXCEPT ALL]] SELECT id::int, a FROM p_b) s WHERE [[id = 7¦g = 3 AND id < 20¦id + g = 10¦id = 7 OR g = 6]] ORDER BY 1, 2
SELECT * FROM (SELECT id, t FROM p_a UNION ALL SELECT id, t FROM p_b UNION ALL SELECT 7, 'lit') s WHERE [[id = 7¦t = 'x1' AND id < 20¦t = 'lit'¦t LIKE 'x%' AND id = 3]] ORDER BY 1, 2
SELECT * FROM ((SELECT id, g FROM p_a ORDER BY id LIMIT 5) UNION ALL (SELECT id::int, a FROM p_b ORDER BY id DESC LIMIT 5)) s WHERE [[id > 3¦g < 5]] ORDER BY 1, 2
SELECT * FROM (SELECT id, g FROM p_a ORDER BY id LIMIT 5) s WHERE id > 3 ORDER BY 1
SELECT * FROM (SELECT id, generate_series(1, g) k FROM p_a) s WHERE [[id = 4¦k = 3 AND id < 10]] ORDER BY 1, 2
SELECT * FROM (SELECT g, (SELECT count(*) FROM p_b WHERE a = g) k FROM p_a GROUP BY g) s WHERE [[k = 6¦g = 2¦g = 2 AND k = 6]] ORDER BY 1
SELECT * FROM (SELECT g, count(*) c FROM p_a GROUP BY g) s WHERE g IN (SELECT a FROM p_b WHERE id < 4) ORDER BY 1
SELECT a.id, s.c FROM p_a a LEFT JOIN (SELECT a, count(*) c FROM p_b GROUP BY a) s ON s.a = a.id AND s.a > 3 WHERE a.id < 8 ORDER BY 1
SELECT a.id, s.c FROM p_a a, LATERAL (SELECT count(*) c, max(b.id) m FROM p_b b WHERE b.a = a.id GROUP BY b.t) s WHERE a.id < 5 AND [[c = 1¦m > 250]] ORDER BY 1, 2
SELECT (SELECT c FROM (SELECT g, count(*) c FROM p_a GROUP BY g) s WHERE s.g = b.id) FROM p_b b WHERE b.id < 9 ORDER BY 1
CREATE VIEW p_v AS SELECT g, t, sum(n) s FROM p_a GROUP BY g, t
CREATE VIEW p_w WITH (security_barrier) AS SELECT g, t, sum(n) s FROM p_a GROUP BY g, t
SELECT * FROM [[p_v¦p_w]] WHERE [[g = 2¦t = 'x1' AND s > 100¦g = 2 AND length(t) = 2]] ORDER BY 1, 2
SELECT a.id, b.id FROM p_a a, p_b b WHERE (a.id = b.a AND a.g = 1 AND b.t = 'x1') OR (a.id = b.a AND a.g = 2 AND b.t = 'x2') ORDER BY 1, 2
SELECT a.id, b.id FROM p_a a, p_b b WHERE (a.g = 1 AND b.id = 3) OR (a.g = 2 AND b.id = 4 AND a.id < 50) OR (a.id = 3 AND b.id IN (5, 6)) ORDER BY 1, 2
SELECT a.id, b.id FROM p_a a LEFT JOIN p_b b ON (a.id = b.a AND a.g = 1) OR (a.id = b.a AND b.t = 'x2') WHERE a.id < 20 ORDER BY 1, 2
SELECT a.id, b.id FROM p_a a LEFT JOIN p_b b ON a.id = b.a WHERE (a.g = 1 AND b.id < 60) OR (a.g = 2 AND b.id IS NULL AND a.id > 190) ORDER BY 1, 2
SELECT id FROM p_a WHERE (g = 1 AND t = 'x1') OR (g = 1 AND t = 'x2') OR g = 1 AND t = 'x1' AND id > 50 ORDER BY 1
SELECT id FROM p_a WHERE (g = 1 AND t = 'x1') OR g = 1 ORDER BY 1
SELECT id FROM p_a WHERE (g = 1 AND null::bool) OR (g = 1 AND id = 8) ORDER BY 1
SELECT a.id, b.id FROM p_b b JOIN p_a a ON a.id IN (2 * b.id, b.id + 100) WHERE b.id < 6 ORDER BY 1, 2
