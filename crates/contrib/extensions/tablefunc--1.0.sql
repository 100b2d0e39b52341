-- The objects of tablefunc 1.0, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION normal_rand(integer, double precision, double precision) RETURNS SETOF double precision
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'normal_rand';

CREATE FUNCTION crosstab(text) RETURNS SETOF record
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'crosstab';

CREATE TYPE tablefunc_crosstab_2 AS (row_name text, category_1 text, category_2 text);

CREATE TYPE tablefunc_crosstab_3 AS (
    row_name text, category_1 text, category_2 text, category_3 text
);

CREATE TYPE tablefunc_crosstab_4 AS (
    row_name text, category_1 text, category_2 text, category_3 text, category_4 text
);

CREATE FUNCTION crosstab2(text) RETURNS SETOF tablefunc_crosstab_2
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'crosstab';

CREATE FUNCTION crosstab3(text) RETURNS SETOF tablefunc_crosstab_3
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'crosstab';

CREATE FUNCTION crosstab4(text) RETURNS SETOF tablefunc_crosstab_4
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'crosstab';

CREATE FUNCTION crosstab(text, integer) RETURNS SETOF record
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'crosstab';

CREATE FUNCTION crosstab(text, text) RETURNS SETOF record
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'crosstab_hash';

CREATE FUNCTION connectby(text, text, text, text, integer, text) RETURNS SETOF record
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'connectby_text';

CREATE FUNCTION connectby(text, text, text, text, integer) RETURNS SETOF record
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'connectby_text';

CREATE FUNCTION connectby(text, text, text, text, text, integer, text) RETURNS SETOF record
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'connectby_text_serial';

CREATE FUNCTION connectby(text, text, text, text, text, integer) RETURNS SETOF record
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'connectby_text_serial';
