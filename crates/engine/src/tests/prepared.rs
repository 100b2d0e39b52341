//! Prepared transactions in the storage layer: restart, horizons.

use super::fixture::*;
use crate::vacuum::VacuumOptions;
use crate::*;
use ids::Oid;

fn prepare(be: &mut Backend, gid: &str) {
    let owner = Oid(10);
    let (invalidations, relcache_init_file, refusal) = (Vec::new(), false, None);
    be.prepare(PrepareExtras { gid, owner, invalidations, relcache_init_file, refusal }).unwrap();
}

fn finish(be: &mut Backend, gid: &str, commit: bool) -> pgerror::Result<()> {
    be.begin(Isolation::ReadCommitted);
    let what = FinishPrepared { gid, user: Oid(10), is_superuser: false, commit };
    let done = be.finish_prepared(what, &mut |_| {});
    be.commit(CommitExtras::default()).unwrap();
    done
}

/// After a crash before or after a checkpoint, and after a shutdown.
#[test]
fn prepared_transactions_survive_restarts() {
    for (n, commit) in [(0, true), (1, false), (2, true)] {
        let (disk, env) = disk(30 + n);
        let mut settings = config(&env);
        settings.max_prepared_xacts = 2;
        drop(create(&env));
        let engine = Engine::open(settings.clone()).unwrap();
        let mut be = session(&engine);
        let t = Items::new(1);
        be.begin(Isolation::ReadCommitted);
        t.create(&mut be);
        (0..10).for_each(|i| assert_eq!(t.insert(&mut be, i, "old"), None));
        t.commit(&mut be);
        be.begin(Isolation::ReadCommitted);
        be.begin_subxact().unwrap();
        t.insert(&mut be, 20, "new");
        be.commit_subxact().unwrap();
        t.delete(&mut be, 3);
        prepare(&mut be, "p");
        be.begin(Isolation::ReadCommitted);
        assert_eq!(t.scan(&mut be).len(), 10);
        t.commit(&mut be);
        drop(be);
        match n {
            0 => {}
            1 => drop(engine.checkpoint(CheckpointFlags::FORCE).unwrap()),
            _ => engine.shutdown().unwrap(),
        }
        drop(engine);
        let mut env = env.clone();
        env.disk = std::sync::Arc::new(disk.crash_losing_all());
        settings.env = env.clone();
        let engine = Engine::open(settings.clone()).unwrap();
        // The descriptors refer to buffers of the old engine.
        let t = Items::new(1);
        let mut be = session(&engine);
        let known: Vec<String> =
            engine.storage().two_phase.rows().into_iter().map(|row| row.gid).collect();
        assert_eq!(known, ["p"]);
        assert_eq!(engine.txn().prepared_of(DB), 1);
        be.begin(Isolation::ReadCommitted);
        assert_eq!(t.scan(&mut be).len(), 10);
        t.commit(&mut be);
        finish(&mut be, "p", commit).unwrap();
        assert!(finish(&mut be, "p", commit).is_err());
        be.begin(Isolation::ReadCommitted);
        let ids: Vec<i32> = t.scan(&mut be).into_iter().map(|row| row.0).collect();
        assert_eq!(ids.contains(&20), commit);
        assert_eq!(ids.contains(&3), !commit);
        t.commit(&mut be);
        drop(be);
        engine.shutdown().unwrap();
        assert!(env.disk.list("pg_twophase").unwrap().is_empty());
        assert!(engine.locks().rows().is_empty());
    }
}

#[test]
fn vacuum_warns_of_a_horizon_far_in_the_past() {
    let (_, env) = disk(40);
    drop(create(&env));
    let mut settings = config(&env);
    settings.max_prepared_xacts = 1;
    settings.txn.autovacuum_freeze_max_age = 20;
    let engine = Engine::open(settings).unwrap();
    let mut be = session(&engine);
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    t.commit(&mut be);
    be.begin(Isolation::ReadCommitted);
    t.insert(&mut be, 1, "v");
    prepare(&mut be, "old");
    let mut warnings = Vec::new();
    for _ in 0..2 {
        for _ in 0..30 {
            be.begin(Isolation::ReadCommitted);
            be.current_xid().unwrap();
            t.commit(&mut be);
        }
        be.take_warnings();
        be.begin(Isolation::ReadCommitted);
        let options = VacuumOptions::default();
        vacuum::vacuum(&mut be, &t.table, std::slice::from_ref(&t.index), &options).unwrap();
        t.commit(&mut be);
        warnings.push(be.take_warnings().iter().any(|w| w.message().contains("far in the past")));
        if engine.txn().prepared_of(DB) > 0 {
            finish(&mut be, "old", true).unwrap();
        }
    }
    assert_eq!(warnings, [true, false]);
}
