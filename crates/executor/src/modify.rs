//! INSERT, UPDATE, DELETE. Counterpart: nodeModifyTable.c, execIndexing.c.

use crate::epq::{Recheck, tid_of};
use crate::node::*;
use crate::relation::{OpenRel, RelIndex, RowEvent};
use crate::run::Run;
use engine::index::{self, Inserted, UniqueCheck};
use engine::table::{self, ChangeOptions, InsertOptions, RowLock, RowOutcome, RowWait, Updated};
use eval::{EvalState, Program, Resolve, RowInput, RowRef, Slot, Source};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result, bail, pg_err};
use plan::expr::*;
use plan::node::{ModifyTable, OnConflictPlan, Plan};
use plan::query::{CmdType, OnConflictAction};
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};

/// Columns of the changed row by number; system columns behind them; the child's output as `OUTER`; the
/// proposed row of ON CONFLICT as the inner row.
struct RowColumns {
    rti: i32,
    excluded: i32,
    width: usize,
    row: Arc<types::fncx::RowDesc>,
}

/// System columns in the row as RETURNING sees it, behind the user columns.
const SYSTEM: [AttrNo; 2] = [-1, -6];

impl Resolve for RowColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let column = |n: AttrNo| -> Result<usize> {
            if n > 0 {
                return Ok(n as usize - 1);
            }
            match SYSTEM.iter().position(|s| *s == n) {
                Some(i) => Ok(self.width + i),
                None => Err(PgError::unsupported("this system column of a changed row")),
            }
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

/// An index with its compiled expressions.
struct IndexUse {
    exprs: Vec<Option<Program>>,
    predicate: Option<Program>,
}

struct Returning {
    programs: Vec<Program>,
    template: Batch,
}

struct Conflict {
    action: OnConflictAction,
    /// Places among the relation's indexes; all unique ones where none is named.
    arbiters: Vec<usize>,
    set: Vec<(AttrNo, Program)>,
    condition: Option<Program>,
}

pub(crate) struct ModifyNode {
    child: Node,
    operation: CmdType,
    rti: i32,
    rel: Arc<OpenRel>,
    set_tag: bool,
    indexes: Vec<IndexUse>,
    checks: Vec<(String, Program)>,
    generated: Vec<(AttrNo, Program)>,
    update_colnos: Vec<AttrNo>,
    /// Column of the child with the row's TID.
    ctid: usize,
    returning: Option<Returning>,
    wcos: Vec<(String, Program)>,
    conflict: Option<Conflict>,
    recheck: Recheck,
    st: EvalState,
    all_columns: Vec<AttrNo>,
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
        // Expressions of the catalogs name the relation as 1.
        let mut own = RowColumns {
            rti: 1,
            excluded: i32::MIN,
            width: rel.columns.columns.len(),
            row: rel.columns.clone(),
        };
        let mut indexes = Vec::new();
        for i in &rel.indexes {
            let mut exprs = Vec::new();
            for e in &i.exprs {
                exprs.push(e.as_ref().map(|e| compile(e, &mut own, run)).transpose()?);
            }
            let predicate = match i.predicate.as_slice() {
                [] => None,
                p => Some(compile_all(p, &mut own, run)?),
            };
            indexes.push(IndexUse { exprs, predicate });
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
            Some(c) => Some(conflict_of(c, &rel, &mut cols, run)?),
            None => None,
        };
        let targets = &m.child.info.target_list;
        let ctid = targets
            .iter()
            .position(|t| t.resjunk && t.resname.as_deref() == Some("ctid"))
            .unwrap_or(usize::MAX);
        let all_columns = (1..=rel.columns.columns.len() as i16).collect();
        Ok(Box::new(ModifyNode {
            child,
            operation: m.operation,
            rti,
            rel,
            set_tag: m.can_set_tag,
            indexes,
            checks,
            generated,
            update_colnos: m.update_colnos.first().cloned().unwrap_or_default(),
            ctid,
            returning,
            wcos,
            conflict,
            recheck: Recheck::new(&m.child, &m.row_marks),
            st: EvalState::default(),
            all_columns,
            done: false,
        }))
    }

