-- Partitions that a partition constraint excludes, although they are default partitions.
CREATE TABLE pl (a int, b text) PARTITION BY RANGE (a); CREATE TABLE pl1 PARTITION OF pl FOR VALUES FROM (1) TO (10); CREATE TABLE pl2 PARTITION OF pl FOR VALUES FROM (10) TO (20) PARTITION BY LIST (b); CREATE TABLE pl2x PARTITION OF pl2 FOR VALUES IN ('x', 'y'); CREATE TABLE pl2d PARTITION OF pl2 DEFAULT; CREATE TABLE pl3 PARTITION OF pl FOR VALUES FROM (20) TO (40) PARTITION BY RANGE (a); CREATE TABLE pl31 PARTITION OF pl3 FOR VALUES FROM (20) TO (30); CREATE TABLE pl3d PARTITION OF pl3 DEFAULT; CREATE TABLE pld PARTITION OF pl DEFAULT
INSERT INTO pl SELECT g, (array['x', 'y', 'z', NULL])[1 + g % 4] FROM generate_series(0, 45) g
EXPLAIN (COSTS OFF) SELECT * FROM [[pl¦pl2¦pl3]] WHERE [[a = 25¦a < 12¦a = 25 OR a = 50¦a = 3 OR b = 'z'¦a < 5 OR (a > 25 AND a < 29)¦a = 20 OR a = 39¦a > 35 AND b IS NULL¦a = 15 AND b = 'q']]
SELECT tableoid::regclass, * FROM [[pl¦pl2¦pl3]] WHERE [[a = 25¦a < 12¦a = 3 OR b = 'z'¦a < 5 OR (a > 25 AND a < 29)¦a > 35 AND b IS NULL]] ORDER BY a
BEGIN; DELETE FROM pl3 WHERE a = 5 OR a = 39 RETURNING *; ROLLBACK
DROP TABLE pl
