//! INSERT, UPDATE, DELETE. Counterpart: nodeModifyTable.c.
//!
//! Values are borrowed, not copied: a new row is a list of references into the child's batch, the
//! old version's columns and the values computed for it. An UPDATE reads the old row only if
//! something refers to columns that it does not set; otherwise storage copies those columns from
//! the old version.
//!
//! Reading order: this file (construction, INSERT), `change` (UPDATE and DELETE), `conflict` (ON
//! CONFLICT), `instead` (rows of views), `routed` (rows of partitions),
//! `merge` (MERGE), `header` (system columns of changed rows). Rows are stored
//! by [`rowops::write`].

mod change;
mod conflict;
mod header;
mod instead;
mod merge;
mod routed;

use crate::epq::Recheck;
use crate::instrument::Counts;
use crate::node::{Exec, Node, batch_for, compile};
use crate::project::{is_volatile, is_volatile_child};
use crate::run::Run;
use conflict::Conflict;
use engine::table::{self, InsertOptions, RowFetch};
use eval::{EvalState, Program, Resolve, RowInput, RowRef, Slot, Source};
use ids::{AttrNo, RelKind, Tid};
use pgerror::{PgError, Result, pg_err};
use plan::expr::{Expr, TargetEntry, Var};
use plan::node::{ModifyTable, Plan};
use plan::query::CmdType;
use rowops::relation::OpenRel;
use rowops::trigger::{BeforeRowResult, Change, ProposedChange, Timing};
use rowops::write::{Refs, RowWriter, WriteHost, with_computed};
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};

/// Resolves the columns of the changed row (system columns follow the user columns), the child's
/// output (`OUTER`), and the row proposed for insertion (EXCLUDED), which is the inner row.
struct RowColumns {
    rti: i32,
    excluded: i32,
    width: usize,
    row: Arc<types::fn_context::RowDesc>,
    /// An expression refers to a system column of the tuple header.
    header: bool,
    /// For a partition: its column (an index) for each column of the partitioned table, over which
    /// the expressions are.
    map: Option<Arc<[Option<usize>]>>,
}

impl Resolve for RowColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let source = match var.varno {
            Var::OUTER => {
                return Ok(Slot { source: Source::Outer, column: var.varattno as usize - 1 });
            }
            rti if rti == self.rti => Source::Scan,
            rti if rti == self.excluded => Source::Inner,
            _ => return Err(PgError::internal("column of another relation in a changed row")),
        };
        if var.varattno > 0 {
            return Ok(Slot { source, column: self.index_of(var.varattno)? });
        }
        let position = header::position(var.varattno)?;
        self.header |= header::is_stored(var.varattno);
        Ok(Slot { source, column: self.width + position })
    }

    fn whole_row(&mut self, var: &Var) -> Result<(Vec<Slot>, Arc<types::fn_context::RowDesc>)> {
        let source = if var.varno == self.excluded { Source::Inner } else { Source::Scan };
        let mut slots = Vec::with_capacity(self.row.columns.len());
        for (column, attno) in self.row.columns.iter().zip(1..) {
            // A dropped column is not read.
            let column = if column.is_dropped() { 0 } else { self.index_of(attno)? };
            slots.push(Slot { source, column });
        }
        Ok((slots, self.row.clone()))
    }
}

struct Returning {
    programs: Vec<Program>,
    template: Batch,
}

impl Returning {
    /// `None` if the statement has no RETURNING clause.
    fn new(
        plan: &Plan,
        list: &[TargetEntry],
        cols: &mut RowColumns,
        run: &mut Run<'_>,
    ) -> Result<Option<Returning>> {
        if list.is_empty() {
            return Ok(None);
        }
        let mut programs = Vec::new();
        for t in list {
            programs.push(compile(&t.expr, cols, run)?);
        }
        let template = batch_for(&plan.info.target_list, run)?;
        Ok(Some(Returning { programs, template }))
    }
}

/// A relation that the statement modifies, with everything that depends on its columns.
struct Target {
    rti: i32,
    rel: Arc<OpenRel>,
    writer: RowWriter,
    update: change::Update,
    returning: Option<Returning>,
    wcos: Vec<(String, Program)>,
    /// Set if RETURNING, check options or ON CONFLICT refer to columns of the tuple header.
    header: Option<header::Header>,
    conflict: Option<Conflict>,
    merge: Vec<merge::Action>,
    all_columns: Vec<AttrNo>,
    old_fetch: Option<(RowFetch, Batch)>,
}

