//! Rust types of catalog columns and their conversion to and from datums.

use super::array;
use ids::code::{
    AggKind, Align, AmType, AmopPurpose, ArgMode, CastContext, CastMethod, CollProvider,
    ColumnGenerated, ColumnIdentity, ColumnStorage, ConType, DefAclObject, DepType, FinalModify,
    Firing, FkAction, FkMatch, OprKind, ParallelSafety, PartStrategy, ProKind, ReplicaIdentity,
    SharedDepType, TypCategory, TypType, Volatility,
};
use ids::{Lsn, Oid, Persistence, RelKind, StrategyNumber, Xid};
use std::fmt;
use std::ops::Deref;
use types::{Datum, DatumRef};

/// A Rust type that represents a catalog column.
pub trait Value: Sized {
    /// `None` where the datum is malformed, or NULL and the column is not nullable.
    fn from_datum(datum: DatumRef<'_>) -> Option<Self>;
    fn to_datum(&self) -> Datum;
}

/// A `name` of up to 63 bytes in the database encoding, stored inline.
#[derive(Clone, Copy)]
pub struct Name {
    len: u8,
    bytes: [u8; 63],
}

impl Name {
    /// Truncated to 63 bytes, at a character boundary where `name` is UTF-8.
    pub fn new(name: impl AsRef<[u8]>) -> Name {
        let name = name.as_ref();
        let mut len = name.len().min(63);
        if let Ok(text) = std::str::from_utf8(name) {
            while !text.is_char_boundary(len) {
                len -= 1;
            }
        }
        let mut bytes = [0; 63];
        bytes[..len].copy_from_slice(&name[..len]);
        Name { len: len as u8, bytes }
    }

    /// The bytes of the name, in the database encoding.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }

    /// The text for messages and UTF-8 databases. In other encodings, the prefix before the first
    /// byte that is not valid UTF-8.
    pub fn as_str(&self) -> &str {
        valid_prefix(self.as_bytes())
    }

