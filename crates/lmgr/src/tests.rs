use crate::LockMode::*;
use crate::*;
use ids::{Oid, SubXactId, Xid};
use std::collections::HashSet;
use std::time::Duration;
use sync::Arc;
use sync::wait::{Interrupt, Waiter};

const DB: Oid = Oid(5);
const TOP: LockOwner = LockOwner::SubXact(SubXactId::TOP);

fn rel(n: u32) -> LockTag {
    LockTag::relation(DB, Oid(n))
}

fn xact(n: u32) -> LockTag {
    LockTag::transaction(Xid(n))
}

fn sessions(n: u32) -> (Arc<LockManager>, Vec<LockSession>) {
    let manager = LockManager::new(n as usize);
    manager.set_deadlock_timeout(Duration::from_millis(1));
    let all =
        (0..n).map(|i| manager.session(i, 100 + i as i32, DB, Arc::new(Waiter::new()))).collect();
    (manager, all)
}

fn take(s: &mut LockSession, tag: LockTag, mode: LockMode) -> Acquired {
    s.acquire(tag, mode, TOP, WaitPolicy::Wait).unwrap()
}

fn try_take(s: &mut LockSession, tag: LockTag, mode: LockMode) -> bool {
    s.acquire(tag, mode, TOP, WaitPolicy::Try).unwrap() != Acquired::NotAvailable
}

fn waiting(manager: &LockManager, pid: i32) -> bool {
    manager.rows().iter().any(|r| r.pid == pid && !r.granted)
}

fn until(mut done: impl FnMut() -> bool) {
    while !done() {
        sync::yield_now();
    }
}

/// The table in the documentation's chapter "Explicit Locking", row by row.
const MATRIX: [&str; 8] = [
    ".......X", "......XX", "....XXXX", "...XXXXX", "..XX.XXX", "..XXXXXX", ".XXXXXXX", "XXXXXXXX",
];

#[test]
fn conflicts_are_those_of_the_manual() {
    for tag in [rel(7), xact(7), LockTag::relation(Oid(0), Oid(1262))] {
        for (i, row) in MATRIX.iter().enumerate() {
            for (j, cell) in row.bytes().enumerate() {
                let (manager, mut s) = sessions(2);
                assert_eq!(take(&mut s[0], tag, LockMode::ALL[i]), Acquired::New);
                let got = try_take(&mut s[1], tag, LockMode::ALL[j]);
                assert_eq!(got, cell == b'.', "{tag} {i} {j}");
                drop(s);
                assert!(manager.rows().is_empty());
                assert!(manager.partitions.iter().all(|p| p.0.lock().is_empty()));
            }
        }
    }
}

#[test]
fn one_session_never_conflicts_with_itself() {
    let (_, mut s) = sessions(1);
    for mode in LockMode::ALL {
        assert_eq!(take(&mut s[0], rel(1), mode), Acquired::New);
        assert_eq!(take(&mut s[0], rel(1), mode), Acquired::AlreadyHeld);
        s[0].mark_clear(rel(1), mode);
        assert_eq!(take(&mut s[0], rel(1), mode), Acquired::AlreadyClear);
    }
}

#[test]
fn weak_locks_use_the_fast_path_until_a_strong_request() {
    let (manager, mut s) = sessions(2);
    take(&mut s[0], rel(1), RowExclusive);
    assert!(manager.rows()[0].fast_path);
    assert!(!try_take(&mut s[1], rel(1), Share));
    assert!(!manager.rows()[0].fast_path, "the strong request moved it");
    assert!(s[0].release(rel(1), RowExclusive, TOP));
    assert!(try_take(&mut s[1], rel(1), Share));
    assert!(!try_take(&mut s[0], rel(1), RowExclusive));
    assert!(try_take(&mut s[0], rel(1), AccessShare));
    assert!(manager.rows().iter().all(|r| !r.fast_path), "a strong lock forbids the fast path");
    s[1].release_transaction();
    take(&mut s[0], rel(1), RowShare);
    assert_eq!(manager.rows().iter().filter(|r| r.fast_path).count(), 1);
}

