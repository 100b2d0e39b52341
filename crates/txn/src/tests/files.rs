//! File formats: `pg_waldump` reads Norsu's records, and pg_xact has PostgreSQL's layout.

use super::*;
use ids::RelFile;
use std::process::Command;

const WALDUMP: &str = "/usr/lib/postgresql/15/bin/pg_waldump";

/// The log as text by `pg_waldump`.
fn dump(disk: &MemDisk) -> String {
    let dir = std::env::temp_dir().join(format!("norsu-txn-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let name = "000000010000000000000001";
    let bytes = vfs::read_file(disk, &format!("pg_wal/{name}")).unwrap();
    let file = dir.join(name);
    std::fs::write(&file, bytes).unwrap();
    let out = Command::new(WALDUMP).arg(&file).output().expect("pg_waldump runs");
    std::fs::remove_dir_all(&dir).unwrap();
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn pg_waldump_reads_the_records() {
    let (disk, env) = env();
    let m = fresh(&env);
    let (mut a, mut b) = (connect(&m), connect(&m));
    begin(&mut b);
    b.current_xid().unwrap();
    begin(&mut a);
    a.current_xid().unwrap();
    for _ in 0..2 {
        a.begin_subxact().unwrap();
        a.current_xid().unwrap();
        a.commit_subxact().unwrap();
    }
    let mut message = [0u8; 16];
    message[0] = (-2i8) as u8;
    message[4..8].copy_from_slice(&5u32.to_le_bytes());
    message[8..12].copy_from_slice(&1259u32.to_le_bytes());
    let extras = XactExtras {
        dropped_files: vec![RelFile::new(Oid(1663), Oid(5), Oid(16385))],
        dropped_stats: vec![DroppedStats { kind: 2, database: Oid(5), object: Oid(16385) }],
        invalidations: vec![message],
        relcache_init_file: true,
        ..XactExtras::default()
    };
    let mut builder = wal::RecordBuilder::new(wal::RmgrId::Xact, 0);
    m.log_standby_snapshot(&mut builder).unwrap();
    let x = a.top_xid_if_any();
    a.set_oldest_multixact_member();
    a.multixact_create(&[
        MultiXactMember { xid: x, status: MultiXactStatus::ForShare },
        MultiXactMember { xid: Xid(3), status: MultiXactStatus::NoKeyUpdate },
    ])
    .unwrap();
    m.new_oid().unwrap();
    // 2024-01-01 00:00:00 UTC
    a.commit(&extras, true, 757_382_400_000_000).unwrap();
    a.release_locks();
    abort(&mut b);
    m.wal.flush(m.wal.inserted()).unwrap();
    let text = dump(&disk);
    let expected = [
        "desc: RUNNING_XACTS nextXid 7 latestCompletedXid 2 oldestRunningXid 3; \
         2 xacts: 4 3",
        "desc: ZERO_OFF_PAGE 0",
        "desc: CREATE_ID 1 offset 1 nmembers 2: 3 (nokeyupd) 4 (sh) ",
        "desc: NEXTOID 24576",
        "desc: COMMIT 2024-01-01 00:00:00.000000 UTC; rels: base/5/16385; subxacts: 5 6; \
         dropped stats: 2/5/16385; relcache init file inval dbid 5 tsid 1663; \
         inval msgs: relcache 1259",
        "desc: ABORT 2024-01-01 ",
    ];
    for line in expected {
        let found = text.contains(line);
        assert!(found, "no \"{line}\" in\n{text}");
    }
}

/// 2 bits per id, four ids per byte starting from the lowest bits; 32 pages of 8 KB per file.
#[test]
fn pg_xact_files_have_the_layout_of_postgresql() {
    let (disk, env) = env();
    let m = fresh_at(&env, FullXid(32 * 32_768 - 4));
    let mut t = connect(&m);
    for i in 0..12u32 {
        begin(&mut t);
        t.current_xid().unwrap();
        if i % 3 == 0 { abort(&mut t) } else { commit(&mut t) }
    }
    m.checkpoint().unwrap();
    let first = vfs::read_file(&*disk, "pg_xact/0000").unwrap();
    let second = vfs::read_file(&*disk, "pg_xact/0001").unwrap();
    assert_eq!(first.len(), 32 * 8192);
    // abort commit commit abort | commit commit abort commit | …
    assert_eq!(first[32 * 8192 - 1], 0b10_01_01_10);
    assert_eq!(second[..3], [0b01_10_01_01, 0b01_01_10_01, 0]);
    assert_eq!(second.len(), 8192);
}
