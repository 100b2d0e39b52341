//! Tests of queries from text to rows, over a new cluster in memory.

use crate::query::run_sql;
use crate::state::State;
use catalog::bootstrap::{InitOptions, init};
use catalog::{CatSession, Catalogs};
use engine::{Backend, Engine, EngineConfig};
use ids::{Oid, RelFile};
use std::sync::Arc;
use sync::wait::Waiter;
use txn::Isolation;
use types::Datum;
use types::fn_context::TypeFunctions;
use vfs::Env;

mod members;
mod postgresql_directory;
mod shared;
mod support;
pub(crate) mod triggers;

/// A cluster with one session of the superuser.
struct Fixture {
    _engine: Arc<Engine>,
    state: State,
}

fn fixture() -> Fixture {
    let env = Env::memory(7);
    init(&env, &InitOptions { sync: false, ..InitOptions::default() }).unwrap();
    let mut config = EngineConfig::new(env);
    config.shared_buffers = 2048;
    let engine = Engine::open(config).unwrap();
    let catalogs = Arc::new(Catalogs::new());
    let database = Oid(5);
    let backend = Backend::connect(
        engine.storage(),
        1,
        database,
        RelFile::DEFAULT_TABLESPACE,
        Arc::new(Waiter::new()),
    )
    .unwrap();
    let session = CatSession::new(catalogs.database(database), Oid(10));
    let state = State::new(
        backend,
        session,
        catalogs,
        "postgres".into(),
        settings::SessionValues::new(Arc::new(settings::ServerValues::new(Arc::new(
            settings::Registry::load(),
        )))),
    );
    Fixture { _engine: engine, state }
}

/// The rows as text, columns separated by `|`, NULL as `null`.
fn query(state: &mut State, sql: &str) -> Result<Vec<String>, pgerror::PgError> {
    state.backend.begin(Isolation::ReadCommitted);
    let result = query_in(state, sql);
    state.backend.abort().unwrap();
    result
}

fn query_in(state: &mut State, sql: &str) -> Result<Vec<String>, pgerror::PgError> {
    let snapshot = state.backend.snapshot();
    state.backend.push_snapshot(snapshot);
    let plans = crate::query::plan_text(state, sql, &[])?;
    let types: Vec<Oid> = plans.last().map_or(Vec::new(), |p| {
        let list = &p.plan_tree.info.target_list;
        list.iter().filter(|t| !t.resjunk).map(|t| t.expr.type_oid()).collect()
    });
    let rows = run_sql(state, sql, &[], Arc::from([]))?;
    state.backend.pop_snapshot();
    let mut out = Vec::new();
    for row in rows {
        let mut cells = Vec::new();
        for (v, ty) in row.iter().zip(&types) {
            cells.push(match v {
                Datum::Null => "null".to_string(),
                v => String::from_utf8_lossy(&state.type_output(*ty, v.as_ref())?).into_owned(),
            });
        }
        out.push(cells.join("|"));
    }
    Ok(out)
}

