//! The output of `norsu waldump` must be that of pg_waldump, byte for byte.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu, binary};
use testkit::postgres::{self, PostgresServer, chown_to_server_user, program, run};

/// Statements for both servers, in one session.
const WORK: &str = "
CREATE TABLE t (id int PRIMARY KEY, v int, t text);
INSERT INTO t SELECT g, 0, repeat('x', g % 70) FROM generate_series(1, 3000) g;
CREATE INDEX ON t (v); CREATE SEQUENCE s;
CHECKPOINT;
SET wal_compression = pglz; UPDATE t SET v = v + 1 WHERE id % 3 = 0;
CHECKPOINT;
SET wal_compression = lz4; UPDATE t SET v = v + 1 WHERE id % 5 = 0; \
  UPDATE t SET t = t || 'y' WHERE id % 7 = 0; DELETE FROM t WHERE id < 500;
CHECKPOINT;
SET wal_compression = zstd; VACUUM t; SELECT nextval('s'); SELECT count(*) FROM t;
SET wal_compression = off; VACUUM (FREEZE) t; INSERT INTO t VALUES (1, 1, repeat(md5('a'), \
  400)) ON CONFLICT DO NOTHING;
BEGIN; INSERT INTO t VALUES (2, 2, 'gone'); ROLLBACK;
BEGIN; SAVEPOINT a; INSERT INTO t VALUES (3, 3, ''); SAVEPOINT b; UPDATE t SET v = 8 WHERE id = 3; \
  SAVEPOINT c;
DELETE FROM t WHERE id = 600; ROLLBACK TO c; SAVEPOINT d; DELETE FROM t WHERE id = 601; COMMIT;
BEGIN; SELECT 1 FROM t WHERE id = 700 FOR KEY SHARE; SAVEPOINT x; \
  UPDATE t SET v = 99 WHERE id = 700; COMMIT;
UPDATE t SET id = id + 100000 WHERE id BETWEEN 800 AND 900;
CREATE TABLE big (a int, b text);
INSERT INTO big SELECT g, repeat(md5(g::text), 3) FROM generate_series(1, 9000) g;
CREATE INDEX big_a ON big (a); CREATE INDEX big_b ON big (b);
DELETE FROM big WHERE a < 7000; VACUUM big;
INSERT INTO big SELECT g, md5(g::text) FROM generate_series(1, 3000) g; VACUUM big;
INSERT INTO big SELECT g % 5, md5((g % 7)::text) FROM generate_series(1, 5000) g;
INSERT INTO big SELECT 10000 - g, md5(g::text) FROM generate_series(1, 3000) g;
DELETE FROM big; VACUUM big;
CREATE INDEX big_h ON big USING hash (a) WITH (fillfactor = 20);
INSERT INTO big SELECT CASE WHEN g % 3 = 0 THEN 7 ELSE g END FROM generate_series(1, 6000) g;
DELETE FROM big WHERE a % 2 = 1; VACUUM big;
INSERT INTO big SELECT g FROM generate_series(1, 500) g;
CREATE UNLOGGED TABLE u (a int PRIMARY KEY, b serial); INSERT INTO u VALUES (1);
TRUNCATE t, u; VACUUM FULL pg_class; VACUUM FULL pg_database;
CREATE DATABASE other; CREATE DATABASE copied STRATEGY file_copy; DROP DATABASE other; \
  DROP DATABASE copied;
DROP TABLE t, big, u; DROP SEQUENCE s; SELECT pg_switch_wal()";

/// Statements that only PostgreSQL supports: two-phase commit, origins, logical messages, logical
/// decoding, other index types.
const MORE: &str = r"
SELECT pg_create_restore_point('here it is');
SELECT pg_logical_emit_message(true, 'one', 'abc'), pg_logical_emit_message(false, 'a b',
  '\000\001\377'::bytea);
SELECT pg_replication_origin_create('o'); SELECT pg_replication_origin_session_setup('o');
BEGIN; SELECT pg_replication_origin_xact_setup('0/123', now()); CREATE TABLE o (a int); COMMIT;
BEGIN; SELECT pg_replication_origin_xact_setup('0/123', now()); INSERT INTO o VALUES (1); PREPARE
  TRANSACTION 'gid one';
COMMIT PREPARED 'gid one'; SELECT pg_replication_origin_session_reset();
SELECT pg_replication_origin_advance('o', '0/456'); SELECT pg_replication_origin_drop('o');
BEGIN; CREATE TABLE p (a int); SAVEPOINT x; INSERT INTO p VALUES (1); DROP TABLE o; PREPARE
  TRANSACTION 'g2';
