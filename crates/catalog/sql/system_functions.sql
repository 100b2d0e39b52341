-- Bodies of the built-in functions that are written in SQL. `xtask facts` loads them into
-- PostgreSQL 15 and records the parse trees; name, arguments, result and flags are PostgreSQL's.

-- Text
CREATE OR REPLACE FUNCTION lpad(text, integer) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN lpad($1, $2, ' ');
CREATE OR REPLACE FUNCTION rpad(text, integer) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN rpad($1, $2, ' ');
CREATE OR REPLACE FUNCTION "substring"(text, text, text) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
  RETURN "substring"($1, similar_to_escape($2, $3));
CREATE OR REPLACE FUNCTION quote_literal(anyelement) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1 AS 'SELECT quote_literal($1::text)';
CREATE OR REPLACE FUNCTION quote_nullable(anyelement) RETURNS text
  LANGUAGE sql STABLE PARALLEL SAFE COST 1 AS 'SELECT quote_nullable($1::text)';
CREATE OR REPLACE FUNCTION textanycat(text, anynonarray) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1 AS 'SELECT $1 || $2::text';
CREATE OR REPLACE FUNCTION anytextcat(anynonarray, text) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1 AS 'SELECT $1::text || $2';
CREATE OR REPLACE FUNCTION bit_length(bytea) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN 8 * octet_length($1);
CREATE OR REPLACE FUNCTION bit_length(text) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN 8 * octet_length($1);
CREATE OR REPLACE FUNCTION bit_length(bit) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN length($1);

-- Numbers
CREATE OR REPLACE FUNCTION log(numeric) RETURNS numeric
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN log(10, $1);
CREATE OR REPLACE FUNCTION log10(numeric) RETURNS numeric
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN log(10, $1);
CREATE OR REPLACE FUNCTION round(numeric) RETURNS numeric
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN round($1, 0);
CREATE OR REPLACE FUNCTION trunc(numeric) RETURNS numeric
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN trunc($1, 0);
CREATE OR REPLACE FUNCTION numeric_pl_pg_lsn(numeric, pg_lsn) RETURNS pg_lsn
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;
CREATE OR REPLACE FUNCTION int8pl_inet(bigint, inet) RETURNS inet
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;

-- Geometry
CREATE OR REPLACE FUNCTION path_contain_pt(path, point) RETURNS boolean
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN on_ppath($2, $1);
CREATE OR REPLACE FUNCTION polygon(circle) RETURNS polygon
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN polygon(12, $1);

-- Dates and times
CREATE OR REPLACE FUNCTION age(timestamptz) RETURNS interval
  LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1
  RETURN age(CAST(current_date AS timestamptz), $1);
CREATE OR REPLACE FUNCTION age(timestamp) RETURNS interval
  LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1
  RETURN age(CAST(current_date AS timestamp), $1);
CREATE OR REPLACE FUNCTION date_part(text, date) RETURNS double precision
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
  RETURN date_part($1, CAST($2 AS timestamp));
CREATE OR REPLACE FUNCTION timestamptz(date, time) RETURNS timestamptz
  LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1 RETURN CAST(($1 + $2) AS timestamptz);
