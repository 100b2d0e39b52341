//! Conversion of json and jsonb to rows: json_populate_record, json_to_record, the functions for
//! sets of rows, and those for jsonb. Counterpart: jsonfuncs.c (`populate_record` and the others).

use super::access::{Part, Value, item, set};
use super::binary::Item;
use super::encode::datum_of;
use super::io::{Layout, put_item, put_string};
use super::parse::{Kind, tree};
use crate::record;
use ids::Oid;
use ids::code::TypType;
use numeric::io::with_text;
use pgerror::{PgError, Result, SqlState, pg_err};
use std::sync::Arc;
use values::array::payload::{self, MAX_DIMS};
use values::datum::{Datum, DatumRef};
use values::fn_context::{DefinedRow, FnContext, InterruptChecker, RowDesc, TypeInfo};
use values::function::SetSource;
use values::limits::TextBuffer;
use values::{memory, oids};

/// A part of a json or jsonb value.
#[derive(Clone, Copy)]
enum Js<'a> {
    /// An object has no such key.
    Missing,
    Text(Part<'a>),
    Tree(Item<'a>),
}

fn refused(message: String) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

impl<'a> Js<'a> {
    /// True if it is absent, or a JSON null.
    fn is_null(self) -> bool {
        match self {
            Js::Missing => true,
            Js::Text(p) => matches!(p.node.kind, Kind::Null),
            Js::Tree(i) => matches!(i, Item::Null),
        }
    }

    fn is_string(self) -> bool {
        match self {
            Js::Missing => false,
            Js::Text(p) => matches!(p.node.kind, Kind::String(_)),
            Js::Tree(i) => matches!(i, Item::String(_)),
        }
    }

    /// Number of pairs; `None` if it is not an object.
    fn pairs(self) -> Option<usize> {
        match self {
            Js::Text(Part { node, .. }) => match &node.kind {
                Kind::Object(pairs) => Some(pairs.len()),
                _ => None,
            },
            Js::Tree(Item::Container(c)) if c.is_object() => Some(c.len()),
            _ => None,
        }
    }

    /// Number of elements; `None` if it is not an array.
    fn elements(self) -> Option<usize> {
        match self {
            Js::Missing => None,
            Js::Text(p) => p.elements_count(),
            Js::Tree(i) => i.elements_count(),
        }
    }

    fn element(self, i: usize) -> Js<'a> {
        match self {
            Js::Missing => Js::Missing,
            Js::Text(p) => p.nth(i).map_or(Js::Missing, Js::Text),
            Js::Tree(t) => t.nth(i).map_or(Js::Missing, Js::Tree),
        }
    }

    fn field(self, key: &[u8]) -> Js<'a> {
        match self {
            Js::Missing => Js::Missing,
            Js::Text(p) => p.member(key).map_or(Js::Missing, Js::Text),
            Js::Tree(t) => t.member(key).map_or(Js::Missing, Js::Tree),
        }
    }

    /// 22023 if it is not an object; `name` is the function in the message.
    fn check_object(self, name: &str) -> Result<()> {
        match (self.pairs(), self.elements()) {
            (Some(_), _) => Ok(()),
            (None, Some(_)) => Err(refused(format!("cannot call {name} on an array"))),
            (None, None) => Err(refused(format!("cannot call {name} on a scalar"))),
        }
    }

    /// Converts by the input function of a type.
    fn scalar(self, cx: &mut dyn FnContext, ty: Oid, typmod: i32) -> Result<Datum> {
        let mut out = TextBuffer::new();
        match self {
            Js::Missing => return Ok(Datum::Null),
            Js::Tree(i) if ty == oids::JSONB => return Ok(datum_of(i)),
            Js::Text(p) => match &p.node.kind {
                Kind::String(s) if matches!(ty, oids::JSON | oids::JSONB) => {
                    put_string(&mut out, s, &InterruptChecker::new(cx))?;
                }
                Kind::String(s) => return cx.type_input(ty, s, typmod),
                _ => return cx.type_input(ty, p.raw(), typmod),
            },
            Js::Tree(i) if ty == oids::JSON => {
                put_item(&mut out, i, Layout::Line, &InterruptChecker::new(cx))?;
            }
            Js::Tree(Item::String(s)) => return cx.type_input(ty, s, typmod),
            Js::Tree(Item::Number(n)) => with_text(n, |text| out.extend_from_slice(text)),
            Js::Tree(i) => put_item(&mut out, i, Layout::Line, &InterruptChecker::new(cx))?,
        }
        cx.type_input(ty, &out.into_bytes()?, typmod)
    }
}

