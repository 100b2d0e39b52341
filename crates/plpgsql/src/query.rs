//! Statements that run SQL: static and dynamic statements, PERFORM. Counterpart:
//! `exec_stmt_execsql`, `exec_stmt_dynexecute` of pl_exec.c.

use crate::dynamic::Parameters;
use crate::fields::Fields;
use crate::frame::{Frame, text_of};
use crate::host::{Analysed, Command, Host, Outcome, Run, Statement, UtilityOutcome};
use crate::instance::{Kind, Prepared};
use crate::prepare::{describe, in_sql, query_in};
use crate::tree::{DynamicSql, SqlMode, SqlNo, SqlStmt, VarNo};
use analyze::SessionLookup;
use ids::Oid;
use parse::RawStmt;
use parse::ast::Node;
use pgerror::{PgError, Result, Severity, pg_err};
use plan::query::CmdType;
use std::sync::Arc;
use types::fn_context::{RowDesc, SessionContext};

impl<'f> Frame<'f> {
    /// A statement of SQL, with INTO.
    pub(crate) fn sql(&mut self, host: &mut dyn Host, stmt: &SqlStmt) -> Result<()> {
        let prepared = self.prepared(host, stmt.sql, None)?;
        let text = &self.code.function.sql[stmt.sql].text;
        let Kind::Query { command, .. } = &prepared.kind else {
            return self.utility_statement(host, &prepared, text, (stmt.into, stmt.strict));
        };
        let changes = *command != CmdType::Select;
        let strict = stmt.strict || changes || self.checks_rows();
        let rows_max = match stmt.into {
            Some(_) if strict => 2,
            Some(_) => 1,
            None if changes => usize::MAX,
            None => 0,
        };
        if stmt.into.is_none() && !changes {
            // The statement is executed before its result is refused.
            self.run_prepared(host, stmt.sql, &prepared, usize::MAX)?;
            return Err(no_destination(true));
        }
        let outcome = self.run_prepared(host, stmt.sql, &prepared, rows_max)?;
        self.processed = outcome.processed;
        self.set_found(outcome.processed != 0);
        match stmt.into {
            Some(_) if changes && prepared.columns.columns.is_empty() => Err(no_data()),
            Some(target) => {
                let shown = || stmt.sql;
                self.into(host, target, (stmt.strict, changes), &prepared.columns, outcome, shown)
            }
            None if !prepared.columns.columns.is_empty() => Err(no_destination(false)),
            None => Ok(()),
        }
    }

    fn checks_rows(&self) -> bool {
        self.extra.warnings.too_many_rows || self.extra.errors.too_many_rows
    }

    /// Assigns the row of a statement to the variables after INTO.
    fn into(
        &mut self,
        host: &mut dyn Host,
        target: VarNo,
        (strict, changes): (bool, bool),
        desc: &Arc<RowDesc>,
        outcome: Outcome,
        sql: impl FnOnce() -> SqlNo,
    ) -> Result<()> {
        let several = outcome.rows.len() > 1;
        let mut rows = outcome.rows.into_iter();
        let row = rows.next();
        if row.is_none() && strict {
            let e = pg_err!(NO_DATA_FOUND, "query returned no rows");
            return Err(self.with_parameters(host, e, sql())?);
        }
        let extra = self.extra;
        if several && (strict || changes || self.checks_rows()) {
            let e = pg_err!(TOO_MANY_ROWS, "query returned more than one row")
                .hint("Make sure the query returns a single row, or use LIMIT 1.");
            let e = self.with_parameters(host, e, sql())?;
            if strict || changes || extra.errors.too_many_rows {
                return Err(e);
            }
            SessionContext::notice(host, e.severity(Severity::Warning));
        }
        self.assign_row(host, target, desc, row.map(Fields::from))
    }

