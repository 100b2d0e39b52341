-- The objects of pg_stat_statements 1.4, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION pg_stat_statements_reset() RETURNS void
    LANGUAGE c PARALLEL SAFE
    AS 'MODULE_PATHNAME';

REVOKE ALL ON FUNCTION pg_stat_statements_reset() FROM PUBLIC;

CREATE FUNCTION pg_stat_statements(IN showtext boolean,
        OUT userid oid,
        OUT dbid oid,
        OUT queryid bigint,
        OUT query text,
        OUT calls int8,
        OUT total_time float8,
        OUT min_time float8,
        OUT max_time float8,
        OUT mean_time float8,
        OUT stddev_time float8,
        OUT rows int8,
        OUT shared_blks_hit int8,
        OUT shared_blks_read int8,
        OUT shared_blks_dirtied int8,
        OUT shared_blks_written int8,
        OUT local_blks_hit int8,
        OUT local_blks_read int8,
        OUT local_blks_dirtied int8,
        OUT local_blks_written int8,
        OUT temp_blks_read int8,
        OUT temp_blks_written int8,
        OUT blk_read_time float8,
        OUT blk_write_time float8) RETURNS SETOF record
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pg_stat_statements_1_3';

CREATE VIEW pg_stat_statements AS
    SELECT * FROM pg_stat_statements(true);

GRANT SELECT ON pg_stat_statements TO PUBLIC;
