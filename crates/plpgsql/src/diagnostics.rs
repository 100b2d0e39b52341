//! GET DIAGNOSTICS. Counterpart: `exec_stmt_getdiag` of pl_exec.c.

use crate::frame::Frame;
use crate::host::Host;
use crate::tree::{Diagnostic, VarNo};
use pgerror::{PgError, Result, pg_err};
use types::{Datum, oids};

impl Frame<'_> {
    pub(crate) fn get_diagnostics(
        &mut self,
        host: &mut dyn Host,
        is_stacked: bool,
        items: &[(VarNo, Diagnostic)],
    ) -> Result<()> {
        if is_stacked && self.caught.is_none() {
            return Err(pg_err!(
                STACKED_DIAGNOSTICS_ACCESSED_WITHOUT_ACTIVE_HANDLER,
                "GET STACKED DIAGNOSTICS cannot be used outside an exception handler"
            ));
        }
        for &(var, item) in items {
            if item == Diagnostic::RowCount {
                let count = Datum::int8(i64::try_from(self.processed).unwrap_or(i64::MAX));
                self.assign(host, var, count, (oids::INT8, -1))?;
                continue;
            }
            let text = match (item, &self.caught) {
                (Diagnostic::Context, _) => self.full_context(host).join("\n"),
                (Diagnostic::ErrorContext, Some(e)) => {
                    let mut lines = e.fields().context.clone();
                    lines.extend(host.contexts().outside(self.level));
                    lines.join("\n")
                }
                (_, Some(e)) => of_error(e, item),
                (_, None) => return Err(PgError::internal("no error to describe")),
            };
            self.assign(host, var, Datum::text(&text), (oids::TEXT, -1))?;
        }
        Ok(())
    }
}

fn of_error(e: &PgError, item: Diagnostic) -> String {
    let fields = e.fields();
    let part = match item {
        Diagnostic::RowCount | Diagnostic::Context | Diagnostic::ErrorContext => None,
        Diagnostic::ReturnedSqlstate => return fields.code.as_str().to_owned(),
        Diagnostic::MessageText => return fields.message.clone(),
        Diagnostic::ErrorDetail => fields.detail.as_ref(),
        Diagnostic::ErrorHint => fields.hint.as_ref(),
        Diagnostic::ColumnName => fields.names.column.as_ref(),
        Diagnostic::ConstraintName => fields.names.constraint.as_ref(),
        Diagnostic::DatatypeName => fields.names.data_type.as_ref(),
        Diagnostic::TableName => fields.names.table.as_ref(),
        Diagnostic::SchemaName => fields.names.schema.as_ref(),
    };
    part.cloned().unwrap_or_default()
}
