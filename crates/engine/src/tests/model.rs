//! The whole engine with random transactions and crashes: after each crash the tables have the
//! acknowledged contents, and the indexes are consistent with them.

use super::fixture::*;
use crate::*;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use sync::Arc;
use vfs::{Disk, SeededRandom};

type Model = BTreeMap<i32, String>;

struct Fixture {
    random: SeededRandom,
    tables: Vec<Items>,
    /// Acknowledged contents.
    models: Vec<Model>,
    /// Contents after an asynchronous commit, which the crash may have lost.
    unconfirmed: Option<Vec<Model>>,
}

#[test]
fn acknowledged_transactions_survive_crashes() {
    for seed in 0..30 {
        run(seed);
    }
}

fn run(seed: u64) {
    let (mut disk, mut env) = disk(seed);
    let mut engine = create(&env);
    let mut fixture = Fixture {
        random: SeededRandom::new(seed),
        tables: vec![Items::new(1), Items::new(2)],
        models: vec![Model::new(), Model::new()],
        unconfirmed: None,
    };
    {
        let mut be = session(&engine);
        be.begin(Isolation::ReadCommitted);
        fixture.tables.iter().for_each(|t| t.create(&mut be));
        be.commit(CommitExtras::default()).unwrap();
    }
    for round in 0..4 {
        work(&mut fixture, &engine);
        let crashed = disk.crash(seed * 100 + round);
        drop(engine);
        disk = Arc::new(crashed);
        env.disk = disk.clone() as Arc<dyn Disk>;
        let redo_workers = [0, 1, 3][(seed % 3) as usize];
        engine = Engine::open(EngineConfig { redo_workers, ..config(&env) }).unwrap();
        // Descriptors contain handles of an instance, so new ones are needed.
        fixture.tables = vec![Items::new(1), Items::new(2)];
        verify(&mut fixture, &engine, seed, round);
    }
}

fn work(fixture: &mut Fixture, engine: &Arc<Engine>) {
    let mut be = session(engine);
    be.configure(BackendSettings { synchronous_commit: true, ..BackendSettings::default() });
    for _ in 0..fixture.random.below(25) {
        let mut next = fixture.models.clone();
        be.begin(Isolation::ReadCommitted);
        let mut marks: Vec<Vec<Model>> = Vec::new();
        for _ in 0..fixture.random.below(12) {
            step(fixture, &mut be, &mut next, &mut marks);
            be.command_counter_increment().unwrap();
        }
        match fixture.random.below(6) {
            0 => be.abort().unwrap(),
            _ => {
                be.commit(CommitExtras::default()).unwrap();
                fixture.models = next;
            }
        }
        match fixture.random.below(12) {
            0 => {
                engine.checkpoint(CheckpointFlags::IMMEDIATE).unwrap();
            }
            1 => {
                engine.bgwriter_step().unwrap();
            }
            _ => {}
        }
    }
    // The last transaction stays open, or is committed asynchronously.
    let mut next = fixture.models.clone();
    be.begin(Isolation::ReadCommitted);
    for _ in 0..5 {
        step(fixture, &mut be, &mut next, &mut Vec::new());
        be.command_counter_increment().unwrap();
    }
    if fixture.random.below(2) == 0 {
        be.configure(BackendSettings { synchronous_commit: false, ..BackendSettings::default() });
        be.commit(CommitExtras::default()).unwrap();
        fixture.unconfirmed = Some(next);
    } else {
        // The session ends by the crash, without an abort.
        std::mem::forget(be);
    }
}

fn step(fixture: &Fixture, be: &mut Backend, next: &mut Vec<Model>, marks: &mut Vec<Vec<Model>>) {
    let random = &fixture.random;
    let n = random.below(2) as usize;
    let t = &fixture.tables[n];
    let id = random.below(60) as i32;
    let len = match random.below(12) {
        0 => 5000 + random.below(9000) as usize,
        1 => 1500,
        _ => random.below(60) as usize,
    };
    let v: String = (0..len).map(|_| (b'a' + random.below(26) as u8) as char).collect();
    match random.below(10) {
        0..4 => {
            if let Entry::Vacant(entry) = next[n].entry(id) {
                assert_eq!(t.insert(be, id, &v), None);
                entry.insert(v);
            }
        }
        4..7 => {
            let done = t.update(be, id, &v);
            assert_eq!(done.is_some(), next[n].contains_key(&id));
            if done.is_some() {
                next[n].insert(id, v);
            }
        }
        7 => assert_eq!(t.delete(be, id), next[n].remove(&id).is_some()),
        8 => {
            be.begin_subxact().unwrap();
            marks.push(next.clone());
        }
        _ => {
            if let Some(before) = marks.pop() {
                if random.below(2) == 0 {
                    be.abort_subxact().unwrap();
                    *next = before;
                } else {
                    be.commit_subxact().unwrap();
                }
            }
        }
    }
}

fn verify(fixture: &mut Fixture, engine: &Arc<Engine>, seed: u64, round: u64) {
    let mut be = session(engine);
    be.begin(Isolation::ReadCommitted);
    let found: Vec<Model> =
        fixture.tables.iter().map(|t| t.scan(&mut be).into_iter().collect()).collect();
    if found != fixture.models {
        let unconfirmed = fixture.unconfirmed.as_ref();
        assert!(
            unconfirmed == Some(&found),
            "seed {seed} round {round}: acknowledged rows are lost"
        );
    }
    fixture.unconfirmed = None;
    for (t, model) in fixture.tables.iter().zip(&found) {
        let by_index: Vec<_> = t.index_scan(&mut be);
        let rows: Vec<_> = model.clone().into_iter().collect();
        assert_eq!(by_index, rows, "seed {seed} round {round}");
    }
    fixture.models = found;
    be.commit(CommitExtras::default()).unwrap();
}
