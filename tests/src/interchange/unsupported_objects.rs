//! Features of PostgreSQL's directories that Norsu does not support: each object either works or is
//! refused by name, at start-up before anything is written, or when it is used. None is ignored.

use crate::refusals::contents;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::Norsu;
use testkit::postgres::{self, PostgresServer, chown_to_server_user, run};
use testkit::verify;

/// Objects created by PostgreSQL.
const OBJECTS: &str = "
CREATE ROLE bob LOGIN; CREATE ROLE eve LOGIN BYPASSRLS;
CREATE FUNCTION one() RETURNS real LANGUAGE c AS '$libdir/pgstattuple', 'pgstatindex';
CREATE FUNCTION row_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.i := 99; RETURN NEW; \
  END';
CREATE TABLE triggered (i int);
CREATE TRIGGER trg AFTER INSERT ON triggered REFERENCING NEW TABLE AS fresh FOR EACH ROW \
  EXECUTE FUNCTION row_trigger();
CREATE TABLE whole (i int) PARTITION BY RANGE (i);
CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (10); INSERT INTO whole VALUES (1), (2);
CREATE TABLE parent (i int); CREATE TABLE child () INHERITS (parent); INSERT INTO parent VALUES (4);
INSERT INTO child VALUES (5); CREATE VIEW over_parent AS SELECT i FROM parent;
CREATE TABLE ruled (i int); CREATE RULE r AS ON INSERT TO ruled DO INSTEAD NOTHING;
CREATE TABLE policed (i int); ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON policed USING (i > 1); INSERT INTO policed VALUES (1), (2); \
  GRANT ALL ON policed TO PUBLIC;
