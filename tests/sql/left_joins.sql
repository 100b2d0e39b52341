-- Left joins whose position in the join order is not fixed.
CREATE TEMP TABLE la (a int PRIMARY KEY, b int, c int)
CREATE TEMP TABLE lb (a int PRIMARY KEY, d int, e text)
CREATE TEMP TABLE lc (c int, f int)
CREATE TEMP TABLE ld (f int PRIMARY KEY, g text)
INSERT INTO la SELECT g, g % 50, g % 7 FROM generate_series(1, 500) g
INSERT INTO lb SELECT g, nullif(g % 5, 0), 'e' || g % 9 FROM generate_series(1, 300, 2) g
INSERT INTO lc SELECT g % 9, g FROM generate_series(1, 30) g
INSERT INTO ld SELECT g, 'g' || g % 3 FROM generate_series(1, 20) g
ANALYZE la; ANALYZE lb; ANALYZE lc; ANALYZE ld
EXPLAIN (COSTS OFF) SELECT la.a, lb.e FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c WHERE lc.f = 3 AND la.a < 20
SELECT count(*), sum(la.a), count(lb.e), min(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c
SELECT count(*), sum(la.a), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c WHERE lc.f = 3
SELECT count(*), sum(la.a), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = coalesce(lb.d, 2)
SELECT count(*), sum(la.a), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c WHERE coalesce(lb.d, 1) = 1
SELECT count(*), sum(la.a), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a AND lb.d > 2 JOIN lc ON lc.c = la.c LEFT JOIN ld ON ld.f = lc.f
SELECT count(*), count(lb.e), count(ld.g) FROM la LEFT JOIN lb ON lb.a = la.a LEFT JOIN ld ON ld.f = lb.d JOIN lc ON lc.c = la.c
SELECT count(*), count(lb.e), count(ld.g) FROM la LEFT JOIN (lb LEFT JOIN ld ON ld.f = lb.d) ON lb.a = la.a JOIN lc ON lc.c = la.c AND lc.f > 4
SELECT count(*), count(lb.e), count(ld.g) FROM la LEFT JOIN (lb JOIN ld ON ld.f = lb.d) ON lb.a = la.a JOIN lc ON lc.c = la.c
SELECT count(*), count(lb.e) FROM la LEFT JOIN lb ON true AND lb.a < 4 JOIN lc ON lc.c = la.c
SELECT count(*), count(lb.e) FROM la LEFT JOIN lb ON la.b = lb.d AND lb.a = la.c + 1 JOIN lc ON lc.c = la.c JOIN ld ON ld.f = lc.f
SELECT count(*), count(lb.e) FROM la JOIN lc ON lc.c = la.c LEFT JOIN lb ON lb.a = la.a AND lb.d = lc.f
SELECT count(*), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c WHERE la.b IN (SELECT f FROM ld)
SELECT count(*), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c WHERE lb.d IN (SELECT f FROM ld)
SELECT count(*), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c WHERE coalesce(lb.d, 3) IN (SELECT f FROM ld)
SELECT count(*), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c WHERE NOT EXISTS (SELECT FROM ld WHERE ld.f = coalesce(lb.d, 3))
SELECT count(*), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c WHERE EXISTS (SELECT FROM ld WHERE ld.f = la.b AND (lb.d IS NULL OR ld.g > 'g'))
SELECT count(*), count(lb.e) FROM la LEFT JOIN lb ON lb.a = la.a, LATERAL (SELECT lc.f + coalesce(lb.d, 0) AS n FROM lc WHERE lc.c = la.c) l JOIN ld ON ld.f = l.n
SELECT count(*), sum(n) FROM la LEFT JOIN lb ON lb.a = la.a LEFT JOIN LATERAL (SELECT count(*) n FROM lc WHERE lc.c = lb.d OR lc.c = la.c) l ON true JOIN lc x ON x.c = la.c
SELECT count(*), count(lb.e), count(x.c) FROM la FULL JOIN lc x ON x.c = la.a LEFT JOIN lb ON lb.a = la.a JOIN ld ON ld.f = coalesce(x.f, la.b)
SELECT count(*), count(lb.e) FROM (SELECT * FROM la LEFT JOIN lb USING (a)) la LEFT JOIN lb USING (a) JOIN lc USING (c)
SELECT count(*), sum(v.n) FROM la LEFT JOIN (SELECT d, count(*) n FROM lb GROUP BY d) v ON v.d = la.c JOIN lc ON lc.c = la.c JOIN ld ON ld.f = lc.f WHERE ld.g = 'g1'
SELECT la.a, (SELECT count(*) FROM lb LEFT JOIN ld ON ld.f = lb.d JOIN lc ON lc.c = lb.d WHERE lb.a < la.a) FROM la WHERE la.a < 9 ORDER BY 1
SELECT count(*) FROM la LEFT JOIN lb b1 ON b1.a = la.a LEFT JOIN lb b2 ON b2.a = la.b LEFT JOIN lb b3 ON b3.a = b1.d LEFT JOIN ld ON ld.f = b2.d JOIN lc ON lc.c = la.c WHERE lc.f < 9
SELECT lb.e, count(*) FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c GROUP BY ROLLUP (lb.e) ORDER BY 1
BEGIN; UPDATE la SET b = -1 FROM lc LEFT JOIN ld ON ld.f = lc.f JOIN lb ON lb.d = lc.c WHERE la.a = lb.a; SELECT count(*), sum(b) FROM la; ROLLBACK
SELECT la.a FROM la LEFT JOIN lb ON lb.a = la.a JOIN lc ON lc.c = la.c WHERE lc.f = 3 ORDER BY 1 LIMIT 3 FOR UPDATE OF la
-- Conditions on columns of the nullable side: the left join may still change places with joins of its left side.
CREATE TEMP TABLE le AS SELECT g AS n FROM generate_series(1, 40) g
ANALYZE le
EXPLAIN (COSTS OFF) SELECT count(*) FROM la CROSS JOIN le x CROSS JOIN le y LEFT JOIN lb ON lb.a = la.a WHERE lb.d IS NULL OR lb.d = la.c
EXPLAIN (COSTS OFF) SELECT count(*) FROM la CROSS JOIN le x LEFT JOIN lb ON lb.a = la.a AND lb.d > 2 WHERE coalesce(lb.d, 1) = 1
SELECT count(*), sum(x.n), count(lb.d) FROM la CROSS JOIN le x CROSS JOIN le y LEFT JOIN lb ON lb.a = la.a WHERE lb.d IS NULL OR lb.d = la.c
SELECT count(*), sum(x.n), count(lb.d) FROM la CROSS JOIN le x LEFT JOIN lb ON lb.a = la.a AND lb.d > 2 WHERE coalesce(lb.d, 1) = 1
SELECT count(*), sum(x.n), count(lb.d) FROM la CROSS JOIN le x LEFT JOIN lb ON lb.a = la.a WHERE lb.d IS DISTINCT FROM x.n
SELECT count(*), sum(x.n), count(ld.g) FROM la CROSS JOIN le x LEFT JOIN lb ON lb.a = la.a LEFT JOIN ld ON ld.f = lb.d WHERE coalesce(ld.f, x.n) = coalesce(lb.d, 7)
SELECT count(*), sum(x.n), count(ld.g) FROM la, le x LEFT JOIN lb ON lb.a = x.n LEFT JOIN ld ON ld.f = x.n + 1 WHERE la.a = x.n AND (ld.g IS NULL OR lb.e IS NULL) AND coalesce(lb.a, la.a) = la.a
SELECT count(*), sum(x.n) FROM la CROSS JOIN le x LEFT JOIN lb ON lb.a = la.a WHERE coalesce(lb.d, 3) <= ANY (SELECT f FROM ld WHERE ld.f > la.c) AND x.n < 9
SELECT count(*), sum(x.n) FROM la CROSS JOIN le x LEFT JOIN lb ON lb.a = la.a WHERE NOT EXISTS (SELECT FROM ld WHERE ld.f = x.n) AND (lb.a IS NULL OR EXISTS (SELECT FROM lc WHERE lc.c = lb.d))
SELECT count(*), sum(x.n) FROM la LEFT JOIN lb ON lb.a = la.a CROSS JOIN le x WHERE lb.a IS NULL AND x.n = la.c AND EXISTS (SELECT FROM ld WHERE ld.f = coalesce(lb.d, la.c))
SELECT count(*), count(l.m) FROM la CROSS JOIN le x LEFT JOIN lb ON lb.a = la.a CROSS JOIN LATERAL (SELECT coalesce(lb.d, x.n) AS m OFFSET 0) l WHERE l.m = la.c
SELECT count(*), sum(lb.d), count(ld.g) FROM la LEFT JOIN lb ON lb.a = la.a LEFT JOIN ld ON ld.f = lb.d WHERE EXISTS (SELECT FROM lc WHERE lc.f = la.b) AND NOT EXISTS (SELECT FROM lc x WHERE x.f = la.c + 20) AND (ld.g IS NULL OR lb.d > 1)
SELECT count(*), sum(d) FROM (SELECT * FROM la WHERE b IN (SELECT f FROM lc)) s LEFT JOIN lb ON lb.a = s.a WHERE coalesce(lb.d, s.c) = s.c
-- With an empty array, ANY is false and ALL is true even for NULL, so they do not make an outer join an inner join.
CREATE TEMP TABLE ea(a int); CREATE TEMP TABLE eb(a int, b int[]); INSERT INTO ea VALUES (1), (2), (3), (NULL); INSERT INTO eb VALUES (2, '{}'), (3, '{3}'), (5, NULL)
SELECT ea.a, eb.a FROM ea LEFT JOIN eb USING (a) WHERE (eb.a <> ANY ('{}'::int[])) <= (ea.a > 100) ORDER BY 1
SELECT ea.a, eb.a FROM ea LEFT JOIN eb ON ea.a = eb.a WHERE NOT (eb.a = ANY ('{}'::int[])) ORDER BY 1
SELECT ea.a, eb.a FROM ea LEFT JOIN eb ON ea.a = eb.a WHERE (eb.a = ANY ('{}'::int[])) IS FALSE ORDER BY 1
SELECT ea.a, eb.a FROM ea LEFT JOIN eb ON ea.a = eb.a WHERE (eb.a = ANY ('{}'::int[])) IS NOT NULL ORDER BY 1
SELECT ea.a, eb.a FROM ea LEFT JOIN eb ON ea.a = eb.a WHERE eb.a = ALL ('{}'::int[]) ORDER BY 1
SELECT ea.a, eb.a FROM ea LEFT JOIN eb ON ea.a = eb.a WHERE abs((eb.a = ANY ('{}'::int[]))::int) = 0 ORDER BY 1
SELECT ea.a, eb.a FROM ea FULL JOIN eb ON ea.a = eb.a WHERE NOT (eb.a = ANY (array_remove(ARRAY[ea.a], 2))) ORDER BY 1, 2
SELECT ea.a, x.a FROM ea LEFT JOIN eb x ON ea.a = x.a LEFT JOIN eb y ON x.a = y.a AND NOT (y.a = ANY ('{}'::int[])) WHERE NOT (y.a = ANY ('{}')) ORDER BY 1
EXPLAIN (COSTS OFF) SELECT 1 FROM ea LEFT JOIN eb ON ea.a = eb.a WHERE eb.a = ALL ('{1,2}'::int[])
EXPLAIN (COSTS OFF) SELECT 1 FROM ea LEFT JOIN eb ON ea.a > eb.a WHERE NOT (eb.a = ANY (ARRAY[ea.a, 2]))
EXPLAIN (COSTS OFF) SELECT 1 FROM ea LEFT JOIN eb ON ea.a = eb.a WHERE eb.a = ANY (ARRAY(SELECT 1))
-- A condition on the left side only remains a join condition, even if one of its columns is a known constant.
CREATE TEMP TABLE ioa(id int, x int, pad text); INSERT INTO ioa SELECT g, g % 500, repeat('x', 50) FROM generate_series(1, 5000) g; CREATE INDEX ON ioa(x)
VACUUM ANALYZE ioa
SELECT count(*), count(g) FROM (SELECT id, x FROM ioa WHERE x = 3) t LEFT JOIN generate_series(1, 2) g ON t.x = t.id
SELECT count(*) FROM (SELECT id, x FROM ioa WHERE x = 3) t LEFT JOIN LATERAL (SELECT t.x + 1 AS y OFFSET 0) g ON t.x = t.id WHERE g.y > 3
SELECT count(*) FROM (SELECT id, x FROM ioa WHERE x = 3) t WHERE EXISTS (SELECT FROM generate_series(1, 2) g WHERE t.x = t.id AND g = t.x - 2)
SELECT count(*) FROM (SELECT id, x FROM ioa WHERE x = 3) t WHERE NOT EXISTS (SELECT FROM generate_series(1, 2) g WHERE t.x = t.id AND g < t.x)
CREATE TABLE sj_a (id int, x int); CREATE TABLE sj_b (id int, aid int); CREATE TABLE sj_c (id int)
INSERT INTO sj_a SELECT g, g % 7 FROM generate_series(1, 30) g; INSERT INTO sj_b SELECT g, g % 35 FROM generate_series(1, 40) g; INSERT INTO sj_c SELECT g FROM generate_series(1, 40) g
ANALYZE sj_a; ANALYZE sj_b; ANALYZE sj_c
[[¦SET enable_hashjoin = off; ]][[¦SET enable_mergejoin = off; ]]SELECT a.id, q.s, g FROM generate_series(5, 8) g RIGHT JOIN (sj_a a LEFT JOIN (SELECT aid, 'b'::text AS s, 7 AS n FROM sj_b) q ON q.aid = a.x) ON g = q.n CROSS JOIN sj_c c WHERE nullif(q.s NOT LIKE '%e_', true) ORDER BY 1 LIMIT 2
SELECT count(*), count(q.n), count(g) FROM generate_series(5, 8) g RIGHT JOIN (sj_a a LEFT JOIN (SELECT aid, 'b'::text AS s, 7 AS n FROM sj_b) q ON q.aid = a.x) ON g = q.n CROSS JOIN sj_c c
SELECT a.id, b.id, c.id FROM sj_a a LEFT JOIN sj_b b ON b.aid = a.x LEFT JOIN sj_c c ON c.id = b.id + 1 ORDER BY a.id, b.id, c.id LIMIT 5
SELECT a.id, b.id, c.id, d.id FROM sj_a a LEFT JOIN sj_b b ON b.aid = a.x AND b.id > a.id LEFT JOIN sj_c c ON c.id = b.id LEFT JOIN sj_b d ON d.id = c.id + 1 ORDER BY 1 DESC, 2, 3, 4 LIMIT 4
RESET enable_hashjoin; RESET enable_mergejoin
SELECT count(*) FROM sj_a a WHERE EXISTS (SELECT 1 FROM sj_b b LEFT JOIN sj_c c ON c.id = b.id WHERE b.aid = a.x AND EXISTS (SELECT 1 FROM sj_c d WHERE d.id = c.id + 1))
DROP TABLE sj_a, sj_b, sj_c
