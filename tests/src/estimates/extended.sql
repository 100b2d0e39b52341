set default_statistics_target = 100
create table e (a int, b int, c text, d date, f bool, n numeric, w text)
insert into e select g % 10, g % 10 / 2, 'c' || g % 5, date '2020-01-01' + g % 20, g % 10 < 3, case when g % 7 <> 0 then g % 20 end, case when g % 100 = 0 then repeat('w', 2000) else 'w' end from generate_series(1, 5000) g
create statistics e_d (ndistinct) on a, b, c from e
create statistics e_f (dependencies) on a, b, d from e
create statistics e_m (mcv) on a, c, f, n from e
create statistics e_all on b, c, d, n from e
create statistics e_x on (a + b), (c || 'x'), d from e
create statistics e_one on (a * 2) from e
create statistics e_w on a, w from e
analyze e
select statistics_name, inherited, attnames, exprs, kinds, n_distinct::text, dependencies::text from pg_stats_ext order by 1
select stxname, i.frequency, i.base_frequency, i.values, i.nulls from pg_statistic_ext join pg_statistic_ext_data on stxoid = oid, pg_mcv_list_items(stxdmcv) i order by 1, 2, 3, 4
select stxname, md5(stxdmcv::text) is not null, length(stxdmcv::text), pg_typeof(stxdexpr) from pg_statistic_ext join pg_statistic_ext_data on stxoid = oid where stxname <> 'e_x' order by 1
select statistics_name, expr, inherited, null_frac, avg_width, n_distinct, most_common_vals::text, most_common_freqs, histogram_bounds::text, correlation from pg_stats_ext_exprs order by 1, 2
create function rows(q text) returns text language plpgsql as $$ declare l text; begin for l in execute 'explain ' || q loop return substring(l from 'rows=(\d+)'); end loop; end $$
select rows('select * from e where a = 1 and b = 0')
select rows('select * from e where a = 1 and b = 3')
select rows('select * from e where a = 1 and b = 0 and c = ''c1''')
select rows('select * from e where a in (1, 2) and b = 0 and d = ''2020-01-05''')
select rows('select * from e where a = 1 and d = ''2020-01-02''')
select rows('select * from e where a < 5 and c = ''c1'' and f')
select rows('select * from e where a < 5 and c = ''c1'' and not f')
select rows('select * from e where (a < 5 or c = ''c1'') and n is null')
select rows('select * from e where a = 1 or c = ''c2''')
select rows('select * from e where a = 1 or c = ''c2'' or n > 5')
select rows('select * from e where a = any (array[1, 2, 3]) and n <> all (array[5, 6])')
select rows('select * from e where (a + b) = 3 and d = ''2020-01-05''')
select rows('select * from e where (a + b) = 3')
select rows('select * from e where (a + b) > 7 and (c || ''x'') = ''c1x''')
select rows('select * from e where (a * 2) = 4')
select rows('select * from e where not (a = 1 and c = ''c1'')')
select rows('select * from e where a = 1 and (c = ''c1'' or c = ''c2'')')
select rows('select * from e where n = 7 and c = ''c2'' and b = 3 and d > ''2020-01-03''')
select rows('select a, b from e group by a, b')
select rows('select a, b, c from e group by a, b, c')
select rows('select b, d from e group by b, d')
select rows('select a, n, d from e group by a, n, d')
select rows('select (a + b), d from e group by 1, 2')
select rows('select (a + b), (c || ''x'') from e group by 1, 2')
select rows('select a + b, a from e group by 1, 2')
-- Targets, columns and warnings.
alter statistics e_m set statistics 3
alter statistics e_d set statistics 0
update e set a = 100 where a = 5
analyze e
select statistics_name, n_distinct::text, cardinality(most_common_freqs) from pg_stats_ext order by 1
analyze e (a, b)
alter table e alter a set statistics 0
analyze e
alter table e alter c type varchar
select stxname, stxdinherit from pg_statistic_ext left join pg_statistic_ext_data on stxoid = oid order by 1
drop statistics e_f
select count(*) from pg_statistic_ext_data where stxoid not in (select oid from pg_statistic_ext)
-- Tables with children and partitions.
create table p (a int, b int) partition by range (a)
create table p1 partition of p for values from (0) to (50)
create table p2 partition of p for values from (50) to (100)
create statistics p_s on a, b from p
create statistics p1_s (mcv) on a, b from p1
insert into p select g % 100, g % 100 / 10 from generate_series(1, 3000) g
analyze p
select statistics_name, inherited, n_distinct::text, dependencies::text, cardinality(most_common_freqs) from pg_stats_ext where statistics_name like 'p%' order by 1
create table i (a int, b int)
create table i1 () inherits (i)
create statistics i_s on a, b from i
insert into i select g % 5, g % 5 from generate_series(1, 500) g
insert into i1 select g % 7, g % 7 from generate_series(1, 700) g
analyze i
select statistics_name, inherited, n_distinct::text, dependencies::text, most_common_freqs from pg_stats_ext where statistics_name like 'i%' order by 1, 2
select rows('select * from only i where a = 1 and b = 1')
select rows('select * from i where a = 1 and b = 1')
select rows('select a, b from i group by a, b')
