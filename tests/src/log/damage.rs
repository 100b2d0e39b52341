//! Corrupted pages and records: both servers report the same errors and can read the remaining
//! data.

use std::path::Path;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user};
use testkit::verify::copy;

fn change(path: &Path, work: &dyn Fn(&mut [u8])) {
    let mut bytes = std::fs::read(path).expect("the file");
    work(&mut bytes);
    std::fs::write(path, bytes).expect("it can be written");
}

fn flip(path: &Path, at: usize) {
    change(path, &|b| b[at] ^= 0x10);
}

/// The errors of statements on a corrupted table, and the counter of checksum failures.
fn seen(client: &mut testkit::client::Client) -> Vec<String> {
    let mut out = Vec::new();
    for sql in [
        "SELECT count(*) FROM bad",
        "SELECT count(*) FROM good",
        "SELECT sum(id) FROM torn",
        "SET ignore_checksum_failure = on",
        "SELECT count(*) FROM bad",
        "RESET ignore_checksum_failure",
        "SET zero_damaged_pages = on",
        "SELECT sum(id) FROM torn",
    ] {
        let reply = client.query(sql).expect("an answer");
        out.extend(reply.notices.iter().map(|n| format!("{} {}", n.severity, n.message)));
        out.push(match &reply.error {
            Some(e) => format!("{} {}", e.code, e.message),
            None => reply.text().join(" "),
        });
    }
    client.must("SELECT pg_stat_force_next_flush()");
    out.push(client.value(
        "SELECT checksum_failures, checksum_last_failure IS NOT NULL FROM pg_stat_database \
         WHERE datname = 'postgres'",
    ));
    out
}

#[test]
fn damaged_pages_fail_the_statement_and_are_counted() {
    let dir = TempDir::new("damage");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let server = Norsu::start(&data, &[]);
    let mut paths = Vec::new();
    for table in ["bad", "good", "torn"] {
        server.query(&format!("CREATE TABLE {table} (id int, t text)"));
        server.query(&format!(
            "INSERT INTO {table} SELECT g, repeat('x', 50) FROM generate_series(1, 300) g"
        ));
        paths.push(server.query(&format!("SELECT pg_relation_filepath('{table}')")));
    }
    server.stop(&data);
    flip(&data.join(&paths[0]), 8192 + 5000);
    // Half of the page has the contents before the last write.
    change(&data.join(&paths[2]), &|b| b[4096..8192].fill(0));
    let duplicate = dir.path().join("duplicate");
    copy(&data, &duplicate);

    let server = Norsu::start(&data, &[]);
    let ours = seen(&mut server.connect("postgres"));
    assert!(server.log().contains("page verification failed, calculated checksum"));
    drop(server);
    let server = PostgresServer::start(&duplicate, "postgres");
    let theirs = seen(&mut server.connect("postgres"));
    assert_eq!(ours, theirs);
    assert!(ours[0].starts_with("WARNING page verification failed, calculated checksum "));
    assert_eq!(ours[1], format!("XX001 invalid page in block 1 of relation {}", paths[0]));
    assert_eq!((ours[2].as_str(), ours[ours.len() - 1].as_str()), ("300", "4|t"));
}

#[test]
fn replay_ends_at_a_damaged_record() {
    let dir = TempDir::new("damage");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let mut server = Norsu::start(&data, &[]);
    server.query("CREATE TABLE t (id int, t text)");
    server.query("CHECKPOINT");
    let mut client = server.connect("postgres");
    let mut places = Vec::new();
    for n in 0..40 {
        places.push(client.value("SELECT pg_walfile_name_offset(pg_current_wal_insert_lsn())"));
        client.must(&format!("INSERT INTO t VALUES ({n}, 'row {n}')"));
    }
    drop(client);
    server.kill();
    let place = places[25].trim_matches(['(', ')']).split_once(',').expect("a name and a number");
    let at: usize = place.1.parse().expect("a number");
    // Within the row of the twenty-sixth insert.
    flip(&data.join("pg_wal").join(place.0), at + 60);
    let duplicate = dir.path().join("duplicate");
    copy(&data, &duplicate);
    let server = Norsu::start(&data, &[]);
    assert_eq!(server.query("SELECT count(*), max(id) FROM t"), "25|24");
    assert!(server.log().contains("incorrect resource manager data checksum in record at"));
    let real = PostgresServer::start(&duplicate, "postgres");
    assert_eq!(real.query("postgres", "SELECT count(*), max(id) FROM t"), "25|24\n");
}

