//! concat, concat_ws, format, string_agg. Counterpart: varlena.c.

use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::borrow::Cow;
use values::array::payload::ArrayRef;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::function::AggState;
use values::limits::{ALLOCATION_BYTES_MAX, TextBuffer, invalid_allocation};
use values::pieces::{PIECE_BYTES, joined};
use values::settings::Encoding;

/// The variadic arguments from `from` on, each with its type; a call with VARIADIC passes one array
/// instead.
pub(crate) fn values<'a>(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'a>],
    from: usize,
    variadic_array: bool,
) -> Result<Option<Vec<(Oid, DatumRef<'a>)>>> {
    if variadic_array {
        if a[from].is_null() {
            return Ok(None);
        }
        let array = ArrayRef::new(a[from])?;
        let elem = cx.type_info(array.elem_type())?;
        return Ok(Some(array.iter(&elem).map(|v| (elem.oid, v)).collect()));
    }
    Ok(Some(a[from..].iter().enumerate().map(|(i, v)| (cx.arg_type(from + i), *v)).collect()))
}

fn text_of<'a>(cx: &mut dyn FnContext, ty: Oid, v: DatumRef<'a>) -> Result<Cow<'a, [u8]>> {
    match ty {
        values::oids::TEXT | values::oids::VARCHAR | values::oids::UNKNOWN => {
            Ok(Cow::Borrowed(v.as_bytes()))
        }
        _ => cx.type_output(ty, v).map(Cow::Owned),
    }
}

/// Concatenates the values that are not NULL.
fn concat(
    cx: &mut dyn FnContext,
    values: Vec<(Oid, DatumRef<'_>)>,
    separator: &[u8],
) -> Result<Datum> {
    let mut out = TextBuffer::new();
    let mut first = true;
    let mut progress = Progress::default();
    for (ty, v) in values.into_iter().filter(|(_, v)| !v.is_null()) {
        progress.tick(cx, &out)?;
        if !first {
            out.extend_from_slice(separator);
        }
        first = false;
        out.extend_from_slice(&text_of(cx, ty, v)?);
        out.check()?;
    }
    out.into_datum()
}

/// Checks for interrupts while a text grows: after a number of steps, and after a number of bytes.
#[derive(Default)]
struct Progress {
    ticker: InterruptTicker,
    bytes: usize,
}

impl Progress {
    fn tick(&mut self, cx: &dyn FnContext, out: &TextBuffer) -> Result<()> {
        if out.len() >= self.bytes + PIECE_BYTES {
            self.bytes = out.len();
            return cx.check_interrupts();
        }
        self.ticker.tick(cx)
    }
}

struct Spec {
    left: bool,
    width: i64,
    conversion: u8,
}

fn pad(out: &mut TextBuffer, text: &[u8], spec: &Spec, encoding: values::settings::Encoding) {
    let have = values::text::char_count(text, encoding) as i64;
    let (left, width) = if spec.width < 0 { (true, -spec.width) } else { (spec.left, spec.width) };
    let blanks = (width - have).max(0) as usize;
    if !left {
        out.fill(b' ', blanks);
    }
    out.extend_from_slice(text);
    if left {
        out.fill(b' ', blanks);
    }
}

fn number(pattern: &[u8], at: &mut usize) -> Result<Option<i64>> {
    let start = *at;
    let mut n = 0i64;
    while let Some(c) = pattern.get(*at).filter(|c| c.is_ascii_digit()) {
        n = n * 10 + i64::from(c - b'0');
        if n > i32::MAX.into() {
            return Err(pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range"));
        }
        *at += 1;
    }
    Ok((*at > start).then_some(n))
}

/// The text of an argument, by the conversion letter.
fn converted<'a>(
    cx: &mut dyn FnContext,
    ty: Oid,
    v: DatumRef<'a>,
    conversion: u8,
) -> Result<Cow<'a, [u8]>> {
    Ok(match (v, conversion) {
        (DatumRef::Null, b's') => Cow::Borrowed(b"".as_slice()),
        (DatumRef::Null, b'L') => Cow::Borrowed(b"NULL".as_slice()),
        (DatumRef::Null, _) => {
            return Err(pg_err!(
                NULL_VALUE_NOT_ALLOWED,
                "null values cannot be formatted as an SQL identifier"
            ));
        }
        (v, b's') => text_of(cx, ty, v)?,
        (v, b'L') => {
            let text = text_of(cx, ty, v)?;
            allocate_check(2 * text.len() + 4)?;
            Cow::Owned(super::quote::literal_bytes(cx, &text)?)
        }
        (v, _) => {
            let ident = text_of(cx, ty, v)?;
            Cow::Owned(super::quote::ident(cx, &ident)?)
        }
    })
}

