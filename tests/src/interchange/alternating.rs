//! Two servers use one directory in turn. Each starts after a clean shutdown or a crash of the
//! other, and the contents must be those of the script's model. PostgreSQL's programs check the
//! indexes each time PostgreSQL starts, and the whole directory at the end.
//!
//! Half of the runs log a full-page image of every changed page in every record (and none for torn
//! pages), so that the server that replays compares each page with its image.
//!
//! Neither server syncs its files: after a kill the kernel has all writes. Power failures are
//! tested by `crash`.
//!
//! `NORSU_ALTERNATING_SEED=n` runs one seed only.

use super::bank::{check_with_postgresql_programs, images_by_kind};
use crate::script::{Script, StepResult};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user, run};
use testkit::verify::{self, checksums, copy};
use vfs::SeededRandom;

/// A server of either kind.
enum Server {
    Ours(Norsu),
    Real(PostgresServer),
}

impl Server {
    /// Starts a server. Returns `None` if PostgreSQL's consistency check fails for one of two known
    /// reasons. One is a file that a dropped table left behind: replay extends it for a record that
    /// initializes a page, and the check reports the zero pages before that page as corrupt. The
    /// other, with `own` (PostgreSQL replays its own log), is a lock on a frozen row with the flag
    /// of a combo command id, see [`stale_combo_ids_are_a_known_difference`].
    fn start(data: &Path, ours: bool, own: bool, settings: &[&str]) -> Option<Server> {
        if ours {
            let options: Vec<&str> = settings.iter().flat_map(|s| ["-c", *s]).collect();
            chown_to_server_user(data);
            return Some(Server::Ours(Norsu::start(data, &options)));
        }
        let emptied = emptied(&data.join("base/5"));
        let all = [settings, &["autovacuum=off"]].concat();
        let log = match PostgresServer::try_start(data, "postgres", &all) {
            Ok(server) => return Some(Server::Real(server)),
            Err(log) => log,
        };
        let known = log.contains("invalid page pd_lower 0 pd_upper 0 pd_special 0")
            && emptied.iter().any(|file| log.contains(&format!("rel 1663/5/{file}, blk ")));
        let known = known
            || own && log.contains("inconsistent page found") && log.contains("Heap/LOCK: off");
        assert!(known, "the server did not start:\n{log}");
        None
    }

    fn connect(&self) -> Client {
        match self {
            Server::Ours(s) => s.connect("postgres"),
            Server::Real(s) => s.connect("postgres"),
        }
    }

    fn client(&self, name: &str) -> Command {
        match self {
            Server::Ours(s) => s.client(name),
            Server::Real(s) => s.client(name),
        }
    }

    fn log(&self) -> String {
        match self {
            Server::Ours(s) => s.log(),
            Server::Real(s) => s.log(),
        }
    }

    fn crash(self) {
        match self {
            Server::Ours(mut s) => s.kill(),
            Server::Real(s) => s.crash(),
        }
    }

    fn stop(self, data: &Path) {
        match self {
            Server::Ours(s) => drop(s.stop(data)),
            Server::Real(s) => drop(s),
        }
    }
}

fn initdb(data: &Path, ours: bool) {
    if ours {
        norsu::init_with(data, &["--locale=C", "--wal-segsize=1"]);
        return;
    }
    postgres::init_with(data, &["--locale=C", "-k", "--wal-segsize=1"]);
}

fn is_long() -> bool {
    std::env::var_os("NORSU_TEST_LONG").is_some()
}

/// Names of empty files.
fn emptied(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a database's directory").flatten();
    let empty = entries.filter(|e| e.metadata().is_ok_and(|m| m.len() == 0));
    empty.filter_map(|e| e.file_name().into_string().ok()).collect()
}

