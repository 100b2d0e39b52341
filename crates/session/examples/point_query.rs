//! Measures a point query from text to rows by step: parse, analyse, plan, run. The server is in
//! memory and has one session.

use catalog::bootstrap::{InitOptions, init};
use catalog::{CatSession, Catalogs};
use engine::{Backend, Engine, EngineConfig};
use executor::spi::Query;
use ids::{Oid, RelFile};
use session::State;
use std::sync::Arc;
use std::time::Instant;
use sync::wait::Waiter;
use txn::Isolation;
use vfs::Env;

fn main() {
    let env = Env::memory(7);
    init(&env, &InitOptions { sync: false, ..InitOptions::default() }).expect("init");
    let mut config = EngineConfig::new(env);
    config.shared_buffers = 4096;
    let engine = Engine::open(config).expect("open");
    let catalogs = Arc::new(Catalogs::new());
    let backend = Backend::connect(
        engine.storage(),
        1,
        Oid(5),
        RelFile::DEFAULT_TABLESPACE,
        Arc::new(Waiter::new()),
    )
    .expect("connect");
    let session = CatSession::new(catalogs.database(Oid(5)), Oid(10));
    let store = settings::SessionValues::new(Arc::new(settings::ServerValues::new(Arc::new(
        settings::Registry::load(),
    ))));
    let mut state = State::new(backend, session, catalogs, "postgres".into(), store);
    let sql = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "select relname from pg_class where oid = 1259".to_string());
    let rounds: u32 = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let mut times = [0u128; 5];
    for round in 0..rounds + 100 {
        if round == 100 {
            times = [0; 5];
        }
        let mut lap = Instant::now();
        let mut note = |i: usize| {
            times[i] += lap.elapsed().as_nanos();
            lap = Instant::now();
        };
        state.backend.begin(Isolation::ReadCommitted);
        let snapshot = state.backend.snapshot();
        state.backend.push_snapshot(snapshot);
        note(4);
        let stmts = parse::parse(&sql).expect("parse");
        note(0);
        let mut lookup = analyze::SessionLookup::new(&mut state);
        let query = analyze::analyze(&mut lookup, &stmts[0], &sql, &[]).expect("analyse");
        let query = analyze::rewrite(&mut lookup, query).expect("rewrite");
        note(1);
        let plan = Arc::new(planner::plan_query(&query, &mut state).expect("plan"));
        note(2);
        let mut run = Query::new(plan, Arc::from([])).start(&mut state).expect("start");
        while let Some(b) = run.next(&mut state, 1024).expect("run") {
            std::hint::black_box(b.len);
        }
        drop(run);
        note(3);
        state.backend.pop_snapshot();
        state.backend.abort().expect("abort");
        note(4);
    }
    for (name, t) in ["parse", "analyse", "plan", "run", "transaction"].iter().zip(times) {
        println!("{name:12} {:8.2} µs", t as f64 / 1000.0 / f64::from(rounds));
    }
}
