-- The objects of pg_trgm 1.6, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION set_limit(real) RETURNS real
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION show_limit() RETURNS real
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION show_trgm(text) RETURNS text[]
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION similarity(text, text) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION similarity_op(text, text) RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR % (
    FUNCTION = similarity_op,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = %,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE FUNCTION word_similarity(text, text) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION word_similarity_op(text, text) RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION word_similarity_commutator_op(text, text) RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR %> (
    FUNCTION = word_similarity_commutator_op,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = <%,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR <% (
    FUNCTION = word_similarity_op,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = %>,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE FUNCTION similarity_dist(text, text) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR <-> (
    FUNCTION = similarity_dist,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = <->
);

CREATE FUNCTION word_similarity_dist_op(text, text) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION word_similarity_dist_commutator_op(text, text) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR <->> (
    FUNCTION = word_similarity_dist_commutator_op,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = <<->
);

CREATE OPERATOR <<-> (
    FUNCTION = word_similarity_dist_op,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = <->>
);

CREATE TYPE gtrgm;

CREATE FUNCTION gtrgm_in(cstring) RETURNS gtrgm
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gtrgm_out(gtrgm) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE TYPE gtrgm (
    INTERNALLENGTH = VARIABLE,
    INPUT = gtrgm_in,
    OUTPUT = gtrgm_out,
    ALIGNMENT = int4
);

CREATE FUNCTION gtrgm_consistent(internal, text, smallint, oid, internal) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gtrgm_distance(internal, text, smallint, oid, internal) RETURNS double precision
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gtrgm_compress(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gtrgm_decompress(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gtrgm_penalty(internal, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gtrgm_picksplit(internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gtrgm_union(internal, internal) RETURNS gtrgm
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gtrgm_same(gtrgm, gtrgm, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION strict_word_similarity_commutator_op(text, text) RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR %>> (
    FUNCTION = strict_word_similarity_commutator_op,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = <<%,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE FUNCTION strict_word_similarity_dist_commutator_op(text, text) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR <->>> (
    FUNCTION = strict_word_similarity_dist_commutator_op,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = <<<->
);

CREATE FUNCTION gtrgm_options(internal) RETURNS void
    LANGUAGE c IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR CLASS gist_trgm_ops
    FOR TYPE text USING gist AS
        OPERATOR 1 %,
        OPERATOR 2 <-> FOR ORDER BY pg_catalog.float_ops,
        OPERATOR 3 ~~,
        OPERATOR 4 ~~*,
        OPERATOR 5 ~,
        OPERATOR 6 ~*,
        OPERATOR 7 %>,
        OPERATOR 8 <->> FOR ORDER BY pg_catalog.float_ops,
        OPERATOR 9 %>>,
        OPERATOR 10 <->>> FOR ORDER BY pg_catalog.float_ops,
        OPERATOR 11 =,
        FUNCTION 1 gtrgm_consistent(internal,text,smallint,oid,internal),
        FUNCTION 2 gtrgm_union(internal,internal),
        FUNCTION 3 gtrgm_compress(internal),
        FUNCTION 4 gtrgm_decompress(internal),
        FUNCTION 5 gtrgm_penalty(internal,internal,internal),
        FUNCTION 6 gtrgm_picksplit(internal,internal),
        FUNCTION 7 gtrgm_same(gtrgm,gtrgm,internal),
        FUNCTION 8 gtrgm_distance(internal,text,smallint,oid,internal),
        FUNCTION 10 gtrgm_options(internal),
        STORAGE gtrgm;

CREATE FUNCTION gin_extract_value_trgm(text, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_trgm(text, internal, smallint, internal, internal, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_trgm_consistent(internal, smallint, text, integer, internal, internal, internal, internal) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_trgm_triconsistent(internal, smallint, text, integer, internal, internal, internal) RETURNS "char"
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR CLASS gin_trgm_ops
    FOR TYPE text USING gin AS
        OPERATOR 1 %,
        OPERATOR 3 ~~,
        OPERATOR 4 ~~*,
        OPERATOR 5 ~,
        OPERATOR 6 ~*,
        OPERATOR 7 %>,
        OPERATOR 9 %>>,
        OPERATOR 11 =,
        FUNCTION 1 btint4cmp(integer,integer),
        FUNCTION 2 gin_extract_value_trgm(text,internal),
        FUNCTION 3 gin_extract_query_trgm(text,internal,smallint,internal,internal,internal,internal),
        FUNCTION 4 gin_trgm_consistent(internal,smallint,text,integer,internal,internal,internal,internal),
        FUNCTION 6 gin_trgm_triconsistent(internal,smallint,text,integer,internal,internal,internal),
        STORAGE integer;

CREATE FUNCTION strict_word_similarity(text, text) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION strict_word_similarity_op(text, text) RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR <<% (
    FUNCTION = strict_word_similarity_op,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = %>>,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE FUNCTION strict_word_similarity_dist_op(text, text) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR <<<-> (
    FUNCTION = strict_word_similarity_dist_op,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = <->>>
);