/// Runs the script for some steps on a running server.
fn work(
    server: &Server,
    script: &mut Script,
    random: &SeededRandom,
    steps: u64,
) -> Result<(), String> {
    let mut clients: Vec<Client> = (0..3).map(|_| server.connect()).collect();
    script.verify(&mut clients[0])?;
    script.start(&mut clients)?;
    for step in 0..steps {
        // From here on records are compared, so no files may be removed: PostgreSQL's consistency
        // check would fail for files that a dropped table left behind.
        script.keep_files = script.keep_length && step >= steps / 4;
        let checkpoint = match script.keep_files {
            true => step == steps / 4,
            false => random.below(steps / 4) == 0,
        };
        let stepped = if checkpoint {
            clients[0].query("CHECKPOINT").map_err(|e| e.to_string())?;
            StepResult::Nothing
        } else {
            script.step(&mut clients, random)?
        };
        script.settle(stepped);
    }
    // This is after the last checkpoint, so a crash replays all of it; random steps follow.
    script.every_kind(&mut clients)?;
    for _ in 0..10 {
        let stepped = script.step(&mut clients, random)?;
        script.settle(stepped);
    }
    // Transactions are in progress at the end, and the connections are leaked.
    clients.into_iter().for_each(std::mem::forget);
    Ok(())
}

/// The server's dump without random keys and without versions, to which packagers append text.
fn dump(server: &Server) -> String {
    let text = run(server.client("pg_dumpall"));
    let left_out = ["\\restrict", "\\unrestrict", "-- Dumped from database version"];
    let kept = text.lines().filter(|line| !left_out.iter().any(|start| line.starts_with(start)));
    kept.collect::<Vec<_>>().join("\n")
}

/// Both servers recover copies of one crashed directory; both must have the contents of the
/// script's model, and their dumps must be the same.
fn recover_on_both(data: &Path, dir: &TempDir, by_us: bool, script: &Script) -> Result<(), String> {
    let mut states = Vec::new();
    for ours in [true, false] {
        let copied = dir.path().join("recovering");
        copy(data, &copied);
        let Some(server) = Server::start(&copied, ours, !by_us, &["fsync=off"]) else {
            std::fs::remove_dir_all(&copied).map_err(|e| e.to_string())?;
            continue;
        };
        let dump = dump(&server);
        let mut own = script.clone();
        let mut client = server.connect();
        own.verify(&mut client).map_err(|e| format!("{e}\n{}", server.log()))?;
        states.push((own.state(), dump));
        drop(client);
        server.stop(&copied);
        checksums(&copied);
        std::fs::remove_dir_all(&copied).map_err(|e| e.to_string())?;
    }
    let [(ours, our_dump), (theirs, their_dump)] = &states[..] else { return Ok(()) };
    if ours != theirs {
        return Err("the contents after recovery by the two servers differ".to_owned());
    }
    let lines = our_dump.lines().zip(their_dump.lines());
    match lines.enumerate().find(|(_, (ours, theirs))| ours != theirs) {
        Some((at, (ours, theirs))) => Err(format!("dumps, line {at}: {ours}\nand {theirs}")),
        None if our_dump.len() != their_dump.len() => Err("one dump is longer".to_owned()),
        None => Ok(()),
    }
}

