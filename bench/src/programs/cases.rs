//! The statements of `bench/run programs`.

/// A statement that is measured.
pub struct Case {
    pub name: &'static str,
    /// Runs before each measurement, and is not measured.
    pub before: &'static str,
    pub sql: &'static str,
}

const fn case(name: &'static str, before: &'static str, sql: &'static str) -> Case {
    Case { name, before, sql }
}

/// A table of the report: its title, what it creates, and its statements.
pub struct Group {
    pub title: &'static str,
    pub setup: &'static str,
    pub cases: &'static [Case],
}

/// `{rows}` is the number of rows of the group "Texts", `{collation}` its collation.
pub const GROUPS: &[Group] = &[
    Group { title: "PL/pgSQL", setup: PROGRAMS, cases: PROGRAM_CASES },
    Group { title: "Triggers", setup: TRIGGERS, cases: TRIGGER_CASES },
    Group { title: "GIN indexes", setup: GIN, cases: GIN_CASES },
    Group { title: "Partitions", setup: PARTITIONS, cases: PARTITION_CASES },
    Group { title: "Texts in a locale", setup: TEXTS, cases: TEXT_CASES },
];

const PROGRAMS: &str = "
create table accounts (id int primary key, balance int, pad text);
insert into accounts select g, 0, repeat('x', 50) from generate_series(1, 100000) g;
create function loop_int(n int) returns bigint language plpgsql as $$
declare s bigint := 0; begin for i in 1..n loop s := s + i % 7; end loop; return s; end $$;
create function loop_numeric(n int) returns numeric language plpgsql as $$
declare i int := 0; x numeric := 0;
begin
  while i < n loop
    i := i + 1;
    if i % 3 = 0 then x := x + 1.5; else x := x - 0.5; end if;
  end loop;
  return x;
end $$;
create function loop_text(n int) returns int language plpgsql as $$
declare t text := ''; k int := 0;
begin
  for i in 1..n loop
    t := 'abc' || i;
    if length(t) > 6 then k := k + 1; end if;
  end loop;
  return k;
end $$;
create function loop_array(n int) returns bigint language plpgsql as $$
declare a int[] := array_fill(0, array[1000]); s bigint := 0;
begin
  for i in 1..n loop
    a[i % 1000 + 1] := i;
    s := s + a[(i * 7) % 1000 + 1];
  end loop;
  return s;
end $$;
create function loop_query(n int) returns bigint language plpgsql as $$
declare s bigint := 0; r int;
begin
  for i in 1..n loop select balance into r from accounts where id = i; s := s + r; end loop;
  return s;
end $$;
create function loop_rows(n int) returns bigint language plpgsql as $$
declare s bigint := 0; r record;
begin for r in select * from accounts limit n loop s := s + r.id; end loop; return s; end $$;
create function loop_update(n int) returns void language plpgsql as $$
begin for i in 1..n loop update accounts set balance = balance + 1 where id = i; end loop; end $$;
create function loop_execute(n int) returns bigint language plpgsql as $$
declare s bigint := 0; r int;
begin
  for i in 1..n loop
    execute 'select balance from accounts where id = $1' into r using i;
    s := s + r;
  end loop;
  return s;
end $$;
create function loop_exceptions(n int) returns int language plpgsql as $$
declare k int := 0;
begin
  for i in 1..n loop
    begin perform 1 / (i % 2); exception when division_by_zero then k := k + 1; end;
  end loop;
  return k;
end $$;
create function fib(n int) returns int language plpgsql as $$
begin if n < 2 then return n; end if; return fib(n - 1) + fib(n - 2); end $$;
create function return_next(n int) returns setof accounts language plpgsql as $$
declare r accounts;
begin for r in select * from accounts limit n loop return next r; end loop; end $$;
create function return_query(n int) returns setof accounts language plpgsql as $$
begin return query select * from accounts limit n; end $$;
create function plus_one(a int) returns int language plpgsql as $$ begin return a + 1; end $$;
create function greatest_sql(a int) returns int language sql as $$
select max(a) from (values (a), (1)) v(a) $$;
";

const PROGRAM_CASES: &[Case] = &[
    case("FOR over integers, sum and %, 2,000,000", "", "select loop_int(2000000)"),
    case("WHILE, numeric, IF, 1,000,000", "", "select loop_numeric(1000000)"),
    case("text: ||, length, IF, 500,000", "", "select loop_text(500000)"),
    case("array elements read and assigned, 500,000", "", "select loop_array(500000)"),
    case("SELECT INTO by key, 100,000", "", "select loop_query(100000)"),
    case("FOR over a query, 100,000 rows", "", "select loop_rows(100000)"),
    case("UPDATE by key, 30,000", "", "select loop_update(30000)"),
    case("EXECUTE … USING, 50,000", "", "select loop_execute(50000)"),
    case("blocks with handlers, half of them used, 50,000", "", "select loop_exceptions(50000)"),
    case("recursion, fib(22)", "", "select fib(22)"),
    case("RETURN NEXT, 100,000 rows", "", "select count(*) from return_next(100000)"),
    case("RETURN QUERY, 100,000 rows", "", "select count(*) from return_query(100000)"),
    case(
        "a call for each row, 300,000",
        "",
        "select sum(plus_one(g)) from generate_series(1, 300000) g",
    ),
    case(
        "a function in SQL for each row, 100,000",
        "",
        "select sum(greatest_sql(g)) from generate_series(1, 100000) g",
    ),
];

const TRIGGERS: &str = "
create table plain (id int, v int);
create table before_row (id int, v int);
create table after_row (id int, v int);
create table log (id int, v int);
create function set_v() returns trigger language plpgsql as $$
begin new.v := new.v + 1; return new; end $$;
create function add_log() returns trigger language plpgsql as $$
begin insert into log values (new.id, new.v); return null; end $$;
create trigger t before insert on before_row for each row execute function set_v();
create trigger t after insert on after_row for each row execute function add_log();
";

