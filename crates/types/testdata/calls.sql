-- Calls of built-in functions over sample values, with the results of PostgreSQL 15. Writes calls.tsv (COPY text
-- format: prosrc, argument types, arguments, result type, result or "ERROR code message").
-- Run in a UTF8 database with locale C.UTF-8: psql -X -v out=/path/calls.tsv -f calls.sql
\set ON_ERROR_STOP on
\set QUIET on
set timezone = 'America/New_York';
set datestyle = 'ISO, MDY';
set client_min_messages = error;
set lc_messages = 'C';
create temp table samples(ty oid, v text);
create function pg_temp.try(q text) returns text language plpgsql as $$
declare r text;
begin
  execute q into r;
  return r;
exception when others then
  return 'ERROR ' || sqlstate || ' ' || sqlerrm;
end $$;
create function pg_temp.concrete(t oid, x regtype) returns oid language sql as $$
  select case when t in (2277, 5078) then (select typarray from pg_type where oid = x) when t in (2283, 2776, 5077, 5079) then x::oid else t end $$;
create function pg_temp.s(t regtype, variadic v text[]) returns void language sql as
  $$ insert into samples select t, unnest(v) $$;
\o /dev/null
select pg_temp.s('bool', 't', 'f');
select pg_temp.s('"char"', 'a', '~', '', '1');
select pg_temp.s('int2', '0', '1', '-1', '7', '32767', '-32768', '123');
select pg_temp.s('int4', '0', '1', '-1', '2', '3', '5', '12', '2147483647', '-2147483648', '-7', '65536');
select pg_temp.s('int8', '0', '1', '-1', '9', '9223372036854775807', '-9223372036854775808', '4294967296', '-123456789012');
select pg_temp.s('oid', '0', '1', '4294967295', '16384');
select pg_temp.s('xid', '3', '4294967295', '0');
select pg_temp.s('xid8', '3', '18446744073709551615', '0');
select pg_temp.s('cid', '0', '7');
select pg_temp.s('tid', '(0,1)', '(4294967295,65535)', '(0,2)');
select pg_temp.s('pg_lsn', '0/0', '0/16AE7F8', 'FFFFFFFF/FFFFFFFF', '1/0');
select pg_temp.s('oidvector', '', '1', '1 2 3', '4294967295');
select pg_temp.s('int2vector', '', '1', '1 -2 3');
select pg_temp.s('uuid', '00000000-0000-0000-0000-000000000000', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'ffffffff-ffff-ffff-ffff-ffffffffffff');
select pg_temp.s('float4', '0', '-0', '1', '-1.5', '3.4028235e+38', '1e-45', 'NaN', 'Infinity', '-Infinity', '123456.79', '1e10', '0.1');
select pg_temp.s('float8', '0', '-0', '1', '-1', '0.5', '-1.5', '2.5', '1.7976931348623157e+308', '5e-324', 'NaN', 'Infinity', '-Infinity', '123456789.123', '1e100', '0.1', '45', '-3', '1e15', '360', '90');
select pg_temp.s('numeric', '0', '1', '-1', '0.5', '1.50', '-2.345', '10', '2', '3', '9999.9999', '10000', '123456789012345678901234567890.123456789', '0.00000000000001', '1e-30', '-1e20', 'NaN', 'Infinity', '-Infinity', '0.000', '1.1', '0.95', '32767.5', '2147483647', '100.00', '12345678.9', '0.1', '99', '16.25');
select pg_temp.s('text', '', 'a', 'abc', 'Hello, World', 'äöü€', '  pad ', 'a%b_c', '日本', 'x\y', '12', 'aaa', 'ABC', ',', 'one,two,,three', '\x41', 'b', '%', 'o');
select pg_temp.s('bpchar', '', 'a', 'abc', 'abc  ', 'ä ', ' x');
select pg_temp.s('varchar', '', 'a', 'abc  ');
select pg_temp.s('name', '', 'a', 'abc', 'pg_class', 'Ünï');
select pg_temp.s('bytea', '', '\x00', '\x616263', '\xff00ff', '\x5c', '\x6162636465666768');
-- more samples are added by the files named in "families"
\i samples.sql
create temp table calls(src text, types text, args text[], ret oid, q text, k text);
-- functions over all combinations of samples, at most twelve each
insert into calls
with recursive f as (
  select p.oid, p.proname, p.prosrc, p.at, p.rt as prorettype, p.pronargs as n
  from (select q.*, array(select pg_temp.concrete(t, x) from unnest(q.proargtypes::oid[]) with ordinality u(t, o) order by o) as at, pg_temp.concrete(prorettype, x) as rt
        from pg_proc q, (values ('int4'::regtype), ('text')) v(x)
        where x = 'int4'::regtype or q.proargtypes::oid[] && array[2277, 2283, 2776, 5077, 5078, 5079]::oid[]) p
  where p.prolang = 12 and p.prokind = 'f' and not p.proretset and p.provolatile <> 'v' and p.provariadic = 0
    and p.prorettype <> 2281 and p.pronargs between 1 and 4 and p.oid < 10000
    and not exists (select from unnest(p.at) t where t not in (select ty from samples))
    and p.prosrc !~ '^(btvarstrequal|numeric_to_|int4_to_char|int8_to_char|float4_to_char|float8_to_char|acldefault|dcbrt|char_bpchar|pg_(typeof|collation|get|stat|has|table|relation|rel|index|data|proc|event|ls|read|partition|filenode|type_is|describe|identify|function|opfamily|encoding|my|is|trigger|size|collation|column|notif|char_to|lsn_)|has_|format_type|col_description|obj_desc|shobj|quote_ident|currtid|binary_upgrade|satisfies|query_to|table_to|cursor_to|schema_to|database_to|xml|text_regclass|texttoxml|row_sec|mxid_age|xid_age|to_reg|ts|to_ts|jsonb|json|current_schemas|be_|lo_|PG_|show|set_config|length_in|network|inet|cidr|pg_input|amvalid|to_ascii|unicode|pg_xact|convert|get_|timestamptz_age|timestamptz_trunc_zone|timestamp_zone|timetz_zone|dcbrt|parse_ident|gtsquery|plainto|phraseto|websearch)'
),
combos as (
  select f.*, array[]::text[] as args, 0 as i from f
  union all
  select c.oid, c.proname, c.prosrc, c.at, c.prorettype, c.n, c.args || s.v, c.i + 1
  from combos c join samples s on s.ty = c.at[c.i + 1]
  where c.i < c.n and (c.n < 3 or c.i = 0 or substr(md5(s.v || c.i || c.proname || array_to_string(c.args, '|')), 1, 1) < '4')
)
select prosrc, array_to_string(at, ' '), args, prorettype,
  format('select (pg_catalog.%I(%s))::text', proname,
    (select string_agg(format('%L::pg_catalog.%s', a, (select quote_ident(typname) from pg_type where oid = t)), ', ' order by o) from unnest(args, at) with ordinality x(a, t, o))),
  md5(prosrc || args::text)
