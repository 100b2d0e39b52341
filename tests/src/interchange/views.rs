//! Views on the other server's directory: each server reads every view of `pg_catalog` and
//! `information_schema`, and user-defined views, with the same results as the server that created
//! them.

use std::collections::BTreeMap;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};

/// Objects that both servers can create.
const OBJECTS: &str = "
CREATE DOMAIN pos AS integer DEFAULT 1 CHECK (VALUE > 0);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE TABLE a (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n numeric(8,2) DEFAULT 0,
  v varchar(20) COLLATE \"C\" NOT NULL, p pos, t timestamp(3) DEFAULT '2020-02-03', i interval,
  x text[], m mood DEFAULT 'ok', gone int, UNIQUE (v, n), CHECK (n >= 0));
ALTER TABLE a DROP COLUMN gone;
CREATE TABLE b (a integer REFERENCES a ON DELETE CASCADE DEFERRABLE, c char(3), d date, e bit(5));
CREATE INDEX ON b (d); CREATE INDEX b_expr ON b (lower(c), (a + 1)) WHERE a > 3;
CREATE SEQUENCE s AS smallint CYCLE;
CREATE ROLE ann LOGIN; CREATE ROLE grp; GRANT grp TO ann; ALTER ROLE ann SET work_mem = '1MB';
GRANT SELECT, INSERT ON a TO ann WITH GRANT OPTION; GRANT UPDATE (v) ON a TO PUBLIC;
CREATE STATISTICS st (mcv, ndistinct) ON d, c FROM b;
CREATE FUNCTION twice(x int, y int DEFAULT 2) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT x * y';
CREATE FUNCTION body(x int) RETURNS int LANGUAGE sql RETURN x + 1;
INSERT INTO a (n, v, x) SELECT g % 7, g, ARRAY['e' || g % 3, 'f'] FROM generate_series(1, 500) g;
INSERT INTO b SELECT g, 'c' || g % 3, '2020-01-01'::date + g FROM generate_series(1, 500) g;
SELECT nextval('s');";

/// User-defined views.
const VIEWS: [&str; 24] = [
    "SELECT id, v FROM a WHERE n > 1",
    "SELECT a.id, b.c, b.d FROM a JOIN b ON b.a = a.id AND b.c <> 'c1' ORDER BY a.id DESC LIMIT 20",
    "SELECT a.id, b.c FROM a LEFT JOIN b ON b.a = a.id + 490",
    "SELECT c, count(*), sum(a) FILTER (WHERE a > 100), avg(a)::numeric(10, 2), \
     max(d) FROM b GROUP BY c HAVING count(*) > 1",
    "SELECT id, row_number() OVER w, lag(n, 1, -1.0) OVER (PARTITION BY n ORDER BY id ROWS 2 \
     PRECEDING) FROM a WINDOW w AS (ORDER BY n, id)",
    "WITH q AS (SELECT id, n FROM a WHERE id < 20) SELECT q.id, r.n FROM q JOIN q r USING (id)",
    "WITH RECURSIVE r(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM r WHERE i < 10) SELECT i FROM \
     r",
    "SELECT CASE n WHEN 0 THEN 'nil' WHEN 1 THEN 'one' ELSE v || '!' END, \
     CASE WHEN id > 9 THEN 1 END FROM a",
    "SELECT id FROM a WHERE id IN (SELECT a FROM b WHERE c = 'c2') AND NOT EXISTS (SELECT FROM b \
     WHERE b.a = a.id - 1 AND c = 'c0')",
    "SELECT id, (SELECT max(d) FROM b WHERE b.a <= a.id) AS latest FROM a WHERE id < 30",
    "SELECT v FROM a WHERE n = ANY (ARRAY[1, 2]::numeric[]) UNION SELECT c FROM b EXCEPT SELECT \
     'c1' ORDER BY 1",
    "SELECT DISTINCT ON (c) c, a, d FROM b ORDER BY c, d DESC",
    "SELECT x[1], x[1:2], array_length(x, 1), ARRAY[id, 2, 3], x || 'z'::text FROM a WHERE x @> \
     ARRAY['e1']",
    "SELECT ROW(id, v)::text, (ROW(1, 'q')::pair).b, COALESCE(t, '2000-01-01'), NULLIF(id, 3), \
     GREATEST(id, 5, n) FROM a",
    "SELECT v COLLATE \"POSIX\", v LIKE '1%', v ~ '^2', v BETWEEN '1' AND '3', n IS NULL, \
     (n > 1) IS NOT TRUE, n IS DISTINCT FROM 2 FROM a",
    "SELECT m, m > 'sad', p::text, p + 1 FROM a WHERE m <> 'happy'",
    "SELECT twice(id), twice(id, 3), body(id) FROM a WHERE id < 5",
    "SELECT g, lower(g::text) FROM generate_series(1, 5) WITH ORDINALITY AS f(g, o) WHERE o > 1",
    "SELECT a.id, l.d FROM a, LATERAL (SELECT d FROM b WHERE b.a = a.id LIMIT 1) l WHERE a.id < 9",
    "SELECT c, d, count(*) FROM b WHERE a < 20 GROUP BY GROUPING SETS ((c), (d), ()) ORDER BY 1, 2",
    "SELECT date_trunc('month', d), extract(dow FROM d), d + 3, d - date '2020-01-01', \
     d::timestamp AT TIME ZONE 'UTC' IS NULL FROM b",
    "SELECT substring(v FROM 1 FOR 2), position('1' IN v), overlay(v PLACING 'xx' FROM 1), \
     trim(BOTH '1' FROM v) FROM a",
    "SELECT current_database()::text, current_user = session_user AS same, \
     id::oid::regclass::text FROM a WHERE id = 1",
    "SELECT string_agg(v, ',' ORDER BY v DESC), array_agg(DISTINCT n), percentile_cont(0.5) WITHIN \
     GROUP (ORDER BY id), bool_and(n >= 0) FROM a",
];

