//! Values. A datum is a value in its physical form; it does not contain its type. A value of a
//! by-value type (`typbyval`) is a word, a value of any other type is the bytes of its on-disk
//! payload:
//!
//! - bool, "char", int2, int4, int8, oid, reg*, xid, cid, date, time, timestamp(tz), pg_lsn,
//!   float4, float8: `Word`, the integer sign-extended (oid and xid zero-extended), or the bits of
//!   the float zero-extended;
//! - text, varchar, bpchar, bytea, numeric, arrays, json, … (`typlen = -1`): `Bytes`, the payload
//!   of the varlena **without** its length header, never compressed or external above `engine`;
//! - name, uuid, interval, tid, macaddr, … (fixed length, by reference): `Bytes` of exactly
//!   `typlen` bytes (name: 64, zero-padded);
//! - cstring, unknown (`typlen = -2`): `Bytes` without the terminating zero.
//!
//! Numeric, interval and array payloads have PostgreSQL's on-disk form, so storing is copying.

/// An owned value.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Datum {
    #[default]
    Null,
    Word(u64),
    Bytes(Box<[u8]>),
}

/// A borrowed value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DatumRef<'a> {
    #[default]
    Null,
    Word(u64),
    Bytes(&'a [u8]),
}

/// For built-in types that are passed by value in four bytes and may be binary-coercible to each
/// other: whether the word is sign-extended; otherwise it is zero-extended.
pub fn four_bytes_signed(ty: ids::Oid) -> Option<bool> {
    use ids::builtin::ty::{
        CID, DATE, INT4, OID, REGCLASS, REGCOLLATION, REGCONFIG, REGDICTIONARY, REGNAMESPACE,
        REGOPER, REGOPERATOR, REGPROC, REGPROCEDURE, REGROLE, REGTYPE, XID,
    };
    match ty {
        INT4 | DATE => Some(true),
        OID | XID | CID | REGCLASS | REGCOLLATION | REGCONFIG | REGDICTIONARY | REGNAMESPACE
        | REGOPER | REGOPERATOR | REGPROC | REGPROCEDURE | REGROLE | REGTYPE => Some(false),
        _ => None,
    }
}

/// The word of a value of four bytes: its lower half, sign-extended or zero-extended.
#[inline]
pub fn extended(word: u64, signed: bool) -> u64 {
    if signed { word as u32 as i32 as i64 as u64 } else { u64::from(word as u32) }
}

impl Datum {
    /// The value, borrowed.
    pub fn as_ref(&self) -> DatumRef<'_> {
        match self {
            Datum::Null => DatumRef::Null,
            Datum::Word(w) => DatumRef::Word(*w),
            Datum::Bytes(b) => DatumRef::Bytes(b),
        }
    }

    /// Whether the value is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// A by-reference value from its payload.
    pub fn bytes(b: impl Into<Vec<u8>>) -> Datum {
        Datum::Bytes(b.into().into_boxed_slice())
    }

    /// A `text`, `varchar` or `bpchar`.
    pub fn text(s: &str) -> Datum {
        Datum::Bytes(s.as_bytes().into())
    }

    /// A `name`: at most 63 bytes of `s` (truncated at a character boundary), zero-padded to 64.
    pub fn name(s: &str) -> Datum {
        let mut end = s.len().min(63);
        while !s.is_char_boundary(end) {
            end -= 1;
        }
        let mut b = [0u8; 64];
        b[..end].copy_from_slice(&s.as_bytes()[..end]);
        Datum::Bytes(Box::new(b))
    }

    /// The value as one of a type to which its own is binary-coercible: the word of a value of four
    /// bytes has another upper half if the types differ in signedness.
    pub fn relabelled(self, ty: ids::Oid) -> Datum {
        match (self, four_bytes_signed(ty)) {
            (Datum::Word(w), Some(signed)) => Datum::Word(extended(w, signed)),
            (value, _) => value,
        }
    }

    /// A `bool`.
    pub const fn bool(v: bool) -> Datum {
        Datum::Word(v as u64)
    }

    /// An `int2`, sign-extended.
    pub const fn int2(v: i16) -> Datum {
        Datum::Word(v as i64 as u64)
    }

    /// An `int4`, sign-extended.
    pub const fn int4(v: i32) -> Datum {
        Datum::Word(v as i64 as u64)
    }

    /// An `int8`.
    pub const fn int8(v: i64) -> Datum {
        Datum::Word(v as u64)
    }

    /// An `oid` or `reg*` value, zero-extended.
    pub const fn oid(v: ids::Oid) -> Datum {
        Datum::Word(v.0 as u64)
    }

    /// A `float4`: its bits, zero-extended.
    pub const fn float4(v: f32) -> Datum {
        Datum::Word(v.to_bits() as u64)
    }

    /// A `float8`: its bits.
    pub const fn float8(v: f64) -> Datum {
        Datum::Word(v.to_bits())
    }

    /// A "char".
    pub const fn char(v: u8) -> Datum {
        Datum::Word(v as i8 as i64 as u64)
    }
}

/// Accessors by type. They panic on a datum of the other physical form: that is an error in the
/// analyzer, which no statement of a user can cause.
impl<'a> DatumRef<'a> {
    /// A copy of the value.
    pub fn to_owned(self) -> Datum {
        match self {
            DatumRef::Null => Datum::Null,
            DatumRef::Word(w) => Datum::Word(w),
            DatumRef::Bytes(b) => Datum::Bytes(b.into()),
        }
    }

    /// Whether the value is NULL.
    pub const fn is_null(self) -> bool {
        matches!(self, DatumRef::Null)
    }

    /// The word of a by-value datum.
    #[inline]
    pub fn word(self) -> u64 {
        match self {
            DatumRef::Word(w) => w,
            other => panic!("expected a by-value datum, found {other:?}"),
        }
    }

    /// The payload of a by-reference datum.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        match self {
            DatumRef::Bytes(b) => b,
            other => panic!("expected a by-reference datum, found {other:?}"),
        }
    }

    #[inline]
    pub fn as_bool(self) -> bool {
        self.word() != 0
    }

    #[inline]
    pub fn as_i16(self) -> i16 {
        self.word() as i16
    }

    #[inline]
    pub fn as_i32(self) -> i32 {
        self.word() as i32
    }

    #[inline]
    pub fn as_i64(self) -> i64 {
        self.word() as i64
    }

    #[inline]
    pub fn as_oid(self) -> ids::Oid {
        ids::Oid(self.word() as u32)
    }

    #[inline]
    pub fn as_f32(self) -> f32 {
        f32::from_bits(self.word() as u32)
    }

    #[inline]
    pub fn as_f64(self) -> f64 {
        f64::from_bits(self.word())
    }

    #[inline]
    pub fn as_char(self) -> u8 {
        self.word() as u8
    }

    /// A name without its zero padding.
    pub fn as_name(self) -> &'a [u8] {
        let b = self.as_bytes();
        let end = b.iter().position(|&c| c == 0).unwrap_or(b.len());
        &b[..end]
    }
}
