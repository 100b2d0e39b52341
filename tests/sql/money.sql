-- The type money.
SELECT '[[¦1¦12.34¦1,234.567¦-5¦$7.5¦-$7.5¦$-7.5¦(1)¦1-¦+3¦3+¦$¦ 1 ¦1.999¦0.005¦-0.005¦92233720368547758.07¦92233720368547758.08¦-92233720368547758.08¦-92233720368547758.09¦1x¦x¦1.2.3¦1 2¦1,,2¦.5¦5.¦- 1¦-(1)¦1$¦$ 1]]'::money
SELECT '[[12.34¦-1.5¦0¦92233720368547758.07]]'::money [[+¦-¦/]] '[[1¦0.01¦0]]'::money
SELECT '[[12.34¦-1.55¦92233720368547758.07]]'::money [[*¦/]] [[2¦2::int2¦2::int8¦0.5::float8¦0.3::float4¦0¦0::float8¦'NaN'::float8¦1e300::float8¦-1]]
SELECT [[2¦2::int2¦2::int8¦0.5::float8¦0.3::float4]] * '[[12.34¦-1.55]]'::money
SELECT '-92233720368547758.08'::money / [[-1¦-1::int2¦-1::int8]]
SELECT '[[1¦-1¦0.5]]'::money [[=¦<>¦<¦<=¦>¦>=]] '1'::money
SELECT cash_words('[[0¦1¦1.01¦-2.5¦15¦20¦21.21¦100¦110¦115¦120¦125¦1000¦1001¦12345.67¦1000000¦92233720368547758.07¦-92233720368547758.08]]')
SELECT '[[12.34¦-0.01¦0¦92233720368547758.07]]'::money::numeric, [[1¦-7¦2147483647]]::money, [[5::int8¦92233720368547759::int8]]::money, [[1.005¦-1.005¦1e20¦'NaN'¦'Infinity']]::numeric::money
CREATE TABLE money_t (m money primary key)
INSERT INTO money_t VALUES ('5'), ('$1,000.50'), ('-3'), ('0.07')
SELECT * FROM money_t ORDER BY m [[¦DESC]]
SELECT sum(m), min(m), max(m), count(m) FROM money_t
SELECT m, sum(m) OVER (ORDER BY m ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM money_t ORDER BY m
SELECT m FROM money_t WHERE m > '1' ORDER BY m
SELECT array_agg(m ORDER BY m), string_agg(m::text, ' ' ORDER BY m) FROM money_t
INSERT INTO money_t VALUES ('5.00')
SELECT m FROM money_t WHERE m IN ('5', '0.07') ORDER BY m
SELECT distinct m / 2 FROM money_t ORDER BY 1
SELECT '1'::money::[[int¦int8¦float8¦text¦bool]]
COPY money_t TO STDOUT
