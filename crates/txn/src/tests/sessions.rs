//! Several sessions: snapshots, savepoints, commit and abort.

use super::*;
use ids::{CommandId, SubXactId};
use lmgr::{LockMode, LockTag};
use std::time::Duration;
use sync::wait::Deadline;

#[test]
fn commit_and_abort_become_visible() {
    let (_, env) = env();
    let m = fresh(&env);
    let (mut a, mut b, mut reader) = (connect(&m), connect(&m), connect(&m));
    begin(&mut a);
    begin(&mut b);
    begin(&mut reader);
    let (xa, xb) = (a.current_xid().unwrap(), b.current_xid().unwrap());
    assert_eq!((xa, xb), (Xid(3), Xid(4)));
    assert!(a.is_current(xa) && !a.is_current(xb));
    let before = reader.latest_snapshot();
    for x in [xa, xb] {
        assert!(m.is_in_progress(x).unwrap());
        assert!(before.in_progress(x, &m).unwrap());
        assert!(!m.did_commit(x).unwrap());
    }
    commit(&mut a);
    abort(&mut b);
    let after = reader.latest_snapshot();
    assert!(before.in_progress(xa, &m).unwrap(), "the old snapshot stays as it was");
    assert!(!after.in_progress(xa, &m).unwrap());
    assert!(m.did_commit(xa).unwrap() && !m.did_abort(xa).unwrap());
    assert!(m.did_abort(xb).unwrap() && !m.did_commit(xb).unwrap());
    assert!(!m.is_in_progress(xa).unwrap() && !m.is_in_progress(xb).unwrap());
}

#[test]
fn an_unchanged_snapshot_is_reused_without_allocation() {
    let (_, env) = env();
    let m = fresh(&env);
    let mut a = connect(&m);
    begin(&mut a);
    let first = a.latest_snapshot();
    let address = Arc::as_ptr(&first);
    drop(first);
    a.reset_xmin();
    assert!(!m.xmin_of_proc(a.proc()).is_valid());
    let second = a.latest_snapshot();
    assert_eq!(Arc::as_ptr(&second), address);
    assert_eq!(m.xmin_of_proc(a.proc()), second.xmin);
}

#[test]
fn subtransactions_share_the_outcome_of_their_parents() {
    let (_, env) = env();
    let m = fresh(&env);
    let (mut a, mut other) = (connect(&m), connect(&m));
    begin(&mut a);
    begin(&mut other);
    assert_eq!(a.begin_subxact().unwrap(), SubXactId(2));
    a.begin_subxact().unwrap();
    let inner = a.current_xid().unwrap();
    assert_eq!(inner, Xid(5), "the parents got their ids first");
    assert_eq!(a.top_xid_if_any(), Xid(3));
    assert_eq!(m.parent(inner).unwrap(), Xid(4));
    assert_eq!(m.topmost_parent(inner, Xid(3)).unwrap(), Xid(3));
    let snapshot = other.latest_snapshot();
    assert!(snapshot.in_progress(inner, &m).unwrap());
    assert_eq!(a.commit_subxact().unwrap(), (SubXactId(3), SubXactId(2)));
    assert!(a.is_current(inner));
    a.begin_subxact().unwrap();
    let undone = a.current_xid().unwrap();
    a.abort_subxact(&XactExtras::default()).unwrap();
    assert!(!a.is_current(undone));
    assert!(m.did_abort(undone).unwrap() && !m.is_in_progress(undone).unwrap());
    assert!(m.is_in_progress(inner).unwrap(), "its parent still runs");
    commit(&mut a);
    for x in [3, 4, 5] {
        assert!(m.did_commit(Xid(x)).unwrap());
    }
    assert!(!m.did_commit(undone).unwrap());
}