    fn count(&self, run: &mut Run<'_>) {
        if self.set_tag {
            run.st.processed += 1;
        }
    }

    /// Computes generated columns and tests NOT NULL, CHECK and view conditions.
    fn complete_row(&mut self, run: &mut Run<'_>, row: &mut [Datum]) -> Result<()> {
        for (n, p) in &self.generated {
            let v =
                p.eval_row(&mut self.st, run, &RowInput::scan(RowRef::Owned(row)))?.into_owned();
            row[*n as usize - 1] = v;
        }
        self.check_row(run, row)
    }

    fn check_row(&mut self, run: &mut Run<'_>, row: &[Datum]) -> Result<()> {
        let rel = self.rel.clone();
        for (i, a) in rel.table.tupdesc.attrs.iter().enumerate() {
            if a.not_null && !a.dropped && row[i].is_null() {
                let name = rel.columns.columns[i].name.clone();
                let mut e = pg_err!(
                    NOT_NULL_VIOLATION,
                    "null value in column \"{name}\" of relation \"{}\" violates not-null constraint",
                    rel.table.name
                )
                .table(rel.table.schema.as_ref(), rel.table.name.as_ref())
                .column(name);
                if let Some(detail) = run.sv.describe_row(&rel, row)? {
                    e = e.detail(detail);
                }
                return Err(e);
            }
        }
        for (name, p) in &self.checks {
            let v = p.eval_row(&mut self.st, run, &RowInput::scan(RowRef::Owned(row)))?;
            if !v.is_null() && !v.as_ref().as_bool() {
                let mut e = pg_err!(
                    CHECK_VIOLATION,
                    "new row for relation \"{}\" violates check constraint \"{name}\"",
                    rel.table.name
                )
                .table(rel.table.schema.as_ref(), rel.table.name.as_ref())
                .constraint(name.clone());
                if let Some(detail) = run.sv.describe_row(&rel, row)? {
                    e = e.detail(detail);
                }
                return Err(e);
            }
        }
        for (view, p) in &self.wcos {
            let v = p.eval_row(&mut self.st, run, &RowInput::scan(RowRef::Owned(row)))?;
            if v.is_null() || !v.as_ref().as_bool() {
                let mut e = pg_err!(
                    WITH_CHECK_OPTION_VIOLATION,
                    "new row violates check option for view \"{view}\""
                );
                if let Some(detail) = run.sv.describe_row(&rel, row)? {
                    e = e.detail(detail);
                }
                return Err(e);
            }
        }
        Ok(())
    }

    /// The index's values for a row; `None` if the row does not belong into it.
    fn index_values(
        &mut self,
        run: &mut Run<'_>,
        place: usize,
        row: &[Datum],
    ) -> Result<Option<Vec<Datum>>> {
        let usage = &self.indexes[place];
        let input = RowInput::scan(RowRef::Owned(row));
        if let Some(p) = &usage.predicate
            && !p.test_row(&mut self.st, run, &input)?
        {
            return Ok(None);
        }
        let desc = &self.rel.indexes[place].desc;
        let mut values = Vec::with_capacity(desc.columns.len());
        for (i, &attno) in desc.columns.iter().enumerate() {
            values.push(match usage.exprs.get(i).and_then(Option::as_ref) {
                Some(p) => p.eval_row(&mut self.st, run, &input)?.into_owned(),
                None => row[attno as usize - 1].clone(),
            });
        }
        Ok(Some(values))
    }

