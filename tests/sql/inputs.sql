-- Input texts and format templates at their limits.
SELECT '[[infinity¦-infinity¦today¦epoch¦allballs]]'::[[time¦timetz]] IS NULL
SELECT to_[[date¦timestamp]]('[[99999999¦99999999 BC¦99999999 1]]', '[[CC¦CC BC¦CC YY]]')
SELECT to_[[date¦timestamp]]('[[2000 999999999¦2000 53]]', '[[IYYY IW¦YYYY WW¦YYYY W¦YYYY DDD¦IYYY IDDD]]')
SELECT to_[[date¦timestamp]]('[[2147483647 5¦2147483647 2147483647]]', '[[YYYY WW¦YYYY W¦W J¦YYYY DDD]]')
SELECT to_date('[[1¦12¦123¦-5]]', '[[IYYY¦IYY¦IY¦I¦YYYY¦YYY¦YY¦Y]]')
SELECT to_char(timestamptz '2024-01-01 05:06+05:30', '[[FMOF¦OF¦TMDay|¦TMMonth|¦TMDD¦FMTZH¦tmmon]]')
SELECT interval([[0¦3¦6]]) '[[2562047788:00:54.775807¦-2562047788:00:54.775807¦1.5]]'
SELECT cidr '[[0¦127¦128.1.2¦190¦192¦192.168.¦224¦224.1¦230¦240¦255¦10.1.2.0¦1.¦ 1.2.3.4]]'
SELECT inet '[[ 1.2.3.4¦1.2.3.4 ¦::1 ¦::1]]'
SELECT '[[a.b.c.d¦a.b.c¦{1,2}¦"Ab".c¦9x¦]]'::[[regclass¦regconfig¦regcollation]]
SELECT '[[xyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxy]]'::[[regclass¦regconfig]]
SELECT has_table_privilege('{1,2}', 'select'), pg_get_viewdef('nope.{1,2}')
SELECT json_object('{}', '{a,b}'), jsonb_object('{a}', '{}')
SELECT jsonb_hash([['{}'¦'[]'¦'1'¦'[1]']]), jsonb_hash_extended('{}', 7)
SELECT '1e[[39¦393.59¦39x]]'::float4
SELECT timestamp '294276-12-31 23:59:59.999999' [[<¦<=¦=¦<>]] timestamptz '294276-12-31 23:59:59.999999+00'
SELECT timestamptz '4714-11-24 00:00+00 BC'::timestamp
SELECT array_append('[2147483646:2147483646]={1}'::int[], 1)
SELECT make_timestamp(-1, 1, 100, 0, 0, 0), make_date(-2147483648, 1, 1)
-- Values that are large in a single row.
SELECT sum(length(repeat('x', 500000 + i))) FROM generate_series(1, 100) i
SELECT count(*), max(length(r)) FROM (SELECT repeat('x', 500000 + i) AS r FROM generate_series(1, 60) i OFFSET 0) s
SELECT length(max(repeat('x', 500000 + i))) FROM generate_series(1, 50) i
SELECT i FROM generate_series(1, 40) i WHERE length(repeat('x', 200000 * i)) > 7700000 ORDER BY i
SELECT i % 2, max(length(concat(repeat('x', 500000 + i), i))) FROM generate_series(1, 40) i GROUP BY 1 ORDER BY 1
SELECT length(repeat('x', 200000 * i)), i FROM generate_series(1, 30) i WHERE i % 7 = 0 ORDER BY i
