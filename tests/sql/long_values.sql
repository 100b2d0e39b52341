-- Values that are shared between rows and batches instead of being copied, and those just below that size.
SELECT sum(get_byte(b, i)) FROM (SELECT decode(repeat('ab', 100000), 'hex') b) q, generate_series(1, 5000) i
SELECT sum(get_bit(b, i)) FROM (SELECT repeat('1', 100000)::varbit b) q, generate_series(1, 5000) i
SELECT count(*) FROM (SELECT array_agg(i) a FROM generate_series(1, 20000) i) q, generate_series(1, 20000) i WHERE a[i] = i AND a[i + 1] > i
SELECT sum(((SELECT array_agg(i) FROM generate_series(1, 20000) i))[g]) FROM generate_series(1, 5000) g
WITH x AS MATERIALIZED (SELECT array_agg(i) a FROM generate_series(1, 20000) i) SELECT sum(a[g]) FROM x, generate_series(1, 5000) g
CREATE TABLE lv (id int, t text)
INSERT INTO lv SELECT g, repeat(chr(64 + g % 26), (ARRAY[0, 1, 4095, 4096, 4097, 9000, 300000])[g % 7 + 1]) FROM generate_series(1, 60) g
INSERT INTO lv VALUES (61, NULL), (62, ''), (63, repeat('é', 2048))
SELECT id, length(t), md5(t) FROM lv ORDER BY id
SELECT a.id, b.id, length(a.t || b.t), md5(a.t), md5(b.t) FROM lv a JOIN lv b ON a.id % 5 = b.id % 7 ORDER BY 1, 2
SELECT a.id, b.id, md5(a.t), md5(b.t) FROM lv a LEFT JOIN lv b ON a.t = b.t AND a.id < b.id ORDER BY 1, 2
SELECT a.id, b.id, md5(coalesce(a.t, b.t)) FROM lv a FULL JOIN lv b ON a.id = b.id + 40 ORDER BY 1, 2
SELECT md5(t), count(*), min(id) FROM lv GROUP BY t ORDER BY 3
SELECT DISTINCT md5(t), length(t) FROM (SELECT t FROM lv, generate_series(1, 3)) q ORDER BY 1, 2
SET work_mem = '64kB'
SELECT a.id, md5(a.t), g FROM lv a, generate_series(1, 20) g ORDER BY g DESC, a.t DESC NULLS LAST, a.id
SELECT count(*), sum(length(t)) FROM (SELECT t FROM lv, generate_series(1, 50) OFFSET 0) q
SELECT id, g, md5(t), md5(first_value(t) OVER w), md5(lag(t, 3) OVER w), count(t) OVER w FROM lv, generate_series(1, 3) g WINDOW w AS (PARTITION BY id % 4 ORDER BY g, id) ORDER BY 1, 2
SELECT a.id, b.id, md5(a.t), md5(b.t) FROM lv a JOIN lv b ON length(a.t) = length(b.t) ORDER BY 1, 2
WITH RECURSIVE r(n, t) AS (SELECT 1, t FROM lv WHERE id = 6 UNION ALL SELECT n + 1, t FROM r WHERE n < 40) SELECT n, md5(t), length(t) FROM r ORDER BY n
RESET work_mem
SELECT x.id, y.id, md5(y.t) FROM lv x CROSS JOIN LATERAL (SELECT id, t FROM lv WHERE id >= x.id ORDER BY id LIMIT 2) y ORDER BY 1, 2
SELECT id, md5((SELECT t FROM lv i WHERE i.id = o.id)), md5(CASE WHEN id % 2 = 0 THEN t ELSE repeat('x', 5000) END) FROM lv o ORDER BY id
SELECT g, md5(repeat('x', 100000)), md5(repeat('y', 2000000)), length(concat(g, repeat('z', 20000))) FROM generate_series(1, 3) g
SELECT md5(string_agg(t, '' ORDER BY id)), md5(array_agg(t ORDER BY id)::text) FROM lv
SELECT t = repeat('x', 4096), t < repeat('A', 9000), strpos(repeat('A', 30000), t) FROM lv ORDER BY id
UPDATE lv a SET t = b.t FROM lv b WHERE b.id = a.id + 1 RETURNING a.id, md5(a.t)
INSERT INTO lv SELECT id + 100, t FROM lv RETURNING id, md5(t)
PREPARE lv1(text, int[]) AS SELECT id, t = $1, id = ANY ($2), md5($1) FROM lv ORDER BY id LIMIT 12
EXECUTE lv1(repeat('F', 4096), (SELECT array_agg(g) FROM generate_series(2, 3000, 2) g))
DEALLOCATE lv1
SELECT max(length(t)), min(octet_length(t)), g % 3 FROM (SELECT repeat('x', 100000) t, g FROM generate_series(1, 2000) g) z GROUP BY g % 3 ORDER BY 3
SELECT sum(get_bit(b, i)) FROM (SELECT repeat('10', 50000)::varbit b) q, generate_series(1, 5000) i
SELECT count(*) FROM generate_series(1, 3000) g WHERE g = ANY (string_to_array(repeat('7,8,900,', 5000) || '5', ',')::int[])
SELECT g, length(nullif(repeat('x', 20000), 'x')) FROM generate_series(1, 2) g WHERE g < length(repeat('x', 20000))
DROP TABLE lv
