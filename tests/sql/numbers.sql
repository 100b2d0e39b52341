-- Integers: input, bounds, operators, casts.
SELECT '[[0¦-1¦ 42 ¦32767¦32768¦-32768¦-32769¦2147483647¦2147483648¦-2147483648¦9223372036854775807¦9223372036854775808¦-9223372036854775808¦¦ ¦1.5¦0x10¦1e3¦abc¦- 1¦+7¦--1¦1_000]]'::[[int2¦int4¦int8¦oid¦numeric¦float4¦float8¦boolean]]
SELECT [[1¦-7¦0¦32767]]::[[int2¦int4¦int8]] [[+¦-¦*¦/¦%¦&¦|¦#]] [[3¦-2¦0]]::[[int2¦int4¦int8]]
SELECT 2147483647 [[+¦-¦*]] [[1¦-1¦2]], 9223372036854775807 [[+¦-¦*]] [[0¦-1]]::int8
SELECT 9223372036854775807 + 1
SELECT (-32768)::int2 [[/¦*¦%¦-]] [[(-1)::int2¦1::int2]]
SELECT (-2147483648) [[/¦*¦%]] (-1)
SELECT (-9223372036854775808)::int8 [[/¦*¦%]] (-1)
SELECT [[1¦-1]]::[[int2¦int4¦int8]] [[<<¦>>]] [[0¦1¦31¦33]]
SELECT ~[[0¦5¦-1]]::[[int2¦int4¦int8]], -[[5¦-5]]::[[int2¦int4¦int8]], +[[5]]::int2, @ [[-5¦5]]::[[int2¦int4¦int8]]
SELECT abs([[-32768::int2¦(-32768)::int2¦-5¦(-2147483648)¦(-9223372036854775808)¦-1.5¦-1.5::float4¦-1.5::float8]])
SELECT [[1¦2]]::[[int2¦int4¦int8¦oid]] [[<¦<=¦=¦<>¦>=¦>]] [[1¦2]]::[[int2¦int4¦int8]]
SELECT [[gcd¦lcm¦mod¦div]]([[12¦-12¦0]], [[18¦-8¦0]])
SELECT [[gcd¦lcm¦mod¦div]]([[12.5¦-12¦0]], [[2.5¦-8.0¦0.0]])
SELECT [[1.5¦2.5¦-1.5¦-2.5¦0.5¦32767.4¦32767.5¦2147483647.5¦1e10¦1e30]]::[[numeric¦float8¦float4]]::[[int2¦int4¦int8]]
SELECT '[[NaN¦Infinity¦-Infinity¦inf¦nan¦-inf¦1e400¦1e-400¦1e40¦1e-50¦.5¦5.¦1e¦e5¦1.5e+3¦1E5¦0x1¦ 1 ¦]]'::[[numeric¦float4¦float8]]
SELECT 'NaN'::[[numeric¦float8]] [[<¦=¦>]] [['NaN'¦'Infinity'¦1]]::[[numeric¦float8]]
SELECT [[1¦0¦-1¦1.5¦1e300¦1e-300]]::float8 [[+¦-¦*¦/]] [[3¦0¦1e300¦1e-300]]::float8
SELECT [[1¦0¦-1¦1.5¦1e30¦1e-30]]::float4 [[+¦-¦*¦/]] [[3¦0¦1e30¦1e-30]]::float4
SELECT [[1¦1.5¦-2.5¦100¦0.1¦0.3¦1e15¦1e16¦1e17¦123456789.123456789¦1e-5¦1e-4¦0.0001¦3.4e38¦1.17549435e-38¦1e22¦1e23]]::[[float4¦float8]]
SELECT [[0.1¦0.2¦1.1]]::float4::float8, [[0.1¦0.2¦1.1]]::float8::float4, [[0.1¦16777217]]::float4::numeric, [[0.1¦1e20¦123456789012345678]]::float8::numeric
SELECT [[round¦trunc¦ceil¦ceiling¦floor¦sign¦abs¦sqrt¦exp¦ln¦log¦degrees¦radians]]([[2.5¦-2.5¦0¦1¦-0.4¦1e3]]::[[numeric¦float8]])
SELECT [[sin¦cos¦tan¦asin¦acos¦atan¦sinh¦cosh¦tanh¦asinh¦acosh¦atanh¦sind¦cosd¦tand¦asind¦acosd¦atand¦cot¦cotd]]([[0¦0.5¦1¦2¦30]]::float8)
SELECT [[atan2¦atan2d¦power¦mod]]([[1¦-1¦0]]::float8, [[2¦0]]::float8)
SELECT [[round¦trunc]]([[1234.5678¦-1234.5678¦0.00005¦99.995¦12345]], [[0¦2¦-2¦4¦10¦-10]])
SELECT [[2¦2.0¦-2¦0¦10.5]] ^ [[2¦0.5¦-1¦0¦3.0]]
SELECT power([[2¦2.5¦-2¦0]]::numeric, [[3¦-2¦0.5¦0]]::numeric)
SELECT [[2¦9¦-1¦0¦1e10¦0.0001]]::numeric |/ 2
SELECT |/ [[4¦2¦0¦-1]]::float8, ||/ [[64¦-8¦0]]::float8
SELECT sqrt([[2¦2.00¦1e20¦0¦-1¦0.0000001]]::numeric)
SELECT [[exp¦ln¦log]]([[1.0¦2.5000¦10¦100.00¦0.001¦0¦-1]]::numeric)
SELECT log([[2¦10¦2.0]], [[64¦1000¦0.5]]::numeric)
SELECT width_bucket([[5.35¦-1¦11¦0.024]], 0.024, 10.06, 5), width_bucket([[5.35¦-1¦11]]::float8, 0.024, 10.06, 5), width_bucket([[5¦9]], array[1,5,9])
SELECT factorial([[0¦5¦20¦-1]])
SELECT [[1¦-1¦0¦123.456¦1000000¦0.001]]::numeric([[3¦5,2¦4,4¦10,0¦20,5]])
SELECT [[12345.678¦0.001¦99.99]]::numeric([[3,-3¦5,-1¦2,3¦3,5]])
SELECT 1::numeric([[0¦1001¦5,6¦5,-1001¦1000,1000]])
SELECT [[1¦1.0¦1.00¦100¦-7.5¦0¦0.00]]::numeric [[+¦-¦*¦/¦%]] [[3¦3.000¦0.7¦-2¦0]]::numeric
SELECT [[1¦10¦1e20¦1e-20¦123456789.987654321]] / [[3¦7.0¦1e10¦0.0003]]
SELECT [[1e131071¦1e-16383¦1e131072¦9e131071]]::numeric * [[1¦10]] > 0
SELECT [[1.10¦1.1¦1.100¦0.0¦-0.0¦100]]::numeric, scale([[1.10¦100¦0.0]]), min_scale([[1.10¦100¦0.000]]), trim_scale([[1.10¦100¦0.000]])
SELECT '[[Infinity¦-Infinity¦NaN]]'::numeric [[+¦-¦*¦/¦%]] [['Infinity'¦'-Infinity'¦'NaN'¦0¦2]]::numeric
SELECT [[sqrt¦exp¦ln¦floor¦round¦sign¦abs]]('[[Infinity¦-Infinity¦NaN]]'::numeric)
SELECT to_char([[0¦-1¦1234.567¦1234567.891¦0.5¦-0.05¦12]], '[[999¦9999.99¦FM9999.99¦0000.0¦S999¦999MI¦999PR¦9,999,999.99¦EEEE¦9.99EEEE¦RN¦FMRN¦L99¦SG99¦99V9¦999th¦B999¦"x"99]]')
SELECT to_number('[[1,234.56¦-12.3¦12-¦<12>¦abc¦$5]]', '[[9,999.99¦S99.9¦99MI¦99PR]]')
SELECT [[random() < 1¦setseed(0.5) IS NULL¦pi()¦sign(-3)¦greatest(1, 2.5)¦least(1, null, -1)]]
SELECT 0.1 + 0.2, 0.1::float8 + 0.2::float8, 1/3.0, 2/3::float4, 10 % 3.3, 1e0, 1.e1, .5
SELECT pg_typeof([[1¦2147483648¦9223372036854775808¦1.5¦1e5¦'a'¦null¦true¦-1¦-2147483648¦1::"char"]])
SELECT pg_typeof([[1::int2¦1¦1::int8¦1.0¦1::float4¦1::float8]] [[+¦/]] [[1::int2¦1¦1::int8¦1.0¦1::float4¦1::float8]])
SELECT [[1¦2]]::int[[4¦8]] IN (1, 3, [[5.5¦null¦7]])
SELECT int4([[1.5¦'7'¦true¦1::int8]]), int8([[1.5¦'7'¦1::int2]]), numeric([[1¦1.5::float8]]), float8([[1¦1.5]])
SELECT [[true¦false]]::int, [[0¦1¦-5]]::boolean
SELECT [['t'¦'true'¦'y'¦'yes'¦'on'¦'1'¦'f'¦'no'¦'off'¦'0'¦'T'¦' TRUE '¦'tr'¦'o'¦'of'¦'x'¦'']]::boolean
SELECT [[true¦false¦null]] [[and¦or¦=¦<>¦<¦>=]] [[true¦false¦null::boolean]]
SELECT not [[true¦false¦null]], [[true¦false¦null::boolean]] is [[true¦false¦unknown¦not true¦not false¦not unknown¦null¦not null]]
SELECT hashint4([[1¦-5]]), hashint8([[1¦-5¦5000000000]]), hashtext('[[¦a¦hello world]]'), hashfloat8([[1.5¦0]]), hash_numeric([[1¦1.0¦-3.5]]), hashint2(3::int2), hashbool(true), hashoid(5), hashchar('a'), hashname('abc')
SELECT int4_sum, pg_typeof(int4_sum) FROM (SELECT sum(x) AS int4_sum FROM generate_series(1, 3) x) s
SELECT generate_series([[1¦5]], [[5¦1]], [[1¦-1¦2¦0]])
SELECT generate_series(1.0, 2.0, [[0.5¦-0.5¦0]])
SELECT generate_series([[1¦9223372036854775806]]::int8, 9223372036854775807::int8, 5000000000000000000::int8)
SELECT to_hex([[0¦255¦-1¦4294967296]]), [[255¦-1]]::bit(8)
SELECT num_nulls(1, null, 3), num_nonnulls(1, null), num_nulls(variadic array[1, null])
SELECT bool_and(x > [[0¦1]]), bool_or(x > [[2¦3]]), every(x > 0) FROM generate_series(1, 3) x
SELECT bit_and(x), bit_or(x), bit_xor(x) FROM generate_series(5, 7) x
SELECT '[[12¦-0¦+3¦0012]]'::numeric::text, '[[12¦-0¦1e5]]'::float8::text
SELECT [[1¦1.5¦'3']] BETWEEN [[1¦2]] AND 3, [[1¦5]] NOT BETWEEN SYMMETRIC 3 AND 0
SELECT [[0¦-1¦0.1¦-0.05¦3.14¦9007199254740991¦9007199254740992¦9007199254740993¦900719925474099.5¦123456.7891¦0.00000001¦0.0000000123456789¦1e20¦1.5e23¦-12345e17¦1e-20¦1e-24¦12340000e16¦0.3000¦99999999.99]]::numeric::[[float8¦float4]]
SELECT to_char(timestamp '2024-02-03 04:05:06' + g * interval '1 day', CASE WHEN g % 3 = 0 THEN 'YYYY-MM' ELSE 'FMDay "x" DDth' END) FROM generate_series(1, 7) g ORDER BY g

-- Of two shortest representations the one with an even last digit is chosen.
SELECT 900719925474099.25::float8, 900719925474099.75::float8, 2251799813685248.25::float8, 1125899906842624.125::float8, 8388608.5::float4, 2097152.125::float4, 2097152.375::float4;
SELECT m, string_agg(((i * 7919 * 104729 % 4503599627370496 + 4503599627370496) / power(2, m)::float8)::text, ' ' ORDER BY i) FROM generate_series(1, 12) m, generate_series(1, 60) i GROUP BY m ORDER BY m;
SELECT m, string_agg(((i * 7919 % 8388608 + 8388608) / power(2, m)::float4)::float4::text, ' ' ORDER BY i) FROM generate_series(1, 12) m, generate_series(1, 60) i GROUP BY m ORDER BY m;
SELECT m, string_agg(((i * 7919 * 104729 % 4503599627370496 + 4503599627370496) * power(2, m)::float8)::text, ' ' ORDER BY i) FROM generate_series(1, 12) m, generate_series(1, 60) i GROUP BY m ORDER BY m;
select width_bucket([['1e-2001'¦'0'¦'1e-1000']]::numeric, [['123456789012345678901234567890.123456789'¦'-1.5'¦'1e131071']]::numeric, [['0'¦'1e-16383']]::numeric, [[100¦2147483647]])
select width_bucket([[0.3::numeric¦7.7::numeric¦9.999999999999999999999999::numeric¦10::numeric¦-1::numeric]], [[0¦10]], [[10¦0]], [[1¦3¦7¦2147483646]])
SELECT setseed([[0.5¦0¦-0.25¦1¦-1]]); SELECT random(), random() FROM generate_series(1, 3)
