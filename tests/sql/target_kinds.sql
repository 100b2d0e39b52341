-- Statements that change relations of other kinds than tables: privileges are checked before the kind.
create table tk_table (a int); create sequence tk_seq; create materialized view tk_view as select * from tk_table; create view tk_plain as select a, count(*) from tk_table group by a
create index tk_index on tk_table (a)
create role tk_role; create type tk_type as (a int)
[[insert into tk_seq values (1)¦update tk_seq set last_value = 5¦delete from tk_seq¦insert into tk_view values (1)¦update tk_view set a = 1¦delete from tk_view¦insert into tk_index values (1)¦delete from tk_plain]]
set role tk_role; [[insert into tk_seq values (1, 0, false)¦update tk_seq set last_value = 5¦delete from tk_seq¦insert into tk_view values (1)¦update tk_view set a = 1¦delete from tk_view¦insert into tk_index values (1)¦delete from tk_plain¦update tk_view set a = 1 where a = 2 returning a]]
select * from [[tk_index¦tk_type]]
[[insert into tk_type values (1)¦update tk_type set a = 1¦delete from tk_index¦copy tk_index to stdout¦copy tk_type to stdout¦copy tk_index from stdin¦copy tk_type (a) from stdin¦create view tk_v as select * from tk_index¦select 1 from tk_table, tk_index¦truncate tk_index]]
reset role; grant select, usage on tk_seq to tk_role; grant insert, delete on tk_view to tk_role
set role tk_role; [[insert into tk_seq values (1, 0, false)¦insert into tk_view values (1)¦update tk_view set a = 1¦delete from tk_view¦delete from tk_view where a = 1]]
reset role; drop sequence tk_seq; drop materialized view tk_view; drop view tk_plain; drop table tk_table; drop type tk_type; drop role tk_role
