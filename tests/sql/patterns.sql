-- Regular expressions: the chosen match and its groups, constraints, back references, errors.
SELECT regexp_match('[[abcd¦llmmmfff¦foo/bar/baz¦aabb]]', '[[(a|ab)(c|bcd)(d*)¦^(l*){1,1}?(.*)(f*)$¦^(l*?){1,1}(.*)(f*)$¦^([^/]+?)(?:/([^/]+?))(?:/([^/]+?))?$¦(a*?)(b+)¦(a*)+?b]]')
SELECT regexp_match('[[XY1234Z¦xb¦babbb¦]]', '[[Y*([0-9]{1,3})¦Y*?([0-9]{1,3})¦(?:Y*?)([0-9]{1,3})?¦((x)|(b))*¦(x|)*b¦b(b{0,}?){0,}?¦()*¦(x*)*]]')
SELECT regexp_match('[[ababab¦bbbb¦abcabc]]', '[[(ab)*¦((a)|(b))*¦(b){2}¦(b{1,2}){2}?¦(?:(a)|b)*¦(abc|ab|a)(c|bca)?]]')
SELECT regexp_matches('[[foobar¦ab xb¦a]]', '[[a(?=b)b*¦(?<=foo)b+¦a(?!b)b*¦(?<!a)b¦\mb¦b\M¦(?=(a))a¦\y.\Y?¦(?<=o+)b]]'[[¦, 'g']])
SELECT '[[bbbbb¦bbc¦abc abc abc¦abc abd¦foobarrbazz¦Programmer¦]]' ~ '[[^([bc])\1*$¦^(\w+)( \1)+$¦(\w).*?\1¦^(.)\1|\1.¦()*\1¦(.){0}(\1)¦((.)){0}(\2){0}]]'
SELECT regexp_replace('foobarrbazz', '(.)\1', '[[X\&Y¦X\\Y\1Z\¦<\0\2>]]', '[[g¦¦i]]'), regexp_matches('aAbB', '(a)\1', 'i')
SELECT '[[ab¦AB¦a1_é¦É]]' ~ [[E'^(?i)ab'¦'(?i)AB'¦'***=ab'¦'***:(?x)a b # so'¦'(?q)ab'¦'^\w+$'¦'(?i)é']]
SELECT 'a]b-c\d' ~ '[[[]a]+¦[^]a]¦[a\]]¦[a-]¦[\d]¦[[.hyphen.]]¦[[=a=]]¦[[.right-square-bracket.]a]{2}¦[[:alpha:]-]]]'
SELECT E'one\ntwo\nthree' ~ '[[(?n)^two$¦^two$¦(?p)one.two¦(?w)one.^two¦(?n)e[^x]t¦\Aone¦three\Z¦e\D+t]]'
SELECT 'a+b{x}' ~ '[[(?e)a\+b¦(?b)a+b{x}¦(?b)\(a\)¦(?b)*a¦(?e)a)¦a+b{x}¦(?b)a\{1,2\}¦(?b)^a$¦(?e)x{,2}]]'
SELECT 'x' ~ '[[(¦)¦x**¦x{2,1}¦x{300}¦x{1¦[x¦[b-a]¦[[:foo:]]¦[[.foo.]]¦\¦\1¦(x)(?=\1)¦(?<x)¦(?z)x¦***x¦\x7fffffff¦x{1,2}{3}¦\u12¦[a-\d]¦(?=x)*]]'
SELECT regexp_match('x', 'x', '[[q¦qx¦nq¦e¦b¦z¦g¦c]]')
SELECT regexp_split_to_array('[[the quick brown¦abc¦]]', '[[\s*¦b¦(?=b)¦x|]]'), regexp_count('aXbxc', 'x', 1, '[[i¦c]]'), regexp_instr('foobarbaz', '(b)(a.)', 1, 2, [[0¦1]], 'i', [[0¦2¦3]])
SELECT regexp_substr('foobar foobaz', 'ba(.)', [[1¦6¦20]], [[1¦2]], '', [[0¦1]]), substring('foobar' from '[[o(.)b¦o.b¦(?:o)(b)a¦z]]')
SELECT '[[abcdefg¦a]b¦ab]]' similar to '[[_[[:alpha:]_]%¦[]%]%¦a[%]b¦[^[:digit:]b]%¦a(b|x)?¦%#%]]' escape '[[#¦\]]'
SELECT substring('abcdefg' similar '[[a#"(b_d)#"%¦#"(b_d)#"%¦%#"(b_d)#"¦a#"%#"x|g¦a*#"%#"g*¦a#"%g]]' escape '#')
SELECT repeat('xy', 50) ~ repeat('(x|y)*', 20), regexp_match(repeat('a', 30), '(a?){30}a{30}') is not null, 'abab' ~ '^(a|ab|ba|b)*$'
-- Names by text, arrays of arrays, VARIADIC.
SELECT [[regoper¦to_regoper]]('[[||/¦pg_catalog.||/¦nowhere.||/¦+]]')
SELECT [[regclass¦to_regclass]]('nowhere.pg_class'), to_regproc('nowhere.now'), to_regcollation('nowhere."C"'), to_regprocedure('nowhere.abs(int4)')
SELECT [[regrole¦to_regrole¦regnamespace¦to_regnamespace]]('[[Nobody¦"Nobody"¦a.b]]')
SELECT array(select array[i, i / 2] from generate_series(1, 3) i), array(select '1 2'::int2vector from generate_series(1, 2)), pg_typeof(array(select '1 2'::oidvector)), array(select array[1] where false)
SELECT array(select array[[i, [[i¦null]]]] from generate_series(1, 2) i), array(select case i when 1 then array[1] else array[1, 2] end from generate_series(1, [[1¦2]]) i)
SELECT [[concat_ws(',', variadic 10)¦concat(variadic 'x'::text)¦format('%s', variadic 1)¦concat_ws(',', variadic null::int[])¦format('%2$s-%s', variadic array[1, 2])]]
SELECT [[rank¦dense_rank¦percent_rank¦cume_dist]]([[3¦'fred'¦'adam'::varchar¦1.5¦3, 4]]) within group (order by x) from (values [[('fred'), ('jim')¦(1), (2), (5)]]) v(x)
SELECT rank('[[1¦x]]', [[2.5¦null]]) within group (order by x, y desc) from (values (1, 2), (2, 3)) v(x, y)
create function pair_of(a text, b int, c date default '2020-01-01') returns table (x text, y int, z date) language sql as 'select a, b, c'; SELECT * from pair_of([[c => '2009-07-25', a => 'one', b => 2¦b => 2, a => 'one'¦'one', c => '2009-07-25', b => 3¦'one', 2]])
create function parts_of(anyarray) returns setof anyelement language sql as 'select $1[i] from generate_series(1, 2) i'; SELECT * from parts_of(array[[[1, 2]¦['a', 'b']¦[1.5, null]]]), parts_of(array['x', 'y']) z
create table item (id int, name text); insert into item values (1, 'one'), (2, 'two'); create function item_of(int) returns item language sql as '[[select * from item where id = $1¦select item from item where id = $1¦select $1, ''x''::varchar¦select $1::bigint, ''x''¦select $1¦update item set id = 7 where id = $1 returning *]]'; SELECT * from item_of(1) t; SELECT item_of(2), (item_of(2)).name, item_of(9) is null
create type key as (id int); create function key_of(int) returns key language sql [[immutable as 'select $1'¦as 'select row($1)::key'¦begin atomic; select $1; end]]; SELECT key_of(3), (key_of(4)).id, key_of(1) = row(1)::key; SELECT * from key_of(5)
SELECT regexp_match('[[a+b¦aab]]', 'a+b', '[[e¦be¦xe¦eq¦ex¦b]]'), regexp_match('aab', '(?e)a+b')
SELECT regexp_[[instr('line1', '\D', 2, 1, 0, '', 1)¦instr('line1', '\D', 2, 1, 1, '', 2)¦substr('line1', '\D', 2, 1, '', 1)¦substr('line1', '(\D)', 2, 1, '', 2)¦instr('x', '\y', 2, 2, 1, 'z', -1)¦substr('x', '\y', 2, 2, 'z', -1)]]
SELECT regexp_match('***abc', '[[a**¦a***¦a\(*\)¦a***=¦\(***=¦^*¦^**¦**¦***¦****¦\(**\)¦\(*a*\)¦a\{1\}*¦a*\{1\}¦\<*¦\m(?:***:\w¦^*a*¦\(^*b\)¦x* *]]', '[[b¦e¦bx]]')
