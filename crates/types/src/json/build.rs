//! Conversion of SQL values to json and jsonb. Counterpart: json.c (datum_to_json), jsonb.c
//! (datum_to_jsonb).

use super::access::item;
use super::encode::Json;
use super::io::{put_string, text_of};
use super::parse::tree;
use crate::record;
use ids::Oid;
use ids::code::TypType;
use numeric::io::with_text;
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use values::array::payload::ArrayRef;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker, RowDesc, TypeInfo};
use values::function::AggState;
use values::limits::TextBuffer;
use values::oids;
use values::pieces::joined;

/// How the values of a type are converted.
enum Class {
    Bool,
    Number,
    /// Dates and times, in ISO 8601.
    Time,
    Json,
    Jsonb,
    Array,
    Row,
    /// By a cast to json if there is one, else as the string that the type's output function
    /// returns.
    Text,
}

fn class_of(cx: &mut dyn FnContext, ty: Oid) -> Result<(Class, TypeInfo)> {
    let mut info = cx.type_info(ty)?;
    while info.kind == TypType::Domain && info.base.is_valid() {
        info = cx.type_info(info.base)?;
    }
    let class = match info.oid {
        oids::BOOL => Class::Bool,
        oids::INT2 | oids::INT4 | oids::INT8 | oids::FLOAT4 | oids::FLOAT8 | oids::NUMERIC => {
            Class::Number
        }
        oids::DATE | oids::TIMESTAMP | oids::TIMESTAMPTZ => Class::Time,
        oids::JSON => Class::Json,
        oids::JSONB => Class::Jsonb,
        oids::RECORD => Class::Row,
        oids::ANYARRAY => Class::Array,
        _ if info.elem.is_valid() && info.len == -1 => Class::Array,
        _ if info.kind == TypType::Composite => Class::Row,
        _ => Class::Text,
    };
    Ok((class, info))
}

/// The columns of a row, dropped ones included, and their values.
fn columns<'a>(
    cx: &mut dyn FnContext,
    d: DatumRef<'a>,
) -> Result<(Arc<RowDesc>, Vec<DatumRef<'a>>)> {
    let (ty, typmod) = record::type_of(d)?;
    let desc = cx.row_desc(ty, typmod)?;
    let values = record::deform(d, desc.types(cx)?);
    Ok((desc, values))
}

/// Passes the text form of a value to `f`. The most frequent types are formatted here directly,
/// without a call of the output function.
fn with_value_text<T>(
    cx: &mut dyn FnContext,
    ty: Oid,
    d: DatumRef<'_>,
    f: impl FnOnce(&mut dyn FnContext, &[u8]) -> T,
) -> Result<T> {
    Ok(match ty {
        oids::INT2 | oids::INT4 | oids::INT8 => f(cx, d.as_i64().to_string().as_bytes()),
        oids::NUMERIC => with_text(d.as_bytes(), |text| f(cx, text)),
        oids::TEXT | oids::VARCHAR | oids::BPCHAR => f(cx, d.as_bytes()),
        _ => {
            let text = cx.type_output(ty, d)?;
            f(cx, &text)
        }
    })
}

