//! OPEN, FETCH, MOVE, CLOSE and loops over bound cursors. Counterpart: `exec_stmt_open`,
//! `exec_stmt_fetch`, `exec_stmt_forc` of pl_exec.c.

use crate::exec::Flow;
use crate::frame::Frame;
use crate::host::{CursorOptions, Host, Run};
use crate::instance::{Kind, Prepared};
use crate::loops::{After, after};
use crate::query::{no_rows, tag_of};
use crate::tree::{
    Cursor, Direction, Fetch, ForQuery, Open, OpenSource, SqlMode, SqlNo, VarKind, VarNo,
};
use pgerror::{PgError, Result, pg_err};
use plan::query::CmdType;
use std::sync::Arc;
use types::{Datum, oids};

/// Number of rows that a loop over a cursor fetches at once, so that CURRENT OF is the row of the
/// loop.
const ROWS_AT_ONCE: i64 = 1;

impl<'f> Frame<'f> {
    fn bound_cursor(&self, var: VarNo) -> Option<&'f Cursor> {
        match &self.code.function.vars[var].kind {
            VarKind::Scalar { cursor, .. } => cursor.as_deref(),
            _ => None,
        }
    }

    /// The name of the cursor in a variable; `None` for NULL.
    fn cursor_name(&self, var: VarNo) -> Option<String> {
        match &self.vals[var] {
            Datum::Bytes(name) => Some(String::from_utf8_lossy(name).into_owned()),
            _ => None,
        }
    }

    /// Error 42P03 if the cursor of the variable is open.
    fn check_closed(&self, host: &mut dyn Host, var: VarNo) -> Result<String> {
        let name = self.cursor_name(var).unwrap_or_default();
        if !name.is_empty() && host.has_cursor(&name) {
            return Err(pg_err!(DUPLICATE_CURSOR, "cursor \"{name}\" already in use"));
        }
        Ok(name)
    }

    pub(crate) fn open(&mut self, host: &mut dyn Host, stmt: &'f Open) -> Result<()> {
        let name = self.check_closed(host, stmt.cursor)?;
        let name = match &stmt.source {
            OpenSource::Dynamic { query, params } => {
                let scroll = stmt.scroll;
                self.open_dynamic(host, &name, *query, params, scroll)?
            }
            OpenSource::Query(sql) => self.open_query(host, &name, *sql, stmt.scroll)?,
            OpenSource::Bound { args } => self.open_bound(host, stmt.cursor, &name, *args)?,
        };
        self.keep_name(host, stmt.cursor, &name)
    }

    /// Stores the name of an open cursor in its variable.
    fn keep_name(&mut self, host: &mut dyn Host, var: VarNo, name: &str) -> Result<()> {
        if self.vals[var].is_null() || self.cursor_name(var).as_deref() != Some(name) {
            let variable = &self.code.function.vars[var];
            if variable.constant {
                return Err(pg_err!(
                    ERROR_IN_ASSIGNMENT,
                    "variable \"{}\" is declared CONSTANT",
                    variable.name
                ));
            }
            self.assign(host, var, Datum::text(name), (oids::TEXT, -1))?;
        }
        Ok(())
    }

    fn open_bound(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        name: &str,
        args: Option<SqlNo>,
    ) -> Result<String> {
        let Some(cursor) = self.bound_cursor(var) else {
            return Err(PgError::internal("cursor without a query"));
        };
        if let (Some(sql), Some(row)) = (args, cursor.args) {
            self.assign_arguments(host, sql, row)?;
        }
        self.open_query(host, name, cursor.query, cursor.scroll)
    }

    /// Assigns the values of a cursor's arguments to its parameters.
    fn assign_arguments(&mut self, host: &mut dyn Host, sql: SqlNo, row: VarNo) -> Result<()> {
        let prepared = self.prepared(host, sql, None)?;
        let values = match &prepared.kind {
            // It is shown as a statement, which it would be with more arguments.
            Kind::Simple { .. } => vec![self.value_of(host, sql, &prepared, true)?.0],
            _ => {
                let outcome = self.run_prepared(host, sql, &prepared, 2)?;
                outcome.rows.into_iter().next().unwrap_or_default()
            }
        };
        self.processed = 1;
        self.set_found(true);
        self.assign_row(host, row, &prepared.columns.clone(), Some(values.into()))
    }

    fn open_query(
        &mut self,
        host: &mut dyn Host,
        name: &str,
        sql: SqlNo,
        scroll: Option<bool>,
    ) -> Result<String> {
        let prepared = self.prepared(host, sql, None)?;
        self.load(host, &prepared)?;
        let run = match &prepared.kind {
            Kind::Query { .. } => self.run_of(&prepared, usize::MAX)?,
            Kind::Utility(raw) | Kind::UtilityQuery { raw, .. } => {
                return Err(no_rows(host.tag(raw), false));
            }
            _ => return Err(PgError::internal("query expected")),
        };
        let text = &self.code.function.sql[sql].text;
        self.open_prepared(host, name, (&prepared, &run, text), scroll)
    }

    pub(crate) fn open_prepared(
        &mut self,
        host: &mut dyn Host,
        name: &str,
        (prepared, run, text): (&Prepared, &Run, &Arc<str>),
        scroll: Option<bool>,
    ) -> Result<String> {
        let Kind::Query { statement, command, .. } = &prepared.kind else {
            return Err(PgError::internal("query expected"));
        };
        if prepared.columns.columns.is_empty() && *command != CmdType::Select {
            return Err(no_rows(tag_of(*command), false));
        }
        let options = CursorOptions { scroll, read_only: run.read_only };
        let name = self.in_statement(host, (text, SqlMode::Statement), |host| {
            host.open_cursor(name, statement, run, &options)
        })?;
        self.refresh(host)?;
        Ok(name)
    }

    pub(crate) fn fetch(&mut self, host: &mut dyn Host, stmt: &Fetch) -> Result<()> {
        let name = self.required_name(stmt.cursor)?;
        let mut count = stmt.count;
        if let Some(sql) = stmt.count_sql {
            let value = self.typed(host, sql, oids::INT4)?;
            if value.is_null() {
                return Err(pg_err!(
                    NULL_VALUE_NOT_ALLOWED,
                    "relative or absolute cursor position is null"
                ));
            }
            count = i64::from(value.as_ref().word() as i32);
        }
        let Some(target) = stmt.target else {
            let moved = host.move_cursor(&name, stmt.direction, count)?;
            self.refresh(host)?;
            self.processed = moved;
            self.set_found(moved != 0);
            return Ok(());
        };
        let (rows, desc) = host.fetch(&name, stmt.direction, count)?;
        self.refresh(host)?;
        self.processed = rows.len() as u64;
        self.set_found(!rows.is_empty());
        self.assign_row(host, target, &desc, rows.into_iter().next())
    }

    fn required_name(&self, var: VarNo) -> Result<String> {
        self.cursor_name(var).ok_or_else(|| {
            let name = &self.code.function.vars[var].name;
            pg_err!(NULL_VALUE_NOT_ALLOWED, "cursor variable \"{name}\" is null")
        })
    }

    pub(crate) fn close(&mut self, host: &mut dyn Host, var: VarNo) -> Result<()> {
        let name = self.required_name(var)?;
        host.close_cursor(&name)
    }

    /// A loop over a bound cursor, which is open during the loop.
    pub(crate) fn for_cursor(
        &mut self,
        host: &mut dyn Host,
        stmt: &'f ForQuery,
        cursor: VarNo,
        args: Option<SqlNo>,
    ) -> Result<Flow<'f>> {
        let name = self.check_closed(host, cursor)?;
        let was_null = self.vals[cursor].is_null();
        let name = self.open_bound(host, cursor, &name, args)?;
        self.keep_name(host, cursor, &name)?;
        host.pin_cursor(&name, true);
        let (mut count, mut ended) = (0u64, Flow::Next);
        'rows: loop {
            self.sync(host);
            let (rows, desc) = host.fetch(&name, Direction::Forward, ROWS_AT_ONCE)?;
            if count == 0 && rows.is_empty() {
                self.assign_row(host, stmt.target, &desc, None)?;
            }
            let fetched = rows.len() as i64;
            for row in rows {
                count += 1;
                self.check_interrupts(host)?;
                self.assign_row(host, stmt.target, &desc, Some(row))?;
                let flow = self.statements(host, &stmt.body)?;
                if let After::End(flow) = after(flow, stmt.label.as_deref()) {
                    ended = flow;
                    break 'rows;
                }
            }
            if fetched < ROWS_AT_ONCE {
                break;
            }
        }
        host.close_cursor(&name)?;
        if was_null {
            self.vals.set(cursor, Datum::Null);
        }
        self.refresh(host)?;
        self.set_found(count > 0);
        Ok(ended)
    }
}
