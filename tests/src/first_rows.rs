//! A statement that needs only the first rows of a scan reads few pages, although the scan returns
//! its rows in batches.

use crate::pair::Pair;
use testkit::client::Client;

const SETUP: [&str; 9] = [
    "CREATE TABLE big (a int, b int, c int, PRIMARY KEY (a, b))",
    "INSERT INTO big SELECT g, g % 500, g % 7 FROM generate_series(1, 100000) g",
    "CREATE TABLE small (b int, c int, PRIMARY KEY (b))",
    "INSERT INTO small VALUES (3, 3), (4, 4)",
    "VACUUM ANALYZE",
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
    "SET enable_hashjoin = off",
    "SET enable_material = off",
];

/// Settings and a statement. Each finds its rows near the beginning of `big` or of its index, which
/// have about 540 and 280 pages.
const STATEMENTS: [(&[&str], &str); 5] = [
    (
        &["enable_mergejoin = off"],
        "SELECT FROM small s WHERE EXISTS (SELECT FROM big g WHERE g.b = s.b AND g.c <> s.c)",
    ),
    (
        &[],
        "SELECT FROM small s WHERE EXISTS (SELECT FROM big g WHERE g.b = s.b \
         AND s.c + g.c > random())",
    ),
    (&[], "SELECT FROM small s, big g WHERE g.b = s.b LIMIT 1"),
    (
        &["enable_mergejoin = on", "enable_nestloop = off"],
        "SELECT FROM big g JOIN big h ON g.a = h.a WHERE g.b = 3 AND h.b = 3 LIMIT 1",
    ),
    (
        &[
            "enable_mergejoin = off",
            "enable_nestloop = on",
            "enable_indexscan = off",
            "enable_indexonlyscan = off",
            "enable_seqscan = on",
        ],
        "SELECT FROM small s WHERE EXISTS (SELECT FROM big g WHERE g.b = 4 \
         AND g.c <> s.c + random())",
    ),
];

/// Pages that a statement reads. EXPLAIN shows those of the whole plan at its top node.
fn pages_read(client: &mut Client, sql: &str) -> (u64, String) {
    let lines = client
        .rows(&format!("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) {sql}"));
    let line = lines.iter().find_map(|line| line.trim().strip_prefix("Buffers: shared "));
    let counts = line.unwrap_or_default().split(' ');
    let pages = counts.filter_map(|c| c.split_once('=')?.1.parse::<u64>().ok()).sum();
    (pages, lines.join("\n"))
}

#[test]
fn first_rows_need_few_pages() {
    let pair = Pair::start_both("first-rows", "C", &[]);
    for sockets in [pair.ours.sockets(), pair.real.sockets()] {
        let mut client = Client::connect(sockets, "postgres").expect("the server accepts");
        for sql in SETUP {
            client.must(sql);
        }
        for (settings, sql) in STATEMENTS {
            for set in settings {
                client.must(&format!("SET {set}"));
            }
            let (pages, plan) = pages_read(&mut client, sql);
            assert!((1..120).contains(&pages), "{pages} pages:\n{plan}");
        }
    }
}
