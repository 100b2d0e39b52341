//! Tests of indexes in a buffer pool over an in-memory disk, with WAL: random operations with a
//! model, replay of the log, concurrent sessions. The indexed columns are two integers.

use crate::index::BloomIndex;
use access::{
    BuildOptions, Cx, DeleteOp, Direction, DirtyState, HeapLiveness, Index, IndexColumn, IndexDef,
    IndexFile, Insert, Row, ScanKey, ScanOptions, ScanPage, StrategyNumber, SupportFunction,
    UniqueCheck, Xids, generic,
};
use bufmgr::redo::{RedoCx, RedoMode, read_for_redo};
use bufmgr::{BufferPool, PoolConfig, Strategy};
use ids::{BlockNo, Fork, FullXid, Lsn, Oid, Persistence, RelFile, Tid, Xid};
use page::PageBuf;
use page::tupdesc::{Align, Attr};
use pgerror::{PgError, Result};
use smgr::{RelFork, Smgr, SmgrConfig};
use std::collections::{BTreeMap, BTreeSet};
use sync::Arc;
use types::hash::Hasher;
use types::{Datum, hash_functions, oids};
use vfs::{Disk, Env, MemDisk, SeededRandom};
use wal::{RecordBuilder, RmgrId, Wal, WalConfig, WalReader, WalStart};

const SEGMENT: u32 = 1 << 20;
const SYSTEM: u64 = 7;
const START: Lsn = Lsn(SEGMENT as u64);
const EQUAL: StrategyNumber = StrategyNumber(1);

/// No transaction is asked about.
struct NoXids;

impl Xids for NoXids {
    fn next_full_xid(&self) -> FullXid {
        FullXid(1000)
    }
    fn is_removable(&self, _xid: FullXid) -> bool {
        true
    }
}

/// A table that is not asked.
struct NoHeap;

impl HeapLiveness for NoHeap {
    fn dirty_state(&mut self, _tid: Tid) -> Result<DirtyState> {
        Ok(DirtyState::Live)
    }

    fn is_live_self(&mut self, _tid: Tid) -> Result<bool> {
        Ok(true)
    }

    fn delete_candidates(&mut self, _op: &mut DeleteOp) -> Result<Xid> {
        Ok(Xid::INVALID)
    }
}

struct Fixture {
    disk: MemDisk,
    wal: Arc<Wal>,
    pool: BufferPool,
    smgr: Arc<Smgr>,
    index: Arc<BloomIndex>,
}

/// State of one session.
struct Session {
    scratch: RecordBuilder,
    strategy: Strategy,
}

impl Session {
    fn new() -> Session {
        Session { scratch: RecordBuilder::new(RmgrId::Generic, 0), strategy: Strategy::normal() }
    }

    fn cx<'a>(&'a mut self, w: &'a Fixture) -> Cx<'a> {
        Cx {
            pool: &w.pool,
            wal: &w.wal,
            xids: &NoXids,
            scratch: &mut self.scratch,
            strategy: &mut self.strategy,
            xid: Xid(700),
            bottom_up_deletion: true,
            limits: access::Limits::DEFAULT,
            check_interrupts: &|| Ok(()),
            delay: None,
        }
    }
}

fn definition(options: &[(&str, &str)]) -> IndexDef {
    let rel = RelFile::new(RelFile::DEFAULT_TABLESPACE, Oid(5), Oid(20_000));
    let hasher = Hasher::Plain(hash_functions::lookup("hashint4").unwrap());
    let column = |name: &[u8]| {
        let attr = Attr::new(name, oids::INT4, 4, true, Align::Int);
        IndexColumn::new(attr, Oid::INVALID, SupportFunction::Hash(hasher.clone()))
    };
    let columns = vec![column(b"a"), column(b"b")];
    let mut def = IndexDef::new(rel, Persistence::Permanent, ("i", "t"), columns, 2);
    def.options = options.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
    def
}

/// The row with this number, and its columns; some are NULL.
fn row(n: u32) -> (Tid, [Datum; 2]) {
    let value = |v: u32| if v.is_multiple_of(11) { Datum::Null } else { Datum::int4(v as i32) };
    (Tid::new(BlockNo(n / 100), (n % 100 + 1) as u16), [value(n % 37), value(n / 3 % 50)])
}

