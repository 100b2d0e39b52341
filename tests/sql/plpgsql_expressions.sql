-- Expressions over variables of all kinds: results, NULLs, errors with their contexts, and records whose structures change.
create schema plpgsql_expressions
set search_path = plpgsql_expressions, public
create function calc(a int, b int, c bigint) returns text language plpgsql as $$ declare x int; y bigint; z boolean; begin x := a + b; y := c - a * b; z := a < b and c > y or a is null; return concat_ws(',', x, y, z, a % nullif(b, 0), c / nullif(b, 0)); end $$
select calc([[0¦-7¦2147483647¦null]], [[0¦3¦-1¦null]], [[5¦-9223372036854775808¦null]])
create function narrow(a int, op text, b int) returns int language plpgsql as $$ declare r int; begin for i in 1..3 loop if op = '+' then r := a + b; elsif op = '-' then r := a - b; elsif op = '*' then r := a * b; elsif op = '/' then r := a / b; else r := a % b; end if; end loop; return r; end $$
select narrow([[2147483647¦-2147483648¦7]], '[[+¦-¦*¦/¦%]]', [[1¦-1¦0¦-2147483648]])
create function wide(a bigint, op text, b bigint) returns bigint language plpgsql as $$ declare r bigint; begin for i in 1..3 loop case op when '+' then r := a + b; when '-' then r := a - b; when '*' then r := a * b; when '/' then r := a / b; else r := a % b; end case; end loop; return r; end $$
select wide([[9223372036854775807¦-9223372036854775808¦7]], '[[+¦-¦*¦/¦%]]', [[1¦-1¦0]])
create function mixed(a int, b bigint, s smallint) returns text language plpgsql as $$ begin for i in 1..3 loop a := a + s; b := b + s; s := s + 1::smallint; if s > a and s < b or a >= s then a := a - s; end if; end loop; return a || ' ' || b || ' ' || s || ' ' || (a = b) || (s = a); end $$
select mixed(1, 2, 3::smallint), mixed(-5, 7, 32760::smallint), mixed(null, 7, 5::smallint)
select mixed(1, 2, 32767::smallint)
create function floats(a float8, b float8) returns text language plpgsql as $$ declare x float8; y real; k int := 0; begin for i in 1..3 loop x := a * i + b / 2; y := x / 3; if x > b and a <= x then k := k + 1; end if; x := -x; k := k + sign(x)::int; end loop; return x || ' ' || y || ' ' || k || ' ' || (x = 'nan'::float8); end $$
select floats([[1.5¦-2e300¦'nan'¦'infinity'¦null]], [[0¦3.25¦'nan'¦-1e308¦null]])
create function divided(a float8, b float8) returns float8 language plpgsql as $$ declare x float8; begin for i in 1..2 loop x := a / b; end loop; return x; end $$
select divided([[1¦1e308¦1e-308¦'nan']], [[0¦1e-10¦1e300¦'nan']])
create function powered(a float8) returns float8 language plpgsql as $$ declare x float8 := 1; begin loop x := x * a; exit when abs(x) > 1e3; end loop; return x * x * exp(a); end $$
select powered(3), powered(-2.5)
select powered(1e200)
create function dates(d date, n int) returns text language plpgsql as $$ declare e date := d; t timestamp := d; k int := 0; begin for i in 1..n loop e := e + 1; t := t + interval '1 hour'; if e > d and t > d and t < e then k := k + 1; end if; end loop; return e || ' ' || t || ' ' || k || ' ' || (e - d); end $$
select dates('2000-02-28', 3), dates('infinity', 2), dates(null, 1)
select dates('5874897-12-31', 1)
create function zones(a timestamptz, b timestamptz) returns text language plpgsql as $$ declare r text := ''; begin for i in 1..2 loop r := case when a < b then 'less' when a = b then 'equal' when a > b then 'more' else 'unknown' end; end loop; return r; end $$
select zones('2000-01-01 00:00:00+00', '[[2000-01-01 01:00:00+01¦1999-01-01 00:00:00+00¦infinity]]')
select zones(null, '2000-01-01 00:00:00+00')
create function texts(t text, v varchar(5), c char(6), n name) returns text language plpgsql as $$ declare r text := ''; k int := 0; begin for i in 1..3 loop if length(t) > 2 then k := k + 1; end if; if t = v or v = c or n = t then k := k + 10; end if; if t is null then k := k + 100; end if; if v is not null then k := k + 1000; end if; r := t || v || i || upper(c) || n; end loop; return k || ':' || coalesce(r, 'null') || ':' || (t < v) || ':' || length(c); end $$
select texts('[[abc¦ab¦]]', '[[abc¦ab]]', '[[abc¦ab]]', 'ab')
select texts(null, 'a', 'a', 'a'), texts('a', null, 'a', 'a')
create function patterns(t text) returns int language plpgsql as $$ declare k int := 0; begin for i in 1..3 loop if t like 'a%' then k := k + 1; end if; if t ~ '^a.*[0-9]$' then k := k + 10; end if; if t similar to '(a|b)%' then k := k + 100; end if; if not t ilike '%B%' then k := k + 1000; end if; t := t || i; end loop; return k; end $$
select patterns('[[abc¦b¦a1]]'), patterns(null)
create function conditions(a int, b text) returns text language plpgsql as $$ declare r text := ''; x int; y boolean; begin for i in 1..4 loop x := case when a > i then a when a = i then 0 end; y := coalesce(x > 1, b = 'x', false); r := r || coalesce(x, -1) || case when y then 't' else 'f' end || (case a when 1 then 'one' when 2 then 'two' else 'many' end); x := case when b is null then 1 / (a - i) else greatest(a, i, x) end; end loop; return r || x; end $$
select conditions([[0¦2¦5¦null]], [['x'¦'y']])
select conditions(3, null)
create function nested_error(a int) returns int language plpgsql as $$ declare x int := 0; begin for i in 0..2 loop x := x + length(repeat('a', 10 / (a - i))); end loop; return x; end $$
select nested_error(5)
select nested_error(1)
create function caught(a int) returns text language plpgsql as $$ declare x int := 0; r text := ''; begin for i in 0..3 loop begin x := abs(10 / (a - i)); r := r || x || ' '; exception when division_by_zero then get stacked diagnostics r = pg_exception_context; r := r || sqlerrm || ' '; end; end loop; return r; end $$
select caught(1), caught(9)
create function recursive_failure(n int) returns int language plpgsql as $$ begin if n = 0 then return 1 / n; end if; begin return recursive_failure(n - 1) + 1; exception when division_by_zero then return n * 100; end; end $$
select recursive_failure(3), recursive_failure(1)
select recursive_failure(0)
create domain positive as int check (value > 0)
create function domains(a int) returns positive language plpgsql as $$ declare p positive := 1; q int; begin for i in 1..3 loop p := p + a; q := p * 2; a := q - p; end loop; return p; end $$
select domains(2)
select domains(-1)
create function modifiers(a numeric) returns text language plpgsql as $$ declare n numeric(6, 2) := 0; v varchar(4); f numeric; begin for i in 1..3 loop n := n + a; f := f + a; f := coalesce(f, 0) + n; v := 'ab' || i; end loop; return n || ' ' || f || ' ' || v; end $$
select modifiers(1.005), modifiers(-0.333), modifiers(null)
select modifiers(9999)
create function not_nulls(a int) returns int language plpgsql as $$ declare x int not null := 1; begin for i in 1..3 loop x := x + a; end loop; return x; end $$
select not_nulls(1)
select not_nulls(null)
create function arrays(n int) returns text language plpgsql as $$ declare a int[] := '{}'; t text[]; s bigint := 0; begin for i in 1..n loop a[i] := i * i; t := t || ('x' || i); s := s + a[i] + coalesce(array_length(a, 1), 0) + cardinality(a); if a[i] = any (array[4, 9]) then s := s + 1000; end if; end loop; return a::text || t::text || s || coalesce(array_upper(a, 1), -1); end $$
select arrays(0), arrays(1), arrays(4)
-- Records: their fields, structures that change, and rows that are shared.
create type pair as (x int, y text)
create type triple as (y text, x bigint, z numeric)
create table rows_of_pairs (x int, y text, a int[])
insert into rows_of_pairs select g, 'r' || g, array[g, g + 1] from generate_series(1, 120) g
create function fields_of(n int) returns text language plpgsql as $$ declare p pair; r record; q pair; k bigint := 0; begin p.x := 1; p.y := 'a'; r := p; for i in 1..n loop p.x := p.x + i; r.x := p.x * 2; q := p; q.x := q.x - 1; p.y := p.y || i; if p.y <> 'a' and r.x > q.x then k := k + r.x; end if; end loop; return p::text || r::text || q::text || k; end $$
select fields_of(0), fields_of(3)
create function changing(n int) returns text language plpgsql as $$ declare r record; s text := ''; begin for i in 1..n loop if i % 2 = 0 then r := row(i, 'two')::pair; else r := row('one', i, 0.5)::triple; end if; s := s || r.y || ' '; end loop; return s; end $$
select changing(1), changing(4)
create function changing_type(n int) returns text language plpgsql as $$ declare r record; s text := ''; begin for i in 1..n loop if i < 3 then select i as x, 'b' as y into r; else select 'c'::text as x, i::bigint as y into r; end if; s := s || r.x || r.y; end loop; return s; end $$
select changing_type(2)
select changing_type(3)
create function no_field(n int) returns text language plpgsql as $$ declare r record; s text := ''; begin for i in 1..n loop if i < 3 then select i as x into r; else select i as z into r; end if; s := s || r.x; end loop; return s; end $$
select no_field(2)
select no_field(3)
create function unassigned(n int) returns int language plpgsql as $$ declare r record; p pair; k int := 0; begin k := coalesce(p.x, 7); if p is null then k := k + 1; end if; p.x := k; p := null; k := coalesce(p.x, 9); if n > 0 then k := r.x; end if; return k; end $$
select unassigned(0)
select unassigned(1)
create function loop_record() returns text language plpgsql as $$ declare r record; k bigint := 0; s text := ''; q record; begin for r in select x, y from rows_of_pairs order by x loop k := k + r.x; if r.x = 3 then q := r; r.x := 1000; r.y := 'changed'; s := s || r.y || r.x; end if; if r.x = 70 then r := q; s := s || r.y; end if; if r.x = 100 then r := row('other', 5, 1)::triple; s := s || r.y || r.x; end if; end loop; return k || s || q::text || r::text; end $$
select loop_record(), loop_record()
create function loop_pair() returns text language plpgsql as $$ declare p pair; q pair; k bigint := 0; begin for p in select x, y from rows_of_pairs order by x loop k := k + p.x; if p.x % 50 = 0 then q := p; p.y := null; p.x := p.x + 1; end if; if p.y is null then k := k + 10000; end if; end loop; return k || q::text || p::text; end $$
select loop_pair(), loop_pair()
create function loop_converted() returns text language plpgsql as $$ declare p triple; k numeric := 0; begin for p in select y, x, x / 3.0 from rows_of_pairs order by x loop k := k + p.z + p.x; end loop; return round(k, 3) || p.y; end $$
select loop_converted(), loop_converted()
create function loop_arrays() returns text language plpgsql as $$ declare r rows_of_pairs; k bigint := 0; b int[]; begin for r in select * from rows_of_pairs order by x loop k := k + r.a[1]; r.a[2] := 7; r.a := r.a || 1; if r.x = 60 then b := r.a; end if; k := k + r.a[2] + array_length(r.a, 1); end loop; return k || b::text || r.a::text; end $$
select loop_arrays(), loop_arrays()
create function loop_list(n int) returns text language plpgsql as $$ declare a int; b text; c varchar(2); d bigint; k bigint := 0; begin for a, b in select x, y from rows_of_pairs order by x limit n loop k := k + a + length(b); a := 0; b := null; end loop; for a, c in select x, y from rows_of_pairs order by x limit 5 loop k := k + length(c); end loop; for d, b in select x, y from rows_of_pairs order by x limit 5 loop k := k + d; end loop; for a, b in select null, null loop k := k + 1; end loop; return k || coalesce(b, 'null') || coalesce(a, -1); end $$
select loop_list(0), loop_list(1), loop_list(100)
create function loop_not_null() returns int language plpgsql as $$ declare a int not null := 0; k int := 0; begin for a in select nullif(x, 3) from rows_of_pairs order by x loop k := k + a; end loop; return k; end $$
select loop_not_null()
create function loop_empty() returns text language plpgsql as $$ declare r record; p pair; begin for r in select x, y from rows_of_pairs where x < 0 loop null; end loop; for p in select x, y from rows_of_pairs where x < 0 loop null; end loop; return coalesce(r.x::text, 'null') || (p is null) || found; end $$
select loop_empty()
create function loop_nested() returns text language plpgsql as $$ declare r record; s record; k bigint := 0; begin for r in select x, y from rows_of_pairs where x <= 20 order by x loop for s in select x + r.x as x from rows_of_pairs where x <= r.x order by x loop k := k + s.x * r.x; continue when s.x % 3 = 0; r.x := r.x; end loop; exit when r.x > 15; end loop; return k || r.y || s.x; end $$
select loop_nested()
create function loop_dynamic(t text) returns text language plpgsql as $$ declare r record; s text := ''; begin for r in execute t loop s := s || r.x || ';'; end loop; return s; end $$
select loop_dynamic('select 1 as x union all select 2 order by 1'), loop_dynamic('select ''a''::text as x'), loop_dynamic('select 1.5 as x, 2 as y')
create function changed_table() returns text language plpgsql as $$ declare r record; p rows_of_pairs; s text := ''; begin for r in select * from rows_of_pairs where x < 3 order by x loop s := s || r.x || r.y; end loop; for p in select * from rows_of_pairs where x < 3 order by x loop p.y := p.y || '!'; s := s || p.y || p.x; end loop; return s; end $$
select changed_table()
alter table rows_of_pairs add column w int default 5
select changed_table()
alter table rows_of_pairs drop column a
select changed_table()
create domain checked as pair check ((value).x < 5)
create function domain_fields(n int) returns text language plpgsql as $$ declare c checked; begin c := row(1, 'a'); for i in 1..n loop c.x := c.x + 1; end loop; return c::text; end $$
select domain_fields(2)
select domain_fields(5)
create function loop_domain(n int) returns text language plpgsql as $$ declare c checked; k int := 0; begin for c in select g, 'a' from generate_series(1, n) g loop k := k + c.x; end loop; return k || c::text; end $$
select loop_domain(4)
select loop_domain(5)
-- Row triggers that return the new row, another row, or the row of another variable.
create table audited (id int, v int, t text, a int[], g int generated always as (id * 2) stored)
create function change_row() returns trigger language plpgsql as $$ declare r record; begin case new.id when 1 then return new; when 2 then new.v := new.v + 1; when 3 then new.t := new.t || '!'; when 4 then r := new; r.v := 40; return r; when 5 then r := new; new.v := 50; return r; when 6 then r := new; return r; when 7 then new.a[2] := 9; when 8 then new.v := null; new.t := null; when 9 then return null; when 10 then new := row(11, 12, 'x', null, null)::audited; when 12 then new.v := new.v; new.t := new.id; when 13 then r := new; new.v := 1; r := new; r.v := 2; new := r; else new.v := 1 / (new.id - 14); end case; return new; end $$
create trigger change_row before insert or update on audited for each row execute function change_row()
insert into audited select i, i * 10, 't' || i, array[i, i] from generate_series(1, 13) i
select * from audited order by id
update audited set v = v + 1 where id < 9
select * from audited order by id
insert into audited values (14, 1)
insert into audited values (15, 1)
select count(*) from audited
create function keep_old() returns trigger language plpgsql as $$ declare k int := 0; begin if new.v is distinct from old.v and new.v > old.v then new.t := 'from ' || old.v || ' to ' || new.v; k := new.v - old.v; elsif new.v < old.v then return old; end if; if k > 5 then new.v := old.v + 5; end if; return new; end $$
create trigger keep_old before update on audited for each row execute function keep_old()
update audited set v = v + id where id between 1 and 3
update audited set v = v - 1 where id = 6
update audited set v = v + 100 where id = 12
select * from audited order by id
alter table audited add column extra text default 'e'
update audited set v = v + 1 where id = 6
drop trigger keep_old on audited
drop trigger change_row on audited
select * from audited order by id
-- Calls of functions from functions, and functions that are replaced while instances of them are kept.
create function inner_call(a int) returns int language plpgsql immutable as $$ begin return a * 2; end $$
create function outer_call(n int) returns bigint language plpgsql as $$ declare s bigint := 0; begin for i in 1..n loop s := s + inner_call(i); end loop; return s; end $$
select outer_call(10)
create or replace function inner_call(a int) returns int language plpgsql immutable as $$ declare t text := 'x'; begin return a * 3 + length(t); end $$
select outer_call(10)
create or replace function inner_call(a int) returns int language plpgsql immutable as $$ begin raise notice 'called with %', a; return 1 / (a - 2); end $$
select outer_call(1)
select outer_call(3)
discard plans
select outer_call(1)
create function left_over(a int) returns text language plpgsql as $$ declare x int; y text; r record; p pair; begin if a > 0 then x := a; y := 'set'; p.x := a; select a as z into r; end if; return coalesce(x, -1) || coalesce(y, 'null') || coalesce(p.x, -1) || (r is null); end $$
select left_over(1), left_over(0), left_over(2), left_over(0)
drop schema plpgsql_expressions cascade
