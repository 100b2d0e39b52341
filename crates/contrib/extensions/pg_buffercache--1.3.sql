-- The objects of pg_buffercache 1.3, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION pg_buffercache_pages() RETURNS SETOF record
    LANGUAGE c PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE VIEW pg_buffercache AS
    SELECT p.bufferid, p.relfilenode, p.reltablespace, p.reldatabase, p.relforknumber, p.relblocknumber, p.isdirty, p.usagecount, p.pinning_backends
    FROM pg_buffercache_pages() p(bufferid integer, relfilenode oid, reltablespace oid, reldatabase oid, relforknumber smallint, relblocknumber bigint, isdirty boolean, usagecount smallint, pinning_backends integer);

REVOKE ALL ON FUNCTION pg_buffercache_pages() FROM PUBLIC;
REVOKE ALL ON pg_buffercache FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_buffercache_pages() TO pg_monitor;
GRANT SELECT ON pg_buffercache TO pg_monitor;
