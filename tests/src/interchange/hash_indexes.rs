//! Hash indexes on both servers: the pages must be the same byte for byte after the same
//! statements; each server must recover from the other's log and find every row through the
//! indexes.

use super::killed::KillTest;
use super::recovery_rounds::{Rounds, recover_in_turn};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};
use testkit::verify;
use vfs::SeededRandom;

/// Column types and values.
const COLUMNS: [(&str, &str); 29] = [
    ("bool", "(true), (false)"),
    ("smallint", "(-32768), (32767)"),
    ("int", "(0), (-2147483648)"),
    ("bigint", "(0), (-1), (9223372036854775807)"),
    ("real", "('NaN'), ('-0'), ('1e-45'), (1.5)"),
    ("float8", "('-Infinity'), ('-0'), ('NaN'), (1.5)"),
    ("numeric", "('NaN'), ('-Infinity'), (0), (1e-1000), (1.50), (12345678901234567890)"),
    ("text", "(''), (repeat('x', 3000)), ('é')"),
    ("text COLLATE \"C\"", "('b'), ('a')"),
    ("varchar(5)", "('abc  '), ('')"),
    ("char(7)", "('ab'), ('')"),
    ("bpchar", "('ab'), ('ab  '), ('')"),
    ("\"char\"", "('a'), (''), ('\\377')"),
    ("name", "('n'), (repeat('n', 63)), ('')"),
    ("bytea", "(''), ('\\x00ff')"),
    ("date", "('infinity'), ('4713-01-01 BC')"),
    ("time", "('24:00:00'), ('00:00')"),
    ("timetz", "('24:00:00+15:59'), ('00:00-15:59:59')"),
    ("timestamp", "('infinity'), ('4714-11-24 00:00:00 BC')"),
    ("timestamptz", "('-infinity'), ('2000-01-01 00:00+00')"),
    ("interval", "('1 mon -1 day'), ('30 days'), ('1 mon')"),
    ("uuid", "('00000000-0000-0000-0000-000000000000')"),
    ("jsonb", "('null'), ('{\"a\": [1, null, true, \"x\"]}'), ('1.0')"),
    ("oid", "(0), (4294967295)"),
    ("pg_lsn", "('0/0'), ('FFFFFFFF/FFFFFFFF')"),
    ("oidvector", "('1 4294967295'), ('')"),
    ("int[]", "('{}'), ('[-2:0]={1,NULL,3}'), (NULL)"),
    ("text[]", "('{a,NULL,\"\"}')"),
    ("pair", "('(1,)'), ('(2,b)'), ('(,)')"),
];

/// Statements that make indexes grow, split, shrink and grow again.
const WORK: &[&str] = &[
    "CREATE TABLE grown (id int, k int)",
    "CREATE INDEX grown_k ON grown USING hash (k)",
    "CREATE INDEX grown_f ON grown USING hash (k) WITH (fillfactor = 10)",
    "INSERT INTO grown SELECT g, CASE WHEN g % 5 = 0 THEN 7 ELSE g END \
     FROM generate_series(1, 12000) g",
    "CREATE INDEX grown_late ON grown USING hash (id)",
    "DELETE FROM grown WHERE id % 3 = 0",
    "VACUUM grown",
    "INSERT INTO grown SELECT g, g % 100 FROM generate_series(12001, 20000) g",
    "UPDATE grown SET k = k + 1 WHERE id < 3000",
    "DELETE FROM grown WHERE k = 7",
    "VACUUM grown",
    "INSERT INTO grown SELECT g, 8 FROM generate_series(1, 3000) g",
];

fn statements() -> Vec<String> {
    let types = COLUMNS.iter().enumerate().map(|(n, (column, values))| {
        let insert = format!("INSERT INTO t{n} VALUES {values}");
        format!(
            "CREATE TABLE t{n} (v {column}); {insert}; CREATE INDEX i{n} ON t{n} USING hash (v); \
             {insert}"
        )
    });
    let first = "CREATE TYPE pair AS (a int, b text)".to_owned();
    [first].into_iter().chain(types).chain(WORK.iter().map(|sql| sql.to_string())).collect()
}

/// The pages of an index as `pageinspect` prints them.
fn pages(server: &PostgresServer, index: &str) -> Vec<String> {
    let query = |sql: &str| server.query("postgres", sql);
    let count: u32 =
        query(&format!("SELECT pg_relation_size('{index}') / 8192")).trim().parse().unwrap();
    let meta = query(&format!(
        "SELECT ntuples, ffactor, bsize, bmsize, bmshift, maxbucket, highmask, lowmask, \
         ovflpoint, firstfree, nmaps, procid::regproc, spares, mapp \
         FROM hash_metapage_info(get_raw_page('{index}', 0))"
    ));
    let mut out = vec![format!("{count} pages, {meta}")];
    // Pages that are all zeros have no type.
    let each = format!(
        "FROM generate_series(1, {count} - 1) n, \
         LATERAL (SELECT get_raw_page('{index}', n) raw) r, \
         LATERAL (SELECT CASE WHEN (page_header(raw)).upper = 0 THEN 'new' \
           ELSE hash_page_type(raw) END AS type) t"
    );
    out.push(query(&format!("SELECT n, type {each}")));
    out.push(query(&format!(
        "SELECT n, i.* {each}, LATERAL (SELECT s.live_items, s.dead_items, s.free_size, \
           s.hasho_prevblkno, s.hasho_nextblkno, s.hasho_bucket, s.hasho_flag, \
           (SELECT string_agg(itemoffset || ' ' || ctid || ' ' || data, ', ') \
            FROM hash_page_items(raw)) FROM hash_page_stats(raw) s) i \
         WHERE type IN ('bucket', 'overflow')"
    )));
    out.push(query(&format!(
        "SELECT b.* {each}, LATERAL hash_bitmap_info('{index}', n) b WHERE type = 'overflow'"
    )));
    out.push(query(&format!("SELECT * FROM pgstathashindex('{index}')")));
    out
}

