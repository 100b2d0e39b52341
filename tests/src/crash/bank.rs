//! The tables of the TPC-B-like workload as objects of the engine: accounts, tellers, branches and
//! history, all with the columns `(id int4, a int4, b int4, balance int4, filler text)`, a unique
//! index on `id` and TOAST. In some runs the accounts also have an index on `balance`, so that none
//! of their updates is heap-only.

use engine::index::{
    Direction, IndexColumn, IndexDef, IndexScan, IndexScanOptions, Inserted, ScanKey, Support,
    SupportFunction, UniqueCheck, strategy,
};
use engine::table::{ChangeOptions, InsertOptions, LockRow, RowLock, RowOutcome, RowWait};
use engine::table::{ScanOptions, TableScan};
use engine::{Backend, IndexDesc, OpenIndex, OpenTable, TableDesc, ToastDesc};
use engine::{index, storage, table, vacuum};
use ids::code::ColumnStorage;
use ids::{AttrNo, MultiXid, Oid, Persistence, RelFile, Tid, Xid};
use page::tupdesc::{Align, Attr, TupleDesc};
use pgerror::{PgError, Result};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};

pub const ACCOUNTS: usize = 0;
pub const TELLERS: usize = 1;
pub const BRANCHES: usize = 2;
pub const HISTORY: usize = 3;
pub const TABLES: usize = 4;

pub const NAMES: [&str; TABLES] = ["accounts", "tellers", "branches", "history"];
const FILLER: AttrNo = 5;
const COLUMNS: [AttrNo; 5] = [1, 2, 3, 4, FILLER];

/// A row without its id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub a: i32,
    pub b: i32,
    pub balance: i32,
    pub filler: String,
}

pub type Rows = BTreeMap<i32, Row>;

/// OIDs of a table, its indexes and its TOAST table; relfilenodes are equal to the OIDs.
#[derive(Clone, Copy, Debug)]
pub struct TableId {
    pub table: Oid,
    pub id_index: Oid,
    pub balance_index: Option<Oid>,
    pub toast: Oid,
    pub toast_index: Oid,
}

/// The identifiers of all tables.
#[derive(Clone, Copy, Debug)]
pub struct TableIds {
    pub database: Oid,
    pub tables: [TableId; TABLES],
}

impl TableIds {
    /// The identifiers in a cluster without catalogs.
    pub fn bare(balance_indexed: bool) -> TableIds {
        let relation = |n: usize| {
            let base = 20_000 + 100 * n as u32;
            TableId {
                table: Oid(base),
                id_index: Oid(base + 1),
                balance_index: (balance_indexed && n == ACCOUNTS).then_some(Oid(base + 2)),
                toast: Oid(base + 3),
                toast_index: Oid(base + 4),
            }
        };
        TableIds { database: Oid(1), tables: std::array::from_fn(relation) }
    }

    fn file(&self, oid: Oid) -> RelFile {
        RelFile::new(RelFile::DEFAULT_TABLESPACE, self.database, oid)
    }

    /// The descriptors, for a newly opened engine.
    pub fn open(&self) -> Vec<Table> {
        (0..TABLES).map(|n| Table::new(self, n)).collect()
    }
}

pub struct Table {
    pub desc: Arc<TableDesc>,
    /// The indexes; the first one is the unique index on `id`.
    pub indexes: Vec<Arc<IndexDesc>>,
}

/// The result of an attempt to change a row.
#[derive(Debug)]
pub enum Changed {
    Done,
    /// Another transaction has locked the row, or has changed the version that is visible to the
    /// snapshot.
    Refused,
    Missing,
}

fn int4(name: &[u8]) -> Attr {
    Attr::new(name, Oid(23), 4, true, Align::Int)
}

fn index_desc(
    file: RelFile,
    on: (Oid, &str),
    unique: bool,
    columns: &[(AttrNo, Attr)],
) -> IndexDesc {
    let key = |attr: &Attr| {
        let cmp = types::compare::of_type(attr.type_oid).expect("a type with an order");
        let function = SupportFunction::Compare(cmp.into());
        let mut column = IndexColumn::new(attr.clone(), Oid(0), function);
        let function = SupportFunction::EqualImage(true);
        column.support.push(Support { number: 4, oid: Oid::INVALID, function });
        column
    };
    let keys: Vec<IndexColumn> = columns.iter().map(|c| key(&c.1)).collect();
    let oid = file.relnumber;
    let name = format!("{}_{}", on.1, oid.0);
    let count = keys.len();
    let mut def = IndexDef::new(file, Persistence::Permanent, (&name, on.1), keys, count);
    def.unique = unique;
    let method = engine::am::by_handler("bthandler").and_then(|m| m.am);
    IndexDesc {
        oid,
        table_oid: on.0,
        am: method.expect("B-trees are implemented"),
        def: Arc::new(def),
        unique,
        columns: columns.iter().map(|c| c.0).collect(),
        opened: OpenIndex::default(),
    }
}

