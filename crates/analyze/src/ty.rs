//! OIDs of built-in types, functions and other objects that the analyzer refers to, as in
//! PostgreSQL's catalogs.

use ids::Oid;

macro_rules! oids {
    ($($name:ident $oid:literal),* $(,)?) => { $(pub const $name: Oid = Oid($oid);)* };
}

oids! {
    BOOL 16, BYTEA 17, CHAR 18, NAME 19, INT8 20, INT2 21, INT2VECTOR 22, INT4 23, REGPROC 24,
    TEXT 25, OID 26, TID 27, XID 28, CID 29, OIDVECTOR 30, FLOAT4 700, FLOAT8 701, UNKNOWN 705,
    BPCHAR 1042, VARCHAR 1043, DATE 1082, TIME 1083, TIMESTAMP 1114, TIMESTAMPTZ 1184,
    INTERVAL 1186, TIMETZ 1266, BIT 1560, VARBIT 1562, NUMERIC 1700, REFCURSOR 1790, RECORD 2249,
    CSTRING 2275, ANY 2276, ANYARRAY 2277, VOID 2278, TRIGGER 2279, INTERNAL 2281, ANYELEMENT 2283,
    RECORDARRAY 2287, ANYNONARRAY 2776, ANYENUM 3500, ANYRANGE 3831, EVENT_TRIGGER 3838,
    ANYMULTIRANGE 4537, ANYCOMPATIBLEMULTIRANGE 4538, ANYCOMPATIBLE 5077, ANYCOMPATIBLEARRAY 5078,
    ANYCOMPATIBLENONARRAY 5079, ANYCOMPATIBLERANGE 5080, REGCLASS 2205,
    // Collations, access methods, namespaces.
    DEFAULT_COLLATION 100, BTREE_AM 403, PG_CATALOG 11,
    // `typsubscript` of true arrays.
    ARRAY_SUBSCRIPT_HANDLER 6179,
    BOOL_EQ 91,
}

/// Whether the type is a polymorphic pseudo-type.
pub fn is_polymorphic(oid: Oid) -> bool {
    is_polymorphic_family1(oid) || is_polymorphic_family2(oid)
}

/// Whether the type belongs to the `anyelement` family.
pub fn is_polymorphic_family1(oid: Oid) -> bool {
    matches!(oid, ANYELEMENT | ANYARRAY | ANYNONARRAY | ANYENUM | ANYRANGE | ANYMULTIRANGE)
}

/// Whether the type belongs to the `anycompatible` family.
pub fn is_polymorphic_family2(oid: Oid) -> bool {
    matches!(
        oid,
        ANYCOMPATIBLE
            | ANYCOMPATIBLEARRAY
            | ANYCOMPATIBLENONARRAY
            | ANYCOMPATIBLERANGE
            | ANYCOMPATIBLEMULTIRANGE
    )
}
