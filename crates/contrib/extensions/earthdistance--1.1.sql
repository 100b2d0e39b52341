-- The objects of earthdistance 1.1, with the names and symbols of PostgreSQL 15.

-- The radius of the Earth in meters.
CREATE FUNCTION earth() RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$SELECT '6378168'::float8$$;

-- Points on the surface of the Earth, whose center is the origin.
CREATE DOMAIN earth AS cube
    CONSTRAINT not_point CHECK (cube_is_point(VALUE))
    CONSTRAINT not_3d CHECK (cube_dim(VALUE) <= 3)
    CONSTRAINT on_surface CHECK (
        abs(cube_distance(VALUE, '(0)'::cube) / earth() - '1'::float8) < '10e-7'::float8
    );

CREATE FUNCTION sec_to_gc(double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN $1 < 0 THEN 0::float8
        WHEN $1 / (2 * earth()) > 1 THEN pi() * earth()
        ELSE 2 * earth() * asin($1 / (2 * earth()))
    END
$$;

CREATE FUNCTION gc_to_sec(double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN $1 < 0 THEN 0::float8
        WHEN $1 / earth() > pi() THEN 2 * earth()
        ELSE 2 * earth() * sin($1 / (2 * earth()))
    END
$$;

CREATE FUNCTION ll_to_earth(double precision, double precision) RETURNS earth
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT cube(
        cube(
            cube(earth() * cos(radians($1)) * cos(radians($2))),
            earth() * cos(radians($1)) * sin(radians($2))
        ),
        earth() * sin(radians($1))
    )::earth
$$;

CREATE FUNCTION latitude(earth) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN cube_ll_coord($1, 3) / earth() < -1 THEN -90::float8
        WHEN cube_ll_coord($1, 3) / earth() > 1 THEN 90::float8
        ELSE degrees(asin(cube_ll_coord($1, 3) / earth()))
    END
$$;

CREATE FUNCTION longitude(earth) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$SELECT degrees(atan2(cube_ll_coord($1, 2), cube_ll_coord($1, 1)))$$;

CREATE FUNCTION earth_distance(earth, earth) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$SELECT sec_to_gc(cube_distance($1, $2))$$;

CREATE FUNCTION earth_box(earth, double precision) RETURNS cube
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$SELECT cube_enlarge($1, gc_to_sec($2), 3)$$;

CREATE FUNCTION geo_distance(point, point) RETURNS double precision
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME';

CREATE OPERATOR <@> (
    FUNCTION = geo_distance,
    LEFTARG = point,
    RIGHTARG = point,
    COMMUTATOR = <@>
);
