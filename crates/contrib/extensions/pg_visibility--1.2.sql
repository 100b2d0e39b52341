-- The objects of pg_visibility 1.2, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION pg_visibility_map(regclass, blkno bigint, OUT all_visible boolean, OUT all_frozen boolean) RETURNS record
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION pg_visibility(regclass, blkno bigint, OUT all_visible boolean, OUT all_frozen boolean, OUT pd_all_visible boolean) RETURNS record
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION pg_visibility_map(regclass, OUT blkno bigint, OUT all_visible boolean, OUT all_frozen boolean) RETURNS SETOF record
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME', 'pg_visibility_map_rel';

CREATE FUNCTION pg_visibility(regclass, OUT blkno bigint, OUT all_visible boolean, OUT all_frozen boolean, OUT pd_all_visible boolean) RETURNS SETOF record
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME', 'pg_visibility_rel';

CREATE FUNCTION pg_visibility_map_summary(regclass, OUT all_visible bigint, OUT all_frozen bigint) RETURNS record
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION pg_check_frozen(regclass, OUT t_ctid tid) RETURNS SETOF tid
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION pg_check_visible(regclass, OUT t_ctid tid) RETURNS SETOF tid
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION pg_truncate_visibility_map(regclass) RETURNS void
    LANGUAGE c STRICT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME';

REVOKE ALL ON FUNCTION pg_visibility_map(regclass, bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_visibility(regclass, bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_visibility_map(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_visibility(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_visibility_map_summary(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_check_frozen(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_check_visible(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_truncate_visibility_map(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_visibility_map(regclass, bigint) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION pg_visibility(regclass, bigint) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION pg_visibility_map(regclass) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION pg_visibility(regclass) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION pg_visibility_map_summary(regclass) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION pg_check_frozen(regclass) TO pg_stat_scan_tables;
GRANT EXECUTE ON FUNCTION pg_check_visible(regclass) TO pg_stat_scan_tables;
