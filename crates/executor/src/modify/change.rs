//! UPDATE and DELETE of single rows, with the handling of concurrent updates. Counterpart:
//! nodeModifyTable.c (`ExecUpdate`, `ExecDelete`).

use super::ModifyNode;
use crate::epq::tid_of;
use crate::run::{Run, RunState};
use engine::Snapshot;
use engine::table::{self, ChangeOptions, LockRow, RowFetch, RowLock, RowOutcome, Updated};
use ids::{AttrNo, CommandId, Tid};
use pgerror::{PgError, Result, bail, pg_err};
use plan::query::CmdType;
use rowops::relation::OpenRel;
use rowops::trigger::{BeforeRowResult, Change, ProposedChange, RowVersion, Timing};
use rowops::write::{EntryOptions, Refs, RowWriter, columns_unchanged, with_computed};
use types::{Batch, Datum, DatumRef};

/// Description of an UPDATE.
pub(super) struct Update {
    /// Columns set, in the child's order.
    pub(super) columns: Vec<AttrNo>,
    /// The same with the generated columns that depend on them.
    set: Vec<AttrNo>,
    /// Columns copied from the old version.
    keep: Vec<AttrNo>,
    /// Columns set that are NOT NULL: index in the row, and column of the child.
    not_null: Vec<(usize, usize)>,
    /// Generated columns that are computed again, by position in the writer.
    recomputed: Vec<usize>,
    /// For each index: the UPDATE sets no column of its key.
    unchanged: Vec<bool>,
    /// The new row may belong to another partition.
    may_move: bool,
    /// An expression refers to columns of the row that are not set.
    needs_row: bool,
    /// A trigger may depend on a column that is set.
    events: bool,
    /// Triggers fire before a row is changed.
    before: bool,
    /// Lock mode for a row that is about to be changed.
    lock: RowLock,
}

/// Options for a change by the running statement.
fn change_options<'a>(run: &Run<'_>, crosscheck: Option<&'a Snapshot>) -> ChangeOptions<'a> {
    let command = Some(run.st.desc.snapshot.curcid);
    ChangeOptions { command, crosscheck, ..ChangeOptions::default() }
}

/// Lock mode for an update of the columns `set`: an update that changes no key column does not
/// conflict with FOR KEY SHARE locks of foreign-key checks. Counterpart: `ExecUpdateLockMode`.
pub(super) fn update_lock(rel: &OpenRel, set: &[AttrNo]) -> RowLock {
    if rel.table.key_columns.iter().any(|key| set.contains(key)) {
        RowLock::Update
    } else {
        RowLock::NoKeyUpdate
    }
}

impl Update {
    /// `columns`: those that the statement sets. `reads_row`: check options or RETURNING refer to
    /// the row.
    pub(super) fn new(
        writer: &RowWriter,
        operation: CmdType,
        columns: Vec<AttrNo>,
        reads_row: bool,
    ) -> Update {
        let rel = &writer.rel;
        let attrs = &rel.table.tupdesc.attrs;
        let (recomputed, generated) = writer.recomputed(&columns);
        let set = [&columns[..], &generated[..]].concat();
        let live = (1..=attrs.len() as AttrNo).filter(|n| !attrs[*n as usize - 1].dropped);
        let keep = live.filter(|n| !set.contains(n)).collect();
        let not_null = columns
            .iter()
            .enumerate()
            .filter(|(_, n)| writer.is_not_null(**n as usize - 1))
            .map(|(position, n)| (*n as usize - 1, position))
            .collect();
        let triggers = &rel.triggers;
        let events = writer.captures(Change::Update)
            || triggers.are_after_row(Change::Update)
                && triggers
                    .update_columns
                    .as_ref()
                    .is_none_or(|c| c.iter().any(|n| set.contains(n)));
        let before = match operation {
            CmdType::Update => triggers.are_before_row(Change::Update),
            CmdType::Delete => triggers.are_before_row(Change::Delete),
            _ => false,
        };
        let may_move = before || writer.may_leave_partition(&set);
        let needs_row = reads_row
            || events
            || before
            || may_move
            || writer.has_checks()
            || !recomputed.is_empty();
        let lock = match operation {
            CmdType::Update => update_lock(rel, &set),
            _ => RowLock::Update,
        };
        let unchanged = columns_unchanged(rel, &set);
        Update {
            columns,
            set,
            keep,
            not_null,
            recomputed,
            unchanged,
            may_move,
            needs_row,
            events,
            before,
            lock,
        }
    }

