//! OIDs of built-in types and other objects that the analyzer refers to, and the families of
//! polymorphic types.

use ids::Oid;
pub use ids::builtin::am::BTREE as BTREE_AM;
pub use ids::builtin::collation::DEFAULT as DEFAULT_COLLATION;
pub use ids::builtin::namespace::PG_CATALOG;
pub use ids::builtin::operator::BOOL_EQ;
pub use ids::builtin::proc::ARRAY_SUBSCRIPT_HANDLER;
pub use ids::builtin::ty::{
    ANY, ANYARRAY, ANYCOMPATIBLE, ANYCOMPATIBLEARRAY, ANYCOMPATIBLEMULTIRANGE,
    ANYCOMPATIBLENONARRAY, ANYCOMPATIBLERANGE, ANYELEMENT, ANYENUM, ANYMULTIRANGE, ANYNONARRAY,
    ANYRANGE, BIT, BOOL, BPCHAR, BYTEA, CHAR, CID, CSTRING, DATE, EVENT_TRIGGER, FLOAT4, FLOAT8,
    INT2, INT2_ARRAY, INT2VECTOR, INT4, INT8, INTERNAL, INTERVAL, JSONB, NAME, NUMERIC, OID,
    OID_ARRAY, OIDVECTOR, RECORD, RECORD_ARRAY, REFCURSOR, REGCLASS, REGPROC, TEXT, TID, TIME,
    TIMESTAMP, TIMESTAMPTZ, TIMETZ, TRIGGER, TSM_HANDLER, UNKNOWN, VARBIT, VARCHAR, VOID, XID,
};

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
