//! PostgreSQL replays Norsu's log. Each record has images of its pages for WAL consistency
//! checking, so replay compares each page.

use super::postgresql_directory::{TempDir, pg, run};
use crate::*;
use heap::{Columns, DeleteOptions, HeapCx, HeapRel, InsertOptions, WaitForXact};
use ids::{Fork, Oid, Persistence, RelFile, Tid, Xid};
use page::{Align, Attr, Deformer, TupleDesc, Value};
use pgerror::Result;
use sync::Arc;
use sync::wait::Waiter;
use vfs::{Env, SeededRandom};
use wal::{RecordBuilder, RmgrId};

/// The waits of a single session, which has no other transaction to wait for.
struct Alone;

impl WaitForXact for Alone {
    fn wait_xid(&mut self, _xid: Xid) -> Result<()> {
        unreachable!("no other transaction runs")
    }
    fn try_wait_xid(&mut self, _xid: Xid) -> Result<bool> {
        Ok(true)
    }
    fn lock_row(&mut self, _: &HeapRel, _: Tid, _: lmgr::LockMode) -> Result<()> {
        Ok(())
    }
    fn try_lock_row(&mut self, _: &HeapRel, _: Tid, _: lmgr::LockMode) -> Result<bool> {
        Ok(true)
    }
    fn unlock_row(&mut self, _: &HeapRel, _: Tid, _: lmgr::LockMode) -> Result<()> {
        Ok(())
    }
}

/// The table with this file number.
fn heap_rel(engine: &Engine, database: Oid, number: Oid) -> HeapRel {
    let file = RelFile::new(RelFile::DEFAULT_TABLESPACE, database, number);
    let open = |fork| engine.pool.open(file, fork, Persistence::Permanent);
    HeapRel {
        oid: number,
        database,
        file,
        main: open(Fork::Main),
        fsm: open(Fork::Fsm),
        vm: open(Fork::Vm),
        name: "t".into(),
        persistence: Persistence::Permanent,
        fillfactor: 100,
        horizon: txn::HorizonKind::Data,
        is_toast: false,
        is_catalog: false,
        targets: Default::default(),
    }
}

#[test]
fn postgresql_replays_the_records_to_the_same_pages() {
    let dir = TempDir::new("ours");
    dir.initdb(&[]);
    dir.start("");
    dir.sql("create table t(a int, b text) with (autovacuum_enabled = off)");
    let database =
        Oid(dir.sql("select oid from pg_database where datname = 'postgres'").parse().unwrap());
    let number = Oid(dir.sql("select pg_relation_filenode('t')").parse().unwrap());
    dir.stop();

    let mut config = EngineConfig::new(Env::os(dir.data()));
    config.shared_buffers = 500;
    config.wal.consistency_checking = u32::MAX;
    config.wal.full_page_writes = false;
    let engine = Engine::open(config).unwrap();
    let rel = heap_rel(&engine, database, number);
    let desc = TupleDesc::new(vec![
        Attr::new(b"a", Oid(23), 4, true, Align::Int),
        Attr::new(b"b", Oid(25), -1, false, Align::Int),
    ]);
    let deformer = Deformer::new(&desc);
    let waiter = Arc::new(Waiter::new());
    let tablespace = RelFile::DEFAULT_TABLESPACE;
    let mut be = Backend::connect(&engine.storage, 1 << 23, database, tablespace, waiter).unwrap();
    let mut scratch = RecordBuilder::new(RmgrId::Heap, 0);
    let mut strategy = bufmgr::Strategy::normal();
    let random = SeededRandom::new(4);
    // TID and number of each live row.
    let mut rows: Vec<(Tid, i64)> = Vec::new();
    for round in 0..60 {
        let before = rows.clone();
        be.begin(Isolation::ReadCommitted);
        for _ in 0..random.below(60) {
            let number = random.below(1000) as i64;
            let text = "x".repeat(random.below(300) as usize);
            let values = [Value::Word(number as u64), Value::Bytes(text.as_bytes())];
            let mut tuple = page::form::form(&desc, &values).unwrap();
            let command = be.txn.current_command(true);
            let mut cx = HeapCx {
                pool: &engine.pool,
                wal: &engine.wal,
                txn: &mut be.txn,
                wait: &mut Alone,
                scratch: &mut scratch,
                strategy: &mut strategy,
                update_delta: round % 2 == 0,
                current_offset: 0,
            };
            let victim = random.below(rows.len().max(1) as u64) as usize;
            match random.below(10) {
                0..5 => {
                    let options = InsertOptions::default();
                    let tid =
                        heap::insert(&mut cx, &rel, &mut tuple, command, options, None).unwrap();
                    rows.push((tid, number));
                }
                5..9 if !rows.is_empty() => {
                    let columns = Columns { deformer: &deformer, hot_blocking: &[], key: &[] };
                    let tid = rows[victim].0;
                    let options = heap::UpdateOptions { columns, crosscheck: None, wait: true };
                    let done = heap::update(&mut cx, &rel, tid, &mut tuple, command, &options);
                    let updated = done.unwrap().unwrap_or_else(|_| panic!("row is ours"));
                    rows[victim] = (updated.tid, number);
                }
                _ if !rows.is_empty() => {
                    let tid = rows.swap_remove(victim).0;
                    let options = DeleteOptions::default();
                    let done = heap::delete(&mut cx, &rel, tid, command, options);
                    assert!(done.unwrap().is_ok());
                }
                _ => {}
            }
            be.command_counter_increment().unwrap();
        }
        if random.below(4) == 0 {
            be.abort().unwrap();
            rows = before;
        } else {
            be.commit(CommitExtras::default()).unwrap();
        }
    }
    engine.wal.flush(engine.wal.inserted()).unwrap();
    let redo = engine.control.get().check_point_copy.redo.to_string();
    drop((be, engine));
    let dump = std::process::Command::new("/usr/lib/postgresql/15/bin/pg_waldump")
        .args(["-p", &format!("{}/pg_wal", dir.data()), "--bkp-details", "-s", &redo])
        .output()
        .unwrap();
    let checked = String::from_utf8_lossy(&dump.stdout).matches("for WAL verification").count();
    assert!(checked > 500, "{checked} images");
    dir.start("");
    let sum: i64 = rows.iter().map(|row| row.1).sum();
    let expected = format!("{}|{sum}", rows.len());
    assert_eq!(dir.sql("select count(*), coalesce(sum(a), 0) from t"), expected);
    pg("pg_amcheck", &["-h", &dir.0, "--all", "--install-missing"]);
    dir.stop();
    let log = run("cat", &[&format!("{}/log", dir.0)]);
    assert!(log.contains("redo done at"), "{log}");
}
