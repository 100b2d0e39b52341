//! Access to parts of json and jsonb: the operators `->` and `#>` and their variants, array length,
//! type, keys, elements, casts. Counterpart: jsonfuncs.c, jsonb.c.

use super::binary::{Container, Item};
use super::encode::datum_of;
use super::io::put_item;
use super::parse::{Kind, Node, tree};
use numeric::functions::CASTS;
use numeric::io::with_text;
use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use values::array::payload::ArrayRef;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::function::{self, SetSource, VecSource};
use values::limits::TextBuffer;
use values::memory;

fn refused(message: impl Into<String>) -> PgError {
    PgError::new(pgerror::SqlState::INVALID_PARAMETER_VALUE, message)
}

/// Operations that json and jsonb have in common.
pub(super) trait Value: Sized {
    fn member(&self, key: &[u8]) -> Option<Self>;
    fn elements_count(&self) -> Option<usize>;
    fn nth(&self, i: usize) -> Option<Self>;
    /// The value as a datum of its own type.
    fn datum(&self, interrupts: &InterruptChecker<'_>) -> Result<Datum>;
    /// The value as text; SQL NULL for a JSON null.
    fn text(&self, interrupts: &InterruptChecker<'_>) -> Result<Datum>;

    /// The element with index `i`; a negative index counts from the end.
    fn element(&self, i: i64) -> Option<Self> {
        let n = self.elements_count()? as i64;
        let i = if i < 0 { i + n } else { i };
        if (0..n).contains(&i) { self.nth(i as usize) } else { None }
    }

    fn at_path(self, path: &[&[u8]]) -> Option<Self> {
        let mut here = self;
        for step in path {
            here = match here.elements_count() {
                Some(_) => here.element(index_of(step)?)?,
                None => here.member(step)?,
            };
        }
        Some(here)
    }
}

/// A path step as an array index.
pub(super) fn index_of(step: &[u8]) -> Option<i64> {
    Some(std::str::from_utf8(step).ok()?.trim_start().parse::<i32>().ok()?.into())
}

/// Parses a json datum and applies `f` to it.
fn with_json<T>(
    cx: &mut dyn FnContext,
    d: DatumRef<'_>,
    f: impl FnOnce(&mut dyn FnContext, Part<'_>) -> Result<T>,
) -> Result<T> {
    let text = d.as_bytes();
    let node = tree(text, &InterruptChecker::new(cx))?;
    f(cx, Part { text, node: &node })
}

/// A part of a json text.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub text: &'a [u8],
    pub node: &'a Node,
}

impl<'a> Part<'a> {
    fn sub(self, node: &'a Node) -> Part<'a> {
        Part { node, ..self }
    }

    pub(super) fn raw(&self) -> &'a [u8] {
        &self.text[self.node.span.clone()]
    }
}

impl Value for Part<'_> {
    /// If a key is repeated, the last member under which the rest of the path exists is used.
    fn at_path(self, path: &[&[u8]]) -> Option<Self> {
        let Some((step, rest)) = path.split_first() else { return Some(self) };
        match &self.node.kind {
            Kind::Object(pairs) => {
                let mut named = pairs.iter().rev().filter(|(k, _)| k == step);
                named.find_map(|(_, v)| self.sub(v).at_path(rest))
            }
            Kind::Array(_) => self.element(index_of(step)?)?.at_path(rest),
            _ => None,
        }
    }

    fn member(&self, key: &[u8]) -> Option<Self> {
        let Kind::Object(pairs) = &self.node.kind else { return None };
        // If a key is repeated, its last member is used.
        pairs.iter().rev().find(|(k, _)| k == key).map(|(_, v)| self.sub(v))
    }

    fn elements_count(&self) -> Option<usize> {
        match &self.node.kind {
            Kind::Array(e) => Some(e.len()),
            _ => None,
        }
    }

    fn nth(&self, i: usize) -> Option<Self> {
        match &self.node.kind {
            Kind::Array(e) => e.get(i).map(|n| self.sub(n)),
            _ => None,
        }
    }

    fn datum(&self, _: &InterruptChecker<'_>) -> Result<Datum> {
        Ok(Datum::bytes(self.raw()))
    }

    fn text(&self, _: &InterruptChecker<'_>) -> Result<Datum> {
        Ok(match &self.node.kind {
            Kind::Null => Datum::Null,
            Kind::String(s) => Datum::bytes(s.clone()),
            _ => Datum::bytes(self.raw()),
        })
    }
}

impl Value for Item<'_> {
    fn member(&self, key: &[u8]) -> Option<Self> {
        match self {
            Item::Container(c) => c.get(key),
            _ => None,
        }
    }

