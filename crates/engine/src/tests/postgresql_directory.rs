//! Data directories that are used by PostgreSQL and Norsu in turn.

use crate::*;
use std::process::Command;
use vfs::Env;

const BIN: &str = "/usr/lib/postgresql/15/bin";

/// A directory owned by the user `postgres`, removed at the end.
pub(super) struct TempDir(pub String);

impl TempDir {
    pub(super) fn new(name: &str) -> TempDir {
        let path = format!("/tmp/norsu-engine-{name}-{}", std::process::id());
        run("rm", &["-rf", &path]);
        run("install", &["-d", "-o", "postgres", &path]);
        TempDir(path)
    }

    pub(super) fn data(&self) -> String {
        format!("{}/data", self.0)
    }

    pub(super) fn initdb(&self, extra: &[&str]) {
        let data = self.data();
        let mut args = vec!["-D", &data, "-A", "trust", "-k", "--no-sync", "--wal-segsize=1"];
        args.extend_from_slice(extra);
        pg("initdb", &args);
    }

    pub(super) fn start(&self, options: &str) {
        run("chown", &["-R", "postgres", &self.data()]);
        let options = format!("-k {} -h '' {options}", self.0);
        let log = format!("{}/log", self.0);
        pg("pg_ctl", &["-D", &self.data(), "-w", "-l", &log, "-o", &options, "start"]);
    }

    pub(super) fn stop(&self) {
        pg("pg_ctl", &["-D", &self.data(), "-w", "-m", "fast", "stop"]);
    }

