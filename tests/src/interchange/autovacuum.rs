//! Clusters that are close to transaction id wraparound: the server by itself vacuums everything
//! that must be vacuumed, including databases that accept no connections, and PostgreSQL verifies
//! the result.

use super::wraparound::advance_xid;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user, program, run};
use testkit::verify;

/// Number of ids between the oldest one and wraparound.
const WRAPAROUND: u32 = (1 << 31) - 1;
const WAIT_MAX: Duration = Duration::from_secs(120);
const AGES: &str = "SELECT max(age(datfrozenxid)), max(mxid_age(datminmxid)) FROM pg_database";

struct TestCluster {
    _dir: TempDir,
    data: PathBuf,
    oldest: u32,
}

impl TestCluster {
    fn new() -> TestCluster {
        let dir = TempDir::new("autovacuum");
        chown_to_server_user(dir.path());
        let data = dir.path().join("data");
        norsu::init_with(&data, &["--locale=C", "--wal-segsize=1"]);
        let server = Norsu::start(&data, &[]);
        server.query("CREATE TABLE t (id int PRIMARY KEY, v text)");
        server.query("INSERT INTO t SELECT g, repeat('x', g) FROM generate_series(1, 3000) g");
        server.query("DELETE FROM t WHERE id % 10 = 3");
        server.query("CREATE MATERIALIZED VIEW m AS SELECT * FROM t WHERE id < 10");
        server.query("CREATE DATABASE other");
        let oldest = server.query("SELECT min(datfrozenxid::text::bigint) FROM pg_database");
        server.stop(&data);
        TestCluster { _dir: dir, data, oldest: oldest.parse().expect("a number") }
    }
}

