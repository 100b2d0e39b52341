//! Single operations in one to four sessions.

use super::*;

fn rows(scan: Vec<(Tid, Row)>) -> Vec<Row> {
    scan.into_iter().map(|r| r.1).collect()
}

fn row(id: i32, n: i32, text: &str) -> Row {
    (id, n, text.to_owned())
}

#[test]
fn committed_insertions_are_visible_to_other_sessions() {
    let w = Fixture::new();
    let (mut a, mut b) = (w.connect(), w.connect());
    a.begin();
    b.begin();
    let before = b.snapshot();
    a.insert(&w, 1, 10, "one");
    assert_eq!(rows(a.scan(&w)), [row(1, 10, "one")]);
    assert_eq!(rows(b.scan(&w)), []);
    a.commit();
    assert_eq!(rows(b.scan_with(&w, &before)), []);
    assert_eq!(rows(b.scan(&w)), [row(1, 10, "one")]);
    b.insert(&w, 2, 20, "two");
    b.abort();
    a.begin();
    assert_eq!(rows(a.scan(&w)), [row(1, 10, "one")]);
    a.commit();
    a.verify(&w);
    w.check_redo();
}

#[test]
fn hot_chains_are_searched_and_pruned() {
    let w = Fixture::new();
    let mut a = w.connect();
    a.begin();
    let root = a.insert(&w, 1, 0, "first");
    a.commit();
    let mut at = root;
    for n in 1..=5 {
        a.begin();
        let updated = a.update(&w, at, (1, n, "first"), true).unwrap();
        assert!(updated.hot);
        assert_eq!(updated.lock_mode, TupleLockMode::NoKeyExclusive);
        at = updated.tid;
        a.commit();
    }
    a.begin();
    let snapshot = a.snapshot();
    let mut dead = true;
    let found =
        fetch_tid(&mut a.cx(&w), &w.rel, root, &snapshot, Some(&mut dead), false, |t, tuple| {
            Ok((t, w.row(&tuple)))
        })
        .unwrap();
    assert_eq!(found, Some((at, row(1, 5, "first"))));
    assert!(!dead);
    assert_eq!(get_latest_tid(&mut a.cx(&w), &w.rel, root, &snapshot).unwrap(), at);
    a.commit();
    a.begin();
    // The old versions are dead to all snapshots: the root becomes a redirect, the others unused.
    let cutoffs = a.cutoffs(&w, false);
    assert_eq!(a.vacuum(&w, &cutoffs, false), 5);
    let pages = w.pages(&w.pool, Fork::Main);
    assert!(pages[0].line_pointer(1).is_redirected());
    assert_eq!(pages[0].line_pointer(1).redirect_to(), at.offset);
    assert!((2..at.offset).all(|o| !pages[0].line_pointer(o).is_used()));
    let snapshot = a.snapshot();
    let found =
        fetch_tid(&mut a.cx(&w), &w.rel, root, &snapshot, None, true, |t, _| Ok(t)).unwrap();
    assert_eq!(found, Some(at));
    // A change of the key is not HOT.
    let updated = a.update(&w, at, (2, 5, "first"), true).unwrap();
    assert!(!updated.hot);
    assert_eq!(updated.lock_mode, TupleLockMode::Exclusive);
    a.commit();
    a.verify(&w);
    let records = w.check_redo();
    assert_eq!(records[&(RmgrId::Heap as u8, record::heap::HOT_UPDATE)], 5);
}

#[test]
fn an_update_that_does_not_fit_goes_to_another_page() {
    let w = Fixture::new();
    let mut a = w.connect();
    a.begin();
    let wide = "x".repeat(1900);
    let tids: Vec<Tid> = (0..4).map(|i| a.insert(&w, i, 0, &wide)).collect();
    assert!(tids.iter().all(|t| t.block == BlockNo(0)));
    a.commit();
    a.begin();
    let updated = a.update(&w, tids[0], (0, 1, &wide), true).unwrap();
    assert_eq!(updated.tid.block, BlockNo(1));
    assert!(!updated.hot);
    assert_eq!(a.header(&w, tids[0]).ctid, updated.tid);
    a.commit();
    a.begin();
    let seen = a.scan(&w);
    assert_eq!(seen.len(), 4);
    assert_eq!(seen[0], (updated.tid, row(0, 1, &wide)));
    // The update set PD_PAGE_FULL, so the scan pruned the page.
    assert!(w.pages(&w.pool, Fork::Main)[0].line_pointer(1).is_dead());
    a.commit();
    let records = w.check_redo();
    // The update locked the old version before it released the latch to find another page.
    assert_eq!(records[&(RmgrId::Heap as u8, record::heap::LOCK)], 1);
}

