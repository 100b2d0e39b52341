//! Partition bounds as values. `plan::nodetree` reads and writes them with their expressions.

use crate::key::PartitionKey;
use crate::malformed;
use pgerror::Result;
use plan::expr::Expr;
use plan::nodetree::{self, PartitionBound};
use std::cmp::Ordering;
use types::{Datum, DatumRef};

/// The bound of a partition.
#[derive(Clone, PartialEq, Debug)]
pub enum Bound {
    Default,
    /// At most one of the values is NULL.
    List(Vec<Datum>),
    /// The lower bound is inclusive, the upper one exclusive.
    Range {
        from: Vec<RangeDatum>,
        to: Vec<RangeDatum>,
    },
    Hash {
        modulus: i32,
        remainder: i32,
    },
}

/// One column of a range bound: MINVALUE, a value or MAXVALUE.
#[derive(Clone, PartialEq, Debug)]
pub enum RangeDatum {
    Least,
    Value(Datum),
    Greatest,
}

impl RangeDatum {
    fn rank(&self) -> u8 {
        match self {
            RangeDatum::Least => 0,
            RangeDatum::Value(_) => 1,
            RangeDatum::Greatest => 2,
        }
    }
}

/// The bound in `pg_class.relpartbound`.
pub fn read_bound(text: &str) -> Result<Bound> {
    nodetree::read_partition_bound(text)?.as_ref().ok_or_else(malformed).and_then(Bound::of)
}

impl Bound {
    /// The values of a bound whose expressions are constants.
    pub fn of(bound: &PartitionBound) -> Result<Bound> {
        Ok(match bound {
            PartitionBound::Default => Bound::Default,
            PartitionBound::Hash { modulus, remainder } => {
                Bound::Hash { modulus: *modulus, remainder: *remainder }
            }
            PartitionBound::List(values) => {
                Bound::List(values.iter().map(constant).collect::<Result<_>>()?)
            }
            PartitionBound::Range { from, to } => Bound::Range { from: end(from)?, to: end(to)? },
        })
    }
}

fn constant(e: &Expr) -> Result<Datum> {
    match e {
        Expr::Const(c) => Ok(c.value.clone()),
        _ => Err(malformed()),
    }
}

fn end(list: &[nodetree::RangeDatum]) -> Result<Vec<RangeDatum>> {
    let datum = |d: &nodetree::RangeDatum| {
        Ok(match d {
            nodetree::RangeDatum::Least => RangeDatum::Least,
            nodetree::RangeDatum::Value(e) => RangeDatum::Value(constant(e)?),
            nodetree::RangeDatum::Greatest => RangeDatum::Greatest,
        })
    };
    list.iter().map(datum).collect()
}

impl PartitionKey {
    /// The order of two range bounds as positions between rows, and the first column (0-based) in
    /// which they differ, or the last one that was compared. Columns after MINVALUE or MAXVALUE
    /// have no meaning.
    pub fn compare_bounds(&self, a: &[RangeDatum], b: &[RangeDatum]) -> (Ordering, usize) {
        let mut last = 0;
        for (n, ((x, y), column)) in a.iter().zip(b).zip(&self.columns).enumerate() {
            last = n;
            let order = match (x, y) {
                (RangeDatum::Value(x), RangeDatum::Value(y)) => {
                    column.order(x.as_ref(), y.as_ref())
                }
                _ => x.rank().cmp(&y.rank()),
            };
            if order.is_ne() {
                return (order, n);
            }
            if !matches!(x, RangeDatum::Value(_)) {
                break;
            }
        }
        (Ordering::Equal, last)
    }

    /// The order of a range bound relative to a row's key, or to the leading columns of one: equal
    /// if the bound's columns are those of the key. No value of the key is NULL.
    pub fn compare_bound_to_key(&self, bound: &[RangeDatum], key: &[DatumRef<'_>]) -> Ordering {
        for ((datum, value), column) in bound.iter().zip(key).zip(&self.columns) {
            let order = match datum {
                RangeDatum::Least => Ordering::Less,
                RangeDatum::Greatest => Ordering::Greater,
                RangeDatum::Value(datum) => column.order(datum.as_ref(), *value),
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}
