//! The rows of queries, and loops over them. Counterpart: `exec_for_query`, `exec_stmt_fors`,
//! `exec_stmt_dynfors` of pl_exec.c.

use crate::dynamic::Parameters;
use crate::exec::Flow;
use crate::fields::{Fields, RowBatch};
use crate::frame::{Frame, Record};
use crate::host::{Host, RowStream, Run, Stamp, UtilityOutcome};
use crate::instance::{Kind, Prepared};
use crate::loops::{After, after};
use crate::prepare::in_sql;
use crate::query::{no_rows, returns_rows, tag_of, utility_with_rows};
use crate::tree::{ForQuery, RowSource, SqlMode, SqlNo, Stmt, VarKind, VarNo};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::query::CmdType;
use std::sync::Arc;
use types::Datum;
use types::fn_context::RowDesc;

/// Numbers of rows that a loop reads at once: at first, and then.
const ROWS_FIRST: usize = 10;
const ROWS_LATER: usize = 50;

/// The rows of a query.
pub(crate) enum Rows {
    /// They are computed as they are needed.
    Stream(Streamed),
    Ready(std::vec::IntoIter<Vec<Datum>>),
}

/// The rows of a running query.
pub(crate) struct Streamed {
    pub(crate) stream: RowStream,
    /// The rows that were computed together, and the number of the next one.
    rows: Option<Arc<RowBatch>>,
    at: usize,
}

impl Streamed {
    fn new(stream: RowStream) -> Streamed {
        Streamed { stream, rows: None, at: 0 }
    }

    /// The next of the rows that have been computed.
    #[inline]
    fn ready(&mut self) -> Option<Fields> {
        let rows = self.rows.as_ref().filter(|rows| self.at < rows.len())?;
        self.at += 1;
        Some(Fields::of_row(rows, self.at - 1))
    }
}

/// The variables to which a loop assigns rows, as far as these need no conversion.
enum Target {
    /// A record that was assigned a row when the catalogs were in this state; it has this structure
    /// and type.
    Record { record: usize, desc: Arc<RowDesc>, ty: Option<Oid>, stamp: Stamp },
    /// Scalar variables, one for each column.
    Scalars(Box<[VarNo]>),
    /// Rows are assigned by the general rules.
    Other,
}

/// Rows with their structure, and the text and mode for contexts of errors.
pub(crate) struct Opened {
    pub(crate) rows: Rows,
    pub(crate) desc: Arc<RowDesc>,
    pub(crate) text: Arc<str>,
    /// The statement writes.
    pub(crate) writes: bool,
}

/// The rows of a utility statement for a loop or RETURN QUERY.
fn opened_utility(outcome: UtilityOutcome, text: Arc<str>) -> Opened {
    let (desc, rows) = outcome.rows.unwrap_or_default();
    Opened { rows: Rows::Ready(rows.into_iter()), desc, text, writes: false }
}

impl<'f> Frame<'f> {
    /// Starts the query of a loop or RETURN QUERY.
    pub(crate) fn open_rows(
        &mut self,
        host: &mut dyn Host,
        source: &RowSource,
        returns: bool,
    ) -> Result<Opened> {
        match source {
            RowSource::Query(sql) => {
                let prepared = self.prepared(host, *sql, None)?;
                let text = self.code.function.sql[*sql].text.clone();
                match &prepared.kind {
                    Kind::Utility(raw) if returns_rows(raw) => {
                        let outcome = self.utility(host, raw, &text, None)?;
                        return Ok(opened_utility(outcome, text));
                    }
                    Kind::UtilityQuery { raw, statement, .. } if returns_rows(raw) => {
                        self.load(host, &prepared)?;
                        let run = self.run_of(&prepared, usize::MAX)?;
                        let outcome = self.utility(host, raw, &text, Some((statement, &run)))?;
                        return Ok(opened_utility(outcome, text));
                    }
                    _ => {}
                }
                if let Kind::Utility(raw) | Kind::UtilityQuery { raw, .. } = &prepared.kind {
                    let e = no_rows(host.tag(raw), returns);
                    return Err(if returns { in_sql(e, &text, SqlMode::Statement) } else { e });
                }
                self.load(host, &prepared)?;
                let run = self.run_of(&prepared, usize::MAX)?;
                self.start_rows(host, (&prepared, text), &run, returns)
            }
            RowSource::Dynamic { query, params } => {
                let text = self.dynamic_text(host, *query)?;
                let params = self.parameters(host, params)?;
                self.open_dynamic_rows(host, (*query, text), &params, returns)
            }
            RowSource::Cursor { .. } => Err(PgError::internal("rows of a cursor")),
        }
    }

