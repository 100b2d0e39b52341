//! INSERT, UPDATE and DELETE of a view whose triggers change the rows in its place. Counterpart:
//! `ExecIRInsertTriggers`, `ExecIRUpdateTriggers`, `ExecIRDeleteTriggers`.

use super::ModifyNode;
use crate::run::Run;
use ids::Tid;
use pgerror::{PgError, Result};
use plan::query::CmdType;
use rowops::trigger::{BeforeRowResult, ProposedChange, RowVersion, Timing};
use rowops::write::Refs;
use types::{Batch, Datum, DatumRef};

impl ModifyNode {
    /// Passes a row for insertion to the triggers. `source` is the row of the child.
    pub(super) fn insert_instead(
        &mut self,
        run: &mut Run<'_>,
        source: (&Batch, usize),
        given: &[DatumRef<'_>],
        out: &mut Batch,
    ) -> Result<()> {
        self.instead(run, source, (None, Some(given)), out)
    }

    /// Passes an UPDATE or DELETE of a row of the view to the triggers.
    pub(super) fn change_instead(
        &mut self,
        run: &mut Run<'_>,
        source: (&Batch, usize),
        out: &mut Batch,
    ) -> Result<()> {
        let (batch, r) = source;
        let whole = batch.get(r, self.wholerow);
        if whole.is_null() {
            return Err(PgError::internal("wholerow is NULL"));
        }
        let old = eval::row_columns(run, whole)?;
        let old: Refs<'_> = old.iter().map(Datum::as_ref).collect();
        if self.operation == CmdType::Delete {
            return self.instead(run, source, (Some(&old), None), out);
        }
        let mut new = old.clone();
        for (position, n) in self.target.update.columns.iter().enumerate() {
            new[*n as usize - 1] = batch.get(r, position);
        }
        self.instead(run, source, (Some(&old), Some(&new)), out)
    }

    fn instead(
        &mut self,
        run: &mut Run<'_>,
        source: (&Batch, usize),
        (old, new): (Option<&[DatumRef<'_>]>, Option<&[DatumRef<'_>]>),
        out: &mut Batch,
    ) -> Result<()> {
        let answer = run.sv.before_row(ProposedChange {
            rel: &self.target.rel,
            timing: Timing::Instead,
            old: old.map(|values| RowVersion { tid: Tid::INVALID, values }),
            new,
            updated: &self.target.writer.updated,
        })?;
        let replaced: Refs<'_>;
        let row = match &answer {
            BeforeRowResult::Skip => return Ok(()),
            BeforeRowResult::Keep => new.or(old).unwrap_or_default(),
            BeforeRowResult::Replace(row) => {
                replaced = row.iter().map(Datum::as_ref).collect();
                &replaced[..]
            }
        };
        if new.is_some() {
            self.check_views(run, row, Tid::INVALID)?;
        }
        self.count(run);
        self.push_returning(run, row, Tid::INVALID, source, out)
    }
}
