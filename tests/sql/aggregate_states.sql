-- Created aggregates with the same transition function and state share the state in a query, unless a final function modifies it.
CREATE SCHEMA aggregate_states; SET search_path = aggregate_states
CREATE TYPE avg_state AS (total bigint, count bigint)
CREATE FUNCTION avg_transfn(state avg_state, n int) RETURNS avg_state LANGUAGE plpgsql AS 'begin raise notice ''called with %'', n; if state is null then state.total := 0; state.count := 0; end if; if n is not null then state.total := state.total + n; state.count := state.count + 1; end if; return state; end'
CREATE FUNCTION avg_finalfn(state avg_state) RETURNS int LANGUAGE sql AS 'select state.total / nullif(state.count, 0)'
CREATE FUNCTION sum_finalfn(state avg_state) RETURNS int LANGUAGE sql AS 'select state.total'
CREATE AGGREGATE my_avg(int) (stype = avg_state, sfunc = avg_transfn, finalfunc = avg_finalfn)
CREATE AGGREGATE my_sum(int) (stype = avg_state, sfunc = avg_transfn, finalfunc = sum_finalfn)
CREATE AGGREGATE my_sum_init(int) (stype = avg_state, sfunc = avg_transfn, finalfunc = sum_finalfn, initcond = '(10,0)')
CREATE AGGREGATE my_avg_init(int) (stype = avg_state, sfunc = avg_transfn, finalfunc = avg_finalfn, initcond = '(10,0)')
CREATE AGGREGATE my_shareable(int) (stype = avg_state, sfunc = avg_transfn, finalfunc = sum_finalfn, finalfunc_modify = shareable)
CREATE AGGREGATE my_modifying(int) (stype = avg_state, sfunc = avg_transfn, finalfunc = sum_finalfn, finalfunc_modify = read_write)
SELECT my_avg(one), [[my_avg(one)¦my_sum(one)¦my_shareable(one)¦my_sum(one), my_shareable(one), my_avg(one)]] FROM (VALUES (1), (3)) t(one)
SELECT my_avg([[DISTINCT one¦one ORDER BY one DESC¦one + 1¦DISTINCT one ORDER BY one]]), my_sum([[DISTINCT one¦one ORDER BY one DESC¦one + 1¦DISTINCT one ORDER BY one]]) FROM (VALUES (1)) t(one)
SELECT my_avg(DISTINCT one), my_sum(DISTINCT one), my_sum(DISTINCT one) FILTER (WHERE one > 9) FROM (VALUES (1), (3), (1)) t(one)
SELECT my_avg(one) FILTER (WHERE one > 1), my_sum(one) FILTER (WHERE one > 1) FROM (VALUES (1), (3)) t(one)
SELECT my_sum_init(one), my_avg_init(one) FROM (VALUES (1), (3)) t(one)
SELECT my_sum_init(one), my_avg(one), my_modifying(one), my_modifying(one + 0) FROM (VALUES (1)) t(one)
SELECT one % 2, my_avg(one), my_sum(one) FROM (VALUES (1)) t(one) GROUP BY 1
SELECT my_avg(one), my_sum(one) FROM (VALUES (1)) t(one) WHERE one > 1
SELECT my_avg(one + (random() * 0)::int), my_sum(one + (random() * 0)::int) FROM (VALUES (1)) t(one)
SELECT sum(DISTINCT x), avg(DISTINCT x), stddev(DISTINCT x), var_pop(DISTINCT x), array_agg(x), array_agg(x ORDER BY x DESC) FROM (VALUES (1.5), (2), (1.5)) t(x)
SELECT corr(x, y), regr_slope(x, y), regr_intercept(y, x), regr_count(x, y), covar_pop(x, y) FROM (VALUES (1, 2), (2, 4.5), (3, 5)) t(x, y)
DO $$ DECLARE a int; b int; BEGIN SELECT my_avg(one), my_sum(one) INTO a, b FROM (VALUES (1), (3)) t(one); RAISE NOTICE '% %', a, b; END $$
DROP SCHEMA aggregate_states CASCADE
