//! INSERT, UPDATE, DELETE. Counterpart: nodeModifyTable.c.
//!
//! Values are borrowed, not copied: a new row is a list of references into the child's batch, the
//! old version's columns and the values computed for it. An UPDATE reads the old row only if
//! something refers to columns that it does not set; otherwise storage copies those columns from
//! the old version.
//!
//! Reading order: this file (construction, INSERT), `entries` (constraints, index entries),
//! `change` (UPDATE and DELETE), `conflict` (ON CONFLICT), `header` (system columns of changed
//! rows).

mod change;
mod conflict;
mod entries;
mod header;

use crate::epq::Recheck;
use crate::instrument::Counts;
use crate::node::{Exec, Node, batch_for, compile};
use crate::relation::{OpenRel, RowEvent};
use crate::run::Run;
use conflict::Conflict;
use engine::table::{self, InsertOptions, RowFetch};
use entries::IndexUse;
use eval::{EvalState, Program, Resolve, RowInput, RowRef, Slot, Source};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result};
use plan::expr::Var;
use plan::node::{ModifyTable, Plan};
use plan::query::CmdType;
use smallvec::SmallVec;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};

/// Borrowed values of a row.
type Refs<'a> = SmallVec<[DatumRef<'a>; 16]>;
/// Values computed for some columns of a row, by index.
type Computed = SmallVec<[(usize, Datum); 1]>;

/// Resolves the columns of the changed row (system columns follow the user columns), the child's
/// output (`OUTER`), and the row proposed for insertion (EXCLUDED), which is the inner row.
struct RowColumns {
    rti: i32,
    excluded: i32,
    width: usize,
    row: Arc<types::fncx::RowDesc>,
    /// An expression refers to a system column of the tuple header.
    header: bool,
}

impl Resolve for RowColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let mut column = |n: AttrNo| -> Result<usize> {
            if n > 0 {
                return Ok(n as usize - 1);
            }
            let position = header::position(n)?;
            self.header |= header::is_stored(n);
            Ok(self.width + position)
        };
        if var.varno == self.rti || var.varno == 1 && self.rti < 0 {
            return Ok(Slot { source: Source::Scan, column: column(var.varattno)? });
        }
        if var.varno == Var::OUTER {
            return Ok(Slot { source: Source::Outer, column: var.varattno as usize - 1 });
        }
        if var.varno == self.excluded {
            return Ok(Slot { source: Source::Inner, column: column(var.varattno)? });
        }
        Err(PgError::internal("column of another relation in a changed row"))
    }

    fn whole_row(&mut self, var: &Var) -> Result<(Vec<Slot>, Arc<types::fncx::RowDesc>)> {
        let source = if var.varno == self.excluded { Source::Inner } else { Source::Scan };
        let slots = (0..self.width).map(|column| Slot { source, column }).collect();
        Ok((slots, self.row.clone()))
    }
}

struct Returning {
    programs: Vec<Program>,
    template: Batch,
}

pub(crate) struct ModifyNode {
    child: Node,
    operation: CmdType,
    rti: i32,
    rel: Arc<OpenRel>,
    set_tag: bool,
    indexes: Vec<IndexUse>,
    /// Columns of a row that are needed for its index entries.
    entry_columns: Vec<AttrNo>,
    entry_fetch: Option<(RowFetch, Batch)>,
    checks: Vec<(String, Program)>,
    generated: Vec<(AttrNo, Program)>,
    not_null: Vec<usize>,
    update: change::Update,
    /// Column of the child with the row's TID.
    ctid: usize,
    returning: Option<Returning>,
    wcos: Vec<(String, Program)>,
    /// Set if RETURNING, check options or ON CONFLICT refer to columns of the tuple header.
    header: Option<header::Header>,
    conflict: Option<Conflict>,
    /// INSERT ON CONFLICT: number of rows inserted, and of rows that conflicted.
    inserted: u64,
    conflicting: u64,
    recheck: Recheck,
    row_by_row: bool,
    st: EvalState,
    all_columns: Vec<AttrNo>,
    old_fetch: Option<(RowFetch, Batch)>,
    done: bool,
}

