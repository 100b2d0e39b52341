//! Directories of PostgreSQL on which Norsu must not start, because they depend on features that
//! Norsu does not support, or because another process uses them: they are refused with an error
//! that names the reason, and nothing is written. PostgreSQL creates each of them here.

use crate::refusals::contents;
use std::collections::BTreeMap;
use std::path::Path;
use testkit::dir::TempDir;
use testkit::norsu::Norsu;
use testkit::postgres::{self, PostgresServer, chown_to_server_user, program, run};
use testkit::verify::copy;

/// Settings, statements, and the reason in the error.
type RemainingState = (&'static [&'static str], &'static [&'static str], &'static str);

/// Directories that PostgreSQL leaves in such a state by a clean shutdown.
const REMAINING: &[RemainingState] = &[
    (
        &[],
        &["SELECT pg_create_physical_replication_slot('standing', true)"],
        "the replication slot \"standing\"",
    ),
    (
        &["wal_level=logical"],
        &["SELECT pg_create_logical_replication_slot('decoding', 'test_decoding')"],
        "the replication slot \"decoding\"",
    ),
    (
        &["archive_mode=on", "archive_command=false"],
        &["CREATE TABLE a (i int)", "SELECT pg_switch_wal()", "CHECKPOINT"],
        "archiving the write-ahead log file \"0000000100000000000000",
    ),
    (&["track_commit_timestamp=on"], &["CREATE TABLE c (i int)"], "track_commit_timestamp"),
];

/// Files whose presence causes PostgreSQL to do something other than a normal start.
const FILES: [&str; 4] = ["recovery.signal", "standby.signal", "backup_label", "tablespace_map"];

/// Norsu's error for the directory. No file may be modified.
fn refusal(data: &Path) -> String {
    let mut before = BTreeMap::new();
    contents(data, &mut before);
    let log = Norsu::try_start(data, &[]).err().expect("it must not come up");
    let mut after = BTreeMap::new();
    contents(data, &mut after);
    // postmaster.opts is written first, in PostgreSQL too.
    after.retain(|path, _| !path.ends_with("postmaster.opts"));
    before.retain(|path, _| !path.ends_with("postmaster.opts"));
    let touched: Vec<_> =
        before.iter().filter(|(path, file)| after.get(*path) != Some(*file)).collect();
    let touched: Vec<_> = touched.into_iter().map(|(path, _)| path).collect();
    assert!(touched.is_empty() && before.len() == after.len(), "{touched:?}\n{log}");
    log
}

#[test]
fn unsupported_directories_are_refused_by_name() {
    let dir = TempDir::new("started");
    chown_to_server_user(dir.path());
    let (good, data) = (dir.path().join("good"), dir.path().join("data"));
    postgres::init_with(&good, &["--locale=C", "-k"]);
    for (settings, statements, named) in REMAINING {
        copy(&good, &data);
        let settings = [&["autovacuum=off"], *settings].concat();
        let server = PostgresServer::start_with(&data, "postgres", &settings);
        let mut client = server.connect("postgres");
        statements.iter().for_each(|sql| drop(client.must(sql)));
        drop(client);
        drop(server);
        let log = refusal(&data);
        assert!(log.contains("FATAL") && log.contains(named), "{named}: {log}");
        std::fs::remove_dir_all(&data).expect("a directory");
    }
    for file in FILES {
        copy(&good, &data);
        std::fs::write(data.join(file), "").expect("a new file");
        chown_to_server_user(&data);
        let log = refusal(&data);
        assert!(log.contains(&format!("\"{file}\"")), "{file}: {log}");
        std::fs::remove_dir_all(&data).expect("a directory");
    }
    // A base backup by pg_basebackup.
    let server = PostgresServer::start_with(&good, "postgres", &["autovacuum=off"]);
    let mut backup = program("pg_basebackup");
    backup.arg("-h").arg(server.sockets()).args(["-U", "postgres", "-c", "fast", "-D"]).arg(&data);
    run(backup);
    drop(server);
    assert!(refusal(&data).contains("\"backup_label\""));
    // After recovery by PostgreSQL it is an ordinary directory.
    drop(PostgresServer::start(&data, "postgres"));
    Norsu::start(&data, &[]).stop(&data);
}

