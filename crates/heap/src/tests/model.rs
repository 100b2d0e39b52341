//! Random operations of several sessions, checked against a model of the committed rows.

use super::*;
use std::collections::BTreeMap;

type Table = BTreeMap<i32, (i32, String)>;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as u32) % n
    }
}

/// A session, and the state of the model for it.
struct ModelSession {
    session: Session,
    running: Option<Running>,
}

struct Running {
    snapshot: Arc<Snapshot>,
    /// The committed table when the snapshot was taken.
    base: Table,
    /// Own changes: `None` is a deletion.
    own: BTreeMap<i32, Option<(i32, String)>>,
}

impl Running {
    fn sees(&self) -> Table {
        let mut table = self.base.clone();
        for (id, change) in &self.own {
            match change {
                Some(row) => table.insert(*id, row.clone()),
                None => table.remove(id),
            };
        }
        table
    }
}

/// The session's scan finds the rows of the model.
fn check_scan(w: &Fixture, p: &mut ModelSession, step: &str) {
    let running = p.running.as_ref().unwrap();
    let snapshot = current(&mut p.session, &running.snapshot);
    let seen = p.session.scan_with(w, &snapshot);
    let seen: Table = seen.into_iter().map(|(_, r)| (r.0, (r.1, r.2))).collect();
    assert_eq!(seen, running.sees(), "{step}");
}

fn commit(p: &mut ModelSession, committed: &mut Table) {
    let running = p.running.take().unwrap();
    p.session.commit();
    for (id, change) in running.own {
        match change {
            Some(row) => committed.insert(id, row),
            None => committed.remove(&id),
        };
    }
}

/// Ends all transactions and checks the table and its replay.
fn finish(w: &Fixture, mut sessions: Vec<ModelSession>, committed: &Table, seed: u64) {
    for p in &mut sessions {
        if p.running.take().is_some() {
            p.session.abort();
        }
    }
    let s = &mut sessions[0].session;
    s.begin();
    let seen: Table = s.scan(w).into_iter().map(|(_, r)| (r.0, (r.1, r.2))).collect();
    assert_eq!(&seen, committed, "seed {seed}");
    s.verify(w);
    s.commit();
    w.check_redo();
}

fn run(seed: u64, steps: u32) {
    let w = Fixture::new();
    let mut random = Random(seed);
    let mut sessions: Vec<ModelSession> =
        (0..4).map(|_| ModelSession { session: w.connect(), running: None }).collect();
    let mut committed = Table::new();
    let mut next_id = 0;
    for step in 0..steps {
        let chosen = random.below(4) as usize;
        // True if another running transaction has changed this row.
        let busy = |sessions: &[ModelSession], id: i32| {
            sessions.iter().enumerate().any(|(i, p)| {
                i != chosen && p.running.as_ref().is_some_and(|r| r.own.contains_key(&id))
            })
        };
        if sessions[chosen].running.is_none() {
            let p = &mut sessions[chosen];
            p.session.begin();
            let snapshot = p.session.snapshot();
            p.running = Some(Running { snapshot, base: committed.clone(), own: BTreeMap::new() });
            continue;
        }
        match random.below(20) {
            0..=5 => {
                let id = next_id;
                next_id += 1;
                let text = "t".repeat(random.below(400) as usize);
                let p = &mut sessions[chosen];
                p.session.insert(&w, id, 0, &text);
                p.running.as_mut().unwrap().own.insert(id, Some((0, text)));
            }
            kind @ 6..=14 => {
                // Change a row that is visible to the snapshot.
                let own_view = sessions[chosen].running.as_ref().unwrap().sees();
                if own_view.is_empty() {
                    continue;
                }
                let nth = random.below(own_view.len() as u32) as usize;
                let (&id, old) = own_view.iter().nth(nth).unwrap();
                let others = busy(&sessions, id);
                let p = &mut sessions[chosen];
                let running = p.running.as_mut().unwrap();
                let snapshot = current(&mut p.session, &running.snapshot);
                let seen = p.session.scan_with(&w, &snapshot);
                let tid = seen.iter().find(|r| r.1.0 == id).unwrap().0;
                let changed = !running.own.contains_key(&id) && committed.get(&id) != Some(old);
                // A row that was updated and then deleted is reported as updated.
                let expected = if changed {
                    Err(TmResult::Updated)
                } else if others {
                    Err(TmResult::BeingModified)
                } else {
                    Ok(())
                };
                let gone = !committed.contains_key(&id);
                let agree = |result: Outcome<()>| {
                    result == expected || (gone && changed && result == Err(TmResult::Deleted))
                };
                if kind < 12 {
                    let text = if random.below(3) == 0 {
                        "u".repeat(random.below(400) as usize)
                    } else {
                        old.1.clone()
                    };
                    let n = old.0 + 1 + step as i32;
                    let result = p.session.update(&w, tid, (id, n, &text), false);
                    let result = result.map(|_| ());
                    assert!(agree(result), "seed {seed} step {step} row {id}: {result:?}");
                    if expected.is_ok() {
                        running.own.insert(id, Some((n, text)));
                    }
                } else {
                    let result = p.session.delete(&w, tid, false);
                    assert!(agree(result), "seed {seed} step {step} row {id}: {result:?}");
                    if expected.is_ok() {
                        running.own.insert(id, None);
                    }
                }
            }
            15 => check_scan(&w, &mut sessions[chosen], &format!("seed {seed} step {step}")),
            16 => {
                let freeze = random.below(2) == 0;
                let indexes = random.below(2) == 0;
                let p = &mut sessions[chosen];
                let cutoffs = p.session.cutoffs(&w, freeze);
                p.session.vacuum(&w, &cutoffs, indexes);
            }
            17 | 18 => {
                let p = &mut sessions[chosen];
                commit(p, &mut committed);
            }
            _ => {
                let p = &mut sessions[chosen];
                p.running = None;
                p.session.abort();
            }
        }
    }
    finish(&w, sessions, &committed, seed);
}

/// The transaction's snapshot, with the current command id.
fn current(session: &mut Session, snapshot: &Arc<Snapshot>) -> Snapshot {
    let mut now = Snapshot::clone(snapshot);
    now.curcid = session.txn.command();
    now
}

#[test]
fn random_operations_agree_with_a_model() {
    for seed in 1..=12 {
        run(seed, 400);
    }
}