impl ModifyNode {
    pub(crate) fn boxed(
        plan: &Plan,
        m: &ModifyTable,
        child: Node,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let rti = *m
            .result_relations
            .first()
            .ok_or_else(|| PgError::internal("ModifyTable without a relation"))?;
        let rel = run.relation(rti)?;
        // Expressions stored in catalogs have varno 1.
        let mut own = RowColumns {
            rti: 1,
            excluded: i32::MIN,
            width: rel.columns.columns.len(),
            row: rel.columns.clone(),
            header: false,
        };
        let update_colnos = m.update_colnos.first().cloned().unwrap_or_default();
        let mut set: Vec<AttrNo> = update_colnos.clone();
        set.extend(rel.generated.iter().map(|g| g.0));
        let mut indexes = Vec::new();
        for i in &rel.indexes {
            indexes.push(IndexUse::new(i, &set, &mut own, run)?);
        }
        let mut checks = Vec::new();
        for c in &rel.checks {
            checks.push((c.name.clone(), compile(&c.expr, &mut own, run)?));
        }
        let mut generated = Vec::new();
        for (n, e) in &rel.generated {
            generated.push((*n, compile(e, &mut own, run)?));
        }
        let mut cols = RowColumns {
            rti,
            excluded: m.on_conflict.as_ref().map_or(i32::MIN, |c| c.excl_rel_rti),
            ..own
        };
        let list = m.returning_lists.first().map_or(&[][..], Vec::as_slice);
        let returning = if list.is_empty() {
            None
        } else {
            let mut programs = Vec::new();
            for t in list {
                programs.push(compile(&t.expr, &mut cols, run)?);
            }
            Some(Returning { programs, template: batch_for(&plan.info.target_list, run)? })
        };
        let mut wcos = Vec::new();
        for w in m.with_check_options.iter().flatten() {
            if let Some(q) = &w.qual {
                wcos.push((w.relname.clone(), compile(q, &mut cols, run)?));
            }
        }
        let conflict = match &m.on_conflict {
            Some(c) => Some(Conflict::new(c, &rel, &mut cols, run)?),
            None => None,
        };
        let header = cols.header.then(|| header::Header::new(&rel)).transpose()?;
        let targets = &m.child.info.target_list;
        let ctid = targets
            .iter()
            .position(|t| t.resjunk && t.resname.as_deref() == Some("ctid"))
            .unwrap_or(usize::MAX);
        let all_columns: Vec<AttrNo> = (1..=rel.columns.columns.len() as i16).collect();
        let attrs = &rel.table.tupdesc.attrs;
        let not_null = (0..attrs.len()).filter(|&i| attrs[i].not_null && !attrs[i].dropped);
        let reads_row =
            returning.is_some() || !checks.is_empty() || !wcos.is_empty() || !generated.is_empty();
        Ok(Box::new(ModifyNode {
            child,
            operation: m.operation,
            rti,
            set_tag: m.can_set_tag,
            entry_columns: entries::columns_of(&rel, &indexes),
            indexes,
            entry_fetch: None,
            checks,
            generated,
            not_null: not_null.collect(),
            update: change::Update::new(&rel, m.operation, update_colnos, &set, reads_row),
            ctid,
            returning,
            wcos,
            header,
            conflict,
            inserted: 0,
            conflicting: 0,
            recheck: Recheck::new(&m.child, &m.row_marks),
            row_by_row: m.row_by_row,
            st: EvalState::default(),
            all_columns,
            old_fetch: None,
            done: false,
            rel,
        }))
    }

    fn count(&self, run: &mut Run<'_>) {
        if self.set_tag {
            run.st.processed += 1;
        }
    }

    /// True if checks or generated columns must be evaluated over each new row.
    fn evaluates_rows(&self) -> bool {
        !self.checks.is_empty() || !self.generated.is_empty()
    }

