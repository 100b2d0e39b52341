//! B-tree support functions: three-way comparison of two values of one type, neither of them NULL.
//! Counterpart: access/nbtree/nbtcompare.c and the `bt*cmp` functions of the types.

use crate::DatumRef;
use ids::Oid;
use std::cmp::Ordering;

/// Compares two non-null values under a collation (the invalid OID where the type has none).
pub type CompareFn = fn(DatumRef<'_>, DatumRef<'_>, collation: Oid) -> Ordering;

pub fn btboolcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_bool().cmp(&b.as_bool())
}

pub fn btint2cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_i16().cmp(&b.as_i16())
}

pub fn btint4cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_i32().cmp(&b.as_i32())
}

pub fn btint8cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_i64().cmp(&b.as_i64())
}

pub fn btoidcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_oid().cmp(&b.as_oid())
}

/// "char" compares as an unsigned byte.
pub fn btcharcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_char().cmp(&b.as_char())
}

/// Names compare bytewise up to the padding (their collation is "C").
pub fn btnamecmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_name().cmp(b.as_name())
}

/// Text under a collation that orders by bytes ("C" and its like).
pub fn bttextcmp_c(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_bytes().cmp(b.as_bytes())
}
