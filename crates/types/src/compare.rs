//! B-tree support functions: three-way comparison of two values of one type, neither of them NULL.
//! Counterpart: access/nbtree/nbtcompare.c and the `bt*cmp` functions of the types.

use crate::{DatumRef, oids};
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

    /// Is this comparer the given plain function?
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

/// Text. All supported collations order by code point, which in UTF-8 is bytewise order.
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

/// Bytewise order: bytea, uuid.
pub fn bytes_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    a.as_bytes().cmp(b.as_bytes())
}

/// Orders by block, then by offset number.
pub fn bttidcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    crate::system::tid_of(a).cmp(&crate::system::tid_of(b))
}

/// Length first, then the elements as OIDs.
pub fn btoidvectorcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    let (a, b) = (crate::system::oidvector_of(a), crate::system::oidvector_of(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
}

/// The comparison with this `pg_proc.prosrc` (`btint4cmp`, …).
pub fn lookup(prosrc: &str) -> Option<CompareFn> {
    TABLE.iter().find(|(name, _)| *name == prosrc).map(|&(_, f)| f)
}

const TABLE: &[(&str, CompareFn)] = &[
    ("btboolcmp", btboolcmp),
    ("btint2cmp", btint2cmp),
    ("btint4cmp", btint4cmp),
    ("btint8cmp", btint8cmp),
    ("btint24cmp", btint8cmp),
    ("btint28cmp", btint8cmp),
    ("btint42cmp", btint8cmp),
    ("btint48cmp", btint8cmp),
    ("btint82cmp", btint8cmp),
    ("btint84cmp", btint8cmp),
    ("btoidcmp", btoidcmp),
    ("btcharcmp", btcharcmp),
    ("btnamecmp", btnamecmp),
    ("bttextcmp", bttextcmp),
    ("bttext_pattern_cmp", bttextcmp_c),
    ("btbpchar_pattern_cmp", bpcharcmp),
    ("btnametextcmp", btnametextcmp),
    ("bttextnamecmp", bttextnamecmp),
    ("bpcharcmp", bpcharcmp),
    ("btfloat4cmp", btfloat4cmp),
    ("btfloat8cmp", btfloat8cmp),
    ("btfloat48cmp", btfloat48cmp),
    ("btfloat84cmp", btfloat84cmp),
    ("bitcmp", crate::bits::bitcmp),
    ("byteacmp", bytes_cmp),
    ("uuid_cmp", bytes_cmp),
    ("pg_lsn_cmp", word_cmp),
    ("xid8cmp", word_cmp),
    ("bttidcmp", bttidcmp),
    ("btoidvectorcmp", btoidvectorcmp),
    ("jsonb_cmp", crate::json::jsonb_cmp),
    ("numeric_cmp", crate::numeric::numeric_cmp),
    ("btarraycmp", crate::array::btarraycmp),
    ("date_cmp", btint4cmp),
    ("date_cmp_timestamp", crate::datetime::date_cmp_timestamp),
    ("timestamp_cmp_date", crate::datetime::timestamp_cmp_date),
    ("time_cmp", btint8cmp),
    ("timestamp_cmp", btint8cmp),
    ("cash_cmp", btint8cmp),
    ("timetz_cmp", crate::datetime::timetz_cmp),
    ("interval_cmp", crate::datetime::interval_cmp),
];

/// Are two values of this type equal exactly if their words are equal?
pub fn equal_by_word(ty: Oid) -> bool {
    const BY_WORD: [CompareFn; 7] =
        [btboolcmp, btcharcmp, btint2cmp, btint4cmp, btint8cmp, btoidcmp, word_cmp];
    of_type(ty).is_some_and(|f| BY_WORD.iter().any(|&w| std::ptr::fn_addr_eq(f, w)))
}

/// The default B-tree comparison of a built-in type.
pub fn of_type(ty: Oid) -> Option<CompareFn> {
    Some(match ty {
        oids::BOOL => btboolcmp,
        oids::CHAR => btcharcmp,
        oids::INT2 => btint2cmp,
        oids::INT4 | oids::DATE => btint4cmp,
        oids::INT8 | oids::TIME | oids::TIMESTAMP | oids::TIMESTAMPTZ | oids::MONEY => btint8cmp,
        oids::FLOAT4 => btfloat4cmp,
        oids::FLOAT8 => btfloat8cmp,
        oids::NAME => btnamecmp,
        oids::TEXT | oids::VARCHAR => bttextcmp,
        oids::BPCHAR => bpcharcmp,
        oids::BYTEA | oids::UUID => bytes_cmp,
        oids::BIT | oids::VARBIT => crate::bits::bitcmp,
        oids::PG_LSN | oids::XID8 => word_cmp,
        oids::TID => bttidcmp,
        oids::TIMETZ => crate::datetime::timetz_cmp,
        oids::INTERVAL => crate::datetime::interval_cmp,
        oids::NUMERIC => crate::numeric::numeric_cmp,
        oids::OIDVECTOR => btoidvectorcmp,
        oids::JSONB => crate::json::jsonb_cmp,
        oids::OID
        | oids::REGPROC
        | oids::REGPROCEDURE
        | oids::REGOPER
        | oids::REGOPERATOR
        | oids::REGCLASS
        | oids::REGCOLLATION
        | oids::REGTYPE
        | oids::REGROLE
        | oids::REGNAMESPACE
        | oids::REGCONFIG
        | oids::REGDICTIONARY => btoidcmp,
        // The order of rows depends on their column types, which only the session knows.
        oids::RECORD_ARRAY => return None,
        _ if crate::builtin_types::get(ty)?.output == "array_out" => crate::array::btarraycmp,
        _ => return None,
    })
}
