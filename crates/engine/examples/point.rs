//! Micro-benchmark of point reads, point updates and small transactions in the engine, without SQL.
//!
//! `point DIRECTORY WHAT COUNT [ROWS]` with WHAT `read`, `select` (a read with its transaction),
//! `update` (by primary key, one per transaction) or `empty`. For instruction counts: `valgrind
//! --tool=callgrind --toggle-collect='point::measured*' …`

use engine::index::{
    Direction, IndexColumn, IndexDef, IndexScan, IndexScanOptions, ScanKey, Support,
    SupportFunction, UniqueCheck, insert as insert_entry, strategy,
};
use engine::table::{self, ChangeOptions, InsertOptions};
use engine::{
    Backend, BackendSettings, ClusterOptions, CommitExtras, Engine, EngineConfig, IndexDesc,
    Isolation, OpenIndex, OpenTable, TableDesc, create_cluster, storage,
};
use ids::code::ColumnStorage;
use ids::{Oid, Persistence, RelFile};
use page::tupdesc::{Align, Attr, TupleDesc};
use pgerror::Result;
use std::time::Instant;
use sync::Arc;
use sync::wait::Waiter;
use types::{Batch, Datum, DatumRef};
use vfs::Env;

const DB: Oid = Oid(1);

struct Fixture {
    engine: Arc<Engine>,
    be: Backend,
    table: Arc<TableDesc>,
    index: Arc<IndexDesc>,
    random: u64,
    rows: u64,
}

fn file(oid: u32) -> RelFile {
    RelFile::new(RelFile::DEFAULT_TABLESPACE, DB, Oid(oid))
}

fn accounts() -> (Arc<TableDesc>, Arc<IndexDesc>) {
    let int = |name: &[u8]| Attr::new(name, Oid(23), 4, true, Align::Int);
    let mut filler = Attr::new(b"filler", Oid(1042), -1, false, Align::Int);
    filler.storage = ColumnStorage::Extended;
    let attrs = vec![int(b"aid"), int(b"bid"), int(b"abalance"), filler];
    let cmp = types::compare::of_type(Oid(23)).expect("int4 has an order");
    let mut column = IndexColumn::new(int(b"aid"), Oid(0), SupportFunction::Compare(cmp.into()));
    let function = SupportFunction::EqualImage(true);
    column.support.push(Support { number: 4, oid: Oid::INVALID, function });
    let names = ("accounts_pkey", "accounts");
    let mut def = IndexDef::new(file(20_001), Persistence::Permanent, names, vec![column], 1);
    def.unique = true;
    let index = IndexDesc {
        oid: Oid(20_001),
        table_oid: Oid(20_000),
        am: &btree::BTree,
        def: Arc::new(def),
        unique: true,
        columns: [1].into(),
        opened: OpenIndex::default(),
    };
    let table = TableDesc {
        oid: Oid(20_000),
        schema: "public".into(),
        name: "accounts".into(),
        file: file(20_000),
        persistence: Persistence::Permanent,
        tupdesc: Arc::new(TupleDesc::new(attrs)),
        fillfactor: 100,
        toast_tuple_target: 0,
        toast: None,
        is_catalog: false,
        is_toast: false,
        indexed_columns: [1].into(),
        key_columns: [1].into(),
        opened: OpenTable::default(),
    };
    (Arc::new(table), Arc::new(index))
}

impl Fixture {
    fn new(directory: &str, rows: u64) -> Result<Fixture> {
        let env = Env::os(directory);
        create_cluster(&env, &ClusterOptions::default())?;
        let mut config = EngineConfig::new(env);
        config.shared_buffers = 20_000;
        let engine = Engine::open(config)?;
        let waiter = Arc::new(Waiter::new());
        let tablespace = RelFile::DEFAULT_TABLESPACE;
        let mut be = Backend::connect(engine.storage(), 100, DB, tablespace, waiter)?;
        let (table, index) = accounts();
        be.begin(Isolation::ReadCommitted);
        for file in [table.file, index.file()] {
            storage::create_relation_files(&mut be, file, Persistence::Permanent)?;
        }
        engine::index::build_empty(&mut be, &index)?;
        let filler = [b' '; 84];
        for i in 0..rows {
            let row =
                [DatumRef::Word(i), DatumRef::Word(1), DatumRef::Word(0), DatumRef::Bytes(&filler)];
            let tid = table::insert(&mut be, &table, &row, InsertOptions::default())?;
            insert_entry(&mut be, &index, &table, &row[..1], tid, UniqueCheck::Yes, false)?;
        }
        be.commit(CommitExtras::default())?;
        be.configure(BackendSettings { synchronous_commit: false, ..Default::default() });
        Ok(Fixture { engine, be, table, index, random: 88_172_645_463_325_252, rows })
    }

