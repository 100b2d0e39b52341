//! A power failure at each disk operation of PREPARE TRANSACTION, of a checkpoint after it, and of
//! COMMIT PREPARED or ROLLBACK PREPARED; in every third run also during the recovery. A prepared
//! transaction must survive with its locks, and its end must be complete or not have happened.

use super::check;
use super::harness::{Harness, template};
use crate::crash::run::InjectedFault;
use std::collections::BTreeSet;
use testkit::client::Client;
use vfs::SeededRandom;

/// How the transaction ends. The statements end with that.
const ENDS: [&str; 2] = ["COMMIT PREPARED 'x'", "ROLLBACK PREPARED 'x'"];

/// More than the statements have disk operations.
const OPERATIONS_MAX: u64 = 300;

/// State of the transaction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Absent,
    Prepared,
    Ended,
}

const SETUP: &str = "CREATE TABLE v AS SELECT g AS id FROM generate_series(1, 100) g; \
    CREATE TABLE gone AS SELECT g AS id FROM generate_series(1, 10) g";

/// Inserts, deletes, locks rows, creates and drops tables, with subtransactions.
const WORK: &str = "BEGIN; INSERT INTO v VALUES (1000); SAVEPOINT a; INSERT INTO v VALUES (1001); \
    RELEASE a; DELETE FROM v WHERE id = 1; SELECT id FROM v WHERE id = 2 FOR UPDATE; \
    CREATE TABLE made AS SELECT * FROM v; DROP TABLE gone; \
    SELECT pg_advisory_xact_lock(7)";

/// The visible state: rows, and which tables exist.
fn visible(client: &mut Client) -> String {
    client.value(
        "SELECT concat_ws(' ', count(*), to_regclass('made') IS NOT NULL, \
         to_regclass('gone') IS NOT NULL) FROM v",
    )
}

fn outcome(client: &mut Client, committed: bool, what: &str) -> Outcome {
    let prepared = client.rows("SELECT gid FROM pg_prepared_xacts");
    let seen = visible(client);
    let ended = if committed { "101 t f" } else { "100 f t" };
    match &prepared[..] {
        [gid] if gid == "x" => {
            assert_eq!(seen, "100 f t", "{what}");
            Outcome::Prepared
        }
        [] if seen == ended && committed => Outcome::Ended,
        [] if seen == "100 f t" => Outcome::Absent,
        other => panic!("{what}: {other:?}, {seen}"),
    }
}

/// The locks of the prepared transaction are held.
fn check_locks(client: &mut Client, what: &str) {
    let locked = [
        "SELECT id FROM v WHERE id = 1 FOR UPDATE NOWAIT",
        "SELECT id FROM v WHERE id = 2 FOR UPDATE NOWAIT",
        "LOCK TABLE v IN ACCESS EXCLUSIVE MODE NOWAIT",
        "LOCK TABLE gone IN ACCESS SHARE MODE NOWAIT",
    ];
    for sql in locked {
        client.must("BEGIN");
        let reply = client.query(sql).expect("an answer");
        assert_eq!(reply.code(), "55P03", "{what}: {sql}");
        client.must("ROLLBACK");
    }
    assert_eq!(client.value("SELECT pg_try_advisory_lock(7)"), "f", "{what}");
    client.must("INSERT INTO v VALUES (2000); DELETE FROM v WHERE id = 2000");
    client.must("VACUUM v");
}

/// Fails before the operation with this number. Returns the number of the interrupted statement and
/// the state after recovery; `None` if the statements have fewer operations.
fn fail_at(end: &str, n: u64) -> Option<(usize, Outcome)> {
    let what = format!("{end}, operation {n}");
    let random = SeededRandom::new(n);
    let mut harness =
        Harness::new(template(), &random, n, InjectedFault::Nothing).expect("a harness");
    harness.buffers(400);
    harness.open().expect("the server starts");
    let mut client = harness.connect().expect("a session");
    SETUP.split("; ").for_each(|sql| drop(client.must(sql)));
    client.must("CHECKPOINT");
    WORK.split("; ").for_each(|sql| drop(client.must(sql)));
    harness.disk.crash_at_change(n, n);
    let mut interrupted = None;
    for (at, sql) in ["PREPARE TRANSACTION 'x'", "CHECKPOINT", end].into_iter().enumerate() {
        client.must(sql);
        if interrupted.is_none() && harness.disk.crashed().is_some() {
            interrupted = Some(at);
        }
    }
    let ended = harness.end_planned(vec![client]).unwrap_or_else(|e| panic!("{what}: {e}"));
    let interrupted = interrupted.filter(|_| ended)?;
    if n.is_multiple_of(3) {
        harness.fail_in_recovery(&random).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
    let mut client = harness.connect().expect("a session");
    let committed = end == ENDS[0];
    let found = outcome(&mut client, committed, &what);
    if found == Outcome::Prepared {
        check_locks(&mut client, &what);
        if n.is_multiple_of(2) {
            client.must("CHECKPOINT");
        }
        client.must(end);
        let left = outcome(&mut client, committed, &what);
        assert_ne!(left, Outcome::Prepared, "{what}");
        assert_eq!(left == Outcome::Ended, committed, "{what}");
    }
    assert_eq!(client.value("SELECT count(*) FROM pg_locks WHERE pid IS NULL"), "0", "{what}");
    drop(client);
    let checked = check::structure(harness.engine(), n.is_multiple_of(16));
    checked.unwrap_or_else(|e| panic!("{what}: {e}"));
    harness.close().unwrap_or_else(|e| panic!("{what}: {e}"));
    Some((interrupted, found))
}

#[test]
fn a_prepared_transaction_survives_a_crash_at_any_operation() {
    for end in ENDS {
        let committed = end == ENDS[0];
        let mut found = BTreeSet::new();
        let mut n = 1;
        while let Some(state) = fail_at(end, n) {
            found.insert(state);
            n += 1;
            assert!(n < OPERATIONS_MAX, "{end}: too many operations");
        }
        println!("{end}: {n} operations, {found:?}");
        let after = if committed { Outcome::Ended } else { Outcome::Absent };
        let allowed = [
            (0, Outcome::Absent),
            (0, Outcome::Prepared),
            (1, Outcome::Prepared),
            (2, Outcome::Prepared),
            (2, after),
        ];
        assert!(found.iter().all(|state| allowed.contains(state)), "{end}: {found:?}");
        for state in [allowed[0], allowed[2], allowed[3], allowed[4]] {
            assert!(found.contains(&state), "{end}: {state:?}: {found:?}");
        }
    }
}
