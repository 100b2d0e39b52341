//! Insertion of rows into partitions, and updates that move rows between them. Counterpart:
//! nodeModifyTable.c (`ExecPrepareTupleRouting`, `ExecCrossPartitionUpdate`), execPartition.c
//! (`ExecInitPartitionInfo`).

use super::{ModifyNode, RowColumns, Target};
use crate::run::Run;
use engine::table::{self, RowOutcome};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result};
use plan::node::{ModifyTable, Plan, PlanInfo, PlanNode};
use plan::query::CmdType;
use rowops::relation::OpenRel;
use rowops::trigger::{Change, Movement, RowEvent, RowVersion};
use rowops::write::{Leaf, Refs, Router};
use std::sync::Arc;
use types::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, Batch, Column, DatumRef};

/// The partitions into which the statement inserts rows.
pub(super) struct Routing {
    router: Router,
    /// By index in `Router::leaves`. A partition is exchanged with `ModifyNode::target` while one
    /// of its rows is inserted.
    // Boxes, so that the exchange copies nothing.
    #[allow(clippy::vec_box)]
    targets: Vec<Option<Box<Target>>>,
    /// The plan of the statement, without its child.
    plan: Plan,
    /// The partitioned table and its range-table index.
    root: Arc<OpenRel>,
    rti: i32,
    /// The rows of a batch for each partition.
    groups: Vec<Vec<u16>>,
}

/// Rows of a partition from which on they are inserted.
const ROWS_MIN: usize = 128;
/// Rows of all partitions at which they are inserted.
const ROWS_MAX: usize = 16 * BATCH_ROWS_MAX;

/// The partitions' rows that the statement inserts in batches. They are collected, because a batch
/// of the child has few rows for each of many partitions.
#[derive(Default)]
pub(super) struct Collected {
    /// By partition.
    bulks: Vec<Option<table::BulkInsert>>,
    rows: Vec<Batch>,
    /// Rows and memory of `rows`.
    count: usize,
    bytes: usize,
}

impl Routing {
    /// `rti`: the partitioned table that the statement names.
    pub(super) fn new(
        plan: &Plan,
        m: &ModifyTable,
        rti: i32,
        run: &mut Run<'_>,
    ) -> Result<Routing> {
        let root = run.relation(rti)?;
        let bare = without_child(m);
        let info = PlanInfo { target_list: plan.info.target_list.clone(), ..PlanInfo::default() };
        Ok(Routing {
            router: Router::new(&root, run.sv)?,
            targets: Vec::new(),
            plan: Plan { info, node: PlanNode::ModifyTable(Box::new(bare)) },
            root,
            rti,
            groups: Vec::new(),
        })
    }

    /// The partition for a row of the partitioned table.
    fn find(&mut self, run: &mut Run<'_>, row: &[DatumRef<'_>]) -> Result<usize> {
        let leaf = self.router.find(run, row)?;
        if self.targets.get(leaf).is_none_or(Option::is_none) {
            let target = Target::of_leaf(self, &self.router.leaves[leaf], run)?;
            self.targets.resize_with(self.router.leaves.len(), || None);
            self.targets[leaf] = Some(Box::new(target));
        }
        Ok(leaf)
    }
}

fn empty_plan() -> Plan {
    let node = PlanNode::Result { child: None, constant_qual: Vec::new() };
    Plan { info: PlanInfo::default(), node }
}

fn without_child(m: &ModifyTable) -> ModifyTable {
    let (checks, returning) = match m.operation {
        CmdType::Insert => (m.with_check_options.clone(), m.returning_lists.clone()),
        _ => (vec![m.moved_checks.clone()], vec![m.moved_returning.clone()]),
    };
    ModifyTable {
        child: empty_plan(),
        update_colnos: Vec::new(),
        with_check_options: checks,
        returning_lists: returning,
        moved_returning: Vec::new(),
        moved_checks: Vec::new(),
        merge_actions: Vec::new(),
        result_relations: m.result_relations.clone(),
        row_marks: Vec::new(),
        on_conflict: m.on_conflict.clone(),
        ..*m
    }
}

impl Target {
    /// A partition of the table that the statement names. Expressions refer to the columns of the
    /// latter.
    fn of_leaf(routing: &Routing, leaf: &Leaf, run: &mut Run<'_>) -> Result<Target> {
        let PlanNode::ModifyTable(m) = &routing.plan.node else {
            return Err(PgError::internal("ModifyTable expected"));
        };
        let cols = RowColumns {
            rti: routing.rti,
            excluded: m.on_conflict.as_ref().map_or(i32::MIN, |c| c.excl_rel_rti),
            width: leaf.rel.columns.columns.len(),
            row: routing.root.columns.clone(),
            header: false,
            map: leaf.map.as_ref().map(|map| inverse(map, routing.root.columns.columns.len())),
        };
        let named = (&routing.root, routing.rti);
        let rel = leaf.rel.clone();
        let mut target = Target::with_columns(&routing.plan, m, (0, rel), cols, named, run)?;
        target.writer.receives_moved = m.operation == CmdType::Update;
        Ok(target)
    }
}

