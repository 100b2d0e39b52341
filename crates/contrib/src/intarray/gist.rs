//! Two operator classes. The keys of `gist__int_ops` are sets of integers, or sets of ranges if
//! there are many integers. The keys of `gist__intbig_ops` are signatures.
//!
//! ```text
//! gist__int_ops     an array of integers, ascending; if it has at least 2 * RANGES elements:
//!                   of the first and the last element of each range
//! gist__intbig_ops  flags u32 (4: all bits are set), then the signature unless all bits are set
//! ```
//!
//! Counterpart: contrib/intarray/_int_gist.c, _intbig_gist.c.

use super::arrays::{array, elements};
use super::query;
use crate::sign_key::SignKeys;
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::gist::{
    Column, Condition, Function, Groups, KEY_BYTES_MAX, Parameter, Ternary, keep_key, strategy,
};
use values::signature::{Signature, divide};

/// Ranges of a key without the parameter `numranges`.
const RANGES: usize = 100;
/// Most ranges of a key.
const RANGES_MAX: i64 = (KEY_BYTES_MAX - 4) / 8;
/// Most elements of all ranges of a key.
const ELEMENTS_MAX: i64 = (i32::MAX / 4) as i64;
/// `array @@ query_int`.
const FULFILS: u16 = 20;

fn ranges_of(column: &Column) -> usize {
    column.option("numranges", RANGES)
}

fn signs(column: &Column) -> SignKeys {
    SignKeys::of(column, 252, 0, 4)
}

pub(super) const SUPPORT: &[(&str, Function)] = &[
    ("g_int_consistent", Function::Consistent(consistent)),
    ("g_int_union", Function::Union(union)),
    ("g_int_compress", Function::Compress(compress)),
    ("g_int_decompress", Function::Decompress(decompress)),
    ("g_int_penalty", Function::Penalty(penalty)),
    ("g_int_picksplit", Function::PickSplit(pick_split)),
    ("g_int_same", Function::Same(same)),
    ("g_int_options", Function::Options(&[Parameter::new("numranges", RANGES_MAX)])),
    ("g_intbig_consistent", Function::Consistent(big_consistent)),
    ("g_intbig_union", Function::Union(big_union)),
    ("g_intbig_compress", Function::Compress(big_compress)),
    ("g_intbig_decompress", Function::Decompress(keep_key)),
    ("g_intbig_penalty", Function::Penalty(big_penalty)),
    ("g_intbig_picksplit", Function::PickSplit(big_pick_split)),
    ("g_intbig_same", Function::Same(big_same)),
    ("g_intbig_options", Function::Options(&[Parameter::new("siglen", KEY_BYTES_MAX)])),
];

fn set(d: DatumRef<'_>) -> Result<Vec<i32>> {
    let mut list = elements(d)?;
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

fn contains(whole: &[i32], part: &[i32]) -> bool {
    part.iter().all(|v| whole.binary_search(v).is_ok())
}

fn consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    let own = elements(key)?;
    if c.strategy.0 == FULFILS {
        let has = |v: i32| own.binary_search(&v).is_ok();
        let found = match leaf {
            true => query::holds_for(c.value, has),
            // Rows below the key may lack what it has.
            false => query::can_hold(c.value, has),
        };
        return Ok(found.into());
    }
    let query = set(c.value)?;
    let found = match c.strategy.0 {
        strategy::OVERLAP => query.iter().any(|v| own.binary_search(v).is_ok()),
        strategy::SAME if leaf => own == query,
        strategy::SAME | strategy::CONTAINS | strategy::OLD_CONTAINS => contains(&own, &query),
        strategy::CONTAINED_BY | strategy::OLD_CONTAINED_BY => !leaf || contains(&query, &own),
        _ => false,
    };
    Ok(match found {
        true if c.strategy.0 == strategy::SAME => Ternary::Maybe,
        found => found.into(),
    })
}

fn union(_: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    let mut all = Vec::new();
    for key in keys {
        all.extend(elements(*key)?);
    }
    all.sort_unstable();
    all.dedup();
    array(&all)
}

/// The ranges of ascending elements: consecutive elements first, then those with the smallest gaps
/// in between, until there are few enough.
fn ranges(list: &[i32], most: usize) -> Vec<(i32, i32)> {
    let mut out: Vec<(i32, i32)> = Vec::with_capacity(list.len());
    let mut surplus = list.len().saturating_sub(most);
    for v in list.iter().rev() {
        match out.last_mut() {
            Some((first, _)) if surplus > 0 && i64::from(*first) - 1 == i64::from(*v) => {
                *first = *v;
                surplus -= 1;
            }
            _ => out.push((*v, *v)),
        }
    }
    out.reverse();
    while out.len() > most {
        let gap = |n: usize| i64::from(out[n].0) - i64::from(out[n - 1].1);
        let Some(least) = (1..out.len()).min_by_key(|n| gap(*n)) else { break };
        out[least - 1].1 = out[least].1;
        out.remove(least);
    }
    out
}

/// The number of elements of ranges, if it is not too large.
fn size(ranges: &[(i32, i32)]) -> Option<i64> {
    let count = |(first, last): &(i32, i32)| i64::from(*last) - i64::from(*first) + 1;
    let size: i64 = ranges.iter().map(count).sum();
    (0..=ELEMENTS_MAX).contains(&size).then_some(size)
}

