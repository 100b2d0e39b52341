//! Tests of the heap with several sessions, over a buffer pool, WAL and an in-memory disk.

mod model;
mod ops;

use crate::redo::{heap_redo, heap2_redo};
use crate::*;
use bufmgr::redo::RedoCx;
use bufmgr::{BufferPool, PoolConfig, Strategy};
use ids::code::ColumnStorage;
use ids::{AttrNo, BlockNo, CommandId, Fork, Lsn, MultiXid, Oid, Persistence, RelFile, Tid, Xid};
use lmgr::LockManager;
use page::heap_tuple::infomask as m;
use page::{Align, Attr, Deformer, HeapTuple, PageBuf, TupleDesc, Value, form};
use smgr::{RelFork, Smgr, SmgrConfig};
use sync::Arc;
use sync::wait::Waiter;
use txn::{HorizonKind, Isolation, Snapshot, Transaction, TxnConfig, TxnManager, XactExtras};
use vfs::{Disk, Env, MemDisk};
use wal::{CheckPoint, RecordBuilder, RmgrId, Wal, WalConfig, WalReader, WalStart};

const SEGMENT: u32 = 1 << 20;
const DB: Oid = Oid(5);

struct Fixture {
    disk: Arc<MemDisk>,
    wal: Arc<Wal>,
    manager: Arc<TxnManager>,
    pool: BufferPool,
    rel: HeapRel,
    desc: TupleDesc,
    deformer: Deformer,
}

fn memory() -> (Arc<MemDisk>, Env) {
    let disk = Arc::new(MemDisk::new());
    let mut env = Env::memory(1);
    env.disk = disk.clone();
    for dir in ["pg_wal", "pg_xact", "pg_subtrans", "pg_multixact", "base", "base/5"] {
        disk.create_dir(dir).unwrap();
    }
    for dir in ["pg_multixact/offsets", "pg_multixact/members"] {
        disk.create_dir(dir).unwrap();
    }
    for dir in [".", "pg_multixact", "base"] {
        disk.sync_dir(dir).unwrap();
    }
    (disk, env)
}

fn first_checkpoint() -> CheckPoint {
    CheckPoint {
        redo: Lsn(u64::from(SEGMENT)),
        timeline: 1,
        prev_timeline: 1,
        full_page_writes: true,
        next_xid: ids::FullXid(3),
        next_oid: Oid(16384),
        next_multi: MultiXid(1),
        next_multi_offset: 0,
        oldest_xid: Xid(3),
        oldest_xid_db: Oid(1),
        oldest_multi: MultiXid(1),
        oldest_multi_db: Oid(1),
        time: 0,
        oldest_commit_ts_xid: Xid(0),
        newest_commit_ts_xid: Xid(0),
        oldest_active_xid: Xid(0),
    }
}

/// id int4, n int4, t text.
fn table() -> TupleDesc {
    let mut text = Attr::new(b"t", Oid(25), -1, false, Align::Int);
    text.storage = ColumnStorage::Extended;
    TupleDesc::new(vec![
        Attr::new(b"id", Oid(23), 4, true, Align::Int),
        Attr::new(b"n", Oid(23), 4, true, Align::Int),
        text,
    ])
}

const FILE: RelFile = RelFile::new(RelFile::DEFAULT_TABLESPACE, DB, Oid(20_000));

fn open_rel(pool: &BufferPool) -> HeapRel {
    let open = |fork| pool.open(FILE, fork, Persistence::Permanent);
    HeapRel {
        oid: Oid(20_000),
        database: DB,
        file: FILE,
        main: open(Fork::Main),
        fsm: open(Fork::Fsm),
        vm: open(Fork::Vm),
        name: "t".into(),
        persistence: Persistence::Permanent,
        fillfactor: 100,
        horizon: HorizonKind::Data,
        is_toast: false,
        is_catalog: false,
        targets: Default::default(),
    }
}

impl Fixture {
    fn new() -> Fixture {
        let (disk, env) = memory();
        let mut config = WalConfig::new(SEGMENT, 7);
        config.buffers = 64;
        let wal = Wal::new(env.clone(), config);
        let txn_config =
            TxnConfig { slots: 16, clog_pages: 8, subtrans_pages: 8, ..TxnConfig::default() };
        let locks = LockManager::new(txn_config.slots);
        let manager = TxnManager::new(env.clone(), wal.clone(), locks, txn_config);
        manager.bootstrap().unwrap();
        manager.checkpoint().unwrap();
        manager.startup(&first_checkpoint()).unwrap();
        let at = Lsn(u64::from(SEGMENT));
        let start = WalStart { timeline: 1, end: at, prev: Lsn(0), redo: at, overwrite: false };
        wal.start(start).unwrap();
        manager.end_recovery(None).unwrap();
        let smgr = Arc::new(Smgr::new(disk.clone(), SmgrConfig::default()));
        smgr.create(RelFork::new(FILE, Fork::Main), false).unwrap();
        let pool = BufferPool::new(PoolConfig::new(256), smgr, Some(wal.clone())).unwrap();
        let rel = open_rel(&pool);
        let desc = table();
        let deformer = Deformer::new(&desc);
        Fixture { disk, wal, manager, pool, rel, desc, deformer }
    }