#[test]
fn own_changes_are_seen_command_by_command() {
    let w = Fixture::new();
    let mut a = w.connect();
    a.begin();
    let tid = a.insert(&w, 1, 0, "a");
    let before = a.snapshot();
    let updated = a.update(&w, tid, (1, 1, "b"), true).unwrap();
    let h = a.header(&w, tid);
    assert!(h.any(m::COMBOCID), "inserted and updated by one transaction");
    assert_eq!(rows(a.scan_with(&w, &before)), [row(1, 0, "a")]);
    assert_eq!(rows(a.scan(&w)), [row(1, 1, "b")]);
    a.delete(&w, updated.tid, true).unwrap();
    assert_eq!(rows(a.scan(&w)), []);
    // ROLLBACK TO SAVEPOINT undoes the deletion.
    let tid = a.insert(&w, 2, 0, "c");
    a.txn.begin_subxact().unwrap();
    a.delete(&w, tid, true).unwrap();
    assert_eq!(rows(a.scan(&w)), []);
    a.txn.abort_subxact(&XactExtras::default()).unwrap();
    assert_eq!(rows(a.scan(&w)), [row(2, 0, "c")]);
    a.delete(&w, tid, true).unwrap();
    a.insert(&w, 3, 0, "d");
    a.commit();
    a.begin();
    assert_eq!(rows(a.scan(&w)), [row(3, 0, "d")]);
    a.commit();
    w.check_redo();
}

#[test]
fn conflicts_are_reported_as_postgresql_does() {
    let w = Fixture::new();
    let (mut a, mut b) = (w.connect(), w.connect());
    a.begin();
    let t1 = a.insert(&w, 1, 0, "");
    let t2 = a.insert(&w, 2, 0, "");
    a.commit();
    a.begin();
    b.begin();
    a.update(&w, t1, (1, 1, ""), true).unwrap();
    assert_eq!(b.update(&w, t1, (1, 2, ""), false), Err(TmResult::BeingModified));
    assert_eq!(b.delete(&w, t1, false), Err(TmResult::BeingModified));
    assert_eq!(b.lock(&w, t1, TupleLockMode::Exclusive), Err(TmResult::WouldBlock));
    a.delete(&w, t2, true).unwrap();
    a.commit();
    assert_eq!(b.update(&w, t1, (1, 2, ""), true), Err(TmResult::Updated));
    assert_eq!(b.delete(&w, t2, true), Err(TmResult::Deleted));
    b.abort();
    // After an abort the row is free again.
    a.begin();
    let tid = a.scan(&w)[0].0;
    a.delete(&w, tid, true).unwrap();
    a.abort();
    b.begin();
    b.delete(&w, tid, false).unwrap();
    b.commit();
    b.begin();
    assert_eq!(rows(b.scan(&w)), []);
    b.commit();
    w.check_redo();
}

