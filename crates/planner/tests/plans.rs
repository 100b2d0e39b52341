//! The plans that the planner chooses, for tables whose sizes and statistics are invented
//! (`host`).

mod host;

use host::TestHost;

/// Compares the plans of statements with the expected ones.
fn check(cases: &str) {
    let mut host = TestHost::new();
    let mut wrong = Vec::new();
    let mut lines = cases.lines().filter(|l| !l.is_empty() && !l.starts_with("--"));
    while let (Some(sql), Some(expected)) = (lines.next(), lines.next()) {
        let got = host.plan(sql).unwrap_or_else(|e| format!("{e:?}"));
        if got != expected.trim() {
            wrong.push(format!("{sql}\n  expected {}\n  got      {got}", expected.trim()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn scans() {
    check(include_str!("plans/scans.txt"));
}

#[test]
fn grouping() {
    check(include_str!("plans/grouping.txt"));
}

#[test]
fn distinct_and_windows() {
    check(include_str!("plans/distinct.txt"));
}

#[test]
fn orders_and_limits() {
    check(include_str!("plans/orders.txt"));
}

#[test]
fn set_operations() {
    check(include_str!("plans/sets.txt"));
}

#[test]
fn subqueries_and_changes() {
    check(include_str!("plans/subqueries.txt"));
}
