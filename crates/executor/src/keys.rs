//! Hashing and equality of grouping, join and set-operation keys.

use crate::run::Run;
use foldhash::fast::FixedState;
use ids::Oid;
use pgerror::Result;
use std::hash::{BuildHasher, Hasher};
use types::compare::CompareFn;
use types::fncx::FnContext;
use types::{DatumRef, oids};

/// How values of a key column are hashed.
#[derive(Clone, Copy, Debug)]
enum HashKind {
    /// Equal values have equal words (integers of any width, dates, OIDs, booleans).
    Word,
    /// Equal values have equal bytes (text without special collations, bytea, uuid, name).
    Bytes,
    /// By the type's own hash function.
    Type(Oid),
}

/// One key column.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    kind: HashKind,
    cmp: Option<CompareFn>,
    ty: Oid,
    collation: Oid,
}

/// The columns of a key.
#[derive(Clone)]
pub(crate) struct Keys(pub Vec<Key>);

impl Key {
    /// For the left operand type `ty` of this equality operator.
    pub(crate) fn new(ty: Oid, eq: Oid, collation: Oid, run: &mut Run<'_>) -> Result<Key> {
        let kind = match ty {
            oids::BOOL
            | oids::CHAR
            | oids::INT2
            | oids::INT4
            | oids::INT8
            | oids::OID
            | oids::DATE
            | oids::TIME
            | oids::TIMESTAMP
            | oids::TIMESTAMPTZ
            | oids::PG_LSN
            | oids::XID
            | oids::CID
            | oids::REGCLASS
            | oids::REGTYPE
            | oids::REGPROC => HashKind::Word,
            oids::TEXT | oids::VARCHAR | oids::BYTEA | oids::UUID | oids::NAME => HashKind::Bytes,
            other => {
                let (base, _) = run.sv.base_type(other)?;
                HashKind::Type(base)
            }
        };
        Ok(Key { kind, cmp: run.sv.equality_compare(eq)?, ty, collation })
    }

    fn hash_into(&self, h: &mut impl Hasher, v: DatumRef<'_>, run: &mut Run<'_>) -> Result<()> {
        match v {
            DatumRef::Null => h.write_u8(0),
            DatumRef::Word(w) => match self.kind {
                HashKind::Type(ty) => h.write_u64(run.type_hash(ty, v, self.collation, None)?),
                _ => h.write_u64(w),
            },
            DatumRef::Bytes(b) => match self.kind {
                HashKind::Type(ty) => h.write_u64(run.type_hash(ty, v, self.collation, None)?),
                // A name is padded with zeros, a text is not; both hash without.
                _ => {
                    let end = b.iter().rposition(|&c| c != 0).map_or(0, |i| i + 1);
                    h.write(&b[..end]);
                    h.write_u8(0xff);
                }
            },
        }
        Ok(())
    }

    /// Equality of two values that are not NULL.
    fn equal(&self, a: DatumRef<'_>, b: DatumRef<'_>, run: &mut Run<'_>) -> Result<bool> {
        match (self.cmp, a, b) {
            (_, DatumRef::Word(x), DatumRef::Word(y)) if matches!(self.kind, HashKind::Word) => {
                Ok(x == y)
            }
            (Some(cmp), _, _) => Ok(cmp(a, b, self.collation).is_eq()),
            (None, _, _) => run.type_equal(self.ty, a, b, self.collation),
        }
    }
}

impl Keys {
    /// Hash of a key; `None` where a column is NULL and `nulls_match` is false.
    pub(crate) fn hash<'v>(
        &self,
        values: impl Iterator<Item = DatumRef<'v>>,
        nulls_match: bool,
        run: &mut Run<'_>,
    ) -> Result<Option<u64>> {
        let mut h = FixedState::default().build_hasher();
        for (k, v) in self.0.iter().zip(values) {
            if v.is_null() && !nulls_match {
                return Ok(None);
            }
            k.hash_into(&mut h, v, run)?;
        }
        Ok(Some(h.finish()))
    }

    /// Are the keys equal, NULLs being equal to each other?
    pub(crate) fn equal<'a, 'b>(
        &self,
        a: impl Iterator<Item = DatumRef<'a>>,
        b: impl Iterator<Item = DatumRef<'b>>,
        run: &mut Run<'_>,
    ) -> Result<bool> {
        for ((k, x), y) in self.0.iter().zip(a).zip(b) {
            let same = match (x.is_null(), y.is_null()) {
                (true, true) => true,
                (false, false) => k.equal(x, y, run)?,
                _ => false,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