#[test]
fn hash_index_pages_equal_those_of_postgres() {
    let dir = TempDir::new("hashed");
    chown_to_server_user(dir.path());
    let [ours, theirs] = ["ours", "theirs"].map(|name| dir.path().join(name));
    norsu::init_with(&ours, &["--locale=C"]);
    postgres::init_with(&theirs, &["--locale=C"]);
    let server = Norsu::start(&ours, &[]);
    let mut client = server.connect("postgres");
    statements().iter().for_each(|sql| drop(client.must(sql)));
    drop(client);
    server.stop(&ours);
    let server = PostgresServer::start_with(&theirs, "postgres", &["autovacuum=off"]);
    let mut client = server.connect("postgres");
    statements().iter().for_each(|sql| drop(client.must(sql)));
    drop(client);
    let indexes: Vec<String> = (0..COLUMNS.len())
        .map(|n| format!("i{n}"))
        .chain(["grown_k", "grown_f", "grown_late"].map(str::to_owned))
        .collect();
    let all = |server: &PostgresServer| -> Vec<Vec<String>> {
        server.query("postgres", "CREATE EXTENSION pageinspect; CREATE EXTENSION pgstattuple");
        indexes.iter().map(|index| pages(server, index)).collect()
    };
    let want = all(&server);
    drop(server);
    let server = PostgresServer::start_with(&ours, "postgres", &["autovacuum=off"]);
    for ((index, have), want) in indexes.iter().zip(all(&server)).zip(want) {
        for (have, want) in have.iter().zip(&want) {
            for (have, want) in have.lines().zip(want.lines()) {
                assert_eq!(have, want, "{index}");
            }
            assert_eq!(have.lines().count(), want.lines().count(), "{index}");
        }
    }
    verify::check(&server);
}

/// The keys of the table with the number of their rows, by a sequential scan; and those for which
/// the index finds another number.
const CHECK: &str = "SET enable_seqscan = off; \
    SELECT count(*), count(*) FILTER (WHERE n <> (SELECT count(*) FROM work w WHERE w.k = v.k)), \
      count(*) FILTER (WHERE n <> (SELECT count(*) FROM work w WHERE w.s = v.k::text)) \
    FROM (SELECT k, count(*) n FROM work WHERE k IS NOT NULL GROUP BY k) v";

/// Checks that each row is found through both indexes, and no other row.
fn check(query: &mut dyn FnMut(&str) -> String) {
    let found = query(CHECK);
    let found = found.trim().lines().last().unwrap_or_default().replace(['|', '\t'], " ");
    let numbers: Vec<u64> = found.split(' ').map(|n| n.parse().expect("a number")).collect();
    assert_eq!(numbers[1..], [0, 0], "{found}");
}

/// Random statements of a session.
fn work(random: &SeededRandom, steps: u64, run: &mut dyn FnMut(&str)) {
    for _ in 0..steps {
        let (from, key) = (random.below(100_000), random.below(700));
        let sql = match random.below(12) {
            0..=4 => format!(
                "INSERT INTO work SELECT g, CASE WHEN g % 4 = 0 THEN 3 ELSE g % {m} END, \
                 CASE WHEN g % 4 = 0 THEN 3 ELSE g % {m} END FROM generate_series({from}, {to}) g",
                m = 1 + key,
                to = from + 200,
            ),
            5..=6 => format!("UPDATE work SET k = k + 1, s = (k + 1)::text WHERE k = {key}"),
            7..=8 => format!("DELETE FROM work WHERE k = {}", key % 50),
            9 => "DELETE FROM work WHERE k = 3 AND id % 3 <> 0".to_owned(),
            10 => format!(
                "BEGIN; INSERT INTO work SELECT g, {key}, {key} FROM generate_series(1, 300) g; \
                 ROLLBACK"
            ),
            _ => "VACUUM work".to_owned(),
        };
        run(&sql);
    }
}

const TABLES: &str = "CREATE TABLE work (id int, k int, s text); \
    CREATE INDEX work_k ON work USING hash (k); \
    CREATE INDEX work_s ON work USING hash (s) WITH (fillfactor = 15)";

#[test]
fn servers_recover_hash_indexes_from_each_others_log() {
    recover_in_turn(&Rounds {
        name: "hashlog",
        seed: 5,
        manager: "hash",
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
            0..=11 => format!(
                "INSERT INTO work SELECT g, g % {m}, g % {m} FROM generate_series({from}, {to}) g",
                m = 1 + key,
                to = from + 20,
            ),
            12..=15 => format!("DELETE FROM work WHERE k = {key}"),
            16..=18 => format!("SELECT count(*) FROM work WHERE k = {key}"),
            _ => "VACUUM work".to_owned(),
        };
        match client.query(&sql) {
            Ok(reply) => assert!(reply.error.is_none(), "{sql}: {:?}", reply.error),
            Err(_) => return,
        }
    }
}

#[test]
fn killed_servers_keep_hash_indexes() {
    let test = KillTest { name: "hashkill", tables: TABLES, rounds: 5, load, check };
    test.run();
}
