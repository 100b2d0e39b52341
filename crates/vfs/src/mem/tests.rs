use super::*;
use crate::durable::*;
use std::collections::BTreeSet;

fn disk_with(path: &str, bytes: &[u8]) -> (MemDisk, Arc<dyn File>) {
    let disk = MemDisk::new();
    let file = disk.open(path, OpenMode::CreateNew).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file.sync_all().unwrap();
    disk.sync_dir(".").unwrap();
    (disk, file)
}

fn bytes_of(disk: &MemDisk, path: &str) -> Option<Vec<u8>> {
    exists(disk, path).unwrap().then(|| read_file(disk, path).unwrap())
}

#[test]
fn synced_data_under_a_synced_name_survives_every_crash() {
    let (disk, _file) = disk_with("a", &[7; 3000]);
    for seed in 0..50 {
        assert_eq!(bytes_of(&disk.crash(seed), "a").unwrap(), vec![7; 3000]);
    }
}

#[test]
fn a_name_without_directory_sync_may_be_lost_or_survive() {
    let disk = MemDisk::new();
    let file = disk.open("a", OpenMode::CreateNew).unwrap();
    file.write_all_at(b"x", 0).unwrap();
    file.sync_all().unwrap();
    let seen: BTreeSet<_> = (0..100).map(|seed| bytes_of(&disk.crash(seed), "a")).collect();
    assert_eq!(seen, BTreeSet::from([None, Some(b"x".to_vec())]));
    assert_eq!(bytes_of(&disk.crash_losing_all(), "a"), None);
    assert_eq!(bytes_of(&disk.killed(), "a"), Some(b"x".to_vec()));
}

#[test]
fn unsynced_sectors_survive_whole_in_any_combination() {
    let (disk, file) = disk_with("a", &[1; 2048]);
    file.write_all_at(&[2; 1024], 512).unwrap();
    let mut seen = BTreeSet::new();
    for seed in 0..300 {
        let bytes = bytes_of(&disk.crash(seed), "a").unwrap();
        let sectors: Vec<u8> = bytes
            .chunks(512)
            .map(|sector| {
                assert!(sector.iter().all(|b| *b == sector[0]), "a torn sector");
                sector[0]
            })
            .collect();
        assert_eq!((sectors[0], sectors[3]), (1, 1));
        seen.insert((sectors[1], sectors[2]));
    }
    assert_eq!(seen, BTreeSet::from([(1, 1), (1, 2), (2, 1), (2, 2)]));
}

#[test]
fn length_and_contents_are_lost_independently() {
    let (disk, file) = disk_with("a", &[1; 512]);
    file.write_all_at(&[2; 512], 512).unwrap();
    let seen: BTreeSet<_> =
        (0..200).map(|seed| bytes_of(&disk.crash(seed), "a").unwrap()).collect();
    let extended = |tail: u8| [[1; 512], [tail; 512]].concat();
    assert_eq!(seen, BTreeSet::from([vec![1; 512], extended(0), extended(2)]));
}

#[test]
fn an_unsynced_truncation_may_be_undone() {
    let (disk, file) = disk_with("a", &[1; 1024]);
    file.truncate(512).unwrap();
    let lens: BTreeSet<_> =
        (0..100).map(|seed| bytes_of(&disk.crash(seed), "a").unwrap().len()).collect();
    assert_eq!(lens, BTreeSet::from([512, 1024]));
    file.sync_data().unwrap();
    assert!((0..50).all(|seed| bytes_of(&disk.crash(seed), "a").unwrap().len() == 512));
}

#[test]
fn a_rename_is_one_change() {
    let (disk, _) = disk_with("a", b"new");
    write_file(&disk, "b", b"old").unwrap();
    disk.sync_dir(".").unwrap();
    disk.rename("a", "b").unwrap();
    let seen: BTreeSet<_> = (0..100)
        .map(|seed| {
            let after = disk.crash(seed);
            (bytes_of(&after, "a"), bytes_of(&after, "b").unwrap())
        })
        .collect();
    let before = (Some(b"new".to_vec()), b"old".to_vec());
    assert_eq!(seen, BTreeSet::from([before, (None, b"new".to_vec())]));
}