CREATE TABLE excluding (i int, EXCLUDE (i WITH =)); INSERT INTO excluding VALUES (1);
CREATE COLLATION de (provider = icu, locale = 'de'); CREATE TABLE collated (t text COLLATE de, \
  u text COLLATE \"en-x-icu\");
INSERT INTO collated VALUES ('b', 'a'), ('A', 'B'); CREATE VIEW ordered AS SELECT t FROM collated \
  ORDER BY t;
CREATE TABLE indexed (t text COLLATE de PRIMARY KEY); INSERT INTO indexed VALUES ('b'), ('A');
CREATE TABLE naming (i int PRIMARY KEY, t text COLLATE de REFERENCES indexed);
CREATE EXTENSION ltree; CREATE TABLE extended (id int, h ltree); \
  INSERT INTO extended VALUES (1, 'a.b');
CREATE TABLE ranged (a int[], i int PRIMARY KEY, t text); \
  CREATE INDEX ri ON ranged USING brin (i);
INSERT INTO ranged SELECT ARRAY[g, g % 7], g, 'old' FROM generate_series(1, 500) g; \
  CREATE VIEW over_ranged AS SELECT * FROM ranged;
UPDATE ranged SET t = 'new' WHERE i > 480; DELETE FROM ranged WHERE i < 20; \
  CREATE TABLE of_ranged (i int PRIMARY KEY REFERENCES ranged ON UPDATE CASCADE);
INSERT INTO of_ranged VALUES (30);
CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE elsewhere (a text) SERVER files OPTIONS (filename '/proc/sys/kernel/ostype');
CREATE TABLE brin (a int); CREATE INDEX bi ON brin USING brin (a);
CREATE TABLE gist (p point); CREATE INDEX gsi ON gist USING gist (p);
CREATE TABLE spgist (t text); CREATE INDEX si ON spgist USING spgist (t);
CREATE TABLE typed (r int4range, j jsonb, v tsvector); INSERT INTO typed \
  VALUES ('[1,2)', '{\"a\": 1}', 'a b');
CREATE TABLE checked (i int CHECK (one() = 1)); CREATE VIEW calling AS SELECT one();
CREATE TABLE ranges (a int, b text, c date) PARTITION BY RANGE (a, lower(b), (a + 1), c);
CREATE TABLE range1 PARTITION OF ranges FOR VALUES FROM (1, 'a', MINVALUE, \
  MINVALUE) TO (MAXVALUE, MAXVALUE, MAXVALUE, MAXVALUE);
CREATE TABLE hashes (a int, t text) PARTITION BY HASH (a, t text_pattern_ops);
CREATE TABLE hash1 PARTITION OF hashes FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE lists (t text, d date) PARTITION BY LIST (t COLLATE \"C\");
CREATE TABLE list1 PARTITION OF lists FOR VALUES IN ('it''s', NULL, \
  E'b\\\\c') PARTITION BY RANGE (d);
CREATE TABLE list2 PARTITION OF list1 FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE others PARTITION OF lists DEFAULT; INSERT INTO lists VALUES (NULL, '2020-05-05'); \
  CREATE INDEX ON lists (d);
CREATE EXTENSION citext; CREATE EXTENSION pg_trgm; CREATE EXTENSION hstore; \
  CREATE EXTENSION postgres_fdw;
CREATE PUBLICATION told FOR TABLE ranged; CREATE AGGREGATE ag(int) (sfunc = int4pl, stype = int);
CREATE OPERATOR === (leftarg = int, rightarg = int, function = int4eq); \
  CREATE TEXT SEARCH CONFIGURATION words (COPY = english);
CREATE DOMAIN dom AS text CHECK (VALUE <> '') NOT NULL; \
  CREATE TYPE span AS RANGE (subtype = float8);
CREATE TABLE told_once (i int PRIMARY KEY); INSERT INTO told_once VALUES (1);
CREATE TRIGGER once AFTER UPDATE ON told_once REFERENCING OLD TABLE AS gone \
  EXECUTE FUNCTION row_trigger();
CREATE TABLE told_before (i int PRIMARY KEY); INSERT INTO told_before VALUES (1);
CREATE TRIGGER before BEFORE INSERT ON told_before FOR EACH ROW EXECUTE FUNCTION row_trigger();
CREATE TABLE ruled_update (i int PRIMARY KEY); CREATE RULE ru AS \
  ON UPDATE TO ruled_update DO INSTEAD NOTHING;
CREATE TABLE grand (i int, CONSTRAINT positive CHECK (i > 0)); \
  CREATE TABLE grandchild () INHERITS (grand);
CREATE TYPE pair AS (a int, b text COLLATE de); CREATE TABLE typed_table OF pair; \
  INSERT INTO typed_table VALUES (1, 'x');
CREATE TABLE pairs (p pair); INSERT INTO pairs VALUES ('(1,b)'), ('(1,A)'); \
  CREATE TABLE pair_key (p pair PRIMARY KEY);
CREATE MATERIALIZED VIEW stored AS SELECT i, a FROM ranged; CREATE UNIQUE INDEX ON stored (i); \
  CREATE INDEX si_ranged ON stored USING brin (i);
CREATE TABLE published (i int); CREATE PUBLICATION few FOR TABLE published WHERE (i > 0);
CREATE TABLE dropping (i int) PARTITION BY LIST (i); CREATE TABLE dropping1 PARTITION OF dropping \
  FOR VALUES IN (1);
CREATE TABLE dropping2 PARTITION OF dropping DEFAULT; CREATE TABLE dropped_whole (i int) PARTITION \
  BY LIST (i);
CREATE TABLE counted (a int, b int); INSERT INTO counted SELECT g % 9, g % 9 \
  FROM generate_series(1, 99) g;
CREATE STATISTICS counts ON a, b FROM counted; ANALYZE counted; CREATE ROLE mallory;
CREATE TABLE guarded (i int); CREATE POLICY one ON guarded TO mallory; \
  CREATE POLICY two ON guarded TO bob, mallory;
CREATE TYPE parted AS (a int, gone text, b int); CREATE TABLE parts (id int, p parted);
INSERT INTO parts VALUES (1, ROW(1, repeat('x', 300), 2)), (2, ROW(3, NULL, 4)); \
  ALTER TYPE parted DROP ATTRIBUTE gone;
CREATE SEQUENCE cycling MINVALUE -2 MAXVALUE 3 CYCLE CACHE 2; \
  ALTER DEFAULT PRIVILEGES FOR ROLE bob GRANT SELECT ON TABLES TO eve;
SELECT lo_from_bytea(0, 'abc');
CREATE TABLE told_plain (i int, t text); CREATE PUBLICATION tell_plain FOR TABLE told_plain; \
  INSERT INTO told_plain VALUES (1);
CREATE TABLE told_full (i int); ALTER TABLE told_full REPLICA IDENTITY FULL; \
  CREATE PUBLICATION tell_full FOR TABLE told_full;
CREATE TABLE told_key (i int PRIMARY KEY, j int); CREATE PUBLICATION tell_key FOR TABLE told_key \
  WHERE (j > 1);
CREATE TABLE told_part (i int PRIMARY KEY, j int); CREATE PUBLICATION tell_part \
  FOR TABLE told_part (j);
CREATE TABLE told_late (i int PRIMARY KEY DEFERRABLE); CREATE PUBLICATION tell_late \
  FOR TABLE told_late;
CREATE TABLE told_new (i int); CREATE PUBLICATION tell_new FOR TABLE told_new \
  WITH (publish = 'insert, delete');
CREATE SCHEMA telling; CREATE TABLE telling.told (i int); \
  CREATE PUBLICATION tell_schema FOR TABLES IN SCHEMA telling;
CREATE TABLE told_of (i int REFERENCES told_key ON DELETE CASCADE); \
  CREATE PUBLICATION tell_of FOR TABLE told_of;";

/// Changes of published tables. If a table has no replica identity, the error is PostgreSQL's.
const PUBLISHED_CHANGES: &[&str] = &[
    "UPDATE told_plain SET i = 2",
    "DELETE FROM told_plain WHERE false",
    "INSERT INTO told_plain VALUES (2)",
    "EXPLAIN (COSTS off) UPDATE told_plain SET i = 2",
    "WITH gone AS (DELETE FROM told_plain RETURNING i) SELECT * FROM gone",
    "TRUNCATE told_plain",
    "ALTER TABLE told_plain REPLICA IDENTITY FULL; UPDATE told_plain SET i = 2",
    "ALTER TABLE told_plain ADD PRIMARY KEY (i); UPDATE told_plain SET i = 2",
    "UPDATE told_full SET i = 2",
    "UPDATE told_key SET j = 2",
    "DELETE FROM told_key",
    "ALTER TABLE told_key REPLICA IDENTITY FULL; UPDATE told_key SET j = 2",
    "UPDATE told_part SET j = 2",
    "ALTER TABLE told_part REPLICA IDENTITY FULL; UPDATE told_part SET j = 2",
    "UPDATE told_late SET i = 2",
    "UPDATE told_new SET i = 2",
    "DELETE FROM told_new",
    "UPDATE telling.told SET i = 2",
    "ALTER TABLE telling.told SET SCHEMA public; UPDATE told SET i = 2",
    "INSERT INTO told_key VALUES (1, 2); INSERT INTO told_of VALUES (1); \
     ALTER TABLE told_key REPLICA IDENTITY FULL; \
     DELETE FROM told_key",
];

/// The answers to [`PUBLISHED_CHANGES`], each of which is rolled back.
fn answers_to_changes(mut client: Client) -> Vec<String> {
    let answers = PUBLISHED_CHANGES.iter().map(|sql| {
        client.query("BEGIN").expect("an answer");
        let reply = client.query(sql).expect("an answer");
        client.query("ROLLBACK").expect("an answer");
        let error =
            reply.error.map(|e| format!("{} {} {} {}", e.code, e.message, e.detail, e.hint));
        format!("{sql}: {}", error.unwrap_or_default())
    });
    answers.collect()
}

/// The definitions as shown by pg_dump and pg_dumpall.
fn definitions(mut all: [Command; 2]) -> Vec<String> {
    all[0].args(["--schema-only", "postgres"]);
    all[1].arg("--globals-only");
    dumped(&all.map(run).concat())
}

/// The lines of a dump without random keys and versions, to which packagers append text.
pub(super) fn dumped(text: &str) -> Vec<String> {
    let left_out = ["\\restrict", "\\unrestrict", "-- Dumped from"];
    let kept = text.lines().filter(|line| !left_out.iter().any(|start| line.starts_with(start)));
    kept.map(str::to_owned).collect()
}

/// Statements that use an unsupported object, and the part of its name that the error contains.
const REFUSED: &[(&str, &str)] = &[
    ("SELECT one()", "one"),
    ("SELECT * FROM calling", "one"),
    ("INSERT INTO checked VALUES (1)", "one"),
    ("INSERT INTO ruled VALUES (1)", "rules on \"ruled\""),
    ("SET ROLE bob; SELECT * FROM policed", "row-level security"),
    ("SET ROLE bob; INSERT INTO policed VALUES (0)", "row-level security"),
    ("SET ROLE bob; COPY policed TO STDOUT", "row-level security"),
    ("INSERT INTO ranged VALUES ('{2}')", "\"ri\""),
    ("INSERT INTO over_ranged VALUES ('{2}')", "\"ri\""),
    ("INSERT INTO ranged VALUES ('{2}', 30) ON CONFLICT (i) DO UPDATE SET t = 'x'", "\"ri\""),
    ("UPDATE ranged SET t = 'newer'", "\"ri\""),
    ("UPDATE over_ranged SET t = 'newer'", "\"ri\""),
    ("WITH w AS (UPDATE ranged SET i = -i RETURNING i) SELECT * FROM w", "\"ri\""),
    ("COPY ranged FROM '/proc/sys/kernel/ngroups_max'", "\"ri\""),
    ("VACUUM ranged", "\"ri\""),
    ("VACUUM FULL ranged", "\"ri\""),
    ("VACUUM (INDEX_CLEANUP off) ranged", "\"ri\""),
    ("CLUSTER ranged USING ranged_pkey", "\"ri\""),
    ("TRUNCATE ranged, of_ranged", "\"ri\""),
    ("REINDEX TABLE ranged", "\"ri\""),
    ("REINDEX INDEX ri", "\"ri\""),
    ("ALTER TABLE ranged ADD COLUMN r float DEFAULT random()", "\"ri\""),
    ("ALTER TABLE brin ALTER COLUMN a TYPE bigint", "brin"),
    ("SELECT * FROM elsewhere", "foreign table \"elsewhere\""),
    ("SELECT count(*) FROM elsewhere e JOIN ranged ON e.a = t", "foreign table \"elsewhere\""),
    ("INSERT INTO elsewhere VALUES ('a')", "foreign table \"elsewhere\""),
    ("UPDATE elsewhere SET a = 'b'", "foreign table \"elsewhere\""),
    ("DELETE FROM elsewhere", "foreign table \"elsewhere\""),
    ("TRUNCATE elsewhere", "foreign table \"elsewhere\""),
    ("COPY elsewhere FROM '/proc/sys/kernel/ngroups_max'", "foreign table \"elsewhere\""),
    ("INSERT INTO brin VALUES (2)", "\"bi\""),
    ("INSERT INTO spgist VALUES ('a')", "\"si\""),
    ("SELECT xmlcomment('a')", "xmlcomment"),
    (
        "INSERT INTO ruled_update VALUES (1) ON CONFLICT (i) DO UPDATE SET i = 2",
        "rules on \"ruled_update\"",
    ),
    ("REFRESH MATERIALIZED VIEW CONCURRENTLY stored", "\"si_ranged\""),
    ("REFRESH MATERIALIZED VIEW stored", "\"si_ranged\""),
    ("ALTER TABLE published ALTER i TYPE bigint", "publication WHERE clause"),
    (
        "ALTER TABLE parts ALTER id TYPE bigint, ADD CHECK ((p).a > 0); \
         CREATE TABLE held (r parts); \
         ALTER TABLE parts ALTER id TYPE int",
        "because column \"held.r\" uses its row type",
    ),
];

/// Statements that work although unsupported objects exist.
const WORKING: &[(&str, &str)] = &[
    ("INSERT INTO triggered VALUES (1)", ""),
    ("SELECT count(*) FROM triggered", "1"),
    ("INSERT INTO told_before VALUES (2) RETURNING i", "99"),
    ("SELECT sum(i) FROM part", "3"),
    ("DELETE FROM part WHERE i = 1", ""),
    ("SELECT i FROM child", "5"),
    ("INSERT INTO child VALUES (7)", ""),
    ("COPY parent TO STDOUT", ""),
    ("SELECT count(*) FROM policed", "2"),
    ("SET ROLE eve; SELECT count(*) FROM policed", "2"),
    ("RESET ROLE", ""),
    ("SELECT array_agg(t), string_agg(u, '') FROM collated", ""),
    ("SELECT count(*) FROM excluding", "1"),
    ("SELECT count(t) FROM collated", "2"),
    ("SELECT id FROM extended", "1"),
    ("SELECT count(*), count(t) FROM indexed", "2|2"),
    ("SELECT string_agg(t, '' ORDER BY i), count(*) FROM naming", "NULL|0"),
    ("SELECT count(*), sum(i) FROM ranged", "481|125060"),
    ("SELECT i, t FROM ranged WHERE i = 490", "490|new"),
    (
        "SET enable_indexscan = off; SET enable_bitmapscan = off; \
         SELECT t FROM ranged WHERE i = 490",
        "new",
    ),
    ("RESET ALL", ""),
    ("SELECT i FROM ranged WHERE a @> ARRAY[77]", "77"),
    ("SELECT i FROM ranged WHERE i = 40 FOR UPDATE", "40"),
    ("DELETE FROM ranged WHERE i BETWEEN 100 AND 300", ""),
    ("SELECT count(*) FROM ranged", "280"),
    ("CREATE INDEX ranged_t ON ranged (t)", ""),
    ("ANALYZE ranged", ""),
    ("SELECT count(*) FROM over_ranged WHERE t = 'new'", "20"),
    ("SELECT count(*) FROM brin", "0"),
    ("INSERT INTO gist VALUES (NULL), ('(1,2)')", ""),
    ("SELECT count(*) FROM gist", "2"),
    ("COPY ranged TO STDOUT", ""),
    ("ALTER TABLE ranged ADD COLUMN c int DEFAULT 5", ""),
    ("DROP FOREIGN TABLE elsewhere", ""),
    ("SELECT count(*) FROM pg_foreign_table", "0"),
    ("DROP TABLE dropping2, dropped_whole", ""),
    (
        "SELECT count(*) FROM pg_partitioned_table WHERE partrelid NOT IN (SELECT oid \
         FROM pg_class)",
        "0",
    ),
    ("SELECT partdefid FROM pg_partitioned_table WHERE partrelid = 'dropping'::regclass", "0"),
    ("ALTER TABLE counted ALTER a TYPE bigint", ""),
    (
        "SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext",
        "CREATE STATISTICS public.counts ON a, b FROM counted",
    ),
    ("DROP STATISTICS counts", ""),
    ("SELECT count(*) FROM pg_statistic_ext_data", "0"),
    ("DROP OWNED BY mallory", ""),
    ("DROP ROLE mallory", ""),
    (
        "SELECT polname, polroles::regrole[] FROM pg_policy WHERE polrelid = 'guarded'::regclass",
        "two|{bob}",
    ),
    ("SELECT p, (p).b, row_to_json(p) FROM parts WHERE id = 1", "(1,2)|2|{\"a\":1,\"b\":2}"),
    ("SELECT a.p *= b.p, a.p < b.p FROM parts a, parts b WHERE (a.id, b.id) = (1, 2)", "f|t"),
    ("BEGIN", ""),
    ("LOCK TABLE grand IN EXCLUSIVE MODE", ""),
    (
        "SELECT count(*) FROM pg_locks WHERE mode = 'ExclusiveLock' \
         AND relation = 'grandchild'::regclass",
        "1",
    ),
    ("COMMIT", ""),
    ("ALTER TABLE parent ADD COLUMN q int DEFAULT 8", ""),
    ("SELECT string_agg(i || '|' || q, ' ') FROM child", "5|8 7|8"),
    ("ALTER TABLE grand RENAME COLUMN i TO j", ""),
    ("ALTER TABLE grand RENAME CONSTRAINT positive TO negative", ""),
    (
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'negative' \
         AND conrelid = 'grandchild'::regclass",
        "CHECK ((j > 0))",
    ),
    ("ALTER TABLE whole RENAME COLUMN i TO j", ""),
    ("ALTER TYPE pair RENAME ATTRIBUTE a TO z CASCADE", ""),
    ("SELECT z FROM typed_table", "1"),
    ("VACUUM (ANALYZE) whole", ""),
    ("TRUNCATE whole", ""),
    ("SELECT count(j) FROM part", "0"),
    ("CREATE TABLE part2 PARTITION OF whole FOR VALUES FROM (10) TO (20)", ""),
    ("ALTER TABLE whole DETACH PARTITION part", ""),
    ("CREATE TABLE list3 PARTITION OF lists FOR VALUES IN ('c')", ""),
    ("SELECT count(*) FROM pg_index WHERE indrelid = 'list3'::regclass", "1"),
    ("DROP TABLE triggered, ruled, excluding, spgist", ""),
    ("ANALYZE", ""),
    ("VACUUM part", ""),
];

#[test]
fn unsupported_objects_are_refused_when_they_are_used() {
    let dir = TempDir::new("touched");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "-k"]);
    let settings = ["autovacuum=off"];
    let real = PostgresServer::start_with(&data, "postgres", &settings);
    real.query("postgres", OBJECTS);
    let answers = answers_to_changes(real.connect("postgres"));
    let expected = definitions(["pg_dump", "pg_dumpall"].map(|name| real.client(name)));
    drop(real);
    let server = Norsu::start(&data, &[]);
    let found = definitions(["pg_dump", "pg_dumpall"].map(|name| server.client(name)));
    let mut wrong = Vec::new();
    let both = found.iter().zip(&expected).enumerate();
    if let Some((at, (found, expected))) = both.into_iter().find(|(_, (a, b))| a != b) {
        wrong.push(format!("definitions, line {at}: {found}\n  want {expected}"));
    }
    assert_eq!(found.len(), expected.len());
    assert_eq!(answers_to_changes(server.connect("postgres")), answers);
    for (sql, named) in REFUSED {
        let mut client = server.connect("postgres");
        let mut reply = client.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        match reply.error.take() {
            Some(e) if e.code == "0A000" && e.message.contains(named) => {}
            other => wrong.push(format!("{sql}: {other:?}")),
        }
    }
    let mut client = server.connect("postgres");
    for (sql, expected) in WORKING {
        let reply = client.query(sql).expect("an answer");
        let found = match &reply.error {
            Some(e) => format!("{} {}", e.code, e.message),
            None => reply.text().join(","),
        };
        if reply.error.is_some() || (!expected.is_empty() && found != *expected) {
            wrong.push(format!("{sql}: {found}"));
        }
    }
    // Database-wide commands process the other tables.
    for sql in ["VACUUM", "VACUUM (FULL, ANALYZE)"] {
        let reply = client.query(sql).expect("an answer");
        let skipped: Vec<_> = reply.notices.iter().map(|n| &*n.message).collect();
        for name in ["ranged", "brin"] {
            let warning = format!("skipping \"{name}\" --- index");
            if reply.error.is_some() || !skipped.iter().any(|s| s.starts_with(&warning)) {
                wrong.push(format!("{sql}: {:?} {skipped:?}", reply.error));
            }
        }
    }
    drop(client);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    server.stop(&data);
    let server = PostgresServer::start_with(&data, "postgres", &settings);
    // The table is read through an index that Norsu did not maintain, and PostgreSQL checks the
    // other indexes.
    let by_index = "SET enable_seqscan = off; SET enable_indexscan = off; \
                    SET enable_indexonlyscan = off; DROP INDEX ranged_t; \
                    SELECT count(*) FROM ranged WHERE i BETWEEN 30 AND 60; \
                    SET enable_seqscan = on; SET enable_bitmapscan = off; \
                    SELECT count(*) FROM ranged WHERE i BETWEEN 30 AND 60";
    let counts = server.query("postgres", by_index);
    let counts: Vec<&str> = counts.lines().collect();
    assert!(counts.len() == 2 && counts[0] == counts[1] && counts[0] != "0", "{counts:?}");
    verify::check(&server);
    drop(server);
    // Event triggers of PostgreSQL fire.
    PostgresServer::start_with(&data, "postgres", &settings).query(
        "postgres",
        "CREATE FUNCTION told() RETURNS event_trigger LANGUAGE plpgsql AS \
         'BEGIN RAISE NOTICE ''told of %'', tg_tag; END'; \
         CREATE EVENT TRIGGER listens ON ddl_command_start EXECUTE FUNCTION told()",
    );
    let server = Norsu::start(&data, &[]);
    let reply = server.connect("postgres").query("CREATE TABLE t (i int)").expect("an answer");
    assert!(reply.error.is_none(), "{:?}", reply.error);
    let told: Vec<_> = reply.notices.iter().map(|n| &*n.message).collect();
    assert_eq!(told, ["told of CREATE TABLE"]);
}

