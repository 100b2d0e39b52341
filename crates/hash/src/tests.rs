//! Tests of indexes in a buffer pool over an in-memory disk, with WAL.

mod concurrent;
mod crash;
mod model;
mod postgres;

use crate::{HashIndex, mask, redo};
use access::{
    Cx, DeleteOp, Direction, DirtyState, HeapLiveness, IndexColumn, IndexDef, IndexFile, IndexScan,
    ScanKey, ScanOptions, ScanPage, SupportFunction, Xids, strategy,
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
use types::hash::{Hasher, hash_uint32};
use types::{Datum, DatumRef};
use vfs::{Disk, Env, MemDisk, SystemClock};
use wal::{DecodedRecord, RecordBuilder, RmgrId, Wal, WalConfig, WalReader, WalStart};

const SEGMENT: u32 = 1 << 20;
const SYSTEM: u64 = 7;
const START: Lsn = Lsn(SEGMENT as u64);

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
    pub index: Arc<HashIndex>,
}

/// State of one session.
pub(crate) struct Session {
    scratch: RecordBuilder,
    strategy: Strategy,
}

impl Session {
    pub(crate) fn new() -> Session {
        Session { scratch: RecordBuilder::new(RmgrId::Hash, 0), strategy: Strategy::normal() }
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
            limits: access::Limits::DEFAULT,
            check_interrupts: &|| Ok(()),
            delay: None,
        }
    }
}

fn int4_hash(value: DatumRef<'_>, _collation: Oid) -> u32 {
    match value {
        DatumRef::Word(word) => hash_uint32(word as u32),
        _ => 0,
    }
}

fn rel() -> RelFile {
    RelFile::new(RelFile::DEFAULT_TABLESPACE, Oid(5), Oid(20_000))
}

fn definition(rel: RelFile, fillfactor: u32) -> IndexDef {
    let attr = Attr::new(b"k", Oid(23), 4, true, Align::Int);
    let hash = SupportFunction::Hash(Hasher::Plain(int4_hash));
    let columns = vec![IndexColumn::new(attr, Oid::INVALID, hash)];
    let mut def = IndexDef::new(rel, Persistence::Permanent, ("i", "t"), columns, 1);
    def.options.push(("fillfactor".into(), fillfactor.to_string().into()));
    def
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
    fn on(disk: MemDisk, frames: usize, fillfactor: u32) -> Fixture {
        let mut env = Env::memory(1);
        env.disk = Arc::new(disk.clone());
        let mut config = WalConfig::new(SEGMENT, SYSTEM);
        config.buffers = 64;
        let wal = Wal::new(env, config);
        let smgr = Arc::new(Smgr::new(Arc::new(disk.clone()), SmgrConfig::default()));
        let pool =
            BufferPool::new(PoolConfig::new(frames), smgr.clone(), Some(wal.clone())).unwrap();
        let def = Arc::new(definition(rel(), fillfactor));
        let file = IndexFile::open(&pool, def.file, def.persistence);
        let index = Arc::new(HashIndex::new(file, &def).unwrap());
        Fixture { disk, wal, smgr, pool, index }
    }

    fn start_log(&self, end: Lsn, prev: Lsn) {
        let start = WalStart { timeline: 1, end, prev, redo: end, overwrite: false };
        self.wal.start(start).unwrap();
    }

    /// With an index for `rows` rows.
    pub(crate) fn new(frames: usize, fillfactor: u32, rows: f64) -> Fixture {
        let disk = MemDisk::new();
        directories(&disk);
        let w = Fixture::on(disk, frames, fillfactor);
        w.start_log(START, Lsn(0));
        w.smgr.create(RelFork::new(rel(), Fork::Main), false).unwrap();
        w.index.init(&mut Session::new().cx(&w), &w.index.file, rows).unwrap();
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

    /// Replays at most `most` records of the log from `redo` on. Returns the kinds of its hash
    /// records.
    fn recover(&self, from: &MemDisk, redo: Lsn, most: usize) -> Vec<u8> {
        let mut reader = WalReader::new(Arc::new(from.clone()), SEGMENT, 1, Some(SYSTEM));
        reader.seek(redo);
        let mut cx = RedoCx::new(&self.pool);
        let mut kinds = Vec::new();
        for _ in 0..most {
            let Some(record) = reader.read().unwrap() else { break };
            replay(&mut cx, record);
            if record.header.rmgr() == Some(RmgrId::Hash) {
                kinds.push(record.info() & 0xF0);
            }
        }
        assert!(cx.invalid().is_empty());
        kinds
    }

    pub(crate) fn insert(&self, s: &mut Session, key: i32, tid: Tid, heap: &mut TestHeap) {
        let tuple = page::hash::tuple(hash_uint32(key as u32), tid);
        self.index.insert_tuple(&mut s.cx(self), &tuple, Some(heap)).unwrap();
    }

    pub(crate) fn scan(&self, key: i32) -> Box<dyn IndexScan> {
        use access::Index;
        let keys = vec![ScanKey::compare(0, strategy::hash::EQUAL, Datum::int4(key))];
        self.index.clone().begin_scan(keys, ScanOptions::default()).unwrap()
    }

    /// The rows that a scan for `key` finds; those of `kill` are marked dead.
    pub(crate) fn find(&self, s: &mut Session, key: i32, kill: &BTreeSet<Tid>) -> BTreeSet<Tid> {
        let mut scan = self.scan(key);
        let mut page = ScanPage::default();
        let mut out = BTreeSet::new();
        let mut cx = s.cx(self);
        while scan.next_page(&mut cx, Direction::Forward, &mut page, None).unwrap().is_some() {
            for (n, item) in page.items.iter().enumerate() {
                assert!(item.recheck && out.insert(item.tid), "{} twice", item.tid);
                if kill.contains(&item.tid) {
                    scan.kill(n, item);
                }
            }
        }
        scan.end(&mut cx).unwrap();
        out
    }

    pub(crate) fn vacuum(&self, s: &mut Session, dead: &BTreeSet<Tid>) -> f64 {
        let stats = self.index.delete_dead(&mut s.cx(self), None, &mut |tid| dead.contains(&tid));
        stats.unwrap().num_index_tuples
    }

    /// Checks the structure; returns the rows.
    pub(crate) fn verify(&self) -> BTreeSet<Tid> {
        let mut tids = BTreeSet::new();
        let mut s = Session::new();
        let count = self.index.check_structure(&mut s.cx(self), &mut |tid| {
            assert!(tids.insert(tid), "{tid} twice");
            Ok(())
        });
        assert_eq!(count.unwrap() as usize, tids.len());
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
        let copy = Fixture::on(disk, 256, 75);
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
        Some(RmgrId::Hash) => redo(cx, record).unwrap(),
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

/// A table whose rows may be deleted from the index when it asks.
#[derive(Default)]
pub(crate) struct TestHeap {
    pub deletions: usize,
}

impl HeapLiveness for TestHeap {
    fn dirty_state(&mut self, _tid: Tid) -> Result<DirtyState> {
        Ok(DirtyState::Live)
    }

    fn is_live_self(&mut self, _tid: Tid) -> Result<bool> {
        Ok(true)
    }

    fn delete_candidates(&mut self, op: &mut DeleteOp) -> Result<Xid> {
        assert!(op.candidates.iter().all(|c| c.deletable));
        self.deletions += 1;
        Ok(Xid(77))
    }
}
