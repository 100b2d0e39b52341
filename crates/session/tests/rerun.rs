//! Checks that a parked execution returns the same rows as a new one: after a complete and after an
//! incomplete run, with other parameters and over changed rows.

mod setup;

use executor::Execution;
use executor::spi::{Query, QuerySnapshot};
use plan::PlannedStmt;
use session::State;
use session::query::plan_text;
use std::sync::Arc;
use txn::Isolation;
use types::{Datum, oids};

const SETUP: &[&str] = &[
    "create table t (id int primary key, k int, v text, n numeric)",
    "create table u (id int primary key, t int, w text)",
    "create index on u (t)",
    "create index on t (k)",
    "insert into t select i, i % 10, 'v' || i, i * 1.5 from generate_series(1, 400) i",
    "insert into u select i, i * 2, 'w' || i from generate_series(1, 300) i",
    "create table c (id int primary key, x int not null check (x < 1000), y int default 7)",
    "create index on c (x)",
    "insert into c select i, i from generate_series(1, 50) i",
    "analyze",
];

/// Queries with the parameter `$1`, an int.
const QUERIES: &[&str] = &[
    "select v, n from t where id = $1",
    "select id from t where id = $1 and k = 3",
    "select k + $1, upper(v) from t where id = $1",
    "select id from t where id = any (array[$1, $1 + 1, 7])",
    "select id, ctid from t where ctid = '(0,1)'",
    "select id from t where k = $1 or id = 3",
    "select count(*), sum(k), max(v), min(n) from t where id > $1",
    "select k, count(*), sum(n) from t where id > $1 group by k order by k",
    "select distinct k from t where id < $1 + 20 order by k desc limit 3 offset 1",
    "select t.id, u.w from t join u on u.t = t.id where t.k = $1 order by 1",
    "select t.id, u.w from t left join u on u.t = t.id where t.id < $1 + 10 order by 1, 2",
    "select t.id, u.w from t full join u on u.t = t.id where coalesce(t.id, u.id) < $1 + 10 \
     order by 1, 2",
    "select id from t where exists (select 1 from u where u.t = t.id and u.id > $1) order by id",
    "select id, (select max(w) from u where u.t > t.id) from t where id < $1 + 5 order by id",
    "select id from t where id in (select t from u where id > $1) order by id",
    "select id from t where id not in (select t from u where id > $1) order by id limit 5",
    "select (select sum(k) from t where id < $1), (select count(*) from u)",
    "select array(select w from u where id < $1 order by id desc)",
    "with a as (select * from t where id < $1) select count(*) from a x, a y where x.k = y.k",
    "with recursive r(n) as (select $1 union all select n + 1 from r where n < 30) \
     select sum(n) from r",
    "with recursive r(n) as (select $1 union select (n + 1) % 9 from r) select n from r order by n",
    "select id, k, rank() over (partition by k order by id desc), \
     sum(id) over (order by id rows between 1 preceding and 1 following) \
     from t where id < $1 + 15 order by id",
    "select k from t where id < $1 intersect select t % 5 from u order by 1",
    "select k from t where id < $1 except all select 3 order by 1",
    "select k from t where id = $1 union all select 5",
    "select generate_series(1, $1), 'x'",
    "select * from generate_series(1, $1) with ordinality a(i, o) order by i desc",
    "select * from (values ($1, 'a'), (2, 'b')) v(i, t) order by i",
    "select percentile_disc(0.5) within group (order by k) from t where id < $1 + 3",
    "select k, grouping(k), count(*) from t where id < $1 + 20 group by rollup (k) order by 1, 2",
    "select string_agg(v, ',' order by id) from t where k = $1 % 10 and id < 50",
    "select id from t where id < $1 + 3 order by id for update",
    "select id from t where k = $1 % 10 order by n desc, id fetch first 3 rows with ties",
    "select x.id from t x, lateral (select max(u.id) m from u where u.t <= x.id) s \
     where x.id < $1 + 5 and s.m is not null order by 1",
    "select case when $1 > 3 then (select count(*) from t) else (select count(*) from u) end",
];

/// Statements that write; all are rolled back.
const WRITES: &[&str] = &[
    "insert into c values ($1 + 100, 5) returning *",
    "insert into c select i, $1 from generate_series(201, 203) i",
    "insert into c values ($1, 5) on conflict (id) do update set x = c.x + excluded.x returning *",
    "insert into c values ($1, 5) on conflict do nothing",
    "update c set x = x + $1 where id = $1 returning id, x, y",
    "update c set y = y + 1 where id = $1",
    "update c set id = id + 1000 where id < $1 returning id",
    "update c set x = t.k from t where t.id = c.id and c.id < $1 returning c.*",
    "delete from c where id = $1 returning *",
    "delete from c using u where u.t = c.id and u.id < $1",
    "with d as (delete from c where id < $1 returning id) select count(*), sum(id) from d",
    "with d as (update c set x = x + 1 where id < $1) select count(*) from c",
];

type Rows = Vec<Vec<Datum>>;

