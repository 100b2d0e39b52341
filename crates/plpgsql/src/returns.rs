//! The rows of set-returning functions: RETURN NEXT and RETURN QUERY. Counterpart:
//! `exec_stmt_return_next`, `exec_stmt_return_query` of pl_exec.c.

use crate::assign::fields_of;
use crate::fields::Fields;
use crate::frame::{Frame, ResultSet};
use crate::host::Host;
use crate::prepare::in_sql;
use crate::query::{no_rows, returns_tuples};
use crate::rows::{Opened, Rows};
use crate::structure::check_structure;
use crate::tree::{ReturnQuery, RowField, RowSource, SqlMode, SqlNo, TypeKind, VarKind, VarNo};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use std::sync::Arc;
use types::fn_context::{RowDesc, TypeCatalog};
use types::{Datum, DatumRef};

/// Messages for rows that do not have the structure of the result.
const SUPPLIED: &str = "wrong record type supplied in RETURN NEXT";
const RETURNED: &str = "returned record type does not match expected record type";
const QUERIED: &str = "structure of query does not match function result type";

/// The values of a row of the result.
type Refs<'v> = SmallVec<[DatumRef<'v>; 16]>;

fn no_set() -> PgError {
    PgError::internal("set-returning function without a result set")
}

/// The fields of a row without those of dropped columns.
fn live<'v>(desc: &RowDesc, fields: impl Iterator<Item = DatumRef<'v>>) -> Refs<'v> {
    let live = desc.columns.iter().zip(fields).filter(|(c, _)| !c.is_dropped());
    live.map(|(_, value)| value).collect()
}

impl<'f> Frame<'f> {
    /// Appends a row to the result set of the call.
    pub(crate) fn return_next(
        &mut self,
        host: &mut dyn Host,
        value: Option<SqlNo>,
        var: Option<VarNo>,
    ) -> Result<()> {
        let desc = self.set.as_ref().ok_or_else(no_set)?.desc.clone();
        let is_tuple = self.code.function.result.ty.kind == TypeKind::Row;
        let (value, ty, typmod) = match (value, var) {
            (None, Some(var)) if is_tuple => match &self.code.function.vars[var].kind {
                VarKind::Row(fields) => return self.append_list(host, fields, &desc),
                VarKind::Record { record, .. } => {
                    return self.append_record(host, (var, *record), &desc);
                }
                _ => self.variable_value(host, var)?,
            },
            (Some(sql), _) => self.value(host, sql, None)?,
            (None, Some(var)) => self.variable_value(host, var)?,
            (None, None) => {
                return Err(pg_err!(SYNTAX_ERROR, "RETURN NEXT must have a parameter"));
            }
        };
        match is_tuple {
            true => self.append_composite(host, &value, ty, &desc),
            false => {
                let [column] = &desc.columns[..] else {
                    return Err(pg_err!(
                        DATATYPE_MISMATCH,
                        "wrong result type supplied in RETURN NEXT"
                    ));
                };
                let to = (column.ty, column.typmod);
                let value = self.cast(host, value, (ty, typmod), to)?;
                self.append(host, &[value.as_ref()])
            }
        }
    }

