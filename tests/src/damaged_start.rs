//! Corruption of files that a server needs, before the start or while it runs: the server reports
//! the error once and exits, or continues to run; it does not block, and does not restart
//! repeatedly.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user, run};
use testkit::verify::copy;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Damage {
    Empty,
    Cut,
    Flipped,
    Unreadable,
    Directory,
    Missing,
}

const DAMAGES: [Damage; 6] = [
    Damage::Empty,
    Damage::Cut,
    Damage::Flipped,
    Damage::Unreadable,
    Damage::Directory,
    Damage::Missing,
];

const FILES: [&str; 15] = [
    "global/pg_filenode.map",
    "base/5/pg_filenode.map",
    "global/pg_control",
    "postgresql.conf",
    "postgresql.auto.conf",
    "pg_hba.conf",
    "pg_ident.conf",
    "postmaster.pid",
    "postmaster.opts",
    "PG_VERSION",
    "base/5/PG_VERSION",
    "pg_xact/0000",
    "pg_multixact/offsets/0000",
    "pg_multixact/members/0000",
    "pg_tblspc/16384",
];

/// Files without which no server may run, regardless of the kind of corruption.
const NEEDED: [&str; 3] = ["global/pg_filenode.map", "global/pg_control", "PG_VERSION"];

fn damage(path: &Path, how: Damage) {
    let bytes = std::fs::read(path).unwrap_or_default();
    let is_link = path.is_symlink();
    if how != Damage::Unreadable && (is_link || path.exists()) {
        std::fs::remove_file(path).unwrap();
    }
    match how {
        Damage::Empty => std::fs::write(path, "").unwrap(),
        Damage::Cut if is_link => std::os::unix::fs::symlink("/nonexistent", path).unwrap(),
        Damage::Cut => std::fs::write(path, &bytes[..bytes.len() / 3]).unwrap(),
        Damage::Flipped if is_link => std::os::unix::fs::symlink(path, path).unwrap(),
        Damage::Flipped => {
            let mut bytes = bytes;
            bytes.iter_mut().step_by(37).for_each(|b| *b ^= 0x24);
            std::fs::write(path, bytes).unwrap();
        }
        Damage::Unreadable if is_link => {}
        Damage::Unreadable => {
            if !path.exists() {
                std::fs::write(path, "").unwrap();
            }
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
        }
        Damage::Directory => std::fs::create_dir(path).unwrap(),
        Damage::Missing => {}
    }
}

struct TestDirectory {
    dir: TempDir,
    good: PathBuf,
}

impl TestDirectory {
    fn new() -> TestDirectory {
        let dir = TempDir::new("damaged");
        chown_to_server_user(dir.path());
        let (good, space) = (dir.path().join("good"), dir.path().join("space"));
        norsu::init(&good);
        std::fs::create_dir(&space).unwrap();
        chown_to_server_user(&space);
        let server = Norsu::start(&good, &[]);
        server.query(&format!("CREATE TABLESPACE s LOCATION '{}'", space.display()));
        server.query("CREATE TABLE t AS SELECT generate_series(1, 100) AS id");
        server.query("BEGIN; SELECT FROM t WHERE id = 1 FOR SHARE; COMMIT");
        server.stop(&good);
        let oid = std::fs::read_dir(good.join("pg_tblspc")).unwrap().next().unwrap().unwrap();
        assert_eq!(oid.file_name(), "16384", "another name in FILES");
        TestDirectory { dir, good }
    }

    fn damaged(&self, file: &str, how: Damage) -> PathBuf {
        let data = self.dir.path().join("data");
        if data.exists() {
            let mut chmod = std::process::Command::new("chmod");
            chmod.args(["-R", "u+rwX"]).arg(&data);
            run(chmod);
            std::fs::remove_dir_all(&data).unwrap();
        }
        copy(&self.good, &data);
        damage(&data.join(file), how);
        let mut chown = std::process::Command::new("chown");
        chown.args(["-h", "--reference"]).arg(&self.good).arg(data.join(file));
        let _ = chown.output();
        data
    }
}

/// The log's messages about the fault.
fn reasons(log: &str) -> Vec<String> {
    let words = ["FATAL: ", "PANIC: ", "could not"];
    let lines = log.lines().filter(|l| words.iter().any(|w| l.contains(w)));
    // The lines are compared without timestamps and program names.
    lines
        .map(|l| l.split_once("] ").map_or(l, |(_, rest)| rest).replace("postgres: ", "norsu: "))
        .collect()
}

