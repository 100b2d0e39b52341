-- Values of 1 GB and more are refused with the error of each function, before memory is allocated.
SELECT length([[repeat('ab', 1000000000)¦repeat('ab', 536870910)¦repeat('abc', -2147483648)]])
SELECT [[lpad¦rpad]]('x', [[2147483647¦268435456¦-2147483648¦3]], [['ab'¦'']])
SELECT length(replace(repeat('a', 30000), 'a', repeat('b', 40000)))
SELECT replace('abcabc', [['b'¦''¦'abc'¦'abcabcabc'¦'c']], [['xy'¦''¦'ä']])
SELECT length(regexp_replace(repeat('a', 30000), 'a', repeat('b', 40000), 'g'))
SELECT length(translate(repeat('a', 268435456), 'a', 'b'))
SELECT length(quote_literal(repeat('x', 536870912)))
SELECT format([['%2147483647s'¦'%-2147483647s'¦'%2147483648s'¦'%*s']], [['x'¦'-2147483648'¦2147483647]])
SELECT length(format('%*s', [[2147483647¦-2147483647¦-2147483648¦5]], 'x'))
SELECT length(string_agg(repeat('x', 400000000), ',')) FROM generate_series(1, 3)
SELECT length(repeat('x', 540000000) || repeat('y', 540000000))
SELECT length(to_jsonb(repeat('x', 268435456))::text)
SELECT cardinality(array_fill([[0::int4¦'x'::text¦null::int8¦0::int8]], array[[[[134217728]¦[134217727]¦[-1]¦[2147483647,2]¦[0]]]]))
SELECT array_fill(1, array[2], array[[[[2147483647]¦[2147483646]¦[2147483645]]]])
SELECT cardinality(array_fill(repeat('x', 1000000), array[2000]))
SELECT length(array_to_string(array_fill(repeat('x', 1000000), array[300]), repeat('y', 4000000)))
SELECT 1::bit(2147483647)
SELECT 1::bit([[83886080¦83886081]]) IS NULL
SELECT length(B'1' || 1::bit(83886080)), length(1::bit(83886080) || B'0'), bit_count(~ 1::bit(8388608))
SELECT [[substring¦overlay]](B'[[1011¦10110100110¦]]' [[from 2 for 3¦from 9¦from 1]])
SELECT (B'[[1011¦10110100110¦1]]' [[||¦&]] B'[[1011¦01001¦1]]')
SELECT (B'[[1011¦10110100110¦111111111111111111111]]' [[<<¦>>]] [[0¦1¦7¦8¦9¦17¦-1¦-9¦2147483647¦-2147483648]])
SELECT B'[[1011¦10110100110¦111111111111111111111]]'::[[bit(4)¦bit(9)¦bit(16)¦varbit(5)]]
SELECT row(r, r) IS NULL FROM (SELECT repeat('a', 540000000) AS r OFFSET 0) s
SELECT length(('[' || repeat('[', 9000) || repeat(']', 9000) || ']')::jsonb::text)
SELECT length(encode(decode(repeat('ab', 5), 'hex'), [['hex'¦'base64'¦'escape'¦'nope']]))
SELECT split_part('a,b,,c', ',', [[1¦2¦3¦4¦5¦-1¦-2¦-4¦-5¦0¦2147483647¦-2147483648]])
SELECT [[split_part('', ',', 1)¦split_part('abc', '', 1)¦split_part('abc', '', -1)¦split_part('abc', '', 2)¦split_part('a,b', ',b', 2)]]
SELECT string_to_array([['a,b,,c'¦''¦'abc'¦',']], [[','¦''¦null¦'bc']], [[''¦'b'¦null]])
SELECT reverse([['aäb€c𝄞'¦''¦'abc']]), translate('aäb€', [['aä'¦'€b'¦'']], [['xyz'¦'ß'¦'']])
-- Numbers in text input.
SELECT '[[9223372036854775808¦9223372036854775807¦-9223372036854775808¦-9223372036854775809¦99999999999999999999]][[x¦¦ ¦ x]]'::[[int2¦int4¦int8¦int2vector¦oid]]
SELECT '[[32768¦-32768¦-32769¦2147483648¦-2147483648¦-2147483649]][[x¦]]'::[[int2¦int4¦int2vector]]
SELECT ('1e' || repeat('9', 100))::[[numeric¦jsonb¦float8¦int4]]
SELECT ('1e-' || repeat('9', 100))::[[numeric¦jsonb¦float8]]
SELECT '1e[[131071¦131072¦-16383¦-16384¦1073741823¦-1073741823¦2147483648]]'::numeric IS NULL
-- Words with multibyte characters that are truncated.
SELECT [[date_part¦date_trunc]]([['äöü€𝄞'¦'monthäöü'¦'äöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöü'¦'MONTH']], [[timestamp '2024-02-29 12:00'¦interval '1 day']])
SELECT interval '1 [[äöü€𝄞¦monthäöüäöü]]'
-- Types without a modifier do not inherit that of the argument.
CREATE TABLE modified (c char(4), v varchar(7), n numeric(5,2), b bit(3), vb varbit(5), t time(2), tz timetz(1), ts timestamp(3), tsz timestamptz(4), i interval day to second(2), iv interval(3), ca char(4)[], na numeric(5,2)[])
CREATE VIEW unmodified AS SELECT c::bpchar AS c1, v::varchar AS v1, n::numeric AS n1, b::bit AS b1, vb::varbit AS vb1, t::time AS t1, tz::timetz AS tz1, ts::timestamp AS ts1, tsz::timestamptz AS tsz1, i::interval AS i1, iv::interval AS iv1, ca::bpchar[] AS ca1, na::numeric[] AS na1, c::varchar AS cv, v::bpchar AS vc, n::numeric(7,1) AS n71, n::numeric::numeric(5,2) AS nn, null::numeric(3,1)::numeric AS nu, '1.5'::numeric(4,2)::numeric AS cn, array[n, n]::numeric[] AS an, coalesce(c::bpchar, c) AS co, (SELECT c FROM modified LIMIT 1)::bpchar AS sc, c COLLATE "C"::bpchar AS cc FROM modified
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'unmodified'::regclass ORDER BY attnum
SELECT pg_get_viewdef('unmodified'::regclass)
CREATE TABLE copied AS SELECT c::bpchar, n::numeric, v::varchar FROM modified
INSERT INTO copied VALUES ('longer than four', 123456.789, 'longer than seven')
SELECT * FROM copied
DROP TABLE copied; DROP VIEW unmodified; DROP TABLE modified
-- Array types whose element type is not in the catalogs.
SELECT [[to_json¦to_jsonb¦array_to_json¦max¦json_agg¦json_build_array¦jsonb_build_array¦array_agg¦cardinality¦array_dims]](most_common_vals) FROM pg_stats WHERE tablename = 'pg_proc' AND attname = 'prokind' AND false
SELECT json_agg(x) FROM (SELECT stavalues1 FROM pg_statistic WHERE false) x
-- Back references to groups of other branches.
SELECT 'a' ~ [['$()|^\1'¦'()|^\1'¦'^()|\1a'¦'(b)?\1'¦'(?:(b)|a)\1'¦'(a)|\1$'¦'b*$()|^\1']]
SELECT 'ab' ~ [['$()|^\1'¦'$()|b\1'¦'(b)$|^\1'¦'()$|^\1']]
SELECT host(inet '[[::4.3.2.1¦::1¦::ffff:1.2.3.4¦1.2.3.4/8¦::1.2.0.0/96]]')
SELECT make_interval([[years => 2147483647¦weeks => 2147483647¦months => 2147483647, years => 1¦hours => 2147483647, mins => 2147483647, secs => 1e300¦secs => 'NaN'¦secs => 9223372036855]])
SELECT time '[[24:00¦00:00¦12:34:56.7]]' [[+¦-]] interval '[[2562047788:00:54.775807¦-9223372036854775808 microseconds¦1 day¦-1 hour]]'
SELECT log([[0::numeric¦'-1'::numeric¦'Infinity'::numeric]], [['-Infinity'::numeric¦0::numeric¦'-1'::numeric]])
