//! Finds the partition for a new row of a partitioned table. Counterpart: execPartition.c
//! (`ExecFindPartition`).
//!
//! Partitions are opened when the first row for them comes. The last partition of each table is
//! remembered, because consecutive rows often belong together. No memory is allocated for a row.

use super::{OwnColumns, Refs, WriteHost};
use crate::relation::OpenRel;
use crate::services::Services;
use eval::{Compiler, EvalState, Program, RowInput, RowRef};
use ids::{AttrNo, Oid};
use partition::{PartitionDesc, SupportCall};
use pgerror::{PgError, Result, pg_err};
use plan::expr::Expr;
use smallvec::SmallVec;
use std::sync::Arc;
use types::fn_context::RowDesc;
use types::{Datum, DatumRef};

/// A column of a partition key, over the columns of the table that the statement names.
enum KeyPart {
    Column(usize),
    Expr(Program),
}

#[derive(Clone, Copy)]
enum Place {
    Unknown,
    Level(usize),
    Leaf(usize),
}

/// A partitioned table.
struct Level {
    schema: Box<str>,
    name: Box<str>,
    relid: Oid,
    desc: Arc<PartitionDesc>,
    key: Vec<KeyPart>,
    /// By the partition's index in `desc`.
    places: Vec<Place>,
    /// The partition of the last row.
    last: usize,
}

/// A partition that is not partitioned itself.
pub struct Leaf {
    pub rel: Arc<OpenRel>,
    /// For each column of the partition, the index of the column of the table that the statement
    /// names; `None` for dropped columns. Absent if the columns are the same.
    pub map: Option<Arc<[Option<usize>]>>,
}

impl Leaf {
    /// A row in the partition's columns.
    pub fn convert<'v>(&self, row: &[DatumRef<'v>]) -> Refs<'v> {
        match &self.map {
            None => row.iter().copied().collect(),
            Some(map) => {
                map.iter().map(|from| from.map_or(DatumRef::Null, |from| row[from])).collect()
            }
        }
    }
}

/// Finds the partitions of rows.
pub struct Router {
    columns: Arc<RowDesc>,
    levels: Vec<Level>,
    pub leaves: Vec<Leaf>,
    /// Functions in partition keys that the user is not yet known to may call.
    unchecked: Vec<Oid>,
    /// The partition constraint of the table that the statement names, if it is a partition itself.
    constraint: Option<(Program, Arc<OpenRel>)>,
    state: EvalState,
}

struct Call<'a>(&'a mut dyn Services);

impl SupportCall for Call<'_> {
    fn hash_extended(
        &mut self,
        function: Oid,
        collation: Oid,
        value: DatumRef<'_>,
        seed: u64,
    ) -> Result<u64> {
        self.0.hash_extended(function, collation, value, seed)
    }
}

impl Router {
    /// A router for rows with the columns of this partitioned table.
    pub fn new(root: &Arc<OpenRel>, services: &mut dyn Services) -> Result<Router> {
        let mut router = Router {
            columns: root.columns.clone(),
            levels: Vec::new(),
            leaves: Vec::new(),
            unchecked: root.calls.partition.to_vec(),
            constraint: None,
            state: EvalState::default(),
        };
        if !root.partition.is_empty() {
            let mut own = OwnColumns(&root.columns);
            let facts = services.as_facts();
            let program = Compiler::new(facts, &mut own).compile_all(&root.partition)?;
            router.constraint = Some((program, root.clone()));
        }
        router.add_level(root, services)?;
        Ok(router)
    }

    fn add_level(&mut self, rel: &Arc<OpenRel>, services: &mut dyn Services) -> Result<usize> {
        let desc = services.partitions(rel.table.oid)?;
        let map = column_map(&self.columns, &rel.columns)?;
        let mut own = OwnColumns(&self.columns);
        let mut key = Vec::with_capacity(desc.key.columns.len());
        for column in &desc.key.columns {
            let from = |attno: AttrNo| match &map {
                None => Some(attno as usize - 1),
                Some(map) => map.get(attno as usize - 1).copied().flatten(),
            };
            key.push(match column.attno {
                0 => {
                    let e = renumbered(&column.expr, &from)?;
                    let facts = services.as_facts();
                    self.unchecked.extend(eval::called([&e], facts)?);
                    KeyPart::Expr(Compiler::new(facts, &mut own).compile(&e)?)
                }
                attno => KeyPart::Column(from(attno).ok_or_else(no_column)?),
            });
        }
        self.levels.push(Level {
            schema: rel.table.schema.clone(),
            name: rel.table.name.clone(),
            relid: rel.table.oid,
            places: vec![Place::Unknown; desc.partitions.len()],
            desc,
            key,
            last: 0,
        });
        Ok(self.levels.len() - 1)
    }

