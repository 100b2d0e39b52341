//! The free space map in a buffer pool on a disk in memory.

use crate::{Fsm, REQUEST_MAX, index};
use bufmgr::{BufferPool, ForkBuffers, PoolConfig, Strategy};
use ids::{BlockNo, Fork, Lsn, Oid, Persistence, RelFile};
use page::PAGE_SIZE;
use smgr::{Smgr, SmgrConfig};
use std::collections::BTreeMap;
use sync::Arc;
use vfs::{Disk, Env, MemDisk, SeededRandom};
use wal::{Wal, WalConfig, WalStart};

const REL: RelFile = RelFile::new(Oid(1663), Oid(5), Oid(16_400));

struct Fixture {
    disk: MemDisk,
    wal: Arc<Wal>,
    pool: BufferPool,
    fork: Arc<ForkBuffers>,
}

impl Fixture {
    fn new() -> Fixture {
        let disk = MemDisk::new();
        for dir in ["base", "base/5", "pg_wal"] {
            disk.create_dir(dir).unwrap();
        }
        let env = Env { disk: Arc::new(disk.clone()), ..Env::memory(1) };
        let smgr = Arc::new(Smgr::new(env.disk.clone(), SmgrConfig::default()));
        let mut config = WalConfig::new(1 << 20, 1);
        config.log_hints = true;
        let wal = Wal::new(env, config);
        let start = Lsn(1 << 20);
        wal.start(WalStart {
            timeline: 1,
            end: start,
            prev: Lsn(0),
            redo: start,
            overwrite: false,
        })
        .unwrap();
        let pool = BufferPool::new(PoolConfig::new(32), smgr, Some(wal.clone())).unwrap();
        let fork = pool.open(REL, Fork::Fsm, Persistence::Permanent);
        Fixture { disk, wal, pool, fork }
    }

    fn fsm(&self) -> Fsm<'_> {
        Fsm::new(&self.pool, &self.fork)
    }

    fn blocks(&self) -> u32 {
        self.pool.nblocks(&self.fork).unwrap()
    }
}

#[test]
fn a_relation_without_a_map_has_no_recorded_space() {
    let fixture = Fixture::new();
    assert_eq!(fixture.fsm().search(100).unwrap(), None);
    assert_eq!(fixture.fsm().recorded(BlockNo(7)).unwrap(), 0);
    assert_eq!(fixture.fsm().prepare_truncate(7).unwrap(), None);
    fixture.fsm().vacuum().unwrap();
    assert!(!fixture.disk.paths().contains(&"base/5/16400_fsm".to_owned()));
    let error = fixture.fsm().search(REQUEST_MAX + 1).unwrap_err();
    assert_eq!(error.message(), "invalid FSM request size 8161");
}

#[test]
fn space_is_stored_in_steps_of_32_bytes() {
    let fixture = Fixture::new();
    // (recorded, returned): pg_freespacemap of PostgreSQL shows the same.
    let cases = [
        (0, 0),
        (31, 0),
        (32, 32),
        (100, 96),
        (8127, 8096),
        (8159, 8128),
        (8160, 8160),
        (8191, 8160),
    ];
    for (space, returned) in cases {
        fixture.fsm().record(BlockNo(3), space).unwrap();
        assert_eq!(fixture.fsm().recorded(BlockNo(3)).unwrap(), returned, "{space}");
    }
    // The first heap page makes three map pages, as in PostgreSQL.
    assert_eq!(fixture.blocks(), 3);
}

