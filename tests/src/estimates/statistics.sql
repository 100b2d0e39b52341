-- The statistics of all columns, of index expressions, and their stored form.
select tablename, attname, inherited, null_frac, avg_width, n_distinct, correlation from pg_stats where tablename like 'd%' order by 1, 2
select tablename, attname, most_common_vals::text, most_common_freqs from pg_stats where tablename like 'd%' order by 1, 2
select tablename, attname, histogram_bounds::text, elem_count_histogram from pg_stats where tablename like 'd%' order by 1, 2
select tablename, attname, most_common_elems::text, most_common_elem_freqs from pg_stats where tablename like 'd%' order by 1, 2
select staattnum, stakind1, staop1, stacoll1, stakind2, staop2, stacoll2, stakind3, staop3, stacoll3, stakind4, staop4, stacoll4, stakind5, staop5, stacoll5 from pg_statistic s join pg_class c on c.oid = starelid where relname like 'd%' order by relname, staattnum
select staattnum, stanumbers1, stanumbers2, stanumbers3, stanumbers4, stanumbers5, stavalues1::text, stavalues2::text from pg_statistic s join pg_class c on c.oid = starelid where relname like 'd%' and stakind1 in (6, 7) order by relname, staattnum
-- Wide values: compressed, in the TOAST table, and left out.
create table w (t text, tv tsvector, ia int[], ir int4multirange)
insert into w select repeat('x', g * 40), (select array_to_tsvector(array_agg('lex' || (n * g % 500))) from generate_series(1, g * 5) n), (select array_agg(n) from generate_series(1, g * 10) n), (select range_agg(int4range(n * 10, n * 10 + 3)) from generate_series(1, g * 5) n) from generate_series(1, 150) g
insert into w values (null, null, null, null), ('', '', '{}', '{}')
analyze w
select attname, null_frac, n_distinct, most_common_elems::text, most_common_elem_freqs, elem_count_histogram from pg_stats where tablename = 'w' order by 1
select stanumbers1, stavalues1::text, stanumbers2, stavalues2::text from pg_statistic where starelid = 'w'::regclass and staattnum = 4
-- More lexemes than the statistics hold, and another target.
create table l (tv tsvector)
insert into l select to_tsvector('simple', string_agg('k' || (n * n * g % 4000), ' ')) from generate_series(1, 300) g, generate_series(1, 90) n group by g
analyze l
select n_distinct, cardinality(most_common_elem_freqs) from pg_stats where tablename = 'l'
alter table l alter tv set statistics 5
analyze l
select n_distinct, avg_width, cardinality(most_common_elem_freqs) from pg_stats where tablename = 'l'
create domain doc as tsvector
create table m (d doc)
insert into m select 'a b c' from generate_series(1, 10)
analyze m
select attname, most_common_elems::text, most_common_elem_freqs from pg_stats where tablename = 'm'