/// Views that depend on time, memory, the server or the run.
const UNSTABLE: [&str; 17] = [
    "pg_stat_",
    "pg_statio_",
    "pg_locks",
    "pg_settings",
    "pg_file_settings",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_config",
    "pg_shmem_allocations",
    "pg_backend_memory_contexts",
    "pg_available_extension",
    "pg_cursors",
    "pg_prepared_statements",
    "pg_replication_origin_status",
    // Average widths are estimated from random samples.
    "pg_stats",
    "pg_timezone",
    "pg_replication_slots",
];

/// Views that need a feature that one of the servers lacks, with the error.
const MISSING: [(&str, &str); 2] = [
    ("pg_catalog.pg_stats_ext", "pg_mcv_list_items is not supported"),
    ("pg_catalog.norsu_stat_rusage", "\"norsu_stat_get_rusage\" is not in internal lookup table"),
];

/// Objects that only PostgreSQL can create, which the views return: foreign data, transforms,
/// triggers, jsonb values.
fn postgres_objects() -> String {
    let many: Vec<String> = (0..100).map(|i| format!("[{i}.50, \"s{i}\", -{i}]")).collect();
    let many = many.join(", ");
    format!(
        r#"
CREATE FOREIGN DATA WRAPPER w OPTIONS (a '1', b 'x=y'); GRANT USAGE ON FOREIGN DATA WRAPPER w TO
  ann;
CREATE SERVER srv TYPE 't' VERSION 'v' FOREIGN DATA WRAPPER w OPTIONS (host 'h');
GRANT USAGE ON FOREIGN SERVER srv TO ann WITH GRANT OPTION;
CREATE USER MAPPING FOR PUBLIC SERVER srv OPTIONS (password 'p');
CREATE USER MAPPING FOR ann SERVER srv OPTIONS (password 'q', b 'c');
CREATE TRANSFORM FOR int LANGUAGE sql
  (FROM SQL WITH FUNCTION prsd_lextype(internal), TO SQL WITH FUNCTION int4recv(internal));
CREATE FUNCTION tr() RETURNS trigger LANGUAGE plpgsql AS 'begin return new; end';
CREATE TRIGGER tg BEFORE UPDATE OF v, n OR INSERT ON a FOR EACH ROW EXECUTE FUNCTION tr('x');
CREATE AGGREGATE ag(int) (sfunc = int4pl, stype = int);
CREATE FUNCTION j(a jsonb DEFAULT '{{"a": [1, 2.50, -3e10, null, true, false,
  {{"b": "q\"\\x\tt\u0001é/"}}],
  "": {{}}, "e": [], "n": 1e-20, "f": 123456789012345678901234567890}}', b jsonb DEFAULT '5',
  c jsonb DEFAULT '"x"', d jsonb DEFAULT '[{many}]', e jsonb DEFAULT 'null') RETURNS int LANGUAGE
  sql AS 'SELECT 1';
"#
    )
}

fn user_view(n: usize) -> String {
    format!("public.u{n}")
}

