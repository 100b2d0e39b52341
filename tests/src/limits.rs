//! Limits of the number of columns, arguments and entries of statements: the limits and the errors
//! beyond them must be those of PostgreSQL.

use crate::corpus::{compared_reply, new_pair};

/// A comma-separated list of `count` numbered items.
fn list(count: usize, one: impl Fn(usize) -> String) -> String {
    (1..=count).map(one).collect::<Vec<_>>().join(", ")
}

fn ones(count: usize) -> String {
    list(count, |_| "1".to_owned())
}

fn columns(count: usize) -> String {
    list(count, |i| format!("c{i}"))
}

fn typed(count: usize) -> String {
    list(count, |i| format!("c{i} int"))
}

/// Statements at a limit and beyond it.
fn statements() -> Vec<String> {
    let mut out = Vec::new();
    for n in [1664, 1665, 40_000] {
        out.push(format!("SELECT {}", ones(n)));
        out.push(format!("SELECT count(*) FROM (SELECT {}) s", ones(n)));
        out.push(format!("SELECT count(*) FROM (VALUES ({})) v", ones(n)));
        out.push(format!("VALUES ({})", ones(n)));
        out.push(format!("SELECT (SELECT row({})) IS NULL", ones(n)));
        out.push(format!("SELECT 1 UNION ALL SELECT count(*) FROM (SELECT {}) s", ones(n)));
    }
    for n in [1600, 1601] {
        out.push(format!("CREATE TABLE limits_{n} ({})", typed(n)));
        out.push(format!(
            "CREATE VIEW limits_v{n} AS SELECT {}",
            list(n, |i| format!("1 AS c{i}"))
        ));
        out.push(format!("CREATE TYPE limits_t{n} AS ({})", typed(n)));
        out.push(format!("INSERT INTO limits_1600 VALUES ({})", ones(n)));
    }
    out.push("ALTER TABLE limits_1600 ADD COLUMN more int".to_owned());
    out.push(format!("SELECT 1 FROM limits_1600 ORDER BY {}", list(1600, |i| format!("c{i} + 1"))));
    out.push("SELECT count(*) FROM (SELECT * FROM limits_1600 a, limits_1600 b) s".to_owned());
    for n in [32, 33] {
        out.push(format!("CREATE INDEX ON limits_1600 ({})", columns(n)));
        out.push(format!("ALTER TABLE limits_1600 ADD UNIQUE ({})", columns(n)));
        let included = (2..=n).map(|i| format!("c{i}")).collect::<Vec<_>>().join(", ");
        out.push(format!("CREATE INDEX ON limits_1600 (c1) INCLUDE ({included})"));
    }
    for n in [8, 9] {
        out.push(format!("CREATE STATISTICS limits_s{n} ON {} FROM limits_1600", columns(n)));
    }
    for n in [100, 101] {
        let body = "RETURNS int LANGUAGE sql AS 'SELECT 1'";
        out.push(format!("CREATE FUNCTION limits_f({}) {body}", typed(n)));
        out.push(format!("CREATE PROCEDURE limits_p({}) LANGUAGE sql AS 'SELECT 1'", typed(n)));
        out.push(format!("SELECT limits_f({})", ones(n)));
        out.push(format!("SELECT concat({})", ones(n)));
    }
    for n in [100, 1664, 1665] {
        let calls = list(n, |_| "generate_series(1, 1)".to_owned());
        out.push(format!("SELECT count(*) FROM ROWS FROM ({calls}) r"));
    }
    out.push(
        "SET client_min_messages = error; DROP TABLE limits_1600 CASCADE; \
         DROP VIEW limits_v1600; DROP TYPE limits_t1600"
            .to_owned(),
    );
    out.push(format!("DROP FUNCTION limits_f({})", list(100, |_| "int".to_owned())));
    out
}

#[test]
fn limits_equal_those_of_postgres() {
    let pair = new_pair();
    let (mut ours, mut real) = (pair.ours.connect("postgres"), pair.real.connect("postgres"));
    let mut differ = Vec::new();
    for sql in statements() {
        let want = compared_reply(&sql, real.query(&sql).unwrap_or_else(|e| panic!("{e}")));
        let have = compared_reply(&sql, ours.query(&sql).unwrap_or_else(|e| panic!("{e}")));
        if want != have {
            let short: String = sql.chars().take(60).collect();
            differ.push(format!(
                "{short} … ({} bytes)\n{:?}\n{:?}",
                sql.len(),
                want.error,
                have.error
            ));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
