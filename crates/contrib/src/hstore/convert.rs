//! Conversions: from and to arrays, rows and JSON.

use super::access::{text_or_null, texts};
use super::value::{Hstore, Pair, build};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use types::record;
use values::array::ArrayRef;
use values::array::payload::{build as build_array, builtin_info};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, RowDesc};
use values::oids;

fn null_key() -> PgError {
    pg_err!(NULL_VALUE_NOT_ALLOWED, "null value not allowed for hstore key")
}

fn wrong_subscripts(message: &str) -> PgError {
    pg_err!(ARRAY_SUBSCRIPT_ERROR, "{message}")
}

/// One pair; NULL if the key is NULL.
fn from_text(a: &[DatumRef<'_>]) -> Result<Datum> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let value = if a[1].is_null() { None } else { Some(a[1].as_bytes()) };
    build(vec![Pair::new(a[0].as_bytes(), value)])
}

/// From an array of keys and one of values, which may be NULL.
fn from_arrays(a: &[DatumRef<'_>]) -> Result<Datum> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let keys = ArrayRef::new(a[0])?;
    if keys.ndim() > 1 {
        return Err(wrong_subscripts("wrong number of array subscripts"));
    }
    let values = match a[1].is_null() {
        true => vec![None; keys.count()],
        false => {
            let values = ArrayRef::new(a[1])?;
            if values.ndim() > 1 {
                return Err(wrong_subscripts("wrong number of array subscripts"));
            }
            if !keys.same_bounds(values) {
                return Err(wrong_subscripts("arrays must have same bounds"));
            }
            texts(a[1])
        }
    };
    let mut pairs = Vec::new();
    for (key, value) in texts(a[0]).into_iter().zip(values) {
        pairs.push(Pair::new(key.ok_or_else(null_key)?, value));
    }
    build(pairs)
}

/// From an array in which keys and values alternate, or a matrix of two columns.
fn from_array(a: &[DatumRef<'_>]) -> Result<Datum> {
    let array = ArrayRef::new(a[0])?;
    match array.ndim() {
        0 => {}
        1 if array.dim(0) % 2 != 0 => {
            return Err(wrong_subscripts("array must have even number of elements"));
        }
        2 if array.dim(1) != 2 => return Err(wrong_subscripts("array must have two columns")),
        1 | 2 => {}
        _ => return Err(wrong_subscripts("wrong number of array subscripts")),
    }
    let mut pairs = Vec::new();
    for pair in texts(a[0]).chunks_exact(2) {
        pairs.push(Pair::new(pair[0].ok_or_else(null_key)?, pair[1]));
    }
    build(pairs)
}

/// The keys and values as an array of one or two dimensions.
fn to_array(d: DatumRef<'_>, dimensions: usize) -> Result<Datum> {
    let hstore = Hstore::new(d);
    let count = hstore.len() as i32;
    let mut values = Vec::with_capacity(2 * hstore.len());
    for (key, value) in hstore.pairs() {
        values.push(Datum::bytes(key));
        values.push(text_or_null(value));
    }
    let (dims, lower): (&[i32], &[i32]) = match dimensions {
        1 => (&[2 * count], &[1]),
        _ => (&[count, 2], &[1, 1]),
    };
    build_array(&builtin_info(oids::TEXT), dims, lower, values.iter().map(Datum::as_ref))
}

/// The identity of a row type.
struct RowType {
    ty: Oid,
    typmod: i32,
}

/// The columns of a row value, or of the type of an argument that is NULL.
fn row_of(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<(RowType, Arc<RowDesc>)> {
    let (ty, typmod) = match d.is_null() {
        true => {
            let ty = cx.arg_type(0);
            (cx.domain_base(ty)?.0, -1)
        }
        false => record::type_of(d)?,
    };
    let desc = cx.row_desc(ty, typmod)?;
    Ok((RowType { ty, typmod }, desc))
}

fn from_record(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let (_, desc) = row_of(cx, a[0])?;
    let fields = match a[0].is_null() {
        true => vec![DatumRef::Null; desc.columns.len()],
        false => record::deform(a[0], desc.types(cx)?),
    };
    let mut pairs = Vec::new();
    for (column, field) in desc.columns.iter().zip(fields) {
        if column.is_dropped() {
            continue;
        }
        let value = match field.is_null() {
            true => None,
            false => Some(cx.type_output(column.ty, field)?.into()),
        };
        pairs.push(Pair { key: column.name.as_bytes().into(), value });
    }
    build(pairs)
}

fn populate_record(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let argument = cx.arg_type(0);
    let base = cx.domain_base(argument)?.0;
    let info = cx.type_info(base)?;
    if !info.relid.is_valid() && base != oids::RECORD {
        return Err(pg_err!(DATATYPE_MISMATCH, "first argument must be a rowtype"));
    }
    if a[1].is_null() {
        return Ok(a[0].to_owned());
    }
    let hstore = Hstore::new(a[1]);
    if hstore.len() == 0 && !a[0].is_null() {
        return Ok(a[0].to_owned());
    }
    let (row, desc) = row_of(cx, a[0])?;
    let types = desc.types(cx)?.to_vec();
    let mut fields: Vec<Datum> = match a[0].is_null() {
        true => vec![Datum::Null; types.len()],
        false => record::deform(a[0], &types).into_iter().map(DatumRef::to_owned).collect(),
    };
    for (column, field) in desc.columns.iter().zip(&mut fields) {
        if column.is_dropped() {
            *field = Datum::Null;
            continue;
        }
        let found = hstore.find(column.name.as_bytes());
        match found.map(|i| hstore.value(i)) {
            None if !a[0].is_null() => {}
            Some(Some(text)) => *field = cx.type_input(column.ty, text, column.typmod)?,
            // A domain may not accept NULL.
            _ => *field = null_of(cx, column.ty)?,
        }
    }
    let columns: Vec<_> = types.into_iter().zip(fields.iter().map(Datum::as_ref)).collect();
    let value = record::form(row.ty, row.typmod, desc.version, &columns)?;
    match argument != row.ty && cx.domain_base(argument)?.0 != argument {
        true => cx.type_domain(argument, value),
        false => Ok(value),
    }
}

/// NULL as a value of the type.
fn null_of(cx: &mut dyn FnContext, ty: Oid) -> Result<Datum> {
    match cx.domain_base(ty)?.0 == ty {
        true => Ok(Datum::Null),
        false => cx.type_domain(ty, Datum::Null),
    }
}

fn push_json_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..=31 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Whether the text is a number in JSON.
fn is_json_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest[0] == b'0' {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let unsigned = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+"));
        let exponent = unsigned.unwrap_or(exponent);
        let count = digits(exponent);
        return count > 0 && count == exponent.len();
    }
    rest.is_empty()
}

/// The text of a JSON object. `loose`: values that look like numbers or booleans become these.
fn json_text(d: DatumRef<'_>, loose: bool) -> Vec<u8> {
    let mut out = b"{".to_vec();
    for (i, (key, value)) in Hstore::new(d).pairs().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        push_json_string(&mut out, key);
        out.extend_from_slice(b": ");
        match value {
            None => out.extend_from_slice(b"null"),
            Some(b"t") if loose => out.extend_from_slice(b"true"),
            Some(b"f") if loose => out.extend_from_slice(b"false"),
            Some(value) if loose && is_json_number(value) => out.extend_from_slice(value),
            Some(value) => push_json_string(&mut out, value),
        }
    }
    out.push(b'}');
    out
}

fn jsonb(cx: &mut dyn FnContext, d: DatumRef<'_>, loose: bool) -> Result<Datum> {
    let text = json_text(d, loose);
    cx.type_input(oids::JSONB, &text, -1)
}

scalars! { FNS;
    "hstore_from_text" => |_, a| from_text(a),
    "hstore_from_arrays" => |_, a| from_arrays(a),
    "hstore_from_array" => |_, a| from_array(a),
    "hstore_to_array" => |_, a| to_array(a[0], 1),
    "hstore_to_matrix" => |_, a| to_array(a[0], 2),
    "hstore_from_record" => |cx, a| from_record(cx, a),
    "hstore_populate_record" => |cx, a| populate_record(cx, a),
    "hstore_to_json" => |_, a| Ok(Datum::bytes(json_text(a[0], false))),
    "hstore_to_json_loose" => |_, a| Ok(Datum::bytes(json_text(a[0], true))),
    "hstore_to_jsonb" => |cx, a| jsonb(cx, a[0], false),
    "hstore_to_jsonb_loose" => |cx, a| jsonb(cx, a[0], true),
}
