create extension hstore
select '[[¦a=>b¦ a => b , c=>NULL¦"a b"=>"c\"d", "x\\y"=>"",""=>"null"¦a=>1, a=>2¦"=>"=>x¦a=>b,¦a\ b=>c¦aa=>null,b=>"NULL",ccc=>NuLl¦a=¦a¦=>b¦a=>¦a=>"b¦a=>b c¦a=b¦a=>b,,c=>d¦"a"b=>c¦a=>\¦é=>ü, x=>é é]]'::hstore
select k, 'a=>1, bb=>2, c=>NULL'::hstore -> k, 'a=>1, bb=>2, c=>NULL'::hstore ? k, exist('a=>1, c=>NULL', k), defined('a=>1, c=>NULL', k) from unnest(array['a', 'bb', 'c', 'd', '']) k
select 'a=>1, b=>2, c=>NULL'::hstore -> array['a', 'c', 'x', null], slice('a=>1, b=>2, c=>NULL', array['c', 'a', 'x', 'a']), 'a=>1'::hstore ?| array['x', 'a'], 'a=>1'::hstore ?& array['x', 'a'], 'a=>1'::hstore ?| '{}', 'a=>1'::hstore ?& '{}', 'a=>1'::hstore -> '{{a,b}}'::text[]
select 'a=>1, b=>2'::hstore - 'a'::text, 'a=>1, b=>2'::hstore - array['a', 'x'], 'a=>1, b=>2, c=>NULL'::hstore - 'a=>1, b=>3, c=>NULL'::hstore, delete('a=>1, b=>2', 'b'), 'a=>1, b=>2'::hstore || 'b=>3, c=>4', ''::hstore || 'a=>b'
select 'a=>1, b=>2, c=>NULL'::hstore @> '[[a=>1¦a=>2¦¦c=>NULL¦x=>NULL]]', 'a=>1' <@ 'a=>1, b=>2'::hstore, hs_contains('a=>1', 'a=>1')
select hstore('k', 'v'), hstore('k', null), hstore(null, 'v'), hstore(array['a', 'b'], array['1', null]), hstore(array['a', 'b'], null), hstore('{a,1,b,NULL}'::text[]), hstore('{{a,1},{b,2}}'::text[]), hstore('{}'::text[]), '{a,b}'::text[]::hstore, tconvert('x', 'y')
select hstore([[array['a', null], array['1', '2']¦array['a'], array['1', '2']¦'{{a,b}}', '{1,2}'¦'{a}', '{{1}}'¦'{a,b,c}'::text[]¦'{{a,b,c}}'::text[]¦'{{{a,b}}}'::text[]¦'{NULL,b}'::text[]]])
select akeys(h), avals(h), %% h, %# h, hstore_to_array(h), hstore_to_matrix(h), array(select skeys(h)), array(select svals(h)) from (values ('b=>1, aa=>NULL, c=>x'::hstore), ('')) v(h)
select * from each('b=>1, aa=>NULL'::hstore)
select skeys('a=>1,b=>2'), svals('a=>1,b=>NULL')
select hstore_to_json(h), hstore_to_json_loose(h), hstore_to_jsonb(h), hstore_to_jsonb_loose(h), h::json, h::jsonb from (values ('a=>1, b=>t, c=>NULL, d=>"x\"y", e=>1e5, f=>-0.5, g=>01, h=>f, i=>1., k=>"tab	x"'::hstore), ('')) v(h)
create type hs_row as (a int, b text, "C d" date)
select hstore(row(1, 'x', '2024-01-02')::hs_row), hstore(null::hs_row), hstore(row(1, 2, null)), populate_record(null::hs_row, 'a=>5, b=>q, zz=>1'), row(1, 'x', null)::hs_row #= 'b=>NULL, "C d"=>2024-05-06', populate_record(row(1, 'x', null)::hs_row, ''), populate_record(row(1, 'x', null)::hs_row, null)
select populate_record(null::hs_row, 'a=>x')
select populate_record(1, 'a=>x')
create domain hs_d as int not null
create type hs_row2 as (a hs_d, b text)
select populate_record(null::hs_row2, 'b=>x')
select populate_record(null::hs_row2, 'a=>7')
create table hs_t (id int, h hstore)
insert into hs_t select i, hstore(array['k' || i % 7, 'n'], array[i::text, null]) from generate_series(1, 50) i
insert into hs_t values (100, 'a=>1'), (101, 'a=>1'), (102, ''), (103, null), (104, 'a=>NULL'), (105, 'a=>"NULL"')
select count(distinct h), count(*) from hs_t
select id from hs_t where h = 'a=>1' order by id
select h from hs_t where id >= 100 group by h order by h
select a.h #< b.h, a.h #<= b.h, a.h #> b.h, a.h #>= b.h, a.h = b.h, a.h <> b.h, hstore_cmp(a.h, b.h) from hs_t a, hs_t b where a.id in (1, 8, 100, 102, 104) and b.id in (1, 100, 102, 105) order by a.id, b.id
create index hs_b on hs_t using btree (h)
create index hs_h on hs_t using hash (h)
set enable_seqscan = off
select id from hs_t where h = 'a=>1' order by id
reset enable_seqscan
update hs_t set h = h || hstore('new', id::text) where id = 100
select h -> 'new' from hs_t where id = 100
select h->'k1' v, count(*) from hs_t where h ? 'k1' group by 1 order by 1 limit 3
select hstore_hash('a=>1, b=>NULL'), hstore_hash_extended('a=>1', 5), hstore_version_diag('a=>1'), hstore_send('a=>1, b=>NULL')
drop table hs_t
drop extension hstore
drop extension hstore cascade
drop type hs_row, hs_row2
drop domain hs_d
create table hsub (id int, h hstore)
insert into hsub values (1, 'a=>1,b=>2'), (2, null), (3, '')
select id, h['a'], h['c'], h[null], h[id], h[lower('B')] from hsub order by id
update hsub set h['a'] = 'new', h['x'] = 'y', h['q'] = null where id = [[1¦2¦3]]
select * from hsub order by id
update hsub set h[null] = 'z'
update hsub set h['n'] = [[1¦now()¦'x'::varchar]] where id = 3
select [[h['a']['b']¦h['a':'b']¦h[:]¦h[row(1,2)]¦h[1.5]¦h[now()] is null]] from hsub
insert into hsub (id, h['k'], h['l']) values (4, 'v', null)
create view hsubv as select id, h['a'] as x, pg_typeof(h['a']) as t from hsub
select pg_get_viewdef('hsubv')
select * from hsubv order by id
do $$ declare x hstore := 'a=>1'; begin x['b'] := 'two'; x['a'] := null; raise notice '% %', x, x['b']; end $$
create domain hsubd as hstore
create table hsub2 (h hsubd, c hstore[])
insert into hsub2 values ('a=>1', array['a=>1'::hstore, 'b=>2'])
update hsub2 set h['z'] = 1::text, c[1]['y'] = 'yy'
select h['z'], c[1]['a'], (c[1])['a'], (c[2])['b'] from hsub2
select count(*) from pg_init_privs where privtype = 'e'
grant select on hsub to public
grant select (h) on hsub2 to public
alter extension hstore add table [[hsub¦hsub2]]
select objoid::regclass, classoid::regclass, objsubid, privtype, initprivs from pg_init_privs where privtype = 'e' order by 1, 3
alter extension hstore drop table [[hsub¦hsub2]]
select objoid::regclass, classoid::regclass, objsubid, privtype, initprivs from pg_init_privs where privtype = 'e' order by 1, 3
select pg_extension_config_dump('hsub', 'where true')
select * from pg_extension_update_paths('[[a--b¦¦-x]]')
drop view hsubv; drop table hsub, hsub2; drop domain hsubd
