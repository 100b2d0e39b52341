//! Composite values: forming and deforming them, reading and changing fields.
//! Counterpart: execExprInterp.c (ExecEvalRow, ExecEvalFieldSelect, ExecEvalFieldStoreForm, …).

use crate::arrays::with_placeholder;
use crate::host::Host;
use crate::program::{EvalState, Node, Slot};
use crate::row::{RowInput, Val, eval};
use ids::code::TypType;
use ids::{AttrNo, Oid};
use pgerror::{Result, pg_err};
use std::sync::Arc;
use types::fn_context::{FnContext, RowColumn, RowDesc};
use types::{Datum, DatumRef, oids, record};

/// Forms a composite value of type `ty` from these columns; missing ones are NULL.
fn form(
    cx: &mut dyn FnContext,
    ty: Oid,
    typmod: i32,
    desc: &RowDesc,
    values: &[DatumRef<'_>],
) -> Result<Datum> {
    let types = desc.types(cx)?.iter().enumerate();
    let columns: Vec<_> =
        types.map(|(i, info)| (*info, values.get(i).copied().unwrap_or_default())).collect();
    record::form(ty, typmod, desc.version, &columns)
}

/// The composite type under a domain, or the type itself.
fn base_row_type(cx: &mut dyn FnContext, ty: Oid) -> Result<Oid> {
    let mut ty = ty;
    loop {
        let info = cx.type_info(ty)?;
        if info.kind != TypType::Domain {
            return Ok(ty);
        }
        ty = info.base;
    }
}

/// Forms a value of a composite type, or of an anonymous row type (`ty` = record).
fn form_as(
    cx: &mut dyn FnContext,
    ty: Oid,
    desc: &Arc<RowDesc>,
    values: &[DatumRef<'_>],
) -> Result<Datum> {
    if ty == oids::RECORD || !ty.is_valid() {
        let typmod = cx.register_row(desc.clone())?;
        return form(cx, oids::RECORD, typmod, desc, values);
    }
    let ty = base_row_type(cx, ty)?;
    let desc = cx.row_desc(ty, -1)?;
    form(cx, ty, -1, &desc, values)
}

pub(crate) fn whole_row<'a>(
    slots: &[Slot],
    desc: &Arc<RowDesc>,
    type_oid: Oid,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    if slots.first().is_some_and(|s| input.is_missing(s.source)) {
        return Ok(Val::NULL);
    }
    // The slots of dropped columns are those of any columns.
    let dropped = |at: usize| desc.columns.get(at).is_some_and(RowColumn::is_dropped);
    let value = |(at, slot): (usize, &Slot)| match dropped(at) {
        true => DatumRef::Null,
        false => input.get(*slot),
    };
    let values: Vec<DatumRef<'_>> = slots.iter().enumerate().map(value).collect();
    form_as(host, type_oid, desc, &values).map(Val::Own)
}

pub(crate) fn construct<'a>(
    args: &'a [Node],
    desc: &Arc<RowDesc>,
    type_oid: Oid,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let mut values = Vec::with_capacity(args.len());
    for a in args {
        values.push(eval(a, st, host, input)?);
    }
    let refs: Vec<DatumRef<'_>> = values.iter().map(Val::as_ref).collect();
    form_as(host, type_oid, desc, &refs).map(Val::Own)
}

pub(crate) fn select_field(
    host: &mut dyn Host,
    row: DatumRef<'_>,
    field: AttrNo,
    result_type: Oid,
) -> Result<Datum> {
    if row.is_null() {
        return Ok(Datum::Null);
    }
    let (ty, typmod) = record::type_of(row)?;
    let desc = host.row_desc(ty, typmod)?;
    let at = (field as usize).wrapping_sub(1);
    let Some(column) = desc.columns.get(at) else {
        return Err(pgerror::PgError::internal(format!(
            "attribute number {field} exceeds number of columns {}",
            desc.columns.len()
        )));
    };
    if column.is_dropped() {
        return Ok(Datum::Null);
    }
    if column.ty != result_type {
        let (have, want) = (host.type_name(column.ty, None)?, host.type_name(result_type, None)?);
        return Err(pg_err!(DATATYPE_MISMATCH, "attribute {field} has wrong type")
            .detail(format!("Table has type {have}, but query expects {want}.")));
    }
    let infos = desc.types(host)?;
    Ok(record::deform(row, &infos[..=at]).pop().unwrap_or_default().to_owned())
}

pub(crate) fn store_fields<'a>(
    arg: &'a Node,
    fields: &'a [(AttrNo, Node)],
    row_type: Oid,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let old = eval(arg, st, host, input)?;
    let ty = base_row_type(host, row_type)?;
    let desc = host.row_desc(ty, -1)?;
    let infos = desc.types(host)?;
    let mut values: Vec<Datum> = if old.is_null() {
        vec![Datum::Null; infos.len()]
    } else {
        record::type_of(old.as_ref())?;
        record::deform(old.as_ref(), infos).into_iter().map(DatumRef::to_owned).collect()
    };
    for (attno, node) in fields {
        let at = (*attno as usize).wrapping_sub(1);
        let before = values.get(at).cloned().unwrap_or_default();
        let new = with_placeholder(before, node, st, host, input)?;
        if let Some(slot) = values.get_mut(at) {
            *slot = new;
        }
    }
    let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
    form(host, ty, -1, &desc, &refs).map(Val::Own)
}