/// Waits until the age of every database is below the limits.
fn await_ages(what: &str, query: impl Fn(&str) -> String, xids: u32, multis: u32) {
    let begun = Instant::now();
    loop {
        let ages = query(AGES);
        let (xid, multi) = ages.trim().split_once('|').expect("two numbers");
        let [xid, multi] = [xid, multi].map(|n| n.parse::<u32>().expect("a number"));
        if xid < xids && multi < multis {
            return;
        }
        assert!(begun.elapsed() < WAIT_MAX, "{what}: ages {ages}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn segments(data: &Path, directory: &str) -> usize {
    std::fs::read_dir(data.join(directory)).expect("a directory").count()
}

/// PostgreSQL continues on the directory, and finds no errors.
fn check_with_postgresql(data: &Path) {
    let server = PostgresServer::start_with(data, "postgres", &["autovacuum=off"]);
    verify::check(&server);
    let ages = server.query("postgres", AGES);
    let xid: u32 = ages.trim().split('|').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(xid < 100_000_000, "{ages}");
    server.query("postgres", "CREATE TABLE after_all AS SELECT count(*) FROM t");
    assert_eq!(server.query("postgres", "SELECT * FROM after_all").trim(), "2700");
}

#[test]
fn a_cluster_about_to_wrap_around_recovers_by_itself() {
    // Beyond the age at which autovacuum is forced, the age at which warnings are raised, and the
    // age at which no id is assigned any more.
    for left in [1_900_000_000, 39_000_000, 2_000_000] {
        let cluster = TestCluster::new();
        advance_xid(&cluster.data, cluster.oldest + (WRAPAROUND - left), 0);
        let server = Norsu::start(&cluster.data, &["-c", "autovacuum=off"]);
        await_ages(&format!("{left} left"), |sql| server.query(sql), 100_000_000, 1_000_000);
        assert_eq!(server.query("SELECT count(*) FROM t"), "2700");
        server.query("INSERT INTO t VALUES (0, 'an id was handed out')");
        server.query("DELETE FROM t WHERE id = 0");
        assert_eq!(
            server.query("SELECT string_agg(datname, ' ') FROM pg_database WHERE NOT datallowconn"),
            "template0"
        );
        assert_eq!(
            server.query("SELECT count(*) FROM pg_stat_activity WHERE backend_type ~ 'worker'"),
            "0"
        );
        let log = server.stop(&cluster.data);
        assert!(!log.contains("ERROR") && !log.contains("panic"), "{left} left: {log}");
        assert_eq!(
            log.contains("must be vacuumed within"),
            left < 40_000_000,
            "{left} left: a warning at the start, of a database without a name: {log}"
        );
        assert!(segments(&cluster.data, "pg_xact") <= 2, "{left} left: pg_xact was not truncated");
        check_with_postgresql(&cluster.data);
    }
}

#[test]
fn old_multixacts_are_frozen_by_the_server_too() {
    let cluster = TestCluster::new();
    let next = 500_000_000u32;
    let segment = cluster.data.join(format!("pg_multixact/offsets/{:04X}", next >> 16));
    std::fs::write(segment, vec![0; 256 << 10]).expect("room for a segment");
    chown_to_server_user(&cluster.data);
    let mut reset = program("pg_resetwal");
    reset.args(["-f", "-m", &format!("{next},1"), "-D"]).arg(&cluster.data);
    run(reset);
    let server = Norsu::start(&cluster.data, &["-c", "autovacuum=off"]);
    await_ages("multixacts", |sql| server.query(sql), 100_000_000, 100_000_000);
    server.query(
        "BEGIN; SELECT FROM t WHERE id = 1 FOR SHARE; SAVEPOINT a; \
         UPDATE t SET v = v WHERE id = 1; COMMIT",
    );
    server.stop(&cluster.data);
    assert!(segments(&cluster.data, "pg_multixact/offsets") <= 2, "pg_multixact was not truncated");
    check_with_postgresql(&cluster.data);
}

/// One table cannot be read: all others are vacuumed, new ids are refused with an error that names
/// the database, a superuser can still vacuum, and after the table is restored everything works
/// again.
#[test]
fn one_table_that_fails_does_not_keep_the_others_from_being_vacuumed() {
    let cluster = TestCluster::new();
    let server = Norsu::start(&cluster.data, &[]);
    let path = server.query(
        "SELECT 'base/' || (SELECT oid FROM pg_database WHERE datname = 'template0') || '/' || \
         pg_relation_filenode('pg_proc')",
    );
    server.stop(&cluster.data);
    let file = cluster.data.join(path);
    let set_mode = |mode| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("our file");
    };
    advance_xid(&cluster.data, cluster.oldest + (WRAPAROUND - 2_000_000), 0);
    set_mode(0);
    let server = Norsu::start(&cluster.data, &["-c", "autovacuum_naptime=1s"]);
    let others = |sql: &str| {
        assert_eq!(sql, AGES);
        server.query(&format!("{AGES} WHERE datname <> 'template0'"))
    };
    await_ages("the others", others, 100_000_000, 1_000_000);
    let mut client = server.connect("postgres");
    let refused = client.query("CREATE TABLE refused (i int)").expect("an answer");
    assert_eq!(refused.code(), "54000");
    let error = refused.error.expect("a refusal");
    assert_eq!(
        error.message,
        "database is not accepting commands to avoid wraparound data loss in database \"template0\""
    );
    client.must("VACUUM (FREEZE) t");
    client.must("VACUUM");
    let log = server.log();
    assert!(
        log.contains("CONTEXT:  ")
            && log.contains("automatic vacuum of table \"template0.pg_catalog.pg_proc\""),
        "{log}"
    );
    set_mode(0o600);
    await_ages("all", |sql| server.query(sql), 100_000_000, 1_000_000);
    // As in PostgreSQL, the age in pg_database changes shortly before the limit is computed again.
    let deadline = Instant::now() + Duration::from_secs(10);
    while client.query("CREATE TABLE accepted (i int)").expect("an answer").code() == "54000" {
        assert!(Instant::now() < deadline, "new ids are still refused");
        std::thread::sleep(Duration::from_millis(20));
    }
    client.must("SELECT FROM accepted");
    drop(client);
    server.stop(&cluster.data);
    check_with_postgresql(&cluster.data);
}

/// Databases with unsupported collations and tables with unsupported indexes are frozen too.
#[test]
fn unsupported_databases_and_tables_are_frozen_too() {
    let dir = TempDir::new("autovacuum");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "--wal-segsize=1"]);
    let server = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
    server.query(
        "postgres",
        "CREATE DATABASE icu LOCALE_PROVIDER icu ICU_LOCALE 'en' TEMPLATE template0",
    );
    server.query("postgres", "CREATE DATABASE wide ENCODING 'EUC_JP' TEMPLATE template0");
    for database in ["postgres", "icu", "wide"] {
        for sql in [
            "CREATE TABLE g (id int PRIMARY KEY, a int[], t text)",
            "INSERT INTO g SELECT i, ARRAY[i, i + 1], 'text ' || i FROM generate_series(1, 500) i",
            "CREATE INDEX ON g USING gin (a)",
            "CREATE INDEX ON g USING hash (id)",
            "CREATE INDEX ON g (t)",
            "DELETE FROM g WHERE id % 7 = 0",
            "CREATE TABLE p (i int) PARTITION BY LIST (i)",
            "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)",
            "INSERT INTO p VALUES (1)",
        ] {
            server.query(database, sql);
        }
    }
    let oldest = "SELECT min(datfrozenxid::text::bigint) FROM pg_database";
    let oldest: u32 = server.query("postgres", oldest).trim().parse().expect("a number");
    drop(server);
    advance_xid(&data, oldest + (WRAPAROUND - 2_000_000), 0);
    let server = Norsu::start(&data, &[]);
    await_ages("all", |sql| server.query(sql), 100_000_000, 1_000_000);
    server.stop(&data);
    let server = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
    for database in ["postgres", "icu", "wide"] {
        let counts = "SET enable_seqscan = off; SELECT (SELECT count(*) FROM g \
                      WHERE a @> ARRAY[15]), \
                      (SELECT count(*) FROM g WHERE id = 15), (SELECT count(*) FROM g \
                      WHERE t > 'text'), \
                      (SELECT count(*) FROM g WHERE a @> ARRAY[14, 15]), (SELECT relhasindex \
                      FROM pg_class \
                      WHERE oid = 'g'::regclass)";
        assert_eq!(server.query(database, counts).trim(), "1|1|429|0|t", "{database}");
        // Line pointers to which old index entries refer must not be reused for new rows.
        server.query(
            database,
            "INSERT INTO g SELECT i, ARRAY[-i], 'new' FROM generate_series(1001, 1100) i",
        );
        assert_eq!(server.query(database, counts).trim(), "1|1|429|0|t", "{database}");
        server.query(database, "VACUUM (FREEZE) g");
        assert_eq!(server.query(database, counts).trim(), "1|1|429|0|t", "{database}");
    }
    verify::check(&server);
}

