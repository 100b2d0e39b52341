//! Tests of indexes in a buffer pool over an in-memory disk, with WAL. The indexed column has
//! points.

mod build;
mod concurrent;
mod crash;
mod model;

use crate::index::Shared;
use crate::{GistIndex, mask, redo};
use access::{
    Cx, DeleteOp, Direction, DirtyState, HeapLiveness, Index, IndexColumn, IndexDef, IndexFile,
    Insert, Row, ScanKey, ScanOptions, ScanPage, StrategyNumber, Support, SupportFunction,
    UniqueCheck, Xids,
};
use bufmgr::redo::{RedoCx, RedoMode, read_for_redo};
use bufmgr::{BufferPool, PoolConfig, Strategy};
use ids::{BlockNo, Fork, FullXid, Lsn, Oid, Persistence, RelFile, Tid, Xid};
use page::PageBuf;
use page::tupdesc::{Align, Attr};
use pgerror::Result;
use smgr::{RelFork, Smgr, SmgrConfig};
use std::collections::{BTreeMap, BTreeSet};
use sync::Arc;
use types::gist::Traits;
use types::{Datum, DatumRef, oids};
use vfs::{Disk, Env, MemDisk, SystemClock};
use wal::{DecodedRecord, RecordBuilder, RmgrId, Wal, WalConfig, WalReader, WalStart};

const SEGMENT: u32 = 1 << 20;
const SYSTEM: u64 = 7;
const START: Lsn = Lsn(SEGMENT as u64);
/// `point <@ box`.
const WITHIN: StrategyNumber = StrategyNumber(28);

/// Transactions of which all or none have ended.
struct AllOrNone(bool);

impl Xids for AllOrNone {
    fn next_full_xid(&self) -> FullXid {
        FullXid(1000)
    }
    fn is_removable(&self, _xid: FullXid) -> bool {
        self.0
    }
}

static ALL: AllOrNone = AllOrNone(true);
static NONE: AllOrNone = AllOrNone(false);

pub(crate) struct Fixture {
    pub disk: MemDisk,
    pub wal: Arc<Wal>,
    pub smgr: Arc<Smgr>,
    pub pool: BufferPool,
    pub index: Arc<GistIndex>,
    /// Deleted pages are used again at once.
    pub recycles: bool,
}

/// State of one session.
pub(crate) struct Session {
    scratch: RecordBuilder,
    strategy: Strategy,
}

impl Session {
    pub(crate) fn new() -> Session {
        Session { scratch: RecordBuilder::new(RmgrId::Gist, 0), strategy: Strategy::normal() }
    }

