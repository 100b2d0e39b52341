//! PostgreSQL's dump of a directory of Norsu can be restored in PostgreSQL, and another dump of the
//! result is the same.

use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user, run};

const OBJECTS: &str = "
CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text); \
  CREATE DOMAIN pos AS int CHECK (VALUE > 0);
CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, d int, twice int GENERATED ALWAYS \
  AS (d * 2) STORED,
  m mood, p pos, pr pair, arr int[], txt text COMPRESSION lz4);
INSERT INTO t (d, m, p, pr, arr, txt) SELECT g, 'ok', g, ROW(g, 'b')::pair, ARRAY[g], \
  repeat('x', g * 20) FROM generate_series(1, 300) g;
ALTER TABLE t ADD COLUMN late text DEFAULT 'late'; ALTER TABLE t ALTER d \
  SET (n_distinct = 5), ALTER txt SET STORAGE EXTERNAL;
CREATE VIEW v WITH (security_barrier) AS SELECT id, d FROM t WHERE d > 3; \
  CREATE MATERIALIZED VIEW mv AS SELECT m, count(*) FROM t GROUP BY m;
CREATE OR REPLACE VIEW v WITH (security_barrier) AS SELECT id, d, txt FROM t WHERE d > 3;
CREATE FUNCTION f(x int) RETURNS int LANGUAGE sql IMMUTABLE RETURN x * 3; \
  CREATE INDEX t_f ON t (f(d));
CREATE STATISTICS st (mcv) ON d, m FROM t; CREATE SEQUENCE s CACHE 50; SELECT nextval('s');
CREATE ROLE ann LOGIN; ALTER ROLE ann SET work_mem = '1MB'; GRANT SELECT (d) ON t TO ann;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ann; COMMENT ON TABLE t IS 'a table'; ANALYZE";

/// The lines of a dump in sorted order, because the order of rows differs; without random keys.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn dump(server: &PostgresServer) -> String {
    let text = run(server.client("pg_dumpall"));
    let lines =
        text.lines().filter(|l| !l.starts_with("\\restrict") && !l.starts_with("\\unrestrict"));
    lines.map(|l| format!("{l}\n")).collect()
}

#[test]
fn dumps_of_norsu_directories_can_be_restored() {
    let dir = TempDir::new("restored");
    chown_to_server_user(dir.path());
    let [ours, theirs] = ["ours", "theirs"].map(|name| dir.path().join(name));
    norsu::init_with(&ours, &["--locale=C"]);
    let server = Norsu::start(&ours, &[]);
    let mut client = server.connect("postgres");
    client.must(OBJECTS);
    // Releases before 15.20 would include the option in their dumps.
    let stamped = "SELECT count(*) FROM pg_attribute WHERE attoptions::text LIKE '%pg_attver%'";
    assert_eq!(client.value(stamped), "0");
    drop(client);
    server.stop(&ours);
    let server = PostgresServer::start(&ours, "postgres");
    let text = dump(&server);
    drop(server);
    postgres::init_with(&theirs, &["--locale=C", "-k"]);
    let server = PostgresServer::start(&theirs, "postgres");
    let file = dir.path().join("dump.sql");
    // The superuser exists already.
    std::fs::write(&file, text.replace("CREATE ROLE postgres;\n", "")).expect("room");
    let mut psql = server.client("psql");
    psql.args(["-d", "postgres", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f"]).arg(&file);
    run(psql);
    let again = dump(&server);
    assert!(text.contains("CREATE FUNCTION") && !text.contains("pg_attver"), "{text}");
    assert_eq!(sorted(&again), sorted(&text));
}
