-- Strings: input, functions, patterns, regular expressions.
SELECT [[length¦char_length¦octet_length¦bit_length¦upper¦lower¦initcap¦reverse¦md5¦ascii¦quote_ident¦quote_literal¦quote_nullable¦btrim¦ltrim¦rtrim¦to_hex]]('[[¦a¦Hello World¦ x ¦it''s¦ünïcödé¦select¦two words¦日本語]]')
SELECT [[substring¦substr]]('[[hello¦日本語テキスト¦]]', [[1¦0¦-2¦3¦10]])
SELECT [[substring¦substr]]('[[hello¦日本語]]', [[1¦0¦-1¦2]], [[0¦1¦3¦100¦-1]])
SELECT substring('foobar' from [['o.b'¦'o(.)b'¦'x'¦2]]), substring('foobar' [[from 2 for 3¦for 2¦from '%#"o_b#"%' for '#']])
SELECT substring('foobar' similar '[[%#"o_b#"%¦#"foo#"%]]' escape '#')
SELECT [[left¦right]]('[[hello¦日本語¦]]', [[0¦2¦-2¦10¦-10]])
SELECT [[lpad¦rpad]]('[[hi¦日本¦]]', [[5¦1¦0¦-1]], '[[xy¦¦*]]'), [[lpad¦rpad]]('hi', 4)
SELECT [[ltrim¦rtrim¦btrim]]('[[xxyhixyx¦  a ¦]]', '[[xy¦ ¦]]')
SELECT trim([[both¦leading¦trailing]] '[[x¦ab]]' from 'xabax'), trim('  a '), trim(both from ' b ')
SELECT position('[[o¦lo¦z¦]]' in 'hello'), strpos('[[hello¦日本語]]', '[[l¦語¦]]')
SELECT replace('[[hello¦aaa¦]]', '[[l¦a¦¦aa]]', '[[L¦¦xx]]'), translate('[[12345¦hello]]', '[[143¦lo]]', '[[ax¦¦xyz]]')
SELECT repeat('[[ab¦]]', [[0¦3¦-1]]), split_part('a,b,,c', '[[,¦,,¦x¦]]', [[1¦2¦-1¦5]])
SELECT split_part('abc', ',', 0)
SELECT concat([[1¦'a'¦null¦true]], [[null¦'b'¦2.5]]), concat_ws([[','¦null¦'']], 'a', null, [['b'¦3]]), concat(variadic array['a', null, 'b'])
SELECT format('[[%s¦%I¦%L¦%%¦%1$s %1$s¦%2$s¦%10s|¦%-10s|¦%*s|¦%s %s %s¦%x¦%¦%0$s]]', [['a b'¦'x'¦null¦5]])
SELECT format('%s-%s', variadic array['a', 'b']), format('%2$L %1$I', 'Tab le', 'va''l')
SELECT overlay('[[Txxxxas¦]]' placing '[[hom¦]]' from [[2¦1]] for [[4¦0]]), overlay('abcdef' placing 'XX' from 3)
SELECT chr([[65¦8364¦0¦-1¦1114112¦128512]])
SELECT ascii('[[é¦語¦]]'), encode('[[abc¦\000\377¦]]', '[[hex¦base64¦escape]]'), decode('[[616263¦YWJj¦abc]]', '[[hex¦base64¦escape¦foo]]')
SELECT convert_to('[[aé¦]]', '[[UTF8¦LATIN1]]'), convert_from('\x61c3a9', '[[UTF8¦LATIN1]]'), convert_from('\xff', 'UTF8')
SELECT '[[a¦abc¦]]' [[like¦ilike¦not like¦not ilike]] '[[a%¦_b_¦%¦A%¦¦a\%¦%c¦_]]'
SELECT '[[a_b¦a%b¦axb]]' like '[[a\_b¦a#_b¦a\%b]]' escape '[[#¦\¦]]'
SELECT 'a' like 'a\'
SELECT '[[abc¦aBc¦xyz¦a b]]' [[~¦~*¦!~¦!~*]] '[[^a¦b.$¦[[:space:]]¦(a|x).*¦\d¦^.{3}$]]'
SELECT '[[abc¦ab¦b]]' similar to '[[a%¦(a|b)+¦_b_¦[ab]*]]', 'abc' not similar to '%b%'
SELECT regexp_replace('[[foobarbaz¦Hello World]]', '[[b..¦o¦(b)(a)¦^¦x*¦\w+]]', '[[X¦<\1>¦\&\&¦]]'[[¦, 'g'¦, 'gi']])
SELECT regexp_replace('foobarbaz', 'b(..)', 'X\1Y', [[1¦5¦20]], [[0¦1¦2]])
SELECT regexp_match('[[foobarbequebaz¦abc]]', '[[bar.*que¦(bar)(beque)¦x¦(a)(x)?]]')
SELECT regexp_matches('foobarbequebazilbarfbonk', '[[(b[^b]+)(b[^b]+)¦ba.]]'[[¦, 'g']])
SELECT regexp_split_to_table('[[the quick brown¦¦abc]]', '[[\s+¦¦b¦x]]')
SELECT regexp_split_to_array('[[the quick brown¦]]', '[[\s+¦¦q]]')
SELECT regexp_count('ABCABCABC', '[[Abc¦A.¦]]'[[¦, 2¦, 1, 'i']]), regexp_instr('ABCABC', 'C'[[¦, 4¦, 1, 2]]), regexp_like('abc', '[[B¦b]]'[[¦, 'i']]), regexp_substr('ABCDEF', '[[C.¦x]]')
SELECT 'a' ~ '[[(¦[¦*¦a{2,1}¦\¦(?=a)a¦(?!b)a¦a{¦[a-¦[[:foo:]]¦\m¦(?i)A¦a**]]'
SELECT '[[foo bar¦foobar]]' ~ '[[\mbar¦o\M¦\yfoo\y¦\Bbar¦\Abar¦bar\Z¦(?:foo)\s?(bar)¦(o)\1]]'
SELECT string_to_array('[[a,b,c¦¦abc¦a,,b¦xx~^~yy]]', [[','¦''¦null¦'~^~']][[¦, 'b']])
SELECT string_to_table('a,b,,c', ','[[¦, '']])
SELECT array_to_string(array[[['a', null, 'c']¦[1,2,3]¦[null]::text[]]], ','[[¦, '*']])
SELECT starts_with('[[alphabet¦]]', '[[alph¦¦x]]'), 'alphabet' ^@ 'al', strpos('abc', 'c'), reverse('añb')
SELECT [['a'¦'abc'¦'abcdef']]::[[varchar(3)¦char(3)¦char(5)¦"char"¦name¦text¦varchar¦bpchar]]
SELECT 'abcdef'::[[varchar(0)¦char(0)¦varchar(10485761)]]
SELECT 'a '::char(3) [[=¦<¦||¦like]] '[[a¦a  ¦b]]'::[[char(5)¦text¦varchar]]
SELECT length('a  '::[[char(5)¦text¦varchar(3)]]), octet_length('a'::char(5)), '|' || 'a'::char(3) || '|'
SELECT '[[a¦B¦ab¦¦Z¦é]]' [[<¦=¦>]] '[[a¦b¦A]]'[[¦ collate "C"¦ collate "POSIX"]]
SELECT 'a' || [[1¦1.5¦true¦null¦'b'¦array['x']¦now()::date - now()::date]]
SELECT [[1¦1.5]] || 'x', 'a' 'b'
SELECT e'[[a\tb¦\x41¦\u0041¦\101¦\\¦\'¦\n¦\U0001F600¦\u004¦\ud83d\ude00¦\0]]', U&'[[d\0061t\+000061¦\zzzz¦!]]', $$do'l$$, $x$a$$b$x$
SELECT B'101', X'1F', b'102'
SELECT '[[\x¦\x00ff¦abc¦\\¦\000¦\xzz¦\x1¦\x 0 1¦a\134b]]'::bytea
SELECT [[length¦octet_length¦md5¦sha224¦sha256¦sha384¦sha512¦bit_count]]('[[¦abc]]'::bytea)
SELECT '\x010203'::bytea [[||¦=¦<¦>¦like]] '\x[[0102¦ff¦]]'::bytea, substring('\x01020304'::bytea from [[2¦0¦-1]] for [[2¦10]]), position('\x03'::bytea in '\x010203'::bytea)
SELECT get_byte('\x0102'::bytea, [[0¦1¦2]]), set_byte('\x0102'::bytea, 1, [[255¦0¦256]]), get_bit('\x01'::bytea, [[0¦8]]), set_bit('\x01'::bytea, 0, [[0¦1¦2]]), trim('\x00'::bytea from '\x000100'::bytea), overlay('\x0102'::bytea placing '\xff'::bytea from 1)
SELECT '[[a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11¦{A0EEBC99-9C0B4EF8BB6D6BB9BD380A11}¦a0eebc999c0b4ef8bb6d6bb9bd380a11¦a0eebc99¦¦g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11]]'::uuid
SELECT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid [[<¦=¦>]] 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', length(gen_random_uuid()::text)
SELECT '[[0/0¦16/B374D848¦FFFFFFFF/FFFFFFFF¦1¦x/y¦0/]]'::pg_lsn
SELECT '0/10'::pg_lsn [[-¦<¦=]] '0/8'::pg_lsn, '0/10'::pg_lsn [[+¦-]] 16::numeric
SELECT '[[a¦aa¦¦é]]'::"char", 'a'::"char"::int, 97::"char", 'abc'::name::text, '[[0¦4294967295¦-1¦4294967296¦x]]'::oid, '[[1¦-1¦x]]'::xid, '(1,2)'::tid, '[[(1,70000)¦x]]'::tid
SELECT quote_ident('[[a¦A¦a b¦a"b¦user¦_x¦1a]]'), quote_literal('[[a''b¦a\b]]'), quote_nullable(null), quote_literal([[1¦1.5]])
SELECT string_agg(x, [[','¦''¦null]] [[¦order by x desc]]) FROM (VALUES ('b'), ('a'), (null), ('c')) v(x)
SELECT parse_ident('[[a.b¦"A".b¦a.¦a b]]'), unistr('[[\0441\043B¦a]]'), normalize('é', NFD) = 'é', 'é' is nfc normalized
SELECT to_char([[1234¦-5]], '[[9G999¦9D9¦FM999]]'), to_ascii('x'), casefold('A')
SELECT pg_client_encoding(), getdatabaseencoding(), pg_encoding_to_char(6), pg_char_to_encoding('UTF8')
SELECT max(x), min(x), count(x), count(*) FROM (VALUES ('b'), ('a'), (null)) v(x)
SELECT char_length('[[a¦b  ]]'::char(4)), '[[a¦b  ]]'::char(4)::text || 'x', cast('a' as char), cast('abc' as varchar(2)), cast('abc' as character(2))
SELECT 'x' COLLATE "[[C¦default¦nope]]", 'a' < 'b' COLLATE "C", ('a' COLLATE "C") < ('b' COLLATE "POSIX")
SELECT encode(sha256('[[abc¦]]'), 'hex'), crc32('a')
SELECT 'abc'[[ is null¦ is not null¦ is distinct from 'abc'¦ is distinct from null]], null is not distinct from null
SELECT normalize(U&'[[a\0308¦\00e4¦\fb01¦\1e9b\0323]]'[[¦, NFC¦, NFD¦, NFKC¦, NFKD]]), U&'[[a\0308¦\00e4¦\fb01]]' is [[¦not ]][[nfc ¦nfd ¦nfkc ¦nfkd ¦]]normalized
