-- CREATE AGGREGATE.
CREATE AGGREGATE ca_sum(int) (sfunc = int4pl, stype = int, initcond = '0')
CREATE AGGREGATE ca_list(anyelement) (sfunc = array_append, stype = anyarray, initcond = '{}')
CREATE AGGREGATE ca_compatible(anycompatible) (sfunc = array_append, stype = anycompatiblearray, initcond = '{}')
SELECT ca_compatible(g), ca_compatible(g::text) FROM generate_series(1, 1) g
CREATE FUNCTION ca_step(numeric[], numeric) RETURNS numeric[] LANGUAGE sql AS 'SELECT array[$1[1] + $2, $1[2] + 1]'
CREATE FUNCTION ca_last(numeric[]) RETURNS numeric LANGUAGE sql AS 'SELECT CASE WHEN $1[2] > 0 THEN $1[1] / $1[2] END'
CREATE AGGREGATE ca_avg(numeric) (sfunc = ca_step, stype = numeric[], finalfunc = ca_last, initcond = '{0,0}')
CREATE AGGREGATE ca_old (basetype = int, sfunc1 = int4pl, stype1 = int, initcond1 = '5')
CREATE AGGREGATE ca_count (basetype = 'any', sfunc = int8inc, stype = int8, initcond = '0')
CREATE AGGREGATE ca_star(*) (sfunc = int8inc, stype = int8, initcond = '0', parallel = safe)
CREATE AGGREGATE ca_max(int) (sfunc = int4larger, stype = int, sortop = >)
CREATE AGGREGATE ca_moving(int) (sfunc = int4pl, stype = int, msfunc = int4pl, minvfunc = int4mi, mstype = int, initcond = '0', minitcond = '0')
CREATE AGGREGATE ca_variadic(VARIADIC items int[]) (sfunc = array_cat, stype = int[], initcond = '{}')
CREATE FUNCTION ca_pair(text, a text, b int) RETURNS text LANGUAGE sql AS $$ SELECT coalesce($1, '') || a || b $$
CREATE AGGREGATE ca_two(a text, b int) (sfunc = ca_pair, stype = text)
CREATE FUNCTION ca_strict(int, int) RETURNS int STRICT LANGUAGE sql AS 'SELECT $1 * 10 + $2'
CREATE AGGREGATE ca_digits(int) (sfunc = ca_strict, stype = int)
SELECT ca_sum(g), ca_list(g ORDER BY g), ca_avg(g), ca_old(g), ca_count(g), ca_star(*), ca_max(g), ca_moving(g), ca_two(g::text, g ORDER BY g), ca_digits(g ORDER BY g), ca_list(g::text ORDER BY g DESC) FROM generate_series(1, 4) g
SELECT ca_sum(null::int), ca_digits(nullif(g, 1) ORDER BY g), ca_avg(g) FILTER (WHERE g > 9), ca_max(g) FILTER (WHERE g > 9) FROM generate_series(1, 4) g
SELECT g, ca_moving(g) OVER w, ca_sum(g) OVER w, ca_digits(g) OVER w FROM generate_series(1, 5) g WINDOW w AS (ORDER BY g ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) ORDER BY g
SELECT g % 2, ca_sum(DISTINCT g / 2), ca_variadic(g, g + 1) FROM generate_series(1, 6) g GROUP BY 1 ORDER BY 1
SELECT proname, prokind, provolatile, proparallel, proargtypes, prorettype::regtype, provariadic::regtype, proargmodes, proargnames, prosrc, procost, aggkind, aggnumdirectargs, aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn, aggfinalextra, aggmfinalextra, aggfinalmodify, aggmfinalmodify, aggsortop::regoperator, aggtranstype::regtype, aggtransspace, aggmtranstype::regtype, aggmtransspace, agginitval, aggminitval FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid WHERE proname ~ '^ca_' ORDER BY 1
SELECT pg_describe_object(classid, objid, 0), pg_describe_object(refclassid, refobjid, 0), deptype FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid IN (SELECT oid FROM pg_proc WHERE proname ~ '^ca_' AND prokind = 'a') ORDER BY 1, 2
CREATE AGGREGATE ca_bad(int) ([[stype = int¦sfunc = int4pl¦sfunc = nosuch, stype = int¦sfunc = int4pl, stype = nosuch¦sfunc = int4pl, stype = int8¦sfunc = int8pl, stype = int¦sfunc = generate_series, stype = int¦sfunc = int4pl, stype = int, initcond = 'x'¦sfunc = int4pl, stype = text¦sfunc = int4pl, stype = internal¦sfunc = int4pl, stype = anyelement¦sfunc = int4pl, stype = cstring¦sfunc = int8pl, stype = int8¦sfunc = int4pl, stype = int, finalfunc = nosuch¦sfunc = int4pl, stype = int, finalfunc = int4um, finalfunc_extra¦sfunc = int4pl, stype = int, mstype = int¦sfunc = int4pl, stype = int, mstype = int, msfunc = int4pl¦sfunc = int4pl, stype = int, msfunc = int4pl¦sfunc = int4pl, stype = int, minvfunc = int4mi¦sfunc = int4pl, stype = int, minitcond = '0'¦sfunc = int4pl, stype = int, msspace = 5¦sfunc = int4pl, stype = int, mstype = int8, msfunc = int84pl, minvfunc = int84mi, minitcond = '0'¦sfunc = int4pl, stype = int, mstype = int, msfunc = int4pl, minvfunc = ca_step¦sfunc = int4pl, stype = int, sortop = <<<¦sfunc = int4pl, stype = int, combinefunc = int8pl¦sfunc = int4pl, stype = int, serialfunc = int8_avg_serialize, deserialfunc = int8_avg_deserialize¦sfunc = int4pl, stype = int, serialfunc = int8_avg_serialize¦sfunc = int4pl, stype = int, parallel = maybe¦sfunc = int4pl, stype = int, finalfunc_modify = never¦sfunc = int4pl, stype = int, basetype = int¦sfunc = int4pl, stype = int, hypothetical¦sfunc = sum, stype = int]])
CREATE AGGREGATE ca_warned(int) (sfunc = int4pl, stype = int, nosuchoption = 1)
CREATE AGGREGATE ca_sum(int) (sfunc = int4mi, stype = int, initcond = '0')
CREATE OR REPLACE AGGREGATE ca_sum(int) (sfunc = int4mi, stype = int, initcond = '100', combinefunc = int4pl)
SELECT ca_sum(g) FROM generate_series(1, 4) g
CREATE OR REPLACE AGGREGATE ca_sum(int) (sfunc = int84pl, stype = int8, initcond = '0')
CREATE OR REPLACE AGGREGATE ca_step(numeric[], numeric) (sfunc = array_cat, stype = numeric[])
CREATE OR REPLACE FUNCTION ca_sum(int) RETURNS int LANGUAGE sql AS 'SELECT 1'
CREATE AGGREGATE ca_many() (sfunc = int4pl, stype = int)
SELECT pg_get_function_arguments(oid), pg_get_function_identity_arguments(oid), pg_get_function_result(oid), oid::regprocedure FROM pg_proc WHERE proname ~ '^ca_' AND prokind = 'a' ORDER BY oid::regprocedure::text
COMMENT ON AGGREGATE ca_sum(int) IS 'a sum'
SELECT obj_description('ca_sum(int)'::regprocedure, 'pg_proc')
SELECT *, pg_get_viewdef('ca_view') FROM ca_view
DROP AGGREGATE ca_sum(int)
DROP FUNCTION ca_strict
DROP FUNCTION ca_list(anyelement)
DROP VIEW ca_view
DROP FUNCTION ca_strict CASCADE
ALTER AGGREGATE ca_old(int) RENAME TO ca_renamed
DROP AGGREGATE ca_renamed(int), ca_sum(int), ca_star(*)
SELECT count(*) FROM pg_aggregate WHERE aggfnoid >= 16384
CREATE ROLE ca_role
REVOKE EXECUTE ON FUNCTION ca_step FROM PUBLIC
GRANT CREATE ON SCHEMA public TO ca_role
SET ROLE ca_role
CREATE AGGREGATE ca_denied(numeric) (sfunc = ca_step, stype = numeric[], initcond = '{0,0}')
CREATE AGGREGATE ca_internal(float8 ORDER BY anyelement) (sfunc = ordered_set_transition, stype = internal, finalfunc = percentile_disc_final, finalfunc_extra = true)
RESET ROLE
DROP OWNED BY ca_role
DROP ROLE ca_role
-- Ordered-set and hypothetical-set aggregates.
CREATE AGGREGATE os_disc(float8 ORDER BY anyelement) (stype = internal, sfunc = ordered_set_transition, finalfunc = percentile_disc_final, finalfunc_extra = true, finalfunc_modify = read_write)
CREATE AGGREGATE os_cont(float8 ORDER BY float8) (stype = internal, sfunc = ordered_set_transition, finalfunc = percentile_cont_float8_final, finalfunc_modify = read_write)
CREATE AGGREGATE os_mode(ORDER BY anyelement) (stype = internal, sfunc = ordered_set_transition, finalfunc = mode_final, finalfunc_extra = true, finalfunc_modify = read_write)
CREATE AGGREGATE os_rank(VARIADIC "any" ORDER BY VARIADIC "any") (stype = internal, sfunc = ordered_set_transition_multi, finalfunc = rank_final, finalfunc_extra = true, hypothetical)
SELECT os_disc(0.5) WITHIN GROUP (ORDER BY g), os_disc(0.3) WITHIN GROUP (ORDER BY g::text DESC), os_cont(0.4) WITHIN GROUP (ORDER BY g), os_mode() WITHIN GROUP (ORDER BY g % 3) FROM generate_series(1, 10) g
SELECT g % 2, os_disc(0.5) WITHIN GROUP (ORDER BY g), os_rank(4) WITHIN GROUP (ORDER BY g), os_rank(4, 'x') WITHIN GROUP (ORDER BY g, g::text) FROM generate_series(1, 10) g GROUP BY 1 ORDER BY 1
SELECT os_disc([[2¦-1¦NULL¦0¦1]]) WITHIN GROUP (ORDER BY g) FROM generate_series(1, 3) g
CREATE FUNCTION os_text_last(text, int, int) RETURNS text LANGUAGE sql AS $$ SELECT coalesce($1, 'none') || ':' || coalesce($2::text, 'null') || ':' || coalesce($3::text, 'null') $$
CREATE FUNCTION os_text_step(text, int) RETURNS text LANGUAGE sql AS $$ SELECT coalesce($1, '') || '[' || coalesce($2::text, 'null') || ']' $$
CREATE AGGREGATE os_text(int ORDER BY int) (stype = text, sfunc = os_text_step, finalfunc = os_text_last, finalfunc_extra = true)
SELECT os_text(7) WITHIN GROUP (ORDER BY a DESC) FROM (VALUES (3), (1), (NULL), (2)) v (a)
SELECT os_text(NULL) WITHIN GROUP (ORDER BY a) FILTER (WHERE a > 1) FROM (VALUES (3), (1), (2)) v (a)
SELECT a % 2, os_text(a % 2) WITHIN GROUP (ORDER BY a) FROM (VALUES (3), (1), (2)) v (a) GROUP BY a % 2 ORDER BY 1
CREATE FUNCTION os_strict_last(int8, int) RETURNS int8 STRICT LANGUAGE sql AS $$ SELECT $1 * $2 $$
CREATE AGGREGATE os_strict(int ORDER BY int) (stype = int8, sfunc = int4_sum, finalfunc = os_strict_last)
SELECT os_strict(2) WITHIN GROUP (ORDER BY a), os_strict(NULL) WITHIN GROUP (ORDER BY a), os_strict(3) WITHIN GROUP (ORDER BY a) FILTER (WHERE a > 5) FROM (VALUES (3), (1), (2)) v (a)
CREATE AGGREGATE os_built(int8 ORDER BY int4) (stype = int8, sfunc = int4_sum, finalfunc = int8pl)
SELECT os_built(100) WITHIN GROUP (ORDER BY a), os_built(NULL) WITHIN GROUP (ORDER BY a) FROM (VALUES (3), (1), (2)) v (a)
SELECT os_text(a) WITHIN GROUP (ORDER BY a) FROM (VALUES (3)) v (a)
SELECT os_text(1, 2) WITHIN GROUP (ORDER BY 1)
SELECT os_text(1)
EXPLAIN (VERBOSE, COSTS OFF) SELECT os_disc(0.5) WITHIN GROUP (ORDER BY g) FROM generate_series(1, 3) g
CREATE VIEW os_view AS SELECT os_disc(0.5) WITHIN GROUP (ORDER BY g) AS d, os_text(1) WITHIN GROUP (ORDER BY g) AS t FROM generate_series(1, 3) g
SELECT *, pg_get_viewdef('os_view') FROM os_view
DROP VIEW os_view; DROP AGGREGATE os_disc(float8 ORDER BY anyelement), os_cont(float8 ORDER BY float8), os_mode(ORDER BY anyelement), os_rank(VARIADIC "any" ORDER BY VARIADIC "any"), os_text(int ORDER BY int), os_strict(int ORDER BY int), os_built(int8 ORDER BY int4)
CREATE AGGREGATE sum_from_100(int) (SFUNC = int4_sum, STYPE = bigint, INITCOND = '100')
CREATE AGGREGATE negative_max(int) (SFUNC = int4larger, STYPE = int, FINALFUNC = int4um)
CREATE AGGREGATE count_from_10(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = '10')
CREATE AGGREGATE upper_max(text) (SFUNC = text_larger, STYPE = text, INITCOND = 'm', FINALFUNC = upper)
CREATE AGGREGATE avg_from(int) (SFUNC = int4_avg_accum, STYPE = bigint[], FINALFUNC = int8_avg, INITCOND = '{2,10}')
CREATE AGGREGATE product(float8) (SFUNC = float8pl, STYPE = float8, INITCOND = '1')
SELECT sum(a), sum_from_100(a), negative_max(a), count_from_10(*), upper_max(a::text), avg_from(a), product(a) FROM (VALUES (1), (2), (NULL)) v (a) [[¦WHERE false¦WHERE a IS NULL¦GROUP BY a ORDER BY a]]
SELECT a, sum_from_100(a) OVER w, negative_max(a) OVER w, count_from_10(*) OVER w, upper_max(a::text) OVER w, avg_from(a) OVER w FROM (VALUES (1), (2), (3)) v (a) WINDOW w AS (ORDER BY a [[¦ROWS BETWEEN 1 PRECEDING AND CURRENT ROW]])
CREATE AGGREGATE rank_without_flag(VARIADIC "any" ORDER BY VARIADIC "any") (SFUNC = ordered_set_transition_multi, STYPE = internal, FINALFUNC = rank_final, FINALFUNC_EXTRA)
SELECT rank_without_flag([[1¦'x'::text¦'x']]) WITHIN GROUP (ORDER BY a) FROM (VALUES (1), (2)) v (a)
SELECT rank_without_flag(1) WITHIN GROUP (ORDER BY a, a) FROM (VALUES (1), (2)) v (a)
DROP AGGREGATE rank_without_flag(VARIADIC "any" ORDER BY VARIADIC "any")