    fn append(&mut self, host: &mut dyn Host, row: &[DatumRef<'_>]) -> Result<()> {
        let set = self.set.as_mut().ok_or_else(no_set)?;
        host.keep_row(&mut set.rows, row)
    }

    /// True if the variables that are returned are known to have the structure of the result.
    fn is_known(&self, from: &Arc<RowDesc>, to: &Arc<RowDesc>) -> bool {
        let known = self.instance.returned.as_ref();
        known.is_some_and(|(a, b)| Arc::ptr_eq(a, from) && Arc::ptr_eq(b, to))
    }

    /// Appends the row of a record. 42804 if its structure differs.
    fn append_record(
        &mut self,
        host: &mut dyn Host,
        (var, record): (VarNo, usize),
        desc: &Arc<RowDesc>,
    ) -> Result<()> {
        self.instantiate(host, var)?;
        let Some(from) = self.records[record].desc.clone() else {
            return Err(crate::prepare::not_assigned(&self.code.function.vars[var].name));
        };
        self.settle(record)?;
        if !self.is_known(&from, desc) {
            check_structure(host, &from, desc, SUPPLIED)?;
            self.instance.returned = Some((from.clone(), desc.clone()));
        }
        let Frame { set, records, .. } = self;
        let set = set.as_mut().ok_or_else(no_set)?;
        host.keep_row(&mut set.rows, &live(&from, records[record].fields.iter()))
    }

    /// Appends the values of a list of variables as a row. 42804 if their types differ.
    fn append_list(
        &mut self,
        host: &mut dyn Host,
        fields: &[RowField],
        desc: &Arc<RowDesc>,
    ) -> Result<()> {
        if !self.is_known(desc, desc) {
            let (from, values) = self.list_values(host, fields)?;
            check_structure(host, &from, desc, SUPPLIED)?;
            // The types of scalar variables do not change.
            let vars = &self.code.function.vars;
            if fields.iter().all(|f| matches!(vars[f.var].kind, VarKind::Scalar { .. })) {
                self.instance.returned = Some((desc.clone(), desc.clone()));
            }
            return self.append(host, &live(&from, values.iter().map(Datum::as_ref)));
        }
        let Frame { set, vals, .. } = self;
        let set = set.as_mut().ok_or_else(no_set)?;
        let row: Refs<'_> = fields.iter().map(|field| vals[field.var].as_ref()).collect();
        host.keep_row(&mut set.rows, &row)
    }

    /// Appends a composite value as a row. 42804 if it has another structure.
    fn append_composite(
        &mut self,
        host: &mut dyn Host,
        value: &Datum,
        ty: Oid,
        desc: &Arc<RowDesc>,
    ) -> Result<()> {
        if value.is_null() {
            let fields = Fields::nulls(desc.columns.len());
            return self.append(host, &live(desc, fields.iter()));
        }
        if !self.is_composite(host, ty)? {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "cannot return non-composite value from function returning composite type"
            ));
        }
        let (row_type, typmod) = types::record::type_of(value.as_ref())?;
        let from = TypeCatalog::row_desc(host, row_type, typmod)?;
        check_structure(host, &from, desc, RETURNED)?;
        let fields = fields_of(host, &from, value.as_ref())?;
        self.append(host, &live(&from, fields.iter()))
    }

    pub(crate) fn return_query(
        &mut self,
        host: &mut dyn Host,
        stmt: &'f ReturnQuery,
    ) -> Result<()> {
        let count = match &stmt.source {
            RowSource::Dynamic { query, params } => self.return_dynamic(host, *query, params)?,
            source => {
                let opened = self.open_rows(host, source, true)?;
                self.keep_opened(host, opened)?
            }
        };
        self.refresh(host)?;
        self.processed = count;
        self.set_found(count > 0);
        Ok(())
    }

    /// Appends the rows of a dynamic query, or of several ones in the same text.
    fn return_dynamic(
        &mut self,
        host: &mut dyn Host,
        query: SqlNo,
        params: &[SqlNo],
    ) -> Result<u64> {
        let text = self.dynamic_text(host, query)?;
        let params = self.parameters(host, params)?;
        let list = match self.known_dynamic(host, query, &text, &params)? {
            Some(_) => None,
            None => parse::parse_with(&text, host.lexer()).ok().filter(|list| list.len() != 1),
        };
        let Some(list) = list else {
            let opened = self.open_dynamic_rows(host, (query, text), &params, true)?;
            return self.keep_opened(host, opened);
        };
        if list.is_empty() {
            return Err(no_rows("empty", true));
        }
        let mut count = 0;
        for raw in list {
            if !returns_tuples(&raw) {
                let e = no_rows(host.tag(&raw), true);
                return Err(in_sql(e, &text, SqlMode::Statement));
            }
            let (desc, outcome) = self.dynamic_statement(host, raw, (&text, None), &params)?;
            let (rows, text) = (Rows::Ready(outcome.rows.into_iter()), text.clone());
            count += self.keep_opened(host, Opened { rows, desc, text, writes: false })?;
        }
        Ok(count)
    }

    /// Appends the rows of a query; returns their number.
    fn keep_opened(&mut self, host: &mut dyn Host, mut opened: Opened) -> Result<u64> {
        let desc = self.set.as_ref().ok_or_else(no_set)?.desc.clone();
        let text = opened.text.clone();
        let text = (&text, SqlMode::Statement);
        self.in_statement(host, text, |host| check_structure(host, &opened.desc, &desc, QUERIED))?;
        let mut set = self.set.take().ok_or_else(no_set)?;
        let kept = self.in_statement(host, text, |host| match &mut opened.rows {
            Rows::Stream(rows) => host.keep_rows(rows.stream, &mut set.rows),
            Rows::Ready(rows) => keep_ready(host, rows, &mut set),
        });
        // An error may be handled, and further rows returned.
        self.set = Some(set);
        let count = kept?;
        let streams = opened.streams_before(host);
        host.contexts().end_streams(streams);
        Ok(count)
    }
}

/// Appends rows that have been computed; returns their number.
fn keep_ready(
    host: &mut dyn Host,
    rows: &mut std::vec::IntoIter<Vec<Datum>>,
    set: &mut ResultSet,
) -> Result<u64> {
    let mut count = 0;
    for row in rows {
        let row: Refs<'_> = row.iter().map(Datum::as_ref).collect();
        host.keep_row(&mut set.rows, &row)?;
        count += 1;
    }
    Ok(count)
}
