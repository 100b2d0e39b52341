-- Outer joins of which only the null-extended rows are selected become anti joins.
CREATE TEMP TABLE al (a int, b text)
CREATE TEMP TABLE ar (a int PRIMARY KEY, c int, d text)
CREATE TEMP TABLE at (c int, e int)
INSERT INTO al SELECT g % 20, 'l' || g FROM generate_series(1, 60) g
INSERT INTO al VALUES (NULL, 'none')
INSERT INTO ar SELECT g, nullif(g % 4, 0), 'r' || g FROM generate_series(1, 10) g
INSERT INTO at SELECT g % 5, nullif(g, 3) FROM generate_series(1, 8) g
ANALYZE al; ANALYZE ar; ANALYZE at
EXPLAIN (COSTS OFF) SELECT al.b FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL
EXPLAIN (COSTS OFF) SELECT al.b FROM ar RIGHT JOIN al ON al.a = ar.a WHERE ar.a IS NULL AND al.b > 'l3'
SELECT al.*, ar.* FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL ORDER BY al.a, al.b
SELECT al.b, ar.c FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.c IS NULL ORDER BY 1
SELECT al.b, ar.c FROM al LEFT JOIN ar ON al.a = ar.a AND ar.c > 1 WHERE ar.c IS NULL ORDER BY 1
SELECT count(*), count(ar), count(ar.d), max(coalesce(ar.d, 'x')) FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL
SELECT ar.d, count(*) FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL GROUP BY ar.d
SELECT ar.d, al.a, count(*) FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL GROUP BY GROUPING SETS ((ar.d, al.a), (ar.d), ()) ORDER BY 2, 3
SELECT DISTINCT ar, ar.tableoid IS NULL, ar.ctid FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL
SELECT al.b, (SELECT count(*) FROM at WHERE at.c = ar.c OR at.c = al.a) FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL ORDER BY 1
SELECT al.b FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL AND (ar.d IS NULL OR ar.d > 'q') AND NOT EXISTS (SELECT FROM at WHERE at.c = al.a) ORDER BY 1
SELECT al.b, at.e FROM al LEFT JOIN ar ON al.a = ar.a LEFT JOIN at ON at.c = ar.c WHERE ar.a IS NULL ORDER BY 1
SELECT al.b, at.e FROM al LEFT JOIN (ar LEFT JOIN at ON at.c = ar.c) ON al.a = ar.a WHERE at.c IS NULL ORDER BY 1, 2
SELECT al.b, at.e FROM al LEFT JOIN (ar LEFT JOIN at ON at.c = ar.c) ON al.a = ar.a AND at.c IS NULL ORDER BY 1, 2
SELECT al.b, at.e FROM al LEFT JOIN (ar LEFT JOIN at ON at.c = ar.c) ON al.a = ar.a AND at.c IS NULL WHERE ar.a IS NULL ORDER BY 1, 2
SELECT al.b, at.e FROM al LEFT JOIN (ar JOIN at ON at.c = ar.c) ON al.a = ar.a WHERE at.e IS NULL ORDER BY 1, 2
SELECT al.b, at.e FROM al LEFT JOIN (ar JOIN at ON at.c = ar.c AND at.e > 0) ON al.a = ar.a WHERE at.e IS NULL ORDER BY 1, 2
SELECT al.b, ar.c, at.e FROM al FULL JOIN ar ON al.a = ar.a LEFT JOIN at ON at.c = al.a WHERE at.c IS NULL ORDER BY 1, 2
SELECT al.b, ar.c FROM al FULL JOIN ar ON al.a = ar.a WHERE ar.a IS NULL ORDER BY 1, 2
SELECT al.b, ar.c FROM al FULL JOIN ar ON al.a = ar.a WHERE ar.a IS NULL AND al.a > 3 ORDER BY 1, 2
SELECT al.b, x.n FROM al LEFT JOIN (SELECT a, count(*) n FROM ar GROUP BY a) x ON x.a = al.a WHERE x.a IS NULL ORDER BY 1
SELECT al.b, x.n FROM al LEFT JOIN (SELECT a, 7 AS n FROM ar) x ON x.a = al.a WHERE x.a IS NULL ORDER BY 1
SELECT al.b, x.n FROM al LEFT JOIN (SELECT a, 7 AS n FROM ar) x ON x.a = al.a WHERE x.n IS NULL ORDER BY 1
SELECT al.b, l.e FROM al LEFT JOIN ar ON al.a = ar.a, LATERAL (SELECT count(*) e FROM at WHERE at.c = ar.c) l WHERE ar.a IS NULL ORDER BY 1
SELECT al.b, f FROM al LEFT JOIN ar ON al.a = ar.a LEFT JOIN LATERAL generate_series(1, ar.c) f ON true WHERE ar.a IS NULL ORDER BY 1
SELECT sum(ar.c) OVER (ORDER BY al.b), al.b FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL ORDER BY ar.d, al.b LIMIT 5
SELECT al.b FROM al LEFT JOIN ar ON al.a = ar.a AND al.b < ar.d WHERE ar.d IS NULL ORDER BY 1
SELECT al.b FROM al LEFT JOIN ar ON al.a = coalesce(ar.a, 5) WHERE ar.a IS NULL ORDER BY 1
SELECT al.b FROM al LEFT JOIN ar ON (al.a = ar.a) IS NOT FALSE WHERE ar.a IS NULL ORDER BY 1
SELECT al.b FROM al LEFT JOIN ar ON al.a = ar.a WHERE ar.a IS NULL OR al.a = 3 ORDER BY 1
SELECT al.b FROM al LEFT JOIN ar ON al.a = ar.a WHERE NOT (ar.a IS NOT NULL) ORDER BY 1
SELECT al.b FROM al LEFT JOIN ar ON true WHERE ar.a IS NULL ORDER BY 1
SELECT al.b FROM al LEFT JOIN ar ON al.a = ar.a JOIN at ON at.c = al.a AND ar.a IS NULL ORDER BY 1
BEGIN; DELETE FROM at USING al LEFT JOIN ar ON al.a = ar.a WHERE at.c = al.a AND ar.a IS NULL; SELECT * FROM at ORDER BY 1, 2; ROLLBACK
BEGIN; UPDATE at SET e = coalesce(ar.c, -1) FROM al LEFT JOIN ar ON al.a = ar.a WHERE at.c = al.a AND ar.a IS NULL RETURNING at.*, ar.*; ROLLBACK
PREPARE anti(int) AS SELECT al.b, ar.c FROM al LEFT JOIN ar ON al.a = ar.a AND ar.c <> $1 WHERE ar.c IS NULL AND al.a > $1 ORDER BY 1
EXECUTE anti(2)
EXECUTE anti(3)
CREATE TABLE ne_t (id int, a int, b text)
CREATE TABLE ne_u (id int, a int, b text)
INSERT INTO ne_t SELECT g, g % 50, 'x' || g % 7 FROM generate_series(1, 300) g
INSERT INTO ne_u SELECT g, g % 60 + 20, 'x' || g % 5 FROM generate_series(1, 300) g
INSERT INTO ne_u VALUES (301, NULL, NULL), (302, 1, NULL)
ANALYZE ne_t, ne_u
EXPLAIN (COSTS OFF) SELECT count(*) FROM ne_t t0 WHERE EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = t0.a AND t1.a IN (SELECT a FROM ne_t t2))
SELECT count(*) FROM ne_t t0 WHERE [[NOT ¦]]EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = t0.a AND [[NOT ¦]]EXISTS (SELECT 1 FROM ne_t t2 WHERE t2.a = t1.a AND t2.id > 100))
SELECT count(*) FROM ne_t t0 WHERE [[NOT ¦]]EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = t0.a AND t1.a [[NOT ¦]]IN (SELECT a FROM ne_t t2 WHERE t2.id < 40))
SELECT count(*) FROM ne_t t0 WHERE [[NOT ¦]]EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = t0.a AND (EXISTS (SELECT 1 FROM ne_t t2 WHERE t2.a = t1.a AND t2.id = t0.id) OR t1.b = 'x1'))
SELECT count(*) FROM ne_t t0 WHERE [[NOT ¦]]EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = t0.a AND [[NOT ¦]]EXISTS (SELECT 1 FROM ne_t t2 WHERE t2.a = t1.a AND t2.b = t0.b))
SELECT count(*) FROM ne_t t0 WHERE EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = t0.a AND t1.id = (SELECT min(t2.id) FROM ne_u t2 WHERE t2.a = t0.a))
SELECT count(*) FROM ne_t t0 LEFT JOIN ne_u u ON u.id = t0.id WHERE EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = u.a AND t1.id = ANY (ARRAY(SELECT t2.id FROM ne_t t2 WHERE t2.a < t1.a)))
SELECT t0.id FROM ne_t t0 WHERE EXISTS (SELECT 1 FROM ne_u t1 LEFT JOIN ne_u t3 ON t3.id = t1.a WHERE t1.a = t0.a AND EXISTS (SELECT 1 FROM ne_t t2 WHERE t2.a = t3.a AND EXISTS (SELECT 1 FROM ne_u t4 WHERE t4.a = t2.a AND t4.b = 'x3'))) ORDER BY 1
SELECT t0.id, (SELECT count(*) FROM ne_t t5 WHERE EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = t5.a AND t1.a = t0.a AND EXISTS (SELECT 1 FROM ne_t t2 WHERE t2.a = t1.a AND t2.id < t0.id))) FROM ne_t t0 WHERE t0.id % 30 = 0 ORDER BY 1
WITH w AS (UPDATE ne_t t0 SET b = 'y' WHERE EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = t0.a AND t1.a IN (SELECT a FROM ne_t t2 WHERE t2.id < 20)) RETURNING id) SELECT id FROM w ORDER BY id
WITH w AS (DELETE FROM ne_t t0 WHERE NOT EXISTS (SELECT 1 FROM ne_u t1 WHERE t1.a = t0.a AND EXISTS (SELECT 1 FROM ne_t t2 WHERE t2.a = t1.a)) RETURNING id) SELECT id FROM w ORDER BY id
DROP TABLE ne_t, ne_u