    /// Starts the only query of a dynamic text.
    pub(crate) fn open_dynamic_rows(
        &mut self,
        host: &mut dyn Host,
        (query, text): (SqlNo, Arc<str>),
        params: &Parameters,
        returns: bool,
    ) -> Result<Opened> {
        let run = self.run_dynamic(params, usize::MAX);
        if let Some(known) = self.known_dynamic(host, query, &text, params)? {
            return self.start_rows(host, (&known, text), &run, returns);
        }
        if let Some(raw) = utility_with_rows(host, &text) {
            let outcome = self.dynamic_utility(host, &raw, &text, params)?;
            return Ok(opened_utility(outcome, text));
        }
        let prepared = Arc::new(self.dynamic_query(host, &text, params, returns)?);
        self.keep_dynamic(query, (&text, params), &prepared);
        self.start_rows(host, (&prepared, text), &run, returns)
    }

    fn start_rows(
        &mut self,
        host: &mut dyn Host,
        (prepared, text): (&Prepared, Arc<str>),
        run: &Run,
        returns: bool,
    ) -> Result<Opened> {
        let desc = prepared.columns.clone();
        let Kind::Query { statement, streams, command, .. } = &prepared.kind else {
            return Err(pg_err!(
                INVALID_CURSOR_DEFINITION,
                "cannot open utility statement as cursor"
            ));
        };
        let mode = SqlMode::Statement;
        if desc.columns.is_empty() && *command != CmdType::Select {
            let e = no_rows(tag_of(*command), returns);
            return Err(if returns { in_sql(e, &text, mode) } else { e });
        }
        let writes = !*streams;
        let rows = match (writes, returns) {
            (false, _) => self.in_statement(host, (&text, mode), |host| {
                host.open(statement, run).map(|stream| Rows::Stream(Streamed::new(stream)))
            })?,
            (true, true) => self.in_statement(host, (&text, mode), |host| {
                host.run(statement, run).map(|o| Rows::Ready(o.rows.into_iter()))
            })?,
            // The rows of a loop are fetched, which contexts do not show.
            (true, false) => {
                self.sync(host);
                Rows::Ready(host.run(statement, run)?.rows.into_iter())
            }
        };
        self.refresh(host)?;
        Ok(Opened { rows, desc, text, writes })
    }