/// The partition's column (its index) for each column of the partitioned table.
fn inverse(map: &[Option<usize>], width: usize) -> Arc<[Option<usize>]> {
    let mut out = vec![None; width];
    for (own, from) in map.iter().enumerate() {
        if let Some(slot) = from.and_then(|from| out.get_mut(from)) {
            *slot = Some(own);
        }
    }
    out.into()
}

/// The rows in the partition's columns.
fn convert_batch(leaf: &Leaf, mut rows: Batch) -> Batch {
    let Some(map) = &leaf.map else { return rows };
    let attrs = &leaf.rel.table.tupdesc.attrs;
    let mut columns = Vec::with_capacity(map.len());
    for (from, attr) in map.iter().zip(attrs.iter()) {
        columns.push(match from {
            Some(from) => std::mem::replace(&mut rows.columns[*from], Column::new(true)),
            None => {
                let mut column = Column::new(attr.by_val);
                (0..rows.len).for_each(|_| column.push(DatumRef::Null));
                column
            }
        });
    }
    Batch { len: rows.len, columns }
}

impl ModifyNode {
    /// Exchanges the target with a partition.
    fn exchange(&mut self, leaf: usize) -> Result<()> {
        let slot = self.routing.as_mut().and_then(|r| r.targets.get_mut(leaf)?.as_mut());
        let slot = slot.ok_or_else(|| PgError::internal("partition is not open"))?;
        std::mem::swap(&mut self.target, slot);
        Ok(())
    }

