-- The objects of ltree 1.2, with the names and symbols of PostgreSQL 15.

CREATE TYPE ltree;

CREATE FUNCTION ltree_in(cstring) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_out(ltree) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_recv(internal) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_send(ltree) RETURNS bytea
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE TYPE ltree (
    INPUT = ltree_in,
    OUTPUT = ltree_out,
    RECEIVE = ltree_recv,
    SEND = ltree_send,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);

CREATE TYPE lquery;

CREATE FUNCTION lquery_in(cstring) RETURNS lquery
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lquery_out(lquery) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lquery_recv(internal) RETURNS lquery
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lquery_send(lquery) RETURNS bytea
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE TYPE lquery (
    INPUT = lquery_in,
    OUTPUT = lquery_out,
    RECEIVE = lquery_recv,
    SEND = lquery_send,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);

CREATE TYPE ltxtquery;

CREATE FUNCTION ltxtq_in(cstring) RETURNS ltxtquery
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltxtq_out(ltxtquery) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltxtq_recv(internal) RETURNS ltxtquery
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltxtq_send(ltxtquery) RETURNS bytea
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE TYPE ltxtquery (
    INPUT = ltxtq_in,
    OUTPUT = ltxtq_out,
    RECEIVE = ltxtq_recv,
    SEND = ltxtq_send,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);

CREATE TYPE ltree_gist;

CREATE FUNCTION ltree_gist_in(cstring) RETURNS ltree_gist
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_gist_out(ltree_gist) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE TYPE ltree_gist (
    INPUT = ltree_gist_in,
    OUTPUT = ltree_gist_out,
    INTERNALLENGTH = VARIABLE,
    STORAGE = plain
);