#[test]
fn recorded_space_is_found_after_vacuum() {
    let fixture = Fixture::new();
    let fsm = fixture.fsm();
    fsm.record(BlockNo(10), 500).unwrap();
    assert_eq!(fsm.search(100).unwrap(), None, "the upper levels are not updated yet");
    fsm.vacuum().unwrap();
    assert_eq!(fsm.search(100).unwrap(), Some(BlockNo(10)));
    assert_eq!(fsm.search(480).unwrap(), Some(BlockNo(10)));
    assert_eq!(fsm.search(481).unwrap(), None);
    // The page has been filled since: the search finds that and corrects the upper levels.
    fsm.record(BlockNo(10), 0).unwrap();
    assert_eq!(fsm.search(100).unwrap(), None);
    // A distant block, on another bottom page and another middle page.
    let far = BlockNo(4069 * 4069 + 5);
    fsm.record(far, 2000).unwrap();
    fsm.vacuum_range(BlockNo(0), BlockNo(1000)).unwrap();
    assert_eq!(fsm.search(1000).unwrap(), None);
    fsm.vacuum_range(far, far.next()).unwrap();
    assert_eq!(fsm.search(1000).unwrap(), Some(far));
    assert_eq!(fixture.blocks(), 4073, "root, middle and 4,069 bottom pages, then one of each");
}

#[test]
fn record_and_search_prefers_the_same_map_page() {
    let fixture = Fixture::new();
    let fsm = fixture.fsm();
    fsm.record(BlockNo(5000), 4000).unwrap();
    fsm.record(BlockNo(20), 4000).unwrap();
    fsm.vacuum().unwrap();
    assert_eq!(fsm.record_and_search(BlockNo(5001), 0, 1000).unwrap(), Some(BlockNo(5000)));
    fsm.record(BlockNo(5000), 0).unwrap();
    assert_eq!(fsm.record_and_search(BlockNo(5001), 0, 1000).unwrap(), Some(BlockNo(20)));
}

#[test]
fn pages_beyond_the_relation_are_not_returned() {
    let fixture = Fixture::new();
    let fsm = fixture.fsm();
    for block in [3, 50, 60] {
        fsm.record(BlockNo(block), 4000).unwrap();
    }
    fsm.record(BlockNo(3), 100).unwrap();
    fsm.vacuum().unwrap();
    assert_eq!(fsm.within(50).search(1000).unwrap(), None);
    assert_eq!(fsm.recorded(BlockNo(60)).unwrap(), 0, "cleared by the search");
    assert_eq!(fsm.within(50).search(50).unwrap(), Some(BlockNo(3)));
}

#[test]
fn the_map_agrees_with_a_model() {
    let fixture = Fixture::new();
    let fsm = fixture.fsm();
    let random = SeededRandom::new(5);
    let mut model: BTreeMap<u32, usize> = BTreeMap::new();
    for round in 0..3000 {
        let block = random.below(12_000) as u32;
        let space = random.below(8192) as usize / if round % 2 == 0 { 1 } else { 20 };
        fsm.record(BlockNo(block), space).unwrap();
        model.insert(block, if space >= 8160 { 8160 } else { space / 32 * 32 });
        if round % 100 == 99 {
            fsm.vacuum().unwrap();
            let needed = random.below(8161) as usize;
            match fsm.search(needed).unwrap() {
                Some(found) => assert!(model[&found.0] >= needed),
                None => assert!(model.values().all(|space| *space < needed)),
            }
        }
    }
    for (block, space) in &model {
        assert_eq!(fsm.recorded(BlockNo(*block)).unwrap(), *space);
    }
    // Truncation clears all entries beyond, and returns the length of the map.
    let left = fsm.prepare_truncate(5000).unwrap().unwrap();
    fixture.pool.truncate(&[(fixture.fork.clone(), left)], || Ok(())).unwrap();
    fsm.vacuum_range(BlockNo(5000), BlockNo::INVALID).unwrap();
    for (block, space) in &model {
        let expected = if *block < 5000 { *space } else { 0 };
        assert_eq!(fsm.recorded(BlockNo(*block)).unwrap(), expected);
    }
    let largest = *model.range(..5000).map(|(_, space)| space).max().unwrap();
    assert!(fsm.search(largest).unwrap().unwrap() < BlockNo(5000));
    if largest < REQUEST_MAX {
        assert_eq!(fsm.search(largest + 1).unwrap(), None);
    }
}

