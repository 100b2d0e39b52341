//! The hash functions of all types as plain functions, for hash indexes, and the default one of
//! each type.

use crate::builtin_types;
use ids::Oid;
use values::datum::DatumRef;
use values::hash::{
    HashFn, float_bytes, fold_int8, hash_bytes, hash_bytes_extended, hash_uint32,
    hash_uint32_extended, trimmed_bpchar,
};
use values::oids;

/// The 32-bit hash functions that need only their value, by `pg_proc.prosrc`.
const PLAIN: &[(&str, HashFn)] = &[
    ("hashchar", |v, _| hash_uint32(v.as_char() as i8 as i32 as u32)),
    ("hashint2", |v, _| hash_uint32(v.as_i16() as i32 as u32)),
    ("hashint4", |v, _| hash_uint32(v.as_i32() as u32)),
    ("hashint8", |v, _| hash_uint32(fold_int8(v.as_i64()))),
    ("hashoid", |v, _| hash_uint32(v.as_oid().0)),
    ("hashenum", |v, _| hash_uint32(v.as_oid().0)),
    ("hashfloat4", |v, _| float_bytes(v.as_f32().into()).map_or(0, |b| hash_bytes(&b))),
    ("hashfloat8", |v, _| float_bytes(v.as_f64()).map_or(0, |b| hash_bytes(&b))),
    ("hashname", |v, _| hash_bytes(v.as_name())),
    ("hashtext", |v, _| hash_bytes(v.as_bytes())),
    ("hashvarlena", |v, _| hash_bytes(v.as_bytes())),
    ("hashbpchar", |v, _| hash_bytes(trimmed_bpchar(v.as_bytes()))),
    ("hashtid", |v, _| hash_bytes(v.as_bytes())),
    ("hashinet", |v, _| hash_bytes(v.as_bytes())),
    ("hashmacaddr", |v, _| hash_bytes(v.as_bytes())),
    ("hashmacaddr8", |v, _| hash_bytes(v.as_bytes())),
    ("uuid_hash", |v, _| hash_bytes(v.as_bytes())),
    ("pg_lsn_hash", |v, _| hash_uint32(fold_int8(v.as_i64()))),
    ("time_hash", |v, _| hash_uint32(fold_int8(v.as_i64()))),
    ("timestamp_hash", |v, _| hash_uint32(fold_int8(v.as_i64()))),
    ("timetz_hash", |v, _| datetime::hash_timetz(v)),
    ("interval_hash", |v, _| hash_uint32(fold_int8(datetime::span(v) as i64))),
    ("hash_numeric", |v, _| numeric::hash_of(v)),
    ("hash_aclitem", |v, _| crate::acl::hash_of(v)),
    ("hashoidvector", |v, _| hash_bytes(v.as_bytes().get(20..).unwrap_or(&[]))),
    ("jsonb_hash", |v, _| crate::json::hash_of(v)),
];

/// The hash function with this `pg_proc.prosrc`, if it needs only its value.
pub fn lookup(prosrc: &str) -> Option<HashFn> {
    PLAIN.iter().find(|f| f.0 == prosrc).map(|f| f.1)
}

/// Hashes a non-null value under a seed to 64 bits: support function 2 of a hash operator class.
pub type ExtendedHashFn = fn(DatumRef<'_>, seed: u64) -> u64;

fn int8_extended(v: DatumRef<'_>, seed: u64) -> u64 {
    hash_uint32_extended(fold_int8(v.as_i64()), seed)
}

fn float_extended(v: f64, seed: u64) -> u64 {
    float_bytes(v).map_or(seed, |b| hash_bytes_extended(&b, seed))
}

/// The 64-bit hash functions of frequent types, by `pg_proc.prosrc`, under deterministic
/// collations. Those that are not listed here
/// are called as functions.
const EXTENDED: &[(&str, ExtendedHashFn)] = &[
    ("hashcharextended", |v, s| hash_uint32_extended(v.as_char() as i8 as i32 as u32, s)),
    ("hashint2extended", |v, s| hash_uint32_extended(v.as_i16() as i32 as u32, s)),
    ("hashint4extended", |v, s| hash_uint32_extended(v.as_i32() as u32, s)),
    ("hashint8extended", int8_extended),
    ("hashoidextended", |v, s| hash_uint32_extended(v.as_oid().0, s)),
    ("hashenumextended", |v, s| hash_uint32_extended(v.as_oid().0, s)),
    ("hashfloat4extended", |v, s| float_extended(v.as_f32().into(), s)),
    ("hashfloat8extended", |v, s| float_extended(v.as_f64(), s)),
    ("hashnameextended", |v, s| hash_bytes_extended(v.as_name(), s)),
    ("hashtextextended", |v, s| hash_bytes_extended(v.as_bytes(), s)),
    ("hashbpcharextended", |v, s| hash_bytes_extended(trimmed_bpchar(v.as_bytes()), s)),
    ("hashvarlenaextended", |v, s| hash_bytes_extended(v.as_bytes(), s)),
    ("hashtidextended", |v, s| hash_bytes_extended(v.as_bytes(), s)),
    ("uuid_hash_extended", |v, s| hash_bytes_extended(v.as_bytes(), s)),
    ("pg_lsn_hash_extended", int8_extended),
    ("time_hash_extended", int8_extended),
    ("timestamp_hash_extended", int8_extended),
    ("interval_hash_extended", |v, s| hash_uint32_extended(fold_int8(datetime::span(v) as i64), s)),
    ("hash_numeric_extended", numeric::hash_extended),
];

/// The 64-bit hash function with this `pg_proc.prosrc`, if it needs only its value and the seed.
pub fn extended(prosrc: &str) -> Option<ExtendedHashFn> {
    EXTENDED.iter().find(|f| f.0 == prosrc).map(|f| f.1)
}

/// The default hash function of a built-in type, by its `pg_proc.prosrc`.
pub fn function_of_type(ty: Oid) -> Option<&'static str> {
    Some(match ty {
        oids::BOOL | oids::CHAR => "hashchar",
        oids::INT2 => "hashint2",
        oids::INT4 | oids::DATE | oids::XID | oids::CID => "hashint4",
        oids::INT8 => "hashint8",
        oids::XID8 | oids::PG_LSN => "hashint8",
        oids::FLOAT4 => "hashfloat4",
        oids::FLOAT8 => "hashfloat8",
        oids::NUMERIC => "hash_numeric",
        oids::NAME => "hashname",
        oids::TEXT | oids::VARCHAR => "hashtext",
        oids::BPCHAR => "hashbpchar",
        oids::BYTEA => "hashvarlena",
        oids::OIDVECTOR => "hashoidvector",
        oids::TID => "hashtid",
        oids::UUID => "uuid_hash",
        oids::INET | oids::CIDR => "hashinet",
        oids::MACADDR => "hashmacaddr",
        oids::MACADDR8 => "hashmacaddr8",
        oids::TIME => "time_hash",
        oids::TIMETZ => "timetz_hash",
        oids::TIMESTAMP | oids::TIMESTAMPTZ => "timestamp_hash",
        oids::INTERVAL => "interval_hash",
        _ if builtin_types::is_object_id(ty) => "hashoid",
        oids::RECORD => "hash_record",
        oids::JSONB => "jsonb_hash",
        _ if values::builtin_types::get(ty)?.input == "array_in" => "hash_array",
        _ => return None,
    })
}
