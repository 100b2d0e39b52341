-- The objects of seg 1.4, with the names and symbols of PostgreSQL 15.

CREATE TYPE seg;

CREATE FUNCTION seg_in(cstring) RETURNS seg
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION seg_out(seg) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE TYPE seg (INTERNALLENGTH = 12, INPUT = seg_in, OUTPUT = seg_out);

COMMENT ON TYPE seg IS 'floating point interval ''FLOAT .. FLOAT'', ''.. FLOAT'', ''FLOAT ..'' or ''FLOAT''';

CREATE FUNCTION seg_over_left(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_over_left(seg, seg) IS 'overlaps or is left of';

CREATE FUNCTION seg_over_right(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_over_right(seg, seg) IS 'overlaps or is right of';

CREATE FUNCTION seg_left(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_left(seg, seg) IS 'is left of';

CREATE FUNCTION seg_right(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_right(seg, seg) IS 'is right of';

CREATE FUNCTION seg_lt(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_lt(seg, seg) IS 'less than';

CREATE FUNCTION seg_le(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_le(seg, seg) IS 'less than or equal';

CREATE FUNCTION seg_gt(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_gt(seg, seg) IS 'greater than';

CREATE FUNCTION seg_ge(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_ge(seg, seg) IS 'greater than or equal';

CREATE FUNCTION seg_contains(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_contains(seg, seg) IS 'contains';

CREATE FUNCTION seg_contained(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_contained(seg, seg) IS 'contained in';

CREATE FUNCTION seg_overlap(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_overlap(seg, seg) IS 'overlaps';

CREATE FUNCTION seg_same(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_same(seg, seg) IS 'same as';

CREATE FUNCTION seg_different(seg, seg) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_different(seg, seg) IS 'different';

CREATE FUNCTION seg_cmp(seg, seg) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION seg_cmp(seg, seg) IS 'btree comparison function';

CREATE FUNCTION seg_union(seg, seg) RETURNS seg
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION seg_inter(seg, seg) RETURNS seg
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION seg_size(seg) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION seg_center(seg) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION seg_upper(seg) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION seg_lower(seg) RETURNS real
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR < (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_lt,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);

CREATE OPERATOR <= (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_le,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);

CREATE OPERATOR > (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_gt,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);

CREATE OPERATOR >= (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

CREATE OPERATOR << (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_left,
    COMMUTATOR = >>,
    RESTRICT = positionsel, JOIN = positionjoinsel
);

CREATE OPERATOR &< (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_over_left,
    RESTRICT = positionsel, JOIN = positionjoinsel
);

CREATE OPERATOR && (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_overlap,
    COMMUTATOR = &&,
    RESTRICT = areasel, JOIN = areajoinsel
);

CREATE OPERATOR &> (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_over_right,
    RESTRICT = positionsel, JOIN = positionjoinsel
);

CREATE OPERATOR >> (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_right,
    COMMUTATOR = <<,
    RESTRICT = positionsel, JOIN = positionjoinsel
);

CREATE OPERATOR = (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_same,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, MERGES
);

CREATE OPERATOR <> (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_different,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);

CREATE OPERATOR @> (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_contains,
    COMMUTATOR = <@,
    RESTRICT = contsel, JOIN = contjoinsel
);

CREATE OPERATOR <@ (
    LEFTARG = seg, RIGHTARG = seg, FUNCTION = seg_contained,
    COMMUTATOR = @>,
    RESTRICT = contsel, JOIN = contjoinsel
);

CREATE FUNCTION gseg_consistent(internal, seg, smallint, oid, internal) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gseg_penalty(internal, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gseg_picksplit(internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gseg_union(internal, internal) RETURNS seg
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gseg_same(seg, seg, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR CLASS seg_ops DEFAULT FOR TYPE seg USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 seg_cmp(seg, seg);

CREATE OPERATOR CLASS gist_seg_ops DEFAULT FOR TYPE seg USING gist AS
    OPERATOR 1 <<, OPERATOR 2 &<, OPERATOR 3 &&, OPERATOR 4 &>, OPERATOR 5 >>, OPERATOR 6 =,
    OPERATOR 7 @>, OPERATOR 8 <@,
    FUNCTION 1 gseg_consistent(internal, seg, smallint, oid, internal),
    FUNCTION 2 gseg_union(internal, internal),
    FUNCTION 5 gseg_penalty(internal, internal, internal),
    FUNCTION 6 gseg_picksplit(internal, internal),
    FUNCTION 7 gseg_same(seg, seg, internal);