#[test]
fn overflowing_subtransactions_are_found_through_their_parents() {
    let (_, env) = env();
    let m = fresh(&env);
    let (mut a, mut other) = (connect(&m), connect(&m));
    begin(&mut a);
    begin(&mut other);
    let mut subs = Vec::new();
    for _ in 0..150 {
        a.begin_subxact().unwrap();
        subs.push(a.current_xid().unwrap());
        a.commit_subxact().unwrap();
    }
    // A later id must have completed, or else all of them are at or after the snapshot's xmax.
    let mut late = connect(&m);
    begin(&mut late);
    late.current_xid().unwrap();
    commit(&mut late);
    let snapshot = other.latest_snapshot();
    assert!(snapshot.overflowed);
    for x in &subs {
        assert!(snapshot.in_progress(*x, &m).unwrap());
        assert!(m.is_in_progress(*x).unwrap());
        assert!(a.is_current(*x));
    }
    commit(&mut a);
    let snapshot = other.latest_snapshot();
    assert!(subs.iter().all(|x| !snapshot.in_progress(*x, &m).unwrap()));
    assert!(subs.iter().all(|x| m.did_commit(*x).unwrap()));
}

#[test]
fn horizons_follow_the_oldest_snapshot() {
    let (_, env) = env();
    let m = fresh(&env);
    let (mut a, mut b, mut elsewhere) = (connect(&m), connect(&m), connect(&m));
    elsewhere.set_database(Oid(9), Oid(1663));
    begin(&mut elsewhere);
    let held = elsewhere.latest_snapshot();
    begin(&mut b);
    begin(&mut a);
    a.current_xid().unwrap();
    commit(&mut a);
    let h = m.horizons(DB);
    assert_eq!(h.data_oldest_nonremovable, Xid(4), "another database's snapshot does not count");
    assert_eq!(h.shared_oldest_nonremovable, Xid(3));
    assert_eq!(h.oldest_considered_running, Xid(3));
    let mut vis = b.global_vis(HorizonKind::Data);
    assert!(vis.is_removable(&m, Xid(3)));
    let mut vis = b.global_vis(HorizonKind::Shared);
    assert!(!vis.is_removable(&m, Xid(3)));
    assert_eq!(held.xmin, Xid(3));
    drop(held);
    elsewhere.reset_xmin();
    assert_eq!(m.horizons(DB).shared_oldest_nonremovable, Xid(4));
}

#[test]
fn vacuum_holds_back_no_data() {
    let (_, env) = env();
    let m = fresh(&env);
    let (mut v, mut a) = (connect(&m), connect(&m));
    begin(&mut v);
    v.set_in_vacuum(false);
    let snapshot = v.latest_snapshot();
    begin(&mut a);
    a.current_xid().unwrap();
    commit(&mut a);
    let h = m.horizons(DB);
    assert_eq!(h.data_oldest_nonremovable, Xid(4));
    assert_eq!(h.oldest_considered_running, snapshot.xmin);
    commit(&mut v);
}

#[test]
fn repeatable_read_keeps_its_snapshot() {
    let (_, env) = env();
    let m = fresh(&env);
    let (mut a, mut b) = (connect(&m), connect(&m));
    a.begin(Isolation::RepeatableRead, 0);
    let first = a.snapshot();
    begin(&mut b);
    let x = b.current_xid().unwrap();
    commit(&mut b);
    a.current_command(true);
    assert!(a.command_counter_increment().unwrap());
    let second = a.snapshot();
    assert!(second.in_progress(x, &m).unwrap());
    assert_eq!((first.curcid, second.curcid), (CommandId(0), CommandId(1)));
    assert!(!a.latest_snapshot().in_progress(x, &m).unwrap());
    commit(&mut a);
}

#[test]
fn commands_and_combos() {
    let (_, env) = env();
    let m = fresh(&env);
    let mut a = connect(&m);
    begin(&mut a);
    assert!(!a.command_counter_increment().unwrap(), "nothing was written");
    let (c0, c5) = (CommandId(0), CommandId(5));
    let combo = a.combo_cid(c0, c5).unwrap();
    assert_eq!(a.combo_cid(c0, c5).unwrap(), combo);
    assert_ne!(a.combo_cid(c0, CommandId(6)).unwrap(), combo);
    assert_eq!((a.combo_cmin(combo), a.combo_cmax(combo)), (c0, c5));
    commit(&mut a);
    begin(&mut a);
    assert_eq!(a.combo_cid(c5, c5).unwrap(), CommandId(0), "numbers restart");
}