    /// Adds the values of the variables in the statement to an error, if that is wanted.
    fn with_parameters(&mut self, host: &mut dyn Host, e: PgError, sql: SqlNo) -> Result<PgError> {
        if !self.code.function.print_strict_params {
            return Ok(e);
        }
        let prepared = match self.instance.sql.get(sql).and_then(|s| s.prepared.clone()) {
            Some(prepared) => prepared,
            None => return Ok(e),
        };
        let Kind::Query { params, .. } = &prepared.kind else { return Ok(e) };
        let mut shown = Vec::new();
        for &var in params {
            let (value, ty, _) = self.variable_value(host, var)?;
            let name = &self.code.function.vars[var].name;
            shown.push(match text_of(host, &value, ty)? {
                Some(text) => format!("{name} = {}", quoted(&text)),
                None => format!("{name} = NULL"),
            });
        }
        Ok(match shown.is_empty() {
            true => e,
            false => e.detail(format!("parameters: {}", shown.join(", "))),
        })
    }

    /// As [`Frame::with_parameters`], with the values after USING.
    fn with_values(
        &mut self,
        host: &mut dyn Host,
        e: PgError,
        params: &Parameters,
    ) -> Result<PgError> {
        if !self.code.function.print_strict_params || params.is_empty() {
            return Ok(e);
        }
        let mut shown = Vec::new();
        for (i, (value, ty)) in params.iter().enumerate() {
            shown.push(match text_of(host, value, *ty)? {
                Some(text) => format!("${} = {}", i + 1, quoted(&text)),
                None => format!("${} = NULL", i + 1),
            });
        }
        Ok(e.detail(format!("parameters: {}", shown.join(", "))))
    }

    pub(crate) fn utility_statement(
        &mut self,
        host: &mut dyn Host,
        prepared: &Prepared,
        text: &Arc<str>,
        (into, strict): (Option<VarNo>, bool),
    ) -> Result<()> {
        let outcome = match &prepared.kind {
            Kind::Utility(raw) => {
                check_utility(raw)?;
                self.utility(host, raw, text, None)?
            }
            Kind::UtilityQuery { raw, statement, .. } => {
                self.load(host, prepared)?;
                let run = self.run_of(prepared, usize::MAX)?;
                self.utility(host, raw, text, Some((statement, &run)))?
            }
            _ => return Err(PgError::internal("utility statement expected")),
        };
        let processed = outcome.processed;
        self.processed = processed;
        match (outcome.rows, into) {
            (Some((desc, rows)), Some(target)) => {
                let outcome = Outcome { rows, processed, command: CmdType::Utility };
                self.into(host, target, (strict, false), &desc, outcome, || usize::MAX)
            }
            (Some(_), None) => Err(no_destination(false)),
            (None, Some(_)) => Err(no_data()),
            (None, None) => Ok(()),
        }
    }

    pub(crate) fn utility(
        &mut self,
        host: &mut dyn Host,
        raw: &RawStmt,
        text: &Arc<str>,
        query: Option<(&Statement, &Run)>,
    ) -> Result<UtilityOutcome> {
        let read_only = self.code.function.read_only;
        let command = Command { raw, sql: text, read_only, atomic: self.atomic, query };
        let result =
            self.in_statement(host, (text, SqlMode::Statement), |host| host.utility(&command))?;
        self.refresh(host)?;
        Ok(result)
    }

    pub(crate) fn perform(&mut self, host: &mut dyn Host, sql: SqlNo) -> Result<()> {
        let prepared = self.prepared(host, sql, None)?;
        let outcome = self.run_prepared(host, sql, &prepared, usize::MAX)?;
        self.processed = outcome.processed;
        self.set_found(outcome.processed != 0);
        Ok(())
    }

    /// The values after USING.
    pub(crate) fn parameters(&mut self, host: &mut dyn Host, list: &[SqlNo]) -> Result<Parameters> {
        let mut values = Vec::with_capacity(list.len());
        for &sql in list {
            let (value, ty, _) = self.value(host, sql, None)?;
            values.push((value, ty));
        }
        Ok(values)
    }

