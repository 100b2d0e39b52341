//! Text and binary formats of arrays. Counterpart: arrayfuncs.c.

use super::payload::{ArrayRef, MAX_DIMS, build, check_bounds, count_of, empty, too_large};
use crate::datum::{Datum, DatumRef};
use crate::fn_context::{FnContext, InterruptChecker, InterruptTicker};
use crate::limits::TextBuffer;
use crate::quoted::Escape;
use crate::type_io::{Reader, is_space};
use crate::{memory, quoted};
use ids::Oid;
use pgerror::{Result, pg_err};

fn malformed(text: &[u8], detail: impl Into<String>) -> pgerror::PgError {
    pg_err!(
        INVALID_TEXT_REPRESENTATION,
        "malformed array literal: \"{}\"",
        crate::type_io::lossy_text(text)
    )
    .detail(detail)
}

pub(super) fn too_many_dims(n: usize) -> pgerror::PgError {
    pg_err!(
        PROGRAM_LIMIT_EXCEEDED,
        "number of array dimensions ({n}) exceeds the maximum allowed ({MAX_DIMS})"
    )
}

struct Parser<'a> {
    whole: &'a [u8],
    at: usize,
    /// Where the text begins that errors show: the first brace, once it is reached.
    shown: usize,
    delim: u8,
    nulls: bool,
    /// Dimensions known so far: the first subarray of each level determines its length.
    dims: Vec<i32>,
    /// Nesting depth of the elements, after the first one was read.
    leaf: Option<usize>,
    elements: Vec<Option<Vec<u8>>>,
    interrupts: InterruptChecker<'a>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.whole.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn bad<T>(&self, detail: impl Into<String>) -> Result<T> {
        Err(malformed(&self.whole[self.shown..], detail))
    }

    /// The error for a character that begins an element where none is allowed.
    fn unexpected<T>(&self, c: u8) -> Result<T> {
        match c {
            b'\\' | b'{' => self.bad(format!("Unexpected \"{}\" character.", c as char)),
            _ => self.bad(UNEXPECTED),
        }
    }

    fn integer(&mut self, missing: &str) -> Result<i32> {
        let start = self.at;
        if matches!(self.peek(), Some(b'-' | b'+')) {
            self.at += 1;
        }
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.whole[start..self.at]).into_owned();
        if text.is_empty() {
            return self.bad(missing);
        }
        // A sign alone is 0.
        if matches!(text.as_str(), "-" | "+") {
            return Ok(0);
        }
        text.parse()
            .map_err(|_| pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "array bound is out of integer range"))
    }

    /// Parses `[l:u]…=` before the braces.
    fn explicit_dims(&mut self) -> Result<(Vec<i32>, Vec<i32>)> {
        let (mut dims, mut lower) = (Vec::new(), Vec::new());
        loop {
            self.skip_space();
            if self.peek() != Some(b'[') {
                break;
            }
            self.at += 1;
            if dims.len() >= MAX_DIMS {
                return Err(too_many_dims(dims.len() + 1));
            }
            let first = self.integer(NO_DIMENSION)?;
            let (low, high) = if self.peek() == Some(b':') {
                self.at += 1;
                (first, self.integer("Missing array dimension value.")?)
            } else {
                (1, first)
            };
            if self.peek() != Some(b']') {
                return self.bad("Missing \"]\" after array dimensions.");
            }
            self.at += 1;
            if high < low {
                return Err(pg_err!(
                    ARRAY_SUBSCRIPT_ERROR,
                    "upper bound cannot be less than lower bound"
                ));
            }
            let dim = high.checked_sub(low).and_then(|d| d.checked_add(1)).ok_or_else(too_large)?;
            dims.push(dim);
            lower.push(low);
        }
        if !dims.is_empty() {
            self.skip_space();
            if self.peek() != Some(b'=') {
                return self.bad("Missing \"=\" after array dimensions.");
            }
            self.at += 1;
            self.skip_space();
        }
        Ok((dims, lower))
    }

    /// Parses an element up to the delimiter or brace; `None` is NULL.
    fn element(&mut self) -> Result<Option<Vec<u8>>> {
        let mut out = Vec::new();
        // Trailing white space is removed unless it was escaped or quoted.
        let mut keep = 0;
        let mut quoted = false;
        let mut escaped = false;
        loop {
            let Some(c) = self.peek() else { return self.bad("Unexpected end of input.") };
            match c {
                b'"' => {
                    if quoted || keep > 0 {
                        return self.bad(UNEXPECTED);
                    }
                    quoted = true;
                    self.at += 1;
                    loop {
                        let Some(c) = self.peek() else {
                            return self.bad("Unexpected end of input.");
                        };
                        self.at += 1;
                        match c {
                            b'"' => break,
                            b'\\' => {
                                let Some(c) = self.peek() else {
                                    return self.bad("Unexpected end of input.");
                                };
                                out.push(c);
                                self.at += 1;
                            }
                            c => out.push(c),
                        }
                    }
                    keep = out.len();
                }
                b'\\' => {
                    if quoted {
                        return self.bad("Unexpected \"\\\" character.");
                    }
                    self.at += 1;
                    let Some(c) = self.peek() else { return self.bad("Unexpected end of input.") };
                    out.push(c);
                    self.at += 1;
                    keep = out.len();
                    escaped = true;
                }
                c if c == self.delim || c == b'}' => break,
                b'{' => return self.bad("Unexpected \"{\" character."),
                c => {
                    if !is_space(c) {
                        if quoted {
                            return self.bad(UNEXPECTED);
                        }
                        out.push(c);
                        keep = out.len();
                    } else if !quoted {
                        out.push(c);
                    }
                    self.at += 1;
                }
            }
        }
        out.truncate(keep);
        if out.is_empty() && !quoted {
            return self.bad(format!("Unexpected \"{}\" character.", self.whole[self.at] as char));
        }
        if self.nulls && !quoted && !escaped && out.eq_ignore_ascii_case(b"null") {
            return Ok(None);
        }
        Ok(Some(out))
    }

    /// Parses a braced list at nesting level `depth` and checks its length against `dims`.
    fn list(&mut self, depth: usize) -> Result<()> {
        if depth >= MAX_DIMS {
            return Err(too_many_dims(depth + 1));
        }
        self.at += 1;
        let mut count = 0i32;
        loop {
            self.skip_space();
            match self.peek() {
                None => return self.bad("Unexpected end of input."),
                Some(b'}') if count == 0 && depth > 0 => {
                    return self.bad("Unexpected \"}\" character.");
                }
                Some(b'}') if count == 0 => {
                    self.at += 1;
                    break;
                }
                Some(b'{') => {
                    if self.leaf.is_some_and(|l| l <= depth) {
                        return self.bad("Unexpected \"{\" character.");
                    }
                    self.list(depth + 1)?;
                }
                Some(c) => {
                    // Only another subarray may follow a subarray.
                    if *self.leaf.get_or_insert(depth) != depth {
                        return self.unexpected(c);
                    }
                    self.interrupts.tick()?;
                    let e = self.element()?;
                    memory::reserve(&mut self.elements, 1)?;
                    self.elements.push(e);
                }
            }
            count += 1;
            self.skip_space();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(c) if c == self.delim => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() == Some(b'}') {
                        return self.bad("Unexpected \"}\" character.");
                    }
                }
                None => return self.bad("Unexpected end of input."),
                Some(c) => return self.unexpected(c),
            }
        }
        if self.dims.len() <= depth {
            self.dims.resize(depth + 1, -1);
        }
        match self.dims[depth] {
            -1 => self.dims[depth] = count,
            d if d != count => return self.bad(MISMATCH),
            _ => {}
        }
        Ok(())
    }
}