#[test]
fn key_share_locks_coexist_with_updates_of_other_columns() {
    let w = Fixture::new();
    let (mut a, mut b, mut c) = (w.connect(), w.connect(), w.connect());
    a.begin();
    let tid = a.insert(&w, 1, 0, "");
    a.commit();
    for s in [&mut a, &mut b, &mut c] {
        s.begin();
    }
    a.lock(&w, tid, TupleLockMode::KeyShare).unwrap();
    b.lock(&w, tid, TupleLockMode::Share).unwrap();
    let h = b.header(&w, tid);
    assert!(h.xmax_is_multi() && h.xmax_locked_only());
    assert_eq!(h.infomask & m::LOCK_MASK, m::XMAX_SHR_LOCK);
    assert_eq!(c.lock(&w, tid, TupleLockMode::NoKeyExclusive), Err(TmResult::WouldBlock));
    b.abort();
    // Only the key-share lock is left: an update of n does not conflict, one of id does.
    assert_eq!(c.update(&w, tid, (7, 0, ""), false), Err(TmResult::BeingModified));
    let updated = c.update(&w, tid, (1, 5, ""), true).unwrap();
    let old = c.header(&w, tid);
    assert!(old.xmax_is_multi() && !old.xmax_locked_only());
    let members = w.manager.multixact_members(old.multi(), false).unwrap();
    let mut statuses: Vec<_> = members.iter().map(|x| x.status).collect();
    statuses.sort();
    use txn::MultiXactStatus::*;
    assert_eq!(statuses, [ForKeyShare, NoKeyUpdate]);
    // The lock is copied to the new version.
    let new = c.header(&w, updated.tid);
    assert!(new.xmax_locked_only() && new.xmax_is_multi());
    let members = w.manager.multixact_members(new.multi(), true).unwrap();
    assert!(members.iter().any(|x| x.xid == a.txn.top_xid_if_any()));
    // A key-share lock of a third session on the old version also locks the new one.
    b.begin();
    b.lock(&w, tid, TupleLockMode::KeyShare).unwrap();
    let new = b.header(&w, updated.tid);
    assert!(new.xmax_is_multi() && new.xmax_locked_only());
    c.commit();
    let mut d = w.connect();
    d.begin();
    assert_eq!(rows(d.scan(&w)), [row(1, 5, "")]);
    assert_eq!(d.delete(&w, updated.tid, false), Err(TmResult::BeingModified));
    a.commit();
    b.abort();
    d.delete(&w, updated.tid, false).unwrap();
    d.commit();
    d.verify(&w);
    let records = w.check_redo();
    assert!(records.contains_key(&(RmgrId::Heap2 as u8, record::heap2::LOCK_UPDATED)));
}

#[test]
fn own_locks_become_stronger_in_place() {
    let w = Fixture::new();
    let mut a = w.connect();
    a.begin();
    let tid = a.insert(&w, 1, 0, "");
    a.commit();
    a.begin();
    let xid = a.txn.current_xid().unwrap();
    for (mode, bits, keys) in [
        (TupleLockMode::KeyShare, m::XMAX_KEYSHR_LOCK, false),
        (TupleLockMode::Share, m::XMAX_SHR_LOCK, false),
        (TupleLockMode::KeyShare, m::XMAX_SHR_LOCK, false),
        (TupleLockMode::NoKeyExclusive, m::XMAX_EXCL_LOCK, false),
        (TupleLockMode::Exclusive, m::XMAX_EXCL_LOCK, true),
        (TupleLockMode::Share, m::XMAX_EXCL_LOCK, true),
    ] {
        a.lock(&w, tid, mode).unwrap();
        let h = a.header(&w, tid);
        assert_eq!(h.raw_xmax, xid);
        assert_eq!((h.infomask & m::LOCK_MASK, h.keys_updated()), (bits, keys), "{mode:?}");
        assert!(h.xmax_locked_only());
    }
    a.commit();
    w.check_redo();
}

#[test]
fn multi_insert_fills_pages_and_freezes() {
    let w = Fixture::new();
    let mut a = w.connect();
    a.begin();
    let cid = a.txn.current_command(true);
    for frozen in [false, true] {
        let mut tuples = Tuples::default();
        for i in 0..500 {
            let tuple = w.tuple(i, frozen as i32, &"y".repeat(i as usize % 90));
            let copy = |out: &mut Vec<u8>| {
                out.extend_from_slice(&tuple);
                Ok(())
            };
            tuples.add(copy).unwrap();
        }
        let mut bulk = BulkInsert::new(&w.pool);
        let options = InsertOptions { frozen, skip_fsm: frozen, ..InsertOptions::default() };
        let mut tids = Vec::new();
        multi_insert(&mut a.cx(&w), &w.rel, &mut tuples, cid, options, Some(&mut bulk), &mut tids)
            .unwrap();
        bulk.finish(&w.rel, &w.pool).unwrap();
        assert_eq!(tids.len(), 500);
        assert!(tids.windows(2).all(|p| p[0] < p[1]));
    }
    a.next_command();
    assert_eq!(a.scan(&w).len(), 1000);
    a.commit();
    let mut strategy = Strategy::normal();
    let (visible, frozen) = visibility_map::count(&w.pool, &w.rel, &mut strategy).unwrap();
    assert!(visible > 3 && visible == frozen);
    a.begin();
    assert_eq!(a.scan(&w).len(), 1000);
    a.verify(&w);
    a.commit();
    w.check_redo();
}

