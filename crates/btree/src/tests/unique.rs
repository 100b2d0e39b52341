//! Unique checks.

use super::*;

fn fixture() -> Fixture {
    let mut schema = int4_schema();
    schema.unique = true;
    Fixture::new(schema, 64)
}

fn insert(
    w: &Fixture,
    key: Option<i32>,
    tid: Tid,
    check: UniqueCheck,
    heap: &mut TestHeap,
) -> Inserted {
    let tuple = form(&w.index.schema, &[key.map_or(DatumRef::Null, int)], tid);
    let mut s = Session::new();
    w.index.insert(&mut s.cx(w), &tuple, check, false, heap).unwrap()
}

fn tid(n: u32) -> Tid {
    Tid::new(BlockNo(n / 100), (n % 100 + 1) as u16)
}

#[test]
fn live_duplicates_conflict_and_running_ones_are_waited_for() {
    let w = fixture();
    let mut heap = TestHeap::default();
    let yes = UniqueCheck::Yes;
    for n in 0..2000 {
        let done = insert(&w, Some(n), tid(n as u32), yes, &mut heap);
        assert_eq!(done, Inserted::Done { unique: true });
    }
    let conflict = Inserted::Conflict { tid: tid(700) };
    assert_eq!(insert(&w, Some(700), tid(5000), yes, &mut heap), conflict);
    heap.in_progress.insert(tid(701));
    let wait = Inserted::Wait { xid: Xid(5), speculative: None };
    assert_eq!(insert(&w, Some(701), tid(5000), yes, &mut heap), wait);
    let partial = UniqueCheck::Partial;
    let maybe = Inserted::Done { unique: false };
    assert_eq!(insert(&w, Some(701), tid(5000), partial, &mut heap), maybe);
    // The deferred check of the new row finds the old one, and no conflict for a row without
    // duplicate.
    let existing = UniqueCheck::Existing;
    heap.in_progress.clear();
    let conflict = Inserted::Conflict { tid: tid(701) };
    assert_eq!(insert(&w, Some(701), tid(5000), existing, &mut heap), conflict);
    heap.dead.insert(tid(701));
    let done = Inserted::Done { unique: true };
    assert_eq!(insert(&w, Some(701), tid(5000), existing, &mut heap), done);
    assert_eq!(insert(&w, Some(702), tid(702), existing, &mut heap), done);
    let mut s = Session::new();
    let tuple = form(&w.index.schema, &[int(702)], tid(6000));
    let err = w.index.insert(
        &mut s.cx(&w),
        &tuple,
        existing,
        false,
        &mut TestHeap { dead: [tid(702)].into(), ..TestHeap::default() },
    );
    assert_eq!(err.unwrap_err().message(), "failed to re-find tuple within index \"i\"");
    w.verify();
}

#[test]
fn nulls_are_distinct_unless_declared_otherwise() {
    let mut w = fixture();
    let mut heap = TestHeap::default();
    let done = Inserted::Done { unique: true };
    assert_eq!(insert(&w, None, tid(1), UniqueCheck::Yes, &mut heap), done);
    assert_eq!(insert(&w, None, tid(2), UniqueCheck::Yes, &mut heap), done);
    w.index_mut().schema.nulls_not_distinct = true;
    let conflict = Inserted::Conflict { tid: tid(1) };
    assert_eq!(insert(&w, None, tid(3), UniqueCheck::Yes, &mut heap), conflict);
}

/// A frequently updated row: each insertion of the same key finds the previous version dead. Dead
/// versions must not accumulate.
#[test]
fn dead_versions_of_one_key_do_not_split_pages() {
    let w = fixture();
    let mut heap = TestHeap::default();
    let done = Inserted::Done { unique: true };
    for n in 0..200 {
        assert_eq!(insert(&w, Some(n), tid(n as u32), UniqueCheck::Yes, &mut heap), done);
    }
    for n in 0..20_000u32 {
        assert_eq!(insert(&w, Some(77), tid(1000 + n), UniqueCheck::Yes, &mut heap), {
            if n == 0 { Inserted::Conflict { tid: tid(77) } } else { done }
        });
        heap.dead.insert(tid(if n == 0 { 77 } else { 1000 + n }));
    }
    assert_eq!(w.pages().len(), 2);
    assert!(heap.deletions > 50);
    w.verify();
    let kinds = w.check_redo();
    assert!(kinds[&records::DELETE] > 50);
}

/// Updates that do not change the key, with no item marked dead: bottom-up deletion limits the
/// size.
#[test]
fn bottom_up_deletion_keeps_versions_from_splitting() {
    let w = Fixture::new(int4_schema(), 64);
    let mut heap = TestHeap::default();
    let mut s = Session::new();
    let mut current: Vec<Tid> = Vec::new();
    for n in 0..300u32 {
        let tuple = form(&w.index.schema, &[int(n as i32)], tid(n));
        w.index.insert(&mut s.cx(&w), &tuple, UniqueCheck::No, false, &mut heap).unwrap();
        current.push(tid(n));
    }
    let mut rng = Rng(5);
    for n in 0..30_000u32 {
        let row = rng.below(300) as usize;
        let new = tid(10_000 + n);
        let tuple = form(&w.index.schema, &[int(row as i32)], new);
        w.index.insert(&mut s.cx(&w), &tuple, UniqueCheck::No, true, &mut heap).unwrap();
        heap.dead.insert(std::mem::replace(&mut current[row], new));
    }
    assert!(w.pages().len() <= 4, "{}", w.pages().len());
    let (_, found) = w.verify();
    assert!(current.iter().all(|t| found.contains(t)));
}

/// Duplicates of versions 2 and 3 are not in TID order.
#[test]
fn versions_before_4_are_refused() {
    let w = fixture();
    assert_eq!(insert(&w, Some(1), tid(1), UniqueCheck::Yes, &mut TestHeap::default()), {
        Inserted::Done { unique: true }
    });
    let mut meta = w.pages().remove(0);
    assert!(w.index.read_meta(meta.page()).is_ok());
    let old = page::btree::Meta { version: 3, ..page::btree::Meta::read(meta.page()) };
    old.write(meta.page_mut());
    let refused = w.index.read_meta(meta.page()).unwrap_err();
    assert_eq!(refused.code(), pgerror::SqlState::FEATURE_NOT_SUPPORTED);
}
