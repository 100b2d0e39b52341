//! Damaged pages, failing and full disks.

use super::*;
use pgerror::SqlState;
use vfs::Op;

/// Writes all pages and removes the relation from the pool; returns a new handle.
fn evict_all(fixture: &Fixture, fork: &Arc<ForkBuffers>) -> Arc<ForkBuffers> {
    fixture.checkpoint();
    fixture.pool.drop_relation(fork.name().rel);
    fixture.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent)
}

fn damage(fixture: &Fixture, at: u64) {
    let file = fixture.disk.open("base/5/1", vfs::OpenMode::ReadWrite).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x40], at).unwrap();
}

fn try_read(fixture: &Fixture, fork: &Arc<ForkBuffers>, block: u32) -> Result<u64, PgError> {
    let pin = fixture.pool.read(fork, BlockNo(block), &mut Strategy::normal())?;
    Ok(pin.share().u64_at(slot_at(0)))
}

#[test]
fn a_damaged_page_is_an_error_unless_a_setting_accepts_it() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 3);
    fixture.set(&fork, 1, 0, 99);
    let fork = evict_all(&fixture, &fork);
    damage(&fixture, PAGE_SIZE as u64 + 5000);
    for _ in 0..2 {
        let error = try_read(&fixture, &fork, 1).unwrap_err();
        assert_eq!(error.message(), "invalid page in block 1 of relation base/5/1");
        assert_eq!(error.code(), SqlState::DATA_CORRUPTED);
    }
    assert!(
        fixture.warnings.lock()[0].starts_with("page verification failed, calculated checksum ")
    );
    fixture.pool.set_ignore_checksum_failure(true);
    assert_eq!(try_read(&fixture, &fork, 1).unwrap(), 99);
    fixture.pool.set_ignore_checksum_failure(false);
    let fork = evict_all(&fixture, &fork);
    damage(&fixture, PAGE_SIZE as u64 + 5001);
    let mut strategy = Strategy::normal();
    let pin = fixture.pool.read_zero_on_error(&fork, BlockNo(1), &mut strategy).unwrap();
    assert!(pin.share().is_all_zeros());
    let fork = evict_all(&fixture, &fork);
    fixture.pool.set_zero_damaged_pages(true);
    assert_eq!(try_read(&fixture, &fork, 1).unwrap(), 0);
    assert_eq!(try_read(&fixture, &fork, 2).unwrap(), 0);
    assert!(fixture.warnings.lock().last().unwrap().ends_with("; zeroing out page"));
}

#[test]
fn each_session_uses_its_own_settings_and_gets_its_own_warnings() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 3);
    fixture.set(&fork, 1, 0, 99);
    let fork = evict_all(&fixture, &fork);
    damage(&fixture, PAGE_SIZE as u64 + 5000);
    let sessions = [(false, false), (false, true), (true, false)].map(|(zero, ignore)| {
        let session = Arc::new(PoolSession::default());
        session.configure(PoolSettings {
            zero_damaged_pages: zero,
            ignore_checksum_failure: ignore,
            flush_after: 0,
            ..PoolSettings::default()
        });
        session
    });
    let mut results = Vec::new();
    for session in &sessions {
        let fork = evict_all(&fixture, &fork);
        let mut strategy = Strategy::for_session(session.clone());
        let pin = fixture.pool.read(&fork, BlockNo(1), &mut strategy);
        let value = pin.map(|pin| pin.share().u64_at(slot_at(0)));
        results.push((value.ok(), session.take_warnings().len()));
        assert!(session.take_warnings().is_empty());
    }
    assert_eq!(results, [(None, 1), (Some(99), 1), (Some(0), 2)]);
    assert!(fixture.warnings.lock().is_empty());
}

#[test]
fn checksums_bind_pages_to_their_block_numbers() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 3);
    let fork = evict_all(&fixture, &fork);
    let file = fixture.disk.open("base/5/1", vfs::OpenMode::ReadWrite).unwrap();
    let mut page = [0; PAGE_SIZE];
    file.read_exact_at(&mut page, 0).unwrap();
    file.write_all_at(&page, 2 * PAGE_SIZE as u64).unwrap();
    assert!(try_read(&fixture, &fork, 0).is_ok());
    assert!(try_read(&fixture, &fork, 2).is_err());
}

#[test]
fn a_failed_read_is_reported_and_can_be_tried_again() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 3);
    let fork = evict_all(&fixture, &fork);
    fixture.disk.fail_nth(Op::Read, 1, 5);
    let error = try_read(&fixture, &fork, 2).unwrap_err();
    assert_eq!(error.message(), "could not read block 2 in file \"base/5/1\": Input/output error");
    assert_eq!(try_read(&fixture, &fork, 2).unwrap(), 0);
    let error = try_read(&fixture, &fork, 3).unwrap_err();
    assert_eq!(
        error.message(),
        "could not read block 3 in file \"base/5/1\": read only 0 of 8192 bytes"
    );
    // The failed read beyond the end does not prevent extension.
    assert_eq!(fixture.add_page(&fork), BlockNo(3));
}

#[test]
fn a_failed_write_keeps_the_page() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 40);
    fixture.checkpoint();
    for block in 0..10 {
        fixture.set(&fork, block, 0, u64::from(block) + 1);
    }
    fixture.disk.fail_all_on(Op::Write, "base/5", 5);
    let mut errors = 0;
    for block in 20..40 {
        errors += usize::from(try_read(&fixture, &fork, block).is_err());
    }
    assert!(errors > 0, "some read had to replace a dirty page");
    assert!(fixture.pool.checkpoint_write(false, 0, &mut |_| {}).is_err());
    fixture.disk.clear_faults();
    for block in 0..10 {
        assert_eq!(try_read(&fixture, &fork, block).unwrap(), u64::from(block) + 1);
    }
    fixture.checkpoint();
    let after = Fixture::unstarted(fixture.disk.crash_losing_all(), 16, true);
    let fork = after.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
    assert!((0..10).all(|n| try_read(&after, &fork, n).unwrap() == u64::from(n) + 1));
}

#[test]
fn a_full_disk_stops_extension_and_nothing_else() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 5);
    fixture.disk.set_capacity(Some(fixture.disk.used() + 5000));
    let error = fixture.pool.extend(&fork, &mut Strategy::normal()).err().unwrap();
    assert_eq!(error.message(), "could not extend file \"base/5/1\": No space left on device");
    assert_eq!(error.code(), SqlState::DISK_FULL);
    assert_eq!(fixture.pool.nblocks(&fork).unwrap(), 5);
    fixture.disk.set_capacity(None);
    for n in 5..50 {
        assert_eq!(fixture.add_page(&fork), BlockNo(n), "frames were not lost");
    }
}

#[test]
fn a_log_that_fails_under_an_edit_takes_the_server_down() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 2);
    fixture.disk.fail_all_on(Op::Write, "pg_wal", 5);
    fixture.disk.fail_all_on(Op::Open, "pg_wal", 5);
    let mut scratch = scratch();
    let pin = fixture.pool.read(&fork, BlockNo(0), &mut Strategy::normal()).unwrap();
    let mut guard = pin.exclusive();
    // More than the WAL buffers hold: some insertion has to write.
    let failed = (0..2000).any(|n| {
        let mut edit = PageEdit::begin(&fixture.wal, &mut scratch);
        edit.change(&mut guard, 0, RegFlags::FORCE_IMAGE).set_u64_at(slot_at(0), n);
        edit.log(KIND, SET, Xid(3)).is_err()
    });
    assert!(failed && !fixture.crashes.lock().is_empty());
}
