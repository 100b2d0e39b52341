//! citext: text whose comparisons ignore case. Both values are converted to lower case by the
//! database's default collation, and then compared by the collation.
//!
//! Counterpart: contrib/citext/citext.c.

use crate::library::{ByCase, Library};
use ids::Oid;
use ids::builtin::collation;
use locale::Locale;
use pgerror::Result;
use std::cmp::Ordering;
use std::sync::Arc;
use types::string::case::{Letters, lower_text};
use values::compare::{Comparer, TypedCompare};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::hash::{Hasher, TypedHash, h32, h64, hash_bytes, hash_bytes_extended};

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

/// For collations that order by the bytes of the text.
fn compare(a: &[u8], b: &[u8], letters: &Letters) -> Ordering {
    if a == b { Ordering::Equal } else { lower_text(a, letters).cmp(&lower_text(b, letters)) }
}

fn compare_ascii(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    compare(a.as_bytes(), b.as_bytes(), &Letters::Ascii)
}

fn compare_unicode(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    compare(a.as_bytes(), b.as_bytes(), &Letters::Unicode)
}

fn hash_ascii(v: DatumRef<'_>, _: Oid) -> u32 {
    hash_bytes(&lower_text(v.as_bytes(), &Letters::Ascii))
}

fn hash_unicode(v: DatumRef<'_>, _: Oid) -> u32 {
    hash_bytes(&lower_text(v.as_bytes(), &Letters::Unicode))
}

/// Order and hash with the letters of the database's default collation, the order by a locale.
struct Localized {
    letters: Letters,
    /// `None`: the order of the bytes.
    locale: Option<Arc<Locale>>,
}

impl Localized {
    fn order(&self, a: &[u8], b: &[u8]) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let (a, b) = (lower_text(a, &self.letters), lower_text(b, &self.letters));
        match &self.locale {
            Some(locale) => locale.compare(&a, &b),
            None => a.cmp(&b),
        }
    }
}

impl TypedCompare for Localized {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        self.order(a.as_bytes(), b.as_bytes())
    }
}

impl TypedHash for Localized {
    fn hash(&self, value: DatumRef<'_>, _: Oid) -> u32 {
        hash_bytes(&lower_text(value.as_bytes(), &self.letters))
    }
}

/// The comparison with this symbol, for the letters of a locale or under one; `None` if it depends
/// on neither.
pub(crate) fn comparer(
    symbol: &str,
    letters: &Letters,
    locale: Option<&Arc<Locale>>,
) -> Option<Comparer> {
    let locale = match symbol {
        "citext_cmp" => locale.filter(|l| !l.orders_by_bytes()),
        "citext_pattern_cmp" => None,
        _ => return None,
    };
    if locale.is_none() && !matches!(letters, Letters::Locale(_)) {
        return None;
    }
    let order = Localized { letters: letters.clone(), locale: locale.cloned() };
    Some(Comparer::Typed(Arc::new(order)))
}

/// The hash with this symbol, for the letters of a locale; `None` if it does not depend on them.
pub(crate) fn hasher(symbol: &str, letters: &Letters) -> Option<Hasher> {
    let depends = symbol == "citext_hash" && matches!(letters, Letters::Locale(_));
    let hash = || Localized { letters: letters.clone(), locale: None };
    depends.then(|| Hasher::Typed(Arc::new(hash())))
}

/// The order of the bytes of the texts in lower case, for equality and the pattern operators.
fn order(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Ordering {
    compare(a[0].as_bytes(), a[1].as_bytes(), &Letters::of_database(cx.settings()))
}

/// The order by the call's collation.
fn collated(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Ordering> {
    let locale = match cx.collation() {
        collation::C | collation::POSIX | Oid::INVALID => None,
        collation => cx.locale(collation)?.filter(|l| !l.orders_by_bytes()),
    };
    let letters = Letters::of_database(cx.settings());
    Ok(match locale {
        None => compare(a[0].as_bytes(), a[1].as_bytes(), &letters),
        locale => Localized { letters, locale }.order(a[0].as_bytes(), a[1].as_bytes()),
    })
}

fn test(cx: &dyn FnContext, a: &[DatumRef<'_>], f: fn(Ordering) -> bool) -> Result<Datum> {
    Ok(Datum::bool(f(order(cx, a))))
}

fn test_order(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    f: fn(Ordering) -> bool,
) -> Result<Datum> {
    Ok(Datum::bool(f(collated(cx, a)?)))
}

scalars! { FNS;
    "citext_eq" => |cx, a| test(cx, a, Ordering::is_eq),
    "citext_ne" => |cx, a| test(cx, a, Ordering::is_ne),
    "citext_lt" => |cx, a| test_order(cx, a, Ordering::is_lt),
    "citext_le" => |cx, a| test_order(cx, a, Ordering::is_le),
    "citext_gt" => |cx, a| test_order(cx, a, Ordering::is_gt),
    "citext_ge" => |cx, a| test_order(cx, a, Ordering::is_ge),
    "citext_pattern_lt" => |cx, a| test(cx, a, Ordering::is_lt),
    "citext_pattern_le" => |cx, a| test(cx, a, Ordering::is_le),
    "citext_pattern_gt" => |cx, a| test(cx, a, Ordering::is_gt),
    "citext_pattern_ge" => |cx, a| test(cx, a, Ordering::is_ge),
    "citext_cmp" => |cx, a| Ok(Datum::int4(collated(cx, a)? as i32)),
    "citext_pattern_cmp" => |cx, a| Ok(Datum::int4(order(cx, a) as i32)),
    "citext_larger" => |cx, a| Ok(a[usize::from(collated(cx, a)?.is_le())].to_owned()),
    "citext_smaller" => |cx, a| Ok(a[usize::from(collated(cx, a)?.is_ge())].to_owned()),
    "citext_hash" => |cx, a| {
        let lower = lower_text(a[0].as_bytes(), &Letters::of_database(cx.settings()));
        Ok(h32(hash_bytes(&lower)))
    },
    "citext_hash_extended" => |cx, a| {
        let lower = lower_text(a[0].as_bytes(), &Letters::of_database(cx.settings()));
        Ok(h64(hash_bytes_extended(&lower, a[1].word())))
    },
}