    /// The text of a dynamic statement. Error 22004 for NULL.
    pub(crate) fn dynamic_text(&mut self, host: &mut dyn Host, sql: SqlNo) -> Result<Arc<str>> {
        let text = self.text(host, sql)?.ok_or_else(|| {
            pg_err!(NULL_VALUE_NOT_ALLOWED, "query string argument of EXECUTE is null")
        })?;
        Ok(text.into())
    }

    /// Analyses a query of a dynamic statement. With `once` it is not expected to run again.
    fn analyse_dynamic(
        &mut self,
        host: &mut dyn Host,
        (raw, once): (RawStmt, bool),
        text: &Arc<str>,
        params: &Parameters,
    ) -> Result<Prepared> {
        let param_types: Vec<Oid> = params.iter().map(|(_, ty)| *ty).collect();
        let mut query = analyze::analyze(&mut SessionLookup::new(host), &raw, text, &param_types)?;
        host.identify_statement(&mut query, text);
        let columns = Arc::new(describe(&query));
        let query = analyze::rewrite(&mut SessionLookup::new(host), query)?;
        if once && let Some(kind) = self.compile_row(host, &query, params)? {
            return Ok(Prepared { stamp: self.stamp, loads: Box::new([]), kind, columns });
        }
        let command = query.command_type;
        let streams = command == CmdType::Select && !query.has_modifying_cte;
        let statement = host.prepare(Analysed { query, raw, sql: text.clone(), param_types })?;
        let params = Box::new([]);
        let kind = Kind::Query { statement, params, command, streams };
        Ok(Prepared { stamp: self.stamp, loads: Box::new([]), kind, columns })
    }

    pub(crate) fn run_dynamic(&self, params: &Parameters, rows_max: usize) -> Run {
        let params = params.iter().map(|(value, _)| value.clone()).collect();
        let read_only = self.code.function.read_only;
        Run { params, rows_max, read_only, keep_rows: true }
    }

    /// EXECUTE: runs all statements of the text; INTO gets the row of the last one.
    pub(crate) fn dynamic_sql(&mut self, host: &mut dyn Host, stmt: &DynamicSql) -> Result<()> {
        let text = self.dynamic_text(host, stmt.query)?;
        let params = self.parameters(host, &stmt.params)?;
        let in_text = |e| in_sql(e, &text, SqlMode::Statement);
        let mut last = None;
        if let Some(known) = self.known_dynamic(host, stmt.query, &text, &params)? {
            last = Some(self.run_dynamic_query(host, &known, &text, &params)?);
        } else {
            let list = parse::parse_with(&text, host.lexer()).map_err(in_text)?;
            let place = if list.len() == 1 { Some(stmt.query) } else { None };
            for raw in list {
                last = Some(self.dynamic_statement(host, raw, (&text, place), &params)?);
            }
        }
        self.processed = last.as_ref().map_or(0, |(_, outcome)| outcome.processed);
        let Some(target) = stmt.into else { return Ok(()) };
        let Some((desc, outcome)) = last else { return Err(no_data()) };
        if desc.columns.is_empty() && outcome.command != CmdType::Select {
            return Err(no_data());
        }
        if outcome.rows.is_empty() && stmt.strict {
            let e = pg_err!(NO_DATA_FOUND, "query returned no rows");
            return Err(self.with_values(host, e, &params)?);
        }
        if outcome.rows.len() > 1 && (stmt.strict || self.checks_rows()) {
            let e = pg_err!(TOO_MANY_ROWS, "query returned more than one row");
            let e = self.with_values(host, e, &params)?;
            if stmt.strict || self.extra.errors.too_many_rows {
                return Err(e);
            }
            SessionContext::notice(host, e.severity(Severity::Warning));
        }
        let row = outcome.rows.into_iter().next();
        self.assign_row(host, target, &desc, row.map(Fields::from))
    }