fn params(n: i32) -> Arc<[Datum]> {
    Arc::from([Datum::int4(n)])
}

fn plan_of(state: &mut State, sql: &str) -> Arc<PlannedStmt> {
    plan_text(state, sql, &[oids::INT4]).expect(sql).pop().expect("one statement")
}

/// The rows of the execution, at most `rows_max` of them.
fn rows_of(run: &mut Execution, state: &mut State, rows_max: usize) -> Rows {
    state.backend.push_snapshot(run.snapshot().clone());
    let mut rows = Vec::new();
    while rows.len() < rows_max
        && let Some(batch) = run.next(state, (rows_max - rows.len()).min(1024)).expect("rows")
    {
        rows.extend((0..batch.len).map(|r| batch.row_owned(r)));
        run.recycle(batch);
    }
    state.backend.pop_snapshot();
    rows
}

fn fresh(state: &mut State, plan: &Arc<PlannedStmt>, n: i32) -> Execution {
    let query = Query::new(plan.clone(), params(n)).under(QuerySnapshot::New);
    query.start(state).expect("start")
}

fn run_sql(state: &mut State, sql: &str) {
    let plan = plan_text(state, sql, &[]).expect(sql).pop().expect("one statement");
    let mut run = fresh(state, &plan, 0);
    rows_of(&mut run, state, usize::MAX);
    state.backend.command_counter_increment().expect("next command");
}

#[test]
fn a_parked_query_returns_the_rows_of_a_new_one() {
    let mut fixture = setup::fixture(SETUP, 2048);
    let state = &mut fixture.state;
    for sql in QUERIES {
        state.backend.begin(Isolation::ReadCommitted);
        let plan = plan_of(state, sql);
        let mut kept = fresh(state, &plan, 4);
        rows_of(&mut kept, state, 1);
        for n in [4, 3, 12, 4] {
            assert!(kept.park(state).expect("park"), "{sql}: not kept");
            let snapshot = state.backend.snapshot();
            kept.rerun(params(n), snapshot).expect("rerun");
            let again = rows_of(&mut kept, state, usize::MAX);
            let mut other = fresh(state, &plan, n);
            let expected = rows_of(&mut other, state, usize::MAX);
            assert_eq!(again, expected, "{sql} with {n}");
            // Changes the rows for the next run.
            run_sql(state, "update t set k = k + 1, v = v || 'x' where id % 3 = 0");
            run_sql(state, "delete from u where id % 7 = 1");
        }
        state.backend.abort().expect("abort");
    }
}

#[test]
fn a_parked_modification_has_the_effects_of_a_new_one() {
    let mut fixture = setup::fixture(SETUP, 2048);
    let state = &mut fixture.state;
    let contents = "select id, x, y from c order by id";
    for sql in WRITES {
        let mut kept: Option<Execution> = None;
        for n in [4, 9, 4] {
            let mut seen = Vec::new();
            for again in [false, true] {
                state.backend.begin(Isolation::ReadCommitted);
                let plan = plan_of(state, sql);
                let snapshot = state.backend.snapshot();
                let mut run = match kept.take().filter(|_| again) {
                    Some(mut k) => {
                        k.rerun(params(n), snapshot).expect("rerun");
                        k
                    }
                    None => fresh(state, &plan, n),
                };
                let rows = rows_of(&mut run, state, usize::MAX);
                let processed = run.processed();
                state.backend.command_counter_increment().expect("next command");
                assert!(run.park(state).expect("park"), "{sql}: not kept");
                kept = Some(run);
                let plan = plan_of(state, contents);
                let after = rows_of(&mut fresh(state, &plan, 0), state, usize::MAX);
                state.backend.abort().expect("abort");
                seen.push((rows, processed, after));
            }
            assert_eq!(seen[0], seen[1], "{sql} with {n}");
        }
    }
}

#[test]
fn a_parked_execution_holds_no_snapshot() {
    let mut fixture = setup::fixture(SETUP, 2048);
    let state = &mut fixture.state;
    for sql in ["select v from t where id = $1", "select v from t where k = $1 % 10"] {
        state.backend.begin(Isolation::ReadCommitted);
        let plan = plan_of(state, sql);
        let mut run = fresh(state, &plan, 4);
        rows_of(&mut run, state, 1);
        let snapshot = run.snapshot().clone();
        assert!(run.park(state).expect("park"));
        let own = Arc::strong_count(&snapshot);
        drop(run);
        assert_eq!(Arc::strong_count(&snapshot), own, "{sql}: the snapshot was held");
        state.backend.abort().expect("abort");
    }
}

#[test]
fn rerun_requires_a_parked_execution() {
    let mut fixture = setup::fixture(SETUP, 2048);
    let state = &mut fixture.state;
    state.backend.begin(Isolation::ReadCommitted);
    let plan = plan_of(state, "select 1");
    let mut run = fresh(state, &plan, 1);
    let snapshot = state.backend.snapshot();
    assert!(run.rerun(params(1), snapshot).is_err());
    state.backend.abort().expect("abort");
}
