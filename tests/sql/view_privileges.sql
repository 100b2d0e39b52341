-- The privileges on a view are checked before planning, which may evaluate operators for values of its tables.
create role view_owner
create role view_other
create table view_data as select i % 100 as a, i as b from generate_series(1, 1000) i
analyze view_data
alter table view_data owner to view_owner
create function leaks(integer, integer) returns boolean language plpgsql immutable strict as $$ begin raise notice 'leak %', $2; return $1 > $2; end $$
create operator >>> (procedure = leaks, leftarg = integer, rightarg = integer, restrict = scalargtsel)
create view view_of_data as select a from view_data
alter view view_of_data owner to view_owner
create view view_of_view as select a from view_of_data
alter view view_of_view owner to view_other
set role view_other
select count(*) from view_of_data where a >>> 200
explain (costs off) select * from view_of_data where a >>> 200
explain (costs off) select * from view_of_view where a >>> 200
explain (costs off) select 1 from (select * from view_of_data limit 1) x
explain (costs off) delete from view_of_data where a >>> 200
explain (costs off) select * from view_data where a >>> 200
prepare view_plan as select * from view_of_data where a >>> 200
execute view_plan
reset role
grant select on view_of_data to view_other
set role view_other
select count(*) from view_of_view where a < 0
explain (costs off) delete from view_of_data where a < 0
execute view_plan
reset role
drop view view_of_view, view_of_data
drop table view_data
drop operator >>> (integer, integer)
drop function leaks
drop role view_owner, view_other
