//! The rows of set-returning SQL functions, returned one at a time: the rows of the last statement,
//! if it is a plain query. Counterpart: `fmgr_sql` with `lazyEval`.

use super::{Body, in_statement, parameters, query_of, run_step, startup, value, with_parameters};
use crate::function::Call;
use crate::function::language::{ReadyRows, RunningSet, SetRows};
use crate::query;
use crate::state::State;
use analyze::function::{Column, ResultForm};
use catalog::Row;
use catalog::rows::PgProc;
use pgerror::Result;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Datum};

/// Starts a call: runs all statements except the last one, which is run row by row if that is
/// permitted.
pub(super) fn start(state: &mut State, call: &Call<'_>, columns: &[Column]) -> Result<RunningSet> {
    let params = parameters(call.args);
    with_parameters(state, params.clone(), |state| {
        let body = startup(state, call, columns)?;
        let Some((last, first)) = body.steps.split_last() else {
            return Ok(RunningSet { whole: true, rows: ReadyRows::boxed(Vec::new()) });
        };
        let number = first.len();
        for step in first.iter().enumerate() {
            run_step(state, (call.row, &body), step, params.clone(), None)?;
        }
        if let Some(planned) = last.stoppable()
            && body.form != ResultForm::Discarded
        {
            let rows = query::Rows::open(state, query_of(call.row, planned, params.clone()))
                .map_err(|e| in_statement(e, call.row, number))?;
            let ahead = if planned.reads_ahead { BATCH_ROWS_MAX } else { 1 };
            let row = call.row.clone();
            let rows = SqlRows { body, row, params, rows, number, ahead, want: 1 };
            return Ok(RunningSet { whole: true, rows: Box::new(rows) });
        }
        let rows = run_step(state, (call.row, &body), (number, last), params, None)?;
        let mut values = Vec::new();
        if body.form != ResultForm::Discarded {
            for fields in rows {
                values.push(vec![value(state, &body, fields)?]);
            }
        }
        Ok(RunningSet { whole: true, rows: ReadyRows::boxed(values) })
    })
}

struct SqlRows {
    body: Arc<Body>,
    row: Row<PgProc>,
    params: Arc<[Datum]>,
    rows: query::Rows,
    /// Number of the statement.
    number: usize,
    /// Maximum number of rows that may be computed before they are needed.
    ahead: usize,
    /// Number of rows to compute next. It is doubled up to `ahead`, so that little is computed for
    /// a caller that needs few rows.
    want: usize,
}

impl SetRows for SqlRows {
    fn next(&mut self, state: &mut State, out: &mut Vec<Datum>) -> Result<bool> {
        let (rows, want) = (&mut self.rows, self.want);
        let (name, notices) = (self.body.name.clone(), state.notices.len());
        let level = state.calls.contexts.push_sql_function(name, self.number, notices);
        let next = with_parameters(state, self.params.clone(), |state| rows.next(state, want));
        state.calls.contexts.note(&mut state.notices);
        state.calls.contexts.truncate(level);
        let Some(fields) = next.map_err(|e| in_statement(e, &self.row, self.number))? else {
            return Ok(false);
        };
        self.want = (2 * want).min(self.ahead);
        out.push(value(state, &self.body, fields)?);
        Ok(true)
    }
}