    /// Entries for a new row version in all indexes. `Err(place, tid)` inside: a conflict with the row at
    /// `tid` in an arbiter index.
    fn insert_entries(
        &mut self,
        run: &mut Run<'_>,
        row: &[Datum],
        tid: Tid,
        arbiters: Option<&[usize]>,
    ) -> Result<Option<Tid>> {
        let rel = self.rel.clone();
        for (place, idx) in rel.indexes.iter().enumerate() {
            let Some(values) = self.index_values(run, place, row)? else { continue };
            let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
            let speculative = arbiters.is_some_and(|a| a.contains(&place));
            let check = if !idx.unique {
                UniqueCheck::No
            } else if speculative || idx.deferrable {
                UniqueCheck::Partial
            } else {
                UniqueCheck::Yes
            };
            let be = run.sv.backend();
            match index::insert(be, &idx.desc, &rel.table, &refs, tid, check, false)? {
                Inserted::Done { unique: false } if speculative => return Ok(Some(tid)),
                Inserted::Done { unique: false } if idx.deferrable => {
                    // The constraint is not deferred within a statement here: look again now that all
                    // entries are in.
                    if index::find_conflict(be, &idx.desc, &rel.table, &refs, Some(tid))?.is_some()
                    {
                        return Err(self.duplicate(run, idx, &values)?);
                    }
                }
                Inserted::Done { .. } => {}
                Inserted::Conflict { .. } => return Err(self.duplicate(run, idx, &values)?),
            }
        }
        Ok(None)
    }

    fn duplicate(&self, run: &mut Run<'_>, idx: &RelIndex, values: &[Datum]) -> Result<PgError> {
        let types: Vec<ids::Oid> =
            idx.desc.schema.columns.iter().map(|c| c.attr.type_oid).collect();
        let mut text = Vec::new();
        for (v, ty) in values.iter().zip(types).take(idx.desc.schema.key_count) {
            text.push(match v.as_ref() {
                DatumRef::Null => "null".to_string(),
                v => String::from_utf8_lossy(&run.sv.type_output(ty, v)?).into_owned(),
            });
        }
        let values = text.join(", ");
        Ok(index::unique_violation(&idx.desc, &self.rel.table, &idx.columns_text, Some(&values)))
    }

    fn event(
        &self,
        run: &mut Run<'_>,
        old: Option<(&[Datum], Tid)>,
        new: Option<(&[Datum], Tid)>,
    ) -> Result<()> {
        if !self.rel.row_events {
            return Ok(());
        }
        run.sv.row_event(RowEvent {
            rel: &self.rel,
            old: old.map(|o| o.0),
            new: new.map(|n| n.0),
            old_tid: old.map_or(Tid::INVALID, |o| o.1),
            new_tid: new.map_or(Tid::INVALID, |n| n.1),
        })
    }

