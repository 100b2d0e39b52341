//! The texts in a JSON value, for text search. Counterpart: jsonfuncs.c (`iterate_json_values`,
//! `transform_json_string_values`).

use super::access::item;
use super::binary::{Container, Item};
use super::encode::Json;
use super::io::put_string;
use super::parse::{Kind, Node, tree};
use numeric::io::with_text;
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::limits::TextBuffer;

/// Which parts of a value are taken as texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TextParts {
    pub keys: bool,
    pub strings: bool,
    pub numbers: bool,
    pub booleans: bool,
}

const HINT: &str =
    "Possible values are: \"string\", \"numeric\", \"boolean\", \"key\", and \"all\".";

impl TextParts {
    /// Only strings.
    pub const STRINGS: TextParts =
        TextParts { keys: false, strings: true, numbers: false, booleans: false };

    /// From a jsonb with the names of the parts; 22023 if it is anything else.
    pub fn named(flags: DatumRef<'_>) -> Result<TextParts> {
        let container = Container::new(flags.as_bytes());
        if container.is_object() {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "wrong flag type, only arrays and scalars are allowed"
            ));
        }
        let mut out = TextParts::default();
        for element in container.elements() {
            let Item::String(name) = element else {
                return Err(pg_err!(INVALID_PARAMETER_VALUE, "flag array element is not a string")
                    .hint(HINT));
            };
            match name.to_ascii_lowercase().as_slice() {
                b"all" => {
                    out = TextParts { keys: true, strings: true, numbers: true, booleans: true };
                }
                b"key" => out.keys = true,
                b"string" => out.strings = true,
                b"numeric" => out.numbers = true,
                b"boolean" => out.booleans = true,
                _ => return Err(wrong_flag(name)),
            }
        }
        Ok(out)
    }
}

fn wrong_flag(name: &[u8]) -> PgError {
    let shown = String::from_utf8_lossy(name);
    pg_err!(INVALID_PARAMETER_VALUE, "wrong flag in flag array: \"{shown}\"").hint(HINT)
}

fn bool_text(b: bool) -> Vec<u8> {
    if b { b"true".to_vec() } else { b"false".to_vec() }
}

/// The texts of a json (`binary` false) or jsonb in their order.
pub fn texts(
    cx: &dyn FnContext,
    json: DatumRef<'_>,
    binary: bool,
    parts: TextParts,
) -> Result<Vec<Vec<u8>>> {
    let interrupts = &InterruptChecker::new(cx);
    let mut out = Vec::new();
    if binary {
        item_texts(item(json), parts, interrupts, &mut out)?;
    } else {
        let text = json.as_bytes();
        node_texts(tree(text, interrupts)?, text, parts, interrupts, &mut out)?;
    }
    Ok(out)
}

fn item_texts(
    item: Item<'_>,
    parts: TextParts,
    interrupts: &InterruptChecker<'_>,
    out: &mut Vec<Vec<u8>>,
) -> Result<()> {
    interrupts.tick()?;
    match item {
        Item::Bool(b) if parts.booleans => out.push(bool_text(b)),
        Item::Number(n) if parts.numbers => with_text(n, |text| out.push(text.to_vec())),
        Item::String(s) if parts.strings => out.push(s.to_vec()),
        Item::Container(c) => {
            for i in 0..c.len() {
                let value = if c.is_object() { c.value(i) } else { c.element(i) };
                if c.is_object() && parts.keys {
                    out.push(c.key(i).to_vec());
                }
                item_texts(value, parts, interrupts, out)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn node_texts(
    node: Node,
    text: &[u8],
    parts: TextParts,
    interrupts: &InterruptChecker<'_>,
    out: &mut Vec<Vec<u8>>,
) -> Result<()> {
    interrupts.tick()?;
    match node.kind {
        Kind::Bool(b) if parts.booleans => out.push(bool_text(b)),
        Kind::Number if parts.numbers => out.push(text[node.span].to_vec()),
        Kind::String(s) if parts.strings => out.push(s),
        Kind::Array(elements) => {
            for e in elements {
                node_texts(e, text, parts, interrupts, out)?;
            }
        }
        Kind::Object(pairs) => {
            for (key, value) in pairs {
                if parts.keys {
                    out.push(key);
                }
                node_texts(value, text, parts, interrupts, out)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The value with other strings, which are given in the order of [`texts`].
pub fn with_strings(
    cx: &dyn FnContext,
    json: DatumRef<'_>,
    binary: bool,
    strings: Vec<Vec<u8>>,
) -> Result<Datum> {
    let interrupts = &InterruptChecker::new(cx);
    let mut strings = strings.into_iter();
    if binary {
        let mut value = Json::of_item(item(json), interrupts)?;
        replace(&mut value, &mut strings);
        return value.datum(interrupts);
    }
    let text = json.as_bytes();
    let mut out = TextBuffer::new();
    put_node(&tree(text, interrupts)?, text, &mut strings, interrupts, &mut out)?;
    out.into_datum()
}

fn replace(value: &mut Json, strings: &mut impl Iterator<Item = Vec<u8>>) {
    match value {
        Json::String(s) => *s = strings.next().unwrap_or_default(),
        Json::Array(all) => all.iter_mut().for_each(|e| replace(e, strings)),
        Json::Object(pairs) => pairs.iter_mut().for_each(|(_, v)| replace(v, strings)),
        _ => {}
    }
}

/// Appends a json text without white space.
fn put_node(
    node: &Node,
    text: &[u8],
    strings: &mut impl Iterator<Item = Vec<u8>>,
    interrupts: &InterruptChecker<'_>,
    out: &mut TextBuffer,
) -> Result<()> {
    interrupts.tick()?;
    match &node.kind {
        Kind::Object(pairs) => {
            out.push(b'{');
            for (i, (key, value)) in pairs.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                put_string(out, key, interrupts)?;
                out.push(b':');
                put_node(value, text, strings, interrupts, out)?;
            }
            out.push(b'}');
        }
        Kind::Array(all) => {
            out.push(b'[');
            for (i, e) in all.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                put_node(e, text, strings, interrupts, out)?;
            }
            out.push(b']');
        }
        Kind::String(_) => {
            put_string(out, &strings.next().unwrap_or_default(), interrupts)?;
        }
        _ => out.extend_from_slice(&text[node.span.clone()]),
    }
    Ok(())
}
