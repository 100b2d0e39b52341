//! The same statements in one session on both servers: the output of `pageinspect` for every page
//! must be the same: line pointers, tuple headers, hint bits, data, special areas.

use super::fault_injection;
use std::collections::BTreeMap;
use std::path::Path;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};
use testkit::verify;

/// The statements of each case. The last word of the first line is the table that is compared.
const CASES: [(&str, &[&str]); 14] = [
    ("plain", &["INSERT INTO plain SELECT g, g % 7, 'row ' || g FROM generate_series(1, 400) g"]),
    (
        "nulls",
        &[
            "INSERT INTO nulls VALUES (1, NULL, 'a'), (2, 2, NULL), (3, NULL, NULL), (4, 4, '')",
            "UPDATE nulls SET v = NULL WHERE id = 4",
        ],
    ),
    (
        "hot",
        &[
            "INSERT INTO hot SELECT g, 0, 'x' FROM generate_series(1, 20) g",
            "UPDATE hot SET v = v + 1 WHERE id % 2 = 0",
            "UPDATE hot SET v = v + 1 WHERE id % 4 = 0",
            "SELECT count(*) FROM hot",
        ],
    ),
    (
        "cold",
        &[
            "INSERT INTO cold SELECT g, 0, repeat('y', 60) FROM generate_series(1, 300) g",
            "UPDATE cold SET id = id + 1000 WHERE id % 3 = 0",
            "SELECT count(*) FROM cold WHERE v = 0",
        ],
    ),
    (
        "gone",
        &[
            "INSERT INTO gone SELECT g, 0, 'z' FROM generate_series(1, 300) g",
            "DELETE FROM gone WHERE id % 2 = 0",
            "SELECT count(*) FROM gone",
        ],
    ),
    (
        "aborted",
        &[
            "INSERT INTO aborted VALUES (1, 1, 'stays')",
            "BEGIN",
            "INSERT INTO aborted VALUES (2, 2, 'goes')",
            "UPDATE aborted SET v = 9",
            "ROLLBACK",
            "SELECT * FROM aborted",
        ],
    ),
    (
        "saved",
        &[
            "BEGIN",
            "INSERT INTO saved VALUES (1, 1, 'a')",
            "SAVEPOINT s",
            "INSERT INTO saved VALUES (2, 2, 'b')",
            "UPDATE saved SET v = 5 WHERE id = 1",
            "ROLLBACK TO s",
            "INSERT INTO saved VALUES (3, 3, 'c')",
            "SAVEPOINT t",
            "UPDATE saved SET v = 6 WHERE id = 1",
            "RELEASE t",
            "COMMIT",
            "SELECT * FROM saved",
        ],
    ),
    (
        "locked",
        &[
            "INSERT INTO locked SELECT g, 0, 'l' FROM generate_series(1, 6) g",
            "BEGIN",
            "SELECT * FROM locked WHERE id = 1 FOR UPDATE",
            "SELECT * FROM locked WHERE id = 2 FOR NO KEY UPDATE",
            "SELECT * FROM locked WHERE id = 3 FOR SHARE",
            "SELECT * FROM locked WHERE id = 4 FOR KEY SHARE",
            "SELECT * FROM locked WHERE id = 5 FOR UPDATE",
            "UPDATE locked SET v = 1 WHERE id = 5",
            "COMMIT",
        ],
    ),
    (
        "combo",
        &[
            "BEGIN",
            "INSERT INTO combo VALUES (1, 1, 'a')",
            "UPDATE combo SET v = 2",
            "UPDATE combo SET v = 3",
            "DELETE FROM combo",
            "INSERT INTO combo VALUES (1, 4, 'b')",
            "COMMIT",
        ],
    ),
    (
        "cleaned",
        &[
            "INSERT INTO cleaned SELECT g, g % 5, repeat('c', 30) FROM generate_series(1, 600) g",
            "DELETE FROM cleaned WHERE id BETWEEN 100 AND 250",
            "UPDATE cleaned SET v = 9 WHERE id < 20",
            "VACUUM cleaned",
            "INSERT INTO cleaned SELECT g, 1, 'new' FROM generate_series(1001, 1010) g",
        ],
    ),
    (
        "frozen",
        &[
            "INSERT INTO frozen SELECT g, g, 'f' FROM generate_series(1, 100) g",
            "DELETE FROM frozen WHERE id = 50",
            "VACUUM (FREEZE) frozen",
        ],
    ),
    (
        "twice",
        &[
            "INSERT INTO twice SELECT g, g % 3, 't' FROM generate_series(1, 900) g",
            "INSERT INTO twice SELECT g, g % 3, 't' FROM generate_series(901, 1800) g",
        ],
    ),
    (
        "wide",
        &[
            "INSERT INTO wide VALUES (1, 1, repeat('abcdefghij', 700))",
            "INSERT INTO wide SELECT 2, 2, string_agg(md5(g::text), '') \
             FROM generate_series(1, 400) g",
            "UPDATE wide SET v = 3 WHERE id = 2",
        ],
    ),
    (
        "altered",
        &[
            "INSERT INTO altered VALUES (1, 1, 'a')",
            "ALTER TABLE altered ADD COLUMN w int DEFAULT 5",
            "INSERT INTO altered VALUES (2, 2, 'b', 6)",
            "ALTER TABLE altered DROP COLUMN v",
            "INSERT INTO altered VALUES (3, 'c', 7)",
            "UPDATE altered SET w = 8 WHERE id = 1",
        ],
    ),
];

