-- The objects of tcn 1.0, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION triggered_change_notification() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME';
