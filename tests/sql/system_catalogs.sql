-- Commands that change system catalogs, TOAST tables and reserved roles are refused.
CREATE [[¦UNIQUE ]]INDEX [[¦CONCURRENTLY ]]sc_i ON [[pg_class (relname)¦pg_toast.pg_toast_1255 (chunk_id)¦pg_catalog.pg_type (typname, typnamespace)]]
CREATE INDEX sc_i ON information_schema.sql_features (feature_id); DROP INDEX information_schema.sql_features_feature_id_idx; DROP INDEX information_schema.sc_i
CREATE TABLE sc_t (a text); CREATE ROLE sc_r CREATEROLE; CREATE TYPE sc_e AS ENUM (); CREATE FUNCTION sc_f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'
CREATE FUNCTION sc_try(command text) RETURNS text LANGUAGE plpgsql AS $$DECLARE t text; BEGIN SELECT t2.relname INTO t FROM pg_class c JOIN pg_class t2 ON t2.oid = c.reltoastrelid WHERE c.oid = 'sc_t'::regclass; EXECUTE replace(command, 'T', t); RETURN 'done'; EXCEPTION WHEN OTHERS THEN RETURN sqlstate || replace(sqlerrm, t, 'T'); END$$
SELECT sc_try('[[create index on pg_toast.T (chunk_id)¦alter table pg_toast.T add column x int¦alter table pg_toast.T rename to sc_x¦alter table pg_toast.T owner to current_user¦alter table pg_toast.T set schema public¦alter table pg_toast.T set (autovacuum_enabled = false)¦alter table pg_toast.T alter column chunk_id set statistics 4¦alter table pg_toast.T replica identity full¦alter index pg_toast.T_index rename to sc_x¦alter index pg_toast.T_index set (fillfactor = 50)¦drop index pg_toast.T_index¦drop table pg_toast.T¦truncate pg_toast.T¦drop view pg_toast.T]]')
ALTER TABLE sc_t SET SCHEMA pg_toast
ALTER TYPE sc_e SET SCHEMA [[pg_toast¦pg_temp]]
ALTER FUNCTION sc_f() SET SCHEMA [[pg_toast¦pg_temp]]
CREATE [[TABLE pg_toast.sc_x (a int)¦VIEW pg_toast.sc_x AS SELECT 1¦SEQUENCE pg_toast.sc_x¦TYPE pg_toast.sc_x AS (a int)¦TABLE pg_toast.sc_x AS SELECT 1¦TABLE pg_catalog.sc_x (a int)]]
ANALYZE pg_toast.pg_toast_1255
ALTER ROLE pg_monitor [[LOGIN¦PASSWORD 'x'¦SUPERUSER¦CONNECTION LIMIT 4¦VALID UNTIL 'infinity'¦SET work_mem = '1MB'¦RESET work_mem¦IN DATABASE postgres SET work_mem = '1MB'¦RENAME TO sc_x]]
ALTER GROUP pg_monitor [[ADD¦DROP]] USER sc_r
SET ROLE sc_r
ALTER ROLE [[pg_execute_server_program¦pg_nosuch]] [[LOGIN¦PASSWORD 'x']]
RESET ROLE; DROP FUNCTION sc_try; DROP TABLE sc_t; DROP FUNCTION sc_f; DROP TYPE sc_e; DROP ROLE sc_r