    fn connect(&self) -> Session {
        let txn = self.manager.connect(1, DB, Oid(1663), Arc::new(Waiter::new())).unwrap();
        let waits = SessionWaits(txn.waits());
        Session {
            txn,
            waits,
            scratch: RecordBuilder::new(RmgrId::Heap, 0),
            strategy: Strategy::normal(),
        }
    }

    fn tuple(&self, id: i32, n: i32, text: &str) -> Vec<u8> {
        let word = |v: i32| Value::Word(v as i64 as u64);
        form::form(&self.desc, &[word(id), word(n), Value::Bytes(text.as_bytes())]).unwrap()
    }

    fn row(&self, tuple: &HeapTuple<'_>) -> Row {
        let v = self.deformer.deform_all(tuple).unwrap();
        let int = |v: Value<'_>| v.word().unwrap() as i32;
        (int(v[0]), int(v[1]), String::from_utf8(v[2].bytes().unwrap().to_vec()).unwrap())
    }

    /// Updates of `n` may be HOT, since it is not indexed; updates of `id` may not.
    fn columns(&self) -> Columns<'_> {
        const ID: &[AttrNo] = &[1];
        Columns { deformer: &self.deformer, hot_blocking: ID, key: ID }
    }

    fn pages(&self, pool: &BufferPool, fork: Fork) -> Vec<PageBuf> {
        let handle = pool.open(FILE, fork, Persistence::Permanent);
        if !pool.smgr().exists(handle.name()).unwrap() {
            return Vec::new();
        }
        let mut s = Strategy::normal();
        let n = pool.nblocks(&handle).unwrap();
        (0..n).map(|b| pool.read(&handle, BlockNo(b), &mut s).unwrap().share().to_buf()).collect()
    }

    /// Replays the log into an empty file. All heap pages must be equal except for hints, and so
    /// must the visibility map. Returns the number of records by resource manager and operation.
    fn check_redo(&self) -> std::collections::BTreeMap<(u8, u8), usize> {
        self.wal.flush(self.wal.inserted()).unwrap();
        let (disk, _) = memory();
        let smgr = Arc::new(Smgr::new(disk, SmgrConfig::default()));
        smgr.create(RelFork::new(FILE, Fork::Main), false).unwrap();
        let pool = BufferPool::new(PoolConfig::new(256), smgr, None).unwrap();
        let mut cx = RedoCx::new(&pool);
        let mut reader = WalReader::new(self.disk.clone(), SEGMENT, 1, Some(7));
        reader.seek(Lsn(u64::from(SEGMENT)));
        let mut count = std::collections::BTreeMap::new();
        while let Some(record) = reader.read().unwrap() {
            let kind = record.info() & crate::record::OPERATION_MASK;
            match record.header.rmgr() {
                Some(RmgrId::Heap) => heap_redo(&mut cx, record).unwrap(),
                Some(RmgrId::Heap2) => heap2_redo(&mut cx, record).unwrap(),
                Some(RmgrId::Xlog) => {
                    // Page images, of hints among others.
                    for (id, _) in record.blocks() {
                        let mode = bufmgr::redo::RedoMode::Normal;
                        bufmgr::redo::read_for_redo(&mut cx, record, id, mode).unwrap();
                    }
                }
                _ => continue,
            }
            *count.entry((record.header.rmid, kind)).or_insert(0) += 1;
        }
        assert!(cx.invalid().is_empty());
        let (mut ours, mut redone) =
            (self.pages(&self.pool, Fork::Main), self.pages(&pool, Fork::Main));
        // Pages that were added and not used are not in the log.
        while ours.last().is_some_and(|p| p.max_offset() == 0 && ours.len() > redone.len()) {
            ours.pop();
        }
        assert_eq!(ours.len(), redone.len());
        for (block, (a, b)) in ours.iter_mut().zip(&mut redone).enumerate() {
            mask(a);
            mask(b);
            if a.as_bytes() != b.as_bytes() {
                let at = a.as_bytes().iter().zip(b.as_bytes()).position(|(x, y)| x != y).unwrap();
                panic!(
                    "page {block} differs at byte {at}; lines {:?} and {:?}",
                    (1..=a.max_offset()).map(|o| a.line_pointer(o)).collect::<Vec<_>>(),
                    (1..=b.max_offset()).map(|o| b.line_pointer(o)).collect::<Vec<_>>()
                );
            }
        }
        let (ours, redone) = (self.pages(&self.pool, Fork::Vm), self.pages(&pool, Fork::Vm));
        for (a, b) in ours.iter().zip(&redone) {
            assert_eq!(a.as_bytes()[24..], b.as_bytes()[24..], "visibility map");
        }
        count
    }
}

