do $$ begin null; end $$
show plpgsql.check_asserts; show plpgsql.extra_errors; show plpgsql.extra_warnings; show plpgsql.print_strict_params; show plpgsql.variable_conflict
select name, setting, context, vartype, category, enumvals, boot_val, reset_val from pg_settings where name like 'plpgsql.%' order by name
set plpgsql.[[check_asserts = maybe¦check_asserts = off¦extra_errors = 'bogus'¦extra_errors = 'all, none'¦extra_errors = 'none, shadowed_variables'¦extra_errors = 'a b'¦extra_errors = ALL¦extra_warnings = shadowed_variables, too_many_rows¦extra_warnings = 'none'¦extra_warnings = ''¦print_strict_params = 5¦variable_conflict = foo¦variable_conflict = USE_COLUMN¦foo = 1¦foo.bar = 1]]
show plpgsql.[[check_asserts¦extra_errors¦extra_warnings¦print_strict_params¦variable_conflict¦foo]]
reset plpgsql.[[check_asserts¦extra_errors¦extra_warnings¦print_strict_params¦variable_conflict¦foo]]
select current_setting('plpgsql.extra_errors'), current_setting('plpgsql.foo', true)
select set_config('plpgsql.extra_errors', [['bogus'¦'too_many_rows'¦'none']], false)
create role pls_user; grant create on schema public to pls_user
set role pls_user
set plpgsql.[[variable_conflict = use_column¦check_asserts = off]]
create function pls_f() returns int language plpgsql set plpgsql.variable_conflict = use_column as $$ begin return 1; end $$
reset role
reset plpgsql.check_asserts
do $$ begin assert false, 'first'; end $$
set plpgsql.check_asserts = off; do $$ begin assert false, 'second'; raise notice 'after'; end $$
set plpgsql.check_asserts = on; do $$ begin assert false, 'third'; end $$
create table pls_t(a int, b int); insert into pls_t values (1, 2), (3, 4)
do $$ declare a int := 5; b int; begin select a into b from pls_t where b = 2; end $$
set plpgsql.variable_conflict = use_column; do $$ declare a int := 5; x int; begin select a into x from pls_t where pls_t.b = 2; raise notice '%', x; end $$
set plpgsql.variable_conflict = use_variable; do $$ declare a int := 5; x int; begin select a into x from pls_t where pls_t.b = 2; raise notice '%', x; end $$
do $$ #variable_conflict error declare a int := 5; x int; begin select a into x from pls_t where pls_t.b = 2; raise notice '%', x; end $$
reset plpgsql.variable_conflict
create function pls_g() returns int language plpgsql set plpgsql.variable_conflict = use_column as $$ declare a int := 5; x int; begin select a into x from pls_t where pls_t.b = 2; return x; end $$
select pls_g()
create function pls_strict(a int) returns int language plpgsql as $$ #print_strict_params on declare x int; y text := 'it''s'; begin select b into strict x from pls_t where pls_t.a > pls_strict.a or y = 'no'; return x; end $$
select pls_strict(9)
select pls_strict(0)
select pls_strict(2)
create function pls_strict2(n int) returns int language plpgsql as $$ declare x int; begin execute 'select a from pls_t where a > $1 and $2 is null' into strict x using n, null::text; return x; end $$
select pls_strict2(0)
set plpgsql.print_strict_params = on; create or replace function pls_strict2(n int) returns int language plpgsql as $$ declare x int; begin execute 'select a from pls_t where a > $1 and $2 is null' into strict x using n, null::text; return x; end $$
select pls_strict2(0)
select pls_strict2(10)
create or replace function pls_strict3(n int) returns int language plpgsql as $$ #print_strict_params off declare x int; begin select a into strict x from pls_t where a > n; return x; end $$
select pls_strict3(10)
reset plpgsql.print_strict_params
set plpgsql.extra_warnings = 'all'
create function pls_shadow(a int) returns int language plpgsql as $$ declare a int; b int; begin declare b int; begin null; end; return 1; end $$
select pls_shadow(1)
do $$ declare x int; begin for x in 1..2 loop null; end loop; declare x cursor for select 1; begin null; end; end $$
do $$ declare x int; begin select a into x from pls_t order by a; raise notice '%', x; end $$
do $$ declare x int; y int; begin select a into x, y from pls_t where a = 1; select a, b, 3 into x, y from pls_t where a = 1; raise notice '% %', x, y; end $$
do $$ declare r pls_t; begin r := row(1, 2, 3); r := row(1); raise notice '%', r; end $$
do $$ declare r record; x int; begin for x in select 1, 2 loop null; end loop; end $$
set plpgsql.extra_warnings = 'none'; set plpgsql.extra_errors = 'shadowed_variables'
create or replace function pls_shadow(a int) returns int language plpgsql as $$ declare a int; begin return 1; end $$
set plpgsql.extra_errors = 'too_many_rows'; do $$ declare x int; begin select a into x from pls_t order by a; raise notice '%', x; end $$
do $$ declare x int; begin select a into x from pls_t order by a limit 1; raise notice '%', x; end $$
set plpgsql.extra_errors = 'strict_multi_assignment'; do $$ declare x int; y int; begin select a into x, y from pls_t where a = 1; end $$
do $$ declare x int; y int; begin select a, b, 3 into x, y from pls_t where a = 1; end $$
do $$ declare r pls_t; begin r := row(1); raise notice '%', r; end $$
create type pls_c as (x int, y int)
create function pls_ret() returns setof pls_c language plpgsql as $$ declare r record; begin select 1, 2 into r; return next r; end $$
select * from pls_ret()
reset plpgsql.extra_errors; reset plpgsql.extra_warnings
begin; set local plpgsql.check_asserts = off; show plpgsql.check_asserts; rollback; show plpgsql.check_asserts
set work_mem = '3MB'; create function pls_set(x int) returns text language plpgsql set work_mem = '1MB' as $$ begin set work_mem = '2MB'; perform 1 / x; return current_setting('work_mem'); end $$
select pls_set(0)
select current_setting('work_mem')
select pls_set(1), current_setting('work_mem')
select current_setting('work_mem')
set work_mem = '3MB'; create or replace function pls_set(x int) returns text language plpgsql set work_mem = '1MB' as $$ begin set local work_mem = '2MB'; return current_setting('work_mem'); end $$
select pls_set(1), current_setting('work_mem')
create or replace function pls_set(x int) returns text language plpgsql set work_mem = '1MB' as $$ begin set work_mem = '4MB'; set local work_mem = '2MB'; return current_setting('work_mem'); end $$
select pls_set(1), current_setting('work_mem')
begin; set local work_mem = '5MB'; select pls_set(1), current_setting('work_mem'); show work_mem; commit; show work_mem
set work_mem = '3MB'; begin; savepoint a; select pls_set(1); rollback to a; show work_mem; commit; show work_mem
do $$ begin perform pls_set(1); raise exception 'x'; exception when others then raise notice '%', current_setting('work_mem'); end $$
reset work_mem; drop function pls_set
drop table pls_t cascade
revoke create on schema public from pls_user; drop role pls_user
