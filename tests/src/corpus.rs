//! Differential test: each statement of `tests/sql` is run on Norsu and on PostgreSQL. Rows, names
//! and types of columns, command tags, errors and notices with details, hints, positions, internal
//! queries and names of objects must be equal. No expected output is stored; PostgreSQL is run each
//! time.
//!
//! A line is a query message; `[[a¦b]]` expands to `a` and to `b`, several of them to all
//! combinations. Rows of statements without ORDER BY are compared as sets. `known.txt` lists
//! statements with a known difference, with the reason above them (an entry that ends with `…` is a
//! prefix); an entry whose statements do not differ any more is an error. `missing.txt` lists the
//! messages of missing features.
//!
//! `NORSU_CORPUS=part` runs only files whose name contains the part.

use crate::pair::Pair;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use testkit::client::{Client, Reply, Report};

/// Starts both servers.
pub(crate) fn new_pair() -> Pair {
    Pair::start("corpus", "C", &["-c", "deadlock_timeout=10ms"])
}

/// All statements that a template expands to.
fn expand(template: &str) -> Vec<String> {
    let Some(start) = template.find("[[") else { return vec![template.to_owned()] };
    // Matches the innermost pair, so that alternatives may contain the brackets of arrays.
    let Some(len) = template[start..].find("]]") else { return vec![template.to_owned()] };
    let (head, rest) = (&template[..start], &template[start + len + 2..]);
    let tails = expand(rest);
    template[start + 2..start + len]
        .split('¦')
        .flat_map(|one| tails.iter().map(move |tail| format!("{head}{one}{tail}")))
        .collect()
}

/// The compared parts of a reply.
#[derive(PartialEq, Debug)]
pub(crate) struct ComparedReply {
    answers: Vec<(Vec<(String, u32, i32)>, Vec<Vec<Option<String>>>, String)>,
    pub(crate) error: Option<Report>,
    notices: Vec<Report>,
}

/// OIDs of user-defined types differ between the servers.
const FIRST_USER_OID: u32 = 16_384;

pub(crate) fn compared_reply(sql: &str, reply: Reply) -> ComparedReply {
    let sorted = !sql.to_ascii_lowercase().contains("order by");
    let answers = reply.answers.into_iter().map(|mut a| {
        if sorted {
            a.rows.sort();
        }
        let fields = a
            .fields
            .into_iter()
            .map(|f| (f.name, if f.type_oid < FIRST_USER_OID { f.type_oid } else { 0 }, f.typmod));
        (fields.collect(), a.rows, a.tag)
    });
    // SERIALIZABLE is enforced by PostgreSQL only.
    const ALONE: [&str; 2] = [
        "isolation level SERIALIZABLE is not enforced",
        // The caches of a session of PostgreSQL grow; of the level `debug1`.
        "rehashing catalog cache",
    ];
    let ours = |n: &Report| ALONE.iter().any(|start| n.message.starts_with(start));
    let notices = reply.notices.into_iter().filter(|n| !ours(n)).map(numberless).collect();
    let error = reply.error.map(numberless);
    ComparedReply { answers: answers.collect(), error, notices }
}

/// The report without the number of the session's temporary schema.
fn numberless(mut report: Report) -> Report {
    let schema = &mut report.object.schema;
    if schema.starts_with("pg_temp_") {
        schema.truncate("pg_temp_".len());
    }
    report
}

impl ComparedReply {
    pub(crate) fn code(&self) -> &str {
        self.error.as_ref().map_or("", |e| &e.code)
    }
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sql")
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn files() -> Vec<PathBuf> {
    let only = std::env::var("NORSU_CORPUS").unwrap_or_default();
    let entries = std::fs::read_dir(folder()).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "sql"))
        .filter(|p| p.to_string_lossy().contains(&only))
        .collect();
    files.sort();
    files
}

/// The entries of a file, and which of them have been used. An entry that is no longer used must be
/// removed.
pub(crate) struct Known {
    entries: Vec<String>,
    met: RefCell<BTreeSet<usize>>,
}

impl Known {
    fn new(text: &str) -> Known {
        let lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with("-- "));
        Known { entries: lines.map(str::to_owned).collect(), met: RefCell::default() }
    }

    fn load(file: &str) -> Known {
        Known::new(&read(&folder().join(file)))
    }

    /// True if there is such an entry, which is marked as used.
    pub(crate) fn has(&self, what: &str) -> bool {
        let fits = |entry: &String| match entry.strip_suffix('…') {
            Some(start) => what.starts_with(start),
            None => entry == what,
        };
        let places = self.entries.iter().enumerate().filter(|(_, e)| fits(e)).map(|(i, _)| i);
        let places: Vec<usize> = places.collect();
        self.met.borrow_mut().extend(&places);
        !places.is_empty()
    }

    fn stale(&self) -> Vec<&String> {
        let met = self.met.borrow();
        self.entries.iter().enumerate().filter(|(i, _)| !met.contains(i)).map(|(_, e)| e).collect()
    }
}