/// No checksum covers the page header of the log. PostgreSQL reports the same, but because of
/// read-ahead its replay ends a few records earlier or later; therefore the rows are counted here.
#[test]
fn replay_ends_before_a_page_of_another_timeline() {
    let dir = TempDir::new("damage");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let mut server = Norsu::start(&data, &[]);
    server.query("CREATE TABLE t (id int, t text)");
    server.query("CHECKPOINT");
    let mut client = server.connect("postgres");
    let place = "SELECT file_offset FROM pg_walfile_name_offset(pg_current_wal_insert_lsn())";
    let mut ends: Vec<usize> = Vec::new();
    for n in 0..400 {
        client.must(&format!("INSERT INTO t VALUES ({n}, repeat('row', 20))"));
        ends.push(client.value(place).parse().expect("a number"));
    }
    let segment = client.value("SELECT pg_walfile_name(pg_current_wal_insert_lsn())");
    drop(client);
    server.kill();
    let page = ends[200].next_multiple_of(8192);
    flip(&data.join("pg_wal").join(segment), page + 4);
    let server = Norsu::start(&data, &[]);
    let before = ends.iter().filter(|&&end| end <= page).count();
    assert_eq!(server.query("SELECT count(*) FROM t"), before.to_string());
    let said =
        format!("unexpected timeline ID 17 in log segment 000000010000000000000001, offset {page}");
    assert!(server.log().contains(&said), "{}", server.log());
}

/// The file of a table is missing, so replay of its records finds no page.
#[test]
fn a_missing_file_does_not_prevent_the_start() {
    let dir = TempDir::new("damage");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let mut server = Norsu::start(&data, &["-c", "full_page_writes=off"]);
    for table in ["lost", "good"] {
        server.query(&format!("CREATE TABLE {table} AS SELECT generate_series(1, 1000) AS id"));
    }
    server.query("CHECKPOINT");
    server.query("UPDATE lost SET id = -id WHERE id > 900");
    server.query("UPDATE good SET id = -id WHERE id > 900");
    let path = server.query("SELECT pg_relation_filepath('lost')");
    server.kill();
    std::fs::remove_file(data.join(path)).expect("the file");
    let duplicate = dir.path().join("duplicate");
    copy(&data, &duplicate);
    let ask = ["SELECT count(*), sum(id) FROM good", "SELECT count(*) FROM lost WHERE id > 0"];
    let server = Norsu::start(&data, &["-c", "full_page_writes=off"]);
    let ours = ask.map(|sql| server.query(sql));
    assert!(server.log().contains(" did not exist"), "{}", server.log());
    let real = PostgresServer::start_with(&duplicate, "postgres", &["full_page_writes=off"]);
    assert_eq!(ours, ask.map(|sql| real.query("postgres", sql).trim_end().to_owned()));
}