/// How values of a type are made.
enum Category {
    Scalar,
    /// The type and type modifier of the elements.
    Array(Oid),
    Composite,
    /// The base type and its type modifier.
    Domain(Oid, i32),
    CompositeDomain,
}

fn category(cx: &mut dyn FnContext, ty: Oid) -> Result<Category> {
    if ty == oids::RECORD {
        return Ok(Category::Composite);
    }
    let info = cx.type_info(ty)?;
    Ok(match info.kind {
        TypType::Composite => Category::Composite,
        TypType::Domain => {
            let (base, typmod) = cx.domain_base(ty)?;
            match cx.type_info(base)?.kind {
                TypType::Composite => Category::CompositeDomain,
                _ => Category::Domain(base, typmod),
            }
        }
        _ if is_array(cx, &info)? => Category::Array(info.elem),
        _ => Category::Scalar,
    })
}

/// True if the type is a true array type, not one of fixed length.
fn is_array(cx: &mut dyn FnContext, info: &TypeInfo) -> Result<bool> {
    Ok(info.elem.is_valid() && info.len == -1 && cx.type_info(info.elem)?.array == info.oid)
}

/// The value of a column, or of an element if `key` is `None`. Counterpart:
/// `populate_record_field`.
fn value(
    cx: &mut dyn FnContext,
    (ty, typmod): (Oid, i32),
    key: Option<&str>,
    default: DatumRef<'_>,
    js: Js<'_>,
) -> Result<Datum> {
    let is_null = js.is_null();
    match category(cx, ty)? {
        // The input function of a domain checks its constraints.
        Category::Array(_) | Category::Composite | Category::CompositeDomain if js.is_string() => {
            js.scalar(cx, ty, typmod)
        }
        Category::Domain(base, base_typmod) => {
            let inner = match is_null {
                true => Datum::Null,
                false => value(cx, (base, base_typmod), key, DatumRef::Null, js)?,
            };
            cx.type_domain(ty, inner)
        }
        Category::CompositeDomain if is_null => cx.type_domain(ty, Datum::Null),
        _ if is_null => Ok(Datum::Null),
        Category::Composite | Category::CompositeDomain => composite(cx, ty, default, js),
        Category::Array(elem) => array(cx, (elem, typmod), key, js),
        Category::Scalar => js.scalar(cx, ty, typmod),
    }
}

/// A value of a composite type or a domain over one. Counterpart: `populate_composite`.
fn composite(cx: &mut dyn FnContext, ty: Oid, default: DatumRef<'_>, js: Js<'_>) -> Result<Datum> {
    js.check_object("populate_composite")?;
    let row = RowType::named(cx, ty)?;
    let columns = row.columns(cx, default, js)?;
    row.finish(cx, &columns)
}

/// A row type.
struct RowType {
    /// The type as declared, which may be a domain.
    ty: Oid,
    /// The composite type.
    base: Oid,
    /// For type record.
    typmod: i32,
    desc: Arc<RowDesc>,
}

impl RowType {
    /// A composite type or a domain over one.
    fn named(cx: &mut dyn FnContext, ty: Oid) -> Result<RowType> {
        let base = match cx.type_info(ty)?.kind {
            TypType::Domain => cx.domain_base(ty)?.0,
            _ => ty,
        };
        Ok(RowType { ty, base, typmod: -1, desc: cx.row_desc(base, -1)? })
    }

