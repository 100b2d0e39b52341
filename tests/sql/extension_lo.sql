CREATE EXTENSION lo VERSION '1.0'
CREATE EXTENSION lo
SELECT proname, prosrc, probin, prolang, provolatile, proisstrict, proparallel FROM pg_proc WHERE proname IN ('lo_manage', 'lo_oid') ORDER BY 1
SELECT typname, typtype, typbasetype::regtype FROM pg_type WHERE typname = 'lo'
CREATE TABLE lo_image (title text, raster lo, other text)
CREATE TRIGGER t_raster BEFORE UPDATE OR DELETE ON lo_image FOR EACH ROW EXECUTE FUNCTION lo_manage(raster)
SELECT lo_from_bytea(9201, 'one'), lo_from_bytea(9202, 'two'), lo_from_bytea(9203, 'three'), lo_from_bytea(9204, 'four')
INSERT INTO lo_image VALUES ('a', 9201), ('b', NULL), ('c', 9203)
SELECT title, raster, lo_oid(raster) FROM lo_image ORDER BY 1
UPDATE lo_image SET raster = 9202 WHERE title = 'a'
UPDATE lo_image SET title = 'A' WHERE title = 'a'
UPDATE lo_image SET raster = raster
SELECT lo_get(9201)
SELECT lo_get(9202), lo_get(9203)
UPDATE lo_image SET raster = NULL WHERE title = 'A'
SELECT lo_get(9202)
UPDATE lo_image SET raster = 9204 WHERE title = 'b'
DELETE FROM lo_image WHERE title = 'c'
SELECT lo_get(9203)
DELETE FROM lo_image
SELECT lo_get(9204)
INSERT INTO lo_image VALUES ('gone', 9204)
DELETE FROM lo_image
DROP TRIGGER t_raster ON lo_image
CREATE CONSTRAINT TRIGGER t_raster AFTER UPDATE OR DELETE ON lo_image DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lo_manage(raster)
TRUNCATE lo_image; SELECT lo_create(9211), lo_create(9212), lo_create(9213)
INSERT INTO lo_image VALUES ('a', 9211)
UPDATE lo_image SET raster = 9212
SELECT lo_get(9211)
BEGIN; UPDATE lo_image SET title = 'b'; UPDATE lo_image SET raster = 9213 WHERE title = 'b'; SELECT lo_get(9212); COMMIT
SELECT lo_get(9212)
-- A column that another trigger changes does not count.
CREATE FUNCTION lo_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.raster := NULL; RETURN NEW; END $$
CREATE TRIGGER a_change BEFORE UPDATE ON lo_image FOR EACH ROW EXECUTE FUNCTION lo_change()
UPDATE lo_image SET title = 'c'
SELECT lo_get(9213)
UPDATE lo_image SET raster = 9213
DROP TRIGGER a_change ON lo_image; DROP FUNCTION lo_change
UPDATE lo_image SET raster = 9213
DELETE FROM lo_image
SELECT lo_get(9213)
DROP TRIGGER t_raster ON lo_image
-- Wrong uses.
CREATE TRIGGER t_one BEFORE UPDATE ON lo_image FOR EACH ROW EXECUTE FUNCTION lo_manage()
INSERT INTO lo_image VALUES ('a', 1)
UPDATE lo_image SET title = 'x'
DROP TRIGGER t_one ON lo_image
CREATE TRIGGER t_two BEFORE UPDATE ON lo_image FOR EACH ROW EXECUTE FUNCTION lo_manage(nothing)
UPDATE lo_image SET title = 'x'
DROP TRIGGER t_two ON lo_image
CREATE TRIGGER t_three BEFORE UPDATE ON lo_image FOR EACH STATEMENT EXECUTE FUNCTION lo_manage(raster)
UPDATE lo_image SET title = 'x'
DROP TRIGGER t_three ON lo_image
CREATE TRIGGER t_four BEFORE INSERT OR UPDATE ON lo_image FOR EACH ROW EXECUTE FUNCTION lo_manage(other)
INSERT INTO lo_image VALUES ('t', NULL, '9221x'); SELECT lo_create(9221)
UPDATE lo_image SET other = '9221' WHERE title = 't'
SELECT lo_get(9221)
SELECT lo_manage()
SELECT [[tsvector_update_trigger()¦tsvector_update_trigger_column()]]
DROP TABLE lo_image; DROP EXTENSION lo
SELECT lo_unlink(oid) FROM pg_largeobject_metadata
