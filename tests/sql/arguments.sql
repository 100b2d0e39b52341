-- Named arguments of SQL functions; expressions that can be indexed.
CREATE SCHEMA arguments; SET search_path = arguments
create type ct as (f int, g text)
create function fa(arg ct) returns int language sql as 'select fa.arg.f'
create function fb(arg ct) returns text language sql as 'select fb.arg.g || arg.g'
create function fc(arg ct) returns int language sql as 'select arg.f'
create function fd(arg ct) returns int language sql return fd.arg.f
create function fe(arg ct) returns setof ct language sql as 'select fe.arg.*'
create function fe2(arg ct) returns setof ct language sql as 'select (fe2.arg).*'
create function ff(arg ct) returns int language sql as 'select ff.arg.nope'
create function fg(arg int) returns int language sql as 'select fg.arg'
create function fh(arg int) returns int language sql as 'select fh.nope'
create function fi(arg ct) returns int language sql as 'select f from (select arg.*) s'
select fa(row(1,'a')), fb(row(2,'b')), fc(row(3,'c')), fd(row(4,'d')), fe(row(5,'e')), fe2(row(1,'b'))
create table pts (p point, b box, j jsonb, arr int[], x xid, c circle, jj json)
create index on pts (p)
create index on pts (x)
create index on pts (jj)
create index on pts using gist (j)
create index on pts using gin (p)
create index on pts using hash (jj)
create index on pts using brin (jj)
create index on pts using spgist (jj)
create index on pts using gin (arr nope)
create index on pts using btree (arr range_ops)
create index on pts using gist (p point_ops desc)
create unique index on pts using hash (x)
create index on pts using hash (x,p)
create index on pts using gin (arr) include (p)
create index on pts using hash (x) include (p)
create index on pts using brin (x) include (p)
create index on pts using hash (x desc)
create index on pts using gin (arr asc)
create index on pts using brin (x nulls first)
alter table pts add unique (jj)
alter table pts add primary key (p)
create index on pts (x) with (fillfactor=1)
-- All arguments of a strict function are evaluated, also the ones after a NULL.
CREATE FUNCTION strict_sum(a int, b int) RETURNS int LANGUAGE sql STRICT AS 'SELECT a + b FROM generate_series(1, 2) LIMIT 1'
SELECT strict_sum([[nullif(g, g), 1 / (g - 2)¦1 / (g - 2), nullif(g, g)¦nullif(g, 2), g¦g, nullif(g, 1)]]) FROM generate_series(1, 2) g
CREATE SEQUENCE strict_s
SELECT strict_sum(nullif(g, g), nextval('strict_s')::int) FROM generate_series(1, 3) g
SELECT last_value FROM strict_s
DROP SEQUENCE strict_s
DROP FUNCTION strict_sum
SET client_min_messages = error; DROP SCHEMA arguments CASCADE
