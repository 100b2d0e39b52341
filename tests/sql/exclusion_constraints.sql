-- Exclusion constraints.
CREATE SCHEMA exclusion_constraints; SET search_path = exclusion_constraints

CREATE TABLE reserved (room int4range, during tsrange, note text, EXCLUDE USING gist (room WITH =, during WITH &&))
SELECT conname, contype, condeferrable, conkey, conexclop::regoperator[], pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'reserved'::regclass
SELECT indisexclusion, indisunique, indimmediate, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'reserved'::regclass
INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01, 2026-01-02)', 'a')
INSERT INTO reserved VALUES ('[1,1]', '[2026-01-02, 2026-01-03)', 'b')
INSERT INTO reserved VALUES ('[2,2]', '[2026-01-01, 2026-01-02)', 'c')
INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01 12:00, 2026-01-03)', 'd')
INSERT INTO reserved VALUES (NULL, '[2026-01-01 12:00, 2026-01-03)', 'e')
INSERT INTO reserved VALUES ('[1,1]', NULL, 'f'), ('[1,1]', 'empty', 'g'), ('[1,1]', 'empty', 'h')
UPDATE reserved SET during = '[2026-01-01, 2026-01-03)' WHERE note = 'b'
UPDATE reserved SET during = '[2026-01-02, 2026-01-04)' WHERE note = 'b'
UPDATE reserved SET note = note || '!'
UPDATE reserved SET during = during WHERE note = 'a!'
DELETE FROM reserved WHERE note = 'a!'
INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01 12:00, 2026-01-02)', 'd')
BEGIN; DELETE FROM reserved WHERE note = 'd'; INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01 11:00, 2026-01-02)', 'd2'); INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01 11:00, 2026-01-02)', 'd3'); ROLLBACK;
SELECT * FROM reserved ORDER BY note, room, during
INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01 11:00, 2026-01-02)', 'x') ON CONFLICT DO NOTHING
INSERT INTO reserved VALUES ('[1,1]', '[2026-02-01 11:00, 2026-02-02)', 'y'), ('[1,1]', '[2026-02-01 12:00, 2026-02-02)', 'z') ON CONFLICT DO NOTHING RETURNING note
INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01 11:00, 2026-01-02)', 'x') ON CONFLICT ON CONSTRAINT reserved_room_during_excl DO NOTHING
INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01 11:00, 2026-01-02)', 'x') ON CONFLICT ON CONSTRAINT reserved_room_during_excl DO UPDATE SET note = 'q'
INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01 11:00, 2026-01-02)', 'x') ON CONFLICT (room, during) DO NOTHING

-- other methods, expressions, predicates, names
CREATE TABLE by_hash (a int, b text, EXCLUDE USING hash (a WITH =))
INSERT INTO by_hash VALUES (1, 'x'), (2, 'y')
INSERT INTO by_hash VALUES (1, 'z')
CREATE TABLE by_btree (a int, b text, CONSTRAINT small EXCLUDE ((a % 10) WITH =, lower(b) WITH =) INCLUDE (a) WITH (fillfactor = 70) WHERE (a > 0))
INSERT INTO by_btree VALUES (1, 'x'), (-1, 'x'), (-11, 'x')
INSERT INTO by_btree VALUES (11, 'X')
INSERT INTO by_btree VALUES (11, 'Y')
SELECT pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conname = 'small'
SELECT pg_get_indexdef('small'::regclass)
CREATE TABLE circles (c circle, EXCLUDE USING gist (c WITH &&) WHERE (c IS NOT NULL))
INSERT INTO circles VALUES ('<(0,0),1>'), ('<(3,0),1>'), ('<(1.5,1.5),0.5>')
INSERT INTO circles VALUES ('<(2,0),1>')
INSERT INTO circles VALUES ('<(1.9,1.9),1>')
CREATE TABLE words (w varchar(10) COLLATE "C", EXCLUDE (w WITH =))
INSERT INTO words VALUES ('a'), ('b')
INSERT INTO words VALUES ('a')

-- deferred
CREATE TABLE later (r int4range, CONSTRAINT later_excl EXCLUDE USING gist (r WITH &&) DEFERRABLE INITIALLY DEFERRED)
BEGIN; INSERT INTO later VALUES ('[1,5)'), ('[3,8)'); UPDATE later SET r = '[5,8)' WHERE r = '[3,8)'; COMMIT;
BEGIN; INSERT INTO later VALUES ('[1,2)'); COMMIT;
BEGIN; INSERT INTO later VALUES ('[1,2)'); SET CONSTRAINTS later_excl IMMEDIATE; ROLLBACK;
INSERT INTO later VALUES ('[1,2)') ON CONFLICT DO NOTHING
INSERT INTO later VALUES ('[1,2)') ON CONFLICT ON CONSTRAINT later_excl DO NOTHING
CREATE TABLE at_end (r int4range, EXCLUDE USING gist (r WITH &&) DEFERRABLE)
INSERT INTO at_end VALUES ('[1,5)'), ('[5,8)')
UPDATE at_end SET r = int4range(lower(r) + 2, upper(r) + 2)
UPDATE at_end SET r = '[1,9)'
SELECT * FROM at_end ORDER BY r
SELECT tgfoid::regproc, tgdeferrable, tginitdeferred FROM pg_trigger WHERE tgrelid = 'at_end'::regclass

