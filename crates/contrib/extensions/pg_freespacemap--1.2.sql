-- The objects of pg_freespacemap 1.2, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION pg_freespace(regclass, bigint) RETURNS smallint
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION pg_freespace(rel regclass, OUT blkno bigint, OUT avail smallint) RETURNS SETOF record
    LANGUAGE sql PARALLEL SAFE
    AS $$
    SELECT n, pg_freespace(rel, n)
    FROM generate_series(0, pg_relation_size(rel) / current_setting('block_size')::bigint - 1) n
$$;

REVOKE ALL ON FUNCTION pg_freespace(regclass, bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_freespace(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_freespace(regclass, bigint) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION pg_freespace(regclass) TO pg_stat_scan_tables;
