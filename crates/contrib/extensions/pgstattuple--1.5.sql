-- The objects of pgstattuple 1.5, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION pgstattuple(relname text, OUT table_len bigint, OUT tuple_count bigint, OUT tuple_len bigint, OUT tuple_percent double precision, OUT dead_tuple_count bigint, OUT dead_tuple_len bigint, OUT dead_tuple_percent double precision, OUT free_space bigint, OUT free_percent double precision) RETURNS record
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pgstattuple_v1_5';

CREATE FUNCTION pgstatindex(relname text, OUT version integer, OUT tree_level integer, OUT index_size bigint, OUT root_block_no bigint, OUT internal_pages bigint, OUT leaf_pages bigint, OUT empty_pages bigint, OUT deleted_pages bigint, OUT avg_leaf_density double precision, OUT leaf_fragmentation double precision) RETURNS record
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pgstatindex_v1_5';

CREATE FUNCTION pg_relpages(relname text) RETURNS bigint
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pg_relpages_v1_5';

CREATE FUNCTION pgstatginindex(relname regclass, OUT version integer, OUT pending_pages integer, OUT pending_tuples bigint) RETURNS record
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pgstatginindex_v1_5';

CREATE FUNCTION pgstattuple(reloid regclass, OUT table_len bigint, OUT tuple_count bigint, OUT tuple_len bigint, OUT tuple_percent double precision, OUT dead_tuple_count bigint, OUT dead_tuple_len bigint, OUT dead_tuple_percent double precision, OUT free_space bigint, OUT free_percent double precision) RETURNS record
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pgstattuplebyid_v1_5';

CREATE FUNCTION pgstatindex(relname regclass, OUT version integer, OUT tree_level integer, OUT index_size bigint, OUT root_block_no bigint, OUT internal_pages bigint, OUT leaf_pages bigint, OUT empty_pages bigint, OUT deleted_pages bigint, OUT avg_leaf_density double precision, OUT leaf_fragmentation double precision) RETURNS record
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pgstatindexbyid_v1_5';

CREATE FUNCTION pg_relpages(relname regclass) RETURNS bigint
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pg_relpagesbyid_v1_5';

CREATE FUNCTION pgstattuple_approx(reloid regclass, OUT table_len bigint, OUT scanned_percent double precision, OUT approx_tuple_count bigint, OUT approx_tuple_len bigint, OUT approx_tuple_percent double precision, OUT dead_tuple_count bigint, OUT dead_tuple_len bigint, OUT dead_tuple_percent double precision, OUT approx_free_space bigint, OUT approx_free_percent double precision) RETURNS record
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pgstattuple_approx_v1_5';

CREATE FUNCTION pgstathashindex(relname regclass, OUT version integer, OUT bucket_pages bigint, OUT overflow_pages bigint, OUT bitmap_pages bigint, OUT unused_pages bigint, OUT live_items bigint, OUT dead_items bigint, OUT free_percent double precision) RETURNS record
    LANGUAGE c STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'pgstathashindex';

REVOKE EXECUTE ON FUNCTION pgstattuple(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgstattuple(text) TO pg_stat_scan_tables;
REVOKE EXECUTE ON FUNCTION pgstatindex(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgstatindex(text) TO pg_stat_scan_tables;
REVOKE EXECUTE ON FUNCTION pg_relpages(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_relpages(text) TO pg_stat_scan_tables;
REVOKE EXECUTE ON FUNCTION pgstatginindex(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgstatginindex(regclass) TO pg_stat_scan_tables;
REVOKE EXECUTE ON FUNCTION pgstattuple(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgstattuple(regclass) TO pg_stat_scan_tables;
REVOKE EXECUTE ON FUNCTION pgstatindex(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgstatindex(regclass) TO pg_stat_scan_tables;
REVOKE EXECUTE ON FUNCTION pg_relpages(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_relpages(regclass) TO pg_stat_scan_tables;
REVOKE EXECUTE ON FUNCTION pgstattuple_approx(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgstattuple_approx(regclass) TO pg_stat_scan_tables;
REVOKE EXECUTE ON FUNCTION pgstathashindex(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pgstathashindex(regclass) TO pg_stat_scan_tables;