/// Clears what redo does not restore: hints, command ids, speculative tokens, unused space.
/// Counterpart: `heap_mask`.
fn mask(page: &mut PageBuf) {
    page.set_lsn(Lsn(0));
    page.set_prune_xid(Xid(0));
    page.set_full(false);
    page.set_flag(page::header::PD_HAS_FREE_LINES, false);
    page.set_checksum_field(0);
    let (lower, upper) = (page.lower(), page.upper());
    page.bytes_mut()[lower..upper].fill(0);
    for offset in 1..=page.max_offset() {
        let Some(mut h) = page.heap_header(offset) else { continue };
        h.infomask &= !(m::XMIN_COMMITTED | m::XMAX_COMMITTED | m::XMAX_INVALID | m::COMBOCID);
        if !h.xmin_frozen() {
            h.infomask &= !m::XMIN_INVALID;
        }
        h.raw_cid = CommandId(0);
        if h.is_speculative() {
            h.ctid = Tid::new(BlockNo(0), 0);
        }
        page.set_heap_header(offset, &h);
        let lp = page.line_pointer(offset);
        let end = lp.offset() + lp.len();
        page.bytes_mut()[end..page::max_align(end)].fill(0);
    }
}

type Row = (i32, i32, String);

struct Session {
    txn: Transaction,
    waits: SessionWaits,
    scratch: RecordBuilder,
    strategy: Strategy,
}

type Outcome<T> = std::result::Result<T, TmResult>;

impl Session {
    fn cx<'a>(&'a mut self, w: &'a Fixture) -> HeapCx<'a> {
        HeapCx {
            pool: &w.pool,
            wal: &w.wal,
            txn: &mut self.txn,
            wait: &mut self.waits,
            scratch: &mut self.scratch,
            strategy: &mut self.strategy,
            update_delta: true,
            current_offset: 0,
        }
    }

    fn begin(&mut self) {
        self.txn.begin(Isolation::ReadCommitted, 0);
    }

    fn commit(&mut self) {
        self.txn.commit(&XactExtras::default(), true, 1).unwrap();
        self.txn.release_locks();
    }

    fn abort(&mut self) {
        self.txn.abort(&XactExtras::default()).unwrap();
        self.txn.release_locks();
    }

    fn snapshot(&mut self) -> Arc<Snapshot> {
        self.txn.latest_snapshot()
    }

    /// Starts the next command.
    fn next_command(&mut self) {
        self.txn.command_counter_increment().unwrap();
    }

    fn insert(&mut self, w: &Fixture, id: i32, n: i32, text: &str) -> Tid {
        let cid = self.txn.current_command(true);
        let mut tuple = w.tuple(id, n, text);
        let tid = insert(&mut self.cx(w), &w.rel, &mut tuple, cid, InsertOptions::default(), None)
            .unwrap();
        self.next_command();
        tid
    }

    fn delete(&mut self, w: &Fixture, tid: Tid, wait: bool) -> Outcome<()> {
        let cid = self.txn.current_command(true);
        let options = DeleteOptions { wait, ..DeleteOptions::default() };
        let result = delete(&mut self.cx(w), &w.rel, tid, cid, options).unwrap();
        self.next_command();
        result.map_err(|(r, _)| r)
    }

    fn update(
        &mut self,
        w: &Fixture,
        tid: Tid,
        new: (i32, i32, &str),
        wait: bool,
    ) -> Outcome<Updated> {
        let cid = self.txn.current_command(true);
        let mut tuple = w.tuple(new.0, new.1, new.2);
        let options = UpdateOptions { columns: w.columns(), crosscheck: None, wait };
        let result = update(&mut self.cx(w), &w.rel, tid, &mut tuple, cid, &options).unwrap();
        self.next_command();
        result.map_err(|(r, _, _)| r)
    }

