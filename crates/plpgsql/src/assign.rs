//! Assignment of values to variables of all kinds, and conversion of values. Counterpart:
//! `exec_assign_value`, `exec_move_row`, `exec_cast_value` of pl_exec.c.

use crate::fields::Fields;
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
use types::{Datum, DatumRef, oids};

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
    pub(crate) fields: Option<Fields>,
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
            VarKind::Record { .. } => {
                self.assign_composite(host, var, value.as_ref(), (from.0, "a record"))
            }
            VarKind::Row(fields) if value.is_null() => self.assign_nulls(host, fields),
            VarKind::Row(_) => self.assign_composite(host, var, value.as_ref(), (from.0, "a row")),
            VarKind::Field { record, name } => {
                self.assign_field(host, (var, *record), name, value, from)
            }
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
        let source = &mut self.records[*record];
        match source.desc.clone() {
            Some(desc) if !source.is_null => {
                let (fields, ty) = (Some(source.fields.shared()), source.ty);
                self.move_row(host, var, Row { desc: &desc, fields, ty })?;
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

    /// Assigns a composite value that is not NULL to a record or a list of variables; `what` names
    /// the kind of the variable.
    pub(crate) fn assign_composite(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        value: DatumRef<'_>,
        (from, what): (Oid, &str),
    ) -> Result<()> {
        if !self.is_composite(host, from)? {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "cannot assign non-composite value to {what} variable"
            ));
        }
        let (ty, typmod) = types::record::type_of(value)?;
        let desc = TypeCatalog::row_desc(host, ty, typmod)?;
        let fields = Some(fields_of(host, &desc, value)?);
        let ty = Some(ty).filter(|ty| *ty != oids::RECORD);
        self.move_row(host, var, Row { desc: &desc, fields, ty })
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
                let first = row.fields.as_ref().and_then(|fields| fields.iter().next());
                let value = first.unwrap_or_default().to_owned();
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
            let fields = row.fields.unwrap_or_else(|| Fields::nulls(count));
            self.records[record].replace(row.desc, fields, row.ty);
            return Ok(());
        }
        let Declared { base, desc, .. } = self.declared(host, record, ty)?;
        let fields = match row.fields {
            Some(fields) if self.has_structure(record, row.desc, &desc) => fields,
            Some(fields) => self.convert_row(host, (row.desc, &fields), &desc)?.into(),
            None => Fields::nulls(desc.columns.len()),
        };
        if base != ty.oid {
            let whole = row_datum(host, Some(base), &desc, &fields)?;
            self.check_domain(host, record, ty, whole)?;
        }
        self.records[record].replace(&desc, fields, Some(base));
        Ok(())
    }

    /// True if a row of the structure `from` is one of the structure of a record variable.
    fn has_structure(&mut self, record: usize, from: &Arc<RowDesc>, to: &Arc<RowDesc>) -> bool {
        if Arc::ptr_eq(from, to) {
            return true;
        }
        let known = &mut self.instance.compared[record];
        if let Some((a, b, same)) = known
            && Arc::ptr_eq(a, from)
            && Arc::ptr_eq(b, to)
        {
            return *same;
        }
        let same = from.columns.len() == to.columns.len()
            && from.columns.iter().zip(&to.columns).all(|(a, b)| {
                let fits = a.ty == b.ty && (a.typmod == b.typmod || b.typmod < 0);
                fits && !a.is_dropped() && !b.is_dropped()
            });
        *known = Some((from.clone(), to.clone(), same));
        same
    }

    /// The fields of a row as fields of another row type, by position.
    fn convert_row(
        &mut self,
        host: &mut dyn Host,
        (from, fields): (&RowDesc, &Fields),
        to: &RowDesc,
    ) -> Result<Vec<Datum>> {
        let live = from.columns.iter().zip(fields.iter()).filter(|(c, _)| !c.is_dropped());
        let mut live = live.map(|(c, value)| (value.to_owned(), c.ty, c.typmod));
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
        let values = row.fields.unwrap_or_else(|| Fields::nulls(count));
        let live = row.desc.columns.iter().zip(values.iter()).filter(|(c, _)| !c.is_dropped());
        let mut live = live.map(|(c, value)| (value.to_owned(), c.ty, c.typmod));
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
        let row = &mut self.records[*record];
        row.replace(&desc, Fields::nulls(desc.columns.len()), Some(base));
        row.is_null = true;
        Ok(())
    }

    fn assign_field(
        &mut self,
        host: &mut dyn Host,
        (field, var): (VarNo, VarNo),
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
        let at = match self.records[*record].place(name, self.instance.places[field]) {
            Some(FieldPlace::Column(at)) => at,
            Some(FieldPlace::System(..)) => {
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot assign to system column \"{name}\""
                ));
            }
            None => return Err(no_field(&variable.name, name)),
        };
        self.instance.places[field] = at;
        let RowColumn { ty: column, typmod, .. } = desc.columns[at];
        let value = self.cast(host, value, from, (column, typmod))?;
        let row = &mut self.records[*record];
        if !is_domain {
            row.set_field(at, value);
            return self.note_field(host, (field, var), at);
        }
        let (before, was_null) = (row.fields.get(at).to_owned(), row.is_null);
        row.set_field(at, value);
        let whole = self.record_value(host, var)?;
        if let Err(e) = self.check_domain(host, *record, ty, whole) {
            let row = &mut self.records[*record];
            row.fields.set(at, before);
            row.is_null = was_null;
            return Err(e);
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
        if ty.oid < Oid::FIRST_NORMAL {
            return Ok(false);
        }
        let stamp = self.stamp;
        match self.instance.declared[record].as_ref().filter(|known| known.stamp == stamp) {
            Some(known) => Ok(known.base != ty.oid),
            None => Ok(self.declared(host, record, ty)?.base != ty.oid),
        }
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
            Some(desc) if !record.is_null => row_datum(host, record.ty, desc, &record.fields),
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
                Ok((row_datum(host, None, &Arc::new(desc), &values.into())?, oids::RECORD, -1))
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
                        Ok((value.fields.get(at).to_owned(), column.ty, column.typmod))
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

/// The fields of a composite value of this structure.
pub(crate) fn fields_of(
    host: &mut dyn Host,
    desc: &RowDesc,
    value: DatumRef<'_>,
) -> Result<Fields> {
    let infos = desc.types(host.context())?;
    let mut values = types::record::deform(value, infos);
    for (column, value) in desc.columns.iter().zip(&mut values) {
        if column.is_dropped() {
            *value = DatumRef::Null;
        }
    }
    Ok(Fields::copied(values.iter().copied()))
}

/// True if rows of the structure `from` are stored as rows of a type with the structure `to`.
fn has_types(from: &Arc<RowDesc>, to: &Arc<RowDesc>) -> bool {
    let same = |(a, b): (&RowColumn, &RowColumn)| a.ty == b.ty && a.is_dropped() == b.is_dropped();
    Arc::ptr_eq(from, to)
        || from.version == to.version
            && from.columns.len() == to.columns.len()
            && from.columns.iter().zip(&to.columns).all(same)
}

/// Forms a composite value of these fields.
pub(crate) fn row_datum(
    host: &mut dyn Host,
    ty: Option<Oid>,
    desc: &Arc<RowDesc>,
    fields: &Fields,
) -> Result<Datum> {
    let typmod = match ty {
        Some(ty) if !has_types(desc, &TypeCatalog::row_desc(host, ty, -1)?) => {
            // The type has changed since the assignment.
            let live = desc.columns.iter().zip(fields.iter()).filter(|(c, _)| !c.is_dropped());
            let fields: Vec<Datum> = live.map(|(_, value)| value.to_owned()).collect();
            return eval::make_row(host.context(), ty, &fields);
        }
        Some(_) => -1,
        None => TypeCatalog::register_row(host, desc.clone())?,
    };
    let infos = desc.types(host.context())?.iter();
    let columns = infos.zip(&desc.columns).zip(fields.iter());
    let columns: Vec<_> = columns
        .map(|((info, column), value)| match column.is_dropped() {
            true => (*info, DatumRef::Null),
            false => (*info, value),
        })
        .collect();
    types::record::form(ty.unwrap_or(oids::RECORD), typmod, desc.version, &columns)
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
