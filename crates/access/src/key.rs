//! Conditions of a scan.
//!
//! Counterpart: access/skey.h.

use crate::{StrategyNumber, SupportFunction};
use types::Datum;
use types::compare::Comparer;

/// A condition on an index column (0-based). `support` is for a value whose type is not the
/// column's but another one of the operator family: the function that the method needs to look up
/// such a value (B-trees: a comparison, called with the condition's value first; hash indexes: the
/// hash function of the value's type).
#[derive(Clone, Debug)]
pub enum ScanKey {
    /// `column op value`; a NULL value matches nothing.
    Compare {
        column: usize,
        strategy: StrategyNumber,
        value: Datum,
        support: Option<SupportFunction>,
    },
    IsNull {
        column: usize,
    },
    IsNotNull {
        column: usize,
    },
    /// `column = ANY (values)`; NULLs among them are ignored. `order` compares two of the values,
    /// if their type is not the column's.
    Any {
        column: usize,
        values: Vec<Datum>,
        support: Option<SupportFunction>,
        order: Option<Comparer>,
    },
    /// `(columns) op (values)`, compared lexicographically; `strategy` is one of
    /// [`crate::strategy::btree`]. A NULL ends the comparison as unknown.
    Row {
        strategy: StrategyNumber,
        members: Vec<RowMember>,
    },
}

impl ScanKey {
    /// A comparison with a value of the column's own type.
    pub fn compare(column: usize, strategy: StrategyNumber, value: Datum) -> ScanKey {
        ScanKey::Compare { column, strategy, value, support: None }
    }
}

/// A member of a row comparison. `cmp` is for a value of another type, as in [`ScanKey`].
#[derive(Clone, Debug)]
pub struct RowMember {
    pub column: usize,
    pub value: Datum,
    pub cmp: Option<Comparer>,
}
