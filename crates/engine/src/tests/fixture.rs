//! A cluster in memory with tables `items<n>(id int4 primary key, v text)` and their TOAST tables.

use crate::index::{
    Direction, IndexColumn, IndexDef, IndexScan, IndexScanOptions, Inserted, ScanKey, Support,
    SupportFunction, UniqueCheck, strategy,
};
use crate::table::{
    ChangeOptions, InsertOptions, LockRow, RowLock, RowOutcome, ScanOptions, TableScan,
};
use crate::*;
use ids::code::ColumnStorage;
use ids::{AttrNo, Oid, Persistence, RelFile, Tid};
use page::tupdesc::{Align, Attr, TupleDesc};
use sync::Arc;
use sync::wait::Waiter;
use types::{Datum, DatumRef};
use vfs::{Env, MemDisk};

pub(super) const DB: Oid = Oid(1);

pub(super) fn disk(seed: u64) -> (Arc<MemDisk>, Env) {
    let disk = Arc::new(MemDisk::new());
    let mut env = Env::memory(seed);
    env.disk = disk.clone();
    (disk, env)
}

pub(super) fn config(env: &Env) -> EngineConfig {
    let mut config = EngineConfig::new(env.clone());
    config.shared_buffers = 64;
    config.wal.buffers = 16;
    config.wal.min_wal_size = 2 << 20;
    config.wal.max_wal_size = 4 << 20;
    config.txn.slots = 16;
    config
}

pub(super) fn create(env: &Env) -> Arc<Engine> {
    let options = ClusterOptions { segment_size: 1 << 20, checksums: true };
    create_cluster(env, &options).unwrap();
    Engine::open(config(env)).unwrap()
}

pub(super) fn session(engine: &Arc<Engine>) -> Backend {
    let waiter = Arc::new(Waiter::new());
    let tablespace = RelFile::DEFAULT_TABLESPACE;
    Backend::connect(engine.storage(), 100, DB, tablespace, waiter).unwrap()
}

pub(super) struct Items {
    n: u32,
    pub(super) table: Arc<TableDesc>,
    pub(super) index: Arc<IndexDesc>,
}

fn file(oid: Oid) -> RelFile {
    RelFile::new(RelFile::DEFAULT_TABLESPACE, DB, oid)
}

fn int4(name: &[u8]) -> Attr {
    Attr::new(name, Oid(23), 4, true, Align::Int)
}

fn index_column(attr: Attr) -> IndexColumn {
    let cmp = types::compare::of_type(attr.type_oid).unwrap();
    let mut column = IndexColumn::new(attr, Oid(0), SupportFunction::Compare(cmp.into()));
    let function = SupportFunction::EqualImage(true);
    column.support.push(Support { number: 4, oid: Oid::INVALID, function });
    column
}

fn index(oid: Oid, name: String, table: (Oid, &str), columns: Vec<Attr>) -> Arc<IndexDesc> {
    let count = columns.len();
    let numbers: Vec<AttrNo> = (1..=count as AttrNo).collect();
    let columns = columns.into_iter().map(index_column).collect();
    let names = (&*name, table.1);
    let mut def = IndexDef::new(file(oid), Persistence::Permanent, names, columns, count);
    def.unique = true;
    Arc::new(IndexDesc {
        oid,
        table_oid: table.0,
        am: &btree::BTree,
        def: Arc::new(def),
        unique: true,
        columns: numbers.into(),
        opened: OpenIndex::default(),
    })
}

fn table(oid: Oid, name: &str, attrs: Vec<Attr>, toast: Option<ToastDesc>) -> Arc<TableDesc> {
    let is_toast = name.starts_with("pg_toast");
    Arc::new(TableDesc {
        oid,
        schema: "public".into(),
        name: name.into(),
        file: file(oid),
        persistence: Persistence::Permanent,
        tupdesc: Arc::new(TupleDesc::new(attrs)),
        fillfactor: 100,
        toast_tuple_target: 0,
        toast,
        is_catalog: false,
        is_toast,
        indexed_columns: if is_toast { [1, 2].into() } else { [1].into() },
        key_columns: [1].into(),
        opened: OpenTable::default(),
    })
}

pub(super) fn scan_rows(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    columns: &[AttrNo],
) -> Vec<Vec<Datum>> {
    let snapshot = be.snapshot();
    let mut scan = TableScan::new(be, table, snapshot, columns, ScanOptions::default()).unwrap();
    let mut batch = table::new_batch(table, columns);
    let mut out = Vec::new();
    while scan.next_batch(be, &mut batch, 100).unwrap() {
        out.extend((0..batch.len).map(|r| batch.row_owned(r)));
        batch.clear();
    }
    out
}

