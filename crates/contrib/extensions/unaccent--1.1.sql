-- The objects of unaccent 1.1, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION unaccent(regdictionary, text) RETURNS text
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'unaccent_dict';

CREATE FUNCTION unaccent(text) RETURNS text
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'unaccent_dict';

CREATE FUNCTION unaccent_init(internal) RETURNS internal
    LANGUAGE c PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION unaccent_lexize(internal, internal, internal, internal) RETURNS internal
    LANGUAGE c PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE TEXT SEARCH TEMPLATE unaccent (INIT = unaccent_init, LEXIZE = unaccent_lexize);

CREATE TEXT SEARCH DICTIONARY unaccent (TEMPLATE = unaccent, RULES = 'unaccent');
