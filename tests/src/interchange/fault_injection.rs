//! Fault injection: corruption that only a comparison can detect. Fields of a record that differ
//! from the change that was made (with the checksum updated), an image that is not applied, a wrong
//! hint bit.

use crate::script::Script;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};
use testkit::verify::{self, copy};

/// The length of a record's header, which begins with the length and ends with the checksum.
const HEADER: usize = 24;
const CRC_AT: usize = 20;
const PAGE: usize = 8192;

/// The location of the next record: file and offset.
pub(super) fn place(client: &mut Client, data: &Path) -> (PathBuf, usize) {
    let text = client.value("SELECT pg_walfile_name_offset(pg_current_wal_insert_lsn())");
    let (name, at) = text.trim_matches(['(', ')']).split_once(',').expect("a pair");
    (data.join("pg_wal").join(name), at.parse().expect("a number"))
}

/// Advances the log so that the next records fit one page of the log.
pub(super) fn make_room(client: &mut Client, data: &Path) {
    client.must("CREATE TABLE IF NOT EXISTS filler (id int)");
    while !(100..4000).contains(&(place(client, data).1 % PAGE)) {
        client.must("INSERT INTO filler VALUES (1)");
    }
}

/// Finds the `nth` record from `from` on that contains `needle`, changes it, and updates its
/// checksum.
pub(super) fn change_record(
    from: &(PathBuf, usize),
    needle: &[u8],
    nth: usize,
    change: impl FnOnce(&mut [u8]),
) {
    let (segment, mut at) = from.clone();
    let mut bytes = std::fs::read(&segment).expect("a segment of the log");
    let mut seen = 0;
    loop {
        let word = bytes[at..at + 4].try_into().expect("four bytes");
        let len = u32::from_le_bytes(word) as usize;
        assert!(len >= HEADER && at % PAGE + len <= PAGE, "a record of {len} at {at}");
        let record = &mut bytes[at..at + len];
        assert_eq!(checksum(record), record[CRC_AT..HEADER], "at {at}");
        if record.windows(needle.len()).any(|w| w == needle) {
            if seen == nth {
                let before = record.to_vec();
                change(record);
                assert_ne!(before, record, "nothing was injected");
                let crc = checksum(record);
                record[CRC_AT..HEADER].copy_from_slice(&crc);
                break;
            }
            seen += 1;
        }
        at = (at + len).next_multiple_of(8);
    }
    std::fs::write(&segment, bytes).expect("it can be written");
}

/// The checksum covers the data first, then the header.
fn checksum(record: &[u8]) -> [u8; 4] {
    let crc = crc32c::crc32c(&record[HEADER..]);
    crc32c::crc32c_append(crc, &record[..CRC_AT]).to_le_bytes()
}

/// Replaces the last occurrence: a full-page image precedes the data that redo uses.
pub(super) fn replace_last(record: &mut [u8], from: &[u8], to: &[u8]) {
    let at = record.windows(from.len()).rposition(|w| w == from).expect("it occurs");
    record[at..at + to.len()].copy_from_slice(to);
}

/// Creates a directory without checksums with either server, runs `setup` and `last`, and crashes
/// it; returns where `last` begins in the log.
fn crashed(
    data: &Path,
    ours: bool,
    settings: &[&str],
    setup: &str,
    last: &str,
) -> (PathBuf, usize) {
    let work = |client: &mut Client| {
        client.must(setup);
        make_room(client, data);
        client.must("CHECKPOINT");
        let from = place(client, data);
        client.must(last);
        from
    };
    if ours {
        norsu::init_with(data, &["--locale=C", "--wal-segsize=1", "--no-data-checksums"]);
        let options: Vec<&str> = settings.iter().flat_map(|s| ["-c", *s]).collect();
        let mut server = Norsu::start(data, &options);
        let from = work(&mut server.connect("postgres"));
        server.kill();
        from
    } else {
        postgres::init_with(data, &["--locale=C", "--wal-segsize=1"]);
        let all = [settings, &["autovacuum=off"]].concat();
        let server = PostgresServer::start_with(data, "postgres", &all);
        let from = work(&mut server.connect("postgres"));
        server.crash();
        from
    }
}

