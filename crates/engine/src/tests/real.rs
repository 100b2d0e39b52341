//! Directories that go between PostgreSQL and us.

use crate::*;
use std::process::Command;
use vfs::Env;

const BIN: &str = "/usr/lib/postgresql/15/bin";

/// A directory that the user `postgres` may use, removed at the end.
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

    fn initdb(&self, extra: &[&str]) {
        let data = self.data();
        let mut args = vec!["-D", &data, "-A", "trust", "-k", "--no-sync", "--wal-segsize=1"];
        args.extend_from_slice(extra);
        pg("initdb", &args);
    }

    fn start(&self, options: &str) {
        run("chown", &["-R", "postgres", &self.data()]);
        let options = format!("-k {} -h '' {options}", self.0);
        let log = format!("{}/log", self.0);
        pg("pg_ctl", &["-D", &self.data(), "-w", "-l", &log, "-o", &options, "start"]);
    }

    fn stop(&self) {
        pg("pg_ctl", &["-D", &self.data(), "-w", "-m", "fast", "stop"]);
    }

    fn sql(&self, sql: &str) -> String {
        pg("psql", &["-h", &self.0, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-Atc", sql])
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let pid = std::fs::read_to_string(format!("{}/postmaster.pid", self.data()));
        if let Some(pid) = pid.ok().and_then(|text| text.lines().next().map(str::to_owned)) {
            let _ = Command::new("kill").args(["-QUIT", &pid]).status();
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output().expect(program);
    assert!(
        out.status.success(),
        "{program} {args:?}: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

fn pg(program: &str, args: &[&str]) -> String {
    let path = format!("{BIN}/{program}");
    let mut all = vec!["-u", "postgres", "--", &path];
    all.extend_from_slice(args);
    run("runuser", &all)
}

fn open(dir: &TempDir) -> sync::Arc<Engine> {
    let mut config = EngineConfig::new(Env::os(dir.data()));
    config.shared_buffers = 2000;
    Engine::open(config).unwrap()
}

/// Shut down by PostgreSQL, opened and shut down by us, opened by PostgreSQL.
#[test]
fn a_clean_directory_goes_there_and_back() {
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

/// The map file and its record are PostgreSQL's.
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
