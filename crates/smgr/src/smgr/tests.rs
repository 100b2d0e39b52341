use super::*;
use ids::BackendNo;
use std::time::Duration;
use vfs::{MemDisk, Op, SystemClock};

const REL: RelFile = RelFile::new(RelFile::DEFAULT_TABLESPACE, Oid(5), Oid(16_400));
const MAIN: RelFork = RelFork::new(REL, Fork::Main);

fn smgr_on(disk: &MemDisk) -> Smgr {
    let config = SmgrConfig { segment_blocks: 4, open_files_max: 3 };
    Smgr::new(Arc::new(disk.clone()), config)
}

fn fresh() -> (MemDisk, Smgr) {
    let disk = MemDisk::new();
    for dir in ["base", "base/5", "global", "pg_tblspc"] {
        disk.create_dir(dir).unwrap();
    }
    for dir in [".", "base"] {
        disk.sync_dir(dir).unwrap();
    }
    let smgr = smgr_on(&disk);
    (disk, smgr)
}

fn block_of(byte: u8) -> Vec<u8> {
    vec![byte; BLOCK_SIZE]
}

fn read_block(smgr: &Smgr, block: u32) -> Vec<u8> {
    let mut page = block_of(99);
    let n = smgr.read(MAIN, BlockNo(block), &mut [IoSliceMut::new(&mut page)]).unwrap();
    page.truncate(n);
    page
}

#[test]
fn blocks_are_in_segments_named_as_in_postgresql() {
    let (disk, smgr) = fresh();
    smgr.create(MAIN, false).unwrap();
    assert_eq!(smgr.nblocks(MAIN).unwrap(), 0);
    for n in 0..10 {
        smgr.extend(MAIN, BlockNo(n), &block_of(n as u8)).unwrap();
    }
    assert_eq!(smgr.nblocks(MAIN).unwrap(), 10);
    let len = |path: &str| disk.stat(path).unwrap().len / BLOCK_SIZE as u64;
    assert_eq!((len("base/5/16400"), len("base/5/16400.1"), len("base/5/16400.2")), (4, 4, 2));
    for n in 0..10 {
        assert_eq!(read_block(&smgr, n), block_of(n as u8));
    }
    assert_eq!(read_block(&smgr, 10), [0u8; 0]);
    // A write of three blocks across a segment's end.
    let (a, b, c) = (block_of(30), block_of(31), block_of(32));
    let bufs = [IoSlice::new(&a), IoSlice::new(&b), IoSlice::new(&c)];
    smgr.write(MAIN, BlockNo(3), &bufs).unwrap();
    let mut all = vec![0; 5 * BLOCK_SIZE];
    assert_eq!(smgr.read(MAIN, BlockNo(2), &mut [IoSliceMut::new(&mut all)]).unwrap(), all.len());
    let firsts: Vec<u8> = all.chunks(BLOCK_SIZE).map(|b| b[0]).collect();
    assert_eq!(firsts, [2, 30, 31, 32, 6]);
    assert!(smgr.open_files() <= 3);
}

#[test]
fn creation_makes_directories_and_fails_on_existing_files() {
    let (disk, smgr) = fresh();
    let elsewhere = RelFork::new(RelFile::new(Oid(20_000), Oid(5), Oid(7)), Fork::Vm);
    disk.create_dir("/space").unwrap();
    disk.symlink("/space", "pg_tblspc/20000").unwrap();
    disk.create_dir("pg_tblspc/20000/PG_15_202209061").unwrap();
    smgr.create(elsewhere, false).unwrap();
    assert!(disk.paths().contains(&"/space/PG_15_202209061/5/7_vm".to_owned()));
    let again = smgr.create(elsewhere, false).unwrap_err();
    assert_eq!(
        again.message(),
        "could not create file \"pg_tblspc/20000/PG_15_202209061/5/7_vm\": File exists"
    );
    smgr.create(elsewhere, true).unwrap();
    let temp = RelFork::temporary(REL, BackendNo(3), Fork::Fsm);
    smgr.create(temp, false).unwrap();
    assert!(smgr.exists(temp).unwrap() && disk.paths().contains(&"base/5/t3_16400_fsm".to_owned()));
    assert!(!smgr.exists(MAIN).unwrap());
    let missing = smgr.nblocks(MAIN).unwrap_err();
    assert_eq!(missing.code(), SqlState::UNDEFINED_FILE);
    assert_eq!(
        missing.message(),
        "could not open file \"base/5/16400\": No such file or directory"
    );
}

#[test]
fn truncation_empties_whole_segments_and_extension_reuses_them() {
    let (disk, smgr) = fresh();
    smgr.create(MAIN, false).unwrap();
    smgr.zero_extend(MAIN, BlockNo(0), 11).unwrap();
    smgr.truncate(MAIN, 5).unwrap();
    assert_eq!(smgr.nblocks(MAIN).unwrap(), 5);
    assert_eq!(disk.stat("base/5/16400.2").unwrap().len, 0);
    assert!(smgr.truncate(MAIN, 6).unwrap_err().message().ends_with("it's only 5 blocks now"));
    smgr.truncate(MAIN, 4).unwrap();
    assert_eq!(smgr.nblocks(MAIN).unwrap(), 4);
    smgr.extend(MAIN, BlockNo(4), &block_of(9)).unwrap();
    assert_eq!((smgr.nblocks(MAIN).unwrap(), read_block(&smgr, 4)), (5, block_of(9)));
    smgr.truncate(MAIN, 0).unwrap();
    assert_eq!(smgr.nblocks(MAIN).unwrap(), 0);
    // Redo may write far beyond the end: earlier segments are filled with zeros.
    smgr.extend(MAIN, BlockNo(9), &block_of(1)).unwrap();
    assert_eq!((smgr.nblocks(MAIN).unwrap(), read_block(&smgr, 6)), (10, block_of(0)));
}

