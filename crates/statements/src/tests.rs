//! Tests of entries, counters, texts and the file.

use crate::{Collector, Key, Registry, Selection, Settings, Track, Usage, file, normalize};
use ids::Oid;
use plan::query::Identity;
use std::sync::Arc;
use vfs::{Disk, MemDisk};

fn identity(id: i64) -> Arc<Identity> {
    let text = format!("statement {id}");
    Arc::new(Identity { id, text: text.clone().into(), original: text.into() })
}

fn collector(registry: &Arc<Registry>, session: usize) -> Collector {
    let mut collector = Collector::new(registry.clone(), Oid(5), session);
    collector.settings = Settings { track: Track::Top, utility: true, planning: false };
    collector
}

fn run(collector: &mut Collector, id: i64, rows: u64) {
    let mut tally = collector.at(Oid(10), 0).begin(&identity(id));
    tally.add_rows(rows);
    tally.record();
}

#[test]
fn constants_become_parameters() {
    let normal =
        |sql: &str, locations: &[i32]| normalize::normalized(sql, (0, 0), locations.to_vec(), 1);
    assert_eq!(normal(" SELECT 'a''b', -1, $1  ", &[16, 8]), "SELECT $2, $3, $1");
    assert_eq!(normal("SELECT 1+2", &[7, 7, 9]), "SELECT $2+$3");
    assert_eq!(normal("SELECT $$a$$, true", &[7, 14]), "SELECT $2, $3");
    let part = normalize::normalized("SELECT 1; SELECT 2 ;", (9, 10), vec![17], 0);
    assert_eq!(part, "SELECT $1");
}

#[test]
fn sessions_count_in_one_entry() {
    let registry = Registry::new(100, 0);
    for session in 0..20 {
        let mut collector = collector(&registry, session);
        run(&mut collector, 7, 2);
        run(&mut collector, 7, 3);
    }
    let entries = registry.entries();
    assert_eq!(entries.len(), 1);
    let counters = entries[0].counters();
    assert_eq!((counters.executions().calls, counters.rows), (40, 100));
    assert!(counters.executions().min <= counters.executions().mean);
}

#[test]
fn levels_decide_what_is_counted() {
    let registry = Registry::new(100, 0);
    let mut collector = collector(&registry, 0);
    assert!(collector.at(Oid(10), 1).entry(&identity(1)).is_none());
    let mark = collector.at(Oid(10), 0).begin_utility(Usage::default()).unwrap();
    assert!(collector.at(Oid(10), 0).entry(&identity(2)).is_none(), "inside the utility");
    collector.end_utility(&mark, Usage::default(), Some(4), || Identity {
        id: 3,
        text: "COPY".into(),
        original: "COPY".into(),
    });
    collector.settings.track = Track::All;
    assert!(collector.at(Oid(10), 2).entry(&identity(1)).is_some());
    let mut keys: Vec<Key> = registry.entries().iter().map(|e| e.key).collect();
    keys.sort_by_key(|key| key.id);
    let key = |id, toplevel| Key { user: Oid(10), database: Oid(5), id, toplevel };
    assert_eq!(keys, [key(1, false), key(3, true)]);
}

#[test]
fn least_used_entries_are_removed() {
    let registry = Registry::new(100, 0);
    let mut collector = collector(&registry, 0);
    for id in 0..100 {
        for _ in 0..=id / 10 {
            run(&mut collector, id, 1);
        }
    }
    run(&mut collector, 1000, 1);
    let left: Vec<i64> = registry.entries().iter().map(|e| e.key.id).collect();
    assert_eq!(left.len(), 91);
    assert!((10..100).all(|id| left.contains(&id)));
    assert_eq!(registry.info().0, 1);
}

#[test]
fn a_reset_entry_begins_again() {
    let registry = Registry::new(100, 0);
    let mut collector = collector(&registry, 0);
    let mut running = collector.at(Oid(10), 0).begin(&identity(1));
    run(&mut collector, 2, 1);
    registry.reset(Selection { id: 2, ..Selection::default() }, 5);
    assert_eq!(registry.info().1, 0, "an entry is left");
    registry.reset(Selection::default(), 9);
    assert_eq!((registry.entries().len(), registry.info().1), (0, 9));
    // A statement that was running is counted after the reset.
    running.record();
    run(&mut collector, 2, 1);
    let calls: Vec<u64> =
        registry.entries().iter().map(|e| e.counters().executions().calls).collect();
    assert_eq!(calls, [1, 1]);
}

#[test]
fn entries_are_kept_in_a_file() {
    let disk = MemDisk::new();
    disk.create_dir("pg_stat").unwrap();
    let registry = Registry::new(100, 77);
    run(&mut collector(&registry, 3), 9, 4);
    file::save(&registry, &disk).unwrap();
    let again = Registry::new(100, 0);
    assert!(file::load(&again, &disk));
    let (old, new) = (registry.entries(), again.entries());
    assert_eq!(new.len(), 1);
    assert_eq!((new[0].key, &new[0].identity), (old[0].key, &old[0].identity));
    assert_eq!(new[0].counters(), old[0].counters());
    assert_eq!(again.info(), (0, 77));
    // It is removed when it is read.
    assert!(file::load(&Registry::new(100, 0), &disk));
    assert!(disk.list("pg_stat").unwrap().is_empty());
}
