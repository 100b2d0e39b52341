//! Crashes on a disk that loses unsynced writes and tears pages: acknowledged changes survive, and
//! all contents are values that a test wrote.

use crate::*;
use bufmgr::{PageEdit, Strategy};
use ids::{BlockNo, Fork, Oid, Persistence, RelFile, Xid};
use smgr::RelFork;
use sync::Arc;
use vfs::{Env, MemDisk, SeededRandom};
use wal::{RecordBuilder, RegFlags, RmgrId};

const REL: RelFile = RelFile::new(RelFile::DEFAULT_TABLESPACE, Oid(1), Oid(20_000));
const BLOCKS: usize = 40;

fn config(env: &Env) -> EngineConfig {
    let mut config = EngineConfig::new(env.clone());
    config.shared_buffers = 24;
    config.wal.buffers = 8;
    config.wal.min_wal_size = 2 << 20;
    config.wal.max_wal_size = 4 << 20;
    config
}

fn fixture(seed: u64) -> (Arc<MemDisk>, Env) {
    let disk = Arc::new(MemDisk::new());
    let mut env = Env::memory(seed);
    env.disk = disk.clone();
    (disk, env)
}

/// Pages have 500 numbers of 8 bytes after a header; a record sets one of them.
fn slot_offset(slot: usize) -> usize {
    32 + slot * 8
}

fn make_pages(engine: &Engine, scratch: &mut RecordBuilder) {
    engine.smgr.create(RelFork::new(REL, Fork::Main), false).unwrap();
    truncate::log_create(&engine.wal, scratch, REL, Fork::Main, Xid(3)).unwrap();
    let fork = engine.pool.open(REL, Fork::Main, Persistence::Permanent);
    for _ in 0..BLOCKS {
        let mut guard = engine.pool.extend(&fork, &mut Strategy::normal()).unwrap();
        let mut edit = PageEdit::begin(&engine.wal, scratch);
        let page = edit.change(&mut guard, 0, RegFlags::FORCE_IMAGE | RegFlags::STANDARD);
        page.init(0);
        page.set_lower(slot_offset(500));
        // XLOG FPI
        edit.log(RmgrId::Xlog, 0xB0, Xid(3)).unwrap();
    }
}