#[test]
fn truncation_within_a_map_page_logs_an_image() {
    let fixture = Fixture::new();
    let fsm = fixture.fsm();
    fsm.record(BlockNo(9000), 100).unwrap();
    let fpis = fixture.wal.stats().fpi;
    // Blocks 0: root, 1: middle, 2 to 4: bottom.
    assert_eq!(fsm.prepare_truncate(4069 * 2).unwrap(), Some(4));
    assert_eq!(fixture.wal.stats().fpi, fpis);
    assert_eq!(fsm.prepare_truncate(4069 + 1).unwrap(), Some(4));
    assert_eq!(fixture.wal.stats().fpi, fpis + 1);
    fixture.pool.truncate(&[(fixture.fork.clone(), 4)], || Ok(())).unwrap();
    assert_eq!(fsm.prepare_truncate(4069 * 2).unwrap(), None);
    assert_eq!(fsm.prepare_truncate(4069 * 2 + 1).unwrap(), None);
}

#[test]
fn damaged_pages_are_rebuilt_or_count_as_empty() {
    let fixture = Fixture::new();
    let fsm = fixture.fsm();
    fsm.record(BlockNo(9), 4000).unwrap();
    fsm.vacuum().unwrap();
    // The root node of the bottom page has a value that no leaf has.
    let mut strategy = Strategy::normal();
    let pin = fixture.pool.read(&fixture.fork, BlockNo(2), &mut strategy).unwrap();
    pin.exclusive().change_unlogged_hint(false, |page| {
        page.bytes_mut()[28] = 255;
        true
    });
    assert_eq!(fsm.search(8000).unwrap(), None);
    assert_eq!(fsm.search(3000).unwrap(), Some(BlockNo(9)));
    // A page that fails its checksum counts as empty.
    fixture.pool.checkpoint_write(true, 0, &mut |_| {}).unwrap();
    fixture.pool.drop_relation(REL);
    let file = fixture.disk.open("base/5/16400_fsm", vfs::OpenMode::ReadWrite).unwrap();
    file.write_all_at(b"damage", 2 * PAGE_SIZE as u64 + 5000).unwrap();
    let fork = fixture.pool.open(REL, Fork::Fsm, Persistence::Permanent);
    let fsm = Fsm::new(&fixture.pool, &fork);
    assert_eq!(fsm.search(3000).unwrap(), None);
    fsm.record(BlockNo(9), 4000).unwrap();
    fsm.vacuum().unwrap();
    assert_eq!(fsm.search(3000).unwrap(), Some(BlockNo(9)));
}

#[test]
fn a_free_index_page_is_returned_once() {
    let fixture = Fixture::new();
    for block in [4, 9] {
        index::record_free(fixture.fsm(), BlockNo(block)).unwrap();
    }
    index::vacuum(fixture.fsm()).unwrap();
    let mut taken: Vec<_> =
        (0..3).map(|_| index::take_free_page(fixture.fsm()).unwrap().map(|b| b.0)).collect();
    taken.sort_unstable();
    assert_eq!(taken, [None, Some(4), Some(9)]);
}

#[test]
fn many_threads_share_one_map() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for me in 0..4 {
            let fixture = &fixture;
            scope.spawn(move || {
                let random = SeededRandom::new(me);
                for _ in 0..300 {
                    let block = BlockNo(random.below(6000) as u32);
                    let space = random.below(8192) as usize;
                    fixture.fsm().record_and_search(block, space, 2000).unwrap();
                    if random.below(20) == 0 {
                        fixture.fsm().vacuum().unwrap();
                    }
                }
            });
        }
    });
    fixture.fsm().vacuum().unwrap();
    let found = fixture.fsm().search(2000).unwrap().unwrap();
    assert!(fixture.fsm().recorded(found).unwrap() >= 2000);
}