#[test]
fn more_relations_than_fast_path_entries() {
    let (manager, mut s) = sessions(2);
    for n in 0..40 {
        take(&mut s[0], rel(n), AccessShare);
    }
    assert_eq!(manager.rows().iter().filter(|r| r.fast_path).count(), 16);
    for n in 0..40 {
        assert!(!try_take(&mut s[1], rel(n), AccessExclusive));
    }
    s[0].release_transaction();
    for n in 0..40 {
        assert!(try_take(&mut s[1], rel(n), AccessExclusive));
    }
}

/// The end of a level takes time for the locks of that level, not for those of all levels.
#[test]
fn deep_levels_end_with_their_own_locks() {
    const LEVELS: u32 = 20_000;
    for committed in [true, false] {
        let (_, mut s) = sessions(2);
        let shared = rel(1);
        for level in 2..LEVELS {
            let owner = LockOwner::SubXact(SubXactId(level));
            let mut take = |tag, mode| s[0].acquire(tag, mode, owner, WaitPolicy::Wait).unwrap();
            take(shared, RowExclusive);
            take(xact(level), Exclusive);
        }
        for level in (2..LEVELS).rev() {
            match committed {
                true => s[0].transfer(SubXactId(level), SubXactId(level - 1)),
                false => s[0].release_subxact(SubXactId(level)),
            }
            assert_eq!(s[0].holds(xact(level), Exclusive), committed);
            assert_eq!(s[0].holds(shared, RowExclusive), committed || level > 2);
        }
        assert_eq!(try_take(&mut s[1], shared, AccessExclusive), !committed);
        s[0].release_transaction();
        assert!(!s[0].holds(shared, RowExclusive) && !s[0].holds(xact(2), Exclusive));
    }
}

#[test]
fn a_lock_is_held_until_its_last_owner_releases_it() {
    let (_, mut s) = sessions(2);
    let (sub2, sub3) = (SubXactId(2), SubXactId(3));
    let lock = |s: &mut LockSession, owner| {
        s.acquire(xact(1), Exclusive, owner, WaitPolicy::Wait).unwrap()
    };
    lock(&mut s[0], LockOwner::SubXact(sub3));
    s[0].transfer(sub3, sub2);
    s[0].release_subxact(sub3);
    assert!(s[0].holds(xact(1), Exclusive));
    lock(&mut s[0], TOP);
    s[0].release_subxact(sub2);
    assert!(s[0].holds(xact(1), Exclusive), "the top level holds it too");
    lock(&mut s[0], LockOwner::Session);
    s[0].release_transaction();
    assert!(s[0].holds(xact(1), Exclusive), "the session holds it too");
    assert!(!s[0].release(xact(1), Exclusive, TOP), "not the owner");
    assert!(s[0].release(xact(1), Exclusive, LockOwner::Session));
    assert!(try_take(&mut s[1], xact(1), Exclusive));
}

#[test]
fn waiters_are_granted_in_order_and_are_not_overtaken() {
    let (manager, mut s) = sessions(4);
    take(&mut s[0], xact(1), Share);
    let mut rest = s.split_off(1);
    let mut third = rest.pop().unwrap();
    let mut second = rest.pop().unwrap();
    let mut first = rest.pop().unwrap();
    let a = std::thread::spawn(move || {
        take(&mut first, xact(1), Exclusive);
        first
    });
    until(|| waiting(&manager, 101));
    assert!(!try_take(&mut third, xact(1), Share), "a waiting writer is not overtaken");
    let b = std::thread::spawn(move || {
        take(&mut second, xact(1), Share);
        second
    });
    until(|| waiting(&manager, 102));
    assert_eq!(manager.blocking_pids(102), [101]);
    assert_eq!(manager.blocking_pids(101), [100]);
    s[0].release_transaction();
    let mut first = a.join().unwrap();
    assert!(waiting(&manager, 102));
    first.release_transaction();
    b.join().unwrap();
}