const TRIGGER_CASES: &[Case] = &[
    case(
        "INSERT of 200,000 rows without triggers",
        "truncate plain",
        "insert into plain select g, g from generate_series(1, 200000) g",
    ),
    case(
        "the same with a BEFORE trigger that assigns",
        "truncate before_row",
        "insert into before_row select g, g from generate_series(1, 200000) g",
    ),
    case(
        "INSERT of 100,000 rows with an AFTER trigger that inserts",
        "truncate after_row, log",
        "insert into after_row select g, g from generate_series(1, 100000) g",
    ),
];

const GIN: &str = "
create table documents (id int, a int[], d jsonb, t tsvector);
insert into documents
select g, array[g % 1000, g % 777, g % 13],
  jsonb_build_object('k', g % 1000, 'tags', jsonb_build_array('a' || g % 50, 'b' || g % 500)),
  to_tsvector('english',
    'document number ' || g || ' about topic' || g % 300 || ' and subject' || g % 4000)
from generate_series(1, 200000) g;
create table arrivals (id int, a int[], d jsonb, t tsvector);
create index on arrivals using gin (a);
create index on arrivals using gin (d);
create index on arrivals using gin (t);
create index documents_a on documents using gin (a);
create index documents_d on documents using gin (d);
create index documents_p on documents using gin (d jsonb_path_ops);
create index documents_t on documents using gin (t);
";

const GIN_CASES: &[Case] = &[
    case(
        "build over int[], 200,000 rows",
        "drop index documents_a",
        "create index documents_a on documents using gin (a)",
    ),
    case(
        "build over jsonb",
        "drop index documents_d",
        "create index documents_d on documents using gin (d)",
    ),
    case(
        "build over jsonb, jsonb_path_ops",
        "drop index documents_p",
        "create index documents_p on documents using gin (d jsonb_path_ops)",
    ),
    case(
        "build over tsvector",
        "drop index documents_t",
        "create index documents_t on documents using gin (t)",
    ),
    case(
        "1,000 look-ups of two elements",
        "",
        "do $$ begin for i in 1..1000 loop
         perform count(*) from documents where a @> array[i, i % 777]; end loop; end $$",
    ),
    case(
        "1,000 look-ups of two words",
        "",
        "do $$ declare q tsquery; begin for i in 1..1000 loop
         q := to_tsquery('english', 'topic' || i % 300 || ' & subject' || i);
         perform count(*) from documents where t @@ q; end loop; end $$",
    ),
    case(
        "300 look-ups of jsonb by @>",
        "",
        "do $$ begin for i in 1..300 loop
         perform count(*) from documents
         where d @> jsonb_build_object('k', i, 'tags', jsonb_build_array('b' || i % 500));
         end loop; end $$",
    ),
    case(
        "INSERT of 20,000 rows into three indexes",
        "truncate arrivals",
        "insert into arrivals select id, a, d, t from documents where id <= 20000",
    ),
];

const PARTITIONS: &str = "
create table parted (id int, v int, t text) partition by range (id);
do $$ begin for i in 0..999 loop
  execute format('create table parted_%s partition of parted for values from (%s) to (%s)',
    i, i * 1000, (i + 1) * 1000);
end loop; end $$;
create table indexed (id int, v int, t text) partition by range (id);
do $$ begin for i in 0..999 loop
  execute format('create table indexed_%s partition of indexed for values from (%s) to (%s)',
    i, i * 1000, (i + 1) * 1000);
end loop; end $$;
insert into indexed select g, g, 'abc' from generate_series(0, 999999) g;
create index on indexed (id);
analyze indexed;
";

const PARTITION_CASES: &[Case] = &[
    case(
        "1,000 partitions created",
        "drop table if exists many;
         create table many (id int, v int, t text) partition by range (id)",
        "do $$ begin for i in 0..999 loop
           execute format('create table many_%s partition of many for values from (%s) to (%s)',
             i, i * 1000, (i + 1) * 1000);
         end loop; end $$",
    ),
    case(
        "1,000,000 rows routed to 1,000 partitions, in random order",
        "truncate parted",
        "insert into parted select (g::bigint * 7919 % 1000000)::int, g, 'abc'
         from generate_series(1, 1000000) g",
    ),
    case(
        "1,000 point queries that are planned each time",
        "",
        "do $$ declare n int; begin for i in 1..1000 loop
         execute format('select count(*) from indexed where id = %s', i * 997) into n;
         end loop; end $$",
    ),
    case(
        "10,000 point queries with a plan that is kept",
        "",
        "do $$ declare n int; begin for i in 1..10000 loop
         select count(*) into n from indexed where id = i * 97; end loop; end $$",
    ),
    case("count(*) of all partitions", "", "select count(*) from indexed"),
    case(
        "UPDATE that moves 10,000 rows",
        "delete from parted where id >= 990000;
         insert into parted select g, g, 'abc' from generate_series(990000, 999999) g",
        "update parted set id = id - 1000 where id >= 990000",
    ),
    case("ANALYZE", "", "analyze indexed"),
];

const TEXTS: &str = "
create table texts (s text collate \"{collation}\");
insert into texts select md5(g::text) || ' ' || md5((g * 7)::text)
from generate_series(1, {rows}) g;
";

const TEXT_CASES: &[Case] = &[
    case("sort", "", "select count(*) from (select s from texts order by s offset 1) x"),
    case("CREATE INDEX", "drop index if exists texts_s", "create index texts_s on texts (s)"),
];