    /// The index in `leaves` of the partition for a row. Error 23514 if there is none.
    pub fn find<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        row: &[DatumRef<'_>],
    ) -> Result<usize> {
        if !self.unchecked.is_empty() {
            self.check_calls(host.services())?;
        }
        if let Some((program, root)) = &self.constraint {
            let input = RowInput::scan(RowRef::Refs(row));
            let v = program.eval_row(&mut self.state, host.expressions(), &input)?;
            if !v.is_null() && !v.as_ref().as_bool() {
                let root = root.clone();
                return Err(outside(host.services(), &root, row)?);
            }
        }
        let mut at = 0;
        loop {
            let level = &mut self.levels[at];
            let mut computed: SmallVec<[Datum; 2]> = SmallVec::new();
            for part in &level.key {
                if let KeyPart::Expr(program) = part {
                    let input = RowInput::scan(RowRef::Refs(row));
                    let v = program.eval_row(&mut self.state, host.expressions(), &input)?;
                    computed.push(v.into_owned());
                }
            }
            let mut next = computed.iter();
            let key: SmallVec<[DatumRef<'_>; 4]> = level
                .key
                .iter()
                .map(|part| match part {
                    KeyPart::Column(column) => row[*column],
                    KeyPart::Expr(_) => next.next().map_or(DatumRef::Null, Datum::as_ref),
                })
                .collect();
            let mut call = Call(host.services());
            let Some(found) = level.desc.find_from(level.last, &key, &mut call)? else {
                let (schema, name) = (level.schema.clone(), level.name.clone());
                let table = (&*schema, &*name, level.relid);
                return Err(no_partition(host.services(), table, &key)?);
            };
            level.last = found;
            at = match level.places[found] {
                Place::Leaf(leaf) => return Ok(leaf),
                Place::Level(below) => below,
                Place::Unknown => match self.open(at, found, host.services())? {
                    Place::Level(below) => below,
                    Place::Leaf(leaf) => return Ok(leaf),
                    Place::Unknown => return Err(PgError::internal("partition is not open")),
                },
            };
            if !self.unchecked.is_empty() {
                self.check_calls(host.services())?;
            }
        }
    }

    /// Error 42501 unless the user may call the functions of the opened levels' keys.
    #[cold]
    fn check_calls(&mut self, services: &mut dyn Services) -> Result<()> {
        services.as_facts().may_call(&self.unchecked)?;
        self.unchecked.clear();
        Ok(())
    }

    fn open(&mut self, at: usize, found: usize, services: &mut dyn Services) -> Result<Place> {
        let partition = &self.levels[at].desc.partitions[found];
        let (oid, is_leaf) = (partition.oid, partition.is_leaf);
        services.lock_partition(oid)?;
        let rel = services.open_relation(oid)?;
        let place = if is_leaf {
            let map = column_map(&self.columns, &rel.columns)?;
            self.leaves.push(Leaf { rel, map: map.map(Arc::from) });
            Place::Leaf(self.leaves.len() - 1)
        } else {
            Place::Level(self.add_level(&rel, services)?)
        };
        self.levels[at].places[found] = place;
        Ok(place)
    }
}

fn no_column() -> PgError {
    PgError::internal("column of a partition key does not exist")
}

/// The error for a row that violates the partition constraint of the table that the statement
/// names.
fn outside(
    services: &mut dyn Services,
    root: &Arc<OpenRel>,
    row: &[DatumRef<'_>],
) -> Result<PgError> {
    let table = &root.table;
    let e = pg_err!(
        CHECK_VIOLATION,
        "new row for relation \"{}\" violates partition constraint",
        table.name
    )
    .table(table.schema.as_ref(), table.name.as_ref());
    let row: Vec<Datum> = row.iter().map(|v| DatumRef::to_owned(*v)).collect();
    Ok(match services.describe_row(root, &row, &[])? {
        Some(text) => e.detail(text),
        None => e,
    })
}

/// The error for a row without a partition.
fn no_partition(
    services: &mut dyn Services,
    (schema, name, relid): (&str, &str, Oid),
    key: &[DatumRef<'_>],
) -> Result<PgError> {
    let values: Vec<Datum> = key.iter().map(|v| DatumRef::to_owned(*v)).collect();
    let detail = services.describe_partition_key(relid, &values)?;
    let e = pg_err!(CHECK_VIOLATION, "no partition of relation \"{name}\" found for row")
        .table(schema, name);
    Ok(match detail {
        Some(text) => e.detail(text),
        None => e,
    })
}

/// For each column of `to`, the index of the column of `from` with the same name; `None` if all
/// columns are in the same places.
fn column_map(from: &RowDesc, to: &RowDesc) -> Result<Option<Vec<Option<usize>>>> {
    let live = |c: &types::fn_context::RowColumn| !c.is_dropped();
    let mut same = from.columns.len() == to.columns.len();
    let mut map = Vec::with_capacity(to.columns.len());
    for (i, column) in to.columns.iter().enumerate() {
        if column.is_dropped() {
            same &= from.columns.get(i).is_some_and(|c| c.is_dropped());
            map.push(None);
            continue;
        }
        let is = |c: &types::fn_context::RowColumn| live(c) && c.name == column.name;
        let at = match from.columns.get(i) {
            Some(c) if is(c) => Some(i),
            _ => from.columns.iter().position(is),
        };
        same &= at == Some(i);
        map.push(Some(at.ok_or_else(no_column)?));
    }
    Ok((!same).then_some(map))
}

/// An expression over a table's own columns, over the columns that `from` gives.
fn renumbered(e: &Expr, from: &dyn Fn(AttrNo) -> Option<usize>) -> Result<Expr> {
    let mut e = e.clone();
    let mut failure = None;
    plan::walk::deep_expr_mut(&mut e, 0, &mut |e, _| {
        if let Expr::Var(v) = e {
            match from(v.varattno).filter(|_| v.varattno > 0) {
                Some(column) => v.varattno = column as AttrNo + 1,
                None => failure = Some(PgError::unsupported("whole row in a partition key")),
            }
        }
        true
    });
    failure.map_or(Ok(e), Err)
}
