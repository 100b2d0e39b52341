-- The objects of moddatetime 1.0, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION moddatetime() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME';
