//! Statements made at random, on Norsu and on the real PostgreSQL: rows (as sets, where nothing
//! orders them), names and types of columns, tags, SQLSTATE and message must be equal.
//!
//! What is generated has one right answer: no division that may meet zero in one order of
//! evaluation and not in another, sums of floating-point numbers that are exact, aggregates and
//! LIMIT only with an order that decides, no values that are equal and look different where several
//! become one.
//!
//! `NORSU_RANDOM_SQL_SEED=n` runs one seed, `n..m` those from n to m; `NORSU_TEST_LONG=1` runs
//! many.

mod change;
mod expr;
mod forms;
mod from;
mod generate;
mod query;
mod sublink;

use crate::corpus::seen;
use crate::pair::Pair;
use generate::{Generator, Statement};
use std::time::{Duration, Instant};
use testkit::client::{Client, Reply};

const TABLES: &[&str] = &[
    "CREATE TABLE a (id int PRIMARY KEY, x int, y bigint, s text, n numeric(8, 2), d date)",
    "CREATE TABLE b (id int PRIMARY KEY, aid int, f float8, s text, ts timestamp, arr int[])",
    "CREATE TABLE c (k int, v varchar(10), q boolean, i interval, x smallint)",
    "CREATE TABLE w (k int, w text, g int)",
    "INSERT INTO a SELECT g, CASE WHEN g % 5 <> 0 THEN g % 7 - 2 END, CASE WHEN g % 4 <> 1 THEN g * 1000 END, \
     (ARRAY['one', 'Two', '', 'three', NULL, 'fo''ur'])[g % 6 + 1], CASE WHEN g % 3 <> 0 THEN g * 1.25 - 9 END, \
     CASE WHEN g % 6 <> 2 THEN date '2024-01-29' + g END FROM generate_series(1, 30) g",
    "INSERT INTO b SELECT g, CASE WHEN g % 4 <> 0 THEN g % 35 END, CASE WHEN g % 5 <> 3 THEN g * 0.25 - 4 END, \
     (ARRAY['one', 'two', NULL, 'x y', 'three'])[g % 5 + 1], timestamp '2024-02-28 10:00' + g * interval '7 hours', \
     CASE WHEN g % 3 <> 1 THEN ARRAY[g, NULL, g % 4] END FROM generate_series(1, 40) g",
    "INSERT INTO c SELECT g % 12, CASE WHEN g % 7 <> 0 THEN 'v' || g % 9 END, (ARRAY[true, false, NULL])[g % 3 + 1], \
     CASE WHEN g % 5 <> 0 THEN g * interval '1 day 3 hours' END, g % 6 FROM generate_series(1, 25) g",
    // Wide: it does not fit into the smallest memory.
    "INSERT INTO w SELECT g % 50, repeat(md5((g % 60)::text), 12), g FROM generate_series(1, 220) g",
    "CREATE INDEX ON a (x)",
    "CREATE INDEX ON b (aid, f)",
    "CREATE SEQUENCE sq",
    // All views have the same columns: computed ones, constants, what outer joins leave out,
    // groups.
    "CREATE VIEW va AS SELECT id AS k, 'a'::text AS kind, COALESCE(s, '-') AS s, x + 1 AS n FROM a",
    "CREATE VIEW vj AS SELECT a.id AS k, 'j'::text AS kind, q.s, q.n FROM a LEFT JOIN (SELECT aid, 'b'::text AS s, \
     7 AS n FROM b) q ON q.aid = a.x",
    "CREATE VIEW vg AS SELECT x AS k, max(s) AS kind, NULL::text AS s, count(*)::int AS n FROM a GROUP BY x",
    "CREATE VIEW vu AS SELECT k, 'c'::text AS kind, v::text AS s, (SELECT count(*)::int FROM a WHERE a.x = c.k) AS n \
     FROM c UNION ALL SELECT id, 'b', s, aid FROM b",
    "CREATE FUNCTION count_of(p int) RETURNS int LANGUAGE sql STABLE AS \
     $$ SELECT count(*)::int FROM b JOIN c ON b.id = c.k + p $$",
    "CREATE FUNCTION largest_of(p int, q text) RETURNS text LANGUAGE sql AS \
     $$ SELECT max(s) FROM a WHERE s <> q AND id IN (SELECT b.aid + p FROM b) $$",
    "CREATE FUNCTION rows_of(p int) RETURNS TABLE (k int, v text) LANGUAGE sql STABLE AS \
     $$ SELECT c.k, c.v FROM c JOIN b ON b.id = c.k + p $$",
    "ANALYZE",
];

/// Statements that take longer are left out.
const TIMEOUT: &str = "SET statement_timeout = '10s'";
/// In the long form: such statements would take most of the time.
const LONG_TIMEOUT: &str = "SET statement_timeout = '1s'";

/// A server that has not answered by then does not look for interrupts.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where the real server answers within this, ours should not need the whole timeout.
const QUICK: Duration = Duration::from_millis(100);

const QUERY_CANCELED: &str = "57014";

/// Rows in an order of their own unless the statement decides it.
fn answer(ordered: bool, mut reply: Reply) -> String {
    if !ordered {
        reply.answers.iter_mut().for_each(|a| a.rows.sort());
    }
    // The comparison is by the statement's text, which may say ORDER BY within.
    format!("{:?}", seen("order by", reply))
}

enum Compared {
    Same,
    /// Both gave the same error.
    Refused,
    Other(String),
    /// It took too long: steps that follow may differ.
    Canceled,
    /// Our server took too long, and the real one answered within [`QUICK`].
    Cliff,
}

