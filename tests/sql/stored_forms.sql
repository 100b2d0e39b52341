-- Sizes and compression of stored values.
create table sf (id int primary key, small text, plain text, medium text, wide text, raw text, n numeric, arr int[], c char(3), nm name, ts timestamp, nul text)
alter table sf alter raw set storage external
insert into sf values (1, '', 'p', repeat('abc', 40), repeat('wide ', 100000), repeat('raw ', 1000), 12345.678, '{1,2,3}', 'x', 'name', '2024-01-01', null)
insert into sf values (2, repeat('s', 126), repeat('p', 126), repeat('x', 127), repeat('y', 3000), repeat('z', 1990), 0, '{}', 'xyz', '', 'infinity', null)
insert into sf select 3, repeat('s', 127), repeat('p', 200), string_agg(md5(g::text), ''), string_agg(md5(g::text), ' '), 'short', 1e100, array_agg(g), null, null, null, 'x' from generate_series(1, 60) g
insert into sf select 4, 'é', '', string_agg(md5(g::text), ''), string_agg(md5(g::text), ''), string_agg(md5(g::text), ''), null, null, null, null, null, '' from generate_series(1, 600) g
alter table sf add late text default 'late', add number int8 default 7
insert into sf (id, late, number) values (5, 'written', 8)
select id, pg_column_size(id), pg_column_size(small), pg_column_size(plain), pg_column_size(medium), pg_column_size(wide), pg_column_size(raw), pg_column_size(n), pg_column_size(arr), pg_column_size(c), pg_column_size(nm), pg_column_size(ts), pg_column_size(nul), pg_column_size(late), pg_column_size(number) from sf order by id
select id, pg_column_compression(small), pg_column_compression(medium), pg_column_compression(wide), pg_column_compression(raw), pg_column_compression(n), pg_column_compression(arr), pg_column_compression(id), pg_column_compression(nul) from sf order by id
select id, pg_column_size(id), length(small) from sf where pg_column_size(small) > 100 and pg_column_compression(wide) = 'pglz' order by pg_column_size(wide), 1
select pg_column_compression(wide), sum(pg_column_size(wide)), max(id) from sf group by 1 having min(pg_column_size(wide)) > 0 order by 1
select a.id, pg_column_size(a.wide), pg_column_size(b.raw) from sf a left join sf b on b.id = a.id + 1 and pg_column_size(b.raw) > 10 order by 1
select id, (select pg_column_size(s.raw) from sf s where s.id = sf.id) from sf order by 1
select id, pg_column_size(wide || ''), pg_column_size(wide || '') = pg_column_size(wide) from sf where id = 2
select id, pg_column_size(small) from (select * from sf where id < 3) s order by 1
explain (verbose, costs off) select pg_column_size(wide), small from sf where pg_column_compression(raw) is null
explain (costs off) select a.id from sf a join sf b using (id) where pg_column_size(b.wide) > pg_column_size(a.wide)
select pg_column_size([[1¦1::int2¦1::int8¦'a'¦'abc'::text¦'abc'::name¦1.5¦1.5::float8¦null::int¦true¦'{1,2}'::int[]¦'{}'::jsonb¦'{"a": [1, 2]}'::jsonb¦date '2024-01-01'¦interval '1 day'¦row(1, 'x')¦'a'::"char"¦'\x00'::bytea¦B'101'¦'abc'::cstring]])
select pg_column_compression([[1¦'a'¦repeat('a', 10000)¦null::text]])
select pg_column_size('{}'::jsonb || '{"a": 1}'::jsonb) = pg_column_size('{"a": 1}'::jsonb)
create view sf_view as select id, pg_column_size(wide) as size, pg_column_compression(wide) as method from sf; select * from sf_view order by id
select pg_get_viewdef('sf_view')
update sf set small = 'short again', number = pg_column_size(small) where pg_column_size(small) >= 130 returning id, number, pg_column_size(id)
select id, number, pg_column_size(small) from sf order by id
delete from sf where pg_column_size(small) = 1 or pg_column_compression(medium) = 'none'; select count(*) from sf
select pg_column_size(relname), pg_column_size(relkind), pg_column_size(oid) from pg_class where relname = 'pg_class'
drop view sf_view; drop table sf
CREATE TABLE stored_sets (a int, b text); INSERT INTO stored_sets VALUES (1, 'x'), (2, repeat('abc', 30)), (3, NULL)
SELECT a, pg_column_size(a), pg_column_size(b) IS NULL, sum(pg_column_size(a)) FROM stored_sets GROUP BY [[ROLLUP (a, b)¦CUBE (a, b)¦GROUPING SETS ((a, b))]] ORDER BY 1, 2, 3, 4
SELECT a, count(*) FROM stored_sets GROUP BY GROUPING SETS ((a), ()) HAVING pg_column_size(a) IS NULL
DROP TABLE stored_sets
