//! The log cannot be written: the server goes down, and its messages to the log and to clients are
//! PostgreSQL's.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};

/// The output of psql without numbers and the locations in scripts.
fn words(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let plain = |line: &str| {
        let line = line
            .split_once(": ")
            .filter(|(head, _)| head.starts_with("psql"))
            .map_or(line, |l| l.1);
        line.replace(|c: char| c.is_ascii_digit(), "")
    };
    text.lines().map(plain).collect()
}

/// The log's messages about the PANIC: the message and the statement, each once.
fn panics(log: &str) -> Vec<String> {
    let lines = words(log.as_bytes()).into_iter();
    let said = lines.filter_map(|l| {
        let at = l.find("PANIC:").or_else(|| l.find("STATEMENT:"))?;
        Some(l[at..].to_owned())
    });
    said.collect()
}

/// The messages to the session whose commit fails, and to a session that sleeps at that time.
fn lose(data: &Path, script: &Path, psql: impl Fn() -> Command) -> [Vec<String>; 2] {
    let run = |args: &[&str]| {
        let mut command = psql();
        command.args(["-X", "-q", "-d", "postgres", "-v", "ON_ERROR_STOP=1"]).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("psql can be run")
    };
    let sleeper = run(&["-c", "SELECT pg_sleep(300)"]);
    let asleep = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' \
                  AND query LIKE '%sleep(300%' \
                  AND pid <> pg_backend_pid()";
    loop {
        let out = run(&["-At", "-c", asleep]).wait_with_output().expect("psql ends");
        if out.stdout.starts_with(b"1") {
            break;
        }
    }
    std::fs::rename(data.join("pg_wal"), data.join("gone")).expect("a directory to rename");
    let script = script.to_str().expect("a path in UTF-8");
    [run(&["-f", script]), sleeper].map(|child| {
        let out = child.wait_with_output().expect("psql ends");
        assert!(!out.status.success());
        words(&out.stderr)
    })
}

#[test]
fn clients_get_the_reason_of_a_shutdown() {
    let dir = TempDir::new("lost");
    chown_to_server_user(dir.path());
    let [ours, real] = ["ours", "real"].map(|name| dir.path().join(name));
    norsu::init_with(&ours, &["--locale=C", "--wal-segsize=1"]);
    postgres::init_with(&real, &["--locale=C", "-k", "--wal-segsize=1"]);
    let script = dir.path().join("script");
    let mut text = "CREATE TABLE t (a text);\n".to_owned();
    for _ in 0..4000 {
        writeln!(text, "INSERT INTO t VALUES (repeat('x', 1900));").expect("room");
    }
    std::fs::write(&script, text).expect("a new file");
    // The session must detect the missing directory before the WAL writer does.
    let settings = ["restart_after_crash=off", "wal_writer_delay=10s"];
    let server = Norsu::start(&ours, &["-c", settings[0], "-c", settings[1]]);
    let mine = lose(&ours, &script, || server.client("psql"));
    let my_log = panics(&server.log());
    let server = PostgresServer::start_with(&real, "postgres", &settings);
    let theirs = lose(&real, &script, || server.client("psql"));
    let their_log = panics(&server.log());
    assert_eq!(their_log.len(), 2, "{their_log:?}");
    assert_eq!(my_log, their_log);
    assert!(theirs[0][0].starts_with("PANIC:  could not "), "{theirs:?}");
    assert!(theirs[1][0].starts_with("WARNING:  terminating connection"), "{theirs:?}");
    assert_eq!(mine, theirs);
}
