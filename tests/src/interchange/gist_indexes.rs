//! GiST indexes on both servers: each server must recover from the other's log and find every row
//! through the indexes.

use super::killed::KillTest;
use super::recovery_rounds::{Rounds, recover_in_turn};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user};
use vfs::SeededRandom;

/// The conditions whose rows are counted with and without the indexes.
const CONDITIONS: [&str; 9] = [
    "p <@ box '(200,200),(420,440)'",
    "p <@ circle '<(500,500),90>'",
    "r && int4range(300, 420)",
    "r <@ int4range(100, 600)",
    "r @> 77",
    "b && box '(100,100),(150,250)'",
    "i << inet '10.3.0.0/16'",
    "v @@ to_tsquery('simple', 'w7 & !w11')",
    "id BETWEEN 0 AND 100000 AND p IS NULL",
];

/// Checks that an index finds the rows of each condition, and no other row.
fn check(query: &mut dyn FnMut(&str) -> String) {
    let mut numbers = |by_index: bool| {
        let counts: Vec<String> = CONDITIONS
            .iter()
            .map(|c| {
                format!("(SELECT count(*) || ':' || coalesce(sum(id), 0) FROM work WHERE {c})")
            })
            .collect();
        let (index, table) = if by_index { ("on", "off") } else { ("off", "on") };
        let sql = format!(
            "SET enable_seqscan = {table}; SET enable_bitmapscan = off; \
             SET enable_indexscan = {index}; SET enable_indexonlyscan = {index}; \
             SELECT concat_ws(' ', {})",
            counts.join(", ")
        );
        query(&sql).trim().lines().last().unwrap_or_default().to_owned()
    };
    let by_index = numbers(true);
    assert_eq!(by_index, numbers(false));
    assert!(by_index.split(' ').count() == CONDITIONS.len(), "{by_index}");
}

const TABLES: &str = "CREATE TABLE work (id int, p point, r int4range, b box, i inet, v tsvector); \
    CREATE INDEX work_p ON work USING gist (p) INCLUDE (id); \
    CREATE INDEX work_r ON work USING gist (r, b) WITH (fillfactor = 70); \
    CREATE INDEX work_b ON work USING gist (b); \
    CREATE INDEX work_i ON work USING gist (i inet_ops); \
    CREATE INDEX work_v ON work USING gist (v); \
    CREATE UNLOGGED TABLE lost (p point); CREATE INDEX lost_p ON lost USING gist (p)";

/// A statement that inserts rows whose values are near each other, or not.
fn insert(from: u64, to: u64, spread: u64) -> String {
    format!(
        "INSERT INTO work SELECT g, CASE WHEN g % 50 <> 0 THEN point(x, y) END, \
           CASE WHEN g % 61 = 0 THEN 'empty' WHEN g % 67 = 0 THEN int4range(x, NULL) \
             ELSE int4range(x, x + 1 + g % 9) END, \
           box(point(x, y), point(x + 3, y + 2)), \
           ('10.' || x % 7 || '.' || y % 200 || '.' || g % 250)::inet, \
           to_tsvector('simple', 'w' || g % 13 || ' w' || g % 17 || ' x' || x) \
         FROM (SELECT g::int, (g * 7919 % {spread})::int x, (g * 104729 % {spread})::int y \
           FROM generate_series({from}::bigint, {to}) g) v"
    )
}

/// Random statements of a session.
fn work(random: &SeededRandom, steps: u64, run: &mut dyn FnMut(&str)) {
    for _ in 0..steps {
        let (from, key) = (random.below(100_000), random.below(1000));
        let sql = match random.below(12) {
            0..=4 => insert(from, from + 300, 1 + key),
            5..=6 => format!(
                "UPDATE work SET p = point(p[0] + {key}, p[1]), i = i + 1 \
                 WHERE r && int4range({key}, {})",
                key + 40
            ),
            7 => format!("DELETE FROM work WHERE p <@ circle(point({key}, {key}), 120)"),
            8 => format!("DELETE FROM work WHERE id BETWEEN {from} AND {}", from + 40_000),
            9 => format!("INSERT INTO lost SELECT point(g, {key}) FROM generate_series(1, 400) g"),
            10 => format!("BEGIN; {}; ROLLBACK", insert(1, 300, 1 + key)),
            _ => "VACUUM work, lost".to_owned(),
        };
        run(&sql);
    }
}

