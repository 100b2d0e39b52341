//! GIN indexes on both servers: each server must recover from the other's log and find every row
//! through the indexes.

use super::killed::KillTest;
use super::recovery_rounds::{Rounds, recover_in_turn};
use testkit::client::Client;
use vfs::SeededRandom;

/// The keys with the number of their rows, by a sequential scan; and those for which an index finds
/// another number.
const CHECK: &str = "SET enable_seqscan = off; \
    SELECT count(*), count(*) FILTER (WHERE n <> (SELECT count(*) FROM work w \
        WHERE w.k @> ARRAY[v.e])), \
      count(*) FILTER (WHERE n <> (SELECT count(*) FROM work w WHERE w.s @> ARRAY[v.e::text])), \
      count(*) FILTER (WHERE n <> (SELECT count(*) FROM work w \
        WHERE w.j @> jsonb_build_object('k', ARRAY[v.e]))) \
    FROM (SELECT e, count(*) n FROM (SELECT DISTINCT ctid, unnest(k) e FROM work) d \
      WHERE e IS NOT NULL GROUP BY e) v";

/// Checks that each row is found through all indexes, and no other row.
fn check(query: &mut dyn FnMut(&str) -> String) {
    let found = query(CHECK);
    let found = found.trim().lines().last().unwrap_or_default().replace(['|', '\t'], " ");
    let numbers: Vec<u64> = found.split(' ').map(|n| n.parse().expect("a number")).collect();
    assert_eq!(numbers[1..], [0, 0, 0], "{found}");
}

const TABLES: &str = "CREATE TABLE work (id int, k int[], s text[], j jsonb); \
    CREATE INDEX work_k ON work USING gin (k) WITH (fastupdate = off); \
    CREATE INDEX work_s ON work USING gin (s) WITH (gin_pending_list_limit = 64); \
    CREATE INDEX work_j ON work USING gin (j jsonb_path_ops, k)";

/// A statement that inserts rows with few and with many keys.
fn insert(from: u64, to: u64, modulus: u64) -> String {
    format!(
        "INSERT INTO work SELECT g, k, k::text[], jsonb_build_object('k', k) FROM \
         (SELECT g, CASE WHEN g % 4 = 0 THEN ARRAY[3] WHEN g % 97 = 0 THEN '{{}}'::int[] \
           ELSE ARRAY[3, g % {modulus}, g % 11 + 5000] END k \
          FROM generate_series({from}, {to}) g) v"
    )
}

/// Random statements of a session.
fn work(random: &SeededRandom, steps: u64, run: &mut dyn FnMut(&str)) {
    for _ in 0..steps {
        let (from, key) = (random.below(100_000), random.below(700));
        let sql = match random.below(12) {
            0..=4 => insert(from, from + 400, 1 + key),
            5..=6 => format!(
                "UPDATE work SET k = k || {key}, s = s || '{key}'::text, \
                 j = jsonb_build_object('k', k || {key}) WHERE k @> '{{{key}}}'"
            ),
            7 => format!("DELETE FROM work WHERE k @> '{{{}}}'", key % 50),
            8 => format!("DELETE FROM work WHERE id BETWEEN {from} AND {}", from + 40_000),
            9 => "DELETE FROM work WHERE k = '{3}' AND id % 3 <> 0".to_owned(),
            10 => format!("BEGIN; {}; ROLLBACK", insert(1, 300, 1 + key)),
            _ => "VACUUM work".to_owned(),
        };
        run(&sql);
    }
}

#[test]
fn servers_recover_gin_indexes_from_each_others_log() {
    recover_in_turn(&Rounds {
        name: "ginlog",
        seed: 5,
        manager: "gin",
        tables: TABLES,
        unlogged: None,
        checkpoint: "CHECKPOINT",
        work,
        check,
    });
}

/// A session that works until its server is killed.
fn load(mut client: Client, seed: u64) {
    let random = SeededRandom::new(seed);
    loop {
        let (key, from) = (random.below(300), random.below(10_000));
        let sql = match random.below(20) {
            0..=11 => insert(from, from + 20, 1 + key),
            12..=15 => format!("DELETE FROM work WHERE k @> '{{{key}}}'"),
            16..=17 => format!("SELECT count(*) FROM work WHERE s @> '{{{key}}}'"),
            18 => "SELECT gin_clean_pending_list('work_s')".to_owned(),
            _ => "VACUUM work".to_owned(),
        };
        match client.query(&sql) {
            Ok(reply) => assert!(reply.error.is_none(), "{sql}: {:?}", reply.error),
            Err(_) => return,
        }
    }
}

#[test]
fn killed_servers_keep_gin_indexes() {
    let test = KillTest { name: "ginkill", tables: TABLES, rounds: 5, load, check };
    test.run();
}