    /// Adds RETURNING's columns for a changed row.
    fn give_back(
        &mut self,
        run: &mut Run<'_>,
        row: &[Datum],
        tid: Tid,
        child: (&Batch, usize),
        out: &mut Batch,
    ) -> Result<()> {
        let Some(r) = &self.returning else { return Ok(()) };
        let mut full = row.to_vec();
        full.push(Datum::bytes(tid.to_bytes().to_vec()));
        full.push(Datum::oid(self.rel.table.oid));
        let input = RowInput {
            scan: RowRef::Owned(&full),
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
        let width = self.all_columns.len();
        let mut row: Vec<Datum> = (0..width).map(|c| batch.get(r, c).to_owned()).collect();
        self.complete_row(run, &mut row)?;
        if self.conflict.is_some() {
            return self.insert_or(run, batch, r, row, out);
        }
        let tid = {
            let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
            table::insert(run.sv.backend(), &self.rel.table, &refs, InsertOptions::default())?
        };
        self.insert_entries(run, &row, tid, None)?;
        self.event(run, None, Some((&row, tid)))?;
        self.count(run);
        self.give_back(run, &row, tid, (batch, r), out)
    }

    /// All rows of a batch at once, where nothing looks at single rows in between.
    fn insert_batch(
        &mut self,
        run: &mut Run<'_>,
        batch: Batch,
        bulk: &mut table::BulkInsert,
    ) -> Result<()> {
        let width = self.all_columns.len();
        let mut rows = batch;
        rows.columns.truncate(width);
        let must_look = !self.generated.is_empty()
            || !self.checks.is_empty()
            || !self.wcos.is_empty()
            || self.rel.table.tupdesc.attrs.iter().any(|a| a.not_null);
        if must_look {
            let mut done = table::new_batch(&self.rel.table, &self.all_columns);
            for r in 0..rows.len {
                let mut row = rows.row_owned(r);
                self.complete_row(run, &mut row)?;
                let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
                done.push_row(&refs);
            }
            rows = done;
        }
        let mut tids = Vec::with_capacity(rows.len);
        let options = InsertOptions::default();
        table::multi_insert(run.sv.backend(), &self.rel.table, &rows, options, bulk, &mut tids)?;
        if !self.indexes.is_empty() || self.rel.row_events {
            for (r, tid) in tids.iter().enumerate() {
                let row = rows.row_owned(r);
                self.insert_entries(run, &row, *tid, None)?;
                self.event(run, None, Some((&row, *tid)))?;
            }
        }
        if self.set_tag {
            run.st.processed += rows.len as u64;
        }
        Ok(())
    }

    /// INSERT … ON CONFLICT.
    fn insert_or(
        &mut self,
        run: &mut Run<'_>,
        batch: &Batch,
        r: usize,
        row: Vec<Datum>,
        out: &mut Batch,
    ) -> Result<()> {
        let arbiters = self.conflict.as_ref().map(|c| c.arbiters.clone()).unwrap_or_default();
        loop {
            run.interrupts()?;
            // Look first; most conflicts end here without a trace in the table.
            let mut found = None;
            for &place in &arbiters {
                let Some(values) = self.index_values(run, place, &row)? else { continue };
                if values.iter().any(Datum::is_null) {
                    continue;
                }
                let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
                let idx = self.rel.indexes[place].desc.clone();
                let be = run.sv.backend();
                if let Some(c) = index::find_conflict(be, &idx, &self.rel.table, &refs, None)? {
                    found = Some(c);
                    break;
                }
            }
            if let Some(c) = found {
                if c.waits_for.is_valid() {
                    run.sv.backend().txn.wait_for_xid(c.waits_for)?;
                    continue;
                }
                let action = self.conflict.as_ref().map(|c| c.action);
                if action == Some(OnConflictAction::Nothing) {
                    return Ok(());
                }
                if self.update_conflicting(run, batch, r, &row, c.tid, out)? {
                    return Ok(());
                }
                continue;
            }
            let token = table::begin_speculative(run.sv.backend())?;
            let options = InsertOptions { speculative_token: token, ..InsertOptions::default() };
            let tid = {
                let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
                table::insert(run.sv.backend(), &self.rel.table, &refs, options)?
            };
            let conflict = self.insert_entries(run, &row, tid, Some(&arbiters))?;
            let keep = conflict.is_none();
            table::finish_speculative(run.sv.backend(), &self.rel.table, tid, token, keep)?;
            if !keep {
                continue;
            }
            self.event(run, None, Some((&row, tid)))?;
            self.count(run);
            return self.give_back(run, &row, tid, (batch, r), out);
        }
    }

    /// ON CONFLICT DO UPDATE for the row in the way; false: it has gone, try again.
    fn update_conflicting(
        &mut self,
        run: &mut Run<'_>,
        batch: &Batch,
        r: usize,
        proposed: &[Datum],
        tid: Tid,
        out: &mut Batch,
    ) -> Result<bool> {
        let mut existing = table::new_batch(&self.rel.table, &self.all_columns);
        let (outcome, at) = table::lock_row(
            run.sv.backend(),
            &self.rel.table,
            tid,
            RowLock::Update,
            RowWait::Block,
            false,
            &self.all_columns,
            &mut existing,
        )?;
        match outcome {
            RowOutcome::Ok => {}
            RowOutcome::Invisible | RowOutcome::SelfModified { .. } => {
                return Err(pg_err!(
                    CARDINALITY_VIOLATION,
                    "ON CONFLICT DO UPDATE command cannot affect row a second time"
                )
                .hint(
                    "Ensure that no rows proposed for insertion within the same command have \
                     duplicate constrained values.",
                ));
            }
            _ => return Ok(false),
        }
        let old = existing.row_owned(0);
        let mut full = old.clone();
        full.push(Datum::bytes(at.to_bytes().to_vec()));
        full.push(Datum::oid(self.rel.table.oid));
        let input = RowInput {
            scan: RowRef::Owned(&full),
            outer: RowRef::Batch(batch, r),
            inner: RowRef::Owned(proposed),
        };
        let Some(c) = &self.conflict else { return Ok(true) };
        if let Some(p) = &c.condition
            && !p.test_row(&mut self.st, run, &input)?
        {
            return Ok(true);
        }
        let mut new = old.clone();
        for (n, p) in &c.set {
            new[*n as usize - 1] = p.eval_row(&mut self.st, run, &input)?.into_owned();
        }
        self.complete_row(run, &mut new)?;
        let done = self.store(run, at, &new)?;
        if done.outcome != RowOutcome::Ok {
            return Ok(false);
        }
        if done.needs_index_entries {
            self.insert_entries(run, &new, done.tid, None)?;
        }
        self.event(run, Some((&old, at)), Some((&new, done.tid)))?;
        self.count(run);
        self.give_back(run, &new, done.tid, (batch, r), out)?;
        Ok(true)
    }

    fn store(&self, run: &mut Run<'_>, tid: Tid, row: &[Datum]) -> Result<Updated> {
        let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
        table::update(run.sv.backend(), &self.rel.table, tid, &refs, ChangeOptions::default())
    }

    fn change_row(
        &mut self,
        run: &mut Run<'_>,
        batch: &Batch,
        r: usize,
        out: &mut Batch,
    ) -> Result<()> {
        let Some(mut tid) = tid_of(batch.get(r, self.ctid)) else {
            return Err(PgError::internal("ctid is NULL"));
        };
        let update = self.operation == CmdType::Update;
        let needs_old = update || self.returning.is_some() || self.rel.row_events;
        let mut current: (Batch, usize) = (Batch::default(), 0);
        let mut replaced = false;
        loop {
            run.interrupts()?;
            let old = if needs_old {
                let mut b = table::new_batch(&self.rel.table, &self.all_columns);
                let any = engine::Snapshot::of_kind(engine::SnapshotKind::Any);
                let be = run.sv.backend();
                table::fetch(be, &self.rel.table, tid, &any, &self.all_columns, &mut b)?;
                if b.len == 0 {
                    return Err(PgError::internal("failed to fetch tuple being updated"));
                }
                b.row_owned(0)
            } else {
                Vec::new()
            };
            let source = if replaced { (&current.0, current.1) } else { (batch, r) };
            let (outcome, new) = if update {
                let mut new = old.clone();
                for (i, n) in self.update_colnos.iter().enumerate() {
                    new[*n as usize - 1] = source.0.get(source.1, i).to_owned();
                }
                self.complete_row(run, &mut new)?;
                let done = self.store(run, tid, &new)?;
                if done.outcome == RowOutcome::Ok {
                    if done.needs_index_entries {
                        self.insert_entries(run, &new, done.tid, None)?;
                    }
                    self.event(run, Some((&old, tid)), Some((&new, done.tid)))?;
                    self.count(run);
                    return self.give_back(run, &new, done.tid, source, out);
                }
                (done.outcome, new)
            } else {
                let be = run.sv.backend();
                let outcome = table::delete(be, &self.rel.table, tid, ChangeOptions::default())?;
                if outcome == RowOutcome::Ok {
                    self.event(run, Some((&old, tid)), None)?;
                    self.count(run);
                    return self.give_back(run, &old, tid, source, out);
                }
                (outcome, old)
            };
            let _ = new;
            match outcome {
                RowOutcome::Ok => return Ok(()),
                // Changed by this very command (a join that met the row twice), or gone: leave it.
                RowOutcome::SelfModified { .. } | RowOutcome::WouldBlock => return Ok(()),
                RowOutcome::Invisible => {
                    return Err(PgError::internal("attempted to change an invisible tuple"));
                }
                RowOutcome::Deleted { .. } => {
                    if run.sv.backend().txn.isolation().uses_transaction_snapshot() {
                        bail!(
                            T_R_SERIALIZATION_FAILURE,
                            "could not serialize access due to concurrent delete"
                        );
                    }
                    return Ok(());
                }
                RowOutcome::Updated { .. } => {
                    if run.sv.backend().txn.isolation().uses_transaction_snapshot() {
                        bail!(
                            T_R_SERIALIZATION_FAILURE,
                            "could not serialize access due to concurrent update"
                        );
                    }
                    // Lock the newest version, then see whether it still qualifies.
                    let lock = if update { RowLock::NoKeyUpdate } else { RowLock::Update };
                    let mut scratch = table::new_batch(&self.rel.table, &[]);
                    let (locked, newest) = table::lock_row(
                        run.sv.backend(),
                        &self.rel.table,
                        tid,
                        lock,
                        RowWait::Block,
                        true,
                        &[],
                        &mut scratch,
                    )?;
                    if locked != RowOutcome::Ok {
                        return Ok(());
                    }
                    let rti = self.rti;
                    let row = if replaced { (&current.0, current.1) } else { (batch, r) };
                    let Some(fresh) = self.recheck.run(run, rti, newest, row)? else {
                        return Ok(());
                    };
                    current = (fresh, 0);
                    replaced = true;
                    tid = newest;
                }
            }
        }
    }
}

fn conflict_of(
    c: &OnConflictPlan,
    rel: &OpenRel,
    cols: &mut RowColumns,
    run: &mut Run<'_>,
) -> Result<Conflict> {
    let mut arbiters: Vec<usize> = rel
        .indexes
        .iter()
        .enumerate()
        .filter(|(_, i)| c.arbiter_indexes.contains(&i.desc.oid))
        .map(|(place, _)| place)
        .collect();
    if c.arbiter_indexes.is_empty() {
        arbiters = (0..rel.indexes.len()).filter(|&i| rel.indexes[i].unique).collect();
    }
    let mut set = Vec::new();
    for (t, n) in c.set.iter().zip(&c.set_cols) {
        set.push((*n, compile(&t.expr, cols, run)?));
    }
    let condition = match c.where_.as_slice() {
        [] => None,
        w => Some(compile_all(w, cols, run)?),
    };
    Ok(Conflict { action: c.action, arbiters, set, condition })
}

impl Exec for ModifyNode {
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
            && self.conflict.is_none();
        let mut bulk: Option<table::BulkInsert> = None;
        loop {
            run.interrupts()?;
            let ask = if whole_batches || self.returning.is_none() {
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
                        slot => {
                            let table = self.rel.table.clone();
                            slot.insert(table::BulkInsert::new(run.sv.backend(), &table))
                        }
                    };
                    self.insert_batch(run, batch, bulk)?;
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
            if out.len >= want {
                break;
            }
        }
        Ok(if out.len == 0 { None } else { Some(out) })
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        Err(PgError::internal("a data-modifying plan cannot be run twice"))
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.done = false;
        Ok(self.recheck.reset(run)? & self.child.reset(run)?)
    }
}