#[test]
fn servers_recover_gist_indexes_from_each_others_log() {
    recover_in_turn(&Rounds {
        name: "gistlog",
        seed: 7,
        manager: "gist",
        tables: TABLES,
        unlogged: Some("lost"),
        checkpoint: "CHECKPOINT",
        work,
        check,
    });
}

/// A session that works until its server is killed.
fn load(mut client: Client, seed: u64) {
    let random = SeededRandom::new(seed);
    loop {
        let (key, from) = (random.below(1000), random.below(10_000));
        let sql = match random.below(20) {
            0..=11 => insert(from, from + 20, 1 + key),
            12..=15 => format!("DELETE FROM work WHERE r && int4range({key}, {})", key + 3),
            16..=18 => format!("SELECT count(*) FROM work WHERE p <@ circle(point({key}, 9), 50)"),
            _ => "VACUUM work".to_owned(),
        };
        match client.query(&sql) {
            Ok(reply) => assert!(reply.error.is_none(), "{sql}: {:?}", reply.error),
            Err(_) => return,
        }
    }
}

#[test]
fn killed_servers_keep_gist_indexes() {
    let test = KillTest { name: "gistkill", tables: TABLES, rounds: 4, load, check };
    test.run();
}

/// PostgreSQL reads the pages that Norsu wrote: levels, downlinks, keys.
#[test]
fn pageinspect_reads_gist_pages() {
    let dir = TempDir::new("gistpages");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init(&data);
    let server = Norsu::start(&data, &[]);
    server.query(TABLES);
    server.query(&insert(1, 4000, 1000));
    server.query("DELETE FROM work WHERE p <@ box '(0,0),(500,1000)'");
    server.query("VACUUM work");
    server.query("VACUUM work");
    server.stop(&data);
    let real = PostgresServer::start(&data, "postgres");
    real.query("postgres", "CREATE EXTENSION pageinspect");
    for index in ["work_p", "work_r", "work_b", "work_i", "work_v"] {
        // Every page but the root and deleted ones has exactly one downlink, from an inner page.
        let sql = format!(
            "WITH pages AS (SELECT b, get_raw_page('{index}', b::int) raw FROM \
               generate_series(0, pg_relation_size('{index}') / 8192 - 1) b), \
             opaque AS (SELECT b, raw, o.* FROM pages, gist_page_opaque_info(raw) o), \
             links AS (SELECT (regexp_match(i.ctid::text, '\\((\\d+),'))[1]::bigint child \
               FROM opaque, gist_page_items_bytea(raw) i WHERE NOT 'leaf' = ANY (flags)) \
             SELECT count(*) FILTER (WHERE b > 0 AND NOT 'deleted' = ANY (flags) AND \
                 (SELECT count(*) FROM links WHERE child = b) <> 1), \
               count(*) FILTER (WHERE 'deleted' = ANY (flags) AND \
                 EXISTS (SELECT FROM links WHERE child = b)), \
               count(*) > 5, bool_or(NOT 'leaf' = ANY (flags)) FROM opaque"
        );
        assert_eq!(real.query("postgres", &sql).trim().replace('\t', "|"), "0|0|t|t", "{index}");
        let items = format!(
            "SELECT count(*) > 0 FROM gist_page_items(get_raw_page('{index}', 0), '{index}')"
        );
        assert_eq!(real.query("postgres", &items).trim(), "t");
    }
    check(&mut |sql| real.query("postgres", sql));
}
