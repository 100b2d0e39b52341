//! Encoding of trees as jsonb. Counterpart: jsonb_util.c (convertToJsonb).

use super::binary::{
    ARRAY, CONTAINER, COUNT, FALSE, HAS_OFFSET, Item, LENGTH, NULL, NUMBER, OBJECT, SCALAR, STRIDE,
    TRUE, TYPE, key_order,
};
use super::parse::{DEPTH_MAX, Kind, Node};
use numeric::io::parse as parse_number;
use numeric::num::Num;
use pgerror::{Result, pg_err};
use values::datum::Datum;
use values::fn_context::InterruptChecker;
use values::memory;

/// A tree that is built or modified in memory.
#[derive(Clone, Debug)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// The payload of a numeric.
    Number(Vec<u8>),
    String(Vec<u8>),
    Array(Vec<Json>),
    /// Pairs in any order; they are sorted when they are encoded.
    Object(Vec<(Vec<u8>, Json)>),
}

impl Json {
    /// A JSON number; 22003 if it does not fit the format of numeric.
    pub fn number(n: &Num) -> Result<Json> {
        Ok(Json::Number(n.to_payload()?))
    }

    /// Converts a parsed JSON text.
    pub fn of_node(node: Node, text: &[u8], interrupts: &InterruptChecker<'_>) -> Result<Json> {
        interrupts.tick()?;
        Ok(match node.kind {
            Kind::Null => Json::Null,
            Kind::Bool(b) => Json::Bool(b),
            Kind::Number => Json::number(&parse_number(&text[node.span])?)?,
            Kind::String(s) => Json::String(s),
            Kind::Array(elements) => {
                let mut all = memory::with_capacity(elements.len())?;
                for e in elements {
                    all.push(Json::of_node(e, text, interrupts)?);
                }
                Json::Array(all)
            }
            Kind::Object(pairs) => {
                let mut all = memory::with_capacity(pairs.len())?;
                for (k, v) in pairs {
                    all.push((k, Json::of_node(v, text, interrupts)?));
                }
                Json::Object(all)
            }
        })
    }

    /// Converts a part of a jsonb value.
    pub fn of_item(item: Item<'_>, interrupts: &InterruptChecker<'_>) -> Result<Json> {
        interrupts.tick()?;
        Ok(match item {
            Item::Null => Json::Null,
            Item::Bool(b) => Json::Bool(b),
            Item::Number(n) => Json::Number(n.to_vec()),
            Item::String(s) => Json::String(s.to_vec()),
            Item::Container(c) if c.is_object() => {
                let mut all = memory::with_capacity(c.len())?;
                for (k, v) in c.pairs() {
                    all.push((k.to_vec(), Json::of_item(v, interrupts)?));
                }
                Json::Object(all)
            }
            Item::Container(c) => {
                let mut all = memory::with_capacity(c.len())?;
                for e in c.elements() {
                    all.push(Json::of_item(e, interrupts)?);
                }
                Json::Array(all)
            }
        })
    }

    /// Encodes the tree.
    pub fn datum(self, interrupts: &InterruptChecker<'_>) -> Result<Datum> {
        let mut out = Vec::new();
        match self {
            Json::Array(_) | Json::Object(_) => {
                put(&mut out, self, 0, interrupts)?;
            }
            scalar => put_array(&mut out, vec![scalar], SCALAR, 0, interrupts)?,
        }
        Ok(Datum::bytes(out))
    }
}

/// A datum of a value that is part of another jsonb.
pub(super) fn datum_of(item: Item<'_>) -> Datum {
    match item {
        Item::Container(c) => Datum::bytes(c.bytes()),
        Item::Null => scalar_datum(NULL, &[], &[]),
        Item::Bool(b) => scalar_datum(if b { TRUE } else { FALSE }, &[], &[]),
        Item::String(s) => scalar_datum(0, &[], s),
        Item::Number(n) => {
            let length_word = ((n.len() as u32 + 4) << 2).to_le_bytes();
            scalar_datum(NUMBER, &length_word, n)
        }
    }
}

/// The array that represents a scalar, for a value that is part of another jsonb.
fn scalar_datum(ty: u32, length_word: &[u8], value: &[u8]) -> Datum {
    let entry = ty | HAS_OFFSET | (length_word.len() + value.len()) as u32;
    let mut out = Vec::with_capacity(8 + length_word.len() + value.len());
    out.extend_from_slice(&(ARRAY | SCALAR | 1).to_le_bytes());
    out.extend_from_slice(&entry.to_le_bytes());
    out.extend_from_slice(length_word);
    out.extend_from_slice(value);
    Datum::bytes(out)
}

