-- Subqueries below joins need no subquery scan, and return only the columns that are used.
CREATE TABLE p3 (id int PRIMARY KEY, x int, s text);
INSERT INTO p3 SELECT g, g % 10, 'text ' || g FROM generate_series(1, 1000) g;
VACUUM ANALYZE p3;
EXPLAIN (COSTS OFF) SELECT s.id, t.id FROM (SELECT * FROM p3 ORDER BY id LIMIT 5) s JOIN p3 t ON t.id = s.id;
EXPLAIN (COSTS OFF) SELECT x.id, y.id FROM p3 x, LATERAL (SELECT * FROM p3 y WHERE y.id > x.id ORDER BY id LIMIT 1) y WHERE x.id < 5;
EXPLAIN (COSTS OFF) SELECT s.x FROM (SELECT * FROM p3 ORDER BY id LIMIT 5) s;
SELECT s.id, t.id, s.s FROM (SELECT * FROM p3 ORDER BY id LIMIT 5) s JOIN p3 t ON t.id = s.id ORDER BY 1;
SELECT x.id, y.id, y.s FROM p3 x, LATERAL (SELECT * FROM p3 y WHERE y.id > x.id ORDER BY id LIMIT 1) y WHERE x.id < 5 ORDER BY 1;
SELECT s.x, t.s FROM (SELECT id, x + 1 AS x, s FROM p3 ORDER BY id LIMIT 5) s LEFT JOIN (SELECT DISTINCT ON (x) * FROM p3 ORDER BY x, id) t ON t.x = s.x ORDER BY 1;
DROP TABLE p3;
