//! Multixacts.

use super::*;
use crate::MultiXactStatus::*;

fn member(xid: Xid, status: MultiXactStatus) -> MultiXactMember {
    MultiXactMember { xid, status }
}

#[test]
fn members_are_read_back_and_equal_sets_share_a_multixact() {
    let (_, env) = env();
    let m = fresh(&env);
    let (mut a, mut b) = (connect(&m), connect(&m));
    begin(&mut a);
    begin(&mut b);
    let (xa, xb) = (a.current_xid().unwrap(), b.current_xid().unwrap());
    b.set_oldest_multixact_member();
    let set = [member(xa, ForShare), member(xb, ForKeyShare)];
    let multi = a.multixact_create(&set).unwrap();
    assert_eq!(multi, MultiXid(1));
    assert_eq!(a.multixact_create(&[set[1], set[0]]).unwrap(), multi);
    assert_eq!(m.multixact_members(multi, false).unwrap().as_slice(), &set);
    assert!(m.multixact_is_running(multi, true).unwrap());
    assert_eq!(a.multixact_expand(multi, xb, ForKeyShare).unwrap(), multi, "a member already");
    let wider = b.multixact_expand(multi, xb, NoKeyUpdate).unwrap();
    assert_eq!(m.multixact_update_xid(wider).unwrap(), xb);
    assert_eq!(m.multixact_members(wider, false).unwrap().len(), 3);
    commit(&mut a);
    assert!(m.multixact_is_running(multi, true).unwrap(), "b still runs");
    commit(&mut b);
    assert!(m.multixact_members(multi, true).unwrap().is_empty(), "no transaction can hold it");
    assert!(!m.multixact_is_running(multi, false).unwrap());
    // Expanding drops the lockers that have ended, and keeps the committed updater.
    begin(&mut a);
    let x = a.current_xid().unwrap();
    let again = a.multixact_expand(wider, x, ForKeyShare).unwrap();
    let members = m.multixact_members(again, false).unwrap();
    assert_eq!(members.as_slice(), &[member(xb, NoKeyUpdate), member(x, ForKeyShare)]);
    assert!(m.multixact_members(MultiXid(99), false).is_err());
    assert!(a.multixact_create(&[member(x, Update), member(xb, NoKeyUpdate)]).is_err());
}

/// Many sets that cross page boundaries, read back concurrently, and again after a crash.
#[test]
fn many_sets_by_many_sessions() {
    let (disk, env) = env();
    let m = fresh_at(&env, FullXid(1_000_000));
    let threads: Vec<_> = (0..4u32)
        .map(|i| {
            let m = m.clone();
            std::thread::spawn(move || {
                let mut t = connect(&m);
                begin(&mut t);
                let x = t.current_xid().unwrap();
                let mut made = Vec::new();
                for n in 0..700 {
                    let set: Vec<_> = (0..2 + n % 5)
                        .map(|k| member(Xid(10_000 + i * 100_000 + n * 7 + k), ForShare))
                        .chain([member(x, ForKeyShare)])
                        .collect();
                    let multi = t.multixact_create(&set).unwrap();
                    let mut set = set;
                    set.sort_by_key(|m| m.xid.0);
                    assert_eq!(m.multixact_members(multi, false).unwrap().as_slice(), set);
                    made.push((multi, set));
                }
                commit(&mut t);
                made
            })
        })
        .collect();
    let made: Vec<_> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
    assert_eq!(m.next_multixact(), MultiXid(2801));
    m.wal.flush(m.wal.inserted()).unwrap();
    let (after, _) = recover(Arc::new(disk.crash(5)));
    assert_eq!(after.next_multixact(), MultiXid(2801));
    for m in [&m, &after] {
        for (multi, set) in &made {
            assert_eq!(m.multixact_members(*multi, false).unwrap().as_slice(), set);
        }
    }
}

#[test]
fn truncation_keeps_what_is_needed() {
    let (disk, env) = env();
    let m = fresh(&env);
    let mut t = connect(&m);
    begin(&mut t);
    let x = t.current_xid().unwrap();
    // Beyond one segment of offsets (65,536) and of members (52,352).
    for n in 0..70_000u32 {
        t.multixact_create(&[member(x, ForShare), member(Xid(1_000_000 + n), ForKeyShare)])
            .unwrap();
    }
    commit(&mut t);
    let (segments, members) = m.multixact_counts();
    // Member number 0 is never used, but counted.
    assert_eq!((segments, members), (70_000, 140_001));
    m.checkpoint().unwrap();
    let files = |dir: &str| {
        let mut names: Vec<_> = disk.list(dir).unwrap().into_iter().map(|e| e.name).collect();
        names.sort();
        names
    };
    assert_eq!(files("pg_multixact/offsets"), ["0000", "0001"]);
    assert_eq!(files("pg_multixact/members"), ["0000", "0001", "0002"]);
    m.truncate_status(Xid(3), Oid(1), MultiXid(67_000), Oid(1)).unwrap();
    assert_eq!(files("pg_multixact/offsets"), ["0001"]);
    assert_eq!(files("pg_multixact/members"), ["0002"]);
    assert!(m.multixact_members(MultiXid(66_999), false).is_err());
    assert_eq!(m.multixact_members(MultiXid(67_000), false).unwrap().len(), 2);
}
