//! Expressions and queries in catalogs: Norsu's are equal to PostgreSQL's except for OIDs and
//! locations in the text. Stored calls of PostgreSQL that omit arguments are evaluated with the
//! defaults.

use crate::pair::Pair;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::Norsu;
use testkit::postgres::{self, PostgresServer, chown_to_server_user};

const OBJECTS: [&str; 4] = [
    "CREATE TYPE pair AS (x int, y text)",
    "CREATE TABLE s (a int, b text, c pair, l int[], d timestamp)",
    "CREATE FUNCTION plus(x int, y int DEFAULT 5, z int DEFAULT 6) RETURNS int LANGUAGE sql \
     IMMUTABLE RETURN x + y + z",
    "CREATE VIEW below AS SELECT a, b FROM s ORDER BY b",
];

const QUERIES: [&str; 17] = [
    "SELECT array_agg(a ORDER BY b DESC, b || 'x') FILTER (WHERE a > 1), count(*) AS n FROM s",
    "SELECT string_agg(b, ',' ORDER BY a), max(a) AS m FROM s GROUP BY l ORDER BY l",
    "SELECT array_agg(DISTINCT a ORDER BY a), sum(a) OVER (ORDER BY b) FROM s GROUP BY a, b",
    "SELECT a FROM s GROUP BY DISTINCT ROLLUP (a, b), CUBE (b)",
    "WITH q AS (SELECT 1 AS v), r AS MATERIALIZED (SELECT v FROM q) SELECT * FROM r",
    "WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r",
    "SELECT a IN (SELECT a FROM below) AS x, a NOT IN (SELECT a FROM s) AS y, (a, b) IN (SELECT a, \
     b FROM s) AS c FROM s",
    "SELECT a = ANY (SELECT a FROM s), EXISTS (SELECT FROM s), ARRAY(SELECT a FROM s) FROM s",
    "SELECT make_interval(days => a), plus(z => 1, x => a, y => 2), plus(x => a, \
     z => 3) AS p FROM s",
    "SELECT CASE a WHEN 1 THEN b END, COALESCE(b, 'x'), NULLIF(a, 1), (a, b) < (1, 'x') FROM s",
    "SELECT (c).x, l[1:2], l[1] AS first, c::text, (s.c).y || 'z' FROM s",
    "SELECT x.*, y.a AS ya FROM s x LEFT JOIN LATERAL (SELECT x.a + 1 AS a) y USING (a)",
    "SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY['p', 'q'])) WITH ORDINALITY f(p, \
     q, r)",
    "SELECT rank() OVER w, sum(a) OVER (w ROWS 1 PRECEDING) FROM s WINDOW w AS (PARTITION BY b \
     ORDER BY a)",
    "SELECT a FROM s UNION ALL (SELECT 2 EXCEPT SELECT 3) ORDER BY 1 LIMIT 1",
    "SELECT DISTINCT ON (b) b, a FROM s TABLESAMPLE SYSTEM (50) REPEATABLE (1) ORDER BY b, a DESC",
    "SELECT a FROM s WHERE b LIKE 'x%' AND d AT TIME ZONE 'UTC' > '2000-01-01' FOR UPDATE SKIP \
     LOCKED",
];

fn stored(client: &mut Client) -> Vec<String> {
    OBJECTS.iter().for_each(|sql| drop(client.must(sql)));
    let texts = QUERIES.iter().enumerate().map(|(n, query)| {
        client.must(&format!("CREATE VIEW v{n} AS {query}"));
        client.value(&format!(
            r"SELECT regexp_replace(regexp_replace(ev_action::text,
            ' :(location|stmt_location|stmt_len) -?\d+', '', 'g'),
            '\m(1[6-9]|2\d)\d\d\d\M', 'N', 'g') FROM pg_rewrite WHERE ev_class = 'v{n}'::regclass"
        ))
    });
    texts.collect()
}

#[test]
fn queries_are_stored_as_by_postgres() {
    let pair = Pair::start("stored", "C", &[]);
    let have = stored(&mut pair.ours.connect("postgres"));
    let want = stored(&mut pair.real.connect("postgres"));
    for ((have, want), query) in have.iter().zip(&want).zip(QUERIES) {
        assert_eq!(have, want, "{query}");
    }
}

