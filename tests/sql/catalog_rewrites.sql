-- REINDEX, CLUSTER and VACUUM FULL of system catalogs: which files change, and errors.
CREATE VIEW catalog_files AS SELECT oid::regclass::text AS name, pg_relation_filenode(oid) AS number FROM pg_class WHERE relkind IN ('r', 'i', 't') AND oid < 12000
CREATE TABLE files_before AS SELECT * FROM catalog_files
CREATE FUNCTION changed_files() RETURNS SETOF text LANGUAGE sql AS 'SELECT f.name FROM catalog_files f JOIN files_before b USING (name) WHERE f.number <> b.number ORDER BY f.name COLLATE "C"'
CREATE TABLE rewritten_user (id int PRIMARY KEY, t text)
[[VACUUM FULL pg_class¦VACUUM FULL pg_attribute¦VACUUM FULL pg_proc¦VACUUM FULL pg_rewrite¦VACUUM FULL pg_authid¦VACUUM FULL pg_index¦VACUUM FULL pg_depend¦VACUUM FULL pg_shdepend¦VACUUM FULL pg_toast.pg_toast_1255¦VACUUM FULL pg_toast.pg_toast_2618¦VACUUM FULL pg_toast.pg_toast_1262¦CLUSTER pg_class USING pg_class_oid_index¦CLUSTER pg_class¦CLUSTER pg_type USING pg_type_typname_nsp_index¦CLUSTER pg_index USING pg_index_indrelid_index¦CLUSTER pg_database USING pg_database_oid_index¦CLUSTER pg_toast.pg_toast_2618 USING pg_toast_2618_index¦CLUSTER pg_toast.pg_toast_1262 USING pg_toast_1262_index¦CLUSTER pg_class USING pg_type_oid_index¦REINDEX TABLE pg_class¦REINDEX INDEX pg_class_oid_index¦REINDEX TABLE pg_proc¦REINDEX TABLE pg_database¦REINDEX TABLE pg_index¦REINDEX INDEX pg_toast.pg_toast_1255_index¦REINDEX TABLE pg_toast.pg_toast_1255¦REINDEX INDEX pg_attribute_relid_attnam_index¦BEGIN; REINDEX TABLE pg_class; CREATE TABLE made (id int); INSERT INTO made VALUES (1); COMMIT¦BEGIN; DROP TABLE made; CLUSTER pg_class USING pg_class_oid_index; CLUSTER pg_class USING pg_class_relname_nsp_index; REINDEX INDEX pg_class_oid_index; ROLLBACK¦BEGIN; REINDEX TABLE pg_class; SAVEPOINT s; RELEASE s; REINDEX TABLE pg_class; DROP TABLE made; COMMIT¦BEGIN; SAVEPOINT s; REINDEX TABLE pg_index; CREATE INDEX ON rewritten_user (t); ROLLBACK TO s; CREATE INDEX ON rewritten_user (id); COMMIT¦BEGIN; SAVEPOINT s; REINDEX TABLE pg_index; CREATE INDEX ON rewritten_user (t); RELEASE s; COMMIT¦ALTER TABLE pg_class SET WITHOUT CLUSTER¦ALTER INDEX pg_class_oid_index SET TABLESPACE pg_default]]
SELECT * FROM changed_files()
SELECT count(*) FROM pg_class c, pg_attribute a, pg_type t WHERE c.oid = a.attrelid AND t.oid = a.atttypid AND c.relname = 'rewritten_user'
TRUNCATE files_before; INSERT INTO files_before SELECT * FROM catalog_files
BEGIN; SAVEPOINT s; [[REINDEX TABLE pg_class¦REINDEX INDEX pg_type_oid_index¦CLUSTER pg_attribute USING pg_attribute_relid_attnum_index¦REINDEX TABLE pg_authid]]
ROLLBACK
REINDEX [[SYSTEM postgres¦DATABASE nope¦SYSTEM nope¦SCHEMA pg_toast]]
BEGIN; REINDEX [[SYSTEM postgres¦SCHEMA pg_catalog]]
ROLLBACK
SELECT indexrelid::regclass::text FROM pg_index WHERE indisclustered AND indrelid < 12000 ORDER BY 1
SELECT c.oid::regclass::text, relfilenode = 0, relhasindex, indcheckxmin FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid WHERE c.oid IN ('pg_class'::regclass, 'pg_authid'::regclass, 'pg_proc'::regclass) ORDER BY 1, indexrelid
CREATE ROLE catalog_visitor; SET ROLE catalog_visitor
[[VACUUM FULL pg_class¦VACUUM FULL pg_authid¦REINDEX TABLE pg_class¦REINDEX INDEX pg_class_oid_index¦CLUSTER pg_class USING pg_class_oid_index¦REINDEX SYSTEM postgres¦REINDEX TABLE pg_authid¦REINDEX SCHEMA pg_catalog]]
RESET ROLE; DROP ROLE catalog_visitor
REINDEX [[(CONCURRENTLY) SYSTEM postgres¦SCHEMA CONCURRENTLY pg_catalog¦(TABLESPACE pg_global) SCHEMA pg_catalog¦(TABLESPACE pg_default) SCHEMA pg_catalog]]
SELECT pg_filenode_relation(0, pg_relation_filenode('pg_class'))::text, pg_filenode_relation(1664, pg_relation_filenode('pg_authid'))::text
CREATE SCHEMA moved_1; CREATE SCHEMA moved_2; CREATE SCHEMA moved_3; CREATE FUNCTION moved_f() RETURNS int LANGUAGE sql AS 'SELECT 1'; COMMENT ON SCHEMA moved_3 IS 'c'
ALTER SCHEMA moved_1 RENAME TO moved_0; DROP SCHEMA moved_0; SELECT 'moved_2'::regnamespace, 'moved_3'::regnamespace, moved_f()
BEGIN; CLUSTER pg_namespace USING pg_namespace_nspname_index; CLUSTER pg_proc USING pg_proc_proname_args_nsp_index; ALTER SCHEMA moved_2 RENAME TO moved_4; ALTER FUNCTION moved_f() [[STRICT¦RENAME TO moved_g]]; GRANT USAGE ON SCHEMA moved_3 TO public; SELECT nspname, nspacl FROM pg_namespace WHERE nspname LIKE 'moved%' ORDER BY 1; [[ROLLBACK; BEGIN; ALTER SCHEMA moved_2 RENAME TO moved_5; ROLLBACK¦COMMIT; ALTER SCHEMA moved_4 RENAME TO moved_2¦SAVEPOINT s; DROP SCHEMA moved_4; ROLLBACK TO s; ALTER SCHEMA moved_4 RENAME TO moved_2; COMMIT]]
SELECT nspname, obj_description(oid) FROM pg_namespace WHERE nspname LIKE 'moved%' ORDER BY 1; SELECT proname, proisstrict FROM pg_proc WHERE proname LIKE 'moved%'
VACUUM FULL pg_description
BEGIN; CLUSTER pg_description USING pg_description_o_c_o_index; COMMENT ON SCHEMA moved_3 IS 'd'; COMMIT; COMMENT ON SCHEMA moved_3 IS NULL; DROP SCHEMA moved_2, moved_3
DROP FUNCTION IF EXISTS moved_f(), moved_g()
DROP FUNCTION changed_files(); DROP VIEW catalog_files; DROP TABLE files_before, rewritten_user
