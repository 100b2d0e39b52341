//! Comparison, hash functions and containment of jsonb. Counterpart: jsonb_op.c, jsonb_util.c.

use super::binary::{ARRAY, Container, Item, OBJECT};
use ids::Oid;
use numeric::num::Num;
use numeric::{functions, order};
use pgerror::Result;
use std::cmp::Ordering;
use values::array::payload::ArrayRef;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::hash;

fn number_order(a: &[u8], b: &[u8]) -> Ordering {
    order::compare(&Num::from_payload(a), &Num::from_payload(b))
}

/// Rank of the JSON types in the sort order.
fn rank(i: Item<'_>) -> u8 {
    match i {
        Item::Null => 0,
        Item::String(_) => 1,
        Item::Number(_) => 2,
        Item::Bool(_) => 3,
        Item::Container(c) if !c.is_object() => 4,
        Item::Container(_) => 5,
    }
}

/// The order of values whose strings and keys are in the order of `strings`.
fn order(a: Item<'_>, b: Item<'_>, strings: &impl Fn(&[u8], &[u8]) -> Ordering) -> Ordering {
    match (a, b) {
        (Item::Null, Item::Null) => Ordering::Equal,
        (Item::String(a), Item::String(b)) => strings(a, b),
        (Item::Number(a), Item::Number(b)) => number_order(a, b),
        (Item::Bool(a), Item::Bool(b)) => a.cmp(&b),
        (Item::Container(a), Item::Container(b)) if a.is_object() == b.is_object() => {
            container_order(a, b, strings)
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn container_order(
    a: Container<'_>,
    b: Container<'_>,
    strings: &impl Fn(&[u8], &[u8]) -> Ordering,
) -> Ordering {
    if a.is_object() != b.is_object() {
        return if b.is_object() { Ordering::Less } else { Ordering::Greater };
    }
    // The number of members decides first, even for arrays that represent scalars.
    let by_count = a.len().cmp(&b.len());
    if by_count.is_ne() {
        return by_count;
    }
    if a.is_scalar() != b.is_scalar() {
        return b.is_scalar().cmp(&a.is_scalar());
    }
    for i in 0..a.len() {
        let by_member = match a.is_object() {
            true => {
                strings(a.key(i), b.key(i)).then_with(|| order(a.value(i), b.value(i), strings))
            }
            false => order(a.element(i), b.element(i), strings),
        };
        if by_member.is_ne() {
            return by_member;
        }
    }
    Ordering::Equal
}

/// `jsonb_cmp` in databases whose default collation orders by bytes.
pub fn jsonb_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    jsonb_order(a, b, &bytes)
}

/// `jsonb_cmp` with strings and keys in the order of `strings`.
pub(crate) fn jsonb_order(
    a: DatumRef<'_>,
    b: DatumRef<'_>,
    strings: &impl Fn(&[u8], &[u8]) -> Ordering,
) -> Ordering {
    container_order(Container::new(a.as_bytes()), Container::new(b.as_bytes()), strings)
}

fn bytes(a: &[u8], b: &[u8]) -> Ordering {
    a.cmp(b)
}

fn equal(a: Item<'_>, b: Item<'_>) -> bool {
    order(a, b, &bytes).is_eq()
}

/// Whether `a` contains `b`. Elements of arrays are compared pairwise.
fn contains(a: Container<'_>, b: Container<'_>, interrupts: &InterruptChecker<'_>) -> Result<bool> {
    if a.is_object() != b.is_object() {
        return Ok(false);
    }
    if a.is_object() {
        if a.len() < b.len() {
            return Ok(false);
        }
        for (key, want) in b.pairs() {
            interrupts.tick()?;
            let found = match (a.get(key), want) {
                (None, _) => false,
                (Some(Item::Container(have)), Item::Container(want)) => {
                    contains(have, want, interrupts)?
                }
                (Some(have), want) => rank(have) == rank(want) && equal(have, want),
            };
            if !found {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    // A scalar does not contain an array, although an array contains its scalar elements.
    if a.is_scalar() && !b.is_scalar() {
        return Ok(false);
    }
    for want in b.elements() {
        if !has_element(a, want, interrupts)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_element(
    a: Container<'_>,
    want: Item<'_>,
    interrupts: &InterruptChecker<'_>,
) -> Result<bool> {
    for have in a.elements() {
        interrupts.tick()?;
        let same = match (have, want) {
            (Item::Container(have), Item::Container(want)) => contains(have, want, interrupts)?,
            (_, Item::Container(_)) => false,
            (have, want) => rank(have) == rank(want) && equal(have, want),
        };
        if same {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the string is a key of the object or a string element of the array.
fn exists(c: Container<'_>, s: &[u8], interrupts: &InterruptChecker<'_>) -> Result<bool> {
    if c.is_object() {
        interrupts.tick()?;
        return Ok(c.find(s).is_some());
    }
    for e in c.elements() {
        interrupts.tick()?;
        if matches!(e, Item::String(have) if have == s) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether any of the strings (with `all`, each of them) exists in the value: the operators `?|`
/// and `?&`.
fn exist(cx: &mut dyn FnContext, a: &[DatumRef<'_>], all: bool) -> Result<Datum> {
    let strings = strings(cx, a[1])?;
    let (c, interrupts) = (Container::new(a[0].as_bytes()), InterruptChecker::new(cx));
    for s in &strings {
        if exists(c, s, &interrupts)? != all {
            return Ok(Datum::bool(!all));
        }
    }
    Ok(Datum::bool(all))
}

fn strings(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<Vec<Vec<u8>>> {
    let array = ArrayRef::new(d)?;
    let elem = array.varlena_type(cx)?;
    Ok(array.iter(&elem).filter(|e| !e.is_null()).map(|e| e.as_bytes().to_vec()).collect())
}

/// Mixes the hashes of a container's members into `state` (32 or 64 bits): `container` mixes in the
/// kind of a container, `scalar` a scalar value.
fn hash_members<T: Copy>(
    c: Container<'_>,
    state: &mut T,
    container: &impl Fn(T, u32) -> T,
    scalar: &impl Fn(T, Item<'_>) -> T,
) {
    *state = container(*state, if c.is_object() { OBJECT } else { ARRAY });
    let mut one = |item: Item<'_>| match item {
        Item::Container(c) => hash_members(c, state, container, scalar),
        item => *state = scalar(*state, item),
    };
    if c.is_object() {
        for (key, value) in c.pairs() {
            one(Item::String(key));
            one(value);
        }
    } else {
        c.elements().for_each(one);
    }
}

/// The hash of a jsonb.
pub(crate) fn hash_of(d: DatumRef<'_>) -> u32 {
    hash32(Container::new(d.as_bytes()))
}

fn hash32(c: Container<'_>) -> u32 {
    if c.len() == 0 {
        return 0;
    }
    let mut state = 0;
    hash_members(c, &mut state, &|state: u32, kind| state ^ kind, &|state, item| {
        let h = match item {
            Item::String(s) => hash::hash_bytes(s),
            Item::Number(n) => functions::hash_of(DatumRef::Bytes(n)),
            Item::Bool(true) => 2,
            Item::Bool(false) => 4,
            Item::Null | Item::Container(_) => 1,
        };
        state.rotate_left(1) ^ h
    });
    state
}

fn hash64(c: Container<'_>, seed: u64) -> u64 {
    if c.len() == 0 {
        return seed;
    }
    let mut state = 0;
    let container = |state: u64, kind: u32| state ^ (u64::from(kind) << 32 | u64::from(kind));
    hash_members(c, &mut state, &container, &|state, item| {
        let h = match item {
            Item::String(s) => hash::hash_bytes_extended(s, seed),
            Item::Number(n) => functions::hash_extended(DatumRef::Bytes(n), seed),
            Item::Bool(b) if seed != 0 => hash::hash_uint32_extended(u32::from(b), seed),
            Item::Bool(true) => 2,
            Item::Bool(false) => 4,
            Item::Null | Item::Container(_) => seed.wrapping_add(1),
        };
        // Each half is rotated separately.
        let turned = (u64::from(((state >> 32) as u32).rotate_left(1)) << 32)
            | u64::from((state as u32).rotate_left(1));
        turned ^ h
    });
    state
}

comparisons! { COMPARISONS;
    jsonb_cmp => "jsonb_eq" "jsonb_ne" "jsonb_lt" "jsonb_le" "jsonb_gt" "jsonb_ge";
}

scalars! { FNS;
    "jsonb_cmp" => |cx, a| Ok(Datum::int4(jsonb_cmp(a[0], a[1], cx.collation()) as i32)),
    "jsonb_hash" => |_, a| Ok(hash::h32(hash_of(a[0]))),
    "jsonb_hash_extended" => |_, a| {
        Ok(hash::h64(hash64(Container::new(a[0].as_bytes()), a[1].as_i64() as u64)))
    },
    "jsonb_contains" => |cx, a| {
        let (a, b) = (Container::new(a[0].as_bytes()), Container::new(a[1].as_bytes()));
        Ok(Datum::bool(contains(a, b, &InterruptChecker::new(cx))?))
    },
    "jsonb_contained" => |cx, a| {
        let (a, b) = (Container::new(a[0].as_bytes()), Container::new(a[1].as_bytes()));
        Ok(Datum::bool(contains(b, a, &InterruptChecker::new(cx))?))
    },
    "jsonb_exists" => |cx, a| {
        let c = Container::new(a[0].as_bytes());
        Ok(Datum::bool(exists(c, a[1].as_bytes(), &InterruptChecker::new(cx))?))
    },
    "jsonb_exists_any" => |cx, a| exist(cx, a, false),
    "jsonb_exists_all" => |cx, a| exist(cx, a, true),
}
