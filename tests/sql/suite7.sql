-- Statements of PostgreSQL's regression suite: settings of functions, domains over changed row types, window functions under other
-- names, calls in functions, assignments and constant rows in plans.
CREATE SCHEMA suite7; SET search_path = suite7
create function settings() returns int as 'select 1;' language sql set search_path to PG_CATALOG, "Mixed" set local_preload_libraries to "Mixed/Case", 'c:/''a"/path', '', '0123456789012345678901234567890123456789012345678901234567890123456789' set datestyle to iso, mdy
select pg_get_functiondef('settings()'::regprocedure)
select proconfig from pg_proc where proname = 'settings'
create type pair as (r float8, i float8)
create domain checked as pair; alter domain checked add constraint c1 check ((value).r > 0); comment on constraint c1 on domain checked is 'kept'
alter type pair alter attribute r type varchar
alter type pair alter attribute r type bigint
select row(0, 1)::checked
select row(1, 1)::checked
select conname, pg_get_constraintdef(oid), obj_description(oid, 'pg_constraint') from pg_constraint where contypid = 'checked'::regtype
alter type pair alter attribute i type int
alter type pair alter attribute r type float8, alter attribute i type float8
select conname, pg_get_constraintdef(oid), obj_description(oid, 'pg_constraint') from pg_constraint where contypid = 'checked'::regtype
create table pairs (a int, b text); create domain row_of as pairs check ((value).a > 0)
alter table pairs alter a type bigint
select [[row(0, 'x')::row_of¦row(1, 'x')::row_of]]
create function second(val anyelement, n integer default 2) returns anyelement language internal window immutable strict as 'window_nth_value'
select x, second(x) over (order by x rows between unbounded preceding and unbounded following) from generate_series(1, 4) x
select x, second(n := 3, val := x) over (order by x) from generate_series(1, 4) x
select second(1)
create function before(anyelement) returns anyelement language internal window as 'window_lag'
select x, before(x) over (order by x) from generate_series(1, 3) x
create function nope() returns int language internal as 'nothing_like_this'
create function estimator(internal, oid, internal, integer) returns float8 language internal stable strict as 'contsel'
create procedure out1(inout a int, inout b int) language sql as 'select 1, 2'
create procedure out2(inout b int, inout a int) language sql as 'call out1(a, b)'
create procedure out2(a int) language sql as [['call out1(a, 1)'¦'call out1(a)'¦'call out1(nope, 1)'¦'call settings()'¦'call out1(1, 2); select 1']]
create table partitioned (a int) partition by magic (a)
create function r1(anycompatiblemultirange) returns anycompatiblerange as 'select range_merge($1)' language sql
create function r2(anycompatiblemultirange, anycompatiblerange) returns int as 'select 1' language sql
create function r3(anycompatiblemultirange) returns anycompatible as 'select lower($1)' language sql
create function r4(anyelement, anyrange) returns anymultirange as 'select multirange($2)' language sql
create function r5(anyelement, anymultirange) returns anyrange as 'select range_merge($2)' language sql
select [[r1(null)¦r2(null, null)¦r3(null)¦r4(1, null)¦r5(1, null)]]
create table comps (d1 pair[], a int[]); insert into comps values (array[row(1, 2)::pair], '{1,2}')
explain (verbose, costs off) update comps set d1[1].r = d1[1].r - 1, d1[1].i = d1[1].i + 1 where d1[1].i > 0
explain (verbose, costs off) update comps set a[1] = 2, a[2:3] = '{4,5}'
explain (verbose, costs off) update comps set d1[2].r = 3
update comps set d1[1].r = d1[1].r - 1, d1[1].i = d1[1].i + 1, d1[2].r = 3, a[2:3] = '{4,5}' returning *
explain (verbose, costs off) select row(1, 2)::pair, (row(1, 2)::pair).i, row(1, null)::pair, (row(1, 2)::pair) is null, row(r.d1, 2)::text from comps r
select row(1, 2)::pair, (row(1, 2)::pair).i, row(1, null)::pair, (row(1, 2)::pair) is null, row(null, null)::pair is null, (row(1, 'x')::pairs).b
explain (costs off) select * from pairs p where p in (row(1, 'a')::pairs, '(2,b)')
insert into pairs values (1, 'a'), (2, 'b'), (3, 'c'); select * from pairs p where p in (row(1, 'a')::pairs, '(2,b)') order by a
explain (verbose, costs off) select * from comps where d1[1] = row(0, 3)::pair
select * from comps where d1[1] = row(0, 3)::pair
create table c10 (a int, x text collate "C", y text collate "POSIX")
insert into c10 values (1, 'hij', 'hij'), (2, 'HIJ', 'HIJ'), (3, 'b', null)
explain (costs off) select * from c10 order by x desc, y collate "C" asc nulls first
select * from c10 order by x desc, y collate "C" asc nulls first
explain (costs off) select x, y collate "C" from c10 group by 1, 2 order by 2, 1
explain (verbose, costs off) select distinct y collate "C" from c10 order by 1
explain (verbose, costs off) with recursive t as (select 1 as x, random() as r union all select x + 1, r from t) search breadth first by x, r set y select * from t limit 5
create table tab (a int unique, b text); create view tv as select b as bb, a as aa, tab::text as cc from tab; create view tw as select aa, bb from tv where aa < 10
create function aa_of(x tv) returns int language sql as 'select x.aa'
insert into tv (aa, bb) values (1, 'x')
explain (costs off) insert into tv (aa, bb) values (1, 'y') on conflict (aa) do update set bb = 'Rejected: ' || excluded.* where excluded.aa > 0 and excluded.bb != '' and excluded.cc is not null
insert into tv (aa, bb) values (1, 'y') on conflict (aa) do update set bb = 'Rejected: ' || excluded.* where excluded.aa > 0 and excluded.bb != '' and excluded.cc is not null returning tv
insert into tv (aa) values (1) on conflict (aa) do update set bb = 'Rejected: ' || excluded.*
insert into tw (aa, bb) values (1, 'z') on conflict (aa) do update set bb = excluded.* || ' ' || tw returning tw, *
update tv v set bb = 'changed' where aa_of(v) = 1 returning aa_of(v), v.bb, v
update tw set bb = (select tw.* from tab limit 1)::text returning *, (select tw from tab limit 1)
delete from tw w where w is not null returning w
explain (verbose, costs off) update tv v set bb = 'changed' where aa_of(v) = 1 returning aa_of(v), v.bb, v
select string_agg(distinct a::text, b order by b, a::text) from (values (1, 'x'), (2, 'x'), (1, 'y'), (1, 'x')) v(a, b)
select jsonb_object_agg(distinct b, a order by a desc) from (values (1, 'x'), (2, 'x'), (1, 'y'), (1, 'x')) v(a, b)
create function ag_trans(text[], int, int, text) returns text[] as 'select array_append($1, concat_ws('' '', $2, $3, $4))' language sql immutable; create aggregate ag(int, int, text) (sfunc = ag_trans, stype = text[], initcond = '{}')
select ag(distinct a, [[a¦b]], c order by [[c¦c, a¦c using ~<~, a¦a¦a desc, c¦c desc nulls last]]) from (values (1, 3, 'foo'), (0, null, null), (2, 2, 'bar'), (3, 1, 'baz')) v(a, b, c), generate_series(1, 2) i
select [[hash_array('{1}'::money[])¦hash_array_extended('{1}'::money[], 0)¦hash_record_extended(row('1'::money), 0)]]
create role suite7_other; create procedure owned(int) language sql as ''; create aggregate owned_sum(int) (sfunc = int4pl, stype = int); grant all on schema suite7 to suite7_other; set role suite7_other
alter [[procedure owned¦routine owned¦aggregate owned_sum]](int) [[rename to x¦set schema public¦owner to suite7_other]]
drop [[procedure owned¦aggregate owned_sum]](int)
reset role; drop owned by suite7_other; drop role suite7_other
