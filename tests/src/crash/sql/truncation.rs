//! Disk operations that fail while files are truncated or removed. A failed removal after a
//! transaction has committed or aborted does not change its result. A truncation is completed, or
//! the server goes down and repeats it in recovery.

use super::faults::{EIO, code};
use super::harness::{Harness, template};
use crate::crash::run::InjectedFault;
use std::sync::atomic::Ordering;
use testkit::client::Client;
use vfs::{Op, SeededRandom};

const OPS: [Op; 9] = [
    Op::Open,
    Op::Read,
    Op::Write,
    Op::Sync,
    Op::SyncDir,
    Op::Truncate,
    Op::Unlink,
    Op::Stat,
    Op::Rename,
];
/// Number of operations of a kind that are tested; one of them fails in each run.
const CALLS_MAX: u64 = 12;

struct Case {
    before: &'static [&'static str],
    /// The statement during which the operation fails.
    statement: &'static str,
    /// A query, and its expected results if the statement succeeded and if it failed.
    query: &'static str,
    done: &'static str,
    undone: &'static str,
    /// The statement must not fail, because its transaction has committed before files are changed.
    decided: bool,
}

/// Number of rows, and a sum by index entries.
const COUNT: &str = "SELECT (SELECT count(*) FROM v) || ' ' || (SELECT sum(id) FROM v)";

const CASES: [Case; 5] = [
    Case {
        before: &["CHECKPOINT", "DELETE FROM v WHERE id > 100"],
        statement: "VACUUM v",
        query: COUNT,
        done: "100 5050",
        undone: "100 5050",
        decided: false,
    },
    Case {
        before: &["CHECKPOINT", "BEGIN", "DROP TABLE v"],
        statement: "COMMIT",
        query: "SELECT to_regclass('v') IS NULL",
        done: "t",
        undone: "f",
        decided: false,
    },
    Case {
        before: &["BEGIN", "TRUNCATE v"],
        statement: "COMMIT",
        query: "SELECT count(*) FROM v",
        done: "0",
        undone: "500",
        decided: false,
    },
    Case {
        before: &["BEGIN", "CREATE TABLE w AS SELECT * FROM v"],
        statement: "ROLLBACK",
        query: COUNT,
        done: "500 125250",
        undone: "500 125250",
        decided: true,
    },
    // The relation map is written before the commit record.
    Case {
        before: &[
            "BEGIN",
            "INSERT INTO v SELECT generate_series(501, 510)",
            "REINDEX TABLE pg_class",
            "CLUSTER pg_class USING pg_class_oid_index",
        ],
        statement: "COMMIT",
        query: COUNT,
        done: "510 130305",
        undone: "500 125250",
        decided: false,
    },
];

fn open(seed: u64) -> (Harness, SeededRandom, Client) {
    let random = SeededRandom::new(seed);
    let mut harness =
        Harness::new(template(), &random, seed, InjectedFault::Nothing).expect("a harness");
    harness.buffers(48);
    harness.open().expect("the server starts");
    let client = harness.connect().expect("a session");
    (harness, random, client)
}

fn make(client: &mut Client) {
    client.must("DROP TABLE IF EXISTS v, w");
    client.must("CREATE TABLE v (id int PRIMARY KEY, t text)");
    client.must("INSERT INTO v SELECT g, repeat('x', 900) FROM generate_series(1, 500) g");
}

/// Makes each operation of a kind fail in turn. Returns how often one failed, how often the server
/// went down, and how often the statement succeeded nevertheless.
fn fail_each_call(case: &Case, op: Op, seed: u64) -> (u64, u64, u64) {
    let (mut struck, mut down, mut unharmed) = (0, 0, 0);
    let (mut harness, random, mut client) = open(seed);
    for n in 1..=CALLS_MAX {
        let what = format!("{} with {op:?} {n} failing", case.statement);
        make(&mut client);
        for sql in case.before {
            client.must(sql);
        }
        harness.disk.fail_nth_on(op, "", n, EIO);
        let answer = code(&harness, &mut client, case.statement);
        let fired = !harness.disk.has_faults_to_come();
        harness.disk.clear_faults();
        if harness.panicked.load(Ordering::SeqCst) {
            down += 1;
            harness.abandon(&random);
            harness.open().unwrap_or_else(|e| panic!("{what}: {e}"));
            client = harness.connect().expect("a session");
            let found = client.value(case.query);
            assert!(found == case.done || found == case.undone, "{what}: {found}");
        } else {
            let answer = answer.unwrap_or_else(|| panic!("{what}: no answer"));
            assert!(answer.is_empty() || !case.decided, "{what}: {answer}");
            if answer.is_empty() {
                unharmed += u64::from(fired);
                assert_eq!(client.value(case.query), case.done, "{what}");
            } else {
                let _ = client.query("ROLLBACK");
                assert_eq!(client.value(case.query), case.undone, "{what}: {answer}");
            }
        }
        if !fired {
            break;
        }
        struck += 1;
    }
    (struck, down, unharmed)
}

#[test]
fn failing_calls_leave_transactions_and_files_consistent() {
    for (number, case) in (0..).zip(&CASES) {
        let (mut struck, mut unharmed) = (0, 0);
        for op in OPS {
            let seen = fail_each_call(case, op, number);
            struck += seen.0;
            unharmed += seen.2;
            if number == 0 && op == Op::Truncate {
                assert!(
                    seen.0 > 0 && seen.1 == seen.0,
                    "a truncation that fails is a PANIC: {seen:?}"
                );
            }
            if number > 0 && matches!(op, Op::Truncate | Op::Unlink) {
                assert_eq!(
                    seen.1, 0,
                    "{}: a file that stays is no reason to go down",
                    case.statement
                );
            }
        }
        assert!(struck > 3 && (number == 0 || unharmed > 0), "{number}: {struck} {unharmed}");
    }
}

/// The row of the database is marked as invalid before its files are removed: after a failed DROP
/// the database can only be dropped.
#[test]
fn a_failed_drop_of_a_database_can_be_repeated() {
    let (mut harness, random, mut client) = open(9);
    client.must("CREATE DATABASE doomed");
    client.must("CREATE DATABASE spared");
    // The checkpoint that precedes the removal of the files fails.
    harness.disk.fail_all_on(Op::Write, "global/1262", EIO);
    let answer = code(&harness, &mut client, "DROP DATABASE doomed");
    harness.disk.clear_faults();
    assert!(!harness.panicked.load(Ordering::SeqCst));
    assert!(answer.as_deref().is_some_and(|code| !code.is_empty()), "{answer:?}");
    harness.abandon(&random);
    harness.open().expect("recovery");
    let mut client = harness.connect().expect("a session");
    let limits = "SELECT string_agg(datname || datconnlimit, ' ' ORDER BY datname) \
                  FROM pg_database \
                  WHERE datname IN ('doomed', 'spared')";
    assert_eq!(client.value(limits), "doomed-2 spared-1");
    assert_eq!(
        client.query("CREATE DATABASE copy TEMPLATE doomed").expect("an answer").code(),
        "55000"
    );
    client.must("VACUUM");
    client.must("DROP DATABASE doomed");
    assert_eq!(client.value(limits), "spared-1");
}