ROLLBACK PREPARED 'g2';
BEGIN; CREATE TABLE p (a int); SAVEPOINT x; INSERT INTO p VALUES (1); DROP TABLE o; PREPARE
  TRANSACTION 'g3';
COMMIT PREPARED 'g3';
CREATE TABLE h (a int, b int[], c point, d text);
CREATE INDEX ON h USING hash (a); CREATE INDEX ON h USING gin (b) WITH (fastupdate = off);
CREATE INDEX ON h USING gin (b); CREATE INDEX ON h USING gist (c); CREATE INDEX ON h USING spgist
  (d);
CREATE INDEX h_brin ON h USING brin (d) WITH (pages_per_range = 1);
INSERT INTO h SELECT g, ARRAY[g, g % 10, g % 3], point(g % 97, g % 89), repeat('ab', g % 9) || g
  FROM generate_series(1, 6000) g;
INSERT INTO h SELECT FROM generate_series(1, 100);
DELETE FROM h WHERE a % 3 = 0 OR a BETWEEN 1000 AND 3000; VACUUM h;
INSERT INTO h SELECT g, ARRAY[g, g % 10], point(g % 97, g % 89), repeat('z', 500) FROM
  generate_series(1, 1000) g;
SELECT brin_summarize_new_values('h_brin'); SELECT brin_desummarize_range('h_brin', 0);
DELETE FROM h; VACUUM h; VACUUM h;
CREATE TABLE lists (a int, b int[]); INSERT INTO lists SELECT g, ARRAY[7] FROM generate_series(1,
  20000) g;
CREATE INDEX ON lists USING gin (b); DELETE FROM lists WHERE a % 5 = 0; VACUUM lists;
CREATE TABLE usercat (a int, b text) WITH (user_catalog_table = true);
INSERT INTO usercat SELECT g, '' FROM generate_series(1, 10) g; UPDATE usercat SET a = 8;
CREATE TABLE tr1 (a int PRIMARY KEY, s serial); CREATE TABLE tr2 (a int REFERENCES tr1); TRUNCATE
  tr1 RESTART IDENTITY CASCADE;
SELECT pg_create_logical_replication_slot('slot', 'test_decoding');
BEGIN; CREATE TABLE k (a int); UPDATE usercat SET b = 'x' WHERE a = 8; COMMIT; VACUUM FULL
  usercat; VACUUM FULL pg_class";

/// Record types that the statements write on both servers.
const KINDS: &[&str] = &[
    "XLOG/CHECKPOINT_ONLINE",
    "XLOG/FPI",
    "XLOG/FPI_FOR_HINT",
    "XLOG/FPW_CHANGE",
    "XLOG/PARAMETER_CHANGE",
    "XLOG/SWITCH",
    "Transaction/COMMIT",
    "Transaction/ABORT",
    "Transaction/ASSIGNMENT",
    "Storage/CREATE",
    "Storage/TRUNCATE",
    "Database/CREATE_FILE_COPY",
    "Database/CREATE_WAL_LOG",
    "Database/DROP",
    "Tablespace/CREATE",
    "Tablespace/DROP",
    "MultiXact/CREATE_ID",
    "RelMap/UPDATE",
    "Standby/LOCK",
    "Standby/RUNNING_XACTS",
    "Heap2/PRUNE",
    "Heap2/VACUUM",
    "Heap2/FREEZE_PAGE",
    "Heap2/VISIBLE",
    "Heap2/MULTI_INSERT",
    "Heap2/LOCK_UPDATED",
    "Heap/INSERT",
    "Heap/DELETE",
    "Heap/UPDATE",
    "Heap/HOT_UPDATE",
    "Heap/HEAP_CONFIRM",
    "Heap/LOCK",
    "Heap/INPLACE",
    "Btree/INSERT_LEAF",
    "Btree/INSERT_UPPER",
    "Btree/SPLIT_L",
    "Btree/SPLIT_R",
    "Btree/DEDUP",
    "Btree/UNLINK_PAGE",
    "Btree/NEWROOT",
    "Btree/MARK_PAGE_HALFDEAD",
    "Btree/VACUUM",
    "Btree/META_CLEANUP",
    "Hash/INIT_META_PAGE",
    "Hash/INIT_BITMAP_PAGE",
    "Hash/INSERT",
    "Hash/ADD_OVFL_PAGE",
    "Hash/SPLIT_ALLOCATE_PAGE",
    "Hash/SPLIT_PAGE",
    "Hash/SPLIT_COMPLETE",
    "Hash/SPLIT_CLEANUP",
    "Hash/DELETE",
    "Hash/SQUEEZE_PAGE",
    "Hash/UPDATE_META_PAGE",
    "Sequence/LOG",
];
const KINDS_OURS: &[&str] = &["XLOG/CHECKPOINT_SHUTDOWN", "XLOG/END_OF_RECOVERY"];
const KINDS_THEIRS: &[&str] = &[
    "XLOG/RESTORE_POINT",
    "Transaction/PREPARE",
    "Transaction/COMMIT_PREPARED",
    "Transaction/ABORT_PREPARED",
    "Transaction/INVALIDATION",
    "Standby/INVALIDATIONS",
    "Heap2/NEW_CID",
    "Heap2/REWRITE",
    "Heap/TRUNCATE",
    "Gin/INSERT",
    "Gin/VACUUM_DATA_LEAF_PAGE",
    "Gist/PAGE_SPLIT",
    "SPGist/ADD_LEAF",
    "SPGist/PICKSPLIT",
    "BRIN/INSERT",
    "BRIN/DESUMMARIZE",
    "ReplicationOrigin/SET",
    "ReplicationOrigin/DROP",
    "LogicalMessage/MESSAGE",
];