from combos where i = n;
delete from calls c using (select ctid, row_number() over (partition by src, types order by k) as r, count(*) over (partition by src, types) from calls) x
  where c.ctid = x.ctid and x.r > 12;
-- input functions: cstring, element or own type, typmod
create temp table ins(ty regtype, typmod int, v text);
\i inputs.sql
insert into calls
select p.prosrc, '2275 26 23', array[v, (case when t.typelem <> 0 then t.typelem else t.oid end)::text, i.typmod::text], t.oid,
  format(case p.pronargs when 1 then 'select pg_catalog.%I(%L::cstring)::text' else 'select pg_catalog.%I(%L::cstring, %s, %s)::text' end,
    p.proname, v, case when t.typelem <> 0 then t.typelem else t.oid end, i.typmod), 'in'
from ins i join pg_type t on t.oid = i.ty join pg_proc p on p.oid = t.typinput;
-- frame bounds
insert into calls
select 'in_range_' || n, at || ' 16 16', array[v, b, o, s, l], 16, format('select in_range(%L::%s, %L::%s, %L::%s, %L::bool, %L::bool)::text', v, t, b, t, o, ot, s, l), 'in'
from (values ('int4_int4', '23 23 23', 'int4', 'int4', array['1', '-2147483648', '2147483647'], array['0', '5', '2147483647', '-1']),
             ('float8_float8', '701 701 701', 'float8', 'float8', array['1', 'NaN', 'Infinity', '-Infinity'], array['0', '1.5', 'Infinity', 'NaN', '-1']),
             ('numeric_numeric', '1700 1700 1700', 'numeric', 'numeric', array['1', 'NaN', 'Infinity', '-Infinity'], array['0', '1.5', 'Infinity', 'NaN', '-1']),
             ('timestamp_interval', '1114 1114 1186', 'timestamp', 'interval', array['2020-01-31', '2020-02-29', 'infinity'], array['1 mon', '1 day', '-1 day'])) x(n, at, t, ot, vs, os),
  unnest(vs) v, unnest(vs) b, unnest(os) o, unnest(array['t', 'f']) s, unnest(array['t', 'f']) l;
-- to_char and to_number by the templates that people use
insert into calls
select src, at || ' 25', array[v, f], 25, format('select to_char(%L::%s, %L)', v, ty, f), 'in'
from (values ('numeric_to_char', 'numeric', '1700', array['0', '1', '-1', '0.1', '-0.1', '12', '-12.345', '485', '1485.5', '1234567.891', '0.005', '-485.8']),
             ('int4_to_char', 'int4', '23', array['0', '7', '-12', '485', '1234567']),
             ('int8_to_char', 'int8', '20', array['0', '-12', '1234567890123']),
             ('float8_to_char', 'float8', '701', array['0', '-0.5', '1234.5678', '1e10'])) t(src, ty, at, vs),
  unnest(vs) v,
  unnest(array['9', '99', '999', '0999', '9999', '9.9', '99.99', '0.99', '0.9', 'FM999.99', 'FM990.999', 'FM9999', '9,999', '9G999D99', 'FM9,999,999.00', '999,999,999', 'S999', '999S', 'MI999', '999MI', 'SG999', 'PL999', '999PR', 'FM999PR', '999TH', '999th', '99V9', 'RN', 'FMRN', 'FMrn', '"Good number:"999', '000', '0000.00', 'FM0000.00', 'FM9.99', '999.999', '9999.999S', '99999999999999', 'FM99999999999999.99', '9.99EEEE', '00,000.00']) f;
insert into calls
select 'numeric_to_number', '25 25', array[v, f], 1700, format('select to_number(%L, %L)::text', v, f), 'in'
from (values ('12,454.8-', '99G999D9S'), ('-34,338,492', '99G999G999'), ('485', '999'), ('0.01', '9.99'), ('-12.5', 'S99D9'), ('1,234.56', '9,999.99'), ('<123>', '999PR'), ('12', '99V9')) x(v, f);
create temp table results as
  select src, types, args, ret, pg_temp.try(q) as r from calls order by src, types, args;
\o
\copy (select src, types, array_to_string(array(select replace(replace(a, E'\\', E'\\\\'), '|', E'\\p') from unnest(args) a), '|'), ret, r from results where length(coalesce(r, '')) < 300 order by 1, 2, 3, 4) to pstdout
