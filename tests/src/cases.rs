//! Tests of queries from text to rows, over a new cluster in memory. Each line of the case files is
//! a statement, a tab, and the result of PostgreSQL 15 (C locale, UTC): rows separated by ` ; `,
//! columns by `|`, or `ERROR code: message`.

use catalog::bootstrap::{InitOptions, init};
use catalog::{CatSession, Catalogs};
use engine::{Backend, Engine, EngineConfig, Isolation};
use executor::spi::{Query, QuerySnapshot};
use ids::Oid;
use pgerror::Result;
use session::State;
use std::sync::Arc;
use sync::wait::Waiter;
use types::fn_context::TypeFunctions;
use vfs::Env;

mod spills;

const DATABASE: Oid = Oid(5);

struct Fixture {
    engine: Arc<Engine>,
    state: State,
}

impl Fixture {
    fn new() -> Fixture {
        let env = Env::memory(3);
        init(&env, &InitOptions { sync: false, ..InitOptions::default() }).unwrap();
        let mut config = EngineConfig::new(env);
        config.shared_buffers = 2048;
        let engine = Engine::open(config).unwrap();
        let catalogs = Arc::new(Catalogs::new());
        let waiter = Arc::new(Waiter::new());
        let space = ids::RelFile::DEFAULT_TABLESPACE;
        let backend = Backend::connect(engine.storage(), 1, DATABASE, space, waiter).unwrap();
        let session = CatSession::new(catalogs.database(DATABASE), Oid(10));
        let store = settings::SessionValues::new(Arc::new(settings::ServerValues::new(Arc::new(
            settings::Registry::load(),
        ))));
        let mut state = State::new(backend, session, catalogs, "postgres".into(), store);
        state.backend.begin(Isolation::ReadCommitted);
        Fixture { engine, state }
    }

    /// The result in the format of the case files.
    fn answer(&mut self, sql: &str) -> String {
        self.rows(sql).unwrap_or_else(|e| format!("ERROR {}: {}", e.code(), e.message()))
    }

    fn rows(&mut self, sql: &str) -> Result<String> {
        let state = &mut self.state;
        let mut lines = Vec::new();
        for plan in session::query::plan_text(state, sql, &[])? {
            let targets: Vec<(usize, Oid)> = plan
                .plan_tree
                .info
                .target_list
                .iter()
                .enumerate()
                .filter(|(_, t)| !t.resjunk)
                .map(|(i, t)| (i, t.expr.type_oid()))
                .collect();
            let query = Query::new(plan, Arc::from([])).under(QuerySnapshot::New);
            let mut run = query.start(state)?;
            while let Some(batch) = run.next(state, 7)? {
                for r in 0..batch.len {
                    let mut fields = Vec::new();
                    for &(c, ty) in &targets {
                        let v = batch.get(r, c);
                        fields.push(if v.is_null() {
                            "NULL".to_string()
                        } else {
                            String::from_utf8_lossy(&state.type_output(ty, v)?).into_owned()
                        });
                    }
                    lines.push(fields.join("|"));
                }
            }
        }
        Ok(lines.join(" ; "))
    }
}

/// Runs a case file. Statements with features that are not supported yet (0A000 "… is not
/// supported") are listed, but do not fail the test.
fn check(cases: &str) {
    let mut fixture = Fixture::new();
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    let only = std::env::var("CASE").unwrap_or_default();
    for case in cases.lines() {
        let Some((sql, expected)) = case.split_once('\t') else { continue };
        if !sql.contains(&only) {
            continue;
        }
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fixture.answer(sql)));
        let got = answer.unwrap_or_else(|_| "panicked".into());
        if got.contains("is not supported") && !expected.contains("is not supported") {
            missing.push(format!("{got} <- {sql}"));
        } else if got != expected {
            wrong.push(format!("{sql}\n  expected {expected}\n  got      {got}"));
        }
    }
    println!("missing:\n{}", missing.join("\n"));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    fixture.engine.shutdown().unwrap();
}

#[test]
fn selects_return_the_rows_of_postgresql() {
    check(include_str!("cases/select.tsv"));
}

#[test]
fn compound_queries_return_the_rows_of_postgresql() {
    check(include_str!("cases/queries.tsv"));
}

/// Each statement is the first to access its row, so no command counter increment makes earlier
/// effects visible.
#[test]
fn changes_have_the_results_of_postgresql() {
    check(include_str!("cases/changes.tsv"));
}