#[test]
fn cancel_and_timeout_leave_the_queue() {
    let (manager, mut s) = sessions(3);
    take(&mut s[0], rel(1), AccessExclusive);
    let mut second = s.pop().unwrap();
    let mut first = s.pop().unwrap();
    let waiter = first.waiter().clone();
    let a = std::thread::spawn(move || {
        let error = first.acquire(rel(1), AccessShare, TOP, WaitPolicy::Wait).unwrap_err();
        (first, error)
    });
    until(|| waiting(&manager, 101));
    waiter.raise(Interrupt::QueryCancel);
    let (_first, error) = a.join().unwrap();
    assert_eq!(error.code().as_str(), "57014");
    assert_eq!(error.message(), "canceling statement due to user request");
    second.set_lock_timeout(Duration::from_millis(2));
    let error = second.acquire(rel(1), AccessShare, TOP, WaitPolicy::Wait).unwrap_err();
    assert_eq!(error.code().as_str(), "55P03");
    assert_eq!(error.message(), "canceling statement due to lock timeout");
    assert_eq!(manager.rows().len(), 1);
}

/// Each of `n` sessions holds its own lock and requests the next one's: exactly one must fail.
fn wait_cycle(n: u32) {
    let (manager, all) = sessions(n);
    let barrier = Arc::new(std::sync::Barrier::new(n as usize));
    let threads: Vec<_> = all
        .into_iter()
        .enumerate()
        .map(|(i, mut s)| {
            let barrier = barrier.clone();
            std::thread::spawn(move || {
                let i = i as u32;
                take(&mut s, xact(i), Exclusive);
                barrier.wait();
                let got = s.acquire(xact((i + 1) % n), Share, TOP, WaitPolicy::Wait);
                s.release_transaction();
                got.err()
            })
        })
        .collect();
    let errors: Vec<_> = threads.into_iter().filter_map(|t| t.join().unwrap()).collect();
    assert_eq!(errors.len(), 1);
    assert_eq!(manager.deadlocks(), 1);
    let fields = errors[0].fields();
    assert_eq!(fields.code.as_str(), "40P01");
    assert_eq!(fields.hint.as_deref(), Some("See server log for query details."));
    let detail = fields.detail.as_ref().unwrap();
    let lines: Vec<&str> = detail.lines().collect();
    assert_eq!(lines.len(), n as usize);
    let pids: HashSet<String> = (0..n)
        .map(|i| {
            let next = (i + 1) % n;
            format!(
                "Process {} waits for ShareLock on transaction {}; blocked by process {}.",
                100 + i,
                next,
                100 + next
            )
        })
        .collect();
    assert_eq!(lines.iter().map(|l| l.to_string()).collect::<HashSet<_>>(), pids);
}

#[test]
fn one_session_of_a_cycle_fails() {
    for n in 2..6 {
        for _ in 0..5 {
            wait_cycle(n);
        }
    }
}

/// A holds SHARE on x, B waits for EXCLUSIVE on x, C (which holds y) waits after B for SHARE on
/// x, and A requests y: the cycle A → C → B → A has a soft edge, so C may overtake B.
#[test]
fn a_cycle_with_a_soft_edge_is_resolved_by_rearranging() {
    let (manager, mut s) = sessions(3);
    let (x, y) = (xact(1), xact(2));
    let mut c = s.pop().unwrap();
    let mut b = s.pop().unwrap();
    let mut a = s.pop().unwrap();
    manager.set_deadlock_timeout(Duration::from_secs(3600));
    take(&mut a, x, Share);
    take(&mut c, y, Exclusive);
    let tb = std::thread::spawn(move || take(&mut b, x, Exclusive));
    until(|| waiting(&manager, 101));
    let tc = std::thread::spawn(move || {
        take(&mut c, x, Share);
        c.release_transaction();
    });
    until(|| waiting(&manager, 102));
    manager.set_deadlock_timeout(Duration::from_millis(1));
    take(&mut a, y, Exclusive);
    tc.join().unwrap();
    a.release_transaction();
    tb.join().unwrap();
    assert_eq!(manager.deadlocks(), 0);
}

#[test]
fn a_holder_goes_ahead_of_waiters_that_it_blocks() {
    let (manager, mut s) = sessions(2);
    let mut b = s.pop().unwrap();
    let mut a = s.pop().unwrap();
    take(&mut a, rel(1), AccessShare);
    let tb = std::thread::spawn(move || take(&mut b, rel(1), AccessExclusive));
    until(|| waiting(&manager, 101));
    // Only the queue conflicts, and its member waits for `a`: granted without waiting.
    assert_eq!(take(&mut a, rel(1), RowExclusive), Acquired::New);
    a.release_transaction();
    tb.join().unwrap();
}

