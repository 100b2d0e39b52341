//! RAISE and ASSERT. Counterpart: `exec_stmt_raise`, `exec_stmt_assert` of pl_exec.c.

use crate::frame::{Frame, text_of};
use crate::host::Host;
use crate::tree::{Raise, RaiseOption, SqlNo};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use types::fn_context::SessionContext;
use types::oids;

/// The parts of a report that RAISE has set.
#[derive(Default)]
struct Report {
    code: Option<[u8; 5]>,
    /// The name that the code was given by.
    condition: Option<String>,
    message: Option<String>,
    detail: Option<String>,
    hint: Option<String>,
    column: Option<String>,
    constraint: Option<String>,
    data_type: Option<String>,
    table: Option<String>,
    schema: Option<String>,
}

impl Report {
    /// Sets an option. Error 42601 if it is set already.
    fn set(&mut self, option: RaiseOption, text: String) -> Result<()> {
        let (slot, name) = match option {
            RaiseOption::Errcode => {
                if self.code.is_some() {
                    return Err(repeated("ERRCODE"));
                }
                self.code = Some(crate::conditions::code_of(&text)?);
                self.condition = Some(text);
                return Ok(());
            }
            RaiseOption::Message => (&mut self.message, "MESSAGE"),
            RaiseOption::Detail => (&mut self.detail, "DETAIL"),
            RaiseOption::Hint => (&mut self.hint, "HINT"),
            RaiseOption::Column => (&mut self.column, "COLUMN"),
            RaiseOption::Constraint => (&mut self.constraint, "CONSTRAINT"),
            RaiseOption::Datatype => (&mut self.data_type, "DATATYPE"),
            RaiseOption::Table => (&mut self.table, "TABLE"),
            RaiseOption::Schema => (&mut self.schema, "SCHEMA"),
        };
        match slot.replace(text) {
            None => Ok(()),
            Some(_) => Err(repeated(name)),
        }
    }

    fn into_error(self, level: Severity) -> PgError {
        let default = match level {
            Severity::Error => SqlState::RAISE_EXCEPTION,
            Severity::Warning => SqlState::WARNING,
            _ => SqlState::SUCCESSFUL_COMPLETION,
        };
        // The code of successful completion counts as none.
        let code = self.code.map(SqlState).filter(|c| *c != SqlState::SUCCESSFUL_COMPLETION);
        let code = code.unwrap_or(default);
        let message = self.message.or(self.condition);
        let message = message.unwrap_or_else(|| match level {
            Severity::Error => code.as_str().to_owned(),
            _ => SqlState::SUCCESSFUL_COMPLETION.as_str().to_owned(),
        });
        let mut e = PgError::new(code, message).severity(level);
        let fields = e.fields_mut();
        fields.detail = self.detail;
        fields.hint = self.hint;
        fields.names.column = self.column;
        fields.names.constraint = self.constraint;
        fields.names.data_type = self.data_type;
        fields.names.table = self.table;
        fields.names.schema = self.schema;
        e
    }
}

fn repeated(name: &str) -> PgError {
    pg_err!(SYNTAX_ERROR, "RAISE option already specified: {name}")
}

impl Frame<'_> {
    pub(crate) fn raise(&mut self, host: &mut dyn Host, stmt: &Raise) -> Result<()> {
        let is_bare = stmt.condition.is_none() && stmt.message.is_none() && stmt.options.is_empty();
        if is_bare {
            let Some(e) = self.caught.clone() else {
                return Err(pg_err!(
                    STACKED_DIAGNOSTICS_ACCESSED_WITHOUT_ACTIVE_HANDLER,
                    "RAISE without parameters cannot be used outside an exception handler"
                ));
            };
            // The error has the context of this call already.
            self.reported = true;
            return Err(e);
        }
        let mut report = Report::default();
        if let Some(condition) = &stmt.condition {
            report.code = Some(condition.code);
            report.condition = Some(condition.name.clone());
        }
        if let Some(message) = &stmt.message {
            report.message = Some(self.formatted(host, message, &stmt.params)?);
        }
        for (option, sql) in &stmt.options {
            let Some(text) = self.text(host, *sql)? else {
                return Err(pg_err!(
                    NULL_VALUE_NOT_ALLOWED,
                    "RAISE statement option cannot be null"
                ));
            };
            report.set(*option, text)?;
        }
        let e = report.into_error(stmt.level);
        if stmt.level >= Severity::Error {
            return Err(e);
        }
        SessionContext::notice(host, e);
        Ok(())
    }

    /// The message with its placeholders replaced.
    fn formatted(
        &mut self,
        host: &mut dyn Host,
        message: &str,
        params: &[SqlNo],
    ) -> Result<String> {
        let mut out = String::with_capacity(message.len());
        let mut params = params.iter();
        let mut rest = message.chars().peekable();
        while let Some(c) = rest.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            if rest.next_if_eq(&'%').is_some() {
                out.push('%');
                continue;
            }
            let Some(&sql) = params.next() else {
                return Err(PgError::internal("unexpected RAISE parameter list length"));
            };
            let (value, ty, _) = self.value(host, sql, None)?;
            match text_of(host, &value, ty)? {
                Some(text) => out.push_str(&text),
                None => out.push_str("<NULL>"),
            }
        }
        Ok(out)
    }

    pub(crate) fn assert(
        &mut self,
        host: &mut dyn Host,
        condition: SqlNo,
        message: Option<SqlNo>,
    ) -> Result<()> {
        if !host.is_on("plpgsql.check_asserts") {
            return Ok(());
        }
        let value = self.typed(host, condition, oids::BOOL)?;
        if !value.is_null() && value.as_ref().as_bool() {
            return Ok(());
        }
        let text = match message {
            Some(sql) => self.text(host, sql)?,
            None => None,
        };
        let text = text.unwrap_or_else(|| "assertion failed".to_owned());
        Err(PgError::new(SqlState::ASSERT_FAILURE, text))
    }
}
