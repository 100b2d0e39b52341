//! The rows of set-returning SQL functions, returned one at a time: the rows of the last statement,
//! if it is a plain query. Counterpart: `fmgr_sql` with `lazyEval`.

use super::{Body, in_statement, parameters, query_of, run_step, startup, value, with_parameters};
use crate::core::Core;
use crate::function::Call;
use crate::function::language::{ReadyRows, RunningSet, SetRows};
use crate::query;
use analyze::function::{Column, ResultForm};
use catalog::Row;
use catalog::rows::PgProc;
use pgerror::Result;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Datum};

/// Starts a call: runs all statements except the last one, which is run row by row if that is
/// permitted.
pub(super) fn start(core: &mut Core, call: &Call<'_>, columns: &[Column]) -> Result<RunningSet> {
    let params = parameters(call.args);
    with_parameters(core, params.clone(), |core| {
        let body = startup(core, call, columns)?;
        let Some((last, first)) = body.steps.split_last() else {
            return Ok(RunningSet { whole: true, rows: ReadyRows::boxed(Vec::new()) });
        };
        let number = first.len();
        for step in first.iter().enumerate() {
            run_step(core, (call.row, &body), step, params.clone(), None)?;
        }
        if let Some(planned) = last.stoppable()
            && body.form != ResultForm::Discarded
        {
            let rows = query::Rows::open(core, query_of(call.row, planned, params.clone()))
                .map_err(|e| in_statement(e, call.row, number))?;
            let ahead = if planned.reads_ahead { BATCH_ROWS_MAX } else { 1 };
            let row = call.row.clone();
            let rows = SqlRows { body, row, params, rows, number, ahead, want: 1 };
            return Ok(RunningSet { whole: true, rows: Box::new(rows) });
        }
        let rows = run_step(core, (call.row, &body), (number, last), params, None)?;
        let mut values = Vec::new();
        if body.form != ResultForm::Discarded {
            for fields in rows {
                values.push(vec![value(core, &body, fields)?]);
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
    fn next(&mut self, core: &mut Core, out: &mut Vec<Datum>) -> Result<bool> {
        let (rows, want) = (&mut self.rows, self.want);
        let (name, notices) = (self.body.name.clone(), core.notices.len());
        let level = core.calls.contexts.push_sql_function(name, self.number, notices);
        let next = with_parameters(core, self.params.clone(), |core| rows.next(core, want));
        core.calls.contexts.note(&mut core.notices);
        core.calls.contexts.truncate(level);
        let Some(fields) = next.map_err(|e| in_statement(e, &self.row, self.number))? else {
            return Ok(false);
        };
        self.want = (2 * want).min(self.ahead);
        out.push(value(core, &self.body, fields)?);
        Ok(true)
    }
}
