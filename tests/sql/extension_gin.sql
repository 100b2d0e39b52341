-- Operator classes of extensions for GIN indexes
create extension btree_gin
create schema eg
set search_path = eg, public
create table bg (id int, i2 int2, i4 int, i8 int8, f4 float4, f8 float8, n numeric, t text, v varchar(10), b bpchar(5), by bytea, d date, ts timestamp, tz timestamptz, tm time, tmz timetz, iv interval, u uuid, nm name, bo bool, bi bit(4), vb varbit, o oid, c "char", m money)
insert into bg select i, i % 50 - 25, i - 100, i * 10000000000, i / 7.0, -i / 3.0, i / 9.0 - 5, 'text' || i % 40, 'v' || i % 30, 'b' || i % 20, ('\x' || lpad(to_hex(i), 4, '0'))::bytea, date '2000-01-01' + i, timestamp '2000-01-01' + i * interval '1 hour', timestamptz '2000-01-01 00:00+0' + i * interval '1 hour', time '00:00' + i * interval '1 minute', timetz '00:00+00' + i * interval '1 minute', i * interval '1 day', lpad(to_hex(i), 32, '0')::uuid, 'name' || i % 25, i % 2 = 0, (i % 16)::bit(4), (i % 8)::bit(3)::varbit, i, chr(65 + i % 26)::"char", i::numeric::money from generate_series(1, 200) i
insert into bg (id) values (0), (-1)
insert into bg (id, f4, f8, n, t, by, d, ts, iv) values (201, 'NaN', '-Infinity', 'NaN', '', '', 'infinity', '-infinity', '-100 years'), (202, 'Infinity', 'NaN', '-Infinity', ' ', '\x00', '-infinity', 'infinity', '100 years')
create index bg_i2 on bg using gin (i2)
create index bg_i4 on bg using gin (i4)
create index bg_i8 on bg using gin (i8)
create index bg_f4 on bg using gin (f4)
create index bg_f8 on bg using gin (f8)
create index bg_n on bg using gin (n)
create index bg_t on bg using gin (t)
create index bg_v on bg using gin (v)
create index bg_b on bg using gin (b)
create index bg_by on bg using gin (by)
create index bg_d on bg using gin (d)
create index bg_ts on bg using gin (ts)
create index bg_tz on bg using gin (tz)
create index bg_tm on bg using gin (tm)
create index bg_tmz on bg using gin (tmz)
create index bg_iv on bg using gin (iv)
create index bg_u on bg using gin (u)
create index bg_nm on bg using gin (nm)
create index bg_bo on bg using gin (bo)
create index bg_bi on bg using gin (bi)
create index bg_vb on bg using gin (vb)
create index bg_o on bg using gin (o)
create index bg_c on bg using gin (c)
create index bg_m on bg using gin (m)
create type eg_mood as enum ('sad', 'ok', 'happy')
alter type eg_mood add value 'meh' before 'ok'
create table en (id int, m eg_mood)
insert into en select i, (enum_range(null::eg_mood))[i % 5] from generate_series(1, 200) i
create index en_m on en using gin (m)
set enable_seqscan = off
explain (costs off) select * from en where m >= 'meh'
select count(*), min(id), max(id) from en where m [[<¦<=¦=¦>=¦>]] '[[sad¦meh¦ok¦happy]]'
select count(*) from en where m is null
select gin_enum_cmp('[[sad¦meh¦ok]]'::eg_mood, 'meh'::eg_mood)
reset enable_seqscan
drop table en
vacuum analyze bg
set enable_seqscan = off
explain (costs off) select * from bg where i4 = 5
explain (costs off) select * from bg where t >= 'text20' and t < 'text25'
select count(*), min(id), max(id) from bg where i2 [[<¦<=¦=¦>=¦>]] [[5::int2¦'-25'::int2¦'-26'::int2¦24::int2]]
select count(*), min(id), max(id) from bg where i4 [[<¦<=¦=¦>=¦>]] [[5¦-99¦-100¦100¦2147483647]]
select count(*), min(id), max(id) from bg where i8 [[<¦<=¦=¦>=¦>]] 1000000000000
select count(*), min(id), max(id) from bg where f4 [[<¦<=¦=¦>=¦>]] [['5'¦'Infinity'¦'NaN'¦'-Infinity']]
select count(*), min(id), max(id) from bg where f8 [[<¦<=¦=¦>=¦>]] [['-5'¦'Infinity'¦'NaN'¦'-Infinity']]
select count(*), min(id), max(id) from bg where n [[<¦<=¦=¦>=¦>]] [['5'¦'-5'¦'NaN'¦'-Infinity'¦'-4.8888888888888889']]
select count(*), min(id), max(id) from bg where t [[<¦<=¦=¦>=¦>]] [['text20'¦''¦'zzz']]
select count(*), min(id), max(id) from bg where v [[<¦<=¦=¦>=¦>]] 'v2'
select count(*), min(id), max(id) from bg where b [[<¦<=¦=¦>=¦>]] [['b2'¦'b2   ']]
select count(*), min(id), max(id) from bg where by [[<¦<=¦=¦>=¦>]] [['\x0020'¦'']]
select count(*), min(id), max(id) from bg where d [[<¦<=¦=¦>=¦>]] [['2000-03-01'¦'-infinity'¦'infinity']]
select count(*), min(id), max(id) from bg where ts [[<¦<=¦=¦>=¦>]] [['2000-01-03'¦'-infinity'¦'infinity']]
select count(*), min(id), max(id) from bg where tz [[<¦<=¦=¦>=¦>]] '2000-01-03 00:00+0'
select count(*), min(id), max(id) from bg where tm [[<¦<=¦=¦>=¦>]] '01:00'
select count(*), min(id), max(id) from bg where tmz [[<¦<=¦=¦>=¦>]] '01:00+00'
select count(*), min(id), max(id) from bg where iv [[<¦<=¦=¦>=¦>]] [['30 days'¦'1 month']]
select count(*), min(id), max(id) from bg where u [[<¦<=¦=¦>=¦>]] '00000000-0000-0000-0000-000000000020'
select count(*), min(id), max(id) from bg where nm [[<¦<=¦=¦>=¦>]] 'name2'
select count(*), min(id), max(id) from bg where bo [[<¦<=¦=¦>=¦>]] [[true¦false]]
select count(*), min(id), max(id) from bg where bi [[<¦<=¦=¦>=¦>]] '0100'
select count(*), min(id), max(id) from bg where vb [[<¦<=¦=¦>=¦>]] [['010'¦'']]
select count(*), min(id), max(id) from bg where o [[<¦<=¦=¦>=¦>]] 50
select count(*), min(id), max(id) from bg where c [[<¦<=¦=¦>=¦>]] 'D'
select count(*), min(id), max(id) from bg where m [[<¦<=¦=¦>=¦>]] '$50.00'
select count(*) from bg where i4 is null
select count(*) from bg where i4 in (1, 5, 99, null) and t > 'text1'
select id from bg where i4 between 5 and 8 and f8 < -36 order by id
create table bm (a int, tags int[], t text)
insert into bm select i % 10, array[i % 7, i % 3], 't' || i % 4 from generate_series(1, 300) i
create index bm_i on bm using gin (a, tags, t)
analyze bm
explain (costs off) select * from bm where a = 3 and tags @> '{2}' and t < 't2'
select count(*) from bm where a = 3 and tags @> '{2}' and t < 't2'
select count(*) from bm where a > 7 and tags && '{1,5}'
update bm set a = a + 1 where a = 3
delete from bm where t = 't1'
select count(*) from bm where a >= 4 and t >= 't0'
vacuum bm
select count(*) from bm where a >= 4 and t >= 't0'
select gin_numeric_cmp(1, 2), gin_numeric_cmp(2.0, 2)
select opcname, opcintype::regtype, opcdefault from pg_opclass join pg_am a on a.oid = opcmethod and amname = 'gin' where opcintype < 10000 and opcnamespace = 'public'::regnamespace order by 1
reset enable_seqscan
drop table bg, bm
drop extension btree_gin
-- pg_trgm
create extension pg_trgm
create table gt (id int, t text)
insert into gt select i, 'word' || i % 50 || ' Number' || i % 7 || ' ümlaut x' from generate_series(1, 500) i
insert into gt values (501, 'apple pie'), (502, 'Pineapple'), (503, ''), (504, null), (505, 'a_b%c\d'), (506, 'ab'), (507, 'foo-bar baz'), (508, 'ÄPFEL'), (509, '日本語 テスト')
create index gt_i on gt using gin (t gin_trgm_ops)
analyze gt
set enable_seqscan = off
explain (costs off) select * from gt where t [[like '%apple%'¦ilike 'APP%'¦~ 'app'¦~* 'APP'¦% 'aple'¦= 'ab'¦%> 'aple'¦%>> 'aple']]
select count(*), min(id), max(id) from gt where t [[like¦ilike¦not like]] [['%apple%'¦'apple%'¦'%APPLE'¦'%ber3%'¦'word1 %'¦'%word1%ümlaut%'¦'%Ü%'¦'%ÜML%'¦'%a\_b\%c%'¦'%a_b%'¦'ab'¦'a%'¦'%b'¦''¦'%'¦'_b'¦'%-bar%'¦'%o-b%'¦'äpfel'¦'%日本%'¦'%日本語%'¦'%rd1_ N%'¦'%x'¦'% x'¦'%foo bar%']]
select count(*), min(id), max(id) from gt where t [[~¦~*]] [['apple'¦'^word1 '¦'(apple|foo)'¦'[pP]ine'¦'x$'¦'日.語'¦'']]
select count(*), min(id), max(id) from gt where t = [['ab'¦'apple pie'¦''¦'Ab']]
select id, similarity(t, 'aple pi') from gt where t % 'aple pi' order by id
set pg_trgm.similarity_threshold = 0.1
select count(*) from gt where t % 'word number'
select count(*) from gt where t % ''
reset pg_trgm.similarity_threshold
select count(*), min(id) from gt where 'aple' <% t
select count(*), min(id) from gt where 'apple' <<% t
select count(*) from gt where t like '%word1%' and t ilike '%NUMBER3%'
select count(*) from gt where t like any (array['%apple%', '%foo%'])
insert into gt values (600, 'another apple')
select id from gt where t like '%apple%' order by id
reset enable_seqscan
drop table gt
drop extension pg_trgm
-- hstore
create extension hstore
create table gh (id int, h hstore)
insert into gh select i, hstore(array['k' || i % 7, 'n', 'x' || i % 3], array[(i % 11)::text, null, 'v' || i % 2]) from generate_series(1, 300) i
insert into gh values (301, ''), (302, null), (303, 'a=>1'), (304, 'a=>NULL'), (305, 'a=>"NULL", 1=>a')
create index gh_i on gh using gin (h)
analyze gh
set enable_seqscan = off
explain (costs off) select * from gh where h [[@> 'a=>1'¦? 'a'¦?| '{a,b}'¦?& '{a,b}']]
select count(*), min(id), max(id) from gh where h @> [['a=>1'¦'a=>NULL'¦'a=>"NULL"'¦'k3=>5'¦'k3=>5, n=>NULL'¦''¦'x1=>v1, k2=>"2"'¦'z=>1']]
select count(*), min(id), max(id) from gh where h ? [['a'¦'k3'¦'1'¦''¦'n']]
select count(*), min(id), max(id) from gh where h [[?|¦?&]] [['{a,k3}'¦'{k3,x1}'¦'{}'¦'{NULL}'¦'{n,NULL,x1}'¦'{zz}']]
reset enable_seqscan
drop table gh
drop extension hstore
-- intarray
create extension intarray
create table gi (id int, a int[])
insert into gi select i, array[i % 5, i % 3 + 10, i] from generate_series(1, 300) i
insert into gi values (301, '{}'), (302, null), (303, '{1,1,1}'), (304, '{{1,2},{3,4}}'), (305, '{-1}')
create index gi_i on gi using gin (a gin__int_ops)
analyze gi
set enable_seqscan = off
explain (costs off) select * from gi where a [[@> '{1,2}'¦@@ '1&2'¦&& '{1}'¦<@ '{1,2}'¦= '{1}']]
select count(*), min(id), max(id) from gi where a [[@>¦<@¦&&¦=]] [['{1}'¦'{1,11}'¦'{}'¦'{1,2,3,4,10,11,12}'¦'{1,1,1}'¦'{99}'¦'{-1}']]
select count(*), min(id), max(id) from gi where a @@ [['1'¦'1&11'¦'1|-1'¦'!1'¦'1&!11'¦'!1&!2'¦'(1|2)&(10|12)'¦'!(1&11)'¦'1|!1']]
select count(*) from gi where a @> '{1,NULL}'
reset enable_seqscan
drop table gi
drop extension intarray
drop schema eg cascade
