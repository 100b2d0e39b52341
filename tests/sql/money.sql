-- The type money.
SET lc_monetary = 'C'; CREATE SCHEMA cash; SET search_path = cash
select [['123'¦'-1'¦'$1,234.56'¦'(1.5)'¦'($ 2'¦'$ -3'¦'-$4'¦'- $5'¦'$$6'¦'7-'¦'8 $ )'¦'+9'¦'1.005'¦'1.0049'¦'1.'¦'.5'¦''¦' '¦'$'¦'1,2,3'¦'1.2.3'¦'1x'¦'--1'¦'1 2'¦'1.999'¦'0.995'¦'-0.005'¦'92233720368547758.07'¦'-92233720368547758.08'¦'92233720368547758.08'¦'-92233720368547758.09'¦'92233720368547758.075'¦'-92233720368547758.085'¦'92233720368547758'¦'922337203685477581'¦'1,'¦',1'¦'1.2,3'¦'1.23,5'¦'-(1)'¦'(-1)'¦'1e2']]::money
select m, m + '1', m - '0.01', -1 * m, m * 2::int2, 2 * m, m * 3::int8, m / 7, m / 7::int2, m / 7::int8, m * 1.5::float4, 1.5::float8 * m, m / 3::float8, m / 3::float4, m / '2'::money, m::numeric from (values ('0'::money), ('12.34'), ('-99.99'), ('1000000')) as v(m)
select '1'::money / [[0¦0::int2¦0::int8¦0::float4¦0::float8¦'0'::money¦'NaN'::float8¦'infinity'::float8]]
select '-92233720368547758.08'::money [[+ '-0.01'¦- '0.01'¦* 2¦/ -1¦/ (-1)::int2¦/ (-1)::int8¦* (-1)::float8¦/ 0.1::float8¦* 'NaN'::float8¦* '-infinity'::float4]]
select [[1¦-5::int8¦1.234¦1.235¦-1.235¦92233720368547758¦92233720368547759::int8¦92233720368547758.07¦92233720368547758.08¦'NaN'::numeric¦'-infinity'::numeric¦2147483647¦1.5::float8]]::money
select cash_words([['0'¦'0.01'¦'1'¦'-1.01'¦'2.02'¦'10'¦'19.20'¦'20.21'¦'99'¦'100'¦'101'¦'110'¦'111'¦'120'¦'121'¦'999.99'¦'1000'¦'1001'¦'1000000'¦'123456789.12'¦'1000000000000'¦'92233720368547758.07'¦'-92233720368547758.08']]::money)
create table t (m money primary key, n int); insert into t select (i * 7919 % 1000)::money / 7, i from generate_series(1, 50) i
select * from t where m [[=¦<>¦<¦<=¦>¦>=]] '71.29' order by m
select min(m), max(m), sum(m), count(distinct m), cashlarger(min(m), '3'), cashsmaller(max(m), '3') from t
select m, count(*) from t group by m having sum(m) > '100' order by m desc limit 3
select array_agg(m order by m desc) from t where n < 5
select '1'::money = '1'::money, '1'::money = '$1.00', hashtext('x') is not null
select n, sum(m) over (order by n rows 2 preceding) from t where n < 6 order by n
select m, sum(n) over (order by m range between '5' preceding and '5' following) from t where n < 6
copy (select m from t where n < 3 order by n) to stdout
select '1.5'::text::money, '2'::money::text, '1'::money::int
select * from t a join t b using (m) where a.m < '10' order by 1
create index on t using hash (m)
set lc_monetary = 'de_DE.utf8'
