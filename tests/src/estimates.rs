//! Statistics and estimates on both servers: after ANALYZE of the same rows, `pg_stats` and the
//! numbers of rows in EXPLAIN must be equal. The samples are whole tables.
//!
//! Conditions are made at random from the columns, operators and operands in `conditions.txt`.
//! `NORSU_ESTIMATES_SEED=n` replaces the fixed seeds.

use crate::pair::Pair;
use testkit::client::{Client, Reply};
use vfs::SeededRandom;

const SETUP: &str = include_str!("estimates/setup.sql");
const CONDITIONS: &str = include_str!("estimates/conditions.txt");

/// A line of `conditions.txt`.
struct Subject {
    expr: &'static str,
    operators: Vec<&'static str>,
    operands: Vec<&'static str>,
}

impl Subject {
    fn all() -> Vec<Subject> {
        let lines = CONDITIONS.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
        let subject = |line: &'static str| {
            let (expr, rest) = line.split_once(" | ").expect("an expression");
            let (operators, operands) = rest.split_once(" | ").expect("operators");
            let operators = operators.split(' ').collect();
            Subject { expr, operators, operands: operands.split(" ¦ ").collect() }
        };
        lines.map(subject).collect()
    }

    fn is_column(&self) -> bool {
        self.expr.chars().all(|c| c.is_ascii_alphanumeric())
    }
}

struct Generator {
    random: SeededRandom,
    subjects: Vec<Subject>,
}

impl Generator {
    fn one_of<'a>(&self, list: &[&'a str]) -> &'a str {
        list[self.random.below(list.len() as u64) as usize]
    }

    /// Up to `count` operands.
    fn some_of<'a>(&self, list: &[&'a str], count: u64) -> String {
        let chosen: Vec<&'a str> = (0..count).map(|_| self.one_of(list)).collect();
        chosen.join(", ")
    }

    /// A condition without AND, OR and NOT.
    fn atom(&self) -> String {
        let s = &self.subjects[self.random.below(self.subjects.len() as u64) as usize];
        let (expr, operator) = (s.expr, self.one_of(&s.operators));
        let equality = s.is_column() && s.operators.contains(&"=");
        let maybe_not = self.one_of(&["", "not "]);
        match self.random.below(100) {
            0..70 => format!("{expr} {operator} {}", self.one_of(&s.operands)),
            70..76 => format!("{expr} is {maybe_not}null"),
            76..83 if equality && s.operators.contains(&"<") => {
                let operands = (self.one_of(&s.operands), self.one_of(&s.operands));
                format!("{expr} between {} and {}", operands.0, operands.1)
            }
            83..90 if equality => {
                let list = self.some_of(&s.operands, 1 + self.random.below(4));
                format!("{expr} {maybe_not}in ({list})")
            }
            90..94 if equality => {
                let (list, quantifier) = (self.some_of(&s.operands, 2), ["any", "all"]);
                format!("{expr} {operator} {} (array[{list}])", self.one_of(&quantifier))
            }
            94..97 if equality => {
                format!("{expr} is {maybe_not}distinct from {}", self.one_of(&s.operands))
            }
            _ => self
                .one_of(&[
                    "b",
                    "not b",
                    "b is true",
                    "b is not true",
                    "b is false",
                    "b is unknown",
                    "b is not unknown",
                    "b is not false",
                    "(i4 > 5) is true",
                    "i4 > 5 is not true",
                    "true",
                    "false",
                    "i4 = (select 5)",
                    "random() < 0.5",
                    "5 = any (ia)",
                    "'w1' <> all (ta)",
                ])
                .to_owned(),
        }
    }

    fn condition(&self, depth: u32) -> String {
        if depth == 0 || self.random.below(3) == 0 {
            return self.atom();
        }
        let parts = |word: &str| {
            let count = 2 + self.random.below(2);
            let parts: Vec<String> =
                (0..count).map(|_| format!("({})", self.condition(depth - 1))).collect();
            parts.join(word)
        };
        match self.random.below(20) {
            0..10 => parts(" and "),
            10..17 => parts(" or "),
            _ => format!("not ({})", self.condition(depth - 1)),
        }
    }
}

/// The estimated number of rows, or the SQLSTATE.
fn estimate(client: &mut Client, condition: &str) -> String {
    let sql = format!("explain select * from d where {condition}");
    let Reply { answers, error, .. } = client.query(&sql).expect("a reply");
    if let Some(error) = error {
        return error.code;
    }
    let rows = answers.first().and_then(|a| a.rows.first()).and_then(|r| r[0].clone());
    let line = rows.unwrap_or_default();
    let (_, rest) = line.split_once("rows=").unwrap_or_else(|| panic!("{sql}: {line}"));
    // PostgreSQL estimates 1 row if a contradiction is one of several conditions, Norsu none.
    let rows: u64 = rest.split(' ').next().and_then(|n| n.parse().ok()).expect("a number of rows");
    rows.max(1).to_string()
}

fn clients(pair: &Pair) -> [Client; 2] {
    let mut clients = [pair.ours.connect("postgres"), pair.real.connect("postgres")];
    for client in &mut clients {
        client.must("set timezone = 'UTC'");
        // The estimates of scans are those of their conditions.
        for method in ["indexscan", "bitmapscan", "indexonlyscan", "tidscan"] {
            client.must(&format!("set enable_{method} = off"));
        }
    }
    clients
}

/// Runs the lines of a script on both servers; the replies must be equal.
fn run(clients: &mut [Client; 2], script: &str) {
    for line in script.lines().filter(|l| !l.is_empty() && !l.starts_with("--")) {
        let [ours, real] = clients.each_mut().map(|c| {
            let reply = c.query(line).expect("a reply");
            let rows = reply.answers.into_iter().map(|a| a.rows).collect::<Vec<_>>();
            let notices: Vec<String> = reply.notices.into_iter().map(|n| n.message).collect();
            (rows, notices, reply.error.map(|e| (e.code, e.message)))
        });
        assert_eq!(ours, real, "{line}");
    }
}

#[test]
fn column_statistics_equal_postgresqls() {
    let pair = Pair::start_both("stats", "C", &["autovacuum=off"]);
    let mut clients = clients(&pair);
    run(&mut clients, SETUP);
    run(&mut clients, include_str!("estimates/statistics.sql"));
}

#[test]
fn estimates_equal_postgresqls() {
    let pair = Pair::start_both("estimates", "C", &["autovacuum=off"]);
    let mut clients = clients(&pair);
    run(&mut clients, SETUP);
    let own = std::env::var("NORSU_ESTIMATES_SEED").ok().and_then(|s| s.parse().ok());
    let mut wrong = Vec::new();
    for seed in own.map_or(vec![1, 2, 3], |seed| vec![seed]) {
        let generator = Generator { random: SeededRandom::new(seed), subjects: Subject::all() };
        for n in 0..1000 {
            let condition = generator.condition(n % 3);
            let [ours, real] = clients.each_mut().map(|c| estimate(c, &condition));
            if ours != real {
                wrong.push(format!("{condition}: {ours}, not {real}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Data and estimates of CREATE STATISTICS.
#[test]
fn extended_statistics_equal_postgresqls() {
    let pair = Pair::start_both("extended", "C", &["autovacuum=off"]);
    run(&mut clients(&pair), include_str!("estimates/extended.sql"));
}
