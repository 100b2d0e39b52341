-- The search path begins with the temporary schema, which does not exist yet.
select current_schemas(false), current_schema()
set search_path = public, pg_catalog; select current_schemas(false), current_schemas(true)
set search_path = nowhere, pg_catalog; select current_schemas(false), current_schema()
set search_path = nowhere; select current_schemas(false), current_schema()
begin; set local search_path = pg_temp; select current_schema() ~ '^pg_temp_[0-9]+$', pg_my_temp_schema() > 0; rollback
select pg_my_temp_schema()
begin; savepoint s; set local search_path = pg_temp; select current_schema ~ '^pg_temp_'; rollback to s; select pg_my_temp_schema() > 0; commit
set search_path = public, pg_temp; select current_schema(), pg_my_temp_schema()
set search_path = pg_temp, public; select regexp_replace(current_schemas(false)::text, '[0-9]+', ''), regexp_replace(current_schemas(true)::text, '[0-9]+', '')
select pg_my_temp_schema() > 0
create table ts_first (a int); select relpersistence from pg_class where relname = 'ts_first'
set search_path = public; select current_schemas(false), regexp_replace(current_schemas(true)::text, '[0-9]+', '')
drop table ts_first
reset search_path
create role ts_role; revoke temp on database postgres from public; create temp table ts_mine (a int)
set role ts_role; do $$ begin [[create temp table ts_x (a int)¦create table pg_temp.ts_x (a int)¦create temp view ts_x as select 1¦create temp sequence ts_x¦create table pg_temp.ts_x as select 1]]; exception when insufficient_privilege then raise notice '%', regexp_replace(sqlerrm, '[0-9]+', ''); end $$; reset role
grant temp on database postgres to ts_role; set role ts_role; create temp table ts_y (a int); drop table ts_y; reset role
grant temp on database postgres to public; drop table ts_mine; drop owned by ts_role; drop role ts_role
