//! Crash tests of the SQL layer: short scripts of DDL, changes, savepoints, row locks, VACUUM,
//! TRUNCATE and indexes, by several sessions in this process over an in-memory disk. After each
//! crash the server recovers (and may crash again during recovery). Acknowledged transactions must
//! be present, and every other one completely or not at all; catalogs, heaps and indexes must be
//! consistent.
//!
//! A failure prints its seed: `NORSU_CRASH_SQL_SEED=n` runs that seed alone and prints its
//! statements.

mod check;
mod faults;
mod harness;
mod prepared;
mod rewriting;
mod truncation;

use super::{number, run::InjectedFault};
use crate::script::{Script, StepResult};
use harness::{Harness, template};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use vfs::SeededRandom;

const CRASHES: u64 = 6;
const SEEDS: u64 = 60;

#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    crashes: u64,
    statements: u64,
    /// Transactions that were acknowledged as durable.
    acknowledged: u64,
}

/// Runs one seed: work, crash and recovery, repeatedly.
fn run(seed: u64, injected: InjectedFault, loud: bool) -> Result<Counts, String> {
    let random = SeededRandom::new(seed ^ 0x5ca1ab1e);
    let mut counts = Counts::default();
    let mut harness = Harness::new(template(), &random, seed, injected)?;
    let mut script = Script::new(loud);
    script.two_phase = true;
    while counts.crashes < CRASHES {
        harness.open()?;
        let count = 1 + random.below(3) as usize;
        let mut sessions = (0..count).map(|_| harness.connect()).collect::<Result<Vec<_>, _>>()?;
        script.start(&mut sessions)?;
        if random.below(5) != 0 {
            // In most runs the crash occurs early, so that each kind of write is interrupted.
            let range = [10, 40, 200, 800][random.below(4) as usize];
            harness.disk.crash_at_change(1 + random.below(range), random.next());
        }
        let steps = 5 + random.below(60);
        for _ in 0..steps {
            let stepped = if random.below(25) == 0 {
                harness.background_step(&random)?;
                StepResult::Nothing
            } else {
                script.step(&mut sessions, &random)?
            };
            counts.statements += 1;
            if harness.disk.crashed().is_some() {
                break;
            }
            counts.acknowledged += u64::from(script.settle(stepped));
        }
        harness.end(&random, sessions, &mut script)?;
        let crashes = harness.recover(&random)?;
        counts.crashes += crashes;
        if crashes > 1 {
            script.after_crash_in_recovery();
        }
        let mut session = harness.connect()?;
        script.verify(&mut session).map_err(|e| format!("{e}\n{}", script.history()))?;
        drop(session);
        let all = random.below(12) == 0;
        let n = check::structure(harness.engine(), all);
        let n = n.map_err(|e| format!("{e}\n{}", script.history()))?;
        if n < if all { 100 } else { 10 } {
            return Err(format!("only {n} relations were checked"));
        }
        harness.close()?;
    }
    Ok(counts)
}

fn outcome(seed: u64, injected: InjectedFault) -> Result<Counts, String> {
    catch_unwind(AssertUnwindSafe(|| run(seed, injected, false))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

#[test]
fn statements_acknowledged_survive_all_crashes() {
    if let Some(seed) = number("NORSU_CRASH_SQL_SEED") {
        run(seed, InjectedFault::Nothing, true).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        return;
    }
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let usual = if long { SEEDS * 50 } else { SEEDS };
    let seeds = number("NORSU_CRASH_SQL_SEEDS").unwrap_or(usual);
    let next = AtomicU64::new(0);
    let total = Mutex::new((Counts::default(), Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return;
            }
            let outcome = outcome(seed, InjectedFault::Nothing);
            let mut total = total.lock().expect("no panic while it is locked");
            match outcome {
                Ok(n) => {
                    total.0.crashes += n.crashes;
                    total.0.statements += n.statements;
                    total.0.acknowledged += n.acknowledged;
                }
                Err(e) => total.1.push(format!("seed {seed}: {e}")),
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let (total, failures) = total.into_inner().expect("no panic while it is locked");
    println!("{total:?}");
    assert!(failures.is_empty(), "{} of {seeds}:\n{}", failures.len(), failures.join("\n"));
    assert!(total.crashes >= seeds * CRASHES, "{total:?}");
    assert!(total.acknowledged > total.crashes, "{total:?}");
}

/// An injected fault must be detected by one of the first runs.
#[test]
fn missing_syncs_of_statements_are_detected() {
    for part in ["pg_wal", "base/"] {
        let injected = InjectedFault::Unsynced(part);
        let noticed = (0..8).any(|seed| outcome(seed, injected).is_err());
        assert!(noticed, "{injected:?} was not noticed");
    }
}
