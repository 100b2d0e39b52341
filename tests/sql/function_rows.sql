-- Columns of a function's row type that are dropped, or have another type.
create table function_row (a int, b int, c int)
create function function_rows() returns setof function_row language sql as 'select * from function_row'
create view function_row_view as select a, b, c from function_rows()
alter table function_row drop column b
select a, c from function_row_view
select b from function_row_view
alter table function_row alter c type text
select c from function_row_view
drop table function_row cascade
