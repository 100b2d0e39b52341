-- Makes pg_stat_statements 1.7 of 1.6.

ALTER EXTENSION pg_stat_statements DROP FUNCTION pg_stat_statements_reset();

DROP FUNCTION pg_stat_statements_reset();

CREATE FUNCTION pg_stat_statements_reset(userid oid DEFAULT 0, dbid oid DEFAULT 0,
        queryid bigint DEFAULT 0) RETURNS void
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pg_stat_statements_reset_1_7';

REVOKE ALL ON FUNCTION pg_stat_statements_reset(oid, oid, bigint) FROM PUBLIC;
