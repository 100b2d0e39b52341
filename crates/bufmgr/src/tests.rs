//! The pool on a disk in memory, with the real log. Pages are arrays of numbers after the header; a
//! record sets one of them.

mod crash;
mod faults;
mod latching;
mod redo;
mod replacement;
mod threads;

use crate::*;
use ids::{BlockNo, Fork, Lsn, Oid, Persistence, RelFile, Xid};
use page::{PAGE_SIZE, Page};
use pgerror::PgError;
use smgr::{Smgr, SmgrConfig};
use sync::{Arc, Mutex};
use vfs::{Disk, Env, MemDisk, SystemClock};
use wal::{DecodedRecord, RecordBuilder, RegFlags, RmgrId, Wal, WalConfig, WalReader, WalStart};

const SEGMENT: u32 = 1 << 20;
const SYSTEM: u64 = 42;
const START: Lsn = Lsn(SEGMENT as u64);
const REL: RelFile = RelFile::new(Oid(1663), Oid(5), Oid(16_400));
/// Numbers on a page.
const SLOTS: usize = (PAGE_SIZE - 24) / 8;

pub(super) struct Fixture {
    pub disk: MemDisk,
    pub smgr: Arc<Smgr>,
    pub wal: Arc<Wal>,
    pub pool: Arc<BufferPool>,
    /// Messages passed to `on_critical`.
    pub crashes: Arc<Mutex<Vec<String>>>,
    pub warnings: Arc<Mutex<Vec<String>>>,
}

fn env_on(disk: &MemDisk) -> Env {
    Env { disk: Arc::new(disk.clone()), ..Env::memory(7) }
}

fn fresh_disk() -> MemDisk {
    let disk = MemDisk::new();
    for dir in ["base", "base/5", "pg_wal"] {
        disk.create_dir(dir).unwrap();
    }
    for dir in [".", "base", "pg_wal"] {
        disk.sync_dir(dir).unwrap();
    }
    disk
}

impl Fixture {
    pub fn new(frames: usize) -> Fixture {
        Fixture::with(frames, true)
    }

    pub fn with(frames: usize, checksums: bool) -> Fixture {
        let fixture = Fixture::unstarted(fresh_disk(), frames, checksums);
        fixture
            .wal
            .start(WalStart {
                timeline: 1,
                end: START,
                prev: Lsn(0),
                redo: START,
                overwrite: false,
            })
            .unwrap();
        fixture
    }

    /// The state of a server after a crash: in recovery.
    pub fn unstarted(disk: MemDisk, frames: usize, checksums: bool) -> Fixture {
        let smgr_config = SmgrConfig { segment_blocks: 16, open_files_max: 8 };
        let smgr = Arc::new(Smgr::new(Arc::new(disk.clone()), smgr_config));
        let mut wal_config = WalConfig::new(SEGMENT, SYSTEM);
        wal_config.log_hints = checksums;
        wal_config.buffers = 16;
        let wal = Wal::new(env_on(&disk), wal_config);
        let (crashes, warnings) = (Arc::new(Mutex::new(Vec::new())), Arc::default());
        let mut config = PoolConfig::new(frames);
        config.checksums = checksums;
        let note = |list: &Arc<Mutex<Vec<String>>>| {
            let list = list.clone();
            Arc::new(move |e: &PgError| list.lock().push(e.message().to_owned()))
        };
        config.on_critical = note(&crashes);
        config.on_warning = note(&warnings);
        let pool = BufferPool::new(config, smgr.clone(), Some(wal.clone())).unwrap();
        Fixture { disk, smgr, wal, pool: Arc::new(pool), crashes, warnings }
    }

    /// A relation with `blocks` initialised pages.
    pub fn relation(&self, relnumber: u32, blocks: u32) -> Arc<ForkBuffers> {
        let rel = RelFile { relnumber: Oid(relnumber), ..REL };
        let fork = self.pool.open(rel, Fork::Main, Persistence::Permanent);
        self.smgr.create(fork.name(), false).unwrap();
        for _ in 0..blocks {
            self.add_page(&fork);
        }
        fork
    }

    pub fn add_page(&self, fork: &Arc<ForkBuffers>) -> BlockNo {
        let mut scratch = scratch();
        let mut guard = self.pool.extend(fork, &mut Strategy::normal()).unwrap();
        let mut edit = PageEdit::begin(&self.wal, &mut scratch);
        init_page(edit.change(&mut guard, 0, RegFlags::WILL_INIT));
        edit.log(KIND, INIT, Xid(3)).unwrap();
        guard.block()
    }