    pub(crate) fn cx<'a>(&'a mut self, w: &'a Fixture) -> Cx<'a> {
        Cx {
            pool: &w.pool,
            wal: &w.wal,
            xids: if w.recycles { &ALL } else { &NONE },
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

fn rel() -> RelFile {
    RelFile::new(RelFile::DEFAULT_TABLESPACE, Oid(5), Oid(20_000))
}

const FUNCTIONS: [(u16, &str); 9] = [
    (1, "gist_point_consistent"),
    (2, "gist_box_union"),
    (3, "gist_point_compress"),
    (5, "gist_box_penalty"),
    (6, "gist_box_picksplit"),
    (7, "gist_box_same"),
    (8, "gist_point_distance"),
    (9, "gist_point_fetch"),
    (11, ""),
];

fn definition(rel: RelFile, options: &[(&str, &str)], persistence: Persistence) -> IndexDef {
    definition_of(rel, options, persistence, 1)
}

/// The definition of an index of some columns, all of which have points.
fn definition_of(
    rel: RelFile,
    options: &[(&str, &str)],
    persistence: Persistence,
    columns: usize,
) -> IndexDef {
    let attr = Attr::new(b"p", oids::BOX, 32, false, Align::Double);
    let traits = Arc::new(Traits { input: oids::POINT, ..Traits::default() });
    let functions = FUNCTIONS.iter().filter_map(|(number, name)| {
        let function = SupportFunction::Gist(types::gist::lookup(name)?, traits.clone());
        Some(Support { number: *number, oid: Oid::INVALID, function })
    });
    let column = IndexColumn {
        attr,
        collation: Oid::INVALID,
        desc: false,
        nulls_first: false,
        support: functions.collect(),
    };
    let all = vec![column; columns];
    let mut def = IndexDef::new(rel, persistence, ("i", "t"), all, columns);
    let points = vec![Attr::new(b"p", oids::POINT, 16, false, Align::Double); columns];
    def.fetched = Some(access::TupleLayout::new(points.iter()));
    def.options = options.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
    def
}

fn numbers(numbers: &[f64]) -> Datum {
    Datum::bytes(numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>())
}

/// A point.
pub(crate) fn point(x: i32, y: i32) -> Datum {
    numbers(&[f64::from(x), f64::from(y)])
}

/// A box with sides of this length, from its lower left corner.
pub(crate) fn square(x: i32, y: i32, side: i32) -> Datum {
    numbers(&[f64::from(x + side), f64::from(y + side), f64::from(x), f64::from(y)])
}

fn directories(disk: &MemDisk) {
    for dir in ["pg_wal", "base", "base/5"] {
        disk.create_dir(dir).unwrap();
        disk.sync_dir(".").unwrap();
    }
    disk.sync_dir("base").unwrap();
}

impl Fixture {
    /// On this disk, with a log that is not started.
    fn on(disk: MemDisk, frames: usize, options: &[(&str, &str)]) -> Fixture {
        let mut env = Env::memory(1);
        env.disk = Arc::new(disk.clone());
        let mut config = WalConfig::new(SEGMENT, SYSTEM);
        config.buffers = 64;
        let wal = Wal::new(env, config);
        let smgr = Arc::new(Smgr::new(Arc::new(disk.clone()), SmgrConfig::default()));
        let pool =
            BufferPool::new(PoolConfig::new(frames), smgr.clone(), Some(wal.clone())).unwrap();
        let def = definition(rel(), options, Persistence::Permanent);
        let file = IndexFile::open(&pool, def.file, def.persistence);
        let index = Arc::new(GistIndex::new(file, &def, Arc::new(Shared::new(5))).unwrap());
        Fixture { disk, wal, smgr, pool, index, recycles: true }
    }

    fn start_log(&self, end: Lsn, prev: Lsn) {
        let start = WalStart { timeline: 1, end, prev, redo: end, overwrite: false };
        self.wal.start(start).unwrap();
    }

    /// With an empty file.
    pub(crate) fn without_index(frames: usize, options: &[(&str, &str)]) -> Fixture {
        let disk = MemDisk::new();
        directories(&disk);
        let w = Fixture::on(disk, frames, options);
        w.start_log(START, Lsn(0));
        w.smgr.create(RelFork::new(rel(), Fork::Main), false).unwrap();
        w
    }

    /// With an index without entries.
    pub(crate) fn new(frames: usize, options: &[(&str, &str)]) -> Fixture {
        let w = Fixture::without_index(frames, options);
        w.index.init(&mut Session::new().cx(&w), &w.index.file).unwrap();
        w
    }

    /// Writes all pages; returns the redo pointer.
    pub(crate) fn checkpoint(&self) -> Lsn {
        self.smgr.checkpoint_begin();
        let redo = self.wal.begin_checkpoint();
        self.wal.wait_delay_start();
        self.pool.checkpoint_write(false, 0, &mut |_| {}).unwrap();
        self.smgr.checkpoint_sync(&SystemClock::new()).unwrap();
        redo
    }

    /// Replays at most `most` records of the log from `redo` on. Returns the kinds of its records
    /// of GiST indexes.
    fn recover(&self, from: &MemDisk, redo: Lsn, most: usize) -> Vec<u8> {
        let mut reader = WalReader::new(Arc::new(from.clone()), SEGMENT, 1, Some(SYSTEM));
        reader.seek(redo);
        let mut cx = RedoCx::new(&self.pool);
        let mut kinds = Vec::new();
        for _ in 0..most {
            let Some(record) = reader.read().unwrap() else { break };
            replay(&mut cx, record);
            if record.header.rmgr() == Some(RmgrId::Gist) {
                kinds.push(record.info() & 0xF0);
            }
        }
        assert!(cx.invalid().is_empty());
        kinds
    }

    /// The entries of a row.
    pub(crate) fn form(&self, value: DatumRef<'_>, tid: Tid) -> Vec<u8> {
        let mut entries = Vec::new();
        self.index.form(&Row { values: &[value], compressed: &[], tid }, &mut entries).unwrap();
        entries
    }

    pub(crate) fn insert(&self, s: &mut Session, (x, y): (i32, i32), tid: Tid) {
        self.insert_value(s, point(x, y).as_ref(), tid);
    }

    pub(crate) fn insert_value(&self, s: &mut Session, value: DatumRef<'_>, tid: Tid) {
        let entry = self.form(value, tid);
        let how = Insert { check: UniqueCheck::No, unchanged: false };
        self.index.insert(&mut s.cx(self), &entry, how, &mut NoHeap).unwrap();
    }

    /// The rows that a scan finds, which finds none twice, with their points.
    pub(crate) fn find(&self, s: &mut Session, keys: Vec<ScanKey>) -> BTreeMap<Tid, Vec<u8>> {
        let options = ScanOptions { want_tuples: true, ..ScanOptions::default() };
        let mut scan = self.index.clone().begin_scan(keys, options).unwrap();
        let mut page = ScanPage::default();
        let mut out = BTreeMap::new();
        let mut cx = s.cx(self);
        while scan.next_page(&mut cx, Direction::Forward, &mut page, None).unwrap().is_some() {
            for item in &page.items {
                assert!(!item.recheck);
                let tuple = page.tuple(item).unwrap();
                let bytes = tuple.bytes()[8..].to_vec();
                assert!(out.insert(item.tid, bytes).is_none(), "{:?} twice", item.tid);
            }
        }
        scan.end(&mut cx).unwrap();
        out
    }

    /// The rows within a square.
    pub(crate) fn within(&self, s: &mut Session, (x, y): (i32, i32), side: i32) -> BTreeSet<Tid> {
        let keys = vec![ScanKey::compare(0, WITHIN, square(x, y, side))];
        self.find(s, keys).into_keys().collect()
    }

    pub(crate) fn vacuum(
        &self,
        s: &mut Session,
        is_dead: &mut dyn FnMut(Tid) -> bool,
    ) -> access::BulkDeleteResult {
        let mut cx = s.cx(self);
        let stats = self.index.bulk_delete(&mut cx, None, is_dead).unwrap();
        self.index.vacuum_cleanup(&mut cx, Some(stats), None).unwrap().unwrap()
    }

    /// Checks the structure; returns the rows, each with its number of entries.
    pub(crate) fn verify(&self) -> BTreeMap<Tid, usize> {
        let mut tids = BTreeMap::new();
        let mut s = Session::new();
        let count = self.index.check_structure(&mut s.cx(self), &mut |tid| {
            *tids.entry(tid).or_insert(0) += 1;
            Ok(())
        });
        assert_eq!(count.unwrap() as usize, tids.values().sum::<usize>());
        tids
    }

    /// All pages as they are in the pool.
    fn pages(&self) -> Vec<PageBuf> {
        let mut s = Session::new();
        let mut cx = s.cx(self);
        let n = cx.nblocks(&self.index.file).unwrap().0;
        (0..n).map(|b| cx.pin(&self.index.file, BlockNo(b)).unwrap().share().to_buf()).collect()
    }

    /// Replays the whole log into an empty file and compares all pages. Returns the number of
    /// records of each kind.
    pub(crate) fn check_redo(&self) -> BTreeMap<u8, usize> {
        self.wal.flush(self.wal.inserted()).unwrap();
        let disk = MemDisk::new();
        directories(&disk);
        let copy = Fixture::on(disk, 256, &[]);
        let mut count = BTreeMap::new();
        for kind in copy.recover(&self.disk, START, usize::MAX) {
            *count.entry(kind).or_insert(0) += 1;
        }
        let theirs = copy.pages();
        assert!(theirs.len() <= self.pages().len());
        for (b, mut ours) in self.pages().into_iter().enumerate() {
            let Some(theirs) = theirs.get(b) else {
                assert!(ours.is_new(), "block {b} is missing after redo");
                continue;
            };
            let mut theirs = theirs.clone();
            assert_eq!(ours.lsn(), theirs.lsn(), "block {b}");
            mask(&mut ours);
            mask(&mut theirs);
            if ours.as_bytes() != theirs.as_bytes() {
                let at = (0..8192).find(|&i| ours.as_bytes()[i] != theirs.as_bytes()[i]);
                panic!("block {b} differs after redo at byte {at:?}");
            }
        }
        count
    }
}

fn replay(cx: &mut RedoCx<'_>, record: &DecodedRecord) {
    match record.header.rmgr() {
        Some(RmgrId::Gist) => redo(cx, record).unwrap(),
        Some(RmgrId::Xlog) => {
            for (id, _) in record.blocks() {
                drop(read_for_redo(cx, record, id, RedoMode::Normal).unwrap());
            }
        }
        other => panic!("{other:?}"),
    }
}

/// Pseudo-random numbers from a seed.
pub(crate) struct Rng(pub u64);

impl Rng {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
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

/// The TID of a row.
pub(crate) fn tid(row: u32) -> Tid {
    Tid::new(BlockNo(row / 100), (row % 100 + 1) as u16)
}
