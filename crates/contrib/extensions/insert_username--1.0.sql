-- The objects of insert_username 1.0, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION insert_username() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME';
