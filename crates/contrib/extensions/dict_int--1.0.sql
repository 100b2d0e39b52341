-- The objects of dict_int 1.0, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION dintdict_init(internal) RETURNS internal
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION dintdict_lexize(internal, internal, internal, internal) RETURNS internal
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE TEXT SEARCH TEMPLATE intdict_template (INIT = dintdict_init, LEXIZE = dintdict_lexize);

CREATE TEXT SEARCH DICTIONARY intdict (TEMPLATE = intdict_template);

COMMENT ON TEXT SEARCH DICTIONARY intdict IS 'dictionary for integers';
