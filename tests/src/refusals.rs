//! Directories on which a server must not start: its error is PostgreSQL's, and it does not modify
//! any file.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user, program, run};

/// Offset of the checksum in the control file.
const CRC_AT: usize = 288;

fn control(data: &Path) -> PathBuf {
    data.join("global/pg_control")
}

/// Modifies the control file and updates its checksum.
fn change(data: &Path, at: usize, bytes: &[u8]) {
    let mut file = std::fs::read(control(data)).unwrap();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    let crc = crc32c::crc32c(&file[..CRC_AT]);
    file[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(control(data), file).unwrap();
}

/// All files with contents and modification times, and all directories.
pub(crate) fn contents(dir: &Path, out: &mut BTreeMap<PathBuf, (Vec<u8>, Option<SystemTime>)>) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            out.insert(path.clone(), (Vec::new(), None));
            contents(&path, out);
        } else {
            let written = entry.metadata().unwrap().modified().unwrap();
            out.insert(path.clone(), (std::fs::read(&path).unwrap(), Some(written)));
        }
    }
}

/// The messages of a log without timestamps and process ids. Packagers append text to the version.
fn words(log: &str) -> Vec<String> {
    let lines = log.lines().map(|l| match l.split_once("] ") {
        Some((time, rest)) if time.starts_with(|c: char| c.is_ascii_digit()) => rest,
        _ => l,
    });
    let lines = lines.map(|l| match l.split_once("with this version 15") {
        Some((head, _)) => format!("{head}with this version 15"),
        None => l.to_owned(),
    });
    // The names of the programs differ.
    lines.map(|l| l.replace("postgres: ", "norsu: ")).collect()
}

/// PostgreSQL's error. The server is started directly, because `pg_ctl` checks the directory itself
/// and prints other errors.
fn refusal(data: &Path) -> String {
    let postgres = program("postgres");
    let mut command = Command::new("timeout");
    command.arg("20").arg(postgres.get_program()).args(postgres.get_args());
    command.arg("-D").arg(data).args(["-c", "listen_addresses=", "-c", "unix_socket_directories="]);
    let out = command.stdin(Stdio::null()).output().expect("the server can be run");
    assert!(!out.status.success(), "PostgreSQL runs");
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// Appends settings to the configuration.
fn set(data: &Path, lines: &str) {
    let path = data.join("postgresql.auto.conf");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("{text}{lines}\n")).unwrap();
}

type Damage = fn(&Path);

