//! Functions and operators of paths.

use super::value::{LEVELS_MAX, Ltree, build, empty_with, order, parse};
use ids::Oid;
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};

/// The labels from number `start` to before `end`.
fn part(t: Ltree<'_>, start: i32, end: i32) -> Result<Datum> {
    let count = t.len() as i32;
    if start < 0 || end < 0 || start >= count || start > end {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid positions"));
    }
    let labels: Vec<&[u8]> = t.labels().collect();
    if start == end {
        // The bytes of the labels before the empty part stay in the value, as in PostgreSQL.
        return empty_with(&labels[..end as usize]);
    }
    build(labels[start as usize..end.min(count) as usize].iter().copied())
}

/// `subpath`: a negative offset counts from the end, a negative length says how many labels to omit
/// at the end.
fn subpath(a: &[DatumRef<'_>]) -> Result<Datum> {
    let t = Ltree::new(a[0]);
    let count = t.len() as i32;
    let length = a.get(2).map_or(0, |length| length.as_i32());
    let mut start = a[1].as_i32();
    for _ in 0..2 {
        if start < 0 {
            start = start.wrapping_add(count);
        }
    }
    let end = match length {
        ..0 => count.wrapping_add(length),
        0 if a.len() == 3 => start,
        0 => LEVELS_MAX as i32,
        _ => start.wrapping_add(length),
    };
    part(t, start, end)
}

fn concat(a: Ltree<'_>, b: Ltree<'_>) -> Result<Datum> {
    let levels = a.len() + b.len();
    if levels > LEVELS_MAX {
        return Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of ltree levels ({levels}) exceeds the maximum allowed ({LEVELS_MAX})"
        ));
    }
    let labels: Vec<&[u8]> = a.labels().chain(b.labels()).collect();
    build(labels.into_iter())
}

/// The position of a path in another one, -1 if it is not there.
fn index(a: &[DatumRef<'_>]) -> Datum {
    let whole: Vec<&[u8]> = Ltree::new(a[0]).labels().collect();
    let part: Vec<&[u8]> = Ltree::new(a[1]).labels().collect();
    let count = whole.len() as i64;
    let start = a.get(2).map_or(0, |start| i64::from(start.as_i32()));
    let start = match start {
        ..0 if -start >= count => 0,
        ..0 => count + start,
        _ => start,
    };
    if count - start < part.len() as i64 || whole.is_empty() || part.is_empty() {
        return Datum::int4(-1);
    }
    let found = whole[start as usize..].windows(part.len()).position(|w| w == part);
    Datum::int4(found.map_or(-1, |at| (at as i64 + start) as i32))
}

/// The longest common ancestor, which is above each of the paths; NULL if a path is empty.
pub(super) fn common_ancestor(paths: &[Ltree<'_>]) -> Result<Datum> {
    let Some(first) = paths.first() else { return Ok(Datum::Null) };
    if paths.iter().any(|p| p.len() == 0) {
        return Ok(Datum::Null);
    }
    let shared = paths.iter().map(|p| {
        let same = first.labels().zip(p.labels()).take_while(|(a, b)| a == b).count();
        same.min(p.len() - 1)
    });
    let shared = shared.min().unwrap_or(0);
    let labels: Vec<&[u8]> = first.labels().take(shared).collect();
    build(labels.into_iter())
}

comparisons! { COMPARISONS;
    order => "ltree_eq" "ltree_ne" "ltree_lt" "ltree_le" "ltree_gt" "ltree_ge";
}

scalars! { FNS;
    "ltree_cmp" => |_, a| Ok(Datum::int4(order(a[0], a[1], Oid::INVALID) as i32)),
    "nlevel" => |_, a| Ok(Datum::int4(Ltree::new(a[0]).len() as i32)),
    "subltree" => |_, a| part(Ltree::new(a[0]), a[1].as_i32(), a[2].as_i32()),
    "subpath" => |_, a| subpath(a),
    "ltree_index" => |_, a| Ok(index(a)),
    "lca" => |_, a| {
        common_ancestor(&a.iter().map(|d| Ltree::new(*d)).collect::<Vec<_>>())
    },
    "ltree_isparent" => |_, a| {
        Ok(Datum::bool(Ltree::new(a[0]).is_ancestor_of(Ltree::new(a[1]))))
    },
    "ltree_risparent" => |_, a| {
        Ok(Datum::bool(Ltree::new(a[1]).is_ancestor_of(Ltree::new(a[0]))))
    },
    "ltree_addltree" => |_, a| concat(Ltree::new(a[0]), Ltree::new(a[1])),
    "ltree_addtext" => |cx, a| {
        let other = parse(cx, a[1].as_bytes())?;
        concat(Ltree::new(a[0]), Ltree::new(other.as_ref()))
    },
    "ltree_textadd" => |cx, a| {
        let other = parse(cx, a[0].as_bytes())?;
        concat(Ltree::new(other.as_ref()), Ltree::new(a[1]))
    },
}