    pub fn set(&self, fork: &Arc<ForkBuffers>, block: u32, slot: usize, value: u64) -> Lsn {
        let pin = self.pool.read(fork, BlockNo(block), &mut Strategy::normal()).unwrap();
        self.set_on(&mut pin.exclusive(), slot, value)
    }

    pub fn set_on<'p>(&self, guard: &mut ExclusiveGuard<'p>, slot: usize, value: u64) -> Lsn {
        let mut scratch = scratch();
        let mut edit = PageEdit::begin(&self.wal, &mut scratch);
        edit.change(guard, 0, RegFlags::NONE).set_u64_at(slot_at(slot), value);
        edit.block_data(0, &set_data(slot, value));
        edit.log(KIND, SET, Xid(3)).unwrap()
    }

    pub fn get(&self, fork: &Arc<ForkBuffers>, block: u32, slot: usize) -> u64 {
        let pin = self.pool.read(fork, BlockNo(block), &mut Strategy::normal()).unwrap();
        pin.share().u64_at(slot_at(slot))
    }

    /// A checkpoint's work on pages and files. Returns the redo pointer.
    pub fn checkpoint(&self) -> Lsn {
        self.smgr.checkpoint_begin();
        let redo = self.wal.begin_checkpoint();
        self.wal.wait_delay_start();
        self.pool.checkpoint_write(false, 0, &mut |_| {}).unwrap();
        self.smgr.checkpoint_sync(&SystemClock::new()).unwrap();
        redo
    }

    /// Replays the log from `redo` on; returns the number of records.
    pub fn recover(&self, redo: Lsn) -> usize {
        let mut reader = WalReader::new(Arc::new(self.disk.clone()), SEGMENT, 1, Some(SYSTEM));
        reader.seek(redo);
        let mut cx = crate::redo::RedoCx::new(&self.pool);
        let mut records = 0;
        while let Some(record) = reader.read().unwrap() {
            replay(&mut cx, record);
            records += 1;
        }
        assert!(cx.invalid().is_empty());
        let (end, prev) = (reader.next_lsn(), reader.last_lsn());
        self.wal.start(WalStart { timeline: 1, end, prev, redo, overwrite: false }).unwrap();
        records
    }
}

const KIND: RmgrId = RmgrId::Heap;
const INIT: u8 = 0x00;
const SET: u8 = 0x10;

fn scratch() -> RecordBuilder {
    RecordBuilder::new(KIND, 0)
}

fn slot_at(slot: usize) -> usize {
    assert!(slot < SLOTS);
    24 + slot * 8
}

fn set_data(slot: usize, value: u64) -> Vec<u8> {
    [(slot as u64).to_le_bytes(), value.to_le_bytes()].concat()
}

fn init_page(page: &mut Page) {
    page.init(0);
    // No hole: the numbers fill the page.
    page.set_lower(PAGE_SIZE);
    page.set_upper(PAGE_SIZE);
}