impl Target {
    /// The result relation at this position of the plan's lists.
    fn new(plan: &Plan, m: &ModifyTable, at: usize, run: &mut Run<'_>) -> Result<Target> {
        let rti = m.result_relations[at];
        let rel = run.relation(rti)?;
        let cols = RowColumns {
            rti,
            excluded: m.on_conflict.as_ref().map_or(i32::MIN, |c| c.excl_rel_rti),
            width: rel.columns.columns.len(),
            row: rel.columns.clone(),
            header: false,
            map: None,
        };
        let named = run.relation(m.nominal_relation)?;
        Target::with_columns(plan, m, (at, rel), cols, (&named, m.nominal_relation), run)
    }

    /// A relation whose expressions, those at this position of the plan's lists, refer to the
    /// columns `cols`. `named`: the relation that the statement names, and its range-table entry.
    fn with_columns(
        plan: &Plan,
        m: &ModifyTable,
        (at, rel): (usize, Arc<OpenRel>),
        mut cols: RowColumns,
        (named, entry): (&Arc<OpenRel>, i32),
        run: &mut Run<'_>,
    ) -> Result<Target> {
        let mut writer = RowWriter::new(&rel, run.sv.as_facts())?;
        writer.set_named(named);
        writer.written = written_columns(run, entry);
        let list = m.returning_lists.get(at).map_or(&[][..], Vec::as_slice);
        let returning = Returning::new(plan, list, &mut cols, run)?;
        let mut wcos = Vec::new();
        for w in m.with_check_options.get(at).into_iter().flatten() {
            if let Some(q) = &w.qual {
                wcos.push((w.relname.clone(), compile(q, &mut cols, run)?));
            }
        }
        let conflict = match &m.on_conflict {
            Some(c) => Some(Conflict::new(c, &writer, &mut cols, run)?),
            None => None,
        };
        let mut actions = Vec::new();
        for action in m.merge_actions.get(at).into_iter().flatten() {
            actions.push(merge::Action::new(action, &writer, &mut cols, run)?);
        }
        let header = cols.header.then(|| header::Header::new(&rel)).transpose()?;
        let update_colnos = m.update_colnos.get(at).cloned().unwrap_or_default();
        let reads_row = returning.is_some() || !wcos.is_empty();
        let update = change::Update::new(&writer, m.operation, update_colnos, reads_row);
        writer.updated = match &conflict {
            Some(c) => c.updated().to_vec(),
            None => update.set().to_vec(),
        };
        Ok(Target {
            rti: cols.rti,
            update,
            returning,
            wcos,
            header,
            conflict,
            merge: actions,
            all_columns: (1..=rel.columns.columns.len() as i16).collect(),
            old_fetch: None,
            writer,
            rel,
        })
    }

    /// True if functions are called before a row is changed by this command, or in its place.
    fn calls_triggers(&self, command: CmdType) -> bool {
        let calls = |change| {
            let triggers = &self.rel.triggers;
            triggers.are_before_row(change) || triggers.are_instead(change)
        };
        match command {
            CmdType::Insert => {
                let updates = self.conflict.as_ref().is_some_and(Conflict::updates);
                calls(Change::Insert) || updates && calls(Change::Update)
            }
            CmdType::Update => calls(Change::Update),
            CmdType::Delete => calls(Change::Delete),
            _ => calls(Change::Insert) || calls(Change::Update) || calls(Change::Delete),
        }
    }

    fn reset(&mut self) {
        if let Some((_, batch)) = &mut self.old_fetch
            && rowops::spare::is_large(batch)
        {
            *batch = Batch::new(batch.columns.iter().map(types::Column::is_by_val));
        }
        self.writer.reset();
    }
}

/// The numbers of rows that MERGE has changed.
#[derive(Clone, Copy, Default)]
struct Merged {
    inserted: u64,
    updated: u64,
    deleted: u64,
}