-- added to a table
CREATE TABLE added (r int4range, s text)
INSERT INTO added VALUES ('[1,5)', 'a'), ('[3,8)', 'b')
ALTER TABLE added ADD EXCLUDE USING gist (r WITH &&)
ALTER TABLE added ADD CONSTRAINT by_s EXCLUDE (s WITH =)
UPDATE added SET r = '[5,8)' WHERE s = 'b'
ALTER TABLE added ADD EXCLUDE USING gist (r WITH &&)
INSERT INTO added VALUES ('[1,5)', 'c')
INSERT INTO added VALUES ('[10,15)', 'a')
ALTER TABLE added ALTER r TYPE int8range USING int8range(lower(r), upper(r))
INSERT INTO added VALUES ('[1,5)', 'c')
CREATE TABLE alike (LIKE added INCLUDING ALL)
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'alike'::regclass ORDER BY 1
INSERT INTO alike VALUES ('[1,5)', 'c')
INSERT INTO alike VALUES ('[1,5)', 'd')
ALTER TABLE added DROP CONSTRAINT added_r_excl
INSERT INTO added VALUES ('[1,5)', 'c')
DROP INDEX by_s
ALTER TABLE added RENAME CONSTRAINT by_s TO by_t
INSERT INTO added VALUES ('[1,5)', 'c')
COMMENT ON CONSTRAINT by_t ON added IS 'excludes'
SELECT obj_description(oid, 'pg_constraint') FROM pg_constraint WHERE conname = 'by_t'
SELECT pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype FROM pg_depend WHERE objid = (SELECT oid FROM pg_constraint WHERE conname = 'by_t') OR refobjid = (SELECT oid FROM pg_constraint WHERE conname = 'by_t') ORDER BY 1, 2
TRUNCATE added
INSERT INTO added VALUES ('[1,5)', 'c')
COPY added FROM PROGRAM 'echo "[7,8)	c"'
REINDEX TABLE added
CLUSTER added USING by_t
INSERT INTO added VALUES ('[1,5)', 'c')

-- what is refused
CREATE TABLE refused (r int4range, i int, EXCLUDE USING gist (r WITH <))
CREATE TABLE refused (r int4range, i int, EXCLUDE USING gist (r WITH <@))
CREATE TABLE refused (r int4range, i int, EXCLUDE USING btree (i WITH <>))
CREATE TABLE refused (r int4range, i int, EXCLUDE USING btree (i WITH +))
CREATE TABLE refused (r int4range, i int, EXCLUDE USING btree (i WITH &&))
CREATE TABLE refused (r int4range, i int, EXCLUDE USING gist (i WITH =))
CREATE TABLE refused (r int4range, i int[], EXCLUDE USING gin (i WITH &&))
CREATE TABLE refused (r int4range, i int, EXCLUDE USING gist (x WITH =))
CREATE TABLE refused (r int4range, i int, EXCLUDE USING nothing (r WITH =))
CREATE TABLE refused (r int4range, i int, EXCLUDE USING gist (r WITH &&) NOT VALID)
CREATE TABLE refused (r int4range, i int, EXCLUDE USING gist (r WITH &&)) PARTITION BY RANGE (i)
CREATE TABLE refused (r int4range, i int, EXCLUDE (r WITH OPERATOR(pg_catalog.=)), EXCLUDE (r WITH =))
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'refused'::regclass ORDER BY 1
CREATE TABLE refers (r int4range REFERENCES refused (r))

-- unlogged and temporary tables
CREATE UNLOGGED TABLE unlogged (r int4range, EXCLUDE USING gist (r WITH &&))
INSERT INTO unlogged SELECT int4range(i * 2, i * 2 + 2) FROM generate_series(1, 2000) i
INSERT INTO unlogged VALUES ('[3000,3001)')
CREATE TEMP TABLE temporary (r int4range, EXCLUDE USING gist (r WITH &&))
INSERT INTO temporary SELECT int4range(i * 2, i * 2 + 2) FROM generate_series(1, 2000) i
INSERT INTO temporary VALUES ('[3000,3001)')
INSERT INTO temporary SELECT int4range(i, i + 1) FROM generate_series(3990, 4010) i ON CONFLICT DO NOTHING
SELECT count(*) FROM temporary

-- the keys that the user may not read are not shown
CREATE ROLE excl_reader
GRANT INSERT ON reserved TO excl_reader
SET ROLE excl_reader
INSERT INTO reserved VALUES ('[1,1]', '[2026-01-01 11:00, 2026-01-02)', 'x')
RESET ROLE
REVOKE ALL ON reserved FROM excl_reader
DROP ROLE excl_reader
DROP TABLE reserved, by_hash, by_btree, circles, words, later, at_end, added, alike, refused, unlogged, temporary
