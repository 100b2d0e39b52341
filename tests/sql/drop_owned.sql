-- DROP OWNED revokes only what the user can revoke.
CREATE ROLE do_a; CREATE ROLE do_c; CREATE ROLE do_d
CREATE TABLE do_t1 (a int, b int); CREATE SEQUENCE do_s; CREATE FUNCTION do_f() RETURNS int LANGUAGE sql AS 'select 1'; CREATE TYPE do_e AS ENUM ('x'); CREATE SCHEMA do_n
GRANT SELECT ON do_t1 TO do_a WITH GRANT OPTION; GRANT UPDATE (b) ON do_t1 TO do_a
GRANT USAGE ON SEQUENCE do_s TO do_a; GRANT USAGE ON SCHEMA do_n TO do_a; GRANT USAGE ON TYPE do_e TO do_a WITH GRANT OPTION; GRANT EXECUTE ON FUNCTION do_f() TO do_a WITH GRANT OPTION
SET ROLE do_a; GRANT SELECT ON do_t1 TO do_c; GRANT EXECUTE ON FUNCTION do_f() TO do_c; CREATE TEMP TABLE do_own (a int)
DROP OWNED BY do_a
RESET ROLE
SELECT relname, relacl FROM pg_class WHERE relname IN ('do_t1', 'do_s') ORDER BY 1
SELECT attname, attacl FROM pg_attribute WHERE attrelid = 'do_t1'::regclass AND attnum > 0 ORDER BY attnum
SELECT proacl FROM pg_proc WHERE proname = 'do_f'
SELECT typacl FROM pg_type WHERE typname = 'do_e'
SELECT nspacl FROM pg_namespace WHERE nspname = 'do_n'
GRANT do_a TO do_d
SET ROLE do_d
DROP OWNED BY do_a
RESET ROLE
SELECT relname, relacl FROM pg_class WHERE relname IN ('do_t1', 'do_s') ORDER BY 1
DROP OWNED BY do_a
SELECT relname, relacl FROM pg_class WHERE relname IN ('do_t1', 'do_s') ORDER BY 1
SELECT attname, attacl FROM pg_attribute WHERE attrelid = 'do_t1'::regclass AND attnum > 0 ORDER BY attnum
SELECT proacl, (SELECT typacl FROM pg_type WHERE typname = 'do_e'), (SELECT nspacl FROM pg_namespace WHERE nspname = 'do_n') FROM pg_proc WHERE proname = 'do_f'
DROP TABLE do_t1; DROP SEQUENCE do_s; DROP FUNCTION do_f(); DROP TYPE do_e; DROP SCHEMA do_n
DROP OWNED BY do_a, do_c, do_d; DROP ROLE do_a, do_c, do_d
create role many_owner
do $$ begin for i in 1..103 loop execute format('create table many_owned%s(i int)', i); execute format('alter table many_owned%s owner to many_owner', i); end loop; end $$
drop role many_owner
drop table many_owned1, many_owned2
drop role many_owner
drop table many_owned3
drop role many_owner
drop owned by many_owner
drop role many_owner
drop aggregate if exists nosuch_aggregate(*)
drop aggregate if exists nosuch_aggregate(int, text)