fn text(d: DatumRef<'_>) -> String {
    String::from_utf8(d.as_bytes().to_vec()).unwrap()
}

impl Items {
    pub(super) fn new(n: u32) -> Items {
        let base = 20_000 + n * 100;
        let plain = |mut attr: Attr| {
            attr.storage = ColumnStorage::Plain;
            attr
        };
        let chunk_id = Attr::new(b"chunk_id", Oid(26), 4, true, Align::Int);
        let seq = int4(b"chunk_seq");
        let data = plain(Attr::new(b"chunk_data", Oid(17), -1, false, Align::Int));
        let name = format!("pg_toast_{base}");
        let toast_oid = Oid(base + 2);
        let toast_index = index(
            Oid(base + 3),
            format!("{name}_index"),
            (toast_oid, &name),
            vec![chunk_id.clone(), seq.clone()],
        );
        let toast = ToastDesc {
            table: table(toast_oid, &name, vec![chunk_id, seq, data], None),
            index: toast_index,
        };
        let name = format!("items{n}");
        let columns = vec![int4(b"id"), Attr::new(b"v", Oid(25), -1, false, Align::Int)];
        let index = index(
            Oid(base + 1),
            format!("{name}_pkey"),
            (Oid(base), &name),
            vec![columns[0].clone()],
        );
        Items { n, table: table(Oid(base), &name, columns, Some(toast)), index }
    }

    /// As [`Items::new`], but no update is heap-only.
    pub(super) fn never_hot(n: u32) -> Items {
        let mut items = Items::new(n);
        let table = Arc::get_mut(&mut items.table).unwrap();
        table.indexed_columns = [1, 2].into();
        items
    }

    /// Number of rows that a scan of the whole index fetches from the table.
    pub(super) fn lookups(&self, be: &mut Backend) -> u64 {
        let snapshot = be.snapshot();
        let options = IndexScanOptions::default();
        let index = self.index.clone();
        let mut scan =
            IndexScan::new(be, &self.table, &index, snapshot, vec![], &[1], options).unwrap();
        let mut batch = table::new_batch(&self.table, &[1]);
        while scan.next_batch(be, Direction::Forward, &mut batch, 50).unwrap() {}
        scan.end(be).unwrap();
        scan.heap_fetches()
    }

    pub(super) fn create(&self, be: &mut Backend) {
        let toast = self.table.toast.as_ref().unwrap();
        let files = [self.table.file, self.index.file(), toast.table.file, toast.index.file()];
        for file in files {
            storage::create_relation_files(be, file, Persistence::Permanent).unwrap();
        }
        index::build_empty(be, &self.index).unwrap();
        index::build_empty(be, &toast.index).unwrap();
    }

    pub(super) fn commit(&self, be: &mut Backend) {
        be.commit(CommitExtras::default()).unwrap();
    }

    pub(super) fn insert_row_only(&self, be: &mut Backend, id: i32, v: &str) -> Tid {
        let row = [DatumRef::Word(id as i64 as u64), DatumRef::Bytes(v.as_bytes())];
        table::insert(be, &self.table, &row, InsertOptions::default()).unwrap()
    }

    /// The conflicting row, if there is one.
    pub(super) fn insert(&self, be: &mut Backend, id: i32, v: &str) -> Option<Tid> {
        let tid = self.insert_row_only(be, id, v);
        self.index_entry(be, id, tid, UniqueCheck::Yes)
    }

    pub(super) fn index_entry(
        &self,
        be: &mut Backend,
        id: i32,
        tid: Tid,
        check: UniqueCheck,
    ) -> Option<Tid> {
        let key = [DatumRef::Word(id as i64 as u64)];
        match index::insert(be, &self.index, &self.table, &key, tid, check, false).unwrap() {
            Inserted::Done { .. } => None,
            Inserted::Conflict { tid } => Some(tid),
        }
    }

    pub(super) fn scan(&self, be: &mut Backend) -> Vec<(i32, String)> {
        let rows = scan_rows(be, &self.table, &[2, 1]);
        let mut out: Vec<_> =
            rows.iter().map(|r| (r[1].as_ref().as_i32(), text(r[0].as_ref()))).collect();
        out.sort();
        out
    }

    pub(super) fn toast_rows(&self, be: &mut Backend) -> usize {
        let toast = &self.table.toast.as_ref().unwrap().table;
        scan_rows(be, toast, &[1]).len()
    }

    pub(super) fn index_scan(&self, be: &mut Backend) -> Vec<(i32, String)> {
        self.scan_by(be, &self.index)
    }

