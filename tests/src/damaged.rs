//! Corrupted files that a statement reads: both servers report the same error and keep running.

use std::path::Path;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user};
use testkit::verify::copy;

/// Corrupts the contents of a relation's file.
type Damage = fn(&mut [u8]);

const MADE: [&str; 9] = [
    "CREATE SEQUENCE zeroed",
    "CREATE TABLE seen (id int PRIMARY KEY, t text)",
    "INSERT INTO seen SELECT g, 'row' FROM generate_series(1, 1000) g",
    "CREATE TABLE pressed (id int, t text COMPRESSION pglz)",
    "INSERT INTO pressed VALUES (1, repeat('abc', 3000))",
    "CREATE TABLE apart (id int, t text)",
    "ALTER TABLE apart ALTER t SET STORAGE external",
    "INSERT INTO apart VALUES (1, repeat('abc', 3000)), (2, 'short')",
    "VACUUM seen",
];

/// A query for the path of a file, the suffix of the path, and the corruption.
const DAMAGES: [(&str, &str, Damage); 4] = [
    ("pg_relation_filepath('zeroed')", "", |file| file.fill(0)),
    // The bounds of free space are invalid.
    ("pg_relation_filepath('seen')", "_vm", |page| page[12..16].fill(0xff)),
    // The uncompressed size in the header is half a gigabyte.
    ("pg_relation_filepath('pressed')", "", |page| {
        let word = first_item(page) + 24 + 4 + 4;
        page[word..word + 4].copy_from_slice(&0x2000_0000u32.to_le_bytes());
    }),
    // The first chunk is NULL.
    (
        "(SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE relname = 'apart')",
        "",
        |page| {
            let tuple = first_item(page);
            page[tuple + 20] |= 1;
            page[tuple + 23] = 0b011;
        },
    ),
];

const ASKED: [&str; 15] = [
    "SELECT nextval('zeroed')",
    "SELECT setval('zeroed', 5)",
    "ALTER SEQUENCE zeroed INCREMENT 3",
    "VACUUM zeroed",
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
    "SELECT count(id) FROM seen WHERE id > 0",
    "INSERT INTO seen VALUES (-1, 'new')",
    "VACUUM seen",
    "SELECT count(id) FROM seen WHERE id > -5",
    "SELECT length(upper(t)) FROM pressed",
    "SELECT id FROM pressed",
    // PostgreSQL crashes when it reads the chunk.
    "DELETE FROM apart WHERE id = 1",
    "SELECT * FROM apart",
    "CREATE DATABASE another",
];

fn first_item(page: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([page[24], page[25]]) & 0x7fff)
}

fn answer(client: &mut Client, sql: &str) -> String {
    let reply = client.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let mut out: Vec<String> =
        reply.notices.iter().map(|n| format!("{} {} {}", n.severity, n.code, n.message)).collect();
    out.push(match &reply.error {
        Some(e) => format!("{} {} {}", e.severity, e.code, e.message),
        None => reply.text().join(" "),
    });
    format!("{sql}: {}", out.join("; "))
}

fn change(path: &Path, change: Damage) {
    let mut bytes = std::fs::read(path).expect("the file");
    change(&mut bytes);
    std::fs::write(path, bytes).expect("it can be written");
}