#[test]
fn a_checkpoint_makes_everything_written_before_it_durable() {
    let (disk, smgr) = fresh();
    smgr.create(MAIN, false).unwrap();
    smgr.zero_extend(MAIN, BlockNo(0), 6).unwrap();
    let page = block_of(7);
    smgr.write(MAIN, BlockNo(5), &[IoSlice::new(&page)]).unwrap();
    smgr.write(MAIN, BlockNo(5), &[IoSlice::new(&page)]).unwrap();
    assert_eq!(smgr.pending_syncs(), 2, "one request per segment");
    let syncs = disk.count(Op::Sync);
    smgr.checkpoint_begin();
    disk.slow_sync(Duration::from_millis(2));
    let stats = smgr.checkpoint_sync(&SystemClock::new()).unwrap();
    disk.slow_sync(Duration::ZERO);
    assert_eq!(stats.files, 2);
    assert!(stats.longest >= Duration::from_millis(2), "{stats:?}");
    assert!(stats.total >= stats.longest + Duration::from_millis(2), "{stats:?}");
    assert!(smgr.checkpoint_end().is_empty());
    assert_eq!(disk.count(Op::Sync) - syncs, 2);
    for seed in 0..20 {
        let after = smgr_on(&disk.crash(seed));
        assert_eq!((after.nblocks(MAIN).unwrap(), read_block(&after, 5)), (6, block_of(7)));
    }
    assert_eq!(smgr.checkpoint_sync(&SystemClock::new()).unwrap().files, 0);
}

#[test]
fn a_dropped_main_fork_stays_empty_until_the_next_checkpoint() {
    let (disk, smgr) = fresh();
    for fork in Fork::ALL {
        smgr.create(MAIN.with_fork(fork), false).unwrap();
        smgr.zero_extend(MAIN.with_fork(fork), BlockNo(0), 5).unwrap();
    }
    // The drop comes while a checkpoint runs: that checkpoint does not remove the file.
    smgr.checkpoint_begin();
    assert!(smgr.unlink(REL, None, false).is_empty());
    let files = || disk.list("base/5").unwrap().into_iter().map(|e| e.name).collect::<Vec<_>>();
    assert_eq!(files(), ["16400"]);
    assert_eq!(disk.stat("base/5/16400").unwrap().len, 0);
    assert_eq!(
        smgr.checkpoint_sync(&SystemClock::new()).unwrap().files,
        0,
        "requests of dropped files are cancelled"
    );
    assert!(smgr.checkpoint_end().is_empty());
    assert_eq!(files(), ["16400"]);
    smgr.checkpoint_begin();
    smgr.checkpoint_sync(&SystemClock::new()).unwrap();
    smgr.checkpoint_end();
    assert!(files().is_empty());
}

#[test]
fn redo_and_temporary_relations_are_removed_at_once() {
    let (disk, smgr) = fresh();
    smgr.create(MAIN, false).unwrap();
    smgr.create(RelFork::temporary(REL, BackendNo(1), Fork::Main), false).unwrap();
    assert!(smgr.unlink(REL, Some(BackendNo(1)), false).is_empty());
    assert_eq!(disk.list("base/5").unwrap().len(), 1);
    assert!(smgr.unlink(REL, None, true).is_empty());
    assert!(disk.list("base/5").unwrap().is_empty());
    assert!(smgr.unlink(REL, None, true).is_empty());
}

#[test]
fn errors_have_the_messages_of_postgresql() {
    let (disk, smgr) = fresh();
    smgr.create(MAIN, false).unwrap();
    smgr.zero_extend(MAIN, BlockNo(0), 2).unwrap();
    disk.fail_nth(Op::Read, 1, 5);
    let mut page = block_of(0);
    let e = smgr.read(MAIN, BlockNo(1), &mut [IoSliceMut::new(&mut page)]).unwrap_err();
    assert_eq!(e.message(), "could not read block 1 in file \"base/5/16400\": Input/output error");
    assert_eq!(e.code(), SqlState::IO_ERROR);
    disk.set_capacity(Some(disk.used() + 100));
    let e = smgr.extend(MAIN, BlockNo(2), &page).unwrap_err();
    assert_eq!(e.message(), "could not extend file \"base/5/16400\": No space left on device");
    assert_eq!(e.code(), SqlState::DISK_FULL);
    assert_eq!(e.fields().hint.as_deref(), Some("Check free disk space."));
    assert_eq!(smgr.nblocks(MAIN).unwrap(), 2, "a partial block does not count");
    disk.set_capacity(None);
    smgr.extend(MAIN, BlockNo(2), &page).unwrap();
    disk.fail_nth(Op::Sync, 1, 5);
    smgr.checkpoint_begin();
    let e = smgr.checkpoint_sync(&SystemClock::new()).unwrap_err();
    assert_eq!(e.fields().severity, Severity::Panic);
    assert_eq!(e.message(), "could not fsync file \"base/5/16400\": Input/output error");
    assert_eq!(smgr.pending_syncs(), 1, "the request is pending again");
    assert_eq!(
        smgr.short_read(MAIN, BlockNo(7), 0).message(),
        "could not read block 7 in file \"base/5/16400.1\": read only 0 of 8192 bytes"
    );
}
