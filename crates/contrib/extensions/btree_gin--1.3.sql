-- The objects of btree_gin 1.3, with the names and symbols of PostgreSQL 15.

CREATE FUNCTION gin_btree_consistent(internal, smallint, anyelement, integer, internal, internal) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_int2(smallint, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_int2(smallint, smallint, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_int2(smallint, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_int4(integer, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_int4(integer, integer, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_int4(integer, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_int8(bigint, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_int8(bigint, bigint, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_int8(bigint, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_float4(real, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_float4(real, real, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_float4(real, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_float8(double precision, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_float8(double precision, double precision, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_float8(double precision, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_money(money, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_money(money, money, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_money(money, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_oid(oid, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_oid(oid, oid, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_oid(oid, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_timestamp(timestamp without time zone, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_timestamp(timestamp without time zone, timestamp without time zone, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_timestamp(timestamp without time zone, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_timestamptz(timestamp with time zone, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_timestamptz(timestamp with time zone, timestamp with time zone, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_timestamptz(timestamp with time zone, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_time(time without time zone, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_time(time without time zone, time without time zone, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_time(time without time zone, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_timetz(time with time zone, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_timetz(time with time zone, time with time zone, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_timetz(time with time zone, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_date(date, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_date(date, date, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_date(date, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_interval(interval, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_interval(interval, interval, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_interval(interval, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_macaddr(macaddr, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_macaddr(macaddr, macaddr, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_macaddr(macaddr, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_inet(inet, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_inet(inet, inet, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_inet(inet, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_cidr(cidr, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_cidr(cidr, cidr, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_cidr(cidr, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_text(text, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_text(text, text, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_text(text, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_char("char", internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_char("char", "char", smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_char("char", internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_bytea(bytea, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_bytea(bytea, bytea, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_bytea(bytea, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_bit(bit, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_bit(bit, bit, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_bit(bit, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_varbit(bit varying, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_varbit(bit varying, bit varying, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_varbit(bit varying, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_numeric(numeric, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_numeric(numeric, numeric, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_numeric(numeric, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_numeric_cmp(numeric, numeric) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_macaddr8(macaddr8, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_macaddr8(macaddr8, macaddr8, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_macaddr8(macaddr8, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_anyenum(anyenum, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_anyenum(anyenum, anyenum, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_anyenum(anyenum, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_enum_cmp(anyenum, anyenum) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_uuid(uuid, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_uuid(uuid, uuid, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_uuid(uuid, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_name(name, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_name(name, name, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_name(name, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_bool(boolean, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_bool(boolean, boolean, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_bool(boolean, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_value_bpchar(character, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_compare_prefix_bpchar(character, character, smallint, internal) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE FUNCTION gin_extract_query_bpchar(character, internal, smallint, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME';

CREATE OPERATOR CLASS int2_ops
    DEFAULT FOR TYPE smallint USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 btint2cmp(smallint,smallint),
        FUNCTION 2 gin_extract_value_int2(smallint,internal),
        FUNCTION 3 gin_extract_query_int2(smallint,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_int2(smallint,smallint,smallint,internal);

CREATE OPERATOR CLASS int4_ops
    DEFAULT FOR TYPE integer USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 btint4cmp(integer,integer),
        FUNCTION 2 gin_extract_value_int4(integer,internal),
        FUNCTION 3 gin_extract_query_int4(integer,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_int4(integer,integer,smallint,internal);

CREATE OPERATOR CLASS int8_ops
    DEFAULT FOR TYPE bigint USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 btint8cmp(bigint,bigint),
        FUNCTION 2 gin_extract_value_int8(bigint,internal),
        FUNCTION 3 gin_extract_query_int8(bigint,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_int8(bigint,bigint,smallint,internal);

CREATE OPERATOR CLASS float4_ops
    DEFAULT FOR TYPE real USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 btfloat4cmp(real,real),
        FUNCTION 2 gin_extract_value_float4(real,internal),
        FUNCTION 3 gin_extract_query_float4(real,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_float4(real,real,smallint,internal);

CREATE OPERATOR CLASS float8_ops
    DEFAULT FOR TYPE double precision USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 btfloat8cmp(double precision,double precision),
        FUNCTION 2 gin_extract_value_float8(double precision,internal),
        FUNCTION 3 gin_extract_query_float8(double precision,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_float8(double precision,double precision,smallint,internal);

CREATE OPERATOR CLASS money_ops
    DEFAULT FOR TYPE money USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 cash_cmp(money,money),
        FUNCTION 2 gin_extract_value_money(money,internal),
        FUNCTION 3 gin_extract_query_money(money,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_money(money,money,smallint,internal);

CREATE OPERATOR CLASS oid_ops
    DEFAULT FOR TYPE oid USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 btoidcmp(oid,oid),
        FUNCTION 2 gin_extract_value_oid(oid,internal),
        FUNCTION 3 gin_extract_query_oid(oid,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_oid(oid,oid,smallint,internal);

CREATE OPERATOR CLASS timestamp_ops
    DEFAULT FOR TYPE timestamp without time zone USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 timestamp_cmp(timestamp without time zone,timestamp without time zone),
        FUNCTION 2 gin_extract_value_timestamp(timestamp without time zone,internal),
        FUNCTION 3 gin_extract_query_timestamp(timestamp without time zone,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_timestamp(timestamp without time zone,timestamp without time zone,smallint,internal);

CREATE OPERATOR CLASS timestamptz_ops
    DEFAULT FOR TYPE timestamp with time zone USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 timestamptz_cmp(timestamp with time zone,timestamp with time zone),
        FUNCTION 2 gin_extract_value_timestamptz(timestamp with time zone,internal),
        FUNCTION 3 gin_extract_query_timestamptz(timestamp with time zone,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_timestamptz(timestamp with time zone,timestamp with time zone,smallint,internal);

CREATE OPERATOR CLASS time_ops
    DEFAULT FOR TYPE time without time zone USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 time_cmp(time without time zone,time without time zone),
        FUNCTION 2 gin_extract_value_time(time without time zone,internal),
        FUNCTION 3 gin_extract_query_time(time without time zone,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_time(time without time zone,time without time zone,smallint,internal);

CREATE OPERATOR CLASS timetz_ops
    DEFAULT FOR TYPE time with time zone USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 timetz_cmp(time with time zone,time with time zone),
        FUNCTION 2 gin_extract_value_timetz(time with time zone,internal),
        FUNCTION 3 gin_extract_query_timetz(time with time zone,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_timetz(time with time zone,time with time zone,smallint,internal);

CREATE OPERATOR CLASS date_ops
    DEFAULT FOR TYPE date USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 date_cmp(date,date),
        FUNCTION 2 gin_extract_value_date(date,internal),
        FUNCTION 3 gin_extract_query_date(date,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_date(date,date,smallint,internal);

CREATE OPERATOR CLASS interval_ops
    DEFAULT FOR TYPE interval USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 interval_cmp(interval,interval),
        FUNCTION 2 gin_extract_value_interval(interval,internal),
        FUNCTION 3 gin_extract_query_interval(interval,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_interval(interval,interval,smallint,internal);

CREATE OPERATOR CLASS macaddr_ops
    DEFAULT FOR TYPE macaddr USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 macaddr_cmp(macaddr,macaddr),
        FUNCTION 2 gin_extract_value_macaddr(macaddr,internal),
        FUNCTION 3 gin_extract_query_macaddr(macaddr,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_macaddr(macaddr,macaddr,smallint,internal);

CREATE OPERATOR CLASS inet_ops
    DEFAULT FOR TYPE inet USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 network_cmp(inet,inet),
        FUNCTION 2 gin_extract_value_inet(inet,internal),
        FUNCTION 3 gin_extract_query_inet(inet,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_inet(inet,inet,smallint,internal);

CREATE OPERATOR CLASS cidr_ops
    DEFAULT FOR TYPE cidr USING gin AS
        OPERATOR 1 < (inet, inet),
        OPERATOR 2 <= (inet, inet),
        OPERATOR 3 = (inet, inet),
        OPERATOR 4 >= (inet, inet),
        OPERATOR 5 > (inet, inet),
        FUNCTION 1 network_cmp(inet,inet),
        FUNCTION 2 gin_extract_value_cidr(cidr,internal),
        FUNCTION 3 gin_extract_query_cidr(cidr,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_cidr(cidr,cidr,smallint,internal);

CREATE OPERATOR CLASS text_ops
    DEFAULT FOR TYPE text USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 bttextcmp(text,text),
        FUNCTION 2 gin_extract_value_text(text,internal),
        FUNCTION 3 gin_extract_query_text(text,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_text(text,text,smallint,internal);

CREATE OPERATOR CLASS varchar_ops
    DEFAULT FOR TYPE character varying USING gin AS
        OPERATOR 1 < (text, text),
        OPERATOR 2 <= (text, text),
        OPERATOR 3 = (text, text),
        OPERATOR 4 >= (text, text),
        OPERATOR 5 > (text, text),
        FUNCTION 1 bttextcmp(text,text),
        FUNCTION 2 gin_extract_value_text(text,internal),
        FUNCTION 3 gin_extract_query_text(text,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_text(text,text,smallint,internal);

CREATE OPERATOR CLASS char_ops
    DEFAULT FOR TYPE "char" USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 btcharcmp("char","char"),
        FUNCTION 2 gin_extract_value_char("char",internal),
        FUNCTION 3 gin_extract_query_char("char",internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_char("char","char",smallint,internal);

CREATE OPERATOR CLASS bytea_ops
    DEFAULT FOR TYPE bytea USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 byteacmp(bytea,bytea),
        FUNCTION 2 gin_extract_value_bytea(bytea,internal),
        FUNCTION 3 gin_extract_query_bytea(bytea,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_bytea(bytea,bytea,smallint,internal);

CREATE OPERATOR CLASS bit_ops
    DEFAULT FOR TYPE bit USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 bitcmp(bit,bit),
        FUNCTION 2 gin_extract_value_bit(bit,internal),
        FUNCTION 3 gin_extract_query_bit(bit,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_bit(bit,bit,smallint,internal);

CREATE OPERATOR CLASS varbit_ops
    DEFAULT FOR TYPE bit varying USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 varbitcmp(bit varying,bit varying),
        FUNCTION 2 gin_extract_value_varbit(bit varying,internal),
        FUNCTION 3 gin_extract_query_varbit(bit varying,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_varbit(bit varying,bit varying,smallint,internal);

CREATE OPERATOR CLASS numeric_ops
    DEFAULT FOR TYPE numeric USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 gin_numeric_cmp(numeric,numeric),
        FUNCTION 2 gin_extract_value_numeric(numeric,internal),
        FUNCTION 3 gin_extract_query_numeric(numeric,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_numeric(numeric,numeric,smallint,internal);

CREATE OPERATOR CLASS macaddr8_ops
    DEFAULT FOR TYPE macaddr8 USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 macaddr8_cmp(macaddr8,macaddr8),
        FUNCTION 2 gin_extract_value_macaddr8(macaddr8,internal),
        FUNCTION 3 gin_extract_query_macaddr8(macaddr8,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_macaddr8(macaddr8,macaddr8,smallint,internal);

CREATE OPERATOR CLASS enum_ops
    DEFAULT FOR TYPE anyenum USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 gin_enum_cmp(anyenum,anyenum),
        FUNCTION 2 gin_extract_value_anyenum(anyenum,internal),
        FUNCTION 3 gin_extract_query_anyenum(anyenum,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_anyenum(anyenum,anyenum,smallint,internal);

CREATE OPERATOR CLASS uuid_ops
    DEFAULT FOR TYPE uuid USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 uuid_cmp(uuid,uuid),
        FUNCTION 2 gin_extract_value_uuid(uuid,internal),
        FUNCTION 3 gin_extract_query_uuid(uuid,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_uuid(uuid,uuid,smallint,internal);

CREATE OPERATOR CLASS name_ops
    DEFAULT FOR TYPE name USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 btnamecmp(name,name),
        FUNCTION 2 gin_extract_value_name(name,internal),
        FUNCTION 3 gin_extract_query_name(name,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_name(name,name,smallint,internal);

CREATE OPERATOR CLASS bool_ops
    DEFAULT FOR TYPE boolean USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 btboolcmp(boolean,boolean),
        FUNCTION 2 gin_extract_value_bool(boolean,internal),
        FUNCTION 3 gin_extract_query_bool(boolean,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_bool(boolean,boolean,smallint,internal);

CREATE OPERATOR CLASS bpchar_ops
    DEFAULT FOR TYPE character USING gin AS
        OPERATOR 1 <,
        OPERATOR 2 <=,
        OPERATOR 3 =,
        OPERATOR 4 >=,
        OPERATOR 5 >,
        FUNCTION 1 bpcharcmp(character,character),
        FUNCTION 2 gin_extract_value_bpchar(character,internal),
        FUNCTION 3 gin_extract_query_bpchar(character,internal,smallint,internal,internal),
        FUNCTION 4 gin_btree_consistent(internal,smallint,anyelement,integer,internal,internal),
        FUNCTION 5 gin_compare_prefix_bpchar(character,character,smallint,internal);