const DAMAGES: &[(&str, Damage)] = &[
    ("checksum", |d| {
        let mut file = std::fs::read(control(d)).unwrap();
        file[100] ^= 1;
        std::fs::write(control(d), file).unwrap();
    }),
    ("version of the control file", |d| change(d, 8, &1201u32.to_le_bytes())),
    ("version in the other byte order", |d| change(d, 8, &1300u32.to_be_bytes())),
    ("version and checksum", |d| {
        let mut file = std::fs::read(control(d)).unwrap();
        file[8..12].copy_from_slice(&1700u32.to_le_bytes());
        std::fs::write(control(d), file).unwrap();
    }),
    ("version of the catalogs", |d| change(d, 12, &202_107_181u32.to_le_bytes())),
    ("alignment", |d| change(d, 204, &4u32.to_le_bytes())),
    ("floating point", |d| change(d, 208, &1.5f64.to_le_bytes())),
    ("block size", |d| change(d, 216, &16_384u32.to_le_bytes())),
    ("size of files", |d| change(d, 220, &65_536u32.to_le_bytes())),
    ("block size of the log", |d| change(d, 224, &16_384u32.to_le_bytes())),
    ("segment size", |d| change(d, 228, &(3u32 << 20).to_le_bytes())),
    ("no segment size", |d| change(d, 228, &0u32.to_le_bytes())),
    ("length of names", |d| change(d, 232, &32u32.to_le_bytes())),
    ("columns of indexes", |d| change(d, 236, &16u32.to_le_bytes())),
    ("chunks of TOAST", |d| change(d, 240, &1000u32.to_le_bytes())),
    ("chunks of large objects", |d| change(d, 244, &1024u32.to_le_bytes())),
    ("float8 by reference", |d| change(d, 248, &[0])),
    ("no control file", |d| std::fs::remove_file(control(d)).unwrap()),
    ("older version", |d| std::fs::write(d.join("PG_VERSION"), "14\n").unwrap()),
    ("newer version", |d| std::fs::write(d.join("PG_VERSION"), "16\n").unwrap()),
    ("version of two numbers", |d| std::fs::write(d.join("PG_VERSION"), "9.6\n").unwrap()),
    ("negative version", |d| std::fs::write(d.join("PG_VERSION"), "-15\n").unwrap()),
    ("no number", |d| std::fs::write(d.join("PG_VERSION"), "abc\n").unwrap()),
    ("empty version", |d| std::fs::write(d.join("PG_VERSION"), "").unwrap()),
    ("no version", |d| std::fs::remove_file(d.join("PG_VERSION")).unwrap()),
    ("empty lock file", |d| std::fs::write(d.join("postmaster.pid"), "").unwrap()),
    ("no number in the lock file", |d| std::fs::write(d.join("postmaster.pid"), "x\n").unwrap()),
    ("0 in the lock file", |d| std::fs::write(d.join("postmaster.pid"), "0\n1\n").unwrap()),
    ("a directory for the lock file", |d| {
        std::fs::create_dir(d.join("postmaster.pid")).unwrap();
    }),
    ("a fault in the settings", |d| set(d, "port = = 1")),
    ("a setting that is none", |d| set(d, "no_such = 1")),
    ("open to all", |d| std::fs::set_permissions(d, Permissions::from_mode(0o755)).unwrap()),
    ("max_wal_size of one segment", |d| set(d, "max_wal_size = 31MB")),
    ("minimal log with senders", |d| set(d, "wal_level = minimal")),
    ("minimal log with archive", |d| {
        set(d, "wal_level = minimal\nmax_wal_senders = 0\narchive_mode = always");
    }),
    ("min_wal_size of one segment", |d| set(d, "min_wal_size = 20MB\nmax_wal_size = 20MB")),
];