    fn lock(&mut self, w: &Fixture, tid: Tid, mode: TupleLockMode) -> Outcome<()> {
        let cid = self.txn.current_command(true);
        let options = LockOptions { mode, policy: WaitPolicy::Skip, follow_updates: true };
        let mut out = Vec::new();
        let result = lock_tuple(&mut self.cx(w), &w.rel, tid, cid, options, &mut out).unwrap();
        self.next_command();
        result.map_err(|(r, _)| r)
    }

    /// Rows that are visible to a new snapshot, with their TIDs, ordered by id.
    fn scan(&mut self, w: &Fixture) -> Vec<(Tid, Row)> {
        let snapshot = self.snapshot();
        self.scan_with(w, &snapshot)
    }

    fn scan_with(&mut self, w: &Fixture, snapshot: &Snapshot) -> Vec<(Tid, Row)> {
        let mut rows = Vec::new();
        let n = w.pool.nblocks(&w.rel.main).unwrap();
        let mut order = scan::BlockOrder::new(n, BlockNo(n / 2), false);
        while let Some(block) = order.next_block() {
            let visit = scan::Visit::WHOLE;
            scan::visit_page(&mut self.cx(w), &w.rel, block, snapshot, visit, |offset, tuple| {
                rows.push((Tid::new(block, offset), w.row(&tuple)));
                Ok(true)
            })
            .unwrap();
        }
        rows.sort_by_key(|r| r.1.0);
        rows
    }

    fn header(&mut self, w: &Fixture, tid: Tid) -> page::HeapTupleHeader {
        let guard = w.pool.read(&w.rel.main, tid.block, &mut self.strategy).unwrap().share();
        guard.heap_header(tid.offset).unwrap()
    }

    /// A VACUUM of the table. `no_indexes`: the table has no indexes.
    fn vacuum(&mut self, w: &Fixture, cutoffs: &freeze::Cutoffs, no_indexes: bool) -> u32 {
        self.vacuum_from(w, BlockNo(0), cutoffs, no_indexes)
    }

    /// As [`Session::vacuum`], of the blocks from `first` on.
    fn vacuum_from(
        &mut self,
        w: &Fixture,
        first: BlockNo,
        cutoffs: &freeze::Cutoffs,
        no_indexes: bool,
    ) -> u32 {
        let n = w.pool.nblocks(&w.rel.main).unwrap();
        let mut kept = freeze::Kept { xid: cutoffs.oldest_xmin, multi: w.manager.next_multixact() };
        let mut removed = 0;
        for block in (first.0..n).map(BlockNo) {
            let mut cx = self.cx(w);
            let mut slot = None;
            hio::pin_vm(&mut cx, &w.rel, block, &mut slot).unwrap();
            let mut copy = None;
            let bits =
                visibility_map::status(cx.pool, &w.rel, block, &mut copy, cx.strategy).unwrap();
            drop(copy);
            let pin = cx.pool.read(&w.rel.main, block, cx.strategy).unwrap();
            let Ok(mut guard) = pin.try_cleanup() else { panic!("no other pin exists") };
            if vacuum::new_or_empty(&mut cx, &w.rel, &mut guard, &slot).unwrap() {
                continue;
            }
            let map = vacuum::MapPage { bits, pin: &slot };
            let report =
                vacuum::scan_page(&mut cx, &w.rel, &mut guard, cutoffs, map, &mut kept, no_indexes)
                    .unwrap();
            drop(guard);
            assert_eq!(report.warnings, Vec::<String>::new());
            removed += report.removed_tuples;
            if !report.dead.is_empty() {
                let oldest = cutoffs.oldest_xmin;
                vacuum::free_dead(&mut cx, &w.rel, block, &report.dead, oldest, &mut slot).unwrap();
            }
        }
        removed
    }

    fn cutoffs(&mut self, w: &Fixture, freeze: bool) -> freeze::Cutoffs {
        let oldest_xmin = w.manager.horizons(DB).data_oldest_nonremovable;
        freeze::Cutoffs {
            relfrozenxid: Xid(3),
            relminmxid: MultiXid(1),
            oldest_xmin,
            freeze_limit: if freeze { oldest_xmin } else { Xid(3) },
            multi_cutoff: if freeze { w.manager.oldest_multixact() } else { MultiXid(1) },
        }
    }

    fn verify(&mut self, w: &Fixture) {
        assert_eq!(self.faults(w, &w.deformer), Vec::new());
    }

    fn faults(&mut self, w: &Fixture, deformer: &Deformer) -> Vec<verify::Fault> {
        let bounds = verify::Bounds {
            relfrozenxid: Xid(3),
            relminmxid: MultiXid(1),
            next_xid: w.manager.next_full_xid().xid(),
            next_multi: w.manager.next_multixact(),
        };
        verify::verify(&mut self.cx(w), &w.rel, deformer, &bounds).unwrap()
    }
}
