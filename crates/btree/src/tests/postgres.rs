//! Checks against PostgreSQL: Norsu's verification accepts its indexes; it replays Norsu's log with
//! WAL consistency checking, and then its amcheck accepts Norsu's indexes.

use super::*;
use ids::code::ColumnStorage;
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
        let dir = format!("/tmp/norsu-btree-{name}-{}", std::process::id());
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
        let out = as_postgres(
            "psql",
            &[
                "-h",
                &self.dir,
                "-d",
                "postgres",
                "-v",
                "ON_ERROR_STOP=1",
                "-qAtX",
                "-F",
                "\t",
                "-c",
                sql,
            ],
        );
        out.lines().map(|l| l.split('\t').map(str::to_owned).collect()).collect()
    }

    /// Name, file and definition of each B-tree index that satisfies the condition.
    fn indexes(&self, condition: &str) -> Vec<(String, RelFile, KeySchema)> {
        let rows = self.sql(&format!(
            "select c.oid::regclass, pg_relation_filepath(c.oid), i.indnkeyatts, i.indisunique, \
             a.atttypid::int8, a.attlen, a.attbyval, a.attalign, a.attstorage, \
             coalesce(i.indoption[a.attnum - 1], 0), p.prosrc, a.attcollation::int8 \
             from pg_class c join pg_index i on i.indexrelid = c.oid \
             join pg_am m on m.oid = c.relam and m.amname = 'btree' \
             join pg_attribute a on a.attrelid = c.oid \
             left join pg_opclass o on o.oid = i.indclass[a.attnum - 1] \
             left join pg_amproc x on x.amprocfamily = o.opcfamily and x.amprocnum = 1 \
               and x.amproclefttype = o.opcintype and x.amprocrighttype = o.opcintype \
             left join pg_proc p on p.oid = x.amproc \
             where {condition} order by c.oid, a.attnum"
        ));
        rows.chunk_by(|a, b| a[1] == b[1])
            .map(|columns| {
                let first = &columns[0];
                let path: Vec<&str> = first[1].split('/').collect();
                let number = |s: &str| Oid(s.parse().unwrap());
                let rel = match path[..] {
                    ["global", n] => RelFile::new(RelFile::GLOBAL_TABLESPACE, Oid(0), number(n)),
                    ["base", d, n] => {
                        RelFile::new(RelFile::DEFAULT_TABLESPACE, number(d), number(n))
                    }
                    _ => panic!("{path:?}"),
                };
                let mut schema = KeySchema::new(
                    columns.iter().map(|c| column(c)).collect(),
                    first[2].parse().unwrap(),
                );
                schema.unique = first[3] == "t";
                (first[0].clone(), rel, schema)
            })
            .collect()
    }

    fn fixture(&self, frames: usize, wal: Arc<Wal>, rel: RelFile, schema: KeySchema) -> Fixture {
        let disk = Env::os(&self.data).disk;
        let smgr = Arc::new(Smgr::new(disk, SmgrConfig::default()));
        let with = wal.in_recovery().then_some(()).map_or(Some(wal.clone()), |()| None);
        let pool = BufferPool::new(PoolConfig::new(frames), smgr, with).unwrap();
        let cycles = Arc::new(VacuumCycles::new(0));
        let index = Index::open(&pool, rel, Persistence::Permanent, "i", "t", schema, cycles);
        let (disk, _) = memory();
        let mut w = Fixture { disk, wal, pool, xids: TestXids::new(), index: Arc::new(index) };
        let meta = w.index.meta(&mut Session::new().cx(&w)).unwrap();
        w.index_mut().schema.allequalimage = meta.allequalimage;
        w
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

fn column(c: &[String]) -> KeyColumn {
    let options: u32 = c[9].parse().unwrap();
    let mut attr = Attr::new(
        b"c",
        Oid(c[4].parse().unwrap()),
        c[5].parse().unwrap(),
        c[6] == "t",
        Align::from_char(c[7].as_bytes()[0]).unwrap(),
    );
    attr.storage = ColumnStorage::from_char(c[8].as_bytes()[0]).unwrap();
    let cmp = match c[10].as_str() {
        "" => btint4cmp,
        "bttextcmp" => bttextcmp_c,
        name => types::compare::lookup(name).unwrap_or_else(|| panic!("{name}")),
    };
    KeyColumn {
        cmp: cmp.into(),
        desc: options & 1 != 0,
        nulls_first: options & 2 != 0,
        collation: Oid(c[11].parse().unwrap()),
        attr,
    }
}

const TABLES: &str = "\
    create table t(id int, k int, s text, w text); \
    insert into t select i, case when i % 11 = 0 then null else i % 37 end, md5(i::text), \
      case when i % 3 = 0 then repeat(md5(i::text), 1 + i % 60) else repeat('z', i % 2000) end \
      from generate_series(1, 12000) i; \
    create unique index t_id on t(id); create index t_k on t(k desc); \
    create index t_s on t(s, k nulls first); create index t_inc on t(k) include (s); \
    create index t_w on t(w);";

#[test]
fn indexes_of_postgres_verify() {
    let c = Cluster::new("theirs");
    c.start();
    c.sql(TABLES);
    c.sql("update t set k = k + 1, w = w || 'y' where id % 7 = 0; delete from t where id % 5 = 0");
    c.sql("vacuum t");
    c.sql("update t set s = s || 'q' where id % 2 = 0; delete from t where id > 4000");
    c.sql("vacuum t");
    c.sql("insert into t select i + 20000, i % 3, 'dup', 'dup' from generate_series(1, 9000) i");
    c.sql("vacuum t");
    as_postgres("pgbench", &["-h", &c.dir, "-i", "-q", "postgres"]);
    as_postgres("pgbench", &["-h", &c.dir, "-c", "4", "-t", "200", "-n", "postgres"]);
    let indexes = c.indexes("true");
    let rows = c.sql("select count(*) from t")[0][0].parse::<u64>().unwrap();
    c.stop();
    assert!(indexes.len() > 150, "{}", indexes.len());
    let (_, env) = memory();
    let wal = Wal::new(env, WalConfig::new(SEGMENT, 7));
    for (name, rel, schema) in indexes {
        let w = c.fixture(64, wal.clone(), rel, schema);
        let stats = w.index.verify(&mut Session::new().cx(&w), &mut |_, _| Ok(()));
        let stats = stats.unwrap_or_else(|e| panic!("{name}: {e:?}"));
        if name.starts_with("t_") {
            assert_eq!(stats.tuples, rows, "{name}");
        }
    }
}

/// A row stored by PostgreSQL.
struct Row {
    tid: Tid,
    id: i32,
    k: Option<i32>,
    s: String,
    w: String,
}

impl Row {
    fn tuple(&self, w: &Fixture, name: &str) -> Vec<u8> {
        let k = self.k.map_or(DatumRef::Null, int);
        let s = DatumRef::Bytes(self.s.as_bytes());
        let values = match name {
            "t_id" => vec![int(self.id)],
            "t_k" => vec![k],
            "t_s" => vec![s, k],
            "t_inc" => vec![k, s],
            _ => vec![DatumRef::Bytes(self.w.as_bytes())],
        };
        form(&w.index.schema, &values, self.tid)
    }
}

fn rows_of(c: &Cluster) -> Vec<Row> {
    let tid = |s: &str| {
        let (block, offset) = s.trim_matches(['(', ')']).split_once(',').unwrap();
        Tid::new(BlockNo(block.parse().unwrap()), offset.parse().unwrap())
    };
    c.sql("select ctid, id, k, s, w from t")
        .into_iter()
        .map(|r| Row {
            tid: tid(&r[0]),
            id: r[1].parse().unwrap(),
            k: r[2].parse().ok(),
            s: r[3].clone(),
            w: r[4].clone(),
        })
        .collect()
}

/// The log has records of all kinds, and images to check them.
fn check_records(dump: &str) {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for line in dump.lines().filter(|l| l.contains("rmgr: Btree")) {
        let kind = line.split("desc: ").nth(1).unwrap().split(' ').next().unwrap();
        *kinds.entry(kind).or_insert(0) += 1;
    }
    println!("{kinds:?}, {} images", dump.matches("for WAL verification").count());
    assert!(dump.matches("for WAL verification").count() > 10_000);
    for kind in ["SPLIT_L", "SPLIT_R", "INSERT_POST", "DEDUP", "DELETE", "VACUUM", "UNLINK_PAGE"] {
        assert!(kinds[kind] > 0);
    }
}

#[test]
fn postgres_replays_the_log() {
    let c = Cluster::new("ours");
    c.start();
    c.sql(TABLES);
    let indexes = c.indexes("c.relname like 't\\_%' and c.relnamespace = 2200");
    assert_eq!(indexes.len(), 5);
    let rows = rows_of(&c);
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
    config.consistency_checking = wal::RmgrId::Btree.bit();
    let wal = Wal::new(env.clone(), config);
    let redo = control.check_point_copy.redo;
    wal.start(WalStart { timeline: 1, end, prev: control.check_point, redo, overwrite: false })
        .unwrap();

    for (name, rel, schema) in indexes {
        let w = c.fixture(4096, wal.clone(), rel, schema);
        w.xids.next.store(control.check_point_copy.next_xid.0, Ordering::SeqCst);
        w.xids.horizon.store(u64::MAX, Ordering::SeqCst);
        let mut s = Session::new();
        let mut rng = Rng(u64::from(rel.relnumber.0));
        // The entries that PostgreSQL built are removed in parts and inserted again.
        if name != "t_w" {
            for part in 0..3 {
                let mut gone = |t: Tid| t.block.0 % 3 <= part;
                let stats = w.index.bulk_delete(&mut s.cx(&w), None, &mut gone).unwrap();
                w.index.vacuum_cleanup(&mut s.cx(&w), Some(stats), None).unwrap();
            }
            w.index.vacuum_cleanup(&mut s.cx(&w), None, None).unwrap();
        } else {
            // An index that starts empty.
            w.pool.truncate(&[(w.index.file.main.clone(), 0)], || Ok(())).unwrap();
            w.index.build_empty(&mut s.cx(&w), &w.index.file).unwrap();
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i as u64 + 1) as usize);
        }
        let mut heap = TestHeap::default();
        let mut fake = 0;
        for i in order {
            let row = &rows[i];
            let mut insert = |tuple: &[u8], unchanged, heap: &mut TestHeap| {
                let check = UniqueCheck::No;
                w.index.insert(&mut s.cx(&w), tuple, check, unchanged, heap).unwrap();
            };
            insert(&row.tuple(&w, &name), rng.below(4) == 0, &mut heap);
            if rng.below(3) == 0 {
                // A row version that is dead at once.
                fake += 1;
                let tid = Tid::new(BlockNo(900_000 + fake / 100), (fake % 100) as u16 + 1);
                let mut tuple = row.tuple(&w, &name);
                page::index_tuple::set_tid(&mut tuple, tid);
                insert(&tuple, rng.below(2) == 0, &mut heap);
                heap.dead.insert(tid);
            }
        }
        let mut gone = |t: Tid| t.block.0 >= 900_000;
        w.index.bulk_delete(&mut s.cx(&w), None, &mut gone).unwrap();
        let (stats, _) = w.verify();
        assert_eq!(stats.tuples, rows.len() as u64, "{name}");
    }
    let start = end.to_string();
    wal.flush(wal.inserted()).unwrap();
    let stop = wal.inserted().to_string();
    control.state = DbState::InProduction;
    std::fs::write(format!("{}/{CONTROL_FILE}", c.data), control.encode()).unwrap();
    let dump = run(
        &format!("{BIN}/pg_waldump"),
        &["-p", &format!("{}/pg_wal", c.data), "-s", &start, "-e", &stop, "-b"],
    );
    check_records(&dump);

    c.start();
    let log = std::fs::read_to_string(format!("{}/log", c.dir)).unwrap();
    assert!(log.contains("redo done"), "{log}");
    c.sql("create extension amcheck");
    c.sql(
        "select bt_index_parent_check(c.oid, true, true) from pg_class c \
         where relname like 't\\_%' and relkind = 'i'",
    );
    c.sql("set enable_seqscan = off; update t set k = k + 1 where id % 10 = 0");
    c.sql("vacuum t");
    c.sql(
        "select bt_index_parent_check(c.oid, true, true) from pg_class c \
         where relname like 't\\_%' and relkind = 'i'",
    );
    c.stop();
}
