do $$ declare a int[]; begin for i in 1..5 loop a := a || i; end loop; a := array_append(a, 6); a := a || 7::int; raise notice '%', a; a[3] := 30; a[8] := 80; a[10] := 100; raise notice '% %', a, array_length(a, 1); a := a || 11; a[1] := null; a := a || 12; a[2] := -2; raise notice '%', a; end $$
do $$ declare a bigint[] := '{}'; b bool[] := '{t}'; c smallint[] := '{1,2}'; begin a := a || 5; a := a || 6::bigint; a[2] := a[1] + a[2]; b := b || false; b[1] := b[2]; b := b || (a[1] > 3); c := c || 3::smallint; c[1] := 9; raise notice '% % %', a, b, c; end $$
do $$ declare t text[]; begin for i in 1..4 loop t := t || repeat('x', i); end loop; t[2] := 'longer than before'; t[1] := ''; t[4] := 'y'; t := t || 'end'::text; t := array_append(t, t[2] || t[1]); raise notice '% %', t, cardinality(t); t[3] := null; t := t || null::text; t[1] := 'after null'; raise notice '%', t; end $$
do $$ declare f float8[] := array[0.5]; n numeric[]; d date[]; s timestamptz[]; u uuid[]; begin for i in 1..3 loop f := f || (i * 1.5)::float8; n := n || i / 3.0; d := d || date '2020-01-01' + i; u := u || ('00000000-0000-0000-0000-00000000000' || i)::uuid; end loop; f[2] := -1; n[2] := 12345678901234567890.5; d[1] := '1999-12-31'; u[2] := u[1]; raise notice '% % % %', f, n, d, u; end $$
do $$ declare a int[] := '[0:2]={1,2,3}'; begin a := a || 4; a[0] := 10; a[-1] := 5; a := a || 6; raise notice '%', a; end $$
do $$ declare a int[] := '[2147483645:2147483646]={1,2}'; begin a := a || 3; raise notice '%', a; end $$
do $$ declare a int[] := '{{1,2},{3,4}}'; begin a[1][2] := 20; raise notice '%', a; a := a || 5; end $$
do $$ declare a int[] := '{1,2,3}'; b int[] := a; begin a := a || 4; a[1] := 100; raise notice '% %', a, b; b := a || 5; a := b; b[1] := 0; raise notice '% %', a, b; end $$
do $$ declare a int[] := '{3,1,2}'; t int; begin for i in 1..3 loop for j in 1..2 loop if a[j] > a[j + 1] then t := a[j]; a[j] := a[j + 1]; a[j + 1] := t; end if; end loop; end loop; raise notice '%', a; end $$
do $$ declare v varchar(3)[] := '{abc}'; begin v := v || 'de'::varchar; v[1] := 'xyz'; raise notice '%', v; v[2] := 'too long'; end $$
do $$ declare v varchar(3)[] := '{abc}'; begin v := v || 'too long'::varchar; end $$
create domain pla_d as int[] check (array_length(value, 1) < 4)
do $$ declare a pla_d := '{1}'; begin a := a || 2; a[3] := 3; raise notice '%', a; a := a || 4; end $$
create domain pla_e as int check (value > 0)
do $$ declare a pla_e[] := '{1}'; begin a := a || 2::pla_e; a[1] := 5; raise notice '%', a; a[2] := -1; end $$
create type pla_c as (x int, y text); create type pla_en as enum ('a', 'b', 'c')
do $$ declare a pla_c[]; e pla_en[]; begin for i in 1..3 loop a := a || row(i, 'n' || i)::pla_c; e := e || 'b'::pla_en; end loop; a[2] := (20, 'changed'); a[1].y := 'field'; e[1] := 'c'; raise notice '% % %', a, e, a[2].y; end $$
do $$ declare a int[] not null := '{}'; begin a := a || 1; a := a || 2; a := null; end $$
do $$ declare a int[] := '{1,2}'; i int; begin a[i] := 5; end $$
do $$ declare a int[] := '{1,2}'; begin a := a || (1 / (a[1] - 1)); end $$
do $$ declare a int[] := '{1,2}'; begin begin a := a || 3; a[1] := 100; raise exception 'x'; exception when others then raise notice '%', a; end; end $$
create function pla_f(a int[]) returns int[] language plpgsql as $$ begin a := a || 1; a[1] := 0; return a; end $$
select pla_f(x), x from (values ('{5,6}'::int[]), ('{}'), (null), ('{null}')) v(x)
create table pla_t(a int[], t text[]); insert into pla_t values ('{1,2,3}', '{abc,defghijklmnop,"",q}')
do $$ declare r pla_t; a int[]; t text[]; begin select * into r from pla_t; r.a := r.a || 4; r.a[1] := 9; raise notice '%', r; select pla_t.a, pla_t.t into a, t from pla_t; a := a || 4; t[2] := 'z'; t[1] := 'longer'; t := t || 'more'::text; t[4] := ''; raise notice '% %', a, t; end $$
select * from pla_t
do $$ declare a int[]; begin for i in 1..20000 loop a := a || i; end loop; for i in 1..20000 loop a[i] := a[i] * 2; end loop; raise notice '% % %', array_length(a, 1), a[1], a[20000]; end $$
do $$ declare t text[]; begin for i in 1..2000 loop t := t || ('e' || i)::text; end loop; for i in 1..2000 by 100 loop t[i] := t[i] || '!'; end loop; raise notice '% % % %', array_length(t, 1), t[1], t[2000], md5(t::text); end $$
do $$ declare a int[]; i int := 0; begin while i < 3 loop a := array_prepend(i, a); i := i + 1; end loop; a := 7 || a; a := a || a; a := array_cat(a, '{1}'); raise notice '%', a; end $$
do $$ declare j jsonb := '{"a": []}'; begin j['a'][0] := '1'; j['a'][1] := '"x"'; raise notice '%', j; end $$
drop table pla_t; drop type pla_c; drop type pla_en; drop function pla_f; drop domain pla_d; drop domain pla_e
begin; drop extension plpgsql; do 'begin null; end'; rollback
begin; drop extension plpgsql; create function pla_g() returns int language plpgsql as 'begin return 1; end'; rollback
begin; drop extension plpgsql; create extension plpgsql schema public; rollback
begin; drop extension plpgsql; create extension plpgsql; select extname, extowner = 10, extnamespace, extrelocatable, extversion from pg_extension order by 1; select lanname, lanowner = 10, lanispl, lanpltrusted, lanacl from pg_language where lanname = 'plpgsql'; select proname, proisstrict, proparallel, provolatile, procost, pronargs, prorettype, probin, prosrc from pg_proc where probin like '%plpgsql' order by 1; select count(*), min(deptype), max(deptype) from pg_depend d where refclassid = 'pg_extension'::regclass and refobjid = (select oid from pg_extension where extname = 'plpgsql'); select obj_description(oid) from pg_language where lanname = 'plpgsql'; do 'begin raise notice ''back''; end'; rollback
create extension if not exists plpgsql; create extension if not exists plpgsql with schema pg_catalog; create or replace procedural language plpgsql; create extension plpgsql; drop language plpgsql
select name, default_version, installed_version, comment from pg_available_extensions where name = 'plpgsql'
select name, version, superuser, trusted, relocatable, schema, requires, comment from pg_available_extension_versions where name = 'plpgsql'
do $$ declare p bool[]; n int[] := '{}'; t text[]; begin for i in 1..100000 loop p[i] := i % 3 = 0; n[i] := i; end loop; for i in 1..5000 loop t[i] := 'e' || i; end loop; n[100002] := 7; raise notice '% % % % % %', array_length(p, 1), p[99999], array_length(n, 1), n[100001], array_length(t, 1), md5(t::text || n::text); end $$
create type pla_c as (x int, y text, z int[]); create type pla_o as (n int, c pla_c, l text[])
do $$ declare a text[]; begin for i in 1..3000 loop a[i] := 'x' || i; end loop; for i in reverse 3000..1 loop a[i] := a[i] || repeat('y', i % 7); end loop; a[3005] := 'end'; a[-2] := 'front'; raise notice '% % % %', array_dims(a), a[2999], a[3001] is null, md5(a::text); end $$
do $$ declare b int[] := array_fill(0, array[10, 10], array[0, 5]); c int := 0; begin for i in 0..9 loop for j in 5..14 loop b[i][j] := i * j; c := c + b[i][j]; end loop; end loop; b[3][7] := null; b[4][8] := b[3][7]; b[9][14] := -1; raise notice '% % % %', c, b[0:1], b[3][7], md5(b::text); b[10][5] := 1; end $$
do $$ declare b text[] := '{{a,b},{c,d}}'; begin b[1][2] := 'longer than before'; b[2][1] := null; raise notice '% % %', b, b[1][2], b[2]; b[3][1] := 'x'; end $$
do $$ declare b text[] := '{{a,b},{c,d}}'; begin b[1][1] := 'x'; b[1] := 'y'; end $$
do $$ declare b text[] := '{{a,b},{c,d}}'; begin b[1][1] := 'x'; raise notice '%', b[1]; b := b || 'y'::text; end $$
do $$ declare b numeric[]; begin for i in 1..1000 loop b[i] := i * 1.5; b[i] := b[i] + 1; end loop; b[10] := 'NaN'; b := b || b[1] || 2; raise notice '% % %', array_upper(b, 1), b[10], (select sum(x) from unnest(b) x where x <> 'NaN'); end $$
do $$ declare b int[] := array_fill(null::int, array[500]); s bigint := 0; begin for i in 1..500 loop b[i] := i; end loop; for i in 1..500 loop s := s + b[i]; end loop; b[501] := null; b := b || null::int; b := array_append(b, 9); raise notice '% % % %', s, array_length(b, 1), b[501:503], cardinality(b); end $$
do $$ declare b text[] := array(select 'v' || i from generate_series(1, 5000) i); s int := 0; begin for i in 4000..5000 loop s := s + length(b[i]); end loop; for i in 1..5000 loop if b[i] is null then raise exception 'null'; end if; end loop; raise notice '% % % %', s, b[5000], b[5001], b[0]; end $$
do $$ declare a pla_c[]; begin for i in 1..300 loop a := a || row(i, 'x', null)::pla_c; a[i].x := a[i].x + 1; a[i].z[2] := i; end loop; a[302].y := 'new'; a[300].z := array[1, 2]; a[300].z[1] := 5; raise notice '% % % % %', array_length(a, 1), a[17], a[300].z[1], a[301], a[302].y; end $$
do $$ declare a pla_c[]; begin a[2].z[3] := 4; a[1].x := (select count(*) from pg_am where amname = 'heap'); a[1].y := a[2].z[3]::text || 'q'; raise notice '%', a; a[1].x := 'no number'; end $$
do $$ declare r pla_o; begin for i in 1..200 loop r.l[i] := 'e' || i; r.l[i] := r.l[i] || '!'; r.c.z[i] := i; end loop; r.l := r.l || 'last'::text; r.n := array_length(r.l, 1); raise notice '% % % %', r.n, r.l[200], (r.c).z[200], md5(r::text); end $$
do $$ declare r record; t text[]; begin select 1 as n, array['a', 'b'] as l into r; r.l[2] := 'changed'; r.l[4] := r.l[1]; t := r.l; t[1] := 'own'; raise notice '% % %', r, t, r.l[4]; select r.l[2] as l into r; raise notice '%', r; r.l[1] := 'x'; end $$
do $$ declare r record; q record; begin select array['a', 'b'] as l, array[1, 2] as m into r; r.l[2] := r.m[1]; r.m[3] := 7; q := r; q.l[1] := 'q'; r.m := r.m || q.m; raise notice '% % %', r, q, r.m[3]; r := null; raise notice '%', r; r.l[1] := 'x'; end $$
do $$ declare r pla_o; begin r.l := r.l || 'a'::text; r.l := array_append(r.l, 'b'); raise notice '% %', r, r is null; r := null; raise notice '% %', r, r.l[1]; r.l[2] := 'z'; raise notice '%', r; r.l := null; r.l[1] := 'one'; raise notice '% %', r, array_ndims(r.l); end $$
do $$ declare r pla_o; s pla_o; begin r.l := '{a,b}'; begin r.l[3] := 'c'; r.l[4] := 1 / 0; exception when division_by_zero then raise notice '%', r.l; end; s := r; s.l[1] := 'other'; raise notice '% % %', r, s, r = s; for s in select (r).* loop s.l[1] := 'loop'; raise notice '%', s; end loop; end $$
create function pla_f(a text[], inout b text[], out c pla_o[]) language plpgsql as $$ begin b[1] := a[1] || 'f'; a[1] := 'changed'; b := b || a; c[1].l[2] := b[2]; return; end $$
do $$ declare a text[] := '{p,q}'; r record; begin a[3] := 'z'; select * into r from pla_f(a, a); raise notice '% %', r, a; r.b[2] := 'x'; r.c[1].l[1] := 'y'; raise notice '% %', r, r.c[1].l; end $$
create function pla_g(n int) returns setof text[] language plpgsql as $$ declare a text[]; begin for i in 1..n loop a[i] := i || 'g'; return next a; a[1] := 'h'; end loop; return query select a; end $$
select * from pla_g(3)
create procedure pla_p(inout a text[]) language plpgsql as $$ begin a := a || 'p'::text; a[1] := a[2]; end $$
do $$ declare a text[] := '{x}'; r pla_o; begin a[2] := 'y'; call pla_p(a); raise notice '%', a; r.l := a; r.l[1] := 'l'; call pla_p(r.l); raise notice '%', r; end $$
do $$ declare a text[]; s text := ''; begin for i in 1..5 loop a[i] := 'v' || i; end loop; foreach s in array a loop a[1] := a[1] || s; end loop; a[2:3] := array['s', 't']; raise notice '% % %', a, a[2:4], 'v5' = any(a); execute 'select $1[1]' into s using a; raise notice '%', s; a[6] := s; perform set_config('pla.x', a::text, true); raise notice '%', current_setting('pla.x'); end $$
do $$ declare a text[]; b text[]; begin a[1] := 'a'; b := a; b[1] := 'b'; a[2] := b[1]; a := a || a[1] || b[1]; a[array_length(a, 1) + 1] := 'n'; a[a[1]::text::int] := 'x'; exception when others then raise notice '% % %', sqlerrm, a, b; end $$
do $$ declare a text[]; b bigint := 2; begin a[b] := 'bigint'; a[1.4] := 'rounded'; a['3'] := 'text'; raise notice '%', a; a[null] := 'x'; end $$
do $$ declare a text[] := '{a}'; begin a[2147483647] := 'x'; end $$
do $$ declare a text[] := '{a}'; begin a[-2147483648] := 'x'; end $$
do $$ declare a text[] := '[2147483646:2147483646]={a}'; begin a := a || 'b'::text; end $$
do $$ declare a int[] := '[2147483646:2147483646]={1}'; begin a := a || null::int; end $$
do $$ declare a varchar(3)[]; r record; begin a[1] := 'abc'; a[2] := 'ab '; a := a || 'x'::varchar; begin a[1] := 'long'; exception when others then raise notice '% %', sqlerrm, a; end; a := a || 'long'::varchar; end $$
create table pla_t(id int, v varchar(3)[], t text[]); insert into pla_t values (1, '{a,b}', '{x,y}')
do $$ declare r pla_t; begin select * into r from pla_t; r.v[1] := 'abc'; r.v := r.v || 'd'::varchar; raise notice '%', r; begin r.v := r.v || 'long'::varchar; exception when others then raise notice '% %', sqlerrm, r; end; r.v[2] := 'long'; end $$
create function pla_tr() returns trigger language plpgsql as $$ begin new.t[2] := 'trigger'; new.t[4] := new.v[1]; new.v := new.v || 'n'::varchar; if tg_op = 'UPDATE' then new.t[1] := old.t[2]; end if; raise notice '% % %', new, old.t[1], new.t[4]; return new; end $$
create trigger pla_tr before insert or update on pla_t for each row execute function pla_tr(); insert into pla_t values (2, '{q}', null); update pla_t set id = id + 1; table pla_t
create domain pla_d as pla_o check ((value).l[1] is distinct from 'bad')
do $$ declare r pla_d; begin r.l[2] := 'x'; r.l[1] := 'good'; raise notice '%', r; r.l := r.l || 'more'::text; r.l[1] := 'bad'; end $$
do $$ declare a text[] := '{a}'; begin for i in 1..3 loop a[2] := clock_timestamp()::text; a[2] := pg_backend_pid() > 0; a := a || (i || txid_current_if_assigned()::text is null)::text; end loop; raise notice '%', a; end $$
do $$ declare a int2vector := '1 2'; begin raise notice '% %', a, a[1]; a[0] := 7; end $$
do $$ declare a text[]; begin a[1] := a[1] || 'null'; a[1] := coalesce(a[1], 'x'); a[2] := array_to_string(a, ',', '-'); a[3] := array_position(a, a[1]); raise notice '% % %', a, a @> array['x'], array_remove(a, 'x'); end $$
do $$ declare r pla_o; begin r.l := r.l || 'a'; end $$
drop table pla_t; drop function pla_tr, pla_f, pla_g; drop procedure pla_p; drop domain pla_d; drop type pla_o, pla_c
create type pla_o as (n int, l text[], m int[])
do $$ declare r pla_o; begin for i in 1..2000 loop r.l[i] := 'x' || i; r.n := length(r.l[i]); r.m[i] := r.n; end loop; r.l := array[r.l[1], r.l[2000]]; r.n := r.m[2000]; raise notice '% % %', r.l, r.n, cardinality(r.m); r.m := null; raise notice '% %', r, r.m[1]; r.m[2] := 1; raise notice '%', r; end $$
drop type pla_o
