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