fn compress(column: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    let most = ranges_of(column);
    if leaf {
        let list = set(value)?;
        if list.len() >= 2 * most {
            return Err(pg_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "input array is too big ({} maximum allowed, {} current), \
                 use gist__intbig_ops opclass instead",
                2 * most - 1,
                list.len()
            ));
        }
        return array(&list).map(Some);
    }
    let list = elements(value)?;
    if list.len() < 2 * most {
        return Ok(None);
    }
    let ranges = ranges(&list, most);
    if size(&ranges).is_none() {
        return Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "data is too sparse, recreate index using gist__intbig_ops opclass instead"
        ));
    }
    let bounds: Vec<i32> = ranges.iter().flat_map(|(first, last)| [*first, *last]).collect();
    array(&bounds).map(Some)
}

fn decompress(column: &Column, key: DatumRef<'_>) -> Result<Option<Datum>> {
    let bounds = elements(key)?;
    if bounds.len() < 2 * ranges_of(column) {
        return Ok(None);
    }
    let ranges: Vec<(i32, i32)> = bounds.as_chunks::<2>().0.iter().map(|b| (b[0], b[1])).collect();
    let size = size(&ranges).ok_or_else(|| {
        pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "compressed array is too big, recreate index using gist__intbig_ops opclass instead"
        )
    })?;
    let mut list = values::memory::with_capacity(size as usize)?;
    for (first, last) in ranges {
        list.extend(first..=last);
    }
    list.dedup();
    array(&list).map(Some)
}

/// How many elements are added.
fn penalty(_: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    let (old, new) = (elements(old)?, elements(new)?);
    Ok(new.iter().filter(|v| old.binary_search(v).is_err()).count() as f32)
}

/// The number of elements of one of two sets only, and of both.
fn compare(a: &[i32], b: &[i32]) -> (usize, usize) {
    let shared = a.iter().filter(|v| b.binary_search(v).is_ok()).count();
    (a.len() + b.len() - shared, shared)
}

/// The two sets whose union is largest compared with their intersection begin the groups; each of
/// the others joins the one that it makes less larger, those for which that is clearest first.
fn pick_split(_: &Column, keys: &[DatumRef<'_>]) -> Result<Groups> {
    let own = keys.iter().map(|key| elements(*key)).collect::<Result<Vec<_>>>()?;
    let (mut seeds, mut most) = ((0, 1), None);
    for a in 0..own.len() {
        for b in a + 1..own.len() {
            let (union, shared) = compare(&own[a], &own[b]);
            let waste = union - shared;
            if most.is_none_or(|most| waste > most) {
                (seeds, most) = ((a, b), Some(waste));
            }
        }
    }
    let grows = |set: &[i32], n: usize| compare(set, &own[n]).0 - set.len();
    let mut order: Vec<usize> = (0..own.len()).filter(|n| *n != seeds.0 && *n != seeds.1).collect();
    order.sort_by_cached_key(|n| grows(&own[seeds.0], *n).abs_diff(grows(&own[seeds.1], *n)));
    let (mut left, mut right) = (vec![seeds.0], vec![seeds.1]);
    let (mut left_set, mut right_set) = (own[seeds.0].clone(), own[seeds.1].clone());
    for n in order {
        let more = left.len() as f64 - right.len() as f64;
        let to_left =
            (grows(&left_set, n) as f64) < grows(&right_set, n) as f64 - more.powi(3) * 0.01;
        let (group, set) = match to_left {
            true => (&mut left, &mut left_set),
            false => (&mut right, &mut right_set),
        };
        group.push(n);
        set.extend_from_slice(&own[n]);
        set.sort_unstable();
        set.dedup();
    }
    let (left_union, right_union) = (array(&left_set)?, array(&right_set)?);
    Ok(Groups { left, right, left_union, right_union })
}

fn same(_: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    Ok(elements(a)? == elements(b)?)
}

fn bit(keys: SignKeys, v: i32) -> usize {
    (v as u32 % keys.bits) as usize
}

fn sign_of(keys: SignKeys, d: DatumRef<'_>) -> Result<Signature> {
    let mut sign = Signature::empty(keys.bytes);
    elements(d)?.into_iter().for_each(|v| sign.set(bit(keys, v)));
    Ok(sign)
}

fn big_consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    let keys = signs(c.column);
    let own = keys.read(key);
    let has = |v: i32| own.has(bit(keys, v));
    let found = match (&own, c.strategy.0) {
        (Signature::All, _) => true,
        (_, FULFILS) => query::can_hold(c.value, has),
        (_, strategy::OVERLAP) => elements(c.value)?.into_iter().any(has),
        (_, strategy::SAME) if leaf => own == sign_of(keys, c.value)?,
        (_, strategy::SAME | strategy::CONTAINS | strategy::OLD_CONTAINS) => {
            elements(c.value)?.into_iter().all(has)
        }
        (_, strategy::CONTAINED_BY | strategy::OLD_CONTAINED_BY) => {
            !leaf || sign_of(keys, c.value)?.contains(&own)
        }
        _ => false,
    };
    Ok(if found { Ternary::Maybe } else { Ternary::False })
}

fn big_compress(column: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    let keys = signs(column);
    match leaf {
        true => Ok(Some(keys.key(&sign_of(keys, value)?))),
        false => Ok(keys.compressed(value)),
    }
}

fn big_union(column: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    Ok(signs(column).union(keys))
}

fn big_penalty(column: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    let keys = signs(column);
    Ok(keys.read(old).distance(&keys.read(new), keys.bits) as f32)
}

fn big_pick_split(column: &Column, own: &[DatumRef<'_>]) -> Result<Groups> {
    let keys = signs(column);
    let all: Vec<Signature> = own.iter().map(|key| keys.read(*key)).collect();
    Ok(keys.groups(divide(&all, keys.bits, 0.00001)))
}

fn big_same(column: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    let keys = signs(column);
    Ok(keys.read(a) == keys.read(b))
}