/// Without checksums, PostgreSQL ends with a PANIC or in an infinite loop on this corruption. Norsu
/// raises an error for statements that would have to move rows, and intact rows can be read.
#[test]
fn a_corrupt_heap_page_does_not_take_the_server_down() {
    let dir = TempDir::new("damage");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--no-data-checksums"]);
    let server = Norsu::start(&data, &[]);
    let mut paths = Vec::new();
    for table in ["pointer", "header", "chain"] {
        server.query(&format!("CREATE TABLE {table} (id int, t text)"));
        server.query(&format!(
            "INSERT INTO {table} SELECT g, repeat('x', 50) FROM generate_series(1, 60) g"
        ));
        paths.push(data.join(server.query(&format!("SELECT pg_relation_filepath('{table}')"))));
    }
    server.query("DELETE FROM chain WHERE id < 5");
    server.stop(&data);
    let pointer = |n: usize| 24 + 4 * (n - 1);
    // A line pointer to an offset beyond the page.
    change(&paths[0], &|b| b[pointer(9)..pointer(10)].copy_from_slice(&[0xff, 0xff, 0, 1]));
    // Line pointers whose array ends within the page header.
    change(&paths[1], &|b| b[12..14].copy_from_slice(&[3, 0]));
    // The deleted versions seem to be in the middle of update chains without a start.
    change(&paths[2], &|b| {
        for n in 1..=4 {
            let at = u16::from_le_bytes([b[pointer(n)], b[pointer(n) + 1]]) as usize & 0x7fff;
            b[at + 19] |= 0xc0;
        }
    });
    let server = Norsu::start(&data, &[]);
    let mut client = server.connect("postgres");
    let mut says = |sql: &str| {
        let reply = client.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        match &reply.error {
            Some(e) => format!("{} {}", e.code, e.message),
            None => reply.text().join(" "),
        }
    };
    assert_eq!(says("SELECT count(*) FROM pointer"), "59");
    assert_eq!(says("DELETE FROM pointer WHERE id > 50"), "");
    assert_eq!(says("SELECT count(*) FROM pointer"), "49");
    assert!(says("VACUUM pointer").starts_with("XX001 corrupted line pointer"));
    assert_eq!(says("SELECT count(*) FROM header"), "0");
    assert_eq!(says("INSERT INTO header VALUES (1, 'new')"), "");
    assert_eq!(says("UPDATE header SET id = 2"), "");
    assert_eq!(says("SELECT id FROM header"), "2");
    assert_eq!(says("SELECT count(*) FROM chain"), "56");
    assert!(says("VACUUM chain").starts_with("XX001 dead row version (0,1)"));
    assert_eq!(says("SELECT count(*) FROM chain"), "56");
    drop(client);
    let log = server.stop(&data);
    assert!(!log.contains("PANIC"), "{log}");
}

/// The offset in its segment of the last record of a type that is within a single page of the log,
/// according to `pg_waldump`.
fn last_record(segment: &Path, kind: &str) -> usize {
    let mut dump = testkit::postgres::program("pg_waldump");
    dump.arg(segment);
    let out = dump.output().expect("pg_waldump can be run");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut places = text.lines().filter(|line| line.contains(kind)).filter_map(|line| {
        let (_, rest) = line.split_once("lsn: 0/")?;
        let at = usize::from_str_radix(rest.split_once(',')?.0, 16).ok()? % (16 << 20);
        let (_, length) = line.split_once("/")?.1.split_once("/")?;
        let length: usize = length.split_once(',')?.0.trim().parse().ok()?;
        (at % 8192 + length <= 8192).then_some(at)
    });
    places.next_back().expect("such a record")
}

