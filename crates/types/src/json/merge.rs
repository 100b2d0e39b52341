//! Concatenation of jsonb. The children of a container are copied as they are stored.

use super::binary::{ARRAY, Child, Container, OBJECT, key_order};
use super::encode::{begin, enter, pad};
use pgerror::Result;
use std::cmp::Ordering;
use values::datum::Datum;
use values::fn_context::InterruptChecker;
use values::memory;

/// The object with the pairs of both. Of a key of both, the value of the second one is used.
/// 54000 if the result is too large.
pub(super) fn objects(
    a: Container<'_>,
    b: Container<'_>,
    interrupts: &InterruptChecker<'_>,
) -> Result<Datum> {
    let mut pairs = memory::with_capacity(a.len().saturating_add(b.len()))?;
    let (mut left, mut right) = (a.stored_pairs().peekable(), b.stored_pairs().peekable());
    loop {
        interrupts.tick()?;
        let order = match (left.peek(), right.peek()) {
            (Some((l, _)), Some((r, _))) => key_order(l.bytes, r.bytes),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        if order == Ordering::Equal {
            left.next();
        }
        pairs.extend(if order == Ordering::Less { left.next() } else { right.next() });
    }
    let mut out = Vec::new();
    memory::reserve(&mut out, a.bytes().len().saturating_add(b.bytes().len()))?;
    let at = begin(&mut out, OBJECT, pairs.len(), 2 * pairs.len())?;
    let mut total = 0;
    let keys = pairs.iter().map(|(key, _)| key);
    for (i, child) in keys.chain(pairs.iter().map(|(_, value)| value)).enumerate() {
        interrupts.tick()?;
        put(&mut out, (at, i), child, &mut total, "object")?;
    }
    Ok(Datum::bytes(out))
}

/// The array of the elements of both; an object is one element. 54000 if it is too large.
pub(super) fn arrays(
    a: Container<'_>,
    b: Container<'_>,
    interrupts: &InterruptChecker<'_>,
) -> Result<Datum> {
    let count = |c: Container<'_>| if c.is_object() { 1 } else { c.len() };
    let count = count(a).saturating_add(count(b));
    let mut out = Vec::new();
    memory::reserve(&mut out, a.bytes().len().saturating_add(b.bytes().len()))?;
    let at = begin(&mut out, ARRAY, count, count)?;
    let mut total = 0;
    for (i, child) in a.stored_elements().chain(b.stored_elements()).enumerate() {
        interrupts.tick()?;
        put(&mut out, (at, i), &child, &mut total, "array")?;
    }
    Ok(Datum::bytes(out))
}

/// Appends a child and writes its entry, the `i`th of those at `at`.
fn put(
    out: &mut Vec<u8>,
    (at, i): (usize, usize),
    child: &Child<'_>,
    total: &mut usize,
    what: &str,
) -> Result<()> {
    let start = out.len();
    if child.is_aligned() {
        pad(out);
    }
    memory::append(out, child.bytes)?;
    let length = (out.len() - start) as u32;
    enter(out, at, i, child.ty | length, total, what)
}
