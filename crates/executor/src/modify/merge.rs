//! MERGE: the actions for matched and unmatched rows. Counterpart: nodeModifyTable.c (`ExecMerge`).

use super::change::Update;
use super::{ModifyNode, RowColumns};
use crate::epq::tid_of;
use crate::node::{compile, compile_all};
use crate::run::Run;
use engine::table::{self, LockRow, RowOutcome};
use eval::{Program, RowInput, RowRef};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result, bail, pg_err};
use plan::node::MergeActionPlan;
use plan::query::CmdType;
use rowops::trigger::{Change, Timing};
use rowops::write::{Refs, RowWriter};
use types::{Batch, Datum};

/// An action for the rows of one relation.
pub(super) struct Action {
    matched: bool,
    command: CmdType,
    condition: Option<Program>,
    /// INSERT: all columns of the relation that the statement names; UPDATE: the columns of `set`.
    values: Vec<Program>,
    set: Vec<AttrNo>,
    /// Exchanged with that of the target while the action is executed.
    update: Update,
}

impl Action {
    pub(super) fn new(
        plan: &MergeActionPlan,
        writer: &RowWriter,
        cols: &mut RowColumns,
        run: &mut Run<'_>,
    ) -> Result<Action> {
        let mut values = Vec::with_capacity(plan.target_list.len());
        for t in &plan.target_list {
            values.push(compile(&t.expr, cols, run)?);
        }
        let condition = match plan.condition.as_slice() {
            [] => None,
            list => Some(compile_all(list, cols, run)?),
        };
        let set = plan.update_colnos.clone();
        let update = Update::new(writer, plan.command, set.clone(), true);
        Ok(Action { matched: plan.matched, command: plan.command, condition, values, set, update })
    }

    pub(super) fn command(&self) -> CmdType {
        self.command
    }

    pub(super) fn set(&self) -> &[AttrNo] {
        &self.set
    }
}

impl ModifyNode {
    /// Executes the first action that applies to a row of the child.
    pub(super) fn merge_row(
        &mut self,
        run: &mut Run<'_>,
        batch: &Batch,
        r: usize,
        out: &mut Batch,
    ) -> Result<()> {
        let Some(mut tid) = tid_of(batch.get(r, self.ctid)) else {
            return self.merge_unmatched(run, (batch, r), out);
        };
        if !self.others.is_empty() {
            self.select_target(batch, r)?;
        }
        let mut current: Option<Batch> = None;
        loop {
            run.interrupts()?;
            let source = current.as_ref().map_or((batch, r), |b| (b, 0));
            let Some(outcome) = self.merge_matched(run, tid, source, out)? else { return Ok(()) };
            let one_snapshot = run.sv.backend().txn.isolation().uses_transaction_snapshot();
            match outcome {
                RowOutcome::Ok => {
                    self.count(run);
                    return Ok(());
                }
                RowOutcome::SelfModified { cmax } => {
                    self.self_modified(run, cmax, CmdType::Merge)?;
                    return Err(again());
                }
                RowOutcome::WouldBlock => return Ok(()),
                RowOutcome::Invisible => {
                    return Err(PgError::internal("attempted to change an invisible tuple"));
                }
                RowOutcome::Deleted { .. } if one_snapshot => {
                    bail!(
                        T_R_SERIALIZATION_FAILURE,
                        "could not serialize access due to concurrent delete"
                    );
                }
                RowOutcome::Deleted { .. } => return self.merge_unmatched(run, source, out),
                RowOutcome::Updated { .. } if one_snapshot => {
                    bail!(
                        T_R_SERIALIZATION_FAILURE,
                        "could not serialize access due to concurrent update"
                    );
                }
                RowOutcome::Updated { .. } => {
                    let Some((newest, fresh)) = self.merge_newest(run, tid, source, out)? else {
                        return Ok(());
                    };
                    if tid_of(fresh.get(0, self.ctid)).is_none() {
                        return self.merge_unmatched(run, (&fresh, 0), out);
                    }
                    current = Some(fresh);
                    tid = newest;
                }
            }
        }
    }