impl Fixture {
    fn on(disk: MemDisk, options: &[(&str, &str)]) -> Fixture {
        for dir in ["pg_wal", "base", "base/5"] {
            disk.create_dir(dir).unwrap();
        }
        let mut env = Env::memory(1);
        env.disk = Arc::new(disk.clone());
        let mut config = WalConfig::new(SEGMENT, SYSTEM);
        config.buffers = 64;
        let wal = Wal::new(env, config);
        let smgr = Arc::new(Smgr::new(Arc::new(disk.clone()), SmgrConfig::default()));
        let pool = BufferPool::new(PoolConfig::new(96), smgr.clone(), Some(wal.clone())).unwrap();
        let def = definition(options);
        let file = IndexFile::open(&pool, def.file, def.persistence);
        let index = Arc::new(BloomIndex::new(file, &def).unwrap());
        Fixture { disk, wal, pool, smgr, index }
    }

    /// With an empty file.
    fn empty(options: &[(&str, &str)]) -> Fixture {
        let w = Fixture::on(MemDisk::new(), options);
        let (end, prev) = (START, Lsn(0));
        let start = WalStart { timeline: 1, end, prev, redo: end, overwrite: false };
        w.wal.start(start).unwrap();
        w.smgr.create(RelFork::new(w.index.file.rel, Fork::Main), false).unwrap();
        w
    }

    /// With an index without entries.
    fn new(options: &[(&str, &str)]) -> Fixture {
        let w = Fixture::empty(options);
        w.index.init(&mut Session::new().cx(&w), &w.index.file).unwrap();
        w
    }

    fn form(&self, n: u32) -> Vec<u8> {
        let (tid, values) = row(n);
        let values = [values[0].as_ref(), values[1].as_ref()];
        let mut entry = Vec::new();
        self.index.form(&Row { values: &values, compressed: &[], tid }, &mut entry).unwrap();
        entry
    }

    fn insert(&self, s: &mut Session, n: u32) {
        let how = Insert { check: UniqueCheck::No, unchanged: false };
        self.index.insert(&mut s.cx(self), &self.form(n), how, &mut NoHeap).unwrap();
    }

    fn find(&self, s: &mut Session, conditions: &[(usize, Datum)]) -> BTreeSet<Tid> {
        let keys = conditions.iter().map(|(c, v)| ScanKey::compare(*c, EQUAL, v.clone())).collect();
        let mut scan = self.index.clone().begin_scan(keys, ScanOptions::default()).unwrap();
        let mut page = ScanPage::default();
        let mut out = BTreeSet::new();
        let mut cx = s.cx(self);
        while scan.next_page(&mut cx, Direction::Forward, &mut page, None).unwrap().is_some() {
            assert!(page.items.iter().all(|item| item.recheck));
            out.extend(page.items.iter().map(|item| item.tid));
        }
        out
    }

    fn vacuum(&self, s: &mut Session, is_dead: &mut dyn FnMut(Tid) -> bool) {
        let mut cx = s.cx(self);
        let stats = self.index.delete_dead(&mut cx, None, is_dead).unwrap();
        self.index.finish_vacuum(&mut cx, Some(stats)).unwrap();
    }

    fn verify(&self) -> BTreeSet<Tid> {
        let mut tids = BTreeSet::new();
        let mut each = |tid| {
            assert!(tids.insert(tid), "{tid} twice");
            Ok(())
        };
        self.index.check_structure(&mut Session::new().cx(self), &mut each).unwrap();
        tids
    }

    fn pages(&self) -> Vec<PageBuf> {
        let mut s = Session::new();
        let mut cx = s.cx(self);
        let n = cx.nblocks(&self.index.file).unwrap().0;
        (0..n).map(|b| cx.pin(&self.index.file, BlockNo(b)).unwrap().share().to_buf()).collect()
    }

    /// Replays the whole log into an empty file; all pages must have the same bytes.
    fn check_redo(&self) {
        self.wal.flush(self.wal.inserted()).unwrap();
        let copy = Fixture::on(MemDisk::new(), &[]);
        let disk = Arc::new(self.disk.clone());
        let mut reader = WalReader::new(disk, SEGMENT, 1, Some(SYSTEM));
        reader.seek(START);
        let mut cx = RedoCx::new(&copy.pool);
        while let Some(record) = reader.read().unwrap() {
            match record.header.rmgr() {
                Some(RmgrId::Generic) => generic::redo(&mut cx, record).unwrap(),
                _ => {
                    for (id, _) in record.blocks() {
                        drop(read_for_redo(&mut cx, record, id, RedoMode::Normal).unwrap());
                    }
                }
            }
        }
        assert!(cx.invalid().is_empty());
        let theirs = copy.pages();
        for (block, (ours, theirs)) in self.pages().iter().zip(&theirs).enumerate() {
            // Bytes 8 and 9 are the checksum of a page that was written.
            let differs = (0..8192)
                .filter(|i| i / 2 != 4)
                .find(|&i| ours.as_bytes()[i] != theirs.as_bytes()[i]);
            assert_eq!(differs, None, "block {block}");
        }
        assert_eq!(self.pages().len(), theirs.len());
    }
}

