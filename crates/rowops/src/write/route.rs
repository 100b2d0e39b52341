//! Finds the partition for a new row of a partitioned table. Counterpart: execPartition.c
//! (`ExecFindPartition`).
//!
//! Partitions are opened when the first row for them comes. The last partition of each table is
//! remembered, because consecutive rows often belong together. No memory is allocated for a row.

use super::{OwnColumns, Refs, WriteHost};
use crate::relation::OpenRel;
use crate::services::Services;
use eval::{Compiler, EvalState, HostCall, Program, RowInput, RowRef};
use ids::{AttrNo, Oid};
use partition::{HashCall, PartitionDesc, SupportCall};
use pgerror::{PgError, Result, pg_err};
use plan::expr::Expr;
use smallvec::SmallVec;
use std::sync::Arc;
use types::fn_context::RowDesc;
use types::{Datum, DatumRef, oids};

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
    /// The constraint of the default partition, if partitions have been attached since the
    /// statement began: rows for them are no longer those of the default partition.
    default_check: Option<(Program, Arc<OpenRel>)>,
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
    /// The table that the statement names.
    root: Arc<OpenRel>,
    levels: Vec<Level>,
    pub leaves: Vec<Leaf>,
    /// Functions in partition keys that the user is not yet known to may call.
    unchecked: Vec<Oid>,
    /// The partition constraint of the table that the statement names, if it is a partition itself.
    constraint: Option<Program>,
    state: EvalState,
}

/// Calls hash functions of partition keys in the session.
pub struct Call<'a>(pub &'a mut dyn Services);

impl SupportCall for Call<'_> {
    fn hash_extended(&mut self, call: HashCall<'_>) -> Result<u64> {
        let hash = self.0.call_host(&HostCall {
            function: call.function,
            collation: call.collation,
            result_type: oids::INT8,
            arg_types: &[call.input, oids::INT8],
            args: &[call.value, DatumRef::Word(call.seed)],
        })?;
        match hash {
            Datum::Word(hash) => Ok(hash),
            _ => Err(PgError::internal(format!("function {} returned NULL", call.function))),
        }
    }
}

impl Router {
    /// A router for rows with the columns of this partitioned table.
    pub fn new(root: &Arc<OpenRel>, services: &mut dyn Services) -> Result<Router> {
        let mut router = Router {
            root: root.clone(),
            levels: Vec::new(),
            leaves: Vec::new(),
            unchecked: root.calls.partition.to_vec(),
            constraint: None,
            state: EvalState::default(),
        };
        if !root.partition.is_empty() {
            let mut own = OwnColumns(&root.columns);
            let facts = services.as_facts();
            router.constraint = Some(Compiler::new(facts, &mut own).compile_all(&root.partition)?);
        }
        router.add_level(root, services)?;
        Ok(router)
    }

    fn add_level(&mut self, rel: &Arc<OpenRel>, services: &mut dyn Services) -> Result<usize> {
        let desc = services.partitions(rel.table.oid)?;
        let root = self.root.clone();
        let map = column_map(&root.columns, &rel.columns)?;
        let mut own = OwnColumns(&root.columns);
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
            default_check: None,
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
        if let Some(program) = &self.constraint {
            let input = RowInput::scan(RowRef::Refs(row));
            let v = program.eval_row(&mut self.state, host.expressions(), &input)?;
            if !v.is_null() && !v.as_ref().as_bool() {
                let root = &self.root;
                return Err(outside(host.services(), root, (root, row))?);
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
            let place = match level.places[found] {
                Place::Unknown => self.open(at, found, host.services())?,
                known => known,
            };
            if self.levels[at].desc.default == Some(found) {
                self.check_default(host, at, row)?;
            }
            at = match place {
                Place::Level(below) => below,
                Place::Leaf(leaf) => return Ok(leaf),
                Place::Unknown => return Err(PgError::internal("partition is not open")),
            };
            if !self.unchecked.is_empty() {
                self.check_calls(host.services())?;
            }
        }
    }

    fn check_default<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        at: usize,
        row: &[DatumRef<'_>],
    ) -> Result<()> {
        let Some((program, rel)) = &self.levels[at].default_check else { return Ok(()) };
        let input = RowInput::scan(RowRef::Refs(row));
        let v = program.eval_row(&mut self.state, host.expressions(), &input)?;
        if v.is_null() || v.as_ref().as_bool() {
            return Ok(());
        }
        let (rel, root) = (rel.clone(), self.root.clone());
        Err(outside(host.services(), &rel, (&root, row))?)
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
        let level = &self.levels[at];
        if level.desc.default == Some(found)
            && !Arc::ptr_eq(&services.partitions(level.relid)?, &level.desc)
        {
            self.levels[at].default_check = self.constraint_of(&rel, services)?;
        }
        let place = if is_leaf {
            let map = column_map(&self.root.columns, &rel.columns)?;
            self.leaves.push(Leaf { rel, map: map.map(Arc::from) });
            Place::Leaf(self.leaves.len() - 1)
        } else {
            Place::Level(self.add_level(&rel, services)?)
        };
        self.levels[at].places[found] = place;
        Ok(place)
    }
}

impl Router {
    /// The partition constraint of a table below, over the columns of the rows.
    fn constraint_of(
        &self,
        rel: &Arc<OpenRel>,
        services: &mut dyn Services,
    ) -> Result<Option<(Program, Arc<OpenRel>)>> {
        let map = column_map(&self.root.columns, &rel.columns)?;
        let from = |attno: AttrNo| match &map {
            None => Some(attno as usize - 1),
            Some(map) => map.get(attno as usize - 1).copied().flatten(),
        };
        let mut conditions = Vec::with_capacity(rel.partition.len());
        for e in &rel.partition {
            conditions.push(renumbered(e, &from)?);
        }
        let mut own = OwnColumns(&self.root.columns);
        let program = Compiler::new(services.as_facts(), &mut own).compile_all(&conditions)?;
        Ok(Some((program, rel.clone())))
    }
}

fn no_column() -> PgError {
    PgError::internal("column of a partition key does not exist")
}

/// The error for a row that violates the partition constraint of `rel`. `root`: the table whose
/// columns it has.
fn outside(
    services: &mut dyn Services,
    rel: &OpenRel,
    (root, row): (&OpenRel, &[DatumRef<'_>]),
) -> Result<PgError> {
    let table = &rel.table;
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
