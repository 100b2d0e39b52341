-- Changes of rows: INSERT, UPDATE, DELETE, constraints, transactions, cursors, COPY.
CREATE TABLE m (id serial PRIMARY KEY, a int NOT NULL DEFAULT 7, b text UNIQUE, c numeric(5,2) CHECK (c > 0), d timestamp DEFAULT '2024-01-01')
CREATE TABLE child (id int PRIMARY KEY, mid int REFERENCES m(id) ON DELETE CASCADE ON UPDATE CASCADE, o int DEFAULT 3 REFERENCES m(id) ON DELETE SET NULL)
INSERT INTO m [[default values¦(b) values ('x')¦(b) values ('x')¦(a, b) values (null, 'y')¦(c) values (-1)¦(c) values (1000)¦(c) values (1.005)¦(id) values (1)¦values (1010, 1, 'z', 2.5), (1011, 2, 'zz', 3)¦(nope) values (1)¦(a, a) values (1, 2)¦(a) values (1, 2)¦(a, b) values (1)¦(a) values ('q')¦(b) values (5)¦(a) values (default)¦(id, a) select 100 + i, i from generate_series(1, 3) i¦values (50, 1, 'r', 1, '2024-02-30')¦(a) values (3000000000)¦(a) values (2.5)]] RETURNING a, b, c, d
INSERT INTO m (id, a, b) VALUES (1010, 5, 'new') ON CONFLICT [[do nothing¦(id) do nothing¦(id) do update set a = excluded.a¦(id) do update set a = m.a + excluded.a where m.a > 100¦(b) do nothing¦on constraint m_pkey do update set b = 'upd'¦(a) do nothing¦on constraint nope do nothing¦(id) do update set a = null]] RETURNING id, a, b
INSERT INTO m (id, a) VALUES (20, 1), (20, 2) ON CONFLICT (id) DO UPDATE SET a = excluded.a
SELECT a, b, c FROM m ORDER BY b, a, c
UPDATE m SET [[a = a + 1¦a = default¦b = b || '!'¦(a, b) = (1, 'multi')¦(a, c) = (select 5, 6)¦a = null¦c = -5¦id = id + 1000¦a = 'x'¦nope = 1¦a = 1, a = 2¦m.a = 3¦a = (select max(a) from m)¦d = d + interval '1 day']] WHERE id = [[1010¦-1]] RETURNING id, a, b, c, d
UPDATE m SET a = s.x FROM (VALUES (101, 77), (102, 88)) s(i, x) WHERE m.id = s.i RETURNING m.*, s.x
UPDATE m AS z SET a = z.a + 1 WHERE z.id = 101
UPDATE m SET a = 1 WHERE m.a = (SELECT a FROM m WHERE id = 101)
INSERT INTO child VALUES [[(1, 101, 102)¦(2, 999, null)¦(3, 103)¦(4, null, 101)¦(5, 101, 101)]]
DELETE FROM m WHERE id = [[101¦102¦-5]] RETURNING id
SELECT * FROM child ORDER BY id
UPDATE m SET id = 500 WHERE id = 103
SELECT * FROM child ORDER BY id
DELETE FROM m USING child WHERE m.id = child.mid RETURNING m.id, child.id
DELETE FROM [[m where nope = 1¦nope¦m using nope¦m m2 where m.id = 1]]
TRUNCATE [[m¦child¦m, child¦m cascade¦nope]]
SELECT count(*) FROM [[m¦child]]
INSERT INTO m (b) VALUES ('after') RETURNING id > 1
TRUNCATE m, child RESTART IDENTITY
INSERT INTO m (b) VALUES ('restarted') RETURNING id
BEGIN; INSERT INTO m (b) VALUES ('tx'); SAVEPOINT a; INSERT INTO m (b) VALUES ('tx'); 
SELECT 1
ROLLBACK TO a; INSERT INTO m (b) VALUES ('tx2'); RELEASE a; COMMIT
SELECT b FROM m ORDER BY b
BEGIN; [[savepoint s; rollback to nope¦release nope¦commit; commit¦rollback; rollback¦begin¦select 1/0; select 2¦set transaction isolation level serializable; show transaction_isolation¦select 1; set transaction isolation level repeatable read¦commit and chain¦set local work_mem = '1MB'; show work_mem¦lock m in access exclusive mode¦lock nope¦declare c cursor for select 1; fetch c; close c; fetch c]]
ROLLBACK
[[commit¦rollback¦end¦savepoint x¦rollback to x¦release x¦abort¦prepare transaction 'x'¦set local work_mem = '1MB'¦declare c cursor for select 1¦lock m¦fetch c¦close c¦move c¦deallocate nope¦execute nope]]
BEGIN ISOLATION LEVEL [[read committed¦repeatable read¦read uncommitted]] [[read only¦read write]]; SHOW transaction_isolation; SHOW transaction_read_only; INSERT INTO m (b) VALUES ('ro'); ROLLBACK
ROLLBACK
BEGIN READ ONLY; [[update m set a = 1¦delete from m¦create table ro (a int)¦truncate m¦select nextval('m_id_seq')¦copy m from stdin¦vacuum m¦select 1 from m for update¦create temp table ro (a int)¦drop table m¦alter table m add x int¦explain select 1]]
ROLLBACK
BEGIN; DECLARE c [[¦scroll¦no scroll¦binary]] CURSOR FOR SELECT i, 'r' || i FROM generate_series(1, 5) i; FETCH [[next¦2¦all¦first¦last¦prior¦absolute 3¦absolute -1¦relative 2¦backward 1¦forward all¦0¦-1]] FROM c; FETCH 1 FROM c; MOVE 1 FROM c; FETCH [[prior¦next]] FROM c; CLOSE ALL; COMMIT
ROLLBACK
DECLARE h CURSOR WITH HOLD FOR SELECT i FROM generate_series(1, 3) i; FETCH 2 FROM h; FETCH 2 FROM h; CLOSE h
PREPARE p1 (int, text) AS SELECT $1 + 1, $2 || 'x'; EXECUTE p1 ([[1, 'a'¦'2', 'b'¦1¦1, 2, 3¦'q', 'a'¦null, null¦1.5, 'z']]); 
DEALLOCATE p1
PREPARE p2 AS SELECT $1::int; EXECUTE p2 (5); DEALLOCATE ALL; EXECUTE p2 (5)
PREPARE p3 AS INSERT INTO m (b) VALUES ($1) RETURNING b; EXECUTE p3 ('[[p3¦p3b]]'); DEALLOCATE p3
COPY (SELECT i, null::text, 'a b' || chr(9) || i, e'x\ny', '"q"' FROM generate_series(1, 2) i) TO STDOUT [[¦csv¦csv header¦(format csv, delimiter ';', quote '''')¦(format csv, force_quote *)¦(null 'NIL')¦(delimiter '|')¦(format text, header)¦(format csv, null 'N')¦(format csv, escape '\')]]
COPY m TO STDOUT (FORMAT nope)
COPY [[m (id, b)¦m (nope)¦nope¦m (id, id)]] TO STDOUT
SELECT currval('m_id_seq') > 0, nextval('m_id_seq') > 0, setval('m_id_seq', [[10000¦10000, false¦0]]), lastval() > 0
SELECT nextval('m_id_seq'), currval('nope')
CREATE SEQUENCE sq [[start 5 increment 2¦start 10 minvalue 1 maxvalue 10 cycle¦increment -1¦as smallint¦start 0¦increment 0¦minvalue 10 maxvalue 5¦cache 0¦owned by m.a]]; SELECT nextval('sq'), nextval('sq'), nextval('sq'); SELECT last_value, is_called FROM sq; DROP SEQUENCE sq
DROP SEQUENCE IF EXISTS sq
WITH i AS (INSERT INTO m (b) VALUES ('cte') RETURNING id, b), u AS (UPDATE m SET a = 9 WHERE b = 'restarted' RETURNING id) SELECT i.b, (SELECT count(*) FROM u) FROM i
WITH d AS (DELETE FROM m WHERE b = 'cte' RETURNING *) INSERT INTO m (b) SELECT b || '2' FROM d RETURNING b
CREATE TABLE big (id int PRIMARY KEY, t text); INSERT INTO big SELECT i, repeat(md5(i::text), 200 * (i % 3 + 1)) FROM generate_series(1, 30) i
SELECT id, length(t), md5(t), substr(t, 6000, 20) FROM big ORDER BY id
UPDATE big SET t = t || 'x' WHERE id % 4 = 0; SELECT sum(length(t)), md5(string_agg(t, '' ORDER BY id)) FROM big
DELETE FROM big WHERE id % 2 = 0; VACUUM big; SELECT count(*), max(length(t)) FROM big
SELECT pg_column_size(t) < 3000 FROM big WHERE id = 1; UPDATE big SET id = id + 100; SELECT md5(string_agg(t, '' ORDER BY id)) FROM big; DROP TABLE big
INSERT INTO m (b, c) SELECT 'many' || i, i % 100 + 1 FROM generate_series(1, 3000) i; UPDATE m SET c = c / 2 WHERE b LIKE 'many%7'; DELETE FROM m WHERE b LIKE 'many1%'; SELECT count(*), sum(c), min(b), max(b) FROM m WHERE b LIKE 'many%'
SELECT count(*) FROM m WHERE b = 'many2345'; SELECT b FROM m WHERE b > 'many99' ORDER BY b LIMIT 3; SELECT b FROM m WHERE b LIKE 'many9%' ORDER BY b DESC LIMIT 3
VACUUM ANALYZE m; SELECT count(*), sum(c) FROM m WHERE b LIKE 'many%'
SELECT [[b¦a]] FROM m WHERE b IN ('many22', 'many33', 'restarted') ORDER BY b FOR [[update¦no key update¦share¦key share¦update nowait¦share skip locked¦update of m¦update of nope]]
DROP TABLE m; DROP TABLE child, m; DROP TABLE IF EXISTS m

-- Conflicts of NULLs with NULLS NOT DISTINCT.
CREATE TABLE alike (i int UNIQUE NULLS NOT DISTINCT, t text);
INSERT INTO alike VALUES (NULL, 'a'), (1, 'b');
INSERT INTO alike (t) VALUES ('c');
INSERT INTO alike (t) VALUES ('d') ON CONFLICT DO NOTHING;
INSERT INTO alike (t) VALUES ('e') ON CONFLICT (i) DO UPDATE SET t = alike.t || excluded.t RETURNING *;
INSERT INTO alike VALUES (NULL, 'f'), (2, 'g'), (1, 'h') ON CONFLICT (i) DO UPDATE SET t = excluded.t;
SELECT * FROM alike ORDER BY i;
DROP TABLE alike;
CREATE TABLE d_seen (a int)
INSERT INTO d_seen VALUES (1), (2), (3)
CREATE FUNCTION d_max() RETURNS int LANGUAGE sql VOLATILE AS 'SELECT max(a) FROM d_seen'
CREATE FUNCTION d_max_before() RETURNS int LANGUAGE sql STABLE AS 'SELECT max(a) FROM d_seen'
BEGIN; UPDATE d_seen SET a = [[d_max¦d_max_before]]() + 10; SELECT a FROM d_seen ORDER BY a; ROLLBACK
BEGIN; INSERT INTO d_seen SELECT [[d_max¦d_max_before]]() + g FROM generate_series(1, 4) g; SELECT a FROM d_seen ORDER BY a; ROLLBACK
BEGIN; DELETE FROM d_seen WHERE a > (SELECT [[d_max¦d_max_before]]()) - 2; SELECT a FROM d_seen ORDER BY a; ROLLBACK
DROP FUNCTION d_max(), d_max_before()
BEGIN; SET TRANSACTION READ ONLY; SHOW transaction_read_only; SAVEPOINT x; SET TRANSACTION READ ONLY
SET TRANSACTION READ WRITE
ROLLBACK
BEGIN; SAVEPOINT x; SET TRANSACTION READ ONLY; SHOW transaction_read_only; [[ROLLBACK TO¦RELEASE]] x; SHOW transaction_read_only
SAVEPOINT y; SET TRANSACTION READ ONLY; SAVEPOINT z; SET TRANSACTION READ WRITE
ROLLBACK TO y; SHOW transaction_read_only
ROLLBACK
BEGIN READ ONLY; SELECT 1; SET TRANSACTION [[READ ONLY¦READ WRITE¦DEFERRABLE¦NOT DEFERRABLE]]
ROLLBACK
BEGIN; SAVEPOINT x; SET TRANSACTION DEFERRABLE
ROLLBACK
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE; [[¦SAVEPOINT x; ]]SELECT 1 / 0
COMMIT AND CHAIN
SHOW transaction_isolation; SHOW transaction_read_only; SHOW transaction_deferrable
ROLLBACK
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE; COMMIT AND CHAIN
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT 1 / 0
COMMIT AND CHAIN
SHOW transaction_isolation; SHOW transaction_read_only; SHOW transaction_deferrable; SAVEPOINT x; SELECT 1 / 0
ROLLBACK AND CHAIN
SHOW transaction_isolation; SHOW transaction_read_only; SHOW transaction_deferrable
ROLLBACK
-- RETURNING WITH, which PostgreSQL 15 does not have.
CREATE TABLE newer (a int, b int)
INSERT INTO newer VALUES (1) RETURNING WITH (old AS o) o.a
DROP TABLE newer
CREATE TABLE cte_order (id serial, w text)
WITH a AS (INSERT INTO cte_order (w) VALUES ('a') RETURNING *), b AS (INSERT INTO cte_order (w) VALUES ('b') RETURNING *), c AS (INSERT INTO cte_order (w) VALUES ('c') RETURNING *) SELECT [[1¦w FROM a¦w FROM b¦w FROM c]]; SELECT id, w FROM cte_order ORDER BY id; TRUNCATE cte_order RESTART IDENTITY
WITH a AS (INSERT INTO cte_order (w) VALUES ('a'), ('a2') RETURNING *), c AS (INSERT INTO cte_order (w) VALUES ('c')) [[SELECT w FROM a LIMIT 1¦INSERT INTO cte_order (w) VALUES ('m')]]; SELECT id, w FROM cte_order ORDER BY id; TRUNCATE cte_order RESTART IDENTITY
INSERT INTO cte_order (w) VALUES ('x'); WITH a AS (UPDATE cte_order SET w = 'a'), b AS (UPDATE cte_order SET w = 'b') SELECT 1; SELECT w FROM cte_order; DROP TABLE cte_order
CREATE TABLE view_defaults (one int DEFAULT 5 UNIQUE, two int DEFAULT 6); INSERT INTO view_defaults VALUES (1, 2); CREATE VIEW vd AS SELECT * FROM view_defaults; ALTER VIEW vd ALTER one SET DEFAULT 77; CREATE VIEW vd2 AS SELECT two y, one x FROM vd
UPDATE [[vd SET one = DEFAULT, two = DEFAULT¦vd2 SET x = DEFAULT, y = DEFAULT¦view_defaults SET (one, two) = (DEFAULT, DEFAULT)¦vd SET (two, one) = ROW (DEFAULT, DEFAULT)]] RETURNING *
DELETE FROM vd; INSERT INTO vd VALUES (77, 1); INSERT INTO vd VALUES (77, 2) ON CONFLICT (one) DO UPDATE SET two = DEFAULT RETURNING *; INSERT INTO vd VALUES (77, 2) ON CONFLICT (one) DO UPDATE SET one = DEFAULT, two = excluded.two RETURNING *
DROP TABLE view_defaults CASCADE