/// Appends the JSON text of a value. `lines`: parts of the outermost value are on separate lines.
fn put(
    cx: &mut dyn FnContext,
    out: &mut TextBuffer,
    ty: Oid,
    d: DatumRef<'_>,
    lines: bool,
) -> Result<()> {
    if d.is_null() {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    let separator: &[u8] = if lines { b",\n " } else { b"," };
    let (class, info) = class_of(cx, ty)?;
    match class {
        Class::Bool => out.extend_from_slice(if d.as_bool() { b"true" } else { b"false" }),
        Class::Number => {
            // NaN and infinities are not valid JSON numbers, so they are quoted.
            with_value_text(cx, info.oid, d, |cx, text| {
                match text.last().is_some_and(u8::is_ascii_alphabetic) {
                    true => put_string(out, text, &InterruptChecker::new(cx)),
                    false => {
                        out.extend_from_slice(text);
                        Ok(())
                    }
                }
            })??;
        }
        Class::Time => {
            let text = datetime::io::iso8601(cx.settings(), info.oid, d);
            put_string(out, text.as_bytes(), &InterruptChecker::new(cx))?;
        }
        Class::Json => out.extend_from_slice(d.as_bytes()),
        Class::Jsonb => out.extend_from_slice(&text_of(d, &InterruptChecker::new(cx))?),
        Class::Array => {
            let array = ArrayRef::new(d)?;
            let elem = cx.type_info(array.elem_type())?;
            let elements = array.elements(&elem)?;
            put_dimensions(cx, out, elem.oid, &array.dims(), &elements, separator)?;
        }
        Class::Row => {
            out.push(b'{');
            let (desc, values) = columns(cx, d)?;
            let mut first = true;
            for (c, value) in desc.columns.iter().zip(values).filter(|(c, _)| !c.is_dropped()) {
                if !std::mem::replace(&mut first, false) {
                    out.extend_from_slice(separator);
                }
                put_string(out, c.name.as_bytes(), &InterruptChecker::new(cx))?;
                out.push(b':');
                put(cx, out, c.ty, value, false)?;
            }
            out.push(b'}');
        }
        Class::Text => match cast_to_json(cx, info.oid, d)? {
            Some(json) => out.extend_from_slice(json.as_ref().as_bytes()),
            None => with_value_text(cx, info.oid, d, |cx, text| {
                put_string(out, text, &InterruptChecker::new(cx))
            })??,
        },
    }
    out.check()
}

fn put_dimensions(
    cx: &mut dyn FnContext,
    out: &mut TextBuffer,
    elem: Oid,
    dims: &[i32],
    elements: &[DatumRef<'_>],
    separator: &[u8],
) -> Result<()> {
    out.push(b'[');
    if let [first, rest @ ..] = dims
        && *first > 0
        && !elements.is_empty()
    {
        for (i, part) in elements.chunks(elements.len() / *first as usize).enumerate() {
            if i > 0 {
                out.extend_from_slice(separator);
            }
            if i % 64 == 63 {
                cx.check_interrupts()?;
            }
            match rest {
                [] => put(cx, out, elem, part[0], false)?,
                rest => put_dimensions(cx, out, elem, rest, part, b",")?,
            }
        }
    }
    out.push(b']');
    Ok(())
}

/// The value in json by a cast from its type. Only a user or an extension can have created one.
fn cast_to_json(cx: &mut dyn FnContext, ty: Oid, d: DatumRef<'_>) -> Result<Option<Datum>> {
    if ty < Oid::FIRST_NORMAL { Ok(None) } else { cx.type_to_json(ty, d) }
}

/// The value that a json represents.
fn parsed(cx: &mut dyn FnContext, json: &[u8]) -> Result<Json> {
    let interrupts = &InterruptChecker::new(cx);
    Json::of_node(tree(json, interrupts)?, json, interrupts)
}

/// Converts a value to jsonb.
fn value(cx: &mut dyn FnContext, ty: Oid, d: DatumRef<'_>) -> Result<Json> {
    if d.is_null() {
        return Ok(Json::Null);
    }
    let (class, info) = class_of(cx, ty)?;
    Ok(match class {
        Class::Bool => Json::Bool(d.as_bool()),
        Class::Number => {
            let text = cx.type_output(info.oid, d)?;
            let n = numeric::io::parse(&text)?;
            if n.is_finite() { Json::number(&n)? } else { Json::String(text) }
        }
        Class::Time => Json::String(datetime::io::iso8601(cx.settings(), info.oid, d).into_bytes()),
        Class::Json => parsed(cx, d.as_bytes())?,
        Class::Jsonb => Json::of_item(item(d), &InterruptChecker::new(cx))?,
        Class::Array => {
            let array = ArrayRef::new(d)?;
            let elem = cx.type_info(array.elem_type())?;
            dimensions(cx, elem.oid, &array.dims(), &array.elements(&elem)?)?
        }
        Class::Row => {
            let (desc, values) = columns(cx, d)?;
            let live = desc.columns.iter().zip(values).filter(|(c, _)| !c.is_dropped());
            let pairs = live.map(|(c, v)| Ok((c.name.clone().into_bytes(), value(cx, c.ty, v)?)));
            Json::Object(pairs.collect::<Result<_>>()?)
        }
        Class::Text => match cast_to_json(cx, info.oid, d)? {
            Some(json) => parsed(cx, json.as_ref().as_bytes())?,
            None => Json::String(with_value_text(cx, info.oid, d, |_, text| text.to_vec())?),
        },
    })
}

fn dimensions(
    cx: &mut dyn FnContext,
    elem: Oid,
    dims: &[i32],
    elements: &[DatumRef<'_>],
) -> Result<Json> {
    let mut out = Vec::new();
    cx.check_interrupts()?;
    if let [first, rest @ ..] = dims
        && *first > 0
        && !elements.is_empty()
    {
        for (i, part) in elements.chunks(elements.len() / *first as usize).enumerate() {
            if i % 64 == 63 {
                cx.check_interrupts()?;
            }
            out.push(match rest {
                [] => value(cx, elem, part[0])?,
                rest => dimensions(cx, elem, rest, part)?,
            });
        }
    }
    Ok(Json::Array(out))
}

/// Converts a value to an object key.
fn key(cx: &mut dyn FnContext, ty: Oid, d: DatumRef<'_>) -> Result<Vec<u8>> {
    let (class, info) = class_of(cx, ty)?;
    let is_scalar = match class {
        Class::Json | Class::Jsonb | Class::Array | Class::Row => false,
        Class::Text => cast_to_json(cx, info.oid, d)?.is_none(),
        _ => true,
    };
    match class {
        _ if !is_scalar => Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "key value must be scalar, not array, composite, or json"
        )),
        Class::Bool => Ok(if d.as_bool() { b"true".to_vec() } else { b"false".to_vec() }),
        Class::Time => Ok(datetime::io::iso8601(cx.settings(), info.oid, d).into_bytes()),
        _ => with_value_text(cx, info.oid, d, |_, text| text.to_vec()),
    }
}

fn arguments<'a>(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'a>],
) -> Result<Option<Vec<(Oid, DatumRef<'a>)>>> {
    let variadic = cx.variadic_array();
    crate::string::build::values(cx, a, 0, variadic)
}