#[test]
fn replacing_a_file_leaves_old_or_new_at_every_step() {
    for step in 1..=6 {
        for seed in 0..20 {
            let (disk, _) = disk_with("f", b"old contents");
            // The power fails at the call number `step` of one kind, for each kind in turn.
            for op in [Op::Write, Op::Sync, Op::SyncDir, Op::Rename, Op::Open] {
                let disk = disk.killed();
                disk.fail_nth(op, step, libc::EIO);
                let result = replace_file(&disk, "f", b"new contents, longer");
                let found = bytes_of(&disk.crash(seed), "f").unwrap();
                if result.is_ok() {
                    assert_eq!(found, b"new contents, longer");
                } else {
                    assert!(found == b"old contents" || found == b"new contents, longer");
                }
            }
        }
    }
}

#[test]
fn a_failed_sync_loses_the_writes_although_readers_see_them() {
    let (disk, file) = disk_with("a", &[1; 512]);
    file.write_all_at(&[2; 512], 0).unwrap();
    disk.fail_nth(Op::Sync, 1, libc::EIO);
    assert_eq!(file.sync_data().unwrap_err().raw_os_error(), Some(libc::EIO));
    assert_eq!(bytes_of(&disk, "a").unwrap(), vec![2; 512]);
    // The second attempt reports success and writes nothing.
    file.sync_data().unwrap();
    assert_eq!(bytes_of(&disk.crash_losing_all(), "a").unwrap(), vec![1; 512]);
    file.write_all_at(&[3; 512], 0).unwrap();
    file.sync_data().unwrap();
    assert_eq!(bytes_of(&disk.crash_losing_all(), "a").unwrap(), vec![3; 512]);
}

#[test]
fn the_nth_call_fails_once_and_faults_can_be_limited_to_paths() {
    let (disk, file) = disk_with("a", &[1; 512]);
    let writes = disk.count(Op::Write);
    disk.fail_nth(Op::Write, 2, libc::EIO);
    assert!(file.write_at(b"x", 0).is_ok());
    assert_eq!(file.write_at(b"x", 0).unwrap_err().raw_os_error(), Some(libc::EIO));
    assert!(file.write_at(b"x", 0).is_ok());
    assert_eq!(disk.count(Op::Write), writes + 3);
    disk.fail_all_on(Op::Read, "b", libc::EIO);
    assert!(file.read_at(&mut [0; 1], 0).is_ok());
    let other = disk.open("b", OpenMode::Create).unwrap();
    assert!(other.read_at(&mut [0; 1], 0).is_err());
    assert!(other.read_at(&mut [0; 1], 0).is_err());
    disk.clear_faults();
    assert!(other.read_at(&mut [0; 1], 0).is_ok());
}

#[test]
fn short_writes_are_completed_by_the_all_variants() {
    let (disk, file) = disk_with("a", b"");
    disk.short_write_nth(1);
    assert_eq!(file.write_at(b"abcdef", 0).unwrap(), 3);
    disk.short_write_nth(1);
    disk.short_write_nth(2);
    file.write_all_vectored_at(
        &[IoSlice::new(b"hello "), IoSlice::new(b"wide "), IoSlice::new(b"world")],
        0,
    )
    .unwrap();
    assert_eq!(bytes_of(&disk, "a").unwrap(), b"hello wide world");
}