#[test]
fn corruption_is_reported_with_the_same_errors() {
    let dir = TempDir::new("damaged");
    chown_to_server_user(dir.path());
    let (data, duplicate) = (dir.path().join("data"), dir.path().join("duplicate"));
    norsu::init_with(&data, &["--locale=C", "--no-data-checksums"]);
    let server = Norsu::start(&data, &[]);
    MADE.iter().for_each(|sql| drop(server.query(sql)));
    let path = |sql: &str| data.join(server.query(&format!("SELECT {sql}")));
    let paths = DAMAGES.map(|(relation, ..)| path(relation));
    // Two sessions lock a row, so that there is a multixact.
    let mut two = [server.connect("postgres"), server.connect("postgres")];
    for sql in ["BEGIN", "SELECT id FROM seen WHERE id = 1 FOR KEY SHARE", "COMMIT"] {
        two.iter_mut().for_each(|client| drop(client.must(sql)));
    }
    drop(two);
    server.stop(&data);
    for ((_, suffix, damage), path) in DAMAGES.iter().zip(paths) {
        change(
            &path.with_file_name(format!("{}{suffix}", path.file_name().unwrap().display())),
            *damage,
        );
    }
    change(&data.join("base/1/pg_filenode.map"), |map| map[0] ^= 1);
    // No statement reads the members of the multixact.
    std::fs::remove_file(data.join("pg_multixact/members/0000")).expect("the file");
    copy(&data, &duplicate);

    let server = Norsu::start(&data, &[]);
    let mut client = server.connect("postgres");
    std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").unwrap();
    assert!(
        answer(&mut client, "SELECT t FROM apart").contains("ERROR XX001 chunk 0 of toast value")
    );
    let ours = ASKED.map(|sql| answer(&mut client, sql));
    let peak = crate::memory::kilobytes(server.pid(), "VmHWM:");
    drop(client);
    let log = server.stop(&data);
    assert!(!log.contains("panicked"), "{log}");
    let real = PostgresServer::start(&duplicate, "postgres");
    let mut client = real.connect("postgres");
    let theirs = ASKED.map(|sql| answer(&mut client, sql));
    assert_eq!(ours, theirs);
    assert!(ours[6].contains("zeroing out page; 1000"), "{}", ours[6]);
    assert!(ours[10].contains("ERROR XX001 compressed pglz data is corrupt"), "{}", ours[10]);
    assert!(peak < 400_000, "{peak} kB");
}

