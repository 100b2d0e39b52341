//! Failing disk operations: either the statement fails with the right SQLSTATE, or the server goes
//! down for recovery; in neither case is an acknowledged transaction lost.

use super::run::{Fixture, InjectedFault, Outcome, session};
use pgerror::{Severity, SqlState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use vfs::Op;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const STEPS: u64 = 300;

/// The fault to inject.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The nth operation of a kind on paths that contain the text fails.
    Nth(Op, &'static str, u64, i32),
    /// All such operations fail for some time.
    All(Op, &'static str, i32),
    /// The disk has only this number of bytes left for some time.
    Room(u64),
}

#[derive(Debug, Default)]
struct Observed {
    /// SQLSTATEs of failed statements.
    codes: Vec<SqlState>,
    down: bool,
    committed_after: u64,
}

fn run(seed: u64, fault: Fault) -> Outcome<Observed> {
    let mut fixture = Fixture::new(seed, InjectedFault::Nothing)?;
    let down = Arc::new(AtomicBool::new(false));
    let flag = down.clone();
    fixture.config.shared_buffers = 16;
    fixture.config.on_panic = Arc::new(move |_| flag.store(true, Ordering::SeqCst));
    let engine = fixture.open()?;
    fixture.fill(&engine)?;
    match fault {
        Fault::Nth(op, part, n, errno) => fixture.disk.fail_nth_on(op, part, n, errno),
        Fault::All(op, part, errno) => fixture.disk.fail_all_on(op, part, errno),
        Fault::Room(bytes) => fixture.disk.set_capacity(Some(fixture.disk.used() + bytes)),
    }
    let tables = fixture.ids.open();
    let mut tellers = (0..2).map(|_| fixture.teller(&engine)).collect::<Outcome<Vec<_>>>()?;
    let mut seen = Observed::default();
    for i in 0..STEPS {
        if i == STEPS * 2 / 3 {
            // Space becomes available again, and the server continues.
            fixture.disk.clear_faults();
            fixture.disk.set_capacity(None);
            seen.committed_after = fixture.model.totals().0;
        }
        let teller = &mut tellers[fixture.random.below(2) as usize];
        match fixture.step(&engine, &tables, teller) {
            Ok(durable) if durable && !down.load(Ordering::SeqCst) => fixture.model.acknowledged(),
            Ok(_) => {}
            Err(e) => {
                if e.fields().severity >= Severity::Panic || down.load(Ordering::SeqCst) {
                    seen.down = true;
                    break;
                }
                seen.codes.push(e.code());
                // An error during the removal of files does not end the test.
                let _ = teller.roll_back();
            }
        }
        if down.load(Ordering::SeqCst) {
            seen.down = true;
            break;
        }
    }
    seen.committed_after = fixture.model.totals().0 - seen.committed_after;
    if !seen.down {
        fixture.disk.clear_faults();
        let mut be = session(&engine, fixture.ids.database)?;
        fixture.compare(&mut be, &tables).map_err(|e| e.to_string())?;
    }
    let left = fixture.disk.crash(fixture.random.next());
    // A server that is down and its sessions do no further work, so they are leaked.
    std::mem::forget((tellers, engine));
    fixture.replace_disk(left);
    let engine = fixture.open()?;
    fixture.verify(&engine)?;
    Ok(seen)
}

fn check(seed: u64, fault: Fault, allowed: &[SqlState]) -> Observed {
    let seen = run(seed, fault).unwrap_or_else(|e| panic!("seed {seed}, {fault:?}: {e}"));
    let strange: Vec<_> = seen.codes.iter().filter(|c| !allowed.contains(c)).collect();
    assert!(strange.is_empty(), "seed {seed}, {fault:?}: {strange:?}");
    seen
}

#[test]
fn failing_calls_lose_no_acknowledged_transaction() {
    let (mut failed, mut down) = (0, 0);
    for (op, part) in [
        (Op::Write, "base/"),
        (Op::Write, "pg_wal"),
        (Op::Write, "pg_xact"),
        (Op::Write, "global/pg_control"),
        (Op::Sync, "base/"),
        (Op::Sync, "pg_wal"),
        (Op::Sync, "pg_xact"),
        (Op::SyncDir, ""),
        (Op::Open, ""),
        (Op::Read, "base/"),
        (Op::Rename, ""),
    ] {
        for n in [1, 2, 3, 5, 8, 13, 21, 34] {
            for (errno, code) in [(EIO, SqlState::IO_ERROR), (ENOSPC, SqlState::DISK_FULL)] {
                let seen = check(n, Fault::Nth(op, part, n, errno), &[code]);
                failed += usize::from(!seen.codes.is_empty());
                down += usize::from(seen.down);
                if op == Op::Sync {
                    assert!(seen.codes.is_empty(), "{op:?} {part} {n}: a failed fsync is final");
                }
            }
        }
    }
    assert!(failed > 20 && down > 20, "{failed} failed, {down} went down");
}

/// Tables cannot be extended (53100); the server continues to work once space is available again.
#[test]
fn a_full_disk_of_tables_does_not_stop_the_server() {
    for seed in 0..6 {
        let fault = Fault::All(Op::Write, "base/", ENOSPC);
        let seen = check(seed, fault, &[SqlState::DISK_FULL]);
        assert!(!seen.down, "seed {seed}: the server went down");
        assert!(!seen.codes.is_empty(), "seed {seed}: nothing failed");
        assert!(seen.committed_after > 0, "seed {seed}: nothing was done afterwards");
    }
}

/// The disk becomes full, so that the log cannot be extended either.
#[test]
fn a_disk_that_fills_up_loses_nothing() {
    let mut struck = 0;
    for seed in 0..10 {
        let seen = check(seed, Fault::Room(8192 * seed), &[SqlState::DISK_FULL]);
        struck += usize::from(seen.down || !seen.codes.is_empty());
    }
    assert!(struck > 3, "{struck} of 10");
}
