//! Assignment of values to variables of all kinds, and conversion of values. Counterpart:
//! `exec_assign_value`, `exec_move_row`, `exec_cast_value` of pl_exec.c.

use crate::frame::{FieldPlace, Frame, Record};
use crate::host::Host;
use crate::instance::{Cast, CastKey, Declared};
use crate::prepare::{no_field, not_assigned};
use crate::tree::{RowField, VarKind, VarNo, VarType};
use analyze::SessionLookup;
use eval::{Compiler, EvalState, Resolve, RowInput, RowRef, Slot, Source};
use ids::Oid;
use pgerror::{PgError, Result, Severity, pg_err};
use plan::expr::{CoerceViaIo, CoercionForm, Expr, Location, Var};
use std::sync::Arc;
use types::fn_context::{RowColumn, RowDesc, SessionContext, TypeCatalog, TypeFunctions};
use types::{Datum, oids};

/// The only column of the input of a conversion.
struct Value;

impl Resolve for Value {
    fn var(&mut self, _: &Var) -> Result<Slot> {
        Ok(Slot { source: Source::Scan, column: 0 })
    }
}

/// A row on its way to variables.
pub(crate) struct Row<'a> {
    pub(crate) desc: &'a Arc<RowDesc>,
    /// `None`: there is no row, and all fields are NULL.
    pub(crate) values: Option<Vec<Datum>>,
    /// The row type, if it is not that of an anonymous row.
    pub(crate) ty: Option<Oid>,
}