fn table_desc(file: RelFile, name: &str, attrs: Vec<Attr>, toast: Option<ToastDesc>) -> TableDesc {
    let is_toast = name.starts_with("pg_toast");
    TableDesc {
        oid: file.relnumber,
        schema: "public".into(),
        name: name.into(),
        file,
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
    }
}

fn toast_desc(table_ids: &TableIds, relation: &TableId) -> ToastDesc {
    let chunk_id = Attr::new(b"chunk_id", Oid(26), 4, true, Align::Int);
    let seq = int4(b"chunk_seq");
    let mut data = Attr::new(b"chunk_data", Oid(17), -1, false, Align::Int);
    data.storage = ColumnStorage::Plain;
    let name = format!("pg_toast_{}", relation.table.0);
    let keys = [(1, chunk_id.clone()), (2, seq.clone())];
    let index =
        index_desc(table_ids.file(relation.toast_index), (relation.toast, &name), true, &keys);
    let table = table_desc(table_ids.file(relation.toast), &name, vec![chunk_id, seq, data], None);
    ToastDesc { table: Arc::new(table), index: Arc::new(index) }
}

fn text(d: DatumRef<'_>) -> String {
    String::from_utf8_lossy(d.as_bytes()).into_owned()
}

impl Table {
    fn new(table_ids: &TableIds, n: usize) -> Table {
        let relation = &table_ids.tables[n];
        let filler = Attr::new(b"filler", Oid(25), -1, false, Align::Int);
        let attrs = vec![int4(b"id"), int4(b"a"), int4(b"b"), int4(b"balance"), filler];
        let on = (relation.table, NAMES[n]);
        let index = |oid, unique, column, name: &[u8]| {
            let key = [(column, int4(name))];
            Arc::new(index_desc(table_ids.file(oid), on, unique, &key))
        };
        let mut indexes = vec![index(relation.id_index, true, 1, b"id")];
        let toast = Some(toast_desc(table_ids, relation));
        let mut desc = table_desc(table_ids.file(relation.table), NAMES[n], attrs, toast);
        if let Some(oid) = relation.balance_index {
            indexes.push(index(oid, false, 4, b"balance"));
            desc.indexed_columns = [1, 4].into();
        }
        Table { desc: Arc::new(desc), indexes }
    }

    fn toast(&self) -> &ToastDesc {
        self.desc.toast.as_ref().expect("all tables of the bank have one")
    }

    pub fn create(&self, be: &mut Backend) -> Result<()> {
        let toast = self.toast();
        for file in [self.desc.file, toast.table.file] {
            storage::create_relation_files(be, file, Persistence::Permanent)?;
        }
        for index in self.indexes.iter().chain([&toast.index]) {
            storage::create_relation_files(be, index.file(), Persistence::Permanent)?;
            index::build_empty(be, index)?;
        }
        Ok(())
    }

    pub fn lock(&self, be: &mut Backend, mode: lmgr::LockMode) -> Result<()> {
        be.lock(self.desc.lock_tag(), mode).map(|_| ())
    }

    fn key_of(index: &IndexDesc, id: i32, row: &Row) -> Datum {
        Datum::int4(if index.columns[0] == 1 { id } else { row.balance })
    }

    /// `before` is the previous version of the row.
    fn index_entries(
        &self,
        be: &mut Backend,
        id: i32,
        row: &Row,
        tid: Tid,
        before: Option<&Row>,
    ) -> Result<()> {
        for index in &self.indexes {
            let key = Table::key_of(index, id, row);
            let unchanged =
                before.is_some_and(|b| index.columns[0] == 1 || b.balance == row.balance);
            let check = if index.unique { UniqueCheck::Yes } else { UniqueCheck::No };
            let keys = [key.as_ref()];
            match index::insert(be, index, &self.desc, &keys, tid, check, unchanged)? {
                Inserted::Done { .. } => {}
                Inserted::Conflict { tid } => {
                    return Err(PgError::internal(format!("id {id} is there already at {tid}")));
                }
            }
        }
        Ok(())
    }

    pub fn insert(&self, be: &mut Backend, id: i32, row: &Row) -> Result<()> {
        let values = values(id, row);
        let tid = table::insert(be, &self.desc, &values, InsertOptions::default())?;
        self.index_entries(be, id, row, tid, None)
    }

    fn find(&self, be: &mut Backend, id: i32) -> Result<Option<Tid>> {
        let value = Datum::int4(id);
        let keys = vec![ScanKey::compare(0, strategy::btree::EQUAL, value)];
        let columns = [table::system::CTID];
        let (snapshot, options) = (be.snapshot(), IndexScanOptions::default());
        let index = &self.indexes[0];
        let mut scan = IndexScan::new(be, &self.desc, index, snapshot, keys, &columns, options)?;
        let mut batch = table::new_batch(&self.desc, &columns);
        scan.next_batch(be, Direction::Forward, &mut batch, 10)?;
        scan.end(be)?;
        if batch.len > 1 {
            return Err(PgError::internal(format!("id {id} is found {} times", batch.len)));
        }
        Ok((batch.len == 1).then(|| types::system::tid_of(batch.get(0, 0))))
    }