/// The rows that satisfy the conditions are found, and few others.
fn check_scans(w: &Fixture, s: &mut Session, rows: &BTreeMap<Tid, [Datum; 2]>) {
    let mut surplus = 0;
    for n in [1u32, 5, 12, 30, 36] {
        let (a, b) = (Datum::int4(n as i32), Datum::int4(n as i32 / 2 + 1));
        for conditions in [vec![(0, a.clone())], vec![(1, b.clone())], vec![(0, a), (1, b)]] {
            let has = |row: &[Datum; 2]| conditions.iter().all(|(c, v)| row[*c] == *v);
            let exact: BTreeSet<Tid> =
                rows.iter().filter(|(_, row)| has(row)).map(|(tid, _)| *tid).collect();
            let found = w.find(s, &conditions);
            assert!(exact.is_subset(&found), "{conditions:?}");
            surplus += found.len() - exact.len();
        }
    }
    assert!(surplus <= rows.len(), "{surplus} of {}", rows.len());
    assert!(w.find(s, &[(0, Datum::Null)]).is_empty());
    assert_eq!(w.find(s, &[]).len(), rows.len());
}

#[test]
fn random_operations_keep_all_rows() {
    for (seed, options) in
        [(1, &[][..]), (2, &[("length", "200"), ("col1", "9")]), (3, &[("length", "1600")])]
    {
        let w = Fixture::new(options);
        let mut s = Session::new();
        let random = SeededRandom::new(seed);
        let mut rows: BTreeMap<Tid, [Datum; 2]> = BTreeMap::new();
        for n in 0..6000 {
            w.insert(&mut s, n);
            let (tid, values) = row(n);
            rows.insert(tid, values);
            if n % 1500 == 1499 {
                check_scans(&w, &mut s, &rows);
                // Whole pages become empty.
                let below = Tid::new(BlockNo(n / 200), 1);
                let dead: BTreeSet<Tid> =
                    rows.keys().filter(|t| **t < below || random.below(5) == 0).copied().collect();
                w.vacuum(&mut s, &mut |tid| dead.contains(&tid));
                rows.retain(|tid, _| !dead.contains(tid));
                assert!(w.verify().into_iter().eq(rows.keys().copied()));
            }
        }
        check_scans(&w, &mut s, &rows);
        w.check_redo();
    }
}

#[test]
fn a_build_has_the_entries_of_insertions() {
    let w = Fixture::empty(&[("length", "64")]);
    let mut s = Session::new();
    let options = BuildOptions {
        disk: Arc::new(w.disk.clone()),
        path: String::new(),
        memory_limit: 1 << 20,
        rows: 12_000.0,
    };
    let mut build = w.index.begin_build(&mut s.cx(&w), options).unwrap();
    let mut rows = BTreeMap::new();
    for n in 0..12_000 {
        build.add(&mut s.cx(&w), &w.form(n), false).unwrap();
        let (tid, values) = row(n);
        rows.insert(tid, values);
    }
    let mut twice = |_: page::index_tuple::IndexTuple<'_>, _: page::index_tuple::IndexTuple<'_>| {
        PgError::internal("a bloom index is not unique")
    };
    assert_eq!(build.finish(&mut s.cx(&w), &mut twice).unwrap(), 12_000);
    check_scans(&w, &mut s, &rows);
    for n in 12_000..13_000 {
        w.insert(&mut s, n);
    }
    assert_eq!(w.verify().len(), 13_000);
    w.check_redo();
}

#[test]
fn sessions_insert_while_others_scan_and_vacuum() {
    let w = Fixture::new(&[("length", "400")]);
    let w = &w;
    std::thread::scope(|scope| {
        for session in 0..4u32 {
            scope.spawn(move || {
                let mut s = Session::new();
                (0..2000).for_each(|n| w.insert(&mut s, session * 10_000 + n));
            });
        }
        scope.spawn(move || {
            let mut s = Session::new();
            for _ in 0..20 {
                w.vacuum(&mut s, &mut |tid| tid.block.0 % 100 < 5);
                let _ = w.find(&mut s, &[(0, Datum::int4(5))]);
            }
        });
    });
    let mut s = Session::new();
    w.vacuum(&mut s, &mut |tid| tid.block.0 % 100 < 5);
    let left = w.verify();
    assert_eq!(left.len(), 4 * 1500);
    assert!(left.iter().all(|tid| tid.block.0 % 100 >= 5));
    w.check_redo();
}
