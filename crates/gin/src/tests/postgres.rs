//! Checks against PostgreSQL: Norsu's verification accepts its indexes; PostgreSQL replays Norsu's
//! log with WAL consistency checking, and then finds every row through Norsu's indexes.

use super::*;
use std::panic::catch_unwind;
use std::process::Command;
use wal::control::CONTROL_FILE;
use wal::{ControlFile, DbState};

const BIN: &str = "/usr/lib/postgresql/15/bin";

/// A cluster in its own directory; stopped and removed when dropped.
struct Cluster {
    dir: String,
    data: String,
}

fn run(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output().expect(program);
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    assert!(out.status.success(), "{program} {args:?}: {}{}", text(&out.stdout), text(&out.stderr));
    text(&out.stdout)
}

fn as_postgres(program: &str, args: &[&str]) -> String {
    let path = format!("{BIN}/{program}");
    let mut all = vec!["-u", "postgres", "--", &path];
    all.extend_from_slice(args);
    run("runuser", &all)
}

impl Cluster {
    fn new(name: &str) -> Cluster {
        let dir = format!("/tmp/norsu-gin-{name}-{}", std::process::id());
        run("rm", &["-rf", &dir]);
        run("install", &["-d", "-o", "postgres", &dir]);
        let data = format!("{dir}/data");
        as_postgres(
            "initdb",
            &["-D", &data, "-A", "trust", "--locale=C", "-k", "--no-sync", "--wal-segsize=1"],
        );
        Cluster { dir, data }
    }

    fn start(&self) {
        run("chown", &["-R", "postgres", &self.data]);
        let options =
            format!("-k {} -h '' -c fsync=off -c autovacuum=off -c max_wal_size=10GB", self.dir);
        let log = format!("{}/log", self.dir);
        as_postgres("pg_ctl", &["-D", &self.data, "-w", "-l", &log, "-o", &options, "start"]);
    }

    fn stop(&self) {
        as_postgres("pg_ctl", &["-D", &self.data, "-w", "-m", "fast", "stop"]);
    }

