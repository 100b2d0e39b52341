//! Comparison, hash, containment and overlap. Counterpart: arrayfuncs.c.

use crate::compare;
use ids::Oid;
use pgerror::{Result, pg_err};
use smallvec::SmallVec;
use std::cmp::Ordering;
use values::array::payload::{ArrayRef, Elements};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker, TypeInfo};
use values::hash;

/// Compares element by element (NULLs last), then by number of elements, dimensions, lengths, lower
/// bounds.
fn order(
    a: ArrayRef<'_>,
    b: ArrayRef<'_>,
    elem: &TypeInfo,
    mut f: impl FnMut(DatumRef<'_>, DatumRef<'_>) -> Result<Ordering>,
) -> Result<Ordering> {
    for (x, y) in a.iter(elem).zip(b.iter(elem)) {
        let o = match (x.is_null(), y.is_null()) {
            (true, true) => Ordering::Equal,
            (x_null, y_null) if x_null || y_null => x_null.cmp(&y_null),
            _ => f(x, y)?,
        };
        if o.is_ne() {
            return Ok(o);
        }
    }
    let shape = a.count().cmp(&b.count()).then_with(|| a.ndim().cmp(&b.ndim()));
    let shape = shape.then_with(|| a.dims().cmp(&b.dims()));
    Ok(shape.then_with(|| a.lower_bounds().cmp(&b.lower_bounds())))
}

fn check_types(cx: &mut dyn FnContext, a: ArrayRef<'_>, b: ArrayRef<'_>) -> Result<TypeInfo> {
    if a.elem_type() != b.elem_type() {
        return Err(pg_err!(DATATYPE_MISMATCH, "cannot compare arrays of different element types"));
    }
    cx.type_info(a.elem_type())
}

