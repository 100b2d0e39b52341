-- GiST indexes: definition, plans, results, catalogs, maintenance.
CREATE SCHEMA gist_indexes; SET search_path = gist_indexes; SET jit = off
CREATE TABLE t (id int, p point, b box, c circle, o polygon, r int4range, n numrange, m int4multirange, i inet, v tsvector, q tsquery)
INSERT INTO t SELECT g, point(x, y), box(point(x, y), point(x + 3, y + g % 5)), circle(point(x, y), g % 7 + 1), polygon(circle(point(x, y), g % 7 + 1)), int4range(x, x + g % 9 + 1), numrange(x / 10.0, y / 3.0 + x + 1), int4multirange(int4range(x, x + 2), int4range(x + 5, x + 9)), ('10.' || x % 4 || '.' || y % 100 || '.' || g % 250)::inet, to_tsvector('simple', 'w' || g % 13 || ' w' || g % 17 || ' w' || g % 5), to_tsquery('simple', 'w' || g % 13 || ' & w' || g % 5) FROM (SELECT g, g * 7919 % 1000 x, g * 104729 % 1000 y FROM generate_series(1, 3000) g) s
INSERT INTO t (id) VALUES (0), (-1)
INSERT INTO t (id, r, n, m, i) VALUES (-2, 'empty', 'empty', '{}', '::1'), (-3, '(,)', '(,)', '{(,)}', '2001:db8::/32'), (-4, '[5,)', '[5,)', '{[5,)}', '10.0.0.0/8'), (-5, '(,5)', '(,5]', '{(,5),[9,12)}', '10.1.0.0/16')
CREATE INDEX t_p ON t USING gist (p)
CREATE INDEX t_b ON t USING gist (b) WITH (fillfactor = 50)
CREATE INDEX t_c ON t USING gist (c) WITH (buffering = off)
CREATE INDEX t_o ON t USING gist (o)
CREATE INDEX t_r ON t USING gist (r)
CREATE INDEX t_n ON t USING gist (n)
CREATE INDEX t_m ON t USING gist (m)
CREATE INDEX t_i ON t USING gist (i inet_ops)
CREATE INDEX t_v ON t USING gist (v)
CREATE INDEX t_q ON t USING gist (q)
ANALYZE t
-- Errors of CREATE INDEX.
CREATE UNIQUE INDEX ON t USING gist (p)
CREATE INDEX ON t USING gist (p [[DESC¦ASC¦NULLS FIRST¦NULLS LAST]])
CREATE INDEX ON t USING gist (p) WITH ([[fillfactor = 5¦buffering = maybe¦deduplicate_items = off¦fastupdate = on]])
CREATE INDEX ON t USING gist ([[id¦p box_ops¦i¦p nope_ops]])
-- Plans.
SET enable_seqscan = off
SET enable_bitmapscan = [[on¦off]]; EXPLAIN (COSTS off) SELECT * FROM t WHERE p [[<@ box '(1,1),(20,20)'¦<@ circle '<(5,5),3>'¦<@ polygon '((1,1),(3,4),(5,2))'¦~= point '(3,4)'¦<< point '(3,4)'¦<<| point '(3,4)']]
EXPLAIN (COSTS off) SELECT * FROM t WHERE box '(1,1),(20,20)' @> p
EXPLAIN (COSTS off) SELECT * FROM t WHERE [[c¦b]] && [[circle '<(5,5),3>'¦box '(1,1),(20,20)']]
EXPLAIN (COSTS off) SELECT * FROM t WHERE r [[&& int4range(1, 5)¦@> 5¦<@ int4range(1, 5)¦= int4range(1, 5)¦-|- int4range(1, 5)¦&& '{[1,5)}'::int4multirange]]
EXPLAIN (COSTS off) SELECT * FROM t WHERE i [[<< '10.1.0.0/16'¦>>= '10.1.0.1'¦= '10.1.0.1'¦&& '10.1.0.0/16']]
EXPLAIN (COSTS off) SELECT * FROM t WHERE v @@ 'w1'::tsquery AND q @> 'w1'::tsquery
EXPLAIN (COSTS off) SELECT * FROM t WHERE [[p¦r¦v]] IS [[NULL¦NOT NULL]]
EXPLAIN (COSTS off) SELECT a.id FROM t a JOIN t x ON a.r && x.r WHERE x.id < 3
EXPLAIN (COSTS off) DELETE FROM t WHERE p <@ box '(1,1),(20,20)'
EXPLAIN (COSTS off) SELECT [[p¦r¦i¦count(*)]] FROM t WHERE [[p <@ box '(1,1),(20,20)'¦r && int4range(1, 5)¦i << '10.1.0.0/16']] [[¦GROUP BY 1]]
-- Results by the indexes.
SET enable_bitmapscan = [[on¦off]]; SELECT count(*), sum(id) FROM t WHERE p [[<@ box '(100,100),(420,240)'¦<@ circle '<(500,500),130>'¦<@ polygon '((100,100),(300,800),(500,200))'¦~= point '(919,729)'¦<< point '(300,4)'¦>> point '(900,4)'¦<<| point '(3,400)'¦|>> point '(3,400)'¦<^ point '(3,40)'¦>^ point '(3,400)']]
SELECT count(*), sum(id) FROM t WHERE b [[&&¦@>¦<@¦<<¦>>¦&<¦&>¦<<|¦|>>¦&<|¦|&>¦~=]] [[box '(100,100),(420,240)'¦box '(919,729),(922,730)'¦box '(500,500),(500,500)']]
SELECT count(*), sum(id) FROM t WHERE c [[&&¦@>¦<@¦<<¦>>¦&<¦&>¦<<|¦|>>¦&<|¦|&>¦~=]] [[circle '<(500,500),130>'¦circle '<(919,729),2>']]
SELECT count(*), sum(id) FROM t WHERE o [[&&¦@>¦<@¦<<¦>>¦&<¦&>¦<<|¦|>>¦&<|¦|&>¦~=]] [[polygon '((100,100),(300,800),(500,200))'¦polygon '((919,729),(920,730),(919,731))']]
SELECT count(*), sum(id) FROM t WHERE r [[&&¦@>¦<@¦<<¦>>¦&<¦&>¦-|-¦=]] [[int4range(300, 420)¦int4range(919, 920)¦'empty'::int4range¦'(,)'::int4range¦'[5,)'::int4range¦'(,5)'::int4range¦int4range(7, 7)]]
SELECT count(*), sum(id) FROM t WHERE r [[&&¦@>¦<@¦<<¦>>¦&<¦&>¦-|-]] [['{[300,310),[400,420)}'¦'{}'¦'{(,5),[900,)}'¦'{[919,920)}']]::int4multirange
SELECT count(*), sum(id) FROM t WHERE r @> [[5¦919¦-100¦99999]]
SELECT count(*), sum(id) FROM t WHERE n [[&&¦@>¦<@¦<<¦>>¦&<¦&>¦-|-¦=]] [[numrange(30.5, 420)¦numrange(-1.5, 99999.25)¦'empty'::numrange¦'[5,)'::numrange]]
-- `<@` of multiranges with gaps finds too few rows by PostgreSQL's index.
SELECT count(*), sum(id) FROM t WHERE m <@ [['{}'¦'{(,5),[900,)}'¦'{(,)}']]::int4multirange
SELECT count(*), sum(id) FROM t WHERE m [[&&¦@>¦<<¦>>¦&<¦&>¦-|-¦=]] [['{[300,310),[400,420)}'¦'{}'¦'{(,5),[900,)}'¦'{[919,921),[924,928)}'¦'{(,)}']]::int4multirange
SELECT count(*), sum(id) FROM t WHERE m [[&&¦@>¦<@¦<<¦>>¦&<¦&>¦-|-]] [[int4range(300, 420)¦'empty'::int4range¦'[5,)'::int4range]]
SELECT count(*), sum(id) FROM t WHERE m @> [[5¦919¦922]]
SELECT count(*), sum(id) FROM t WHERE i [[<<¦<<=¦>>¦>>=¦&&¦=¦<>¦<¦<=¦>¦>=]] [['10.1.0.0/16'¦'10.3.29.169'¦'::1'¦'2001:db8::1'¦'0.0.0.0/0'¦'10.1.0.0/20']]
SELECT count(*), sum(id) FROM t WHERE v @@ [['w1'¦'w1 & w2'¦'w1 | w16'¦'!w3'¦'w1:*'¦'w1 <-> w2'¦'nope'¦'w1:a']]::tsquery
SELECT count(*), sum(id) FROM t WHERE q [[@>¦<@]] [['w1'¦'w1 & w2'¦'w1 | w2 | w3 | w4 | w12'¦'nope']]::tsquery
SELECT count(*) FROM t WHERE [[p¦r¦i¦v¦q¦m]] IS [[NULL¦NOT NULL]]
-- Index-only scans.
VACUUM t
SET enable_bitmapscan = off; SELECT p, i FROM t WHERE p <@ box '(100,100),(130,240)' ORDER BY id
SELECT p FROM t WHERE p <@ box '(100,100),(130,240)' ORDER BY p[0], p[1]
SELECT r FROM t WHERE r && int4range(300, 304) ORDER BY r
SELECT i FROM t WHERE i << '10.1.5.0/24' ORDER BY i
SELECT property, pg_index_column_has_property('t_[[p¦b¦r¦i¦v]]'::regclass, 1, property) FROM unnest('{returnable,distance_orderable,orderable,asc,search_array,search_nulls}'::text[]) property
SELECT property, pg_index_has_property('t_p'::regclass, property) FROM unnest('{clusterable,index_scan,bitmap_scan,backward_scan}'::text[]) property
-- Several columns, with NULLs and included ones.
CREATE TABLE s (a int, p point, r int4range, x text)
INSERT INTO s SELECT g, CASE WHEN g % 5 <> 0 THEN point(g % 100, g / 100) END, CASE WHEN g % 7 <> 0 THEN int4range(g % 20, g % 20 + 3) END, 'x' || g % 10 FROM generate_series(1, 4000) g
CREATE INDEX s_pr ON s USING gist (p, r) INCLUDE (x, a)
CREATE INDEX s_rp ON s USING gist (r, p)
CREATE INDEX s_expr ON s USING gist (box(p, p), (a::text || 'y' IS NULL)) WHERE a > 5
CREATE INDEX s_expr ON s USING gist (box(p, p)) WHERE a > 3900
VACUUM ANALYZE s
SELECT count(*), sum(a) FROM s WHERE p <@ box '(10,1),(30,20)' [[¦AND r @> 5¦AND r IS NULL¦AND r && int4range(2, 4)]]
SELECT count(*), sum(a) FROM s WHERE r && int4range(4, 6) AND p [[IS NULL¦IS NOT NULL¦<@ box '(0,0),(50,50)']]
SELECT x, a FROM s WHERE p <@ box '(10,1),(12,3)' AND r IS NOT NULL ORDER BY a
SELECT count(*) FROM s WHERE box(p, p) && box '(1,1),(90,50)' AND a > 3900
EXPLAIN (COSTS off) SELECT x, a FROM s WHERE p <@ box '(10,1),(12,3)'
EXPLAIN (COSTS off) SELECT count(*) FROM s WHERE box(p, p) && box '(1,1),(90,50)' AND a > 3900
SELECT pg_get_indexdef('s_pr'::regclass), pg_get_indexdef('t_b'::regclass), pg_get_indexdef('t_i'::regclass)
-- Changes and maintenance.
UPDATE s SET p = point(p[0] + 200, p[1]) WHERE p <@ box '(10,1),(30,20)'
SELECT count(*), sum(a) FROM s WHERE p <@ box '(210,1),(230,20)'
DELETE FROM s WHERE p <@ box '(0,0),(60,60)'
VACUUM s
SELECT count(*), sum(a) FROM s WHERE p <@ box '(0,0),(1000,1000)'
INSERT INTO s SELECT g, point(g % 100, g / 100), int4range(g % 20, NULL), 'z' FROM generate_series(1, 3000) g
SELECT count(*), sum(a) FROM s WHERE p <@ box '(0,0),(1000,1000)' AND r @> 100
REINDEX [[TABLE¦INDEX¦TABLE CONCURRENTLY]] [[s¦s_pr]]
SELECT count(*), sum(a) FROM s WHERE p <@ box '(0,0),(1000,1000)' AND r @> 100
CLUSTER s USING s_rp
SELECT count(*), sum(a) FROM s WHERE p <@ box '(0,0),(1000,1000)' AND r @> 100
CREATE INDEX CONCURRENTLY s_late ON s USING gist (p)
ALTER INDEX s_late SET (fillfactor = 40); REINDEX INDEX s_late
CREATE TEMP TABLE tmp (p point)
CREATE INDEX tmp_p ON tmp USING gist (p)
INSERT INTO tmp SELECT point(g % 100, g) FROM generate_series(1, 3000) g
SELECT count(*) FROM tmp WHERE p <@ box '(0,0),(50,1000)'
DELETE FROM tmp WHERE p <@ box '(0,0),(50,1000)'; VACUUM tmp
SELECT count(*) FROM tmp WHERE p <@ box '(0,0),(50,3000)'
CREATE UNLOGGED TABLE un (r int4range); CREATE INDEX un_r ON un USING gist (r)
INSERT INTO un SELECT int4range(g, g + 3) FROM generate_series(1, 3000) g
SELECT count(*) FROM un WHERE r && int4range(100, 200)
BEGIN; CREATE TABLE fresh (p point); CREATE INDEX fresh_p ON fresh USING gist (p); INSERT INTO fresh SELECT point(g, g) FROM generate_series(1, 3000) g; SELECT count(*) FROM fresh WHERE p <@ box '(1,1),(100,100)'; ROLLBACK
TRUNCATE s; SELECT count(*) FROM s WHERE p <@ box '(0,0),(1000,1000)'
INSERT INTO s VALUES (1, '(1,1)', '[1,2)', 'x'); SELECT a FROM s WHERE p <@ box '(0,0),(1000,1000)'
CREATE TABLE big (t tsvector); CREATE INDEX ON big USING gist (t)
INSERT INTO big SELECT to_tsvector('simple', string_agg('w' || g, ' ')) FROM generate_series(1, 5000) g; SELECT count(*) FROM big WHERE t @@ 'w77 & w4999'; SELECT count(*) FROM big WHERE t @@ 'w77 & q4999'
CREATE TABLE parts (p point, k int) PARTITION BY LIST (k); CREATE TABLE parts1 PARTITION OF parts FOR VALUES IN (1); CREATE INDEX parts_p ON parts USING gist (p)
INSERT INTO parts SELECT point(g, g), 1 FROM generate_series(1, 500) g; SELECT count(*) FROM parts WHERE p <@ box '(1,1),(100,100)'
DROP SCHEMA gist_indexes CASCADE