/// Aligns the next child.
pub(super) fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Checks that a length fits an entry.
fn fits(what: &str, len: usize) -> Result<u32> {
    if len > LENGTH as usize {
        return Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "total size of jsonb {what} elements exceeds the maximum of {LENGTH} bytes"
        ));
    }
    Ok(len as u32)
}

/// 54000: the length of a string does not fit an entry.
fn string_too_long() -> pgerror::PgError {
    pg_err!(PROGRAM_LIMIT_EXCEEDED, "string too long to represent as jsonb string").detail(format!(
        "Due to an implementation restriction, jsonb strings cannot exceed {LENGTH} bytes."
    ))
}

/// Appends a child and returns its entry.
fn put(
    out: &mut Vec<u8>,
    value: Json,
    depth: usize,
    interrupts: &InterruptChecker<'_>,
) -> Result<u32> {
    if depth > DEPTH_MAX {
        return Err(interrupts.too_deep());
    }
    interrupts.tick()?;
    let start = out.len();
    let ty = match value {
        Json::Null => return Ok(NULL),
        Json::Bool(b) => return Ok(if b { TRUE } else { FALSE }),
        Json::String(s) => {
            if s.len() > LENGTH as usize {
                return Err(string_too_long());
            }
            memory::append(out, &s)?;
            0
        }
        Json::Number(n) => {
            pad(out);
            out.extend_from_slice(&((n.len() as u32 + 4) << 2).to_le_bytes());
            out.extend_from_slice(&n);
            NUMBER
        }
        Json::Array(elements) => {
            put_array(out, elements, 0, depth + 1, interrupts)?;
            CONTAINER
        }
        Json::Object(pairs) => {
            put_object(out, pairs, depth + 1, interrupts)?;
            CONTAINER
        }
    };
    Ok(ty | fits("array", out.len() - start)?)
}

/// Appends the header and space for the entries; returns the offset of the entries.
pub(super) fn begin(out: &mut Vec<u8>, flags: u32, count: usize, entries: usize) -> Result<usize> {
    if count > COUNT as usize {
        return Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of jsonb elements exceeds the maximum allowed ({COUNT})"
        ));
    }
    pad(out);
    out.extend_from_slice(&(flags | count as u32).to_le_bytes());
    let at = out.len();
    memory::reserve(out, 4 * entries)?;
    out.resize(at + 4 * entries, 0);
    Ok(at)
}

/// Writes the `i`th entry; `total` is increased by the child's length.
pub(super) fn enter(
    out: &mut [u8],
    at: usize,
    i: usize,
    entry: u32,
    total: &mut usize,
    what: &str,
) -> Result<()> {
    *total += (entry & LENGTH) as usize;
    let end = fits(what, *total)?;
    let entry = if i.is_multiple_of(STRIDE) { entry & TYPE | end | HAS_OFFSET } else { entry };
    out[at + 4 * i..at + 4 * i + 4].copy_from_slice(&entry.to_le_bytes());
    Ok(())
}

fn put_array(
    out: &mut Vec<u8>,
    elements: Vec<Json>,
    scalar: u32,
    depth: usize,
    interrupts: &InterruptChecker<'_>,
) -> Result<()> {
    let at = begin(out, ARRAY | scalar, elements.len(), elements.len())?;
    let mut total = 0;
    for (i, e) in elements.into_iter().enumerate() {
        let entry = put(out, e, depth, interrupts)?;
        enter(out, at, i, entry, &mut total, "array")?;
    }
    Ok(())
}

fn put_object(
    out: &mut Vec<u8>,
    mut pairs: Vec<(Vec<u8>, Json)>,
    depth: usize,
    interrupts: &InterruptChecker<'_>,
) -> Result<()> {
    // If a key is repeated, its last member is used.
    pairs.reverse();
    pairs.sort_by(|a, b| key_order(&a.0, &b.0));
    pairs.dedup_by(|later, kept| later.0 == kept.0);
    let n = pairs.len();
    let at = begin(out, OBJECT, n, 2 * n)?;
    let mut total = 0;
    let mut values = memory::with_capacity(n)?;
    for (i, (key, value)) in pairs.into_iter().enumerate() {
        let entry = put(out, Json::String(key), depth, interrupts)?;
        enter(out, at, i, entry, &mut total, "object")?;
        values.push(value);
    }
    for (i, value) in values.into_iter().enumerate() {
        let entry = put(out, value, depth, interrupts)?;
        enter(out, at, n + i, entry, &mut total, "object")?;
    }
    Ok(())
}
