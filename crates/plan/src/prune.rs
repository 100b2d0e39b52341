//! Conditions on the key of a partitioned table, by which partitions without matching rows are left
//! out. Counterpart: `PartitionPruneStep`, `PartitionPruneInfo`.

use crate::expr::Expr;
use ids::{Oid, StrategyNumber};

/// A condition on the rows of a partitioned table, as far as it concerns the partition key.
#[derive(Clone, PartialEq, Debug)]
pub enum Pruning {
    /// Any partition may have matching rows.
    All,
    /// No row matches.
    Never,
    And(Vec<Pruning>),
    Or(Vec<Pruning>),
    /// A conjunction.
    Keys(Vec<KeyCondition>),
}

/// A condition on a column of the partition key.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyCondition {
    /// Position in the partition key, from 0.
    pub column: usize,
    pub test: KeyTest,
}

#[derive(Clone, PartialEq, Debug)]
pub enum KeyTest {
    /// `column operator value`; the strategy is that of a B-tree operator, also for hash keys.
    Compare {
        strategy: StrategyNumber,
        value: Expr,
        value_type: Oid,
    },
    /// `column <> value`, for list partitions.
    NotEqual {
        value: Expr,
        value_type: Oid,
    },
    Null,
    NotNull,
}

/// The partitioned tables whose partitions an Append scans, and the conditions by which children of
/// the Append are left out when it starts, or whenever a parameter changes.
#[derive(Clone, PartialEq, Debug)]
pub struct AppendPruning {
    /// Each table before its partitions; the first one is the table that the statement names.
    pub tables: Vec<PrunedTable>,
    /// The conditions have values that are known when the execution starts, but not before.
    pub at_start: bool,
    /// The conditions have exec parameters.
    pub while_running: bool,
}

/// A partitioned table of an Append.
#[derive(Clone, PartialEq, Debug)]
pub struct PrunedTable {
    pub relid: Oid,
    pub condition: Pruning,
    /// The partitions that are not left out when the statement is planned.
    pub partitions: Vec<(Oid, PrunedPart)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrunedPart {
    /// The number of the Append's child.
    Child(usize),
    /// The number of the partitioned table in [`AppendPruning::tables`].
    Table(usize),
}

impl Pruning {
    /// Calls `f` on each value that a key is compared with.
    pub fn each_value<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        match self {
            Pruning::All | Pruning::Never => {}
            Pruning::And(parts) | Pruning::Or(parts) => {
                parts.iter().for_each(|p| p.each_value(f));
            }
            Pruning::Keys(list) => {
                for condition in list {
                    if let KeyTest::Compare { value, .. } | KeyTest::NotEqual { value, .. } =
                        &condition.test
                    {
                        f(value);
                    }
                }
            }
        }
    }

    /// As [`Pruning::each_value`], mutable.
    pub fn each_value_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Pruning::All | Pruning::Never => {}
            Pruning::And(parts) | Pruning::Or(parts) => {
                parts.iter_mut().for_each(|p| p.each_value_mut(f));
            }
            Pruning::Keys(list) => {
                for condition in list {
                    if let KeyTest::Compare { value, .. } | KeyTest::NotEqual { value, .. } =
                        &mut condition.test
                    {
                        f(value);
                    }
                }
            }
        }
    }
}