#[test]
fn speculative_insertions_are_confirmed_or_killed() {
    let w = Fixture::new();
    let (mut a, mut b) = (w.connect(), w.connect());
    a.begin();
    b.begin();
    let options = InsertOptions { speculative_token: 77, ..InsertOptions::default() };
    let cid = a.txn.current_command(true);
    let put = |a: &mut Session, id| {
        let mut tuple = w.tuple(id, 0, "");
        insert(&mut a.cx(&w), &w.rel, &mut tuple, cid, options, None).unwrap()
    };
    let (kept, killed) = (put(&mut a, 1), put(&mut a, 2));
    let h = b.header(&w, kept);
    let info = b.cx(&w).visibility(&w.rel, Lsn(0)).dirty(&h, &mut 0).unwrap().unwrap();
    assert_eq!((info.xmin, info.speculative_token), (a.txn.top_xid_if_any(), 77));
    finish_speculative(&mut a.cx(&w), &w.rel, kept).unwrap();
    abort_speculative(&mut a.cx(&w), &w.rel, killed).unwrap();
    a.next_command();
    assert_eq!(rows(a.scan(&w)), [row(1, 0, "")]);
    let h = b.header(&w, killed);
    assert_eq!(b.cx(&w).visibility(&w.rel, Lsn(0)).dirty(&h, &mut 0).unwrap(), None);
    a.commit();
    b.commit();
    w.check_redo();
}

#[test]
fn vacuum_frees_freezes_and_sets_the_map() {
    let w = Fixture::new();
    let mut a = w.connect();
    a.begin();
    let tids: Vec<Tid> = (0..300).map(|i| a.insert(&w, i, 0, "some text of a row")).collect();
    a.commit();
    a.begin();
    for tid in tids.iter().skip(100).step_by(2) {
        a.delete(&w, *tid, true).unwrap();
    }
    a.commit();
    let keep = w.connect();
    a.begin();
    let cutoffs = a.cutoffs(&w, true);
    assert_eq!(a.vacuum(&w, &cutoffs, false), 100);
    a.commit();
    drop(keep);
    let mut strategy = Strategy::normal();
    let n = w.pool.nblocks(&w.rel.main).unwrap();
    let counts = visibility_map::count(&w.pool, &w.rel, &mut strategy).unwrap();
    assert_eq!(counts, (n, n));
    a.begin();
    assert_eq!(a.scan(&w).len(), 200);
    assert!(a.header(&w, tids[0]).xmin_frozen());
    // A lock clears the all-frozen bit, a deletion both bits.
    a.lock(&w, tids[0], TupleLockMode::Share).unwrap();
    let counts = visibility_map::count(&w.pool, &w.rel, &mut strategy).unwrap();
    assert_eq!(counts, (n, n - 1));
    a.delete(&w, tids[0], true).unwrap();
    let counts = visibility_map::count(&w.pool, &w.rel, &mut strategy).unwrap();
    assert_eq!(counts, (n - 1, n - 1));
    a.commit();
    a.verify(&w);
    let records = w.check_redo();
    for kind in [
        record::heap2::PRUNE,
        record::heap2::VACUUM,
        record::heap2::FREEZE_PAGE,
        record::heap2::VISIBLE,
    ] {
        assert!(records.contains_key(&(RmgrId::Heap2 as u8, kind)), "{kind:x}");
    }
}

/// A table without its last column, as after the rollback of ADD COLUMN, or with another column
/// instead. Rows of aborted transactions may have the old column. All other rows must not,
/// regardless of their hint bits.
#[test]
fn rows_with_wrong_columns_are_faults_unless_rolled_back() {
    let narrow = TupleDesc::new(Fixture::new().desc.attrs[..2].to_vec());
    let mut other = Fixture::new().desc.clone();
    other.attrs[1] = other.attrs[2].clone();
    let short = "heap tuple is damaged: a column reaches beyond its end";
    for (desc, message) in [(&narrow, "tuple has 3 columns of 2"), (&other, short)] {
        let wrong = Deformer::new(desc);
        let fault =
            |offset| verify::Fault { block: BlockNo(0), offset, message: message.to_owned() };
        let w = Fixture::new();
        let mut a = w.connect();
        a.begin();
        // Byte 127 as a varlena header announces 63 bytes.
        a.insert(&w, 1, 127, "rolled back");
        a.abort();
        assert_eq!(a.faults(&w, &wrong), []);
        a.begin();
        a.insert(&w, 2, 127, "under way");
        assert_eq!(a.faults(&w, &wrong), [fault(2)]);
        a.commit();
        // The row has not been read since, so it has no hint bits.
        assert_eq!(a.faults(&w, &wrong), [fault(2)]);
        a.begin();
        a.scan(&w);
        a.commit();
        assert_eq!(a.faults(&w, &wrong), [fault(2)]);
        assert_eq!(a.faults(&w, &w.deformer), []);
    }
}

