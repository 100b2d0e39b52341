//! Tests of indexes in a buffer pool over an in-memory disk, with WAL. The indexed column has
//! arrays of integers.

mod build;
mod concurrent;
mod crash;
mod model;
mod postgres;

use crate::index::Flushes;
use crate::{GinIndex, mask, redo};
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
use types::{Datum, DatumRef, oids};
use vfs::{Disk, Env, MemDisk, SystemClock};
use wal::{DecodedRecord, RecordBuilder, RmgrId, Wal, WalConfig, WalReader, WalStart};

const SEGMENT: u32 = 1 << 20;
const SYSTEM: u64 = 7;
const START: Lsn = Lsn(SEGMENT as u64);
const OVERLAPS: StrategyNumber = StrategyNumber(1);
const CONTAINS: StrategyNumber = StrategyNumber(2);

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

pub(crate) struct Fixture {
    pub disk: MemDisk,
    pub wal: Arc<Wal>,
    pub smgr: Arc<Smgr>,
    pub pool: BufferPool,
    pub index: Arc<GinIndex>,
}

/// State of one session.
pub(crate) struct Session {
    scratch: RecordBuilder,
    strategy: Strategy,
}

impl Session {
    pub(crate) fn new() -> Session {
        Session { scratch: RecordBuilder::new(RmgrId::Gin, 0), strategy: Strategy::normal() }
    }

    pub(crate) fn cx<'a>(&'a mut self, w: &'a Fixture) -> Cx<'a> {
        Cx {
            pool: &w.pool,
            wal: &w.wal,
            xids: &NoXids,
            scratch: &mut self.scratch,
            strategy: &mut self.strategy,
            xid: Xid(700),
            bottom_up_deletion: true,
            limits: access::Limits { gin_pending_list: 64 << 10, ..access::Limits::DEFAULT },
            check_interrupts: &|| Ok(()),
            delay: None,
        }
    }
}

fn rel() -> RelFile {
    RelFile::new(RelFile::DEFAULT_TABLESPACE, Oid(5), Oid(20_000))
}

fn definition(rel: RelFile, options: &[(&str, &str)]) -> IndexDef {
    let attr = Attr::new(b"k", oids::INT4, 4, true, Align::Int);
    let compare = SupportFunction::Compare(types::compare::lookup("btint4cmp").unwrap().into());
    let mut column = IndexColumn::new(attr, Oid::INVALID, compare);
    let functions = [
        "ginarrayextract",
        "ginqueryarrayextract",
        "ginarrayconsistent",
        "",
        "ginarraytriconsistent",
    ];
    for (number, name) in (2..).zip(functions) {
        if let Some(function) = types::gin::lookup(name) {
            let function = SupportFunction::Gin(function, None);
            column.support.push(Support { number, oid: Oid::INVALID, function });
        }
    }
    let mut def = IndexDef::new(rel, Persistence::Permanent, ("i", "t"), vec![column], 1);
    def.options = options.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
    def
}

/// An array with these elements.
pub(crate) fn array(keys: &[i32]) -> Datum {
    let elements: Vec<Datum> = keys.iter().map(|key| Datum::int4(*key)).collect();
    types::array::of_builtin(oids::INT4, &elements).unwrap()
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
        let def = definition(rel(), options);
        let file = IndexFile::open(&pool, def.file, def.persistence);
        let index = Arc::new(GinIndex::new(file, &def, Arc::new(Flushes::default())).unwrap());
        Fixture { disk, wal, smgr, pool, index }
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
    /// of GIN indexes.
    fn recover(&self, from: &MemDisk, redo: Lsn, most: usize) -> Vec<u8> {
        let mut reader = WalReader::new(Arc::new(from.clone()), SEGMENT, 1, Some(SYSTEM));
        reader.seek(redo);
        let mut cx = RedoCx::new(&self.pool);
        let mut kinds = Vec::new();
        for _ in 0..most {
            let Some(record) = reader.read().unwrap() else { break };
            replay(&mut cx, record);
            if record.header.rmgr() == Some(RmgrId::Gin) {
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

    pub(crate) fn insert(&self, s: &mut Session, keys: &[i32], tid: Tid) {
        self.insert_value(s, array(keys).as_ref(), tid);
    }

    pub(crate) fn insert_value(&self, s: &mut Session, value: DatumRef<'_>, tid: Tid) {
        let entries = self.form(value, tid);
        let how = Insert { check: UniqueCheck::No, unchanged: false };
        self.index.insert(&mut s.cx(self), &entries, how, &mut NoHeap).unwrap();
    }

    /// The rows that a scan with this condition finds, and whether they must be checked.
    pub(crate) fn find(
        &self,
        s: &mut Session,
        strategy: StrategyNumber,
        keys: &[i32],
    ) -> BTreeMap<Tid, bool> {
        let keys = vec![ScanKey::compare(0, strategy, array(keys))];
        let mut scan = self.index.clone().begin_scan(keys, ScanOptions::default()).unwrap();
        let mut page = ScanPage::default();
        let mut out = BTreeMap::new();
        let mut cx = s.cx(self);
        while scan.next_page(&mut cx, Direction::Forward, &mut page, None).unwrap().is_some() {
            for item in &page.items {
                *out.entry(item.tid).or_insert(false) |= item.recheck;
            }
        }
        scan.end(&mut cx).unwrap();
        out
    }

    /// The rows with a key.
    pub(crate) fn rows_of(&self, s: &mut Session, key: i32) -> BTreeSet<Tid> {
        let found = self.find(s, CONTAINS, &[key]);
        assert!(found.values().all(|recheck| !recheck));
        found.into_keys().collect()
    }

    pub(crate) fn vacuum(&self, s: &mut Session, is_dead: &mut dyn FnMut(Tid) -> bool) {
        let mut cx = s.cx(self);
        let stats = self.index.delete_dead(&mut cx, None, is_dead).unwrap();
        self.index.finish_vacuum(&mut cx, Some(stats), None).unwrap();
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
        Some(RmgrId::Gin) => redo(cx, record).unwrap(),
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
