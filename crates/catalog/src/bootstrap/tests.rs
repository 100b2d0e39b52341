use super::*;

#[test]
fn a_directory_that_is_not_empty_is_refused() {
    let env = Env::memory(1);
    vfs::write_file(&*env.disk, "some", b"thing").unwrap();
    let error = init(&env, &InitOptions::default()).unwrap_err();
    assert!(error.message().ends_with("exists but is not empty"), "{error}");
}

#[test]
fn reserved_names_and_invalid_segment_sizes_are_refused() {
    let env = Env::memory(1);
    let options = InitOptions { user: "pg_x".to_owned(), ..InitOptions::default() };
    let error = init(&env, &options).unwrap_err();
    assert_eq!(
        error.message(),
        "superuser name \"pg_x\" is disallowed; role names cannot begin with \"pg_\""
    );
    let options = InitOptions { wal_segment_size: 3 << 20, ..InitOptions::default() };
    assert!(init(&env, &options).is_err());
}

/// `pg_control` decodes and every page has a valid checksum.
#[test]
fn control_file_and_page_checksums_are_valid() {
    let env = Env::memory(7);
    init(&env, &InitOptions { sync: false, ..InitOptions::default() }).unwrap();
    let disk = &*env.disk;
    let control = vfs::read_file(disk, "global/pg_control").unwrap();
    let control = wal::ControlFile::decode(&control).unwrap();
    assert_eq!(control.check_point, ids::Lsn(0x0100_0028));
    for database in DATABASES {
        let bytes = vfs::read_file(disk, &format!("base/{database}/1255")).unwrap();
        assert!(bytes.len() > 50 * page::PAGE_SIZE);
        for (block, bytes) in bytes.chunks_exact(page::PAGE_SIZE).enumerate() {
            let page = page::PageBuf::from_bytes(bytes.try_into().unwrap());
            let block = ids::BlockNo(block as u32);
            assert_eq!(page.verify(block, true), page::Verified::Good);
        }
    }
}
