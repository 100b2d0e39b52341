-- The objects of pg_prewarm 1.2, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION pg_prewarm(
    regclass,
    mode text DEFAULT 'buffer',
    fork text DEFAULT 'main',
    first_block bigint DEFAULT NULL,
    last_block bigint DEFAULT NULL
) RETURNS bigint
    LANGUAGE c PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION autoprewarm_start_worker() RETURNS void
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION autoprewarm_dump_now() RETURNS bigint
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';