    fn next(&mut self) -> i32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % self.rows) as i32
    }

    fn scan(&mut self, columns: &[i16]) -> Result<IndexScan> {
        let snapshot = self.be.snapshot();
        let key = ScanKey::compare(0, strategy::btree::EQUAL, Datum::int4(0));
        let options = IndexScanOptions::default();
        IndexScan::new(
            &mut self.be,
            &self.table,
            &self.index,
            snapshot,
            vec![key],
            columns,
            options,
        )
    }

    fn find(&mut self, scan: &mut IndexScan, id: i32, batch: &mut Batch) -> Result<bool> {
        batch.clear();
        scan.rescan_values(&mut self.be, &[DatumRef::Word(id as u64)])?;
        scan.next_batch(&mut self.be, Direction::Forward, batch, 1)
    }
}

#[inline(never)]
fn measured_reads(w: &mut Fixture, count: u64) -> Result<()> {
    w.be.begin(Isolation::ReadCommitted);
    let mut scan = w.scan(&[3])?;
    let mut batch = table::new_batch(&w.table, &[3]);
    for _ in 0..count {
        let id = w.next();
        assert!(w.find(&mut scan, id, &mut batch)?);
    }
    scan.end(&mut w.be)?;
    w.be.commit(CommitExtras::default())?;
    Ok(())
}

fn warm_up(w: &mut Fixture) -> Result<()> {
    w.be.begin(Isolation::ReadCommitted);
    let mut scan = w.scan(&[3])?;
    let mut batch = table::new_batch(&w.table, &[3]);
    for id in 0..w.rows {
        assert!(w.find(&mut scan, id as i32, &mut batch)?);
    }
    scan.end(&mut w.be)?;
    w.be.commit(CommitExtras::default())?;
    Ok(())
}

#[inline(never)]
fn measured_selects(w: &mut Fixture, count: u64) -> Result<()> {
    let mut batch = table::new_batch(&w.table, &[3]);
    let mut kept: Option<IndexScan> = None;
    for _ in 0..count {
        w.be.begin(Isolation::ReadCommitted);
        let id = w.next();
        let scan = match &mut kept {
            Some(scan) => {
                scan.set_snapshot(w.be.snapshot());
                scan
            }
            slot => slot.insert(w.scan(&[3])?),
        };
        assert!(w.find(scan, id, &mut batch)?);
        scan.release(&mut w.be)?;
        w.be.commit(CommitExtras::default())?;
    }
    Ok(())
}

#[inline(never)]
fn measured_updates(w: &mut Fixture, count: u64) -> Result<()> {
    let columns = [1, 2, 3, 4, table::system::CTID];
    let mut batch = table::new_batch(&w.table, &columns);
    for n in 0..count {
        w.be.begin(Isolation::ReadCommitted);
        let id = w.next();
        let mut scan = w.scan(&columns)?;
        assert!(w.find(&mut scan, id, &mut batch)?);
        scan.end(&mut w.be)?;
        drop(scan);
        let tid = types::system::tid_of(batch.get(0, 4));
        let balance = batch.get(0, 2).as_i32() + 1;
        let row = [
            batch.get(0, 0),
            batch.get(0, 1),
            DatumRef::Word(balance as i64 as u64),
            batch.get(0, 3),
        ];
        let done = table::update(&mut w.be, &w.table, tid, &row, ChangeOptions::default())?;
        if done.needs_index_entries {
            let key = &row[..1];
            insert_entry(&mut w.be, &w.index, &w.table, key, done.tid, UniqueCheck::Yes, true)?;
        }
        w.be.commit(CommitExtras::default())?;
        if n % 256 == 0 {
            w.engine.walwriter_step()?;
        }
    }
    Ok(())
}

#[inline(never)]
fn measured_empty(w: &mut Fixture, count: u64) -> Result<()> {
    for _ in 0..count {
        w.be.begin(Isolation::ReadCommitted);
        w.be.snapshot();
        w.be.commit(CommitExtras::default())?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, directory, what, count, rest @ ..] = &args[..] else {
        eprintln!("usage: point DIRECTORY read|select|update|empty COUNT [ROWS]");
        std::process::exit(2);
    };
    let count: u64 = count.parse().expect("COUNT is a number");
    let rows = rest.first().map_or(100_000, |r| r.parse().expect("ROWS is a number"));
    let mut fixture = Fixture::new(directory, rows)?;
    // Sets hint bits.
    warm_up(&mut fixture)?;
    let run = match what.as_str() {
        "read" => measured_reads,
        "select" => measured_selects,
        "update" => measured_updates,
        _ => measured_empty,
    };
    let start = Instant::now();
    run(&mut fixture, count)?;
    let each = start.elapsed().as_nanos() / u128::from(count.max(1));
    println!("{what}: {each} ns each");
    Ok(())
}