fn compare(sql: &str, ordered: bool, servers: &mut [Client; 2]) -> Compared {
    // Both work at the same time.
    for server in servers.iter_mut() {
        server.send(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
    let (start, mut real_took) = (Instant::now(), None);
    let replies = servers.each_mut().map(|server| {
        let reply = server.receive_within(PATIENCE).unwrap_or_else(|e| panic!("{sql}: {e}"));
        // The real one is the first.
        real_took.get_or_insert_with(|| start.elapsed());
        reply.unwrap_or_else(|| panic!("no answer, and the timeout is not heeded: {sql}"))
    });
    let canceled = replies.each_ref().map(|r| r.code() == QUERY_CANCELED);
    if canceled == [false, true] && real_took.is_some_and(|took| took <= QUICK) {
        return Compared::Cliff;
    }
    if canceled.contains(&true) {
        return Compared::Canceled;
    }
    let refused = !replies[0].code().is_empty();
    let [real, ours] = replies.map(|reply| answer(ordered, reply));
    if real == ours {
        return if refused { Compared::Refused } else { Compared::Same };
    }
    let short = |text: String| text.chars().take(1500).collect::<String>();
    Compared::Other(format!("{sql};\n    real {}\n    ours {}", short(real), short(ours)))
}

/// Runs what has to succeed on a server. The timeout may end it where the machine stalls.
fn insist(sql: &str, servers: &mut [Client]) {
    for (i, server) in servers.iter_mut().enumerate() {
        for _ in 0..3 {
            let reply = server.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
            match reply.code() {
                "" => break,
                QUERY_CANCELED => eprintln!("{i}: canceled {sql}"),
                code => panic!("{sql}: {code}"),
            }
        }
    }
}

/// What has been compared.
#[derive(Default)]
struct Counts {
    /// Statements that were generated.
    statements: usize,
    /// Messages that they consist of.
    steps: usize,
    /// Statements that a server canceled: nothing was compared.
    canceled: usize,
    /// Those of them that the real server answered quickly.
    cliffs: usize,
    /// Messages that both refused, with the same words.
    refused: usize,
}

/// The differences that a statement shows.
fn run(statement: &Statement, servers: &mut [Client; 2], counts: &mut Counts) -> Vec<String> {
    counts.statements += 1;
    // One message for all.
    let set: Vec<String> = statement.settings.iter().map(|s| format!("SET {s}")).collect();
    if !set.is_empty() {
        insist(&set.join("; "), &mut servers[1..]);
    }
    let (mut wrong, mut canceled) = (Vec::new(), false);
    let tables: &[&str] = if statement.changes { &["a", "b", "c"] } else { &[] };
    let after = tables.iter().map(|t| (format!("SELECT * FROM {t}"), false));
    for (sql, ordered) in statement.steps.iter().map(|s| (s.sql.clone(), s.ordered)).chain(after) {
        match compare(&sql, ordered, servers) {
            Compared::Same => {}
            Compared::Refused => counts.refused += 1,
            Compared::Other(told) => wrong.push(told),
            told @ (Compared::Canceled | Compared::Cliff) => {
                counts.canceled += 1;
                if matches!(told, Compared::Cliff) {
                    counts.cliffs += 1;
                    eprintln!("canceled by ours alone, {}: {sql}", set.join("; "));
                }
                canceled = true;
                break;
            }
        }
        counts.steps += 1;
    }
    if statement.opened {
        insist("ROLLBACK", servers);
    }
    if canceled {
        // What was prepared is still there.
        insist("DEALLOCATE ALL", servers);
    }
    if !set.is_empty() {
        let names = statement.settings.iter().map(|s| s.split(' ').next().unwrap_or_default());
        let reset: Vec<String> = names.map(|name| format!("RESET {name}")).collect();
        insist(&reset.join("; "), &mut servers[1..]);
    }
    if !wrong.is_empty() && statement.steps.len() > 1 {
        let all: Vec<&str> = statement.steps.iter().map(|s| s.sql.as_str()).collect();
        wrong.insert(0, format!("in: {}", all.join("; ")));
    }
    if !wrong.is_empty() && !statement.settings.is_empty() {
        wrong.insert(0, format!("with {}", statement.settings.join("; ")));
    }
    wrong
}

#[test]
fn random_statements_answer_as_on_the_real_server() {
    let pair = Pair::start("random-sql", "C", &[]);
    let mut servers = [pair.real.connect("postgres"), pair.ours.connect("postgres")];
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    for sql in TABLES.iter().chain([if long { &LONG_TIMEOUT } else { &TIMEOUT }]) {
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
        Err(_) if long => 0..30_000,
        Err(_) => 0..250,
    };
    let (mut wrong, mut counts, start) = (Vec::new(), Counts::default(), Instant::now());
    let told = |counts: &Counts, differ: usize| {
        let Counts { statements, steps, canceled, cliffs, refused } = counts;
        let seconds = start.elapsed().as_secs();
        eprintln!(
            "{statements} statements of {steps} steps in {seconds} s, {refused} refused, \
             {canceled} canceled ({cliffs} answered quickly by the real server), {differ} differences"
        );
    };
    for seed in seeds {
        let statement = Generator::new(seed).statement();
        if counts.statements > 0 && counts.statements.is_multiple_of(1_000) {
            told(&counts, wrong.len());
        }
        for told in run(&statement, &mut servers, &mut counts) {
            // A long run shows what it has found before its end.
            eprintln!("seed {seed}: {told}");
            wrong.push(format!("seed {seed}: {told}"));
        }
    }
    told(&counts, wrong.len());
    let count = counts.statements;
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts.steps > counts.canceled + counts.refused, "nothing was compared");
    assert!(!pair.ours.log().contains("panicked"), "{}", pair.ours.log());
}
