//! The recorded results in `docs/compatibility.md`: a table for each suite, which the test writes.

use super::compare::Tally;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HEAD: &str = "| file | statements | agree | refused | follow | plans | order | \
                    consequences | other | features that are missing |\n\
                    |---|---|---|---|---|---|---|---|---|---|\n";

/// The number of columns with counts.
const COUNTS: usize = 8;

/// A row: the counts, and the reason as text.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    /// Statements: all; agreeing; refused because of a missing feature; failing because of that;
    /// with another plan; with rows in another order; possible consequences of refused ones;
    /// others.
    counts: [usize; COUNTS],
    reason: String,
}

impl Row {
    fn of(tally: &Tally) -> Row {
        let refused = tally.missing.values().sum();
        let counts = [
            tally.total,
            tally.agreeing,
            refused,
            tally.follow,
            tally.plans,
            tally.orders,
            tally.consequences,
            tally.other,
        ];
        Row { counts, reason: tally.reason() }
    }

    fn parse(line: &str) -> Option<(String, Row)> {
        let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        let (name, rest) = cells.split_first()?;
        let mut counts = [0; COUNTS];
        for (count, cell) in counts.iter_mut().zip(rest) {
            *count = cell.replace(',', "").parse().ok()?;
        }
        Some((
            name.trim_matches('`').to_owned(),
            Row { counts, reason: rest.get(COUNTS)?.to_string() },
        ))
    }
}

/// True if the page is written instead of compared.
fn is_written() -> bool {
    std::env::var_os("NORSU_REGRESS_WRITE").is_some()
}

/// The table of a suite.
pub(super) struct Table {
    suite: &'static str,
    rows: BTreeMap<String, Row>,
    worse: Vec<String>,
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compatibility.md")
}

/// The markers before and after the table of a suite.
fn marks(suite: &str) -> [String; 2] {
    ["begin", "end"].map(|word| format!("<!-- {suite}: {word} -->\n"))
}

/// The text of the page before, in and after a suite's table.
fn parts<'a>(page: &'a str, suite: &str) -> [&'a str; 3] {
    let [begin, end] = marks(suite);
    let from = page.find(&begin).unwrap_or_else(|| panic!("no table of {suite}")) + begin.len();
    let to = page.find(&end).unwrap_or_else(|| panic!("the table of {suite} has no end"));
    [&page[..from], &page[from..to], &page[to..]]
}

fn page() -> String {
    let path = path();
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn rows(text: &str) -> BTreeMap<String, Row> {
    text.lines().filter_map(Row::parse).filter(|(name, _)| name != "total").collect()
}

fn totals(rows: &BTreeMap<String, Row>) -> [usize; COUNTS] {
    let mut sum = [0; COUNTS];
    for row in rows.values() {
        for (total, count) in sum.iter_mut().zip(row.counts) {
            *total += count;
        }
    }
    sum
}

fn line(name: &str, counts: [usize; COUNTS], reason: &str) -> String {
    let numbers: Vec<String> = counts.iter().map(usize::to_string).collect();
    format!("| {name} | {} | {reason} |\n", numbers.join(" | "))
}

impl Table {
    pub(super) fn load(suite: &'static str) -> Table {
        Table { suite, rows: rows(parts(&page(), suite)[1]), worse: Vec::new() }
    }

    /// Adds the result of a file; records whether it is worse than the stored one.
    pub(super) fn note(&mut self, name: &str, tally: &Tally) {
        let row = Row::of(tally);
        match self.rows.insert(name.to_owned(), row) {
            Some(old) if old.counts[1] > tally.agreeing => {
                let (now, then) = (tally.agreeing, old.counts[1]);
                self.worse.push(format!("{name}: {now} agree, {then} are recorded"));
            }
            Some(_) => {}
            None => self.worse.push(format!("{name}: not recorded")),
        }
        // Written after each file, so that an interrupted run keeps its results.
        if is_written() {
            self.write();
        }
    }

    /// Panics if a file is worse than recorded, unless the table is written.
    pub(super) fn finish(self) {
        assert!(is_written() || self.worse.is_empty(), "{}", self.worse.join("\n"));
    }

    /// Writes the table to the page.
    fn write(&self) {
        let page = page();
        let [before, _, behind] = parts(&page, self.suite);
        let mut text = HEAD.to_owned();
        text.push_str(&line("total", totals(&self.rows), ""));
        for (name, row) in &self.rows {
            text.push_str(&line(name, row.counts, &row.reason));
        }
        std::fs::write(path(), [before, &text, behind].concat()).expect("the page is written");
    }
}

/// The tables of the page must have the format that the test writes.
pub(super) fn check_form() {
    let page = page();
    for suite in ["regression", "isolation", "contrib"] {
        let text = parts(&page, suite)[1];
        let rows = rows(text);
        if rows.is_empty() {
            // The suite has no results yet; the long form fails then.
            continue;
        }
        assert!(text.contains(&line("total", totals(&rows), "")), "{suite}: the sums do not fit");
        for (name, row) in &rows {
            let [total, parts @ ..] = row.counts;
            assert_eq!(total, parts.iter().sum::<usize>(), "{suite}: {name}");
            assert!(text.contains(&line(name, row.counts, &row.reason)), "{suite}: {name}");
        }
    }
}
