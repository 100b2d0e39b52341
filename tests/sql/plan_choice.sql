-- Custom and generic plans of prepared statements.
create table pc_rows (a int primary key, b int, c text)
insert into pc_rows select g, case when g <= 5000 then 0 else g end, 'row ' || g from generate_series(1, 6000) g
create index on pc_rows (b)
vacuum analyze pc_rows
prepare pc_point (int) as select c from pc_rows where a = $1
explain (costs off) execute pc_point (1)
execute pc_point ([[1¦2¦3¦4]])
select generic_plans, custom_plans from pg_prepared_statements where name = 'pc_point'
explain (costs off) execute pc_point (6)
explain (costs off) execute pc_point (7)
select generic_plans, custom_plans from pg_prepared_statements where name = 'pc_point'
set plan_cache_mode = force_custom_plan
explain (costs off) execute pc_point (8)
set plan_cache_mode = force_generic_plan
explain (costs off) execute pc_point (8)
reset plan_cache_mode
explain (costs off) execute pc_point (9)
select generic_plans, custom_plans from pg_prepared_statements where name = 'pc_point'
prepare pc_skewed (int) as select count(c) from pc_rows where b = $1
explain (costs off) execute pc_skewed ([[5001¦5002¦5003¦5004¦5005¦5006¦5007]])
select generic_plans, custom_plans from pg_prepared_statements where name = 'pc_skewed'
set plan_cache_mode = force_generic_plan
prepare pc_forced (int) as select count(c) from pc_rows where a < $1
explain (costs off) execute pc_forced (5)
reset plan_cache_mode
explain (costs off) execute pc_forced ([[5¦6¦7¦8¦9¦10¦11]])
select generic_plans, custom_plans from pg_prepared_statements where name = 'pc_forced'
prepare pc_none as select c from pc_rows where a = 1
explain (costs off) execute pc_none
select generic_plans, custom_plans from pg_prepared_statements where name = 'pc_none'
prepare pc_write (int, text) as insert into pc_rows values ($1, 0, $2)
execute pc_write ([[7001¦7002¦7003¦7004¦7005¦7006¦7007]], 'x')
select generic_plans, custom_plans from pg_prepared_statements where name = 'pc_write'
create index on pc_rows (c)
execute pc_point (1)
select generic_plans, custom_plans from pg_prepared_statements where name = 'pc_point'
drop table pc_rows
deallocate all
