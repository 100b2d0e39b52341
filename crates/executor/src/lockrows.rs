//! Row locks: SELECT FOR UPDATE, FOR SHARE and so on. Counterpart: nodeLockRows.c.

use crate::epq::{Recheck, ctid_column, tableoid_column, tid_of};
use crate::node::{Exec, Node};
use crate::run::Run;
use engine::table::{self, LockRow, RowLock, RowOutcome, RowWait};
use ids::RelKind;
use pgerror::{PgError, Result, pg_err};
use plan::node::{Plan, PlanRowMark};
use plan::query::{LockStrength, LockWaitPolicy};
use rowops::relation::OpenRel;
use std::sync::Arc;
use types::Batch;

struct Mark {
    rti: i32,
    rel: Arc<OpenRel>,
    column: usize,
    /// For a member of a table: the column with the OID of the row's table.
    tableoid: Option<usize>,
    lock: RowLock,
    wait: RowWait,
}

/// Fails with 42809 for a relation whose rows cannot be locked. Sequences, TOAST relations and
/// views are refused even if only other relations of the query are locked. Counterpart:
/// `CheckValidRowMarkRel`.
fn check_lockable(rel: &OpenRel, strength: LockStrength) -> Result<()> {
    let what = match rel.kind {
        RelKind::Table | RelKind::PartitionedTable => return Ok(()),
        RelKind::MaterializedView | RelKind::ForeignTable if strength == LockStrength::None => {
            return Ok(());
        }
        RelKind::Sequence => "sequence",
        RelKind::Toast => "TOAST relation",
        RelKind::View => "view",
        RelKind::MaterializedView => "materialized view",
        _ => "relation",
    };
    Err(pg_err!(WRONG_OBJECT_TYPE, "cannot lock rows in {what} \"{}\"", rel.table.name))
}

pub(crate) struct LockRowsNode {
    child: Node,
    marks: Vec<Mark>,
    recheck: Recheck,
}

impl LockRowsNode {
    pub(crate) fn boxed(
        plan: &Plan,
        row_marks: &[PlanRowMark],
        child: Node,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let mut marks = Vec::new();
        for m in row_marks.iter().filter(|m| !m.is_parent) {
            let rel = run.relation(m.rti)?;
            check_lockable(&rel, m.strength)?;
            let lock = match m.strength {
                LockStrength::None => continue,
                LockStrength::ForKeyShare => RowLock::KeyShare,
                LockStrength::ForShare => RowLock::Share,
                LockStrength::ForNoKeyUpdate => RowLock::NoKeyUpdate,
                LockStrength::ForUpdate => RowLock::Update,
            };
            let wait = match m.wait_policy {
                LockWaitPolicy::Block => RowWait::Block,
                LockWaitPolicy::Skip => RowWait::Skip,
                LockWaitPolicy::Error => RowWait::Error,
            };
            let column = ctid_column(plan, m)
                .ok_or_else(|| PgError::internal("rows to be locked have no ctid column"))?;
            let tableoid = tableoid_column(plan, m);
            marks.push(Mark { rti: m.rti, rel, column, tableoid, lock, wait });
        }
        let recheck = Recheck::new(plan, row_marks, &run.st.desc.plan.rtable);
        Ok(Box::new(LockRowsNode { child, marks, recheck }))
    }

    /// Locks the rows from which the result row was computed. Returns the result row, recomputed if
    /// one of them has a new version, or `None` if it no longer qualifies or is skipped.
    fn lock(&mut self, run: &mut Run<'_>, row: Batch) -> Result<Option<Batch>> {
        let mut row = row;
        let command = Some(run.st.desc.snapshot.curcid);
        let mut i = 0;
        while i < self.marks.len() {
            let m = &self.marks[i];
            i += 1;
            // The null-extended side of an outer join has no row to lock.
            let Some(tid) = tid_of(row.get(0, m.column)) else { continue };
            if m.tableoid.is_some_and(|c| row.get(0, c).as_oid() != m.rel.table.oid) {
                continue;
            }
            let mut scratch = table::new_batch(&m.rel.table, &[]);
            // Under REPEATABLE READ and SERIALIZABLE a concurrent update is an error; under READ
            // COMMITTED the newest version is locked.
            let follow = !run.sv.backend().txn.isolation().uses_transaction_snapshot();
            let (outcome, now) = table::lock_row(
                run.sv.backend(),
                &m.rel.table,
                tid,
                LockRow { lock: m.lock, wait: m.wait, follow, command },
                &[],
                &mut scratch,
            )?;
            match outcome {
                RowOutcome::Ok if now == tid => {}
                RowOutcome::Ok => {
                    let rti = m.rti;
                    match self.recheck.run(run, rti, now, (&row, 0))? {
                        // Continue with the new version, which is already locked.
                        Some(new) => row = new,
                        None => return Ok(None),
                    }
                }
                RowOutcome::WouldBlock
                | RowOutcome::SelfModified { .. }
                | RowOutcome::Invisible => {
                    return Ok(None);
                }
                RowOutcome::Updated { .. } | RowOutcome::Deleted { .. } => {
                    if run.sv.backend().txn.isolation().uses_transaction_snapshot() {
                        return Err(pg_err!(
                            T_R_SERIALIZATION_FAILURE,
                            "could not serialize access due to concurrent update"
                        ));
                    }
                    return Ok(None);
                }
            }
        }
        Ok(Some(row))
    }
}

impl Exec for LockRowsNode {
    fn is_volatile(&self) -> bool {
        true
    }

    fn next(&mut self, run: &mut Run<'_>, _: usize) -> Result<Option<Batch>> {
        // One row at a time, so that no row beyond LIMIT is locked.
        loop {
            run.interrupts()?;
            let Some(row) = self.child.next(run, 1)? else { return Ok(None) };
            if row.len == 0 {
                continue;
            }
            if let Some(out) = self.lock(run, row)? {
                return Ok(Some(out));
            }
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        Ok(self.recheck.reset(run)? & self.child.reset(run)?)
    }
}