#[test]
fn waiting_ends_with_the_transaction() {
    let (_, env) = env();
    let m = fresh(&env);
    let (mut a, mut b) = (connect(&m), connect(&m));
    begin(&mut a);
    a.begin_subxact().unwrap();
    let sub = a.current_xid().unwrap();
    // The lock passes to the parent, so the waiter waits for the parent's end.
    a.commit_subxact().unwrap();
    begin(&mut b);
    assert!(!b.waits().try_wait_for_xid(sub).unwrap());
    let waiting = std::thread::spawn(move || {
        b.wait_for_xid(sub).unwrap();
        b
    });
    while !m.locks().rows().iter().any(|r| !r.granted) {
        sync::yield_now();
    }
    let tag = LockTag::transaction(sub);
    assert!(a.locks().holds(tag, LockMode::Exclusive));
    commit(&mut a);
    let b = waiting.join().unwrap();
    assert!(b.waits().try_wait_for_xid(sub).unwrap());
}

#[test]
fn slots_run_out_and_come_back() {
    let (_, env) = env();
    let m = fresh(&env);
    let mut all: Vec<_> = (0..16).map(|_| connect(&m)).collect();
    let error = m.connect(1, DB, Oid(1663), Arc::new(Waiter::new())).err().unwrap();
    assert_eq!(error.code().as_str(), "53300");
    let gone = all.remove(3).proc();
    assert_eq!(connect(&m).proc(), gone);
}

#[test]
fn remains_of_an_ended_session_do_not_affect_its_successor() {
    let (_, env) = env();
    let m = fresh(&env);
    let mut holder = connect(&m);
    begin(&mut holder);
    let x = holder.current_xid().unwrap();
    let gone = connect(&m);
    let (left, slot) = (gone.waits(), gone.proc());
    drop(gone);
    let mut next = connect(&m);
    assert_eq!(next.proc(), slot);
    drop(left);
    begin(&mut next);
    let waiting = std::thread::spawn(move || next.wait_for_xid(x));
    while !m.locks().rows().iter().any(|r| !r.granted) {
        sync::yield_now();
    }
    commit(&mut holder);
    let deadline = Deadline::after(Duration::from_secs(20)).unwrap();
    while !waiting.is_finished() {
        assert!(!deadline.has_passed(), "never woken");
        sync::yield_now();
    }
    waiting.join().unwrap().unwrap();
}

#[test]
fn a_dropped_session_aborts() {
    let (_, env) = env();
    let m = fresh(&env);
    let mut a = connect(&m);
    begin(&mut a);
    let x = a.current_xid().unwrap();
    drop(a);
    assert!(!m.is_in_progress(x).unwrap());
    assert!(m.did_abort(x).unwrap());
    assert!(m.locks().rows().is_empty());
}

#[test]
fn wraparound_is_refused_in_time() {
    let (_, env) = env();
    // Oldest id 3: warnings 40 million, refusal 3 million before the wrap at 2^31 + 2.
    let stop = (1u64 << 31) + 2 - 3_000_000;
    let m = fresh_at(&env, FullXid(stop - 1));
    m.set_database_names(Arc::new(|oid| (oid == Oid(1)).then(|| "template1".to_owned())));
    let mut a = connect(&m);
    begin(&mut a);
    a.current_xid().unwrap();
    let warnings = a.take_warnings();
    assert_eq!(
        warnings[0].message(),
        "database \"template1\" must be vacuumed within 3000001 transactions"
    );
    a.begin_subxact().unwrap();
    let error = a.current_xid().unwrap_err();
    assert_eq!(error.code().as_str(), "54000");
    assert_eq!(
        error.message(),
        "database is not accepting commands to avoid wraparound data loss in database \"template1\""
    );
}

