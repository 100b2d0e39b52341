//! Strategy numbers: which operator of an operator family a condition uses.
//!
//! Counterpart: access/stratnum.h.

use std::fmt;

/// `pg_amop.amopstrategy`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StrategyNumber(pub u16);

impl StrategyNumber {
    pub const INVALID: StrategyNumber = StrategyNumber(0);
}

impl fmt::Display for StrategyNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Strategies of B-trees; row comparisons and exclusion constraints use these numbers too.
pub mod btree {
    use super::StrategyNumber;

    pub const LESS: StrategyNumber = StrategyNumber(1);
    pub const LESS_EQUAL: StrategyNumber = StrategyNumber(2);
    pub const EQUAL: StrategyNumber = StrategyNumber(3);
    pub const GREATER_EQUAL: StrategyNumber = StrategyNumber(4);
    pub const GREATER: StrategyNumber = StrategyNumber(5);
    /// The operator `<>` in a row comparison; not a strategy of an index.
    pub const NOT_EQUAL: StrategyNumber = StrategyNumber(6);
}

/// The only strategy of hash indexes.
pub mod hash {
    use super::StrategyNumber;

    pub const EQUAL: StrategyNumber = StrategyNumber(1);
}
