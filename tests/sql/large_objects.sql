-- Creation, whole objects and parts of them.
SELECT lo_create(9101)
SELECT lo_create(9101)
SELECT lo_creat(-1) <> 0, lo_create(0) > 16383
SELECT oid, lomowner, lomacl FROM pg_largeobject_metadata WHERE oid = 9101
SELECT classid::regclass, objid, objsubid, refclassid::regclass, refobjid, deptype FROM pg_shdepend WHERE objid = 9101
SELECT lo_get(9101)
SELECT lo_from_bytea(9102, '\x0102030405')
SELECT lo_from_bytea(9102, '\x01')
SELECT lo_from_bytea(0, 'abc') <> 0
SELECT lo_get(9102), lo_get(9102, 1, 2), lo_get(9102, 4, 100), lo_get(9102, 5, 1), lo_get(9102, 4398046509056, 1), lo_get(9102, 2, 0)
SELECT lo_get(9102, -1, 1)
SELECT lo_get(9102, 0, -1)
SELECT lo_get(9102, 4398046511105, 1)
SELECT lo_get(9102, -4398046511104, 2147483647)
SELECT lo_get([[9199¦0]])
SELECT lo_get(9199, 0, 1)
SELECT lo_put(9102, 3, '\xaabbcc')
SELECT lo_get(9102)
SELECT lo_put(9102, 10, '\xff')
SELECT lo_get(9102)
SELECT lo_put(9102, -1, '\xff')
SELECT lo_put(9102, 4398046509056, '\xff')
SELECT lo_put(9102, 4398046509055, '')
SELECT lo_put(9199, 0, '\xff')
SELECT lo_put(9102, 5000, repeat('x', 5000)::bytea)
SELECT loid, pageno, length(data), md5(data) FROM pg_largeobject WHERE loid = 9102 ORDER BY pageno
SELECT pageno, pg_column_size(data) FROM pg_largeobject WHERE loid = 9102 ORDER BY pageno
SELECT length(lo_get(9102)), md5(lo_get(9102)), md5(lo_get(9102, 2040, 3000))
SELECT lo_put(9102, 2047, '\x0101')
SELECT pageno, length(data), md5(data) FROM pg_largeobject WHERE loid = 9102 ORDER BY pageno
-- Descriptors.
SELECT lo_open(9102, 393216); SELECT lo_close(0)
SELECT lo_close(0)
SELECT lo_close([[-1¦100¦2147483647]])
SELECT lo_open(9102, [[0¦1¦65536¦-2147483648]])
SELECT lo_open(9199, 262144)
BEGIN
SELECT lo_open(9102, 131072), lo_open(9102, 262144), lo_open(9101, 393216)
SELECT loread(0, 4), loread(0, 3), lo_tell(0), lo_tell64(0), lo_tell(1)
SELECT lowrite(0, 'zzz'), lo_tell(0)
SELECT loread(1, 10), lo_tell(1)
SELECT lo_close(1), lo_open(9102, 262144)
SELECT loread(1, 12)
SELECT lo_lseek(0, 0, 2), lo_lseek(0, -10, 1), lo_lseek64(0, -1, 2), lo_lseek(0, 7, 0), lo_tell(0)
SELECT loread(0, -5), loread(0, 0)
SELECT lo_lseek64(0, 4398046509056, 0), lo_tell64(0)
SAVEPOINT a
SELECT lo_tell(0)
ROLLBACK TO a
SELECT lo_lseek(0, 0, 1)
ROLLBACK TO a
SELECT lo_lseek64(0, 1, 1)
ROLLBACK TO a
SELECT lo_lseek64(0, 9223372036854775807, 1)
ROLLBACK TO a
SELECT lo_lseek(0, -1, 0)
ROLLBACK TO a
SELECT lo_lseek(0, 0, [[3¦-1]])
ROLLBACK TO a
SELECT lowrite(0, 'x')
ROLLBACK TO a
SELECT lo_tell64(0)
SELECT lowrite(1, 'x')
ROLLBACK TO a
SELECT lo_truncate(1, 1)
ROLLBACK TO a
SELECT lo_truncate64(0, -1)
ROLLBACK TO a
SELECT lo_truncate64(0, 4398046509057)
ROLLBACK TO a
SELECT lo_truncate(0, 2147483647), lo_lseek(0, 0, 2)
SELECT lo_truncate64(0, 2147483648), lo_lseek64(0, 0, 2)
SELECT lo_lseek(0, 0, 2)
ROLLBACK TO a
SELECT lo_truncate(0, 4096), lo_lseek(0, 0, 2)
SELECT pageno, length(data) FROM pg_largeobject WHERE loid = 9102 ORDER BY pageno
SELECT lo_truncate(0, 100), lo_lseek(0, 0, 2), lo_truncate(0, 3000), lo_lseek(0, 0, 2)
SELECT pageno, length(data), md5(data) FROM pg_largeobject WHERE loid = 9102 ORDER BY pageno
SELECT lo_truncate(0, 0), lo_lseek(0, 0, 2)
SELECT pageno, length(data) FROM pg_largeobject WHERE loid = 9102 ORDER BY pageno
SELECT loread(1, 20)
SELECT loread(1, [[1073741820¦1073741821¦2147483647]])
ROLLBACK
SELECT length(lo_get(9102))
-- Descriptors and subtransactions.
BEGIN
SAVEPOINT a
SELECT lo_open(9101, 131072)
RELEASE a
SELECT lowrite(0, 'kept')
SAVEPOINT b
SELECT lo_open(9101, 131072)
SAVEPOINT c
SELECT lo_open(9101, 131072), lowrite(2, 'lost')
RELEASE c
ROLLBACK TO b
SELECT lo_tell(1)
ROLLBACK TO b
SELECT lo_open(9101, 262144), loread(1, 10), lo_tell(0)
COMMIT
SELECT lo_get(9101)
-- A descriptor for reading has the snapshot of the statement that opened it.
BEGIN
SELECT lo_open(9101, 262144), lo_open(9101, 131072)
SELECT lowrite(1, 'KE')
SELECT loread(0, 10), loread(1, 10)
SELECT lo_open(9101, 262144), loread(2, 10)
SELECT lo_unlink(9101)
SELECT lo_tell(0)
ROLLBACK
SELECT lo_get(9101)
BEGIN; SELECT lo_open(9101, 262144); SELECT lo_unlink(9101); SELECT lo_tell(0)
ROLLBACK
BEGIN; SELECT lo_create(9105); ROLLBACK; SELECT count(*) FROM pg_largeobject_metadata WHERE oid = 9105
-- Functions in queries over rows, and in functions.
SELECT lo_put(9101, i, 'ab') FROM generate_series(0, 9, 3) i
SELECT encode(lo_get(9101), 'escape')
SELECT i, lo_from_bytea(9110 + i, repeat(i::text, i)::bytea) FROM generate_series(1, 3) i ORDER BY i
SELECT i, lo_get((9110 + i)::oid), lo_unlink((9110 + i)::oid) FROM generate_series(1, 3) i ORDER BY i
DO $$ DECLARE fd int; BEGIN fd := lo_open(9101, 131072); PERFORM lowrite(fd, 'PL'); BEGIN PERFORM lo_open(9101, 131072), lowrite(1, 'in block'); RAISE EXCEPTION 'no'; EXCEPTION WHEN raise_exception THEN RAISE NOTICE '%', lo_tell(fd); END; BEGIN PERFORM lo_tell(1); EXCEPTION WHEN undefined_object THEN RAISE NOTICE '%', SQLERRM; END; END $$
SELECT encode(lo_get(9101), 'escape')
-- Deletion.
SELECT lo_unlink(9110)
SELECT lo_unlink(9101)
SELECT lo_unlink(9101)
SELECT count(*) FROM pg_largeobject WHERE loid = 9101
SELECT count(*) FROM pg_shdepend WHERE objid = 9101
-- Comments, descriptions and addresses.
COMMENT ON LARGE OBJECT 9102 IS 'a comment'
COMMENT ON LARGE OBJECT 9199 IS 'a comment'
SELECT obj_description(9102, 'pg_largeobject'), classoid::regclass, objsubid FROM pg_description WHERE objoid = 9102
SELECT pg_describe_object('pg_largeobject'::regclass, 9102, 0), pg_identify_object('pg_largeobject'::regclass, 9102, 0), pg_identify_object_as_address('pg_largeobject'::regclass, 9102, 0)
-- Privileges.
CREATE ROLE lo_one; CREATE ROLE lo_two; CREATE ROLE lo_three IN ROLE lo_one
SET ROLE lo_one
SELECT lo_create(9120), lo_from_bytea(9121, 'own')
SELECT [[lo_get(9102)¦lo_get(9102, 0, 1)¦lo_put(9102, 0, 'x')¦lo_unlink(9102)¦lo_unlink(9199)¦lo_open(9102, 262144)¦lo_open(9102, 131072)¦lo_export(9121, '/nowhere')¦lo_import('/etc/passwd')¦lo_import('/etc/passwd', 9130)]]
COMMENT ON LARGE OBJECT 9102 IS 'not mine'
ALTER LARGE OBJECT 9102 OWNER TO lo_one
ALTER LARGE OBJECT 9121 OWNER TO lo_two
GRANT SELECT ON LARGE OBJECT 9102 TO lo_two
GRANT SELECT, UPDATE ON LARGE OBJECT 9120, 9121 TO lo_two WITH GRANT OPTION
GRANT ALL ON LARGE OBJECT 9120 TO lo_two
GRANT [[INSERT¦USAGE¦EXECUTE]] ON LARGE OBJECT 9120 TO lo_two
GRANT SELECT (a) ON LARGE OBJECT 9120 TO lo_two
GRANT SELECT ON LARGE OBJECT 9199 TO lo_two
REVOKE UPDATE ON LARGE OBJECT 9121 FROM lo_two
SET ROLE lo_two
SELECT lo_get(9121)
SELECT lo_put(9121, 0, 'X')
SELECT lo_put(9120, 0, 'two'), lo_get(9120)
SELECT lo_unlink(9121)
BEGIN; SELECT lo_open(9121, 131072)
ROLLBACK
BEGIN; SELECT lo_open(9121, 262144), loread(0, 2); ROLLBACK
GRANT SELECT ON LARGE OBJECT 9120 TO PUBLIC
REVOKE SELECT ON LARGE OBJECT 9121 FROM lo_one
SET ROLE lo_three
SELECT lo_get(9120), lo_put(9121, 3, '3'), lo_get(9121)
RESET ROLE
SELECT oid, pg_get_userbyid(lomowner), lomacl FROM pg_largeobject_metadata WHERE oid IN (9120, 9121) ORDER BY oid
SELECT objid, deptype, refobjid::regrole FROM pg_shdepend WHERE objid IN (9120, 9121) ORDER BY objid, deptype, 3
SET lo_compat_privileges = on
SET ROLE lo_two
SELECT [[lo_get(9102, 0, 3)¦lo_put(9102, 0, 'xyz')¦lo_unlink(9199)¦lo_create(9122)¦lo_unlink(9122)]]
BEGIN; SELECT lo_open(9102, 131072), lowrite(0, 'ABC'); COMMIT
SELECT lo_get(9102, 0, 3)
COMMENT ON LARGE OBJECT 9102 IS 'still not mine'
SET lo_compat_privileges = off
RESET ROLE
RESET lo_compat_privileges
SET ROLE lo_two; SET lo_compat_privileges = on
RESET ROLE
ALTER LARGE OBJECT 9121 OWNER TO lo_two
ALTER LARGE OBJECT 9199 OWNER TO lo_two
SELECT oid, pg_get_userbyid(lomowner), lomacl FROM pg_largeobject_metadata WHERE oid IN (9120, 9121) ORDER BY oid
REASSIGN OWNED BY lo_two TO lo_three
SELECT oid, pg_get_userbyid(lomowner), lomacl FROM pg_largeobject_metadata WHERE oid IN (9120, 9121) ORDER BY oid
DROP ROLE lo_one
DROP ROLE lo_three
DROP OWNED BY lo_two, lo_one
SELECT oid, pg_get_userbyid(lomowner), lomacl FROM pg_largeobject_metadata WHERE oid IN (9120, 9121) ORDER BY oid
SELECT count(*) FROM pg_largeobject WHERE loid = 9120
DROP OWNED BY lo_three; DROP ROLE lo_one, lo_two, lo_three
SELECT count(*) FROM pg_largeobject_metadata WHERE oid IN (9120, 9121)
ALTER LARGE OBJECT 9102 RENAME TO x
DROP LARGE OBJECT 9102
-- Read-only transactions may change large objects in this version.
BEGIN READ ONLY; SELECT lo_create(9140), lo_from_bytea(9141, 'abc'), lo_put(9141, 0, 'x'); COMMIT
BEGIN READ ONLY; SELECT lo_unlink(9140), lo_unlink(9141); COMMIT
-- Event triggers.
CREATE FUNCTION lo_dropped() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM pg_event_trigger_dropped_objects() LOOP RAISE NOTICE '% % % % %', r.object_type, r.object_identity, r.original, r.address_names, r.classid::regclass; END LOOP; END $$
CREATE FUNCTION lo_ended() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP RAISE NOTICE '% % % %', r.command_tag, r.object_type, r.object_identity, r.classid::regclass; END LOOP; END $$
CREATE EVENT TRIGGER lo_dropping ON sql_drop EXECUTE FUNCTION lo_dropped()
CREATE EVENT TRIGGER lo_ending ON ddl_command_end EXECUTE FUNCTION lo_ended()
CREATE ROLE lo_event
SELECT lo_create(9150), lo_create(9151), lo_create(9152), lo_unlink(9152)
ALTER LARGE OBJECT 9150 OWNER TO lo_event
GRANT SELECT ON LARGE OBJECT 9151 TO lo_event
COMMENT ON LARGE OBJECT 9151 IS 'x'
CREATE TABLE lo_unlinked AS SELECT lo_unlink(9151)
DROP OWNED BY lo_event
DROP EVENT TRIGGER lo_dropping; DROP EVENT TRIGGER lo_ending; DROP FUNCTION lo_dropped; DROP FUNCTION lo_ended; DROP ROLE lo_event; DROP TABLE lo_unlinked
-- Files of the server.
SELECT lo_import('/nowhere/at/all')
SELECT lo_import('/etc')
SELECT lo_import('/etc/hostname', 9160)
SELECT lo_get(9160) = pg_read_binary_file('/etc/hostname')
SELECT lo_import('/etc/hostname', 9160)
SELECT lo_import('/etc/hostname') <> 0
SELECT lo_export(9160, '/nowhere/at/all')
SELECT lo_export(9160, '/etc')
SELECT lo_export(9199, '/tmp/x')
SELECT lo_export(9160, 'lo_exported'), (pg_stat_file('lo_exported')).size = length(lo_get(9160))
SELECT lo_import('lo_exported', 9161)
SELECT lo_get(9161) = lo_get(9160)
SELECT lo_put(9161, 200000, repeat('0123456789', 20000)::bytea)
SELECT lo_export(9161, 'lo_exported'), lo_import('lo_exported', 9162)
SELECT length(lo_get(9162)), lo_get(9161) = lo_get(9162)
SELECT lo_unlink(9102), lo_unlink(9160), lo_unlink(9161), lo_unlink(9162)
SELECT lo_unlink(oid) FROM pg_largeobject_metadata
SELECT count(*) FROM pg_largeobject
-- Calls with NULL.
SELECT lo_create(NULL), lo_get(NULL), lo_unlink(NULL), lo_open(NULL, 1), lo_put(1, 2, NULL)
