//! Builds, also of indexes that are not logged.

use super::*;
use access::BuildOptions;
use pgerror::PgError;

fn build(w: &Fixture, rows: u32) -> u64 {
    let mut s = Session::new();
    let entries: Vec<Vec<u8>> = (0..rows)
        .map(|n| {
            let a = n.wrapping_mul(0x9E37_79B9) % 5000;
            w.form(point(a as i32, n as i32).as_ref(), tid(n))
        })
        .collect();
    let mut cx = s.cx(w);
    let options = BuildOptions {
        disk: Arc::new(w.disk.clone()),
        path: "base/5/t".to_owned(),
        memory_limit: 1 << 20,
        rows: f64::from(rows),
    };
    let mut build = w.index.begin_build(&mut cx, options).unwrap();
    entries.iter().for_each(|entry| build.add(&mut cx, entry, false).unwrap());
    build.finish(&mut cx, &mut |_, _| PgError::internal("unique")).unwrap()
}

#[test]
fn a_built_index_has_all_rows_and_is_replayed() {
    for fillfactor in ["90", "40"] {
        let w = Fixture::without_index(256, &[("fillfactor", fillfactor)]);
        assert_eq!(build(&w, 6000), 6000);
        assert_eq!(w.verify().len(), 6000);
        let mut s = Session::new();
        assert_eq!(w.within(&mut s, (0, 0), 6000).len(), 6000);
        (6000..9000).for_each(|n| w.insert(&mut s, (n as i32, n as i32), tid(n)));
        assert_eq!(w.verify().len(), 9000);
        w.vacuum(&mut s, &mut |tid| tid.offset % 2 == 0);
        assert_eq!(w.verify().len(), 4500);
        w.check_redo();
    }
}

/// The pages of a temporary index have LSNs too, by which splits are recognized.
#[test]
fn unlogged_indexes_write_no_record() {
    let mut w = Fixture::without_index(256, &[]);
    let def = definition(rel(), &[], Persistence::Unlogged);
    let unlogged = RelFile::new(rel().tablespace, rel().database, Oid(20_001));
    let def = IndexDef { file: unlogged, ..def };
    w.smgr.create(RelFork::new(unlogged, Fork::Main), false).unwrap();
    let file = IndexFile::open(&w.pool, def.file, def.persistence);
    w.index = Arc::new(GistIndex::new(file, &def, Arc::new(Shared::new(5))).unwrap());
    let before = w.wal.inserted();
    build(&w, 3000);
    let mut s = Session::new();
    (3000..6000).for_each(|n| w.insert(&mut s, (n as i32, n as i32), tid(n)));
    w.vacuum(&mut s, &mut |tid| tid.block.0 < 20);
    assert_eq!(w.wal.inserted(), before);
    assert_eq!(w.verify().len(), 4000);
    assert!(w.pages().iter().all(|page| page.lsn().is_valid()));
    assert!(w.wal.unlogged_lsn().0 > 4000);
}
