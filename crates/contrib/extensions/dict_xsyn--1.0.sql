-- The objects of dict_xsyn 1.0, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION dxsyn_init(internal) RETURNS internal
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION dxsyn_lexize(internal, internal, internal, internal) RETURNS internal
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE TEXT SEARCH TEMPLATE xsyn_template (INIT = dxsyn_init, LEXIZE = dxsyn_lexize);

CREATE TEXT SEARCH DICTIONARY xsyn (TEMPLATE = xsyn_template);

COMMENT ON TEXT SEARCH DICTIONARY xsyn IS 'eXtended synonym dictionary';
