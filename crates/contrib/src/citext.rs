//! citext: text whose comparisons ignore case. Both values are converted to lower case by the
//! database's default collation, and then compared by code points, which is the order of all
//! supported collations.
//!
//! Counterpart: contrib/citext/citext.c.

use crate::library::{ByCase, Library};
use ids::Oid;
use pgerror::Result;
use std::cmp::Ordering;
use types::string::case::lower_text;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::hash::{h32, h64, hash_bytes, hash_bytes_extended};
use values::settings::Encoding;

pub static LIBRARY: Library = Library {
    name: "citext",
    functions: &[FNS],
    comparisons: &[
        ByCase { symbol: "citext_cmp", ascii: compare_ascii, unicode: compare_unicode },
        ByCase { symbol: "citext_pattern_cmp", ascii: compare_ascii, unicode: compare_unicode },
    ],
    hashes: &[ByCase { symbol: "citext_hash", ascii: hash_ascii, unicode: hash_unicode }],
    ..Library::EMPTY
};

/// All collations order by the bytes of the text, so that of the call does not matter.
fn compare<const ASCII: bool>(a: &[u8], b: &[u8]) -> Ordering {
    if a == b { Ordering::Equal } else { lower_text(a, ASCII).cmp(&lower_text(b, ASCII)) }
}

fn compare_ascii(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    compare::<true>(a.as_bytes(), b.as_bytes())
}

fn compare_unicode(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    compare::<false>(a.as_bytes(), b.as_bytes())
}

fn hash_ascii(v: DatumRef<'_>, _: Oid) -> u32 {
    hash_bytes(&lower_text(v.as_bytes(), true))
}

fn hash_unicode(v: DatumRef<'_>, _: Oid) -> u32 {
    hash_bytes(&lower_text(v.as_bytes(), false))
}

/// Whether only ASCII letters have case in the default collation.
pub(crate) fn ascii_only(cx: &dyn FnContext) -> bool {
    let s = cx.settings();
    s.ctype_is_c || s.encoding != Encoding::Utf8
}

fn order(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Ordering {
    match ascii_only(cx) {
        true => compare_ascii(a[0], a[1], Oid::INVALID),
        false => compare_unicode(a[0], a[1], Oid::INVALID),
    }
}

fn test(cx: &dyn FnContext, a: &[DatumRef<'_>], f: fn(Ordering) -> bool) -> Result<Datum> {
    Ok(Datum::bool(f(order(cx, a))))
}

scalars! { FNS;
    "citext_eq" => |cx, a| test(cx, a, Ordering::is_eq),
    "citext_ne" => |cx, a| test(cx, a, Ordering::is_ne),
    "citext_lt" => |cx, a| test(cx, a, Ordering::is_lt),
    "citext_le" => |cx, a| test(cx, a, Ordering::is_le),
    "citext_gt" => |cx, a| test(cx, a, Ordering::is_gt),
    "citext_ge" => |cx, a| test(cx, a, Ordering::is_ge),
    "citext_pattern_lt" => |cx, a| test(cx, a, Ordering::is_lt),
    "citext_pattern_le" => |cx, a| test(cx, a, Ordering::is_le),
    "citext_pattern_gt" => |cx, a| test(cx, a, Ordering::is_gt),
    "citext_pattern_ge" => |cx, a| test(cx, a, Ordering::is_ge),
    "citext_cmp" => |cx, a| Ok(Datum::int4(order(cx, a) as i32)),
    "citext_pattern_cmp" => |cx, a| Ok(Datum::int4(order(cx, a) as i32)),
    "citext_larger" => |cx, a| Ok(a[usize::from(order(cx, a).is_le())].to_owned()),
    "citext_smaller" => |cx, a| Ok(a[usize::from(order(cx, a).is_ge())].to_owned()),
    "citext_hash" => |cx, a| Ok(h32(hash_bytes(&lower_text(a[0].as_bytes(), ascii_only(cx))))),
    "citext_hash_extended" => |cx, a| {
        let lower = lower_text(a[0].as_bytes(), ascii_only(cx));
        Ok(h64(hash_bytes_extended(&lower, a[1].word())))
    },
}