pub(crate) struct ModifyNode {
    child: Node,
    operation: CmdType,
    set_tag: bool,
    /// The relation that the statement names.
    named: Arc<OpenRel>,
    /// The relation of the row that is being changed.
    target: Box<Target>,
    /// The other result relations. The child's column `tableoid` identifies the relation of a row.
    // Boxes, so that one of them can be exchanged with `target` without a copy.
    #[allow(clippy::vec_box)]
    others: Vec<Box<Target>>,
    tableoid: usize,
    /// Column of the child with the row's TID; that with the old row of a view.
    ctid: usize,
    wholerow: usize,
    /// INSERT ON CONFLICT: number of rows inserted, and of rows that conflicted.
    inserted: u64,
    conflicting: u64,
    merged: Merged,
    /// Set if the statement names a partitioned table and may insert rows.
    routing: Option<Box<routed::Routing>>,
    recheck: Recheck,
    /// A row is written before functions are called for the next one.
    row_by_row: bool,
    /// The child computes several rows before the first one is written.
    reads_ahead: bool,
    st: EvalState,
    tids: Vec<Tid>,
    started: bool,
    done: bool,
}

/// The columns to which the statement itself assigns values, which error messages may show.
fn written_columns(run: &Run<'_>, rti: i32) -> Vec<AttrNo> {
    let rte = run.st.desc.plan.rtable.get((rti - 1).max(0) as usize);
    rte.map_or_else(Vec::new, |r| r.inserted_cols.iter().chain(&r.updated_cols).copied().collect())
}