    /// Locks the row, passes its contents to `change`, and writes the result (`None` deletes). An
    /// unchanged filler is copied in its stored form.
    pub fn change(
        &self,
        be: &mut Backend,
        id: i32,
        follow: bool,
        change: &mut dyn FnMut(Row) -> Result<Option<Row>>,
    ) -> Result<Changed> {
        let Some(tid) = self.find(be, id)? else { return Ok(Changed::Missing) };
        let mut batch = table::new_batch(&self.desc, &COLUMNS);
        let (outcome, tid) = table::lock_row(
            be,
            &self.desc,
            tid,
            LockRow { wait: RowWait::Skip, follow, ..LockRow::version(RowLock::Update) },
            &COLUMNS,
            &mut batch,
        )?;
        if outcome != RowOutcome::Ok {
            return Ok(Changed::Refused);
        }
        let before = row_of(&batch, 0).1;
        // The row is locked by this transaction, so no call below waits.
        let Some(after) = change(before.clone())? else {
            return Ok(match table::delete(be, &self.desc, tid, ChangeOptions::default())? {
                RowOutcome::Ok => Changed::Done,
                _ => Changed::Refused,
            });
        };
        let keep: &[AttrNo] = if after.filler == before.filler { &[FILLER] } else { &[] };
        let options = ChangeOptions { keep, ..ChangeOptions::default() };
        let done = table::update(be, &self.desc, tid, &values(id, &after), options)?;
        if done.outcome != RowOutcome::Ok {
            return Ok(Changed::Refused);
        }
        if done.needs_index_entries {
            self.index_entries(be, id, &after, done.tid, Some(&before))?;
        }
        Ok(Changed::Done)
    }

    /// All rows that are visible to a new snapshot. A duplicate id is an error.
    pub fn rows(&self, be: &mut Backend) -> Result<Rows> {
        let snapshot = be.snapshot();
        let mut scan = TableScan::new(be, &self.desc, snapshot, &COLUMNS, ScanOptions::default())?;
        let mut batch = table::new_batch(&self.desc, &COLUMNS);
        let mut rows = Rows::new();
        while scan.next_batch(be, &mut batch, 256)? {
            for r in 0..batch.len {
                let (id, row) = row_of(&batch, r);
                if rows.insert(id, row).is_some() {
                    return Err(PgError::internal(format!("{}: id {id} twice", self.desc.name)));
                }
            }
            batch.clear();
        }
        Ok(rows)
    }

    pub fn vacuum(&self, be: &mut Backend, freeze: bool, truncate: bool) -> Result<()> {
        let toast = self.toast();
        let both = [(&self.desc, self.indexes.clone()), (&toast.table, vec![toast.index.clone()])];
        for (desc, indexes) in both {
            be.lock(desc.lock_tag(), lmgr::LockMode::ShareUpdateExclusive)?;
            let mut options = vacuum::VacuumOptions {
                rel_frozen_xid: Xid::FIRST_NORMAL,
                rel_min_mxid: MultiXid::FIRST,
                index_cleanup: Some(true),
                truncate,
                ..vacuum::VacuumOptions::default()
            };
            if freeze {
                options.freeze_min_age = 0;
                options.freeze_table_age = 0;
            }
            vacuum::vacuum(be, desc, &indexes, &options)?;
        }
        Ok(())
    }

    /// An error that describes the first inconsistency of the heap, its indexes or its TOAST table.
    pub fn check(&self, be: &mut Backend) -> Result<()> {
        let toast = self.toast();
        let both = [(&self.desc, self.indexes.clone()), (&toast.table, vec![toast.index.clone()])];
        for (desc, indexes) in both {
            let faults = engine::verify::heap_faults(be, desc, Xid::FIRST_NORMAL, MultiXid::FIRST)?;
            if let Some((block, offset, what)) = faults.first() {
                let name = &desc.name;
                return Err(PgError::internal(format!("{name} ({block},{offset}): {what}")));
            }
            for index in &indexes {
                engine::verify::check_index(be, desc, index)?;
            }
        }
        Ok(())
    }
}

fn values(id: i32, row: &Row) -> [DatumRef<'_>; 5] {
    let int = |n: i32| DatumRef::Word(i64::from(n) as u64);
    let filler = DatumRef::Bytes(row.filler.as_bytes());
    [int(id), int(row.a), int(row.b), int(row.balance), filler]
}

fn row_of(batch: &Batch, r: usize) -> (i32, Row) {
    let int = |c: usize| batch.get(r, c).as_i32();
    (int(0), Row { a: int(1), b: int(2), balance: int(3), filler: text(batch.get(r, 4)) })
}