    pub(crate) fn for_query(
        &mut self,
        host: &mut dyn Host,
        stmt: &'f ForQuery,
    ) -> Result<Flow<'f>> {
        if let RowSource::Cursor { cursor, args } = stmt.source {
            return self.for_cursor(host, stmt, cursor, args);
        }
        let mut opened = self.open_rows(host, &stmt.source, false)?;
        let writes = opened.writes;
        if writes {
            host.contexts().enter_writing_loop();
        }
        let (label, body) = (stmt.label.as_deref(), &stmt.body);
        let streams = opened.streams_before(host);
        let flow = self.loop_over(host, &mut opened, stmt.target, (label, body));
        host.contexts().end_streams(streams);
        if writes {
            host.contexts().leave_writing_loop();
        }
        flow
    }

    /// Runs the body of a loop for each row.
    fn loop_over(
        &mut self,
        host: &mut dyn Host,
        opened: &mut Opened,
        target: VarNo,
        (label, body): (Option<&str>, &'f [Stmt]),
    ) -> Result<Flow<'f>> {
        let (mut count, mut ended) = (0usize, Flow::Next);
        let desc = opened.desc.clone();
        let mut target_of_rows = self.scalars(target, &desc);
        loop {
            if !self.moved(opened, &target_of_rows) {
                let want = if count < ROWS_FIRST { ROWS_FIRST } else { ROWS_LATER };
                let Some(row) = self.next_row(host, opened, want)? else { break };
                self.assign_row(host, target, &desc, Some(row))?;
                if !matches!(target_of_rows, Target::Scalars(_)) {
                    target_of_rows = self.record_of_rows(host, target)?;
                }
            }
            count += 1;
            self.check_interrupts(host)?;
            let flow = self.statements(host, body)?;
            if let After::End(flow) = after(flow, label) {
                ended = flow;
                break;
            }
        }
        if count == 0 {
            self.assign_row(host, target, &desc, None)?;
        }
        self.refresh(host)?;
        self.set_found(count > 0);
        Ok(ended)
    }

    /// The target of rows of this structure, if it is a list of scalar variables of the same types.
    fn scalars(&self, target: VarNo, desc: &RowDesc) -> Target {
        let vars = &self.code.function.vars;
        let VarKind::Row(list) = &vars[target].kind else { return Target::Other };
        if list.len() != desc.columns.len() {
            return Target::Other;
        }
        let mut scalars = Vec::with_capacity(list.len());
        for (field, column) in list.iter().zip(&desc.columns) {
            match &vars[field.var].kind {
                VarKind::Scalar { ty, .. }
                    if ty.oid == column.ty
                        && (ty.typmod < 0 || ty.typmod == column.typmod)
                        && !vars[field.var].not_null
                        && !column.is_dropped() =>
                {
                    scalars.push(field.var);
                }
                _ => return Target::Other,
            }
        }
        Target::Scalars(scalars.into())
    }

    /// The target of further rows after one was assigned to it, if it is a record.
    fn record_of_rows(&mut self, host: &mut dyn Host, target: VarNo) -> Result<Target> {
        let VarKind::Record { ty, record } = &self.code.function.vars[target].kind else {
            return Ok(Target::Other);
        };
        if self.is_domain(host, *record, ty)? {
            return Ok(Target::Other);
        }
        let Record { desc, ty, .. } = &self.records[*record];
        Ok(match desc {
            Some(desc) => {
                let (record, desc, stamp) = (*record, desc.clone(), self.stamp);
                Target::Record { record, desc, ty: *ty, stamp }
            }
            None => Target::Other,
        })
    }

    /// Assigns the next of the rows that have been computed to a target that needs no conversion;
    /// false if there is none, or if the general rules apply.
    #[inline]
    fn moved(&mut self, opened: &mut Opened, target: &Target) -> bool {
        let Rows::Stream(Streamed { rows: Some(rows), at, .. }) = &mut opened.rows else {
            return false;
        };
        if *at >= rows.len() {
            return false;
        }
        let done = match target {
            Target::Record { record, desc, ty, stamp } => {
                *stamp == self.stamp && self.records[*record].advance((desc, *ty), rows, *at)
            }
            Target::Scalars(vars) => {
                for (column, var) in vars.iter().enumerate() {
                    self.vals.set_copy(*var, rows.get(*at, column));
                }
                true
            }
            Target::Other => false,
        };
        *at += usize::from(done);
        done
    }

    /// The next row of a loop.
    fn next_row(
        &mut self,
        host: &mut dyn Host,
        opened: &mut Opened,
        want: usize,
    ) -> Result<Option<Fields>> {
        let rows = match &mut opened.rows {
            Rows::Stream(rows) => rows,
            Rows::Ready(rows) => return Ok(rows.next().map(Fields::from)),
        };
        loop {
            if let Some(row) = rows.ready() {
                return Ok(Some(row));
            }
            self.sync(host);
            let Some(next) = host.next_rows(rows.stream, want)? else { return Ok(None) };
            (rows.rows, rows.at) = (Some(Arc::new(next)), 0);
        }
    }
}

impl Opened {
    /// The number of running queries without this one.
    pub(crate) fn streams_before(&self, host: &mut dyn Host) -> usize {
        let count = host.contexts().stream_count();
        count - usize::from(matches!(self.rows, Rows::Stream(_)))
    }
}
