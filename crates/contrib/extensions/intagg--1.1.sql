-- The objects of intagg 1.1, with the names and signatures of PostgreSQL 15.

CREATE FUNCTION int_agg_state(internal, integer) RETURNS internal
    LANGUAGE internal PARALLEL SAFE
    AS 'array_agg_transfn';

CREATE FUNCTION int_agg_final_array(internal) RETURNS integer[]
    LANGUAGE internal PARALLEL SAFE
    AS 'array_agg_finalfn';

CREATE AGGREGATE int_array_aggregate(integer) (
    SFUNC = int_agg_state,
    STYPE = internal,
    FINALFUNC = int_agg_final_array,
    PARALLEL = SAFE
);

CREATE FUNCTION int_array_enum(integer[]) RETURNS SETOF integer
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
    AS 'array_unnest';