    pub(crate) fn dynamic_statement(
        &mut self,
        host: &mut dyn Host,
        raw: RawStmt,
        (text, place): (&Arc<str>, Option<SqlNo>),
        params: &Parameters,
    ) -> Result<(Arc<RowDesc>, Outcome)> {
        let in_text = |e| in_sql(e, text, SqlMode::Statement);
        if let Node::TransactionStmt(_) = &raw.stmt {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "EXECUTE of transaction commands is not implemented"
            ));
        }
        check_utility(&raw)?;
        if let Node::CallStmt(call) = &raw.stmt {
            return self.dynamic_call(host, call, text, params);
        }
        if !analyze::is_query(&raw.stmt) {
            if let Node::SelectStmt(_) = &raw.stmt {
                if self.code.function.read_only {
                    return Err(in_text(not_allowed("SELECT INTO")));
                }
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "EXECUTE of SELECT ... INTO is not implemented"
                )
                .hint(
                    "You might want to use EXECUTE ... INTO or EXECUTE CREATE TABLE ... AS \
                       instead.",
                ));
            }
            let outcome = self.dynamic_utility(host, &raw, text, params)?;
            let processed = outcome.processed;
            let (desc, rows) = outcome.rows.unwrap_or_default();
            return Ok((desc, Outcome { rows, processed, command: CmdType::Utility }));
        }
        let once = place.is_some_and(|place| !self.note_text(place, text));
        let prepared = self.analyse_dynamic(host, (raw, once), text, params).map_err(in_text)?;
        if let Kind::Row { targets, mutable } = &prepared.kind {
            let outcome = self.compute_row(host, (targets, *mutable), text, params)?;
            return Ok((prepared.columns, outcome));
        }
        let prepared = Arc::new(prepared);
        let result = self.run_dynamic_query(host, &prepared, text, params)?;
        if let Some(place) = place {
            self.keep_dynamic(place, (text, params), &prepared);
        }
        Ok(result)
    }

    /// Runs a utility statement; its query, if it has one, may use the parameters.
    pub(crate) fn dynamic_utility(
        &mut self,
        host: &mut dyn Host,
        raw: &RawStmt,
        text: &Arc<str>,
        params: &Parameters,
    ) -> Result<UtilityOutcome> {
        let Some(node) = query_in(&raw.stmt).filter(|_| !params.is_empty()) else {
            return self.utility(host, raw, text, None);
        };
        let param_types: Vec<Oid> = params.iter().map(|(_, ty)| *ty).collect();
        let inner = RawStmt { stmt: node.clone(), ..raw.clone() };
        let mut lookup = SessionLookup::new(host);
        let analysed = analyze::analyze(&mut lookup, &inner, text, &param_types)
            .and_then(|query| analyze::rewrite(&mut lookup, query));
        let query = analysed.map_err(|e| in_sql(e, text, SqlMode::Statement))?;
        let statement =
            host.prepare(Analysed { query, raw: inner, sql: text.clone(), param_types })?;
        let run = self.run_dynamic(params, usize::MAX);
        self.utility(host, raw, text, Some((&statement, &run)))
    }

    /// Runs an analysed dynamic query.
    fn run_dynamic_query(
        &mut self,
        host: &mut dyn Host,
        prepared: &Prepared,
        text: &Arc<str>,
        params: &Parameters,
    ) -> Result<(Arc<RowDesc>, Outcome)> {
        let Kind::Query { statement, .. } = &prepared.kind else {
            return Err(PgError::internal("dynamic query expected"));
        };
        let run = self.run_dynamic(params, usize::MAX);
        let mode = SqlMode::Statement;
        let outcome = self.in_statement(host, (text, mode), |host| host.run(statement, &run))?;
        self.refresh(host)?;
        Ok((prepared.columns.clone(), outcome))
    }

    /// Opens a cursor for a dynamic query.
    pub(crate) fn open_dynamic(
        &mut self,
        host: &mut dyn Host,
        name: &str,
        query: SqlNo,
        params: &[SqlNo],
        scroll: Option<bool>,
    ) -> Result<String> {
        let text = self.dynamic_text(host, query)?;
        let params = self.parameters(host, params)?;
        let prepared = self.dynamic_query(host, &text, &params, false)?;
        let run = self.run_dynamic(&params, usize::MAX);
        self.open_prepared(host, name, (&prepared, &run, &text), scroll)
    }

    /// The only query of a dynamic text.
    pub(crate) fn dynamic_query(
        &mut self,
        host: &mut dyn Host,
        text: &Arc<str>,
        params: &Parameters,
        returns: bool,
    ) -> Result<Prepared> {
        let in_text = |e| in_sql(e, text, SqlMode::Statement);
        let mut list = parse::parse_with(text, host.lexer()).map_err(in_text)?;
        let raw = match list.pop() {
            Some(raw) if list.is_empty() => raw,
            _ => {
                return Err(pg_err!(
                    INVALID_CURSOR_DEFINITION,
                    "cannot open multi-query plan as cursor"
                ));
            }
        };
        if !analyze::is_query(&raw.stmt) {
            let e = no_rows(host.tag(&raw), returns);
            return Err(if returns { in_text(e) } else { e });
        }
        self.analyse_dynamic(host, (raw, false), text, params).map_err(in_text)
    }
}