/// The result of a run.
#[derive(Default)]
struct Outcome {
    statements: usize,
    differ: Vec<String>,
    /// Missing features, with the number of statements that require them.
    missing: BTreeMap<String, usize>,
    /// Statements that test nothing, because the schema of their file has been dropped before.
    without_schema: Vec<String>,
}

/// PostgreSQL's error if no schema of the search path exists.
const NO_SCHEMA: &str = "no schema has been selected to create in";

/// True if the feature is missing in Norsu only.
fn missing(message: &str, want: &ComparedReply) -> bool {
    want.code() != "0A000" || message.ends_with("is not supported")
}

fn compare(pair: &Pair, path: &Path, known: &Known, outcome: &mut Outcome) {
    let mut real = pair.real.connect("postgres");
    let mut ours = pair.ours.connect("postgres");
    for line in read(path).lines().filter(|l| !l.is_empty() && !l.starts_with("-- ")) {
        for sql in expand(line) {
            outcome.statements += 1;
            let want = real.query(&sql).unwrap_or_else(|e| panic!("PostgreSQL: {sql}: {e}"));
            let have = match ours.query(&sql) {
                Ok(reply) => reply,
                Err(e) => {
                    outcome.differ.push(format!("{sql}\n    the connection ended: {e}"));
                    ours = pair.ours.connect("postgres");
                    continue;
                }
            };
            if want.status != have.status {
                // One difference must not make the subsequent statements differ.
                real.must("ROLLBACK");
                ours.must("ROLLBACK");
            }
            let (want, have) = (compared_reply(&sql, want), compared_reply(&sql, have));
            if want.error.as_ref().is_some_and(|e| e.message == NO_SCHEMA) {
                outcome.without_schema.push(format!("{}: {sql}", path.display()));
            }
            if want == have || known.has(&sql) {
                continue;
            }
            match &have.error {
                Some(e) if e.code == "0A000" && missing(&e.message, &want) => {
                    *outcome.missing.entry(e.message.clone()).or_default() += 1;
                }
                _ => outcome.differ.push(format!("{sql}\n    want {want:?}\n    have {have:?}")),
            }
        }
    }
}

#[test]
fn statements_have_the_results_of_postgres() {
    let pair = new_pair();
    let known = Known::load("known.txt");
    let expected = Known::load("missing.txt");
    let mut outcome = Outcome::default();
    for path in files() {
        compare(&pair, &path, &known, &mut outcome);
    }
    for (message, n) in &outcome.missing {
        println!("missing in {n} statements: {message}");
    }
    let surprises: Vec<_> = outcome.missing.keys().filter(|m| !expected.has(m)).collect();
    assert!(surprises.is_empty(), "not in missing.txt: {surprises:#?}");
    if std::env::var_os("NORSU_CORPUS").is_none() {
        let stale = known.stale();
        assert!(stale.is_empty(), "these answer as on PostgreSQL now: {stale:#?}");
        for feature in expected.stale() {
            println!("not missing any more: {feature}");
        }
    }
    let differ = &outcome.differ;
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    let idle = &outcome.without_schema;
    assert!(idle.is_empty(), "no schema of the search path exists: {idle:#?}");
    assert!(outcome.statements > 0);
    let log = pair.ours.log();
    assert!(!log.contains("panicked"), "{log}");
}

/// The test must detect a difference.
#[test]
fn a_difference_is_detected() {
    let pair = new_pair();
    let (mut ours, mut real) = (pair.ours.connect("postgres"), pair.real.connect("postgres"));
    let mut differ = |a: &str, b: &str| {
        let one = compared_reply(a, ours.query(a).expect("an answer"));
        one != compared_reply(b, real.query(b).expect("an answer"))
    };
    assert!(!differ("SELECT 1 AS a", "SELECT 1 AS a"));
    assert!(differ("SELECT 1 AS a", "SELECT 1 AS b"), "names");
    assert!(differ("SELECT 1 AS a", "SELECT 1::int8 AS a"), "types");
    assert!(differ("SELECT 1 AS a", "SELECT 2 AS a"), "values");
    assert!(differ("SELECT 1/0", "SELECT nope"), "errors");
    assert!(differ("SELECT nope", "SELECT  nope"), "positions");
    assert!(differ("ROLLBACK", "COMMIT"), "tags and notices");
    let known = Known::new("-- a remark\nSELECT 1\n\nSELECT a…\nSELECT b\n");
    assert!(known.has("SELECT 1") && known.has("SELECT ab") && !known.has("SELECT 12"));
    assert_eq!(known.stale(), ["SELECT b"]);
    assert_eq!(expand("x[[a¦b]]y[[1¦2]]"), ["xay1", "xay2", "xby1", "xby2"]);
}

pub(crate) fn connect_both(pair: &Pair, count: usize) -> [Vec<Client>; 2] {
    [
        (0..count).map(|_| pair.ours.connect("postgres")).collect(),
        (0..count).map(|_| pair.real.connect("postgres")).collect(),
    ]
}