fn output(mut command: Command) -> (String, String) {
    let out = command.stdin(Stdio::null()).output().expect("the program can be run");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // The error begins with the program's name.
    let error = text(&out.stderr);
    let error = error.split_once(": ").map_or(String::new(), |(_, rest)| rest.to_owned());
    (text(&out.stdout), error)
}

/// Compares the output of both programs with the same arguments.
fn compare(data: &Path, args: &[&str], lines_min: usize) -> String {
    let mut ours = Command::new(binary());
    ours.arg("waldump").args(args).current_dir(data);
    let mut theirs = program("pg_waldump");
    theirs.args(args).current_dir(data);
    let ((ours, our_error), (theirs, their_error)) = (output(ours), output(theirs));
    let (mine, real) = (ours.lines().count(), theirs.lines().count());
    for (n, (a, b)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(a, b, "line {n} with {args:?}");
    }
    assert_eq!(mine, real, "{args:?}: {our_error}{their_error}");
    assert_eq!(our_error, their_error, "{args:?}");
    assert!(mine >= lines_min, "{args:?}: {mine} lines");
    theirs
}

/// Arguments that both programs refuse, with the same message.
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
        let name = ours.replace("norsu waldump", "pg_waldump").replace("norsu: ", "pg_waldump: ");
        assert_eq!(name, theirs, "{args:?}");
        assert!(!theirs.is_empty(), "{args:?}");
    }
}

/// Compares the output of both programs for the log from this segment on, which must contain
/// records of these types.
fn check(data: &Path, first: &str, kinds: [&[&str]; 2]) {
    let mut names: Vec<String> = std::fs::read_dir(data.join("pg_wal"))
        .expect("a log")
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .filter(|name| name.len() == 24)
        .collect();
    names.sort();
    let all = [first, names[names.len() - 1].as_str()];
    let with = |args: &[&'static str], lines_min| {
        compare(data, &[&["-p", "."], args, &all[..]].concat(), lines_min)
    };
    compare(data, &["-p", "pg_wal", first], 100);
    let lines = with(&[], 10_000);
    with(&["-b"], 20_000);
    let counts = with(&["--stats=record"], 50);
    let missing = kinds.concat().into_iter().filter(|k| !counts.contains(&format!("\n{k} ")));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&str>::new(), "{counts}");
    with(&["-z"], 25);
    with(&["-w"], 10);
    with(&["-r", "Heap", "-r", "btree"], 1000);
    with(&["-F", "vm"], 10);
    let block = lines.split("blkref #0: rel ").nth(1).expect("a block");
    let (rel, rest) = block.split_once(' ').expect("a number");
    let number = rest.split_once("blk ").expect("a number").1;
    let number = number.split([' ', ',', '\n']).next().expect("a number");
    compare(data, &[&["-p", ".", "-R", rel], &all[..]].concat(), 1);
    compare(data, &[&["-p", ".", "-R", rel, "-B", number], &all[..]].concat(), 1);
    let found = lines.split("tx: ").skip(1).filter_map(|l| l.trim_start().split(',').next());
    let xid = found.filter(|x| *x != "0").last().expect("a transaction").to_owned();
    compare(data, &[&["-p", ".", "-x", &xid], &all[..]].concat(), 1);
    compare(data, &["-p", ".", "-q", first], 0);
    compare(data, &["-p", ".", "-r", "list"], 22);
    let start = format!("0/{:X}00100", u32::from_str_radix(&first[16..], 16).expect("a number"));
    compare(data, &["-p", ".", "-n", "20", "-s", &start], 10);
}

