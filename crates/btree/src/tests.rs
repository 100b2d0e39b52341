//! Tests of indexes in a buffer pool over an in-memory disk, with WAL.

mod build;
mod concurrent;
mod model;
mod postgres;
mod scans;
mod unique;

use crate::*;
use access::{
    AllVisible, Cx, DeleteOp, Direction, DirtyState, HeapLiveness, IndexScan, Inserted, RowMember,
    ScanItem, ScanKey, ScanOptions, ScanPage, StrategyNumber, UniqueCheck, Xids,
};
use bufmgr::redo::RedoCx;
use bufmgr::{BufferPool, PoolConfig, Strategy};
use ids::{BlockNo, Fork, FullXid, Lsn, Oid, Persistence, RelFile, Tid, Xid};
use page::PageBuf;
use page::tupdesc::{Align, Attr};
use pgerror::Result;
use smgr::{RelFork, Smgr, SmgrConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use sync::Arc;
use types::DatumRef;
use types::compare::{btint4cmp, bttextcmp_c};
use vfs::{Disk, Env, MemDisk};
use wal::{RecordBuilder, Wal, WalConfig, WalReader, WalStart};

const SEGMENT: u32 = 1 << 20;
static NEXT_REL: AtomicU32 = AtomicU32::new(20_000);

/// Transaction ids under the control of a test.
pub(crate) struct TestXids {
    pub next: AtomicU64,
    pub horizon: AtomicU64,
    /// By thread: the id to which its running operation holds back the horizon.
    pub slots: [AtomicU64; 8],
}

impl TestXids {
    fn new() -> TestXids {
        TestXids {
            next: AtomicU64::new(1000),
            horizon: AtomicU64::new(0),
            slots: std::array::from_fn(|_| AtomicU64::new(u64::MAX)),
        }
    }

    /// Begins an operation of thread number `slot`.
    pub(crate) fn enter(&self, slot: usize) {
        self.slots[slot].store(self.next.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    pub(crate) fn leave(&self, slot: usize) {
        self.slots[slot].store(u64::MAX, Ordering::SeqCst);
    }
}

impl Xids for TestXids {
    fn next_full_xid(&self) -> FullXid {
        FullXid(self.next.load(Ordering::SeqCst))
    }
    fn is_removable(&self, xid: FullXid) -> bool {
        let held = self.slots.iter().all(|s| xid.0 < s.load(Ordering::SeqCst));
        held && xid.0 < self.horizon.load(Ordering::SeqCst)
    }
}

pub(crate) struct Fixture {
    pub disk: Arc<MemDisk>,
    pub wal: Arc<Wal>,
    pub pool: BufferPool,
    pub xids: TestXids,
    pub index: Arc<crate::Index>,
}

/// State of one session.
pub(crate) struct Session {
    scratch: RecordBuilder,
    strategy: Strategy,
}

impl Session {
    pub(crate) fn new() -> Session {
        Session { scratch: RecordBuilder::new(wal::RmgrId::Btree, 0), strategy: Strategy::normal() }
    }

    pub(crate) fn cx<'a>(&'a mut self, w: &'a Fixture) -> Cx<'a> {
        Cx {
            pool: &w.pool,
            wal: &w.wal,
            xids: &w.xids,
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

/// A scan with its current page, item by item.
pub(crate) struct TestScan {
    scan: Box<dyn IndexScan>,
    page: ScanPage,
    at: usize,
    mark: Option<(ScanPage, usize)>,
    /// The current page is the marked one.
    on_mark: bool,
}

impl TestScan {
    pub(crate) fn new(w: &Fixture, keys: Vec<ScanKey>, options: ScanOptions) -> TestScan {
        let scan = access::Index::begin_scan(w.index.clone(), keys, options).unwrap();
        TestScan { scan, page: ScanPage::default(), at: 0, mark: None, on_mark: false }
    }

    pub(crate) fn next(
        &mut self,
        cx: &mut Cx<'_>,
        dir: Direction,
        mut all_visible: Option<AllVisible<'_>>,
    ) -> Option<ScanItem> {
        let at = match dir {
            Direction::Forward => self.at + 1,
            Direction::Backward => self.at.wrapping_sub(1),
        };
        if at < self.page.items.len() {
            self.at = at;
        } else {
            self.on_mark = false;
            self.page.clear();
            while self.page.items.is_empty() {
                let visible: Option<AllVisible<'_>> = match &mut all_visible {
                    Some(f) => Some(&mut **f),
                    None => None,
                };
                self.scan.next_page(cx, dir, &mut self.page, visible).unwrap()?;
            }
            self.at = dir.first_of(self.page.items.len());
        }
        Some(self.page.items[self.at])
    }

    pub(crate) fn tuple(&self, item: &ScanItem) -> Option<page::index_tuple::IndexTuple<'_>> {
        self.page.tuple(item)
    }

    pub(crate) fn kill_current(&mut self) {
        self.scan.kill(self.at, &self.page.items[self.at]);
    }

    pub(crate) fn mark(&mut self) {
        self.scan.mark();
        self.mark = Some((self.page.clone(), self.at));
        self.on_mark = true;
    }

    pub(crate) fn restore(&mut self, cx: &mut Cx<'_>) {
        if !self.on_mark {
            self.scan.restore(cx).unwrap();
        }
        let (page, at) = self.mark.clone().unwrap();
        (self.page, self.at, self.on_mark) = (page, at, true);
    }

    pub(crate) fn rescan_values(&mut self, cx: &mut Cx<'_>, values: &[DatumRef<'_>]) {
        self.scan.rescan_values(cx, values).unwrap();
        self.page.clear();
    }

    pub(crate) fn end(&mut self, cx: &mut Cx<'_>) {
        self.scan.end(cx).unwrap();
        self.page.clear();
    }
}

fn memory() -> (Arc<MemDisk>, Env) {
    let disk = Arc::new(MemDisk::new());
    let mut env = Env::memory(1);
    env.disk = disk.clone();
    for dir in ["pg_wal", "base", "base/5"] {
        disk.create_dir(dir).unwrap();
        disk.sync_dir(".").unwrap();
    }
    (disk, env)
}

impl Fixture {
    pub(crate) fn new(schema: KeySchema, frames: usize) -> Fixture {
        let (disk, env) = memory();
        let mut config = WalConfig::new(SEGMENT, 7);
        config.buffers = 64;
        let wal = Wal::new(env.clone(), config);
        let at = Lsn(u64::from(SEGMENT));
        wal.start(WalStart { timeline: 1, end: at, prev: Lsn(0), redo: at, overwrite: false })
            .unwrap();
        let smgr = Arc::new(Smgr::new(disk.clone(), SmgrConfig::default()));
        let rel = RelFile::new(
            RelFile::DEFAULT_TABLESPACE,
            Oid(5),
            Oid(NEXT_REL.fetch_add(1, Ordering::SeqCst)),
        );
        smgr.create(RelFork::new(rel, Fork::Main), false).unwrap();
        smgr.create(RelFork::new(rel, Fork::Fsm), false).unwrap();
        let pool =
            BufferPool::new(PoolConfig::new(frames), smgr.clone(), Some(wal.clone())).unwrap();
        let mut sink = |block: BlockNo, mut page: PageBuf| {
            assert_eq!(block, BlockNo(0));
            page.set_checksum(block);
            smgr.extend(RelFork::new(rel, Fork::Main), block, page.as_bytes())
        };
        BulkLoader::new(&schema, "i", "t", &mut sink).finish().unwrap();
        let cycles = Arc::new(VacuumCycles::new(0));
        let permanent = Persistence::Permanent;
        let index = crate::Index::open(&pool, rel, permanent, "i", "t", schema, cycles);
        let index = Arc::new(index);
        let xids = TestXids::new();
        Fixture { disk, wal, pool, xids, index }
    }

    /// The index before it is shared.
    pub(crate) fn index_mut(&mut self) -> &mut crate::Index {
        Arc::get_mut(&mut self.index).unwrap()
    }

    /// All pages as they are in the pool.
    pub(crate) fn pages(&self) -> Vec<PageBuf> {
        let mut s = Session::new();
        let mut cx = s.cx(self);
        let n = cx.nblocks(&self.index.file).unwrap().0;
        (0..n).map(|b| cx.pin(&self.index.file, BlockNo(b)).unwrap().share().to_buf()).collect()
    }

    /// Replays the log into an empty file and compares all pages. Returns the number of records of
    /// each kind.
    pub(crate) fn check_redo(&self) -> BTreeMap<u8, usize> {
        self.wal.flush(self.wal.inserted()).unwrap();
        let (disk, _env) = memory();
        let smgr = Arc::new(Smgr::new(disk, SmgrConfig::default()));
        let fork = RelFork::new(self.index.file.rel, Fork::Main);
        smgr.create(fork, false).unwrap();
        let mut meta = PageBuf::new();
        page::btree::Meta::new(BlockNo(0), 0, self.index.schema.allequalimage).init(&mut meta);
        meta.set_checksum(BlockNo(0));
        smgr.extend(fork, BlockNo(0), meta.as_bytes()).unwrap();
        let pool = BufferPool::new(PoolConfig::new(256), smgr, None).unwrap();
        let mut cx = RedoCx::new(&pool);
        let mut reader = WalReader::new(self.disk.clone(), SEGMENT, 1, Some(7));
        reader.seek(Lsn(u64::from(SEGMENT)));
        let mut count = BTreeMap::new();
        while let Some(record) = reader.read().unwrap() {
            if record.header.rmid == wal::RmgrId::Btree as u8 {
                redo(&mut cx, record).unwrap();
                *count.entry(record.info()).or_insert(0) += 1;
            }
        }
        let handle = pool.open(self.index.file.rel, Fork::Main, Persistence::Permanent);
        let mut strategy = Strategy::normal();
        for (b, mut ours) in self.pages().into_iter().enumerate() {
            if ours.is_new() {
                continue;
            }
            let pin = pool.read(&handle, BlockNo(b as u32), &mut strategy).unwrap();
            let mut theirs = pin.share().to_buf();
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

    pub(crate) fn verify(&self) -> (VerifyStats, BTreeSet<Tid>) {
        let mut s = Session::new();
        let mut tids = BTreeSet::new();
        let stats = self
            .index
            .verify(&mut s.cx(self), &mut |_, tid| {
                assert!(tids.insert(tid), "{tid} twice");
                Ok(())
            })
            .unwrap();
        (stats, tids)
    }
}

pub(crate) fn int4_column() -> KeyColumn {
    KeyColumn {
        cmp: types::Comparer::Plain(btint4cmp),
        desc: false,
        nulls_first: false,
        collation: Oid::INVALID,
        attr: Attr::new(b"k", Oid(23), 4, true, Align::Int),
    }
}

pub(crate) fn text_column() -> KeyColumn {
    KeyColumn {
        cmp: types::Comparer::Plain(bttextcmp_c),
        desc: false,
        nulls_first: false,
        collation: Oid(950),
        attr: Attr::new(b"t", Oid(25), -1, false, Align::Int),
    }
}

pub(crate) fn int4_schema() -> KeySchema {
    let mut s = KeySchema::new(vec![int4_column()], 1);
    s.allequalimage = true;
    s
}

pub(crate) fn form(schema: &KeySchema, values: &[DatumRef<'_>], tid: Tid) -> Vec<u8> {
    let mut out = Vec::new();
    schema.form(values, tid, &mut out).unwrap();
    out
}

pub(crate) fn int(v: i32) -> DatumRef<'static> {
    DatumRef::Word(i64::from(v) as u64)
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

/// A table whose rows are live unless they are in `dead`.
#[derive(Default)]
pub(crate) struct TestHeap {
    pub dead: BTreeSet<Tid>,
    /// Rows whose inserting transaction is running.
    pub in_progress: BTreeSet<Tid>,
    pub deletions: usize,
}

impl HeapLiveness for TestHeap {
    fn dirty_state(&mut self, tid: Tid) -> Result<DirtyState> {
        Ok(if self.dead.contains(&tid) {
            DirtyState::Dead { all_dead: true }
        } else if self.in_progress.contains(&tid) {
            DirtyState::InProgress { xid: Xid(5), speculative: None }
        } else {
            DirtyState::Live
        })
    }

    fn is_live_self(&mut self, _tid: Tid) -> Result<bool> {
        Ok(true)
    }

    fn delete_candidates(&mut self, op: &mut DeleteOp) -> Result<Xid> {
        self.deletions += 1;
        for c in &mut op.candidates {
            if self.dead.contains(&c.tid) {
                c.deletable = true;
            }
        }
        if op.bottom_up {
            op.candidates.retain(|c| c.deletable);
            op.candidates.reverse();
        }
        Ok(Xid(77))
    }
}
