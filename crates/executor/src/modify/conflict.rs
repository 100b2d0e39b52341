//! INSERT … ON CONFLICT by speculative insertion. Counterpart: nodeModifyTable.c
//! (`ExecOnConflictUpdate`), execIndexing.c (`ExecCheckIndexConstraints`).

use super::change::update_lock;
use super::{ModifyNode, RowColumns, insert_options};
use crate::node::{compile, compile_all};
use crate::run::Run;
use engine::index;
use engine::table::{self, LockRow, RowFetch, RowLock, RowOutcome};
use eval::{Program, RowInput, RowRef, Val};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result, pg_err};
use plan::node::OnConflictPlan;
use plan::query::{CmdType, OnConflictAction};
use rowops::trigger::{BeforeRowResult, Change, ProposedChange, RowVersion, Timing};
use rowops::write::{EntryOptions, Refs, RowWriter, columns_unchanged, with_computed};
use smallvec::SmallVec;
use types::{Batch, Datum, DatumRef};

pub(super) struct Conflict {
    action: OnConflictAction,
    /// Arbiter indexes, by position in `OpenRel::indexes`; all unique indexes if none is named.
    arbiters: Vec<usize>,
    set: Vec<(AttrNo, Program)>,
    condition: Option<Program>,
    /// For each index: DO UPDATE sets no column of its key.
    unchanged: Vec<bool>,
    /// The columns that DO UPDATE changes, generated columns included.
    updated: Vec<AttrNo>,
    /// Generated columns that DO UPDATE computes again, by position in the writer.
    recomputed: Vec<usize>,
    /// Lock mode for the conflicting row before it is updated.
    lock: RowLock,
}

impl Conflict {
    pub(super) fn new(
        c: &OnConflictPlan,
        writer: &RowWriter,
        cols: &mut RowColumns,
        run: &mut Run<'_>,
    ) -> Result<Conflict> {
        let rel = &writer.rel;
        let mut arbiters = Vec::new();
        for (position, i) in rel.indexes.iter().enumerate() {
            let mut is_named = c.arbiter_indexes.contains(&i.desc.oid);
            if writer.routed && !c.arbiter_indexes.is_empty() {
                // The statement names the index of the partitioned table.
                let above = run.sv.index_ancestors(i.desc.oid)?;
                is_named |= above.iter().any(|oid| c.arbiter_indexes.contains(oid));
            }
            if is_named {
                arbiters.push(position);
            }
        }
        if c.arbiter_indexes.is_empty() {
            let is_arbiter =
                |i: &usize| rel.indexes[*i].unique || !rel.indexes[*i].exclusion.is_empty();
            arbiters = (0..rel.indexes.len()).filter(is_arbiter).collect();
        }
        if c.action == OnConflictAction::Update
            && arbiters.iter().any(|i| !rel.indexes[*i].exclusion.is_empty())
        {
            return Err(pg_err!(
                WRONG_OBJECT_TYPE,
                "ON CONFLICT DO UPDATE not supported with exclusion constraints"
            ));
        }
        let mut set = Vec::new();
        let mut set_cols = Vec::with_capacity(c.set_cols.len());
        for (t, n) in c.set.iter().zip(&c.set_cols) {
            let own = cols.index_of(*n)? as AttrNo + 1;
            set_cols.push(own);
            set.push((own, compile(&t.expr, cols, run)?));
        }
        let condition = match c.where_.as_slice() {
            [] => None,
            w => Some(compile_all(w, cols, run)?),
        };
        let (recomputed, generated) = writer.recomputed(&set_cols);
        let changed = [&set_cols[..], &generated[..]].concat();
        let unchanged = columns_unchanged(rel, &changed);
        let lock = update_lock(rel, &changed);
        let action = c.action;
        Ok(Conflict {
            action,
            arbiters,
            set,
            condition,
            unchanged,
            updated: changed,
            recomputed,
            lock,
        })
    }
}

impl Conflict {
    pub(super) fn updated(&self) -> &[AttrNo] {
        &self.updated
    }

    /// True for DO UPDATE.
    pub(super) fn updates(&self) -> bool {
        self.action == OnConflictAction::Update
    }
}

