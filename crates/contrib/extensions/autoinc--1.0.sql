-- The objects of autoinc 1.0, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION autoinc() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME';