impl Frame<'_> {
    /// Converts a value to another type, as assignments do.
    pub(crate) fn cast(
        &mut self,
        host: &mut dyn Host,
        value: Datum,
        (from, from_typmod): (Oid, i32),
        (to, to_typmod): (Oid, i32),
    ) -> Result<Datum> {
        if from == to && (from_typmod == to_typmod || to_typmod < 0) {
            return Ok(value);
        }
        if value.is_null() && from == oids::UNKNOWN {
            return match eval::Facts::base_type(host, to)?.0 == to {
                true => Ok(value),
                false => TypeFunctions::type_domain(host, to, value),
            };
        }
        let key: CastKey = (from, from_typmod, to, to_typmod);
        if !self.instance.casts.contains_key(&key) {
            let cast = compile_cast(host, key)?;
            self.instance.casts.insert(key, cast);
        }
        let Some(Some(cast)) = self.instance.casts.get_mut(&key) else { return Ok(value) };
        let row = [value];
        let input = RowInput::scan(RowRef::Owned(&row));
        Ok(cast.program.eval_row(&mut cast.eval, host, &input)?.into_owned())
    }

    /// Assigns a value of type `from` to a variable.
    pub(crate) fn assign(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        value: Datum,
        from: (Oid, i32),
    ) -> Result<()> {
        let variable = &self.code.function.vars[var];
        match &variable.kind {
            VarKind::Scalar { ty, .. } => {
                let to = self.instance.case_types.get(&var).copied().unwrap_or(ty.oid);
                let value = self.cast(host, value, from, (to, ty.typmod))?;
                if value.is_null() && variable.not_null {
                    return Err(null_not_allowed(&variable.name));
                }
                self.vals.set(var, value);
                Ok(())
            }
            VarKind::Record { .. } if value.is_null() => self.assign_null(host, var),
            VarKind::Record { .. } => self.assign_composite(host, var, value, from.0, "a record"),
            VarKind::Row(fields) if value.is_null() => self.assign_nulls(host, fields),
            VarKind::Row(_) => self.assign_composite(host, var, value, from.0, "a row"),
            VarKind::Field { record, name } => self.assign_field(host, *record, name, value, from),
        }
    }

    /// Assigns the value of a record variable to another one; false if the target is no record.
    pub(crate) fn copied_record(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        from: VarNo,
    ) -> Result<bool> {
        let vars = &self.code.function.vars;
        let (VarKind::Record { .. }, VarKind::Record { record, .. }) =
            (&vars[var].kind, &vars[from].kind)
        else {
            return Ok(false);
        };
        if var == from {
            return Ok(true);
        }
        self.settle(*record)?;
        let source = &self.records[*record];
        match source.desc.clone() {
            Some(desc) if !source.is_null => {
                let (values, ty) = (Some(source.values.clone()), source.ty);
                self.move_row(host, var, Row { desc: &desc, values, ty })?;
            }
            _ => self.assign_null(host, var)?,
        }
        Ok(true)
    }

    /// What is known about the composite type of a record variable that is not `record`.
    fn declared(&mut self, host: &mut dyn Host, record: usize, ty: &VarType) -> Result<Declared> {
        let stamp = self.stamp;
        if let Some(known) = self.instance.declared[record].as_ref().filter(|d| d.stamp == stamp) {
            return Ok(known.clone());
        }
        let (base, _) = eval::Facts::base_type(host, ty.oid)?;
        let declared = Declared { stamp, base, desc: TypeCatalog::row_desc(host, base, -1)? };
        self.instance.declared[record] = Some(declared.clone());
        Ok(declared)
    }

    /// Assigns NULL to a record variable.
    pub(crate) fn assign_null(&mut self, host: &mut dyn Host, var: VarNo) -> Result<()> {
        let variable = &self.code.function.vars[var];
        let VarKind::Record { ty, record } = &variable.kind else {
            return Err(PgError::internal("record variable expected"));
        };
        if variable.not_null {
            return Err(null_not_allowed(&variable.name));
        }
        self.check_domain(host, *record, ty, Datum::Null)?;
        self.records[*record] = Record { is_null: true, ..Record::default() };
        Ok(())
    }

    fn assign_nulls(&mut self, host: &mut dyn Host, fields: &[RowField]) -> Result<()> {
        for field in fields {
            self.assign(host, field.var, Datum::Null, (oids::UNKNOWN, -1))?;
        }
        Ok(())
    }

    fn assign_composite(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        value: Datum,
        from: Oid,
        what: &str,
    ) -> Result<()> {
        if !self.is_row_type(host, from)? {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "cannot assign non-composite value to {what} variable"
            ));
        }
        let (ty, typmod) = types::record::type_of(value.as_ref());
        let desc = TypeCatalog::row_desc(host, ty, typmod)?;
        let values = eval::row_columns(host.context(), value.as_ref())?;
        let ty = Some(ty).filter(|ty| *ty != oids::RECORD);
        self.move_row(host, var, Row { desc: &desc, values: Some(values), ty })
    }

    fn is_row_type(&mut self, host: &mut dyn Host, ty: Oid) -> Result<bool> {
        if ty == oids::RECORD {
            return Ok(true);
        }
        let (base, _) = eval::Facts::base_type(host, ty)?;
        Ok(eval::Facts::type_info(host, base)?.relid.is_valid())
    }

    /// Assigns a row to a record, or to a list of variables.
    pub(crate) fn move_row(&mut self, host: &mut dyn Host, var: VarNo, row: Row<'_>) -> Result<()> {
        match &self.code.function.vars[var].kind {
            VarKind::Record { ty, record } => {
                let (ty, record) = (ty.clone(), *record);
                self.move_to_record(host, (&ty, record), row)
            }
            VarKind::Row(fields) => self.move_to_list(host, fields, row),
            VarKind::Scalar { .. } | VarKind::Field { .. } => {
                let value = row.values.and_then(|v| v.into_iter().next()).unwrap_or_default();
                let from =
                    row.desc.columns.first().map_or((oids::UNKNOWN, -1), |c| (c.ty, c.typmod));
                self.assign(host, var, value, from)
            }
        }
    }

    fn move_to_record(
        &mut self,
        host: &mut dyn Host,
        (ty, record): (&VarType, usize),
        row: Row<'_>,
    ) -> Result<()> {
        if ty.oid == oids::RECORD {
            let count = row.desc.columns.len();
            let values = row.values.unwrap_or_else(|| vec![Datum::Null; count]);
            let desc = Some(row.desc.clone());
            self.records[record] = Record { desc, values, ty: row.ty, ..Record::default() };
            return Ok(());
        }
        let Declared { base, desc, .. } = self.declared(host, record, ty)?;
        let values = match row.values {
            Some(values) if row.ty == Some(base) && Arc::ptr_eq(row.desc, &desc) => values,
            Some(values) => self.convert_row(host, (row.desc, values), &desc)?,
            None => vec![Datum::Null; desc.columns.len()],
        };
        if base != ty.oid {
            let whole = row_datum(host, Some(base), &desc, &values)?;
            self.check_domain(host, record, ty, whole)?;
        }
        let ty = Some(base);
        self.records[record] = Record { desc: Some(desc), values, ty, ..Record::default() };
        Ok(())
    }

    /// The fields of a row as fields of another row type, by position.
    pub(crate) fn convert_row(
        &mut self,
        host: &mut dyn Host,
        (from, values): (&RowDesc, Vec<Datum>),
        to: &RowDesc,
    ) -> Result<Vec<Datum>> {
        let live = from.columns.iter().zip(values).filter(|(c, _)| !c.is_dropped());
        let mut live = live.map(|(c, value)| (value, c.ty, c.typmod));
        let mut out = Vec::with_capacity(to.columns.len());
        for column in &to.columns {
            out.push(match column.is_dropped() {
                true => Datum::Null,
                false => {
                    let (value, ty, typmod) = match live.next() {
                        Some(column) => column,
                        None => {
                            self.check_count(host)?;
                            (Datum::Null, column.ty, -1)
                        }
                    };
                    self.cast(host, value, (ty, typmod), (column.ty, column.typmod))?
                }
            });
        }
        if live.next().is_some() {
            self.check_count(host)?;
        }
        Ok(out)
    }

    /// A warning or error, if it is enabled, for a row with another number of columns than there
    /// are targets.
    fn check_count(&mut self, host: &mut dyn Host) -> Result<()> {
        let is_error = self.extra.errors.strict_multi_assignment;
        if !is_error && !self.extra.warnings.strict_multi_assignment {
            return Ok(());
        }
        let setting = if is_error { "extra_errors" } else { "extra_warnings" };
        let e = pg_err!(
            DATATYPE_MISMATCH,
            "number of source and target fields in assignment does not match"
        )
        .detail(format!("strict_multi_assignment check of {setting} is active."))
        .hint("Make sure the query returns the exact list of columns.");
        if is_error {
            return Err(e);
        }
        SessionContext::notice(host, e.severity(Severity::Warning));
        // The next statement may begin without a check of notices.
        let used_host = self.used_host;
        self.note_notices(host);
        self.used_host = used_host;
        Ok(())
    }

    fn move_to_list(
        &mut self,
        host: &mut dyn Host,
        fields: &[RowField],
        row: Row<'_>,
    ) -> Result<()> {
        let count = row.desc.columns.len();
        let values = row.values.unwrap_or_else(|| vec![Datum::Null; count]);
        let live = row.desc.columns.iter().zip(values).filter(|(c, _)| !c.is_dropped());
        let mut live = live.map(|(c, value)| (value, c.ty, c.typmod));
        for field in fields {
            let (value, ty, typmod) = match live.next() {
                Some(column) => column,
                None => {
                    self.check_count(host)?;
                    (Datum::Null, oids::UNKNOWN, -1)
                }
            };
            self.assign(host, field.var, value, (ty, typmod))?;
        }
        if live.next().is_some() { self.check_count(host) } else { Ok(()) }
    }

    /// Gives a composite variable that has no value its structure.
    pub(crate) fn instantiate(&mut self, host: &mut dyn Host, var: VarNo) -> Result<()> {
        let VarKind::Record { ty, record } = &self.code.function.vars[var].kind else {
            return Ok(());
        };
        if self.records[*record].desc.is_some() || ty.oid == oids::RECORD {
            return Ok(());
        }
        let Declared { base, desc, .. } = self.declared(host, *record, ty)?;
        let values = vec![Datum::Null; desc.columns.len()];
        let (desc, ty) = (Some(desc), Some(base));
        self.records[*record] = Record { desc, values, ty, is_null: true, ..Record::default() };
        Ok(())
    }

    fn assign_field(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        name: &str,
        value: Datum,
        from: (Oid, i32),
    ) -> Result<()> {
        self.instantiate(host, var)?;
        let variable = &self.code.function.vars[var];
        let VarKind::Record { ty, record } = &variable.kind else {
            return Err(PgError::internal("record variable expected"));
        };
        let is_domain = self.is_domain(host, *record, ty)?;
        if is_domain {
            self.settle(*record)?;
        }
        let Some(desc) = self.records[*record].desc.clone() else {
            return Err(not_assigned(&variable.name));
        };
        let at = match self.records[*record].place(name, 0) {
            Some(FieldPlace::Column(at)) => at,
            Some(FieldPlace::System(..)) => {
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot assign to system column \"{name}\""
                ));
            }
            None => return Err(no_field(&variable.name, name)),
        };
        let RowColumn { ty: column, typmod, .. } = desc.columns[at];
        let value = self.cast(host, value, from, (column, typmod))?;
        let row = &mut self.records[*record];
        row.lent.retain(|(column, _)| *column != at);
        let before = std::mem::replace(&mut row.values[at], value);
        let was_null = std::mem::replace(&mut row.is_null, false);
        if is_domain {
            let whole = self.record_value(host, var)?;
            if let Err(e) = self.check_domain(host, *record, ty, whole) {
                let row = &mut self.records[*record];
                (row.values[at], row.is_null) = (before, was_null);
                return Err(e);
            }
        }
        Ok(())
    }

    /// Whether the type of a record variable is a domain.
    pub(crate) fn is_domain(
        &mut self,
        host: &mut dyn Host,
        record: usize,
        ty: &VarType,
    ) -> Result<bool> {
        Ok(ty.oid >= Oid::FIRST_NORMAL && self.declared(host, record, ty)?.base != ty.oid)
    }

    /// Checks a value of the base type of a domain over a composite type.
    fn check_domain(
        &mut self,
        host: &mut dyn Host,
        record: usize,
        ty: &VarType,
        value: Datum,
    ) -> Result<()> {
        if self.is_domain(host, record, ty)? {
            TypeFunctions::type_domain(host, ty.oid, value)?;
        }
        Ok(())
    }

    /// The value of a record variable as a composite value.
    pub(crate) fn record_value(&mut self, host: &mut dyn Host, var: VarNo) -> Result<Datum> {
        let VarKind::Record { record, .. } = &self.code.function.vars[var].kind else {
            return Err(PgError::internal("record variable expected"));
        };
        self.settle(*record)?;
        let record = &self.records[*record];
        match &record.desc {
            Some(desc) if !record.is_null => row_datum(host, record.ty, desc, &record.values),
            _ => Ok(Datum::Null),
        }
    }

    /// The value of a variable of any kind, and its type.
    pub(crate) fn variable_value(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
    ) -> Result<(Datum, Oid, i32)> {
        match &self.code.function.vars[var].kind {
            VarKind::Scalar { ty, .. } => {
                let value = self.vals[var].clone();
                self.vals.check()?;
                Ok((value, ty.oid, ty.typmod))
            }
            VarKind::Record { ty, record } => {
                let ty = match ty.oid {
                    oids::RECORD => self.records[*record].row_type(),
                    declared => declared,
                };
                Ok((self.record_value(host, var)?, ty, -1))
            }
            VarKind::Row(fields) => {
                let (desc, values) = self.list_values(host, fields)?;
                Ok((row_datum(host, None, &Arc::new(desc), &values)?, oids::RECORD, -1))
            }
            VarKind::Field { record, name } => {
                let (record, name) = (*record, name.clone());
                self.instantiate(host, record)?;
                let vars = &self.code.function.vars;
                let VarKind::Record { record: number, .. } = vars[record].kind else {
                    return Err(PgError::internal("field of a variable that is no record"));
                };
                self.settle(number)?;
                let value = &self.records[number];
                let Some(desc) = &value.desc else {
                    return Err(not_assigned(&vars[record].name));
                };
                match value.place(&name, 0) {
                    Some(FieldPlace::Column(at)) => {
                        let column = &desc.columns[at];
                        Ok((value.values[at].clone(), column.ty, column.typmod))
                    }
                    Some(FieldPlace::System(at, ty)) => Ok((value.system_column(at), ty, -1)),
                    None => Err(no_field(&vars[record].name, &name)),
                }
            }
        }
    }

    /// The values of a list of variables as a row.
    pub(crate) fn list_values(
        &mut self,
        host: &mut dyn Host,
        fields: &[RowField],
    ) -> Result<(RowDesc, Vec<Datum>)> {
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for field in fields {
            let (value, ty, typmod) = self.variable_value(host, field.var)?;
            let (name, collation) = (field.name.clone(), Oid::INVALID);
            columns.push(RowColumn { name, ty, typmod, collation, dropped: None });
            values.push(value);
        }
        Ok((RowDesc::new(columns, 0), values))
    }
}

