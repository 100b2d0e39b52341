//! Hash functions with the same results as PostgreSQL's, because hash indexes and hash partitions
//! on disk depend on them. The mixing is Bob Jenkins' lookup3. Counterpart: hashfn.c, hashfunc.c.

use crate::datum::{Datum, DatumRef};
use ids::Oid;
use std::sync::Arc;

const INIT: u32 = 0x9e37_79b9 + 3_923_095;

#[inline]
fn mix(a: &mut u32, b: &mut u32, c: &mut u32) {
    let step = |x: &mut u32, y: u32, z: &mut u32, rot: u32| {
        *x = x.wrapping_sub(*z) ^ z.rotate_left(rot);
        *z = z.wrapping_add(y);
    };
    step(a, *b, c, 4);
    step(b, *c, a, 6);
    step(c, *a, b, 8);
    step(a, *b, c, 16);
    step(b, *c, a, 19);
    step(c, *a, b, 4);
}

#[inline]
fn finish(a: &mut u32, b: &mut u32, c: &mut u32) {
    let step = |x: &mut u32, y: u32, rot: u32| *x = (*x ^ y).wrapping_sub(y.rotate_left(rot));
    step(c, *b, 14);
    step(a, *c, 11);
    step(b, *a, 25);
    step(c, *b, 16);
    step(a, *c, 4);
    step(b, *a, 14);
    step(c, *b, 24);
}

fn hash_state(key: &[u8], seed: u64) -> (u32, u32) {
    let start = INIT.wrapping_add(key.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    if seed != 0 {
        a = a.wrapping_add((seed >> 32) as u32);
        b = b.wrapping_add(seed as u32);
        mix(&mut a, &mut b, &mut c);
    }
    let mut chunks = key.chunks_exact(12);
    let word = |k: &[u8], i: usize| u32::from_le_bytes([k[i], k[i + 1], k[i + 2], k[i + 3]]);
    for k in &mut chunks {
        a = a.wrapping_add(word(k, 0));
        b = b.wrapping_add(word(k, 4));
        c = c.wrapping_add(word(k, 8));
        mix(&mut a, &mut b, &mut c);
    }
    // The lowest byte of c is reserved for the length, which has been added already.
    for (i, &byte) in chunks.remainder().iter().enumerate() {
        let byte = u32::from(byte);
        match i {
            0..4 => a = a.wrapping_add(byte << (8 * i)),
            4..8 => b = b.wrapping_add(byte << (8 * (i - 4))),
            _ => c = c.wrapping_add(byte << (8 * (i - 7))),
        }
    }
    finish(&mut a, &mut b, &mut c);
    (b, c)
}

/// Hash of bytes.
pub fn hash_bytes(key: &[u8]) -> u32 {
    hash_state(key, 0).1
}

/// 64-bit hash of bytes under a seed; its low half with seed 0 is [`hash_bytes`].
pub fn hash_bytes_extended(key: &[u8], seed: u64) -> u64 {
    let (b, c) = hash_state(key, seed);
    u64::from(b) << 32 | u64::from(c)
}

/// Hash of a 32-bit number.
pub fn hash_uint32(k: u32) -> u32 {
    let start = INIT.wrapping_add(4);
    let (mut a, mut b, mut c) = (start.wrapping_add(k), start, start);
    finish(&mut a, &mut b, &mut c);
    c
}

/// 64-bit hash of a 32-bit number under a seed.
pub fn hash_uint32_extended(k: u32, seed: u64) -> u64 {
    let start = INIT.wrapping_add(4);
    let (mut a, mut b, mut c) = (start, start, start);
    if seed != 0 {
        a = a.wrapping_add((seed >> 32) as u32);
        b = b.wrapping_add(seed as u32);
        mix(&mut a, &mut b, &mut c);
    }
    a = a.wrapping_add(k);
    finish(&mut a, &mut b, &mut c);
    u64::from(b) << 32 | u64::from(c)
}

/// Combines two hashes.
pub fn hash_combine(a: u32, b: u32) -> u32 {
    a ^ b.wrapping_add(0x9e37_79b9).wrapping_add(a << 6).wrapping_add(a >> 2)
}

/// Combines two 64-bit hashes.
pub fn hash_combine64(a: u64, b: u64) -> u64 {
    a ^ b.wrapping_add(0x49a0_f4dd_15e5_a8e3).wrapping_add(a << 54).wrapping_add(a >> 7)
}

/// Folds an int8 so that a value that fits int4 has the same hash in both types.
pub fn fold_int8(v: i64) -> u32 {
    let (lo, hi) = (v as u32, (v >> 32) as u32);
    lo ^ if v >= 0 { hi } else { !hi }
}

/// The bytes to hash of a float8: all NaNs are equal, and so are both zeros (`None`).
pub fn float_bytes(v: f64) -> Option<[u8; 8]> {
    if v == 0.0 {
        None
    } else if v.is_nan() {
        Some(f64::NAN.abs().to_le_bytes())
    } else {
        Some(v.to_le_bytes())
    }
}

/// Hashes a non-null value under a collation (the invalid OID where the type has none) to the 32
/// bits of the hash operator class's support function 1.
pub type HashFn = fn(DatumRef<'_>, collation: Oid) -> u32;

/// A hash that needs more than its value: the columns of a row type, the elements of an array.
pub trait TypedHash: Send + Sync {
    /// As [`HashFn`].
    fn hash(&self, value: DatumRef<'_>, collation: Oid) -> u32;
}

/// How the values of a type are hashed.
#[derive(Clone)]
pub enum Hasher {
    Plain(HashFn),
    Typed(Arc<dyn TypedHash>),
}

impl Hasher {
    /// The hash of a value that is not NULL.
    #[inline]
    pub fn hash(&self, value: DatumRef<'_>, collation: Oid) -> u32 {
        match self {
            Hasher::Plain(f) => f(value, collation),
            Hasher::Typed(t) => t.hash(value, collation),
        }
    }
}

impl std::fmt::Debug for Hasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Hasher::Plain(_) => "plain hash",
            Hasher::Typed(_) => "hash of a type",
        })
    }
}

