//! Catalogs over the engine, in a cluster that `init` created in memory.

use crate::bootstrap::{InitOptions, init};
use crate::rows::*;
use crate::*;
use engine::{Backend, Engine, EngineConfig, Isolation};
use ids::Oid;
use sync::Arc;
use sync::wait::Waiter;
use vfs::Env;

const DATABASE: Oid = Oid(5);
const SPACE: Oid = ids::RelFile::DEFAULT_TABLESPACE;

struct Instance {
    engine: Arc<Engine>,
    catalogs: Catalogs,
}

impl Instance {
    fn new(env: &Env) -> Instance {
        let mut config = EngineConfig::new(env.clone());
        config.shared_buffers = 512;
        Instance { engine: Engine::open(config).unwrap(), catalogs: Catalogs::new() }
    }

    fn session(&self, pid: i32) -> (Backend, CatSession) {
        let waiter = Arc::new(Waiter::new());
        let storage = self.engine.storage();
        let backend = Backend::connect(storage, pid, DATABASE, SPACE, waiter).unwrap();
        (backend, CatSession::new(self.catalogs.database(DATABASE), Oid(10)))
    }
}

fn cluster() -> Env {
    let env = Env::memory(11);
    init(&env, &InitOptions { sync: false, ..InitOptions::default() }).unwrap();
    env
}

#[test]
fn lookups_find_rows_written_by_init() {
    let env = cluster();
    let instance = Instance::new(&env);
    let (mut backend, mut session) = instance.session(1);
    backend.begin(Isolation::ReadCommitted);
    let mut cx = CatCx::new(&mut backend, &mut session);
    assert_eq!(cx.find_type(Oid(23)).unwrap().unwrap().typname, "int4");
    assert_eq!(cx.relation_oid(None, "pg_class").unwrap(), Oid(1259));
    assert_eq!(cx.find_operator(None, "+", Oid(23), Oid(23)).unwrap(), Some(Oid(551)));
    let named = cx.functions_named("substr").unwrap();
    assert_eq!(named.len(), 4);
    let class = cx.relation(Oid(1259)).unwrap();
    assert_eq!(class.attributes.len(), 33);
    assert!(class.table.as_ref().unwrap().is_catalog);
    // The rule of this view is toasted.
    let view = cx.relation_oid(None, "pg_stat_all_tables").unwrap();
    let rules = &cx.relation(view).unwrap().rules;
    assert!(rules[0].ev_action.as_str().starts_with("({QUERY"));
    assert_eq!(cx.scan_all::<PgDatabase>().unwrap().len(), 3);
    session.commit(&mut backend, &instance.catalogs, Vec::new(), false).unwrap();
    // Every row of the fact table is found by its key.
    backend.begin(Isolation::ReadCommitted);
    let mut cx = CatCx::new(&mut backend, &mut session);
    for row in facts::rows::<PgOperator>() {
        let keys = [
            (&row.oprname).into(),
            row.oprleft.into(),
            row.oprright.into(),
            row.oprnamespace.into(),
        ];
        let found = cx.search(cache::OPERNAMENSP, &keys).unwrap().unwrap();
        assert_eq!(found.row, row);
    }
    session.commit(&mut backend, &instance.catalogs, Vec::new(), false).unwrap();
    drop(backend);
    instance.engine.shutdown().unwrap();
}

fn schema(oid: Oid, name: &str) -> PgNamespace {
    PgNamespace { oid, nspname: name.into(), nspowner: Oid(10), nspacl: None }
}

#[test]
fn changes_are_visible_after_commit_and_durable() {
    let env = cluster();
    let instance = Instance::new(&env);
    let (mut mine, mut my_session) = instance.session(1);
    let (mut other, mut other_session) = instance.session(2);
    mine.begin(Isolation::ReadCommitted);
    other.begin(Isolation::ReadCommitted);
    let mut cx = CatCx::new(&mut mine, &mut my_session);
    let oid = cx.new_oid(indexes::PG_NAMESPACE_OID_INDEX).unwrap();
    assert!(oid >= Oid::FIRST_NORMAL);
    cx.insert(&schema(oid, "fresh")).unwrap();
    cx.increment_command_counter().unwrap();
    assert_eq!(cx.find_namespace("fresh").unwrap(), Some(oid));
    let mut theirs = CatCx::new(&mut other, &mut other_session);
    assert_eq!(theirs.find_namespace("fresh").unwrap(), None);
    my_session.commit(&mut mine, &instance.catalogs, Vec::new(), false).unwrap();
    assert_eq!(theirs.find_namespace("fresh").unwrap(), Some(oid));

    // A rename that is rolled back.
    mine.begin(Isolation::ReadCommitted);
    let mut cx = CatCx::new(&mut mine, &mut my_session);
    let row = cx.search(cache::NAMESPACENAME, &["fresh".into()]).unwrap().unwrap();
    cx.update(&row, &schema(oid, "stale")).unwrap();
    cx.increment_command_counter().unwrap();
    assert_eq!(cx.find_namespace("stale").unwrap(), Some(oid));
    my_session.abort(&mut mine).unwrap();
    mine.begin(Isolation::ReadCommitted);
    let mut cx = CatCx::new(&mut mine, &mut my_session);
    assert_eq!(cx.find_namespace("stale").unwrap(), None);
    assert_eq!(cx.find_namespace("fresh").unwrap(), Some(oid));
    // The unique index rejects a second schema with this name.
    let other_oid = cx.new_oid(indexes::PG_NAMESPACE_OID_INDEX).unwrap();
    let error = cx.insert(&schema(other_oid, "fresh")).unwrap_err();
    assert_eq!(
        error.message(),
        "duplicate key value violates unique constraint \"pg_namespace_nspname_index\""
    );
    assert_eq!(error.fields().detail.as_deref(), Some("Key (nspname)=(fresh) already exists."));
    my_session.abort(&mut mine).unwrap();
    drop((mine, other));
    instance.engine.shutdown().unwrap();
    drop(instance);

    let again = Instance::new(&env);
    let (mut backend, mut session) = again.session(1);
    backend.begin(Isolation::ReadCommitted);
    let mut cx = CatCx::new(&mut backend, &mut session);
    assert_eq!(cx.find_namespace("fresh").unwrap(), Some(oid));
    session.abort(&mut backend).unwrap();
    drop(backend);
    again.engine.shutdown().unwrap();
}
