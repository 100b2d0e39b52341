//! Settings for features that Norsu does not have: it refuses to start with them, and names the
//! reason.

use testkit::dir::TempDir;
use testkit::norsu::{Norsu, init};
use testkit::postgres::chown_to_server_user;

/// The error of a server whose configuration contains this line, so that it does not start.
fn refusal(line: &str) -> String {
    let dir = TempDir::new("promises");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    init(&data);
    let conf = data.join("postgresql.conf");
    let text = std::fs::read_to_string(&conf).expect("a file");
    std::fs::write(&conf, format!("{text}\n{line}\n")).expect("a file");
    match Norsu::try_start(&data, &[]) {
        Ok(_) => String::new(),
        Err(log) => log,
    }
}

#[test]
fn unsupported_settings_are_refused_at_start() {
    for (line, said) in [
        ("logging_collector = on", "a logging collector is not supported by this server"),
        ("log_destination = 'stderr, csvlog'", "log destination \"csvlog\" is not supported"),
        ("log_destination = jsonlog", "log destination \"jsonlog\" is not supported"),
        (
            "shared_preload_libraries = 'auto_explain'",
            "could not access file \"auto_explain\": No such file or directory",
        ),
        ("synchronous_standby_names = 'a'", "synchronous replication is not supported"),
        ("huge_pages = on", "huge pages are not supported"),
        ("bonjour = on", "Bonjour is not supported"),
        ("db_user_namespace = on", "\"db_user_namespace\" is not supported"),
        ("shared_buffers = 4TB", "\"shared_buffers\" asks for 4194304 MB"),
    ] {
        let log = refusal(line);
        assert!(log.contains(said), "{line}: {log}");
        assert!(log.contains("FATAL:"), "{line}: {log}");
        assert!(log.contains("HINT:"), "{line}: {log}");
    }
    for line in [
        "ssl = off",
        "logging_collector = off",
        "log_destination = 'stderr'",
        "shared_preload_libraries = ''",
        "shared_preload_libraries = 'pg_stat_statements, plpgsql'",
        "huge_pages = try",
    ] {
        assert_eq!(refusal(line), "", "{line}");
    }
}

#[test]
fn settings_of_files_and_groups_are_applied() {
    use std::os::unix::fs::MetadataExt;
    let dir = TempDir::new("promised-files");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    init(&data);
    let pid_file = dir.path().join("external.pid");
    let setting = format!("external_pid_file={}", pid_file.display());
    let group = std::fs::metadata(&data).expect("a directory").gid().to_string();
    let group = format!("unix_socket_group={group}");
    let server = Norsu::start(&data, &["-c", &setting, "-c", &group]);
    let text = std::fs::read_to_string(&pid_file).expect("the file of the server's number");
    assert_eq!(text.trim(), server.pid().to_string());
    server.stop(&data);
    assert!(!pid_file.exists());
    assert!(refusal("unix_socket_group = 'no such group'").contains("does not exist"));
}

#[test]
fn unsupported_settings_are_refused_at_run_time() {
    let dir = TempDir::new("promised");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    init(&data);
    let server = Norsu::start(&data, &[]);
    let mut client = server.connect("postgres");
    for (sql, code) in [
        ("alter system set bonjour = on", Some("0A000")),
        ("alter system set logging_collector = on", Some("0A000")),
        ("alter system set log_destination = csvlog", Some("0A000")),
        ("alter system set log_destination = nosuch", Some("22023")),
        ("alter system set log_destination = stderr", None),
    ] {
        let error = client.query(sql).expect("a reply").error;
        assert_eq!(error.map(|e| e.code).as_deref(), code, "{sql}");
    }
    server.query("alter role postgres set session_preload_libraries = 'auto_explain'");
    let mut psql = server.client("psql");
    let out = psql.args(["-XAtq", "-d", "postgres", "-c", "select 1"]).output().expect("psql");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("FATAL:  could not access file \"auto_explain\""), "{said}");
}