#[test]
fn pages_equal_those_of_postgres() {
    let dir = TempDir::new("pages");
    chown_to_server_user(dir.path());
    let [ours, theirs] = ["ours", "theirs"].map(|name| dir.path().join(name));
    norsu::init_with(&ours, &["--locale=C", "--no-data-checksums"]);
    postgres::init_with(&theirs, &["--locale=C"]);
    let files = {
        let norsu = Norsu::start(&ours, &["-c", "autovacuum=off"]);
        let real = PostgresServer::start_with(&theirs, "postgres", &["autovacuum=off"]);
        let mut sessions = [norsu.connect("postgres"), real.connect("postgres")];
        for (table, statements) in CASES {
            let create = [
                format!("CREATE TABLE {table} (id int PRIMARY KEY, v int, t text)"),
                format!("CREATE INDEX {table}_v ON {table} (v)"),
            ];
            let all = create.iter().map(String::as_str).chain(statements.iter().copied());
            for sql in all {
                let [a, b] = sessions.each_mut().map(|s| s.must(sql));
                assert_eq!(a.answers, b.answers, "{sql}");
            }
        }
        let path = |table| sessions[0].value(&format!("SELECT pg_relation_filepath('{table}')"));
        let files = INJECTED.map(path);
        drop(sessions);
        norsu.stop(&ours);
        files
    };
    let (mine, real) = (read(&ours), read(&theirs));
    let (lines, wrong) = compare(&mine, &real);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines > 5000, "{lines}");
    for (table, path) in INJECTED.iter().zip(&files) {
        inject(table, &ours.join(path));
    }
    let (_, wrong) = compare(&read(&ours), &real);
    let wrong: Vec<_> = wrong.iter().map(|w| w.lines().next().unwrap_or_default()).collect();
    let places = ["plain 0, line 1:", "nulls 0, line 1:", "gone_pkey 1, line 0:", "hot 0, line 0:"];
    for place in places {
        assert!(wrong.contains(&place), "{place} of {wrong:?}");
    }
    assert_eq!(wrong.len(), places.len(), "{wrong:?}");
}

type Pages = [BTreeMap<String, Vec<String>>; CASES.len()];

fn read(data: &Path) -> Pages {
    let server = PostgresServer::start_with(data, "postgres", &["autovacuum=off"]);
    CASES.map(|(table, _)| verify::pages(&server, table))
}

/// The number of compared lines, and the differences: location and line first, then both pages.
fn compare(mine: &Pages, real: &Pages) -> (usize, Vec<String>) {
    let (mut lines, mut wrong) = (0, Vec::new());
    for (mine, real) in mine.iter().zip(real) {
        for (place, expected) in real {
            lines += expected.len();
            let found = mine.get(place).cloned().unwrap_or_default();
            let rows = expected.len().max(found.len());
            let differs = (0..rows).filter(|&i| expected.get(i) != found.get(i));
            for i in differs.take(3) {
                let (e, f) = (expected.get(i), found.get(i));
                wrong.push(format!("{place}, line {i}:\n  theirs {e:?}\n  ours   {f:?}"));
            }
        }
        let more: Vec<_> = mine.keys().filter(|place| !real.contains_key(*place)).collect();
        if !more.is_empty() {
            wrong.push(format!("only ours has {more:?}"));
        }
    }
    (lines, wrong)
}

/// Relations whose files are modified, to check that the comparison detects it: a hint bit, a byte
/// of a row, a flag of an index page, a flag of a page's header.
const INJECTED: [&str; 4] = ["plain", "nulls", "gone_pkey", "hot"];

fn inject(table: &str, path: &Path) {
    const PAGE: usize = 8192;
    let mut bytes = std::fs::read(path).expect("the file");
    let first = fault_injection::tuples(&bytes[..PAGE]).first().copied().unwrap_or_default();
    match table {
        "plain" => {
            bytes[first + fault_injection::INFOMASK_AT + 1] ^= fault_injection::XMIN_COMMITTED_HIGH
        }
        // The first column of the row.
        "nulls" => {
            let header = usize::from(bytes[first + 22]);
            bytes[first + header] ^= 8;
        }
        // The flags in the special area, after the siblings and the level.
        "gone_pkey" => bytes[2 * PAGE - 4] ^= 0x40,
        // PD_PAGE_FULL.
        _ => bytes[10] ^= 2,
    }
    std::fs::write(path, bytes).expect("it can be written");
}