    /// Inserts a row of the partitioned table. `child`: the row of the child. Returns the partition
    /// and the TID, unless it was not inserted.
    pub(super) fn insert_routed(
        &mut self,
        run: &mut Run<'_>,
        child: (&Batch, usize),
        row: &[DatumRef<'_>],
        out: &mut Batch,
    ) -> Result<Option<(usize, Tid)>> {
        let Some(routing) = &mut self.routing else {
            return Err(PgError::internal("table is not partitioned"));
        };
        let leaf = routing.find(run, row)?;
        let own = routing.router.leaves[leaf].convert(row);
        self.exchange(leaf)?;
        let done = self.insert_values(run, child, &own, out);
        self.exchange(leaf)?;
        Ok(done?.map(|tid| (leaf, tid)))
    }

    /// Inserts the rows of a batch of the partitioned table or collects them. If a row has no
    /// partition, the rows before it are inserted first.
    pub(super) fn insert_routed_batch(
        &mut self,
        run: &mut Run<'_>,
        mut rows: Batch,
        collected: &mut Collected,
    ) -> Result<()> {
        let width = self.target.all_columns.len();
        rows.columns.truncate(width);
        let Some(routing) = &mut self.routing else {
            return Err(PgError::internal("table is not partitioned"));
        };
        routing.groups.iter_mut().for_each(Vec::clear);
        let mut failure = None;
        let mut plain = true;
        for r in 0..rows.len {
            let row: Refs<'_> = rows.row(r).collect();
            match routing.find(run, &row) {
                Ok(leaf) => {
                    if routing.groups.len() <= leaf {
                        routing.groups.resize_with(leaf + 1, Vec::new);
                    }
                    routing.groups[leaf].push(r as u16);
                }
                Err(e) => {
                    failure = Some(e);
                    break;
                }
            }
        }
        for (group, target) in routing.groups.iter().zip(&routing.targets) {
            if let Some(target) = target
                && !group.is_empty()
            {
                plain &= !target.calls_triggers(self.operation) && !target.writer.reads_changes();
            }
        }
        let inserted: usize = routing.groups.iter().map(Vec::len).sum();
        if !plain {
            self.insert_collected(run, collected)?;
            let mut nothing = Batch::default();
            for r in 0..inserted {
                let row: Refs<'_> = rows.row(r).collect();
                self.insert_routed(run, (&rows, r), &row, &mut nothing)?;
            }
            return failure.map_or(Ok(()), Err);
        }
        let groups = std::mem::take(&mut routing.groups);
        let done = self.collect(run, &rows, &groups, collected);
        if let Some(routing) = &mut self.routing {
            routing.groups = groups;
        }
        done?;
        match failure {
            None => Ok(()),
            Some(e) => self.insert_collected(run, collected).and(Err(e)),
        }
    }

    fn collect(
        &mut self,
        run: &mut Run<'_>,
        rows: &Batch,
        groups: &[Vec<u16>],
        collected: &mut Collected,
    ) -> Result<()> {
        if collected.rows.len() < groups.len() {
            collected.rows.resize_with(groups.len(), || rows.empty_like());
            collected.bulks.resize_with(groups.len(), || None);
        }
        for (leaf, group) in groups.iter().enumerate().filter(|(_, g)| !g.is_empty()) {
            if collected.rows[leaf].len + group.len() > BATCH_ROWS_MAX {
                self.insert_leaf(run, leaf, collected)?;
            }
            collected.rows[leaf].extend_rows(rows, group);
            collected.count += group.len();
            if collected.rows[leaf].len >= ROWS_MIN {
                self.insert_leaf(run, leaf, collected)?;
            }
        }
        collected.bytes += rows.memory();
        if collected.count >= ROWS_MAX || collected.bytes >= BATCH_BYTES_MAX {
            self.insert_collected(run, collected)?;
        }
        Ok(())
    }

    /// Inserts the collected rows of a partition.
    fn insert_leaf(
        &mut self,
        run: &mut Run<'_>,
        leaf: usize,
        collected: &mut Collected,
    ) -> Result<()> {
        let rows = &mut collected.rows[leaf];
        let empty = rows.empty_like();
        let rows = std::mem::replace(rows, empty);
        collected.count -= rows.len;
        let Some(routing) = &self.routing else {
            return Err(PgError::internal("table is not partitioned"));
        };
        let rows = convert_batch(&routing.router.leaves[leaf], rows);
        let bulk = collected.bulks[leaf].get_or_insert_with(table::BulkInsert::without_ring);
        self.exchange(leaf)?;
        let done = self.insert_batch(run, rows, bulk);
        self.exchange(leaf)?;
        done
    }

    /// Inserts all collected rows.
    pub(super) fn insert_collected(
        &mut self,
        run: &mut Run<'_>,
        collected: &mut Collected,
    ) -> Result<()> {
        for leaf in 0..collected.rows.len() {
            if collected.rows[leaf].len > 0 {
                self.insert_leaf(run, leaf, collected)?;
            }
        }
        collected.bytes = 0;
        Ok(())
    }

    /// Ends the bulk insertions.
    pub(super) fn finish_collected(
        &mut self,
        run: &mut Run<'_>,
        mut collected: Collected,
    ) -> Result<()> {
        self.insert_collected(run, &mut collected)?;
        for (leaf, bulk) in collected.bulks.into_iter().enumerate() {
            if let (Some(bulk), Some(routing)) = (bulk, &self.routing) {
                let table = &routing.router.leaves[leaf].rel.table;
                bulk.finish(run.sv.backend(), table)?;
            }
        }
        Ok(())
    }

    /// Moves an updated row that leaves its partition: deletes it and inserts the new row into the
    /// partition for it. `None` if a trigger prevents that. Counterpart:
    /// `ExecCrossPartitionUpdate`.
    pub(super) fn move_row(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
        (old, new): (&Batch, &[DatumRef<'_>]),
        out: &mut Batch,
    ) -> Result<Option<RowOutcome>> {
        let deleted = self.delete_moved_row(run, tid, old)?;
        if deleted != Some(RowOutcome::Ok) {
            return Ok(deleted);
        }
        let Some(routing) = &self.routing else {
            return Err(PgError::internal("table is not partitioned"));
        };
        let root = &routing.root.columns;
        let own = &self.target.rel.columns;
        let mut row: Refs<'_> = Refs::new();
        for column in &root.columns {
            let at = own.columns.iter().position(|c| !c.is_dropped() && c.name == column.name);
            row.push(match at {
                Some(at) if !column.is_dropped() => new[at],
                _ => DatumRef::Null,
            });
        }
        // The row is counted as updated.
        let processed = run.st.processed;
        let inserted = self.insert_routed(run, source, &row, out)?;
        run.st.processed = processed;
        // A row that a trigger does not insert is not counted.
        let Some((leaf, new)) = inserted else { return Ok(None) };
        if self.target.rel.triggers.are_after_row(Change::Update) {
            self.report_movement(run, tid, (leaf, new))?;
        }
        Ok(Some(RowOutcome::Ok))
    }

    /// Reports a row that has moved to another partition to the triggers of the table that the
    /// statement names. Counterpart: `ExecCrossPartitionUpdateForeignKey`.
    #[cold]
    fn report_movement(
        &self,
        run: &mut Run<'_>,
        old: Tid,
        (leaf, new): (usize, Tid),
    ) -> Result<()> {
        let Some(routing) = &self.routing else { return Ok(()) };
        let version = |tid| Some(RowVersion { tid, values: &[] });
        let (source, destination) = (&self.target.rel, &routing.router.leaves[leaf].rel);
        run.sv.row_event(RowEvent {
            rel: &routing.root,
            old: version(old),
            new: version(new),
            possible_duplicates: &[],
            updated: &[],
            movement: Some(Movement::Whole { source, destination }),
        })
    }
}

impl RowColumns {
    /// The index in the row of a column of the table that the statement names.
    pub(super) fn index_of(&self, attno: AttrNo) -> Result<usize> {
        let at = attno as usize - 1;
        match &self.map {
            None => Ok(at),
            Some(map) => map
                .get(at)
                .copied()
                .flatten()
                .ok_or_else(|| PgError::internal("column that the partition does not have")),
        }
    }
}