CREATE FUNCTION ltree_cmp(ltree, ltree) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_lt(ltree, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_le(ltree, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_eq(ltree, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_ge(ltree, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_gt(ltree, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_ne(ltree, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION subltree(ltree, integer, integer) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION subpath(ltree, integer, integer) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION subpath(ltree, integer) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION index(ltree, ltree) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ltree_index';

CREATE FUNCTION index(ltree, ltree, integer) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ltree_index';

CREATE FUNCTION nlevel(ltree) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree2text(ltree) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION text2ltree(text) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lca(ltree[]) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', '_lca';

CREATE FUNCTION lca(ltree, ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lca(ltree, ltree, ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lca(ltree, ltree, ltree, ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lca(ltree, ltree, ltree, ltree, ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lca(ltree, ltree, ltree, ltree, ltree, ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lca(ltree, ltree, ltree, ltree, ltree, ltree, ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lca(ltree, ltree, ltree, ltree, ltree, ltree, ltree, ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_isparent(ltree, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_risparent(ltree, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_addltree(ltree, ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_addtext(ltree, text) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_textadd(text, ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltreeparentsel(internal, oid, internal, integer) RETURNS double precision
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltq_regex(ltree, lquery) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltq_rregex(lquery, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lt_q_regex(ltree, lquery[]) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION lt_q_rregex(lquery[], ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltxtq_exec(ltree, ltxtquery) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltxtq_rexec(ltxtquery, ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_consistent(internal, ltree, smallint, oid, internal) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_compress(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_decompress(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_penalty(internal, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_picksplit(internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_union(internal, internal) RETURNS ltree_gist
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_same(ltree_gist, ltree_gist, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_isparent(ltree[], ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_r_isparent(ltree, ltree[]) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_risparent(ltree[], ltree) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_r_risparent(ltree, ltree[]) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltq_regex(ltree[], lquery) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltq_rregex(lquery, ltree[]) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _lt_q_regex(ltree[], lquery[]) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _lt_q_rregex(lquery[], ltree[]) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltxtq_exec(ltree[], ltxtquery) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltxtq_rexec(ltxtquery, ltree[]) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_extract_isparent(ltree[], ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_extract_risparent(ltree[], ltree) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltq_extract_regex(ltree[], lquery) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltxtq_extract_exec(ltree[], ltxtquery) RETURNS ltree
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_consistent(internal, ltree[], smallint, oid, internal) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_compress(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_penalty(internal, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_picksplit(internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_union(internal, internal) RETURNS ltree_gist
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_same(ltree_gist, ltree_gist, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION ltree_gist_options(internal) RETURNS void
    LANGUAGE c IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION _ltree_gist_options(internal) RETURNS void
    LANGUAGE c IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR > (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_gt,
    COMMUTATOR = <,
    NEGATOR = <=,
    RESTRICT = scalargtsel,
    JOIN = scalargtjoinsel
);

CREATE OPERATOR >= (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_ge,
    COMMUTATOR = <=,
    NEGATOR = <,
    RESTRICT = scalargesel,
    JOIN = scalargejoinsel
);

CREATE OPERATOR < (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_lt,
    COMMUTATOR = >,
    NEGATOR = >=,
    RESTRICT = scalarltsel,
    JOIN = scalarltjoinsel
);

CREATE OPERATOR <= (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_le,
    COMMUTATOR = >=,
    NEGATOR = >,
    RESTRICT = scalarlesel,
    JOIN = scalarlejoinsel
);

CREATE OPERATOR <> (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_ne,
    COMMUTATOR = <>,
    NEGATOR = =,
    RESTRICT = neqsel,
    JOIN = neqjoinsel
);

CREATE OPERATOR = (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_eq,
    COMMUTATOR = =,
    NEGATOR = <>,
    RESTRICT = eqsel,
    JOIN = eqjoinsel,
    MERGES
);

CREATE OPERATOR <@ (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_risparent,
    COMMUTATOR = @>,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR @> (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_isparent,
    COMMUTATOR = <@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^<@ (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_risparent,
    COMMUTATOR = ^@>,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^@> (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_isparent,
    COMMUTATOR = ^<@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR || (
    LEFTARG = ltree,
    RIGHTARG = ltree,
    FUNCTION = ltree_addltree
);

CREATE OPERATOR || (
    LEFTARG = ltree,
    RIGHTARG = text,
    FUNCTION = ltree_addtext
);

CREATE OPERATOR || (
    LEFTARG = text,
    RIGHTARG = ltree,
    FUNCTION = ltree_textadd
);

CREATE OPERATOR ~ (
    LEFTARG = lquery,
    RIGHTARG = ltree,
    FUNCTION = ltq_rregex,
    COMMUTATOR = ~,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ~ (
    LEFTARG = ltree,
    RIGHTARG = lquery,
    FUNCTION = ltq_regex,
    COMMUTATOR = ~,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^~ (
    LEFTARG = lquery,
    RIGHTARG = ltree,
    FUNCTION = ltq_rregex,
    COMMUTATOR = ^~,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^~ (
    LEFTARG = ltree,
    RIGHTARG = lquery,
    FUNCTION = ltq_regex,
    COMMUTATOR = ^~,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ? (
    LEFTARG = lquery[],
    RIGHTARG = ltree,
    FUNCTION = lt_q_rregex,
    COMMUTATOR = ?,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ? (
    LEFTARG = ltree,
    RIGHTARG = lquery[],
    FUNCTION = lt_q_regex,
    COMMUTATOR = ?,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^? (
    LEFTARG = lquery[],
    RIGHTARG = ltree,
    FUNCTION = lt_q_rregex,
    COMMUTATOR = ^?,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^? (
    LEFTARG = ltree,
    RIGHTARG = lquery[],
    FUNCTION = lt_q_regex,
    COMMUTATOR = ^?,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR @ (
    LEFTARG = ltxtquery,
    RIGHTARG = ltree,
    FUNCTION = ltxtq_rexec,
    COMMUTATOR = @,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR @ (
    LEFTARG = ltree,
    RIGHTARG = ltxtquery,
    FUNCTION = ltxtq_exec,
    COMMUTATOR = @,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^@ (
    LEFTARG = ltxtquery,
    RIGHTARG = ltree,
    FUNCTION = ltxtq_rexec,
    COMMUTATOR = ^@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^@ (
    LEFTARG = ltree,
    RIGHTARG = ltxtquery,
    FUNCTION = ltxtq_exec,
    COMMUTATOR = ^@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR <@ (
    LEFTARG = ltree,
    RIGHTARG = ltree[],
    FUNCTION = _ltree_r_isparent,
    COMMUTATOR = @>,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR @> (
    LEFTARG = ltree[],
    RIGHTARG = ltree,
    FUNCTION = _ltree_isparent,
    COMMUTATOR = <@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR @> (
    LEFTARG = ltree,
    RIGHTARG = ltree[],
    FUNCTION = _ltree_r_risparent,
    COMMUTATOR = <@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR <@ (
    LEFTARG = ltree[],
    RIGHTARG = ltree,
    FUNCTION = _ltree_risparent,
    COMMUTATOR = @>,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ~ (
    LEFTARG = lquery,
    RIGHTARG = ltree[],
    FUNCTION = _ltq_rregex,
    COMMUTATOR = ~,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ~ (
    LEFTARG = ltree[],
    RIGHTARG = lquery,
    FUNCTION = _ltq_regex,
    COMMUTATOR = ~,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ? (
    LEFTARG = lquery[],
    RIGHTARG = ltree[],
    FUNCTION = _lt_q_rregex,
    COMMUTATOR = ?,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ? (
    LEFTARG = ltree[],
    RIGHTARG = lquery[],
    FUNCTION = _lt_q_regex,
    COMMUTATOR = ?,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR @ (
    LEFTARG = ltxtquery,
    RIGHTARG = ltree[],
    FUNCTION = _ltxtq_rexec,
    COMMUTATOR = @,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR @ (
    LEFTARG = ltree[],
    RIGHTARG = ltxtquery,
    FUNCTION = _ltxtq_exec,
    COMMUTATOR = @,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^<@ (
    LEFTARG = ltree,
    RIGHTARG = ltree[],
    FUNCTION = _ltree_r_isparent,
    COMMUTATOR = ^@>,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^@> (
    LEFTARG = ltree[],
    RIGHTARG = ltree,
    FUNCTION = _ltree_isparent,
    COMMUTATOR = ^<@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^@> (
    LEFTARG = ltree,
    RIGHTARG = ltree[],
    FUNCTION = _ltree_r_risparent,
    COMMUTATOR = ^<@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^<@ (
    LEFTARG = ltree[],
    RIGHTARG = ltree,
    FUNCTION = _ltree_risparent,
    COMMUTATOR = ^@>,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^~ (
    LEFTARG = lquery,
    RIGHTARG = ltree[],
    FUNCTION = _ltq_rregex,
    COMMUTATOR = ^~,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^~ (
    LEFTARG = ltree[],
    RIGHTARG = lquery,
    FUNCTION = _ltq_regex,
    COMMUTATOR = ^~,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^? (
    LEFTARG = lquery[],
    RIGHTARG = ltree[],
    FUNCTION = _lt_q_rregex,
    COMMUTATOR = ^?,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^? (
    LEFTARG = ltree[],
    RIGHTARG = lquery[],
    FUNCTION = _lt_q_regex,
    COMMUTATOR = ^?,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^@ (
    LEFTARG = ltxtquery,
    RIGHTARG = ltree[],
    FUNCTION = _ltxtq_rexec,
    COMMUTATOR = ^@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ^@ (
    LEFTARG = ltree[],
    RIGHTARG = ltxtquery,
    FUNCTION = _ltxtq_exec,
    COMMUTATOR = ^@,
    RESTRICT = matchingsel,
    JOIN = matchingjoinsel
);

CREATE OPERATOR ?@> (
    LEFTARG = ltree[],
    RIGHTARG = ltree,
    FUNCTION = _ltree_extract_isparent
);

CREATE OPERATOR ?<@ (
    LEFTARG = ltree[],
    RIGHTARG = ltree,
    FUNCTION = _ltree_extract_risparent
);

CREATE OPERATOR ?~ (
    LEFTARG = ltree[],
    RIGHTARG = lquery,
    FUNCTION = _ltq_extract_regex
);

CREATE OPERATOR ?@ (
    LEFTARG = ltree[],
    RIGHTARG = ltxtquery,
    FUNCTION = _ltxtq_extract_exec
);

CREATE OPERATOR CLASS ltree_ops
    DEFAULT FOR TYPE ltree USING btree AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 ltree_cmp(ltree,ltree);

CREATE OPERATOR CLASS gist_ltree_ops
    DEFAULT FOR TYPE ltree USING gist AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        OPERATOR 10 @>,
        OPERATOR 11 <@,
        OPERATOR 12 ~ (ltree, lquery),
        OPERATOR 13 ~ (lquery, ltree),
        OPERATOR 14 @ (ltree, ltxtquery),
        OPERATOR 15 @ (ltxtquery, ltree),
        OPERATOR 16 ? (ltree, lquery[]),
        OPERATOR 17 ? (lquery[], ltree),
        FUNCTION 1 ltree_consistent(internal,ltree,smallint,oid,internal),
        FUNCTION 2 ltree_union(internal,internal),
        FUNCTION 3 ltree_compress(internal),
        FUNCTION 4 ltree_decompress(internal),
        FUNCTION 5 ltree_penalty(internal,internal,internal),
        FUNCTION 6 ltree_picksplit(internal,internal),
        FUNCTION 7 ltree_same(ltree_gist,ltree_gist,internal),
        FUNCTION 10 ltree_gist_options(internal),
        STORAGE ltree_gist;

CREATE OPERATOR CLASS gist__ltree_ops
    DEFAULT FOR TYPE ltree[] USING gist AS
        OPERATOR 10 <@ (ltree[], ltree),
        OPERATOR 11 @> (ltree, ltree[]),
        OPERATOR 12 ~ (ltree[], lquery),
        OPERATOR 13 ~ (lquery, ltree[]),
        OPERATOR 14 @ (ltree[], ltxtquery),
        OPERATOR 15 @ (ltxtquery, ltree[]),
        OPERATOR 16 ? (ltree[], lquery[]),
        OPERATOR 17 ? (lquery[], ltree[]),
        FUNCTION 1 _ltree_consistent(internal,ltree[],smallint,oid,internal),
        FUNCTION 2 _ltree_union(internal,internal),
        FUNCTION 3 _ltree_compress(internal),
        FUNCTION 4 ltree_decompress(internal),
        FUNCTION 5 _ltree_penalty(internal,internal,internal),
        FUNCTION 6 _ltree_picksplit(internal,internal),
        FUNCTION 7 _ltree_same(ltree_gist,ltree_gist,internal),
        FUNCTION 10 _ltree_gist_options(internal),
        STORAGE ltree_gist;
