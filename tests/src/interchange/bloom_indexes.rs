//! Bloom indexes on both servers: each server must recover from the other's log and find every row
//! through the indexes, which the other server has filled.

use super::recovery_rounds::{Rounds, recover_in_turn};
use vfs::SeededRandom;

const TABLES: &str = "CREATE EXTENSION bloom; \
    CREATE OPERATOR CLASS numeric_ops DEFAULT FOR TYPE numeric USING bloom AS \
      OPERATOR 1 =, FUNCTION 1 hash_numeric(numeric); \
    CREATE TABLE work (id int, a int, t text, n numeric); \
    CREATE UNLOGGED TABLE spare (a int, t text); \
    CREATE INDEX spare_all ON spare USING bloom (a, t); \
    CREATE INDEX work_all ON work USING bloom (a, t, n) WITH (length = 200, col2 = 9); \
    CREATE INDEX work_short ON work USING bloom (t, id) WITH (length = 3, col1 = 1)";

/// The number of rows for each condition without and with the indexes.
fn check(query: &mut dyn FnMut(&str) -> String) {
    let sql = "SET enable_seqscan = off; SET enable_bitmapscan = on; \
        CREATE TEMP TABLE found AS SELECT v, \
          (SELECT count(*) FROM work WHERE a = v), \
          (SELECT count(*) FROM work WHERE t = md5(v::text)), \
          (SELECT count(*) FROM work WHERE a = v AND n = v * 1.5) \
        FROM generate_series(0, 60) v; \
        SET enable_bitmapscan = off; SET enable_seqscan = on; \
        SELECT count(*), sum(2 * f.count), (SELECT string_agg(x::text, '; ') FROM ( \
          SELECT * FROM found EXCEPT SELECT v, \
            (SELECT count(*) FROM work WHERE a = v), \
            (SELECT count(*) FROM work WHERE t = md5(v::text)), \
            (SELECT count(*) FROM work WHERE a = v AND n = v * 1.5) \
          FROM generate_series(0, 60) v) x) FROM found f";
    // Several columns of the table have the same name.
    let sql = sql.replacen("found AS", "found(v, count, texts, pairs) AS", 1);
    let found = query(&sql);
    let found = found.trim().lines().last().unwrap_or_default().replace('\t', "|");
    let fields: Vec<&str> = found.split('|').collect();
    assert_eq!(fields[0], "61", "{found}");
    assert_ne!(fields[1], "0", "no row was found: {found}");
    assert_eq!(fields.get(2).copied().unwrap_or_default(), "", "rows differ");
}

/// Random statements of a session.
fn work(random: &SeededRandom, steps: u64, run: &mut dyn FnMut(&str)) {
    for _ in 0..steps {
        let (from, key) = (random.below(100_000), random.below(300));
        let sql = match random.below(10) {
            0..=4 => format!(
                "INSERT INTO work SELECT g, nullif(g % {}, 7), md5((g % 61)::text), \
                 (g % 60) * 1.50 FROM generate_series({from}, {from} + 400) g",
                1 + key
            ),
            5 => format!("UPDATE work SET a = a + 1 WHERE t = md5('{key}')"),
            6 => format!("DELETE FROM work WHERE a = {key}"),
            7 => format!("DELETE FROM work WHERE id BETWEEN {from} AND {}", from + 30_000),
            8 => "BEGIN; INSERT INTO work SELECT g, g, 'x', g FROM generate_series(1, 200) g; \
                  ROLLBACK; INSERT INTO spare SELECT 1, 'x'"
                .to_owned(),
            _ => "VACUUM work".to_owned(),
        };
        run(&sql);
    }
}

#[test]
fn servers_recover_bloom_indexes_from_each_others_log() {
    recover_in_turn(&Rounds {
        name: "bloomlog",
        seed: 11,
        manager: "generic",
        tables: TABLES,
        unlogged: Some("spare"),
        checkpoint: "CHECKPOINT; REINDEX INDEX work_short",
        work,
        check,
    });
}