/// The name of the 64-bit seeded variant of a hash function.
pub fn extended_name(name: &str) -> String {
    if name.contains('_') { format!("{name}_extended") } else { format!("{name}extended") }
}

/// Result of a 32-bit hash function.
pub fn h32(h: u32) -> Datum {
    Datum::int4(h as i32)
}

/// Result of a 64-bit hash function.
pub fn h64(h: u64) -> Datum {
    Datum::int8(h as i64)
}

/// `hashint8`.
pub fn hash_int8(v: DatumRef<'_>) -> Datum {
    h32(hash_uint32(fold_int8(v.as_i64())))
}

/// `hashint8extended`.
pub fn hash_int8_extended(v: DatumRef<'_>, seed: DatumRef<'_>) -> Datum {
    h64(hash_uint32_extended(fold_int8(v.as_i64()), seed.word()))
}

/// A bpchar without its blank padding, which the hash ignores.
pub fn trimmed_bpchar(b: &[u8]) -> &[u8] {
    let end = b.iter().rposition(|&c| c != b' ').map_or(0, |i| i + 1);
    &b[..end]
}

scalars! { FNS;
    "hashchar" => |_, a| Ok(h32(hash_uint32(a[0].as_char() as i8 as i32 as u32))),
    "hashcharextended" =>
        |_, a| Ok(h64(hash_uint32_extended(a[0].as_char() as i8 as i32 as u32, a[1].word()))),
    "hashint2" => |_, a| Ok(h32(hash_uint32(a[0].as_i16() as i32 as u32))),
    "hashint2extended" =>
        |_, a| Ok(h64(hash_uint32_extended(a[0].as_i16() as i32 as u32, a[1].word()))),
    "hashint4" => |_, a| Ok(h32(hash_uint32(a[0].as_i32() as u32))),
    "hashint4extended" => |_, a| Ok(h64(hash_uint32_extended(a[0].as_i32() as u32, a[1].word()))),
    "hashint8" => |_, a| Ok(hash_int8(a[0])),
    "hashint8extended" => |_, a| Ok(hash_int8_extended(a[0], a[1])),
    "hashoid" => |_, a| Ok(h32(hash_uint32(a[0].as_oid().0))),
    "hashoidextended" => |_, a| Ok(h64(hash_uint32_extended(a[0].as_oid().0, a[1].word()))),
    "hashenum" => |_, a| Ok(h32(hash_uint32(a[0].as_oid().0))),
    "hashenumextended" => |_, a| Ok(h64(hash_uint32_extended(a[0].as_oid().0, a[1].word()))),
    "hashfloat4" => |_, a| Ok(h32(float_bytes(a[0].as_f32().into()).map_or(0, |b| hash_bytes(&b)))),
    "hashfloat4extended" => |_, a| Ok(h64(float_bytes(a[0].as_f32().into())
        .map_or(a[1].word(), |b| hash_bytes_extended(&b, a[1].word())))),
    "hashfloat8" => |_, a| Ok(h32(float_bytes(a[0].as_f64()).map_or(0, |b| hash_bytes(&b)))),
    "hashfloat8extended" => |_, a| Ok(h64(float_bytes(a[0].as_f64())
        .map_or(a[1].word(), |b| hash_bytes_extended(&b, a[1].word())))),
    "hashname" => |_, a| Ok(h32(hash_bytes(a[0].as_name()))),
    "hashnameextended" => |_, a| Ok(h64(hash_bytes_extended(a[0].as_name(), a[1].word()))),
    "hashtext" => |_, a| Ok(h32(hash_bytes(a[0].as_bytes()))),
    "hashtextextended" => |_, a| Ok(h64(hash_bytes_extended(a[0].as_bytes(), a[1].word()))),
    "hashvarlena" => |_, a| Ok(h32(hash_bytes(a[0].as_bytes()))),
    "hashvarlenaextended" => |_, a| Ok(h64(hash_bytes_extended(a[0].as_bytes(), a[1].word()))),
    "hashbpchar" => |_, a| Ok(h32(hash_bytes(trimmed_bpchar(a[0].as_bytes())))),
    "hashbpcharextended" =>
        |_, a| Ok(h64(hash_bytes_extended(trimmed_bpchar(a[0].as_bytes()), a[1].word()))),
    "hashtid" => |_, a| Ok(h32(hash_bytes(a[0].as_bytes()))),
    "hashtidextended" => |_, a| Ok(h64(hash_bytes_extended(a[0].as_bytes(), a[1].word()))),
    "uuid_hash" => |_, a| Ok(h32(hash_bytes(a[0].as_bytes()))),
    "uuid_hash_extended" => |_, a| Ok(h64(hash_bytes_extended(a[0].as_bytes(), a[1].word()))),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are results of hashtext, hashint4 and hashtextextended in PostgreSQL 15.
    #[test]
    fn hashes_equal_those_of_postgresql() {
        TEXTS.iter().for_each(|&(s, h, e)| {
            assert_eq!(hash_bytes(s.as_bytes()) as i32, h, "{s}");
            assert_eq!(hash_bytes_extended(s.as_bytes(), 12345) as i64, e, "{s}");
        });
    }

    const TEXTS: &[(&str, i32, i64)] = &[
        ("", -1477818771, 4042907202246074761),
        ("a", 1075015857, 7196000879883551838),
        ("abcd", -393934804, -1331371938866819059),
        ("abcdefghijk", -1483803693, -1090001520980026562),
        ("abcdefghijkl", -1586087212, 2602660842540341186),
        ("abcdefghijklmnopqrstuvwxyz", 167831483, 6472840638092757339),
    ];
}
