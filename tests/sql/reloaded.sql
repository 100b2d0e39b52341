-- Definitions of views must be valid input that recreates the same view.
CREATE SCHEMA reloaded; SET search_path = reloaded
create type ct as (f1 int, f2 text)
create table tt (a int, c ct, arr ct[])
create function fct(int) returns ct language sql as 'select row($1,''x'')::ct'
create function fset(int) returns setof ct language sql as 'select row($1,''x'')::ct'
create function frec(int, out o1 int, out o2 text) language sql as 'select $1, ''x'''
create view v01 as with cte(r) as (select row(1,2)) select (cte.r).f2 from cte
create view v02 as with cte(r) as (select row(1,'a')::ct) select (cte.r).f2 from cte
create view v03 as with cte as (select c from tt) select (cte.c).f1, (c).f2 from cte
create view v04 as with cte as (select tt as t from tt) select (cte.t).a, (t).c, ((t).c).f2 from cte
create view v05 as select (r).f1 from (select row(1,2) r) s
create view v06 as select (r).f1, (s).r from (select row(1,row(3,4)) r) s
create view v07 as select ((r).f2).f1 from (select row(1,row(3,4)) r) s
create view v08 as with recursive cte(r, n) as (select row(1,2), 1 union all select r, n+1 from cte where n < 3) select (r).f2 from cte
create view v09 as with a as (select row(1,2) r), b as (select r from a) select (r).f1 from b
create view v11 as select (select (cte.r).f1) from (select row(1,2) r) cte
create view v12 as with cte as (select row(1,2) r) select (select (cte.r).f2 from tt limit 1) from cte
create view v13 as with cte as (select row(1,2) r) select x.* from cte, lateral (select (cte.r).f2) x
create view v14 as select (frec(1)).o2
create view v15 as select (fct(a)).f2, (fct(a)).* from tt
create view v16 as select (f).f1 from (select frec(1) as f) x(f)
create view v17 as select (j).f1 from (select row(1,2) j) a join tt on true
create view v18 as select (j.r).f1 from ((select row(1,2) r) a join tt on true) j
create view v19 as with cte as (select row(a, c) r from tt) select (cte.r).f1, ((cte.r).f2).f1 from cte
create view v20 as select * from fct(1)
create view v21 as select (1+2) as i4 from tt
create view v22 as select * from coalesce(1,2) c
create view v23 as select * from greatest(1,2) g, nullif(1,2) n, current_date d, current_timestamp t
create view v24 as select * from cast(1+2 as int) i4
create view v25 as select * from cast(a_ as text) from (select 1 a_) z
create view v26 as select * from cast('1' as int) i4(i4)
create view v27 as select * from cast(fct(1) as text) x
create view v28 as select * from cast(now() as date) x
create view v29 as select * from rows from (fct(1), cast(1+2 as int), generate_series(1,3)) with ordinality r(a,b,c,d,o)
create view v30 as select * from unnest(array[1,2], array['a','b']) u
create view v31 as select * from unnest(array[1,2], array['a','b']) with ordinality u(x,y,z)
create view v32 as select * from rows from (unnest(array[1]), unnest(array[2],array[3])) u
create view v33 as select * from json_to_recordset('[{"a":1}]') as x(a int, b text collate "C")
create view v34 as select * from rows from (json_to_recordset('[{"a":1}]') as (a int, b text), generate_series(1,2)) with ordinality x
create view v35 as select * from cast(1+2 as numeric(5,2)) n
create view v36 as select * from extract(year from now()) e, substring('abc' from 2) s, trim(both ' x ') t, position('a' in 'ba') p, overlay('a' placing 'b' from 1) o
create view v37 as select * from collation for ('x'::text) c
create view v38 as select * from tt, lateral cast(tt.a + 1 as bigint) q
create view v39 as select * from tt, lateral fset(tt.a) q
create view v40 as select q from tt, lateral fset(tt.a) q
create view v41 as select q.f1 from tt, fset(tt.a) as q(x1,f1)
create view v42 as select (q).f2 from tt, fset(tt.a) q
create view v43 as select * from pg_get_keywords() k
create view v44 as select * from lower('A') l
create view v45 as select * from generate_series(1,3) with ordinality
create view v46 as select * from cast(row(1,'a') as ct) x
create view v47 as select * from cast(array[1] as text[]) x
create view v48 as select * from session_user s, localtime l, current_role r, current_schema c
create view v49 as select * from cast('2001-01-01' as timestamp(2)) x
create view v50 as select * from cast(cast(5 as char(3)) as varchar) x
create view v51 as select (c).f1, (tt.c).f2, (arr[1]).f1, ((arr)[1:2])[1].f2 from tt
create view v52 as select (row(1,2)).f1, (array[row(1,'a')::ct])[1].f2
create view v53 as select ((c))."f1" from tt where (c).f1 > 1 order by (c).f2
create view v54 as select (z).x from (select tt.c from tt) y(x), lateral (select y.x) z
create view v55 as select (max(c::text)) from tt group by (c).f1 having (c).f1 > 0
create view v56 as select case when true then c end as q, (case when true then c end).f1 from tt
create view v57 as select (select c from tt limit 1).f1
create view v58 as select ((select row(1,2))).f1
create view v60 as select (u).f1 from (select row(1,2) u union all select row(3,4)) s
create view v61 as select a in (a, 1) x, a in (1, a) y, a not in (a, null) z, a in (1, a, 2) u from tt
create view v62 as select (not a > 1) in (select a > 2 from tt) x, a + 1 in (select a from tt) y, (a > 1) = any (select a > 2 from tt) z, (a, a + 1) in (select a, a from tt) u, (select a) <> all (select a from tt) v, (a is null) in (select a > 2 from tt) w from tt
SELECT viewname, definition FROM pg_views WHERE schemaname = 'reloaded' ORDER BY viewname
SELECT pg_get_viewdef(('reloaded.' || viewname)::regclass, true) FROM pg_views WHERE schemaname = 'reloaded' ORDER BY viewname
SET client_min_messages = error; DROP SCHEMA reloaded CASCADE