#[test]
fn two_upgrades_deadlock_at_once() {
    let (manager, mut s) = sessions(2);
    manager.set_deadlock_timeout(Duration::from_secs(3600));
    let mut b = s.pop().unwrap();
    let mut a = s.pop().unwrap();
    take(&mut a, rel(1), Share);
    take(&mut b, rel(1), Share);
    let tb = std::thread::spawn(move || take(&mut b, rel(1), AccessExclusive));
    until(|| waiting(&manager, 101));
    let error = a.acquire(rel(1), AccessExclusive, TOP, WaitPolicy::Wait).unwrap_err();
    assert_eq!(
        error.fields().detail.as_deref().unwrap(),
        "Process 100 waits for AccessExclusiveLock on relation 1 of database 5; \
         blocked by process 101.\n\
         Process 101 waits for AccessExclusiveLock on relation 1 of database 5; \
         blocked by process 100."
    );
    a.release_transaction();
    tb.join().unwrap();
}

#[test]
fn virtual_xids_can_be_waited_for() {
    let (manager, mut s) = sessions(2);
    let mut b = s.pop().unwrap();
    let mut a = s.pop().unwrap();
    let vxid = a.begin_vxid(9);
    assert_eq!(vxid.to_string(), "0/9");
    assert!(!b.wait_for_vxid(vxid, false).unwrap());
    take(&mut a, rel(1), RowExclusive);
    assert_eq!(manager.conflicting_vxids(rel(1), Share, 1), [vxid]);
    assert_eq!(manager.conflicting_vxids(rel(1), Share, 0), []);
    assert_eq!(manager.conflicting_vxids(rel(1), AccessShare, 1), []);
    let tb = std::thread::spawn(move || {
        b.wait_for_vxid(vxid, true).unwrap();
        b
    });
    until(|| waiting(&manager, 101));
    a.end_vxid();
    let mut b = tb.join().unwrap();
    assert!(b.wait_for_vxid(vxid, false).unwrap());
    assert!(b.wait_for_vxid(vxid, true).unwrap());
    a.release_transaction();
    assert!(manager.rows().is_empty());
}