fn uneven(name: &str) -> PgError {
    pg_err!(INVALID_PARAMETER_VALUE, "argument list must have even number of elements")
        .hint(format!("The arguments of {name}() must consist of alternating keys and values."))
}

fn json_object(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let Some(args) = arguments(cx, a)? else { return Ok(Datum::Null) };
    if args.len() % 2 != 0 {
        return Err(uneven("json_build_object"));
    }
    let mut out = TextBuffer::from(b"{".as_slice());
    for (i, pair) in args.chunks_exact(2).enumerate() {
        if pair[0].1.is_null() {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "argument {} cannot be null", 2 * i + 1)
                .hint("Object keys should be text."));
        }
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        let key = key(cx, pair[0].0, pair[0].1)?;
        put_string(&mut out, &key, &InterruptChecker::new(cx))?;
        out.extend_from_slice(b" : ");
        put(cx, &mut out, pair[1].0, pair[1].1, false)?;
    }
    out.push(b'}');
    out.into_datum()
}

fn jsonb_object(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let Some(args) = arguments(cx, a)? else { return Ok(Datum::Null) };
    if args.len() % 2 != 0 {
        return Err(uneven("jsonb_build_object"));
    }
    let mut pairs = Vec::new();
    for (i, pair) in args.chunks_exact(2).enumerate() {
        if pair[0].1.is_null() {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "argument {}: key must not be null",
                2 * i + 1
            ));
        }
        pairs.push((key(cx, pair[0].0, pair[0].1)?, value(cx, pair[1].0, pair[1].1)?));
    }
    Json::Object(pairs).datum(&InterruptChecker::new(cx))
}

