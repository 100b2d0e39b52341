//! `pg_upgrade` from a directory of Norsu to a new one of PostgreSQL, and to a new one of Norsu: it
//! dumps the definitions, copies the transaction counters, and keeps the files of the tables
//! unchanged.

use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, BIN, PostgresServer, chown_to_server_user, program, run};
use testkit::verify;

const OBJECTS: &str = "
CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text);
CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text, n numeric, gone int, \
  a int[], m mood, p pair);
INSERT INTO t (v, n, a, m, p) SELECT repeat(md5(g::text), 1 + g % 200), g, ARRAY[g], 'ok', \
  ROW(g, 'x')::pair
  FROM generate_series(1, 1000) g;
ALTER TABLE t DROP COLUMN gone; ALTER TABLE t ADD COLUMN late int DEFAULT 7;
CREATE INDEX t_part ON t (lower(left(v, 50))) WHERE n > 5; \
  CREATE VIEW w AS SELECT id, v FROM t WHERE n > 3;
CREATE SEQUENCE s CACHE 5; SELECT nextval('s'); CREATE UNLOGGED TABLE fleeting (i int); \
  INSERT INTO fleeting VALUES (1);
CREATE ROLE ann LOGIN PASSWORD 'secret'; GRANT SELECT ON t TO ann; \
  UPDATE t SET n = n + 1 WHERE id % 3 = 0; DELETE FROM t WHERE id > 990;";

const QUESTIONS: [&str; 4] = [
    "SELECT count(*), sum(n), sum(length(v)), min(a), max((p).a), min(m), sum(late) FROM t",
    "SELECT count(*), max(id) FROM w",
    "SELECT last_value FROM s UNION ALL SELECT i FROM fleeting UNION ALL SELECT id FROM inner_t",
    "SELECT relname, relfilenode FROM pg_class WHERE relnamespace = 2200 AND relname <> 'inner_t' \
     ORDER BY 1",
];

#[test]
fn directories_of_norsu_are_upgraded() {
    let dir = TempDir::new("upgrade");
    chown_to_server_user(dir.path());
    let old = dir.path().join("old");
    norsu::init_with(&old, &["--locale=C"]);
    let server = Norsu::start(&old, &[]);
    server.query(OBJECTS);
    server.query("CREATE DATABASE other");
    server.query("CREATE TABLE inner_t AS SELECT 7 AS id");
    let answers = QUESTIONS.map(|sql| server.query(sql));
    server.stop(&old);
    for new_is_ours in [false, true] {
        let new = dir.path().join("new");
        match new_is_ours {
            true => norsu::init_with(&new, &["--locale=C"]),
            false => postgres::init_with(&new, &["--locale=C", "-k"]),
        }
        let place = dir.path().join("place");
        std::fs::create_dir(&place).expect("a new directory");
        chown_to_server_user(&place);
        for check in [&["--check"][..], &[]] {
            let mut upgrade = program("pg_upgrade");
            upgrade.current_dir(&place).args(check).args(["-U", "postgres", "-b", BIN, "-B", BIN]);
            upgrade.arg("-s").arg(&place).arg("-d").arg(&old).arg("-D").arg(&new);
            let said = run(upgrade);
            let expected =
                if check.is_empty() { "Upgrade Complete" } else { "*Clusters are compatible*" };
            assert!(said.contains(expected), "{said}");
        }
        let server = Norsu::start(&new, &[]);
        assert_eq!(QUESTIONS.map(|sql| server.query(sql)), answers);
        server.query("INSERT INTO t (v, n) VALUES ('later', 1)");
        server.stop(&new);
        let server = PostgresServer::start(&new, "postgres");
        verify::check(&server);
        drop(server);
        std::fs::remove_dir_all(&new).expect("a directory");
        std::fs::remove_dir_all(&place).expect("a directory");
    }
}