    pub(super) fn scan_by(&self, be: &mut Backend, index: &Arc<IndexDesc>) -> Vec<(i32, String)> {
        let rows = self.fetch(be, index, vec![], &[1, 2]);
        rows.iter().map(|r| (r[0].as_ref().as_i32(), text(r[1].as_ref()))).collect()
    }

    fn fetch(
        &self,
        be: &mut Backend,
        index: &Arc<IndexDesc>,
        keys: Vec<ScanKey>,
        columns: &[AttrNo],
    ) -> Vec<Vec<Datum>> {
        let snapshot = be.snapshot();
        let options = IndexScanOptions::default();
        let mut scan =
            IndexScan::new(be, &self.table, index, snapshot, keys, columns, options).unwrap();
        let mut batch = table::new_batch(&self.table, columns);
        let mut out = Vec::new();
        while scan.next_batch(be, Direction::Forward, &mut batch, 50).unwrap() {
            out.extend((0..batch.len).map(|r| batch.row_owned(r)));
            batch.clear();
        }
        scan.end(be).unwrap();
        out
    }

    fn by_id(&self, be: &mut Backend, id: i32, columns: &[AttrNo]) -> Option<Vec<Datum>> {
        let value = Datum::int4(id);
        let key = ScanKey::compare(0, strategy::btree::EQUAL, value);
        let index = self.index.clone();
        let mut rows = self.fetch(be, &index, vec![key], columns);
        assert!(rows.len() <= 1, "id {id} is not unique");
        rows.pop()
    }

    pub(super) fn get(&self, be: &mut Backend, id: i32) -> Option<String> {
        self.by_id(be, id, &[2]).map(|r| text(r[0].as_ref()))
    }

    pub(super) fn tid_of(&self, be: &mut Backend, id: i32) -> Option<Tid> {
        self.by_id(be, id, &[table::system::CTID]).map(|r| types::system::tid_of(r[0].as_ref()))
    }

    /// The result; `None` if there is no such row.
    pub(super) fn update(&self, be: &mut Backend, id: i32, v: &str) -> Option<RowOutcome> {
        let tid = self.tid_of(be, id)?;
        Some(self.update_at(be, tid, id, v))
    }

    fn update_at(&self, be: &mut Backend, tid: Tid, id: i32, v: &str) -> RowOutcome {
        let row = [DatumRef::Word(id as i64 as u64), DatumRef::Bytes(v.as_bytes())];
        let done = table::update(be, &self.table, tid, &row, ChangeOptions::default()).unwrap();
        if done.outcome == RowOutcome::Ok && done.needs_index_entries {
            assert_eq!(self.index_entry(be, id, done.tid, UniqueCheck::Yes), None);
        }
        done.outcome
    }

    pub(super) fn delete(&self, be: &mut Backend, id: i32) -> bool {
        let Some(tid) = self.tid_of(be, id) else { return false };
        let outcome = table::delete(be, &self.table, tid, ChangeOptions::default()).unwrap();
        assert_eq!(outcome, RowOutcome::Ok);
        true
    }

    pub(super) fn add_one(&self, be: &mut Backend, id: i32) {
        let tid = self.tid_of(be, id).unwrap();
        let mut batch = table::new_batch(&self.table, &[2]);
        let how = LockRow { follow: true, ..LockRow::version(RowLock::NoKeyUpdate) };
        let (outcome, tid) = table::lock_row(be, &self.table, tid, how, &[2], &mut batch).unwrap();
        assert_eq!(outcome, RowOutcome::Ok);
        let n: i32 = text(batch.get(0, 0)).parse().unwrap();
        assert_eq!(self.update_at(be, tid, id, &(n + 1).to_string()), RowOutcome::Ok);
    }

    pub(super) fn second(&self, n: u32) -> Arc<IndexDesc> {
        let oid = Oid(30_000 + n);
        let name = format!("items{}_{n}", self.n);
        index(oid, name, (self.table.oid, &self.table.name), vec![int4(b"id")])
    }

    pub(super) fn build_second(
        &self,
        be: &mut Backend,
        n: u32,
    ) -> pgerror::Result<index::BuildResult> {
        let index = self.second(n);
        storage::create_relation_files(be, index.file(), Persistence::Permanent)?;
        let mut entry = |_: &mut Backend, row: &[DatumRef<'_>], out: &mut Vec<Datum>| {
            out.push(row[0].to_owned());
            Ok(true)
        };
        let mut print =
            |_: &mut Backend, key: &[Datum]| format!("(id)=({})", key[0].as_ref().as_i32());
        let table = &self.table;
        let new = index::NewIndex { table, index: &index, columns: &[1], places: &[], rows: 0.0 };
        index::build(be, new, &mut entry, &mut print)
    }
}