/// Temporary tables of a session that ended with a crash, which no other session could vacuum.
#[test]
fn orphaned_temporary_tables_are_dropped_and_those_of_live_sessions_are_not() {
    let cluster = TestCluster::new();
    let mut server = Norsu::start(&cluster.data, &[]);
    let mut clients: Vec<_> = (0..3).map(|_| server.connect("postgres")).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.must(&format!("CREATE TEMP TABLE orphan_{n} AS SELECT generate_series(1, 10)"));
    }
    server.kill();
    drop(clients);
    let temporary = "SELECT count(*) FROM pg_class WHERE relname ~ '^orphan'";
    let server = Norsu::start(&cluster.data, &[]);
    assert_eq!(server.query(temporary), "3");
    server.stop(&cluster.data);
    advance_xid(&cluster.data, cluster.oldest + (WRAPAROUND - 1_900_000_000), 0);
    let server = Norsu::start(&cluster.data, &["-c", "autovacuum_naptime=1s"]);
    // Its tables are new, so they do not hold back the horizon.
    let mut client = server.connect("postgres");
    client.must("CREATE TEMP TABLE alive AS SELECT generate_series(1, 10) AS i");
    await_ages("orphans", |sql| server.query(sql), 100_000_000, 1_000_000);
    assert_eq!(server.query(temporary), "0");
    assert_eq!(client.value("SELECT sum(i) FROM alive"), "55");
    drop(client);
    let log = server.stop(&cluster.data);
    assert!(log.contains("autovacuum: dropping orphan temp table \"postgres.pg_temp_"), "{log}");
    check_with_postgresql(&cluster.data);
}

/// Runs statements in single-user mode; returns the output.
fn alone(mut command: Command, data: &Path, database: &str, sql: &str) -> String {
    command.arg("-D").arg(data).arg(database);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program can be run");
    child.stdin.take().expect("a pipe").write_all(sql.as_bytes()).expect("it reads");
    let out = child.wait_with_output().expect("it ends");
    let (said, log) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}\n{log}");
    // Skips the banner, which contains the version.
    said.lines().filter(|l| !l.contains("stand-alone")).collect::<Vec<_>>().join("\n")
}

#[test]
fn single_user_mode_assigns_ids_past_the_limit() {
    let cluster = TestCluster::new();
    advance_xid(&cluster.data, cluster.oldest + (WRAPAROUND - 2_000_000), 0);
    let copy = cluster.data.with_file_name("copy");
    verify::copy(&cluster.data, &copy);
    chown_to_server_user(&copy);
    let sql = "CREATE TABLE by_one (i int, s text, n name)\n\
               INSERT INTO by_one VALUES (1, 'one', 'x'), (2, NULL, 'y')\n\
               SELECT *, i::float8 AS f, i::numeric FROM by_one ORDER BY i\n\
               SELECT nothing\n\
               DROP TABLE by_one\n\
               VACUUM (FREEZE)\n\
               SELECT age(datfrozenxid) < 1000 FROM pg_database \
               WHERE datname = current_database()\n";
    // The user who runs the program may have no access to the folder where it was built.
    let program_copy = cluster.data.with_file_name("norsu");
    std::fs::copy(norsu::binary(), &program_copy).expect("a new file");
    chown_to_server_user(&program_copy);
    for database in ["template0", "postgres"] {
        let mut ours = postgres::command(&program_copy);
        ours.arg("single");
        let mut theirs = program("postgres");
        theirs.arg("--single");
        let ours = alone(ours, &cluster.data, database, sql);
        let theirs = alone(theirs, &copy, database, sql);
        assert_eq!(ours, theirs, "{database}");
        assert!(ours.contains("= \"t\""), "{ours}");
    }
    let server = Norsu::start(&cluster.data, &[]);
    await_ages("after the single user", |sql| server.query(sql), 100_000_000, 1_000_000);
    server.stop(&cluster.data);
    check_with_postgresql(&cluster.data);
}
