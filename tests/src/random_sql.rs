//! Statements made at random, on Norsu and on the real PostgreSQL: rows (as sets, where nothing orders them), names
//! and types of columns, tags, SQLSTATE and message must be equal.
//!
//! What is generated has one right answer: no division that may meet zero in one order of evaluation and not in
//! another, sums of floating-point numbers that are exact, aggregates and LIMIT only with an order that decides, no values
//! that are equal and look different where several become one.
//!
//! `NORSU_RANDOM_SQL_SEED=n` runs one seed, `n..m` those from n to m; `NORSU_TEST_LONG=1` runs many.

mod generate;

use crate::corpus::seen;
use crate::pair::Pair;
use generate::Generator;
use testkit::client::{Client, Reply};

const TABLES: &[&str] = &[
    "CREATE TABLE a (id int PRIMARY KEY, x int, y bigint, s text, n numeric(8, 2), d date)",
    "CREATE TABLE b (id int PRIMARY KEY, aid int, f float8, s text, ts timestamp, arr int[])",
    "CREATE TABLE c (k int, v varchar(10), q boolean, i interval, x smallint)",
    "INSERT INTO a SELECT g, CASE WHEN g % 5 <> 0 THEN g % 7 - 2 END, CASE WHEN g % 4 <> 1 THEN g * 1000 END, \
     (ARRAY['one', 'Two', '', 'three', NULL, 'fo''ur'])[g % 6 + 1], CASE WHEN g % 3 <> 0 THEN g * 1.25 - 9 END, \
     CASE WHEN g % 6 <> 2 THEN date '2024-01-29' + g END FROM generate_series(1, 30) g",
    "INSERT INTO b SELECT g, CASE WHEN g % 4 <> 0 THEN g % 35 END, CASE WHEN g % 5 <> 3 THEN g * 0.25 - 4 END, \
     (ARRAY['one', 'two', NULL, 'x y', 'three'])[g % 5 + 1], timestamp '2024-02-28 10:00' + g * interval '7 hours', \
     CASE WHEN g % 3 <> 1 THEN ARRAY[g, NULL, g % 4] END FROM generate_series(1, 40) g",
    "INSERT INTO c SELECT g % 12, CASE WHEN g % 7 <> 0 THEN 'v' || g % 9 END, (ARRAY[true, false, NULL])[g % 3 + 1], \
     CASE WHEN g % 5 <> 0 THEN g * interval '1 day 3 hours' END, g % 6 FROM generate_series(1, 25) g",
    "CREATE INDEX ON a (x)",
    "CREATE INDEX ON b (aid, f)",
    "ANALYZE",
];

/// Rows in an order of their own unless the statement decides it.
fn answer(ordered: bool, mut reply: Reply) -> String {
    if !ordered {
        reply.answers.iter_mut().for_each(|a| a.rows.sort());
    }
    // The comparison is by the statement's text, which may say ORDER BY within.
    format!("{:?}", seen("order by", reply))
}

fn differs(sql: &str, ordered: bool, servers: &mut [Client; 2]) -> Option<String> {
    let [real, ours] = servers.each_mut().map(|s| {
        let reply = s.query(sql);
        answer(ordered, reply.unwrap_or_else(|e| panic!("{sql}: {e}")))
    });
    (real != ours).then(|| {
        let short = |text: String| text.chars().take(1500).collect::<String>();
        format!("{sql};\n    real {}\n    ours {}", short(real), short(ours))
    })
}

#[test]
fn random_statements_answer_as_on_the_real_server() {
    let pair = Pair::start("random-sql", "C", &[]);
    let mut servers = [pair.real.connect("postgres"), pair.ours.connect("postgres")];
    for sql in TABLES {
        servers.iter_mut().for_each(|s| {
            s.must(sql);
        });
    }
    let seeds = match std::env::var("NORSU_RANDOM_SQL_SEED") {
        Ok(text) => {
            let number = |n: &str| n.parse::<u64>().expect("a number");
            let range = text.split_once("..").map(|(from, to)| number(from)..number(to));
            range.unwrap_or_else(|| number(&text)..number(&text) + 1)
        }
        Err(_) if std::env::var_os("NORSU_TEST_LONG").is_some() => 0..10_000,
        Err(_) => 0..250,
    };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for seed in seeds {
        let statement = Generator::new(seed).statement();
        count += 1;
        if let Some(told) = differs(&statement.sql, statement.ordered, &mut servers) {
            wrong.push(format!("seed {seed}: {told}"));
        }
        if statement.changes {
            for table in ["a", "b", "c"] {
                let sql = format!("SELECT * FROM {table}");
                if let Some(told) = differs(&sql, false, &mut servers) {
                    wrong.push(format!("seed {seed}: after {}: {told}", statement.sql));
                }
            }
            servers.iter_mut().for_each(|s| {
                s.must("ROLLBACK");
            });
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 0);
    assert!(!pair.ours.log().contains("panicked"), "{}", pair.ours.log());
}