    fn elements_count(&self) -> Option<usize> {
        match self {
            Item::Container(c) if !c.is_object() => Some(c.len()),
            _ => None,
        }
    }

    fn nth(&self, i: usize) -> Option<Self> {
        match self {
            Item::Container(c) => Some(c.element(i)),
            _ => None,
        }
    }

    fn datum(&self, _: &InterruptChecker<'_>) -> Result<Datum> {
        Ok(datum_of(*self))
    }

    fn text(&self, interrupts: &InterruptChecker<'_>) -> Result<Datum> {
        Ok(match self {
            Item::Null => Datum::Null,
            Item::String(s) => Datum::bytes(*s),
            Item::Number(n) => with_text(n, |text| Datum::bytes(text)),
            item => {
                let mut out = TextBuffer::new();
                put_item(&mut out, *item, super::io::Layout::Line, interrupts)?;
                return out.into_datum();
            }
        })
    }
}

/// The container of a jsonb; a scalar is stored as an array with one element.
fn as_array(d: DatumRef<'_>) -> Item<'_> {
    Item::Container(Container::new(d.as_bytes()))
}

pub(super) fn item(d: DatumRef<'_>) -> Item<'_> {
    Container::new(d.as_bytes()).item()
}

fn answer<V: Value>(cx: &dyn FnContext, v: Option<V>, text: bool) -> Result<Datum> {
    match v {
        None => Ok(Datum::Null),
        Some(v) => part(&InterruptChecker::new(cx), v, text),
    }
}

/// Converts one of many parts of a value.
fn part<V: Value>(interrupts: &InterruptChecker<'_>, v: V, text: bool) -> Result<Datum> {
    if text { v.text(interrupts) } else { v.datum(interrupts) }
}

/// The steps of a path; `None` if one of them is NULL.
fn path_of<'a>(cx: &mut dyn FnContext, d: DatumRef<'a>) -> Result<Option<SmallVec<[&'a [u8]; 8]>>> {
    let array = ArrayRef::new(d)?;
    if array.contains_null() {
        return Ok(None);
    }
    let elem = array.varlena_type(cx)?;
    memory::admit(array.count() * size_of::<&[u8]>())?;
    Ok(Some(array.iter(&elem).map(DatumRef::as_bytes).collect()))
}

fn by_path<V: Value>(
    cx: &mut dyn FnContext,
    v: V,
    path: DatumRef<'_>,
    text: bool,
) -> Result<Datum> {
    match path_of(cx, path)? {
        None => Ok(Datum::Null),
        Some(path) => answer(cx, v.at_path(&path), text),
    }
}

fn array_length<V: Value>(v: &V, scalar: bool) -> Result<Datum> {
    match v.elements_count() {
        Some(n) => Ok(Datum::int4(n as i32)),
        None if scalar => Err(refused("cannot get array length of a scalar")),
        None => Err(refused("cannot get array length of a non-array")),
    }
}

fn is_json_scalar(p: Part<'_>) -> bool {
    !matches!(p.node.kind, Kind::Array(_) | Kind::Object(_))
}

fn kind_of_item(i: Item<'_>) -> &'static str {
    match i {
        Item::Null => "null",
        Item::Bool(_) => "boolean",
        Item::Number(_) => "number",
        Item::String(_) => "string",
        Item::Container(c) if c.is_object() => "object",
        Item::Container(_) => "array",
    }
}

fn kind_of_node(n: &Node) -> &'static str {
    match n.kind {
        Kind::Null => "null",
        Kind::Bool(_) => "boolean",
        Kind::Number => "number",
        Kind::String(_) => "string",
        Kind::Object(_) => "object",
        Kind::Array(_) => "array",
    }
}

/// Casts a jsonb number to another type by the cast function of numeric.
fn number(
    cx: &mut dyn FnContext,
    d: DatumRef<'_>,
    cast: Option<&str>,
    name: &str,
) -> Result<Datum> {
    match (item(d), cast) {
        (Item::Number(n), None) => Ok(Datum::bytes(n)),
        (Item::Number(n), Some(cast)) => {
            let f =
                function::scalar_in(&[CASTS], cast).ok_or_else(|| PgError::unsupported(cast))?;
            f(cx, &[DatumRef::Bytes(n)])
        }
        (other, _) => Err(not_castable(other, name)),
    }
}

fn not_castable(i: Item<'_>, name: &str) -> PgError {
    let kind = match kind_of_item(i) {
        "number" => "numeric",
        kind => kind,
    };
    pg_err!(INVALID_PARAMETER_VALUE, "cannot cast jsonb {kind} to type {name}")
}

scalars! { FNS;
    "json_object_field" => |cx, a| {
        with_json(cx, a[0], |cx, p| answer(cx, p.member(a[1].as_bytes()), false))
    },
    "json_object_field_text" => |cx, a| {
        with_json(cx, a[0], |cx, p| answer(cx, p.member(a[1].as_bytes()), true))
    },
    "json_array_element" => |cx, a| {
        with_json(cx, a[0], |cx, p| answer(cx, p.element(a[1].as_i32().into()), false))
    },
    "json_array_element_text" => |cx, a| {
        with_json(cx, a[0], |cx, p| answer(cx, p.element(a[1].as_i32().into()), true))
    },
    "json_extract_path" => |cx, a| with_json(cx, a[0], |cx, p| by_path(cx, p, a[1], false)),
    "json_extract_path_text" => |cx, a| with_json(cx, a[0], |cx, p| by_path(cx, p, a[1], true)),
    "jsonb_object_field" => |cx, a| answer(cx, item(a[0]).member(a[1].as_bytes()), false),
    "jsonb_object_field_text" => |cx, a| answer(cx, item(a[0]).member(a[1].as_bytes()), true),
    "jsonb_array_element" => |cx, a| {
        answer(cx, as_array(a[0]).element(a[1].as_i32().into()), false)
    },
    "jsonb_array_element_text" => |cx, a| {
        answer(cx, as_array(a[0]).element(a[1].as_i32().into()), true)
    },
    "jsonb_extract_path" => |cx, a| by_path(cx, item(a[0]), a[1], false),
    "jsonb_extract_path_text" => |cx, a| by_path(cx, item(a[0]), a[1], true),
    "json_array_length" => |cx, a| with_json(cx, a[0], |_, p| array_length(&p, is_json_scalar(p))),
    "jsonb_array_length" => |_, a| {
        let i = item(a[0]);
        array_length(&i, !matches!(i, Item::Container(_)))
    },
    "json_typeof" => |cx, a| {
        Ok(Datum::text(kind_of_node(&tree(a[0].as_bytes(), &InterruptChecker::new(cx))?)))
    },
    "jsonb_typeof" => |_, a| Ok(Datum::text(kind_of_item(item(a[0])))),
    "jsonb_bool" => |_, a| match item(a[0]) {
        Item::Bool(b) => Ok(Datum::bool(b)),
        other => Err(not_castable(other, "boolean")),
    },
    "jsonb_numeric" => |cx, a| number(cx, a[0], None, "numeric"),
    "jsonb_int2" => |cx, a| number(cx, a[0], Some("numeric_int2"), "smallint"),
    "jsonb_int4" => |cx, a| number(cx, a[0], Some("numeric_int4"), "integer"),
    "jsonb_int8" => |cx, a| number(cx, a[0], Some("numeric_int8"), "bigint"),
    "jsonb_float4" => |cx, a| number(cx, a[0], Some("numeric_float4"), "real"),
    "jsonb_float8" => |cx, a| number(cx, a[0], Some("numeric_float8"), "double precision"),
}

/// A set of rows in memory.
struct Rows(std::vec::IntoIter<Vec<Datum>>);

impl SetSource for Rows {
    fn next(&mut self, _: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        Ok(self.0.next().map(|row| out.extend(row)).is_some())
    }
}

pub(super) fn set(rows: Vec<Vec<Datum>>) -> Result<Box<dyn SetSource>> {
    Ok(Box::new(Rows(rows.into_iter())))
}

/// Builds rows one by one, with checks for interrupts.
fn rows<T>(
    interrupts: &InterruptChecker<'_>,
    parts: impl Iterator<Item = T>,
    row: impl Fn(T) -> Result<Vec<Datum>>,
) -> Result<Box<dyn SetSource>> {
    let mut all = Vec::new();
    for part in parts {
        interrupts.tick()?;
        memory::reserve(&mut all, 1)?;
        all.push(row(part)?);
    }
    set(all)
}

/// Like [`rows`], for rows of one column.
fn values<T>(
    interrupts: &InterruptChecker<'_>,
    parts: impl Iterator<Item = T>,
    value: impl Fn(T) -> Result<Datum>,
) -> Result<Box<dyn SetSource>> {
    let mut all = Vec::new();
    for part in parts {
        interrupts.tick()?;
        memory::reserve(&mut all, 1)?;
        all.push(value(part)?);
    }
    Ok(VecSource::boxed(all))
}

fn json_each(cx: &mut dyn FnContext, d: DatumRef<'_>, text: bool) -> Result<Box<dyn SetSource>> {
    with_json(cx, d, |cx, p| {
        let interrupts = &InterruptChecker::new(cx);
        match &p.node.kind {
            Kind::Object(pairs) => rows(interrupts, pairs.iter(), |(k, v)| {
                Ok(vec![Datum::bytes(k.clone()), part(interrupts, p.sub(v), text)?])
            }),
            Kind::Array(_) => Err(refused("cannot deconstruct an array as an object")),
            _ => Err(refused("cannot deconstruct a scalar")),
        }
    })
}

fn jsonb_each(
    cx: &dyn FnContext,
    d: DatumRef<'_>,
    text: bool,
    name: &str,
) -> Result<Box<dyn SetSource>> {
    let c = Container::new(d.as_bytes());
    if !c.is_object() {
        return Err(refused(format!("cannot call {name} on a non-object")));
    }
    let interrupts = &InterruptChecker::new(cx);
    rows(interrupts, c.pairs(), |(k, v)| Ok(vec![Datum::bytes(k), part(interrupts, v, text)?]))
}

fn json_elements(
    cx: &mut dyn FnContext,
    d: DatumRef<'_>,
    text: bool,
    name: &str,
) -> Result<Box<dyn SetSource>> {
    with_json(cx, d, |cx, p| {
        let interrupts = &InterruptChecker::new(cx);
        match &p.node.kind {
            Kind::Array(elements) => {
                values(interrupts, elements.iter(), |e| part(interrupts, p.sub(e), text))
            }
            Kind::Object(_) => Err(refused(format!("cannot call {name} on a non-array"))),
            _ => Err(refused(format!("cannot call {name} on a scalar"))),
        }
    })
}

fn jsonb_elements(cx: &dyn FnContext, d: DatumRef<'_>, text: bool) -> Result<Box<dyn SetSource>> {
    let c = Container::new(d.as_bytes());
    if c.is_scalar() {
        return Err(refused("cannot extract elements from a scalar"));
    }
    if c.is_object() {
        return Err(refused("cannot extract elements from an object"));
    }
    let interrupts = &InterruptChecker::new(cx);
    values(interrupts, c.elements(), |e| part(interrupts, e, text))
}

fn jsonb_keys(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Box<dyn SetSource>> {
    let c = Container::new(d.as_bytes());
    if c.is_scalar() {
        return Err(refused("cannot call jsonb_object_keys on a scalar"));
    }
    if !c.is_object() {
        return Err(refused("cannot call jsonb_object_keys on an array"));
    }
    values(&InterruptChecker::new(cx), 0..c.len(), |i| Ok(Datum::bytes(c.key(i))))
}

fn json_keys(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Box<dyn SetSource>> {
    let interrupts = &InterruptChecker::new(cx);
    match &tree(d.as_bytes(), interrupts)?.kind {
        Kind::Object(pairs) => {
            values(interrupts, pairs.iter(), |(k, _)| Ok(Datum::bytes(k.as_slice())))
        }
        Kind::Array(_) => Err(refused("cannot call json_object_keys on an array")),
        _ => Err(refused("cannot call json_object_keys on a scalar")),
    }
}

builtins! { SETS;
    "json_each" => Srf(|cx, a| json_each(cx, a[0], false)),
    "json_each_text" => Srf(|cx, a| json_each(cx, a[0], true)),
    "jsonb_each" => Srf(|cx, a| jsonb_each(cx, a[0], false, "jsonb_each")),
    "jsonb_each_text" => Srf(|cx, a| jsonb_each(cx, a[0], true, "jsonb_each_text")),
    "json_array_elements" => Srf(|cx, a| json_elements(cx, a[0], false, "json_array_elements")),
    "json_array_elements_text" => Srf(|cx, a| {
        json_elements(cx, a[0], true, "json_array_elements_text")
    }),
    "jsonb_array_elements" => Srf(|cx, a| jsonb_elements(cx, a[0], false)),
    "jsonb_array_elements_text" => Srf(|cx, a| jsonb_elements(cx, a[0], true)),
    "json_object_keys" => Srf(|cx, a| json_keys(cx, a[0])),
    "jsonb_object_keys" => Srf(|cx, a| jsonb_keys(cx, a[0])),
}
