//! B-tree support functions: three-way comparison of two values of one type, neither of them NULL.
//! The type families use `values::compare`; this module names their comparisons by function and by
//! type.
//! Counterpart: the `bt*cmp` functions of the types.

pub use crate::system::{btoidvectorcmp, bttidcmp};
pub use values::compare::{
    CompareFn, Comparer, TypedCompare, bpchar_trimmed, bpcharcmp, bpcharcmp_c, btboolcmp,
    btcharcmp, btfloat4cmp, btfloat8cmp, btfloat48cmp, btfloat84cmp, btint2cmp, btint4cmp,
    btint8cmp, btnamecmp, btnametextcmp, btoidcmp, bttextcmp, bttextcmp_c, bttextnamecmp,
    bytes_cmp, float_cmp, word_cmp,
};

use crate::builtin_types;
use ids::Oid;
use values::oids;

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
    ("btbpchar_pattern_cmp", bpcharcmp_c),
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
    ("network_cmp", network::network_cmp),
    ("macaddr_cmp", bytes_cmp),
    ("macaddr8_cmp", bytes_cmp),
    ("pg_lsn_cmp", word_cmp),
    ("xid8cmp", word_cmp),
    ("bttidcmp", bttidcmp),
    ("btoidvectorcmp", btoidvectorcmp),
    ("jsonb_cmp", crate::json::compare::jsonb_cmp),
    // The text keys of jsonb_ops, whose collation is "C".
    ("gin_compare_jsonb", bytes_cmp),
    ("numeric_cmp", numeric::order::numeric_cmp),
    ("btarraycmp", crate::array::ops::btarraycmp),
    ("date_cmp", btint4cmp),
    ("date_cmp_timestamp", datetime::compare::date_cmp_timestamp),
    ("timestamp_cmp_date", datetime::compare::timestamp_cmp_date),
    ("time_cmp", btint8cmp),
    ("timestamp_cmp", btint8cmp),
    ("cash_cmp", btint8cmp),
    ("timetz_cmp", datetime::compare::timetz_cmp),
    ("interval_cmp", datetime::compare::interval_cmp),
    ("tsvector_cmp", textsearch::functions::tsvector_cmp),
    ("tsquery_cmp", textsearch::functions::tsquery_cmp),
    ("gin_cmp_tslexeme", textsearch::functions::gin_cmp_tslexeme),
];

/// Whether two values of this type are equal if and only if their words are equal.
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
        oids::BYTEA | oids::UUID | oids::MACADDR | oids::MACADDR8 => bytes_cmp,
        oids::INET | oids::CIDR => network::network_cmp,
        oids::BIT | oids::VARBIT => crate::bits::bitcmp,
        oids::PG_LSN | oids::XID8 => word_cmp,
        oids::TID => bttidcmp,
        oids::TIMETZ => datetime::compare::timetz_cmp,
        oids::INTERVAL => datetime::compare::interval_cmp,
        oids::NUMERIC => numeric::order::numeric_cmp,
        oids::OIDVECTOR => btoidvectorcmp,
        oids::JSONB => crate::json::compare::jsonb_cmp,
        oids::TSVECTOR => textsearch::functions::tsvector_cmp,
        oids::TSQUERY => textsearch::functions::tsquery_cmp,
        _ if builtin_types::is_object_id(ty) => btoidcmp,
        // The order of rows depends on their column types, which only the session knows.
        oids::RECORD_ARRAY => return None,
        _ if values::builtin_types::get(ty)?.output == "array_out" => crate::array::ops::btarraycmp,
        _ => return None,
    })
}
