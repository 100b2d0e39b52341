//! The workload of the crash tests on a directory of PostgreSQL: it is created by PostgreSQL,
//! changed by Norsu's engine with a full-page image in every record, replayed by PostgreSQL (which
//! compares each page with its image), changed and crashed by PostgreSQL, and recovered by Norsu.

use crate::crash::bank::{ACCOUNTS, NAMES, Row, Rows, TableId, TableIds};
use crate::crash::model::{Model, State, difference, empty};
use crate::crash::run::{fill, session};
use crate::crash::teller::{StepEffect, Teller};
use engine::{Engine, EngineConfig, Isolation};
use ids::Oid;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::dir::TempDir;
use testkit::postgres::{PostgresServer, chown_to_server_user, program, run};
use vfs::{Env, SeededRandom};

fn initdb(dir: &TempDir) -> PathBuf {
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    let mut initdb = program("initdb");
    initdb.args(["-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "-k", "--no-sync"]);
    initdb.args(["--wal-segsize=1", "-D"]).arg(&data);
    run(initdb);
    data
}

fn create(server: &PostgresServer) -> TableIds {
    for name in NAMES {
        server.query(
            "postgres",
            &format!(
                "CREATE TABLE {name} (id int PRIMARY KEY, a int, b int, balance int, filler text) \
                 WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)"
            ),
        );
    }
    server.query("postgres", "CREATE INDEX accounts_balance ON accounts (balance)");
    let oid = |sql: &str| Oid(server.query("postgres", sql).trim().parse().expect("an OID"));
    let named = |name: &str| oid(&format!("SELECT pg_relation_filenode('{name}')"));
    let toast = |name: &str, column: &str| {
        oid(&format!(
            "SELECT pg_relation_filenode({column}) FROM pg_class c JOIN pg_index ON \
             indrelid = reltoastrelid WHERE c.oid = '{name}'::regclass"
        ))
    };
    let ids_of = |n: usize| TableId {
        table: named(NAMES[n]),
        id_index: named(&format!("{}_pkey", NAMES[n])),
        balance_index: (n == ACCOUNTS).then(|| named("accounts_balance")),
        toast: toast(NAMES[n], "reltoastrelid"),
        toast_index: toast(NAMES[n], "indexrelid"),
    };
    TableIds {
        database: oid("SELECT oid FROM pg_database WHERE datname = 'postgres'"),
        tables: std::array::from_fn(ids_of),
    }
}

fn open(data: &Path) -> Arc<Engine> {
    let mut config = EngineConfig::new(Env::os(data));
    config.shared_buffers = 64;
    config.wal.max_wal_size = 64 << 20;
    config.wal.consistency_checking = u32::MAX;
    config.wal.full_page_writes = false;
    Engine::open(config).unwrap()
}

/// Several hundred transactions of four sessions, some of which are in progress at the end.
fn work(engine: &Arc<Engine>, table_ids: &TableIds, model: &mut Model, random: &SeededRandom) {
    let tables = table_ids.open();
    let mut next_marker =
        model.now.iter().filter_map(|t| t.keys().last()).max().map_or(0, |id| *id);
    if next_marker == 0 {
        let mut be = session(engine, table_ids.database).unwrap();
        be.begin(Isolation::ReadCommitted);
        fill(&mut be, &tables, random, model, &mut next_marker).unwrap();
    }
    let mut tellers: Vec<Teller> =
        (0..4).map(|_| Teller::new(session(engine, table_ids.database).unwrap())).collect();
    for step in 0..4000 {
        let teller = &mut tellers[random.below(4) as usize];
        // Tables are vacuumed late, so that the indexes grow first.
        if teller.idle() && step > 2500 && random.below(12) == 0 {
            let be = &mut teller.be;
            be.begin(Isolation::ReadCommitted);
            // Files are not truncated: PostgreSQL's consistency check reports a page that is zero
            // on disk because the file was truncated and extended again after the record (without
            // full page writes).
            tables[random.below(4) as usize].vacuum(be, random.below(3) == 0, false).unwrap();
            be.commit(Default::default()).unwrap();
            continue;
        }
        if teller.step(random, &tables, model, &mut next_marker).unwrap() == StepEffect::Durable {
            model.acknowledged();
        }
    }
    engine.wal().flush(engine.wal().inserted()).unwrap();
    model.acknowledged();
    // Dropped sessions would write abort records.
    tellers.into_iter().for_each(std::mem::forget);
}

fn rows_of(server: &PostgresServer) -> State {
    let mut state = empty();
    for (rows, name) in state.iter_mut().zip(NAMES) {
        let text =
            server.query("postgres", &format!("SELECT id, a, b, balance, filler FROM {name}"));
        *rows = text.lines().map(parse).collect::<Rows>();
    }
    state
}

fn parse(line: &str) -> (i32, Row) {
    let parts: Vec<&str> = line.split('|').collect();
    let int = |n: usize| parts[n].parse::<i32>().expect("a number");
    (int(0), Row { a: int(1), b: int(2), balance: int(3), filler: parts[4].to_owned() })
}

/// Number of full-page images "for WAL verification" by record type.
pub(super) fn images_by_kind(data: &Path) -> BTreeMap<String, usize> {
    let mut segments: Vec<String> = std::fs::read_dir(data.join("pg_wal"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.len() == 24)
        .collect();
    segments.sort();
    let mut control = program("pg_controldata");
    control.arg(data);
    let control = run(control);
    let redo = control.lines().find(|l| l.contains("REDO location")).unwrap();
    let redo = redo.rsplit(' ').next().unwrap().to_owned();
    let mut dump = program("pg_waldump");
    dump.arg("-p").arg(data.join("pg_wal")).args(["--bkp-details", "-s", &redo]);
    // pg_waldump reports an error at the end of the log.
    let out = dump.output().unwrap();
    let mut counts = BTreeMap::new();
    let mut kind = String::new();
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        if let Some(rest) = line.strip_prefix("rmgr: ") {
            let rmgr = rest.split_whitespace().next().unwrap_or_default();
            let what = rest.split("desc: ").nth(1).unwrap_or_default();
            let what = what.split(' ').next().unwrap_or_default();
            kind = format!("{rmgr} {}", what.trim_end_matches("+INIT"));
        }
        *counts.entry(kind.clone()).or_insert(0) += line.matches("for WAL verification").count();
    }
    counts
}

/// Record types that the workload must have written, so that the comparison covers them.
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
    "Btree INSERT_LEAF",
    "Btree INSERT_UPPER",
    "Btree SPLIT_R",
    "Btree VACUUM",
    "Btree DELETE",
];

pub(super) fn check_with_postgresql_programs(server: &PostgresServer) {
    let mut amcheck = server.client("pg_amcheck");
    amcheck.args(["--all", "--install-missing", "--heapallindexed", "--parent-check"]);
    amcheck.arg("--rootdescend");
    assert_eq!(run(amcheck), "");
}

#[test]
fn crashed_directories_are_recovered_by_the_other_server() {
    let dir = TempDir::new("bank");
    let data = initdb(&dir);
    let server = PostgresServer::start(&data, "postgres");
    let table_ids = create(&server);
    drop(server);
    let random = SeededRandom::new(11);
    let mut model = Model::new();
    let mut counts = BTreeMap::new();
    for _ in 0..2 {
        let engine = open(&data);
        work(&engine, &table_ids, &mut model, &random);
        drop(engine);
        chown_to_server_user(&data);
        for (kind, n) in images_by_kind(&data) {
            *counts.entry(kind).or_insert(0) += n;
        }
        let server = PostgresServer::start(&data, "postgres");
        model.recovered(rows_of(&server)).unwrap();
        assert!(server.log().contains("redo done at"), "{}", server.log());
        check_with_postgresql_programs(&server);
        // PostgreSQL continues on the directory, and crashes.
        for sql in [
            "UPDATE accounts SET filler = filler || 'x' WHERE id % 3 = 0",
            "DELETE FROM accounts WHERE id > 100 AND id % 2 = 0",
            "VACUUM accounts",
            "SELECT count(*) FROM (SELECT 1 FROM tellers FOR SHARE) t",
        ] {
            server.query("postgres", sql);
        }
        let theirs = rows_of(&server);
        server.crash();
        let engine = open(&data);
        let mut be = session(&engine, table_ids.database).unwrap();
        be.begin(Isolation::ReadCommitted);
        let mut found = empty();
        for (rows, table) in found.iter_mut().zip(table_ids.open()) {
            *rows = table.rows(&mut be).unwrap();
            table.check(&mut be).unwrap();
        }
        be.commit(Default::default()).unwrap();
        difference(&theirs, &found).unwrap();
        model.adopt(found);
        drop(be);
        engine.shutdown().unwrap();
        drop(engine);
        let mut checksums = program("pg_checksums");
        chown_to_server_user(&data);
        checksums.arg("--check").arg("-D").arg(&data);
        assert!(run(checksums).contains("Bad checksums:  0"));
    }
    let missing: Vec<_> =
        KINDS.iter().filter(|k| counts.get(**k).is_none_or(|n| *n == 0)).collect();
    assert!(missing.is_empty(), "{missing:?} of {counts:#?}");
}
