//! Failing disk operations as observed by the client: either the statement fails and the server
//! continues to run, or the server goes down and acknowledged transactions are present after
//! recovery.

use super::harness::{Harness, template};
use crate::crash::run::InjectedFault;
use std::sync::atomic::Ordering;
use std::time::Duration;
use testkit::client::Client;
use vfs::{Op, SeededRandom};

pub(super) const EIO: i32 = 5;
const ENOSPC: i32 = 28;
/// A statement that needs more pages than there are buffers.
const INSERT: &str = "INSERT INTO f SELECT g, repeat('x', 900) FROM generate_series(1, 500) g";

fn harness(seed: u64) -> (Harness, SeededRandom, Client) {
    let random = SeededRandom::new(seed);
    let mut harness =
        Harness::new(template(), &random, seed, InjectedFault::Nothing).expect("a harness");
    harness.buffers(48);
    harness.open().expect("the server starts");
    let mut client = harness.connect().expect("a session");
    client.must("CREATE TABLE f (id int, t text)");
    client.must(INSERT);
    client.must("CHECKPOINT");
    (harness, random, client)
}

/// Runs a statement. Returns its SQLSTATE (empty: success), or `None` if the session has ended or
/// blocks in a server that is down.
pub(super) fn code(harness: &Harness, client: &mut Client, sql: &str) -> Option<String> {
    client.send(sql).ok()?;
    for _ in 0..600 {
        match client.receive_within(Duration::from_millis(50)) {
            Ok(Some(reply)) => return Some(reply.code().to_owned()),
            Ok(None) if harness.panicked.load(Ordering::SeqCst) => return None,
            Ok(None) => {}
            Err(_) => return None,
        }
    }
    panic!("no answer to {sql}");
}

fn count(client: &mut Client) -> String {
    client.value("SELECT count(*) FROM f")
}

#[test]
fn a_full_disk_fails_the_statement_only() {
    let (harness, _, mut client) = harness(1);
    harness.disk.fail_all_on(Op::Write, "base/", ENOSPC);
    let mut failed = 0;
    for _ in 0..5 {
        match code(&harness, &mut client, INSERT).as_deref() {
            Some("53100") => failed += 1,
            Some("") => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(failed > 0, "nothing failed");
    assert_eq!(client.value("SELECT 1"), "1");
    harness.disk.clear_faults();
    let before: usize = count(&mut client).parse().expect("a number");
    assert_eq!(before % 500, 0, "a failed statement left rows");
    client.must(INSERT);
    assert_eq!(count(&mut client), (before + 500).to_string());
    assert!(!harness.panicked.load(Ordering::SeqCst));
}

#[test]
fn an_unreadable_page_fails_the_statement_only() {
    let (harness, _, mut client) = harness(2);
    // Pages of another table have evicted those of the first.
    client.must("CREATE TABLE other AS SELECT * FROM f");
    harness.disk.fail_nth_on(Op::Read, "base/", 3, EIO);
    assert_eq!(code(&harness, &mut client, "SELECT count(*) FROM f").as_deref(), Some("58030"));
    assert_eq!(count(&mut client), "500");
    assert!(!harness.panicked.load(Ordering::SeqCst));
}

#[test]
fn a_failed_fsync_takes_the_server_down_and_loses_nothing() {
    for (part, sql) in [("base/", "CHECKPOINT"), ("pg_wal", INSERT), ("pg_xact", "CHECKPOINT")] {
        let (mut harness, random, mut client) = harness(3);
        client.must(INSERT);
        harness.disk.fail_nth_on(Op::Sync, part, 1, EIO);
        let answer = code(&harness, &mut client, sql);
        assert!(harness.panicked.load(Ordering::SeqCst), "{part}: {answer:?}");
        assert_ne!(answer.as_deref(), Some(""), "{part}: {sql} succeeded");
        harness.abandon(&random);
        harness.open().expect("recovery");
        let mut client = harness.connect().expect("a session");
        let found: usize = count(&mut client).parse().expect("a number");
        // The commit whose flush failed may have reached the disk.
        let possible = if sql == INSERT { vec![1000, 1500] } else { vec![1000] };
        assert!(possible.contains(&found), "{part}: {found}");
    }
}

#[test]
fn a_full_log_disk_takes_the_server_down_and_loses_nothing() {
    let (mut harness, random, mut client) = harness(4);
    harness.disk.fail_all_on(Op::Write, "pg_wal", ENOSPC);
    let answer = code(&harness, &mut client, INSERT);
    assert!(harness.panicked.load(Ordering::SeqCst), "{answer:?}");
    assert_ne!(answer.as_deref(), Some(""), "a commit without its record");
    harness.disk.clear_faults();
    harness.abandon(&random);
    harness.open().expect("recovery");
    let mut client = harness.connect().expect("a session");
    assert_eq!(count(&mut client), "500");
}
