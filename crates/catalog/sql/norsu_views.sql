-- Views that PostgreSQL does not have. They are created after all others, so that the OIDs of the others are those
-- of PostgreSQL.

-- The processor time that sessions and background threads have used, in milliseconds. CREATE FUNCTION requires a
-- built-in function that PostgreSQL has, so the function is created with the name of another one, which is then replaced.
CREATE FUNCTION pg_catalog.norsu_stat_get_rusage(OUT pid integer, OUT backend_type text,
    OUT user_time double precision, OUT system_time double precision, OUT queries bigint,
    OUT query_user_time double precision, OUT query_system_time double precision)
  RETURNS SETOF record LANGUAGE internal VOLATILE PARALLEL RESTRICTED ROWS 100
  AS 'pg_stat_get_activity';

UPDATE pg_catalog.pg_proc SET prosrc = 'norsu_stat_get_rusage' WHERE proname = 'norsu_stat_get_rusage';

CREATE VIEW pg_catalog.norsu_stat_rusage AS
  SELECT r.pid, r.backend_type, r.user_time, r.system_time, r.queries, r.query_user_time,
         r.query_system_time
  FROM pg_catalog.norsu_stat_get_rusage() r;

GRANT SELECT ON pg_catalog.norsu_stat_rusage TO public;

-- The initial privileges, which dumps omit.
INSERT INTO pg_catalog.pg_init_privs (objoid, classoid, objsubid, privtype, initprivs)
  SELECT oid, 'pg_catalog.pg_class'::pg_catalog.regclass, 0, 'i', relacl
  FROM pg_catalog.pg_class WHERE relname = 'norsu_stat_rusage';