fn replay(cx: &mut crate::redo::RedoCx<'_>, record: &DecodedRecord) {
    use crate::redo::{Redo, RedoMode, apply, read_for_redo};
    if record.header.rmgr() == Some(RmgrId::Xlog) {
        for (id, block) in record.blocks() {
            assert!(block.applies_image());
            assert!(matches!(
                read_for_redo(cx, record, id, RedoMode::Normal).unwrap(),
                Redo::Restored(_)
            ));
        }
        return;
    }
    let mode = if record.info() == INIT { RedoMode::Init } else { RedoMode::Normal };
    if let Redo::Apply(mut guard) = read_for_redo(cx, record, 0, mode).unwrap() {
        apply(&mut guard, record, |page| {
            match record.info() {
                INIT => init_page(page),
                _ => {
                    let data = record.block_data(0).unwrap();
                    let word = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
                    page.set_u64_at(slot_at(word(0) as usize), word(8));
                }
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn pages_survive_repeated_replacement() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 100);
    for round in 0..3 {
        for block in 0..100 {
            fixture.set(&fork, block, 5, u64::from(block) * 1000 + round);
        }
        for block in (0..100).rev() {
            assert_eq!(fixture.get(&fork, block, 5), u64::from(block) * 1000 + round);
        }
    }
    assert_eq!(fixture.pool.nblocks(&fork).unwrap(), 100);
    let stats = fixture.pool.stats();
    assert!(stats.evicted > 500 && stats.reads > 500, "{stats:?}");
    assert!(fixture.crashes.lock().is_empty());
}

#[test]
fn a_hit_reads_nothing_and_is_counted_by_the_session() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 3);
    let mut strategy = Strategy::normal();
    let reads = fixture.pool.stats().reads;
    for _ in 0..10 {
        let pin = fixture.pool.read(&fork, BlockNo(2), &mut strategy).unwrap();
        assert_eq!(
            (pin.block(), pin.rel().relnumber, pin.fork()),
            (BlockNo(2), Oid(1), Fork::Main)
        );
    }
    assert_eq!((strategy.usage.hit, strategy.usage.read), (10, 0));
    assert_eq!(fixture.pool.stats().reads, reads);
}

#[test]
fn discarded_pages_are_not_written_and_truncation_applies_to_file_and_pool() {
    let fixture = Fixture::new(32);
    let (kept, dropped) = (fixture.relation(1, 10), fixture.relation(2, 10));
    fixture.checkpoint();
    for block in 0..10 {
        fixture.set(&kept, block, 0, 1);
        fixture.set(&dropped, block, 0, 1);
    }
    fixture.pool.drop_relation(dropped.name().rel);
    fixture.pool.truncate(&[(kept.clone(), 4)], || Ok(())).unwrap();
    let written = fixture.pool.checkpoint_write(true, 0, &mut |_| {}).unwrap().written;
    assert_eq!(written, 4);
    assert_eq!(fixture.pool.nblocks(&kept).unwrap(), 4);
    assert_eq!(fixture.disk.stat("base/5/1").unwrap().len, 4 * PAGE_SIZE as u64);
    // The dropped relation's file has its contents from before the drop; a new handle reads those.
    let again = fixture.pool.open(dropped.name().rel, Fork::Main, Persistence::Permanent);
    assert_eq!(fixture.get(&again, 3, 0), 0);
    // Growth after a truncation gives zeroed pages.
    let guard = fixture.pool.extend(&kept, &mut Strategy::normal()).unwrap();
    assert!(guard.block() == BlockNo(4) && guard.is_all_zeros());
}

/// Two writes of eight pages each: writeback is requested after each, once for both, or not at all.
#[test]
fn a_checkpoint_requests_writeback_after_flush_after_pages() {
    for (flush_after, hints) in [(0, 0), (4, 2), (8, 2), (9, 1), (256, 1)] {
        let fixture = Fixture::new(64);
        let fork = fixture.relation(1, 16);
        fixture.checkpoint();
        for block in 0..16 {
            fixture.set(&fork, block, 0, 1);
        }
        let before = fixture.disk.count(vfs::Op::FlushHint);
        let done = fixture.pool.checkpoint_write(false, flush_after, &mut |_| {}).unwrap();
        assert_eq!(done.written, 16);
        assert_eq!(fixture.disk.count(vfs::Op::FlushHint) - before, hints, "{flush_after}");
    }
}

/// A session that evicts dirty pages requests writeback after the number of pages that its setting
/// requires.
#[test]
fn a_session_requests_writeback_after_flush_after_pages() {
    for flush_after in [0, 1, 8, 1000] {
        let fixture = Fixture::new(16);
        let fork = fixture.relation(1, 64);
        fixture.checkpoint();
        let session = Arc::new(PoolSession::default());
        session.configure(PoolSettings { flush_after, ..PoolSettings::default() });
        let mut strategy = Strategy::for_session(session);
        let before = fixture.disk.count(vfs::Op::FlushHint);
        for block in 0..64 {
            drop(fixture.pool.read(&fork, BlockNo(block), &mut strategy).unwrap());
            fixture.set(&fork, block, 0, 2);
        }
        let hints = fixture.disk.count(vfs::Op::FlushHint) - before;
        let written = strategy.usage.written;
        assert!(written > 16, "{written}");
        // Runs that cross a file boundary need one request per file.
        let least = written.checked_div(u64::from(flush_after)).unwrap_or(0);
        assert!((least..=2 * least).contains(&hints), "{flush_after}: {hints} for {written}");
    }
}

#[test]
fn a_checkpoint_writes_consecutive_pages_in_one_call_in_file_order() {
    let fixture = Fixture::new(64);
    let (b, a) = (fixture.relation(9, 20), fixture.relation(8, 20));
    fixture.checkpoint();
    let writes = fixture.disk.count(vfs::Op::Write);
    for block in [3, 1, 2, 0, 19, 18, 10] {
        fixture.set(&a, block, 0, 1);
        fixture.set(&b, block, 0, 1);
    }
    fixture.wal.flush(fixture.wal.inserted()).unwrap();
    let before = fixture.disk.count(vfs::Op::Write);
    assert!(before > writes);
    let mut seen = Vec::new();
    let progress = fixture.pool.checkpoint_write(false, 0, &mut |p| seen.push(p.done)).unwrap();
    assert_eq!((progress.written, progress.total), (14, 14));
    assert_eq!(seen, [4, 5, 7, 11, 12, 14]);
    assert_eq!(fixture.disk.count(vfs::Op::Write) - before, 6);
    assert_eq!(fixture.pool.checkpoint_write(false, 0, &mut |_| {}).unwrap().written, 0);
}

#[test]
fn unlogged_pages_are_left_to_the_shutdown_checkpoint() {
    let fixture = Fixture::new(16);
    let rel = RelFile { relnumber: Oid(3), ..REL };
    let fork = fixture.pool.open(rel, Fork::Main, Persistence::Unlogged);
    fixture.smgr.create(fork.name(), false).unwrap();
    let mut scratch = scratch();
    let mut guard = fixture.pool.extend(&fork, &mut Strategy::normal()).unwrap();
    let mut edit = PageEdit::begin(&fixture.wal, &mut scratch);
    init_page(edit.change(&mut guard, 0, RegFlags::WILL_INIT));
    assert_eq!(edit.dirtied(), 1);
    edit.finish_unlogged();
    drop(guard);
    assert!(!fork.is_logged());
    assert_eq!(fixture.pool.checkpoint_write(false, 0, &mut |_| {}).unwrap().written, 0);
    assert_eq!(fixture.pool.checkpoint_write(true, 0, &mut |_| {}).unwrap().written, 1);
    assert_eq!(fixture.wal.inserted(), START, "nothing was logged");
}

#[test]
fn relations_and_databases_are_flushed_by_name() {
    let fixture = Fixture::new(32);
    let (a, b) = (fixture.relation(1, 5), fixture.relation(2, 5));
    fixture.checkpoint();
    fixture.set(&a, 1, 0, 7);
    fixture.set(&b, 1, 0, 7);
    fixture.pool.flush_relation(a.name().rel).unwrap();
    assert_eq!(fixture.pool.checkpoint_write(false, 0, &mut |_| {}).unwrap().written, 1);
    fixture.set(&a, 1, 0, 8);
    fixture.pool.flush_database(Oid(6)).unwrap();
    fixture.pool.flush_database(Oid(5)).unwrap();
    assert_eq!(fixture.pool.checkpoint_write(false, 0, &mut |_| {}).unwrap().written, 0);
    fixture.set(&a, 1, 0, 9);
    fixture.pool.drop_database(Oid(5));
    assert_eq!(fixture.pool.checkpoint_write(false, 0, &mut |_| {}).unwrap().written, 0);
}

#[test]
fn a_session_has_a_pool_of_its_own_for_temporary_relations() {
    let fixture = Fixture::new(16);
    let mut config = PoolConfig::new(16);
    config.backend = Some(ids::BackendNo(4));
    let pool = BufferPool::new(config, fixture.smgr.clone(), None).unwrap();
    let fork = pool.open(REL, Fork::Main, Persistence::Temporary);
    fixture.smgr.create(fork.name(), false).unwrap();
    let mut scratch = scratch();
    for n in 0..40 {
        let mut guard = pool.extend(&fork, &mut Strategy::normal()).unwrap();
        let mut edit = PageEdit::begin(&fixture.wal, &mut scratch);
        let page = edit.change(&mut guard, 0, RegFlags::NONE);
        init_page(page);
        page.set_u64_at(slot_at(1), n);
        edit.finish_unlogged();
    }
    for n in 0..40 {
        let pin = pool.read(&fork, BlockNo(n), &mut Strategy::normal()).unwrap();
        assert_eq!(pin.share().u64_at(slot_at(1)), u64::from(n));
    }
    assert!(fixture.disk.paths().contains(&"base/5/t4_16400".to_owned()));
    assert_eq!(fixture.smgr.pending_syncs(), 0, "temporary files are never synced");
}