    pub(super) fn set(&self) -> &[AttrNo] {
        &self.set
    }

    pub(super) fn lock_mode(&self) -> RowLock {
        self.lock
    }

    /// True if triggers fire before a row is changed.
    pub(super) fn is_before(&self) -> bool {
        self.before
    }

    fn lock(&self, st: &RunState) -> LockRow {
        LockRow { command: Some(st.desc.snapshot.curcid), ..LockRow::version(self.lock) }
    }
}

impl ModifyNode {
    /// Stores a new version; the columns `keep` are copied from the old one.
    pub(super) fn store(
        &self,
        run: &mut Run<'_>,
        tid: Tid,
        row: &[DatumRef<'_>],
        keep: &[AttrNo],
    ) -> Result<Updated> {
        let crosscheck = run.st.crosscheck.clone();
        let options = ChangeOptions { keep, ..change_options(run, crosscheck.as_deref()) };
        table::update(run.sv.backend(), &self.target.rel.table, tid, row, options)
    }

    /// Reads all columns of the version at `tid`; the caller returns the batch by
    /// [`Self::put_old`].
    pub(super) fn take_old(&mut self, run: &mut Run<'_>, tid: Tid) -> Result<(RowFetch, Batch)> {
        let (mut fetch, mut batch) = match self.target.old_fetch.take() {
            Some(x) => x,
            None => (
                RowFetch::new(&self.target.rel.table, &self.target.all_columns)?,
                table::new_batch(&self.target.rel.table, &self.target.all_columns),
            ),
        };
        batch.clear();
        if !fetch.version(run.sv.backend(), tid, &mut batch)? {
            return Err(PgError::internal("failed to fetch tuple being updated"));
        }
        Ok((fetch, batch))
    }

    pub(super) fn put_old(&mut self, old: (RowFetch, Batch)) {
        self.target.old_fetch = Some(old);
    }

    /// Updates a row without reading its old version.
    fn update_set(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
    ) -> Result<RowOutcome> {
        let u = &self.target.update;
        let mut row = Refs::new();
        row.resize(self.target.all_columns.len(), DatumRef::Null);
        for (position, n) in u.columns.iter().enumerate() {
            row[*n as usize - 1] = source.0.get(source.1, position);
        }
        if let Some(&(column, _)) = u.not_null.iter().find(|&&(c, _)| row[c].is_null()) {
            let old = self.take_old(run, tid)?;
            let mut whole: Refs<'_> = old.1.row(0).collect();
            for n in &self.target.update.columns {
                whole[*n as usize - 1] = row[*n as usize - 1];
            }
            return Err(self.target.writer.null_violation(run, column, &whole)?);
        }
        let done = self.store(run, tid, &row, &u.keep)?;
        if done.outcome != RowOutcome::Ok {
            return Ok(done.outcome);
        }
        if done.needs_index_entries && self.target.writer.has_indexes() {
            let how = EntryOptions { arbiters: None, unchanged: &u.unchanged };
            self.target.writer.insert_entries_of(run, done.tid, how)?;
        } else {
            self.target.writer.without_entries();
        }
        if !self.target.rel.triggers.is_empty() && self.is_checked_again(run, &done) {
            self.target.writer.report_update_of(run, tid, done.tid)?;
        }
        Ok(RowOutcome::Ok)
    }

    /// Locks the version, for triggers that fire before it is changed.
    pub(super) fn lock_for_triggers(&self, run: &mut Run<'_>, tid: Tid) -> Result<RowOutcome> {
        let mut nothing = table::new_batch(&self.target.rel.table, &[]);
        let (be, how) = (run.sv.backend(), self.target.update.lock(run.st));
        Ok(table::lock_row(be, &self.target.rel.table, tid, how, &[], &mut nothing)?.0)
    }

    /// Updates a row whose old version has been read. `None` if a trigger prevents that.
    fn update_read_row(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
        old: &Batch,
        out: &mut Batch,
    ) -> Result<Option<RowOutcome>> {
        let mut given: Refs<'_> = old.row(0).collect();
        for (position, n) in self.target.update.columns.iter().enumerate() {
            given[*n as usize - 1] = source.0.get(source.1, position);
        }
        self.update_given(run, tid, source, (old, &given), out)
    }

    /// Updates a row to these values. `None` if a trigger prevents that.
    pub(super) fn update_given(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
        (old, given): (&Batch, &[DatumRef<'_>]),
        out: &mut Batch,
    ) -> Result<Option<RowOutcome>> {
        let before: Refs<'_> = old.row(0).collect();
        let u = &self.target.update;
        let version = RowVersion { tid, values: &before };
        let answer = match u.before {
            true => run.sv.before_row(ProposedChange {
                rel: &self.target.rel,
                timing: Timing::Before,
                old: Some(version),
                new: Some(given),
                updated: &u.set,
            })?,
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
        let computed = match u.before {
            true => self.target.writer.compute(run, given)?,
            false => self.target.writer.compute_some(run, given, &u.recomputed)?,
        };
        let row = with_computed(given, &computed);
        if u.may_move && self.routing.is_some() && !self.target.writer.is_in_partition(run, &row)? {
            return self.move_row(run, tid, source, (old, &row), out);
        }
        self.target.writer.check(run, &row)?;
        let done = self.store(run, tid, &row, if u.before { &[] } else { &u.keep })?;
        if done.outcome != RowOutcome::Ok {
            return Ok(Some(done.outcome));
        }
        if done.needs_index_entries {
            let how = EntryOptions { arbiters: None, unchanged: &u.unchanged };
            self.target.writer.insert_entries(run, &row, done.tid, how)?;
        } else {
            self.target.writer.without_entries();
        }
        if u.events || u.before || self.is_checked_again(run, &done) {
            let new = RowVersion { tid: done.tid, values: &row };
            self.target.writer.report(run, Some(version), Some(new))?;
        }
        self.check_views(run, &row, done.tid)?;
        self.push_returning(run, &row, done.tid, source, out)?;
        Ok(Some(RowOutcome::Ok))
    }

    /// True if an update needs an event although it sets no column that a trigger depends on.
    fn is_checked_again(&self, run: &mut Run<'_>, done: &Updated) -> bool {
        let own = done.old_xmin.is_valid() && run.sv.backend().txn.is_current(done.old_xmin);
        self.target.writer.is_checked_again(own)
    }

    /// Handles a row that the current transaction has changed since the statement began. If the
    /// statement itself changed it, because a join returned the row twice, the second change is
    /// ignored. A change by a function that the statement called is an error.
    pub(super) fn self_modified(
        &self,
        run: &Run<'_>,
        cmax: CommandId,
        command: CmdType,
    ) -> Result<()> {
        if cmax == run.st.desc.snapshot.curcid {
            return Ok(());
        }
        let what = match command {
            CmdType::Delete => "deleted",
            CmdType::Merge => "updated or deleted",
            _ => "updated",
        };
        Err(pg_err!(
            TRIGGERED_DATA_CHANGE_VIOLATION,
            "tuple to be {what} was already modified by an operation triggered by the current \
             command"
        )
        .hint(
            "Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to \
               other rows.",
        ))
    }

    /// Tries to change the version at `tid`. `None` if a trigger prevents that.
    fn try_change(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
        out: &mut Batch,
    ) -> Result<Option<RowOutcome>> {
        if self.target.update.before {
            let outcome = self.lock_for_triggers(run, tid)?;
            if let RowOutcome::SelfModified { cmax } = outcome {
                // The error does not distinguish the commands.
                return self.self_modified(run, cmax, CmdType::Update).map(|()| None);
            }
            if outcome != RowOutcome::Ok {
                return Ok(Some(outcome));
            }
        }
        if self.operation == CmdType::Update {
            if !self.target.update.needs_row {
                return self.update_set(run, tid, source).map(Some);
            }
            let old = self.take_old(run, tid)?;
            let outcome = self.update_read_row(run, tid, source, &old.1, out);
            self.put_old(old);
            return outcome;
        }
        let triggers = &self.target.rel.triggers;
        if self.target.returning.is_none()
            && !self.target.update.before
            && !triggers.are_after_row(Change::Delete)
            && !self.target.writer.captures(Change::Delete)
        {
            return self.delete(run, tid, false).map(Some);
        }
        let old = self.take_old(run, tid)?;
        let outcome = self.delete_read_row(run, tid, source, &old.1, out);
        self.put_old(old);
        outcome
    }

    /// Deletes a row that an UPDATE moves to another partition. `None` if a trigger prevents that.
    pub(super) fn delete_moved_row(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        old: &Batch,
    ) -> Result<Option<RowOutcome>> {
        let row: Refs<'_> = old.row(0).collect();
        let version = RowVersion { tid, values: &row };
        if self.target.rel.triggers.are_before_row(Change::Delete) {
            let outcome = self.lock_for_triggers(run, tid)?;
            if outcome != RowOutcome::Ok {
                return Ok(Some(outcome));
            }
            let (rel, timing) = (&self.target.rel, Timing::Before);
            let old = Some(version);
            let change = ProposedChange { rel, timing, old, new: None, updated: &[] };
            if matches!(run.sv.before_row(change)?, BeforeRowResult::Skip) {
                return Ok(None);
            }
        }
        let outcome = self.delete(run, tid, true)?;
        if outcome == RowOutcome::Ok {
            let is_update = self.operation == CmdType::Update;
            let captured = if is_update { Change::Update } else { Change::Delete };
            self.target.writer.report_departure(run, version, captured)?;
        }
        Ok(Some(outcome))
    }

    /// `changing_partition`: the row moves to another partition.
    fn delete(&self, run: &mut Run<'_>, tid: Tid, changing_partition: bool) -> Result<RowOutcome> {
        let crosscheck = run.st.crosscheck.clone();
        let options = change_options(run, crosscheck.as_deref());
        let options = ChangeOptions { changing_partition, ..options };
        table::delete(run.sv.backend(), &self.target.rel.table, tid, options)
    }

    /// Deletes a row that has been read. `None` if a trigger prevents that.
    pub(super) fn delete_read_row(
        &mut self,
        run: &mut Run<'_>,
        tid: Tid,
        source: (&Batch, usize),
        old: &Batch,
        out: &mut Batch,
    ) -> Result<Option<RowOutcome>> {
        let row: Refs<'_> = old.row(0).collect();
        let version = Some(RowVersion { tid, values: &row });
        if self.target.update.before {
            let (rel, timing) = (&self.target.rel, Timing::Before);
            let change = ProposedChange { rel, timing, old: version, new: None, updated: &[] };
            if matches!(run.sv.before_row(change)?, BeforeRowResult::Skip) {
                return Ok(None);
            }
        }
        let outcome = self.delete(run, tid, false)?;
        if outcome == RowOutcome::Ok {
            self.target.writer.report(run, version, None)?;
            self.push_returning(run, &row, tid, source, out)?;
        }
        Ok(Some(outcome))
    }

    pub(super) fn change_row(
        &mut self,
        run: &mut Run<'_>,
        batch: &Batch,
        r: usize,
        out: &mut Batch,
    ) -> Result<()> {
        let Some(mut tid) = tid_of(batch.get(r, self.ctid)) else {
            return Err(PgError::internal("ctid is NULL"));
        };
        if !self.others.is_empty() {
            self.select_target(batch, r)?;
        }
        let mut current: Option<Batch> = None;
        loop {
            run.interrupts()?;
            let source = current.as_ref().map_or((batch, r), |b| (b, 0));
            let Some(outcome) = self.try_change(run, tid, source, out)? else { return Ok(()) };
            match outcome {
                RowOutcome::Ok => {
                    self.count(run);
                    return Ok(());
                }
                RowOutcome::SelfModified { cmax } => {
                    return self.self_modified(run, cmax, self.operation);
                }
                RowOutcome::WouldBlock => return Ok(()),
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
                    // Lock the newest version, then recheck whether it still qualifies.
                    let mut scratch = table::new_batch(&self.target.rel.table, &[]);
                    let how = LockRow { follow: true, ..self.target.update.lock(run.st) };
                    let (locked, newest) = table::lock_row(
                        run.sv.backend(),
                        &self.target.rel.table,
                        tid,
                        how,
                        &[],
                        &mut scratch,
                    )?;
                    match locked {
                        RowOutcome::Ok => {}
                        RowOutcome::SelfModified { cmax } => {
                            return self.self_modified(run, cmax, self.operation);
                        }
                        _ => return Ok(()),
                    }
                    let Some(fresh) = self.recheck.run(run, self.target.rti, newest, source)?
                    else {
                        return Ok(());
                    };
                    current = Some(fresh);
                    tid = newest;
                }
            }
        }
    }
}
