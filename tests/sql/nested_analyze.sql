-- A function that VACUUM or ANALYZE calls cannot execute these.
create table nested (i int)
create function nested_analyze() returns void language sql as 'analyze pg_am'
create function nested_index(int) returns int immutable language sql as 'select $1 from nested_analyze()'
create index on nested (nested_index(i))
insert into nested values (1), (2)
analyze nested
vacuum (analyze) nested
begin
analyze nested
rollback
analyze pg_am
select nested_analyze()
do $$ begin analyze nested; exception when feature_not_supported then analyze pg_am; raise notice 'refused'; end $$
drop table nested