/// Random requests of many threads: mutual exclusion holds, all threads finish, no lock remains.
#[test]
fn mutual_exclusion_under_load() {
    use std::sync::atomic::{AtomicI64, Ordering};
    let (manager, all) = sessions(6);
    // Positive: number of readers; -1: a writer.
    let state: Arc<Vec<AtomicI64>> = Arc::new((0..4).map(|_| AtomicI64::new(0)).collect());
    let threads: Vec<_> = all
        .into_iter()
        .enumerate()
        .map(|(i, mut s)| {
            let state = state.clone();
            std::thread::spawn(move || {
                let mut seed = 77 + i as u64;
                for _ in 0..500 {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let n = (seed >> 33) as usize % 4;
                    let write = seed >> 60 == 0;
                    let mode = if write { AccessExclusive } else { AccessShare };
                    take(&mut s, rel(n as u32), mode);
                    if write {
                        assert_eq!(state[n].swap(-1, Ordering::SeqCst), 0);
                        sync::yield_now();
                        state[n].store(0, Ordering::SeqCst);
                    } else {
                        assert!(state[n].fetch_add(1, Ordering::SeqCst) >= 0);
                        sync::yield_now();
                        state[n].fetch_sub(1, Ordering::SeqCst);
                    }
                    s.release_transaction();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert!(manager.rows().is_empty());
    assert!(manager.partitions.iter().all(|p| p.0.lock().is_empty()));
}

/// A prepared transaction keeps all kinds of locks without its session; waiters continue to wait,
/// for its virtual xid too.
#[test]
fn a_prepared_transaction_keeps_its_locks() {
    let (manager, mut s) = sessions(3);
    let dummy = s.pop().map(|s| s.proc()).unwrap();
    let (mut b, mut a) = (s.pop().unwrap(), s.pop().unwrap());
    let (vxid, advisory) = (a.begin_vxid(9), LockTag::advisory_bigint(DB, 5));
    let held = [
        (rel(1), RowExclusive),
        (rel(2), AccessExclusive),
        (xact(700), Exclusive),
        (advisory, Share),
    ];
    for (tag, mode) in held {
        assert_eq!(take(&mut a, tag, mode), Acquired::New);
    }
    a.acquire(rel(3), RowShare, LockOwner::Session, WaitPolicy::Wait).unwrap();
    let mut wanted = held.to_vec();
    wanted.sort_by_key(|(t, _)| (t.kind, t.field1, t.field2));
    let locks = a.transaction_locks().unwrap();
    assert_eq!(locks, wanted);
    assert_eq!(a.locked_relations(DB), [Oid(1), Oid(2), Oid(3)]);
    let tb = std::thread::spawn(move || {
        b.wait_for_vxid(vxid, true).unwrap();
        b
    });
    until(|| waiting(&manager, 101));
    manager.begin_prepared(dummy, Xid(700), Some(vxid));
    a.transfer_to_prepared(dummy, &locks);
    a.end_vxid();
    // The waiter waits for the transaction now.
    until(|| manager.rows().iter().any(|r| r.tag == xact(700) && !r.granted));
    let rows = manager.rows();
    let kept = rows.iter().filter(|r| r.proc == dummy && r.granted && r.pid == 0);
    assert_eq!(kept.filter(|r| r.vxid == vxid).count(), held.len());
    assert_eq!(manager.conflicting_vxids(rel(1), Share, 0), [vxid]);
    assert_eq!(manager.blocking_pids(101), [0]);
    assert!(!try_take(&mut a, rel(1), Share) && !try_take(&mut a, rel(2), AccessShare));
    assert!(a.holds(rel(3), RowShare), "a session-level lock stays");
    a.release_transaction();
    manager.end_prepared(dummy);
    locks.iter().for_each(|(tag, mode)| manager.release_prepared(dummy, *tag, *mode));
    drop(tb.join().unwrap());
    assert!(try_take(&mut a, rel(2), AccessShare));
    assert!(
        manager.rows().iter().any(|r| r.tag == rel(2) && r.fast_path),
        "no strong lock is left"
    );
    drop(a);
    assert!(manager.rows().is_empty());
    assert!(manager.partitions.iter().all(|p| p.0.lock().is_empty()));
}

#[test]
fn locks_at_both_levels_cannot_be_prepared() {
    let (_, mut s) = sessions(1);
    take(&mut s[0], rel(1), RowExclusive);
    s[0].acquire(rel(2), Share, LockOwner::Session, WaitPolicy::Wait).unwrap();
    assert_eq!(s[0].transaction_locks().unwrap(), [(rel(1), RowExclusive)]);
    s[0].acquire(rel(1), Share, LockOwner::Session, WaitPolicy::Wait).unwrap();
    assert!(s[0].transaction_locks().is_err());
}

#[test]
fn a_restored_prepared_transaction_has_no_session() {
    let (manager, mut s) = sessions(2);
    let dummy = s.pop().map(|s| s.proc()).unwrap();
    let locks = [(rel(1), AccessExclusive), (xact(700), Exclusive)];
    manager.begin_prepared(dummy, Xid(700), None);
    locks.iter().for_each(|(tag, mode)| manager.grant_prepared(dummy, *tag, *mode));
    assert!(!try_take(&mut s[0], rel(1), AccessShare));
    let vxid = manager.vxid(dummy).unwrap();
    assert_eq!(vxid.to_string(), "-1/700");
    assert!(!s[0].wait_for_vxid(vxid, false).unwrap());
    manager.end_prepared(dummy);
    locks.iter().for_each(|(tag, mode)| manager.release_prepared(dummy, *tag, *mode));
    assert!(s[0].wait_for_vxid(vxid, true).unwrap());
    assert!(try_take(&mut s[0], rel(1), AccessShare));
    assert_eq!(manager.rows().iter().filter(|r| r.fast_path).count(), 1);
}