/// A database whose pg_filenode.map is corrupted accepts no connections.
#[test]
fn a_database_with_a_corrupt_filenode_map_refuses_connections() {
    let dir = TempDir::new("damaged");
    chown_to_server_user(dir.path());
    let (data, duplicate) = (dir.path().join("data"), dir.path().join("duplicate"));
    norsu::init_with(&data, &["--locale=C"]);
    let server = Norsu::start(&data, &[]);
    let databases = ["bits", "lost", "cut", "longer"];
    let maps = databases.map(|name| {
        server.query(&format!("CREATE DATABASE {name}"));
        let oid = server.query(&format!("SELECT oid FROM pg_database WHERE datname = '{name}'"));
        data.join(format!("base/{oid}/pg_filenode.map"))
    });
    server.stop(&data);
    change(&maps[0], |map| map[12] ^= 1);
    std::fs::remove_file(&maps[1]).unwrap();
    let mut map = std::fs::read(&maps[2]).unwrap();
    std::fs::write(&maps[2], &map[..100]).unwrap();
    map.extend([0; 100]);
    std::fs::write(&maps[3], &map).unwrap();
    copy(&data, &duplicate);
    let server = Norsu::start(&data, &[]);
    let real = PostgresServer::start(&duplicate, "postgres");
    let [ours, theirs] = [server.sockets(), real.sockets()].map(|sockets| {
        databases.map(|name| Client::connect(sockets, name).err().map(|e| e.to_string()))
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours.iter().filter(|e| e.is_some()).count(), 3);
}

/// Without checksums, corruption within an index is not always detected. But no statement may end
/// its session or run forever, and REINDEX must repair the index.
#[test]
fn a_corrupt_index_does_not_end_sessions() {
    let dir = TempDir::new("damaged");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--no-data-checksums"]);
    let server = Norsu::start(&data, &[]);
    const NAMES: [&str; 7] = ["short", "long", "list", "key", "circle", "itself", "child"];
    let damages: [Damage; NAMES.len()] = [
        // An item of length 0, and one whose tuple has length 0.
        |page| items(page).for_each(|at| page[at + 2..at + 4].fill(0)),
        |page| first_items(page).for_each(|at| page[at + 6..at + 8].fill(0xff)),
        // A TID list that extends beyond its item.
        |page| {
            first_items(page)
                .for_each(|at| page[at + 4..at + 8].copy_from_slice(&[0xff, 0x2f, 16, 0x20]))
        },
        |page| first_items(page).for_each(|at| page[at + 8..at + 16].fill(0xff)),
        // The right link of the second leaf refers to the first leaf.
        |page| page[PAGE - 12..PAGE - 8].copy_from_slice(&FIRST_LEAF),
        |page| page[PAGE - 12..PAGE - 8].copy_from_slice(&SECOND_LEAF),
        // The downlinks of the root refer to the root.
        |page| first_items(page).for_each(|at| page[at..at + 4].copy_from_slice(&[0, 0, 3, 0])),
    ];
    let blocks = [1, 1, 1, 1, 2, 2, 3];
    let mut paths = Vec::new();
    for name in NAMES {
        server.query(&format!("CREATE TABLE {name} (id int, t text)"));
        server.query(&format!("CREATE INDEX {name}_t ON {name} (t)"));
        server.query(&format!(
            "INSERT INTO {name} SELECT g, lpad(g::text, 40, 'k') FROM generate_series(1, 1000) g"
        ));
        paths.push(data.join(server.query(&format!("SELECT pg_relation_filepath('{name}_t')"))));
    }
    server.stop(&data);
    for ((path, damage), block) in paths.iter().zip(damages).zip(blocks) {
        let mut bytes = std::fs::read(path).expect("the file");
        damage(&mut bytes[block * PAGE..][..PAGE]);
        std::fs::write(path, bytes).expect("it can be written");
    }
    let server = Norsu::start(&data, &[]);
    let mut client = server.connect("postgres");
    let say = [
        "SET enable_seqscan = off",
        "SET enable_bitmapscan = off",
        "SET statement_timeout = '500ms'",
    ];
    say.iter().for_each(|sql| drop(client.must(sql)));
    for name in NAMES {
        for sql in [
            "SELECT count(*) FROM T WHERE t > 'k'",
            "SELECT id FROM T WHERE t = lpad('7', 40, 'k')",
            "SELECT max(t), min(t) FROM T",
            "SELECT id FROM T WHERE t > 'k' ORDER BY t DESC LIMIT 3",
            "INSERT INTO T VALUES (0, 'k'), (5000, 'z')",
            "UPDATE T SET t = t || 'x' WHERE id % 7 = 0",
            "DELETE FROM T WHERE id % 3 = 0",
            "VACUUM T",
        ] {
            answer(&mut client, &sql.replace(" T", &format!(" {name}")));
        }
        client.must(&format!("REINDEX TABLE {name}"));
        let rows = client.value(&format!("SELECT count(*) FROM {name} WHERE t > ''"));
        client.must(
            "SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off",
        );
        assert_eq!(client.value(&format!("SELECT count(*) FROM {name} WHERE t > ''")), rows);
        client.must("RESET enable_indexscan; RESET enable_indexonlyscan; SET enable_seqscan = off");
    }
    drop(client);
    let log = server.stop(&data);
    assert!(!log.contains("panicked"), "{log}");
}

/// A circular pending list of a GIN index is reported by every statement that reads it, and REINDEX
/// repairs the index. Its counters may have any values.
#[test]
fn a_circular_pending_list_does_not_end_sessions() {
    let dir = TempDir::new("damaged");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--no-data-checksums"]);
    let server = Norsu::start(&data, &["-c", "autovacuum=off"]);
    for sql in [
        "CREATE TABLE pending (a int[])",
        "CREATE INDEX pending_a ON pending USING gin (a)",
        "INSERT INTO pending SELECT array[g, g + 1, g + 2] FROM generate_series(1, 2000) g",
    ] {
        server.query(sql);
    }
    let path = data.join(server.query("SELECT pg_relation_filepath('pending_a')"));
    server.stop(&data);
    change(&path, |file| {
        const LIST: u8 = 1 << 4;
        // The metapage: the numbers of pages and rows in the list.
        file[24 + 12..24 + 24].fill(0xff);
        file[24 + 23] = 0x7f;
        let head = file[24..28].to_vec();
        for page in file.chunks_exact_mut(PAGE).filter(|page| page[PAGE - 2] & LIST != 0) {
            page[PAGE - 8..PAGE - 4].copy_from_slice(&head);
        }
    });
    let server = Norsu::start(&data, &["-c", "autovacuum=off"]);
    let mut client = server.connect("postgres");
    client.must("SET enable_seqscan = off");
    let found = "SELECT count(*) FROM pending WHERE a @> '{7}'";
    for sql in [
        found,
        "SELECT gin_clean_pending_list('pending_a')",
        "VACUUM pending",
        "INSERT INTO pending SELECT array[g] FROM generate_series(1, 2000) g",
    ] {
        let said = answer(&mut client, sql);
        assert!(said.contains("contains corrupted page"), "{said}");
    }
    client.must("REINDEX TABLE pending");
    assert_eq!(client.value(found), "3");
    drop(client);
    let log = server.stop(&data);
    assert!(!log.contains("panicked"), "{log}");
}

const PAGE: usize = 8192;
const FIRST_LEAF: [u8; 4] = 1u32.to_le_bytes();
const SECOND_LEAF: [u8; 4] = 2u32.to_le_bytes();

/// Offsets of the line pointers of a page.
fn items(page: &[u8]) -> impl Iterator<Item = usize> + use<> {
    (24..usize::from(u16::from_le_bytes([page[12], page[13]]))).step_by(4)
}

/// Offsets of the items of a page.
fn first_items(page: &[u8]) -> impl Iterator<Item = usize> + use<> {
    let places: Vec<usize> = items(page)
        .map(|at| usize::from(u16::from_le_bytes([page[at], page[at + 1]]) & 0x7fff))
        .collect();
    places.into_iter()
}

/// A relation without some of its rows in `pg_attribute` must not be read, because its tuples would
/// be decoded with the wrong columns.
#[test]
fn a_relation_that_lacks_columns_is_refused() {
    const LACKING: [&str; 8] = [
        "CREATE TABLE ab (a int, b int)",
        "INSERT INTO ab VALUES (1, 2)",
        "SET allow_system_table_mods = on",
        "DELETE FROM pg_attribute WHERE attrelid = (SELECT oid FROM pg_class WHERE relname = 'ab') \
         AND attname = 'a'",
        "SELECT * FROM ab",
        "INSERT INTO ab VALUES (7)",
        "UPDATE ab SET b = 3",
        "SELECT 1",
    ];
    let dir = TempDir::new("damaged");
    chown_to_server_user(dir.path());
    let (data, duplicate) = (dir.path().join("data"), dir.path().join("duplicate"));
    norsu::init_with(&data, &["--locale=C"]);
    let (made, asked) = LACKING.split_at(4);
    let server = Norsu::start(&data, &[]);
    made.iter().for_each(|sql| drop(server.query(sql)));
    server.stop(&data);
    copy(&data, &duplicate);
    let server = Norsu::start(&data, &[]);
    let mut client = server.connect("postgres");
    let ours: Vec<String> = asked.iter().map(|sql| answer(&mut client, sql)).collect();
    let real = PostgresServer::start(&duplicate, "postgres");
    let mut client = real.connect("postgres");
    let theirs: Vec<String> = asked.iter().map(|sql| answer(&mut client, sql)).collect();
    assert_eq!(ours, theirs);
    assert!(
        ours[0].contains("XX000 pg_attribute catalog is missing 1 attribute(s)"),
        "{}",
        ours[0]
    );
}