    /// Whether the name is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

fn valid_prefix(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or_default(),
    }
}

impl Default for Name {
    fn default() -> Name {
        Name { len: 0, bytes: [0; 63] }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Name) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl std::hash::Hash for Name {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Name {
        Name::new(name)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// A `text`, `pg_node_tree` or `bytea`: the payload without the length word.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(pub Box<[u8]>);

impl Text {
    /// As [`Name::as_str`].
    pub fn as_str(&self) -> &str {
        valid_prefix(&self.0)
    }
}

impl Deref for Text {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.as_bytes().into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(text.into_bytes().into())
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == other.as_bytes()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// An `int2vector`.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Int2Vector(pub Box<[i16]>);

impl Deref for Int2Vector {
    type Target = [i16];
    fn deref(&self) -> &[i16] {
        &self.0
    }
}

/// An `oidvector`.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct OidVector(pub Box<[Oid]>);

impl Deref for OidVector {
    type Target = [Oid];
    fn deref(&self) -> &[Oid] {
        &self.0
    }
}

/// Privileges granted by `grantor` to `grantee` (0 is PUBLIC). Bits 0-15 are the privileges, bits
/// 16-31 their grant options. Counterpart: `AclItem` in utils/acl.h.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AclItem {
    pub grantee: Oid,
    pub grantor: Oid,
    pub privs: u32,
}

impl AclItem {
    pub(crate) fn to_bytes(self) -> [u8; 12] {
        let mut out = [0; 12];
        out[..4].copy_from_slice(&self.grantee.0.to_le_bytes());
        out[4..8].copy_from_slice(&self.grantor.0.to_le_bytes());
        out[8..].copy_from_slice(&self.privs.to_le_bytes());
        out
    }
}

/// An array of any element type, as PostgreSQL's payload bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AnyArray(pub Box<[u8]>);

macro_rules! word {
    ($($ty:ty: $from:expr, $to:expr;)*) => {$(
        impl Value for $ty {
            fn from_datum(datum: DatumRef<'_>) -> Option<$ty> {
                let DatumRef::Word(w) = datum else { return None };
                let from: fn(u64) -> $ty = $from;
                Some(from(w))
            }
            fn to_datum(&self) -> Datum {
                let to: fn($ty) -> Datum = $to;
                to(*self)
            }
        }
    )*};
}

word! {
    bool: |w| w != 0, Datum::bool;
    u8: |w| w as u8, Datum::char;
    i16: |w| w as i16, Datum::int2;
    i32: |w| w as i32, Datum::int4;
    i64: |w| w as i64, Datum::int8;
    f32: |w| f32::from_bits(w as u32), Datum::float4;
    f64: f64::from_bits, Datum::float8;
    Oid: |w| Oid(w as u32), Datum::oid;
    Xid: |w| Xid(w as u32), |x| Datum::Word(u64::from(x.0));
    Lsn: Lsn, |l| Datum::Word(l.0);
}

macro_rules! code {
    ($($ty:ty),* $(,)?) => {$(
        impl Value for $ty {
            fn from_datum(datum: DatumRef<'_>) -> Option<$ty> {
                <$ty>::from_char(u8::from_datum(datum)?)
            }
            fn to_datum(&self) -> Datum {
                Datum::char(self.to_char())
            }
        }
    )*};
}

code! {
    AggKind, Align, AmType, AmopPurpose, ArgMode, CastContext, CastMethod, CollProvider,
    ColumnGenerated, ColumnIdentity, ColumnStorage, ConType, DefAclObject, DepType,
    FinalModify, Firing, FkAction, FkMatch, OprKind, ParallelSafety, PartStrategy,
    Persistence, ProKind, RelKind, ReplicaIdentity, SharedDepType, TypType, Volatility,
}

impl Value for TypCategory {
    fn from_datum(datum: DatumRef<'_>) -> Option<TypCategory> {
        u8::from_datum(datum).map(TypCategory)
    }
    fn to_datum(&self) -> Datum {
        self.0.to_datum()
    }
}

impl Value for StrategyNumber {
    fn from_datum(datum: DatumRef<'_>) -> Option<StrategyNumber> {
        u16::try_from(i16::from_datum(datum)?).ok().map(StrategyNumber)
    }
    fn to_datum(&self) -> Datum {
        Datum::int2(self.0 as i16)
    }
}

fn bytes(datum: DatumRef<'_>) -> Option<&[u8]> {
    match datum {
        DatumRef::Bytes(b) => Some(b),
        _ => None,
    }
}

impl<T: Value> Value for Option<T> {
    fn from_datum(datum: DatumRef<'_>) -> Option<Option<T>> {
        match datum {
            DatumRef::Null => Some(None),
            datum => T::from_datum(datum).map(Some),
        }
    }
    fn to_datum(&self) -> Datum {
        self.as_ref().map_or(Datum::Null, T::to_datum)
    }
}

impl Value for Name {
    fn from_datum(datum: DatumRef<'_>) -> Option<Name> {
        let b = bytes(datum)?;
        let len = b.iter().position(|&c| c == 0).unwrap_or(b.len()).min(63);
        let mut bytes = [0; 63];
        bytes[..len].copy_from_slice(&b[..len]);
        Some(Name { len: len as u8, bytes })
    }
    fn to_datum(&self) -> Datum {
        let mut out = [0u8; 64];
        out[..63].copy_from_slice(&self.bytes);
        Datum::Bytes(Box::new(out))
    }
}

impl Value for Text {
    fn from_datum(datum: DatumRef<'_>) -> Option<Text> {
        bytes(datum).map(|b| Text(b.into()))
    }
    fn to_datum(&self) -> Datum {
        Datum::Bytes(self.0.clone())
    }
}

impl Value for AnyArray {
    fn from_datum(datum: DatumRef<'_>) -> Option<AnyArray> {
        bytes(datum).map(|b| AnyArray(b.into()))
    }
    fn to_datum(&self) -> Datum {
        Datum::Bytes(self.0.clone())
    }
}

impl Value for Int2Vector {
    fn from_datum(datum: DatumRef<'_>) -> Option<Int2Vector> {
        Vec::<i16>::from_datum(datum).map(|v| Int2Vector(v.into()))
    }
    fn to_datum(&self) -> Datum {
        array::int2vector(&self.0)
    }
}

impl Value for OidVector {
    fn from_datum(datum: DatumRef<'_>) -> Option<OidVector> {
        Vec::<Oid>::from_datum(datum).map(|v| OidVector(v.into()))
    }
    fn to_datum(&self) -> Datum {
        array::oidvector(&self.0)
    }
}

macro_rules! fixed_array {
    ($(
        $ty:ty, $element:expr, $size:literal, |$chunk:ident| $from:expr, |$value:ident| $to:expr;
    )*) => {$(
        impl Value for Vec<$ty> {
            fn from_datum(datum: DatumRef<'_>) -> Option<Vec<$ty>> {
                let data = array::fixed_elements(bytes(datum)?, $size)?;
                Some(data.chunks_exact($size).map(|$chunk| $from).collect())
            }
            fn to_datum(&self) -> Datum {
                let data = self.iter().flat_map(|&$value| $to).collect::<Vec<u8>>();
                array::one_dimension(Oid($element), self.len(), 1, &data)
            }
        }
    )*};
}

fn le<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes[..N].try_into().expect("the slice has this length")
}

impl Value for Vec<ArgMode> {
    fn from_datum(datum: DatumRef<'_>) -> Option<Vec<ArgMode>> {
        Vec::<u8>::from_datum(datum)?.into_iter().map(ArgMode::from_char).collect()
    }
    fn to_datum(&self) -> Datum {
        self.iter().map(|m| m.to_char()).collect::<Vec<u8>>().to_datum()
    }
}

fixed_array! {
    i16, 21, 2, |c| i16::from_le_bytes(le(c)), |v| v.to_le_bytes();
    Oid, 26, 4, |c| Oid(u32::from_le_bytes(le(c))), |v| v.0.to_le_bytes();
    f32, 700, 4, |c| f32::from_le_bytes(le(c)), |v| v.to_le_bytes();
    u8, 18, 1, |c| c[0], |v| [v];
    AclItem, 1033, 12, |c| AclItem {
        grantee: Oid(u32::from_le_bytes(le(c))),
        grantor: Oid(u32::from_le_bytes(le(&c[4..]))),
        privs: u32::from_le_bytes(le(&c[8..])),
    }, |v| v.to_bytes();
}

impl Value for Vec<Text> {
    fn from_datum(datum: DatumRef<'_>) -> Option<Vec<Text>> {
        array::text_elements(bytes(datum)?)
    }
    fn to_datum(&self) -> Datum {
        array::text_array(self)
    }
}
