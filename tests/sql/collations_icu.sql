create collation ic_de (provider = icu, locale = 'de')
create collation ic_phone (provider = icu, locale = 'de-u-co-phonebk')
create collation ic_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
create collation ic_ai (provider = icu, locale = 'und-u-ks-level1', deterministic = false)
create collation ic_num (provider = icu, locale = 'en-u-kn')
create collation ic_c (locale = 'C')
create collation ic_cutf (locale = 'C.UTF-8')
create collation ic_none (provider = icu, locale = 'de', locale = 'en')
create collation ic_none (provider = libc, locale = 'no_such')
create collation ic_none (provider = icu, locale = 'xx-nonsense')
create collation ic_none (provider = icu, locale = '')
create collation ic_none (lc_collate = 'C')
create collation ic_none (provider = icu)
create collation ic_none (provider = none, locale = 'C')
create collation ic_none (nothing = 1)
create collation ic_none (locale = 'C', deterministic = false)
create collation ic_none (locale = 'C', lc_ctype = 'C')
create collation ic_none (from = "C", locale = 'C')
create collation ic_none from "default"
create collation ic_none from no_such
create collation ic_copy from ic_ci
create collation ic_copy from ic_ci
create collation if not exists ic_copy from ic_ci
create collation no_such_schema.ic (locale = 'C')
select collname, collprovider, collisdeterministic, collencoding, collcollate, collctype, colliculocale, collversion is null from pg_collation where collname like 'ic\_%' order by collname
select pg_collation_actual_version(oid) = collversion from pg_collation where collname = 'ic_de'
alter collation ic_de refresh version
alter collation ic_c refresh version
comment on collation ic_de is 'German'
create table ic (n int, t text, b char(12), v varchar(20))
insert into ic select n, x, x, x from unnest('{a,A,ä,Ä,ae,b,B,z,Z,é,e,E,É,ß,ss,SS,a1,a2,a10,-,a-b,ab,_,"a b",i,I,ı,İ,ж,Ж,漢,"",Straße,STRASSE,Ångström,ångström}'::text[]) with ordinality as u(x, n)
select n from ic order by [[t¦b¦v]] collate [[ic_de¦ic_phone¦ic_num¦"und-x-icu"¦"sv-x-icu"¦"C"¦ic_c¦ic_cutf¦ucs_basic¦"default"]] [[¦desc]], n
select n from ic order by t collate [[ic_ci¦ic_ai]], n limit [[3¦10]]
select t, upper(t collate [[ic_de¦"tr-x-icu"¦ic_c¦ic_ci¦ucs_basic]]), lower(t collate [[ic_de¦"tr-x-icu"¦ic_c]]), initcap(t collate [[ic_de¦"tr-x-icu"¦ic_c]]) from ic order by n
select [[min¦max]]([[t¦b¦v]] collate [[ic_de¦ic_phone¦"sv-x-icu"¦"C"]]) from ic
select n from ic where [[t¦b¦v]] [[<¦<=¦>¦>=¦=¦<>]] 'ä' collate [[ic_de¦ic_ci¦ic_ai]] order by n
select n from ic where t collate [[ic_ci¦ic_ai¦ic_de]] [[in ('A', 'É', 'x')¦not in ('A', 'É')¦= any ('{ä,ss}')¦< all ('{b,z}')¦is distinct from 'A'¦between 'a' and 'c']] order by n
select nullif(t collate ic_ci, 'A'), greatest(t collate ic_de, 'b'), least(t collate ic_de, 'B') from ic order by n
select count(*) from (select distinct [[t¦b¦v]] collate [[ic_ci¦ic_ai¦ic_de]] from ic) s
select count(*) from (select 1 from ic group by [[t¦b¦v]] collate [[ic_ci¦ic_ai¦ic_de]]) s
select count(*) from ic x join ic y on x.[[t¦b]] = y.t collate [[ic_ci¦ic_ai¦ic_de]]
select count(*) from (select t collate ic_ci from ic [[union¦intersect¦except]] select upper(t) collate ic_ci from ic) s
select string_agg(t, ',' order by t collate ic_de), array_agg(distinct t collate ic_de) from ic
select count(distinct t collate [[ic_ci¦ic_de]]) from ic
select n, rank() over (order by t collate ic_de), dense_rank() over (order by t collate ic_ai) from ic order by n
select percentile_disc(0.5) within group (order by t collate ic_de), mode() within group (order by b collate ic_de) from ic
select n from ic where row(t collate ic_de, n) < row('b', 3) order by n
select n from ic where array[t collate [[ic_de¦ic_ci]]] [[<¦=¦&&¦@>]] array['B'] order by n
select array_position(array['x', 'A'] collate ic_ci, 'a')
select t [[like¦ilike¦~¦~*¦similar to]] 'a%' collate [[ic_ci¦ic_de]] from ic where n < 3 order by n
select [[strpos(t, 'a')¦position('a' in t)¦replace(t, 'a', 'b')¦split_part(t, 'a', 1)¦starts_with(t, 'a')¦regexp_replace(t, 'a', 'b')]] from (select 'xay' collate [[ic_ci¦ic_de]] as t) s
select n from ic where t collate [[ic_de¦"tr-x-icu"]] ~* [['^i$'¦'^[[:alpha:]]+$'¦'[[:upper:]]'¦'^[[:lower:]]$'¦'\w\W\w'¦'é']] order by n
select n from ic where t collate [[ic_de¦"tr-x-icu"]] ~ [['^[[:alpha:]]+$'¦'[[:upper:]]'¦'^[[:lower:]]$'¦'[[:digit:]]'¦'[[:punct:]]'¦'[[:space:]]'¦'^[[:alnum:]]+$'¦'^[[:graph:]]+$'¦'^[[:print:]]*$']] order by n
select hashtext(t collate ic_ci) = hashtext(upper(t) collate ic_ci), hashtext(t collate ic_ci), hashtextextended(t collate ic_ai, 5), hashbpchar(b collate ic_ci) from ic where n in (1, 6, 16) order by n
select t < v from (select t collate ic_de as t, v collate ic_phone as v from ic) s
create index ic_t on ic (t collate ic_de)
create index ic_b on ic (b collate ic_phone desc)
create index ic_u on ic (t collate ic_ci, n)
create index ic_h on ic using hash (v collate ic_ci)
create index ic_p on ic (t collate [[ic_ci¦ic_de]] text_pattern_ops)
set enable_seqscan = off
set enable_sort = off
select n, t from ic order by t collate ic_de
select n from ic where t collate ic_de >= 'b' and t collate ic_de < 'f' order by n
select n from ic where t collate ic_ci = 'STRASSE' order by n
select n from ic where v collate ic_ci = 'a' order by n
select n from ic where t collate ic_de like 'a%' order by n
insert into ic values (100, 'azb', 'azb', 'azb'), (101, 'Öl', 'Öl', 'Öl')
select n, t from ic order by t collate ic_de
reset enable_seqscan
reset enable_sort
create table ic_keys (k text collate ic_ci primary key)
insert into ic_keys values ('Key'), ('other')
insert into ic_keys values ('kEY')
insert into ic_keys values ('KEY') on conflict (k) do nothing
select * from ic_keys where k = 'KEY'
create table ic_refs (k text collate ic_ci references ic_keys)
insert into ic_refs values ('OTHER')
insert into ic_refs values ('none')
create type ic_pair as (a int, t text collate ic_de)
create table ic_pairs (p ic_pair)
insert into ic_pairs values (row(1, 'ä')), (row(1, 'b')), (row(1, 'Z'))
select p from ic_pairs order by p
analyze ic
create domain ic_domain as text collate ic_ci check (value <> 'bad')
select 'BAD'::ic_domain
select 'good'::ic_domain = 'GOOD'
drop collation ic_de
drop collation ic_ai
alter collation ic_num rename to ic_c
alter collation ic_num rename to ic_numbers
alter collation ic_numbers owner to nobody
drop collation if exists ic_num
drop collation ic_numbers
select pg_import_system_collations(0)
select pg_import_system_collations('pg_catalog')
set lc_numeric = [['C'¦'POSIX'¦'no_such']]
select to_char(1234567.891, '[[L9G999G999D99¦9,999,999.99¦FM9G999G999D99]]'), to_number('1,234.5', '9G999D9')
-- names, ranges, partitions, indexes of GIN
create collation ic_loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
select 'a'::name [[<¦<=¦>¦>=¦=¦<>]] 'B'::name collate "und-x-icu", btnamecmp('a', 'B' collate "und-x-icu") < 0
select 'a'::name collate ic_loose [[=¦<>¦<]] 'A'::name
create table ic_names (n name, t text)
insert into ic_names select x, x || n from unnest('{b,A,a,B,i,z,ä,I,ı,½}'::text[]) x, generate_series(1, 30) n
select distinct n from ic_names order by n [[¦collate "und-x-icu" desc¦collate "C"]]
create type ic_range as range (subtype = text, collation = "und-x-icu")
create type ic_range_c as range (subtype = text, collation = "C")
select ic_range[[¦_c]]('a', 'C') @> 'B'::text
select ic_range[[¦_c]]('B', 'a')
select x from (values (ic_range('a', 'b')), (ic_range('B', 'c')), (ic_range('A', 'c')), ('empty')) v (x) order by x
select '{[a,B),[b,c)}'::ic_multirange, '{[A,b),[a,c)}'::ic_multirange_c
create table ic_parts (t text collate "und-x-icu") partition by range (t)
create table ic_parts1 partition of ic_parts for values from (minvalue) to ('b')
create table ic_parts2 partition of ic_parts for values from ('b') to (maxvalue)
create table ic_parts3 partition of ic_parts for values from ('A') to ('a')
insert into ic_parts select * from unnest('{b,A,a,B,i,z,ä}'::text[])
select tableoid::regclass, string_agg(t, '' order by t) from ic_parts group by 1 order by 1
explain (costs off) select * from ic_parts where t [[<¦=¦>]] [['A'¦'B'¦'B' collate "C"]]
select count(*) from ic_parts where t [[<¦=¦>]] [['A'¦'B'¦'B' collate "C"]]
create table ic_lists (t text collate ic_loose) partition by list (t)
create table ic_lists1 partition of ic_lists for values in ('a', 'B')
create table ic_lists2 partition of ic_lists for values in ('A')
create table ic_lists3 partition of ic_lists for values in ('c')
insert into ic_lists values ('A'), ('b'), ('C')
insert into ic_lists values ('d')
select tableoid::regclass, t collate "C" from ic_lists order by 2
create table ic_hashed (t text collate ic_loose) partition by hash (t)
create table ic_hashed[[0¦1¦2]] (t text collate ic_loose)
alter table ic_hashed attach partition ic_hashed0 for values with (modulus 3, remainder 0)
alter table ic_hashed attach partition ic_hashed1 for values with (modulus 3, remainder 1)
alter table ic_hashed attach partition ic_hashed2 for values with (modulus 3, remainder 2)
insert into ic_hashed select * from unnest('{b,A,a,B,i,z,ä,Ä,I}'::text[])
select tableoid::regclass, string_agg(t, ',' order by t collate "C") from ic_hashed group by 1 order by 1
select t collate "C" from ic_hashed where t = 'A' order by 1
create index on ic_names using gin (t collate "und-x-icu")
set enable_seqscan = off
select count(*) from ic_names where t collate "und-x-icu" [[<¦<=¦=¦>=¦>]] [['B2'¦'i2'¦'ä1']]
reset enable_seqscan
drop table ic_names, ic_parts, ic_lists, ic_hashed
drop collation ic_loose
-- texts whose abbreviated keys have, or have not, the order of the locale
create collation icp_cs (provider = icu, locale = 'cs')
create collation icp_da (provider = icu, locale = 'da')
create collation icp_hr (provider = icu, locale = 'hr')
create collation icp_numbers (provider = icu, locale = 'en-u-kn')
create collation icp_shifted (provider = icu, locale = 'en-u-ka-shifted')
create collation icp_upper (provider = icu, locale = 'en-u-kf-upper')
create collation icp_phone (provider = icu, locale = 'de-u-co-phonebk')
create table icp_texts (a int, t text)
insert into icp_texts select length(x) % 2, x || y || z from unnest('{a,A,c,ch,h,cz,aa,z,-,1,10,9," ","a b",B,lj,lk}'::text[]) x, unnest('{"",h,a,A,-,0,12,j}'::text[]) y, unnest(array['', chr(9) || 'b', chr(1) || 'y', 'ä', chr(769), '·', 'l·', '_', 'e']) z
select string_agg(t, '|' order by t collate [[icp_cs¦icp_da¦icp_hr¦icp_numbers¦icp_shifted¦icp_upper¦icp_phone¦"en-x-icu"]]) from icp_texts
select string_agg(t, '|' order by t collate [[icp_cs¦icp_numbers¦icp_shifted¦"en-x-icu"]] desc) from icp_texts where t !~ '[^ -~]'
select min(t collate [[icp_cs¦icp_da¦icp_numbers¦"en-x-icu"]]), max(t collate [[icp_hr¦icp_shifted]]) from icp_texts where t > 'b'
select count(*) from icp_texts where t collate [[icp_cs¦icp_da¦icp_hr¦icp_numbers¦icp_shifted¦"en-x-icu"]] [[<¦>=]] [['ch'¦'a-'¦'9'¦'lj']]
set enable_seqscan = off
set enable_sort = off
create index on icp_texts (a, t collate [[icp_cs¦icp_numbers¦icp_shifted¦"en-x-icu"]])
create index on icp_texts (t collate [[icp_cs¦icp_numbers¦"en-x-icu"]] desc)
select string_agg(t, '|') from (select t from icp_texts where a = 1 order by a, t collate [[icp_cs¦icp_numbers¦icp_shifted¦"en-x-icu"]]) s
select string_agg(t, '|') from (select t from icp_texts order by t collate [[icp_cs¦icp_numbers¦"en-x-icu"]] desc) s
reset enable_seqscan
reset enable_sort