fn not_serializable() -> PgError {
    pg_err!(T_R_SERIALIZATION_FAILURE, "could not serialize access due to concurrent update")
}

impl ModifyNode {
    pub(super) fn insert_on_conflict(
        &mut self,
        run: &mut Run<'_>,
        batch: &Batch,
        r: usize,
        row: &[DatumRef<'_>],
        out: &mut Batch,
    ) -> Result<()> {
        let arbiters =
            self.target.conflict.as_ref().map(|c| c.arbiters.clone()).unwrap_or_default();
        loop {
            run.interrupts()?;
            // Check for a conflict first, so that most conflicts leave no dead tuple.
            let mut found = None;
            let mut excluding = None;
            for &position in &arbiters {
                if self.target.rel.indexes[position].deferrable {
                    return Err(self.deferrable_arbiter(position));
                }
                let Some(values) = self.target.writer.index_values(run, position, row)? else {
                    continue;
                };
                let refs: SmallVec<[DatumRef<'_>; 4]> = values.iter().map(Val::as_ref).collect();
                if !self.target.rel.indexes[position].exclusion.is_empty() {
                    let own: Vec<Datum> = refs.iter().map(|v| DatumRef::to_owned(*v)).collect();
                    let writer = &mut self.target.writer;
                    excluding = writer.find_excluding(run, position, &own, (None, true))?;
                    if excluding.is_some() {
                        break;
                    }
                    continue;
                }
                let idx = self.target.rel.indexes[position].desc.clone();
                let be = run.sv.backend();
                if let Some(c) = index::find_conflict(be, &idx, &self.target.rel.table, &refs)? {
                    found = Some(c);
                    break;
                }
            }
            if let Some(other) = excluding {
                self.check_visible(run, other.tid)?;
                self.conflicting += 1;
                return Ok(());
            }
            if let Some(c) = found {
                if c.wait(run.sv.backend(), &self.target.rel.table)? {
                    continue;
                }
                let action = self.target.conflict.as_ref().map(|c| c.action);
                if action == Some(OnConflictAction::Nothing) {
                    self.check_visible(run, c.tid)?;
                    self.conflicting += 1;
                    return Ok(());
                }
                if self.update_conflicting(run, batch, r, row, c.tid, out)? {
                    self.conflicting += 1;
                    return Ok(());
                }
                continue;
            }
            let how = insert_options(run);
            let inserted = self.target.writer.insert_unless_conflict(run, row, how, &arbiters)?;
            let Some(tid) = inserted else { continue };
            self.inserted += 1;
            self.check_views(run, row, tid)?;
            self.count(run);
            return self.push_returning(run, row, tid, (batch, r), out);
        }
    }

    /// The error for a deferrable arbiter, which cannot detect conflicts because its index may
    /// contain duplicates temporarily.
    fn deferrable_arbiter(&self, position: usize) -> PgError {
        let table = &self.target.rel.table;
        pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as \
             arbiters"
        )
        .table(&*table.schema, &*table.name)
        .constraint(self.target.rel.indexes[position].desc.name())
    }

    /// Under REPEATABLE READ and SERIALIZABLE a conflicting row must be visible to the
    /// transaction's snapshot or inserted by the transaction itself; otherwise it is a
    /// serialization failure. Counterpart: `ExecCheckTupleVisible`.
    fn check_visible(&self, run: &mut Run<'_>, tid: Tid) -> Result<()> {
        let snapshot = run.st.desc.snapshot.clone();
        let be = run.sv.backend();
        if !be.txn.isolation().uses_transaction_snapshot() {
            return Ok(());
        }
        let mut nothing = table::new_batch(&self.target.rel.table, &[]);
        if table::fetch(be, &self.target.rel.table, tid, &snapshot, &[], &mut nothing)? {
            return Ok(());
        }
        let columns = [table::system::XMIN];
        let mut version = table::new_batch(&self.target.rel.table, &columns);
        let there =
            RowFetch::new(&self.target.rel.table, &columns)?.version(be, tid, &mut version)?;
        if there && be.txn.is_current(ids::Xid(version.get(0, 0).as_oid().0)) {
            return Ok(());
        }
        Err(not_serializable())
    }

    /// ON CONFLICT DO UPDATE of the conflicting row; false if it was deleted or updated
    /// concurrently, in which case the caller tries again.
    fn update_conflicting(
        &mut self,
        run: &mut Run<'_>,
        batch: &Batch,
        r: usize,
        proposed: &[DatumRef<'_>],
        tid: Tid,
        out: &mut Batch,
    ) -> Result<bool> {
        let (table, columns) = (&self.target.rel.table, &self.target.all_columns);
        let mut existing = table::new_batch(table, columns);
        let lock = self.target.conflict.as_ref().map_or(RowLock::Update, |c| c.lock);
        let how = LockRow { command: Some(run.st.desc.snapshot.curcid), ..LockRow::version(lock) };
        let backend = run.sv.backend();
        let (outcome, at) = table::lock_row(backend, table, tid, how, columns, &mut existing)?;
        let one_snapshot = run.sv.backend().txn.isolation().uses_transaction_snapshot();
        match outcome {
            RowOutcome::Ok => self.check_visible(run, at)?,
            RowOutcome::Updated { .. } | RowOutcome::Deleted { .. } if one_snapshot => {
                return Err(not_serializable());
            }
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
        let tid_bytes = at.to_bytes();
        let old: Refs<'_> = existing.row(0).collect();
        let full = self.with_system(run, &old, at, &tid_bytes)?;
        let input = RowInput {
            scan: RowRef::Refs(&full),
            outer: RowRef::Batch(batch, r),
            inner: RowRef::Refs(proposed),
        };
        let Some(c) = &self.target.conflict else { return Ok(true) };
        if let Some(p) = &c.condition
            && !p.test_row(&mut self.st, run, &input)?
        {
            return Ok(true);
        }
        let mut set: SmallVec<[(usize, Datum); 1]> = SmallVec::new();
        for (n, p) in &c.set {
            let v = p.eval_row(&mut self.st, run, &input)?.into_owned();
            set.push((*n as usize - 1, v));
        }
        let given = with_computed(&old, &set);
        let version = RowVersion { tid: at, values: &old };
        let before = self.target.rel.triggers.are_before_row(Change::Update);
        let answer = match before {
            true => run.sv.before_row(ProposedChange {
                rel: &self.target.rel,
                timing: Timing::Before,
                old: Some(version),
                new: Some(&given),
                updated: &c.updated,
            })?,
            false => BeforeRowResult::Keep,
        };
        let replaced: Refs<'_>;
        let given: &[DatumRef<'_>] = match &answer {
            BeforeRowResult::Keep => &given,
            BeforeRowResult::Skip => return Ok(true),
            BeforeRowResult::Replace(row) => {
                replaced = row.iter().map(Datum::as_ref).collect();
                &replaced
            }
        };
        let computed = match before {
            true => self.target.writer.compute(run, given)?,
            false => self.target.writer.compute_some(run, given, &c.recomputed)?,
        };
        let new = with_computed(given, &computed);
        if self.target.writer.routed && !self.target.writer.is_in_partition(run, &new)? {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "invalid ON UPDATE specification").detail(
                "The result tuple would appear in a different partition than the original tuple.",
            ));
        }
        self.target.writer.check(run, &new)?;
        let done = self.store(run, at, &new, &[])?;
        match done.outcome {
            RowOutcome::Ok => {}
            // The SET expressions, or a WITH query that they ran, have changed the locked row.
            RowOutcome::SelfModified { cmax } => {
                self.self_modified(run, cmax, CmdType::Update)?;
                return Ok(true);
            }
            _ => return Ok(false),
        }
        if done.needs_index_entries {
            let how = EntryOptions { arbiters: None, unchanged: &c.unchanged };
            self.target.writer.insert_entries(run, &new, done.tid, how)?;
        } else {
            self.target.writer.without_entries();
        }
        let stored = RowVersion { tid: done.tid, values: &new };
        self.target.writer.report(run, Some(version), Some(stored))?;
        self.check_views(run, &new, done.tid)?;
        self.count(run);
        self.push_returning(run, &new, done.tid, (batch, r), out)?;
        Ok(true)
    }
}