/// Changes between the servers ten times, and counts the images with which pages were compared.
/// Returns false if PostgreSQL's consistency check failed for a known reason ([`Server::start`]),
/// which ends the run.
fn alternate_ten_times(
    seed: u64,
    counts: &mut [BTreeMap<String, usize>; 2],
) -> Result<bool, String> {
    let steps = if is_long() { 500 } else { 60 };
    let random = SeededRandom::new(seed);
    let compared = seed.is_multiple_of(2);
    let dir = TempDir::new("handover");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    initdb(&data, random.below(2) == 0);
    let mut settings = vec!["min_wal_size=8MB", "shared_buffers=1MB", "fsync=off"];
    // Only records since the last checkpoint are compared.
    settings.extend(match compared {
        false => &["max_wal_size=8MB"][..],
        true => &["max_wal_size=32MB", "wal_consistency_checking=all", "full_page_writes=off"],
    });
    let mut script = Script::new(std::env::var_os("NORSU_ALTERNATING_SEED").is_some());
    // PostgreSQL's consistency check reports a page that is zero because its file was truncated and
    // extended again.
    script.keep_length = compared;
    for round in 0..10 {
        let ours = round % 2 == 0;
        let Some(server) = Server::start(&data, ours, false, &settings) else { return Ok(false) };
        let log = |e: String| format!("round {round}: {e}\n{}", server.log());
        if let Server::Real(server) = &server {
            check_with_postgresql_programs(server);
        }
        work(&server, &mut script, &random, steps + random.below(100)).map_err(log)?;
        if !compared {
            let mut load = server.client("pgbench");
            if round == 0 {
                load.args(["-i", "-q", "postgres"]);
            } else {
                load.args(["-n", "-t", "30", "-c", "3", "postgres"]);
            }
            run(load);
        }
        if random.below(3) == 0 {
            // Sessions end before a clean shutdown.
            script.shut_down();
            server.stop(&data);
        } else {
            script.after_crash();
            server.crash();
            if compared {
                for (kind, n) in images_by_kind(&data) {
                    *counts[usize::from(ours)].entry(kind).or_insert(0) += n;
                }
            }
            if random.below(4) == 0 {
                recover_on_both(&data, &dir, ours, &script)
                    .map_err(|e| format!("round {round}: {e}"))?;
            }
        }
    }
    let Some(Server::Real(real)) = Server::start(&data, false, true, &[]) else { return Ok(false) };
    script.verify(&mut real.connect("postgres"))?;
    if !compared {
        crate::pgbench::check_sums(&mut |sql| real.query("postgres", sql).trim_end().to_owned());
    }
    verify::check(&real);
    drop(real);
    checksums(&data);
    Ok(true)
}

/// Runs one seed. Returns whether it was complete, and its counts. A panic is converted to an
/// error, so that its seed is printed.
fn outcome(seed: u64) -> Result<(bool, [BTreeMap<String, usize>; 2]), String> {
    let mut counts = Default::default();
    let run = || alternate_ten_times(seed, &mut counts);
    let whole = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })?;
    Ok((whole, counts))
}

/// Record types that each server must have compared.
const KINDS: [&str; 14] = [
    "Heap INSERT",
    "Heap UPDATE",
    "Heap HOT_UPDATE",
    "Heap DELETE",
    "Heap LOCK",
    "Heap2 PRUNE",
    "Heap2 VACUUM",
    "Heap2 FREEZE_PAGE",
    "Heap2 VISIBLE",
    "Heap2 MULTI_INSERT",
    "Btree INSERT_LEAF",
    "Btree SPLIT_R",
    "Btree NEWROOT",
    "Sequence LOG",
];