    pub(super) fn sql(&self, sql: &str) -> String {
        pg("psql", &["-h", &self.0, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-Atc", sql])
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let pid = std::fs::read_to_string(format!("{}/postmaster.pid", self.data()));
        if let Some(pid) = pid.ok().and_then(|text| text.lines().next().map(str::to_owned)) {
            // The kill of the shell: a minimal system has no program of that name.
            let _ = Command::new("sh").args(["-c", "kill -QUIT \"$1\"", "sh", &pid]).status();
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn run(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output().expect(program);
    assert!(
        out.status.success(),
        "{program} {args:?}: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

pub(super) fn pg(program: &str, args: &[&str]) -> String {
    let path = format!("{BIN}/{program}");
    let mut all = vec!["-u", "postgres", "--", &path];
    all.extend_from_slice(args);
    run("runuser", &all)
}

fn open(dir: &TempDir) -> sync::Arc<Engine> {
    open_with(&dir.data(), 3)
}

fn open_with(data: &str, redo_workers: usize) -> sync::Arc<Engine> {
    let mut config = EngineConfig::new(Env::os(data));
    config.shared_buffers = 2000;
    config.redo_workers = redo_workers;
    Engine::open(config).unwrap()
}

/// A directory is shut down by PostgreSQL, opened and shut down by Norsu, and opened by PostgreSQL.
#[test]
fn a_cleanly_shut_down_directory_is_usable_by_both() {
    let dir = TempDir::new("clean");
    dir.initdb(&[]);
    let engine = open(&dir);
    let template1 = (ids::RelFile::DEFAULT_TABLESPACE, ids::Oid(1));
    // pg_class of template1 has never been rewritten: its file has its OID.
    assert_eq!(engine.relmaps.lookup(template1, ids::Oid(1259)).unwrap(), Some(ids::Oid(1259)));
    engine.checkpoint(CheckpointFlags::FORCE | CheckpointFlags::IMMEDIATE).unwrap();
    engine.shutdown().unwrap();
    drop(engine);
    let control = pg("pg_controldata", &[&dir.data()]);
    assert!(control.contains("Database cluster state:               shut down\n"), "{control}");
    dir.start("");
    assert_eq!(dir.sql("select count(*) from pg_class where relname = 'pg_class'"), "1");
    dir.sql("create table t as select 1 as a");
    dir.stop();
    let engine = open(&dir);
    engine.shutdown().unwrap();
    dir.start("");
    assert_eq!(dir.sql("select a from t"), "1");
    dir.stop();
    pg("pg_checksums", &["--check", "-D", &dir.data()]);
}

/// The map files have PostgreSQL's format.
#[test]
fn relation_maps_round_trip() {
    let dir = TempDir::new("maps");
    dir.initdb(&[]);
    for path in ["global", "base/1"] {
        let bytes = std::fs::read(format!("{}/{path}/pg_filenode.map", dir.data())).unwrap();
        let map = RelMap::decode(&bytes, path).unwrap();
        assert!(map.iter().count() > 10);
        assert_eq!(map.encode()[..], bytes);
    }
}

/// PostgreSQL crashes under varied load. It recovers one copy of the directory, and Norsu another
/// one. Both have the same contents, and PostgreSQL's checking programs report no error.
#[test]
fn both_servers_recover_a_crash_of_postgresql() {
    let dir = TempDir::new("crash");
    dir.initdb(&[]);
    dir.start("-c checkpoint_timeout=1h -c max_wal_size=4GB -c autovacuum_naptime=1s");
    pg("pgbench", &["-h", &dir.0, "-i", "-q", "postgres"]);
    dir.sql("create unlogged table u as select generate_series(1, 1000) a");
    dir.sql("create table gone as select generate_series(1, 1000) a");
    dir.sql("checkpoint");
    dir.sql(
        "create table big(a int primary key, b text, c text); \
         create index on big(b); \
         insert into big select i, md5(i::text), repeat(md5(i::text), i % 200) \
           from generate_series(1, 6000) i; \
         delete from big where a % 3 = 0; \
         update big set b = b || 'x' where a % 7 = 0; \
         create sequence s; select nextval('s') from generate_series(1, 40); \
         drop table gone",
    );
    dir.sql("vacuum freeze big");
    dir.sql("delete from big where a > 4000");
    dir.sql("vacuum big");
    dir.sql("insert into big select i, md5(i::text), '' from generate_series(7000, 9000) i");
    dir.sql("create database other");
    dir.sql("truncate pgbench_history; cluster big using big_pkey");
    dir.sql("vacuum full pg_class");
    dir.sql(
        "begin; savepoint a; insert into big values (-1); savepoint b; \
         insert into big values (-2); rollback to b; insert into big values (-3); commit",
    );
    dir.sql("begin; select count(*) from (select 1 from pgbench_branches for share) x; commit");
    pg("pgbench", &["-h", &dir.0, "-c", "4", "-t", "200", "-n", "postgres"]);
    pg("pg_ctl", &["-D", &dir.data(), "-w", "-m", "immediate", "stop"]);

    let (twin, again) = (TempDir::new("twin"), TempDir::new("again"));
    run("cp", &["-a", &dir.data(), &twin.data()]);
    run("cp", &["-a", &dir.data(), &again.data()]);
    // The directory is recovered by Norsu, and crashed before the checkpoint after recovery:
    // PostgreSQL replays Norsu's end-of-recovery record.
    drop(open(&again));
    let engine = open(&dir);
    engine.shutdown().unwrap();
    drop(engine);
    let ask = |dir: &TempDir| {
        dir.start("-c autovacuum=off");
        let mut answers = Vec::new();
        for sql in [
            "select sum(abalance), count(*) from pgbench_accounts",
            "select sum(tbalance) from pgbench_tellers",
            "select sum(bbalance) from pgbench_branches",
            "select count(*), sum(delta) from pgbench_history",
            "select count(*), sum(a), md5(string_agg(b || c, ',' order by a)) from big",
            "set enable_seqscan = off; select count(*), max(b) from big where b > ''",
            "select count(*) from u",
            "select last_value, is_called from s",
            "select relname, relkind, relpages from pg_class order by oid",
            "select datname from pg_database order by 1",
            "select txid_current()",
        ] {
            answers.push(dir.sql(sql));
        }
        pg("pg_amcheck", &["-h", &dir.0, "--all", "--install-missing", "--heapallindexed"]);
        dir.stop();
        answers
    };
    let (ours, theirs) = (ask(&dir), ask(&twin));
    assert_eq!(ours, theirs);
    assert_eq!(ask(&again), theirs);
    let log = std::fs::read_to_string(format!("{}/log", again.0)).unwrap();
    assert!(log.contains("redo starts"), "{log}");
    for dir in [&dir, &again] {
        pg("pg_checksums", &["--check", "-D", &dir.data()]);
    }
}

/// PostgreSQL's records with images for WAL consistency checking: Norsu's replay reproduces each
/// page.
#[test]
fn replay_reproduces_postgresqls_pages() {
    let dir = TempDir::new("check");
    dir.initdb(&[]);
    dir.start("-c wal_consistency_checking=all -c full_page_writes=off -c checkpoint_timeout=1h");
    dir.sql("create table t(a int primary key, b text); create index on t(b)");
    dir.sql("checkpoint");
    dir.sql("insert into t select i, md5((i % 100)::text) from generate_series(1, 3000) i");
    dir.sql("update t set b = md5(b) where a % 2 = 0; delete from t where a % 5 = 0");
    dir.sql("vacuum t");
    dir.sql("insert into t select i, 'new' from generate_series(4000, 4500) i");
    dir.sql(
        "begin; select count(*) from (select 1 from t for key share) x; savepoint s; \
             update t set b = 'again' where a < 50; commit",
    );
    let file = format!("{}/rows", dir.0);
    dir.sql(&format!("copy (select generate_series(10000, 11000)) to '{file}'"));
    dir.sql(&format!("create table c(a int); copy c from '{file}'"));
    dir.sql("vacuum freeze c");
    dir.sql("create sequence s; select nextval('s')");
    dir.sql("delete from t where a < 2500; select count(*) from t");
    dir.sql("vacuum t");
    dir.sql("vacuum t");
    pg("pg_ctl", &["-D", &dir.data(), "-w", "-m", "immediate", "stop"]);
    open(&dir).shutdown().unwrap();
    dir.start("");
    pg("pg_amcheck", &["-h", &dir.0, "--all", "--install-missing", "--heapallindexed"]);
    dir.stop();
}

/// The data files, with their contents.
fn files(data: &str) -> std::collections::BTreeMap<String, Vec<u8>> {
    let list = run(
        "find",
        &[data, "-type", "f", "(", "-path", "*/base/*", "-o", "-path", "*/global/*", ")"],
    );
    list.lines()
        .filter(|path| !path.ends_with("pg_control"))
        .map(|path| (path[data.len()..].to_owned(), std::fs::read(path).unwrap()))
        .collect()
}

/// Replay by different numbers of threads produces the same files.
#[test]
fn parallel_replay_produces_the_same_files() {
    let dir = TempDir::new("threads");
    dir.initdb(&["-k"]);
    dir.start("-c checkpoint_timeout=1h -c autovacuum=off");
    dir.sql(
        "create table t(a int primary key, b text, c int); create index on t(b); \
         create table gone(a int)",
    );
    dir.sql("insert into t select i, md5(i::text), 0 from generate_series(1, 20000) i");
    dir.sql("vacuum t");
    dir.sql("checkpoint");
    for round in 0..5 {
        dir.sql("update t set c = c + 1 where a % 3 = 0");
        dir.sql("update t set b = b || 'longer' where a % 7 = 0; delete from t where a % 11 = 1");
        dir.sql(
            "insert into t select i, 'x', 1 from generate_series(1, 20000) i \
             on conflict do nothing",
        );
        dir.sql("insert into gone select generate_series(1, 3000)");
        dir.sql("vacuum t");
        dir.sql("truncate gone");
        dir.sql("begin; select count(*) from (select 1 from t where a < 900 for update) x; abort");
        dir.sql(&format!(
            "drop table if exists n; create table n as select * from t where a % 5 = {round}"
        ));
        dir.sql("create sequence if not exists s; select nextval('s') from generate_series(1, 50)");
    }
    dir.sql("drop table gone; update n set c = -1");
    dir.sql("vacuum n");
    pg("pg_ctl", &["-D", &dir.data(), "-w", "-m", "immediate", "stop"]);
    let mut found = Vec::new();
    for workers in [0, 1, 4] {
        let copy = format!("{}/with{workers}", dir.0);
        run("cp", &["-a", &dir.data(), &copy]);
        open_with(&copy, workers).shutdown().unwrap();
        found.push(files(&copy));
    }
    assert!(found[0].len() > 100);
    for other in &found[1..] {
        assert!(found[0].keys().eq(other.keys()));
        let differ: Vec<_> =
            found[0].iter().filter(|(k, v)| other[*k] != **v).map(|f| f.0).collect();
        assert!(differ.is_empty(), "{differ:?}");
    }
}