/// The error for a result that nothing receives.
fn no_destination(selects: bool) -> PgError {
    let e = pg_err!(SYNTAX_ERROR, "query has no destination for result data");
    match selects {
        true => e.hint("If you want to discard the results of a SELECT, use PERFORM instead."),
        false => e,
    }
}

/// The error for a statement that writes in a function that is not volatile.
pub(crate) fn not_allowed(tag: &str) -> PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "{tag} is not allowed in a non-volatile function")
}

/// The error for INTO with a statement that returns no rows.
fn no_data() -> PgError {
    pg_err!(SYNTAX_ERROR, "INTO used with a command that cannot return data")
}

/// The statement of a dynamic text, if it is a utility statement that returns rows. An error of
/// syntax is reported when the text is parsed as a query.
pub(crate) fn utility_with_rows(host: &mut dyn Host, text: &str) -> Option<RawStmt> {
    let mut list = parse::parse_with(text, host.lexer()).ok()?;
    list.pop().filter(|raw| list.is_empty() && returns_rows(raw))
}

/// True for utility statements that return rows.
pub(crate) fn returns_rows(raw: &RawStmt) -> bool {
    match &raw.stmt {
        Node::FetchStmt(fetch) => !fetch.ismove,
        Node::ExplainStmt(_)
        | Node::VariableShowStmt(_)
        | Node::ExecuteStmt(_)
        | Node::CallStmt(_) => true,
        _ => false,
    }
}

/// True for statements that return rows.
pub(crate) fn returns_tuples(raw: &RawStmt) -> bool {
    match &raw.stmt {
        Node::InsertStmt(s) => !s.returning_list.is_empty(),
        Node::UpdateStmt(s) => !s.returning_list.is_empty(),
        Node::DeleteStmt(s) => !s.returning_list.is_empty(),
        Node::MergeStmt(_) => false,
        stmt => analyze::is_query(stmt) || returns_rows(raw),
    }
}

/// The error for a statement without rows in a loop, a cursor or RETURN QUERY (`returns`).
pub(crate) fn no_rows(tag: &str, returns: bool) -> PgError {
    match returns {
        true => pg_err!(SYNTAX_ERROR, "{tag} query does not return tuples"),
        false => pg_err!(INVALID_CURSOR_DEFINITION, "cannot open {tag} query as cursor"),
    }
}

/// The command tag of a query.
pub(crate) fn tag_of(command: CmdType) -> &'static str {
    match command {
        CmdType::Insert => "INSERT",
        CmdType::Update => "UPDATE",
        CmdType::Delete => "DELETE",
        CmdType::Merge => "MERGE",
        _ => "SELECT",
    }
}

/// Error 0A000 for utility statements that no function can contain.
fn check_utility(raw: &RawStmt) -> Result<()> {
    match &raw.stmt {
        Node::TransactionStmt(_) => {
            Err(pg_err!(FEATURE_NOT_SUPPORTED, "unsupported transaction command in PL/pgSQL"))
        }
        Node::CopyStmt(copy) if copy.filename.is_none() => {
            Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot COPY to/from client in PL/pgSQL"))
        }
        _ => Ok(()),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
