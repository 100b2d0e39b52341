//! pg_xact after crashes: confirmed commits survive, and a transaction with its subtransactions
//! is committed as a whole or not at all.

use super::*;
use std::collections::BTreeMap;
use vfs::SeededRandom;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Outcome {
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
    // Near a page boundary of pg_xact, so that groups span two pages.
    if seed.is_multiple_of(2) {
        let mut t = connect(&m);
        m.set_next_full_xid(FullXid(32_768 - 20));
        m.clog.slru.zero_page(0).unwrap();
        m.subtrans.startup(Xid(32_700), Xid(32_748)).unwrap();
        begin(&mut t);
        t.current_xid().unwrap();
        commit(&mut t);
    }
    let mut groups: Vec<(Vec<Xid>, Outcome)> = Vec::new();
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
                    groups.push((vec![x], Outcome::Aborted));
                } else {
                    t.commit_subxact().unwrap();
                    open.get_mut(&i).unwrap().push(x);
                }
            }
            outcome => {
                let group = open.remove(&i).unwrap();
                let outcome = match outcome {
                    5 => Outcome::Confirmed,
                    6 => Outcome::Async,
                    _ => Outcome::Aborted,
                };
                if outcome == Outcome::Aborted {
                    abort(t);
                } else {
                    let wait = outcome == Outcome::Confirmed;
                    t.note_record(Lsn(1));
                    t.commit(&XactExtras::default(), wait, 0).unwrap();
                    t.release_locks();
                }
                groups.push((group, outcome));
            }
        }
        // Occasionally write status pages to the disk, which must flush the log before.
        if random.below(20) == 0 {
            m.checkpoint().unwrap();
        }
    }
    groups.extend(open.into_values().map(|g| (g, Outcome::Running)));
    let (after, _) = recover(Arc::new(disk.crash(seed)));
    for (group, outcome) in &groups {
        // Ids that were not logged are assigned again.
        let next = after.next_full_xid().xid();
        let known = |x: &Xid| x.precedes(next) && after.did_commit(*x).unwrap();
        let committed: Vec<bool> = group.iter().map(known).collect();
        assert!(committed.iter().all(|c| *c == committed[0]), "seed {seed}: {group:?} is torn");
        match outcome {
            Outcome::Confirmed => assert!(committed[0], "seed {seed}: {group:?} is lost"),
            Outcome::Async => {}
            Outcome::Aborted | Outcome::Running => {
                assert!(!committed[0], "seed {seed}: {group:?} {outcome:?}");
            }
        }
        // An id that may have been seen as committed must not be assigned again.
        if committed[0] {
            assert!(after.next_full_xid().xid().follows(group[group.len() - 1]));
        }
    }
    // New transactions work.
    let mut t = connect(&after);
    begin(&mut t);
    let x = t.current_xid().unwrap();
    assert!(!after.did_commit(x).unwrap());
    commit(&mut t);
    assert!(after.did_commit(x).unwrap());
    drop(sessions);
}
