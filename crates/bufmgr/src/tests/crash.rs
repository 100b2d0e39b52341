//! Power failures at random moments: afterwards the pages hold exactly the changes in the log.

use super::*;
use std::collections::BTreeMap;
use vfs::SeededRandom;

#[test]
fn pages_agree_with_the_log_after_any_crash() {
    for seed in 0..40 {
        one_crash(seed);
    }
}

fn one_crash(seed: u64) {
    let random = SeededRandom::new(seed);
    let fixture = Fixture::new(16 + random.below(30) as usize);
    let fork = fixture.relation(1, 5);
    // By block and slot: the values in order, each with the LSN of its record.
    let mut history: BTreeMap<(u32, usize), Vec<(Lsn, u64)>> = BTreeMap::new();
    let mut redo = START;
    let mut blocks = 5;
    for step in 0..random.below(600) {
        match random.below(100) {
            0..=1 => redo = fixture.checkpoint(),
            2..=6 => {
                fixture.add_page(&fork);
                blocks += 1;
            }
            7 => fixture.pool.flush_fork(&fork).unwrap(),
            8..=9 => fixture.wal.flush(fixture.wal.inserted()).unwrap(),
            10..=30 => {
                // Hints may be lost, but must not damage anything.
                let block = BlockNo(random.below(blocks) as u32);
                let pin = fixture.pool.read(&fork, block, &mut Strategy::normal()).unwrap();
                pin.share().try_set_hints(None, |hints| {
                    hints.or_u16(slot_at(SLOTS - 2), 1 << (step % 16));
                    true
                });
            }
            _ => {
                let (block, slot) = (random.below(blocks) as u32, random.below(8) as usize);
                let lsn = fixture.set(&fork, block, slot * 100, step);
                history.entry((block, slot * 100)).or_default().push((lsn, step));
            }
        }
    }
    let flushed = fixture.wal.flushed();
    let after = Fixture::unstarted(fixture.disk.crash(seed), 16, true);
    after.recover(redo);
    let end = after.wal.inserted();
    assert!(end >= flushed || fixture.wal.inserted() == START, "seed {seed}");
    let fork = after.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
    for ((block, slot), values) in history {
        let expected = values.iter().rev().find(|(lsn, _)| *lsn <= end).map(|(_, value)| *value);
        let found = if block < after.pool.nblocks(&fork).unwrap() {
            after.get(&fork, block, slot)
        } else {
            0
        };
        assert_eq!(found, expected.unwrap_or(0), "seed {seed}, block {block}, slot {slot}");
    }
}
