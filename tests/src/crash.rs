//! Crash tests of the engine: transactions similar to TPC-B on an in-memory disk that loses
//! unsynced writes by sectors, with a crash in the middle of any write. After each crash the server
//! recovers (and may crash again during recovery). Then all acknowledged transactions must be
//! present, and every other one completely or not at all, in commit order; the sums of the tables
//! must be equal; heaps and indexes must be consistent.
//!
//! A failure prints its seed: `NORSU_CRASH_SEED=n` runs that seed alone; `NORSU_CRASH_SEEDS=n` sets
//! the number of seeds.

pub mod bank;
mod faults;
mod kill;
pub mod model;
pub mod run;
mod sql;
pub mod teller;

use run::{Counts, InjectedFault, run};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of crashes per seed.
const CRASHES: u64 = 12;
const SEEDS: u64 = 120;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// The result of a run; a panic is an error.
fn outcome(seed: u64, injected: InjectedFault) -> Result<Counts, String> {
    catch_unwind(AssertUnwindSafe(|| run(seed, CRASHES, injected))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

#[test]
fn acknowledged_transactions_survive_all_crashes() {
    if let Some(seed) = number("NORSU_CRASH_SEED") {
        run(seed, CRASHES, InjectedFault::Nothing).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        return;
    }
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let usual = if long { SEEDS * 20 } else { SEEDS };
    let seeds = number("NORSU_CRASH_SEEDS").unwrap_or(usual);
    let next = AtomicU64::new(0);
    let total = Mutex::new(Counts::default());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return;
            }
            match outcome(seed, InjectedFault::Nothing) {
                Ok(n) => {
                    let mut total = total.lock().expect("no panic while it is locked");
                    total.crashes += n.crashes;
                    total.committed += n.committed;
                    total.recovered += n.recovered;
                }
                Err(e) => panic!("seed {seed}: {e}"),
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    // The test is useless unless transactions have committed and crashes have lost some of them.
    let total = total.into_inner().expect("no panic while it is locked");
    assert!(total.crashes >= seeds * CRASHES, "{total:?}");
    assert!(total.recovered > 3 * total.crashes, "{total:?}");
    assert!(total.recovered < total.committed, "{total:?}");
}

/// An injected fault must be detected by one of the first runs; otherwise the test is useless.
/// (When this was written, the first or second run detected it. A bug in the visibility check, xmax
/// committed instead of aborted, was detected by the first run.)
fn assert_detected(injected: InjectedFault, rounds_max: u64) {
    let noticed = (0..rounds_max).any(|seed| outcome(seed, injected).is_err());
    assert!(noticed, "{injected:?} was not noticed in {rounds_max} runs");
}

#[test]
fn missing_syncs_of_the_log_are_detected() {
    assert_detected(InjectedFault::Unsynced("pg_wal"), 5);
}

#[test]
fn missing_syncs_of_tables_are_detected() {
    assert_detected(InjectedFault::Unsynced("base/"), 5);
}

#[test]
fn missing_syncs_of_pg_xact_are_detected() {
    assert_detected(InjectedFault::Unsynced("pg_xact"), 20);
}

#[test]
fn missing_page_images_are_detected() {
    assert_detected(InjectedFault::NoPageImages, 5);
}