fn json_array(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let Some(args) = arguments(cx, a)? else { return Ok(Datum::Null) };
    let mut out = TextBuffer::from(b"[".as_slice());
    for (i, (ty, v)) in args.into_iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        put(cx, &mut out, ty, v, false)?;
    }
    out.push(b']');
    out.into_datum()
}

fn jsonb_array(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let Some(args) = arguments(cx, a)? else { return Ok(Datum::Null) };
    let all = args.into_iter().map(|(ty, v)| value(cx, ty, v)).collect::<Result<_>>()?;
    Json::Array(all).datum(&InterruptChecker::new(cx))
}

fn to_text(cx: &mut dyn FnContext, d: DatumRef<'_>, lines: bool) -> Result<Datum> {
    let mut out = TextBuffer::new();
    let ty = cx.arg_type(0);
    put(cx, &mut out, ty, d, lines)?;
    out.into_datum()
}

/// Pairs keys and values from one array of text, or from two.
fn from_texts(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
) -> Result<Vec<(Vec<u8>, Option<Vec<u8>>)>> {
    let subscripts = |what: &str| PgError::new(pgerror::SqlState::ARRAY_SUBSCRIPT_ERROR, what);
    let mut lists: Vec<Vec<Option<Vec<u8>>>> = Vec::new();
    for d in a {
        let array = ArrayRef::new(*d)?;
        if array.ndim() > if a.len() == 2 { 1 } else { 2 } {
            return Err(subscripts("wrong number of array subscripts"));
        }
        let elem = array.varlena_type(cx)?;
        let texts = array.iter(&elem).map(|e| (!e.is_null()).then(|| e.as_bytes().to_vec()));
        lists.push(texts.collect());
    }
    let pairs: Vec<_> = match &lists[..] {
        [_, _] if ArrayRef::new(a[0])?.ndim() != ArrayRef::new(a[1])?.ndim() => {
            return Err(subscripts("wrong number of array subscripts"));
        }
        [keys, values] => {
            if keys.len() != values.len() {
                return Err(subscripts("mismatched array dimensions"));
            }
            keys.iter().cloned().zip(values.iter().cloned()).collect()
        }
        _ => {
            let dims = ArrayRef::new(a[0])?.dims();
            if dims.len() == 1 && dims[0] % 2 != 0 {
                return Err(subscripts("array must have even number of elements"));
            }
            if dims.len() == 2 && dims[1] != 2 {
                return Err(subscripts("array must have two columns"));
            }
            lists[0].chunks_exact(2).map(|p| (p[0].clone(), p[1].clone())).collect()
        }
    };
    pairs
        .into_iter()
        .map(|(k, v)| {
            let null = || pg_err!(NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key");
            Ok((k.ok_or_else(null)?, v))
        })
        .collect()
}

fn json_from_texts(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut out = TextBuffer::from(b"{".as_slice());
    for (i, (k, v)) in from_texts(cx, a)?.into_iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        put_string(&mut out, &k, &InterruptChecker::new(cx))?;
        out.extend_from_slice(b" : ");
        match v {
            None => out.extend_from_slice(b"null"),
            Some(v) => put_string(&mut out, &v, &InterruptChecker::new(cx))?,
        }
    }
    out.push(b'}');
    out.into_datum()
}

fn jsonb_from_texts(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let pairs = from_texts(cx, a)?;
    Json::Object(pairs.into_iter().map(|(k, v)| (k, v.map_or(Json::Null, Json::String))).collect())
        .datum(&InterruptChecker::new(cx))
}

