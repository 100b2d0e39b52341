-- The objects of lo 1.1, with the names and symbols of PostgreSQL 15.

CREATE DOMAIN lo AS pg_catalog.oid;

CREATE FUNCTION lo_oid(lo) RETURNS pg_catalog.oid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS 'SELECT $1::pg_catalog.oid';

CREATE FUNCTION lo_manage() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME';