    /// The columns with the values of an object; the others are those of `default`. Counterpart:
    /// `populate_record`.
    fn columns(
        &self,
        cx: &mut dyn FnContext,
        default: DatumRef<'_>,
        js: Js<'_>,
    ) -> Result<Vec<Datum>> {
        let infos = self.desc.types(cx)?;
        let defaults = match default {
            DatumRef::Null => vec![DatumRef::Null; infos.len()],
            row => record::deform(row, infos),
        };
        if !default.is_null() && js.pairs() == Some(0) {
            return Ok(defaults.into_iter().map(DatumRef::to_owned).collect());
        }
        let mut out = Vec::with_capacity(infos.len());
        for (column, old) in self.desc.columns.iter().zip(defaults) {
            if column.is_dropped() {
                out.push(Datum::Null);
                continue;
            }
            let field = js.field(column.name.as_bytes());
            // The values of a given row are taken to satisfy their domains.
            out.push(match (field, default.is_null()) {
                (Js::Missing, false) => old.to_owned(),
                _ => value(cx, (column.ty, column.typmod), Some(&column.name), old, field)?,
            });
        }
        Ok(out)
    }

    /// Forms the row, with the checks of a domain.
    fn finish(&self, cx: &mut dyn FnContext, columns: &[Datum]) -> Result<Datum> {
        let infos = self.desc.types(cx)?;
        let columns: Vec<_> =
            infos.iter().copied().zip(columns.iter().map(Datum::as_ref)).collect();
        let row = record::form(self.base, self.typmod, self.desc.version, &columns)?;
        if self.ty == self.base { Ok(row) } else { cx.type_domain(self.ty, row) }
    }
}

/// An array that is being filled. Counterpart: `PopulateArrayContext`.
struct Filling<'a> {
    elem: (Oid, i32),
    key: Option<&'a str>,
    values: Vec<Datum>,
    /// The length of each dimension, once it is known; empty while their number is not.
    dims: Vec<Option<usize>>,
    /// Number of elements read in the current sub-array of each dimension.
    sizes: Vec<usize>,
}

/// Counterpart: `populate_array`.
fn array(cx: &mut dyn FnContext, elem: (Oid, i32), key: Option<&str>, js: Js<'_>) -> Result<Datum> {
    let mut filling =
        Filling { elem, key, values: Vec::new(), dims: Vec::new(), sizes: Vec::new() };
    filling.dimension(cx, js, 1)?;
    let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let mut dims = vec![count(filling.sizes[0])];
    dims.extend(filling.dims.iter().skip(1).map(|d| count(d.unwrap_or(0))));
    if dims.len() > MAX_DIMS {
        return Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of array dimensions ({}) exceeds the maximum allowed ({MAX_DIMS})",
            dims.len()
        ));
    }
    let info = cx.type_info(elem.0)?;
    let lower = vec![1; dims.len()];
    payload::build(&info, &dims, &lower, filling.values.iter().map(Datum::as_ref))
}

impl Filling<'_> {
    /// 22P02: the element at the current position of the first `depth` dimensions is not an array.
    fn expected_array(&self, depth: usize) -> PgError {
        let e = pg_err!(INVALID_TEXT_REPRESENTATION, "expected JSON array");
        let place: String = self.sizes.iter().take(depth).map(|i| format!("[{i}]")).collect();
        match (depth, self.key) {
            (0, Some(key)) => e.hint(format!("See the value of key \"{key}\".")),
            (0, None) => e,
            (_, Some(key)) => e.hint(format!("See the array element {place} of key \"{key}\".")),
            (_, None) => e.hint(format!("See the array element {place}.")),
        }
    }

    /// Reads the (sub-)array of dimension `depth`, counted from 1.
    fn dimension(&mut self, cx: &mut dyn FnContext, js: Js<'_>, depth: usize) -> Result<()> {
        let Some(count) = js.elements() else { return Err(self.expected_array(depth - 1)) };
        let is_leaf = count == 0 || js.element(0).elements().is_none();
        if self.dims.is_empty() && is_leaf {
            self.dims = vec![None; depth];
            self.sizes = vec![0; depth];
        }
        for i in 0..count {
            cx.check_interrupts()?;
            let element = js.element(i);
            if !self.dims.is_empty() && depth >= self.dims.len() {
                let made = value(cx, self.elem, None, DatumRef::Null, element)?;
                memory::reserve(&mut self.values, 1)?;
                self.values.push(made);
                self.sizes[depth - 1] += 1;
            } else {
                self.dimension(cx, element, depth + 1)?;
                self.check_dimension(depth)?;
            }
        }
        Ok(())
    }

    /// Ends a sub-array of the dimension with index `dim`.
    fn check_dimension(&mut self, dim: usize) -> Result<()> {
        let length = std::mem::take(&mut self.sizes[dim]);
        self.sizes[dim - 1] += 1;
        if *self.dims[dim].get_or_insert(length) == length {
            return Ok(());
        }
        Err(pg_err!(INVALID_TEXT_REPRESENTATION, "malformed JSON array")
            .detail("Multidimensional arrays must have sub-arrays with matching dimensions."))
    }
}

