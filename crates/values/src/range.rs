//! What the functions of range types need to know of a range type. The functions themselves are in
//! the crate `ranges`. Counterpart: the range part of `TypeCacheEntry` in typcache.h.

use crate::compare::Comparer;
use crate::datum::DatumRef;
use crate::fn_context::TypeInfo;
use crate::function::ScalarFn;
use ids::Oid;
use std::cmp::Ordering;

/// A range type and its multirange type (`pg_range`).
#[derive(Clone)]
pub struct RangeType {
    /// `rngtypid`.
    pub oid: Oid,
    /// `rngmultitypid`.
    pub multirange: Oid,
    /// `rngsubtype`.
    pub elem: TypeInfo,
    /// Whether short values of the subtype are stored with a 1-byte header (`typstorage` is not
    /// plain).
    pub packs: bool,
    /// `rngcollation`; the invalid OID if the subtype has none.
    pub collation: Oid,
    /// The order of `rngsubopc`.
    pub order: Comparer,
    /// `rngcanonical`: makes the canonical form of a range; `None` if the subtype is continuous.
    pub canonical: Option<ScalarFn>,
    /// `rngsubdiff`; the invalid OID if there is none.
    pub subdiff: Oid,
}

impl RangeType {
    /// The order of two values of the subtype.
    #[inline]
    pub fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>) -> Ordering {
        self.order.order(a, b, self.collation)
    }
}