/// Corruption that the checksum does not detect: a record whose type does not match its data. The
/// error names the record.
#[test]
fn a_record_of_the_wrong_kind_is_refused() {
    const INSERT_META: u8 = 0x20;
    const OTHERS: [u8; 7] = [0x40, 0x50, 0x60, 0x70, 0x80, 0xa0, 0xb0];
    let dir = TempDir::new("damage");
    chown_to_server_user(dir.path());
    let good = dir.path().join("good");
    norsu::init_with(&good, &["--locale=C"]);
    let mut server = Norsu::start(&good, &[]);
    server.query("CREATE TABLE t (id int PRIMARY KEY)");
    server.query("INSERT INTO t VALUES (1)");
    server.query("CHECKPOINT");
    server.query("INSERT INTO t VALUES (2)");
    server.query("INSERT INTO t VALUES (3)");
    let name = server.query("SELECT pg_walfile_name(pg_current_wal_lsn())");
    server.kill();
    let at = last_record(&good.join("pg_wal").join(&name), "INSERT_LEAF");
    let damaged = |kind: u8| {
        let data = dir.path().join(format!("kind{kind}"));
        copy(&good, &data);
        let path = data.join("pg_wal").join(&name);
        let mut log = std::fs::read(&path).expect("the log");
        let length = u32::from_le_bytes(log[at..at + 4].try_into().expect("four bytes")) as usize;
        let record = &mut log[at..at + length];
        record[16] = record[16] & 0x0f | kind;
        let crc = crc32c::crc32c_append(crc32c::crc32c(&record[24..]), &record[..20]);
        record[20..24].copy_from_slice(&crc.to_le_bytes());
        std::fs::write(&path, log).expect("it can be written");
        data
    };
    let context = |log: &str| {
        let line = log.lines().find_map(|l| l.split_once("CONTEXT:  ")).map(|(_, said)| said);
        line.unwrap_or_else(|| panic!("{log}")).to_owned()
    };
    let data = damaged(INSERT_META);
    let duplicate = dir.path().join("duplicate");
    copy(&data, &duplicate);
    let ours = Norsu::try_start(&data, &[]).err().expect("it does not start");
    let theirs =
        PostgresServer::try_start(&duplicate, "postgres", &[]).err().expect("it does not start");
    assert_eq!(context(&ours), context(&theirs));
    assert!(
        context(&ours).contains(" for Btree/INSERT_META: off 3; blkref #0: rel 1663/5/"),
        "{ours}"
    );
    for kind in OTHERS {
        let log = Norsu::try_start(&damaged(kind), &[]).err();
        let log = log.unwrap_or_else(|| panic!("a record of the kind {kind:x} is replayed"));
        assert!(context(&log).starts_with("WAL redo at 0/"), "{log}");
        assert!(!log.contains("panicked"), "{kind:x}: {log}");
    }
}

/// VACUUM's errors have the block as context, and it warns of invalid bits of the visibility map.
#[test]
fn vacuum_errors_have_the_block_as_context() {
    let dir = TempDir::new("damage");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--no-data-checksums"]);
    let server = Norsu::start(&data, &[]);
    let path =
        |name: &str| data.join(server.query(&format!("SELECT pg_relation_filepath('{name}')")));
    for table in ["map", "keys", "rows"] {
        server.query(&format!("CREATE TABLE {table} (id int PRIMARY KEY, t text)"));
        server.query(&format!(
            "INSERT INTO {table} SELECT g, repeat('x', 90) FROM generate_series(1, 300) g"
        ));
        server.query(&format!("VACUUM {table}"));
    }
    server.query("DELETE FROM keys WHERE id < 5");
    let paths = [path("map"), path("keys_pkey"), path("rows")];
    server.stop(&data);
    // Pages that are not all-visible although the visibility map marks them so.
    change(&paths[0], &|b| {
        for page in [0, 2] {
            b[8192 * page + 10] &= !4;
        }
    });
    // Free space that ends beyond the page.
    for path in &paths[1..] {
        change(path, &|b| b[8192 + 14..8192 + 16].copy_from_slice(&[0x28, 0x23]));
    }
    let duplicate = dir.path().join("duplicate");
    copy(&data, &duplicate);
    let seen = |client: &mut testkit::client::Client| {
        let mut out = Vec::new();
        for sql in [
            "VACUUM map",
            "VACUUM map",
            "VACUUM (INDEX_CLEANUP ON) keys",
            "VACUUM (DISABLE_PAGE_SKIPPING) rows",
            "VACUUM FREEZE rows",
        ] {
            let reply = client.query(sql).expect("an answer");
            let reports = reply.notices.iter().chain(&reply.error);
            out.extend(
                reports.map(|e| format!("{} {} {} {:?}", e.severity, e.code, e.message, e.context)),
            );
        }
        out
    };
    let server = Norsu::start(&data, &[]);
    let ours = seen(&mut server.connect("postgres"));
    drop(server);
    let server = PostgresServer::start(&duplicate, "postgres");
    let theirs = seen(&mut server.connect("postgres"));
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), 5, "{ours:?}");
    assert!(ours[4].contains("while scanning block 1 of relation \\\"public.rows"), "{}", ours[4]);
}