#[test]
fn servers_alternate_ten_times() {
    let long = is_long();
    let seeds: Vec<u64> = match std::env::var("NORSU_ALTERNATING_SEED") {
        Ok(n) => vec![n.parse().expect("a number")],
        Err(_) if long => (0..100).collect(),
        Err(_) => vec![0, 1, 2],
    };
    let total: Mutex<[BTreeMap<String, usize>; 2]> = Mutex::default();
    let (next, stumbled) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = Mutex::new(Vec::new());
    // Two seeds run concurrently, because each spends much of its time waiting for programs and
    // disks.
    let work = || {
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (whole, counts) = match outcome(*seed) {
                Ok(done) => done,
                Err(e) => {
                    println!("seed {seed} failed: {e}");
                    failures.lock().expect("no panic while it is locked").push(*seed);
                    continue;
                }
            };
            stumbled.fetch_add(usize::from(!whole), Ordering::Relaxed);
            let mut total = total.lock().expect("no panic while it is locked");
            for (total, counts) in total.iter_mut().zip(counts) {
                counts.into_iter().for_each(|(kind, n)| *total.entry(kind).or_insert(0) += n);
            }
            let [theirs, ours] = total.each_ref().map(|c| c.values().sum::<usize>());
            println!("seed {seed}: so far {ours} images of ours and {theirs} of theirs compared");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let failures = failures.into_inner().expect("no panic while it is locked");
    assert!(failures.is_empty(), "seeds {failures:?} failed");
    let stumbled = stumbled.into_inner();
    let counts = total.into_inner().expect("no panic while it is locked");
    println!("{stumbled} of {} runs cut short", seeds.len());
    assert!(stumbled <= 1 + seeds.len() / 5, "{stumbled} runs cut short");
    for (server, counts) in ["theirs", "ours"].iter().zip(&counts) {
        let total: usize = counts.values().sum();
        println!("{server}: {total} images compared\n{counts:#?}");
        assert!(!long || seeds.len() < 100 || total >= 200_000, "{server}: {total}");
        if seeds.len() > 1 {
            let rare = |k: &&&str| counts.get(**k).is_none_or(|n| *n == 0);
            let missing: Vec<_> = KINDS.iter().filter(rare).collect();
            assert!(missing.is_empty(), "{server}: {missing:?} of {counts:#?}");
        }
    }
}

/// A row that was updated twice in a transaction, the second time with a rollback to a savepoint,
/// still has the flag of a combo command id after it is frozen. PostgreSQL keeps the flag when it
/// locks the row, but clears it in replay, so its consistency check fails.
#[test]
fn stale_combo_ids_are_a_known_difference() {
    const STATEMENTS: [&str; 6] = [
        "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)",
        "BEGIN; UPDATE t SET v = 1; SAVEPOINT p; UPDATE t SET v = 2; ROLLBACK TO p; COMMIT",
        "VACUUM (FREEZE) t",
        "CHECKPOINT",
        "SELECT * FROM t FOR UPDATE",
        "INSERT INTO t VALUES (2, 0)",
    ];
    let settings = ["wal_consistency_checking=all", "full_page_writes=off"];
    let dir = TempDir::new("combo");
    chown_to_server_user(dir.path());
    for (by_us, read_by_us) in [(true, true), (true, false), (false, true), (false, false)] {
        let data = dir.path().join(format!("{by_us}{read_by_us}"));
        initdb(&data, by_us);
        let server = Server::start(&data, by_us, false, &settings).expect("it comes up");
        let mut client = server.connect();
        STATEMENTS.iter().for_each(|sql| drop(client.must(sql)));
        drop(client);
        server.crash();
        // No consistency checks: PostgreSQL replays its own log.
        let server = Server::start(&data, read_by_us, !by_us, &settings);
        assert_eq!(server.is_some(), by_us || read_by_us);
        if let Some(server) = server {
            assert_eq!(server.connect().rows("SELECT * FROM t ORDER BY id"), ["1|1", "2|0"]);
        }
    }
}

/// A page that differs from its records must be detected: one byte of a row is changed on disk, and
/// the next record for that page contains the correct image.
#[test]
fn a_wrong_page_is_detected_by_the_comparison() {
    let dir = TempDir::new("wrong");
    chown_to_server_user(dir.path());
    let data: PathBuf = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--wal-segsize=1", "--no-data-checksums"]);
    let settings = ["-c", "wal_consistency_checking=all", "-c", "full_page_writes=off"];
    let mut server = Norsu::start(&data, &settings);
    server.query("CREATE TABLE wrong (id int PRIMARY KEY, v int, t text)");
    server.query("INSERT INTO wrong SELECT g, 0, repeat('a', 50) FROM generate_series(1, 20) g");
    let file = server.query("SELECT pg_relation_filepath('wrong')");
    server.query("CHECKPOINT");
    server.query("UPDATE wrong SET v = 1 WHERE id = 1");
    server.kill();
    drop(server);
    let path = data.join(file);
    let mut bytes = std::fs::read(&path).expect("the table's file");
    let at = bytes.windows(50).position(|w| w == [b'a'; 50]).expect("a row's text");
    bytes[at + 7] = b'b';
    std::fs::write(&path, bytes).expect("the file can be written");
    let duplicate = dir.path().join("duplicate");
    copy(&data, &duplicate);
    let log = PostgresServer::try_start(&data, "postgres", &[]).err().expect("it must not come up");
    assert!(log.contains("inconsistent page found"), "{log}");
    chown_to_server_user(&duplicate);
    let log = Norsu::try_start(&duplicate, &[]).err().expect("it must not come up");
    assert!(log.contains("inconsistent page found"), "{log}");
}