/// A crash after a promotion and before its checkpoint: the control file still contains the old
/// timeline.
#[test]
fn a_log_with_a_timeline_switch_is_refused() {
    let dir = TempDir::new("timelines");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "-k"]);
    let settings = ["autovacuum=off"];
    let server = PostgresServer::start_with(&data, "postgres", &settings);
    server.query("postgres", "CREATE TABLE t AS SELECT 1 i");
    drop(server);
    std::fs::write(data.join("standby.signal"), "").expect("a new file");
    chown_to_server_user(&data);
    let server = PostgresServer::start_with(&data, "postgres", &settings);
    let mut client = server.connect("postgres");
    let pid = client.value("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
    run(postgres::kill("STOP", &pid));
    client.must("SELECT pg_promote()");
    client.must("INSERT INTO t SELECT generate_series(2, 1000)");
    drop(client);
    server.crash();
    let log = refusal(&data);
    let named = "recovery from timeline 1 to timeline 2 is not supported";
    assert!(log.contains("FATAL") && log.contains(named), "{log}");
    // PostgreSQL can recover the directory, and then Norsu can use it.
    drop(PostgresServer::start_with(&data, "postgres", &settings));
    let server = Norsu::start(&data, &[]);
    assert_eq!(server.connect("postgres").value("SELECT count(*) FROM t"), "1000");
    server.stop(&data);
}

#[test]
fn archive_mode_is_refused() {
    let dir = TempDir::new("archive");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "-k"]);
    let conf = data.join("postgresql.auto.conf");
    std::fs::write(&conf, "archive_mode = on\narchive_command = 'true'\n").expect("settings");
    chown_to_server_user(&data);
    drop(PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]));
    assert!(refusal(&data).contains("archiving (\"archive_mode\") is not supported"));
    std::fs::write(&conf, "").expect("settings");
    chown_to_server_user(&data);
    Norsu::start(&data, &[]).stop(&data);
}

/// The messages about shared memory with their hints, without timestamps, process ids and program
/// names.
fn of_memory(log: &str) -> Vec<&str> {
    let starts = ["pre-existing", "HINT:  Terminate"];
    let cut = |line| starts.iter().find_map(|start| str::find(line, start)).map(|at| &line[at..]);
    log.lines().filter_map(cut).collect()
}

fn kill(pid: &str) {
    run(postgres::kill("KILL", pid));
}

/// A process that is killed at the end of the test.
struct Process(String);

impl Drop for Process {
    fn drop(&mut self) {
        kill(&self.0);
    }
}

#[test]
fn a_directory_that_postgres_still_uses_is_refused() {
    let dir = TempDir::new("attached");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "-k"]);
    let server = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
    let log = Norsu::try_start(&data, &[]).err().expect("it must not come up");
    assert!(log.contains("postmaster.pid\" already exists"), "{log}");

    // A session that does not react to the end of its server.
    let mut busy = server.connect("postgres");
    let pid = Process(busy.value("SELECT pg_backend_pid()"));
    busy.send("DO 'BEGIN LOOP END LOOP; END'").expect("it is sent");
    let file = data.join("postmaster.pid");
    let lock = std::fs::read_to_string(&file).expect("the lock file");
    let postmaster = lock.lines().next().expect("a number").to_owned();
    kill(&postmaster);
    // The process id stays in use until its parent has waited for it.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while Path::new("/proc").join(&postmaster).exists() {
        assert!(std::time::Instant::now() < end, "{postmaster} stays");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let theirs = |lock: Option<&str>| {
        let _ = std::fs::remove_file(&file);
        if let Some(text) = lock {
            std::fs::write(&file, text).expect("room");
        }
        chown_to_server_user(&data);
        PostgresServer::try_start(&data, "postgres", &[]).err().expect("it must not come up")
    };
    // The lock file contains the key of the shared memory. Without the file, only the shared memory
    // itself shows that the directory is in use.
    for text in [Some(lock.as_str()), None] {
        let said = theirs(text);
        match text {
            Some(text) => std::fs::write(&file, text).expect("room"),
            None => assert!(!file.exists()),
        }
        chown_to_server_user(&data);
        let log = refusal(&data);
        assert_eq!(of_memory(&log), of_memory(&said), "{said}");
        assert_eq!(of_memory(&log).len(), 2, "{log}");
    }
    drop((pid, busy));
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let _ = std::fs::remove_file(&file);
    // The last process may take a moment to exit.
    let server = loop {
        match Norsu::try_start(&data, &[]) {
            Ok(server) => break server,
            Err(log) => assert!(std::time::Instant::now() < end, "{log}"),
        }
    };
    server.stop(&data);
}