#[test]
fn incompatible_directories_are_refused_with_the_same_errors() {
    let dir = TempDir::new("refused");
    chown_to_server_user(dir.path());
    let (good, data) = (dir.path().join("good"), dir.path().join("data"));
    norsu::init(&good);
    let mut wrong = Vec::new();
    for (name, damage) in DAMAGES {
        let mut cp = Command::new("cp");
        cp.arg("-a").arg(&good).arg(&data);
        run(cp);
        damage(&data);
        chown_to_server_user(&data);
        let mut before = BTreeMap::new();
        contents(&data, &mut before);
        let theirs = words(&refusal(&data));
        let ours = Norsu::try_start(&data, &[]).err();
        let ours = words(&ours.unwrap_or_else(|| panic!("{name}: we start")));
        let mut after = BTreeMap::new();
        contents(&data, &mut after);
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{name}");
        let touched: Vec<_> =
            before.iter().filter(|(p, b)| after[*p] != **b).map(|(p, _)| p).collect();
        assert!(touched.is_empty(), "{name}: {touched:?}");
        assert!(!theirs.is_empty(), "{name}: PostgreSQL says nothing");
        if ours != theirs {
            wrong.push(format!("{name}\n  want {theirs:#?}\n  have {ours:#?}"));
        }
        std::fs::remove_dir_all(&data).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The unmodified directory is accepted by both servers.
    drop(PostgresServer::start(&good, "postgres"));
    Norsu::start(&good, &[]).stop(&good);
}

/// The errors in a log: its messages except those of every start and shutdown.
fn complaints(log: &str) -> Vec<String> {
    const USUAL: [&str; 8] = [
        "checkpoint starting",
        "starting ",
        "listening on ",
        "startup process",
        "terminating any other",
        "database system was shut down",
        "database system is shut down",
        "shutting down",
    ];
    let lines = words(log).into_iter();
    lines.filter(|l| !l.is_empty() && !USUAL.iter().any(|usual| l.contains(usual))).collect()
}

const LOST: &[(&str, Damage)] = &[
    ("no directory", |d| std::fs::remove_dir_all(d.join("pg_wal")).unwrap()),
    ("a file for a directory", |d| {
        std::fs::remove_dir_all(d.join("pg_wal")).unwrap();
        std::fs::write(d.join("pg_wal"), "").unwrap();
    }),
    ("no segments", |d| segments(d).for_each(|s| std::fs::remove_file(s).unwrap())),
    ("cut segments", |d| segments(d).for_each(|s| std::fs::write(s, [7; 100]).unwrap())),
    ("empty segments", |d| segments(d).for_each(|s| std::fs::write(s, []).unwrap())),
    ("no state", |d| change(d, 16, &[0; 4])),
    ("no checkpoint", |d| change(d, 32, &[0; 8])),
    ("a checkpoint in a page's header", |d| change(d, 32, &0x0100_0004u64.to_le_bytes())),
    ("versions in a directory", |d| {
        std::fs::remove_file(d.join("PG_VERSION")).unwrap();
        std::fs::create_dir(d.join("PG_VERSION")).unwrap();
    }),
    ("no pg_notify", |d| without(d, "pg_notify")),
    ("no pg_commit_ts", |d| without(d, "pg_commit_ts")),
    ("no pg_replslot", |d| without(d, "pg_replslot")),
    ("no pg_twophase", |d| without(d, "pg_twophase")),
    ("no pg_notify after a crash", |d| crashed_without(d, "pg_notify")),
    ("no pg_replslot after a crash", |d| crashed_without(d, "pg_replslot")),
    ("no pg_twophase after a crash", |d| crashed_without(d, "pg_twophase")),
    ("no pg_logical after a crash", |d| crashed_without(d, "pg_logical")),
    ("no pg_logical/mappings after a crash", |d| crashed_without(d, "pg_logical/mappings")),
];

fn without(data: &Path, directory: &str) {
    std::fs::remove_dir_all(data.join(directory)).unwrap();
}

/// Removes a directory and sets the state of the control file to "in production".
fn crashed_without(data: &Path, directory: &str) {
    const IN_PRODUCTION: u32 = 6;
    change(data, 16, &IN_PRODUCTION.to_le_bytes());
    without(data, directory);
}

fn segments(data: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(data.join("pg_wal")).unwrap();
    entries.map(|e| e.unwrap().path()).filter(|p| p.is_file())
}

/// A directory without its log, or invalid settings on the command line.
#[test]
fn impossible_starts_fail_with_the_same_errors() {
    let dir = TempDir::new("refused");
    chown_to_server_user(dir.path());
    let (good, data) = (dir.path().join("good"), dir.path().join("data"));
    norsu::init(&good);
    let mut wrong = Vec::new();
    let mut compare = |name: &str, ours: Option<String>, theirs: Option<String>| {
        let [ours, theirs] = [ours, theirs].map(|log| log.map(|log| complaints(&log)));
        assert!(theirs.as_ref().is_some_and(|said| !said.is_empty()), "{name}: {theirs:?}");
        if ours != theirs {
            wrong.push(format!("{name}\n  want {theirs:#?}\n  have {ours:#?}"));
        }
    };
    for (name, damage) in LOST {
        let starts: [fn(&Path) -> Option<String>; 2] = [
            |d| Norsu::try_start(d, &[]).err(),
            |d| PostgresServer::try_start(d, "postgres", &[]).err(),
        ];
        let [ours, theirs] = starts.map(|start| {
            let mut cp = Command::new("cp");
            cp.arg("-a").arg(&good).arg(&data);
            run(cp);
            damage(&data);
            chown_to_server_user(&data);
            let log = start(&data);
            std::fs::remove_dir_all(&data).unwrap();
            log
        });
        compare(name, ours, theirs);
    }
    for setting in [
        "wal_compression=bogus",
        "wal_sync_method=bogus",
        "wal_level=bogus",
        "max_wal_size=1MB",
        "wal_consistency_checking=bogus",
        "commit_delay=100001",
        "wal_segment_size=1MB",
        "checkpoint_completion_target=1.5",
        "wal_skip_threshold=2TB",
        "max_stack_depth=100GB",
        "superuser_reserved_connections=300",
        "lc_messages=nosuch",
        "lc_monetary=nosuch_XX.UTF-8",
        "lc_numeric=nosuch",
        "lc_time=nosuch",
        "client_encoding=nosuch",
        "timezone_abbreviations=nosuch",
        "timezone_abbreviations=../nosuch",
    ] {
        let ours = Norsu::try_start(&good, &["-c", setting]).err();
        compare(setting, ours, PostgresServer::try_start(&good, "postgres", &[setting]).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_missing_directory_of_the_log_is_created() {
    let dir = TempDir::new("made");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init(&data);
    let archive = data.join("pg_wal/archive_status");
    let mut said = Vec::new();
    for server in 0..2 {
        std::fs::remove_dir(&archive).unwrap();
        let log = match server {
            0 => Norsu::start(&data, &[]).stop(&data),
            _ => PostgresServer::start(&data, "postgres").log(),
        };
        assert!(archive.is_dir());
        said.push(complaints(&log).into_iter().find(|l| l.contains("archive_status")));
    }
    assert_eq!(said[0], said[1]);
    assert!(said[1].is_some());
}

const DATABASES: &[(&str, Damage)] = &[
    ("no directory", |d| std::fs::remove_dir_all(d).unwrap()),
    ("no version", |d| std::fs::remove_file(d.join("PG_VERSION")).unwrap()),
    ("older version", |d| std::fs::write(d.join("PG_VERSION"), "14\n").unwrap()),
    ("no number", |d| std::fs::write(d.join("PG_VERSION"), "abc\n").unwrap()),
];

/// The remaining part of the cluster can still be used.
#[test]
fn incompatible_databases_are_refused_with_the_same_errors() {
    let dir = TempDir::new("refused");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init(&data);
    let server = Norsu::start(&data, &[]);
    let mut paths = Vec::new();
    for number in 0..DATABASES.len() {
        server.query(&format!("CREATE DATABASE d{number}"));
        let oid = server.query(&format!("SELECT oid FROM pg_database WHERE datname = 'd{number}'"));
        paths.push(data.join("base").join(oid));
    }
    server.stop(&data);
    for (path, (_, damage)) in paths.iter().zip(DATABASES) {
        damage(path);
    }
    let said = |sockets: &Path, psql: &dyn Fn() -> Command| -> Vec<String> {
        let mut out = Vec::new();
        for (number, (name, _)) in DATABASES.iter().enumerate() {
            let database = format!("d{number}");
            let error = testkit::client::Client::connect(sockets, &database).err();
            out.push(error.unwrap_or_else(|| panic!("{} connects", name)).to_string());
            let mut psql = psql();
            let tried = psql.args(["-X", "-d", &database, "-c", "SELECT 1"]).output().unwrap();
            let text = String::from_utf8_lossy(&tried.stderr).into_owned();
            out.extend(words(&text).into_iter().skip(1));
        }
        out
    };
    let server = Norsu::start(&data, &[]);
    let ours = said(server.sockets(), &|| server.client("psql"));
    assert_eq!(server.query("SELECT 1"), "1");
    drop(server);
    let server = PostgresServer::start(&data, "postgres");
    let theirs = said(server.sockets(), &|| server.client("psql"));
    assert_eq!(ours, theirs);
    assert!(theirs[0].starts_with("3D000: database \"d0\" does not exist"), "{theirs:?}");
}

/// The lock file contains a process id that now belongs to another user's process, as after a
/// restart of the machine.
#[test]
fn the_lock_file_of_another_process_is_replaced() {
    let dir = TempDir::new("stale");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init(&data);
    let stale = || {
        std::fs::write(data.join("postmaster.pid"), "1\n/nowhere\n").unwrap();
        chown_to_server_user(&data);
    };
    stale();
    Norsu::start(&data, &[]).stop(&data);
    stale();
    drop(PostgresServer::start(&data, "postgres"));
}
