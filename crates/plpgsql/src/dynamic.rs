//! Dynamic statements. Those whose text was executed before at the same place are not parsed and
//! analysed again. A new text that only computes expressions is evaluated without a plan.

use crate::frame::Frame;
use crate::host::{Host, Outcome};
use crate::instance::{Kind, Prepared};
use crate::prepare::program;
use crate::tree::{SqlMode, SqlNo, VarNo};
use eval::{EvalState, Program, RowInput, RowRef, Volatility};
use ids::Oid;
use pgerror::Result;
use plan::query::{CmdType, Query};
use std::sync::Arc;
use types::Datum;

/// Values of the parameters of a dynamic statement with their types.
pub(crate) type Parameters = Vec<(Datum, Oid)>;

/// Maximum number of texts that are kept for one place, and of bytes of a text.
const KNOWN_MAX: usize = 4;
const TEXT_BYTES_MAX: usize = 4096;

/// An analysed dynamic query.
pub(crate) struct Dynamic {
    text: Arc<str>,
    param_types: Box<[Oid]>,
    prepared: Arc<Prepared>,
}

impl Dynamic {
    fn is(&self, text: &str, params: &Parameters) -> bool {
        let same_types = self.param_types.iter().eq(params.iter().map(|(_, ty)| ty));
        same_types && *self.text == *text
    }
}

impl Frame<'_> {
    /// The analysed query of this text, if it is known at this place and valid for the current
    /// state of the catalogs. Its relations are locked.
    pub(crate) fn known_dynamic(
        &mut self,
        host: &mut dyn Host,
        place: SqlNo,
        text: &str,
        params: &Parameters,
    ) -> Result<Option<Arc<Prepared>>> {
        let stamp = self.stamp;
        let known = &mut self.instance.sql[place].dynamic;
        known.retain(|d| d.prepared.stamp == stamp);
        let Some(found) = known.iter().find(|d| d.is(text, params)) else { return Ok(None) };
        let prepared = found.prepared.clone();
        let Kind::Query { statement, .. } = &prepared.kind else { return Ok(None) };
        if host.lock(statement)? {
            return Ok(Some(prepared));
        }
        self.refresh(host)?;
        Ok(None)
    }

    /// True if the expression has returned the text before; from now on it has.
    pub(crate) fn note_text(&mut self, place: SqlNo, text: &Arc<str>) -> bool {
        let seen = &mut self.instance.sql[place].seen;
        if seen.contains(text) {
            return true;
        }
        if text.len() <= TEXT_BYTES_MAX {
            if seen.len() >= KNOWN_MAX {
                seen.remove(0);
            }
            seen.push(text.clone());
        }
        false
    }

    /// Compiles a query that computes a row and does nothing else; `None` for another one.
    pub(crate) fn compile_row(
        &self,
        host: &mut dyn Host,
        query: &Query,
        params: &Parameters,
    ) -> Result<Option<Kind>> {
        if !query.computes_targets_only() || !query.row_marks.is_empty() {
            return Ok(None);
        }
        let slots: Vec<VarNo> = (0..params.len()).collect();
        let (mut targets, mut mutable) = (Vec::with_capacity(query.target_list.len()), false);
        for target in &query.target_list {
            host.check_functions(&target.expr)?;
            mutable |= eval::volatility(&target.expr, host)? != Volatility::Immutable;
            targets.push(program(host, target.expr.clone(), &slots)?);
        }
        Ok(Some(Kind::Row { targets: targets.into(), mutable }))
    }

    /// Computes the row of [`Kind::Row`].
    pub(crate) fn compute_row(
        &mut self,
        host: &mut dyn Host,
        (targets, mutable): (&[Program], bool),
        text: &Arc<str>,
        params: &Parameters,
    ) -> Result<Outcome> {
        let fresh = mutable && !self.code.function.read_only;
        let params: Vec<Datum> = params.iter().map(|(value, _)| value.clone()).collect();
        let row = self.in_statement(host, (text, SqlMode::Statement), |host| {
            let snapshots = if fresh { Some(host.push_snapshot()?) } else { None };
            let input = RowInput::scan(RowRef::Owned(&params));
            let value = |target: &Program| {
                let value = target.eval_row(&mut EvalState::default(), host, &input)?;
                Ok(value.into_owned())
            };
            let row = targets.iter().map(value).collect::<Result<Vec<Datum>>>();
            if let Some(count) = snapshots {
                host.pop_snapshots(count);
            }
            row
        })?;
        if mutable {
            self.refresh(host)?;
        }
        Ok(Outcome { rows: vec![row], processed: 1, command: CmdType::Select })
    }

    /// Keeps the analysed query of a text that consists of it.
    pub(crate) fn keep_dynamic(
        &mut self,
        place: SqlNo,
        (text, params): (&Arc<str>, &Parameters),
        prepared: &Arc<Prepared>,
    ) {
        let Kind::Query { statement, .. } = &prepared.kind else { return };
        if text.len() > TEXT_BYTES_MAX || statement.depends_on_time {
            return;
        }
        let known = &mut self.instance.sql[place].dynamic;
        if known.len() >= KNOWN_MAX {
            known.remove(0);
        }
        known.push(Dynamic {
            text: text.clone(),
            param_types: params.iter().map(|(_, ty)| *ty).collect(),
            prepared: prepared.clone(),
        });
    }
}
