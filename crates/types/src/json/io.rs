//! Input and output of json and jsonb. Counterpart: json.c, jsonb.c.

use super::binary::{Container, Item};
use super::encode::Json;
use super::parse;
use numeric::io::with_text;
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::limits::TextBuffer;
use values::quoted::json_escaped;
use values::type_io::Reader;

/// The version byte of jsonb's binary form.
const VERSION: u8 = 1;

/// Number of bytes between two checks for interrupts.
const PART_BYTES: usize = 64 * 1024;

/// Appends a JSON string. An error if the query is cancelled.
pub(super) fn put_string(
    out: &mut TextBuffer,
    s: &[u8],
    interrupts: &InterruptChecker<'_>,
) -> Result<()> {
    out.push(b'"');
    for (i, part) in s.chunks(PART_BYTES).enumerate() {
        if i > 0 {
            interrupts.check()?;
            out.check()?;
        }
        json_escaped(out, part);
    }
    out.push(b'"');
    Ok(())
}

/// Formatting of jsonb as text.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    Line,
    /// Indented on separate lines, at this nesting depth.
    Lines(usize),
}

impl Layout {
    fn deeper(self) -> Layout {
        match self {
            Layout::Line => self,
            Layout::Lines(n) => Layout::Lines(n + 1),
        }
    }

    fn new_line(self, out: &mut TextBuffer) {
        if let Layout::Lines(n) = self {
            out.push(b'\n');
            out.fill(b' ', 4 * n);
        }
    }
}

/// Appends the text of a value.
pub(super) fn put_item(
    out: &mut TextBuffer,
    item: Item<'_>,
    layout: Layout,
    interrupts: &InterruptChecker<'_>,
) -> Result<()> {
    match item {
        Item::Null => out.extend_from_slice(b"null"),
        Item::Bool(b) => out.extend_from_slice(if b { b"true" } else { b"false" }),
        Item::Number(n) => with_text(n, |text| out.extend_from_slice(text)),
        Item::String(s) => put_string(out, s, interrupts)?,
        Item::Container(c) => {
            let (open, close) = if c.is_object() { (b'{', b'}') } else { (b'[', b']') };
            let inner = layout.deeper();
            out.push(open);
            for i in 0..c.len() {
                if i > 0 {
                    out.push(b',');
                    if matches!(layout, Layout::Line) {
                        out.push(b' ');
                    }
                }
                inner.new_line(out);
                let value = if c.is_object() {
                    put_string(out, c.key(i), interrupts)?;
                    out.extend_from_slice(b": ");
                    c.value(i)
                } else {
                    c.element(i)
                };
                put_item(out, value, inner, interrupts)?;
                interrupts.tick()?;
                out.check()?;
            }
            layout.new_line(out);
            out.push(close);
        }
    }
    Ok(())
}

/// Formats a jsonb datum.
pub(super) fn text_of(d: DatumRef<'_>, interrupts: &InterruptChecker<'_>) -> Result<Vec<u8>> {
    let mut out = TextBuffer::with_capacity(d.as_bytes().len());
    put_item(&mut out, Container::new(d.as_bytes()).item(), Layout::Line, interrupts)?;
    out.into_bytes()
}

/// Parses a JSON text to jsonb.
pub(super) fn jsonb_of(text: &[u8], interrupts: &InterruptChecker<'_>) -> Result<Datum> {
    Json::of_node(parse::tree(text, interrupts)?, text, interrupts)?.datum(interrupts)
}

fn json_in(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    parse::check(text, &InterruptChecker::new(cx))?;
    Ok(Datum::bytes(text.to_vec()))
}

fn jsonb_recv(cx: &mut dyn FnContext, message: &[u8]) -> Result<Datum> {
    let version = Reader::new(message).u8()?;
    if version != VERSION {
        return Err(pg_err!(INTERNAL_ERROR, "unsupported jsonb version number {version}"));
    }
    let text = values::text::from_client(cx, &message[1..])?;
    jsonb_of(&text, &InterruptChecker::new(cx))
}

fn pretty(d: DatumRef<'_>, interrupts: &InterruptChecker<'_>) -> Result<Datum> {
    let mut out = TextBuffer::new();
    put_item(&mut out, Container::new(d.as_bytes()).item(), Layout::Lines(0), interrupts)?;
    out.into_datum()
}

scalars! { FNS;
    "json_in" => |cx, a| json_in(cx, a[0].as_bytes()),
    "json_out" => |_, a| Ok(a[0].to_owned()),
    "json_recv" => |cx, a| {
        let text = values::text::from_client(cx, a[0].as_bytes())?;
        json_in(cx, &text)
    },
    "json_send" => |cx, a| values::text::send(cx, a[0]),
    "jsonb_in" => |cx, a| jsonb_of(a[0].as_bytes(), &InterruptChecker::new(cx)),
    "jsonb_out" => |cx, a| text_of(a[0], &InterruptChecker::new(cx)).map(Datum::bytes),
    "jsonb_recv" => |cx, a| jsonb_recv(cx, a[0].as_bytes()),
    "jsonb_send" => |cx, a| {
        let mut out = vec![VERSION];
        let text = text_of(a[0], &InterruptChecker::new(cx))?;
        out.extend_from_slice(&values::text::for_client(cx, &text)?);
        Ok(Datum::bytes(out))
    },
    "jsonb_pretty" => |cx, a| pretty(a[0], &InterruptChecker::new(cx)),
}
