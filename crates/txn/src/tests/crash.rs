//! pg_xact after crashes: what was confirmed is there, what was not is whole or absent.

use super::*;
use std::collections::BTreeMap;
use vfs::SeededRandom;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fate {
    Confirmed,
    /// Committed without waiting for the flush.
    Async,
    Aborted,
    Running,
}

#[test]
fn confirmed_commits_survive_and_groups_stay_whole() {
    for seed in 0..150 {
        run(seed);
    }
}

fn run(seed: u64) {
    let (disk, env) = env();
    let m = fresh(&env);
    let random = SeededRandom::new(seed);
    // Near a page border of pg_xact, so that groups span two pages.
    if seed.is_multiple_of(2) {
        let mut t = connect(&m);
        m.set_next_full_xid(FullXid(32_768 - 20));
        m.clog.slru.zero_page(0).unwrap();
        m.subtrans.startup(Xid(32_700), Xid(32_748)).unwrap();
        begin(&mut t);
        t.current_xid().unwrap();
        commit(&mut t);
    }
    let mut groups: Vec<(Vec<Xid>, Fate)> = Vec::new();
    let mut sessions: Vec<_> = (0..3).map(|_| connect(&m)).collect();
    let mut open: BTreeMap<usize, Vec<Xid>> = BTreeMap::new();
    for _ in 0..random.below(120) {
        let i = random.below(3) as usize;
        let t = &mut sessions[i];
        if !t.is_active() {
            begin(t);
            open.insert(i, vec![t.current_xid().unwrap()]);
            continue;
        }
        match random.below(8) {
            0..5 => {
                t.begin_subxact().unwrap();
                let x = t.current_xid().unwrap();
                if random.below(4) == 0 {
                    t.abort_subxact(&XactExtras::default()).unwrap();
                    groups.push((vec![x], Fate::Aborted));
                } else {
                    t.commit_subxact().unwrap();
                    open.get_mut(&i).unwrap().push(x);
                }
            }
            fate => {
                let group = open.remove(&i).unwrap();
                let fate = match fate {
                    5 => Fate::Confirmed,
                    6 => Fate::Async,
                    _ => Fate::Aborted,
                };
                if fate == Fate::Aborted {
                    abort(t);
                } else {
                    let wait = fate == Fate::Confirmed;
                    t.note_record(Lsn(1));
                    t.commit(&XactExtras::default(), wait, 0).unwrap();
                    t.release_locks();
                }
                groups.push((group, fate));
            }
        }
        // Status pages reach the disk now and then; the log must have gone before.
        if random.below(20) == 0 {
            m.checkpoint().unwrap();
        }
    }
    groups.extend(open.into_values().map(|g| (g, Fate::Running)));
    let (after, _) = recover(Arc::new(disk.crash(seed)));
    for (group, fate) in &groups {
        // Ids that never reached the log will be handed out again.
        let next = after.next_full_xid().xid();
        let known = |x: &Xid| x.precedes(next) && after.did_commit(*x).unwrap();
        let committed: Vec<bool> = group.iter().map(known).collect();
        assert!(committed.iter().all(|c| *c == committed[0]), "seed {seed}: {group:?} is torn");
        match fate {
            Fate::Confirmed => assert!(committed[0], "seed {seed}: {group:?} is lost"),
            Fate::Async => {}
            Fate::Aborted | Fate::Running => {
                assert!(!committed[0], "seed {seed}: {group:?} {fate:?}");
            }
        }
        // An id that somebody saw committed may not be handed out again.
        if committed[0] {
            assert!(after.next_full_xid().xid().follows(group[group.len() - 1]));
        }
    }
    // And life goes on.
    let mut t = connect(&after);
    begin(&mut t);
    let x = t.current_xid().unwrap();
    assert!(!after.did_commit(x).unwrap());
    commit(&mut t);
    assert!(after.did_commit(x).unwrap());
    drop(sessions);
}