    fn event(
        &self,
        run: &mut Run<'_>,
        old: Option<(&[DatumRef<'_>], Tid)>,
        new: Option<(&[DatumRef<'_>], Tid)>,
    ) -> Result<()> {
        if !self.rel.row_events {
            return Ok(());
        }
        let owned = |row: &[DatumRef<'_>]| -> Vec<Datum> {
            row.iter().map(|d| DatumRef::to_owned(*d)).collect()
        };
        let old_row = old.map(|o| owned(o.0));
        let new_row = new.map(|n| owned(n.0));
        run.sv.row_event(RowEvent {
            rel: &self.rel,
            old: old_row.as_deref(),
            new: new_row.as_deref(),
            old_tid: old.map_or(Tid::INVALID, |o| o.1),
            new_tid: new.map_or(Tid::INVALID, |n| n.1),
        })
    }

    /// Appends the RETURNING columns for a changed row to `out`.
    fn push_returning(
        &mut self,
        run: &mut Run<'_>,
        row: &[DatumRef<'_>],
        tid: Tid,
        child: (&Batch, usize),
        out: &mut Batch,
    ) -> Result<()> {
        if self.returning.is_none() {
            return Ok(());
        }
        let tid_bytes = tid.to_bytes();
        let full = self.with_system(run, row, tid, &tid_bytes)?;
        let Some(r) = &self.returning else { return Ok(()) };
        let input = RowInput {
            scan: RowRef::Refs(&full),
            outer: RowRef::Batch(child.0, child.1),
            inner: RowRef::Nulls,
        };
        for (p, column) in r.programs.iter().zip(&mut out.columns) {
            let v = p.eval_row(&mut self.st, run, &input)?;
            column.push(v.as_ref());
        }
        out.len += 1;
        Ok(())
    }

    fn insert_row(
        &mut self,
        run: &mut Run<'_>,
        batch: &Batch,
        r: usize,
        out: &mut Batch,
    ) -> Result<()> {
        let given: Refs<'_> = (0..self.all_columns.len()).map(|c| batch.get(r, c)).collect();
        let computed = self.generate(run, &given)?;
        let whole;
        let row: &[DatumRef<'_>] = if computed.is_empty() {
            &given
        } else {
            whole = with_computed(&given, &computed);
            &whole
        };
        self.check_row(run, row)?;
        if self.conflict.is_some() {
            return self.insert_on_conflict(run, batch, r, row, out);
        }
        let options = insert_options(run);
        let tid = table::insert(run.sv.backend(), &self.rel.table, row, options)?;
        self.insert_entries(run, row, tid, None, false)?;
        self.event(run, None, Some((row, tid)))?;
        self.check_views(run, row, tid)?;
        self.count(run);
        self.push_returning(run, row, tid, (batch, r), out)
    }

    /// Inserts a whole batch, if nothing must be evaluated between the rows.
    fn insert_batch(
        &mut self,
        run: &mut Run<'_>,
        mut rows: Batch,
        bulk: &mut table::BulkInsert,
    ) -> Result<()> {
        rows.columns.truncate(self.all_columns.len());
        let has_null = |i: &usize| rows.columns[*i].nulls.as_ref().is_some_and(|n| n.any());
        if self.evaluates_rows() || self.not_null.iter().any(has_null) {
            let mut done = table::new_batch(&self.rel.table, &self.all_columns);
            for r in 0..rows.len {
                let given: Refs<'_> = rows.row(r).collect();
                let computed = self.generate(run, &given)?;
                let row = with_computed(&given, &computed);
                self.check_row(run, &row)?;
                done.push_row(&row);
            }
            rows = done;
        }
        let mut tids = Vec::with_capacity(rows.len);
        let options = insert_options(run);
        table::multi_insert(run.sv.backend(), &self.rel.table, &rows, options, bulk, &mut tids)?;
        if !self.indexes.is_empty() || self.rel.row_events {
            for (r, tid) in tids.iter().enumerate() {
                let row: Refs<'_> = rows.row(r).collect();
                self.insert_entries(run, &row, *tid, None, false)?;
                self.event(run, None, Some((&row[..], *tid)))?;
            }
        }
        if self.set_tag {
            run.st.processed += rows.len as u64;
        }
        Ok(())
    }
}

/// Options for an insertion by the running statement.
fn insert_options(run: &Run<'_>) -> InsertOptions {
    InsertOptions { command: Some(run.st.desc.snapshot.curcid), ..InsertOptions::default() }
}

/// The row with the computed values in place.
fn with_computed<'a>(row: &[DatumRef<'a>], computed: &'a Computed) -> Refs<'a> {
    let mut out: Refs<'a> = row.iter().copied().collect();
    for (i, v) in computed {
        out[*i] = v.as_ref();
    }
    out
}

impl Exec for ModifyNode {
    fn report(&self, counts: &mut Counts) {
        counts.inserted = self.inserted;
        counts.conflicting = self.conflicting;
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if self.done {
            return Ok(None);
        }
        let mut out = match &self.returning {
            Some(r) => r.template.clone(),
            None => Batch::default(),
        };
        let whole_batches = self.operation == CmdType::Insert
            && self.returning.is_none()
            && self.wcos.is_empty()
            && self.conflict.is_none();
        let mut bulk: Option<table::BulkInsert> = None;
        loop {
            run.interrupts()?;
            let ask = if self.row_by_row {
                1
            } else if whole_batches || self.returning.is_none() {
                types::BATCH_ROWS_MAX
            } else {
                want - out.len
            };
            let Some(batch) = self.child.next(run, ask)? else {
                self.done = true;
                break;
            };
            match self.operation {
                CmdType::Insert if whole_batches && batch.len > 1 => {
                    let bulk = match &mut bulk {
                        Some(b) => b,
                        slot => slot.insert(table::BulkInsert::without_ring()),
                    };
                    self.insert_batch(run, batch, bulk)?;
                    continue;
                }
                CmdType::Insert => {
                    for r in 0..batch.len {
                        self.insert_row(run, &batch, r, &mut out)?;
                    }
                }
                _ => {
                    for r in 0..batch.len {
                        self.change_row(run, &batch, r, &mut out)?;
                    }
                }
            }
            self.child.recycle(batch);
            if out.len >= want {
                break;
            }
        }
        if let Some(bulk) = bulk {
            bulk.finish(run.sv.backend(), &self.rel.table)?;
        }
        Ok(if out.len == 0 { None } else { Some(out) })
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        Err(PgError::internal("a data-modifying plan cannot be run twice"))
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.done = false;
        for (_, batch) in self.old_fetch.iter_mut().chain(&mut self.entry_fetch) {
            if crate::project::is_large(batch) {
                *batch = Batch::new(batch.columns.iter().map(types::Column::is_by_val));
            }
        }
        Ok(self.recheck.reset(run)? & self.child.reset(run)?)
    }
}
