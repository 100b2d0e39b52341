//! `norsu waldump` says what pg_waldump says, but for the details of a record's description.

use std::path::Path;
use std::process::{Command, Stdio};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu, binary};
use testkit::postgres::{RealServer, hand_over, program};

const WORK: &str = "
CREATE TABLE t (id int PRIMARY KEY, v int, t text);
INSERT INTO t SELECT g, 0, repeat('x', g % 70) FROM generate_series(1, 3000) g;
CREATE INDEX ON t (v); CREATE SEQUENCE s;
CHECKPOINT;
SET wal_compression = pglz; UPDATE t SET v = v + 1 WHERE id % 3 = 0;
CHECKPOINT;
SET wal_compression = lz4; UPDATE t SET v = v + 1 WHERE id % 5 = 0; DELETE FROM t WHERE id < 500;
CHECKPOINT;
SET wal_compression = zstd; VACUUM t; SELECT nextval('s'); SELECT count(*) FROM t;
SET wal_compression = off; VACUUM (FREEZE) t; INSERT INTO t VALUES (1, 1, repeat(md5('a'), 400));
BEGIN; INSERT INTO t VALUES (2, 2, 'gone'); ROLLBACK; TRUNCATE t; DROP TABLE t; DROP SEQUENCE s;
CREATE DATABASE other; DROP DATABASE other;";

fn output(mut command: Command) -> (String, String) {
    let out = command.stdin(Stdio::null()).output().expect("the program can be run");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // The error names the program.
    let error = text(&out.stderr);
    let error = error.split_once(": ").map_or(String::new(), |(_, rest)| rest.to_owned());
    (text(&out.stdout), error)
}

/// A line without the details between the kind of record and its blocks.
fn plain(line: &str) -> String {
    let Some((head, rest)) = line.split_once("desc: ") else { return line.to_owned() };
    let kind = rest.split(' ').next().unwrap_or_default();
    let blocks = rest.find(", blkref").map_or("", |at| &rest[at..]);
    format!("{head}desc: {kind} {blocks}")
}

/// Both programs with the same arguments.
fn compare(data: &Path, args: &[&str], lines_min: usize) {
    let mut ours = Command::new(binary());
    ours.arg("waldump").args(args).current_dir(data);
    let mut theirs = program("pg_waldump");
    theirs.args(args).current_dir(data);
    let ((ours, our_error), (theirs, their_error)) = (output(ours), output(theirs));
    let (mine, real) = (ours.lines().count(), theirs.lines().count());
    for (n, (a, b)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(plain(a), plain(b), "line {n} with {args:?}");
    }
    assert_eq!(mine, real, "{args:?}: {our_error}{their_error}");
    assert_eq!(our_error, their_error, "{args:?}");
    assert!(mine >= lines_min, "{args:?}: {mine} lines");
}

fn check(data: &Path) {
    let mut names: Vec<String> = std::fs::read_dir(data.join("pg_wal"))
        .expect("a log")
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .filter(|name| name.len() == 24)
        .collect();
    names.sort();
    let first = names[0].as_str();
    let all = [first, names[1].as_str()];
    compare(data, &["-p", "pg_wal", first], 100);
    compare(data, &[&["-p", ".", "--stats=record"][..], &all[..]].concat(), 5);
    compare(data, &[&["-p", ".", "--stats"][..], &all[..]].concat(), 25);
    compare(data, &[&["-p", ".", "-b", "-n", "400"][..], &all[..]].concat(), 100);
    compare(data, &["-p", ".", "-w", first], 0);
    compare(data, &["-p", ".", "-r", "Heap", "-r", "btree", first], 10);
    compare(data, &["-p", ".", "-F", "vm", first], 0);
    compare(data, &["-p", ".", "-x", "4", first], 0);
    compare(data, &["-p", ".", "-q", first], 0);
    compare(data, &["-p", ".", "-r", "list"], 22);
    let start = format!("0/{:X}00100", u32::from_str_radix(&first[16..], 16).expect("a number"));
    compare(data, &["-p", ".", "-n", "20", "-s", &start], 10);
}

#[test]
fn our_waldump_agrees_with_pg_waldump() {
    let dir = TempDir::new("waldump");
    hand_over(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--wal-segsize=1"]);
    let options = ["wal_keep_size=64MB", "wal_consistency_checking=btree"];
    let with: Vec<&str> = options.iter().flat_map(|o| ["-c", *o]).collect();
    let mut server = Norsu::start(&data, &with);
    for sql in WORK.split(';').filter(|s| !s.trim().is_empty()) {
        server.query(sql);
    }
    // Each statement had a session of its own, so the settings come again in one.
    let mut client = server.connect("postgres");
    for sql in WORK.split(';').filter(|s| !s.trim().is_empty()) {
        client.must(sql);
    }
    drop(client);
    server.kill();
    check(&data);
    // And of a log that PostgreSQL wrote.
    let real = RealServer::start_with(&data, "postgres", &["wal_keep_size=64MB"]);
    let mut client = real.connect("postgres");
    for sql in WORK.split(';').filter(|s| !s.trim().is_empty()) {
        client.must(sql);
    }
    drop(client);
    real.crash();
    check(&data);
}
