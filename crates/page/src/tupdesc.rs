//! Tuple descriptors: the physical form of a relation's columns. Counterpart: access/tupdesc.h.

use ids::Oid;
use ids::builtin::ty;
pub use ids::code::Align;
use ids::code::{ColumnGenerated, ColumnIdentity, ColumnStorage};

/// The value, for rows older than the column, of a column added by ALTER TABLE … ADD COLUMN …
/// DEFAULT. Counterpart: `attmissingval`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing {
    Word(u64),
    /// Payload, as in `Value::Bytes`.
    Bytes(Box<[u8]>),
}

/// A column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attr {
    /// Without zero padding.
    pub name: Box<[u8]>,
    pub type_oid: Oid,
    pub typmod: i32,
    /// Bytes; -1: varlena, -2: zero-terminated.
    pub len: i16,
    pub by_val: bool,
    pub align: Align,
    pub storage: ColumnStorage,
    /// `p` (pglz), `l` (lz4) or 0 (the default).
    pub compression: u8,
    pub not_null: bool,
    pub missing: Option<Missing>,
    pub dropped: bool,
    pub generated: ColumnGenerated,
    pub identity: ColumnIdentity,
    pub collation: Oid,
    pub ndims: i32,
}

impl Attr {
    /// A nullable column with the given physical form.
    pub fn new(name: &[u8], type_oid: Oid, len: i16, by_val: bool, align: Align) -> Attr {
        Attr {
            name: name.into(),
            type_oid,
            typmod: -1,
            len,
            by_val,
            align,
            storage: if len == -1 { ColumnStorage::Extended } else { ColumnStorage::Plain },
            compression: 0,
            not_null: false,
            missing: None,
            dropped: false,
            generated: ColumnGenerated::No,
            identity: ColumnIdentity::No,
            collation: Oid::INVALID,
            ndims: 0,
        }
    }

    pub fn has_missing(&self) -> bool {
        self.missing.is_some()
    }

    /// True if this is a varlena that may be stored with a one-byte header.
    pub fn is_packable(&self) -> bool {
        self.len == -1 && self.storage != ColumnStorage::Plain
    }

    /// True if a by-value word of this type is zero-extended (OIDs, XIDs, floats), false if it is
    /// sign-extended. See the table in `types::datum`.
    pub fn zero_extends(&self) -> bool {
        matches!(
            self.type_oid,
            ty::OID
                | ty::XID
                | ty::CID
                | ty::FLOAT4
                | ty::REGPROC
                | ty::REGPROCEDURE
                | ty::REGOPER
                | ty::REGOPERATOR
                | ty::REGCLASS
                | ty::REGTYPE
                | ty::REGNAMESPACE
                | ty::REGROLE
                | ty::REGCONFIG
                | ty::REGDICTIONARY
                | ty::REGCOLLATION
        )
    }
}

/// The columns of a relation or row type, in order of attribute number (dropped ones included).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TupleDesc {
    pub attrs: Vec<Attr>,
    /// Type of the row: the relation's row type, or RECORD.
    pub type_oid: Oid,
    pub typmod: i32,
}

impl TupleDesc {
    pub fn new(attrs: Vec<Attr>) -> TupleDesc {
        TupleDesc { attrs, type_oid: ty::RECORD, typmod: -1 }
    }

    pub fn len(&self) -> usize {
        self.attrs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.attrs.is_empty()
    }

    /// Column with attribute number `attno` (from 1).
    pub fn attr(&self, attno: ids::AttrNo) -> Option<&Attr> {
        usize::try_from(attno).ok()?.checked_sub(1).and_then(|i| self.attrs.get(i))
    }
}