/// A width that an argument gives; NULL is 0.
fn width(cx: &mut dyn FnContext, (ty, v): (Oid, DatumRef<'_>)) -> Result<i64> {
    Ok(match v {
        DatumRef::Null => 0,
        v if ty == values::oids::INT4 => v.as_i32().into(),
        v if ty == values::oids::INT2 => v.as_i16().into(),
        v => values::int::parse_int4(&text_of(cx, ty, v)?)?.into(),
    })
}

/// The error for the conversion that `pattern` begins with.
fn unknown_conversion(pattern: &[u8], encoding: Encoding) -> PgError {
    let len = values::text::char_len(pattern, encoding);
    let shown = values::type_io::lossy_text(&pattern[..len]);
    pg_err!(INVALID_PARAMETER_VALUE, "unrecognized format() type specifier \"{shown}\"")
        .hint("For a single \"%\" use \"%%\".")
}

fn format(cx: &mut dyn FnContext, pattern: &[u8], args: &[(Oid, DatumRef<'_>)]) -> Result<Datum> {
    let unfinished = || {
        pg_err!(INVALID_PARAMETER_VALUE, "unterminated format() type specifier")
            .hint("For a single \"%\" use \"%%\".")
    };
    let too_few = || pg_err!(INVALID_PARAMETER_VALUE, "too few arguments for format()");
    let zero = || {
        pg_err!(
            INVALID_PARAMETER_VALUE,
            "format specifies argument 0, but arguments are numbered from 1"
        )
    };
    let encoding = cx.settings().encoding;
    let mut out = TextBuffer::with_capacity(pattern.len() + 32);
    let (mut at, mut next) = (0, 0usize);
    let mut progress = Progress::default();
    while at < pattern.len() {
        progress.tick(cx, &out)?;
        if pattern[at] != b'%' {
            out.push(pattern[at]);
            at += 1;
            continue;
        }
        at += 1;
        if pattern.get(at) == Some(&b'%') {
            out.push(b'%');
            at += 1;
            continue;
        }
        let mut spec = Spec { left: false, width: 0, conversion: 0 };
        let mut position = None;
        let mut width_known = false;
        // The width is an argument: that of this number, or the next one.
        let mut width_at: Option<Option<usize>> = None;
        if let Some(n) = number(pattern, &mut at)? {
            if pattern.get(at) == Some(&b'$') {
                if n == 0 {
                    return Err(zero());
                }
                position = Some(n as usize);
                at += 1;
            } else {
                spec.width = n;
                width_known = true;
            }
        }
        if !width_known {
            while pattern.get(at) == Some(&b'-') {
                spec.left = true;
                at += 1;
            }
            if pattern.get(at) == Some(&b'*') {
                at += 1;
                width_at = Some(match number(pattern, &mut at)? {
                    Some(0) => return Err(zero()),
                    Some(n) => {
                        if pattern.get(at) != Some(&b'$') {
                            return Err(pg_err!(
                                INVALID_PARAMETER_VALUE,
                                "width argument position must be ended by \"$\""
                            ));
                        }
                        at += 1;
                        Some(n as usize)
                    }
                    None => None,
                });
            } else if let Some(n) = number(pattern, &mut at)? {
                spec.width = n;
            }
        }
        spec.conversion = *pattern.get(at).ok_or_else(unfinished)?;
        at += 1;
        if !matches!(spec.conversion, b's' | b'I' | b'L') {
            return Err(unknown_conversion(&pattern[at - 1..], encoding));
        }
        if let Some(number) = width_at {
            let index = number.map_or(next, |n| n - 1);
            next = index + 1;
            spec.width = width(cx, *args.get(index).ok_or_else(too_few)?)?;
        }
        let index = position.map_or(next, |p| p - 1);
        next = index + 1;
        let (ty, v) = *args.get(index).ok_or_else(too_few)?;
        let text = converted(cx, ty, v, spec.conversion)?;
        if spec.width == i64::from(i32::MIN) {
            return Err(pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range"));
        }
        pad(&mut out, &text, &spec, encoding);
        out.check()?;
    }
    out.into_datum()
}

/// The error of an allocation that exceeds the limit.
fn allocate_check(bytes: usize) -> Result<()> {
    if bytes > ALLOCATION_BYTES_MAX { Err(invalid_allocation(bytes)) } else { Ok(()) }
}

/// Transition state of string_agg: the text so far.
struct Joined(TextBuffer);

fn agg_step(state: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    if a[0].is_null() {
        return Ok(());
    }
    let fresh = state.is_null();
    let Joined(out) = state.get_or(|| Joined(TextBuffer::new()));
    if !fresh && !a[1].is_null() {
        out.extend_from_slice(a[1].as_bytes());
    }
    out.extend_from_slice(a[0].as_bytes());
    out.check()
}

fn agg_final(cx: &dyn FnContext, state: &AggState) -> Result<Datum> {
    state.get::<Joined>().map_or(Ok(Datum::Null), |Joined(text)| joined(cx, &[text.as_slice()]))
}

scalars! { FNS;
    "text_concat" => |cx, a| {
        let variadic = cx.variadic_array();
        match values(cx, a, 0, variadic)? {
            Some(v) => concat(cx, v, b""),
            None => Ok(Datum::Null),
        }
    },
    "text_concat_ws" => |cx, a| {
        if a[0].is_null() {
            return Ok(Datum::Null);
        }
        let variadic = cx.variadic_array();
        match values(cx, a, 1, variadic)? {
            Some(v) => concat(cx, v, a[0].as_bytes()),
            None => Ok(Datum::Null),
        }
    },
    "text_format" => |cx, a| {
        if a[0].is_null() {
            return Ok(Datum::Null);
        }
        let variadic = cx.variadic_array();
        let args = values(cx, a, 1, variadic)?.unwrap_or_default();
        format(cx, a[0].as_bytes(), &args)
    },
    "text_format_nv" => |cx, a| {
        if a[0].is_null() { Ok(Datum::Null) } else { format(cx, a[0].as_bytes(), &[]) }
    },
}

/// Number of arguments that are NULL (`null`), or that are not.
fn count_nulls(cx: &mut dyn FnContext, a: &[DatumRef<'_>], null: bool) -> Result<Datum> {
    let variadic = cx.variadic_array();
    let Some(values) = values(cx, a, 0, variadic)? else { return Ok(Datum::Null) };
    Ok(Datum::int4(values.iter().filter(|(_, v)| v.is_null() == null).count() as i32))
}

scalars! { COUNTS;
    "pg_num_nulls" => |cx, a| count_nulls(cx, a, true),
    "pg_num_nonnulls" => |cx, a| count_nulls(cx, a, false),
}

builtins! { AGGREGATES;
    "string_agg_transfn" => Trans(|_, s, a| agg_step(s, a)),
    "string_agg_finalfn" => Final(|cx, s, _| agg_final(cx, s)),
    "bytea_string_agg_transfn" => Trans(|_, s, a| agg_step(s, a)),
    "bytea_string_agg_finalfn" => Final(|cx, s, _| agg_final(cx, s)),
}