/// The answer of a server that recovers a copy of the directory, or the server's log.
fn recovered(data: &Path, copied: &Path, ours: bool, sql: &str) -> Result<String, String> {
    copy(data, copied);
    chown_to_server_user(copied);
    let mut client;
    let (norsu, real);
    if ours {
        norsu = Norsu::try_start(copied, &[])?;
        client = norsu.connect("postgres");
    } else {
        real = PostgresServer::try_start(copied, "postgres", &["autovacuum=off"])?;
        client = real.connect("postgres");
    }
    let reply = client.query(sql).expect("an answer");
    reply.error.as_ref().map_or_else(|| Ok(reply.text().join(",")), |e| Err(e.message.to_string()))
}

/// The image in the record is correct, but the data that redo uses is not, as if a field had not
/// been logged.
#[test]
fn missing_fields_of_records_are_detected_by_the_comparison() {
    const ROW: &[u8] = b"planted-aaaaaaaa";
    let dir = TempDir::new("fields");
    chown_to_server_user(dir.path());
    let settings = ["wal_consistency_checking=all", "full_page_writes=off"];
    for made_by_us in [true, false] {
        // The record of the row, and that of its index entry.
        for nth in 0..2 {
            let data = dir.path().join("data");
            let from = crashed(
                &data,
                made_by_us,
                &settings,
                "CREATE TABLE t (id text PRIMARY KEY); INSERT INTO t VALUES ('first')",
                "INSERT INTO t VALUES ('planted-aaaaaaaa')",
            );
            let copied = dir.path().join("copied");
            for injected in [false, true] {
                if injected {
                    change_record(&from, ROW, nth, |r| replace_last(r, ROW, b"planted-aaaaaaab"));
                }
                for ours in [true, false] {
                    let found = recovered(&data, &copied, ours, "SELECT id FROM t ORDER BY id");
                    match &found {
                        Ok(rows) => {
                            assert!(!injected && rows == "first,planted-aaaaaaaa", "{rows}")
                        }
                        Err(log) => {
                            let noticed = log.contains("inconsistent page found");
                            assert!(injected && noticed, "{made_by_us} {nth} {ours}: {log}");
                        }
                    }
                    std::fs::remove_dir_all(&copied).expect("a copy");
                }
            }
            std::fs::remove_dir_all(&data).expect("a directory");
        }
    }
}

/// A page is torn, and the full-page image that would repair it is not applied.
#[test]
fn a_missing_page_image_is_detected_by_the_contents() {
    let dir = TempDir::new("image");
    chown_to_server_user(dir.path());
    // In physical order.
    let sql = "SELECT count(*), sum(length(t)) FROM t";
    for made_by_us in [true, false] {
        let data = dir.path().join("data");
        let from = crashed(
            &data,
            made_by_us,
            &["full_page_writes=on"],
            "CREATE TABLE t (id int, t text); \
             INSERT INTO t SELECT g, repeat('x', 100) FROM generate_series(1, 20) g; \
             CREATE TABLE name AS SELECT pg_relation_filepath('t') AS path",
            "INSERT INTO t VALUES (0, 'planted')",
        );
        let copied = dir.path().join("copied");
        let path = recovered(&data, &copied, false, "SELECT path FROM name").expect("a path");
        std::fs::remove_dir_all(&copied).expect("a copy");
        let mut bytes = std::fs::read(data.join(&path)).expect("the table");
        bytes[PAGE / 2..PAGE].fill(0);
        std::fs::write(data.join(&path), bytes).expect("it can be written");
        for injected in [false, true] {
            if injected {
                change_record(&from, b"planted", 0, |r| {
                    const FLAGS_AT: usize = 25;
                    const IMAGE_FLAGS_AT: usize = 32;
                    const HAS_IMAGE: u8 = 0x10;
                    const APPLY: u8 = 0x02;
                    assert!(r[FLAGS_AT] & HAS_IMAGE != 0 && r[IMAGE_FLAGS_AT] & APPLY != 0);
                    r[IMAGE_FLAGS_AT] &= !APPLY;
                });
            }
            for ours in [true, false] {
                let found = recovered(&data, &copied, ours, sql);
                let whole = found.as_deref() == Ok("21|2007");
                assert_eq!(whole, !injected, "{made_by_us} {ours}: {found:?}");
                std::fs::remove_dir_all(&copied).expect("a copy");
            }
        }
        std::fs::remove_dir_all(&data).expect("a directory");
    }
}

