-- Casts to json, which the constructors of json use for types that are not built in.
create extension hstore
select to_json('a=>1, b=>NULL'::hstore), to_jsonb('a=>1, b=>NULL'::hstore)
select to_json(array['a=>1'::hstore, null]), to_jsonb(array['a=>1'::hstore, null])
create domain jc_pairs as hstore
select to_json('a=>1'::jc_pairs), to_jsonb('a=>1'::jc_pairs), to_json(array['a=>1'::jc_pairs])
create table jc (h hstore, d jc_pairs, l hstore[])
insert into jc values ('a=>1', 'b=>"2 3"', array['c=>t'::hstore]), (null, null, null)
select row_to_json(jc), to_jsonb(jc) from jc
select json_agg(h), jsonb_agg(h), json_agg(jc), jsonb_agg(jc) from jc
select json_build_array(h, d), json_build_object('h', h), jsonb_build_array(h, d), jsonb_build_object('h', h) from jc
select json_object_agg('k', h), jsonb_object_agg('k', h) from jc
select array_to_json(l), json_build_array(variadic l) from jc
select [[json¦jsonb]]_build_object(h, 1) from jc where h is not null
select [[json¦jsonb]]_object_agg(h, 1) from jc where h is not null
create type jc_colour as enum ('red', 'green')
select to_json('red'::jc_colour), to_jsonb('red'::jc_colour), json_build_object('red'::jc_colour, 1)
create function jc_cast(jc_colour) returns json language sql as $$select json_build_object('colour', $1::text)$$
create cast (jc_colour as json) with function jc_cast(jc_colour)
select to_json('red'::jc_colour), to_jsonb('red'::jc_colour), to_json(array['red'::jc_colour])
select json_build_object('red'::jc_colour, 1)
select jsonb_build_object('red'::jc_colour, 1)
create or replace function jc_cast(jc_colour) returns json language [[sql as 'select null::json'¦plpgsql as 'begin return ''[1, 2]''; end'¦plpgsql as 'begin return ''1 2''::text; end'¦plpgsql as 'begin raise exception ''no json''; end']]
select [[to_json('red'::jc_colour)¦to_jsonb('red'::jc_colour)¦json_agg('red'::jc_colour)¦jsonb_agg('red'::jc_colour)]]
drop cast (jc_colour as json)
create cast (jc_colour as json) with inout
select to_json('red'::jc_colour), to_jsonb('green'::jc_colour)
drop cast (jc_colour as json)
create type jc_row as (a int)
create function jc_row_cast(jc_row) returns json language sql as $$select '7'::json$$
create cast (jc_row as json) with function jc_row_cast(jc_row)
select to_json(row(1)::jc_row), to_jsonb(row(1)::jc_row)
create function jc_typmod(jc_pairs, int, bool) returns json language sql as $$select json_build_array($2, $3)$$
create function jc_base(hstore, int, bool) returns json language sql as $$select '"own"'::json$$
create cast (jc_colour as jsonb) with inout
select to_jsonb('red'::jc_colour)
create domain jc_int as int
create function jc_int_cast(jc_int) returns json language sql as $$select '8'::json$$
create cast (jc_int as json) with function jc_int_cast(jc_int)
select to_json(1::jc_int)