    fn sql(&self, sql: &str) -> Vec<Vec<String>> {
        let dir = &self.dir;
        let fixed = ["-h", dir, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-qAtX", "-F", "\t"];
        let mut args = fixed.to_vec();
        args.extend(["-c", sql]);
        let out = as_postgres("psql", &args);
        out.lines().map(|l| l.split('\t').map(str::to_owned).collect()).collect()
    }

    /// Name and file of each GIN index.
    fn indexes(&self) -> Vec<(String, RelFile)> {
        let rows = self.sql(
            "select c.relname, pg_relation_filepath(c.oid) from pg_class c \
             join pg_am m on m.oid = c.relam where m.amname = 'gin' order by c.relname",
        );
        rows.iter()
            .map(|row| {
                let path: Vec<&str> = row[1].split('/').collect();
                let number = |s: &str| Oid(s.parse().unwrap());
                let ["base", database, file] = path[..] else { panic!("{path:?}") };
                let space = RelFile::DEFAULT_TABLESPACE;
                (row[0].clone(), RelFile::new(space, number(database), number(file)))
            })
            .collect()
    }

    fn fixture(&self, wal: &Arc<Wal>, name: &str, rel: RelFile) -> Fixture {
        let disk = Env::os(&self.data).disk;
        let smgr = Arc::new(Smgr::new(disk, SmgrConfig::default()));
        let with = (!wal.in_recovery()).then(|| wal.clone());
        let pool = BufferPool::new(PoolConfig::new(4096), smgr.clone(), with).unwrap();
        let options: &[(&str, &str)] =
            if name == "t_direct" { &[("fastupdate", "off")] } else { &[] };
        let def = Arc::new(definition(rel, options));
        let file = IndexFile::open(&pool, rel, Persistence::Permanent);
        let index = Arc::new(GinIndex::new(file, &def, Arc::new(Flushes::default())).unwrap());
        Fixture { disk: MemDisk::new(), wal: wal.clone(), smgr, pool, index }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::fs::exists(format!("{}/postmaster.pid", self.data)).unwrap_or(false) {
            let stop = ["-D", &self.data, "-w", "-m", "immediate", "stop"];
            let _ = catch_unwind(|| as_postgres("pg_ctl", &stop));
        }
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

const TABLES: &str = "\
    create table t(id int, k int[]); \
    insert into t select i, case when i % 11 = 0 then null when i % 13 = 0 then '{}' \
      else array[7, i % 3000, i % 10 + 5000] end from generate_series(1, 30000) i; \
    create index t_direct on t using gin (k) with (fastupdate = off); \
    create index t_fast on t using gin (k) with (gin_pending_list_limit = 64);";

type Rows = Vec<(Vec<i32>, Tid)>;

/// The rows of `t` whose array has elements.
fn rows(c: &Cluster) -> Rows {
    let tid = |s: &str| {
        let (block, offset) = s.trim_matches(['(', ')']).split_once(',').unwrap();
        Tid::new(BlockNo(block.parse().unwrap()), offset.parse().unwrap())
    };
    let rows = c.sql("select array_to_string(k, ','), ctid from t where k <> '{}'");
    let keys = |s: &str| s.split(',').map(|k| k.parse().unwrap()).collect();
    rows.iter().map(|r| (keys(&r[0]), tid(&r[1]))).collect()
}

fn with_key(rows: &Rows, key: i32) -> BTreeSet<Tid> {
    rows.iter().filter(|(keys, _)| keys.contains(&key)).map(|(_, tid)| *tid).collect()
}

#[test]
fn indexes_of_postgres_verify() {
    let c = Cluster::new("theirs");
    c.start();
    c.sql(TABLES);
    c.sql("update t set k = k || 8 where id % 7 = 0; delete from t where id between 500 and 25000");
    c.sql("vacuum t");
    c.sql("insert into t select i, array[7, i % 900] from generate_series(1, 9000) i");
    let (indexes, rows) = (c.indexes(), rows(&c));
    c.stop();
    let wal = Wal::new(Env::memory(1), WalConfig::new(SEGMENT, SYSTEM));
    assert_eq!(indexes.len(), 2);
    for (name, rel) in indexes {
        let w = c.fixture(&wal, &name, rel);
        let all = w.verify();
        assert!(rows.iter().all(|(_, tid)| all.contains_key(tid)), "{name}");
        let mut s = Session::new();
        for key in [7, 8, 0, 1, 899, 2999, 5000, 5009, 6000] {
            assert_eq!(w.rows_of(&mut s, key), with_key(&rows, key), "{name}: {key}");
        }
    }
}

#[test]
fn postgres_replays_the_log_of_norsu() {
    let c = Cluster::new("ours");
    c.start();
    c.sql(TABLES);
    let (indexes, rows) = (c.indexes(), rows(&c));
    c.stop();

    let env = Env::os(&c.data);
    let bytes = vfs::read_file(&*env.disk, CONTROL_FILE).unwrap();
    let mut control = ControlFile::decode(&bytes).unwrap();
    let mut reader =
        WalReader::new(env.disk.clone(), control.wal_segment_size, 1, Some(control.system_id));
    reader.seek(control.check_point);
    let end = reader.read().unwrap().unwrap().end;
    let mut config = WalConfig::new(control.wal_segment_size, control.system_id);
    config.full_page_writes = false;
    config.consistency_checking = RmgrId::Gin.bit();
    let wal = Wal::new(env.clone(), config);
    let redo = control.check_point_copy.redo;
    wal.start(WalStart { timeline: 1, end, prev: control.check_point, redo, overwrite: false })
        .unwrap();
    for (name, rel) in indexes {
        let w = c.fixture(&wal, &name, rel);
        write_again(&w, name == "t_direct", &rows);
    }
    wal.flush(wal.inserted()).unwrap();
    let stop = wal.inserted();
    control.state = DbState::InProduction;
    std::fs::write(format!("{}/{CONTROL_FILE}", c.data), control.encode()).unwrap();
    check_descriptions(&c, &env, &control, end, stop);

    c.start();
    let log = std::fs::read_to_string(format!("{}/log", c.dir)).unwrap();
    assert!(log.contains("redo done"), "{log}");
    check_rows(&c);
    c.sql("update t set k = k || 9 where id % 10 = 0; delete from t where id % 4 = 1");
    c.sql("vacuum t");
    check_rows(&c);
    c.stop();
}

/// Removes the rows in parts and inserts them again, beside others that are removed again.
fn write_again(w: &Fixture, empty: bool, rows: &Rows) {
    let mut s = Session::new();
    let mut rng = Rng(if empty { 3 } else { 5 });
    if empty {
        // An index that starts empty.
        w.pool.truncate(&[(w.index.file.main.clone(), 0)], || Ok(())).unwrap();
        w.index.init(&mut s.cx(w), &w.index.file).unwrap();
    } else {
        w.vacuum(&mut s, &mut |t| t.block.0 > 20 && t.block.0 < 150);
        w.vacuum(&mut s, &mut |_| true);
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    // Mostly in random order; the last part is in the order of the table.
    for i in (1..order.len() * 2 / 3).rev() {
        order.swap(i, rng.below(i as u64 + 1) as usize);
    }
    let mut fake = 0;
    for (n, i) in order.into_iter().enumerate() {
        let (keys, tid) = &rows[i];
        w.insert(&mut s, keys, *tid);
        if rng.below(2) == 0 {
            // A row version that is dead at once.
            fake += 1;
            let tid = Tid::new(BlockNo(900_000 + fake / 100), (fake % 100) as u16 + 1);
            w.insert(&mut s, keys, tid);
        }
        if n % 6000 == 5999 {
            w.vacuum(&mut s, &mut |t| t.block.0 >= 900_000);
        }
    }
    w.vacuum(&mut s, &mut |t| t.block.0 >= 900_000);
    for (keys, tid) in rows.iter().take(100) {
        // Some entries are in the pending list, whose rows the index has already.
        w.insert(&mut s, keys, *tid);
    }
    assert_eq!(w.verify().into_keys().count(), rows.len());
}

/// `pg_waldump` prints Norsu's records as Norsu does, and all kinds occur.
fn check_descriptions(c: &Cluster, env: &Env, control: &ControlFile, start: Lsn, stop: Lsn) {
    let wal_dir = format!("{}/pg_wal", c.data);
    let (from, upto) = (start.to_string(), stop.to_string());
    let dump = run(
        &format!("{BIN}/pg_waldump"),
        &["-p", &wal_dir, "-s", &from, "-e", &upto, "--rmgr=Gin"],
    );
    let mut reader =
        WalReader::new(env.disk.clone(), control.wal_segment_size, 1, Some(control.system_id));
    reader.seek(start);
    let mut lines = dump.lines();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    while let Some(record) = reader.read().unwrap() {
        if record.header.rmgr() != Some(RmgrId::Gin) {
            continue;
        }
        let mut text = String::new();
        crate::describe(record, &mut text).unwrap();
        let name = wal::desc::kind(RmgrId::Gin, record.info()).unwrap();
        *kinds.entry(name).or_insert(0) += 1;
        let theirs = lines.next().expect("as many records");
        let theirs = theirs.split("desc: ").nth(1).unwrap();
        let theirs = theirs.split(", blkref").next().unwrap().trim_end();
        assert_eq!(theirs, format!("{name} {text}").trim_end());
    }
    println!("{kinds:?}");
    assert_eq!(kinds.len(), 9, "{kinds:?}");
}

/// Each row is found through both indexes.
fn check_rows(c: &Cluster) {
    for index in ["t_direct", "t_fast"] {
        let other = if index == "t_direct" { "t_fast" } else { "t_direct" };
        let found = c.sql(&format!(
            "begin; drop index {other}; set local enable_seqscan = off; \
             create temp table wanted as select e, count(distinct t.ctid) from t, unnest(k) e \
             group by e; \
             select e, count, (select count(*) from t where k @> array[e]) from wanted \
             where count <> (select count(*) from t where k @> array[e]); rollback"
        ));
        assert_eq!(found.len(), 0, "{index}: {found:?}");
    }
}
