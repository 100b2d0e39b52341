//! Checks that a prepared point query makes no heap allocation between start and end of its
//! execution, in the executor and all layers below.

mod setup;

use executor::Execution;
use executor::spi::Query;
use session::State;
use session::query::plan_text;
use std::sync::Arc;
use testkit::Counting;
use txn::Isolation;
use types::{Datum, oids};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SETUP: &[&str] = &[
    "create table accounts (aid int primary key, bid int, abalance int, filler char(84))",
    "create table branches (bid int primary key, name text)",
    "insert into accounts select i, i % 10, 0, 'x' from generate_series(1, 2000) i",
    "insert into branches select i, 'branch ' || i from generate_series(0, 9) i",
    "vacuum analyze",
];

/// Runs the statement repeatedly with different values of `$1`; returns the number of allocations
/// in the last `rounds` executions.
fn allocations(state: &mut State, sql: &str, rounds: i32) -> u64 {
    state.backend.begin(Isolation::ReadCommitted);
    let plan = plan_text(state, sql, &[oids::INT4]).expect(sql).pop().expect("one statement");
    let mut kept: Option<Execution> = None;
    let mut params: Arc<[Datum]> = Arc::from([Datum::int4(0)]);
    let mut before = 0;
    const WARM: i32 = 20;
    for n in 0..WARM + rounds {
        if n == WARM {
            before = Counting::count();
        }
        Arc::get_mut(&mut params).expect("the only reference")[0] = Datum::int4(n % 50 + 1);
        let snapshot = state.backend.snapshot();
        state.backend.push_snapshot(snapshot.clone());
        let mut run = match kept.take() {
            Some(mut run) => {
                run.rerun(params.clone(), snapshot).expect("rerun");
                run
            }
            None => Query::new(plan.clone(), params.clone()).start(state).expect("start"),
        };
        let mut rows = 0;
        while let Some(batch) = run.next(state, 1024).expect("rows") {
            rows += batch.len;
            run.recycle(batch);
        }
        assert!(rows == 1 || run.processed() == 1, "{sql}: {rows} rows");
        assert!(run.park(state).expect("park"), "{sql}: not kept");
        kept = Some(run);
        state.backend.pop_snapshot();
    }
    let count = Counting::count() - before;
    state.backend.abort().expect("abort");
    count
}

#[test]
fn a_point_query_allocates_nothing() {
    let mut fixture = setup::fixture(SETUP, 2048);
    // Forces a plain index scan, regardless of the statistics.
    fixture.state.values.costs.enable_bitmapscan = false;
    fixture.state.values.costs.enable_seqscan = false;
    for sql in [
        "select abalance from accounts where aid = $1",
        "select * from accounts where aid = $1",
        "select bid + 1, abalance from accounts where aid = $1 and bid >= 0",
        "select filler from accounts where aid = $1",
    ] {
        let count = allocations(&mut fixture.state, sql, 100);
        assert_eq!(count, 0, "{sql}");
    }
    // Checks that allocations are counted.
    let sql = "select count(*) from accounts where aid = $1";
    assert!(allocations(&mut fixture.state, sql, 100) > 0);
}
