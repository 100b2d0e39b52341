//! The form of values in calls that form and deform tuples. `types::DatumRef` has the same physical
//! forms, but this crate is below that one.

/// A borrowed value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Value<'a> {
    #[default]
    Null,
    /// A by-value type: sign-extended integer, zero-extended OID, XID or float bits.
    Word(u64),
    /// A varlena's payload without header; the exact bytes of a fixed-length type; a cstring
    /// without its closing zero.
    Bytes(&'a [u8]),
    /// A varlena with its header, in any form (short, compressed, TOAST pointer).
    Raw(&'a [u8]),
}

impl<'a> Value<'a> {
    pub const fn is_null(self) -> bool {
        matches!(self, Value::Null)
    }

    pub const fn word(self) -> Option<u64> {
        match self {
            Value::Word(w) => Some(w),
            _ => None,
        }
    }

    /// The payload bytes; `None` for words, NULL and raw varlenas.
    pub const fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Value::Bytes(b) => Some(b),
            _ => None,
        }
    }
}

impl Value<'_> {
    pub(crate) fn is_null_ref(&self) -> bool {
        matches!(self, Value::Null)
    }
}