const NO_DIMENSION: &str = "\"[\" must introduce explicitly-specified array dimensions.";
const UNEXPECTED: &str = "Unexpected array element.";
const MISMATCH: &str = "Multidimensional arrays must have sub-arrays with matching dimensions.";

fn array_in(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let text = a[0].as_bytes();
    let elem = cx.type_info(a[1].as_oid())?;
    let typmod = a.get(2).map_or(-1, |t| t.as_i32());
    let nulls = cx.settings().array_nulls;
    let mut p = Parser {
        whole: text,
        at: 0,
        shown: 0,
        delim: elem.delim,
        nulls,
        dims: Vec::new(),
        leaf: None,
        elements: Vec::new(),
        interrupts: InterruptChecker::new(cx),
    };
    let (explicit, lower) = p.explicit_dims()?;
    if p.peek() != Some(b'{') {
        return p.bad(if explicit.is_empty() {
            "Array value must start with \"{\" or dimension information."
        } else {
            "Array contents must start with \"{\"."
        });
    }
    p.shown = p.at;
    p.list(0)?;
    p.skip_space();
    if p.at != text.len() {
        return p.bad("Junk after closing right brace.");
    }
    p.shown = 0;
    if p.elements.is_empty() {
        return Ok(empty(elem.oid));
    }
    if !explicit.is_empty() && explicit != p.dims {
        return p.bad("Specified array dimensions do not match array contents.");
    }
    let lower = if explicit.is_empty() { vec![1; p.dims.len()] } else { lower };
    count_of(&p.dims)?;
    check_bounds(&p.dims, &lower)?;
    let (dims, elements) = (p.dims, p.elements);
    let mut values = memory::with_capacity(elements.len())?;
    let mut ticker = InterruptTicker::default();
    for e in elements {
        ticker.tick(cx)?;
        values.push(match e {
            Some(e) => cx.type_input(elem.oid, &e, typmod)?,
            None => Datum::Null,
        });
    }
    build(&elem, &dims, &lower, values.iter().map(Datum::as_ref))
}