    /// Locks the newest version of a row that was updated concurrently, and joins it again. `None`
    /// if there is nothing left to do.
    fn merge_newest(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
        out: &mut Batch,
    ) -> Result<Option<(Tid, Batch)>> {
        let rel = self.target.rel.clone();
        let mut scratch = table::new_batch(&rel.table, &[]);
        let lock = self.target.update.lock_mode();
        let command = Some(run.st.desc.snapshot.curcid);
        let how = LockRow { follow: true, command, ..LockRow::version(lock) };
        let be = run.sv.backend();
        let (locked, newest) = table::lock_row(be, &rel.table, tid, how, &[], &mut scratch)?;
        match locked {
            RowOutcome::Ok => {
                let fresh = self.recheck.run(run, self.target.rti, newest, source)?;
                Ok(fresh.map(|fresh| (newest, fresh)))
            }
            RowOutcome::SelfModified { cmax } => {
                self.self_modified(run, cmax, CmdType::Merge)?;
                Err(again())
            }
            RowOutcome::Deleted { .. } => {
                self.merge_unmatched(run, source, out)?;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Executes the first action for matched rows whose condition is true. `None` if there is none,
    /// or nothing was changed.
    fn merge_matched(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
        out: &mut Batch,
    ) -> Result<Option<RowOutcome>> {
        if self.target.merge.iter().all(|a| !a.matched) {
            return Ok(None);
        }
        let old = self.take_old(run, tid)?;
        let outcome = self.merge_old(run, tid, source, &old.1, out);
        self.put_old(old);
        outcome
    }

    fn merge_old(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
        old: &Batch,
        out: &mut Batch,
    ) -> Result<Option<RowOutcome>> {
        let before: Refs<'_> = old.row(0).collect();
        let tid_bytes = tid.to_bytes();
        let full = self.with_system(run, &before, tid, &tid_bytes)?;
        let input = RowInput {
            scan: RowRef::Refs(&full),
            outer: RowRef::Batch(source.0, source.1),
            inner: RowRef::Nulls,
        };
        let mut chosen = None;
        for (at, action) in self.target.merge.iter().enumerate().filter(|(_, a)| a.matched) {
            let holds = match &action.condition {
                Some(p) => p.test_row(&mut self.st, run, &input)?,
                None => true,
            };
            if holds {
                chosen = Some(at);
                break;
            }
        }
        let Some(at) = chosen else { return Ok(None) };
        let action = &self.target.merge[at];
        let command = action.command;
        if command == CmdType::Nothing {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(action.values.len());
        for p in &action.values {
            values.push(p.eval_row(&mut self.st, run, &input)?.into_owned());
        }
        let target = &mut *self.target;
        std::mem::swap(&mut target.update, &mut target.merge[at].update);
        target.writer.updated = target.update.set().to_vec();
        let done = self.merge_change(run, tid, source, (command, old, &values), out);
        let target = &mut *self.target;
        std::mem::swap(&mut target.update, &mut target.merge[at].update);
        let done = done?;
        if done == Some(RowOutcome::Ok) {
            match command {
                CmdType::Update => self.merged.updated += 1,
                _ => self.merged.deleted += 1,
            }
        }
        Ok(done)
    }

    /// UPDATE or DELETE with the target's present description.
    fn merge_change(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
        (command, old, values): (CmdType, &Batch, &[Datum]),
        out: &mut Batch,
    ) -> Result<Option<RowOutcome>> {
        if self.target.update.is_before() {
            let outcome = self.lock_for_triggers(run, tid)?;
            if outcome != RowOutcome::Ok {
                return Ok(Some(outcome));
            }
        }
        if command == CmdType::Delete {
            return self.delete_read_row(run, tid, source, old, out);
        }
        let mut given: Refs<'_> = old.row(0).collect();
        for (value, n) in values.iter().zip(self.target.update.columns.iter()) {
            given[*n as usize - 1] = value.as_ref();
        }
        self.update_given(run, tid, source, (old, &given), out)
    }

    /// Executes the first action for unmatched rows whose condition is true.
    fn merge_unmatched(
        &mut self,
        run: &mut Run<'_>,
        source: (&Batch, usize),
        out: &mut Batch,
    ) -> Result<()> {
        let input = RowInput {
            scan: RowRef::Nulls,
            outer: RowRef::Batch(source.0, source.1),
            inner: RowRef::Nulls,
        };
        let mut values: Option<Vec<Datum>> = None;
        for action in self.target.merge.iter().filter(|a| !a.matched) {
            let holds = match &action.condition {
                Some(p) => p.test_row(&mut self.st, run, &input)?,
                None => true,
            };
            if !holds {
                continue;
            }
            if action.command == CmdType::Insert {
                let mut row = Vec::with_capacity(action.values.len());
                for p in &action.values {
                    row.push(p.eval_row(&mut self.st, run, &input)?.into_owned());
                }
                values = Some(row);
            }
            break;
        }
        let Some(values) = values else { return Ok(()) };
        let row: Refs<'_> = values.iter().map(Datum::as_ref).collect();
        let before = run.st.processed;
        if self.routing.is_some() {
            self.insert_routed(run, source, &row, out)?;
        } else {
            self.select_named()?;
            self.insert_values(run, source, &row, out)?;
        }
        self.merged.inserted += run.st.processed - before;
        Ok(())
    }

    /// Reports the start or the end of the statement for each kind of action.
    pub(super) fn merge_statement_event(&self, run: &mut Run<'_>, timing: Timing) -> Result<()> {
        let of = |command| self.target.merge.iter().any(|a| a.command() == command);
        let mut changes = Vec::new();
        for (command, change) in [
            (CmdType::Insert, Change::Insert),
            (CmdType::Update, Change::Update),
            (CmdType::Delete, Change::Delete),
        ] {
            changes.extend(of(command).then_some(change));
        }
        if timing == Timing::After {
            changes.reverse();
        }
        let set = self.target.merge.iter().flat_map(|a| a.set().iter().copied());
        let updated: Vec<AttrNo> = set.collect();
        for change in changes {
            run.sv.statement_event(&self.named, change, timing, &updated)?;
        }
        Ok(())
    }

    /// Makes the relation that the statement names the target.
    fn select_named(&mut self) -> Result<()> {
        let named = self.named.table.oid;
        if self.target.rel.table.oid == named {
            return Ok(());
        }
        let found = self.others.iter_mut().find(|t| t.rel.table.oid == named);
        let other = found.ok_or_else(|| PgError::internal("target of MERGE is not open"))?;
        std::mem::swap(&mut self.target, other);
        Ok(())
    }
}

/// The error for a row that several source rows match.
fn again() -> PgError {
    pg_err!(CARDINALITY_VIOLATION, "MERGE command cannot affect row a second time")
        .hint("Ensure that not more than one source row matches any one target row.")
}
