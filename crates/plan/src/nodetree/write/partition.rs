//! Writes partition bounds (`PartitionBoundSpec`).

use super::Writer;
use crate::nodetree::{PartitionBound, RangeDatum};

/// What the text of a bound contains in addition to the bound.
#[derive(Clone, Default)]
pub struct BoundPlaces {
    /// `pg_partitioned_table.partstrat` of the partitioned table.
    pub strategy: u8,
    /// Positions in the statement: of the bound, and of the columns of a range's ends.
    pub location: i32,
    pub from: Vec<i32>,
    pub to: Vec<i32>,
}

/// Writes the bound of a partition (`pg_class.relpartbound`).
pub fn write_partition_bound(bound: &PartitionBound, places: &BoundPlaces) -> String {
    let mut w = Writer::default();
    let (modulus, remainder) = match bound {
        PartitionBound::Hash { modulus, remainder } => (*modulus, *remainder),
        _ => (0, 0),
    };
    w.node("PARTITIONBOUNDSPEC", |w| {
        w.char("strategy", places.strategy);
        w.bool("is_default", matches!(bound, PartitionBound::Default));
        w.num("modulus", modulus);
        w.num("remainder", remainder);
        match bound {
            PartitionBound::List(values) => w.exprs("listdatums", values),
            _ => w.exprs("listdatums", &[]),
        }
        let (from, to): (&[_], &[_]) = match bound {
            PartitionBound::Range { from, to } => (from, to),
            _ => (&[], &[]),
        };
        w.range_end("lowerdatums", from, &places.from);
        w.range_end("upperdatums", to, &places.to);
        w.num("location", places.location);
    });
    w.out
}

impl Writer {
    fn range_end(&mut self, name: &str, columns: &[RangeDatum], places: &[i32]) {
        let columns: Vec<_> = columns
            .iter()
            .enumerate()
            .map(|(n, column)| (column, places.get(n).copied().unwrap_or(-1)))
            .collect();
        self.list(name, &columns, |w, (column, place)| {
            w.node("PARTITIONRANGEDATUM", |w| {
                w.num(
                    "kind",
                    match column {
                        RangeDatum::Least => -1,
                        RangeDatum::Value(_) => 0,
                        RangeDatum::Greatest => 1,
                    },
                );
                w.name("value");
                match column {
                    RangeDatum::Value(e) => w.put_expr(e),
                    _ => w.out.push_str("<>"),
                }
                w.num("location", place);
            });
        });
    }
}
