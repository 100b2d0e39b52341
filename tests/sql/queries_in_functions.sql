-- The query of CREATE TABLE AS and of DECLARE CURSOR in a function in SQL uses its arguments, and reads views.
create view view_in_function as select i as a, i * 2 as b from generate_series(1, 5) i
create function creates_from_view(i int) returns void language sql as 'create temp table from_view as select * from view_in_function where a < i'
select creates_from_view(3)
select * from from_view order by a
create function declares_cursor(least int, cursor_rows int = 2) returns void language sql as 'declare c_in_function cursor for select * from view_in_function where a >= least order by a desc limit $2'
begin
select declares_cursor(2)
fetch all from c_in_function
close c_in_function
select declares_cursor(least => 4, cursor_rows => 1)
fetch all from c_in_function
select declares_cursor(1)
rollback
create function declares_cursor_held(least int) returns void language sql as 'declare c_held cursor with hold for select * from view_in_function where a >= least'
select declares_cursor_held(4)
fetch all from c_held
close c_held
create function declares_wrong() returns void language sql as 'declare c_wrong scroll no scroll cursor for select 1'
create function declares_wrong() returns void language sql as 'declare c_wrong cursor for select nosuch from view_in_function'
create function declares_wrong(t text) returns void language sql as 'declare c_wrong scroll cursor for select * from pg_class where relname = t for update'
create function creates_wrong() returns void language sql as 'create table created_wrong as select nosuch from view_in_function'
create function creates_wrong(t text) returns void language sql as 'create table created_wrong as select t as x'
select creates_wrong('a')
select * from created_wrong
drop function declares_cursor, declares_cursor_held, creates_from_view
drop table from_view
drop view view_in_function
