//! Measures the execution of a statement without parsing and planning: the plan is made once, and
//! its execution state is reused.
//!
//! `execute ROWS ROUNDS SQL` runs over pgbench's tables `accounts` and `branches` with so many
//! rows; `$1` is a random account. Each round is a transaction. For instruction counts: `valgrind
//! --tool=callgrind --toggle-collect='execute::measured*' …`

#[path = "../tests/setup/mod.rs"]
mod setup;

use executor::Execution;
use executor::spi::{Query, QuerySnapshot};
use session::State;
use session::query::plan_text;
use std::sync::Arc;
use std::time::Instant;
use txn::Isolation;
use types::{Datum, oids};

/// Runs one execution from start to end.
#[inline(never)]
fn measured(state: &mut State, run: &mut Execution, params: Arc<[Datum]>) -> usize {
    let snapshot = state.backend.snapshot();
    state.backend.push_snapshot(snapshot.clone());
    run.rerun(params, snapshot).expect("rerun");
    let mut rows = 0;
    while let Some(batch) = run.next(state, 1024).expect("rows") {
        rows += batch.len;
        run.recycle(batch);
    }
    state.backend.pop_snapshot();
    rows
}

#[inline(never)]
fn measured_park(state: &mut State, run: &mut Execution) {
    assert!(run.park(state).expect("park"));
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, rows, rounds, sql] = &args[..] else {
        eprintln!("usage: execute ROWS ROUNDS SQL");
        std::process::exit(2);
    };
    let rows: u64 = rows.parse().expect("ROWS is a number");
    let rounds: u32 = rounds.parse().expect("ROUNDS is a number");
    let fill = format!(
        "insert into accounts select i, i % 10, i % 1000, 'x' from generate_series(1, {rows}) i"
    );
    let script = [
        "create table accounts (aid int primary key, bid int, abalance int, filler char(84))",
        "create table branches (bid int primary key, name text)",
        "create table history (tid int, bid int, aid int, delta int, mtime timestamp)",
        &fill,
        "insert into branches select i, 'branch ' || i from generate_series(0, 9) i",
        "vacuum analyze",
    ];
    let mut fixture = setup::fixture(&script, 40_000);
    let state = &mut fixture.state;
    let mut params: Arc<[Datum]> = Arc::from([Datum::int4(1)]);
    state.backend.begin(Isolation::ReadCommitted);
    let plan = plan_text(state, sql, &[oids::INT4]).expect(sql).pop().expect("one statement");
    let query = Query::new(plan, params.clone()).under(QuerySnapshot::New);
    let mut run = query.start(state).expect("start");
    measured_park(state, &mut run);
    state.backend.abort().expect("abort");
    let mut random = 88_172_645_463_325_252u64;
    let (mut total, mut out) = (0, 0);
    for n in 0..rounds + rounds / 10 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let id = Datum::int4((random % rows) as i32 + 1);
        Arc::get_mut(&mut params).expect("the only reference")[0] = id;
        state.backend.begin(Isolation::ReadCommitted);
        let lap = Instant::now();
        out += measured(state, &mut run, params.clone());
        measured_park(state, &mut run);
        if n >= rounds / 10 {
            total += lap.elapsed().as_nanos();
        }
        state.backend.commit(engine::CommitExtras::default()).expect("commit");
    }
    println!("{} ns each, {out} rows", total / u128::from(rounds.max(1)));
}
