//! Single statements, each of which exercises one mechanism, over small tables of their own.

pub const TABLES: &[&str] = &[
    "create table series_small as select i as id, i * 37 % 1009 as k, (i % 997)::numeric / 8 as n,
        (i % 997)::float8 / 8 as f from generate_series(1, 20000) i",
    "create table series_large as select i as id, i % 1000 as a, i * 7 % 777 \
     as b, i % 100003 * 7919 % 100003 as k,
        md5(i::text) as t, (i % 9973)::numeric / 100 as n from generate_series(1, 500000) i",
    "create table tree as select i as id from generate_series(1, 100000) i",
    "alter table tree add primary key (id)",
    "create table documents as select jsonb_build_object('id', i, 'tag', i % 50, 'name', 'n' || i,
        'list', jsonb_build_array(i % 7, i % 11)) as j from generate_series(1, 100000) i",
];

/// Name and statement. All return few rows, so that the client's time does not matter.
pub const STATEMENTS: &[(&str, &str)] = &[
    (
        "sum(numeric), current row to unbounded following",
        "select sum(s) from (select sum(n) over (order by id rows between current row \
         and unbounded following) s
            from series_small) q",
    ),
    (
        "sum(int), current row to unbounded following",
        "select sum(s) from (select sum(k) over (order by id rows between current row \
         and unbounded following) s
            from series_small) q",
    ),
    (
        "sum(numeric), 500 preceding to 500 following",
        "select sum(s) from (select sum(n) over (order by id rows between 500 preceding \
         and 500 following) s
            from series_small) q",
    ),
    (
        "avg(int), 500 preceding to 500 following",
        "select sum(s) from (select avg(k) over (order by id rows between 500 preceding \
         and 500 following) s
            from series_small) q",
    ),
    (
        "sum(float8), 500 preceding to 500 following (no inverse)",
        "select sum(s) from (select sum(f) over (order by id rows between 500 preceding \
         and 500 following) s
            from series_small) q",
    ),
    (
        "max(numeric), 500 preceding to 500 following (no inverse)",
        "select sum(s) from (select max(n) over (order by id rows between 500 preceding \
         and 500 following) s
            from series_small) q",
    ),
    (
        "sum(numeric), 50 preceding to 50 following, exclude current row",
        "select sum(s) from (select sum(n) over (order by id rows between 50 preceding \
         and 50 following
            exclude current row) s from series_small) q",
    ),
    (
        "running sum(numeric)",
        "select sum(s) from (select sum(n) over (order by id) s from series_large) q",
    ),
    (
        "row_number over partitions",
        "select sum(s) from (select row_number() over (partition by a order by k) s \
         from series_large) q",
    ),
    (
        "recursive tree",
        "with recursive r (id) as (select 1 union all select c.id from r, tree c
            where c.id in (r.id * 2, r.id * 2 + 1)) select count(*), sum(id) from r",
    ),
    (
        "recursive count to 1,000,000",
        "with recursive r (i) as (select 1 union all select i + 1 from r where i < 1000000)
            select count(*), sum(i) from r",
    ),
    (
        "exp(sum(ln(numeric)))",
        "select round(exp(sum(ln(1 + n / 1000000))), 10) from series_small where id <= 5000",
    ),
    (
        "EXISTS with OR",
        "select count(*) from series_small s where exists (select from tree t \
         where t.id = s.id + 90000)
            or exists (select from tree t where t.id = s.k)",
    ),
    (
        "percentile_cont, grouped",
        "select sum(p) from (select percentile_cont(0.5) within group (order by k) p \
         from series_large
            group by a) q",
    ),
    ("percentile_cont", "select percentile_cont(0.5) within group (order by k) from series_large"),
    ("DISTINCT of two integers", "select count(*) from (select distinct a, b from series_large) q"),
    ("count(DISTINCT)", "select count(distinct k) from series_large"),
    (
        "jsonb_build_object",
        "select sum(length(jsonb_build_object('a', id, 'b', t, 'c', k)::text)) from series_large
            where id <= 100000",
    ),
    (
        "jsonb containment",
        "select count(*) from documents where j @> '{\"tag\": 7}' and j -> 'list' @> '[3]'",
    ),
    (
        "jsonb extraction",
        "select sum((j ->> 'id')::int), count(distinct j ->> 'tag') from documents",
    ),
    ("regular expression", "select count(*) from series_large where t ~ '^[0-9]+[a-f]{3}'"),
    (
        "md5, string_agg",
        "select length(string_agg(md5(t), ',')) from series_large where id <= 200000",
    ),
    ("top 10", "select sum(id) from (select id from series_large order by t limit 10) q"),
    (
        "sort of 500,000 texts",
        "select count(*) from (select t from series_large order by t offset 1) q",
    ),
    (
        "hash join with itself",
        "select count(*), sum(x.b) from series_large x join series_large y on x.k = y.id",
    ),
    (
        "GROUP BY of numeric sums",
        "select sum(s) from (select k, sum(n) s from series_large group by k) q",
    ),
    ("numeric arithmetic", "select sum(n * 1.05 - n / 3 + id) from series_large"),
    (
        "filter over generate_series",
        "select count(*) from generate_series(1, 1000000) i where i % 7 = 3",
    ),
    (
        "CREATE INDEX on (l_partkey, l_suppkey)",
        "create index measured on lineitem (l_partkey, l_suppkey); drop index measured",
    ),
    ("CREATE INDEX on text", "create index measured on series_large (t); drop index measured"),
];