/// The arguments of a call.
struct Target<'a> {
    row: RowType,
    /// The row with the default values; NULL if there is none.
    default: DatumRef<'a>,
    /// The result is of an anonymous row type and not called with a column definition list, or of
    /// a domain: a row is one value.
    is_whole: bool,
}

impl<'a> Target<'a> {
    /// `base`: the row argument, of functions that have one. `name` is the function's.
    fn new(cx: &mut dyn FnContext, base: Option<DatumRef<'a>>, name: &str) -> Result<Target<'a>> {
        let default = base.unwrap_or_default();
        let ty = match base {
            Some(_) => cx.arg_type(0),
            None => oids::RECORD,
        };
        if !matches!(category(cx, ty)?, Category::Composite | Category::CompositeDomain) {
            return Err(pg_err!(DATATYPE_MISMATCH, "first argument of {name} must be a row type"));
        }
        let defined = cx.extra().as_ref().and_then(|x| x.downcast_ref::<DefinedRow>()).cloned();
        if ty != oids::RECORD {
            let row = RowType::named(cx, ty)?;
            let is_whole = row.ty != row.base;
            return Ok(Target { row, default, is_whole });
        }
        let is_whole = defined.is_none();
        let (typmod, desc) = match (default, defined) {
            (DatumRef::Null, Some(DefinedRow(desc))) => (cx.register_row(desc.clone())?, desc),
            (DatumRef::Null, None) => {
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "could not determine row type for result of {name}"
                )
                .hint(
                    "Provide a non-null record argument, or call the function in the FROM clause \
                     using a column definition list.",
                ));
            }
            (given, defined) => {
                let (ty, typmod) = record::type_of(given)?;
                let desc = cx.row_desc(ty, typmod)?;
                if let Some(DefinedRow(wanted)) = defined {
                    check_columns(cx, &desc, &wanted)?;
                }
                return Ok(Target {
                    row: RowType { ty, base: ty, typmod, desc },
                    default,
                    is_whole,
                });
            }
        };
        let row = RowType { ty: oids::RECORD, base: oids::RECORD, typmod, desc };
        Ok(Target { row, default, is_whole })
    }
}

/// 42804 if a row type has not the columns of a column definition list. Counterpart:
/// `tupledesc_match`.
fn check_columns(cx: &mut dyn FnContext, row: &RowDesc, wanted: &RowDesc) -> Result<()> {
    let mismatch = |detail: String| {
        let e = pg_err!(
            DATATYPE_MISMATCH,
            "function return row and query-specified return row do not match"
        );
        Err(e.detail(detail))
    };
    let (has, wants) = (row.columns.len(), wanted.columns.len());
    if has != wants {
        let plural = if has == 1 { "" } else { "s" };
        return mismatch(format!(
            "Returned row contains {has} attribute{plural}, but query expects {wants}."
        ));
    }
    for (i, (a, b)) in row.columns.iter().zip(&wanted.columns).enumerate() {
        if !a.is_dropped() && a.ty != b.ty {
            let (has, wants) = (cx.type_name(a.ty, None)?, cx.type_name(b.ty, None)?);
            return mismatch(format!(
                "Returned type {has} at ordinal position {}, but query expects {wants}.",
                i + 1
            ));
        }
    }
    Ok(())
}

