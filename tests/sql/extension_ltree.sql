create extension ltree
select '[[¦a¦a.b.c¦Top.Science.Astronomy_2¦1.2.3¦_¦é.ü¦a-b¦.a¦a.¦a..b¦a b¦a.b*¦ a¦Ä_1.日本]]'::ltree
select repeat('a', 255)::ltree = repeat('a', 255)::ltree, nlevel((repeat('a.', 100) || 'b')::ltree)
select ('x.' || repeat('a', [[256¦300]]) || '[[¦.b]]')::ltree
select length(repeat('a.', 70000)::ltree::text)
select '[[*¦*.a¦a.*¦a.*{2}.b¦a.*{2,}.b¦a.*{,3}.b¦a.*{1,4}¦a{2}¦a{,}¦a{1,3}.b¦a{,2}¦!a¦!a.b¦a|b|c.d¦a@¦a*¦a%¦a%@*¦!a@|b%.c*¦a_b%.*.!x{2}¦é@*¦1.*.2]]'::lquery
select '[[¦.¦a.¦.a¦a..b¦a|¦|a¦a||b¦!¦!.a¦!!a¦a!¦**¦*a¦a*b¦a@b¦a.*{}¦a.*{x}¦a.*{1¦a.*{1,¦a.*{3,1}¦a.*{70000}¦a.*{1,70000}¦a.*{99999999999}¦a{1}b¦a.*{2}b¦a b¦ a¦*.*{,}x¦@¦a.@¦a|*¦a{1,2}.¦a-b]]'::lquery
select ('a.' || repeat('b', 256) || '[[¦@¦|c¦{2}]]')::lquery
select ('a' || repeat('|b', [[10¦10000]]))::lquery is null
select '[[a¦a & b¦a|b¦a & b | c¦!a¦!(a & b)¦!!a¦(a|b) & c¦a*@%¦a* & !b@ | c%¦é & 日本¦a&b|c&d¦((a))¦1]]'::ltxtquery
select '[[¦ ¦a &¦& a¦a b¦(a¦a)¦()¦!¦a*b¦a-b¦a & ()¦a | | b¦(a|b)(c)¦a é¦a;b]]'::ltxtquery
select repeat('a', [[255¦256¦70000]])::ltxtquery is null
select ('a' || repeat(' & !a', 40))::ltxtquery is null
select pg_column_size('[[a.b.cde¦¦é]]'::ltree), pg_column_size('[[a.*{2}.b@|cc*¦*]]'::lquery), pg_column_size('[[a & !bb¦c]]'::ltxtquery)
select ltree_send('a.b'), lquery_send('a.*{1,2}'), ltxtq_send('a & b*')
create table lt (id int, p ltree)
insert into lt select row_number() over (), p::ltree from unnest(array['', 'Top', 'Top.Science', 'Top.Science.Astronomy', 'Top.Science.Astronomy.Astrophysics', 'Top.Science.Astronomy.Cosmology', 'Top.Hobbies', 'Top.Hobbies.Amateurs_Astronomy', 'Top.Collections.Pictures.Astronomy.Stars', 'top.science', 'a.b.c', 'a.b', 'a.bb', 'ab', null]) p
select a.p, b.p, a.p < b.p, a.p <= b.p, a.p = b.p, a.p <> b.p, a.p >= b.p, a.p > b.p, sign(ltree_cmp(a.p, b.p)), a.p @> b.p, a.p <@ b.p, a.p ^@> b.p, a.p ^<@ b.p from lt a, lt b where a.id in (1, 2, 3, 4, 10, 11, 12, 13, 14) and b.id in (1, 3, 5, 10, 12, 14)
select p, nlevel(p), index(p, 'Science'), index(p, 'Astronomy.Stars', -2), index(p, 'b', 1), index(p, ''), p || 'x.y', p || 'z'::ltree, 'q.r' || p, ltree2text(p) from lt order by p
select subltree('a.b.c.d', [[0, 1¦1, 3¦0, 9¦2, 2¦3, 1¦-1, 2¦4, 4]])
select subpath('a.b.c.d', [[0¦1¦-1¦-2¦4¦-5¦-9]])
select subpath('a.b.c.d', [[0, 2¦1, 2¦-2, 1¦0, -1¦1, -2¦-3, -1¦0, 9¦2, -3¦1, 2147483647]])
select index('a.b.c.d.b.c', 'b.c', [[0¦1¦2¦-1¦-2¦-3¦-9¦9]])
select lca('a.b.c', 'a.b.d'), lca('a.b', 'a.b.c', 'a.b.c.d'), lca('a', 'a'), lca('', 'a.b'), lca('a.b.c', 'x.y'), lca('a.b.c.d', 'a.b.c.d'), lca('1.2', '1.2.3', '1.2.3.4', '1.2.3.5', '1.2.6')
select lca(array['a.b.c', 'a.b.d', 'a.b']::ltree[]), lca('{}'::ltree[]), lca(array['a.b', null]::ltree[]), lca('{{a.b,a.c},{a.d,a.e}}'::ltree[])
select lca(array['a.b.c', 'a.b.c.d']::ltree[])
select text2ltree('a.b'), text2ltree('a..b')
select id from lt where p ~ '[[*.Astronomy.*¦*.!pictures@.*.Astronomy.*¦Top.*{0,2}.sport*@|astro*@.*¦*¦!Top.*¦Top¦Top.*{1}¦Top.*{2,}¦*{0}¦*{1}¦*{,1}¦*.*.*¦Top.*.*.Stars¦top@.science@.*¦*.Amateurs%.*¦*.ama_astro%@*.*¦*.Astronomy{1}.*¦a.b|bb.*¦a.!b.*¦!a{2}.*¦Top.!Science{1,}¦*.Top{2}¦!*¦Top.Sci*.*¦*.astro*]]' order by id
select '[[*.b.*¦a.*]]'::lquery ~ 'a.b.c'::ltree, 'a.b.c' ^~ 'a.*'::lquery, 'a.*'::lquery ^~ 'a.b.c'::ltree
select id from lt where p @ '[[Astronomy & Top¦astro*@¦!Science & Top¦Science | Hobbies¦Science | b & !c¦ama% ¦Amateurs_Ast*% & Top¦astronomy%@¦!(Top | a)¦!!Top]]' order by id
select 'Top & x'::ltxtquery @ 'Top.a'::ltree, 'Top.x' ^@ 'Top & x'::ltxtquery
select id from lt where p ? array['a.*', '*.Stars']::lquery[] order by id
select array['z.*', 'a.b']::lquery[] ? 'a.b'::ltree, 'a.b'::ltree ? '{}'::lquery[], 'a.b' ^? '{a.*}'::lquery[]
select 'a.b'::ltree ? '{{a},{b}}'::lquery[]
select 'a.b'::ltree ? '{a,NULL}'::lquery[]
select t @> 'a.b.c.d', t <@ 'a', 'a.b.c' <@ t, 'a' @> t, t ~ '*.c', '*.c'::lquery ~ t, t @ 'b & c', 'b & c'::ltxtquery @ t, t ? '{x,*.c}'::lquery[], '{x,*.c}'::lquery[] ? t from (values (array['x.y', 'a.b.c', 'a']::ltree[]), ('{}')) v (t)
select t ?@> 'a.b.c.d', t ?<@ 'a', t ?~ '*.c', t ?@ 'b & c' from (values (array['x.y', 'a.b.c', 'a']::ltree[]), ('{}')) v (t)
select '{{a},{b}}'::ltree[] @> 'a'
select '{a,NULL}'::ltree[] ~ 'a'
create index lt_b on lt (p)
set enable_seqscan = off
explain (costs off) select * from lt where p = 'Top.Science'
select id from lt where p >= 'Top.Science' and p < 'Top.Sciencf' order by p
select id from lt order by p desc nulls last limit 3
create unique index on lt (p)
insert into lt values (99, 'Top')
reset enable_seqscan
select p, count(*) from lt group by p having count(*) > 1
select distinct subpath(p, 0, 1) from lt where nlevel(p) > 0 order by 1
select count(*) from lt a join lt b on a.p = b.p
create index lt_g on lt using gin (p)
select array_agg(p order by p) from lt where p <@ 'Top.Science'
select max(id), p from lt where p is not null group by p order by p limit 2
select ''::ltree_gist
copy lt to stdout
select 'b' in (select 'a' || '') , p::text from lt where p::text like 'a.%' order by 2
select opcname, amname, opcdefault from pg_opclass join pg_am a on a.oid = opcmethod where opcname like '%ltree%' order by 1
select oprname, oprleft::regtype, oprright::regtype, oprcode, oprrest, oprjoin from pg_operator where oprleft::regtype::text like '%l%t%ree%' order by 1, 2, 3
drop table lt
drop extension ltree