/// Unsupported records in the log after a checkpoint; the server has crashed.
const LOGGED: [(&str, &str, &str); 1] = [(
    "CREATE TABLE t (a int); CREATE INDEX ON t USING brin (a)",
    "INSERT INTO t SELECT generate_series(1, 100000); VACUUM t",
    "replay of BRIN/",
)];

#[test]
fn an_unsupported_log_is_refused_before_anything_is_written() {
    let dir = TempDir::new("logged");
    chown_to_server_user(dir.path());
    for (setup, last, named) in LOGGED {
        let data = dir.path().join("data");
        postgres::init_with(&data, &["--locale=C", "-k"]);
        let settings = ["autovacuum=off"];
        let server = PostgresServer::start_with(&data, "postgres", &settings);
        let mut client = server.connect("postgres");
        client.must(setup);
        client.must("CHECKPOINT");
        last.split("; ").for_each(|sql| drop(client.must(sql)));
        drop(client);
        server.crash();
        let mut before = BTreeMap::new();
        contents(&data, &mut before);
        let log = Norsu::try_start(&data, &[]).err().expect("it must not come up");
        assert!(log.contains("FATAL") && log.contains(named), "{named}: {log}");
        let mut after = BTreeMap::new();
        contents(&data, &mut after);
        // postmaster.opts is written first, in PostgreSQL too.
        after.retain(|path, _| !path.ends_with("postmaster.opts"));
        before.retain(|path, _| !path.ends_with("postmaster.opts"));
        let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
        let touched: Vec<_> = before.keys().chain(after.keys()).filter(differs).collect();
        assert!(touched.is_empty(), "{named}: {touched:?}");
        // PostgreSQL can recover the directory, and then Norsu can use it.
        drop(PostgresServer::start_with(&data, "postgres", &settings));
        Norsu::start(&data, &[]).stop(&data);
        std::fs::remove_dir_all(&data).expect("a directory");
    }
}
