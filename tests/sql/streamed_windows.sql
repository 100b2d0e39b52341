-- LIMIT over window functions: values of the first rows are computed before the partition has been read
-- to its end, if no value depends on rows after the peers of its row.
CREATE TEMP TABLE streamed AS SELECT g, g % 7 AS k, g / 5 AS p, repeat('x', g % 50) AS t FROM generate_series(1, 5000) g
CREATE INDEX ON streamed (g)
CREATE INDEX ON streamed (p)
ANALYZE streamed
SELECT g, [[row_number()¦rank()¦dense_rank()¦sum(g)¦count(*)¦avg(k)¦lag(g)¦first_value(g)¦last_value(t)¦nth_value(g, 3)¦lead(g)¦ntile(4)¦cume_dist()¦percent_rank()]] OVER (ORDER BY [[g¦p]]) FROM streamed ORDER BY [[g¦p, g]] LIMIT [[1¦7¦300¦1500]]
SELECT p, [[rank()¦dense_rank()¦sum(g)¦count(*)¦max(g)¦first_value(p)¦last_value(p)]] OVER (ORDER BY p) FROM streamed ORDER BY p LIMIT [[3¦5¦6¦23¦1030]]
SELECT g, sum(g) OVER (ORDER BY g [[ROWS 2 PRECEDING¦ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING¦ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING¦RANGE 10 PRECEDING¦RANGE BETWEEN 10 PRECEDING AND 4 PRECEDING¦GROUPS 3 PRECEDING¦ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW¦RANGE UNBOUNDED PRECEDING EXCLUDE TIES¦ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING]]) FROM streamed ORDER BY g LIMIT [[4¦40]] OFFSET [[0¦11¦2000]]
SELECT k, g, [[row_number()¦sum(g)¦lag(g)]] OVER (PARTITION BY k ORDER BY g) FROM streamed ORDER BY k, g LIMIT [[5¦713¦714¦715¦2500]]
SELECT p, g, row_number() OVER (PARTITION BY p ORDER BY g), sum(g) OVER (PARTITION BY p) FROM streamed ORDER BY p, g LIMIT [[4¦5¦6¦29]]
SELECT g, row_number() OVER (ORDER BY g), sum(k) OVER (ORDER BY g DESC) FROM streamed ORDER BY g LIMIT 5
SELECT * FROM (SELECT g, row_number() OVER (ORDER BY g) n, sum(g) OVER (ORDER BY g) s FROM streamed) q WHERE [[n % 9 = 0¦s > 1000¦n <= 4¦n <= 2000]] LIMIT [[3¦100]]
SELECT x, (SELECT sum(n) FROM (SELECT row_number() OVER (ORDER BY g) n FROM streamed WHERE g > x LIMIT x) q) FROM generate_series(1, 6) x
SELECT x, y.* FROM generate_series(1, 4) x, LATERAL (SELECT g, sum(g) OVER (ORDER BY g) FROM streamed WHERE g % 5 = x ORDER BY g LIMIT 3) y
SELECT g, 10 / (6 - row_number() OVER (ORDER BY g)) FROM streamed ORDER BY g LIMIT [[5¦6]]
SELECT g, sum(10 / (8 - g)) OVER (ORDER BY g) FROM streamed ORDER BY g LIMIT 5
-- Only the requested rows and the next one are read.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT g, [[row_number()¦sum(g)¦lag(g)]] OVER (ORDER BY g) FROM streamed ORDER BY g LIMIT 10
