//! `norsu waldump` says what pg_waldump says, but for the details of a record's description.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu, binary};
use testkit::postgres::{RealServer, hand_over, program, run};

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

/// Arguments that both refuse, with the same words.
const REFUSED: &[&[&str]] = &[
    &[],
    &["-n", "foo"],
    &["-x", "foo"],
    &["-F", "foo"],
    &["-B", "5"],
    &["-B", "foo", "-R", "1/2/3"],
    &["-R", "1/2"],
    &["-r", "nope"],
    &["-s", "zz"],
    &["-e", "0/zz"],
    &["-t", "foo"],
    &["--stats=foo"],
    &["-p", "nowhere", "x"],
    &["-p", "pg_wal", "nosuch"],
    &["-p", "pg_wal", "-s", "0/90000000", "000000010000000000000001"],
    &["-p", "pg_wal", "-e", "0/1", "000000010000000000000001"],
    &["a", "b", "c"],
    &["-f"],
];

fn refuse(data: &Path) {
    for args in REFUSED {
        let mut ours = Command::new(binary());
        ours.arg("waldump").args(*args).current_dir(data);
        let mut theirs = program("pg_waldump");
        theirs.args(*args).current_dir(data);
        let ((_, ours), (_, theirs)) = (output(ours), output(theirs));
        let name = ours.replace("norsu waldump", "pg_waldump");
        assert_eq!(name, theirs, "{args:?}");
        assert!(!theirs.is_empty(), "{args:?}");
    }
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
    refuse(&data);
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

/// Both programs read on in a log that grows, over the ends of segments.
#[test]
fn our_waldump_follows_a_growing_log_as_pg_waldump_does() {
    let dir = TempDir::new("follow");
    hand_over(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--wal-segsize=1"]);
    let options = ["-c", "wal_keep_size=64MB", "-c", "checkpoint_timeout=1h"];
    let server = Norsu::start(&data, &options);
    let mut client = server.connect("postgres");
    client.must("CREATE TABLE t (a int, b text)");
    let start = client.value("SELECT pg_current_wal_lsn()");
    client.must("INSERT INTO t VALUES (0, 'x')");
    let begin = |mut command: Command, more: &[&str]| {
        command.args(["-f", "-p"]).arg(&data).args(["-s", &start]).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program can be run")
    };
    let ours = || {
        let mut command = Command::new(binary());
        command.arg("waldump");
        command
    };
    let mut interrupted = begin(ours(), &[]);
    let mut lines = BufReader::new(interrupted.stdout.take().expect("a pipe"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("a line");
    assert!(line.starts_with("rmgr: Heap "), "{line}");
    let limits: [&[&str]; 2] = [&["-n", "600"], &["-n", "600", "--stats=record"]];
    let running: Vec<_> = limits
        .iter()
        .map(|more| [begin(ours(), more), begin(program("pg_waldump"), more)])
        .collect();
    // Three segments of a megabyte, in small records and large ones.
    for n in 0..400 {
        client.must(&format!("INSERT INTO t SELECT {n}, repeat(md5('{n}'), 240)"));
    }
    for pair in running {
        let [ours, theirs] = pair.map(|child| {
            let out = child.wait_with_output().expect("a child can be waited for");
            let error = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(out.status.success(), "{error}");
            let text = String::from_utf8_lossy(&out.stdout);
            text.lines().map(plain).collect::<Vec<_>>()
        });
        assert!(theirs.len() > 5);
        assert_eq!(ours, theirs);
    }
    // What came before the wait has been shown; an interrupt ends it well.
    let told = (0..600).filter(|_| {
        line.clear();
        lines.read_line(&mut line).is_ok_and(|n| n > 0)
    });
    assert_eq!(told.count(), 600);
    let pid = interrupted.id().to_string();
    let mut kill = Command::new("kill");
    kill.args(["-INT", &pid]);
    run(kill);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("text");
    assert!(interrupted.wait().expect("a child can be waited for").success());
}
