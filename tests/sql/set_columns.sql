-- Columns beside sets are evaluated from left to right, until the sets have ended.
create table beside(a int, b int)
insert into beside select g, g % 3 from generate_series(1, 5) g
create sequence beside_seq
create function beside_notice(i int) returns int language plpgsql as $$ begin raise notice 'called with %', i; return i; end $$
select beside_notice(a), generate_series(1, 2), beside_notice(-a) from beside where a < 3
select generate_series(1, 2), beside_notice(a), generate_series(beside_notice(3), 5) from beside where a < 3
select beside_notice(1) + generate_series(1, 2), beside_notice(a) from beside where a < 3
select generate_series(1, 0), beside_notice(1)
select generate_series(1, null), beside_notice(1)
select generate_series(null::int, beside_notice(1)), 1
select beside_notice(a), generate_series(1, 2) from beside limit [[1¦2¦3]]
insert into beside select nextval('beside_seq'), generate_series(11, 13) from beside where a < 3
select * from beside order by b, a
select 1 / (2 - generate_series(1, 3)), beside_notice(4)