#[test]
fn calls_are_evaluated_with_their_defaults() {
    let dir = TempDir::new("calls");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C"]);
    let server = PostgresServer::start(&data, "postgres");
    for sql in OBJECTS.iter().chain(&[
        "CREATE DOMAIN limited AS int CHECK (plus(value) < 100)",
        "CREATE FUNCTION within(v int) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT plus(v, \
         z => 1); END",
        "CREATE TABLE t (a int CHECK (plus(a) > 0), g int GENERATED ALWAYS AS (plus(a)) STORED, \
         h int DEFAULT plus(z => 1, x => 1), i limited)",
        "CREATE INDEX t_plus ON t (plus(a)) WHERE plus(x => a, z => 0) < 1000",
    ]) {
        server.query("postgres", sql);
    }
    drop(server);
    chown_to_server_user(&data);
    let server = Norsu::start(&data, &[]);
    let mut client = server.connect("postgres");
    client.must("INSERT INTO t (a, i) VALUES (1, 2)");
    assert_eq!(client.rows("SELECT * FROM t"), ["1|12|7|2"]);
    let refused = client.query("INSERT INTO t (a) VALUES (-20)").expect("an answer");
    assert_eq!(refused.code(), "23514");
    let refused = client.query("INSERT INTO t (i) VALUES (99)").expect("an answer");
    assert_eq!(refused.code(), "23514");
    assert_eq!(client.value("SELECT within(1)"), "7");
    client.must("REINDEX TABLE t; SET enable_seqscan = off");
    assert_eq!(client.rows("SELECT a FROM t WHERE plus(a) = 12 AND plus(a, z => 0) < 1000"), ["1"]);
}

/// Row values in columns, arrays, domains and nested rows, of types that PostgreSQL created and to
/// which columns are added later.
#[test]
fn row_values_of_either_server_are_read_by_the_other() {
    const TYPES: &str = "
        CREATE TYPE pair AS (a int, b text[]); CREATE TYPE around AS (p pair, n int); \
          CREATE DOMAIN pairs AS pair[];
        CREATE DOMAIN one_pair AS pair; CREATE TABLE source (a int, b text); \
          INSERT INTO source VALUES (1, 'x')";
    const COLUMNS: [(&str, &str); 7] = [
        ("pair", "row(7, ARRAY['z'])"),
        ("pair[]", "ARRAY[row(7, ARRAY['z'])::pair, NULL]"),
        ("pairs", "ARRAY[row(7, NULL)::pair]"),
        ("one_pair", "row(7, ARRAY['z'])::pair"),
        ("around", "row(row(7, ARRAY['z'])::pair, 1)"),
        ("source", "(SELECT source FROM source LIMIT 1)"),
        ("around[]", "'{\"(\\\"(7,{q})\\\",1)\"}'"),
    ];
    let dir = TempDir::new("rowvalues");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C"]);
    let fill = |client: &mut Client, who: i32| {
        for (n, (_, value)) in COLUMNS.iter().enumerate() {
            client.must(&format!("INSERT INTO t{n} (who, v) VALUES ({who}, {value})"));
            client.must(&format!("UPDATE t{n} SET who = -who WHERE who = {who}"));
        }
        client.must(&format!("INSERT INTO fields (who, v) VALUES ({who}, NULL)"));
        client.must("UPDATE fields SET v.n = 5, v.p.a = 6");
    };
    let read = |client: &mut Client| -> Vec<String> {
        let names = (0..COLUMNS.len()).map(|n| format!("t{n}")).chain(["fields".to_owned()]);
        let rows = names.flat_map(|name| {
            let list = client.must(&format!("SELECT who, v, v::text FROM {name} ORDER BY 1, 3"));
            list.text()
        });
        rows.collect()
    };
    let mut known = Vec::new();
    for round in 0..4 {
        if round % 2 == 0 {
            let server = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
            let mut client = server.connect("postgres");
            if round == 0 {
                client.must(TYPES);
                for (n, (ty, _)) in COLUMNS.iter().enumerate() {
                    client.must(&format!("CREATE TABLE t{n} (who int, v {ty})"));
                }
                client.must("CREATE TABLE fields (who int, v around)");
            } else {
                assert_eq!(read(&mut client), known);
                client.must("ALTER TABLE source ADD c int");
            }
            fill(&mut client, round + 1);
            known = read(&mut client);
        } else {
            chown_to_server_user(&data);
            let server = Norsu::start(&data, &[]);
            let mut client = server.connect("postgres");
            assert_eq!(read(&mut client), known);
            fill(&mut client, round + 1);
            if round == 1 {
                client.must("ALTER TABLE source ADD d text");
                fill(&mut client, 9);
            }
            known = read(&mut client);
            drop(client);
            server.stop(&data);
        }
    }
    let server = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
    assert_eq!(read(&mut server.connect("postgres")), known);
}