#[test]
fn a_server_starts_on_a_corrupt_directory_or_exits_at_once() {
    let directory = TestDirectory::new();
    let (mut refused, mut wrong) = (0, Vec::new());
    for file in FILES {
        for how in DAMAGES {
            let data = directory.damaged(file, how);
            match Norsu::try_start(&data, &[]) {
                Ok(mut server) => {
                    let log = server.log();
                    if NEEDED.contains(&file)
                        && data.join(file).metadata().is_ok_and(|m| m.len() == 0)
                    {
                        wrong.push(format!("{file} {how:?}: we start: {log}"));
                    }
                    // Sessions are served, or get an error.
                    let mut psql = server.client("psql");
                    psql.args(["-d", "postgres", "-XAtc", "SELECT count(*) FROM t"]);
                    let out = psql.output().unwrap();
                    let said = String::from_utf8_lossy(&out.stdout).trim() == "100"
                        || String::from_utf8_lossy(&out.stderr).contains("FATAL: ");
                    if !said || server.log().matches("ready to accept").count() != 1 {
                        wrong.push(format!("{file} {how:?}: {out:?} {}", server.log()));
                    }
                    server.kill();
                }
                Err(log) => {
                    refused += 1;
                    let ours = reasons(&log);
                    if ours.is_empty() || log.contains("panicked at") || log.contains("os error") {
                        wrong.push(format!("{file} {how:?}: {log}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > 20, "{refused} refused");
}

/// PostgreSQL refuses to start on the same directories, with the same messages.
#[test]
fn directories_that_postgresql_refuses_are_refused_by_norsu() {
    let directory = TestDirectory::new();
    let mut wrong = Vec::new();
    for (file, how) in [
        ("global/pg_control", Damage::Empty),
        ("global/pg_control", Damage::Flipped),
        ("global/pg_control", Damage::Unreadable),
        ("global/pg_control", Damage::Missing),
        ("postgresql.conf", Damage::Missing),
        ("postgresql.conf", Damage::Unreadable),
        ("pg_hba.conf", Damage::Missing),
        ("pg_hba.conf", Damage::Unreadable),
        ("PG_VERSION", Damage::Unreadable),
        ("PG_VERSION", Damage::Directory),
        ("postmaster.pid", Damage::Empty),
        ("postmaster.pid", Damage::Unreadable),
        ("postmaster.opts", Damage::Unreadable),
        ("postmaster.opts", Damage::Directory),
        ("pg_xact/0000", Damage::Unreadable),
        ("pg_xact/0000", Damage::Missing),
        ("pg_multixact/offsets/0000", Damage::Missing),
        ("pg_multixact/offsets/0000", Damage::Directory),
    ] {
        let data = directory.damaged(file, how);
        let ours = Norsu::try_start(&data, &[]).err();
        let data = directory.damaged(file, how);
        // pg_ctl checks some files itself and prints other messages.
        let theirs = PostgresServer::try_start(&data, "postgres", &["autovacuum=off"]).err();
        let [ours, theirs] = [ours, theirs].map(|log| log.map(|log| reasons(&log)));
        if ours.is_none()
            || theirs.as_ref().is_some_and(|t| !t.is_empty() && Some(t) != ours.as_ref())
        {
            wrong.push(format!("{file} {how:?}\n  want {theirs:#?}\n  have {ours:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The server crashes after files were corrupted: it restarts in directory, and then exits.
#[test]
fn a_server_that_restarts_on_corrupt_files_exits() {
    let directory = TestDirectory::new();
    for file in ["global/pg_filenode.map", "PG_VERSION", "postgresql.conf"] {
        let data = directory.damaged("nothing", Damage::Missing);
        let server = Norsu::start(&data, &[]);
        server.query("CREATE TABLE more AS SELECT generate_series(1, 1000)");
        // The checkpoint must not be able to write the control file.
        damage(&data.join(file), Damage::Empty);
        damage(&data.join("global/pg_control"), Damage::Directory);
        let _ = server.client("psql").args(["-d", "postgres", "-Xc", "CHECKPOINT"]).output();
        let begun = Instant::now();
        while Path::new(&format!("/proc/{}/exe", server.pid())).exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{file}: {}", server.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = server.log();
        assert!(log.contains("PANIC: "), "{file}: {log}");
        assert!(log.matches("ready to accept").count() <= 2, "{file}: {log}");
    }
}
