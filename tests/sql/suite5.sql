-- What PostgreSQL's regression suite found: computed columns of rows that a join adds, conditions that end windows,
-- columns that need not be grouped by, names of columns in views.
CREATE SCHEMA suite5; SET search_path = suite5
create table int8_tbl(q1 int8, q2 int8)
insert into int8_tbl values(123,456),(123,4567890123456789),(4567890123456789,123),(4567890123456789,4567890123456789),(4567890123456789,-4567890123456789)
analyze int8_tbl
set enable_hashjoin to off; set enable_nestloop to off
explain (verbose, costs off) select a.q2, b.q1 from int8_tbl a left join int8_tbl b on a.q2 = coalesce(b.q1, 1) where coalesce(b.q1, 1) > 0 order by 1,2
select a.q2, b.q1 from int8_tbl a left join int8_tbl b on a.q2 = coalesce(b.q1, 1) where coalesce(b.q1, 1) > 0 order by 1,2
select a.q2, coalesce(b.q1,1) from int8_tbl a full join int8_tbl b on a.q2 = coalesce(b.q1, 1) order by 1,2
select coalesce(a.q2,7), coalesce(b.q1,1) from int8_tbl a full join int8_tbl b on coalesce(a.q2,7) = coalesce(b.q1, 1) order by 1,2
reset enable_hashjoin; reset enable_nestloop