/// Forms a composite value; `values` are by column number.
pub(crate) fn row_datum(
    host: &mut dyn Host,
    ty: Option<Oid>,
    desc: &Arc<RowDesc>,
    values: &[Datum],
) -> Result<Datum> {
    let live = desc.columns.iter().zip(values).filter(|(c, _)| !c.is_dropped());
    match ty {
        Some(ty) => {
            let fields: Vec<Datum> = live.map(|(_, value)| value.clone()).collect();
            eval::make_row(host.context(), ty, &fields)
        }
        None => {
            let typmod = TypeCatalog::register_row(host, desc.clone())?;
            let infos = desc.types(host.context())?;
            let fields = infos.iter().zip(values);
            let fields: Vec<_> = fields.map(|(info, v)| (*info, v.as_ref())).collect();
            types::record::form(oids::RECORD, typmod, desc.version, &fields)
        }
    }
}

fn null_not_allowed(name: &str) -> PgError {
    pg_err!(
        NULL_VALUE_NOT_ALLOWED,
        "null value cannot be assigned to variable \"{name}\" declared NOT NULL"
    )
}

/// Compiles a conversion; `None` if the value is one of the other type already.
fn compile_cast(host: &mut dyn Host, key: CastKey) -> Result<Option<Cast>> {
    let (from, from_typmod, to, to_typmod) = key;
    let value = Expr::Var(Var {
        varno: 1,
        varattno: 1,
        vartype: from,
        vartypmod: from_typmod,
        varcollid: Oid::INVALID,
        varlevelsup: 0,
        location: Location::UNKNOWN,
    });
    let through_text = from == oids::UNKNOWN || from == oids::RECORD;
    let cast = match through_text {
        true => None,
        false => {
            let mut lookup = SessionLookup::new(host);
            analyze::plpgsql::cast(&mut lookup, value.clone(), to, to_typmod)?
        }
    };
    let cast = cast.unwrap_or_else(|| {
        Expr::CoerceViaIo(Box::new(CoerceViaIo {
            arg: value,
            resulttype: to,
            resultcollid: Oid::INVALID,
            coerceformat: CoercionForm::ImplicitCast,
            location: Location::UNKNOWN,
        }))
    });
    if let Expr::Var(_) = cast {
        return Ok(None);
    }
    if let Expr::Relabel(relabel) = &cast
        && let Expr::Var(_) = relabel.arg
    {
        return Ok(None);
    }
    let program = Compiler::new(host, &mut Value).compile(&cast)?;
    Ok(Some(Cast { program, eval: EvalState::default() }))
}