/// The rows of every view, or its error.
fn answers(client: &mut Client) -> Answers {
    client.must("SET extra_float_digits = 0");
    let mut names = client.rows(
        "SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n \
         ON n.oid = relnamespace WHERE relkind = 'v' AND nspname <> 'public' ORDER BY 1",
    );
    names.extend((0..VIEWS.len()).map(user_view));
    let mut out = BTreeMap::new();
    for name in names {
        // A query of all rows would call SQL functions about ten thousand times.
        let some =
            if name == "information_schema.columns" { "WHERE table_schema = 'public'" } else { "" };
        let reply = client.query(&format!("SELECT v::text FROM {name} v {some}"));
        let reply = reply.unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut rows = match &reply.error {
            None => Ok(reply.text()),
            Some(e) => Err(format!("{} {}", e.code, e.message)),
        };
        if let Ok(rows) = &mut rows {
            rows.sort();
        }
        out.insert(name, rows);
    }
    for n in 0..VIEWS.len() {
        let name = user_view(n);
        let sql = format!("SELECT pg_get_viewdef('{name}'::regclass, true)");
        out.insert(format!("text of {name}"), Ok(client.rows(&sql)));
    }
    out
}

fn make(client: &mut Client) {
    client.must(OBJECTS);
    for (n, view) in VIEWS.iter().enumerate() {
        let columns = client.query(&format!("CREATE VIEW {} AS {view}", user_view(n)));
        let columns = columns.unwrap();
        if let Some(e) = columns.error {
            assert_eq!(e.code, "42701", "{view}: {e:?}");
            let name = user_view(n);
            let letters = ('p'..='w').map(|c| c.to_string()).collect::<Vec<_>>();
            let width = client.must(view).answers[0].fields.len();
            client.must(&format!("CREATE VIEW {name}({}) AS {view}", letters[..width].join(", ")));
        }
    }
    client.must("VACUUM ANALYZE");
}

type Answers = BTreeMap<String, Result<Vec<String>, String>>;

/// The number of compared views, and the differences.
fn compare(made: &Answers, other: &Answers) -> (usize, Vec<String>) {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, rows) in made {
        let Some(found) = other.get(name) else {
            wrong.push(format!("{name} is not there"));
            continue;
        };
        if let Err(e) = found {
            if MISSING.iter().any(|(view, why)| view == name && e.contains(why)) {
                continue;
            }
            wrong.push(format!("{name}: {e}"));
            continue;
        }
        let plain = name.split_once('.').map_or(name.as_str(), |(_, n)| n);
        if UNSTABLE.iter().any(|u| plain.starts_with(u)) {
            continue;
        }
        compared += 1;
        if rows != found {
            let (Ok(rows), Ok(found)) = (rows, found) else {
                wrong.push(format!("{name}: {rows:?} on the server that created it"));
                continue;
            };
            let lost: Vec<_> = rows.iter().filter(|r| !found.contains(r)).take(3).collect();
            let extra: Vec<_> = found.iter().filter(|r| !rows.contains(r)).take(3).collect();
            wrong.push(format!("{name}: lost {lost:#?} extra {extra:#?}"));
        }
    }
    (compared, wrong)
}

fn assert_same(made: &Answers, other: &Answers) {
    let (compared, wrong) = compare(made, other);
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 80, "{compared}");
}

#[test]
fn postgres_runs_the_views_of_norsu() {
    let dir = TempDir::new("views");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let ours = Norsu::start(&data, &["-c", "autovacuum=off"]);
    let mut client = ours.connect("postgres");
    make(&mut client);
    let made = answers(&mut client);
    drop(client);
    ours.stop(&data);
    let real = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
    let mut found = answers(&mut real.connect("postgres"));
    assert_same(&made, &found);
    // Each of these must be detected: another row, another definition, a missing view, a failing
    // view.
    found.insert("pg_catalog.pg_tables".to_owned(), Ok(Vec::new()));
    found.insert("text of public.u3".to_owned(), Ok(vec!["SELECT 1".to_owned()]));
    found.insert("public.u4".to_owned(), Err("58000 broken".to_owned()));
    found.remove("public.u5");
    assert_eq!(compare(&made, &found).1.len(), 4);
}

#[test]
fn norsu_runs_the_views_of_postgres() {
    let dir = TempDir::new("views");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "-k"]);
    let real = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
    let mut client = real.connect("postgres");
    make(&mut client);
    client.must(&postgres_objects());
    let made = answers(&mut client);
    drop((client, real));
    let ours = Norsu::start(&data, &["-c", "autovacuum=off"]);
    assert_same(&made, &answers(&mut ours.connect("postgres")));
}
