//! Enum types, by look-ups of the context. An enum value is the OID of its label. Counterpart:
//! enum.c.

use ids::Oid;
use pgerror::{Result, pg_err};
use std::cmp::Ordering;
use values::array::payload;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

fn input(cx: &mut dyn FnContext, text: &[u8], ty: Oid) -> Result<Datum> {
    let values = cx.enum_values(ty)?;
    match values.iter().find(|(_, label)| label.as_bytes() == text) {
        Some((oid, label)) => {
            check_safe(cx, ty, *oid, label)?;
            Ok(Datum::oid(*oid))
        }
        None => Err(pg_err!(
            INVALID_TEXT_REPRESENTATION,
            "invalid input value for enum {}: \"{}\"",
            cx.type_name(ty, None)?,
            values::type_io::lossy_text(text)
        )),
    }
}

/// 55P04 if the current transaction has added the value. Counterpart: `check_safe_enum_use`.
fn check_safe(cx: &mut dyn FnContext, ty: Oid, value: Oid, label: &str) -> Result<()> {
    if cx.enum_value_is_safe(value)? {
        return Ok(());
    }
    Err(pg_err!(
        UNSAFE_NEW_ENUM_VALUE_USAGE,
        "unsafe use of new value \"{label}\" of enum type {}",
        cx.type_name(ty, None)?
    )
    .hint("New enum values must be committed before they can be used."))
}

/// The label of a value, as `enum_out` writes it.
pub(crate) fn label(cx: &mut dyn FnContext, value: Oid) -> Result<Datum> {
    let ty = cx.enum_type_of(value)?;
    let values = cx.enum_values(ty)?;
    match values.iter().find(|(oid, _)| *oid == value) {
        Some((_, label)) => Ok(Datum::text(label)),
        None => {
            Err(pg_err!(INVALID_BINARY_REPRESENTATION, "invalid internal value for enum: {value}"))
        }
    }
}

/// Order of two labels of one type. Labels with even OIDs were created in sort order, so their OIDs
/// compare as the labels do.
pub fn compare(cx: &mut dyn FnContext, a: Oid, b: Oid) -> Result<Ordering> {
    if a == b || (a.0 & 1 == 0 && b.0 & 1 == 0) {
        return Ok(a.cmp(&b));
    }
    let ty = cx.enum_type_of(a)?;
    let values = cx.enum_values(ty)?;
    let rank = |v: Oid| values.iter().position(|(oid, _)| *oid == v);
    Ok(rank(a).cmp(&rank(b)))
}

/// The order of two values of an enum.
pub fn order(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Ordering> {
    compare(cx, a[0].as_oid(), a[1].as_oid())
}

/// The labels between two bounds as an array; a NULL bound is open.
fn range(cx: &mut dyn FnContext, low: DatumRef<'_>, high: DatumRef<'_>) -> Result<Datum> {
    let ty = enum_arg(cx)?;
    let values = cx.enum_values(ty)?;
    let elem = cx.type_info(ty)?;
    let at = |d: DatumRef<'_>| values.iter().position(|(oid, _)| *oid == d.as_oid());
    let from = if low.is_null() { Some(0) } else { at(low) };
    let to = if high.is_null() { Some(values.len()) } else { at(high).map(|i| i + 1) };
    let labels: Vec<Datum> = match (from, to) {
        (Some(f), Some(t)) if f < t => {
            for (value, label) in &values[f..t] {
                check_safe(cx, ty, *value, label)?;
            }
            values[f..t].iter().map(|(o, _)| Datum::oid(*o)).collect()
        }
        _ => Vec::new(),
    };
    payload::build_1d(&elem, &labels)
}

fn enum_arg(cx: &mut dyn FnContext) -> Result<Oid> {
    match cx.arg_type(0) {
        Oid::INVALID => Err(pg_err!(FEATURE_NOT_SUPPORTED, "could not determine actual enum type")),
        ty => Ok(ty),
    }
}

fn end(cx: &mut dyn FnContext, last: bool) -> Result<Datum> {
    let ty = enum_arg(cx)?;
    let values = cx.enum_values(ty)?;
    let value = if last { values.last() } else { values.first() };
    match value {
        Some((oid, label)) => {
            check_safe(cx, ty, *oid, label)?;
            Ok(Datum::oid(*oid))
        }
        None => Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "enum {} contains no values",
            cx.type_name(ty, None)?
        )),
    }
}

scalars! { FNS;
    "enum_in" => |cx, a| input(cx, a[0].as_bytes(), a[1].as_oid()),
    "enum_out" => |cx, a| label(cx, a[0].as_oid()),
    "enum_recv" => |cx, a| {
        let text = values::text::from_client(cx, a[0].as_bytes())?;
        input(cx, &text, a[1].as_oid())
    },
    "enum_send" => |cx, a| {
        let label = label(cx, a[0].as_oid())?;
        values::text::send(cx, label.as_ref())
    },
    "enum_eq" => |_, a| Ok(Datum::bool(a[0].as_oid() == a[1].as_oid())),
    "enum_ne" => |_, a| Ok(Datum::bool(a[0].as_oid() != a[1].as_oid())),
    "enum_lt" => |cx, a| Ok(Datum::bool(order(cx, a)?.is_lt())),
    "enum_le" => |cx, a| Ok(Datum::bool(order(cx, a)?.is_le())),
    "enum_gt" => |cx, a| Ok(Datum::bool(order(cx, a)?.is_gt())),
    "enum_ge" => |cx, a| Ok(Datum::bool(order(cx, a)?.is_ge())),
    "enum_cmp" => |cx, a| Ok(Datum::int4(order(cx, a)? as i32)),
    "enum_larger" => |cx, a| Ok(a[usize::from(!order(cx, a)?.is_gt())].to_owned()),
    "enum_smaller" => |cx, a| Ok(a[usize::from(!order(cx, a)?.is_lt())].to_owned()),
    "enum_first" => |cx, _| end(cx, false),
    "enum_last" => |cx, _| end(cx, true),
    "enum_range_all" => |cx, _| range(cx, DatumRef::Null, DatumRef::Null),
    "enum_range_bounds" => |cx, a| range(cx, a[0], a[1]),
}
