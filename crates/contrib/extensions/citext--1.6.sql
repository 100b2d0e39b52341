-- The objects of citext 1.6, with the names and symbols of PostgreSQL 15.

CREATE TYPE citext;

CREATE FUNCTION citextin(cstring) RETURNS citext
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'textin';

CREATE FUNCTION citextout(citext) RETURNS cstring
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'textout';

CREATE FUNCTION citextrecv(internal) RETURNS citext
    LANGUAGE internal STABLE STRICT PARALLEL SAFE
    AS 'textrecv';

CREATE FUNCTION citextsend(citext) RETURNS bytea
    LANGUAGE internal STABLE STRICT PARALLEL SAFE
    AS 'textsend';

CREATE TYPE citext (
    INTERNALLENGTH = VARIABLE,
    INPUT = citextin,
    OUTPUT = citextout,
    RECEIVE = citextrecv,
    SEND = citextsend,
    ALIGNMENT = int4,
    STORAGE = extended,
    CATEGORY = 'S',
    COLLATABLE = true
);

CREATE FUNCTION citext(character) RETURNS citext
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'rtrim1';

CREATE FUNCTION citext(boolean) RETURNS citext
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'booltext';

CREATE FUNCTION citext(inet) RETURNS citext
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'network_show';

CREATE CAST (citext AS text) WITHOUT FUNCTION AS IMPLICIT;

CREATE CAST (citext AS character varying) WITHOUT FUNCTION AS IMPLICIT;

CREATE CAST (citext AS character) WITHOUT FUNCTION AS ASSIGNMENT;

CREATE CAST (text AS citext) WITHOUT FUNCTION AS ASSIGNMENT;

CREATE CAST (character varying AS citext) WITHOUT FUNCTION AS ASSIGNMENT;

CREATE CAST (character AS citext) WITH FUNCTION citext(character) AS ASSIGNMENT;

CREATE CAST (boolean AS citext) WITH FUNCTION citext(boolean) AS ASSIGNMENT;

CREATE CAST (inet AS citext) WITH FUNCTION citext(inet) AS ASSIGNMENT;