/// Runs the script in a session, and then statements that need two sessions, savepoints and a
/// tablespace.
fn work(connect: &dyn Fn() -> Client, script: &str, space: &Path) {
    let mut client = connect();
    for sql in script.split(';') {
        client.must(sql);
    }
    client.must("CREATE TABLE c (a int PRIMARY KEY, b text)");
    client.must("INSERT INTO c SELECT g, repeat('x', 800) FROM generate_series(1, 50) g");
    client.must("BEGIN");
    client.must("UPDATE c SET b = repeat('y', 900) WHERE a < 10");
    let mut other = connect();
    other.must("BEGIN");
    other.must("SELECT a FROM c WHERE a < 12 FOR KEY SHARE");
    other.must("CHECKPOINT");
    other.must("COMMIT");
    client.must("COMMIT");
    client.must("BEGIN");
    for n in 0..140 {
        client.must(&format!("SAVEPOINT s{n}"));
        client.must(&format!("INSERT INTO c VALUES ({})", 1000 + n));
    }
    other.must("CHECKPOINT");
    client.must("COMMIT");
    client.must(&format!("CREATE TABLESPACE space LOCATION '{}'", space.display()));
    client.must("CREATE TABLE far (a int) TABLESPACE space");
    client.must("INSERT INTO far VALUES (1)");
    client.must("DROP TABLE c, far");
    client.must("DROP TABLESPACE space");
}

#[test]
fn norsu_waldump_agrees_with_pg_waldump() {
    let dir = TempDir::new("waldump");
    chown_to_server_user(dir.path());
    let (data, space) = (dir.path().join("data"), dir.path().join("space"));
    std::fs::create_dir(&space).expect("a directory can be made");
    chown_to_server_user(&space);
    norsu::init_with(&data, &["--locale=C", "--wal-segsize=1"]);
    let options = ["wal_keep_size=512MB", "wal_consistency_checking=btree", "wal_log_hints=on"];
    let with: Vec<&str> = options.iter().flat_map(|o| ["-c", *o]).collect();
    let mut server = Norsu::start(&data, &with);
    work(&|| server.connect("postgres"), WORK, &space);
    server.kill();
    let changed = ["-c", "full_page_writes=off", "-c", "max_connections=77"];
    let mut server = Norsu::start(&data, &[&with[..], &changed].concat());
    server.query("CREATE TABLE after (a int)");
    server.query("DROP TABLE after");
    server.kill();
    refuse(&data);
    check(&data, "000000010000000000000001", [KINDS, KINDS_OURS]);
    // The same checks for a log that PostgreSQL wrote.
    let options = [
        "wal_keep_size=512MB",
        "wal_log_hints=on",
        "wal_level=logical",
        "max_prepared_transactions=5",
        "track_commit_timestamp=on",
    ];
    let real = PostgresServer::start_with(&data, "postgres", &options);
    let at = "SELECT pg_walfile_name(pg_current_wal_insert_lsn())";
    let first = real.connect("postgres").value(at);
    work(&|| real.connect("postgres"), &format!("{WORK};{MORE}"), &space);
    real.crash();
    check(&data, &first, [KINDS, KINDS_THEIRS]);
}

/// Both programs follow a growing log across segment boundaries.
#[test]
fn norsu_waldump_follows_a_growing_log_as_pg_waldump_does() {
    let dir = TempDir::new("follow");
    chown_to_server_user(dir.path());
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
    // Three segments of a megabyte, with small and large records.
    for n in 0..400 {
        client.must(&format!("INSERT INTO t SELECT {n}, repeat(md5('{n}'), 240)"));
    }
    for pair in running {
        let [ours, theirs] = pair.map(|child| {
            let out = child.wait_with_output().expect("a child can be waited for");
            let error = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(out.status.success(), "{error}");
            let text = String::from_utf8_lossy(&out.stdout);
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        assert!(theirs.len() > 5);
        assert_eq!(ours, theirs);
    }
    // Records before the wait have been printed, and an interrupt ends the program normally.
    let printed = (0..600).filter(|_| {
        line.clear();
        lines.read_line(&mut line).is_ok_and(|n| n > 0)
    });
    assert_eq!(printed.count(), 600);
    let pid = interrupted.id().to_string();
    run(postgres::kill("INT", &pid));
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("text");
    assert!(interrupted.wait().expect("a child can be waited for").success());
}
