//! The order of ranges and of multiranges, for sorting and indexes. Counterpart: `range_cmp`,
//! `multirange_cmp`.

use crate::pieces::Pieces;
use ids::Oid;
use std::cmp::Ordering;
use std::sync::Arc;
use values::compare::TypedCompare;
use values::datum::DatumRef;
use values::range::RangeType;

/// The order of the values of a range type, and of those of its multirange type.
pub struct RangeOrder(pub Arc<RangeType>);

impl TypedCompare for RangeOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        let pieces = Pieces::new(&self.0, a.as_bytes());
        match (pieces, Pieces::new(&self.0, b.as_bytes())) {
            (Ok(x), Ok(y)) => x.compare(&y),
            // A damaged value has no order.
            _ => a.as_bytes().cmp(b.as_bytes()),
        }
    }
}
