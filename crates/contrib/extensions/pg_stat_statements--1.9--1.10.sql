-- Makes pg_stat_statements 1.10 of 1.9.

ALTER EXTENSION pg_stat_statements DROP VIEW pg_stat_statements;
ALTER EXTENSION pg_stat_statements DROP FUNCTION pg_stat_statements(boolean);

DROP VIEW pg_stat_statements;
DROP FUNCTION pg_stat_statements(boolean);

CREATE FUNCTION pg_stat_statements(IN showtext boolean,
        OUT userid oid,
        OUT dbid oid,
        OUT toplevel bool,
        OUT queryid bigint,
        OUT query text,
        OUT plans int8,
        OUT total_plan_time float8,
        OUT min_plan_time float8,
        OUT max_plan_time float8,
        OUT mean_plan_time float8,
        OUT stddev_plan_time float8,
        OUT calls int8,
        OUT total_exec_time float8,
        OUT min_exec_time float8,
        OUT max_exec_time float8,
        OUT mean_exec_time float8,
        OUT stddev_exec_time float8,
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
        OUT blk_write_time float8,
        OUT temp_blk_read_time float8,
        OUT temp_blk_write_time float8,
        OUT wal_records int8,
        OUT wal_fpi int8,
        OUT wal_bytes numeric,
        OUT jit_functions int8,
        OUT jit_generation_time float8,
        OUT jit_inlining_count int8,
        OUT jit_inlining_time float8,
        OUT jit_optimization_count int8,
        OUT jit_optimization_time float8,
        OUT jit_emission_count int8,
        OUT jit_emission_time float8) RETURNS SETOF record
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pg_stat_statements_1_10';

CREATE VIEW pg_stat_statements AS
    SELECT * FROM pg_stat_statements(true);

GRANT SELECT ON pg_stat_statements TO PUBLIC;
