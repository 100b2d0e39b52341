-- Window functions over partitions whose batches of rows are not full: conditions below have removed
-- some of the rows.
CREATE TEMP TABLE thinned AS SELECT g, g % 7 AS k, repeat('x', g % 50) AS t FROM generate_series(1, 5000) g
SELECT count(*), sum(s), min(c) FROM (SELECT [[sum(g)¦count(g)¦max(g)]] OVER (), count(*) OVER () AS c, sum(g) OVER () AS s FROM thinned WHERE [[g % 3 <> 0¦g % 10 < 7¦g % 2 = 0¦g > 700]]) q
SELECT count(*), sum(s) FROM (SELECT [[sum(g) OVER (ORDER BY g ROWS 2 PRECEDING)¦sum(g) OVER (ORDER BY k)¦first_value(g) OVER (ORDER BY g ROWS BETWEEN 900 PRECEDING AND 500 PRECEDING)¦last_value(g) OVER ()¦nth_value(g, 1500) OVER ()¦lag(g, 800) OVER ()¦lead(g, 1100) OVER ()¦ntile(5) OVER ()¦rank() OVER (ORDER BY k)¦sum(g) OVER (ORDER BY g RANGE BETWEEN 5 PRECEDING AND 1200 FOLLOWING)¦count(g) OVER (ORDER BY g GROUPS BETWEEN 600 PRECEDING AND 600 FOLLOWING EXCLUDE GROUP)]] s FROM (SELECT * FROM thinned OFFSET 0) x WHERE [[g % 3 <> 0¦g % 10 < 7]]) q