scalars! { FNS;
    "to_json" => |cx, a| to_text(cx, a[0], false),
    "row_to_json" => |cx, a| to_text(cx, a[0], false),
    "row_to_json_pretty" => |cx, a| to_text(cx, a[0], a[1].as_bool()),
    "array_to_json" => |cx, a| to_text(cx, a[0], false),
    "array_to_json_pretty" => |cx, a| to_text(cx, a[0], a[1].as_bool()),
    "to_jsonb" => |cx, a| {
        let ty = cx.arg_type(0);
        value(cx, ty, a[0])?.datum(&InterruptChecker::new(cx))
    },
    "json_build_object" => json_object,
    "json_build_object_noargs" => |_, _| Ok(Datum::text("{}")),
    "json_build_array" => json_array,
    "json_build_array_noargs" => |_, _| Ok(Datum::text("[]")),
    "jsonb_build_object" => jsonb_object,
    "jsonb_build_object_noargs" => |cx, _| {
        Json::Object(Vec::new()).datum(&InterruptChecker::new(cx))
    },
    "jsonb_build_array" => jsonb_array,
    "jsonb_build_array_noargs" => |cx, _| Json::Array(Vec::new()).datum(&InterruptChecker::new(cx)),
    "json_object" => json_from_texts,
    "json_object_two_arg" => json_from_texts,
    "jsonb_object" => jsonb_from_texts,
    "jsonb_object_two_arg" => jsonb_from_texts,
}

/// Transition state of the json aggregates: the text so far.
struct Text(TextBuffer);

fn field_name(d: DatumRef<'_>) -> Result<()> {
    if d.is_null() {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "field name must not be null"));
    }
    Ok(())
}

fn json_agg(cx: &mut dyn FnContext, s: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    let ty = cx.arg_type(0);
    let first = s.is_null();
    let structured = matches!(class_of(cx, ty)?.0, Class::Array | Class::Row);
    let Text(out) = s.get_or(|| Text(TextBuffer::from(b"[".as_slice())));
    if !first {
        out.extend_from_slice(b", ");
        if structured && !a[0].is_null() {
            out.extend_from_slice(b"\n ");
        }
    }
    put(cx, out, ty, a[0], false)
}

fn json_object_agg(cx: &mut dyn FnContext, s: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    field_name(a[0])?;
    let (key_type, value_type) = (cx.arg_type(0), cx.arg_type(1));
    let first = s.is_null();
    let Text(out) = s.get_or(|| Text(TextBuffer::from(b"{ ".as_slice())));
    if !first {
        out.extend_from_slice(b", ");
    }
    let key = key(cx, key_type, a[0])?;
    put_string(out, &key, &InterruptChecker::new(cx))?;
    out.extend_from_slice(b" : ");
    put(cx, out, value_type, a[1], false)
}

fn closed(cx: &dyn FnContext, s: &AggState, end: &[u8]) -> Result<Datum> {
    s.get::<Text>().map_or(Ok(Datum::Null), |Text(t)| joined(cx, &[t.as_slice(), end]))
}

fn jsonb_agg(cx: &mut dyn FnContext, s: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    let ty = cx.arg_type(0);
    let v = value(cx, ty, a[0])?;
    if let Json::Array(all) = s.get_or(|| Json::Array(Vec::new())) {
        all.push(v);
    }
    Ok(())
}

fn jsonb_object_agg(cx: &mut dyn FnContext, s: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    field_name(a[0])?;
    let (key_type, value_type) = (cx.arg_type(0), cx.arg_type(1));
    let pair = (key(cx, key_type, a[0])?, value(cx, value_type, a[1])?);
    if let Json::Object(all) = s.get_or(|| Json::Object(Vec::new())) {
        all.push(pair);
    }
    Ok(())
}

fn final_jsonb(cx: &dyn FnContext, s: &AggState) -> Result<Datum> {
    s.get::<Json>().map_or(Ok(Datum::Null), |j| j.clone().datum(&InterruptChecker::new(cx)))
}

builtins! { AGGREGATES;
    "json_agg_transfn" => Trans(json_agg),
    "json_agg_finalfn" => Final(|cx, s, _| closed(cx, s, b"]")),
    "json_object_agg_transfn" => Trans(json_object_agg),
    "json_object_agg_finalfn" => Final(|cx, s, _| closed(cx, s, b" }")),
    "jsonb_agg_transfn" => Trans(jsonb_agg),
    "jsonb_agg_finalfn" => Final(|cx, s, _| final_jsonb(cx, s)),
    "jsonb_object_agg_transfn" => Trans(jsonb_object_agg),
    "jsonb_object_agg_finalfn" => Final(|cx, s, _| final_jsonb(cx, s)),
}