/// Statements with the results of PostgreSQL 15.
const ANSWERS: &[(&str, &[&str])] = &[
    ("select 1", &["1"]),
    ("select 1 + 1, 'a' || 'b', null::int", &["2|ab|null"]),
    ("select 2147483647::int8 + 1", &["2147483648"]),
    ("select x from generate_series(1, 3) x", &["1", "2", "3"]),
    ("select x from generate_series(1, 5) x where x > 3 order by x desc", &["5", "4"]),
    ("select count(*), sum(x), max(x) from generate_series(1, 100) x", &["100|5050|100"]),
    (
        "select x % 3 as k, count(*) from generate_series(1, 10) x group by k order by k",
        &["0|3", "1|4", "2|3"],
    ),
    ("select * from (values (1, 'a'), (2, 'b')) v(i, t) order by i desc", &["2|b", "1|a"]),
    ("select distinct x / 2 from generate_series(1, 5) x order by 1", &["0", "1", "2"]),
    ("select 1 union select 2 union select 1 order by 1", &["1", "2"]),
    ("select 1 union all select 1", &["1", "1"]),
    ("select a from (values (1),(2),(3)) t(a) except select 2 order by a", &["1", "3"]),
    ("select a from (values (1),(2),(3)) t(a) intersect select 2", &["2"]),
    ("with t as (select 1 as a) select a, a + 1 from t", &["1|2"]),
    (
        "with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) \
         select sum(n) from t",
        &["15"],
    ),
    ("select case when 1 > 2 then 'x' else 'y' end", &["y"]),
    ("select coalesce(null, 3), nullif(1, 1), greatest(1, 3, 2)", &["3|null|3"]),
    (
        "select a.x, b.y from generate_series(1, 3) a(x) join generate_series(2, 4) b(y) \
         on a.x = b.y order by 1",
        &["2|2", "3|3"],
    ),
    (
        "select a.x, b.y from generate_series(1, 3) a(x) left join generate_series(2, 4) b(y) \
         on a.x = b.y order by 1",
        &["1|null", "2|2", "3|3"],
    ),
    (
        "select a.x, b.y from generate_series(1, 2) a(x) full join generate_series(2, 3) b(y) \
         on a.x = b.y order by 1, 2",
        &["1|null", "2|2", "null|3"],
    ),
    ("select (select max(x) from generate_series(1, 4) x)", &["4"]),
    (
        "select x from generate_series(1, 4) x where exists \
         (select 1 from generate_series(2, 3) y where y = x) order by x",
        &["2", "3"],
    ),
    ("select x from generate_series(1, 4) x where x in (select 3) ", &["3"]),
    ("select x from generate_series(1, 3) x where x not in (select 2) order by x", &["1", "3"]),
    (
        "select x, (select count(*) from generate_series(1, 10) y where y < x) \
         from generate_series(1, 3) x order by x",
        &["1|0", "2|1", "3|2"],
    ),
    ("select x from generate_series(1, 10) x order by x limit 2 offset 3", &["4", "5"]),
    ("select generate_series(1, 2), 'k'", &["1|k", "2|k"]),
    ("select string_agg(x::text, ',' order by x desc) from generate_series(1, 3) x", &["3,2,1"]),
    ("select count(distinct x % 2) from generate_series(1, 5) x", &["2"]),
    ("select relname from pg_class where oid = 1259", &["pg_class"]),
    ("select typname from pg_type where oid in (23, 25) order by 1", &["int4", "text"]),
    (
        "select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace \
         where c.relname = 'pg_proc'",
        &["pg_catalog|pg_proc"],
    ),
    ("select count(*) > 2000 from pg_proc", &["t"]),
    ("select rolname from pg_roles where rolname = 'postgres'", &["postgres"]),
    ("select current_database(), current_user", &["postgres|postgres"]),
    (
        "select x, y from generate_series(1, 2) x, lateral (select x * 10 as y) s order by 1",
        &["1|10", "2|20"],
    ),
    ("select 'pg_class'::regclass::oid, 1259::regclass", &["1259|pg_class"]),
    ("select pg_typeof(1.5), pg_typeof('a'::text)", &["numeric|text"]),
    (
        "select has_table_privilege('pg_class', 'select'), \
         has_table_privilege('public', 'pg_authid', 'select'), \
         has_schema_privilege('public', 'pg_catalog', 'usage'), has_any_column_privilege(1259, \
         'update')",
        &["t|f|t|t"],
    ),
    ("select pg_has_role('pg_monitor', 'pg_read_all_stats', 'usage')", &["t"]),
    ("select pg_try_advisory_lock(1), pg_advisory_unlock(1), pg_advisory_unlock(1)", &["t|t|f"]),
    ("select obj_description(0, 'pg_class'), col_description(1259, 1)", &["null|null"]),
    ("select lpad('a', 3), log(100.0)", &["  a|2.0000000000000000"]),
    ("select pg_stat_get_numscans(1), pg_stat_get_last_vacuum_time(1)", &["0|null"]),
    (
        "select avg(x), min(x) from generate_series(1, 4) x having count(*) > 3",
        &["2.5000000000000000|1"],
    ),
];

#[test]
fn queries_return_the_rows_of_postgresql() {
    let mut f = fixture();
    let mut wrong = Vec::new();
    for (sql, want) in ANSWERS {
        match query(&mut f.state, sql) {
            Ok(rows) if rows == *want => {}
            other => wrong.push(format!("{sql}\n    want {want:?}\n    have {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ANSWERS.len(), wrong.join("\n"));
}

/// Lists the internal functions that views and functions of the catalogs use and that are not
/// implemented. Their number may only decrease.
#[test]
fn functions_of_catalog_views_are_implemented() {
    const MISSING_MAX: usize = 8;
    let mut f = fixture();
    f.state.backend.begin(Isolation::ReadCommitted);
    let mut texts: Vec<String> = Vec::new();
    for rule in f.state.cat().scan_all::<catalog::rows::PgRewrite>().unwrap() {
        texts.push(rule.ev_action.as_str().to_owned());
    }
    let procs = f.state.cat().scan_all::<catalog::rows::PgProc>().unwrap();
    texts.extend(procs.iter().filter_map(|p| p.prosqlbody.as_ref()).map(|b| b.as_str().to_owned()));
    let mut missing = std::collections::BTreeSet::new();
    for text in &texts {
        for part in text.split(":funcid ").chain(text.split(":opfuncid ")).skip(1) {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            let oid = Oid(digits.parse().unwrap_or(0));
            if let Some(p) = procs.iter().find(|p| p.oid == oid && p.prolang == Oid(12)) {
                let name = p.prosrc.as_str();
                if types::lookup(name).is_none()
                    && crate::serverfn::SystemFunction::named(name).is_none()
                {
                    missing.insert(name.to_owned());
                }
            }
        }
    }
    f.state.backend.abort().unwrap();
    println!("{} functions are missing: {missing:?}", missing.len());
    assert!(missing.len() <= MISSING_MAX, "{} are missing: {missing:?}", missing.len());
}
