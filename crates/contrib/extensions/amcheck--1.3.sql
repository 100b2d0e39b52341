-- The objects of amcheck 1.3, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION bt_index_check(index regclass) RETURNS void
    LANGUAGE c STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME';

CREATE FUNCTION bt_index_parent_check(index regclass) RETURNS void
    LANGUAGE c STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME';

CREATE FUNCTION bt_index_check(index regclass, heapallindexed boolean) RETURNS void
    LANGUAGE c STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME';

CREATE FUNCTION bt_index_parent_check(index regclass, heapallindexed boolean) RETURNS void
    LANGUAGE c STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME';

CREATE FUNCTION bt_index_parent_check(index regclass, heapallindexed boolean, rootdescend boolean) RETURNS void
    LANGUAGE c STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME';

CREATE FUNCTION verify_heapam(relation regclass, on_error_stop boolean DEFAULT false, check_toast boolean DEFAULT false, skip text DEFAULT 'none', startblock bigint DEFAULT NULL, endblock bigint DEFAULT NULL, OUT blkno bigint, OUT offnum integer, OUT attnum integer, OUT msg text) RETURNS SETOF record
    LANGUAGE c
    AS 'MODULE_PATHNAME';

REVOKE ALL ON FUNCTION bt_index_check(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_parent_check(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_check(regclass, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_parent_check(regclass, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION bt_index_parent_check(regclass, boolean, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION verify_heapam(regclass, boolean, boolean, text, bigint, bigint) FROM PUBLIC;