fn array_cmp(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Ordering> {
    let (x, y) = (ArrayRef::new(a[0])?, ArrayRef::new(a[1])?);
    let elem = check_types(cx, x, y)?;
    let collation = cx.collation();
    let mut ticker = InterruptTicker::default();
    order(x, y, &elem, |p, q| {
        ticker.tick(cx)?;
        cx.type_compare(elem.oid, p, q, collation)
    })
}

/// `btarraycmp` without a context: elements of built-in types compare by their type's order, others
/// bytewise.
pub fn btarraycmp(a: DatumRef<'_>, b: DatumRef<'_>, collation: Oid) -> Ordering {
    let (x, y) = (ArrayRef::or_empty(a), ArrayRef::or_empty(b));
    if x.elem_type() != y.elem_type() {
        return x.elem_type().cmp(&y.elem_type());
    }
    let Some(t) = values::builtin_types::get(x.elem_type()) else {
        return x.payload().cmp(y.payload());
    };
    match compare::of_type(t.info.oid) {
        Some(f) => order(x, y, &t.info, |p, q| Ok(f(p, q, collation))).unwrap_or(Ordering::Equal),
        None => x.payload().cmp(y.payload()),
    }
}

/// Compares arrays by an infallible comparison of their elements.
pub fn order_by(
    a: DatumRef<'_>,
    b: DatumRef<'_>,
    elem: &TypeInfo,
    mut cmp: impl FnMut(DatumRef<'_>, DatumRef<'_>) -> Ordering,
) -> Ordering {
    let (x, y) = (ArrayRef::or_empty(a), ArrayRef::or_empty(b));
    order(x, y, elem, |p, q| Ok(cmp(p, q))).unwrap_or(Ordering::Equal)
}

fn array_eq(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<bool> {
    let (x, y) = (ArrayRef::new(a[0])?, ArrayRef::new(a[1])?);
    let elem = check_types(cx, x, y)?;
    if !x.same_bounds(y) {
        return Ok(false);
    }
    let collation = cx.collation();
    let mut ticker = InterruptTicker::default();
    for (p, q) in x.iter(&elem).zip(y.iter(&elem)) {
        ticker.tick(cx)?;
        let same = match (p.is_null(), q.is_null()) {
            (true, true) => true,
            (false, false) => cx.type_equal(elem.oid, p, q, collation)?,
            _ => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether all elements of `a` (with `all`) or any of them are in `b`. A NULL equals no element.
fn contained(cx: &mut dyn FnContext, a: DatumRef<'_>, b: DatumRef<'_>, all: bool) -> Result<bool> {
    let (x, y) = (ArrayRef::new(a)?, ArrayRef::new(b)?);
    let elem = check_types(cx, x, y)?;
    let mut others: SmallVec<[DatumRef<'_>; 32]> = SmallVec::new();
    values::memory::admit(y.count() * size_of::<DatumRef<'_>>())?;
    others.extend(y.iter(&elem).filter(|q| !q.is_null()));
    if compare::equal_by_word(elem.oid) {
        return among_words(cx, x.iter(&elem), &others, all);
    }
    let collation = cx.collation();
    // Under other collations, equal texts may have different bytes.
    let is_builtin = collation < ids::Oid::FIRST_UNPINNED;
    let known = compare::of_type(elem.oid).filter(|_| is_builtin);
    let mut ticker = InterruptTicker::default();
    for p in x.iter(&elem) {
        let mut found = false;
        if !p.is_null() {
            for q in &others {
                ticker.tick(cx)?;
                found = match known {
                    Some(compare) => compare(p, *q, collation).is_eq(),
                    None => cx.type_equal(elem.oid, p, *q, collation)?,
                };
                if found {
                    break;
                }
            }
        }
        if found != all {
            return Ok(found);
        }
    }
    Ok(all)
}

/// Like [`contained`], for types whose values are equal exactly if their words are.
fn among_words(
    cx: &dyn FnContext,
    items: Elements<'_>,
    others: &[DatumRef<'_>],
    all: bool,
) -> Result<bool> {
    let words: SmallVec<[u64; 32]> = others.iter().map(|q| q.word()).collect();
    let mut steps = 0usize;
    for p in items {
        let found = match p {
            DatumRef::Word(w) => words.contains(&w),
            _ => false,
        };
        if found != all {
            return Ok(found);
        }
        steps += words.len();
        if steps > WORDS_UNCHECKED {
            steps = 0;
            cx.check_interrupts()?;
        }
    }
    Ok(all)
}

/// Number of word comparisons between two checks for interrupts.
const WORDS_UNCHECKED: usize = 1 << 16;

fn hash_array(cx: &mut dyn FnContext, d: DatumRef<'_>, seed: Option<u64>) -> Result<u64> {
    let array = ArrayRef::new(d)?;
    let elem = cx.type_info(array.elem_type())?;
    let collation = cx.collation();
    let (mut h32, mut h64) = (1u32, 1u64);
    let mut ticker = InterruptTicker::default();
    for v in array.iter(&elem) {
        ticker.tick(cx)?;
        let h = match v {
            DatumRef::Null => 0,
            v => cx.type_hash(elem.oid, v, collation, seed)?,
        };
        h32 = (h32 << 5).wrapping_sub(h32).wrapping_add(h as u32);
        h64 = (h64 << 5).wrapping_sub(h64).wrapping_add(h);
    }
    Ok(if seed.is_some() { h64 } else { h32.into() })
}

scalars! { FNS;
    "array_eq" => |cx, a| Ok(Datum::bool(array_eq(cx, a)?)),
    "array_ne" => |cx, a| Ok(Datum::bool(!array_eq(cx, a)?)),
    "array_lt" => |cx, a| Ok(Datum::bool(array_cmp(cx, a)?.is_lt())),
    "array_le" => |cx, a| Ok(Datum::bool(array_cmp(cx, a)?.is_le())),
    "array_gt" => |cx, a| Ok(Datum::bool(array_cmp(cx, a)?.is_gt())),
    "array_ge" => |cx, a| Ok(Datum::bool(array_cmp(cx, a)?.is_ge())),
    "btarraycmp" => |cx, a| Ok(Datum::int4(array_cmp(cx, a)? as i32)),
    "array_larger" => |cx, a| Ok(a[array_cmp(cx, a)?.is_le() as usize].to_owned()),
    "array_smaller" => |cx, a| Ok(a[array_cmp(cx, a)?.is_ge() as usize].to_owned()),
    "arraycontains" => |cx, a| Ok(Datum::bool(contained(cx, a[1], a[0], true)?)),
    "arraycontained" => |cx, a| Ok(Datum::bool(contained(cx, a[0], a[1], true)?)),
    "arrayoverlap" => |cx, a| Ok(Datum::bool(contained(cx, a[0], a[1], false)?)),
    "hash_array" => |cx, a| Ok(hash::h32(hash_array(cx, a[0], None)? as u32)),
    "hash_array_extended" => |cx, a| Ok(hash::h64(hash_array(cx, a[0], Some(a[1].word()))?)),
}