/// Applies `f` to a json or jsonb argument.
fn with_value<T>(
    cx: &mut dyn FnContext,
    d: DatumRef<'_>,
    is_json: bool,
    f: impl FnOnce(&mut dyn FnContext, Js<'_>) -> Result<T>,
) -> Result<T> {
    if !is_json {
        return f(cx, Js::Tree(item(d)));
    }
    let text = d.as_bytes();
    let node = tree(text, &InterruptChecker::new(cx))?;
    f(cx, Js::Text(Part { text, node: &node }))
}

/// The name of a function, without json or jsonb, and whether its first argument is a row.
#[derive(Clone, Copy)]
struct Form {
    suffix: &'static str,
    has_row: bool,
}

const POPULATE: Form = Form { suffix: "populate_record", has_row: true };
const TO_RECORD: Form = Form { suffix: "to_record", has_row: false };
const POPULATE_SET: Form = Form { suffix: "populate_recordset", has_row: true };
const TO_RECORDSET: Form = Form { suffix: "to_recordset", has_row: false };

impl Form {
    fn name(self, is_json: bool) -> String {
        format!("{}_{}", if is_json { "json" } else { "jsonb" }, self.suffix)
    }

    /// The row argument, and the json argument.
    fn split<'a>(self, a: &[DatumRef<'a>]) -> (Option<DatumRef<'a>>, DatumRef<'a>) {
        match self.has_row {
            true => (Some(a[0]), a[1]),
            false => (None, a[0]),
        }
    }

    /// One row. Counterpart: `populate_record_worker`.
    fn record(self, cx: &mut dyn FnContext, a: &[DatumRef<'_>], is_json: bool) -> Result<Datum> {
        let (base, json) = self.split(a);
        let target = Target::new(cx, base, &self.name(is_json))?;
        if json.is_null() {
            return Ok(target.default.to_owned());
        }
        with_value(cx, json, is_json, |cx, js| {
            js.check_object("populate_composite")?;
            let columns = target.row.columns(cx, target.default, js)?;
            target.row.finish(cx, &columns)
        })
    }

    /// A set of rows. Counterpart: `populate_recordset_worker`.
    fn rows(
        self,
        cx: &mut dyn FnContext,
        a: &[DatumRef<'_>],
        is_json: bool,
    ) -> Result<Box<dyn SetSource>> {
        let name = self.name(is_json);
        let (base, json) = self.split(a);
        let target = Target::new(cx, base, &name)?;
        if json.is_null() {
            return set(Vec::new());
        }
        let rows = with_value(cx, json, is_json, |cx, js| {
            let Some(count) = js.elements() else {
                return Err(refused(match (is_json, js.pairs()) {
                    (false, _) => format!("cannot call {name} on a non-array"),
                    (true, Some(_)) => format!("cannot call {name} on an object"),
                    (true, None) => format!("cannot call {name} on a scalar"),
                }));
            };
            let mut rows = Vec::new();
            for i in 0..count {
                let js = js.element(i);
                if js.pairs().is_none() {
                    return Err(refused(format!("argument of {name} must be an array of objects")));
                }
                cx.check_interrupts()?;
                let columns = target.row.columns(cx, target.default, js)?;
                memory::reserve(&mut rows, 1)?;
                rows.push(match target.is_whole {
                    true => vec![target.row.finish(cx, &columns)?],
                    false => columns,
                });
            }
            Ok(rows)
        })?;
        set(rows)
    }
}

scalars! { FNS;
    "json_populate_record" => |cx, a| POPULATE.record(cx, a, true),
    "jsonb_populate_record" => |cx, a| POPULATE.record(cx, a, false),
    "json_to_record" => |cx, a| TO_RECORD.record(cx, a, true),
    "jsonb_to_record" => |cx, a| TO_RECORD.record(cx, a, false),
}

builtins! { SETS;
    "json_populate_recordset" => Srf(|cx, a| POPULATE_SET.rows(cx, a, true)),
    "jsonb_populate_recordset" => Srf(|cx, a| POPULATE_SET.rows(cx, a, false)),
    "json_to_recordset" => Srf(|cx, a| TO_RECORDSET.rows(cx, a, true)),
    "jsonb_to_recordset" => Srf(|cx, a| TO_RECORDSET.rows(cx, a, false)),
}