CREATE FUNCTION citext_eq(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_ne(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_lt(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_le(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_gt(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_ge(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR <> (
    FUNCTION = citext_ne,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = <>,
    NEGATOR = =,
    RESTRICT = neqsel,
    JOIN = neqjoinsel
);

CREATE OPERATOR = (
    FUNCTION = citext_eq,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = =,
    NEGATOR = <>,
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    HASHES,
    MERGES
);

CREATE OPERATOR > (
    FUNCTION = citext_gt,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = <,
    NEGATOR = <=,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);

CREATE OPERATOR >= (
    FUNCTION = citext_ge,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = <=,
    NEGATOR = <,
    RESTRICT = scalargesel,
    JOIN = scalargejoinsel
);

CREATE OPERATOR < (
    FUNCTION = citext_lt,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = >,
    NEGATOR = >=,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);

CREATE OPERATOR <= (
    FUNCTION = citext_le,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = >=,
    NEGATOR = >,
    RESTRICT = scalarlesel,
    JOIN = scalarlejoinsel
);

CREATE FUNCTION citext_cmp(citext, citext) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_hash(citext) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR CLASS citext_ops
    DEFAULT FOR TYPE citext USING btree AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 citext_cmp(citext,citext);

CREATE FUNCTION citext_hash_extended(citext, bigint) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR CLASS citext_ops
    DEFAULT FOR TYPE citext USING hash AS
        OPERATOR 1 =,
        FUNCTION 1 citext_hash(citext),
        FUNCTION 2 citext_hash_extended(citext,bigint);

CREATE FUNCTION citext_smaller(citext, citext) RETURNS citext
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_larger(citext, citext) RETURNS citext
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE AGGREGATE min(citext) (
    SFUNC = citext_smaller,
    STYPE = citext,
    COMBINEFUNC = citext_smaller,
    SORTOP = <,
    PARALLEL = SAFE
);

CREATE AGGREGATE max(citext) (
    SFUNC = citext_larger,
    STYPE = citext,
    COMBINEFUNC = citext_larger,
    SORTOP = >,
    PARALLEL = SAFE
);

CREATE FUNCTION texticlike(citext, citext) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'texticlike';

CREATE FUNCTION texticnlike(citext, citext) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'texticnlike';

CREATE FUNCTION texticregexeq(citext, citext) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'texticregexeq';

CREATE FUNCTION texticregexne(citext, citext) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'texticregexne';

CREATE OPERATOR !~ (
    FUNCTION = texticregexne,
    LEFTARG = citext,
    RIGHTARG = citext,
    NEGATOR = ~,
    RESTRICT = icregexnesel,
    JOIN = icregexnejoinsel
);

CREATE OPERATOR ~ (
    FUNCTION = texticregexeq,
    LEFTARG = citext,
    RIGHTARG = citext,
    NEGATOR = !~,
    RESTRICT = icregexeqsel,
    JOIN = icregexeqjoinsel
);

CREATE OPERATOR !~* (
    FUNCTION = texticregexne,
    LEFTARG = citext,
    RIGHTARG = citext,
    NEGATOR = ~*,
    RESTRICT = icregexnesel,
    JOIN = icregexnejoinsel
);

CREATE OPERATOR ~* (
    FUNCTION = texticregexeq,
    LEFTARG = citext,
    RIGHTARG = citext,
    NEGATOR = !~*,
    RESTRICT = icregexeqsel,
    JOIN = icregexeqjoinsel
);

CREATE OPERATOR !~~ (
    FUNCTION = texticnlike,
    LEFTARG = citext,
    RIGHTARG = citext,
    NEGATOR = ~~,
    RESTRICT = icnlikesel,
    JOIN = icnlikejoinsel
);

CREATE OPERATOR ~~ (
    FUNCTION = texticlike,
    LEFTARG = citext,
    RIGHTARG = citext,
    NEGATOR = !~~,
    RESTRICT = iclikesel,
    JOIN = iclikejoinsel
);

CREATE OPERATOR !~~* (
    FUNCTION = texticnlike,
    LEFTARG = citext,
    RIGHTARG = citext,
    NEGATOR = ~~*,
    RESTRICT = icnlikesel,
    JOIN = icnlikejoinsel
);

CREATE OPERATOR ~~* (
    FUNCTION = texticlike,
    LEFTARG = citext,
    RIGHTARG = citext,
    NEGATOR = !~~*,
    RESTRICT = iclikesel,
    JOIN = iclikejoinsel
);

CREATE FUNCTION texticlike(citext, text) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'texticlike';

CREATE FUNCTION texticnlike(citext, text) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'texticnlike';

CREATE FUNCTION texticregexeq(citext, text) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'texticregexeq';

CREATE FUNCTION texticregexne(citext, text) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'texticregexne';

CREATE OPERATOR !~ (
    FUNCTION = texticregexne,
    LEFTARG = citext,
    RIGHTARG = text,
    NEGATOR = ~,
    RESTRICT = icregexnesel,
    JOIN = icregexnejoinsel
);

CREATE OPERATOR ~ (
    FUNCTION = texticregexeq,
    LEFTARG = citext,
    RIGHTARG = text,
    NEGATOR = !~,
    RESTRICT = icregexeqsel,
    JOIN = icregexeqjoinsel
);

CREATE OPERATOR !~* (
    FUNCTION = texticregexne,
    LEFTARG = citext,
    RIGHTARG = text,
    NEGATOR = ~*,
    RESTRICT = icregexnesel,
    JOIN = icregexnejoinsel
);

CREATE OPERATOR ~* (
    FUNCTION = texticregexeq,
    LEFTARG = citext,
    RIGHTARG = text,
    NEGATOR = !~*,
    RESTRICT = icregexeqsel,
    JOIN = icregexeqjoinsel
);

CREATE OPERATOR !~~ (
    FUNCTION = texticnlike,
    LEFTARG = citext,
    RIGHTARG = text,
    NEGATOR = ~~,
    RESTRICT = icnlikesel,
    JOIN = icnlikejoinsel
);

CREATE OPERATOR ~~ (
    FUNCTION = texticlike,
    LEFTARG = citext,
    RIGHTARG = text,
    NEGATOR = !~~,
    RESTRICT = iclikesel,
    JOIN = iclikejoinsel
);

CREATE OPERATOR !~~* (
    FUNCTION = texticnlike,
    LEFTARG = citext,
    RIGHTARG = text,
    NEGATOR = ~~*,
    RESTRICT = icnlikesel,
    JOIN = icnlikejoinsel
);

CREATE OPERATOR ~~* (
    FUNCTION = texticlike,
    LEFTARG = citext,
    RIGHTARG = text,
    NEGATOR = !~~*,
    RESTRICT = iclikesel,
    JOIN = iclikejoinsel
);

CREATE FUNCTION regexp_match(citext, citext) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.regexp_match($1::pg_catalog.text, $2::pg_catalog.text, 'i')
$$;

CREATE FUNCTION regexp_match(citext, citext, text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.regexp_match($1::pg_catalog.text, $2::pg_catalog.text, CASE WHEN pg_catalog.strpos($3, 'c') > 0 THEN $3 ELSE $3 || 'i' END)
$$;

CREATE FUNCTION regexp_matches(citext, citext) RETURNS SETOF text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 1
    AS $$
    SELECT pg_catalog.regexp_matches($1::pg_catalog.text, $2::pg_catalog.text, 'i')
$$;

CREATE FUNCTION regexp_matches(citext, citext, text) RETURNS SETOF text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 10
    AS $$
    SELECT pg_catalog.regexp_matches($1::pg_catalog.text, $2::pg_catalog.text, CASE WHEN pg_catalog.strpos($3, 'c') > 0 THEN $3 ELSE $3 || 'i' END)
$$;

CREATE FUNCTION regexp_replace(citext, citext, text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.regexp_replace($1::pg_catalog.text, $2::pg_catalog.text, $3, 'i')
$$;

CREATE FUNCTION regexp_replace(citext, citext, text, text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.regexp_replace($1::pg_catalog.text, $2::pg_catalog.text, $3, CASE WHEN pg_catalog.strpos($4, 'c') > 0 THEN $4 ELSE $4 || 'i' END)
$$;

CREATE FUNCTION regexp_split_to_array(citext, citext) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.regexp_split_to_array($1::pg_catalog.text, $2::pg_catalog.text, 'i')
$$;

CREATE FUNCTION regexp_split_to_array(citext, citext, text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.regexp_split_to_array($1::pg_catalog.text, $2::pg_catalog.text, CASE WHEN pg_catalog.strpos($3, 'c') > 0 THEN $3 ELSE $3 || 'i' END)
$$;

CREATE FUNCTION regexp_split_to_table(citext, citext) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.regexp_split_to_table($1::pg_catalog.text, $2::pg_catalog.text, 'i')
$$;

CREATE FUNCTION regexp_split_to_table(citext, citext, text) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.regexp_split_to_table($1::pg_catalog.text, $2::pg_catalog.text, CASE WHEN pg_catalog.strpos($3, 'c') > 0 THEN $3 ELSE $3 || 'i' END)
$$;

CREATE FUNCTION strpos(citext, citext) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.strpos(pg_catalog.lower($1::pg_catalog.text), pg_catalog.lower($2::pg_catalog.text))
$$;

CREATE FUNCTION replace(citext, citext, citext) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.regexp_replace($1::pg_catalog.text, pg_catalog.regexp_replace($2::pg_catalog.text, '[^a-zA-Z_0-9]', '\\\&', 'g'), $3::pg_catalog.text, 'gi')
$$;

CREATE FUNCTION split_part(citext, citext, integer) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT (pg_catalog.regexp_split_to_array($1::pg_catalog.text, pg_catalog.regexp_replace($2::pg_catalog.text, '[^a-zA-Z_0-9]', '\\\&', 'g'), 'i'))[$3]
$$;

CREATE FUNCTION translate(citext, citext, text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT pg_catalog.translate(pg_catalog.translate($1::pg_catalog.text, pg_catalog.lower($2::pg_catalog.text), $3),
        pg_catalog.upper($2::pg_catalog.text), $3)
$$;

CREATE FUNCTION citext_pattern_lt(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_pattern_le(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_pattern_gt(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION citext_pattern_ge(citext, citext) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR ~>~ (
    FUNCTION = citext_pattern_gt,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = ~<~,
    NEGATOR = ~<=~,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);

CREATE OPERATOR ~>=~ (
    FUNCTION = citext_pattern_ge,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = ~<=~,
    NEGATOR = ~<~,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);

CREATE OPERATOR ~<~ (
    FUNCTION = citext_pattern_lt,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = ~>~,
    NEGATOR = ~>=~,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);

CREATE OPERATOR ~<=~ (
    FUNCTION = citext_pattern_le,
    LEFTARG = citext,
    RIGHTARG = citext,
    COMMUTATOR = ~>=~,
    NEGATOR = ~>~,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);

CREATE FUNCTION citext_pattern_cmp(citext, citext) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR CLASS citext_pattern_ops
    FOR TYPE citext USING btree AS
        OPERATOR 1 ~<~,
        OPERATOR 2 ~<=~,
        OPERATOR 3 =,
        OPERATOR 4 ~>=~,
        OPERATOR 5 ~>~,
        FUNCTION 1 citext_pattern_cmp(citext,citext);