#[test]
fn ids_wrap_around() {
    let (_, env) = env();
    let m = fresh_at(&env, FullXid(0xFFFF_FFF0));
    m.set_xid_limit(Xid(0xFFFF_0000), Oid(1));
    let mut a = connect(&m);
    let mut seen = Vec::new();
    for i in 0..40 {
        begin(&mut a);
        seen.push(a.current_xid().unwrap());
        if i % 2 == 0 { commit(&mut a) } else { abort(&mut a) }
    }
    assert_eq!(m.next_full_xid(), FullXid((1 << 32) + 3 + 24));
    for (i, x) in seen.iter().enumerate() {
        assert!(x.is_normal());
        assert_eq!(m.did_commit(*x).unwrap(), i % 2 == 0);
        assert!(!m.is_in_progress(*x).unwrap());
    }
}

#[test]
fn oids_are_reserved_in_the_log() {
    let (_, env) = env();
    let m = fresh(&env);
    let first = m.new_oid().unwrap();
    assert_eq!(first, Oid(16384));
    let mut cp = checkpoint_at(FullXid(3));
    m.fill_checkpoint(&mut cp, false);
    assert_eq!(cp.next_oid, Oid(16384 + 8192));
    m.fill_checkpoint(&mut cp, true);
    assert_eq!(cp.next_oid, Oid(16385));
    m.set_next_oid(Oid(u32::MAX));
    assert_eq!(m.new_oid().unwrap(), Oid(u32::MAX));
    assert_eq!(m.new_oid().unwrap(), Oid(16384), "the reserved range is skipped");
}

#[test]
fn a_commit_waits_for_the_flush_only_if_it_logged_changes() {
    let (_, env) = env();
    let m = fresh(&env);
    let mut t = connect(&m);
    let end = |t: &mut Transaction, synchronous| {
        let lsn = t.commit(&XactExtras::default(), synchronous, 1).unwrap();
        t.release_locks();
        lsn
    };
    // Nothing at all.
    let before = m.wal().inserted();
    begin(&mut t);
    end(&mut t, true);
    assert_eq!(m.wal().inserted(), before);
    // An id, but no logged change.
    begin(&mut t);
    t.current_xid().unwrap();
    let lsn = end(&mut t, true);
    assert!(m.wal().flushed() < lsn);
    // A change.
    begin(&mut t);
    t.current_xid().unwrap();
    t.note_record(m.wal().inserted());
    let lsn = end(&mut t, true);
    assert!(m.wal().flushed() >= lsn);
    // synchronous_commit = off.
    begin(&mut t);
    t.current_xid().unwrap();
    t.note_record(m.wal().inserted());
    let lsn = end(&mut t, false);
    assert!(m.wal().flushed() < lsn);
    m.wal().background_flush().unwrap();
    assert!(m.wal().flushed() >= lsn, "the WAL writer flushes asynchronous commits");
}

#[test]
fn all_transactions_of_a_group_end() {
    let (_, env) = env();
    let m = fresh(&env);
    let before = m.completions();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let m = m.clone();
            std::thread::spawn(move || {
                let mut t = connect(&m);
                for _ in 0..300 {
                    begin(&mut t);
                    let xid = t.current_xid().unwrap();
                    assert!(m.is_in_progress(xid).unwrap());
                    t.commit(&XactExtras::default(), false, 1).unwrap();
                    t.release_locks();
                    assert!(!m.is_in_progress(xid).unwrap());
                    let snapshot = {
                        begin(&mut t);
                        let snapshot = t.snapshot();
                        assert!(!snapshot.in_progress(xid, &m).unwrap(), "{xid}");
                        snapshot
                    };
                    drop(snapshot);
                    abort(&mut t);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(m.completions() - before, 8 * 300);
    let mut t = connect(&m);
    begin(&mut t);
    let snapshot = t.snapshot();
    assert_eq!((snapshot.xmin, snapshot.xip.len()), (m.next_full_xid().xid(), 0));
    drop(snapshot);
    abort(&mut t);
}
