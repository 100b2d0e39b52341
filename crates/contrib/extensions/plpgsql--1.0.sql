-- The objects of plpgsql 1.0, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION plpgsql_call_handler() RETURNS language_handler
    LANGUAGE c
    AS 'MODULE_PATHNAME';

CREATE FUNCTION plpgsql_inline_handler(internal) RETURNS void
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION plpgsql_validator(oid) RETURNS void
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE TRUSTED LANGUAGE plpgsql
    HANDLER plpgsql_call_handler
    INLINE plpgsql_inline_handler
    VALIDATOR plpgsql_validator;

ALTER LANGUAGE plpgsql OWNER TO @extowner@;

COMMENT ON LANGUAGE plpgsql IS 'PL/pgSQL procedural language';
