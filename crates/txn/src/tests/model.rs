//! Snapshots taken during random transactions, checked against a model.

use super::*;
use std::collections::{BTreeMap, BTreeSet};
use vfs::SeededRandom;

struct Session {
    t: Transaction,
    /// Live ids by level; `None` where the level has no id.
    levels: Vec<Vec<Xid>>,
}

#[test]
fn snapshots_agree_with_a_model() {
    for seed in 0..40 {
        run(seed);
    }
}

fn run(seed: u64) {
    let (_, env) = env();
    let start = [3, 2040, 32760, 0xFFFF_FFE0][seed as usize % 4];
    let m = fresh_at(&env, FullXid(start));
    m.set_xid_limit(Xid((start as u32).wrapping_sub(100).max(3)), Oid(1));
    let random = SeededRandom::new(seed);
    let mut sessions: Vec<Session> =
        (0..5).map(|_| Session { t: connect(&m), levels: Vec::new() }).collect();
    let mut running: BTreeSet<u32> = BTreeSet::new();
    let mut outcome: BTreeMap<u32, bool> = BTreeMap::new();
    let mut observer = connect(&m);
    begin(&mut observer);
    let mut held: Vec<(Arc<Snapshot>, BTreeSet<u32>, BTreeSet<u32>)> = Vec::new();
    for _ in 0..400 {
        let s = &mut sessions[random.below(5) as usize];
        match random.below(12) {
            _ if !s.t.is_active() => {
                begin(&mut s.t);
                s.levels.push(Vec::new());
            }
            0..4 => {
                let depth = s.t.nesting();
                let next = m.next_full_xid();
                let x = s.t.current_xid().unwrap();
                // Each level without an id got one, parents first.
                let mut id = next;
                for level in 0..depth {
                    if s.levels[level].is_empty() {
                        s.levels[level].push(id.xid());
                        running.insert(id.xid().0);
                        id = id.next();
                    }
                }
                assert_eq!(s.levels[depth - 1][0], x);
            }
            4..7 => {
                s.t.begin_subxact().unwrap();
                s.levels.push(Vec::new());
            }
            7 if s.levels.len() > 1 => {
                s.t.commit_subxact().unwrap();
                let ids = s.levels.pop().unwrap();
                if !ids.is_empty() {
                    s.levels.last_mut().unwrap().extend(ids);
                }
            }
            8 if s.levels.len() > 1 => {
                s.t.abort_subxact(&XactExtras::default()).unwrap();
                for x in s.levels.pop().unwrap() {
                    running.remove(&x.0);
                    outcome.insert(x.0, false);
                }
            }
            9 | 10 => {
                let good = random.below(2) == 0;
                if good {
                    commit(&mut s.t)
                } else {
                    abort(&mut s.t)
                }
                for x in s.levels.drain(..).flatten() {
                    running.remove(&x.0);
                    outcome.insert(x.0, good);
                }
            }
            _ => {
                let known: BTreeSet<u32> = running.iter().chain(outcome.keys()).copied().collect();
                held.push((observer.latest_snapshot(), running.clone(), known));
                if held.len() > 6 {
                    held.remove(random.below(6) as usize);
                }
            }
        }
        for (snapshot, was_running, known) in &held {
            for x in running.iter().chain(outcome.keys()) {
                let expected = was_running.contains(x) || !known.contains(x);
                let got = snapshot.in_progress(Xid(*x), &m).unwrap();
                // An aborted id may count as in progress or not: pg_xact shows it as aborted.
                if outcome.get(x) != Some(&false) {
                    assert_eq!(got, expected, "seed {seed} xid {x}");
                }
            }
        }
        for x in &running {
            assert!(m.is_in_progress(Xid(*x)).unwrap(), "seed {seed} xid {x}");
        }
        for (x, good) in &outcome {
            assert!(!m.is_in_progress(Xid(*x)).unwrap(), "seed {seed} xid {x}");
            assert_eq!(m.did_commit(Xid(*x)).unwrap(), *good, "seed {seed} xid {x}");
        }
        let oldest = held.iter().map(|(s, ..)| s.xmin).reduce(Xid::older);
        if let Some(oldest) = oldest {
            assert!(m.horizons(DB).data_oldest_nonremovable.precedes_or_equals(oldest));
        }
    }
}

/// A transaction and its subtransaction: no snapshot sees only one of them as completed.
#[test]
fn concurrent_snapshots_are_atomic() {
    let (_, env) = env();
    let m = fresh(&env);
    // Pairs of ids (parent, child) that commit together.
    let pairs: Arc<sync::Mutex<Vec<(Xid, Xid)>>> = Arc::default();
    let writers: Vec<_> = (0..3)
        .map(|_| {
            let (m, pairs) = (m.clone(), pairs.clone());
            std::thread::spawn(move || {
                let mut t = connect(&m);
                for _ in 0..300 {
                    begin(&mut t);
                    let a = t.current_xid().unwrap();
                    t.begin_subxact().unwrap();
                    let b = t.current_xid().unwrap();
                    t.commit_subxact().unwrap();
                    pairs.lock().push((a, b));
                    t.commit(&XactExtras::default(), false, 0).unwrap();
                    t.release_locks();
                }
            })
        })
        .collect();
    let mut reader = connect(&m);
    begin(&mut reader);
    while writers.iter().any(|w| !w.is_finished()) {
        let seen: Vec<_> = pairs.lock().iter().rev().take(20).copied().collect();
        let snapshot = reader.latest_snapshot();
        for (a, b) in seen {
            let (x, y) =
                (snapshot.in_progress(a, &m).unwrap(), snapshot.in_progress(b, &m).unwrap());
            assert_eq!(x, y, "{a} {b} {snapshot:?}");
            if !x {
                assert!(m.did_commit(a).unwrap() && m.did_commit(b).unwrap());
            }
        }
        drop(snapshot);
        reader.reset_xmin();
    }
    writers.into_iter().for_each(|w| w.join().unwrap());
    assert_eq!(m.completions(), 1 + 1 + 900, "each end counted once");
}
