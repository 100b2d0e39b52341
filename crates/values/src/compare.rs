//! Three-way comparisons of two values of one type, neither of them NULL, that depend on no type
//! family. Counterpart: access/nbtree/nbtcompare.c.

use crate::datum::DatumRef;
use ids::Oid;
use std::cmp::Ordering;
use std::sync::Arc;

/// Compares two non-null values under a collation (the invalid OID where the type has none).
pub type CompareFn = fn(DatumRef<'_>, DatumRef<'_>, collation: Oid) -> Ordering;

/// A comparison that needs more than its two values: the sort order of an enum's labels, the
/// columns of a row type.
pub trait TypedCompare: Send + Sync {
    /// As [`CompareFn`].
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, collation: Oid) -> Ordering;

    /// Whether [`TypedCompare::abbreviation`] is of use.
    fn has_abbreviations(&self) -> bool {
        false
    }

    /// A number that usually has the order of the value. A sort by these numbers must verify its
    /// result by comparing neighbours, unless the numbers of all values are
    /// [exact](Self::has_exact_abbreviation).
    fn abbreviation(&self, value: DatumRef<'_>) -> u64 {
        let _ = value;
        0
    }

    /// True if the number of this value and those of others for which this is true have exactly the
    /// order of the values, where they differ.
    fn has_exact_abbreviation(&self, value: DatumRef<'_>) -> bool {
        let _ = value;
        false
    }

    /// An order that is usually that of [`TypedCompare::compare`], and that of the abbreviations
    /// where these differ. Values are equal as there. A sort by it must verify its result too.
    fn guess(&self, a: DatumRef<'_>, b: DatumRef<'_>, collation: Oid) -> Ordering {
        self.compare(a, b, collation)
    }
}

/// How the values of a type are compared.
#[derive(Clone)]
pub enum Comparer {
    Plain(CompareFn),
    Typed(Arc<dyn TypedCompare>),
}

impl Comparer {
    /// The order of two values that are not NULL.
    #[inline]
    pub fn order(&self, a: DatumRef<'_>, b: DatumRef<'_>, collation: Oid) -> Ordering {
        match self {
            Comparer::Plain(f) => f(a, b, collation),
            Comparer::Typed(t) => t.compare(a, b, collation),
        }
    }

    /// The comparison, if sorts may use its [abbreviations](TypedCompare::abbreviation).
    pub fn abbreviated(&self) -> Option<&dyn TypedCompare> {
        match self {
            Comparer::Typed(t) if t.has_abbreviations() => Some(&**t),
            _ => None,
        }
    }

    /// Whether this comparer is the given plain function.
    pub fn is(&self, f: CompareFn) -> bool {
        matches!(self, Comparer::Plain(own) if std::ptr::fn_addr_eq(*own, f))
    }
}

impl From<CompareFn> for Comparer {
    fn from(f: CompareFn) -> Comparer {
        Comparer::Plain(f)
    }
}

impl std::fmt::Debug for Comparer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Comparer::Plain(_) => "plain comparison",
            Comparer::Typed(_) => "comparison of a type",
        })
    }
}

pub fn btboolcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_bool().cmp(&b.as_bool())
}

pub fn btint2cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_i16().cmp(&b.as_i16())
}

pub fn btint4cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_i32().cmp(&b.as_i32())
}

/// Also every cross-type comparison of integers: the words are sign-extended.
pub fn btint8cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_i64().cmp(&b.as_i64())
}

pub fn btoidcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_oid().cmp(&b.as_oid())
}

/// Unsigned 64-bit words: pg_lsn, xid8.
pub fn word_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.word().cmp(&b.word())
}

/// "char" compares as an unsigned byte.
pub fn btcharcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_char().cmp(&b.as_char())
}

/// NaN equals NaN and comes after all other numbers.
pub fn float_cmp(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

pub fn btfloat4cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    float_cmp(a.as_f32().into(), b.as_f32().into())
}

pub fn btfloat8cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    float_cmp(a.as_f64(), b.as_f64())
}

pub fn btfloat48cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    float_cmp(a.as_f32().into(), b.as_f64())
}

pub fn btfloat84cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    float_cmp(a.as_f64(), b.as_f32().into())
}

/// Names compare bytewise without their zero padding (their collation is "C").
pub fn btnamecmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_name().cmp(b.as_name())
}

/// Text under a collation that orders by bytes ("C", "POSIX", C.UTF-8).
pub fn bttextcmp_c(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_bytes().cmp(b.as_bytes())
}

/// Text under a collation that orders by bytes. For other collations the comparison is replaced by
/// that of the locale when a statement or an index is compiled.
pub fn bttextcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_bytes().cmp(b.as_bytes())
}

pub fn btnametextcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_name().cmp(b.as_bytes())
}

pub fn bttextnamecmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_bytes().cmp(b.as_name())
}

/// A bpchar without its blank padding, which comparisons ignore.
pub fn bpchar_trimmed(b: &[u8]) -> &[u8] {
    let end = b.iter().rposition(|&c| c != b' ').map_or(0, |i| i + 1);
    &b[..end]
}

pub fn bpcharcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    bpchar_trimmed(a.as_bytes()).cmp(bpchar_trimmed(b.as_bytes()))
}

/// As [`bpcharcmp`], under every collation: the operators of bpchar_pattern_ops.
pub fn bpcharcmp_c(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    bpchar_trimmed(a.as_bytes()).cmp(bpchar_trimmed(b.as_bytes()))
}

/// Bytewise order: bytea, uuid.
pub fn bytes_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_bytes().cmp(b.as_bytes())
}
