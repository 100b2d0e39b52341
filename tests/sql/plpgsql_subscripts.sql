-- Subscripts in targets of assignments.
create schema plpgsql_subscripts
set search_path = plpgsql_subscripts, public
create table t(i int)
insert into t values (1),(2),(3)
create type p as (x int, y int[])
create type q as (p p, ps p[], t text)
do $$ declare a int[]; begin a[(select max(i) from t)] := 1; raise notice '%', a; end $$
do $$ declare a int[]; begin a[(select max(i) from t)][(select min(i) from t)] := 1; raise notice '%', a; end $$
do $$ declare a int[] := '{1,2,3,4,5}'; n int := 2; begin a[(select max(i) from t) : (select max(i)+n-1 from t)] := array[9,9]; raise notice '%', a; end $$
do $$ declare a int[] := '{1,2,3,4,5}'; n int := 2; begin a[n : (select max(i)+n-1 from t)] := (select array_agg(i) from t); raise notice '%', a; end $$
do $$ declare a int[] := '{1,2,3,4,5}'; n int := 2; begin a[:(select n)] := (select array_agg(i) from t); raise notice '%', a; end $$
do $$ declare a int[] := '{1,2,3,4,5}'; n int := 2; begin a[(select n):] := (select array_agg(i) from t)||1; raise notice '%', a; end $$
do $$ declare a int[] := '{1,2,3,4,5}'; n int := 2; begin a[a[(select n)]] := 77; raise notice '%', a; end $$
do $$ declare j jsonb := '{"a":[1,2,3]}'; n text := 'a'; begin j[(select n)][(select max(i)-1 from t)] := '77'; raise notice '%', j; end $$
do $$ declare j jsonb := '{"a":[1,2,3]}'; n text := 'b'; begin j[n]['x'] := to_jsonb((select max(i) from t)); raise notice '%', j; end $$
do $$ declare r q; begin r.ps[(select max(i) from t)].x := 5; raise notice '%', r; end $$
do $$ declare r q; begin r.ps[(select max(i) from t)].y[(select min(i) from t)] := 5; raise notice '%', r; end $$
do $$ declare r q; begin r.p.y[(select min(i) from t)] := 5; raise notice '%', r; end $$
do $$ declare r p[]; begin r[(select min(i) from t)].y[(select min(i) from t)] := 5; raise notice '%', r; end $$
do $$ declare r p[]; begin r[2].y[(select min(i) from t)+r[2].x] := 5; raise notice '%', r; end $$
do $$ declare a int[]; begin a[(select 1/0)] := 1; end $$
do $$ declare a int[]; begin a[(select i from t)] := 1; end $$
do $$ declare a int[]; begin a[(select i, i from t)] := 1; end $$
do $$ declare a int[]; begin a[(select null::int)] := 1; end $$
do $$ declare a int[]; begin a[(select 'x'::text)] := 1; end $$
do $$ declare a int[]; begin a[1.5] := 1; raise notice '%', a; end $$
do $$ declare a int[]; begin a['1'] := 1; raise notice '%', a; end $$
do $$ declare a int[]; begin a[generate_series(1,2)] := 1; raise notice '%', a; end $$
do $$ declare a int[]; begin a[max(1)] := 1; raise notice '%', a; end $$
do $$ declare a int[]; begin a[row_number() over ()] := 1; raise notice '%', a; end $$
do $$ declare a int[]; begin a[nosuch] := 1; raise notice '%', a; end $$
do $$ declare a int[]; begin a[exists(select from t)::int] := 1; raise notice '%', a; end $$
do $$ declare a int[]; begin a[(2 in (select i from t))::int] := 1; raise notice '%', a; end $$
do $$ declare a int[]; begin for k in 1..3 loop a[(select i from t where i = k)] := (select i*k from t where i = k); end loop; raise notice '%', a; end $$
create function f(a int[]) returns int[] language plpgsql as $$ begin $1[(select 2)] := 3; a[(select 4)] := 4; return a; end $$
select f('{1}'), f(null)
do $$ declare r record; begin r := row(array[1,2])::text; r := null; select array[1,2] as a into r; r.a[(select 5)] := 3; raise notice '%', r; end $$
do $$ declare r record; begin select array[1,2] as a into r; r.a[(select max(i) from t where i < r.a[2])] := 3; raise notice '%', r; end $$
create domain dd as int[] check (value[3] is null)
do $$ declare a dd; begin a[(select 1)] := 3; raise notice '%', a;  a[(select 3)] := 3; end $$
create table tr(a int[], j jsonb, c q)
create function tf() returns trigger language plpgsql as $$ begin new.a[(select max(i) from t)] := 7; new.j[(select 'k')] := '1'; new.c.ps[(select 2)].x := 4; return new; end $$
create trigger tt before insert on tr for each row execute function tf()
insert into tr values ('{1}', '{"x":1}', null)
select * from tr
do $$ declare r t; a int[]; begin a[(select x.i from t x where x.i = 2)] := 5; raise notice '%', a; end $$
do $$ declare a int[]; b int; begin a[(with w as (select 1 as b) select w.b from w)] := 5; raise notice '%', a; a[(values (2))]:= 3; raise notice '%', a; end $$
do $$ declare a text; begin a[(select 1)] := 5; end $$
do $$ declare a int; begin a[(select 1)] := 5; end $$
do $$ declare a point; begin a[(select 1)] := 5; end $$
do $$ declare a point := '(1,2)'; begin a[(select 1)] := 5; raise notice '%', a; a[5] := 1; end $$
do $$ declare a int[]; begin get diagnostics a[1] = row_count; raise notice '%', a; end $$
do $$ declare a int[]; begin select 1 into a[1]; end $$
do $$ declare a int[]; begin a[(select 1 from t for update)] := 5; end $$
do $$ declare a int[]; begin a[(insert into t values (1) returning 1)] := 5; end $$
do $$ declare a int[]; begin a[(with w as (insert into t values (1) returning 1) select 1 from w)] := 5; end $$
create extension hstore
do $$ declare h hstore := 'a=>1'; k text := 'b'; begin h[k] := (select '5'); h[(select 'x')] := 'y'; raise notice '%', h; end $$
do $$ declare a int[] := '{1,2}'; begin a[(select 1)] := null; raise notice '%', a; a[(select 1)] := 'x'; end $$
do $$ declare a constant int[] := '{1,2}'; begin a[(select 1)] := null; end $$
do $$ declare a int[][] := '{{1,2},{3,4}}'; begin a[(select 1):(select 2)][1] := '{{7},{8}}'::int[]; raise notice '%', a; a[3][3] := 1; end $$
set client_min_messages = error
drop schema plpgsql_subscripts cascade