#[test]
fn a_full_disk_writes_what_fits_and_reuses_freed_space() {
    let (disk, file) = disk_with("a", &[1; 1000]);
    disk.set_capacity(Some(1500));
    assert_eq!(file.write_at(&[2; 1000], 1000).unwrap(), 500);
    assert_eq!(file.write_at(&[2; 500], 1500).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(file.write_all_at(&[3; 10], 1500).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    assert!(file.write_all_at(&[3; 1500], 0).is_ok(), "overwriting needs no space");
    file.truncate(100).unwrap();
    assert_eq!(disk.used(), 100);
    file.allocate(0, 1500).unwrap();
    assert_eq!(file.allocate(0, 1501).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    disk.unlink("a").unwrap();
    assert_eq!(disk.used(), 0);
}

#[test]
fn directories_links_and_their_errors() {
    let disk = MemDisk::new();
    let errno = |r: io::Result<()>| r.unwrap_err().raw_os_error().unwrap();
    assert_eq!(errno(disk.create_dir("x/y")), libc::ENOENT);
    create_dir_all(&disk, "x/y/z").unwrap();
    assert_eq!(errno(disk.remove_dir("x/y")), libc::ENOTEMPTY);
    assert_eq!(errno(disk.unlink("x/y")), libc::EISDIR);
    write_file(&disk, "x/f", b"1").unwrap();
    assert_eq!(errno(disk.create_dir("x/f/g")), libc::ENOTDIR);
    assert_eq!(errno(disk.open("x/f", OpenMode::CreateNew).map(|_| ())), libc::EEXIST);
    create_dir_all(&disk, "/else/where").unwrap();
    disk.symlink("/else/where", "x/link").unwrap();
    write_file(&disk, "x/link/f", b"2").unwrap();
    assert_eq!(read_file(&disk, "/else/where/f").unwrap(), b"2");
    assert_eq!(disk.lstat("x/link").unwrap().kind, FileKind::Symlink);
    assert_eq!(disk.stat("x/link").unwrap().kind, FileKind::Dir);
    disk.symlink("loop", "loop").unwrap();
    assert_eq!(errno(disk.open("loop", OpenMode::Read).map(|_| ())), libc::ELOOP);
    remove_tree(&disk, "x").unwrap();
    assert_eq!(disk.paths(), ["/else", "/else/where", "/else/where/f", "loop"]);
}

#[test]
fn a_lost_directory_loses_its_files() {
    let disk = MemDisk::new();
    disk.create_dir("d").unwrap();
    write_file(&disk, "d/f", b"1").unwrap();
    disk.sync_dir("d").unwrap();
    assert_eq!(disk.crash_losing_all().paths(), Vec::<String>::new());
    disk.sync_dir(".").unwrap();
    assert_eq!(disk.crash_losing_all().paths(), ["d", "d/f"]);
}

#[test]
fn a_disk_without_power_fails_everything() {
    let (disk, file) = disk_with("a", b"1");
    disk.power_off();
    assert!(file.read_at(&mut [0], 0).is_err());
    assert!(disk.open("a", OpenMode::Read).is_err());
    assert_eq!(bytes_of(&disk.crash(1), "a").unwrap(), b"1");
}

#[test]
fn a_planned_crash_precedes_its_change_and_the_disk_continues() {
    let (disk, file) = disk_with("a", &[1; 512]);
    disk.crash_at_change(3, 1);
    file.write_all_at(&[2; 512], 0).unwrap();
    file.sync_data().unwrap();
    assert!(disk.crashed().is_none());
    file.write_all_at(&[3; 512], 0).unwrap();
    file.sync_data().unwrap();
    assert_eq!(bytes_of(&disk.crashed().unwrap(), "a").unwrap(), vec![2; 512]);
    assert_eq!(bytes_of(&disk, "a").unwrap(), vec![3; 512]);
}

#[test]
fn a_disk_that_ignores_syncs_loses_the_data_in_a_crash() {
    let (disk, file) = disk_with("pg_wal", &[1; 512]);
    disk.ignore_sync_on("pg_wal");
    file.write_all_at(&[2; 512], 0).unwrap();
    file.sync_data().unwrap();
    assert_eq!(bytes_of(&disk.crash_losing_all(), "pg_wal").unwrap(), vec![1; 512]);
}
