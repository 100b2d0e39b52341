//! Damaged pages, failing and full disks.

use super::*;
use pgerror::SqlState;
use vfs::Op;

/// Writes all pages and removes the relation from the pool; returns a new handle.
fn evict_all(world: &World, fork: &Arc<ForkBuffers>) -> Arc<ForkBuffers> {
    world.checkpoint();
    world.pool.drop_relation(fork.name().rel);
    world.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent)
}

fn damage(world: &World, at: u64) {
    let file = world.disk.open("base/5/1", vfs::OpenMode::ReadWrite).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x40], at).unwrap();
}

fn try_read(world: &World, fork: &Arc<ForkBuffers>, block: u32) -> Result<u64, PgError> {
    let pin = world.pool.read(fork, BlockNo(block), &mut Strategy::normal())?;
    Ok(pin.share().u64_at(slot_at(0)))
}

#[test]
fn a_damaged_page_is_an_error_unless_a_setting_accepts_it() {
    let world = World::new(16);
    let fork = world.relation(1, 3);
    world.set(&fork, 1, 0, 99);
    let fork = evict_all(&world, &fork);
    damage(&world, PAGE_SIZE as u64 + 5000);
    for _ in 0..2 {
        let error = try_read(&world, &fork, 1).unwrap_err();
        assert_eq!(error.message(), "invalid page in block 1 of relation base/5/1");
        assert_eq!(error.code(), SqlState::DATA_CORRUPTED);
    }
    assert!(world.warnings.lock()[0].starts_with("page verification failed, calculated checksum "));
    world.pool.set_ignore_checksum_failure(true);
    assert_eq!(try_read(&world, &fork, 1).unwrap(), 99);
    world.pool.set_ignore_checksum_failure(false);
    let fork = evict_all(&world, &fork);
    damage(&world, PAGE_SIZE as u64 + 5001);
    let mut strategy = Strategy::normal();
    let pin = world.pool.read_zero_on_error(&fork, BlockNo(1), &mut strategy).unwrap();
    assert!(pin.share().is_all_zeros());
    let fork = evict_all(&world, &fork);
    world.pool.set_zero_damaged_pages(true);
    assert_eq!(try_read(&world, &fork, 1).unwrap(), 0);
    assert_eq!(try_read(&world, &fork, 2).unwrap(), 0);
    assert!(world.warnings.lock().last().unwrap().ends_with("; zeroing out page"));
}

#[test]
fn each_session_uses_its_own_settings_and_gets_its_own_warnings() {
    let world = World::new(16);
    let fork = world.relation(1, 3);
    world.set(&fork, 1, 0, 99);
    let fork = evict_all(&world, &fork);
    damage(&world, PAGE_SIZE as u64 + 5000);
    let sessions = [(false, false), (false, true), (true, false)].map(|(zero, ignore)| {
        let session = Arc::new(PoolSession::default());
        session.configure(PoolSettings {
            zero_damaged_pages: zero,
            ignore_checksum_failure: ignore,
            flush_after: 0,
        });
        session
    });
    let mut results = Vec::new();
    for session in &sessions {
        let fork = evict_all(&world, &fork);
        let mut strategy = Strategy::for_session(session.clone());
        let pin = world.pool.read(&fork, BlockNo(1), &mut strategy);
        let value = pin.map(|pin| pin.share().u64_at(slot_at(0)));
        results.push((value.ok(), session.take_warnings().len()));
        assert!(session.take_warnings().is_empty());
    }
    assert_eq!(results, [(None, 1), (Some(99), 1), (Some(0), 2)]);
    assert!(world.warnings.lock().is_empty());
}

#[test]
fn checksums_bind_pages_to_their_block_numbers() {
    let world = World::new(16);
    let fork = world.relation(1, 3);
    let fork = evict_all(&world, &fork);
    let file = world.disk.open("base/5/1", vfs::OpenMode::ReadWrite).unwrap();
    let mut page = [0; PAGE_SIZE];
    file.read_exact_at(&mut page, 0).unwrap();
    file.write_all_at(&page, 2 * PAGE_SIZE as u64).unwrap();
    assert!(try_read(&world, &fork, 0).is_ok());
    assert!(try_read(&world, &fork, 2).is_err());
}

#[test]
fn a_failed_read_is_reported_and_can_be_tried_again() {
    let world = World::new(16);
    let fork = world.relation(1, 3);
    let fork = evict_all(&world, &fork);
    world.disk.fail_nth(Op::Read, 1, 5);
    let error = try_read(&world, &fork, 2).unwrap_err();
    assert_eq!(error.message(), "could not read block 2 in file \"base/5/1\": Input/output error");
    assert_eq!(try_read(&world, &fork, 2).unwrap(), 0);
    let error = try_read(&world, &fork, 3).unwrap_err();
    assert_eq!(
        error.message(),
        "could not read block 3 in file \"base/5/1\": read only 0 of 8192 bytes"
    );
    // The failed read beyond the end does not prevent extension.
    assert_eq!(world.add_page(&fork), BlockNo(3));
}

#[test]
fn a_failed_write_keeps_the_page() {
    let world = World::new(16);
    let fork = world.relation(1, 40);
    world.checkpoint();
    for block in 0..10 {
        world.set(&fork, block, 0, u64::from(block) + 1);
    }
    world.disk.fail_all_on(Op::Write, "base/5", 5);
    let mut errors = 0;
    for block in 20..40 {
        errors += usize::from(try_read(&world, &fork, block).is_err());
    }
    assert!(errors > 0, "some read had to replace a dirty page");
    assert!(world.pool.checkpoint_write(false, 0, &mut |_| {}).is_err());
    world.disk.clear_faults();
    for block in 0..10 {
        assert_eq!(try_read(&world, &fork, block).unwrap(), u64::from(block) + 1);
    }
    world.checkpoint();
    let after = World::unstarted(world.disk.crash_losing_all(), 16, true);
    let fork = after.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
    assert!((0..10).all(|n| try_read(&after, &fork, n).unwrap() == u64::from(n) + 1));
}

#[test]
fn a_full_disk_stops_extension_and_nothing_else() {
    let world = World::new(16);
    let fork = world.relation(1, 5);
    world.disk.set_capacity(Some(world.disk.used() + 5000));
    let error = world.pool.extend(&fork, &mut Strategy::normal()).err().unwrap();
    assert_eq!(error.message(), "could not extend file \"base/5/1\": No space left on device");
    assert_eq!(error.code(), SqlState::DISK_FULL);
    assert_eq!(world.pool.nblocks(&fork).unwrap(), 5);
    world.disk.set_capacity(None);
    for n in 5..50 {
        assert_eq!(world.add_page(&fork), BlockNo(n), "frames were not lost");
    }
}

#[test]
fn a_log_that_fails_under_an_edit_takes_the_server_down() {
    let world = World::new(16);
    let fork = world.relation(1, 2);
    world.disk.fail_all_on(Op::Write, "pg_wal", 5);
    world.disk.fail_all_on(Op::Open, "pg_wal", 5);
    let mut scratch = scratch();
    let pin = world.pool.read(&fork, BlockNo(0), &mut Strategy::normal()).unwrap();
    let mut guard = pin.exclusive();
    // More than the WAL buffers hold: some insertion has to write.
    let failed = (0..2000).any(|n| {
        let mut edit = PageEdit::begin(&world.wal, &mut scratch);
        edit.change(&mut guard, 0, RegFlags::FORCE_IMAGE).set_u64_at(slot_at(0), n);
        edit.log(KIND, SET, Xid(3)).is_err()
    });
    assert!(failed && !world.crashes.lock().is_empty());
}