fn needs_quotes(text: &[u8], delim: u8) -> bool {
    text.is_empty()
        || text.eq_ignore_ascii_case(b"null")
        || text
            .iter()
            .any(|&c| matches!(c, b'"' | b'\\' | b'{' | b'}') || c == delim || is_space(c))
}

/// Formats an array.
pub fn array_out(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<Vec<u8>> {
    let array = ArrayRef::new(d)?;
    let elem = cx.type_info(array.elem_type())?;
    if array.count() == 0 {
        return Ok(b"{}".to_vec());
    }
    let (dims, lower) = (array.dims(), array.lower_bounds());
    let mut out = TextBuffer::new();
    if lower.iter().any(|&l| l != 1) {
        for (d, l) in dims.iter().zip(&lower) {
            let upper = i64::from(*l) + i64::from(*d) - 1;
            out.extend_from_slice(format!("[{l}:{upper}]").as_bytes());
        }
        out.push(b'=');
    }
    // A brace of dimension i opens and closes at multiples of spans[i] elements.
    let spans: Vec<usize> =
        (0..dims.len()).map(|i| dims[i..].iter().map(|&d| d as usize).product()).collect();
    for (i, value) in array.iter(&elem).enumerate() {
        if i > 0 {
            out.push(elem.delim);
        }
        spans.iter().filter(|s| i % **s == 0).for_each(|_| out.push(b'{'));
        match value {
            DatumRef::Null => out.extend_from_slice(b"NULL"),
            v => {
                let text = cx.type_output(elem.oid, v)?;
                if needs_quotes(&text, elem.delim) {
                    quoted::push(cx, &mut out, &text, Escape::Backslash)?;
                } else {
                    out.extend_from_slice(&text);
                }
            }
        }
        spans.iter().filter(|s| (i + 1) % **s == 0).for_each(|_| out.push(b'}'));
        if i % 1024 == 1023 {
            cx.check_interrupts()?;
        }
        out.check()?;
    }
    out.into_bytes()
}

fn array_recv(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut r = Reader::new(a[0].as_bytes());
    let array = read_array(cx, &mut r, a[1].as_oid(), a.get(2).map_or(-1, |t| t.as_i32()))?;
    r.end()?;
    Ok(array)
}

/// Reads an array of element type `want` from the front of a message.
pub fn read_array(
    cx: &mut dyn FnContext,
    r: &mut Reader<'_>,
    want: Oid,
    typmod: i32,
) -> Result<Datum> {
    let bad =
        |m: String| pgerror::PgError::new(pgerror::SqlState::INVALID_BINARY_REPRESENTATION, m);
    let ndim = r.i32()?;
    if ndim < 0 {
        return Err(bad(format!("invalid number of dimensions: {ndim}")));
    }
    if ndim as usize > MAX_DIMS {
        return Err(too_many_dims(ndim as usize));
    }
    let flags = r.i32()?;
    if flags != 0 && flags != 1 {
        return Err(bad("invalid array flags".into()));
    }
    let sent = Oid(r.u32()?);
    if crate::type_io::is_other_type(sent, want) {
        return Err(pg_err!(
            DATATYPE_MISMATCH,
            "binary data has array element type {sent} ({}) instead of expected {want} ({})",
            cx.type_name(sent, None)?,
            cx.type_name(want, None)?
        ));
    }
    let (mut dims, mut lower) = (Vec::new(), Vec::new());
    for _ in 0..ndim {
        dims.push(r.i32()?);
        lower.push(r.i32()?);
    }
    let count = count_of(&dims)?;
    check_bounds(&dims, &lower)?;
    let elem = cx.type_info(want)?;
    let mut values = Vec::new();
    let mut ticker = InterruptTicker::default();
    for i in 0..count {
        ticker.tick(cx)?;
        memory::reserve(&mut values, 1)?;
        let len = r.i32()?;
        if len == -1 {
            values.push(Datum::Null);
            continue;
        }
        let Some(bytes) = usize::try_from(len).ok().and_then(|len| r.rest().get(..len)) else {
            return Err(bad("insufficient data left in message".into()));
        };
        let value = cx.type_recv(want, r.bytes(bytes.len())?, typmod);
        values.push(value.map_err(|e| match crate::type_io::is_excess_data(&e) {
            true => bad(format!("improper binary format in array element {}", i + 1)),
            false => e,
        })?);
    }
    build(&elem, &dims, &lower, values.iter().map(Datum::as_ref))
}

/// `array_send`.
pub fn array_send(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    let array = ArrayRef::new(d)?;
    let elem = cx.type_info(array.elem_type())?;
    let mut out = TextBuffer::new();
    out.extend_from_slice(&(array.ndim() as u32).to_be_bytes());
    out.extend_from_slice(&u32::from(array.has_null_bitmap()).to_be_bytes());
    out.extend_from_slice(&elem.oid.0.to_be_bytes());
    for (d, l) in array.dims().iter().zip(array.lower_bounds()) {
        out.extend_from_slice(&d.to_be_bytes());
        out.extend_from_slice(&l.to_be_bytes());
    }
    let mut ticker = InterruptTicker::default();
    for value in array.iter(&elem) {
        ticker.tick(cx)?;
        if value.is_null() {
            out.extend_from_slice(&(-1i32).to_be_bytes());
            continue;
        }
        let bytes = cx.type_send(elem.oid, value)?;
        out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        out.extend_from_slice(&bytes);
        out.check()?;
    }
    out.into_datum()
}

scalars! { FNS;
    "array_in" => array_in,
    "array_out" => |cx, a| Ok(Datum::bytes(array_out(cx, a[0])?)),
    "array_recv" => array_recv,
    "array_send" => |cx, a| array_send(cx, a[0]),
    "anyarray_out" => |cx, a| Ok(Datum::bytes(array_out(cx, a[0])?)),
    "anyarray_send" => |cx, a| array_send(cx, a[0]),
}