CREATE OR REPLACE FUNCTION timedate_pl(time, date) RETURNS timestamp
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;
CREATE OR REPLACE FUNCTION timetzdate_pl(timetz, date) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;
CREATE OR REPLACE FUNCTION interval_pl_time(interval, time) RETURNS time
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;
CREATE OR REPLACE FUNCTION interval_pl_timetz(interval, timetz) RETURNS timetz
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;
CREATE OR REPLACE FUNCTION interval_pl_date(interval, date) RETURNS timestamp
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;
CREATE OR REPLACE FUNCTION interval_pl_timestamp(interval, timestamp) RETURNS timestamp
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;
CREATE OR REPLACE FUNCTION interval_pl_timestamptz(interval, timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;
CREATE OR REPLACE FUNCTION integer_pl_date(integer, date) RETURNS date
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN $2 + $1;
CREATE OR REPLACE FUNCTION pg_sleep_for(interval) RETURNS void
  LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
  RETURN pg_sleep(EXTRACT(epoch FROM clock_timestamp() + $1 - clock_timestamp()));
CREATE OR REPLACE FUNCTION pg_sleep_until(timestamptz) RETURNS void
  LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
  RETURN pg_sleep(EXTRACT(epoch FROM $1 - clock_timestamp()));

-- OVERLAPS with a length instead of an end
CREATE OR REPLACE FUNCTION "overlaps"(timestamptz, interval, timestamptz, interval) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE COST 1 RETURN "overlaps"($1, $1 + $2, $3, $3 + $4);
CREATE OR REPLACE FUNCTION "overlaps"(timestamptz, timestamptz, timestamptz, interval) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE COST 1 RETURN "overlaps"($1, $2, $3, $3 + $4);
CREATE OR REPLACE FUNCTION "overlaps"(timestamptz, interval, timestamptz, timestamptz) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE COST 1 RETURN "overlaps"($1, $1 + $2, $3, $4);
CREATE OR REPLACE FUNCTION "overlaps"(timestamp, interval, timestamp, interval) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1 RETURN "overlaps"($1, $1 + $2, $3, $3 + $4);
CREATE OR REPLACE FUNCTION "overlaps"(timestamp, timestamp, timestamp, interval) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1 RETURN "overlaps"($1, $2, $3, $3 + $4);
CREATE OR REPLACE FUNCTION "overlaps"(timestamp, interval, timestamp, timestamp) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1 RETURN "overlaps"($1, $1 + $2, $3, $4);
CREATE OR REPLACE FUNCTION "overlaps"(time, interval, time, interval) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1 RETURN "overlaps"($1, $1 + $2, $3, $3 + $4);
CREATE OR REPLACE FUNCTION "overlaps"(time, time, time, interval) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1 RETURN "overlaps"($1, $2, $3, $3 + $4);
CREATE OR REPLACE FUNCTION "overlaps"(time, interval, time, time) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1 RETURN "overlaps"($1, $1 + $2, $3, $4);

-- Comments on objects
CREATE OR REPLACE FUNCTION obj_description(oid, name) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT d.description FROM pg_description d
  WHERE d.objoid = $1 AND d.objsubid = 0 AND d.classoid =
    (SELECT c.oid FROM pg_class c WHERE c.relname = $2 AND c.relnamespace = 'pg_catalog'::regnamespace);
END;
CREATE OR REPLACE FUNCTION obj_description(oid) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT d.description FROM pg_description d WHERE d.objoid = $1 AND d.objsubid = 0;
END;
CREATE OR REPLACE FUNCTION col_description(oid, integer) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT d.description FROM pg_description d
  WHERE d.objoid = $1 AND d.objsubid = $2 AND d.classoid = 'pg_class'::regclass;
END;
CREATE OR REPLACE FUNCTION shobj_description(oid, name) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT d.description FROM pg_shdescription d
  WHERE d.objoid = $1 AND d.classoid =
    (SELECT c.oid FROM pg_class c WHERE c.relname = $2 AND c.relnamespace = 'pg_catalog'::regnamespace);
END;

-- Sizes
CREATE OR REPLACE FUNCTION pg_relation_size(regclass) RETURNS bigint
  LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1 RETURN pg_relation_size($1, 'main');

-- XML
CREATE OR REPLACE FUNCTION xpath(text, xml) RETURNS xml[]
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN xpath($1, $2, '{}'::text[]);
CREATE OR REPLACE FUNCTION xpath_exists(text, xml) RETURNS boolean
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1 RETURN xpath_exists($1, $2, '{}'::text[]);

-- Text search
CREATE OR REPLACE FUNCTION ts_debug(config regconfig, document text,
    OUT alias text, OUT description text, OUT token text, OUT dictionaries regdictionary[],
    OUT dictionary regdictionary, OUT lexemes text[]) RETURNS SETOF record
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT kind.alias, kind.description, found.token, tried.dictionaries, used.dictionary, used.lexemes
  FROM ts_parse((SELECT c.cfgparser FROM pg_ts_config c WHERE c.oid = config), document) found
  JOIN ts_token_type((SELECT c.cfgparser FROM pg_ts_config c WHERE c.oid = config)) kind
    ON kind.tokid = found.tokid
  CROSS JOIN LATERAL (
    SELECT ARRAY(SELECT m.mapdict::regdictionary FROM pg_ts_config_map m
                 WHERE m.mapcfg = config AND m.maptokentype = found.tokid
                 ORDER BY m.mapseqno) AS dictionaries) tried
  LEFT JOIN LATERAL (
    SELECT m.mapdict::regdictionary AS dictionary, ts_lexize(m.mapdict, found.token) AS lexemes
    FROM pg_ts_config_map m
    WHERE m.mapcfg = config AND m.maptokentype = found.tokid
    ORDER BY ts_lexize(m.mapdict, found.token) IS NULL, m.mapseqno
    LIMIT 1) used ON true;
END;
CREATE OR REPLACE FUNCTION ts_debug(document text,
    OUT alias text, OUT description text, OUT token text, OUT dictionaries regdictionary[],
    OUT dictionary regdictionary, OUT lexemes text[]) RETURNS SETOF record
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT d.* FROM ts_debug(get_current_ts_config(), $1) d;
END;