/// True if an expression that is evaluated after a row is written calls a volatile function.
fn evaluates_volatile(m: &ModifyTable, run: &mut Run<'_>) -> Result<bool> {
    let mut exprs: Vec<&Expr> = Vec::new();
    exprs.extend(m.returning_lists.iter().flatten().map(|t| &t.expr));
    exprs.extend(m.with_check_options.iter().flatten().filter_map(|w| w.qual.as_ref()));
    if let Some(c) = &m.on_conflict {
        exprs.extend(c.set.iter().map(|t| &t.expr).chain(&c.where_));
    }
    for action in m.merge_actions.iter().flatten() {
        exprs.extend(action.target_list.iter().map(|t| &t.expr).chain(&action.condition));
    }
    for e in exprs {
        if is_volatile(e, run)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl ModifyNode {
    pub(crate) fn boxed(
        plan: &Plan,
        m: &ModifyTable,
        child: Node,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        if m.result_relations.is_empty() {
            return Err(PgError::internal("ModifyTable without a relation"));
        }
        let mut others = Vec::with_capacity(m.result_relations.len());
        for at in 0..m.result_relations.len() {
            others.push(Box::new(Target::new(plan, m, at, run)?));
        }
        let target = others.remove(0);
        let named = run.relation(m.nominal_relation)?;
        let mut routing = None;
        if named.kind == RelKind::PartitionedTable && m.operation != CmdType::Delete {
            let rti = m.nominal_relation;
            routing = Some(Box::new(routed::Routing::new(plan, m, rti, run)?));
        }
        let list = &m.child.info.target_list;
        let junk = |name: &str| {
            let found = list.iter().position(|t| t.resjunk && t.resname.as_deref() == Some(name));
            found.unwrap_or(usize::MAX)
        };
        let all = || std::iter::once(&target).chain(&others);
        let row_by_row = m.row_by_row
            || all().any(|t| t.writer.reads_changes())
            || all().any(|t| t.calls_triggers(m.operation))
            || evaluates_volatile(m, run)?;
        let waits = m.row_by_row || (row_by_row && is_volatile_child(&m.child, run)?);
        Ok(Box::new(ModifyNode {
            child,
            operation: m.operation,
            set_tag: m.can_set_tag,
            named,
            tableoid: junk("tableoid"),
            ctid: junk("ctid"),
            wholerow: junk("wholerow"),
            target,
            others,
            inserted: 0,
            conflicting: 0,
            merged: Merged::default(),
            routing,
            recheck: Recheck::new(&m.child, &m.row_marks, &run.st.desc.plan.rtable)
                .with_result_relations(&m.result_relations),
            row_by_row,
            reads_ahead: !waits,
            st: EvalState::default(),
            tids: Vec::new(),
            started: false,
            done: false,
        }))
    }

    /// Selects the result relation of a row of the child.
    fn select_target(&mut self, batch: &Batch, r: usize) -> Result<()> {
        let relation = batch.get(r, self.tableoid).as_oid();
        if self.target.rel.table.oid == relation {
            return Ok(());
        }
        let found = self.others.iter_mut().find(|t| t.rel.table.oid == relation);
        let other = found.ok_or_else(|| {
            PgError::internal(format!("row of relation {relation}, which is not modified"))
        })?;
        std::mem::swap(&mut self.target, other);
        Ok(())
    }

    fn count(&self, run: &mut Run<'_>) {
        if self.set_tag {
            run.st.processed += 1;
        }
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
        if self.target.returning.is_none() {
            return Ok(());
        }
        let tid_bytes = tid.to_bytes();
        let full = self.with_system(run, row, tid, &tid_bytes)?;
        let Some(r) = &self.target.returning else { return Ok(()) };
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

    /// Checks WITH CHECK OPTION of views, after all constraints and unique indexes of the table.
    fn check_views(&mut self, run: &mut Run<'_>, row: &[DatumRef<'_>], tid: Tid) -> Result<()> {
        if self.target.wcos.is_empty() {
            return Ok(());
        }
        let tid_bytes = tid.to_bytes();
        let full = self.with_system(run, row, tid, &tid_bytes)?;
        for (view, p) in &self.target.wcos {
            let v = p.eval_row(&mut self.st, run, &RowInput::scan(RowRef::Refs(&full)))?;
            if v.is_null() || !v.as_ref().as_bool() {
                let e = pg_err!(
                    WITH_CHECK_OPTION_VIOLATION,
                    "new row violates check option for view \"{view}\""
                );
                return Err(self.target.writer.with_row(run, e, row)?);
            }
        }
        Ok(())
    }

    /// Reports the start or the end of the statement to the triggers of the table.
    fn statement_event(&self, run: &mut Run<'_>, timing: Timing) -> Result<()> {
        if self.named.triggers.is_empty() {
            return Ok(());
        }
        let updates = self.target.conflict.as_ref().is_some_and(Conflict::updates);
        if self.operation == CmdType::Merge {
            return self.merge_statement_event(run, timing);
        }
        let changes: &[Change] = match (self.operation, timing) {
            (CmdType::Update, _) => &[Change::Update],
            (CmdType::Delete, _) => &[Change::Delete],
            (_, Timing::Before) if updates => &[Change::Insert, Change::Update],
            _ if updates => &[Change::Update, Change::Insert],
            _ => &[Change::Insert],
        };
        for &change in changes {
            run.sv.statement_event(&self.named, change, timing, &self.target.writer.updated)?;
        }
        Ok(())
    }

    fn insert_row(
        &mut self,
        run: &mut Run<'_>,
        batch: &Batch,
        r: usize,
        out: &mut Batch,
    ) -> Result<()> {
        let given: Refs<'_> = (0..self.target.all_columns.len()).map(|c| batch.get(r, c)).collect();
        if self.target.rel.kind == RelKind::View {
            return self.insert_instead(run, (batch, r), &given, out);
        }
        if self.routing.is_some() {
            return self.insert_routed(run, (batch, r), &given, out).map(|_| ());
        }
        self.insert_values(run, (batch, r), &given, out).map(|_| ())
    }

    /// Inserts a row with the columns of the target; returns its TID, unless it was not inserted.
    /// `(batch, r)`: the row of the child.
    fn insert_values(
        &mut self,
        run: &mut Run<'_>,
        (batch, r): (&Batch, usize),
        given: &[DatumRef<'_>],
        out: &mut Batch,
    ) -> Result<Option<Tid>> {
        let answer = match self.target.rel.triggers.are_before_row(Change::Insert) {
            true => {
                let (rel, new) = (&self.target.rel, Some(given));
                let timing = Timing::Before;
                run.sv.before_row(ProposedChange { rel, timing, old: None, new, updated: &[] })?
            }
            false => BeforeRowResult::Keep,
        };
        let replaced: Refs<'_>;
        let given: &[DatumRef<'_>] = match &answer {
            BeforeRowResult::Keep => given,
            BeforeRowResult::Skip => return Ok(None),
            BeforeRowResult::Replace(row) => {
                replaced = row.iter().map(Datum::as_ref).collect();
                &replaced
            }
        };
        let computed = self.target.writer.compute(run, given)?;
        let whole;
        let row: &[DatumRef<'_>] = if computed.is_empty() {
            given
        } else {
            whole = with_computed(given, &computed);
            &whole
        };
        self.target.writer.check(run, row)?;
        if self.target.conflict.is_some() {
            return self.insert_on_conflict(run, batch, r, row, out).map(|()| None);
        }
        let tid = self.target.writer.insert(run, row, insert_options(run))?;
        self.check_views(run, row, tid)?;
        self.count(run);
        self.push_returning(run, row, tid, (batch, r), out)?;
        Ok(Some(tid))
    }

    /// Inserts a batch, if nothing must be evaluated between its rows. The rows before a failing
    /// one are written first, because one of them may fail as well.
    fn insert_batch(
        &mut self,
        run: &mut Run<'_>,
        mut rows: Batch,
        bulk: &mut table::BulkInsert,
    ) -> Result<()> {
        rows.columns.truncate(self.target.all_columns.len());
        let (rows, completed) = self.target.writer.complete(run, rows);
        let how = insert_options(run);
        let places = (&mut self.tids, &mut None);
        self.target.writer.insert_batch(run, &rows, how, bulk, places)?;
        completed?;
        if self.set_tag {
            run.st.processed += rows.len as u64;
        }
        Ok(())
    }
}

/// Options for insertions of the running statement.
fn insert_options(run: &Run<'_>) -> InsertOptions {
    InsertOptions { command: Some(run.st.desc.snapshot.curcid), ..InsertOptions::default() }
}

impl WriteHost for Run<'_> {
    fn expressions(&mut self) -> &mut dyn eval::Host {
        self
    }

    fn services(&mut self) -> &mut dyn rowops::services::Services {
        self.sv
    }
}

impl Exec for ModifyNode {
    fn report(&self, counts: &mut Counts) {
        counts.inserted = self.inserted + self.merged.inserted;
        counts.conflicting = self.conflicting;
        (counts.updated, counts.deleted) = (self.merged.updated, self.merged.deleted);
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if self.done {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.started, true) {
            self.statement_event(run, Timing::Before)?;
        }
        let mut out = match &self.target.returning {
            Some(r) => r.template.clone(),
            None => Batch::default(),
        };
        let whole_batches = self.operation == CmdType::Insert
            && self.target.returning.is_none()
            && self.target.wcos.is_empty()
            && self.target.conflict.is_none()
            && !self.row_by_row
            && self.target.rel.kind != RelKind::View;
        let mut bulk: Option<table::BulkInsert> = None;
        let mut collected = routed::Collected::default();
        loop {
            run.interrupts()?;
            let ask = if !self.reads_ahead {
                1
            } else if whole_batches || self.target.returning.is_none() {
                types::BATCH_ROWS_MAX
            } else {
                want - out.len
            };
            let batch = match self.child.next(run, ask) {
                Ok(batch) => batch,
                // Errors of the rows before come first.
                Err(e) => return self.insert_collected(run, &mut collected).and(Err(e)),
            };
            let Some(batch) = batch else {
                self.done = true;
                break;
            };
            match self.operation {
                CmdType::Insert if whole_batches && batch.len > 1 && self.routing.is_some() => {
                    self.insert_routed_batch(run, batch, &mut collected)?;
                    continue;
                }
                CmdType::Insert if whole_batches && batch.len > 1 => {
                    let bulk = match &mut bulk {
                        Some(b) => b,
                        slot => slot.insert(table::BulkInsert::without_ring()),
                    };
                    self.insert_batch(run, batch, bulk)?;
                    continue;
                }
                CmdType::Insert => {
                    self.insert_collected(run, &mut collected)?;
                    for r in 0..batch.len {
                        self.insert_row(run, &batch, r, &mut out)?;
                    }
                }
                CmdType::Merge => {
                    for r in 0..batch.len {
                        self.merge_row(run, &batch, r, &mut out)?;
                    }
                }
                _ if self.target.rel.kind == RelKind::View => {
                    for r in 0..batch.len {
                        self.change_instead(run, (&batch, r), &mut out)?;
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
            bulk.finish(run.sv.backend(), &self.target.rel.table)?;
        }
        self.finish_collected(run, collected)?;
        if self.done {
            self.statement_event(run, Timing::After)?;
        }
        Ok(if out.len == 0 { None } else { Some(out) })
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        Err(PgError::internal("a data-modifying plan cannot be run twice"))
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.done = false;
        self.started = false;
        self.target.reset();
        self.others.iter_mut().for_each(|t| t.reset());
        // Partitions are locked in the transaction that opens them.
        Ok(self.recheck.reset(run)? & self.child.reset(run)? & self.routing.is_none())
    }
}