fn set(engine: &Engine, scratch: &mut RecordBuilder, at: (usize, usize), value: u64) -> ids::Lsn {
    let fork = engine.pool.open(REL, Fork::Main, Persistence::Permanent);
    let block = BlockNo(at.0 as u32);
    let pin = engine.pool.read(&fork, block, &mut Strategy::normal()).unwrap();
    let mut guard = pin.exclusive();
    let mut edit = PageEdit::begin(&engine.wal, scratch);
    let page = edit.change(&mut guard, 0, RegFlags::STANDARD);
    let offset = slot_offset(at.1);
    page.bytes_mut()[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
    edit.block_data(0, &(offset as u16).to_le_bytes());
    edit.block_data(0, &8u16.to_le_bytes());
    edit.block_data(0, &value.to_le_bytes());
    edit.log(RmgrId::Generic, 0, Xid(3)).unwrap()
}

fn get(engine: &Engine, at: (usize, usize)) -> u64 {
    let fork = engine.pool.open(REL, Fork::Main, Persistence::Permanent);
    let block = BlockNo(at.0 as u32);
    let pin = engine.pool.read(&fork, block, &mut Strategy::normal()).unwrap();
    let page = pin.share();
    page.u64_at(slot_offset(at.1))
}

#[test]
fn acknowledged_changes_survive_any_crash() {
    for seed in 0..16 {
        let random = SeededRandom::new(seed);
        let (mut disk, mut env) = fixture(seed);
        let options = ClusterOptions { segment_size: 1 << 20, checksums: true };
        create_cluster(&env, &options).unwrap();
        // The values that each slot was set to, in order, and the index of the last acknowledged
        // one.
        let mut history = vec![vec![0u64]; BLOCKS * 500];
        let mut durable = vec![0usize; BLOCKS * 500];
        let mut scratch = RecordBuilder::new(RmgrId::Xlog, 0);
        for round in 0..4u64 {
            let engine = Engine::open(config(&env)).unwrap();
            if round == 0 {
                make_pages(&engine, &mut scratch);
                engine.wal.flush(engine.wal.inserted()).unwrap();
            }
            for (i, values) in history.iter_mut().enumerate() {
                let now = get(&engine, (i / 500, i % 500));
                let kept = values.iter().rposition(|v| *v == now);
                assert!(
                    kept.is_some_and(|kept| kept >= durable[i]),
                    "seed {seed} round {round} slot {i}: {now} of {values:?}, {}",
                    durable[i]
                );
                *values = vec![now];
                durable[i] = 0;
            }
            for step in 0..random.below(400) {
                let i = random.below(BLOCKS as u64 * 500) as usize;
                let value = seed << 48 | round << 40 | step << 8 | 1;
                let lsn = set(&engine, &mut scratch, (i / 500, i % 500), value);
                history[i].push(value);
                match random.below(30) {
                    0..4 => {
                        engine.wal.flush(lsn).unwrap();
                        durable.iter_mut().zip(&history).for_each(|(d, h)| *d = h.len() - 1);
                    }
                    4 => {
                        engine.checkpoint(CheckpointFlags::IMMEDIATE).unwrap();
                        durable.iter_mut().zip(&history).for_each(|(d, h)| *d = h.len() - 1);
                    }
                    5 => {
                        engine.bgwriter_step().unwrap();
                    }
                    6 => {
                        engine.walwriter_step().unwrap();
                    }
                    _ => {}
                }
            }
            if random.below(4) == 0 {
                engine.shutdown().unwrap();
                durable.iter_mut().zip(&history).for_each(|(d, h)| *d = h.len() - 1);
            }
            disk = Arc::new(disk.crash(random.next()));
            env.disk = disk.clone();
        }
    }
}

#[test]
fn a_crash_during_recovery_is_harmless() {
    for seed in 0..20 {
        let (disk, env) = fixture(seed);
        create_cluster(&env, &ClusterOptions { segment_size: 1 << 20, checksums: true }).unwrap();
        let engine = Engine::open(config(&env)).unwrap();
        let mut scratch = RecordBuilder::new(RmgrId::Xlog, 0);
        make_pages(&engine, &mut scratch);
        for i in 0..300 {
            set(&engine, &mut scratch, (i % BLOCKS, i), i as u64 + 1);
        }
        engine.wal.flush(engine.wal.inserted()).unwrap();
        let mut disk = disk.crash(seed);
        // The power fails during recovery, at later and later writes.
        for n in [3, 9, 20, 35] {
            let shared = Arc::new(disk);
            shared.fail_nth(vfs::Op::Write, n, 5);
            let mut env = env.clone();
            env.disk = shared.clone();
            let _ = Engine::open(config(&env));
            disk = shared.crash(seed + n);
        }
        let mut env = env.clone();
        env.disk = Arc::new(disk);
        let engine = Engine::open(config(&env)).unwrap();
        for i in 0..300 {
            assert_eq!(get(&engine, (i % BLOCKS, i)), i as u64 + 1, "seed {seed}");
        }
    }
}

#[test]
fn a_crash_before_the_checkpoint_after_recovery_replays_all_records() {
    for seed in 0..20 {
        let (disk, env) = fixture(seed);
        create_cluster(&env, &ClusterOptions { segment_size: 1 << 20, checksums: true }).unwrap();
        let engine = Engine::open(config(&env)).unwrap();
        let mut scratch = RecordBuilder::new(RmgrId::Xlog, 0);
        make_pages(&engine, &mut scratch);
        engine.wal.flush(engine.wal.inserted()).unwrap();
        let redo = engine.control.get().check_point_copy.redo;
        let mut disk = disk.crash(seed);
        for stretch in 0..4 {
            let mut env = env.clone();
            let shared = Arc::new(disk);
            env.disk = shared.clone();
            let engine = Engine::open(config(&env)).unwrap();
            // There is no checkpoint yet, because the checkpointer makes it.
            assert_eq!(engine.control.get().check_point_copy.redo, redo, "seed {seed}");
            assert_eq!(engine.control.get().state, wal::DbState::InProduction);
            for i in 0..50 * stretch {
                assert_eq!(get(&engine, (i % BLOCKS, i)), i as u64 + 1, "seed {seed}");
            }
            for i in 50 * stretch..50 * (stretch + 1) {
                set(&engine, &mut scratch, (i % BLOCKS, i), i as u64 + 1);
            }
            engine.wal.flush(engine.wal.inserted()).unwrap();
            if stretch == 3 {
                engine.checkpointer_step().unwrap();
                assert!(engine.control.get().check_point_copy.redo > redo, "seed {seed}");
                let now = engine.control.get().check_point_copy.redo;
                engine.checkpointer_step().unwrap();
                assert_eq!(engine.control.get().check_point_copy.redo, now, "only one is made");
            }
            disk = shared.crash(seed + stretch as u64);
        }
        let mut env = env.clone();
        env.disk = Arc::new(disk);
        let engine = Engine::open(config(&env)).unwrap();
        for i in 0..200 {
            assert_eq!(get(&engine, (i % BLOCKS, i)), i as u64 + 1, "seed {seed}");
        }
    }
}

#[test]
fn dropped_files_and_truncation_are_replayed() {
    let (disk, env) = fixture(1);
    create_cluster(&env, &ClusterOptions { segment_size: 1 << 20, checksums: true }).unwrap();
    let engine = Engine::open(config(&env)).unwrap();
    let mut scratch = RecordBuilder::new(RmgrId::Xlog, 0);
    make_pages(&engine, &mut scratch);
    set(&engine, &mut scratch, (30, 1), 7);
    let permanent = Persistence::Permanent;
    truncate::truncate(&engine.pool, &engine.wal, &mut scratch, REL, permanent, 10, Xid(3))
        .unwrap();
    set(&engine, &mut scratch, (9, 1), 8);
    engine.wal.flush(engine.wal.inserted()).unwrap();
    let mut env = env.clone();
    env.disk = Arc::new(disk.crash_losing_all());
    let engine = Engine::open(config(&env)).unwrap();
    assert_eq!(engine.smgr.nblocks(RelFork::new(REL, Fork::Main)).unwrap(), 10);
    assert_eq!(get(&engine, (9, 1)), 8);
}

#[test]
fn idle_checkpoints_are_skipped_and_states_are_set() {
    let (_, env) = fixture(1);
    create_cluster(&env, &ClusterOptions { segment_size: 1 << 20, checksums: true }).unwrap();
    let lines = Arc::new(sync::Mutex::new(Vec::new()));
    let mut config = config(&env);
    let sink = lines.clone();
    config.log = Arc::new(move |report| sink.lock().push(report.message().to_owned()));
    let engine = Engine::open(config.clone()).unwrap();
    assert_eq!(engine.control.get().state, wal::DbState::InProduction);
    assert!(!engine.checkpoint(CheckpointFlags::IMMEDIATE).unwrap());
    assert!(engine.checkpoint(CheckpointFlags::FORCE).unwrap());
    engine.shutdown().unwrap();
    assert_eq!(engine.control.get().state, wal::DbState::ShutDowned);
    drop(engine);
    let begun = lines.lock().len();
    Engine::open(config).unwrap();
    let lines = lines.lock();
    assert_eq!(lines[begun..].len(), 1, "{lines:?}");
    assert!(lines[begun].starts_with("database system was shut down at "));
    let complete = lines.iter().find(|line| line.starts_with("checkpoint complete")).unwrap();
    assert!(complete.contains("; sync files="), "{complete}");
}

#[test]
fn unsupported_states_are_refused() {
    for name in [
        "backup_label",
        "tablespace_map",
        "standby.signal",
        "recovery.signal",
        "pg_replslot/slot",
        "pg_wal/archive_status/000000010000000000000001.ready",
    ] {
        let (_, env) = fixture(1);
        create_cluster(&env, &ClusterOptions::default()).unwrap();
        let before = vfs::read_file(&*env.disk, "global/pg_control").unwrap();
        vfs::write_file(&*env.disk, name, b"").unwrap();
        let error = Engine::open(config(&env)).err().expect(name);
        assert_eq!(error.fields().severity, pgerror::Severity::Fatal, "{name}");
        assert_eq!(error.code(), pgerror::SqlState::FEATURE_NOT_SUPPORTED, "{name}");
        assert_eq!(vfs::read_file(&*env.disk, "global/pg_control").unwrap(), before);
    }
    let (_, env) = fixture(1);
    create_cluster(&env, &ClusterOptions::default()).unwrap();
    let mut stamps = config(&env);
    stamps.track_commit_timestamp = true;
    let error = Engine::open(stamps).err().expect("commit timestamps");
    assert!(error.fields().message.contains("track_commit_timestamp"), "{error}");
}