/// Converts a row of a child table to its parent's row type: columns are matched by name and type.
pub(crate) fn convert(host: &mut dyn Host, row: DatumRef<'_>, result_type: Oid) -> Result<Datum> {
    if row.is_null() {
        return Ok(Datum::Null);
    }
    let (ty, typmod) = record::type_of(row)?;
    let target = base_row_type(host, result_type)?;
    if ty == target {
        return Ok(row.to_owned());
    }
    let from = host.row_desc(ty, typmod)?;
    let to = host.row_desc(target, -1)?;
    let infos = from.types(host)?;
    let values = record::deform(row, infos);
    let position = |c: &RowColumn| {
        if c.is_dropped() {
            return None;
        }
        from.columns.iter().position(|f| !f.is_dropped() && f.name == c.name && f.ty == c.ty)
    };
    let picked: Vec<DatumRef<'_>> =
        to.columns.iter().map(|c| position(c).map_or(DatumRef::Null, |i| values[i])).collect();
    form(host, target, -1, &to, &picked)
}

/// `row IS NULL` (all fields NULL) or, with `is_not`, `row IS NOT NULL` (no field NULL). The row
/// itself is not NULL; fields that are rows are not tested recursively.
pub(crate) fn null_test(host: &mut dyn Host, row: DatumRef<'_>, is_not: bool) -> Result<bool> {
    let (ty, typmod) = record::type_of(row)?;
    let desc = host.row_desc(ty, typmod)?;
    let infos = desc.types(host)?;
    let values = record::deform(row, infos);
    Ok(desc.columns.iter().zip(values).all(|(c, v)| c.is_dropped() || v.is_null() != is_not))
}

/// The types of a composite value's fields by column number, `None` for dropped columns.
pub fn row_types(cx: &mut dyn FnContext, row: DatumRef<'_>) -> Result<Vec<Option<Oid>>> {
    let (ty, typmod) = record::type_of(row)?;
    let desc = cx.row_desc(ty, typmod)?;
    Ok(desc.columns.iter().map(|c| (!c.is_dropped()).then_some(c.ty)).collect())
}

/// The fields of a composite value without dropped columns.
pub fn row_fields(cx: &mut dyn FnContext, row: DatumRef<'_>) -> Result<Vec<Datum>> {
    let (ty, typmod) = record::type_of(row)?;
    let desc = cx.row_desc(ty, typmod)?;
    let infos = desc.types(cx)?;
    let values = record::deform(row, infos);
    let live = desc.columns.iter().zip(values).filter(|(c, _)| !c.is_dropped());
    Ok(live.map(|(_, v)| v.to_owned()).collect())
}

/// The fields of a composite value by column number, NULL for dropped columns.
pub fn row_columns(cx: &mut dyn FnContext, row: DatumRef<'_>) -> Result<Vec<Datum>> {
    let (ty, typmod) = record::type_of(row)?;
    let desc = cx.row_desc(ty, typmod)?;
    let infos = desc.types(cx)?;
    let values = desc.columns.iter().zip(record::deform(row, infos));
    Ok(values.map(|(c, v)| if c.is_dropped() { Datum::Null } else { v.to_owned() }).collect())
}

/// Forms a value of a composite type; `fields` are those of its columns without dropped ones.
pub fn make_row(cx: &mut dyn FnContext, ty: Oid, fields: &[Datum]) -> Result<Datum> {
    let desc = cx.row_desc(ty, -1)?;
    let mut given = fields.iter();
    let refs: Vec<DatumRef<'_>> = desc
        .columns
        .iter()
        .map(|c| if c.is_dropped() { None } else { given.next() })
        .map(|d| d.map_or(DatumRef::Null, Datum::as_ref))
        .collect();
    form_as(cx, ty, &desc, &refs)
}

/// Forms a value of type record with fields of these types.
pub fn make_record(cx: &mut dyn FnContext, types: &[Oid], fields: &[Datum]) -> Result<Datum> {
    make_named_record(cx, &[], types, fields)
}

/// As [`make_record`], with names for the fields; an absent or empty name becomes `f1`, `f2`, ….
pub fn make_named_record(
    cx: &mut dyn FnContext,
    names: &[String],
    types: &[Oid],
    fields: &[Datum],
) -> Result<Datum> {
    let column = |(i, &ty): (usize, &Oid)| RowColumn {
        name: match names.get(i) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("f{}", i + 1),
        },
        ty,
        typmod: -1,
        collation: Oid::INVALID,
        dropped: None,
    };
    let columns = types.iter().enumerate().map(column).collect();
    let desc = Arc::new(RowDesc::new(columns, 0));
    let refs: Vec<DatumRef<'_>> = fields.iter().map(Datum::as_ref).collect();
    form_as(cx, oids::RECORD, &desc, &refs)
}