#[test]
fn a_waiting_update_continues_after_an_abort() {
    let w = Fixture::new();
    let (mut a, mut b) = (w.connect(), w.connect());
    a.begin();
    let tid = a.insert(&w, 1, 0, "");
    a.commit();
    a.begin();
    a.update(&w, tid, (1, 1, ""), true).unwrap();
    let waiting = std::thread::scope(|scope| {
        let w = &w;
        let handle = scope.spawn(move || {
            b.begin();
            let result = b.update(w, tid, (1, 2, ""), true);
            b.commit();
            result.map(|u| u.hot)
        });
        // Until the other session waits for this transaction; it then has the row's heavyweight
        // lock.
        let tag = lmgr::LockTag::transaction(a.txn.top_xid_if_any());
        while !a.txn.locks().has_waiters(tag, lmgr::LockMode::Exclusive) {
            std::thread::yield_now();
        }
        a.abort();
        handle.join().unwrap()
    });
    assert_eq!(waiting, Ok(true));
    a.begin();
    assert_eq!(rows(a.scan(&w)), [row(1, 2, "")]);
    a.commit();
    w.check_redo();
}

/// Runs `then` once, after the awaited transaction has ended and before the waiter continues.
struct AfterWait<'a> {
    waits: SessionWaits,
    then: Option<Box<dyn FnOnce() + 'a>>,
}

impl WaitForXact for AfterWait<'_> {
    fn wait_xid(&mut self, _: Xid) -> pgerror::Result<()> {
        self.then.take().into_iter().for_each(|then| then());
        Ok(())
    }
    fn try_wait_xid(&mut self, xid: Xid) -> pgerror::Result<bool> {
        self.waits.try_wait_xid(xid)
    }
    fn lock_row(&mut self, rel: &HeapRel, tid: Tid, mode: lmgr::LockMode) -> pgerror::Result<()> {
        self.waits.lock_row(rel, tid, mode)
    }
    fn try_lock_row(
        &mut self,
        rel: &HeapRel,
        tid: Tid,
        mode: lmgr::LockMode,
    ) -> pgerror::Result<bool> {
        self.waits.try_lock_row(rel, tid, mode)
    }
    fn unlock_row(&mut self, rel: &HeapRel, tid: Tid, mode: lmgr::LockMode) -> pgerror::Result<()> {
        self.waits.unlock_row(rel, tid, mode)
    }
}

#[test]
fn a_lock_does_not_follow_an_aborted_update_to_an_unrelated_row() {
    let w = Fixture::new();
    let (mut a, mut b, mut c) = (w.connect(), w.connect(), w.connect());
    a.begin();
    let wide = "x".repeat(1900);
    let tids: Vec<Tid> = (0..4).map(|i| a.insert(&w, i, 0, &wide)).collect();
    a.commit();
    a.begin();
    let moved = a.update(&w, tids[0], (0, 1, &wide), true).unwrap().tid;
    assert_eq!(moved.block, BlockNo(1));
    b.begin();
    let waits = SessionWaits(b.txn.waits());
    let then = || {
        // The update is rolled back, VACUUM removes its version, and another row reuses the TID.
        a.abort();
        c.begin();
        let cutoffs = c.cutoffs(&w, false);
        c.vacuum_from(&w, moved.block, &cutoffs, true);
        assert_eq!(c.insert(&w, 9, 9, &wide), moved);
        c.commit();
    };
    let mut waits = AfterWait { waits, then: Some(Box::new(then)) };
    let cid = b.txn.current_command(true);
    let mode = TupleLockMode::Exclusive;
    let options = LockOptions { mode, policy: WaitPolicy::Block, follow_updates: true };
    let mut out = Vec::new();
    let mut cx = HeapCx { wait: &mut waits, ..b.cx(&w) };
    assert_eq!(lock_tuple(&mut cx, &w.rel, tids[0], cid, options, &mut out).unwrap(), Ok(()));
    drop(waits);
    let unrelated = b.header(&w, moved);
    assert!(unrelated.xmax_invalid(), "the other row was locked: {unrelated:?}");
    b.commit();
}