/// Offsets of the tuples of a page to which normal line pointers refer.
pub(super) fn tuples(page: &[u8]) -> Vec<usize> {
    let half = |at: usize| u16::from_le_bytes([page[at], page[at + 1]]);
    let pointers = (24..usize::from(half(12))).step_by(4);
    let words = pointers.map(|at| u32::from(half(at)) | u32::from(half(at + 2)) << 16);
    words.filter(|w| w >> 15 & 3 == 1).map(|w| (w & 0x7FFF) as usize).collect()
}

/// Offset of the infomask in a tuple, and its hint bits about the inserting transaction.
pub(super) const INFOMASK_AT: usize = 20;
pub(super) const XMIN_COMMITTED_HIGH: u8 = 0x01;
const XMIN_INVALID_HIGH: u8 = 0x02;
const XMAX_INVALID_HIGH: u8 = 0x08;

/// A hint bit marks a row's inserter as aborted although it has committed.
#[test]
fn a_wrong_hint_bit_is_detected_by_the_contents() {
    let dir = TempDir::new("hint");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--no-data-checksums"]);
    let server = Norsu::start(&data, &[]);
    let mut clients: Vec<Client> = (0..3).map(|_| server.connect("postgres")).collect();
    let mut script = Script::new(false);
    script.start(&mut clients).expect("a start");
    script.every_kind(&mut clients).expect("statements");
    script.verify(&mut clients[0]).expect("what the script says");
    let path = data.join(clients[0].value("SELECT pg_relation_filepath('shared')"));
    drop(clients);
    script.shut_down();
    server.stop(&data);
    for injected in [false, true] {
        if injected {
            let mut bytes = std::fs::read(&path).expect("the table");
            let settled = XMIN_COMMITTED_HIGH | XMAX_INVALID_HIGH;
            let high = |at: &usize| at + INFOMASK_AT + 1;
            let mut all = tuples(&bytes[..PAGE]).into_iter();
            let row = all.find(|at| bytes[high(at)] & settled == settled).expect("a live row");
            let hints = &mut bytes[high(&row)];
            *hints = *hints & !XMIN_COMMITTED_HIGH | XMIN_INVALID_HIGH;
            std::fs::write(&path, bytes).expect("it can be written");
        }
        for ours in [true, false] {
            let copied = dir.path().join("copied");
            copy(&data, &copied);
            let verify = |client: &mut Client| script.clone().verify(client);
            let found = if ours {
                verify(&mut Norsu::start(&copied, &[]).connect("postgres"))
            } else {
                verify(&mut PostgresServer::start(&copied, "postgres").connect("postgres"))
            };
            assert_eq!(found.is_err(), injected, "{ours}: {found:?}");
            std::fs::remove_dir_all(&copied).expect("a copy");
        }
    }
}

/// PostgreSQL's checking programs report a page that is wrongly marked as all-visible, and an index
/// that lacks a row.
#[test]
fn postgresql_programs_detect_corruption() {
    let dir = TempDir::new("complains");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--no-data-checksums"]);
    let server = Norsu::start(&data, &[]);
    server.query(
        "CREATE TABLE t (id text PRIMARY KEY); \
         INSERT INTO t SELECT 'key-' || g FROM generate_series(100, 200) g",
    );
    server.query("VACUUM t");
    server.query("DELETE FROM t WHERE id = 'key-150'");
    let [table, index] = ["t", "t_pkey"]
        .map(|name| data.join(server.query(&format!("SELECT pg_relation_filepath('{name}')"))));
    server.stop(&data);
    let complains = || {
        let copied = dir.path().join("copied");
        copy(&data, &copied);
        let server = PostgresServer::start_with(&copied, "postgres", &["autovacuum=off"]);
        let found = catch_unwind(AssertUnwindSafe(|| verify::check(&server))).is_err();
        drop(server);
        std::fs::remove_dir_all(&copied).expect("a copy");
        found
    };
    assert!(!complains());
    let map = PathBuf::from(format!("{}_vm", table.display()));
    for (path, at, bit) in [(map, 24, 1), (index, 0, 0)] {
        let whole = std::fs::read(&path).expect("a file");
        let mut bytes = whole.clone();
        if bit == 0 {
            let key = bytes.windows(7).position(|w| w == b"key-123").expect("an entry");
            bytes[key + 6] = b'4';
        } else {
            assert_eq!(bytes[at] & bit, 0);
            bytes[at] |= bit;
        }
        std::fs::write(&path, bytes).expect("it can be written");
        assert!(complains(), "{}", path.display());
        std::fs::write(&path, whole).expect("it can be written");
    }
}
